// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests to receive contexts of scalable endpoints: what an endpoint asks a peer, what it
 * responses, and peers that know of no contexts.
 */
#include <linux/completion.h>
#include <linux/sizes.h>
#include <rdma/fi_cm.h>
#include "../../providers/tcp/trace.h"
#include "rdm.h"

#define CTXREQ		0x80
#define CTX_CM		12	/* bytes of connection data of such a request */
#define BITS		4
#define LEN		RDM_LEN
#define LONG		SZ_2M
#define LONGS		4	/* so many are more than the sockets of both ends hold */
#define DEPTH		16	/* of the transmit queue of a context */

static struct fid_av *av_with_contexts(struct kunit *test)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .rx_ctx_bits = BITS };
	struct fid_av *av;

	KUNIT_ASSERT_EQ(test, fi_av_open(vt_of(test)->domain, &attr, &av, NULL), 0);
	vt_adopt(test, &av->fid);
	return av;
}

static void open_with_peer(struct kunit *test, struct vt_end *end, struct rdm_peer *peer)
{
	end->av = av_with_contexts(test);
	rdm_open_with(test, end, peer, RDM_HIGH);
}

static void post(struct kunit *test, struct vt_end *end, const struct rdm_peer *peer, int index,
		 unsigned long nr)
{
	rdm_post(test, end, fi_rx_addr(peer->addr, index, BITS), nr);
}

/* The endpoint asks the peer for a context; @buf is all of its request */
static struct socket *asked(struct kunit *test, const struct rdm_peer *peer, u8 *buf)
{
	struct socket *sock = peer_accept(test, peer->listener);

	peer_recv(test, sock, buf, PEER_CM + CTX_CM);
	KUNIT_EXPECT_EQ(test, buf[1], CTXREQ);
	KUNIT_EXPECT_EQ(test, buf[3], CTX_CM);
	return sock;
}

/* As rdm_respond(), by a peer that announces that it understands such requests */
static void respond(struct kunit *test, struct socket *sock, const u8 *request)
{
	static const u8 pid[4] = { 1, 2, 3, 4 };
	u8 buf[PEER_CM + RDM_CM], data[RDM_CM] = { 0x81 };

	memcpy(data + 2, request + 2, 2);
	memcpy(data + 4, pid, sizeof(pid));
	peer_cm(buf, 1, data, sizeof(data));
	memcpy(buf + 16, "kOFI\0\0\0\4", 8);
	peer_send(test, sock, buf, sizeof(buf));
}

static void refuse(struct kunit *test, struct socket *sock, const u8 *request, u8 reason)
{
	u8 buf[PEER_CM + CTX_CM], data[CTX_CM];

	memcpy(data, request + PEER_CM, sizeof(data));
	data[11] = reason;
	peer_send(test, sock, buf, peer_cm(buf, 6, data, sizeof(data)));
	peer_hung_up(test, sock);
}

/* Beside the connection that goes both ways, which stays */
static void a_request_names_its_context(struct kunit *test)
{
	u8 buf[PEER_CM + CTX_CM], data[RDM_CM];
	struct socket *both, *sock;
	struct vt_end end = {};
	struct rdm_peer peer;

	open_with_peer(test, &end, &peer);
	post(test, &end, &peer, 0, 1);
	both = rdm_asked(test, &peer, data);
	respond(test, both, data);
	rdm_expect_sent(test, &end, both, 1);

	post(test, &end, &peer, 5, 2);
	sock = asked(test, &peer, buf);
	/* It tells of itself what it tells any peer */
	KUNIT_EXPECT_MEMEQ(test, buf + PEER_CM, data, sizeof(data));
	KUNIT_EXPECT_EQ(test, buf[PEER_CM + 8], 0);
	KUNIT_EXPECT_EQ(test, buf[PEER_CM + 9], 5);
	KUNIT_EXPECT_EQ(test, buf[PEER_CM + 10], 0);
	KUNIT_EXPECT_EQ(test, buf[PEER_CM + 11], 0);
	respond(test, sock, buf + PEER_CM);
	rdm_expect_sent(test, &end, sock, 2);
	/* A context has one connection */
	post(test, &end, &peer, 5, 3);
	rdm_expect_sent(test, &end, sock, 3);
	post(test, &end, &peer, 0, 4);
	rdm_expect_sent(test, &end, both, 4);
}

