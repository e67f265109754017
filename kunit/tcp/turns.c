// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A run of the worker is bounded, and both directions, responses and operations get their turn:
 * a peer that sends without end does not keep the endpoint from sending, or from giving up.
 *
 * Where a case counts, the peer's messages are all in the socket before the worker sees the first
 * of them: in front of them is a message without a receive.
 */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <net/sock.h>
#include <rdma/fi_rma.h>
#include "../lib/async.h"
#include "rdm.h"

#define LEN		16
#define WRITES		2000
#define READS		12		/* fewer than are answered at a time */
#define STEPS		64		/* of a direction in a run */
#define SHORT_S		5		/* the least window_timeout */
#define SLACK_S		3		/* other guests share the processors */
#define MUCH		SZ_1M
#define MANY		60		/* long reads, more than are answered at a time */
#define BATCH		1000		/* messages of a call of the peer's */

static struct fi_rma_iov region(struct kunit *test, u8 *buf)
{
	return peer_target(peer_region(test, buf, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE, 5), LEN);
}

/* Holds up what the peer sends from now on, until a receive is posted */
static void hold_up(struct kunit *test, struct socket *sock)
{
	peer_send_msg(test, sock, 0, 0);
}

/* Posts that receive, and a send */
static void send_and_go_on(struct kunit *test, struct vt_end *end)
{
	u8 *in = vt_buf(test, LEN), *out = vt_buf(test, LEN);

	KUNIT_ASSERT_EQ(test, fi_inject(end->ep, out, LEN, 0), 0);
	vt_recv(test, end, in, LEN, vt_ctx(1));
}

/* Reads messages of @len bytes until the endpoint's own comes; returns how many */
static int before_own(struct kunit *test, struct socket *sock, size_t len, int most)
{
	u8 msg[PEER_BASE + LEN];
	int n;

	for (n = 0; n < most; n++) {
		peer_recv(test, sock, msg, PEER_BASE);
		if (!msg[1] && !msg[4])
			break;
		if (len > PEER_BASE)
			peer_recv(test, sock, msg + PEER_BASE, len - PEER_BASE);
	}
	return n;
}

/* Each of the peer's writes wants an acknowledgment; there are enough of them for many runs */
static void what_comes_does_not_hold_up_what_is_sent(struct kunit *test)
{
	struct fi_rma_iov rma = region(test, vt_buf(test, LEN));
	u8 *msgs = vt_buf(test, WRITES * (PEER_BASE + PEER_RMA)), *at = msgs;
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	int i;

	rma.len = 0;
	for (i = 0; i < WRITES; i++)
		at += peer_hdr(at, 4, 4, NULL, &rma, 1, 0);
	hold_up(test, sock);
	peer_send(test, sock, msgs, at - msgs);
	send_and_go_on(test, &end);
	/* A run may end early when others have the processor */
	KUNIT_EXPECT_LE(test, before_own(test, sock, PEER_BASE, WRITES), 4 * STEPS);
}

static void responses_and_operations_take_turns(struct kunit *test)
{
	struct fi_rma_iov rma = region(test, vt_buf(test, LEN));
	u8 msg[PEER_BASE + PEER_RMA];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	size_t len = peer_hdr(msg, 2, 0, NULL, &rma, 1, 0);
	int i;

	hold_up(test, sock);
	for (i = 0; i < READS; i++)
		peer_send(test, sock, msg, len);
	send_and_go_on(test, &end);
	KUNIT_EXPECT_LE(test, before_own(test, sock, PEER_BASE + LEN, READS), 1);
}

/**
 * struct flood - A peer that sends without end, and reads nothing
 * @sock: its connection
 * @msgs: what it sends again and again
 * @len: bytes of @msgs
 */
struct flood {
	struct socket	*sock;
	u8		*msgs;
	size_t		len;
};

/* Until the connection ends */
static int flood(void *arg)
{
	struct flood *flood = arg;
	int ret;

	do {
		struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };
		struct kvec kvec = { flood->msgs, flood->len };

		ret = kernel_sendmsg(flood->sock, &msg, &kvec, 1, flood->len);
		cond_resched();
	} while (ret == flood->len);
	return 0;
}

