// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints without connections: who has sent, receives from one peer only, peers that
 * are not there, an endpoint that is its own peer, many peers of one endpoint.
 *
 * What such endpoints have in common with connected ones is checked where that is: most
 * suites run on both.
 */
#include <linux/delay.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_tagged.h>
#include "conformance.h"

#define REACH_LEN	64
#define REACH_TRIES	10

/* Three endpoints; the first two are addresses 0 and 1 of the third, as it is theirs */
struct three {
	struct vt_end	ends[3];
	u8		*buf;
};

static void three_open(struct kunit *test, struct three *three)
{
	int i;

	conf_serve(test);
	three->buf = vt_buf(test, 64);
	for (i = 0; i < 3; i++)
		vt_client(test, &three->ends[i], &vt_default_kind);
	for (i = 0; i < 2; i++) {
		vt_know(test, &three->ends[i], &three->ends[2]);
		KUNIT_ASSERT_EQ(test, vt_know(test, &three->ends[2], &three->ends[i]), i);
	}
}

static void send_byte(struct kunit *test, struct vt_end *from, fi_addr_t to, u8 byte)
{
	KUNIT_ASSERT_EQ(test, fi_inject(from->ep, &byte, 1, to), 0);
}

/* From whomever: 0 would be a sender, with FI_DIRECTED_RECV */
static void recv_any(struct kunit *test, struct vt_end *end, void *buf, size_t len)
{
	KUNIT_ASSERT_EQ(test, fi_recv(end->ep, buf, len, NULL, FI_ADDR_UNSPEC, vt_ctx(1)), 0);
}

static fi_addr_t source_of_next(struct kunit *test, struct vt_end *end)
{
	struct fi_cq_data_entry entry;
	fi_addr_t addr = 77;

	KUNIT_ASSERT_EQ(test, vt_cq_sreadfrom(end->rx->cq, &entry, 1, &addr, NULL), 1);
	return addr;
}

static void a_message_says_its_sender_if_asked_to(struct kunit *test)
{
	struct three three = {};
	fi_addr_t addr = 1;
	int i;

	if (!conf_is_rdm(test) || !conf_want(test, FI_SOURCE))
		return;
	three_open(test, &three);
	for (i = 0; i < 4; i++) {
		recv_any(test, &three.ends[2], three.buf, 8);
		send_byte(test, &three.ends[i % 2], 0, i);
		KUNIT_EXPECT_EQ(test, source_of_next(test, &three.ends[2]), i % 2);
		KUNIT_EXPECT_EQ(test, three.buf[0], i);
	}
	/* A sender whose address is not in the vector is nobody */
	KUNIT_ASSERT_EQ(test, fi_av_remove(three.ends[2].av, &addr, 1, 0), 0);
	recv_any(test, &three.ends[2], three.buf, 8);
	send_byte(test, &three.ends[1], 0, 9);
	KUNIT_EXPECT_EQ(test, source_of_next(test, &three.ends[2]), FI_ADDR_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, three.buf[0], 9);
}

/* Also of a message that has waited for its receive */
static void a_waiting_message_says_its_sender(struct kunit *test)
{
	struct three three = {};

	if (!conf_is_rdm(test) || !conf_want(test, FI_SOURCE))
		return;
	three_open(test, &three);
	send_byte(test, &three.ends[1], 0, 1);
	recv_any(test, &three.ends[2], three.buf, 8);
	KUNIT_EXPECT_EQ(test, source_of_next(test, &three.ends[2]), 1);
	KUNIT_EXPECT_EQ(test, three.buf[0], 1);
}

