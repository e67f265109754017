// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Data messages to and from a peer that writes the wire by hand.
 */
#include <linux/bvec.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <rdma/fi_rma.h>
#include "tcp.h"

#define LEN	64
#define PIECE	100000
#define ORDER	9	/* of the pages that a long region consists of, again and again */

static const u64 cq_data = 0xfedcba9876543210ULL;

/* Exactly these bytes come; the number of the header counts from 0 */
static void expect(struct kunit *test, struct socket *sock, u8 *want, u8 id, size_t len)
{
	u8 *got = vt_buf(test, len);

	want[7] = id;
	peer_recv(test, sock, got, len);
	KUNIT_EXPECT_MEMEQ(test, got, want, len);
}

static void expect_ack(struct kunit *test, struct socket *sock, u8 id)
{
	u8 want[PEER_BASE];

	expect(test, sock, want, id, peer_op(want, 0, 2, 0));
}

static struct fi_rma_iov region(struct kunit *test, u8 *buf, size_t len)
{
	return peer_target(peer_region(test, buf, len, FI_REMOTE_READ | FI_REMOTE_WRITE, 5), len);
}

static void send_split(struct kunit *test, struct socket *sock, const u8 *msg,
		       size_t len, size_t split)
{
	peer_send(test, sock, msg, split);
	cond_resched();
	peer_send(test, sock, msg + split, len - split);
}

static void a_message_comes_however_it_is_split(struct kunit *test)
{
	u8 *in = vt_buf(test, LEN), msg[PEER_BASE + 8 + LEN];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct vt_comp comp;
	size_t len, split;

	len = peer_hdr(msg, 0, 1, &cq_data, NULL, 0, LEN);
	vt_fill(msg + len, LEN, 9);
	len += LEN;
	for (split = 1; split < len; split++) {
		memset(in, 0, LEN);
		vt_recv(test, &end, in, LEN, vt_ctx(split));
		send_split(test, sock, msg, len, split);
		comp = vt_done(test, end.rx, vt_ctx(split));
		KUNIT_ASSERT_EQ(test, comp.len, LEN);
		KUNIT_ASSERT_EQ(test, comp.data, cq_data);
		KUNIT_ASSERT_TRUE(test, vt_filled(in, LEN, 9));
	}
}

/* Messages without a flag, which take a shorter way, and one of them cut in its middle */
static void messages_come_however_they_are_split(struct kunit *test)
{
	u8 *in = vt_buf(test, 3 * LEN), msgs[3 * (PEER_BASE + LEN)];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	size_t len = 0, split;
	int i;

	for (i = 0; i < 3; i++) {
		len += peer_hdr(msgs + len, 0, 0, NULL, NULL, 0, LEN - i);
		vt_fill(msgs + len, LEN - i, i + 1);
		len += LEN - i;
	}
	for (split = 1; split < len; split++) {
		memset(in, 0, 3 * LEN);
		for (i = 0; i < 3; i++)
			vt_recv(test, &end, in + i * LEN, LEN, vt_ctx(i + 1));
		send_split(test, sock, msgs, len, split);
		for (i = 0; i < 3; i++) {
			KUNIT_ASSERT_EQ(test, vt_done(test, end.rx, vt_ctx(i + 1)).len, LEN - i);
			KUNIT_ASSERT_TRUE(test, vt_filled(in + i * LEN, LEN - i, i + 1));
		}
	}
}

static void a_write_comes_however_it_is_split(struct kunit *test)
{
	u8 *target = vt_buf(test, LEN), msg[PEER_BASE + 8 + 2 * PEER_RMA + LEN];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct fi_rma_iov all = region(test, target, LEN);
	struct fi_rma_iov rma[] = { all, all };
	struct vt_comp comp;
	size_t len, split;

	rma[0].len = 24;
	rma[1].addr += 24;
	rma[1].len = LEN - 24;
	len = peer_hdr(msg, 4, 5, &cq_data, rma, 2, LEN);
	vt_fill(msg + len, LEN, 6);
	len += LEN;
	for (split = 1; split < len; split++) {
		memset(target, 0, LEN);
		send_split(test, sock, msg, len, split);
		expect_ack(test, sock, split - 1);
		KUNIT_ASSERT_EQ(test, vt_wait(end.rx, &comp), 1);
		KUNIT_ASSERT_EQ(test, comp.data, cq_data);
		KUNIT_ASSERT_TRUE(test, vt_filled(target, LEN, 6));
	}
}

