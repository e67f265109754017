// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages on offer: those of this end, which a raw peer reads, and those of a raw peer.
 */
#include <linux/delay.h>
#include <linux/sizes.h>
#include <rdma/fi_rma.h>
#include "rxm.h"

#define LEN		64
#define SEGMENTED	(8 * RXM_LIMIT)	/* the longest message in segments */
#define LONG		(SEGMENTED + 1)
#define OFFER		(3 * SZ_1M + 17)
#define PARTS		6	/* reads of a message */
#define KEPT		64	/* messages of a connection that are kept without a receive */
#define SHORT_S		5	/* the least message_timeout */
#define UNWANTED	320	/* offers that an endpoint may deal with: its receives and 64 */
#define RECVS		16	/* receives of a connection of the endpoint */
#define MANY		6	/* rounds of three offers: more than the endpoint has receives */

/* The next offer to the raw peer, which is in the buffer @nr: it says @len */
static struct rxm_wire_hdr *next_offer(struct kunit *test, struct rxm_bed *bed, int nr, size_t len)
{
	struct rxm_wire_hdr *hdr = rxm_next_sized(test, bed, nr, RXM_WIRE_RNDV_REQ,
						  sizeof(struct rxm_wire_rndv));

	KUNIT_EXPECT_EQ(test, hdr->op.size, len);
	rxm_expect_ranges(test, hdr, len);
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

static void a_long_message_is_offered_until_it_has_been_read(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *out = vt_buf(test, LONG), *in = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;

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
	rxm_send_word(test, bed, RXM_WIRE_RNDV_READ_DONE, hdr->ctrl.msg_id);
	vt_done(test, bed->us.tx, vt_ctx(1));
}

static void the_key_ends_with_the_message(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *out = vt_buf(test, LONG), *in = vt_buf(test, 8);
	const struct rxm_wire_rndv *offer;
	struct rxm_wire_hdr *hdr;

	vt_send(test, &bed->us, out, LONG, vt_ctx(1));
	hdr = next_offer(test, bed, 0, LONG);
	rxm_send_word(test, bed, RXM_WIRE_RNDV_READ_DONE, hdr->ctrl.msg_id);
	vt_done(test, bed->us.tx, vt_ctx(1));
	offer = (void *)(hdr + 1);
	KUNIT_ASSERT_EQ(test, fi_read(bed->peer.ep, in, 8, NULL, 0, offer->iov[0].addr,
				      offer->iov[0].key, vt_ctx(50)), 0);
	vt_failed(test, bed->peer.tx);
}

static void send_delivered(struct kunit *test, struct rxm_bed *bed, u8 *out, size_t len)
{
	struct kvec iov = { out, len };
	const struct fi_msg msg = { .msg_iov = &iov, .iov_count = !!len, .context = vt_ctx(1) };

	KUNIT_ASSERT_EQ(test, fi_sendmsg(bed->us.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE),
			0);
}

/*
 * Messages of any length, of which none is reported before its answer has come.  No answer keeps a
 * receive of the endpoint.
 */
static void a_message_to_be_delivered_is_offered(struct kunit *test)
{
	static const size_t lens[] = { 1, 100, RXM_LIMIT + 1 };
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *out = vt_buf(test, RXM_LIMIT + 1), *in = vt_buf(test, RXM_LIMIT + 1);
	struct rxm_wire_hdr *hdr;
	size_t len;
	int i;

	for (i = 0; i <= RECVS; i++) {
		len = lens[i % ARRAY_SIZE(lens)];
		vt_fill(out, len, i);
		send_delivered(test, bed, out, len);
		hdr = next_offer(test, bed, i % RXM_RECVS, len);
		read_offer(test, bed, hdr, in);
		KUNIT_EXPECT_TRUE(test, vt_filled(in, len, i));
		vt_none(test, bed->us.tx);
		rxm_send_word(test, bed, RXM_WIRE_RNDV_READ_DONE, hdr->ctrl.msg_id);
		vt_done(test, bed->us.tx, vt_ctx(1));
		rxm_recv_again(test, bed, i % RXM_RECVS);
	}
}

static void a_message_in_pages_is_offered(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *out = vt_buf(test, LEN), *in = vt_buf(test, LEN);
	struct bio_vec page;
	const struct fi_msg msg = {
		.type		= FI_BUF_BVEC,
		.msg_bvec	= &page,
		.iov_count	= 1,
		.context	= vt_ctx(1),
	};
	struct rxm_wire_hdr *hdr;

	page = rxm_pages(out, LEN);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(bed->us.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE),
			0);
	hdr = next_offer(test, bed, 0, LEN);
	/* What is offered is the buffer itself */
	vt_fill(out, LEN, 1);
	read_offer(test, bed, hdr, in);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, 1));
	rxm_send_word(test, bed, RXM_WIRE_RNDV_READ_DONE, hdr->ctrl.msg_id);
	vt_done(test, bed->us.tx, vt_ctx(1));
}

