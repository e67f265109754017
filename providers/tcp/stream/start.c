// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a header begins: from a header that has come to the target of its payload.
 *
 * A message may have to wait for what only this side can give: a receive, a completion for remote
 * CQ data, a place among the responses.  The functions below answer -EAGAIN then, and are called
 * again with the header.  They run with the lock of the socket held, as rx.c does: they call no
 * client and take no lock of a socket.
 *
 * The peer may send anything.  The connection ends upon what the wire does not allow (wire.c),
 * and upon a response to nothing.
 *
 * A key or a range that no region has, or has no more, ends the connection, too, unless both ends
 * understand refusals (TCP_WIRE_REFUSAL).  Then a read is refused in its turn among the responses,
 * and the payload of a write is dropped and its acknowledgment follows the refusal.  A write whose
 * client wants no acknowledgment may have been reported as a success already: it ends the
 * connection, as a client must not lose data without an error.  A refusal has a place among the
 * responses (KTCP_RESPONSES), so a peer cannot cause more than that.
 *
 * A message that ends a key (FI_REMOTE_INV) does so when it comes, before it has a receive.  One
 * with a wrong key is refused, or ends the connection, as a write is.
 *
 * A read or a write of a tagged receive takes a place among the responses first, and then the
 * receive, if there is one now (ktcp_tagged_take()).  The response to a write has no bytes, and is
 * due when its payload is placed.
 */
#include <linux/module.h>
#include <linux/uio.h>
#include "stream.h"

/**
 * ktcp_rx_next() - The message has been dealt with; the next header follows
 * @conn: the connection
 *
 * The message is acknowledged if the peer wants that.
 *
 * Context: any, with ktcp_conn.token held.
 */
void ktcp_rx_next(struct ktcp_conn *conn)
{
	struct ktcp_rx *rx = &conn->rx;

	if (ktcp_hdr_wants_ack(&rx->hdr)) {
		rx->wanted++;
		if (!conn->upper || !conn->upper->hold_ack(conn))
			conn->tx.acks++;
	}
	rx->have = 0;
	rx->state = KTCP_RX_HEADER;
}

/**
 * ktcp_rx_op() - Take the oldest operation that waits for the peer out of its list
 * @ops: the list
 *
 * Context: any, with the token of the connection held.
 * Return: the operation, or NULL.
 */
struct kofi_soft_op *ktcp_rx_op(struct list_head *ops)
{
	struct kofi_soft_op *op = list_first_entry_or_null(ops, struct kofi_soft_op, entry);

	if (op)
		list_del(&op->entry);
	return op;
}

/* A message that only endpoints without connections have; for others it is @violation */
static int ktcp_start_upper(struct ktcp_conn *conn, enum ktcp_violation violation)
{
	return conn->upper ? conn->upper->start(conn) : ktcp_conn_violated(conn, violation);
}

static int ktcp_start_ack(struct ktcp_conn *conn)
{
	struct kofi_soft_op *op = ktcp_rx_op(&conn->tx.acked);

	if (!op)
		return ktcp_conn_violated(conn, KTCP_BAD_ACK);
	conn->tx.acknowledged++;
	ktcp_op_put(op, 0);
	ktcp_rx_next(conn);
	return 0;
}

/*
 * Note that a write, or the end of a key, was refused.  The operation is over when it is
 * acknowledged
 */
static bool ktcp_op_refused(struct ktcp_tx *tx, u64 number, int err)
{
	u32 place = number - tx->acknowledged;
	struct kofi_soft_op *op;
	struct ktcp_op *top;

	if (number > U32_MAX)
		return false;
	list_for_each_entry(op, &tx->acked, entry)
		if (!place--)
			break;
	if (list_entry_is_head(op, &tx->acked, entry) ||
	    (op->kept.type != FI_OP_WRITE && !(op->kept.flags & FI_REMOTE_INV)))
		return false;
	top = to_ktcp_op(op);
	if (top->refused)
		return false;
	top->refused = true;
	top->err = err;
	return true;
}

/* What a refusal is at the initiator, by its reason, which ktcp_hdr_parse() has checked */
static const int ktcp_refusal_err[] = {
	[TCP_WIRE_REFUSED_ACCESS]	= EACCES,
	[TCP_WIRE_REFUSED_ENDED]	= EREMOTEIO,
	[TCP_WIRE_REFUSED_NONE]		= FI_ENOMSG,
	[TCP_WIRE_REFUSED_SIZE]		= EMSGSIZE,
};

