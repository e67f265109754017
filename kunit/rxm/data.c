// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets, segments, and peers that break the rules.
 */
#include <linux/delay.h>
#include <linux/sizes.h>
#include <rdma/fi_rma.h>
#include "rxm.h"

#define LEN	64
#define LONG	(2 * RXM_LIMIT + 100)
#define SEGS	3
#define KEPT	64	/* messages of a connection that are kept without a receive */
#define SHORT_S	5	/* the least message_timeout */

static void an_eager_message_is_received(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, LEN);
	struct rxm_wire_hdr *hdr;
	struct vt_comp comp;

	rxm_join(test, bed);
	hdr = rxm_packet(test, bed, LEN);
	hdr->op.op = 1;
	hdr->op.tag = 9;
	hdr->op.flags = 1U << 17;
	hdr->op.data = 0x1234567890ULL;
	vt_fill(hdr + 1, LEN, 7);
	KUNIT_ASSERT_EQ(test, fi_trecv(bed->us.ep, buf, LEN, NULL, FI_ADDR_UNSPEC, 9, 0,
				       vt_ctx(1)), 0);
	rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	comp = vt_done(test, bed->us.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.len, LEN);
	KUNIT_EXPECT_EQ(test, comp.tag, 9);
	KUNIT_EXPECT_EQ(test, comp.data, 0x1234567890ULL);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, LEN, 7));
}

/* Segment @no of the message @id, whose bytes are those of vt_fill(@seed) */
static struct rxm_wire_hdr *make_part(struct kunit *test, struct rxm_bed *bed, u64 id, int no,
				      u8 seed)
{
	size_t len = no == SEGS - 1 ? LONG - no * RXM_LIMIT : RXM_LIMIT;
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, len);
	u8 *all = vt_buf(test, LONG);

	vt_fill(all, LONG, seed);
	memcpy(hdr + 1, all + no * RXM_LIMIT, len);
	hdr->ctrl.type = 1;
	hdr->ctrl.seg_size = len;
	hdr->ctrl.seg_no = no;
	hdr->ctrl.seg_type = !no ? 1 : no == SEGS - 1 ? 3 : 2;
	hdr->ctrl.msg_id = id;
	hdr->op.size = LONG;
	return hdr;
}

static void send_part(struct kunit *test, struct rxm_bed *bed, const struct rxm_wire_hdr *hdr)
{
	rxm_send(test, bed, hdr, sizeof(*hdr) + hdr->ctrl.seg_size);
}

static void send_seg(struct kunit *test, struct rxm_bed *bed, u64 id, int no, u8 seed)
{
	send_part(test, bed, make_part(test, bed, id, no, seed));
}

static void send_tagged_seg(struct kunit *test, struct rxm_bed *bed, u64 id, int no)
{
	struct rxm_wire_hdr *hdr = make_part(test, bed, id, no, 1);

	hdr->op.op = 1;
	send_part(test, bed, hdr);
}

static void segments_of_several_messages_may_alternate(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *a = vt_buf(test, LONG), *b = vt_buf(test, LONG), *c = vt_buf(test, LEN);
	struct rxm_wire_hdr *hdr;
	int i;

	rxm_join(test, bed);
	vt_recv(test, &bed->us, a, LONG, vt_ctx(1));
	vt_recv(test, &bed->us, b, LONG, vt_ctx(2));
	vt_recv(test, &bed->us, c, LEN, vt_ctx(3));
	for (i = 0; i < SEGS - 1; i++) {
		send_seg(test, bed, 5, i, 1);
		send_seg(test, bed, 6, i, 2);
	}
	hdr = rxm_packet(test, bed, LEN);
	vt_fill(hdr + 1, LEN, 3);
	rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	vt_done(test, bed->us.rx, vt_ctx(3));
	send_seg(test, bed, 6, i, 2);
	vt_done(test, bed->us.rx, vt_ctx(2));
	send_seg(test, bed, 5, i, 1);
	vt_done(test, bed->us.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(a, LONG, 1));
	KUNIT_EXPECT_TRUE(test, vt_filled(b, LONG, 2));
	KUNIT_EXPECT_TRUE(test, vt_filled(c, LEN, 3));
}

