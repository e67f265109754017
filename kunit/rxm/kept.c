// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What waits: messages without a receive, kept or in their buffers, and writes with data that the
 * client has not read.
 */
#include <linux/delay.h>
#include <linux/sizes.h>
#include <kofi/addr.h>
#include <rdma/fi_rma.h>
#include "rxm.h"

#define LEN	64
#define LONG	(2 * RXM_LIMIT + 100)
#define OFFERED	(8 * RXM_LIMIT + 1)
#define OWN	16	/* receives of the endpoint for a peer */
#define KEPT	64	/* messages of a connection that are kept without a receive */
#define LARGE	SZ_128K	/* the longest message that is kept; a connection has eight of them */
#define FILL	64	/* of them are all that an address may have: half of an endpoint's bytes */
#define ROUNDS	10
#define FEW	62	/* writes with data: together with MORE messages more than 64 */
#define MORE	10
#define QUEUE	128	/* receives of the endpoint */
#define WRITES	70	/* with data, of which a client that reads none gets 64 */
#define PEERS	4	/* connections whose messages are all that is kept of an address */
#define SHORT_S	5	/* the least message_timeout */
#define TURN	64	/* connections whose packets are looked at in one turn */

/* A tagged message of LEN bytes, which are those of vt_fill(@tag) */
static void send_tagged(struct kunit *test, struct rxm_bed *bed, u8 tag)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, LEN);

	hdr->op.op = 1;
	hdr->op.tag = tag;
	vt_fill(hdr + 1, LEN, tag);
	rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
}

/* The first segment of a message of @size bytes */
static struct rxm_wire_hdr *first_segment(struct kunit *test, struct rxm_bed *bed, u64 size)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, RXM_LIMIT);

	hdr->ctrl.type = RXM_WIRE_SEG;
	hdr->ctrl.seg_no = 0;
	hdr->ctrl.seg_type = RXM_WIRE_SEG_FIRST;
	hdr->op.size = size;
	return hdr;
}

static void post_tagged(struct kunit *test, struct rxm_bed *bed, u8 *buf, u8 tag)
{
	KUNIT_ASSERT_EQ(test, fi_trecv(bed->us.ep, buf, LEN, NULL, FI_ADDR_UNSPEC, tag, 0,
				       vt_ctx(tag)), 0);
}

static void expect_tagged(struct kunit *test, struct rxm_bed *bed, u8 *buf, u8 tag)
{
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(tag)).tag, tag);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, LEN, tag));
}

static void receive_tagged(struct kunit *test, struct rxm_bed *bed, u8 *buf, u8 tag)
{
	post_tagged(test, bed, buf, tag);
	expect_tagged(test, bed, buf, tag);
}

static void send_kept(struct kunit *test, struct rxm_bed *bed)
{
	int i;

	for (i = 0; i < KEPT; i++)
		send_tagged(test, bed, 1);
}

/* All that is kept, then a message that finds no room, and one behind it */
static void send_more_than_kept(struct kunit *test, struct rxm_bed *bed)
{
	send_kept(test, bed);
	send_tagged(test, bed, 2);
	send_tagged(test, bed, 3);
}

/* Takes a message of send_kept(), so that the one with tag 2 is kept, and that with tag 3 comes */
static void take_one_kept(struct kunit *test, struct rxm_bed *bed, u8 *buf)
{
	post_tagged(test, bed, buf, 3);
	vt_none(test, bed->us.rx);
	receive_tagged(test, bed, buf + LEN, 1);
	expect_tagged(test, bed, buf, 3);
	receive_tagged(test, bed, buf, 2);
}

static void a_message_in_its_buffer_is_kept_when_another_one_is_taken(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, 2 * LEN);

	send_more_than_kept(test, bed);
	take_one_kept(test, bed, buf);
}

