// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Matching receives and messages, include/kofi/srx.h.
 *
 * Life of a receive
 *
 *	free		in kofi_srx.pool
 *	deferred	kofi_srx_post() has accepted it.  kofi_srx_step() looks at deferred
 *			receives in the order of posting: one takes a message that waits, or is
 *	posted		in kofi_srx.untagged; or in kofi_srx.posted, and in the table of receives
 *			or in kofi_srx.wild.  A message may take it, a cancel or a flush may end it
 *	matched		it belongs to the provider, and is in no list
 *	completed	it belongs to the completion queue, until kofi_srx_release()
 *
 * As a rule a receive is deferred within one hold of the lock.  A buffer with FI_MULTI_RECV
 * stays deferred while it takes messages that wait, one with each hold of the lock, and as long
 * as kofi_srx.multi has no object for the next of them.  Receives that are posted meanwhile stay
 * behind the buffer, so that they do not take messages that belong to the buffer.  A message
 * that arrives meanwhile takes a posted receive, which is older, or waits.
 *
 * A buffer with FI_MULTI_RECV is posted, or deferred, as long as it takes messages, and
 * spent afterwards.  Each of its messages is a &struct kofi_rx from kofi_srx.multi, which
 * goes through the states from matched on (rx.c).
 *
 * Life of a message that waits: kofi_srx_arrive() puts it into the table of messages.  A receive
 * (ops->start()), ops->discard() or kofi_srx_withdraw() takes it out of the table and gives it
 * back to the provider.  FI_PEEK with FI_CLAIM gives it another key.  A completion names the
 * sender as it is known when the receive takes the message, not when the message came
 * (kofi_srx_name_sender()).
 *
 * Matching.  An untagged receive is a receive of another kind with tag 0, so one code matches
 * both.  A receive without bits to ignore is in a table under its tag and its sender, or "any
 * sender"; kofi_srx_find_rx() looks for both keys of a message.  Receives with bits to ignore
 * are in a list.  kofi_srx_find_rx() walks the list until a receive matches, or until the rest
 * is younger than the receive that the table has.  A message that waits is in a table under both
 * of its keys, as a receive looks for one of them, and in a list for receives with bits to
 * ignore.
 *
 * What may run at the same time
 *
 * All steps of a match are made under kofi_srx.lock, so a message and a receive that meet find
 * each other: whichever comes second sees the first.  Completions, calls of the provider and
 * copies are made after the lock has been released, by the task that has taken the receive or
 * the message out of the lists.  A cancel, flush or withdraw that comes then does not find it
 * any more:
 *
 *	post and arrive		one of the two takes the other
 *	cancel and arrive	the receive is cancelled, or it takes the message
 *	cancel and start	the receive is matched already; -ENOENT
 *	flush and post		kofi_srx.ended: the receive is flushed, or it is refused
 *	flush and arrive	the message takes a receive before it is flushed, or is refused
 *	leave and arrive	kofi_ep.rx_left: the message is discarded, or it is refused
 *	leave and start		kofi_srx_leave() waits for an RCU grace period.  From the
 *				time a message leaves the table until ops->start(),
 *				ops->discard() or the completion that concerns its endpoint
 *				has been made, the task is in an RCU read-side section
 *	withdraw and start	as leave and start
 *	destroy and release	kofi_bufpool_drain() waits for releases under way
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <kofi/pages.h>
#include <kofi/provider.h>
#include "srx.h"

void kofi_srx_due_init(struct kofi_srx_due *due)
{
	*due = (struct kofi_srx_due) {};
	INIT_LIST_HEAD(&due->spent);
}

static void kofi_srx_run(struct kofi_srx *srx);

/* Finish what was decided under the lock, which is not held any more */
void kofi_srx_settle(struct kofi_srx *srx, struct kofi_srx_due *due)
{
	struct kofi_rx *buf, *next;

	if (due->rx)
		srx->ops->start(due->rx, due->msg);
	list_for_each_entry_safe(buf, next, &due->spent, entry) {
		list_del(&buf->entry);
		kofi_rx_give_back(buf, due->ep);
	}
	if (unlikely(due->run))
		kofi_srx_run(srx);
	if (unlikely(due->limit))
		kofi_eq_post(srx->ep->conn.eq, &srx->limit_event);
	if (unlikely(due->resume))
		srx->ops->resume(srx);
}

