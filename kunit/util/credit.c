// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Credits: a client that finds none is called when one is back, once, and only for that
 * resource.
 */
#include <kofi/credit.h>
#include <kofi/ep.h>
#include "util.h"

/**
 * struct credit_test - A side without a queue, which a worker calls
 * @ep: the endpoint
 * @slots: two credits
 * @saves: one credit
 * @calls: calls of its client
 * @called: completed by each
 */
struct credit_test {
	struct kofi_ep		ep;
	struct kofi_credit	slots;
	struct kofi_credit	saves;
	int			calls;
	struct completion	called;
};

static void ready(struct fid_ep *ep, u64 dir)
{
	struct credit_test *ct = container_of(to_kofi_ep(&ep->fid), struct credit_test, ep);

	ct->calls++;
	complete(&ct->called);
}

static void fini(void *data)
{
	struct credit_test *ct = data;

	kofi_ep_fini(&ct->ep);
}

static struct credit_test *new_test(struct kunit *test)
{
	static const struct kofi_ep_limits limits = {};
	struct credit_test *ct = vt_buf(test, sizeof(*ct));
	struct fi_rx_attr attr = {};

	KUNIT_ASSERT_EQ(test, kofi_ep_init_srx(&ct->ep, &attr, &limits, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fini, ct), 0);
	ct->ep.callbacks.ready = ready;
	init_completion(&ct->called);
	kofi_credit_init(&ct->slots, &ct->ep.rx, 2);
	kofi_credit_init(&ct->saves, &ct->ep.rx, 1);
	return ct;
}

static void called(struct kunit *test, struct credit_test *ct)
{
	KUNIT_EXPECT_GT(test, wait_for_completion_timeout(&ct->called, HZ), 0);
}

/* So many calls, and there is none that comes late */
static void expect_calls(struct kunit *test, struct credit_test *ct, int calls)
{
	flush_delayed_work(&ct->ep.rx.later);
	KUNIT_EXPECT_EQ(test, ct->calls, calls);
}

static void as_many_credits_are_taken_as_there_are(struct kunit *test)
{
	struct credit_test *ct = new_test(test);
	int i;

	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_TRUE(test, kofi_credit_take(&ct->slots));
		KUNIT_EXPECT_TRUE(test, kofi_credit_take(&ct->slots));
		KUNIT_EXPECT_EQ(test, kofi_credit_left(&ct->slots), 0);
		KUNIT_EXPECT_FALSE(test, kofi_credit_take(&ct->slots));
		KUNIT_EXPECT_FALSE(test, kofi_credit_take(&ct->slots));
		KUNIT_EXPECT_EQ(test, atomic_long_read(&ct->ep.rx.again), 2 * (i + 1));
		kofi_credit_give(&ct->slots);
		kofi_credit_give(&ct->slots);
	}
	KUNIT_EXPECT_EQ(test, kofi_credit_left(&ct->slots), 2);
}

static void a_credit_that_comes_back_calls_once(struct kunit *test)
{
	struct credit_test *ct = new_test(test);

	KUNIT_EXPECT_TRUE(test, kofi_credit_take(&ct->slots));
	KUNIT_EXPECT_TRUE(test, kofi_credit_take(&ct->slots));
	KUNIT_EXPECT_FALSE(test, kofi_credit_take(&ct->slots));
	KUNIT_EXPECT_FALSE(test, kofi_credit_take(&ct->slots));
	kofi_credit_give(&ct->slots);
	called(test, ct);
	kofi_credit_give(&ct->slots);
	expect_calls(test, ct, 1);
}

static void credits_are_taken_together_or_not_at_all(struct kunit *test)
{
	struct credit_test *ct = new_test(test);

	KUNIT_EXPECT_TRUE(test, kofi_credit_take(&ct->slots));
	KUNIT_EXPECT_FALSE(test, kofi_credit_take_many(&ct->slots, 2));
	KUNIT_EXPECT_EQ(test, kofi_credit_left(&ct->slots), 1);
	kofi_credit_give(&ct->slots);
	called(test, ct);
	KUNIT_EXPECT_TRUE(test, kofi_credit_take_many(&ct->slots, 2));
	KUNIT_EXPECT_FALSE(test, kofi_credit_take(&ct->slots));
	kofi_credit_give_many(&ct->slots, 2);
	called(test, ct);
	KUNIT_EXPECT_EQ(test, kofi_credit_left(&ct->slots), 2);
	expect_calls(test, ct, 2);
}

