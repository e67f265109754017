// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Values of options, include/kofi/opt.h.
 */
#include <kofi/opt.h>
#include <rdma/fi_errno.h>
#include "util.h"

static void put_copies_the_value_and_its_size(struct kunit *test)
{
	u32 value = 0x12345678, copy = 0;
	size_t len = sizeof(copy);

	KUNIT_EXPECT_EQ(test, kofi_opt_put(&value, sizeof(value), &copy, &len), 0);
	KUNIT_EXPECT_EQ(test, copy, value);
	KUNIT_EXPECT_EQ(test, len, sizeof(value));
}

static void put_into_a_larger_buffer_leaves_the_rest(struct kunit *test)
{
	u8 buf[16] = { [8] = 0xee };
	size_t len = sizeof(buf);

	KUNIT_EXPECT_EQ(test, kofi_opt_put_size(SIZE_MAX, buf, &len), 0);
	KUNIT_EXPECT_EQ(test, len, sizeof(size_t));
	KUNIT_EXPECT_EQ(test, buf[8], 0xee);
}

static void put_into_a_smaller_buffer_says_how_much_it_takes(struct kunit *test)
{
	u8 buf[8] = { 0xee };
	size_t len = 7;

	KUNIT_EXPECT_EQ(test, kofi_opt_put_size(1, buf, &len), -FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, len, sizeof(size_t));
	KUNIT_EXPECT_EQ(test, buf[0], 0xee);
}

static void get_takes_a_value_of_the_right_size_only(struct kunit *test)
{
	u32 from = 7, value = 1;

	KUNIT_EXPECT_EQ(test, kofi_opt_get(&value, sizeof(value), &from, 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_opt_get(&value, sizeof(value), &from, 5), -EINVAL);
	KUNIT_EXPECT_EQ(test, value, 1);
	KUNIT_EXPECT_EQ(test, kofi_opt_get(&value, sizeof(value), &from, 4), 0);
	KUNIT_EXPECT_EQ(test, value, 7);
}

static void get_size_keeps_to_its_limit(struct kunit *test)
{
	size_t from = 11, value = 1;

	KUNIT_EXPECT_EQ(test, kofi_opt_get_size(&value, 10, &from, sizeof(from)), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_opt_get_size(&value, 11, &from, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, value, 1);
	KUNIT_EXPECT_EQ(test, kofi_opt_get_size(&value, 11, &from, sizeof(from)), 0);
	KUNIT_EXPECT_EQ(test, value, 11);
}

static struct kunit_case opt_cases[] = {
	KUNIT_CASE(put_copies_the_value_and_its_size),
	KUNIT_CASE(put_into_a_larger_buffer_leaves_the_rest),
	KUNIT_CASE(put_into_a_smaller_buffer_says_how_much_it_takes),
	KUNIT_CASE(get_takes_a_value_of_the_right_size_only),
	KUNIT_CASE(get_size_keeps_to_its_limit),
	{}
};

static struct kunit_suite opt_suite = {
	.name		= "kofi_util_opt",
	.test_cases	= opt_cases,
};

kunit_test_suite(opt_suite);