/* Is ops->resume() due, because one of @reasons to wait is gone? */
bool kofi_srx_unstall(struct kofi_srx *srx, u32 reasons)
{
	lockdep_assert_held(&srx->lock);
	if (likely(!(srx->stalled & reasons)))
		return false;
	srx->stalled = 0;
	return true;
}

static bool kofi_rx_is_directed(const struct kofi_rx *rx)
{
	return !kofi_rx_is_wild(rx) && rx->link.key.src != FI_ADDR_UNSPEC;
}

/* Posts a receive, in no list, that matches none of the messages that wait */
static __always_inline void kofi_srx_enqueue(struct kofi_srx *srx, struct kofi_rx *rx)
{
	lockdep_assert_held(&srx->lock);
	rx->seq = srx->next_seq++;
	if (likely(kofi_rx_is_listed(rx))) {
		kofi_srx_list(srx, rx);
		return;
	}
	list_add_tail(&rx->entry, &srx->posted);
	rx->linked = true;
	srx->ndirected += kofi_rx_is_directed(rx);
	if (kofi_rx_is_wild(rx))
		list_add_tail(&rx->link.same, &srx->wild);
	else
		kofi_srx_link(srx, &srx->receives, &rx->link);
}

/* Takes a receive out of all lists */
void kofi_srx_unpost(struct kofi_srx *srx, struct kofi_rx *rx,
		     struct kofi_srx_due *due)
{
	struct kofi_rx **at = &srx->untagged;

	lockdep_assert_held(&srx->lock);
	if (rx->listed) {
		/* A message takes the first, a cancel has walked already */
		while (*at != rx)
			at = &(*at)->next;
		kofi_srx_unlist(srx, at);
	} else {
		list_del(&rx->entry);
	}
	if (rx->linked) {
		kofi_srx_unlink(&rx->link);
		srx->ndirected -= kofi_rx_is_directed(rx);
		rx->linked = false;
	}
	/* A message may have waited for a completion to take this buffer with */
	if (unlikely(kofi_rx_is_multi(rx)))
		due->resume |= kofi_srx_unstall(srx, KOFI_SRX_NO_MULTI);
	if (--srx->nposted < srx->limit) {
		srx->limit = 0;
		due->limit = true;
	}
}

/* The two keys of a message */
struct kofi_srx_keys {
	struct kofi_srx_key	any;
	struct kofi_srx_key	from;
};

static void kofi_srx_keys_set(const struct kofi_srx *srx,
			      struct kofi_srx_keys *keys,
			      const struct kofi_srx_arrival *what)
{
	u32 kind = what->flags & FI_TAGGED ? KOFI_SRX_TAGGED : KOFI_SRX_UNTAGGED;

	if (kind == KOFI_SRX_UNTAGGED) {
		kofi_srx_key_set_untagged(&keys->any, FI_ADDR_UNSPEC);
		kofi_srx_key_set_untagged(&keys->from, srx->directed ? what->src_addr :
							      FI_ADDR_UNSPEC);
		return;
	}
	kofi_srx_key_set(srx, &keys->any, kind, what->tag, FI_ADDR_UNSPEC);
	keys->from.src = FI_ADDR_UNSPEC;
	if (srx->directed && what->src_addr != FI_ADDR_UNSPEC)
		kofi_srx_key_set(srx, &keys->from, kind, what->tag, what->src_addr);
}

/* Is the sender unknown, and may the client insert its address later? */
static bool kofi_srx_is_stranger(const struct kofi_srx *srx, const struct kofi_srx_arrival *what)
{
	return srx->directed && what->src_addr == FI_ADDR_NOTAVAIL && srx->ops->sender;
}

/* Would its completion name the sender, if the client had inserted its address? */
static bool kofi_srx_is_unnamed(const struct kofi_srx *srx, const struct kofi_srx_arrival *what)
{
	return what->ep->caps & FI_SOURCE && what->source == FI_ADDR_NOTAVAIL && srx->ops->sender;
}

static struct kofi_rx *kofi_srx_find_exact(struct kofi_srx *srx,
					   const struct kofi_srx_key *key)
{
	struct kofi_srx_link *link = kofi_srx_find(srx, &srx->receives, key);

	return link ? container_of(link, struct kofi_rx, link) : NULL;
}

