// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages on offer that their sender writes: a raw peer writes to this end (use_rndv_write), and
 * this end writes to a raw peer.
 */
#include <linux/delay.h>
#include <linux/sizes.h>
#include <rdma/fi_rma.h>
#include "rxm.h"

#define LEN		64
#define LONG		(8 * RXM_LIMIT + 1)	/* is offered */
#define LONGER		(3 * SZ_1M + 17)
#define PARTS		9			/* of 2 MiB: has two message_timeouts */
#define ID		33
#define SHORT_S		5	/* the least message_timeout */
#define AT_A_TIME	16	/* messages of a connection that the peer may write */
#define WRITE_DATA	7
#define WRITE_DONE	8

/* The raw peer writes */

static struct rxm_bed *join_writer_of(struct kunit *test, struct rxm_bed *bed)
{
	rxm_param(test, "use_rndv_write", 1, 0);
	rxm_join(test, bed);
	return bed;
}

static struct rxm_bed *join_writer(struct kunit *test)
{
	return join_writer_of(test, rxm_bed_open(test));
}

/* Offers a message of @len bytes, which nobody can read */
static void send_offer(struct kunit *test, struct rxm_bed *bed, u64 id, size_t len)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, sizeof(struct rxm_wire_rndv));
	struct rxm_wire_rndv *offer = (void *)(hdr + 1);

	hdr->ctrl.type = RXM_WIRE_RNDV_REQ;
	hdr->ctrl.msg_id = id;
	hdr->op.size = len;
	offer->count = 1;
	offer->iov[0].len = len;
	offer->iov[0].key = 77;
	rxm_send(test, bed, hdr, sizeof(*hdr) + sizeof(*offer));
}

/* Where the raw peer is to write: @len bytes in all */
static const struct rxm_wire_rndv *next_target(struct kunit *test, struct rxm_bed *bed, int nr,
					       size_t len)
{
	const struct rxm_wire_hdr *hdr = rxm_next_sized(test, bed, nr, WRITE_DATA,
							sizeof(struct rxm_wire_rndv));

	KUNIT_EXPECT_EQ(test, hdr->ctrl.msg_id, ID);
	return rxm_expect_ranges(test, hdr, len);
}

static void write_to(struct kunit *test, struct rxm_bed *bed, const struct rxm_wire_rndv *target,
		     u8 *from)
{
	int i;

	for (i = 0; i < target->count; i++) {
		KUNIT_ASSERT_EQ(test, fi_write(bed->peer.ep, from, target->iov[i].len, NULL, 0,
					       target->iov[i].addr, target->iov[i].key,
					       vt_ctx(50)), 0);
		vt_done(test, bed->peer.tx, vt_ctx(50));
		from += target->iov[i].len;
	}
}

/* A message that has a receive: its sender knows where to write */
static const struct rxm_wire_rndv *begin_write(struct kunit *test, struct rxm_bed *bed, u8 *buf)
{
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(1));
	send_offer(test, bed, ID, LONG);
	return next_target(test, bed, 0, LONG);
}

static void a_message_is_received_when_its_sender_has_written_it(struct kunit *test)
{
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);
	struct rxm_bed *bed = join_writer(test);
	const struct rxm_wire_rndv *target;

	vt_fill(mem, LONG, 1);
	target = begin_write(test, bed, buf);
	write_to(test, bed, target, mem);
	vt_none(test, bed->us.rx);
	rxm_send_word(test, bed, WRITE_DONE, ID);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, LONG);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, LONG, 1));
}

static void nothing_is_written_after_the_receive(struct kunit *test)
{
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);
	struct rxm_bed *bed = join_writer(test);
	const struct rxm_wire_rndv *target;

	target = begin_write(test, bed, buf);
	rxm_send_word(test, bed, WRITE_DONE, ID);
	vt_done(test, bed->us.rx, vt_ctx(1));
	vt_fill(mem, LEN, 1);
	KUNIT_ASSERT_EQ(test, fi_write(bed->peer.ep, mem, LEN, NULL, 0, target->iov[0].addr,
				       target->iov[0].key, vt_ctx(50)), 0);
	vt_failed(test, bed->peer.tx);
	KUNIT_EXPECT_FALSE(test, vt_filled(buf, LEN, 1));
}

