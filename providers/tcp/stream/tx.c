// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The sending half of a connection, run by the holder of ktcp_conn.token.
 *
 * The next message is, in this order, the refusal of a write, an acknowledgment, TCP_WIRE_CTS, the
 * refusal of an RTS, a response to a read by the peer, or the refusal of the read, TCP_WIRE_LEAVE,
 * a payload that the peer wants, or the oldest posted operation.  Behind a response goes an
 * operation, if there is one: a peer that reads all the time does not keep this end from sending.
 *
 * One call gives the socket up to KTCP_GATHER short messages with their headers, and the header
 * of a long one (ktcp_gather()).  What the socket does not take stays gathered, and is sent before
 * anything else begins.  A long payload, or that of a response, goes piece by piece
 * (ktcp_tx_payload()).  The call has MSG_MORE if more follows at once, so TCP makes full segments
 * of what is queued.  It has MSG_MORE, too, if callbacks that do not sleep follow at once, and may
 * post (ktcp_tx.defers): then the next turn sends what they post, or has TCP send what it keeps.
 *
 * The socket copies short messages.  So an operation has completed when all of it is in the
 * socket.  If the client wants to know more
 * (FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE, FI_COMMIT_COMPLETE), the operation has completed
 * when the peer acknowledges it; acknowledgments come in the order of arrival.  A save (FI_SAVE)
 * has no payload, and is otherwise sent as an operation of its kind.  A long message is sent
 * without a copy (zerocopy.c), and has not completed before TCP has let go of its pages.  A read
 * has completed when its response is there; responses come in the order of requests.  So has a
 * write of a tagged receive, whose response has no bytes.
 */
#include <linux/module.h>
#include <linux/tcp.h>
#include <linux/uio.h>
#include <net/tcp.h>
#include <net/tcp_states.h>
#include "stream.h"

#define KTCP_PRIME	(PAGE_SIZE / 2)	/* bytes of messages that a page is enough for */
#define KTCP_DELIVERED	(FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)
#define KTCP_ACKED	(KTCP_DELIVERED | FI_COMMIT_COMPLETE)
#define KTCP_NOT_PLAIN	(KTCP_ACKED | FI_FENCE | FI_SAVE | FI_REMOTE_CQ_DATA | FI_REMOTE_INV)

void ktcp_tx_init(struct ktcp_tx *tx)
{
	INIT_LIST_HEAD(&tx->refusals);
	INIT_LIST_HEAD(&tx->responses);
	INIT_LIST_HEAD(&tx->unacked);
	INIT_LIST_HEAD(&tx->reads);
	INIT_LIST_HEAD(&tx->acked);
	INIT_LIST_HEAD(&tx->await_cts);
	INIT_LIST_HEAD(&tx->wanted);
}

static void ktcp_op_hdr(struct kofi_soft_op *op, struct ktcp_hdr *hdr)
{
	const struct ktcp_op *top = to_ktcp_op(op);
	const struct kofi_kept_op *kept = &op->kept;

	*hdr = (struct ktcp_hdr) {
		.op	= ktcp_op_is_access(kept) ?
			  (kept->type == FI_OP_READ ? TCP_WIRE_TAGGED_READ :
						      TCP_WIRE_TAGGED_WRITE) :
			  kept->type == FI_OP_SEND ? TCP_WIRE_MSG :
			  kept->type == FI_OP_TSEND ? TCP_WIRE_TAGGED :
			  kept->type == FI_OP_READ ? TCP_WIRE_READ_REQ :
						       TCP_WIRE_WRITE,
		.data	= kept->data,
		.tag	= kept->tag,
		.number	= top->number,
	};
	if (kept->flags & FI_REMOTE_CQ_DATA)
		hdr->flags |= TCP_WIRE_CQ_DATA;
	if (kept->flags & FI_REMOTE_INV)
		hdr->flags |= TCP_WIRE_CQ_DATA | TCP_WIRE_END_KEY;
	if (kept->flags & FI_SAVE)
		hdr->flags |= TCP_WIRE_SAVE;
	if (kept->flags & FI_COMMIT_COMPLETE)
		hdr->flags |= TCP_WIRE_COMMIT;
	if (kept->type != FI_OP_READ) {
		hdr->len = kept->len;
		if (kept->flags & KTCP_DELIVERED && !ktcp_op_is_access(kept))
			hdr->flags |= TCP_WIRE_ACK_WANTED;
	}
	if (ktcp_op_is_access(kept)) {
		hdr->msg_len = kept->len;
		return;
	}
	if (top->number && !top->wanted) {
		hdr->op = TCP_WIRE_RTS;
		hdr->msg_len = kept->len;
		hdr->len = 0;
	} else if (top->number) {
		hdr->op = TCP_WIRE_DATA;
	}
	if (kept->type == FI_OP_READ || kept->type == FI_OP_WRITE) {
		hdr->count = kept->remote_count;
		memcpy(hdr->rma, kept->rma, hdr->count * sizeof(*hdr->rma));
	}
}

