// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive contexts that are ready-made (kofi_srx_ctx_open()): the calls of their
 * client.
 */
#include <linux/err.h>
#include <kofi/eq.h>
#include "srx.h"

#define TAG	7

/**
 * struct provider_srx - The object of a provider
 * @ctx: the context
 * @own: what the provider adds
 */
struct provider_srx {
	struct kofi_srx_ctx	ctx;
	u64			own;
};

static const struct kofi_srx_attr room = {
	.size		= 4,
	.iov_limit	= 1,
	.max_msgs	= 4,
	.multi		= 1,
	.min_multi_recv	= 64,
};

static const struct kofi_ep_limits limits = {
	.rx_op_flags	= FI_COMPLETION,
	.trecv_flags	= FI_COMPLETION | FI_PEEK,
};

static void close_ctx(void *fid)
{
	((struct fid *)fid)->ops->close(fid);
}

static struct kofi_srx_ctx *open_with(const struct ut_srx *us, u64 op_flags,
				      const struct kofi_srx_attr *attr)
{
	const struct fi_rx_attr rx_attr = { .op_flags = op_flags };

	return kofi_srx_ctx_open(sizeof(struct provider_srx), &rx_attr,
				 &limits, attr, us->srx.ops, (void *)us);
}

/* A context that is closed after the case; messages are for an endpoint of @us */
static struct provider_srx *open_ctx(struct kunit *test, const struct ut_srx *us)
{
	struct kofi_srx_ctx *ctx = open_with(us, 0, &room);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ctx);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_ctx, &ctx->kep.ep.fid), 0);
	return container_of(ctx, struct provider_srx, ctx);
}

static ssize_t get(struct kofi_srx_ctx *ctx, int level, int optname)
{
	size_t value = 0, len = sizeof(value);
	int ret;

	ret = ctx->kep.ep.ops->getopt(&ctx->kep.ep.fid, level, optname, &value, &len);
	return ret ? : value;
}

static int set(struct kofi_srx_ctx *ctx, int level, int optname, size_t value)
{
	return ctx->kep.ep.ops->setopt(&ctx->kep.ep.fid, level, optname, &value, sizeof(value));
}

static void a_context_is_the_clients_and_the_providers(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	struct provider_srx *srx = open_ctx(test, us);
	struct fid *fid = &srx->ctx.kep.ep.fid;

	KUNIT_EXPECT_EQ(test, srx->own, 0);
	KUNIT_EXPECT_EQ(test, fid->fclass, FI_CLASS_SRX_CTX);
	KUNIT_EXPECT_PTR_EQ(test, fid->context, (void *)us);
	KUNIT_EXPECT_EQ(test, srx->ctx.srx.size, room.size);
}

static void receives_are_posted_to_a_context(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	struct kofi_srx_ctx *ctx = &open_ctx(test, us)->ctx;
	const struct kofi_srx_arrival untagged = {
		.ep = &us->ep[0], .flags = FI_MSG, .len = 10,
	};
	const struct kofi_srx_arrival tagged = {
		.ep = &us->ep[0], .flags = FI_TAGGED, .tag = TAG, .len = 10,
	};
	struct kofi_rx *rx;

	KUNIT_EXPECT_EQ(test, fi_trecv(&ctx->kep.ep, us->mem, 100, NULL, FI_ADDR_UNSPEC, TAG, 0,
				       &us->context[1]), 0);
	KUNIT_EXPECT_EQ(test, fi_recv(&ctx->kep.ep, us->mem, 100, NULL,
				      FI_ADDR_UNSPEC, &us->context[2]), 0);
	KUNIT_ASSERT_EQ(test, kofi_srx_arrive(&ctx->srx, &untagged, NULL, &rx), KOFI_SRX_MATCHED);
	kofi_rx_complete(rx);
	ut_gets(test, us, .nr = 2, .flags = UT_RECV, .len = 10);
	KUNIT_ASSERT_EQ(test, kofi_srx_arrive(&ctx->srx, &tagged, NULL, &rx), KOFI_SRX_MATCHED);
	kofi_rx_complete(rx);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV, .len = 10, .tag = TAG);
}

