// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a client closes in a callback that may sleep: a region, also of an operation that has
 * failed, and an endpoint of another queue.  When a region is closed, no byte of its memory
 * changes any more, whatever the peer is doing.
 */
#include <linux/completion.h>
#include <linux/string.h>
#include <rdma/fi_cm.h>
#include "../lib/async.h"
#include "queue.h"

#define LEN	SZ_4K
#define POISON	0xa5
#define BEFORE	20	/* writes before the message, after which the region is closed */
#define AFTER	50	/* writes after it was closed, at most */

/* Kinds of conf_queue_kinds[] whose callbacks may sleep */
static const int may_sleep[] = { 3, 5, 6 };

static struct conf_queue *join_queue(struct kunit *test, struct vt_pair *pair, int kind)
{
	const struct fi_info *info = vt_of(test)->info;
	struct conf_queue *queue = conf_queue(test, &conf_queue_kinds[kind],
					      info->tx_attr->size + info->rx_attr->size);

	*pair = (struct vt_pair) { .a.tx = &queue->cq };
	vt_join(test, pair, &vt_default_kind);
	return queue;
}

static int close_fid(void *arg)
{
	return fi_close(arg);
}

static struct fid_mr *any_region(struct kunit *test)
{
	u64 access = conf_has(test, FI_RMA | FI_REMOTE_WRITE) ? FI_REMOTE_WRITE : FI_RECV;
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, conf_reg(test, vt_buf(test, LEN), LEN, access, &mr), 0);
	return mr;
}

/* The next call of the queue closes @fid, once, and the rest of the calls nothing */
static void expect_closed(struct kunit *test, struct conf_queue *queue, struct fid *fid, int ended)
{
	conf_queue_expect(test, queue, ended);
	conf_queue_hooked(test, queue);
	KUNIT_ASSERT_EQ_MSG(test, queue->hook_ret, 0, "%s", queue->cq.kind->name);
	vt_closed(test, fid);
	conf_queue_check(test, queue);
}

static void message(struct kunit *test, struct vt_pair *pair, struct conf_queue *queue)
{
	u8 *buf = vt_buf(test, 16);

	vt_recv(test, &pair->a, buf, 8, conf_queue_ctx(queue));
	vt_send(test, &pair->b, buf + 8, 8, vt_ctx(1));
	vt_done(test, pair->b.tx, vt_ctx(1));
}

static void a_region_closes_in_a_callback(struct kunit *test)
{
	struct conf_queue *queue;
	struct vt_pair pair;
	struct fid_mr *mr;
	int i;

	conf_serve(test);
	for (i = 0; i < ARRAY_SIZE(may_sleep); i++) {
		queue = join_queue(test, &pair, may_sleep[i]);
		mr = any_region(test);
		conf_queue_hook(queue, close_fid, &mr->fid);
		message(test, &pair, queue);
		expect_closed(test, queue, &mr->fid, 1);
		vt_pair_close(test, &pair);
	}
}

static void a_failed_operation_closes_a_region(struct kunit *test)
{
	struct conf_queue *queue;
	struct vt_pair pair;
	struct fid_mr *mr;
	int i;

	if (!conf_serve_msg(test))
		return;
	for (i = 0; i < ARRAY_SIZE(may_sleep); i++) {
		queue = join_queue(test, &pair, may_sleep[i]);
		mr = any_region(test);
		vt_recv(test, &pair.a, vt_buf(test, 8), 8, conf_queue_ctx(queue));
		conf_queue_hook(queue, close_fid, &mr->fid);
		KUNIT_ASSERT_EQ(test, fi_shutdown(pair.b.ep, 0), 0);
		expect_closed(test, queue, &mr->fid, 1);
		KUNIT_EXPECT_EQ(test, queue->err, ECANCELED);
		vt_pair_close(test, &pair);
	}
}

/* NULL: the provider has none */
static struct fid_mr *region_of(struct kunit *test, struct fid_ep *ep)
{
	const struct kvec kvec = { vt_buf(test, LEN), LEN };
	const struct fi_mr_attr attr = {
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= FI_REMOTE_WRITE,
		.requested_key	= 1,
	};
	struct fid_mr *mr;
	int ret;

	ret = fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_ENDPOINT, &mr);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -FI_EBADFLAGS);
		return NULL;
	}
	vt_adopt(test, &mr->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(mr, &ep->fid, 0), 0);
	return mr;
}

/* The message that a key goes with is not taken, and then the connection ends */
static void a_failed_operation_closes_a_region_of_its_endpoint(struct kunit *test)
{
	struct conf_queue *queue;
	struct vt_pair pair;
	struct fid_mr *mr;
	int i, ended;

	if (!conf_is_msg(test))
		return;
	if (!conf_has(test, FI_RMA | FI_REMOTE_WRITE))
		return;
	conf_serve(test);
	for (i = 0; i < ARRAY_SIZE(may_sleep); i++) {
		queue = join_queue(test, &pair, may_sleep[i]);
		mr = region_of(test, pair.a.ep);
		if (!mr)
			return;
		vt_recv(test, &pair.a, vt_buf(test, 8), 8, conf_queue_ctx(queue));
		KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
		ended = 1 + conf_send_untaken(test, pair.a.ep, vt_buf(test, 8),
					      conf_queue_ctx(queue));
		/* Over iWARP the message may end at once */
		if (conf_queue_ended(queue)) {
			vt_close(test, &mr->fid);
			vt_pair_close(test, &pair);
			continue;
		}
		conf_queue_hook(queue, close_fid, &mr->fid);
		/* The message may have ended before.  A handler is called again when it is read */
		conf_queue_read(queue, INT_MAX);
		fi_shutdown(pair.a.ep, 0);
		expect_closed(test, queue, &mr->fid, ended);
		vt_pair_close(test, &pair);
	}
}

