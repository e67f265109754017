// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_net: a fabric does not keep its network namespace, and its provider hears
 * when that goes.
 */
#include <rdma/fi_reason.h>
#include "../lib/netns.h"
#include "core.h"

static int open_in(struct net *net, const char *prov_name, struct fid_fabric **fabric)
{
	struct fi_fabric_attr attr = {
		.name		= "mock",
		.prov_name	= (char *)prov_name,
		.net		= net,
	};

	return fi_fabric(&attr, fabric, NULL);
}

static struct fid_fabric *core_open_in(struct kunit *test, struct net *net, const char *prov_name)
{
	struct fid_fabric *fabric = NULL;

	KUNIT_ASSERT_EQ(test, open_in(net, prov_name, &fabric), 0);
	core_adopt(test, &fabric->fid);
	return fabric;
}

static void netns_goes(struct kunit *test, struct vt_netns *netns)
{
	vt_netns_let_go(netns);
	KUNIT_ASSERT_TRUE(test, vt_netns_is_gone(netns));
}

static void namespace_goes_with_a_fabric_open(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct vt_netns *netns = vt_netns_new(test);
	struct fid_fabric *fabric;

	fabric = core_open_in(test, netns->net, "mock");
	KUNIT_EXPECT_EQ(test, mock->net_exits, 0);

	netns_goes(test, netns);
	KUNIT_EXPECT_EQ(test, mock->net_exits, 1);
	KUNIT_EXPECT_PTR_EQ(test, mock->net_exited, fabric);
	KUNIT_EXPECT_EQ(test, core_close(test, &fabric->fid), 0);
	KUNIT_EXPECT_EQ(test, mock->net_exits, 1);
}

static void provider_without_namespaces_need_not_hear(struct kunit *test)
{
	struct mock *mock = core_mock_new(test, "mock", 1);
	struct vt_netns *netns = vt_netns_new(test);
	struct fid_fabric *fabric;

	mock->provider.net_exit = NULL;
	KUNIT_ASSERT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION, &mock->provider), 0);
	fabric = core_open_in(test, netns->net, "mock");

	netns_goes(test, netns);
	KUNIT_EXPECT_EQ(test, core_close(test, &fabric->fid), 0);
}

static void fabric_of_another_namespace_stays(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct vt_netns *netns = vt_netns_new(test);

	core_open_in(test, &init_net, "mock");
	core_open_in(test, NULL, "mock");

	netns_goes(test, netns);
	KUNIT_EXPECT_EQ(test, mock->net_exits, 0);
}

static void closed_fabric_is_not_told(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct vt_netns *netns = vt_netns_new(test);
	struct fid_fabric *fabric;

	fabric = core_open_in(test, netns->net, "mock");
	KUNIT_ASSERT_EQ(test, core_close(test, &fabric->fid), 0);

	netns_goes(test, netns);
	KUNIT_EXPECT_EQ(test, mock->net_exits, 0);
}

static void every_fabric_is_told_the_newest_first(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct vt_netns *netns = vt_netns_new(test);
	struct fid_fabric *oldest;

	oldest = core_open_in(test, netns->net, "mock");
	core_open_in(test, netns->net, "mock");
	core_open_in(test, netns->net, "mock");

	netns_goes(test, netns);
	KUNIT_EXPECT_EQ(test, mock->net_exits, 3);
	KUNIT_EXPECT_PTR_EQ(test, mock->net_exited, oldest);
}

static void provider_below_another_is_told(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct vt_netns *netns = vt_netns_new(test);

	core_open_in(test, netns->net, "mock;" HOOK_NAME);

	netns_goes(test, netns);
	KUNIT_EXPECT_EQ(test, mock->net_exits, 1);
}

static void fabric_whose_namespace_has_gone_finds_nothing(struct kunit *test)
{
	struct fi_info *hints = core_hints(test);
	struct vt_netns *netns = vt_netns_new(test);
	struct fi_reason *reason = vt_buf(test, sizeof(*reason));

	core_mock(test, "mock", 1);
	hints->fabric_attr->fabric = core_open_in(test, netns->net, "mock");
	netns_goes(test, netns);

	KUNIT_ASSERT_EQ(test, fi_getinfo_why(CORE_API, NULL, 0, 0, hints, reason, 1), 1);

	KUNIT_EXPECT_STREQ(test, reason->field, "fabric_attr->net");
}

