// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Socket addresses: what is taken from a client and given to it, comparisons, text.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <net/net_namespace.h>
#include <kofi/addr.h>
#include <kofi/provider.h>
#include "util.h"

/**
 * struct sample - An address
 * @name: its text
 * @family: AF_INET or AF_INET6
 * @node: without a port
 * @any: it is the wildcard address
 * @straddr: as fi_av_straddr() has it, with port 7471
 */
struct sample {
	const char	*name;
	int		family;
	const char	*node;
	bool		any;
	const char	*straddr;
};

static const struct sample samples[] = {
	{ "IPv4", AF_INET, "10.77.0.1", false,
	  "fi_sockaddr_in://10.77.0.1:7471" },
	{ "IPv4, any", AF_INET, "0.0.0.0", true,
	  "fi_sockaddr_in://0.0.0.0:7471" },
	{ "IPv6", AF_INET6, "fd77::1", false,
	  "fi_sockaddr_in6://[fd77::1]:7471" },
	{ "IPv6, any", AF_INET6, "::", true, "fi_sockaddr_in6://[::]:7471" },
	{ "IPv6, link-local", AF_INET6, "fe80::7%3", false,
	  "fi_sockaddr_in6://[fe80::7%3]:7471" },
};

static struct sockaddr_storage parse(struct kunit *test, const char *node, int port)
{
	struct sockaddr_storage addr;

	memset(&addr, 0xa5, sizeof(addr));
	KUNIT_ASSERT_EQ(test, kofi_parse_addr(NULL, node, port, AF_UNSPEC, &addr), 0);
	return addr;
}

static size_t family_len(int family)
{
	return family == AF_INET ? sizeof(struct sockaddr_in) :
				   sizeof(struct sockaddr_in6);
}

static void an_address_is_as_long_as_its_family_says(struct kunit *test)
{
	const struct sample *sample = test->param_value;
	struct sockaddr_storage addr = parse(test, sample->node, 7471);

	KUNIT_EXPECT_EQ(test, addr.ss_family, sample->family);
	KUNIT_EXPECT_EQ(test, kofi_addr_len(&addr), family_len(sample->family));
	KUNIT_EXPECT_EQ(test, kofi_addr_any(&addr), sample->any);
	KUNIT_EXPECT_EQ(test, kofi_addr_port(&addr), 7471);
}

static void formats_have_the_length_of_their_addresses(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, kofi_addr_format_len(FI_SOCKADDR_IN), sizeof(struct sockaddr_in));
	KUNIT_EXPECT_EQ(test, kofi_addr_format_len(FI_SOCKADDR_IN6), sizeof(struct sockaddr_in6));
	KUNIT_EXPECT_EQ(test, kofi_addr_format_len(FI_SOCKADDR), sizeof(struct sockaddr_storage));
	KUNIT_EXPECT_EQ(test, kofi_addr_format_len(FI_FORMAT_UNSPEC), 0);
	KUNIT_EXPECT_EQ(test, kofi_addr_format_len(FI_SOCKADDR_IB), 0);
}

static void a_port_can_be_set(struct kunit *test)
{
	const struct sample *sample = test->param_value;
	struct sockaddr_storage addr = parse(test, sample->node, 0);

	KUNIT_EXPECT_EQ(test, kofi_addr_port(&addr), 0);
	kofi_addr_set_port(&addr, 65535);
	KUNIT_EXPECT_EQ(test, kofi_addr_port(&addr), 65535);
	KUNIT_EXPECT_EQ(test, kofi_addr_any(&addr), sample->any);
}

