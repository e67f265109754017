// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A callback per operation (FI_WAIT_DONE).
 *
 * A request is what a client would have: its own struct with a struct fi_done in
 * it.  Callbacks write to their request only.
 */
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include "conformance.h"

#define DEPTH	4
#define ROUNDS	200
#define CHAIN	16	/* operations, each from the callback of the one before */

/**
 * struct request - An operation
 * @done: its callback
 * @entry: what the callback was told
 * @calls: how often it was called
 * @in_task: in process context
 * @finished: completed by the callback
 */
struct request {
	struct fi_done		done;
	struct fi_done_entry	entry;
	atomic_t		calls;
	bool			in_task;
	struct completion	finished;
};

static void request_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct request *request = container_of(done, struct request, done);

	request->entry = *entry;
	request->in_task = !in_softirq();
	atomic_inc(&request->calls);
	complete(&request->finished);
}

static struct request *request_new(struct kunit *test)
{
	struct request *request = vt_buf(test, sizeof(*request));

	request->done.done = request_done;
	init_completion(&request->finished);
	return request;
}

static struct request *post_recv(struct kunit *test, struct vt_end *end, u8 *buf)
{
	struct request *rx = request_new(test);

	vt_recv(test, end, buf, 8, &rx->done);
	return rx;
}

static void finished(struct kunit *test, struct request *request, u64 flags, int err)
{
	KUNIT_ASSERT_TRUE(test, vt_completed(&request->finished));
	KUNIT_EXPECT_EQ(test, atomic_read(&request->calls), 1);
	KUNIT_EXPECT_EQ(test, request->entry.flags, flags);
	KUNIT_EXPECT_EQ(test, request->entry.err, err);
}

static const struct vt_kind kinds[] = {
	{ "softirq", FI_WAIT_DONE, FI_COMP_SOFTIRQ },
	{ "worker", FI_WAIT_DONE, FI_COMP_WORKQUEUE },
};

/* Each kind of queue for a pair of its own */
static void with_each_kind(struct kunit *test, void (*fn)(struct kunit *test, struct vt_pair *pair,
							  const struct vt_kind *kind))
{
	struct vt_pair pair;
	int i;

	conf_shallow(test, DEPTH);
	conf_serve(test);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		pair = (struct vt_pair) {};
		vt_join(test, &pair, &kinds[i]);
		fn(test, &pair, &kinds[i]);
		if (pair.b.ep)
			vt_pair_close(test, &pair);
	}
}

static void exchange(struct kunit *test, struct vt_pair *pair, const struct vt_kind *kind)
{
	struct request *tx = request_new(test), *rx;
	bool data = conf_data(test);
	u8 *buf = vt_buf(test, 16);

	vt_fill(buf, 8, 1);
	rx = post_recv(test, &pair->b, buf + 8);
	if (data)
		KUNIT_ASSERT_EQ(test, fi_senddata(pair->a.ep, buf, 6, NULL, 77, 0, &tx->done), 0);
	else
		vt_send(test, &pair->a, buf, 6, &tx->done);
	finished(test, rx, FI_MSG | FI_RECV | (data ? FI_REMOTE_CQ_DATA : 0), 0);
	finished(test, tx, FI_MSG | FI_SEND, 0);
	KUNIT_EXPECT_EQ(test, rx->entry.len, 6);
	KUNIT_EXPECT_EQ(test, rx->entry.data, data ? 77 : 0);
	KUNIT_EXPECT_EQ(test, rx->in_task, kind->comp_ctx == FI_COMP_WORKQUEUE);
	KUNIT_EXPECT_EQ(test, tx->in_task, kind->comp_ctx == FI_COMP_WORKQUEUE);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf + 8, 6, 1));
}

static void every_operation_can_have_a_callback(struct kunit *test)
{
	with_each_kind(test, exchange);
}

