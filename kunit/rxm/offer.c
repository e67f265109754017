// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages that this end offers, and a raw peer reads.
 */
#include <linux/delay.h>
#include <linux/sizes.h>
#include <rdma/fi_rma.h>
#include "rxm.h"

#define LEN		64
#define SEGMENTED	(8 * RXM_LIMIT)	/* the longest message in segments */
#define LONG		(SEGMENTED + 1)

/* The next offer to the raw peer, which is in the buffer @nr: it says @len */
static struct rxm_wire_hdr *next_offer(struct kunit *test, struct rxm_bed *bed, int nr, size_t len)
{
	struct rxm_wire_hdr *hdr = (struct rxm_wire_hdr *)bed->bufs[nr];
	const struct rxm_wire_rndv *offer = (void *)(hdr + 1);
	size_t sum = 0;
	int i;

	KUNIT_ASSERT_EQ(test, vt_done(test, bed->peer.rx, vt_ctx(nr)).len,
			sizeof(*hdr) + sizeof(*offer));
	KUNIT_EXPECT_EQ(test, hdr->ctrl.version, 4);
	KUNIT_EXPECT_EQ(test, hdr->ctrl.type, 2);
	KUNIT_EXPECT_EQ(test, hdr->ctrl.conn_id, RXM_ID);
	KUNIT_EXPECT_EQ(test, hdr->op.version, 2);
	KUNIT_EXPECT_EQ(test, hdr->op.size, len);
	KUNIT_ASSERT_GE(test, offer->count, 1);
	KUNIT_ASSERT_LE(test, offer->count, RXM_WIRE_IOV);
	for (i = 0; i < offer->count; i++)
		sum += offer->iov[i].len;
	KUNIT_EXPECT_EQ(test, sum, len);
	return hdr;
}

/* Reads what is offered into @buf */
static void read_offer(struct kunit *test, struct rxm_bed *bed, const struct rxm_wire_hdr *hdr,
		       u8 *buf)
{
	const struct rxm_wire_rndv *offer = (const void *)(hdr + 1);
	int i;

	for (i = 0; i < offer->count; i++) {
		KUNIT_ASSERT_EQ(test, fi_read(bed->peer.ep, buf, offer->iov[i].len, NULL, 0,
					      offer->iov[i].addr, offer->iov[i].key,
					      vt_ctx(50)), 0);
		vt_done(test, bed->peer.tx, vt_ctx(50));
		buf += offer->iov[i].len;
	}
}

static void answer_offer(struct kunit *test, struct rxm_bed *bed, u64 msg_id)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, 0);

	hdr->ctrl.type = 3;
	hdr->ctrl.msg_id = msg_id;
	/* libfabric leaves the operation of another packet there */
	hdr->op.op = RXM_WIRE_COMPARE_ATOMIC;
	rxm_send(test, bed, hdr, sizeof(*hdr));
}

static void a_long_message_is_offered_until_it_has_been_read(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *out = vt_buf(test, LONG), *in = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;

	rxm_join(test, bed);
	vt_fill(out, LONG, 1);
	KUNIT_ASSERT_EQ(test, fi_tsenddata(bed->us.ep, out, LONG, NULL, 11, 0, 12, vt_ctx(1)), 0);
	hdr = next_offer(test, bed, 0, LONG);
	KUNIT_EXPECT_EQ(test, hdr->op.op, 1);
	KUNIT_EXPECT_EQ(test, hdr->op.flags, 1U << 17);
	KUNIT_EXPECT_EQ(test, hdr->op.data, 11);
	KUNIT_EXPECT_EQ(test, hdr->op.tag, 12);
	read_offer(test, bed, hdr, in);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LONG, 1));
	vt_none(test, bed->us.tx);
	answer_offer(test, bed, hdr->ctrl.msg_id);
	vt_done(test, bed->us.tx, vt_ctx(1));
}