/* Does a receive match a tagged message? */
static bool kofi_rx_matches(struct kofi_srx *srx, const struct kofi_rx *rx,
			    const struct kofi_srx_arrival *what)
{
	srx->compared++;
	return !((rx->link.key.tag ^ what->tag) & ~rx->ignore) &&
	       (rx->link.key.src == FI_ADDR_UNSPEC ||
		rx->link.key.src == what->src_addr);
}

struct kofi_rx *kofi_rx_older(struct kofi_rx *a, struct kofi_rx *b)
{
	if (!a || !b)
		return a ? : b;
	return a->seq < b->seq ? a : b;
}

/* The oldest posted receive that matches a message, or NULL */
static struct kofi_rx *kofi_srx_find_rx(struct kofi_srx *srx,
					const struct kofi_srx_keys *keys,
					const struct kofi_srx_arrival *what)
{
	struct kofi_rx *rx, *wild;

	lockdep_assert_held(&srx->lock);
	if (keys->any.kind == KOFI_SRX_UNTAGGED)
		rx = srx->untagged;
	else
		rx = kofi_srx_find_exact(srx, &keys->any);
	if (srx->ndirected && keys->from.src != FI_ADDR_UNSPEC)
		rx = kofi_rx_older(rx, kofi_srx_find_exact(srx, &keys->from));
	if (keys->any.kind != KOFI_SRX_TAGGED)
		return rx;
	list_for_each_entry(wild, &srx->wild, link.same) {
		if (rx && rx->seq < wild->seq)
			break;
		if (kofi_rx_matches(srx, wild, what))
			return wild;
	}
	return rx;
}

/*
 * A client may insert the address of a sender whose messages wait already.  Such messages get
 * their place among those of the sender before a receive that names a sender looks for one, and
 * before a younger message of a known sender is queued: so the sender's order stays.
 *
 * Peers that the client does not know decide how many messages wait in vain.  So this looks at
 * all of them only once after the client has inserted an address: a message that comes later was
 * looked up later (kofi_srx_arrive()).
 */
static void kofi_srx_recognize(struct kofi_srx *srx)
{
	unsigned long changes = srx->ops->changes(srx);
	struct kofi_srx_msg *msg, *next;
	fi_addr_t src, source;

	lockdep_assert_held(&srx->lock);
	if (likely(changes == srx->looked_up))
		return;
	srx->looked_up = changes;
	list_for_each_entry_safe(msg, next, &srx->strangers, stranger) {
		srx->compared++;
		srx->ops->sender(msg, &src, &source);
		if (src == FI_ADDR_NOTAVAIL)
			continue;
		list_del_init(&msg->stranger);
		msg->what.src_addr = src;
		kofi_srx_key_set(srx, &msg->from.key, msg->any.key.kind, msg->any.key.tag, src);
		kofi_srx_link(srx, &srx->messages, &msg->from);
	}
}

void kofi_srx_forget(struct kofi_srx *srx, fi_addr_t addr)
{
	struct kofi_srx_msg *msg;
	unsigned long flags;

	spin_lock_irqsave(&srx->lock, flags);
	/* In the order of arrival, so the order of each sender stays */
	list_for_each_entry(msg, &srx->ep->rx_msgs, of_ep) {
		if (msg->what.source == addr)
			msg->what.source = FI_ADDR_NOTAVAIL;
		if (msg->what.src_addr != addr)
			continue;
		msg->what.src_addr = FI_ADDR_NOTAVAIL;
		if (msg->any.key.kind == KOFI_SRX_CLAIMED)
			continue;
		kofi_srx_unlink(&msg->from);
		if (kofi_srx_is_stranger(srx, &msg->what))
			list_add_tail(&msg->stranger, &srx->strangers);
	}
	spin_unlock_irqrestore(&srx->lock, flags);
}
EXPORT_SYMBOL_GPL(kofi_srx_forget);

/* Look up the sender that a completion names, if it was unknown when the message came */
void kofi_srx_name_sender(struct kofi_srx *srx, struct kofi_srx_msg *msg)
{
	fi_addr_t src;

	lockdep_assert_held(&srx->lock);
	if (unlikely(msg->what.source == FI_ADDR_NOTAVAIL) && srx->ops->sender)
		srx->ops->sender(msg, &src, &msg->what.source);
}

