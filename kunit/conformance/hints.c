// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Claims as hints: each capability, order and model that a result has can be asked
 * for, and nothing that it has not; each number can be asked for up to a limit, and
 * not one more.
 */
#include "conformance.h"

/* A result may have these only if it was asked for them, as each operation pays for them */
#define COSTLY	(FI_SOURCE | FI_SOURCE_ERR | FI_RMA_PMEM)

/* Every capability there is, with what it needs beside it to make sense */
static const struct {
	u64	cap;
	u64	beside;
} capabilities[] = {
	{ FI_MSG },
	{ FI_RMA },
	{ FI_TAGGED },
	{ FI_ATOMIC },
	{ FI_COLLECTIVE },
	{ FI_MULTICAST, FI_MSG },
	{ FI_SEND, FI_MSG },
	{ FI_RECV, FI_MSG },
	{ FI_READ, FI_RMA },
	{ FI_WRITE, FI_RMA },
	{ FI_REMOTE_READ, FI_RMA },
	{ FI_REMOTE_WRITE, FI_RMA },
	{ FI_REMOTE_INV, FI_MSG },
	{ FI_MULTI_RECV, FI_MSG },
	{ FI_TAGGED_MULTI_RECV, FI_TAGGED },
	{ FI_DIRECTED_RECV, FI_MSG },
	{ FI_EXACT_DIRECTED_RECV, FI_MSG },
	{ FI_TAGGED_DIRECTED_RECV, FI_TAGGED },
	{ FI_TRIGGER },
	{ FI_FENCE },
	{ FI_HMEM },
	{ FI_PEER },
	{ FI_AV_USER_ID },
	{ FI_SHARED_AV },
	{ FI_NAMED_RX_CTX },
	{ FI_SOURCE, FI_MSG },
	{ FI_SOURCE_ERR, FI_MSG | FI_SOURCE },
	{ FI_RMA_PMEM, FI_RMA },
	{ FI_RMA_EVENT, FI_RMA | FI_REMOTE_WRITE },
	{ FI_LOCAL_COMM },
	{ FI_REMOTE_COMM },
};

static void capabilities_are_found_if_and_only_if_claimed(struct kunit *test)
{
	u64 claimed = vt_of(test)->info->caps;
	struct fi_info *hints, *info;
	size_t i;
	u64 caps;
	int ret;

	for (i = 0; i < ARRAY_SIZE(capabilities); i++) {
		caps = capabilities[i].cap | capabilities[i].beside;
		hints = conf_ask(test);
		hints->caps = caps;
		hints->tx_attr->caps = 0;
		hints->rx_attr->caps = 0;
		hints->domain_attr->caps = 0;
		ret = conf_getinfo(test, hints, &info);
		if (!(caps & COSTLY))
			KUNIT_EXPECT_EQ_MSG(test, ret, caps & ~claimed ?
					    -ENODATA : 0, "caps %#llx", caps);
		else
			KUNIT_EXPECT_TRUE_MSG(test, !ret || (ret == -ENODATA && caps & ~claimed),
					      "caps %#llx: %d", caps, ret);
		if (!ret)
			KUNIT_EXPECT_EQ(test, info->caps & caps, caps);
	}
}

/* Every order there is */
static const u64 orders[] = {
	FI_ORDER_RAR, FI_ORDER_RAW, FI_ORDER_RAS, FI_ORDER_WAR, FI_ORDER_WAW,
	FI_ORDER_WAS, FI_ORDER_SAR, FI_ORDER_SAW, FI_ORDER_SAS,
	FI_ORDER_RMA_RAR, FI_ORDER_RMA_RAW, FI_ORDER_RMA_WAR, FI_ORDER_RMA_WAW,
	FI_ORDER_ATOMIC_RAR, FI_ORDER_ATOMIC_RAW, FI_ORDER_ATOMIC_WAR,
	FI_ORDER_ATOMIC_WAW,
};

/* A field of one of the attribute structures of an info */
struct field {
	const char	*name;
	size_t		attr;
	size_t		offset;
};

