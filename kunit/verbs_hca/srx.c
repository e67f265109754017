// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive contexts on a device that fails, that has none, that says too
 * little, or that goes; and what they leave mapped.
 */
#include <linux/jiffies.h>
#include <rdma/ib_verbs.h>
#include "hca.h"

#define SRX_DEPTH	8
#define SRX_LEN		64

/* Two connections whose accepting endpoints share @srx */
struct srx_set {
	struct fid_ep	*srx;
	struct fid_eq	*eq;
	struct vt_pair	pairs[2];
};

static struct fi_info *srx_shared(struct kunit *test)
{
	struct fi_info *info = vt_dup(test, vt_of(test)->info);

	info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	info->rx_attr->size = SRX_DEPTH;
	return info;
}

static int srx_try(struct kunit *test, struct fid_ep **srx)
{
	struct fi_rx_attr attr = { .size = SRX_DEPTH };
	int ret;

	ret = fi_srx_context(vt_of(test)->domain, &attr, srx, NULL);
	if (!ret)
		vt_adopt(test, &(*srx)->fid);
	return ret;
}

static void srx_open(struct kunit *test, struct srx_set *set)
{
	set->eq = vt_eq(test, 0);
	KUNIT_ASSERT_EQ(test, srx_try(test, &set->srx), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(set->srx, &set->eq->fid, 0), 0);
}

static void srx_serve(struct kunit *test, const struct fakehca_attr *attr, struct srx_set *set)
{
	ht_serve(test, attr);
	srx_open(test, set);
}

/* An endpoint that shares, with one queue for sends and one for receives */
static void srx_end_open(struct kunit *test, struct srx_set *set, struct vt_end *end,
			 struct fi_info *info, struct vt_cq *rx)
{
	end->tx = vt_cq(test, &vt_default_kind, info->tx_attr->size + SRX_DEPTH);
	end->rx = rx;
	end->srx = set->srx;
	ht_end_open(test, end, info);
}

static void srx_join(struct kunit *test, struct srx_set *set, int nr, struct vt_cq *rx)
{
	struct vt_pair *pair = &set->pairs[nr];
	struct fi_info *info;

	ht_client(test, &pair->a);
	vt_connect(test, &pair->a, NULL, 0);
	info = vt_connreq(test, NULL);
	info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	srx_end_open(test, set, &pair->b, info, rx);
	ht_end_enable(test, &pair->b);
	vt_accept(test, &pair->b, NULL, 0);
	vt_event(test, pair->a.eq, FI_CONNECTED, NULL);
}

/* Contexts from 1 on, as ht_each_once() wants them */
static void srx_post(struct kunit *test, struct srx_set *set, int count)
{
	int i;

	for (i = 1; i <= count; i++)
		KUNIT_ASSERT_EQ(test, fi_recv(set->srx, ht_buf(test, SRX_LEN),
					      SRX_LEN, NULL, 0, vt_ctx(i)), 0);
}

/* How many slots there are; nobody reads meanwhile */
static int srx_post_rest(struct kunit *test, struct srx_set *set)
{
	int count;

	for (count = 0; count <= SRX_DEPTH; count++)
		if (fi_recv(set->srx, ht_buf(test, SRX_LEN), SRX_LEN, NULL, 0, NULL) == -EAGAIN)
			break;
	return count;
}

static void srx_send(struct kunit *test, struct srx_set *set, int nr)
{
	struct vt_end *end = &set->pairs[nr].a;

	vt_send(test, end, ht_buf(test, SRX_LEN), SRX_LEN, vt_ctx(100));
	vt_done(test, end->tx, vt_ctx(100));
}

struct srx_error {
	const char	*name;
	int		error;
};

static const struct srx_error create_errors[] = {
	{ "no memory", -ENOMEM },
	{ "I/O error", -EIO },
};

KUNIT_ARRAY_PARAM_DESC(create_error, create_errors, name);

static void a_context_fails_with_the_device(struct kunit *test)
{
	const struct srx_error *param = test->param_value;
	struct fid_ep *srx = NULL;

	ht_open(test, NULL);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_CREATE_SRQ, 1, param->error);
	KUNIT_EXPECT_EQ(test, srx_try(test, &srx), param->error);
	KUNIT_EXPECT_NULL(test, srx);
	KUNIT_EXPECT_EQ(test, ht_stats(test).srqs, 0);
	KUNIT_EXPECT_EQ(test, srx_try(test, &srx), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).srqs, 1);
}