/* A server learns of a client by its first message, and receives that when it can answer */
static void a_waiting_message_says_a_sender_that_became_known(struct kunit *test)
{
	struct vt_end server = {}, client = {};
	u8 *buf = vt_buf(test, 8);
	fi_addr_t addr;
	int i;

	if (!conf_is_rdm(test) || !conf_want(test, FI_SOURCE))
		return;
	conf_serve(test);
	vt_client(test, &server, &vt_default_kind);
	vt_client(test, &client, &vt_default_kind);
	vt_know(test, &client, &server);
	for (i = 0; i < 3; i++)
		send_byte(test, &client, 0, i);
	/* What was sent before the first message that has been received is there */
	recv_any(test, &server, buf, 8);
	KUNIT_EXPECT_EQ(test, source_of_next(test, &server), FI_ADDR_NOTAVAIL);
	msleep(20);
	addr = vt_know(test, &server, &client);
	recv_any(test, &server, buf, 8);
	KUNIT_EXPECT_EQ(test, source_of_next(test, &server), addr);
	KUNIT_ASSERT_EQ(test, fi_recv(server.ep, buf, 8, NULL, addr, vt_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, source_of_next(test, &server), addr);
	KUNIT_EXPECT_EQ(test, buf[0], 2);
}

/* Its fi_addr_t may become that of another peer, here of the endpoint itself */
static void a_waiting_message_forgets_a_sender_that_was_removed(struct kunit *test)
{
	struct three three = {};
	struct vt_end *end = &three.ends[2];
	fi_addr_t addr = 1;
	int i;

	if (!conf_is_rdm(test) || !conf_want(test, FI_SOURCE | FI_DIRECTED_RECV))
		return;
	three_open(test, &three);
	for (i = 0; i < 4; i++)
		send_byte(test, &three.ends[1], 0, i);
	/* What was sent before the first message that has been received is there, or comes soon */
	recv_any(test, end, three.buf, 8);
	KUNIT_EXPECT_EQ(test, source_of_next(test, end), 1);
	msleep(20);
	KUNIT_ASSERT_EQ(test, fi_av_remove(end->av, &addr, 1, 0), 0);
	recv_any(test, end, three.buf, 8);
	KUNIT_EXPECT_EQ(test, source_of_next(test, end), FI_ADDR_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, three.buf[0], 1);

	KUNIT_ASSERT_EQ(test, vt_know(test, end, end), 1);
	KUNIT_ASSERT_EQ(test, fi_recv(end->ep, three.buf, 8, NULL, 1, vt_ctx(1)), 0);
	msleep(20);
	vt_none(test, end->rx);
	send_byte(test, end, 1, 9);
	KUNIT_EXPECT_EQ(test, source_of_next(test, end), 1);
	KUNIT_EXPECT_EQ(test, three.buf[0], 9);

	addr = vt_know(test, end, &three.ends[1]);
	recv_any(test, end, three.buf, 8);
	KUNIT_EXPECT_EQ(test, source_of_next(test, end), addr);
	KUNIT_EXPECT_EQ(test, three.buf[0], 2);
	KUNIT_ASSERT_EQ(test, fi_recv(end->ep, three.buf, 8, NULL, addr, vt_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, source_of_next(test, end), addr);
	KUNIT_EXPECT_EQ(test, three.buf[0], 3);
}

static void a_sender_has_the_id_that_the_client_gives_it(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);

	if (!conf_is_rdm(test) || !conf_want(test, FI_SOURCE | FI_AV_USER_ID))
		return;
	conf_serve(test);
	pair.b.av = vt_av(test, FI_AV_USER_ID);
	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, buf, 8, vt_ctx(1));
	send_byte(test, &pair.a, 0, 1);
	KUNIT_EXPECT_EQ(test, source_of_next(test, &pair.b), FI_ADDR_NOTAVAIL);

	KUNIT_ASSERT_EQ(test, fi_av_set_user_id(pair.b.av, 0, 0x123456789a, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_av_set_user_id(pair.b.av, 5, 1, 0), -EINVAL);
	/* Calls that post go on to take the number of the vector */
	vt_recv(test, &pair.b, buf, 8, vt_ctx(2));
	send_byte(test, &pair.a, 0, 2);
	KUNIT_EXPECT_EQ(test, source_of_next(test, &pair.b), 0x123456789a);
	KUNIT_EXPECT_EQ(test, buf[0], 2);
	vt_ping(test, &pair.b, &pair.a);
}

static void ids_of_single_insertions_are_the_clients(struct kunit *test)
{
	struct sockaddr_storage name = {};
	struct vt_pair pair = {};
	size_t len = sizeof(name);
	fi_addr_t id = 0xabcdef;
	u8 *buf = vt_buf(test, 8);

	if (!conf_is_rdm(test) || !conf_want(test, FI_SOURCE | FI_AV_USER_ID))
		return;
	conf_join(test, &pair);
	KUNIT_ASSERT_EQ(test, fi_getname(&pair.a.ep->fid, &name, &len), 0);
	KUNIT_ASSERT_EQ(test, fi_av_insert(pair.b.av, &name, 1, &id, FI_AV_USER_ID, NULL), 1);
	KUNIT_EXPECT_EQ(test, id, 0);
	vt_recv(test, &pair.b, buf, 8, vt_ctx(1));
	send_byte(test, &pair.a, 0, 1);
	KUNIT_EXPECT_EQ(test, source_of_next(test, &pair.b), 0xabcdef);
	KUNIT_EXPECT_EQ(test, fi_av_set_user_id(pair.b.av, 0, 1, 0), -EINVAL);
}

/* The younger receive, which is for anybody, goes first if the older is for another */
static void a_directed_receive_waits_for_its_sender(struct kunit *test)
{
	struct three three = {};
	struct vt_end *end = &three.ends[2];
	bool directed;

	if (!conf_is_rdm(test))
		return;
	directed = conf_has(test, FI_DIRECTED_RECV);
	three_open(test, &three);
	KUNIT_ASSERT_EQ(test, fi_recv(end->ep, three.buf, 8, NULL, 1, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_recv(end->ep, three.buf + 8, 8, NULL,
				      FI_ADDR_UNSPEC, vt_ctx(2)), 0);
	send_byte(test, &three.ends[0], 0, 10);
	vt_done(test, end->rx, directed ? vt_ctx(2) : vt_ctx(1));
	send_byte(test, &three.ends[1], 0, 11);
	vt_done(test, end->rx, directed ? vt_ctx(1) : vt_ctx(2));
	KUNIT_EXPECT_EQ(test, three.buf[directed ? 8 : 0], 10);
	KUNIT_EXPECT_EQ(test, three.buf[directed ? 0 : 8], 11);
}

static void a_directed_receive_finds_the_message_that_waits(struct kunit *test)
{
	struct three three = {};
	struct vt_end *end = &three.ends[2];

	if (!conf_is_rdm(test) || !conf_want(test, FI_DIRECTED_RECV))
		return;
	three_open(test, &three);
	send_byte(test, &three.ends[0], 0, 10);
	send_byte(test, &three.ends[1], 0, 11);
	KUNIT_ASSERT_EQ(test, fi_recv(end->ep, three.buf, 8, NULL, 1, vt_ctx(1)), 0);
	vt_done(test, end->rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, three.buf[0], 11);
	vt_recv(test, end, three.buf, 8, vt_ctx(2));
	vt_done(test, end->rx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, three.buf[0], 10);
}

/* The first posts an operation of each kind to address 0; 0 or an error at once */
static ssize_t post_kind(struct vt_end *end, u8 *buf, int kind)
{
	switch (kind) {
	case 0:
		return fi_send(end->ep, buf, 8, NULL, 0, vt_ctx(100));
	case 1:
		return fi_tsend(end->ep, buf, 8, NULL, 0, 5, vt_ctx(101));
	case 2:
		return fi_write(end->ep, buf, 8, NULL, 0, 0, 1, vt_ctx(102));
	case 3:
		return fi_read(end->ep, buf, 8, NULL, 0, 0, 1, vt_ctx(103));
	default:
		return fi_atomic(end->ep, buf, 1, NULL, 0, 0, 1, FI_UINT64, FI_SUM, vt_ctx(104));
	}
}

static const struct {
	u64	caps;
	u64	flags;
} kinds[] = {
	{ FI_MSG | FI_SEND, FI_MSG | FI_SEND },
	{ FI_TAGGED | FI_SEND, FI_TAGGED | FI_SEND },
	{ FI_RMA | FI_WRITE, FI_RMA | FI_WRITE },
	{ FI_RMA | FI_READ, FI_RMA | FI_READ },
	{ FI_ATOMIC | FI_WRITE, FI_ATOMIC | FI_WRITE },
};

/* Each ends once, with an error that says what it was; then another peer is reached */
static void expect_unreachable(struct kunit *test, struct vt_end *end)
{
	u8 *buf = vt_buf(test, 8);
	struct vt_comp comp;
	int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!conf_has(test, kinds[i].caps))
			continue;
		KUNIT_ASSERT_EQ_MSG(test, post_kind(end, buf, i), 0, "kind %d", i);
		comp = vt_failed(test, end->tx);
		KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(100 + i));
		KUNIT_EXPECT_EQ_MSG(test, comp.flags, kinds[i].flags, "kind %d", i);
	}
	/* What is not reported when it succeeds */
	KUNIT_ASSERT_EQ(test, fi_inject(end->ep, buf, 8, 0), 0);
	comp = vt_failed(test, end->tx);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_SEND);
	vt_none(test, end->tx);
}

