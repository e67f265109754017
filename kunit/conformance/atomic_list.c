// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Atomics of many elements, in lists here and there, injected, and those that nobody has
 * a right to.  What single elements become: atomic.c.
 */
#include <rdma/fi_atomic.h>
#include "conformance.h"

/* Elements of an operation whose lists have several parts */
#define PARTS	4

/**
 * struct bench - A region of numbers, and numbers to add
 * @pair: from the first end to the second
 * @region: at the second end
 * @target: in it
 * @operand: here
 * @compare: here
 * @result: here
 * @count: elements that an operation may have; 0: the operation is not there
 */
struct bench {
	struct vt_pair		pair;
	struct conf_region	region;
	u64			*target;
	u64			*operand;
	u64			*compare;
	u64			*result;
	size_t			count;
};

static size_t count_of(struct fid_ep *ep, u64 form, enum fi_op op)
{
	size_t count = 0;
	int ret;

	if (form == FI_FETCH_ATOMIC)
		ret = fi_fetch_atomicvalid(ep, FI_UINT64, op, &count);
	else if (form == FI_COMPARE_ATOMIC)
		ret = fi_compare_atomicvalid(ep, FI_UINT64, op, &count);
	else
		ret = fi_atomicvalid(ep, FI_UINT64, op, &count);
	return ret ? 0 : count;
}

/* NULL: there are no atomics, which atomics_that_are_not_claimed_are_refused looks at */
static struct bench *bench_open(struct kunit *test, u64 form, enum fi_op op)
{
	struct bench *bench;
	size_t i;

	if (!conf_has(test, FI_ATOMIC))
		return NULL;
	bench = vt_buf(test, sizeof(*bench));
	conf_join(test, &bench->pair);
	conf_region(test, &bench->region, SZ_8K, CONF_ACCESS);
	bench->target = (u64 *)bench->region.buf;
	bench->operand = vt_buf(test, SZ_8K);
	bench->compare = vt_buf(test, SZ_8K);
	bench->result = vt_buf(test, SZ_8K);
	bench->count = count_of(bench->pair.a.ep, form, op);
	KUNIT_ASSERT_LE(test, bench->count, SZ_8K / sizeof(u64));
	for (i = 0; i < SZ_8K / sizeof(u64); i++) {
		bench->target[i] = i;
		bench->compare[i] = i;
		bench->operand[i] = 1000 * i;
	}
	return bench;
}

static void bench_done(struct kunit *test, struct bench *bench, int ret)
{
	KUNIT_ASSERT_EQ(test, ret, 0);
	vt_done(test, bench->pair.a.tx, vt_ctx(1));
	vt_ping(test, &bench->pair.a, &bench->pair.b);
}

/* Elements @begin to @end have been added to, and those around them have not */
static void expect_sums(struct kunit *test, struct bench *bench, size_t begin, size_t end)
{
	size_t i;

	for (i = begin; i < end; i++)
		KUNIT_ASSERT_EQ_MSG(test, bench->target[i], 1001 * i, "element %zu", i);
	KUNIT_EXPECT_EQ(test, bench->target[end], end);
	if (begin)
		KUNIT_EXPECT_EQ(test, bench->target[begin - 1], begin - 1);
}

static void an_operation_has_as_many_elements_as_claimed(struct kunit *test)
{
	struct bench *bench = bench_open(test, 0, FI_SUM);
	size_t n;

	if (!bench || !bench->count)
		return;
	n = min_t(size_t, bench->count, SZ_8K / sizeof(u64) - 1);
	bench_done(test, bench, fi_atomic(bench->pair.a.ep, bench->operand, n, NULL, 0,
					  bench->region.addr, bench->region.key, FI_UINT64, FI_SUM,
					  vt_ctx(1)));
	expect_sums(test, bench, 0, n);
}

