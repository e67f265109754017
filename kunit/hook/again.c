// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_hook_again: each -EAGAIN of ofi_hook_fault is followed by the promised call, once,
 * in the context of the queue, so that a client cannot spin.
 */
#include <linux/delay.h>
#include "bed.h"
#include "hook.h"

#define LEN	8

static void check_send(struct kunit *test, const struct vt_kind *kind)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair;
	struct bed_ep *ep = bed_join(test, &pair, kind);
	int i;

	bed_rules(test, "send again times=2");
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	for (i = 1; i <= 2; i++) {
		KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), -EAGAIN);
		bed_ready(test, &pair, ep, i);
		KUNIT_EXPECT_EQ(test, ep->dir, FI_TRANSMIT);
		KUNIT_EXPECT_EQ(test, ep->in_task, kind->comp_ctx != FI_COMP_SOFTIRQ);
	}
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), 0);
	bed_completed(test, &pair, ep, 1);
	vt_done(test, pair.b.rx, vt_ctx(1));
	vt_pair_close(test, &pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&ep->calls), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&ep->failed), 0);
}

static void a_refused_send_is_followed_by_one_call(struct kunit *test)
{
	int i;

	bed_open(test, BED_FAULT, FI_MSG);
	for (i = 0; i < BED_KINDS; i++)
		check_send(test, &bed_kinds[i]);
}

static void a_refused_receive_is_followed_by_one_call(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair;
	struct bed_ep *ep;
	int i;

	bed_open(test, BED_FAULT, FI_MSG);
	for (i = 0; i < BED_KINDS; i++) {
		ep = bed_join(test, &pair, &bed_kinds[i]);
		bed_rules(test, "rx again times=1");
		KUNIT_EXPECT_EQ(test, fi_recv(pair.a.ep, buf, LEN, NULL, 0, &ep->done), -EAGAIN);
		bed_ready(test, &pair, ep, 1);
		KUNIT_EXPECT_EQ(test, ep->dir, FI_RECV);
		KUNIT_EXPECT_EQ(test, fi_recv(pair.a.ep, buf, LEN, NULL, 0, &ep->done), 0);
		vt_pair_close(test, &pair);
		KUNIT_EXPECT_EQ(test, atomic_read(&ep->calls), 1);
	}
}

/* On a queue that is direct, nobody is called before its client reads */
static void until_the_call_comes_all_of_the_direction_is_refused(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair;
	struct bed_ep *ep;
	int i;

	bed_open(test, BED_FAULT, FI_MSG);
	ep = bed_join(test, &pair, &bed_kinds[2]);
	bed_rules(test, "send again times=1");
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, buf, LEN, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.a.ep, buf, LEN, NULL, 0, &ep->done), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&ep->calls), 0);
	bed_ready(test, &pair, ep, 1);
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), 0);
	bed_completed(test, &pair, ep, 1);
}

/* The provider below is full, has its own reason to call, and does so when there is room */
static void a_queue_that_is_full_anyway_calls_once(struct kunit *test)
{
	struct fi_info *info = bed_info(test, BED_FAULT, FI_MSG);
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair;
	struct bed_ep *ep;
	ssize_t ret;
	int n = 0;

	info->tx_attr->size = 4;
	vt_open_info(test, info);
	vt_listen(test, vt_eq(test, 0));
	ep = bed_join(test, &pair, &bed_kinds[0]);
	while (!(ret = fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done)))
		n++;
	KUNIT_ASSERT_EQ(test, ret, -EAGAIN);
	bed_rules(test, "send again");
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), -EAGAIN);
	KUNIT_EXPECT_EQ(test, bed_write("rules", "clear"), 0);
	/* That something does not happen is no event to wait for */
	msleep(20);
	KUNIT_EXPECT_EQ(test, atomic_read(&ep->calls), 0);
	while (n--) {
		vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
		vt_done(test, pair.b.rx, vt_ctx(1));
	}
	bed_ready(test, &pair, ep, 1);
	/* That provider has called, so the hook refuses calls again */
	bed_rules(test, "send again times=1");
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), -EAGAIN);
	bed_ready(test, &pair, ep, 2);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), 0);
	vt_pair_close(test, &pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&ep->calls), 2);
}

