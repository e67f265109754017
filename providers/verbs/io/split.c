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
#include "../ep.h"
#include "../op.h"
#include "../queue.h"

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
static void verbs_split_unmap(struct verbs_ep *ep, enum dma_data_direction dir,
			      unsigned int count)
{
	lockdep_assert_held(&ep->split_lock);
	while (--count)
		verbs_map_undo(ep->domain, dir, &ep->parts[count].map);
}

/* Returns the number of parts, all mapped; or an errno, with only the first mapped */
static int verbs_split_map(struct verbs_ep *ep, enum dma_data_direction dir,
			   struct kofi_list_iter *at)
{
	size_t limit = dir == DMA_FROM_DEVICE ? ep->read_limit : ep->tx.iov_limit;
	unsigned int count = 1;
	struct verbs_part *part;
	int ret;

	while (kofi_list_more(at)) {
		ret = -EINVAL;
		if (count == verbs_max_parts(ep))
			goto unmap;
		part = &ep->parts[count];
		part->map = (struct verbs_map) { .sge = part->sge };
		ret = verbs_map_some(ep->domain, dir, at, limit, &part->map);
		if (ret)
			goto unmap;
		count++;
	}
	return count;

unmap:
	verbs_split_unmap(ep, dir, count);
	return ret;
}

/* @cq: NULL: the device has not reported the end, so the parts that it has taken stay mapped */
static void verbs_split_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (!cq)
		to_verbs_slot(wc)->parts = NULL;
	verbs_send_done(cq, wc);
}

/* The template may have a fence, which is for the first part, and data, which are for the last */
static void verbs_part_init(struct verbs_ep *ep, struct verbs_part *part,
			    const union verbs_any_wr *any, size_t offset, bool last)
{
	struct ib_send_wr *wr = &part->any.wr;

	part->any = *any;
	part->any.rdma.remote_addr += offset;
	wr->sg_list = part->sge;
	wr->num_sge = part->map.count;
	wr->next = last ? NULL : &part[1].any.wr;
	if (part != ep->parts)
		wr->send_flags &= ~IB_SEND_FENCE;
	if (!last && wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM)
		wr->opcode = IB_WR_RDMA_WRITE;
}

static void verbs_split_fill(struct verbs_ep *ep, const union verbs_any_wr *any,
			     const struct verbs_call *call, struct verbs_slot *whole,
			     unsigned int count)
{
	struct verbs_part *part, *last = &ep->parts[count - 1];
	struct verbs_slot *slot = whole->link;
	size_t len = 0;

	for (part = ep->parts; part <= last; part++) {
		if (part == last)
			slot = whole;
		verbs_part_init(ep, part, any, len, part == last);
		len += part->map.len;
		verbs_slot_fill(slot, call);
		verbs_slot_begun(ep, slot);
		verbs_sges_keep(slot, part->sge, part->map.mapped);
		slot = slot->link;
	}
	whole->bytes = len;
	whole->parts = whole->link;
	if (call->save)
		ep->save_ops->set(call->save, whole);
	whole->cqe.done = verbs_split_done;
}

/* Returns an errno only if the device has taken no part */
static int verbs_split_post(struct verbs_ep *ep, const union verbs_any_wr *any,
			    const struct verbs_call *call, unsigned int count)
{
	struct verbs_slot *whole;
	int ret;

	lockdep_assert_held(&ep->tx.lock);
	ret = verbs_batch_claim(ep, count, &whole);
	if (ret)
		return ret;
	verbs_split_fill(ep, any, call, whole, count);
	ret = verbs_batch_post(ep, &ep->parts[0].any.wr, whole, true);
	if (ret) {
		verbs_batch_drop(whole);
		return verbs_post_errno(&ep->tx, ret);
	}
	if (ep->saves)
		ep->save_ops->posted(ep, &any->wr, call->remote_len, call->flags, call->save);
	return 0;
}

/**
 * verbs_post_split() - Post an operation with more elements than a work request
 * @ep: the endpoint
 * @any: its work request, without completion and elements
 * @call: what else there is to know
 * @at: place in the list behind @first
 * @first: the elements of the first part, mapped
 *
 * Context: any.
 * Return: 0; -EINVAL: the operation cannot be split, or would have too many parts; -EAGAIN; or
 * another errno.  After an error the caller has @first.
 */
int verbs_post_split(struct verbs_ep *ep, const union verbs_any_wr *any,
		     const struct verbs_call *call, struct kofi_list_iter *at,
		     const struct verbs_map *first)
{
	enum dma_data_direction dir = verbs_wr_dir(&any->wr);
	struct verbs_part *part = ep->parts;
	unsigned long flags;
	int ret, count;

	if (!(call->comp_flags & FI_RMA) || verbs_max_parts(ep) == 1 || !first->count)
		return -EINVAL;

	spin_lock_irqsave(&ep->split_lock, flags);
	part->map = *first;
	part->map.sge = part->sge;
	memcpy(part->sge, first->sge, first->count * sizeof(*part->sge));
	count = verbs_split_map(ep, dir, at);
	ret = verbs_try_later(&ep->tx, count);
	if (count > 0) {
		spin_lock(&ep->tx.lock);
		ret = verbs_split_post(ep, any, call, count);
		verbs_queue_settle(ep, &ep->tx);
		spin_unlock(&ep->tx.lock);
		if (ret)
			verbs_split_unmap(ep, dir, count);
	}
	spin_unlock_irqrestore(&ep->split_lock, flags);
	return ret;
}