static void a_receive_may_come_between_segments(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, LONG);
	int i;

	rxm_join(test, bed);
	for (i = 0; i < SEGS - 1; i++)
		send_seg(test, bed, 5, i, 1);
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(1));
	vt_none(test, bed->us.rx);
	send_seg(test, bed, 5, i, 1);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, LONG);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, LONG, 1));
}

/* It has been received in part, but nothing is in the buffer of the receive */
static void a_receive_between_segments_ends_with_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, LONG);
	struct vt_comp comp;

	rxm_join(test, bed);
	send_seg(test, bed, 5, 0, 1);
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(1));
	vt_end_close(test, &bed->peer);
	comp = vt_failed(test, bed->us.rx);
	KUNIT_EXPECT_EQ(test, comp.err, ECONNRESET);
	KUNIT_EXPECT_EQ(test, comp.len, 0);
}

static void a_segmented_message_that_is_too_long_is_cut(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, RXM_LIMIT + 5);
	struct vt_comp comp;
	int i;

	rxm_join(test, bed);
	vt_recv(test, &bed->us, buf, RXM_LIMIT + 4, vt_ctx(1));
	for (i = 0; i < SEGS; i++)
		send_seg(test, bed, 5, i, 1);
	comp = vt_failed(test, bed->us.rx);
	KUNIT_EXPECT_EQ(test, comp.err, FI_ETRUNC);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, RXM_LIMIT + 4, 1));
	KUNIT_EXPECT_EQ(test, buf[RXM_LIMIT + 4], 0);
}

static void a_message_of_which_a_part_has_come_ends_with_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, LONG);
	struct vt_comp comp;

	rxm_join(test, bed);
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(1));
	send_seg(test, bed, 5, 0, 1);
	send_seg(test, bed, 6, 0, 2);
	vt_end_close(test, &bed->peer);
	comp = vt_failed(test, bed->us.rx);
	KUNIT_EXPECT_EQ(test, comp.err, ECONNRESET);
	KUNIT_EXPECT_EQ(test, comp.len, RXM_LIMIT);
	/* The one without a receive has gone */
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(2));
	vt_none(test, bed->us.rx);
}

/* Segments that stop coming, and those that only come slowly */
static void a_message_that_never_ends_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, LONG);
	union vt_event event;
	int i;

	rxm_param(test, "message_timeout", SHORT_S, 60);
	rxm_param(test, "message_rate", 1, 16);
	rxm_join(test, bed);
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(1));
	for (i = 0; i < SEGS; i++) {
		send_seg(test, bed, 5, i, 1);
		msleep((SHORT_S - 1) * MSEC_PER_SEC);
	}
	vt_done(test, bed->us.rx, vt_ctx(1));
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(2));
	send_seg(test, bed, 6, 0, 1);
	vt_event(test, bed->peer.eq, FI_SHUTDOWN, &event);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.rx).err, ECONNRESET);
}

/* Its next segments are behind a message that finds no receive, and no memory to be kept in */
static void a_message_that_another_one_interrupts_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;
	union vt_event event;
	int i;

	rxm_param(test, "message_timeout", SHORT_S, 60);
	rxm_join(test, bed);
	KUNIT_ASSERT_EQ(test, fi_trecv(bed->us.ep, buf, LONG, NULL, FI_ADDR_UNSPEC, 0, U64_MAX,
				       vt_ctx(1)), 0);
	hdr = rxm_packet(test, bed, LEN);
	for (i = 0; i < KEPT; i++)
		rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	send_tagged_seg(test, bed, 5, 0);
	rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	for (i = 1; i < SEGS; i++)
		send_tagged_seg(test, bed, 5, i);
	vt_event(test, bed->peer.eq, FI_SHUTDOWN, &event);
	/* All of it has come by then */
	vt_done(test, bed->us.rx, vt_ctx(1));
}

/**
 * struct bad_packet - A packet that breaks the rules
 * @what: what is wrong
 * @spoil: makes a packet one that is wrong; returns its bytes
 */
struct bad_packet {
	const char	*what;
	size_t		(*spoil)(struct rxm_wire_hdr *hdr);
};

static size_t spoil_nothing_sent(struct rxm_wire_hdr *hdr)
{
	return 0;
}

static size_t spoil_header(struct rxm_wire_hdr *hdr)
{
	return sizeof(*hdr) - 1;
}

static size_t spoil_ctrl_version(struct rxm_wire_hdr *hdr)
{
	hdr->ctrl.version = 3;
	return sizeof(*hdr) + LEN;
}

