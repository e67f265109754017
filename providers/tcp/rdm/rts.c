// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Rendezvous: tagged messages whose payload is sent when their receive is known.
 *
 *	sender					receiver
 *	TCP_WIRE_RTS	tag, length, number  -->	finds a receive, or the RTS waits
 *			<--  number  TCP_WIRE_CTS	a receive has taken it
 *	TCP_WIRE_DATA	number, payload      -->	goes to the receive, and is acknowledged
 *
 * The sender chooses the number, 1 to 255, and uses it for nothing else until the payload has
 * been sent.  If both ends speak version 1, it sends by rendezvous:
 *
 *	- messages longer than KTCP_UNEXP_MAX: without a receive they would have to stay in the
 *	  socket of the other end, and hold up what is behind;
 *	- messages of which the client wants to know that they were delivered
 *	  (FI_DELIVERY_COMPLETE): libfabric acknowledges other messages when it has put them
 *	  aside.
 *
 * Life of an RTS at the receiver (&struct ktcp_unexp without a payload)
 *
 *	waiting		in the engine, and in ktcp_link.rts
 *	settled		in ktcp_link.settled: a receive has taken it, or nobody wants it
 *	taken		in ktcp_link.taken under its number, until the payload begins to come;
 *			the payload of an RTS that nobody wants is dropped, as the wire of
 *			libfabric has no refusal
 *	declined	in ktcp_link.declined: no receive has taken it for rts_timeout.  Only a
 *			peer that is kOFI understands that; its operation ends, and the number is
 *			free
 *
 * RTS messages have a bound of their own (unexpected.c).  An RTS beyond it is parked.
 */
#include <linux/bitmap.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "rdm.h"

/* The sending side */

/* Is an operation to be sent by rendezvous, if both ends can do that? */
static bool ktcp_rts_is_due(const struct kofi_kept_op *kept)
{
	return kept->type == FI_OP_TSEND && kept->len &&
	       (kept->len > KTCP_UNEXP_MAX || kept->flags & FI_DELIVERY_COMPLETE);
}

/* A number that no operation has; KTCP_RTS_NUMBERS: there is none */
static unsigned int ktcp_rts_free(const struct ktcp_conn *conn)
{
	const struct ktcp_link *link = container_of(conn, struct ktcp_link, conn);

	lockdep_assert_held(&conn->token);
	return find_next_zero_bit(link->numbers, KTCP_RTS_NUMBERS, 1);
}

/**
 * ktcp_rts_may_begin() - May an operation begin, or has it to wait for a number?
 * @conn: a connection with rendezvous, with ktcp_conn.token held
 * @kept: the operation
 *
 * Context: any.
 * Return: whether it may; a number is free again when its payload has been sent.
 */
bool ktcp_rts_may_begin(const struct ktcp_conn *conn, const struct kofi_kept_op *kept)
{
	return !ktcp_rts_is_due(kept) || ktcp_rts_free(conn) < KTCP_RTS_NUMBERS;
}

/**
 * ktcp_rts_number() - Take a number for an operation, if it is to be sent by rendezvous
 * @conn: a connection with rendezvous, with ktcp_conn.token held
 * @kept: an operation for which ktcp_rts_may_begin()
 *
 * Context: any.
 * Return: the number; 0: the payload is sent at once.
 */
u8 ktcp_rts_number(struct ktcp_conn *conn, const struct kofi_kept_op *kept)
{
	unsigned int number;

	if (!ktcp_rts_is_due(kept))
		return 0;
	number = ktcp_rts_free(conn);
	__set_bit(number, to_ktcp_link(conn)->numbers);
	return number;
}

/* The payload of an operation has been sent: its number is free */
void ktcp_rts_done(struct ktcp_conn *conn, u8 number)
{
	lockdep_assert_held(&conn->token);
	__clear_bit(number, to_ktcp_link(conn)->numbers);
}

/**
 * ktcp_start_cts() - The peer wants the payload of an operation
 * @conn: the connection, with ktcp_conn.token held, whose ktcp_rx.hdr has the number
 *
 * Context: any.
 * Return: 0; -EPROTO: there was no such RTS.
 */