static void a_context_that_is_not_there_is_refused(struct kunit *test)
{
	u8 buf[PEER_CM + CTX_CM];
	struct vt_end end = {};
	struct rdm_peer peer;

	open_with_peer(test, &end, &peer);
	post(test, &end, &peer, 3, 1);
	refuse(test, asked(test, &peer, buf), buf, 1);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.tx).err, ECONNREFUSED);
}

static void a_request_that_is_refused_for_now_is_repeated(struct kunit *test)
{
	u8 buf[PEER_CM + CTX_CM];
	struct vt_end end = {};
	struct rdm_peer peer;
	struct socket *sock;
	int i;

	open_with_peer(test, &end, &peer);
	post(test, &end, &peer, 3, 1);
	for (i = 0; i < 4; i++)
		refuse(test, asked(test, &peer, buf), buf, 0);
	sock = asked(test, &peer, buf);
	respond(test, sock, buf + PEER_CM);
	rdm_expect_sent(test, &end, sock, 1);
}

/* It hangs up on what it does not know */
static void a_peer_that_is_not_kofi_has_no_contexts(struct kunit *test)
{
	u8 buf[PEER_CM + CTX_CM];
	struct vt_end end = {};
	struct rdm_peer peer;
	int i;

	open_with_peer(test, &end, &peer);
	post(test, &end, &peer, 1, 1);
	for (i = 0; i < 3; i++)
		peer_close(test, asked(test, &peer, buf));
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.tx).err, EOPNOTSUPP);
}

/* One that it has had a connection with is asked as often again */
static void hang_ups_are_counted_from_one_connection_to_the_next(struct kunit *test)
{
	u8 buf[PEER_CM + CTX_CM];
	struct rdm_peer peer, ctx;
	struct vt_end end = {};
	struct socket *sock;
	int i;

	open_with_peer(test, &end, &peer);
	ctx = peer;
	ctx.addr = fi_rx_addr(peer.addr, 1, BITS);
	rdm_post(test, &end, ctx.addr, 1);
	for (i = 1; i <= 2; i++) {
		peer_close(test, asked(test, &peer, buf));
		peer_close(test, asked(test, &peer, buf));
		sock = asked(test, &peer, buf);
		respond(test, sock, buf + PEER_CM);
		rdm_expect_sent(test, &end, sock, i);
		rdm_begin_read(test, &end, &ctx, sock, vt_ctx(9));
		rdm_post_fenced(test, &end, ctx.addr, i + 1);
		peer_close(test, sock);
		vt_failed_with(test, end.tx, vt_ctx(9), ECONNRESET);
	}
	sock = asked(test, &peer, buf);
	respond(test, sock, buf + PEER_CM);
	rdm_expect_sent(test, &end, sock, 3);
}

static void a_peer_that_is_known_not_to_be_kofi_is_not_asked(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock, *more;
	struct rdm_peer peer;

	open_with_peer(test, &end, &peer);
	sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
	post(test, &end, &peer, 1, 1);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.tx).err, EOPNOTSUPP);
	/* Nothing was sent, by whatever connection */
	KUNIT_EXPECT_EQ(test, kernel_accept(peer.listener, &more, O_NONBLOCK), -EAGAIN);
	post(test, &end, &peer, 0, 2);
	rdm_expect_sent(test, &end, sock, 2);
}

/* What an endpoint, or a scalable endpoint, answers */

static const struct asked_case {
	const char	*name;
	size_t		len;
	u8		data[CTX_CM];
	bool		foul;
} asked_cases[] = {
	{ "a context of an ordinary endpoint", CTX_CM, { 1, 0, 9, 9, 1, 1, 1, 1, 0, 1 } },
	{ "a large number", CTX_CM, { 1, 0, 9, 9, 1, 1, 1, 1, 255, 255 } },
	{ "context 0", CTX_CM, { 1, 0, 9, 9, 1, 1, 1, 1 }, true },
	{ "without a port", CTX_CM, { 1, 0, 0, 0, 1, 1, 1, 1, 0, 1 }, true },
	{ "without an incarnation", CTX_CM, { 1, 0, 9, 9, 0, 0, 0, 0, 0, 1 }, true },
	{ "without a context", RDM_CM, { 1, 0, 9, 9, 1, 1, 1, 1 }, true },
	{ "without data", 0, {}, true },
};

