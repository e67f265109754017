// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive contexts: messages land whichever endpoint they are for, each
 * endpoint has its own completions, one may go while the others stay, and no receive
 * gets lost.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <rdma/fi_rma.h>
#include "srx.h"

struct fi_info *srx_hints(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test);

	hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	hints->tx_attr->size = SRX_TX;
	hints->rx_attr->size = SRX_DEPTH;
	return hints;
}

struct fid_ep *srx_open(struct kunit *test, struct fi_rx_attr *attr)
{
	struct fid_ep *srx;

	KUNIT_ASSERT_EQ(test, fi_srx_context(vt_of(test)->domain, attr, &srx, vt_ctx(77)), 0);
	vt_adopt(test, &srx->fid);
	return srx;
}

/* What connects, with receives of its own */
struct fi_info *srx_plain(struct kunit *test)
{
	struct fi_info *info = vt_dup(test, vt_of(test)->info);

	info->ep_attr->rx_ctx_cnt = 1;
	return info;
}

void srx_serve(struct kunit *test, struct srx_set *set)
{
	vt_serve(test, AF_INET, srx_hints(test));
	set->eq = vt_eq(test, 0);
	set->srx = srx_open(test, vt_of(test)->info->rx_attr);
	set->buf = vt_buf(test, (SRX_DEPTH + 1) * SRX_LEN);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(set->srx, &set->eq->fid, 0), 0);
}

static u8 *srx_buf(const struct srx_set *set, unsigned long nr)
{
	return set->buf + nr * SRX_LEN;
}

void srx_post(struct kunit *test, struct srx_set *set, unsigned long nr)
{
	KUNIT_ASSERT_EQ(test, fi_recv(set->srx, srx_buf(set, nr), SRX_LEN, NULL, 0, vt_ctx(nr)), 0);
}

void srx_post_all(struct kunit *test, struct srx_set *set)
{
	unsigned long nr;

	for (nr = 0; nr < SRX_DEPTH; nr++)
		srx_post(test, set, nr);
}

/* Posts until there is no slot left and returns how many there were */
unsigned long srx_post_rest(struct kunit *test, struct srx_set *set)
{
	unsigned long count;
	ssize_t ret;

	for (count = 0; count <= SRX_DEPTH; count++) {
		ret = fi_recv(set->srx, srx_buf(set, SRX_DEPTH), SRX_LEN, NULL,
			      0, vt_ctx(SRX_DEPTH));
		if (ret)
			break;
	}
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	return count;
}

/* The second end accepts, with the queues that are set, and the first is connected */
static void srx_accept(struct kunit *test, struct vt_pair *pair, struct fi_info *info,
		       struct srx_set *set, const struct vt_kind *kind)
{
	KUNIT_ASSERT_EQ(test, info->ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT);
	pair->b.srx = set->srx;
	pair->b.tx = pair->b.tx ? : vt_cq(test, kind, SRX_TX + SRX_DEPTH);
	vt_end_open(test, &pair->b, info, kind);
	vt_accept(test, &pair->b, NULL, 0);
	vt_event(test, pair->a.eq, FI_CONNECTED, NULL);
}

void srx_join(struct kunit *test, struct srx_set *set, int nr, const struct vt_kind *kind)
{
	struct vt_pair *pair = &set->pairs[nr];

	vt_end_open(test, &pair->a, srx_plain(test), &vt_default_kind);
	vt_connect(test, &pair->a, NULL, 0);
	srx_accept(test, pair, vt_connreq(test, NULL), set, kind);
}

/* All on one queue, with a little more room than they need */
static struct vt_cq *srx_join_all(struct kunit *test, struct srx_set *set,
				  const struct vt_kind *kind)
{
	struct vt_cq *cq = vt_cq(test, kind, SRX_PAIRS * SRX_TX + SRX_DEPTH);
	int i;

	for (i = 0; i < SRX_PAIRS; i++) {
		set->pairs[i].b.tx = cq;
		srx_join(test, set, i, kind);
	}
	return cq;
}

/* A message of @seed, which has left when this returns */
void srx_send(struct kunit *test, struct srx_set *set, int nr, u8 seed)
{
	struct vt_end *end = &set->pairs[nr].a;
	u8 *out = vt_buf(test, SRX_LEN);

	vt_fill(out, SRX_LEN, seed);
	vt_send(test, end, out, SRX_LEN, vt_ctx(seed));
	vt_done(test, end->tx, vt_ctx(seed));
}

