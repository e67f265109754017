// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What strangers can take of an endpoint without connections, and for how long: receives, places
 * for messages without a receive, connections, and its own address.  A good peer is served
 * meanwhile.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <rdma/fi_tagged.h>
#include "rdm.h"

#define LEN		16
#define SHORT_S		5	/* the least message_timeout */
#define RTS_S		12	/* rts_timeout */
#define SLACK_S		3	/* other guests share the processors */
#define RECEIVES	4
#define HOLD		100	/* bytes of a message that never ends */
#define PEER_KEPT	64	/* messages of a connection that are kept */
#define ALL_KEPT	512	/* of all */
#define BIG		SZ_64K	/* the longest message that is kept */
#define BIG_KEPT	16	/* of a connection */
#define PEER_RTS	255	/* RTS messages of a connection */
#define HOST_RTS	2048	/* of one address, if there is no other one */
#define HOST_BYTES	SZ_8M	/* that are kept of one address, if there is no other one */
#define AT_ONCE		(HZ / 4)	/* less than a look at an idle connection may take */
#define CONNECTIONS	4
#define MANY		65536
#define HOSTS		12
#define HOST		0x7f000101	/* 127.0.1.1, the first of them */
#define OWN		0x7f000002	/* the endpoint's address */

static void post_recv(struct kunit *test, struct vt_end *end, u64 tag, unsigned long nr)
{
	KUNIT_ASSERT_EQ(test, fi_trecv(end->ep, vt_buf(test, HOLD), HOLD, NULL, FI_ADDR_UNSPEC,
				       tag, 0, vt_ctx(nr)), 0);
}

/* What a connection sends arrives, behind a message that nobody receives */
static void expect_served(struct kunit *test, struct vt_end *end, struct socket *sock)
{
	peer_send_tagged(test, sock, 0, 1001, 0, 0);
	post_recv(test, end, 1002, 1002);
	peer_send_tagged(test, sock, 0, 1002, 0, 0);
	vt_done(test, end->rx, vt_ctx(1002));
}

static void expect_all_failed(struct kunit *test, struct vt_end *end, int count,
			      unsigned long since, int seconds)
{
	while (count--)
		KUNIT_EXPECT_EQ(test, vt_failed(test, end->rx).err, ETIMEDOUT);
	KUNIT_EXPECT_GE(test, jiffies - since, seconds * HZ);
	KUNIT_EXPECT_LE(test, jiffies - since, (seconds + SLACK_S) * HZ);
}

/* Each of them has a receive, and sends the rest of its message never */
static void messages_that_never_end_do_not_keep_receives(struct kunit *test)
{
	struct socket *socks[RECEIVES];
	struct rdm_peer peer;
	struct vt_end end = {};
	u8 msg[PEER_BASE + 8 + 1] = {};
	unsigned long since;
	int i;

	rdm_param(test, "message_timeout", __stringify(SHORT_S));
	rdm_open(test, &end);
	since = jiffies;
	for (i = 0; i < RECEIVES; i++) {
		post_recv(test, &end, 1, 1);
		rdm_peer_new(test, &end, &peer, RDM_LOW);
		socks[i] = rdm_dial(test, &end, &peer, 1, RDM_PID);
		peer_send(test, socks[i], msg, peer_tagged(msg, 0, NULL, 1, HOLD) + 1);
	}
	expect_all_failed(test, &end, RECEIVES, since, SHORT_S);
	for (i = 0; i < RECEIVES; i++)
		peer_hung_up(test, socks[i]);
	rdm_peer_new(test, &end, &peer, RDM_HIGH);
	expect_served(test, &end, rdm_dial(test, &end, &peer, 1, RDM_PID));
}

/* Receives take the RTS messages of a peer, and their payload is asked for */
static struct socket *rts_for_all(struct kunit *test, struct vt_end *end, struct rdm_peer *peer)
{
	u8 msg[PEER_BASE + 16];
	struct socket *sock;
	int i;

