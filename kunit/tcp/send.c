// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The call of a client that may sleep sends its message.  For all other clients a worker on
 * the endpoint's processor sends.
 *
 * A case keeps that processor to itself: the case runs there with real-time priority, so no
 * worker runs there before the case sleeps.  A message that has completed when its call
 * returns was therefore sent by the call.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/tcp.h>
#include <net/net_namespace.h>
#include "tcp.h"

#define LEN	64
#define TRIES	64
#define THREADS	4
#define EACH	64
#define FEW	4
#define ROUNDS	16
#define SEGMENTS	20		/* of FEW * EACH messages; 26 if each turn has its own */
#define LITTLE_ROOM	4608	/* bytes: a socket has no less */
#define KEY	5

/* The worker of the endpoint will run on this processor, and the case does */
static void stay_here(struct kunit *test, struct vt_end *end, const struct vt_kind *kind)
{
	struct fi_cq_attr attr = { .flags = FI_AFFINITY };

	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	attr.signaling_vector = raw_smp_processor_id();
	end->tx = vt_cq_new(test, vt_of(test)->domain, &attr, kind);
}

/* A peer's connection with an endpoint whose worker runs on this processor */
static struct socket *join_here(struct kunit *test, struct vt_end *end)
{
	stay_here(test, end, &vt_default_kind);
	return peer_join(test, end);
}

/* How many of so many sends have completed when their calls return */
static int within_calls(struct kunit *test, struct vt_end *end, struct socket *sock)
{
	u8 *out = vt_buf(test, LEN), in[PEER_BASE + LEN];
	struct fi_cq_data_entry entry;
	ssize_t ret, done;
	int i, within = 0;

	for (i = 0; i < TRIES; i++) {
		sched_set_fifo(current);
		ret = fi_send(end->ep, out, LEN, NULL, 0, vt_ctx(i + 1));
		done = fi_cq_read(end->tx->cq, &entry, 1);
		sched_set_normal(current, 0);
		KUNIT_ASSERT_EQ(test, ret, 0);
		within += done == 1;
		if (done != 1)
			vt_done(test, end->tx, vt_ctx(i + 1));
		peer_recv(test, sock, in, sizeof(in));
		/* A worker that still holds the endpoint ends before the next call */
		cond_resched();
	}
	return within;
}

static void a_client_that_may_sleep_sends_within_its_call(struct kunit *test)
{
	struct vt_end end = { .may_sleep = 1 };
	struct socket *sock = join_here(test, &end);
	int within = within_calls(test, &end, sock);

	kunit_info(test, "%d of %d sends within their calls\n", within, TRIES);
	/* Now and then the worker is at it, for what the peer has acknowledged */
	KUNIT_EXPECT_GE(test, within, TRIES / 2);
}

static void other_clients_have_a_worker_send(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = join_here(test, &end);

	KUNIT_EXPECT_EQ(test, within_calls(test, &end, sock), 0);
}

/*
 * What is posted while a message is in flight is sent by the worker.  The peer's TCP acknowledges
 * late, but may do so early now and then.
 */
static void what_follows_a_message_in_flight_is_left_to_the_worker(struct kunit *test)
{
	struct vt_end end = { .may_sleep = 1 };
	struct socket *sock = join_here(test, &end);
	u8 *out = vt_buf(test, LEN), in[2 * (PEER_BASE + LEN)];
	struct fi_cq_data_entry entry;
	int i, k, done[2], first = 0, second = 0;
	unsigned long begin = jiffies;
	struct vt_comp comp;
	ssize_t ret;

	for (i = 0; i < TRIES; i++) {
		tcp_sock_set_quickack(sock->sk, 0);
		sched_set_fifo(current);
		ret = fi_send(end.ep, out, LEN, NULL, 0, vt_ctx(1));
		done[0] = fi_cq_read(end.tx->cq, &entry, 1) == 1;
		ret = ret ? : fi_send(end.ep, out, LEN, NULL, 0, vt_ctx(2));
		done[1] = fi_cq_read(end.tx->cq, &entry, 1) == 1;
		sched_set_normal(current, 0);
		KUNIT_ASSERT_EQ(test, ret, 0);
		for (k = done[0] + done[1]; k < 2; k++)
			KUNIT_ASSERT_EQ(test, vt_wait(end.tx, &comp), 1);
		peer_recv(test, sock, in, sizeof(in));
		first += done[0];
		second += done[1];
		cond_resched();
	}
	kunit_info(test, "first %d, second %d of %d within their calls\n", first, second, TRIES);
	KUNIT_EXPECT_GE(test, first, TRIES / 2);
	KUNIT_EXPECT_LE(test, second, TRIES / 4);
	/* Less than the looks of a timer would take */
	KUNIT_EXPECT_LT(test, jiffies - begin, TRIES * HZ / 4);
}

