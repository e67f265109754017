// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages that come before their receive.
 *
 * The engine of kofi/srx.h matches messages with receives.  It gets a struct ktcp_early with
 * each message, and keeps it if there is no receive.  What is behind the message in the stream
 * (an acknowledgment, a message with another tag) must not wait for that receive.  So the payload
 * is taken out of the socket and kept, within bounds:
 *
 *	of an endpoint		KTCP_EARLY_MSGS messages, KTCP_EARLY_BYTES bytes
 *	of a peer		KTCP_EARLY_PEER_MSGS, KTCP_EARLY_PEER_BYTES, and no more than is
 *				left for all others (ktcp_early_has_room()): so one peer that
 *				floods leaves half of the bytes, two leave a third, and so on
 *	one message		KTCP_EARLY_MAX
 *
 * Beyond these bounds, and if there is no memory, the message stays in the socket
 * (KTCP_RX_PARKED).  That socket is not read until a receive takes the message; TCP holds the
 * peer back.  Receives find such a message like any other.  So two endpoints that have both run
 * out of room go on when receives are posted, and nothing is lost.
 *
 * Life of an early message
 *
 *	waiting		in the engine.  Meanwhile its payload is parked, or comes
 *			(KTCP_RX_EARLY), or is there (ktcp_early.full)
 *	settled		a receive has taken it (ktcp_early_start()), or nobody wants it
 *			(ktcp_early_discard())
 *	finished	the worker of the connection goes on with a parked payload; the worker of
 *			the endpoint copies a full one, or that of the connection does if the
 *			message was settled before it was full (ktcp_early_finish())
 *
 * An early message has a reference to its connection.  A full message is not lost when the
 * connection is over.
 *
 * Acknowledgments.  A sender that wants an acknowledgment may have promised delivery to its
 * client, so it gets one when the receive has the data.  On the wire an acknowledgment names no
 * message: it means "one more", in the order of arrival.  So an early message holds back the
 * acknowledgments behind its own, and counts them (ktcp_early.behind).  When it is finished, they
 * go to the early message in front of it, or to the peer.
 *
 * An early message may be an offer (rts.c), which has no payload that could be kept.  Offers
 * have a bound of their own, KTCP_EARLY_OFFERS of an endpoint.  The numbers of one peer do not
 * reach it.  Otherwise an offer that is parked would hold up a TCP_WIRE_CTS behind it, and with
 * that the payload for which a peer waits that is full of our own offers.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "rdm.h"

/* For all allocations here: if one fails, TCP holds the peer back */
#define KTCP_EARLY_GFP	(GFP_NOWAIT | __GFP_NOWARN)

static struct ktcp_early *to_ktcp_early(struct kofi_srx_msg *msg)
{
	return container_of(msg, struct ktcp_early, msg);
}

/* Acknowledgments */

/**
 * ktcp_early_hold_ack() - Does an acknowledgment have to wait?
 * @link: the connection that its message has come by
 *
 * Context: any, by the worker of @link.
 * Return: whether it does: the last early message in ktcp_link.unacked then counts it.
 */
bool ktcp_early_hold_ack(struct ktcp_link *link)
{
	struct ktcp_early *last = NULL;
	unsigned long flags;

	if (list_empty_careful(&link->unacked))
		return false;
	spin_lock_irqsave(&link->rdm->soft.lock, flags);
	if (!list_empty(&link->unacked)) {
		last = list_last_entry(&link->unacked, struct ktcp_early, of_link);
		last->behind++;
	}
	spin_unlock_irqrestore(&link->rdm->soft.lock, flags);
	return last;
}

/* Acknowledges an early message and those behind it, unless one in front has to be first */
static void ktcp_early_ack(struct ktcp_early *early)
{
	struct ktcp_link *link = early->link;
	unsigned int acks = 1 + early->behind;

	lockdep_assert_held(&link->rdm->soft.lock);
	if (list_empty(&early->of_link))
		return;
	if (list_is_first(&early->of_link, &link->unacked))
		atomic_add(acks, &link->conn.late_acks);
	else
		list_prev_entry(early, of_link)->behind += acks;
	list_del_init(&early->of_link);
	ktcp_kick(&link->conn);
}

/* Objects and bounds */

static struct ktcp_early *ktcp_early_get(struct ktcp_link *link)
{
	const struct ktcp_hdr *hdr = &link->conn.rx.hdr;
	struct ktcp_early *early;

