// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions for single operations (FI_MR_ENDPOINT): closed while a device holds their work
 * requests, and taken back before the device has them.
 *
 * fakehca counts doorbells and mappings, so a case sees whether the device has heard of a
 * registration, and whether the memory is the client's.
 */
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <rdma/fi_rma.h>
#include <rdma/ib_verbs.h>
#include "mr.h"

#define MR_EP_DEPTH	4	/* of queues that a case fills */

static struct fid_mr *mr_ep_open(struct kunit *test, struct vt_pair *pair)
{
	ht_connect(test, NULL, pair);
	vt_recv(test, &pair->b, NULL, 0, vt_ctx(2));
	return hm_reg_ep(test, pair->a.ep);
}

/* A message for the receive of context 2 takes along what waits for the doorbell */
static void mr_ep_send(struct kunit *test, struct vt_pair *pair)
{
	vt_send(test, &pair->a, NULL, 0, vt_ctx(1));
	vt_done(test, pair->a.tx, vt_ctx(1));
	vt_done(test, pair->b.tx, vt_ctx(2));
}

/* The device has its registration, and does not come to it */
static void mr_ep_hold(struct kunit *test, struct vt_pair *pair, struct fid_mr *mr)
{
	fakehca_hold(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	vt_send(test, &pair->a, NULL, 0, vt_ctx(1));
}

/* The device has not come to the work request that begins its key, or ends it */
static void a_region_in_flight_is_not_closed(struct kunit *test)
{
	struct vt_pair pair = {};
	struct fid_mr *mr;

	mr = mr_ep_open(test, &pair);
	mr_ep_hold(test, &pair, mr);
	KUNIT_EXPECT_EQ(test, fi_close(&mr->fid), -EBUSY);
	fakehca_release(ht_of(test)->hca);
	vt_done(test, pair.a.tx, vt_ctx(1));
	vt_done(test, pair.b.tx, vt_ctx(2));

	fakehca_hold(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, fi_mr_disable(mr, 0, vt_ctx(3)), 0);
	KUNIT_EXPECT_EQ(test, fi_close(&mr->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr, 0, vt_ctx(4)), -FI_EOPBADSTATE);
	fakehca_release(ht_of(test)->hca);
	vt_done(test, pair.a.tx, vt_ctx(3));
	vt_close(test, &mr->fid);
	vt_none(test, pair.a.tx);
}

/* Whether its key was about to begin or to end */
static void a_region_in_flight_closes_with_its_connection(struct kunit *test)
{
	const bool *ends = test->param_value;
	struct vt_pair pair = {};
	struct fid_mr *mr;

	mr = mr_ep_open(test, &pair);
	mr_ep_hold(test, &pair, mr);
	if (*ends)
		KUNIT_ASSERT_EQ(test, fi_mr_disable(mr, 0, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	vt_close(test, &mr->fid);
	KUNIT_EXPECT_PTR_EQ(test, ht_failed(test, pair.a.tx, ECANCELED).context, vt_ctx(1));
	if (*ends)
		ht_failed(test, pair.a.tx, ECANCELED);
	vt_none(test, pair.a.tx);
	fakehca_release(ht_of(test)->hca);
}

static const bool mr_ends[] = { false, true };

static void mr_ends_desc(const bool *ends, char *desc)
{
	strscpy(desc, *ends ? "ends" : "begins", KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(mr_ends, mr_ends, mr_ends_desc);

static void a_close_drains_the_send_queue_that_has_the_region(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true, .drains = true };
	struct vt_pair pair = {};
	unsigned int base;
	struct fid_mr *mr;

	/* Nobody else polls the queue, so the slot has the region until the drain */
	ht_serve(test, &attr);
	pair.a.tx = vt_cq(test, &ht_polled, 0);
	ht_join(test, &pair);
	mr = hm_reg_ep(test, pair.a.ep);
	mr_ep_hold(test, &pair, mr);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	base = ht_stats(test).drains;
	vt_close(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, ht_stats(test).drains, base + 1);
	ht_failed(test, pair.a.tx, ECANCELED);
	fakehca_release(ht_of(test)->hca);
}

/* In whatever order, and the device never hears of them */
static void registrations_are_taken_back_before_their_doorbell(struct kunit *test)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 0, 2 } };
	struct fid_mr *mrs[3];
	struct vt_pair pair = {};
	unsigned int base;
	size_t i, j;

	mrs[0] = mr_ep_open(test, &pair);
	base = ht_stats(test).doorbells;
	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		for (j = 0; j < 3; j++) {
			if (i || j)
				mrs[j] = hm_reg_ep(test, pair.a.ep);
			KUNIT_ASSERT_EQ(test, fi_mr_enable(mrs[j]), 0);
		}
		for (j = 0; j < 3; j++)
			vt_close(test, &mrs[orders[i][j]]->fid);
	}
	KUNIT_EXPECT_EQ(test, ht_stats(test).doorbells, base);
	mr_ep_send(test, &pair);
	KUNIT_EXPECT_EQ(test, ht_stats(test).doorbells, base + 1);
}

