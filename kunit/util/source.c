// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Source addresses, and room that is divided by them.
 */
#include <linux/in.h>
#include <linux/sizes.h>
#include <kofi/source.h>
#include "util.h"

#define MSGS		12	/* of the quota */
#define BYTES		1200
#define CONN_MSGS	5
#define LONGEST		200	/* bytes of a message */
#define MANY		40	/* addresses, more than one call looks at */

static const struct kofi_quota_limits limits = {
	.msgs		= MSGS,
	.bytes		= BYTES,
	.conn_msgs	= CONN_MSGS,
	.conn_bytes	= BYTES,
	.max		= LONGEST,
};

static const struct kofi_quota_limits many_limits = {
	.msgs		= 2 * MANY,
	.conn_msgs	= MANY,
};

static void set_v4(struct sockaddr_storage *addr, u32 host, u16 port)
{
	struct sockaddr_in *sin = (void *)addr;

	memset(addr, 0, sizeof(*addr));
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(host);
	sin->sin_port = htons(port);
}

static void set_v6(struct sockaddr_storage *addr, u16 first, u8 net, u8 host, u32 scope)
{
	struct sockaddr_in6 *sin6 = (void *)addr;

	memset(addr, 0, sizeof(*addr));
	sin6->sin6_family = AF_INET6;
	sin6->sin6_addr.s6_addr16[0] = htons(first);
	sin6->sin6_addr.s6_addr[7] = net;
	sin6->sin6_addr.s6_addr[15] = host;
	sin6->sin6_scope_id = scope;
}

static bool is_one(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	struct kofi_source_key x, y;

	/* All bytes are compared */
	memset(&x, 0x55, sizeof(x));
	memset(&y, 0xaa, sizeof(y));
	kofi_source_key_set(&x, a);
	kofi_source_key_set(&y, b);
	return !memcmp(&x, &y, sizeof(x));
}

static void an_address_is_a_host_or_a_network_of_64_bits(struct kunit *test)
{
	struct sockaddr_storage a, b;

	set_v4(&a, 0x7f000001, 1);
	set_v4(&b, 0x7f000001, 2);
	KUNIT_EXPECT_TRUE(test, is_one(&a, &b));
	set_v4(&b, 0x7f000002, 1);
	KUNIT_EXPECT_FALSE(test, is_one(&a, &b));
	set_v6(&a, 0xfd00, 1, 1, 0);
	set_v6(&b, 0xfd00, 1, 2, 0);
	KUNIT_EXPECT_TRUE(test, is_one(&a, &b));
	((struct sockaddr_in6 *)&b)->sin6_addr.s6_addr[8] = 1;
	KUNIT_EXPECT_TRUE(test, is_one(&a, &b));
	set_v6(&b, 0xfd00, 2, 1, 0);
	KUNIT_EXPECT_FALSE(test, is_one(&a, &b));
	/* Link-local hosts share a network and are none that one of them has */
	set_v6(&a, 0xfe80, 0, 1, 1);
	set_v6(&b, 0xfe80, 0, 2, 1);
	KUNIT_EXPECT_FALSE(test, is_one(&a, &b));
	set_v6(&b, 0xfe80, 0, 1, 2);
	KUNIT_EXPECT_FALSE(test, is_one(&a, &b));
}

static struct kofi_source *get(struct kunit *test, struct kofi_sources *sources, u32 host)
{
	struct sockaddr_storage addr;
	struct kofi_source *source;

	set_v4(&addr, host, 1);
	source = kofi_source_get(sources, &addr);
	KUNIT_ASSERT_NOT_NULL(test, source);
	return source;
}

