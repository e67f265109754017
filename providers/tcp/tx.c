// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The sending half of a connection, run by the holder of ktcp_conn.run.
 *
 * A message is sent to its end before another begins.  The next one is, in this order, an
 * acknowledgment, TCP_WIRE_CTS, an answer to a read by the peer, TCP_WIRE_LEAVE, a payload that
 * the peer wants, or the oldest posted operation.
 *
 * A message goes to the socket with MSG_MORE if another follows at once, so TCP makes full
 * segments of what is queued.
 *
 * The socket copies short messages, each with its header in one call.  So an operation has
 * completed when all of it is in the socket.  If the client wants to know more
 * (FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE, FI_COMMIT_COMPLETE), the operation has completed
 * when the peer acknowledges it; acknowledgments come in the order of arrival.  A save (FI_SAVE)
 * has no payload, and is otherwise sent as an operation of its kind.  A long message is sent
 * without a copy (zerocopy.c), and has not completed before TCP has let go of its pages.  A read
 * has completed when its answer is there; answers come in the order of requests.
 */
#include <linux/module.h>
#include <linux/tcp.h>
#include <linux/uio.h>
#include <net/tcp_states.h>
#include "rdm.h"

#define KTCP_DELIVERED	(FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)
#define KTCP_ACKED	(KTCP_DELIVERED | FI_COMMIT_COMPLETE)

void ktcp_tx_init(struct ktcp_tx *tx)
{
	INIT_LIST_HEAD(&tx->answers);
	INIT_LIST_HEAD(&tx->reads);
	INIT_LIST_HEAD(&tx->acked);
	INIT_LIST_HEAD(&tx->offered);
	INIT_LIST_HEAD(&tx->wanted);
}

static struct ktcp_answer *ktcp_first_answer(struct ktcp_tx *tx)
{
	return list_first_entry(&tx->answers, struct ktcp_answer, entry);
}

static void ktcp_op_hdr(struct kofi_soft_op *op, struct ktcp_hdr *hdr)
{
	const struct ktcp_op *top = to_ktcp_op(op);
	const struct kofi_kept_op *kept = &op->kept;

	*hdr = (struct ktcp_hdr) {
		.op	= kept->kind == KOFI_OP_SEND ? TCP_WIRE_MSG :
			  kept->kind == KOFI_OP_TSEND ? TCP_WIRE_TAGGED :
			  kept->kind == KOFI_OP_READ ? TCP_WIRE_READ_REQ :
						       TCP_WIRE_WRITE,
		.data	= kept->data,
		.tag	= kept->tag,
		.number	= top->number,
	};
	if (kept->flags & FI_REMOTE_CQ_DATA)
		hdr->flags |= TCP_WIRE_CQ_DATA;
	if (kept->flags & FI_SAVE)
		hdr->flags |= TCP_WIRE_SAVE;
	if (kept->flags & FI_COMMIT_COMPLETE)
		hdr->flags |= TCP_WIRE_COMMIT;
	if (kept->kind != KOFI_OP_READ) {
		hdr->len = kept->len;
		if (kept->flags & KTCP_DELIVERED)
			hdr->flags |= TCP_WIRE_ACK_WANTED;
	}
	if (top->number && !top->wanted) {
		hdr->op = TCP_WIRE_RTS;
		hdr->msg_len = kept->len;
		hdr->len = 0;
	} else if (top->number) {
		hdr->op = TCP_WIRE_DATA;
	}
	if (kept->kind == KOFI_OP_READ || kept->kind == KOFI_OP_WRITE) {
		hdr->count = kept->remote_count;
		memcpy(hdr->rma, kept->rma, hdr->count * sizeof(hdr->rma[0]));
	}
}

/**
 * ktcp_next_posted() - Take the oldest posted operation
 * @conn: the connection, with ktcp_conn.run held, or when it is over
 * @busy: earlier operations are not over, and an operation with FI_FENCE has to wait for them
 *
 * Context: any.
 * Return: the operation, out of its list; NULL: there is none, or it has to wait.
 */
