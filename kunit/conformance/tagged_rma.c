// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads and writes of the memory of tagged receives (FI_TAGGED_RMA), with the one outcome that
 * each of them has; see the top of include/rdma/fi_rma.h.
 *
 * @a of a pair reads and writes, @b has the receives.
 */
#include <linux/delay.h>
#include <rdma/fi_tagged.h>
#include "conformance.h"

#define CAPS	(FI_TAGGED | FI_RMA | FI_TAGGED_RMA)
#define TAG	0x10001
#define LEN	512
#define ROUNDS	1000
#define LONG	SZ_128K	/* comes in pieces, so the cancel may meet it under way */

static ssize_t access(struct vt_end *end, bool write, void *buf, size_t len, u64 tag, u64 flags)
{
	const struct kvec iov = { buf, len };
	const struct fi_rma_iov rma = { .len = len, .key = tag };
	const struct fi_msg_rma msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.rma_iov	= &rma,
		.rma_iov_count	= 1,
		.context	= vt_ctx(2),
		.data		= 0x77,
	};

	flags |= FI_TAGGED | FI_COMPLETION;
	return write ? fi_writemsg(end->ep, &msg, flags) : fi_readmsg(end->ep, &msg, flags);
}

/* false: there are none, and the case has seen that they are refused */
static bool tagged_rma_join(struct kunit *test, struct vt_pair *pair)
{
	bool has = conf_want(test, CAPS);
	int no = conf_has(test, FI_RMA | FI_WRITE) ? -FI_EBADFLAGS : -ENOSYS;
	u8 *buf = vt_buf(test, 8);

	conf_serve(test);
	vt_join(test, pair, &conf_tagged_kind);
	if (has)
		return true;
	KUNIT_EXPECT_EQ(test, access(&pair->a, true, buf, 8, TAG, 0), no);
	return false;
}

static void post(struct kunit *test, struct vt_end *end, void *buf, size_t len, u64 tag,
		 void *context)
{
	KUNIT_ASSERT_EQ(test, fi_trecv(vt_rx(end), buf, len, NULL, FI_ADDR_UNSPEC, tag, 0, context),
			0);
}

/* The operation that is under way ends with @err, and nothing else happens to either end */
static void ends_alone(struct kunit *test, struct vt_pair *pair, int err)
{
	struct vt_comp comp = vt_failed(test, pair->a.tx);

	KUNIT_EXPECT_EQ(test, comp.err, err);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(2));
	vt_none(test, pair->b.rx);
	vt_ping(test, &pair->a, &pair->b);
	vt_ping(test, &pair->b, &pair->a);
}

/* Both ends of an operation of @len bytes succeed */
static void both_done(struct kunit *test, struct vt_pair *pair, bool write, size_t len)
{
	u64 kind = write ? FI_WRITE : FI_READ;
	struct vt_comp comp;

	comp = vt_done(test, pair->a.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_RMA | kind);
	comp = vt_done(test, pair->b.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_RMA | kind | FI_RECV);
	KUNIT_EXPECT_EQ(test, comp.tag, TAG);
	KUNIT_EXPECT_EQ(test, comp.len, len);
}

static void tagged_access_is_claimed_or_refused(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	struct kvec iov = { buf, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };

	tagged_rma_join(test, &pair);
	/* Messages do not have the flag in any case */
	if (conf_has(test, FI_MSG | FI_SEND))
		KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_TAGGED), -FI_EBADFLAGS);
	vt_none(test, pair.a.tx);
}

