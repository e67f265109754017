// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Credits: over a lower provider without FI_RM_ENABLED a message that finds no receive ends the
 * connection (iWARP).  There each end counts the packets that the other one takes.
 *
 *	credit		a packet costs one
 *	grant		RXM_WIRE_CREDIT: so many receives have been posted since the last grant.  It
 *			is a packet, and costs a credit
 *
 * Each end begins with one credit.  The first grant is of all receives but the one that this credit
 * stands for, and later ones are of RXM_GRANT receives at least, so that ends do not answer one
 * grant with another for ever.  The end that has accepted grants when a packet has come: by iWARP
 * the end that has dialled sends first.
 *
 * The last RXM_GRANT credits are for grants.  So ends do not wait for each other: one that has
 * used them up has granted at least RXM_GRANT packets with each to the other end.  Atomic
 * operations keep half of the receives until their responses have credits, and the rest is more
 * than RXM_GRANT.
 *
 * A grant is taken, and its receive posted again, as soon as the packet has been read from the
 * lower queue, in front of packets that wait for their receive.  So an end whose client receives
 * nothing still has RXM_GRANT receives for grants, and grants these again: what it sends does not
 * depend on what its client receives.
 *
 * A buffer in rxm_conn.free has a credit.  Those without one are in rxm_credits.spare, so the
 * sender looks at no credit, but for responses, which have buffers of their own: it waits for a
 * buffer as it does over other lower providers.  Reads and writes cost nothing: over such a lower
 * provider none has remote CQ data, which would take a receive.
 *
 * What the peer grants is not more than it has receives, and it sends no packet that it has not
 * been granted; otherwise the connection ends.
 */
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include "rxm.h"

/* The least that is granted, but for what is held until responses have been sent: see above */
#define RXM_GRANT	(RXM_RX / 4)

static_assert(RXM_GRANT > 1 && RXM_GRANT < RXM_RX - RXM_ATOMICS);

/* A peer with less than this has no credit but that for grants */
#define RXM_LEAST_RX	2

/* Credits that are for grants: one of a peer with fewer receives than kofi_rxm has */
static u32 rxm_credit_kept(const struct rxm_credits *credits)
{
	return credits->most < RXM_RX ? 1 : RXM_GRANT;
}

/**
 * rxm_credit_flow() - Get what connection data say of this end
 * @ep: the endpoint
 *
 * Context: any.
 * Return: rxm_wire_request.flow_ctrl.
 */
u8 rxm_credit_flow(const struct rxm_ep *ep)
{
	return ep->credits ? RXM_WIRE_FLOW_ON : RXM_WIRE_FLOW_OFF;
}

/**
 * rxm_credit_fits() - Return true if a peer counts credits, or need not
 * @ep: the endpoint
 * @flow_ctrl: what the peer says
 * @rx_size: receives of the peer, as it says
 *
 * Context: any.
 * Return: whether it does.
 */
bool rxm_credit_fits(const struct rxm_ep *ep, u8 flow_ctrl, u32 rx_size)
{
	return !ep->credits || (flow_ctrl == RXM_WIRE_FLOW_ON && rx_size >= RXM_LEAST_RX);
}

/* Gives credits to buffers, but for those for grants, which no buffer has */
static void rxm_credit_balance(struct rxm_conn *conn)
{
	struct rxm_credits *credits = &conn->credits;
	u32 kept = rxm_credit_kept(credits);

	lockdep_assert_held(&conn->ep->soft.lock);
	while (credits->left > kept && !list_empty(&credits->spare)) {
		list_move_tail(credits->spare.next, &conn->free);
		credits->left--;
	}
	while (credits->left < kept && !list_empty(&conn->free)) {
		list_move(conn->free.next, &credits->spare);
		credits->left++;
	}
}

/* Packets that may be sent, but for one that a task sends at this moment */
static u64 rxm_credit_count(const struct rxm_conn *conn)
{
	const struct list_head *entry;
	u64 count = conn->credits.left;

	lockdep_assert_held(&conn->ep->soft.lock);
	list_for_each(entry, &conn->free)
		count++;
	return count;
}

/* Credits, or buffers that have one, may have come: have kofi_soft_ep.work use them */
static void rxm_credit_ready(struct rxm_conn *conn)
{
	struct rxm_credits *credits = &conn->credits;

	lockdep_assert_held(&conn->ep->soft.lock);
	rxm_credit_balance(conn);
	conn->grant_due = credits->left && credits->due >= RXM_GRANT && !credits->busy &&
			  (credits->heard || !conn->accepted);
	rxm_conn_ready(conn);
	if (!list_empty(&conn->ready))
		kofi_soft_kick(&conn->ep->soft);
}

