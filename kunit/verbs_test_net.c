// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Network namespaces.  Whoever loads this module names a process that has one of
 * its own, without addresses.  The soft devices of Linux 6.12 have addresses in
 * the initial namespace only, so in the other one nothing may be found or used.
 */
#include <linux/module.h>
#include <net/net_namespace.h>
#include "verbs_test.h"

#define VT_NODE_LEN	48

static int net_pid;
module_param(net_pid, int, 0444);
MODULE_PARM_DESC(net_pid, "process in another network namespace");

static void put_other(void *net)
{
	put_net(net);
}

static struct net *other_net(struct kunit *test)
{
	struct net *net = get_net_ns_by_pid(net_pid);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(net),
			       "load with net_pid=PID of a process in another network namespace");
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_other, net),
			0);
	KUNIT_ASSERT_PTR_NE(test, net, &init_net);
	return net;
}

static void what_is_found_belongs_to_the_namespace_asked_for(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test), *info;

	hints->fabric_attr->net = &init_net;
	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), 0);
	for (; info; info = info->next)
		KUNIT_EXPECT_PTR_EQ(test, info->fabric_attr->net, &init_net);
}

static void nothing_is_found_where_no_address_is(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test), *info;
	struct fi_info *here = vt_local(test, AF_INET, NULL);
	char node[VT_NODE_LEN];

	scnprintf(node, sizeof(node), "%pISc", here->src_addr);
	hints->fabric_attr->net = other_net(test);
	KUNIT_EXPECT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info),
			-ENODATA);
	KUNIT_EXPECT_EQ(test, vt_getinfo(test, node, 1, FI_SOURCE, hints, &info),
			-ENODATA);
	KUNIT_EXPECT_EQ(test, vt_getinfo(test, node, 1, 0, hints, &info),
			-ENODATA);
}

/* An info carried over into a fabric of the other namespace */
static void addresses_of_another_namespace_are_refused(struct kunit *test)
{
	struct fi_info *info = fi_dupinfo(vt_local(test, AF_INET, NULL));
	struct fid_pep *pep;
	struct fid_ep *ep;

	KUNIT_ASSERT_NOT_NULL(test, info);
	vt_free_later(test, info);
	info->fabric_attr->net = other_net(test);
	vt_open_info(test, info);
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL),
			-EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, fi_passive_ep(vt_of(test)->fabric, info, &pep,
					    NULL), -EADDRNOTAVAIL);
}

static struct kunit_case vt_net_cases[] = {
	KUNIT_CASE(what_is_found_belongs_to_the_namespace_asked_for),
	KUNIT_CASE(nothing_is_found_where_no_address_is),
	KUNIT_CASE(addresses_of_another_namespace_are_refused),
	{}
};

struct kunit_suite kofi_verbs_net_suite = {
	.name		= "kofi_verbs_net",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= vt_net_cases,
};
