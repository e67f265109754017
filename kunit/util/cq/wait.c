// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Waiting for the completion queue of all providers: sleeping readers and what ends
 * their sleep.
 *
 * "Sleeps" is checked by vt_async_waits(): the reader has not come back
 * a moment later.  What wakes it is an event, so a lost wake-up shows as a join
 * that times out.
 */
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <kofi/cq.h>
#include "../../lib/async.h"
#include "../util.h"

#define A_MOMENT_MS	20
#define FOR_EVER_MS	20000
#define NR_COMPS	256

struct wait_test {
	struct kofi_cq		cq;
	struct kofi_comp	comps[NR_COMPS];
	size_t			threshold;
	int			timeout;
	struct completion	ready;
	struct fi_cq_entry	entries[NR_COMPS];
};

static void release(struct kofi_comp *chain)
{
}

static const struct kofi_cq_ops test_ops = { .release = release };

KUNIT_DEFINE_ACTION_WRAPPER(fini_cq, kofi_cq_fini, struct kofi_cq *);

static struct wait_test *open_cq(struct kunit *test, enum fi_cq_wait_cond cond)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_UNSPEC, .wait_cond = cond };
	struct wait_test *wt = vt_buf(test, sizeof(*wt));
	int i;

	init_completion(&wt->ready);
	wt->timeout = -1;
	for (i = 0; i < NR_COMPS; i++)
		wt->comps[i].op_context = &wt->comps[i];
	KUNIT_ASSERT_EQ(test, kofi_cq_init(&wt->cq, &attr, NR_COMPS, &test_ops, wt), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fini_cq, &wt->cq), 0);
	return wt;
}

static void complete_one(struct wait_test *wt, int i)
{
	kofi_cq_complete(&wt->cq, &wt->comps[i]);
}

/* What fi_cq_sread() says; it takes all there is */
static int do_wait(void *data)
{
	struct wait_test *wt = data;

	return fi_cq_sread(&wt->cq.cq, wt->entries, NR_COMPS, &wt->threshold, wt->timeout);
}

/* Milliseconds that a wait took */
static s64 time_wait(struct wait_test *wt, int timeout, int *ret)
{
	ktime_t start = ktime_get();

	wt->timeout = timeout;
	*ret = do_wait(wt);
	return ktime_ms_delta(ktime_get(), start);
}

static void no_handler(struct fid_cq *cq, void *context)
{
}

static const struct fi_cq_attr sleepless[] = {
	{ .wait_obj = FI_WAIT_NONE },
	{ .wait_obj = FI_WAIT_CALLBACK, .handler = no_handler },
	{ .wait_obj = FI_WAIT_DONE },
};

static void queue_without_a_wait_object_is_not_slept_on(struct kunit *test)
{
	struct fi_cq_entry entry;
	struct kofi_cq *cq;
	int i;

	cq = vt_buf(test, sizeof(*cq));
	for (i = 0; i < ARRAY_SIZE(sleepless); i++) {
		KUNIT_ASSERT_EQ(test, kofi_cq_init(cq, &sleepless[i], 1, &test_ops, NULL), 0);
		KUNIT_EXPECT_EQ(test, fi_cq_sread(&cq->cq, &entry, 1, NULL, -1), -EINVAL);
		KUNIT_EXPECT_EQ(test, fi_cq_signal(&cq->cq), -EINVAL);
		kofi_cq_fini(cq);
	}
}

static void wait_ends_at_once_when_something_is_there(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, 0);

	complete_one(wt, 0);

	KUNIT_EXPECT_EQ(test, do_wait(wt), 1);
}

static void wait_without_time_does_not_sleep(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, 0);
	int ret;

	KUNIT_EXPECT_LT(test, time_wait(wt, 0, &ret), A_MOMENT_MS);
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
}

static void wait_ends_with_its_time(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, 0);
	int ret;

	KUNIT_EXPECT_GE(test, time_wait(wt, A_MOMENT_MS, &ret), A_MOMENT_MS);
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
}

static void completion_wakes_the_sleeper(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, 0);
	struct vt_async *sleeper = vt_async_start(test, do_wait, wt);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(sleeper));
	complete_one(wt, 0);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), 1);
}

static void sleeper_that_comes_too_late_sleeps_again(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, 0);
	struct vt_async *one = vt_async_start(test, do_wait, wt);
	struct vt_async *two = vt_async_start(test, do_wait, wt);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(one));
	KUNIT_EXPECT_TRUE(test, vt_async_waits(two));
	complete_one(wt, 0);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(one) || vt_async_waits(two));
	complete_one(wt, 1);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, one), 1);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, two), 1);
}

static int read_everything(void *data)
{
	struct wait_test *wt = data;
	int ret, total = 0;

	while (total < NR_COMPS) {
		ret = do_wait(wt);
		if (ret < 0)
			return ret;
		total += ret;
	}
	return total;
}

static void no_wake_up_is_lost(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, 0);
	struct vt_async *reader;
	int i;

	reader = vt_async_start(test, read_everything, wt);
	for (i = 0; i < NR_COMPS; i++) {
		complete_one(wt, i);
		cond_resched();
	}

	KUNIT_EXPECT_EQ(test, vt_async_join(test, reader), NR_COMPS);
}

static void threshold_keeps_the_sleeper_asleep(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_CQ_COND_THRESHOLD);
	struct vt_async *sleeper;

	wt->threshold = 3;
	complete_one(wt, 0);
	sleeper = vt_async_start(test, do_wait, wt);
	complete_one(wt, 1);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(sleeper));
	complete_one(wt, 2);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), 3);
}