/**
 * ktcp_next_posted() - Take the oldest posted operation
 * @conn: the connection, with ktcp_conn.token held, or when it is over
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
	if (op && conn->rendezvous && !conn->upper->may_begin(conn, &op->kept))
		op = NULL;
	if (op && conn->few_reads && conn->tx.asked == KTCP_RESPONSES &&
	    ktcp_op_has_response(&op->kept))
		op = NULL;
	if (op)
		list_del(&op->entry);
	/* Read under the lock: a peer, and its list, may be forgotten when the link has ended */
	conn->tx.more = op && !list_empty(conn->posted);
	spin_unlock_irqrestore(&conn->soft->lock, flags);
	return op;
}

/* Send the message that begins now without a copy, if that is possible */
static void ktcp_tx_begin_zc(struct ktcp_conn *conn)
{
	struct ktcp_tx *tx = &conn->tx;
	struct ktcp_zc *zc;

	tx->zc = NULL;
	if (tx->kind == KTCP_TX_ACK)
		return;
	/* TCP would keep pages that may be taken back */
	if (tx->kind == KTCP_TX_RESPONSE && ktcp_first_response(tx)->rma.revocable)
		return;
	zc = tx->kind == KTCP_TX_OP ? &to_ktcp_op(tx->op)->zc : &ktcp_first_response(tx)->zc;
	if (!ktcp_zc_begin(conn, zc, tx->left))
		return;
	if (tx->kind == KTCP_TX_OP) {
		to_ktcp_op(tx->op)->waits++;
		tx->lent++;
	} else if (!ktcp_response_lend(conn, ktcp_first_response(tx))) {
		return;
	}
	zc->kind = tx->kind;
	tx->zc = zc;
	tx->zcs++;
}

/* A posted operation is about to be sent */
static void ktcp_op_begin(struct ktcp_conn *conn, struct ktcp_op *top)
{
	top->waits = 1;
	top->err = 0;
	top->number = 0;
	top->wanted = false;
	top->refused = false;
	conn->tx.begun = true;
	if (top->soft.ep->sep)
		conn->upper->begun(conn, top->soft.ep);
}

/* Is it an operation that the peer does not understand?  Then nothing of it is sent */
static bool ktcp_op_is_unknown(const struct ktcp_conn *conn, const struct kofi_kept_op *kept)
{
	return ktcp_op_is_access(kept) && !conn->tagged_rma;
}

/* The next operation that is to be sent, or whose payload is; NULL: there is none */
static struct kofi_soft_op *ktcp_tx_next_op(struct ktcp_conn *conn)
{
	struct ktcp_tx *tx = &conn->tx;
	bool busy = !list_empty(&tx->reads) || !list_empty(&tx->acked) ||
		    !list_empty(&tx->await_cts) || tx->lent || tx->gather.waits;
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
	if (conn->upper && READ_ONCE(conn->sk.sock->sk->sk_state) != TCP_ESTABLISHED)
		return NULL;
	while ((op = ktcp_next_posted(conn, busy)) && ktcp_op_is_unknown(conn, &op->kept))
		kofi_soft_op_done(op, EOPNOTSUPP);
	if (!op)
		return NULL;
	top = to_ktcp_op(op);
	ktcp_op_begin(conn, top);
	tx->asked += ktcp_op_has_response(&op->kept);
	if (conn->rendezvous)
		top->number = conn->upper->number(conn, &op->kept);
	return op;
}

