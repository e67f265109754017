// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages that come to an endpoint without connections before their receive, how they are
 * acknowledged, and rendezvous.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <rdma/fi_tagged.h>
#include "../../providers/tcp/rdm/rdm.h"
#include "../../providers/tcp/trace.h"
#include "rdm.h"

#define LEN	16
#define LONG	(SZ_64K + 1)	/* a message of this length is sent by rendezvous */
#define KEPT	64		/* messages of a peer that are kept */
#define RTS_S	2		/* rts_timeout of some cases */
#define PEER_S	5		/* peer_timeout of one of them */
#define SLACK_S	3		/* other guests share the processors */
#define MANY	SZ_4M		/* more than a connection has room for by which nothing is read */
#define BOTH	(PEER_REFUSES | PEER_DECLINES)

/* With a peer that understands this, and an rts_timeout of RTS_S */
static void bed_open_kofi(struct kunit *test, struct rdm_bed *bed, u8 understands)
{
	rdm_param(test, "rts_timeout", __stringify(RTS_S));
	rdm_bed_open(test, bed, 1, understands);
}

static void put(struct kunit *test, struct socket *sock, u16 flags, u64 tag, u8 seed)
{
	peer_send_tagged(test, sock, flags, tag, LEN, seed);
}

static u8 *take(struct kunit *test, struct rdm_bed *bed, u64 tag, size_t len)
{
	u8 *in = vt_buf(test, len);

	KUNIT_ASSERT_EQ(test, fi_trecv(bed->end.ep, in, len, NULL, FI_ADDR_UNSPEC, tag, 0,
				       vt_ctx(tag)), 0);
	return in;
}

static void taken(struct kunit *test, struct rdm_bed *bed, const u8 *in, u64 tag, size_t len,
		  u8 seed)
{
	struct vt_comp comp = vt_done(test, bed->end.rx, vt_ctx(tag));

	KUNIT_EXPECT_EQ(test, comp.tag, tag);
	KUNIT_EXPECT_EQ(test, comp.len, len);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, len, seed));
}

/* What put() has sent, or will have when it comes */
static void take_now(struct kunit *test, struct rdm_bed *bed, u64 tag, u8 seed)
{
	taken(test, bed, take(test, bed, tag, LEN), tag, LEN, seed);
}

static void expect_acks(struct kunit *test, struct socket *sock, int count)
{
	while (count--)
		peer_expect_ack(test, sock);
}

/* Everything before has been dealt with when the response is there; it has no acknowledgment */
static void expect_no_ack(struct kunit *test, struct rdm_bed *bed)
{
	struct fid_mr *mr = peer_region(test, vt_buf(test, 1), 1, FI_REMOTE_READ, 1);
	u8 byte;

	peer_send_read(test, bed->sock, 1, 1);
	peer_expect_op(test, bed->sock, 3, 0, 1);
	peer_recv(test, bed->sock, &byte, 1);
	vt_close(test, &mr->fid);
}

static void a_message_does_not_hold_up_those_with_other_tags(struct kunit *test)
{
	struct rdm_bed bed = {};

	rdm_bed_open(test, &bed, 1, 0);
	put(test, bed.sock, 0, 1, 1);
	put(test, bed.sock, 0, 2, 2);
	take_now(test, &bed, 2, 2);
	take_now(test, &bed, 1, 1);
}

/*
 * That is what its sender has asked for, and it cannot tell one from another.  Delivery has them
 * sent, and not something that happens some time.
 */
static void acknowledgments_wait_for_delivery_in_their_order(struct kunit *test)
{
	unsigned long begin = jiffies;
	struct rdm_bed bed = {};
	u8 *in;

	rdm_bed_open(test, &bed, 1, 0);
	put(test, bed.sock, 4, 1, 1);
	put(test, bed.sock, 4, 2, 2);
	put(test, bed.sock, 4, 3, 3);
	take_now(test, &bed, 2, 2);
	expect_no_ack(test, &bed);
	take_now(test, &bed, 1, 1);
	expect_acks(test, bed.sock, 2);
	expect_no_ack(test, &bed);
	take_now(test, &bed, 3, 3);
	expect_acks(test, bed.sock, 1);
	/* One whose receive is there waits behind one that is early */
	put(test, bed.sock, 4, 4, 4);
	in = take(test, &bed, 5, LEN);
	put(test, bed.sock, 4, 5, 5);
	taken(test, &bed, in, 5, LEN, 5);
	expect_no_ack(test, &bed);
	take_now(test, &bed, 4, 4);
	expect_acks(test, bed.sock, 2);
	KUNIT_EXPECT_LT(test, jiffies - begin, HZ);
}

