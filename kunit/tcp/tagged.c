// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tagged messages of a peer, which only a shared receive context takes; and messages with a tag,
 * which take an untagged receive if completions have tags.
 */
#include <rdma/fi_tagged.h>
#include "tcp.h"

#define LEN	16

static const u64 cq_data = 0xfedcba9876543210ULL;

static const struct vt_kind tagged_kind = {
	.wait_obj	= FI_WAIT_UNSPEC,
	.comp_ctx	= FI_COMP_SOFTIRQ,
	.format		= FI_CQ_FORMAT_TAGGED,
};

/* A peer's connection with an endpoint that has receives of its own, or those of @end->srx */
static struct socket *join_own(struct kunit *test, struct vt_end *end)
{
	struct socket *sock = peer_ask(test);
	struct fi_info *info = vt_connreq(test, NULL);
	u8 buf[PEER_CM];

	if (end->srx)
		info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	vt_end_open(test, end, info, &tagged_kind);
	vt_accept(test, end, NULL, 0);
	peer_recv(test, sock, buf, PEER_CM);
	return sock;
}

/* With an endpoint that uses a shared receive context */
static struct socket *join(struct kunit *test, struct vt_end *end)
{
	struct fi_rx_attr attr = { .size = 8 };

	if (!end->srx) {
		KUNIT_ASSERT_EQ(test, fi_srx_context(vt_of(test)->domain, &attr, &end->srx, NULL),
				0);
		vt_adopt(test, &end->srx->fid);
	}
	return join_own(test, end);
}

/* A tagged message, or, with flag 0x80, a message with a tag */
static void put(struct kunit *test, struct socket *sock, u16 flags, u64 tag, u8 seed)
{
	u8 msg[PEER_BASE + 16 + LEN];
	size_t len = peer_tagged(msg, flags, flags & 1 ? &cq_data : NULL, tag, LEN);

	if (flags & 0x80)
		msg[1] = 0;
	vt_fill(msg + len, LEN, seed);
	peer_send(test, sock, msg, len + LEN);
}

static u8 *take(struct kunit *test, struct vt_end *end, u64 tag, unsigned long nr)
{
	u8 *in = vt_buf(test, LEN);

	KUNIT_ASSERT_EQ(test, fi_trecv(end->srx, in, LEN, NULL, 0, tag, 0, vt_ctx(nr)), 0);
	return in;
}

static void taken(struct kunit *test, struct vt_end *end, const u8 *in,
		  unsigned long nr, u64 tag, u64 flags, u8 seed)
{
	struct vt_comp comp = vt_done(test, end->rx, vt_ctx(nr));

	KUNIT_EXPECT_EQ(test, comp.tag, tag);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_RECV | flags);
	KUNIT_EXPECT_EQ(test, comp.len, LEN);
	KUNIT_EXPECT_EQ(test, comp.data, flags ? cq_data : 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, seed));
}

static void expect_ack(struct kunit *test, struct socket *sock)
{
	u8 want[PEER_BASE], got[PEER_BASE];

	peer_op(want, 0, 2, 0);
	peer_recv(test, sock, got, PEER_BASE);
	KUNIT_EXPECT_MEMEQ(test, got, want, PEER_BASE);
}

static void a_message_with_a_tag_takes_the_next_receive(struct kunit *test)
{
	u8 *one = vt_buf(test, LEN), *two = vt_buf(test, LEN), *three = vt_buf(test, LEN);
	struct vt_end end = {};
	struct socket *sock = join_own(test, &end);

	vt_recv(test, &end, one, LEN, vt_ctx(1));
	vt_recv(test, &end, two, LEN, vt_ctx(2));
	put(test, sock, 0x85, U64_MAX - 1, 7);
	taken(test, &end, one, 1, U64_MAX - 1, FI_REMOTE_CQ_DATA, 7);
	expect_ack(test, sock);
	peer_send_msg(test, sock, LEN, 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, end.rx, vt_ctx(2)).flags, FI_MSG | FI_RECV);
	put(test, sock, 0x80, 5, 8);
	vt_none(test, end.rx);
	vt_recv(test, &end, three, LEN, vt_ctx(3));
	taken(test, &end, three, 3, 5, 0, 8);
}