static void the_key_ends_with_the_message(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *out = vt_buf(test, LONG), *in = vt_buf(test, 8);
	const struct rxm_wire_rndv *offer;
	struct rxm_wire_hdr *hdr;

	rxm_join(test, bed);
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, out, LONG, NULL, 0, vt_ctx(1)), 0);
	hdr = next_offer(test, bed, 0, LONG);
	answer_offer(test, bed, hdr->ctrl.msg_id);
	vt_done(test, bed->us.tx, vt_ctx(1));
	offer = (void *)(hdr + 1);
	KUNIT_ASSERT_EQ(test, fi_read(bed->peer.ep, in, 8, NULL, 0, offer->iov[0].addr,
				      offer->iov[0].key, vt_ctx(50)), 0);
	vt_failed(test, bed->peer.tx);
}

/* Messages of any length, of which none is reported before its answer has come */
static void a_message_to_be_delivered_is_offered(struct kunit *test)
{
	static const size_t lens[] = { 1, 100, RXM_LIMIT + 1 };
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *out = vt_buf(test, RXM_LIMIT + 1), *in = vt_buf(test, RXM_LIMIT + 1);
	struct rxm_wire_hdr *hdr;
	int i;

	rxm_join(test, bed);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		struct kvec iov = { out, lens[i] };
		const struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = vt_ctx(1) };

		vt_fill(out, lens[i], i);
		KUNIT_ASSERT_EQ(test, fi_sendmsg(bed->us.ep, &msg,
						 FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
		hdr = next_offer(test, bed, i, lens[i]);
		read_offer(test, bed, hdr, in);
		KUNIT_EXPECT_TRUE(test, vt_filled(in, lens[i], i));
		vt_none(test, bed->us.tx);
		answer_offer(test, bed, hdr->ctrl.msg_id);
		vt_done(test, bed->us.tx, vt_ctx(1));
	}
}

static void send_delivered(struct kunit *test, struct rxm_bed *bed, u8 *out)
{
	struct kvec iov = { out, LEN };
	const struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = vt_ctx(1) };

	KUNIT_ASSERT_EQ(test, fi_sendmsg(bed->us.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE),
			0);
}

static void a_copy_is_offered_if_the_buffer_cannot_be_registered(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *out = vt_buf(test, LEN), *in = vt_buf(test, LEN);
	struct rxm_wire_hdr *hdr;

	rxm_join(test, bed);
	vt_fill(out, LEN, 1);
	rxm_fault(test, "mr error 12 times=1");
	send_delivered(test, bed, out);
	hdr = next_offer(test, bed, 0, LEN);
	vt_fill(out, LEN, 2);
	read_offer(test, bed, hdr, in);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, 1));
	answer_offer(test, bed, hdr->ctrl.msg_id);
	vt_done(test, bed->us.tx, vt_ctx(1));
}

/* Only that message fails */
static void a_message_that_cannot_be_offered_fails(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *out = vt_buf(test, LEN);
	struct rxm_wire_hdr *hdr;

	rxm_join(test, bed);
	rxm_fault(test, "mr error 12 times=2");
	send_delivered(test, bed, out);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ENOMEM);
	rxm_expect_faults(test, 2);
	send_delivered(test, bed, out);
	hdr = next_offer(test, bed, 0, LEN);
	answer_offer(test, bed, hdr->ctrl.msg_id);
	vt_done(test, bed->us.tx, vt_ctx(1));
}

static void a_long_message_that_cannot_be_offered_is_sent_in_segments(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *out = vt_buf(test, LONG);
	int i;

	rxm_join(test, bed);
	rxm_post_recvs(test, bed);
	rxm_fault(test, "mr error 12 times=1");
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, out, LONG, NULL, 0, vt_ctx(1)), 0);
	for (i = 0; i < DIV_ROUND_UP(LONG, RXM_LIMIT); i++)
		rxm_next_packet(test, bed, i % RXM_RECVS, RXM_WIRE_SEG);
	vt_done(test, bed->us.tx, vt_ctx(1));
}

/* libfabric never answers the offer of a message without bytes */
static void an_empty_message_to_be_delivered_is_not_offered(struct kunit *test)
{
	const struct fi_msg msg = { .context = vt_ctx(1) };
	struct rxm_bed *bed = rxm_bed_open(test);
	const struct rxm_wire_hdr *hdr = (const void *)bed->bufs[0];

	rxm_join(test, bed);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(bed->us.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE),
			0);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->peer.rx, vt_ctx(0)).len, sizeof(*hdr));
	KUNIT_EXPECT_EQ(test, hdr->ctrl.type, RXM_WIRE_EAGER);
	KUNIT_EXPECT_EQ(test, hdr->op.size, 0);
	vt_done(test, bed->us.tx, vt_ctx(1));
}

