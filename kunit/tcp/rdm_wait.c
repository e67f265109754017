// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Operations that wait for peers without a connection: how many may, what the client is told
 * when there is room again, and how many peers are dialled at a time.
 */
#include <linux/completion.h>
#include <linux/fs.h>
#include "rdm.h"

#define LEN	8
#define DEPTH	16	/* of the transmit queue */

/**
 * struct bed - An endpoint whose client is called when there is room
 * @end: the endpoint
 * @out: what is sent
 * @room: it was called
 * @again: the peer to whom it posts then; NULL: nothing
 * @ret: the result
 */
struct bed {
	struct vt_end		end;
	u8			out[LEN];
	struct completion	room;
	const struct rdm_peer	*again;
	ssize_t			ret;
};

static ssize_t post(struct bed *bed, const struct rdm_peer *peer, unsigned long nr)
{
	return fi_send(bed->end.ep, bed->out, LEN, NULL, peer->addr, vt_ctx(nr));
}

static void bed_room(struct fid_ep *ep, u64 flags)
{
	struct bed *bed = ep->fid.context;

	if (bed->again)
		bed->ret = post(bed, bed->again, DEPTH);
	complete(&bed->room);
}

static const struct fi_ep_callbacks callbacks = { .ready = bed_room };

static struct bed *bed_open(struct kunit *test)
{
	struct bed *bed = vt_buf(test, sizeof(*bed));

	vt_of(test)->info->tx_attr->size = DEPTH;
	init_completion(&bed->room);
	bed->end.callbacks = &callbacks;
	rdm_open(test, &bed->end);
	bed->end.ep->fid.context = bed;
	return bed;
}

/* As many as there is room for, which comes when the worker has seen what is posted */
static int fill(struct kunit *test, struct bed *bed, const struct rdm_peer *peer)
{
	ssize_t ret;
	int n = 0;

	do {
		while (!(ret = post(bed, peer, n)))
			n++;
		KUNIT_ASSERT_EQ(test, ret, -EAGAIN);
	} while (wait_for_completion_timeout(&bed->room, HZ / 5));
	return n;
}

static void expect_room(struct kunit *test, struct bed *bed)
{
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&bed->room,
							  msecs_to_jiffies(VT_PATIENCE_MS)), 0);
}

static void expect_msgs(struct kunit *test, struct bed *bed, struct socket *sock, int count)
{
	u8 got[PEER_BASE + LEN];
	int i;

	for (i = 0; i < count; i++)
		peer_recv(test, sock, got, sizeof(got));
	for (i = 0; i < count; i++)
		vt_done(test, bed->end.tx, vt_ctx(i));
}

static void an_only_peer_may_have_all_of_the_queue(struct kunit *test)
{
	struct bed *bed = bed_open(test);
	struct rdm_peer peer;
	struct socket *sock;

	rdm_peer_new(test, &bed->end, &peer, RDM_HIGH);
	KUNIT_EXPECT_EQ(test, fill(test, bed, &peer), DEPTH);
	sock = rdm_accept(test, &peer, 0x81, RDM_PID);
	expect_msgs(test, bed, sock, DEPTH);
}

static void a_peer_that_is_not_connected_leaves_half_to_others(struct kunit *test)
{
	struct bed *bed = bed_open(test);
	struct rdm_peer mute, peer, late;
	struct socket *sock, *other;

	rdm_peer_new(test, &bed->end, &mute, RDM_HIGH);
	rdm_peer_new(test, &bed->end, &peer, RDM_LOW);
	other = rdm_dial(test, &bed->end, &peer, 1, RDM_PID);
	KUNIT_EXPECT_EQ(test, fill(test, bed, &mute), DEPTH / 2);
	/* One that is connected has the rest, down to the last place */
	KUNIT_EXPECT_EQ(test, fill(test, bed, &peer), DEPTH / 2);
	expect_msgs(test, bed, other, DEPTH / 2);
	reinit_completion(&bed->room);
	KUNIT_EXPECT_EQ(test, post(bed, &mute, 0), -EAGAIN);
	sock = rdm_accept(test, &mute, 0x81, RDM_PID);
	expect_room(test, bed);
	expect_msgs(test, bed, sock, DEPTH / 2);
	KUNIT_EXPECT_EQ(test, post(bed, &mute, 0), 0);
	expect_msgs(test, bed, sock, 1);
	/* What was sent leaves its places to another one */
	rdm_peer_new(test, &bed->end, &late, RDM_HIGH);
	KUNIT_EXPECT_EQ(test, fill(test, bed, &late), DEPTH / 2);
}

