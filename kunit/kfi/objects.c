// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Objects: discovery, addresses, and closing in the order of kfilnd, which ignores what a close
 * returns.
 */
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "../../kofi/trace.h"
#include "../lib/log.h"
#include "../lib/netns.h"
#include "../lib/refusal.h"
#include "kfi.h"

#define COMMAND	128	/* bytes of a command */

/* Enough of hints for kfi_getinfo() */
static struct kfi_info *hints_new(struct kunit *test)
{
	struct kfi_info *hints = kfi_allocinfo();

	KUNIT_ASSERT_NOT_NULL(test, hints);
	hints->caps = KFI_MSG | KFI_TAGGED | KFI_RMA | KFI_TAGGED_RMA | KFI_NAMED_RX_CTX;
	return hints;
}

static int find(const char *node, const char *service, struct kfi_info *hints)
{
	struct kfi_info *info;
	int ret;

	ret = kfi_getinfo(0, node, service, KFI_SOURCE, hints, &info);
	if (!ret)
		kfi_freeinfo(info);
	return ret;
}

static void a_result_has_a_32_bit_address(struct kunit *test)
{
	struct kfi_info *hints = hints_new(test), *info;
	const struct kcxi_addr *addr;
	int ctxs;

	KUNIT_ASSERT_EQ(test, bed_provider("loop"), 0);
	KUNIT_ASSERT_EQ(test, kfi_getinfo(0, "lo", "7", KFI_SOURCE, hints, &info), 0);
	KUNIT_ASSERT_EQ(test, info->src_addrlen, sizeof(*addr));
	addr = info->src_addr;
	KUNIT_EXPECT_EQ(test, addr->nic, INADDR_LOOPBACK);
	KUNIT_EXPECT_EQ(test, addr->pid, 7);
	KUNIT_EXPECT_EQ(test, info->addr_format, FI_ADDR_CXI);
	KUNIT_EXPECT_GE(test, info->ep_attr->tx_ctx_cnt, 64);
	KUNIT_EXPECT_GE(test, info->ep_attr->rx_ctx_cnt, 64);
	KUNIT_EXPECT_NULL(test, info->next);
	kfi_freeinfo(info);
	/* Clients expect queues of a certain depth, whatever they ask for */
	hints->tx_attr->size = 16;
	hints->rx_attr->size = 16;
	KUNIT_ASSERT_EQ(test, kfi_getinfo(0, "lo", "7", KFI_SOURCE, hints, &info), 0);
	KUNIT_EXPECT_EQ(test, info->tx_attr->size, 2048);
	KUNIT_EXPECT_EQ(test, info->rx_attr->size, 2048);
	kfi_freeinfo(info);
	/* One context is not enough to ask for more by their index */
	for (ctxs = 1; ctxs <= 2; ctxs++) {
		hints->ep_attr->tx_ctx_cnt = ctxs;
		hints->ep_attr->rx_ctx_cnt = ctxs;
		KUNIT_ASSERT_EQ(test, kfi_getinfo(0, "lo", "7", KFI_SOURCE, hints, &info), 0);
		KUNIT_EXPECT_EQ(test, info->ep_attr->tx_ctx_cnt == ctxs, ctxs > 1);
		KUNIT_EXPECT_EQ(test, info->ep_attr->rx_ctx_cnt == ctxs, ctxs > 1);
		kfi_freeinfo(info);
	}
	kfi_freeinfo(hints);
}

