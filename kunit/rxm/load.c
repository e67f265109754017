// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What ends while messages of each kind are under way: a network namespace, an RDMA device, a
 * provider that is withdrawn, and an endpoint that comes back again and again.  Modules stay
 * meanwhile.
 *
 * One completion queue has all completions.  The context of an operation is its slot, so each
 * operation is seen to end once.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/sizes.h>
#include <kofi/addr.h>
#include <kofi/hook.h>
#include "../lib/async.h"
#include "../lib/netns.h"
#include "rxm.h"

#define SENDS		9	/* three of each length at a time */
#define RECVS		12
#define LONGEST		(8 * RXM_LIMIT + 1)
#define SEED		3
#define WARM		64	/* messages before the namespace goes */
#define ROUNDS		20	/* times that the endpoint comes back */
#define MESSAGES	10	/* that it receives each time, at least */
#define COMMAND		256	/* bytes of a command */
#define PIPE		"/tmp/kofi_rxm_load"

/* A packet, segments, an offer */
static const size_t lens[] = { 64, RXM_LIMIT + 1, LONGEST };

/**
 * struct slot - An operation, or none
 * @out: it has not ended
 * @len: bytes of a message; 0: it is a receive
 * @buf: its buffer
 */
struct slot {
	bool	out;
	size_t	len;
	u8	*buf;
};

/**
 * struct load - Messages from one endpoint to another one
 * @cq: completions of both
 * @from: sends
 * @to: receives
 * @addr: of @to, for @from
 * @slots: their operations
 * @no_sends: no message is posted any more
 * @no_recvs: nor is a receive
 * @posted: operations that were posted
 * @ended: those that have ended
 * @failed: those of them that have failed
 * @got: messages that have been received
 */
struct load {
	struct vt_cq	*cq;
	struct vt_end	from;
	struct vt_end	to;
	fi_addr_t	addr;
	struct slot	slots[SENDS + RECVS];
	bool		no_sends;
	bool		no_recvs;
	unsigned long	posted;
	unsigned long	ended;
	unsigned long	failed;
	unsigned long	got;
};

static const struct vt_kind load_kind = {
	.wait_obj	= FI_WAIT_UNSPEC,
	.format		= FI_CQ_FORMAT_TAGGED,
};

static void post(struct kunit *test, struct load *load, struct slot *slot)
{
	ssize_t ret;

	if (slot->out || (slot->len ? load->no_sends : load->no_recvs))
		return;
	if (slot->len)
		ret = fi_send(load->from.ep, slot->buf, slot->len, NULL, load->addr, slot);
	else
		ret = fi_recv(load->to.ep, slot->buf, LONGEST, NULL, FI_ADDR_UNSPEC, slot);
	slot->out = !ret;
	load->posted += !ret;
	if (ret && ret != -EAGAIN)
		KUNIT_EXPECT_EQ(test, ret, -ENODEV);
}

static void post_all(struct kunit *test, struct load *load)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(load->slots); i++)
		post(test, load, &load->slots[i]);
}

static bool are_out(const struct load *load, bool sends)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(load->slots); i++)
		if (load->slots[i].out && !!load->slots[i].len == sends)
			return true;
	return false;
}

/* Takes a completion, and posts what may be posted; false: the queue has ended */
static bool step(struct kunit *test, struct load *load)
{
	struct vt_comp comp;
	struct slot *slot;
	int ret = vt_wait(load->cq, &comp);

	if (ret == -ENODEV)
		return false;
	KUNIT_ASSERT_EQ(test, ret, 1);
	slot = comp.context;
	KUNIT_ASSERT_TRUE(test, slot->out);
	slot->out = false;
	load->ended++;
	load->failed += !!comp.err;
	if (!slot->len && !comp.err) {
		KUNIT_EXPECT_TRUE(test, vt_filled(slot->buf, comp.len, SEED));
		memset(slot->buf, 0, comp.len);
		load->got++;
	}
	post_all(test, load);
	return true;
}

static void open_to(struct kunit *test, struct load *load)
{
	struct fi_info *info = vt_dup(test, vt_of(test)->info);

	if (vt_of(test)->name_len)
		memcpy(info->src_addr, &vt_of(test)->name, info->src_addrlen);
	load->to = (struct vt_end) { .tx = load->cq, .rx = load->cq };
	vt_end_open(test, &load->to, info, &load_kind);
	vt_of(test)->name_len = sizeof(vt_of(test)->name);
	KUNIT_ASSERT_EQ(test, fi_getname(&load->to.ep->fid, &vt_of(test)->name,
					 &vt_of(test)->name_len), 0);
}