static int close_fabric(void *fabric)
{
	return fi_close(&((struct fid_fabric *)fabric)->fid);
}

static void close_waits_for_the_provider_that_is_being_told(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct vt_netns *netns = vt_netns_new(test);
	struct vt_async *thread;
	struct fid_fabric *fabric;

	KUNIT_ASSERT_EQ(test, open_in(netns->net, "mock", &fabric), 0);
	mock_gate_arm(mock, MOCK_CALL_NET_EXIT);
	vt_netns_let_go(netns);
	KUNIT_EXPECT_TRUE(test, mock_gate_wait(mock));

	thread = vt_async_start(test, close_fabric, fabric);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(thread));
	KUNIT_EXPECT_EQ(test, atomic_read(&mock->calls[MOCK_CALL_CLOSE]), 0);

	mock_gate_open(mock);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
	KUNIT_EXPECT_EQ(test, mock_live(mock), 0);
	KUNIT_EXPECT_TRUE(test, vt_netns_is_gone(netns));
}

static void namespace_waits_for_the_close_of_its_fabric(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct vt_netns *netns = vt_netns_new(test);
	struct vt_async *thread;
	struct fid_fabric *fabric;

	KUNIT_ASSERT_EQ(test, open_in(netns->net, "mock", &fabric), 0);
	mock_gate_arm(mock, MOCK_CALL_CLOSE);
	thread = vt_async_start(test, close_fabric, fabric);
	KUNIT_EXPECT_TRUE(test, mock_gate_wait(mock));

	vt_netns_let_go(netns);
	KUNIT_EXPECT_TRUE(test, vt_netns_stays(netns));

	mock_gate_open(mock);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
	KUNIT_EXPECT_TRUE(test, vt_netns_is_gone(netns));
	KUNIT_EXPECT_EQ(test, mock->net_exits, 0);
}

static void provider_that_refuses_the_close_is_told(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct vt_netns *netns = vt_netns_new(test);
	struct vt_async *thread;
	struct fid_fabric *fabric;

	fabric = core_open_in(test, netns->net, "mock");
	mock->fail[MOCK_CALL_CLOSE] = -EIO;
	mock_gate_arm(mock, MOCK_CALL_CLOSE);
	thread = vt_async_start(test, close_fabric, fabric);
	KUNIT_EXPECT_TRUE(test, mock_gate_wait(mock));
	vt_netns_let_go(netns);
	KUNIT_EXPECT_TRUE(test, vt_netns_stays(netns));

	mock_gate_open(mock);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), -EIO);
	KUNIT_EXPECT_TRUE(test, vt_netns_is_gone(netns));
	KUNIT_EXPECT_EQ(test, mock->net_exits, 1);
	KUNIT_EXPECT_EQ(test, core_close(test, &fabric->fid), 0);
}

static struct kunit_case net_cases[] = {
	KUNIT_CASE(namespace_goes_with_a_fabric_open),
	KUNIT_CASE(provider_without_namespaces_need_not_hear),
	KUNIT_CASE(fabric_of_another_namespace_stays),
	KUNIT_CASE(closed_fabric_is_not_told),
	KUNIT_CASE(every_fabric_is_told_the_newest_first),
	KUNIT_CASE(provider_below_another_is_told),
	KUNIT_CASE(fabric_whose_namespace_has_gone_finds_nothing),
	KUNIT_CASE(close_waits_for_the_provider_that_is_being_told),
	KUNIT_CASE(namespace_waits_for_the_close_of_its_fabric),
	KUNIT_CASE(provider_that_refuses_the_close_is_told),
	{}
};

struct kunit_suite kofi_net_suite = {
	.name = "kofi_net",
	.init = core_init,
	.exit = core_exit,
	.test_cases = net_cases,
};
