// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets that are sent.
 *
 * Only kofi_soft_ep.work sends, so the packets of a connection are in the order in which its
 * operations were posted.  Each packet is copied into a buffer of the connection.  If there is
 * none, the completion of a packet makes the connection ready again (rxm_conn_ready()).
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

	/* An answer belongs to no operation */
	rxm_part_done(conn, buf->op, &buf->entry, &conn->free, entry->err ? ECANCELED : 0,
		      entry->err);
}

static bool rxm_is_rma(const struct rxm_op *op)
{
	return op->soft.kept.type == FI_OP_READ || op->soft.kept.type == FI_OP_WRITE;
}

static bool rxm_is_atomic(const struct rxm_op *op)
{
	return op->soft.kept.type >= FI_OP_ATOMIC;
}

/* Takes the operation to be sent next; NULL: there is none, or the connection ends */
static struct rxm_op *rxm_tx_next(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	struct kofi_soft_op *next;
	struct rxm_op *op = NULL;

	spin_lock_irq(&ep->soft.lock);
	if (!conn->peer || conn->err)
		goto unlock;
	op = conn->sending;
	if (op)
		goto unlock;
	next = list_first_entry_or_null(&conn->peer->posted, struct kofi_soft_op, entry);
	if (!next)
		goto unlock;
	list_del(&next->entry);
	op = to_rxm_op(next);
	op->sent = 0;
	op->err = 0;
	op->packets = 1;
	op->begun = false;
	op->prepared = false;
	op->nmrs = 0;
	op->copy = NULL;
	if (rxm_is_rma(op))
		rxm_rma_begin(op);
	conn->sending = op;
unlock:
	spin_unlock_irq(&ep->soft.lock);
	return op;
}

/* Takes a buffer for the next packet of an operation; NULL: all are being sent */
static struct rxm_buf *rxm_tx_get(struct rxm_conn *conn, struct rxm_op *op)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_buf *buf;

	spin_lock_irq(&ep->soft.lock);
	buf = list_first_entry_or_null(&conn->free, struct rxm_buf, entry);
	if (buf) {
		list_del_init(&buf->entry);
		buf->op = op;
		op->packets++;
	}
	spin_unlock_irq(&ep->soft.lock);
	return buf;
}

