// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The receiving half of a connection, run by the connection's worker with ktcp_conn.token held.
 *
 * All that has arrived is read in one pass (ktcp_recv()), with the lock of the socket held:
 * tcp_read_sock() calls ktcp_recv_skb() for each packet, and the steps below take bytes of it.  So
 * nothing here calls a client or takes the lock of a socket.
 *
 * A header comes first (KTCP_RX_HEADER).  When it is there (KTCP_RX_START) it finds the target of
 * its payload (start.c), or has to wait.  Then nothing more is read, and TCP holds the peer back.
 * The payload goes from the packets straight to its target.  A message that is longer than its
 * receive does not end the connection: the receive fails with FI_ETRUNC, and the rest is dropped.
 *
 * A write holds its regions only while data of the socket are copied (ktcp_rx_write()), as a peer
 * may stop in the middle.  If a region is closed meanwhile, the next piece is refused.
 */
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/uio.h>
#include <net/tcp.h>
#include "stream.h"

void ktcp_rx_init(struct ktcp_rx *rx)
{
	rx->state = KTCP_RX_HEADER;
}

static void ktcp_block_advance(struct ktcp_block *block, size_t len)
{
	block->offset += len;
	block->len -= len;
	block->data += len;
	block->near -= min(len, block->near);
}

/* Finds the piece of a packet that the bytes from block->offset on are in, if it has an address */
static void ktcp_block_find(struct ktcp_block *block)
{
	const struct sk_buff *skb = block->skb;
	size_t offset = block->offset, size = skb_headlen(skb);
	struct page *page;
	int i;

	if (offset < size) {
		block->data = skb->data + offset;
		block->near = min(size - offset, block->len);
		return;
	}
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		offset -= size;
		size = skb_frag_size(frag);
		if (offset >= size)
			continue;
		page = skb_frag_page(frag);
		if (!page || PageHighMem(page))
			return;
		block->data = page_address(page) + skb_frag_off(frag) + offset;
		block->near = min(size - offset, block->len);
		return;
	}
}

/* Returns how many bytes there are at block->data; 0: they have to be copied out of the packet */
static size_t ktcp_block_near(struct ktcp_block *block)
{
	if (!block->near && block->len)
		ktcp_block_find(block);
	return block->near;
}

/* Parses a header where it is in the packet; false: it is not there in one piece, or is none */
static bool ktcp_rx_near_header(struct ktcp_conn *conn)
{
	struct ktcp_rx *rx = &conn->rx;
	size_t near = ktcp_block_near(&rx->block);

	if (rx->have || ktcp_hdr_parse(&rx->hdr, rx->block.data, near, conn->net_order))
		return false;
	rx->have = ktcp_hdr_size(rx->block.data);
	ktcp_block_advance(&rx->block, rx->have);
	return true;
}

static int ktcp_rx_header(struct ktcp_conn *conn)
{
	struct ktcp_rx *rx = &conn->rx;
	size_t len;
	int need;

	if (!rx->block.len)
		return -EAGAIN;
	if (likely(ktcp_rx_near_header(conn)))
		goto parsed;
	for (;;) {
		need = ktcp_hdr_parse(&rx->hdr, rx->buf, rx->have, conn->net_order);
		if (need <= 0)
			break;
		len = min(need - rx->have, rx->block.len);
		if (!len)
			return -EAGAIN;
		skb_copy_bits(rx->block.skb, rx->block.offset, rx->buf + rx->have, len);
		ktcp_block_advance(&rx->block, len);
		rx->have += len;
	}
	if (need)
		return ktcp_conn_violated(conn, KTCP_BAD_HEADER);
parsed:
	rx->state = KTCP_RX_START;
	rx->begun++;
	if (conn->upper && !(rx->hdr.flags & TCP_WIRE_LEAVE))
		conn->upper->heard(conn);
	return 0;
}

/* Bytes of the payload that the target of the current state takes */
static size_t ktcp_rx_want(const struct ktcp_rx *rx)
{
	return rx->state == KTCP_RX_MSG ? kofi_rx_len(rx->rx) : rx->hdr.len;
}

