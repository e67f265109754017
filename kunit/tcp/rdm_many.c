// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Many peers, and many connections with one: what users of libfabric have complained about
 * (Documentation/wire-tcp.rst), by name.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include "../lib/async.h"
#include "rdm.h"

#define LEN		8
#define RECONNECTS	1100
#define CONNECT_S	30	/* until all of them are connected */
#define PAIRS		32
#define DIALS		64	/* connections that an endpoint makes at a time */
#define DIAL_S		10	/* until one of them is given up */

static unsigned int many = 2000;
module_param(many, uint, 0444);
MODULE_PARM_DESC(many, "peers that connect at once; fewer where instructions are emulated");

static void post_recv(struct kunit *test, struct vt_end *end, u64 *in)
{
	KUNIT_ASSERT_EQ(test, fi_recv(end->ep, in, LEN, NULL, FI_ADDR_UNSPEC, vt_ctx(1)), 0);
}

/* The peer sends a number */
static void put(struct kunit *test, struct socket *sock, u64 number)
{
	u8 msg[PEER_BASE + LEN];

	peer_hdr(msg, 0, 0, NULL, NULL, 0, LEN);
	memcpy(msg + PEER_BASE, &number, LEN);
	peer_send(test, sock, msg, sizeof(msg));
}

/* The peer receives one */
static void expect_put(struct kunit *test, struct socket *sock, u64 number)
{
	u8 msg[PEER_BASE + LEN];
	u64 got;

	peer_recv(test, sock, msg, sizeof(msg));
	memcpy(&got, msg + PEER_BASE, LEN);
	KUNIT_ASSERT_EQ(test, got, number);
}

/* Alternately the peer connects, and is connected to; it always hangs up */
static void the_1024th_reconnect_is_like_the_first(struct kunit *test)
{
	u64 *in = vt_buf(test, LEN), i;
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;

	rdm_open_with(test, &end, &peer, RDM_HIGH);
	for (i = 0; i < RECONNECTS; i++) {
		if (i % 2) {
			KUNIT_ASSERT_EQ(test, fi_inject(end.ep, &i, LEN, peer.addr), 0);
			sock = rdm_accept(test, &peer, 0x81, RDM_PID);
			expect_put(test, sock, i);
		} else {
			sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
		}
		post_recv(test, &end, in);
		put(test, sock, i);
		vt_done(test, end.rx, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, *in, i);
		peer_leave(test, sock);
	}
	vt_none(test, end.rx);
	vt_none(test, end.tx);
	KUNIT_EXPECT_EQ(test, vt_stat(test, &end.ep->fid, "connects"), RECONNECTS);
}

/* None is stuck, and what each of them sends at once arrives once */
static void many_peers_connect_at_once(struct kunit *test)
{
	struct socket **socks = vt_buf(test, many * sizeof(*socks));
	unsigned long *seen = vt_buf(test, BITS_TO_LONGS(many) * sizeof(long));
	struct rdm_peer peer = { .host = RDM_HIGH };
	u64 *in = vt_buf(test, LEN);
	struct vt_end end = {};
	unsigned long since;
	unsigned int i;

	/* All of them are at one address */
	rdm_param(test, "address_max", "65536");
	rdm_param(test, "accepted_max", "65536");
	rdm_open(test, &end);
	since = jiffies;
	for (i = 0; i < many; i++) {
		((struct sockaddr_in *)&peer.name)->sin_port = htons(1 + i);
		socks[i] = rdm_ask(test, &end, &peer, 1, RDM_PID + i);
	}
	for (i = 0; i < many; i++) {
		rdm_expect_cm(test, socks[i], 1, NULL);
		put(test, socks[i], i);
	}
	for (i = 0; i < many; i++) {
		post_recv(test, &end, in);
		vt_done(test, end.rx, vt_ctx(1));
		KUNIT_ASSERT_LT(test, *in, many);
		KUNIT_ASSERT_FALSE(test, __test_and_set_bit(*in, seen));
	}
	KUNIT_EXPECT_LE(test, jiffies - since, CONNECT_S * HZ);
	vt_none(test, end.rx);
}

static void an_endpoint_connects_to_many_peers(struct kunit *test)
{
	struct rdm_peer *peers = vt_buf(test, many * sizeof(*peers));
	struct vt_end end = {};
	unsigned long since;
	struct socket *sock;
	u64 i;

	vt_of(test)->info->tx_attr->size = 2 * many;
	rdm_open(test, &end);
	for (i = 0; i < many; i++)
		rdm_peer_new(test, &end, &peers[i], RDM_HIGH);
	since = jiffies;
	for (i = 0; i < many; i++)
		KUNIT_ASSERT_EQ(test, fi_inject(end.ep, &i, LEN, peers[i].addr), 0);
	for (i = 0; i < many; i++) {
		sock = rdm_accept(test, &peers[i], 0x81, RDM_PID + i);
		expect_put(test, sock, i);
	}
	KUNIT_EXPECT_LE(test, jiffies - since, CONNECT_S * HZ);
	vt_none(test, end.tx);
}

