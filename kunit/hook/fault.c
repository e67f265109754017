// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_hook_fault: what goes wrong by a rule, and that the rest of what the API promises
 * for such a case follows.
 */
#include "bed.h"

#define LEN	8

static void without_a_rule_everything_works(struct kunit *test)
{
	struct vt_pair pair = {};

	bed_open(test, BED_FAULT, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	vt_ping(test, &pair.a, &pair.b);
	vt_ping(test, &pair.b, &pair.a);
}

static void a_call_answers_with_the_error_of_the_rule(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};

	bed_open(test, BED_FAULT, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	/* The first one decides, and the second counts */
	bed_rules(test, "send,inject error 5 times=2\nsend error 6 after=9");
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(1)), -EIO);
	KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, buf, LEN, 0), -EIO);
	KUNIT_EXPECT_TRUE(test, bed_rule_fired("send,inject error 5 times=2", 2, 2));
	KUNIT_EXPECT_TRUE(test, bed_rule_fired("send error 6 after=9", 0, 1));
	vt_ping(test, &pair.a, &pair.b);
	vt_none(test, pair.a.tx);
}

/* What failed is followed by the end of its connection, and by nothing else */
static void an_operation_that_fails_ends_its_connection(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {}, other = {};
	union vt_event event;
	struct vt_comp comp;

	bed_open(test, BED_FAULT, FI_MSG);
	other.a.tx = vt_cq(test, &vt_default_kind, 2 * (vt_of(test)->info->tx_attr->size +
							vt_of(test)->info->rx_attr->size));
	pair.a.tx = other.a.tx;
	vt_join(test, &other, &vt_default_kind);
	vt_join(test, &pair, &vt_default_kind);
	bed_rules(test, "send fail 5 after=1 times=1");
	vt_ping(test, &pair.a, &pair.b);
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), 0);
	comp = vt_failed(test, pair.a.tx);
	KUNIT_EXPECT_EQ(test, comp.err, EIO);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(2));
	vt_event(test, pair.a.eq, FI_SHUTDOWN, &event);
	vt_event(test, pair.b.eq, FI_SHUTDOWN, &event);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(3)), -ESHUTDOWN);
	vt_none(test, pair.a.tx);

	/* Another operation with its context, on its queue */
	vt_recv(test, &other.b, buf, LEN, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_send(other.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), 0);
	vt_done(test, other.a.tx, vt_ctx(2));
}

static void an_operation_fails_in_its_callback(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair;
	union vt_event event;
	struct bed_ep *ep;
	int i;

	bed_open(test, BED_FAULT, FI_MSG);
	for (i = 0; i < BED_KINDS; i++) {
		ep = bed_join(test, &pair, &bed_kinds[i]);
		bed_rules(test, "send fail 71 times=1");
		vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), 0);
		bed_completed(test, &pair, ep, 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&ep->failed), 1);
		KUNIT_EXPECT_EQ(test, ep->err, EPROTO);
		vt_event(test, pair.a.eq, FI_SHUTDOWN, &event);
		vt_pair_close(test, &pair);
	}
}

/* The provider below refuses it, so there is nothing that could fail */
static void a_doomed_call_that_is_refused_dooms_no_other(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};
	size_t max;

	bed_open(test, BED_FAULT, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	max = vt_of(test)->info->ep_attr->max_msg_size;
	bed_rules(test, "send fail 5 times=1");
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, max + 1, NULL, 0, vt_ctx(2)), -EMSGSIZE);
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), 0);
	vt_done(test, pair.a.tx, vt_ctx(2));
	vt_done(test, pair.b.rx, vt_ctx(1));
	vt_no_event(test, pair.a.eq);
}