static void a_sender_cannot_read_where_it_is_to_write(struct kunit *test)
{
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LEN);
	struct rxm_bed *bed = join_writer(test);
	const struct rxm_wire_rndv *target;

	vt_fill(buf, LONG, 1);
	target = begin_write(test, bed, buf);
	KUNIT_ASSERT_EQ(test, fi_read(bed->peer.ep, mem, LEN, NULL, 0, target->iov[0].addr,
				      target->iov[0].key, vt_ctx(50)), 0);
	vt_failed(test, bed->peer.tx);
	KUNIT_EXPECT_FALSE(test, vt_filled(mem, LEN, 1));
}

static void a_receive_of_several_buffers_is_written(struct kunit *test)
{
	u8 *buf = vt_buf(test, 2 * LONG), *mem = vt_buf(test, LONG);
	struct kvec list[2] = { { buf, 5 }, { buf + LONG, LONG - 5 } };
	struct rxm_bed *bed = join_writer(test);

	vt_fill(mem, LONG, 1);
	KUNIT_ASSERT_EQ(test, fi_recvv(bed->us.ep, list, NULL, 2, 0, vt_ctx(1)), 0);
	send_offer(test, bed, ID, LONG);
	write_to(test, bed, next_target(test, bed, 0, LONG), mem);
	rxm_send_word(test, bed, WRITE_DONE, ID);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, LONG);
	KUNIT_EXPECT_EQ(test, memcmp(buf, mem, 5), 0);
	KUNIT_EXPECT_EQ(test, memcmp(buf + LONG, mem + 5, LONG - 5), 0);
	KUNIT_EXPECT_EQ(test, buf[5], 0);
}

static void a_receive_in_pages_is_written(struct kunit *test)
{
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);
	struct rxm_bed *bed = join_writer(test);
	struct bio_vec page;
	const struct fi_msg msg = {
		.type		= FI_BUF_BVEC,
		.msg_bvec	= &page,
		.iov_count	= 1,
		.context	= vt_ctx(1),
	};

	page = rxm_pages(buf, LONG);
	vt_fill(mem, LONG, 1);
	KUNIT_ASSERT_EQ(test, fi_recvmsg(bed->us.ep, &msg, FI_COMPLETION), 0);
	send_offer(test, bed, ID, LONG);
	write_to(test, bed, next_target(test, bed, 0, LONG), mem);
	rxm_send_word(test, bed, WRITE_DONE, ID);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, LONG);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, LONG, 1));
}

static void an_offer_without_a_receive_is_written_later(struct kunit *test)
{
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);
	struct rxm_bed *bed = join_writer(test);

	vt_fill(mem, LONG, 1);
	send_offer(test, bed, ID, LONG);
	vt_none(test, bed->peer.rx);
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(1));
	write_to(test, bed, next_target(test, bed, 0, LONG), mem);
	rxm_send_word(test, bed, WRITE_DONE, ID);
	vt_done(test, bed->us.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, LONG, 1));
}

static void a_message_that_is_too_long_is_written_as_far_as_it_fits(struct kunit *test)
{
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);
	struct rxm_bed *bed = join_writer(test);
	struct vt_comp comp;

	vt_fill(mem, LONG, 1);
	vt_recv(test, &bed->us, buf, LEN, vt_ctx(1));
	send_offer(test, bed, ID, LONG);
	write_to(test, bed, next_target(test, bed, 0, LEN), mem);
	rxm_send_word(test, bed, WRITE_DONE, ID);
	comp = vt_failed(test, bed->us.rx);
	KUNIT_EXPECT_EQ(test, comp.err, FI_ETRUNC);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, LEN, 1));
	KUNIT_EXPECT_EQ(test, buf[LEN], 0);
}