	if (hdr->op == TCP_WIRE_RTS)
		early = kzalloc(sizeof(*early), KTCP_EARLY_GFP);
	else
		early = kofi_bufpool_get(&link->rdm->early);
	if (!early)
		early = &link->head;
	early->link = link;
	early->behind = 0;
	early->number = hdr->op == TCP_WIRE_RTS ? hdr->number : 0;
	early->kept = 0;
	early->rx = NULL;
	early->settled = false;
	early->full = false;
	early->data = NULL;
	INIT_LIST_HEAD(&early->of_link);
	refcount_inc(&link->refs);
	return early;
}

void ktcp_early_put(struct ktcp_early *early)
{
	struct ktcp_link *link = early->link;

	if (early != &link->head && early->number)
		kfree(early);
	else if (early != &link->head)
		kofi_bufpool_put(&link->rdm->early, early);
	ktcp_link_put(link);
}

/* May a message of @len bytes be kept for the peer of a connection? */
static bool ktcp_early_has_room(const struct ktcp_link *link, size_t len)
{
	const struct ktcp_rdm *rdm = link->rdm;
	size_t left = KTCP_EARLY_BYTES - rdm->early_bytes;

	lockdep_assert_held(&rdm->soft.lock);
	return len <= KTCP_EARLY_MAX && link->early_msgs < KTCP_EARLY_PEER_MSGS &&
	       link->early_bytes + len <= min_t(size_t, left, KTCP_EARLY_PEER_BYTES);
}

/* An offer costs no more than its number, of which a peer has KTCP_RTS_NUMBERS */
static bool ktcp_early_keep_offer(struct ktcp_link *link)
{
	struct ktcp_rdm *rdm = link->rdm;
	unsigned long flags;
	bool room;

	spin_lock_irqsave(&rdm->soft.lock, flags);
	room = link->early_offers < KTCP_EARLY_OFFERS - rdm->early_offers;
	link->early_offers += room;
	rdm->early_offers += room;
	spin_unlock_irqrestore(&rdm->soft.lock, flags);
	return room;
}

/* Takes room for the payload; returns whether there was some */
static bool ktcp_early_keep(struct ktcp_early *early)
{
	struct ktcp_link *link = early->link;
	struct ktcp_rdm *rdm = link->rdm;
	size_t len = early->msg.what.len;
	unsigned long flags;
	bool room;

	if (early == &link->head)
		return false;
	if (early->number)
		return ktcp_early_keep_offer(link);
	spin_lock_irqsave(&rdm->soft.lock, flags);
	room = ktcp_early_has_room(link, len);
	if (room) {
		link->early_msgs++;
		link->early_bytes += len;
		rdm->early_bytes += len;
		early->kept = len;
	}
	spin_unlock_irqrestore(&rdm->soft.lock, flags);
	return room;
}

void ktcp_early_unkeep(struct ktcp_early *early)
{
	struct ktcp_link *link = early->link;
	unsigned long flags;

	kfree(early->data);
	early->data = NULL;
	spin_lock_irqsave(&link->rdm->soft.lock, flags);
	if (early->number) {
		link->early_offers--;
		link->rdm->early_offers--;
	} else {
		link->early_msgs--;
		link->early_bytes -= early->kept;
		link->rdm->early_bytes -= early->kept;
	}
	spin_unlock_irqrestore(&link->rdm->soft.lock, flags);
}

/* Arrival, by the worker of the connection */

/* Has the worker look again when receives are posted, or completions are read */
void ktcp_link_stall(struct ktcp_link *link)
{
	unsigned long flags;

	spin_lock_irqsave(&link->rdm->soft.lock, flags);
	if (list_empty(&link->stalled))
		list_add_tail(&link->stalled, &link->rdm->stalled);
	spin_unlock_irqrestore(&link->rdm->soft.lock, flags);
}

/**
 * ktcp_link_await() - Wait for the receive context that messages arrive at
 * @link: a connection of a scalable endpoint, with ktcp_conn.run held
 *
 * Context: any.
 * Return: the context; NULL: it is not enabled yet, and the worker looks again when it is.
 */
struct kofi_soft_ep *ktcp_link_await(struct ktcp_link *link)
{
	ktcp_link_stall(link);
	return ktcp_conn_at(&link->conn);
}

