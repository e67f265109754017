// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads and writes whose list is longer than a work request of the device.
 *
 * They become several work requests, the parts, with consecutive remote addresses and one
 * doorbell.  Only reads and writes can be split: the peer sees no difference between one write and
 * two, but it sees one between one message and two.
 *
 * batch.c ends the parts as one operation.  A fence is for the first part, remote CQ data are for
 * the last.
 *
 * verbs_post_split() allocates nothing: work requests and elements are in memory of the endpoint,
 * which belongs to the holder of split_lock.  It maps the list under this lock only, so other
 * threads can post meanwhile.
 */
#include "ep.h"
#include "op.h"
#include "queue.h"
#include "save.h"

static unsigned int verbs_max_parts(const struct verbs_ep *ep)
{
	return min_t(size_t, VERBS_PARTS, ep->tx.size);
}

/* Most elements of a read, on an endpoint with FI_RMA; @size: depth of its transmit queue */
size_t verbs_read_iov_max(const struct ib_device *ibdev, size_t size,
			  size_t iov_limit)
{
	/* Over iWARP a list that needs read regions may have no more (read_mr.c) */
	if (verbs_is_iwarp(ibdev))
		return iov_limit;
	return min_t(size_t, iov_limit, ibdev->attrs.max_sge_rd) *
	       min_t(size_t, VERBS_PARTS, size);
}

/* Most elements of a write, on an endpoint with FI_RMA */
size_t verbs_write_iov_max(size_t size, size_t iov_limit)
{
	return iov_limit * min_t(size_t, VERBS_PARTS, size);
}

/* The number of elements that any read and any write may have */
size_t verbs_split_limit(const struct verbs_ep *ep)
{
	if (!verbs_ep_has_rma(ep))
		return ep->read_limit;
	return min(verbs_read_iov_max(ep->domain->dev->ibdev, ep->tx.size,
				      ep->tx.iov_limit),
		   verbs_write_iov_max(ep->tx.size, ep->tx.iov_limit));
}

/* The first part stays mapped */
static void verbs_split_unmap(struct verbs_ep *ep, const struct verbs_op *op,
			      unsigned int count)
{
	lockdep_assert_held(&ep->split_lock);
	while (--count)
		verbs_map_undo(ep->domain, verbs_op_dir(op),
			       &ep->parts[count].map);
}

/* Returns the number of parts, all mapped; or an errno, with only the first mapped */
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

/* @cq: NULL: the device has not reported the end, so the parts that it has taken stay mapped */
static void verbs_split_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (!cq)
		to_verbs_slot(wc)->parts = NULL;
	verbs_send_done(cq, wc);
}

static void verbs_split_fill(struct verbs_ep *ep, const struct verbs_op *op,
			     struct verbs_slot *whole, unsigned int count)
{
	struct verbs_part *part, *last = &ep->parts[count - 1];
	struct verbs_slot *slot = whole->parts;
	struct verbs_op one = *op;
	size_t len = 0;

	for (part = ep->parts; part <= last; part++) {
		if (part == last)
			slot = whole;
		one.addr = op->addr + len;
		one.flags = op->flags & ((part == ep->parts ? FI_FENCE : 0) |
					 (part == last ? FI_REMOTE_CQ_DATA : 0));
		len += part->map.len;
		verbs_slot_fill(slot, op, verbs_comp_flags(op));
		verbs_slot_begun(slot);
		verbs_map_keep(slot, &part->map);
		verbs_wr_init(&part->any, &one, &part->map);
		part->any.wr.next = part == last ? NULL : &part[1].any.wr;
		slot = slot->link;
	}
	whole->bytes = len;
	verbs_save_set(whole, op);
	whole->cqe.done = verbs_split_done;
}

/* Returns an errno only if the device has taken no part */
static int verbs_split_post(struct verbs_ep *ep, const struct verbs_op *op,
			    unsigned int count)
{
	struct verbs_slot *whole;
	int ret;

	lockdep_assert_held(&ep->tx.lock);
	ret = verbs_batch_claim(ep, count, &whole);
	if (ret)
		return ret;
	verbs_split_fill(ep, op, whole, count);
	ret = verbs_batch_post(ep, &ep->parts[0].any.wr, whole, true);
	if (!ret) {
		verbs_saves_posted(ep, op, op->remote_len);
		return 0;
	}
	verbs_batch_drop(whole);
	return verbs_post_errno(&ep->tx, ret);
}

/**
 * verbs_post_split() - Post an operation with more elements than a work request
 * @ep: the endpoint
 * @op: the operation
 * @iter: place in the list behind @first
 * @first: the elements of the first part, mapped
 *
 * Context: any.
 * Return: 0; -EINVAL: the operation cannot be split, or would have too many parts; -EAGAIN; or
 * another errno.  After an error the caller has @first.
 */
int verbs_post_split(struct verbs_ep *ep, const struct verbs_op *op,
		     struct kofi_list_iter *iter, const struct verbs_map *first)
{
	unsigned long flags;
	int ret, count;

	if (op->atomic || (op->opcode != IB_WR_RDMA_WRITE && op->opcode != IB_WR_RDMA_READ) ||
	    verbs_max_parts(ep) == 1 || !first->count)
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
