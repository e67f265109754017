// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads and writes of peers: ranges of several regions, copied in steps, and ranges
 * that are refused.
 */
#include <linux/err.h>
#include <kofi/cntr.h>
#include <kofi/iov.h>
#include <kofi/rma.h>
#include "mr/mr.h"

#define BOTH		(FI_REMOTE_READ | FI_REMOTE_WRITE)
#define NR_REGIONS	3
#define REGION		6000
#define GUARD		0xa5

/**
 * struct rma_test - Regions of each kind, and buffers of the initiator
 * @ud: their domain
 * @ep: the endpoint that accesses come through
 * @buf: memory of the regions, in pages
 * @mr: the regions; the key of each is its place in the array, plus 1
 * @local: the initiator's list
 * @mem: its buffer
 */
struct rma_test {
	struct ut_domain	*ud;
	struct fid_ep		ep;
	u8			*buf[NR_REGIONS];
	struct kofi_mr		*mr[NR_REGIONS];
	struct kofi_iov		*local;
	u8			*mem;
};

static void close_regions(void *data)
{
	struct rma_test *rt = data;
	int i;

	for (i = 0; i < NR_REGIONS; i++)
		if (rt->mr[i])
			rt->mr[i]->mr.fid.ops->close(&rt->mr[i]->mr.fid);
}

static struct rma_test *new_test(struct kunit *test)
{
	static const enum fi_buf_type types[] = { FI_BUF_KVEC, FI_BUF_BVEC,
						  FI_BUF_SGL };
	struct rma_test *rt = vt_buf(test, sizeof(*rt));
	struct ut_list *list;
	int i;

	rt->ud = ut_domain(test, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_regions, rt), 0);
	for (i = 0; i < NR_REGIONS; i++) {
		rt->buf[i] = ut_pages(test, 1);
		memset(rt->buf[i], GUARD, 2 * PAGE_SIZE);
		list = ut_list(test, types[i]);
		ut_list_add(test, list, rt->buf[i], 1000);
		ut_list_add(test, list, rt->buf[i] + 1000, REGION - 1000);
		KUNIT_ASSERT_EQ(test, ut_mr_reg(rt->ud, list, BOTH, i + 1, 0, &rt->mr[i]), 0);
	}
	rt->mem = ut_pages(test, 2);
	rt->local = vt_buf(test, KOFI_IOV_SIZE(2));
	list = ut_list(test, FI_BUF_BVEC);
	ut_list_add(test, list, rt->mem, 77);
	ut_list_add(test, list, rt->mem + 77, 3 * PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, kofi_iov_set(rt->local, 2, list->type, list->bvec,
					   list->count, SIZE_MAX, false), 0);
	return rt;
}

static int get(struct rma_test *rt, struct kofi_rma *rma,
	       const struct fi_rma_iov *iov, size_t count, u64 access)
{
	memset(rma, 0xa5, sizeof(*rma));
	return kofi_rma_get(rma, &rt->ud->dom.map, &rt->ep, iov, count, access);
}

/* Four ranges, the third of which is empty, 7077 bytes */
static const struct fi_rma_iov ranges[] = {
	{ .addr = 10, .len = 77, .key = 1 },
	{ .addr = 990, .len = 3000, .key = 2 },
	{ .addr = 5, .len = 0, .key = 2 },
	{ .addr = REGION - 4000, .len = 4000, .key = 3 },
};

#define RANGES_LEN	(77 + 3000 + 4000)

/* Copies all of the ranges, @step at a time; returns how much that was */
static size_t write_steps(struct rma_test *rt, const struct kofi_rma *rma, size_t step)
{
	struct iov_iter from;
	size_t done = 0, part;

	kofi_iov_iter(rt->local, ITER_SOURCE, 0, RANGES_LEN, &from);
	do {
		part = kofi_rma_write(rma, done, &from, step);
		done += part;
	} while (part);
	return done;
}

static const struct step {
	const char	*name;
	size_t		len;
} steps[] = {
	{ "at once", SIZE_MAX },
	{ "by 1000", 1000 },
	{ "by 77", 77 },
	{ "by 1", 1 },
};

