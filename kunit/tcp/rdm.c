// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections of endpoints without connections: the request and its response, which connection
 * stays if both ends dial, incarnations, and the end of operations with their connection.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/prandom.h>
#include <linux/sizes.h>
#include <rdma/fi_tagged.h>
#include "../../providers/tcp/trace.h"
#include "../lib/refusal.h"
#include "rdm.h"

#define LEN	RDM_LEN
#define INCARNATIONS	300
#define DIAL_S		10	/* from the first attempt to the last one */
#define STREAMS		1900	/* 400 more are in refuse.c */
#define STREAMS_TAG	0x5ca1ab1e0ddba11ULL
#define LONG	SZ_256K	/* so many of these are more than the sockets take */

/* The endpoint receives what is sent by a connection */
static void expect_heard(struct kunit *test, struct vt_end *end, struct socket *sock, u8 seed)
{
	u8 *in = vt_buf(test, LEN);

	KUNIT_ASSERT_EQ(test, fi_recv(end->ep, in, LEN, NULL, FI_ADDR_UNSPEC, vt_ctx(77)), 0);
	peer_send_msg(test, sock, LEN, seed);
	vt_done(test, end->rx, vt_ctx(77));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, seed));
}

static void an_endpoint_asks_as_libfabric_asks(struct kunit *test)
{
	static const u8 no_pid[4];
	struct rdm_peer peer;
	struct vt_end end = {};
	struct sockaddr_storage name;
	struct sockaddr_in from;
	struct socket *sock;
	u8 data[RDM_CM];

	rdm_open_with(test, &end, &peer, RDM_HIGH);
	rdm_post(test, &end, peer.addr, 1);
	sock = rdm_asked(test, &peer, data);
	name = rdm_name(test, end.ep);
	KUNIT_EXPECT_EQ(test, data[0], 1);
	KUNIT_EXPECT_EQ(test, data[1], 0);
	KUNIT_EXPECT_MEMEQ(test, data + 2, &((struct sockaddr_in *)&name)->sin_port, 2);
	KUNIT_EXPECT_MEMNEQ(test, data + 4, no_pid, sizeof(no_pid));
	/* The address that it is known by */
	KUNIT_ASSERT_GE(test, kernel_getpeername(sock, (void *)&from), 0);
	KUNIT_EXPECT_EQ(test, ntohl(from.sin_addr.s_addr), 0x7f000002);
	rdm_respond(test, sock, data, 0x81, RDM_PID);
	rdm_expect_sent(test, &end, sock, 1);
	/* It knows the incarnation of the peer */
	rdm_expect_cm(test, rdm_ask(test, &end, &peer, 1, RDM_PID), 6, NULL);
}

static const struct version_case {
	const char	*name;
	u8		asked;
	u8		answered;
} version_cases[] = {
	{ "0", 0, 0 },
	{ "1", 1, 0x81 },
	{ "a later one", 9, 0x81 },
};

KUNIT_ARRAY_PARAM_DESC(version, version_cases, name);

static void a_response_says_the_version_and_repeats_the_port(struct kunit *test)
{
	const struct version_case *row = test->param_value;
	static const u8 no_pid[4];
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;
	u8 data[RDM_CM];

	rdm_open_with(test, &end, &peer, RDM_LOW);
	sock = rdm_ask(test, &end, &peer, row->asked, RDM_PID);
	rdm_expect_cm(test, sock, 1, data);
	KUNIT_EXPECT_EQ(test, data[0], row->answered);
	KUNIT_EXPECT_EQ(test, data[1], 0);
	KUNIT_EXPECT_MEMEQ(test, data + 2, &((struct sockaddr_in *)&peer.name)->sin_port, 2);
	KUNIT_EXPECT_MEMNEQ(test, data + 4, no_pid, sizeof(no_pid));
	/* One connection for both directions */
	rdm_post(test, &end, peer.addr, 2);
	rdm_expect_sent(test, &end, sock, 2);
	expect_heard(test, &end, sock, 3);
}

