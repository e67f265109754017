// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Idle connections are closed after a time, and made anew when an operation needs one (cm.c).
 *
 * An end that closed a connection by itself would lose what the peer sends at that moment.  So it
 * asks the peer to close it:
 *
 *	the end that has dialled		the end that has accepted
 *	idle for idle_timeout, and nothing is
 *	under way: RXM_WIRE_LEAVE, and how much
 *	has come to it			  -->	has sent no more than that, and has nothing
 *						under way: closes the connection
 *	operations wait, and go by the next
 *	connection			<--	otherwise: RXM_WIRE_STAY
 *	sends again
 *
 * What is sent by a connection comes in order, and RXM_WIRE_LEAVE is behind all of it.  So nothing
 * of either end is on its way when the connection is closed, but for a grant, of which no other
 * connection is in need.
 *
 * Only kOFI answers, and says so when it accepts (RXM_WIRE_KOFI).  A request has no room for that,
 * so the end that has accepted does not ask.  Connections with libfabric stay.
 *
 * rxm_watch() looks whether a connection is idle.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include "rxm.h"

#define RXM_IDLE_MAX_S	86400U

static struct kofi_param idle_timeout = { .max = RXM_IDLE_MAX_S };
module_param_cb(idle_timeout, &kofi_param_ops, &idle_timeout, 0644);
__MODULE_PARM_TYPE(idle_timeout, "uint");
MODULE_PARM_DESC(idle_timeout, "seconds after which a connection is closed if nobody uses it and its peer is kOFI, at most 86400; 0: never (default); looked at when a connection begins");

static const u8 rxm_kofi[] = RXM_WIRE_KOFI;

static unsigned long rxm_idle_time(void)
{
	return READ_ONCE(idle_timeout.value) * (unsigned long)HZ;
}

/* A number that is another one when the connection has been used meanwhile */
static u64 rxm_idle_use(const struct rxm_conn *conn)
{
	return conn->sent + conn->moved + READ_ONCE(conn->taken);
}

static unsigned int rxm_count(const struct list_head *free)
{
	const struct list_head *entry;
	unsigned int count = 0;

	list_for_each(entry, free)
		count++;
	return count;
}

static bool rxm_has_posted(const struct rxm_conn *conn)
{
	return conn->sending || (conn->peer && !list_empty(&conn->peer->posted));
}

/* Is nothing under way, as far as this end knows? */
static bool rxm_is_quiet(const struct rxm_conn *conn)
{
	lockdep_assert_held(&conn->ep->soft.lock);
	if (conn->state != RXM_OPEN || conn->err || conn->tx_busy || rxm_has_posted(conn) ||
	    READ_ONCE(conn->stuck) || READ_ONCE(conn->nsars))
		return false;
	/* A message is in @rndvs as long as one of its reads is in flight */
	if (!list_empty(&conn->offered) || !list_empty(&conn->read) ||
	    !list_empty(&conn->atomics) || !list_empty(&conn->responses) ||
	    !list_empty(&conn->rndvs) || !list_empty(&conn->answers) ||
	    !list_empty(&conn->invited) || conn->to_write)
		return false;
	return rxm_count(&conn->free) + rxm_count(&conn->credits.spare) == RXM_TX &&
	       rxm_count(&conn->rmas_free) == RXM_RMAS;
}

/**
 * rxm_idle_begin() - Begin to count the idle time of a connection that this end has dialled
 * @conn: the connection, which stands
 * @msg: the answer of the peer
 *
 * Context: may sleep; rxm_ep.cm.
 * Return: whether rxm_watch_begin() is due.
 */
bool rxm_idle_begin(struct rxm_conn *conn, const struct rxm_wire_accept *msg)
{
	conn->can_leave = !memcmp(msg->kofi, rxm_kofi, sizeof(rxm_kofi));
	conn->idle_since = jiffies;
	return conn->can_leave && rxm_idle_time();
}

/**
 * rxm_idle_watch() - Leave by a connection that has been idle for long enough
 * @conn: a connection
 *
 * Context: rxm_ep.cm, with kofi_soft_ep.lock held.
 * Return: whether it is to be looked at again.
 */
bool rxm_idle_watch(struct rxm_conn *conn)
{
	unsigned long time = rxm_idle_time();
	u64 use = rxm_idle_use(conn);

	lockdep_assert_held(&conn->ep->soft.lock);
	if (conn->leaving)
		return true;
	if (!conn->can_leave || !time)
		return false;
	if (use != conn->idle_seen || !rxm_is_quiet(conn)) {
		conn->idle_seen = use;
		conn->idle_since = jiffies;
	} else if (time_after_eq(jiffies, conn->idle_since + time)) {
		conn->idle_since = jiffies;
		conn->leaving = true;
		conn->leave_due = true;
		rxm_conn_ready(conn);
		kofi_soft_kick(&conn->ep->soft);
	}
	return true;
}

/**
 * rxm_idle_fill() - Write RXM_WIRE_LEAVE or RXM_WIRE_STAY, if one is due
 * @conn: the connection
 * @hdr: where it goes
 *
 * Context: any, with kofi_soft_ep.lock held.
 * Return: whether one is.
 */
bool rxm_idle_fill(struct rxm_conn *conn, struct rxm_wire_hdr *hdr)
{
	lockdep_assert_held(&conn->ep->soft.lock);
	if (!conn->leave_due && !conn->stay_due)
		return false;
	*hdr = (struct rxm_wire_hdr) {
		.ctrl.version	= RXM_WIRE_CTRL_VERSION,
		.ctrl.type	= conn->leave_due ? RXM_WIRE_LEAVE : RXM_WIRE_STAY,
		.ctrl.conn_id	= conn->peer_id,
		.op.version	= RXM_WIRE_OP_HDR_VERSION,
	};
	if (conn->leave_due)
		hdr->ctrl.msg_id = READ_ONCE(conn->taken);
	else
		conn->stay_due = false;
	conn->leave_due = false;
	return true;
}

/**
 * rxm_idle_asked() - Close the connection if the peer misses nothing by that
 * @conn: the connection, in use or in a callback of its lower queue
 * @taken: what has come to the peer
 *
 * Context: any.
 * Return: 0.
 */
int rxm_idle_asked(struct rxm_conn *conn, u64 taken)
{
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	if (taken == conn->sent && conn->moved == conn->moved_asked && rxm_is_quiet(conn)) {
		/* What is posted from now on goes by the next connection */
		conn->used = true;
		rxm_conn_fail(conn, ECONNRESET);
	} else {
		conn->stay_due = true;
		rxm_conn_ready(conn);
		kofi_soft_kick(&ep->soft);
	}
	conn->moved_asked = conn->moved;
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return 0;
}

/**
 * rxm_idle_answered() - The peer does not close the connection
 * @conn: the connection, in use or in a callback of its lower queue
 *
 * Context: any.
 * Return: 0; -EPROTO: it was not asked.
 */
int rxm_idle_answered(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;
	int ret = -EPROTO;

	spin_lock_irqsave(&ep->soft.lock, flags);
	if (conn->leaving && !conn->leave_due) {
		conn->leaving = false;
		conn->idle_since = jiffies;
		rxm_conn_ready(conn);
		kofi_soft_kick(&ep->soft);
		ret = 0;
	}
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return ret;
}
