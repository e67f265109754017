// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads and writes whose list is longer than a work request of the device.
 *
 * They become several work requests, the parts, with consecutive remote addresses,
 * behind one doorbell.  Only these calls can be split: the peer cannot tell two
 * writes from one, but it can tell two messages.
 *
 * A part has a slot like any work request.  The slot of the last one is that of the
 * operation: it is always signalled, has the client's completion, and carries the
 * remote CQ data; the others point to it (whole) and ride on it.  The device
 * executes, and reports, parts in their order, so when the last one has ended, all
 * have.  Over iWARP some parts are reported, too (verbs_part_watch()); that changes
 * nothing for their slots.  A part that fails only leaves its error with the whole;
 * what follows it is flushed, the last one too, and that ends the operation: the
 * client hears of it once, and not before the device is done with all of its buffers.
 * A fence is for the first part.
 *
 * All or nothing: without slots for all parts nothing is posted.  If the device
 * refuses a part in the middle, some are on their way, and the operation cannot be
 * taken back.  It is stranded then, and ends the connection: the worker that does
 * that puts the queue pair into the error state and posts a marker in the place of
 * the last part.  The marker is flushed behind all that the device had taken.  If even
 * that is refused, the client hears of the end at once, and the buffers stay mapped
 * until the close, as nobody knows what the device still does with them.
 *
 * Nothing is allocated: work requests and elements stand in memory of the endpoint,
 * which one poster at a time may use, as long as split_lock is its own.  It maps the
 * list under this lock only, so that others may post meanwhile.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "ep.h"
#include "op.h"
#include "queue.h"

static unsigned int verbs_max_parts(const struct verbs_ep *ep)
{
	return min_t(size_t, VERBS_PARTS, ep->tx.size);
}

static bool verbs_has_split(const struct verbs_ep *ep)
{
	return verbs_ep_has_rma(ep) && verbs_max_parts(ep) > 1;
}

/* Most elements of a read, on an endpoint with FI_RMA; @size: of its transmit queue */
size_t verbs_read_iov_max(const struct ib_device *ibdev, size_t size,
			  size_t iov_limit)
{
	/* A list to read into is one sink there (sink.c) */
	if (verbs_is_iwarp(ibdev))
		return iov_limit;
	return min_t(size_t, iov_limit, ibdev->attrs.max_sge_rd) *
	       min_t(size_t, VERBS_PARTS, size);
}

/* Of a write */
size_t verbs_write_iov_max(size_t size, size_t iov_limit)
{
	return iov_limit * min_t(size_t, VERBS_PARTS, size);
}

/* Elements that any read and any write may have */
size_t verbs_split_limit(const struct verbs_ep *ep)
{
	if (!verbs_ep_has_rma(ep))
		return ep->read_limit;
	return min(verbs_read_iov_max(ep->domain->dev->ibdev, ep->tx.size,
				      ep->tx.iov_limit),
		   verbs_write_iov_max(ep->tx.size, ep->tx.iov_limit));
}

/* Room for an operation that takes more than one work request */
int verbs_parts_init(struct verbs_ep *ep)
{
	ep->parts = kvcalloc(VERBS_PARTS, sizeof(*ep->parts), GFP_KERNEL);
	return ep->parts ? 0 : -ENOMEM;
}

static bool verbs_op_splits(const struct verbs_ep *ep, const struct verbs_op *op)
{
	return verbs_has_split(ep) && !op->atomic &&
	       (op->opcode == IB_WR_RDMA_WRITE ||
		op->opcode == IB_WR_RDMA_READ);
}

/* Here and below the caller holds split_lock; the first part stays mapped */
static void verbs_split_unmap(struct verbs_ep *ep, const struct verbs_op *op,
			      unsigned int count)
{
	while (--count)
		verbs_map_undo(ep->domain, verbs_op_dir(op),
			       &ep->parts[count].map);
}

/* Returns the number of parts, or an errno; then only the first is mapped */
static int verbs_split_map(struct verbs_ep *ep, const struct verbs_op *op,
			   struct kofi_list_iter *iter)
{
	size_t limit = op->opcode == IB_WR_RDMA_READ ? ep->read_limit :
						       ep->tx.iov_limit;
	unsigned int count = 1;
	struct verbs_map *map;
	int ret = 0;

	while (!ret && kofi_list_more(iter)) {
		if (count == verbs_max_parts(ep)) {
			ret = -EINVAL;
			break;
		}
		map = &ep->parts[count].map;
		map->count = 0;
		map->mapped = 0;
		map->copied = false;
		map->len = 0;
		ret = verbs_map_some(ep->domain, verbs_op_dir(op), iter, limit,
				     map);
		if (!ret)
			count++;
	}
	if (!ret)
		return count;
	verbs_split_unmap(ep, op, count);
	return ret;
}

/* Here and below the caller holds the queue's lock, too */
static int verbs_split_take(struct verbs_ep *ep, unsigned int count)
{
	struct verbs_slot *slot;
	unsigned int i;
	int ret;

	ret = verbs_slots_claim(ep, count, &slot);
	for (i = 0; i < count && !ret; i++, slot = slot->link)
		ep->parts[i].slot = slot;
	return ret;
}

/* What of the operation's flags is the part's own */
static u64 verbs_part_flags(const struct verbs_op *op, bool first, bool last)
{
	u64 flags = 0;

	if (first)
		flags |= op->flags & FI_FENCE;
	if (last)
		flags |= op->flags & FI_REMOTE_CQ_DATA;
	return flags;
}

/* That it has succeeded is for the whole to tell */
static void verbs_part_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		verbs_send_done(cq, wc);
}

/**
 * verbs_part_watch() - Have the device report a part, if it has to
 * @part: the slot, filled; it ends with the whole nevertheless
 * @wr: the work request
 */