/* Nothing of it is lost or counted twice */
static void an_offer_that_finds_no_room_below_is_sent_later(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	struct rxm_wire_hdr *hdr;

	rxm_join(test, bed);
	rxm_fault(test, "send again times=1");
	vt_send(test, &bed->us, vt_buf(test, LONG), LONG, vt_ctx(1));
	hdr = next_offer(test, bed, 0, LONG);
	rxm_expect_faults(test, 1);
	rxm_send_word(test, bed, RXM_WIRE_RNDV_READ_DONE, hdr->ctrl.msg_id);
	vt_done(test, bed->us.tx, vt_ctx(1));
	rxm_expect_leave(test, bed, 1);
}

/*
 * @type: of the two buffers; @rule: what goes wrong after they cannot be registered together;
 * @count: ranges
 */
static void expect_apart(struct kunit *test, enum fi_buf_type type, const char *rule, int count)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *out = vt_buf(test, LEN), *in = vt_buf(test, LEN);
	struct kvec list[2] = { { out, 5 }, { out + 5, LEN - 5 } };
	struct bio_vec pages[2] = { rxm_pages(out, 5), rxm_pages(out + 5, LEN - 5) };
	struct fi_msg msg = { .type = type, .iov_count = 2, .context = vt_ctx(1) };
	struct rxm_wire_hdr *hdr;

	if (type == FI_BUF_BVEC)
		msg.msg_bvec = pages;
	else
		msg.msg_iov = list;
	rxm_join(test, bed);
	vt_fill(out, LEN, 1);
	rxm_fault(test, "mr error 22 times=1");
	if (rule)
		rxm_fault(test, rule);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(bed->us.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE),
			0);
	hdr = next_offer(test, bed, 0, LEN);
	KUNIT_EXPECT_EQ(test, ((struct rxm_wire_rndv *)(hdr + 1))->count, count);
	read_offer(test, bed, hdr, in);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, 1));
	rxm_send_word(test, bed, RXM_WIRE_RNDV_READ_DONE, hdr->ctrl.msg_id);
	vt_done(test, bed->us.tx, vt_ctx(1));
}

static void buffers_that_cannot_be_registered_together_are_registered_apart(struct kunit *test)
{
	expect_apart(test, FI_BUF_KVEC, NULL, 2);
}

static void pages_that_cannot_be_registered_together_are_registered_apart(struct kunit *test)
{
	expect_apart(test, FI_BUF_BVEC, NULL, 2);
}

/* The first one can */
static void a_copy_is_offered_if_one_of_the_buffers_cannot_be_registered(struct kunit *test)
{
	expect_apart(test, FI_BUF_KVEC, "mr error 12 after=2 times=1", 1);
}