/* What comes behind them stays in the socket, but the first of that can be received */
static void so_many_messages_of_a_peer_are_kept(struct kunit *test)
{
	struct rdm_bed bed = {};
	u64 tag;
	u8 *in;

	rdm_bed_open(test, &bed, 1, 0);
	for (tag = 1; tag <= KEPT + 2; tag++)
		put(test, bed.sock, 0, tag, tag);
	in = take(test, &bed, KEPT + 2, LEN);
	vt_none(test, bed.end.rx);
	take_now(test, &bed, KEPT + 1, KEPT + 1);
	taken(test, &bed, in, KEPT + 2, LEN, KEPT + 2);
	/* The one that was received from there is no longer what the next one is */
	put(test, bed.sock, 0, KEPT + 3, KEPT + 3);
	vt_none(test, bed.end.rx);
	take_now(test, &bed, KEPT + 3, KEPT + 3);
	for (tag = KEPT; tag; tag--)
		take_now(test, &bed, tag, tag);
	vt_none(test, bed.end.rx);
}

/* And another peer is heard */
static void a_peer_that_floods_stops_nobody_else(struct kunit *test)
{
	struct rdm_bed bed = {};
	struct rdm_peer other;
	struct socket *sock;
	u64 tag;

	rdm_bed_open(test, &bed, 1, 0);
	for (tag = 1; tag <= KEPT + 8; tag++)
		put(test, bed.sock, 0, tag, tag);
	rdm_peer_new(test, &bed.end, &other, RDM_HIGH);
	sock = rdm_dial(test, &bed.end, &other, 1, RDM_PID);
	put(test, sock, 0, 1001, 9);
	put(test, sock, 0, 1002, 10);
	take_now(test, &bed, 1002, 10);
	take_now(test, &bed, 1001, 9);
}

/* Its sender has been told that it was sent */
static void a_message_that_is_kept_outlives_its_connection(struct kunit *test)
{
	struct rdm_bed bed = {};

	rdm_bed_open(test, &bed, 1, 0);
	put(test, bed.sock, 0, 1, 1);
	put(test, bed.sock, 0, 2, 2);
	take_now(test, &bed, 2, 2);
	peer_close(test, bed.sock);
	take_now(test, &bed, 1, 1);
}

static void a_receive_ends_with_a_connection_that_ends_in_its_message(struct kunit *test)
{
	u8 msg[PEER_BASE + 8 + LEN] = {};
	struct rdm_bed bed = {};
	struct vt_comp comp;
	size_t len;

	rdm_bed_open(test, &bed, 1, 0);
	take(test, &bed, 1, LEN);
	take(test, &bed, 2, LEN);
	len = peer_tagged(msg, 0, NULL, 1, LEN);
	peer_send(test, bed.sock, msg, len + LEN / 2);
	peer_close(test, bed.sock);
	vt_failed_with(test, bed.end.rx, vt_ctx(1), ECONNRESET);
	/* The next one waits for another message */
	vt_none(test, bed.end.rx);

	/* A receive that takes a message of which a part has come */
	bed.sock = rdm_dial(test, &bed.end, &bed.peer, 1, RDM_PID);
	len = peer_tagged(msg, 0, NULL, 3, LEN);
	peer_send(test, bed.sock, msg, len + LEN / 2);
	msleep(20);
	take(test, &bed, 3, LEN);
	peer_close(test, bed.sock);
	comp = vt_failed_with(test, bed.end.rx, vt_ctx(3), ECONNRESET);
	KUNIT_EXPECT_EQ(test, comp.len, 0);
	KUNIT_EXPECT_EQ(test, comp.prov_errno, 0);
}

/* The rest of it goes there, too */
static void a_receive_takes_a_message_of_which_a_part_has_come(struct kunit *test)
{
	u8 msg[PEER_BASE + 8 + LEN], *in;
	struct rdm_bed bed = {};
	size_t len;

	rdm_bed_open(test, &bed, 1, 0);
	len = peer_tagged(msg, 4, NULL, 1, LEN);
	vt_fill(msg + len, LEN, 5);
	peer_send(test, bed.sock, msg, len + LEN / 2);
	msleep(20);
	in = take(test, &bed, 1, LEN);
	vt_none(test, bed.end.rx);
	peer_send(test, bed.sock, msg + len + LEN / 2, LEN / 2);
	taken(test, &bed, in, 1, LEN, 5);
	expect_acks(test, bed.sock, 1);
}

/* Rendezvous: we receive */

