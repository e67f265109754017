// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fi_ep_drain(): when it has returned 0, everything that was posted has been reported,
 * nothing more can be posted, from no thread, and the endpoint's regions can be closed.
 * A provider without it answers -ENOSYS.
 */
#include <linux/sched.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_tagged.h>
#include "../lib/async.h"
#include "queue.h"

#define DEPTH	8

static const struct vt_kind polled = {
	.name = "polled", .format = FI_CQ_FORMAT_DATA,
};

static bool has_drain(struct kunit *test)
{
	struct fid_ep *ep;
	int ret;

	conf_shallow(test, DEPTH);
	conf_serve(test);
	ep = vt_ep(test, vt_of(test)->info);
	ret = fi_ep_drain(ep, 0);
	vt_close(test, &ep->fid);
	if (ret == -ENOSYS)
		return false;
	/* It is not enabled */
	KUNIT_EXPECT_EQ(test, ret, -FI_EOPBADSTATE);
	return true;
}

/* Receives, then sends that the peer does not take; numbered.  How many there are */
static int post_all(struct kunit *test, struct vt_end *end)
{
	u8 *buf = vt_buf(test, 8);
	int i;

	for (i = 0; i < DEPTH; i++)
		vt_recv(test, end, buf, 8, vt_ctx(i));
	while (i < 2 * DEPTH && conf_send_untaken(test, end->ep, buf, vt_ctx(i)))
		i++;
	KUNIT_EXPECT_GT(test, i, DEPTH);
	return i;
}

/* What is there, without waiting: each operation once */
static void expect_all(struct kunit *test, struct vt_cq *cq, int count)
{
	unsigned long seen = 0, nr;
	struct fi_cq_err_entry error;
	struct fi_cq_data_entry entry;
	ssize_t ret;
	int i;

	for (i = 0; i < count; i++) {
		error = (struct fi_cq_err_entry) {};
		ret = fi_cq_read(cq->cq, &entry, 1);
		if (ret == -FI_EAVAIL) {
			KUNIT_ASSERT_EQ(test, fi_cq_readerr(cq->cq, &error, 0), 1);
			entry.op_context = error.op_context;
			ret = 1;
		}
		KUNIT_ASSERT_EQ(test, ret, 1);
		nr = (unsigned long)entry.op_context;
		KUNIT_ASSERT_LT(test, nr, count);
		KUNIT_EXPECT_FALSE(test, seen & BIT(nr));
		seen |= BIT(nr);
	}
	vt_none(test, cq);
}

static void expect_shut(struct kunit *test, struct fid_ep *ep)
{
	u8 *buf = vt_buf(test, 8);

	KUNIT_EXPECT_EQ(test, fi_recv(ep, buf, 8, NULL, 0, NULL), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, fi_send(ep, buf, 8, NULL, 0, NULL), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, fi_inject(ep, buf, 8, 0), -ESHUTDOWN);
	if (conf_has(test, FI_RMA | FI_WRITE))
		KUNIT_EXPECT_EQ(test, fi_write(ep, buf, 8, NULL, 0, 0, 1, NULL), -ESHUTDOWN);
	if (conf_has(test, FI_TAGGED | FI_SEND | FI_RECV)) {
		KUNIT_EXPECT_EQ(test, fi_tinject(ep, buf, 8, 0, 1), -ESHUTDOWN);
		KUNIT_EXPECT_EQ(test, fi_trecv(ep, buf, 8, NULL, 0, 1, 0, NULL), -ESHUTDOWN);
	}
}

static void what_was_posted_has_been_reported(struct kunit *test)
{
	struct vt_pair pair = {};
	int count;

	if (!has_drain(test))
		return;
	pair.a.tx = vt_cq(test, &polled, 4 * DEPTH);
	vt_join(test, &pair, &vt_default_kind);
	count = post_all(test, &pair.a);
	KUNIT_ASSERT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
	expect_all(test, pair.a.tx, count);
	expect_shut(test, pair.a.ep);
	if (!vt_is_rdm(vt_of(test)->info)) {
		vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
		vt_event(test, pair.b.eq, FI_SHUTDOWN, NULL);
	}
	vt_close(test, &pair.a.ep->fid);
	vt_none(test, pair.a.tx);
}

/* Not read before the endpoint is closed, it is nobody's */
static void what_nobody_reads_goes_with_the_endpoint(struct kunit *test)
{
	struct vt_pair pair = {};

	if (!has_drain(test))
		return;
	vt_join(test, &pair, &vt_default_kind);
	post_all(test, &pair.a);
	KUNIT_ASSERT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
	vt_close(test, &pair.a.ep->fid);
	vt_none(test, pair.a.tx);
	vt_close(test, &pair.a.tx->cq->fid);
}

