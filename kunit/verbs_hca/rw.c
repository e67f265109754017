// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Rw operations on devices that register for them (iWARP, reads) and that do not, and on
 * devices that fail at any place.
 *
 * That everything is unmapped once and nothing is left is for ht_exit() to check.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include <rdma/fi_rma.h>
#include <rdma/ib_verbs.h>
#include "../lib/async.h"
#include "mr.h"

#define HV_PAGES	8
/* An element leaves something out at either end of its page: a gap */
#define HV_GAP		16
#define HV_ELEM		(PAGE_SIZE - 2 * HV_GAP)
#define HV_LEN		(HV_PAGES * HV_ELEM)
/* Slots, so that a move of HV_PAGES takes several batches */
#define HV_DEPTH	3

/**
 * struct hv_param - Kind of device, and direction
 * @name: of that
 * @roce: reads need no registration
 * @read: fi_readsgl()
 * @batch: work requests of the first batch
 */
struct hv_param {
	const char	*name;
	bool		roce;
	bool		read;
	unsigned int	batch;
};

static const struct hv_param hv_params[] = {
	{ "RoCE, read", true, true, 3 },
	{ "RoCE, write", true, false, 3 },
	{ "iWARP, read", false, true, 2 },
	{ "iWARP, write", false, false, 3 },
};

KUNIT_ARRAY_PARAM_DESC(hv_param, hv_params, name);

/**
 * struct hv - A connection, a list, and a region
 * @pair: the list is a's, the region b's
 * @buf: HV_PAGES pages of vmalloc
 * @sgl: an element in each of them
 * @target: HV_LEN bytes
 * @mr: of @target
 * @mapped: mappings that there are anyway
 */
struct hv {
	struct vt_pair		pair;
	u8			*buf;
	struct scatterlist	sgl[HV_PAGES];
	u8			*target;
	struct fid_mr		*mr;
	unsigned int		mapped;
};

static void hv_vfree(void *mem)
{
	vfree(mem);
}

static int hv_set_rw_ops(struct hv *hv, size_t rw_ops)
{
	return fi_setopt(&hv->pair.a.ep->fid, FI_OPT_ENDPOINT,
			 FI_OPT_MAX_RW_OPS, &rw_ops, sizeof(rw_ops));
}

/* One element per work request, or per registration */
static void hv_device(struct kunit *test)
{
	const struct hv_param *param = test->param_value;
	struct fakehca_attr attr = {
		.roce		= param->roce,
		.max_send_sge	= 1,
	};

	hm_serve(test, &attr);
}

/* Not enabled yet */
static void hv_begin(struct kunit *test, struct hv *hv, size_t depth, size_t rw_ops)
{
	struct fi_info *info = vt_dup(test, vt_of(test)->info);
	int i;

	info->tx_attr->size = depth;
	ht_end_open(test, &hv->pair.a, info);
	KUNIT_ASSERT_EQ(test, hv_set_rw_ops(hv, rw_ops), 0);

	hv->buf = vzalloc(HV_PAGES * PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, hv->buf);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, hv_vfree, hv->buf), 0);
	sg_init_table(hv->sgl, HV_PAGES);
	for (i = 0; i < HV_PAGES; i++)
		sg_set_page(&hv->sgl[i], vmalloc_to_page(hv->buf + i * PAGE_SIZE), HV_ELEM, HV_GAP);
}

static void hv_join(struct kunit *test, struct hv *hv)
{
	ht_join(test, &hv->pair);
	hv->target = hm_pages(test);
	KUNIT_ASSERT_EQ(test, hm_reg(test, hv->target, HV_LEN, &hv->mr), 0);
	hv->mapped = ht_stats(test).mapped;
}

static void hv_open(struct kunit *test, struct hv *hv, size_t depth, size_t rw_ops)
{
	hv_device(test);
	hv_begin(test, hv, depth, rw_ops);
	hv_join(test, hv);
}

