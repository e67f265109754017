// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages that come before their receive.
 *
 * The engine of kofi/srx.h matches messages with receives.  It gets a struct ktcp_unexp with
 * each message, and keeps it if there is no receive.  What is behind the message in the stream
 * (an acknowledgment, a message with another tag) must not wait for that receive.  So the payload
 * is taken out of the socket and kept, within bounds:
 *
 *	of an endpoint		KTCP_UNEXP_MSGS messages, KTCP_UNEXP_BYTES bytes
 *	of an address		of both, no more than is left for all others (kofi/source.h)
 *	of a connection		KTCP_UNEXP_PEER_MSGS, KTCP_UNEXP_PEER_BYTES
 *	one message		KTCP_UNEXP_MAX
 *
 * Beyond these bounds, and if there is no memory, the message stays in the socket
 * (KTCP_RX_PARKED).  That socket is not read until a receive takes the message, or there is room
 * (ktcp_unexp_wake()); TCP holds the peer back.  Receives find such a message like any other.  So
 * two endpoints that have both run out of room go on when receives are posted, and nothing is
 * lost.
 *
 * The engine has places for KTCP_UNEXP_WAIT messages, kept or parked.  An address gets no more of
 * them than are left, either.  A message without a place takes a receive only if that is posted
 * when the message comes, or when the connection looks again, as it does after each receive that
 * is posted.
 *
 * A kept message outlives its connection.  If a peer hangs up behind a message that waits, the
 * bounds of the connection do not count any more, and what is in the socket is kept as well, up to
 * a message for which the address has no room.
 *
 * Messages of tags that nobody wants would stay for good.  So as long as an address finds no room,
 * its messages, and those of addresses that have more, are dropped, if their connection has been
 * over for message_timeout (ktcp_unexp_drop_old()).
 *
 * Life of an unexpected message
 *
 *	waiting		in the engine.  Meanwhile its payload is parked, or comes
 *			(KTCP_RX_UNEXP), or is there (ktcp_unexp.full)
 *	settled		a receive has taken it (ktcp_unexp_start()), or nobody wants it
 *			(ktcp_unexp_discard())
 *	finished	the worker of the connection goes on with a parked payload; the worker of
 *			the endpoint copies a full one, or that of the connection does if the
 *			message was settled before it was full (ktcp_unexp_finish())
 *
 * An unexpected message has a reference to its connection.  A full message is not lost when the
 * connection is over.
 *
 * Acknowledgments.  A sender that wants an acknowledgment may have promised delivery to its
 * client, so it gets one when the receive has the data.  On the wire an acknowledgment names no
 * message: it means "one more", in the order of arrival.  So an unexpected message holds back the
 * acknowledgments behind its own, and counts them (ktcp_unexp.behind).  When it is finished, they
 * go to the unexpected message in front of it, or to the peer.
 *
 * An unexpected message may be an RTS (rts.c), which has no payload that could be kept.  RTS
 * messages have a bound of their own, KTCP_UNEXP_RTS of an endpoint, of which an address gets no
 * more than are left.  The numbers of one peer do not reach it.  Otherwise an RTS that is parked
 * would hold up a TCP_WIRE_CTS behind it, and with that the payload for which a peer waits that is
 * full of our own RTS messages.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "rdm.h"

/* For all allocations here: if one fails, TCP holds the peer back */
#define KTCP_UNEXP_GFP	(GFP_NOWAIT | __GFP_NOWARN)

static struct ktcp_unexp *to_ktcp_unexp(struct kofi_srx_msg *msg)
{
	return container_of(msg, struct ktcp_unexp, msg);
}

/* Acknowledgments */

/**
 * ktcp_unexp_hold_ack() - Does an acknowledgment have to wait?
 * @conn: the connection that its message has come by, with ktcp_conn.token held
 *
 * Context: any.
 * Return: whether it does: the last unexpected message in ktcp_link.unacked then counts it.
 */
