// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peers of endpoints without connections.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <kofi/addr.h>
#include <kofi/peer.h>
#include "util.h"

#define TICK	(HZ / 20)
#define LIMIT	(10 * HZ)

/**
 * struct place - An address
 * @is_v6: its family
 * @first: the first byte
 * @last: the last byte
 * @port: its port
 * @scope: of an IPv6 address
 * @index: a receive context
 */
struct place {
	bool	is_v6;
	u8	first;
	u8	last;
	u16	port;
	u32	scope;
	u32	index;
};

static noinline_for_stack void place_addr(const struct place *place, struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *sin6 = (void *)addr;
	struct sockaddr_in *sin = (void *)addr;

	memset(addr, 0, sizeof(*addr));
	if (!place->is_v6) {
		sin->sin_family = AF_INET;
		sin->sin_addr.s_addr = htonl(place->first << 24 | place->last);
		sin->sin_port = htons(place->port);
		return;
	}
	sin6->sin6_family = AF_INET6;
	sin6->sin6_addr.s6_addr[0] = place->first;
	sin6->sin6_addr.s6_addr[1] = 0x80;
	sin6->sin6_addr.s6_addr[15] = place->last;
	sin6->sin6_port = htons(place->port);
	sin6->sin6_scope_id = place->scope;
}

static const struct pair_case {
	const char	*name;
	struct place	a;
	struct place	b;
	bool		same;	/* peers */
	int		order;	/* of @a and @b */
} pair_cases[] = {
	{ "the same", { 0, 1, 7, 7 }, { 0, 1, 7, 7 }, true, 0 },
	{ "another host", { 0, 1, 2, 9 }, { 0, 2, 1, 8 }, false, -1 },
	{ "another host behind", { 0, 2, 1, 8 }, { 0, 1, 2, 9 }, false, 1 },
	{ "another port", { 0, 1, 7, 0x0102 }, { 0, 1, 7, 0x0201 }, false, -1 },
	{ "another port behind", { 0, 1, 7, 0x0201 }, { 0, 1, 7, 0x0102 }, false, 1 },
	{ "another context", { 0, 1, 7, 7, 0, 0 }, { 0, 1, 7, 7, 0, 1 }, false, 0 },
	{ "the same in IPv6", { 1, 0xfd, 1, 7, 0, 2 }, { 1, 0xfd, 1, 7, 0, 2 }, true, 0 },
	{ "another first byte", { 1, 0xfd, 2, 7 }, { 1, 0xfe, 1, 7 }, false, -1 },
	{ "another last byte", { 1, 0xfd, 2, 7 }, { 1, 0xfd, 1, 7 }, false, 1 },
	{ "a scope that does not count", { 1, 0xfd, 1, 7, 1 }, { 1, 0xfd, 1, 7, 2 }, true, 0 },
	{ "a scope that counts", { 1, 0xfe, 1, 7, 1 }, { 1, 0xfe, 1, 7, 2 }, false, 0 },
};

KUNIT_ARRAY_PARAM_DESC(pair, pair_cases, name);

static void a_key_has_what_a_peer_is_known_by(struct kunit *test)
{
	const struct pair_case *row = test->param_value;
	struct kofi_peer_key a, b;
	struct sockaddr_storage addr;

	/* All bytes are compared */
	memset(&a, 0x55, sizeof(a));
	memset(&b, 0xaa, sizeof(b));
	place_addr(&row->a, &addr);
	kofi_peer_key_set(&a, &addr, row->a.index);
	place_addr(&row->b, &addr);
	kofi_peer_key_set(&b, &addr, row->b.index);
	KUNIT_EXPECT_EQ(test, !memcmp(&a, &b, sizeof(a)), row->same);
	KUNIT_EXPECT_EQ(test, b.family, addr.ss_family);
	KUNIT_EXPECT_EQ(test, b.port, htons(row->b.port));
	KUNIT_EXPECT_EQ(test, b.addr.s6_addr[row->b.is_v6 ? 0 : 12], row->b.first);
	KUNIT_EXPECT_EQ(test, b.addr.s6_addr[15], row->b.last);
	KUNIT_EXPECT_EQ(test, b.addr.s6_addr[2], 0);
}

static void addresses_are_compared_byte_by_byte_then_by_port(struct kunit *test)
{
	const struct pair_case *row = test->param_value;
	struct sockaddr_storage a, b;
	int ret;

	place_addr(&row->a, &a);
	place_addr(&row->b, &b);
	ret = kofi_addr_cmp(&a, &b);
	KUNIT_EXPECT_EQ(test, (ret > 0) - (ret < 0), row->order);
}

static void only_errors_that_may_pass_are_tried_again(struct kunit *test)
{
	static const int pass[] = {
		EALREADY, ECONNRESET, ECONNABORTED, EADDRNOTAVAIL, ENOMEM, EAGAIN,
	};
	static const int stay[] = { ECONNREFUSED, ETIMEDOUT, ENODEV, EHOSTUNREACH, ECANCELED };
	struct kofi_redial redial = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(stay); i++) {
		KUNIT_EXPECT_FALSE(test, kofi_redial_failed(&redial, stay[i], TICK));
		KUNIT_EXPECT_FALSE(test, kofi_redial_is_early(&redial));
	}
	for (i = 0; i < ARRAY_SIZE(pass); i++) {
		redial = (struct kofi_redial) {};
		kofi_redial_begin(&redial, LIMIT);
		KUNIT_EXPECT_TRUE(test, kofi_redial_failed(&redial, pass[i], TICK));
		KUNIT_EXPECT_TRUE(test, kofi_redial_is_early(&redial));
		KUNIT_EXPECT_TRUE(test, time_before_eq(redial.next, jiffies + TICK));
	}
	kofi_redial_end(&redial);
	KUNIT_EXPECT_FALSE(test, kofi_redial_is_early(&redial));
}

/* Pauses grow to 16 ticks, and the time counts from the first attempt on */
static void attempts_end_when_their_time_is_over(struct kunit *test)
{
	struct kofi_redial redial = {};
	unsigned long begun = jiffies;

	do {
		kofi_redial_begin(&redial, LIMIT);
		if (!kofi_redial_failed(&redial, ECONNRESET, TICK))
			break;
		KUNIT_ASSERT_TRUE(test, time_before_eq(redial.next, jiffies + 16 * TICK));
		while (kofi_redial_is_early(&redial))
			msleep(20);
	} while (time_before(jiffies, begun + 10 * LIMIT));
	KUNIT_EXPECT_TRUE(test, time_after(jiffies, begun + LIMIT));
	KUNIT_EXPECT_TRUE(test, time_before_eq(jiffies, begun + LIMIT + 64 * TICK));
}

static struct kunit_case peer_cases[] = {
	KUNIT_CASE_PARAM(a_key_has_what_a_peer_is_known_by, pair_gen_params),
	KUNIT_CASE_PARAM(addresses_are_compared_byte_by_byte_then_by_port, pair_gen_params),
	KUNIT_CASE(only_errors_that_may_pass_are_tried_again),
	KUNIT_CASE(attempts_end_when_their_time_is_over),
	{}
};

static struct kunit_suite peer_suite = {
	.name		= "kofi_util_peer",
	.test_cases	= peer_cases,
};

kunit_test_suite(peer_suite);