/* Also with one that stays, which then goes with the send */
static void a_registration_leaves_the_one_behind_it(struct kunit *test)
{
	struct vt_pair pair = {};
	struct fid_mr *first, *second;

	first = mr_ep_open(test, &pair);
	second = hm_reg_ep(test, pair.a.ep);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(first), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(second), 0);
	vt_close(test, &first->fid);
	mr_ep_send(test, &pair);
	KUNIT_ASSERT_EQ(test, fi_mr_disable(second, 0, vt_ctx(3)), 0);
	vt_done(test, pair.a.tx, vt_ctx(3));
	vt_close(test, &second->fid);
}

/**
 * struct mr_ep - A case in which registrations wait for the doorbell
 * @pair: a has the regions, b the receives
 * @mr: the regions
 * @doorbells: the device has seen when the case began
 * @mapped: mappings there were, with those of the regions
 */
struct mr_ep {
	struct vt_pair	pair;
	struct fid_mr	*mr[3];
	unsigned int	doorbells;
	unsigned int	mapped;
};

/* @counted: a counter is bound to a, so each of its work requests is signaled */
static void mr_ep_begin(struct kunit *test, struct mr_ep *me, bool counted)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_NONE };
	struct fid_cntr *cntr;
	struct fi_info *info;
	int i;

	ht_serve(test, NULL);
	KUNIT_ASSERT_EQ(test, fi_cntr_open(vt_of(test)->domain, &attr, &cntr, NULL), 0);
	vt_adopt(test, &cntr->fid);
	info = vt_dup(test, vt_of(test)->info);
	info->tx_attr->size = MR_EP_DEPTH;
	ht_end_open(test, &me->pair.a, info);
	if (counted)
		KUNIT_ASSERT_EQ(test, fi_ep_bind(me->pair.a.ep, &cntr->fid, FI_SEND), 0);
	ht_join(test, &me->pair);
	for (i = 0; i < ARRAY_SIZE(me->mr); i++)
		me->mr[i] = hm_reg_ep(test, me->pair.a.ep);
	me->doorbells = ht_stats(test).doorbells;
	me->mapped = ht_stats(test).mapped;
}

/* The memory is the client's, and the key is nobody's; so there is other memory */
static void mr_ep_expect_back(struct kunit *test, struct fid_mr *mr)
{
	struct kvec kvec = { ht_buf(test, 64), 64 };
	const struct fi_mr_attr attr = {
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= FI_REMOTE_WRITE,
	};

	KUNIT_EXPECT_EQ(test, fi_mr_key(mr), FI_KEY_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, fi_mr_enable(mr), -FI_EOPBADSTATE);
	KUNIT_ASSERT_EQ(test, fi_mr_refresh(mr, &attr, 0), 0);
}

/* Sends as many messages as the queue has places, all of which are free */
static void mr_ep_expect_places(struct kunit *test, struct mr_ep *me)
{
	unsigned long i;

	for (i = 0; i < MR_EP_DEPTH; i++) {
		vt_recv(test, &me->pair.b, NULL, 0, vt_ctx(100 + i));
		vt_send(test, &me->pair.a, NULL, 0, vt_ctx(1 + i));
	}
	ht_each_once(test, me->pair.a.tx, MR_EP_DEPTH, 0);
	for (i = 0; i < MR_EP_DEPTH; i++)
		vt_done(test, me->pair.b.tx, vt_ctx(100 + i));
	vt_none(test, me->pair.a.tx);
}