/* Has messages under way between two endpoints of @prov in a namespace (NULL: that of the case) */
static struct load *load_open_on(struct kunit *test, const char *prov, const char *domain,
				 struct net *net)
{
	struct fi_info *hints = vt_allocinfo(test, prov), *info;
	struct load *load = vt_buf(test, sizeof(*load));
	int i;

	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_RDM;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->fabric_attr->net = net;
	if (domain)
		hints->domain_attr->name = kstrdup(domain, GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, net ? "127.0.0.1" : NULL, 0, net ? FI_SOURCE : 0,
					 hints, &info), 0);
	vt_free_later(test, info);
	vt_open_info(test, info);
	load->cq = vt_cq(test, &load_kind, 2 * (info->tx_attr->size + info->rx_attr->size));
	load->from = (struct vt_end) { .tx = load->cq, .rx = load->cq };
	vt_client(test, &load->from, &load_kind);
	open_to(test, load);
	load->addr = vt_know(test, &load->from, &load->to);
	for (i = 0; i < ARRAY_SIZE(load->slots); i++) {
		load->slots[i].buf = vt_buf(test, LONGEST);
		if (i >= SENDS)
			continue;
		load->slots[i].len = lens[i % ARRAY_SIZE(lens)];
		vt_fill(load->slots[i].buf, LONGEST, SEED);
	}
	post_all(test, load);
	return load;
}

static struct load *load_open(struct kunit *test, const char *prov, struct net *net)
{
	return load_open_on(test, prov, NULL, net);
}

/* Receives so many messages more */
static void go_on(struct kunit *test, struct load *load, int count)
{
	unsigned long want = load->got + count;

	while (load->got < want)
		KUNIT_ASSERT_TRUE(test, step(test, load));
}

static void expect_all_ended(struct kunit *test, const struct load *load)
{
	KUNIT_EXPECT_FALSE(test, are_out(load, true));
	KUNIT_EXPECT_FALSE(test, are_out(load, false));
	KUNIT_EXPECT_EQ(test, load->ended, load->posted);
	kunit_info(test, "%lu operations, %lu failed, %lu messages received\n", load->posted,
		   load->failed, load->got);
}

static void a_namespace_goes_under_load(struct kunit *test)
{
	struct vt_netns *netns = vt_netns_new(test);
	struct load *load;
	int ret;

	rtnl_lock();
	ret = dev_open(netns->net->loopback_dev, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, ret, 0);
	load = load_open(test, "tcp;ofi_rxm", netns->net);
	go_on(test, load, WARM);
	/* What is under way may come to its end, or fail */
	KUNIT_EXPECT_TRUE(test, are_out(load, false));
	vt_netns_let_go(netns);
	while (step(test, load))
		;
	KUNIT_EXPECT_TRUE(test, vt_netns_is_gone(netns));
	expect_all_ended(test, load);
	KUNIT_EXPECT_EQ(test, fi_send(load->from.ep, load->slots[0].buf, 1, NULL, load->addr,
				      NULL), -ENODEV);
}

/* Its receives end, and so does what was sent to it and has not arrived */
static void close_to(struct kunit *test, struct load *load)
{
	load->no_recvs = true;
	KUNIT_ASSERT_EQ(test, fi_ep_drain(load->to.ep, -1), 0);
	while (are_out(load, false))
		KUNIT_ASSERT_TRUE(test, step(test, load));
	vt_close(test, &load->to.ep->fid);
	vt_close(test, &load->to.av->fid);
	load->no_recvs = false;
}

/**
 * struct load_prov - What the case runs on
 * @name: a provider
 */
struct load_prov {
	const char	*name;
};

static const struct load_prov load_provs[] = {
	{ "loop;ofi_rxm" },
	{ "tcp;ofi_rxm" },
};

KUNIT_ARRAY_PARAM_DESC(load_prov, load_provs, name);

static void an_endpoint_that_comes_back_is_reached_under_load(struct kunit *test)
{
	const struct load_prov *prov = test->param_value;
	struct load *load = load_open(test, prov->name, NULL);
	int i;

	for (i = 0; i < ROUNDS; i++) {
		go_on(test, load, MESSAGES);
		close_to(test, load);
		open_to(test, load);
		post_all(test, load);
	}
	go_on(test, load, MESSAGES);
	load->no_sends = true;
	while (are_out(load, true))
		KUNIT_ASSERT_TRUE(test, step(test, load));
	close_to(test, load);
	expect_all_ended(test, load);
	KUNIT_EXPECT_GT(test, load->failed, 0);
}

