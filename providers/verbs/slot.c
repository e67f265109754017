// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The slots of an endpoint's queues, and of a shared receive context.
 *
 * A slot is an operation in flight: taken when it is posted, given back when its
 * completion has been read, or at once if there is none to read.  So the depth
 * of a queue bounds what is in flight and what is unread together, and a
 * completion always has a place.
 *
 * Free slots stand in a list without a lock, as posters of plain operations
 * (xfer.c) and readers take none.  The list is one 64-bit word: the place of its
 * first slot, and a count of takings below.  Who takes the first slot reads the
 * place of the second from it, and may find nonsense there if another has been
 * quicker; then the count has moved on, and the exchange of the word fails (this is
 * the ABA problem and its customary cure).
 *
 * A free slot is clean: nothing in it is left from an operation, so a plain operation
 * has little to fill in.
 *
 * A slot that is in flight must not be linked any more when it ends by a completion of
 * its own: riders that failed are followed by their carrier's failure, and those that
 * were refused by verbs_chain_abandon().
 *
 * Operations whose success nobody wants to know are posted unsignalled, and the
 * device says nothing of them unless they fail.  Their slots ride on that of the
 * next signalled operation and are free when that one has succeeded; at least
 * every size/2th operation is signalled, so a queue always comes to itself again.
 * Always signalled is what siw would send without a copy (verbs_wr_lingers()), and
 * reads: siw reports what was posted behind a read before the read itself has been
 * answered, and the sinks of sink.c wait for the completion.
 * When the carrier has failed, its riders are left alone: those that failed, too,
 * have completions of their own, and the queue pair is of no more use anyway.
 *
 * The parts of an operation (batch.c) are none of them: they end with it in any case.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "ep.h"
#include "op.h"
#include "queue.h"
#include "verbs.h"

static bool verbs_queue_is_counted(const struct verbs_queue *queue)
{
	struct kofi_cntr *const *cntrs = queue->side->ep->cntrs;

	if (queue->side->dir == FI_RECV)
		return cntrs[KOFI_CNTR_RECV];
	return cntrs[KOFI_CNTR_SEND] || cntrs[KOFI_CNTR_READ] ||
	       cntrs[KOFI_CNTR_WRITE];
}

/*
 * May operations with the endpoint's flags be plain?  Not if there is more to be done
 * when they begin or end than to report them.
 *
 * The device says nothing of unsignalled operations, and a client that sleeps for a number
 * of them would sleep until somebody posts a signalled one.  So as long as a counter is
 * bound, every operation is signalled.
 */
void verbs_queue_tune(struct verbs_queue *queue)
{
	const struct kofi_ep_side *side = queue->side;

	queue->counted = verbs_queue_is_counted(queue);
	queue->fits = queue->slots && queue->ep && !queue->ep->iwarp && !queue->counted &&
		      !side->selective &&
		      !(READ_ONCE(side->op_flags) & ~FI_COMPLETION);
}

/* From the beginning; the rest follows when there is a queue pair to be */
void verbs_queue_prepare(struct verbs_queue *queue, struct kofi_ep_side *side)
{
	queue->side = side;
	spin_lock_init(&queue->lock);
}

/* @ep: whose queue it is, or NULL if it is shared */
int verbs_queue_init(struct verbs_queue *queue, struct verbs_domain *domain,
		     struct verbs_ep *ep,
		     void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct ib_device *ibdev = domain->dev->ibdev;
	size_t i;

	queue->slots = kvcalloc(queue->size, sizeof(*queue->slots), GFP_KERNEL);
	if (!queue->slots)
		return -ENOMEM;
	if (!ib_uses_virt_dma(ibdev)) {
		queue->maps = kvcalloc(queue->size * queue->iov_limit,
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
	for (i = 0; i < queue->size; i++) {
		queue->slots[i].queue = queue;
		queue->slots[i].next = i * sizeof(*queue->slots);
	}
	atomic64_set(&queue->free,
		     (u64)(queue->size * sizeof(*queue->slots)) << 32);
	return 0;
}

/* Nothing is in flight any more; what had no completion of its own is still mapped */
void verbs_queue_unmap(struct verbs_queue *queue)
{
	size_t i;

	for (i = 0; queue->maps && i < queue->size; i++)
		verbs_unmap(&queue->slots[i]);
}

/* Nobody has one of its slots any more */
void verbs_queue_destroy(struct verbs_queue *queue)
{
	kvfree(queue->maps);
	kvfree(queue->slots);
	queue->maps = NULL;
	queue->slots = NULL;
}

void verbs_slot_put(struct verbs_slot *slot)
{
	struct verbs_queue *home = slot->queue->home;

	slot->comp.len = 0;
	slot->comp.buf = NULL;
	slot->comp.data = 0;
	slot->comp.err = 0;
	slot->comp.prov_errno = 0;
	slot->riders = NULL;
	slot->region = NULL;
	slot->bytes = 0;
	slot->marks = 0;
	slot->queue = home;
	verbs_slots_push(home, slot, slot);
	kofi_ep_room_after_atomic(home->side);
}

/* See &struct kofi_cq_ops */
void verbs_slots_release(struct kofi_comp *chain)
{
	struct kofi_comp *comp;

	while ((comp = chain)) {
		/* Once it is free, a poster may use it again */
		chain = comp->next;
		verbs_slot_put(container_of(comp, struct verbs_slot, comp));
	}
}

/* @slot has succeeded, and with it what was posted unsignalled before */
void verbs_slot_put_riders(struct verbs_slot *slot)
{
	struct verbs_slot *rider, *next = slot->riders;

	while ((rider = next)) {
		next = rider->link;
		verbs_slot_over(rider);
		verbs_unmap(rider);
		verbs_slot_put(rider);
	}
	slot->riders = NULL;
}

/* @slot has ended, and its parts with it */
void verbs_slot_put_parts(struct verbs_slot *slot)
{
	struct verbs_slot *part, *next = slot->parts;

	while ((part = next)) {
		next = part->link;
		/* It may have had no work request */
		if (part->part)
			verbs_slot_over(part);
		verbs_unmap(part);
		part->whole = NULL;
		verbs_slot_put(part);
	}
	slot->parts = NULL;
}

/* Its success follows from no other's */
static bool verbs_wr_is_alone(const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_RDMA_READ ||
	       wr->opcode == IB_WR_RDMA_READ_WITH_INV;
}

/* Nobody wants to know of its success; @len: bytes.  The caller holds the queue's lock */
void verbs_slot_board_silent(struct verbs_slot *slot, struct ib_send_wr *wr,
			     size_t len)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);

	if (ep->tx.counted || verbs_wr_is_alone(wr) ||
	    verbs_wr_lingers(ep, len) || ++ep->quiet >= ep->tx.size / 2)
		verbs_slot_carry(slot, wr);
	else
		verbs_slot_ride(slot);
}

/* The device did not take it, and has taken nothing since */
void verbs_slot_alight(struct verbs_slot *slot)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);

	if (slot->signaled) {
		ep->riders = slot->riders;
		/* So that the next one is signalled for sure */
		ep->quiet = ep->tx.size;
	} else {
		ep->riders = slot->link;
	}
}