static void no_peer_ends_a_key_before_the_doorbell(struct kunit *test)
{
	struct vt_pair pair = {};
	struct fid_mr *mr;

	mr = mr_ep_open(test, &pair);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);

	KUNIT_ASSERT_EQ(test, fi_mr_disable(mr, FI_REMOTE_INV, NULL), -FI_EOPBADSTATE);

	/* It is still enabled, and goes with the next operation */
	KUNIT_EXPECT_NE(test, fi_mr_key(mr), FI_KEY_NOTAVAIL);
	mr_ep_send(test, &pair);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr, FI_REMOTE_INV, NULL), 0);
}

static void a_peer_ends_a_key_while_another_region_waits(struct kunit *test)
{
	struct mr_ep me = {};

	mr_ep_begin(test, &me, false);
	vt_recv(test, &me.pair.b, NULL, 0, vt_ctx(2));
	KUNIT_ASSERT_EQ(test, fi_mr_enable(me.mr[0]), 0);
	vt_send(test, &me.pair.a, NULL, 0, vt_ctx(1));
	vt_done(test, me.pair.a.tx, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_mr_enable(me.mr[1]), 0);

	KUNIT_EXPECT_EQ(test, fi_mr_disable(me.mr[0], FI_REMOTE_INV, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(me.mr[1], FI_REMOTE_INV, NULL), -FI_EOPBADSTATE);
}

static void a_discarded_registration_gives_memory_and_place_back(struct kunit *test)
{
	struct mr_ep me = {};
	int i;

	mr_ep_begin(test, &me, false);
	for (i = 0; i < 3 * MR_EP_DEPTH; i++) {
		KUNIT_ASSERT_EQ(test, fi_mr_enable(me.mr[0]), 0);

		KUNIT_ASSERT_EQ(test, fi_mr_disable(me.mr[0], FI_DISCARD, NULL), 0);

		KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, me.mapped - 1);
		mr_ep_expect_back(test, me.mr[0]);
	}
	KUNIT_EXPECT_EQ(test, ht_stats(test).doorbells, me.doorbells);
	vt_none(test, me.pair.a.tx);
	mr_ep_expect_places(test, &me);
}

/* The second of two that wait is half of the queue, and alone it is not */
static void a_registration_that_was_signaled_is_unsignaled_again(struct kunit *test)
{
	struct mr_ep me = {};

	mr_ep_begin(test, &me, false);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(me.mr[1]), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(me.mr[0]), 0);
	vt_recv(test, &me.pair.b, NULL, 0, vt_ctx(2));
	mr_ep_send(test, &me.pair);
	KUNIT_ASSERT_EQ(test, fi_mr_disable(me.mr[0], 0, vt_ctx(3)), 0);
	vt_done(test, me.pair.a.tx, vt_ctx(3));
	mr_ep_expect_back(test, me.mr[0]);

	KUNIT_ASSERT_EQ(test, fi_mr_enable(me.mr[0]), 0);
	vt_recv(test, &me.pair.b, NULL, 0, vt_ctx(2));
	mr_ep_send(test, &me.pair);
	/* Its place has come back once */
	mr_ep_expect_places(test, &me);
}

static void a_full_queue_does_not_hinder_a_discard(struct kunit *test)
{
	struct mr_ep me = {};
	struct fid_mr *mr;
	int i;

	mr_ep_begin(test, &me, false);
	for (i = 0; i < MR_EP_DEPTH; i++) {
		mr = i < 3 ? me.mr[i] : hm_reg_ep(test, me.pair.a.ep);
		KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	}
	KUNIT_EXPECT_EQ(test, fi_send(me.pair.a.ep, NULL, 0, NULL, 0, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(me.mr[0], 0, NULL), -EAGAIN);

	KUNIT_EXPECT_EQ(test, fi_mr_disable(me.mr[0], FI_DISCARD, NULL), 0);

	/* The others go with what takes its place */
	vt_recv(test, &me.pair.b, NULL, 0, vt_ctx(2));
	mr_ep_send(test, &me.pair);
	KUNIT_EXPECT_EQ(test, ht_stats(test).doorbells, me.doorbells + 1);
	mr_ep_expect_places(test, &me);
}

static void a_registration_that_has_gone_is_not_discarded(struct kunit *test)
{
	struct vt_pair pair = {};
	struct fid_mr *mr;
	u64 key;

	mr = mr_ep_open(test, &pair);
	mr_ep_hold(test, &pair, mr);
	key = fi_mr_key(mr);

	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr, FI_DISCARD, NULL), -EALREADY);

	KUNIT_EXPECT_EQ(test, fi_mr_key(mr), key);
	fakehca_release(ht_of(test)->hca);
	vt_done(test, pair.a.tx, vt_ctx(1));
	vt_done(test, pair.b.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr, FI_DISCARD, NULL), -EALREADY);
	KUNIT_ASSERT_EQ(test, fi_mr_disable(mr, 0, vt_ctx(3)), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.a.tx, vt_ctx(3)).data, key);
}

