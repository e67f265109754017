// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peers that are gone without a word, and peers that only look like that.
 *
 * A peer goes when all that comes to its socket is dropped: nothing is answered.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include "../../providers/tcp/stream/stream.h"
#include "../lib/log.h"
#include "rdm.h"

#define PARAM		"/sys/module/kofi_tcp/parameters/"
#define PEER_S		5
#define WINDOW_S	6
#define CONVERSE_S	4	/* eight looks at the peer */
#define SLACK_S		3	/* other guests share the processors */
#define LEN		SZ_64K

/* A value out of range changes nothing, and the log has the range */
static void a_parameter_out_of_range_is_refused(struct kunit *test)
{
	static const struct {
		const char *write, *log;
	} rows[] = {
		{ "echo 4 >" PARAM "peer_timeout", "\"4\" refused; allowed are 5 to 3600" },
		{ "echo 3601 >" PARAM "window_timeout", "window_timeout: \"3601\" refused" },
		{ "echo 5s >" PARAM "message_timeout", "message_timeout: \"5s\" refused" },
		{ "echo 86401 >" PARAM "idle_timeout", "refused; allowed are 0 to 86400" },
		{ "echo 0 >" PARAM "address_max", "address_max: \"0\" refused; allowed are 1 to" },
		{ "echo -1 >" PARAM "accepted_max", "accepted_max: \"-1\" refused" },
		{ "echo all >" PARAM "lingering_max", "lingering_max: \"all\" refused" },
	};
	struct kmsg_dump_iter log;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		vt_log_clear(&log);
		KUNIT_EXPECT_NE_MSG(test, vt_shell(rows[i].write), 0, "%s", rows[i].write);
		KUNIT_EXPECT_EQ_MSG(test, vt_log_count(&log, rows[i].log), 1, "%s", rows[i].log);
	}
	KUNIT_EXPECT_EQ(test, vt_shell("grep -qx " __stringify(PEER_S) " " PARAM "peer_timeout"),
			0);
}

static int alive_init(struct kunit *test)
{
	rdm_param(test, "peer_timeout", __stringify(PEER_S));
	rdm_param(test, "window_timeout", __stringify(WINDOW_S));
	return bed_init(test);
}

static void expect_gone(struct kunit *test, struct vt_end *end,
			unsigned long since, unsigned int seconds)
{
	vt_event(test, end->eq, FI_SHUTDOWN, NULL);
	KUNIT_EXPECT_LE(test, jiffies - since, (seconds + SLACK_S) * HZ);
	KUNIT_EXPECT_EQ(test, fi_inject(end->ep, NULL, 0, 0), -ESHUTDOWN);
}

/* Until no more is taken; returns how many */
static unsigned long fill_window(struct kunit *test, struct vt_end *end, u8 *out)
{
	unsigned long n = 0;
	ssize_t ret;

	do {
		ret = fi_send(end->ep, out, LEN, NULL, 0, vt_ctx(n + 1));
		n += !ret;
	} while (!ret);
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	return n;
}

/* TCP copies short messages into a page, which the socket keeps for the next one */
static void a_connection_that_is_idle_keeps_no_page(struct kunit *test)
{
	u8 *out = vt_buf(test, LEN), msg[PEER_BASE + 1];
	struct vt_end end = { .may_sleep = 1 };
	struct socket *sock = peer_join(test, &end);
	struct sock *sk = peer_other_end(test, sock);
	unsigned long late;
	bool had;
	int i;

	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, 1, NULL, 0, vt_ctx(1)), 0);
		had = READ_ONCE(sk->sk_frag.page);
		vt_done(test, end.tx, vt_ctx(1));
		peer_recv(test, sock, msg, sizeof(msg));
		if (i == 2) {
			/* The look for the first of these two comes too early for the second */
			fsleep(300 * USEC_PER_MSEC);
			KUNIT_ASSERT_EQ(test, fi_inject(end.ep, out, 1, 0), 0);
			peer_recv(test, sock, msg, sizeof(msg));
		}
		/* A worker sends if it was at work already */
		KUNIT_EXPECT_TRUE(test, had || READ_ONCE(sk->sk_frag.page));
		late = jiffies + SLACK_S * HZ;
		while (READ_ONCE(sk->sk_frag.page) && time_before(jiffies, late))
			fsleep(10 * USEC_PER_MSEC);
		KUNIT_EXPECT_NULL(test, READ_ONCE(sk->sk_frag.page));
	}
	peer_leave(test, sock);
}