	rdm_param(test, "message_timeout", __stringify(SHORT_S));
	rdm_param(test, "rts_timeout", __stringify(RTS_S));
	rdm_open_with(test, end, peer, RDM_LOW);
	sock = rdm_dial(test, end, peer, 1, RDM_PID);
	for (i = 0; i < RECEIVES; i++) {
		post_recv(test, end, 1, 1);
		peer_send(test, sock, msg, peer_rts(msg, 0, NULL, 1, HOLD, i + 1));
		peer_expect_op(test, sock, 6, i + 1, 0);
	}
	return sock;
}

static void payloads_that_never_come_do_not_keep_receives(struct kunit *test)
{
	unsigned long since = jiffies;
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;

	sock = rts_for_all(test, &end, &peer);
	/* What else it sends makes no difference */
	peer_send_tagged(test, sock, 0, 7, 0, 0);
	expect_all_failed(test, &end, RECEIVES, since, SHORT_S);
	peer_hung_up(test, sock);
}

/* What has come by the connection since then makes no difference */
static void a_payload_that_has_come_is_not_awaited(struct kunit *test)
{
	u8 msg[PEER_BASE + HOLD] = {};
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;
	int i;

	sock = rts_for_all(test, &end, &peer);
	for (i = 0; i < RECEIVES; i++) {
		peer_hdr(msg, 7, 0, NULL, NULL, 0, HOLD);
		msg[4] = i + 1;
		peer_send(test, sock, msg, sizeof(msg));
		vt_done(test, end.rx, vt_ctx(1));
	}
	for (i = 0; i < 3; i++) {
		msleep(SHORT_S * MSEC_PER_SEC / 2);
		post_recv(test, &end, 1, 1);
		peer_send_tagged(test, sock, 0, 1, 0, 0);
		vt_done(test, end.rx, vt_ctx(1));
	}
}

/* Nobody wants the message, and it is too long to be kept: what is behind it is not read */
static void a_message_that_waits_does_not_keep_receives_for_good(struct kunit *test)
{
	struct rdm_peer peer;
	struct vt_end end = {};
	unsigned long since;
	struct socket *sock;
	u8 msg[PEER_BASE];

	sock = rts_for_all(test, &end, &peer);
	since = jiffies;
	peer_send(test, sock, msg, peer_hdr(msg, 0, 0, NULL, NULL, 0, SZ_1M));
	expect_all_failed(test, &end, RECEIVES, since, RTS_S);
	peer_hung_up(test, sock);
}

/* Sends as many messages that nobody receives from a host as @count, by several connections */
static void fill_from(struct kunit *test, struct vt_end *end, u32 host, int count,
		      struct socket **socks)
{
	struct rdm_peer peer;
	int i;

	for (i = 0; i < count; i++) {
		if (!(i % PEER_KEPT)) {
			rdm_peer_new(test, end, &peer, host);
			*socks = rdm_dial(test, end, &peer, 1, RDM_PID);
			socks++;
		}
		peer_send_tagged(test, socks[-1], 0, 1, 0, 0);
	}
}

/* They have come, and are kept or wait in their sockets: the endpoint has nothing else to do */
static void wait_filled(void)
{
	msleep(200);
}

/* Sends RTS messages with a tag, and numbers from @first on, all at once */
static void send_rts(struct kunit *test, struct socket *sock, int first, int count, u64 tag)
{
	u8 *buf = vt_buf(test, PEER_RTS * (PEER_BASE + 16));
	size_t len = 0;

	for (; count; count--)
		len += peer_rts(buf + len, 0, NULL, tag, HOLD, first++);
	peer_send(test, sock, buf, len);
}

/*
 * Of an address that has its part of them.  One receive makes room, and another one takes the first
 * that waits outside, so the second has the room
 */