static void a_discard_waits_for_its_turn(struct kunit *test)
{
	struct mr_ep me = {};

	mr_ep_begin(test, &me, false);

	KUNIT_EXPECT_EQ(test, fi_mr_disable(me.mr[0], FI_DISCARD, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(me.mr[0], FI_DISCARD, NULL), -FI_EOPBADSTATE);
	mr_ep_expect_back(test, me.mr[0]);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(me.mr[0]), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(me.mr[0], FI_DISCARD | FI_REMOTE_INV,
					    NULL), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(me.mr[0], FI_DISCARD, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(me.mr[0], FI_DISCARD, NULL), -FI_EOPBADSTATE);
}

/* After fi_shutdown() the bell has been rung, so nothing waits any more */
static void a_discard_behind_the_end_is_late(struct kunit *test)
{
	struct mr_ep me = {};

	mr_ep_begin(test, &me, false);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(me.mr[0]), 0);
	KUNIT_ASSERT_EQ(test, fi_shutdown(me.pair.a.ep, 0), 0);

	KUNIT_EXPECT_EQ(test, fi_mr_disable(me.mr[0], FI_DISCARD, NULL), -EALREADY);
}

/* Every second one in a row is, for a queue of this depth; the region has been second at first */
static void a_registration_that_was_signaled_is_not_for_ever(struct kunit *test)
{
	struct mr_ep me = {};
	int i, round;

	mr_ep_begin(test, &me, false);
	for (round = 0; round < 3; round++) {
		for (i = !!round; i < 2; i++)
			KUNIT_ASSERT_EQ(test, fi_mr_enable(me.mr[i]), 0);
		vt_recv(test, &me.pair.b, NULL, 0, vt_ctx(2));
		mr_ep_send(test, &me.pair);
		for (i = !!round; i < 2; i++) {
			KUNIT_ASSERT_EQ(test, fi_mr_disable(me.mr[i], 0, vt_ctx(3)), 0);
			vt_done(test, me.pair.a.tx, vt_ctx(3));
			mr_ep_expect_back(test, me.mr[i]);
		}
	}
	mr_ep_expect_places(test, &me);
}

/* Each call that is refused gives its place back */
static void a_region_is_not_enabled_before_the_connection(struct kunit *test)
{
	struct mr_ep me = {};
	struct fi_info *info;
	int i;

	ht_serve(test, NULL);
	info = vt_dup(test, vt_of(test)->info);
	info->tx_attr->size = MR_EP_DEPTH;
	ht_end_open(test, &me.pair.a, info);
	ht_end_enable(test, &me.pair.a);
	me.mr[0] = hm_reg_ep(test, me.pair.a.ep);

	for (i = 0; i < 2 * MR_EP_DEPTH; i++)
		KUNIT_EXPECT_EQ(test, fi_mr_enable(me.mr[0]), -ENOTCONN);

	ht_join(test, &me.pair);
	mr_ep_expect_places(test, &me);
}

/**
 * struct mr_ep_order - Which of three registrations is discarded, and how they are posted
 * @name: of the case
 * @which: the registration
 * @counted: a counter is bound: each of them is signaled
 */
struct mr_ep_order {
	const char	*name;
	int		which;
	bool		counted;
};

static const struct mr_ep_order mr_ep_orders[] = {
	{ "first", 0, false },
	{ "second", 1, false },
	{ "last", 2, false },
	{ "first, signaled", 0, true },
	{ "second, signaled", 1, true },
	{ "last, signaled", 2, true },
};

