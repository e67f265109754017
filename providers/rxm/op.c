// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What all files call: the users and the end of a connection, and the parts of an operation.
 *
 * Nothing here calls a lower object, or another file.
 */
#include <linux/module.h>
#include "rxm.h"

/**
 * rxm_conn_fail() - Have a connection ended
 * @conn: the connection
 * @err: why, positive
 *
 * Context: any, with kofi_soft_ep.lock held.
 */
void rxm_conn_fail(struct rxm_conn *conn, int err)
{
	struct rxm_ep *ep = conn->ep;

	lockdep_assert_held(&ep->soft.lock);
	if (conn->state == RXM_OVER || conn->err)
		return;
	conn->err = err;
	list_add_tail(&conn->broken, &ep->broken);
	rxm_cm_kick(ep);
}

/**
 * rxm_conn_use() - Begin calls of the lower endpoint outside of its callbacks
 * @conn: the connection
 *
 * Context: any, with kofi_soft_ep.lock held.
 * Return: true: rxm_conn_unuse() is due; false: the connection is over.
 */
bool rxm_conn_use(struct rxm_conn *conn)
{
	lockdep_assert_held(&conn->ep->soft.lock);
	if (conn->state == RXM_OVER)
		return false;
	conn->users++;
	return true;
}

/**
 * rxm_conn_unuse() - End what rxm_conn_use() has begun
 * @conn: the connection, which may go afterwards
 *
 * Context: any, without kofi_soft_ep.lock.
 */
void rxm_conn_unuse(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	if (!--conn->users && conn->state == RXM_OVER)
		complete(&conn->unused);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/**
 * rxm_op_err() - Get why an operation fails that a connection has begun to send
 * @conn: the connection, which is ending
 *
 * Context: any, with kofi_soft_ep.lock held.
 * Return: a positive error.
 */
int rxm_op_err(const struct rxm_conn *conn)
{
	int err = conn->err ? : ECONNRESET;

	return conn->ep->soft.over ? ECANCELED : err;
}

/* Has the client posted something that is to be sent? */
static bool rxm_has_posted(const struct rxm_conn *conn)
{
	return conn->sending || (conn->peer && !list_empty(&conn->peer->posted));
}

/* Is there something to be done that the peer waits for? */
static bool rxm_peer_waits(const struct rxm_conn *conn)
{
	return !list_empty(&conn->read) || !list_empty(&conn->rndvs) ||
	       !list_empty(&conn->answers) || !list_empty(&conn->responses) ||
	       conn->to_write || conn->leave_due || conn->stay_due || conn->grant_due;
}

/**
 * rxm_conn_ready() - A connection may have something to send, and a buffer
 * @conn: the connection
 *
 * kofi_soft_kick() is due.
 *
 * If a task sends by the connection, it looks again itself.
 *
 * Context: any, with kofi_soft_ep.lock held.
 */
void rxm_conn_ready(struct rxm_conn *conn)
{
	lockdep_assert_held(&conn->ep->soft.lock);
	if (conn->state != RXM_OPEN || !list_empty(&conn->ready))
		return;
	if (conn->tx_busy)
		conn->tx_again = true;
	else if (rxm_has_posted(conn) || rxm_peer_waits(conn))
		list_add_tail(&conn->ready, &conn->ep->ready);
}

/**
 * rxm_part_done() - A packet, or a piece of an operation, has completed at the lower endpoint
 * @conn: its connection
 * @op: the operation, which may be over afterwards; NULL: the packet belongs to none
 * @slot: what it has been sent with
 * @free: where @slot goes
 * @err: why it has failed, positive; ECANCELED: the connection has ended; 0: it has not
 * @broken: end the connection
 *
 * Context: any.
 * Return: whether rxm_send_more() is due, as something has waited for @slot.
 */
bool rxm_part_done(struct rxm_conn *conn, struct rxm_op *op, struct list_head *slot,
		   struct list_head *free, int err, bool broken)
{
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;
	bool over = false, more;

	spin_lock_irqsave(&ep->soft.lock, flags);
	list_add(slot, free);
	if (op && err && !op->err)
		op->err = err == ECANCELED ? rxm_op_err(conn) : err;
	if (broken)
		rxm_conn_fail(conn, ECONNRESET);
	if (op) {
		over = !--op->packets;
		err = op->err;
	}
	more = conn->state == RXM_OPEN && rxm_has_posted(conn);
	if (rxm_peer_waits(conn)) {
		rxm_conn_ready(conn);
		kofi_soft_kick(&ep->soft);
	}
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	if (over)
		kofi_soft_op_done(&op->soft, err);
	return more;
}

/**
 * rxm_op_put() - The peer has answered an operation, or will not
 * @conn: the connection
 * @op: the operation, in no list, which may be over afterwards
 * @err: why it has failed, positive; 0: it has not
 *
 * Context: any.
 */
void rxm_op_put(struct rxm_conn *conn, struct rxm_op *op, int err)
{
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;
	bool over;

	spin_lock_irqsave(&ep->soft.lock, flags);
	op->err = op->err ? : err;
	err = op->err;
	over = !--op->packets;
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	if (over)
		kofi_soft_op_done(&op->soft, err);
}
