// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets, segments, and peers that break the rules.
 */
#include <linux/delay.h>
#include <kofi/addr.h>
#include <rdma/fi_rma.h>
#include "rxm.h"

#define LEN	64
#define LONG	(2 * RXM_LIMIT + 100)
#define SEGS	3
#define MOST	(8 * RXM_LIMIT)	/* segments for all buffers of an end, or receives of the peer */
#define KEPT	64	/* messages of a connection that are kept without a receive */
#define SHORT_S	5	/* the least message_timeout */

static void an_eager_message_is_received(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, LEN);
	struct rxm_wire_hdr *hdr;
	struct vt_comp comp;

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
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *a = vt_buf(test, LONG), *b = vt_buf(test, LONG), *c = vt_buf(test, LEN);
	struct rxm_wire_hdr *hdr;
	int i;

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
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, LONG);
	int i;

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
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, LONG);
	struct vt_comp comp;

	send_seg(test, bed, 5, 0, 1);
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(1));
	vt_end_close(test, &bed->peer);
	comp = vt_failed(test, bed->us.rx);
	KUNIT_EXPECT_EQ(test, comp.err, ECONNRESET);
	KUNIT_EXPECT_EQ(test, comp.len, 0);
}

static void a_segmented_message_that_is_too_long_is_cut(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, RXM_LIMIT + 5);
	struct vt_comp comp;
	int i;

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
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, LONG);
	struct vt_comp comp;

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
	rxm_expect_closed(test, bed);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.rx).err, ECONNRESET);
}

/* Connections are looked at when one is dialled, so the next look is later than it was to be */
static void a_message_that_never_ends_is_found_after_an_early_look(struct kunit *test)
{
	struct sockaddr_storage nobody;
	struct rxm_bed *bed = rxm_bed_open(test);
	fi_addr_t addr;

	rxm_param(test, "message_timeout", SHORT_S, 60);
	rxm_join(test, bed);
	nobody = bed->name;
	kofi_addr_set_port(&nobody, RXM_PORT + 1);
	KUNIT_ASSERT_EQ(test, fi_av_insert(bed->us.av, &nobody, 1, &addr, 0, NULL), 1);
	vt_recv(test, &bed->us, vt_buf(test, LONG), LONG, vt_ctx(1));
	send_seg(test, bed, 5, 0, 1);
	msleep(200);
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, vt_buf(test, LEN), LEN, NULL, addr, vt_ctx(2)),
			0);
	vt_failed_with(test, bed->us.tx, vt_ctx(2), ECONNREFUSED);
	rxm_expect_closed(test, bed);
	vt_failed_with(test, bed->us.rx, vt_ctx(1), ECONNRESET);
}

/* Its next segments are behind a message that finds no receive, and no memory to be kept in */
static void a_message_that_another_one_interrupts_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;
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
	rxm_expect_closed(test, bed);
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
};

KUNIT_ARRAY_PARAM_DESC(bad_packet, bad_packets, what);

static void a_packet_that_breaks_the_rules_ends_the_connection(struct kunit *test)
{
	const struct bad_packet *bad = test->param_value;
	struct rxm_bed *bed = rxm_bed_join(test);
	struct rxm_wire_hdr *hdr;

	hdr = rxm_packet(test, bed, LEN);
	rxm_send(test, bed, hdr, bad->spoil(hdr));
	rxm_expect_closed(test, bed);
	rxm_expect_service(test, bed);
}

/**
 * struct bad_segment - A first packet of LEN bytes that is no first segment
 * @what: what is wrong
 * @type: which segment it says to be
 * @no: its number
 * @len: bytes that it says to have; with 0 it has none
 * @size: of the message
 */
struct bad_segment {
	const char	*what;
	u8		type;
	u32		no;
	u32		len;
	u64		size;
};

