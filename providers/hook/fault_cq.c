// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completions that fail, and completions that come late.
 *
 * While a completion is kept, all completions behind it are kept, too, so that their order stays.
 * A work item gives them to the queue.  Completions that come while it does so are kept as well.
 *
 * On each queue at most one operation is doomed to fail, the last that a rule has chosen.  Its
 * success may never be reported (FI_SELECTIVE_COMPLETION); then the queue forgets the operation
 * when a rule chooses another, or when its endpoint closes.  The data of an operation that fails
 * so were transferred nevertheless, as if an acknowledgment was lost, and a counter counts a
 * success.
 *
 * Locking: cq->lock is taken in any context, inside the locks of the provider below and outside
 * those of fault_ep.c and fault_rule.c.  Neither the client nor the provider below is called with
 * cq->lock held.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include "fault.h"

/* The place whose rules apply to a completion */
static unsigned int fault_place_of(const struct kofi_comp *comp)
{
	bool tagged = comp->flags & FI_TAGGED;

	if (comp->flags & (FI_RECV | FI_MULTI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE))
		return tagged ? FI_OP_TRECV : FI_OP_RECV;
	if (comp->flags & FI_ATOMIC)
		return comp->flags & FI_READ ? FI_OP_FETCH_ATOMIC : FI_OP_ATOMIC;
	if (comp->flags & FI_READ)
		return FI_OP_READ;
	if (comp->flags & FI_WRITE)
		return FI_OP_WRITE;
	return tagged ? FI_OP_TSEND : FI_OP_SEND;
}

/* Fails the operation if it is doomed; its connection then ends, as after any error */
static void fault_strike(struct fault_cq *cq, struct kofi_comp *comp)
{
	lockdep_assert_held(&cq->lock);
	if (!cq->doomed_ep || comp->op_context != cq->doomed || comp->flags & FI_RECV)
		return;
	if (!comp->err) {
		comp->err = cq->doomed_err;
		fault_ep_end(cq->doomed_ep);
	}
	cq->doomed_ep = NULL;
}

static bool fault_keep(struct fault_cq *cq, struct kofi_comp *comp)
{
	struct fault fault;
	bool first = !cq->kept && !cq->releasing;

	lockdep_assert_held(&cq->lock);
	if (first && !fault_decide(fault_place_of(comp), BIT(FAULT_DELAY), &fault))
		return false;
	comp->next = NULL;
	*cq->tail = comp;
	cq->tail = &comp->next;
	if (first)
		queue_delayed_work(fault_wq, &cq->release,
				   max(msecs_to_jiffies(fault.value), 1UL));
	return true;
}

bool fault_complete(struct kofi_hook_obj *obj, struct kofi_comp *comp)
{
	struct fault_cq *cq = to_fault_cq(obj);
	unsigned long flags;
	bool kept;

	spin_lock_irqsave(&cq->lock, flags);
	fault_strike(cq, comp);
	kept = fault_keep(cq, comp);
	spin_unlock_irqrestore(&cq->lock, flags);
	return kept;
}

/* Takes the completions that are kept; cq->releasing stays set until there are none */
static struct kofi_comp *fault_take(struct fault_cq *cq)
{
	struct kofi_comp *chain;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	chain = cq->kept;
	cq->kept = NULL;
	cq->tail = &cq->kept;
	cq->releasing = chain;
	spin_unlock_irqrestore(&cq->lock, flags);
	return chain;
}

static void fault_release(struct work_struct *work)
{
	struct fault_cq *cq = container_of(to_delayed_work(work), struct fault_cq, release);
	struct kofi_comp *chain;

	while ((chain = fault_take(cq)))
		kofi_cq_tapped(cq->obj.queue, &cq->obj.tap, chain);
}

void fault_flush(struct kofi_hook_obj *obj)
{
	flush_delayed_work(&to_fault_cq(obj)->release);
}

void fault_doom(struct fault_cq *cq, struct fault_ep *ep, void *context, int err)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->doomed_ep = ep;
	cq->doomed = context;
	cq->doomed_err = err;
	spin_unlock_irqrestore(&cq->lock, flags);
}

void fault_spare(struct fault_cq *cq, struct fault_ep *ep)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->doomed_ep == ep)
		cq->doomed_ep = NULL;
	spin_unlock_irqrestore(&cq->lock, flags);
}

void fault_cq_init(struct fault_cq *cq)
{
	spin_lock_init(&cq->lock);
	cq->tail = &cq->kept;
	INIT_DELAYED_WORK(&cq->release, fault_release);
}

/* All endpoints of the queue are closed, and each close has flushed the queue */
int fault_cq_stop(struct fault_cq *cq)
{
	cancel_delayed_work_sync(&cq->release);
	return 0;
}
