// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting: from an operation to a work request in the device's queue.
 *
 * This is the long way; most operations of most clients are plain and pass by all
 * of it (fast.h).
 *
 * Look at the state, map the buffers, then, under the queue's lock, take a slot
 * and hand the work request to the device.  Nothing is allocated.  The lock is
 * the endpoint's own; the device's driver would serialize the posters of one queue
 * pair anyway.  Holding it from the choice of the slot to the doorbell makes the
 * order of slots that of the device's queue, which is what unsignalled operations
 * (slot.c) and chains stand on.  Receives need no order, and no lock.
 *
 * A chain: with FI_MORE the work request is kept, and goes to the device together
 * with the next one that has no FI_MORE, or when there are VERBS_CHAIN of them, or
 * when the connection ends.  The registration of a region for single operations
 * (mr_ep.c) always waits like that.  The call has returned 0 by then, so a work
 * request of a chain that the device refuses completes with an error, which ends
 * the connection like any other.  It completes from a worker: who has rung the bell
 * may hold locks that the client's callbacks take.
 *
 * The state may change at any moment after it was looked at; the work request
 * then completes with an error.  RCU keeps the device there from the look at the
 * state to the doorbell (device.c).
 */
#include <linux/module.h>
#include "ep.h"
#include "mr.h"
#include "op.h"
#include "queue.h"
#include "verbs.h"

int verbs_ep_check(const struct verbs_ep *ep, bool send)
{
	switch (smp_load_acquire(&ep->state)) {	/* see verbs_ep_enable() */
	case VERBS_EP_CONNECTED:
		return 0;
	case VERBS_EP_OPEN:
		return -FI_EOPBADSTATE;
	case VERBS_EP_DOWN:
		return -ESHUTDOWN;
	case VERBS_EP_GONE:
		return -ENODEV;
	default:
		return send ? -ENOTCONN : 0;
	}
}

/*
 * A device without room says -ENOMEM; it has room when operations are done.  siw says
 * -ENOTCONN while somebody changes the state of the queue pair; either nothing has
 * happened to the connection, or its end is on the way to us.
 */
int verbs_post_errno(int ret)
{
	return ret == -ENOMEM || ret == -ENOTCONN ? -EAGAIN : ret;
}

/* Of a plain operation, whose slot goes back; returns the errno for the client */
int verbs_post_refused(struct verbs_slot *slot, int err)
{
	verbs_unmap(slot);
	verbs_slot_put(slot);
	return verbs_post_errno(err);
}

void verbs_slot_fill(struct verbs_slot *slot, const struct verbs_op *op,
		     u64 comp_flags)
{
	slot->comp.op_context = op->context;
	slot->comp.flags = comp_flags;
	slot->comp.len = 0;
	slot->comp.buf = NULL;
	slot->comp.data = 0;
	slot->comp.err = 0;
	slot->silent = op->silent;
	slot->region = op->region;
	slot->riders = NULL;
	slot->whole = NULL;
	slot->mapped = 0;
	slot->cqe.done = slot->queue->done;
}