static ssize_t hv_post(struct kunit *test, struct hv *hv, size_t offset,
		       size_t len, unsigned long nr)
{
	const struct hv_param *param = test->param_value;
	u64 addr = (uintptr_t)hv->target + offset, key = fi_mr_key(hv->mr);

	if (param->read)
		return fi_readsgl(hv->pair.a.ep, hv->sgl, HV_PAGES, offset,
				  len, 0, addr, key, vt_ctx(nr), FI_COMPLETION);
	return fi_writesgl(hv->pair.a.ep, hv->sgl, HV_PAGES, offset, len, 0,
			   addr, key, vt_ctx(nr), FI_COMPLETION);
}

/* All but a byte at either end */
static ssize_t hv_post_long(struct kunit *test, struct hv *hv, unsigned long nr)
{
	return hv_post(test, hv, 1, HV_LEN - 2, nr);
}

static void hv_expect_unmapped(struct kunit *test, struct hv *hv)
{
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, hv->mapped);
}

/* Copies between the elements and @to or @from */
static void hv_gather(struct hv *hv, u8 *to)
{
	int i;

	for (i = 0; i < HV_PAGES; i++)
		memcpy(to + i * HV_ELEM, hv->buf + i * PAGE_SIZE + HV_GAP, HV_ELEM);
}

static void hv_scatter(struct hv *hv, const u8 *from)
{
	int i;

	memset(hv->buf, 0x5a, HV_PAGES * PAGE_SIZE);
	for (i = 0; i < HV_PAGES; i++)
		memcpy(hv->buf + i * PAGE_SIZE + HV_GAP, from + i * HV_ELEM, HV_ELEM);
}

static bool hv_gaps_untouched(const struct hv *hv)
{
	const u8 *page;

	for (page = hv->buf; page < hv->buf + HV_PAGES * PAGE_SIZE;
	     page += PAGE_SIZE)
		if (memchr_inv(page, 0x5a, HV_GAP) ||
		    memchr_inv(page + HV_GAP + HV_ELEM, 0x5a, HV_GAP))
			return false;
	return true;
}

static void hv_move(struct kunit *test, struct hv *hv, u8 seed)
{
	const struct hv_param *param = test->param_value;
	u8 *bytes = ht_buf(test, HV_LEN);

	vt_fill(param->read ? hv->target : bytes, HV_LEN, seed);
	hv_scatter(hv, bytes);
	KUNIT_ASSERT_EQ(test, hv_post_long(test, hv, seed), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, hv->pair.a.tx, vt_ctx(seed)).data, 0);
	hv_gather(hv, bytes);
	KUNIT_EXPECT_MEMEQ(test, bytes + 1, hv->target + 1, HV_LEN - 2);
	KUNIT_EXPECT_TRUE(test, hv_gaps_untouched(hv));
	hv_expect_unmapped(test, hv);
	kunit_kfree(test, bytes);
}

static u64 hv_flags(struct kunit *test)
{
	const struct hv_param *param = test->param_value;

	return FI_RMA | (param->read ? FI_READ : FI_WRITE);
}

/* One error of the move, and the end of the connection */
static void hv_expect_error(struct kunit *test, struct hv *hv, int err)
{
	struct vt_comp comp;

	comp = ht_failed(test, hv->pair.a.tx, err);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(8));
	KUNIT_EXPECT_EQ(test, comp.flags, hv_flags(test));
	vt_event(test, hv->pair.a.eq, FI_SHUTDOWN, NULL);
	vt_none(test, hv->pair.a.tx);
	KUNIT_EXPECT_EQ(test, hv_post_long(test, hv, 9), -ESHUTDOWN);
}

static void hv_expect_failure(struct kunit *test, struct hv *hv, int err)
{
	hv_expect_error(test, hv, err);
	hv_expect_unmapped(test, hv);
}

static void a_move_takes_as_many_batches_as_it_needs(struct kunit *test)
{
	struct hv hv = {};
	int i;

	hv_open(test, &hv, HV_DEPTH, 1);
	for (i = 1; i < 6; i++)
		hv_move(test, &hv, i);
	vt_none(test, hv.pair.a.tx);
}