static void a_client_without_a_callback_tries_again_by_itself(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};

	bed_open(test, BED_FAULT, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	bed_rules(test, "send again every=2");
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(3)), 0);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(4)), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(5)), 0);
	vt_done(test, pair.a.tx, vt_ctx(3));
	vt_done(test, pair.a.tx, vt_ctx(5));
	vt_done(test, pair.b.rx, vt_ctx(1));
	vt_done(test, pair.b.rx, vt_ctx(2));
}

/* Where a close makes no calls that are due, as it does with FI_WAIT_DONE, none may be left */
static void nobody_is_called_after_close(struct kunit *test)
{
	static const struct vt_kind poll = {
		"poll", FI_WAIT_NONE, FI_COMP_DIRECT, FI_CQ_FORMAT_DATA,
	};
	struct fi_cq_data_entry entry;
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair;
	struct bed_ep *ep;
	int calls, i;

	bed_open(test, BED_FAULT, FI_MSG);
	bed_rules(test, "any again");
	for (i = 0; i <= BED_KINDS; i++) {
		ep = bed_join(test, &pair, i < BED_KINDS ? &bed_kinds[i] : &poll);
		KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), -EAGAIN);
		KUNIT_EXPECT_EQ(test, fi_recv(pair.a.ep, buf, LEN, NULL, 0, &ep->done), -EAGAIN);
		vt_close(test, &pair.a.ep->fid);
		calls = atomic_read(&ep->calls);
		/* That something does not happen is no event to wait for */
		msleep(20);
		if (pair.a.tx->kind->comp_ctx == FI_COMP_DIRECT)
			fi_cq_read(pair.a.tx->cq, &entry, 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&ep->calls), calls);
		vt_close(test, &pair.a.tx->cq->fid);
		vt_close(test, &pair.b.ep->fid);
	}
}

static struct bed_ep *closer;
static struct fid_ep *closer_ep;
static int closer_ret;

static void close_here(struct fid_ep *ep, u64 flags)
{
	closer_ret = fi_close(&closer_ep->fid);
	atomic_inc(&closer->calls);
	wake_up(&closer->wait);
}

/* The endpoint stays, and so does what it owes its client */
static void an_endpoint_does_not_close_in_its_own_callback(struct kunit *test)
{
	static const struct fi_ep_callbacks callbacks = { .ready = close_here };
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};

	bed_open(test, BED_FAULT, FI_MSG);
	closer = vt_buf(test, sizeof(*closer));
	init_waitqueue_head(&closer->wait);
	pair.a.tx = vt_cq(test, &bed_kinds[1], 2 * vt_of(test)->info->tx_attr->size +
			  2 * vt_of(test)->info->rx_attr->size);
	pair.a.callbacks = &callbacks;
	vt_join(test, &pair, &vt_default_kind);
	closer_ep = pair.a.ep;
	bed_rules(test, "send again times=2");
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, NULL), -EAGAIN);
	bed_ready(test, &pair, closer, 1);
	KUNIT_EXPECT_EQ(test, closer_ret, -EDEADLK);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, NULL), -EAGAIN);
	bed_ready(test, &pair, closer, 2);
}

