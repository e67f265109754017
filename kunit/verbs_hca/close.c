// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a client closes in a callback that may sleep: a region, or an endpoint of another
 * queue, also while the device is being removed.
 */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/string.h>
#include <rdma/fi_rma.h>
#include "mr.h"

#define WRITES	4

/**
 * struct closer - A callback that closes an object, once
 * @done: the callback
 * @fid: what it closes; NULL: nothing
 * @calls: how often it was called
 * @err: of the operation
 * @ret: what fi_close() has returned
 * @waits: the callback waits for @go first
 * @entered: it has been called
 * @go: it may go on
 * @over: it is about to return
 */
struct closer {
	struct fi_done		done;
	struct fid		*fid;
	int			calls;
	int			err;
	int			ret;
	bool			waits;
	struct completion	entered;
	struct completion	go;
	struct completion	over;
};

static void closer_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct closer *closer = container_of(done, struct closer, done);

	if (closer->calls++)
		return;
	closer->err = entry->err;
	complete(&closer->entered);
	if (closer->waits)
		wait_for_completion(&closer->go);
	if (closer->fid)
		closer->ret = fi_close(closer->fid);
	complete(&closer->over);
}

static struct closer *closer_new(struct kunit *test, bool waits)
{
	struct closer *closer = ht_buf(test, sizeof(*closer));

	closer->done.done = closer_done;
	closer->waits = waits;
	init_completion(&closer->entered);
	init_completion(&closer->go);
	init_completion(&closer->over);
	return closer;
}

static struct vt_cq *closer_cq(struct kunit *test)
{
	static const struct vt_kind kind = {
		.wait_obj	= FI_WAIT_DONE,
		.comp_ctx	= FI_COMP_WORKQUEUE,
	};

	return vt_cq(test, &kind, 512);
}

/* The callbacks are a's */
static void closer_join(struct kunit *test, struct vt_pair *pair)
{
	pair->a.tx = closer_cq(test);
	ht_join(test, pair);
}

static void closer_expect(struct kunit *test, struct closer *closer, int ret)
{
	KUNIT_ASSERT_TRUE(test, vt_completed(&closer->over));
	KUNIT_EXPECT_EQ(test, closer->ret, ret);
	KUNIT_EXPECT_EQ(test, closer->calls, 1);
}

/* A message that has arrived keeps the poller of a's queue in its callback */
static void closer_enter(struct kunit *test, struct vt_pair *pair, struct closer *closer)
{
	u8 *buf = ht_buf(test, 16);

	vt_recv(test, &pair->a, buf, 8, &closer->done);
	vt_send(test, &pair->b, buf + 8, 8, vt_ctx(1));
	vt_done(test, pair->b.tx, vt_ctx(1));
	KUNIT_ASSERT_TRUE(test, vt_completed(&closer->entered));
	KUNIT_EXPECT_EQ(test, closer->err, 0);
}

/* A page that peers may write to; @closer closes the region */
static struct fid_mr *closer_reg(struct kunit *test, struct closer *closer, u8 *buf)
{
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, buf, PAGE_SIZE, FI_REMOTE_WRITE, 0, 0,
					0, &mr, NULL), 0);
	closer->fid = &mr->fid;
	return mr;
}

static void closer_expect_removed(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, fakehca_remove_wait(ht_of(test)->hca, ht_removal_ms));
	ht_expect_clean(test);
}

static void a_failed_operation_closes_its_region_while_the_device_goes(struct kunit *test)
{
	struct closer *closer = closer_new(test, false);
	u8 *buf = ht_buf(test, PAGE_SIZE);
	struct vt_end end = {};

	ht_serve(test, NULL);
	end.tx = closer_cq(test);
	ht_client(test, &end);
	closer_reg(test, closer, buf);
	vt_recv(test, &end, ht_buf(test, 64), 64, &closer->done);
	fakehca_remove_begin(ht_of(test)->hca);
	closer_expect(test, closer, 0);
	KUNIT_EXPECT_EQ(test, closer->err, ECANCELED);
	closer_expect_removed(test);
}

/* Begins the removal when a callback runs in the poller that the removal waits for */
static void closer_remove(struct kunit *test, struct vt_pair *pair, struct closer *closer)
{
	struct fi_eq_err_entry error;

	closer_enter(test, pair, closer);
	fakehca_remove_begin(ht_of(test)->hca);
	error = ht_error(test, pair->a.eq);
	KUNIT_EXPECT_EQ(test, error.err, ENODEV);
	KUNIT_EXPECT_FALSE(test, fakehca_remove_wait(ht_of(test)->hca, HT_QUIET_MS));
	complete(&closer->go);
}