/* libfabric never says that it has written nothing */
static void a_message_for_no_buffer_is_written_elsewhere(struct kunit *test)
{
	static const size_t lens[] = { 0, LONG };
	struct rxm_bed *bed = join_writer(test);
	u8 *mem = vt_buf(test, LEN);
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		vt_recv(test, &bed->us, NULL, 0, vt_ctx(1));
		send_offer(test, bed, ID, lens[i]);
		write_to(test, bed, next_target(test, bed, i, 8), mem);
		rxm_send_word(test, bed, WRITE_DONE, ID);
		if (lens[i])
			KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.rx).err, FI_ETRUNC);
		else
			vt_done(test, bed->us.rx, vt_ctx(1));
	}
}

static void a_buffer_that_cannot_be_registered_is_written_by_way_of_a_copy(struct kunit *test)
{
	struct rxm_bed *bed = join_writer_of(test, rxm_bed_open_faulty(test));
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);
	const struct rxm_wire_rndv *target;

	vt_fill(mem, LONG, 1);
	rxm_fault(test, "mr error 12 times=1");
	target = begin_write(test, bed, buf);
	write_to(test, bed, target, mem);
	KUNIT_EXPECT_FALSE(test, vt_filled(buf, LONG, 1));
	rxm_send_word(test, bed, WRITE_DONE, ID);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, LONG);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, LONG, 1));
}

static void a_buffer_that_cannot_be_written_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = join_writer_of(test, rxm_bed_open_faulty(test));

	rxm_fault(test, "mr error 12 times=2");
	vt_recv(test, &bed->us, vt_buf(test, LONG), LONG, vt_ctx(1));
	send_offer(test, bed, ID, LONG);
	rxm_expect_closed(test, bed);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.rx).err, ECONNRESET);
}

/* Others wait until one has been written.  Each has a receive when all have been offered */
static void a_sender_writes_so_many_at_a_time(struct kunit *test)
{
	struct rxm_bed *bed = join_writer(test);
	u8 *buf = vt_buf(test, LONG);
	int i, nr;

	for (i = 0; i <= AT_A_TIME; i++)
		send_offer(test, bed, ID, LONG);
	for (i = 0; i <= AT_A_TIME; i++)
		vt_recv(test, &bed->us, buf, LONG, vt_ctx(i));
	for (i = 0; i < AT_A_TIME; i++) {
		nr = i % RXM_RECVS;
		next_target(test, bed, nr, LONG);
		rxm_recv_again(test, bed, nr);
	}
	vt_none(test, bed->peer.rx);
	rxm_send_word(test, bed, WRITE_DONE, ID);
	vt_done(test, bed->us.rx, vt_ctx(0));
	next_target(test, bed, 0, LONG);
	/* And none of these packets keeps a receive of the endpoint */
	for (i = 1; i <= AT_A_TIME; i++) {
		rxm_send_word(test, bed, WRITE_DONE, ID);
		vt_done(test, bed->us.rx, vt_ctx(i));
	}
}

static void what_was_not_asked_for_cannot_be_written(struct kunit *test)
{
	struct rxm_bed *bed = join_writer(test);
	u8 *buf = vt_buf(test, LONG);

	begin_write(test, bed, buf);
	rxm_send_word(test, bed, WRITE_DONE, ID + 1);
	rxm_expect_closed(test, bed);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.rx).err, ECONNRESET);
}

static void a_message_cannot_be_written_twice(struct kunit *test)
{
	struct rxm_bed *bed = join_writer(test);
	u8 *buf = vt_buf(test, LONG);

	begin_write(test, bed, buf);
	rxm_send_word(test, bed, WRITE_DONE, ID);
	vt_done(test, bed->us.rx, vt_ctx(1));
	rxm_send_word(test, bed, WRITE_DONE, ID);
	rxm_expect_closed(test, bed);
}

/* The receive has what its buffer had, as if its sender had sent that */
static void a_sender_may_write_nothing(struct kunit *test)
{
	struct rxm_bed *bed = join_writer(test);
	u8 *buf = vt_buf(test, LONG);

	vt_fill(buf, LONG, 1);
	begin_write(test, bed, buf);
	rxm_send_word(test, bed, WRITE_DONE, ID);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, LONG);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, LONG, 1));
}

