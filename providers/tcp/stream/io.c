// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The worker of an endpoint: all sending and receiving, and the end of both.
 *
 * The worker stops when the socket has neither data nor room.  It is queued by the callbacks of
 * the socket, by a post, by time (alive.c), or by what a message waits for: a receive, a
 * completion, a response that has been sent.
 *
 * Each direction has a budget for a run of the worker, of messages, bytes and time.  A direction in
 * which there is more to do takes nothing from the other one.  Then the worker lets others run.
 * It looks at the peer (alive.c) in each run, however much there is to do.
 *
 * A client that may sleep sends within its call (ktcp_try_send()).  The call takes ktcp_conn.token
 * only if no other task has it, so it waits for none, and may be made while memory is reclaimed.
 * If another task has it, that task sends what was posted, or has the worker send it.
 * The call only sends; the worker deals with an error that it finds (ktcp_conn.failed).
 * While the peer has not acknowledged what was sent before, a call leaves the sending to the
 * worker, which finds what several calls have posted, and fills segments with it.
 *
 * If the callbacks of such a client are made in a worker, that of its queue takes the turn when
 * data come, and calls the client behind it (ktcp_queue_turn()): a message then wakes one task.
 * It leaves the connection to this worker while a callback runs, and at the end.
 *
 * A turn ends when neither the socket nor a task that has come meanwhile has anything for it.  The
 * token is given back before clients are called.  If a task comes in between, the worker runs: a
 * callback may sleep, and may wait for what that task has come for.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/tcp.h>
#include "stream.h"

static void ktcp_responses_refilled(struct kofi_bufpool *pool)
{
	ktcp_kick(container_of(pool, struct ktcp_conn, responses));
}

/**
 * ktcp_conn_init() - Set a new connection up
 * @conn: the connection, zeroed
 * @soft: the endpoint that has it
 * @work: its worker
 * @posted: operations that it is to send
 * @caps: capabilities of @soft, which may not be set up yet
 *
 * Context: may sleep.
 * Return: 0, and ktcp_conn_fini() is due; -ENOMEM.
 */
int ktcp_conn_init(struct ktcp_conn *conn, struct kofi_soft_ep *soft, struct work_struct *work,
		   struct list_head *posted, u64 caps)
{
	int ret;

	conn->soft = soft;
	conn->at = soft;
	conn->work = work;
	conn->cpu = WORK_CPU_UNBOUND;
	conn->posted = posted;
	ktcp_token_init(&conn->token);
	init_llist_head(&conn->zc_done);
	ktcp_tx_init(&conn->tx);
	ktcp_rx_init(&conn->rx);
	ktcp_alive_init(&conn->alive);
	conn->used = jiffies;
	conn->linger = ktcp_linger_new();
	if (!conn->linger)
		return -ENOMEM;
	if (!(caps & FI_RMA))
		return 0;
	ret = kofi_bufpool_init(&conn->responses, sizeof(struct ktcp_response), KTCP_RESPONSES,
				ktcp_responses_refilled);
	if (ret)
		kfree(conn->linger);
	return ret;
}

/**
 * ktcp_conn_fini() - The end of a connection
 * @conn: the connection; its worker does not run any more
 *
 * Context: may sleep.
 */
void ktcp_conn_fini(struct ktcp_conn *conn)
{
	if (conn->responses.count)
		kofi_bufpool_destroy(&conn->responses);
	kfree(conn->linger);
}

/* Memory reclaim may wait for what is sent, so sending does not reclaim */
static int ktcp_send_noreclaim(struct ktcp_conn *conn, struct ktcp_budget *budget)
{
	unsigned int noreclaim = memalloc_noreclaim_save();
	int ret = ktcp_send(conn, budget);

	memalloc_noreclaim_restore(noreclaim);
	return ret;
}

/* Put off the runs of the queues that a turn reports to; NULL: not of that one */
static void ktcp_plug(struct ktcp_conn *conn, struct kofi_cq *cqs[2])
{
	struct kofi_soft_ep *at = ktcp_conn_at(conn) ? : conn->soft;
	int i;

	cqs[0] = conn->soft->kep.tx.cq;
	cqs[1] = at->kep.rx.cq;
	if (cqs[1] == cqs[0])
		cqs[1] = NULL;
	for (i = 0; i < 2; i++)
		if (cqs[i] && !kofi_cq_plug(cqs[i]))
			cqs[i] = NULL;
}

/* Later completions of other tasks are reported behind those of the turn */
static void ktcp_claim(struct ktcp_conn *conn, struct kofi_cq *cqs[2])
{
	int i;

	lockdep_assert_held(&conn->token);
	for (i = 0; i < 2; i++)
		if (cqs[i])
			kofi_cq_claim(cqs[i]);
}

static void ktcp_unplug(struct kofi_cq *cqs[2])
{
	int i;

	for (i = 0; i < 2; i++)
		if (cqs[i])
			kofi_cq_unplug(cqs[i]);
}

