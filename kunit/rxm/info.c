// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What fi_getinfo() says of an endpoint.
 */
#include <linux/in.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <kofi/hook.h>
#include <rdma/fi_atomic.h>
#include "rxm.h"

#define QUEUE	128	/* operations of a queue that hints say nothing of */

/**
 * struct order - The message order over a provider
 * @prov: the provider
 * @rma: of reads and writes among each other, and of messages and these
 */
struct order {
	const char	*prov;
	u64		rma;
};

static const struct order orders[] = {
	{ "loop;ofi_rxm", FI_ORDER_SAR | FI_ORDER_SAW | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW |
			  FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW },
	{ "tcp;ofi_rxm", FI_ORDER_SAW | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAW },
	/* iWARP */
	{ "verbs;ofi_rxm", FI_ORDER_SAW },
};

KUNIT_ARRAY_PARAM_DESC(order, orders, prov);

static void an_info_has_the_order_of_what_is_below(struct kunit *test)
{
	const struct order *order = test->param_value;
	const u64 all = order->rma | FI_ORDER_SAS | FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW |
			FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;
	struct fi_info *hints = vt_allocinfo(test, order->prov), *info;

	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, hints, &info), 0);
	KUNIT_EXPECT_EQ(test, info->tx_attr->msg_order, all);
	KUNIT_EXPECT_EQ(test, info->rx_attr->msg_order, all);
	fi_freeinfo(info);
}

/* There are atomic operations if hints want no order, and any provider may be below */
static void hints_may_lack_attributes(struct kunit *test)
{
	struct fi_info *hints = vt_allocinfo(test, "ofi_rxm"), part = *hints, *info;

	part.tx_attr = NULL;
	part.rx_attr = NULL;
	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, &part, &info), 0);
	KUNIT_EXPECT_TRUE(test, info->caps & FI_ATOMIC);
	fi_freeinfo(info);
}

/* A provider below that has a result without these modes is not asked for one with them */
static void a_client_without_modes_has_all_results_once(struct kunit *test)
{
	const struct order *order = test->param_value;
	struct fi_info *hints = vt_allocinfo(test, order->prov), *info, *entry;
	int i, counts[2] = {};

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		hints->domain_attr->mr_mode = i ? FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
						  FI_MR_PROV_KEY : 0;
		KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, hints, &info), 0);
		for (entry = info; entry; entry = entry->next)
			counts[i]++;
		fi_freeinfo(info);
	}
	KUNIT_EXPECT_EQ(test, counts[0], counts[1]);
}

/* The operands of a packet, and as many values to compare with */
static void an_atomic_operation_fills_a_packet(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct fi_atomic_attr attr;

	KUNIT_ASSERT_EQ(test, fi_query_atomic(bed->domain, FI_UINT64, FI_SUM, &attr, 0), 0);
	KUNIT_EXPECT_EQ(test, attr.size, sizeof(u64));
	KUNIT_EXPECT_EQ(test, attr.count,
			(RXM_LIMIT - sizeof(struct rxm_wire_atomic)) / 2 / sizeof(u64));
}

static void what_the_wire_lacks_is_refused(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	struct fi_info *info = vt_dup(test, bed->us.info);
	u8 *buf = vt_buf(test, 8);
	struct fid_mr *mr;
	struct fid_ep *ep;
	int ret;

	KUNIT_EXPECT_EQ(test, fi_scalable_ep(bed->domain, info, &ep, NULL), -ENOSYS);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(bed->domain, buf, 8, FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL),
			0);
	KUNIT_EXPECT_EQ(test, fi_mr_bind(mr, &bed->us.ep->fid, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_close(&mr->fid), 0);
	ret = fi_mr_reg(bed->domain, buf, 8, FI_REMOTE_WRITE, 0, 0, FI_RMA_EVENT, &mr, NULL);
	KUNIT_EXPECT_EQ(test, ret, -FI_EBADFLAGS);
	if (!ret)
		vt_adopt(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, fi_srx_context(bed->domain, info->rx_attr, &ep, NULL), -ENOSYS);
	info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	ret = fi_endpoint(bed->domain, info, &ep, NULL);
	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	if (!ret)
		vt_adopt(test, &ep->fid);
	info->ep_attr->rx_ctx_cnt = 1;
	/* Without an address no peer knows the endpoint */
	kfree(info->src_addr);
	info->src_addr = NULL;
	info->src_addrlen = 0;
	KUNIT_EXPECT_EQ(test, fi_endpoint(bed->domain, info, &ep, NULL), -EADDRNOTAVAIL);
}