/* Decides where the payload goes of a message that no receive has taken */
static void ktcp_early_begin(struct ktcp_link *link, struct ktcp_early *early)
{
	struct ktcp_rx *rx = &link->conn.rx;

	rx->early = early;
	rx->state = KTCP_RX_PARKED;
	if (!ktcp_early_keep(early))
		return;
	if (early->number) {
		/* An offer has no payload yet, and does not hold up what is behind it */
		rx->early = NULL;
		rx->have = 0;
		rx->state = KTCP_RX_HEADER;
		ktcp_offer_wait(early);
		return;
	}
	if (rx->hdr.len) {
		early->data = kmalloc(rx->hdr.len, KTCP_EARLY_GFP);
		if (!early->data) {
			ktcp_early_unkeep(early);
			return;
		}
	}
	rx->state = KTCP_RX_EARLY;
}

/* Gives the message that is being received, or its offer, to a receive; NULL: drops it */
static void ktcp_early_matched(struct ktcp_conn *conn, struct ktcp_early *early,
			       struct kofi_rx *rx)
{
	if (early->number) {
		ktcp_offer_take(conn, early->number, rx, conn->rx.hdr.msg_len);
		conn->rx.have = 0;
		conn->rx.state = KTCP_RX_HEADER;
	} else {
		conn->rx.rx = rx;
		conn->rx.state = rx ? KTCP_RX_MSG : KTCP_RX_DROP;
	}
}

/**
 * ktcp_early_arrive() - A message has come
 * @conn: the connection, with ktcp_conn.run held, whose ktcp_rx.hdr is the message's
 * @what: the message
 *
 * Context: may sleep.
 * Return: 0, and the state says where the payload goes; -EAGAIN: it has to wait; -ESHUTDOWN:
 * nothing is received any more.
 */
int ktcp_early_arrive(struct ktcp_conn *conn, const struct kofi_srx_arrival *what)
{
	struct ktcp_link *link = to_ktcp_link(conn);
	struct kofi_srx *srx = conn->at->srx;
	struct ktcp_early *early;
	int ret;

	lockdep_assert_held(&conn->run);
	early = ktcp_early_get(link);
	ret = kofi_srx_arrive(srx, what, &early->msg, &conn->rx.rx);
	if (ret == -EAGAIN) {
		ktcp_link_stall(link);
		ret = kofi_srx_arrive(srx, what, &early->msg, &conn->rx.rx);
	}
	if (ret == KOFI_SRX_QUEUED) {
		ktcp_early_begin(link, early);
		return 0;
	}
	if (ret == KOFI_SRX_MATCHED)
		ktcp_early_matched(conn, early, conn->rx.rx);
	ktcp_early_put(early);
	return ret;
}

/**
 * ktcp_early_look() - Has the message that is parked been settled?
 * @conn: a connection in KTCP_RX_PARKED, with ktcp_conn.run held
 *
 * Context: any.
 * Return: 0, and the state says where the payload goes; -EAGAIN: it has not.
 */
int ktcp_early_look(struct ktcp_conn *conn)
{
	struct ktcp_early *early = conn->rx.early;
	unsigned long flags;
	bool settled;

	spin_lock_irqsave(&conn->soft->lock, flags);
	settled = early->settled;
	spin_unlock_irqrestore(&conn->soft->lock, flags);
	if (!settled)
		return -EAGAIN;
	conn->rx.early = NULL;
	ktcp_early_matched(conn, early, early->rx);
	ktcp_early_put(early);
	return 0;
}

/* Gives a message that is settled and full to its receive, and forgets it; by a worker */
static void ktcp_early_finish(struct ktcp_early *early)
{
	struct ktcp_link *link = early->link;
	struct iov_iter to, from;
	unsigned long flags;
	struct kvec kvec;

	if (early->rx) {
		kvec = (struct kvec) { early->data, kofi_rx_len(early->rx) };
		iov_iter_kvec(&from, ITER_SOURCE, &kvec, 1, kvec.iov_len);
		kofi_rx_iter(early->rx, 0, &to);
		if (kvec.iov_len)
			kofi_iov_copy(&to, &from, KTCP_EARLY_MAX);
		kofi_rx_complete(early->rx);
	}
	spin_lock_irqsave(&link->rdm->soft.lock, flags);
	ktcp_early_ack(early);
	spin_unlock_irqrestore(&link->rdm->soft.lock, flags);
	ktcp_early_unkeep(early);
	ktcp_early_put(early);
}

/**
 * ktcp_early_filled() - All of the payload of an early message is there
 * @conn: a connection in KTCP_RX_EARLY, with ktcp_conn.run held
 *
 * Context: may sleep.
 */
