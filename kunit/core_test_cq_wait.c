// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Waiting for the shared completion queue: sleeping readers, what ends their
 * sleep, and handlers.
 *
 * "Sleeps" is checked by core_async_waits(): the reader has not come back
 * a moment later.  What wakes it is an event, so a lost wake-up shows as a join
 * that times out.
 */
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <kofi/cq.h>
#include "core_test.h"

#define A_MOMENT_MS	20
#define FOR_EVER_MS	20000
#define NR_COMPS	256

struct wait_test {
	struct kofi_cq		cq;
	struct kofi_comp	comps[NR_COMPS];
	size_t			threshold;
	int			timeout;
	struct completion	ready;
	struct completion	entered;
	struct completion	leave;
	bool			hold;
	atomic_t		inside;
	atomic_t		calls;
	atomic_t		overlaps;
	atomic_t		seen;
};

static struct wait_test *wait_test(struct kunit *test)
{
	struct wait_test *wt = kunit_kzalloc(test, sizeof(*wt), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, wt);
	init_completion(&wt->ready);
	init_completion(&wt->entered);
	init_completion(&wt->leave);
	wt->timeout = -1;
	for (i = 0; i < NR_COMPS; i++)
		wt->comps[i].op_context = &wt->comps[i];
	return wt;
}

static struct wait_test *open_cq(struct kunit *test, enum fi_wait_obj wait_obj,
				 enum fi_cq_wait_cond cond)
{
	struct fi_cq_attr attr = { .wait_obj = wait_obj, .wait_cond = cond };
	struct wait_test *wt = wait_test(test);

	KUNIT_ASSERT_EQ(test, kofi_cq_init(&wt->cq, &attr, NR_COMPS, wt), 0);
	return wt;
}

static void complete_one(struct wait_test *wt, int i)
{
	kofi_cq_complete(&wt->cq, &wt->comps[i]);
}

static ssize_t read_some(struct wait_test *wt, size_t count)
{
	struct fi_cq_entry entries[8];
	struct kofi_comp *chain;
	ssize_t ret;

	spin_lock_irq(&wt->cq.lock);
	ret = kofi_cq_read(&wt->cq, entries, count, &chain);
	spin_unlock_irq(&wt->cq.lock);
	return ret;
}

static ssize_t read_all(struct wait_test *wt)
{
	ssize_t ret, total = 0;

	while ((ret = read_some(wt, 8)) > 0)
		total += ret;
	return total;
}

static int do_wait(void *data)
{
	struct wait_test *wt = data;

	return kofi_cq_wait(&wt->cq, &wt->threshold, wt->timeout);
}

/* Milliseconds that a wait took */
static s64 time_wait(struct wait_test *wt, int timeout, int *ret)
{
	ktime_t start = ktime_get();

	wt->timeout = timeout;
	*ret = do_wait(wt);
	return ktime_ms_delta(ktime_get(), start);
}

static const enum fi_wait_obj sleepless[] = { FI_WAIT_NONE, FI_WAIT_CALLBACK };

static void no_handler(struct fid_cq *cq, void *context)
{
}

static void queue_without_a_wait_object_is_not_slept_on(struct kunit *test)
{
	struct fi_cq_attr attr = {};
	struct wait_test *wt = wait_test(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(sleepless); i++) {
		attr.wait_obj = sleepless[i];
		attr.handler = i ? no_handler : NULL;
		KUNIT_ASSERT_EQ(test, kofi_cq_init(&wt->cq, &attr, 1, wt), 0);
		KUNIT_EXPECT_EQ(test, kofi_cq_wait(&wt->cq, NULL, -1), -EINVAL);
		KUNIT_EXPECT_EQ(test, kofi_cq_signal(&wt->cq.cq), -EINVAL);
	}
}