u64 verbs_comp_flags(const struct verbs_op *op)
{
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

/* What FI_* make of a work request whose opcode is set */
static void verbs_wr_flags(struct ib_send_wr *wr, const struct verbs_op *op)
{
	if (op->flags & FI_FENCE)
		wr->send_flags |= IB_SEND_FENCE;
	if (op->flags & FI_REMOTE_CQ_DATA) {
		wr->opcode = op->opcode == IB_WR_SEND ?
			     IB_WR_SEND_WITH_IMM : IB_WR_RDMA_WRITE_WITH_IMM;
		wr->ex.imm_data = cpu_to_be32((u32)op->data);
	} else if (op->flags & FI_REMOTE_INV) {
		wr->opcode = IB_WR_SEND_WITH_INV;
		wr->ex.invalidate_rkey = op->data;
	} else if (op->region) {
		wr->ex.invalidate_rkey = op->region->ibmr->rkey;
	}
}

/* Where there is a list, some drivers take its first element uncounted (irdma) */
static struct ib_sge *verbs_sg_list(struct verbs_map *map)
{
	return map->count ? map->sge : NULL;
}

void verbs_wr_init(union verbs_any_wr *any, const struct verbs_op *op,
		   struct verbs_map *map, int send_flags)
{
	any->wr.next = NULL;
	any->wr.sg_list = verbs_sg_list(map);
	any->wr.num_sge = map->count;
	any->wr.opcode = op->opcode;
	any->wr.send_flags = send_flags;
	if (verbs_op_is_swap(op)) {
		any->atomic.remote_addr = op->addr;
		any->atomic.rkey = op->key;
		any->atomic.compare_add = op->data;
		any->atomic.swap = op->swap;
	} else {
		any->rdma.remote_addr = op->addr;
		any->rdma.rkey = op->key;
	}
	verbs_wr_flags(&any->wr, op);
}

/* Its success follows from no other's; see slot.c */
static bool verbs_wr_is_alone(const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_RDMA_READ ||
	       wr->opcode == IB_WR_RDMA_READ_WITH_INV;
}

/* Here and below the caller holds the queue's lock */
void verbs_slot_ride(struct verbs_slot *slot)
{
	slot->signaled = false;
	slot->link = slot->queue->riders;
	slot->queue->riders = slot;
}

void verbs_slot_carry(struct verbs_slot *slot, struct ib_send_wr *wr)
{
	slot->signaled = true;
	wr->send_flags |= IB_SEND_SIGNALED;
	slot->riders = slot->queue->riders;
	slot->queue->riders = NULL;
	slot->queue->quiet = 0;
}

/*
 * Decides whether the device is to report the success of @len bytes, and who rides on
 * whom
 */
static void verbs_slot_board(struct verbs_slot *slot, struct ib_send_wr *wr,
			     size_t len)
{
	struct verbs_queue *queue = slot->queue;

	if (!slot->silent || queue->counted || verbs_wr_is_alone(wr) ||
	    verbs_wr_lingers(queue->ep, len) ||
	    ++queue->quiet >= queue->size / 2)
		verbs_slot_carry(slot, wr);
	else
		verbs_slot_ride(slot);
}

/* The device did not take it, and has taken nothing since */
void verbs_slot_alight(struct verbs_slot *slot)
{
	struct verbs_queue *queue = slot->queue;

	if (slot->signaled) {
		queue->riders = slot->riders;
		/* So that the next one is signalled for sure */
		queue->quiet = queue->size;
	} else {
		queue->riders = slot->link;
	}
}

/* Keeps a copy of the work request until the doorbell */
static void verbs_chain_add(struct verbs_queue *queue,
			    const struct ib_rdma_wr *wr)
{
	struct verbs_wr *copy = (void *)queue->wrs + queue->chained *
				struct_size(copy, sge, queue->iov_limit);

	copy->rdma = *wr;
	if (wr->wr.sg_list) {
		memcpy(copy->sge, wr->wr.sg_list,
		       wr->wr.num_sge * sizeof(*copy->sge));
		copy->rdma.wr.sg_list = copy->sge;
	}
	copy->rdma.wr.next = NULL;
	*queue->chain_end = &copy->rdma.wr;
	queue->chain_end = &copy->rdma.wr.next;
	queue->chained++;
}

/* A worker ends it, behind those that were refused before */
void verbs_refuse(struct verbs_slot *slot)
{
	struct kofi_comp **tail = &slot->queue->refused;

	while (*tail)
		tail = &(*tail)->next;
	slot->comp.next = NULL;
	*tail = &slot->comp;
	queue_work(verbs_wq, &slot->queue->ep->broken);
}

/* The device refused what is in the chain from @bad on, up to @end */
static void verbs_chain_refuse(const struct ib_send_wr *bad,
			       const struct ib_send_wr *end, int err)
{
	struct verbs_slot *slot;

	for (; bad && bad != end; bad = bad->next) {
		if (verbs_wr_is_sinks(bad))
			continue;
		slot = container_of(bad->wr_cqe, struct verbs_slot, cqe);
		verbs_slot_blame(slot, -err, 0);
		verbs_refuse(slot);
	}
}

/**
 * verbs_chain_post() - Post what waits for the doorbell, and more behind it
 * @queue: the queue; the caller holds its lock
 * @first: the first of a list of work requests, or NULL
 * @taken: set on error: how many of this list the device has taken
 *
 * What was refused of the chain ends on its own.
 *
 * Return: 0, or the errno for the first work request that was refused.
 */
int verbs_chain_post(struct verbs_queue *queue, struct ib_send_wr *first,
		     unsigned int *taken)
{
	const struct ib_send_wr *bad = NULL, *wr;
	int ret;

	*queue->chain_end = first;
	ret = ib_post_send(queue->ep->qp, queue->chain, &bad);
	if (ret) {
		*taken = 0;
		for (wr = first; wr && wr != bad; wr = wr->next)
			++*taken;
		if (!wr) {
			*taken = 0;
			verbs_chain_refuse(bad, first, ret);
		}
	}
	queue->chain = NULL;
	queue->chain_end = &queue->chain;
	queue->chained = 0;
	return ret;
}

/*
 * What was refused frees its slot by a completion of its own, and must not ride
 * on anything any more.  Other riders are lost until the endpoint is closed; the
 * connection ends now.
 */
void verbs_chain_abandon(struct verbs_queue *queue)
{
	if (queue->refused)
		queue->riders = NULL;
}

/* Without @cq, the device has not said it.  No lock is held */
void verbs_end_refused(struct verbs_queue *queue)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };
	struct kofi_comp *comp, *next;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	comp = queue->refused;
	queue->refused = NULL;
	spin_unlock_irqrestore(&queue->lock, flags);

	for (; comp; comp = next) {
		next = comp->next;
		wc.wr_cqe = &container_of(comp, struct verbs_slot, comp)->cqe;
		wc.wr_cqe->done(NULL, &wc);
	}
}