static void send_rts(struct kunit *test, struct rdm_bed *bed, u16 flags, u64 tag, u64 len,
		     u8 number)
{
	u8 buf[PEER_BASE + 16];

	peer_send(test, bed->sock, buf, peer_rts(buf, flags, NULL, tag, len, number));
}

static void expect_cts(struct kunit *test, struct rdm_bed *bed, u8 number)
{
	peer_expect_op(test, bed->sock, 6, number, 0);
}

static void give(struct kunit *test, struct rdm_bed *bed, u16 flags, u8 number, size_t len, u8 seed)
{
	u8 *msg = vt_buf(test, PEER_BASE + len);

	peer_hdr(msg, 7, flags, NULL, NULL, 0, len);
	msg[4] = number;
	vt_fill(msg + PEER_BASE, len, seed);
	peer_send(test, bed->sock, msg, PEER_BASE + len);
}

static void an_rts_finds_its_receive(struct kunit *test)
{
	struct rdm_bed bed = {};
	u8 *in;

	rdm_bed_open(test, &bed, 1, 0);
	in = take(test, &bed, 1, LONG);
	send_rts(test, &bed, 4, 1, LONG, 200);
	expect_cts(test, &bed, 200);
	expect_no_ack(test, &bed);
	give(test, &bed, 4, 200, LONG, 5);
	taken(test, &bed, in, 1, LONG, 5);
	expect_acks(test, bed.sock, 1);
}

#define BIG		8000	/* of kmalloc-8k, as a connection's numbers */

static void a_first_rts_waits_for_memory(struct kunit *test)
{
	struct rdm_bed bed = {};
	u8 *in;

	rdm_bed_open(test, &bed, 1, 0);
	in = take(test, &bed, 1, LONG);
	rdm_fail(test, "kmalloc-8k", -1, false);
	send_rts(test, &bed, 0, 1, LONG, 200);
	expect_cts(test, &bed, 200);
	rdm_fail_nothing();
	give(test, &bed, 0, 200, LONG, 5);
	taken(test, &bed, in, 1, LONG, 5);
}

static void a_first_rts_without_memory_ends_its_connection(struct kunit *test)
{
	struct rdm_bed bed = {};

	rdm_bed_open(test, &bed, 1, 0);
	rdm_fail(test, "kmalloc-8k", 1, true);
	send_rts(test, &bed, 0, 1, LONG, 200);
	peer_hung_up(test, bed.sock);
}

/* There is no memory for what the next message needs */
static void fail_unexp(struct kunit *test)
{
	size_t size = kmalloc_size_roundup(sizeof(struct ktcp_unexp));
	char cache[24];

	if (size < SZ_1K)
		snprintf(cache, sizeof(cache), "kmalloc-%zu", size);
	else
		snprintf(cache, sizeof(cache), "kmalloc-%zuk", size / SZ_1K);
	rdm_fail(test, cache, -1, false);
}

/* Nothing else happens meanwhile that would have it kept */
static void what_has_no_memory_is_kept_when_there_is_some(struct kunit *test)
{
	u8 msg[2 * (PEER_BASE + 16) + LEN], *in;
	struct rdm_bed bed = {};
	size_t len;

	rdm_bed_open(test, &bed, 1, 0);
	fail_unexp(test);
	len = peer_rts(msg, 0, NULL, 1, LONG, 1);
	len += peer_tagged(msg + len, 0, NULL, 2, LEN);
	vt_fill(msg + len, LEN, 2);
	peer_send(test, bed.sock, msg, len + LEN);
	msleep(20);
	rdm_fail_nothing();
	take_now(test, &bed, 2, 2);
	in = take(test, &bed, 1, LONG);
	expect_cts(test, &bed, 1);
	give(test, &bed, 0, 1, LONG, 6);
	taken(test, &bed, in, 1, LONG, 6);
	fail_unexp(test);
	put(test, bed.sock, 0, 3, 3);
	put(test, bed.sock, 0, 4, 4);
	msleep(20);
	rdm_fail_nothing();
	take_now(test, &bed, 4, 4);
	take_now(test, &bed, 3, 3);
}

/*
 * There is room for both, so none has another one look, which would have it look in turn.  What is
 * behind them waits, too, and they would soon have used up all failures.
 */