/* The endpoint keeps no more of the address, but the connection could */
static void a_message_in_its_buffer_is_kept_when_another_peers_is_taken(struct kunit *test)
{
	struct rxm_bed *beds = vt_buf(test, (PEERS + 1) * sizeof(*beds));
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, 2 * LEN);
	int i;

	for (i = 0; i <= PEERS; i++) {
		beds[i] = *bed;
		rxm_join_as(test, &beds[i], RXM_PORT + i);
	}
	for (i = 0; i < PEERS; i++)
		send_kept(test, &beds[i]);
	send_tagged(test, &beds[PEERS], 2);
	send_tagged(test, &beds[PEERS], 3);
	take_one_kept(test, bed, buf);
}

/* Their messages are all that is kept of their address, and nobody wants them */
static void peers_that_have_gone_make_room(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, LEN);
	unsigned long since = 0;
	int i;

	rxm_param(test, "message_timeout", SHORT_S, 60);
	for (i = 0; i < PEERS; i++) {
		rxm_join_as(test, bed, RXM_PORT + 1 + i);
		send_kept(test, bed);
		/* What counts is the end of the first connection, not the age of its messages */
		if (!i)
			msleep(2 * SHORT_S * MSEC_PER_SEC);
		since = i ? since : jiffies;
		vt_end_close(test, &bed->peer);
	}
	rxm_join(test, bed);
	send_tagged(test, bed, 2);
	send_tagged(test, bed, 3);
	receive_tagged(test, bed, buf, 3);
	KUNIT_EXPECT_GE(test, jiffies - since, SHORT_S * HZ);
	/* Only what was needed has been dropped */
	for (i = 0; i < PEERS * KEPT - 1; i++) {
		post_tagged(test, bed, buf, 1);
		vt_done(test, bed->us.rx, vt_ctx(1));
	}
	post_tagged(test, bed, buf, 1);
	vt_none(test, bed->us.rx);
}

#define FAILSLAB	"cd /sys/kernel/debug/failslab && "

static void fail_nothing(void *unused)
{
	vt_shell(FAILSLAB "echo 0 >probability && echo 2 >verbose");
}

/* Allocations that do not wait fail, and each look at a message in its buffer is one */
static void connections_without_memory_do_not_wake_each_other(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test), other;
	u8 *buf = vt_buf(test, LEN);
	int i;

	other = *bed;
	rxm_join(test, bed);
	rxm_join_as(test, &other, RXM_PORT + 1);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fail_nothing, NULL), 0);
	KUNIT_ASSERT_EQ(test, vt_shell(FAILSLAB "echo 0 >verbose && echo 20000 >times"), 0);
	KUNIT_ASSERT_EQ(test, vt_shell(FAILSLAB "echo 100 >probability"), 0);
	send_tagged(test, bed, 2);
	send_tagged(test, &other, 2);
	send_tagged(test, bed, 3);
	msleep(2 * MSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, vt_shell(FAILSLAB "test $(cat times) -gt 10000"), 0);
	/* When there is memory, the first message is kept, and what is behind it comes */
	fail_nothing(NULL);
	receive_tagged(test, bed, buf, 3);
	for (i = 0; i < 2; i++)
		receive_tagged(test, bed, buf, 2);
}

/* The message with tag 2 */
static const struct fi_msg_tagged wanted = {
	.addr		= FI_ADDR_UNSPEC,
	.tag		= 2,
	.context	= (void *)2,
};

/* Claims a message, which may not have arrived yet */
static void claim(struct kunit *test, struct rxm_bed *bed, const struct fi_msg_tagged *msg,
		  size_t len)
{
	ktime_t limit = ktime_add_ms(ktime_get(), VT_PATIENCE_MS);
	struct vt_comp comp;

	do {
		KUNIT_ASSERT_EQ(test, fi_trecvmsg(bed->us.ep, msg, FI_PEEK | FI_CLAIM), 0);
		KUNIT_ASSERT_EQ(test, vt_wait(bed->us.rx, &comp), 1);
		/* No event says that a message has arrived which nobody wants */
		if (comp.err)
			usleep_range(1000, 2000);
	} while (comp.err == FI_ENOMSG && ktime_before(ktime_get(), limit));
	KUNIT_ASSERT_EQ(test, comp.err, 0);
	KUNIT_EXPECT_EQ(test, comp.len, len);
}