static void a_peer_that_has_gone_is_an_error_of_each_operation(struct kunit *test)
{
	struct three three = {};
	fi_addr_t other;

	if (!conf_is_rdm(test))
		return;
	three_open(test, &three);
	other = vt_know(test, &three.ends[0], &three.ends[1]);
	vt_close(test, &three.ends[2].ep->fid);
	expect_unreachable(test, &three.ends[0]);
	recv_any(test, &three.ends[1], three.buf, 8);
	send_byte(test, &three.ends[0], other, 3);
	vt_done(test, three.ends[1].rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, three.buf[0], 3);
}

static void an_error_says_which_peer_it_was(struct kunit *test)
{
	struct three three = {};
	struct vt_comp comp;
	fi_addr_t other;

	if (!conf_is_rdm(test))
		return;
	three_open(test, &three);
	other = vt_know(test, &three.ends[0], &three.ends[1]);
	vt_close(test, &three.ends[1].ep->fid);
	vt_close(test, &three.ends[2].ep->fid);
	send_byte(test, &three.ends[0], other, 1);
	comp = vt_failed(test, three.ends[0].tx);
	KUNIT_EXPECT_EQ(test, comp.src_addr, other);
	send_byte(test, &three.ends[0], 0, 1);
	comp = vt_failed(test, three.ends[0].tx);
	KUNIT_EXPECT_EQ(test, comp.src_addr, 0);
}