static void a_context_only_receives(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	struct fid_ep *ep = &open_ctx(test, us)->ctx.kep.ep;
	const struct fi_msg msg = { .addr = FI_ADDR_UNSPEC };

	KUNIT_EXPECT_EQ(test, fi_send(ep, us->mem, 1, NULL, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_tsend(ep, us->mem, 1, NULL, 0, TAG, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_read(ep, us->mem, 1, NULL, 0, 0, 0, NULL), -ENOSYS);
	/* The limits do not know it for receives without tags */
	KUNIT_EXPECT_EQ(test, fi_recvmsg(ep, &msg, FI_COMPLETION), -FI_EBADFLAGS);
}

static void a_receive_of_a_context_is_cancelled(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	struct kofi_srx_ctx *ctx = &open_ctx(test, us)->ctx;
	struct fid_ep *ep = &ctx->kep.ep;

	KUNIT_EXPECT_EQ(test, fi_recv(ep, us->mem, 100, NULL, FI_ADDR_UNSPEC, &us->context[1]), 0);
	KUNIT_EXPECT_EQ(test, ep->ops->cancel(&ep->fid, &us->context[1]), 0);
	KUNIT_EXPECT_EQ(test, ep->ops->cancel(&ep->fid, &us->context[1]), -ENOENT);
}

static void a_context_has_an_event_queue_for_its_limit(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	struct kofi_srx_ctx *ctx = &open_ctx(test, us)->ctx;
	struct fid *fid = &ctx->kep.ep.fid;
	struct fi_eq_entry entry;
	u32 event;

	KUNIT_EXPECT_EQ(test, set(ctx, FI_OPT_ENDPOINT, FI_OPT_SRX_LIMIT, 1), -FI_ENOEQ);
	KUNIT_EXPECT_EQ(test, fid->ops->bind(fid, &us->cq.cq.fid, FI_RECV), -EINVAL);
	KUNIT_EXPECT_EQ(test, fid->ops->bind(fid, &us->eq->fid, 0), 0);
	KUNIT_EXPECT_EQ(test, set(ctx, FI_OPT_ENDPOINT, FI_OPT_SRX_LIMIT, 1), 0);
	KUNIT_EXPECT_EQ(test, fi_eq_read(us->eq, &event, &entry, sizeof(entry), 0), sizeof(entry));
	KUNIT_EXPECT_EQ(test, event, FI_SRX_LIMIT);
	KUNIT_EXPECT_PTR_EQ(test, entry.fid, fid);
}

static void a_context_has_options_of_both_parts(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	struct kofi_srx_ctx *ctx = &open_ctx(test, us)->ctx;
	struct fid_ep *ep = &ctx->kep.ep;
	struct fi_ep_callbacks none = {}, got;
	size_t len = sizeof(got);

	KUNIT_EXPECT_EQ(test, get(ctx, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV), 64);
	KUNIT_EXPECT_EQ(test, set(ctx, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, 32), 0);
	KUNIT_EXPECT_EQ(test, get(ctx, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV), 32);
	KUNIT_EXPECT_EQ(test, ep->ops->setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, &none,
					      sizeof(none)), 0);
	KUNIT_EXPECT_EQ(test, ep->ops->getopt(&ep->fid, FI_OPT_ENDPOINT,
					      FI_OPT_CALLBACKS, &got, &len), 0);
	KUNIT_EXPECT_EQ(test, get(ctx, FI_OPT_ENDPOINT, FI_OPT_MAX_MSG_SIZE), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, get(ctx, FI_OPT_ENDPOINT + 99, FI_OPT_MIN_MULTI_RECV), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, set(ctx, FI_OPT_ENDPOINT + 99,
				  FI_OPT_MIN_MULTI_RECV, 1), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, get(ctx, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV), 32);
}

static void what_a_context_cannot_be_is_refused(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	struct kofi_srx_attr none = room;

	KUNIT_EXPECT_PTR_EQ(test, open_with(us, FI_INJECT, &room),
			    (struct kofi_srx_ctx *)ERR_PTR(-EINVAL));
	none.size = 0;
	KUNIT_EXPECT_PTR_EQ(test, open_with(us, 0, &none), (struct kofi_srx_ctx *)ERR_PTR(-EINVAL));
}

static struct kunit_case srx_ctx_cases[] = {
	KUNIT_CASE(a_context_is_the_clients_and_the_providers),
	KUNIT_CASE(receives_are_posted_to_a_context),
	KUNIT_CASE(a_context_only_receives),
	KUNIT_CASE(a_receive_of_a_context_is_cancelled),
	KUNIT_CASE(a_context_has_an_event_queue_for_its_limit),
	KUNIT_CASE(a_context_has_options_of_both_parts),
	KUNIT_CASE(what_a_context_cannot_be_is_refused),
	{}
};

static struct kunit_suite srx_ctx_suite = {
	.name		= "kofi_util_srx_ctx",
	.test_cases	= srx_ctx_cases,
};

kunit_test_suite(srx_ctx_suite);