static const struct bad_segment bad_segments[] = {
	{ "middle segment of nothing", 2, 1, LEN, 3 * LEN },
	{ "last segment of nothing", 3, 2, LEN, 3 * LEN },
	{ "segment of no kind", 0, 0, LEN, 3 * LEN },
	{ "first segment with a number", 1, 1, LEN, 3 * LEN },
	{ "size of a segment", 1, 0, LEN + 1, 3 * LEN },
	{ "empty segment", 1, 0, 0, 3 * LEN },
	{ "only one segment", 1, 0, LEN, LEN },
};

KUNIT_ARRAY_PARAM_DESC(bad_segment, bad_segments, what);

static void a_segment_that_breaks_the_rules_ends_the_connection(struct kunit *test)
{
	const struct bad_segment *bad = test->param_value;
	struct rxm_bed *bed = rxm_bed_join(test);
	struct rxm_wire_hdr *hdr;

	hdr = rxm_packet(test, bed, LEN);
	make_seg(hdr, bad->type, bad->no);
	hdr->ctrl.seg_size = bad->len;
	hdr->op.size = bad->size;
	rxm_send(test, bed, hdr, sizeof(*hdr) + (bad->len ? LEN : 0));
	rxm_expect_closed(test, bed);
	rxm_expect_service(test, bed);
}

/* @type, @no, @size: what the second segment says */
static void expect_broken_sequence(struct kunit *test, u8 type, u32 no, u64 size)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, 3 * LEN);
	struct rxm_wire_hdr *hdr;

	vt_recv(test, &bed->us, buf, 3 * LEN, vt_ctx(1));
	hdr = rxm_packet(test, bed, LEN);
	make_seg(hdr, 1, 0);
	rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	make_seg(hdr, type, no);
	hdr->op.size = size;
	rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	rxm_expect_closed(test, bed);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.rx).err, ECONNRESET);
	rxm_expect_service(test, bed);
}

static void a_segment_that_is_missing_ends_the_connection(struct kunit *test)
{
	expect_broken_sequence(test, 2, 2, 3 * LEN);
}

static void a_first_segment_that_comes_twice_ends_the_connection(struct kunit *test)
{
	expect_broken_sequence(test, 1, 0, 3 * LEN);
}

static void a_last_segment_that_comes_early_ends_the_connection(struct kunit *test)
{
	expect_broken_sequence(test, 3, 1, 3 * LEN);
}

static void a_message_that_changes_its_size_ends_the_connection(struct kunit *test)
{
	expect_broken_sequence(test, 2, 1, 1ULL << 40);
}

/* Opens more segmented messages than a peer may have */
static void too_many_messages_at_a_time_end_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	struct rxm_wire_hdr *hdr;
	int i;

	hdr = rxm_packet(test, bed, LEN);
	for (i = 0; i < 17; i++) {
		make_seg(hdr, 1, 0);
		hdr->ctrl.msg_id = i;
		rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	}
	rxm_expect_closed(test, bed);
	rxm_expect_service(test, bed);
}