static void an_rts_that_waits_outside_finds_room(struct kunit *test)
{
	const int full = HOST_RTS / PEER_RTS;
	struct rdm_peer *peers = vt_buf(test, (full + 2) * sizeof(*peers));
	struct vt_end end = {};
	struct vt_comp comp;
	struct socket *sock;
	unsigned long begin;
	int i;

	rdm_open(test, &end);
	for (i = 0; i < full + 2; i++) {
		rdm_peer_new(test, &end, &peers[i], RDM_LOW);
		sock = rdm_dial(test, &end, &peers[i], 1, RDM_PID);
		send_rts(test, sock, 1, i < full ? PEER_RTS : i == full ? HOST_RTS % PEER_RTS : 0,
			 1);
		if (i < full)
			continue;
		wait_filled();
		send_rts(test, sock, PEER_RTS, 1, i);
		post_recv(test, &end, 1000 + i, 1000 + i);
		peer_send_tagged(test, sock, 0, 1000 + i, 0, 0);
		wait_filled();
	}
	vt_none(test, end.rx);
	begin = jiffies;
	post_recv(test, &end, 1, 1);
	post_recv(test, &end, full, full);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(end.rx, &comp), 1);
		KUNIT_EXPECT_EQ(test, comp.err, 0);
	}
	KUNIT_EXPECT_LT(test, jiffies - begin, AT_ONCE);
}

/* As many as the endpoint has places, and the host is gone then */
static void a_host_does_not_fill_an_endpoint_for_good(struct kunit *test)
{
	struct socket *socks[ALL_KEPT / PEER_KEPT];
	struct rdm_peer peer;
	struct vt_end end = {};
	int i;

	rdm_open(test, &end);
	fill_from(test, &end, RDM_LOW, ALL_KEPT, socks);
	wait_filled();
	for (i = 0; i < ARRAY_SIZE(socks); i++)
		peer_close(test, socks[i]);
	rdm_peer_new(test, &end, &peer, RDM_HIGH);
	expect_served(test, &end, rdm_dial(test, &end, &peer, 1, RDM_PID));
}

/* With enough addresses they leave nothing.  Once they have gone their messages make room */
static void hosts_that_have_gone_make_room(struct kunit *test)
{
	struct socket *socks[2 * ALL_KEPT / PEER_KEPT + HOSTS] = {}, **at = socks;
	int left = ALL_KEPT, count, i;
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;
	unsigned long since;

	rdm_param(test, "message_timeout", __stringify(SHORT_S));
	rdm_open(test, &end);
	/* The oldest is behind one that was received from its socket */
	fill_from(test, &end, HOST, PEER_KEPT, at);
	peer_send_tagged(test, *at, 0, 2, 0, 0);
	wait_filled();
	for (i = 0; i <= PEER_KEPT; i++) {
		post_recv(test, &end, i ? 1 : 2, i);
		vt_done(test, end.rx, vt_ctx(i));
	}
	peer_send_tagged(test, *at++, 0, 1, 0, 0);
	left--;
	wait_filled();
	for (i = 0; i < HOSTS && left; i++, left -= count) {
		count = i ? DIV_ROUND_UP(left, 2) : left / 2;
		fill_from(test, &end, HOST + i, count, at);
		at += DIV_ROUND_UP(count, PEER_KEPT);
		wait_filled();
	}
	KUNIT_ASSERT_EQ(test, left, 0);
	rdm_peer_new(test, &end, &peer, RDM_HIGH);
	sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
	peer_send_tagged(test, sock, 0, 1001, 0, 0);
	post_recv(test, &end, 1002, 1002);
	peer_send_tagged(test, sock, 0, 1002, 0, 0);
	vt_none(test, end.rx);
	since = jiffies;
	while (at > socks)
		peer_close(test, *--at);
	vt_done(test, end.rx, vt_ctx(1002));
	KUNIT_EXPECT_GE(test, jiffies - since, (SHORT_S - 1) * HZ);
	KUNIT_EXPECT_LE(test, jiffies - since, (SHORT_S + SLACK_S) * HZ);
}