/* The oldest waiting message that matches a receive, or NULL */
struct kofi_srx_msg *kofi_srx_find_msg(struct kofi_srx *srx,
				       const struct kofi_rx *rx)
{
	struct kofi_srx_link *link;
	struct kofi_srx_msg *msg;

	lockdep_assert_held(&srx->lock);
	if (rx->link.key.src != FI_ADDR_UNSPEC && !list_empty(&srx->strangers))
		kofi_srx_recognize(srx);
	if (kofi_rx_is_wild(rx)) {
		list_for_each_entry(msg, &srx->order, order)
			if (kofi_rx_matches(srx, rx, &msg->what))
				return msg;
		return NULL;
	}
	if (!srx->nmsgs)
		return NULL;
	link = kofi_srx_find(srx, &srx->messages, &rx->link.key);
	if (!link)
		return NULL;
	return kofi_rx_is_directed(rx) ?
	       container_of(link, struct kofi_srx_msg, from) :
	       container_of(link, struct kofi_srx_msg, any);
}

/* Makes a message wait */
static void kofi_srx_queue_msg(struct kofi_srx *srx, struct kofi_srx_msg *msg,
			       const struct kofi_srx_keys *keys)
{
	lockdep_assert_held(&srx->lock);
	kofi_srx_link_init(&msg->any);
	kofi_srx_link_init(&msg->from);
	INIT_LIST_HEAD(&msg->order);
	INIT_LIST_HEAD(&msg->stranger);
	msg->any.key = keys->any;
	kofi_srx_link(srx, &srx->messages, &msg->any);
	msg->from.key = keys->from;
	if (kofi_srx_is_stranger(srx, &msg->what))
		list_add_tail(&msg->stranger, &srx->strangers);
	else if (keys->from.src != FI_ADDR_UNSPEC)
		kofi_srx_link(srx, &srx->messages, &msg->from);
	if (keys->any.kind == KOFI_SRX_TAGGED)
		list_add_tail(&msg->order, &srx->order);
	list_add_tail(&msg->of_ep, &msg->what.ep->rx_msgs);
	msg->queued = true;
	srx->nmsgs++;
}

/* Takes a message out of all lists */
void kofi_srx_take_msg(struct kofi_srx *srx, struct kofi_srx_msg *msg,
		       struct kofi_srx_due *due)
{
	lockdep_assert_held(&srx->lock);
	kofi_srx_unlink(&msg->any);
	kofi_srx_unlink(&msg->from);
	list_del_init(&msg->order);
	list_del_init(&msg->stranger);
	list_del(&msg->of_ep);
	msg->queued = false;
	srx->nmsgs--;
	/* The oldest deferred receive may be deferred because of this message */
	due->run = !list_empty(&srx->deferred);
	due->resume |= kofi_srx_unstall(srx, KOFI_SRX_NO_ROOM);
}

/*
 * Has the client removed the sender's address since the provider has looked it up?  Then
 * kofi_srx_forget() has not seen the message, and the address may become that of another sender.
 * An address that is removed later has its call of kofi_srx_forget() behind this one.
 */
static bool kofi_srx_sender_left(struct kofi_srx *srx, const struct kofi_srx_arrival *what,
				 const struct kofi_srx_msg *msg)
{
	fi_addr_t src_addr, source;

	lockdep_assert_held(&srx->lock);
	if (!srx->ops->sender ||
	    (what->src_addr == FI_ADDR_NOTAVAIL && what->source == FI_ADDR_NOTAVAIL))
		return false;
	srx->ops->sender(msg, &src_addr, &source);
	return src_addr != what->src_addr || source != what->source;
}

/* -ESTALE: the sender is to be looked up again */
static int kofi_srx_match(struct kofi_srx *srx,
			  const struct kofi_srx_keys *keys,
			  const struct kofi_srx_arrival *what,
			  struct kofi_srx_msg *msg, struct kofi_rx **rx,
			  struct kofi_srx_due *due)
{
	struct kofi_rx *posted;