static void a_copy_is_offered_if_the_buffer_cannot_be_registered(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *out = vt_buf(test, LEN), *in = vt_buf(test, LEN);
	struct rxm_wire_hdr *hdr;

	rxm_join(test, bed);
	vt_fill(out, LEN, 1);
	rxm_fault(test, "mr error 12 times=1");
	send_delivered(test, bed, out, LEN);
	hdr = next_offer(test, bed, 0, LEN);
	vt_fill(out, LEN, 2);
	read_offer(test, bed, hdr, in);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, 1));
	rxm_send_word(test, bed, RXM_WIRE_RNDV_READ_DONE, hdr->ctrl.msg_id);
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
	send_delivered(test, bed, out, LEN);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ENOMEM);
	rxm_expect_faults(test, 2);
	send_delivered(test, bed, out, LEN);
	hdr = next_offer(test, bed, 0, LEN);
	rxm_send_word(test, bed, RXM_WIRE_RNDV_READ_DONE, hdr->ctrl.msg_id);
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
	vt_send(test, &bed->us, out, LONG, vt_ctx(1));
	for (i = 0; i < DIV_ROUND_UP(LONG, RXM_LIMIT); i++)
		rxm_next_packet(test, bed, i % RXM_RECVS, RXM_WIRE_SEG);
	vt_done(test, bed->us.tx, vt_ctx(1));
}

/* libfabric never answers the offer of a message without bytes */
static void an_empty_message_to_be_delivered_is_not_offered(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	const struct rxm_wire_hdr *hdr = (const void *)bed->bufs[0];

	rxm_join(test, bed);
	send_delivered(test, bed, NULL, 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->peer.rx, vt_ctx(0)).len, sizeof(*hdr));
	KUNIT_EXPECT_EQ(test, hdr->ctrl.type, RXM_WIRE_EAGER);
	KUNIT_EXPECT_EQ(test, hdr->op.size, 0);
	vt_done(test, bed->us.tx, vt_ctx(1));
}

/* It has not been delivered before the lower endpoint of the peer has it */
static void an_empty_message_to_be_delivered_waits_for_the_peer(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *out = vt_buf(test, LEN);
	int i;

	for (i = 0; i < RXM_RECVS; i++) {
		vt_send(test, &bed->us, out, LEN, vt_ctx(2));
		vt_done(test, bed->us.tx, vt_ctx(2));
		vt_done(test, bed->peer.rx, vt_ctx(i));
	}
	send_delivered(test, bed, NULL, 0);
	msleep(MSEC_PER_SEC);
	vt_none(test, bed->us.tx);
	rxm_post_recvs(test, bed);
	vt_done(test, bed->us.tx, vt_ctx(1));
}

static void offers_may_be_answered_in_any_order(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	struct rxm_wire_hdr *hdr[3];
	u8 *out = vt_buf(test, LONG);
	int round, i, nr = 0;

	for (round = 0; round < MANY; round++) {
		for (i = 0; i < 3; i++, nr = (nr + 1) % RXM_RECVS) {
			vt_send(test, &bed->us, out, LONG, vt_ctx(i));
			hdr[i] = next_offer(test, bed, nr, LONG);
		}
		for (i = 2; i >= 0; i--) {
			rxm_send_word(test, bed, RXM_WIRE_RNDV_READ_DONE, hdr[i]->ctrl.msg_id);
			vt_done(test, bed->us.tx, vt_ctx(i));
		}
		for (i = 3; i > 0; i--)
			rxm_recv_again(test, bed, (nr + RXM_RECVS - i) % RXM_RECVS);
	}
}

static void an_offer_that_is_not_answered_ends_with_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *out = vt_buf(test, LONG);

	vt_send(test, &bed->us, out, LONG, vt_ctx(1));
	next_offer(test, bed, 0, LONG);
	vt_end_close(test, &bed->peer);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNRESET);
}

static void an_offer_that_is_not_answered_ends_with_the_endpoint(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *out = vt_buf(test, LONG);

	vt_send(test, &bed->us, out, LONG, vt_ctx(1));
	next_offer(test, bed, 0, LONG);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(bed->us.ep, -1), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECANCELED);
}

