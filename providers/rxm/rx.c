// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets that are received.
 *
 * One task at a time reads the lower queue, and deals with what has come, in its order
 * (rxm_receive()): a packet is matched, its payload is copied, and its buffer is posted again.
 * What has to wait is not read, nor what is behind it.  So the lower provider has the peer wait.
 *
 * A message without a receive is kept, or waits in its buffer (unexp.c).  If the engine of
 * kofi/srx.h has no room for one more message, the packet waits without being known to it.
 *
 * Everything that a packet says is checked before it is used: what it says by itself in wire.c.  A
 * peer that breaks the rules of the wire loses its connection.
 *
 * A write of the peer with remote CQ data is reported here, and uses no receive.  If the client has
 * KOFI_SOFT_EVENTS of them to read, the next one waits.
 */
#include <linux/module.h>
#include <linux/wait_bit.h>
#include "rxm.h"

/* Segmented messages */

static struct rxm_sar *rxm_sar_find(struct rxm_conn *conn, u64 msg_id)
{
	int i;

	for (i = 0; i < RXM_SARS; i++)
		if (conn->sars[i].used && conn->sars[i].msg_id == msg_id)
			return &conn->sars[i];
	return NULL;
}

static struct rxm_sar *rxm_sar_free(struct rxm_conn *conn)
{
	int i;

	for (i = 0; i < RXM_SARS; i++)
		if (!conn->sars[i].used)
			return &conn->sars[i];
	return NULL;
}

/* The first segment of a message has come; a place is free */
static struct rxm_sar *rxm_sar_begin(struct rxm_conn *conn, const struct rxm_wire_hdr *hdr,
				     struct kofi_rx *rx, struct rxm_unexp *unexp)
{
	struct rxm_sar *sar = rxm_sar_free(conn);
	unsigned long flags;

	*sar = (struct rxm_sar) {
		.used	= true,
		.msg_id	= hdr->ctrl.msg_id,
		.size	= hdr->op.size,
		.since	= jiffies ? : 1,
		.begun	= jiffies,
		.rx	= rx,
		.unexp	= unexp,
	};
	WRITE_ONCE(conn->nsars, conn->nsars + 1);
	spin_lock_irqsave(&conn->ep->soft.lock, flags);
	rxm_watch_begin(conn->ep);
	spin_unlock_irqrestore(&conn->ep->soft.lock, flags);
	return sar;
}

/* Takes the payload of a segment */
static void rxm_sar_add(struct rxm_conn *conn, struct rxm_sar *sar, struct rxm_buf *buf)
{
	size_t len = rxm_payload(buf);

	if (sar->rx)
		rxm_copy(sar->rx, sar->have, buf->hdr + 1, len);
	else if (sar->unexp)
		memcpy(sar->unexp->data + sar->have, buf->hdr + 1, len);
	WRITE_ONCE(sar->since, jiffies ? : 1);
	sar->have += len;
	sar->next++;
	if (sar->have < sar->size) {
		/* The receive does not wait for what is dropped */
		if (sar->rx && sar->have >= kofi_rx_len(sar->rx)) {
			kofi_rx_complete(sar->rx);
			sar->rx = NULL;
		}
		return;
	}
	if (sar->rx)
		kofi_rx_complete(sar->rx);
	else if (sar->unexp)
		rxm_unexp_whole(sar->unexp);
	WRITE_ONCE(conn->nsars, conn->nsars - 1);
	memset(sar, 0, sizeof(*sar));
}

/* Messages */

/* The first packet of a message: it has a receive, or is kept, or (neither) nobody wants it */
static void rxm_take(struct rxm_conn *conn, struct rxm_buf *buf, struct kofi_rx *rx,
		     struct rxm_unexp *unexp)
{
	const struct rxm_wire_hdr *hdr = buf->hdr;