#define FIELD(_name, _attr, _type, _field)				\
	{ _name, offsetof(struct fi_info, _attr),			\
	  offsetof(struct _type, _field) }

/* Bits and numbers alike have the width of a long */
static_assert(sizeof(size_t) == sizeof(u64));

static u64 *at(struct fi_info *info, const struct field *field)
{
	void *attr = *(void **)((void *)info + field->attr);

	return attr + field->offset;
}

static int ask_for(struct kunit *test, const struct field *field, u64 value, struct fi_info **info)
{
	struct fi_info *hints = fi_dupinfo(test->param_value);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, hints);
	*at(hints, field) = value;
	ret = conf_getinfo(test, hints, info);
	fi_freeinfo(hints);
	return ret;
}

static void orders_are_found_if_and_only_if_claimed(struct kunit *test)
{
	static const struct field fields[] = {
		FIELD("tx msg_order", tx_attr, fi_tx_attr, msg_order),
		FIELD("rx msg_order", rx_attr, fi_rx_attr, msg_order),
		FIELD("tx comp_order", tx_attr, fi_tx_attr, comp_order),
		FIELD("rx comp_order", rx_attr, fi_rx_attr, comp_order),
	};
	struct fi_info *info;
	size_t f, i;
	u64 claimed;

	for (f = 0; f < ARRAY_SIZE(fields); f++) {
		claimed = *at(vt_of(test)->info, &fields[f]);
		for (i = 0; i < ARRAY_SIZE(orders); i++)
			KUNIT_EXPECT_EQ_MSG(test, ask_for(test, &fields[f], orders[i], &info),
					    orders[i] & ~claimed ? -ENODATA : 0, "%s %#llx",
					    fields[f].name, orders[i]);
	}
}

static const struct field side_numbers[] = {
	FIELD("tx inject_size", tx_attr, fi_tx_attr, inject_size),
	FIELD("tx size", tx_attr, fi_tx_attr, size),
	FIELD("tx iov_limit", tx_attr, fi_tx_attr, iov_limit),
	FIELD("tx rma_iov_limit", tx_attr, fi_tx_attr, rma_iov_limit),
	FIELD("tx rma_read_iov_limit", tx_attr, fi_tx_attr, rma_read_iov_limit),
	FIELD("tx rma_write_iov_limit", tx_attr, fi_tx_attr, rma_write_iov_limit),
	FIELD("rx total_buffered_recv", rx_attr, fi_rx_attr, total_buffered_recv),
	FIELD("rx size", rx_attr, fi_rx_attr, size),
	FIELD("rx iov_limit", rx_attr, fi_rx_attr, iov_limit),
};

static const struct field other_numbers[] = {
	FIELD("ep max_msg_size", ep_attr, fi_ep_attr, max_msg_size),
	FIELD("ep max_order_raw_size", ep_attr, fi_ep_attr, max_order_raw_size),
	FIELD("ep max_order_war_size", ep_attr, fi_ep_attr, max_order_war_size),
	FIELD("ep max_order_waw_size", ep_attr, fi_ep_attr, max_order_waw_size),
	FIELD("ep tx_ctx_cnt", ep_attr, fi_ep_attr, tx_ctx_cnt),
	FIELD("ep rx_ctx_cnt", ep_attr, fi_ep_attr, rx_ctx_cnt),
	FIELD("domain mr_key_size", domain_attr, fi_domain_attr, mr_key_size),
	FIELD("domain cq_data_size", domain_attr, fi_domain_attr, cq_data_size),
	FIELD("domain cq_cnt", domain_attr, fi_domain_attr, cq_cnt),
	FIELD("domain ep_cnt", domain_attr, fi_domain_attr, ep_cnt),
	FIELD("domain tx_ctx_cnt", domain_attr, fi_domain_attr, tx_ctx_cnt),
	FIELD("domain rx_ctx_cnt", domain_attr, fi_domain_attr, rx_ctx_cnt),
	FIELD("domain max_ep_tx_ctx", domain_attr, fi_domain_attr, max_ep_tx_ctx),
	FIELD("domain max_ep_rx_ctx", domain_attr, fi_domain_attr, max_ep_rx_ctx),
	FIELD("domain max_ep_stx_ctx", domain_attr, fi_domain_attr, max_ep_stx_ctx),
	FIELD("domain max_ep_srx_ctx", domain_attr, fi_domain_attr, max_ep_srx_ctx),
	FIELD("domain cntr_cnt", domain_attr, fi_domain_attr, cntr_cnt),
	FIELD("domain mr_cnt", domain_attr, fi_domain_attr, mr_cnt),
	FIELD("domain mr_iov_limit", domain_attr, fi_domain_attr, mr_iov_limit),
	FIELD("domain max_err_data", domain_attr, fi_domain_attr, max_err_data),
	FIELD("domain max_ep_auth_key", domain_attr, fi_domain_attr, max_ep_auth_key),
};

