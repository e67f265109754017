// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections that nobody uses: they close after a time, unless something crosses that, and
 * nothing is lost.
 */
#include <linux/delay.h>
#include <linux/stringify.h>
#include <rdma/fi_tagged.h>
#include "../../providers/tcp/trace.h"
#include "rdm.h"

#define LEN	8
#define IDLE_S	3	/* idle_timeout of a case that uses its connection meanwhile */

static void bed_open(struct kunit *test, struct rdm_bed *bed, bool leaves)
{
	rdm_bed_open(test, bed, 1, leaves ? PEER_LEAVES : 0);
}

/* The endpoint leaves after a second */
static void bed_open_idle(struct kunit *test, struct rdm_bed *bed, bool leaves)
{
	rdm_param(test, "idle_timeout", "1");
	bed_open(test, bed, leaves);
}

static void put(struct kunit *test, struct rdm_bed *bed, u64 number)
{
	u64 *in = vt_buf(test, LEN);
	u8 msg[PEER_BASE + LEN];

	KUNIT_ASSERT_EQ(test, fi_recv(bed->end.ep, in, LEN, NULL, FI_ADDR_UNSPEC, vt_ctx(1)), 0);
	peer_hdr(msg, 0, 0, NULL, NULL, 0, LEN);
	memcpy(msg + PEER_BASE, &number, LEN);
	peer_send(test, bed->sock, msg, sizeof(msg));
	vt_done(test, bed->end.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, *in, number);
}

static void post(struct kunit *test, struct rdm_bed *bed, u64 number)
{
	KUNIT_ASSERT_EQ(test, fi_inject(bed->end.ep, &number, LEN, bed->peer.addr), 0);
}

static void expect_put(struct kunit *test, struct socket *sock, u64 number)
{
	u8 msg[PEER_BASE + LEN];
	u64 got;

	peer_recv(test, sock, msg, sizeof(msg));
	KUNIT_ASSERT_EQ(test, msg[2], 0);
	memcpy(&got, msg + PEER_BASE, LEN);
	KUNIT_ASSERT_EQ(test, got, number);
}

/* The peer says that it has received so many messages, and would have the connection closed */
static void leave(struct kunit *test, struct rdm_bed *bed, u64 count)
{
	u8 msg[PEER_BASE + 8];

	peer_send(test, bed->sock, msg, peer_hdr(msg, 0, 0x21, &count, NULL, 0, 0));
}

static void expect_leave(struct kunit *test, struct rdm_bed *bed, u64 count)
{
	u8 want[PEER_BASE + 8];

	peer_hdr(want, 0, 0x21, &count, NULL, 0, 0);
	peer_expect(test, bed->sock, want, sizeof(want));
}

/* The endpoint dials, and sends this */
static void expect_anew(struct kunit *test, struct rdm_bed *bed, u64 number)
{
	expect_put(test, rdm_accept(test, &bed->peer, 0x81, RDM_PID), number);
}

static void an_idle_connection_closes_and_opens_again(struct kunit *test)
{
	struct rdm_bed bed = {};
	unsigned long since;

	rdm_param(test, "idle_timeout", __stringify(IDLE_S));
	bed_open(test, &bed, true);
	put(test, &bed, 1);
	post(test, &bed, 3);
	expect_put(test, bed.sock, 3);
	msleep(MSEC_PER_SEC);
	since = jiffies;
	put(test, &bed, 2);
	expect_leave(test, &bed, 2);
	KUNIT_EXPECT_GE(test, jiffies - since, IDLE_S * HZ);
	peer_close(test, bed.sock);
	post(test, &bed, 4);
	expect_anew(test, &bed, 4);
	vt_none(test, bed.end.tx);
}