	rxm_need_no_room(conn);
	if (hdr->ctrl.type == RXM_WIRE_SEG) {
		/* rxm_seg() has seen that there is room for it */
		rxm_sar_add(conn, rxm_sar_begin(conn, hdr, rx, unexp), buf);
	} else if (hdr->ctrl.type == RXM_WIRE_RNDV_REQ) {
		rxm_rndv_begin(conn, rx, hdr->ctrl.msg_id, (const void *)(hdr + 1));
	} else if (rx) {
		rxm_copy(rx, 0, buf->hdr + 1, rxm_payload(buf));
		kofi_rx_complete(rx);
	}
}

/* A message that is kept may settle before rxm_take() has seen all of it */
static int rxm_keep(struct rxm_conn *conn, struct rxm_buf *buf, struct rxm_unexp *unexp,
		    const struct kofi_srx_arrival *what, struct kofi_rx **rx)
{
	int ret;

	rxm_unexp_fill(unexp, buf);
	ret = kofi_srx_arrive(&conn->ep->soft.own_srx, what, &unexp->msg, rx);
	if (ret != KOFI_SRX_QUEUED)
		rxm_unexp_put(unexp);
	else if (buf->hdr->ctrl.type == RXM_WIRE_SEG)
		rxm_take(conn, buf, NULL, unexp);
	return ret;
}

/* The message waits in its buffer */
static int rxm_wait_in_buffer(struct rxm_conn *conn, const struct rxm_buf *buf,
			      const struct kofi_srx_arrival *what, struct kofi_rx **rx)
{
	int ret;

	conn->head.rndv = buf->hdr->ctrl.type == RXM_WIRE_RNDV_REQ;
	conn->head.settled = false;
	conn->head.rx = NULL;
	conn->head_waits = true;
	ret = kofi_srx_arrive(&conn->ep->soft.own_srx, what, &conn->head.msg, rx);
	if (ret == KOFI_SRX_QUEUED)
		return -EINPROGRESS;
	conn->head_waits = false;
	return ret;
}

/*
 * As kofi_srx_arrive(), of a message that has found no receive; -EINPROGRESS: in its buffer.
 * @unexp: where it is kept, or NULL.
 */
static int rxm_unexp(struct rxm_conn *conn, struct rxm_buf *buf, struct rxm_unexp *unexp,
		     const struct kofi_srx_arrival *what, struct kofi_rx **rx)
{
	/* The engine may call rxm_resume() before the last call below returns */
	rxm_stall(conn);
	if (unexp)
		return rxm_keep(conn, buf, unexp, what, rx);
	return rxm_wait_in_buffer(conn, buf, what, rx);
}

/*
 * Keeps a message that waits in its buffer, and that the client has claimed, as its connection is
 * over; false: it is not claimed, or waits no more.
 */
static bool rxm_keep_claimed(struct rxm_conn *conn, struct rxm_buf *buf, struct rxm_unexp *unexp)
{
	if (READ_ONCE(conn->state) != RXM_OVER)
		return false;
	rxm_unexp_fill(unexp, buf);
	if (!kofi_srx_move_claimed(&conn->ep->soft.own_srx, &conn->head.msg, &unexp->msg))
		return false;
	conn->head_waits = false;
	if (buf->hdr->ctrl.type == RXM_WIRE_SEG)
		rxm_take(conn, buf, NULL, unexp);
	return true;
}

/*
 * The message in the buffer of the next packet has been waiting.  0: it has been dealt with; 1: it
 * does not wait any more, and there is room for it in @unexp; -EAGAIN: it waits.
 */
static int rxm_head(struct rxm_conn *conn, struct rxm_buf *buf, struct rxm_unexp **unexp)
{
	struct kofi_soft_ep *soft = &conn->ep->soft;
	struct kofi_rx *rx;
	unsigned long flags;
	bool settled;

	spin_lock_irqsave(&soft->lock, flags);
	settled = conn->head.settled;
	rx = conn->head.rx;
	spin_unlock_irqrestore(&soft->lock, flags);
	if (settled) {
		conn->head_waits = false;
		rxm_take(conn, buf, rx, NULL);
		return 0;
	}
	*unexp = rxm_unexp_get(conn, buf);
	if (!*unexp && !rxm_goes(conn, buf))
		return -EAGAIN;
	/* Otherwise the client has claimed it, or rxm_unexp_settle() is called */
	if (!kofi_srx_withdraw_unclaimed(&soft->own_srx, &conn->head.msg)) {
		if (*unexp && rxm_keep_claimed(conn, buf, *unexp))
			return 0;
		if (*unexp)
			rxm_unexp_put(*unexp);
		return -EAGAIN;
	}
	conn->head_waits = false;
	return 1;
}

