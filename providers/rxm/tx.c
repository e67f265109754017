// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets that are sent.
 *
 * One task at a time sends by a connection (rxm_conn.tx_busy), so its packets are in the order in
 * which its operations were posted.  That task is in a call of the client (rxm_now()), in the
 * completion of a packet or piece, or kofi_soft_ep.work.  A task that finds another one at it has
 * that one look again (rxm_conn.tx_again).  Only the work item may sleep: it registers the memory
 * of messages that are offered, and does what peers wait for, as it reads, writes and answers.
 *
 * Each packet is copied into a buffer of the connection.  If there is none, the next operation
 * waits (rxm_conn.sending) for the completion of a packet, or for a credit of the peer (credit.c).
 *
 * An operation is over when its last packet has completed at the lower endpoint; an atomic
 * operation (atomic.c) and a message that is offered (offer.c), when the peer has answered, too.
 * Reads and writes (rma.c) are posted among the packets.
 */
#include <linux/module.h>
#include "rxm.h"

/* fi_done.done of a packet that has been sent */
void rxm_sent(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct rxm_buf *buf = container_of(done, struct rxm_buf, done);
	struct rxm_conn *conn = buf->conn;

	/* Most answers belong to no operation */
	if (rxm_part_done(conn, buf->op, &buf->entry, &conn->free, entry->err ? ECANCELED : 0,
			  entry->err))
		rxm_send_more(conn);
}

static bool rxm_is_rma(const struct rxm_op *op)
{
	return op->soft.kept.type == FI_OP_READ || op->soft.kept.type == FI_OP_WRITE;
}

/* fi_done.done of a piece; without one of a message the connection is of no use */
void rxm_rma_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct rxm_rma *rma = container_of(done, struct rxm_rma, done);
	struct rxm_conn *conn = rma->conn;
	bool broken = entry->err == ECANCELED ||
		      (entry->err && (conn->ep->errors_end_conn || !rxm_is_rma(rma->op)));

	if (rxm_part_done(conn, rma->op, &rma->entry, &conn->rmas_free, entry->err, broken))
		rxm_send_more(conn);
}

static bool rxm_is_atomic(const struct rxm_op *op)
{
	return op->soft.kept.type >= FI_OP_ATOMIC;
}

/* Is an operation one packet, and over when that has been sent? */
static bool rxm_is_single(const struct rxm_op *op)
{
	const struct kofi_kept_op *kept = &op->soft.kept;

	return !rxm_is_rma(op) && !rxm_is_atomic(op) && kept->len <= rxm_eager() &&
	       !rxm_is_offered(op);
}

/* Takes the first operation that has been posted to a peer; NULL: there is none */
static struct rxm_op *rxm_tx_begin(struct rxm_peer *peer)
{
	struct kofi_soft_op *next;
	struct rxm_op *op;

	next = list_first_entry_or_null(&peer->posted, struct kofi_soft_op, entry);
	if (!next)
		return NULL;
	list_del(&next->entry);
	op = to_rxm_op(next);
	op->sent = 0;
	op->err = 0;
	op->packets = 1;
	op->begun = false;
	op->prepared = false;
	op->is_asked = false;
	op->regs.count = 0;
	op->regs.copy = NULL;
	if (rxm_is_rma(op))
		rxm_rma_begin(op);
	return op;
}

static struct rxm_buf *rxm_buf_get(struct rxm_conn *conn, struct rxm_op *op)
{
	struct rxm_buf *buf;

	lockdep_assert_held(&conn->ep->soft.lock);
	buf = list_first_entry_or_null(&conn->free, struct rxm_buf, entry);
	if (buf) {
		list_del_init(&buf->entry);
		buf->op = op;
	}
	return buf;
}

/*
 * Takes the operation to be sent next; NULL: there is none, or the connection ends.  If @buf is not
 * NULL afterwards, it is for the only packet of the operation, which ends with this packet.
 */
static struct rxm_op *rxm_tx_next(struct rxm_conn *conn, struct rxm_buf **buf)
{
	struct rxm_op *op = conn->sending;

