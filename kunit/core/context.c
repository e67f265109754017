// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_context: queues that are no endpoint's own, aliases, multicast groups,
 * drain, and what a provider may promise of them.  Their life is tested with that of all
 * classes (lifetime.c, complete.c, bind.c).
 */
#include <linux/dma-buf.h>
#include "../lib/refusal.h"
#include "core.h"

static void index_of_a_context_is_the_providers(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_TX);
	struct fid_ep *ep;

	KUNIT_EXPECT_EQ(test, fi_tx_context(core_sep(set), MOCK_CTX_CNT, NULL, &ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_rx_context(core_sep(set), MOCK_CTX_CNT, NULL, &ep, NULL), -EINVAL);
	KUNIT_ASSERT_EQ(test, fi_tx_context(core_sep(set), MOCK_CTX_CNT - 1, NULL, &ep, NULL), 0);
	core_adopt(test, &ep->fid);
}

static void negative_index_is_refused(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_TX);
	struct fid_ep *ep;
	int calls;

	calls = mock_calls(set->mock);

	KUNIT_EXPECT_EQ(test, fi_tx_context(core_sep(set), -1, NULL, &ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_rx_context(core_sep(set), -1, NULL, &ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, mock_calls(set->mock), calls);
}

static void scalable_endpoint_waits_for_all_its_contexts(struct kunit *test)
{
	struct core_set *set = core_all(test);

	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_TX]), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_SEP]), -EBUSY);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_RX]), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_SEP]), 0);
}

/* Each context is enabled for itself, and so is what holds them */
static void contexts_are_enabled_one_by_one(struct kunit *test)
{
	struct core_set *set = core_all(test);

	KUNIT_EXPECT_EQ(test, fi_enable(core_tx(set)), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(core_rx(set)), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(core_sep(set)), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&set->mock->calls[MOCK_CALL_CONTROL]), 3);
}

static void context_carries_data_by_its_own_table(struct kunit *test)
{
	struct core_set *set = core_all(test);

	KUNIT_EXPECT_EQ(test, fi_send(core_tx(set), "x", 1, NULL, 0, NULL), -EPROTO);
	KUNIT_EXPECT_EQ(test, fi_inject(core_tx(set), "x", 1, 0), -ENOSYS);
}

static void spoil(struct core_set *set, enum mock_class class)
{
	set->mock->knob = (struct mock_knob) {
		.flaw = MOCK_FILLERS,
		.class = class,
		.table = 3,
	};
}

static const enum mock_class contexts[] = { MOCK_TX, MOCK_RX };

static void context_desc(const enum mock_class *class, char *desc)
{
	strscpy(desc, mock_classes[*class].name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(context, contexts, context_desc);

static void context_without_the_calls_of_its_endpoint_is_refused(struct kunit *test)
{
	enum mock_class class = *(const enum mock_class *)test->param_value;
	struct core_set *set = core_parents(test, class);
	struct fid *fid;

	spoil(set, class);

	KUNIT_EXPECT_EQ(test, core_open(test, set, class, &fid), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&set->mock->live[class]), 0);
}

static void context_may_have_less_than_its_endpoint(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_TX);
	struct fi_tx_attr tx_attr = { .caps = FI_FENCE };
	struct fi_rx_attr rx_attr = { .caps = FI_SOURCE };
	struct fid_ep *tx, *rx;

	spoil(set, MOCK_TX);
	KUNIT_ASSERT_EQ(test, fi_tx_context(core_sep(set), 0, &tx_attr, &tx, NULL), 0);
	core_adopt(test, &tx->fid);
	spoil(set, MOCK_RX);
	KUNIT_ASSERT_EQ(test, fi_rx_context(core_sep(set), 0, &rx_attr, &rx, NULL), 0);
	core_adopt(test, &rx->fid);
}

/* RMA that comes in needs no call of the receive context's */
static void receive_context_promises_no_rma(struct kunit *test)
{
	struct fi_rx_attr attr = { .caps = FI_RMA | FI_REMOTE_WRITE };
	struct core_set *set = core_parents(test, MOCK_RX);
	struct fid_ep *ep;

	spoil(set, MOCK_RX);

	KUNIT_ASSERT_EQ(test, fi_rx_context(core_sep(set), 0, &attr, &ep, NULL), 0);
	core_adopt(test, &ep->fid);
}

static void transmit_context_that_promises_rma_needs_it(struct kunit *test)
{
	struct fi_tx_attr attr = { .caps = FI_RMA | FI_WRITE };
	struct core_set *set = core_parents(test, MOCK_TX);
	struct fid_ep *ep;

	spoil(set, MOCK_TX);

	KUNIT_EXPECT_EQ(test, fi_tx_context(core_sep(set), 0, &attr, &ep, NULL), -EINVAL);
}

