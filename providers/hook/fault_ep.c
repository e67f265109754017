// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Data transfer calls that are refused, and the ready callback that follows -EAGAIN.
 *
 * The client of an endpoint with a ready callback is called once after one or more -EAGAIN,
 * whether they came from this hook or from the provider below:
 *
 *	- After an -EAGAIN of the hook, wanted is set and the call of the ready callback is due,
 *	  in the context of the queue.  Until the client is called, the direction answers -EAGAIN
 *	  to each data transfer call, as a full queue would.  So the provider below gets no
 *	  reason to call as well.
 *	- After an -EAGAIN of the provider below, refused is set.  The hook adds no -EAGAIN of its
 *	  own until that provider has called, or has answered a call otherwise.
 *	- Two data transfer calls at the same time may get one -EAGAIN of each.  If the provider
 *	  below calls first, fault_ready() clears wanted, and the client is called once for both.
 *	  Otherwise it is called for each: one call too many is better than none, as refused may
 *	  be stale by then.
 *
 * Locking: ep->lock is held while a call or a work item becomes due, so that none does after
 * fault_ep_stop().  The client is never called with ep->lock held.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <kofi/xfer.h>
#include "fault.h"

/* Marks between begin and end: answered by the hook; connection is to end; operation is doomed */
#define FAULT_MARK_OURS		BIT_ULL(0)
#define FAULT_MARK_ENDS		BIT_ULL(1)
#define FAULT_MARK_DOOMED	BIT_ULL(2)

#define FAULT_ANSWERS	(BIT(FAULT_AGAIN) | BIT(FAULT_ERROR))
#define FAULT_OF_CALLS	(FAULT_ANSWERS | BIT(FAULT_FAIL) | BIT(FAULT_SHUTDOWN))

static struct fault_side *fault_side_of(struct fault_ep *ep, const struct fi_xfer *xfer)
{
	return kofi_xfer_is_recv(xfer) ? &ep->rx : &ep->tx;
}

/* The queue in whose context the client of a side is called; NULL: none is bound */
static struct kofi_hook_obj *fault_side_cq(const struct fault_side *side)
{
	return side->dir == FI_RECV ? side->ep->obj.rx : side->ep->obj.tx;
}

static void fault_side_ready(struct fault_side *side)
{
	struct kofi_hook_obj *obj = &side->ep->obj;

	if (xchg(&side->wanted, false))
		obj->ep_callbacks.ready(&obj->ep, side->dir);
}

static void fault_side_call(struct kofi_cq_call *call)
{
	fault_side_ready(container_of(call, struct fault_side, call));
}

/* As kofi_ep_later(): what the client posts again may be writeback */
static void fault_side_work(struct work_struct *work)
{
	unsigned int noio = memalloc_noio_save();

	fault_side_ready(container_of(work, struct fault_side, work));
	memalloc_noio_restore(noio);
}

static void fault_side_due(struct fault_side *side)
{
	struct kofi_hook_obj *cq = fault_side_cq(side);

	lockdep_assert_held(&side->ep->lock);
	if (cq)
		kofi_cq_call(cq->queue, &side->call);
	else
		queue_work(fault_wq, &side->work);
}

/* -EAGAIN, after which a client with ->ready is called; 0: not possible here and now */
static ssize_t fault_again(struct fault_side *side)
{
	struct fault_ep *ep = side->ep;
	unsigned long flags;
	ssize_t ret = 0;

	if (!ep->obj.ep_callbacks.ready)
		return -EAGAIN;
	/* Before a queue is bound, nothing would call the client */
	if (READ_ONCE(side->refused) ||
	    (!fault_side_cq(side) && ep->obj.fid.fclass != FI_CLASS_SRX_CTX))
		return 0;
	spin_lock_irqsave(&ep->lock, flags);
	if (!ep->stopped) {
		if (!xchg(&side->wanted, true))
			fault_side_due(side);
		ret = -EAGAIN;
	}
	spin_unlock_irqrestore(&ep->lock, flags);
	return ret;
}

static ssize_t fault_apply(struct fault_ep *ep, const struct fi_xfer *xfer,
			   const struct fault *fault, u64 *marks)
{
	switch (fault->kind) {
	case FAULT_AGAIN:
		return fault_again(fault_side_of(ep, xfer));
	case FAULT_ERROR:
		return -(ssize_t)fault->value;
	case FAULT_FAIL:
		if (xfer->context && ep->obj.tx) {
			*marks |= FAULT_MARK_DOOMED;
			fault_doom(to_fault_cq(ep->obj.tx), ep, xfer->context, fault->value);
		}
		return 0;
	case FAULT_SHUTDOWN:
		*marks |= FAULT_MARK_ENDS;
		return 0;
	default:
		return 0;
	}
}