struct kofi_soft_op *ktcp_next_posted(struct ktcp_conn *conn, bool busy)
{
	struct kofi_soft_op *op;
	unsigned long flags;

	spin_lock_irqsave(&conn->soft->lock, flags);
	if (conn->stopped)
		op = NULL;
	else
		op = list_first_entry_or_null(conn->posted, struct kofi_soft_op, entry);
	if (op && busy && op->kept.flags & FI_FENCE)
		op = NULL;
	if (op && ktcp_rts_is_due(conn, &op->kept) && !ktcp_rts_has_number(conn))
		op = NULL;
	if (op)
		list_del(&op->entry);
	/* Read under the lock: a peer, and its list, may be forgotten when the link has ended */
	conn->tx.more = op && !list_empty(conn->posted);
	spin_unlock_irqrestore(&conn->soft->lock, flags);
	return op;
}

/**
 * ktcp_op_put() - One of the things that an operation waits for is over
 * @soft: the operation, in no list; it is over if that was the last
 * @err: positive error code; 0: that went well
 *
 * Context: with ktcp_conn.run held, or when the connection is over, by its worker.
 */
void ktcp_op_put(struct kofi_soft_op *soft, int err)
{
	struct ktcp_op *op = to_ktcp_op(soft);

	if (err)
		op->err = err;
	if (!--op->waits)
		kofi_soft_op_done(soft, op->err);
}

static void ktcp_answer_done(struct ktcp_conn *conn, struct ktcp_answer *answer, int err)
{
	struct kofi_soft_ep *at;

	if (err) {
		kofi_rma_put(&answer->rma);
	} else {
		at = ktcp_conn_at(conn) ? : conn->soft;
		kofi_ep_count(&at->kep, FI_REMOTE_READ, 0, answer->rma.len);
		kofi_rma_done(&answer->rma, 0);
	}
	kofi_bufpool_put(&conn->answers, answer);
}

/**
 * ktcp_tx_let_go() - TCP has let go of the pages of a message
 * @conn: the connection, which may go afterwards
 * @zc: the message
 * @err: positive error code; 0: the peer's TCP has acknowledged it
 *
 * Context: with ktcp_conn.run held.
 */
void ktcp_tx_let_go(struct ktcp_conn *conn, struct ktcp_zc *zc, int err)
{
	conn->tx.zcs--;
	if (zc->kind == KTCP_TX_OP) {
		conn->tx.lent--;
		ktcp_op_put(&container_of(zc, struct ktcp_op, zc)->soft, err);
	} else {
		ktcp_answer_done(conn, container_of(zc, struct ktcp_answer, zc), err);
		kofi_soft_ep_put(conn->soft);
	}
}

/* Has the message that begins now sent without a copy, if that is possible */
static void ktcp_tx_begin_zc(struct ktcp_conn *conn)
{
	struct ktcp_tx *tx = &conn->tx;
	struct ktcp_zc *zc;

	tx->zc = NULL;
	if (tx->kind == KTCP_TX_ACK)
		return;
	/* TCP would keep pages that may be taken back */
	if (tx->kind == KTCP_TX_ANSWER && ktcp_first_answer(tx)->rma.revocable)
		return;
	zc = tx->kind == KTCP_TX_OP ? &to_ktcp_op(tx->op)->zc : &ktcp_first_answer(tx)->zc;
	if (!ktcp_zc_begin(conn, zc, tx->left))
		return;
	if (tx->kind == KTCP_TX_OP) {
		to_ktcp_op(tx->op)->waits++;
		tx->lent++;
	} else if (!kofi_soft_ep_try_get(conn->soft)) {
		/* The endpoint is being closed, and waits for nobody any more */
		return;
	}
	zc->kind = tx->kind;
	tx->zc = zc;
	tx->zcs++;
}

