// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completing: from the device's completion to the client's.
 *
 * The poller of a completion queue (cq.c) calls the done functions, one at a time, and what they
 * report goes to the core together when the poll ends.  A success that the
 * client has not asked for frees the slot at once; every error is reported.  The first error
 * other than a flush means that the queue pair has left the connected state.  A worker then ends
 * the connection, and both clients get an event.  Of an error of a receive the peer hears from its
 * own device, so the worker lets the peer end the connection (verbs_ep_refusing()).
 *
 * On the wire a message is one SEND and nothing else; remote CQ data is the immediate, 32 bits in
 * network order (libfabric's verbs provider, all versions).
 */
#include "../ep.h"
#include "../mr.h"
#include "../op.h"
#include "../queue.h"
#include "../verbs.h"

/* The core's queue that is being polled */
static struct kofi_cq *verbs_polled_cq(const struct ib_cq *ibcq)
{
	struct verbs_cq *cq = ibcq->cq_context;

	return &cq->kcq;
}

/* @cq: the device's queue if its poller calls; or NULL */
static __always_inline void verbs_report(const struct ib_cq *cq, struct verbs_slot *slot)
{
	if (!cq)
		kofi_cq_complete(slot->queue->side->cq, &slot->comp);
	else if (slot->queue->counted)
		kofi_cq_polled_now(verbs_polled_cq(cq), &slot->comp);
	else
		kofi_cq_polled(verbs_polled_cq(cq), &slot->comp);
}

/*
 * Counts an operation after its report, so a client that sees it counted finds it reported.  The
 * slot may be another operation's by now, and is not used.
 */
static __always_inline void verbs_count(const struct verbs_queue *queue, u64 flags, int err,
					size_t len)
{
	if (queue->counted)
		kofi_ep_count(queue->side->ep, flags, err, len);
	else
		kofi_ep_ended(queue->side->ep, flags, err, len);
}

/* The completion has been filled, which has overwritten the marks */
static __always_inline void verbs_succeed(const struct ib_cq *cq, struct verbs_slot *slot,
					  bool unreported, size_t len)
{
	const struct verbs_queue *queue = slot->queue;
	u64 flags = slot->comp.flags;

	if (unreported)
		verbs_slot_put(slot);
	else
		verbs_report(cq, slot);
	verbs_count(queue, flags, 0, len);
}

/* Turn an operation in flight into its completion, with the key that it has ended */
static __always_inline void verbs_slot_finish(struct verbs_slot *slot, u64 key)
{
	slot->comp.len = 0;
	slot->comp.data = key;
	/* This is comp.buf, too.  Pairs with verbs_mr_ep_quiesce() */
	smp_store_release(&slot->region, NULL);
}

static __always_inline void verbs_sent_op(const struct ib_cq *cq, struct verbs_slot *slot, u64 key,
					  size_t len)
{
	bool unreported = slot->unreported;

	verbs_slot_finish(slot, key);
	verbs_succeed(cq, slot, unreported, len);
}

void verbs_slot_succeed(const struct ib_cq *cq, struct verbs_slot *slot,
			size_t len)
{
	verbs_sent_op(cq, slot, 0, len);
}

/* The key that the client ends with the operation, or 0; keys of read regions are ours */
static u64 verbs_slot_key(const struct verbs_slot *slot)
{
	const struct verbs_mr *mr = slot->regional && slot->comp.flags ? slot->region : NULL;

	return mr && !mr->is_read_mr ? mr->ibmr->rkey : 0;
}

/* Reports the error, unless it is a registration's, which is no operation of the client's */
static void verbs_slot_failed(const struct ib_cq *cq, struct verbs_slot *slot)
{
	const struct verbs_queue *queue = slot->queue;
	u64 flags = slot->comp.flags;
	int err = slot->comp.err;

	if (flags)
		verbs_report(cq, slot);
	else
		verbs_slot_put(slot);
	verbs_count(queue, flags, err, 0);
}

/*
 * Does this failure end the operation?  siw flushes a read twice that it was about to begin.  The
 * second flush may find a free slot, or the slot's next operation.  That will be flushed as well,
 * so the early flush ends it, and the later one is ignored.  Taking the lock waits for the poster
 * of the next operation to leave the driver.
 */
static bool verbs_slot_is_due(struct verbs_slot *slot)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);
	unsigned long flags;
	bool due;

	if (!ep->iwarp)
		return true;
	spin_lock_irqsave(&ep->tx.lock, flags);
	due = slot->due;
	slot->due = false;
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	return due;
}