/* The message waits for the endpoint, or has no peer */
static void a_peer_that_is_not_enabled_gets_a_message_later_or_never(struct kunit *test)
{
	struct vt_end a = {}, b = {};
	u8 *buf = vt_buf(test, 16);
	struct vt *vt = vt_of(test);
	struct vt_comp comp;

	if (!conf_is_rdm(test))
		return;
	conf_serve(test);
	vt_client(test, &a, &vt_default_kind);
	b.info = vt->info;
	vt_end_queues(test, &b, vt->info, &vt_default_kind);
	b.ep = vt_ep(test, vt->info);
	vt_know(test, &a, &b);
	vt_send(test, &a, buf, 8, vt_ctx(1));
	msleep(20);
	vt_end_enable(test, &b, &vt_default_kind);
	recv_any(test, &b, buf + 8, 8);
	KUNIT_ASSERT_EQ(test, vt_wait(a.tx, &comp), 1);
	KUNIT_EXPECT_TRUE_MSG(test, !comp.err || comp.err == ECONNREFUSED, "%d", comp.err);
	if (comp.err)
		vt_send(test, &a, buf, 8, vt_ctx(1));
	vt_done(test, b.rx, vt_ctx(1));
}

/* A message to an address that is not in the vector fails at once, or later, once */
static void an_address_that_is_none_is_an_error(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	struct vt_comp comp;

	if (!conf_is_rdm(test))
		return;
	conf_join(test, &pair);
	if (!fi_send(pair.a.ep, buf, 8, NULL, 77, vt_ctx(1))) {
		comp = vt_failed(test, pair.a.tx);
		KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
		KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_SEND);
	}
	vt_none(test, pair.a.tx);
	vt_ping(test, &pair.a, &pair.b);
}

