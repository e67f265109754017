// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting: the slow path from an operation to a work request in the device's queue.  xfer.c has
 * the fast path.
 *
 * verbs_post() checks the state, maps the buffers and takes a slot.  Under the lock of the transmit
 * side it decides whether the device reports the operation, and posts the work request.  It
 * allocates nothing.  The lock is the endpoint's own; the device's driver would serialize the
 * posters of one queue pair anyway.  The poster holds the lock until the doorbell has rung, so
 * our order is the order of the device's queue.  Unsignaled operations (slot.c), the work request
 * list (wr_list.c) and batches (batch.c) rely on that order.  Receives need no order, and no lock.
 *
 * With FI_MORE the work request waits for the doorbell (wr_list.c).
 *
 * The state may change at any moment after verbs_post() has checked it; then the work request
 * completes with an error.  RCU keeps the device from the check to the doorbell (device.c).
 */
#include "ep.h"
#include "mr.h"
#include "op.h"
#include "queue.h"
#include "save.h"
#include "verbs.h"

/*
 * A device without room returns -ENOMEM; it has room when operations complete.  siw returns
 * -ENOTCONN while the state of the queue pair changes: the connection is unharmed, or its end will
 * be reported.
 */
int verbs_post_errno(const struct verbs_queue *queue, int ret)
{
	if (ret == -ENOMEM || ret == -ENOTCONN)
		ret = -EAGAIN;
	return verbs_try_later(queue, ret);
}

void verbs_slot_fill(struct verbs_slot *slot, const struct verbs_op *op,
		     u64 comp_flags)
{
	slot->comp.op_context = verbs_context(slot->queue, op->context);
	slot->comp.flags = comp_flags;
	slot->comp.len = 0;
	slot->comp.buf = NULL;
	slot->comp.data = 0;
	slot->comp.err = 0;
	slot->unsignaled = NULL;
	slot->bytes = 0;
	slot->marks = 0;
	slot->unreported = op->unreported;
	slot->region = op->region;
	slot->cqe.done = slot->queue->done;
}

u64 verbs_comp_flags(const struct verbs_op *op)
{
	if (op->comp_flags)
		return op->comp_flags;
	switch (op->opcode) {
	case IB_WR_RDMA_WRITE:
		return (op->atomic ? FI_ATOMIC : FI_RMA) | FI_WRITE;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return (op->atomic ? FI_ATOMIC : FI_RMA) | FI_READ;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return FI_ATOMIC | FI_READ;
	case IB_WR_LOCAL_INV:
		return FI_RMA;
	default:
		return FI_MSG | FI_SEND;
	}
}

enum dma_data_direction verbs_op_dir(const struct verbs_op *op)
{
	return op->opcode == IB_WR_RDMA_READ || verbs_op_is_swap(op) ?
	       DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

/* NULL for an empty list, as irdma reads the first element */
static struct ib_sge *verbs_sg_list(struct verbs_map *map)
{
	return map->count ? map->sge : NULL;
}

void verbs_wr_init(union verbs_any_wr *any, const struct verbs_op *op,
		   struct verbs_map *map)
{
	any->wr.next = NULL;
	any->wr.sg_list = verbs_sg_list(map);
	any->wr.num_sge = map->count;
	any->wr.opcode = op->opcode;
	any->wr.send_flags = map->copied ? IB_SEND_INLINE : 0;
	any->wr.ex.imm_data = 0;
	if (verbs_op_is_swap(op)) {
		any->atomic.remote_addr = op->addr;
		any->atomic.rkey = op->key;
		any->atomic.compare_add = op->data;
		any->atomic.swap = op->swap;
	} else {
		any->rdma.remote_addr = op->addr;
		any->rdma.rkey = op->key;
	}
	if (op->flags & FI_FENCE)
		any->wr.send_flags |= IB_SEND_FENCE;
	if (op->flags & FI_REMOTE_CQ_DATA) {
		any->wr.opcode = op->opcode == IB_WR_SEND ? IB_WR_SEND_WITH_IMM :
							    IB_WR_RDMA_WRITE_WITH_IMM;
		any->wr.ex.imm_data = cpu_to_be32((u32)op->data);
	} else if (op->flags & FI_REMOTE_INV) {
		any->wr.opcode = IB_WR_SEND_WITH_INV;
		any->wr.ex.invalidate_rkey = op->data;
	}
	if (op->region)
		any->wr.ex.invalidate_rkey = op->region->ibmr->rkey;
}

static int verbs_wr_launch(struct verbs_ep *ep, const struct verbs_op *op,
			   const struct verbs_map *map, struct verbs_slot *slot,
			   union verbs_any_wr *any)
{
	/*
	 * A work request does not wait for the doorbell if its buffer is the client's when the call
	 * returns (copied), if it is longer than an ib_rdma_wr (atomics), or if verbs_ring_last()
	 * may have rung the last doorbell.
	 */
	bool waits = op->flags & FI_MORE && !map->copied && !verbs_op_is_swap(op) &&
		     ep->wrs_used + verbs_wr_size(map->count) <= VERBS_WRS_ROOM &&
		     READ_ONCE(ep->kep.conn.state) == KOFI_CONN_CONNECTED;
	unsigned int taken;