/* @turns: message_timeouts that a message has which goes into @count parts of @part bytes */
static void expect_end_of_patience(struct kunit *test, size_t part, int count, int turns)
{
	struct rxm_bed *bed = join_writer(test);
	u8 *buf = vt_buf(test, part);
	struct kvec list[PARTS];
	unsigned long since;
	int i;

	for (i = 0; i < count; i++)
		list[i] = (struct kvec) { buf, part };
	rxm_param(test, "message_timeout", SHORT_S, 60);
	KUNIT_ASSERT_EQ(test, fi_recvv(bed->us.ep, list, NULL, count, 0, vt_ctx(1)), 0);
	since = jiffies;
	send_offer(test, bed, ID, count * part);
	next_target(test, bed, 0, count * part);
	/* Behind it a message has as long */
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(2));
	send_offer(test, bed, ID, LONG);
	next_target(test, bed, 1, LONG);
	rxm_expect_closed(test, bed);
	KUNIT_EXPECT_GE(test, jiffies - since, turns * SHORT_S * HZ);
	KUNIT_EXPECT_LT(test, jiffies - since, (turns + 1) * SHORT_S * HZ);
	for (i = 1; i <= 2; i++)
		vt_failed_with(test, bed->us.rx, vt_ctx(i), ECONNRESET);
}

static void a_message_that_is_never_written_ends_the_connection(struct kunit *test)
{
	expect_end_of_patience(test, LONG, 1, 1);
}

static void a_longer_message_may_take_longer(struct kunit *test)
{
	expect_end_of_patience(test, SZ_2M, PARTS, 2);
}

static void a_message_ends_with_its_sender(struct kunit *test)
{
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG);
	struct rxm_bed *bed = join_writer(test);
	struct vt_comp comp;

	write_to(test, bed, begin_write(test, bed, buf), mem);
	vt_end_close(test, &bed->peer);
	comp = vt_failed(test, bed->us.rx);
	KUNIT_EXPECT_EQ(test, comp.err, ECONNRESET);
	KUNIT_EXPECT_EQ(test, comp.len, 0);
}

/* All buffers of the endpoint are in use, so it asks for none of them */
static void messages_that_wait_to_be_written_end_with_their_sender(struct kunit *test)
{
	struct rxm_bed *bed = join_writer(test);
	u8 *buf = vt_buf(test, LONG);
	int i;

	for (i = 0; i < 2 * RXM_RECVS; i++)
		vt_send(test, &bed->us, buf, LEN, vt_ctx(i));
	for (i = 0; i < RXM_RECVS; i++) {
		vt_done(test, bed->us.tx, vt_ctx(i));
		vt_done(test, bed->peer.rx, vt_ctx(i));
	}
	for (i = 0; i <= AT_A_TIME; i++) {
		vt_recv(test, &bed->us, buf, LONG, vt_ctx(i));
		send_offer(test, bed, ID, LONG);
	}
	vt_end_close(test, &bed->peer);
	for (i = 0; i < RXM_RECVS + AT_A_TIME + 1; i++)
		KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.rx).err, ECONNRESET);
}

static void a_message_ends_with_the_endpoint(struct kunit *test)
{
	struct rxm_bed *bed = join_writer(test);
	u8 *buf = vt_buf(test, LONG);

	begin_write(test, bed, buf);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(bed->us.ep, -1), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.rx).err, ECANCELED);
}

/* The raw peer has itself written to */

/* What the raw peer answers to an offer: memory of its own in two ranges, of @len bytes together */
static struct rxm_wire_hdr *make_target(struct kunit *test, struct rxm_bed *bed, u64 id, u8 *mem,
					size_t len)
{
	struct rxm_wire_hdr *hdr = rxm_ranges_new(test, bed, mem, len, FI_REMOTE_WRITE);

	hdr->ctrl.type = WRITE_DATA;
	hdr->ctrl.msg_id = id;
	hdr->op.op = RXM_WIRE_FETCH_ATOMIC;
	hdr->op.size = 12345;
	return hdr;
}