static void read_in_vain(struct kunit *test, struct vt_pair *pair, const struct vt_kind *kind)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_entry entry;

	KUNIT_EXPECT_EQ(test, fi_cq_read(pair->a.tx->cq, &entry, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cq_sread(pair->a.tx->cq, &entry, 1, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(pair->a.tx->cq, &error, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_cq_signal(pair->a.tx->cq), -EINVAL);
}

static void there_is_nothing_to_read(struct kunit *test)
{
	with_each_kind(test, read_in_vain);
}

static void flush(struct kunit *test, struct vt_pair *pair, const struct vt_kind *kind)
{
	struct request *rx[DEPTH];
	u8 *buf = vt_buf(test, 8);
	int i;

	for (i = 0; i < DEPTH; i++)
		rx[i] = post_recv(test, &pair->b, buf);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair->b.ep, 0), 0);
	for (i = 0; i < DEPTH; i++) {
		finished(test, rx[i], FI_MSG | FI_RECV, ECANCELED);
		KUNIT_EXPECT_NE(test, rx[i]->entry.prov_errno, 0);
	}
}

static void what_is_flushed_says_so(struct kunit *test)
{
	if (conf_is_msg(test))
		with_each_kind(test, flush);
}

static void without_context(struct kunit *test, struct vt_pair *pair, const struct vt_kind *kind)
{
	u8 *buf = vt_buf(test, 16);
	struct request *rx;

	rx = post_recv(test, &pair->b, buf);
	/* One for the second message, and one that ends with the endpoint */
	vt_recv(test, &pair->b, buf, 8, NULL);
	vt_recv(test, &pair->b, buf, 8, NULL);
	vt_send(test, &pair->a, buf + 8, 8, NULL);
	vt_send(test, &pair->a, buf + 8, 8, NULL);
	finished(test, rx, FI_MSG | FI_RECV, 0);
	KUNIT_EXPECT_EQ(test, vt_ep_drain(pair->a.ep), 0);
}

static void without_a_context_nothing_is_called(struct kunit *test)
{
	with_each_kind(test, without_context);
}

/**
 * struct again - Posts itself again from its callback
 * @done: the callback
 * @ep: where
 * @buf: receive buffer
 * @left: rounds to go
 * @ret: what the last post returned
 * @finished: completed after the last round
 */
struct again {
	struct fi_done		done;
	struct fid_ep		*ep;
	void			*buf;
	int			left;
	ssize_t			ret;
	struct completion	finished;
};

static void again_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct again *again = container_of(done, struct again, done);

	if (entry->err || !--again->left)
		again->ret = -entry->err;
	else
		again->ret = fi_recv(again->ep, again->buf, 8, NULL, 0, &again->done);
	if (again->ret || !again->left)
		complete(&again->finished);
}

static void post_again(struct kunit *test, struct vt_pair *pair, const struct vt_kind *kind)
{
	struct again *again = vt_buf(test, DEPTH * sizeof(*again));
	u8 *buf = vt_buf(test, 8);
	int i, ret;

	for (i = 0; i < DEPTH; i++) {
		again[i] = (struct again) {
			.done.done	= again_done,
			.ep		= pair->b.ep,
			.buf		= buf,
			.left		= ROUNDS / DEPTH,
		};
		init_completion(&again[i].finished);
		vt_recv(test, &pair->b, buf, 8, &again[i].done);
	}
	for (i = 0; i < ROUNDS; i++) {
		while ((ret = fi_inject(pair->a.ep, &i, sizeof(i), 0)) == -EAGAIN)
			cond_resched();
		KUNIT_ASSERT_EQ(test, ret, 0);
	}
	for (i = 0; i < DEPTH; i++) {
		KUNIT_EXPECT_TRUE(test, vt_completed(&again[i].finished));
		KUNIT_EXPECT_EQ(test, again[i].ret, 0);
		KUNIT_EXPECT_EQ(test, again[i].left, 0);
	}
}

