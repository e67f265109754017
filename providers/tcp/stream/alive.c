// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Is the peer still there?
 *
 * TCP's keepalive reports an idle connection whose peer has gone.  Keepalive is silent as long
 * as data are on their way; for those TCP itself waits a quarter of an hour.  TCP_USER_TIMEOUT
 * cannot distinguish a peer that has gone from one whose window is closed because it posts no
 * receive.  And TCP does not know that the peer owes something: the rest of a message, which
 * holds a receive or a region meanwhile.  So the worker looks itself, as long as something is on
 * its way:
 *
 *	data or probes unanswered	the peer has gone when no acknowledgment has come for
 *					peer_timeout
 *	data that may not be sent	the window is closed; TCP probes it, and the peer
 *					answers.  It may stay closed for window_timeout
 *	the rest of a message, or the	within each message_timeout the message has to end, or
 *	payload that was asked for	KTCP_REST_BYTES have to come; from message_timeout on,
 *					message_rate of all that has come since it began.  A
 *					payload that was asked for (TCP_WIRE_CTS) is behind
 *					others, so only bytes count then
 *	the response to a read, or to	within rts_timeout behind the response, or the
 *	an access to a tagged receive,	acknowledgment, before, the next one has to begin,
 *	or the acknowledgment of a	whatever else comes
 *	write
 *
 * A response may be behind messages: at the peer, where one of this end's waits for its receive,
 * and here, where one of the peer's does.  So it has as long as an RTS may wait for its receive.
 * The acknowledgment of a message waits for a receive itself, and that of a write with remote CQ
 * data for room in the peer's queue, so these have no limit, nor has that of a write behind them.
 *
 * What waits for this end, for example for a receive, is not the peer's debt.  A payload that was
 * asked for may be behind it, and then has the time of an RTS (rts_timeout): a peer must not
 * keep the receives that its RTS messages have taken by a message that nobody wants.
 *
 * So a receive comes back in a time that its length bounds: message_timeout, and a second for each
 * message_rate of its bytes.  What does not fit into it is dropped without it (rx.c).
 *
 * A delayed work item wakes the worker for each look.  It is queued when there is something to
 * look at, and stays queued when that is over: nothing is queued for each message.  What begins to
 * be on its way while a look is queued is looked at from that look on, which is at most KTCP_LOOK
 * later.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/tcp.h>
#include <net/inet_connection_sock.h>
#include <kofi/peer.h>
#include "stream.h"

#define KTCP_LOOK	(HZ / 2)
#define KTCP_REST_BYTES	SZ_64K

static void ktcp_alive_look(struct work_struct *work)
{
	ktcp_kick(container_of(to_delayed_work(work), struct ktcp_conn, alive.look));
}

void ktcp_alive_init(struct ktcp_alive *alive)
{
	INIT_DELAYED_WORK(&alive->look, ktcp_alive_look);
}

static void ktcp_alive_wake(struct ktcp_alive *alive, unsigned long delay)
{
	if (!delayed_work_pending(&alive->look))
		queue_delayed_work(ktcp_wq, &alive->look, delay);
}

/* Notes how far the peer is with what it owes, unless it owes that for longer already */
static void ktcp_alive_note_rest(struct ktcp_conn *conn, bool due, unsigned long now)
{
	u32 place = READ_ONCE(tcp_sk(conn->sk.sock->sk)->copied_seq);
	struct ktcp_alive *alive = &conn->alive;
	bool behind = ktcp_recv_waits(conn), same;

	same = due && alive->looking && behind == alive->behind &&
	       (ktcp_data_is_awaited(conn) || conn->rx.begun == alive->begun);
	alive->came += (u32)(place - alive->seen);
	alive->seen = place;
	if (!same) {
		alive->owed = now;
		alive->came = 0;
	}
	if (same && place - alive->place < KTCP_REST_BYTES)
		return;
	alive->behind = behind;
	alive->rest = now;
	alive->place = place;
	alive->begun = conn->rx.begun;
}

/*
 * Is the oldest operation with an acknowledgment a write that the peer performs by itself?  One
 * with remote CQ data waits for the peer's client, which reads a completion, as a message does.
 */
static bool ktcp_ack_is_awaited(struct ktcp_tx *tx)
{
	const struct kofi_soft_op *op;

	op = list_first_entry_or_null(&tx->acked, struct kofi_soft_op, entry);
	return op && op->kept.type == FI_OP_WRITE && !(op->kept.flags & FI_REMOTE_CQ_DATA);
}

/* Does the peer owe an answer to an operation? */
static bool ktcp_alive_awaits(struct ktcp_conn *conn)
{
	return !list_empty(&conn->tx.reads) || ktcp_ack_is_awaited(&conn->tx);
}

/* Notes an answer, unless the peer owes it for longer already */
static void ktcp_awaited_note(struct ktcp_awaited *awaited, bool owed, u32 count,
			      unsigned long now)
{
	if (owed && count == awaited->count)
		return;
	awaited->since = now;
	awaited->count = count;
}