/* Has this end offer a message of LONG bytes, those of vt_fill(1); its identity, from buffer @nr */
static u64 be_offered_in(struct kunit *test, struct rxm_bed *bed, int nr)
{
	u8 *out = vt_buf(test, LONG);

	vt_fill(out, LONG, 1);
	vt_send(test, &bed->us, out, LONG, vt_ctx(1));
	return rxm_next_sized(test, bed, nr, RXM_WIRE_RNDV_REQ,
			      sizeof(struct rxm_wire_rndv))->ctrl.msg_id;
}

static u64 be_offered(struct kunit *test, struct rxm_bed *bed)
{
	return be_offered_in(test, bed, 0);
}

/* The end of the writes comes to the buffer @nr */
static void expect_written_in(struct kunit *test, struct rxm_bed *bed, int nr, u64 id, u8 *mem,
			      size_t len)
{
	KUNIT_EXPECT_EQ(test, rxm_next_sized(test, bed, nr, WRITE_DONE, 0)->ctrl.msg_id, id);
	KUNIT_EXPECT_TRUE(test, vt_filled(mem, len, 1));
	vt_done(test, bed->us.tx, vt_ctx(1));
}

static void expect_written(struct kunit *test, struct rxm_bed *bed, u64 id, u8 *mem, size_t len)
{
	expect_written_in(test, bed, 1, id, mem, len);
}

/* More often than the endpoint has receives */
static void an_offer_is_written_if_its_receiver_wants_it(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *mem = vt_buf(test, LONG);
	int i, nr;
	u64 id;

	for (i = 0; i <= AT_A_TIME; i++) {
		nr = 2 * i % RXM_RECVS;
		id = be_offered_in(test, bed, nr);
		vt_none(test, bed->us.tx);
		rxm_send_ranges(test, bed, make_target(test, bed, id, mem, LONG));
		expect_written_in(test, bed, nr + 1, id, mem, LONG);
		memset(mem, 0, LONG);
		rxm_recv_again(test, bed, nr);
		rxm_recv_again(test, bed, nr + 1);
	}
}

/* Nothing else is under way whose completion could have it posted */
static void an_offer_whose_write_finds_no_room_below_is_written_later(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *mem = vt_buf(test, LONG);
	u64 id;

	rxm_join(test, bed);
	id = be_offered(test, bed);
	rxm_fault(test, "write again times=1");
	rxm_send_ranges(test, bed, make_target(test, bed, id, mem, LONG));
	expect_written(test, bed, id, mem, LONG);
	rxm_expect_faults(test, 1);
	/* It has been written to since it has asked the last time */
	rxm_ask_to_leave(test, bed, 2);
	rxm_next_packet(test, bed, 2, RXM_WIRE_STAY);
	rxm_expect_leave(test, bed, 3);
}

/* The peer does not learn that it has been written */
static void an_offer_whose_end_is_refused_below_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *mem = vt_buf(test, LONG);
	u64 id;

	rxm_join(test, bed);
	id = be_offered(test, bed);
	/* Behind what the peer sends */
	rxm_fault(test, "send error 5 after=1 times=1");
	rxm_send_ranges(test, bed, make_target(test, bed, id, mem, LONG));
	rxm_expect_closed(test, bed);
	vt_failed_with(test, bed->us.tx, vt_ctx(1), ECONNRESET);
}

static void an_offer_that_is_being_written_ends_with_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *mem = vt_buf(test, LONG);
	u64 id;

	rxm_join(test, bed);
	id = be_offered(test, bed);
	rxm_fault(test, "write delay 1000 times=1");
	rxm_send_ranges(test, bed, make_target(test, bed, id, mem, LONG));
	KUNIT_EXPECT_TRUE(test, vt_until(rxm_faults(1)));
	vt_end_close(test, &bed->peer);
	vt_failed_with(test, bed->us.tx, vt_ctx(1), ECONNRESET);
}