/* It has not been delivered before the lower endpoint of the peer has it */
static void an_empty_message_to_be_delivered_waits_for_the_peer(struct kunit *test)
{
	const struct fi_msg msg = { .context = vt_ctx(1) };
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *out = vt_buf(test, LEN);
	int i;

	rxm_join(test, bed);
	for (i = 0; i < RXM_RECVS; i++) {
		KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, out, LEN, NULL, 0, vt_ctx(2)), 0);
		vt_done(test, bed->us.tx, vt_ctx(2));
		vt_done(test, bed->peer.rx, vt_ctx(i));
	}
	KUNIT_ASSERT_EQ(test, fi_sendmsg(bed->us.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE),
			0);
	msleep(MSEC_PER_SEC);
	vt_none(test, bed->us.tx);
	rxm_post_recvs(test, bed);
	vt_done(test, bed->us.tx, vt_ctx(1));
}

static void offers_may_be_answered_in_any_order(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_hdr *hdr[3];
	u8 *out = vt_buf(test, LONG);
	int i;

	rxm_join(test, bed);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, out, LONG, NULL, 0, vt_ctx(i)), 0);
		hdr[i] = next_offer(test, bed, i, LONG);
	}
	for (i = 2; i >= 0; i--) {
		answer_offer(test, bed, hdr[i]->ctrl.msg_id);
		vt_done(test, bed->us.tx, vt_ctx(i));
	}
}

static void an_offer_that_is_not_answered_ends_with_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *out = vt_buf(test, LONG);

	rxm_join(test, bed);
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, out, LONG, NULL, 0, vt_ctx(1)), 0);
	next_offer(test, bed, 0, LONG);
	vt_end_close(test, &bed->peer);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNRESET);
}

static void an_offer_that_is_not_answered_ends_with_the_endpoint(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *out = vt_buf(test, LONG);

	rxm_join(test, bed);
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, out, LONG, NULL, 0, vt_ctx(1)), 0);
	next_offer(test, bed, 0, LONG);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(bed->us.ep, -1), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECANCELED);
}

/* One that was never offered, and one that has been answered */
static void an_answer_without_an_offer_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *out = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;
	union vt_event event;
	u64 id;

	rxm_join(test, bed);
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, out, LONG, NULL, 0, vt_ctx(1)), 0);
	hdr = next_offer(test, bed, 0, LONG);
	id = hdr->ctrl.msg_id;
	answer_offer(test, bed, id);
	vt_done(test, bed->us.tx, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, out, LONG, NULL, 0, vt_ctx(2)), 0);
	next_offer(test, bed, 1, LONG);
	answer_offer(test, bed, id);
	vt_event(test, bed->peer.eq, FI_SHUTDOWN, &event);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNRESET);
}

static struct kunit_case offer_cases[] = {
	KUNIT_CASE(a_long_message_is_offered_until_it_has_been_read),
	KUNIT_CASE(the_key_ends_with_the_message),
	KUNIT_CASE(a_message_to_be_delivered_is_offered),
	KUNIT_CASE(a_copy_is_offered_if_the_buffer_cannot_be_registered),
	KUNIT_CASE(a_message_that_cannot_be_offered_fails),
	KUNIT_CASE(a_long_message_that_cannot_be_offered_is_sent_in_segments),
	KUNIT_CASE(an_empty_message_to_be_delivered_is_not_offered),
	KUNIT_CASE(an_empty_message_to_be_delivered_waits_for_the_peer),
	KUNIT_CASE(offers_may_be_answered_in_any_order),
	KUNIT_CASE(an_offer_that_is_not_answered_ends_with_the_connection),
	KUNIT_CASE(an_offer_that_is_not_answered_ends_with_the_endpoint),
	KUNIT_CASE(an_answer_without_an_offer_ends_the_connection),
	{}
};

struct kunit_suite rxm_offer_suite = {
	.name		= "kofi_rxm_offer",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= offer_cases,
};