int ktcp_start_cts(struct ktcp_conn *conn)
{
	struct kofi_soft_op *op;

	lockdep_assert_held(&conn->token);
	list_for_each_entry(op, &conn->tx.await_cts, entry) {
		if (to_ktcp_op(op)->number != conn->rx.hdr.number)
			continue;
		to_ktcp_op(op)->wanted = true;
		list_move_tail(&op->entry, &conn->tx.wanted);
		return 0;
	}
	return ktcp_conn_violated(conn, KTCP_BAD_RENDEZVOUS);
}

/* The receiving side */

/**
 * ktcp_rts_begin() - An RTS has come
 * @conn: the connection, with ktcp_conn.token held, whose ktcp_rx.hdr is the RTS
 *
 * Context: may sleep.
 * Return: 0; -EPROTO: rendezvous was not agreed upon, or the number is in use; -ENOMEM.
 */
int ktcp_rts_begin(struct ktcp_conn *conn)
{
	struct ktcp_link *link = to_ktcp_link(conn);
	u8 number = conn->rx.hdr.number;

	lockdep_assert_held(&conn->token);
	if (!conn->rendezvous || !number)
		return ktcp_conn_violated(conn, KTCP_BAD_RENDEZVOUS);
	/*
	 * Allocated once for a connection, when the peer sends its first RTS.  This waits for
	 * memory: without it the connection would have to end.
	 */
	if (!link->taken)
		link->taken = kcalloc(KTCP_RTS_NUMBERS, sizeof(*link->taken), GFP_NOIO);
	if (!link->taken)
		return -ENOMEM;
	if (link->taken[number].state != KTCP_RTS_NONE)
		return ktcp_conn_violated(conn, KTCP_BAD_RENDEZVOUS);
	return 0;
}

/**
 * ktcp_rts_take() - Ask for the payload of an RTS
 * @conn: the connection, with ktcp_conn.token held
 * @number: of the RTS
 * @rx: where it goes; NULL: nowhere
 * @len: bytes that were announced
 *
 * Context: any.
 */
void ktcp_rts_take(struct ktcp_conn *conn, u8 number, struct kofi_rx *rx, size_t len)
{
	struct ktcp_link *link = to_ktcp_link(conn);

	lockdep_assert_held(&conn->token);
	link->taken[number] = (struct ktcp_taken) {
		.state	= KTCP_RTS_TAKEN,
		.rx	= rx,
		.len	= len,
	};
	__set_bit(number, link->cts);
}

/* Takes an RTS that has been settled, and forgets it */
static void ktcp_rts_finish(struct ktcp_unexp *unexp)
{
	ktcp_rts_take(&unexp->link->conn, unexp->number, unexp->rx, unexp->msg.what.len);
	ktcp_unexp_unkeep(unexp);
	ktcp_unexp_put(unexp);
}

/**
 * ktcp_rts_wait() - No receive has taken an RTS yet
 * @unexp: the RTS, with ktcp_conn.token of its connection held
 *
 * Context: any.
 */
void ktcp_rts_wait(struct ktcp_unexp *unexp)
{
	struct ktcp_link *link = unexp->link;
	unsigned long flags;
	bool settled;

	link->taken[unexp->number].state = KTCP_RTS_WAITS;
	unexp->since = jiffies;
	spin_lock_irqsave(&link->rdm->soft.lock, flags);
	unexp->full = true;
	settled = unexp->settled;
	if (!settled)
		list_add_tail(&unexp->of_link, &link->rts);
	spin_unlock_irqrestore(&link->rdm->soft.lock, flags);
	if (settled)
		ktcp_rts_finish(unexp);
}

/**
 * ktcp_rts_signal_is_due() - May a payload have to be asked for, or an RTS be refused?
 * @conn: a connection with rendezvous, with ktcp_conn.token held
 *
 * Context: any.
 * Return: false: ktcp_rts_signal() would find none.
 */
bool ktcp_rts_signal_is_due(const struct ktcp_conn *conn)
{
	const struct ktcp_link *link = container_of(conn, struct ktcp_link, conn);

	lockdep_assert_held(&conn->token);
	return !list_empty_careful(&link->settled) ||
	       !bitmap_empty(link->cts, KTCP_RTS_NUMBERS) ||
	       !bitmap_empty(link->declined, KTCP_RTS_NUMBERS);
}