static void a_read_is_answered_however_it_is_split(struct kunit *test)
{
	u8 *target = vt_buf(test, LEN), msg[PEER_BASE + PEER_RMA];
	u8 want[PEER_BASE + LEN];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct fi_rma_iov all = region(test, target, LEN);
	size_t len, split, response;

	vt_fill(target, LEN, 8);
	len = peer_hdr(msg, 2, 0, NULL, &all, 1, 0);
	response = peer_op(want, 3, 0, LEN);
	vt_fill(want + response, LEN, 8);
	for (split = 1; split < len; split++) {
		send_split(test, sock, msg, len, split);
		expect(test, sock, want, split - 1, response + LEN);
	}
}

/* The response to a read, then an acknowledgment */
static void a_response_comes_however_it_is_split(struct kunit *test)
{
	u8 *in = vt_buf(test, LEN), buf[2 * PEER_BASE + LEN];
	const struct kvec kvec = { in, 0 };
	const struct fi_msg msg = {
		.msg_iov = &kvec, .iov_count = 1, .context = vt_ctx(2),
	};
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	size_t len, split;

	len = peer_op(buf, 3, 0, LEN);
	vt_fill(buf + len, LEN, 3);
	len += LEN;
	len += peer_op(buf + len, 0, 2, 0);
	for (split = 1; split < len; split++) {
		u8 asked[2 * PEER_BASE + PEER_RMA];

		memset(in, 0, LEN);
		KUNIT_ASSERT_EQ(test, fi_read(end.ep, in, LEN, NULL, 0, 0, 1, vt_ctx(1)), 0);
		KUNIT_ASSERT_EQ(test, fi_sendmsg(end.ep, &msg, FI_DELIVERY_COMPLETE), 0);
		peer_recv(test, sock, asked, sizeof(asked));
		send_split(test, sock, buf, len, split);
		vt_done(test, end.tx, vt_ctx(1));
		vt_done(test, end.tx, vt_ctx(2));
		KUNIT_ASSERT_TRUE(test, vt_filled(in, LEN, 3));
	}
}

static void set_gather(bool on)
{
	struct net_device *dev = init_net.loopback_dev;

	rtnl_lock();
	if (on)
		dev->features |= NETIF_F_SG;
	else
		dev->features &= ~NETIF_F_SG;
	rtnl_unlock();
}

static void gather_again(void *unused)
{
	set_gather(true);
}

/* A device that cannot gather gets the bytes of a packet in one piece, with its headers */
static void a_message_comes_in_a_packet_of_one_piece(struct kunit *test)
{
	u8 *in = vt_buf(test, 2 * LEN);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	int i;

	vt_recv(test, &end, in, LEN, vt_ctx(1));
	vt_recv(test, &end, in + LEN, LEN, vt_ctx(2));
	set_gather(false);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, gather_again, NULL), 0);
	for (i = 1; i <= 2; i++) {
		peer_send_msg(test, sock, LEN, i);
		vt_done(test, end.rx, vt_ctx(i));
		KUNIT_EXPECT_TRUE(test, vt_filled(in + (i - 1) * LEN, LEN, i));
	}
}

static void a_message_waits_for_its_receive(struct kunit *test)
{
	u8 *in = vt_buf(test, LEN);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	peer_send_msg(test, sock, LEN, 1);
	peer_send_msg(test, sock, LEN, 1);
	vt_none(test, end.rx);
	vt_recv(test, &end, in, LEN, vt_ctx(1));
	vt_done(test, end.rx, vt_ctx(1));
	vt_none(test, end.rx);
	vt_recv(test, &end, in, LEN, vt_ctx(2));
	vt_done(test, end.rx, vt_ctx(2));
}

static void a_message_that_is_too_long_is_cut(struct kunit *test)
{
	u8 *in = vt_buf(test, LEN), msg[PEER_BASE + 2 * LEN];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	size_t len;

	len = peer_hdr(msg, 0, 4, NULL, NULL, 0, 2 * LEN);
	vt_fill(msg + len, 2 * LEN, 1);
	vt_recv(test, &end, in, LEN, vt_ctx(1));
	vt_recv(test, &end, in, LEN, vt_ctx(2));
	peer_send(test, sock, msg, len + 2 * LEN);
	vt_failed_with(test, end.rx, vt_ctx(1), FI_ETRUNC);
	/* The connection goes on */
	expect_ack(test, sock, 0);
	peer_send_msg(test, sock, LEN, 2);
	vt_done(test, end.rx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, 2));
}