static size_t spoil_op_version(struct rxm_wire_hdr *hdr)
{
	hdr->op.version = 3;
	return sizeof(*hdr) + LEN;
}

static size_t spoil_conn_id(struct rxm_wire_hdr *hdr)
{
	hdr->ctrl.conn_id++;
	return sizeof(*hdr) + LEN;
}

static size_t spoil_type(struct rxm_wire_hdr *hdr)
{
	hdr->ctrl.type = 9;
	return sizeof(*hdr) + LEN;
}

static size_t spoil_op(struct rxm_wire_hdr *hdr)
{
	hdr->op.op = 2;
	return sizeof(*hdr) + LEN;
}

static size_t spoil_more(struct rxm_wire_hdr *hdr)
{
	hdr->op.size = LEN + 1;
	return sizeof(*hdr) + LEN;
}

static size_t spoil_less(struct rxm_wire_hdr *hdr)
{
	hdr->op.size = LEN - 1;
	return sizeof(*hdr) + LEN;
}

static void make_seg(struct rxm_wire_hdr *hdr, u8 type, u32 no)
{
	hdr->ctrl.type = 1;
	hdr->ctrl.seg_size = LEN;
	hdr->ctrl.seg_type = type;
	hdr->ctrl.seg_no = no;
	hdr->op.size = 3 * LEN;
}

static size_t spoil_seg_middle(struct rxm_wire_hdr *hdr)
{
	make_seg(hdr, 2, 1);
	return sizeof(*hdr) + LEN;
}

static size_t spoil_seg_last(struct rxm_wire_hdr *hdr)
{
	make_seg(hdr, 3, 2);
	return sizeof(*hdr) + LEN;
}

static size_t spoil_seg_kind(struct rxm_wire_hdr *hdr)
{
	make_seg(hdr, 0, 0);
	return sizeof(*hdr) + LEN;
}

static size_t spoil_seg_no(struct rxm_wire_hdr *hdr)
{
	make_seg(hdr, 1, 1);
	return sizeof(*hdr) + LEN;
}

static size_t spoil_seg_size(struct rxm_wire_hdr *hdr)
{
	make_seg(hdr, 1, 0);
	hdr->ctrl.seg_size++;
	return sizeof(*hdr) + LEN;
}

static size_t spoil_seg_empty(struct rxm_wire_hdr *hdr)
{
	make_seg(hdr, 1, 0);
	hdr->ctrl.seg_size = 0;
	return sizeof(*hdr);
}

static size_t spoil_seg_only(struct rxm_wire_hdr *hdr)
{
	make_seg(hdr, 1, 0);
	hdr->op.size = LEN;
	return sizeof(*hdr) + LEN;
}

static const struct bad_packet bad_packets[] = {
	{ "no byte", spoil_nothing_sent },
	{ "a header that is cut", spoil_header },
	{ "version of the packet", spoil_ctrl_version },
	{ "version of the operation", spoil_op_version },
	{ "identity of the connection", spoil_conn_id },
	{ "unknown kind", spoil_type },
	{ "unknown operation", spoil_op },
	{ "more than the payload", spoil_more },
	{ "less than the payload", spoil_less },
	{ "middle segment of nothing", spoil_seg_middle },
	{ "last segment of nothing", spoil_seg_last },
	{ "segment of no kind", spoil_seg_kind },
	{ "first segment with a number", spoil_seg_no },
	{ "size of a segment", spoil_seg_size },
	{ "empty segment", spoil_seg_empty },
	{ "only one segment", spoil_seg_only },
};

static void bad_packet_desc(const struct bad_packet *bad, char *desc)
{
	strscpy(desc, bad->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bad_packet, bad_packets, bad_packet_desc);

/* A peer that keeps to the rules is served afterwards */
static void expect_service(struct kunit *test, struct rxm_bed *bed)
{
	struct rxm_wire_hdr *hdr;
	u8 *buf = vt_buf(test, LEN);

	vt_end_close(test, &bed->peer);
	rxm_join(test, bed);
	hdr = rxm_packet(test, bed, LEN);
	vt_fill(hdr + 1, LEN, 4);
	vt_recv(test, &bed->us, buf, LEN, vt_ctx(1));
	rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	vt_done(test, bed->us.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, LEN, 4));
}

