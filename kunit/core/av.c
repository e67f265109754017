// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_av: the calls on address vectors, of which the core checks pointers and
 * flags, and hands on the rest.  What a vector does is its provider's.
 */
#include <linux/in.h>
#include <linux/limits.h>
#include "core.h"

static struct sockaddr_in addrs[3] = {
	{ .sin_family = AF_INET }, { .sin_family = AF_INET },
	{ .sin_family = AF_INET },
};

static int av_calls(const struct core_set *set, enum mock_call call)
{
	return atomic_read(&set->mock->calls[call]);
}

static void insert_reaches_the_provider_with_its_flags(struct kunit *test)
{
	struct core_set *set = core_all(test);
	fi_addr_t fi_addr[3] = {};
	int errors[3];

	KUNIT_EXPECT_EQ(test, fi_av_insert(core_av(set), addrs, 3, fi_addr,
					   FI_MORE | FI_SYNC_ERR, errors), 3);

	KUNIT_EXPECT_EQ(test, fi_addr[2], 2);
	KUNIT_EXPECT_EQ(test, set->mock->av_flags, FI_MORE | FI_SYNC_ERR);
}

static void insert_of_nothing_reaches_the_provider(struct kunit *test)
{
	struct core_set *set = core_all(test);

	KUNIT_EXPECT_EQ(test, fi_av_insert(core_av(set), NULL, 0, NULL, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, av_calls(set, MOCK_CALL_AV_INSERT), 1);
}

static void insertsvc_inserts_one(struct kunit *test)
{
	struct core_set *set = core_all(test);
	fi_addr_t fi_addr = FI_ADDR_NOTAVAIL;

	KUNIT_EXPECT_EQ(test, fi_av_insertsvc(core_av(set), "10.0.0.1", 7, &fi_addr, 0, NULL), 1);
	KUNIT_EXPECT_EQ(test, fi_addr, 0);
	KUNIT_EXPECT_EQ(test, fi_av_insertsvc(core_av(set), "10.0.0.1", 0, NULL, 0, NULL), 1);
	KUNIT_EXPECT_EQ(test, fi_av_insertsvc(core_av(set), "10.0.0.1", 65535, NULL, 0, NULL), 1);
}

static void insertsym_inserts_all_services_of_all_nodes(struct kunit *test)
{
	struct core_set *set = core_all(test);
	fi_addr_t fi_addr[6] = {};

	KUNIT_EXPECT_EQ(test, fi_av_insertsym(core_av(set), "10.0.0.1", 2, 7,
					      3, fi_addr, 0, NULL), 6);
	KUNIT_EXPECT_EQ(test, fi_addr[5], 5);
	KUNIT_EXPECT_EQ(test, fi_av_insertsym(core_av(set), "10.0.0.1", 1, 0,
					      65536, NULL, 0, NULL), 65536);
}

static void answers_of_the_provider_are_passed_on(struct kunit *test)
{
	struct core_set *set = core_all(test);
	fi_addr_t known = 0, unknown = 5;
	struct sockaddr_in sin = {};
	size_t len = sizeof(sin);
	struct fid_av *av;

	av = core_av(set);

	KUNIT_EXPECT_EQ(test, fi_av_lookup(av, known, &sin, &len), 0);
	KUNIT_EXPECT_EQ(test, sin.sin_family, AF_INET);
	KUNIT_EXPECT_EQ(test, fi_av_lookup(av, unknown, &sin, &len), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_set_user_id(av, known, 77, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_av_set_user_id(av, unknown, 77, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insert_auth_key(av, "key", 3, &unknown, 0), 0);
	KUNIT_EXPECT_EQ(test, unknown, 0);
	KUNIT_EXPECT_EQ(test, fi_av_lookup_auth_key(av, known, &sin, &len), 0);
	KUNIT_EXPECT_EQ(test, fi_av_remove(av, &known, 1, 0), 0);
	set->mock->fail[MOCK_CALL_AV_REMOVE] = -EBUSY;
	KUNIT_EXPECT_EQ(test, fi_av_remove(av, &known, 1, FI_AUTH_KEY), -EBUSY);
	KUNIT_EXPECT_EQ(test, set->mock->av_flags, FI_AUTH_KEY);
}

static void straddr_tells_how_much_it_needs(struct kunit *test)
{
	struct core_set *set = core_all(test);
	char text[5] = "";
	size_t len = sizeof(text);

	KUNIT_EXPECT_STREQ(test, fi_av_straddr(core_av(set), addrs, text, &len), "an a");
	KUNIT_EXPECT_EQ(test, len, sizeof(MOCK_AV_TEXT));
}

static void straddr_without_a_place_is_still_text(struct kunit *test)
{
	struct core_set *set = core_all(test);
	size_t none = 0, len = 8;
	char text[8] = "x";

	KUNIT_EXPECT_NOT_NULL(test, fi_av_straddr(core_av(set), addrs, text, &none));
	KUNIT_EXPECT_EQ(test, text[0], 'x');
	KUNIT_EXPECT_NOT_NULL(test, fi_av_straddr(core_av(set), NULL, text, &len));
	KUNIT_EXPECT_STREQ(test, text, "Invalid");
	KUNIT_EXPECT_EQ(test, av_calls(set, MOCK_CALL_AV_STRADDR), 0);
}

/* Insertions that make no sense, whichever the call */
static const struct bad_insert {
	const char	*name;
	u64		flags;
	bool		no_fi_addr;
	int		err;
} bad_inserts[] = {
	{ "unknown flag", FI_READ, false, -FI_EBADFLAGS },
	{ "FI_SYMMETRIC", FI_SYMMETRIC, false, -FI_EBADFLAGS },
	{ "FI_SYNC_ERR without an array", FI_SYNC_ERR, false, -EINVAL },
	{ "FI_AV_USER_ID without ids", FI_AV_USER_ID, true, -EINVAL },
	{ "FI_AUTH_KEY without keys", FI_AUTH_KEY, true, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(bad_insert, bad_inserts, name);

static void insertion_that_makes_no_sense_is_refused(struct kunit *test)
{
	const struct bad_insert *row = test->param_value;
	fi_addr_t ids[1] = { 1 }, *fi_addr = row->no_fi_addr ? NULL : ids;
	struct core_set *set = core_all(test);
	struct fid_av *av;
	int calls;

	av = core_av(set);
	calls = mock_calls(set->mock);

	KUNIT_EXPECT_EQ(test, fi_av_insert(av, addrs, 1, fi_addr, row->flags, NULL), row->err);
	KUNIT_EXPECT_EQ(test, fi_av_insertsvc(av, "10.0.0.1", 1, fi_addr,
					      row->flags, NULL), row->err);
	KUNIT_EXPECT_EQ(test, fi_av_insertsym(av, "10.0.0.1", 1, 1, 1, fi_addr,
					      row->flags, NULL), row->err);
	KUNIT_EXPECT_EQ(test, mock_calls(set->mock), calls);
}

static void missing_address_is_refused(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct fid_av *av;
	fi_addr_t fi_addr;
	size_t len = 4;
	int calls;

	av = core_av(set);
	calls = mock_calls(set->mock);

	KUNIT_EXPECT_EQ(test, fi_av_insert(av, NULL, 1, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insertsvc(av, NULL, 1, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insertsym(av, NULL, 1, 1, 1, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_remove(av, NULL, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_lookup(av, 0, NULL, &len), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_lookup(av, 0, addrs, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insert_auth_key(av, NULL, 1, &fi_addr, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insert_auth_key(av, "k", 0, &fi_addr, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insert_auth_key(av, "k", 1, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_lookup_auth_key(av, 0, NULL, &len), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_lookup_auth_key(av, 0, addrs, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, mock_calls(set->mock), calls);
}

static void number_out_of_range_is_refused(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct fid_av *av;
	int calls;

	av = core_av(set);
	calls = mock_calls(set->mock);

	KUNIT_EXPECT_EQ(test, fi_av_insert(av, addrs, 1UL + INT_MAX, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insertsvc(av, "::1", -1, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insertsvc(av, "::1", 65536, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insertsym(av, "::1", 0, 1, 1, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insertsym(av, "::1", 1, 1, 0, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insertsym(av, "::1", 1, -1, 1, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insertsym(av, "::1", 1, 65535, 2, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insertsym(av, "::1", 1, 65536, 1, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insertsym(av, "::1", INT_MAX, 1, 2, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, mock_calls(set->mock), calls);
}

static void unknown_flag_is_refused(struct kunit *test)
{
	struct fi_av_attr attr = { .flags = FI_SYNC_ERR };
	struct core_set *set = core_all(test);
	fi_addr_t fi_addr = 0;
	struct fid_av *av;
	int calls;

	av = core_av(set);
	calls = mock_calls(set->mock);

	KUNIT_EXPECT_EQ(test, fi_av_open(core_domain(set), &attr, &av, NULL), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_av_remove(av, &fi_addr, 1, FI_MORE), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_av_insert_auth_key(av, "k", 1, &fi_addr, FI_MORE), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_av_insert_auth_key(av, "k", 1, &fi_addr, BIT_ULL(0)),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_av_set_user_id(av, 0, 1, FI_MORE), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, mock_calls(set->mock), calls);
}

static void known_flags_of_a_vector_are_accepted(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct fi_av_attr attr = {
		.flags = FI_AV_USER_ID | FI_SYMMETRIC | FI_EVENT,
	};
	struct fid_av *av;

	KUNIT_ASSERT_EQ(test, fi_av_open(core_domain(set), &attr, &av, NULL), 0);
	core_adopt(test, &av->fid);
}

static void address_of_a_receive_context_has_its_index_on_top(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, fi_rx_addr(5, 3, 4), 3ULL << 60 | 5);
	KUNIT_EXPECT_EQ(test, fi_rx_addr(5, 0, 8), 5ULL);
	KUNIT_EXPECT_EQ(test, fi_rx_addr(5, 0, 0), 5ULL);
	KUNIT_EXPECT_EQ(test, fi_group_addr(5, 3), 3ULL << 32 | 5);
}

static struct kunit_case av_cases[] = {
	KUNIT_CASE(insert_reaches_the_provider_with_its_flags),
	KUNIT_CASE(insert_of_nothing_reaches_the_provider),
	KUNIT_CASE(insertsvc_inserts_one),
	KUNIT_CASE(insertsym_inserts_all_services_of_all_nodes),
	KUNIT_CASE(answers_of_the_provider_are_passed_on),
	KUNIT_CASE(straddr_tells_how_much_it_needs),
	KUNIT_CASE(straddr_without_a_place_is_still_text),
	KUNIT_CASE_PARAM(insertion_that_makes_no_sense_is_refused, bad_insert_gen_params),
	KUNIT_CASE(missing_address_is_refused),
	KUNIT_CASE(number_out_of_range_is_refused),
	KUNIT_CASE(unknown_flag_is_refused),
	KUNIT_CASE(known_flags_of_a_vector_are_accepted),
	KUNIT_CASE(address_of_a_receive_context_has_its_index_on_top),
	{}
};

struct kunit_suite kofi_av_suite = {
	.name = "kofi_av",
	.init = core_init,
	.exit = core_exit,
	.test_cases = av_cases,
};