static void a_fetch_brings_each_element(struct kunit *test)
{
	struct bench *bench = bench_open(test, FI_FETCH_ATOMIC, FI_SUM);
	size_t n, i;

	if (!bench || !bench->count)
		return;
	n = min_t(size_t, bench->count, 100);
	bench_done(test, bench, fi_fetch_atomic(bench->pair.a.ep, bench->operand, n, NULL,
						bench->result, NULL, 0, bench->region.addr,
						bench->region.key, FI_UINT64, FI_SUM, vt_ctx(1)));
	expect_sums(test, bench, 0, n);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, bench->result[i], i);
	KUNIT_EXPECT_EQ(test, bench->result[n], 0);
}

/* Those that are what is expected change, the others stay */
static void a_compare_changes_each_element_for_itself(struct kunit *test)
{
	struct bench *bench = bench_open(test, FI_COMPARE_ATOMIC, FI_CSWAP);
	size_t n, i;

	if (!bench || !bench->count)
		return;
	n = min_t(size_t, bench->count, 100);
	for (i = 0; i < n; i += 2)
		bench->compare[i]++;
	bench_done(test, bench, fi_compare_atomic(bench->pair.a.ep, bench->operand, n, NULL,
						  bench->compare, NULL, bench->result, NULL, 0,
						  bench->region.addr, bench->region.key, FI_UINT64,
						  FI_CSWAP, vt_ctx(1)));
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ(test, bench->target[i], i % 2 ? 1000 * i : i);
		KUNIT_EXPECT_EQ(test, bench->result[i], i);
	}
}

/* PARTS elements in two lists of different shape */
static void shape(struct fi_ioc *ioc, u64 *at, size_t first)
{
	ioc[0] = (struct fi_ioc) { .addr = at, .count = first };
	ioc[1] = (struct fi_ioc) { .addr = at + first, .count = PARTS - first };
}

static void lists_here_and_there_need_not_have_one_shape(struct kunit *test)
{
	struct bench *bench = bench_open(test, FI_FETCH_ATOMIC, FI_SUM);
	struct fi_ioc local[2], result[2];
	struct fi_rma_ioc remote[2];
	struct fi_msg_atomic msg = {
		.msg_iov	= local,
		.iov_count	= 2,
		.rma_iov	= remote,
		.rma_iov_count	= 2,
		.datatype	= FI_UINT64,
		.op		= FI_SUM,
		.context	= vt_ctx(1),
	};
	size_t i;
	int ret;

	if (!bench || !bench->count)
		return;
	shape(local, bench->operand, 1);
	shape(result, bench->result, 2);
	remote[0] = (struct fi_rma_ioc) { bench->region.addr, 3,
					  bench->region.key };
	remote[1] = (struct fi_rma_ioc) {
		bench->region.addr + 3 * sizeof(u64), PARTS - 3,
		bench->region.key
	};
	ret = fi_fetch_atomicmsg(bench->pair.a.ep, &msg, result, NULL, 2, FI_COMPLETION);
	if (vt_of(test)->info->tx_attr->rma_iov_limit < 2 || bench->count < PARTS) {
		KUNIT_EXPECT_LT(test, ret, 0);
		return;
	}
	bench_done(test, bench, ret);
	expect_sums(test, bench, 0, PARTS);
	for (i = 0; i < PARTS; i++)
		KUNIT_EXPECT_EQ(test, bench->result[i], i);
}