static void ktcp_alive_note_answers(struct ktcp_conn *conn, unsigned long now)
{
	struct ktcp_alive *alive = &conn->alive;
	struct ktcp_tx *tx = &conn->tx;

	/* The payload of a response is the rest of a message */
	ktcp_awaited_note(&alive->response, alive->looking && !list_empty(&tx->reads) &&
			  conn->rx.state != KTCP_RX_READ, tx->responses_seen, now);
	ktcp_awaited_note(&alive->ack, alive->looking && ktcp_ack_is_awaited(tx),
			  tx->acknowledged, now);
}

/* Does the peer owe an answer for too long? */
static bool ktcp_alive_is_unanswered(const struct ktcp_alive *alive, unsigned long now)
{
	unsigned long time = ktcp_rts_timeout();

	/* 0: there is no limit */
	return time && (time_after(now, alive->response.since + time) ||
			time_after(now, alive->ack.since + time));
}

/* Does the peer owe something for too long? */
static bool ktcp_alive_is_late(const struct ktcp_alive *alive, unsigned long now)
{
	unsigned long time = alive->behind ? ktcp_rts_timeout() : ktcp_message_timeout();

	/* 0: there is no limit */
	if (time && time_after(now, alive->rest + time))
		return true;
	return !alive->behind && kofi_peer_is_slow(alive->owed, alive->came, time,
						   ktcp_message_rate());
}

/* Nothing is on its way.  If that stays so until the next look, the socket needs no memory */
static void ktcp_alive_idle(struct ktcp_conn *conn, unsigned long now)
{
	if (!READ_ONCE(conn->sk.sock->sk->sk_frag.page))
		return;
	if (time_before(now, conn->used + KTCP_LOOK))
		ktcp_alive_wake(&conn->alive, KTCP_LOOK);
	else
		ktcp_sock_trim(conn->sk.sock);
}

/* As ktcp_alive_check(), whatever is queued */
static int ktcp_alive_check_now(struct ktcp_conn *conn)
{
	const struct sock *sk = conn->sk.sock->sk;
	const struct tcp_sock *tp = tcp_sk(sk);
	struct ktcp_alive *alive = &conn->alive;
	bool asked = READ_ONCE(tp->packets_out) ||
		     READ_ONCE(inet_csk(sk)->icsk_probes_out);
	/* What this end keeps for the next turn waits for no window */
	bool closed = !conn->tx.held && !READ_ONCE(tp->packets_out) &&
		      READ_ONCE(tp->write_seq) != READ_ONCE(tp->snd_nxt);
	u32 answered = READ_ONCE(tp->rcv_tstamp);
	bool due = ktcp_recv_is_due(conn);
	unsigned long now = jiffies;

	if (!asked && !closed && !due && !ktcp_alive_awaits(conn)) {
		alive->looking = false;
		ktcp_alive_idle(conn, now);
		return 0;
	}
	/* The work item is queued for then */
	if (alive->looking && time_before(now, alive->next))
		return 0;
	if (!alive->looking || !asked || answered != alive->answered)
		alive->heard = now;
	if (!alive->looking || !closed)
		alive->open = now;
	ktcp_alive_note_rest(conn, due, now);
	ktcp_alive_note_answers(conn, now);
	alive->looking = true;
	alive->answered = answered;
	alive->next = now + KTCP_LOOK;
	/* The work item may still be queued for this look, or for an earlier one */
	mod_delayed_work(ktcp_wq, &alive->look, KTCP_LOOK);
	/* HZ: a silence may have begun one look before it was seen, and is seen to end by a look */
	if (time_after(now, alive->heard + ktcp_peer_timeout() - HZ) ||
	    time_after(now, alive->open + ktcp_window_timeout()) ||
	    ktcp_alive_is_late(alive, now) || ktcp_alive_is_unanswered(alive, now))
		return -ETIMEDOUT;
	return 0;
}

/**
 * ktcp_alive_check() - Look whether the peer is still there
 * @conn: a connection in KTCP_OPEN, with ktcp_conn.token held, when it has sent
 *
 * Context: may sleep.
 * Return: 0; -ETIMEDOUT: the peer has gone, has kept its window closed for too long, or owes the
 * rest of a message, or an answer, for too long.
 */
int ktcp_alive_check(struct ktcp_conn *conn)
{
	bool waits = conn->upper && conn->upper->check(conn);
	struct ktcp_alive *alive = &conn->alive;
	int ret = 0;

	/* What may be on its way now is seen by the look that is queued */
	if (alive->looking || !delayed_work_pending(&alive->look))
		ret = ktcp_alive_check_now(conn);
	if (waits)
		ktcp_alive_wake(alive, KTCP_LOOK);
	return ret;
}

/**
 * ktcp_alive_stop() - Stop looking whether the peer is there
 * @alive: that of a connection that is over, by its worker
 *
 * Context: may sleep.
 */
void ktcp_alive_stop(struct ktcp_alive *alive)
{
	cancel_delayed_work_sync(&alive->look);
}