static const struct stranger_case {
	const char	*name;
	size_t		len;
	u8		data[12];
} stranger_cases[] = {
	{ "without data", 0, {} },
	{ "of another length", 7, { 1, 0, 1, 1, 1, 1, 1 } },
	{ "of rxm", 12, { 1, 2, 4, 3, 1, 1, 2 } },
	{ "without a port", 8, { 1, 0, 0, 0, 1, 1, 1, 1 } },
	{ "without an incarnation", 8, { 1, 0, 1, 1, 0, 0, 0, 0 } },
};

KUNIT_ARRAY_PARAM_DESC(stranger, stranger_cases, name);

static void a_request_of_something_else_is_refused(struct kunit *test)
{
	const struct stranger_case *row = test->param_value;
	u8 buf[PEER_CM + sizeof(row->data)];
	struct sockaddr_storage to;
	struct vt_end end = {};
	struct socket *sock;

	violations_begin(test);
	rdm_open(test, &end);
	to = rdm_name(test, end.ep);
	sock = peer_connect_from(test, RDM_LOW, &to);
	peer_send(test, sock, buf, peer_cm(buf, 0, row->data, row->len));
	peer_recv(test, sock, buf, PEER_CM);
	KUNIT_EXPECT_EQ(test, buf[1], 6);
	/* The data of a request that names an incarnation come back */
	if (row->len == RDM_CM && row->data[4])
		peer_expect(test, sock, row->data, RDM_CM);
	peer_hung_up(test, sock);
	expect_violations(test, 1, KTCP_BAD_REQUEST);
}

static void an_incarnation_has_one_connection(struct kunit *test)
{
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *first, *again;

	rdm_open_with(test, &end, &peer, RDM_HIGH);
	first = rdm_dial(test, &end, &peer, 1, RDM_PID);
	again = rdm_ask(test, &end, &peer, 1, RDM_PID);
	rdm_expect_cm(test, again, 6, NULL);
	peer_hung_up(test, again);
	expect_heard(test, &end, first, 1);
}

/* What was under way with the old one ends; the next message goes to the new one */
static void another_incarnation_is_another_peer(struct kunit *test)
{
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *first, *second;

	rdm_open_with(test, &end, &peer, RDM_LOW);
	first = rdm_dial(test, &end, &peer, 1, RDM_PID);
	rdm_begin_read(test, &end, &peer, first, vt_ctx(1));
	second = rdm_dial(test, &end, &peer, 1, RDM_PID + 1);
	vt_failed_with(test, end.tx, vt_ctx(1), ECONNRESET);
	peer_hung_up(test, first);
	rdm_post(test, &end, peer.addr, 2);
	rdm_expect_sent(test, &end, second, 2);
}

/* A read of each is under way when the next one comes, which gets nothing of it */
static void many_incarnations_come_one_after_the_other(struct kunit *test)
{
	struct socket *last = NULL, *sock;
	struct rdm_peer peer;
	struct vt_end end = {};
	unsigned long i;

	rdm_open_with(test, &end, &peer, RDM_LOW);
	for (i = 0; i < INCARNATIONS; i++) {
		sock = rdm_dial(test, &end, &peer, 1, RDM_PID + i);
		if (last) {
			vt_failed_with(test, end.tx, vt_ctx(3 * i), ECONNRESET);
			peer_hung_up(test, last);
			peer_close(test, last);
		}
		rdm_post(test, &end, peer.addr, 3 * i + 1);
		rdm_post(test, &end, peer.addr, 3 * i + 2);
		rdm_expect_sent(test, &end, sock, 3 * i + 1);
		rdm_expect_sent(test, &end, sock, 3 * i + 2);
		rdm_begin_read(test, &end, &peer, sock, vt_ctx(3 * i + 3));
		last = sock;
	}
	vt_none(test, end.tx);
}

