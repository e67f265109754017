// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Registration of a page.
 *
 *	persistent	a region is made and ended; the device's engine executes
 *			the registration, and the scheduler is in it, on both sides
 *	single		a region takes other memory and a new key, rides in front of
 *			a send, and is taken back when the peer has ended the key
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>

#include "insn.h"

#define INSN_RAW_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_WRITE)

static s64 insn_kofi_persistent(struct insn_bed *bed, int unused)
{
	struct insn_kofi *k = &bed->kofi;
	cycles_t start, stop;
	struct fid_mr *mr;
	int i, ret = 0;

	fakehca_quick(bed->hca, false);
	start = insn_begin();
	for (i = 0; i < INSN_BATCH && !ret; i++) {
		ret = fi_mr_reg(k->f.domain, bed->page, PAGE_SIZE, FI_REMOTE_READ | FI_REMOTE_WRITE,
				0, 0, 0, &mr, NULL);
		if (!ret)
			ret = fi_close(&mr->fid);
	}
	stop = insn_end();
	fakehca_quick(bed->hca, true);
	return ret ? : (s64)(stop - start) - insn_overhead;
}

struct insn_wait {
	struct ib_cqe		cqe;
	struct completion	done;
	enum ib_wc_status	status;
};

static void insn_wait_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct insn_wait *wait = container_of(wc->wr_cqe, struct insn_wait, cqe);

	wait->status = wc->status;
	complete(&wait->done);
}

static int insn_raw_map(struct ib_mr *mr, struct scatterlist *sg)
{
	if (ib_dma_map_sg(mr->device, sg, 1, DMA_BIDIRECTIONAL) != 1)
		return -ENOMEM;
	if (ib_map_mr_sg(mr, sg, 1, NULL, PAGE_SIZE) == 1)
		return 0;
	ib_dma_unmap_sg(mr->device, sg, 1, DMA_BIDIRECTIONAL);
	return -EINVAL;
}

static void insn_raw_reg(struct ib_reg_wr *reg, struct ib_mr *mr)
{
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	*reg = (struct ib_reg_wr) {
		.wr.opcode	= IB_WR_REG_MR,
		.mr		= mr,
		.key		= mr->rkey,
		.access		= INSN_RAW_ACCESS,
	};
}

static int insn_raw_register(struct insn_raw *r, struct ib_mr *mr)
{
	struct insn_wait wait = { .cqe.done = insn_wait_done };
	struct ib_reg_wr reg;
	int ret;

	init_completion(&wait.done);
	insn_raw_reg(&reg, mr);
	reg.wr.wr_cqe = &wait.cqe;
	reg.wr.send_flags = IB_SEND_SIGNALED;
	ret = ib_post_send(r->qp, &reg.wr, NULL);
	if (ret)
		return ret;
	wait_for_completion(&wait.done);
	return wait.status == IB_WC_SUCCESS ? 0 : -EIO;
}

static noinline int insn_raw_one(struct insn_raw *r, void *page)
{
	struct scatterlist sg;
	struct ib_mr *mr;
	int ret;

	mr = ib_alloc_mr(r->cm.pd, IB_MR_TYPE_MEM_REG, 1);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	sg_init_one(&sg, page, PAGE_SIZE);
	ret = insn_raw_map(mr, &sg);
	if (ret)
		goto dereg;
	ret = insn_raw_register(r, mr);
	ib_dma_unmap_sg(mr->device, &sg, 1, DMA_BIDIRECTIONAL);
dereg:
	ib_dereg_mr(mr);
	return ret;
}

static s64 insn_raw_persistent(struct insn_bed *bed, int unused)
{
	cycles_t start, stop;
	int i, ret = 0;

	fakehca_quick(bed->hca, false);
	start = insn_begin();
	for (i = 0; i < INSN_BATCH && !ret; i++)
		ret = insn_raw_one(&bed->raw, bed->page);
	stop = insn_end();
	fakehca_quick(bed->hca, true);
	return ret ? : (s64)(stop - start) - insn_overhead;
}

static noinline int insn_kofi_begin(struct insn_kofi *k, struct fid_mr *mr, void *page)
{
	struct kvec iov = { page, PAGE_SIZE };
	struct fi_mr_attr attr = {
		.mr_iov		= &iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
	};
	int ret;

	ret = fi_mr_refresh(mr, &attr, 0);
	if (!ret)
		ret = fi_mr_enable(mr);
	if (!ret)
		ret = insn_kofi_ops[INSN_SEND](k, &k->reqs[0]);
	return ret;
}