/**
 * struct sender - One of the threads that send
 * @end: on which endpoint
 * @buf: its message
 * @task: runs it
 * @done: it has sent all
 * @failed: calls that have failed otherwise than with -EAGAIN
 */
struct sender {
	struct vt_end		*end;
	u8			*buf;
	struct task_struct	*task;
	struct completion	done;
	int			failed;
};

static int sender_run(void *data)
{
	struct sender *sender = data;
	ssize_t ret;
	int n = 0;

	while (n < EACH) {
		ret = fi_send(sender->end->ep, sender->buf, LEN, NULL, 0, sender->buf);
		if (ret == -EAGAIN) {
			schedule_timeout_idle(1);
			continue;
		}
		sender->failed += !!ret;
		n++;
	}
	complete(&sender->done);
	return 0;
}

static void senders_start(struct kunit *test, struct sender *senders, struct vt_end *end)
{
	int i;

	for (i = 0; i < THREADS; i++) {
		senders[i].end = end;
		senders[i].buf = vt_buf(test, LEN);
		vt_fill(senders[i].buf, LEN, i + 1);
		init_completion(&senders[i].done);
		senders[i].task = kthread_run(sender_run, &senders[i],
					      "kofi_tcp_test/%d", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(senders[i].task));
	}
}

/* No message is lost, sent twice, or mixed with another */
static void calls_of_many_threads_send_each_message_once(struct kunit *test)
{
	struct sender *senders = vt_buf(test, THREADS * sizeof(*senders));
	u8 in[PEER_BASE + LEN], want[PEER_BASE];
	struct vt_end end = { .may_sleep = 1 };
	struct socket *sock = peer_join(test, &end);
	int i, k, got[THREADS] = {};
	struct vt_comp comp;

	senders_start(test, senders, &end);
	peer_op(want, 0, 0, LEN);
	for (i = 0; i < THREADS * EACH; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(end.tx, &comp), 1);
		KUNIT_ASSERT_EQ(test, comp.err, 0);
		peer_recv(test, sock, in, sizeof(in));
		want[7] = i;
		KUNIT_ASSERT_MEMEQ(test, in, want, PEER_BASE);
		for (k = 0; k < THREADS; k++)
			got[k] += vt_filled(in + PEER_BASE, LEN, k + 1);
	}
	for (k = 0; k < THREADS; k++) {
		wait_for_completion(&senders[k].done);
		KUNIT_EXPECT_EQ(test, senders[k].failed, 0);
		KUNIT_EXPECT_EQ(test, got[k], EACH);
	}
	vt_none(test, end.tx);
}

/* What the call finds wrong is reported as what the worker finds */
static void a_call_that_finds_the_peer_gone_ends_the_connection(struct kunit *test)
{
	struct vt_end end = { .may_sleep = 1 };
	struct socket *sock = peer_join(test, &end);
	u8 *out = vt_buf(test, LEN);
	struct vt_comp comp;
	int posted = 0, ended = 0;
	ssize_t ret;

	/* A reset, as there is something that it has not read */
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN, NULL, 0, vt_ctx(1)), 0);
	vt_done(test, end.tx, vt_ctx(1));
	peer_close(test, sock);
	do {
		ret = fi_send(end.ep, out, LEN, NULL, 0, vt_ctx(2));
		posted += !ret;
		cond_resched();
	} while (!ret || ret == -EAGAIN);
	KUNIT_EXPECT_EQ(test, ret, -ESHUTDOWN);
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	KUNIT_ASSERT_EQ(test, fi_ep_drain(end.ep, VT_PATIENCE_MS), 0);
	for (; ended < posted; ended++)
		KUNIT_ASSERT_EQ(test, vt_wait(end.tx, &comp), 1);
	vt_none(test, end.tx);
	vt_no_event(test, end.eq);
}