/* The queue is full of receives all the time, and each has room for the next */
static void a_callback_posts_again_in_a_full_queue(struct kunit *test)
{
	with_each_kind(test, post_again);
}

/* After fi_close() the memory of requests is the client's again */
static void again_sent(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct again *again = container_of(done, struct again, done);

	if (entry->err || !--again->left)
		again->ret = -entry->err;
	else
		again->ret = fi_send(again->ep, again->buf, 8, NULL, 0, &again->done);
	if (again->ret || !again->left)
		complete(&again->finished);
}

/* With nothing else to do, as all receives are there */
static void a_callback_sends_the_next_message(struct kunit *test)
{
	struct again *again = vt_buf(test, sizeof(*again));
	struct request *rx[CHAIN];
	int i, k;

	conf_serve(test);
	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct vt_pair pair = {};

		vt_join(test, &pair, &kinds[k]);
		for (i = 0; i < CHAIN; i++)
			rx[i] = post_recv(test, &pair.b, vt_buf(test, 8));
		again->done.done = again_sent;
		again->ep = pair.a.ep;
		again->buf = vt_buf(test, 8);
		again->left = CHAIN;
		init_completion(&again->finished);
		KUNIT_ASSERT_EQ(test, fi_send(again->ep, again->buf, 8, NULL, 0, &again->done), 0);
		KUNIT_EXPECT_TRUE(test, vt_completed(&again->finished));
		KUNIT_EXPECT_EQ(test, again->ret, 0);
		for (i = 0; i < CHAIN; i++)
			finished(test, rx[i], FI_MSG | FI_RECV, 0);
		vt_pair_close(test, &pair);
	}
}

static void close_both(struct kunit *test, struct vt_pair *pair, const struct vt_kind *kind)
{
	struct request *rx[DEPTH];
	u8 *buf = vt_buf(test, 8);
	int i, calls[DEPTH];

	for (i = 0; i < DEPTH; i++)
		rx[i] = post_recv(test, &pair->b, buf);
	vt_close(test, &pair->b.ep->fid);
	for (i = 0; i < DEPTH; i++)
		calls[i] = atomic_read(&rx[i]->calls);
	vt_close(test, &pair->b.tx->cq->fid);
	for (i = 0; i < DEPTH; i++) {
		KUNIT_EXPECT_LE(test, calls[i], 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&rx[i]->calls), calls[i]);
	}
	vt_close(test, &pair->a.ep->fid);
	pair->b.ep = NULL;
}

static void no_callback_comes_after_close(struct kunit *test)
{
	with_each_kind(test, close_both);
}

static void a_threshold_beside_callbacks_is_refused(struct kunit *test)
{
	struct fi_cq_attr attr = {
		.wait_obj	= FI_WAIT_DONE,
		.wait_cond	= FI_CQ_COND_THRESHOLD,
	};
	struct fid_cq *cq;

	vt_open_info(test, vt_of(test)->info);
	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &cq, NULL), -EINVAL);
}

static struct kunit_case done_cases[] = {
	KUNIT_CASE_PARAM(every_operation_can_have_a_callback, conf_gen_params),
	KUNIT_CASE_PARAM(there_is_nothing_to_read, conf_gen_params),
	KUNIT_CASE_PARAM(what_is_flushed_says_so, conf_gen_msg),
	KUNIT_CASE_PARAM(without_a_context_nothing_is_called, conf_gen_params),
	KUNIT_CASE_PARAM(a_callback_posts_again_in_a_full_queue, conf_gen_params),
	KUNIT_CASE_PARAM(a_callback_sends_the_next_message, conf_gen_params),
	KUNIT_CASE_PARAM(no_callback_comes_after_close, conf_gen_params),
	KUNIT_CASE_PARAM(a_threshold_beside_callbacks_is_refused, conf_gen_params),
	{}
};

struct kunit_suite conf_done_suite = {
	.name		= "kofi_conformance_done",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= done_cases,
};
