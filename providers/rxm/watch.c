// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a peer has begun, or owes, has to end, though the lower connection stands:
 *
 *	a segmented message	each segment comes within message_timeout behind the one before,
 *				and, once message_timeout is over, message_rate on average
 *	an atomic operation	its response comes within this time
 *	RXM_WIRE_LEAVE		the peer closes the connection, or answers, within this time
 *	a message on offer	that is read here: each read completes within this time behind
 *				the one before, and, once message_timeout is over, reads of the
 *				connection have brought message_rate on average
 *	a message that is written here: the peer says that it has been within this time for
 *				each RXM_WRITE_PACE bytes, those written before it among them
 *
 * Otherwise the connection ends.  A response, what is read, or the end of a write may be behind a
 * packet that waits for a receive here, and has RXM_BEHIND times as long then.  A segment has not:
 * neither libfabric nor kofi_rxm begins another message before the last segment has been sent, so
 * only a peer that wants to keep the receive has its segments wait behind such a packet.
 *
 * Messages without a receive that are kept outlive their connection.  If the connection ended
 * longer ago than message_timeout, and a message of the address, or of one that has less, finds no
 * room, they are dropped.  A message that finds no memory is looked at again, too.
 *
 * A message that this end offers may wait for its receive at the peer as long as the connection
 * stands, and so may one that waits below.
 *
 * rxm_ep.cm looks RXM_WATCH apart, as long as there is something.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include "rxm.h"

#define RXM_BEHIND	5

static struct kofi_param message_timeout = { .value = 60, .min = 5, .max = 3600 };
module_param_cb(message_timeout, &kofi_param_ops, &message_timeout, 0644);
MODULE_PARM_DESC(message_timeout, "seconds within which the next segment of a message must come, the response to an atomic operation, what is read or written of a message on offer, or the answer of an idle peer, 5 to 3600 (default 60)");

static struct kofi_param message_rate = { .value = 16, .max = SZ_1M };
module_param_cb(message_rate, &kofi_param_ops, &message_rate, 0644);
__MODULE_PARM_TYPE(message_rate, "uint");
MODULE_PARM_DESC(message_rate, "KiB of a message in segments, or on offer, that have to come in each second after message_timeout, on average, at most 1048576; 0: there is no limit (default 16)");

/**
 * rxm_watch_begin() - Something has begun that has to end
 * @ep: the endpoint
 *
 * Context: any, with kofi_soft_ep.lock held.
 */
void rxm_watch_begin(struct rxm_ep *ep)
{
	lockdep_assert_held(&ep->soft.lock);
	if (ep->watched)
		return;
	ep->watched = true;
	rxm_watch_later(ep, RXM_WATCH);
}

/**
 * rxm_watch_due() - Have rxm_ep.cm call rxm_watch()
 * @work: rxm_ep.watch
 *
 * Context: may sleep.
 */
void rxm_watch_due(struct work_struct *work)
{
	rxm_cm_kick(container_of(to_delayed_work(work), struct rxm_ep, watch));
}

/**
 * rxm_is_overdue() - Return true if something is longer ago than message_timeout
 * @since: jiffies when it was
 *
 * Context: any.
 * Return: whether it is.
 */
bool rxm_is_overdue(unsigned long since)
{
	return time_after(jiffies, since + READ_ONCE(message_timeout.value) * HZ);
}

/**
 * rxm_is_slow() - Return true if a message has come too slowly up to now
 * @since: jiffies when it began
 * @bytes: bytes that have come
 *
 * Context: any.
 * Return: whether it has.
 */
bool rxm_is_slow(unsigned long since, u64 bytes)
{
	return kofi_peer_is_slow(since, bytes, READ_ONCE(message_timeout.value) * HZ,
				 READ_ONCE(message_rate.value));
}

/**
 * rxm_is_read_slow() - Return true if a message has been read too slowly up to now
 * @conn: the connection
 * @rndv: the message, of which a read has completed
 *
 * Reads of other messages are before its own, so what they have brought counts, too.
 *
 * Context: any, with kofi_soft_ep.lock held.
 * Return: whether it has.
 */