	lockdep_assert_held(&conn->ep->soft.lock);
	*buf = NULL;
	if (!conn->peer || conn->err || conn->leaving)
		return NULL;
	if (!op)
		op = rxm_tx_begin(conn->peer);
	if (op && rxm_is_single(op))
		*buf = rxm_buf_get(conn, op);
	conn->sending = *buf ? NULL : op;
	return op;
}

/* Takes a buffer for the next packet of an operation; NULL: all are being sent */
static struct rxm_buf *rxm_tx_get(struct rxm_conn *conn, struct rxm_op *op)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_buf *buf;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	buf = rxm_buf_get(conn, op);
	if (buf)
		op->packets++;
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return buf;
}

/* A packet has not been taken by the lower endpoint */
static void rxm_tx_put(struct rxm_buf *buf)
{
	struct rxm_conn *conn = buf->conn;
	unsigned long flags;

	spin_lock_irqsave(&conn->ep->soft.lock, flags);
	buf->op->packets--;
	list_add(&buf->entry, &conn->free);
	rxm_credit_check(conn);
	spin_unlock_irqrestore(&conn->ep->soft.lock, flags);
}

/* Copies a part of a message, most of which have one buffer */
static void rxm_gather(void *to, const struct kofi_iov *iov, size_t offset, size_t len)
{
	if (likely(iov->count == 1 && !iov->pages && !iov->is_lent && !iov->is_sgl))
		memcpy(to, iov->kvec[0].iov_base + offset, len);
	else
		kofi_iov_gather(to, iov, offset, len);
}

/* Writes the next packet of an operation; returns its bytes of payload */
static size_t rxm_packet_fill(struct rxm_conn *conn, struct rxm_op *op, struct rxm_wire_hdr *hdr)
{
	const struct kofi_kept_op *kept = &op->soft.kept;
	size_t len = min_t(size_t, kept->len - op->sent, rxm_eager());

	*hdr = (struct rxm_wire_hdr) {
		.ctrl.version	= RXM_WIRE_CTRL_VERSION,
		.ctrl.conn_id	= conn->peer_id,
		.op.version	= RXM_WIRE_OP_HDR_VERSION,
		.op.op		= kept->type == FI_OP_TSEND ? RXM_WIRE_TAGGED : RXM_WIRE_MSG,
		.op.size	= kept->len,
	};
	if (kept->type == FI_OP_TSEND)
		hdr->op.tag = kept->tag;
	if (kept->flags & FI_REMOTE_CQ_DATA) {
		hdr->op.flags = RXM_WIRE_CQ_DATA;
		hdr->op.data = kept->data & conn->ep->data_mask;
	}
	if (rxm_is_atomic(op))
		return rxm_atomic_fill(conn, op, hdr);
	if (op->regs.count) {
		op->msg_id = ++conn->msg_id;
		hdr->ctrl.type = RXM_WIRE_RNDV_REQ;
		hdr->ctrl.msg_id = op->msg_id;
		rxm_regs_fill(&op->regs, (struct rxm_wire_rndv *)(hdr + 1));
		return sizeof(struct rxm_wire_rndv);
	}
	if (kept->len > rxm_eager()) {
		if (!op->sent)
			op->msg_id = ++conn->msg_id;
		hdr->ctrl.type = RXM_WIRE_SEG;
		hdr->ctrl.seg_size = len;
		hdr->ctrl.seg_no = op->sent / rxm_eager();
		hdr->ctrl.msg_id = op->msg_id;
		hdr->ctrl.seg_type = !op->sent ? RXM_WIRE_SEG_FIRST :
				     op->sent + len < kept->len ? RXM_WIRE_SEG_MIDDLE :
								  RXM_WIRE_SEG_LAST;
	}
	if (len)
		rxm_gather(hdr + 1, &kept->local, op->sent, len);
	return len;
}

/* Is the peer to answer the packet of an operation? */
static bool rxm_is_answered(const struct rxm_op *op)
{
	return op->regs.count || rxm_is_atomic(op);
}

/* Is an operation, or none, to complete when the lower endpoint of the peer has its packet? */
static bool rxm_is_to_arrive(const struct rxm_op *op)
{
	u64 flags = op ? op->soft.kept.flags : 0;

	return flags & FI_TRANSMIT_COMPLETE ||
	       (flags & FI_DELIVERY_COMPLETE && !rxm_is_answered(op));
}