	lockdep_assert_held(&ep->tx.lock);
	if (!waits)
		verbs_regs_post(ep);
	if (slot->unreported)
		verbs_slot_signal_seldom(slot, &any->wr, map->len);
	else
		verbs_slot_set_signaled(slot, &any->wr);
	if (!waits)
		return verbs_wrs_post(ep, &any->wr, &taken);
	verbs_wrs_add(ep, &any->rdma);
	return 0;
}

/**
 * verbs_post_map() - Post an operation whose buffers are ready for the device
 * @ep: the endpoint
 * @op: the operation
 * @map: its buffers; with @bounce one element that has only a length
 * @bounce: the data go through the slot's piece of the bounce buffer
 *
 * Return: 0, or an errno; after an error the caller has @map.
 */
static int verbs_post_map(struct verbs_ep *ep, const struct verbs_op *op,
			  struct verbs_map *map, bool bounce)
{
	union verbs_any_wr any __uninitialized;
	struct verbs_slot *slot;
	unsigned long flags;
	int ret;

	verbs_wr_init(&any, op, map);
	/* siw may answer a read of no bytes with data, so this writes no bytes */
	if (ep->iwarp && op->opcode == IB_WR_RDMA_READ && !map->len)
		any.wr.opcode = IB_WR_RDMA_WRITE;

	spin_lock_irqsave(&ep->tx.lock, flags);
	ret = verbs_ep_ends(ep) ? -ESHUTDOWN : verbs_slots_claim(ep, 1, &slot);
	if (ret)
		goto unlock;
	verbs_slot_fill(slot, op, verbs_comp_flags(op));
	verbs_slot_begun(slot);
	slot->bytes = map->len;
	if (bounce)
		verbs_bounce(slot, op, map->sge);
	else
		verbs_map_keep(slot, map);
	any.wr.wr_cqe = &slot->cqe;
	verbs_save_set(slot, op);
	ret = verbs_wr_launch(ep, op, map, slot, &any);
	if (ret) {
		verbs_slot_over(slot);
		slot->mapped = false;
		verbs_slot_undo_signaling(slot);
		verbs_slot_put(slot);
		ret = verbs_post_errno(&ep->tx, ret);
		verbs_wrs_abandon(ep);
	} else {
		if (op->region)
			op->region->slot = slot;
		verbs_saves_posted(ep, op, map->len);
	}
unlock:
	verbs_queue_unlock(ep, &ep->tx, flags);
	return ret;
}

/* The data are copied before this returns, by the device or into the bounce buffer */
static int verbs_post_inject(struct verbs_ep *ep, const struct verbs_op *op,
			     size_t len)
{
	u8 copy[VERBS_MAX_INJECT];
	struct verbs_map map;

	map.count = !!len;
	map.mapped = 0;
	map.copied = len && verbs_copies(ep, len);
	map.len = len;
	map.sge[0].length = len;
	if (len && !map.copied)
		return verbs_post_map(ep, op, &map, true);

	kofi_list_gather(copy, op->type, op->list, op->count, len);
	map.sge[0].addr = (uintptr_t)copy;
	return verbs_post_map(ep, op, &map, false);
}

static void verbs_map_begin(const struct verbs_domain *domain, const struct verbs_op *op,
			    struct kofi_list_iter *iter, struct verbs_map *map)
{
	*iter = (struct kofi_list_iter) {
		.type	= op->type,
		.elem	= op->list,
		.count	= op->count,
		.peer	= domain->peer_lists,
		.desc	= op->desc,
	};
	map->count = 0;
	map->mapped = 0;
	map->copied = false;
	map->len = 0;
}

/* *@bytes: length of the operation */
static ssize_t verbs_post_list(struct verbs_ep *ep, const struct verbs_op *op,
			       enum dma_data_direction dir, size_t *bytes)
{
	bool inject = op->flags & FI_INJECT;
	struct verbs_map map __uninitialized;
	struct kofi_list_iter iter;
	ssize_t len;
	int ret;

	len = kofi_list_len(op->type, op->list, op->count,
			    inject ? ep->kep.inject_size : ep->kep.max_msg_size);
	if (len < 0)
		return len;
	*bytes = len;
	if (op->opcode != IB_WR_SEND && op->remote_len != len)
		return -EINVAL;
	if (verbs_queue_full(&ep->tx) && verbs_slot_await(ep, NULL))
		return -EAGAIN;
	if (inject)
		return verbs_post_inject(ep, op, len);
	if (len && verbs_needs_read_mr(ep, op))
		return verbs_post_read(ep, op, len);

