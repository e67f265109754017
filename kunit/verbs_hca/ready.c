// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * After -EAGAIN the client is called when it is worth trying again (struct
 * fi_ep_callbacks), once, whatever was missing, and although nothing of its own is in
 * flight.
 */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include <rdma/fi_rma.h>
#include "../lib/calls.h"
#include "../lib/refusal.h"
#include "mr.h"

#define READY_DEPTH	4
#define READY_LEN	64

/**
 * struct ready - A case
 * @pair: a is told
 * @buf: memory for its operations
 * @far: the peer's
 * @mr: region of @far
 * @calls: of the ready callback
 * @dir: what the last was for
 * @in_task: it came in process context
 * @called: completed by each
 */
struct ready {
	struct vt_pair		pair;
	u8			*buf;
	u8			*far;
	struct fid_mr		*mr;
	int			calls;
	u64			dir;
	bool			in_task;
	struct completion	called;
};

/* Of the case that runs; the callback gets nothing but the endpoint */
static struct ready *the_ready;

static void ready_called(struct fid_ep *ep, u64 flags)
{
	struct ready *r = the_ready;

	r->calls++;
	r->dir = flags;
	r->in_task = in_task();
	complete(&r->called);
}

static const struct fi_ep_callbacks ready_callbacks = { .ready = ready_called };

static void ready_set(struct kunit *test, struct fid_ep *ep)
{
	KUNIT_ASSERT_EQ(test, fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS,
					&ready_callbacks, sizeof(ready_callbacks)), 0);
}

static struct ready *ready_begin(struct kunit *test, const struct fakehca_attr *attr, size_t depth,
				 u64 bind_flags)
{
	struct ready *r = ht_buf(test, sizeof(*r));
	struct fi_info *info;

	the_ready = r;
	init_completion(&r->called);
	hm_serve(test, attr);
	info = vt_dup(test, vt_of(test)->info);
	info->tx_attr->size = depth;
	info->rx_attr->size = depth;
	r->pair.a.bind_flags = bind_flags;
	ht_end_open(test, &r->pair.a, info);
	ready_set(test, r->pair.a.ep);
	r->buf = ht_buf(test, 2 * depth * READY_LEN);
	return r;
}

/* One at a time */
static void ready_set_rw_ops(struct kunit *test, struct ready *r)
{
	size_t rw_ops = 1;

	KUNIT_ASSERT_EQ(test, fi_setopt(&r->pair.a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RW_OPS,
					&rw_ops, sizeof(rw_ops)), 0);
}

static void ready_join(struct kunit *test, struct ready *r)
{
	r->far = hm_pages(test);
	ht_join(test, &r->pair);
	KUNIT_ASSERT_EQ(test, hm_reg(test, r->far, PAGE_SIZE, &r->mr), 0);
}

static struct ready *ready_open(struct kunit *test, const struct fakehca_attr *attr)
{
	struct ready *r = ready_begin(test, attr, READY_DEPTH, 0);

	ready_join(test, r);
	return r;
}

/* By now it would have been called */
static void ready_expect_none(struct kunit *test, struct ready *r)
{
	KUNIT_EXPECT_FALSE(test,
			   wait_for_completion_timeout(&r->called, msecs_to_jiffies(HT_QUIET_MS)));
}

static void ready_expect_one(struct kunit *test, struct ready *r, u64 dir)
{
	KUNIT_ASSERT_TRUE(test, vt_completed(&r->called));
	KUNIT_EXPECT_EQ(test, r->dir, dir);
	ready_expect_none(test, r);
}

static int ready_send(struct ready *r, unsigned long nr)
{
	return fi_send(r->pair.a.ep, r->buf + nr * READY_LEN, READY_LEN, NULL, 0, vt_ctx(nr));
}

static int ready_recv(struct ready *r, unsigned long nr)
{
	return fi_recv(r->pair.a.ep, r->buf + nr * READY_LEN, READY_LEN, NULL, 0, vt_ctx(nr));
}

/* The peer takes @count messages */
static void ready_peer_recv(struct kunit *test, struct ready *r, int count)
{
	int i;

	for (i = 0; i < count; i++)
		vt_recv(test, &r->pair.b, ht_buf(test, READY_LEN), READY_LEN, NULL);
}

