// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Where callbacks run: in the context that the client has asked for, one at a time on a
 * queue, in whatever way an operation or its queue ends.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <rdma/fi_rma.h>
#include "mr.h"

#define CTX_DEPTH	8
#define CTX_LEN		64

/**
 * struct ctx_op - An operation
 * @done: its callback
 * @ctx: the case
 * @calls: how often it was called
 * @err: what it was told
 */
struct ctx_op {
	struct fi_done	done;
	struct ctx	*ctx;
	int		calls;
	int		err;
};

/**
 * struct ctx - A case
 * @cq_kind: of the queue that calls back
 * @pair: callbacks are a's
 * @far: the peer's memory
 * @mr: region of @far
 * @ops: operations
 * @buf: their memory
 * @wants_task: the client has asked for a worker
 * @running: callbacks of the queue that run now
 * @wrong: callbacks in another context, or beside another
 * @left: callbacks that are to come
 * @over: completed by the last
 * @loose: of the endpoint, for operations without a context
 * @loose_err: what the last of them was told
 */
struct ctx {
	struct vt_kind		cq_kind;
	struct vt_pair		pair;
	u8			*far;
	struct fid_mr		*mr;
	struct ctx_op		ops[CTX_DEPTH];
	u8			*buf;
	bool			wants_task;
	atomic_t		running;
	atomic_t		wrong;
	atomic_t		left;
	struct completion	over;
	int			loose;
	int			loose_err;
};

static struct ctx *the_ctx;

static void ctx_called(struct ctx *ctx)
{
	if (atomic_inc_return(&ctx->running) != 1 || in_task() != ctx->wants_task)
		atomic_inc(&ctx->wrong);
	/* Somebody else has the time to call, too */
	udelay(9);
	atomic_dec(&ctx->running);
	if (atomic_dec_and_test(&ctx->left))
		complete(&ctx->over);
}

static void ctx_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct ctx_op *op = container_of(done, struct ctx_op, done);

	op->calls++;
	op->err = entry->err;
	ctx_called(op->ctx);
}

static void ctx_loose(struct fid_ep *ep, const struct fi_done_entry *entry)
{
	the_ctx->loose++;
	the_ctx->loose_err = entry->err;
	ctx_called(the_ctx);
}

static const struct fi_ep_callbacks ctx_callbacks = { .done = ctx_loose };

static const struct ctx_kind {
	const char	*name;
	enum fi_comp_ctx comp_ctx;
} ctx_kinds[] = {
	{ "softirq", FI_COMP_SOFTIRQ },
	{ "worker", FI_COMP_WORKQUEUE },
};

KUNIT_ARRAY_PARAM_DESC(ctx_kind, ctx_kinds, name);

static struct ctx *ctx_open(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true, .max_send_sge = 1 };
	const struct ctx_kind *kind = test->param_value;
	struct ctx *ctx = ht_buf(test, sizeof(*ctx));
	struct fi_info *info;
	int i;

	the_ctx = ctx;
	init_completion(&ctx->over);
	ctx->wants_task = kind->comp_ctx == FI_COMP_WORKQUEUE;
	ctx->buf = ht_buf(test, 2 * CTX_DEPTH * CTX_LEN);
	for (i = 0; i < CTX_DEPTH; i++)
		ctx->ops[i] = (struct ctx_op) { .done.done = ctx_done, .ctx = ctx };
	hm_serve(test, &attr);
	ctx->cq_kind = (struct vt_kind) {
		.wait_obj	= FI_WAIT_DONE,
		.comp_ctx	= kind->comp_ctx,
	};
	ctx->pair.a.tx = vt_cq(test, &ctx->cq_kind, 64);
	info = vt_dup(test, vt_of(test)->info);
	info->tx_attr->size = CTX_DEPTH;
	info->rx_attr->size = CTX_DEPTH;
	ht_end_open(test, &ctx->pair.a, info);
	KUNIT_ASSERT_EQ(test, fi_setopt(&ctx->pair.a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS,
					&ctx_callbacks, sizeof(ctx_callbacks)), 0);
	ht_join(test, &ctx->pair);
	ctx->far = hm_pages(test);
	KUNIT_ASSERT_EQ(test, hm_reg(test, ctx->far, PAGE_SIZE, &ctx->mr), 0);
	return ctx;
}

static void ctx_expect(struct ctx *ctx, int count)
{
	atomic_set(&ctx->left, count);
}