static void a_list_that_is_not_there_is_refused(struct kunit *test)
{
	struct bench *bench = bench_open(test, FI_FETCH_ATOMIC, FI_SUM);
	struct fi_ioc local, result;
	struct fi_rma_ioc remote;
	struct fi_msg_atomic msg = {
		.msg_iov	= &local,
		.iov_count	= 1,
		.rma_iov_count	= 1,
		.datatype	= FI_UINT64,
		.op		= FI_SUM,
	};
	struct fid_ep *ep;

	if (!bench || !bench->count)
		return;
	ep = bench->pair.a.ep;
	local = (struct fi_ioc) { .addr = bench->operand, .count = 1 };
	result = (struct fi_ioc) { .addr = bench->result, .count = 1 };
	remote = (struct fi_rma_ioc) { bench->region.addr, 1, bench->region.key };
	KUNIT_EXPECT_EQ(test, fi_fetch_atomicmsg(ep, &msg, &result, NULL, 1, 0), -EINVAL);
	msg.rma_iov = &remote;
	KUNIT_EXPECT_EQ(test, fi_fetch_atomicmsg(ep, &msg, NULL, NULL, 1, 0), -EINVAL);
	msg.msg_iov = NULL;
	KUNIT_EXPECT_EQ(test, fi_fetch_atomicmsg(ep, &msg, &result, NULL, 1, 0), -EINVAL);
	msg.msg_iov = &local;
	msg.op = FI_CSWAP;
	if (count_of(ep, FI_COMPARE_ATOMIC, FI_CSWAP))
		KUNIT_EXPECT_EQ(test, fi_compare_atomicmsg(ep, &msg, NULL, NULL, 1, &result, NULL,
							   1, 0), -EINVAL);
	vt_none(test, bench->pair.a.tx);
	vt_ping(test, &bench->pair.a, &bench->pair.b);
}

static void vectors_are_taken_or_refused(struct kunit *test)
{
	struct bench *bench = bench_open(test, 0, FI_SUM);
	struct fid_ep *ep;
	struct fi_ioc local[2], other[2], result[2];
	u64 addr, key;

	if (!bench || bench->count < PARTS)
		return;
	ep = bench->pair.a.ep;
	addr = bench->region.addr;
	key = bench->region.key;
	shape(local, bench->operand, 1);
	shape(other, bench->compare, 3);
	shape(result, bench->result, 2);
	bench_done(test, bench, fi_atomicv(ep, local, NULL, 2, 0, addr, key,
					   FI_UINT64, FI_SUM, vt_ctx(1)));
	expect_sums(test, bench, 0, PARTS);
	if (count_of(ep, FI_FETCH_ATOMIC, FI_SUM) >= PARTS) {
		bench_done(test, bench, fi_fetch_atomicv(ep, local, NULL, 2, result, NULL, 2, 0,
							 addr, key, FI_UINT64, FI_SUM, vt_ctx(1)));
		KUNIT_EXPECT_EQ(test, bench->result[3], 3003);
		KUNIT_EXPECT_EQ(test, bench->target[3], 6003);
	}
	if (count_of(ep, FI_COMPARE_ATOMIC, FI_CSWAP) >= PARTS) {
		bench->target[3] = 3;
		bench_done(test, bench, fi_compare_atomicv(ep, local, NULL, 2, other, NULL, 2,
							   result, NULL, 2, 0, addr, key, FI_UINT64,
							   FI_CSWAP, vt_ctx(1)));
		KUNIT_EXPECT_EQ(test, bench->target[3], 3000);
	}
	/* All lists of an operation have as many elements */
	result[1].count--;
	KUNIT_EXPECT_EQ(test, fi_fetch_atomicv(ep, local, NULL, 2, result, NULL, 2, 0, addr, key,
					       FI_UINT64, FI_SUM, NULL), -EINVAL);
	vt_none(test, bench->pair.a.tx);
}

static void an_injected_atomic_needs_no_buffer(struct kunit *test)
{
	struct bench *bench = bench_open(test, 0, FI_SUM);
	u64 operand = 1000;
	int ret;

	if (!bench || !bench->count)
		return;
	ret = fi_inject_atomic(bench->pair.a.ep, &operand, 1, 0, bench->region.addr + sizeof(u64),
			       bench->region.key, FI_UINT64, FI_SUM);
	operand = 0;
	KUNIT_ASSERT_EQ(test, ret, 0);
	vt_ping(test, &bench->pair.a, &bench->pair.b);
	expect_sums(test, bench, 1, 2);
	vt_none(test, bench->pair.a.tx);
}

