// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A network namespace that goes under load, and one link-local address on two interfaces.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include "../lib/busy.h"
#include "../lib/netns.h"
#include "tcp.h"

#define CONNS		8
#define GREETING_S	10	/* that a connection may be without a request */

static struct fi_info *info_of(struct kunit *test, struct net *net)
{
	struct fi_info *hints = tcp_hints(test, FI_MSG | FI_RMA, FI_EP_MSG);

	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
	hints->fabric_attr->net = net;
	return tcp_find(test, "127.0.0.1", hints);
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

static void own_net(void *unused)
{
	peer_net = &init_net;
}

/* What was to happen to a connection without a request does not happen any more */
static void a_listener_may_outlive_its_namespace(struct kunit *test)
{
	struct vt_netns *netns = vt_netns_new(test);
	struct socket *sock;
	int ret;

	rtnl_lock();
	ret = dev_open(netns->net->loopback_dev, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, own_net, NULL), 0);
	peer_net = netns->net;
	vt_open_info(test, info_of(test, netns->net));
	vt_listen(test, vt_eq(test, 0));
	sock = peer_connect(test);
	/* The listener has seen it */
	schedule_timeout_uninterruptible(HZ / 10);
	peer_close(test, sock);
	vt_netns_let_go(netns);
	KUNIT_EXPECT_TRUE(test, vt_netns_is_gone(netns));
	schedule_timeout_uninterruptible((GREETING_S + 1) * HZ);
}

/* A namespace without any address still has those of its loopback interface */
static void a_request_is_of_its_namespace(struct kunit *test)
{
	struct fi_info *hints = tcp_hints(test, FI_MSG, FI_EP_MSG), *info, *request;
	struct vt_netns *netns = vt_netns_new(test);
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;

	vt_open_info(test, tcp_find(test, "127.0.0.1", hints));
	vt_listen(test, vt_eq(test, 0));
	peer_ask(test);
	request = vt_connreq(test, NULL);
	hints->fabric_attr->net = netns->net;
	info = tcp_find(test, NULL, hints);
	KUNIT_ASSERT_EQ(test, fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	vt_adopt(test, &fabric->fid);
	KUNIT_ASSERT_EQ(test, fi_domain(fabric, info, &domain, NULL), 0);
	vt_adopt(test, &domain->fid);
	KUNIT_EXPECT_EQ(test, fi_endpoint(domain, request, &ep, NULL), -FI_EDOMAIN);
	/* It is still there */
	KUNIT_EXPECT_EQ(test, fi_reject(vt_of(test)->pep, request->handle, NULL, 0), 0);
}

/* Two interfaces with one address; they are in no other case's way */
#define LOCAL		"fe80::77"
#define SERVICE		4790

static const char *const links[] = { "kofi_a", "kofi_b" };

/**
 * struct side - A listener at the address on one of the interfaces
 * @info: its address
 * @eq: its requests
 * @pep: listens
 * @name: where
 */
struct side {
	struct fi_info		*info;
	struct fid_eq		*eq;
	struct fid_pep		*pep;
	struct sockaddr_storage	name;
};

static int link_add(const char *link)
{
	char command[160];

	snprintf(command, sizeof(command),
		 "ip link add %s type dummy && ip link set %s up && ip -6 addr add "
		 LOCAL "/64 dev %s nodad", link, link, link);
	return vt_shell(command);
}

static void links_del(void *unused)
{
	vt_shell("ip link del kofi_a; ip link del kofi_b");
}

static struct fi_info *info_at(struct kunit *test, const char *link)
{
	struct fi_info *hints = tcp_hints(test, FI_MSG, FI_EP_MSG), *info = NULL;
	char node[32];

	snprintf(node, sizeof(node), LOCAL "%%%s", link);
	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, node, SERVICE, FI_SOURCE, hints, &info), 0);
	vt_free_later(test, info);
	return info;
}

static void side_listen(struct kunit *test, struct side *side, const char *link)
{
	size_t len = sizeof(side->name);
	struct fid_fabric *fabric;

	side->info = info_at(test, link);
	KUNIT_ASSERT_EQ(test, fi_fabric(side->info->fabric_attr, &fabric, NULL), 0);
	vt_adopt(test, &fabric->fid);
	KUNIT_ASSERT_EQ(test, fi_eq_open(fabric, NULL, &side->eq, NULL), 0);
	vt_adopt(test, &side->eq->fid);
	KUNIT_ASSERT_EQ(test, fi_passive_ep(fabric, side->info, &side->pep, NULL), 0);
	vt_adopt(test, &side->pep->fid);
	KUNIT_ASSERT_EQ(test, fi_pep_bind(side->pep, &side->eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_listen(side->pep), 0);
	KUNIT_ASSERT_EQ(test, fi_getname(&side->pep->fid, &side->name, &len), 0);
}

/* Both listen at one port; which of them is asked says the interface alone */
static void a_link_local_address_is_that_of_its_interface(struct kunit *test)
{
	struct side sides[2] = {};
	union vt_event event;
	struct fi_info *info;
	struct vt_end end;
	int i;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, links_del, NULL), 0);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, link_add(links[i]), 0);
		side_listen(test, &sides[i], links[i]);
	}
	KUNIT_EXPECT_NE(test, ((struct sockaddr_in6 *)&sides[0].name)->sin6_scope_id,
			((struct sockaddr_in6 *)&sides[1].name)->sin6_scope_id);
	for (i = 0; i < 2; i++) {
		end = (struct vt_end) {};
		info = fi_dupinfo(sides[i].info);
		KUNIT_ASSERT_NOT_NULL(test, info);
		vt_free_later(test, info);
		((struct sockaddr_in6 *)info->src_addr)->sin6_port = 0;
		vt_open_info(test, info);
		vt_client(test, &end, &vt_default_kind);
		KUNIT_ASSERT_EQ(test, fi_connect(end.ep, &sides[i].name, NULL, 0), 0);
		vt_event(test, sides[i].eq, FI_CONNREQ, &event);
		KUNIT_EXPECT_EQ(test, fi_reject(sides[i].pep, event.cm.info->handle, NULL, 0), 0);
		vt_no_event(test, sides[!i].eq);
		vt_end_close(test, &end);
	}
}

static struct kunit_case net_cases[] = {
	KUNIT_CASE(a_link_local_address_is_that_of_its_interface),
	KUNIT_CASE(a_namespace_goes_under_load),
	KUNIT_CASE(a_request_is_of_its_namespace),
	KUNIT_CASE_SLOW(a_listener_may_outlive_its_namespace),
	{}
};

static struct kunit_suite net_suite = {
	.name		= "kofi_tcp_net",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= net_cases,
};

kunit_test_suite(net_suite);