/* iWARP has no fence in front of a read */
static void a_fence_is_for_the_first_batch(struct kunit *test)
{
	const struct hv_param *param = test->param_value;
	struct hv hv = {};
	unsigned int base;
	u64 addr, key;
	ssize_t ret;

	hv_open(test, &hv, HV_DEPTH, 1);
	addr = (uintptr_t)hv.target;
	key = fi_mr_key(hv.mr);
	base = ht_stats(test).fences;
	if (param->read)
		ret = fi_readsgl(hv.pair.a.ep, hv.sgl, HV_PAGES, 0, HV_LEN, 0, addr, key,
				 vt_ctx(1), FI_COMPLETION | FI_FENCE);
	else
		ret = fi_writesgl(hv.pair.a.ep, hv.sgl, HV_PAGES, 0, HV_LEN, 0, addr, key,
				  vt_ctx(1), FI_COMPLETION | FI_FENCE);
	if (param->read && !param->roce) {
		KUNIT_EXPECT_EQ(test, ret, -FI_EBADFLAGS);
		return;
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	vt_done(test, hv.pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, ht_stats(test).fences, base + 1);
}

/**
 * struct hv_cut - A list, and how a device with four elements in a work request transfers it
 * @name: of that
 * @max_msg_size: of the device
 * @lens: of the elements; together no more than HV_CUT
 * @wrs: work requests
 * @elems: their elements
 */
struct hv_cut {
	const char	*name;
	u32		max_msg_size;
	u32		lens[3];
	unsigned int	wrs;
	unsigned int	elems;
};

#define HV_CUT		(SZ_64K + PAGE_SIZE)

static const struct hv_cut hv_cuts[] = {
	{ "an element longer than a message", 2 * PAGE_SIZE, { 3 * PAGE_SIZE }, 2, 2 },
	{ "elements longer than one", 2 * PAGE_SIZE, { PAGE_SIZE, PAGE_SIZE, PAGE_SIZE }, 2, 3 },
	{ "an element longer than a segment", 0, { HV_CUT }, 1, 2 },
	{ "a segment, and one more", 0, { SZ_64K, PAGE_SIZE }, 1, 2 },
};

KUNIT_ARRAY_PARAM_DESC(hv_cut, hv_cuts, name);

static void a_list_is_cut_where_the_device_has_its_limits(struct kunit *test)
{
	const struct hv_cut *cut = test->param_value;
	struct fakehca_attr attr = { .roce = true, .max_msg_size = cut->max_msg_size };
	u8 *from = ht_buf(test, HV_CUT), *to = ht_buf(test, HV_CUT);
	unsigned int posted, mapped, nents;
	struct kvec region = { to, HV_CUT };
	struct scatterlist sgl[3];
	struct hv hv = {};
	size_t len = 0;

	attr.fast_reg_pages = 32;
	hm_serve(test, &attr);
	ht_end_open(test, &hv.pair.a, vt_of(test)->info);
	KUNIT_ASSERT_EQ(test, hv_set_rw_ops(&hv, 1), 0);
	ht_join(test, &hv.pair);
	KUNIT_ASSERT_EQ(test, hm_regv(test, &region, 1, HM_REMOTE, &hv.mr), 0);
	vt_fill(from, HV_CUT, 3);
	sg_init_table(sgl, ARRAY_SIZE(sgl));
	for (nents = 0; nents < ARRAY_SIZE(sgl) && cut->lens[nents]; nents++) {
		sg_set_buf(&sgl[nents], from + len, cut->lens[nents]);
		len += cut->lens[nents];
	}

	posted = fakehca_calls(ht_of(test)->hca, FAKEHCA_POST_SEND);
	mapped = ht_stats(test).mapped;
	fakehca_hold(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, fi_writesgl(hv.pair.a.ep, sgl, nents, 0, len, 0, (uintptr_t)to,
					  fi_mr_key(hv.mr), vt_ctx(1), FI_COMPLETION), 0);
	KUNIT_EXPECT_EQ(test, fakehca_calls(ht_of(test)->hca, FAKEHCA_POST_SEND),
			posted + cut->wrs);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, mapped + cut->elems);
	fakehca_release(ht_of(test)->hca);
	vt_done(test, hv.pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_MEMEQ(test, from, to, len);
}

static void moves_in_flight_are_counted(struct kunit *test)
{
	struct hv hv = {};
	int i;

	hv_open(test, &hv, 64, 2);
	for (i = 0; i < 3; i++) {
		fakehca_hold(ht_of(test)->hca);
		KUNIT_ASSERT_EQ(test, hv_post(test, &hv, 0, 100, 1), 0);
		KUNIT_ASSERT_EQ(test, hv_post(test, &hv, PAGE_SIZE, 100, 2), 0);
		KUNIT_EXPECT_EQ(test, hv_post(test, &hv, 2 * PAGE_SIZE, 100, 3), -EAGAIN);
		fakehca_release(ht_of(test)->hca);
		ht_each_once(test, hv.pair.a.tx, 2, 0);
		hv_expect_unmapped(test, &hv);
	}
}

/* One for each operation, as a read region, and four for each rw operation */
static void enable_fails_without_registrations(struct kunit *test)
{
	const struct hv_param *param = test->param_value;
	struct hv hv = {};

	hv_device(test);
	hv_begin(test, &hv, HV_DEPTH, 2);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_ALLOC_MR, param->roce ? 0 : HV_DEPTH + 7, -ENOMEM);
	KUNIT_EXPECT_EQ(test, fi_enable(hv.pair.a.ep), param->roce ? 0 : -ENOMEM);
	if (!param->roce)
		KUNIT_EXPECT_EQ(test, ht_stats(test).mrs, 0);
}

