// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A queue whose device the core polls: batches, their order, and what a callback may wait for.
 */
#include <linux/bottom_half.h>
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <kofi/stat.h>
#include "cq.h"

static const enum fi_wait_obj read_kinds[] = { FI_WAIT_NONE, FI_WAIT_UNSPEC };

static void ut_cq_expect_order(struct kunit *test, struct ut_cq *uc, int count)
{
	int i;

	ut_cq_await(test, uc, count);
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ(test, uc->order[i], i);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->overlaps), 0);
}

static void successes_are_called_by_the_poller_in_order(struct kunit *test)
{
	struct ut_cq *uc;
	int k;

	for (k = 0; k < UT_CQ_CONTEXTS; k++) {
		uc = ut_cq_open_polled(test, FI_WAIT_DONE, ut_cq_contexts[k]);
		ut_cq_device(uc, 0, 100);
		ut_cq_expect_order(test, uc, 100);
		KUNIT_EXPECT_EQ(test, uc->softirq, !k);
		KUNIT_EXPECT_PTR_EQ(test, uc->task, uc->poller);
		KUNIT_EXPECT_TRUE(test, uc->ops[0].released_before);
		KUNIT_EXPECT_NULL(test, uc->ops[0].entry.msg);
		/* Once for each 16, and once more */
		KUNIT_EXPECT_LE(test, uc->polls, 100 / KOFI_CQ_POLL + 2);
	}
}

static void absent_callbacks_are_ignored(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_DONE, FI_COMP_WORKQUEUE);

	uc->ops[0].comp.comp.op_context = NULL;
	uc->ops[1].done.done = NULL;
	ut_cq_device(uc, 0, 3);
	ut_cq_await(test, uc, 1);
	KUNIT_EXPECT_TRUE(test, uc->ops[0].released);
	KUNIT_EXPECT_TRUE(test, uc->ops[1].released);
	KUNIT_EXPECT_EQ(test, uc->order[0], 2);
}

/* The callback may close what the operation used, which may wait for the poller */
static void a_failure_is_not_called_by_the_worker_that_polls(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_DONE, FI_COMP_WORKQUEUE);

	ut_cq_device(uc, 0, 1);
	ut_cq_await(test, uc, 1);
	KUNIT_EXPECT_EQ(test, uc->may_close, -EDEADLK);
	KUNIT_EXPECT_EQ(test, uc->may_wait, -EDEADLK);
	uc->ops[2].comp.comp.err = EIO;
	ut_cq_device(uc, 1, 2);
	ut_cq_await(test, uc, 2);
	KUNIT_EXPECT_EQ(test, uc->order[2], 2);
	KUNIT_EXPECT_EQ(test, uc->may_close, -EDEADLK);
	KUNIT_EXPECT_EQ(test, uc->may_wait, 0);
	KUNIT_EXPECT_EQ(test, kofi_cq_may_wait(&uc->cq, KOFI_CQ_WAIT_POLLER), 0);
}

/* A close in this callback waits until the device has reported something */
static void the_device_is_polled_beside_the_callback_of_a_failure(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_DONE, FI_COMP_WORKQUEUE);
	int polls;

	uc->ops[0].comp.comp.err = EIO;
	uc->hold = true;
	ut_cq_device(uc, 0, 1);
	wait_for_completion(&uc->entered);
	flush_work(&uc->cq.poll_work);
	polls = uc->polls;
	ut_cq_device(uc, 1, 3);
	flush_work(&uc->cq.poll_work);
	KUNIT_EXPECT_GT(test, uc->polls, polls);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 0);
	complete(&uc->leave);
	ut_cq_expect_order(test, uc, 4);
}

static void a_reader_of_callbacks_may_wait_for_the_poller(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_DONE, FI_COMP_DIRECT);

	ut_cq_device(uc, 0, 1);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 1), 1);
	KUNIT_EXPECT_EQ(test, uc->may_wait, 0);
	KUNIT_EXPECT_EQ(test, uc->may_close, -EDEADLK);
}

/* Each of the two ways in is used; what came first is called first */
static void a_batch_does_not_overtake_the_list(struct kunit *test)
{
	struct ut_cq *uc;
	int k;

	for (k = 0; k < UT_CQ_CONTEXTS; k++) {
		uc = ut_cq_open_polled(test, FI_WAIT_DONE, ut_cq_contexts[k]);
		local_bh_disable();
		ut_cq_complete(uc, 0);
		ut_cq_complete(uc, 1);
		local_bh_enable();
		ut_cq_device(uc, 2, 20);
		ut_cq_expect_order(test, uc, 22);
	}
}