void ktcp_early_filled(struct ktcp_conn *conn)
{
	struct ktcp_early *early = conn->rx.early;
	struct ktcp_link *link = early->link;
	unsigned long flags;
	bool settled;

	conn->rx.early = NULL;
	spin_lock_irqsave(&conn->soft->lock, flags);
	early->full = true;
	settled = early->settled;
	if (conn->rx.hdr.flags & TCP_WIRE_ACK_WANTED)
		list_add_tail(&early->of_link, &link->unacked);
	spin_unlock_irqrestore(&conn->soft->lock, flags);
	if (settled)
		ktcp_early_finish(early);
}

/* Where the next bytes of the payload go, of a connection in KTCP_RX_EARLY */
void *ktcp_early_data(const struct ktcp_conn *conn)
{
	return conn->rx.early->data + conn->rx.done;
}

/**
 * ktcp_early_abort() - The connection is over before the payload was there
 * @conn: a connection in KTCP_RX_PARKED or KTCP_RX_EARLY that is over, by its worker
 * @err: error of a receive that has taken the message, positive
 *
 * Context: may sleep.
 */
void ktcp_early_abort(struct ktcp_conn *conn, int err)
{
	struct ktcp_early *early = conn->rx.early;

	conn->rx.early = NULL;
	/* A message that cannot be withdrawn has been settled by now */
	if (!kofi_srx_withdraw(conn->at->srx, &early->msg) && early->rx)
		kofi_rx_fail(early->rx, 0, err, 0);
	if (conn->rx.state == KTCP_RX_EARLY)
		ktcp_early_unkeep(early);
	ktcp_early_put(early);
}

/* Settled messages */

/**
 * ktcp_early_settle() - Finish the early messages that have been settled
 * @rdm: the endpoint, by its worker
 *
 * Context: may sleep.
 */
void ktcp_early_settle(struct ktcp_rdm *rdm)
{
	struct ktcp_early *early, *next;
	LIST_HEAD(settled);

	spin_lock_irq(&rdm->soft.lock);
	list_splice_init(&rdm->settled, &settled);
	spin_unlock_irq(&rdm->soft.lock);
	list_for_each_entry_safe(early, next, &settled, entry) {
		list_del(&early->entry);
		ktcp_early_finish(early);
		cond_resched();
	}
}

/* struct kofi_srx_ops */

static void ktcp_early_decide(struct kofi_srx_msg *msg, struct kofi_rx *rx)
{
	struct ktcp_early *early = to_ktcp_early(msg);
	struct ktcp_link *link = early->link;
	struct ktcp_rdm *rdm = link->rdm;
	unsigned long flags;

	spin_lock_irqsave(&rdm->soft.lock, flags);
	early->rx = rx;
	early->settled = true;
	if (early->full && !early->number) {
		list_add_tail(&early->entry, &rdm->settled);
		kofi_soft_kick(&rdm->soft);
	} else {
		if (early->full)
			list_add_tail(&early->entry, &link->settled);
		ktcp_kick(&link->conn);
	}
	spin_unlock_irqrestore(&rdm->soft.lock, flags);
}

static void ktcp_early_start(struct kofi_rx *rx, struct kofi_srx_msg *msg)
{
	ktcp_early_decide(msg, rx);
}

static void ktcp_early_discard(struct kofi_srx_msg *msg)
{
	ktcp_early_decide(msg, NULL);
}

void ktcp_rdm_resume(struct kofi_srx *srx)
{
	ktcp_rdm_unstall(to_ktcp_rdm(container_of(srx, struct kofi_soft_ep, own_srx)->hub));
}

/**
 * ktcp_rdm_unstall() - Have connections whose next message finds no place look again
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

static void ktcp_early_sender(const struct kofi_srx_msg *msg, fi_addr_t *src_addr,
			      fi_addr_t *source)
{
	const struct ktcp_early *early = container_of(msg, struct ktcp_early, msg);

	ktcp_link_source(early->link, src_addr, source);
}

static unsigned long ktcp_early_changes(const struct kofi_srx *srx)
{
	return kofi_av_changes(kofi_soft_av(container_of(srx, struct kofi_soft_ep, own_srx)));
}

const struct kofi_srx_ops ktcp_rdm_srx_ops = {
	.start		= ktcp_early_start,
	.discard	= ktcp_early_discard,
	.resume		= ktcp_rdm_resume,
	.sender		= ktcp_early_sender,
	.changes	= ktcp_early_changes,
};