/* Is a response the next message?  If not, tx->op is the operation whose turn it is, or NULL */
static bool ktcp_tx_responses_next(struct ktcp_conn *conn)
{
	struct ktcp_tx *tx = &conn->tx;

	tx->op = NULL;
	if (list_empty(&tx->responses))
		return false;
	if (tx->responded)
		tx->op = ktcp_tx_next_op(conn);
	return !tx->op;
}

/* Fill in the header of a refusal, and forget the refusal */
static void ktcp_tx_refuse(struct ktcp_conn *conn, struct ktcp_response *response,
			   struct ktcp_hdr *hdr)
{
	conn->tx.kind = KTCP_TX_ACK;
	hdr->op = TCP_WIRE_REFUSAL;
	hdr->number = response->reason;
	list_del(&response->entry);
	kofi_bufpool_put(&conn->responses, response);
}

/* The response to a read is the next message, or its refusal; returns as ktcp_response_save() */
static bool ktcp_tx_begin_response(struct ktcp_conn *conn, struct ktcp_hdr *hdr)
{
	struct ktcp_response *response = ktcp_first_response(&conn->tx);

	if (unlikely(ktcp_response_is_refused(conn, response))) {
		ktcp_tx_refuse(conn, response, hdr);
		return true;
	}
	if (!ktcp_response_save(conn, response))
		return false;
	conn->tx.kind = KTCP_TX_RESPONSE;
	hdr->op = TCP_WIRE_READ_RSP;
	hdr->len = ktcp_response_len(response);
	return true;
}

static void ktcp_gather_add(struct ktcp_gather *gather, void *base, size_t len)
{
	gather->kvec[gather->kvecs++] = (struct kvec) { base, len };
	gather->bytes += len;
}

/*
 * Begins the next message, and gathers its header; false: there is none, or ktcp_conn.failed says
 * why it cannot begin
 */
static bool ktcp_tx_next(struct ktcp_conn *conn)
{
	struct ktcp_tx *tx = &conn->tx;
	struct ktcp_gather *gather = &tx->gather;
	struct ktcp_response *refusal;
	struct ktcp_hdr hdr = {};
	size_t len;

	refusal = list_first_entry_or_null(&tx->refusals, struct ktcp_response, entry);
	if (atomic_read(&conn->late_acks))
		tx->acks += atomic_xchg(&conn->late_acks, 0);
	if (unlikely(refusal)) {
		hdr.flags = TCP_WIRE_CQ_DATA;
		hdr.data = refusal->number;
		ktcp_tx_refuse(conn, refusal, &hdr);
	} else if (tx->acks) {
		tx->acks--;
		tx->kind = KTCP_TX_ACK;
		hdr.op = TCP_WIRE_MSG;
		hdr.ack = true;
	} else if (conn->rendezvous && conn->upper->signal(conn, &hdr)) {
		tx->kind = KTCP_TX_ACK;
	} else if (ktcp_tx_responses_next(conn)) {
		tx->responded = true;
		if (!ktcp_tx_begin_response(conn, &hdr))
			return false;
	} else if (!tx->op && conn->leave_due) {
		tx->kind = KTCP_TX_ACK;
		hdr.op = TCP_WIRE_MSG;
		hdr.flags = TCP_WIRE_LEAVE | TCP_WIRE_CQ_DATA;
		hdr.data = conn->rx.count;
		conn->leave_due = false;
		conn->leaving = true;
	} else {
		if (!tx->op)
			tx->op = ktcp_tx_next_op(conn);
		if (!tx->op)
			return false;
		tx->kind = KTCP_TX_OP;
		tx->responded = false;
		ktcp_op_hdr(tx->op, &hdr);
	}
	if (!(hdr.flags & TCP_WIRE_LEAVE))
		tx->count++;
	len = ktcp_hdr_build(gather->hdrs + gather->hdrs_len, &hdr, tx->id++, conn->net_order);
	ktcp_gather_add(gather, gather->hdrs + gather->hdrs_len, len);
	gather->hdrs_len += len;
	tx->left = hdr.len;
	ktcp_tx_begin_zc(conn);
	iov_iter_kvec(&tx->iter, ITER_SOURCE, NULL, 0, 0);
	return true;
}

/*
 * Flags for bytes that end the message if they are @last.  With MSG_MORE, TCP keeps what does not
 * fill a segment, as more follows at once.  If that has to wait after all, ktcp_send() has TCP
 * send what it keeps.  A client that has several messages in flight is likely to post as many from
 * their callbacks.
 */