/* The connection of an endpoint's socket */
static struct ktcp_conn *conn_of(struct kunit *test, const struct socket *sock)
{
	struct ktcp_sock *ksk = peer_other_end(test, sock)->sk_user_data;

	return container_of(ksk, struct ktcp_conn, sk);
}

/* Nothing is queued for it, once there has been nothing to look at */
static void a_connection_that_is_idle_is_not_looked_at(struct kunit *test)
{
	u8 byte = 0, msg[PEER_BASE + 1];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct ktcp_conn *conn = conn_of(test, sock);

	KUNIT_ASSERT_EQ(test, fi_inject(end.ep, &byte, 1, 0), 0);
	KUNIT_EXPECT_TRUE(test, vt_until(delayed_work_pending(&conn->alive.look)));
	peer_recv(test, sock, msg, sizeof(msg));
	vt_no_event_for(test, end.eq, SLACK_S * MSEC_PER_SEC);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&conn->alive.look));
}

/* The worker has the token until it has looked, or has not */
static bool has_looked(struct ktcp_conn *conn)
{
	return vt_until(!atomic_read_acquire(&conn->token.state));
}

/* However often the worker runs meanwhile */
static void a_look_at_the_peer_is_not_put_off(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct ktcp_conn *conn = conn_of(test, sock);
	unsigned long next, now;
	u8 msg[PEER_BASE];

	peer_op(msg, 0, 0, 0);
	peer_send(test, sock, msg, 1);
	KUNIT_ASSERT_TRUE(test, vt_until(READ_ONCE(conn->alive.looking)));
	KUNIT_ASSERT_TRUE(test, has_looked(conn));
	next = READ_ONCE(conn->alive.next);
	fsleep(100 * USEC_PER_MSEC);
	peer_send(test, sock, msg + 1, 1);
	KUNIT_ASSERT_TRUE(test, vt_until(READ_ONCE(conn->rx.have) == 2));
	KUNIT_EXPECT_TRUE(test, has_looked(conn));
	now = READ_ONCE(conn->alive.next);
	/* Otherwise the look that was due may have set it */
	if (time_before(jiffies, next))
		KUNIT_EXPECT_EQ(test, now, next);
}

/* TCP by itself begins with 32 KiB, for each connection */
static void a_connection_begins_with_one_page(struct kunit *test)
{
	u8 *out = vt_buf(test, LEN), msg[PEER_BASE + 1];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct sock *sk = peer_other_end(test, sock);

	/* Of the response to the request */
	KUNIT_EXPECT_EQ(test, (u32)READ_ONCE(sk->sk_frag.size), PAGE_SIZE);
	WRITE_ONCE(sk->sk_frag.size, 0);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, 1, NULL, 0, vt_ctx(1)), 0);
	vt_done(test, end.tx, vt_ctx(1));
	peer_recv(test, sock, msg, sizeof(msg));
	KUNIT_EXPECT_EQ(test, (u32)READ_ONCE(sk->sk_frag.size), PAGE_SIZE);
	peer_leave(test, sock);
}

/* TCP probes it three times, in the last three fifths of the time */
static void an_idle_peer_that_dies_is_noticed(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	const struct tcp_sock *tp = tcp_sk(peer_other_end(test, sock));
	unsigned long since = jiffies;

	KUNIT_EXPECT_EQ(test, tp->keepalive_time, PEER_S / 5 * 2 * HZ);
	KUNIT_EXPECT_EQ(test, tp->keepalive_intvl, PEER_S / 5 * HZ);
	KUNIT_EXPECT_EQ(test, tp->keepalive_probes, 3);
	peer_dies(test, sock);
	expect_gone(test, &end, since, PEER_S);
}