void verbs_part_watch(struct verbs_slot *part, struct ib_send_wr *wr)
{
	struct verbs_ep *ep = verbs_tx_ep(part->queue);
	size_t len = 0;
	int i;

	if (wr->opcode != IB_WR_RDMA_WRITE)
		return;
	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	if (!verbs_wr_lingers(ep, len))
		return;
	part->cqe.done = verbs_part_done;
	wr->send_flags |= IB_SEND_SIGNALED;
}

static void verbs_split_fill(struct verbs_ep *ep, const struct verbs_op *op,
			     unsigned int count)
{
	struct verbs_part *part, *last = &ep->parts[count - 1];
	struct verbs_op one = *op;
	size_t len = 0;

	for (part = ep->parts; part <= last; part++) {
		one.addr = op->addr + len;
		one.flags = verbs_part_flags(op, part == ep->parts,
					     part == last);
		len += part->map.len;
		verbs_slot_fill(part->slot, op, verbs_comp_flags(op));
		verbs_slot_begun(part->slot);
		verbs_map_keep(part->slot, &part->map);
		verbs_wr_init(&part->any, &one, &part->map);
		part->any.wr.wr_cqe = &part->slot->cqe;
		if (part == last)
			break;
		part->any.wr.next = &part[1].any.wr;
		part->slot->whole = last->slot;
		part->slot->part = true;
		verbs_part_watch(part->slot, &part->any.wr);
		verbs_slot_ride(part->slot);
	}
	last->slot->bytes = len;
	verbs_slot_carry(last->slot, &last->any.wr);
}

/* As if they had never been there */
static void verbs_split_undo(struct verbs_ep *ep, unsigned int count)
{
	struct verbs_slot *slot;

	while (count--) {
		slot = ep->parts[count].slot;
		verbs_slot_over(slot);
		slot->mapped = false;
		verbs_slot_alight(slot);
		verbs_slot_put(slot);
	}
}

/* Without @cq the device has not said that it is done, and never will */
static void verbs_split_ended(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_slot *slot = to_verbs_slot(wc);

	/* What it has taken stays mapped until the close */
	if (!cq)
		slot->riders = NULL;
	slot->cqe.done = verbs_send_done;
	verbs_slot_fail(cq, slot, ECANCELED, IB_WC_WR_FLUSH_ERR);
}

/* Returns an errno only if the device has taken no part */
static int verbs_split_post(struct verbs_ep *ep, const struct verbs_op *op,
			    unsigned int count)
{
	struct verbs_slot *whole;
	unsigned int taken;
	int ret;

	ret = verbs_ep_ends(ep) ? -ESHUTDOWN : verbs_split_take(ep, count);
	if (ret)
		return ret;
	whole = ep->parts[count - 1].slot;
	verbs_regs_ride(ep);
	verbs_split_fill(ep, op, count);
	ret = verbs_chain_post(ep, &ep->parts[0].any.wr, &taken);
	if (!ret)
		return 0;
	if (taken) {
		whole->cqe.done = verbs_split_ended;
		verbs_strand(whole, -ret);
		return 0;
	}
	verbs_split_undo(ep, count);
	verbs_chain_abandon(ep);
	return verbs_post_errno(&ep->tx, ret);
}

/**
 * verbs_post_split() - Post an operation with more elements than a work request
 * @ep: the endpoint
 * @op: the operation
 * @iter: stands behind what is mapped
 * @first: the elements of the first part, mapped
 *
 * Context: any.
 * Return: 0; -EINVAL: cannot be split, or has more parts than there may be;
 * -EAGAIN; or another errno.  After an error @first is still the caller's.
 */
int verbs_post_split(struct verbs_ep *ep, const struct verbs_op *op,
		     struct kofi_list_iter *iter, const struct verbs_map *first)
{
	unsigned long flags;
	int ret, count;

	if (!verbs_op_splits(ep, op) || !first->count)
		return -EINVAL;

	spin_lock_irqsave(&ep->split_lock, flags);
	ep->parts[0].map = *first;
	count = verbs_split_map(ep, op, iter);
	ret = verbs_try_later(&ep->tx, count);
	if (count > 0) {
		spin_lock(&ep->tx.lock);
		ret = verbs_split_post(ep, op, count);
		verbs_queue_settle(ep, &ep->tx);
		spin_unlock(&ep->tx.lock);
		if (ret)
			verbs_split_unmap(ep, op, count);
	}
	spin_unlock_irqrestore(&ep->split_lock, flags);
	return ret;
}

/**
 * verbs_strand() - End the connection for an operation that is under way in part
 * @slot: the operation's; its cqe gets a completion, whatever it says
 * @err: why, positive
 *
 * Context: any; the caller holds the lock of the slot's queue.
 */
void verbs_strand(struct verbs_slot *slot, int err)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);

	slot->comp.next = ep->stranded;
	ep->stranded = &slot->comp;
	verbs_slot_blame(slot, err, 0);
}

/**
 * verbs_end_stranded() - End what the device has taken in part
 * @ep: the endpoint; its queue pair is in the error state, as far as that could be had
 * @drained: nothing will be flushed any more, so a marker would not come back
 *
 * What gets no marker ends in @ep's worker.
 *
 * Context: any.
 */
void verbs_end_stranded(struct verbs_ep *ep, bool drained)
{
	struct ib_rdma_wr marker = {
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.wr.send_flags	= IB_SEND_SIGNALED,
	};
	struct kofi_comp *comp, *next;
	struct verbs_slot *slot;
	unsigned long flags;

	spin_lock_irqsave(&ep->tx.lock, flags);
	comp = ep->stranded;
	ep->stranded = NULL;
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