static void an_endpoint_closes_with_a_doomed_operation(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {}, other = {};

	bed_open(test, BED_FAULT, FI_MSG);
	other.a.tx = vt_cq(test, &vt_default_kind, 4 * (vt_of(test)->info->tx_attr->size +
							vt_of(test)->info->rx_attr->size));
	pair.a.tx = other.a.tx;
	vt_join(test, &pair, &vt_default_kind);
	bed_rules(test, "send fail 5 times=1");
	/* Nothing receives it */
	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), 0);
	vt_close(test, &pair.a.ep->fid);
	/* The same context on the same queue */
	vt_join(test, &other, &vt_default_kind);
	vt_recv(test, &other.b, buf, LEN, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_send(other.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), 0);
	vt_done(test, other.a.tx, vt_ctx(2));
	vt_done(test, other.b.rx, vt_ctx(1));
}

static void a_connection_ends_behind_an_operation(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};
	union vt_event event;

	bed_open(test, BED_FAULT, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	bed_rules(test, "rx shutdown times=1");
	vt_recv(test, &pair.a, buf, LEN, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, vt_failed(test, pair.a.rx).err, ECANCELED);
	vt_event(test, pair.a.eq, FI_SHUTDOWN, &event);
	vt_event(test, pair.b.eq, FI_SHUTDOWN, &event);
}

static void a_region_is_refused(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct fid_mr *mr;

	bed_open(test, BED_FAULT, FI_MSG | FI_RMA);
	bed_rules(test, "mr error 12 times=1");
	KUNIT_EXPECT_EQ(test, fi_mr_reg(vt_of(test)->domain, buf, LEN, FI_REMOTE_READ, 0, 1, 0, &mr,
					NULL), -ENOMEM);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, buf, LEN, FI_REMOTE_READ, 0, 1, 0, &mr,
					NULL), 0);
	vt_adopt(test, &mr->fid);
}

static void what_is_opened_is_refused(struct kunit *test)
{
	struct fi_cq_attr attr = {};
	struct fid_cq *cq;
	struct fid_ep *ep;

	bed_open(test, BED_FAULT, FI_MSG);
	bed_rules(test, "open error 23 times=2");
	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &cq, NULL), -ENFILE);
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, vt_of(test)->info, &ep, NULL),
			-ENFILE);
	KUNIT_ASSERT_EQ(test, fi_endpoint(vt_of(test)->domain, vt_of(test)->info, &ep, NULL), 0);
	vt_adopt(test, &ep->fid);
}

static void a_connection_is_refused_at_either_end(struct kunit *test)
{
	struct vt_pair pair = {};
	union vt_event event;

	bed_open(test, BED_FAULT, FI_MSG);
	bed_rules(test, "connect error 101 times=1\naccept error 12 times=1");
	vt_client(test, &pair.a, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_connect(pair.a.ep, &vt_of(test)->name, NULL, 0), -ENETUNREACH);
	vt_connect(test, &pair.a, NULL, 0);
	vt_end_open(test, &pair.b, vt_connreq(test, NULL), &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_accept(pair.b.ep, NULL, 0), -ENOMEM);
	vt_accept(test, &pair.b, NULL, 0);
	vt_event(test, pair.a.eq, FI_CONNECTED, &event);
	vt_ping(test, &pair.a, &pair.b);
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(without_a_rule_everything_works),
	KUNIT_CASE(a_call_answers_with_the_error_of_the_rule),
	KUNIT_CASE(an_operation_that_fails_ends_its_connection),
	KUNIT_CASE(an_operation_fails_in_its_callback),
	KUNIT_CASE(a_doomed_call_that_is_refused_dooms_no_other),
	KUNIT_CASE(an_endpoint_closes_with_a_doomed_operation),
	KUNIT_CASE(a_connection_ends_behind_an_operation),
	KUNIT_CASE(a_region_is_refused),
	KUNIT_CASE(what_is_opened_is_refused),
	KUNIT_CASE(a_connection_is_refused_at_either_end),
	{}
};

static struct kunit_suite fault_suite = {
	.name		= "kofi_hook_fault",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= fault_cases,
};

kunit_test_suite(fault_suite);
