// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections that are idle: an end asks the other one to close them.
 */
#include <linux/delay.h>
#include <linux/sizes.h>
#include <rdma/fi_rma.h>
#include "rxm.h"

#define LEN		64
#define LONG		(8 * RXM_LIMIT + 1)	/* is offered */
#define IDLE_S		2
#define TIMEOUT_S	5	/* the least message_timeout */
#define ADDR		1	/* of the raw peer that listens */
#define OWN		16	/* receives of the endpoint: no packet of an idle peer keeps one */

/* The next packet is about the connection alone */
static struct rxm_wire_hdr *next_word(struct kunit *test, struct rxm_bed *bed, int nr, u8 type)
{
	struct rxm_wire_hdr *hdr = rxm_next_packet(test, bed, nr, type);

	KUNIT_EXPECT_EQ(test, hdr->op.size, 0);
	return hdr;
}

static void send_packet(struct kunit *test, struct rxm_bed *bed, u8 type, u64 id)
{
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, 0);

	hdr->ctrl.type = type;
	hdr->ctrl.msg_id = id;
	rxm_send(test, bed, hdr, sizeof(*hdr));
}

static void send_message(struct kunit *test, struct rxm_bed *bed, fi_addr_t addr, void *context)
{
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, vt_buf(test, LEN), LEN, NULL, addr, context), 0);
}

/* The end that has accepted */

static void a_peer_that_has_taken_all_may_leave(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *buf = vt_buf(test, LEN);
	struct rxm_wire_hdr *hdr;

	send_message(test, bed, 0, vt_ctx(1));
	vt_done(test, bed->us.tx, vt_ctx(1));
	vt_done(test, bed->peer.rx, vt_ctx(0));
	send_packet(test, bed, RXM_WIRE_LEAVE, 1);
	rxm_expect_closed(test, bed);
	vt_end_close(test, &bed->peer);
	/* And may come back */
	rxm_join(test, bed);
	vt_recv(test, &bed->us, buf, LEN, vt_ctx(2));
	hdr = rxm_packet(test, bed, LEN);
	rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	vt_done(test, bed->us.rx, vt_ctx(2));
}

static void a_peer_that_has_not_taken_all_stays(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	int i;

	send_message(test, bed, 0, vt_ctx(1));
	vt_done(test, bed->us.tx, vt_ctx(1));
	vt_done(test, bed->peer.rx, vt_ctx(0));
	rxm_recv_again(test, bed, 0);
	for (i = 1; i <= OWN + 1; i++) {
		send_packet(test, bed, RXM_WIRE_LEAVE, 0);
		next_word(test, bed, i % RXM_RECVS, RXM_WIRE_STAY);
		rxm_recv_again(test, bed, i % RXM_RECVS);
	}
	vt_no_event(test, bed->peer.eq);
	/* With the answers it has taken so many */
	send_packet(test, bed, RXM_WIRE_LEAVE, i);
	rxm_expect_closed(test, bed);
}

/* Otherwise the receive would fail that waits for the rest */
static void a_peer_stays_until_its_message_has_come(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	struct rxm_wire_hdr *hdr = rxm_packet(test, bed, LEN);
	int i;

	KUNIT_ASSERT_EQ(test, fi_recv(bed->us.ep, vt_buf(test, 2 * LEN), 2 * LEN, NULL,
				      FI_ADDR_UNSPEC, vt_ctx(1)), 0);
	hdr->ctrl.type = RXM_WIRE_SEG;
	hdr->ctrl.seg_size = LEN;
	hdr->op.size = 2 * LEN;
	for (i = 0; i < 2; i++) {
		hdr->ctrl.seg_no = i;
		hdr->ctrl.seg_type = i ? RXM_WIRE_SEG_LAST : RXM_WIRE_SEG_FIRST;
		rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
		send_packet(test, bed, RXM_WIRE_LEAVE, i);
		if (!i)
			next_word(test, bed, 0, RXM_WIRE_STAY);
	}
	vt_done(test, bed->us.rx, vt_ctx(1));
	rxm_expect_closed(test, bed);
}

