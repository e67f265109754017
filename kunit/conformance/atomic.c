// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Atomics: for each family, type and operation the provider says whether it has
 * it.  If so the result is compared with what C computes, if not the call refuses.
 * An endpoint without FI_ATOMIC refuses all of them.
 */
#include <linux/bitmap.h>
#include <rdma/fi_atomic.h>
#include "conformance.h"

struct atomic {
	struct vt_pair		pair;
	struct conf_region	region;
	u64			*operand;
	u64			*compare;
	u64			*result;
};

/* Operations of each end under way at a time */
#define ADDS	32

static const u64 families[] = { 0, FI_FETCH_ATOMIC, FI_COMPARE_ATOMIC };

static int valid(struct fid_ep *ep, u64 family, enum fi_datatype type, enum fi_op op, size_t *count)
{
	if (family == FI_FETCH_ATOMIC)
		return fi_fetch_atomicvalid(ep, type, op, count);
	if (family == FI_COMPARE_ATOMIC)
		return fi_compare_atomicvalid(ep, type, op, count);
	return fi_atomicvalid(ep, type, op, count);
}

static ssize_t post(struct atomic *atomic, u64 family, enum fi_datatype type,
		    enum fi_op op, size_t count)
{
	struct fid_ep *ep = atomic->pair.a.ep;
	u64 addr = atomic->region.addr, key = atomic->region.key;

	if (family == FI_FETCH_ATOMIC)
		return fi_fetch_atomic(ep, atomic->operand, count, NULL, atomic->result, NULL, 0,
				       addr, key, type, op, vt_ctx(1));
	if (family == FI_COMPARE_ATOMIC)
		return fi_compare_atomic(ep, atomic->operand, count, NULL, atomic->compare, NULL,
					 atomic->result, NULL, 0, addr, key, type, op, vt_ctx(1));
	return fi_atomic(ep, atomic->operand, count, NULL, 0, addr, key, type, op, vt_ctx(1));
}

/* Bytes of an integer; 0: not one that C can compute with here */
static size_t int_size(enum fi_datatype type)
{
	return type <= FI_UINT64 ? 1 << (type / 2) : 0;
}

static s64 extend(u64 value, size_t size, bool is_signed)
{
	int shift = 64 - 8 * size;

	return is_signed ? (s64)(value << shift) >> shift :
			   (s64)(value << shift >> shift);
}

static bool less(s64 a, s64 b, bool is_signed)
{
	return is_signed ? a < b : (u64)a < (u64)b;
}

/* What @op makes of @old, with @x and, in the compare family, @c */
static u64 compute(enum fi_op op, bool is_signed, s64 old, s64 x, s64 c)
{
	switch (op) {
	case FI_MIN:
		return less(x, old, is_signed) ? x : old;
	case FI_MAX:
		return less(old, x, is_signed) ? x : old;
	case FI_SUM:
		return old + x;
	case FI_DIFF:
		return old - x;
	case FI_PROD:
		return old * x;
	case FI_LOR:
		return old || x;
	case FI_LAND:
		return old && x;
	case FI_LXOR:
		return !old != !x;
	case FI_BOR:
		return old | x;
	case FI_BAND:
		return old & x;
	case FI_BXOR:
		return old ^ x;
	case FI_ATOMIC_WRITE:
		return x;
	case FI_CSWAP:
		return c == old ? x : old;
	case FI_CSWAP_NE:
		return c != old ? x : old;
	case FI_CSWAP_LE:
		return !less(old, c, is_signed) ? x : old;
	case FI_CSWAP_LT:
		return less(c, old, is_signed) ? x : old;
	case FI_CSWAP_GE:
		return !less(c, old, is_signed) ? x : old;
	case FI_CSWAP_GT:
		return less(old, c, is_signed) ? x : old;
	case FI_MSWAP:
		return (x & c) | (old & ~c);
	default:
		return old;
	}
}

static void check_values(struct kunit *test, struct atomic *atomic, u64 family,
			 enum fi_datatype type, enum fi_op op, u64 old, u64 x, u64 c)
{
	size_t size = int_size(type);
	bool is_signed = !(type % 2);
	u64 want, target = old;

	want = compute(op, is_signed, extend(old, size, is_signed),
		       extend(x, size, is_signed), extend(c, size, is_signed));
	memcpy(&target, &want, size);
	memcpy(atomic->region.buf, &old, sizeof(old));
	*atomic->operand = x;
	*atomic->compare = c;
	*atomic->result = 0;
	KUNIT_ASSERT_EQ(test, post(atomic, family, type, op, 1), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, atomic->pair.a.tx, vt_ctx(1)).flags,
			FI_ATOMIC | (family ? FI_READ : FI_WRITE));
	vt_ping(test, &atomic->pair.a, &atomic->pair.b);
	KUNIT_EXPECT_MEMEQ_MSG(test, atomic->region.buf, &target, sizeof(old),
			       "family %#llx type %d op %d", family, type, op);
	if (family)
		KUNIT_EXPECT_MEMEQ_MSG(test, atomic->result, &old, size,
				       "family %#llx type %d op %d", family, type, op);
}

static void check_op(struct kunit *test, struct atomic *atomic, u64 family,
		     enum fi_datatype type, enum fi_op op)
{
	struct fi_atomic_attr attr = {};
	size_t count = 0;
	int ret, query;