static void what_is_posted_meanwhile_goes_by_the_next_connection(struct kunit *test)
{
	struct rdm_bed bed = {};
	u8 byte;

	bed_open_idle(test, &bed, true);
	expect_leave(test, &bed, 0);
	post(test, &bed, 1);
	KUNIT_ASSERT_GE(test, kernel_sock_shutdown(bed.sock, SHUT_WR), 0);
	expect_anew(test, &bed, 1);
	/* Nothing else has come by the old one */
	KUNIT_EXPECT_EQ(test, kernel_recvmsg(bed.sock, &(struct msghdr) {},
					     &(struct kvec) { &byte, 1 }, 1, 1, 0), 0);
}

/* The peer has not been told yet when it sends, so it does not close */
static void a_message_that_crosses_keeps_the_connection(struct kunit *test)
{
	struct rdm_bed bed = {};

	bed_open_idle(test, &bed, true);
	expect_leave(test, &bed, 0);
	post(test, &bed, 1);
	put(test, &bed, 2);
	expect_put(test, bed.sock, 1);
	expect_leave(test, &bed, 1);
	peer_close(test, bed.sock);
	post(test, &bed, 3);
	expect_anew(test, &bed, 3);
}

static void an_endpoint_closes_what_its_peer_leaves(struct kunit *test)
{
	struct rdm_bed bed = {};

	bed_open(test, &bed, true);
	post(test, &bed, 1);
	expect_put(test, bed.sock, 1);
	/* Its last message is on its way, as far as it knows */
	leave(test, &bed, 0);
	put(test, &bed, 2);
	leave(test, &bed, 1);
	peer_hung_up(test, bed.sock);
	vt_none(test, bed.end.rx);
	post(test, &bed, 3);
	expect_anew(test, &bed, 3);
}

/* Neither has sent anything since, so what waits does not keep the connection */
static void both_ends_may_leave_at_once(struct kunit *test)
{
	struct rdm_bed bed = {};

	bed_open_idle(test, &bed, true);
	expect_leave(test, &bed, 0);
	post(test, &bed, 1);
	leave(test, &bed, 0);
	peer_hung_up(test, bed.sock);
	expect_anew(test, &bed, 1);
}

static void an_operation_under_way_keeps_the_connection(struct kunit *test)
{
	u8 *mem = vt_buf(test, LEN), msg[PEER_BASE + PEER_RMA];
	struct rdm_bed bed = {};

	bed_open_idle(test, &bed, true);
	KUNIT_ASSERT_EQ(test, fi_read(bed.end.ep, mem, LEN, NULL, bed.peer.addr, 0, 1,
				      vt_ctx(1)), 0);
	peer_recv(test, bed.sock, msg, sizeof(msg));
	msleep(2500);
	peer_hdr(msg, 3, 0, NULL, NULL, 0, LEN);
	peer_send(test, bed.sock, msg, PEER_BASE + LEN);
	vt_done(test, bed.end.tx, vt_ctx(1));
	/* That is the first thing that comes */
	expect_leave(test, &bed, 1);
}

static void an_rts_that_waits_keeps_the_connection(struct kunit *test)
{
	u8 msg[PEER_BASE + 16], *in = vt_buf(test, LEN);
	struct rdm_bed bed = {};

	bed_open_idle(test, &bed, true);
	peer_send(test, bed.sock, msg, peer_rts(msg, 0, NULL, 1, LEN, 1));
	msleep(2500);
	KUNIT_ASSERT_EQ(test, fi_trecv(bed.end.ep, in, LEN, NULL, FI_ADDR_UNSPEC, 1, 0, vt_ctx(1)),
			0);
	/* The request for its payload is the first thing that comes */
	peer_expect_op(test, bed.sock, 6, 1, 0);
}

static void the_connection_with_one_that_is_not_kofi_stays(struct kunit *test)
{
	struct rdm_bed bed = {};

	bed_open_idle(test, &bed, false);
	put(test, &bed, 1);
	msleep(2500);
	post(test, &bed, 2);
	expect_put(test, bed.sock, 2);
}