static void a_packet_that_breaks_the_rules_ends_the_connection(struct kunit *test)
{
	const struct bad_packet *bad = test->param_value;
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_hdr *hdr;
	union vt_event event;

	rxm_join(test, bed);
	hdr = rxm_packet(test, bed, LEN);
	rxm_send(test, bed, hdr, bad->spoil(hdr));
	vt_event(test, bed->peer.eq, FI_SHUTDOWN, &event);
	expect_service(test, bed);
}

/* @what: what the second segment says that it should not */
static void expect_broken_sequence(struct kunit *test, void (*spoil)(struct rxm_wire_hdr *hdr))
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, 3 * LEN);
	struct rxm_wire_hdr *hdr;
	union vt_event event;

	rxm_join(test, bed);
	vt_recv(test, &bed->us, buf, 3 * LEN, vt_ctx(1));
	hdr = rxm_packet(test, bed, LEN);
	make_seg(hdr, 1, 0);
	rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	make_seg(hdr, 2, 1);
	spoil(hdr);
	rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	vt_event(test, bed->peer.eq, FI_SHUTDOWN, &event);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.rx).err, ECONNRESET);
	expect_service(test, bed);
}

static void miss_one(struct rxm_wire_hdr *hdr)
{
	hdr->ctrl.seg_no = 2;
}

static void repeat_first(struct rxm_wire_hdr *hdr)
{
	make_seg(hdr, 1, 0);
}

static void end_early(struct rxm_wire_hdr *hdr)
{
	hdr->ctrl.seg_type = 3;
}

static void change_size(struct rxm_wire_hdr *hdr)
{
	hdr->op.size = 1ULL << 40;
}

static void a_segment_that_is_missing_ends_the_connection(struct kunit *test)
{
	expect_broken_sequence(test, miss_one);
}

static void a_first_segment_that_comes_twice_ends_the_connection(struct kunit *test)
{
	expect_broken_sequence(test, repeat_first);
}

static void a_last_segment_that_comes_early_ends_the_connection(struct kunit *test)
{
	expect_broken_sequence(test, end_early);
}

static void a_message_that_changes_its_size_ends_the_connection(struct kunit *test)
{
	expect_broken_sequence(test, change_size);
}

/* Opens more segmented messages than a peer may have */
static void too_many_messages_at_a_time_end_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_hdr *hdr;
	union vt_event event;
	int i;

	rxm_join(test, bed);
	hdr = rxm_packet(test, bed, LEN);
	for (i = 0; i < 17; i++) {
		make_seg(hdr, 1, 0);
		hdr->ctrl.msg_id = i;
		rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	}
	vt_event(test, bed->peer.eq, FI_SHUTDOWN, &event);
	expect_service(test, bed);
}

static void a_long_message_is_sent_in_segments(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_hdr *hdr;
	u8 *buf = vt_buf(test, LONG);
	size_t len;
	int i;

	rxm_join(test, bed);
	vt_fill(buf, LONG, 1);
	KUNIT_ASSERT_EQ(test, fi_tsenddata(bed->us.ep, buf, LONG, NULL, 11, 0, 12, vt_ctx(1)),
			0);
	for (i = 0; i < SEGS; i++) {
		len = i == SEGS - 1 ? LONG - i * RXM_LIMIT : RXM_LIMIT;
		KUNIT_EXPECT_EQ(test, vt_done(test, bed->peer.rx, vt_ctx(i)).len,
				sizeof(*hdr) + len);
		hdr = (struct rxm_wire_hdr *)bed->bufs[i];
		KUNIT_EXPECT_EQ(test, hdr->ctrl.version, 4);
		KUNIT_EXPECT_EQ(test, hdr->ctrl.type, 1);
		KUNIT_EXPECT_EQ(test, hdr->ctrl.seg_size, len);
		KUNIT_EXPECT_EQ(test, hdr->ctrl.seg_no, i);
		KUNIT_EXPECT_EQ(test, hdr->ctrl.conn_id, RXM_ID);
		KUNIT_EXPECT_EQ(test, hdr->ctrl.seg_type, !i ? 1 : i == SEGS - 1 ? 3 : 2);
		KUNIT_EXPECT_EQ(test, hdr->op.version, 2);
		KUNIT_EXPECT_EQ(test, hdr->op.op, 1);
		KUNIT_EXPECT_EQ(test, hdr->op.flags, 1U << 17);
		KUNIT_EXPECT_EQ(test, hdr->op.size, LONG);
		KUNIT_EXPECT_EQ(test, hdr->op.data, 11);
		KUNIT_EXPECT_EQ(test, hdr->op.tag, 12);
		KUNIT_EXPECT_MEMEQ(test, hdr + 1, buf + i * RXM_LIMIT, len);
	}
	vt_done(test, bed->us.tx, vt_ctx(1));
}