/* The next completion is a message of @seed; returns which receive has it */
unsigned long srx_arrived(struct kunit *test, struct srx_set *set, struct vt_cq *cq, u8 seed)
{
	struct vt_comp comp;
	unsigned long nr;

	KUNIT_ASSERT_EQ(test, vt_wait(cq, &comp), 1);
	KUNIT_ASSERT_EQ(test, comp.err, 0);
	nr = (unsigned long)comp.context;
	KUNIT_ASSERT_LE(test, nr, SRX_DEPTH);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV);
	KUNIT_EXPECT_EQ(test, comp.len, SRX_LEN);
	KUNIT_EXPECT_PTR_EQ(test, comp.buf, srx_buf(set, nr));
	KUNIT_EXPECT_TRUE(test, vt_filled(srx_buf(set, nr), SRX_LEN, seed));
	return nr;
}

static const struct vt_kind srx_kinds[] = {
	{ "sread", FI_WAIT_UNSPEC, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA },
	{ "polled", FI_WAIT_NONE, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA },
	{ "softirq", FI_WAIT_CALLBACK, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA },
	{ "worker", FI_WAIT_CALLBACK, FI_COMP_WORKQUEUE, FI_CQ_FORMAT_DATA },
};

KUNIT_ARRAY_PARAM_DESC(srx_kind, srx_kinds, name);

/* Each receive is used many times, by all endpoints in turn */
static void messages_land_whichever_endpoint_they_are_for(struct kunit *test)
{
	struct srx_set set = {};
	unsigned long nr;
	struct vt_cq *cq;
	int i;

	srx_serve(test, &set);
	srx_post_all(test, &set);
	cq = srx_join_all(test, &set, test->param_value);
	for (i = 0; i < 3 * SRX_DEPTH; i++) {
		srx_send(test, &set, i % SRX_PAIRS, i);
		nr = srx_arrived(test, &set, cq, i);
		KUNIT_EXPECT_EQ(test, nr, i % SRX_DEPTH);
		srx_post(test, &set, nr);
	}
	vt_none(test, cq);
}

static void completions_come_where_the_endpoint_is_bound(struct kunit *test)
{
	struct srx_set set = {};
	int i;

	srx_serve(test, &set);
	srx_post_all(test, &set);
	for (i = 0; i < SRX_PAIRS; i++) {
		/* The last one has one queue for both directions */
		if (i < SRX_PAIRS - 1)
			set.pairs[i].b.rx = vt_cq(test, &srx_kinds[i], SRX_DEPTH);
		srx_join(test, &set, i, &vt_default_kind);
	}
	for (i = SRX_PAIRS - 1; i >= 0; i--)
		srx_send(test, &set, i, i);
	for (i = 0; i < SRX_PAIRS; i++) {
		srx_arrived(test, &set, set.pairs[i].b.rx, i);
		vt_none(test, set.pairs[i].b.rx);
	}
}

/* It has a send queue like any other, and shares while it connects, too */
static void an_endpoint_that_connects_shares_as_well(struct kunit *test)
{
	struct vt_end *active, *passive;
	struct srx_set set = {};
	u8 *out = vt_buf(test, SRX_LEN);

	srx_serve(test, &set);
	srx_post_all(test, &set);
	active = &set.pairs[0].a;
	passive = &set.pairs[0].b;
	active->srx = set.srx;
	active->tx = vt_cq(test, &vt_default_kind, SRX_TX + SRX_DEPTH);
	srx_accept(test, &set.pairs[0], vt_dial(test, active), &set, &vt_default_kind);

	srx_send(test, &set, 0, 1);
	srx_arrived(test, &set, passive->rx, 1);
	vt_fill(out, SRX_LEN, 2);
	KUNIT_ASSERT_EQ(test, fi_inject(passive->ep, out, SRX_LEN, 0), 0);
	srx_arrived(test, &set, active->rx, 2);
}