/* The oldest operation that waits for a response is refused; false: for no reason that suits it */
static bool ktcp_read_refused(struct ktcp_tx *tx, u8 reason)
{
	struct kofi_soft_op *op = list_first_entry_or_null(&tx->reads, struct kofi_soft_op, entry);

	if (!op || (reason > TCP_WIRE_REFUSED_ENDED && !ktcp_op_is_access(&op->kept)))
		return false;
	list_del(&op->entry);
	tx->asked--;
	tx->responses_seen++;
	ktcp_op_put(op, ktcp_refusal_err[reason]);
	return true;
}

static int ktcp_start_refusal(struct ktcp_conn *conn)
{
	const struct ktcp_hdr *hdr = &conn->rx.hdr;
	int ret;

	if (!conn->refuses)
		return ktcp_conn_violated(conn, KTCP_BAD_HEADER);
	if (hdr->flags & TCP_WIRE_OF_RTS) {
		ret = ktcp_start_upper(conn, KTCP_BAD_HEADER);
		if (ret)
			return ret;
	} else if (hdr->flags & TCP_WIRE_CQ_DATA) {
		if (!ktcp_op_refused(&conn->tx, hdr->data, ktcp_refusal_err[hdr->number]))
			return ktcp_conn_violated(conn, KTCP_BAD_ACK);
	} else if (!ktcp_read_refused(&conn->tx, hdr->number)) {
		return ktcp_conn_violated(conn, KTCP_BAD_READ_RSP);
	}
	ktcp_rx_next(conn);
	return 0;
}

/**
 * ktcp_may_refuse() - May the operation that has begun be refused?
 * @conn: the connection, with ktcp_conn.token held
 *
 * Context: any.
 * Return: false if its client may know of a success.
 */
bool ktcp_may_refuse(const struct ktcp_conn *conn)
{
	return conn->refuses && conn->responses.count && ktcp_hdr_wants_ack(&conn->rx.hdr);
}

/**
 * ktcp_refuse() - Refuse the operation that has begun, and drop what is left of its payload
 * @conn: the connection, with ktcp_conn.token held
 * @reason: what the peer hears
 *
 * Context: any.
 * Return: 0; -EAGAIN: there is no place for the refusal now.
 */
int ktcp_refuse(struct ktcp_conn *conn, enum ktcp_wire_reason reason)
{
	struct ktcp_rx *rx = &conn->rx;

	rx->refusal = kofi_bufpool_get(&conn->responses);
	if (!rx->refusal)
		return -EAGAIN;
	rx->refusal->reason = reason;
	if (rx->event)
		kofi_soft_event_put(ktcp_conn_at(conn), rx->event);
	rx->event = NULL;
	iov_iter_kvec(&rx->iter, ITER_DEST, NULL, 0, 0);
	rx->state = KTCP_RX_DROP;
	return 0;
}

static int ktcp_mr_invalidate(struct ktcp_conn *conn)
{
	return kofi_mr_invalidate(&conn->soft->domain->mrs.map, &conn->soft->kep.ep,
				  conn->rx.hdr.data);
}

/*
 * The message ends a key, once, even if it has to wait afterwards.  If TCP has pages of the region
 * that the peer's TCP has acknowledged, it waits until TCP lets go of them.
 */
static int ktcp_end_key(struct ktcp_conn *conn)
{
	struct ktcp_rx *rx = &conn->rx;
	int ret;

	if (!conn->ends_keys)
		return ktcp_conn_violated(conn, KTCP_BAD_HEADER);
	if (rx->ended == rx->begun)
		return 0;
	ret = ktcp_mr_invalidate(conn);
	if (ret == -EBUSY) {
		ktcp_zc_reap(conn);
		ret = ktcp_mr_invalidate(conn);
	}
	if (ret == -EBUSY && !ktcp_response_reads(conn, rx->hdr.data))
		return -EAGAIN;
	if (!ret)
		rx->ended = rx->begun;
	if (ret == -EACCES && ktcp_may_refuse(conn))
		return ktcp_refuse(conn, TCP_WIRE_REFUSED_ACCESS);
	return ret ? ktcp_conn_violated(conn, KTCP_BAD_ACCESS) : 0;
}