	verbs_map_begin(ep->domain, op, &iter, &map);
	/*
	 * The device copies short data when they are posted (xfer.c), unless they wait for the
	 * doorbell.  Not every device copies more than one element.
	 */
	map.copied = dir == DMA_TO_DEVICE && op->count == 1 && len &&
		     verbs_copies(ep, len) && !(op->flags & FI_MORE);
	ret = verbs_map_some(ep->domain, dir, &iter,
			     op->opcode == IB_WR_RDMA_READ ? ep->read_limit :
							     ep->tx.iov_limit,
			     &map);
	if (ret)
		return verbs_try_later(&ep->tx, ret);
	if (map.copied && (iter.count || map.count > 1))
		return verbs_post_inject(ep, op, len);
	ret = iter.count ? verbs_post_split(ep, op, &iter, &map) :
			   verbs_post_map(ep, op, &map, false);
	if (ret)
		verbs_map_undo(ep->domain, dir, &map);
	return ret;
}

/**
 * verbs_post() - Post an operation to the transmit queue
 * @ep: the endpoint
 * @op: the operation
 *
 * Context: any.
 * Return: as the data transfer calls of fi_endpoint.h.
 */
ssize_t verbs_post(struct verbs_ep *ep, const struct verbs_op *op)
{
	enum dma_data_direction dir = verbs_op_dir(op);
	size_t bytes;
	ssize_t ret;

	verbs_device_hold();
	ret = kofi_conn_check(&ep->kep.conn, true);
	/* Some devices would wait for ever, and siw would lose count */
	if (!ret && dir == DMA_FROM_DEVICE && !ep->may_read)
		ret = -EACCES;
	if (!ret)
		ret = verbs_post_list(ep, op, dir, &bytes);
	if (!ret)
		kofi_ep_posted(&ep->kep, verbs_comp_flags(op), op->context, bytes);
	verbs_device_release();
	return ret;
}

static int verbs_recv_map(struct verbs_queue *queue, const struct verbs_op *op,
			  struct verbs_map *map)
{
	struct ib_recv_wr wr = {
		.sg_list	= verbs_sg_list(map),
		.num_sge	= map->count,
	};
	struct verbs_slot *slot;
	int ret;

	if (!verbs_slot_take(queue, &slot) &&
	    (verbs_queue_stays_full(queue) || !verbs_slot_take(queue, &slot)))
		return -EAGAIN;
	verbs_slot_fill(slot, op, FI_MSG | FI_RECV);
	if (op->type == FI_BUF_KVEC && op->count)
		slot->comp.buf = ((const struct kvec *)op->list)->iov_base;
	verbs_map_keep(slot, map);
	wr.wr_cqe = &slot->cqe;
	ret = queue->srq ? ib_post_srq_recv(queue->srq, &wr, NULL) :
			   ib_post_recv(queue->ep->qp, &wr, NULL);
	if (!ret)
		return 0;
	slot->mapped = false;
	verbs_slot_put(slot);
	return verbs_post_errno(queue, ret);
}

static ssize_t verbs_queue_recv(struct verbs_queue *queue,
				const struct verbs_op *op, size_t max)
{
	struct verbs_domain *domain = queue->domain;
	struct kofi_list_iter iter;
	struct verbs_map map;
	ssize_t len;
	int ret;

	len = kofi_list_len(op->type, op->list, op->count, max);
	if (len < 0)
		return len;
	if (verbs_queue_full(queue) && verbs_queue_stays_full(queue))
		return -EAGAIN;
	verbs_map_begin(domain, op, &iter, &map);
	ret = verbs_map_some(domain, DMA_FROM_DEVICE, &iter, queue->iov_limit,
			     &map);
	if (ret)
		return verbs_try_later(queue, ret);
	ret = iter.count ? -EINVAL : verbs_recv_map(queue, op, &map);
	if (ret)
		verbs_map_undo(domain, DMA_FROM_DEVICE, &map);
	return ret;
}

/**
 * verbs_post_recv() - Post a receive
 * @ep: the endpoint
 * @op: the operation; only its list, context and unreported are used
 *
 * Context: any.
 * Return: as the data transfer calls of fi_endpoint.h.
 */
ssize_t verbs_post_recv(struct verbs_ep *ep, const struct verbs_op *op)
{
	ssize_t ret;

	verbs_device_hold();
	ret = kofi_conn_check(&ep->kep.conn, false);
	if (!ret)
		ret = verbs_queue_recv(&ep->rx, op, ep->kep.max_msg_size);
	if (!ret)
		kofi_ep_posted(&ep->kep, FI_MSG | FI_RECV, op->context, 0);
	verbs_device_release();
	return ret;
}

/**
 * verbs_post_srx() - Post a receive that the first message to any endpoint takes
 * @srx: the shared receive context
 * @op: as verbs_post_recv(); unreported counts for endpoints with FI_SELECTIVE_COMPLETION
 *
 * Context: any.
 * Return: as the data transfer calls of fi_endpoint.h.
 */
ssize_t verbs_post_srx(struct verbs_srx *srx, const struct verbs_op *op)
{
	ssize_t ret;

	verbs_device_hold();
	ret = -READ_ONCE(srx->err);
	if (!ret)
		ret = verbs_queue_recv(&srx->rx, op,
				       srx->rx.domain->dev->max_msg_size);
	if (!ret)
		kofi_ep_posted(&srx->kep, FI_MSG | FI_RECV, op->context, 0);
	verbs_device_release();
	return ret;
}