/* Reads and sends, once; returns as ktcp_transfer() */
static int ktcp_turn(struct ktcp_conn *conn)
{
	struct ktcp_budget in = KTCP_BUDGET, out = KTCP_BUDGET;
	int received, sent, ret;

	received = ktcp_recv(conn, &in);
	if (received && received != -EAGAIN)
		return received;
	sent = ktcp_send_noreclaim(conn, &out);
	if (sent && sent != -EAGAIN)
		return sent;
	ret = ktcp_alive_check(conn);
	if (ret)
		return ret;
	return received && sent ? -EAGAIN : 0;
}

static int ktcp_transfer_locked(struct ktcp_conn *conn)
{
	int ret;

	lockdep_assert_held(&conn->token);
	if (conn->failed)
		return conn->failed;
	if (READ_ONCE(conn->recalled)) {
		ktcp_zc_reap(conn);
		if (ktcp_response_recall(conn))
			return ktcp_conn_violated(conn, KTCP_BAD_ACCESS);
	}
	ret = ktcp_turn(conn);
	if (ret != -EAGAIN)
		return ret;
	/* A message that waits hides the end of the stream behind it */
	if (ktcp_recv_waits(conn) &&
	    READ_ONCE(conn->sk.sock->sk->sk_state) != TCP_ESTABLISHED)
		return conn->upper && conn->upper->hung_up(conn) ? 0 : -ESHUTDOWN;
	if (conn->upper && conn->upper->leave(conn))
		return 0;
	return -EAGAIN;
}

/* Turns, until no other task has come meanwhile, or the budget is used up; as ktcp_transfer() */
static int ktcp_turns(struct ktcp_conn *conn)
{
	int turns = KTCP_TURNS, ret;

	do {
		ret = ktcp_transfer_locked(conn);
	} while (ret == -EAGAIN && --turns && !need_resched() &&
		 ktcp_token_is_wanted(&conn->token));
	return ret;
}

/* Return true if the callbacks of sends come behind a turn, by its task, and none sleeps */
static bool ktcp_calls_soon(const struct ktcp_conn *conn, const struct kofi_cq *tx)
{
	return !conn->cq && tx && tx->wait_obj == FI_WAIT_DONE && tx->comp_ctx == FI_COMP_SOFTIRQ &&
	       (tx->cpu < 0 || tx->cpu == READ_ONCE(conn->cpu));
}

/*
 * Turns, behind which ktcp_conn.token is given back; returns as ktcp_transfer().  @last: no other
 * turn follows.  @again: callbacks have posted, or TCP keeps bytes for what they might have posted
 */
static int ktcp_transfer_once(struct ktcp_conn *conn, bool last, bool *again)
{
	struct kofi_cq *cqs[2];
	bool held;
	int ret;

	lockdep_assert_held(&conn->token);
	ktcp_plug(conn, cqs);
	conn->tx.defers = !last && ktcp_calls_soon(conn, cqs[0]);
	ret = ktcp_turns(conn);
	conn->tx.defers = false;
	held = conn->tx.held;
	if (ret && ret != -EAGAIN)
		conn->failed = ret;
	/* The peer closes the connection upon TCP_WIRE_LEAVE */
	conn->left = conn->left || (conn->leaving && ret == -ESHUTDOWN);
	ktcp_claim(conn, cqs);
	ktcp_give(conn);
	kofi_soft_begin_calls(conn->soft);
	ktcp_unplug(cqs);
	*again = kofi_soft_end_calls(conn->soft);
	if (*again && conn->upper)
		conn->upper->posted(conn);
	*again = *again || held;
	return ret;
}

static bool ktcp_conn_is_over(struct ktcp_conn *conn)
{
	return conn->upper ? conn->upper->is_over(conn) : READ_ONCE(conn->soft->over);
}

/**
 * ktcp_transfer() - Send and receive, report what has completed, and send what callbacks post
 * @conn: a connection, by its worker in KTCP_OPEN, or by the worker of ktcp_conn.cq
 *
 * The client is called when ktcp_conn.token has been given back.  The connection may end while the
 * worker of a queue is here; then the worker of the connection, which waits for the token, does the
 * rest.
 *
 * Context: may sleep, but waits neither for the peer nor for another task that has the token.
 * Return: -EAGAIN: there is nothing to do now, or another task does it; 0: there is more; another
 * negative errno: the connection is over.
 */
int ktcp_transfer(struct ktcp_conn *conn)
{
	int turns = KTCP_TURNS, ret;
	bool again, last;

	do {
		last = !--turns || need_resched();
		/* Its end queues the worker, which does the rest */
		if (unlikely(ktcp_conn_is_over(conn)))
			return -EAGAIN;
		if (!ktcp_token_try(&conn->token))
			return -EAGAIN;
		if (unlikely(conn->phase != KTCP_OPEN)) {
			ktcp_give(conn);
			return -EAGAIN;
		}
		ret = ktcp_transfer_once(conn, last, &again);
	} while (again && ret == -EAGAIN && !last);
	return again && ret == -EAGAIN ? 0 : ret;
}

/* Turns by the worker of a queue */

static bool ktcp_conn_try_get(struct ktcp_conn *conn)
{
	return conn->upper ? conn->upper->try_get(conn) : kofi_soft_ep_try_get(conn->soft);
}