static int ktcp_tx_flags(const struct ktcp_tx *tx, bool last)
{
	bool more = !last || tx->acks || !list_empty(&tx->responses) || tx->more ||
		    (tx->defers && tx->kind == KTCP_TX_IDLE && tx->gather.count > 1);

	return MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0);
}

/* Sends.  What the socket refuses changes nothing of what TCP keeps of bytes before */
static int ktcp_tx_sendmsg(struct ktcp_conn *conn, struct msghdr *msg, bool last)
{
	int flags = ktcp_tx_flags(&conn->tx, last), ret;

	msg->msg_flags |= flags;
	ret = sock_sendmsg(conn->sk.sock, msg);
	if (ret >= 0)
		conn->tx.held = flags & MSG_MORE;
	return ret;
}

/* Point tx->iter at the next part of the payload */
static void ktcp_tx_part(struct ktcp_tx *tx)
{
	const struct ktcp_response *response;
	size_t done;

	if (tx->kind == KTCP_TX_OP) {
		kofi_kept_next(&tx->op->kept, ITER_SOURCE, &tx->iter);
		return;
	}
	response = ktcp_first_response(tx);
	done = ktcp_response_len(response) - tx->left;
	if (response->rx)
		kofi_rx_source(response->rx, done, &tx->iter);
	else
		kofi_rma_iter(&response->rma, ITER_SOURCE, done, SIZE_MAX, &tx->iter);
}

/*
 * Gathers the payload of the message that has begun, if the socket is to copy it, and it is short
 * and has one buffer.  Returns whether all of the message is gathered now.
 */
static bool ktcp_gather_payload(struct ktcp_tx *tx)
{
	if (tx->kind == KTCP_TX_RESPONSE || tx->zc || tx->left > KTCP_COPY_MAX)
		return false;
	if (!tx->left)
		return true;
	ktcp_tx_part(tx);
	if (!iov_iter_is_kvec(&tx->iter) || tx->iter.nr_segs != 1 ||
	    iov_iter_count(&tx->iter) != tx->left)
		return false;
	ktcp_gather_add(&tx->gather, tx->iter.kvec->iov_base + tx->iter.iov_offset, tx->left);
	tx->left = 0;
	return true;
}

/* Does an operation wait for the peer when the socket has all of its message? */
static bool ktcp_op_waits(struct kofi_soft_op *op)
{
	const struct ktcp_op *top = to_ktcp_op(op);

	return ktcp_op_has_response(&op->kept) || op->kept.flags & KTCP_ACKED ||
	       (top->number && !top->wanted);
}

/* Is it an untagged message from one short buffer that has completed when the socket has it? */
static bool ktcp_op_is_plain(const struct kofi_kept_op *kept)
{
	return kept->type == FI_OP_SEND && !(kept->flags & KTCP_NOT_PLAIN) &&
	       kept->len && kept->len <= KTCP_COPY_MAX && kept->local.count == 1 &&
	       !kept->local.pages;
}

/* Are posted operations the next messages, and may all of them begin? */
static bool ktcp_posted_is_next(struct ktcp_conn *conn)
{
	const struct ktcp_tx *tx = &conn->tx;

	if (tx->acks || atomic_read(&conn->late_acks) || !list_empty(&tx->responses) ||
	    !list_empty(&tx->refusals) || conn->leave_due || conn->leaving ||
	    !list_empty(&tx->wanted))
		return false;
	if (!conn->upper)
		return true;
	return !(conn->rendezvous && conn->upper->signal_is_due(conn)) &&
	       READ_ONCE(conn->sk.sock->sk->sk_state) == TCP_ESTABLISHED;
}

/*
 * Is nothing to be sent?  A post that follows queues the worker, or sends by itself.  The list of a
 * link may become another one, so only its holder of the lock looks at it.
 */
static bool ktcp_tx_has_nothing(struct ktcp_conn *conn)
{
	return !conn->upper && !conn->tx.held && ktcp_tx_is_idle(&conn->tx) &&
	       ktcp_posted_is_next(conn) && list_empty_careful(conn->posted);
}