/* Rings the doorbell for what is waiting for it */
void verbs_ring(struct verbs_queue *queue)
{
	unsigned long flags;
	unsigned int taken;

	spin_lock_irqsave(&queue->lock, flags);
	if (queue->chain)
		verbs_chain_post(queue, NULL, &taken);
	verbs_chain_abandon(queue);
	verbs_queue_unlock(queue, flags);
}

static int verbs_doorbell(struct verbs_queue *queue, union verbs_any_wr *any,
			  bool more)
{
	unsigned int taken;

	/* At the end of a connection the bell is rung once more, and then no more */
	if (more && queue->chained < VERBS_CHAIN &&
	    READ_ONCE(queue->ep->state) == VERBS_EP_CONNECTED) {
		verbs_chain_add(queue, &any->rdma);
		return 0;
	}
	if (queue->chain)
		return verbs_chain_post(queue, &any->wr, &taken);
	return ib_post_send(queue->ep->qp, &any->wr, NULL);
}

/* The slot's piece of the bounce buffer takes the place of inline data */
static void verbs_bounce(struct verbs_slot *slot, const struct verbs_op *op,
			 struct ib_sge *sge)
{
	struct verbs_queue *queue = slot->queue;
	size_t offset = (slot - queue->slots) * queue->ep->inject_size;

	verbs_gather(queue->bounce + offset, op->type, op->list, op->count);
	sge->addr = queue->bounce_dma + offset;
	sge->lkey = queue->domain->pd->local_dma_lkey;
	ib_dma_sync_single_for_device(queue->domain->dev->ibdev, sge->addr,
				      sge->length, DMA_TO_DEVICE);
}

/* Silent even if it fails, as the operation behind it then fails, too */
static int verbs_chain_reg(struct verbs_queue *queue, struct verbs_mr *mr)
{
	const struct verbs_op op = { .silent = true, .region = mr };
	struct ib_reg_wr *reg = &mr->reg;
	struct verbs_slot *slot;

	if (!verbs_slot_take(queue, &slot))
		return -EAGAIN;
	verbs_slot_fill(slot, &op, 0);
	mr->slot = slot;
	reg->wr.wr_cqe = &slot->cqe;
	reg->wr.send_flags = 0;
	reg->wr.next = NULL;
	verbs_slot_board(slot, &reg->wr, 0);
	*queue->chain_end = &reg->wr;
	queue->chain_end = &reg->wr.next;
	return 0;
}

/* A slot for the operation, with what goes in front of it in the chain */
static int verbs_op_admit(struct verbs_queue *queue, const struct verbs_op *op,
			  struct verbs_slot **slot)
{
	if (verbs_queue_ends(queue))
		return -ESHUTDOWN;
	if (!verbs_slot_take(queue, slot))
		return -EAGAIN;
	if (op->opcode == IB_WR_RDMA_READ_WITH_INV)
		verbs_sinks_chain(queue, op->region);
	return 0;
}