static void counters_count_what_their_endpoint_receives(struct kunit *test)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_cntr *cntr[2];
	struct srx_set set = {};
	int i;

	srx_serve(test, &set);
	srx_post_all(test, &set);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, fi_cntr_open(vt_of(test)->domain, &attr, &cntr[i], NULL), 0);
		vt_adopt(test, &cntr[i]->fid);
		set.pairs[i].b.cntrs[0] = (struct tb_cntr) { cntr[i], FI_RECV };
		srx_join(test, &set, i, &vt_default_kind);
	}
	for (i = 0; i < 4; i++)
		srx_send(test, &set, i == 1, i);

	KUNIT_EXPECT_EQ(test, vt_cntr_wait(cntr[0], 3), 0);
	KUNIT_EXPECT_EQ(test, vt_cntr_wait(cntr[1], 1), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(cntr[0]), 3);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(cntr[1]), 1);
}

/* What a receive reports is for the endpoint that takes it to say */
static void selective_completion_is_the_endpoints(struct kunit *test)
{
	struct kvec iov = { .iov_len = SRX_LEN };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct srx_set set = {};

	srx_serve(test, &set);
	set.pairs[0].b.bind_flags = FI_SELECTIVE_COMPLETION;
	srx_join(test, &set, 0, &vt_default_kind);
	srx_join(test, &set, 1, &vt_default_kind);
	/* Silent for the first endpoint only, then reported by it, too */
	srx_post(test, &set, 0);
	srx_post(test, &set, 1);
	iov.iov_base = srx_buf(&set, 2);
	msg.context = vt_ctx(2);
	KUNIT_ASSERT_EQ(test, fi_recvmsg(set.srx, &msg, FI_COMPLETION), 0);

	srx_send(test, &set, 0, 10);
	srx_send(test, &set, 1, 11);
	KUNIT_EXPECT_EQ(test, srx_arrived(test, &set, set.pairs[1].b.rx, 11), 1);
	srx_send(test, &set, 0, 12);
	KUNIT_EXPECT_EQ(test, srx_arrived(test, &set, set.pairs[0].b.rx, 12), 2);
	KUNIT_EXPECT_TRUE(test, vt_filled(srx_buf(&set, 0), SRX_LEN, 10));
	vt_none(test, set.pairs[0].b.rx);
	KUNIT_EXPECT_EQ(test, srx_post_rest(test, &set), SRX_DEPTH);
}

static void default_flags_are_the_contexts(struct kunit *test)
{
	struct fi_rx_attr attr = {
		.size = SRX_DEPTH, .op_flags = FI_COMPLETION,
	};
	struct srx_set set = {};

	srx_serve(test, &set);
	vt_close(test, &set.srx->fid);
	set.srx = srx_open(test, &attr);
	set.pairs[0].b.bind_flags = FI_SELECTIVE_COMPLETION;
	srx_join(test, &set, 0, &vt_default_kind);
	srx_post(test, &set, 3);
	srx_send(test, &set, 0, 1);
	KUNIT_EXPECT_EQ(test, srx_arrived(test, &set, set.pairs[0].b.rx, 1), 3);
}

/**
 * struct srx_request - An operation with a callback
 * @done: the callback
 * @entry: what it was told
 * @called: completed by it
 */
struct srx_request {
	struct fi_done		done;
	struct fi_done_entry	entry;
	struct completion	called;
};

static void srx_request_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct srx_request *request =
		container_of(done, struct srx_request, done);

	request->entry = *entry;
	complete(&request->called);
}

static void callbacks_come_for_shared_receives(struct kunit *test)
{
	static const struct vt_kind kind = {
		.name		= "done",
		.wait_obj	= FI_WAIT_DONE,
	};
	struct srx_request *request = vt_buf(test, sizeof(*request));
	struct srx_set set = {};

	srx_serve(test, &set);
	set.pairs[0].b.rx = vt_cq(test, &kind, SRX_DEPTH);
	srx_join(test, &set, 0, &vt_default_kind);
	init_completion(&request->called);
	request->done.done = srx_request_done;
	KUNIT_ASSERT_EQ(test, fi_recv(set.srx, srx_buf(&set, 0), SRX_LEN, NULL,
				      0, &request->done), 0);
	srx_send(test, &set, 0, 5);
	KUNIT_ASSERT_TRUE(test, vt_completed(&request->called));
	KUNIT_EXPECT_EQ(test, request->entry.err, 0);
	KUNIT_EXPECT_EQ(test, request->entry.len, SRX_LEN);
	KUNIT_EXPECT_TRUE(test, vt_filled(srx_buf(&set, 0), SRX_LEN, 5));
}