/* One that was never offered, and one that has been answered */
static void an_answer_without_an_offer_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *out = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;
	u64 id;

	vt_send(test, &bed->us, out, LONG, vt_ctx(1));
	hdr = next_offer(test, bed, 0, LONG);
	id = hdr->ctrl.msg_id;
	rxm_send_word(test, bed, RXM_WIRE_RNDV_READ_DONE, id);
	vt_done(test, bed->us.tx, vt_ctx(1));
	vt_send(test, &bed->us, out, LONG, vt_ctx(2));
	next_offer(test, bed, 1, LONG);
	rxm_send_word(test, bed, RXM_WIRE_RNDV_READ_DONE, id);
	rxm_expect_closed(test, bed);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNRESET);
}

/* Messages that a raw peer offers, and this end reads */

static void expect_answer(struct kunit *test, struct rxm_bed *bed)
{
	KUNIT_EXPECT_EQ(test, rxm_next_sized(test, bed, 0, RXM_WIRE_RNDV_READ_DONE, 0)->ctrl.msg_id,
			33);
}

static void a_message_that_is_offered_is_read(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, OFFER), *mem = vt_buf(test, OFFER);

	vt_fill(mem, OFFER, 1);
	vt_recv(test, &bed->us, buf, OFFER, vt_ctx(1));
	rxm_send_ranges(test, bed, rxm_offer_new(test, bed, mem, OFFER));
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, OFFER);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, OFFER, 1));
	expect_answer(test, bed);
}

/* Nothing else is under way whose completion could have it posted */
static void a_read_that_finds_no_room_below_is_posted_later(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);

	rxm_join(test, bed);
	vt_fill(mem, LONG, 1);
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(1));
	rxm_fault(test, "read again times=1");
	rxm_send_ranges(test, bed, rxm_offer_new(test, bed, mem, LONG));
	vt_done(test, bed->us.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, LONG, 1));
	rxm_expect_faults(test, 1);
	expect_answer(test, bed);
	rxm_expect_leave(test, bed, 1);
}

static void a_read_that_is_refused_below_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *mem = vt_buf(test, LONG);

	rxm_join(test, bed);
	vt_recv(test, &bed->us, vt_buf(test, LONG), LONG, vt_ctx(1));
	rxm_fault(test, "read error 95 times=1");
	rxm_send_ranges(test, bed, rxm_offer_new(test, bed, mem, LONG));
	rxm_expect_closed(test, bed);
	vt_failed_with(test, bed->us.rx, vt_ctx(1), ECONNRESET);
}

/* Each read but the last one is of a part of the second element */
static void a_message_that_is_offered_is_read_into_pages(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, OFFER), *mem = vt_buf(test, OFFER);
	struct bio_vec pages[2];
	const struct fi_msg msg = {
		.type		= FI_BUF_BVEC,
		.msg_bvec	= pages,
		.iov_count	= 2,
		.context	= vt_ctx(1),
	};

	pages[0] = rxm_pages(buf, 5);
	pages[1] = rxm_pages(buf + 5, OFFER - 5);
	vt_fill(mem, OFFER, 1);
	KUNIT_ASSERT_EQ(test, fi_recvmsg(bed->us.ep, &msg, FI_COMPLETION), 0);
	rxm_send_ranges(test, bed, rxm_offer_new(test, bed, mem, OFFER));
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, OFFER);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, OFFER, 1));
	expect_answer(test, bed);
}

/* Discards the message with tag 2, which may not have arrived yet */
static void discard(struct kunit *test, struct rxm_bed *bed)
{
	static const struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = 2 };
	ktime_t limit = ktime_add_ms(ktime_get(), VT_PATIENCE_MS);
	struct vt_comp comp;

	do {
		KUNIT_ASSERT_EQ(test, fi_trecvmsg(bed->us.ep, &msg, FI_PEEK | FI_DISCARD), 0);
		KUNIT_ASSERT_EQ(test, vt_wait(bed->us.rx, &comp), 1);
		if (comp.err)
			usleep_range(1000, 2000);
	} while (comp.err == FI_ENOMSG && ktime_before(ktime_get(), limit));
	KUNIT_ASSERT_EQ(test, comp.err, 0);
}

