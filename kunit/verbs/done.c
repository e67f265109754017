// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A callback per operation (FI_WAIT_DONE).
 *
 * A request is what a client would have: its own struct with a struct fi_done in
 * it.  Callbacks write to their request only.
 */
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include "verbs.h"

#define VT_DEPTH	4
#define VT_ROUNDS	200

/**
 * struct vt_request - An operation
 * @done: its callback
 * @entry: what the callback was told
 * @calls: how often it was called
 * @in_task: in process context
 * @finished: completed by the callback
 */
struct vt_request {
	struct fi_done		done;
	struct fi_done_entry	entry;
	atomic_t		calls;
	bool			in_task;
	struct completion	finished;
};

static void vt_request_done(struct fi_done *done,
			    const struct fi_done_entry *entry)
{
	struct vt_request *request =
		container_of(done, struct vt_request, done);

	request->entry = *entry;
	request->in_task = in_task();
	atomic_inc(&request->calls);
	complete(&request->finished);
}

static void vt_request_init(struct vt_request *request)
{
	*request = (struct vt_request) { .done.done = vt_request_done };
	init_completion(&request->finished);
}

static struct vt_request *vt_request(struct kunit *test)
{
	struct vt_request *request = vt_buf(test, sizeof(*request));

	vt_request_init(request);
	return request;
}

static void vt_finished(struct kunit *test, struct vt_request *request)
{
	unsigned long limit = msecs_to_jiffies(VT_PATIENCE_MS);

	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&request->finished,
							  limit), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&request->calls), 1);
}

static const struct vt_kind vt_done_kinds[] = {
	{ "softirq", FI_WAIT_DONE, FI_COMP_SOFTIRQ },
	{ "worker", FI_WAIT_DONE, FI_COMP_WORKQUEUE },
};

KUNIT_ARRAY_PARAM_DESC(vt_done_kind, vt_done_kinds, name);

static void open_pair(struct kunit *test, struct vt_pair *pair,
		      const struct vt_kind *kind)
{
	struct fi_info *hints = vt_hints(test);

	hints->tx_attr->size = VT_DEPTH;
	hints->rx_attr->size = VT_DEPTH;
	vt_serve(test, AF_INET, hints);
	vt_join(test, pair, kind);
}

static void each_operation_calls_its_own(struct kunit *test)
{
	const struct vt_kind *kind = test->param_value;
	struct vt_request *tx = vt_request(test), *rx = vt_request(test);
	u8 *buf = vt_buf(test, 64);
	struct vt_pair pair = {};
	u64 data;

	open_pair(test, &pair, kind);
	vt_fill(buf, 32, 1);
	KUNIT_ASSERT_EQ(test, fi_recv(pair.b.ep, buf + 32, 32, NULL, 0,
				      &rx->done), 0);
	data = vt_senddata(test, &pair.a, buf, 20, 77, &tx->done);
	vt_finished(test, rx);
	vt_finished(test, tx);

	KUNIT_EXPECT_EQ(test, rx->entry.err, 0);
	KUNIT_EXPECT_EQ(test, rx->entry.flags,
			FI_MSG | FI_RECV | (data ? FI_REMOTE_CQ_DATA : 0));
	KUNIT_EXPECT_EQ(test, rx->entry.len, 20);
	KUNIT_EXPECT_EQ(test, rx->entry.data, data);
	KUNIT_EXPECT_EQ(test, tx->entry.err, 0);
	KUNIT_EXPECT_EQ(test, tx->entry.flags, FI_MSG | FI_SEND);
	KUNIT_EXPECT_EQ(test, rx->in_task, kind->comp_ctx == FI_COMP_WORKQUEUE);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf + 32, 20, 1));
}

/* The short way that receives have for it must leave nothing for the next one either */
static void the_end_of_a_key_is_told(struct kunit *test)
{
	struct vt_request *tx = vt_request(test), *rx = vt_request(test);
	struct vt_request *next = vt_request(test);
	u8 *buf = vt_buf(test, 64);
	struct kvec iov = { buf, 20 };
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.context	= &tx->done,
	};
	struct vt_pair pair = {};
	struct fid_mr *mr;

	open_pair(test, &pair, test->param_value);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, vt_buf(test, 64),
					64, FI_REMOTE_WRITE, 0, 0, 0, &mr,
					NULL), 0);
	vt_adopt(test, &mr->fid);
	msg.data = fi_mr_key(mr);
	KUNIT_ASSERT_EQ(test, fi_recv(pair.b.ep, buf + 32, 32, NULL, 0,
				      &rx->done), 0);
	KUNIT_ASSERT_EQ(test, fi_recv(pair.b.ep, buf + 32, 32, NULL, 0,
				      &next->done), 0);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_COMPLETION |
					 FI_REMOTE_INV), 0);
	vt_finished(test, rx);
	vt_finished(test, tx);
	KUNIT_EXPECT_EQ(test, rx->entry.err, 0);
	KUNIT_EXPECT_EQ(test, rx->entry.flags, FI_MSG | FI_RECV | FI_REMOTE_INV);
	KUNIT_EXPECT_EQ(test, rx->entry.len, 20);
	KUNIT_EXPECT_EQ(test, rx->entry.data, msg.data);

	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, 8, NULL, 0, NULL), 0);
	vt_finished(test, next);
	KUNIT_EXPECT_EQ(test, next->entry.flags, FI_MSG | FI_RECV);
	KUNIT_EXPECT_EQ(test, next->entry.data, 0);
}

