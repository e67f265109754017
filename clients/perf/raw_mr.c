// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The baseline: memory regions by fast registration.
 *
 * A request maps its buffer, takes the next key, and posts registration and send
 * with one doorbell; the answer ends the key.  nvme-rdma and xprtrdma do so, too.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "raw.h"

#define RAW_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_WRITE)

/**
 * struct raw_io - A request's region
 * @mr: the region
 * @sg: the buffer, mapped while the key is good
 * @buf: PERF_IO_LEN bytes
 * @reg: the work request that registers it
 * @cqe: called if @reg fails
 */
struct raw_io {
	struct ib_mr		*mr;
	struct scatterlist	sg;
	void			*buf;
	struct ib_reg_wr	reg;
	struct ib_cqe		cqe;
};

struct raw_wait {
	struct ib_cqe		cqe;
	struct completion	done;
	enum ib_wc_status	status;
};

static void raw_wait_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct raw_wait *wait = container_of(wc->wr_cqe, struct raw_wait, cqe);

	wait->status = wc->status;
	complete(&wait->done);
}

static void raw_reg_init(struct ib_reg_wr *reg, struct ib_mr *mr,
			 struct ib_cqe *cqe)
{
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	*reg = (struct ib_reg_wr) {
		.wr = {
			.opcode	= IB_WR_REG_MR,
			.wr_cqe	= cqe,
		},
		.mr	= mr,
		.key	= mr->rkey,
		.access	= RAW_ACCESS,
	};
}

static int raw_reg_wait(struct ib_qp *qp, struct ib_mr *mr)
{
	struct raw_wait wait = { .cqe.done = raw_wait_done };
	struct ib_reg_wr reg;
	int ret;

	init_completion(&wait.done);
	raw_reg_init(&reg, mr, &wait.cqe);
	reg.wr.send_flags = IB_SEND_SIGNALED;
	ret = ib_post_send(qp, &reg.wr, NULL);
	if (ret)
		return ret;
	wait_for_completion(&wait.done);
	return wait.status == IB_WC_SUCCESS ? 0 : -EIO;
}

static int raw_mr_map(struct ib_mr *mr, struct scatterlist *sg)
{
	struct ib_device *ibdev = mr->device;
	int ret;

	if (ib_dma_map_sg(ibdev, sg, 1, DMA_BIDIRECTIONAL) != 1)
		return -EAGAIN;
	ret = ib_map_mr_sg(mr, sg, 1, NULL, PAGE_SIZE);
	if (ret == 1)
		return 0;
	ib_dma_unmap_sg(ibdev, sg, 1, DMA_BIDIRECTIONAL);
	return ret < 0 ? ret : -EINVAL;
}

int raw_expose(struct raw_bed *bed, size_t len)
{
	u32 pages = DIV_ROUND_UP(len, PAGE_SIZE) + 1;
	struct ib_mr *mr;
	int ret;

	bed->memory = kzalloc(len, GFP_KERNEL);
	bed->mapped = kzalloc(sizeof(*bed->mapped), GFP_KERNEL);
	if (!bed->memory || !bed->mapped)
		return -ENOMEM;
	mr = ib_alloc_mr(bed->cm.pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	sg_init_one(bed->mapped, bed->memory, len);
	ret = raw_mr_map(mr, bed->mapped);
	if (ret) {
		ib_dereg_mr(mr);
		return ret;
	}
	bed->mr = mr;
	ret = raw_reg_wait(bed->links[0].b.qp, mr);
	bed->bed.addr = mr->iova;
	bed->bed.key = mr->rkey;
	return ret;
}

static int raw_io_open(struct raw_bed *bed, struct raw_io *io)
{
	struct ib_mr *mr;

	io->buf = kzalloc(PERF_IO_LEN, GFP_KERNEL);
	if (!io->buf)
		return -ENOMEM;
	mr = ib_alloc_mr(bed->cm.pd, IB_MR_TYPE_MEM_REG,
			 PERF_IO_LEN / PAGE_SIZE + 1);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	io->mr = mr;
	return 0;
}

int raw_ios_open(struct raw_bed *bed, unsigned int count)
{
	unsigned int i;
	int ret = 0;

	bed->ios = kcalloc(count, sizeof(*bed->ios), GFP_KERNEL);
	if (!bed->ios)
		return -ENOMEM;
	bed->nr_ios = count;
	for (i = 0; i < count && !ret; i++)
		ret = raw_io_open(bed, &bed->ios[i]);
	return ret;
}

void raw_mrs_close(struct raw_bed *bed)
{
	unsigned int i;

	for (i = 0; i < bed->nr_ios; i++) {
		if (bed->ios[i].mr)
			ib_dereg_mr(bed->ios[i].mr);
		kfree(bed->ios[i].buf);
	}
	kfree(bed->ios);
	if (bed->mr) {
		ib_dma_unmap_sg(bed->mr->device, bed->mapped, 1,
				DMA_BIDIRECTIONAL);
		ib_dereg_mr(bed->mr);
	}
	kfree(bed->mapped);
}

/* The operation behind a failed registration fails, too, and reports the error */
static void raw_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
}

static __always_inline int raw_begin_as(struct perf_req *req, unsigned int nth,
					bool copy)
{
	struct raw_io *io = &to_raw_bed(req->bed)->ios[nth];
	struct raw_req *r = to_raw_req(req);
	struct ib_send_wr wr = {
		.wr_cqe		= &r->cqe,
		.sg_list	= &r->sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
		.send_flags	= raw_send_flags(copy),
	};
	u32 *message = req->buf;
	int ret;

	sg_init_one(&io->sg, io->buf, PERF_IO_LEN);
	ret = raw_mr_map(io->mr, &io->sg);
	if (ret)
		return ret;
	io->cqe.done = raw_reg_done;
	raw_reg_init(&io->reg, io->mr, &io->cqe);
	message[1] = io->mr->rkey;
	ret = raw_source(r, copy);
	if (!ret) {
		io->reg.wr.next = &wr;
		ret = raw_source_posted(r, copy, ib_post_send(req->end,
							      &io->reg.wr, NULL));
	}
	if (ret)
		ib_dma_unmap_sg(io->mr->device, &io->sg, 1, DMA_BIDIRECTIONAL);
	return ret;
}

int raw_begin(struct perf_req *req, unsigned int nth)
{
	return raw_begin_as(req, nth, false);
}

int raw_begin_copy(struct perf_req *req, unsigned int nth)
{
	return raw_begin_as(req, nth, true);
}

static __always_inline int raw_answer_as(struct perf_req *req, u32 key, bool copy)
{
	struct raw_req *r = to_raw_req(req);
	struct ib_send_wr wr = {
		.wr_cqe		= &r->cqe,
		.sg_list	= &r->sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND_WITH_INV,
		.send_flags	= raw_send_flags(copy),
		.ex.invalidate_rkey = key,
	};
	int ret;

	ret = raw_source(r, copy);
	if (ret)
		return ret;
	return raw_source_posted(r, copy, ib_post_send(req->end, &wr, NULL));
}

int raw_answer(struct perf_req *req, u32 key)
{
	return raw_answer_as(req, key, false);
}

int raw_answer_copy(struct perf_req *req, u32 key)
{
	return raw_answer_as(req, key, true);
}

int raw_finish(struct perf_bed *bed, unsigned int nth, u32 key)
{
	struct raw_io *io = &to_raw_bed(bed)->ios[nth];

	if (key != io->mr->rkey)
		return -EPROTO;
	ib_dma_unmap_sg(io->mr->device, &io->sg, 1, DMA_BIDIRECTIONAL);
	return 0;
}