KUNIT_ARRAY_PARAM_DESC(asked, asked_cases, name);

static void an_index_that_is_none_is_refused(struct kunit *test)
{
	const struct asked_case *row = test->param_value;
	u8 buf[PEER_CM + CTX_CM], data[CTX_CM];
	struct sockaddr_storage to;
	struct vt_end end = {};
	struct socket *sock;

	violations_begin(test);
	rdm_open(test, &end);
	to = rdm_name(test, end.ep);
	sock = peer_connect_from(test, RDM_LOW, &to);
	peer_send(test, sock, buf, peer_cm(buf, CTXREQ, row->data, row->len));
	if (!row->foul) {
		memcpy(data, row->data, sizeof(data));
		data[11] = 1;
		peer_recv(test, sock, buf, sizeof(buf));
		KUNIT_EXPECT_EQ(test, buf[1], 6);
		KUNIT_EXPECT_NULL(test, memchr_inv(buf + 16, 0, 8));
		KUNIT_EXPECT_MEMEQ(test, buf + PEER_CM, data, sizeof(data));
	}
	peer_hung_up(test, sock);
	KUNIT_EXPECT_EQ(test, violations(), row->foul);
	if (row->foul)
		KUNIT_EXPECT_EQ(test, violation_reason(), KTCP_BAD_REQUEST);
}

/* A scalable endpoint with two receive contexts; number 0 is not enabled */
static struct fid_ep *with_contexts(struct kunit *test, struct fid_av *av, struct vt_cq *cq,
				    struct fid_ep **rx)
{
	struct fi_info *info = vt_of(test)->info;
	struct fid_ep *sep;

	info->ep_attr->rx_ctx_cnt = 2;
	KUNIT_ASSERT_EQ(test, fi_scalable_ep(vt_of(test)->domain, info, &sep, NULL), 0);
	vt_adopt(test, &sep->fid);
	KUNIT_ASSERT_EQ(test, fi_scalable_ep_bind(sep, &av->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_rx_context(sep, 0, NULL, rx, NULL), 0);
	vt_adopt(test, &(*rx)->fid);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(*rx, &cq->cq->fid, FI_RECV), 0);
	KUNIT_ASSERT_EQ(test, fi_enable(sep), 0);
	return sep;
}

/* Asks for context 1 from a host, and expects a response of this type */
static struct socket *ask_from(struct kunit *test, struct fid_ep *sep, u32 host, __be16 port,
			       u8 type, u8 *got)
{
	const struct sockaddr_storage to = rdm_name(test, sep);
	u8 buf[PEER_CM + CTX_CM], data[CTX_CM] = { 1, 0, 0, 0, 1, 1, 1, 1, 0, 1 };
	struct socket *sock = peer_connect_from(test, host, &to);

	memcpy(data + 2, &port, sizeof(port));
	peer_send(test, sock, buf, peer_cm(buf, CTXREQ, data, sizeof(data)));
	peer_recv(test, sock, got, PEER_CM + (type == 6 ? CTX_CM : RDM_CM));
	KUNIT_EXPECT_EQ(test, got[1], type);
	return sock;
}

