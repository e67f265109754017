// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The slots of an endpoint's queues, and of a shared receive context.
 *
 * A slot is an operation in flight: taken when it is posted, given back when its
 * completion has been read, or at once if there is none to read.  So the depth
 * of a queue bounds what is in flight and what is unread together, and a
 * completion always has a place.
 *
 * Free slots stand in two lists.  Posters take from unused, under the queue's
 * lock; readers add to freed without a lock; a poster that finds unused empty
 * takes all of freed at once.  As only the holder of the lock ever removes, the
 * lock-free list has no ABA problem.
 *
 * Operations whose success nobody wants to know are posted unsignalled, and the
 * device says nothing of them unless they fail.  Their slots ride on that of the
 * next signalled operation and are free when that one has succeeded; at least
 * every size/2th operation is signalled, so a queue always comes to itself again.
 * Reads are always signalled: siw reports what was posted behind a read before the
 * read itself has been answered, and the sinks of sink.c wait for the completion.
 * When the carrier has failed, its riders are left alone: those that failed, too,
 * have completions of their own, and the queue pair is of no more use anyway.
 *
 * Parts of an operation (split.c) ride on the last of them, and end with it in any
 * case.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "verbs.h"

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

	spin_lock_init(&queue->lock);
	spin_lock_init(&queue->split_lock);
	init_llist_head(&queue->freed);
	queue->unused = NULL;
	queue->riders = NULL;
	atomic_set(&queue->busy, 0);
	queue->chain = NULL;
	queue->chain_end = &queue->chain;
	queue->stranded = NULL;
	queue->domain = domain;
	queue->ep = ep;
	for (i = 0; i < queue->size; i++) {
		queue->slots[i].queue = queue;
		queue->slots[i].taker = queue;
		queue->slots[i].cqe.done = done;
		llist_add(&queue->slots[i].free, &queue->freed);
	}
	return 0;
}

/* Room for what waits for the doorbell */
int verbs_queue_add_chain(struct verbs_queue *queue)
{
	queue->wrs = kcalloc(VERBS_CHAIN,
			     struct_size(queue->wrs, sge, queue->iov_limit),
			     GFP_KERNEL);
	return queue->wrs ? 0 : -ENOMEM;
}

/* Room for an operation that takes more than one work request */
int verbs_queue_add_parts(struct verbs_queue *queue)
{
	queue->parts = kvcalloc(VERBS_PARTS, sizeof(*queue->parts), GFP_KERNEL);
	return queue->parts ? 0 : -ENOMEM;
}

/* For devices that take less inline than was promised to fi_inject() */
int verbs_queue_add_bounce(struct verbs_queue *queue)
{
	struct ib_device *ibdev = queue->domain->dev->ibdev;
	size_t len = queue->size * queue->ep->inject_size;

	/* For the deepest queues this is more than kmalloc() ever has */
	queue->bounce = kmalloc(len, GFP_KERNEL | __GFP_NOWARN);
	if (!queue->bounce)
		return -ENOMEM;
	queue->bounce_dma = ib_dma_map_single(ibdev, queue->bounce, len,
					      DMA_TO_DEVICE);
	if (!ib_dma_mapping_error(ibdev, queue->bounce_dma))
		return 0;

	kfree(queue->bounce);
	queue->bounce = NULL;
	return -ENOMEM;
}

/* The queue pair is gone; what had no completion of its own is still mapped */
void verbs_queue_unmap(struct verbs_queue *queue)
{
	size_t i;

	for (i = 0; queue->maps && i < queue->size; i++)
		verbs_unmap(&queue->slots[i]);
	if (queue->bounce)
		ib_dma_unmap_single(queue->domain->dev->ibdev,
				    queue->bounce_dma,
				    queue->size * queue->ep->inject_size,
				    DMA_TO_DEVICE);
	kfree(queue->bounce);
	queue->bounce = NULL;
}

/* Nobody has one of its slots any more */
void verbs_queue_destroy(struct verbs_queue *queue)
{
	kvfree(queue->parts);
	kfree(queue->wrs);
	kvfree(queue->maps);
	kvfree(queue->slots);
	queue->parts = NULL;
	queue->wrs = NULL;
	queue->maps = NULL;
	queue->slots = NULL;
}

/* The caller holds the queue's lock */
struct verbs_slot *verbs_slot_take(struct verbs_queue *queue)
{
	struct llist_node *node;

	if (!queue->unused)
		queue->unused = llist_del_all(&queue->freed);
	node = queue->unused;
	if (!node)
		return NULL;
	queue->unused = node->next;
	return llist_entry(node, struct verbs_slot, free);
}

/* The caller has held the queue's lock since it took the slot */
void verbs_slot_untake(struct verbs_slot *slot)
{
	slot->free.next = slot->queue->unused;
	slot->queue->unused = &slot->free;
}

void verbs_slot_put(struct verbs_slot *slot)
{
	llist_add(&slot->free, &slot->queue->freed);
}

void verbs_slot_put_chain(struct kofi_comp *chain)
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
	struct llist_node *node = slot->riders;
	struct verbs_slot *rider;

	while (node) {
		rider = llist_entry(node, struct verbs_slot, free);
		node = node->next;
		verbs_slot_over(rider);
		verbs_unmap(rider);
		verbs_slot_put(rider);
	}
}

/* @slot has failed; its parts, posted right before it, have ended somehow */
void verbs_slot_put_parts(struct verbs_slot *slot)
{
	struct llist_node *node = slot->riders;
	struct verbs_slot *part;

	while (node) {
		part = llist_entry(node, struct verbs_slot, free);
		if (part->whole != slot)
			break;
		node = node->next;
		verbs_slot_over(part);
		verbs_unmap(part);
		verbs_slot_put(part);
	}
}
