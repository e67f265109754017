// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Counters: what an endpoint tells the core's struct kofi_cntr.
 *
 * A counter is bound to kinds of operations of a queue.  The done functions count
 * an operation when it has been reported, from the same context, so a close that
 * has drained the queue pair has seen the last of it.
 *
 * The device says nothing of unsignalled operations, and whoever sleeps for a
 * number of them would sleep until somebody posts a signalled one.  So as long as
 * a counter is bound to a queue, every operation in it is signalled.
 *
 * What a peer reads and writes is not seen here: an RC queue pair has no event for
 * it.  A write with remote CQ data takes a receive, but it is not a message that
 * was received, and FI_RECV does not count it.
 *
 * With FI_WAIT_NONE nobody but fi_cq_read() polls the device's queue, so a counter
 * moves only then.  Sleeping for it would depend on luck and is refused.
 */
#include <linux/module.h>
#include "ep.h"
#include "queue.h"

#define VERBS_CNTR_DIRS	(FI_SEND | FI_RECV | FI_READ | FI_WRITE)

static void verbs_cntr_set(struct verbs_queue *queue, enum verbs_kind kind,
			   struct kofi_cntr *cntr)
{
	queue->cntrs[kind] = cntr;
	queue->counted = true;
}

int verbs_cntr_bind(struct verbs_ep *ep, struct kofi_cntr *cntr, u64 flags)
{
	if (flags & ~VERBS_CNTR_DIRS)
		return -ENOSYS;
	if (flags & FI_SEND)
		verbs_cntr_set(&ep->tx, VERBS_MSG, cntr);
	if (flags & FI_WRITE)
		verbs_cntr_set(&ep->tx, VERBS_WRITE, cntr);
	if (flags & FI_READ)
		verbs_cntr_set(&ep->tx, VERBS_READ, cntr);
	if (flags & FI_RECV)
		verbs_cntr_set(&ep->rx, VERBS_MSG, cntr);
	return 0;
}

/* Both are bound: will somebody poll, if somebody sleeps? */
bool verbs_cntr_fits(const struct verbs_queue *queue)
{
	int kind;

	if (!queue->cq->direct)
		return true;
	for (kind = 0; kind < VERBS_NR_KINDS; kind++)
		if (queue->cntrs[kind] &&
		    queue->cntrs[kind]->wait_obj != FI_WAIT_NONE)
			return false;
	return true;
}

/* The counter of an operation whose completion is final, or NULL */
struct kofi_cntr *verbs_cntr_find(const struct verbs_slot *slot)
{
	const struct verbs_queue *queue = slot->queue;

	if (slot->comp.flags & FI_MSG)
		return queue->cntrs[VERBS_MSG];
	if (slot->comp.flags & FI_WRITE)
		return queue->cntrs[VERBS_WRITE];
	if (slot->comp.flags & FI_READ)
		return queue->cntrs[VERBS_READ];
	return NULL;
}