static void a_move_needs_a_connection(struct kunit *test)
{
	struct hv hv = {};

	hv_device(test);
	hv_begin(test, &hv, HV_DEPTH, 1);
	ht_end_enable(test, &hv.pair.a);
	hv.target = hm_pages(test);
	KUNIT_ASSERT_EQ(test, hm_reg(test, hv.target, HV_LEN, &hv.mr), 0);
	KUNIT_EXPECT_EQ(test, hv_post_long(test, &hv, 1), -ENOTCONN);
}

/*
 * More often than there are slots, so none may get lost.  What rdma_rw has registered
 * cannot be taken back.
 */
static void a_refused_first_work_request_moves_nothing(struct kunit *test)
{
	const struct hv_param *param = test->param_value;
	struct hv hv = {};
	int i;

	hv_open(test, &hv, HV_DEPTH, 1);
	if (!param->roce && param->read) {
		fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 1, -EIO);
		KUNIT_ASSERT_EQ(test, hv_post_long(test, &hv, 8), 0);
		hv_expect_failure(test, &hv, EIO);
		return;
	}
	for (i = 0; i < 2 * HV_DEPTH; i++) {
		fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 1, -EIO);
		KUNIT_ASSERT_EQ(test, hv_post_long(test, &hv, 8), -EIO);
	}
	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 1, -ENOMEM);
	KUNIT_ASSERT_EQ(test, hv_post_long(test, &hv, 8), -EAGAIN);
	hv_expect_unmapped(test, &hv);
	vt_none(test, hv.pair.a.tx);
	hv_move(test, &hv, 1);
}

/* What rdma_rw has registered fails the move; else nothing has moved */
static void what_waits_in_front_is_refused_once(struct kunit *test)
{
	const struct hv_param *param = test->param_value;
	bool stays = !param->roce && param->read;
	struct kvec iov = { ht_buf(test, 64), 64 };
	const struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.context	= vt_ctx(1),
	};
	struct hv hv = {};

	hv_open(test, &hv, HV_DEPTH, 1);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(hv.pair.a.ep, &msg, FI_COMPLETION | FI_MORE), 0);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 1, -EIO);
	KUNIT_ASSERT_EQ(test, hv_post(test, &hv, 0, HV_ELEM, 2), stays ? 0 : -EIO);
	ht_each_once(test, hv.pair.a.tx, 1 + stays, EIO);
	vt_event(test, hv.pair.a.eq, FI_SHUTDOWN, NULL);
	vt_none(test, hv.pair.a.tx);
	hv_expect_unmapped(test, &hv);
}