/* The peer takes as many answers as it has receives, and as many more are being sent */
static void so_many_offers_that_nobody_wants_wait_for_their_answers(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_hdr *hdr;
	int i;

	bed->peer.rx = vt_cq(test, &vt_default_kind, 1024);
	rxm_join(test, bed);
	hdr = rxm_offer_new(test, bed, vt_buf(test, LONG), LONG);
	hdr->op.op = RXM_WIRE_TAGGED;
	hdr->op.tag = 2;
	for (i = 0; i <= UNWANTED + 2 * RXM_RECVS; i++) {
		vt_no_event(test, bed->peer.eq);
		rxm_send_ranges(test, bed, hdr);
		discard(test, bed);
	}
	rxm_expect_closed(test, bed);
}

static void an_offer_waits_for_its_receive(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, OFFER), *mem = vt_buf(test, OFFER);
	struct kvec list[2] = { { buf, 1 }, { buf + 1, OFFER - 1 } };

	vt_fill(mem, OFFER, 1);
	rxm_send_ranges(test, bed, rxm_offer_new(test, bed, mem, OFFER));
	vt_none(test, bed->us.rx);
	KUNIT_ASSERT_EQ(test, fi_recvv(bed->us.ep, list, NULL, 2, 0, vt_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, OFFER);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, OFFER, 1));
	expect_answer(test, bed);
}

/* Sends as many messages as the peer has receives, and one more, which it does not take */
static void send_untaken(struct kunit *test, struct rxm_bed *bed, const u8 *mem)
{
	int i;

	for (i = 0; i <= RXM_RECVS; i++)
		vt_send(test, &bed->us, mem, LEN, vt_ctx(10 + i));
	for (i = 0; i < RXM_RECVS; i++) {
		vt_done(test, bed->peer.rx, vt_ctx(i));
		vt_done(test, bed->us.tx, vt_ctx(10 + i));
	}
}

/*
 * A receive takes an offer.  The read is behind a message that the peer does not take.  Returns the
 * time before the read
 */
static unsigned long begin_read(struct kunit *test, struct rxm_bed *bed)
{
	u8 *buf = vt_buf(test, OFFER), *mem = vt_buf(test, OFFER);
	unsigned long since;

	rxm_param(test, "message_timeout", SHORT_S, 60);
	rxm_join(test, bed);
	/* What counts is the age of the read */
	msleep(2 * SHORT_S * MSEC_PER_SEC);
	send_untaken(test, bed, mem);
	vt_recv(test, &bed->us, buf, OFFER, vt_ctx(1));
	since = jiffies;
	rxm_send_ranges(test, bed, rxm_offer_new(test, bed, mem, OFFER));
	return since;
}

/* The connection ends, and with it the receive, and the message that the peer has not taken */
static void expect_read_failed(struct kunit *test, struct rxm_bed *bed)
{
	struct vt_comp comp;
	bool ended = false;
	int i;

	rxm_expect_closed(test, bed);
	for (i = 0; i < 2; i++) {
		comp = vt_failed(test, bed->us.rx);
		KUNIT_EXPECT_EQ(test, comp.err, ECONNRESET);
		ended |= comp.context == vt_ctx(1);
	}
	KUNIT_EXPECT_TRUE(test, ended);
}

static void an_offer_that_cannot_be_read_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	unsigned long since = begin_read(test, bed);

	expect_read_failed(test, bed);
	KUNIT_EXPECT_GE(test, jiffies - since, SHORT_S * HZ);
}