/* As kofi_srx_arrive(), of a message that does not wait; -EINPROGRESS: it waits in its buffer */
static int rxm_arrive(struct rxm_conn *conn, struct rxm_buf *buf,
		      const struct kofi_srx_arrival *what, struct kofi_rx **rx)
{
	int ret = kofi_srx_arrive(&conn->ep->soft.own_srx, what, NULL, rx);

	if (ret != -EAGAIN)
		return ret;
	if (rxm_goes(conn, buf))
		return -ESHUTDOWN;
	return rxm_unexp(conn, buf, rxm_unexp_get(conn, buf), what, rx);
}

/* The first packet of a message; -EAGAIN: it has to wait */
static int rxm_message(struct rxm_conn *conn, struct rxm_buf *buf)
{
	const struct rxm_wire_op *op = &buf->hdr->op;
	struct kofi_srx_arrival what = {
		.ep	= &conn->ep->soft.kep,
		.flags	= (op->op == RXM_WIRE_TAGGED ? FI_TAGGED : FI_MSG) |
			  (op->flags & RXM_WIRE_CQ_DATA ? FI_REMOTE_CQ_DATA : 0),
		.tag	= op->op == RXM_WIRE_TAGGED ? op->tag : 0,
		.len	= op->size,
		.data	= op->flags & RXM_WIRE_CQ_DATA ? op->data : 0,
	};
	struct rxm_unexp *unexp = NULL;
	struct kofi_rx *rx;
	int ret;

	if (conn->head_waits) {
		ret = rxm_head(conn, buf, &unexp);
		if (ret <= 0)
			return ret;
	}
	rxm_source(conn->ep, &conn->addr, &what.src_addr, &what.source);
	ret = unexp ? rxm_unexp(conn, buf, unexp, &what, &rx) : rxm_arrive(conn, buf, &what, &rx);
	switch (ret) {
	case KOFI_SRX_MATCHED:
		rxm_take(conn, buf, rx, NULL);
		return 0;
	case KOFI_SRX_QUEUED:
		return 0;
	case -EAGAIN:
	case -EINPROGRESS:
		return -EAGAIN;
	default:
		/* The endpoint has ended, or the message goes with its connection */
		rxm_take(conn, buf, NULL, NULL);
		return 0;
	}
}

static int rxm_seg(struct rxm_conn *conn, struct rxm_buf *buf)
{
	const struct rxm_wire_hdr *hdr = buf->hdr;
	u8 type = hdr->ctrl.seg_type & RXM_WIRE_SEG_MASK;
	struct rxm_sar *sar = rxm_sar_find(conn, hdr->ctrl.msg_id);

	if (type == RXM_WIRE_SEG_FIRST) {
		if (sar || !rxm_sar_free(conn))
			return -EPROTO;
		return rxm_message(conn, buf);
	}
	if (!sar || rxm_wire_seg_check(hdr, sar->size, sar->have, sar->next) ||
	    rxm_is_slow(sar->begun, sar->have + rxm_payload(buf)))
		return -EPROTO;
	rxm_sar_add(conn, sar, buf);
	return 0;
}

/*
 * Returns a completion for remote CQ data that use no receive; NULL: all are unread, and what has
 * come is looked at again when one is free
 */
static struct kofi_soft_event *rxm_event_get(struct rxm_conn *conn)
{
	struct kofi_soft_ep *soft = &conn->ep->soft;
	struct kofi_soft_event *event = kofi_soft_event_get(soft);