	lockdep_assert_held(&srx->lock);
	if (unlikely(srx->ended || what->ep->rx_left))
		return -ESHUTDOWN;
	while ((posted = kofi_srx_find_rx(srx, keys, what))) {
		*rx = kofi_rx_take(posted, what, due);
		if (IS_ERR(*rx)) {
			srx->stalled |= KOFI_SRX_NO_MULTI;
			return PTR_ERR(*rx);
		}
		if (*rx)
			return KOFI_SRX_MATCHED;
		/* The message did not fit into the rest of a buffer, which is spent now */
	}
	if (!msg) {
		srx->stalled |= BIT(keys->any.kind);
		return -EAGAIN;
	}
	if (srx->nmsgs >= srx->max_msgs) {
		srx->stalled |= BIT(keys->any.kind) | KOFI_SRX_NO_ROOM;
		return -EAGAIN;
	}
	if (kofi_srx_sender_left(srx, what, msg))
		return -ESTALE;
	msg->what = *what;
	kofi_srx_queue_msg(srx, msg, keys);
	return KOFI_SRX_QUEUED;
}

/* As kofi_srx_arrive() */
static int kofi_srx_arrive_any(struct kofi_srx *srx, const struct kofi_srx_arrival *what,
			       struct kofi_srx_msg *msg, struct kofi_rx **rx)
{
	struct kofi_srx_arrival known;
	struct kofi_srx_keys keys;
	struct kofi_srx_due due;
	unsigned long flags;
	int ret;

	kofi_srx_due_init(&due);
	kofi_srx_keys_set(srx, &keys, what);
	spin_lock_irqsave(&srx->lock, flags);
	/*
	 * Since the provider has looked for the sender, the client may have inserted its address
	 * and posted a receive that names it
	 */
	if (unlikely(msg && (kofi_srx_is_stranger(srx, what) || kofi_srx_is_unnamed(srx, what)))) {
		known = *what;
		srx->ops->sender(msg, &known.src_addr, &known.source);
		what = &known;
		kofi_srx_keys_set(srx, &keys, what);
	}
	if (unlikely(!list_empty(&srx->strangers) && !kofi_srx_is_stranger(srx, what)))
		kofi_srx_recognize(srx);
	ret = kofi_srx_match(srx, &keys, what, msg, rx, &due);
	while (unlikely(ret == -ESTALE)) {
		known = *what;
		srx->ops->sender(msg, &known.src_addr, &known.source);
		what = &known;
		kofi_srx_keys_set(srx, &keys, what);
		ret = kofi_srx_match(srx, &keys, what, msg, rx, &due);
	}
	spin_unlock_irqrestore(&srx->lock, flags);
	kofi_srx_settle(srx, &due);
	return ret;
}

struct kofi_rx *kofi_srx_arrive_plain(struct kofi_srx *srx, const struct kofi_srx_arrival *what)
{
	struct kofi_rx *rx;
	unsigned long flags;

	spin_lock_irqsave(&srx->lock, flags);
	rx = kofi_srx_take_listed(srx, what->ep);
	spin_unlock_irqrestore(&srx->lock, flags);
	if (likely(rx))
		kofi_rx_fill(rx, what, rx->iov.len);
	return rx;
}
EXPORT_SYMBOL_GPL(kofi_srx_arrive_plain);

int kofi_srx_arrive(struct kofi_srx *srx, const struct kofi_srx_arrival *what,
		    struct kofi_srx_msg *msg, struct kofi_rx **rx)
{
	if (likely(!(what->flags & FI_TAGGED) && !(msg && kofi_srx_is_unnamed(srx, what)))) {
		*rx = kofi_srx_arrive_plain(srx, what);
		if (likely(*rx))
			return KOFI_SRX_MATCHED;
	}
	return kofi_srx_arrive_any(srx, what, msg, rx);
}
EXPORT_SYMBOL_GPL(kofi_srx_arrive);

/* The oldest deferred receive that matches an operation and that no waiting message takes */
static struct kofi_rx *kofi_srx_find_deferred(struct kofi_srx *srx,
					      const struct kofi_srx_arrival *what)
{
	struct kofi_rx *rx;

	lockdep_assert_held(&srx->lock);
	list_for_each_entry(rx, &srx->deferred, entry)
		if (rx->link.key.kind == KOFI_SRX_TAGGED && kofi_rx_matches(srx, rx, what) &&
		    !kofi_srx_find_msg(srx, rx))
			return rx;
	return NULL;
}

