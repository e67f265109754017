// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * FI_PEEK, FI_CLAIM and FI_DISCARD: looking at messages that wait.
 *
 * A peek uses the object of a receive for its completion and is never posted.  A message
 * that is claimed gets the client's context as its key, so that other receives and peeks
 * do not find it, and the receive with FI_CLAIM does.  A context may have claimed several
 * messages; the oldest claim comes first.
 *
 * Completions of this file are for the endpoint of the message.  That endpoint may be closing
 * while its shared receive context is used.  So kofi_srx_leave() waits for the RCU read-side
 * sections here, before the endpoint purges its queue.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include "srx.h"

/* Makes a completion that describes a message */
static void kofi_srx_describe(struct kofi_rx *rx, const struct kofi_srx_msg *msg)
{
	const struct kofi_srx_arrival *what = &msg->what;
	struct kofi_comp *comp = &rx->comp.comp;

	rx->ep = what->ep;
	comp->len = what->len;
	if (rx->flags & FI_PEEK) {
		comp->flags |= what->flags;
		comp->data = what->data;
	}
	comp->op_context = kofi_ep_context(rx->ep, &rx->ep->rx,
					   comp->op_context);
	rx->comp.msg.tag = what->tag;
	rx->comp.msg.src_addr = what->source;
}

static void kofi_srx_claim_msg(struct kofi_srx *srx, struct kofi_srx_msg *msg,
			       void *context, struct kofi_srx_due *due)
{
	lockdep_assert_held(&srx->lock);
	kofi_srx_unlink(&msg->any);
	kofi_srx_unlink(&msg->from);
	list_del_init(&msg->order);
	list_del_init(&msg->stranger);
	kofi_srx_key_set(srx, &msg->any.key, KOFI_SRX_CLAIMED,
			 (uintptr_t)context, FI_ADDR_UNSPEC);
	kofi_srx_link(srx, &srx->messages, &msg->any);
	/* As in kofi_srx_take_msg() */
	due->run = !list_empty(&srx->deferred);
}

bool kofi_srx_move_claimed(struct kofi_srx *srx, struct kofi_srx_msg *msg,
			   struct kofi_srx_msg *to)
{
	unsigned long flags;
	bool move;

	spin_lock_irqsave(&srx->lock, flags);
	move = msg->queued && msg->any.key.kind == KOFI_SRX_CLAIMED;
	if (move) {
		to->what = msg->what;
		kofi_srx_link_init(&to->any);
		kofi_srx_link_init(&to->from);
		INIT_LIST_HEAD(&to->order);
		INIT_LIST_HEAD(&to->stranger);
		/* At the place of @msg, as the oldest claim of a context comes first */
		to->any.key = msg->any.key;
		if (!hlist_unhashed(&msg->any.node)) {
			hlist_add_behind(&to->any.node, &msg->any.node);
			hlist_del_init(&msg->any.node);
		}
		list_replace_init(&msg->any.same, &to->any.same);
		list_replace(&msg->of_ep, &to->of_ep);
		to->queued = true;
		msg->queued = false;
	}
	spin_unlock_irqrestore(&srx->lock, flags);
	return move;
}
EXPORT_SYMBOL_GPL(kofi_srx_move_claimed);

/* Completes a peek, or the discard of a claimed message, and does what is due */
static void kofi_srx_answer(struct kofi_srx *srx, struct kofi_rx *rx,
			    struct kofi_srx_msg *discarded,
			    struct kofi_srx_due *due)
{
	if (kofi_ep_flags(&rx->ep->rx, rx->flags) & (FI_PEEK | FI_COMPLETION))
		kofi_cq_complete(rx->ep->rx.cq, &rx->comp.comp);
	else
		kofi_rx_put(rx);
	if (discarded)
		srx->ops->discard(discarded);
	kofi_srx_settle(srx, due);
}

/* Returns an error if there is nothing to complete; the caller then keeps @rx */
int kofi_srx_peek(struct kofi_srx *srx, struct kofi_rx *rx, void *context)
{
	struct kofi_srx_msg *msg = NULL, *discarded = NULL;
	struct kofi_srx_due due;
	unsigned long flags;
	int ret = 0;

	kofi_srx_due_init(&due);
	rcu_read_lock();
	spin_lock_irqsave(&srx->lock, flags);
	if (srx->ended)
		ret = -ESHUTDOWN;
	else
		msg = kofi_srx_find_msg(srx, rx);
	if (msg) {
		kofi_srx_name_sender(srx, msg);
		kofi_srx_describe(rx, msg);
		if (rx->flags & FI_CLAIM) {
			kofi_srx_claim_msg(srx, msg, context, &due);
		} else if (rx->flags & FI_DISCARD) {
			kofi_srx_take_msg(srx, msg, &due);
			discarded = msg;
		}
	} else if (!ret && kofi_srx_is_shared(srx)) {
		ret = -ENOMSG;
	}
	spin_unlock_irqrestore(&srx->lock, flags);
	if (!ret) {
		if (!msg)
			kofi_rx_refuse(rx, ENOMSG);
		kofi_srx_answer(srx, rx, discarded, &due);
	}
	rcu_read_unlock();
	return ret;
}

static struct kofi_srx_msg *kofi_srx_find_claimed(struct kofi_srx *srx,
						  void *context)
{
	struct kofi_srx_link *link;
	struct kofi_srx_key key;

	lockdep_assert_held(&srx->lock);
	kofi_srx_key_set(srx, &key, KOFI_SRX_CLAIMED, (uintptr_t)context,
			 FI_ADDR_UNSPEC);
	link = kofi_srx_find(srx, &srx->messages, &key);
	return link ? container_of(link, struct kofi_srx_msg, any) : NULL;
}

/* Returns an error if there is nothing to complete; the caller then keeps @rx */
int kofi_srx_claim(struct kofi_srx *srx, struct kofi_rx *rx,
		   const struct fi_xfer *xfer)
{
	bool discard = rx->flags & FI_DISCARD;
	struct kofi_srx_msg *msg = NULL;
	struct kofi_srx_due due;
	unsigned long flags;
	int ret = 0;

	if (!discard)
		ret = kofi_rx_set_list(rx, xfer);
	if (ret)
		return ret;

	kofi_srx_due_init(&due);
	rcu_read_lock();
	spin_lock_irqsave(&srx->lock, flags);
	if (srx->ended)
		ret = -ESHUTDOWN;
	else
		msg = kofi_srx_find_claimed(srx, xfer->context);
	if (msg) {
		kofi_srx_name_sender(srx, msg);
		kofi_srx_take_msg(srx, msg, &due);
		if (discard) {
			kofi_srx_describe(rx, msg);
		} else {
			kofi_rx_fill(rx, &msg->what, rx->iov.len);
			due.rx = rx;
			due.msg = msg;
		}
	} else if (!ret) {
		ret = -EINVAL;
	}
	spin_unlock_irqrestore(&srx->lock, flags);
	if (discard && msg)
		kofi_srx_answer(srx, rx, msg, &due);
	else
		kofi_srx_settle(srx, &due);
	rcu_read_unlock();
	return ret;
}