static void getinfo_refuses_what_makes_no_sense(struct kunit *test)
{
	struct kfi_info *hints = hints_new(test), *info, part;

	KUNIT_ASSERT_EQ(test, bed_provider("loop"), 0);
	KUNIT_EXPECT_EQ(test, find("lo", "0", hints), 0);
	KUNIT_EXPECT_EQ(test, find("lo", NULL, hints), 0);
	KUNIT_EXPECT_EQ(test, find("lo", "45535", hints), 0);
	/* 20000 + 45536 is no port */
	KUNIT_EXPECT_EQ(test, find("lo", "45536", hints), -EINVAL);
	KUNIT_EXPECT_EQ(test, find("lo", "65536", hints), -EINVAL);
	KUNIT_EXPECT_EQ(test, find("lo", "-1", hints), -EINVAL);
	KUNIT_EXPECT_EQ(test, find("lo", "one", hints), -EINVAL);
	KUNIT_EXPECT_EQ(test, find("no_such_if", "0", hints), -ENODEV);
	KUNIT_EXPECT_EQ(test, find(NULL, "0", hints), -EINVAL);
	KUNIT_EXPECT_EQ(test, find("lo", "0", NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, kfi_getinfo(0, "lo", "0", 0, hints, &info), -EINVAL);
	hints->tx_attr->iov_limit = 1 << 20;
	KUNIT_EXPECT_EQ(test, find("lo", "0", hints), -ENODATA);
	part = *hints;
	part.ep_attr = NULL;
	KUNIT_EXPECT_EQ(test, find("lo", "0", &part), -EINVAL);
	kfi_freeinfo(hints);
}

/* Reliable datagrams over loop have no tagged RMA */
static void a_provider_without_tagged_rma_is_refused(struct kunit *test)
{
	struct kfi_info *hints = hints_new(test);
	struct kmsg_dump_iter log;

	KUNIT_ASSERT_EQ(test, bed_provider("loop;ofi_rxm"), 0);
	vt_log_clear(&log);
	KUNIT_EXPECT_EQ(test, find("lo", "0", hints), -ENODATA);
	KUNIT_EXPECT_EQ(test, vt_log_count(&log, "no endpoint at 127.0.0.1 port 20000: "), 1);
	hints->caps = KFI_MSG;
	KUNIT_EXPECT_EQ(test, find("lo", "0", hints), -ENODATA);
	KUNIT_ASSERT_EQ(test, bed_provider("loop"), 0);
	KUNIT_EXPECT_EQ(test, find("lo", "0", hints), 0);
	kfi_freeinfo(hints);
}

static void wrong_parameters_are_refused(struct kunit *test)
{
	static const char *const wrong[] = {
		"echo >/sys/module/kofi_kfi/parameters/provider",
		"echo 'a b' >/sys/module/kofi_kfi/parameters/provider",
		"echo $(printf '%065d' 0) >/sys/module/kofi_kfi/parameters/provider",
		"echo 0 >/sys/module/kofi_kfi/parameters/port_base",
		"echo 65536 >/sys/module/kofi_kfi/parameters/port_base",
		"echo ten >/sys/module/kofi_kfi/parameters/port_base",
	};
	char *command = vt_buf(test, COMMAND);
	int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		snprintf(command, COMMAND, "busybox sh -c \"%s\" 2>&1 | grep -q 'Invalid argument'",
			 wrong[i]);
		KUNIT_EXPECT_EQ_MSG(test, vt_shell(command), 0, "%s", wrong[i]);
	}
	KUNIT_ASSERT_EQ(test, bed_provider("loop"), 0);
	KUNIT_EXPECT_EQ(test, vt_shell("grep -qx loop /sys/module/kofi_kfi/parameters/provider"),
			0);
	KUNIT_EXPECT_EQ(test, vt_shell("echo 30000 >/sys/module/kofi_kfi/parameters/port_base"),
			0);
	KUNIT_EXPECT_EQ(test, vt_shell("echo 20000 >/sys/module/kofi_kfi/parameters/port_base"),
			0);
}