static void wait_ends_at_once_when_something_is_there(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC, 0);

	complete_one(wt, 0);

	KUNIT_EXPECT_EQ(test, kofi_cq_wait(&wt->cq, NULL, -1), 0);
	KUNIT_EXPECT_EQ(test, read_all(wt), 1);
}

static void wait_without_time_does_not_sleep(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC, 0);

	KUNIT_EXPECT_EQ(test, kofi_cq_wait(&wt->cq, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, read_all(wt), 0);
}

static void wait_ends_with_its_time(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC, 0);
	int ret;

	KUNIT_EXPECT_GE(test, time_wait(wt, A_MOMENT_MS, &ret), A_MOMENT_MS);
	KUNIT_EXPECT_EQ(test, ret, 0);
}

static void completion_wakes_the_sleeper(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC, 0);
	struct core_async *sleeper = core_async_start(test, do_wait, wt);

	KUNIT_EXPECT_TRUE(test, core_async_waits(sleeper));
	complete_one(wt, 0);

	KUNIT_EXPECT_EQ(test, core_async_join(test, sleeper), 0);
	KUNIT_EXPECT_EQ(test, read_all(wt), 1);
}

static int read_everything(void *data)
{
	struct wait_test *wt = data;
	int err, total = 0;

	while (total < NR_COMPS) {
		err = kofi_cq_wait(&wt->cq, NULL, FOR_EVER_MS);
		if (err)
			return err;
		total += read_all(wt);
	}
	return total;
}

static void no_wake_up_is_lost(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC, 0);
	struct core_async *reader;
	int i;

	reader = core_async_start(test, read_everything, wt);
	for (i = 0; i < NR_COMPS; i++) {
		complete_one(wt, i);
		cond_resched();
	}

	KUNIT_EXPECT_EQ(test, core_async_join(test, reader), NR_COMPS);
}

static void threshold_keeps_the_sleeper_asleep(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC,
				       FI_CQ_COND_THRESHOLD);
	struct core_async *sleeper;

	wt->threshold = 3;
	complete_one(wt, 0);
	sleeper = core_async_start(test, do_wait, wt);
	complete_one(wt, 1);
	KUNIT_EXPECT_TRUE(test, core_async_waits(sleeper));
	complete_one(wt, 2);

	KUNIT_EXPECT_EQ(test, core_async_join(test, sleeper), 0);
	KUNIT_EXPECT_EQ(test, read_all(wt), 3);
}

static void threshold_is_ignored_unless_asked_for(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC, FI_CQ_COND_NONE);
	int ret;

	wt->threshold = 3;
	complete_one(wt, 0);

	KUNIT_EXPECT_LT(test, time_wait(wt, FOR_EVER_MS, &ret), FOR_EVER_MS);
	KUNIT_EXPECT_EQ(test, ret, 0);
}

static void threshold_gives_way_when_time_is_up(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC,
				       FI_CQ_COND_THRESHOLD);
	int ret;

	wt->threshold = 3;
	complete_one(wt, 0);

	KUNIT_EXPECT_GE(test, time_wait(wt, A_MOMENT_MS, &ret), A_MOMENT_MS);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, read_all(wt), 1);
}

static void error_ends_the_wait_below_the_threshold(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC,
				       FI_CQ_COND_THRESHOLD);
	struct core_async *sleeper;

	wt->threshold = 3;
	wt->comps[0].err = EIO;
	sleeper = core_async_start(test, do_wait, wt);
	KUNIT_EXPECT_TRUE(test, core_async_waits(sleeper));
	complete_one(wt, 0);

	KUNIT_EXPECT_EQ(test, core_async_join(test, sleeper), 0);
}

static bool is_error(struct kofi_comp *comp, void *owner)
{
	return comp->err;
}

static void purged_error_does_not_end_a_wait(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC,
				       FI_CQ_COND_THRESHOLD);
	int ret;

	wt->threshold = 3;
	wt->comps[0].err = EIO;
	complete_one(wt, 0);
	KUNIT_ASSERT_NOT_NULL(test, kofi_cq_purge(&wt->cq, is_error, NULL));
	complete_one(wt, 1);

	KUNIT_EXPECT_GE(test, time_wait(wt, A_MOMENT_MS, &ret), A_MOMENT_MS);
}

