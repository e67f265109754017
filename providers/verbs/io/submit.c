// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting what is not usual, and the order of the transmit queue.
 *
 * verbs_submit() (send.c) posts an operation of usual buffers.  Before anything has happened it
 * leaves everything else to verbs_submit_any(): other buffers, no bytes, data to inject that do not
 * go inline, operations of several work requests, saves (save.c), and all operations over iWARP.
 *
 * Both post by verbs_submit_in_order() where the order of the queue matters.  Only that function
 * and verbs_batch_post() (batch.c) know the lock of the transmit side, the registrations that wait,
 * FI_MORE (wr_list.c) and unsignaled operations (slot.c).  The lock is the endpoint's own; the
 * device's driver would serialize the posters of one queue pair anyway.  The poster holds it until
 * the doorbell has rung, so our order is the order of the device's queue.
 *
 * Nothing here allocates.  The state may change at any moment after it was checked; then the work
 * request completes with an error.  RCU keeps the device from the check to the doorbell (device.c).
 */
#include "../ep.h"
#include "../mr.h"
#include "../op.h"
#include "../queue.h"
#include "../verbs.h"

/*
 * Have the device report an operation of @len bytes, whose success the client does not want, only
 * if needed.  The success of an operation behind a read does not mean that the read has succeeded.
 */
static void verbs_signal_seldom(struct verbs_ep *ep, struct verbs_slot *slot,
				struct ib_send_wr *wr, size_t len)
{
	if (ep->tx.counted || wr->opcode == IB_WR_RDMA_READ || verbs_wr_lingers(ep, len) ||
	    ++ep->nr_unsignaled >= ep->tx.size / 2)
		verbs_slot_set_signaled(ep, slot, wr);
	else
		verbs_slot_set_unsignaled(ep, slot);
}

/**
 * verbs_submit_in_order() - Post a work request behind what waits for a doorbell
 * @ep: the endpoint
 * @wr: the work request; with FI_MORE it is not one of a swap, or does not wait
 * @slot: its slot, filled, with the done function for an operation that is only reported
 * @flags: FI_* of the operation
 * @len: length of the operation
 * @save: as in &struct verbs_call
 *
 * Context: any; the device is held.
 * Return: 0; -ESHUTDOWN; or the device's errno.  After an error the caller has the slot.
 */
int verbs_submit_in_order(struct verbs_ep *ep, struct ib_send_wr *wr, struct verbs_slot *slot,
			  u64 flags, size_t len, struct verbs_save *save)
{
	struct verbs_mr *region = slot->regional ? slot->region : NULL;
	unsigned long irq_flags;
	bool waits;
	int ret = 0;

	spin_lock_irqsave(&ep->tx.lock, irq_flags);
	if (unlikely(verbs_ep_ends(ep))) {
		ret = -ESHUTDOWN;
		goto unlock;
	}
	verbs_slot_begun(ep, slot);
	if (unlikely(save))
		ep->save_ops->set(save, slot);
	/*
	 * A work request does not wait for the doorbell if its buffer is the client's when the call
	 * returns (inline), if it is longer than an ib_rdma_wr (atomics), or if verbs_ring_last()
	 * may have rung the last doorbell.
	 */
	waits = flags & FI_MORE && !(wr->send_flags & IB_SEND_INLINE) && !verbs_wr_is_swap(wr) &&
		ep->wrs_used + verbs_wr_size(wr->num_sge) <= VERBS_WRS_ROOM &&
		READ_ONCE(ep->kep.conn.state) == KOFI_CONN_CONNECTED;
	if (!waits && ep->regs)
		verbs_regs_post(ep);
	if (flags & FI_COMPLETION)
		verbs_slot_set_signaled(ep, slot, wr);
	else
		verbs_signal_seldom(ep, slot, wr, len);
	if (slot->marks || slot->unsignaled || ep->tx.counted) {
		slot->cqe.done = ep->tx.done;
		slot->bytes = len;
	}
	if (waits)
		verbs_wrs_add(ep, container_of(wr, struct ib_rdma_wr, wr));
	else if (ep->wrs)
		ret = verbs_wrs_post(ep, wr);
	else
		ret = verbs_wr_post(ep, wr);
	if (unlikely(ret)) {
		verbs_slot_over(slot);
		verbs_slot_undo_signaling(slot, wr);
		verbs_wrs_abandon(ep);
		goto unlock;
	}
	/* The slot may be another operation's by now */
	if (region)
		region->slot = slot;
	if (unlikely(ep->saves))
		ep->save_ops->posted(ep, wr, len, flags, save);
unlock:
	verbs_queue_unlock(ep, &ep->tx, irq_flags);
	return ret;
}