static void an_offer_whose_write_is_refused_below_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	u8 *mem = vt_buf(test, LONG);
	u64 id;

	rxm_join(test, bed);
	id = be_offered(test, bed);
	rxm_fault(test, "write error 95 times=1");
	rxm_send_ranges(test, bed, make_target(test, bed, id, mem, LONG));
	rxm_expect_closed(test, bed);
	vt_failed_with(test, bed->us.tx, vt_ctx(1), EOPNOTSUPP);
}

static void an_offer_is_written_as_far_as_it_fits(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *mem = vt_buf(test, LONG);
	u64 id;

	id = be_offered(test, bed);
	rxm_send_ranges(test, bed, make_target(test, bed, id, mem, LEN));
	expect_written(test, bed, id, mem, LEN);
	KUNIT_EXPECT_EQ(test, mem[LEN], 0);
}

/* libfabric counts all buffers of a receive, and has old values for those that stay empty */
static void ranges_behind_the_message_mean_nothing(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	struct rxm_wire_rndv *target;
	u8 *mem = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;
	u64 id;

	id = be_offered(test, bed);
	hdr = make_target(test, bed, id, mem, LONG);
	target = (void *)(hdr + 1);
	target->count = RXM_WIRE_IOV;
	target->iov[2].len = U64_MAX;
	target->iov[3].len = U64_MAX;
	rxm_send_ranges(test, bed, hdr);
	expect_written(test, bed, id, mem, LONG);
}

/* The message has been delivered when the peer knows that it has been written */
static void a_message_to_be_delivered_is_written(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *out = vt_buf(test, LEN), *mem = vt_buf(test, LEN);
	struct kvec iov = { out, LEN };
	const struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = vt_ctx(1) };
	const struct rxm_wire_hdr *hdr;
	u64 id;

	vt_fill(out, LEN, 1);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(bed->us.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE),
			0);
	hdr = rxm_next_sized(test, bed, 0, RXM_WIRE_RNDV_REQ, sizeof(struct rxm_wire_rndv));
	id = hdr->ctrl.msg_id;
	rxm_send_ranges(test, bed, make_target(test, bed, id, mem, LEN));
	expect_written(test, bed, id, mem, LEN);
}

static void only_what_was_offered_is_written(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *mem = vt_buf(test, LONG);
	u64 id;

	id = be_offered(test, bed);
	rxm_send_ranges(test, bed, make_target(test, bed, id + 1, mem, LONG));
	rxm_expect_closed(test, bed);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNRESET);
}

/* @again: what the peer answers a second time to an offer that has been written */
static void expect_one_answer(struct kunit *test, u8 again)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *mem = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;
	u64 id;

	id = be_offered(test, bed);
	hdr = make_target(test, bed, id, mem, LONG);
	rxm_send_ranges(test, bed, hdr);
	expect_written(test, bed, id, mem, LONG);
	hdr->ctrl.type = again;
	rxm_send_ranges(test, bed, hdr);
	rxm_expect_closed(test, bed);
}

static void an_offer_is_not_written_twice(struct kunit *test)
{
	expect_one_answer(test, WRITE_DATA);
}

static void an_offer_that_was_written_cannot_have_been_read(struct kunit *test)
{
	expect_one_answer(test, RXM_WIRE_RNDV_READ_DONE);
}

static void a_target_of_no_range_ends_the_connection(struct kunit *test)
{
	static const u8 counts[] = { 0, RXM_WIRE_IOV + 1 };
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *mem = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;
	int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		rxm_join(test, bed);
		hdr = make_target(test, bed, be_offered(test, bed), mem, LONG);
		((struct rxm_wire_rndv *)(hdr + 1))->count = counts[i];
		rxm_send_ranges(test, bed, hdr);
		rxm_expect_closed(test, bed);
		KUNIT_EXPECT_EQ(test, vt_failed(test, bed->us.tx).err, ECONNRESET);
		vt_end_close(test, &bed->peer);
	}
}

