// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Idle connections of endpoints without connections are closed after a time, and made anew when
 * an operation needs one (peer.c).
 *
 * An end that closed the connection by itself would lose what the peer sends at that moment.  So
 * it asks the peer to close it:
 *
 *	one end					the other
 *	idle for idle_timeout, and nothing is
 *	under way: TCP_WIRE_LEAVE and the number
 *	of messages it has received	  -->	has sent no more than that, and has nothing to
 *						send: closes the connection
 *	operations wait; when the connection	<--
 *	has ended they go by the next one
 *
 * Otherwise the peer does nothing, as one of its messages is on its way or will be.  The first
 * of them that comes has the idle end send again (ktcp_idle_heard()).  If both ends want to
 * leave at once, both close: neither has sent anything since.
 *
 * Only kOFI understands TCP_WIRE_LEAVE, and says so when it connects.  Connections with other
 * peers stay.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <kofi/param.h>
#include "rdm.h"

#define KTCP_IDLE_MAX_S		86400U

static struct kofi_param idle_timeout = { .max = KTCP_IDLE_MAX_S };
module_param_cb(idle_timeout, &kofi_param_ops, &idle_timeout, 0644);
__MODULE_PARM_TYPE(idle_timeout, "uint");
MODULE_PARM_DESC(idle_timeout, "seconds after which a connection of an endpoint without connections is closed if nobody uses it and its peer is kOFI, at most 86400; 0: never; looked at when a connection begins, and when its time is over");

static unsigned long ktcp_idle_time(void)
{
	return READ_ONCE(idle_timeout.value) * (unsigned long)HZ;
}

static void ktcp_idle_late(struct work_struct *work)
{
	struct ktcp_link *link = container_of(to_delayed_work(work), struct ktcp_link, idle);

	WRITE_ONCE(link->idle_late, true);
	ktcp_kick(&link->conn);
}

void ktcp_idle_init(struct ktcp_link *link)
{
	INIT_DELAYED_WORK(&link->idle, ktcp_idle_late);
}

/**
 * ktcp_idle_begin() - Begin to count the idle time of a connection that stands now
 * @link: the connection, with ktcp_conn.token held
 *
 * Context: any.
 */
void ktcp_idle_begin(struct ktcp_link *link)
{
	unsigned long time = ktcp_idle_time();

	lockdep_assert_held(&link->conn.token);
	link->conn.used = jiffies;
	if (time && link->conn.leaves)
		queue_delayed_work(ktcp_wq, &link->idle, time);
}

/* Is nothing under way, of this end or, as far as this end knows, of the peer? */
static bool ktcp_idle_is_quiet(struct ktcp_link *link)
{
	struct ktcp_conn *conn = &link->conn;
	const struct ktcp_tx *tx = &conn->tx;
	unsigned int number;
	bool quiet;

	if (conn->rx.state != KTCP_RX_HEADER || conn->rx.have || !ktcp_tx_is_idle(tx) ||
	    tx->acks || atomic_read(&conn->late_acks) || tx->lent ||
	    !list_empty(&tx->refusals) || !list_empty(&tx->responses) ||
	    !list_empty(&tx->reads) || !list_empty(&tx->acked) ||
	    !list_empty(&tx->await_cts) || !list_empty(&tx->wanted))
		return false;
	for (number = 1; link->taken && number < KTCP_RTS_NUMBERS; number++)
		if (link->taken[number].state != KTCP_RTS_NONE)
			return false;
	if (!bitmap_empty(link->declined, KTCP_RTS_NUMBERS))
		return false;
	spin_lock_irq(&conn->soft->lock);
	quiet = list_empty(&link->unacked) && list_empty(conn->posted);
	spin_unlock_irq(&conn->soft->lock);
	return quiet;
}

/**
 * ktcp_idle_check() - Is it time to leave?
 * @conn: a connection in KTCP_OPEN that has nothing to do, with ktcp_conn.token held
 *
 * Context: any, by its worker.
 * Return: whether it is; then TCP_WIRE_LEAVE is to be sent.
 */
bool ktcp_idle_check(struct ktcp_conn *conn)
{
	struct ktcp_link *link = to_ktcp_link(conn);
	unsigned long time = ktcp_idle_time(), end = conn->used + time;

	lockdep_assert_held(&conn->token);
	if (!READ_ONCE(link->idle_late))
		return false;
	WRITE_ONCE(link->idle_late, false);
	if (!time || conn->leaving)
		return false;
	if (time_before(jiffies, end)) {
		queue_delayed_work(ktcp_wq, &link->idle, end - jiffies);
		return false;
	}
	if (!ktcp_idle_is_quiet(link)) {
		queue_delayed_work(ktcp_wq, &link->idle, time);
		return false;
	}
	conn->leave_due = true;
	return true;
}

/**
 * ktcp_idle_heard() - A message has come: the peer does not close the connection
 * @conn: the connection, with ktcp_conn.token held
 *
 * Context: any.
 */
void ktcp_idle_heard(struct ktcp_conn *conn)
{
	unsigned long time = ktcp_idle_time();
	bool idle = conn->leave_due || conn->leaving;

	lockdep_assert_held(&conn->token);
	conn->rx.count++;
	conn->used = jiffies;
	conn->leave_due = false;
	conn->leaving = false;
	if (idle && time)
		queue_delayed_work(ktcp_wq, &to_ktcp_link(conn)->idle, time);
}

/**
 * ktcp_start_leave() - The peer wants to leave
 * @conn: the connection, with ktcp_conn.token held, whose ktcp_rx.hdr counts what it has received
 *
 * Context: any.
 * Return: 0: the connection stays; -ESHUTDOWN: it is to be closed; -EPROTO: the peer has
 * received more than was sent.
 */
int ktcp_start_leave(struct ktcp_conn *conn)
{
	bool stay;

	lockdep_assert_held(&conn->token);
	if (!conn->leaves || conn->rx.hdr.data > conn->tx.count)
		return ktcp_conn_violated(conn, KTCP_BAD_HEADER);
	spin_lock_irq(&conn->soft->lock);
	stay = conn->rx.hdr.data != conn->tx.count ||
	       (!conn->leaving && !list_empty(conn->posted));
	/* What is posted from now on goes by the next connection */
	conn->stopped = conn->stopped || !stay;
	spin_unlock_irq(&conn->soft->lock);
	if (!stay) {
		conn->left = true;
		return -ESHUTDOWN;
	}
	conn->rx.have = 0;
	conn->rx.state = KTCP_RX_HEADER;
	return 0;
}