/* Puts a registration in front of the endpoint's next operation */
int verbs_post_reg(struct verbs_mr *mr)
{
	struct verbs_queue *queue = &mr->ep->tx;
	unsigned long flags;
	int ret;

	ret = verbs_ep_check(mr->ep, true);
	if (ret)
		return ret;

	spin_lock_irqsave(&queue->lock, flags);
	ret = verbs_chain_reg(queue, mr);
	verbs_queue_unlock(queue, flags);
	return ret;
}

/* Out of those that ride with the next one, or from the end of the queue */
static bool verbs_slot_get_off(struct verbs_slot *slot, bool last)
{
	struct verbs_slot **rider = &slot->queue->riders;

	while (*rider && *rider != slot)
		rider = &(*rider)->link;
	if (*rider)
		*rider = slot->link;
	else if (last)
		verbs_slot_alight(slot);
	else
		return false;
	return true;
}

/* Returns whether the registration waits for the doorbell and has to be posted */
static bool verbs_unchain_reg(struct verbs_queue *queue, struct verbs_mr *mr)
{
	struct ib_send_wr **link = &queue->chain;

	while (*link && *link != &mr->reg.wr)
		link = &(*link)->next;
	if (!*link)
		return false;
	if (!verbs_slot_get_off(mr->slot, !mr->reg.wr.next))
		return true;
	*link = mr->reg.wr.next;
	if (!*link)
		queue->chain_end = link;
	verbs_slot_put(mr->slot);
	return false;
}

/* Takes a registration back that still waits, or rings the doorbell for it */
void verbs_post_unreg(struct verbs_mr *mr)
{
	struct verbs_queue *queue = &mr->ep->tx;
	unsigned long flags;
	bool waits;

	spin_lock_irqsave(&queue->lock, flags);
	waits = verbs_unchain_reg(queue, mr);
	verbs_queue_unlock(queue, flags);
	if (waits)
		verbs_ring(queue);
}

/*
 * The device did not take it.  Of a read with sinks it may have taken a part, or
 * keep what it refuses (siw): then the slot stays out of use, a completion that
 * comes nevertheless is nobody's, and the connection ends.
 */
static int verbs_slot_refused(struct verbs_slot *slot,
			      const struct verbs_op *op, int err)
{
	verbs_slot_over(slot);
	slot->mapped = 0;
	verbs_slot_alight(slot);
	if (op->opcode != IB_WR_RDMA_READ_WITH_INV) {
		verbs_slot_put(slot);
		return verbs_post_errno(err);
	}
	slot->comp.flags = 0;
	slot->region = NULL;
	queue_work(verbs_wq, &slot->queue->ep->broken);
	return err == -ENOMEM ? -EIO : err;
}

/**
 * verbs_post_map() - Post an operation whose buffers are ready for the device
 * @ep: the endpoint
 * @op: the operation
 * @map: its buffers; if this is @bounce, one element with a length only
 * @wr_flags: IB_SEND_INLINE or 0
 * @bounce: the data go through the slot's piece of the bounce buffer
 *
 * Return: 0, or an errno; then @map is still the caller's.
 */
static int verbs_post_map(struct verbs_ep *ep, const struct verbs_op *op,
			  struct verbs_map *map, int wr_flags, bool bounce)
{
	struct verbs_queue *queue = &ep->tx;
	struct verbs_slot *slot;
	union verbs_any_wr any;
	unsigned long flags;
	bool more;
	int ret, err;

	verbs_wr_init(&any, op, map, wr_flags);
	/* siw may answer a read of nothing with something; this is as good */
	if (ep->iwarp && op->opcode == IB_WR_RDMA_READ && !map->len)
		any.wr.opcode = IB_WR_RDMA_WRITE;
	/* Inline data are not there any more when a chain is posted */
	more = op->flags & FI_MORE && !(wr_flags & IB_SEND_INLINE) &&
	       !verbs_op_is_swap(op);