static void a_write_fills_its_ranges_in_order(struct kunit *test)
{
	const struct step *step = test->param_value;
	struct rma_test *rt = new_test(test);
	struct kofi_rma rma;

	vt_fill(rt->mem, RANGES_LEN, 1);
	KUNIT_ASSERT_EQ(test, get(rt, &rma, ranges, 4, FI_REMOTE_WRITE), 0);
	KUNIT_EXPECT_EQ(test, rma.len, RANGES_LEN);

	KUNIT_EXPECT_EQ(test, write_steps(rt, &rma, step->len), RANGES_LEN);
	kofi_rma_done(&rma, 0);

	KUNIT_EXPECT_MEMEQ(test, rt->buf[0] + 10, rt->mem, 77);
	KUNIT_EXPECT_MEMEQ(test, rt->buf[1] + 990, rt->mem + 77, 3000);
	KUNIT_EXPECT_MEMEQ(test, rt->buf[2] + 2000, rt->mem + 3077, 4000);
	KUNIT_EXPECT_EQ(test, rt->buf[0][9], GUARD);
	KUNIT_EXPECT_EQ(test, rt->buf[0][87], GUARD);
	KUNIT_EXPECT_EQ(test, rt->buf[1][989], GUARD);
	KUNIT_EXPECT_EQ(test, rt->buf[1][3990], GUARD);
	KUNIT_EXPECT_EQ(test, rt->buf[2][1999], GUARD);
	KUNIT_EXPECT_EQ(test, rt->buf[2][6000], GUARD);
}

static void a_read_takes_its_ranges_in_order(struct kunit *test)
{
	const struct step *step = test->param_value;
	struct rma_test *rt = new_test(test);
	struct kofi_rma rma;
	struct iov_iter to;
	size_t done = 0, part;
	int i;

	for (i = 0; i < NR_REGIONS; i++)
		vt_fill(rt->buf[i], REGION, i);
	KUNIT_ASSERT_EQ(test, get(rt, &rma, ranges, 4, FI_REMOTE_READ), 0);
	rt->mem[RANGES_LEN] = GUARD;
	kofi_iov_iter(rt->local, ITER_DEST, 0, SIZE_MAX, &to);
	do {
		part = kofi_rma_read(&rma, done, &to, step->len);
		done += part;
	} while (part);
	kofi_rma_done(&rma, 0);

	KUNIT_EXPECT_EQ(test, done, RANGES_LEN);
	KUNIT_EXPECT_MEMEQ(test, rt->mem, rt->buf[0] + 10, 77);
	KUNIT_EXPECT_MEMEQ(test, rt->mem + 77, rt->buf[1] + 990, 3000);
	KUNIT_EXPECT_MEMEQ(test, rt->mem + 3077, rt->buf[2] + 2000, 4000);
	KUNIT_EXPECT_EQ(test, rt->mem[RANGES_LEN], GUARD);
}

static void a_copy_ends_with_the_initiators_data(struct kunit *test)
{
	struct rma_test *rt = new_test(test);
	struct iov_iter iter;
	struct kofi_rma rma;

	KUNIT_ASSERT_EQ(test, get(rt, &rma, ranges, 4, BOTH), 0);
	kofi_iov_iter(rt->local, ITER_SOURCE, 0, 100, &iter);
	KUNIT_EXPECT_EQ(test, kofi_rma_write(&rma, 0, &iter, SIZE_MAX), 100);
	kofi_iov_iter(rt->local, ITER_DEST, 0, 100, &iter);
	KUNIT_EXPECT_EQ(test, kofi_rma_read(&rma, 0, &iter, SIZE_MAX), 100);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 0);
	kofi_rma_done(&rma, 0);
}

static void iterators_end_where_ranges_end(struct kunit *test)
{
	struct rma_test *rt = new_test(test);
	struct kofi_rma rma;
	struct iov_iter iter;

	KUNIT_ASSERT_EQ(test, get(rt, &rma, ranges, 4, FI_REMOTE_READ), 0);
	KUNIT_EXPECT_EQ(test, kofi_rma_iter(&rma, ITER_SOURCE, 0, SIZE_MAX, &iter), 77);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 77);
	KUNIT_EXPECT_EQ(test, kofi_rma_iter(&rma, ITER_SOURCE, 76, SIZE_MAX, &iter), 1);
	KUNIT_EXPECT_EQ(test, kofi_rma_iter(&rma, ITER_SOURCE, 77, SIZE_MAX, &iter), 3000);
	KUNIT_EXPECT_EQ(test, kofi_rma_iter(&rma, ITER_SOURCE, 77, 20, &iter), 20);
	KUNIT_EXPECT_EQ(test, kofi_rma_iter(&rma, ITER_SOURCE, 3077, SIZE_MAX, &iter), 4000);
	KUNIT_EXPECT_EQ(test, kofi_rma_iter(&rma, ITER_SOURCE, RANGES_LEN, SIZE_MAX, &iter), 0);
	KUNIT_EXPECT_EQ(test, kofi_rma_iter(&rma, ITER_SOURCE, SIZE_MAX, SIZE_MAX, &iter), 0);
	KUNIT_EXPECT_EQ(test, kofi_rma_iter(&rma, ITER_SOURCE, 0, 0, &iter), 0);
	kofi_rma_put(&rma);
}

