// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The slots of an endpoint's queues, and of a shared receive context.
 *
 * A slot is an operation in flight: taken when the operation is posted, given back when its
 * completion has been read, or at once if there is none to read.  So the depth of a queue limits
 * operations in flight and unread completions together, and a completion always has a place.
 *
 * Free slots are in a list without a lock, as most posters (send.c) and readers take no lock.  Its
 * head is one 64-bit word: the place of the first free slot, and a count of how often one was
 * taken.  verbs_slot_take() reads the place of the second slot from the first, and finds garbage
 * if another processor has taken the first meanwhile.  Then the count has changed, and the
 * exchange of the word fails.  (This is the usual solution of the ABA problem.)
 *
 * Nothing is written to a slot before it is first used (verbs_slot_take_fresh()), so a queue costs
 * little until it is as deep as it may be.  The poster fills the slot, but for what &struct
 * verbs_slot says of free slots.
 *
 * Unsignaled operations: an operation whose success the client does not want reported is posted
 * unsignaled, and the device reports it only if it fails.  Its slot hangs on the next signaled
 * operation and is free when that has succeeded.  At least every size/2th operation is signaled,
 * so a queue never stays full.  Always signaled are
 *
 *	- operations that siw would send without a copy (verbs_wr_lingers())
 *	- reads: siw reports operations behind a read before the read itself has been
 *	  answered, and the read regions of read_mr.c wait for the completion
 *
 * When the signaled operation fails, the unsignaled ones that hang on it keep their slots: those
 * that failed, too, have completions of their own, and the queue pair is of no more use anyway.  A
 * slot that ends by a completion of its own must not hang on a slot that succeeds.  If an
 * unsignaled operation fails, so does the signaled one behind it, and verbs_wrs_abandon() unlinks
 * operations that were refused.
 *
 * The parts of an operation (batch.c) are not unsignaled operations: they always end with it.
 */
#include <linux/slab.h>
#include "../ep.h"
#include "../op.h"
#include "../queue.h"
#include "../verbs.h"

static void verbs_queue_tune_tx(struct verbs_ep *ep)
{
	const struct kofi_ep_side *side = &ep->kep.tx;
	u64 send = 0, write, read;

	/* save.c notes what was written, and a fence may have to wait for a save */
	ep->tx.fits &= !ep->saves;
	if (!ep->iwarp && READ_ONCE(ep->kep.conn.state) == KOFI_CONN_CONNECTED)
		send = ep->saves ? VERBS_STRAIGHT & ~FI_FENCE : VERBS_STRAIGHT;
	write = verbs_ep_has_rma(ep) ? send & ~FI_REMOTE_INV : 0;
	read = ep->may_read ? write & ~(FI_INJECT | FI_REMOTE_CQ_DATA) : 0;
	WRITE_ONCE(ep->tx_flags, kofi_ep_flags(side, READ_ONCE(side->op_flags)));
	/* Pairs with verbs_submit_may(): its caller then sees all that was set up before */
	smp_wmb();
	WRITE_ONCE(ep->straight[FI_OP_SEND], send);
	WRITE_ONCE(ep->straight[FI_OP_WRITE], write);
	WRITE_ONCE(ep->straight[FI_OP_READ], read);
}

/*
 * Find out which operations need no more than verbs_submit() and verbs_submit_recv(): those with
 * flags of verbs_ep.straight; and without a lock, verbs_queue.fits, those that ask for a completion
 * only.  Called again when a state or a flag that decides about it changes; the caller holds the
 * lock of the queue, or no task knows the queue yet.
 *
 * While a counter is bound, every operation is signaled.  Otherwise a client that waits for the
 * counter to reach a value would wait for the next signaled operation.
 */
void verbs_queue_tune(struct verbs_queue *queue)
{
	const struct kofi_ep_side *side = queue->side;
	struct kofi_cntr *const *cntrs = side->ep->cntrs;
	struct verbs_ep *ep = queue->ep;

	if (side->dir == FI_RECV)
		queue->counted = cntrs[KOFI_CNTR_RECV];
	else
		queue->counted = cntrs[KOFI_CNTR_SEND] || cntrs[KOFI_CNTR_READ] ||
				 cntrs[KOFI_CNTR_WRITE];
	queue->fits = queue->slots && ep && !ep->iwarp && !queue->counted;
	if (side->dir == FI_RECV)
		queue->fits &= side->implied && !(READ_ONCE(side->op_flags) & ~FI_COMPLETION);
	else if (ep)
		verbs_queue_tune_tx(ep);
}

/* The part of verbs_queue_init() that a new endpoint or shared receive context needs at once */
void verbs_queue_prepare(struct verbs_queue *queue, struct kofi_ep_side *side)
{
	queue->side = side;
	spin_lock_init(&queue->lock);
}

/* @ep: NULL for a shared queue */
int verbs_queue_init(struct verbs_queue *queue, struct verbs_domain *domain,
		     struct verbs_ep *ep,
		     verbs_done_fn *done)
{
	struct ib_device *ibdev = domain->dev->ibdev;

	queue->slots = kvmalloc_array(queue->size, sizeof(*queue->slots), GFP_KERNEL);
	if (!queue->slots)
		return -ENOMEM;
	if (!ib_uses_virt_dma(ibdev)) {
		queue->maps = kvmalloc_array(queue->size * queue->iov_limit,
					     sizeof(*queue->maps), GFP_KERNEL);
		if (!queue->maps) {
			kvfree(queue->slots);
			queue->slots = NULL;
			return -ENOMEM;
		}
	}

	queue->home = queue;
	queue->base = queue->slots - 1;
	queue->domain = domain;
	queue->ep = ep;
	queue->lkey = domain->pd->local_dma_lkey;
	queue->done = done;
	verbs_queue_tune(queue);
	atomic64_set(&queue->free, 0);
	/* A region may be enabled meanwhile: its slot then shows all of the above */
	atomic_set_release(&queue->fresh, queue->size);
	return 0;
}