static void a_peer_that_has_been_offered_a_message_stays(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *out = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;

	vt_send(test, &bed->us, out, LONG, vt_ctx(1));
	vt_done(test, bed->peer.rx, vt_ctx(0));
	send_packet(test, bed, RXM_WIRE_LEAVE, 1);
	next_word(test, bed, 1, RXM_WIRE_STAY);
	hdr = (struct rxm_wire_hdr *)bed->bufs[0];
	send_packet(test, bed, RXM_WIRE_RNDV_READ_DONE, hdr->ctrl.msg_id);
	vt_done(test, bed->us.tx, vt_ctx(1));
	send_packet(test, bed, RXM_WIRE_LEAVE, 2);
	rxm_expect_closed(test, bed);
}

/* The peer cannot see how often its memory is read */
static void a_peer_whose_memory_is_in_use_stays_once(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *mem = vt_buf(test, LEN), *buf = vt_buf(test, LEN);
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, mem, LEN, FI_REMOTE_READ, 0, 5, 0,
					&mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_ASSERT_EQ(test, fi_read(bed->us.ep, buf, LEN, NULL, 0, fi_mr_addr(mr), fi_mr_key(mr),
				      vt_ctx(1)), 0);
	vt_done(test, bed->us.tx, vt_ctx(1));
	send_packet(test, bed, RXM_WIRE_LEAVE, 0);
	next_word(test, bed, 0, RXM_WIRE_STAY);
	send_packet(test, bed, RXM_WIRE_LEAVE, 1);
	rxm_expect_closed(test, bed);
}

/* A write that it has a completion of is one of the packets that it takes */
static void a_peer_that_has_not_seen_a_write_stays(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	u8 *mem = vt_buf(test, LEN), *out = vt_buf(test, LEN);
	struct fid_mr *mr = vt_reg(test, mem, LEN, FI_REMOTE_WRITE);
	int i;

	KUNIT_ASSERT_EQ(test, fi_writedata(bed->us.ep, out, LEN, NULL, 9, 0, fi_mr_addr(mr),
					   fi_mr_key(mr), vt_ctx(1)), 0);
	vt_done(test, bed->us.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, vt_done(test, bed->peer.rx, NULL).data, 9);
	for (i = 0; i < 2; i++) {
		send_packet(test, bed, RXM_WIRE_LEAVE, i);
		next_word(test, bed, i, RXM_WIRE_STAY);
	}
	rxm_expect_leave(test, bed, 3);
}

/* All that there are hold messages that the peer does not take */
static void an_answer_waits_for_a_buffer(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);
	int i;

	for (i = 0; i < 2 * RXM_RECVS; i++)
		send_message(test, bed, 0, vt_ctx(i));
	for (i = 0; i < RXM_RECVS; i++) {
		vt_done(test, bed->us.tx, vt_ctx(i));
		vt_done(test, bed->peer.rx, vt_ctx(i));
	}
	send_packet(test, bed, RXM_WIRE_LEAVE, RXM_RECVS);
	vt_none(test, bed->peer.rx);
	rxm_post_recvs(test, bed);
	for (i = 0; i < RXM_RECVS; i++)
		vt_done(test, bed->peer.rx, vt_ctx(i));
	rxm_recv_again(test, bed, 0);
	next_word(test, bed, 0, RXM_WIRE_STAY);
}

static void an_answer_to_no_question_ends_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_join(test);

	send_packet(test, bed, RXM_WIRE_STAY, 0);
	rxm_expect_closed(test, bed);
}

/* The end that has dialled */

/* Has the endpoint dial the raw peer, and send a message */
static void be_dialled(struct kunit *test, struct rxm_bed *bed, bool kofi)
{
	struct rxm_wire_request request;
	struct fi_info *info;

	rxm_listen_at(test, 0);
	info = rxm_be_dialled(test, bed, vt_buf(test, LEN), LEN, &request);
	rxm_accept(test, bed, info, kofi);
	vt_done(test, bed->us.tx, vt_ctx(1));
	vt_done(test, bed->peer.rx, vt_ctx(0));
}

