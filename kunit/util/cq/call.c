// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Other calls in the context of the queue (kofi_cq_call()).
 */
#include "cq.h"

static void a_call_is_made_in_the_context_of_the_queue(struct kunit *test)
{
	struct ut_cq *uc;
	int k;

	for (k = 0; k < UT_CQ_CONTEXTS; k++) {
		uc = ut_cq_open_done(test, ut_cq_contexts[k]);
		kofi_cq_call(&uc->cq, &uc->call);
		ut_cq_await(test, uc, 1);
		KUNIT_EXPECT_EQ(test, uc->softirq, !k);
		uc = ut_cq_open_handled(test, ut_cq_contexts[k]);
		kofi_cq_call(&uc->cq, &uc->call);
		ut_cq_await(test, uc, 1);
		KUNIT_EXPECT_EQ(test, uc->softirq, !k);
	}
}

static void a_call_of_a_polled_queue_is_made_by_its_reader(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_NONE, FI_COMP_SOFTIRQ);
	struct fi_cq_entry entry;

	kofi_cq_call(&uc->cq, &uc->call);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 0);

	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, &entry, 1), -EAGAIN);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 1);
	KUNIT_EXPECT_PTR_EQ(test, uc->task, current);
	KUNIT_EXPECT_EQ(test, uc->polls, 1);
}

static void a_call_that_is_due_is_made_once(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_DIRECT);

	kofi_cq_call(&uc->cq, &uc->call);
	kofi_cq_call(&uc->cq, &uc->call);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 8), 1);

	kofi_cq_call(&uc->cq, &uc->call);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 8), 1);
}

static void a_call_that_is_cancelled_is_not_made(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_DIRECT);

	kofi_cq_call(&uc->cq, &uc->call);
	kofi_cq_cancel_call(&uc->cq, &uc->call);

	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 8), -EAGAIN);
	kofi_cq_cancel_call(&uc->cq, &uc->call);
}

static int cancel_call(void *data)
{
	struct ut_cq *uc = data;

	kofi_cq_cancel_call(&uc->cq, &uc->call);
	return atomic_read(&uc->calls);
}

static void cancelling_waits_for_a_call_that_runs(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_WORKQUEUE);
	struct vt_async *other;

	uc->hold = true;
	kofi_cq_call(&uc->cq, &uc->call);
	wait_for_completion(&uc->entered);
	other = vt_async_start(test, cancel_call, uc);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(other));
	complete(&uc->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, other), 1);
}

/**
 * struct again - A call that is due again whenever it was made
 * @uc: the queue
 * @call: the call
 * @left: how often it is due again
 * @calls: how often it was made
 * @reported: how many completions had been reported each time
 */
struct again {
	struct ut_cq		*uc;
	struct kofi_cq_call	call;
	int			left;
	int			calls;
	int			reported[UT_CQ_OPS];
};

static void call_again(struct kofi_cq_call *call)
{
	struct again *again = container_of(call, struct again, call);

	again->reported[again->calls++] = atomic_read(&again->uc->calls);
	if (again->left-- > 0)
		kofi_cq_call(&again->uc->cq, call);
}

/* Else a client that is refused in its ready callback would keep the queue from its completions */
static void calls_and_completions_take_turns(struct kunit *test)
{
	struct again *again = vt_buf(test, sizeof(*again));
	const int ops = 8;
	int i;

	again->uc = ut_cq_open_done(test, FI_COMP_DIRECT);
	again->left = ops - 1;
	again->call.fn = call_again;
	INIT_LIST_HEAD(&again->call.entry);
	kofi_cq_call(&again->uc->cq, &again->call);
	for (i = 0; i < ops; i++)
		ut_cq_complete(again->uc, i);

	KUNIT_EXPECT_EQ(test, fi_cq_read(&again->uc->cq.cq, NULL, 100), 2 * ops);
	KUNIT_EXPECT_EQ(test, again->calls, ops);
	for (i = 0; i < ops; i++)
		KUNIT_EXPECT_EQ(test, again->reported[i], i);
}

static struct kunit_case cq_call_cases[] = {
	KUNIT_CASE(a_call_is_made_in_the_context_of_the_queue),
	KUNIT_CASE(a_call_of_a_polled_queue_is_made_by_its_reader),
	KUNIT_CASE(a_call_that_is_due_is_made_once),
	KUNIT_CASE(a_call_that_is_cancelled_is_not_made),
	KUNIT_CASE(cancelling_waits_for_a_call_that_runs),
	KUNIT_CASE(calls_and_completions_take_turns),
	{}
};

static struct kunit_suite cq_call_suite = {
	.name = "kofi_util_cq_call",
	.test_cases = cq_call_cases,
};

kunit_test_suite(cq_call_suite);