/* Each of the first @count operations has been called once, as the client has asked */
static void ctx_await(struct kunit *test, struct ctx *ctx, int count)
{
	int i;

	KUNIT_ASSERT_TRUE(test, vt_completed(&ctx->over));
	KUNIT_EXPECT_EQ(test, atomic_read(&ctx->wrong), 0);
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ(test, ctx->ops[i].calls, 1);
}

static int ctx_post(struct ctx *ctx, int i, u64 flags)
{
	struct kvec kvec = { ctx->buf + i * CTX_LEN, CTX_LEN };
	const struct fi_rma_iov to = { fi_mr_addr(ctx->mr), CTX_LEN,
				       fi_mr_key(ctx->mr) };
	const struct fi_msg_rma msg = {
		.msg_iov	= &kvec,
		.iov_count	= 1,
		.rma_iov	= &to,
		.rma_iov_count	= 1,
		.context	= &ctx->ops[i].done,
	};

	return fi_writemsg(ctx->pair.a.ep, &msg, flags | FI_COMPLETION);
}

/* Nobody executes it until fakehca_release() */
static void ctx_post_all(struct kunit *test, struct ctx *ctx)
{
	int i;

	ctx_expect(ctx, CTX_DEPTH);
	fakehca_hold(ht_of(test)->hca);
	for (i = 0; i < CTX_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, ctx_post(ctx, i, 0), 0);
}

static void a_success_is_called_in_context(struct kunit *test)
{
	struct ctx *ctx = ctx_open(test);

	ctx_post_all(test, ctx);
	fakehca_release(ht_of(test)->hca);
	ctx_await(test, ctx, CTX_DEPTH);
	KUNIT_EXPECT_EQ(test, ctx->ops[0].err, 0);
}

static void a_flush_is_called_in_context(struct kunit *test)
{
	struct ctx *ctx = ctx_open(test);

	ctx_post_all(test, ctx);
	KUNIT_ASSERT_EQ(test, fi_shutdown(ctx->pair.a.ep, 0), 0);
	ctx_await(test, ctx, CTX_DEPTH);
	KUNIT_EXPECT_EQ(test, ctx->ops[0].err, ECANCELED);
	fakehca_release(ht_of(test)->hca);
}

static void a_drain_is_called_in_context(struct kunit *test)
{
	struct ctx *ctx = ctx_open(test);

	ctx_post_all(test, ctx);
	KUNIT_ASSERT_EQ(test, fi_ep_drain(ctx->pair.a.ep, -1), 0);
	ctx_await(test, ctx, CTX_DEPTH);
	fakehca_release(ht_of(test)->hca);
}

static void a_close_is_called_in_context(struct kunit *test)
{
	struct ctx *ctx = ctx_open(test);

	ctx_post_all(test, ctx);
	vt_close(test, &ctx->pair.a.ep->fid);
	ctx_await(test, ctx, CTX_DEPTH);
	fakehca_release(ht_of(test)->hca);
}

static void a_removal_is_called_in_context(struct kunit *test)
{
	struct ctx *ctx = ctx_open(test);

	ctx_post_all(test, ctx);
	fakehca_remove_begin(ht_of(test)->hca);
	ctx_await(test, ctx, CTX_DEPTH);
	fakehca_release(ht_of(test)->hca);
	KUNIT_EXPECT_TRUE(test, fakehca_remove_wait(ht_of(test)->hca, HT_PATIENCE_MS));
}

/*
 * What the device refuses of a list ends in a worker, while ib_core's poller reports
 * what was taken and what is flushed.
 */
static void a_refusal_is_called_in_context_beside_a_flush(struct kunit *test)
{
	struct ctx *ctx = ctx_open(test);
	int i;

	ctx_expect(ctx, CTX_DEPTH);
	for (i = 0; i < CTX_DEPTH / 2; i++)
		KUNIT_ASSERT_EQ(test, ctx_post(ctx, i, 0), 0);
	for (; i < CTX_DEPTH - 1; i++)
		KUNIT_ASSERT_EQ(test, ctx_post(ctx, i, FI_MORE), 0);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 2, -EIO);
	KUNIT_ASSERT_EQ(test, ctx_post(ctx, i, 0), -EIO);
	/* The last one was refused in the call */
	atomic_dec(&ctx->left);
	if (!atomic_read(&ctx->left))
		complete(&ctx->over);
	ctx_await(test, ctx, CTX_DEPTH - 1);
	KUNIT_EXPECT_EQ(test, ctx->ops[CTX_DEPTH / 2 + 1].err, EIO);
}

