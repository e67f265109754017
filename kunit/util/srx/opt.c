// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Setting a receive side up, and its options (include/kofi/srx.h).
 */
#include <kofi/eq.h>
#include "srx.h"

static const struct ut_srx_how shared = {
	.attr	= { .size = 4, .iov_limit = 1, .max_msgs = 4 },
	.shared	= true,
};

static int set(struct ut_srx *us, int optname, size_t value)
{
	return kofi_srx_setopt(&us->srx, optname, &value, sizeof(value));
}

/* The value, or a negative error */
static ssize_t get(struct ut_srx *us, int optname)
{
	size_t value = 0, len = sizeof(value);
	int ret;

	ret = kofi_srx_getopt(&us->srx, optname, &value, &len);
	return ret ? : value;
}

/* Is there one more event, which says that the limit was reached? */
static bool limit_reached(struct ut_srx *us)
{
	struct fi_eq_entry entry;
	ssize_t ret;
	u32 event;

	ret = fi_eq_read(us->eq, &event, &entry, sizeof(entry), 0);
	return ret == sizeof(entry) && event == FI_SRX_LIMIT &&
	       entry.fid == &us->ctx.ep.fid;
}

static struct ut_srx *with_receives(struct kunit *test, int count)
{
	struct ut_srx *us = ut_srx_open(test, shared);
	int nr;

	for (nr = 1; nr <= count; nr++)
		KUNIT_EXPECT_EQ(test, ut_recv(us, nr, UT_SRX_BUF), 0);
	return us;
}

static void the_limit_is_reported_once(struct kunit *test)
{
	struct ut_srx *us = with_receives(test, 3);

	KUNIT_EXPECT_EQ(test, get(us, FI_OPT_SRX_LIMIT), 0);
	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_SRX_LIMIT, 2), 0);
	KUNIT_EXPECT_EQ(test, get(us, FI_OPT_SRX_LIMIT), 2);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 10), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_FALSE(test, limit_reached(us));
	KUNIT_EXPECT_EQ(test, ut_msg(us, 2, 10), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_TRUE(test, limit_reached(us));
	KUNIT_EXPECT_EQ(test, get(us, FI_OPT_SRX_LIMIT), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 3, 10), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_FALSE(test, limit_reached(us));
}

static void a_cancel_may_reach_the_limit(struct kunit *test)
{
	struct ut_srx *us = with_receives(test, 2);

	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_SRX_LIMIT, 2), 0);
	KUNIT_EXPECT_FALSE(test, limit_reached(us));
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), 0);
	KUNIT_EXPECT_TRUE(test, limit_reached(us));
}

/* A receive that takes a waiting message is posted for that time */
static void a_receive_for_a_waiting_message_may_reach_it(struct kunit *test)
{
	struct ut_srx *us = with_receives(test, 1);

	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 1, 7, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_SRX_LIMIT, 1), 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 2, 7, 0), 0);
	KUNIT_EXPECT_FALSE(test, limit_reached(us));
	KUNIT_EXPECT_EQ(test, ut_msg(us, 2, 10), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_TRUE(test, limit_reached(us));
}

static void a_limit_that_is_reached_is_reported_at_once(struct kunit *test)
{
	struct ut_srx *us = with_receives(test, 1);

	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_SRX_LIMIT, 1), 0);
	KUNIT_EXPECT_FALSE(test, limit_reached(us));
	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_SRX_LIMIT, 2), 0);
	KUNIT_EXPECT_EQ(test, get(us, FI_OPT_SRX_LIMIT), 0);
	KUNIT_EXPECT_TRUE(test, limit_reached(us));
	KUNIT_EXPECT_FALSE(test, limit_reached(us));
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 10), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_FALSE(test, limit_reached(us));
	/* Once more */
	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_SRX_LIMIT, 4), 0);
	KUNIT_EXPECT_TRUE(test, limit_reached(us));
}

static void no_limit_is_never_reached(struct kunit *test)
{
	struct ut_srx *us = with_receives(test, 1);

	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_SRX_LIMIT, 1), 0);
	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_SRX_LIMIT, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 10), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_FALSE(test, limit_reached(us));
}

static void an_unread_event_goes_with_the_context(struct kunit *test)
{
	struct ut_srx *us = with_receives(test, 0);
	struct kofi_eq *eq = to_kofi_eq(&us->eq->fid);

	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_SRX_LIMIT, 1), 0);
	KUNIT_EXPECT_FALSE(test, list_empty(&eq->events));
	ut_srx_leave(us, &us->ep[0]);
	ut_srx_leave(us, &us->ep[1]);
	kofi_srx_destroy(&us->srx);
	KUNIT_EXPECT_TRUE(test, list_empty(&eq->events));
	ut_srx_reopen(us);
}

static void a_limit_needs_a_queue_and_a_context(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, shared), *own = ut_srx(test);
	struct kofi_eq *eq = us->ctx.conn.eq;
	u32 small = 1;

	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_SRX_LIMIT, 5), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_srx_setopt(&us->srx, FI_OPT_SRX_LIMIT,
					      &small, sizeof(small)), -EINVAL);
	us->ctx.conn.eq = NULL;
	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_SRX_LIMIT, 1), -FI_ENOEQ);
	us->ctx.conn.eq = eq;
	KUNIT_EXPECT_EQ(test, set(own, FI_OPT_SRX_LIMIT, 1), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, get(own, FI_OPT_SRX_LIMIT), -ENOPROTOOPT);
}