bool ktcp_unexp_hold_ack(struct ktcp_conn *conn)
{
	struct ktcp_link *link = to_ktcp_link(conn);
	struct ktcp_unexp *last = NULL;
	unsigned long flags;

	if (list_empty_careful(&link->unacked))
		return false;
	spin_lock_irqsave(&link->rdm->soft.lock, flags);
	if (!list_empty(&link->unacked)) {
		last = list_last_entry(&link->unacked, struct ktcp_unexp, of_link);
		last->behind++;
	}
	spin_unlock_irqrestore(&link->rdm->soft.lock, flags);
	return last;
}

/* Acknowledges an unexpected message and those behind it, unless one in front has to be first */
static void ktcp_unexp_ack(struct ktcp_unexp *unexp)
{
	struct ktcp_link *link = unexp->link;
	unsigned int acks = 1 + unexp->behind;

	lockdep_assert_held(&link->rdm->soft.lock);
	if (list_empty(&unexp->of_link))
		return;
	if (list_is_first(&unexp->of_link, &link->unacked))
		atomic_add(acks, &link->conn.late_acks);
	else
		list_prev_entry(unexp, of_link)->behind += acks;
	list_del_init(&unexp->of_link);
	ktcp_kick(&link->conn);
}

/* Objects and bounds */

static const struct kofi_quota_limits ktcp_unexp_limits = {
	.msgs		= KTCP_UNEXP_MSGS,
	.bytes		= KTCP_UNEXP_BYTES,
	.conn_msgs	= KTCP_UNEXP_PEER_MSGS,
	.conn_bytes	= KTCP_UNEXP_PEER_BYTES,
	.max		= KTCP_UNEXP_MAX,
};

/* An RTS has no bytes, and the numbers of a connection bound its RTS messages */
static const struct kofi_quota_limits ktcp_rts_limits = {
	.msgs		= KTCP_UNEXP_RTS,
	.conn_msgs	= KTCP_RTS_NUMBERS,
};

void ktcp_unexp_init(struct ktcp_rdm *rdm)
{
	kofi_quota_init(&rdm->room, &ktcp_unexp_limits);
	kofi_quota_init(&rdm->rts_room, &ktcp_rts_limits);
}

/* Returns the room that a message takes; *@part: that of its connection */
static struct kofi_quota *ktcp_unexp_quota(const struct ktcp_unexp *unexp,
					   struct kofi_quota_conn **part)
{
	struct ktcp_link *link = unexp->link;

	*part = unexp->number ? &link->rts_room : &link->room;
	return unexp->number ? &link->rdm->rts_room : &link->rdm->room;
}

/*
 * Return true if the message has a place in the engine.  No lock, as the engine itself has a limit
 */
static bool ktcp_unexp_has_place(const struct ktcp_link *link)
{
	return READ_ONCE(link->source->waiting) + READ_ONCE(link->rdm->unexp_waiting) <
	       KTCP_UNEXP_WAIT;
}

/* Each message begins in ktcp_link.head, which is replaced if the message is kept */
static struct ktcp_unexp *ktcp_unexp_get(struct ktcp_link *link)
{
	const struct ktcp_hdr *hdr = &link->conn.rx.hdr;
	struct ktcp_unexp *unexp = link->head;

	unexp->link = link;
	unexp->waits = false;
	unexp->behind = 0;
	unexp->number = hdr->op == TCP_WIRE_RTS ? hdr->number : 0;
	unexp->kept = 0;
	unexp->rx = NULL;
	unexp->settled = false;
	unexp->full = false;
	unexp->data = NULL;
	INIT_LIST_HEAD(&unexp->of_link);
	INIT_LIST_HEAD(&unexp->of_rdm);
	refcount_inc(&link->refs);
	return unexp;
}