static void signal_wakes_the_sleeper(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC, 0);
	struct core_async *sleeper = core_async_start(test, do_wait, wt);

	KUNIT_EXPECT_TRUE(test, core_async_waits(sleeper));
	KUNIT_EXPECT_EQ(test, kofi_cq_signal(&wt->cq.cq), 0);

	KUNIT_EXPECT_EQ(test, core_async_join(test, sleeper), -EAGAIN);
}

static void signal_ends_the_next_wait_once(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC, 0);
	int ret;

	KUNIT_ASSERT_EQ(test, kofi_cq_signal(&wt->cq.cq), 0);

	KUNIT_EXPECT_LT(test, time_wait(wt, FOR_EVER_MS, &ret), FOR_EVER_MS);
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	KUNIT_EXPECT_GE(test, time_wait(wt, A_MOMENT_MS, &ret), A_MOMENT_MS);
	KUNIT_EXPECT_EQ(test, ret, 0);
}

static void signal_ends_the_wait_below_the_threshold(struct kunit *test)
{
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC,
				       FI_CQ_COND_THRESHOLD);
	struct core_async *sleeper;

	wt->threshold = 3;
	complete_one(wt, 0);
	sleeper = core_async_start(test, do_wait, wt);
	KUNIT_EXPECT_TRUE(test, core_async_waits(sleeper));
	KUNIT_EXPECT_EQ(test, kofi_cq_signal(&wt->cq.cq), 0);

	KUNIT_EXPECT_EQ(test, core_async_join(test, sleeper), 0);
	KUNIT_EXPECT_EQ(test, read_all(wt), 1);
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
	struct wait_test *wt = open_cq(test, FI_WAIT_UNSPEC, 0);
	struct core_async *sleeper;

	sleeper = core_async_start(test, wait_interruptibly, wt);
	wait_for_completion(&wt->ready);
	send_sig(SIGUSR1, sleeper->task, 1);

	KUNIT_EXPECT_EQ(test, core_async_join(test, sleeper), -EINTR);
}

/* A handler that reads everything, and on demand stays a while */
static void cq_handler(struct fid_cq *cq, void *context)
{
	struct wait_test *wt = context;

	if (atomic_inc_return(&wt->inside) > 1)
		atomic_inc(&wt->overlaps);
	atomic_inc(&wt->calls);
	atomic_add(read_all(wt), &wt->seen);
	if (xchg(&wt->hold, false)) {
		complete(&wt->entered);
		wait_for_completion(&wt->leave);
	}
	atomic_dec(&wt->inside);
}

/* A handler that leaves reading to somebody else */
static void lazy_handler(struct fid_cq *cq, void *context)
{
	struct wait_test *wt = context;

	atomic_inc(&wt->calls);
}

static struct wait_test *open_handled(struct kunit *test,
				      void (*handler)(struct fid_cq *cq,
						      void *context))
{
	struct fi_cq_attr attr = {
		.wait_obj = FI_WAIT_CALLBACK,
		.handler = handler,
	};
	struct wait_test *wt = wait_test(test);

	KUNIT_ASSERT_EQ(test, kofi_cq_init(&wt->cq, &attr, NR_COMPS, wt), 0);
	return wt;
}

static void handler_is_called_for_the_first_completion(struct kunit *test)
{
	struct wait_test *wt = open_handled(test, lazy_handler);

	KUNIT_EXPECT_EQ(test, atomic_read(&wt->calls), 0);
	complete_one(wt, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->calls), 1);
}