/* May peers access receives of the endpoint so? */
static bool kofi_srx_allows(const struct kofi_srx_arrival *what)
{
	u64 access = what->flags & FI_READ ? FI_REMOTE_READ : FI_REMOTE_WRITE;
	u64 caps = what->ep->caps;

	/* RMA without a direction means all directions */
	if (!(caps & (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)))
		caps |= access;
	return caps & FI_TAGGED_RMA && caps & access;
}

int kofi_srx_take(struct kofi_srx *srx, const struct kofi_srx_arrival *what, struct kofi_rx **rx)
{
	struct kofi_srx_keys keys;
	struct kofi_srx_due due;
	struct kofi_rx *found;
	unsigned long flags;
	int ret = -ENOMSG;

	if (!kofi_srx_allows(what))
		return -EACCES;
	kofi_srx_due_init(&due);
	kofi_srx_keys_set(srx, &keys, what);
	spin_lock_irqsave(&srx->lock, flags);
	if (unlikely(srx->ended || what->ep->rx_left)) {
		ret = -ESHUTDOWN;
	} else {
		found = kofi_srx_find_rx(srx, &keys, what) ? : kofi_srx_find_deferred(srx, what);
		if (found && !kofi_rx_is_multi(found)) {
			*rx = kofi_rx_take(found, what, &due);
			ret = 0;
		}
	}
	spin_unlock_irqrestore(&srx->lock, flags);
	kofi_srx_settle(srx, &due);
	if (ret || kofi_rx_len(*rx) == what->len)
		return ret;
	kofi_rx_fail(*rx, 0, EMSGSIZE, EMSGSIZE);
	return -EMSGSIZE;
}
EXPORT_SYMBOL_GPL(kofi_srx_take);

/* Looks at the oldest deferred receive; due->run says whether another look is worth it */
static void kofi_srx_step(struct kofi_srx *srx, struct kofi_srx_due *due)
{
	struct kofi_srx_msg *msg;
	struct kofi_rx *rx;

	lockdep_assert_held(&srx->lock);
	rx = list_first_entry_or_null(&srx->deferred, struct kofi_rx, entry);
	if (!rx)
		return;
	msg = kofi_srx_find_msg(srx, rx);
	if (likely(!msg)) {
		list_del(&rx->entry);
		kofi_srx_enqueue(srx, rx);
		due->resume |= kofi_srx_unstall(srx, BIT(rx->link.key.kind));
	} else {
		kofi_srx_name_sender(srx, msg);
		rx = kofi_rx_take(rx, &msg->what, due);
		if (IS_ERR(rx))
			return;
		if (rx) {
			kofi_srx_take_msg(srx, msg, due);
			due->rx = rx;
			due->msg = msg;
		}
	}
	due->run = !list_empty(&srx->deferred);
}

/* Looks at deferred receives until another look is not worth it */
static void kofi_srx_run(struct kofi_srx *srx)
{
	struct kofi_srx_due due;
	unsigned long flags;
	bool more;

	do {
		kofi_srx_due_init(&due);
		rcu_read_lock();
		spin_lock_irqsave(&srx->lock, flags);
		kofi_srx_step(srx, &due);
		spin_unlock_irqrestore(&srx->lock, flags);
		more = due.run;
		due.run = false;
		kofi_srx_settle(srx, &due);
		rcu_read_unlock();
	} while (more);
}

/* kofi_srx.multi has an object again, so a buffer with FI_MULTI_RECV can take a message */
void kofi_srx_multi_refilled(struct kofi_bufpool *pool)
{
	struct kofi_srx *srx = container_of(pool, struct kofi_srx, multi);
	unsigned long flags;
	bool resume;

	kofi_srx_run(srx);
	spin_lock_irqsave(&srx->lock, flags);
	resume = kofi_srx_unstall(srx, KOFI_SRX_NO_MULTI);
	spin_unlock_irqrestore(&srx->lock, flags);
	if (resume)
		srx->ops->resume(srx);
}