/* A place in the queue that does not come back would be missed soon */
static void a_send_gives_the_place_of_its_registration_back(struct kunit *test)
{
	struct vt_request *tx = vt_request(test), *rx = vt_request(test);
	struct kvec iov = { vt_buf(test, PAGE_SIZE), PAGE_SIZE };
	struct fi_mr_attr attr = {
		.mr_iov		= &iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_WRITE,
	};
	u8 *buf = vt_buf(test, 8);
	struct vt_pair pair = {};
	struct fid_mr *mr;
	int i;

	open_pair(test, &pair, test->param_value);
	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr,
					    FI_MR_ENDPOINT, &mr), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(mr, &pair.a.ep->fid, 0), 0);
	for (i = 0; i < 3 * VT_DEPTH; i++) {
		vt_request_init(tx);
		vt_request_init(rx);
		KUNIT_ASSERT_EQ(test, fi_recv(pair.b.ep, buf, 8, NULL, 0,
					      &rx->done), 0);
		KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
		KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, 8, NULL, 0,
					      &tx->done), 0);
		vt_finished(test, tx);
		vt_finished(test, rx);
		KUNIT_EXPECT_EQ(test, tx->entry.flags, FI_MSG | FI_SEND);
		KUNIT_EXPECT_EQ(test, tx->entry.err, 0);

		vt_request_init(tx);
		KUNIT_ASSERT_EQ(test, fi_mr_disable(mr, 0, &tx->done), 0);
		vt_finished(test, tx);
		KUNIT_EXPECT_EQ(test, tx->entry.flags, FI_RMA);
		KUNIT_ASSERT_EQ(test, fi_mr_refresh(mr, &attr, 0), 0);
	}
}

static void there_is_nothing_to_read(struct kunit *test)
{
	const struct vt_kind *kind = test->param_value;
	struct fi_cq_err_entry error = {};
	struct vt_pair pair = {};
	struct fi_cq_entry entry;

	open_pair(test, &pair, kind);
	KUNIT_EXPECT_EQ(test, fi_cq_read(pair.a.tx->cq, &entry, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cq_sread(pair.a.tx->cq, &entry, 1, NULL, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(pair.a.tx->cq, &error, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_cq_signal(pair.a.tx->cq), -EINVAL);
}

static void what_is_flushed_says_so(struct kunit *test)
{
	struct vt_request *rx[VT_DEPTH];
	u8 *buf = vt_buf(test, 8);
	struct vt_pair pair = {};
	int i;

	open_pair(test, &pair, test->param_value);
	for (i = 0; i < VT_DEPTH; i++) {
		rx[i] = vt_request(test);
		KUNIT_ASSERT_EQ(test, fi_recv(pair.b.ep, buf, 8, NULL, 0,
					      &rx[i]->done), 0);
	}
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.b.ep, 0), 0);
	for (i = 0; i < VT_DEPTH; i++) {
		vt_finished(test, rx[i]);
		KUNIT_EXPECT_EQ(test, rx[i]->entry.err, ECANCELED);
		KUNIT_EXPECT_EQ(test, rx[i]->entry.flags, FI_MSG | FI_RECV);
		KUNIT_EXPECT_NE(test, rx[i]->entry.prov_errno, 0);
	}
}

static void without_a_context_nothing_is_called(struct kunit *test)
{
	struct vt_request *rx = vt_request(test);
	u8 *buf = vt_buf(test, 16);
	struct vt_pair pair = {};

	open_pair(test, &pair, test->param_value);
	KUNIT_ASSERT_EQ(test, fi_recv(pair.b.ep, buf, 8, NULL, 0, &rx->done), 0);
	KUNIT_ASSERT_EQ(test, fi_recv(pair.b.ep, buf, 8, NULL, 0, NULL), 0);
	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, 8, NULL, 0, NULL), 0);
	vt_finished(test, rx);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
}

/**
 * struct vt_echo - Posts itself again from its callback
 * @done: the callback
 * @ep: where
 * @buf: receive buffer
 * @left: rounds to go
 * @ret: what the last post returned
 * @finished: completed after the last round
 */