/* As much as the socket takes */
static void fill_window(struct kunit *test, struct vt_end *end)
{
	u8 *out = vt_buf(test, SZ_64K);
	ssize_t ret;

	do {
		ret = fi_send(end->ep, out, SZ_64K, NULL, 0, vt_ctx(1));
	} while (!ret);
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
}

/* The endpoint gives it up in time, however much it has to receive */
static void a_peer_that_floods_and_takes_nothing_is_given_up(struct kunit *test)
{
	struct fi_rma_iov rma = region(test, vt_buf(test, LEN));
	struct flood *peer = vt_buf(test, sizeof(*peer));
	struct vt_end end = {};
	unsigned long since;
	struct vt_async *thread;
	int i;

	rdm_param(test, "window_timeout", __stringify(SHORT_S));
	rma.len = 0;
	peer->msgs = vt_buf(test, BATCH * (PEER_BASE + PEER_RMA));
	for (i = 0; i < BATCH; i++)
		peer->len += peer_hdr(peer->msgs + peer->len, 4, 0, NULL, &rma, 1, 0);
	peer->sock = peer_join(test, &end);
	fill_window(test, &end);
	since = jiffies;
	thread = vt_async_start(test, flood, peer);
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	KUNIT_EXPECT_LE(test, jiffies - since, (SHORT_S + SLACK_S) * HZ);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
}

/* Each of two ends has more reads than the other answers at a time, and none waits for the other */
static void two_ends_with_many_long_reads_go_on(struct kunit *test)
{
	u8 *mem = vt_buf(test, MUCH), *in = vt_buf(test, MUCH);
	struct vt_pair pair = {};
	struct vt_end *ends[] = { &pair.a, &pair.b };
	unsigned long begin;
	struct vt_comp comp;
	int i;

	peer_region(test, mem, MUCH, FI_REMOTE_READ, 5);
	vt_join(test, &pair, &vt_default_kind);
	begin = jiffies;
	for (i = 0; i < 2 * MANY; i++)
		KUNIT_ASSERT_EQ(test, fi_read(ends[i & 1]->ep, in, MUCH, NULL, 0, 0, 5, vt_ctx(1)),
				0);
	for (i = 0; i < 2 * MANY; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(ends[i & 1]->tx, &comp), 1);
		KUNIT_ASSERT_EQ(test, comp.err, 0);
	}
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, begin + SHORT_S * HZ));
}

/* The socket takes little at a time, and TCP says when it takes more: no timer looks as often */
static void room_in_the_socket_is_used_at_once(struct kunit *test)
{
	u8 *out = vt_buf(test, MUCH), *in = vt_buf(test, PEER_BASE + MUCH);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct sock *sk = peer_other_end(test, sock);
	unsigned long begin;

	lock_sock(sk);
	sk->sk_userlocks |= SOCK_SNDBUF_LOCK;
	WRITE_ONCE(sk->sk_sndbuf, SZ_64K);
	release_sock(sk);
	begin = jiffies;
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, MUCH, NULL, 0, vt_ctx(1)), 0);
	peer_recv(test, sock, in, PEER_BASE + MUCH);
	vt_done(test, end.tx, vt_ctx(1));
	KUNIT_EXPECT_LT(test, jiffies - begin, HZ);
}

static struct kunit_case turns_cases[] = {
	KUNIT_CASE(room_in_the_socket_is_used_at_once),
	KUNIT_CASE(what_comes_does_not_hold_up_what_is_sent),
	KUNIT_CASE(responses_and_operations_take_turns),
	KUNIT_CASE(two_ends_with_many_long_reads_go_on),
	KUNIT_CASE_SLOW(a_peer_that_floods_and_takes_nothing_is_given_up),
	{}
};

static struct kunit_suite turns_suite = {
	.name		= "kofi_tcp_turns",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= turns_cases,
};

kunit_test_suite(turns_suite);