/* The client has claimed it, and only takes it later */
static void a_claimed_message_stays_in_its_buffer(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, 3 * LEN);
	struct kvec iov = { buf, LEN };
	struct fi_msg_tagged msg = wanted;

	send_more_than_kept(test, bed);
	msg.msg_iov = &iov;
	msg.iov_count = 1;
	claim(test, bed, &msg, LEN);
	post_tagged(test, bed, buf + 2 * LEN, 3);
	receive_tagged(test, bed, buf + LEN, 1);
	vt_none(test, bed->us.rx);
	KUNIT_ASSERT_EQ(test, fi_trecvmsg(bed->us.ep, &msg, FI_CLAIM), 0);
	expect_tagged(test, bed, buf, 2);
	expect_tagged(test, bed, buf + 2 * LEN, 3);
}

/* And what is behind it: the connection has as many messages as it may have */
static void a_claimed_message_outlives_its_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, LEN);
	struct kvec iov = { buf, LEN };
	struct fi_msg_tagged msg = wanted;

	send_more_than_kept(test, bed);
	msg.msg_iov = &iov;
	msg.iov_count = 1;
	claim(test, bed, &msg, LEN);
	vt_end_close(test, &bed->peer);
	/* The end comes before the next request */
	rxm_join(test, bed);
	KUNIT_ASSERT_EQ(test, fi_trecvmsg(bed->us.ep, &msg, FI_CLAIM), 0);
	expect_tagged(test, bed, buf, 2);
	receive_tagged(test, bed, buf, 3);
}

/* It is at its sender, but what is behind it has come */
static void a_claimed_offer_goes_alone_with_its_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, LEN), *mem = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;

	send_kept(test, bed);
	/* A receive has had a message from the buffer of the next packet before */
	send_tagged(test, bed, 4);
	receive_tagged(test, bed, buf, 4);
	hdr = rxm_offer_new(test, bed, mem, LONG);
	hdr->op.op = 1;
	hdr->op.tag = 2;
	rxm_send_ranges(test, bed, hdr);
	send_tagged(test, bed, 3);
	claim(test, bed, &wanted, LONG);
	vt_end_close(test, &bed->peer);
	/* The end comes before the next request */
	rxm_join(test, bed);
	receive_tagged(test, bed, buf, 3);
}

/* Its other segments will not come */
static void a_claimed_message_of_which_a_part_has_come_goes_with_its_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, LONG);
	struct kvec iov = { buf, LONG };
	struct fi_msg_tagged msg = wanted;
	struct rxm_wire_hdr *hdr;

	send_kept(test, bed);
	hdr = first_segment(test, bed, LONG);
	hdr->op.op = 1;
	hdr->op.tag = 2;
	rxm_send(test, bed, hdr, sizeof(*hdr) + RXM_LIMIT);
	msg.msg_iov = &iov;
	msg.iov_count = 1;
	claim(test, bed, &msg, LONG);
	vt_end_close(test, &bed->peer);
	/* The end comes before the next request */
	rxm_join(test, bed);
	KUNIT_EXPECT_EQ(test, fi_trecvmsg(bed->us.ep, &msg, FI_CLAIM), -EINVAL);
}

/* The client inserts its address while it waits in its buffer */
static void a_message_in_its_buffer_has_the_address_of_its_sender(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct sockaddr_storage sender = bed->name;
	u8 *buf = vt_buf(test, LEN);
	fi_addr_t addr;

	rxm_join_as(test, bed, RXM_PORT + 1);
	send_kept(test, bed);
	send_tagged(test, bed, 2);
	kofi_addr_set_port(&sender, RXM_PORT + 1);
	KUNIT_ASSERT_EQ(test, fi_av_insert(bed->us.av, &sender, 1, &addr, 0, NULL), 1);
	KUNIT_ASSERT_EQ(test, fi_trecv(bed->us.ep, buf, LEN, NULL, addr, 2, 0, vt_ctx(2)), 0);
	expect_tagged(test, bed, buf, 2);
}