static void traffic_classes_and_keys_are_taken(struct kunit *test)
{
	static const u32 classes[] = {
		KFI_TC_BEST_EFFORT, KFI_TC_LOW_LATENCY, KFI_TC_DEDICATED_ACCESS,
		KFI_TC_BULK_DATA, KFI_TC_SCAVENGER, KFI_TC_NETWORK_CTRL,
	};
	struct kfi_info *hints;
	u32 key = 255;
	int i;

	bed_open(test);
	hints = hints_new(test);
	hints->ep_attr->auth_key = (u8 *)&key;
	hints->ep_attr->auth_key_size = sizeof(key);
	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		hints->tx_attr->tclass = classes[i];
		hints->domain_attr->tclass = classes[i];
		KUNIT_EXPECT_EQ(test, find("lo", "5", hints), 0);
	}
	hints->ep_attr->auth_key = NULL;
	hints->ep_attr->auth_key_size = 0;
	kfi_freeinfo(hints);
}

/* Hints may have what the answer does not depend on */
static void hints_say_more_than_is_needed(struct kunit *test)
{
	static const struct kcxi_addr name = { .nic = INADDR_LOOPBACK, .pid = 9 };
	struct kfi_info *hints = hints_new(test);
	static const u32 key = 255;

	KUNIT_ASSERT_EQ(test, bed_provider("loop"), 0);
	hints->fabric_attr->prov_name = kstrdup("cxi", GFP_KERNEL);
	hints->fabric_attr->prov_version = KFI_VERSION(99, 0);
	hints->addr_format = FI_ADDR_CXI;
	hints->ep_attr->type = FI_EP_MSG;
	hints->tx_attr->rma_iov_limit = 256;
	hints->domain_attr->auth_key = kmemdup(&key, sizeof(key), GFP_KERNEL);
	hints->domain_attr->auth_key_size = sizeof(key);
	hints->src_addr = kmemdup(&name, sizeof(name), GFP_KERNEL);
	hints->src_addrlen = sizeof(name);
	KUNIT_EXPECT_EQ(test, find("lo", "5", hints), 0);
	kfi_freeinfo(hints);
}

static void an_interface_without_an_address_is_refused(struct kunit *test)
{
	struct kfi_info *hints = hints_new(test);
	struct vt_netns *netns = vt_netns_new(test);

	KUNIT_ASSERT_EQ(test, bed_provider("loop"), 0);
	/* The one of the namespace that is asked for */
	hints->fabric_attr->net = netns->net;
	KUNIT_EXPECT_EQ(test, find("lo", "0", hints), -EADDRNOTAVAIL);
	hints->fabric_attr->net = NULL;
	KUNIT_ASSERT_EQ(test, vt_shell("ip link add kfi0 type dummy"), 0);
	KUNIT_EXPECT_EQ(test, find("kfi0", "0", hints), -EADDRNOTAVAIL);
	/* Nothing holds the interface */
	KUNIT_EXPECT_EQ(test, vt_shell("ip link delete kfi0"), 0);
	kfi_freeinfo(hints);
}

static void nets_of_an_interface_share_fabric_and_domain(struct kunit *test)
{
	struct bed *bed = bed_open(test);

	KUNIT_EXPECT_PTR_EQ(test, bed->a.ni.domain, bed->b.ni.domain);
	KUNIT_EXPECT_NE(test, bed->a.ni.net, bed->b.ni.net);
}

static void ignore(struct kfid_cq *cq, void *context)
{
}

#define NEW(name, addr)	"dev=" name "; ip link add $dev type dummy && " \
			"ip link set $dev up && ip addr add " addr "/24 dev $dev"

static void no_interfaces(void *unused)
{
	vt_shell("ip link delete kfi1; ip link delete kfi2");
}

/*
 * Each has one by its own address.  The fabric that is open already is another provider's.
 */