/* The number of an RTS whose payload is to be asked for; 0: none */
static u8 ktcp_cts_next(struct ktcp_conn *conn)
{
	struct ktcp_link *link = to_ktcp_link(conn);
	struct ktcp_unexp *unexp, *next;
	unsigned int number;
	LIST_HEAD(settled);

	lockdep_assert_held(&conn->token);
	if (!list_empty_careful(&link->settled)) {
		spin_lock_irq(&conn->soft->lock);
		list_splice_init(&link->settled, &settled);
		list_for_each_entry(unexp, &settled, entry)
			list_del_init(&unexp->of_link);
		spin_unlock_irq(&conn->soft->lock);
	}
	list_for_each_entry_safe(unexp, next, &settled, entry)
		ktcp_rts_finish(unexp);
	number = find_first_bit(link->cts, KTCP_RTS_NUMBERS);
	if (number == KTCP_RTS_NUMBERS)
		return 0;
	__clear_bit(number, link->cts);
	link->awaited++;
	return number;
}

/* The number of an RTS that is to be refused; 0: none */
static u8 ktcp_declined_next(struct ktcp_conn *conn)
{
	struct ktcp_link *link = to_ktcp_link(conn);
	unsigned int number;

	lockdep_assert_held(&conn->token);
	number = find_first_bit(link->declined, KTCP_RTS_NUMBERS);
	if (number == KTCP_RTS_NUMBERS)
		return 0;
	__clear_bit(number, link->declined);
	return number;
}

/**
 * ktcp_rts_signal() - Is a payload to be asked for, or an RTS to be refused?
 * @conn: a connection with rendezvous, with ktcp_conn.token held
 * @hdr: header of the message, filled in if there is one
 *
 * Context: may sleep.
 * Return: whether it is.
 */
bool ktcp_rts_signal(struct ktcp_conn *conn, struct ktcp_hdr *hdr)
{
	lockdep_assert_held(&conn->token);
	hdr->number = ktcp_cts_next(conn);
	if (hdr->number) {
		hdr->op = TCP_WIRE_CTS;
		return true;
	}
	hdr->data = ktcp_declined_next(conn);
	if (!hdr->data)
		return false;
	hdr->op = TCP_WIRE_REFUSAL;
	hdr->flags = TCP_WIRE_CQ_DATA | TCP_WIRE_OF_RTS;
	hdr->number = TCP_WIRE_REFUSED_NONE;
	return true;
}

/* The oldest RTS that waits, out of the list, if its time is over; *@waits: one has time */
static struct ktcp_unexp *ktcp_rts_old(struct ktcp_link *link, unsigned long time, bool *waits)
{
	struct ktcp_unexp *unexp;

	spin_lock_irq(&link->rdm->soft.lock);
	unexp = list_first_entry_or_null(&link->rts, struct ktcp_unexp, of_link);
	*waits = unexp && time_before(jiffies, unexp->since + time);
	if (*waits)
		unexp = NULL;
	if (unexp)
		list_del_init(&unexp->of_link);
	spin_unlock_irq(&link->rdm->soft.lock);
	return unexp;
}

/* Refuse an RTS, unless a receive takes it at this moment, or the client has claimed it */
static void ktcp_rts_decline(struct ktcp_link *link, struct ktcp_unexp *unexp)
{
	if (kofi_srx_withdraw_unclaimed(link->conn.at->srx, &unexp->msg)) {
		link->taken[unexp->number].state = KTCP_RTS_NONE;
		__set_bit(unexp->number, link->declined);
		ktcp_unexp_unkeep(unexp);
		ktcp_unexp_put(unexp);
		return;
	}
	/* Also if it has been settled: the end of the connection looks for it here */
	spin_lock_irq(&link->rdm->soft.lock);
	unexp->since = jiffies;
	list_add_tail(&unexp->of_link, &link->rts);
	spin_unlock_irq(&link->rdm->soft.lock);
}

/**
 * ktcp_rts_look() - Refuse the RTS messages that no receive has taken for too long
 * @conn: a connection of an endpoint without connections, with ktcp_conn.token held
 *
 * Context: may sleep.
 * Return: whether there are RTS messages that have to be looked at again.
 */