static void messages_that_wait_for_memory_look_seldom(struct kunit *test)
{
	struct rdm_peer other, third;
	struct rdm_bed bed = {};
	struct socket *sock;
	unsigned long until;
	u8 *in[2];
	int i;

	rdm_bed_open(test, &bed, 1, 0);
	rdm_peer_new(test, &bed.end, &other, RDM_HIGH);
	sock = rdm_dial(test, &bed.end, &other, 1, RDM_PID);
	rdm_peer_new(test, &bed.end, &third, RDM_HIGH);
	rdm_dial(test, &bed.end, &third, 1, RDM_PID);
	for (i = 0; i < 2; i++)
		in[i] = take(test, &bed, i + 2, LEN);
	rdm_fail(test, "kmalloc-8k", 20, false);
	peer_send_tagged(test, bed.sock, 0, 1, BIG, 0);
	peer_send_tagged(test, sock, 0, 1, BIG, 0);
	put(test, bed.sock, 0, 2, 2);
	put(test, sock, 0, 3, 3);
	/* The worker of the endpoint runs for another peer meanwhile */
	until = jiffies + HZ / 2;
	while (time_before(jiffies, until)) {
		KUNIT_ASSERT_EQ(test, fi_inject(bed.end.ep, NULL, 0, third.addr), 0);
		fsleep(10 * USEC_PER_MSEC);
	}
	vt_none(test, bed.end.rx);
	rdm_fail_nothing();
	for (i = 0; i < 2; i++) {
		struct vt_comp comp;

		KUNIT_ASSERT_EQ(test, vt_wait(bed.end.rx, &comp), 1);
		KUNIT_EXPECT_EQ(test, comp.err, 0);
	}
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_TRUE(test, vt_filled(in[i], LEN, i + 2));
}

/* Two of them, which are taken the other way round; the number can be used again */
static void an_rts_waits_for_its_receive(struct kunit *test)
{
	struct rdm_bed bed = {};
	u8 *one, *two;

	rdm_bed_open(test, &bed, 1, 0);
	send_rts(test, &bed, 0, 1, LONG, 1);
	send_rts(test, &bed, 0, 2, 100, 255);
	put(test, bed.sock, 0, 3, 3);
	take_now(test, &bed, 3, 3);
	two = take(test, &bed, 2, 100);
	expect_cts(test, &bed, 255);
	one = take(test, &bed, 1, LONG);
	expect_cts(test, &bed, 1);
	give(test, &bed, 0, 1, LONG, 6);
	taken(test, &bed, one, 1, LONG, 6);
	send_rts(test, &bed, 0, 4, 8, 1);
	give(test, &bed, 0, 255, 100, 7);
	taken(test, &bed, two, 2, 100, 7);
	one = take(test, &bed, 4, 8);
	expect_cts(test, &bed, 1);
	give(test, &bed, 0, 1, 8, 8);
	taken(test, &bed, one, 4, 8, 8);
}

static void an_rts_that_nobody_wants_is_taken_and_dropped(struct kunit *test)
{
	const struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = 1,
					   .context = vt_ctx(9) };
	struct rdm_bed bed = {};

	rdm_bed_open(test, &bed, 1, 0);
	send_rts(test, &bed, 4, 1, LONG, 7);
	put(test, bed.sock, 0, 3, 3);
	take_now(test, &bed, 3, 3);
	KUNIT_ASSERT_EQ(test, fi_trecvmsg(bed.end.ep, &msg, FI_PEEK | FI_DISCARD), 0);
	vt_done(test, bed.end.rx, vt_ctx(9));
	expect_cts(test, &bed, 7);
	give(test, &bed, 4, 7, LONG, 1);
	expect_acks(test, bed.sock, 1);
	put(test, bed.sock, 0, 2, 2);
	take_now(test, &bed, 2, 2);
}

static void a_payload_that_is_too_long_is_cut(struct kunit *test)
{
	struct rdm_bed bed = {};
	u8 *in;

	rdm_bed_open(test, &bed, 1, 0);
	in = take(test, &bed, 1, 100);
	send_rts(test, &bed, 0, 1, LONG, 3);
	expect_cts(test, &bed, 3);
	give(test, &bed, 0, 3, LONG, 4);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed.end.rx).err, FI_ETRUNC);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, 100, 4));
	put(test, bed.sock, 0, 2, 2);
	take_now(test, &bed, 2, 2);
}

/* Receives of one that waits for its payload, and of none */
static void rts_messages_end_with_their_connection(struct kunit *test)
{
	struct rdm_bed bed = {};
	struct vt_comp comp;

	rdm_bed_open(test, &bed, 1, 0);
	take(test, &bed, 1, LONG);
	send_rts(test, &bed, 0, 1, LONG, 1);
	send_rts(test, &bed, 0, 2, LONG, 2);
	expect_cts(test, &bed, 1);
	peer_close(test, bed.sock);
	comp = vt_failed_with(test, bed.end.rx, vt_ctx(1), ECONNRESET);
	KUNIT_EXPECT_EQ(test, comp.len, 0);
	KUNIT_EXPECT_EQ(test, comp.prov_errno, 0);
	/* The other is not there any more */
	take(test, &bed, 2, LONG);
	vt_none(test, bed.end.rx);
}