/* Post one work request.  @at: the data go through the slot's piece of the bounce buffer */
static int verbs_submit_map(struct verbs_ep *ep, union verbs_any_wr *any,
			    const struct verbs_call *call, const struct verbs_map *map,
			    const struct kofi_list_iter *at)
{
	struct ib_send_wr *wr = &any->wr;
	struct verbs_slot *slot = verbs_slot_take(&ep->tx);
	int ret;

	if (unlikely(!slot)) {
		slot = verbs_slot_await(ep);
		if (!slot)
			return -EAGAIN;
	}
	verbs_slot_fill(slot, call);
	if (at)
		verbs_bounce(slot, at, map->sge);
	else
		verbs_sges_keep(slot, map->sge, map->mapped);
	wr->wr_cqe = &slot->cqe;
	/* NULL for an empty list, as irdma reads the first element */
	wr->sg_list = map->count ? map->sge : NULL;
	wr->num_sge = map->count;
	if (map->copied)
		wr->send_flags |= IB_SEND_INLINE;
	/* siw may answer a read of no bytes with data, so this writes no bytes */
	if (ep->iwarp && wr->opcode == IB_WR_RDMA_READ && !map->len)
		wr->opcode = IB_WR_RDMA_WRITE;
	ret = verbs_submit_in_order(ep, wr, slot, call->flags, map->len, call->save);
	return ret ? verbs_submit_failed(slot, ret) : 0;
}

/* The data are copied before this returns, by the device or into the bounce buffer */
static int verbs_submit_inject(struct verbs_ep *ep, union verbs_any_wr *any,
			       const struct verbs_call *call, const struct kofi_list_iter *at,
			       size_t len)
{
	u8 copy[VERBS_MAX_INJECT];
	struct ib_sge sge = { .addr = (uintptr_t)copy, .length = len };
	const struct verbs_map map = {
		.count	= !!len,
		.copied	= len && verbs_copies(ep, len),
		.len	= len,
		.sge	= &sge,
	};

	if (len && !map.copied)
		return verbs_submit_map(ep, any, call, &map, at);
	kofi_list_gather(copy, at->type, at->elem, at->count, len);
	return verbs_submit_map(ep, any, call, &map, NULL);
}

static ssize_t verbs_submit_list(struct verbs_ep *ep, union verbs_any_wr *any,
				 const struct verbs_call *call, struct kofi_list_iter *at)
{
	size_t limit = any->wr.opcode == IB_WR_RDMA_READ ? ep->read_limit : ep->tx.iov_limit;
	enum dma_data_direction dir = verbs_wr_dir(&any->wr);
	struct ib_sge sge[VERBS_MAX_IOV] __uninitialized;
	struct verbs_map map = { .sge = sge };
	int ret;

	ret = verbs_map_some(ep->domain, dir, at, limit, &map);
	if (ret)
		return verbs_try_later(&ep->tx, ret);
	ret = at->count ? verbs_post_split(ep, any, call, at, &map) :
			  verbs_submit_map(ep, any, call, &map, NULL);
	if (ret)
		verbs_map_undo(ep->domain, dir, &map);
	return ret;
}

/* Does @wr read into memory, the list @at, without a key that allows remote writing? */
static bool verbs_needs_read_mr(const struct verbs_ep *ep, const struct ib_send_wr *wr,
				const struct kofi_list_iter *at)
{
	const struct verbs_mr *mr;
	size_t i;

	if (!ep->iwarp || wr->opcode != IB_WR_RDMA_READ)
		return false;
	for (i = 0; i < at->count; i++) {
		mr = at->desc ? at->desc[i] : NULL;
		if (!mr || !mr->linear || !(mr->access & IB_ACCESS_REMOTE_WRITE))
			return true;
	}
	return false;
}

/* The device is held */
static ssize_t verbs_submit_checked(struct verbs_ep *ep, union verbs_any_wr *any,
				    const struct verbs_call *call, struct kofi_list_iter *at)
{
	bool inject = call->flags & FI_INJECT;
	ssize_t len, ret;

	ret = kofi_conn_check(&ep->kep.conn, true);
	if (ret)
		return ret;
	/* Some devices would wait for ever, and siw would lose count */
	if (verbs_wr_dir(&any->wr) == DMA_FROM_DEVICE && !ep->may_read)
		return -EACCES;
	len = kofi_list_len(at->type, at->elem, at->count,
			    inject ? ep->kep.inject_size : ep->kep.max_msg_size);
	if (len < 0)
		return len;
	if (!(call->comp_flags & FI_MSG) && call->remote_len != len)
		return -EINVAL;
	/* A hint that saves mapping the list in vain */
	if (verbs_queue_full(&ep->tx) && !verbs_queue_await(ep))
		return -EAGAIN;
	if (inject)
		ret = verbs_submit_inject(ep, any, call, at, len);
	else if (len && verbs_needs_read_mr(ep, &any->wr, at))
		ret = ep->post_read(ep, &any->rdma, call, at, len);
	else
		ret = verbs_submit_list(ep, any, call, at);
	if (!ret)
		kofi_ep_posted(&ep->kep, call->comp_flags, call->context, len);
	return ret;
}

/**
 * verbs_submit_any() - Post an operation of any kind
 * @ep: the endpoint
 * @any: its work request, without completion and elements; the function changes it
 * @call: what else there is to know
 * @at: its list
 *
 * Context: any.
 * Return: as the data transfer calls of fi_endpoint.h.
 */
ssize_t verbs_submit_any(struct verbs_ep *ep, union verbs_any_wr *any,
			 const struct verbs_call *call, struct kofi_list_iter *at)
{
	ssize_t ret;

	verbs_device_hold();
	ret = verbs_submit_checked(ep, any, call, at);
	verbs_device_release();
	return ret;
}
