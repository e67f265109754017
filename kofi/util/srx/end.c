// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Taking receives and messages back: cancel, withdraw, the end of an endpoint and of a
 * receive side.
 *
 * A cancel or a flush takes receives out of the lists under the lock and completes them
 * afterwards, so a message that arrives does not find them.  After kofi_srx_flush() no message
 * looks for a receive any more, so kofi_srx_flush() takes the whole list at once and leaves the
 * table as it is.
 *
 * The messages of an endpoint are in a list of the endpoint, so its close does not look at
 * those of other endpoints.  kofi_srx_drop() takes KOFI_SRX_BATCH messages out at a time, and
 * discards them without the lock.
 *
 * Calls of ops->start() and ops->discard() are made in RCU read-side sections that begin
 * before the message leaves its lists.  So after a grace period no such call runs for a
 * message that is in no list.  The wait is expedited, as devices have many endpoints.
 */
#include <kofi/refuse.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include "srx.h"

static bool kofi_srx_take_back(struct kofi_srx *srx, struct kofi_srx_msg *msg, bool claimed)
{
	struct kofi_srx_due due;
	unsigned long flags;
	bool take;

	kofi_srx_due_init(&due);
	spin_lock_irqsave(&srx->lock, flags);
	take = msg->queued && (claimed || msg->any.key.kind != KOFI_SRX_CLAIMED);
	if (take)
		kofi_srx_take_msg(srx, msg, &due);
	spin_unlock_irqrestore(&srx->lock, flags);
	kofi_srx_settle(srx, &due);
	return take;
}

bool kofi_srx_withdraw(struct kofi_srx *srx, struct kofi_srx_msg *msg)
{
	if (kofi_srx_take_back(srx, msg, true))
		return true;
	synchronize_rcu_expedited();
	return false;
}
EXPORT_SYMBOL_GPL(kofi_srx_withdraw);

bool kofi_srx_withdraw_unclaimed(struct kofi_srx *srx, struct kofi_srx_msg *msg)
{
	return kofi_srx_take_back(srx, msg, false);
}
EXPORT_SYMBOL_GPL(kofi_srx_withdraw_unclaimed);

static struct kofi_rx *kofi_srx_find_context(struct list_head *list,
					     void *context)
{
	struct kofi_rx *rx;

	list_for_each_entry(rx, list, entry)
		if (rx->comp.comp.op_context == context)
			return rx;
	return NULL;
}

/* Ends a receive that is in no list any more; an endpoint's own one with a completion */
static void kofi_srx_end_rx(struct kofi_srx *srx, struct kofi_rx *rx, int err)
{
	struct kofi_ep *ep = srx->ep;
	u64 flags = rx->comp.comp.flags;

	if (kofi_srx_is_shared(srx)) {
		kofi_rx_put(rx);
		return;
	}
	kofi_cq_complete(ep->rx.cq, kofi_rx_refuse(rx, err));
	kofi_ep_count(ep, flags, err, 0);
}

int kofi_srx_cancel(struct kofi_srx *srx, void *context)
{
	struct kofi_rx *rx, *listed;
	struct kofi_srx_due due;
	unsigned long flags;
	bool ends = false;

	if (!context)
		return kofi_refuse("cancel", -ENOENT, "context is NULL");
	kofi_srx_due_init(&due);
	spin_lock_irqsave(&srx->lock, flags);
	for (listed = srx->untagged; listed; listed = listed->next)
		if (listed->comp.comp.op_context == context)
			break;
	rx = kofi_rx_older(listed, kofi_srx_find_context(&srx->posted, context)) ? :
	     kofi_srx_find_context(&srx->deferred, context);
	if (rx) {
		kofi_srx_unpost(srx, rx, &due);
		due.run = !list_empty(&srx->deferred);
		rx->spent = true;
		/* Otherwise the last message of the buffer gives it back */
		ends = !rx->nmsgs;
	}
	spin_unlock_irqrestore(&srx->lock, flags);
	if (ends)
		kofi_srx_end_rx(srx, rx, ECANCELED);
	kofi_srx_settle(srx, &due);
	return rx ? 0 : kofi_refuse("cancel", -ENOENT, "no receive that waits has this context");
}
EXPORT_SYMBOL_GPL(kofi_srx_cancel);