bool rxm_is_read_slow(const struct rxm_conn *conn, const struct rxm_rndv *rndv)
{
	unsigned long timeout = READ_ONCE(message_timeout.value) * HZ;
	u32 rate = READ_ONCE(message_rate.value);

	lockdep_assert_held(&conn->ep->soft.lock);
	if (READ_ONCE(conn->stuck) || time_after(READ_ONCE(conn->resumed), rndv->since)) {
		timeout *= RXM_BEHIND;
		rate = DIV_ROUND_UP(rate, RXM_BEHIND);
	}
	return kofi_peer_is_slow(rndv->since, conn->read_bytes - rndv->before, timeout, rate);
}

/* Is something late that may be behind a packet that waits? */
static bool rxm_is_late(const struct rxm_conn *conn, unsigned long since)
{
	unsigned long timeout = READ_ONCE(message_timeout.value) * HZ;

	if (READ_ONCE(conn->stuck))
		return time_after(jiffies, since + RXM_BEHIND * timeout);
	return rxm_is_overdue(since) && rxm_is_overdue(READ_ONCE(conn->resumed));
}

/* Is a message late that the peer writes? */
static bool rxm_is_write_late(const struct rxm_conn *conn)
{
	unsigned long timeout = READ_ONCE(message_timeout.value) * HZ;
	const struct rxm_rndv *rndv;
	bool late = false;

	lockdep_assert_held(&conn->ep->soft.lock);
	list_for_each_entry(rndv, &conn->invited, entry)
		late |= rxm_is_late(conn, rndv->since + rndv->turns * timeout);
	return late;
}

/* Ends a connection whose peer is late; returns whether there is something that has to end */
static bool rxm_watch_conn(struct rxm_conn *conn)
{
	const struct kofi_soft_op *op;
	bool late = false, waits;
	unsigned long since;
	int i;

	waits = READ_ONCE(conn->nsars);
	for (i = 0; i < RXM_SARS && waits; i++) {
		since = READ_ONCE(conn->sars[i].since);
		late |= since && rxm_is_overdue(since);
	}
	spin_lock_irq(&conn->ep->soft.lock);
	/* The first is the oldest */
	op = list_first_entry_or_null(&conn->atomics, struct kofi_soft_op, entry);
	if (op) {
		waits = true;
		late |= rxm_is_late(conn, container_of(op, struct rxm_op, soft)->since);
	}
	waits |= rxm_idle_watch(conn);
	late |= conn->leaving && rxm_is_late(conn, conn->idle_since);
	if (conn->nreads) {
		waits = true;
		late |= rxm_is_late(conn, conn->read_since);
	}
	waits |= !list_empty(&conn->invited);
	late |= rxm_is_write_late(conn);
	if (late)
		rxm_conn_fail(conn, ECONNRESET);
	spin_unlock_irq(&conn->ep->soft.lock);
	return waits;
}

/* Have rxm_settle() look for room, and memory; returns whether a message waits for that */
static bool rxm_watch_hungry(struct rxm_ep *ep)
{
	bool waits;

	spin_lock_irq(&ep->soft.lock);
	waits = !list_empty(&ep->quota.hungry);
	if (waits)
		kofi_soft_kick(&ep->soft);
	spin_unlock_irq(&ep->soft.lock);
	return waits;
}

/**
 * rxm_watch() - End the connections whose peers are late, if it is time to look
 * @ep: the endpoint
 *
 * Context: may sleep; rxm_ep.cm.
 */
void rxm_watch(struct rxm_ep *ep)
{
	struct rxm_conn *conn;
	bool waits = false;

	if (!READ_ONCE(ep->watched))
		return;
	if (time_before(jiffies, ep->watch_next)) {
		rxm_watch_later(ep, ep->watch_next - jiffies);
		return;
	}
	ep->watch_next = jiffies + RXM_WATCH;
	/* What begins from here on sets it again */
	spin_lock_irq(&ep->soft.lock);
	ep->watched = false;
	spin_unlock_irq(&ep->soft.lock);
	list_for_each_entry(conn, &ep->conns, entry)
		waits |= rxm_watch_conn(conn);
	waits |= rxm_watch_hungry(ep);
	if (!waits)
		return;
	spin_lock_irq(&ep->soft.lock);
	rxm_watch_begin(ep);
	spin_unlock_irq(&ep->soft.lock);
}