/* The message is in the socket, and that is all the client wanted to know */
static void expect_death_noticed(struct kunit *test, struct vt_end *end)
{
	u8 *out = vt_buf(test, LEN);
	struct socket *sock = peer_join(test, end);
	unsigned long since;

	/* No look is due any more */
	vt_no_event_for(test, end->eq, SLACK_S * MSEC_PER_SEC);
	peer_dies(test, sock);
	since = jiffies;
	KUNIT_ASSERT_EQ(test, fi_send(end->ep, out, 1, NULL, 0, vt_ctx(1)), 0);
	vt_done(test, end->tx, vt_ctx(1));
	expect_gone(test, end, since, PEER_S);
}

static void a_peer_that_dies_under_a_message_is_noticed(struct kunit *test)
{
	struct vt_end end = {};

	expect_death_noticed(test, &end);
}

/* The call has a worker look */
static void a_peer_that_dies_under_the_message_of_a_call_is_noticed(struct kunit *test)
{
	struct vt_end end = { .may_sleep = 1 };

	expect_death_noticed(test, &end);
}

static void a_peer_that_dies_before_it_acknowledges_fails_the_operation(struct kunit *test)
{
	u8 *out = vt_buf(test, LEN);
	const struct kvec kvec = { out, LEN };
	const struct fi_msg msg = { .msg_iov = &kvec, .iov_count = 1, .context = vt_ctx(1) };
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	unsigned long since = jiffies;

	peer_dies(test, sock);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(end.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.tx).err, ECANCELED);
	vt_none(test, end.tx);
	expect_gone(test, &end, since, PEER_S);
}

/* For so many seconds the peer returns each byte that @end sends, but for the last one */
static void converse(struct kunit *test, struct vt_end *end, struct socket *sock,
		     unsigned int seconds)
{
	u8 msg[PEER_BASE + 1] = {}, in[PEER_BASE + 1], *buf = vt_buf(test, 2);
	unsigned long until = jiffies + seconds * HZ;

	peer_op(msg, 0, 0, 1);
	while (time_before(jiffies, until)) {
		vt_recv(test, end, buf, 1, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, fi_inject(end->ep, buf + 1, 1, 0), 0);
		peer_recv(test, sock, in, sizeof(in));
		peer_send(test, sock, msg, sizeof(msg));
		msg[7]++;
		vt_done(test, end->rx, vt_ctx(1));
	}
	/* All that the peer has sent is acknowledged by that, so it does not try again */
	KUNIT_ASSERT_EQ(test, fi_inject(end->ep, buf + 1, 1, 0), 0);
	peer_recv(test, sock, in, sizeof(in));
}

/*
 * What it has been sent is not acknowledged any more.  The looks at the peer meet the end of
 * a conversation at any time.
 */
static void expect_freeze_noticed(struct kunit *test, struct vt_end *end, struct socket *sock)
{
	unsigned long since;
	u8 byte = 0;

	converse(test, end, sock, CONVERSE_S);
	peer_dies(test, sock);
	since = jiffies;
	KUNIT_ASSERT_EQ(test, fi_inject(end->ep, &byte, 1, 0), 0);
	expect_gone(test, end, since, PEER_S);
}

static void a_peer_that_freezes_in_mid_conversation_is_noticed(struct kunit *test)
{
	struct vt_end end = {};

	expect_freeze_noticed(test, &end, peer_join(test, &end));
}

static void a_peer_that_has_accepted_and_freezes_is_noticed(struct kunit *test)
{
	struct vt_end end = {};

	expect_freeze_noticed(test, &end, peer_respond(test, &end));
}

/* It reads when the limit of a peer that is gone is over, and that of a window is not */
static void a_peer_that_takes_nothing_is_not_gone(struct kunit *test)
{
	u8 *out = vt_buf(test, LEN), *in = vt_buf(test, PEER_BASE + LEN);
	struct vt_end end = {};
	struct socket *sock;
	unsigned long i, n;

	rdm_param(test, "window_timeout", "60");
	sock = peer_join(test, &end);
	vt_fill(out, LEN, 3);
	n = fill_window(test, &end, out);
	vt_no_event_for(test, end.eq, 2 * PEER_S * 1000);
	for (i = 0; i < n; i++) {
		peer_recv(test, sock, in, PEER_BASE + LEN);
		KUNIT_ASSERT_TRUE(test, vt_filled(in + PEER_BASE, LEN, 3));
		vt_done(test, end.tx, vt_ctx(i + 1));
	}
	vt_no_event(test, end.eq);
}