static void context_takes_queues_of_its_endpoints_domain_only(struct kunit *test)
{
	struct core_set set, other;
	struct fid *cq;

	core_open_all(test, &set, core_mock(test, "mock", 1));
	other = set;
	KUNIT_ASSERT_EQ(test, core_open(test, &set, MOCK_DOMAIN, &other.fid[MOCK_DOMAIN]), 0);
	KUNIT_ASSERT_EQ(test, core_open(test, &other, MOCK_CQ, &cq), 0);

	KUNIT_EXPECT_EQ(test, fi_ep_bind(core_rx(&set), cq, FI_RECV), -FI_EDOMAIN);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(core_rx(&set), set.fid[MOCK_CQ], FI_RECV), 0);
}

static void alias_is_a_child_of_its_endpoint(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct fid_ep *alias = NULL;

	KUNIT_ASSERT_EQ(test, fi_ep_alias(core_ep(set), &alias, FI_TRANSMIT), 0);
	KUNIT_ASSERT_NOT_NULL(test, alias);
	core_adopt(test, &alias->fid);

	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_EP]), -EBUSY);
	KUNIT_EXPECT_EQ(test, core_close(test, &alias->fid), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_EP]), 0);
}

static void provider_without_aliases_leaves_none(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct fid_ep *alias = NULL;

	KUNIT_EXPECT_EQ(test, fi_ep_alias(core_tx(set), &alias, FI_TRANSMIT), -ENOSYS);
	KUNIT_EXPECT_NULL(test, alias);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_TX]), 0);
}

static void size_left_is_not_counted(struct kunit *test)
{
	struct core_set *set = core_all(test);

	KUNIT_EXPECT_EQ(test, fi_rx_size_left(core_ep(set)), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_tx_size_left(core_ep(set)), -ENOSYS);
}

static void drain_of_a_context_reaches_the_provider(struct kunit *test)
{
	struct core_set *set = core_all(test);

	set->mock->fail[MOCK_CALL_DRAIN] = -ETIMEDOUT;

	KUNIT_EXPECT_EQ(test, fi_ep_drain(core_tx(set), 1), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(core_rx(set), 1), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(core_ep(set), 1), -FI_EOPBADSTATE);
}

/* Regions that are more than a list in memory */
static struct dma_buf nowhere = { .size = 8192 };

static const struct dmabuf_case {
	const char		*name;
	struct fi_mr_dmabuf	piece;
	enum fi_buf_type	type;
	size_t			count;
	int			ret;
} dmabuf_cases[] = {
	{ "all of it", { &nowhere, 0, 8192 }, 0, 1, 0 },
	{ "its end", { &nowhere, 8191, 1 }, 0, 1, 0 },
	{ "nothing", { NULL, 0, 1 }, 0, 1, -EINVAL },
	{ "no bytes", { &nowhere, 0, 0 }, 0, 1, -EINVAL },
	{ "too long", { &nowhere, 0, 8193 }, 0, 1, -EINVAL },
	{ "beyond its end", { &nowhere, 8191, 2 }, 0, 1, -EINVAL },
	{ "an offset that wraps", { &nowhere, U64_MAX, 2 }, 0, 1, -EINVAL },
	{ "two", { &nowhere, 0, 1 }, 0, 2, -EINVAL },
	{ "a type of list", { &nowhere, 0, 1 }, FI_BUF_SGL, 1, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(dmabuf, dmabuf_cases, name);

static int register_dmabuf(struct kunit *test, u64 caps, const struct dmabuf_case *row)
{
	struct core_set *set = core_parents(test, MOCK_DOMAIN);
	struct fi_mr_attr attr = {
		.type = row->type,
		.dmabuf = &row->piece,
		.iov_count = row->count,
		.access = FI_REMOTE_READ,
	};
	struct fid_mr *mr;
	int ret;

	set->info->caps |= caps;
	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_DOMAIN, &set->fid[MOCK_DOMAIN]), 0);

	ret = fi_mr_regattr(core_domain(set), &attr, FI_MR_DMABUF, &mr);
	if (!ret) {
		KUNIT_EXPECT_EQ(test, set->mock->mr_flags, FI_MR_DMABUF);
		core_adopt(test, &mr->fid);
	}
	return ret;
}

static void piece_of_a_dmabuf_is_registered_within_its_bounds(struct kunit *test)
{
	const struct dmabuf_case *row = test->param_value;

	KUNIT_EXPECT_EQ(test, register_dmabuf(test, FI_P2P, row), row->ret);
}