static void hv_refuse(struct kunit *test, unsigned int nth, unsigned int times)
{
	struct hv hv = {};

	hv_open(test, &hv, HV_DEPTH, 1);
	fakehca_fail_again(ht_of(test)->hca, FAKEHCA_POST_SEND, nth, -EIO, times);
	KUNIT_ASSERT_EQ(test, hv_post_long(test, &hv, 8), 0);
	/* Without the marker nobody knows before the close what the device does */
	if (times == 1)
		hv_expect_failure(test, &hv, EIO);
	else
		hv_expect_error(test, &hv, EIO);
	vt_close(test, &hv.pair.a.ep->fid);
	hv.mapped--;
	hv_expect_unmapped(test, &hv);
}

static void a_refusal_in_the_middle_of_a_batch_fails_the_move(struct kunit *test)
{
	hv_refuse(test, 2, 1);
}

static void and_so_it_does_if_the_marker_is_refused(struct kunit *test)
{
	hv_refuse(test, 2, 2);
}

static void a_refusal_of_a_later_batch_fails_the_move(struct kunit *test)
{
	const struct hv_param *param = test->param_value;

	hv_refuse(test, param->batch + 1, 1);
}

/* The first element of a batch, or the second; each has a registration */
static void a_device_that_cannot_map_fails_the_call(struct kunit *test)
{
	const struct hv_param *param = test->param_value;
	struct hv hv = {};
	int nth;

	if (param->roce || !param->read)
		return;
	hv_open(test, &hv, 64, 1);
	for (nth = 1; nth <= 2; nth++) {
		fakehca_fail(ht_of(test)->hca, FAKEHCA_MAP_MR_SG, nth, -EINVAL);
		KUNIT_EXPECT_EQ(test, hv_post_long(test, &hv, 8), -EINVAL);
		hv_expect_unmapped(test, &hv);
		vt_none(test, hv.pair.a.tx);
	}
	hv_move(test, &hv, 1);
}

static void an_error_in_a_later_batch_is_the_moves(struct kunit *test)
{
	const struct hv_param *param = test->param_value;
	struct hv hv = {};

	hv_open(test, &hv, HV_DEPTH, 1);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_SEND_WC, 2 * param->batch, IB_WC_LOC_LEN_ERR);
	KUNIT_ASSERT_EQ(test, hv_post_long(test, &hv, 8), 0);
	hv_expect_failure(test, &hv, EMSGSIZE);
}

static void the_first_error_of_a_batch_is_the_moves(struct kunit *test)
{
	struct hv hv = {};

	hv_open(test, &hv, HV_DEPTH, 1);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_SEND_WC, 1, IB_WC_REM_OP_ERR);
	KUNIT_ASSERT_EQ(test, hv_post_long(test, &hv, 8), 0);
	hv_expect_failure(test, &hv, EREMOTEIO);
}

static void a_connection_that_ends_cancels_the_move_once(struct kunit *test)
{
	struct vt_comp comp;
	struct hv hv = {};

	hv_open(test, &hv, HV_DEPTH, 1);
	fakehca_hold(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, hv_post_long(test, &hv, 8), 0);
	KUNIT_ASSERT_EQ(test, fi_shutdown(hv.pair.a.ep, 0), 0);
	comp = ht_failed(test, hv.pair.a.tx, ECANCELED);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(8));
	hv_expect_unmapped(test, &hv);
	vt_none(test, hv.pair.a.tx);
	fakehca_release(ht_of(test)->hca);
}