/* It is there, and can be closed afterwards */
static void a_context_that_cannot_be_had_is_refused(struct kunit *test)
{
	struct vt_cq *cq = vt_cq(test, &vt_default_kind, vt_of(test)->info->rx_attr->size);
	u8 got[PEER_CM + CTX_CM];
	struct sockaddr_in own;
	struct sockaddr_storage name;
	struct fid_ep *sep, *rx[2];
	struct socket *sock;

	sep = with_contexts(test, av_with_contexts(test), cq, &rx[0]);
	KUNIT_ASSERT_EQ(test, fi_rx_context(sep, 1, NULL, &rx[1], NULL), 0);
	vt_adopt(test, &rx[1]->fid);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(rx[1], &cq->cq->fid, FI_RECV), 0);
	KUNIT_ASSERT_EQ(test, fi_enable(rx[1]), 0);
	/* By another process of this machine that claims to be the endpoint */
	name = rdm_name(test, sep);
	memcpy(&own, &name, sizeof(own));
	ask_from(test, sep, ntohl(own.sin_addr.s_addr), own.sin_port, 6, got);
	KUNIT_EXPECT_EQ(test, got[PEER_CM + 11], 1);
	/* And for now, by one more address than may connect */
	rdm_param(test, "accepted_max", "1");
	sock = ask_from(test, sep, RDM_LOW, htons(9), 1, got);
	ask_from(test, sep, RDM_HIGH, htons(9), 6, got);
	KUNIT_EXPECT_EQ(test, got[PEER_CM + 11], 0);
	vt_close(test, &rx[1]->fid);
	KUNIT_EXPECT_EQ(test, current->flags & PF_MEMALLOC_NOIO, 0);
	peer_hung_up(test, sock);
}

static void a_write_with_data_waits_for_its_context(struct kunit *test)
{
	struct vt_cq *cq = vt_cq(test, &vt_default_kind, vt_of(test)->info->rx_attr->size);
	u8 *out = vt_buf(test, LEN), *in = vt_buf(test, LEN);
	struct sockaddr_storage name;
	struct fi_cq_tagged_entry entry;
	unsigned long begin;
	struct fid_ep *sep, *rx;
	struct vt_end end = {};
	struct fid_mr *mr;
	fi_addr_t addr;

	rdm_open(test, &end);
	sep = with_contexts(test, av_with_contexts(test), cq, &rx);
	name = rdm_name(test, sep);
	KUNIT_ASSERT_EQ(test, fi_av_insert(end.av, &name, 1, &addr, 0, NULL), 1);
	mr = peer_region(test, in, LEN, FI_REMOTE_WRITE, 5);
	vt_fill(out, LEN, 1);
	/* One without data needs no context, and leaves a connection for the other */
	KUNIT_ASSERT_EQ(test, fi_write(end.ep, in, LEN, NULL, addr, fi_mr_addr(mr), fi_mr_key(mr),
				       vt_ctx(2)), 0);
	vt_done(test, end.tx, vt_ctx(2));
	KUNIT_ASSERT_EQ(test, fi_writedata(end.ep, out, LEN, NULL, 7, addr, fi_mr_addr(mr),
					   fi_mr_key(mr), vt_ctx(1)), 0);
	/* Long enough for it to come */
	KUNIT_ASSERT_EQ(test, fi_cq_sread(cq->cq, &entry, 1, NULL, 100), -EAGAIN);
	begin = jiffies;
	KUNIT_ASSERT_EQ(test, fi_enable(rx), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, cq, NULL).data, 7);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, 1));
	vt_done(test, end.tx, vt_ctx(1));
	KUNIT_EXPECT_LT(test, jiffies - begin, 3 * HZ / 10);
}

/* An enabled transmit context, whose completions are those of a queue; @callbacks may be NULL */
static struct fid_ep *tx_context(struct kunit *test, struct fid_ep *sep, int index,
				 struct vt_cq *cq, const struct fi_ep_callbacks *callbacks)
{
	struct fid_ep *tx;

	KUNIT_ASSERT_EQ(test, fi_tx_context(sep, index, NULL, &tx, NULL), 0);
	vt_adopt(test, &tx->fid);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(tx, &cq->cq->fid, FI_TRANSMIT), 0);
	if (callbacks)
		KUNIT_ASSERT_EQ(test, fi_setopt(&tx->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS,
						callbacks, sizeof(*callbacks)), 0);
	KUNIT_ASSERT_EQ(test, fi_enable(tx), 0);
	return tx;
}

/*
 * The peer reads nothing, so the operation of the context that is closed is under way when its
 * time is over.  A receive of another context has half of its message by then.
 */