/**
 * struct bad_range - A range that is refused
 * @name: why
 * @range: the range
 */
struct bad_range {
	const char		*name;
	struct fi_rma_iov	range;
};

static const struct bad_range bad_ranges[] = {
	{ "key", { .addr = 0, .len = 8, .key = 99 } },
	{ "key of no bytes", { .addr = 0, .len = 0, .key = 99 } },
	{ "end", { .addr = REGION - 7, .len = 8, .key = 3 } },
	{ "length", { .addr = 1, .len = SIZE_MAX, .key = 3 } },
	{ "address", { .addr = U64_MAX, .len = 8, .key = 3 } },
	{ "right", { .addr = 0, .len = 8, .key = 4 } },
	{ "endpoint", { .addr = 0, .len = 8, .key = 0 } },
};

/* A region of an endpoint that the accesses do not come through */
static struct kofi_mr *new_foreign(struct kunit *test, struct rma_test *rt, struct fid_ep *ep)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	struct kofi_mr *mr;

	ut_list_add(test, list, rt->mem, 8);
	ep->fid.fclass = FI_CLASS_EP;
	KUNIT_ASSERT_EQ(test, ut_mr_reg(rt->ud, list, BOTH, 0, FI_MR_ENDPOINT, &mr), 0);
	KUNIT_ASSERT_EQ(test, mr->mr.fid.ops->bind(&mr->mr.fid, &ep->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(&mr->mr), 0);
	return mr;
}

static void a_range_that_is_refused_holds_nothing(struct kunit *test)
{
	const struct bad_range *bad = test->param_value;
	struct fi_rma_iov iov[2] = { ranges[0], bad->range };
	struct fid_ep other = {};
	struct rma_test *rt = new_test(test);
	struct kofi_mr *foreign, *readable;
	struct kofi_rma rma;
	int i;

	foreign = new_foreign(test, rt, &other);
	readable = ut_mr(test, rt->ud, rt->mem, 8, FI_REMOTE_READ, 4);
	if (!iov[1].key)
		iov[1].key = foreign->mr.key;

	KUNIT_EXPECT_EQ(test, get(rt, &rma, iov, 2, FI_REMOTE_WRITE), -EACCES);

	KUNIT_EXPECT_EQ(test, rma.count, 0);
	/* Closes wait for references */
	for (i = 0; i < NR_REGIONS; i++)
		KUNIT_EXPECT_EQ(test, atomic_read(&rt->mr[i]->refs), 1);
	ut_mr_close(test, foreign);
	ut_mr_close(test, readable);
}

static void a_number_of_ranges_that_makes_no_sense_is_refused(struct kunit *test)
{
	struct fi_rma_iov iov[KOFI_RMA_MAX_IOV + 1];
	struct rma_test *rt = new_test(test);
	struct kofi_rma rma;
	int i;

	for (i = 0; i < ARRAY_SIZE(iov); i++)
		iov[i] = ranges[0];
	KUNIT_EXPECT_EQ(test, get(rt, &rma, iov, ARRAY_SIZE(iov), BOTH), -EINVAL);
	KUNIT_EXPECT_EQ(test, get(rt, &rma, iov, SIZE_MAX, BOTH), -EINVAL);
	KUNIT_EXPECT_EQ(test, get(rt, &rma, iov, 0, BOTH), -EINVAL);
	KUNIT_EXPECT_EQ(test, rma.count, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->mr[0]->refs), 1);
}