/* The reads are behind two messages.  The peer takes each of these in time, but both too slowly */
static void an_offer_that_is_read_too_slowly_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, PARTS * SZ_4K), *mem = vt_buf(test, PARTS * SZ_4K);
	struct kvec list[PARTS];
	int i;

	rxm_param(test, "message_timeout", SHORT_S, 60);
	rxm_join(test, bed);
	send_untaken(test, bed, mem);
	for (i = 0; i < PARTS; i++)
		list[i] = (struct kvec) { buf + i * SZ_4K, SZ_4K };
	KUNIT_ASSERT_EQ(test, fi_recvv(bed->us.ep, list, NULL, PARTS, 0, vt_ctx(1)), 0);
	rxm_send_ranges(test, bed, rxm_offer_new(test, bed, mem, PARTS * SZ_4K));
	for (i = 0; i < 2; i++) {
		msleep((SHORT_S - 1) * MSEC_PER_SEC);
		/* It comes before the reads that begin when those of now have completed */
		vt_send(test, &bed->us, mem, LEN, vt_ctx(20 + i));
		vt_recv(test, &bed->peer, bed->bufs[i], RXM_LIMIT, vt_ctx(i));
		vt_done(test, bed->peer.rx, vt_ctx(i));
		vt_done(test, bed->us.tx, vt_ctx(i ? 20 : 10 + RXM_RECVS));
	}
	expect_read_failed(test, bed);
}

/* Nobody wants the last message, and it is not kept: what is behind it waits */
static void an_offer_behind_a_message_keeps_no_receive_for_good(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_hdr *hdr;
	unsigned long since;
	int i;

	since = begin_read(test, bed);
	hdr = rxm_packet(test, bed, LEN);
	for (i = 0; i <= KEPT; i++)
		rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	expect_read_failed(test, bed);
	KUNIT_EXPECT_GE(test, jiffies - since, 2 * SHORT_S * HZ);
}

static void an_offer_that_is_too_long_is_cut_and_answered(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);

	vt_fill(mem, LONG, 1);
	vt_recv(test, &bed->us, buf, LEN, vt_ctx(1));
	rxm_send_ranges(test, bed, rxm_offer_new(test, bed, mem, LONG));
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.rx).err, FI_ETRUNC);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, LEN, 1));
	KUNIT_EXPECT_EQ(test, buf[LEN], 0);
	expect_answer(test, bed);
}

static void an_offer_of_no_byte_is_answered(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *mem = vt_buf(test, LEN);
	struct rxm_wire_hdr *hdr;

	vt_recv(test, &bed->us, mem, LEN, vt_ctx(1));
	hdr = rxm_offer_new(test, bed, mem, LEN);
	hdr->op.size = 0;
	((struct rxm_wire_rndv *)(hdr + 1))->count = 1;
	((struct rxm_wire_rndv *)(hdr + 1))->iov[0].len = 0;
	rxm_send_ranges(test, bed, hdr);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, 0);
	expect_answer(test, bed);
}

static void an_offer_goes_with_its_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);

	rxm_send_ranges(test, bed, rxm_offer_new(test, bed, mem, LONG));
	rxm_expect_service(test, bed);
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(1));
	vt_none(test, bed->us.rx);
}

static void a_key_of_no_region_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;
	struct vt_comp comp;

	vt_recv(test, &bed->us, buf, LONG, vt_ctx(1));
	hdr = rxm_offer_new(test, bed, mem, LONG);
	((struct rxm_wire_rndv *)(hdr + 1))->iov[1].key ^= 1;
	rxm_send_ranges(test, bed, hdr);
	rxm_expect_closed(test, bed);
	comp = vt_failed(test, bed->us.rx);
	KUNIT_EXPECT_EQ(test, comp.err, ECONNRESET);
	KUNIT_EXPECT_EQ(test, comp.len, 0);
	rxm_expect_service(test, bed);
}

/**
 * struct bad_offer - An offer that makes no sense; its second range has LEN / 2 bytes
 * @what: what is wrong
 * @count: ranges
 * @first: bytes of the first one
 * @size: of the message
 * @cut: bytes that the packet lacks
 */
struct bad_offer {
	const char	*what;
	u8		count;
	u64		first;
	u64		size;
	size_t		cut;
};