static void the_least_room_of_a_buffer_is_an_option(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, (struct ut_srx_how) {
		.attr = {
			.size = 1, .iov_limit = 1, .multi = 1,
			.min_multi_recv = 64,
		},
	});
	size_t value, len = sizeof(value) - 1;

	KUNIT_EXPECT_EQ(test, get(us, FI_OPT_MIN_MULTI_RECV), 64);
	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_MIN_MULTI_RECV, SIZE_MAX), 0);
	KUNIT_EXPECT_EQ(test, get(us, FI_OPT_MIN_MULTI_RECV), SIZE_MAX);
	KUNIT_EXPECT_EQ(test, kofi_srx_setopt(&us->srx, FI_OPT_MIN_MULTI_RECV,
					      &value, len), -EINVAL);
	KUNIT_EXPECT_EQ(test, get(us, FI_OPT_MIN_MULTI_RECV), SIZE_MAX);
	KUNIT_EXPECT_EQ(test, kofi_srx_getopt(&us->srx, FI_OPT_MIN_MULTI_RECV,
					      &value, &len), -FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, len, sizeof(value));
}

static void other_options_are_unknown(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_MIN_MULTI_RECV, 1), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, get(us, FI_OPT_MIN_MULTI_RECV), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, set(us, FI_OPT_MAX_MSG_SIZE, 1), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, get(us, FI_OPT_MAX_MSG_SIZE), -ENOPROTOOPT);
}

/* Receive sides that cannot be */
static const struct impossible {
	const char		*name;
	struct kofi_srx_attr	attr;
	int			ret;
} impossibles[] = {
	{ "no receives", { .iov_limit = 1 }, -EINVAL },
	{ "too many receives", { .size = BIT(22) + 1, .iov_limit = 1 },
	  -EINVAL },
	{ "too many messages", { .size = 1, .iov_limit = 1,
	  .max_msgs = BIT(22) + 1 }, -EINVAL },
	{ "too many messages of buffers", { .size = 1, .iov_limit = 1,
	  .multi = BIT(22) + 1 }, -EINVAL },
	{ "lists too long", { .size = 1, .iov_limit = U32_MAX }, -EINVAL },
	{ "more than there is memory for", { .size = 1000,
	  .iov_limit = BIT(20) }, -ENOMEM },
};

static void what_cannot_be_counted_is_refused(struct kunit *test)
{
	const struct impossible *impossible = test->param_value;
	struct ut_srx *us = ut_srx(test);
	struct kofi_srx *srx = vt_buf(test, sizeof(*srx));

	KUNIT_EXPECT_EQ(test, kofi_srx_init(srx, &us->ep[0], &impossible->attr,
					    us->srx.ops), impossible->ret);
}

/* A peer that chose its tags for one of them would have them all in one bucket of any */
static void each_receive_side_hashes_in_its_own_way(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test), *other = ut_srx(test);

	KUNIT_EXPECT_MEMNEQ(test, &us->srx.secret, &other->srx.secret, sizeof(us->srx.secret));
}

static void a_provider_has_all_its_functions(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	struct kofi_srx *srx = vt_buf(test, sizeof(*srx));
	struct kofi_srx_ops ops = *us->srx.ops;

	ops.start = NULL;
	KUNIT_EXPECT_EQ(test, kofi_srx_init(srx, &us->ep[0], &ut_srx_attr, &ops), -EINVAL);
	ops = *us->srx.ops;
	ops.discard = NULL;
	KUNIT_EXPECT_EQ(test, kofi_srx_init(srx, &us->ep[0], &ut_srx_attr, &ops), -EINVAL);
	ops = *us->srx.ops;
	ops.resume = NULL;
	KUNIT_EXPECT_EQ(test, kofi_srx_init(srx, &us->ep[0], &ut_srx_attr, &ops), -EINVAL);
}

KUNIT_ARRAY_PARAM_DESC(impossible, impossibles, name);

static struct kunit_case srx_opt_cases[] = {
	KUNIT_CASE(the_limit_is_reported_once),
	KUNIT_CASE(a_cancel_may_reach_the_limit),
	KUNIT_CASE(a_receive_for_a_waiting_message_may_reach_it),
	KUNIT_CASE(a_limit_that_is_reached_is_reported_at_once),
	KUNIT_CASE(no_limit_is_never_reached),
	KUNIT_CASE(an_unread_event_goes_with_the_context),
	KUNIT_CASE(a_limit_needs_a_queue_and_a_context),
	KUNIT_CASE(the_least_room_of_a_buffer_is_an_option),
	KUNIT_CASE(other_options_are_unknown),
	KUNIT_CASE_PARAM(what_cannot_be_counted_is_refused, impossible_gen_params),
	KUNIT_CASE(each_receive_side_hashes_in_its_own_way),
	KUNIT_CASE(a_provider_has_all_its_functions),
	{}
};

static struct kunit_suite srx_opt_suite = {
	.name		= "kofi_util_srx_opt",
	.test_cases	= srx_opt_cases,
};

kunit_test_suite(srx_opt_suite);
