// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completing: from the device's completion to the request.
 *
 *	poll	fi_cq_read() for a batch, against ib_poll_cq()
 *	sread	fi_cq_sread() of what has come meanwhile, against a callback that
 *		lists the request and completes a struct completion
 *	handler	the handler reads the queue, against a callback for each
 *	done	a callback for each operation, against the same on ib_core
 *
 * All but the first include what the interrupt of the device starts: softirq and
 * ib_core's polling, which are the same on both sides.
 */
#include <linux/bottom_half.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "insn.h"

/* Returns 0 when INSN_BATCH operations of a kind have ended and nobody knows */
static int insn_kofi_prepare(struct insn_kofi *k, int op)
{
	int i, ret = 0;

	for (i = 0; i < INSN_BATCH; i++) {
		k->reqs[i].len = 0;
		ret |= insn_kofi_ops[op](k, &k->reqs[i]);
	}
	fakehca_quick_end(k->qp);
	return ret;
}

static void insn_raw_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct insn_req *req = container_of(wc->wr_cqe, struct insn_req, cqe);

	req->len = wc->byte_len;
}

static void insn_raw_unmap_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct insn_req *req = container_of(wc->wr_cqe, struct insn_req, cqe);
	struct insn_raw *r = cq->cq_context;

	ib_dma_unmap_single(r->cm.pd->device, req->dma, INSN_LONG, DMA_TO_DEVICE);
	req->dma = 0;
	req->len = wc->byte_len;
}

static void insn_raw_list(struct ib_cq *cq, struct ib_wc *wc)
{
	struct insn_req *req = container_of(wc->wr_cqe, struct insn_req, cqe);
	struct insn_raw *r = cq->cq_context;

	req->len = wc->byte_len;
	req->next = r->list;
	r->list = req;
	complete(&r->arrived);
}

static int insn_raw_prepare(struct insn_raw *r, int op)
{
	int i, ret = 0;

	for (i = 0; i < INSN_BATCH; i++) {
		r->reqs[i].cqe.done = r->kind == INSN_SREAD ? insn_raw_list :
				      op == INSN_LONG_MAP ? insn_raw_unmap_done :
							    insn_raw_done;
		ret |= insn_raw_ops[op](r, &r->reqs[i]);
	}
	fakehca_quick_end(r->qp);
	return ret;
}

static s64 insn_kofi_read(struct insn_bed *bed, int op)
{
	struct fi_cq_msg_entry entries[INSN_BATCH];
	struct insn_kofi *k = &bed->kofi;
	struct insn_req *req;
	unsigned long flags;
	cycles_t start, stop;
	ssize_t i, ret;

	if (insn_kofi_prepare(k, op))
		return -EIO;
	local_irq_save(flags);
	start = insn_begin();
	ret = fi_cq_read(k->cq, entries, INSN_BATCH);
	for (i = 0; i < ret; i++) {
		req = entries[i].op_context;
		req->len = entries[i].len;
	}
	stop = insn_end();
	local_irq_restore(flags);
	if (ret != INSN_BATCH)
		return -EPROTO;
	ret = insn_kofi_settle(bed);
	return ret ? : (s64)(stop - start) - insn_overhead;
}

static s64 insn_raw_read(struct insn_bed *bed, int op)
{
	struct insn_raw *r = &bed->raw;
	struct ib_wc wc[INSN_BATCH];
	struct insn_req *req;
	unsigned long flags;
	cycles_t start, stop;
	int i, ret;

	if (insn_raw_prepare(r, op))
		return -EIO;
	local_irq_save(flags);
	start = insn_begin();
	ret = ib_poll_cq(r->cq, INSN_BATCH, wc);
	for (i = 0; i < ret; i++) {
		req = container_of(wc[i].wr_cqe, struct insn_req, cqe);
		req->len = wc[i].status == IB_WC_SUCCESS ? wc[i].byte_len : 0;
	}
	stop = insn_end();
	local_irq_restore(flags);
	if (ret != INSN_BATCH)
		return -EPROTO;
	return (s64)(stop - start) - insn_overhead;
}