/* Until then it holds up what is behind it */
static void a_message_that_waits_outside_is_kept_when_there_is_room(struct kunit *test)
{
	struct rdm_peer peer;
	struct vt_end end = {};
	unsigned long begin;
	struct socket *sock;
	u64 tag;

	rdm_open_with(test, &end, &peer, RDM_LOW);
	sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
	for (tag = 1; tag <= PEER_KEPT + 1; tag++)
		peer_send_tagged(test, sock, 0, tag, 0, 0);
	post_recv(test, &end, 1002, 1002);
	peer_send_tagged(test, sock, 0, 1002, 0, 0);
	wait_filled();
	vt_none(test, end.rx);
	begin = jiffies;
	post_recv(test, &end, 1, 1);
	vt_done(test, end.rx, vt_ctx(1));
	vt_done(test, end.rx, vt_ctx(1002));
	KUNIT_EXPECT_LT(test, jiffies - begin, AT_ONCE);
	/* And it is where it belongs */
	for (tag = 2; tag <= PEER_KEPT + 1; tag++) {
		post_recv(test, &end, tag, tag);
		vt_done(test, end.rx, vt_ctx(tag));
	}
}

/* What happens when there is a place for two messages */
enum place {
	PLACE_KEPT,	/* both are kept */
	PLACE_TAKEN,	/* a receive takes the first one, which has the second one look */
	PLACE_FAILS,	/* there is no memory for the first one */
};

/*
 * The place of one message is enough for two that wait outside, each by a connection of its own,
 * and what is behind them comes
 */
static void expect_two_kept(struct kunit *test, enum place place)
{
	static const size_t lens[2] = { 8000, 4000 };
	u8 *in = vt_buf(test, 2 * BIG);
	const int full = HOST_BYTES / BIG / BIG_KEPT;
	struct rdm_peer *peers = vt_buf(test, (full + 2) * sizeof(*peers));
	struct vt_end end = {};
	struct vt_comp comp;
	struct socket *sock;
	unsigned long begin;
	int i, n;

	rdm_open(test, &end);
	for (i = 0; i < full + 2; i++) {
		rdm_peer_new(test, &end, &peers[i], RDM_LOW);
		sock = rdm_dial(test, &end, &peers[i], 1, RDM_PID);
		for (n = 0; i < full && n < BIG_KEPT; n++)
			peer_send_tagged(test, sock, 0, 1, BIG, 0);
		if (i >= full) {
			peer_send_tagged(test, sock, 0, i, lens[i - full], 0);
			post_recv(test, &end, 1000 + i, 1);
			peer_send_tagged(test, sock, 0, 1000 + i, 0, 0);
		}
		if (i >= full - 1)
			wait_filled();
	}
	vt_none(test, end.rx);
	if (place == PLACE_FAILS)
		rdm_fail(test, "kmalloc-8k", -1, false);
	begin = jiffies;
	KUNIT_ASSERT_EQ(test, fi_trecv(end.ep, in, BIG, NULL, FI_ADDR_UNSPEC, 1, 0, vt_ctx(1)), 0);
	if (place == PLACE_TAKEN)
		KUNIT_ASSERT_EQ(test, fi_trecv(end.ep, in + BIG, BIG, NULL, FI_ADDR_UNSPEC, full,
					       0, vt_ctx(1)), 0);
	/* That of the place, those behind the two, and the one that is taken */
	for (n = 0; n < 3 + (place == PLACE_TAKEN) - (place == PLACE_FAILS); n++) {
		KUNIT_ASSERT_EQ(test, vt_wait(end.rx, &comp), 1);
		KUNIT_EXPECT_EQ(test, comp.err, 0);
	}
	KUNIT_EXPECT_LT(test, jiffies - begin, AT_ONCE);
	if (place != PLACE_FAILS)
		return;
	rdm_fail_nothing();
	vt_done(test, end.rx, vt_ctx(1));
}