static void an_idle_connection_is_closed_by_the_peer(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct rxm_wire_request request;

	rxm_param(test, "idle_timeout", IDLE_S, 0);
	be_dialled(test, bed, true);
	KUNIT_EXPECT_EQ(test, next_word(test, bed, 1, RXM_WIRE_LEAVE)->ctrl.msg_id, 0);
	/* What is posted now waits, and goes by the next connection */
	send_message(test, bed, ADDR, vt_ctx(2));
	msleep(MSEC_PER_SEC);
	vt_none(test, bed->peer.rx);
	vt_end_close(test, &bed->peer);
	rxm_accept(test, bed, rxm_next_dial(test, bed, &request), true);
	vt_done(test, bed->us.tx, vt_ctx(2));
	vt_done(test, bed->peer.rx, vt_ctx(0));
}

static void an_idle_connection_stays_if_the_peer_wants(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *buf = vt_buf(test, LEN);
	struct rxm_wire_hdr *hdr;
	int i, nr = 3;

	rxm_param(test, "idle_timeout", IDLE_S, 0);
	be_dialled(test, bed, true);
	KUNIT_ASSERT_EQ(test, fi_recv(bed->us.ep, buf, LEN, NULL, FI_ADDR_UNSPEC, vt_ctx(3)), 0);
	hdr = rxm_packet(test, bed, LEN);
	rxm_send(test, bed, hdr, sizeof(*hdr) + LEN);
	vt_done(test, bed->us.rx, vt_ctx(3));
	KUNIT_EXPECT_EQ(test, next_word(test, bed, 1, RXM_WIRE_LEAVE)->ctrl.msg_id, 1);
	send_message(test, bed, ADDR, vt_ctx(2));
	send_packet(test, bed, RXM_WIRE_STAY, 0);
	vt_done(test, bed->us.tx, vt_ctx(2));
	vt_done(test, bed->peer.rx, vt_ctx(2));
	/* It asks again when it has been idle once more */
	for (i = 2; i < OWN + 2; i++, nr = (nr + 1) % RXM_RECVS) {
		KUNIT_EXPECT_EQ(test, next_word(test, bed, nr, RXM_WIRE_LEAVE)->ctrl.msg_id, i);
		send_packet(test, bed, RXM_WIRE_STAY, 0);
		if (nr == RXM_RECVS - 1)
			rxm_post_recvs(test, bed);
	}
}

static void a_connection_that_waits_for_its_peer_is_not_idle(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	u8 *out = vt_buf(test, LONG);
	struct rxm_wire_hdr *hdr;
	unsigned long since;

	rxm_param(test, "idle_timeout", IDLE_S, 0);
	be_dialled(test, bed, true);
	KUNIT_ASSERT_EQ(test, fi_send(bed->us.ep, out, LONG, NULL, ADDR, vt_ctx(2)), 0);
	vt_done(test, bed->peer.rx, vt_ctx(1));
	msleep(10 * IDLE_S * MSEC_PER_SEC);
	vt_none(test, bed->peer.rx);
	hdr = (struct rxm_wire_hdr *)bed->bufs[1];
	since = jiffies;
	send_packet(test, bed, RXM_WIRE_RNDV_READ_DONE, hdr->ctrl.msg_id);
	vt_done(test, bed->us.tx, vt_ctx(2));
	next_word(test, bed, 2, RXM_WIRE_LEAVE);
	KUNIT_EXPECT_GE(test, jiffies - since, IDLE_S * HZ);
}

/*
 * The message that it was dialled for cannot be sent.  Another connection is looked at each second,
 * so the first look comes when there is nothing to be sent any more.
 */
