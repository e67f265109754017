/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The short way of plain operations, which are what clients post most: one buffer,
 * the endpoint's flags, success to be reported and nothing else to be done.  It ends
 * in the same slot and the same work request as post.c would make; what it leaves out
 * is the list, the lock, and all that such an operation cannot be.
 *
 * The lock of a transmit queue is there for operations whose order in the queue
 * matters to us: chains, riders, parts.  While the queue has none of these, a plain
 * operation passes by it (queue->plain, verbs_queue_settle()).  Who has just posted
 * one of these from the same thread sees it; between threads there is no order that
 * one could expect.
 *
 * The buffer lies in a region, or in memory that the device reaches under the address
 * that the kernel has for it; whatever has to be mapped goes the long way, as does
 * everything that is not plain or finds the queue full.  Nothing has happened then.
 *
 * Data that fit inline are copied by the device when they are posted, as those of
 * fi_inject() are: it need not fetch them, and they need no mapping.  The buffer is the
 * provider's until the completion all the same.
 */
#ifndef _KOFI_VERBS_FAST_H
#define _KOFI_VERBS_FAST_H

#include "ep.h"
#include "mr.h"
#include "op.h"
#include "queue.h"

/* Does the device take the address of the kernel's, of this buffer at least? */
static __always_inline bool verbs_takes_address(struct verbs_queue *queue,
						size_t len,
						enum dma_data_direction dir)
{
	return !queue->maps ||
	       (dir == DMA_TO_DEVICE && verbs_copies(verbs_tx_ep(queue), len));
}

static __always_inline bool verbs_mr_holds(const struct verbs_mr *mr,
					   const struct verbs_ep *ep,
					   const void *buf, size_t len)
{
	return mr->plain == ep->domain && len <= mr->len &&
	       (uintptr_t)buf - mr->start <= mr->len - len;
}

/**
 * verbs_fast_begin() - Begin a plain operation
 * @ep: the endpoint
 * @queue: @ep's, of one direction
 * @buf: the buffer
 * @len: bytes
 * @mr: the region that the client names, or NULL
 * @dir: what the device does with it
 * @sge: the element
 * @slot: a slot to be filled in
 *
 * Context: any; the device is held (verbs_device_hold()).
 * Return: true, or false: go the long way.
 */
static __always_inline bool
verbs_fast_begin(const struct verbs_ep *ep, struct verbs_queue *queue,
		 const void *buf, size_t len, const struct verbs_mr *mr,
		 enum dma_data_direction dir, struct ib_sge *sge,
		 struct verbs_slot **slot)
{
	/* What is empty is rare, too */
	if (unlikely(!smp_load_acquire(&queue->plain) ||
		     len - 1 >= ep->kep.max_msg_size))
		return false;
	if (mr ? !verbs_mr_holds(mr, ep, buf, len) :
		 !(verbs_takes_address(queue, len, dir) &&
		   kofi_is_plain_memory(buf, len)))
		return false;
	sge->addr = (uintptr_t)buf;
	sge->length = len;
	sge->lkey = mr ? mr->lkey : queue->lkey;
	return verbs_slot_take(queue, slot);
}

/* What a plain operation has in its slot; the rest of it is clean */
static __always_inline void
verbs_fast_fill(struct verbs_slot *slot, void *context, u64 comp_flags,
		void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	slot->cqe.done = done;
	slot->comp.op_context = verbs_context(slot->queue, context);
	slot->comp.flags = comp_flags;
}

/* The device has said @ret to the work request */
static __always_inline int verbs_fast_end(struct verbs_slot *slot, int ret)
{
	const struct verbs_queue *queue = slot->queue;

	if (likely(!ret))
		return 0;
	verbs_slot_put(slot);
	return verbs_post_errno(queue, ret);
}

/*
 * Each field of its own, as no compiler clears less than all of the rest; and not ex,
 * which drivers look at only if the opcode or iWARP's read says so.
 */
static __always_inline void verbs_fast_wr(struct ib_send_wr *wr,
					  enum ib_wr_opcode opcode,
					  struct verbs_slot *slot,
					  struct ib_sge *sge, bool copy)
{
	wr->next = NULL;
	wr->wr_cqe = &slot->cqe;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->opcode = opcode;
	wr->send_flags = copy ? IB_SEND_SIGNALED | IB_SEND_INLINE :
				IB_SEND_SIGNALED;
}

/* @len: bytes of @sge, as the caller has them at hand */
static __always_inline int verbs_fast_send(struct verbs_ep *ep,
					   struct verbs_slot *slot,
					   struct ib_sge *sge, size_t len,
					   void *context)
{
	struct ib_send_wr wr __uninitialized;

	verbs_fast_wr(&wr, IB_WR_SEND, slot, sge, verbs_copies(ep, len));
	verbs_fast_fill(slot, context, FI_MSG | FI_SEND, verbs_sent);
	return verbs_fast_end(slot, ib_post_send(ep->qp, &wr, NULL));
}

static __always_inline int verbs_fast_rdma(struct verbs_ep *ep,
					   enum ib_wr_opcode opcode,
					   struct verbs_slot *slot,
					   struct ib_sge *sge, size_t len,
					   void *context, u64 addr, u64 key)
{
	struct ib_rdma_wr wr __uninitialized;

	verbs_fast_wr(&wr.wr, opcode, slot, sge,
		      opcode != IB_WR_RDMA_READ && verbs_copies(ep, len));
	/* bnxt_re hands on what is there, though it means nothing */
	if (opcode == IB_WR_RDMA_READ)
		wr.wr.ex.imm_data = 0;
	wr.remote_addr = addr;
	wr.rkey = key;
	verbs_fast_fill(slot, context,
			FI_RMA | (opcode == IB_WR_RDMA_READ ? FI_READ : FI_WRITE),
			verbs_sent);
	return verbs_fast_end(slot, ib_post_send(ep->qp, &wr.wr, NULL));
}

static __always_inline int verbs_fast_recv(struct verbs_ep *ep,
					   struct verbs_slot *slot,
					   struct ib_sge *sge, void *buf,
					   void *context)
{
	struct ib_recv_wr wr = {
		.sg_list	= sge,
		.num_sge	= 1,
		.wr_cqe		= &slot->cqe,
	};

	verbs_fast_fill(slot, context, FI_MSG | FI_RECV, verbs_received);
	slot->comp.buf = buf;
	return verbs_fast_end(slot, ib_post_recv(ep->qp, &wr, NULL));
}

#endif /* _KOFI_VERBS_FAST_H */