/* Counts the places in the engine.  Connections that have none look again when one is free */
static void ktcp_unexp_count_place(struct ktcp_unexp *unexp, bool waits)
{
	struct ktcp_rdm *rdm = unexp->link->rdm;
	int by = waits - unexp->waits;
	unsigned long flags;

	if (!by)
		return;
	spin_lock_irqsave(&rdm->soft.lock, flags);
	unexp->waits = waits;
	WRITE_ONCE(unexp->link->source->waiting, unexp->link->source->waiting + by);
	WRITE_ONCE(rdm->unexp_waiting, rdm->unexp_waiting + by);
	spin_unlock_irqrestore(&rdm->soft.lock, flags);
	if (!waits)
		ktcp_rdm_unstall(rdm);
}

void ktcp_unexp_put(struct ktcp_unexp *unexp)
{
	struct ktcp_link *link = unexp->link;

	ktcp_unexp_count_place(unexp, false);
	/* Only the worker of @link puts the one that is ktcp_link.head */
	if (unexp != READ_ONCE(link->head))
		kfree(unexp);
	ktcp_link_put(link);
}

/* There may be room: a connection whose message finds some, and has less than @max bytes, looks */
static void ktcp_unexp_wake_below(struct ktcp_rdm *rdm, struct kofi_quota *quota, size_t max)
{
	struct kofi_quota_conn *next;
	struct ktcp_link *link;
	int looks = KOFI_QUOTA_LOOKS;

	lockdep_assert_held(&rdm->soft.lock);
	do {
		next = kofi_quota_next(quota);
		if (!next)
			return;
	} while (next->wants >= max && --looks);
	if (!looks)
		return;
	link = quota == &rdm->room ? container_of(next, struct ktcp_link, room) :
				     container_of(next, struct ktcp_link, rts_room);
	ktcp_kick(&link->conn);
}

static void ktcp_unexp_wake(struct ktcp_rdm *rdm, struct kofi_quota *quota)
{
	ktcp_unexp_wake_below(rdm, quota, SIZE_MAX);
}

/* The message of a connection needs no room any more; another one may find some */
static void ktcp_link_unpark(struct ktcp_link *link)
{
	struct ktcp_rdm *rdm = link->rdm;

	lockdep_assert_held(&rdm->soft.lock);
	if (kofi_quota_stop(&link->room))
		ktcp_unexp_wake(rdm, &rdm->room);
	if (kofi_quota_stop(&link->rts_room))
		ktcp_unexp_wake(rdm, &rdm->rts_room);
}

static bool ktcp_rdm_is_hungry(const struct ktcp_rdm *rdm)
{
	return !list_empty(&rdm->room.hungry) || !list_empty(&rdm->rts_room.hungry);
}

/* Queue the worker of the connection when there is room, or memory, for its message */
static void ktcp_link_park(struct ktcp_link *link, const struct ktcp_unexp *unexp)
{
	struct kofi_quota_conn *part;
	struct kofi_quota *quota = ktcp_unexp_quota(unexp, &part);
	struct ktcp_rdm *rdm = link->rdm;

	lockdep_assert_held(&rdm->soft.lock);
	kofi_quota_wait(quota, part, unexp->number ? 0 : unexp->msg.what.len);
	if (ktcp_rdm_is_hungry(rdm))
		queue_delayed_work(ktcp_wq, &rdm->press, KTCP_UNEXP_PRESS);
}

/* Gives the room of a message back */
static void ktcp_unexp_give(struct ktcp_unexp *unexp)
{
	struct kofi_quota_conn *part;
	struct kofi_quota *quota = ktcp_unexp_quota(unexp, &part);

	lockdep_assert_held(&unexp->link->rdm->soft.lock);
	kofi_quota_give(quota, part->source, unexp->loose ? NULL : part, unexp->kept);
	list_del_init(&unexp->of_rdm);
}