/* What the peer says of a message's length is nothing but a number, until it sends so much */
static void a_message_may_be_of_any_length(struct kunit *test)
{
	static const u64 lens[] = { SZ_2G - 1, SZ_2G, 3ULL * SZ_1G, SZ_4G + 100, 1ULL << 62 };
	u8 *piece = vt_buf(test, PIECE), *in = vt_buf(test, LEN), msg[PEER_BASE];
	struct vt_end end[ARRAY_SIZE(lens)] = {};
	struct socket *sock;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		sock = peer_join(test, &end[i]);
		vt_recv(test, &end[i], in, LEN, vt_ctx(1));
		peer_send(test, sock, msg, peer_op(msg, 0, 0, lens[i]));
		peer_send(test, sock, piece, PIECE);
		vt_no_event_for(test, end[i].eq, 100);
		/* The receive is full, and waits for no more of it */
		KUNIT_EXPECT_EQ(test, vt_failed(test, end[i].rx).err, FI_ETRUNC);
		vt_none(test, end[i].rx);
	}
}

static void free_piece(void *pages)
{
	__free_pages(pages, ORDER);
}

/* All of it is the same two megabytes */
static struct fi_rma_iov long_region(struct kunit *test, u64 len)
{
	const size_t count = len / (PAGE_SIZE << ORDER);
	struct bio_vec *list = vt_buf(test, count * sizeof(*list));
	struct fi_mr_attr attr = {
		.type		= FI_BUF_BVEC,
		.mr_bvec	= list,
		.iov_count	= count,
		.access		= FI_REMOTE_WRITE,
		.requested_key	= 5,
	};
	struct page *pages = alloc_pages(GFP_KERNEL, ORDER);
	struct fid_mr *mr;
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, pages);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_piece, pages), 0);
	for (i = 0; i < count; i++)
		bvec_set_page(&list[i], pages, PAGE_SIZE << ORDER, 0);
	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, 0, &mr), 0);
	vt_adopt(test, &mr->fid);
	return peer_target(mr, len);
}

static void a_write_may_be_longer_than_two_gigabytes(struct kunit *test)
{
	u8 *piece = vt_buf(test, PIECE), msg[PEER_BASE + PEER_RMA];
	struct fi_rma_iov rma = long_region(test, SZ_2G + SZ_64M);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	peer_send(test, sock, msg, peer_hdr(msg, 4, 0, NULL, &rma, 1, rma.len));
	peer_send(test, sock, piece, PIECE);
	vt_no_event_for(test, end.eq, 100);
}

/* A message whose bytes vt_fill() makes of 4 */
static void expect_msg(struct kunit *test, struct socket *sock, u16 flags, const u64 *data, u8 id)
{
	u8 want[PEER_BASE + 8 + LEN];
	size_t len = peer_hdr(want, 0, flags, data, NULL, 0, LEN);

	vt_fill(want + len, LEN, 4);
	expect(test, sock, want, id, len + LEN);
}

static void what_is_sent_is_what_libfabric_sends(struct kunit *test)
{
	u8 *out = vt_buf(test, LEN), want[PEER_BASE];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	vt_fill(out, LEN, 4);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, LEN, NULL, 0, vt_ctx(1)), 0);
	expect_msg(test, sock, 0, NULL, 0);
	vt_done(test, end.tx, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_senddata(end.ep, out, LEN, NULL, cq_data, 0, vt_ctx(2)), 0);
	expect_msg(test, sock, 1, &cq_data, 1);
	vt_done(test, end.tx, vt_ctx(2));
	KUNIT_ASSERT_EQ(test, fi_inject(end.ep, NULL, 0, 0), 0);
	expect(test, sock, want, 2, peer_op(want, 0, 0, 0));
}

static void delivery_is_complete_when_it_is_acknowledged(struct kunit *test)
{
	static const u64 levels[] = { FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE };
	u8 *out = vt_buf(test, LEN);
	const struct kvec kvec = { out, LEN };
	const struct fi_msg msg = {
		.msg_iov = &kvec, .iov_count = 1, .context = vt_ctx(1),
	};
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	int i;

	vt_fill(out, LEN, 4);
	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		KUNIT_ASSERT_EQ(test, fi_sendmsg(end.ep, &msg, levels[i]), 0);
		expect_msg(test, sock, 4, NULL, i);
		vt_none(test, end.tx);
		peer_send_ack(test, sock);
		vt_done(test, end.tx, vt_ctx(1));
	}
}