	spin_lock_irqsave(&queue->lock, flags);
	ret = verbs_op_admit(queue, op, &slot);
	if (ret) {
		verbs_queue_unlock(queue, flags);
		return ret;
	}
	verbs_slot_fill(slot, op, verbs_comp_flags(op));
	verbs_slot_begun(slot);
	slot->bytes = map->len;
	if (bounce)
		verbs_bounce(slot, op, map->sge);
	else
		verbs_map_keep(slot, map, verbs_op_dir(op));
	if (op->opcode == IB_WR_LOCAL_INV)
		slot->comp.data = op->region->ibmr->rkey;
	any.wr.wr_cqe = &slot->cqe;
	verbs_slot_board(slot, &any.wr, map->len);
	err = verbs_doorbell(queue, &any, more);
	if (err) {
		ret = verbs_slot_refused(slot, op, err);
		verbs_chain_abandon(queue);
	} else if (op->region) {
		op->region->slot = slot;
	}
	verbs_queue_unlock(queue, flags);
	return ret;
}

/* The device, or the slot's piece of the bounce buffer, copies now */
static int verbs_post_inject(struct verbs_ep *ep, const struct verbs_op *op,
			     size_t len)
{
	u8 copy[VERBS_MAX_INJECT];
	const struct kvec *kvec = op->list;
	struct verbs_map map;

	map.count = !!len;
	map.mapped = 0;
	map.len = len;
	map.sge[0].length = len;
	if (len > ep->inline_size)
		return verbs_post_map(ep, op, &map, 0, true);

	if (op->type == FI_BUF_KVEC && op->count == 1) {
		map.sge[0].addr = (uintptr_t)kvec->iov_base;
	} else {
		verbs_gather(copy, op->type, op->list, op->count);
		map.sge[0].addr = (uintptr_t)copy;
	}
	return verbs_post_map(ep, op, &map, len ? IB_SEND_INLINE : 0, false);
}

static void verbs_map_begin(const struct verbs_op *op, struct verbs_iter *iter,
			    struct verbs_map *map)
{
	*iter = (struct verbs_iter) {
		.type	= op->type,
		.elem	= op->list,
		.count	= op->count,
		.desc	= op->desc,
	};
	map->count = 0;
	map->mapped = 0;
	map->len = 0;
}

/*
 * Post an operation of @len bytes whose only element, or the last one of all its
 * work requests, is all of its region.
 */
int verbs_post_region(struct verbs_ep *ep, const struct verbs_op *op,
		      size_t len)
{
	struct verbs_map map;

	map.count = 1;
	map.mapped = 0;
	map.len = len;
	map.sge[0] = (struct ib_sge) {
		.addr	= op->region->ibmr->iova,
		.length	= op->region->len,
		.lkey	= op->region->ibmr->lkey,
	};
	return verbs_post_map(ep, op, &map, 0, false);
}

/*
 * The one buffer that most lists consist of, without a walk.  Returns -ENOMSG if it
 * is not of that kind.
 */
static int verbs_map_single(struct verbs_ep *ep, const struct verbs_op *op,
			    enum dma_data_direction dir, struct verbs_map *map)
{
	const struct kvec *kvec = op->list;
	int ret;

	if (op->type != FI_BUF_KVEC || op->count != 1 || !kvec ||
	    kvec->iov_len - 1 >= ep->max_msg_size ||
	    (op->desc && *op->desc) || op->flags & FI_INJECT)
		return -ENOMSG;
	if (verbs_queue_full(&ep->tx))
		return -EAGAIN;
	ret = verbs_map_one(&ep->tx, kvec->iov_base, kvec->iov_len, dir,
			    &map->sge[0]);
	if (ret)
		return ret;
	map->count = 1;
	map->mapped = !!ep->tx.maps;
	map->len = kvec->iov_len;
	return 0;
}

static int verbs_map_list(struct verbs_ep *ep, const struct verbs_op *op,
			  enum dma_data_direction dir, struct verbs_iter *iter,
			  struct verbs_map *map)
{
	bool read = op->opcode == IB_WR_RDMA_READ;

	verbs_map_begin(op, iter, map);
	return verbs_map_some(ep->domain, dir, iter,
			      read ? ep->read_limit : ep->tx.iov_limit, map);
}

static ssize_t verbs_post_list(struct verbs_ep *ep, const struct verbs_op *op,
			       enum dma_data_direction dir)
{
	bool inject = op->flags & FI_INJECT;
	struct verbs_map map __uninitialized;
	struct verbs_iter iter = {};
	ssize_t len;
	int ret;