/* Takes room for the payload; returns whether there was some */
static bool ktcp_unexp_keep(struct ktcp_unexp *unexp)
{
	size_t len = unexp->number ? 0 : unexp->msg.what.len;
	struct ktcp_link *link = unexp->link;
	struct ktcp_rdm *rdm = link->rdm;
	struct kofi_quota_conn *part;
	struct kofi_quota *quota = ktcp_unexp_quota(unexp, &part);
	unsigned long flags;
	bool room;

	unexp->loose = link->hung_up;
	spin_lock_irqsave(&rdm->soft.lock, flags);
	room = kofi_quota_take(quota, part->source, unexp->loose ? NULL : part, len);
	if (room) {
		unexp->kept = len;
		/* kofi_quota_take() has done so, unless the room is not this connection's */
		kofi_quota_stop(part);
		if (!unexp->number)
			list_add_tail(&unexp->of_rdm, &rdm->kept);
	} else {
		ktcp_link_park(link, unexp);
	}
	spin_unlock_irqrestore(&rdm->soft.lock, flags);
	return room;
}

/* A message has taken room, and memory.  What is left may be enough for another connection */
static void ktcp_unexp_kept(struct ktcp_unexp *unexp)
{
	struct ktcp_rdm *rdm = unexp->link->rdm;
	struct kofi_quota_conn *part;
	struct kofi_quota *quota = ktcp_unexp_quota(unexp, &part);
	unsigned long flags;

	/* A connection that begins to wait at this moment has looked at what is left */
	if (likely(list_empty(&quota->hungry)))
		return;
	spin_lock_irqsave(&rdm->soft.lock, flags);
	ktcp_unexp_wake(rdm, quota);
	spin_unlock_irqrestore(&rdm->soft.lock, flags);
}

void ktcp_unexp_unkeep(struct ktcp_unexp *unexp)
{
	struct ktcp_rdm *rdm = unexp->link->rdm;
	unsigned long flags;

	kfree(unexp->data);
	unexp->data = NULL;
	spin_lock_irqsave(&rdm->soft.lock, flags);
	ktcp_unexp_give(unexp);
	ktcp_unexp_wake(rdm, unexp->number ? &rdm->rts_room : &rdm->room);
	spin_unlock_irqrestore(&rdm->soft.lock, flags);
}

/*
 * There is room for the message, and no memory.  The connection waits, and wakes only one whose
 * message needs less: any other would lack the same memory, and would wake this one in turn.
 */
static void ktcp_unexp_repark(struct ktcp_link *link, struct ktcp_unexp *unexp)
{
	struct kofi_quota_conn *part;
	struct kofi_quota *quota = ktcp_unexp_quota(unexp, &part);

	kfree(unexp->data);
	unexp->data = NULL;
	spin_lock_irq(&link->rdm->soft.lock);
	ktcp_unexp_give(unexp);
	ktcp_link_park(link, unexp);
	ktcp_unexp_wake_below(link->rdm, quota, part->wants);
	spin_unlock_irq(&link->rdm->soft.lock);
}

/*
 * Takes what is needed besides room for the message in ktcp_link.head: a place for the payload, and
 * a new head
 */
static bool ktcp_unexp_furnish(struct ktcp_unexp *unexp, size_t len)
{
	struct ktcp_link *link = unexp->link;
	struct ktcp_unexp *head;

	if (len && !unexp->number) {
		unexp->data = kmalloc(len, KTCP_UNEXP_GFP);
		if (!unexp->data)
			return false;
	}
	head = kzalloc(sizeof(*head), KTCP_UNEXP_GFP);
	if (!head)
		return false;
	WRITE_ONCE(link->head, head);
	return true;
}

/* Arrival, by the worker of the connection */

/* Queue the worker again when receives are posted, or completions are read */
void ktcp_link_stall(struct ktcp_conn *conn)
{
	struct ktcp_link *link = to_ktcp_link(conn);
	unsigned long flags;

	spin_lock_irqsave(&link->rdm->soft.lock, flags);
	if (list_empty(&link->stalled))
		list_add_tail(&link->stalled, &link->rdm->stalled);
	spin_unlock_irqrestore(&link->rdm->soft.lock, flags);
}

/**
 * ktcp_link_await() - Wait for the receive context that messages arrive at
 * @conn: a connection of a scalable endpoint, with ktcp_conn.token held
 *
 * Context: any.
 * Return: the context; NULL: it is not enabled yet, and the worker looks again when it is.
 */
