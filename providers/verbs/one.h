/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The second way of sends and writes: one buffer still, but with flags, behind what
 * waits for the doorbell, or on an endpoint where more is to be done than to report a
 * success.  It takes the queue's lock; what it leaves out is the list.  The work request
 * is made where it stays if it has to wait, at the end of the chain.
 *
 * The buffer lies in a region that plain operations may name, or is memory, or is copied
 * by the device.  Everything else goes the long way (post.c), also what is not to be
 * posted at all, and nothing has happened then.
 *
 * Most of these operations have nothing about them but their flags.  They end as plain
 * ones do, and leave a slot as clean (slot.c); verbs_one_board() is for the others.
 */
#ifndef _KOFI_VERBS_ONE_H
#define _KOFI_VERBS_ONE_H

#include "fast.h"

/* FI_* that make another work request */
#define VERBS_WR_FLAGS	(FI_FENCE | FI_REMOTE_CQ_DATA | FI_REMOTE_INV)

/**
 * struct verbs_one - An operation of one buffer
 * @opcode: IB_WR_SEND or IB_WR_RDMA_WRITE
 * @context: the client's
 * @flags: FI_* of the call; with FI_COMPLETION if its success is reported
 * @data: remote CQ data, or the key that ends
 * @to: where a write goes; nothing of a send's
 */
struct verbs_one {
	enum ib_wr_opcode	opcode;
	void			*context;
	u64			flags;
	u64			data;
	struct fi_rma_iov	to;
};

static __always_inline bool
verbs_one_slot(struct verbs_ep *ep, const struct kvec *kvec,
	       const struct verbs_mr *mr, u64 flags, struct ib_sge *sge,
	       struct verbs_slot **slot)
{
	const void *buf = kvec->iov_base;
	size_t len = kvec->iov_len;

	if (unlikely(flags & FI_INJECT)) {
		if (len - 1 >= min_t(size_t, ep->inline_size, ep->kep.inject_size))
			return false;
		*sge = (struct ib_sge) { .addr = (uintptr_t)buf, .length = len };
		return verbs_slot_take(&ep->tx, slot);
	}
	if (unlikely(len - 1 >= ep->kep.max_msg_size))
		return false;
	if (mr)
		return verbs_slot_in_region(ep, &ep->tx, buf, len, mr, sge, slot);
	return verbs_slot_on_memory(&ep->tx, buf, len, DMA_TO_DEVICE, sge, slot);
}

static __always_inline void verbs_one_wr(const struct verbs_ep *ep,
					 struct ib_rdma_wr *wr,
					 const struct verbs_one *one,
					 struct verbs_slot *slot,
					 struct ib_sge *sge)
{
	verbs_fast_wr(&wr->wr, one->opcode, slot, sge,
		      verbs_copies(ep, sge->length));
	if (one->opcode == IB_WR_RDMA_WRITE) {
		wr->wr.ex.imm_data = 0;
		wr->remote_addr = one->to.addr;
		wr->rkey = one->to.key;
	}
	if (one->flags & VERBS_WR_FLAGS)
		verbs_wr_flags(&wr->wr, one->flags, one->data);
	/* All that is to be done when it succeeds is to report it */
	if (unlikely(!ep->tx.bare || !(one->flags & FI_COMPLETION) || ep->riders))
		verbs_one_board(slot, &wr->wr, one->flags);
}

/* The caller holds the transmit side's lock, which is released */
static __always_inline int verbs_one_launch(struct verbs_ep *ep,
					    const struct verbs_one *one,
					    struct verbs_slot *slot,
					    const struct ib_sge *sge,
					    unsigned long flags)
{
	struct verbs_wr *place = verbs_chain_place(ep);
	int ret;

	place->sge[0] = *sge;
	verbs_one_wr(ep, &place->rdma, one, slot, place->sge);
	/* What the client gets back at once is not there any more when the bell is rung */
	if ((one->flags & (FI_MORE | FI_INJECT)) == FI_MORE &&
	    verbs_chain_takes(ep, 1)) {
		ep->chain_used += verbs_wr_size(1);
		verbs_chain_link(ep, &place->rdma.wr);
		spin_unlock_irqrestore(&ep->tx.lock, flags);
		return 0;
	}
	ret = verbs_post_now(ep, &place->rdma.wr);
	if (unlikely(ret))
		ret = verbs_one_refused(slot, ret);
	verbs_queue_unlock(ep, &ep->tx, flags);
	return ret;
}

/**
 * verbs_one_post() - Post an operation of one buffer
 * @ep: the endpoint
 * @kvec: the buffer
 * @mr: the region that the client names, or NULL
 * @one: the operation
 *
 * Context: any.
 * Return: as the data transfer calls of fi_endpoint.h; -ENOMSG: go the long way.
 */
static __always_inline int verbs_one_post(struct verbs_ep *ep,
					  const struct kvec *kvec,
					  const struct verbs_mr *mr,
					  const struct verbs_one *one)
{
	struct ib_sge sge __uninitialized;
	struct verbs_slot *slot;
	unsigned long flags;
	int ret = -ENOMSG;

	verbs_device_hold();
	/* See verbs_ep_enable() */
	if (unlikely(smp_load_acquire(&ep->kep.conn.state) != KOFI_CONN_CONNECTED ||
		     !verbs_one_slot(ep, kvec, mr, one->flags, &sge, &slot)))
		goto release;
	verbs_fast_fill(slot, one->context,
			one->opcode == IB_WR_SEND ? FI_MSG | FI_SEND :
						    FI_RMA | FI_WRITE);

	spin_lock_irqsave(&ep->tx.lock, flags);
	if (unlikely(!ep->tx.bare && verbs_ep_ends(ep))) {
		verbs_queue_unlock(ep, &ep->tx, flags);
		ret = verbs_post_refused(slot, -ESHUTDOWN);
		goto release;
	}
	ret = verbs_one_launch(ep, one, slot, &sge, flags);
release:
	verbs_device_release();
	return ret;
}

#endif /* _KOFI_VERBS_ONE_H */