static void peers_reach_the_receive_with_the_tag(struct kunit *test)
{
	static const size_t lens[] = { LEN, LEN - 1, 1, 0 };
	u8 *mine = vt_buf(test, LEN), *theirs = vt_buf(test, LEN);
	struct vt_pair pair = {};
	bool write;
	int i;

	if (!tagged_rma_join(test, &pair))
		return;
	for (i = 0; i < 2 * ARRAY_SIZE(lens); i++) {
		size_t len = lens[i / 2];

		write = i & 1;
		vt_fill(mine, LEN, 2 * i);
		vt_fill(theirs, LEN, 2 * i + 1);
		post(test, &pair.b, theirs, LEN, TAG, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, access(&pair.a, write, mine, len, TAG, 0), 0);
		both_done(test, &pair, write, len);
		KUNIT_EXPECT_TRUE(test, vt_filled(mine, len, 2 * i + !write));
		KUNIT_EXPECT_TRUE(test, vt_filled(theirs, len, 2 * i + !write));
		/* It is used once */
		KUNIT_ASSERT_EQ(test, access(&pair.a, write, mine, len, TAG, 0), 0);
		ends_alone(test, &pair, FI_ENOMSG);
	}
}

static void a_longer_access_fails_at_both_ends(struct kunit *test)
{
	u8 *mine = vt_buf(test, LEN), *theirs = vt_buf(test, LEN);
	struct vt_pair pair = {};
	struct vt_comp comp;
	int write;

	if (!tagged_rma_join(test, &pair))
		return;
	for (write = 0; write < 2; write++) {
		vt_fill(mine, LEN, 1);
		vt_fill(theirs, LEN, 2);
		post(test, &pair.b, theirs, LEN - 1, TAG, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, access(&pair.a, write, mine, LEN, TAG, 0), 0);
		comp = vt_failed(test, pair.b.rx);
		KUNIT_EXPECT_EQ(test, comp.err, EMSGSIZE);
		KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
		KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_RMA | FI_RECV |
				(write ? FI_WRITE : FI_READ));
		ends_alone(test, &pair, EMSGSIZE);
		KUNIT_EXPECT_TRUE(test, vt_filled(mine, LEN, 1));
		KUNIT_EXPECT_TRUE(test, vt_filled(theirs, LEN, 2));
	}
}

/* And never waits for one */
static void an_access_without_a_receive_fails(struct kunit *test)
{
	u8 *mine = vt_buf(test, LEN), *theirs = vt_buf(test, LEN);
	struct vt_pair pair = {};
	int write;

	if (!tagged_rma_join(test, &pair))
		return;
	for (write = 0; write < 2; write++) {
		vt_fill(mine, LEN, 1);
		vt_fill(theirs, LEN, 2);
		/* Another tag */
		post(test, &pair.b, theirs, LEN, TAG + 1, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, access(&pair.a, write, mine, LEN, TAG, 0), 0);
		ends_alone(test, &pair, FI_ENOMSG);
		/* The access before does not take a receive that comes later */
		post(test, &pair.b, theirs, LEN, TAG, vt_ctx(1));
		vt_none(test, pair.b.rx);
		KUNIT_EXPECT_TRUE(test, vt_filled(theirs, LEN, 2));
		KUNIT_ASSERT_EQ(test, access(&pair.a, write, mine, LEN, TAG, 0), 0);
		both_done(test, &pair, write, LEN);
		/* Cancelled */
		KUNIT_ASSERT_EQ(test, fi_cancel(&pair.b.ep->fid, vt_ctx(1)), 0);
		KUNIT_EXPECT_EQ(test, vt_failed(test, pair.b.rx).err, ECANCELED);
		KUNIT_ASSERT_EQ(test, access(&pair.a, write, mine, LEN, TAG + 1, 0), 0);
		ends_alone(test, &pair, FI_ENOMSG);
	}
}

static void the_oldest_receive_that_matches_is_the_target(struct kunit *test)
{
	u8 *mine = vt_buf(test, 8), *theirs = vt_buf(test, 3 * 8);
	struct vt_pair pair = {};
	int i;

	if (!tagged_rma_join(test, &pair))
		return;
	post(test, &pair.b, theirs, 8, TAG + 2, vt_ctx(9));
	KUNIT_ASSERT_EQ(test, fi_trecv(pair.b.ep, theirs + 8, 8, NULL, FI_ADDR_UNSPEC, 0, U64_MAX,
				       vt_ctx(1)), 0);
	post(test, &pair.b, theirs + 16, 8, TAG, vt_ctx(1));
	for (i = 1; i < 3; i++) {
		vt_fill(mine, 8, i);
		KUNIT_ASSERT_EQ(test, access(&pair.a, true, mine, 8, TAG, 0), 0);
		both_done(test, &pair, true, 8);
		KUNIT_EXPECT_TRUE(test, vt_filled(theirs + 8 * i, 8, i));
	}
}