/* Taken in part, and the marker that is to end it is refused, too */
static void a_partial_operation_is_called_in_context(struct kunit *test)
{
	struct ctx *ctx = ctx_open(test);
	struct kvec iov[3];
	int i;

	for (i = 0; i < 3; i++)
		iov[i] = (struct kvec) { ctx->buf + 2 * i * CTX_LEN, CTX_LEN };
	ctx_expect(ctx, 1);
	fakehca_fail_again(ht_of(test)->hca, FAKEHCA_POST_SEND, 2, -EIO, 2);
	KUNIT_ASSERT_EQ(test, fi_writev(ctx->pair.a.ep, iov, NULL, 3, 0, fi_mr_addr(ctx->mr),
					fi_mr_key(ctx->mr), &ctx->ops[0].done), 0);
	ctx_await(test, ctx, 1);
	KUNIT_EXPECT_EQ(test, ctx->ops[0].err, EIO);
}

/* A context that is NULL, and one that the call has not got */
static void an_operation_without_a_context_is_called_in_context(struct kunit *test)
{
	struct ctx *ctx = ctx_open(test);

	ctx_expect(ctx, 1);
	vt_recv(test, &ctx->pair.b, NULL, 0, NULL);
	vt_send(test, &ctx->pair.a, NULL, 0, NULL);
	ctx_await(test, ctx, 0);
	KUNIT_EXPECT_EQ(test, ctx->loose, 1);
	KUNIT_EXPECT_EQ(test, ctx->loose_err, 0);

	reinit_completion(&ctx->over);
	ctx_expect(ctx, 1);
	fakehca_hold(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, fi_inject(ctx->pair.a.ep, ctx->buf, 8, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_shutdown(ctx->pair.a.ep, 0), 0);
	ctx_await(test, ctx, 0);
	KUNIT_EXPECT_EQ(test, ctx->loose, 2);
	KUNIT_EXPECT_EQ(test, ctx->loose_err, ECANCELED);
	fakehca_release(ht_of(test)->hca);
}

static void ctx_handler(struct fid_cq *cq, void *context)
{
	ctx_called(context);
}

/* Nothing completes any more, so the last call comes from the task that removes it */
static void the_end_of_a_queue_is_called_in_context(struct kunit *test)
{
	const struct ctx_kind *kind = test->param_value;
	struct ctx *ctx = ht_buf(test, sizeof(*ctx));
	struct fi_cq_attr attr = {
		.wait_obj	= FI_WAIT_CALLBACK,
		.comp_ctx	= kind->comp_ctx,
		.handler	= ctx_handler,
	};
	struct fi_cq_entry entry;
	struct fid_cq *cq;

	init_completion(&ctx->over);
	ctx->wants_task = kind->comp_ctx == FI_COMP_WORKQUEUE;
	ctx_expect(ctx, 1);
	ht_open(test, NULL);
	KUNIT_ASSERT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &cq, ctx), 0);
	vt_adopt(test, &cq->fid);

	fakehca_remove_begin(ht_of(test)->hca);

	ctx_await(test, ctx, 0);
	KUNIT_EXPECT_EQ(test, fi_cq_read(cq, &entry, 1), -ENODEV);
	KUNIT_EXPECT_TRUE(test, fakehca_remove_wait(ht_of(test)->hca, HT_PATIENCE_MS));
}

static struct kunit_case ctx_cases[] = {
	KUNIT_CASE_PARAM(a_success_is_called_in_context, ctx_kind_gen_params),
	KUNIT_CASE_PARAM(a_flush_is_called_in_context, ctx_kind_gen_params),
	KUNIT_CASE_PARAM(a_drain_is_called_in_context, ctx_kind_gen_params),
	KUNIT_CASE_PARAM(a_close_is_called_in_context, ctx_kind_gen_params),
	KUNIT_CASE_PARAM(a_removal_is_called_in_context, ctx_kind_gen_params),
	KUNIT_CASE_PARAM(a_refusal_is_called_in_context_beside_a_flush, ctx_kind_gen_params),
	KUNIT_CASE_PARAM(a_partial_operation_is_called_in_context, ctx_kind_gen_params),
	KUNIT_CASE_PARAM(an_operation_without_a_context_is_called_in_context, ctx_kind_gen_params),
	KUNIT_CASE_PARAM(the_end_of_a_queue_is_called_in_context, ctx_kind_gen_params),
	{}
};

struct kunit_suite kofi_hca_context_suite = {
	.name		= "kofi_hca_context",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= ctx_cases,
};