static void regions_are_held_by_a_piece_only(struct kunit *test)
{
	struct rma_test *rt = new_test(test);
	struct kofi_rma rma;
	int i, idx;

	KUNIT_ASSERT_EQ(test, get(rt, &rma, ranges, 4, BOTH), 0);
	for (i = 0; i < NR_REGIONS; i++)
		KUNIT_EXPECT_EQ(test, atomic_read(&rt->mr[i]->refs), 1);
	idx = kofi_rma_enter(&rma);
	KUNIT_EXPECT_GE(test, idx, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->mr[0]->refs), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->mr[1]->refs), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->mr[2]->refs), 2);
	kofi_rma_leave(&rma, idx);

	kofi_rma_done(&rma, 0);
	for (i = 0; i < NR_REGIONS; i++)
		KUNIT_EXPECT_EQ(test, atomic_read(&rt->mr[i]->refs), 1);
}

static int close_region(void *data)
{
	struct kofi_mr *mr = data;

	return mr->mr.fid.ops->close(&mr->mr.fid);
}

/* One of several: the others are the operation's no more either, and still count it */
static void a_region_can_be_closed_between_two_pieces(struct kunit *test)
{
	struct rma_test *rt = new_test(test);
	struct kofi_mr *mr = rt->mr[1];
	struct kofi_rma rma;
	struct iov_iter from;
	int i;

	vt_fill(rt->mem, RANGES_LEN, 1);
	kofi_iov_iter(rt->local, ITER_SOURCE, 0, RANGES_LEN, &from);
	KUNIT_ASSERT_EQ(test, get(rt, &rma, ranges, 4, FI_REMOTE_WRITE), 0);
	KUNIT_EXPECT_EQ(test, kofi_rma_write(&rma, 0, &from, 1077), 1077);
	rt->mr[1] = NULL;
	KUNIT_EXPECT_EQ(test, close_region(mr), 0);
	memset(rt->buf[1], GUARD, REGION);

	KUNIT_EXPECT_EQ(test, kofi_rma_write(&rma, 1077, &from, SIZE_MAX), 0);
	KUNIT_EXPECT_EQ(test, kofi_rma_enter(&rma), -EACCES);
	KUNIT_EXPECT_EQ(test, kofi_rma_save(&rma, false), -EACCES);
	KUNIT_EXPECT_NULL(test, memchr_inv(rt->buf[1], GUARD, REGION));
	KUNIT_EXPECT_NULL(test, memchr_inv(rt->buf[2], GUARD, REGION));
	for (i = 0; i < NR_REGIONS; i += 2)
		KUNIT_EXPECT_EQ(test, atomic_read(&rt->mr[i]->refs), 1);
	kofi_rma_done(&rma, EACCES);
}

/* The same key does not make it the same region */
static void an_operation_does_not_go_on_in_another_region(struct kunit *test)
{
	struct rma_test *rt = new_test(test);
	struct kofi_rma rma;

	KUNIT_ASSERT_EQ(test, get(rt, &rma, ranges, 1, FI_REMOTE_WRITE), 0);
	KUNIT_EXPECT_EQ(test, close_region(rt->mr[0]), 0);
	rt->mr[0] = ut_mr(test, rt->ud, rt->buf[0], REGION, BOTH, 1);
	KUNIT_EXPECT_EQ(test, kofi_rma_enter(&rma), -EACCES);
	kofi_rma_done(&rma, EACCES);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->mr[0]->refs), 1);
}

static void the_close_waits_for_the_piece_in_hand(struct kunit *test)
{
	struct rma_test *rt = new_test(test);
	struct kofi_mr *mr = rt->mr[0];
	struct vt_async *thread;
	struct kofi_rma rma;
	int idx;

	KUNIT_ASSERT_EQ(test, get(rt, &rma, ranges, 1, FI_REMOTE_WRITE), 0);
	idx = kofi_rma_enter(&rma);
	rt->mr[0] = NULL;
	thread = vt_async_start(test, close_region, mr);
	KUNIT_EXPECT_TRUE(test, vt_until(READ_ONCE(mr->mr.key) == FI_KEY_NOTAVAIL));
	KUNIT_EXPECT_FALSE(test, completion_done(&thread->done));
	kofi_rma_leave(&rma, idx);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
	kofi_rma_done(&rma, EACCES);
}

/**
 * struct loan - Memory that is lent
 * @loan: the loan
 * @rma: the target
 * @recalls: calls for it
 */
