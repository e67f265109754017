// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Batches: several work requests that end as one operation.
 *
 *	split.c		reads and writes of more elements than a work request has
 *	rw.c		fi_readsgl() and fi_writesgl(), a batch at a time
 *	read_mr.c	reads over iWARP, behind the registrations of their buffers
 *
 * A batch goes to the device with one doorbell.  Its last work request has the slot of the
 * operation, the whole, which is always signaled and has the client's completion.  The work
 * requests in front of it have slots of their own, the parts.  Those of read_mr.c have no slots
 * but a done function of their own.
 *
 * The device executes and reports work requests in order, so when the last one has ended, all
 * have.  A part that fails leaves its error with the whole.  The device then flushes the work
 * requests behind it, and the flush of the last one ends the operation.  So the operation
 * completes once, and not before the device is done with all of its buffers.
 *
 * All or nothing: without slots for all work requests none is posted.  If the device refuses a
 * work request in the middle, the operation is partial: it cannot be taken back, and ends the
 * connection.  verbs_cm_broken() puts the queue pair into the error state and posts a marker in
 * the place of the last work request.  The device flushes the marker behind all that it has
 * taken.  If it refuses even the marker, the worker ends the operation, and the buffers stay
 * mapped until the close, as the device may still use them.
 */
#include "../ep.h"
#include "../op.h"
#include "../queue.h"

/**
 * verbs_batch_claim() - Take the slots of a batch, all or none
 * @ep: the endpoint
 * @count: of work requests that have a slot
 * @whole: slot of the operation; the remaining slots, by their link from it, are for its parts.
 *	The caller fills it, and then sets its parts
 *
 * Context: any; the caller holds the lock of the transmit side.
 * Return: 0; -EAGAIN: too few are free, and the client will be called; -ESHUTDOWN.
 */
int verbs_batch_claim(struct verbs_ep *ep, unsigned int count, struct verbs_slot **whole)
{
	lockdep_assert_held(&ep->tx.lock);
	return verbs_ep_ends(ep) ? -ESHUTDOWN : verbs_slots_claim(ep, count, whole);
}

/* Only the whole reports success */
static void verbs_part_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		verbs_send_done(cq, wc);
}

/* @part, which the caller has filled, ends with @whole whether the device reports it or not */
static void verbs_part_set(struct verbs_slot *part, struct verbs_slot *whole,
			   struct ib_send_wr *wr)
{
	size_t len = 0;
	int i;

	part->whole = whole;
	part->part = true;
	part->cqe.done = verbs_part_done;
	wr->wr_cqe = &part->cqe;
	if (wr->opcode != IB_WR_RDMA_WRITE)
		return;
	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	if (verbs_wr_lingers(verbs_tx_ep(part->queue), len))
		wr->send_flags |= IB_SEND_SIGNALED;
}

/* The operation is partial: the worker ends the connection, then the operation; @err: positive */
void verbs_batch_fail(struct verbs_slot *whole, int err)
{
	struct verbs_ep *ep = verbs_tx_ep(whole->queue);

	lockdep_assert_held(&ep->tx.lock);
	whole->comp.next = ep->partial;
	ep->partial = &whole->comp;
	verbs_slot_set_err(whole, err, 0);
}

/**
 * verbs_batch_post() - Post a batch
 * @ep: the endpoint
 * @first: the first work request; the last one is the operation's
 * @whole: the slot of the operation; the caller has filled it and its parts
 * @undo: the batch can be taken back if the device refuses the first work request
 *
 * Context: any; the caller holds the lock of the transmit side.
 * Return: 0: the done function of @whole will be called; or, only with @undo, the device's
 * errno: nothing is posted, and the caller has the slots.
 */
int verbs_batch_post(struct verbs_ep *ep, struct ib_send_wr *first,
		     struct verbs_slot *whole, bool undo)
{
	struct verbs_slot *part = verbs_slot_parts(whole);
	struct ib_send_wr *wr;
	int ret;

	lockdep_assert_held(&ep->tx.lock);
	if (ep->regs)
		verbs_regs_post(ep);
	for (wr = first; wr->next; wr = wr->next) {
		if (!part)
			continue;
		verbs_part_set(part, whole, wr);
		part = part->link;
	}
	wr->wr_cqe = &whole->cqe;
	verbs_slot_set_signaled(ep, whole, wr);
	ret = verbs_wrs_post(ep, first);
	if (!ret)
		return 0;
	if (ep->wrs_taken || !undo) {
		verbs_batch_fail(whole, -ret);
		ret = 0;
	} else {
		verbs_slot_undo_signaling(whole, wr);
	}
	verbs_wrs_abandon(ep);
	return ret;
}

/* Gives back the slots of a batch that was not posted; the buffers stay mapped */
void verbs_batch_drop(struct verbs_slot *whole)
{
	struct verbs_slot *part;

	for (part = verbs_slot_parts(whole); part; part = part->link)
		verbs_sges_forget(part);
	verbs_sges_forget(whole);
	verbs_slot_put_parts(whole);
	verbs_slot_over(whole);
	verbs_slot_put(whole);
}

/**
 * verbs_batch_end_partial() - End operations that the device has taken in part
 * @ep: the endpoint; its queue pair is in the error state, unless the driver has refused
 * @drained: the device flushes nothing any more, so a marker would not come back
 *
 * An operation without a marker ends by verbs_end_refused().
 *
 * Context: any.
 */
void verbs_batch_end_partial(struct verbs_ep *ep, bool drained)
{
	struct ib_rdma_wr marker = {
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.wr.send_flags	= IB_SEND_SIGNALED,
	};
	struct kofi_comp *comp, *next;
	struct verbs_slot *slot;
	unsigned long flags;

	spin_lock_irqsave(&ep->tx.lock, flags);
	comp = ep->partial;
	ep->partial = NULL;
	for (; comp; comp = next) {
		/* The operation may be over before the call returns */
		next = comp->next;
		slot = container_of(comp, struct verbs_slot, comp);
		marker.wr.wr_cqe = &slot->cqe;
		if (drained || ib_post_send(ep->qp, &marker.wr, NULL))
			verbs_refuse(slot);
	}
	spin_unlock_irqrestore(&ep->tx.lock, flags);
}

/* Puts the queue pair into the error state, in any state of rdma_cm, so all that is posted ends */
void verbs_ep_flush(struct verbs_ep *ep)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (!ep->qp)
		return;
	ib_modify_qp(ep->qp, &attr, IB_QP_STATE);
	verbs_ring_last(ep);
	verbs_batch_end_partial(ep, false);
}