/* The first byte is right, as is the operation as a rule, so some become messages */
static void random_stream(struct kunit *test, struct socket *sock, unsigned int seed)
{
	u8 msg[PEER_BASE + PEER_RMA + LEN];
	struct rnd_state rnd;

	prandom_seed_state(&rnd, seed);
	prandom_bytes_state(&rnd, msg, sizeof(msg));
	msg[0] = 3;
	msg[1] %= 10;
	/* A size that fits, in every other one */
	if (seed & 1)
		memset(msg + 9, 0, 7);
	peer_send(test, sock, msg, sizeof(msg));
}

/* The tag tells its message from those that streams may become */
static void expect_tagged(struct kunit *test, struct vt_end *end, struct socket *sock)
{
	u8 *in = vt_buf(test, LEN);

	KUNIT_ASSERT_EQ(test, fi_trecv(end->ep, in, LEN, NULL, FI_ADDR_UNSPEC, STREAMS_TAG, 0,
				       vt_ctx(9)), 0);
	peer_send_tagged(test, sock, 0, STREAMS_TAG, LEN, 9);
	vt_done(test, end->rx, vt_ctx(9));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, 9));
}

static void random_streams_harm_nobody_else(struct kunit *test)
{
	struct socket *good, *bad;
	struct rdm_peer low, high;
	struct vt_end end = {};
	unsigned int i;

	rdm_open_with(test, &end, &low, RDM_LOW);
	rdm_peer_new(test, &end, &high, RDM_HIGH);
	good = rdm_dial(test, &end, &high, 1, RDM_PID);
	for (i = 0; i < STREAMS; i++) {
		bad = rdm_dial(test, &end, &low, 1, RDM_PID + i);
		random_stream(test, bad, i + 1);
		peer_close(test, bad);
	}
	expect_tagged(test, &end, good);
	expect_tagged(test, &end, rdm_dial(test, &end, &low, 1, RDM_PID + i));
	rdm_post(test, &end, high.addr, 1);
	rdm_expect_sent(test, &end, good, 1);
}

static void of_two_requests_that_of_the_larger_address_counts(struct kunit *test)
{
	u8 request[RDM_CM];
	struct socket *ours, *theirs;
	struct rdm_peer low, high;
	struct vt_end end = {};

	rdm_open_with(test, &end, &low, RDM_LOW);
	rdm_peer_new(test, &end, &high, RDM_HIGH);
	/* The endpoint's, if the peer's is smaller */
	rdm_post(test, &end, low.addr, 1);
	ours = rdm_asked(test, &low, request);
	theirs = rdm_ask(test, &end, &low, 1, RDM_PID);
	rdm_expect_cm(test, theirs, 6, NULL);
	peer_hung_up(test, theirs);
	rdm_respond(test, ours, request, 0x81, RDM_PID);
	rdm_expect_sent(test, &end, ours, 1);
	/* The peer's, if that is larger */
	rdm_post(test, &end, high.addr, 2);
	ours = rdm_asked(test, &high, NULL);
	theirs = rdm_dial(test, &end, &high, 1, RDM_PID);
	rdm_expect_sent(test, &end, theirs, 2);
	peer_hung_up(test, ours);
}

/* It may have a connection that it has not seen to end, or be about to connect itself */
static void a_peer_that_refuses_is_asked_again(struct kunit *test)
{
	/* Of a context that is not there, which nobody has asked for */
	static const u8 none[12] = { [11] = 1 };
	u8 buf[PEER_CM + sizeof(none)];
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;
	int i;

	rdm_open_with(test, &end, &peer, RDM_HIGH);
	rdm_post(test, &end, peer.addr, 1);
	for (i = 0; i < 3; i++) {
		sock = rdm_asked(test, &peer, NULL);
		peer_send(test, sock, buf, peer_cm(buf, 6, none, i ? sizeof(none) : 0));
		peer_close(test, sock);
	}
	vt_none(test, end.tx);
	sock = rdm_accept(test, &peer, 0x81, RDM_PID);
	rdm_expect_sent(test, &end, sock, 1);
}

#define ATTEMPTS	100	/* more than have place in DIAL_S, with pauses between them */