/* A buffer for several messages is no target, and stays */
static void a_multi_receive_is_no_target(struct kunit *test)
{
	u8 *mine = vt_buf(test, LEN), *theirs = vt_buf(test, LEN);
	struct kvec iov = { theirs, LEN };
	const struct fi_msg_tagged msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.addr		= FI_ADDR_UNSPEC,
		.tag		= TAG,
		.context	= vt_ctx(1),
	};
	struct vt_pair pair = {};

	if (!tagged_rma_join(test, &pair) || !conf_has(test, FI_TAGGED_MULTI_RECV))
		return;
	KUNIT_ASSERT_EQ(test, fi_trecvmsg(pair.b.ep, &msg, FI_MULTI_RECV | FI_COMPLETION), 0);
	KUNIT_ASSERT_EQ(test, access(&pair.a, true, mine, LEN, TAG, 0), 0);
	ends_alone(test, &pair, FI_ENOMSG);
	KUNIT_EXPECT_EQ(test, fi_cancel(&pair.b.ep->fid, vt_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, pair.b.rx).err, ECANCELED);
}

static void a_receive_for_another_peer_is_no_target(struct kunit *test)
{
	u8 *mine = vt_buf(test, LEN), *theirs = vt_buf(test, LEN);
	struct vt_pair pair = {};
	fi_addr_t self;
	int write;

	if (!tagged_rma_join(test, &pair) || !vt_is_rdm(vt_of(test)->info) ||
	    !conf_has(test, FI_DIRECTED_RECV))
		return;
	self = vt_know(test, &pair.b, &pair.b);
	for (write = 0; write < 2; write++) {
		KUNIT_ASSERT_EQ(test, fi_trecv(pair.b.ep, theirs, LEN, NULL, self, TAG, 0,
					       vt_ctx(3)), 0);
		KUNIT_ASSERT_EQ(test, access(&pair.a, write, mine, LEN, TAG, 0), 0);
		ends_alone(test, &pair, FI_ENOMSG);
		/* A receive for this peer */
		KUNIT_ASSERT_EQ(test, fi_trecv(pair.b.ep, theirs, LEN, NULL, 0, TAG, 0, vt_ctx(1)),
				0);
		KUNIT_ASSERT_EQ(test, access(&pair.a, write, mine, LEN, TAG, 0), 0);
		both_done(test, &pair, write, LEN);
		KUNIT_ASSERT_EQ(test, fi_cancel(&pair.b.ep->fid, vt_ctx(3)), 0);
		KUNIT_EXPECT_EQ(test, vt_failed(test, pair.b.rx).err, ECANCELED);
	}
}

/* Memory of a client that has not asked for this stays its own */
static void an_endpoint_without_the_capability_is_no_target(struct kunit *test)
{
	u8 *mine = vt_buf(test, LEN), *theirs = vt_buf(test, LEN);
	struct vt_pair pair = {};
	struct fi_info *info;
	int write;

	if (!vt_is_rdm(vt_of(test)->info) || !conf_want(test, CAPS))
		return;
	info = vt_dup(test, vt_of(test)->info);
	info->caps &= ~FI_TAGGED_RMA;
	conf_serve(test);
	vt_client(test, &pair.a, &vt_default_kind);
	vt_end_open(test, &pair.b, info, &vt_default_kind);
	vt_meet(test, &pair);
	post(test, &pair.b, theirs, LEN, TAG, vt_ctx(1));
	for (write = 0; write < 2; write++) {
		KUNIT_ASSERT_EQ(test, access(&pair.a, write, mine, LEN, TAG, 0), 0);
		ends_alone(test, &pair, EACCES);
	}
	/* It cannot name such a receive of another endpoint either */
	KUNIT_EXPECT_EQ(test, access(&pair.b, true, mine, LEN, TAG, 0), -FI_EBADFLAGS);
}