static void handler_is_not_called_before_the_queue_was_empty(struct kunit *test)
{
	struct wait_test *wt = open_handled(test, lazy_handler);

	complete_one(wt, 0);
	complete_one(wt, 1);
	KUNIT_EXPECT_EQ(test, read_some(wt, 1), 1);
	complete_one(wt, 2);

	KUNIT_EXPECT_EQ(test, atomic_read(&wt->calls), 1);
}

static void handler_is_called_again_after_an_empty_read(struct kunit *test)
{
	struct wait_test *wt = open_handled(test, lazy_handler);

	complete_one(wt, 0);
	KUNIT_EXPECT_EQ(test, read_all(wt), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->calls), 1);
	complete_one(wt, 0);

	KUNIT_EXPECT_EQ(test, atomic_read(&wt->calls), 2);
}

static void handler_may_read_the_queue(struct kunit *test)
{
	struct wait_test *wt = open_handled(test, cq_handler);

	complete_one(wt, 0);
	complete_one(wt, 1);

	KUNIT_EXPECT_EQ(test, atomic_read(&wt->seen), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->calls), 2);
}

static int complete_first(void *data)
{
	complete_one(data, 0);
	return 0;
}

static void handler_never_runs_twice_at_once(struct kunit *test)
{
	struct wait_test *wt = open_handled(test, cq_handler);
	struct core_async *other;

	wt->hold = true;
	other = core_async_start(test, complete_first, wt);
	wait_for_completion(&wt->entered);

	complete_one(wt, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->overlaps), 0);

	complete(&wt->leave);
	KUNIT_EXPECT_EQ(test, core_async_join(test, other), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->seen), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->overlaps), 0);
}

static int complete_half(void *data)
{
	int i;

	for (i = 0; i < NR_COMPS / 2; i++) {
		complete_one(data, i);
		cond_resched();
	}
	return 0;
}

static void handler_sees_every_completion(struct kunit *test)
{
	struct wait_test *wt = open_handled(test, cq_handler);
	struct core_async *other;
	int i;

	other = core_async_start(test, complete_half, wt);
	for (i = NR_COMPS / 2; i < NR_COMPS; i++) {
		complete_one(wt, i);
		cond_resched();
	}

	KUNIT_EXPECT_EQ(test, core_async_join(test, other), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->seen), NR_COMPS);
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->overlaps), 0);
}

static struct kunit_case cq_wait_cases[] = {
	KUNIT_CASE(queue_without_a_wait_object_is_not_slept_on),
	KUNIT_CASE(wait_ends_at_once_when_something_is_there),
	KUNIT_CASE(wait_without_time_does_not_sleep),
	KUNIT_CASE(wait_ends_with_its_time),
	KUNIT_CASE(completion_wakes_the_sleeper),
	KUNIT_CASE(no_wake_up_is_lost),
	KUNIT_CASE(threshold_keeps_the_sleeper_asleep),
	KUNIT_CASE(threshold_is_ignored_unless_asked_for),
	KUNIT_CASE(threshold_gives_way_when_time_is_up),
	KUNIT_CASE(error_ends_the_wait_below_the_threshold),
	KUNIT_CASE(purged_error_does_not_end_a_wait),
	KUNIT_CASE(signal_wakes_the_sleeper),
	KUNIT_CASE(signal_ends_the_next_wait_once),
	KUNIT_CASE(signal_ends_the_wait_below_the_threshold),
	KUNIT_CASE(task_signal_ends_the_wait),
	KUNIT_CASE(handler_is_called_for_the_first_completion),
	KUNIT_CASE(handler_is_not_called_before_the_queue_was_empty),
	KUNIT_CASE(handler_is_called_again_after_an_empty_read),
	KUNIT_CASE(handler_may_read_the_queue),
	KUNIT_CASE(handler_never_runs_twice_at_once),
	KUNIT_CASE(handler_sees_every_completion),
	{}
};

struct kunit_suite kofi_cq_wait_suite = {
	.name = "kofi_cq_wait",
	.init = core_init,
	.exit = core_exit,
	.test_cases = cq_wait_cases,
};