static void a_peer_that_refuses_for_good_is_given_up(struct kunit *test)
{
	unsigned long since = jiffies;
	struct rdm_peer peer;
	struct vt_end end = {};
	struct fi_cq_tagged_entry entry;
	u8 buf[PEER_CM];
	struct socket *sock;
	int i;

	rdm_open_with(test, &end, &peer, RDM_HIGH);
	rdm_post(test, &end, peer.addr, 1);
	for (i = 0; i < ATTEMPTS && fi_cq_read(end.tx->cq, &entry, 1) == -EAGAIN; i++) {
		sock = rdm_asked(test, &peer, NULL);
		peer_send(test, sock, buf, peer_cm(buf, 6, NULL, 0));
		peer_hung_up(test, sock);
		msleep(20);
	}
	KUNIT_ASSERT_LT(test, i, ATTEMPTS);
	vt_failed_with(test, end.tx, vt_ctx(1), ECONNREFUSED);
	KUNIT_EXPECT_GE(test, jiffies - since, DIAL_S * HZ);
}

static void a_peer_that_hangs_up_is_asked_again(struct kunit *test)
{
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;

	rdm_open_with(test, &end, &peer, RDM_HIGH);
	rdm_post(test, &end, peer.addr, 1);
	peer_close(test, rdm_asked(test, &peer, NULL));
	sock = rdm_accept(test, &peer, 0x81, RDM_PID);
	rdm_expect_sent(test, &end, sock, 1);
	/* The attempts at the next connection have a time of their own */
	rdm_begin_read(test, &end, &peer, sock, vt_ctx(2));
	rdm_post_fenced(test, &end, peer.addr, 3);
	msleep((DIAL_S + 1) * MSEC_PER_SEC);
	peer_close(test, sock);
	vt_failed_with(test, end.tx, vt_ctx(2), ECONNRESET);
	peer_close(test, rdm_asked(test, &peer, NULL));
	sock = rdm_accept(test, &peer, 0x81, RDM_PID);
	rdm_expect_sent(test, &end, sock, 3);
}

/**
 * struct poster - A receive whose callback posts to another peer
 * @done: its callback
 * @ep: the endpoint
 * @to: the peer
 * @ret: what the post has returned
 */
struct poster {
	struct fi_done	done;
	struct fid_ep	*ep;
	fi_addr_t	to;
	ssize_t		ret;
};

static void poster_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct poster *poster = container_of(done, struct poster, done);

	poster->ret = fi_inject(poster->ep, &poster->to, sizeof(poster->to), poster->to);
}

/* The worker of a connection makes none with others */
static void a_callback_posts_to_a_peer_without_a_connection(struct kunit *test)
{
	static const struct vt_kind kind = {
		.wait_obj = FI_WAIT_DONE, .comp_ctx = FI_COMP_SOFTIRQ,
	};
	struct poster *poster = vt_buf(test, sizeof(*poster));
	u8 *in = vt_buf(test, LEN), got[PEER_BASE + sizeof(poster->to)];
	struct rdm_peer peer, other;
	struct fi_cq_attr attr = {};
	struct vt_end end = {};

	end.rx = vt_cq_new(test, vt_of(test)->domain, &attr, &kind);
	rdm_open_with(test, &end, &peer, RDM_LOW);
	rdm_peer_new(test, &end, &other, RDM_HIGH);
	*poster = (struct poster) { { poster_done }, end.ep, other.addr, 1 };
	KUNIT_ASSERT_EQ(test, fi_recv(end.ep, in, LEN, NULL, FI_ADDR_UNSPEC, &poster->done), 0);
	peer_send_msg(test, rdm_dial(test, &end, &peer, 1, RDM_PID), LEN, 1);
	peer_recv(test, rdm_accept(test, &other, 0x81, RDM_PID), got, sizeof(got));
	KUNIT_EXPECT_MEMEQ(test, got + PEER_BASE, &other.addr, sizeof(other.addr));
	KUNIT_EXPECT_EQ(test, poster->ret, 0);
}