static void a_message_with_a_tag_that_is_too_long_is_cut(struct kunit *test)
{
	u8 *in = vt_buf(test, LEN);
	struct vt_end end = {};
	struct socket *sock = join_own(test, &end);
	struct vt_comp comp;

	vt_recv(test, &end, in, LEN - 3, vt_ctx(1));
	put(test, sock, 0x80, 5, 7);
	comp = vt_failed(test, end.rx);
	KUNIT_EXPECT_EQ(test, comp.err, FI_ETRUNC);
	KUNIT_EXPECT_EQ(test, comp.tag, 5);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN - 3, 7));
	KUNIT_EXPECT_EQ(test, in[LEN - 3], 0);
}

static void a_tagged_message_takes_the_receive_of_its_tag(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = join(test, &end);
	u8 *one, *two, *untagged = vt_buf(test, LEN);

	KUNIT_ASSERT_EQ(test, fi_recv(end.srx, untagged, LEN, NULL, 0, vt_ctx(3)), 0);
	one = take(test, &end, 1, 1);
	two = take(test, &end, U64_MAX - 1, 2);
	put(test, sock, 5, U64_MAX - 1, 7);
	taken(test, &end, two, 2, U64_MAX - 1, FI_REMOTE_CQ_DATA, 7);
	expect_ack(test, sock);
	put(test, sock, 0, 1, 8);
	taken(test, &end, one, 1, 1, 0, 8);
	vt_none(test, end.rx);
}

/* And what is behind it waits, too */
static void a_tagged_message_waits_for_the_receive_of_its_tag(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = join(test, &end);
	u8 *one, *two;

	two = take(test, &end, 2, 2);
	put(test, sock, 0, 1, 1);
	put(test, sock, 0, 2, 2);
	vt_none(test, end.rx);
	one = take(test, &end, 1, 1);
	taken(test, &end, one, 1, 1, 0, 1);
	taken(test, &end, two, 2, 2, 0, 2);
}

static void a_message_that_waits_holds_up_its_connection_alone(struct kunit *test)
{
	struct vt_end end = {}, other = {};
	struct socket *sock = join(test, &end), *sock2;
	u8 *one, *two;

	other.srx = end.srx;
	sock2 = join(test, &other);
	put(test, sock, 0, 1, 1);
	two = take(test, &end, 2, 2);
	put(test, sock2, 0, 2, 2);
	taken(test, &other, two, 2, 2, 0, 2);
	vt_none(test, end.rx);
	one = take(test, &end, 1, 1);
	taken(test, &end, one, 1, 1, 0, 1);
}

static void a_tagged_message_comes_however_it_is_split(struct kunit *test)
{
	u8 msg[PEER_BASE + 16 + LEN], *in;
	struct vt_end end = {};
	struct socket *sock = join(test, &end);
	size_t len, split;

	len = peer_tagged(msg, 1, &cq_data, 5, LEN);
	vt_fill(msg + len, LEN, 9);
	len += LEN;
	for (split = 1; split < len; split++) {
		in = take(test, &end, 5, split);
		peer_send(test, sock, msg, split);
		cond_resched();
		peer_send(test, sock, msg + split, len - split);
		taken(test, &end, in, split, 5, FI_REMOTE_CQ_DATA, 9);
	}
}

static void an_endpoint_does_not_send_them(struct kunit *test)
{
	struct vt_end end = {};
	u8 byte = 0;

	join(test, &end);
	KUNIT_EXPECT_EQ(test, fi_tsend(end.ep, &byte, 1, NULL, 0, 1, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_trecv(end.ep, &byte, 1, NULL, 0, 1, 0, NULL), -ENOSYS);
}

static struct kunit_case tagged_cases[] = {
	KUNIT_CASE(a_message_with_a_tag_takes_the_next_receive),
	KUNIT_CASE(a_message_with_a_tag_that_is_too_long_is_cut),
	KUNIT_CASE(a_tagged_message_takes_the_receive_of_its_tag),
	KUNIT_CASE(a_tagged_message_waits_for_the_receive_of_its_tag),
	KUNIT_CASE(a_message_that_waits_holds_up_its_connection_alone),
	KUNIT_CASE(a_tagged_message_comes_however_it_is_split),
	KUNIT_CASE(an_endpoint_does_not_send_them),
	{}
};

static struct kunit_suite tagged_suite = {
	.name		= "kofi_tcp_tagged",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= tagged_cases,
};

static struct kunit_suite tagged_foreign_suite = {
	.name		= "kofi_tcp_tagged_foreign",
	.init		= bed_init_foreign,
	.exit		= vt_exit,
	.test_cases	= tagged_cases,
};

kunit_test_suites(&tagged_suite, &tagged_foreign_suite);