/* Has a command run beside the case; its status comes by join_shell() */
static void start_shell(struct kunit *test, const char *command)
{
	char *all = vt_buf(test, COMMAND);

	snprintf(all, COMMAND, "rm -f " PIPE "; mkfifo " PIPE
		 " && { { %s; echo $? >" PIPE "; } </dev/null >/dev/null 2>&1 & }", command);
	KUNIT_ASSERT_EQ(test, vt_shell(all), 0);
}

static int join_shell(void)
{
	return vt_shell("read -r status <" PIPE "; exit $status");
}

#define RXE		"/sys/class/infiniband/rxe0"
#define SIW		"/sys/class/infiniband/siw0"

/* Beside siw0 of the guest, if it has no rxe0 */
static int add_rxe(void)
{
	return vt_shell("[ -e " RXE " ] || if [ -e " SIW " ]; then ip link add dummy1 type dummy;"
			" /kofi/guest/rxe.sh rxe dummy1 10.79.0.1 fd79::1;"
			" else /kofi/guest/rxe.sh; fi");
}

/* The guest has one of them afterwards, as before */
static void restore_devices(void *unused)
{
	if (vt_shell("[ -e " SIW " ]"))
		add_rxe();
	else
		vt_shell("rdma link delete rxe0; ip link delete dummy1");
}

/* Nothing waits for a client that has not closed what it has */
static void an_rdma_device_goes_under_load(struct kunit *test)
{
	struct load *load, *again;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, restore_devices, NULL), 0);
	KUNIT_ASSERT_EQ(test, add_rxe(), 0);
	load = load_open_on(test, "verbs;ofi_rxm", "rxe0", NULL);
	go_on(test, load, WARM);
	start_shell(test, "rdma link delete rxe0");
	while (step(test, load))
		;
	KUNIT_EXPECT_EQ(test, join_shell(), 0);
	expect_all_ended(test, load);
	KUNIT_EXPECT_EQ(test, fi_send(load->from.ep, load->slots[0].buf, 1, NULL, load->addr,
				      NULL), -ENODEV);
	/* Beside what is left of the old one */
	KUNIT_ASSERT_EQ(test, add_rxe(), 0);
	again = load_open_on(test, "verbs;ofi_rxm", "rxe0", NULL);
	go_on(test, again, WARM);
}

/* Opens the domain of rxe0, which the case may remove */
static struct fi_info *open_rxe(struct kunit *test)
{
	struct fi_info *hints = vt_allocinfo(test, "verbs;ofi_rxm"), *info;

	hints->ep_attr->type = FI_EP_RDM;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->domain_attr->name = kstrdup("rxe0", GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, restore_devices, NULL), 0);
	KUNIT_ASSERT_EQ(test, add_rxe(), 0);
	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, hints, &info), 0);
	vt_free_later(test, info);
	vt_open_info(test, info);
	return info;
}

/* Which the load above does not show, as one queue has the completions of both directions */
static void queues_of_both_directions_end_with_the_device(struct kunit *test)
{
	struct vt_end end = {};
	struct vt_comp comp;

	open_rxe(test);
	end.tx = vt_cq(test, &load_kind, 1024);
	end.rx = vt_cq(test, &load_kind, 1024);
	vt_client(test, &end, &load_kind);
	KUNIT_ASSERT_EQ(test, vt_shell("rdma link delete rxe0"), 0);
	KUNIT_EXPECT_EQ(test, vt_wait(end.tx, &comp), -ENODEV);
	KUNIT_EXPECT_EQ(test, vt_wait(end.rx, &comp), -ENODEV);
}

/* Nothing would report the end of the device to it, or to a reader of its queues */
static void a_device_that_has_gone_has_no_new_endpoints(struct kunit *test)
{
	struct fi_info *info = open_rxe(test);
	struct fid_ep *ep;
	int ret;

	KUNIT_ASSERT_EQ(test, vt_shell("rdma link delete rxe0"), 0);
	ret = fi_endpoint(vt_of(test)->domain, info, &ep, NULL);
	KUNIT_EXPECT_LT(test, ret, 0);
	if (!ret)
		vt_adopt(test, &ep->fid);
	/* Another device of this name, at this address */
	KUNIT_ASSERT_EQ(test, add_rxe(), 0);
	ret = fi_endpoint(vt_of(test)->domain, info, &ep, NULL);
	KUNIT_EXPECT_EQ(test, ret, -ENODEV);
	if (!ret)
		vt_adopt(test, &ep->fid);
}

/**
 * struct in_use - Modules that have objects open
 * @prov: of the endpoints
 * @modules: they are to be unloaded, in this order
 */
struct in_use {
	const char	*prov;
	const char	*modules;
};