static void a_client_that_got_a_credit_is_not_called(struct kunit *test)
{
	struct credit_test *ct = new_test(test);

	KUNIT_EXPECT_TRUE(test, kofi_credit_take(&ct->slots));
	kofi_credit_give(&ct->slots);
	expect_calls(test, ct, 0);
}

/* Otherwise the client is called again and again for what is not there */
static void a_credit_of_another_resource_makes_no_call(struct kunit *test)
{
	struct credit_test *ct = new_test(test);

	KUNIT_EXPECT_TRUE(test, kofi_credit_take(&ct->saves));
	KUNIT_EXPECT_FALSE(test, kofi_credit_take(&ct->saves));
	KUNIT_EXPECT_TRUE(test, kofi_credit_take(&ct->slots));
	kofi_credit_give(&ct->slots);
	expect_calls(test, ct, 0);
	kofi_credit_give(&ct->saves);
	called(test, ct);
	expect_calls(test, ct, 1);
}

/* An operation that is to follow all others waits until all of them have ended */
static void a_call_can_wait_for_credits_that_it_does_not_take(struct kunit *test)
{
	struct credit_test *ct = new_test(test);

	KUNIT_EXPECT_TRUE(test, kofi_credit_has(&ct->slots, 2));
	KUNIT_EXPECT_EQ(test, kofi_credit_left(&ct->slots), 2);
	KUNIT_EXPECT_TRUE(test, kofi_credit_take(&ct->slots));
	KUNIT_EXPECT_FALSE(test, kofi_credit_has(&ct->slots, 2));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ct->ep.rx.again), 1);
	KUNIT_EXPECT_EQ(test, kofi_credit_left(&ct->slots), 1);
	kofi_credit_give(&ct->slots);
	called(test, ct);
	KUNIT_EXPECT_TRUE(test, kofi_credit_has(&ct->slots, 2));
	expect_calls(test, ct, 1);
}

/* A list of slots, a device that is busy */
static void a_resource_without_a_count_has_a_waiter(struct kunit *test)
{
	struct credit_test *ct = new_test(test);
	struct kofi_waiter waiter;

	kofi_waiter_init(&waiter, &ct->ep.rx);
	kofi_waiter_wake(&waiter);
	expect_calls(test, ct, 0);
	kofi_waiter_note(&waiter);
	kofi_waiter_note(&waiter);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ct->ep.rx.again), 2);
	kofi_credit_give_many(&ct->slots, 0);
	expect_calls(test, ct, 0);
	kofi_waiter_wake(&waiter);
	called(test, ct);
	kofi_waiter_wake(&waiter);
	expect_calls(test, ct, 1);
	kofi_waiter_note(&waiter);
	KUNIT_EXPECT_TRUE(test, kofi_waiter_forget(&waiter));
	kofi_waiter_wake(&waiter);
	expect_calls(test, ct, 1);
}

static struct kunit_case credit_cases[] = {
	KUNIT_CASE(as_many_credits_are_taken_as_there_are),
	KUNIT_CASE(a_credit_that_comes_back_calls_once),
	KUNIT_CASE(credits_are_taken_together_or_not_at_all),
	KUNIT_CASE(a_client_that_got_a_credit_is_not_called),
	KUNIT_CASE(a_credit_of_another_resource_makes_no_call),
	KUNIT_CASE(a_call_can_wait_for_credits_that_it_does_not_take),
	KUNIT_CASE(a_resource_without_a_count_has_a_waiter),
	{}
};

static struct kunit_suite credit_suite = {
	.name		= "kofi_util_credit",
	.test_cases	= credit_cases,
};

kunit_test_suite(credit_suite);