static void interfaces_of_a_network_have_domains_of_their_own(struct kunit *test)
{
	struct bulk_ni *ni = vt_buf(test, 3 * sizeof(*ni));
	int i;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, no_interfaces, NULL), 0);
	KUNIT_ASSERT_EQ(test, vt_shell(NEW("kfi1", "10.98.7.1")), 0);
	KUNIT_ASSERT_EQ(test, vt_shell(NEW("kfi2", "10.98.7.2")), 0);
	KUNIT_ASSERT_EQ(test, bed_provider("loop"), 0);
	KUNIT_ASSERT_EQ(test, bulk_ni_open(&ni[2], "lo", 1, 1, ignore), 0);
	KUNIT_EXPECT_EQ(test, bed_provider("tcp"), 0);
	KUNIT_EXPECT_EQ(test, bulk_ni_open(&ni[0], "kfi1", 1, 1, ignore), 0);
	KUNIT_EXPECT_EQ(test, bulk_ni_open(&ni[1], "kfi2", 1, 1, ignore), 0);
	KUNIT_EXPECT_PTR_NE(test, ni[0].domain, ni[1].domain);
	KUNIT_EXPECT_EQ(test, ni[0].addr, 0x0a620701);
	KUNIT_EXPECT_EQ(test, ni[1].addr, 0x0a620702);
	for (i = 0; i < 3; i++)
		if (ni[i].domain)
			KUNIT_EXPECT_EQ(test, bulk_ni_close(&ni[i]), 0);
}

static void contexts_out_of_range_are_refused(struct kunit *test)
{
	struct bulk_ni *ni = vt_buf(test, sizeof(*ni));

	KUNIT_EXPECT_EQ(test, bulk_ni_open(ni, "lo", 1, 0, ignore), -EINVAL);
	KUNIT_EXPECT_EQ(test, bulk_ni_open(ni, "lo", 1, BULK_MAX_CTXS + 1, ignore), -EINVAL);
}