/* @out: number of the chain, and of the message in it; @left: messages that are to be posted */
struct chain {
	struct fi_done	done;
	struct fid_ep	*ep;
	u32		out[2];
	int		left;
	int		failed;
};

/* From the callback of one message the next is posted */
static void chain_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct chain *chain = container_of(done, struct chain, done);

	chain->failed += !!entry->err;
	if (!chain->left--)
		return;
	chain->out[1]++;
	chain->failed += !!fi_send(chain->ep, chain->out, sizeof(chain->out), NULL, 0,
				   &chain->done);
}

static void what_callbacks_post_is_sent_once_and_in_order(struct kunit *test)
{
	static const struct vt_kind kind = {
		.wait_obj = FI_WAIT_DONE, .comp_ctx = FI_COMP_WORKQUEUE,
	};
	struct chain *chains = vt_buf(test, EACH * sizeof(*chains));
	u8 in[PEER_BASE + sizeof(chains->out)];
	struct vt_end end = { .may_sleep = 1 };
	struct fi_cq_attr attr = {};
	u32 got[2], next[EACH] = {};
	struct socket *sock;
	int i;

	end.tx = vt_cq_new(test, vt_of(test)->domain, &attr, &kind);
	sock = peer_join(test, &end);
	for (i = 0; i < EACH; i++) {
		chains[i] = (struct chain) {
			.done.done = chain_done, .ep = end.ep, .out = { i }, .left = EACH - 1,
		};
		KUNIT_ASSERT_EQ(test, fi_send(end.ep, chains[i].out, sizeof(chains[i].out), NULL,
					      0, &chains[i].done), 0);
	}
	for (i = 0; i < EACH * EACH; i++) {
		peer_recv(test, sock, in, sizeof(in));
		memcpy(got, in + PEER_BASE, sizeof(got));
		KUNIT_ASSERT_LT(test, got[0], EACH);
		KUNIT_ASSERT_EQ(test, got[1], next[got[0]]++);
	}
	KUNIT_ASSERT_EQ(test, vt_ep_drain(end.ep), 0);
	for (i = 0; i < EACH; i++)
		KUNIT_EXPECT_EQ(test, chains[i].failed, 0);
}

/* As join_here(), with a queue whose client is called in a softirq */
static struct socket *join_softirq(struct kunit *test, struct vt_end *end)
{
	static const struct vt_kind kind = {
		.wait_obj = FI_WAIT_DONE, .comp_ctx = FI_COMP_SOFTIRQ,
	};

	stay_here(test, end, &kind);
	return peer_join(test, end);
}

/* Of a few messages in flight, several times as many share a segment */
static void what_callbacks_post_shares_segments(struct kunit *test)
{
	struct chain *chains = vt_buf(test, FEW * sizeof(*chains));
	u8 in[PEER_BASE + sizeof(chains->out)];
	struct vt_end end = {};
	struct socket *sock = join_softirq(test, &end);
	u32 before = READ_ONCE(tcp_sk(sock->sk)->data_segs_in), segments;
	int i, ret = 0;

	for (i = 0; i < FEW; i++)
		chains[i] = (struct chain) {
			.done.done = chain_done, .ep = end.ep, .out = { i }, .left = EACH - 1,
		};
	sched_set_fifo(current);
	for (i = 0; i < FEW && !ret; i++)
		ret = fi_send(end.ep, chains[i].out, sizeof(chains[i].out), NULL, 0,
			      &chains[i].done);
	sched_set_normal(current, 0);
	KUNIT_ASSERT_EQ(test, ret, 0);
	for (i = 0; i < FEW * EACH; i++)
		peer_recv(test, sock, in, sizeof(in));
	segments = READ_ONCE(tcp_sk(sock->sk)->data_segs_in) - before;
	kunit_info(test, "%d messages in %u segments\n", FEW * EACH, segments);
	KUNIT_EXPECT_LE(test, segments, SEGMENTS);
	KUNIT_ASSERT_EQ(test, vt_ep_drain(end.ep), 0);
	for (i = 0; i < FEW; i++)
		KUNIT_EXPECT_EQ(test, chains[i].failed, 0);
}