/* A write with data takes a receive, where there is such a thing */
static void remote_cq_data_take_a_shared_receive(struct kunit *test)
{
	struct srx_set set = {};
	struct vt_comp comp;
	u8 *out = vt_buf(test, 8);
	ssize_t ret;

	srx_serve(test, &set);
	srx_post_all(test, &set);
	srx_join(test, &set, 0, &vt_default_kind);
	ret = fi_senddata(set.pairs[0].a.ep, out, 8, NULL, 0x1234, 0, vt_ctx(1));
	if (!vt_of(test)->info->domain_attr->cq_data_size) {
		KUNIT_EXPECT_EQ(test, ret, -ENOSYS);
		return;
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	comp = vt_done(test, set.pairs[0].b.rx, vt_ctx(0));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV | FI_REMOTE_CQ_DATA);
	KUNIT_EXPECT_EQ(test, comp.data, 0x1234);
}

/* And leaves its buffer alone */
static void a_write_with_data_takes_a_shared_receive(struct kunit *test)
{
	u8 *out = vt_buf(test, 8), *target = vt_buf(test, 8);
	struct srx_set set = {};
	struct vt_comp comp;
	struct fid_mr *mr;
	ssize_t ret;

	srx_serve(test, &set);
	vt_of(test)->info->caps |= FI_RMA;
	srx_post_all(test, &set);
	srx_join(test, &set, 0, &vt_default_kind);
	mr = vt_reg(test, target, 8, FI_REMOTE_WRITE);
	vt_fill(out, 8, 1);
	ret = fi_writedata(set.pairs[0].a.ep, out, 8, NULL, 0x5678, 0,
			   (uintptr_t)target, fi_mr_key(mr), vt_ctx(1));
	if (!vt_of(test)->info->domain_attr->cq_data_size) {
		KUNIT_EXPECT_EQ(test, ret, -ENOSYS);
		return;
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	comp = vt_done(test, set.pairs[0].b.rx, vt_ctx(0));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	KUNIT_EXPECT_EQ(test, comp.data, 0x5678);
	KUNIT_EXPECT_TRUE(test, vt_filled(target, 8, 1));
	KUNIT_EXPECT_NULL(test, memchr_inv(srx_buf(&set, 0), 0, SRX_LEN));
}

static void lists_of_every_kind_are_received_into(struct kunit *test)
{
	struct fi_rx_attr attr = { .size = SRX_DEPTH, .iov_limit = 2 };
	struct kvec iov[3] = {};
	struct srx_set set = {};
	struct bio_vec bvec;
	struct fi_msg msg = {
		.type = FI_BUF_BVEC, .msg_bvec = &bvec, .iov_count = 1,
		.context = vt_ctx(1),
	};
	int i;

	srx_serve(test, &set);
	vt_close(test, &set.srx->fid);
	set.srx = srx_open(test, &attr);
	srx_join(test, &set, 0, &vt_default_kind);
	for (i = 0; i < 3; i++) {
		iov[i].iov_base = srx_buf(&set, 0) + i * SRX_LEN / 2;
		iov[i].iov_len = SRX_LEN / 2;
	}
	bvec_set_page(&bvec, virt_to_page(srx_buf(&set, 1)), SRX_LEN,
		      offset_in_page(srx_buf(&set, 1)));

	KUNIT_EXPECT_EQ(test, fi_recvv(set.srx, iov, NULL, 3, 0, NULL), -EINVAL);
	KUNIT_ASSERT_EQ(test, fi_recvv(set.srx, iov, NULL, 2, 0, vt_ctx(0)), 0);
	KUNIT_ASSERT_EQ(test, fi_recvmsg(set.srx, &msg, 0), 0);
	srx_send(test, &set, 0, 1);
	KUNIT_EXPECT_EQ(test, srx_arrived(test, &set, set.pairs[0].b.rx, 1), 0);
	srx_send(test, &set, 0, 2);
	vt_done(test, set.pairs[0].b.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(srx_buf(&set, 1), SRX_LEN, 2));
}

/* The queue is as deep as it says, and a slot is free when it has been read */
static void a_full_context_says_so(struct kunit *test)
{
	struct srx_set set = {};

	srx_serve(test, &set);
	srx_join(test, &set, 0, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, srx_post_rest(test, &set), SRX_DEPTH);
	srx_send(test, &set, 0, 1);
	KUNIT_EXPECT_EQ(test, srx_post_rest(test, &set), 0);
	srx_arrived(test, &set, set.pairs[0].b.rx, 1);
	KUNIT_EXPECT_EQ(test, srx_post_rest(test, &set), 1);
}

/* On iWARP there is nobody to wait, and the connection ends; others go on */
static void a_message_without_receive_waits_or_ends_its_connection(struct kunit *test)
{
	bool waits = false;
	struct srx_set set = {};
	u8 *out = vt_buf(test, SRX_LEN);

	srx_serve(test, &set);
	waits = vt_of(test)->info->domain_attr->resource_mgmt == FI_RM_ENABLED;
	srx_join(test, &set, 0, &vt_default_kind);
	srx_join(test, &set, 1, &vt_default_kind);
	vt_fill(out, SRX_LEN, 9);
	vt_send(test, &set.pairs[0].a, out, SRX_LEN, vt_ctx(9));
	if (!waits)
		vt_event(test, set.pairs[0].a.eq, FI_SHUTDOWN, NULL);
	/* The message has come, and has found none */
	msleep(20);
	vt_none(test, set.pairs[0].b.rx);
	srx_post_all(test, &set);
	if (waits) {
		srx_arrived(test, &set, set.pairs[0].b.rx, 9);
		vt_done(test, set.pairs[0].a.tx, vt_ctx(9));
	}
	srx_send(test, &set, 1, 10);
	srx_arrived(test, &set, set.pairs[1].b.rx, 10);
}

static void a_message_too_long_is_an_error_of_its_endpoint(struct kunit *test)
{
	struct srx_set set = {};
	struct vt_comp comp;
	u8 *out = vt_buf(test, 2 * SRX_LEN);

	srx_serve(test, &set);
	srx_post_all(test, &set);
	srx_join(test, &set, 0, &vt_default_kind);
	srx_join(test, &set, 1, &vt_default_kind);
	vt_send(test, &set.pairs[0].a, out, 2 * SRX_LEN, vt_ctx(1));
	comp = vt_failed(test, set.pairs[0].b.rx);
	KUNIT_EXPECT_EQ(test, comp.err, FI_ETRUNC);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(0));
	srx_send(test, &set, 1, 2);
	srx_arrived(test, &set, set.pairs[1].b.rx, 2);
	vt_close(test, &set.pairs[0].b.ep->fid);
	KUNIT_EXPECT_EQ(test, srx_post_rest(test, &set), 2);
}