static void ktcp_conn_put(struct ktcp_conn *conn)
{
	if (conn->upper)
		conn->upper->put(conn);
	else
		kofi_soft_ep_put(conn->soft);
}

/*
 * ktcp_sock.take, once there is ktcp_conn.cq: have the worker of that queue receive what has come,
 * unless nobody has a reference any more.  False: ktcp_kick() is due
 */
static bool ktcp_ask_queue(struct ktcp_sock *ksk)
{
	struct ktcp_conn *conn = container_of(ksk, struct ktcp_conn, sk);

	if (kofi_cq_turn_is_due(conn->cq, &conn->turn))
		return true;
	if (!ktcp_conn_try_get(conn))
		return false;
	if (kofi_cq_turn(conn->cq, &conn->turn))
		return true;
	ktcp_conn_put(conn);
	return false;
}

/*
 * The worker of a queue does what the worker of the connection would do when data have come, and
 * calls the client.  Everything else is left to the latter: it waits for no callback, so a callback
 * may wait for it.
 */
static void ktcp_queue_turn(struct kofi_cq_turn *turn, bool busy)
{
	struct ktcp_conn *conn = container_of(turn, struct ktcp_conn, turn);
	int ret = busy ? 0 : ktcp_transfer(conn);

	if (ret != -EAGAIN && (ret || busy || !ktcp_ask_queue(&conn->sk)))
		ktcp_kick(conn);
	ktcp_conn_put(conn);
}

/**
 * ktcp_conn_open() - A connection stands: KTCP_OPEN
 * @conn: the connection, with ktcp_conn.token held
 *
 * Context: may sleep.
 */
void ktcp_conn_open(struct ktcp_conn *conn)
{
	const struct kofi_soft_ep *at = ktcp_conn_at(conn);
	struct kofi_cq *cq = at ? at->kep.rx.cq : NULL;

	lockdep_assert_held(&conn->token);
	conn->phase = KTCP_OPEN;
	conn->turn.fn = ktcp_queue_turn;
	/* What a callback posts is sent in the turn behind it, by a task that may sleep */
	if (!cq || !conn->soft->kep.may_sleep || !kofi_cq_takes_turns(cq))
		return;
	conn->cq = cq;
	/* Pairs with ktcp_data_ready() */
	smp_store_release(&conn->sk.take, ktcp_ask_queue);
}

/* Is there something that the peer's TCP has not acknowledged? */
static bool ktcp_is_in_flight(const struct ktcp_conn *conn)
{
	lockdep_assert_held(&conn->token);
	return READ_ONCE(tcp_sk(conn->sk.sock->sk)->packets_out);
}

/**
 * ktcp_try_send() - Send what is posted, if no other task has the token, and nothing is in flight
 * @conn: the connection
 *
 * There is no might_sleep() before lock_sock(): where that lets other tasks run, the worker that
 * the last post has queued would run behind each post, and find one message.
 *
 * Context: may sleep, but waits neither for the peer nor for the worker.
 */
void ktcp_try_send(struct ktcp_conn *conn)
{
	struct ktcp_budget budget = KTCP_BUDGET;
	int ret = 0;

	if (!ktcp_token_try(&conn->token))
		return;
	if (conn->phase == KTCP_OPEN && !conn->failed && !ktcp_is_in_flight(conn)) {
		ret = ktcp_send_noreclaim(conn, &budget);
		if (ret == -EAGAIN)
			ret = ktcp_alive_check(conn) ? : -EAGAIN;
		if (ret != -EAGAIN)
			conn->failed = ret;
	}
	if (ktcp_token_give(&conn->token) || ret != -EAGAIN)
		ktcp_kick(conn);
}

/**
 * ktcp_conn_stop() - Give back whatever a connection has, but for its socket
 * @conn: a connection that is over, by its worker
 * @err: error of operations and receives that are under way, positive
 *
 * ktcp_zc_reap() gives back later what TCP has not let go of.
 *
 * Context: may sleep.
 * Return: the socket, the caller's; NULL: there is none.
 */
struct socket *ktcp_conn_stop(struct ktcp_conn *conn, int err)
{
	struct socket *sock;
	unsigned int noio;

	ktcp_token_take(&conn->token);
	if (conn->violation)
		ktcp_violated(&conn->soft->kep.ep.fid, conn->sk.sock, conn->violation);
	/* Operations that the peer has acknowledged end without an error */
	ktcp_zc_reap(conn);
	/* A connection that has not stood has only its request under way, which nobody needs */
	if (conn->phase != KTCP_OPEN)
		conn->cut = true;
	conn->err = err;
	conn->phase = KTCP_OVER;
	ktcp_give(conn);
	/* From now on only this worker uses the socket, conn->tx and conn->rx */
	noio = ktcp_cm_enter();
	sock = ktcp_sock_detach(&conn->sk);
	ktcp_cm_leave(noio);
	ktcp_alive_stop(&conn->alive);
	ktcp_rx_abort(conn, err);
	ktcp_tx_abort(conn, err);
	return sock;
}
