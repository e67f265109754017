// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The baseline: the operations of the tests on ib_core, with a struct ib_cqe each,
 * as nvme-rdma and others have it.
 *
 * Every buffer is mapped for its operation and unmapped when the operation has ended.
 *
 * base=inline is another baseline: a message that fits is not mapped but copied when it
 * is posted (IB_SEND_INLINE).  Hardly any kernel client takes that trouble; kOFI does it
 * for its clients.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "raw.h"

int raw_map(struct raw_req *r, enum dma_data_direction dir)
{
	struct ib_device *ibdev = raw_ibdev(r->req.bed);

	r->sge.addr = ib_dma_map_single(ibdev, r->req.buf, r->req.len, dir);
	if (ib_dma_mapping_error(ibdev, r->sge.addr))
		return -EAGAIN;
	r->sge.length = r->req.len;
	r->sge.lkey = to_raw_bed(r->req.bed)->cm.pd->local_dma_lkey;
	r->dir = dir;
	return 0;
}

void raw_unmap(struct raw_req *r)
{
	ib_dma_unmap_single(raw_ibdev(r->req.bed), r->sge.addr, r->sge.length,
			    r->dir);
}

static void raw_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct raw_req *r = container_of(wc->wr_cqe, struct raw_req, cqe);

	raw_unmap(r);
	r->req.inv = wc->wc_flags & IB_WC_WITH_INVALIDATE ?
		     wc->ex.invalidate_rkey : 0;
	r->req.done(&r->req, wc->status == IB_WC_SUCCESS ? 0 : -EIO);
}

void raw_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct raw_req *r = container_of(wc->wr_cqe, struct raw_req, cqe);

	raw_unmap(r);
	r->req.done(&r->req, wc->status == IB_WC_SUCCESS ? 0 : -EIO);
}

/* Unmap the buffer of an operation that the device does not take */
static int raw_posted(struct raw_req *r, int ret)
{
	if (ret)
		raw_unmap(r);
	return ret;
}

/* The buffer of an inline send was not mapped */
void raw_sent_copy(struct ib_cq *cq, struct ib_wc *wc)
{
	struct raw_req *r = container_of(wc->wr_cqe, struct raw_req, cqe);

	r->req.done(&r->req, wc->status == IB_WC_SUCCESS ? 0 : -EIO);
}

static int raw_recv(struct perf_req *req)
{
	struct raw_req *r = to_raw_req(req);
	struct ib_recv_wr wr = {
		.wr_cqe		= &r->cqe,
		.sg_list	= &r->sge,
		.num_sge	= 1,
	};
	int ret;

	ret = raw_map(r, DMA_FROM_DEVICE);
	if (ret)
		return ret;
	r->cqe.done = raw_received;
	return raw_posted(r, ib_post_recv(req->end, &wr, NULL));
}

static __always_inline int raw_send_as(struct perf_req *req, bool copy)
{
	struct raw_req *r = to_raw_req(req);
	struct ib_send_wr wr = {
		.wr_cqe		= &r->cqe,
		.sg_list	= &r->sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
		.send_flags	= raw_send_flags(copy),
	};
	int ret;

	ret = raw_source(r, copy);
	if (ret)
		return ret;
	return raw_source_posted(r, copy, ib_post_send(req->end, &wr, NULL));
}

static int raw_send(struct perf_req *req)
{
	return raw_send_as(req, false);
}

static int raw_send_copy(struct perf_req *req)
{
	return raw_send_as(req, true);
}

static __always_inline int raw_prepare(struct raw_req *r, struct raw_req *next,
				       bool copy)
{
	r->wr = (struct ib_send_wr) {
		.next		= next ? &next->wr : NULL,
		.wr_cqe		= &r->cqe,
		.sg_list	= &r->sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
		.send_flags	= raw_send_flags(copy),
	};
	return raw_source(r, copy);
}

static __always_inline int raw_chain_as(struct perf_req **reqs,
					unsigned int count, bool copy)
{
	struct raw_req *next = NULL;
	unsigned int i = count;
	int ret = 0;

	while (i-- && !ret) {
		ret = raw_prepare(to_raw_req(reqs[i]), next, copy);
		next = to_raw_req(reqs[i]);
	}
	return ret ? : ib_post_send(reqs[0]->end, &next->wr, NULL);
}

static int raw_chain(struct perf_req **reqs, unsigned int count)
{
	return raw_chain_as(reqs, count, false);
}

static int raw_chain_copy(struct perf_req **reqs, unsigned int count)
{
	return raw_chain_as(reqs, count, true);
}