KUNIT_ARRAY_PARAM_DESC(mr_ep_order, mr_ep_orders, name);

static void those_beside_a_discarded_registration_stay(struct kunit *test)
{
	const struct mr_ep_order *order = test->param_value;
	struct mr_ep me = {};
	unsigned long i;

	mr_ep_begin(test, &me, order->counted);
	vt_recv(test, &me.pair.b, NULL, 0, vt_ctx(2));
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, fi_mr_enable(me.mr[i]), 0);

	KUNIT_ASSERT_EQ(test, fi_mr_disable(me.mr[order->which], FI_DISCARD, NULL), 0);

	mr_ep_expect_back(test, me.mr[order->which]);
	KUNIT_EXPECT_EQ(test, ht_stats(test).doorbells, me.doorbells);
	mr_ep_send(test, &me.pair);
	KUNIT_EXPECT_EQ(test, ht_stats(test).doorbells, me.doorbells + 1);
	for (i = 0; i < 3; i++) {
		if (i == order->which)
			continue;
		KUNIT_ASSERT_EQ(test, fi_mr_disable(me.mr[i], 0, vt_ctx(3 + i)), 0);
		vt_done(test, me.pair.a.tx, vt_ctx(3 + i));
	}
	mr_ep_expect_places(test, &me);
}

/**
 * struct mr_ep_call - An operation with a callback of its own
 * @done: its context
 * @calls: how often it was called
 * @err: what it was told
 * @over: completed then
 */
struct mr_ep_call {
	struct fi_done		done;
	int			calls;
	int			err;
	struct completion	over;
};

static void mr_ep_called(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct mr_ep_call *call = container_of(done, struct mr_ep_call, done);

	call->calls++;
	call->err = entry->err;
	complete(&call->over);
}

static struct mr_ep_call *mr_ep_call(struct kunit *test)
{
	struct mr_ep_call *call = ht_buf(test, sizeof(*call));

	call->done.done = mr_ep_called;
	init_completion(&call->over);
	return call;
}

static void mr_ep_expect_called(struct kunit *test, struct mr_ep_call *call)
{
	KUNIT_ASSERT_TRUE(test, vt_completed(&call->over));
	KUNIT_EXPECT_EQ(test, call->calls, 1);
	KUNIT_EXPECT_EQ(test, call->err, 0);
}

/* With FI_MORE, behind the registration that it reports for */
static void mr_ep_send_more(struct kunit *test, struct mr_ep *me, struct mr_ep_call *call)
{
	struct kvec kvec = { ht_buf(test, 8), 8 };
	const struct fi_msg msg = {
		.msg_iov	= &kvec,
		.iov_count	= 1,
		.context	= &call->done,
	};

	KUNIT_ASSERT_EQ(test, fi_sendmsg(me->pair.a.ep, &msg, FI_MORE | FI_COMPLETION), 0);
}

static void an_operation_behind_a_discarded_registration_goes_on(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true, .max_inline = 256 };
	static const struct vt_kind kind = { .wait_obj = FI_WAIT_DONE };
	struct mr_ep_call *more[2], *last;
	struct mr_ep me = {};
	int i;

	ht_open(test, &attr);
	me.pair.a.tx = vt_cq(test, &kind, 256);
	vt_listen(test, vt_eq(test, 0));
	ht_join(test, &me.pair);
	for (i = 0; i < 3; i++)
		vt_recv(test, &me.pair.b, ht_buf(test, 8), 8, vt_ctx(i));
	for (i = 0; i < 2; i++) {
		me.mr[i] = hm_reg_ep(test, me.pair.a.ep);
		KUNIT_ASSERT_EQ(test, fi_mr_enable(me.mr[i]), 0);
		more[i] = mr_ep_call(test);
		mr_ep_send_more(test, &me, more[i]);
	}
	last = mr_ep_call(test);

	KUNIT_EXPECT_EQ(test, fi_mr_disable(me.mr[0], FI_DISCARD, NULL), 0);

	mr_ep_expect_back(test, me.mr[0]);
	vt_send(test, &me.pair.a, NULL, 0, &last->done);
	for (i = 0; i < 2; i++)
		mr_ep_expect_called(test, more[i]);
	mr_ep_expect_called(test, last);
	for (i = 0; i < 3; i++)
		vt_done(test, me.pair.b.tx, vt_ctx(i));
}

