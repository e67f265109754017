// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Callbacks (FI_WAIT_DONE) of operations that use more than their own place in the device's queue,
 * or report more than others.
 *
 * A request is what a client would have: its own struct with a struct fi_done in
 * it.  Callbacks write to their request only.
 */
#include <linux/jiffies.h>
#include "verbs.h"

#define VT_DEPTH	4

/**
 * struct vt_request - An operation
 * @done: its callback
 * @entry: what the callback was told
 * @calls: how often it was called
 * @finished: completed by the callback
 */
struct vt_request {
	struct fi_done		done;
	struct fi_done_entry	entry;
	atomic_t		calls;
	struct completion	finished;
};

static void vt_request_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct vt_request *request = container_of(done, struct vt_request, done);

	request->entry = *entry;
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
	KUNIT_ASSERT_TRUE(test, vt_completed(&request->finished));
	KUNIT_EXPECT_EQ(test, atomic_read(&request->calls), 1);
}

static const struct vt_kind vt_done_kinds[] = {
	{ "softirq", FI_WAIT_DONE, FI_COMP_SOFTIRQ },
	{ "worker", FI_WAIT_DONE, FI_COMP_WORKQUEUE },
};

KUNIT_ARRAY_PARAM_DESC(vt_done_kind, vt_done_kinds, name);

static void open_pair(struct kunit *test, struct vt_pair *pair, const struct vt_kind *kind)
{
	struct fi_info *hints = vt_hints(test);

	hints->tx_attr->size = VT_DEPTH;
	hints->rx_attr->size = VT_DEPTH;
	vt_serve(test, AF_INET, hints);
	vt_join(test, pair, kind);
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
	mr = vt_reg(test, vt_buf(test, 64), 64, FI_REMOTE_WRITE);
	msg.data = fi_mr_key(mr);
	vt_recv(test, &pair.b, buf + 32, 32, &rx->done);
	vt_recv(test, &pair.b, buf + 32, 32, &next->done);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_COMPLETION | FI_REMOTE_INV), 0);
	vt_finished(test, rx);
	vt_finished(test, tx);
	KUNIT_EXPECT_EQ(test, rx->entry.err, 0);
	KUNIT_EXPECT_EQ(test, rx->entry.flags, FI_MSG | FI_RECV | FI_REMOTE_INV);
	KUNIT_EXPECT_EQ(test, rx->entry.len, 20);
	KUNIT_EXPECT_EQ(test, rx->entry.data, msg.data);

	vt_send(test, &pair.a, buf, 8, NULL);
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
	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_ENDPOINT, &mr), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(mr, &pair.a.ep->fid, 0), 0);
	for (i = 0; i < 3 * VT_DEPTH; i++) {
		vt_request_init(tx);
		vt_request_init(rx);
		vt_recv(test, &pair.b, buf, 8, &rx->done);
		KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
		vt_send(test, &pair.a, buf, 8, &tx->done);
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

static struct kunit_case vt_done_cases[] = {
	KUNIT_CASE_PARAM(the_end_of_a_key_is_told, vt_done_kind_gen_params),
	KUNIT_CASE_PARAM(a_send_gives_the_place_of_its_registration_back, vt_done_kind_gen_params),
	{}
};

struct kunit_suite kofi_verbs_done_suite = {
	.name		= "kofi_verbs_done",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= vt_done_cases,
};
