// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address vectors of each format: IPv6, both families, nodes and services as text, rows
 * of them, and attributes that are refused.
 */
#include <linux/in6.h>
#include <kofi/addr.h>
#include <kofi/provider.h>
#include "av.h"

/**
 * struct bad_attr - Attributes that are refused
 * @name: why
 * @attr: the attributes
 * @addr_format: format of addresses
 * @ret: what the call answers
 */
struct bad_attr {
	const char *name;
	struct fi_av_attr attr;
	u32 addr_format;
	int ret;
};

static const struct bad_attr bad_attrs[] = {
	{ "type", { .type = FI_AV_TABLE + 1 }, FI_SOCKADDR_IN, -EINVAL },
	{ "receive context bits", { .rx_ctx_bits = -1 }, FI_SOCKADDR_IN,
	  -EINVAL },
	{ "more of them", { .rx_ctx_bits = KOFI_AV_MAX_RX_BITS + 1 },
	  FI_SOCKADDR_IN, -EINVAL },
	{ "count", { .count = KOFI_AV_MAX_ADDRS + 1 }, FI_SOCKADDR_IN,
	  -EINVAL },
	{ "name", { .name = "shared" }, FI_SOCKADDR_IN, -ENOSYS },
	{ "events", { .flags = FI_EVENT }, FI_SOCKADDR_IN, -FI_EBADFLAGS },
	{ "format", {}, FI_SOCKADDR_IB, -ENOSYS },
};

static void attributes_that_make_no_sense_are_refused(struct kunit *test)
{
	const struct bad_attr *bad = test->param_value;
	struct fi_av_attr attr = bad->attr;
	struct fid_av *av;

	KUNIT_EXPECT_EQ(test, kofi_av_open(&attr, bad->addr_format, NULL, &av, NULL), bad->ret);
	KUNIT_EXPECT_EQ(test, kofi_av_open(NULL, FI_SOCKADDR_IN, NULL, &av, NULL), -EINVAL);
}

static void hints_are_taken(struct kunit *test)
{
	struct ut_av *at =
		ut_av_open(test,
			   (struct fi_av_attr){
				   .type = FI_AV_MAP,
				   .count = KOFI_AV_MAX_ADDRS,
				   .rx_ctx_bits = KOFI_AV_MAX_RX_BITS,
				   .ep_per_node = 8,
				   .flags = FI_SYMMETRIC,
			   },
			   FI_SOCKADDR_IN);

	KUNIT_EXPECT_EQ(test, ut_av_insert_nth(test, at, 1), 0);
}

static struct sockaddr_in6 ipv6(struct kunit *test, const char *node, u32 scope)
{
	struct sockaddr_storage addr;
	struct sockaddr_in6 sin6;

	KUNIT_ASSERT_EQ(test, kofi_parse_addr(NULL, node, UT_PORT, AF_INET6, &addr), 0);
	memcpy(&sin6, &addr, sizeof(sin6));
	sin6.sin6_scope_id = scope;
	return sin6;
}

static void ipv6_addresses_are_told_apart(struct kunit *test)
{
	struct ut_av *at =
		ut_av_open(test, (struct fi_av_attr){}, FI_SOCKADDR_IN6);
	struct sockaddr_in6 addr[] = {
		ipv6(test, "fd77::1", 0), ipv6(test, "fd77::2", 0),
		ipv6(test, "fe80::1", 3), ipv6(test, "fe80::1", 4),
		ipv6(test, "fd77::1", 9), ipv6(test, "::", 0),
	};
	struct sockaddr_storage got, from = {};
	fi_addr_t fi_addr[6];

	addr[4].sin6_flowinfo = htonl(5);
	KUNIT_EXPECT_EQ(test, ut_av_insert(at, addr, 6, fi_addr, 0, NULL), 5);
	KUNIT_EXPECT_EQ(test, fi_addr[3], 3);
	/* A scope, or a flow, does not make a global address another one */
	KUNIT_EXPECT_EQ(test, fi_addr[4], 0);
	KUNIT_EXPECT_EQ(test, fi_addr[5], FI_ADDR_NOTAVAIL);
	memset(&got, 0xa5, sizeof(got));
	KUNIT_ASSERT_TRUE(test, kofi_av_addr(&at->av, 3, &got));
	KUNIT_EXPECT_MEMEQ(test, &got, &addr[3], sizeof(addr[3]));
	memcpy(&from, &addr[2], sizeof(addr[2]));
	KUNIT_EXPECT_EQ(test, kofi_av_source(&at->av, &from), 2);
}

