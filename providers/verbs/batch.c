// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Batches: several work requests that end as one operation.
 *
 *	split.c		reads and writes of more elements than a work request has
 *	rw.c		fi_readsgl() and fi_writesgl(), a batch at a time
 *	rmr.c		reads over iWARP, behind the registrations of their buffers
 *
 * All of them go to the device with one doorbell.  The last work request has the slot of
 * the operation, which is called the whole: it is always signaled, and has the client's
 * completion.  The work requests in front of it have slots of their own, its parts; those
 * of rmr.c have none, as rmr.c looks after them itself.
 *
 * The device executes and reports work requests in their order, so when the last one has
 * ended, all have.  A part that fails only leaves its error with the whole; what follows is
 * flushed, the last one too, and that ends the operation: the client hears of it once, and
 * not before the device is done with all of its buffers.
 *
 * All or nothing: without slots for all of them nothing is posted.  If the device refuses a
 * work request in the middle, some are on their way, and the operation cannot be taken
 * back.  It is partial then, and ends the connection: the worker that does that puts the
 * queue pair into the error state and posts a marker in the place of the last work request.
 * The marker is flushed behind all that the device has taken.  If even the marker is
 * refused, the client hears of the end at once, and the buffers stay mapped until the
 * close, as nobody knows what the device still does with them.
 */
#include <linux/module.h>
#include "ep.h"
#include "op.h"
#include "queue.h"

/**
 * verbs_batch_claim() - Take the slots of a batch, all or none
 * @ep: the endpoint
 * @count: of work requests that have a slot
 * @whole: the operation's; the others are its parts, by their link
 *
 * Context: any; the caller holds the lock of the transmit side.
 * Return: 0; -EAGAIN: there are not so many, and the client will be called; -ESHUTDOWN.
 */
int verbs_batch_claim(struct verbs_ep *ep, unsigned int count, struct verbs_slot **whole)
{
	int ret;

	lockdep_assert_held(&ep->tx.lock);
	if (verbs_ep_ends(ep))
		return -ESHUTDOWN;
	ret = verbs_slots_claim(ep, count, whole);
	if (!ret)
		(*whole)->parts = (*whole)->link;
	return ret;
}

/* A part that has succeeded says nothing; the whole does */
static void verbs_part_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		verbs_send_done(cq, wc);
}

/* @part: of @whole, filled; it ends with @whole whether the device reports it or not */
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

/* An operation is partial: the worker ends the connection, then it; @err: why, positive */
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
 * @whole: the slot of the operation, filled, as its parts are
 * @undo: if the device refuses the first work request, nothing has happened
 *
 * Context: any; the caller holds the lock of the transmit side.
 * Return: 0: the done function of @whole will be called; the device's errno only with
 * @undo: then the slots are still the caller's.
 */
int verbs_batch_post(struct verbs_ep *ep, struct ib_send_wr *first,
		     struct verbs_slot *whole, bool undo)
{
	struct verbs_slot *part = whole->parts;
	struct ib_send_wr *wr;
	unsigned int taken;
	int ret;

	lockdep_assert_held(&ep->tx.lock);
	verbs_regs_post(ep);
	for (wr = first; wr->next; wr = wr->next) {
		if (!part)
			continue;
		verbs_part_set(part, whole, wr);
		part = part->link;
	}
	wr->wr_cqe = &whole->cqe;
	verbs_slot_set_signaled(whole, wr);
	ret = verbs_wrs_post(ep, first, &taken);
	if (!ret)
		return 0;
	if (taken || !undo) {
		verbs_batch_fail(whole, -ret);
		ret = 0;
	} else {
		verbs_slot_undo_signaling(whole);
	}
	verbs_wrs_abandon(ep);
	return ret;
}

/* Gives the slots of a batch back that was not posted; the buffers stay mapped */
void verbs_batch_drop(struct verbs_slot *whole)
{
	struct verbs_slot *part;

	for (part = whole->parts; part; part = part->link)
		part->mapped = false;
	whole->mapped = false;
	verbs_slot_put_parts(whole);
	verbs_slot_over(whole);
	verbs_slot_put(whole);
}

/**
 * verbs_batch_end_partial() - End what the device has taken in part
 * @ep: the endpoint; its queue pair is in the error state, as far as that could be had
 * @drained: nothing will be flushed any more, so a marker would not come back
 *
 * What gets no marker ends in @ep's worker.
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
		/* It may be over before the call returns */
		next = comp->next;
		slot = container_of(comp, struct verbs_slot, comp);
		marker.wr.wr_cqe = &slot->cqe;
		if (drained || ib_post_send(ep->qp, &marker.wr, NULL))
			verbs_refuse(slot);
	}
	spin_unlock_irqrestore(&ep->tx.lock, flags);
}