static void receives_stay_when_an_endpoint_goes(struct kunit *test)
{
	struct srx_set set = {};
	struct vt_cq *cq;
	int i;

	srx_serve(test, &set);
	srx_post_all(test, &set);
	cq = srx_join_all(test, &set, test->param_value);
	srx_send(test, &set, 0, 0);
	srx_arrived(test, &set, cq, 0);
	vt_close(test, &set.pairs[0].b.ep->fid);
	vt_none(test, cq);

	for (i = 1; i < SRX_DEPTH; i++) {
		srx_send(test, &set, 1 + i % 2, i);
		KUNIT_EXPECT_EQ(test, srx_arrived(test, &set, cq, i), i);
	}
	vt_none(test, cq);
	KUNIT_EXPECT_EQ(test, srx_post_rest(test, &set), SRX_DEPTH);
}

/* Neither what it leaves unread nor what nobody has polled is lost or read */
static void unread_completions_give_their_slots_back(struct kunit *test)
{
	const struct vt_kind *kind = test->param_value;
	struct srx_set set = {};
	struct vt_cq *cq;
	int i;

	srx_serve(test, &set);
	srx_post_all(test, &set);
	cq = vt_cq(test, kind, SRX_DEPTH);
	set.pairs[0].b.rx = cq;
	set.pairs[1].b.rx = cq;
	srx_join(test, &set, 0, &vt_default_kind);
	srx_join(test, &set, 1, &vt_default_kind);
	for (i = 0; i < 4; i++)
		srx_send(test, &set, i % 2, i);

	vt_close(test, &set.pairs[0].b.ep->fid);

	KUNIT_EXPECT_EQ(test, srx_post_rest(test, &set), 2);
	KUNIT_EXPECT_EQ(test, srx_arrived(test, &set, cq, 1), 1);
	KUNIT_EXPECT_EQ(test, srx_arrived(test, &set, cq, 3), 3);
	vt_none(test, cq);
	KUNIT_EXPECT_EQ(test, srx_post_rest(test, &set), 2);
}

