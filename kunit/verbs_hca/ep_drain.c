// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fi_ep_drain() on a device that refuses, that says too little, or that goes; and what
 * it leaves mapped.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/scatterlist.h>
#include <rdma/fi_rma.h>
#include <rdma/ib_verbs.h>
#include "../lib/async.h"
#include "hca.h"
#include "mr.h"

#define EP_DRAIN_SHORT_MS	50
#define EP_DRAIN_OPS		8
#define EP_DRAIN_LEN		64

static void a_device_that_refuses_is_told_of(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *in = ht_buf(test, EP_DRAIN_LEN);

	ht_connect(test, NULL, &pair);
	vt_recv(test, &pair.a, in, EP_DRAIN_LEN, vt_ctx(1));
	fakehca_fail_again(ht_of(test)->hca, FAKEHCA_MODIFY_QP, 1, -EIO, 100);

	KUNIT_EXPECT_EQ(test, vt_ep_drain(pair.a.ep), -EIO);
	KUNIT_EXPECT_EQ(test, vt_ep_drain(pair.a.ep), -EIO);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.a.ep, in, EP_DRAIN_LEN, NULL, 0, NULL), -ESHUTDOWN);

	fakehca_fail(ht_of(test)->hca, FAKEHCA_MODIFY_QP, 0, 0);
	vt_close(test, &pair.a.ep->fid);
}

/* What has succeeded and was not to be reported is mapped until then */
static void silent_operations_give_their_memory_back(struct kunit *test)
{
	struct fakehca_attr attr = { .roce = true };
	u8 *out = ht_buf(test, EP_DRAIN_OPS * EP_DRAIN_LEN), *in;
	struct vt_pair pair = { .a.bind_flags = FI_SELECTIVE_COMPLETION };
	struct kvec iov = { .iov_len = EP_DRAIN_LEN };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	unsigned int before;
	int i;

	ht_connect(test, &attr, &pair);
	in = ht_buf(test, EP_DRAIN_OPS * EP_DRAIN_LEN);
	before = ht_stats(test).mapped;
	for (i = 0; i < EP_DRAIN_OPS; i++) {
		vt_recv(test, &pair.b, in + i * EP_DRAIN_LEN, EP_DRAIN_LEN, vt_ctx(i));
		iov.iov_base = out + i * EP_DRAIN_LEN;
		KUNIT_ASSERT_EQ(test, fi_sendmsg(pair.a.ep, &msg, 0), 0);
	}
	for (i = 0; i < EP_DRAIN_OPS; i++)
		vt_done(test, pair.b.tx, vt_ctx(i));
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before + EP_DRAIN_OPS);

	KUNIT_ASSERT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);

	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before);
	vt_none(test, pair.a.tx);
}

/* An operation whose callback waits until it is told to go on */
struct ep_drain_op {
	struct fi_done		done;
	struct completion	begun;
	struct completion	go;
	bool			returned;
};

static void ep_drain_op_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct ep_drain_op *op = container_of(done, struct ep_drain_op, done);

	complete(&op->begun);
	wait_for_completion(&op->go);
	WRITE_ONCE(op->returned, true);
}

/* Posts it as a receive of a new connection's first end, which ends with it */
static struct ep_drain_op *ep_drain_open(struct kunit *test, struct vt_pair *pair)
{
	static const struct vt_kind kind = {
		.wait_obj	= FI_WAIT_DONE,
		.comp_ctx	= FI_COMP_WORKQUEUE,
	};
	struct ep_drain_op *op = ht_buf(test, sizeof(*op));

	hm_serve(test, NULL);
	pair->a.tx = vt_cq(test, &kind, 0);
	ht_join(test, pair);
	op->done.done = ep_drain_op_done;
	init_completion(&op->begun);
	init_completion(&op->go);
	vt_recv(test, &pair->a, ht_buf(test, EP_DRAIN_LEN), EP_DRAIN_LEN, &op->done);
	return op;
}

/* Its callback is called */
static void ep_drain_await(struct kunit *test, struct ep_drain_op *op)
{
	KUNIT_ASSERT_TRUE(test, vt_completed(&op->begun));
}

static int ep_drain_refresh(struct kunit *test, struct fid_mr *mr)
{
	struct kvec iov = { ht_buf(test, EP_DRAIN_LEN), EP_DRAIN_LEN };
	struct fi_mr_attr attr = {
		.mr_iov		= &iov,
		.iov_count	= 1,
		.access		= HM_REMOTE,
	};

	return fi_mr_refresh(mr, &attr, 0);
}

