// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Long lists of reads and writes on a device that takes hardly any elements, that
 * refuses parts, or that fails in the middle.
 *
 * That everything is unmapped once and nothing is left is for ht_exit() to check.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include <rdma/fi_rma.h>
#include <rdma/ib_verbs.h>
#include "mr.h"

#define SP_PAGES	7
#define SP_LEN		(SP_PAGES * PAGE_SIZE)

/**
 * struct sp - A connection, local memory of many pages, and a region
 * @pair: the local memory is for a, the region is b's
 * @kind: of a's completions; NULL: vt_default_kind
 * @buf: SP_LEN bytes of vmalloc
 * @target: SP_LEN bytes
 * @mr: of @target
 * @mapped: mappings that there are anyway
 */
struct sp {
	struct vt_pair	pair;
	const struct vt_kind *kind;
	u8		*buf;
	u8		*target;
	struct fid_mr	*mr;
	unsigned int	mapped;
};

static void sp_vfree(void *mem)
{
	vfree(mem);
}

static void sp_open(struct kunit *test, struct sp *sp, u32 max_send_sge)
{
	struct fakehca_attr attr = {
		.roce		= true,
		.max_send_sge	= max_send_sge,
	};

	hm_serve(test, &attr);
	if (sp->kind)
		sp->pair.a.tx = vt_cq(test, sp->kind, 0);
	ht_join(test, &sp->pair);
	sp->target = hm_pages(test);
	KUNIT_ASSERT_EQ(test, hm_reg(test, sp->target, SP_LEN, &sp->mr), 0);
	sp->buf = vzalloc(SP_LEN);
	KUNIT_ASSERT_NOT_NULL(test, sp->buf);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, sp_vfree, sp->buf), 0);
	sp->mapped = ht_stats(test).mapped;
}

/* All but a byte at either end, so that no page is like the other */
static ssize_t sp_post(struct sp *sp, bool read, unsigned long nr)
{
	struct fid_ep *ep = sp->pair.a.ep;
	u64 addr = (uintptr_t)sp->target;

	if (read)
		return fi_read(ep, sp->buf + 1, SP_LEN - 2, NULL, 0, addr,
			       fi_mr_key(sp->mr), vt_ctx(nr));
	return fi_write(ep, sp->buf + 1, SP_LEN - 2, NULL, 0, addr, fi_mr_key(sp->mr), vt_ctx(nr));
}

static void sp_expect_unmapped(struct kunit *test, struct sp *sp)
{
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, sp->mapped);
}

static void sp_move(struct kunit *test, struct sp *sp, bool read, u8 seed)
{
	vt_fill(read ? sp->target : sp->buf + 1, SP_LEN - 2, seed);
	KUNIT_ASSERT_EQ(test, sp_post(sp, read, seed), 0);
	/* It ends no key */
	KUNIT_EXPECT_EQ(test, vt_done(test, sp->pair.a.tx, vt_ctx(seed)).data, 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(read ? sp->buf + 1 : sp->target, SP_LEN - 2, seed));
	sp_expect_unmapped(test, sp);
}

struct sp_param {
	const char	*name;
	bool		read;
	u32		max_send_sge;
};

static const struct sp_param sp_params[] = {
	{ "write, 1", false, 1 },
	{ "write, 2", false, 2 },
	{ "write, 4", false, 4 },
	{ "read", true, 4 },
};

KUNIT_ARRAY_PARAM_DESC(sp_param, sp_params, name);

static void a_device_with_few_elements_gets_parts(struct kunit *test)
{
	const struct sp_param *param = test->param_value;
	u32 per_part = param->read ? 1 : param->max_send_sge;
	unsigned int calls, i;
	struct sp sp = {};

	sp_open(test, &sp, param->max_send_sge);
	for (i = 1; i < 4; i++) {
		calls = fakehca_calls(ht_of(test)->hca, FAKEHCA_POST_SEND);
		sp_move(test, &sp, param->read, i);
		KUNIT_EXPECT_EQ(test, fakehca_calls(ht_of(test)->hca, FAKEHCA_POST_SEND) - calls,
				DIV_ROUND_UP(SP_PAGES, per_part));
	}
	vt_none(test, sp.pair.a.tx);
}