/**
 * struct received - A receive whose callback says that it has been called
 * @done: its callback
 * @called: it has been
 */
struct received {
	struct fi_done		done;
	struct completion	called;
};

static void received_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	complete(&container_of(done, struct received, done)->called);
}

/* The worker of a queue receives what comes, and has a reference to the connection meanwhile */
static void an_endpoint_closes_behind_what_its_queue_has_received(struct kunit *test)
{
	static const struct vt_kind kind = {
		.wait_obj = FI_WAIT_DONE, .comp_ctx = FI_COMP_WORKQUEUE,
	};
	struct vt_end end = { .may_sleep = 1 };
	u8 *in = vt_buf(test, LEN);
	struct fi_cq_attr attr = {};
	struct received *got = vt_buf(test, sizeof(*got));
	struct rdm_peer peer;
	struct socket *sock;
	int i;

	got->done.done = received_done;
	init_completion(&got->called);
	end.rx = vt_cq_new(test, vt_of(test)->domain, &attr, &kind);
	rdm_open_with(test, &end, &peer, RDM_LOW);
	sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, fi_recv(end.ep, in, LEN, NULL, FI_ADDR_UNSPEC, &got->done),
				0);
		peer_send_msg(test, sock, LEN, i);
		KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&got->called,
								  msecs_to_jiffies(VT_PATIENCE_MS)),
				0);
		KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, i));
	}
	vt_close(test, &end.ep->fid);
}

/* A connection may need memory, which a call does not wait for */
static void a_call_that_sends_by_itself_has_the_worker_dial(struct kunit *test)
{
	struct vt_end end = { .may_sleep = 1 };
	struct rdm_peer peer;

	rdm_open_with(test, &end, &peer, RDM_HIGH);
	rdm_post(test, &end, peer.addr, 1);
	rdm_expect_sent(test, &end, rdm_accept(test, &peer, 0x81, RDM_PID), 1);
}

/* What is not the response to a request, nor a refusal */
static void a_response_that_is_none_ends_what_is_posted(struct kunit *test)
{
	static const struct {
		u8	type;
		size_t	len;
		u8	pid;
	} rows[] = {
		{ 0, RDM_CM, 1 },
		{ 2, RDM_CM, 1 },
		{ 1, RDM_CM - 1, 1 },
		{ 1, RDM_CM, 0 },
	};
	u8 buf[PEER_CM + RDM_CM], data[RDM_CM] = { 0x81 };
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;
	int i;

	violations_begin(test);
	rdm_open_with(test, &end, &peer, RDM_HIGH);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rdm_post(test, &end, peer.addr, i);
		sock = rdm_asked(test, &peer, NULL);
		data[4] = rows[i].pid;
		peer_send(test, sock, buf, peer_cm(buf, rows[i].type, data, rows[i].len));
		peer_hung_up(test, sock);
		vt_failed_with(test, end.tx, vt_ctx(i), EPROTO);
		expect_violations(test, i + 1, KTCP_BAD_RESPONSE);
	}
}

static void nobody_there_is_an_error_at_once(struct kunit *test)
{
	struct rdm_peer peer;
	struct vt_end end = {};
	unsigned long since;
	int i;

	rdm_open_with(test, &end, &peer, RDM_HIGH);
	peer_close(test, peer.listener);
	since = jiffies;
	for (i = 0; i < 3; i++)
		rdm_post(test, &end, peer.addr, i);
	for (i = 0; i < 3; i++)
		vt_failed_with(test, end.tx, vt_ctx(i), ECONNREFUSED);
	KUNIT_EXPECT_LE(test, jiffies - since, 5 * HZ);
	vt_none(test, end.tx);
}

/* Of a message that has not been sent nothing is lost */
static void a_peer_that_has_left_is_connected_to_anew(struct kunit *test)
{
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;

	rdm_open_with(test, &end, &peer, RDM_LOW);
	sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
	expect_heard(test, &end, sock, 1);
	peer_leave(test, sock);
	rdm_post(test, &end, peer.addr, 2);
	sock = rdm_accept(test, &peer, 0x81, RDM_PID + 1);
	rdm_expect_sent(test, &end, sock, 2);
}