/* The lower endpoint has no room when the completion of another message has one sent */
static void a_message_that_finds_no_room_below_is_sent_later(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *buf = vt_buf(test, LEN);
	int i;

	rxm_join(test, bed);
	rxm_post_recvs(test, bed);
	rxm_fault(test, "send again after=8 times=1");
	for (i = 0; i <= RXM_RECVS; i++)
		KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, buf, LEN, NULL, 0, vt_ctx(i)), 0);
	for (i = 0; i <= RXM_RECVS; i++) {
		vt_done(test, bed->us.tx, vt_ctx(i));
		vt_done(test, bed->peer.rx, vt_ctx(i % RXM_RECVS));
	}
	rxm_expect_faults(test, 1);
}

static void a_segment_that_finds_no_room_below_is_sent_later(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *buf = vt_buf(test, LONG);
	int i;

	rxm_join(test, bed);
	rxm_fault(test, "send again after=1 times=1");
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, buf, LONG, NULL, 0, vt_ctx(1)), 0);
	for (i = 0; i < SEGS; i++)
		KUNIT_EXPECT_EQ(test, rxm_next_packet(test, bed, i, RXM_WIRE_SEG)->ctrl.seg_no, i);
	vt_done(test, bed->us.tx, vt_ctx(1));
	rxm_expect_faults(test, 1);
}

/* Messages that a peer offers */

static void expect_answer(struct kunit *test, struct rxm_bed *bed, int nr)
{
	struct rxm_wire_hdr *hdr = (struct rxm_wire_hdr *)bed->bufs[nr];

	KUNIT_EXPECT_EQ(test, vt_done(test, bed->peer.rx, vt_ctx(nr)).len, sizeof(*hdr));
	KUNIT_EXPECT_EQ(test, hdr->ctrl.version, 4);
	KUNIT_EXPECT_EQ(test, hdr->ctrl.type, 3);
	KUNIT_EXPECT_EQ(test, hdr->ctrl.conn_id, RXM_ID);
	KUNIT_EXPECT_EQ(test, hdr->ctrl.msg_id, 33);
	KUNIT_EXPECT_EQ(test, hdr->op.version, 2);
}

#define OFFER	(3 * SZ_1M + 17)

static void a_message_that_is_offered_is_read(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, OFFER), *mem = vt_buf(test, OFFER);

	rxm_join(test, bed);
	vt_fill(mem, OFFER, 1);
	vt_recv(test, &bed->us, buf, OFFER, vt_ctx(1));
	rxm_send_offer(test, bed, rxm_offer_new(test, bed, mem, OFFER));
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, OFFER);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, OFFER, 1));
	expect_answer(test, bed, 0);
}

static void an_offer_waits_for_its_receive(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, OFFER), *mem = vt_buf(test, OFFER);
	struct kvec list[2] = { { buf, 5 }, { buf + 5, OFFER - 5 } };

	rxm_join(test, bed);
	vt_fill(mem, OFFER, 1);
	rxm_send_offer(test, bed, rxm_offer_new(test, bed, mem, OFFER));
	vt_none(test, bed->us.rx);
	KUNIT_ASSERT_EQ(test, fi_recvv(bed->us.ep, list, NULL, 2, 0, vt_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, OFFER);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, OFFER, 1));
	expect_answer(test, bed, 0);
}

/* A receive takes an offer.  The read is behind a message that the peer does not take */
static void begin_read(struct kunit *test, struct rxm_bed *bed)
{
	u8 *buf = vt_buf(test, OFFER), *mem = vt_buf(test, OFFER);
	int i;

	rxm_param(test, "message_timeout", SHORT_S, 60);
	rxm_join(test, bed);
	for (i = 0; i <= RXM_RECVS; i++)
		KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, mem, LEN, NULL, 0, vt_ctx(10 + i)), 0);
	for (i = 0; i < RXM_RECVS; i++) {
		vt_done(test, bed->peer.rx, vt_ctx(i));
		vt_done(test, bed->us.tx, vt_ctx(10 + i));
	}
	vt_recv(test, &bed->us, buf, OFFER, vt_ctx(1));
	rxm_send_offer(test, bed, rxm_offer_new(test, bed, mem, OFFER));
}