static void a_window_may_be_closed_for_a_time(struct kunit *test)
{
	u8 *out = vt_buf(test, LEN);
	struct vt_end end = {};
	unsigned long since;

	peer_join(test, &end);
	since = jiffies;
	fill_window(test, &end, out);
	expect_gone(test, &end, since, WINDOW_S);
	KUNIT_EXPECT_GE(test, jiffies - since, WINDOW_S * HZ);
}

/* Sends so many pieces of a message, one every half second, until the connection ends */
static int send_slowly(struct kunit *test, struct socket *sock, const u8 *buf, size_t piece,
		       int pieces)
{
	struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };
	struct kvec kvec;
	int i;

	for (i = 0; i < pieces; i++) {
		kvec = (struct kvec) { (void *)buf, piece };
		if (kernel_sendmsg(sock, &msg, &kvec, 1, piece) != piece)
			break;
		schedule_timeout_uninterruptible(HZ / 2);
	}
	return i;
}

/* Its receive is kept from nobody else for longer than that */
static void a_message_that_does_not_go_on_is_given_up(struct kunit *test)
{
	u8 *in = vt_buf(test, LEN), msg[PEER_BASE];
	struct vt_end end = {};
	struct socket *sock;
	unsigned long since;

	rdm_param(test, "message_timeout", __stringify(PEER_S));
	rdm_param(test, "message_rate", "0");
	sock = peer_join(test, &end);
	vt_recv(test, &end, in, LEN, vt_ctx(1));
	since = jiffies;
	peer_send(test, sock, msg, peer_op(msg, 0, 0, LEN));
	/* That so little comes now and then makes no difference */
	send_slowly(test, sock, in, 1, 2 * (PEER_S + SLACK_S));
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.rx).err, ECANCELED);
	expect_gone(test, &end, since, 2 * PEER_S);
}

/* What comes is enough for each time that a message has, but not for all of them together */
static void a_message_that_never_ends_is_given_up(struct kunit *test)
{
	const size_t piece = LEN / (2 * PEER_S) + LEN / 64;
	const int pieces = 8 * PEER_S;
	u8 *in = vt_buf(test, pieces * piece), msg[PEER_BASE];
	struct vt_end end = {};
	struct socket *sock;
	unsigned long since;

	rdm_param(test, "message_timeout", __stringify(PEER_S));
	rdm_param(test, "message_rate", "64");
	sock = peer_join(test, &end);
	vt_recv(test, &end, in, pieces * piece, vt_ctx(1));
	since = jiffies;
	peer_send(test, sock, msg, peer_op(msg, 0, 0, SZ_1G));
	KUNIT_EXPECT_LT(test, send_slowly(test, sock, vt_buf(test, piece), piece, pieces), pieces);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.rx).err, ECANCELED);
	expect_gone(test, &end, since, 4 * PEER_S);
	KUNIT_EXPECT_GE(test, jiffies - since, PEER_S * HZ);
}

/* It is reported when it is full, though the rest of the message may take long, or never come */
static void a_receive_does_not_wait_for_what_is_dropped(struct kunit *test)
{
	u8 *in = vt_buf(test, LEN), *rest = vt_buf(test, LEN), msg[PEER_BASE];
	struct vt_end end = {};
	struct socket *sock;

	sock = peer_join(test, &end);
	vt_recv(test, &end, in, 100, vt_ctx(1));
	peer_send(test, sock, msg, peer_op(msg, 0, 0, LEN));
	peer_send(test, sock, rest, 101);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.rx).err, FI_ETRUNC);
	peer_send(test, sock, rest, LEN - 101);
	vt_recv(test, &end, in, 1, vt_ctx(2));
	peer_send_msg(test, sock, 0, 0);
	vt_done(test, end.rx, vt_ctx(2));
}