static ssize_t rxm_packet_post(struct rxm_conn *conn, struct rxm_buf *buf, size_t len)
{
	struct kvec iov = { .iov_base = buf->hdr, .iov_len = sizeof(*buf->hdr) + len };
	const struct fi_msg msg = {
		.type		= FI_BUF_KVEC,
		.msg_iov	= &iov,
		.iov_count	= 1,
		.addr		= FI_ADDR_UNSPEC,
		.context	= &buf->done,
	};

	if (!rxm_is_to_arrive(buf->op))
		return fi_send(conn->lower, iov.iov_base, iov.iov_len, NULL, FI_ADDR_UNSPEC,
			       &buf->done);
	return fi_sendmsg(conn->lower, &msg, FI_COMPLETION | FI_TRANSMIT_COMPLETE);
}

/* Counts one more that an operation waits for, before the peer can answer */
static void rxm_tx_await(struct rxm_conn *conn, struct rxm_op *op)
{
	unsigned long flags;

	if (!rxm_is_answered(op))
		return;
	spin_lock_irqsave(&conn->ep->soft.lock, flags);
	op->packets++;
	list_add_tail(&op->soft.entry, op->regs.count ? &conn->offered : &conn->atomics);
	if (rxm_is_atomic(op)) {
		conn->natomics++;
		op->since = jiffies;
		rxm_watch_begin(conn->ep);
	}
	spin_unlock_irqrestore(&conn->ep->soft.lock, flags);
}

/* The packet has not been taken by the lower endpoint */
static void rxm_tx_withdraw(struct rxm_conn *conn, struct rxm_op *op)
{
	unsigned long flags;

	if (!rxm_is_answered(op))
		return;
	spin_lock_irqsave(&conn->ep->soft.lock, flags);
	/* A peer that breaks the rules may have answered it nevertheless: rxm_atomic_take() */
	if (!list_empty(&op->soft.entry)) {
		op->packets--;
		list_del_init(&op->soft.entry);
		conn->natomics -= rxm_is_atomic(op);
		conn->to_write -= op->is_asked;
	}
	spin_unlock_irqrestore(&conn->ep->soft.lock, flags);
}

/* May no further atomic operation be under way?  The response to one has the caller look again */
static bool rxm_atomics_wait(struct rxm_conn *conn)
{
	return READ_ONCE(conn->natomics) >= RXM_ATOMICS;
}

/* Is the memory of a message to be registered before it is sent?  That may sleep */
static bool rxm_is_to_prepare(const struct rxm_op *op)
{
	return !op->prepared && !rxm_is_rma(op) && !rxm_is_atomic(op) && rxm_is_offered(op);
}

/* Sends the next packet of a message, or an atomic operation; as rxm_rma_post() */
static ssize_t rxm_packet_send(struct rxm_conn *conn, struct rxm_op *op)
{
	struct rxm_buf *buf;
	ssize_t ret = 0;
	size_t len;

	if (rxm_is_atomic(op) && rxm_atomics_wait(conn))
		return -EAGAIN;
	if (rxm_is_to_prepare(op))
		ret = rxm_offer_prepare(conn, op);
	op->prepared = true;
	if (ret) {
		op->err = -ret;
		op->sent = op->soft.kept.len;
		return 0;
	}
	buf = rxm_tx_get(conn, op);
	if (!buf)
		return -EAGAIN;
	len = rxm_packet_fill(conn, op, buf->hdr);
	rxm_tx_await(conn, op);
	ret = rxm_packet_post(conn, buf, len);
	if (ret) {
		rxm_tx_withdraw(conn, op);
		rxm_tx_put(buf);
		return ret;
	}
	conn->sent++;
	/* The packet may have completed, but the operation has not: it counts one more */
	op->begun = true;
	op->sent += rxm_is_answered(op) ? op->soft.kept.len : len;
	return 0;
}

/* All packets of an operation have been given to the lower endpoint */
static void rxm_op_sent(struct rxm_conn *conn, struct rxm_op *op)
{
	unsigned long flags;
	bool over;
	int err;

	spin_lock_irqsave(&conn->ep->soft.lock, flags);
	conn->sending = NULL;
	over = !--op->packets;
	err = op->err;
	spin_unlock_irqrestore(&conn->ep->soft.lock, flags);
	if (over)
		kofi_soft_op_done(&op->soft, err);
}