static void a_full_transmit_queue_calls_when_a_slot_is_free(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct ready *r = ready_open(test, &attr);
	unsigned long i;

	ready_peer_recv(test, r, READY_DEPTH);
	for (i = 1; i <= READY_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, ready_send(r, i), 0);
	KUNIT_EXPECT_EQ(test, ready_send(r, i), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ready_send(r, i), -EAGAIN);
	fakehca_idle(ht_of(test)->hca);
	ready_expect_none(test, r);

	vt_done(test, r->pair.a.tx, vt_ctx(1));

	ready_expect_one(test, r, FI_TRANSMIT);
	KUNIT_EXPECT_FALSE(test, r->in_task);
	/* Nobody has asked since */
	for (i = 2; i <= READY_DEPTH; i++)
		vt_done(test, r->pair.a.tx, vt_ctx(i));
	ready_expect_none(test, r);
}

static void a_full_receive_queue_calls_when_a_slot_is_free(struct kunit *test)
{
	struct ready *r = ready_open(test, NULL);
	unsigned long i;

	for (i = 1; i <= READY_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, ready_recv(r, i), 0);
	KUNIT_EXPECT_EQ(test, ready_recv(r, i), -EAGAIN);
	vt_send(test, &r->pair.b, NULL, 0, NULL);
	fakehca_idle(ht_of(test)->hca);
	ready_expect_none(test, r);

	vt_done(test, r->pair.a.tx, vt_ctx(1));

	ready_expect_one(test, r, FI_RECV);
	KUNIT_EXPECT_EQ(test, ready_recv(r, 1), 0);
}

/**
 * struct ready_busy - A call that a busy device refuses
 * @name: of the case
 * @point: where
 * @err: how
 * @op: the call
 * @pieces: elements of its list; the fast path takes one, and a work request two
 */
struct ready_busy {
	const char		*name;
	enum fakehca_point	point;
	int			err;
	enum vt_op		op;
	size_t			pieces;
};

static const struct ready_busy ready_busies[] = {
	{ "send", FAKEHCA_POST_SEND, -ENOMEM, VT_SEND },
	{ "send, state", FAKEHCA_POST_SEND, -ENOTCONN, VT_SEND },
	{ "sendv", FAKEHCA_POST_SEND, -ENOMEM, VT_SENDV, 2 },
	{ "inject", FAKEHCA_POST_SEND, -ENOMEM, VT_INJECT },
	{ "writev", FAKEHCA_POST_SEND, -ENOMEM, VT_WRITEV, READY_DEPTH },
	{ "recv", FAKEHCA_POST_RECV, -ENOMEM, VT_RECV },
	{ "recvv", FAKEHCA_POST_RECV, -ENOMEM, VT_RECVV, 2 },
};

/* No element lies behind another */
static ssize_t ready_call(struct ready *r, const struct ready_busy *busy)
{
	struct kvec iov[READY_DEPTH];
	const struct vt_xfer x = {
		.buf		= r->buf,
		.len		= READY_LEN,
		.pieces		= busy->pieces,
		.list		= iov,
		.addr		= fi_mr_addr(r->mr),
		.key		= fi_mr_key(r->mr),
		.context	= vt_ctx(1),
	};
	int i;

	for (i = 0; i < READY_DEPTH; i++)
		iov[i] = (struct kvec) { r->buf + 2 * i * READY_LEN, READY_LEN };
	return vt_post_flags(r->pair.a.ep, busy->op, &x, 0);
}

KUNIT_ARRAY_PARAM_DESC(ready_busy, ready_busies, name);

static void a_busy_device_calls_with_nothing_in_flight(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true, .max_send_sge = 2 };
	const struct ready_busy *busy = test->param_value;
	struct ready *r = ready_open(test, &attr);

	fakehca_fail(ht_of(test)->hca, busy->point, 1, busy->err);
	KUNIT_ASSERT_EQ(test, ready_call(r, busy), -EAGAIN);

	ready_expect_one(test, r, busy->point == FAKEHCA_POST_RECV ? FI_RECV : FI_TRANSMIT);
	KUNIT_EXPECT_EQ(test, ready_call(r, busy), 0);
}

/* More elements than a work request has */
static ssize_t ready_writev(struct ready *r)
{
	static const struct ready_busy writev = { .op = VT_WRITEV, .pieces = READY_DEPTH };

	return ready_call(r, &writev);
}