/* The number is free for another RTS then, and the receive for another message */
static void an_rts_that_no_receive_takes_is_refused(struct kunit *test)
{
	u8 want[PEER_BASE + 8];
	const u64 number = 1;
	unsigned long begin;
	struct rdm_bed bed = {};
	u8 *in;

	violations_begin(test);
	bed_open_kofi(test, &bed, BOTH);
	send_rts(test, &bed, 0, 1, LONG, number);
	send_rts(test, &bed, 0, 2, 100, 2);
	in = take(test, &bed, 2, 100);
	expect_cts(test, &bed, 2);
	give(test, &bed, 0, 2, 100, 3);
	taken(test, &bed, in, 2, 100, 3);
	begin = jiffies;
	peer_hdr(want, 8, 3, &number, NULL, 0, 0);
	want[4] = 3;
	peer_expect(test, bed.sock, want, sizeof(want));
	KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, begin + RTS_S * HZ / 2));
	in = take(test, &bed, 1, 8);
	vt_none(test, bed.end.rx);
	send_rts(test, &bed, 0, 1, 8, number);
	expect_cts(test, &bed, number);
	give(test, &bed, 0, number, 8, 4);
	taken(test, &bed, in, 1, 8, 4);
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

/*
 * A receive takes an RTS, the payload of which cannot be asked for as the peer takes nothing, and
 * the time of the RTS is over meanwhile
 */
static void an_rts_that_is_taken_ends_with_its_connection(struct kunit *test)
{
	u8 *out = vt_buf(test, MANY), hdr[PEER_BASE];
	struct rdm_bed bed = {};
	struct vt_comp comp;
	bool ended = false;
	int i;

	bed_open_kofi(test, &bed, BOTH);
	send_rts(test, &bed, 0, 1, LONG, 1);
	put(test, bed.sock, 0, 3, 3);
	take_now(test, &bed, 3, 3);
	KUNIT_ASSERT_EQ(test, fi_send(bed.end.ep, out, MANY, NULL, bed.peer.addr, vt_ctx(10)), 0);
	peer_recv(test, bed.sock, hdr, PEER_BASE);
	take(test, &bed, 1, LONG);
	msleep(2 * RTS_S * MSEC_PER_SEC);
	peer_close(test, bed.sock);
	/* One is the message that the peer has not taken */
	for (i = 0; i < 2; i++) {
		comp = vt_failed(test, bed.end.rx);
		KUNIT_EXPECT_EQ(test, comp.err, ECONNRESET);
		KUNIT_EXPECT_EQ(test, comp.prov_errno, comp.context == vt_ctx(1) ? 0 : ECONNRESET);
		KUNIT_EXPECT_EQ(test, comp.len, 0);
		ended |= comp.context == vt_ctx(1);
	}
	KUNIT_EXPECT_TRUE(test, ended);
}

static void an_rts_of_another_peer_waits_on(struct kunit *test)
{
	static const u8 rows[] = { 0, PEER_REFUSES, PEER_DECLINES };
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rdm_bed bed = {};
		u8 *in;

		bed_open_kofi(test, &bed, rows[i]);
		send_rts(test, &bed, 0, 1, 8, 1);
		msleep(2 * RTS_S * MSEC_PER_SEC);
		in = take(test, &bed, 1, 8);
		expect_cts(test, &bed, 1);
		give(test, &bed, 0, 1, 8, 4);
		taken(test, &bed, in, 1, 8, 4);
		vt_end_close(test, &bed.end);
	}
}

/* What is looked at while an RTS waits does not put off the look at its peer */
static void a_peer_that_dies_behind_its_rts_is_noticed(struct kunit *test)
{
	u8 *mem = vt_buf(test, LEN);
	struct rdm_bed bed = {};
	unsigned long since;

	rdm_param(test, "peer_timeout", __stringify(PEER_S));
	rdm_bed_open(test, &bed, 1, BOTH);
	send_rts(test, &bed, 0, 1, LONG, 1);
	/* Nothing is on its way any more */
	msleep(2 * MSEC_PER_SEC);
	peer_dies(test, bed.sock);
	since = jiffies;
	KUNIT_ASSERT_EQ(test, fi_read(bed.end.ep, mem, LEN, NULL, bed.peer.addr, 0, 1,
				      vt_ctx(2)), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed.end.tx).err, ETIMEDOUT);
	KUNIT_EXPECT_LE(test, jiffies - since, (PEER_S + SLACK_S) * HZ);
}

/* Rendezvous: we send */