/* With callbacks that nobody but the drain waits for */
static void every_callback_has_returned(struct kunit *test)
{
	struct conf_queue *queue;
	struct vt_pair pair;
	u8 *buf = vt_buf(test, 8);
	int i, n;

	if (!has_drain(test))
		return;
	for (i = 0; i < CONF_QUEUE_KINDS; i++) {
		if (conf_queue_kinds[i].wait_obj != FI_WAIT_DONE)
			continue;
		queue = conf_queue(test, &conf_queue_kinds[i], 4 * DEPTH);
		pair = (struct vt_pair) { .a.tx = &queue->cq };
		vt_join(test, &pair, &vt_default_kind);
		for (n = 0; n < DEPTH; n++)
			vt_recv(test, &pair.a, buf, 8, &queue->done);
		queue->drains = true;
		KUNIT_ASSERT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&queue->failed), DEPTH,
				    "%s", conf_queue_kinds[i].name);
		KUNIT_EXPECT_EQ(test, queue->err, ECANCELED);
		KUNIT_EXPECT_EQ(test, atomic_read(&queue->busy), 0);
		conf_queue_check(test, queue);
		vt_pair_close(test, &pair);
	}
}

static void counters_have_counted_what_is_unsignaled(struct kunit *test)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP };
	struct vt_end end = { .bind_flags = FI_SELECTIVE_COMPLETION };
	struct fi_info *info = vt_of(test)->info;
	struct fid_cntr *cntr;
	u8 *buf = vt_buf(test, 8);
	int i;

	if (!info->domain_attr->cntr_cnt || !has_drain(test))
		return;
	KUNIT_ASSERT_EQ(test, fi_cntr_open(vt_of(test)->domain, &attr, &cntr, NULL), 0);
	vt_adopt(test, &cntr->fid);
	vt_end_queues(test, &end, info, &vt_default_kind);
	end.ep = vt_ep(test, info);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(end.ep, &cntr->fid, FI_RECV), 0);
	vt_end_enable(test, &end, &vt_default_kind);
	for (i = 0; i < DEPTH; i++)
		vt_recv(test, &end, buf, 8, vt_ctx(i));
	KUNIT_ASSERT_EQ(test, fi_ep_drain(end.ep, -1), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(cntr), DEPTH);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(cntr), 0);
	expect_shut(test, end.ep);
}

/* A thread that posts as fast as there is room, and what it has posted */
struct poster {
	struct fid_ep		*ep;
	struct conf_queue	*queue;
	struct completion	begun;
	u8			*buf;
	int			posted;
};

static int post_until_refused(void *arg)
{
	struct poster *poster = arg;
	ssize_t ret;

	do {
		ret = fi_recv(poster->ep, poster->buf, 8, NULL, 0, conf_queue_ctx(poster->queue));
		poster->posted += !ret;
		if (poster->posted == DEPTH / 2)
			complete_all(&poster->begun);
		cond_resched();
	} while (!ret || ret == -EAGAIN);
	complete_all(&poster->begun);
	return ret;
}

static void threads_that_post_are_refused(struct kunit *test)
{
	struct poster *poster = vt_buf(test, sizeof(*poster));
	struct vt_pair pair = {};
	struct vt_async *thread;

	if (!has_drain(test))
		return;
	poster->queue = conf_queue(test, &conf_queue_kinds[5], 4 * DEPTH);
	poster->buf = vt_buf(test, 8);
	init_completion(&poster->begun);
	pair.a.tx = &poster->queue->cq;
	vt_join(test, &pair, &vt_default_kind);
	poster->ep = pair.a.ep;
	thread = vt_async_start(test, post_until_refused, poster);
	wait_for_completion(&poster->begun);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), -ESHUTDOWN);
	KUNIT_EXPECT_GE(test, poster->posted, DEPTH / 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&poster->queue->failed), poster->posted);
	conf_queue_check(test, poster->queue);
}

static int drain_too(void *arg)
{
	return fi_ep_drain(arg, -1);
}

static void several_wait_for_the_same_drain(struct kunit *test)
{
	struct vt_async *threads[3];
	struct vt_pair pair = {};
	int i, count;

	if (!has_drain(test))
		return;
	vt_join(test, &pair, &vt_default_kind);
	count = post_all(test, &pair.a);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = vt_async_start(test, drain_too, pair.a.ep);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		KUNIT_EXPECT_EQ(test, vt_async_join(test, threads[i]), 0);
	expect_all(test, pair.a.tx, count);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, 0), 0);
}