ssize_t fault_begin(struct kofi_hook_obj *obj, const struct fi_xfer *xfer, u64 *marks)
{
	struct fault_ep *ep = to_fault_ep(obj);
	struct fault fault;
	ssize_t ret = 0;

	if (READ_ONCE(fault_side_of(ep, xfer)->wanted))
		ret = -EAGAIN;
	else if (fault_decide(kofi_hook_op(xfer), FAULT_OF_CALLS, &fault))
		ret = fault_apply(ep, xfer, &fault, marks);
	if (ret)
		*marks |= FAULT_MARK_OURS;
	return ret;
}

ssize_t fault_end(struct kofi_hook_obj *obj, const struct fi_xfer *xfer, u64 marks,
		  ssize_t ret)
{
	struct fault_ep *ep = to_fault_ep(obj);
	struct fault_side *side = fault_side_of(ep, xfer);

	if (marks & FAULT_MARK_OURS)
		return ret;
	if (obj->ep_callbacks.ready && READ_ONCE(side->refused) != (ret == -EAGAIN))
		WRITE_ONCE(side->refused, ret == -EAGAIN);
	if (ret && marks & FAULT_MARK_DOOMED)
		fault_spare(to_fault_cq(obj->tx), ep);
	if (!ret && marks & FAULT_MARK_ENDS)
		fault_ep_end(ep);
	return ret;
}

bool fault_ready(struct kofi_hook_obj *obj, u64 flags)
{
	struct fault_ep *ep = to_fault_ep(obj);
	struct fault_side *side = flags == FI_RECV ? &ep->rx : &ep->tx;

	WRITE_ONCE(side->refused, false);
	xchg(&side->wanted, false);
	return true;
}

/* On an endpoint without a connection, fi_shutdown() fails and changes nothing */
static void fault_end_work(struct work_struct *work)
{
	struct fault_ep *ep = container_of(work, struct fault_ep, end);
	unsigned int noio = memalloc_noio_save();

	fi_shutdown(ep->obj.lower.ep, 0);
	memalloc_noio_restore(noio);
}

void fault_ep_end(struct fault_ep *ep)
{
	unsigned long flags;

	spin_lock_irqsave(&ep->lock, flags);
	if (!ep->stopped)
		queue_work(fault_wq, &ep->end);
	spin_unlock_irqrestore(&ep->lock, flags);
}

static void fault_side_init(struct fault_ep *ep, struct fault_side *side, u64 dir)
{
	side->ep = ep;
	side->dir = dir;
	side->call.fn = fault_side_call;
	INIT_LIST_HEAD(&side->call.entry);
	INIT_WORK(&side->work, fault_side_work);
}

void fault_ep_init(struct fault_ep *ep)
{
	spin_lock_init(&ep->lock);
	INIT_WORK(&ep->end, fault_end_work);
	fault_side_init(ep, &ep->tx, FI_TRANSMIT);
	fault_side_init(ep, &ep->rx, FI_RECV);
}

static int fault_may_close(const struct fault_side *side)
{
	struct kofi_hook_obj *cq = fault_side_cq(side);

	return cq ? kofi_cq_may_close(cq->queue) : 0;
}

static void fault_side_stop(struct fault_side *side)
{
	struct kofi_hook_obj *cq = fault_side_cq(side);

	if (cq)
		kofi_cq_cancel_call(cq->queue, &side->call);
	cancel_work_sync(&side->work);
}

int fault_ep_stop(struct fault_ep *ep)
{
	int ret = fault_may_close(&ep->tx) ?: fault_may_close(&ep->rx);

	if (ret)
		return ret;
	scoped_guard(spinlock_irqsave, &ep->lock)
		ep->stopped = true;
	if (ep->obj.tx)
		fault_spare(to_fault_cq(ep->obj.tx), ep);
	cancel_work_sync(&ep->end);
	fault_side_stop(&ep->tx);
	fault_side_stop(&ep->rx);
	return 0;
}

void fault_ep_resume(struct fault_ep *ep)
{
	struct fault_side *sides[] = { &ep->tx, &ep->rx };
	unsigned long flags;
	int i;

	spin_lock_irqsave(&ep->lock, flags);
	ep->stopped = false;
	for (i = 0; i < ARRAY_SIZE(sides); i++)
		if (READ_ONCE(sides[i]->wanted))
			fault_side_due(sides[i]);
	spin_unlock_irqrestore(&ep->lock, flags);
}