static void a_removal_waits_for_no_callback_of_a_drain(struct kunit *test)
{
	struct vt_pair pair = {};
	struct ep_drain_op *op = ep_drain_open(test, &pair);
	struct fakehca *hca = ht_of(test)->hca;
	struct fid_mr *mr = hm_reg_ep(test, pair.a.ep);

	KUNIT_ASSERT_EQ(test, ep_drain_refresh(test, mr), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, 0), -ETIMEDOUT);
	ep_drain_await(test, op);
	/* Nor does the drain of another endpoint */
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.b.ep, HT_PATIENCE_MS), 0);

	fakehca_remove_begin(hca);
	KUNIT_ASSERT_TRUE(test, fakehca_remove_wait(hca, HT_PATIENCE_MS));
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, 0), -ENODEV);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(op->returned));
	complete(&op->go);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(op->returned));
	/* The region has no device to look at */
	KUNIT_EXPECT_EQ(test, ep_drain_refresh(test, mr), -ENODEV);
}

static void a_removal_drains_itself(struct kunit *test)
{
	struct vt_pair pair = {};
	struct ep_drain_op *op = ep_drain_open(test, &pair);
	struct fakehca *hca = ht_of(test)->hca;

	fakehca_remove_begin(hca);
	ep_drain_await(test, op);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, 0), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, EP_DRAIN_SHORT_MS), -ENODEV);
	complete(&op->go);

	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(op->returned));
	KUNIT_ASSERT_TRUE(test, fakehca_remove_wait(hca, HT_PATIENCE_MS));
}

/* A registration that is held in the device */
struct ep_drain_reg {
	struct fid_domain	*domain;
	u8			*buf;
	struct completion	entered;
	struct completion	leave;
};

static void ep_drain_hold(void *context)
{
	struct ep_drain_reg *reg = context;

	complete(&reg->entered);
	wait_for_completion(&reg->leave);
}

static int ep_drain_register(void *context)
{
	struct ep_drain_reg *reg = context;
	struct fid_mr *mr;

	return fi_mr_reg(reg->domain, reg->buf, EP_DRAIN_LEN, HM_REMOTE, 0, 0, 0, &mr, NULL);
}

/* The removal strips no endpoint before the last call has left the device */
static void a_drain_waits_for_a_removal_no_longer_than_its_timeout(struct kunit *test)
{
	struct ep_drain_reg *reg = ht_buf(test, sizeof(*reg));
	struct vt_pair pair = {};
	struct vt_async *async;
	struct fakehca *hca;

	hm_serve(test, NULL);
	ht_join(test, &pair);
	hca = ht_of(test)->hca;
	reg->domain = vt_of(test)->domain;
	reg->buf = ht_buf(test, EP_DRAIN_LEN);
	init_completion(&reg->entered);
	init_completion(&reg->leave);
	fakehca_on_map_mr(hca, ep_drain_hold, reg);
	async = vt_async_start(test, ep_drain_register, reg);
	wait_for_completion(&reg->entered);
	fakehca_remove_begin(hca);
	KUNIT_EXPECT_EQ(test, ht_error(test, pair.a.eq).err, ENODEV);

	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, 0), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, EP_DRAIN_SHORT_MS), -ENODEV);
	KUNIT_EXPECT_FALSE(test, fakehca_remove_wait(hca, 0));
	complete(&reg->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, async), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
	KUNIT_EXPECT_TRUE(test, fakehca_remove_wait(hca, HT_PATIENCE_MS));
}

/**
 * struct ep_drain_read - A read that is held in the call, while it registers its buffer
 * @hold: holds it
 * @ep: its endpoint
 * @mr: the peer's region
 * @sg: its buffer
 */
struct ep_drain_read {
	struct ep_drain_reg	hold;
	struct fid_ep		*ep;
	struct fid_mr		*mr;
	struct scatterlist	sg;
};

static int ep_drain_read(void *context)
{
	struct ep_drain_read *read = context;

	return fi_readsgl(read->ep, &read->sg, 1, 0, EP_DRAIN_LEN, 0, fi_mr_addr(read->mr),
			  fi_mr_key(read->mr), vt_ctx(1), FI_COMPLETION);
}

static int ep_drain_forever(void *ep)
{
	return fi_ep_drain(ep, -1);
}