/* All slots are taken when the peer is there; room is when a completion has been read */
static void the_word_of_room_comes_when_the_queue_is_not_full(struct kunit *test)
{
	struct bed *bed = bed_open(test);
	struct kvec iov = { bed->out, LEN };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = vt_ctx(99) };
	struct rdm_peer mute, slow;
	struct socket *sock;
	int i;

	rdm_peer_new(test, &bed->end, &mute, RDM_HIGH);
	rdm_peer_new(test, &bed->end, &slow, RDM_LOW);
	rdm_dial(test, &bed->end, &slow, 1, RDM_PID);
	KUNIT_EXPECT_EQ(test, fill(test, bed, &mute), DEPTH / 2);
	/* The peer does not say that it has them */
	msg.addr = slow.addr;
	for (i = 0; i < DEPTH / 2; i++)
		KUNIT_ASSERT_EQ(test, fi_sendmsg(bed->end.ep, &msg, FI_DELIVERY_COMPLETE), 0);
	reinit_completion(&bed->room);
	bed->again = &mute;
	bed->ret = 1;
	sock = rdm_accept(test, &mute, 0x81, RDM_PID);
	expect_msgs(test, bed, sock, DEPTH / 2);
	expect_room(test, bed);
	KUNIT_EXPECT_EQ(test, bed->ret, 0);
}

static void two_peers_that_are_not_connected_leave_places_to_others(struct kunit *test)
{
	struct bed *bed = bed_open(test);
	struct rdm_peer mutes[2], peer;
	struct socket *sock;

	rdm_peer_new(test, &bed->end, &mutes[0], RDM_HIGH);
	rdm_peer_new(test, &bed->end, &mutes[1], RDM_HIGH);
	rdm_peer_new(test, &bed->end, &peer, RDM_LOW);
	KUNIT_EXPECT_EQ(test, fill(test, bed, &mutes[0]), DEPTH / 2);
	KUNIT_EXPECT_EQ(test, fill(test, bed, &mutes[1]), DEPTH / 4);
	sock = rdm_dial(test, &bed->end, &peer, 1, RDM_PID);
	KUNIT_EXPECT_EQ(test, post(bed, &peer, 0), 0);
	expect_msgs(test, bed, sock, 1);
}

static void a_peer_that_is_given_up_makes_room(struct kunit *test)
{
	struct bed *bed = bed_open(test);
	struct rdm_peer gone, peer;
	int i;

	rdm_peer_new(test, &bed->end, &gone, RDM_HIGH);
	rdm_peer_new(test, &bed->end, &peer, RDM_LOW);
	KUNIT_EXPECT_EQ(test, fill(test, bed, &gone), DEPTH / 2);
	reinit_completion(&bed->room);
	KUNIT_EXPECT_EQ(test, post(bed, &gone, 0), -EAGAIN);
	rdm_asked(test, &gone, NULL);
	expect_room(test, bed);
	for (i = 0; i < DEPTH / 2; i++)
		vt_failed_with(test, bed->end.tx, vt_ctx(i), ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, post(bed, &gone, 0), 0);
}

#define FENCED	4