/* Sends an operation of one packet, which may be over afterwards */
static ssize_t rxm_send_single(struct rxm_conn *conn, struct rxm_op *op, struct rxm_buf *buf)
{
	unsigned long flags;
	ssize_t ret;

	ret = rxm_packet_post(conn, buf, rxm_packet_fill(conn, op, buf->hdr));
	if (likely(!ret)) {
		conn->used = true;
		conn->sent++;
		return 0;
	}
	spin_lock_irqsave(&conn->ep->soft.lock, flags);
	list_add(&buf->entry, &conn->free);
	conn->sending = op;
	rxm_credit_check(conn);
	spin_unlock_irqrestore(&conn->ep->soft.lock, flags);
	return ret;
}

/*
 * Sends the next part of an operation.  0; -EAGAIN: when a part has completed, or the lower
 * endpoint has room; -EBUSY: by a task that may sleep; another errno: the connection is over.
 */
static ssize_t rxm_send_part(struct rxm_conn *conn, struct rxm_op *op, struct rxm_buf *buf,
			     bool may_sleep)
{
	ssize_t ret;

	if (buf)
		return rxm_send_single(conn, op, buf);
	if (rxm_is_single(op))
		return -EAGAIN;
	if (!may_sleep && rxm_is_to_prepare(op))
		return -EBUSY;
	ret = rxm_is_rma(op) ? rxm_rma_post(conn, op) : rxm_packet_send(conn, op);
	if (ret)
		return ret;
	conn->used = true;
	if (op->sent == op->soft.kept.len)
		rxm_op_sent(conn, op);
	return 0;
}

/* Begins to send, as a user of the connection; false: another task sends, or nothing can be sent */
static bool rxm_send_begin(struct rxm_conn *conn)
{
	lockdep_assert_held(&conn->ep->soft.lock);
	if (conn->state != RXM_OPEN)
		return false;
	if (conn->tx_busy) {
		conn->tx_again = true;
		return false;
	}
	conn->tx_busy = true;
	conn->users++;
	return true;
}

/* Ends what rxm_send_begin() has begun; @ret: of rxm_send_part(), or 0 */
static void rxm_send_done(struct rxm_conn *conn, ssize_t ret, bool more)
{
	struct rxm_ep *ep = conn->ep;

	lockdep_assert_held(&ep->soft.lock);
	more |= conn->tx_again || ret == -EBUSY;
	conn->tx_busy = false;
	conn->tx_again = false;
	if (ret && ret != -EAGAIN && ret != -EBUSY) {
		rxm_conn_fail(conn, ECONNRESET);
	} else if (more) {
		rxm_conn_ready(conn);
		if (!list_empty(&conn->ready))
			kofi_soft_kick(&ep->soft);
	}
	if (!--conn->users && conn->state == RXM_OVER)
		complete(&conn->unused);
}

/* Sends what is posted; the lock is held, and released meanwhile */
static void rxm_send_posted(struct rxm_conn *conn, bool may_sleep, unsigned long *flags)
	__must_hold(&conn->ep->soft.lock)
{
	struct kofi_soft_ep *soft = &conn->ep->soft;
	struct rxm_buf *buf;
	struct rxm_op *op;
	ssize_t ret = 0;
	int i;

	for (i = 0; i < RXM_BUDGET && !ret; i++) {
		op = rxm_tx_next(conn, &buf);
		if (!op)
			break;
		spin_unlock_irqrestore(&soft->lock, *flags);
		ret = rxm_send_part(conn, op, buf, may_sleep);
		spin_lock_irqsave(&soft->lock, *flags);
	}
	rxm_send_done(conn, ret, i == RXM_BUDGET);
}

/**
 * rxm_send_now() - Send what has been posted, if nothing waits to be sent before
 * @conn: the connection of the peer that something has been posted to
 * @flags: as spin_lock_irqsave() has set them
 *
 * Context: any, with kofi_soft_ep.lock held, which is released meanwhile.
 */
void rxm_send_now(struct rxm_conn *conn, unsigned long *flags)
{
	lockdep_assert_held(&conn->ep->soft.lock);
	if (!conn->sending && rxm_send_begin(conn))
		rxm_send_posted(conn, false, flags);
}