/* One queue, of one receive of one buffer */
static void a_device_with_hardly_a_queue_to_share_has_one(struct kunit *test)
{
	static const struct fakehca_attr attr = { .max_srq_wr = 1, .max_srq_sge = 1 };
	struct fi_rx_attr rx = { .size = 1 };
	struct fid_ep *srx;

	ht_open(test, &attr);
	KUNIT_ASSERT_EQ(test, fi_srx_context(vt_of(test)->domain, &rx, &srx, NULL), 0);
	vt_adopt(test, &srx->fid);
	KUNIT_EXPECT_EQ(test, fi_recv(srx, ht_buf(test, SRX_LEN), SRX_LEN, NULL, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_recv(srx, ht_buf(test, SRX_LEN), SRX_LEN, NULL, 0, NULL), -EAGAIN);
}

static void a_device_without_queues_to_share_says_so(struct kunit *test)
{
	static const struct fakehca_attr attr = { .no_srq = true };
	struct ht *ht = ht_of(test);
	struct fi_info *hints, *info;
	struct fid_ep *ep;

	ht_open(test, &attr);
	KUNIT_EXPECT_EQ(test, ht->vt.info->domain_attr->max_ep_srx_ctx, 0);
	KUNIT_EXPECT_EQ(test, srx_try(test, &ep), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_endpoint(ht->vt.domain, srx_shared(test), &ep, NULL), -EINVAL);
	hints = ht_hints(test);
	hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, hints, &info), -ENODATA);
}

/* Shallower and shorter than the receive queues of endpoints */
static void limits_are_those_of_the_shared_queue(struct kunit *test)
{
	static const struct fakehca_attr attr = {
		.max_srq_wr = 16, .max_srq_sge = 2,
	};
	struct fi_rx_attr deep = { .size = 17 }, long_list = { .iov_limit = 3 };
	struct ht *ht = ht_of(test);
	struct fi_info *hints, *info;
	struct fid_ep *srx;

	ht_open(test, &attr);
	hints = ht_hints(test);
	hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	KUNIT_ASSERT_EQ(test, ht_getinfo(test, hints, &info), 0);
	KUNIT_EXPECT_EQ(test, info->rx_attr->size, 16);
	KUNIT_EXPECT_EQ(test, info->rx_attr->iov_limit, 2);
	KUNIT_EXPECT_GT(test, ht->vt.info->rx_attr->size, 16);
	KUNIT_EXPECT_EQ(test, fi_srx_context(ht->vt.domain, info->rx_attr, &srx, NULL), 0);
	vt_adopt(test, &srx->fid);
	KUNIT_EXPECT_EQ(test, fi_srx_context(ht->vt.domain, &deep, &srx, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_srx_context(ht->vt.domain, &long_list, &srx, NULL), -EINVAL);
}

static void a_post_that_fails_maps_nothing(struct kunit *test)
{
	struct fakehca_stats before;
	struct srx_set set = {};
	u8 *buf = ht_buf(test, SRX_LEN);

	ht_open(test, NULL);
	srx_open(test, &set);
	before = ht_stats(test);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SRQ_RECV, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, fi_recv(set.srx, buf, SRX_LEN, NULL, 0, NULL), -EAGAIN);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SRQ_RECV, 1, -EIO);
	KUNIT_EXPECT_EQ(test, fi_recv(set.srx, buf, SRX_LEN, NULL, 0, NULL), -EIO);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before.mapped);
	KUNIT_EXPECT_EQ(test, srx_post_rest(test, &set), SRX_DEPTH);
}

/* ht_exit() counts what is mapped, unmapped, and accessed without */
static void receives_are_mapped_until_they_are_taken_or_closed(struct kunit *test)
{
	/* No bounce buffers, which would be mapped, too */
	static const struct fakehca_attr attr = {
		.roce = true,
		.max_inline = FAKEHCA_MAX_INLINE,
	};
	struct srx_set set = {};
	unsigned int before;

	srx_serve(test, &attr, &set);
	before = ht_stats(test).mapped;
	srx_post(test, &set, SRX_DEPTH);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before + SRX_DEPTH);
	srx_join(test, &set, 0, NULL);
	srx_send(test, &set, 0);
	vt_done(test, set.pairs[0].b.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before + SRX_DEPTH - 1);
	vt_end_close(test, &set.pairs[0].b);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before + SRX_DEPTH - 1);
	vt_close(test, &set.srx->fid);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before);
}

struct srx_enable {
	const char	*name;
	unsigned int	nth;
};

