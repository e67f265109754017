// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads over iWARP when the device fails: what they register beside themselves is
 * given back, and each of them ends once.
 *
 * That everything is unmapped once and nothing is left is for ht_exit() to check.
 */
#include <rdma/fi_rma.h>
#include <rdma/ib_verbs.h>
#include "mr.h"

#define HS_LEN	256

/**
 * struct hs - A pair whose first end reads from the second
 * @pair: the connection
 * @from: the memory it reads
 * @to: where it goes
 * @mr: the region of @from
 */
struct hs {
	struct vt_pair	pair;
	u8		*from;
	u8		*to;
	struct fid_mr	*mr;
};

static void hs_open(struct kunit *test, struct hs *hs)
{
	hm_serve(test, NULL);
	ht_join(test, &hs->pair);
	hs->from = ht_buf(test, HS_LEN);
	hs->to = ht_buf(test, 4 * HS_LEN);
	vt_fill(hs->from, HS_LEN, 5);
	KUNIT_ASSERT_EQ(test, hm_reg(test, hs->from, HS_LEN, &hs->mr), 0);
}

/* Two elements with a gap between them: two parts; each number has a place */
static ssize_t hs_read(struct hs *hs, unsigned long nr)
{
	u8 *to = hs->to + nr * HS_LEN;
	struct kvec iov[2] = { { to, 100 }, { to + 128, 100 } };

	return fi_readv(hs->pair.a.ep, iov, NULL, 2, 0, (uintptr_t)hs->from,
			fi_mr_key(hs->mr), vt_ctx(nr));
}

static void hs_expect_read(struct kunit *test, struct hs *hs)
{
	memset(hs->to, 0, HS_LEN);
	KUNIT_ASSERT_EQ(test, hs_read(hs, 0), 0);
	vt_done(test, hs->pair.a.tx, vt_ctx(0));
	KUNIT_EXPECT_MEMEQ(test, hs->to, hs->from, 100);
	KUNIT_EXPECT_MEMEQ(test, hs->to + 128, hs->from + 100, 100);
	KUNIT_EXPECT_EQ(test, hs->to[100], 0);
}

static void a_read_in_parts_is_one_operation(struct kunit *test)
{
	struct hs hs = {};
	int i;

	hs_open(test, &hs);
	for (i = 0; i < 40; i++)
		hs_expect_read(test, &hs);
	vt_none(test, hs.pair.a.tx);
}

/* A read of one part gets the region that was the first part of the read before it */
static void a_read_leaves_no_part_to_the_next_one(struct kunit *test)
{
	struct hs hs = {};
	unsigned int base;

	hs_open(test, &hs);
	hs_expect_read(test, &hs);
	base = fakehca_calls(ht_of(test)->hca, FAKEHCA_POST_SEND);
	KUNIT_ASSERT_EQ(test, fi_read(hs.pair.a.ep, hs.to, HS_LEN, NULL, 0, (uintptr_t)hs.from,
				      fi_mr_key(hs.mr), vt_ctx(1)), 0);
	vt_done(test, hs.pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, fakehca_calls(ht_of(test)->hca, FAKEHCA_POST_SEND), base + 2);
	KUNIT_EXPECT_MEMEQ(test, hs.to, hs.from, HS_LEN);
}

static void a_read_takes_a_registration_along(struct kunit *test)
{
	struct fid_mr *mr;
	struct hs hs = {};

	hs_open(test, &hs);
	mr = hm_reg_ep(test, hs.pair.a.ep);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	hs_expect_read(test, &hs);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(mr, FI_DISCARD, NULL), -EALREADY);
	KUNIT_ASSERT_EQ(test, fi_mr_disable(mr, 0, vt_ctx(1)), 0);
	vt_done(test, hs.pair.a.tx, vt_ctx(1));
}

static void enable_fails_with_a_region(struct kunit *test)
{
	struct vt_end end = {};
	int i;

	for (i = 1; i <= 16; i += 5) {
		if (i == 1)
			ht_open(test, NULL);
		ht_end_open(test, &end, vt_of(test)->info);
		fakehca_fail(ht_of(test)->hca, FAKEHCA_ALLOC_MR, i, -ENOMEM);
		KUNIT_EXPECT_EQ(test, fi_enable(end.ep), -ENOMEM);
		KUNIT_EXPECT_EQ(test, ht_stats(test).mrs, 0);
		KUNIT_EXPECT_EQ(test, fi_enable(end.ep), 0);
		vt_end_close(test, &end);
	}
}

static void a_read_that_cannot_be_mapped_leaves_nothing(struct kunit *test)
{
	struct hs hs = {};
	int i;

	hs_open(test, &hs);
	/* More often than there are regions, at the first part and at the second */
	for (i = 0; i < 40; i++) {
		fakehca_fail(ht_of(test)->hca, FAKEHCA_MAP_MR_SG, 1 + i % 2, -EIO);
		KUNIT_ASSERT_EQ(test, hs_read(&hs, 2), -EIO);
	}
	hs_expect_read(test, &hs);
	vt_none(test, hs.pair.a.tx);
}