/* A region that a peer may only read, and a place beyond the end of one */
static void atomics_need_the_right_to_write(struct kunit *test)
{
	struct bench *bench;
	struct conf_region region;
	struct vt_comp comp;
	int i;

	for (i = 0; i < 2; i++) {
		bench = bench_open(test, FI_FETCH_ATOMIC, FI_SUM);
		if (!bench || !bench->count)
			return;
		conf_region(test, &region, 64, i ? CONF_ACCESS : FI_REMOTE_READ);
		KUNIT_ASSERT_EQ(test, fi_fetch_atomic(bench->pair.a.ep, &bench->operand[1], 1, NULL,
						      bench->result, NULL, 0,
						      region.addr + (i ? 64 : 0), region.key,
						      FI_UINT64, FI_SUM, vt_ctx(1)), 0);
		comp = vt_failed(test, bench->pair.a.tx);
		KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
		KUNIT_EXPECT_TRUE(test, comp.flags & FI_ATOMIC);
		KUNIT_EXPECT_NULL(test, memchr_inv(region.buf, 0, 64));
		KUNIT_EXPECT_EQ(test, bench->result[0], 0);
	}
}

/* The kernel does not compute with floating point numbers, so no provider does */
static void nobody_computes_with_floating_point(struct kunit *test)
{
	static const enum fi_datatype types[] = {
		FI_FLOAT, FI_DOUBLE, FI_FLOAT_COMPLEX, FI_DOUBLE_COMPLEX,
		FI_LONG_DOUBLE, FI_LONG_DOUBLE_COMPLEX,
	};
	static const enum fi_op ops[] = {
		FI_MIN, FI_MAX, FI_SUM, FI_PROD, FI_DIFF, FI_LOR, FI_LAND,
		FI_LXOR,
	};
	struct bench *bench = bench_open(test, 0, FI_SUM);
	struct fi_atomic_attr attr;
	struct fid_ep *ep;
	size_t t, o, count;

	if (!bench)
		return;
	ep = bench->pair.a.ep;
	for (t = 0; t < ARRAY_SIZE(types); t++) {
		for (o = 0; o < ARRAY_SIZE(ops); o++) {
			KUNIT_EXPECT_LT(test, fi_atomicvalid(ep, types[t], ops[o], &count), 0);
			KUNIT_EXPECT_LT(test, fi_fetch_atomicvalid(ep, types[t], ops[o], &count),
					0);
			KUNIT_EXPECT_LT(test, fi_query_atomic(vt_of(test)->domain, types[t], ops[o],
							      &attr, 0), 0);
			KUNIT_EXPECT_LT(test, fi_atomic(ep, bench->operand, 1, NULL, 0,
							bench->region.addr, bench->region.key,
							types[t], ops[o], NULL), 0);
		}
	}
	vt_none(test, bench->pair.a.tx);
	KUNIT_EXPECT_EQ(test, bench->target[1], 1);
}

static struct kunit_case list_cases[] = {
	KUNIT_CASE_PARAM(an_operation_has_as_many_elements_as_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(a_fetch_brings_each_element, conf_gen_params),
	KUNIT_CASE_PARAM(a_compare_changes_each_element_for_itself, conf_gen_params),
	KUNIT_CASE_PARAM(lists_here_and_there_need_not_have_one_shape, conf_gen_params),
	KUNIT_CASE_PARAM(a_list_that_is_not_there_is_refused, conf_gen_params),
	KUNIT_CASE_PARAM(vectors_are_taken_or_refused, conf_gen_params),
	KUNIT_CASE_PARAM(an_injected_atomic_needs_no_buffer, conf_gen_params),
	KUNIT_CASE_PARAM(atomics_need_the_right_to_write, conf_gen_params),
	KUNIT_CASE_PARAM(nobody_computes_with_floating_point, conf_gen_params),
	{}
};

struct kunit_suite conf_atomic_list_suite = {
	.name		= "kofi_conformance_atomic_list",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= list_cases,
};