static const u8 *post(struct kunit *test, struct rdm_bed *bed, size_t len, u64 flags)
{
	u8 *out = vt_buf(test, len);
	const struct kvec kvec = { out, len };
	const struct fi_msg_tagged msg = {
		.msg_iov	= &kvec,
		.iov_count	= 1,
		.addr		= bed->peer.addr,
		.tag		= 7,
		.context	= vt_ctx(1),
	};

	vt_fill(out, len, 3);
	KUNIT_ASSERT_EQ(test, fi_tsendmsg(bed->end.ep, &msg, flags | FI_COMPLETION), 0);
	return out;
}

/* Returns the number of the RTS */
static u8 expect_rts(struct kunit *test, struct rdm_bed *bed, u16 flags, size_t len)
{
	u8 got[PEER_BASE + 16], want[PEER_BASE + 16];

	peer_recv(test, bed->sock, got, sizeof(got));
	KUNIT_EXPECT_NE(test, got[4], 0);
	peer_rts(want, flags, NULL, 7, len, got[4]);
	got[7] = 0;
	KUNIT_EXPECT_MEMEQ(test, got, want, sizeof(want));
	return got[4];
}

static void send_cts(struct kunit *test, struct rdm_bed *bed, u8 number)
{
	u8 buf[PEER_BASE];

	peer_send(test, bed->sock, buf, peer_op(buf, 6, number, 0));
}

static void expect_given(struct kunit *test, struct rdm_bed *bed, u8 number, const u8 *out,
			 size_t len)
{
	u8 *got = vt_buf(test, PEER_BASE + len);

	peer_recv(test, bed->sock, got, PEER_BASE + len);
	KUNIT_EXPECT_EQ(test, got[1], 7);
	KUNIT_EXPECT_EQ(test, got[4], number);
	KUNIT_EXPECT_MEMEQ(test, got + PEER_BASE, out, len);
}

static void a_long_message_is_sent_by_rendezvous(struct kunit *test)
{
	struct rdm_bed bed = {};
	const u8 *out;
	u8 number;

	rdm_bed_open(test, &bed, 1, 0);
	out = post(test, &bed, LONG, 0);
	number = expect_rts(test, &bed, 0, LONG);
	vt_none(test, bed.end.tx);
	send_cts(test, &bed, number);
	expect_given(test, &bed, number, out, LONG);
	vt_done(test, bed.end.tx, vt_ctx(1));
}

static void refuse_rts(struct kunit *test, struct rdm_bed *bed, u64 number)
{
	u8 msg[PEER_BASE + 8];

	peer_hdr(msg, 8, 3, &number, NULL, 0, 0);
	msg[4] = 3;
	peer_send(test, bed->sock, msg, sizeof(msg));
}

static void a_refused_rts_is_an_error(struct kunit *test)
{
	struct rdm_bed bed = {};
	const u8 *out;
	u8 number;

	violations_begin(test);
	bed_open_kofi(test, &bed, BOTH);
	post(test, &bed, LONG, 0);
	number = expect_rts(test, &bed, 0, LONG);
	out = post(test, &bed, LONG, 0);
	KUNIT_EXPECT_NE(test, expect_rts(test, &bed, 0, LONG), number);
	refuse_rts(test, &bed, number);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed.end.tx).err, FI_ENOMSG);
	/* The other one goes on, and the number is used again */
	vt_none(test, bed.end.tx);
	send_cts(test, &bed, number + 1);
	expect_given(test, &bed, number + 1, out, LONG);
	vt_done(test, bed.end.tx, vt_ctx(1));
	post(test, &bed, LONG, 0);
	KUNIT_EXPECT_EQ(test, expect_rts(test, &bed, 0, LONG), number);
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

/* By a peer that has not said so, and of what was not announced, or was asked for */
static void a_foul_refusal_of_an_rts_ends_its_connection(struct kunit *test)
{
	static const struct {
		u8			understands;
		u8			add;
		bool			cts;
		enum ktcp_violation	reason;
	} rows[] = {
		{ 0, 0, false, KTCP_BAD_HEADER },
		{ PEER_REFUSES, 0, false, KTCP_BAD_HEADER },
		{ BOTH, 1, false, KTCP_BAD_RENDEZVOUS },
		{ BOTH, 0, true, KTCP_BAD_RENDEZVOUS },
	};
	int i;

	violations_begin(test);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rdm_bed bed = {};
		const u8 *out;
		u8 number;

		bed_open_kofi(test, &bed, rows[i].understands);
		out = post(test, &bed, LONG, 0);
		number = expect_rts(test, &bed, 0, LONG);
		if (rows[i].cts) {
			send_cts(test, &bed, number);
			expect_given(test, &bed, number, out, LONG);
		}
		refuse_rts(test, &bed, number + rows[i].add);
		peer_hung_up(test, bed.sock);
		if (!rows[i].cts)
			vt_failed(test, bed.end.tx);
		expect_violations(test, i + 1, rows[i].reason);
		vt_end_close(test, &bed.end);
	}
}