static void queues_are_as_long_as_hints_want(struct kunit *test)
{
	static const size_t wanted[] = { 1, QUEUE, 1000, 16384 };
	struct fi_info *hints = vt_allocinfo(test, "loop;ofi_rxm"), *info;
	int i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		hints->tx_attr->size = wanted[i];
		hints->rx_attr->size = wanted[ARRAY_SIZE(wanted) - 1 - i];
		KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, hints, &info), 0);
		KUNIT_EXPECT_EQ(test, info->tx_attr->size, hints->tx_attr->size);
		KUNIT_EXPECT_EQ(test, info->rx_attr->size, hints->rx_attr->size);
		fi_freeinfo(info);
	}
	hints->tx_attr->size = wanted[ARRAY_SIZE(wanted) - 1] + 1;
	KUNIT_EXPECT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, hints, &info), -ENODATA);
}

static void an_endpoint_with_connections_is_not_found(struct kunit *test)
{
	struct fi_info *hints = vt_allocinfo(test, "loop;ofi_rxm"), *info;

	hints->ep_attr->type = FI_EP_MSG;
	KUNIT_EXPECT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, hints, &info), -ENODATA);
}

/* Lower results that do not qualify */

static struct kofi_provider unfit_provider;

static const struct kofi_hook unfit_hook = {
	.provider	= &unfit_provider,
};

/* Makes a result one that does not qualify; NULL: they stay as they are */
static void (*spoil)(struct fi_info *info);

static int unfit_getinfo(u32 version, const char *node, const int service, u64 flags,
			 struct fi_info *hints, struct fi_info **info)
{
	int ret = kofi_hook_getinfo(&unfit_hook, version, node, service, flags, hints, info);
	struct fi_info *entry;

	for (entry = ret || !spoil ? NULL : *info; entry; entry = entry->next)
		spoil(entry);
	return ret;
}

static int unfit_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return kofi_hook_fabric(&unfit_hook, attr, fabric, context);
}

static struct kofi_provider unfit_provider = {
	.name		= "ofi_hook_unfit",
	.version	= FI_VERSION(1, 0),
	.getinfo	= unfit_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= unfit_fabric,
	.owner		= THIS_MODULE,
};

static void withdraw_unfit(void *unused)
{
	spoil = NULL;
	kofi_provider_deregister(&unfit_provider);
}

static void spoil_addr(struct fi_info *info)
{
	((struct sockaddr_in *)info->src_addr)->sin_addr.s_addr = 0;
}

static void spoil_msg_size(struct fi_info *info)
{
	info->ep_attr->max_msg_size = sizeof(struct rxm_wire_hdr) + RXM_LIMIT - 1;
}

static void spoil_tx_size(struct fi_info *info)
{
	info->tx_attr->size = 1;
}

static void spoil_rx_size(struct fi_info *info)
{
	info->rx_attr->size = 1;
}

static void spoil_order(struct fi_info *info)
{
	info->tx_attr->msg_order &= ~FI_ORDER_SAW;
}