struct kofi_soft_ep *ktcp_link_await(struct ktcp_conn *conn)
{
	ktcp_link_stall(conn);
	return ktcp_conn_at(conn);
}

/* Decides where the payload goes of a message that no receive has taken */
static void ktcp_unexp_begin(struct ktcp_link *link, struct ktcp_unexp *unexp)
{
	struct ktcp_rx *rx = &link->conn.rx;

	rx->unexp = unexp;
	rx->state = KTCP_RX_PARKED;
	ktcp_unexp_count_place(unexp, true);
	if (!ktcp_unexp_keep(unexp))
		return;
	if (!ktcp_unexp_furnish(unexp, rx->hdr.len)) {
		ktcp_unexp_repark(link, unexp);
		return;
	}
	ktcp_unexp_kept(unexp);
	if (unexp->number) {
		/* An RTS has no payload yet, and does not hold up what is behind it */
		rx->unexp = NULL;
		rx->have = 0;
		rx->state = KTCP_RX_HEADER;
		ktcp_rts_wait(unexp);
		return;
	}
	rx->state = KTCP_RX_UNEXP;
}

/* Gives the message that is being received, or its RTS, to a receive; NULL: drops it */
static void ktcp_unexp_matched(struct ktcp_conn *conn, struct ktcp_unexp *unexp,
			       struct kofi_rx *rx)
{
	if (unexp->number) {
		ktcp_rts_take(conn, unexp->number, rx, conn->rx.hdr.msg_len);
		conn->rx.have = 0;
		conn->rx.state = KTCP_RX_HEADER;
	} else {
		conn->rx.rx = rx;
		conn->rx.state = rx ? KTCP_RX_MSG : KTCP_RX_DROP;
	}
}

/*
 * Gives an untagged message the receive that is next, if there is one, and nothing else is to be
 * considered.  False: it may have to wait, and kofi_srx_arrive() finds out.
 */
static bool ktcp_unexp_match_plain(struct ktcp_conn *conn, const struct kofi_srx_arrival *what)
{
	struct kofi_rx *rx;

	/* The sender may have become known since it was looked up */
	if (what->flags & FI_TAGGED || what->ep->caps & FI_SOURCE)
		return false;
	rx = kofi_srx_arrive_plain(conn->at->srx, what);
	if (!rx)
		return false;
	conn->rx.rx = rx;
	conn->rx.state = KTCP_RX_MSG;
	return true;
}

/**
 * ktcp_unexp_arrive() - A message has come, or an RTS
 * @conn: the connection, with ktcp_conn.token held, whose ktcp_rx.hdr is the message's
 * @what: the message; its sender is filled in
 *
 * Context: may sleep.
 * Return: 0, and the state says where the payload goes; -EAGAIN: it has to wait; -ESHUTDOWN:
 * nothing is received any more; as ktcp_rts_begin().
 */
int ktcp_unexp_arrive(struct ktcp_conn *conn, struct kofi_srx_arrival *what)
{
	struct ktcp_link *link = to_ktcp_link(conn);
	struct kofi_srx *srx = conn->at->srx;
	struct kofi_srx_msg *msg = NULL;
	struct ktcp_unexp *unexp;
	int ret;

	lockdep_assert_held(&conn->token);
	if (conn->rx.hdr.op == TCP_WIRE_RTS) {
		ret = ktcp_rts_begin(conn);
		if (ret)
			return ret;
	}
	ktcp_link_source(conn, &what->src_addr, &what->source);
	if (likely(ktcp_unexp_match_plain(conn, what)))
		return 0;
	unexp = ktcp_unexp_get(link);
	if (ktcp_unexp_has_place(link))
		msg = &unexp->msg;
	ret = kofi_srx_arrive(srx, what, msg, &conn->rx.rx);
	if (ret == -EAGAIN) {
		ktcp_link_stall(conn);
		if (ktcp_unexp_has_place(link))
			msg = &unexp->msg;
		/* A receive that was posted before the stall may name a sender that was unknown */
		ktcp_link_source(conn, &what->src_addr, &what->source);
		ret = kofi_srx_arrive(srx, what, msg, &conn->rx.rx);
	}
	if (ret == KOFI_SRX_QUEUED) {
		ktcp_unexp_begin(link, unexp);
		return 0;
	}
	if (ret == KOFI_SRX_MATCHED)
		ktcp_unexp_matched(conn, unexp, conn->rx.rx);
	ktcp_unexp_put(unexp);
	return ret;
}