static void a_run_waits_for_the_callbacks_of_a_batch(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_DONE, FI_COMP_WORKQUEUE);

	uc->hold = true;
	ut_cq_device(uc, 0, 3);
	wait_for_completion(&uc->entered);
	ut_cq_complete(uc, 3);
	/* The worker has been there, and has gone away again */
	flush_work(&uc->cq.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 0);
	complete(&uc->leave);
	ut_cq_expect_order(test, uc, 4);
}

static bool keep_nothing(struct kofi_cq_tap *tap, struct kofi_comp *comp)
{
	comp->data = 7;
	return false;
}

static void a_tap_sees_what_is_polled(struct kunit *test)
{
	static struct kofi_cq_tap tap = { .complete = keep_nothing };
	struct fi_cq_tagged_entry entry[2] = {};
	struct ut_cq *uc;
	int k;

	for (k = 0; k < UT_CQ_CONTEXTS; k++) {
		uc = ut_cq_open_polled(test, FI_WAIT_DONE, ut_cq_contexts[k]);
		tap.next = ERR_PTR(-EFAULT);
		kofi_cq_add_tap(&uc->cq, &tap);
		ut_cq_device(uc, 0, 20);
		ut_cq_expect_order(test, uc, 20);
		KUNIT_EXPECT_EQ(test, uc->ops[19].entry.data, 7ULL);
	}
	uc = ut_cq_open_polled(test, FI_WAIT_NONE, FI_COMP_SOFTIRQ);
	kofi_cq_add_tap(&uc->cq, &tap);
	ut_cq_device(uc, 0, 1);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, entry, 2), 1);
	KUNIT_EXPECT_EQ(test, uc->ops[0].comp.comp.data, 7ULL);
}

/* The device reports nothing that came between the last poll and the moment at which it is armed */
static void a_completion_before_the_device_is_armed_is_not_lost(struct kunit *test)
{
	struct ut_cq *uc;
	int k;

	for (k = 0; k < UT_CQ_CONTEXTS; k++) {
		uc = ut_cq_open_polled(test, FI_WAIT_DONE, ut_cq_contexts[k]);
		uc->late = 1;
		ut_cq_device(uc, 0, 1);
		ut_cq_expect_order(test, uc, 2);
		ut_cq_device(uc, 2, 1);
		ut_cq_await(test, uc, 1);
		KUNIT_EXPECT_EQ(test, uc->arms, 3);
	}
}

struct waker {
	struct wait_queue_entry	entry;
	int			wakes;
};

static int count_wakes(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	container_of(entry, struct waker, entry)->wakes++;
	return 0;
}

static void a_batch_wakes_sleepers_once(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_UNSPEC, FI_COMP_SOFTIRQ);
	struct fi_cq_entry entries[KOFI_CQ_POLL];
	struct waker waker = {};
	int i;

	init_waitqueue_func_entry(&waker.entry, count_wakes);
	add_wait_queue(&uc->cq.wait, &waker.entry);
	local_bh_disable();
	ut_cq_device(uc, 0, KOFI_CQ_POLL);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, fi_cq_sread(&uc->cq.cq, entries, KOFI_CQ_POLL, NULL, 20000),
			KOFI_CQ_POLL);
	remove_wait_queue(&uc->cq.wait, &waker.entry);
	KUNIT_EXPECT_EQ(test, waker.wakes, 1);
	for (i = 0; i < KOFI_CQ_POLL; i++)
		KUNIT_EXPECT_PTR_EQ(test, entries[i].op_context, (void *)&uc->ops[i].done);
}

static void readers_get_what_is_polled_in_order(struct kunit *test)
{
	struct fi_cq_entry entries[40];
	struct ut_cq *uc;
	ssize_t ret;
	int i, k, n;

	for (k = 0; k < ARRAY_SIZE(read_kinds); k++) {
		uc = ut_cq_open_polled(test, read_kinds[k], FI_COMP_SOFTIRQ);
		ut_cq_device(uc, 0, 100);
		for (n = 0; n < 100; n += ret) {
			ret = fi_cq_read(&uc->cq.cq, entries, 40);
			if (ret == -EAGAIN && read_kinds[k] == FI_WAIT_UNSPEC)
				ret = fi_cq_sread(&uc->cq.cq, entries, 40, NULL, 20000);
			KUNIT_ASSERT_GT(test, ret, 0);
			for (i = 0; i < ret; i++)
				KUNIT_EXPECT_PTR_EQ(test, entries[i].op_context,
						    (void *)&uc->ops[n + i].done);
		}
		KUNIT_EXPECT_TRUE(test, uc->ops[99].released);
		KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, entries, 40), -EAGAIN);
	}
}

static void a_reader_stops_in_front_of_an_error_that_it_polls(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_NONE, FI_COMP_SOFTIRQ);
	struct fi_cq_err_entry error = {};
	struct fi_cq_entry entries[8];

	uc->ops[2].comp.comp.err = EIO;
	ut_cq_device(uc, 0, 5);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, entries, 8), 2);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, entries, 8), -FI_EAVAIL);
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(&uc->cq.cq, &error, 0), 1);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, entries, 8), 2);
	KUNIT_EXPECT_PTR_EQ(test, entries[1].op_context, (void *)&uc->ops[4].done);
}