static int kofi_srx_post_rx(struct kofi_srx *srx, struct kofi_rx *rx)
{
	struct kofi_srx_due due;
	unsigned long flags;
	int ret = 0;

	kofi_srx_due_init(&due);
	rcu_read_lock();
	spin_lock_irqsave(&srx->lock, flags);
	if (unlikely(srx->ended)) {
		ret = -ESHUTDOWN;
		goto unlock;
	}
	srx->nposted++;
	kofi_ep_posted(srx->ep, rx->comp.comp.flags, rx->comp.comp.op_context, rx->iov.len);
	if (likely(!srx->nmsgs && list_empty(&srx->deferred))) {
		/* There is no message that the receive could take */
		kofi_srx_enqueue(srx, rx);
		due.resume = kofi_srx_unstall(srx, BIT(rx->link.key.kind));
	} else {
		list_add_tail(&rx->entry, &srx->deferred);
		kofi_srx_step(srx, &due);
	}
unlock:
	spin_unlock_irqrestore(&srx->lock, flags);
	kofi_srx_settle(srx, &due);
	rcu_read_unlock();
	return ret;
}

ssize_t kofi_srx_post_buf(struct kofi_srx *srx, void *buf, size_t len, void *desc,
			  fi_addr_t src_addr, void *context)
{
	struct kofi_ep *ep = srx->ep;
	u64 flags = kofi_ep_flags(&ep->rx, READ_ONCE(ep->rx.op_flags));
	unsigned long irq_flags;
	struct kofi_rx *rx;

	if (unlikely(flags & ~FI_COMPLETION || (srx->directed && src_addr != FI_ADDR_UNSPEC) ||
		     !len || !srx->iov_limit || !kofi_is_ram(buf, len)))
		goto describe;
	spin_lock_irqsave(&srx->lock, irq_flags);
	/* A message may take it at once, somebody has to be called, or there is no object */
	if (unlikely(srx->ended || srx->nmsgs || srx->stalled || !list_empty(&srx->deferred) ||
		     !srx->pool.nfree))
		goto unlock;
	rx = kofi_bufpool_get_locked(&srx->pool);
	kofi_rx_begin_buf(rx, ep, flags, buf, context);
	kofi_iov_set_buf(&rx->iov, buf, len);
	kofi_ep_posted(ep, FI_MSG | FI_RECV, context, len);
	srx->nposted++;
	rx->seq = srx->next_seq++;
	kofi_srx_list(srx, rx);
	spin_unlock_irqrestore(&srx->lock, irq_flags);
	return 0;

unlock:
	spin_unlock_irqrestore(&srx->lock, irq_flags);
describe:
	return kofi_xfer_recv(&ep->ep, buf, len, desc, src_addr, context);
}
EXPORT_SYMBOL_GPL(kofi_srx_post_buf);

static int kofi_srx_check_flags(const struct kofi_srx *srx,
				const struct fi_xfer *xfer, u64 flags)
{
	switch (flags & (FI_PEEK | FI_CLAIM | FI_DISCARD)) {
	case 0:
		return flags & FI_MULTI_RECV && !srx->multi.count ?
		       -FI_EBADFLAGS : 0;
	case FI_DISCARD:
	case FI_PEEK | FI_CLAIM | FI_DISCARD:
		return -FI_EBADFLAGS;
	default:
		return xfer->type != FI_OP_TRECV || flags & FI_MULTI_RECV ?
		       -FI_EBADFLAGS : 0;
	}
}

ssize_t kofi_srx_post(struct kofi_srx *srx, const struct fi_xfer *xfer, u64 flags)
{
	struct kofi_rx *rx;
	int ret;

	ret = kofi_srx_check_flags(srx, xfer, flags);
	if (ret)
		return ret;
	if (flags & FI_CLAIM && !xfer->context)
		return -EINVAL;
	rx = kofi_rx_get(srx, xfer, flags);
	if (!rx)
		return -EAGAIN;

	if (flags & FI_PEEK) {
		ret = kofi_srx_peek(srx, rx, xfer->context);
	} else if (flags & FI_CLAIM) {
		ret = kofi_srx_claim(srx, rx, xfer);
	} else {
		ret = kofi_rx_set_list(rx, xfer);
		if (!ret)
			ret = kofi_srx_post_rx(srx, rx);
	}
	if (ret)
		kofi_rx_put(rx);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_srx_post);