/* Takes posted operations out of their list, up to @most, as long as they are plain */
static void ktcp_gather_take(struct ktcp_conn *conn, unsigned int most)
{
	struct ktcp_gather *gather = &conn->tx.gather;
	struct kofi_soft_op *op = NULL;
	unsigned long flags;
	size_t bytes = 0;

	spin_lock_irqsave(&conn->soft->lock, flags);
	while (!conn->stopped && gather->count < most && bytes < KTCP_GATHER_BYTES) {
		op = list_first_entry_or_null(conn->posted, struct kofi_soft_op, entry);
		if (!op || !ktcp_op_is_plain(&op->kept))
			break;
		list_del(&op->entry);
		bytes += op->kept.len;
		gather->msg[gather->count++].op = op;
	}
	conn->tx.more = !conn->stopped && !list_empty(conn->posted);
	spin_unlock_irqrestore(&conn->soft->lock, flags);
}

/*
 * Gathers plain messages that are posted, with one hold of the lock.  A post that
 * follows queues the worker, or sends by itself, so ktcp_gather.last holds without the lock.
 */
static void ktcp_gather_plain(struct ktcp_conn *conn, unsigned int most)
{
	struct ktcp_tx *tx = &conn->tx;
	struct ktcp_gather *gather = &tx->gather;
	struct ktcp_op *top;
	unsigned int i;
	u8 *hdr;

	if (!ktcp_posted_is_next(conn))
		return;
	/* The list of a link may become another one, so it is looked at with the lock alone */
	if (!conn->upper && list_empty_careful(conn->posted))
		tx->more = false;
	else
		ktcp_gather_take(conn, most);
	gather->last = !tx->more;
	/* The contexts of a scalable endpoint report to queues of their own */
	if (!conn->soft->ctxs)
		gather->plain = gather->count;
	if (gather->count)
		tx->responded = false;
	for (i = 0; i < gather->count; i++) {
		top = to_ktcp_op(gather->msg[i].op);
		ktcp_op_begin(conn, top);
		hdr = gather->hdrs + gather->hdrs_len;
		ktcp_hdr_build_msg(hdr, top->soft.kept.len, tx->id++, conn->net_order);
		ktcp_gather_add(gather, hdr, sizeof(struct ktcp_wire_base));
		gather->hdrs_len += sizeof(struct ktcp_wire_base);
		ktcp_gather_add(gather, top->soft.kept.local.kvec[0].iov_base, top->soft.kept.len);
		gather->msg[i].end = gather->bytes;
	}
	tx->count += gather->count;
}

/*
 * Begins messages until one of them cannot be gathered whole, or there is none; returns whether
 * one has begun
 */
static bool ktcp_gather(struct ktcp_conn *conn, const struct ktcp_budget *budget)
{
	struct ktcp_tx *tx = &conn->tx;
	struct ktcp_gather *gather = &tx->gather;
	unsigned int most = min(budget->steps, KTCP_GATHER);

	gather->count = 0;
	gather->first = 0;
	gather->plain = 0;
	gather->waits = false;
	gather->last = false;
	gather->kvecs = 0;
	gather->bytes = 0;
	gather->sent = 0;
	gather->hdrs_len = 0;
	ktcp_gather_plain(conn, most);
	while (!gather->last && gather->count < most && gather->bytes < KTCP_GATHER_BYTES &&
	       gather->hdrs_len + TCP_WIRE_MAX_HDR <= sizeof(gather->hdrs) &&
	       ktcp_tx_next(conn)) {
		if (!ktcp_gather_payload(tx))
			return true;
		if (tx->op && ktcp_op_waits(tx->op))
			gather->waits = true;
		gather->msg[gather->count].op = tx->op;
		gather->msg[gather->count++].end = gather->bytes;
		tx->op = NULL;
		tx->kind = KTCP_TX_IDLE;
	}
	return gather->count;
}

/* The socket has all of a message of an operation */
static void ktcp_op_sent(struct ktcp_conn *conn, struct kofi_soft_op *op)
{
	struct ktcp_tx *tx = &conn->tx;

	if (to_ktcp_op(op)->number && !to_ktcp_op(op)->wanted) {
		list_add_tail(&op->entry, &tx->await_cts);
		return;
	}
	if (to_ktcp_op(op)->number)
		conn->upper->sent(conn, to_ktcp_op(op)->number);
	if (ktcp_op_has_response(&op->kept))
		list_add_tail(&op->entry, &tx->reads);
	else if (op->kept.flags & KTCP_ACKED)
		list_add_tail(&op->entry, &tx->acked);
	else
		ktcp_op_put(op, 0);
}

