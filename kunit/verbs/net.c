// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Network namespaces.  Whoever loads this module names a process that has one of
 * its own, without addresses.  The soft devices of Linux 6.12 have addresses in
 * the initial namespace only, so in the other one nothing may be found or used.
 */
#include <linux/module.h>
#include <net/net_namespace.h>
#include <rdma/fi_reason.h>
#include "../lib/netns.h"
#include "verbs.h"

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
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_other, net), 0);
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
	KUNIT_EXPECT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), -ENODATA);
	KUNIT_EXPECT_EQ(test, vt_getinfo(test, node, 1, FI_SOURCE, hints, &info), -ENODATA);
	KUNIT_EXPECT_EQ(test, vt_getinfo(test, node, 1, 0, hints, &info), -ENODATA);
}

static void namespace_without_an_address_is_the_reason(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test);
	struct fi_reason *reason;

	reason = vt_buf(test, sizeof(*reason));
	hints->fabric_attr->net = other_net(test);

	KUNIT_ASSERT_EQ(test, fi_getinfo_why(VT_API, NULL, 0, 0, hints, reason, 1), 1);

	KUNIT_EXPECT_STREQ(test, reason->text, "no interface that is up has an address");
}

/* An info carried over into a fabric of the other namespace */
static void addresses_of_another_namespace_are_refused(struct kunit *test)
{
	struct fi_info *info = vt_dup(test, vt_local(test, AF_INET, NULL));
	struct fid_pep *pep;
	struct fid_ep *ep;

	info->fabric_attr->net = other_net(test);
	vt_open_info(test, info);
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, fi_passive_ep(vt_of(test)->fabric, info, &pep, NULL), -EADDRNOTAVAIL);
}

/* An info of the device, as if it had been found in a namespace of the case */
static struct fi_info *info_in(struct kunit *test, struct vt_netns *netns)
{
	struct fi_info *info = vt_dup(test, vt_local(test, AF_INET, NULL));

	info->fabric_attr->net = netns->net;
	return info;
}

static void namespace_goes_with_fabric_and_domain_open(struct kunit *test)
{
	struct vt_netns *netns = vt_netns_new(test);
	struct fi_info *info = info_in(test, netns);
	struct fid_pep *pep;
	struct fid_ep *ep;
	struct fid_mr *mr;
	u8 *buf = vt_buf(test, PAGE_SIZE);

	vt_open_info(test, info);
	vt_eq(test, 0);
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL), -EADDRNOTAVAIL);

	vt_netns_let_go(netns);

	KUNIT_ASSERT_TRUE(test, vt_netns_is_gone(netns));
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_passive_ep(vt_of(test)->fabric, info, &pep, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(vt_of(test)->domain, buf, PAGE_SIZE, FI_REMOTE_READ, 0, 0,
					0, &mr, NULL), -ENODEV);
}

/* rdma_cm keeps it, by a reference that each of its ids has; a listener with a name has one */
static void namespace_stays_as_long_as_an_id_is_open(struct kunit *test)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct vt_netns *netns = vt_netns_new(test);
	struct fi_info *info = info_in(test, netns);
	struct fid_pep *pep;

	kfree(info->src_addr);
	info->src_addr = NULL;
	info->src_addrlen = 0;
	vt_open_info(test, info);
	KUNIT_ASSERT_EQ(test, fi_passive_ep(vt_of(test)->fabric, info, &pep, NULL), 0);
	KUNIT_ASSERT_EQ(test, fi_setname(&pep->fid, &any, sizeof(any)), 0);

	vt_netns_let_go(netns);

	KUNIT_EXPECT_TRUE(test, vt_netns_stays(netns));
	KUNIT_EXPECT_EQ(test, fi_close(&pep->fid), 0);
	KUNIT_EXPECT_TRUE(test, vt_netns_is_gone(netns));
}

static struct kunit_case vt_net_cases[] = {
	KUNIT_CASE(what_is_found_belongs_to_the_namespace_asked_for),
	KUNIT_CASE(nothing_is_found_where_no_address_is),
	KUNIT_CASE(namespace_without_an_address_is_the_reason),
	KUNIT_CASE(addresses_of_another_namespace_are_refused),
	KUNIT_CASE(namespace_goes_with_fabric_and_domain_open),
	KUNIT_CASE(namespace_stays_as_long_as_an_id_is_open),
	{}
};

struct kunit_suite kofi_verbs_net_suite = {
	.name		= "kofi_verbs_net",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= vt_net_cases,
};