/* Limits and models of the lower endpoint and its domain, which this provider has its own of */
static void spoil_limits(struct fi_info *info)
{
	info->mode = FI_RX_CQ_DATA;
	info->tx_attr->mode = FI_RX_CQ_DATA;
	info->rx_attr->mode = FI_RX_CQ_DATA;
	info->ep_attr->protocol_version = 2;
	info->ep_attr->max_msg_size = SZ_1M;
	info->ep_attr->msg_prefix_size = 8;
	info->ep_attr->mem_tag_format = 1;
	info->ep_attr->tx_ctx_cnt = 2;
	info->ep_attr->rx_ctx_cnt = 2;
	info->domain_attr->threading = FI_THREAD_DOMAIN;
	info->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	info->domain_attr->resource_mgmt = FI_RM_DISABLED;
	info->domain_attr->av_type = FI_AV_TABLE;
	info->domain_attr->mode = FI_RX_CQ_DATA;
	info->domain_attr->mr_key_size = 4;
	info->domain_attr->cq_data_size = 4;
	info->domain_attr->cq_cnt = 1;
	info->domain_attr->cntr_cnt = 1;
	info->domain_attr->caps |= FI_SHARED_AV;
	info->domain_attr->max_cq_size = 1;
	info->domain_attr->max_ep_tx_ctx = 2;
	info->domain_attr->max_ep_rx_ctx = 2;
	info->domain_attr->max_ep_stx_ctx = 1;
	info->domain_attr->max_ep_srx_ctx = 1;
	info->domain_attr->max_err_data = 1;
	info->domain_attr->max_cntr_value = 1;
	info->domain_attr->max_err_cntr_value = 1;
}

/**
 * struct unfit - A lower result that does not qualify
 * @what: why
 * @spoil: makes it one
 * @err: of a domain that has qualified before
 */
struct unfit {
	const char	*what;
	void		(*spoil)(struct fi_info *info);
	int		err;
};

static const struct unfit unfits[] = {
	{ "no address", spoil_addr, ENODATA },
	{ "short messages", spoil_msg_size, EADDRNOTAVAIL },
	{ "few sends", spoil_tx_size, EADDRNOTAVAIL },
	{ "few receives", spoil_rx_size, EADDRNOTAVAIL },
	{ "writes that messages overtake", spoil_order, EADDRNOTAVAIL },
};

KUNIT_ARRAY_PARAM_DESC(unfit, unfits, what);

/* Hints for an endpoint over the hook */
static struct fi_info *unfit_hints(struct kunit *test)
{
	struct fi_info *hints = vt_allocinfo(test, "loop;ofi_hook_unfit;ofi_rxm");

	hints->addr_format = FI_SOCKADDR_IN;
	KUNIT_ASSERT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION, &unfit_provider), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, withdraw_unfit, NULL), 0);
	return hints;
}

/* Nor is a domain opened on it, if it has qualified before */
static void a_lower_result_that_does_not_qualify_is_left_out(struct kunit *test)
{
	const struct unfit *unfit = test->param_value;
	struct fi_info *hints = unfit_hints(test), *info, *none;
	struct fid_domain *domain;
	struct fid_fabric *fabric;
	int ret;

	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, hints, &info), 0);
	vt_free_later(test, info);
	KUNIT_ASSERT_EQ(test, fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	vt_adopt(test, &fabric->fid);
	spoil = unfit->spoil;
	ret = fi_getinfo(VT_API, NULL, 0, 0, hints, &none);
	KUNIT_EXPECT_EQ(test, ret, -ENODATA);
	if (!ret)
		vt_free_later(test, none);
	ret = fi_domain(fabric, info, &domain, NULL);
	KUNIT_EXPECT_EQ(test, ret, -unfit->err);
	if (!ret)
		vt_adopt(test, &domain->fid);
}