/* One that is posted to when a place is free does not take it from one that waits for it */
static void peers_are_dialled_in_their_order(struct kunit *test)
{
	struct rdm_peer *peers = vt_buf(test, (DIALS + 2) * sizeof(*peers));
	struct vt_end end = {};
	unsigned long since;
	u64 i;

	/* While less than half of the queue is used, each operation is admitted */
	vt_of(test)->info->tx_attr->size = 4 * (DIALS + 2);
	rdm_open(test, &end);
	for (i = 0; i < DIALS + 2; i++)
		rdm_peer_new(test, &end, &peers[i], RDM_HIGH);
	for (i = 0; i < DIALS + 1; i++)
		KUNIT_ASSERT_EQ(test, fi_inject(end.ep, &i, LEN, peers[i].addr), 0);
	rdm_accept(test, &peers[0], 0x81, RDM_PID);
	KUNIT_ASSERT_EQ(test, fi_inject(end.ep, &i, LEN, peers[i].addr), 0);
	since = jiffies;
	rdm_asked(test, &peers[DIALS], NULL);
	KUNIT_EXPECT_LE(test, jiffies - since, DIAL_S * HZ / 2);
}

/* Both ends at a time, as far as that can be had */

static int send_from_b(void *arg)
{
	struct vt_pair *pairs = arg;
	u64 number;
	int ret;

	for (number = 0; number < PAIRS; number++) {
		ret = fi_inject(pairs[number].b.ep, &number, LEN, 0);
		if (ret)
			return ret;
	}
	return 0;
}

static void expect_number(struct kunit *test, struct vt_end *end, u64 *in, u64 number)
{
	post_recv(test, end, in);
	vt_done(test, end->rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, *in, number);
	vt_none(test, end->tx);
}

static void thirty_two_pairs_open_from_both_ends(struct kunit *test)
{
	struct vt_pair *pairs = vt_buf(test, PAIRS * sizeof(*pairs));
	u64 *in = vt_buf(test, LEN), number;
	struct vt_async *thread;
	int i, failed = 0;

	for (i = 0; i < PAIRS; i++)
		vt_join(test, &pairs[i], &vt_default_kind);
	thread = vt_async_start(test, send_from_b, pairs);
	for (number = 0; number < PAIRS; number++)
		failed += !!fi_inject(pairs[number].a.ep, &number, LEN, 0);
	KUNIT_ASSERT_EQ(test, vt_async_join(test, thread), 0);
	KUNIT_ASSERT_EQ(test, failed, 0);
	for (i = 0; i < PAIRS; i++) {
		expect_number(test, &pairs[i].a, in, i);
		expect_number(test, &pairs[i].b, in, i);
	}
}

/* Address vectors under traffic */

#define STRANGERS	64
#define BATCH		32
#define BATCHES		100

/**
 * struct churn - A thread that inserts and removes addresses
 * @av: the vector
 * @names: of nobody
 * @peer: of the peer, which is in the vector, too
 * @stop: it is to end
 * @rounds: what it has done
 */
struct churn {
	struct fid_av		*av;
	struct sockaddr_in	names[STRANGERS];
	struct sockaddr_storage	peer;
	bool			stop;
	int			rounds;
};

static int insert_and_remove(void *arg)
{
	struct churn *churn = arg;
	fi_addr_t addrs[STRANGERS], again;

	do {
		if (fi_av_insert(churn->av, churn->names, STRANGERS, addrs, 0, NULL) != STRANGERS)
			return -EIO;
		/* It has one number however often it is inserted */
		if (fi_av_insert(churn->av, &churn->peer, 1, &again, 0, NULL) != 1 || again)
			return -EEXIST;
		if (fi_av_remove(churn->av, addrs, STRANGERS, 0) ||
		    fi_av_remove(churn->av, &again, 1, 0))
			return -ENOENT;
		churn->rounds++;
		cond_resched();
	} while (!READ_ONCE(churn->stop));
	return 0;
}

/* In order, and each once; nothing that aborts the case, as the other thread runs */
static void traffic(struct kunit *test, struct vt_pair *pair, u64 *out, u64 *in)
{
	struct vt_comp comp;
	u64 next = 0;
	int i, k;

	for (k = 0; k < BATCHES; k++) {
		for (i = 0; i < BATCH; i++) {
			out[i] = next + i;
			KUNIT_EXPECT_EQ(test, fi_recv(pair->b.ep, &in[i], LEN, NULL,
						      FI_ADDR_UNSPEC, vt_ctx(i)), 0);
			KUNIT_EXPECT_EQ(test, fi_send(pair->a.ep, &out[i], LEN, NULL, 0,
						      vt_ctx(i)), 0);
		}
		for (i = 0; i < BATCH; i++, next++) {
			if (vt_wait(pair->b.rx, &comp) != 1 || comp.err || in[i] != next ||
			    vt_wait(pair->a.tx, &comp) != 1 || comp.err) {
				KUNIT_FAIL(test, "message %llu: %d", next, comp.err);
				return;
			}
		}
	}
}

