// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The handler: when it is called, and in which context.
 */
#include <linux/sched.h>
#include "cq.h"

static void the_queue_cannot_be_closed_from_its_handler(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_handled(test, FI_COMP_WORKQUEUE);

	ut_cq_complete(uc, 0);
	ut_cq_await(test, uc, 1);
	KUNIT_EXPECT_EQ(test, uc->may_close, -EDEADLK);
	KUNIT_EXPECT_EQ(test, kofi_cq_may_close(&uc->cq), 0);
}

static int fini(void *data)
{
	struct ut_cq *uc = data;

	kofi_cq_fini(&uc->cq);
	return atomic_read(&uc->inside);
}

static void the_end_waits_for_the_handler(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_handled(test, FI_COMP_WORKQUEUE);
	struct vt_async *closer;

	uc->hold = true;
	ut_cq_complete(uc, 0);
	wait_for_completion(&uc->entered);
	closer = vt_async_start(test, fini, uc);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(closer));
	complete(&uc->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, closer), 0);
}

static void the_end_waits_for_a_callback_by_the_poller(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_DONE, FI_COMP_WORKQUEUE);
	struct vt_async *closer;

	uc->hold = true;
	ut_cq_device(uc, 0, 1);
	wait_for_completion(&uc->entered);
	closer = vt_async_start(test, fini, uc);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(closer));
	complete(&uc->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, closer), 0);
}

static void the_end_takes_back_runs_that_are_due(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_handled(test, FI_COMP_WORKQUEUE);

	ut_cq_complete(uc, 0);
	kofi_cq_fini(&uc->cq);
	KUNIT_EXPECT_FALSE(test, work_pending(&uc->cq.work));
	uc = ut_cq_open_polled(test, FI_WAIT_DONE, FI_COMP_WORKQUEUE);
	ut_cq_device(uc, 0, 1);
	kofi_cq_fini(&uc->cq);
	KUNIT_EXPECT_FALSE(test, work_pending(&uc->cq.poll_work));
}

static void handler_runs_where_it_is_asked_to(struct kunit *test)
{
	struct ut_cq *uc;
	int k;

	for (k = 0; k < UT_CQ_CONTEXTS; k++) {
		uc = ut_cq_open_handled(test, ut_cq_contexts[k]);
		ut_cq_complete(uc, 0);
		ut_cq_await(test, uc, 1);
		KUNIT_EXPECT_EQ(test, uc->softirq, !k);
	}
}

static void handler_is_not_called_before_the_queue_was_empty(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_handled(test, FI_COMP_WORKQUEUE);
	struct fi_cq_entry entry;

	ut_cq_complete(uc, 0);
	ut_cq_complete(uc, 1);
	ut_cq_await(test, uc, 1);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, &entry, 1), 1);
	ut_cq_complete(uc, 2);
	flush_work(&uc->cq.work);

	KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 1);
}

static void handler_is_called_again_after_an_empty_read(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_handled(test, FI_COMP_WORKQUEUE);

	uc->reads = true;
	ut_cq_complete(uc, 0);
	ut_cq_await(test, uc, 1);
	ut_cq_complete(uc, 1);
	ut_cq_await(test, uc, 1);

	KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->seen), 2);
}

static void handler_sees_every_completion(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_CALLBACK, FI_COMP_WORKQUEUE);
	struct vt_async *other;
	int i;

	uc->reads = true;
	other = vt_async_start(test, ut_cq_device_half, uc);
	for (i = UT_CQ_OPS / 2; i < UT_CQ_OPS; i++) {
		ut_cq_complete(uc, i);
		cond_resched();
	}
	KUNIT_EXPECT_EQ(test, vt_async_join(test, other), 0);

	/* A run ends after some of them, and queues the next one */
	KUNIT_EXPECT_TRUE(test, vt_until(atomic_read(&uc->seen) == UT_CQ_OPS));
	flush_work(&uc->cq.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->seen), UT_CQ_OPS);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->overlaps), 0);
}

static void the_end_calls_the_handler(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_handled(test, FI_COMP_WORKQUEUE);

	kofi_cq_end(&uc->cq, -ENODEV);

	ut_cq_await(test, uc, 1);
}

static void the_end_calls_the_handler_in_softirq(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_handled(test, FI_COMP_SOFTIRQ);

	kofi_cq_end(&uc->cq, -ENODEV);

	ut_cq_await(test, uc, 1);
	KUNIT_EXPECT_TRUE(test, uc->softirq);
}

static void handler_is_called_once_for_what_completes_together(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_CALLBACK, FI_COMP_SOFTIRQ);

	uc->reads = true;
	ut_cq_device(uc, 0, 20);
	ut_cq_await(test, uc, 1);

	KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->seen), 20);
	KUNIT_EXPECT_TRUE(test, uc->softirq);
}

static struct kunit_case cq_handler_cases[] = {
	KUNIT_CASE(the_queue_cannot_be_closed_from_its_handler),
	KUNIT_CASE(the_end_waits_for_the_handler),
	KUNIT_CASE(the_end_waits_for_a_callback_by_the_poller),
	KUNIT_CASE(the_end_takes_back_runs_that_are_due),
	KUNIT_CASE(handler_runs_where_it_is_asked_to),
	KUNIT_CASE(handler_is_not_called_before_the_queue_was_empty),
	KUNIT_CASE(handler_is_called_again_after_an_empty_read),
	KUNIT_CASE(handler_is_called_once_for_what_completes_together),
	KUNIT_CASE(handler_sees_every_completion),
	KUNIT_CASE(the_end_calls_the_handler),
	KUNIT_CASE(the_end_calls_the_handler_in_softirq),
	{}
};

static struct kunit_suite cq_handler_suite = {
	.name = "kofi_util_cq_handler",
	.test_cases = cq_handler_cases,
};

kunit_test_suite(cq_handler_suite);