/* The connection ends, and with it the receive, and the message that the peer has not taken */
static void expect_read_failed(struct kunit *test, struct rxm_bed *bed)
{
	union vt_event event;
	struct vt_comp comp;
	bool ended = false;
	int i;

	vt_event(test, bed->peer.eq, FI_SHUTDOWN, &event);
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

	begin_read(test, bed);
	expect_read_failed(test, bed);
}

#define PARTS	6	/* reads of a message */

/* The reads are behind two messages.  The peer takes each of these in time, but both too slowly */
static void an_offer_that_is_read_too_slowly_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, PARTS * SZ_4K), *mem = vt_buf(test, PARTS * SZ_4K);
	struct kvec list[PARTS];
	int i;

	rxm_param(test, "message_timeout", SHORT_S, 60);
	rxm_join(test, bed);
	for (i = 0; i <= RXM_RECVS; i++)
		KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, mem, LEN, NULL, 0, vt_ctx(10 + i)), 0);
	for (i = 0; i < RXM_RECVS; i++) {
		vt_done(test, bed->peer.rx, vt_ctx(i));
		vt_done(test, bed->us.tx, vt_ctx(10 + i));
	}
	for (i = 0; i < PARTS; i++)
		list[i] = (struct kvec) { buf + i * SZ_4K, SZ_4K };
	KUNIT_ASSERT_EQ(test, fi_recvv(bed->us.ep, list, NULL, PARTS, 0, vt_ctx(1)), 0);
	rxm_send_offer(test, bed, rxm_offer_new(test, bed, mem, PARTS * SZ_4K));
	for (i = 0; i < 2; i++) {
		msleep((SHORT_S - 1) * MSEC_PER_SEC);
		/* It comes before the reads that begin when those of now have completed */
		KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, mem, LEN, NULL, 0, vt_ctx(20 + i)), 0);
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
	unsigned long since = jiffies;
	struct rxm_wire_hdr *hdr;
	int i;

	begin_read(test, bed);
	hdr = rxm_packet(test, bed, LEN);
	for (i = 0; i <= KEPT; i++)
		rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	expect_read_failed(test, bed);
	KUNIT_EXPECT_GE(test, jiffies - since, 2 * SHORT_S * HZ);
}

static void an_offer_that_is_too_long_is_cut_and_answered(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);

	rxm_join(test, bed);
	vt_fill(mem, LONG, 1);
	vt_recv(test, &bed->us, buf, LEN, vt_ctx(1));
	rxm_send_offer(test, bed, rxm_offer_new(test, bed, mem, LONG));
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.rx).err, FI_ETRUNC);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, LEN, 1));
	KUNIT_EXPECT_EQ(test, buf[LEN], 0);
	expect_answer(test, bed, 0);
}

static void an_offer_of_no_byte_is_answered(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *mem = vt_buf(test, LEN);
	struct rxm_wire_hdr *hdr;

	rxm_join(test, bed);
	vt_recv(test, &bed->us, mem, LEN, vt_ctx(1));
	hdr = rxm_offer_new(test, bed, mem, LEN);
	hdr->op.size = 0;
	((struct rxm_wire_rndv *)(hdr + 1))->count = 1;
	((struct rxm_wire_rndv *)(hdr + 1))->iov[0].len = 0;
	rxm_send_offer(test, bed, hdr);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, 0);
	expect_answer(test, bed, 0);
}

static void an_offer_goes_with_its_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);

	rxm_join(test, bed);
	rxm_send_offer(test, bed, rxm_offer_new(test, bed, mem, LONG));
	expect_service(test, bed);
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(1));
	vt_none(test, bed->us.rx);
}