static void a_context_that_closes_cancels_no_receive_of_another(struct kunit *test)
{
	struct vt_cq *rx_cq = vt_cq(test, &vt_default_kind, vt_of(test)->info->rx_attr->size);
	struct vt_cq *tx_cq = vt_cq(test, &vt_default_kind, vt_of(test)->info->tx_attr->size);
	u8 *out = vt_buf(test, LONG), *in = vt_buf(test, LEN), msg[PEER_BASE + LEN] = {};
	struct vt_end end = { .av = av_with_contexts(test) };
	struct fid_ep *tx, *rx;
	struct rdm_peer peer;
	struct socket *sock;
	int i;

	end.ep = with_contexts(test, end.av, rx_cq, &rx);
	rdm_peer_new(test, &end, &peer, RDM_HIGH);
	tx = tx_context(test, end.ep, 0, tx_cq, NULL);
	KUNIT_ASSERT_EQ(test, fi_enable(rx), 0);
	sock = rdm_dial(test, &end, &peer, 1, RDM_PID);
	KUNIT_ASSERT_EQ(test, fi_recv(rx, in, LEN, NULL, FI_ADDR_UNSPEC, vt_ctx(1)), 0);
	peer_send(test, sock, msg, peer_hdr(msg, 0, 0, NULL, NULL, 0, LEN) + LEN / 2);
	for (i = 0; i < LONGS; i++)
		KUNIT_ASSERT_EQ(test, fi_send(tx, out, LONG, NULL, peer.addr, vt_ctx(2 + i)), 0);
	/* The first ones have been begun by a connection, and the socket holds them */
	vt_done(test, tx_cq, vt_ctx(2));
	vt_close(test, &tx->fid);
	vt_failed_with(test, rx_cq, vt_ctx(1), ECONNRESET);
}

/*
 * At the second close the peer has refused, so it may have a connection that begins, or none.  The
 * operation of the other context goes on.
 */
static void a_context_that_closes_takes_back_what_waits_for_a_peer(struct kunit *test)
{
	struct vt_cq *rx_cq = vt_cq(test, &vt_default_kind, vt_of(test)->info->rx_attr->size);
	struct vt_cq *tx_cq = vt_cq(test, &vt_default_kind, 2 * vt_of(test)->info->tx_attr->size);
	u8 *out = vt_buf(test, LEN), msg[PEER_BASE + LEN], request[RDM_CM];
	struct vt_end end = { .av = av_with_contexts(test) };
	struct fid_ep *tx[2], *rx;
	struct rdm_peer peer;
	struct socket *sock;
	int i, refused;

	vt_of(test)->info->ep_attr->tx_ctx_cnt = 2;
	end.ep = with_contexts(test, end.av, rx_cq, &rx);
	rdm_peer_new(test, &end, &peer, RDM_HIGH);
	vt_fill(out, LEN, 1);
	for (refused = 0; refused < 6; refused += 3) {
		for (i = 0; i < 2; i++) {
			tx[i] = tx_context(test, end.ep, i, tx_cq, NULL);
			KUNIT_ASSERT_EQ(test, fi_send(tx[i], out, LEN, NULL, peer.addr,
						      vt_ctx(1 + i)), 0);
		}
		for (i = 0; i < refused; i++) {
			u8 buf[PEER_CM + RDM_CM];

			sock = rdm_asked(test, &peer, request);
			peer_send(test, sock, buf, peer_cm(buf, 6, request, sizeof(request)));
			peer_hung_up(test, sock);
		}
		if (!refused)
			sock = rdm_asked(test, &peer, request);
		vt_close(test, &tx[0]->fid);
		if (refused)
			sock = rdm_asked(test, &peer, request);
		rdm_respond(test, sock, request, 0x81, RDM_PID);
		peer_recv(test, sock, msg, sizeof(msg));
		KUNIT_EXPECT_TRUE(test, vt_filled(msg + PEER_BASE, LEN, 1));
		vt_done(test, tx_cq, vt_ctx(2));
		vt_close(test, &tx[1]->fid);
		peer_leave(test, sock);
	}
}