/* A region of the endpoint, which the raw peer writes to */
static struct fid_mr *open_target(struct kunit *test, struct rxm_bed *bed)
{
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_reg(bed->domain, vt_buf(test, LEN), LEN, FI_REMOTE_WRITE, 0, 5,
					0, &mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	return mr;
}

static void write_data(struct kunit *test, struct rxm_bed *bed, struct fid_mr *mr, int count)
{
	u8 *out = vt_buf(test, LEN);
	int i;

	for (i = 0; i < count; i++) {
		KUNIT_ASSERT_EQ(test, fi_writedata(bed->peer.ep, out, LEN, NULL, i, 0,
						   fi_mr_addr(mr), fi_mr_key(mr), vt_ctx(100)), 0);
		vt_done(test, bed->peer.tx, vt_ctx(100));
	}
}

static void expect_data(struct kunit *test, struct rxm_bed *bed, int count)
{
	struct vt_comp comp;
	int i;

	for (i = 0; i < count; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(bed->us.rx, &comp), 1);
		KUNIT_EXPECT_EQ(test, comp.flags & FI_REMOTE_WRITE, FI_REMOTE_WRITE);
		KUNIT_EXPECT_EQ(test, comp.data, i);
	}
}

/* What waits until the client reads is not looked at again and again */
static void a_write_that_waits_takes_no_time(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *out = vt_buf(test, LEN);
	struct kvec iov = { out, LEN };
	const struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = vt_ctx(1) };
	struct fid_mr *mr = open_target(test, bed);
	u64 begun;

	rxm_join(test, bed);
	write_data(test, bed, mr, WRITES);
	/* Has the work of the endpoint run; the peer does not answer the offer */
	KUNIT_ASSERT_EQ(test, fi_sendmsg(bed->us.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE),
			0);
	begun = rxm_system_time();
	msleep(4 * MSEC_PER_SEC);
	KUNIT_EXPECT_LT(test, rxm_system_time() - begun, 2ULL * NSEC_PER_SEC);
	expect_data(test, bed, WRITES);
}

/* More than is dealt with at a time has come behind a message that waits */
static void all_that_waits_comes_when_one_message_is_taken(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct fid_mr *mr = open_target(test, bed);
	u8 *buf = vt_buf(test, LEN);
	int i;

	rxm_join(test, bed);
	send_kept(test, bed);
	send_tagged(test, bed, 2);
	write_data(test, bed, mr, FEW);
	for (i = 0; i < MORE; i++) {
		post_tagged(test, bed, buf, 3);
		send_tagged(test, bed, 3);
	}
	vt_none(test, bed->us.rx);
	post_tagged(test, bed, buf, 2);
	vt_done(test, bed->us.rx, vt_ctx(2));
	expect_data(test, bed, FEW);
	for (i = 0; i < MORE; i++)
		vt_done(test, bed->us.rx, vt_ctx(3));
}

/* As above, and answers to offers of both ends; then the connection ends */
static void all_that_waits_comes_before_the_end(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct fid_mr *mr = open_target(test, bed);
	u8 *buf = vt_buf(test, LONG), *out = vt_buf(test, OFFERED);
	u64 id;
	int i;

	rxm_param(test, "use_rndv_write", 1, 0);
	rxm_join(test, bed);
	vt_send(test, &bed->us, out, OFFERED, vt_ctx(5));
	id = rxm_next_packet(test, bed, 0, RXM_WIRE_RNDV_REQ)->ctrl.msg_id;
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(4));
	rxm_send_ranges(test, bed, rxm_offer_new(test, bed, out, LONG));
	rxm_next_packet(test, bed, 1, RXM_WIRE_RNDV_WRITE_DATA);
	send_kept(test, bed);
	send_tagged(test, bed, 2);
	rxm_send_word(test, bed, RXM_WIRE_RNDV_READ_DONE, id);
	rxm_send_word(test, bed, RXM_WIRE_RNDV_WRITE_DONE, 33);
	write_data(test, bed, mr, FEW);
	for (i = 0; i < MORE; i++) {
		post_tagged(test, bed, buf, 3);
		send_tagged(test, bed, 3);
	}
	vt_none(test, bed->us.rx);
	vt_end_close(test, &bed->peer);
	expect_data(test, bed, FEW);
	for (i = 0; i < MORE; i++)
		vt_done(test, bed->us.rx, vt_ctx(3));
	vt_done(test, bed->us.tx, vt_ctx(5));
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(4)).len, LONG);
	receive_tagged(test, bed, buf, 2);
}