/* The provider below refuses to close: what was due before is due still */
static void an_endpoint_that_stays_open_calls_as_before(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair;
	struct bed_ep *ep;
	int i;

	bed_open(test, "loop;ofi_hook_count;ofi_hook_fault", FI_MSG);
	for (i = 0; i < BED_KINDS; i++) {
		ep = bed_join(test, &pair, &bed_kinds[i]);
		bed_rules(test, "send again times=2");
		KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), -EAGAIN);
		hook_refuse_close(-EBUSY);
		KUNIT_EXPECT_EQ(test, fi_close(&pair.a.ep->fid), -EBUSY);
		bed_ready(test, &pair, ep, 1);
		KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), -EAGAIN);
		bed_ready(test, &pair, ep, 2);
		vt_recv(test, &pair.b, buf, LEN, vt_ctx(2));
		KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), 0);
		bed_completed(test, &pair, ep, 1);
		vt_done(test, pair.b.rx, vt_ctx(2));
		vt_close(test, &pair.a.ep->fid);
		hook_refuse_close(-EBUSY);
		KUNIT_EXPECT_EQ(test, fi_close(&pair.a.tx->cq->fid), -EBUSY);
		vt_close(test, &pair.a.tx->cq->fid);
		vt_close(test, &pair.b.ep->fid);
	}
}

static void shared_ready(struct fid_ep *srx, u64 flags)
{
	struct bed_ep *ep = srx->fid.context;

	ep->dir = flags;
	ep->in_task = in_task() && current->flags & PF_WQ_WORKER;
	atomic_inc(&ep->calls);
	wake_up(&ep->wait);
}

static void a_shared_receive_context_calls_from_a_worker(struct kunit *test)
{
	static const struct fi_ep_callbacks callbacks = { .ready = shared_ready };
	struct bed_ep *ep = vt_buf(test, sizeof(*ep));
	struct fid_ep *srx;
	u8 *buf = vt_buf(test, LEN);

	bed_open(test, BED_FAULT, FI_MSG);
	init_waitqueue_head(&ep->wait);
	KUNIT_ASSERT_EQ(test, fi_srx_context(vt_of(test)->domain, vt_of(test)->info->rx_attr, &srx,
					     ep), 0);
	vt_adopt(test, &srx->fid);
	KUNIT_ASSERT_EQ(test, fi_setopt(&srx->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, &callbacks,
					sizeof(callbacks)), 0);
	bed_rules(test, "recv again times=1");
	KUNIT_EXPECT_EQ(test, fi_recv(srx, buf, LEN, NULL, 0, NULL), -EAGAIN);
	wait_event_timeout(ep->wait, atomic_read(&ep->calls), msecs_to_jiffies(VT_PATIENCE_MS));
	KUNIT_EXPECT_EQ(test, atomic_read(&ep->calls), 1);
	KUNIT_EXPECT_EQ(test, ep->dir, FI_RECV);
	KUNIT_EXPECT_TRUE(test, ep->in_task);
	KUNIT_EXPECT_EQ(test, fi_recv(srx, buf, LEN, NULL, 0, NULL), 0);

	/* The close waits for the worker, or cancels it */
	bed_rules(test, "recv again times=1");
	KUNIT_EXPECT_EQ(test, fi_recv(srx, buf, LEN, NULL, 0, NULL), -EAGAIN);
	vt_close(test, &srx->fid);
}

static struct kunit_case again_cases[] = {
	KUNIT_CASE(a_refused_send_is_followed_by_one_call),
	KUNIT_CASE(a_refused_receive_is_followed_by_one_call),
	KUNIT_CASE(until_the_call_comes_all_of_the_direction_is_refused),
	KUNIT_CASE(a_queue_that_is_full_anyway_calls_once),
	KUNIT_CASE(a_client_without_a_callback_tries_again_by_itself),
	KUNIT_CASE(nobody_is_called_after_close),
	KUNIT_CASE(an_endpoint_does_not_close_in_its_own_callback),
	KUNIT_CASE(an_endpoint_that_stays_open_calls_as_before),
	KUNIT_CASE(a_shared_receive_context_calls_from_a_worker),
	{}
};

static struct kunit_suite again_suite = {
	.name		= "kofi_hook_again",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= again_cases,
};

kunit_test_suite(again_suite);