/* Neither does half a header hold anything for longer, however long nothing was owed before it */
static void a_header_that_does_not_go_on_is_given_up(struct kunit *test)
{
	struct vt_end end = {};
	u8 msg[PEER_BASE] = {};
	struct socket *sock;
	unsigned long since;

	rdm_param(test, "message_timeout", __stringify(PEER_S));
	sock = peer_join(test, &end);
	KUNIT_ASSERT_EQ(test, fi_inject(end.ep, msg, 0, 0), 0);
	peer_recv(test, sock, msg, PEER_BASE);
	vt_no_event_for(test, end.eq, 2 * PEER_S * MSEC_PER_SEC);
	since = jiffies;
	peer_op(msg, 0, 0, 0);
	peer_send(test, sock, msg, PEER_BASE / 2);
	expect_gone(test, &end, since, PEER_S);
	KUNIT_EXPECT_GE(test, jiffies - since, PEER_S * HZ);
}

static void a_message_may_come_slowly(struct kunit *test)
{
	const size_t piece = LEN / (2 * PEER_S) + LEN / 8;
	const int pieces = 6 * PEER_S;
	u8 *in = vt_buf(test, pieces * piece), msg[PEER_BASE];
	struct vt_end end = {};
	struct socket *sock;

	rdm_param(test, "message_timeout", __stringify(PEER_S));
	sock = peer_join(test, &end);
	vt_recv(test, &end, in, pieces * piece, vt_ctx(1));
	peer_send(test, sock, msg, peer_op(msg, 0, 0, pieces * piece));
	KUNIT_EXPECT_EQ(test, send_slowly(test, sock, vt_buf(test, piece), piece, pieces), pieces);
	vt_done(test, end.rx, vt_ctx(1));
	/* A message that waits for its receive is not late, however long that takes */
	peer_send_msg(test, sock, 0, 0);
	vt_no_event_for(test, end.eq, 2 * PEER_S * 1000);
	vt_recv(test, &end, in, 1, vt_ctx(2));
	vt_done(test, end.rx, vt_ctx(2));
}

/* Reads @len bytes of the peer, or writes them with the flags @write, and waits for what it says */
static void ask(struct kunit *test, struct vt_end *end, u64 write, u8 *buf, size_t len,
		void *context)
{
	const struct fi_rma_iov remote = { .addr = 0, .len = len, .key = 1 };
	const struct kvec kvec = { buf, len };
	const struct fi_msg_rma msg = {
		.msg_iov	= &kvec,
		.iov_count	= 1,
		.rma_iov	= &remote,
		.rma_iov_count	= 1,
		.context	= context,
	};

	if (write)
		KUNIT_ASSERT_EQ(test, fi_writemsg(end->ep, &msg, FI_COMPLETION | write), 0);
	else
		KUNIT_ASSERT_EQ(test, fi_readmsg(end->ep, &msg, FI_COMPLETION), 0);
}

/*
 * The peer answers once.  Then it acknowledges each packet, and sends messages, but no answer.
 */
static void expect_unanswered(struct kunit *test, u64 write)
{
	const int pieces = 2 * (PEER_S + SLACK_S);
	struct vt_end end = { .rx = vt_cq(test, &vt_default_kind, 1024) };
	u8 *buf = vt_buf(test, LEN), msg[PEER_BASE + 8] = {}, req[PEER_BASE + PEER_RMA + 8];
	struct socket *sock;
	unsigned long since;
	int i, sent;

	rdm_param(test, "rts_timeout", __stringify(PEER_S));
	sock = peer_join(test, &end);
	for (i = 0; i < pieces; i++)
		vt_recv(test, &end, buf + i, 1, vt_ctx(2));
	ask(test, &end, write, buf + pieces, 8, vt_ctx(3));
	peer_recv(test, sock, req, PEER_BASE + PEER_RMA + (write ? 8 : 0));
	if (write)
		peer_send_ack(test, sock);
	else
		peer_send(test, sock, msg, peer_op(msg, 3, 0, 8) + 8);
	vt_done(test, end.tx, vt_ctx(3));
	since = jiffies;
	ask(test, &end, write, buf + pieces, 8, vt_ctx(1));
	peer_op(msg, 0, 0, 1);
	sent = send_slowly(test, sock, msg, PEER_BASE + 1, pieces);
	KUNIT_EXPECT_LT(test, sent, pieces);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.tx).err, ECANCELED);
	expect_gone(test, &end, since, PEER_S + SLACK_S);
	KUNIT_EXPECT_GE(test, jiffies - since, PEER_S * HZ);
}