/* libfabric acknowledges what it has put aside */
static void a_message_that_is_to_be_delivered_is_sent_by_rendezvous(struct kunit *test)
{
	struct rdm_bed bed = {};
	u8 number;
	const u8 *out;

	rdm_bed_open(test, &bed, 1, 0);
	out = post(test, &bed, LEN, FI_DELIVERY_COMPLETE);
	number = expect_rts(test, &bed, 4, LEN);
	send_cts(test, &bed, number);
	expect_given(test, &bed, number, out, LEN);
	vt_none(test, bed.end.tx);
	peer_send_ack(test, bed.sock);
	vt_done(test, bed.end.tx, vt_ctx(1));
}

static void expect_sent_at_once(struct kunit *test, struct rdm_bed *bed, size_t len)
{
	const u8 *out = post(test, bed, len, 0);
	u8 want[PEER_BASE + 8], *got = vt_buf(test, len);

	peer_tagged(want, 0, NULL, 7, len);
	peer_expect(test, bed->sock, want, sizeof(want));
	peer_recv(test, bed->sock, got, len);
	KUNIT_EXPECT_MEMEQ(test, got, out, len);
	vt_done(test, bed->end.tx, vt_ctx(1));
}

static void short_messages_are_not_sent_by_rendezvous(struct kunit *test)
{
	struct rdm_bed bed = {};

	rdm_bed_open(test, &bed, 1, 0);
	expect_sent_at_once(test, &bed, 0);
	expect_sent_at_once(test, &bed, LONG - 1);
}

static void no_rts_is_sent_in_version_0(struct kunit *test)
{
	struct rdm_bed bed = {};

	rdm_bed_open(test, &bed, 0, 0);
	expect_sent_at_once(test, &bed, LONG);
}

/* 1.17 repeats the version of the request, and does not know rendezvous */
static void no_rts_is_sent_to_a_peer_that_repeats_the_version(struct kunit *test)
{
	u8 *got = vt_buf(test, PEER_BASE + 8 + LONG);
	struct rdm_bed bed = {};

	rdm_open_with(test, &bed.end, &bed.peer, RDM_LOW);
	post(test, &bed, LONG, 0);
	bed.sock = rdm_accept(test, &bed.peer, 1, RDM_PID);
	peer_recv(test, bed.sock, got, PEER_BASE + 8 + LONG);
	KUNIT_EXPECT_EQ(test, got[1], 1);
	vt_done(test, bed.end.tx, vt_ctx(1));
}

static void an_rts_is_sent_to_a_peer_that_has_checked_the_version(struct kunit *test)
{
	struct rdm_bed bed = {};

	rdm_open_with(test, &bed.end, &bed.peer, RDM_LOW);
	post(test, &bed, LONG, 0);
	bed.sock = rdm_accept(test, &bed.peer, 0x81, RDM_PID);
	expect_rts(test, &bed, 0, LONG);
}

/* The next ones wait until a payload has been sent */
static void as_many_rts_are_sent_as_there_are_numbers(struct kunit *test)
{
	DECLARE_BITMAP(seen, 256) = {};
	struct rdm_bed bed = {};
	u8 number = 0;
	int i;

	vt_of(test)->info->tx_attr->size = 300;
	rdm_bed_open(test, &bed, 1, 0);
	for (i = 0; i < 256; i++)
		post(test, &bed, 8, FI_DELIVERY_COMPLETE);
	for (i = 0; i < 255; i++) {
		number = expect_rts(test, &bed, 4, 8);
		KUNIT_EXPECT_FALSE(test, test_and_set_bit(number, seen));
	}
	/* Its CTS comes before the next RTS */
	expect_no_ack(test, &bed);
	send_cts(test, &bed, number);
	peer_recv(test, bed.sock, vt_buf(test, PEER_BASE + 8), PEER_BASE + 8);
	KUNIT_EXPECT_EQ(test, expect_rts(test, &bed, 4, 8), number);
}

/* What a peer may not do */