/* A packet has not been taken by the lower endpoint */
static void rxm_tx_put(struct rxm_buf *buf)
{
	struct rxm_conn *conn = buf->conn;

	spin_lock_irq(&conn->ep->soft.lock);
	if (buf->op)
		buf->op->packets--;
	list_add(&buf->entry, &conn->free);
	spin_unlock_irq(&conn->ep->soft.lock);
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
	if (op->nmrs) {
		op->msg_id = ++conn->msg_id;
		hdr->ctrl.type = RXM_WIRE_RNDV_REQ;
		hdr->ctrl.msg_id = op->msg_id;
		rxm_offer_fill(op, (struct rxm_wire_rndv *)(hdr + 1));
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
		kofi_iov_gather(hdr + 1, &kept->local, op->sent, len);
	return len;
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

	if (!(buf->op->soft.kept.flags & FI_TRANSMIT_COMPLETE))
		return fi_send(conn->lower, iov.iov_base, iov.iov_len, NULL, FI_ADDR_UNSPEC,
			       &buf->done);
	return fi_sendmsg(conn->lower, &msg, FI_COMPLETION | FI_TRANSMIT_COMPLETE);
}

/* Is the peer to answer the packet of an operation? */
static bool rxm_is_answered(const struct rxm_op *op)
{
	return op->nmrs || rxm_is_atomic(op);
}

/* Counts one more that an operation waits for, before the peer can answer */
static void rxm_tx_await(struct rxm_conn *conn, struct rxm_op *op)
{
	if (!rxm_is_answered(op))
		return;
	spin_lock_irq(&conn->ep->soft.lock);
	op->packets++;
	list_add_tail(&op->soft.entry, op->nmrs ? &conn->offered : &conn->atomics);
	if (rxm_is_atomic(op)) {
		conn->natomics++;
		op->since = jiffies;
		rxm_watch_begin(conn->ep);
	}
	spin_unlock_irq(&conn->ep->soft.lock);
}

/* The packet has not been taken by the lower endpoint */
static void rxm_tx_withdraw(struct rxm_conn *conn, struct rxm_op *op)
{
	if (!rxm_is_answered(op))
		return;
	spin_lock_irq(&conn->ep->soft.lock);
	op->packets--;
	list_del(&op->soft.entry);
	conn->natomics -= rxm_is_atomic(op);
	spin_unlock_irq(&conn->ep->soft.lock);
}

/* May no further atomic operation be under way?  The response to one has the caller look again */
static bool rxm_atomics_wait(struct rxm_conn *conn)
{
	return READ_ONCE(conn->natomics) >= RXM_ATOMICS;
}

/* Sends the next packet of a message, or an atomic operation; as rxm_rma_post() */
static ssize_t rxm_packet_send(struct rxm_conn *conn, struct rxm_op *op)
{
	struct rxm_buf *buf;
	ssize_t ret = 0;
	size_t len;

	if (rxm_is_atomic(op) && rxm_atomics_wait(conn))
		return -EAGAIN;
	if (!op->prepared && !rxm_is_atomic(op) && rxm_is_offered(op))
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
	/* The packet may have completed, but the operation has not: it counts one more */
	op->begun = true;
	op->sent += rxm_is_answered(op) ? op->soft.kept.len : len;
	return 0;
}

/* All packets of an operation have been given to the lower endpoint */
static void rxm_op_sent(struct rxm_conn *conn, struct rxm_op *op)
{
	bool over;
	int err;

	spin_lock_irq(&conn->ep->soft.lock);
	conn->sending = NULL;
	over = !--op->packets;
	err = op->err;
	spin_unlock_irq(&conn->ep->soft.lock);
	if (over)
		kofi_soft_op_done(&op->soft, err);
}

/* Sends an answer, if one is due and there is a buffer: 0; -ENODATA; -EAGAIN; another errno */
static ssize_t rxm_answer(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;
	struct kofi_rx *rx = NULL;
	struct rxm_buf *buf;
	ssize_t ret;

	spin_lock_irq(&ep->soft.lock);
	buf = list_first_entry_or_null(&conn->free, struct rxm_buf, entry);
	if (buf && !conn->err && rxm_rndv_answer(conn, buf, &rx)) {
		list_del_init(&buf->entry);
		buf->op = NULL;
	} else {
		buf = NULL;
	}
	spin_unlock_irq(&ep->soft.lock);
	if (!buf)
		return -ENODATA;
	if (rx)
		kofi_rx_complete(rx);
	ret = fi_send(conn->lower, buf->hdr, sizeof(*buf->hdr), NULL, FI_ADDR_UNSPEC, &buf->done);
	if (ret)
		rxm_tx_put(buf);
	return ret;
}

/**
 * rxm_send() - Read what the peer of a connection offers, and send what is posted for it
 * @conn: a connection in use
 *
 * Context: may sleep; kofi_soft_ep.work.
 */
void rxm_send(struct rxm_conn *conn)
{
	struct rxm_op *op;
	ssize_t ret = 0;
	int i;

	rxm_offers_done(conn);
	rxm_rndv_read(conn);
	do {
		ret = rxm_answer(conn);
	} while (!ret);
	if (ret == -ENODATA)
		ret = rxm_respond(conn);
	if (ret) {
		/* The answer has gone, and the peer would wait for it */
		spin_lock_irq(&conn->ep->soft.lock);
		rxm_conn_fail(conn, ECONNRESET);
		spin_unlock_irq(&conn->ep->soft.lock);
		return;
	}
	for (i = 0; i < RXM_BUDGET; i++) {
		op = rxm_tx_next(conn);
		if (!op)
			return;
		ret = rxm_is_rma(op) ? rxm_rma_post(conn, op) : rxm_packet_send(conn, op);
		if (ret)
			break;
		conn->used = true;
		if (op->sent == op->soft.kept.len)
			rxm_op_sent(conn, op);
	}
	spin_lock_irq(&conn->ep->soft.lock);
	if (!ret)
		rxm_conn_ready(conn);
	else if (ret != -EAGAIN)
		rxm_conn_fail(conn, ECONNRESET);
	spin_unlock_irq(&conn->ep->soft.lock);
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