static void any_format_takes_both_families(struct kunit *test)
{
	struct ut_av *at = ut_av_open(test, (struct fi_av_attr){}, FI_SOCKADDR);
	struct sockaddr_storage addr[3] = {};
	struct sockaddr_in sin = ut_ipv4(1, UT_PORT);
	struct sockaddr_in6 sin6 = ipv6(test, "::ffff:10.0.0.1", 0);
	fi_addr_t fi_addr[3];
	int errors[3];
	size_t len = 0;

	memcpy(&addr[0], &sin, sizeof(sin));
	memcpy(&addr[1], &sin6, sizeof(sin6));
	addr[2].ss_family = AF_UNIX;

	KUNIT_EXPECT_EQ(test, ut_av_insert(at, addr, 3, fi_addr, FI_SYNC_ERR, errors), 2);
	KUNIT_EXPECT_EQ(test, errors[2], EAFNOSUPPORT);
	KUNIT_EXPECT_EQ(test, kofi_av_find(&at->av, &addr[0]), 0);
	KUNIT_EXPECT_EQ(test, kofi_av_find(&at->av, &addr[1]), 1);
	KUNIT_EXPECT_EQ(test, at->av.av.ops->lookup(&at->av.av, 1, NULL, &len), 0);
	KUNIT_EXPECT_EQ(test, len, sizeof(sin6));
}

static void a_node_and_a_service_are_an_address(struct kunit *test)
{
	struct ut_av *at = ut_av(test);
	struct fid_av *av = &at->av.av;
	fi_addr_t fi_addr = 5;
	int error = 9;

	KUNIT_EXPECT_EQ(test,
			av->ops->insertsvc(av, "10.0.0.1", UT_PORT, &fi_addr, FI_SYNC_ERR, &error),
			1);
	KUNIT_EXPECT_EQ(test, fi_addr, 0);
	KUNIT_EXPECT_EQ(test, error, 0);
	KUNIT_EXPECT_TRUE(test, ut_av_is_at(at, 0, ut_ipv4(1, UT_PORT)));
	KUNIT_EXPECT_EQ(test, av->ops->insertsvc(av, "10.0.0.1", 0, &fi_addr, FI_SYNC_ERR, &error),
			0);
	KUNIT_EXPECT_EQ(test, fi_addr, FI_ADDR_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, error, EADDRNOTAVAIL);
}

