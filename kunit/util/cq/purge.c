// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The end of what is in the queue: purges and flushes, which wait for callbacks.
 */
#include <linux/bottom_half.h>
#include <linux/rcupdate.h>
#include "cq.h"

static bool is_any(struct kofi_comp *comp, void *owner)
{
	return true;
}

static int purge_all(void *data)
{
	struct ut_cq *uc = data;

	kofi_cq_purge(&uc->cq, is_any, NULL);
	return atomic_read(&uc->calls);
}

static void purge_waits_for_callbacks(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_WORKQUEUE);
	struct vt_async *purger;

	uc->hold = true;
	ut_cq_complete(uc, 0);
	ut_cq_complete(uc, 1);
	wait_for_completion(&uc->entered);
	purger = vt_async_start(test, purge_all, uc);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(purger));
	complete(&uc->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, purger), 2);
}

static void purge_waits_for_callbacks_by_the_poller(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_DONE, FI_COMP_WORKQUEUE);
	struct vt_async *purger;

	uc->hold = true;
	ut_cq_device(uc, 0, 3);
	wait_for_completion(&uc->entered);
	purger = vt_async_start(test, purge_all, uc);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(purger));
	complete(&uc->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, purger), 3);
}

static void purge_of_a_direct_queue_makes_the_calls(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_DIRECT);

	ut_cq_complete(uc, 0);
	ut_cq_complete(uc, 1);

	KUNIT_EXPECT_EQ(test, purge_all(uc), 2);
	KUNIT_EXPECT_PTR_EQ(test, uc->task, current);
	/* Nothing else has completed */
	KUNIT_EXPECT_EQ(test, uc->cq.completed, 2);
	KUNIT_EXPECT_EQ(test, uc->cq.failed, 0);
}

static void purge_of_a_direct_queue_waits_for_its_reader(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_DIRECT);
	struct vt_async *reader, *purger;

	uc->hold = true;
	ut_cq_complete(uc, 0);
	ut_cq_complete(uc, 1);
	reader = vt_async_start(test, ut_cq_read, uc);
	wait_for_completion(&uc->entered);
	purger = vt_async_start(test, purge_all, uc);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(purger));
	complete(&uc->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, purger), 2);
	vt_async_join(test, reader);
}

static int flush_all(void *data)
{
	struct ut_cq *uc = data;

	kofi_cq_flush(&uc->cq);
	return atomic_read(&uc->calls);
}

static void a_flush_waits_for_the_plugger(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_WORKQUEUE);
	struct vt_async *flusher;

	KUNIT_ASSERT_TRUE(test, kofi_cq_plug(&uc->cq));
	ut_cq_complete(uc, 0);
	flusher = vt_async_start(test, flush_all, uc);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(flusher));
	kofi_cq_unplug(&uc->cq);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, flusher), 1);
}

static void the_end_of_a_flush_wakes_the_next_one(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_DIRECT);
	struct vt_async *first, *second;

	uc->hold = true;
	ut_cq_complete(uc, 0);
	first = vt_async_start(test, flush_all, uc);
	wait_for_completion(&uc->entered);
	second = vt_async_start(test, flush_all, uc);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(second));
	complete(&uc->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, first), 1);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, second), 1);
}

/* A task that waited for softirqs or workers here would wait with each close of an endpoint */
static void a_flush_with_nothing_due_does_not_wait(struct kunit *test)
{
	struct ut_cq *uc;
	int k;

	for (k = 0; k < UT_CQ_CONTEXTS; k++) {
		uc = ut_cq_open_polled(test, FI_WAIT_DONE, ut_cq_contexts[k]);
		ut_cq_device(uc, 0, 2);
		ut_cq_await(test, uc, 2);
		/* The runner may only just have returned from the last callback */
		kofi_cq_flush(&uc->cq);
		local_bh_disable();
		kofi_cq_flush(&uc->cq);
		local_bh_enable();
		KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 2);
	}
}

static void expect_read(struct kunit *test, struct ut_cq *uc, int want)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_entry entries[2];

	uc->readers = 0;
	if (want)
		KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, entries, 2), want);
	else
		KUNIT_EXPECT_EQ(test, fi_cq_readerr(&uc->cq.cq, &error, 0), 1);
	KUNIT_EXPECT_EQ(test, uc->readers, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->cq.readers), 0);
}

/* A purge waits for a grace period if there is a reader, so each close of an endpoint would */
static void a_reader_counts_until_it_has_given_completions_back(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_NONE, FI_COMP_DIRECT);

	/* Of the device, then of the list */
	ut_cq_device(uc, 0, 2);
	expect_read(test, uc, 2);
	ut_cq_complete(uc, 2);
	expect_read(test, uc, 1);
	uc->ops[3].comp.comp.err = EIO;
	ut_cq_complete(uc, 3);
	expect_read(test, uc, 0);
}

static void a_purge_waits_until_each_reader_has_given_its_completions_back(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_NONE, FI_COMP_DIRECT);
	unsigned long period = get_state_synchronize_rcu();

	atomic_inc(&uc->cq.readers);
	kofi_cq_purge(&uc->cq, is_any, NULL);
	KUNIT_EXPECT_TRUE(test, poll_state_synchronize_rcu(period));
	atomic_dec(&uc->cq.readers);
}

static struct kunit_case cq_purge_cases[] = {
	KUNIT_CASE(purge_waits_for_callbacks),
	KUNIT_CASE(purge_waits_for_callbacks_by_the_poller),
	KUNIT_CASE(purge_of_a_direct_queue_makes_the_calls),
	KUNIT_CASE(purge_of_a_direct_queue_waits_for_its_reader),
	KUNIT_CASE(a_flush_waits_for_the_plugger),
	KUNIT_CASE(the_end_of_a_flush_wakes_the_next_one),
	KUNIT_CASE(a_flush_with_nothing_due_does_not_wait),
	KUNIT_CASE(a_reader_counts_until_it_has_given_completions_back),
	KUNIT_CASE(a_purge_waits_until_each_reader_has_given_its_completions_back),
	{}
};

static struct kunit_suite cq_purge_suite = {
	.name = "kofi_util_cq_purge",
	.test_cases = cq_purge_cases,
};

kunit_test_suite(cq_purge_suite);