/* Point rx->iter at the next part of the target */
static void ktcp_rx_part(struct ktcp_conn *conn)
{
	struct ktcp_rx *rx = &conn->rx;

	switch (rx->state) {
	case KTCP_RX_MSG:
		kofi_rx_iter(rx->rx, rx->done, &rx->iter);
		break;
	case KTCP_RX_WRITE:
		kofi_rma_iter(&rx->rma, ITER_DEST, rx->done, SIZE_MAX, &rx->iter);
		break;
	case KTCP_RX_UNEXP:
		rx->kvec = (struct kvec) { conn->upper->data(conn), rx->hdr.len - rx->done };
		iov_iter_kvec(&rx->iter, ITER_DEST, &rx->kvec, 1, rx->kvec.iov_len);
		break;
	case KTCP_RX_READ:
		kofi_kept_next(&list_first_entry(&conn->tx.reads, struct kofi_soft_op,
						 entry)->kept, ITER_DEST,
			       &rx->iter);
		break;
	default:
		/* What nobody wants */
		iov_iter_discard(&rx->iter, ITER_DEST, rx->hdr.len - rx->done);
		break;
	}
}

/* All of the payload of what is refused has come: the refusal goes before the next ack */
static void ktcp_refusal_due(struct ktcp_conn *conn)
{
	struct ktcp_rx *rx = &conn->rx;

	rx->refusal->number = rx->wanted;
	list_add_tail(&rx->refusal->entry, &conn->tx.refusals);
	rx->refusal = NULL;
}

/* All of the payload of a tagged write has come */
static void ktcp_response_due(struct ktcp_conn *conn)
{
	struct ktcp_rx *rx = &conn->rx;

	list_add_tail(&rx->response->entry, &conn->tx.responses);
	rx->response = NULL;
}

/* All of the payload is where it belongs */
static void ktcp_rx_placed(struct ktcp_conn *conn)
{
	struct kofi_soft_ep *at;
	fi_addr_t src_addr, source = FI_ADDR_NOTAVAIL;
	struct ktcp_rx *rx = &conn->rx;

	switch (rx->state) {
	case KTCP_RX_MSG:
		if (rx->done < rx->hdr.len) {
			/* The receive does not wait for what is dropped */
			kofi_rx_complete(rx->rx);
			rx->rx = NULL;
			rx->state = KTCP_RX_DROP;
			iov_iter_kvec(&rx->iter, ITER_DEST, NULL, 0, 0);
			return;
		}
		fallthrough;
	case KTCP_RX_DROP:
		if (rx->refusal)
			ktcp_refusal_due(conn);
		if (rx->response)
			ktcp_response_due(conn);
		ktcp_rx_next(conn);
		if (rx->rx)
			kofi_rx_complete(rx->rx);
		break;
	case KTCP_RX_UNEXP:
		/* It is acknowledged when its receive has it */
		conn->upper->filled(conn);
		rx->have = 0;
		rx->state = KTCP_RX_HEADER;
		break;
	case KTCP_RX_WRITE:
		if (rx->event && conn->upper)
			conn->upper->source(conn, &src_addr, &source);
		ktcp_rx_next(conn);
		kofi_rma_done(&rx->rma, 0);
		at = ktcp_conn_at(conn) ? : conn->soft;
		kofi_ep_count(&at->kep, FI_REMOTE_WRITE, 0, rx->hdr.len);
		if (rx->event)
			kofi_soft_event_report(rx->event, at, rx->hdr.len,
					       rx->hdr.data, source);
		rx->event = NULL;
		break;
	default:
		ktcp_rx_next(conn);
		conn->tx.asked--;
		conn->tx.responses_seen++;
		ktcp_op_put(ktcp_rx_op(&conn->tx.reads), 0);
		break;
	}
}

/*
 * Copy all of a message that is there in one piece, if it fits into a receive of one buffer.
 * Otherwise return false.
 */
static bool ktcp_rx_copy(struct ktcp_rx *rx, struct ktcp_budget *budget)
{
	size_t len = rx->hdr.len;
	void *to;

	if (rx->state != KTCP_RX_MSG || rx->done || len > KTCP_COPY_MAX ||
	    len > ktcp_block_near(&rx->block) || len != kofi_rx_len(rx->rx))
		return false;
	to = kofi_rx_buf(rx->rx);
	if (!to)
		return false;
	memcpy(to, rx->block.data, len);
	ktcp_block_advance(&rx->block, len);
	budget->bytes -= len;
	return true;
}