static void addresses_come_and_go_under_traffic(struct kunit *test)
{
	u64 *out = vt_buf(test, BATCH * LEN), *in = vt_buf(test, BATCH * LEN);
	struct churn *churn = vt_buf(test, sizeof(*churn));
	struct vt_pair pair = {};
	struct vt_async *thread;
	int i;

	vt_join(test, &pair, &vt_default_kind);
	churn->av = pair.a.av;
	churn->peer = rdm_name(test, pair.b.ep);
	for (i = 0; i < STRANGERS; i++)
		churn->names[i] = (struct sockaddr_in) {
			.sin_family		= AF_INET,
			.sin_port		= htons(1 + i),
			.sin_addr.s_addr	= htonl(RDM_HIGH),
		};
	thread = vt_async_start(test, insert_and_remove, churn);
	traffic(test, &pair, out, in);
	WRITE_ONCE(churn->stop, true);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
	KUNIT_EXPECT_GT(test, churn->rounds, 0);
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
}

/* Of an address that has been removed only new operations fail */
static void what_waits_for_a_peer_outlives_its_address(struct kunit *test)
{
	u64 *out = vt_buf(test, LEN);
	struct rdm_peer peer;
	struct vt_end end = {};
	struct socket *sock;
	u8 request[RDM_CM];

	*out = 7;
	rdm_open_with(test, &end, &peer, RDM_HIGH);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN, NULL, peer.addr, vt_ctx(1)), 0);
	sock = rdm_asked(test, &peer, request);
	KUNIT_ASSERT_EQ(test, fi_av_remove(end.av, &peer.addr, 1, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN, NULL, peer.addr, vt_ctx(2)), 0);
	vt_failed_with(test, end.tx, vt_ctx(2), EINVAL);
	rdm_respond(test, sock, request, 0x81, RDM_PID);
	expect_put(test, sock, *out);
	vt_done(test, end.tx, vt_ctx(1));
}

/* All places are taken by operations that a peer does not answer, which has been killed */
static void a_killed_peer_is_not_eagain_for_ever(struct kunit *test)
{
	u8 *mem = vt_buf(test, LEN);
	struct rdm_peer peer;
	struct vt_end end = {};
	struct vt_comp comp;
	struct socket *sock;
	u64 out = 5, i;

	rdm_param(test, "peer_timeout", "5");
	vt_of(test)->info->tx_attr->size = 4;
	rdm_open_with(test, &end, &peer, RDM_LOW);
	sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
	peer_dies(test, sock);
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, fi_read(end.ep, mem, LEN, NULL, peer.addr, 0, 1, vt_ctx(i)),
				0);
	KUNIT_EXPECT_EQ(test, fi_inject(end.ep, &out, LEN, peer.addr), -EAGAIN);
	for (i = 0; i < 4; i++) {
		comp = vt_failed_with(test, end.tx, vt_ctx(i), ETIMEDOUT);
		KUNIT_EXPECT_EQ(test, comp.src_addr, peer.addr);
	}
	KUNIT_ASSERT_EQ(test, fi_inject(end.ep, &out, LEN, peer.addr), 0);
	sock = rdm_accept(test, &peer, 0x81, RDM_PID + 1);
	expect_put(test, sock, out);
	vt_none(test, end.tx);
}

static struct kunit_case rdm_many_cases[] = {
	KUNIT_CASE_SLOW(the_1024th_reconnect_is_like_the_first),
	KUNIT_CASE_SLOW(many_peers_connect_at_once),
	KUNIT_CASE_SLOW(an_endpoint_connects_to_many_peers),
	KUNIT_CASE(peers_are_dialled_in_their_order),
	KUNIT_CASE(thirty_two_pairs_open_from_both_ends),
	KUNIT_CASE(addresses_come_and_go_under_traffic),
	KUNIT_CASE(what_waits_for_a_peer_outlives_its_address),
	KUNIT_CASE_SLOW(a_killed_peer_is_not_eagain_for_ever),
	{}
};

static struct kunit_suite rdm_many_suite = {
	.name		= "kofi_tcp_rdm_many",
	.init		= bed_init_rdm,
	.exit		= vt_exit,
	.test_cases	= rdm_many_cases,
};

kunit_test_suite(rdm_many_suite);