static const struct foul_case {
	const char	*name;
	u8		version;
	u8		rts;		/* number of an RTS that is sent first; 0: none */
	bool		take;		/* and that is taken */
	u8		op;
	u8		number;
	u64		len;
} foul_cases[] = {
	{ "RTS in version 0", 0, 0, false, 5, 1, 8 },
	{ "RTS without a number", 1, 0, false, 5, 0, 8 },
	{ "number of an RTS that waits", 1, 3, false, 5, 3, 8 },
	{ "number of an RTS that is taken", 1, 3, true, 5, 3, 8 },
	{ "CTS for nothing", 1, 0, false, 6, 1, 0 },
	{ "payload of nothing", 1, 0, false, 7, 1, 8 },
	{ "payload of another RTS", 1, 3, true, 7, 4, 8 },
	{ "payload that was not asked for", 1, 3, false, 7, 3, 8 },
	{ "payload of another length", 1, 3, true, 7, 3, 9 },
};

KUNIT_ARRAY_PARAM_DESC(foul, foul_cases, name);

static void a_foul_rendezvous_ends_its_connection(struct kunit *test)
{
	const struct foul_case *row = test->param_value;
	struct rdm_bed bed = {};

	violations_begin(test);
	rdm_bed_open(test, &bed, row->version, 0);
	if (row->take)
		take(test, &bed, 1, 8);
	if (row->rts)
		send_rts(test, &bed, 0, 1, 8, row->rts);
	if (row->take)
		expect_cts(test, &bed, row->rts);
	if (row->op == 5)
		send_rts(test, &bed, 0, 2, row->len, row->number);
	else if (row->op == 6)
		send_cts(test, &bed, row->number);
	else
		give(test, &bed, 0, row->number, row->len, 1);
	peer_hung_up(test, bed.sock);
	expect_violations(test, 1, KTCP_BAD_RENDEZVOUS);
	if (row->take)
		KUNIT_EXPECT_EQ(test, vt_failed(test, bed.end.rx).err, EPROTO);
	vt_none(test, bed.end.rx);
}

static struct kunit_case rdm_data_cases[] = {
	KUNIT_CASE(a_message_does_not_hold_up_those_with_other_tags),
	KUNIT_CASE(acknowledgments_wait_for_delivery_in_their_order),
	KUNIT_CASE(so_many_messages_of_a_peer_are_kept),
	KUNIT_CASE(a_peer_that_floods_stops_nobody_else),
	KUNIT_CASE(a_message_that_is_kept_outlives_its_connection),
	KUNIT_CASE(a_receive_ends_with_a_connection_that_ends_in_its_message),
	KUNIT_CASE(a_receive_takes_a_message_of_which_a_part_has_come),
	KUNIT_CASE(an_rts_finds_its_receive),
	KUNIT_CASE(a_first_rts_waits_for_memory),
	KUNIT_CASE(a_first_rts_without_memory_ends_its_connection),
	KUNIT_CASE(what_has_no_memory_is_kept_when_there_is_some),
	KUNIT_CASE(messages_that_wait_for_memory_look_seldom),
	KUNIT_CASE(an_rts_waits_for_its_receive),
	KUNIT_CASE(an_rts_that_nobody_wants_is_taken_and_dropped),
	KUNIT_CASE(a_payload_that_is_too_long_is_cut),
	KUNIT_CASE(rts_messages_end_with_their_connection),
	KUNIT_CASE(an_rts_that_no_receive_takes_is_refused),
	KUNIT_CASE(an_rts_that_is_taken_ends_with_its_connection),
	KUNIT_CASE(an_rts_of_another_peer_waits_on),
	KUNIT_CASE_SLOW(a_peer_that_dies_behind_its_rts_is_noticed),
	KUNIT_CASE(a_refused_rts_is_an_error),
	KUNIT_CASE(a_foul_refusal_of_an_rts_ends_its_connection),
	KUNIT_CASE(a_long_message_is_sent_by_rendezvous),
	KUNIT_CASE(a_message_that_is_to_be_delivered_is_sent_by_rendezvous),
	KUNIT_CASE(short_messages_are_not_sent_by_rendezvous),
	KUNIT_CASE(no_rts_is_sent_in_version_0),
	KUNIT_CASE(no_rts_is_sent_to_a_peer_that_repeats_the_version),
	KUNIT_CASE(an_rts_is_sent_to_a_peer_that_has_checked_the_version),
	KUNIT_CASE(as_many_rts_are_sent_as_there_are_numbers),
	KUNIT_CASE_PARAM(a_foul_rendezvous_ends_its_connection, foul_gen_params),
	{}
};

static struct kunit_suite rdm_data_suite = {
	.name		= "kofi_tcp_rdm_data",
	.init		= bed_init_rdm,
	.exit		= vt_exit,
	.test_cases	= rdm_data_cases,
};

kunit_test_suite(rdm_data_suite);