static void a_key_of_no_region_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;
	struct vt_comp comp;
	union vt_event event;

	rxm_join(test, bed);
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(1));
	hdr = rxm_offer_new(test, bed, mem, LONG);
	((struct rxm_wire_rndv *)(hdr + 1))->iov[1].key ^= 1;
	rxm_send_offer(test, bed, hdr);
	vt_event(test, bed->peer.eq, FI_SHUTDOWN, &event);
	comp = vt_failed(test, bed->us.rx);
	KUNIT_EXPECT_EQ(test, comp.err, ECONNRESET);
	KUNIT_EXPECT_EQ(test, comp.len, 0);
	expect_service(test, bed);
}

/* An offer of two elements of LEN bytes together */
static size_t spoil_offer(struct rxm_wire_hdr *hdr, u8 count, u64 first, u64 size)
{
	struct rxm_wire_rndv *offer = (void *)(hdr + 1);

	hdr->ctrl.type = 2;
	hdr->op.size = size;
	memset(offer, 0, sizeof(*offer));
	offer->count = count;
	offer->iov[0].len = first;
	offer->iov[1].len = LEN / 2;
	return sizeof(*hdr) + sizeof(*offer);
}

static size_t spoil_offer_none(struct rxm_wire_hdr *hdr)
{
	return spoil_offer(hdr, 0, LEN / 2, LEN);
}

static size_t spoil_offer_many(struct rxm_wire_hdr *hdr)
{
	return spoil_offer(hdr, 5, LEN / 2, LEN);
}

static size_t spoil_offer_sum(struct rxm_wire_hdr *hdr)
{
	return spoil_offer(hdr, 2, LEN / 2, LEN + 1);
}

static size_t spoil_offer_overflow(struct rxm_wire_hdr *hdr)
{
	return spoil_offer(hdr, 2, U64_MAX, LEN / 2 - 1);
}

static size_t spoil_offer_short(struct rxm_wire_hdr *hdr)
{
	return spoil_offer(hdr, 2, LEN / 2, LEN) - 1;
}

static const struct bad_packet bad_offers[] = {
	{ "no element", spoil_offer_none },
	{ "five elements", spoil_offer_many },
	{ "another sum", spoil_offer_sum },
	{ "a sum that overflows", spoil_offer_overflow },
	{ "an offer that is cut", spoil_offer_short },
};

KUNIT_ARRAY_PARAM(bad_offer, bad_offers, bad_packet_desc);

static void an_offer_that_makes_no_sense_ends_the_connection(struct kunit *test)
{
	const struct bad_packet *bad = test->param_value;
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_hdr *hdr;
	union vt_event event;

	rxm_join(test, bed);
	hdr = rxm_packet(test, bed, sizeof(struct rxm_wire_rndv));
	rxm_send(test, bed, hdr, bad->spoil(hdr));
	vt_event(test, bed->peer.eq, FI_SHUTDOWN, &event);
	expect_service(test, bed);
}

static struct kunit_case data_cases[] = {
	KUNIT_CASE(a_message_that_is_offered_is_read),
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
	KUNIT_CASE(an_eager_message_is_received),
	KUNIT_CASE(segments_of_several_messages_may_alternate),
	KUNIT_CASE(a_receive_may_come_between_segments),
	KUNIT_CASE(a_receive_between_segments_ends_with_the_connection),
	KUNIT_CASE(a_segmented_message_that_is_too_long_is_cut),
	KUNIT_CASE(a_message_of_which_a_part_has_come_ends_with_the_connection),
	KUNIT_CASE(a_message_that_never_ends_ends_the_connection),
	KUNIT_CASE(a_message_that_another_one_interrupts_ends_the_connection),
	KUNIT_CASE_PARAM(a_packet_that_breaks_the_rules_ends_the_connection,
			 bad_packet_gen_params),
	KUNIT_CASE(a_segment_that_is_missing_ends_the_connection),
	KUNIT_CASE(a_first_segment_that_comes_twice_ends_the_connection),
	KUNIT_CASE(a_last_segment_that_comes_early_ends_the_connection),
	KUNIT_CASE(a_message_that_changes_its_size_ends_the_connection),
	KUNIT_CASE(too_many_messages_at_a_time_end_the_connection),
	KUNIT_CASE(a_long_message_is_sent_in_segments),
	KUNIT_CASE(a_message_that_finds_no_room_below_is_sent_later),
	KUNIT_CASE(a_segment_that_finds_no_room_below_is_sent_later),
	{}
};

struct kunit_suite rxm_data_suite = {
	.name		= "kofi_rxm_data",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= data_cases,
};