static void a_target_that_cannot_be_written_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *mem = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;

	hdr = make_target(test, bed, be_offered(test, bed), mem, LONG);
	((struct rxm_wire_rndv *)(hdr + 1))->iov[1].key ^= 1;
	rxm_send_ranges(test, bed, hdr);
	rxm_expect_closed(test, bed);
	vt_failed(test, bed->us.tx);
}

/* Both ends are kOFI */
static void a_message_to_itself_is_written(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *out = vt_buf(test, LONGER), *in = vt_buf(test, LONGER);
	struct vt_comp comp;
	bool received = false;
	fi_addr_t addr;
	int i;

	rxm_param(test, "use_rndv_write", 1, 0);
	KUNIT_ASSERT_EQ(test, fi_av_insert(bed->us.av, &bed->name, 1, &addr, 0, NULL), 1);
	vt_fill(out, LONGER, 1);
	KUNIT_ASSERT_EQ(test, fi_recv(bed->us.ep, in, LONGER, NULL, FI_ADDR_UNSPEC, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, out, LONGER, NULL, addr, vt_ctx(2)), 0);
	/* Either may be the first */
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(bed->us.rx, &comp), 1);
		KUNIT_EXPECT_EQ(test, comp.err, 0);
		received |= comp.context == vt_ctx(1) && comp.len == LONGER;
	}
	KUNIT_EXPECT_TRUE(test, received);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LONGER, 1));
}

static struct kunit_case writes_cases[] = {
	KUNIT_CASE(a_message_is_received_when_its_sender_has_written_it),
	KUNIT_CASE(nothing_is_written_after_the_receive),
	KUNIT_CASE(a_sender_cannot_read_where_it_is_to_write),
	KUNIT_CASE(a_receive_of_several_buffers_is_written),
	KUNIT_CASE(a_receive_in_pages_is_written),
	KUNIT_CASE(an_offer_without_a_receive_is_written_later),
	KUNIT_CASE(a_message_that_is_too_long_is_written_as_far_as_it_fits),
	KUNIT_CASE(a_message_for_no_buffer_is_written_elsewhere),
	KUNIT_CASE(a_buffer_that_cannot_be_registered_is_written_by_way_of_a_copy),
	KUNIT_CASE(a_buffer_that_cannot_be_written_ends_the_connection),
	KUNIT_CASE(a_sender_writes_so_many_at_a_time),
	KUNIT_CASE(what_was_not_asked_for_cannot_be_written),
	KUNIT_CASE(a_message_cannot_be_written_twice),
	KUNIT_CASE(a_sender_may_write_nothing),
	KUNIT_CASE(a_message_that_is_never_written_ends_the_connection),
	KUNIT_CASE(a_longer_message_may_take_longer),
	KUNIT_CASE(a_message_ends_with_its_sender),
	KUNIT_CASE(messages_that_wait_to_be_written_end_with_their_sender),
	KUNIT_CASE(a_message_ends_with_the_endpoint),
	KUNIT_CASE(an_offer_is_written_if_its_receiver_wants_it),
	KUNIT_CASE(an_offer_whose_write_finds_no_room_below_is_written_later),
	KUNIT_CASE(an_offer_whose_end_is_refused_below_ends_the_connection),
	KUNIT_CASE(an_offer_that_is_being_written_ends_with_the_connection),
	KUNIT_CASE(an_offer_whose_write_is_refused_below_ends_the_connection),
	KUNIT_CASE(an_offer_is_written_as_far_as_it_fits),
	KUNIT_CASE(ranges_behind_the_message_mean_nothing),
	KUNIT_CASE(a_message_to_be_delivered_is_written),
	KUNIT_CASE(only_what_was_offered_is_written),
	KUNIT_CASE(an_offer_is_not_written_twice),
	KUNIT_CASE(an_offer_that_was_written_cannot_have_been_read),
	KUNIT_CASE(a_target_of_no_range_ends_the_connection),
	KUNIT_CASE(a_target_that_cannot_be_written_ends_the_connection),
	KUNIT_CASE(a_message_to_itself_is_written),
	{}
};

struct kunit_suite rxm_writes_suite = {
	.name		= "kofi_rxm_writes",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= writes_cases,
};