static void messages_that_wait_end_with_their_receiver(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	unsigned long seen = 0, i, nr;
	struct vt_comp comp;

	if (!conf_is_rdm(test))
		return;
	conf_join(test, &pair);
	for (i = 0; i < 4; i++)
		vt_send(test, &pair.a, buf, 8, vt_ctx(i));
	vt_close(test, &pair.b.ep->fid);
	/* What the receiver has buffered may count as sent */
	for (i = 0; i < 4; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(pair.a.tx, &comp), 1);
		nr = (unsigned long)comp.context;
		KUNIT_ASSERT_LT(test, nr, 4);
		KUNIT_EXPECT_FALSE(test, seen & BIT(nr));
		seen |= BIT(nr);
	}
	vt_none(test, pair.a.tx);
}

/* It closes at once, and the receiver loses nothing that it has not taken yet */
static void a_sender_can_go_while_its_messages_wait(struct kunit *test)
{
	struct three three = {};
	int i;

	if (!conf_is_rdm(test))
		return;
	three_open(test, &three);
	for (i = 0; i < 4; i++)
		vt_send(test, &three.ends[0], three.buf + 32, 8, vt_ctx(i));
	vt_close(test, &three.ends[0].ep->fid);
	vt_none(test, three.ends[0].tx);
	send_byte(test, &three.ends[1], 0, 99);
	/* Its messages may have come or not, but the other's comes */
	do {
		recv_any(test, &three.ends[2], three.buf, 8);
		vt_done(test, three.ends[2].rx, vt_ctx(1));
	} while (three.buf[0] != 99);
}

/* The address is the same, so the peers need not know */
/* A message that goes out before the peer's end has been heard of ends with the old connection */
static void rdm_reach(struct kunit *test, struct vt_end *from, struct vt_end *to)
{
	u8 *out = vt_buf(test, REACH_LEN), *in = vt_buf(test, REACH_LEN);
	struct vt_comp comp = { .err = -1 };
	int tries;

	vt_fill(out, REACH_LEN, 1);
	vt_recv(test, to, in, REACH_LEN, vt_ctx(1));
	for (tries = 0; comp.err && tries < REACH_TRIES; tries++) {
		vt_send(test, from, out, REACH_LEN, vt_ctx(2));
		KUNIT_ASSERT_EQ(test, vt_wait(from->tx, &comp), 1);
	}
	KUNIT_ASSERT_EQ(test, comp.err, 0);
	vt_done(test, to->rx, vt_ctx(1));
	KUNIT_ASSERT_TRUE(test, vt_filled(in, REACH_LEN, 1));
}

static void a_peer_that_comes_back_is_reached_again(struct kunit *test)
{
	struct vt_pair pair = {};
	struct fi_info *info;
	size_t len;

	if (!conf_is_rdm(test))
		return;
	conf_join(test, &pair);
	vt_ping(test, &pair.a, &pair.b);
	info = vt_dup(test, vt_of(test)->info);
	len = info->src_addrlen;
	KUNIT_ASSERT_EQ(test, fi_getname(&pair.b.ep->fid, info->src_addr, &len), 0);
	vt_end_close(test, &pair.b);
	vt_end_open(test, &pair.b, info, &vt_default_kind);
	vt_know(test, &pair.b, &pair.a);
	rdm_reach(test, &pair.a, &pair.b);
	vt_ping(test, &pair.b, &pair.a);
}

static void an_address_has_one_owner(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_end end = {};
	struct fi_info *info;
	struct fid_ep *ep;
	size_t len;

	if (!conf_is_rdm(test))
		return;
	conf_serve(test);
	vt_client(test, &end, &vt_default_kind);
	info = vt_dup(test, vt->info);
	len = info->src_addrlen;
	KUNIT_ASSERT_EQ(test, fi_getname(&end.ep->fid, info->src_addr, &len), 0);
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt->domain, info, &ep, NULL), -EADDRINUSE);
	vt_close(test, &end.ep->fid);
	vt_ep(test, info);
}