static void a_read_without_a_response_is_given_up(struct kunit *test)
{
	expect_unanswered(test, 0);
}

static void a_write_without_an_acknowledgment_is_given_up(struct kunit *test)
{
	expect_unanswered(test, FI_DELIVERY_COMPLETE);
}

/* The time is that between two responses, one of which may be a refusal, or acknowledgments */
static void answers_may_come_slowly(struct kunit *test)
{
	const size_t len = 8;
	u8 *in = vt_buf(test, LEN), msg[PEER_BASE + 8] = {}, req[PEER_BASE + PEER_RMA + 8];
	struct vt_end end = {};
	struct socket *sock;
	int i;

	rdm_param(test, "rts_timeout", __stringify(PEER_S));
	sock = peer_join_kofi(test, &end, PEER_REFUSES);
	for (i = 0; i < 3; i++) {
		ask(test, &end, 0, in, len, vt_ctx(1));
		peer_recv(test, sock, req, PEER_BASE + PEER_RMA);
	}
	for (i = 0; i < 3; i++) {
		vt_no_event_for(test, end.eq, (PEER_S - 1) * MSEC_PER_SEC);
		if (i == 1) {
			peer_send(test, sock, msg, peer_refusal(msg, NULL, 1));
			vt_failed_with(test, end.tx, vt_ctx(1), EACCES);
			continue;
		}
		peer_send(test, sock, msg, peer_op(msg, 3, 0, len) + len);
		vt_done(test, end.tx, vt_ctx(1));
	}
	ask(test, &end, FI_DELIVERY_COMPLETE, in, len, vt_ctx(2));
	peer_recv(test, sock, req, PEER_BASE + PEER_RMA + len);
	vt_no_event_for(test, end.eq, (PEER_S - 1) * MSEC_PER_SEC);
	peer_send_ack(test, sock);
	vt_done(test, end.tx, vt_ctx(2));
	/* Nothing is owed any more */
	vt_no_event_for(test, end.eq, 2 * PEER_S * MSEC_PER_SEC);
}