/* The socket has plain messages, the first @count of those that it did not have */
static void ktcp_plain_sent(struct ktcp_conn *conn, unsigned int count)
{
	struct kofi_soft_op *ops[KTCP_GATHER] __uninitialized;
	struct ktcp_gather *gather = &conn->tx.gather;
	unsigned int i;

	for (i = 0; i < count; i++)
		ops[i] = gather->msg[gather->first++].op;
	kofi_soft_ops_done(ops, count);
}

/* Complete what the socket has of what is gathered, or note that it waits for the peer */
static void ktcp_gather_sent(struct ktcp_conn *conn, struct ktcp_budget *budget)
{
	struct ktcp_gather *gather = &conn->tx.gather;
	unsigned int begin = gather->first, end = begin;
	struct kofi_soft_op *op;

	while (end < gather->plain && gather->msg[end].end <= gather->sent)
		end++;
	if (end > begin)
		ktcp_plain_sent(conn, end - begin);
	while (gather->first < gather->count && gather->msg[gather->first].end <= gather->sent) {
		op = gather->msg[gather->first++].op;
		if (op)
			ktcp_op_sent(conn, op);
	}
	budget->steps -= gather->first - begin;
}

/* Gives the socket what is gathered */
static int ktcp_gather_send(struct ktcp_conn *conn, struct ktcp_budget *budget)
{
	struct ktcp_tx *tx = &conn->tx;
	struct ktcp_gather *gather = &tx->gather;
	int ret;

	/* A connection that has been idle has no page, and may have only this to send */
	if (unlikely(!conn->sk.sock->sk->sk_frag.page) && gather->bytes <= KTCP_PRIME)
		ktcp_sock_prime(conn->sk.sock);
	while (gather->sent < gather->bytes) {
		struct msghdr msg = {};

		iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, gather->kvec, gather->kvecs,
			      gather->bytes);
		iov_iter_advance(&msg.msg_iter, gather->sent);
		ret = ktcp_tx_sendmsg(conn, &msg, tx->kind == KTCP_TX_IDLE);
		if (ret < 0)
			return ret;
		gather->sent += ret;
		budget->bytes -= ret;
		conn->used = jiffies;
		ktcp_gather_sent(conn, budget);
	}
	return 0;
}

/* Give the socket a piece of the payload; returns as sock_sendmsg() */
static int ktcp_tx_piece(struct ktcp_conn *conn, struct bio_vec *bvec,
			 struct ktcp_budget *budget)
{
	struct ktcp_tx *tx = &conn->tx;
	struct msghdr msg;
	int ret;

	if (!iov_iter_count(&tx->iter))
		ktcp_tx_part(tx);
	msg = (struct msghdr) { .msg_iter = tx->iter };
	iov_iter_truncate(&msg.msg_iter, budget->bytes);
	if (tx->zc)
		ktcp_zc_fill(tx->zc, &msg, bvec);
	ret = ktcp_tx_sendmsg(conn, &msg, msg_data_left(&msg) >= tx->left);
	if (ret < 0)
		return ret;
	if (tx->zc)
		ktcp_zc_taken(tx->zc, &msg);
	iov_iter_advance(&tx->iter, ret);
	tx->left -= ret;
	budget->bytes -= ret;
	return ret;
}

/* As ktcp_tx_piece() for a response, whose regions may have been closed since the last piece */
static int ktcp_tx_response(struct ktcp_conn *conn, struct bio_vec *bvec,
			    struct ktcp_budget *budget)
{
	const struct kofi_rma *rma = &ktcp_first_response(&conn->tx)->rma;
	int idx, ret;

	idx = kofi_rma_enter(rma);
	if (idx < 0)
		return ktcp_rma_ended(conn, rma);
	ret = ktcp_tx_piece(conn, bvec, budget);
	kofi_rma_leave(rma, idx);
	return ret;
}