/* More often than there are slots, so none may get lost */
static void a_refused_first_part_takes_nothing(struct kunit *test)
{
	const struct sp_param *param = test->param_value;
	struct sp sp = {};
	size_t i;

	sp_open(test, &sp, param->max_send_sge);
	for (i = 0; i < sp.pair.a.info->tx_attr->size; i++) {
		fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 1, -EIO);
		KUNIT_ASSERT_EQ(test, sp_post(&sp, param->read, 1), -EIO);
	}
	sp_expect_unmapped(test, &sp);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 1, -ENOMEM);
	KUNIT_ASSERT_EQ(test, sp_post(&sp, param->read, 1), -EAGAIN);
	vt_none(test, sp.pair.a.tx);
	sp_move(test, &sp, param->read, 2);
}

/* What inject calls copy to is mapped as long as the endpoint is open */
static void sp_close(struct kunit *test, struct sp *sp)
{
	vt_close(test, &sp->pair.a.ep->fid);
	sp->mapped--;
	sp_expect_unmapped(test, sp);
}

/* Some parts are under way and cannot be taken back */
static void sp_refuse_in_the_middle(struct kunit *test, unsigned int times)
{
	const struct sp_param *param = test->param_value;
	struct vt_comp comp;
	struct sp sp = {};

	sp_open(test, &sp, param->max_send_sge);
	fakehca_fail_again(ht_of(test)->hca, FAKEHCA_POST_SEND, 2, -EIO, times);
	KUNIT_ASSERT_EQ(test, sp_post(&sp, param->read, 8), 0);
	comp = ht_failed(test, sp.pair.a.tx, EIO);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(8));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | (param->read ? FI_READ : FI_WRITE));
	KUNIT_EXPECT_EQ(test, comp.data, 0);
	/* The device has reported nothing */
	KUNIT_EXPECT_EQ(test, comp.prov_errno, 0);
	/* Without the marker nobody knows before the close what the device does */
	if (times == 1)
		sp_expect_unmapped(test, &sp);
	else
		KUNIT_EXPECT_GT(test, ht_stats(test).mapped, sp.mapped);
	vt_event(test, sp.pair.a.eq, FI_SHUTDOWN, NULL);
	vt_event(test, sp.pair.b.eq, FI_SHUTDOWN, NULL);
	vt_none(test, sp.pair.a.tx);
	KUNIT_EXPECT_EQ(test, sp_post(&sp, param->read, 9), -ESHUTDOWN);
	sp_close(test, &sp);
}

static void a_part_refused_in_the_middle_fails_the_operation(struct kunit *test)
{
	sp_refuse_in_the_middle(test, 1);
}

static void and_so_it_does_if_the_marker_is_refused(struct kunit *test)
{
	sp_refuse_in_the_middle(test, 2);
}

/**
 * struct sp_op - An operation with a callback
 * @done: the callback
 * @calls: how often it was called
 * @err: the error of the operation
 */
struct sp_op {
	struct fi_done	done;
	int		calls;
	int		err;
};

static void sp_op_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct sp_op *op = container_of(done, struct sp_op, done);

	op->calls++;
	op->err = entry->err;
}

/* The worker that would end the connection finds it closed */
static void an_endpoint_closes_with_an_operation_stranded(struct kunit *test)
{
	static const struct vt_kind kind = { .wait_obj = FI_WAIT_DONE };
	const struct sp_param *param = test->param_value;
	struct sp_op *op = ht_buf(test, sizeof(*op));
	struct sp sp = { .kind = &kind };

	op->done.done = sp_op_done;
	sp_open(test, &sp, param->max_send_sge);
	fakehca_hold(ht_of(test)->hca);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 2, -EIO);
	KUNIT_ASSERT_EQ(test, sp_post(&sp, param->read, (unsigned long)&op->done), 0);
	sp_close(test, &sp);
	KUNIT_EXPECT_EQ(test, op->calls, 1);
	KUNIT_EXPECT_EQ(test, op->err, EIO);
	fakehca_release(ht_of(test)->hca);
}

static void what_waits_in_front_is_refused_alone(struct kunit *test)
{
	const struct sp_param *param = test->param_value;
	struct kvec iov = { ht_buf(test, 64), 64 };
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.context	= vt_ctx(5),
	};
	struct vt_comp comp;
	struct sp sp = {};

	sp_open(test, &sp, param->max_send_sge);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(sp.pair.a.ep, &msg, FI_COMPLETION | FI_MORE), 0);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 1, -EIO);
	KUNIT_ASSERT_EQ(test, sp_post(&sp, param->read, 8), -EIO);
	comp = ht_failed(test, sp.pair.a.tx, EIO);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(5));
	KUNIT_EXPECT_EQ(test, comp.prov_errno, 0);
	vt_event(test, sp.pair.a.eq, FI_SHUTDOWN, NULL);
	vt_none(test, sp.pair.a.tx);
	sp_expect_unmapped(test, &sp);
}