	len = verbs_list_len(op->type, op->list, op->count,
			     inject ? ep->inject_size : ep->max_msg_size);
	if (len < 0)
		return len;
	if (verbs_queue_full(&ep->tx))
		return -EAGAIN;
	if (inject)
		return verbs_post_inject(ep, op, len);
	if (len && verbs_needs_sink(ep, op))
		return verbs_post_sink(ep, op, len);

	ret = verbs_map_list(ep, op, dir, &iter, &map);
	if (ret)
		return ret;
	ret = iter.count ? verbs_post_split(ep, op, &iter, &map) :
			   verbs_post_map(ep, op, &map, 0, false);
	if (ret)
		verbs_map_undo(ep->domain, dir, &map);
	return ret;
}

/* On a device that does not go away meanwhile */
static ssize_t verbs_post_op(struct verbs_ep *ep, const struct verbs_op *op)
{
	enum dma_data_direction dir = verbs_op_dir(op);
	struct verbs_map map __uninitialized;
	int ret;

	ret = verbs_ep_check(ep, true);
	if (ret)
		return ret;
	/* Some devices would wait for ever, others lose count (siw) */
	if (dir == DMA_FROM_DEVICE) {
		if (!ep->may_read)
			return -EACCES;
		return verbs_post_list(ep, op, dir);
	}
	ret = verbs_map_single(ep, op, dir, &map);
	if (ret == -ENOMSG)
		return verbs_post_list(ep, op, dir);
	if (ret)
		return ret;
	ret = verbs_post_map(ep, op, &map, 0, false);
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
	ssize_t ret;

	verbs_device_hold();
	ret = verbs_post_op(ep, op);
	verbs_device_release();
	return ret;
}

static int verbs_ring_recv(struct verbs_queue *queue,
			   const struct ib_recv_wr *wr)
{
	if (queue->srq)
		return ib_post_srq_recv(queue->srq, wr, NULL);
	return ib_post_recv(queue->ep->qp, wr, NULL);
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

	if (!verbs_slot_take(queue, &slot))
		return -EAGAIN;
	verbs_slot_fill(slot, op, FI_MSG | FI_RECV);
	if (op->type == FI_BUF_KVEC && op->count)
		slot->comp.buf = ((const struct kvec *)op->list)->iov_base;
	verbs_map_keep(slot, map, DMA_FROM_DEVICE);
	wr.wr_cqe = &slot->cqe;
	ret = verbs_post_errno(verbs_ring_recv(queue, &wr));
	if (ret) {
		slot->mapped = 0;
		verbs_slot_put(slot);
	}
	return ret;
}

/* Of at most @max bytes */
static ssize_t verbs_queue_recv(struct verbs_queue *queue,
				const struct verbs_op *op, size_t max)
{
	struct verbs_domain *domain = queue->domain;
	struct verbs_iter iter;
	struct verbs_map map;
	ssize_t len;
	int ret;

	len = verbs_list_len(op->type, op->list, op->count, max);
	if (len < 0)
		return len;
	if (verbs_queue_full(queue))
		return -EAGAIN;
	verbs_map_begin(op, &iter, &map);
	ret = verbs_map_some(domain, DMA_FROM_DEVICE, &iter, queue->iov_limit,
			     &map);
	if (ret)
		return ret;
	ret = iter.count ? -EINVAL : verbs_recv_map(queue, op, &map);
	if (ret)
		verbs_map_undo(domain, DMA_FROM_DEVICE, &map);
	return ret;
}

/**
 * verbs_post_recv() - Post a receive
 * @ep: the endpoint
 * @op: the operation; list, context and silent count
 *
 * Context: any.
 * Return: as the data transfer calls of fi_endpoint.h.
 */
ssize_t verbs_post_recv(struct verbs_ep *ep, const struct verbs_op *op)
{
	ssize_t ret;

	verbs_device_hold();
	ret = verbs_ep_check(ep, false);
	if (!ret)
		ret = verbs_queue_recv(&ep->rx, op, ep->max_msg_size);
	verbs_device_release();
	return ret;
}

/**
 * verbs_post_srx() - Post a receive for whichever endpoint needs it first
 * @srx: the shared receive context
 * @op: as verbs_post_recv(); silent if success is not to be reported by an
 *	endpoint that is bound with FI_SELECTIVE_COMPLETION
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
	verbs_device_release();
	return ret;
}