struct loan {
	struct kofi_rma_loan	loan;
	struct kofi_rma		rma;
	int			recalls;
};

static void count_recall(struct kofi_rma_loan *loan)
{
	container_of(loan, struct loan, loan)->recalls++;
}

static void the_close_wants_back_what_is_lent(struct kunit *test)
{
	struct loan *loan = vt_buf(test, sizeof(*loan));
	struct rma_test *rt = new_test(test);
	struct kofi_mr *mr = rt->mr[1];
	struct vt_async *thread;

	loan->recalls = 0;
	loan->loan.recall = count_recall;
	KUNIT_ASSERT_EQ(test, get(rt, &loan->rma, ranges, 4, FI_REMOTE_READ), 0);
	KUNIT_ASSERT_TRUE(test, kofi_rma_lend(&loan->rma, &loan->loan));
	KUNIT_EXPECT_FALSE(test, kofi_rma_is_recalled(&loan->rma));
	rt->mr[1] = NULL;
	thread = vt_async_start(test, close_region, mr);
	KUNIT_EXPECT_TRUE(test, vt_until(READ_ONCE(loan->recalls)));
	KUNIT_EXPECT_FALSE(test, completion_done(&thread->done));
	KUNIT_EXPECT_TRUE(test, kofi_rma_is_recalled(&loan->rma));
	kofi_rma_return(&loan->rma, &loan->loan);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
	/* Two of the ranges are in that region */
	KUNIT_EXPECT_EQ(test, loan->recalls, 2);
	KUNIT_EXPECT_FALSE(test, kofi_rma_lend(&loan->rma, &loan->loan));
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->mr[0]->refs), 1);
	kofi_rma_put(&loan->rma);
}

static void a_loan_that_is_returned_is_not_wanted_back(struct kunit *test)
{
	struct loan *loan = vt_buf(test, sizeof(*loan));
	struct rma_test *rt = new_test(test);

	loan->recalls = 0;
	loan->loan.recall = count_recall;
	KUNIT_ASSERT_EQ(test, get(rt, &loan->rma, ranges, 4, FI_REMOTE_READ), 0);
	KUNIT_ASSERT_TRUE(test, kofi_rma_lend(&loan->rma, &loan->loan));
	kofi_rma_return(&loan->rma, &loan->loan);
	kofi_rma_done(&loan->rma, 0);
	close_regions(rt);
	memset(rt->mr, 0, sizeof(rt->mr));
	KUNIT_EXPECT_EQ(test, loan->recalls, 0);
}

/* Each region with a counter of its own */
static struct kofi_cntr *new_cntrs(struct kunit *test, struct rma_test *rt,
				   enum fi_cntr_events events)
{
	struct fi_cntr_attr attr = { .events = events };
	struct kofi_cntr *cntr = vt_buf(test, NR_REGIONS * sizeof(*cntr));
	struct fid *fid;
	int i;

	for (i = 0; i < NR_REGIONS; i++) {
		KUNIT_ASSERT_EQ(test, kofi_cntr_init(&cntr[i], &attr, NULL), 0);
		fid = &rt->mr[i]->mr.fid;
		KUNIT_ASSERT_EQ(test, fid->ops->bind(fid, &cntr[i].cntr.fid, FI_REMOTE_WRITE), 0);
	}
	return cntr;
}

static u64 value(const struct kofi_cntr *cntr)
{
	return atomic64_read(&cntr->value);
}

static void an_operation_counts_once_in_each_region(struct kunit *test)
{
	struct rma_test *rt = new_test(test);
	struct kofi_cntr *cntr = new_cntrs(test, rt, FI_CNTR_EVENTS_COMP);
	struct kofi_rma rma;

	KUNIT_ASSERT_EQ(test, get(rt, &rma, ranges, 4, FI_REMOTE_WRITE), 0);
	kofi_rma_done(&rma, 0);
	KUNIT_EXPECT_EQ(test, value(&cntr[0]), 1);
	KUNIT_EXPECT_EQ(test, value(&cntr[1]), 1);
	KUNIT_EXPECT_EQ(test, value(&cntr[2]), 1);

	/* The region stands in front of another and behind it */
	KUNIT_ASSERT_EQ(test, get(rt, &rma, &ranges[1], 2, FI_REMOTE_WRITE), 0);
	kofi_rma_done(&rma, -EIO);
	KUNIT_EXPECT_EQ(test, value(&cntr[1]), 1);
	KUNIT_EXPECT_EQ(test, atomic64_read(&cntr[1].errors), 1);
}