static void what_was_sent_ends_with_its_connection_once(struct kunit *test)
{
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;

	rdm_open_with(test, &end, &peer, RDM_LOW);
	sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
	rdm_begin_read(test, &end, &peer, sock, vt_ctx(1));
	peer_close(test, sock);
	vt_failed_with(test, end.tx, vt_ctx(1), ECONNRESET);
	rdm_post(test, &end, peer.addr, 2);
	sock = rdm_accept(test, &peer, 0x81, RDM_PID);
	rdm_expect_sent(test, &end, sock, 2);
	vt_none(test, end.tx);
}

#define PEER_S	5
#define SLACK_S	3	/* other guests share the processors */

static void a_peer_that_dies_is_noticed_and_dialled_again(struct kunit *test)
{
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;
	unsigned long since;

	rdm_param(test, "peer_timeout", __stringify(PEER_S));
	rdm_open_with(test, &end, &peer, RDM_LOW);
	sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
	rdm_begin_read(test, &end, &peer, sock, vt_ctx(1));
	since = jiffies;
	peer_dies(test, sock);
	vt_failed_with(test, end.tx, vt_ctx(1), ETIMEDOUT);
	KUNIT_EXPECT_LE(test, jiffies - since, (PEER_S + SLACK_S) * HZ);
	vt_none(test, end.tx);
	rdm_post(test, &end, peer.addr, 2);
	sock = rdm_accept(test, &peer, 0x81, RDM_PID);
	rdm_expect_sent(test, &end, sock, 2);
}

/* One that says nothing holds up nobody else, and is given up */
static void a_peer_that_does_not_answer_is_given_up(struct kunit *test)
{
	struct rdm_peer mute, peer;
	struct vt_end end = {};
	struct socket *sock;
	unsigned long since;

	rdm_open_with(test, &end, &mute, RDM_HIGH);
	rdm_peer_new(test, &end, &peer, RDM_LOW);
	since = jiffies;
	rdm_post(test, &end, mute.addr, 1);
	rdm_asked(test, &mute, NULL);
	sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
	rdm_post(test, &end, peer.addr, 2);
	rdm_expect_sent(test, &end, sock, 2);
	vt_failed_with(test, end.tx, vt_ctx(1), ETIMEDOUT);
	KUNIT_EXPECT_LE(test, jiffies - since, (10 + SLACK_S) * HZ);
	vt_none(test, end.tx);
}

#define NOWHERE	"198.51.100.7"

/* A route that says so, and none: "throw" ends the search of the table */
static const struct no_route {
	const char	*name;
	const char	*add;
	const char	*del;
	int		err;
} no_routes[] = {
	{ "unreachable", "ip route add unreachable " NOWHERE, "ip route del unreachable " NOWHERE,
	  EHOSTUNREACH },
	{ "none", "ip route add throw " NOWHERE, "ip route del throw " NOWHERE, ENETUNREACH },
};

KUNIT_ARRAY_PARAM_DESC(no_route, no_routes, name);

static void shell(void *command)
{
	vt_shell(command);
}

static void a_peer_without_a_route_is_an_error_at_once(struct kunit *test)
{
	const struct no_route *row = test->param_value;
	struct rdm_peer peer = {};
	struct vt_end end = {};

	KUNIT_ASSERT_EQ(test, vt_shell(row->add), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, shell, (void *)row->del), 0);
	rdm_open(test, &end);
	KUNIT_ASSERT_EQ(test, fi_av_insertsvc(end.av, NOWHERE, 4711, &peer.addr, 0, NULL), 1);
	rdm_post(test, &end, peer.addr, 1);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.tx).err, row->err);
}

#define PORTS	"/proc/sys/net/ipv4/ip_local_port_range"
#define SAVED	"/tmp/kofi_ports"