/* Of one element too, for which the region has a faster way */
static void a_region_takes_shorter_and_longer_lists_in_turn(struct kunit *test)
{
	static const size_t counts[] = { 3, 1, 4, 2, 4 };
	u8 *buf = hm_pages(test), *data = ht_buf(test, 4 * PAGE_SIZE);
	struct kvec list[4];
	struct fi_mr_attr attr = {
		.mr_iov		= list,
		.iov_count	= 4,
		.access		= FI_REMOTE_WRITE,
		.page_limit	= 4,
	};
	struct vt_pair pair = {};
	struct fid_mr *mr;
	size_t i, j;

	ht_connect(test, NULL, &pair);
	/* Each a segment of its own */
	for (i = 0; i < 4; i++)
		list[i] = (struct kvec) { buf + 2 * i * PAGE_SIZE, PAGE_SIZE };
	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_ENDPOINT, &mr), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(mr, &pair.a.ep->fid, 0), 0);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		attr.iov_count = counts[i];
		KUNIT_ASSERT_EQ(test, fi_mr_refresh(mr, &attr, 0), 0);
		KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
		vt_recv(test, &pair.b, NULL, 0, vt_ctx(2));
		mr_ep_send(test, &pair);
		vt_fill(data, counts[i] * PAGE_SIZE, i);
		KUNIT_ASSERT_EQ(test, fi_write(pair.b.ep, data, counts[i] * PAGE_SIZE, NULL, 0,
					       fi_mr_addr(mr), fi_mr_key(mr), vt_ctx(4)), 0);
		vt_done(test, pair.b.tx, vt_ctx(4));
		KUNIT_ASSERT_EQ(test, fi_mr_disable(mr, 0, vt_ctx(3)), 0);
		vt_done(test, pair.a.tx, vt_ctx(3));
		for (j = 0; j < counts[i]; j++)
			KUNIT_EXPECT_MEMEQ(test, (u8 *)list[j].iov_base, data + j * PAGE_SIZE,
					   PAGE_SIZE);
	}
}