static void an_endpoint_is_a_peer_of_its_own(struct kunit *test)
{
	struct conf_region region;
	struct vt_end end = {};
	u8 *buf = vt_buf(test, 64);

	if (!conf_is_rdm(test))
		return;
	conf_serve(test);
	/* Which of the two completions comes first is not said */
	end.rx = vt_cq(test, &vt_default_kind, vt_of(test)->info->rx_attr->size);
	vt_client(test, &end, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, vt_know(test, &end, &end), 0);
	vt_fill(buf, 32, 1);
	/* Sent before and after its receive is posted */
	vt_send(test, &end, buf, 32, vt_ctx(1));
	vt_recv(test, &end, buf + 32, 32, vt_ctx(1));
	vt_done(test, end.tx, vt_ctx(1));
	vt_done(test, end.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf + 32, 32, 1));
	vt_ping(test, &end, &end);
	if (!conf_has(test, FI_RMA | FI_WRITE | FI_REMOTE_WRITE))
		return;
	conf_region(test, &region, 32, CONF_ACCESS);
	KUNIT_ASSERT_EQ(test, fi_write(end.ep, buf, 32, NULL, 0, region.addr,
				       region.key, vt_ctx(2)), 0);
	vt_done(test, end.tx, vt_ctx(2));
	vt_ping(test, &end, &end);
	KUNIT_EXPECT_TRUE(test, vt_filled(region.buf, 32, 1));
}

#define NR_PEERS	8
#define NR_EACH		16

/* A number of a peer's: which peer, and its how manieth message */
static u32 number_of(u32 peer, u32 nr)
{
	return peer << 16 | nr;
}

/* Takes one message; those of each peer come in order */
static void take_one(struct kunit *test, struct vt_end *end, u32 *in, u32 *next)
{
	bool in_order = vt_of(test)->info->rx_attr->msg_order & FI_ORDER_SAS;
	u32 peer, nr;

	recv_any(test, end, in, sizeof(*in));
	vt_done(test, end->rx, vt_ctx(1));
	peer = *in >> 16;
	nr = *in & 0xffff;
	KUNIT_ASSERT_LT(test, peer, NR_PEERS);
	if (in_order)
		KUNIT_ASSERT_EQ(test, nr, next[peer]);
	next[peer]++;
}

static void many_peers_send_to_one_endpoint(struct kunit *test)
{
	struct vt_end *ends = vt_buf(test, NR_PEERS * sizeof(*ends));
	u32 *in = vt_buf(test, sizeof(*in)), next[NR_PEERS] = {}, number;
	struct vt_end target = {};
	u32 i, k;

	if (!conf_is_rdm(test))
		return;
	conf_shallow(test, NR_EACH);
	conf_serve(test);
	vt_client(test, &target, &vt_default_kind);
	for (i = 0; i < NR_PEERS; i++) {
		vt_client(test, &ends[i], &vt_default_kind);
		vt_know(test, &ends[i], &target);
	}
	for (k = 0; k < NR_EACH; k++)
		for (i = 0; i < NR_PEERS; i++) {
			number = number_of(i, k);
			KUNIT_ASSERT_EQ(test, fi_inject(ends[i].ep, &number, sizeof(number), 0), 0);
		}
	for (i = 0; i < NR_PEERS * NR_EACH; i++)
		take_one(test, &target, in, next);
	for (i = 0; i < NR_PEERS; i++)
		KUNIT_EXPECT_EQ(test, next[i], NR_EACH);
	vt_none(test, target.rx);
}

#define NR_SENDERS	12

/* As many as it has places for; it waits for a word of its peer's meanwhile */
static u32 fill(struct kunit *test, struct vt_end *end, u32 *out)
{
	ssize_t ret;
	u32 n;

	for (n = 0; n < vt_of(test)->info->tx_attr->size; n++) {
		ret = fi_send(end->ep, out, sizeof(*out), NULL, 0, vt_ctx(n));
		if (ret)
			break;
	}
	return n;
}