/* The largest that can be asked for; what the case was given, at least */
static u64 limit_of(struct kunit *test, const struct field *field)
{
	u64 good = *at(vt_of(test)->info, field), bad = good + 1, middle;
	struct fi_info *info;

	while (bad > good && bad < U64_MAX / 2 && !ask_for(test, field, bad, &info)) {
		good = bad;
		bad *= 2;
	}
	while (bad > good + 1) {
		middle = good + (bad - good) / 2;
		if (ask_for(test, field, middle, &info))
			bad = middle;
		else
			good = middle;
	}
	return good;
}

static void check_numbers(struct kunit *test, const struct field *field, const struct field *end)
{
	struct fi_info *info;
	u64 limit;

	for (; field < end; field++) {
		limit = limit_of(test, field);
		KUNIT_ASSERT_EQ_MSG(test, ask_for(test, field, limit, &info), 0,
				    "%s %llu", field->name, limit);
		KUNIT_EXPECT_GE_MSG(test, *at(info, field), limit, "%s", field->name);
		if (limit == U64_MAX)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, ask_for(test, field, limit + 1, &info), -ENODATA,
				    "%s %llu", field->name, limit + 1);
	}
}

static void sizes_of_sides_can_be_asked_for_up_to_a_limit(struct kunit *test)
{
	check_numbers(test, side_numbers, side_numbers + ARRAY_SIZE(side_numbers));
}

static void other_numbers_can_be_asked_for_up_to_a_limit(struct kunit *test)
{
	check_numbers(test, other_numbers, other_numbers + ARRAY_SIZE(other_numbers));
}

/* Deep enough to show that it works, not so deep as to use up the memory */
#define DEEP	512

static void open_asked_for(struct kunit *test, const struct field *field)
{
	struct vt *vt = vt_of(test);
	u64 limit = limit_of(test, field);
	struct vt_end end = {};
	struct fid_ep *ep;

	*at(vt->info, field) = min_t(u64, limit, DEEP);
	vt_end_open(test, &end, vt->info, &vt_default_kind);
	vt_end_close(test, &end);

	if (limit < U64_MAX) {
		*at(vt->info, field) = limit + 1;
		KUNIT_EXPECT_EQ_MSG(test, fi_endpoint(vt->domain, vt->info, &ep, NULL), -EINVAL,
				    "%s %llu", field->name, limit + 1);
	}
}

static void open_each(struct kunit *test, const struct field *field, const struct field *end)
{
	struct vt *vt = vt_of(test);
	u64 was;

	vt_open_info(test, vt->info);
	for (; field < end; field++) {
		was = *at(vt->info, field);
		open_asked_for(test, field);
		*at(vt->info, field) = was;
	}
}

static void transmit_sides_are_what_can_be_asked_for(struct kunit *test)
{
	static const struct field fields[] = {
		FIELD("tx inject_size", tx_attr, fi_tx_attr, inject_size),
		FIELD("tx size", tx_attr, fi_tx_attr, size),
		FIELD("tx iov_limit", tx_attr, fi_tx_attr, iov_limit),
	};

	open_each(test, fields, fields + ARRAY_SIZE(fields));
}