/* A task that drains something waits for the device, and there may be no reader */
static void a_watched_queue_needs_no_reader(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_NONE, FI_COMP_SOFTIRQ);
	struct fi_cq_entry entries[8];
	int arms;

	kofi_cq_watch(&uc->cq);
	flush_work(&uc->cq.poll_work);
	KUNIT_EXPECT_EQ(test, uc->arms, 1);
	ut_cq_device(uc, 0, 3);
	flush_work(&uc->cq.poll_work);
	KUNIT_EXPECT_EQ(test, uc->dev_tail, 3);
	/* What comes later comes behind */
	ut_cq_device(uc, 3, 1);
	kofi_cq_unwatch(&uc->cq);
	flush_work(&uc->cq.poll_work);
	arms = uc->arms;
	ut_cq_device(uc, 4, 1);
	flush_work(&uc->cq.poll_work);
	KUNIT_EXPECT_EQ(test, uc->arms, arms);
	KUNIT_EXPECT_EQ(test, uc->polls, 3);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, entries, 8), 4);
	KUNIT_EXPECT_PTR_EQ(test, entries[3].op_context, (void *)&uc->ops[3].done);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, entries, 8), 1);
	KUNIT_EXPECT_PTR_EQ(test, entries[0].op_context, (void *)&uc->ops[4].done);
}

/* An endpoint's completions go before its slots do */
static bool is_any(struct kofi_comp *comp, void *owner)
{
	return true;
}

static void a_purge_takes_what_was_polled(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_UNSPEC, FI_COMP_WORKQUEUE);
	struct fi_cq_entry entry;

	ut_cq_device(uc, 0, 20);
	flush_work(&uc->cq.poll_work);
	kofi_cq_purge(&uc->cq, is_any, NULL);
	KUNIT_EXPECT_TRUE(test, uc->ops[19].released);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, &entry, 1), -EAGAIN);
}

static void a_queue_counts_what_was_polled(struct kunit *test)
{
	struct kofi_stat stat;
	struct ut_cq *uc;
	size_t i, found;
	int k;

	for (k = 0; k < UT_CQ_CONTEXTS; k++) {
		uc = ut_cq_open_polled(test, FI_WAIT_DONE, ut_cq_contexts[k]);
		uc->ops[20].comp.comp.err = EIO;
		ut_cq_device(uc, 0, 21);
		ut_cq_await(test, uc, 21);
		kofi_cq_flush(&uc->cq);
		stat = (struct kofi_stat) {};
		KUNIT_ASSERT_EQ(test, kofi_cq_control(&uc->cq.cq.fid, KOFI_GETSTAT, &stat), 0);
		for (i = 0, found = 0; i < stat.count; i++) {
			if (!strcmp(stat.values[i].name, "completed"))
				KUNIT_EXPECT_EQ(test, stat.values[i].value, 21);
			else if (!strcmp(stat.values[i].name, "failed"))
				KUNIT_EXPECT_EQ(test, stat.values[i].value, 1);
			else
				continue;
			found++;
		}
		KUNIT_EXPECT_EQ(test, found, 2);
	}
}

static struct kunit_case cq_poll_cases[] = {
	KUNIT_CASE(successes_are_called_by_the_poller_in_order),
	KUNIT_CASE(absent_callbacks_are_ignored),
	KUNIT_CASE(a_failure_is_not_called_by_the_worker_that_polls),
	KUNIT_CASE(the_device_is_polled_beside_the_callback_of_a_failure),
	KUNIT_CASE(a_reader_of_callbacks_may_wait_for_the_poller),
	KUNIT_CASE(a_batch_does_not_overtake_the_list),
	KUNIT_CASE(a_run_waits_for_the_callbacks_of_a_batch),
	KUNIT_CASE(a_tap_sees_what_is_polled),
	KUNIT_CASE(a_completion_before_the_device_is_armed_is_not_lost),
	KUNIT_CASE(a_batch_wakes_sleepers_once),
	KUNIT_CASE(readers_get_what_is_polled_in_order),
	KUNIT_CASE(a_reader_stops_in_front_of_an_error_that_it_polls),
	KUNIT_CASE(a_watched_queue_needs_no_reader),
	KUNIT_CASE(a_purge_takes_what_was_polled),
	KUNIT_CASE(a_queue_counts_what_was_polled),
	{}
};

static struct kunit_suite cq_poll_suite = {
	.name = "kofi_util_cq_poll",
	.test_cases = cq_poll_cases,
};

kunit_test_suite(cq_poll_suite);