/* The next operation that is to be sent, or whose payload is; NULL: there is none */
static struct kofi_soft_op *ktcp_tx_next_op(struct ktcp_conn *conn)
{
	struct ktcp_tx *tx = &conn->tx;
	bool busy = !list_empty(&tx->reads) || !list_empty(&tx->acked) ||
		    !list_empty(&tx->offered) || tx->lent;
	struct kofi_soft_op *op;
	struct ktcp_op *top;

	op = list_first_entry_or_null(&tx->wanted, struct kofi_soft_op, entry);
	if (op) {
		list_del(&op->entry);
		return op;
	}
	/* Operations for a peer that hangs up, or may do so, go by the next connection */
	if (conn->leaving)
		return NULL;
	if (conn->rdm && READ_ONCE(conn->sk.sock->sk->sk_state) != TCP_ESTABLISHED)
		return NULL;
	op = ktcp_next_posted(conn, busy);
	if (!op)
		return NULL;
	top = to_ktcp_op(op);
	top->waits = 1;
	top->err = 0;
	top->number = 0;
	top->wanted = false;
	if (ktcp_rts_is_due(conn, &op->kept))
		top->number = ktcp_rts_number(conn);
	tx->begun = true;
	if (op->ep->sep)
		__set_bit(op->ep->index, &to_ktcp_link(conn)->senders);
	return op;
}

/* Begins the next message; false: there is none */
static bool ktcp_tx_next(struct ktcp_conn *conn)
{
	struct ktcp_tx *tx = &conn->tx;
	struct ktcp_hdr hdr = {};

	if (atomic_read(&conn->late_acks))
		tx->acks += atomic_xchg(&conn->late_acks, 0);
	if (!tx->acks && conn->rendezvous)
		hdr.number = ktcp_cts_next(conn);
	if (tx->acks) {
		tx->acks--;
		tx->kind = KTCP_TX_ACK;
		hdr.op = TCP_WIRE_MSG;
		hdr.ack = true;
	} else if (hdr.number) {
		tx->kind = KTCP_TX_ACK;
		hdr.op = TCP_WIRE_CTS;
	} else if (!list_empty(&tx->answers)) {
		tx->kind = KTCP_TX_ANSWER;
		/* All answers to reads before it have been sent */
		if (ktcp_first_answer(tx)->flags & TCP_WIRE_SAVE)
			kofi_rma_save(&ktcp_first_answer(tx)->rma,
				      ktcp_first_answer(tx)->flags & TCP_WIRE_COMMIT);
		hdr.op = TCP_WIRE_READ_RSP;
		hdr.len = ktcp_first_answer(tx)->rma.len;
	} else if (conn->leave_due) {
		tx->kind = KTCP_TX_ACK;
		hdr.op = TCP_WIRE_MSG;
		hdr.flags = TCP_WIRE_LEAVE | TCP_WIRE_CQ_DATA;
		hdr.data = conn->rx.count;
		conn->leave_due = false;
		conn->leaving = true;
	} else {
		tx->op = ktcp_tx_next_op(conn);
		if (!tx->op)
			return false;
		tx->kind = KTCP_TX_OP;
		ktcp_op_hdr(tx->op, &hdr);
	}
	if (!(hdr.flags & TCP_WIRE_LEAVE))
		tx->count++;
	tx->hdr_len = ktcp_hdr_build(tx->hdr, &hdr, tx->id++, conn->net_order);
	tx->hdr_sent = 0;
	tx->left = hdr.len;
	ktcp_tx_begin_zc(conn);
	iov_iter_kvec(&tx->iter, ITER_SOURCE, NULL, 0, 0);
	return true;
}

/*
 * Flags for bytes that end the message if they are @last.  With MSG_MORE, TCP keeps what does not
 * fill a segment, as more follows at once.  If that has to wait after all, ktcp_send() has TCP
 * send what it keeps.
 */
static int ktcp_tx_flags(struct ktcp_conn *conn, bool last)
{
	struct ktcp_tx *tx = &conn->tx;

	tx->held = !last || tx->acks || !list_empty(&tx->answers) || tx->more;
	return MSG_DONTWAIT | MSG_NOSIGNAL | (tx->held ? MSG_MORE : 0);
}