static const struct bad_offer bad_offers[] = {
	{ "no element", 0, LEN / 2, LEN },
	{ "five elements", 5, LEN / 2, LEN },
	{ "another sum", 2, LEN / 2, LEN + 1 },
	{ "a sum that overflows", 2, U64_MAX, LEN / 2 - 1 },
	{ "an offer that is cut", 2, LEN / 2, LEN, 1 },
};

KUNIT_ARRAY_PARAM_DESC(bad_offer, bad_offers, what);

static void an_offer_that_makes_no_sense_ends_the_connection(struct kunit *test)
{
	const struct bad_offer *bad = test->param_value;
	struct rxm_bed *bed = rxm_bed_join(test);
	struct rxm_wire_rndv *offer;
	struct rxm_wire_hdr *hdr;

	hdr = rxm_packet(test, bed, sizeof(*offer));
	hdr->ctrl.type = RXM_WIRE_RNDV_REQ;
	hdr->op.size = bad->size;
	offer = (void *)(hdr + 1);
	offer->count = bad->count;
	offer->iov[0].len = bad->first;
	offer->iov[1].len = LEN / 2;
	rxm_send(test, bed, hdr, sizeof(*hdr) + sizeof(*offer) - bad->cut);
	rxm_expect_closed(test, bed);
	rxm_expect_service(test, bed);
}

static struct kunit_case offer_cases[] = {
	KUNIT_CASE(a_long_message_is_offered_until_it_has_been_read),
	KUNIT_CASE(the_key_ends_with_the_message),
	KUNIT_CASE(a_message_to_be_delivered_is_offered),
	KUNIT_CASE(a_message_in_pages_is_offered),
	KUNIT_CASE(an_offer_that_finds_no_room_below_is_sent_later),
	KUNIT_CASE(buffers_that_cannot_be_registered_together_are_registered_apart),
	KUNIT_CASE(pages_that_cannot_be_registered_together_are_registered_apart),
	KUNIT_CASE(a_copy_is_offered_if_one_of_the_buffers_cannot_be_registered),
	KUNIT_CASE(a_copy_is_offered_if_the_buffer_cannot_be_registered),
	KUNIT_CASE(a_message_that_cannot_be_offered_fails),
	KUNIT_CASE(a_long_message_that_cannot_be_offered_is_sent_in_segments),
	KUNIT_CASE(an_empty_message_to_be_delivered_is_not_offered),
	KUNIT_CASE(an_empty_message_to_be_delivered_waits_for_the_peer),
	KUNIT_CASE(offers_may_be_answered_in_any_order),
	KUNIT_CASE(an_offer_that_is_not_answered_ends_with_the_connection),
	KUNIT_CASE(an_offer_that_is_not_answered_ends_with_the_endpoint),
	KUNIT_CASE(an_answer_without_an_offer_ends_the_connection),
	KUNIT_CASE(a_message_that_is_offered_is_read),
	KUNIT_CASE(a_read_that_finds_no_room_below_is_posted_later),
	KUNIT_CASE(a_read_that_is_refused_below_ends_the_connection),
	KUNIT_CASE(a_message_that_is_offered_is_read_into_pages),
	KUNIT_CASE(so_many_offers_that_nobody_wants_wait_for_their_answers),
	KUNIT_CASE(an_offer_waits_for_its_receive),
	KUNIT_CASE(an_offer_that_cannot_be_read_ends_the_connection),
	KUNIT_CASE(an_offer_that_is_read_too_slowly_ends_the_connection),
	KUNIT_CASE(an_offer_behind_a_message_keeps_no_receive_for_good),
	KUNIT_CASE(an_offer_that_is_too_long_is_cut_and_answered),
	KUNIT_CASE(an_offer_of_no_byte_is_answered),
	KUNIT_CASE(an_offer_goes_with_its_connection),
	KUNIT_CASE(a_key_of_no_region_ends_the_connection),
	KUNIT_CASE_PARAM(an_offer_that_makes_no_sense_ends_the_connection,
			 bad_offer_gen_params),
	{}
};

struct kunit_suite rxm_offer_suite = {
	.name		= "kofi_rxm_offer",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= offer_cases,
};