/* Discards the messages of an endpoint */
static void kofi_srx_drop(struct kofi_srx *srx, struct kofi_ep *ep)
{
	struct kofi_srx_msg *msg, *next;
	struct kofi_srx_due due;
	unsigned long flags;
	LIST_HEAD(batch);
	bool more;
	int i;

	do {
		kofi_srx_due_init(&due);
		rcu_read_lock();
		spin_lock_irqsave(&srx->lock, flags);
		for (i = 0; i < KOFI_SRX_BATCH && !list_empty(&ep->rx_msgs); i++) {
			msg = list_first_entry(&ep->rx_msgs,
					       struct kofi_srx_msg, of_ep);
			kofi_srx_take_msg(srx, msg, &due);
			list_add_tail(&msg->of_ep, &batch);
		}
		more = !list_empty(&ep->rx_msgs);
		spin_unlock_irqrestore(&srx->lock, flags);
		list_for_each_entry_safe(msg, next, &batch, of_ep) {
			list_del(&msg->of_ep);
			srx->ops->discard(msg);
		}
		kofi_srx_settle(srx, &due);
		rcu_read_unlock();
	} while (more);
}

void kofi_srx_leave(struct kofi_srx *srx, struct kofi_ep *ep)
{
	unsigned long flags;
	bool resume;

	spin_lock_irqsave(&srx->lock, flags);
	ep->rx_left = true;
	resume = kofi_srx_unstall(srx, ~0);
	spin_unlock_irqrestore(&srx->lock, flags);
	if (resume)
		srx->ops->resume(srx);
	kofi_srx_drop(srx, ep);
	synchronize_rcu_expedited();
}
EXPORT_SYMBOL_GPL(kofi_srx_leave);

/* May a receive that is in no list end now?  Otherwise its last message gives it back */
static bool kofi_srx_spend(struct kofi_srx *srx, struct kofi_rx *rx)
{
	unsigned long flags;
	bool ends;

	spin_lock_irqsave(&srx->lock, flags);
	rx->spent = true;
	ends = !rx->nmsgs;
	spin_unlock_irqrestore(&srx->lock, flags);
	return ends;
}

/* The receives of a receive side that has ended, each list in the order of posting */
struct kofi_srx_rest {
	struct kofi_rx		*untagged;
	struct list_head	posted;
	struct list_head	deferred;
};

/* Takes everything that is posted; returns whether ops->resume() is due */
static bool kofi_srx_end(struct kofi_srx *srx, struct kofi_srx_rest *rest)
{
	unsigned long flags;
	bool resume;

	spin_lock_irqsave(&srx->lock, flags);
	srx->ended = true;
	srx->nposted = 0;
	srx->limit = 0;
	rest->untagged = srx->untagged;
	srx->untagged = NULL;
	srx->untagged_tail = &srx->untagged;
	list_replace_init(&srx->posted, &rest->posted);
	list_replace_init(&srx->deferred, &rest->deferred);
	resume = kofi_srx_unstall(srx, ~0);
	spin_unlock_irqrestore(&srx->lock, flags);
	return resume;
}

/* Returns the oldest receive that is left, out of its list, or NULL.  Deferred ones are younger */
static struct kofi_rx *kofi_srx_rest_next(struct kofi_srx_rest *rest)
{
	struct kofi_rx *rx;

	rx = kofi_rx_older(rest->untagged,
			   list_first_entry_or_null(&rest->posted, struct kofi_rx, entry)) ? :
	     list_first_entry_or_null(&rest->deferred, struct kofi_rx, entry);
	if (rx && rx == rest->untagged)
		rest->untagged = rx->next;
	else if (rx)
		list_del(&rx->entry);
	return rx;
}

void kofi_srx_flush(struct kofi_srx *srx, int err)
{
	struct kofi_comp *chain = NULL, **tail = &chain;
	struct kofi_ep *ep = srx->ep;
	struct kofi_srx_rest rest;
	struct kofi_rx *rx;
	u64 counted = 0;

	if (kofi_srx_end(srx, &rest))
		srx->ops->resume(srx);
	while ((rx = kofi_srx_rest_next(&rest))) {
		if (!kofi_srx_spend(srx, rx))
			continue;
		*tail = kofi_rx_refuse(rx, err);
		tail = &(*tail)->next;
		counted++;
	}
	*tail = NULL;
	this_cpu_add(ep->stat->rx_errors, counted);
	if (chain)
		kofi_cq_complete_chain(ep->rx.cq, chain);
	if (counted && ep->cntrs[KOFI_CNTR_RECV])
		kofi_cntr_adderr(ep->cntrs[KOFI_CNTR_RECV], counted);
	kofi_srx_drop(srx, ep);
}
EXPORT_SYMBOL_GPL(kofi_srx_flush);

void kofi_srx_destroy(struct kofi_srx *srx)
{
	struct kofi_srx_rest rest;
	struct kofi_rx *rx;

	kofi_srx_end(srx, &rest);
	/* No call posts any more, so the ready callback is not due */
	kofi_waiter_forget(&srx->ep->rx.room);
	while ((rx = kofi_srx_rest_next(&rest)))
		kofi_rx_put(rx);
	if (srx->ep->conn.eq)
		kofi_eq_withdraw(srx->ep->conn.eq, &srx->limit_event);
	kofi_srx_free(srx);
}
EXPORT_SYMBOL_GPL(kofi_srx_destroy);
