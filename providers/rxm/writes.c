// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages that a peer offers, and writes into the buffers of their receives, in place of having
 * them read (rndv.c).
 *
 * Nothing in an offer says whether its sender can write: libfabric does with
 * FI_OFI_RXM_USE_RNDV_WRITE, and then cannot be read from.  So the parameter use_rndv_write says it
 * of all peers; kOFI can do either.
 *
 * Life of such a message
 *
 *	begun		it has a receive: rxm_rndv_begin() puts it into rxm_conn.writes
 *	registered	kofi_soft_ep.work has registered the buffers of the receive for writes: it
 *			is in rxm_conn.invites
 *	invited		RXM_WIRE_RNDV_WRITE_DATA says where to write: it is in rxm_conn.invited
 *	written		RXM_WIRE_RNDV_WRITE_DONE names it: it is in rxm_conn.written
 *	over		kofi_soft_ep.work has closed the regions, and then completes the receive.
 *			So no peer writes into a buffer that the client has again
 *
 * A connection has RXM_WRITES messages that are registered; others wait.  A peer that does not end
 * its writes within a time loses the connection (watch.c), as does one that ends what it was not
 * asked for.
 *
 * libfabric does not answer if it is to write nothing.  So there is a region in any case: of memory
 * that nobody looks at, if nobody wants the message, or the receive has no buffer.  The buffers of
 * a receive that cannot be registered are written by way of a copy.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/uio.h>
#include "rxm.h"

#define RXM_SCRAP	8U		/* bytes of a message that nobody wants */
#define RXM_WRITE_PACE	SZ_16M		/* bytes that take a message_timeout at most */

static bool use_rndv_write;
module_param(use_rndv_write, bool, 0644);
MODULE_PARM_DESC(use_rndv_write, "have peers write the messages that they offer, as libfabric with FI_OFI_RXM_USE_RNDV_WRITE wants, and no other one can (default no)");

/**
 * rxm_writes_rndv() - Return true if peers are to write the messages that they offer
 *
 * Context: any.
 * Return: whether they are; else they are read.
 */
bool rxm_writes_rndv(void)
{
	return READ_ONCE(use_rndv_write);
}

/* Registers the buffers of a receive, or memory in place of them */
static int rxm_write_reg(struct rxm_domain *domain, struct rxm_rndv *rndv)
{
	struct fi_mr_attr attr = { .type = FI_BUF_KVEC };
	struct rxm_list list;
	struct iov_iter iter;

	if (!rndv->size)
		return rxm_regs_open_copy(domain, &rndv->regs, FI_REMOTE_WRITE, RXM_SCRAP, NULL);
	kofi_rx_iter(rndv->rx, 0, &iter);
	rxm_list_set(&list, &iter, rndv->size, SIZE_MAX / PAGE_SIZE);
	if (list.pages) {
		attr.type = FI_BUF_BVEC;
		attr.mr_bvec = list.bvec;
	} else {
		attr.mr_iov = list.kvec;
	}
	attr.iov_count = list.count;
	if (list.len == rndv->size &&
	    !rxm_regs_open(domain, &rndv->regs, FI_REMOTE_WRITE, &attr))
		return 0;
	return rxm_regs_open_copy(domain, &rndv->regs, FI_REMOTE_WRITE, rndv->size, NULL);
}

/* Takes the next message that is to be registered; NULL: there is none, or there are enough */
static struct rxm_rndv *rxm_write_next(struct rxm_conn *conn)
{
	struct rxm_rndv *rndv;

	lockdep_assert_held(&conn->ep->soft.lock);
	if (conn->err || conn->nwrites >= RXM_WRITES)
		return NULL;
	rndv = list_first_entry_or_null(&conn->writes, struct rxm_rndv, entry);
	if (!rndv)
		return NULL;
	list_del_init(&rndv->entry);
	conn->nwrites++;
	return rndv;
}

/**
 * rxm_writes_prepare() - Register what the peer is to write, as far as it may
 * @conn: a connection in use
 *
 * Context: may sleep; kofi_soft_ep.work.
 */
void rxm_writes_prepare(struct rxm_conn *conn)
{
	struct rxm_domain *domain = container_of(conn->ep->soft.domain, struct rxm_domain, soft);
	struct rxm_ep *ep = conn->ep;
	struct rxm_rndv *rndv;
	int ret;

	spin_lock_irq(&ep->soft.lock);
	while ((rndv = rxm_write_next(conn))) {
		spin_unlock_irq(&ep->soft.lock);
		ret = rxm_write_reg(domain, rndv);
		spin_lock_irq(&ep->soft.lock);
		list_add_tail(&rndv->entry, &conn->invites);
		/* The wire has no word for it */
		if (ret)
			rxm_conn_fail(conn, ECONNRESET);
	}
	spin_unlock_irq(&ep->soft.lock);
}

