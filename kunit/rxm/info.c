// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What fi_getinfo() says of an endpoint.
 */
#include <linux/sizes.h>
#include "rxm.h"

#define QUEUE	128	/* operations of a queue that hints say nothing of */

static void an_info_says_what_an_endpoint_has(struct kunit *test)
{
	struct rxm_bed *bed = rxm_bed_open(test);
	const struct fi_info *info = bed->us.info;
	const struct fi_domain_attr *domain = info->domain_attr;
	const struct fi_ep_attr *ep = info->ep_attr;

	KUNIT_EXPECT_EQ(test, info->mode, 0);
	KUNIT_EXPECT_EQ(test, info->tx_attr->mode, 0);
	KUNIT_EXPECT_EQ(test, info->tx_attr->size, QUEUE);
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
	KUNIT_EXPECT_EQ(test, domain->max_cq_size, 0);
	KUNIT_EXPECT_EQ(test, domain->max_ep_tx_ctx, 1);
	KUNIT_EXPECT_EQ(test, domain->max_ep_rx_ctx, 1);
	KUNIT_EXPECT_EQ(test, domain->max_ep_stx_ctx, 0);
	KUNIT_EXPECT_EQ(test, domain->max_ep_srx_ctx, 0);
	KUNIT_EXPECT_EQ(test, domain->max_err_data, 0);
	KUNIT_EXPECT_EQ(test, domain->max_cntr_value, U64_MAX);
	KUNIT_EXPECT_EQ(test, domain->max_err_cntr_value, U64_MAX);
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

static struct kunit_case info_cases[] = {
	KUNIT_CASE(an_info_says_what_an_endpoint_has),
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
