// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The end of what is in the queue: purges and flushes, which wait for callbacks.
 */
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

static void purge_waits_for_a_callback_here(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_WORKQUEUE);
	struct vt_async *other, *purger;

	uc->hold = true;
	other = vt_async_start(test, ut_cq_complete_here, uc);
	wait_for_completion(&uc->entered);
	purger = vt_async_start(test, purge_all, uc);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(purger));
	complete(&uc->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, purger), 1);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, other), 0);
}

static void purge_of_a_direct_queue_makes_the_calls(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_DIRECT);

	ut_cq_complete(uc, 0);
	ut_cq_complete(uc, 1);

	KUNIT_EXPECT_EQ(test, purge_all(uc), 2);
	KUNIT_EXPECT_PTR_EQ(test, uc->task, current);
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
	return 0;
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
	KUNIT_EXPECT_EQ(test, vt_async_join(test, first), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, second), 0);
}

static struct kunit_case cq_purge_cases[] = {
	KUNIT_CASE(purge_waits_for_callbacks),
	KUNIT_CASE(purge_waits_for_a_callback_here),
	KUNIT_CASE(purge_of_a_direct_queue_makes_the_calls),
	KUNIT_CASE(purge_of_a_direct_queue_waits_for_its_reader),
	KUNIT_CASE(the_end_of_a_flush_wakes_the_next_one),
	{}
};

static struct kunit_suite cq_purge_suite = {
	.name = "kofi_util_cq_purge",
	.test_cases = cq_purge_cases,
};

kunit_test_suite(cq_purge_suite);
