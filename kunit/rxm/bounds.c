// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the peers of a host can take of an endpoint, and for how long: room for messages without a
 * receive, and receives.  A peer of another host is served meanwhile.
 */
#include <linux/in.h>
#include "rxm.h"

#define LEN	64
#define SHORT_S	5	/* the least message_timeout */
#define KEPT	64	/* messages of a connection that are kept without a receive */
#define CONNS	8	/* connections whose messages are all that an endpoint keeps */
#define HALF	4	/* of them, those that take what a host may have */
#define MANY	16	/* connections of the hosts of a case */
#define HOST	0x7f000101	/* 127.0.1.1, the first of the hosts that fill the endpoint */
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
		KUNIT_ASSERT_EQ(test, fi_send(bed->peer.ep, hdr, sizeof(*hdr) + LEN, NULL, 0,
					      vt_ctx(i)), 0);
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

static struct kunit_case bounds_cases[] = {
	KUNIT_CASE(a_host_does_not_fill_an_endpoint),
	KUNIT_CASE(hosts_that_have_gone_make_room),
	{}
};

struct kunit_suite rxm_bounds_suite = {
	.name		= "kofi_rxm_bounds",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= bounds_cases,
};