/*
 * Chains of @each messages, all of which come within a time in which nothing but a wake-up sends.
 * A round in which the machine does something else may take longer.
 */
static void expect_chains_at_once(struct kunit *test, struct vt_end *end, struct socket *sock,
				  int each)
{
	struct chain *chains = vt_buf(test, FEW * sizeof(*chains));
	u8 in[PEER_BASE + sizeof(chains->out)];
	int i, k, soon = 0, ret = 0;
	ktime_t since;

	for (i = 0; i < ROUNDS; i++) {
		sched_set_fifo(current);
		for (k = 0; k < FEW && !ret; k++) {
			chains[k] = (struct chain) {
				.done.done = chain_done, .ep = end->ep, .left = each - 1,
			};
			ret = fi_send(end->ep, chains[k].out, sizeof(chains[k].out), NULL, 0,
				      &chains[k].done);
		}
		since = ktime_get();
		sched_set_normal(current, 0);
		KUNIT_ASSERT_EQ(test, ret, 0);
		for (k = 0; k < FEW * each; k++)
			peer_recv(test, sock, in, sizeof(in));
		soon += ktime_ms_delta(ktime_get(), since) < 100;
	}
	kunit_info(test, "%d of %d rounds are over soon\n", soon, ROUNDS);
	KUNIT_EXPECT_GE(test, soon, ROUNDS - ROUNDS / 4);
	KUNIT_ASSERT_EQ(test, vt_ep_drain(end->ep), 0);
}

/* TCP by itself would send what it keeps after 200 ms */
static void messages_that_none_follows_are_sent_at_once(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = join_softirq(test, &end);

	expect_chains_at_once(test, &end, sock, 1);
}

/* The worker by itself would look at the connection after 500 ms */
static void what_callbacks_post_side_by_side_is_sent_at_once(struct kunit *test)
{
	static const struct vt_kind kind = {
		.wait_obj = FI_WAIT_DONE, .comp_ctx = FI_COMP_WORKQUEUE,
	};
	struct vt_end end = { .may_sleep = 1 };
	struct fi_cq_attr attr = {};
	struct socket *sock;

	end.tx = vt_cq_new(test, vt_of(test)->domain, &attr, &kind);
	sock = peer_join(test, &end);
	expect_chains_at_once(test, &end, sock, 2);
}

/*
 * Two messages, of which the second has to wait for the response to the first.  Returns how long
 * the peer waits for the first.
 */
static ktime_t send_two(struct kunit *test, struct vt_end *end, struct socket *sock)
{
	u8 *out = vt_buf(test, LEN), in[PEER_BASE + LEN];
	struct kvec iov = { out, LEN };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	ktime_t since, until;
	int ret;

	sched_set_fifo(current);
	msg.context = vt_ctx(1);
	ret = fi_sendmsg(end->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE);
	msg.context = vt_ctx(2);
	ret = ret ? : fi_sendmsg(end->ep, &msg, FI_COMPLETION | FI_FENCE);
	since = ktime_get();
	sched_set_normal(current, 0);
	KUNIT_ASSERT_EQ(test, ret, 0);
	peer_recv(test, sock, in, sizeof(in));
	until = ktime_get();
	peer_send_ack(test, sock);
	vt_done(test, end->tx, vt_ctx(1));
	vt_done(test, end->tx, vt_ctx(2));
	peer_recv(test, sock, in, sizeof(in));
	return ktime_sub(until, since);
}

/*
 * TCP is told of the first of two messages that the other follows, and the other has to wait for
 * the response to the first.  TCP by itself would send what it keeps after 200 ms.
 */
static void a_message_before_one_that_waits_is_sent_at_once(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = join_here(test, &end);
	ktime_t best = KTIME_MAX;
	int i;

	for (i = 0; i < 8; i++)
		best = min(best, send_two(test, &end, sock));
	KUNIT_EXPECT_LT(test, ktime_to_ms(best), 100);
}

