// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A network namespace that goes under load.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include "../lib/busy.h"
#include "../lib/netns.h"
#include "tcp.h"

#define CONNS	8

static struct fi_info *info_of(struct kunit *test, struct net *net)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	KUNIT_ASSERT_NOT_NULL(test, hints);
	vt_free_later(test, hints);
	hints->caps = FI_MSG | FI_RMA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
	hints->fabric_attr->net = net;
	hints->fabric_attr->prov_name = kstrdup("tcp", GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, "127.0.0.1", 0, FI_SOURCE, hints, &info),
			0);
	vt_free_later(test, info);
	return info;
}

/* Both ends are told, and each operation of theirs ends once */
static void a_namespace_goes_under_load(struct kunit *test)
{
	struct vt_netns *netns = vt_netns_new(test);
	struct busy_count count;
	struct busy *busy;
	int ret;

	rtnl_lock();
	ret = dev_open(netns->net->loopback_dev, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, ret, 0);
	busy = busy_start(test, info_of(test, netns->net), CONNS);
	KUNIT_EXPECT_TRUE(test, busy_is_busy(busy));
	busy_end_regs(busy);
	vt_netns_let_go(netns);
	KUNIT_EXPECT_TRUE(test, vt_netns_is_gone(netns));
	count = busy_expect_gone(busy);
	kunit_info(test, "%d connections: %lu operations, %lu failed; %lu connects\n", CONNS,
		   count.posted, count.failed, count.joins);
	busy_stop(busy);
}

static struct kunit_case net_cases[] = {
	KUNIT_CASE(a_namespace_goes_under_load),
	{}
};

static struct kunit_suite net_suite = {
	.name		= "kofi_tcp_net",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= net_cases,
};

kunit_test_suite(net_suite);