static void context_ready(struct fid_ep *tx, u64 flags)
{
	complete(tx->fid.context);
}

/* As many as there is room for, which comes when the worker has seen what is posted */
static int fill(struct kunit *test, struct fid_ep *tx, fi_addr_t to, struct completion *room)
{
	u8 *out = vt_buf(test, LEN);
	int posted = 0;
	ssize_t ret;

	do {
		while (!(ret = fi_send(tx, out, LEN, NULL, to, vt_ctx(1))))
			posted++;
		KUNIT_ASSERT_EQ(test, ret, -EAGAIN);
	} while (wait_for_completion_timeout(room, HZ / 5));
	return posted;
}

/*
 * It shares the queue with the other contexts, of which a peer without a connection gets a half.
 * There is room when one of those closes, and when the peer has a connection.
 */
static void a_context_is_called_when_there_is_room_again(struct kunit *test)
{
	static const struct fi_ep_callbacks callbacks = { .ready = context_ready };
	struct vt_cq *rx_cq = vt_cq(test, &vt_default_kind, vt_of(test)->info->rx_attr->size);
	struct vt_cq *tx_cq = vt_cq(test, &vt_default_kind, 3 * DEPTH);
	struct vt_end end = { .av = av_with_contexts(test) };
	struct completion *room = vt_buf(test, sizeof(*room));
	struct rdm_peer peer, other;
	struct fid_ep *tx[3], *rx;
	int i;

	vt_of(test)->info->tx_attr->size = DEPTH;
	vt_of(test)->info->ep_attr->tx_ctx_cnt = 3;
	end.ep = with_contexts(test, end.av, rx_cq, &rx);
	rdm_peer_new(test, &end, &peer, RDM_HIGH);
	rdm_peer_new(test, &end, &other, RDM_LOW);
	init_completion(room);
	for (i = 0; i < 3; i++) {
		tx[i] = tx_context(test, end.ep, i, tx_cq, &callbacks);
		tx[i]->fid.context = room;
	}
	/* So many that each context has places of its own left */
	for (i = 0; i < DEPTH / 2 + 2; i++)
		KUNIT_ASSERT_EQ(test, fi_inject(tx[i ? 2 : 1], NULL, 0, peer.addr), 0);
	KUNIT_EXPECT_EQ(test, fill(test, tx[0], peer.addr, room), DEPTH - 2);
	reinit_completion(room);
	vt_close(test, &tx[1]->fid);
	KUNIT_EXPECT_TRUE(test, vt_completed(room));
	KUNIT_EXPECT_EQ(test, fill(test, tx[0], peer.addr, room), 1);
	reinit_completion(room);
	rdm_accept(test, &peer, 0x81, RDM_PID);
	KUNIT_EXPECT_TRUE(test, vt_completed(room));
}

static struct kunit_case sep_cases[] = {
	KUNIT_CASE(a_request_names_its_context),
	KUNIT_CASE(a_context_that_is_not_there_is_refused),
	KUNIT_CASE(a_request_that_is_refused_for_now_is_repeated),
	KUNIT_CASE(a_peer_that_is_not_kofi_has_no_contexts),
	KUNIT_CASE(hang_ups_are_counted_from_one_connection_to_the_next),
	KUNIT_CASE(a_peer_that_is_known_not_to_be_kofi_is_not_asked),
	KUNIT_CASE(a_context_that_cannot_be_had_is_refused),
	KUNIT_CASE(a_write_with_data_waits_for_its_context),
	KUNIT_CASE_SLOW(a_context_that_closes_cancels_no_receive_of_another),
	KUNIT_CASE(a_context_that_closes_takes_back_what_waits_for_a_peer),
	KUNIT_CASE(a_context_is_called_when_there_is_room_again),
	KUNIT_CASE_PARAM(an_index_that_is_none_is_refused, asked_gen_params),
	{}
};

static struct kunit_suite sep_suite = {
	.name		= "kofi_tcp_sep",
	.init		= bed_init_rdm,
	.exit		= vt_exit,
	.test_cases	= sep_cases,
};

kunit_test_suite(sep_suite);