static int ready_more(struct ready *r, unsigned long nr)
{
	const struct vt_xfer x = {
		.buf = r->buf + nr * READY_LEN, .len = READY_LEN, .context = vt_ctx(nr),
	};

	return vt_post_flags(r->pair.a.ep, VT_SENDMSG, &x, FI_MORE | FI_COMPLETION);
}

static void what_waits_for_the_doorbell_does_not_wait_for_a_refused_call(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct ready *r = ready_open(test, &attr);
	unsigned long i;

	ready_peer_recv(test, r, READY_DEPTH);
	for (i = 1; i <= READY_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, ready_more(r, i), 0);

	KUNIT_EXPECT_EQ(test, ready_send(r, i), -EAGAIN);

	for (i = 1; i <= READY_DEPTH; i++)
		vt_done(test, r->pair.a.tx, vt_ctx(i));
	ready_expect_one(test, r, FI_TRANSMIT);
}

static void a_queue_full_of_registrations_calls(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct ready *r = ready_open(test, &attr);
	struct fid_mr *mr[READY_DEPTH];
	int i;

	for (i = 0; i < READY_DEPTH; i++) {
		mr[i] = hm_reg_ep(test, r->pair.a.ep);
		KUNIT_ASSERT_EQ(test, fi_mr_enable(mr[i]), 0);
	}
	KUNIT_ASSERT_EQ(test, ready_send(r, 1), -EAGAIN);

	ready_expect_one(test, r, FI_TRANSMIT);
	KUNIT_ASSERT_EQ(test, ready_send(r, 1), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr[0], FI_DISCARD, NULL), 0);
	ready_expect_one(test, r, FI_TRANSMIT);
	ready_peer_recv(test, r, 1);
	KUNIT_EXPECT_EQ(test, ready_send(r, 1), 0);
	vt_done(test, r->pair.a.tx, vt_ctx(1));
}

static void an_enable_without_a_slot_calls(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct ready *r = ready_open(test, &attr);
	struct fid_mr *mr = hm_reg_ep(test, r->pair.a.ep);
	unsigned long i;

	ready_peer_recv(test, r, READY_DEPTH);
	for (i = 1; i <= READY_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, ready_send(r, i), 0);
	vt_refusals_begin(test);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), -EAGAIN);
	vt_not_refused(test);
	vt_done(test, r->pair.a.tx, vt_ctx(1));

	ready_expect_one(test, r, FI_TRANSMIT);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(mr), 0);
}

static void a_refresh_that_finds_no_room_calls(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct ready *r = ready_open(test, &attr);
	struct fid_mr *mr = hm_reg_ep(test, r->pair.a.ep);
	struct kvec kvec = { r->buf, READY_LEN };
	const struct fi_mr_attr mr_attr = {
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= FI_REMOTE_WRITE,
	};

	fakehca_fail(ht_of(test)->hca, FAKEHCA_MAP_MR_SG, 1, -ENOMEM);
	KUNIT_ASSERT_EQ(test, fi_mr_refresh(mr, &mr_attr, 0), -EAGAIN);

	ready_expect_one(test, r, FI_TRANSMIT);
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(mr, &mr_attr, 0), 0);
}

/* Begins a case in which one slot is that of an unsignaled operation, which is over */
static struct ready *ready_unsignaled(struct kunit *test, bool roce)
{
	const struct fakehca_attr attr = { .roce = roce, .max_send_sge = 1 };
	struct ready *r = ready_begin(test, &attr, READY_DEPTH, FI_SELECTIVE_COMPLETION);

	ready_join(test, r);
	ready_peer_recv(test, r, 1);
	KUNIT_ASSERT_EQ(test, ready_send(r, 0), 0);
	vt_done(test, r->pair.b.tx, NULL);
	return r;
}

/* Nobody reports its success until somebody needs the slot */
static void an_unsignaled_operation_holds_up_nobody(struct kunit *test)
{
	struct ready *r = ready_unsignaled(test, true);

	/* Another processor may be done with what ends it before the call returns */
	fakehca_hold(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, ready_writev(r), -EAGAIN);
	fakehca_release(ht_of(test)->hca);

	ready_expect_one(test, r, FI_TRANSMIT);
	KUNIT_EXPECT_EQ(test, ready_writev(r), 0);
	vt_none(test, r->pair.a.tx);
}