/**
 * ktcp_unexp_look() - Look whether the parked message was settled, or has room now
 * @conn: a connection in KTCP_RX_PARKED, with ktcp_conn.token held
 *
 * Context: any.
 * Return: 0, and the state says where the payload goes; -EAGAIN: neither.
 */
int ktcp_unexp_look(struct ktcp_conn *conn)
{
	struct ktcp_unexp *unexp = conn->rx.unexp;
	unsigned long flags;
	bool settled;

	spin_lock_irqsave(&conn->soft->lock, flags);
	settled = unexp->settled;
	if (settled)
		ktcp_link_unpark(to_ktcp_link(conn));
	spin_unlock_irqrestore(&conn->soft->lock, flags);
	if (!settled) {
		ktcp_unexp_begin(to_ktcp_link(conn), unexp);
		return conn->rx.state == KTCP_RX_PARKED ? -EAGAIN : 0;
	}
	conn->rx.unexp = NULL;
	ktcp_unexp_matched(conn, unexp, unexp->rx);
	ktcp_unexp_put(unexp);
	return 0;
}

/**
 * ktcp_unexp_hung_up() - The peer has hung up behind a message that waits
 * @conn: a connection of an endpoint without connections, with ktcp_conn.token held
 *
 * Only the bounds of the address count from now on: what has come is kept as far as that has room.
 *
 * Context: any.
 * Return: true: look at the message once more; false: it has been looked at.
 */
bool ktcp_unexp_hung_up(struct ktcp_conn *conn)
{
	struct ktcp_link *link = to_ktcp_link(conn);
	bool first = !link->hung_up;

	lockdep_assert_held(&conn->token);
	link->hung_up = true;
	return first;
}

/* Copies a payload that was kept to its receive.  A scatterlist that is lent comes in parts */
static void ktcp_unexp_copy(const struct ktcp_unexp *unexp)
{
	struct kvec kvec = { unexp->data, kofi_rx_len(unexp->rx) };
	struct iov_iter to, from;
	size_t done, part;

	iov_iter_kvec(&from, ITER_SOURCE, &kvec, 1, kvec.iov_len);
	for (done = 0; done < kvec.iov_len; done += part) {
		kofi_rx_iter(unexp->rx, done, &to);
		part = kofi_iov_copy(&to, &from, KTCP_UNEXP_MAX);
		if (!part)
			break;
	}
}

/* Gives a message that is settled and full to its receive, and forgets it; by a worker */
static void ktcp_unexp_finish(struct ktcp_unexp *unexp)
{
	struct ktcp_link *link = unexp->link;
	unsigned long flags;

	if (unexp->rx) {
		ktcp_unexp_copy(unexp);
		kofi_rx_complete(unexp->rx);
	}
	spin_lock_irqsave(&link->rdm->soft.lock, flags);
	ktcp_unexp_ack(unexp);
	spin_unlock_irqrestore(&link->rdm->soft.lock, flags);
	ktcp_unexp_unkeep(unexp);
	ktcp_unexp_put(unexp);
}

/**
 * ktcp_unexp_filled() - All of the payload of an unexpected message is there
 * @conn: a connection in KTCP_RX_UNEXP, with ktcp_conn.token held
 *
 * Context: may sleep.
 */