	if (event)
		return event;
	/* From here on rxm_event_room() finds the connection */
	rxm_stall(conn);
	return kofi_soft_event_get(soft);
}

static void rxm_event_report(struct rxm_conn *conn, struct kofi_soft_event *event, size_t len,
			     u64 data)
{
	fi_addr_t src_addr, source;

	rxm_source(conn->ep, &conn->addr, &src_addr, &source);
	kofi_soft_event_report(event, &conn->ep->soft, len, data, source);
}

/* An atomic operation of the peer; as rxm_packet() */
static int rxm_atomic_request(struct rxm_conn *conn, struct rxm_buf *buf)
{
	const struct rxm_wire_op *op = &buf->hdr->op;
	struct kofi_soft_ep *soft = &conn->ep->soft;
	struct kofi_soft_event *event = NULL;
	ssize_t operand = -EPROTO;
	u64 data = op->data;
	int ret;

	/* With a result there is nothing to report */
	if (op->op == RXM_WIRE_BASE_ATOMIC && op->flags & RXM_WIRE_CQ_DATA &&
	    kofi_soft_is_target(soft)) {
		event = rxm_event_get(conn);
		if (!event)
			return -EAGAIN;
	}
	ret = rxm_atomic(conn, buf, &operand);
	if (event && operand >= 0)
		rxm_event_report(conn, event, operand, data);
	else if (event)
		kofi_soft_event_put(soft, event);
	return ret;
}

/*
 * Deals with a packet.  0; 1: its buffer is in use; -EAGAIN: it has to wait; -EPROTO: the peer
 * breaks the rules.
 */
static int rxm_packet(struct rxm_conn *conn, struct rxm_buf *buf)
{
	const struct rxm_wire_hdr *hdr = buf->hdr;
	int ret = rxm_wire_check(hdr, buf->len, conn->id);

	if (ret)
		return ret;
	switch (hdr->ctrl.type) {
	case RXM_WIRE_SEG:
		return rxm_seg(conn, buf);
	case RXM_WIRE_RNDV_READ_DONE:
		return rxm_offer_read(conn, hdr->ctrl.msg_id);
	case RXM_WIRE_RNDV_WRITE_DATA:
		return rxm_offer_asked(conn, hdr->ctrl.msg_id, (const void *)(hdr + 1));
	case RXM_WIRE_RNDV_WRITE_DONE:
		return rxm_write_done(conn, hdr->ctrl.msg_id);
	case RXM_WIRE_ATOMIC:
		return rxm_atomic_request(conn, buf);
	case RXM_WIRE_ATOMIC_RESP:
		return rxm_atomic_answered(conn, buf);
	case RXM_WIRE_CREDIT:
		/* Where credits are counted, rxm_read_cq() takes it */
		return -EPROTO;
	case RXM_WIRE_LEAVE:
		return rxm_idle_asked(conn, hdr->ctrl.msg_id);
	case RXM_WIRE_STAY:
		return rxm_idle_answered(conn);
	default:
		return rxm_message(conn, buf);
	}
}