/* Move a piece of the payload to its target; returns the bytes, or -EAGAIN: there are none */
static int ktcp_rx_piece(struct ktcp_conn *conn, struct ktcp_budget *budget)
{
	struct ktcp_rx *rx = &conn->rx;
	size_t len;

	if (!rx->block.len)
		return -EAGAIN;
	if (ktcp_rx_copy(rx, budget))
		return rx->hdr.len;
	if (!iov_iter_count(&rx->iter))
		ktcp_rx_part(conn);
	len = min3(iov_iter_count(&rx->iter), rx->block.len, (size_t)budget->bytes);
	if (skb_copy_datagram_iter(rx->block.skb, rx->block.offset, &rx->iter, len))
		return -EFAULT;
	ktcp_block_advance(&rx->block, len);
	budget->bytes -= len;
	return len;
}

/* As ktcp_rx_piece() for a write, whose target may have been closed since the last piece */
static int ktcp_rx_write(struct ktcp_conn *conn, struct ktcp_budget *budget)
{
	struct kofi_rma *rma = &conn->rx.rma;
	int idx, ret;

	idx = kofi_rma_enter(rma);
	if (idx < 0) {
		if (!ktcp_may_refuse(conn))
			return ktcp_rma_ended(conn, rma);
		ret = ktcp_refuse(conn, TCP_WIRE_REFUSED_ENDED);
		if (!ret)
			kofi_rma_done(rma, EACCES);
		return ret;
	}
	ret = ktcp_rx_piece(conn, budget);
	kofi_rma_leave(rma, idx);
	return ret;
}

/* Make durable what a write has written, or a save asks for */
static int ktcp_rx_commit(struct ktcp_conn *conn)
{
	struct ktcp_rx *rx = &conn->rx;
	bool commit = rx->hdr.flags & TCP_WIRE_COMMIT;
	int ret = 0;

	if (rx->hdr.flags & TCP_WIRE_SAVE)
		ret = kofi_rma_save(&rx->rma, commit);
	else if (commit)
		ret = kofi_rma_commit(&rx->rma);
	return ret ? ktcp_conn_violated(conn, KTCP_BAD_ACCESS) : 0;
}

static int ktcp_rx_payload(struct ktcp_conn *conn, struct ktcp_budget *budget)
{
	struct ktcp_rx *rx = &conn->rx;
	int ret;

	while (rx->done < ktcp_rx_want(rx)) {
		if (!ktcp_budget_left(budget))
			return 0;
		ret = rx->state == KTCP_RX_WRITE ? ktcp_rx_write(conn, budget) :
						   ktcp_rx_piece(conn, budget);
		if (ret < 0)
			return ret;
		rx->done += ret;
	}
	ret = rx->state == KTCP_RX_WRITE ? ktcp_rx_commit(conn) : 0;
	if (ret)
		return ret;
	ktcp_rx_placed(conn);
	return 0;
}

/*
 * Takes steps as long as there are bytes for them; returns 0: the budget is used up; -EAGAIN: the
 * next step needs more bytes, or has to wait; another negative errno: the connection is over
 */
static int ktcp_rx_steps(struct ktcp_conn *conn, struct ktcp_budget *budget)
{
	int ret;

	while (ktcp_budget_left(budget)) {
		switch (conn->rx.state) {
		case KTCP_RX_HEADER:
			ret = ktcp_rx_header(conn);
			break;
		case KTCP_RX_START:
			ret = ktcp_rx_start(conn);
			break;
		case KTCP_RX_PARKED:
			ret = conn->upper->look(conn);
			break;
		default:
			ret = ktcp_rx_payload(conn, budget);
			break;
		}
		if (ret)
			return ret;
		budget->steps--;
	}
	return 0;
}

/**
 * struct ktcp_pass - One pass over what has arrived
 * @conn: the connection
 * @budget: what may be done
 * @ret: as ktcp_rx_steps()
 */
struct ktcp_pass {
	struct ktcp_conn	*conn;
	struct ktcp_budget	*budget;
	int			ret;
};

/* Called by tcp_read_sock() for each packet, and again for what is left of it; returns the bytes */
static int ktcp_recv_skb(read_descriptor_t *desc, struct sk_buff *skb, unsigned int offset,
			 size_t len)
{
	struct ktcp_pass *pass = desc->arg.data;
	struct ktcp_block *block = &pass->conn->rx.block;

	if (pass->ret != -EAGAIN)
		return 0;
	*block = (struct ktcp_block) { .skb = skb, .offset = offset, .len = len };
	pass->ret = ktcp_rx_steps(pass->conn, pass->budget);
	len -= block->len;
	/* The packet may go */
	*block = (struct ktcp_block) {};
	return len;
}

