// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Responses to reads by the peer, and the regions that they are made from.
 *
 * A response holds its regions only while the socket takes a piece of it (ktcp_tx_response()), as
 * a peer may take it as slowly as it likes.  If a region is closed before the response begins, the
 * read is refused; if it is closed later, the next piece ends the connection, as the header has
 * promised the bytes.  Pages that TCP has are lent to it, so the close waits until it has let go of
 * them.  That must not depend on the peer either: the close has ktcp_response_recall() end the
 * connection, and with it what TCP has not sent.
 */
#include <linux/module.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "stream.h"

/**
 * ktcp_response_done() - A response is over: forget it
 * @conn: the connection
 * @response: in no list
 * @err: positive error code; 0: the peer has it, or will
 *
 * Context: with ktcp_conn.token held, or when the connection is over, by its worker.
 */
void ktcp_response_done(struct ktcp_conn *conn, struct ktcp_response *response, int err)
{
	struct kofi_soft_ep *at;

	/* A receive counts as one, and not as an access of a region */
	if (response->rx && err) {
		kofi_rx_fail(response->rx, 0, err, 0);
	} else if (response->rx) {
		kofi_rx_complete(response->rx);
	} else if (err || response->tagged) {
		kofi_rma_put(&response->rma);
	} else {
		at = ktcp_conn_at(conn) ? : conn->soft;
		kofi_ep_count(&at->kep, FI_REMOTE_READ, 0, response->rma.len);
		kofi_rma_done(&response->rma, 0);
	}
	kofi_bufpool_put(&conn->responses, response);
}

/* The client wants a region back; with a lock held, so the worker sees to it */
static void ktcp_loan_recall(struct kofi_rma_loan *loan)
{
	struct ktcp_conn *conn = container_of(loan, struct ktcp_response, loan)->zc.conn;

	WRITE_ONCE(conn->recalled, true);
	ktcp_kick(conn);
}

/**
 * ktcp_response_lend() - Lend the pages of a response to TCP
 * @conn: the connection, with ktcp_conn.token held
 * @response: the response, which has a reference to the endpoint, too, when they are lent
 *
 * Context: may sleep.
 * Return: whether they are.
 */
bool ktcp_response_lend(struct ktcp_conn *conn, struct ktcp_response *response)
{
	/* Otherwise the endpoint is being closed, and waits for nobody any more */
	if (!kofi_soft_ep_try_get(conn->soft))
		return false;
	response->loan.recall = ktcp_loan_recall;
	if (kofi_rma_lend(&response->rma, &response->loan))
		return true;
	kofi_soft_ep_put(conn->soft);
	return false;
}

/**
 * ktcp_response_recall() - Look for responses whose regions a client wants back
 * @conn: a connection in KTCP_OPEN, with ktcp_conn.token held
 *
 * The caller has called ktcp_zc_reap().  What the peer's TCP has acknowledged since is let go of by
 * this machine, soon.
 *
 * Context: any.
 * Return: whether a client waits for what the peer has not acknowledged.
 */
bool ktcp_response_recall(struct ktcp_conn *conn)
{
	struct ktcp_tx *tx = &conn->tx;
	struct ktcp_response *response;
	u32 acked;

	lockdep_assert_held(&conn->token);
	/* Pairs with ktcp_loan_recall(): a recall that comes later sets it again */
	xchg(&conn->recalled, false);
	if (tx->kind == KTCP_TX_RESPONSE && kofi_rma_is_recalled(&ktcp_first_response(tx)->rma))
		return true;
	acked = READ_ONCE(tcp_sk(conn->sk.sock->sk)->snd_una);
	list_for_each_entry(response, &tx->unacked, entry)
		if (before(acked, response->zc.end_seq) && kofi_rma_is_recalled(&response->rma))
			return true;
	return false;
}

static bool ktcp_rma_has_key(const struct kofi_rma *rma, u64 key)
{
	u32 i;

	for (i = 0; i < rma->count; i++)
		if (rma->range[i].key == key)
			return true;
	return false;
}

/**
 * ktcp_response_reads() - Return true if the peer has not got all of a response from a region
 * @conn: a connection in KTCP_OPEN, with ktcp_conn.token held
 * @key: of the region, whose pages are lent to TCP
 *
 * Context: any.
 * Return: whether it is; false: TCP lets go of the pages soon, and the worker is queued then.
 */
bool ktcp_response_reads(struct ktcp_conn *conn, u64 key)
{
	struct ktcp_tx *tx = &conn->tx;
	struct ktcp_response *response;
	u32 acked = READ_ONCE(tcp_sk(conn->sk.sock->sk)->snd_una);

	lockdep_assert_held(&conn->token);
	if (tx->kind == KTCP_TX_RESPONSE && ktcp_rma_has_key(&ktcp_first_response(tx)->rma, key))
		return true;
	list_for_each_entry(response, &tx->unacked, entry)
		if (before(acked, response->zc.end_seq) && ktcp_rma_has_key(&response->rma, key))
			return true;
	return false;
}

/**
 * ktcp_response_save() - Save what a response with TCP_WIRE_SAVE announces
 * @conn: the connection, with ktcp_conn.token held
 * @response: the next; all responses to reads before it have been sent
 *
 * Context: may sleep.
 * Return: false: the connection is over.
 */
bool ktcp_response_save(struct ktcp_conn *conn, struct ktcp_response *response)
{
	if (!(response->flags & TCP_WIRE_SAVE))
		return true;
	if (!kofi_rma_save(&response->rma, response->flags & TCP_WIRE_COMMIT))
		return true;
	conn->failed = ktcp_conn_violated(conn, KTCP_BAD_ACCESS);
	return false;
}

/**
 * ktcp_response_is_refused() - Return true if a read is to be refused
 * @conn: the connection, with ktcp_conn.token held
 * @response: to the read, whose target was none, or has ended since the request
 *
 * Context: any.
 * Return: whether it is; then ktcp_response.reason says why.
 */
bool ktcp_response_is_refused(const struct ktcp_conn *conn, struct ktcp_response *response)
{
	if (!response->reason && conn->refuses && unlikely(kofi_rma_is_recalled(&response->rma))) {
		kofi_rma_put(&response->rma);
		response->reason = TCP_WIRE_REFUSED_ACCESS;
	}
	return response->reason;
}
