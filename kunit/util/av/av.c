// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address vectors: which fi_addr_t an address gets, duplicates, errors of single
 * addresses, ids of the client's, and readers beside changes.
 */
#include <linux/atomic.h>
#include <linux/rhashtable.h>
#include <kofi/addr.h>
#include <kofi/provider.h>
#include "av.h"

#define NR_MANY	   10000
#define NR_ROUNDS  2000
#define NR_READERS 3

static void addresses_are_numbered_in_order(struct kunit *test)
{
	static const enum fi_av_type types[] = { FI_AV_UNSPEC, FI_AV_TABLE,
						 FI_AV_MAP };
	struct fi_av_attr attr = {};
	struct ut_av *at;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		attr.type = types[i];
		at = ut_av_open(test, attr, FI_SOCKADDR_IN);
		for (k = 0; k < 5; k++)
			KUNIT_EXPECT_EQ(test, ut_av_insert_nth(test, at, k + 1), k);
		for (k = 0; k < 5; k++)
			KUNIT_EXPECT_TRUE(test, ut_av_is_at(at, k, ut_ipv4(k + 1, UT_PORT)));
		KUNIT_EXPECT_FALSE(test, ut_av_is_at(at, 5, ut_ipv4(6, UT_PORT)));
	}
}

static void the_lowest_free_number_is_given(struct kunit *test)
{
	struct ut_av *at = ut_av(test);
	u32 i;

	for (i = 1; i < 6; i++)
		ut_av_insert_nth(test, at, i);
	KUNIT_EXPECT_EQ(test, ut_av_remove(at, 3), 0);
	KUNIT_EXPECT_EQ(test, ut_av_remove(at, 1), 0);

	KUNIT_EXPECT_EQ(test, ut_av_insert_nth(test, at, 10), 1);
	KUNIT_EXPECT_EQ(test, ut_av_insert_nth(test, at, 11), 3);
	KUNIT_EXPECT_EQ(test, ut_av_insert_nth(test, at, 12), 5);
	KUNIT_EXPECT_TRUE(test, ut_av_is_at(at, 1, ut_ipv4(10, UT_PORT)));
}

static void an_equal_address_has_one_number(struct kunit *test)
{
	struct ut_av *at = ut_av(test);
	struct sockaddr_in addr = ut_ipv4(1, UT_PORT);
	fi_addr_t first = ut_av_insert_nth(test, at, 1), again;

	memset(addr.__pad, 0xa5, sizeof(addr.__pad));
	KUNIT_EXPECT_EQ(test, ut_av_insert(at, &addr, 1, &again, 0, NULL), 1);
	KUNIT_EXPECT_EQ(test, again, first);
	/* Another port is another address */
	addr.sin_port = htons(UT_PORT + 1);
	KUNIT_EXPECT_EQ(test, ut_av_insert(at, &addr, 1, &again, 0, NULL), 1);
	KUNIT_EXPECT_NE(test, again, first);
}