static void a_refresh_may_take_an_access_away(struct kunit *test)
{
	struct kvec kvec = { ht_buf(test, 64), 64 };
	const struct fi_mr_attr attr = { .mr_iov = &kvec, .iov_count = 1 };
	u8 *data = ht_buf(test, 64);
	struct vt_pair pair = {};
	struct fid_mr *mr;

	mr = mr_ep_open(test, &pair);
	KUNIT_ASSERT_EQ(test, fi_mr_refresh(mr, &attr, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	mr_ep_send(test, &pair);
	KUNIT_ASSERT_EQ(test, fi_write(pair.b.ep, data, 64, NULL, 0, fi_mr_addr(mr),
				       fi_mr_key(mr), vt_ctx(3)), 0);
	KUNIT_EXPECT_PTR_EQ(test, ht_failed(test, pair.b.tx, EACCES).context, vt_ctx(3));
}

/* What it has at first is two pages, which are apart from each other */
static void what_a_region_cannot_take_is_refused(struct kunit *test)
{
	struct fi_cntr_attr cntr_attr = { .wait_obj = FI_WAIT_NONE };
	struct scatterlist sgl[4];
	struct fi_mr_attr attr = {
		.type		= FI_BUF_SGL,
		.mr_sgl		= sgl,
		.iov_count	= 2,
		.access		= FI_REMOTE_READ,
		.page_limit	= 2,
	};
	const struct fakehca_attr hca = { .roce = true, .sg_gaps = true };
	u8 *buf = ht_buf(test, 2 * SZ_64K), on_stack[8];
	struct kvec stack = { on_stack, sizeof(on_stack) };
	struct vt *vt = vt_of(test);
	struct vt_pair pair = {};
	struct fid_mr *mr, *none;
	struct fid_cntr *cntr;
	int i;

	ht_connect(test, &hca, &pair);
	sg_init_table(sgl, 4);
	for (i = 0; i < 4; i++)
		sg_set_buf(&sgl[i], buf + 2 * i * PAGE_SIZE, PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt->domain, &attr, FI_MR_ENDPOINT | FI_MR_LEND, &mr),
			0);
	vt_adopt(test, &mr->fid);

	KUNIT_ASSERT_EQ(test, fi_cntr_open(vt->domain, &cntr_attr, &cntr, NULL), 0);
	vt_adopt(test, &cntr->fid);
	KUNIT_EXPECT_EQ(test, fi_mr_bind(mr, &cntr->fid, FI_REMOTE_READ), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_mr_bind(mr, &pair.a.ep->fid, FI_REMOTE_READ), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(mr, &attr, FI_MORE), -FI_EBADFLAGS);

	/* The first element may begin anywhere in its page; the list is lent until the discard */
	KUNIT_ASSERT_EQ(test, fi_mr_disable(mr, FI_DISCARD, NULL), 0);
	sg_set_buf(&sgl[0], buf + 8, PAGE_SIZE - 8);
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(mr, &attr, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_disable(mr, FI_DISCARD, NULL), 0);
	attr.iov_count = 3;
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(mr, &attr, 0), -EMSGSIZE);
	attr.iov_count = 2;
	sgl[1].length = 0;
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(mr, &attr, 0), -EINVAL);
	sgl[1].length = 2 * SZ_64K;
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(mr, &attr, 0), -EINVAL);
	sg_init_table(sgl, 2);
	sg_set_buf(sgl, buf, PAGE_SIZE);
	sgl[1].length = PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(mr, &attr, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, vt_stat(test, &mr->fid, "size"), 0);

	/* A device that takes gaps does not take them here */
	sg_set_buf(&sgl[1], buf + 2 * PAGE_SIZE + 8, 8);
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(mr, &attr, 0), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(vt->domain, &attr, FI_MR_ENDPOINT, &none), -EINVAL);
	attr.page_limit = 17;
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(vt->domain, &attr, FI_MR_ENDPOINT, &none), -EMSGSIZE);
	attr.iov_count = 0;
	KUNIT_EXPECT_EQ(test, fi_mr_refresh(mr, &attr, 0), -EINVAL);
	attr.mr_sgl = NULL;
	attr.page_limit = 0;
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(vt->domain, &attr, FI_MR_ENDPOINT, &none), -EINVAL);
	attr.type = FI_BUF_KVEC;
	attr.mr_iov = &stack;
	attr.iov_count = 1;
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(vt->domain, &attr, FI_MR_ENDPOINT, &none), -EINVAL);
}

static struct kunit_case mr_ep_cases[] = {
	KUNIT_CASE(what_a_region_cannot_take_is_refused),
	KUNIT_CASE(a_region_takes_shorter_and_longer_lists_in_turn),
	KUNIT_CASE(a_refresh_may_take_an_access_away),
	KUNIT_CASE(a_region_in_flight_is_not_closed),
	KUNIT_CASE_PARAM(a_region_in_flight_closes_with_its_connection, mr_ends_gen_params),
	KUNIT_CASE(a_close_drains_the_send_queue_that_has_the_region),
	KUNIT_CASE(registrations_are_taken_back_before_their_doorbell),
	KUNIT_CASE(a_registration_leaves_the_one_behind_it),
	KUNIT_CASE(no_peer_ends_a_key_before_the_doorbell),
	KUNIT_CASE(a_peer_ends_a_key_while_another_region_waits),
	KUNIT_CASE(a_discarded_registration_gives_memory_and_place_back),
	KUNIT_CASE(a_registration_that_was_signaled_is_unsignaled_again),
	KUNIT_CASE(a_full_queue_does_not_hinder_a_discard),
	KUNIT_CASE(a_registration_that_has_gone_is_not_discarded),
	KUNIT_CASE(a_discard_waits_for_its_turn),
	KUNIT_CASE(a_discard_behind_the_end_is_late),
	KUNIT_CASE(a_registration_that_was_signaled_is_not_for_ever),
	KUNIT_CASE(a_region_is_not_enabled_before_the_connection),
	KUNIT_CASE_PARAM(those_beside_a_discarded_registration_stay, mr_ep_order_gen_params),
	KUNIT_CASE(an_operation_behind_a_discarded_registration_goes_on),
	{}
};

struct kunit_suite kofi_hca_mr_ep_suite = {
	.name		= "kofi_hca_mr_ep",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= mr_ep_cases,
};