/* FI_RM_ENABLED: what the receiver has no room for is not lost */
static void more_messages_than_a_receiver_keeps_wait_at_their_senders(struct kunit *test)
{
	struct vt_end *ends = vt_buf(test, NR_SENDERS * sizeof(*ends));
	u32 *out = vt_buf(test, NR_SENDERS * sizeof(*out)), *in, i, total = 0;
	u32 left[NR_SENDERS];
	struct vt_end target = {};

	if (!conf_is_rdm(test) || vt_of(test)->info->domain_attr->resource_mgmt != FI_RM_ENABLED)
		return;
	in = vt_buf(test, sizeof(*in));
	conf_serve(test);
	vt_client(test, &target, &vt_default_kind);
	for (i = 0; i < NR_SENDERS; i++) {
		vt_client(test, &ends[i], &vt_default_kind);
		vt_know(test, &ends[i], &target);
		out[i] = i;
		left[i] = fill(test, &ends[i], &out[i]);
		KUNIT_ASSERT_GT(test, left[i], 0);
		total += left[i];
	}
	while (total--) {
		recv_any(test, &target, in, sizeof(*in));
		vt_done(test, target.rx, vt_ctx(1));
		KUNIT_ASSERT_LT(test, *in, NR_SENDERS);
		KUNIT_ASSERT_GT(test, left[*in]--, 0);
	}
	vt_none(test, target.rx);
	for (i = 0; i < NR_SENDERS; i++)
		KUNIT_EXPECT_EQ(test, left[i], 0);
}

static void there_are_no_connections(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct sockaddr_storage addr = {};
	size_t len = sizeof(addr);
	struct vt_pair pair = {};
	struct fid_pep *pep;

	if (!conf_is_rdm(test))
		return;
	conf_join(test, &pair);
	KUNIT_EXPECT_EQ(test, fi_connect(pair.a.ep, vt->info->src_addr, NULL, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_accept(pair.a.ep, NULL, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_shutdown(pair.a.ep, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_getpeer(pair.a.ep, &addr, &len), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_passive_ep(vt->fabric, vt->info, &pep, NULL), -EINVAL);
	vt_ping(test, &pair.a, &pair.b);
}

static struct kunit_case rdm_cases[] = {
	KUNIT_CASE_PARAM(a_message_says_its_sender_if_asked_to, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_waiting_message_says_its_sender, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_waiting_message_says_a_sender_that_became_known, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_waiting_message_forgets_a_sender_that_was_removed, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_sender_has_the_id_that_the_client_gives_it, conf_gen_rdm),
	KUNIT_CASE_PARAM(ids_of_single_insertions_are_the_clients, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_directed_receive_waits_for_its_sender, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_directed_receive_finds_the_message_that_waits, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_peer_that_has_gone_is_an_error_of_each_operation, conf_gen_rdm),
	KUNIT_CASE_PARAM(an_error_says_which_peer_it_was, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_peer_that_is_not_enabled_gets_a_message_later_or_never, conf_gen_rdm),
	KUNIT_CASE_PARAM(an_address_that_is_none_is_an_error, conf_gen_rdm),
	KUNIT_CASE_PARAM(messages_that_wait_end_with_their_receiver, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_sender_can_go_while_its_messages_wait, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_peer_that_comes_back_is_reached_again, conf_gen_rdm),
	KUNIT_CASE_PARAM(an_address_has_one_owner, conf_gen_rdm),
	KUNIT_CASE_PARAM(an_endpoint_is_a_peer_of_its_own, conf_gen_rdm),
	KUNIT_CASE_PARAM(many_peers_send_to_one_endpoint, conf_gen_rdm),
	KUNIT_CASE_PARAM(more_messages_than_a_receiver_keeps_wait_at_their_senders, conf_gen_rdm),
	KUNIT_CASE_PARAM(there_are_no_connections, conf_gen_rdm),
	{}
};

struct kunit_suite conf_rdm_suite = {
	.name		= "kofi_conformance_rdm",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= rdm_cases,
};