static const struct srx_enable enable_errors[] = {
	{ "the marker", 1 },
	{ "the queue pair", 2 },
};

KUNIT_ARRAY_PARAM_DESC(enable_error, enable_errors, name);

static void enable_fails_and_can_be_tried_again(struct kunit *test)
{
	const struct srx_enable *param = test->param_value;
	struct srx_set set = {};
	struct fakehca_stats before;
	struct vt_end *end = &set.pairs[0].b;
	struct vt_cq *rx;

	srx_serve(test, NULL, &set);
	rx = vt_cq(test, &vt_default_kind, SRX_DEPTH);
	srx_end_open(test, &set, end, srx_shared(test), rx);
	before = ht_stats(test);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_CREATE_QP, param->nth, -ENOMEM);
	KUNIT_EXPECT_EQ(test, fi_enable(end->ep), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, before.qps);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_MODIFY_QP, param->nth, -EIO);
	KUNIT_EXPECT_EQ(test, fi_enable(end->ep), -EIO);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, before.qps);
	KUNIT_EXPECT_EQ(test, fi_enable(end->ep), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, before.qps + 2);
	vt_close(test, &end->ep->fid);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, before.qps);
}

/* One marker for a queue, however many endpoints need it, and none for the rest */
static void markers_are_shared(struct kunit *test)
{
	struct srx_set set = {};
	unsigned int before;
	struct vt_cq *rx;

	srx_serve(test, NULL, &set);
	rx = vt_cq(test, &vt_default_kind, SRX_DEPTH);
	srx_end_open(test, &set, &set.pairs[0].a, srx_shared(test), NULL);
	srx_end_open(test, &set, &set.pairs[0].b, srx_shared(test), rx);
	srx_end_open(test, &set, &set.pairs[1].b, srx_shared(test), rx);
	before = ht_stats(test).qps;
	ht_end_enable(test, &set.pairs[0].a);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, before + 1);
	ht_end_enable(test, &set.pairs[0].b);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, before + 3);
	ht_end_enable(test, &set.pairs[1].b);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, before + 4);
	vt_close(test, &set.pairs[0].b.ep->fid);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, before + 3);
	vt_close(test, &set.pairs[1].b.ep->fid);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, before + 1);
}

/* A device that says when a queue pair takes no more is not waited for longer */
static void close_waits_for_the_device_only_as_long_as_needed(struct kunit *test)
{
	struct srx_set set = {};
	unsigned long begin;

	srx_serve(test, NULL, &set);
	srx_join(test, &set, 0, NULL);
	begin = jiffies;
	vt_close(test, &set.pairs[0].b.ep->fid);
	KUNIT_EXPECT_LT(test, jiffies - begin, msecs_to_jiffies(900));
}

/* No peer could send to it, so it has taken no receive */
static void close_of_an_endpoint_without_a_connection_waits_for_nothing(struct kunit *test)
{
	struct srx_set set = {};
	unsigned long begin;

	ht_open(test, NULL);
	srx_open(test, &set);
	fakehca_last_wqe(ht_of(test)->hca, false);
	srx_end_open(test, &set, &set.pairs[0].b, srx_shared(test), NULL);
	ht_end_enable(test, &set.pairs[0].b);
	begin = jiffies;
	vt_close(test, &set.pairs[0].b.ep->fid);
	KUNIT_EXPECT_LT(test, jiffies - begin, msecs_to_jiffies(900));
}

/*
 * Two connections on a device that does not say when a queue pair takes no more; a message has come
 * by each.  Returns their queue.
 */
static struct vt_cq *srx_unsaid(struct kunit *test, struct srx_set *set)
{
	struct vt_cq *rx;

	srx_serve(test, NULL, set);
	srx_post(test, set, SRX_DEPTH);
	rx = vt_cq(test, &vt_default_kind, SRX_DEPTH);
	srx_join(test, set, 0, rx);
	srx_join(test, set, 1, rx);
	srx_send(test, set, 0);
	srx_send(test, set, 1);
	fakehca_last_wqe(ht_of(test)->hca, false);
	return rx;
}

/* siw, for one, never says it */
static void close_of_a_device_that_says_nothing_ends(struct kunit *test)
{
	struct srx_set set = {};
	unsigned long begin;
	struct vt_cq *rx;

	rx = srx_unsaid(test, &set);
	begin = jiffies;
	vt_close(test, &set.pairs[0].b.ep->fid);
	KUNIT_EXPECT_LT(test, jiffies - begin, msecs_to_jiffies(HT_PATIENCE_MS));
	vt_done(test, rx, vt_ctx(2));
	vt_none(test, rx);
	KUNIT_EXPECT_EQ(test, srx_post_rest(test, &set), 2);
}