/* The only port has a connection from the endpoint's host to the peer already */
static void a_peer_is_given_up_while_no_port_is_free(struct kunit *test)
{
	struct sockaddr_storage name;
	struct rdm_peer peer = {};
	struct vt_end end = {};
	struct vt_comp comp;
	unsigned long since;

	rdm_open_with(test, &end, &peer, RDM_HIGH);
	name = rdm_name(test, end.ep);
	KUNIT_ASSERT_EQ(test, vt_shell("cat " PORTS " >" SAVED), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, shell, "cat " SAVED " >" PORTS), 0);
	KUNIT_ASSERT_EQ(test, vt_shell("echo 40000 40000 >" PORTS), 0);
	peer_connect_from(test, ntohl(((struct sockaddr_in *)&name)->sin_addr.s_addr), &peer.name);
	since = jiffies;
	rdm_post(test, &end, peer.addr, 1);
	while (!vt_wait(end.tx, &comp) && time_before(jiffies, since + (10 + SLACK_S) * HZ))
		;
	KUNIT_EXPECT_EQ(test, comp.err, EADDRNOTAVAIL);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
}

/* It says so in its request.  What has begun ends with its connection, and the rest thereafter */
static void a_peer_that_takes_no_connections_is_not_dialled(struct kunit *test)
{
	u8 data[RDM_CM] = { 0, 1 }, buf[PEER_CM + RDM_CM], *out = vt_buf(test, LONG);
	const __be32 pid = cpu_to_be32(RDM_PID);
	struct sockaddr_storage to;
	struct rdm_peer peer = {};
	struct vt_end end = {};
	int posted = 0, refused = 0;
	struct vt_comp comp;
	struct socket *sock;

	rdm_open_with(test, &end, &peer, RDM_LOW);
	memcpy(data + 2, &((struct sockaddr_in *)&peer.name)->sin_port, 2);
	memcpy(data + 4, &pid, sizeof(pid));
	to = rdm_name(test, end.ep);
	sock = peer_connect_from(test, RDM_LOW, &to);
	peer_send(test, sock, buf, peer_cm(buf, 0, data, sizeof(data)));
	peer_recv(test, sock, buf, sizeof(buf));
	KUNIT_EXPECT_EQ(test, buf[PEER_CM + 1], 1);
	while (!fi_send(end.ep, out, LONG, NULL, peer.addr, vt_ctx(posted)))
		posted++;
	peer_recv(test, sock, buf, PEER_BASE);
	peer_close(test, sock);
	for (; posted; posted--) {
		KUNIT_ASSERT_EQ(test, vt_wait(end.tx, &comp), 1);
		KUNIT_EXPECT_TRUE(test, !comp.err || comp.err == ECONNRESET ||
				  comp.err == FI_EFIREWALLADDR);
		refused += comp.err == FI_EFIREWALLADDR;
	}
	KUNIT_EXPECT_GT(test, refused, 0);
}

static void what_waits_for_a_peer_ends_with_the_endpoint(struct kunit *test)
{
	struct sockaddr_storage name;
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;
	int i;

	rdm_open_with(test, &end, &peer, RDM_HIGH);
	for (i = 0; i < 4; i++)
		rdm_post(test, &end, peer.addr, i);
	rdm_asked(test, &peer, NULL);
	KUNIT_ASSERT_EQ(test, fi_ep_drain(end.ep, -1), 0);
	for (i = 0; i < 4; i++)
		vt_failed_with(test, end.tx, vt_ctx(i), ECANCELED);
	vt_none(test, end.tx);
	KUNIT_EXPECT_EQ(test, fi_inject(end.ep, NULL, 0, peer.addr), -ESHUTDOWN);
	/* It listens no more */
	name = rdm_name(test, end.ep);
	KUNIT_ASSERT_EQ(test, sock_create_kern(peer_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock),
			0);
	KUNIT_EXPECT_EQ(test, kernel_connect(sock, (void *)&name, sizeof(struct sockaddr_in), 0),
			-ECONNREFUSED);
	sock_release(sock);
}