/* Operations that a connection has not sent wait for the next one, and take places again */
static void what_a_connection_leaves_takes_places(struct kunit *test)
{
	u8 request[RDM_CM];
	struct bed *bed = bed_open(test);
	struct kvec iov = { bed->out, LEN };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct rdm_peer peer, other;
	struct socket *sock;
	int i;

	rdm_peer_new(test, &bed->end, &peer, RDM_LOW);
	rdm_peer_new(test, &bed->end, &other, RDM_HIGH);
	sock = rdm_dial(test, &bed->end, &peer, 1, RDM_PID);
	rdm_begin_read(test, &bed->end, &peer, sock, vt_ctx(99));
	for (i = 0; i < FENCED; i++) {
		msg.addr = peer.addr;
		msg.context = vt_ctx(i);
		KUNIT_ASSERT_EQ(test, fi_sendmsg(bed->end.ep, &msg, FI_FENCE | FI_COMPLETION), 0);
	}
	peer_close(test, sock);
	KUNIT_EXPECT_PTR_EQ(test, vt_failed(test, bed->end.tx).context, vt_ctx(99));
	sock = rdm_asked(test, &peer, request);
	KUNIT_EXPECT_EQ(test, fill(test, bed, &peer), DEPTH / 2 - FENCED);
	rdm_respond(test, sock, request, 0x81, RDM_PID);
	expect_msgs(test, bed, sock, FENCED);
	expect_msgs(test, bed, sock, DEPTH / 2 - FENCED);
}

#define DIALS	64	/* at a time */
#define MORE	8

static void expect_not_dialled(struct kunit *test, struct rdm_peer *peers, int from)
{
	struct socket *sock;

	for (; from < DIALS + MORE; from++)
		KUNIT_EXPECT_EQ(test, kernel_accept(peers[from].listener, &sock, O_NONBLOCK),
				-EAGAIN);
}

/* The next one when one of them has answered; a call of the client waits for none of them */
static void so_many_peers_are_dialled_at_a_time(struct kunit *test)
{
	struct rdm_peer *peers = vt_buf(test, (DIALS + MORE) * sizeof(*peers));
	struct socket *socks[DIALS];
	struct vt_end end = {};
	u8 out[LEN] = {}, request[RDM_CM];
	int i;

	vt_of(test)->info->tx_attr->size = 4 * (DIALS + MORE);
	rdm_open(test, &end);
	for (i = 0; i < DIALS + MORE; i++) {
		rdm_peer_new(test, &end, &peers[i], RDM_HIGH);
		KUNIT_ASSERT_EQ(test, fi_inject(end.ep, out, LEN, peers[i].addr), 0);
	}
	for (i = 0; i < DIALS; i++)
		socks[i] = rdm_asked(test, &peers[i], request);
	expect_not_dialled(test, peers, DIALS);
	rdm_respond(test, socks[0], request, 0x81, RDM_PID);
	rdm_asked(test, &peers[DIALS], NULL);
	expect_not_dialled(test, peers, DIALS + 1);
}

static struct kunit_case rdm_wait_cases[] = {
	KUNIT_CASE(an_only_peer_may_have_all_of_the_queue),
	KUNIT_CASE(a_peer_that_is_not_connected_leaves_half_to_others),
	KUNIT_CASE(the_word_of_room_comes_when_the_queue_is_not_full),
	KUNIT_CASE(two_peers_that_are_not_connected_leave_places_to_others),
	KUNIT_CASE_SLOW(a_peer_that_is_given_up_makes_room),
	KUNIT_CASE(what_a_connection_leaves_takes_places),
	KUNIT_CASE(so_many_peers_are_dialled_at_a_time),
	{}
};

static struct kunit_suite rdm_wait_suite = {
	.name		= "kofi_tcp_rdm_wait",
	.init		= bed_init_rdm,
	.exit		= vt_exit,
	.test_cases	= rdm_wait_cases,
};

kunit_test_suite(rdm_wait_suite);