	ret = valid(atomic->pair.a.ep, family, type, op, &count);
	query = fi_query_atomic(vt_of(test)->domain, type, op, &attr, family);
	KUNIT_EXPECT_EQ_MSG(test, !ret, !query, "family %#llx type %d op %d", family, type, op);
	if (ret) {
		KUNIT_EXPECT_EQ_MSG(test, post(atomic, family, type, op, 1), ret,
				    "family %#llx type %d op %d", family, type, op);
		return;
	}
	KUNIT_EXPECT_GT(test, count, 0);
	KUNIT_EXPECT_EQ(test, attr.count, count);
	KUNIT_EXPECT_LT(test, post(atomic, family, type, op, count + 1), 0);
	if (!int_size(type))
		return;
	KUNIT_EXPECT_EQ(test, attr.size, int_size(type));
	check_values(test, atomic, family, type, op, 5, 3, 5);
	check_values(test, atomic, family, type, op, 3, 5, 4);
	check_values(test, atomic, family, type, op, ~0ULL, 1, ~0ULL);
	check_values(test, atomic, family, type, op, 0, 0x8182838485868788ULL,
		     0x0f0f0f0f0f0f0f0fULL);
}

static void atomic_open(struct kunit *test, struct atomic *atomic)
{
	conf_join(test, &atomic->pair);
	atomic->operand = vt_buf(test, SZ_4K);
	atomic->compare = vt_buf(test, SZ_4K);
	atomic->result = vt_buf(test, SZ_4K);
	if (conf_has(test, FI_ATOMIC))
		conf_region(test, &atomic->region, SZ_4K, CONF_ACCESS);
}

static void atomics_compute_what_they_say(struct kunit *test)
{
	struct atomic *atomic = vt_buf(test, sizeof(*atomic));
	struct fi_atomic_attr attr;
	int type, op;
	size_t f;

	atomic_open(test, atomic);
	if (!conf_has(test, FI_ATOMIC))
		return;
	KUNIT_EXPECT_EQ(test, fi_query_atomic(vt_of(test)->domain, FI_UINT64, FI_SUM, &attr,
					      FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC), -FI_EBADFLAGS);
	for (f = 0; f < ARRAY_SIZE(families); f++)
		for (type = 0; type < FI_DATATYPE_LAST; type++)
			for (op = 0; op < FI_ATOMIC_OP_LAST; op++)
				check_op(test, atomic, families[f], type, op);
	vt_none(test, atomic->pair.a.tx);
}

static void atomics_that_are_not_claimed_are_refused(struct kunit *test)
{
	struct atomic *atomic = vt_buf(test, sizeof(*atomic));
	struct fi_atomic_attr attr;
	struct fi_msg_atomic msg = {};
	size_t count, f;

	atomic_open(test, atomic);
	if (conf_has(test, FI_ATOMIC))
		return;
	for (f = 0; f < ARRAY_SIZE(families); f++) {
		KUNIT_EXPECT_EQ(test, post(atomic, families[f], FI_UINT64,
					   FI_ATOMIC_WRITE, 1), -ENOSYS);
		KUNIT_EXPECT_EQ(test, valid(atomic->pair.a.ep, families[f], FI_UINT64, FI_SUM,
					    &count), -ENOSYS);
		KUNIT_EXPECT_EQ(test, fi_query_atomic(vt_of(test)->domain, FI_UINT64, FI_SUM, &attr,
						      families[f]), -ENOSYS);
	}
	KUNIT_EXPECT_EQ(test, fi_inject_atomic(atomic->pair.a.ep, atomic->operand, 1, 0, 0, 0,
					       FI_UINT64, FI_SUM), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_atomicmsg(atomic->pair.a.ep, &msg, 0), -ENOSYS);
}

/* Additions of both ends are under way at once: each finds another value, and none is lost */
static void atomics_of_two_ends_add_up(struct kunit *test)
{
	struct atomic *atomic = vt_buf(test, sizeof(*atomic));
	struct vt_end *ends[2] = { &atomic->pair.a, &atomic->pair.b };
	DECLARE_BITMAP(seen, 2 * ADDS) = {};
	size_t count, i;
	u64 sum;

	conf_shallow(test, ADDS);
	atomic_open(test, atomic);
	if (!conf_has(test, FI_ATOMIC) ||
	    fi_fetch_atomicvalid(atomic->pair.a.ep, FI_UINT64, FI_SUM, &count))
		return;
	*atomic->operand = 1;
	for (i = 0; i < 2 * ADDS; i++)
		KUNIT_ASSERT_EQ(test, fi_fetch_atomic(ends[i % 2]->ep, atomic->operand, 1, NULL,
						      &atomic->result[i], NULL, 0,
						      atomic->region.addr, atomic->region.key,
						      FI_UINT64, FI_SUM, vt_ctx(i)), 0);
	for (i = 0; i < 2 * ADDS; i++)
		vt_done(test, ends[i % 2]->tx, vt_ctx(i));
	for (i = 0; i < 2 * ADDS; i++) {
		KUNIT_ASSERT_LT(test, atomic->result[i], 2 * ADDS);
		KUNIT_EXPECT_FALSE(test, __test_and_set_bit(atomic->result[i], seen));
	}
	memcpy(&sum, atomic->region.buf, sizeof(sum));
	KUNIT_EXPECT_EQ(test, sum, 2 * ADDS);
}

static struct kunit_case atomic_cases[] = {
	KUNIT_CASE_PARAM(atomics_compute_what_they_say, conf_gen_params),
	KUNIT_CASE_PARAM(atomics_that_are_not_claimed_are_refused, conf_gen_params),
	KUNIT_CASE_PARAM(atomics_of_two_ends_add_up, conf_gen_params),
	{}
};

struct kunit_suite conf_atomic_suite = {
	.name		= "kofi_conformance_atomic",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= atomic_cases,
};