/* Over iWARP, where siw may flush reads twice */
static void an_endpoint_closes_with_a_batch_in_flight(struct kunit *test)
{
	const struct hv_param *param = test->param_value;
	struct hv hv = {};

	hv_open(test, &hv, HV_DEPTH, 1);
	fakehca_hold(ht_of(test)->hca);
	if (!param->roce)
		fakehca_flush_twice(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, hv_post_long(test, &hv, 8), 0);
	vt_close(test, &hv.pair.a.ep->fid);
	vt_none(test, hv.pair.a.tx);
	fakehca_release(ht_of(test)->hca);
}

static void a_device_that_goes_ends_the_move(struct kunit *test)
{
	struct hv hv = {};

	hv_open(test, &hv, HV_DEPTH, 1);
	fakehca_hold(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, hv_post_long(test, &hv, 8), 0);
	fakehca_remove_begin(ht_of(test)->hca);
	KUNIT_EXPECT_EQ(test, ht_error(test, hv.pair.a.eq).err, ENODEV);
	ht_failed(test, hv.pair.a.tx, ECANCELED);
	KUNIT_ASSERT_TRUE(test, fakehca_remove_wait(ht_of(test)->hca, HT_PATIENCE_MS));
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, 0);
}

/*
 * Nobody but the reader polls, so a batch that is done stays unseen until the case
 * reads.
 */
static void hv_open_polled(struct kunit *test, struct hv *hv)
{
	hv_device(test);
	hv->pair.a.tx = vt_cq(test, &ht_polled, 2 * HV_DEPTH + 1024);
	hv_begin(test, hv, HV_DEPTH, 1);
	hv_join(test, hv);
}

static void a_connection_that_ends_between_batches_cancels_once(struct kunit *test)
{
	unsigned long end = jiffies + msecs_to_jiffies(HT_PATIENCE_MS);
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry;
	unsigned int posted;
	struct hv hv = {};
	ssize_t ret;

	hv_open_polled(test, &hv);
	KUNIT_ASSERT_EQ(test, hv_post_long(test, &hv, 8), 0);
	fakehca_idle(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, fi_shutdown(hv.pair.a.ep, 0), 0);
	posted = fakehca_calls(ht_of(test)->hca, FAKEHCA_POST_SEND);
	while ((ret = fi_cq_read(hv.pair.a.tx->cq, &entry, 1)) == -EAGAIN &&
	       time_before(jiffies, end))
		cond_resched();
	KUNIT_ASSERT_EQ(test, ret, -FI_EAVAIL);
	KUNIT_ASSERT_EQ(test, fi_cq_readerr(hv.pair.a.tx->cq, &error, 0), 1);
	KUNIT_EXPECT_EQ(test, error.err, ECANCELED);
	KUNIT_EXPECT_EQ(test, error.prov_errno, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_PTR_EQ(test, error.op_context, vt_ctx(8));
	/* A marker, and nothing of the next batch */
	KUNIT_EXPECT_EQ(test, fakehca_calls(ht_of(test)->hca, FAKEHCA_POST_SEND), posted + 1);
	hv_expect_unmapped(test, &hv);
	vt_none(test, hv.pair.a.tx);
}

static void an_endpoint_closes_between_batches(struct kunit *test)
{
	struct hv hv = {};

	hv_open_polled(test, &hv);
	KUNIT_ASSERT_EQ(test, hv_post_long(test, &hv, 8), 0);
	fakehca_idle(ht_of(test)->hca);
	vt_close(test, &hv.pair.a.ep->fid);
	vt_none(test, hv.pair.a.tx);
}

/**
 * struct hv_call - A call that registers, and is held there
 * @test: the case
 * @hv: its connection
 * @entered: it registers
 * @leave: it may go on
 */
struct hv_call {
	struct kunit		*test;
	struct hv		hv;
	struct completion	entered;
	struct completion	leave;
};

static void hv_hold(void *context)
{
	struct hv_call *call = context;

	complete(&call->entered);
	wait_for_completion(&call->leave);
}

static int hv_read(void *context)
{
	struct hv_call *call = context;

	return hv_post_long(call->test, &call->hv, 1);
}

static int hv_drain(void *context)
{
	struct hv_call *call = context;

	return fi_ep_drain(call->hv.pair.a.ep, -1);
}

/* Otherwise the drain takes the queue pair away that the call uses */
static void a_drain_during_a_removal_waits_for_calls_of_the_endpoint(struct kunit *test)
{
	struct hv_call *call = ht_buf(test, sizeof(*call));
	const struct hv_param *param = test->param_value;
	struct fakehca *hca;
	struct vt_async *reader, *drain;
	size_t timeout, len;
	int i;

	/* The others do not register */
	if (param->roce || !param->read)
		return;
	call->test = test;
	init_completion(&call->entered);
	init_completion(&call->leave);
	hv_open(test, &call->hv, 4 * HV_DEPTH, 1);
	hca = ht_of(test)->hca;
	fakehca_on_map_mr(hca, hv_hold, call);
	reader = vt_async_start(test, hv_read, call);
	wait_for_completion(&call->entered);
	fakehca_remove_begin(hca);
	for (i = 0; i < HT_PATIENCE_MS; i++) {
		len = sizeof(timeout);
		if (fi_getopt(&call->hv.pair.a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CONNECT_TIMEOUT,
			      &timeout, &len) == -ENODEV)
			break;
		usleep_range(1000, 2000);
	}
	drain = vt_async_start(test, hv_drain, call);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(drain));
	complete(&call->leave);
	KUNIT_EXPECT_LT(test, vt_async_join(test, reader), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, drain), 0);
	KUNIT_EXPECT_TRUE(test, fakehca_remove_wait(hca, HT_PATIENCE_MS));
}