/* It is received by its buffer more often than there are buffers */
static void a_message_in_its_buffer_keeps_no_receive(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, LEN);
	int i;

	send_kept(test, bed);
	for (i = 0; i <= OWN; i++) {
		send_tagged(test, bed, 2);
		vt_none(test, bed->us.rx);
		receive_tagged(test, bed, buf, 2);
	}
}

/* It has a completion to be read for each message, and there are so many */
static void a_buffer_goes_on_when_completions_are_read(struct kunit *test)
{
	const int count = QUEUE + 2;
	struct rxm_bed *bed = rxm_bed_join(test);
	struct kvec iov = { vt_buf(test, 2 * QUEUE * LEN), 2 * QUEUE * LEN };
	const struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.addr		= FI_ADDR_UNSPEC,
		.context	= vt_ctx(1),
	};
	struct rxm_wire_hdr *hdr;
	int i;

	KUNIT_ASSERT_EQ(test, fi_recvmsg(bed->us.ep, &msg, FI_COMPLETION | FI_MULTI_RECV), 0);
	hdr = rxm_packet(test, bed, LEN);
	for (i = 0; i < count; i++)
		rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ(test, vt_done(test, bed->us.rx, vt_ctx(1)).len, LEN);
	vt_none(test, bed->us.rx);
}

/* The connection has as many as it may have.  An offer goes with it, also from between them */
static void messages_in_their_buffers_outlive_their_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, LONG), *mem = vt_buf(test, LONG), tag;

	send_kept(test, bed);
	send_tagged(test, bed, 2);
	rxm_send_ranges(test, bed, rxm_offer_new(test, bed, mem, LONG));
	send_tagged(test, bed, 3);
	vt_end_close(test, &bed->peer);
	/* The end comes before the next request */
	rxm_join(test, bed);
	for (tag = 2; tag <= 3; tag++)
		receive_tagged(test, bed, buf, tag);
	vt_recv(test, &bed->us, buf, LONG, vt_ctx(4));
	vt_none(test, bed->us.rx);
}

/* The first segment of a message that is kept: it has room for all of the message */
static void send_large(struct kunit *test, struct rxm_bed *bed, u64 msg_id)
{
	struct rxm_wire_hdr *hdr = first_segment(test, bed, LARGE);

	hdr->ctrl.msg_id = msg_id;
	rxm_send(test, bed, hdr, sizeof(*hdr) + RXM_LIMIT);
}

/* Where credits are counted, what is behind a message that waits is read, and so is the end */
static void messages_in_their_buffers_outlive_a_connection_with_credits(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_on(test, "verbs");
	u8 *buf = vt_buf(test, LEN), tag;
	int i;

	rxm_join(test, bed);
	send_large(test, bed, 1);
	/* The grant of the endpoint */
	vt_done(test, bed->peer.rx, vt_ctx(0));
	for (i = 2; i <= SZ_1M / LARGE; i++)
		send_large(test, bed, i);
	send_tagged(test, bed, 2);
	send_tagged(test, bed, 3);
	vt_end_close(test, &bed->peer);
	/* The end comes before the next request */
	rxm_join(test, bed);
	for (tag = 2; tag <= 3; tag++)
		receive_tagged(test, bed, buf, tag);
}

/* Each of the others has a message that is kept, and is looked at before the last one */
static void a_connection_that_waits_has_its_turn(struct kunit *test)
{
	struct rxm_bed *beds = vt_buf(test, (TURN + 1) * sizeof(*beds)), *last = &beds[TURN];
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, OFFERED);
	struct rxm_wire_hdr *hdr;
	int i;

	for (i = 0; i <= TURN; i++) {
		beds[i] = *bed;
		rxm_join_as(test, &beds[i], RXM_PORT + TURN - i);
	}
	for (i = 0; i < TURN; i++)
		send_tagged(test, &beds[i], 1);
	/* It is too long to be kept */
	hdr = first_segment(test, last, OFFERED);
	rxm_send(test, last, hdr, sizeof(*hdr) + RXM_LIMIT);
	send_tagged(test, last, 3);
	post_tagged(test, bed, buf, 3);
	vt_none(test, bed->us.rx);
	vt_recv(test, &bed->us, vt_buf(test, OFFERED), OFFERED, vt_ctx(4));
	expect_tagged(test, bed, buf, 3);
}