struct hs_refusal {
	const char	*name;
	int		nth;
	int		err;
};

/* Work requests: register, read, register, read */
static const struct hs_refusal hs_refusals[] = {
	{ "the first one", 1, -EINVAL },
	{ "a part", 2, -EINVAL },
	{ "the last one", 4, -EINVAL },
	{ "no room for a part", 3, -ENOMEM },
};

KUNIT_ARRAY_PARAM_DESC(hs_refusal, hs_refusals, name);

/* The device may have taken a part of it, or keep what it refuses */
static void a_read_that_is_refused_ends_with_the_connection(struct kunit *test)
{
	const struct hs_refusal *param = test->param_value;
	struct hs hs = {};

	hs_open(test, &hs);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, param->nth, param->err);
	KUNIT_ASSERT_EQ(test, hs_read(&hs, 2), 0);
	ht_failed(test, hs.pair.a.tx, -param->err);
	vt_event(test, hs.pair.a.eq, FI_SHUTDOWN, NULL);
	vt_event(test, hs.pair.b.eq, FI_SHUTDOWN, NULL);
	fakehca_idle(ht_of(test)->hca);
	vt_none(test, hs.pair.a.tx);
	KUNIT_EXPECT_EQ(test, hs_read(&hs, 3), -ESHUTDOWN);
}

/* Whichever of its work requests it was: the reason is not lost behind what is flushed */
static void a_part_that_fails_fails_the_read(struct kunit *test)
{
	struct hs hs = {};

	hs_open(test, &hs);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_SEND_WC, 2, IB_WC_LOC_LEN_ERR);
	KUNIT_ASSERT_EQ(test, hs_read(&hs, 2), 0);
	KUNIT_EXPECT_EQ(test, ht_failed(test, hs.pair.a.tx, EMSGSIZE).data, 0);
	vt_event(test, hs.pair.a.eq, FI_SHUTDOWN, NULL);
	fakehca_idle(ht_of(test)->hca);
	vt_none(test, hs.pair.a.tx);
}

/* They are not lost, and the connection is closed whatever was in flight */
static void reads_in_flight_end_at_shutdown(struct kunit *test)
{
	struct hs hs = {};

	hs_open(test, &hs);
	fakehca_hold(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, hs_read(&hs, 2), 0);
	KUNIT_ASSERT_EQ(test, hs_read(&hs, 3), 0);
	KUNIT_EXPECT_EQ(test, fi_shutdown(hs.pair.a.ep, 0), 0);
	fakehca_release(ht_of(test)->hca);
	ht_failed(test, hs.pair.a.tx, ECANCELED);
	ht_failed(test, hs.pair.a.tx, ECANCELED);
	vt_event(test, hs.pair.a.eq, FI_SHUTDOWN, NULL);
	vt_none(test, hs.pair.a.tx);
}

/* Of each the completion waits for the client by then */
static void reads_that_are_flushed_twice_end_once(struct kunit *test)
{
	struct hs hs = {};

	hs_open(test, &hs);
	fakehca_hold(ht_of(test)->hca);
	fakehca_flush_twice(ht_of(test)->hca);
	KUNIT_ASSERT_EQ(test, hs_read(&hs, 1), 0);
	KUNIT_ASSERT_EQ(test, hs_read(&hs, 2), 0);
	KUNIT_EXPECT_EQ(test, fi_shutdown(hs.pair.a.ep, 0), 0);
	vt_event(test, hs.pair.a.eq, FI_SHUTDOWN, NULL);
	ht_each_once(test, hs.pair.a.tx, 2, ECANCELED);
	vt_close(test, &hs.pair.a.ep->fid);
	vt_none(test, hs.pair.a.tx);
	fakehca_release(ht_of(test)->hca);
}

static struct kunit_case hs_cases[] = {
	KUNIT_CASE(a_read_in_parts_is_one_operation),
	KUNIT_CASE(a_read_leaves_no_part_to_the_next_one),
	KUNIT_CASE(a_read_takes_a_registration_along),
	KUNIT_CASE(enable_fails_with_a_region),
	KUNIT_CASE(a_read_that_cannot_be_mapped_leaves_nothing),
	KUNIT_CASE_PARAM(a_read_that_is_refused_ends_with_the_connection, hs_refusal_gen_params),
	KUNIT_CASE(a_part_that_fails_fails_the_read),
	KUNIT_CASE(reads_in_flight_end_at_shutdown),
	KUNIT_CASE(reads_that_are_flushed_twice_end_once),
	{}
};

struct kunit_suite kofi_hca_read_region_suite = {
	.name		= "kofi_hca_read_region",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= hs_cases,
};