/**
 * rxm_send_more() - Send what has waited until a part has completed
 * @conn: a connection in a callback of its lower queue
 *
 * Context: any.
 */
void rxm_send_more(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	if (rxm_send_begin(conn))
		rxm_send_posted(conn, false, &flags);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/*
 * Writes an answer, with @len bytes of payload: false: none is due.  @rx: the receive that
 * completes now, if there is one.
 */
static bool rxm_answer_fill(struct rxm_conn *conn, struct rxm_buf *buf, size_t *len,
			    struct kofi_rx **rx)
{
	lockdep_assert_held(&conn->ep->soft.lock);
	*len = 0;
	buf->op = NULL;
	return rxm_rndv_answer(conn, buf, rx) || rxm_write_invite(conn, buf, len) ||
	       rxm_offer_wrote(conn, buf) || rxm_idle_fill(conn, buf->hdr);
}

/* Sends an answer, if one is due and there is a buffer: 0; -ENODATA; -EAGAIN; another errno */
static ssize_t rxm_answer(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	struct kofi_rx *rx = NULL;
	struct rxm_buf *buf;
	ssize_t ret;
	size_t len;

	spin_lock_irq(&ep->soft.lock);
	buf = list_first_entry_or_null(&conn->free, struct rxm_buf, entry);
	if (buf && !conn->err && rxm_answer_fill(conn, buf, &len, &rx))
		list_del_init(&buf->entry);
	else
		buf = NULL;
	spin_unlock_irq(&ep->soft.lock);
	if (!buf)
		return -ENODATA;
	if (rx)
		kofi_rx_complete(rx);
	ret = rxm_packet_post(conn, buf, len);
	if (!ret)
		conn->sent++;
	else
		rxm_part_done(conn, buf->op, &buf->entry, &conn->free, ECANCELED, true);
	return ret;
}

/**
 * rxm_send() - Do what the peer of a connection waits for, and send what is posted for it
 * @conn: a connection in use
 *
 * Context: may sleep; kofi_soft_ep.work.
 */
void rxm_send(struct rxm_conn *conn)
{
	struct kofi_soft_ep *soft = &conn->ep->soft;
	unsigned long flags;
	ssize_t ret = 0;
	bool begun;

	spin_lock_irqsave(&soft->lock, flags);
	begun = rxm_send_begin(conn);
	spin_unlock_irqrestore(&soft->lock, flags);
	if (!begun)
		return;
	rxm_offers_done(conn);
	rxm_writes_done(conn);
	rxm_offers_write(conn);
	rxm_rndv_read(conn);
	rxm_writes_prepare(conn);
	if (conn->credits.on)
		ret = rxm_grant(conn);
	while (!ret)
		ret = rxm_answer(conn);
	if (ret == -ENODATA)
		ret = rxm_respond(conn);
	spin_lock_irqsave(&soft->lock, flags);
	/* The answer has gone, and the peer would wait for it, also if it could be sent later */
	if (ret)
		rxm_send_done(conn, -ECONNRESET, false);
	else
		rxm_send_posted(conn, true, &flags);
	spin_unlock_irqrestore(&soft->lock, flags);
}

/**
 * rxm_send_end() - Take back the operation that a connection has not sent to its end
 * @conn: a connection that is over and not in use
 * @posted: where the operation goes if no packet of it has been sent
 *
 * Context: may sleep; rxm_ep.cm, before the lower endpoint is drained.
 */
void rxm_send_end(struct rxm_conn *conn, struct list_head *posted)
{
	struct rxm_op *op;
	bool over = false;
	int err = 0;

	op = conn->sending;
	/* Of an offer that has been posted nothing is left to be sent */
	if (op && !rxm_is_rma(op))
		rxm_offer_unreg(op);
	spin_lock_irq(&conn->ep->soft.lock);
	conn->sending = NULL;
	if (op && op->begun) {
		op->err = op->err ? : rxm_op_err(conn);
		over = !--op->packets;
		err = op->err;
	} else if (op) {
		list_add(&op->soft.entry, posted);
	}
	spin_unlock_irq(&conn->ep->soft.lock);
	if (over)
		kofi_soft_op_done(&op->soft, err);
}