bool ktcp_rts_look(struct ktcp_conn *conn)
{
	unsigned long time = ktcp_rts_timeout();
	struct ktcp_link *link = to_ktcp_link(conn);
	struct ktcp_unexp *unexp;
	bool waits;

	lockdep_assert_held(&conn->token);
	if (likely(list_empty_careful(&link->rts)) || !time || !conn->declines)
		return false;
	while ((unexp = ktcp_rts_old(link, time, &waits))) {
		ktcp_rts_decline(link, unexp);
		ktcp_kick(conn);
	}
	return waits;
}

/**
 * ktcp_start_declined() - The peer refuses an RTS
 * @conn: the connection, with ktcp_conn.token held, whose ktcp_rx.hdr has the number
 *
 * Context: any.
 * Return: 0; -EPROTO: there was no such RTS, or the peer has not said that it may refuse.
 */
int ktcp_start_declined(struct ktcp_conn *conn)
{
	struct kofi_soft_op *op;

	lockdep_assert_held(&conn->token);
	if (!conn->declines)
		return ktcp_conn_violated(conn, KTCP_BAD_HEADER);
	list_for_each_entry(op, &conn->tx.await_cts, entry) {
		if (to_ktcp_op(op)->number != conn->rx.hdr.data)
			continue;
		list_del(&op->entry);
		ktcp_rts_done(conn, to_ktcp_op(op)->number);
		ktcp_op_put(op, FI_ENOMSG);
		return 0;
	}
	return ktcp_conn_violated(conn, KTCP_BAD_RENDEZVOUS);
}

/**
 * ktcp_start_data() - The payload of an RTS comes
 * @conn: the connection, with ktcp_conn.token held, whose ktcp_rx.hdr has the number
 *
 * Context: any.
 * Return: 0, and the state says where it goes; -EPROTO: it was not asked for, or has another
 * length.
 */
int ktcp_start_data(struct ktcp_conn *conn)
{
	struct ktcp_link *link = to_ktcp_link(conn);
	struct ktcp_rx *rx = &conn->rx;
	struct ktcp_taken *taken;

	lockdep_assert_held(&conn->token);
	if (!link->taken)
		return ktcp_conn_violated(conn, KTCP_BAD_RENDEZVOUS);
	taken = &link->taken[rx->hdr.number];
	if (taken->state != KTCP_RTS_TAKEN || test_bit(rx->hdr.number, link->cts) ||
	    taken->len != rx->hdr.len)
		return ktcp_conn_violated(conn, KTCP_BAD_RENDEZVOUS);
	taken->state = KTCP_RTS_NONE;
	link->awaited--;
	rx->rx = taken->rx;
	rx->state = rx->rx ? KTCP_RX_MSG : KTCP_RX_DROP;
	return 0;
}

/* Was a payload asked for that has not begun to come? */
bool ktcp_rts_await(const struct ktcp_conn *conn)
{
	return container_of(conn, struct ktcp_link, conn)->awaited;
}

/* Takes an RTS out of the list of those that wait; NULL: there is none */
static struct ktcp_unexp *ktcp_rts_first(struct ktcp_link *link)
{
	struct ktcp_unexp *unexp;

	spin_lock_irq(&link->rdm->soft.lock);
	unexp = list_first_entry_or_null(&link->rts, struct ktcp_unexp, of_link);
	if (unexp)
		list_del_init(&unexp->of_link);
	spin_unlock_irq(&link->rdm->soft.lock);
	return unexp;
}

/**
 * ktcp_rts_abort() - No payload comes any more
 * @conn: a connection that is over, by its worker
 * @err: error of receives that have taken an RTS, positive
 *
 * Context: may sleep.
 */
void ktcp_rts_abort(struct ktcp_conn *conn, int err)
{
	struct ktcp_link *link = to_ktcp_link(conn);
	struct ktcp_unexp *unexp;
	unsigned int number;

	while ((unexp = ktcp_rts_first(link))) {
		/* An RTS that cannot be withdrawn has been settled by now */
		if (!kofi_srx_withdraw(conn->at->srx, &unexp->msg) && unexp->rx)
			kofi_rx_fail(unexp->rx, 0, err, 0);
		ktcp_unexp_unkeep(unexp);
		ktcp_unexp_put(unexp);
	}
	INIT_LIST_HEAD(&link->settled);
	for (number = 1; link->taken && number < KTCP_RTS_NUMBERS; number++)
		if (link->taken[number].state == KTCP_RTS_TAKEN && link->taken[number].rx)
			kofi_rx_fail(link->taken[number].rx, 0, err, 0);
}