static void a_clients_bytes_become_an_address(struct kunit *test)
{
	const struct sample *sample = test->param_value;
	struct sockaddr_storage from = parse(test, sample->node, 7471), to;
	size_t len = kofi_addr_len(&from);

	memset(&to, 0xa5, sizeof(to));
	KUNIT_EXPECT_EQ(test, kofi_addr_from_info(&to, &from, len), 0);
	KUNIT_EXPECT_MEMEQ(test, &to, &from, sizeof(to));
	/* It may be in a larger structure */
	KUNIT_EXPECT_EQ(test, kofi_addr_from_info(&to, &from, sizeof(from)), 0);
	KUNIT_EXPECT_EQ(test, kofi_addr_from_info(&to, &from, len - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_addr_from_info(&to, &from, sizeof(from) + 1), -EINVAL);
}

static void bytes_that_are_no_address_are_refused(struct kunit *test)
{
	struct sockaddr_storage from = { .ss_family = AF_UNIX }, to;

	KUNIT_EXPECT_EQ(test, kofi_addr_from_info(&to, NULL, 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_addr_from_info(&to, &from, sizeof(from)), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_addr_from_info(&to, &from, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_addr_from_info(&to, &from, 0), -EINVAL);
}

static void an_address_is_cut_where_the_clients_room_ends(struct kunit *test)
{
	const struct sample *sample = test->param_value;
	struct sockaddr_storage addr = parse(test, sample->node, 7471);
	size_t need = kofi_addr_len(&addr), len, i;
	u8 to[sizeof(addr)];

	for (i = 0; i < need + 2; i++) {
		memset(to, 0xa5, sizeof(to));
		len = i;
		KUNIT_EXPECT_EQ(test, kofi_addr_copy_out(&addr, to, &len),
				i < need ? -FI_ETOOSMALL : 0);
		KUNIT_EXPECT_EQ(test, len, need);
		KUNIT_EXPECT_MEMEQ(test, to, &addr, min(i, need));
		KUNIT_EXPECT_EQ(test, to[min(i, need)], 0xa5);
	}
	len = 0;
	KUNIT_EXPECT_EQ(test, kofi_addr_copy_out(&addr, NULL, &len), -FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, len, need);
	KUNIT_EXPECT_EQ(test, kofi_addr_copy_out(&addr, NULL, &len), -FI_ETOOSMALL);
}

static void equal_addresses_are_equal_to_no_others(struct kunit *test)
{
	static const char *const nodes[] = { "10.77.0.1", "10.77.0.2",
					     "fd77::1", "fd77::2",
					     "::ffff:10.77.0.1", "fe80::7%3",
					     "fe80::7%4" };
	struct sockaddr_storage a, b;
	int i, k;

	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		a = parse(test, nodes[i], 7471);
		for (k = 0; k < ARRAY_SIZE(nodes); k++) {
			b = parse(test, nodes[k], 7471);
			KUNIT_EXPECT_EQ_MSG(test, kofi_addr_equal(&a, &b), i == k, "%s, %s",
					    nodes[i], nodes[k]);
		}
		b = parse(test, nodes[i], 7472);
		KUNIT_EXPECT_FALSE(test, kofi_addr_equal(&a, &b));
	}
}

static void what_means_nothing_makes_no_difference(struct kunit *test)
{
	struct sockaddr_storage a = parse(test, "10.77.0.1", 7471), b = a;
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&b;

	memset(((struct sockaddr_in *)&b)->__pad, 0xa5, 8);
	KUNIT_EXPECT_TRUE(test, kofi_addr_equal(&a, &b));

	a = parse(test, "fd77::1", 7471);
	b = a;
	sin6->sin6_flowinfo = htonl(7);
	sin6->sin6_scope_id = 3;
	KUNIT_EXPECT_TRUE(test, kofi_addr_equal(&a, &b));
}

static void an_address_is_put_into_words(struct kunit *test)
{
	const struct sample *sample = test->param_value;
	struct sockaddr_storage addr = parse(test, sample->node, 7471);
	size_t need = strlen(sample->straddr) + 1, len, i;
	char buf[80];

	for (i = 1; i < need + 2; i++) {
		memset(buf, 'x', sizeof(buf));
		len = i;
		KUNIT_EXPECT_PTR_EQ(test, kofi_addr_straddr(&addr, buf, &len), (const char *)buf);
		KUNIT_EXPECT_EQ(test, len, need);
		KUNIT_EXPECT_EQ(test, strlen(buf), min(i, need) - 1);
		KUNIT_EXPECT_MEMEQ(test, buf, sample->straddr, min(i, need) - 1);
		KUNIT_EXPECT_EQ(test, buf[i], 'x');
	}
}

static u32 scope_of(const struct sockaddr_storage *addr)
{
	return ((const struct sockaddr_in6 *)addr)->sin6_scope_id;
}

static void only_a_missing_scope_is_set(struct kunit *test)
{
	struct sockaddr_storage ipv4 = parse(test, "10.77.0.1", 7471), same = ipv4;
	struct sockaddr_storage global = parse(test, "fd77::1", 7471);
	struct sockaddr_storage local = parse(test, "fe80::7", 7471);

	kofi_addr_set_scope(&local, 5);
	KUNIT_EXPECT_EQ(test, scope_of(&local), 5);
	kofi_addr_set_scope(&local, 6);
	KUNIT_EXPECT_EQ(test, scope_of(&local), 5);
	kofi_addr_set_scope(&global, 5);
	KUNIT_EXPECT_EQ(test, scope_of(&global), 0);
	kofi_addr_set_scope(&ipv4, 5);
	KUNIT_EXPECT_MEMEQ(test, &ipv4, &same, sizeof(ipv4));
}

/* Interface 1 is lo */
static void an_address_is_found_on_its_interface(struct kunit *test)
{
	static const struct {
		const char	*node;
		int		ifindex;
	} rows[] = {
		{ "127.0.0.1", 1 }, { "127.0.0.9", 1 }, { "::1", 1 },
		{ "192.0.2.1", 0 }, { "2001:db8::1", 0 }, { "fe80::7%1", 0 },
	};
	struct sockaddr_storage addr;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		addr = parse(test, rows[i].node, 0);
		KUNIT_EXPECT_EQ_MSG(test, kofi_addr_ifindex(&init_net, &addr), rows[i].ifindex,
				    "%s", rows[i].node);
		KUNIT_EXPECT_EQ_MSG(test, kofi_addr_is_local(&init_net, &addr),
				    rows[i].ifindex == 1, "%s", rows[i].node);
	}
}

static void an_address_is_in_a_network_and_on_an_interface(struct kunit *test)
{
	static const struct {
		const char	*node;
		const char	*network;
	} rows[] = {
		{ "127.0.0.1", "127.0.0.0/8" }, { "127.0.0.9", "127.0.0.0/8" },
		{ "::1", "::1/128" },
		{ "192.0.2.1", "192.0.2.1/32" }, { "2001:db8::1", "2001:db8::1/128" },
	};
	struct kofi_addr_place place;
	struct sockaddr_storage addr;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		addr = parse(test, rows[i].node, 0);
		kofi_addr_place(&init_net, &addr, &place);
		KUNIT_EXPECT_STREQ(test, place.network, rows[i].network);
		KUNIT_EXPECT_STREQ(test, place.interface, "lo");
	}
}