struct vt_echo {
	struct fi_done		done;
	struct fid_ep		*ep;
	void			*buf;
	int			left;
	ssize_t			ret;
	struct completion	finished;
};

static void vt_echo_done(struct fi_done *done,
			 const struct fi_done_entry *entry)
{
	struct vt_echo *echo = container_of(done, struct vt_echo, done);

	if (entry->err || !--echo->left) {
		echo->ret = -entry->err;
		complete(&echo->finished);
		return;
	}
	echo->ret = fi_recv(echo->ep, echo->buf, 8, NULL, 0, &echo->done);
	if (echo->ret)
		complete(&echo->finished);
}

/* The queue is full of receives all the time, and each has room for the next */
static void a_callback_posts_again_in_a_full_queue(struct kunit *test)
{
	struct vt_echo *echo = vt_buf(test, VT_DEPTH * sizeof(*echo));
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	int i, ret;

	open_pair(test, &pair, test->param_value);
	for (i = 0; i < VT_DEPTH; i++) {
		echo[i] = (struct vt_echo) {
			.done.done	= vt_echo_done,
			.ep		= pair.b.ep,
			.buf		= buf,
			.left		= VT_ROUNDS / VT_DEPTH,
		};
		init_completion(&echo[i].finished);
		KUNIT_ASSERT_EQ(test, fi_recv(pair.b.ep, buf, 8, NULL, 0,
					      &echo[i].done), 0);
	}
	for (i = 0; i < VT_ROUNDS; i++) {
		while ((ret = fi_inject(pair.a.ep, &i, sizeof(i), 0)) == -EAGAIN)
			cond_resched();
		KUNIT_ASSERT_EQ(test, ret, 0);
	}
	for (i = 0; i < VT_DEPTH; i++) {
		KUNIT_EXPECT_NE(test, wait_for_completion_timeout
				(&echo[i].finished,
				 msecs_to_jiffies(VT_PATIENCE_MS)), 0);
		KUNIT_EXPECT_EQ(test, echo[i].ret, 0);
		KUNIT_EXPECT_EQ(test, echo[i].left, 0);
	}
}

/* After fi_close() the memory of requests is the client's again */
static void no_callback_comes_after_close(struct kunit *test)
{
	struct vt_request *rx[VT_DEPTH];
	u8 *buf = vt_buf(test, 8);
	struct vt_pair pair = {};
	int i, calls[VT_DEPTH];

	open_pair(test, &pair, test->param_value);
	for (i = 0; i < VT_DEPTH; i++) {
		rx[i] = vt_request(test);
		KUNIT_ASSERT_EQ(test, fi_recv(pair.b.ep, buf, 8, NULL, 0,
					      &rx[i]->done), 0);
	}
	vt_close(test, &pair.b.ep->fid);
	for (i = 0; i < VT_DEPTH; i++)
		calls[i] = atomic_read(&rx[i]->calls);
	vt_close(test, &pair.b.tx->cq->fid);
	for (i = 0; i < VT_DEPTH; i++) {
		KUNIT_EXPECT_LE(test, calls[i], 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&rx[i]->calls), calls[i]);
	}
}

static void a_threshold_beside_callbacks_is_refused(struct kunit *test)
{
	struct fi_cq_attr attr = {
		.wait_obj	= FI_WAIT_DONE,
		.wait_cond	= FI_CQ_COND_THRESHOLD,
	};
	struct fid_cq *cq;

	vt_open(test, AF_INET, NULL);
	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &cq, NULL),
			-EINVAL);
}

static struct kunit_case vt_done_cases[] = {
	KUNIT_CASE_PARAM(each_operation_calls_its_own, vt_done_kind_gen_params),
	KUNIT_CASE_PARAM(the_end_of_a_key_is_told, vt_done_kind_gen_params),
	KUNIT_CASE_PARAM(a_send_gives_the_place_of_its_registration_back, vt_done_kind_gen_params),
	KUNIT_CASE_PARAM(there_is_nothing_to_read, vt_done_kind_gen_params),
	KUNIT_CASE_PARAM(what_is_flushed_says_so, vt_done_kind_gen_params),
	KUNIT_CASE_PARAM(without_a_context_nothing_is_called,
			 vt_done_kind_gen_params),
	KUNIT_CASE_PARAM(a_callback_posts_again_in_a_full_queue,
			 vt_done_kind_gen_params),
	KUNIT_CASE_PARAM(no_callback_comes_after_close, vt_done_kind_gen_params),
	KUNIT_CASE(a_threshold_beside_callbacks_is_refused),
	{}
};

struct kunit_suite kofi_verbs_done_suite = {
	.name		= "kofi_verbs_done",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= vt_done_cases,
};