static void a_write_brings_data(struct kunit *test)
{
	u8 *mine = vt_buf(test, 64), *theirs = vt_buf(test, 64);
	struct vt_pair pair = {};
	struct vt_comp comp;

	if (!tagged_rma_join(test, &pair))
		return;
	vt_fill(mine, 64, 5);
	post(test, &pair.b, theirs, 64, TAG, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, access(&pair.a, true, mine, 64, TAG, FI_REMOTE_CQ_DATA | FI_INJECT),
			0);
	memset(mine, 0, 64);
	comp = vt_done(test, pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_RMA | FI_WRITE | FI_RECV |
			FI_REMOTE_CQ_DATA);
	KUNIT_EXPECT_EQ(test, comp.data, 0x77);
	KUNIT_EXPECT_TRUE(test, vt_filled(theirs, 64, 5));
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, access(&pair.a, false, mine, 64, TAG, FI_REMOTE_CQ_DATA),
			-FI_EBADFLAGS);
}

static void other_forms_of_tagged_access_are_refused(struct kunit *test)
{
	struct fi_rma_iov rma[2] = { { .len = 8, .key = TAG }, { .key = TAG } };
	struct fi_rma_iov offset = { .addr = 1, .len = 8, .key = TAG };
	struct fi_rma_iov other = { .len = 7, .key = TAG };
	u8 *buf = vt_buf(test, 8);
	struct kvec iov = { buf, 8 };
	struct fi_msg_rma msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.rma_iov	= rma,
		.rma_iov_count	= 2,
	};
	struct vt_pair pair = {};

	if (!tagged_rma_join(test, &pair))
		return;
	KUNIT_EXPECT_EQ(test, fi_writemsg(pair.a.ep, &msg, FI_TAGGED), -EINVAL);
	msg.rma_iov_count = 1;
	msg.rma_iov = &offset;
	KUNIT_EXPECT_EQ(test, fi_readmsg(pair.a.ep, &msg, FI_TAGGED), -EINVAL);
	msg.rma_iov = &other;
	KUNIT_EXPECT_EQ(test, fi_readmsg(pair.a.ep, &msg, FI_TAGGED), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_writemsg(pair.a.ep, &msg, FI_TAGGED | FI_COMMIT_COMPLETE),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_writemsg(pair.a.ep, &msg, FI_TAGGED | FI_SAVE), -FI_EBADFLAGS);
	vt_none(test, pair.a.tx);
}

static void a_shared_receive_is_a_target(struct kunit *test)
{
	u8 *mine = vt_buf(test, LEN), *theirs = vt_buf(test, LEN);
	struct vt_pair pair = {};

	if (!conf_want(test, CAPS) || !vt_of(test)->info->domain_attr->max_ep_srx_ctx)
		return;
	vt_of(test)->info->caps &= ~FI_DIRECTED_RECV;
	vt_of(test)->info->rx_attr->caps &= ~FI_DIRECTED_RECV;
	vt_of(test)->info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	conf_serve(test);
	pair.b.srx = conf_srx(test);
	conf_accept_shared(test, &pair);
	post(test, &pair.b, theirs, LEN, TAG, vt_ctx(1));
	vt_fill(theirs, LEN, 9);
	KUNIT_ASSERT_EQ(test, access(&pair.a, false, mine, LEN, TAG, 0), 0);
	vt_done(test, pair.a.tx, vt_ctx(2));
	vt_done(test, pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(mine, LEN, 9));
	KUNIT_ASSERT_EQ(test, access(&pair.a, false, mine, LEN, TAG, 0), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, pair.a.tx).err, FI_ENOMSG);
}