/* An operation of the transmit side has failed; or a part of one, which ends with its whole */
void verbs_slot_fail(const struct ib_cq *cq, struct verbs_slot *slot, int err,
		     int prov_errno)
{
	if (slot->part) {
		verbs_slot_set_err(slot->whole, err, prov_errno);
		return;
	}
	if (!verbs_slot_is_due(slot))
		return;
	verbs_slot_set_err(slot, err, prov_errno);
	if (slot->save)
		verbs_tx_ep(slot->queue)->save_ops->failed(slot);
	verbs_slot_over(slot);
	verbs_unmap(slot);
	verbs_slot_put_parts(slot);
	verbs_slot_finish(slot, verbs_slot_key(slot));
	verbs_slot_failed(cq, slot);
}

/*
 * Done functions of operations at whose end nothing else is due (verbs_submit_in_order()), and of
 * receives of an endpoint that reports every one.  They only report a success.
 */
void verbs_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_slot *slot = to_verbs_slot(wc);

	if (likely(wc->status == IB_WC_SUCCESS))
		kofi_cq_polled_success(verbs_polled_cq(cq), &slot->comp);
	else
		verbs_send_done(cq, wc);
}

/* As verbs_sent(), for an operation whose buffers are mapped */
void verbs_sent_mapped(struct ib_cq *cq, struct ib_wc *wc)
{
	verbs_unmap(to_verbs_slot(wc));
	verbs_sent(cq, wc);
}

void verbs_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_slot *slot = to_verbs_slot(wc);

	if (unlikely(wc->status != IB_WC_SUCCESS ||
		     wc->wc_flags & (IB_WC_WITH_IMM | IB_WC_WITH_INVALIDATE))) {
		verbs_recv_done(cq, wc);
		return;
	}
	slot->comp.len = wc->byte_len;
	kofi_ep_received(slot->queue->side->ep, wc->byte_len);
	kofi_cq_polled_success(verbs_polled_cq(cq), &slot->comp);
}

/* End what has ended with the operation; return the key that the client has ended with it, or 0 */
static u64 verbs_slot_end(struct verbs_slot *slot)
{
	u64 key = verbs_slot_key(slot);

	if (slot->unsignaled)
		verbs_slot_put_unsignaled(slot);
	verbs_slot_put_parts(slot);
	if (slot->regional && slot->region && slot->comp.flags)
		slot->region->ended(slot->region);
	return key;
}

void verbs_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_slot *slot = to_verbs_slot(wc);
	size_t len = slot->bytes;
	u64 key = 0;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		verbs_slot_fail(cq, slot, -verbs_wc_errno(wc->status, false),
				wc->status);
		return;
	}
	verbs_slot_over(slot);
	verbs_unmap(slot);
	if (slot->unsignaled || slot->parts)
		key = verbs_slot_end(slot);
	if (unlikely(slot->save))
		verbs_tx_ep(slot->queue)->save_ops->written(slot);
	else
		verbs_sent_op(cq, slot, key, len);
}

/* Completes a receive with the data or key of its message, or as a write with data */
static void verbs_recv_flags(struct kofi_comp *comp, const struct ib_wc *wc)
{
	if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM) {
		comp->flags = FI_RMA | FI_REMOTE_WRITE;
		comp->buf = NULL;
	}
	if (wc->wc_flags & IB_WC_WITH_IMM) {
		comp->flags |= FI_REMOTE_CQ_DATA;
		comp->data = be32_to_cpu(wc->ex.imm_data);
	} else if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		comp->flags |= FI_REMOTE_INV;
		comp->data = wc->ex.invalidate_rkey;
	}
}

void verbs_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_slot *slot = to_verbs_slot(wc);
	bool unreported = slot->unreported;

	verbs_unmap(slot);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		slot->comp.len = 0;
		verbs_slot_set_err(slot, -verbs_wc_errno(wc->status, true),
				   wc->status);
		verbs_slot_failed(cq, slot);
		return;
	}
	slot->comp.len = wc->byte_len;
	verbs_recv_flags(&slot->comp, wc);
	verbs_succeed(cq, slot, unreported, wc->byte_len);
}

/*
 * The queue pair that has taken the receive, and its endpoint, exist: a close waits for this
 * function before it destroys them (srx.c).
 */
void verbs_srx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_slot *slot = to_verbs_slot(wc);
	struct verbs_ep *ep = wc->qp->qp_context;

	/* First, as the mapping is the shared queue's */
	verbs_unmap(slot);
	slot->queue = &ep->rx;
	slot->comp.op_context = verbs_context(&ep->rx, slot->comp.op_context);
	slot->unreported &= !ep->kep.rx.implied;
	verbs_recv_done(cq, wc);
}