static s64 insn_kofi_sread(struct insn_bed *bed, int op)
{
	struct fi_cq_msg_entry entries[INSN_BATCH];
	struct insn_kofi *k = &bed->kofi;
	struct insn_req *req;
	cycles_t start, stop;
	ssize_t i, ret;

	if (insn_kofi_prepare(k, op))
		return -EIO;
	start = insn_begin();
	insn_tell(k->qp->send_cq);
	ret = fi_cq_sread(k->cq, entries, INSN_BATCH, NULL, PERF_PATIENCE_MS);
	for (i = 0; i < ret; i++) {
		req = entries[i].op_context;
		req->len = entries[i].len;
	}
	stop = insn_end();
	if (ret != INSN_BATCH)
		return -EPROTO;
	return (s64)(stop - start) - insn_overhead;
}

static s64 insn_raw_sread(struct insn_bed *bed, int op)
{
	struct insn_raw *r = &bed->raw;
	struct insn_req *req;
	cycles_t start, stop;
	unsigned long left;
	int n = 0;

	if (insn_raw_prepare(r, op))
		return -EIO;
	start = insn_begin();
	insn_tell(r->cq);
	left = wait_for_completion_timeout(&r->arrived, msecs_to_jiffies(PERF_PATIENCE_MS));
	while ((req = r->list)) {
		r->list = req->next;
		n++;
	}
	stop = insn_end();
	reinit_completion(&r->arrived);
	if (!left || n != INSN_BATCH)
		return -EPROTO;
	return (s64)(stop - start) - insn_overhead;
}

static s64 insn_kofi_called(struct insn_bed *bed, int op)
{
	struct insn_kofi *k = &bed->kofi;
	cycles_t start, stop;
	int i, ret;

	ret = insn_kofi_prepare(k, op);
	for (i = 0; i < INSN_BATCH; i++)
		k->reqs[i].len = U32_MAX;
	if (ret)
		return -EIO;
	start = insn_begin();
	insn_tell(k->qp->send_cq);
	stop = insn_end();
	for (i = 0; i < INSN_BATCH; i++)
		if (k->reqs[i].len == U32_MAX)
			return -EPROTO;
	return (s64)(stop - start) - insn_overhead;
}

static s64 insn_raw_called(struct insn_bed *bed, int op)
{
	struct insn_raw *r = &bed->raw;
	cycles_t start, stop;
	int i, ret;

	ret = insn_raw_prepare(r, op);
	for (i = 0; i < INSN_BATCH; i++)
		r->reqs[i].len = U32_MAX;
	if (ret)
		return -EIO;
	start = insn_begin();
	insn_tell(r->cq);
	stop = insn_end();
	for (i = 0; i < INSN_BATCH; i++)
		if (r->reqs[i].len == U32_MAX)
			return -EPROTO;
	return (s64)(stop - start) - insn_overhead;
}

#define INSN_READS(key, op) \
	{ "insn.cq_read" key, INSN_POLL, insn_kofi_read, insn_raw_read, op }
#define INSN_SREADS(key, op) \
	{ "insn.sread" key, INSN_SREAD, insn_kofi_sread, insn_raw_sread, op }
#define INSN_HANDLERS(key, op) \
	{ "insn.handler" key, INSN_HANDLER, insn_kofi_called, insn_raw_called, op }
#define INSN_DONES(key, op) \
	{ "insn.done" key, INSN_DONE, insn_kofi_called, insn_raw_called, op }

/* The keys of the targets are those of sends */
const struct insn_case insn_comp_cases[] = {
	INSN_READS("", INSN_SEND),
	INSN_READS(".recv", INSN_RECV),
	INSN_READS(".write", INSN_WRITE),
	INSN_READS(".read", INSN_READ),
	INSN_SREADS("", INSN_SEND),
	INSN_SREADS(".recv", INSN_RECV),
	INSN_SREADS(".write", INSN_WRITE),
	INSN_SREADS(".read", INSN_READ),
	INSN_HANDLERS("", INSN_SEND),
	INSN_HANDLERS(".recv", INSN_RECV),
	INSN_HANDLERS(".write", INSN_WRITE),
	INSN_HANDLERS(".read", INSN_READ),
	INSN_DONES("", INSN_SEND),
	INSN_DONES(".recv", INSN_RECV),
	INSN_DONES(".write", INSN_WRITE),
	INSN_DONES(".read", INSN_READ),
	INSN_DONES(".map", INSN_LONG_MAP),
};

const unsigned int insn_nr_comp_cases = ARRAY_SIZE(insn_comp_cases);