/* And what the endpoint has received is there, as well as what others have */
static void a_drain_waits_for_a_silent_device_as_long_as_asked(struct kunit *test)
{
	struct srx_set set = {};
	struct vt_cq *rx;

	rx = srx_unsaid(test, &set);

	KUNIT_EXPECT_EQ(test, fi_ep_drain(set.pairs[0].b.ep, 1), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, vt_ep_drain(set.pairs[0].b.ep), 0);
	vt_done(test, rx, vt_ctx(1));
	vt_done(test, rx, vt_ctx(2));
	vt_none(test, rx);
	vt_close(test, &set.pairs[0].b.ep->fid);
	KUNIT_EXPECT_EQ(test, srx_post_rest(test, &set), 2);
}

static int srx_arm(struct srx_set *set, size_t limit)
{
	return fi_setopt(&set->srx->fid, FI_OPT_ENDPOINT, FI_OPT_SRX_LIMIT, &limit, sizeof(limit));
}

static size_t srx_armed(struct kunit *test, struct srx_set *set)
{
	size_t limit = SIZE_MAX, len = sizeof(limit);

	KUNIT_EXPECT_EQ(test, fi_getopt(&set->srx->fid, FI_OPT_ENDPOINT,
					FI_OPT_SRX_LIMIT, &limit, &len), 0);
	return limit;
}

static void a_limit_that_fails_leaves_the_one_before(struct kunit *test)
{
	struct srx_set set = {};

	ht_open(test, NULL);
	srx_open(test, &set);
	KUNIT_ASSERT_EQ(test, srx_arm(&set, 3), 0);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_MODIFY_SRQ, 1, -EIO);
	KUNIT_EXPECT_EQ(test, srx_arm(&set, 5), -EIO);
	KUNIT_EXPECT_EQ(test, srx_armed(test, &set), 3);
	KUNIT_EXPECT_EQ(test, srx_arm(&set, 5), 0);
	KUNIT_EXPECT_EQ(test, srx_armed(test, &set), 5);
}

/* Reached again before anybody has read that it was: told once */
static void a_limit_is_told_once_to_who_does_not_read(struct kunit *test)
{
	struct fi_eq_entry entry;
	struct srx_set set = {};
	u32 event = 0;
	int i;

	srx_serve(test, NULL, &set);
	srx_join(test, &set, 0, NULL);
	for (i = 0; i < 2; i++) {
		srx_post(test, &set, 1);
		KUNIT_ASSERT_EQ(test, srx_arm(&set, 1), 0);
		srx_send(test, &set, 0);
		vt_done(test, set.pairs[0].b.tx, vt_ctx(1));
		fakehca_idle(ht_of(test)->hca);
		KUNIT_EXPECT_EQ(test, srx_armed(test, &set), 0);
	}
	KUNIT_ASSERT_EQ(test, fi_eq_read(set.eq, &event, &entry, sizeof(entry),
					 0), (ssize_t)sizeof(entry));
	KUNIT_EXPECT_EQ(test, event, FI_SRX_LIMIT);
	vt_no_event(test, set.eq);

	/* An event that nobody has read goes with the context */
	srx_post(test, &set, 1);
	KUNIT_ASSERT_EQ(test, srx_arm(&set, 1), 0);
	srx_send(test, &set, 0);
	vt_done(test, set.pairs[0].b.tx, vt_ctx(1));
	fakehca_idle(ht_of(test)->hca);
	vt_close(test, &set.pairs[0].b.ep->fid);
	vt_close(test, &set.srx->fid);
	vt_no_event(test, set.eq);
}

static void a_queue_that_fails_is_told(struct kunit *test)
{
	struct srx_set set = {};
	struct fi_eq_err_entry error;

	ht_open(test, NULL);
	srx_open(test, &set);
	srx_post(test, &set, 2);
	fakehca_srq_error(ht_of(test)->hca);
	fakehca_srq_error(ht_of(test)->hca);
	error = ht_error(test, set.eq);
	KUNIT_EXPECT_EQ(test, error.err, EIO);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &set.srx->fid);
	vt_no_event(test, set.eq);
	KUNIT_EXPECT_EQ(test, fi_recv(set.srx, ht_buf(test, SRX_LEN), SRX_LEN,
				      NULL, 0, NULL), -EIO);
	KUNIT_EXPECT_EQ(test, srx_arm(&set, 1), -EIO);
}