/* The slot of the work request that was to end it is not lost, and somebody calls */
static void an_unsignaled_operation_waits_for_a_busy_device(struct kunit *test)
{
	struct ready *r = ready_unsignaled(test, true);

	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 1, -ENOMEM);
	KUNIT_ASSERT_EQ(test, ready_writev(r), -EAGAIN);

	ready_expect_one(test, r, FI_TRANSMIT);
	fakehca_hold(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, ready_writev(r), -EAGAIN);
	fakehca_release(ht_of(test)->hca);
	ready_expect_one(test, r, FI_TRANSMIT);
	KUNIT_EXPECT_EQ(test, ready_writev(r), 0);
}

/* An operation that the device refuses ends none of those before it */
static void an_unsignaled_operation_outlives_a_refusal(struct kunit *test)
{
	static const struct ready_busy parts = { .op = VT_WRITEV, .pieces = 2 };
	struct ready *r = ready_unsignaled(test, true);

	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 1, -EIO);
	KUNIT_ASSERT_EQ(test, ready_call(r, &parts), -EIO);

	fakehca_hold(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, ready_writev(r), -EAGAIN);
	fakehca_release(ht_of(test)->hca);
	ready_expect_one(test, r, FI_TRANSMIT);
	KUNIT_EXPECT_EQ(test, ready_writev(r), 0);
}

static const bool ready_roce[] = { true, false };

