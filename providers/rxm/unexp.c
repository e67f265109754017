// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Unexpected messages.
 *
 * A message without a receive is an unexpected message.  It is kept: copied into memory that is
 * bounded for the connection, its address and the endpoint (rxm_ep.quota), so that the packets
 * behind it go on.  Memory is allocated without waiting.  If there is none, or a bound is reached,
 * the message waits in its buffer (rxm_conn.head), and the packets behind it wait, too; a receive
 * finds the message there.  It is kept later, when another unexpected message has gone.
 *
 * A receive, the client or the end of the endpoint settles it, in any context
 * (rxm_unexp_settle()).  kofi_soft_ep.work deals with it then: rxm_settle() for a message that is
 * kept whole, the connection's next look at its packet for one that waits in its buffer.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "rxm.h"

#define RXM_UNEXP_GFP	(GFP_NOWAIT | __GFP_NOWARN)

/**
 * rxm_copy() - Copy a part of a message, as far as it fits into its receive
 * @rx: the receive
 * @offset: of the part in the message, in bytes
 * @data: the part
 * @len: bytes of it
 *
 * Context: any.
 */
void rxm_copy(struct kofi_rx *rx, size_t offset, void *data, size_t len)
{
	size_t room = kofi_rx_len(rx);
	void *buf = kofi_rx_buf(rx);
	struct iov_iter to;

	if (offset >= room || !len)
		return;
	len = min(len, room - offset);
	if (likely(buf)) {
		memcpy(buf + offset, data, len);
		return;
	}
	kofi_rx_iter(rx, offset, &to);
	_copy_to_iter(data, len, &to);
}

const struct kofi_quota_limits rxm_unexp_limits = {
	.msgs		= RXM_UNEXP_MSGS,
	.bytes		= RXM_UNEXP_BYTES,
	.conn_msgs	= RXM_UNEXP_PEER_MSGS,
	.conn_bytes	= RXM_UNEXP_PEER_BYTES,
	.max		= RXM_UNEXP_MAX,
};

/* Has kofi_soft_ep.work look at the next packet once more */
static void rxm_resume_conn(struct rxm_conn *conn)
{
	lockdep_assert_held(&conn->ep->soft.lock);
	if (conn->state != RXM_OVER)
		list_move_tail(&conn->stalled, &conn->ep->stalled);
}

/**
 * rxm_stall() - Have kofi_soft_ep.work look at the next packet once more when the engine has room
 * @conn: the connection, by the task that deals with what has come
 *
 * Context: any.
 */