void ktcp_unexp_filled(struct ktcp_conn *conn)
{
	struct ktcp_unexp *unexp = conn->rx.unexp;
	struct ktcp_link *link = unexp->link;
	unsigned long flags;
	bool settled;

	conn->rx.unexp = NULL;
	spin_lock_irqsave(&conn->soft->lock, flags);
	unexp->full = true;
	settled = unexp->settled;
	if (conn->rx.hdr.flags & TCP_WIRE_ACK_WANTED) {
		conn->rx.wanted++;
		list_add_tail(&unexp->of_link, &link->unacked);
	}
	spin_unlock_irqrestore(&conn->soft->lock, flags);
	if (settled)
		ktcp_unexp_finish(unexp);
}

/* Where the next bytes of the payload go, of a connection in KTCP_RX_UNEXP */
void *ktcp_unexp_data(const struct ktcp_conn *conn)
{
	return conn->rx.unexp->data + conn->rx.done;
}

/**
 * ktcp_unexp_abort() - The connection is over before a payload was there
 * @conn: a connection that is over, by its worker
 * @err: error of a receive that has taken the message, positive
 *
 * Context: may sleep.
 */
void ktcp_unexp_abort(struct ktcp_conn *conn, int err)
{
	struct ktcp_unexp *unexp = conn->rx.unexp;
	struct ktcp_link *link = to_ktcp_link(conn);

	/* It stalls no more, and ktcp_rdm_unstall() must not find it when it has been freed */
	spin_lock_irq(&conn->soft->lock);
	list_del_init(&link->stalled);
	spin_unlock_irq(&conn->soft->lock);
	if (conn->rx.state != KTCP_RX_UNEXP && conn->rx.state != KTCP_RX_PARKED)
		return;
	conn->rx.unexp = NULL;
	spin_lock_irq(&conn->soft->lock);
	ktcp_link_unpark(link);
	spin_unlock_irq(&conn->soft->lock);
	/* A message that cannot be withdrawn has been settled by now */
	if (!kofi_srx_withdraw(conn->at->srx, &unexp->msg) && unexp->rx)
		kofi_rx_fail(unexp->rx, 0, err, 0);
	if (conn->rx.state == KTCP_RX_UNEXP)
		ktcp_unexp_unkeep(unexp);
	ktcp_unexp_put(unexp);
}

/* Settled messages */

/* A kept message that nobody has taken, whose connection has been over for long; NULL: none */
static struct ktcp_unexp *ktcp_unexp_old(struct ktcp_rdm *rdm)
{
	unsigned long before = jiffies - ktcp_message_timeout();
	struct ktcp_unexp *unexp, *found = NULL;

	spin_lock_irq(&rdm->soft.lock);
	list_for_each_entry(unexp, &rdm->kept, of_rdm) {
		if (unexp->full && !unexp->settled && unexp->link->over &&
		    time_before(unexp->link->over_since, before) &&
		    kofi_quota_is_wanted(&rdm->room, &unexp->link->source->kept)) {
			found = unexp;
			/* It is looked at once */
			list_del_init(&unexp->of_rdm);
			break;
		}
	}
	spin_unlock_irq(&rdm->soft.lock);
	return found;
}

/*
 * Makes room, by the worker of the endpoint, which is the only one that finishes messages whose
 * connection is over
 */
static void ktcp_unexp_drop_old(struct ktcp_rdm *rdm)
{
	struct ktcp_unexp *unexp;
	int i;

	if (!READ_ONCE(rdm->pressed))
		return;
	WRITE_ONCE(rdm->pressed, false);
	for (i = 0; i < KTCP_UNEXP_DROPS; i++) {
		unexp = ktcp_unexp_old(rdm);
		if (!unexp)
			break;
		/* If a receive has taken it meanwhile, ktcp_unexp_settle() finishes it */
		if (kofi_srx_withdraw_unclaimed(unexp->link->conn.at->srx, &unexp->msg))
			ktcp_unexp_finish(unexp);
	}
	spin_lock_irq(&rdm->soft.lock);
	ktcp_unexp_wake(rdm, &rdm->room);
	ktcp_unexp_wake(rdm, &rdm->rts_room);
	if (ktcp_rdm_is_hungry(rdm))
		queue_delayed_work(ktcp_wq, &rdm->press, KTCP_UNEXP_PRESS);
	spin_unlock_irq(&rdm->soft.lock);
}