static void a_failure_waits_for_an_event_queue(struct kunit *test)
{
	struct srx_set set = {};
	struct fid_ep *other;

	ht_open(test, NULL);
	set.eq = vt_eq(test, 0);
	KUNIT_ASSERT_EQ(test, srx_try(test, &set.srx), 0);
	KUNIT_ASSERT_EQ(test, srx_try(test, &other), 0);
	fakehca_srq_error(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(set.srx, &set.eq->fid, 0), 0);
	KUNIT_EXPECT_EQ(test, ht_error(test, set.eq).err, EIO);
	/* An event that nobody has read goes with the context */
	KUNIT_ASSERT_EQ(test, fi_ep_bind(other, &set.eq->fid, 0), 0);
	vt_close(test, &other->fid);
	vt_no_event(test, set.eq);
}

static void removal_is_told_and_ends_the_context(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct srx_set set = {};
	struct fid_ep *srx;

	srx_serve(test, NULL, &set);
	srx_post(test, &set, SRX_DEPTH);
	srx_join(test, &set, 0, NULL);
	fakehca_remove_begin(ht->hca);
	KUNIT_EXPECT_EQ(test, ht_error(test, set.eq).err, ENODEV);
	KUNIT_EXPECT_EQ(test, ht_error(test, set.pairs[0].b.eq).err, ENODEV);
	KUNIT_EXPECT_EQ(test, fi_recv(set.srx, ht_buf(test, SRX_LEN), SRX_LEN,
				      NULL, 0, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, srx_arm(&set, 1), -ENODEV);
	KUNIT_EXPECT_EQ(test, srx_try(test, &srx), -ENODEV);
	vt_no_event(test, set.eq);
	vt_end_close(test, &set.pairs[0].b);
}

/* The receive fails, not the queue */
static void a_failed_receive_ends_one_connection(struct kunit *test)
{
	struct srx_set set = {};
	struct vt_end *sender;

	srx_serve(test, NULL, &set);
	srx_post(test, &set, SRX_DEPTH);
	srx_join(test, &set, 0, NULL);
	srx_join(test, &set, 1, NULL);
	sender = &set.pairs[0].a;
	fakehca_fail(ht_of(test)->hca, FAKEHCA_RECV_WC, 1, IB_WC_LOC_PROT_ERR);
	vt_send(test, sender, ht_buf(test, SRX_LEN), SRX_LEN, vt_ctx(100));
	ht_failed(test, sender->tx, EREMOTEIO);
	ht_failed(test, set.pairs[0].b.tx, EFAULT);
	vt_event(test, set.pairs[0].b.eq, FI_SHUTDOWN, NULL);
	srx_send(test, &set, 1);
	vt_done(test, set.pairs[1].b.tx, vt_ctx(2));
	vt_no_event(test, set.eq);
}

static struct kunit_case srx_cases[] = {
	KUNIT_CASE_PARAM(a_context_fails_with_the_device, create_error_gen_params),
	KUNIT_CASE(a_device_with_hardly_a_queue_to_share_has_one),
	KUNIT_CASE(a_device_without_queues_to_share_says_so),
	KUNIT_CASE(limits_are_those_of_the_shared_queue),
	KUNIT_CASE(a_post_that_fails_maps_nothing),
	KUNIT_CASE(receives_are_mapped_until_they_are_taken_or_closed),
	KUNIT_CASE_PARAM(enable_fails_and_can_be_tried_again, enable_error_gen_params),
	KUNIT_CASE(markers_are_shared),
	KUNIT_CASE(close_waits_for_the_device_only_as_long_as_needed),
	KUNIT_CASE(close_of_an_endpoint_without_a_connection_waits_for_nothing),
	KUNIT_CASE(close_of_a_device_that_says_nothing_ends),
	KUNIT_CASE(a_drain_waits_for_a_silent_device_as_long_as_asked),
	KUNIT_CASE(a_limit_that_fails_leaves_the_one_before),
	KUNIT_CASE(a_limit_is_told_once_to_who_does_not_read),
	KUNIT_CASE(a_queue_that_fails_is_told),
	KUNIT_CASE(a_failure_waits_for_an_event_queue),
	KUNIT_CASE(removal_is_told_and_ends_the_context),
	KUNIT_CASE(a_failed_receive_ends_one_connection),
	{}
};

struct kunit_suite kofi_hca_srx_suite = {
	.name		= "kofi_hca_srx",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= srx_cases,
};