static int ktcp_tx_payload(struct ktcp_conn *conn, struct ktcp_budget *budget)
{
	struct bio_vec bvec[KTCP_ZC_PAGES];
	struct ktcp_tx *tx = &conn->tx;
	int ret;

	while (tx->left && ktcp_budget_left(budget)) {
		ret = tx->kind == KTCP_TX_RESPONSE ? ktcp_tx_response(conn, bvec, budget) :
						   ktcp_tx_piece(conn, bvec, budget);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* The socket has all of the message that was not gathered whole */
static void ktcp_tx_sent(struct ktcp_conn *conn)
{
	struct ktcp_tx *tx = &conn->tx;
	struct ktcp_response *response;
	struct kofi_soft_op *op = tx->op;

	if (tx->zc)
		ktcp_zc_end(tx->zc, true);
	if (tx->kind == KTCP_TX_OP) {
		tx->op = NULL;
		ktcp_op_sent(conn, op);
	} else {
		response = ktcp_first_response(tx);
		if (tx->zc) {
			list_move_tail(&response->entry, &tx->unacked);
		} else {
			list_del(&response->entry);
			ktcp_response_done(conn, response, 0);
		}
	}
	tx->zc = NULL;
	tx->kind = KTCP_TX_IDLE;
	conn->used = jiffies;
}

/**
 * ktcp_send() - Send what there is to be sent
 * @conn: a connection in KTCP_OPEN, with ktcp_conn.token held
 * @budget: what may be done; counted down
 *
 * Context: may sleep, but does not wait for the peer.
 * Return: 0: the budget is used up; -EAGAIN: there is nothing to be sent, or no room; another
 * negative errno: the connection is over.
 */
int ktcp_send(struct ktcp_conn *conn, struct ktcp_budget *budget)
{
	ssize_t bytes = budget->bytes;
	int ret = 0;

	lockdep_assert_held(&conn->token);
	if (ktcp_tx_has_nothing(conn)) {
		ktcp_zc_reap(conn);
		return conn->failed ? : -EAGAIN;
	}
	budget->until = jiffies + KTCP_BUDGET_TIME;
	while (ktcp_budget_left(budget)) {
		ktcp_zc_reap(conn);
		if (ktcp_tx_is_idle(&conn->tx) && !ktcp_gather(conn, budget)) {
			ret = conn->failed ? : -EAGAIN;
			break;
		}
		ret = ktcp_gather_send(conn, budget);
		if (ret)
			break;
		if (conn->tx.kind == KTCP_TX_IDLE && conn->tx.gather.last) {
			ret = -EAGAIN;
			break;
		}
		if (conn->tx.kind == KTCP_TX_IDLE)
			continue;
		ret = ktcp_tx_payload(conn, budget);
		if (ret || conn->tx.left)
			break;
		ktcp_tx_sent(conn);
		budget->steps--;
	}
	/* If callbacks post nothing, the next turn sends nothing, and comes past here */
	if (conn->tx.held && conn->tx.defers && ret == -EAGAIN && budget->bytes != bytes)
		return ret;
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
	struct ktcp_response *response, *next;
	unsigned int i;

	if (tx->zc) {
		if (tx->kind == KTCP_TX_RESPONSE)
			list_move_tail(&ktcp_first_response(tx)->entry, &tx->unacked);
		ktcp_zc_end(tx->zc, false);
	}
	tx->zc = NULL;
	list_for_each_entry_safe(response, next, &tx->responses, entry) {
		list_del(&response->entry);
		ktcp_response_done(conn, response, err);
	}
	list_for_each_entry_safe(response, next, &tx->refusals, entry) {
		list_del(&response->entry);
		kofi_bufpool_put(&conn->responses, response);
	}
	ktcp_cancel(&tx->acked, err);
	ktcp_cancel(&tx->reads, err);
	ktcp_cancel(&tx->await_cts, err);
	ktcp_cancel(&tx->wanted, err);
	for (i = tx->gather.first; i < tx->gather.count; i++)
		if (tx->gather.msg[i].op)
			ktcp_op_put(tx->gather.msg[i].op, err);
	if (tx->op)
		ktcp_op_put(tx->op, err);
	/* ktcp_next_posted() gives the worker all that is left */
	tx->asked = 0;
	tx->gather.count = 0;
	tx->gather.sent = tx->gather.bytes;
	tx->op = NULL;
	tx->kind = KTCP_TX_IDLE;
}