/* A message waits for its receive at the peer, however long that takes */
static void a_message_is_acknowledged_at_any_time(struct kunit *test)
{
	u8 *out = vt_buf(test, LEN);
	struct vt_pair pair = {};
	const struct kvec kvec = { out, 8 };
	const struct fi_msg msg = { .msg_iov = &kvec, .iov_count = 1, .context = vt_ctx(1) };

	rdm_param(test, "rts_timeout", __stringify(PEER_S));
	pair.b.rx = vt_cq(test, &vt_default_kind, 1024);
	vt_join(test, &pair, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
	vt_no_event_for(test, pair.a.eq, 3 * PEER_S * MSEC_PER_SEC);
	vt_recv(test, &pair.b, out + 8, 8, vt_ctx(2));
	vt_done(test, pair.b.rx, vt_ctx(2));
	vt_done(test, pair.a.tx, vt_ctx(1));
}

/* So does a write with remote CQ data, for its completion at the peer */
static void a_write_with_data_is_acknowledged_at_any_time(struct kunit *test)
{
	u8 *out = vt_buf(test, LEN);
	struct vt_end end = {};
	struct socket *sock;

	rdm_param(test, "rts_timeout", __stringify(PEER_S));
	sock = peer_join(test, &end);
	ask(test, &end, FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA, out, 8, vt_ctx(1));
	vt_no_event_for(test, end.eq, 3 * PEER_S * MSEC_PER_SEC);
	peer_send_ack(test, sock);
	vt_done(test, end.tx, vt_ctx(1));
}

/* What @from has sent arrives at @to, and has been sent then */
static void take_all(struct kunit *test, struct vt_end *to, struct vt_end *from, unsigned long n)
{
	u8 *in = vt_buf(test, LEN);
	unsigned long i;

	for (i = 0; i < n; i++) {
		vt_recv(test, to, in, LEN, vt_ctx(n + 1));
		vt_done(test, to->rx, vt_ctx(n + 1));
		KUNIT_ASSERT_TRUE(test, vt_filled(in, LEN, 3));
		vt_done(test, from->tx, vt_ctx(i + 1));
	}
}

/* With the times that a client finds.  Either end is the peer of the other, in each role */
static void peers_that_post_no_receive_are_not_gone(struct kunit *test)
{
	u8 *out = vt_buf(test, LEN);
	struct vt_pair pair = {};
	unsigned long n, m;

	/* Receives and sends are told apart by their queues */
	pair.a.rx = vt_cq(test, &vt_default_kind, 1024);
	pair.b.rx = vt_cq(test, &vt_default_kind, 1024);
	vt_join(test, &pair, &vt_default_kind);
	vt_fill(out, LEN, 3);
	n = fill_window(test, &pair.a, out);
	m = fill_window(test, &pair.b, out);
	vt_no_event_for(test, pair.a.eq, 30 * 1000);
	vt_no_event(test, pair.b.eq);
	take_all(test, &pair.b, &pair.a, n);
	take_all(test, &pair.a, &pair.b, m);
	vt_no_event(test, pair.a.eq);
	vt_no_event(test, pair.b.eq);
}

static struct kunit_case patient_cases[] = {
	KUNIT_CASE_SLOW(peers_that_post_no_receive_are_not_gone),
	{}
};

static struct kunit_suite patient_suite = {
	.name		= "kofi_tcp_patient",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= patient_cases,
};

static struct kunit_case alive_cases[] = {
	KUNIT_CASE(a_parameter_out_of_range_is_refused),
	KUNIT_CASE(a_connection_begins_with_one_page),
	KUNIT_CASE(a_connection_that_is_idle_keeps_no_page),
	KUNIT_CASE(a_connection_that_is_idle_is_not_looked_at),
	KUNIT_CASE(a_look_at_the_peer_is_not_put_off),
	KUNIT_CASE_SLOW(an_idle_peer_that_dies_is_noticed),
	KUNIT_CASE_SLOW(a_peer_that_dies_under_a_message_is_noticed),
	KUNIT_CASE_SLOW(a_peer_that_dies_under_the_message_of_a_call_is_noticed),
	KUNIT_CASE_SLOW(a_peer_that_dies_before_it_acknowledges_fails_the_operation),
	KUNIT_CASE_SLOW(a_peer_that_freezes_in_mid_conversation_is_noticed),
	KUNIT_CASE_SLOW(a_peer_that_has_accepted_and_freezes_is_noticed),
	KUNIT_CASE_SLOW(a_peer_that_takes_nothing_is_not_gone),
	KUNIT_CASE_SLOW(a_window_may_be_closed_for_a_time),
	KUNIT_CASE_SLOW(a_message_that_does_not_go_on_is_given_up),
	KUNIT_CASE_SLOW(a_message_that_never_ends_is_given_up),
	KUNIT_CASE(a_receive_does_not_wait_for_what_is_dropped),
	KUNIT_CASE_SLOW(a_header_that_does_not_go_on_is_given_up),
	KUNIT_CASE_SLOW(a_message_may_come_slowly),
	KUNIT_CASE_SLOW(a_read_without_a_response_is_given_up),
	KUNIT_CASE_SLOW(a_write_without_an_acknowledgment_is_given_up),
	KUNIT_CASE_SLOW(answers_may_come_slowly),
	KUNIT_CASE_SLOW(a_message_is_acknowledged_at_any_time),
	KUNIT_CASE_SLOW(a_write_with_data_is_acknowledged_at_any_time),
	{}
};

static struct kunit_suite alive_suite = {
	.name		= "kofi_tcp_alive",
	.init		= alive_init,
	.exit		= vt_exit,
	.test_cases	= alive_cases,
};

kunit_test_suites(&alive_suite, &patient_suite);