static void a_write_goes_where_it_says(struct kunit *test)
{
	u8 *target = vt_buf(test, LEN), msg[PEER_BASE + 8 + 2 * PEER_RMA + LEN];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct fi_rma_iov all = region(test, target, LEN);
	struct fi_rma_iov rma[] = { all, all };
	struct vt_comp comp;
	size_t len;

	rma[0].addr += 40;
	rma[0].len = 24;
	rma[1].len = 40;
	len = peer_hdr(msg, 4, 5, &cq_data, rma, 2, LEN);
	vt_fill(msg + len, LEN, 6);
	peer_send(test, sock, msg, len + LEN);
	KUNIT_ASSERT_EQ(test, vt_wait(end.rx, &comp), 1);
	KUNIT_EXPECT_EQ(test, comp.err, 0);
	KUNIT_EXPECT_EQ(test, comp.data, cq_data);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	expect_ack(test, sock, 0);
	KUNIT_EXPECT_MEMEQ(test, target + 40, msg + len, 24);
	KUNIT_EXPECT_MEMEQ(test, target, msg + len + 24, 40);
}

static void a_read_is_answered(struct kunit *test)
{
	u8 *target = vt_buf(test, LEN), msg[PEER_BASE + PEER_RMA];
	u8 want[PEER_BASE + LEN];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct fi_rma_iov all = region(test, target, LEN);
	size_t len;

	vt_fill(target, LEN, 8);
	peer_send(test, sock, msg, peer_hdr(msg, 2, 0, NULL, &all, 1, 0));
	len = peer_op(want, 3, 0, LEN);
	vt_fill(want + len, LEN, 8);
	expect(test, sock, want, 0, len + LEN);
}

static void reads_are_answered_in_their_order(struct kunit *test)
{
	u8 *in = vt_buf(test, 2 * LEN), buf[PEER_BASE + LEN];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct fi_rma_iov rma = { .addr = 1, .len = LEN, .key = 2 };
	size_t len;
	int i;

	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, fi_read(end.ep, in + i * LEN, LEN, NULL, 0, rma.addr, rma.key,
					      vt_ctx(i + 1)), 0);
	for (i = 0; i < 2; i++) {
		len = peer_hdr(buf, 2, 0, NULL, &rma, 1, 0);
		expect(test, sock, buf, i, len);
	}
	vt_none(test, end.tx);
	for (i = 0; i < 2; i++) {
		len = peer_op(buf, 3, 0, LEN);
		vt_fill(buf + len, LEN, i);
		peer_send(test, sock, buf, len + LEN);
		vt_done(test, end.tx, vt_ctx(i + 1));
		KUNIT_EXPECT_TRUE(test, vt_filled(in + i * LEN, LEN, i));
	}
}

static struct kunit_case data_cases[] = {
	KUNIT_CASE(a_message_comes_however_it_is_split),
	KUNIT_CASE(messages_come_however_they_are_split),
	KUNIT_CASE(a_write_comes_however_it_is_split),
	KUNIT_CASE(a_read_is_answered_however_it_is_split),
	KUNIT_CASE(a_response_comes_however_it_is_split),
	KUNIT_CASE(a_message_comes_in_a_packet_of_one_piece),
	KUNIT_CASE(a_message_waits_for_its_receive),
	KUNIT_CASE(a_message_that_is_too_long_is_cut),
	KUNIT_CASE(a_message_may_be_of_any_length),
	KUNIT_CASE(a_write_may_be_longer_than_two_gigabytes),
	KUNIT_CASE(what_is_sent_is_what_libfabric_sends),
	KUNIT_CASE(delivery_is_complete_when_it_is_acknowledged),
	KUNIT_CASE(a_write_goes_where_it_says),
	KUNIT_CASE(a_read_is_answered),
	KUNIT_CASE(reads_are_answered_in_their_order),
	{}
};

static struct kunit_suite data_suite = {
	.name		= "kofi_tcp_data",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= data_cases,
};

/* Headers are in network byte order, payload is as it is */
static struct kunit_suite foreign_suite = {
	.name		= "kofi_tcp_data_foreign",
	.init		= bed_init_foreign,
	.exit		= vt_exit,
	.test_cases	= data_cases,
};

kunit_test_suites(&data_suite, &foreign_suite);
