// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Both sides, connected on one fake HCA; and the way of completions that nobody
 * counts.
 */
#include <linux/bottom_half.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "insn.h"

/* kOFI's callbacks do what those of the baseline do */
static void insn_kofi_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct insn_req *req = container_of(done, struct insn_req, done);

	req->len = entry->len;
}

static void insn_kofi_handler(struct fid_cq *cq, void *context)
{
	struct fi_cq_msg_entry entries[INSN_BATCH];
	struct insn_req *req;
	ssize_t i, ret;

	while ((ret = fi_cq_read(cq, entries, INSN_BATCH)) > 0) {
		for (i = 0; i < ret; i++) {
			req = entries[i].op_context;
			req->len = entries[i].len;
		}
	}
}

static int insn_kofi_cq(struct insn_kofi *k)
{
	static const enum fi_wait_obj wait_obj[] = {
		[INSN_POLL]	= FI_WAIT_NONE,
		[INSN_SREAD]	= FI_WAIT_UNSPEC,
		[INSN_HANDLER]	= FI_WAIT_CALLBACK,
		[INSN_DONE]	= FI_WAIT_DONE,
	};
	struct fi_cq_attr attr = {
		.size		= 4 * INSN_DEPTH,
		.format		= FI_CQ_FORMAT_MSG,
		.wait_obj	= wait_obj[k->kind],
		.comp_ctx	= FI_COMP_SOFTIRQ,
	};

	if (k->kind == INSN_HANDLER)
		attr.handler = insn_kofi_handler;
	return fi_cq_open(k->f.domain, &attr, &k->cq, NULL);
}

static int insn_kofi_open(struct insn_bed *bed)
{
	const struct perf_depth depth = { INSN_DEPTH, INSN_DEPTH };
	const struct perf_way way = { .prov = "verbs" };
	struct insn_kofi *k = &bed->kofi;
	u32 qpn;
	int i, ret;

	for (i = 0; i < INSN_BATCH; i++)
		k->reqs[i].done.done = insn_kofi_done;
	ret = perf_fabric_open(&k->f, &way, FAKEHCA_ADDR, depth, FI_MSG | FI_RMA);
	if (!ret)
		ret = insn_kofi_cq(k);
	if (!ret)
		ret = fi_mr_reg(k->f.domain, bed->buf, INSN_LEN, FI_SEND | FI_RECV | FI_READ |
				FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &k->mr, NULL);
	if (ret)
		return ret;
	k->desc = fi_mr_desc(k->mr);
	k->key = fi_mr_key(k->mr);
	/* a's queue pair is made right before b's */
	ret = perf_connect(&k->f, &k->link, k->cq, k->cq);
	if (ret)
		return ret;
	qpn = fakehca_last_qp(bed->hca) - 1;
	k->qp = fakehca_qp(bed->hca, qpn);
	return k->qp ? 0 : -ENODEV;
}

static void insn_kofi_close(struct insn_kofi *k)
{
	perf_disconnect(&k->link);
	if (k->mr)
		fi_close(&k->mr->fid);
	if (k->cq)
		fi_close(&k->cq->fid);
	perf_fabric_close(&k->f);
}

static int insn_raw_cq(struct insn_raw *r)
{
	struct ib_cq *cq;

	cq = ib_alloc_cq_any(r->cm.pd->device, r, 4 * INSN_DEPTH, r->kind == INSN_POLL ?
			     IB_POLL_DIRECT : IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	r->cq = cq;
	return 0;
}

static int insn_raw_open(struct insn_bed *bed)
{
	const struct perf_depth depth = { INSN_DEPTH, INSN_DEPTH };
	struct insn_raw *r = &bed->raw;
	int ret;

	init_completion(&r->arrived);
	ret = perf_raw_cm_open(&r->cm, FAKEHCA_ADDR, depth, INSN_LEN);
	if (!ret)
		ret = insn_raw_cq(r);
	if (ret)
		return ret;
	r->dma = ib_dma_map_single(r->cm.pd->device, bed->buf, INSN_LEN, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(r->cm.pd->device, r->dma)) {
		r->dma = 0;
		return -ENOMEM;
	}
	r->buf = bed->buf;
	ret = perf_raw_connect(&r->cm, &r->link, r->cq, r->cq);
	r->qp = r->link.a.qp;
	return ret;
}

static void insn_raw_close(struct insn_raw *r)
{
	perf_raw_disconnect(&r->link);
	if (r->dma)
		ib_dma_unmap_single(r->cm.pd->device, r->dma, INSN_LEN, DMA_BIDIRECTIONAL);
	if (r->cq)
		ib_free_cq(r->cq);
	perf_raw_cm_close(&r->cm);
}

/* The device is quick when everything stands */
int insn_bed_open(struct insn_bed *bed, enum insn_kind kind)
{
	const struct fakehca_attr attr = {
		.roce		= true,
		.max_inline	= 256,
	};
	int ret;

	*bed = (struct insn_bed) { .kofi.kind = kind, .raw.kind = kind };
	bed->buf = kzalloc(INSN_LONG, GFP_KERNEL);
	bed->page = (void *)get_zeroed_page(GFP_KERNEL);
	if (!bed->buf || !bed->page)
		return -ENOMEM;
	bed->hca = fakehca_create(&attr);
	if (IS_ERR(bed->hca)) {
		ret = PTR_ERR(bed->hca);
		bed->hca = NULL;
		return ret;
	}
	bed->kofi.buf = bed->buf;
	ret = insn_kofi_open(bed);
	if (!ret)
		ret = insn_raw_open(bed);
	if (!ret)
		fakehca_quick(bed->hca, true);
	return ret;
}

void insn_bed_close(struct insn_bed *bed)
{
	if (bed->hca)
		fakehca_quick(bed->hca, false);
	insn_raw_close(&bed->raw);
	insn_kofi_close(&bed->kofi);
	if (bed->hca)
		fakehca_destroy(bed->hca);
	kfree(bed->buf);
	free_page((unsigned long)bed->page);
}

/* Softirqs run before this returns */
void insn_tell(struct ib_cq *cq)
{
	local_bh_disable();
	fakehca_quick_tell(cq);
	local_bh_enable();
}

int insn_kofi_settle(struct insn_bed *bed)
{
	struct fi_cq_msg_entry entries[INSN_BATCH];
	struct insn_kofi *k = &bed->kofi;
	ssize_t ret;

	fakehca_quick_end(k->qp);
	insn_tell(k->qp->send_cq);
	if (k->kind == INSN_DONE)
		return 0;
	do
		ret = fi_cq_read(k->cq, entries, INSN_BATCH);
	while (ret > 0);
	return ret == -EAGAIN ? 0 : ret;
}

int insn_raw_settle(struct insn_bed *bed)
{
	struct insn_raw *r = &bed->raw;
	struct ib_wc wc[INSN_BATCH];

	fakehca_quick_end(r->qp);
	insn_tell(r->cq);
	r->list = NULL;
	reinit_completion(&r->arrived);
	if (r->kind != INSN_POLL)
		return 0;
	while (ib_poll_cq(r->cq, INSN_BATCH, wc) > 0)
		;
	return 0;
}