/* The flag of the completion that says what the u64 of a message is */
static u64 ktcp_rx_data_flag(const struct ktcp_hdr *hdr)
{
	if (hdr->flags & TCP_WIRE_END_KEY)
		return FI_REMOTE_INV;
	return hdr->flags & TCP_WIRE_CQ_DATA ? FI_REMOTE_CQ_DATA : 0;
}

/*
 * ofi_rxm of libfabric 1.13 to 1.17 sends tagged messages so, to untagged receives.  Its peer is a
 * client that looks for tags in its completions.
 */
static bool ktcp_takes_tag_flag(const struct ktcp_conn *conn, const struct kofi_soft_ep *ep)
{
	const struct kofi_cq *cq = ep->kep.rx.cq;

	return !conn->upper && !ep->kep.shared && cq && cq->format == FI_CQ_FORMAT_TAGGED;
}

/*
 * At an endpoint with a connection, a message that no receive takes waits in the stream, with all
 * that is behind it.  At an endpoint without connections it becomes an unexpected message.
 */
static int ktcp_start_msg(struct ktcp_conn *conn)
{
	struct kofi_soft_ep *at = ktcp_conn_at(conn);
	struct ktcp_rx *rx = &conn->rx;
	bool tagged = rx->hdr.op != TCP_WIRE_MSG;
	struct kofi_srx_arrival what = {
		.flags		= (tagged ? FI_TAGGED : FI_MSG) | ktcp_rx_data_flag(&rx->hdr),
		.tag		= rx->hdr.tag,
		.src_addr	= FI_ADDR_NOTAVAIL,
		.source		= FI_ADDR_NOTAVAIL,
		.len		= rx->hdr.op == TCP_WIRE_RTS ? rx->hdr.msg_len : rx->hdr.len,
		.data		= rx->hdr.data,
	};
	int ret;

	if (!at)
		at = conn->upper->await(conn);
	if (!at)
		return -EAGAIN;
	what.ep = &at->kep;
	if (unlikely(rx->hdr.flags & TCP_WIRE_END_KEY)) {
		ret = ktcp_end_key(conn);
		if (ret || rx->refusal)
			return ret;
	}
	if (unlikely(!tagged && rx->hdr.flags & TCP_WIRE_HAS_TAG) &&
	    !ktcp_takes_tag_flag(conn, at))
		return ktcp_conn_violated(conn, KTCP_BAD_TAGGED);
	if (conn->upper && (!tagged || at->kep.caps & FI_TAGGED))
		return conn->upper->arrive(conn, &what);
	if (rx->hdr.op == TCP_WIRE_RTS)
		return ktcp_conn_violated(conn, KTCP_BAD_RENDEZVOUS);
	if (tagged && !at->kep.shared)
		return ktcp_conn_violated(conn, KTCP_BAD_TAGGED);
	ret = kofi_srx_arrive(at->srx, &what, NULL, &rx->rx);
	if (ret)
		return ret;
	if (unlikely(!tagged && rx->hdr.flags & TCP_WIRE_HAS_TAG))
		kofi_rx_set_tag(rx->rx, rx->hdr.tag);
	rx->state = KTCP_RX_MSG;
	return 0;
}

/**
 * ktcp_rma_ended() - The target of a read or a write has ended
 * @conn: the connection
 * @rma: the target, which kofi_rma_enter() has refused with -EACCES
 *
 * Context: any, with ktcp_conn.token held.
 * Return: negative errno: the connection is over.
 */
int ktcp_rma_ended(struct ktcp_conn *conn, const struct kofi_rma *rma)
{
	/* An exporter that takes a dma-buf back is no fault of the peer's */
	return rma->revocable ? -EACCES : ktcp_conn_violated(conn, KTCP_BAD_ACCESS);
}

/* Finds the target of a write or a read; that of a commit must be persistent memory */
static int ktcp_rx_rma(struct ktcp_conn *conn, struct kofi_rma *rma, u64 access)
{
	const struct ktcp_hdr *hdr = &conn->rx.hdr;
	int ret;

	ret = kofi_rma_get(rma, &conn->soft->domain->mrs.map, &conn->soft->kep.ep, hdr->rma,
			   hdr->count, access);
	if (!ret && hdr->flags & TCP_WIRE_COMMIT && !kofi_rma_is_persistent(rma)) {
		kofi_rma_put(rma);
		ret = -EACCES;
	}
	return ret;
}