static void a_long_message_is_sent_in_segments(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	struct rxm_wire_hdr *hdr;
	u8 *buf = vt_buf(test, LONG);
	size_t len;
	int i;

	vt_fill(buf, LONG, 1);
	KUNIT_ASSERT_EQ(test, fi_tsenddata(bed->us.ep, buf, LONG, NULL, 11, 0, 12, vt_ctx(1)),
			0);
	for (i = 0; i < SEGS; i++) {
		len = i == SEGS - 1 ? LONG - i * RXM_LIMIT : RXM_LIMIT;
		hdr = rxm_next_sized(test, bed, i, RXM_WIRE_SEG, len);
		KUNIT_EXPECT_EQ(test, hdr->ctrl.seg_size, len);
		KUNIT_EXPECT_EQ(test, hdr->ctrl.seg_no, i);
		KUNIT_EXPECT_EQ(test, hdr->ctrl.seg_type, !i ? 1 : i == SEGS - 1 ? 3 : 2);
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
		vt_send(test, &bed->us, buf, LEN, vt_ctx(i));
	for (i = 0; i <= RXM_RECVS; i++) {
		vt_done(test, bed->us.tx, vt_ctx(i));
		vt_done(test, bed->peer.rx, vt_ctx(i % RXM_RECVS));
	}
	rxm_expect_faults(test, 1);
	rxm_expect_leave(test, bed, RXM_RECVS + 1);
}

static void a_segment_that_finds_no_room_below_is_sent_later(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *buf = vt_buf(test, LONG);
	int i;

	rxm_join(test, bed);
	rxm_fault(test, "send again after=1 times=1");
	vt_send(test, &bed->us, buf, LONG, vt_ctx(1));
	for (i = 0; i < SEGS; i++)
		KUNIT_EXPECT_EQ(test, rxm_next_packet(test, bed, i, RXM_WIRE_SEG)->ctrl.seg_no, i);
	vt_done(test, bed->us.tx, vt_ctx(1));
	rxm_expect_faults(test, 1);
	rxm_expect_leave(test, bed, SEGS);
}

static void a_message_that_is_refused_below_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);

	rxm_join(test, bed);
	rxm_fault(test, "send error 5 times=1");
	vt_send(test, &bed->us, vt_buf(test, LEN), LEN, vt_ctx(1));
	rxm_expect_closed(test, bed);
	/* Nobody listens at the address of the peer */
	vt_failed(test, bed->us.tx);
}

static void a_receive_that_is_refused_below_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	struct rxm_wire_hdr *hdr;

	rxm_join(test, bed);
	vt_recv(test, &bed->us, vt_buf(test, LEN), LEN, vt_ctx(1));
	rxm_fault(test, "recv error 12 times=1");
	hdr = rxm_packet(test, bed, LEN);
	rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	vt_done(test, bed->us.rx, vt_ctx(1));
	rxm_expect_closed(test, bed);
}

/*
 * The peer takes RXM_RECVS packets, and goes.  @first: bytes of the first message, which are taken.
 * The second message has been sent in part, and the third one ends with @err.
 */
static void expect_last_failed(struct kunit *test, struct rxm_bed *bed, size_t first, int err)
{
	u8 *out = vt_buf(test, MOST);
	int i;

	vt_send(test, &bed->us, out, first, vt_ctx(1));
	vt_send(test, &bed->us, out, MOST, vt_ctx(2));
	vt_send(test, &bed->us, out, MOST, vt_ctx(3));
	for (i = 0; i < RXM_RECVS; i++)
		vt_done(test, bed->peer.rx, vt_ctx(i));
	vt_done(test, bed->us.tx, vt_ctx(1));
	vt_end_close(test, &bed->peer);
	vt_failed_with(test, bed->us.tx, vt_ctx(2), ECONNRESET);
	vt_failed_with(test, bed->us.tx, vt_ctx(3), err);
}

static void a_message_sent_in_part_ends_with_the_connection(struct kunit *test)
{
	expect_last_failed(test, rxm_bed_join(test), LEN, ECONNRESET);
}

/* Nobody listens at the address of the peer */
static void a_message_that_has_waited_goes_by_the_next_connection(struct kunit *test)
{
	expect_last_failed(test, rxm_bed_join(test), MOST, ECONNREFUSED);
}

/* Messages in segments before these */
static void a_message_that_has_waited_is_not_taken_for_one_before_it(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *out = vt_buf(test, MOST);
	int i;

	for (i = 0; i < RXM_RECVS / 2; i++)
		vt_send(test, &bed->us, out, RXM_LIMIT + 1, vt_ctx(i));
	for (i = 0; i < RXM_RECVS; i++)
		rxm_next_packet(test, bed, i, RXM_WIRE_SEG);
	for (i = 0; i < RXM_RECVS / 2; i++)
		vt_done(test, bed->us.tx, vt_ctx(i));
	rxm_post_recvs(test, bed);
	expect_last_failed(test, bed, MOST, ECONNREFUSED);
}