/* Has tx->iter address the next part of the payload */
static void ktcp_tx_part(struct ktcp_tx *tx)
{
	const struct kofi_rma *rma;

	if (tx->kind == KTCP_TX_OP) {
		kofi_kept_next(&tx->op->kept, ITER_SOURCE, &tx->iter);
		return;
	}
	rma = &ktcp_first_answer(tx)->rma;
	kofi_rma_iter(rma, ITER_SOURCE, rma->len - tx->left, SIZE_MAX, &tx->iter);
}

/* A copied payload of one buffer is sent with the header; returns how many kvecs that adds */
static unsigned int ktcp_tx_with_hdr(struct ktcp_tx *tx, struct kvec *kvec)
{
	if (!tx->left || tx->zc || tx->kind != KTCP_TX_OP)
		return 0;
	if (!iov_iter_count(&tx->iter))
		ktcp_tx_part(tx);
	if (!iov_iter_is_kvec(&tx->iter) || tx->iter.nr_segs != 1)
		return 0;
	kvec->iov_base = tx->iter.kvec->iov_base + tx->iter.iov_offset;
	kvec->iov_len = iov_iter_count(&tx->iter);
	return 1;
}

static int ktcp_tx_hdr(struct ktcp_conn *conn)
{
	struct ktcp_tx *tx = &conn->tx;
	struct msghdr msg = {};
	struct kvec kvec[2];
	size_t hdr, len;
	int ret;

	while (tx->hdr_sent < tx->hdr_len) {
		hdr = tx->hdr_len - tx->hdr_sent;
		kvec[0] = (struct kvec) { tx->hdr + tx->hdr_sent, hdr };
		kvec[1] = (struct kvec) {};
		ret = 1 + ktcp_tx_with_hdr(tx, &kvec[1]);
		len = hdr + kvec[1].iov_len;
		msg.msg_flags = ktcp_tx_flags(conn, kvec[1].iov_len == tx->left);
		ret = kernel_sendmsg(conn->sk.sock, &msg, kvec, ret, len);
		if (ret < 0)
			return ret;
		hdr = min_t(size_t, hdr, ret);
		tx->hdr_sent += hdr;
		iov_iter_advance(&tx->iter, ret - hdr);
		tx->left -= ret - hdr;
	}
	return 0;
}

/* What an answer reads may be taken back before the socket has all of it */
static int ktcp_tx_answer(struct ktcp_conn *conn, struct msghdr *msg)
{
	const struct kofi_rma *rma = &ktcp_first_answer(&conn->tx)->rma;
	int idx, ret;

	idx = kofi_rma_enter(rma);
	if (idx < 0)
		return idx;
	ret = sock_sendmsg(conn->sk.sock, msg);
	kofi_rma_leave(rma, idx);
	return ret;
}

static int ktcp_tx_payload(struct ktcp_conn *conn)
{
	struct bio_vec bvec[KTCP_ZC_PAGES];
	struct ktcp_tx *tx = &conn->tx;
	struct msghdr msg;
	int ret;

	while (tx->left) {
		if (!iov_iter_count(&tx->iter))
			ktcp_tx_part(tx);
		msg = (struct msghdr) { .msg_iter = tx->iter };
		if (tx->zc)
			ktcp_zc_fill(tx->zc, &msg, bvec);
		msg.msg_flags |= ktcp_tx_flags(conn, msg_data_left(&msg) >= tx->left);
		ret = tx->kind == KTCP_TX_ANSWER ? ktcp_tx_answer(conn, &msg) :
						   sock_sendmsg(conn->sk.sock, &msg);
		if (ret < 0)
			return ret;
		if (tx->zc)
			ktcp_zc_taken(tx->zc, &msg);
		iov_iter_advance(&tx->iter, ret);
		tx->left -= ret;
	}
	return 0;
}