/* Delayed work ktcp_rdm.press: a message has found no room */
void ktcp_unexp_press(struct work_struct *work)
{
	struct ktcp_rdm *rdm = container_of(to_delayed_work(work), struct ktcp_rdm, press);

	WRITE_ONCE(rdm->pressed, true);
	kofi_soft_kick(&rdm->soft);
}

/**
 * ktcp_unexp_settle() - Finish the unexpected messages that have been settled, or are dropped
 * @rdm: the endpoint, by its worker
 *
 * Context: may sleep.
 */
void ktcp_unexp_settle(struct ktcp_rdm *rdm)
{
	struct ktcp_unexp *unexp, *next;
	LIST_HEAD(settled);

	ktcp_unexp_drop_old(rdm);
	spin_lock_irq(&rdm->soft.lock);
	list_splice_init(&rdm->settled, &settled);
	spin_unlock_irq(&rdm->soft.lock);
	list_for_each_entry_safe(unexp, next, &settled, entry) {
		list_del(&unexp->entry);
		ktcp_unexp_finish(unexp);
		cond_resched();
	}
}

/* struct kofi_srx_ops */

static void ktcp_unexp_decide(struct kofi_srx_msg *msg, struct kofi_rx *rx)
{
	struct ktcp_unexp *unexp = to_ktcp_unexp(msg);
	struct ktcp_link *link = unexp->link;
	struct ktcp_rdm *rdm = link->rdm;
	unsigned long flags;

	spin_lock_irqsave(&rdm->soft.lock, flags);
	unexp->rx = rx;
	unexp->settled = true;
	if (unexp->full && !unexp->number) {
		list_add_tail(&unexp->entry, &rdm->settled);
		kofi_soft_kick(&rdm->soft);
	} else {
		if (unexp->full)
			list_add_tail(&unexp->entry, &link->settled);
		ktcp_kick(&link->conn);
	}
	spin_unlock_irqrestore(&rdm->soft.lock, flags);
}

static void ktcp_unexp_start(struct kofi_rx *rx, struct kofi_srx_msg *msg)
{
	ktcp_unexp_decide(msg, rx);
}

static void ktcp_unexp_discard(struct kofi_srx_msg *msg)
{
	ktcp_unexp_decide(msg, NULL);
}

void ktcp_rdm_resume(struct kofi_srx *srx)
{
	ktcp_rdm_unstall(to_ktcp_rdm(container_of(srx, struct kofi_soft_ep, own_srx)->hub));
}

/**
 * ktcp_rdm_unstall() - Queue the workers of connections whose next message found no place
 * @rdm: the endpoint
 *
 * Context: any.
 */
void ktcp_rdm_unstall(struct ktcp_rdm *rdm)
{
	struct ktcp_link *link, *next;
	unsigned long flags;

	spin_lock_irqsave(&rdm->soft.lock, flags);
	list_for_each_entry_safe(link, next, &rdm->stalled, stalled) {
		list_del_init(&link->stalled);
		ktcp_kick(&link->conn);
	}
	spin_unlock_irqrestore(&rdm->soft.lock, flags);
}

static void ktcp_unexp_sender(const struct kofi_srx_msg *msg, fi_addr_t *src_addr,
			      fi_addr_t *source)
{
	const struct ktcp_unexp *unexp = container_of(msg, struct ktcp_unexp, msg);

	ktcp_link_source(&unexp->link->conn, src_addr, source);
}

static unsigned long ktcp_unexp_changes(const struct kofi_srx *srx)
{
	return kofi_av_changes(kofi_soft_av(container_of(srx, struct kofi_soft_ep, own_srx)));
}

const struct kofi_srx_ops ktcp_rdm_srx_ops = {
	.start		= ktcp_unexp_start,
	.discard	= ktcp_unexp_discard,
	.resume		= ktcp_rdm_resume,
	.sender		= ktcp_unexp_sender,
	.changes	= ktcp_unexp_changes,
};