/*
 * A round begins with a response, if the last message before it is a message of the endpoint's, or
 * if there is none.  The last round begins behind a response, and so with a message.
 */
static void messages_and_responses_take_turns(struct kunit *test)
{
	u8 *mem = vt_buf(test, LEN), in[PEER_BASE + LEN];
	struct vt_end end = {};
	struct socket *sock = join_here(test, &end);
	int i, round, last, ret;

	peer_region(test, mem, LEN, FI_REMOTE_READ, KEY);
	for (round = 0; round < 3; round++) {
		last = round == 2;
		/* This message waits for its receive, and the reads wait behind it */
		peer_send_msg(test, sock, 0, 0);
		for (i = 0; i < FEW; i++)
			peer_send_read(test, sock, KEY, LEN);
		sched_set_fifo(current);
		ret = fi_recv(end.ep, mem, LEN, NULL, 0, vt_ctx(1));
		for (i = 1; i < FEW + last; i++)
			ret = ret ? : fi_inject(end.ep, mem, LEN, 0);
		sched_set_normal(current, 0);
		KUNIT_ASSERT_EQ(test, ret, 0);
		for (i = 1; i < 2 * FEW + last; i++) {
			peer_recv(test, sock, in, sizeof(in));
			KUNIT_EXPECT_EQ(test, in[1], (i + last) & 1 ? 3 : 0);
		}
		vt_done(test, end.rx, vt_ctx(1));
		if (round)
			continue;
		KUNIT_ASSERT_EQ(test, fi_inject(end.ep, mem, LEN, 0), 0);
		peer_recv(test, sock, in, sizeof(in));
	}
}

/* Whether the second of two short messages is kept until TCP has acknowledged the first */
static bool gathers(struct kunit *test, struct vt_end *end, struct socket *sock)
{
	u8 *out = vt_buf(test, LEN), in[2 * (PEER_BASE + LEN)];
	struct kvec kvec = { in, sizeof(in) };
	struct msghdr msg = {};
	int i, got;

	/* The peer's TCP acknowledges late */
	tcp_sock_set_quickack(sock->sk, 0);
	for (i = 1; i <= 2; i++) {
		KUNIT_ASSERT_EQ(test, fi_send(end->ep, out, LEN, NULL, 0, vt_ctx(i)), 0);
		vt_done(test, end->tx, vt_ctx(i));
	}
	got = kernel_recvmsg(sock, &msg, &kvec, 1, sizeof(in), MSG_PEEK);
	peer_recv(test, sock, in, sizeof(in));
	return got == sizeof(in) / 2;
}

/*
 * On a connection for bulk data TCP gathers short messages (Nagle's algorithm), and still does
 * when it had to send at once what it had kept.
 */
static void a_connection_for_bulk_data_gathers(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock;
	int i, before = 0, after = 0;

	stay_here(test, &end, &vt_default_kind);
	vt_of(test)->info->tx_attr->tclass = FI_TC_BULK_DATA;
	sock = peer_respond(test, &end);
	for (i = 0; i < 8; i++)
		before += gathers(test, &end, sock);
	send_two(test, &end, sock);
	for (i = 0; i < 8; i++)
		after += gathers(test, &end, sock);
	/* The acknowledgment may come early, now and then */
	KUNIT_EXPECT_GT(test, before, 0);
	KUNIT_EXPECT_GT(test, after, 0);
}

/* Sockets have as little room as they can have, until the case is over */
static void restore_room(void *was)
{
	const int *room = was;

	memcpy(init_net.ipv4.sysctl_tcp_wmem, room, sizeof(init_net.ipv4.sysctl_tcp_wmem));
	memcpy(init_net.ipv4.sysctl_tcp_rmem, room + 3, sizeof(init_net.ipv4.sysctl_tcp_rmem));
}

