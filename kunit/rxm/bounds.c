// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the peers of a host can take of an endpoint, and for how long: room for messages without a
 * receive, and receives.  A peer of another host is served meanwhile.
 */
#include <linux/delay.h>
#include <linux/in.h>
#include "rxm.h"

#define LEN	64
#define SHORT_S	5	/* the least message_timeout */
#define KEPT	64	/* messages of a connection that are kept without a receive */
#define CONNS	8	/* connections whose messages are all that an endpoint keeps */
#define HALF	4	/* of them, those that take what a host may have */
#define MANY	16	/* connections of the hosts of a case */
#define HOST	0x7f000101	/* 127.0.1.1, the first of the hosts that fill the endpoint */
#define SEGS	32	/* segments of a message that comes slowly */
#define OTHER	0x7f000003	/* 127.0.0.3, a good peer */

/* Raw peers that are opened from now on have this address */
static void be_host(struct kunit *test, u32 host)
{
	((struct sockaddr_in *)vt_of(test)->info->src_addr)->sin_addr.s_addr = htonl(host);
}

static struct rxm_wire_hdr *tagged_packet(struct kunit *test, struct rxm_bed *bed, u8 tag)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, LEN);

	hdr->op.op = 1;
	hdr->op.tag = tag;
	return hdr;
}

static void send_tagged(struct kunit *test, struct rxm_bed *bed, u8 tag)
{
	rxm_send(test, bed, tagged_packet(test, bed, tag), sizeof(struct rxm_wire_hdr) + LEN);
}

/* They have come, and are kept */
static void send_kept(struct kunit *test, struct rxm_bed *bed, int count)
{
	while (count--)
		send_tagged(test, bed, 1);
}

/* Those that are not kept wait, and their sends have not completed */
static void post_kept(struct kunit *test, struct rxm_bed *bed)
{
	struct rxm_wire_hdr *hdr = tagged_packet(test, bed, 1);
	int i;

	for (i = 0; i < KEPT; i++)
		vt_send(test, &bed->peer, hdr, sizeof(*hdr) + LEN, vt_ctx(i));
}

static void post_tagged(struct kunit *test, struct rxm_bed *bed, u8 tag)
{
	KUNIT_ASSERT_EQ(test, fi_trecv(bed->us.ep, vt_buf(test, LEN), LEN, NULL, FI_ADDR_UNSPEC,
				       tag, 0, vt_ctx(tag)), 0);
}

/* What a connection sends arrives, behind a message that nobody receives */
static void expect_served(struct kunit *test, struct rxm_bed *bed)
{
	send_tagged(test, bed, 2);
	post_tagged(test, bed, 3);
	send_tagged(test, bed, 3);
	vt_done(test, bed->us.rx, vt_ctx(3));
}

/* It comes back each time that its connection has what a connection may have, and stays then */
static void a_host_does_not_fill_an_endpoint(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	int i;

	be_host(test, HOST);
	for (i = 0; i < HALF; i++) {
		rxm_join_as(test, bed, RXM_PORT + i);
		send_kept(test, bed, KEPT);
		vt_end_close(test, &bed->peer);
	}
	for (; i < CONNS; i++) {
		bed->peer = (struct vt_end) {};
		rxm_join_as(test, bed, RXM_PORT + i);
		post_kept(test, bed);
	}
	be_host(test, OTHER);
	bed->peer = (struct vt_end) {};
	rxm_join(test, bed);
	expect_served(test, bed);
}

/* With enough hosts they leave nothing.  Once one has gone its messages make room */
static void hosts_that_have_gone_make_room(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test), *beds = vt_buf(test, MANY * sizeof(*beds));
	int left = CONNS * KEPT, count, i;
	unsigned long since = jiffies;

	rxm_param(test, "message_timeout", SHORT_S, 60);
	for (i = 0; i < MANY && left; i++, left -= count) {
		count = min(DIV_ROUND_UP(left, 2), KEPT);
		beds[i] = *bed;
		/* The first host has as much as it may have, and goes */
		be_host(test, HOST + max(0, i + 1 - HALF));
		rxm_join_as(test, &beds[i], RXM_PORT + 1 + i);
		send_kept(test, &beds[i], count);
		if (i < HALF)
			vt_end_close(test, &beds[i].peer);
	}
	KUNIT_ASSERT_EQ(test, left, 0);
	be_host(test, OTHER);
	rxm_join(test, bed);
	expect_served(test, bed);
	KUNIT_EXPECT_GE(test, jiffies - since, SHORT_S * HZ);
}

/* A segment of a message of SEGS of them */
static struct rxm_wire_hdr *segment(struct kunit *test, struct rxm_bed *bed, int no)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, RXM_LIMIT);

	hdr->ctrl.type = 1;
	hdr->ctrl.seg_no = no;
	hdr->ctrl.seg_type = !no ? 1 : no == SEGS - 1 ? 3 : 2;
	hdr->ctrl.msg_id = 5;
	hdr->op.size = SEGS * RXM_LIMIT;
	return hdr;
}

/* Each segment comes in time, but not all of them together */
static void a_message_that_comes_too_slowly_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	int i;

	rxm_param(test, "message_timeout", SHORT_S, 60);
	rxm_param(test, "message_rate", 64, 16);
	rxm_join(test, bed);
	vt_recv(test, &bed->us, vt_buf(test, SEGS * RXM_LIMIT), SEGS * RXM_LIMIT, vt_ctx(1));
	for (i = 0; i < SEGS; i++) {
		if (fi_send(bed->peer.ep, segment(test, bed, i),
			    sizeof(struct rxm_wire_hdr) + RXM_LIMIT, NULL, 0, vt_ctx(100)))
			break;
		/* A quarter of the rate */
		msleep(MSEC_PER_SEC);
	}
	KUNIT_EXPECT_GT(test, i, SHORT_S);
	KUNIT_EXPECT_LT(test, i, SEGS);
	rxm_expect_closed(test, bed);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.rx).err, ECONNRESET);
}

/* It is reported when it is full, though the rest of the message may take long, or never come */
static void a_receive_does_not_wait_for_what_is_dropped(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	int i;

	vt_recv(test, &bed->us, vt_buf(test, RXM_LIMIT), RXM_LIMIT, vt_ctx(1));
	rxm_send(test, bed, segment(test, bed, 0), sizeof(struct rxm_wire_hdr) + RXM_LIMIT);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.rx).err, FI_ETRUNC);
	for (i = 1; i < SEGS; i++)
		rxm_send(test, bed, segment(test, bed, i), sizeof(struct rxm_wire_hdr) + RXM_LIMIT);
	expect_served(test, bed);
}

static struct kunit_case bounds_cases[] = {
	KUNIT_CASE(a_host_does_not_fill_an_endpoint),
	KUNIT_CASE(hosts_that_have_gone_make_room),
	KUNIT_CASE(a_message_that_comes_too_slowly_ends_the_connection),
	KUNIT_CASE(a_receive_does_not_wait_for_what_is_dropped),
	{}
};

struct kunit_suite rxm_bounds_suite = {
	.name		= "kofi_rxm_bounds",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= bounds_cases,
};