static void a_counter_of_bytes_counts_those_of_its_region(struct kunit *test)
{
	const struct fi_rma_iov iov[] = { ranges[1], ranges[0], ranges[1] };
	struct rma_test *rt = new_test(test);
	struct kofi_cntr *cntr = new_cntrs(test, rt, FI_CNTR_EVENTS_BYTES);
	struct kofi_rma rma;

	KUNIT_ASSERT_EQ(test, get(rt, &rma, iov, 3, FI_REMOTE_WRITE), 0);
	kofi_rma_done(&rma, 0);

	KUNIT_EXPECT_EQ(test, value(&cntr[0]), 77);
	KUNIT_EXPECT_EQ(test, value(&cntr[1]), 6000);
	KUNIT_EXPECT_EQ(test, value(&cntr[2]), 0);
}

static void an_operation_does_not_count_in_a_region_that_is_closed(struct kunit *test)
{
	struct rma_test *rt = new_test(test);
	struct kofi_cntr *cntr = new_cntrs(test, rt, FI_CNTR_EVENTS_COMP);
	struct kofi_mr *mr = rt->mr[1];
	struct kofi_rma rma;

	KUNIT_ASSERT_EQ(test, get(rt, &rma, ranges, 4, FI_REMOTE_WRITE), 0);
	rt->mr[1] = NULL;
	KUNIT_EXPECT_EQ(test, close_region(mr), 0);
	kofi_rma_done(&rma, 0);
	KUNIT_EXPECT_EQ(test, value(&cntr[0]), 1);
	KUNIT_EXPECT_EQ(test, value(&cntr[1]), 0);
	KUNIT_EXPECT_EQ(test, value(&cntr[2]), 1);
}

static void what_has_not_been_executed_counts_nowhere(struct kunit *test)
{
	struct rma_test *rt = new_test(test);
	struct kofi_cntr *cntr = new_cntrs(test, rt, FI_CNTR_EVENTS_COMP);
	struct kofi_rma rma;

	KUNIT_ASSERT_EQ(test, get(rt, &rma, ranges, 4, FI_REMOTE_WRITE), 0);
	kofi_rma_put(&rma);
	KUNIT_ASSERT_EQ(test, get(rt, &rma, ranges, 4, FI_REMOTE_READ), 0);
	kofi_rma_done(&rma, 0);

	KUNIT_EXPECT_EQ(test, value(&cntr[0]), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&cntr[0].errors), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->mr[0]->refs), 1);
}

KUNIT_ARRAY_PARAM_DESC(step, steps, name);
KUNIT_ARRAY_PARAM_DESC(bad_range, bad_ranges, name);

static struct kunit_case rma_cases[] = {
	KUNIT_CASE_PARAM(a_write_fills_its_ranges_in_order, step_gen_params),
	KUNIT_CASE_PARAM(a_read_takes_its_ranges_in_order, step_gen_params),
	KUNIT_CASE(a_copy_ends_with_the_initiators_data),
	KUNIT_CASE(iterators_end_where_ranges_end),
	KUNIT_CASE_PARAM(a_range_that_is_refused_holds_nothing, bad_range_gen_params),
	KUNIT_CASE(a_number_of_ranges_that_makes_no_sense_is_refused),
	KUNIT_CASE(regions_are_held_by_a_piece_only),
	KUNIT_CASE(a_region_can_be_closed_between_two_pieces),
	KUNIT_CASE(an_operation_does_not_go_on_in_another_region),
	KUNIT_CASE(the_close_waits_for_the_piece_in_hand),
	KUNIT_CASE(the_close_wants_back_what_is_lent),
	KUNIT_CASE(a_loan_that_is_returned_is_not_wanted_back),
	KUNIT_CASE(an_operation_counts_once_in_each_region),
	KUNIT_CASE(a_counter_of_bytes_counts_those_of_its_region),
	KUNIT_CASE(an_operation_does_not_count_in_a_region_that_is_closed),
	KUNIT_CASE(what_has_not_been_executed_counts_nowhere),
	{}
};

static struct kunit_suite rma_suite = {
	.name		= "kofi_util_rma",
	.test_cases	= rma_cases,
};

kunit_test_suite(rma_suite);