static void a_region_closes_in_a_callback_that_the_removal_waits_for(struct kunit *test)
{
	struct closer *closer = closer_new(test, true);
	u8 *buf = ht_buf(test, PAGE_SIZE);
	struct vt_pair pair = {};

	ht_serve(test, NULL);
	closer_join(test, &pair);
	closer_reg(test, closer, buf);
	closer_remove(test, &pair, closer);
	closer_expect(test, closer, 0);
	closer_expect_removed(test);
}

static void an_endpoint_closes_in_a_callback_that_the_removal_waits_for(struct kunit *test)
{
	struct closer *closer = closer_new(test, true);
	struct vt_pair pair = {};
	struct vt_end end = {};

	ht_serve(test, NULL);
	closer_join(test, &pair);
	ht_client(test, &end);
	vt_recv(test, &end, ht_buf(test, 64), 64, vt_ctx(1));
	closer->fid = &end.ep->fid;
	closer_remove(test, &pair, closer);
	closer_expect(test, closer, 0);
	vt_closed(test, &end.ep->fid);
	closer_expect_removed(test);
}

/* The device has writes of the peer when a callback closes their region, and executes them then */
static void no_write_reaches_a_region_that_is_closed(struct kunit *test)
{
	struct closer *closer = closer_new(test, true);
	struct vt_pair pair = {};
	struct vt_comp comp;
	struct fid_mr *mr;
	u8 *far, *out;
	int i;

	hm_serve(test, NULL);
	closer_join(test, &pair);
	far = hm_pages(test);
	out = hm_pages(test);
	mr = closer_reg(test, closer, far);
	closer_enter(test, &pair, closer);
	fakehca_hold(ht_of(test)->hca);
	for (i = 0; i < WRITES; i++)
		KUNIT_ASSERT_EQ(test, fi_write(pair.b.ep, out + i * 64, 64, NULL, 0, fi_mr_addr(mr),
					       fi_mr_key(mr), vt_ctx(i)), 0);
	complete(&closer->go);
	closer_expect(test, closer, 0);
	memset(far, 0xa5, PAGE_SIZE);
	fakehca_release(ht_of(test)->hca);
	for (i = 0; i < WRITES; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(pair.b.tx, &comp), 1);
		KUNIT_EXPECT_NE(test, comp.err, 0);
	}
	KUNIT_EXPECT_NULL(test, memchr_inv(far, 0xa5, PAGE_SIZE));
}

/* Opens a region of a's endpoint; a callback closes it, not ht_exit() */
static struct fid_mr *closer_mr_ep(struct kunit *test, struct vt_pair *pair)
{
	struct kvec kvec = { ht_buf(test, PAGE_SIZE), PAGE_SIZE };
	const struct fi_mr_attr attr = {
		.mr_iov = &kvec, .iov_count = 1, .access = FI_REMOTE_WRITE,
	};
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_ENDPOINT, &mr), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(mr, &pair->a.ep->fid, 0), 0);
	return mr;
}

/* A connection, and a region of a's endpoint, which @closer closes */
static struct fid_mr *closer_begin(struct kunit *test, struct closer *closer, struct vt_pair *pair)
{
	struct fid_mr *mr;

	ht_serve(test, NULL);
	closer_join(test, pair);
	mr = closer_mr_ep(test, pair);
	closer->fid = &mr->fid;
	return mr;
}

/*
 * The device has executed the work request of the region, which has no completion of its own.  The
 * message behind it waits for a receive, and then the connection ends.
 */
static void closer_shut(struct kunit *test, struct vt_pair *pair, struct fid_mr *mr, void *context)
{
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	vt_send(test, &pair->a, NULL, 0, context);
	fakehca_idle(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair->a.ep, 0), 0);
}

static void a_failed_operation_closes_a_region_of_its_endpoint(struct kunit *test)
{
	struct closer *closer = closer_new(test, false);
	unsigned int mapped;
	struct vt_pair pair = {};
	struct fid_mr *mr;

	ht_serve(test, NULL);
	closer_join(test, &pair);
	mapped = ht_stats(test).mapped;
	mr = closer_mr_ep(test, &pair);
	closer->fid = &mr->fid;
	closer_shut(test, &pair, mr, &closer->done);
	closer_expect(test, closer, 0);
	KUNIT_EXPECT_EQ(test, closer->err, ECANCELED);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, mapped);
}