static void domain_without_peer_memory_knows_no_dmabuf(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, register_dmabuf(test, 0, dmabuf_cases), -FI_EBADFLAGS);
}

static void memory_that_the_provider_refuses_is_explained(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct fid_mr *mr;
	u8 stack[8] = {};

	vt_refusals_begin(test);
	set->mock->fail[MOCK_CALL_MR_REG] = -EINVAL;
	KUNIT_EXPECT_EQ(test, fi_mr_reg(core_domain(set), stack, sizeof(stack), FI_REMOTE_READ, 0,
					0, 0, &mr, NULL), -EINVAL);
	vt_refused(test, "mr_reg", -EINVAL, "element 1 of 1 is on the stack");
	set->mock->fail[MOCK_CALL_MR_REG] = -ENOSPC;
	KUNIT_EXPECT_EQ(test, fi_mr_reg(core_domain(set), stack, sizeof(stack), FI_REMOTE_READ, 0,
					0, 0, &mr, NULL), -ENOSPC);
	vt_not_refused(test);
}

static void dmabuf_that_the_provider_refuses_is_no_list(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_DOMAIN);
	/* On the stack, which would be refused as an element of a list */
	struct dma_buf dmabuf = { .size = 8192 };
	const struct fi_mr_dmabuf piece = { &dmabuf, 8, 8 };
	struct fi_mr_attr attr = { .dmabuf = &piece, .iov_count = 1, .access = FI_REMOTE_READ };
	struct fid_mr *mr;

	set->info->caps |= FI_P2P;
	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_DOMAIN, &set->fid[MOCK_DOMAIN]), 0);
	vt_refusals_begin(test);
	set->mock->fail[MOCK_CALL_MR_REG] = -EINVAL;
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(core_domain(set), &attr, FI_MR_DMABUF, &mr), -EINVAL);
	vt_not_refused(test);
}

static void kinds_of_regions_are_the_providers(struct kunit *test)
{
	struct core_set *set = core_all(test);
	static const u64 flags[] = {
		FI_MR_ENDPOINT, FI_MR_SINGLE_USE, FI_RMA_EVENT, FI_AUTH_KEY,
	};
	struct kvec iov = { (void *)flags, sizeof(flags) };
	struct fi_mr_attr attr = { .mr_iov = &iov, .iov_count = 1 };
	struct fid_mr *mr;
	int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		KUNIT_ASSERT_EQ(test, fi_mr_regattr(core_domain(set), &attr, flags[i], &mr), 0);
		core_adopt(test, &mr->fid);
		KUNIT_EXPECT_EQ(test, set->mock->mr_flags, flags[i]);
	}
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(core_domain(set), &attr, FI_MORE, &mr), -FI_EBADFLAGS);
	/* It was not opened for that */
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(core_domain(set), &attr, FI_RMA_PMEM,
					    &mr), -FI_EBADFLAGS);
}

static struct kunit_case context_cases[] = {
	KUNIT_CASE(index_of_a_context_is_the_providers),
	KUNIT_CASE(negative_index_is_refused),
	KUNIT_CASE(scalable_endpoint_waits_for_all_its_contexts),
	KUNIT_CASE(contexts_are_enabled_one_by_one),
	KUNIT_CASE(context_carries_data_by_its_own_table),
	KUNIT_CASE_PARAM(context_without_the_calls_of_its_endpoint_is_refused, context_gen_params),
	KUNIT_CASE(context_may_have_less_than_its_endpoint),
	KUNIT_CASE(receive_context_promises_no_rma),
	KUNIT_CASE(transmit_context_that_promises_rma_needs_it),
	KUNIT_CASE(context_takes_queues_of_its_endpoints_domain_only),
	KUNIT_CASE(alias_is_a_child_of_its_endpoint),
	KUNIT_CASE(provider_without_aliases_leaves_none),
	KUNIT_CASE(size_left_is_not_counted),
	KUNIT_CASE(drain_of_a_context_reaches_the_provider),
	KUNIT_CASE_PARAM(piece_of_a_dmabuf_is_registered_within_its_bounds, dmabuf_gen_params),
	KUNIT_CASE(domain_without_peer_memory_knows_no_dmabuf),
	KUNIT_CASE(memory_that_the_provider_refuses_is_explained),
	KUNIT_CASE(dmabuf_that_the_provider_refuses_is_no_list),
	KUNIT_CASE(kinds_of_regions_are_the_providers),
	{}
};

struct kunit_suite kofi_context_suite = {
	.name = "kofi_context",
	.init = core_init,
	.exit = core_exit,
	.test_cases = context_cases,
};