static int ktcp_start_write(struct ktcp_conn *conn)
{
	struct ktcp_rx *rx = &conn->rx;
	struct kofi_soft_ep *at;
	int ret;

	if (!kofi_soft_is_target(conn->soft))
		return ktcp_conn_violated(conn, KTCP_BAD_ACCESS);
	if (rx->hdr.flags & TCP_WIRE_CQ_DATA && !rx->event) {
		at = ktcp_conn_at(conn);
		if (!at)
			at = conn->upper->await(conn);
		if (!at)
			return -EAGAIN;
		rx->event = kofi_soft_event_get(at);
		if (!rx->event && conn->upper) {
			/* Events are those of all connections of the endpoint */
			conn->upper->stall(conn);
			rx->event = kofi_soft_event_get(at);
		}
		if (!rx->event)
			return -EAGAIN;
	}
	ret = ktcp_rx_rma(conn, &rx->rma, FI_REMOTE_WRITE);
	if (ret && ktcp_may_refuse(conn))
		return ktcp_refuse(conn, TCP_WIRE_REFUSED_ACCESS);
	if (ret)
		return ktcp_conn_violated(conn, KTCP_BAD_ACCESS);
	rx->state = KTCP_RX_WRITE;
	return 0;
}

static int ktcp_start_read(struct ktcp_conn *conn)
{
	struct ktcp_response *response;
	int ret;

	if (!conn->responses.count)
		return ktcp_conn_violated(conn, KTCP_BAD_ACCESS);
	response = kofi_bufpool_get(&conn->responses);
	if (!response)
		return -EAGAIN;
	ret = ktcp_rx_rma(conn, &response->rma, FI_REMOTE_READ);
	if (ret && !conn->refuses) {
		kofi_bufpool_put(&conn->responses, response);
		return ktcp_conn_violated(conn, KTCP_BAD_ACCESS);
	}
	response->reason = ret ? TCP_WIRE_REFUSED_ACCESS : 0;
	response->tagged = false;
	response->rx = NULL;
	response->flags = conn->rx.hdr.flags;
	list_add_tail(&response->entry, &conn->tx.responses);
	ktcp_rx_next(conn);
	return 0;
}

/* Take the receive that a tagged read or write names, or note why it is refused */
static int ktcp_tagged_take(struct ktcp_conn *conn, struct ktcp_response *response,
			    struct kofi_rx **rx)
{
	struct kofi_soft_ep *at = ktcp_conn_at(conn);
	const struct ktcp_hdr *hdr = &conn->rx.hdr;
	bool read = hdr->op == TCP_WIRE_TAGGED_READ;
	struct kofi_srx_arrival what = {
		.ep	= &at->kep,
		.flags	= FI_TAGGED | FI_RMA | (read ? FI_READ : FI_WRITE) |
			  (hdr->flags & TCP_WIRE_CQ_DATA ? FI_REMOTE_CQ_DATA : 0),
		.tag	= hdr->tag,
		.len	= read ? hdr->msg_len : hdr->len,
		.data	= hdr->data,
	};
	int ret;

	conn->upper->source(conn, &what.src_addr, &what.source);
	*rx = NULL;
	ret = kofi_srx_take(at->srx, &what, rx);
	if (ret == -ESHUTDOWN)
		return ret;
	if (ret)
		*rx = NULL;
	response->reason = !ret ? 0 :
			 ret == -ENOMSG ? TCP_WIRE_REFUSED_NONE :
			 ret == -EMSGSIZE ? TCP_WIRE_REFUSED_SIZE : TCP_WIRE_REFUSED_ACCESS;
	response->tagged = true;
	response->rx = read ? *rx : NULL;
	response->flags = 0;
	response->rma.count = 0;
	response->rma.len = 0;
	response->rma.revocable = false;
	return 0;
}