/* The part of verbs_slot_take() for a queue without a slot that has been used before */
struct verbs_slot *verbs_slot_take_fresh(struct verbs_queue *queue)
{
	int fresh = atomic_dec_if_positive(&queue->fresh);
	struct verbs_slot *slot;

	if (fresh < 0)
		return NULL;
	slot = &queue->slots[fresh];
	slot->comp.len = 0;
	slot->comp.buf = NULL;
	slot->queue = queue;
	verbs_sges_forget(slot);
	return slot;
}

/* Nothing is in flight any more; operations without a completion are still mapped */
void verbs_queue_unmap(struct verbs_queue *queue)
{
	size_t i;

	for (i = atomic_read(&queue->fresh); queue->maps && i < queue->size; i++)
		verbs_unmap(&queue->slots[i]);
}

/* All slots have been given back */
void verbs_queue_destroy(struct verbs_queue *queue)
{
	kvfree(queue->maps);
	kvfree(queue->slots);
	queue->maps = NULL;
	queue->slots = NULL;
}

/* Leave the endpoint that has got a shared receive; return the queue that owns the slot */
static __always_inline struct verbs_queue *verbs_slot_return(struct verbs_slot *slot)
{
	struct verbs_queue *home = slot->queue->home;

	if (unlikely(slot->queue != home))
		slot->queue = home;
	return home;
}

/* Give back the slot of an operation that is not reported */
void verbs_slot_put(struct verbs_slot *slot)
{
	struct verbs_queue *home = verbs_slot_return(slot);

	slot->comp.len = 0;
	slot->comp.buf = NULL;
	verbs_slots_push(home, slot, slot);
	kofi_waiter_wake_after_atomic(&home->side->room);
}

/* See &struct kofi_cq_ops.  Slots of one queue, one behind the other, go back together */
void verbs_slots_release(struct kofi_comp *chain)
{
	struct verbs_slot *first, *last, *slot;
	struct verbs_queue *home;
	void *base;

	while (chain) {
		first = container_of(chain, struct verbs_slot, comp);
		home = verbs_slot_return(first);
		base = home->base;
		for (last = first; (chain = last->comp.next); last = slot) {
			slot = container_of(chain, struct verbs_slot, comp);
			if (slot->queue != home && verbs_slot_return(slot) != home)
				break;
			last->next = (void *)slot - base;
		}
		/* A poster may take the slots as soon as they are free */
		verbs_slots_push(home, first, last);
		kofi_waiter_wake_after_atomic(&home->side->room);
	}
}

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

/* Fill a slot that has been taken */
void verbs_slot_fill(struct verbs_slot *slot, const struct verbs_call *call)
{
	slot->comp.op_context = verbs_context(slot->queue, call->context);
	slot->comp.flags = call->comp_flags;
	slot->comp.error = 0;
	slot->bytes = 0;
	slot->marks = 0;
	slot->unreported = !(call->flags & FI_COMPLETION);
	slot->regional = !!call->region;
	slot->region = call->region;
	slot->unsignaled = NULL;
	slot->cqe.done = slot->queue->done;
}

/* Give back the slot of an operation that was not posted; its buffers stay mapped.  Return @ret */
int verbs_submit_failed(struct verbs_slot *slot, int ret)
{
	const struct verbs_queue *queue = slot->queue;

	verbs_sges_forget(slot);
	verbs_slot_put(slot);
	return verbs_post_errno(queue, ret);
}

/* The first error of an operation stays; @err is positive */
void verbs_slot_set_err(struct verbs_slot *slot, int err, int prov_errno)
{
	const struct kofi_comp failed = { .err = err, .prov_errno = prov_errno };

	cmpxchg(&slot->comp.error, 0, failed.error);
	if (prov_errno == IB_WC_WR_FLUSH_ERR)
		return;
	if (slot->queue->side->dir == FI_RECV)
		verbs_ep_refusing(slot->queue->ep);
	else
		verbs_ep_broken(slot->queue->ep);
}

/* @slot has succeeded, and with it the unsignaled operations in front of it */
void verbs_slot_put_unsignaled(struct verbs_slot *slot)
{
	struct verbs_slot *other, *next = slot->unsignaled;

	while ((other = next)) {
		next = other->link;
		verbs_slot_over(other);
		verbs_unmap(other);
		verbs_slot_put(other);
	}
	slot->unsignaled = NULL;
}

/* @slot has ended, and its parts with it */
void verbs_slot_put_parts(struct verbs_slot *slot)
{
	struct verbs_slot *part, *next = verbs_slot_parts(slot);

	if (!next)
		return;
	while ((part = next)) {
		next = part->link;
		/* A slot without a work request was not begun */
		if (part->part)
			verbs_slot_over(part);
		verbs_unmap(part);
		verbs_slot_put(part);
	}
	slot->parts = NULL;
}

/* The device has refused @wr, the operation's, and nothing was posted since */
void verbs_slot_undo_signaling(struct verbs_slot *slot, const struct ib_send_wr *wr)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);

	if (wr->send_flags & IB_SEND_SIGNALED) {
		ep->unsignaled = slot->unsignaled;
		/* The next operation is signaled for sure */
		ep->nr_unsignaled = ep->tx.size;
	} else {
		ep->unsignaled = slot->link;
	}
}