#define UP		"ip link set kofi0 up && ip addr add fd99::1/64 dev kofi0 nodad"
#define BOTH_VERSIONS	UP " && ip addr add 10.99.0.1/32 dev kofi0"
#define SLOW_DAD	"cd /proc/sys/net/ipv6/conf/kofi0 && echo 1 >accept_dad && " \
			"echo 100 >dad_transmits && ip link set kofi0 arp on && "
#define ONE_TENTATIVE	SLOW_DAD UP " && ip addr add fd99::2/64 dev kofi0"

static void del_link(void *unused)
{
	vt_shell("ip link del kofi0");
}

/* The link is deleted after the case, which waits until nobody has a reference to it */
static void add_link(struct kunit *test, const char *commands)
{
	KUNIT_ASSERT_EQ(test, vt_shell("ip link add kofi0 type dummy"), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, del_link, NULL), 0);
	KUNIT_ASSERT_EQ(test, vt_shell(commands), 0);
}

static bool is_listed(struct kunit *test, const char *node)
{
	struct sockaddr_storage addr = parse(test, node, 0), *list;
	int i, count = kofi_addr_list(&init_net, &list);
	bool found = false;

	KUNIT_ASSERT_GE(test, count, 0);
	for (i = 0; i < count; i++)
		found |= kofi_addr_equal(&addr, &list[i]);
	kvfree(list);
	return found;
}