static struct fid_mr *insn_kofi_region(struct insn_bed *bed)
{
	struct kvec iov = { bed->page, PAGE_SIZE };
	struct fi_mr_attr attr = {
		.mr_iov		= &iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
	};
	struct fid_mr *mr;
	int ret;

	ret = fi_mr_regattr(bed->kofi.f.domain, &attr, FI_MR_ENDPOINT, &mr);
	if (ret)
		return ERR_PTR(ret);
	ret = fi_mr_bind(mr, &bed->kofi.link.a->fid, 0);
	if (!ret)
		return mr;
	fi_close(&mr->fid);
	return ERR_PTR(ret);
}

/* Once: the way out and the way back; in between the device does its part */
static s64 insn_kofi_single_one(struct insn_bed *bed, struct fid_mr *mr)
{
	cycles_t count, start;
	unsigned long flags;
	int ret;

	local_irq_save(flags);
	start = insn_begin();
	ret = insn_kofi_begin(&bed->kofi, mr, bed->page);
	count = insn_end() - start;
	local_irq_restore(flags);
	if (!ret)
		ret = insn_kofi_settle(bed);
	if (ret)
		return ret;
	local_irq_save(flags);
	start = insn_begin();
	ret = fi_mr_disable(mr, FI_REMOTE_INV, NULL);
	count += insn_end() - start;
	local_irq_restore(flags);
	return ret ? : (s64)count - 2 * insn_overhead;
}

static s64 insn_kofi_single(struct insn_bed *bed, int unused)
{
	struct fid_mr *mr = insn_kofi_region(bed);
	s64 one, count = 0;
	int i;

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	for (i = 0; i < INSN_BATCH; i++) {
		one = insn_kofi_single_one(bed, mr);
		if (one < 0) {
			count = one;
			break;
		}
		count += one;
	}
	fi_close(&mr->fid);
	return count;
}

static noinline int insn_raw_begin(struct insn_raw *r, struct ib_mr *mr, struct ib_reg_wr *reg,
				   struct scatterlist *sg, void *page)
{
	struct ib_sge sge = {
		.addr	= r->dma,
		.length	= INSN_LEN,
		.lkey	= r->cm.pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe		= &r->reqs[0].cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
	};
	int ret;

	sg_init_one(sg, page, PAGE_SIZE);
	ret = insn_raw_map(mr, sg);
	if (ret)
		return ret;
	insn_raw_reg(reg, mr);
	reg->wr.wr_cqe = &r->reqs[1].cqe;
	reg->wr.next = &wr;
	return ib_post_send(r->qp, &reg->wr, NULL);
}

static s64 insn_raw_single_one(struct insn_bed *bed, struct ib_mr *mr)
{
	struct scatterlist sg;
	struct ib_reg_wr reg;
	cycles_t count, start;
	unsigned long flags;
	int ret;

	local_irq_save(flags);
	start = insn_begin();
	ret = insn_raw_begin(&bed->raw, mr, &reg, &sg, bed->page);
	count = insn_end() - start;
	local_irq_restore(flags);
	if (!ret)
		ret = insn_raw_settle(bed);
	if (ret)
		return ret;
	local_irq_save(flags);
	start = insn_begin();
	ib_dma_unmap_sg(mr->device, &sg, 1, DMA_BIDIRECTIONAL);
	count += insn_end() - start;
	local_irq_restore(flags);
	return (s64)count - 2 * insn_overhead;
}

static s64 insn_raw_single(struct insn_bed *bed, int unused)
{
	struct ib_mr *mr = ib_alloc_mr(bed->raw.cm.pd, IB_MR_TYPE_MEM_REG, 1);
	s64 one, count = 0;
	int i;

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	for (i = 0; i < INSN_BATCH; i++) {
		one = insn_raw_single_one(bed, mr);
		if (one < 0) {
			count = one;
			break;
		}
		count += one;
	}
	ib_dereg_mr(mr);
	return count;
}

const struct insn_case insn_mr_cases[] = {
	{ "insn.reg.persistent", INSN_DONE, insn_kofi_persistent,
	  insn_raw_persistent, 0 },
	{ "insn.reg.single", INSN_POLL, insn_kofi_single, insn_raw_single, 0 },
};

const unsigned int insn_nr_mr_cases = ARRAY_SIZE(insn_mr_cases);
