// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * More messages than an endpoint keeps for its receives: which peers have to wait, and that all
 * messages arrive when receives are posted.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <rdma/fi_tagged.h>
#include "rdm.h"

#define LEN		16
#define LONG		(SZ_64K + 1)	/* a message of this length is sent by rendezvous */
#define PEER_KEPT	64		/* messages of a peer that are kept */
#define ALL_KEPT	512		/* of all peers */
#define NR_RTS		120
#define PIECE		4096
#define SETTLE		(HZ / 5)

static void take(struct kunit *test, struct vt_end *end, u64 tag, u8 seed)
{
	u8 *in = vt_buf(test, LEN);

	KUNIT_ASSERT_EQ(test, fi_trecv(end->ep, in, LEN, NULL, FI_ADDR_UNSPEC, tag, 0,
				       vt_ctx(tag)), 0);
	vt_done(test, end->rx, vt_ctx(tag));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, seed));
}

static const struct version_case {
	const char	*name;
	u8		version;
} version_cases[] = {
	{ "0", 0 },
	{ "1", 1 },
};

KUNIT_ARRAY_PARAM_DESC(version, version_cases, name);

/* Together they have more than the endpoint keeps; another one is heard, and each of them is */
static void peers_that_flood_stop_nobody_else(struct kunit *test)
{
	const struct version_case *row = test->param_value;
	struct socket *socks[ALL_KEPT / PEER_KEPT + 1], *sock;
	struct rdm_peer *peers, other;
	struct vt_end end = {};
	u64 tag;
	int i;

	peers = kunit_kcalloc(test, ARRAY_SIZE(socks), sizeof(*peers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, peers);
	rdm_open(test, &end);
	for (i = 0; i < ARRAY_SIZE(socks); i++) {
		rdm_peer_new(test, &end, &peers[i], RDM_LOW);
		socks[i] = rdm_dial(test, &end, &peers[i], row->version, RDM_PID + i);
		for (tag = 0; tag < PEER_KEPT + 8; tag++)
			peer_send_tagged(test, socks[i], 0, 1000 * (i + 1) + tag, LEN, i);
	}
	rdm_peer_new(test, &end, &other, RDM_HIGH);
	sock = rdm_dial(test, &end, &other, row->version, RDM_PID);
	peer_send_tagged(test, sock, 0, 1, LEN, 101);
	peer_send_tagged(test, sock, 0, 2, LEN, 102);
	take(test, &end, 1, 101);
	take(test, &end, 2, 102);
	for (i = 0; i < ARRAY_SIZE(socks); i++)
		for (tag = 0; tag < PEER_KEPT + 8; tag++)
			take(test, &end, 1000 * (i + 1) + tag, i);
	vt_none(test, end.rx);
}

/* Completions of receives have queues of their own */
static void join(struct kunit *test, struct vt_pair *pair)
{
	size_t size = vt_of(test)->info->rx_attr->size;

	pair->a.rx = vt_cq(test, &vt_default_kind, size);
	pair->b.rx = vt_cq(test, &vt_default_kind, size);
	vt_join(test, pair, &vt_default_kind);
}

/* As many as get away, to a peer that posts no receive */
static int fill(struct kunit *test, struct vt_end *end, u8 *out)
{
	unsigned long until = jiffies + SETTLE;
	struct fi_cq_tagged_entry entry;
	int sent = 0;
	ssize_t ret;

	do {
		ret = fi_send(end->ep, out, PIECE, NULL, 0, NULL);
		if (!ret) {
			sent++;
			until = jiffies + SETTLE;
		} else {
			KUNIT_ASSERT_EQ(test, ret, -EAGAIN);
			/* Completions keep places */
			fi_cq_sread(end->tx->cq, &entry, 1, NULL, 10);
		}
	} while (time_before(jiffies, until));
	return sent;
}

static void take_one(struct kunit *test, struct vt_end *end, u8 *in)
{
	struct vt_comp comp;

	KUNIT_ASSERT_EQ(test, fi_recv(end->ep, in, PIECE, NULL, FI_ADDR_UNSPEC, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, vt_wait(end->rx, &comp), 1);
	KUNIT_ASSERT_EQ(test, comp.err, 0);
}

/* Sockets and all; one receive at a time is enough */
static void two_that_are_both_full_go_on_when_receives_come(struct kunit *test)
{
	u8 *out = vt_buf(test, PIECE), *in = vt_buf(test, PIECE);
	struct vt_pair pair = {};
	int from_a, from_b;

	join(test, &pair);
	from_a = fill(test, &pair.a, out);
	from_b = fill(test, &pair.b, out);
	KUNIT_EXPECT_GT(test, from_a, PEER_KEPT);
	KUNIT_EXPECT_GT(test, from_b, PEER_KEPT);
	while (from_a || from_b) {
		if (from_a) {
			take_one(test, &pair.b, in);
			from_a--;
		}
		if (from_b) {
			take_one(test, &pair.a, in);
			from_b--;
		}
	}
	vt_none(test, pair.a.rx);
	vt_none(test, pair.b.rx);
}

/* Until the last of its peer's RTS messages is there */
static void expect_all_rts(struct kunit *test, struct vt_end *end)
{
	const struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = NR_RTS - 1 };
	unsigned long until = jiffies + msecs_to_jiffies(VT_PATIENCE_MS);
	struct vt_comp comp;

	do {
		/* Nobody is called when a message waits */
		msleep(20);
		KUNIT_ASSERT_EQ(test, fi_trecvmsg(end->ep, &msg, FI_PEEK), 0);
		KUNIT_ASSERT_EQ(test, vt_wait(end->rx, &comp), 1);
	} while (comp.err == FI_ENOMSG && time_before(jiffies, until));
	KUNIT_ASSERT_EQ(test, comp.err, 0);
}

static void take_rts(struct kunit *test, struct vt_end *end, u8 *in, u64 tag)
{
	KUNIT_ASSERT_EQ(test, fi_trecv(end->ep, in, LONG, NULL, FI_ADDR_UNSPEC, tag, 0,
				       vt_ctx(tag)), 0);
}

/*
 * The CTS of a payload is behind all RTS messages of its sender, so RTS messages must not stay in
 * the socket.
 */
static void two_with_many_rts_go_on_when_receives_come(struct kunit *test)
{
	u8 *out = vt_buf(test, LONG), *in = vt_buf(test, 2 * LONG);
	struct vt_pair pair = {};
	u64 tag;

	join(test, &pair);
	vt_fill(out, LONG, 3);
	for (tag = 0; tag < NR_RTS; tag++) {
		KUNIT_ASSERT_EQ(test, fi_tsend(pair.a.ep, out, LONG, NULL, 0, tag, vt_ctx(tag)), 0);
		KUNIT_ASSERT_EQ(test, fi_tsend(pair.b.ep, out, LONG, NULL, 0, tag, vt_ctx(tag)), 0);
	}
	expect_all_rts(test, &pair.a);
	expect_all_rts(test, &pair.b);
	for (tag = 0; tag < NR_RTS; tag++) {
		memset(in, 0, 2 * LONG);
		take_rts(test, &pair.a, in, tag);
		take_rts(test, &pair.b, in + LONG, tag);
		vt_done(test, pair.a.rx, vt_ctx(tag));
		vt_done(test, pair.b.rx, vt_ctx(tag));
		KUNIT_EXPECT_TRUE(test, vt_filled(in, LONG, 3));
		KUNIT_EXPECT_TRUE(test, vt_filled(in + LONG, LONG, 3));
		vt_done(test, pair.a.tx, vt_ctx(tag));
		vt_done(test, pair.b.tx, vt_ctx(tag));
	}
}

static struct kunit_case rdm_full_cases[] = {
	KUNIT_CASE_PARAM(peers_that_flood_stop_nobody_else, version_gen_params),
	KUNIT_CASE_SLOW(two_that_are_both_full_go_on_when_receives_come),
	KUNIT_CASE(two_with_many_rts_go_on_when_receives_come),
	{}
};

static struct kunit_suite rdm_full_suite = {
	.name		= "kofi_tcp_rdm_full",
	.init		= bed_init_rdm,
	.exit		= vt_exit,
	.test_cases	= rdm_full_cases,
};

kunit_test_suite(rdm_full_suite);