static void nodes_that_are_none_are_refused(struct kunit *test)
{
	struct ut_av *at = ut_av(test);
	struct fid_av *av = &at->av.av;
	fi_addr_t fi_addr;

	KUNIT_EXPECT_EQ(test, av->ops->insertsvc(av, "host", UT_PORT, &fi_addr, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, av->ops->insertsvc(av, "fd77::1", UT_PORT,
						 &fi_addr, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, av->ops->insertsvc(av, NULL, UT_PORT, &fi_addr, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, av->ops->insertsvc(av, "10.0.0.1", 65536,
						 &fi_addr, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, av->ops->insertsvc(av, "10.0.0.1", -1, &fi_addr, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test,
			av->ops->insertsvc(av, "10.0.0.1", UT_PORT, &fi_addr, FI_AUTH_KEY, NULL),
			-FI_EBADFLAGS);
}

static void rows_of_addresses_are_inserted(struct kunit *test)
{
	struct ut_av *at = ut_av(test);
	fi_addr_t fi_addr[6];
	u32 i;

	KUNIT_EXPECT_EQ(test, ut_av_insertsym(at, "10.0.0.255", 3, UT_PORT, 2, fi_addr, 0, NULL),
			6);
	for (i = 0; i < 6; i++) {
		KUNIT_EXPECT_EQ(test, fi_addr[i], i);
		KUNIT_EXPECT_TRUE(test, ut_av_is_at(at, i, ut_ipv4(255 + i / 2, UT_PORT + i % 2)));
	}
	KUNIT_EXPECT_EQ(test, ut_av_insertsym(at, "10.0.0.9", 1, 65535, 1, fi_addr, 0, NULL), 1);
	KUNIT_EXPECT_EQ(test, ut_av_insertsym(at, "10.0.0.1", 1, 65535, 2, fi_addr, 0, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ut_av_insertsym(at, "10.0.0.1", 0, UT_PORT, 1, fi_addr, 0, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ut_av_insertsym(at, "10.0.0.1", 1, UT_PORT, 0, fi_addr, 0, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test,
			ut_av_insertsym(at, "10.0.0.1", SIZE_MAX, UT_PORT, 2, fi_addr, 0, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ut_av_find(at, ut_ipv4(1, UT_PORT)), FI_ADDR_NOTAVAIL);
}

static void rows_of_ipv6_addresses_carry(struct kunit *test)
{
	struct ut_av *at =
		ut_av_open(test, (struct fi_av_attr){}, FI_SOCKADDR_IN6);
	struct sockaddr_in6 next = ipv6(test, "fd77::1:0:0:0", 0);
	struct sockaddr_storage got;

	KUNIT_EXPECT_EQ(test,
			ut_av_insertsym(at, "fd77::ffff:ffff:ffff", 2, UT_PORT, 1, NULL, 0, NULL),
			2);
	KUNIT_ASSERT_TRUE(test, kofi_av_addr(&at->av, 1, &got));
	KUNIT_EXPECT_MEMEQ(test, &got, &next, sizeof(next));
}

static void an_address_is_put_into_words(struct kunit *test)
{
	struct ut_av *at = ut_av(test);
	struct fid_av *av = &at->av.av;
	struct sockaddr_in addr = ut_ipv4(1, UT_PORT);
	char buf[64];
	size_t len = sizeof(buf);

	KUNIT_EXPECT_STREQ(test, av->ops->straddr(av, &addr, buf, &len),
			   "fi_sockaddr_in://10.0.0.1:7471");
	KUNIT_EXPECT_EQ(test, len, strlen(buf) + 1);
	len = 3;
	KUNIT_EXPECT_STREQ(test, av->ops->straddr(av, &addr, buf, &len), "fi");
	/* What is no such address has words, too */
	addr.sin_family = AF_INET6;
	len = sizeof(buf);
	KUNIT_EXPECT_STREQ(test, av->ops->straddr(av, &addr, buf, &len), fi_strerror(EAFNOSUPPORT));
	KUNIT_EXPECT_EQ(test, len, strlen(buf) + 1);
}

KUNIT_ARRAY_PARAM_DESC(bad_attr, bad_attrs, name);

static struct kunit_case av_addr_cases[] = {
	KUNIT_CASE_PARAM(attributes_that_make_no_sense_are_refused, bad_attr_gen_params),
	KUNIT_CASE(hints_are_taken),
	KUNIT_CASE(ipv6_addresses_are_told_apart),
	KUNIT_CASE(any_format_takes_both_families),
	KUNIT_CASE(a_node_and_a_service_are_an_address),
	KUNIT_CASE(nodes_that_are_none_are_refused),
	KUNIT_CASE(rows_of_addresses_are_inserted),
	KUNIT_CASE(rows_of_ipv6_addresses_carry),
	KUNIT_CASE(an_address_is_put_into_words),
	{}
};

static struct kunit_suite av_addr_suite = {
	.name = "kofi_util_av_addr",
	.test_cases = av_addr_cases,
};

kunit_test_suite(av_addr_suite);
