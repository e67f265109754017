// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What fi_getinfo() says of addresses.
 */
#include <linux/in.h>
#include <linux/slab.h>
#include <rdma/fi_reason.h>
#include "tcp.h"

/* The address of the loopback interface is 127.0.0.1, and all of 127.0.0.0/8 is reached there */
static void the_source_of_a_route_is_our_own_address(struct kunit *test)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;
	const struct sockaddr_in *src, *dest;

	KUNIT_ASSERT_NOT_NULL(test, hints);
	vt_free_later(test, hints);
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_MSG;
	hints->fabric_attr->prov_name = kstrdup("tcp", GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, "127.0.0.9", 4711, 0, hints, &info), 0);
	vt_free_later(test, info);
	src = info->src_addr;
	dest = info->dest_addr;
	KUNIT_ASSERT_NOT_NULL(test, src);
	KUNIT_ASSERT_NOT_NULL(test, dest);
	KUNIT_EXPECT_EQ(test, ntohl(src->sin_addr.s_addr), INADDR_LOOPBACK);
	KUNIT_EXPECT_EQ(test, ntohs(src->sin_port), 0);
	KUNIT_EXPECT_EQ(test, ntohl(dest->sin_addr.s_addr), INADDR_LOOPBACK + 8);
	KUNIT_EXPECT_EQ(test, ntohs(dest->sin_port), 4711);
}

#define ADDR	"10.99.0.1"
#define REASON	ADDR ": an address of a VRF, or one that may not be used yet"

static void cleanup(void *unused)
{
	vt_shell("ip link del kofi0");
}

/* Results for all addresses; returns whether ADDR is among them */
static bool is_listed(struct kunit *test, struct fi_info *hints)
{
	struct fi_info *info = NULL;
	const struct sockaddr_in *sin;
	bool listed = false;

	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, hints, &info), 0);
	vt_free_later(test, info);
	for (; info; info = info->next) {
		sin = info->src_addr;
		listed |= sin->sin_family == AF_INET && sin->sin_addr.s_addr == htonl(0x0a630001);
	}
	return listed;
}

/* Is this a reason why results for all addresses are not more? */
static bool is_reason(struct fi_info *hints, const char *text)
{
	struct fi_reason *reasons = kcalloc(8, sizeof(*reasons), GFP_KERNEL);
	bool found = false;
	int i;

	i = reasons ? fi_getinfo_why(VT_API, NULL, 0, 0, hints, reasons, 8) : 0;
	while (--i >= 0)
		found |= !strcmp(reasons[i].text, text);
	kfree(reasons);
	return found;
}

/*
 * As with an address of a VRF, for which the kernels that run this have no driver: an interface
 * has it, and the table of the namespace does not.
 */
static void an_address_that_no_socket_can_have_is_left_out(struct kunit *test)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	KUNIT_ASSERT_NOT_NULL(test, hints);
	vt_free_later(test, hints);
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_MSG;
	hints->fabric_attr->prov_name = kstrdup("tcp", GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, cleanup, NULL), 0);
	KUNIT_ASSERT_EQ(test, vt_shell("ip link add kofi0 type dummy && ip link set kofi0 up"), 0);
	KUNIT_ASSERT_EQ(test, vt_shell("ip addr add " ADDR "/32 dev kofi0"), 0);
	KUNIT_EXPECT_TRUE(test, is_listed(test, hints));

	KUNIT_ASSERT_EQ(test, vt_shell("ip route del table local " ADDR), 0);
	KUNIT_EXPECT_FALSE(test, is_listed(test, hints));
	KUNIT_EXPECT_EQ(test, fi_getinfo(VT_API, ADDR, 0, FI_SOURCE, hints, &info), -ENODATA);
	KUNIT_EXPECT_TRUE(test, is_reason(hints, REASON));
}

static struct kunit_case info_cases[] = {
	KUNIT_CASE(the_source_of_a_route_is_our_own_address),
	KUNIT_CASE(an_address_that_no_socket_can_have_is_left_out),
	{}
};

static struct kunit_suite info_suite = {
	.name		= "kofi_tcp_info",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= info_cases,
};

kunit_test_suite(info_suite);