/* A read or a write of a tagged receive: it never waits for one */
static int ktcp_start_tagged(struct ktcp_conn *conn)
{
	struct ktcp_rx *rx = &conn->rx;
	struct ktcp_response *response;
	struct kofi_rx *taken;
	int ret;

	if (!conn->tagged_rma)
		return ktcp_conn_violated(conn, KTCP_BAD_HEADER);
	if (!conn->responses.count)
		return ktcp_conn_violated(conn, KTCP_BAD_ACCESS);
	if (!ktcp_conn_at(conn) && !conn->upper->await(conn))
		return -EAGAIN;
	response = kofi_bufpool_get(&conn->responses);
	if (!response)
		return -EAGAIN;
	ret = ktcp_tagged_take(conn, response, &taken);
	if (ret) {
		kofi_bufpool_put(&conn->responses, response);
		return ret;
	}
	if (rx->hdr.op == TCP_WIRE_TAGGED_READ) {
		list_add_tail(&response->entry, &conn->tx.responses);
		ktcp_rx_next(conn);
		return 0;
	}
	rx->response = response;
	rx->rx = taken;
	rx->state = taken ? KTCP_RX_MSG : KTCP_RX_DROP;
	return 0;
}

static int ktcp_start_response(struct ktcp_conn *conn)
{
	struct ktcp_rx *rx = &conn->rx;
	struct kofi_soft_op *op = list_first_entry_or_null(&conn->tx.reads,
						      struct kofi_soft_op, entry);

	if (!op || rx->hdr.len != (op->kept.type == FI_OP_READ ? op->kept.len : 0))
		return ktcp_conn_violated(conn, KTCP_BAD_READ_RSP);
	rx->state = KTCP_RX_READ;
	return 0;
}

/* An acknowledgment, a save, or a message without a tag */
static int ktcp_start_plain(struct ktcp_conn *conn)
{
	const struct ktcp_hdr *hdr = &conn->rx.hdr;

	/* A save: all messages before it are where they belong */
	if (hdr->flags & TCP_WIRE_SAVE) {
		ktcp_rx_next(conn);
		return 0;
	}
	return hdr->ack ? ktcp_start_ack(conn) : ktcp_start_msg(conn);
}

static int ktcp_rx_cts(struct ktcp_conn *conn)
{
	int ret = ktcp_start_upper(conn, KTCP_BAD_RENDEZVOUS);

	if (!ret)
		ktcp_rx_next(conn);
	return ret;
}

static int ktcp_rx_data(struct ktcp_conn *conn)
{
	return ktcp_start_upper(conn, KTCP_BAD_RENDEZVOUS);
}

/* What is done when the header of a message has come, by its operation */
static int (*const ktcp_starts[])(struct ktcp_conn *conn) = {
	[TCP_WIRE_MSG]		= ktcp_start_plain,
	[TCP_WIRE_TAGGED]	= ktcp_start_msg,
	[TCP_WIRE_RTS]		= ktcp_start_msg,
	[TCP_WIRE_CTS]		= ktcp_rx_cts,
	[TCP_WIRE_DATA]		= ktcp_rx_data,
	[TCP_WIRE_WRITE]	= ktcp_start_write,
	[TCP_WIRE_READ_REQ]	= ktcp_start_read,
	[TCP_WIRE_READ_RSP]	= ktcp_start_response,
	[TCP_WIRE_REFUSAL]	= ktcp_start_refusal,
	[TCP_WIRE_TAGGED_READ]	= ktcp_start_tagged,
	[TCP_WIRE_TAGGED_WRITE]	= ktcp_start_tagged,
};

/**
 * ktcp_rx_start() - A header has come: find the target of its payload
 * @conn: the connection
 *
 * Context: may sleep, with ktcp_conn.token held.
 * Return: 0; -EAGAIN: it has to wait, and is to be called again; another negative errno: the
 * connection is over.
 */
int ktcp_rx_start(struct ktcp_conn *conn)
{
	struct ktcp_rx *rx = &conn->rx;

	rx->done = 0;
	rx->rx = NULL;
	iov_iter_kvec(&rx->iter, ITER_DEST, NULL, 0, 0);
	if (rx->hdr.flags & TCP_WIRE_SAVE && !conn->saves)
		return ktcp_conn_violated(conn, KTCP_BAD_HEADER);
	if (rx->hdr.flags & TCP_WIRE_LEAVE)
		return ktcp_start_upper(conn, KTCP_BAD_HEADER);
	if (rx->hdr.op >= ARRAY_SIZE(ktcp_starts) || !ktcp_starts[rx->hdr.op])
		return ktcp_conn_violated(conn, KTCP_BAD_HEADER);
	return ktcp_starts[rx->hdr.op](conn);
}
