// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What fi_getinfo() says of addresses.
 */
#include <linux/in.h>
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

static struct kunit_case info_cases[] = {
	KUNIT_CASE(the_source_of_a_route_is_our_own_address),
	{}
};

static struct kunit_suite info_suite = {
	.name		= "kofi_tcp_info",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= info_cases,
};

kunit_test_suite(info_suite);