static void ready_roce_desc(const bool *roce, char *desc)
{
	strscpy(desc, *roce ? "RoCE" : "iWARP", KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(ready_roce, ready_roce, ready_roce_desc);

/* Nor does the client wait for ever if that work request fails */
static void an_unsignaled_operation_waits_for_no_connection(struct kunit *test)
{
	const bool *roce = test->param_value;
	struct ready *r = ready_unsignaled(test, *roce);

	fakehca_fail(ht_of(test)->hca, FAKEHCA_SEND_WC, 1, IB_WC_LOC_QP_OP_ERR);
	KUNIT_ASSERT_EQ(test, ready_writev(r), -EAGAIN);

	ready_expect_one(test, r, FI_TRANSMIT);
	vt_event(test, r->pair.a.eq, FI_SHUTDOWN, NULL);
	KUNIT_EXPECT_EQ(test, ready_writev(r), -ESHUTDOWN);
	vt_none(test, r->pair.a.tx);
}

static ssize_t ready_move(struct ready *r, struct scatterlist *sg, unsigned long nr)
{
	return fi_writesgl(r->pair.a.ep, sg, 1, 0, READY_LEN, 0, fi_mr_addr(r->mr),
			   fi_mr_key(r->mr), vt_ctx(nr), FI_COMPLETION);
}

static void an_rw_operation_that_ends_calls_for_the_next(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct ready *r = ready_begin(test, &attr, 64, 0);
	struct scatterlist sg[2];

	ready_set_rw_ops(test, r);
	ready_join(test, r);
	sg_init_one(&sg[0], r->buf, READY_LEN);
	sg_init_one(&sg[1], r->buf + PAGE_SIZE / 2, READY_LEN);
	fakehca_hold(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, ready_move(r, &sg[0], 1), 0);
	KUNIT_ASSERT_EQ(test, ready_move(r, &sg[1], 2), -EAGAIN);
	ready_expect_none(test, r);

	fakehca_release(ht_of(test)->hca);

	ready_expect_one(test, r, FI_TRANSMIT);
	vt_done(test, r->pair.a.tx, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, ready_move(r, &sg[1], 2), 0);
	vt_done(test, r->pair.a.tx, vt_ctx(2));
}

/* More of them than there are slots */
static void an_rw_operation_ends_the_unsignaled_ones_before_it(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct ready *r = ready_begin(test, &attr, 64, FI_SELECTIVE_COMPLETION);
	struct scatterlist sg;
	int i;

	ready_set_rw_ops(test, r);
	ready_join(test, r);
	sg_init_one(&sg, r->buf + PAGE_SIZE / 2, READY_LEN);
	for (i = 0; i < 2 * 64; i++) {
		KUNIT_ASSERT_EQ(test, fi_write(r->pair.a.ep, r->buf, READY_LEN, NULL, 0,
					       fi_mr_addr(r->mr), fi_mr_key(r->mr), NULL), 0);
		KUNIT_ASSERT_EQ(test, ready_move(r, &sg, 1), 0);
		vt_done(test, r->pair.a.tx, vt_ctx(1));
	}
}

/* A read of two elements with a gap has two registrations, of which there are 16 */
static int ready_read(struct ready *r, unsigned long nr)
{
	u8 *to = r->buf + 2 * nr * READY_LEN;
	struct kvec iov[2] = { { to, 8 }, { to + READY_LEN, 8 } };

	return fi_readv(r->pair.a.ep, iov, NULL, 2, 0, fi_mr_addr(r->mr),
			fi_mr_key(r->mr), vt_ctx(nr));
}

static void registrations_that_are_exhausted_call(struct kunit *test)
{
	struct ready *r = ready_begin(test, NULL, 16, 0);
	unsigned long i;

	ready_join(test, r);
	fakehca_hold(ht_of(test)->hca);
	for (i = 1; i <= 8; i++)
		KUNIT_ASSERT_EQ(test, ready_read(r, i), 0);
	KUNIT_ASSERT_EQ(test, ready_read(r, 9), -EAGAIN);
	fakehca_release(ht_of(test)->hca);

	KUNIT_ASSERT_TRUE(test, vt_completed(&r->called));
	ht_each_once(test, r->pair.a.tx, 8, 0);
	KUNIT_EXPECT_EQ(test, ready_read(r, 9), 0);
	vt_done(test, r->pair.a.tx, vt_ctx(9));
}

static void a_full_shared_receive_context_calls_in_a_worker(struct kunit *test)
{
	struct ready *r = ht_buf(test, sizeof(*r));
	struct fi_rx_attr rx_attr = { .size = READY_DEPTH };
	struct fid_ep *srx;
	struct fi_info *info;
	unsigned long i;

	the_ready = r;
	init_completion(&r->called);
	ht_serve(test, NULL);
	KUNIT_ASSERT_EQ(test, fi_srx_context(vt_of(test)->domain, &rx_attr, &srx, NULL), 0);
	vt_adopt(test, &srx->fid);
	ready_set(test, srx);
	info = vt_dup(test, vt_of(test)->info);
	info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	info->rx_attr->size = 0;
	r->pair.a.tx = vt_cq(test, &vt_default_kind, 256);
	ht_end_open(test, &r->pair.a, info);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(r->pair.a.ep, &srx->fid, 0), 0);
	ht_join(test, &r->pair);
	for (i = 1; i <= READY_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, fi_recv(srx, NULL, 0, NULL, 0, vt_ctx(i)), 0);
	KUNIT_ASSERT_EQ(test, fi_recv(srx, NULL, 0, NULL, 0, vt_ctx(5)), -EAGAIN);
	vt_send(test, &r->pair.b, NULL, 0, NULL);

	vt_done(test, r->pair.a.tx, vt_ctx(1));

	ready_expect_one(test, r, FI_RECV);
	KUNIT_EXPECT_TRUE(test, r->in_task);
	KUNIT_EXPECT_EQ(test, fi_recv(srx, NULL, 0, NULL, 0, vt_ctx(5)), 0);
}

static struct kunit_case ready_cases[] = {
	KUNIT_CASE(a_full_transmit_queue_calls_when_a_slot_is_free),
	KUNIT_CASE(a_full_receive_queue_calls_when_a_slot_is_free),
	KUNIT_CASE_PARAM(a_busy_device_calls_with_nothing_in_flight, ready_busy_gen_params),
	KUNIT_CASE(what_waits_for_the_doorbell_does_not_wait_for_a_refused_call),
	KUNIT_CASE(a_queue_full_of_registrations_calls),
	KUNIT_CASE(an_enable_without_a_slot_calls),
	KUNIT_CASE(a_refresh_that_finds_no_room_calls),
	KUNIT_CASE(an_unsignaled_operation_holds_up_nobody),
	KUNIT_CASE(an_unsignaled_operation_waits_for_a_busy_device),
	KUNIT_CASE(an_unsignaled_operation_outlives_a_refusal),
	KUNIT_CASE_PARAM(an_unsignaled_operation_waits_for_no_connection, ready_roce_gen_params),
	KUNIT_CASE(an_rw_operation_that_ends_calls_for_the_next),
	KUNIT_CASE(an_rw_operation_ends_the_unsignaled_ones_before_it),
	KUNIT_CASE(registrations_that_are_exhausted_call),
	KUNIT_CASE(a_full_shared_receive_context_calls_in_a_worker),
	{}
};

struct kunit_suite kofi_hca_ready_suite = {
	.name		= "kofi_hca_ready",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= ready_cases,
};