static void an_address_stays_as_long_as_it_has_users(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct kofi_sources sources;
	struct kofi_source *source;
	hsiphash_key_t secret;

	memset(&sources, 0xa5, sizeof(sources));
	kofi_sources_init(&sources);
	secret = sources.secret;
	set_v4(&addr, 1, 9);
	source = get(test, &sources, 1);
	source->accepted = 3;
	KUNIT_EXPECT_EQ(test, kofi_source_accepted(&sources, &addr), 3);
	KUNIT_EXPECT_PTR_EQ(test, get(test, &sources, 1), source);
	kofi_source_hold(&sources, source);
	kofi_source_put(&sources, source);
	kofi_source_put(&sources, source);
	KUNIT_EXPECT_EQ(test, kofi_source_accepted(&sources, &addr), 3);
	source->accepted = 0;
	kofi_source_put(&sources, source);
	KUNIT_EXPECT_EQ(test, kofi_source_accepted(&sources, &addr), 0);
	KUNIT_EXPECT_TRUE(test, hash_empty(sources.table));
	/* A peer cannot know which addresses are beside each other in a table */
	kofi_sources_init(&sources);
	KUNIT_EXPECT_NE(test, memcmp(&secret, &sources.secret, sizeof(secret)), 0);
}

/**
 * struct bed - A quota, and connections of three addresses, two of each
 * @sources: the addresses
 * @source: they
 * @quota: the quota
 * @conn: the connections, those of an address beside each other
 */
struct bed {
	struct kofi_sources	sources;
	struct kofi_source	*source[3];
	struct kofi_quota	quota;
	struct kofi_quota_conn	conn[6];
};

static struct bed *bed_open(struct kunit *test)
{
	struct bed *bed = vt_buf(test, sizeof(*bed));
	int i;

	kofi_sources_init(&bed->sources);
	kofi_quota_init(&bed->quota, &limits);
	for (i = 0; i < ARRAY_SIZE(bed->source); i++)
		bed->source[i] = get(test, &bed->sources, i + 1);
	for (i = 0; i < ARRAY_SIZE(bed->conn); i++)
		kofi_quota_conn_init(&bed->conn[i], &bed->source[i / 2]->kept);
	return bed;
}

static void bed_close(struct bed *bed)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bed->source); i++) {
		bed->source[i]->kept.used = (struct kofi_quota_part) {};
		kofi_source_put(&bed->sources, bed->source[i]);
	}
}

static bool take(struct bed *bed, int conn, size_t len)
{
	return kofi_quota_take(&bed->quota, bed->conn[conn].source, &bed->conn[conn], len);
}

static void give(struct bed *bed, int conn, size_t len)
{
	kofi_quota_give(&bed->quota, bed->conn[conn].source, &bed->conn[conn], len);
}

/* Takes as much as there is; returns how many messages */
static int take_all(struct bed *bed, int conn, size_t len)
{
	int n = 0;

	while (take(bed, conn, len))
		n++;
	return n;
}

static void an_address_gets_no_more_than_is_left(struct kunit *test)
{
	struct bed *bed = bed_open(test);

	KUNIT_EXPECT_FALSE(test, take(bed, 0, LONGEST + 1));
	KUNIT_EXPECT_EQ(test, take_all(bed, 0, 1), CONN_MSGS);
	KUNIT_EXPECT_EQ(test, take_all(bed, 1, 1), MSGS / 2 - CONN_MSGS);
	KUNIT_EXPECT_EQ(test, take_all(bed, 2, 1), MSGS / 4);
	KUNIT_EXPECT_EQ(test, take_all(bed, 3, 1), 0);
	KUNIT_EXPECT_EQ(test, take_all(bed, 4, 1), 2);
	/* Of bytes, too */
	bed->quota.used = (struct kofi_quota_part) {};
	bed->source[0]->kept.used = (struct kofi_quota_part) {};
	bed->conn[0].used = (struct kofi_quota_part) {};
	KUNIT_EXPECT_EQ(test, take_all(bed, 0, LONGEST), BYTES / 2 / LONGEST);
	/* There is no room for one that waits, unless it has no bytes */
	kofi_quota_wait(&bed->quota, &bed->conn[0], 1);
	KUNIT_EXPECT_NULL(test, kofi_quota_next(&bed->quota));
	kofi_quota_wait(&bed->quota, &bed->conn[0], 0);
	KUNIT_EXPECT_PTR_EQ(test, kofi_quota_next(&bed->quota), &bed->conn[0]);
	bed_close(bed);
}