/* Whatever is below.  A client that wants no writes has the data of messages */
static void an_info_says_what_an_endpoint_has(struct kunit *test)
{
	struct fi_info *hints = unfit_hints(test), *info;
	const struct fi_domain_attr *domain;
	const struct fi_ep_attr *ep;

	spoil = spoil_limits;
	hints->caps = FI_MSG | FI_TAGGED;
	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, hints, &info), 0);
	vt_free_later(test, info);
	domain = info->domain_attr;
	ep = info->ep_attr;
	KUNIT_EXPECT_EQ(test, info->mode, 0);
	KUNIT_EXPECT_EQ(test, info->tx_attr->mode, 0);
	KUNIT_EXPECT_EQ(test, info->tx_attr->size, QUEUE);
	KUNIT_EXPECT_EQ(test, info->tx_attr->rma_iov_limit, RXM_WIRE_IOV);
	KUNIT_EXPECT_EQ(test, info->rx_attr->mode, 0);
	KUNIT_EXPECT_EQ(test, info->rx_attr->size, QUEUE);
	KUNIT_EXPECT_EQ(test, ep->type, FI_EP_RDM);
	KUNIT_EXPECT_EQ(test, ep->protocol, FI_PROTO_RXM);
	KUNIT_EXPECT_EQ(test, ep->protocol_version, 1);
	KUNIT_EXPECT_EQ(test, ep->max_msg_size, SZ_1G);
	KUNIT_EXPECT_EQ(test, ep->msg_prefix_size, 0);
	KUNIT_EXPECT_EQ(test, ep->mem_tag_format, U64_MAX);
	KUNIT_EXPECT_EQ(test, ep->tx_ctx_cnt, 1);
	KUNIT_EXPECT_EQ(test, ep->rx_ctx_cnt, 1);
	KUNIT_EXPECT_EQ(test, domain->threading, FI_THREAD_SAFE);
	KUNIT_EXPECT_EQ(test, domain->control_progress, FI_PROGRESS_AUTO);
	KUNIT_EXPECT_EQ(test, domain->data_progress, FI_PROGRESS_AUTO);
	KUNIT_EXPECT_EQ(test, domain->resource_mgmt, FI_RM_ENABLED);
	KUNIT_EXPECT_EQ(test, domain->av_type, FI_AV_UNSPEC);
	KUNIT_EXPECT_EQ(test, domain->mode, 0);
	KUNIT_EXPECT_EQ(test, domain->mr_key_size, sizeof(u64));
	KUNIT_EXPECT_EQ(test, domain->cq_data_size, sizeof(u64));
	KUNIT_EXPECT_EQ(test, domain->cq_cnt, 65536);
	KUNIT_EXPECT_EQ(test, domain->cntr_cnt, 65536);
	KUNIT_EXPECT_EQ(test, domain->caps & ~FI_REMOTE_COMM, FI_LOCAL_COMM | FI_AV_USER_ID);
	KUNIT_EXPECT_EQ(test, domain->max_cq_size, 0);
	KUNIT_EXPECT_EQ(test, domain->max_ep_tx_ctx, 1);
	KUNIT_EXPECT_EQ(test, domain->max_ep_rx_ctx, 1);
	KUNIT_EXPECT_EQ(test, domain->max_ep_stx_ctx, 0);
	KUNIT_EXPECT_EQ(test, domain->max_ep_srx_ctx, 0);
	KUNIT_EXPECT_EQ(test, domain->max_err_data, 0);
	KUNIT_EXPECT_EQ(test, domain->max_cntr_value, U64_MAX);
	KUNIT_EXPECT_EQ(test, domain->max_err_cntr_value, U64_MAX);
}

static struct kunit_case info_cases[] = {
	KUNIT_CASE_PARAM(a_lower_result_that_does_not_qualify_is_left_out, unfit_gen_params),
	KUNIT_CASE(an_info_says_what_an_endpoint_has),
	KUNIT_CASE_PARAM(an_info_has_the_order_of_what_is_below, order_gen_params),
	KUNIT_CASE(hints_may_lack_attributes),
	KUNIT_CASE_PARAM(a_client_without_modes_has_all_results_once, order_gen_params),
	KUNIT_CASE(an_atomic_operation_fills_a_packet),
	KUNIT_CASE(what_the_wire_lacks_is_refused),
	KUNIT_CASE(queues_are_as_long_as_hints_want),
	KUNIT_CASE(an_endpoint_with_connections_is_not_found),
	{}
};

struct kunit_suite rxm_info_suite = {
	.name		= "kofi_rxm_info",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= info_cases,
};