/* The socket has all of the message */
static void ktcp_tx_sent(struct ktcp_conn *conn)
{
	struct ktcp_tx *tx = &conn->tx;
	struct ktcp_answer *answer;
	struct kofi_soft_op *op = tx->op;

	if (tx->zc)
		ktcp_zc_end(tx->zc, true);
	switch (tx->kind) {
	case KTCP_TX_ANSWER:
		answer = ktcp_first_answer(tx);
		list_del(&answer->entry);
		if (!tx->zc)
			ktcp_answer_done(conn, answer, 0);
		break;
	case KTCP_TX_OP:
		tx->op = NULL;
		if (to_ktcp_op(op)->number && !to_ktcp_op(op)->wanted) {
			list_add_tail(&op->entry, &tx->offered);
			break;
		}
		if (to_ktcp_op(op)->number)
			ktcp_rts_done(conn, to_ktcp_op(op)->number);
		if (op->kept.kind == KOFI_OP_READ)
			list_add_tail(&op->entry, &tx->reads);
		else if (op->kept.flags & KTCP_ACKED)
			list_add_tail(&op->entry, &tx->acked);
		else
			ktcp_op_put(op, 0);
		break;
	default:
		break;
	}
	tx->zc = NULL;
	tx->kind = KTCP_TX_IDLE;
	conn->used = jiffies;
}

/**
 * ktcp_send() - Send what there is to be sent
 * @conn: a connection in KTCP_OPEN, with ktcp_conn.run held
 * @budget: messages that may be sent; counted down
 *
 * Context: may sleep, but does not wait for the peer.
 * Return: 0: the budget is used up; -EAGAIN: there is nothing to be sent, or no room; another
 * negative errno: the connection is over.
 */
int ktcp_send(struct ktcp_conn *conn, int *budget)
{
	int ret = 0;

	lockdep_assert_held(&conn->run);
	while (*budget > 0) {
		ktcp_zc_reap(conn);
		if (conn->tx.kind == KTCP_TX_IDLE && !ktcp_tx_next(conn)) {
			ret = -EAGAIN;
			break;
		}
		ret = ktcp_tx_hdr(conn);
		if (!ret)
			ret = ktcp_tx_payload(conn);
		if (ret)
			break;
		ktcp_tx_sent(conn);
		--*budget;
	}
	/* TCP sends what MSG_MORE has kept, as Nagle's algorithm, if on, allows */
	if (conn->tx.held && (!ret || ret == -EAGAIN))
		tcp_sock_set_cork(conn->sk.sock->sk, false);
	conn->tx.held = false;
	return ret;
}

static void ktcp_cancel(struct list_head *ops, int err)
{
	struct kofi_soft_op *op, *next;

	list_for_each_entry_safe(op, next, ops, entry) {
		list_del(&op->entry);
		ktcp_op_put(op, err);
	}
}

/**
 * ktcp_tx_abort() - Give back what the sending half has
 * @conn: a connection that is over, by its worker
 * @err: error of operations that are under way, positive
 *
 * Operations of one kind end in the order in which they were posted.  If TCP has the pages of an
 * operation, the operation ends when TCP lets go of them.
 *
 * Context: may sleep.
 */
void ktcp_tx_abort(struct ktcp_conn *conn, int err)
{
	struct ktcp_tx *tx = &conn->tx;
	struct ktcp_answer *answer, *next;

	if (tx->zc) {
		if (tx->kind == KTCP_TX_ANSWER)
			list_del(&ktcp_first_answer(tx)->entry);
		ktcp_zc_end(tx->zc, false);
	}
	tx->zc = NULL;
	list_for_each_entry_safe(answer, next, &tx->answers, entry) {
		list_del(&answer->entry);
		ktcp_answer_done(conn, answer, ECANCELED);
	}
	ktcp_cancel(&tx->acked, err);
	ktcp_cancel(&tx->reads, err);
	ktcp_cancel(&tx->offered, err);
	ktcp_cancel(&tx->wanted, err);
	if (tx->op)
		ktcp_op_put(tx->op, err);
	tx->op = NULL;
	tx->kind = KTCP_TX_IDLE;
}