void rxm_stall(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	rxm_resume_conn(conn);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/* Have the next packet looked at again when its message finds room, or when rxm_watch() looks */
static void rxm_await_room(struct rxm_conn *conn, size_t len)
{
	lockdep_assert_held(&conn->ep->soft.lock);
	if (conn->state == RXM_OVER)
		return;
	kofi_quota_wait(&conn->ep->quota, &conn->quota, len);
	rxm_watch_begin(conn->ep);
}

/* There may be room: resume a connection that waits and finds some; returns whether there is one */
static bool rxm_unexp_wake(struct rxm_ep *ep)
{
	struct kofi_quota_conn *next;

	lockdep_assert_held(&ep->soft.lock);
	next = kofi_quota_next(&ep->quota);
	if (next)
		rxm_resume_conn(container_of(next, struct rxm_conn, quota));
	return next;
}

/**
 * rxm_need_no_room() - The next packet of a connection needs no room
 * @conn: the connection; the task that deals with what has come, or there is none any more
 *
 * Another connection may find some then.
 *
 * Context: any.
 */
void rxm_need_no_room(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;

	/* Only the task that deals with what has come has the connection wait */
	if (likely(list_empty(&conn->quota.waiting)))
		return;
	spin_lock_irqsave(&ep->soft.lock, flags);
	kofi_quota_stop(&conn->quota);
	if (rxm_unexp_wake(ep))
		kofi_soft_kick(&ep->soft);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/*
 * Takes room and memory for an unexpected message, whose payload is to be copied; NULL: there is
 * none.  For what a connection has brought that is over only the bounds of its address count.
 */
static struct rxm_unexp *rxm_unexp_new(struct rxm_conn *conn, size_t len)
{
	bool over = conn->state == RXM_OVER;
	struct kofi_quota_conn *quota = over ? NULL : &conn->quota;
	struct rxm_ep *ep = conn->ep;
	struct rxm_unexp *unexp;
	void *data = NULL;

	lockdep_assert_held(&ep->soft.lock);
	if (!kofi_quota_take(&ep->quota, &conn->source->kept, quota, len))
		return NULL;
	unexp = kofi_bufpool_get(&ep->unexp);
	if (unexp && len)
		data = kmalloc(len, RXM_UNEXP_GFP);
	if (!unexp || (len && !data))
		goto give_room;
	*unexp = (struct rxm_unexp) { .ep = ep, .addr = conn->addr, .data = data, .len = len };
	unexp->counted = over ? NULL : conn;
	unexp->source = conn->source;
	unexp->since = jiffies;
	kofi_source_hold(&ep->sources, unexp->source);
	list_add_tail(&unexp->of_conn, over ? &ep->orphans : &conn->kept);
	INIT_LIST_HEAD(&unexp->entry);
	kofi_soft_ep_get(&ep->soft);
	return unexp;

give_room:
	/* No other connection is resumed: it would lack memory, too, and have this one resumed */
	if (unexp)
		kofi_bufpool_put(&ep->unexp, unexp);
	kofi_quota_give(&ep->quota, &conn->source->kept, quota, len);
	return NULL;
}

/**
 * rxm_unexp_put() - Free an unexpected message that has been dealt with
 * @unexp: the message; its endpoint may go afterwards
 *
 * Context: any.
 */
void rxm_unexp_put(struct rxm_unexp *unexp)
{
	struct rxm_ep *ep = unexp->ep;
	unsigned long flags;

	kfree(unexp->data);
	spin_lock_irqsave(&ep->soft.lock, flags);
	kofi_quota_give(&ep->quota, &unexp->source->kept,
			unexp->counted ? &unexp->counted->quota : NULL, unexp->len);
	kofi_source_put(&ep->sources, unexp->source);
	list_del(&unexp->of_conn);
	kofi_bufpool_put(&ep->unexp, unexp);
	if (rxm_unexp_wake(ep))
		kofi_soft_kick(&ep->soft);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	kofi_soft_ep_put(&ep->soft);
}

/* Bytes that are kept of a message without a receive */
static u64 rxm_unexp_size(const struct rxm_buf *buf)
{
	return buf->hdr->ctrl.type == RXM_WIRE_RNDV_REQ ? rxm_payload(buf) : buf->hdr->op.size;
}

/**
 * rxm_goes() - Return true if a message without a receive goes with its connection
 * @conn: the connection
 * @buf: the first packet of the message
 *
 * Such a message is at its sender until a receive has it read.
 *
 * Context: any.
 * Return: whether it does.
 */
bool rxm_goes(const struct rxm_conn *conn, const struct rxm_buf *buf)
{
	return READ_ONCE(conn->state) == RXM_OVER && buf->hdr->ctrl.type == RXM_WIRE_RNDV_REQ;
}

/**
 * rxm_unexp_get() - Take room and memory to keep a message
 * @conn: the connection, by the task that deals with what has come
 * @buf: the first packet of the message
 *
 * Context: any.
 * Return: the unexpected message, with a reference to the endpoint.  NULL: there is no room, and if
 * there may be some later, the packet is looked at again then.
 */
struct rxm_unexp *rxm_unexp_get(struct rxm_conn *conn, const struct rxm_buf *buf)
{
	u64 len = rxm_unexp_size(buf);
	struct rxm_ep *ep = conn->ep;
	struct rxm_unexp *unexp;
	unsigned long flags;

	if (len > RXM_UNEXP_MAX || rxm_goes(conn, buf))
		return NULL;
	spin_lock_irqsave(&ep->soft.lock, flags);
	unexp = rxm_unexp_new(conn, len);
	if (!unexp)
		rxm_await_room(conn, len);
	else if (rxm_unexp_wake(ep))
		/* What is left is enough for another connection */
		kofi_soft_kick(&ep->soft);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return unexp;
}

/**
 * rxm_unexp_fill() - Copy a message that is to be kept, but for the payload of a segment
 * @unexp: of rxm_unexp_get()
 * @buf: the first packet of the message
 *
 * Context: any.
 */
void rxm_unexp_fill(struct rxm_unexp *unexp, const struct rxm_buf *buf)
{
	unexp->whole = buf->hdr->ctrl.type != RXM_WIRE_SEG;
	unexp->rndv = buf->hdr->ctrl.type == RXM_WIRE_RNDV_REQ;
	unexp->msg_id = buf->hdr->ctrl.msg_id;
	if (unexp->whole && unexp->data)
		memcpy(unexp->data, buf->hdr + 1, rxm_payload(buf));
}

/**
 * rxm_unexp_whole() - All segments of a message that is kept have come
 * @unexp: the message; it may go if it has been settled
 *
 * Context: any.
 */
void rxm_unexp_whole(struct rxm_unexp *unexp)
{
	struct rxm_ep *ep = unexp->ep;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	unexp->whole = true;
	if (unexp->settled) {
		list_add_tail(&unexp->entry, &ep->settled);
		kofi_soft_kick(&ep->soft);
	}
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/* The message has receive @rx, or nobody wants it */
static void rxm_unexp_settle(struct rxm_unexp *unexp, struct kofi_rx *rx)
{
	struct rxm_ep *ep = unexp->ep;
	struct rxm_conn *conn = unexp->conn;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	unexp->rx = rx;
	unexp->settled = true;
	if (conn)
		rxm_resume_conn(conn);
	else if (unexp->whole)
		list_add_tail(&unexp->entry, &ep->settled);
	kofi_soft_kick(&ep->soft);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

static void rxm_start(struct kofi_rx *rx, struct kofi_srx_msg *msg)
{
	rxm_unexp_settle(container_of(msg, struct rxm_unexp, msg), rx);
}

static void rxm_discard(struct kofi_srx_msg *msg)
{
	rxm_unexp_settle(container_of(msg, struct rxm_unexp, msg), NULL);
}

/* Packets of the connections in rxm_ep.stalled may find room now */
static void rxm_resume(struct kofi_srx *srx)
{
	kofi_soft_kick(container_of(srx, struct kofi_soft_ep, own_srx));
}

/**
 * rxm_source() - Say which addresses a receive sees of a sender
 * @ep: the endpoint
 * @addr: the sender
 * @src_addr: set to what FI_DIRECTED_RECV compares
 * @source: set to what FI_SOURCE reports
 *
 * Both are FI_ADDR_NOTAVAIL without the capability.
 *
 * Context: any.
 */
void rxm_source(const struct rxm_ep *ep, const struct sockaddr_storage *addr,
		fi_addr_t *src_addr, fi_addr_t *source)
{
	u64 caps = ep->soft.kep.caps;

	*src_addr = caps & FI_DIRECTED_RECV ? kofi_av_find(rxm_av(ep), addr) : FI_ADDR_NOTAVAIL;
	*source = caps & FI_SOURCE ? kofi_av_source(rxm_av(ep), addr) : FI_ADDR_NOTAVAIL;
}

static void rxm_sender(const struct kofi_srx_msg *msg, fi_addr_t *src_addr, fi_addr_t *source)
{
	const struct rxm_unexp *unexp = container_of(msg, struct rxm_unexp, msg);

	rxm_source(unexp->ep, &unexp->addr, src_addr, source);
}

static unsigned long rxm_changes(const struct kofi_srx *srx)
{
	return kofi_av_changes(kofi_soft_av(container_of(srx, struct kofi_soft_ep, own_srx)));
}

const struct kofi_srx_ops rxm_srx_ops = {
	.start		= rxm_start,
	.discard	= rxm_discard,
	.resume		= rxm_resume,
	.sender		= rxm_sender,
	.changes	= rxm_changes,
};

/* A message that is at its sender has a receive, or nobody wants it: read it, or only answer */
static void rxm_fetch(struct rxm_unexp *unexp)
{
	struct rxm_ep *ep = unexp->ep;
	struct rxm_conn *conn;

	spin_lock_irq(&ep->soft.lock);
	conn = unexp->counted;
	if (conn && !rxm_conn_use(conn))
		conn = NULL;
	spin_unlock_irq(&ep->soft.lock);
	if (conn) {
		rxm_rndv_begin(conn, unexp->rx, unexp->msg_id, unexp->data);
		rxm_conn_unuse(conn);
	} else if (unexp->rx) {
		kofi_rx_fail(unexp->rx, 0, ECONNRESET, ECONNRESET);
	}
}

/* A kept message that nobody has taken, whose connection ended long ago, if another needs room */
static struct rxm_unexp *rxm_unexp_old(struct rxm_ep *ep)
{
	struct rxm_unexp *unexp, *found = NULL;

	spin_lock_irq(&ep->soft.lock);
	/* This work item looks at the connection next */
	if (list_empty(&ep->quota.hungry) || rxm_unexp_wake(ep))
		goto unlock;
	list_for_each_entry(unexp, &ep->orphans, of_conn) {
		if (!rxm_is_overdue(unexp->since))
			break;
		if (!kofi_quota_is_wanted(&ep->quota, &unexp->source->kept))
			continue;
		found = unexp;
		/* It is looked at once */
		list_del_init(&unexp->of_conn);
		break;
	}
unlock:
	spin_unlock_irq(&ep->soft.lock);
	return found;
}

/* Makes room.  Nobody else puts a message whose connection has ended, so it stays meanwhile */
static void rxm_unexp_drop_old(struct rxm_ep *ep)
{
	struct rxm_unexp *unexp;

	while ((unexp = rxm_unexp_old(ep)))
		/* If a receive has taken it meanwhile, it is in rxm_ep.settled, or will be */
		if (kofi_srx_withdraw_unclaimed(&ep->soft.own_srx, &unexp->msg))
			rxm_unexp_put(unexp);
}

/**
 * rxm_settle() - Deliver unexpected messages that have a receive, and drop those that nobody wants
 * @ep: the endpoint
 *
 * Context: may sleep; kofi_soft_ep.work.
 */
void rxm_settle(struct rxm_ep *ep)
{
	struct rxm_unexp *unexp, *next;
	LIST_HEAD(settled);

	rxm_unexp_drop_old(ep);
	spin_lock_irq(&ep->soft.lock);
	list_splice_init(&ep->settled, &settled);
	spin_unlock_irq(&ep->soft.lock);
	list_for_each_entry_safe(unexp, next, &settled, entry) {
		if (unexp->rndv) {
			rxm_fetch(unexp);
		} else if (unexp->rx) {
			rxm_copy(unexp->rx, 0, unexp->data, unexp->len);
			kofi_rx_complete(unexp->rx);
		}
		rxm_unexp_put(unexp);
	}
}