static const struct in_use in_uses[] = {
	{ "loop;ofi_rxm", "kofi_rxm kofi_loop kofi" },
	{ "loop;ofi_rxm", "kofi kofi_loop kofi_rxm" },
	{ "tcp;ofi_rxm", "kofi_rxm kofi_tcp kofi" },
	{ "tcp;ofi_rxm", "kofi kofi_tcp kofi_rxm" },
	{ "verbs;ofi_rxm", "kofi_rxm kofi_verbs kofi" },
	{ "verbs;ofi_rxm", "kofi kofi_verbs kofi_rxm" },
};

KUNIT_ARRAY_PARAM_DESC(in_use, in_uses, modules);

/* The rmmod of busybox asks the kernel, that of kmod does not ask it for a module that is in use */
static void modules_under_load_stay(struct kunit *test)
{
	const struct in_use *in_use = test->param_value;
	struct load *load = load_open(test, in_use->prov, NULL);
	char *command = vt_buf(test, COMMAND);

	snprintf(command, COMMAND, "for m in %s; do ! busybox rmmod $m || exit 9; done",
		 in_use->modules);
	go_on(test, load, MESSAGES);
	start_shell(test, command);
	go_on(test, load, WARM);
	KUNIT_EXPECT_EQ(test, join_shell(), 0);
	go_on(test, load, WARM);
}

/* A hook that can be withdrawn without its module */

static struct kofi_provider going_provider;

static const struct kofi_hook going_hook = {
	.provider	= &going_provider,
};

static int going_getinfo(u32 version, const char *node, const int service, u64 flags,
			 struct fi_info *hints, struct fi_info **info)
{
	return kofi_hook_getinfo(&going_hook, version, node, service, flags, hints, info);
}

static int going_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return kofi_hook_fabric(&going_hook, attr, fabric, context);
}

static struct kofi_provider going_provider = {
	.name		= "ofi_hook_going",
	.version	= FI_VERSION(1, 0),
	.getinfo	= going_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= going_fabric,
	.owner		= THIS_MODULE,
};

static const struct load_prov withdrawn_provs[] = {
	{ "loop;ofi_hook_going;ofi_rxm" },
	{ "loop;ofi_rxm;ofi_hook_going" },
	{ "tcp;ofi_hook_going;ofi_rxm" },
	{ "tcp;ofi_rxm;ofi_hook_going" },
};

KUNIT_ARRAY_PARAM_DESC(withdrawn, withdrawn_provs, name);

static int withdraw(void *unused)
{
	return kofi_provider_deregister(&going_provider);
}

/**
 * struct withdrawal - A call that withdraws a provider
 * @test: the case
 * @thread: makes the call
 */
struct withdrawal {
	struct kunit	*test;
	struct vt_async	*thread;
};

/* All objects have been closed; without a call the case has failed before it */
static void end_withdrawal(void *data)
{
	struct withdrawal *withdrawal = data;
	int ret = withdrawal->thread ? vt_async_join(withdrawal->test, withdrawal->thread) :
				       withdraw(NULL);

	KUNIT_EXPECT_EQ(withdrawal->test, ret, 0);
}

/* No new call finds it, and what is open goes on: the call returns when all has been closed */
static void a_provider_is_withdrawn_under_load(struct kunit *test)
{
	const struct load_prov *prov = test->param_value;
	struct withdrawal *withdrawal = vt_buf(test, sizeof(*withdrawal));
	struct fi_info *hints = vt_allocinfo(test, prov->name), *info;
	struct load *load;

	hints->ep_attr->type = FI_EP_RDM;
	KUNIT_ASSERT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION, &going_provider), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, end_withdrawal, withdrawal), 0);
	withdrawal->test = test;
	load = load_open(test, prov->name, NULL);
	go_on(test, load, WARM);
	withdrawal->thread = vt_async_start(test, withdraw, NULL);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(withdrawal->thread));
	go_on(test, load, WARM);
	KUNIT_EXPECT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, hints, &info), -ENODATA);
	go_on(test, load, WARM);
	close_to(test, load);
}

static struct kunit_case load_cases[] = {
	KUNIT_CASE(a_namespace_goes_under_load),
	KUNIT_CASE(an_rdma_device_goes_under_load),
	KUNIT_CASE(queues_of_both_directions_end_with_the_device),
	KUNIT_CASE(a_device_that_has_gone_has_no_new_endpoints),
	KUNIT_CASE_PARAM(modules_under_load_stay, in_use_gen_params),
	KUNIT_CASE_PARAM(a_provider_is_withdrawn_under_load, withdrawn_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_that_comes_back_is_reached_under_load, load_prov_gen_params),
	{}
};

struct kunit_suite rxm_load_suite = {
	.name		= "kofi_rxm_load",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= load_cases,
};