/* Has connections keep all that their address may have, but for one large message */
static void fill_address(struct kunit *test, const struct rxm_bed *bed)
{
	struct rxm_bed *other = vt_buf(test, sizeof(*other));
	int i;

	for (i = 0; i < FILL - 1; i++) {
		if (i % (SZ_1M / LARGE) == 0) {
			*other = *bed;
			rxm_join_as(test, other, RXM_PORT + FILL + i);
		}
		send_large(test, other, i);
	}
}

/* A message that finds no room, and one behind it that is received when there is some */
static void send_two(struct kunit *test, struct rxm_bed *bed, u8 *buf)
{
	send_tagged(test, bed, 2);
	send_tagged(test, bed, 3);
	post_tagged(test, bed, buf, 3);
}

/* What waits for room is looked at once in a second, too, so this is a matter of time */
static void room_is_taken_at_once(struct kunit *test)
{
	struct rxm_bed *beds = vt_buf(test, 2 * sizeof(*beds)), *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, LEN);
	unsigned long waited = 0, since;
	struct vt_comp comp;
	int round, i;

	fill_address(test, bed);
	for (i = 0; i < 2; i++) {
		beds[i] = *bed;
		rxm_join_as(test, &beds[i], RXM_PORT + i);
	}
	for (round = 0; round < ROUNDS; round++) {
		rxm_join_as(test, bed, RXM_PORT + 2);
		send_large(test, bed, 1);
		for (i = 0; i < 2; i++)
			send_two(test, &beds[i], buf);
		vt_none(test, bed->us.rx);
		/* One message goes, which is room for both */
		since = jiffies;
		vt_end_close(test, &bed->peer);
		for (i = 0; i < 2; i++) {
			KUNIT_ASSERT_EQ(test, vt_wait(bed->us.rx, &comp), 1);
			KUNIT_EXPECT_EQ(test, comp.tag, 3);
		}
		waited += jiffies - since;
		for (i = 0; i < 2; i++)
			receive_tagged(test, bed, buf, 2);
	}
	KUNIT_EXPECT_LT(test, waited, ROUNDS / 2 * HZ);
}

static struct kunit_case kept_cases[] = {
	KUNIT_CASE(a_message_in_its_buffer_is_kept_when_another_one_is_taken),
	KUNIT_CASE(a_message_in_its_buffer_is_kept_when_another_peers_is_taken),
	KUNIT_CASE(peers_that_have_gone_make_room),
	KUNIT_CASE(connections_without_memory_do_not_wake_each_other),
	KUNIT_CASE(a_claimed_message_stays_in_its_buffer),
	KUNIT_CASE(a_claimed_message_outlives_its_connection),
	KUNIT_CASE(a_claimed_offer_goes_alone_with_its_connection),
	KUNIT_CASE(messages_in_their_buffers_outlive_their_connection),
	KUNIT_CASE(messages_in_their_buffers_outlive_a_connection_with_credits),
	KUNIT_CASE(a_claimed_message_of_which_a_part_has_come_goes_with_its_connection),
	KUNIT_CASE(a_message_in_its_buffer_has_the_address_of_its_sender),
	KUNIT_CASE(a_connection_that_waits_has_its_turn),
	KUNIT_CASE(a_write_that_waits_takes_no_time),
	KUNIT_CASE(all_that_waits_comes_when_one_message_is_taken),
	KUNIT_CASE(room_is_taken_at_once),
	KUNIT_CASE(all_that_waits_comes_before_the_end),
	KUNIT_CASE(a_message_in_its_buffer_keeps_no_receive),
	KUNIT_CASE(a_buffer_goes_on_when_completions_are_read),
	{}
};

struct kunit_suite rxm_kept_suite = {
	.name		= "kofi_rxm_kept",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= kept_cases,
};