/* Has the stream ended?  Nothing is left to be read */
static int ktcp_recv_end(struct sock *sk)
{
	if (sock_flag(sk, SOCK_DONE))
		return -ESHUTDOWN;
	if (sk->sk_err)
		return sock_error(sk);
	return sk->sk_shutdown & RCV_SHUTDOWN ? -ESHUTDOWN : -EAGAIN;
}

/*
 * Is there neither data nor an end?  Without the lock of the socket, an end must not be seen before
 * the data in front of it: so this only says that a look is not worth it.  What comes later queues
 * the worker once more.
 */
static bool ktcp_recv_is_idle(const struct sock *sk)
{
	return skb_queue_empty_lockless(&sk->sk_receive_queue) && !READ_ONCE(sk->sk_err) &&
	       !READ_ONCE(sk->sk_shutdown) && !sock_flag(sk, SOCK_DONE);
}

/**
 * ktcp_recv() - Receive what has arrived
 * @conn: a connection in KTCP_OPEN, with ktcp_conn.token held
 * @budget: what may be done; counted down
 *
 * Context: may sleep, but does not wait for the peer.
 * Return: 0: the budget is used up; -EAGAIN: there is nothing, or it has to wait; another
 * negative errno: the connection is over.
 */
int ktcp_recv(struct ktcp_conn *conn, struct ktcp_budget *budget)
{
	struct ktcp_pass pass = { .conn = conn, .budget = budget };
	read_descriptor_t desc = { .arg.data = &pass, .count = 1 };
	struct sock *sk = conn->sk.sock->sk;

	lockdep_assert_held(&conn->token);
	budget->until = jiffies + KTCP_BUDGET_TIME;
	/* What needs no bytes */
	pass.ret = ktcp_rx_steps(conn, budget);
	if (pass.ret != -EAGAIN || ktcp_recv_waits(conn) || ktcp_recv_is_idle(sk))
		return pass.ret;
	lock_sock(sk);
	tcp_read_sock(sk, &desc, ktcp_recv_skb);
	if (pass.ret == -EAGAIN && !ktcp_recv_waits(conn))
		pass.ret = ktcp_recv_end(sk);
	release_sock(sk);
	return pass.ret;
}

/**
 * ktcp_recv_waits() - Does a message wait for something on this side?
 * @conn: a connection in KTCP_OPEN, with ktcp_conn.token held
 *
 * Context: any.
 * Return: whether it does.
 */
bool ktcp_recv_waits(const struct ktcp_conn *conn)
{
	return conn->rx.state == KTCP_RX_START || conn->rx.state == KTCP_RX_PARKED;
}

/**
 * ktcp_recv_is_due() - Does the peer owe the rest of a message, or a payload?
 * @conn: a connection in KTCP_OPEN, with ktcp_conn.token held
 *
 * Context: any.
 * Return: whether it does; a message that waits for something on this side is no debt, but what
 * was asked for is one, and may be behind that message.
 */
bool ktcp_recv_is_due(const struct ktcp_conn *conn)
{
	if (conn->rx.state == KTCP_RX_HEADER)
		return conn->rx.have || ktcp_data_is_awaited(conn);
	return !ktcp_recv_waits(conn) || ktcp_data_is_awaited(conn);
}

/**
 * ktcp_rx_abort() - Give back what the receiving half has
 * @conn: a connection that is over, by its worker
 * @err: error of a receive that has a part of its message, positive
 *
 * Context: may sleep.
 */
void ktcp_rx_abort(struct ktcp_conn *conn, int err)
{
	struct ktcp_rx *rx = &conn->rx;

	if (conn->upper)
		conn->upper->abort(conn, err);
	switch (rx->state) {
	case KTCP_RX_MSG:
	case KTCP_RX_DROP:
		if (rx->rx)
			kofi_rx_fail(rx->rx, min(rx->done, kofi_rx_len(rx->rx)),
				     err, 0);
		break;
	case KTCP_RX_WRITE:
		kofi_rma_done(&rx->rma, ECANCELED);
		break;
	default:
		break;
	}
	if (rx->event)
		kofi_soft_event_put(conn->at, rx->event);
	rx->event = NULL;
	if (rx->refusal)
		kofi_bufpool_put(&conn->responses, rx->refusal);
	rx->refusal = NULL;
	if (rx->response)
		kofi_bufpool_put(&conn->responses, rx->response);
	rx->response = NULL;
	rx->state = KTCP_RX_HEADER;
}