static void a_connection_that_has_never_been_used_is_idle_from_its_beginning(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open_faulty(test);
	struct kvec iov = { vt_buf(test, LEN), LEN };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = vt_ctx(1) };
	struct rxm_wire_request request;
	struct rxm_bed other = *bed;
	struct rxm_wire_hdr *hdr;
	struct fi_info *info;
	unsigned long since;

	rxm_param(test, "idle_timeout", IDLE_S, 0);
	rxm_join(test, &other);
	hdr = rxm_packet(test, &other, LEN);
	hdr->ctrl.type = RXM_WIRE_SEG;
	hdr->ctrl.seg_size = LEN;
	hdr->ctrl.seg_no = 0;
	hdr->ctrl.seg_type = RXM_WIRE_SEG_FIRST;
	hdr->op.size = 2 * LEN;
	rxm_send(test, &other, hdr, sizeof(*hdr) + LEN);
	msleep(1500);
	rxm_listen_at(test, 0);
	KUNIT_ASSERT_EQ(test, fi_av_insert(bed->us.av, &vt_of(test)->name, 1, &msg.addr, 0, NULL),
			1);
	rxm_fault(test, "mr error 12 times=2");
	KUNIT_ASSERT_EQ(test, fi_sendmsg(bed->us.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE),
			0);
	info = rxm_next_dial(test, bed, &request);
	since = jiffies;
	rxm_accept(test, bed, info, true);
	vt_failed_with(test, bed->us.tx, vt_ctx(1), ENOMEM);
	next_word(test, bed, 0, RXM_WIRE_LEAVE);
	KUNIT_EXPECT_GE(test, jiffies - since, IDLE_S * HZ);
}

static void expect_no_leave(struct kunit *test, int idle, bool kofi)
{
	struct rxm_bed *bed = rxm_bed_open(test);

	rxm_param(test, "idle_timeout", idle, 0);
	be_dialled(test, bed, kofi);
	msleep(100 * MSEC_PER_SEC);
	vt_none(test, bed->peer.rx);
	vt_no_event(test, bed->peer.eq);
}

static void libfabric_is_not_asked(struct kunit *test)
{
	expect_no_leave(test, IDLE_S, false);
}

static void connections_stay_as_a_rule(struct kunit *test)
{
	expect_no_leave(test, 0, true);
}

static void a_peer_that_does_not_answer_loses_the_connection(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	unsigned long since;

	rxm_param(test, "message_timeout", TIMEOUT_S, 60);
	rxm_param(test, "idle_timeout", IDLE_S, 0);
	since = jiffies;
	be_dialled(test, bed, true);
	next_word(test, bed, 1, RXM_WIRE_LEAVE);
	send_message(test, bed, ADDR, vt_ctx(2));
	rxm_expect_closed(test, bed);
	KUNIT_EXPECT_GE(test, jiffies - since, (IDLE_S + TIMEOUT_S) * HZ);
	/* The message goes by the next one */
	vt_connreq(test, NULL);
}

static struct kunit_case idle_cases[] = {
	KUNIT_CASE(a_peer_that_has_taken_all_may_leave),
	KUNIT_CASE(a_peer_that_has_not_taken_all_stays),
	KUNIT_CASE(a_peer_stays_until_its_message_has_come),
	KUNIT_CASE(a_peer_that_has_been_offered_a_message_stays),
	KUNIT_CASE(a_peer_whose_memory_is_in_use_stays_once),
	KUNIT_CASE(a_peer_that_has_not_seen_a_write_stays),
	KUNIT_CASE(an_answer_waits_for_a_buffer),
	KUNIT_CASE(an_answer_to_no_question_ends_the_connection),
	KUNIT_CASE(an_idle_connection_is_closed_by_the_peer),
	KUNIT_CASE(an_idle_connection_stays_if_the_peer_wants),
	KUNIT_CASE(a_connection_that_waits_for_its_peer_is_not_idle),
	KUNIT_CASE(a_connection_that_has_never_been_used_is_idle_from_its_beginning),
	KUNIT_CASE(libfabric_is_not_asked),
	KUNIT_CASE(connections_stay_as_a_rule),
	KUNIT_CASE(a_peer_that_does_not_answer_loses_the_connection),
	{}
};

struct kunit_suite rxm_idle_suite = {
	.name		= "kofi_rxm_idle",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= idle_cases,
};