/* The second part is the first to fail; the parts behind it are flushed */
static void the_first_error_of_a_part_is_the_operations(struct kunit *test)
{
	const struct sp_param *param = test->param_value;
	struct vt_comp comp;
	struct sp sp = {};

	sp_open(test, &sp, param->max_send_sge);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_SEND_WC, 2, IB_WC_REM_OP_ERR);
	KUNIT_ASSERT_EQ(test, sp_post(&sp, param->read, 8), 0);
	comp = ht_failed(test, sp.pair.a.tx, EREMOTEIO);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(8));
	KUNIT_EXPECT_EQ(test, comp.prov_errno, IB_WC_REM_OP_ERR);
	sp_expect_unmapped(test, &sp);
	vt_event(test, sp.pair.a.eq, FI_SHUTDOWN, NULL);
	vt_none(test, sp.pair.a.tx);
}

static void a_connection_that_ends_cancels_the_operation_once(struct kunit *test)
{
	const struct sp_param *param = test->param_value;
	struct vt_comp comp;
	struct sp sp = {};

	sp_open(test, &sp, param->max_send_sge);
	fakehca_hold(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, sp_post(&sp, param->read, 8), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, sp.mapped + SP_PAGES);
	KUNIT_ASSERT_EQ(test, fi_shutdown(sp.pair.a.ep, 0), 0);
	comp = ht_failed(test, sp.pair.a.tx, ECANCELED);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(8));
	sp_expect_unmapped(test, &sp);
	vt_none(test, sp.pair.a.tx);
	fakehca_release(ht_of(test)->hca);
}

static void an_endpoint_closes_with_parts_in_flight(struct kunit *test)
{
	const struct sp_param *param = test->param_value;
	struct sp sp = {};

	sp_open(test, &sp, param->max_send_sge);
	fakehca_hold(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, sp_post(&sp, param->read, 8), 0);
	vt_close(test, &sp.pair.a.ep->fid);
	/* What inject calls copy to is mapped as long as the endpoint is open */
	sp.mapped--;
	sp_expect_unmapped(test, &sp);
	fakehca_release(ht_of(test)->hca);
}

/* Memory in the list's last part that no device can reach; the first two are mapped by then */
static void bad_memory_in_a_later_part_is_refused(struct kunit *test)
{
	struct kvec iov[6];
	struct sp sp = {};
	u8 on_stack[8];
	int i;

	sp_open(test, &sp, 2);
	for (i = 0; i < ARRAY_SIZE(iov); i++)
		iov[i] = (struct kvec) { sp.buf + i * PAGE_SIZE, 8 };
	iov[5].iov_base = on_stack;
	KUNIT_EXPECT_EQ(test, fi_writev(sp.pair.a.ep, iov, NULL, ARRAY_SIZE(iov), 0,
					(uintptr_t)sp.target, fi_mr_key(sp.mr), NULL), -EINVAL);
	sp_expect_unmapped(test, &sp);
	vt_none(test, sp.pair.a.tx);
}

static struct kunit_case split_cases[] = {
	KUNIT_CASE_PARAM(a_device_with_few_elements_gets_parts, sp_param_gen_params),
	KUNIT_CASE_PARAM(a_refused_first_part_takes_nothing, sp_param_gen_params),
	KUNIT_CASE_PARAM(a_part_refused_in_the_middle_fails_the_operation, sp_param_gen_params),
	KUNIT_CASE_PARAM(and_so_it_does_if_the_marker_is_refused, sp_param_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_closes_with_an_operation_stranded, sp_param_gen_params),
	KUNIT_CASE_PARAM(what_waits_in_front_is_refused_alone, sp_param_gen_params),
	KUNIT_CASE_PARAM(the_first_error_of_a_part_is_the_operations, sp_param_gen_params),
	KUNIT_CASE_PARAM(a_connection_that_ends_cancels_the_operation_once, sp_param_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_closes_with_parts_in_flight, sp_param_gen_params),
	KUNIT_CASE(bad_memory_in_a_later_part_is_refused),
	{}
};

struct kunit_suite kofi_hca_split_suite = {
	.name		= "kofi_hca_split",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= split_cases,
};