static int raw_rma(struct perf_req *req, enum ib_wr_opcode opcode,
		   enum dma_data_direction dir)
{
	struct raw_req *r = to_raw_req(req);
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe		= &r->cqe,
			.sg_list	= &r->sge,
			.num_sge	= 1,
			.opcode		= opcode,
			.send_flags	= IB_SEND_SIGNALED,
		},
		.remote_addr	= req->bed->addr,
		.rkey		= req->bed->key,
	};
	int ret;

	ret = raw_map(r, dir);
	if (ret)
		return ret;
	r->cqe.done = raw_sent;
	return raw_posted(r, ib_post_send(req->end, &wr.wr, NULL));
}

static int raw_write(struct perf_req *req)
{
	return raw_rma(req, IB_WR_RDMA_WRITE, DMA_TO_DEVICE);
}

static int raw_read(struct perf_req *req)
{
	return raw_rma(req, IB_WR_RDMA_READ, DMA_FROM_DEVICE);
}

static void *raw_end(struct perf_bed *bed, unsigned int link, bool far)
{
	struct perf_raw_link *l = &to_raw_bed(bed)->links[link];

	return far ? l->b.qp : l->a.qp;
}

static void raw_close(struct perf_bed *perf_bed)
{
	struct raw_bed *bed = to_raw_bed(perf_bed);
	unsigned int i;

	for (i = 0; i < bed->nr_links; i++)
		perf_raw_disconnect(&bed->links[i]);
	raw_mrs_close(bed);
	for (i = 0; i < 2; i++)
		if (bed->cqs[i])
			ib_free_cq(bed->cqs[i]);
	perf_raw_cm_close(&bed->cm);
	kvfree(bed->links);
	kfree(bed->memory);
	kfree(bed);
}

/* Room for the work requests of ib_drain_qp(), too */
static int raw_alloc_cqs(struct raw_bed *bed, const struct perf_spec *spec)
{
	int i, nr_cqe = spec->links * (spec->depth.tx + spec->depth.rx + 2);

	for (i = 0; i < 2; i++) {
		bed->cqs[i] = ib_alloc_cq_any(bed->cm.pd->device, bed, nr_cqe,
					      IB_POLL_SOFTIRQ);
		if (IS_ERR(bed->cqs[i])) {
			int ret = PTR_ERR(bed->cqs[i]);

			bed->cqs[i] = NULL;
			return ret;
		}
	}
	return 0;
}

static int raw_open_links(struct raw_bed *bed, const struct perf_spec *spec)
{
	int i, ret;

	bed->links = kvcalloc(spec->links, sizeof(*bed->links), GFP_KERNEL);
	if (!bed->links)
		return -ENOMEM;
	ret = raw_alloc_cqs(bed, spec);
	for (i = 0; i < spec->links && !ret; i++) {
		ret = perf_raw_connect(&bed->cm, &bed->links[i], bed->cqs[0],
				       bed->cqs[1]);
		bed->nr_links += !ret;
	}
	return ret;
}

static struct perf_bed *raw_open_on(const struct perf_spec *spec,
				    const struct perf_side *side, u32 inline_size)
{
	struct raw_bed *bed = kzalloc(sizeof(*bed), GFP_KERNEL);
	int ret;

	if (!bed)
		return ERR_PTR(-ENOMEM);
	bed->bed.side = side;
	ret = perf_raw_cm_open(&bed->cm, spec->node, spec->depth, inline_size);
	if (!ret)
		ret = raw_open_links(bed, spec);
	if (!ret && spec->rma)
		ret = raw_expose(bed, spec->rma);
	if (!ret && spec->ios)
		ret = raw_ios_open(bed, spec->ios);
	if (!ret)
		return &bed->bed;
	raw_close(&bed->bed);
	return ERR_PTR(ret);
}

static struct perf_bed *raw_open(const struct perf_spec *spec)
{
	return raw_open_on(spec, &perf_raw_side, 0);
}

static struct perf_bed *raw_open_copy(const struct perf_spec *spec)
{
	return raw_open_on(spec, &perf_raw_inline_side, RAW_INLINE);
}

const struct perf_side perf_raw_side = {
	.name		= "raw",
	.req_size	= sizeof(struct raw_req),
	.open		= raw_open,
	.close		= raw_close,
	.end		= raw_end,
	.recv		= raw_recv,
	.send		= raw_send,
	.chain		= raw_chain,
	.write		= raw_write,
	.read		= raw_read,
	.begin		= raw_begin,
	.answer		= raw_answer,
	.finish		= raw_finish,
	.mem		= &raw_mem_ops,
};

/* For messages of RAW_INLINE bytes at most; reads and writes are not copied */
const struct perf_side perf_raw_inline_side = {
	.name		= "raw",
	.req_size	= sizeof(struct raw_req),
	.open		= raw_open_copy,
	.close		= raw_close,
	.end		= raw_end,
	.recv		= raw_recv,
	.send		= raw_send_copy,
	.chain		= raw_chain_copy,
	.write		= raw_write,
	.read		= raw_read,
	.begin		= raw_begin_copy,
	.answer		= raw_answer_copy,
	.finish		= raw_finish,
	.mem		= &raw_mem_ops,
};