/* With a drain under way, too, which waits for this callback */
static void a_failed_operation_closes_a_region_during_a_drain(struct kunit *test)
{
	struct closer *closer = closer_new(test, true);
	struct vt_pair pair = {};
	struct fid_mr *mr;

	mr = closer_begin(test, closer, &pair);
	closer_shut(test, &pair, mr, &closer->done);
	KUNIT_ASSERT_TRUE(test, vt_completed(&closer->entered));
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, 0), -ETIMEDOUT);
	complete(&closer->go);
	closer_expect(test, closer, 0);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, HT_PATIENCE_MS), 0);
}

/* The removal has begun, so it ends by the removal or by the close, whichever is first */
static void a_region_of_an_endpoint_closes_while_the_device_goes(struct kunit *test)
{
	struct closer *closer = closer_new(test, true);
	struct vt_pair pair = {};
	struct fid_mr *mr;

	mr = closer_begin(test, closer, &pair);
	closer_shut(test, &pair, mr, &closer->done);
	KUNIT_ASSERT_TRUE(test, vt_completed(&closer->entered));
	fakehca_remove_begin(ht_of(test)->hca);
	complete(&closer->go);
	closer_expect(test, closer, 0);
	closer_expect_removed(test);
}

#define BATCH	4

/* The endpoint's other completions are in the batch of which the first callback is called */
static void an_endpoint_does_not_close_in_the_middle_of_a_batch(struct kunit *test)
{
	struct closer *closers[BATCH];
	struct vt_pair pair = {};
	u8 *buf = ht_buf(test, 2 * BATCH * 64);
	int i;

	ht_serve(test, NULL);
	closer_join(test, &pair);
	for (i = 0; i < BATCH; i++) {
		closers[i] = closer_new(test, false);
		vt_recv(test, &pair.a, buf + i * 64, 64, &closers[i]->done);
	}
	closers[0]->fid = &pair.a.ep->fid;
	fakehca_hold(ht_of(test)->hca);
	for (i = 0; i < BATCH; i++)
		vt_send(test, &pair.b, buf + (BATCH + i) * 64, 64, vt_ctx(i));
	fakehca_release(ht_of(test)->hca);
	closer_expect(test, closers[0], -EDEADLK);
	for (i = 1; i < BATCH; i++) {
		closer_expect(test, closers[i], 0);
		KUNIT_EXPECT_EQ(test, closers[i]->err, 0);
	}
	vt_close(test, &pair.a.ep->fid);
}

/* The end of the connection has dropped the registration, so there is nothing to wait for */
static void a_region_that_waited_for_the_doorbell_closes_in_a_callback(struct kunit *test)
{
	struct closer *closer = closer_new(test, true);
	struct vt_pair pair = {};
	struct fid_mr *mr;

	mr = closer_begin(test, closer, &pair);
	closer_enter(test, &pair, closer);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	complete(&closer->go);
	closer_expect(test, closer, 0);
}

/* The poller cannot go on before the callback returns: the one close that cannot be had */
static void a_poller_does_not_wait_for_itself(struct kunit *test)
{
	struct closer *closer = closer_new(test, true), *sent = closer_new(test, false);
	struct vt_pair pair = {};
	struct fid_mr *mr;

	mr = closer_begin(test, closer, &pair);
	closer_enter(test, &pair, closer);
	closer_shut(test, &pair, mr, &sent->done);
	complete(&closer->go);
	closer_expect(test, closer, -EDEADLK);
	/* Nothing has changed */
	KUNIT_EXPECT_EQ(test, fi_close(&mr->fid), 0);
	KUNIT_ASSERT_TRUE(test, vt_completed(&sent->over));
}

static struct kunit_case close_cases[] = {
	KUNIT_CASE(a_failed_operation_closes_its_region_while_the_device_goes),
	KUNIT_CASE(a_region_closes_in_a_callback_that_the_removal_waits_for),
	KUNIT_CASE(an_endpoint_closes_in_a_callback_that_the_removal_waits_for),
	KUNIT_CASE(no_write_reaches_a_region_that_is_closed),
	KUNIT_CASE(a_failed_operation_closes_a_region_of_its_endpoint),
	KUNIT_CASE(a_failed_operation_closes_a_region_during_a_drain),
	KUNIT_CASE(a_region_of_an_endpoint_closes_while_the_device_goes),
	KUNIT_CASE(an_endpoint_does_not_close_in_the_middle_of_a_batch),
	KUNIT_CASE(a_region_that_waited_for_the_doorbell_closes_in_a_callback),
	KUNIT_CASE(a_poller_does_not_wait_for_itself),
	{}
};

struct kunit_suite kofi_hca_close_suite = {
	.name		= "kofi_hca_close",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= close_cases,
};
