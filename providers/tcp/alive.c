// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Is the peer still there?
 *
 * TCP's keepalive reports an idle connection whose peer has gone.  Keepalive is silent as long
 * as data are on their way; for those TCP itself waits a quarter of an hour.  TCP_USER_TIMEOUT
 * cannot distinguish a peer that has gone from one whose window is closed because it posts no
 * receive.  So the worker looks itself, as long as something is on its way:
 *
 *	data or probes unanswered	the peer has gone when no acknowledgment has come for
 *					peer_timeout
 *	data that may not be sent	the window is closed; TCP probes it, and the peer
 *					answers.  It may stay closed for window_timeout
 *
 * A delayed work item wakes the worker for each look.  It is queued only as long as there is
 * something to look at.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/tcp.h>
#include <net/inet_connection_sock.h>
#include "tcp.h"

#define KTCP_LOOK	(HZ / 2)
#define KTCP_MIN_S	5
#define KTCP_MAX_S	3600

static unsigned int peer_timeout = 10;
module_param(peer_timeout, uint, 0644);
MODULE_PARM_DESC(peer_timeout, "seconds after which a peer that answers nothing has gone, 5 to 3600; connections that are idle keep the value they began with");

static unsigned int window_timeout = 60;
module_param(window_timeout, uint, 0644);
MODULE_PARM_DESC(window_timeout, "seconds that a peer may take nothing of what is sent to it, 5 to 3600");

static unsigned int ktcp_seconds(const unsigned int *param)
{
	return clamp(READ_ONCE(*param), KTCP_MIN_S, KTCP_MAX_S);
}

/**
 * ktcp_peer_timeout() - How long may a peer answer nothing?
 *
 * Context: any.
 * Return: jiffies, as the module's parameter says now.
 */
unsigned long ktcp_peer_timeout(void)
{
	return ktcp_seconds(&peer_timeout) * HZ;
}

/**
 * ktcp_alive_setup() - Have keepalive report an idle peer that has gone
 * @sk: the socket
 *
 * Context: may sleep.
 */
void ktcp_alive_setup(struct sock *sk)
{
	unsigned int timeout = ktcp_seconds(&peer_timeout);

	/* Three probes in the last three fifths of the timeout */
	sock_set_keepalive(sk);
	tcp_sock_set_keepidle(sk, timeout - 3 * (timeout / 5));
	tcp_sock_set_keepintvl(sk, timeout / 5);
	tcp_sock_set_keepcnt(sk, 3);
}

static void ktcp_alive_look(struct work_struct *work)
{
	ktcp_kick(container_of(to_delayed_work(work), struct ktcp_conn, alive.look));
}

void ktcp_alive_init(struct ktcp_alive *alive)
{
	INIT_DELAYED_WORK(&alive->look, ktcp_alive_look);
}

/**
 * ktcp_alive_check() - Look whether the peer is still there
 * @conn: a connection in KTCP_OPEN, with ktcp_conn.run held, when it has sent
 *
 * Context: any.
 * Return: 0; -ETIMEDOUT: the peer has gone, or has kept its window closed for too long.
 */
int ktcp_alive_check(struct ktcp_conn *conn)
{
	const struct sock *sk = conn->sk.sock->sk;
	const struct tcp_sock *tp = tcp_sk(sk);
	struct ktcp_alive *alive = &conn->alive;
	bool asked = READ_ONCE(tp->packets_out) ||
		     READ_ONCE(inet_csk(sk)->icsk_probes_out);
	bool closed = !READ_ONCE(tp->packets_out) &&
		      READ_ONCE(tp->write_seq) != READ_ONCE(tp->snd_nxt);
	u32 answered = READ_ONCE(tp->rcv_tstamp);
	unsigned long now = jiffies;

	if (!asked && !closed) {
		alive->looking = false;
		return 0;
	}
	if (alive->looking && time_before(now, alive->next))
		return 0;
	if (!alive->looking || !asked || answered != alive->answered)
		alive->heard = now;
	if (!alive->looking || !closed)
		alive->open = now;
	alive->looking = true;
	alive->answered = answered;
	alive->next = now + KTCP_LOOK;
	/* Left where the last look has put it, the work item would run before alive->next */
	mod_delayed_work(ktcp_type.wq, &alive->look, KTCP_LOOK);
	/* The second is for the time between two looks, at the beginning and at the end */
	if (time_after(now, alive->heard + ktcp_peer_timeout() - HZ) ||
	    time_after(now, alive->open + ktcp_seconds(&window_timeout) * HZ))
		return -ETIMEDOUT;
	return 0;
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