static void a_place_may_be_enough_for_two(struct kunit *test)
{
	expect_two_kept(test, PLACE_KEPT);
}

static void a_message_without_memory_keeps_no_shorter_one_outside(struct kunit *test)
{
	expect_two_kept(test, PLACE_FAILS);
}

static void a_message_that_needs_its_place_no_more_leaves_it(struct kunit *test)
{
	expect_two_kept(test, PLACE_TAKEN);
}

/* More than a connection may have, and the peer hangs up */
static void messages_in_the_socket_outlive_their_connection(struct kunit *test)
{
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;
	u64 tag;
	int i;

	rdm_open_with(test, &end, &peer, RDM_LOW);
	/* When the first connection has gone, the second waits for room */
	for (i = 0; i < 2; i++) {
		sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
		for (tag = 1; tag <= 2 * PEER_KEPT; tag++)
			peer_send_tagged(test, sock, 0, tag, 0, 0);
		peer_close(test, sock);
		wait_filled();
		for (tag = 1; tag <= 2 * PEER_KEPT; tag++) {
			post_recv(test, &end, tag, tag);
			vt_done(test, end.rx, vt_ctx(tag));
		}
		wait_filled();
	}
}

static void expect_refused(struct kunit *test, struct vt_end *end, const struct rdm_peer *peer)
{
	rdm_expect_cm(test, rdm_ask(test, end, peer, 1, RDM_PID), 6, NULL);
}

/* Of one that is not used the connection with the case ends, and makes room */
static void expect_accepted(struct kunit *test, struct vt_end *end, const struct rdm_peer *peer)
{
	unsigned long until = jiffies + msecs_to_jiffies(VT_PATIENCE_MS);
	u8 got[PEER_CM + RDM_CM];

	do {
		peer_recv(test, rdm_ask(test, end, peer, 1, RDM_PID), got, sizeof(got));
		schedule_timeout_uninterruptible(1);
	} while (got[1] != 1 && time_before(jiffies, until));
	KUNIT_EXPECT_EQ(test, got[1], 1);
}

static void connections_from_an_address_are_so_many(struct kunit *test)
{
	struct socket *socks[CONNECTIONS];
	struct rdm_peer peer, other;
	struct vt_end end = {};
	int i;

	rdm_param(test, "address_max", __stringify(CONNECTIONS));
	rdm_open(test, &end);
	for (i = 0; i < CONNECTIONS; i++) {
		rdm_peer_new(test, &end, &peer, RDM_LOW);
		socks[i] = rdm_dial(test, &end, &peer, 1, RDM_PID);
	}
	/* One that comes in the place of another is not one more */
	socks[CONNECTIONS - 1] = rdm_dial(test, &end, &peer, 1, RDM_PID + 1);
	rdm_peer_new(test, &end, &peer, RDM_LOW);
	expect_refused(test, &end, &peer);
	rdm_peer_new(test, &end, &other, RDM_HIGH);
	expect_served(test, &end, rdm_dial(test, &end, &other, 1, RDM_PID));
	peer_close(test, socks[0]);
	expect_accepted(test, &end, &peer);
}

static void connections_of_an_endpoint_are_so_many(struct kunit *test)
{
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;
	int i;

	rdm_param(test, "accepted_max", __stringify(CONNECTIONS));
	rdm_open(test, &end);
	for (i = 0; i < CONNECTIONS; i++) {
		rdm_peer_new(test, &end, &peer, HOST + i);
		sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
	}
	rdm_peer_new(test, &end, &peer, HOST + i);
	expect_refused(test, &end, &peer);
	/* The endpoint dials as many as its client sends to */
	KUNIT_ASSERT_EQ(test, fi_inject(end.ep, NULL, 0, peer.addr), 0);
	peer_accept(test, peer.listener);
	peer_close(test, sock);
	rdm_peer_new(test, &end, &peer, HOST + i + 1);
	expect_accepted(test, &end, &peer);
}