/* Begun with 0, it goes on by itself; another call waits for its end */
static void a_drain_that_is_begun_goes_on(struct kunit *test)
{
	struct vt_pair pair = {};
	int ret, count;

	if (!has_drain(test))
		return;
	vt_join(test, &pair, &vt_default_kind);
	count = post_all(test, &pair.a);
	ret = fi_ep_drain(pair.a.ep, 0);
	KUNIT_EXPECT_TRUE_MSG(test, !ret || ret == -ETIMEDOUT, "%d", ret);
	expect_shut(test, pair.a.ep);
	KUNIT_ASSERT_EQ(test, vt_ep_drain(pair.a.ep), 0);
	expect_all(test, pair.a.tx, count);
}

/* The messages that wait at the peer are taken back, and it goes on with others */
static void a_peer_goes_on_when_a_sender_is_drained(struct kunit *test)
{
	struct vt_end other = {};
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	int count;

	if (!conf_is_rdm(test) || !has_drain(test))
		return;
	vt_join(test, &pair, &vt_default_kind);
	vt_client(test, &other, &vt_default_kind);
	vt_know(test, &other, &pair.b);
	count = post_all(test, &pair.a);
	KUNIT_ASSERT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
	expect_all(test, pair.a.tx, count);

	buf[0] = 42;
	KUNIT_ASSERT_EQ(test, fi_inject(other.ep, buf, 8, 0), 0);
	do {
		KUNIT_ASSERT_EQ(test, fi_recv(pair.b.ep, buf, 8, NULL,
					      FI_ADDR_UNSPEC, vt_ctx(1)), 0);
		vt_done(test, pair.b.rx, vt_ctx(1));
	} while (buf[0] != 42);
}

/* A peer that writes to a drained endpoint is told so, or has been */
static void nobody_reaches_a_drained_endpoint(struct kunit *test)
{
	struct conf_region region;
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 64);
	int ret;

	if (!conf_has(test, FI_RMA | FI_WRITE | FI_REMOTE_WRITE) || !has_drain(test))
		return;
	vt_join(test, &pair, &vt_default_kind);
	conf_region(test, &region, 64, CONF_ACCESS);
	memset(buf, 0xff, 64);
	KUNIT_ASSERT_EQ(test, fi_ep_drain(pair.b.ep, -1), 0);
	ret = fi_write(pair.a.ep, buf, 64, NULL, 0, region.addr, region.key, vt_ctx(1));
	if (!ret)
		vt_failed(test, pair.a.tx);
	else
		KUNIT_EXPECT_EQ(test, ret, -ESHUTDOWN);
	KUNIT_EXPECT_NULL(test, memchr_inv(region.buf, 0, 64));
	vt_close(test, &region.mr->fid);
	vt_close(test, &pair.b.ep->fid);
}

/* A region of the endpoint, with its key, which nobody ends any more */
static void regions_stay_bound_and_can_be_closed(struct kunit *test)
{
	struct kvec iov = { vt_buf(test, SZ_4K), SZ_4K };
	struct fi_mr_attr attr = {
		.mr_iov		= &iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_WRITE,
		.page_limit	= 2,
	};
	struct vt_pair pair = {};
	struct fid_mr *mr;
	int ret;

	if (!has_drain(test))
		return;
	ret = fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_ENDPOINT, &mr);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -FI_EBADFLAGS);
		return;
	}
	vt_adopt(test, &mr->fid);
	vt_join(test, &pair, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(mr, &pair.a.ep->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	vt_ping(test, &pair.a, &pair.b);
	KUNIT_ASSERT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr, 0, NULL), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, fi_close(&pair.a.ep->fid), -EBUSY);
	vt_close(test, &mr->fid);
	vt_close(test, &pair.a.ep->fid);
}

static struct kunit_case drain_cases[] = {
	KUNIT_CASE_PARAM(what_was_posted_has_been_reported, conf_gen_params),
	KUNIT_CASE_PARAM(what_nobody_reads_goes_with_the_endpoint, conf_gen_params),
	KUNIT_CASE_PARAM(every_callback_has_returned, conf_gen_params),
	KUNIT_CASE_PARAM(counters_have_counted_what_is_unsignaled, conf_gen_params),
	KUNIT_CASE_PARAM(threads_that_post_are_refused, conf_gen_params),
	KUNIT_CASE_PARAM(several_wait_for_the_same_drain, conf_gen_params),
	KUNIT_CASE_PARAM(a_drain_that_is_begun_goes_on, conf_gen_params),
	KUNIT_CASE_PARAM(a_peer_goes_on_when_a_sender_is_drained, conf_gen_rdm),
	KUNIT_CASE_PARAM(nobody_reaches_a_drained_endpoint, conf_gen_params),
	KUNIT_CASE_PARAM(regions_stay_bound_and_can_be_closed, conf_gen_params),
	{}
};

struct kunit_suite conf_drain_suite = {
	.name		= "kofi_conformance_drain",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= drain_cases,
};