/* It is looked at when the time is over, too */
static void a_connection_stays_when_the_time_is_taken_back(struct kunit *test)
{
	struct rdm_bed bed = {};

	/* Long enough for what comes before it is taken back */
	rdm_param(test, "idle_timeout", "3");
	bed_open(test, &bed, true);
	rdm_param(test, "idle_timeout", "0");
	msleep(4500);
	post(test, &bed, 1);
	expect_put(test, bed.sock, 1);
}

static const struct foul_case {
	const char	*name;
	bool		leaves;
	u16		flags;
	u64		count;
	size_t		len;
} foul_cases[] = {
	{ "by one that has not announced it", false, 0x21, 0, 0 },
	{ "of more than was sent", true, 0x21, 1, 0 },
	{ "without a number", true, 0x20, 0, 0 },
	{ "with a payload", true, 0x21, 0, 1 },
	{ "that wants an acknowledgment", true, 0x25, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(foul, foul_cases, name);

static void a_foul_leave_ends_its_connection(struct kunit *test)
{
	const struct foul_case *row = test->param_value;
	u8 msg[PEER_BASE + 8 + 1] = {};
	struct rdm_bed bed = {};
	size_t len;

	violations_begin(test);
	bed_open(test, &bed, row->leaves);
	len = peer_hdr(msg, 0, row->flags, row->flags & 1 ? &row->count : NULL, NULL, 0, row->len);
	peer_send(test, bed.sock, msg, len + row->len);
	peer_hung_up(test, bed.sock);
	expect_violations(test, 1, KTCP_BAD_HEADER);
}

#define ROUNDS	12

/* Two real ends, which send about when the other leaves */
static void two_ends_lose_nothing_when_they_leave(struct kunit *test)
{
	u64 *in = vt_buf(test, LEN), number;
	struct vt_pair pair = {};
	struct vt_end *from, *to;

	rdm_param(test, "idle_timeout", "1");
	vt_join(test, &pair, &vt_default_kind);
	for (number = 0; number < ROUNDS; number++) {
		from = number % 2 ? &pair.a : &pair.b;
		to = number % 2 ? &pair.b : &pair.a;
		KUNIT_ASSERT_EQ(test, fi_inject(from->ep, &number, LEN, 0), 0);
		KUNIT_ASSERT_EQ(test, fi_recv(to->ep, in, LEN, NULL, FI_ADDR_UNSPEC, vt_ctx(1)), 0);
		vt_done(test, to->rx, vt_ctx(1));
		KUNIT_EXPECT_EQ(test, *in, number);
		/* Before, at and after the end of its time */
		msleep(990 + 5 * number);
	}
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.tx);
}

static struct kunit_case rdm_idle_cases[] = {
	KUNIT_CASE_SLOW(an_idle_connection_closes_and_opens_again),
	KUNIT_CASE_SLOW(what_is_posted_meanwhile_goes_by_the_next_connection),
	KUNIT_CASE_SLOW(a_message_that_crosses_keeps_the_connection),
	KUNIT_CASE(an_endpoint_closes_what_its_peer_leaves),
	KUNIT_CASE_SLOW(both_ends_may_leave_at_once),
	KUNIT_CASE_SLOW(an_operation_under_way_keeps_the_connection),
	KUNIT_CASE_SLOW(an_rts_that_waits_keeps_the_connection),
	KUNIT_CASE_SLOW(the_connection_with_one_that_is_not_kofi_stays),
	KUNIT_CASE(a_connection_stays_when_the_time_is_taken_back),
	KUNIT_CASE_PARAM(a_foul_leave_ends_its_connection, foul_gen_params),
	KUNIT_CASE_SLOW(two_ends_lose_nothing_when_they_leave),
	{}
};

static struct kunit_suite rdm_idle_suite = {
	.name		= "kofi_tcp_rdm_idle",
	.init		= bed_init_rdm,
	.exit		= vt_exit,
	.test_cases	= rdm_idle_cases,
};

kunit_test_suite(rdm_idle_suite);