static void a_connection_that_is_over_has_no_bound(struct kunit *test)
{
	struct bed *bed = bed_open(test);

	KUNIT_EXPECT_EQ(test, take_all(bed, 0, 1), CONN_MSGS);
	KUNIT_EXPECT_TRUE(test, kofi_quota_take(&bed->quota, bed->conn[0].source, NULL, 1));
	KUNIT_EXPECT_FALSE(test, kofi_quota_take(&bed->quota, bed->conn[0].source, NULL, 1));
	kofi_quota_give(&bed->quota, bed->conn[0].source, NULL, 1);
	KUNIT_EXPECT_EQ(test, bed->conn[0].used.msgs, CONN_MSGS);
	KUNIT_EXPECT_EQ(test, bed->source[0]->kept.used.msgs, CONN_MSGS);
	KUNIT_EXPECT_EQ(test, bed->quota.used.msgs, CONN_MSGS);
	bed_close(bed);
}

static void connections_that_wait_take_turns_and_find_room(struct kunit *test)
{
	struct bed *bed = bed_open(test);

	kofi_quota_wait(&bed->quota, &bed->conn[0], 1);
	kofi_quota_wait(&bed->quota, &bed->conn[1], 1);
	KUNIT_EXPECT_PTR_EQ(test, kofi_quota_next(&bed->quota), &bed->conn[0]);
	KUNIT_EXPECT_PTR_EQ(test, kofi_quota_next(&bed->quota), &bed->conn[1]);
	KUNIT_EXPECT_PTR_EQ(test, kofi_quota_next(&bed->quota), &bed->conn[0]);
	kofi_quota_stop(&bed->conn[0]);
	kofi_quota_stop(&bed->conn[1]);
	take_all(bed, 0, 1);
	KUNIT_EXPECT_NULL(test, kofi_quota_next(&bed->quota));
	/* The first has its bound, so the other one of its address is next */
	kofi_quota_wait(&bed->quota, &bed->conn[0], 1);
	kofi_quota_wait(&bed->quota, &bed->conn[1], 1);
	kofi_quota_wait(&bed->quota, &bed->conn[4], LONGEST + 1);
	KUNIT_EXPECT_PTR_EQ(test, kofi_quota_next(&bed->quota), &bed->conn[1]);
	KUNIT_EXPECT_PTR_EQ(test, kofi_quota_next(&bed->quota), &bed->conn[1]);
	/* One that takes room waits no more, and its address has its part then */
	KUNIT_EXPECT_TRUE(test, take(bed, 1, 1));
	KUNIT_EXPECT_NULL(test, kofi_quota_next(&bed->quota));
	kofi_quota_wait(&bed->quota, &bed->conn[2], 1);
	KUNIT_EXPECT_PTR_EQ(test, kofi_quota_next(&bed->quota), &bed->conn[2]);
	give(bed, 0, 1);
	KUNIT_EXPECT_PTR_EQ(test, kofi_quota_next(&bed->quota), &bed->conn[0]);
	KUNIT_EXPECT_PTR_EQ(test, kofi_quota_next(&bed->quota), &bed->conn[2]);
	KUNIT_EXPECT_PTR_EQ(test, kofi_quota_next(&bed->quota), &bed->conn[0]);
	KUNIT_EXPECT_TRUE(test, kofi_quota_stop(&bed->conn[0]));
	KUNIT_EXPECT_FALSE(test, kofi_quota_stop(&bed->conn[0]));
	KUNIT_EXPECT_TRUE(test, kofi_quota_stop(&bed->conn[2]));
	KUNIT_EXPECT_FALSE(test, kofi_quota_stop(&bed->conn[4]));
	KUNIT_EXPECT_TRUE(test, list_empty(&bed->quota.hungry));
	bed_close(bed);
}