static void an_endpoint_of_another_queue_closes_in_a_callback(struct kunit *test)
{
	static const int kinds[] = { 1, 4, 5, 6 };
	struct conf_queue *queue, *others;
	struct vt_pair pair, other;
	int i, k;

	conf_serve(test);
	for (i = 0; i < ARRAY_SIZE(may_sleep); i++) {
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			others = join_queue(test, &other, kinds[k]);
			queue = join_queue(test, &pair, may_sleep[i]);
			vt_recv(test, &other.a, vt_buf(test, 8), 8, conf_queue_ctx(others));
			others->drains = true;
			conf_queue_hook(queue, close_fid, &other.a.ep->fid);
			message(test, &pair, queue);
			expect_closed(test, queue, &other.a.ep->fid, 1);
			conf_queue_check(test, others);
			vt_close(test, &other.b.ep->fid);
			vt_pair_close(test, &pair);
		}
	}
}

/**
 * struct writer - A peer that writes as fast as it can
 * @pair: it is a
 * @region: where it writes to
 * @buf: what it writes
 * @closed: the region is closed
 */
struct writer {
	struct vt_pair		pair;
	struct conf_region	region;
	u8			*buf;
	bool			closed;
};

/* Until a write fails, or for a while after the region was closed: iWARP reports no failure */
static int write_on(void *arg)
{
	struct writer *writer = arg;
	struct vt_end *end = &writer->pair.a;
	int i, after = 0;
	struct vt_comp comp;
	bool closed;

	for (i = 0; after < AFTER; i++) {
		memset(writer->buf, i & 0x7f, LEN);
		closed = READ_ONCE(writer->closed);
		if (i == BEFORE && fi_inject(end->ep, writer->buf, 8, 0))
			break;
		if (fi_write(end->ep, writer->buf, LEN, NULL, 0, writer->region.addr,
			     writer->region.key, vt_ctx(1)))
			break;
		if (vt_wait(end->tx, &comp) != 1 || comp.err)
			break;
		after += closed;
	}
	return i;
}

static int close_and_poison(void *arg)
{
	struct writer *writer = arg;
	int ret = fi_close(&writer->region.mr->fid);

	memset(writer->region.buf, POISON, LEN);
	WRITE_ONCE(writer->closed, true);
	return ret;
}

static void no_write_reaches_a_region_that_is_closed(struct kunit *test)
{
	struct conf_queue *queue;
	struct vt_async *async;
	struct writer writer;
	int i;

	if (!conf_has(test, FI_RMA | FI_WRITE | FI_REMOTE_WRITE))
		return;
	conf_serve(test);
	for (i = 0; i < ARRAY_SIZE(may_sleep); i++) {
		writer = (struct writer) { .buf = vt_buf(test, LEN) };
		queue = conf_queue(test, &conf_queue_kinds[may_sleep[i]],
				   vt_of(test)->info->tx_attr->size +
				   vt_of(test)->info->rx_attr->size);
		writer.pair.b.tx = &queue->cq;
		vt_join(test, &writer.pair, &vt_default_kind);
		conf_region(test, &writer.region, LEN, FI_REMOTE_WRITE);
		vt_recv(test, &writer.pair.b, vt_buf(test, 8), 8, conf_queue_ctx(queue));
		conf_queue_hook(queue, close_and_poison, &writer);
		async = vt_async_start(test, write_on, &writer);
		expect_closed(test, queue, &writer.region.mr->fid, 1);
		KUNIT_EXPECT_GE(test, vt_async_join(test, async), BEFORE);
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(writer.region.buf, POISON, LEN), "%s",
				      queue->cq.kind->name);
		vt_pair_close(test, &writer.pair);
	}
}

static struct kunit_case close_cases[] = {
	KUNIT_CASE_PARAM(a_region_closes_in_a_callback, conf_gen_params),
	KUNIT_CASE_PARAM(a_failed_operation_closes_a_region, conf_gen_msg),
	KUNIT_CASE_PARAM(a_failed_operation_closes_a_region_of_its_endpoint, conf_gen_msg),
	KUNIT_CASE_PARAM(an_endpoint_of_another_queue_closes_in_a_callback, conf_gen_params),
	KUNIT_CASE_PARAM(no_write_reaches_a_region_that_is_closed, conf_gen_params),
	{}
};

struct kunit_suite conf_close_suite = {
	.name		= "kofi_conformance_close",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= close_cases,
};
