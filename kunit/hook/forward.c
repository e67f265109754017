// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_hook_forward: what a hook puts in the place of what it forwards, and what it leaves as
 * it is.
 */
#include "bed.h"

#define LEN	8

/**
 * struct early - A handler that runs before the call that opens its queue has returned, or a
 *	callback of an endpoint
 * @lower: the lower queue or endpoint, as it finds it
 * @called: it has run
 */
struct early {
	struct fid		*lower;
	struct completion	called;
};

static void early_cq(struct fid_cq *cq, void *context)
{
	struct early *early = context;

	early->lower = to_kofi_hook_obj(&cq->fid)->lower.fid;
	complete(&early->called);
}

static void early_eq(struct fid_eq *eq, void *context)
{
	struct early *early = context;

	early->lower = to_kofi_hook_obj(&eq->fid)->lower.fid;
	complete(&early->called);
}

/* Until then the upper queue does not have the lower one */
static void expect_early(struct kunit *test, struct early *early, struct fid *upper,
			 struct fid *lower)
{
	KUNIT_EXPECT_TRUE(test, vt_completed(&early->called));
	KUNIT_EXPECT_PTR_EQ(test, early->lower, lower);
	to_kofi_hook_obj(upper)->lower.fid = lower;
}

static void a_handler_has_its_queue_before_the_open_returns(struct kunit *test)
{
	struct fi_cq_attr cq_attr = { .wait_obj = FI_WAIT_CALLBACK, .handler = early_cq };
	struct fi_eq_attr eq_attr = {
		.flags = FI_WRITE, .wait_obj = FI_WAIT_CALLBACK, .handler = early_eq,
	};
	struct early *early = vt_buf(test, sizeof(*early));
	struct fi_eq_entry said = {};
	struct vt_cq cq = { .kind = &bed_kinds[0] };
	struct vt_pair pair = { .b.rx = &cq };
	u8 *buf = vt_buf(test, LEN);
	struct fid_eq *eq;
	struct fid *lower;

	bed_open(test, BED_TRACE, FI_MSG);
	init_completion(&early->called);
	KUNIT_ASSERT_EQ(test, fi_eq_open(vt_of(test)->fabric, &eq_attr, &eq, early), 0);
	vt_adopt(test, &eq->fid);
	lower = to_kofi_hook_obj(&eq->fid)->lower.fid;
	to_kofi_hook_obj(&eq->fid)->lower.fid = NULL;
	KUNIT_EXPECT_EQ(test, fi_eq_write(container_of(lower, struct fid_eq, fid), FI_NOTIFY, &said,
					  sizeof(said), 0), sizeof(said));
	expect_early(test, early, &eq->fid, lower);

	KUNIT_ASSERT_EQ(test, fi_cq_open(vt_of(test)->domain, &cq_attr, &cq.cq, early), 0);
	vt_adopt(test, &cq.cq->fid);
	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	lower = to_kofi_hook_obj(&cq.cq->fid)->lower.fid;
	to_kofi_hook_obj(&cq.cq->fid)->lower.fid = NULL;
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), 0);
	expect_early(test, early, &cq.cq->fid, lower);
	vt_done(test, pair.a.tx, vt_ctx(2));
}

static void a_hook_that_is_not_named_has_no_results(struct kunit *test)
{
	static struct kofi_provider provider = { .name = "ofi_hook_here" };
	static const struct kofi_hook hook = { .provider = &provider };
	struct fi_info *hints = vt_allocinfo(test, "loop"), *info = hints;

	KUNIT_EXPECT_EQ(test, kofi_hook_getinfo(&hook, VT_API, NULL, 0, 0, hints, &info), 0);
	KUNIT_EXPECT_NULL(test, info);
}

static void callbacks_of_another_size_are_refused(struct kunit *test)
{
	struct fi_ep_callbacks callbacks = {};
	struct fid_ep *ep;

	bed_open(test, BED_TRACE, FI_MSG);
	ep = vt_ep(test, vt_of(test)->info);
	KUNIT_EXPECT_EQ(test, fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, &callbacks,
					sizeof(callbacks) - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, &callbacks,
					sizeof(callbacks)), 0);
}