/* Have a connection ended by which nothing comes any more */
static void rxm_broken(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	rxm_conn_fail(conn, ECONNRESET);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/*
 * Posts a buffer again, unless the connection is over.  What has come before its end is dealt with
 * also if that fails
 */
static void rxm_repost(struct rxm_conn *conn, struct rxm_buf *buf)
{
	if (READ_ONCE(conn->state) == RXM_OVER)
		return;
	/* Its slot is free, so any error is the end of the lower endpoint */
	if (fi_recv(conn->lower, buf->hdr, sizeof(*buf->hdr) + rxm_eager(), NULL, FI_ADDR_UNSPEC,
		    buf))
		rxm_broken(conn);
	else if (conn->credits.on)
		rxm_credit_posted(conn);
}

/**
 * rxm_responded() - fi_done.done of a response
 * @done: the completion
 * @entry: of the lower endpoint
 *
 * Context: any.
 */
void rxm_responded(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct rxm_buf *buf = container_of(done, struct rxm_buf, done);

	if (entry->err)
		rxm_broken(buf->conn);
	else
		rxm_repost(buf->conn, buf);
}

/*
 * libfabric 1.13 to 1.17 sends a tagged message of one packet by a message of tcp that has the tag
 * and the remote CQ data, and no header.  Gives it the header that it has elsewhere; 0 or -EPROTO.
 */
static int rxm_add_header(struct rxm_conn *conn, struct rxm_buf *buf,
			  const struct fi_cq_tagged_entry *entry)
{
	size_t len = buf->len;

	if (len > rxm_eager())
		return -EPROTO;
	memmove(buf->hdr + 1, buf->hdr, len);
	*buf->hdr = (struct rxm_wire_hdr) {
		.ctrl.version	= RXM_WIRE_CTRL_VERSION,
		.ctrl.conn_id	= conn->id,
		.op.version	= RXM_WIRE_OP_HDR_VERSION,
		.op.op		= RXM_WIRE_TAGGED,
		.op.flags	= entry->flags & FI_REMOTE_CQ_DATA ? RXM_WIRE_CQ_DATA : 0,
		.op.size	= len,
		.op.data	= entry->data,
		.op.tag		= entry->tag,
	};
	buf->len = sizeof(*buf->hdr) + len;
	return 0;
}

/* A write of the peer with remote CQ data; -EAGAIN: it has to wait */
static int rxm_written(struct rxm_conn *conn, const struct fi_cq_tagged_entry *entry)
{
	struct kofi_soft_event *event;

	if (!kofi_soft_is_target(&conn->ep->soft))
		return 0;
	event = rxm_event_get(conn);
	if (!event)
		return -EAGAIN;
	rxm_event_report(conn, event, entry->len, entry->data);
	return 0;
}

/* Deals with a completion; -EAGAIN: it has to wait */
static int rxm_arrived(struct rxm_conn *conn, struct fi_cq_tagged_entry *entry)
{
	struct rxm_buf *buf = entry->op_context;
	int ret = 0;

	if (entry->flags & FI_REMOTE_WRITE) {
		ret = rxm_written(conn, entry);
	} else {
		buf->len = entry->len;
		if (unlikely(entry->flags & FI_TAGGED)) {
			ret = rxm_add_header(conn, buf, entry);
			/* If the packet has to wait, it has its header the next time */
			entry->flags &= ~FI_TAGGED;
			entry->len = buf->len;
		}
		if (!ret)
			ret = rxm_packet(conn, buf);
	}
	if (ret < 0) {
		if (ret != -EAGAIN)
			pr_debug_ratelimited("%pISpc breaks the rules of the wire\n", &conn->addr);
		return ret;
	}
	/* Not every provider uses a receive for such a write */
	if (!ret && buf)
		rxm_repost(conn, buf);
	return 0;
}

static void rxm_set_stuck(struct rxm_conn *conn, bool stuck)
{
	if (conn->stuck && !stuck)
		WRITE_ONCE(conn->resumed, jiffies);
	if (conn->stuck != stuck)
		WRITE_ONCE(conn->stuck, stuck);
}

/* Takes the grants out of what has been read; their receives wait for nothing; 0; -EPROTO */
static int rxm_count_read(struct rxm_conn *conn, const struct fi_cq_tagged_entry *read,
			  size_t count)
{
	int ret = rxm_credit_came(conn, read, count);
	size_t i;

	for (i = 0; i < count && !ret; i++) {
		if (!rxm_credit_is_grant(conn, &read[i])) {
			conn->entries[conn->nentries++] = read[i];
			continue;
		}
		WRITE_ONCE(conn->taken, conn->taken + 1);
		rxm_repost(conn, read[i].op_context);
	}
	return ret;
}

/* Reads completions behind those that have not been dealt with; 0; or a negative errno */
static int rxm_read_cq(struct rxm_conn *conn, unsigned int count)
{
	struct fi_cq_tagged_entry *end = conn->entries + conn->nentries;
	ssize_t ret = fi_cq_read(conn->rx_cq, end, count);

	if (ret < 0)
		return ret == -EAGAIN ? -EAGAIN : -ECONNRESET;
	if (conn->credits.on)
		return rxm_count_read(conn, end, ret);
	conn->nentries += ret;
	return 0;
}

/*
 * The next packet has to wait, and grants may be behind it.  There are no more packets than
 * receives, as reads and writes of the peer have no completions here.  An error of the lower queue
 * ends the connection, and rxm_receive_rest() deals with what has come before it.
 */
static int rxm_look_ahead(struct rxm_conn *conn)
{
	int i, ret = 0;

	conn->nentries -= conn->next_entry;
	memmove(conn->entries, conn->entries + conn->next_entry,
		conn->nentries * sizeof(conn->entries[0]));
	conn->next_entry = 0;
	for (i = 0; !ret && conn->nentries < RXM_RX; i++) {
		/* The receives of grants are posted again, so there may be more and more of them */
		if (i == RXM_BUDGET)
			return 1;
		ret = rxm_read_cq(conn, RXM_RX - conn->nentries);
	}
	if (ret == -ECONNRESET)
		rxm_broken(conn);
	return ret == -EPROTO ? ret : -EAGAIN;
}

/*
 * Deals with what has come; 1: with so much that others have their turn; -EAGAIN: there is no more,
 * or the rest has to wait
 */
static int rxm_receive_some(struct rxm_conn *conn)
{
	int i, ret;

	for (i = 0; i < RXM_BUDGET; i++) {
		if (conn->next_entry == conn->nentries) {
			conn->nentries = 0;
			conn->next_entry = 0;
			ret = rxm_read_cq(conn, RXM_BATCH);
			if (ret)
				return ret;
			if (!conn->nentries)
				continue;
		}
		ret = rxm_arrived(conn, &conn->entries[conn->next_entry]);
		rxm_set_stuck(conn, ret == -EAGAIN);
		if (ret == -EAGAIN && conn->credits.on)
			ret = rxm_look_ahead(conn);
		if (ret)
			return ret;
		WRITE_ONCE(conn->taken, conn->taken + 1);
		conn->next_entry++;
	}
	return 1;
}

/**
 * rxm_receive_all() - Deal with what has come, unless another task does
 * @conn: as rxm_receive(), or rxm_receive_rest()
 *
 * Context: any.
 * Return: as rxm_receive_some(); -EBUSY: another task is at it, and looks again.
 */
int rxm_receive_all(struct rxm_conn *conn)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&conn->rx_lock, flags);
	conn->rx_again = true;
	if (conn->rx_busy) {
		ret = -EBUSY;
		goto unlock;
	}
	conn->rx_busy = true;
	while (conn->rx_again && !conn->rx_broken) {
		conn->rx_again = false;
		spin_unlock_irqrestore(&conn->rx_lock, flags);
		ret = rxm_receive_some(conn);
		spin_lock_irqsave(&conn->rx_lock, flags);
		/* Nobody deals with what is behind a packet that breaks the rules, or an error */
		conn->rx_broken = ret < 0 && ret != -EAGAIN;
	}
	conn->rx_busy = false;
	/* rxm_receive_rest() has found @rx_busy under the lock, and waits */
	if (unlikely(READ_ONCE(conn->state) == RXM_OVER)) {
		/* Pairs with set_current_state() of the waiter */
		smp_mb();
		wake_up_var(&conn->rx_busy);
	}
unlock:
	spin_unlock_irqrestore(&conn->rx_lock, flags);
	return ret;
}

/**
 * rxm_receive() - Deal with what has come by a connection
 * @conn: a connection in use, or in a callback of its lower queue
 *
 * Context: any.
 */
void rxm_receive(struct rxm_conn *conn)
{
	int ret = rxm_receive_all(conn);

	if (ret > 0) {
		rxm_stall(conn);
		kofi_soft_kick(&conn->ep->soft);
	} else if (ret && ret != -EAGAIN && ret != -EBUSY) {
		rxm_broken(conn);
	}
}