/* One round of the race; the receive is taken by the access or by the cancel */
static void race_round(struct kunit *test, struct vt_pair *pair, u8 *mine, u8 *theirs, int i)
{
	size_t len = i & 60 ? LEN : LONG;
	struct vt_comp comp, rx;
	int ret;

	vt_fill(mine, len, 1);
	vt_fill(theirs, len, 2);
	post(test, &pair->b, theirs, len, TAG, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, access(&pair->a, i & 1, mine, len, TAG, 0), 0);
	if (i & 2)
		usleep_range(10, 20);
	ret = fi_cancel(&pair->b.ep->fid, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, vt_wait(pair->b.rx, &rx), 1);
	KUNIT_ASSERT_EQ(test, vt_wait(pair->a.tx, &comp), 1);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(2));
	KUNIT_EXPECT_PTR_EQ(test, rx.context, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, rx.err, ret ? 0 : ECANCELED);
	KUNIT_EXPECT_EQ(test, comp.err, ret ? 0 : FI_ENOMSG);
	if (ret)
		KUNIT_ASSERT_EQ(test, ret, -ENOENT);
	KUNIT_EXPECT_TRUE(test, vt_filled(mine, len, ret && !(i & 1) ? 2 : 1));
	KUNIT_EXPECT_TRUE(test, vt_filled(theirs, len, ret && i & 1 ? 1 : 2));
}

static void a_cancel_ends_one_access_and_no_other_operation(struct kunit *test)
{
	u8 *mine = vt_buf(test, LONG), *theirs = vt_buf(test, LONG);
	u8 *out = vt_buf(test, 8), *in = vt_buf(test, 8);
	struct vt_pair pair = {};
	struct vt_comp comp;
	int i;

	if (!tagged_rma_join(test, &pair))
		return;
	/* The initiator's other operations complete in its queue, so they are unsignaled */
	for (i = 0; i < ROUNDS; i++) {
		vt_fill(out, 8, i);
		KUNIT_ASSERT_EQ(test, fi_trecv(pair.b.ep, in, 8, NULL, FI_ADDR_UNSPEC, TAG + 1, 0,
					       vt_ctx(3)), 0);
		race_round(test, &pair, mine, theirs, i);
		KUNIT_ASSERT_EQ(test, fi_tinject(pair.a.ep, out, 8, 0, TAG + 1), 0);
		comp = vt_done(test, pair.b.rx, vt_ctx(3));
		KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_RECV);
		KUNIT_ASSERT_TRUE(test, vt_filled(in, 8, i));
	}
	vt_ping(test, &pair.a, &pair.b);
}

static struct kunit_case tagged_rma_cases[] = {
	KUNIT_CASE_PARAM(tagged_access_is_claimed_or_refused, conf_gen_params),
	KUNIT_CASE_PARAM(peers_reach_the_receive_with_the_tag, conf_gen_params),
	KUNIT_CASE_PARAM(a_longer_access_fails_at_both_ends, conf_gen_params),
	KUNIT_CASE_PARAM(an_access_without_a_receive_fails, conf_gen_params),
	KUNIT_CASE_PARAM(the_oldest_receive_that_matches_is_the_target, conf_gen_params),
	KUNIT_CASE_PARAM(a_multi_receive_is_no_target, conf_gen_params),
	KUNIT_CASE_PARAM(a_receive_for_another_peer_is_no_target, conf_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_without_the_capability_is_no_target, conf_gen_params),
	KUNIT_CASE_PARAM(a_write_brings_data, conf_gen_params),
	KUNIT_CASE_PARAM(other_forms_of_tagged_access_are_refused, conf_gen_params),
	KUNIT_CASE_PARAM(a_shared_receive_is_a_target, conf_gen_params),
	KUNIT_CASE_PARAM(a_cancel_ends_one_access_and_no_other_operation, conf_gen_params),
	{}
};

struct kunit_suite conf_tagged_rma_suite = {
	.name		= "kofi_conformance_tagged_rma",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= tagged_rma_cases,
};