static void early_op(struct fid_ep *ep, const struct fi_done_entry *entry)
{
	struct early *early = ep->fid.context;

	early->lower = to_kofi_hook_obj(&ep->fid)->lower.fid;
	complete(&early->called);
}

/* The lower endpoint has those of the hook, which find the upper one */
static void callbacks_are_those_of_the_client(struct kunit *test)
{
	static const struct fi_ep_callbacks callbacks = { .done = early_op };
	struct vt_pair pair = { .a.callbacks = &callbacks };
	struct early *early = vt_buf(test, sizeof(*early));
	struct fi_ep_callbacks got = {};
	size_t len = sizeof(got);
	u8 *buf = vt_buf(test, LEN);
	struct fid *lower;

	bed_open(test, BED_TRACE, FI_MSG);
	init_completion(&early->called);
	pair.a.rx = vt_cq(test, &bed_kinds[1], vt_of(test)->info->rx_attr->size);
	vt_join(test, &pair, &vt_default_kind);
	pair.a.ep->fid.context = early;
	lower = to_kofi_hook_obj(&pair.a.ep->fid)->lower.fid;
	KUNIT_EXPECT_EQ(test, fi_getopt(&pair.a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, &got,
					&len), 0);
	KUNIT_EXPECT_MEMEQ(test, &got, &callbacks, sizeof(got));
	KUNIT_EXPECT_EQ(test, fi_getopt(lower, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, &got, &len), 0);
	KUNIT_EXPECT_PTR_NE(test, got.done, callbacks.done);
	KUNIT_EXPECT_NULL(test, got.ready);

	vt_recv(test, &pair.a, buf, LEN, NULL);
	KUNIT_EXPECT_EQ(test, fi_inject(pair.b.ep, buf, LEN, 0), 0);
	KUNIT_EXPECT_TRUE(test, vt_completed(&early->called));
	KUNIT_EXPECT_PTR_EQ(test, early->lower, lower);
	vt_close(test, &pair.a.ep->fid);
}

static void a_key_is_there_from_the_enable_to_its_end(struct kunit *test)
{
	struct kvec iov = { vt_buf(test, LEN), LEN };
	struct fi_mr_attr attr = {
		.mr_iov = &iov, .iov_count = 1, .access = FI_REMOTE_READ, .requested_key = 1,
	};
	struct vt_pair pair = {};
	struct fid_mr *mr;

	bed_open(test, BED_TRACE, FI_MSG | FI_RMA);
	vt_join(test, &pair, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_ENDPOINT, &mr), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(mr, &pair.a.ep->fid, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_key(mr), FI_KEY_NOTAVAIL);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	KUNIT_EXPECT_NE(test, fi_mr_key(mr), FI_KEY_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr, FI_DISCARD, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_key(mr), FI_KEY_NOTAVAIL);
}

static void a_request_has_the_addresses_of_both_ends(struct kunit *test)
{
	struct sockaddr_storage name = {};
	size_t len = sizeof(name);
	struct vt_end end = {};
	struct fi_info *info;

	bed_open(test, BED_TRACE, FI_MSG);
	info = vt_dial(test, &end);
	KUNIT_ASSERT_EQ(test, fi_getname(&end.ep->fid, &name, &len), 0);
	KUNIT_ASSERT_EQ(test, info->src_addrlen, vt_of(test)->name_len);
	KUNIT_EXPECT_MEMEQ(test, info->src_addr, &vt_of(test)->name, info->src_addrlen);
	KUNIT_ASSERT_EQ(test, info->dest_addrlen, len);
	KUNIT_EXPECT_MEMEQ(test, info->dest_addr, &name, len);
}

static struct kunit_case forward_cases[] = {
	KUNIT_CASE(a_handler_has_its_queue_before_the_open_returns),
	KUNIT_CASE(a_hook_that_is_not_named_has_no_results),
	KUNIT_CASE(callbacks_of_another_size_are_refused),
	KUNIT_CASE(callbacks_are_those_of_the_client),
	KUNIT_CASE(a_key_is_there_from_the_enable_to_its_end),
	KUNIT_CASE(a_request_has_the_addresses_of_both_ends),
	{}
};

static struct kunit_suite forward_suite = {
	.name		= "kofi_hook_forward",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= forward_cases,
};

kunit_test_suite(forward_suite);