/* Those that are there stay, and none comes until there are fewer than the limit */
static void a_limit_that_is_lowered_ends_nothing(struct kunit *test)
{
	static const char *const limits[] = { "accepted_max", "address_max" };
	struct rdm_peer peers[CONNECTIONS], late;
	struct socket *socks[CONNECTIONS];
	struct vt_end end;
	int i, k;

	for (k = 0; k < ARRAY_SIZE(limits); k++) {
		end = (struct vt_end) {};
		rdm_open(test, &end);
		for (i = 0; i < CONNECTIONS; i++) {
			rdm_peer_new(test, &end, &peers[i], RDM_LOW);
			socks[i] = rdm_dial(test, &end, &peers[i], 1, RDM_PID);
		}
		rdm_param(test, limits[k], "1");
		rdm_peer_new(test, &end, &late, RDM_LOW);
		expect_refused(test, &end, &late);
		for (i = 0; i < CONNECTIONS; i++)
			expect_served(test, &end, socks[i]);
		for (i = 0; i < CONNECTIONS - 1; i++)
			peer_close(test, socks[i]);
		expect_refused(test, &end, &late);
		expect_served(test, &end, socks[CONNECTIONS - 1]);
		peer_close(test, socks[CONNECTIONS - 1]);
		expect_accepted(test, &end, &late);
		vt_end_close(test, &end);
		rdm_param(test, limits[k], __stringify(MANY));
	}
}

/* A process of this machine claims the endpoint's port */
static void nobody_else_is_the_endpoint_itself(struct kunit *test)
{
	struct rdm_peer own = { .host = OWN };
	u64 *in = vt_buf(test, sizeof(*in)), out = 5;
	struct vt_end end = {};

	rdm_open(test, &end);
	own.name = rdm_name(test, end.ep);
	KUNIT_ASSERT_EQ(test, fi_av_insert(end.av, &own.name, 1, &own.addr, 0, NULL), 1);
	expect_refused(test, &end, &own);
	KUNIT_ASSERT_EQ(test, fi_recv(end.ep, in, sizeof(*in), NULL, FI_ADDR_UNSPEC, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_inject(end.ep, &out, sizeof(out), own.addr), 0);
	vt_done(test, end.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, *in, out);
	expect_refused(test, &end, &own);
}

static struct kunit_case rdm_bounds_cases[] = {
	KUNIT_CASE_SLOW(messages_that_never_end_do_not_keep_receives),
	KUNIT_CASE_SLOW(payloads_that_never_come_do_not_keep_receives),
	KUNIT_CASE_SLOW(a_message_that_waits_does_not_keep_receives_for_good),
	KUNIT_CASE(a_payload_that_has_come_is_not_awaited),
	KUNIT_CASE(an_rts_that_waits_outside_finds_room),
	KUNIT_CASE(a_host_does_not_fill_an_endpoint_for_good),
	KUNIT_CASE_SLOW(hosts_that_have_gone_make_room),
	KUNIT_CASE(a_message_that_waits_outside_is_kept_when_there_is_room),
	KUNIT_CASE(a_place_may_be_enough_for_two),
	KUNIT_CASE(a_message_without_memory_keeps_no_shorter_one_outside),
	KUNIT_CASE(a_message_that_needs_its_place_no_more_leaves_it),
	KUNIT_CASE(messages_in_the_socket_outlive_their_connection),
	KUNIT_CASE(connections_from_an_address_are_so_many),
	KUNIT_CASE(connections_of_an_endpoint_are_so_many),
	KUNIT_CASE(a_limit_that_is_lowered_ends_nothing),
	KUNIT_CASE(nobody_else_is_the_endpoint_itself),
	{}
};

static struct kunit_suite rdm_bounds_suite = {
	.name		= "kofi_tcp_rdm_bounds",
	.init		= bed_init_rdm,
	.exit		= vt_exit,
	.test_cases	= rdm_bounds_cases,
};

kunit_test_suite(rdm_bounds_suite);