static void receive_sides_are_what_can_be_asked_for(struct kunit *test)
{
	static const struct field fields[] = {
		FIELD("rx size", rx_attr, fi_rx_attr, size),
		FIELD("rx iov_limit", rx_attr, fi_rx_attr, iov_limit),
		FIELD("ep max_msg_size", ep_attr, fi_ep_attr, max_msg_size),
	};

	open_each(test, fields, fields + ARRAY_SIZE(fields));
}

/* Who promises more than is asked of him is served all the same */
static void weaker_models_are_enough(struct kunit *test)
{
	static const enum fi_threading threads[] = {
		FI_THREAD_SAFE, FI_THREAD_FID, FI_THREAD_ENDPOINT,
		FI_THREAD_COMPLETION, FI_THREAD_DOMAIN,
	};
	enum fi_threading mine = vt_of(test)->info->domain_attr->threading;
	struct fi_info *hints, *info;
	bool weaker = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		weaker |= threads[i] == mine;
		hints = conf_ask(test);
		hints->domain_attr->threading = threads[i];
		KUNIT_EXPECT_EQ_MSG(test, conf_getinfo(test, hints, &info), weaker ? 0 : -ENODATA,
				    "threading %d", threads[i]);
	}
	hints = conf_ask(test);
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->resource_mgmt = FI_RM_DISABLED;
	KUNIT_EXPECT_EQ(test, conf_getinfo(test, hints, &info), 0);
}

static void stronger_models_are_found_if_and_only_if_claimed(struct kunit *test)
{
	const struct fi_domain_attr *mine = vt_of(test)->info->domain_attr;
	struct fi_info *hints, *info;

	hints = conf_ask(test);
	hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
	KUNIT_EXPECT_EQ(test, conf_getinfo(test, hints, &info),
			mine->data_progress == FI_PROGRESS_AUTO ? 0 : -ENODATA);
	hints = conf_ask(test);
	hints->domain_attr->control_progress = FI_PROGRESS_AUTO;
	KUNIT_EXPECT_EQ(test, conf_getinfo(test, hints, &info),
			mine->control_progress == FI_PROGRESS_AUTO ? 0 : -ENODATA);
	hints = conf_ask(test);
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	KUNIT_EXPECT_EQ(test, conf_getinfo(test, hints, &info),
			mine->resource_mgmt == FI_RM_ENABLED ? 0 : -ENODATA);
}

static void other_types_and_formats_are_not_given(struct kunit *test)
{
	struct fi_info *hints = conf_ask(test), *info;

	hints->ep_attr->protocol++;
	KUNIT_EXPECT_EQ(test, conf_getinfo(test, hints, &info), -ENODATA);
	hints = conf_ask(test);
	hints->ep_attr->protocol_version++;
	KUNIT_EXPECT_EQ(test, conf_getinfo(test, hints, &info), -ENODATA);
	hints = conf_ask(test);
	hints->tx_attr->tclass = FI_TC_LABEL + 0x99;
	KUNIT_EXPECT_EQ(test, conf_getinfo(test, hints, &info), -ENODATA);
}

static struct kunit_case hints_cases[] = {
	KUNIT_CASE_PARAM(capabilities_are_found_if_and_only_if_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(orders_are_found_if_and_only_if_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(sizes_of_sides_can_be_asked_for_up_to_a_limit, conf_gen_params),
	KUNIT_CASE_PARAM(other_numbers_can_be_asked_for_up_to_a_limit, conf_gen_params),
	KUNIT_CASE_PARAM(transmit_sides_are_what_can_be_asked_for, conf_gen_params),
	KUNIT_CASE_PARAM(receive_sides_are_what_can_be_asked_for, conf_gen_params),
	KUNIT_CASE_PARAM(weaker_models_are_enough, conf_gen_params),
	KUNIT_CASE_PARAM(stronger_models_are_found_if_and_only_if_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(other_types_and_formats_are_not_given, conf_gen_params),
	{}
};

struct kunit_suite conf_hints_suite = {
	.name		= "kofi_conformance_hints",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= hints_cases,
};