static void an_interface_without_ip_has_no_addresses(struct kunit *test)
{
	struct sockaddr_storage addr;

	add_link(test, BOTH_VERSIONS);
	KUNIT_EXPECT_TRUE(test, is_listed(test, "10.99.0.1"));
	KUNIT_EXPECT_TRUE(test, is_listed(test, "fd99::1"));
	KUNIT_EXPECT_EQ(test, kofi_parse_addr(&init_net, "fe80::7%kofi0", 0, AF_UNSPEC, &addr), 0);
	/* So short packets do not carry IP, and its addresses go */
	KUNIT_ASSERT_EQ(test, vt_shell("ip link set kofi0 mtu 60"), 0);
	KUNIT_EXPECT_FALSE(test, is_listed(test, "10.99.0.1"));
	KUNIT_EXPECT_FALSE(test, is_listed(test, "fd99::1"));
}

static void a_tentative_address_is_not_listed(struct kunit *test)
{
	struct sockaddr_storage addr = parse(test, "fd99::2", 0);

	add_link(test, ONE_TENTATIVE);
	KUNIT_EXPECT_TRUE(test, is_listed(test, "fd99::1"));
	KUNIT_EXPECT_FALSE(test, is_listed(test, "fd99::2"));
	/* Its interface is known */
	KUNIT_EXPECT_GT(test, kofi_addr_ifindex(&init_net, &addr), 1);
}

static void addresses_that_nobody_asks_for_have_no_family(struct kunit *test)
{
	struct sockaddr_storage src, dest;

	memset(&src, 0xa5, sizeof(src));
	memset(&dest, 0xa5, sizeof(dest));
	KUNIT_EXPECT_EQ(test, kofi_hints_addrs(&init_net, NULL, 0, 0, NULL, &src, &dest), 0);
	KUNIT_EXPECT_EQ(test, src.ss_family, AF_UNSPEC);
	KUNIT_EXPECT_EQ(test, dest.ss_family, AF_UNSPEC);
}

KUNIT_ARRAY_PARAM_DESC(sample, samples, name);

static struct kunit_case addr_cases[] = {
	KUNIT_CASE_PARAM(an_address_is_as_long_as_its_family_says, sample_gen_params),
	KUNIT_CASE(formats_have_the_length_of_their_addresses),
	KUNIT_CASE_PARAM(a_port_can_be_set, sample_gen_params),
	KUNIT_CASE_PARAM(a_clients_bytes_become_an_address, sample_gen_params),
	KUNIT_CASE(bytes_that_are_no_address_are_refused),
	KUNIT_CASE_PARAM(an_address_is_cut_where_the_clients_room_ends, sample_gen_params),
	KUNIT_CASE(equal_addresses_are_equal_to_no_others),
	KUNIT_CASE(what_means_nothing_makes_no_difference),
	KUNIT_CASE_PARAM(an_address_is_put_into_words, sample_gen_params),
	KUNIT_CASE(only_a_missing_scope_is_set),
	KUNIT_CASE(an_address_is_found_on_its_interface),
	KUNIT_CASE(an_address_is_in_a_network_and_on_an_interface),
	KUNIT_CASE(an_interface_without_ip_has_no_addresses),
	KUNIT_CASE(a_tentative_address_is_not_listed),
	KUNIT_CASE(addresses_that_nobody_asks_for_have_no_family),
	{}
};

static struct kunit_suite addr_suite = {
	.name		= "kofi_util_addr",
	.test_cases	= addr_cases,
};

kunit_test_suite(addr_suite);