/* fi_done.done of a packet that has been sent and has used its credit; as rxm_sent() */
static void rxm_credit_sent(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct rxm_buf *buf = container_of(done, struct rxm_buf, done);
	struct rxm_conn *conn = buf->conn;
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;

	rxm_part_done(conn, buf->op, &buf->entry, &conn->credits.spare,
		      entry->err ? ECANCELED : 0, entry->err);
	spin_lock_irqsave(&ep->soft.lock, flags);
	rxm_credit_ready(conn);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/* fi_done.done of a grant */
static void rxm_granted(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct rxm_conn *conn = container_of(done, struct rxm_buf, done)->conn;
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	conn->credits.busy = false;
	if (entry->err)
		rxm_conn_fail(conn, ECONNRESET);
	rxm_credit_ready(conn);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/**
 * rxm_credit_init() - Have a new connection count credits
 * @conn: the connection, whose buffers are there
 *
 * Context: any.
 */
void rxm_credit_init(struct rxm_conn *conn)
{
	struct rxm_credits *credits = &conn->credits;
	int i;

	credits->grant.hdr = &credits->hdr;
	credits->grant.done.done = rxm_granted;
	credits->grant.conn = conn;
	credits->on = true;
	credits->left = 1;
	credits->most = U32_MAX;
	credits->given = 1;
	credits->due = RXM_RX - 1;
	for (i = 0; i < RXM_TX; i++)
		conn->tx[i].done.done = rxm_credit_sent;
	list_splice_init(&conn->free, &credits->spare);
}

/**
 * rxm_credit_begin() - Begin to use what the peer grants
 * @conn: the connection
 * @rx_size: receives of the peer
 *
 * Context: may sleep; rxm_ep.cm.
 * Return: false: the peer has granted more than it has.
 */
bool rxm_credit_begin(struct rxm_conn *conn, u32 rx_size)
{
	struct rxm_credits *credits = &conn->credits;
	struct rxm_ep *ep = conn->ep;
	bool fits;

	if (!credits->on)
		return true;
	spin_lock_irq(&ep->soft.lock);
	credits->most = rx_size;
	/* Grants may come before the answer that has the number */
	fits = rxm_credit_count(conn) <= rx_size;
	spin_unlock_irq(&ep->soft.lock);
	return fits;
}

/* Takes a grant; 0; -EPROTO: the peer has not so many receives */
static int rxm_credit_add(struct rxm_conn *conn, u64 count)
{
	struct rxm_credits *credits = &conn->credits;

	lockdep_assert_held(&conn->ep->soft.lock);
	if (count > credits->most || rxm_credit_count(conn) + count > credits->most)
		return -EPROTO;
	credits->left += count;
	return 0;
}

/**
 * rxm_credit_is_grant() - Return true if a packet is a grant
 * @conn: the connection
 * @entry: completion of its receive
 *
 * Context: any; the task that deals with what has come.
 * Return: whether it is.
 */
bool rxm_credit_is_grant(const struct rxm_conn *conn, const struct fi_cq_tagged_entry *entry)
{
	const struct rxm_buf *buf = entry->op_context;

	/* What else is wrong is found when it is the packet's turn */
	return !rxm_wire_check(buf->hdr, entry->len, conn->id) &&
	       buf->hdr->ctrl.type == RXM_WIRE_CREDIT;
}

/* Takes a packet that has been read from the lower queue; 0; -EPROTO */
static int rxm_credit_take(struct rxm_conn *conn, const struct fi_cq_tagged_entry *entry)
{
	const struct rxm_buf *buf = entry->op_context;

	lockdep_assert_held(&conn->ep->soft.lock);
	if (!conn->credits.given)
		return -EPROTO;
	conn->credits.given--;
	if (!rxm_credit_is_grant(conn, entry))
		return 0;
	return rxm_credit_add(conn, buf->hdr->ctrl.credits);
}

/**
 * rxm_credit_came() - Count packets that have come, and take the grants among them
 * @conn: the connection, in use or in a callback of its lower queue
 * @entries: completions of the lower queue, each of a receive
 * @count: how many
 *
 * Context: any; the task that deals with what has come.
 * Return: 0; -EPROTO: a packet without a credit, or a grant that the peer cannot make.
 */
int rxm_credit_came(struct rxm_conn *conn, const struct fi_cq_tagged_entry *entries, size_t count)
{
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;
	int ret = 0;
	size_t i;

	spin_lock_irqsave(&ep->soft.lock, flags);
	conn->credits.heard = true;
	for (i = 0; i < count && !ret; i++)
		ret = rxm_credit_take(conn, &entries[i]);
	rxm_credit_ready(conn);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return ret;
}

/**
 * rxm_credit_posted() - A receive has been posted again
 * @conn: the connection, in use or in a callback of a lower queue
 *
 * Context: any.
 */
void rxm_credit_posted(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	conn->credits.due++;
	if (conn->credits.due >= RXM_GRANT)
		rxm_credit_ready(conn);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/**
 * rxm_credit_check() - The connection stands, or a buffer is free and has not used its credit
 * @conn: the connection
 *
 * Context: any, with kofi_soft_ep.lock held.
 */
void rxm_credit_check(struct rxm_conn *conn)
{
	lockdep_assert_held(&conn->ep->soft.lock);
	if (conn->credits.on)
		rxm_credit_ready(conn);
}

/**
 * rxm_credit_get() - Take a credit for a packet that has no buffer of rxm_conn.free
 * @conn: the connection
 *
 * Context: any, with kofi_soft_ep.lock held.
 * Return: whether there was one, or none is needed; else the connection is ready when one comes.
 */
bool rxm_credit_get(struct rxm_conn *conn)
{
	struct rxm_credits *credits = &conn->credits;

	lockdep_assert_held(&conn->ep->soft.lock);
	if (!credits->on)
		return true;
	if (credits->left > rxm_credit_kept(credits)) {
		credits->left--;
		return true;
	}
	if (list_empty(&conn->free))
		return false;
	list_move(conn->free.next, &credits->spare);
	return true;
}

/* Writes a grant, if one is due and there is a credit for it; returns whether there is */
static bool rxm_grant_fill(struct rxm_conn *conn)
{
	struct rxm_credits *credits = &conn->credits;

	lockdep_assert_held(&conn->ep->soft.lock);
	if (!conn->grant_due || conn->err)
		return false;
	*credits->grant.hdr = (struct rxm_wire_hdr) {
		.ctrl.version	= RXM_WIRE_CTRL_VERSION,
		.ctrl.type	= RXM_WIRE_CREDIT,
		.ctrl.conn_id	= conn->peer_id,
		.ctrl.credits	= credits->due,
		.op.version	= RXM_WIRE_OP_HDR_VERSION,
	};
	conn->grant_due = false;
	credits->busy = true;
	credits->left--;
	credits->given += credits->due;
	credits->due = 0;
	rxm_credit_balance(conn);
	return true;
}

/**
 * rxm_grant() - Send a grant, if one is due
 * @conn: a connection in use; the task that sends by it
 *
 * Context: any.
 * Return: 0; a negative errno: the connection is over.
 */
int rxm_grant(struct rxm_conn *conn)
{
	struct rxm_buf *buf = &conn->credits.grant;
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;
	ssize_t ret;
	bool due;

	spin_lock_irqsave(&ep->soft.lock, flags);
	due = rxm_grant_fill(conn);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	if (!due)
		return 0;
	ret = fi_send(conn->lower, buf->hdr, sizeof(*buf->hdr), NULL, FI_ADDR_UNSPEC, &buf->done);
	/* There is a slot for it */
	if (!ret)
		conn->sent++;
	return ret;
}

/**
 * rxm_credit_stat() - kofi_soft_type.stat: report the packets that either end may send
 * @soft: the endpoint
 * @stat: where they go, the sum of all connections, if they are counted
 *
 * Context: may sleep.
 */
void rxm_credit_stat(struct kofi_soft_ep *soft, struct kofi_stat *stat)
{
	struct rxm_ep *ep = to_rxm_ep(soft);
	const struct rxm_conn *conn;
	u64 left = 0, given = 0;

	if (!ep->credits)
		return;
	/* There may be thousands: interrupts are off for one at a time */
	rcu_read_lock();
	list_for_each_entry_rcu(conn, &ep->conns, entry) {
		spin_lock_irq(&soft->lock);
		if (conn->state != RXM_OVER) {
			left += rxm_credit_count(conn);
			given += conn->credits.given;
		}
		spin_unlock_irq(&soft->lock);
	}
	rcu_read_unlock();
	kofi_stat_add(stat, "credits", left);
	kofi_stat_add(stat, "granted", given);
}