static void an_endpoint_needs_an_address_of_its_own(struct kunit *test)
{
	struct fi_info *info = fi_dupinfo(vt_of(test)->info);
	struct sockaddr_in *sin;
	struct fid_ep *ep;

	KUNIT_ASSERT_NOT_NULL(test, info);
	vt_free_later(test, info);
	sin = info->src_addr;
	sin->sin_addr.s_addr = 0;
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL), -EADDRNOTAVAIL);
	/* Not one of this machine */
	sin->sin_addr.s_addr = htonl(0xc0000201);
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL), -EADDRNOTAVAIL);
	kfree(info->src_addr);
	info->src_addr = NULL;
	info->src_addrlen = 0;
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL), -EADDRNOTAVAIL);
}

static void an_endpoint_has_room_for_an_operation_each_way(struct kunit *test)
{
	struct fi_info *info = fi_dupinfo(vt_of(test)->info);
	struct fid_ep *ep;

	KUNIT_ASSERT_NOT_NULL(test, info);
	vt_free_later(test, info);
	vt_refusals_begin(test);
	info->tx_attr->size = 0;
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL), -EINVAL);
	vt_refused(test, "endpoint", -EINVAL, "info->tx_attr->size is 0");
	info->tx_attr->size = 1;
	info->rx_attr->size = 0;
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL), -EINVAL);
	vt_refused(test, "endpoint", -EINVAL, "info->rx_attr->size 0");
}

static struct kunit_case rdm_cases[] = {
	KUNIT_CASE(an_endpoint_asks_as_libfabric_asks),
	KUNIT_CASE_PARAM(a_response_says_the_version_and_repeats_the_port, version_gen_params),
	KUNIT_CASE_PARAM(a_request_of_something_else_is_refused, stranger_gen_params),
	KUNIT_CASE(an_incarnation_has_one_connection),
	KUNIT_CASE(another_incarnation_is_another_peer),
	KUNIT_CASE_SLOW(many_incarnations_come_one_after_the_other),
	KUNIT_CASE_SLOW(random_streams_harm_nobody_else),
	KUNIT_CASE(of_two_requests_that_of_the_larger_address_counts),
	KUNIT_CASE(a_peer_that_refuses_is_asked_again),
	KUNIT_CASE_SLOW(a_peer_that_refuses_for_good_is_given_up),
	KUNIT_CASE_SLOW(a_peer_that_hangs_up_is_asked_again),
	KUNIT_CASE(a_callback_posts_to_a_peer_without_a_connection),
	KUNIT_CASE(an_endpoint_closes_behind_what_its_queue_has_received),
	KUNIT_CASE(a_call_that_sends_by_itself_has_the_worker_dial),
	KUNIT_CASE(a_response_that_is_none_ends_what_is_posted),
	KUNIT_CASE(nobody_there_is_an_error_at_once),
	KUNIT_CASE(a_peer_that_has_left_is_connected_to_anew),
	KUNIT_CASE(what_was_sent_ends_with_its_connection_once),
	KUNIT_CASE_SLOW(a_peer_that_dies_is_noticed_and_dialled_again),
	KUNIT_CASE_SLOW(a_peer_that_does_not_answer_is_given_up),
	KUNIT_CASE_PARAM(a_peer_without_a_route_is_an_error_at_once, no_route_gen_params),
	KUNIT_CASE_SLOW(a_peer_is_given_up_while_no_port_is_free),
	KUNIT_CASE(a_peer_that_takes_no_connections_is_not_dialled),
	KUNIT_CASE(what_waits_for_a_peer_ends_with_the_endpoint),
	KUNIT_CASE(an_endpoint_needs_an_address_of_its_own),
	KUNIT_CASE(an_endpoint_has_room_for_an_operation_each_way),
	{}
};

static struct kunit_suite rdm_suite = {
	.name		= "kofi_tcp_rdm",
	.init		= bed_init_rdm,
	.exit		= vt_exit,
	.test_cases	= rdm_cases,
};

kunit_test_suite(rdm_suite);