/* Sends in flight to an endpoint that is closed: one or none of them is told */
static void an_endpoint_may_go_in_the_middle_of_traffic(struct kunit *test)
{
	const struct vt_kind *kind = test->param_value;
	u8 *out = vt_buf(test, SRX_LEN);
	struct srx_set set = {};
	struct vt_cq *cq;
	int i, round;

	srx_serve(test, &set);
	srx_post_all(test, &set);
	cq = vt_cq(test, kind, SRX_DEPTH);
	set.pairs[0].b.rx = cq;
	srx_join(test, &set, 0, &vt_default_kind);
	for (round = 0; round < 4; round++) {
		set.pairs[1] = (struct vt_pair) {};
		set.pairs[1].b.rx = cq;
		srx_join(test, &set, 1, &vt_default_kind);
		for (i = 0; i < SRX_TX; i++)
			vt_send(test, &set.pairs[1].a, out, SRX_LEN, NULL);
		vt_close(test, &set.pairs[1].b.ep->fid);
		vt_none(test, cq);
		vt_close(test, &set.pairs[1].a.ep->fid);
		/* As many as it has taken, and the others go on */
		srx_post_rest(test, &set);
		for (i = 0; i < SRX_DEPTH; i++) {
			srx_send(test, &set, 0, i);
			srx_arrived(test, &set, cq, i);
		}
		srx_post_all(test, &set);
		KUNIT_ASSERT_EQ(test, srx_post_rest(test, &set), 0);
	}
}

/* What nobody took has no completion, and its memory is free */
static void receives_vanish_with_their_context(struct kunit *test)
{
	struct srx_set set = {};

	srx_serve(test, &set);
	srx_join(test, &set, 0, &vt_default_kind);
	srx_post_all(test, &set);
	KUNIT_EXPECT_EQ(test, fi_close(&set.srx->fid), -EBUSY);
	srx_send(test, &set, 0, 1);
	srx_arrived(test, &set, set.pairs[0].b.rx, 1);
	vt_close(test, &set.pairs[0].b.ep->fid);
	vt_close(test, &set.srx->fid);
	vt_none(test, set.pairs[0].b.rx);
}

static struct kunit_case srx_cases[] = {
	KUNIT_CASE_PARAM(messages_land_whichever_endpoint_they_are_for, srx_kind_gen_params),
	KUNIT_CASE(completions_come_where_the_endpoint_is_bound),
	KUNIT_CASE(an_endpoint_that_connects_shares_as_well),
	KUNIT_CASE(counters_count_what_their_endpoint_receives),
	KUNIT_CASE(selective_completion_is_the_endpoints),
	KUNIT_CASE(default_flags_are_the_contexts),
	KUNIT_CASE(callbacks_come_for_shared_receives),
	KUNIT_CASE(remote_cq_data_take_a_shared_receive),
	KUNIT_CASE(a_write_with_data_takes_a_shared_receive),
	KUNIT_CASE(lists_of_every_kind_are_received_into),
	KUNIT_CASE(a_full_context_says_so),
	KUNIT_CASE(a_message_without_receive_waits_or_ends_its_connection),
	KUNIT_CASE(a_message_too_long_is_an_error_of_its_endpoint),
	KUNIT_CASE_PARAM(receives_stay_when_an_endpoint_goes, srx_kind_gen_params),
	KUNIT_CASE_PARAM(unread_completions_give_their_slots_back, srx_kind_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_may_go_in_the_middle_of_traffic, srx_kind_gen_params),
	KUNIT_CASE(receives_vanish_with_their_context),
	{}
};

struct kunit_suite kofi_verbs_srx_suite = {
	.name		= "kofi_verbs_srx",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= srx_cases,
};