static struct kunit_case rw_cases[] = {
	KUNIT_CASE_PARAM(a_move_takes_as_many_batches_as_it_needs, hv_param_gen_params),
	KUNIT_CASE_PARAM(a_fence_is_for_the_first_batch, hv_param_gen_params),
	KUNIT_CASE_PARAM(a_list_is_cut_where_the_device_has_its_limits, hv_cut_gen_params),
	KUNIT_CASE_PARAM(moves_in_flight_are_counted, hv_param_gen_params),
	KUNIT_CASE_PARAM(enable_fails_without_registrations, hv_param_gen_params),
	KUNIT_CASE_PARAM(a_move_needs_a_connection, hv_param_gen_params),
	KUNIT_CASE_PARAM(a_refused_first_work_request_moves_nothing, hv_param_gen_params),
	KUNIT_CASE_PARAM(what_waits_in_front_is_refused_once, hv_param_gen_params),
	KUNIT_CASE_PARAM(a_refusal_in_the_middle_of_a_batch_fails_the_move, hv_param_gen_params),
	KUNIT_CASE_PARAM(and_so_it_does_if_the_marker_is_refused, hv_param_gen_params),
	KUNIT_CASE_PARAM(a_refusal_of_a_later_batch_fails_the_move, hv_param_gen_params),
	KUNIT_CASE_PARAM(a_device_that_cannot_map_fails_the_call, hv_param_gen_params),
	KUNIT_CASE_PARAM(an_error_in_a_later_batch_is_the_moves, hv_param_gen_params),
	KUNIT_CASE_PARAM(the_first_error_of_a_batch_is_the_moves, hv_param_gen_params),
	KUNIT_CASE_PARAM(a_connection_that_ends_cancels_the_move_once, hv_param_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_closes_with_a_batch_in_flight, hv_param_gen_params),
	KUNIT_CASE_PARAM(a_device_that_goes_ends_the_move, hv_param_gen_params),
	KUNIT_CASE_PARAM(a_drain_during_a_removal_waits_for_calls_of_the_endpoint,
			 hv_param_gen_params),
	KUNIT_CASE_PARAM(a_connection_that_ends_between_batches_cancels_once, hv_param_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_closes_between_batches, hv_param_gen_params),
	{}
};

struct kunit_suite kofi_hca_rw_suite = {
	.name		= "kofi_hca_rw",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= rw_cases,
};