static void room_is_wanted_by_its_address_and_by_those_that_have_less(struct kunit *test)
{
	struct bed *bed = bed_open(test);

	take_all(bed, 0, 1);
	take(bed, 2, 1);
	KUNIT_EXPECT_FALSE(test, kofi_quota_is_wanted(&bed->quota, &bed->source[0]->kept));
	kofi_quota_wait(&bed->quota, &bed->conn[2], 1);
	KUNIT_EXPECT_TRUE(test, kofi_quota_is_wanted(&bed->quota, &bed->source[0]->kept));
	KUNIT_EXPECT_TRUE(test, kofi_quota_is_wanted(&bed->quota, &bed->source[1]->kept));
	kofi_quota_stop(&bed->conn[2]);
	kofi_quota_wait(&bed->quota, &bed->conn[0], 1);
	KUNIT_EXPECT_TRUE(test, kofi_quota_is_wanted(&bed->quota, &bed->source[0]->kept));
	KUNIT_EXPECT_FALSE(test, kofi_quota_is_wanted(&bed->quota, &bed->source[1]->kept));
	kofi_quota_stop(&bed->conn[0]);
	bed_close(bed);
}

/* However many wait that find none */
static void every_address_is_looked_at(struct kunit *test)
{
	struct kofi_quota_conn *conns = kunit_kcalloc(test, MANY, sizeof(*conns), GFP_KERNEL);
	struct kofi_source **list = kunit_kcalloc(test, MANY, sizeof(*list), GFP_KERNEL);
	struct kofi_quota_conn *next = NULL;
	struct kofi_sources sources;
	struct kofi_quota quota;
	int i;

	KUNIT_ASSERT_TRUE(test, conns && list);
	kofi_sources_init(&sources);
	kofi_quota_init(&quota, &many_limits);
	/* All but the last have a half, as far as they can know */
	for (i = 0; i < MANY; i++) {
		list[i] = get(test, &sources, i + 1);
		kofi_quota_conn_init(&conns[i], &list[i]->kept);
		list[i]->kept.used.msgs = i < MANY - 1 ? MANY : 0;
		kofi_quota_wait(&quota, &conns[i], 0);
	}
	quota.used.msgs = MANY;
	for (i = 0; i < MANY && !next; i++)
		next = kofi_quota_next(&quota);
	KUNIT_EXPECT_PTR_EQ(test, next, &conns[MANY - 1]);
	KUNIT_EXPECT_EQ(test, i, MANY - KOFI_QUOTA_LOOKS + 1);
	for (i = 0; i < MANY; i++) {
		kofi_quota_stop(&conns[i]);
		list[i]->kept.used.msgs = 0;
		kofi_source_put(&sources, list[i]);
	}
}

/* The first look is at the address */
static void every_connection_of_an_address_is_looked_at(struct kunit *test)
{
	struct kofi_quota_conn *conns = kunit_kcalloc(test, MANY, sizeof(*conns), GFP_KERNEL);
	struct kofi_quota_conn *next = NULL;
	struct kofi_sources sources;
	struct kofi_source *source;
	struct kofi_quota quota;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, conns);
	kofi_sources_init(&sources);
	kofi_quota_init(&quota, &many_limits);
	source = get(test, &sources, 1);
	for (i = 0; i < MANY; i++) {
		kofi_quota_conn_init(&conns[i], &source->kept);
		conns[i].used.msgs = i < MANY - 1 ? MANY : 0;
		kofi_quota_wait(&quota, &conns[i], 0);
	}
	for (i = 0; i < MANY && !next; i++)
		next = kofi_quota_next(&quota);
	KUNIT_EXPECT_PTR_EQ(test, next, &conns[MANY - 1]);
	KUNIT_EXPECT_EQ(test, i, MANY - KOFI_QUOTA_LOOKS + 2);
	kofi_source_put(&sources, source);
}

static struct kunit_case source_cases[] = {
	KUNIT_CASE(an_address_is_a_host_or_a_network_of_64_bits),
	KUNIT_CASE(an_address_stays_as_long_as_it_has_users),
	KUNIT_CASE(an_address_gets_no_more_than_is_left),
	KUNIT_CASE(a_connection_that_is_over_has_no_bound),
	KUNIT_CASE(connections_that_wait_take_turns_and_find_room),
	KUNIT_CASE(room_is_wanted_by_its_address_and_by_those_that_have_less),
	KUNIT_CASE(every_address_is_looked_at),
	KUNIT_CASE(every_connection_of_an_address_is_looked_at),
	{}
};

static struct kunit_suite source_suite = {
	.name		= "kofi_util_source",
	.test_cases	= source_cases,
};

kunit_test_suite(source_suite);