static void only_a_result_opens_a_domain(struct kunit *test)
{
	struct kfi_info *hints = hints_new(test), *info, *copy;
	struct kfid_domain *domain;
	struct kfid_fabric *fabric;
	struct kfid_ep *sep;

	KUNIT_ASSERT_EQ(test, bed_provider("loop"), 0);
	KUNIT_ASSERT_EQ(test, kfi_getinfo(0, "lo", "7", KFI_SOURCE, hints, &info), 0);
	copy = kfi_dupinfo(info);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	copy->src_addrlen = 4;
	KUNIT_ASSERT_EQ(test, kfi_fabric(info->fabric_attr, &fabric, NULL), 0);
	vt_refusals_begin(test);
	KUNIT_EXPECT_EQ(test, kfi_domain(fabric, copy, &domain, NULL), -EINVAL);
	vt_refused(test, "kfi_domain", -EINVAL, "no address of kfi_getinfo()");
	/* A net that has no port */
	copy->src_addrlen = info->src_addrlen;
	((struct kcxi_addr *)copy->src_addr)->pid = U16_MAX;
	KUNIT_EXPECT_EQ(test, kfi_domain(fabric, copy, &domain, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, kfi_domain(fabric, info, &domain, NULL), 0);
	KUNIT_EXPECT_EQ(test, kfi_scalable_ep(domain, copy, &sep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, kfi_close(&domain->fid), 0);
	KUNIT_EXPECT_EQ(test, kfi_close(&fabric->fid), 0);
	kfi_freeinfo(copy);
	kfi_freeinfo(info);
	kfi_freeinfo(hints);
}

/* Each kind of call that may allocate, with something that the core refuses */
static int refused_call(int nr, struct kfi_info *hints)
{
	static const struct kfi_cq_attr attr = {
		.format = KFI_CQ_FORMAT_DATA, .wait_obj = KFI_WAIT_NONE,
	};
	struct fid stray = { .fclass = FI_CLASS_CONNREQ };
	struct kfid_domain *domain;
	struct kfid_cq *cq;
	struct kfid_ep *ep;
	kfi_addr_t addr;

	switch (nr) {
	case 0:
		return find("no_such_if", "0", hints);
	case 1:
		return kfi_domain(NULL, NULL, &domain, NULL);
	case 2:
		return kfi_scalable_ep(NULL, NULL, &ep, NULL);
	case 3:
		return kfi_cq_open(NULL, (struct kfi_cq_attr *)&attr, &cq, ignore, NULL);
	case 4:
		return kfi_tx_context(NULL, 0, NULL, &ep, NULL);
	case 5:
		return kfi_rx_context(NULL, 0, NULL, &ep, NULL);
	case 6:
		return kfi_av_insertsvc(NULL, "1", "1", &addr, 0, NULL);
	case 7:
		return kfi_av_remove(NULL, &addr, 1, 0);
	default:
		return kfi_close(&stray);
	}
}

static struct task_struct *refused_task;
static unsigned int refused_flags;

static void note_flags(void *unused, const char *call, int ret, const char *reason)
{
	if (in_task() && current == refused_task)
		refused_flags = current->flags;
}

static void notice_none(void *unused)
{
	unregister_trace_kofi_refused(note_flags, NULL);
	tracepoint_synchronize_unregister();
}

/* A client may be a file system, which waits for no memory that is to be written to one */
static void allocations_do_not_wait_for_file_systems(struct kunit *test)
{
	struct kfi_info *hints = hints_new(test);
	int i;

	refused_task = current;
	KUNIT_ASSERT_EQ(test, register_trace_kofi_refused(note_flags, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, notice_none, NULL), 0);
	for (i = 0; i < 9; i++) {
		refused_flags = 0;
		KUNIT_EXPECT_LT(test, refused_call(i, hints), 0);
		KUNIT_EXPECT_TRUE_MSG(test, refused_flags & PF_MEMALLOC_NOFS, "call %d", i);
		KUNIT_EXPECT_FALSE_MSG(test, current->flags & PF_MEMALLOC_NOFS, "call %d", i);
	}
	kfi_freeinfo(hints);
}

static void a_queue_has_a_handler_and_one_format(struct kunit *test)
{
	struct kfi_cq_attr attr = { .format = KFI_CQ_FORMAT_DATA, .wait_obj = KFI_WAIT_NONE };
	struct kfid_domain *domain;
	struct kfi_info *hints, *info;
	struct kfid_fabric *fabric;
	struct kfid_cq *cq;

	bed_open(test);
	hints = hints_new(test);
	KUNIT_ASSERT_EQ(test, kfi_getinfo(0, "lo", "7", KFI_SOURCE, hints, &info), 0);
	KUNIT_ASSERT_EQ(test, kfi_fabric(info->fabric_attr, &fabric, NULL), 0);
	KUNIT_ASSERT_EQ(test, kfi_domain(fabric, info, &domain, NULL), 0);
	KUNIT_EXPECT_EQ(test, kfi_cq_open(domain, &attr, &cq, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, kfi_cq_open(domain, NULL, &cq, ignore, NULL), -EINVAL);
	attr.wait_obj = FI_WAIT_UNSPEC;
	KUNIT_EXPECT_EQ(test, kfi_cq_open(domain, &attr, &cq, ignore, NULL), -EINVAL);
	attr.wait_obj = KFI_WAIT_NONE;
	attr.format = FI_CQ_FORMAT_TAGGED;
	KUNIT_EXPECT_EQ(test, kfi_cq_open(domain, &attr, &cq, ignore, NULL), -EINVAL);
	attr.format = KFI_CQ_FORMAT_DATA;
	KUNIT_EXPECT_EQ(test, kfi_cq_open(domain, &attr, &cq, ignore, NULL), 0);
	KUNIT_EXPECT_EQ(test, kfi_close(&cq->fid), 0);
	KUNIT_EXPECT_EQ(test, kfi_close(&domain->fid), 0);
	KUNIT_EXPECT_EQ(test, kfi_close(&fabric->fid), 0);
	kfi_freeinfo(info);
	kfi_freeinfo(hints);
}

static void an_address_is_inserted_twice_and_removed_once(struct kunit *test)
{
	u8 *buf = vt_buf(test, 2 * BULK_MSG);
	struct bed *bed = bed_open(test);
	kfi_addr_t again;

	KUNIT_ASSERT_EQ(test, bulk_know(&bed->a.ni, bed->b.ni.addr, 2, &again), 0);
	KUNIT_EXPECT_EQ(test, kfi_av_remove(bed->a.ni.av, &again, 1, 0), 0);
	KUNIT_ASSERT_EQ(test, kfi_recv(bed->b.ni.ep[0].rx, buf, 2 * BULK_MSG, NULL,
				       KFI_ADDR_UNSPEC, bed_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, kfi_send(bed->a.ni.ep[0].tx, buf, 8, NULL, bed->a.peer, bed_ctx(2)),
			0);
	bed_expect(test, &bed->a.ni.ep[0].tx_cq, bed_ctx(2), BED_SENT, 0);
	bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(1), BED_RECEIVED, 0);
	/* And then it has gone, and comes again */
	KUNIT_EXPECT_EQ(test, kfi_av_remove(bed->a.ni.av, &bed->a.peer, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, kfi_av_remove(bed->a.ni.av, &bed->a.peer, 1, 0), -EINVAL);
	KUNIT_ASSERT_EQ(test, bulk_know(&bed->a.ni, bed->b.ni.addr, 2, &again), 0);
	KUNIT_ASSERT_EQ(test, kfi_send(bed->a.ni.ep[0].tx, buf, 8, NULL, again, bed_ctx(2)), 0);
	bed_expect(test, &bed->a.ni.ep[0].tx_cq, bed_ctx(2), BED_SENT, 0);
}

/* The receive names the sender by the first of two names, or by one that has been removed since */
static void a_receive_is_for_an_address_by_any_name(struct kunit *test)
{
	struct bed_mem *mem = bed_mem(test, 1, 0, 500);
	struct bed *bed = bed_open(test);
	kfi_addr_t again;

	KUNIT_ASSERT_EQ(test, bulk_know(&bed->b.ni, bed->a.ni.addr, 1, &again), 0);
	KUNIT_ASSERT_EQ(test, bed_trecv(&bed->b.ni.ep[0], mem, again, BED_TAG, bed_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, kfi_av_remove(bed->b.ni.av, &again, 1, 0), 0);
	KUNIT_ASSERT_EQ(test, bed_rma(&bed->a.ni.ep[0], true, mem, bed->a.peer, BED_TAG,
				      bed_ctx(2)), 0);
	bed_expect(test, &bed->a.ni.ep[0].tx_cq, bed_ctx(2), BED_READ, 0);
	bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(1), BED_WAS_READ, 0);
}

static void insertsvc_refuses_what_is_no_number(struct kunit *test)
{
	struct bed *bed = bed_open(test);
	kfi_addr_t addr;

	KUNIT_EXPECT_EQ(test, kfi_av_insertsvc(bed->a.ni.av, "lo", "1", &addr, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, kfi_av_insertsvc(bed->a.ni.av, NULL, "1", &addr, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, kfi_av_insertsvc(bed->a.ni.av, "0x100000000", "1", &addr, 0, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, kfi_av_insertsvc(bed->a.ni.av, "1", "x", &addr, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, bulk_know(&bed->a.ni, bed->b.ni.addr, U16_MAX, &addr), -ECONNABORTED);
	KUNIT_EXPECT_EQ(test, kfi_av_insertsvc(bed->b.ni.av, "2130706433", "1", &addr, 0, NULL),
			1);
	KUNIT_EXPECT_EQ(test, addr, bed->b.peer);
}

/* With receives posted and a message that waits for one */
static void closes_in_order_are_never_busy(struct kunit *test)
{
	struct bed_mem *mem = bed_mem(test, 1, 0, 500);
	u8 *buf = vt_buf(test, 4 * BULK_MSG);
	struct bed *bed;
	int i, j;

	for (i = 0; i < 3; i++) {
		bed = bed_open(test);
		for (j = 0; j < BED_CTXS; j++) {
			KUNIT_ASSERT_EQ(test, kfi_recv(bed->b.ni.ep[j].rx, buf, 4 * BULK_MSG,
						       NULL, KFI_ADDR_UNSPEC, bed_ctx(1)), 0);
			KUNIT_ASSERT_EQ(test, bed_trecv(&bed->b.ni.ep[j], mem, bed->b.peer,
							BED_TAG, bed_ctx(2)), 0);
			KUNIT_ASSERT_EQ(test, kfi_send(bed->a.ni.ep[j].tx, buf, 8, NULL,
						       bed_at(bed->a.peer, j), bed_ctx(3)), 0);
			KUNIT_ASSERT_EQ(test, kfi_send(bed->b.ni.ep[j].tx, buf, 8, NULL,
						       bed_at(bed->b.peer, j), bed_ctx(3)), 0);
		}
		bed_close(test, bed);
	}
}

static void no_handler_runs_after_the_close(struct kunit *test)
{
	u8 *buf = vt_buf(test, 4 * BULK_MSG);
	struct bed_calls calls[2 * BED_CTXS];
	struct bed *bed;
	int i;

	bed = bed_open(test);
	KUNIT_ASSERT_EQ(test, kfi_recv(bed->b.ni.ep[0].rx, buf, 4 * BULK_MSG, NULL,
				       KFI_ADDR_UNSPEC, bed_ctx(1)), 0);
	for (i = 0; i < 20; i++)
		KUNIT_ASSERT_EQ(test, kfi_send(bed->a.ni.ep[0].tx, buf, 8, NULL, bed->a.peer,
					       bed_ctx(2)), 0);
	bed_close(test, bed);
	memcpy(calls, bed->a.calls, sizeof(bed->a.calls));
	memcpy(calls + BED_CTXS, bed->b.calls, sizeof(bed->b.calls));
	msleep(BED_QUIET_MS);
	KUNIT_EXPECT_MEMEQ(test, calls, bed->a.calls, sizeof(bed->a.calls));
	KUNIT_EXPECT_MEMEQ(test, calls + BED_CTXS, bed->b.calls, sizeof(bed->b.calls));
}

static struct kunit_case objects_cases[] = {
	KUNIT_CASE(a_result_has_a_32_bit_address),
	KUNIT_CASE(getinfo_refuses_what_makes_no_sense),
	KUNIT_CASE(a_provider_without_tagged_rma_is_refused),
	KUNIT_CASE(wrong_parameters_are_refused),
	KUNIT_CASE(only_a_result_opens_a_domain),
	KUNIT_CASE(hints_say_more_than_is_needed),
	KUNIT_CASE(allocations_do_not_wait_for_file_systems),
	KUNIT_CASE(an_interface_without_an_address_is_refused),
	KUNIT_CASE_PARAM(traffic_classes_and_keys_are_taken, bed_gen),
	KUNIT_CASE_PARAM(nets_of_an_interface_share_fabric_and_domain, bed_gen),
	KUNIT_CASE(interfaces_of_a_network_have_domains_of_their_own),
	KUNIT_CASE(contexts_out_of_range_are_refused),
	KUNIT_CASE_PARAM(a_queue_has_a_handler_and_one_format, bed_gen),
	KUNIT_CASE_PARAM(an_address_is_inserted_twice_and_removed_once, bed_gen),
	KUNIT_CASE_PARAM(a_receive_is_for_an_address_by_any_name, bed_gen),
	KUNIT_CASE_PARAM(insertsvc_refuses_what_is_no_number, bed_gen),
	KUNIT_CASE_PARAM(closes_in_order_are_never_busy, bed_gen),
	KUNIT_CASE_PARAM(no_handler_runs_after_the_close, bed_gen),
	{}
};

struct kunit_suite kfi_objects_suite = {
	.name		= "kofi_kfi_objects",
	.test_cases	= objects_cases,
};