/* @err: of a write that meets @rule below; 0: none.  The next one succeeds */
static void expect_write(struct kunit *test, const char *rule, int err)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *mem = vt_buf(test, LEN), *out[2];
	struct fid_mr *mr;
	int i;

	rxm_join(test, bed);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, mem, LEN, FI_REMOTE_WRITE, 0, 5, 0,
					&mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	rxm_fault(test, rule);
	for (i = 0; i < 2; i++) {
		out[i] = vt_buf(test, LEN);
		vt_fill(out[i], LEN, i);
		KUNIT_ASSERT_EQ(test, fi_write(bed->us.ep, out[i], LEN, NULL, 0, fi_mr_addr(mr),
					       fi_mr_key(mr), vt_ctx(i)), 0);
		if (i || !err)
			vt_done(test, bed->us.tx, vt_ctx(i));
		else
			vt_failed_with(test, bed->us.tx, vt_ctx(i), err);
		KUNIT_EXPECT_EQ(test, vt_filled(mem, LEN, i), i || !err);
	}
	rxm_expect_faults(test, 1);
	vt_no_event(test, bed->peer.eq);
	/* It has been written to since it has asked the last time */
	rxm_ask_to_leave(test, bed, 0);
	rxm_next_packet(test, bed, 0, RXM_WIRE_STAY);
	rxm_expect_leave(test, bed, 1);
}

/* Nothing else is under way whose completion could have it posted */
static void a_write_that_finds_no_room_below_is_posted_later(struct kunit *test)
{
	expect_write(test, "write again times=1", 0);
}

static void a_write_that_is_refused_below_leaves_the_connection(struct kunit *test)
{
	expect_write(test, "write error 95 times=1", EOPNOTSUPP);
}

static struct kunit_case data_cases[] = {
	KUNIT_CASE(an_eager_message_is_received),
	KUNIT_CASE(segments_of_several_messages_may_alternate),
	KUNIT_CASE(a_receive_may_come_between_segments),
	KUNIT_CASE(a_receive_between_segments_ends_with_the_connection),
	KUNIT_CASE(a_segmented_message_that_is_too_long_is_cut),
	KUNIT_CASE(a_message_of_which_a_part_has_come_ends_with_the_connection),
	KUNIT_CASE(a_message_that_never_ends_ends_the_connection),
	KUNIT_CASE(a_message_that_never_ends_is_found_after_an_early_look),
	KUNIT_CASE(a_message_that_another_one_interrupts_ends_the_connection),
	KUNIT_CASE_PARAM(a_packet_that_breaks_the_rules_ends_the_connection,
			 bad_packet_gen_params),
	KUNIT_CASE_PARAM(a_segment_that_breaks_the_rules_ends_the_connection,
			 bad_segment_gen_params),
	KUNIT_CASE(a_segment_that_is_missing_ends_the_connection),
	KUNIT_CASE(a_first_segment_that_comes_twice_ends_the_connection),
	KUNIT_CASE(a_last_segment_that_comes_early_ends_the_connection),
	KUNIT_CASE(a_message_that_changes_its_size_ends_the_connection),
	KUNIT_CASE(too_many_messages_at_a_time_end_the_connection),
	KUNIT_CASE(a_long_message_is_sent_in_segments),
	KUNIT_CASE(a_message_that_finds_no_room_below_is_sent_later),
	KUNIT_CASE(a_segment_that_finds_no_room_below_is_sent_later),
	KUNIT_CASE(a_message_that_is_refused_below_ends_the_connection),
	KUNIT_CASE(a_receive_that_is_refused_below_ends_the_connection),
	KUNIT_CASE(a_message_sent_in_part_ends_with_the_connection),
	KUNIT_CASE(a_message_that_has_waited_goes_by_the_next_connection),
	KUNIT_CASE(a_message_that_has_waited_is_not_taken_for_one_before_it),
	KUNIT_CASE(a_write_that_finds_no_room_below_is_posted_later),
	KUNIT_CASE(a_write_that_is_refused_below_leaves_the_connection),
	{}
};

struct kunit_suite rxm_data_suite = {
	.name		= "kofi_rxm_data",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= data_cases,
};