/* Notes when the peer has to have written a message: behind those that it writes already */
static void rxm_write_time(struct rxm_conn *conn, struct rxm_rndv *rndv)
{
	const struct rxm_rndv *other;
	u64 bytes = rndv->size;

	lockdep_assert_held(&conn->ep->soft.lock);
	list_for_each_entry(other, &conn->invited, entry)
		bytes += other->size;
	rndv->since = jiffies;
	rndv->turns = bytes / RXM_WRITE_PACE;
	rxm_watch_begin(conn->ep);
}

/**
 * rxm_write_invite() - Write RXM_WIRE_RNDV_WRITE_DATA, if one is due
 * @conn: the connection
 * @buf: where it goes
 * @len: set to its bytes of payload, if one is due
 *
 * Context: any, with kofi_soft_ep.lock held.
 * Return: whether one is.
 */
bool rxm_write_invite(struct rxm_conn *conn, struct rxm_buf *buf, size_t *len)
{
	struct rxm_rndv *rndv;

	lockdep_assert_held(&conn->ep->soft.lock);
	rndv = list_first_entry_or_null(&conn->invites, struct rxm_rndv, entry);
	if (!rndv)
		return false;
	*buf->hdr = (struct rxm_wire_hdr) {
		.ctrl.version	= RXM_WIRE_CTRL_VERSION,
		.ctrl.type	= RXM_WIRE_RNDV_WRITE_DATA,
		.ctrl.conn_id	= conn->peer_id,
		.ctrl.msg_id	= rndv->msg_id,
		.op.version	= RXM_WIRE_OP_HDR_VERSION,
	};
	rxm_regs_fill(&rndv->regs, (struct rxm_wire_rndv *)(buf->hdr + 1));
	*len = sizeof(struct rxm_wire_rndv);
	rxm_write_time(conn, rndv);
	list_move_tail(&rndv->entry, &conn->invited);
	conn->to_write--;
	return true;
}

/**
 * rxm_write_done() - The peer has written a message
 * @conn: the connection, in use or in a callback of its lower queue
 * @msg_id: what the peer says
 *
 * Context: any.
 * Return: 0; -EPROTO: it was not asked for such a message, or has written it before.
 */
int rxm_write_done(struct rxm_conn *conn, u64 msg_id)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_rndv *rndv;
	unsigned long flags;
	int ret = -EPROTO;

	spin_lock_irqsave(&ep->soft.lock, flags);
	list_for_each_entry(rndv, &conn->invited, entry) {
		if (rndv->msg_id != msg_id)
			continue;
		list_move_tail(&rndv->entry, &conn->written);
		conn->to_write++;
		rxm_conn_ready(conn);
		kofi_soft_kick(&ep->soft);
		ret = 0;
		break;
	}
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return ret;
}

/* Copies a message that was written by way of a copy */
static void rxm_write_copy(struct rxm_rndv *rndv)
{
	struct iov_iter to;

	if (!rndv->regs.copy || !rndv->size)
		return;
	kofi_rx_iter(rndv->rx, 0, &to);
	_copy_to_iter(rndv->regs.copy, rndv->size, &to);
}

/* Ends the messages of a list, with an error or (0) without */
static void rxm_writes_put(struct rxm_conn *conn, struct list_head *list, int err)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_rndv *rndv;

	spin_lock_irq(&ep->soft.lock);
	while ((rndv = list_first_entry_or_null(list, struct rxm_rndv, entry))) {
		list_del(&rndv->entry);
		conn->nwrites -= list != &conn->writes;
		conn->to_write -= list != &conn->invited;
		spin_unlock_irq(&ep->soft.lock);
		rxm_regs_close(&rndv->regs);
		if (!err)
			rxm_write_copy(rndv);
		rxm_regs_free(&rndv->regs);
		if (rndv->rx && err)
			kofi_rx_fail(rndv->rx, 0, err, err);
		else if (rndv->rx)
			kofi_rx_complete(rndv->rx);
		kofi_bufpool_put(&ep->rndv, rndv);
		spin_lock_irq(&ep->soft.lock);
	}
	spin_unlock_irq(&ep->soft.lock);
}

/**
 * rxm_writes_done() - End the messages that the peer has written
 * @conn: a connection in use
 *
 * Context: may sleep; kofi_soft_ep.work.
 */
void rxm_writes_done(struct rxm_conn *conn)
{
	rxm_writes_put(conn, &conn->written, 0);
}

/**
 * rxm_writes_end() - End the messages that the peer has not written
 * @conn: a connection without users, whose lower endpoint has been closed
 * @err: why, positive
 *
 * Context: may sleep; rxm_ep.cm.
 */
void rxm_writes_end(struct rxm_conn *conn, int err)
{
	rxm_writes_put(conn, &conn->written, 0);
	rxm_writes_put(conn, &conn->invited, err);
	rxm_writes_put(conn, &conn->invites, err);
	rxm_writes_put(conn, &conn->writes, err);
}