/* The call returns when the drain has begun to wait for it */
static void a_drain_waits_for_a_call_on_its_endpoint(struct kunit *test)
{
	struct ep_drain_read *read = ht_buf(test, sizeof(*read));
	struct vt_pair pair = { .a.rw_ops = 1 };
	struct vt_async *call, *drain;
	struct fakehca *hca;

	hm_serve(test, NULL);
	ht_join(test, &pair);
	hca = ht_of(test)->hca;
	KUNIT_ASSERT_EQ(test, hm_reg_any(test, &read->mr), 0);
	read->ep = pair.a.ep;
	sg_init_one(&read->sg, ht_buf(test, EP_DRAIN_LEN), EP_DRAIN_LEN);
	init_completion(&read->hold.entered);
	init_completion(&read->hold.leave);
	fakehca_on_map_mr(hca, ep_drain_hold, &read->hold);
	call = vt_async_start(test, ep_drain_read, read);
	wait_for_completion(&read->hold.entered);
	fakehca_remove_begin(hca);
	KUNIT_EXPECT_EQ(test, ht_error(test, pair.a.eq).err, ENODEV);
	drain = vt_async_start(test, ep_drain_forever, pair.a.ep);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(drain));

	complete(&read->hold.leave);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, call), -ENODEV);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, drain), 0);
	KUNIT_EXPECT_TRUE(test, fakehca_remove_wait(hca, HT_PATIENCE_MS));
}

struct ep_drain_gone {
	const char	*name;
	bool		drain;
};

static const struct ep_drain_gone ep_drain_gones[] = {
	{ "drained", true },
	{ "not drained", false },
};

KUNIT_ARRAY_PARAM_DESC(ep_drain_gone, ep_drain_gones, name);

/* Its registration was executed and had no completion, so no operation has given its slot back */
static void a_region_closes_after_its_device_was_removed(struct kunit *test)
{
	const struct ep_drain_gone *gone = test->param_value;
	struct fakehca_attr attr = { .roce = true };
	struct vt_pair pair = { .a.bind_flags = FI_SELECTIVE_COMPLETION };
	struct kvec iov = { .iov_len = EP_DRAIN_LEN };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct fakehca *hca;
	struct fid_mr *mr;

	hm_serve(test, &attr);
	ht_join(test, &pair);
	hca = ht_of(test)->hca;
	mr = hm_reg_ep(test, pair.a.ep);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	iov.iov_base = ht_buf(test, EP_DRAIN_LEN);
	vt_recv(test, &pair.b, ht_buf(test, EP_DRAIN_LEN), EP_DRAIN_LEN, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_sendmsg(pair.a.ep, &msg, 0), 0);
	vt_done(test, pair.b.tx, vt_ctx(1));

	fakehca_remove_begin(hca);
	KUNIT_ASSERT_TRUE(test, fakehca_remove_wait(hca, HT_PATIENCE_MS));
	if (gone->drain)
		KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
	vt_close(test, &mr->fid);
}

static void an_endpoint_not_enabled_has_nothing_to_drain(struct kunit *test)
{
	struct vt_end end = {};

	ht_serve(test, NULL);
	ht_end_open(test, &end, vt_of(test)->info);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(end.ep, -1), -FI_EOPBADSTATE);
	/* Nor has it been changed */
	KUNIT_EXPECT_EQ(test, fi_enable(end.ep), 0);
	vt_close(test, &end.ep->fid);

	ht_end_open(test, &end, vt_of(test)->info);
	fakehca_remove_begin(ht_of(test)->hca);
	KUNIT_ASSERT_TRUE(test, fakehca_remove_wait(ht_of(test)->hca, HT_PATIENCE_MS));
	KUNIT_EXPECT_EQ(test, fi_ep_drain(end.ep, -1), -FI_EOPBADSTATE);
}

static struct kunit_case ep_drain_cases[] = {
	KUNIT_CASE(a_device_that_refuses_is_told_of),
	KUNIT_CASE(silent_operations_give_their_memory_back),
	KUNIT_CASE(a_removal_waits_for_no_callback_of_a_drain),
	KUNIT_CASE(a_removal_drains_itself),
	KUNIT_CASE(a_drain_waits_for_a_removal_no_longer_than_its_timeout),
	KUNIT_CASE(a_drain_waits_for_a_call_on_its_endpoint),
	KUNIT_CASE_PARAM(a_region_closes_after_its_device_was_removed, ep_drain_gone_gen_params),
	KUNIT_CASE(an_endpoint_not_enabled_has_nothing_to_drain),
	{}
};

struct kunit_suite kofi_hca_ep_drain_suite = {
	.name		= "kofi_hca_ep_drain",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= ep_drain_cases,
};