static void take_room(struct kunit *test)
{
	int *was = vt_buf(test, 6 * sizeof(*was)), i;

	memcpy(was, init_net.ipv4.sysctl_tcp_wmem, 3 * sizeof(*was));
	memcpy(was + 3, init_net.ipv4.sysctl_tcp_rmem, 3 * sizeof(*was));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, restore_room, was), 0);
	for (i = 0; i < 3; i++) {
		WRITE_ONCE(init_net.ipv4.sysctl_tcp_wmem[i], LITTLE_ROOM);
		WRITE_ONCE(init_net.ipv4.sysctl_tcp_rmem[i], LITTLE_ROOM);
	}
}

/* Posts as many messages as there is room for; returns how many */
static int post_all(struct kunit *test, struct vt_end *end, u8 *out)
{
	ssize_t ret;
	int n = 0;

	for (;;) {
		ret = fi_send(end->ep, out, LEN, NULL, 0, vt_ctx(n + 1));
		if (ret)
			break;
		n++;
	}
	KUNIT_ASSERT_EQ(test, ret, -EAGAIN);
	return n;
}

/*
 * In front of the messages is one that is a byte longer each time, so what the socket takes ends
 * at another byte of a message each time.
 */
static int send_behind(struct kunit *test, size_t first, u8 *out)
{
	u8 in[PEER_BASE + PEER_BASE + LEN], want[PEER_BASE + LEN];
	struct vt_end end = {};
	struct socket *sock = peer_respond(test, &end);
	int i, n, cut;

	KUNIT_ASSERT_EQ(test, fi_inject(end.ep, out, first, 0), 0);
	n = post_all(test, &end, out);
	/* The worker has come as far as it can */
	msleep(20);
	cut = vt_stat(test, &end.tx->cq->fid, "unread") < n;
	peer_op(want, 0, 0, first);
	want[7] = 0;
	peer_recv(test, sock, in, PEER_BASE + first);
	KUNIT_ASSERT_MEMEQ(test, in, want, PEER_BASE);
	peer_op(want, 0, 0, LEN);
	vt_fill(want + PEER_BASE, LEN, 7);
	for (i = 0; i < n; i++) {
		want[7] = i + 1;
		peer_recv(test, sock, in, sizeof(want));
		KUNIT_ASSERT_MEMEQ(test, in, want, sizeof(want));
	}
	for (i = 0; i < n; i++)
		vt_done(test, end.tx, vt_ctx(i + 1));
	peer_close(test, sock);
	vt_end_close(test, &end);
	return cut;
}

static void a_message_is_sent_whole_wherever_it_is_cut(struct kunit *test)
{
	u8 *out = vt_buf(test, PEER_BASE + LEN);
	int first, cut = 0;

	vt_fill(out, PEER_BASE + LEN, 7);
	take_room(test);
	for (first = 1; first <= PEER_BASE + LEN; first++)
		cut += send_behind(test, first, out);
	kunit_info(test, "%d of %d times the socket took a part\n", cut, PEER_BASE + LEN);
	KUNIT_EXPECT_GE(test, cut, (PEER_BASE + LEN) / 2);
}

static struct kunit_case send_cases[] = {
	KUNIT_CASE(a_client_that_may_sleep_sends_within_its_call),
	KUNIT_CASE(other_clients_have_a_worker_send),
	KUNIT_CASE(what_follows_a_message_in_flight_is_left_to_the_worker),
	KUNIT_CASE(calls_of_many_threads_send_each_message_once),
	KUNIT_CASE(a_call_that_finds_the_peer_gone_ends_the_connection),
	KUNIT_CASE(what_callbacks_post_is_sent_once_and_in_order),
	KUNIT_CASE(what_callbacks_post_shares_segments),
	KUNIT_CASE(messages_that_none_follows_are_sent_at_once),
	KUNIT_CASE(what_callbacks_post_side_by_side_is_sent_at_once),
	KUNIT_CASE(a_message_before_one_that_waits_is_sent_at_once),
	KUNIT_CASE(messages_and_responses_take_turns),
	KUNIT_CASE(a_connection_for_bulk_data_gathers),
	KUNIT_CASE(a_message_is_sent_whole_wherever_it_is_cut),
	{}
};

static struct kunit_suite send_suite = {
	.name		= "kofi_tcp_send",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= send_cases,
};

kunit_test_suite(send_suite);