/* The sleeper would look all the time otherwise */
static void no_threshold_is_that_of_one(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_CQ_COND_THRESHOLD);
	struct vt_async *sleeper = vt_async_start(test, do_wait, wt);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(sleeper));
	KUNIT_EXPECT_TRUE(test, wq_has_sleeper(&wt->cq.wait));
	complete_one(wt, 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), 1);
}

static void threshold_is_ignored_unless_asked_for(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_CQ_COND_NONE);

	wt->threshold = 3;
	complete_one(wt, 0);

	KUNIT_EXPECT_EQ(test, do_wait(wt), 1);
}

static void threshold_gives_way_when_time_is_up(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_CQ_COND_THRESHOLD);
	int ret;

	wt->threshold = 3;
	complete_one(wt, 0);

	KUNIT_EXPECT_GE(test, time_wait(wt, A_MOMENT_MS, &ret), A_MOMENT_MS);
	KUNIT_EXPECT_EQ(test, ret, 1);
}

static void error_ends_the_wait_below_the_threshold(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_CQ_COND_THRESHOLD);
	struct vt_async *sleeper;

	wt->threshold = 3;
	wt->comps[0].err = EIO;
	sleeper = vt_async_start(test, do_wait, wt);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(sleeper));
	complete_one(wt, 0);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), -FI_EAVAIL);
}

static bool is_error(struct kofi_comp *comp, void *owner)
{
	return comp->err;
}

static void purged_error_does_not_end_a_wait(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_CQ_COND_THRESHOLD);
	int ret;

	wt->threshold = 3;
	wt->comps[0].err = EIO;
	complete_one(wt, 0);
	kofi_cq_purge(&wt->cq, is_error, NULL);
	complete_one(wt, 1);

	KUNIT_EXPECT_GE(test, time_wait(wt, A_MOMENT_MS, &ret), A_MOMENT_MS);
	KUNIT_EXPECT_EQ(test, ret, 1);
}

static void the_end_wakes_the_sleeper(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_CQ_COND_THRESHOLD);
	struct vt_async *sleeper;

	wt->threshold = 3;
	sleeper = vt_async_start(test, do_wait, wt);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(sleeper));
	kofi_cq_end(&wt->cq, -ENODEV);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), -ENODEV);
}

static void signal_wakes_the_sleeper(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, 0);
	struct vt_async *sleeper = vt_async_start(test, do_wait, wt);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(sleeper));
	KUNIT_EXPECT_EQ(test, fi_cq_signal(&wt->cq.cq), 0);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), -EAGAIN);
}

static void signal_ends_the_next_wait_once(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, 0);
	int ret;

	KUNIT_ASSERT_EQ(test, fi_cq_signal(&wt->cq.cq), 0);

	KUNIT_EXPECT_EQ(test, do_wait(wt), -EAGAIN);
	KUNIT_EXPECT_GE(test, time_wait(wt, A_MOMENT_MS, &ret), A_MOMENT_MS);
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
}

static void signal_ends_the_wait_below_the_threshold(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_CQ_COND_THRESHOLD);
	struct vt_async *sleeper;

	wt->threshold = 3;
	complete_one(wt, 0);
	sleeper = vt_async_start(test, do_wait, wt);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(sleeper));
	KUNIT_EXPECT_EQ(test, fi_cq_signal(&wt->cq.cq), 0);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), 1);
}

static int wait_interruptibly(void *data)
{
	struct wait_test *wt = data;
	int ret;

	allow_signal(SIGUSR1);
	complete(&wt->ready);
	ret = do_wait(wt);
	flush_signals(current);
	disallow_signal(SIGUSR1);
	return ret;
}

static void task_signal_ends_the_wait(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, 0);
	struct vt_async *sleeper;

	sleeper = vt_async_start(test, wait_interruptibly, wt);
	wait_for_completion(&wt->ready);
	send_sig(SIGUSR1, sleeper->task, 1);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), -EINTR);
}

static struct kunit_case cq_wait_cases[] = {
	KUNIT_CASE(queue_without_a_wait_object_is_not_slept_on),
	KUNIT_CASE(wait_ends_at_once_when_something_is_there),
	KUNIT_CASE(wait_without_time_does_not_sleep),
	KUNIT_CASE(wait_ends_with_its_time),
	KUNIT_CASE(completion_wakes_the_sleeper),
	KUNIT_CASE(sleeper_that_comes_too_late_sleeps_again),
	KUNIT_CASE(no_wake_up_is_lost),
	KUNIT_CASE(threshold_keeps_the_sleeper_asleep),
	KUNIT_CASE(no_threshold_is_that_of_one),
	KUNIT_CASE(threshold_is_ignored_unless_asked_for),
	KUNIT_CASE(threshold_gives_way_when_time_is_up),
	KUNIT_CASE(error_ends_the_wait_below_the_threshold),
	KUNIT_CASE(purged_error_does_not_end_a_wait),
	KUNIT_CASE(the_end_wakes_the_sleeper),
	KUNIT_CASE(signal_wakes_the_sleeper),
	KUNIT_CASE(signal_ends_the_next_wait_once),
	KUNIT_CASE(signal_ends_the_wait_below_the_threshold),
	KUNIT_CASE(task_signal_ends_the_wait),
	{}
};

static struct kunit_suite cq_wait_suite = {
	.name = "kofi_util_cq_wait",
	.test_cases = cq_wait_cases,
};

kunit_test_suite(cq_wait_suite);