static void
a_duplicate_is_removed_as_often_as_it_was_inserted(struct kunit *test)
{
	struct ut_av *at = ut_av(test);
	fi_addr_t fi_addr = ut_av_insert_nth(test, at, 1), some[2] = { 7 };
	unsigned long changes = kofi_av_changes(&at->av);

	ut_av_insert_nth(test, at, 1);
	KUNIT_EXPECT_NE(test, kofi_av_changes(&at->av), changes);
	some[1] = fi_addr;
	KUNIT_EXPECT_EQ(test, at->av.av.ops->remove(&at->av.av, some, 2, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, at->removed, 0);
	KUNIT_EXPECT_TRUE(test, ut_av_is_at(at, fi_addr, ut_ipv4(1, UT_PORT)));
	KUNIT_EXPECT_EQ(test, ut_av_find(at, ut_ipv4(1, UT_PORT)), fi_addr);

	changes = kofi_av_changes(&at->av);
	KUNIT_EXPECT_EQ(test, ut_av_remove(at, fi_addr), 0);
	KUNIT_EXPECT_EQ(test, at->removed, 1);
	KUNIT_EXPECT_NE(test, kofi_av_changes(&at->av), changes);
	KUNIT_EXPECT_FALSE(test, ut_av_is_at(at, fi_addr, ut_ipv4(1, UT_PORT)));
	KUNIT_EXPECT_EQ(test, ut_av_find(at, ut_ipv4(1, UT_PORT)), FI_ADDR_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, ut_av_remove(at, fi_addr), -EINVAL);
}

static void bad_addresses_are_left_out(struct kunit *test)
{
	struct sockaddr_in addr[] = { ut_ipv4(1, UT_PORT), ut_ipv4(2, 0),
				      ut_ipv4(3, UT_PORT), ut_ipv4(4, UT_PORT),
				      ut_ipv4(5, UT_PORT) };
	struct ut_av *at = ut_av(test);
	fi_addr_t fi_addr[5];
	int errors[5] = { 9, 9, 9, 9, 9 };

	addr[2].sin_addr.s_addr = htonl(INADDR_ANY);
	addr[3].sin_family = AF_INET6;

	KUNIT_EXPECT_EQ(test, ut_av_insert(at, addr, 5, fi_addr, FI_SYNC_ERR, errors), 2);

	KUNIT_EXPECT_EQ(test, fi_addr[0], 0);
	KUNIT_EXPECT_EQ(test, fi_addr[1], FI_ADDR_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, fi_addr[2], FI_ADDR_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, fi_addr[3], FI_ADDR_NOTAVAIL);
	/* They leave no gap */
	KUNIT_EXPECT_EQ(test, fi_addr[4], 1);
	KUNIT_EXPECT_EQ(test, errors[0], 0);
	KUNIT_EXPECT_EQ(test, errors[1], EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, errors[2], EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, errors[3], EAFNOSUPPORT);
	KUNIT_EXPECT_EQ(test, errors[4], 0);
}

static void numbers_need_not_be_asked_for(struct kunit *test)
{
	struct sockaddr_in addr[] = { ut_ipv4(1, UT_PORT), ut_ipv4(2, 0),
				      ut_ipv4(3, UT_PORT) };
	struct ut_av *at = ut_av(test);

	KUNIT_EXPECT_EQ(test, ut_av_insert(at, addr, 3, NULL, FI_MORE, NULL), 2);
	KUNIT_EXPECT_TRUE(test, ut_av_is_at(at, 1, ut_ipv4(3, UT_PORT)));
	KUNIT_EXPECT_EQ(test, ut_av_insert(at, NULL, 0, NULL, 0, NULL), 0);
}

static void insertions_that_make_no_sense_are_refused(struct kunit *test)
{
	struct sockaddr_in addr = ut_ipv4(1, UT_PORT);
	struct ut_av *at = ut_av(test);
	fi_addr_t fi_addr = 5;

	KUNIT_EXPECT_EQ(test, ut_av_insert(at, NULL, 1, &fi_addr, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ut_av_insert(at, &addr, (size_t)INT_MAX + 1,
					   &fi_addr, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ut_av_insert(at, &addr, 1, &fi_addr, FI_SYNC_ERR, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ut_av_insert(at, &addr, 1, NULL, FI_AV_USER_ID, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ut_av_insert(at, &addr, 1, &fi_addr, FI_AUTH_KEY, NULL),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_addr, 5);
	KUNIT_EXPECT_EQ(test, ut_av_find(at, addr), FI_ADDR_NOTAVAIL);
}

static void more_addresses_than_there_may_be_are_left_out(struct kunit *test)
{
	struct sockaddr_in addr[] = { ut_ipv4(1, UT_PORT), ut_ipv4(2, UT_PORT),
				      ut_ipv4(3, UT_PORT) };
	struct ut_av *at = ut_av(test);
	fi_addr_t fi_addr[3];
	int errors[3];

	at->av.max = 2;
	KUNIT_EXPECT_EQ(test, ut_av_insert(at, addr, 3, fi_addr, FI_SYNC_ERR, errors), 2);
	KUNIT_EXPECT_EQ(test, errors[2], ENOSPC);
	KUNIT_EXPECT_EQ(test, fi_addr[2], FI_ADDR_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, ut_av_find(at, addr[2]), FI_ADDR_NOTAVAIL);
	/* What is there already needs no place */
	KUNIT_EXPECT_EQ(test, ut_av_insert_nth(test, at, 2), 1);
	KUNIT_EXPECT_EQ(test, ut_av_remove(at, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_av_insert_nth(test, at, 3), 0);
}

/* Where the table has an address */
static u32 bucket_of(struct ut_av *at, struct sockaddr_in sin)
{
	struct rhashtable *hash = &at->av.hash;
	/* As struct kofi_av_key */
	const struct {
		struct in6_addr	addr;
		u32		scope;
		__be16		port;
		u16		family;
	} key = {
		.addr.s6_addr32[3] = sin.sin_addr.s_addr, .port = sin.sin_port, .family = AF_INET,
	};

	return rht_key_hashfn(hash, rcu_dereference_raw(hash->tbl), &key, hash->p);
}

/* The next address behind the @n-th that the table has where it has the first one */
static u32 next_in_bucket(struct ut_av *at, u32 n)
{
	do
		n++;
	while (bucket_of(at, ut_ipv4(n, UT_PORT)) != bucket_of(at, ut_ipv4(1, UT_PORT)));
	return n;
}

/* A table in which too many addresses are at one place is made anew */
static void an_address_for_which_the_table_has_no_memory_is_left_out(struct kunit *test)
{
	struct ut_av *at = ut_av(test);
	struct sockaddr_in addr;
	fi_addr_t fi_addr;
	int i, error, ret;
	u32 n = 1;

	for (i = 0; i < RHT_ELASTICITY; i++, n = next_in_bucket(at, n))
		KUNIT_ASSERT_EQ(test, ut_av_insert_nth(test, at, n), i);
	addr = ut_ipv4(n, UT_PORT);
	ut_fail_nth(1);
	ret = ut_av_insert(at, &addr, 1, &fi_addr, FI_SYNC_ERR, &error);
	KUNIT_EXPECT_EQ(test, ut_fail_nth(0), 0);
	if (!IS_ENABLED(CONFIG_FAILSLAB)) {
		KUNIT_EXPECT_EQ(test, ret, 1);
		return;
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, error, ENOMEM);
	KUNIT_EXPECT_EQ(test, fi_addr, FI_ADDR_NOTAVAIL);
	KUNIT_EXPECT_FALSE(test, ut_av_is_at(at, i, addr));
	KUNIT_EXPECT_EQ(test, ut_av_insert_nth(test, at, n), i);
	KUNIT_EXPECT_EQ(test, ut_av_find(at, addr), i);
}

static void removals_that_make_no_sense_are_refused(struct kunit *test)
{
	fi_addr_t some[] = { 0, 7, 1, FI_ADDR_NOTAVAIL, BIT_ULL(32) };
	struct ut_av *at = ut_av(test);
	const struct fi_ops_av *ops = at->av.av.ops;
	struct fid_av *av = &at->av.av;

	ut_av_insert_nth(test, at, 1);
	ut_av_insert_nth(test, at, 2);
	KUNIT_EXPECT_EQ(test, ops->remove(av, some, 1, BIT(0)), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, ops->remove(av, NULL, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ops->remove(av, NULL, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, at->removed, 0);
	/* Those that are there are removed */
	KUNIT_EXPECT_EQ(test, ops->remove(av, some, ARRAY_SIZE(some), 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, at->removed, 2);
}

static void a_number_is_kept_until_the_provider_knows(struct kunit *test)
{
	struct ut_av *at = ut_av(test);
	struct sockaddr_in addr = ut_ipv4(2, UT_PORT),
			   equal = ut_ipv4(1, UT_PORT);
	fi_addr_t fi_addr = ut_av_insert_nth(test, at, 1);

	at->insert = &addr;
	KUNIT_EXPECT_EQ(test, ut_av_remove(at, fi_addr), 0);
	KUNIT_EXPECT_EQ(test, at->index, fi_addr);
	KUNIT_EXPECT_FALSE(test, at->found);
	KUNIT_EXPECT_EQ(test, at->inserted, 1);
	/* From then on it is free */
	at->insert = &equal;
	KUNIT_EXPECT_EQ(test, ut_av_insert_nth(test, at, 1), fi_addr);
	KUNIT_EXPECT_EQ(test, ut_av_remove(at, fi_addr), 0);
	/* An equal address is another one */
	KUNIT_EXPECT_EQ(test, at->inserted, 2);
	KUNIT_EXPECT_TRUE(test, ut_av_is_at(at, 2, equal));
}

static void a_provider_that_keeps_nothing_is_not_called(struct kunit *test)
{
	struct fi_av_attr attr = {};
	struct fid_av *av;
	struct sockaddr_in addr = ut_ipv4(1, UT_PORT);
	fi_addr_t fi_addr;

	KUNIT_ASSERT_EQ(test, kofi_av_open(&attr, FI_SOCKADDR_IN, NULL, &av, test), 0);
	KUNIT_EXPECT_EQ(test, attr.type, FI_AV_TABLE);
	KUNIT_EXPECT_EQ(test, av->fid.fclass, FI_CLASS_AV);
	KUNIT_EXPECT_PTR_EQ(test, av->fid.context, (void *)test);
	KUNIT_EXPECT_EQ(test, av->ops->insert(av, &addr, 1, &fi_addr, 0, NULL), 1);
	KUNIT_EXPECT_EQ(test, av->ops->remove(av, &fi_addr, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, av->ops->insert(av, &addr, 1, &fi_addr, 0, NULL), 1);
	KUNIT_EXPECT_EQ(test, av->fid.ops->close(&av->fid), 0);
}

static void a_lookup_gives_what_fits(struct kunit *test)
{
	struct ut_av *at = ut_av(test);
	struct sockaddr_in addr = ut_ipv4(1, UT_PORT);
	struct fid_av *av = &at->av.av;
	u8 got[sizeof(addr) + 8];
	size_t len, i;

	ut_av_insert_nth(test, at, 1);
	for (i = 0; i <= sizeof(got); i += 4) {
		memset(got, 0xa5, sizeof(got));
		len = i;
		KUNIT_EXPECT_EQ(test, av->ops->lookup(av, 0, got, &len), 0);
		KUNIT_EXPECT_EQ(test, len, sizeof(addr));
		KUNIT_EXPECT_MEMEQ(test, got, &addr, min(i, sizeof(addr)));
		if (i < sizeof(got))
			KUNIT_EXPECT_EQ(test, got[min(i, sizeof(addr))], 0xa5);
	}
	KUNIT_EXPECT_EQ(test, av->ops->lookup(av, 1, got, &len), -EINVAL);
	KUNIT_EXPECT_EQ(test, av->ops->lookup(av, FI_ADDR_NOTAVAIL, got, &len), -EINVAL);
	KUNIT_EXPECT_EQ(test, av->ops->lookup(av, BIT_ULL(32), got, &len), -EINVAL);
}

static void completions_say_what_the_client_calls_a_peer(struct kunit *test)
{
	struct sockaddr_in addr[] = { ut_ipv4(1, UT_PORT),
				      ut_ipv4(2, UT_PORT) };
	fi_addr_t fi_addr[] = { 0x1111111122222222ULL, FI_ADDR_NOTAVAIL - 1 };
	struct ut_av *at = ut_av(test);

	KUNIT_EXPECT_EQ(test, ut_av_source(at, addr[0]), FI_ADDR_NOTAVAIL);
	ut_av_insert_nth(test, at, 3);
	KUNIT_EXPECT_EQ(test, ut_av_source(at, ut_ipv4(3, UT_PORT)), 0);
	KUNIT_EXPECT_EQ(test, ut_av_insert(at, addr, 2, fi_addr, FI_AV_USER_ID, NULL), 2);

	/* Calls go on to take the number */
	KUNIT_EXPECT_EQ(test, fi_addr[0], 1);
	KUNIT_EXPECT_EQ(test, fi_addr[1], 2);
	KUNIT_EXPECT_EQ(test, ut_av_find(at, addr[0]), 1);
	KUNIT_EXPECT_EQ(test, ut_av_source(at, addr[0]), 0x1111111122222222ULL);
	KUNIT_EXPECT_EQ(test, ut_av_source(at, addr[1]), FI_ADDR_NOTAVAIL - 1);

	/* The last id counts, and an insertion without one changes nothing */
	fi_addr[0] = 77;
	KUNIT_EXPECT_EQ(test, ut_av_insert(at, addr, 1, fi_addr, FI_AV_USER_ID, NULL), 1);
	KUNIT_EXPECT_EQ(test, ut_av_insert(at, addr, 1, fi_addr, 0, NULL), 1);
	KUNIT_EXPECT_EQ(test, ut_av_source(at, addr[0]), 77);
	KUNIT_EXPECT_EQ(test, ut_av_set_user_id(at, 1, 8, 0), -EINVAL);
}

static void ids_can_be_given_later(struct kunit *test)
{
	struct ut_av *at = ut_av_open(test,
				      (struct fi_av_attr){
					      .flags = FI_AV_USER_ID,
				      },
				      FI_SOCKADDR_IN);
	struct sockaddr_in addr = ut_ipv4(1, UT_PORT);
	fi_addr_t fi_addr = ut_av_insert_nth(test, at, 1);

	KUNIT_EXPECT_EQ(test, ut_av_source(at, addr), FI_ADDR_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, ut_av_find(at, addr), fi_addr);
	KUNIT_EXPECT_EQ(test, ut_av_set_user_id(at, fi_addr, 77, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_av_source(at, addr), 77);

	KUNIT_EXPECT_EQ(test, ut_av_set_user_id(at, 5, 7, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ut_av_set_user_id(at, fi_addr, 7, FI_AUTH_KEY), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, ut_av_insert(at, &addr, 1, &fi_addr, FI_AV_USER_ID, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ut_av_source(at, addr), 77);
}

static void
bits_of_a_receive_context_are_no_part_of_a_number(struct kunit *test)
{
	struct ut_av *at = ut_av_open(test,
				      (struct fi_av_attr){
					      .rx_ctx_bits = 3,
				      },
				      FI_SOCKADDR_IN);
	fi_addr_t fi_addr, of_rx;

	ut_av_insert_nth(test, at, 1);
	fi_addr = ut_av_insert_nth(test, at, 2);
	of_rx = 5ULL << 61 | fi_addr;

	KUNIT_EXPECT_TRUE(test, ut_av_is_at(at, of_rx, ut_ipv4(2, UT_PORT)));
	KUNIT_EXPECT_EQ(test, kofi_av_index(&at->av, of_rx), fi_addr);
	KUNIT_EXPECT_EQ(test, kofi_av_rx_index(&at->av, of_rx), 5);
	KUNIT_EXPECT_EQ(test, kofi_av_rx_index(&at->av, fi_addr), 0);
	KUNIT_EXPECT_EQ(test, kofi_av_index(&at->av, FI_ADDR_NOTAVAIL), U32_MAX);
	/* What stands between the two makes it another number */
	KUNIT_EXPECT_FALSE(test, ut_av_is_at(at, of_rx | BIT_ULL(60), ut_ipv4(2, UT_PORT)));

	at = ut_av(test);
	ut_av_insert_nth(test, at, 1);
	KUNIT_EXPECT_EQ(test, kofi_av_rx_index(&at->av, U64_MAX), 0);
	KUNIT_EXPECT_FALSE(test, ut_av_is_at(at, BIT_ULL(63), ut_ipv4(1, UT_PORT)));
}

static void ten_thousand_peers_are_found(struct kunit *test)
{
	struct ut_av *at = ut_av(test);
	u32 i;

	KUNIT_EXPECT_EQ(test, ut_av_insertsym(at, "10.0.0.0", NR_MANY, UT_PORT, 1, NULL, 0, NULL),
			NR_MANY);
	for (i = 0; i < NR_MANY; i++) {
		KUNIT_ASSERT_TRUE(test, ut_av_is_at(at, i, ut_ipv4(i, UT_PORT)));
		KUNIT_ASSERT_EQ(test, ut_av_find(at, ut_ipv4(i, UT_PORT)), i);
	}
	for (i = 0; i < NR_MANY; i++)
		KUNIT_ASSERT_EQ(test, ut_av_remove(at, i), 0);
	KUNIT_EXPECT_EQ(test, at->removed, NR_MANY);
}

/**
 * struct race - Readers beside a vector that changes
 * @at: the vector
 * @found: addresses that readers have found
 * @done: it does not change any more
 * @bad: a reader got what was never an address of it
 */
struct race {
	struct ut_av	*at;
	atomic_t	found;
	bool		done;
	bool		bad;
};

static int look_up_all_the_time(void *data)
{
	struct sockaddr_storage addr;
	struct race *race = data;

	while (!READ_ONCE(race->done)) {
		if (kofi_av_addr(&race->at->av, 0, &addr)) {
			if (addr.ss_family != AF_INET || kofi_addr_port(&addr) != UT_PORT)
				race->bad = true;
			/* It may have gone meanwhile */
			kofi_av_source(&race->at->av, &addr);
			atomic_inc(&race->found);
		}
		cond_resched();
	}
	return 0;
}

static void readers_see_whole_addresses(struct kunit *test)
{
	struct race race = { .at = ut_av(test) };
	struct vt_async *reader[NR_READERS];
	int i, found;

	for (i = 0; i < NR_READERS; i++)
		reader[i] = vt_async_start(test, look_up_all_the_time, &race);
	for (i = 0; i < NR_ROUNDS; i++) {
		found = atomic_read(&race.found);
		KUNIT_EXPECT_EQ(test, ut_av_insert_nth(test, race.at, i + 1), 0);
		/* Most rounds are fast; now and then a reader has to come by */
		if (!(i % 100))
			KUNIT_EXPECT_TRUE(test, vt_until(atomic_read(&race.found) != found));
		KUNIT_EXPECT_EQ(test, ut_av_remove(race.at, 0), 0);
	}
	WRITE_ONCE(race.done, true);
	for (i = 0; i < NR_READERS; i++)
		vt_async_join(test, reader[i]);

	KUNIT_EXPECT_FALSE(test, race.bad);
}

static struct kunit_case av_cases[] = {
	KUNIT_CASE(addresses_are_numbered_in_order),
	KUNIT_CASE(the_lowest_free_number_is_given),
	KUNIT_CASE(an_equal_address_has_one_number),
	KUNIT_CASE(a_duplicate_is_removed_as_often_as_it_was_inserted),
	KUNIT_CASE(bad_addresses_are_left_out),
	KUNIT_CASE(numbers_need_not_be_asked_for),
	KUNIT_CASE(insertions_that_make_no_sense_are_refused),
	KUNIT_CASE(more_addresses_than_there_may_be_are_left_out),
	KUNIT_CASE(an_address_for_which_the_table_has_no_memory_is_left_out),
	KUNIT_CASE(removals_that_make_no_sense_are_refused),
	KUNIT_CASE(a_number_is_kept_until_the_provider_knows),
	KUNIT_CASE(a_provider_that_keeps_nothing_is_not_called),
	KUNIT_CASE(a_lookup_gives_what_fits),
	KUNIT_CASE(completions_say_what_the_client_calls_a_peer),
	KUNIT_CASE(ids_can_be_given_later),
	KUNIT_CASE(bits_of_a_receive_context_are_no_part_of_a_number),
	KUNIT_CASE(ten_thousand_peers_are_found),
	KUNIT_CASE(readers_see_whole_addresses),
	{}
};

static struct kunit_suite av_suite = {
	.name = "kofi_util_av",
	.test_cases = av_cases,
};

kunit_test_suite(av_suite);
