// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Atomic operations: the 64-bit set of libfabric's verbs provider, the answers to
 * which of them there are, and what is refused.  What they compute is in
 * kunit/conformance/atomic.c.
 */
#include <rdma/fi_atomic.h>
#include "verbs.h"

/**
 * struct vt_atomic - A pair and eight bytes of each end
 * @pair: operations go from a to b
 * @target: at b
 * @mr: the region of @target
 * @own: at a: operand, comparand and result
 */
struct vt_atomic {
	struct vt_pair	pair;
	u64		*target;
	struct fid_mr	*mr;
	u64		*own;
};

static struct fi_info *atomic_hints(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test);

	hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	return hints;
}

static void vt_atomic_join(struct kunit *test, struct vt_atomic *atomic,
			   u64 access, const struct fi_info *hints)
{
	vt_serve_pair(test, hints, &atomic->pair);
	atomic->target = vt_buf(test, 64);
	atomic->own = vt_buf(test, 64);
	atomic->mr = vt_reg(test, atomic->target, 64, access);
}

static ssize_t post_put(struct vt_atomic *atomic, u64 value, enum fi_op op,
			enum fi_datatype type, size_t count)
{
	atomic->own[0] = value;
	return fi_atomic(atomic->pair.a.ep, atomic->own, count, NULL, 0, (uintptr_t)atomic->target,
			 fi_mr_key(atomic->mr), type, op, vt_ctx(1));
}

static ssize_t post_fetch(struct vt_end *end, struct vt_atomic *atomic,
			  u64 value, enum fi_op op, enum fi_datatype type)
{
	return fi_fetch_atomic(end->ep, &value, 1, NULL, &atomic->own[2], NULL,
			       0, (uintptr_t)atomic->target,
			       fi_mr_key(atomic->mr), type, op, vt_ctx(2));
}

static ssize_t post_swap(struct vt_atomic *atomic, u64 compare, u64 value,
			 enum fi_op op, enum fi_datatype type)
{
	return fi_compare_atomic(atomic->pair.a.ep, &value, 1, NULL, &compare, NULL,
				 &atomic->own[2], NULL, 0, (uintptr_t)atomic->target,
				 fi_mr_key(atomic->mr), type, op, vt_ctx(3));
}

/* A device without atomics: nobody finds some, and all calls are refused */
static void vt_no_atomics(struct kunit *test, struct vt_atomic *atomic, u64 access)
{
	struct fi_info *hints = atomic_hints(test), *info;
	struct fi_atomic_attr attr = {};
	size_t count;

	KUNIT_EXPECT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), -ENODATA);
	hints->caps = FI_MSG | FI_RMA;
	vt_atomic_join(test, atomic, access, hints);
	KUNIT_EXPECT_EQ(test, vt_info(test)->caps & FI_ATOMIC, 0);
	KUNIT_EXPECT_EQ(test, post_put(atomic, 1, FI_ATOMIC_WRITE, FI_UINT64, 1), -ENOSYS);
	KUNIT_EXPECT_EQ(test, post_fetch(&atomic->pair.a, atomic, 1, FI_SUM, FI_UINT64), -ENOSYS);
	KUNIT_EXPECT_EQ(test, post_swap(atomic, 0, 1, FI_CSWAP, FI_UINT64), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_fetch_atomicvalid(atomic->pair.a.ep, FI_UINT64,
						   FI_SUM, &count), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_query_atomic(vt_of(test)->domain, FI_UINT64, FI_SUM, &attr,
					      FI_FETCH_ATOMIC), -ENOSYS);
	vt_ping(test, &atomic->pair.a, &atomic->pair.b);
	KUNIT_EXPECT_EQ(test, atomic->target[0], 0);
}

static bool vt_has_atomics(struct kunit *test)
{
	struct fi_info *hints = atomic_hints(test);

	hints->caps = 0;
	return vt_local(test, AF_INET, hints)->caps & FI_ATOMIC;
}

/* False: the device has none, and that has been checked instead */
static bool vt_atomic_open(struct kunit *test, struct vt_atomic *atomic)
{
	u64 access = FI_REMOTE_READ | FI_REMOTE_WRITE;

	if (!vt_has_atomics(test)) {
		vt_no_atomics(test, atomic, access);
		return false;
	}
	vt_atomic_join(test, atomic, access, atomic_hints(test));
	return true;
}

static void messages_and_injects_put_too(struct kunit *test)
{
	struct vt_atomic atomic = {};
	struct fi_rma_ioc remote;
	struct fi_ioc local;
	struct fi_msg_atomic msg = {
		.msg_iov	= &local,
		.iov_count	= 1,
		.rma_iov	= &remote,
		.rma_iov_count	= 1,
		.datatype	= FI_UINT64,
		.op		= FI_ATOMIC_WRITE,
		.context	= vt_ctx(5),
	};
	u64 on_stack = 42;

	if (!vt_atomic_open(test, &atomic))
		return;
	local = (struct fi_ioc) { atomic.own, 1 };
	remote = (struct fi_rma_ioc) { (uintptr_t)atomic.target, 1,
				       fi_mr_key(atomic.mr) };
	atomic.own[0] = 41;
	KUNIT_ASSERT_EQ(test, fi_atomicmsg(atomic.pair.a.ep, &msg, FI_COMPLETION), 0);
	vt_done(test, atomic.pair.a.tx, vt_ctx(5));
	KUNIT_EXPECT_EQ(test, atomic.target[0], 41);

	KUNIT_ASSERT_EQ(test, fi_inject_atomic(atomic.pair.a.ep, &on_stack, 1, 0,
					       (uintptr_t)atomic.target, fi_mr_key(atomic.mr),
					       FI_UINT64, FI_ATOMIC_WRITE), 0);
	vt_ping(test, &atomic.pair.a, &atomic.pair.b);
	KUNIT_EXPECT_EQ(test, atomic.target[0], 42);

	KUNIT_EXPECT_EQ(test, fi_atomicmsg(atomic.pair.a.ep, &msg, FI_REMOTE_INV), -FI_EBADFLAGS);
	msg.rma_iov_count = 2;
	KUNIT_EXPECT_EQ(test, fi_atomicmsg(atomic.pair.a.ep, &msg, 0), -E2BIG);
	vt_none(test, atomic.pair.a.tx);
}

/* The vector and message forms, each with one element in each vector */
struct vt_vectors {
	struct vt_atomic	atomic;
	struct fi_ioc		in;
	struct fi_ioc		compare;
	struct fi_ioc		out;
	struct fi_rma_ioc	remote;
	struct fi_msg_atomic	msg;
};

static bool vt_vectors_open(struct kunit *test, struct vt_vectors *v)
{
	if (!vt_atomic_open(test, &v->atomic))
		return false;
	v->in = (struct fi_ioc) { &v->atomic.own[0], 1 };
	v->compare = (struct fi_ioc) { &v->atomic.own[1], 1 };
	v->out = (struct fi_ioc) { &v->atomic.own[2], 1 };
	v->remote = (struct fi_rma_ioc) {
		(uintptr_t)v->atomic.target, 1, fi_mr_key(v->atomic.mr)
	};
	v->msg = (struct fi_msg_atomic) {
		.msg_iov	= &v->in,
		.iov_count	= 1,
		.rma_iov	= &v->remote,
		.rma_iov_count	= 1,
		.datatype	= FI_UINT64,
		.context	= vt_ctx(6),
	};
	return true;
}

static ssize_t fetchv(struct vt_vectors *v, enum fi_op op, size_t in, size_t out)
{
	return fi_fetch_atomicv(v->atomic.pair.a.ep, &v->in, NULL, in, &v->out, NULL, out, 0,
				v->remote.addr, v->remote.key, FI_UINT64, op, vt_ctx(6));
}

static ssize_t fetchmsg(struct vt_vectors *v, enum fi_op op, size_t out, u64 flags)
{
	v->msg.op = op;
	return fi_fetch_atomicmsg(v->atomic.pair.a.ep, &v->msg, &v->out, NULL, out, flags);
}

static ssize_t comparev(struct vt_vectors *v, size_t compare)
{
	return fi_compare_atomicv(v->atomic.pair.a.ep, &v->in, NULL, 1, &v->compare, NULL, compare,
				  &v->out, NULL, 1, 0, v->remote.addr, v->remote.key, FI_UINT64,
				  FI_CSWAP, vt_ctx(6));
}

static ssize_t comparemsg(struct vt_vectors *v, size_t compare, u64 flags)
{
	v->msg.op = FI_CSWAP;
	return fi_compare_atomicmsg(v->atomic.pair.a.ep, &v->msg, &v->compare,
				    NULL, compare, &v->out, NULL, 1, flags);
}

static void vectors_and_messages_do_what_the_plain_calls_do(struct kunit *test)
{
	struct vt_vectors v = {};
	struct fid_mr *in, *out;
	struct vt_cq *cq;
	u64 *own, *target;

	if (!vt_vectors_open(test, &v))
		return;
	cq = v.atomic.pair.a.tx;
	own = v.atomic.own;
	target = v.atomic.target;

	own[0] = 10;
	KUNIT_ASSERT_EQ(test, fi_atomicv(v.atomic.pair.a.ep, &v.in, NULL, 1, 0, v.remote.addr,
					 v.remote.key, FI_UINT64, FI_ATOMIC_WRITE, vt_ctx(6)), 0);
	vt_done(test, cq, vt_ctx(6));
	KUNIT_EXPECT_EQ(test, target[0], 10);

	KUNIT_ASSERT_EQ(test, fetchv(&v, FI_SUM, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, cq, vt_ctx(6)).flags, FI_ATOMIC | FI_READ);
	KUNIT_EXPECT_EQ(test, own[2], 10);
	KUNIT_EXPECT_EQ(test, target[0], 20);

	/* Without operands */
	KUNIT_ASSERT_EQ(test, fetchv(&v, FI_ATOMIC_READ, 0, 1), 0);
	vt_done(test, cq, vt_ctx(6));
	KUNIT_EXPECT_EQ(test, own[2], 20);

	KUNIT_ASSERT_EQ(test, fetchmsg(&v, FI_SUM, 1, FI_COMPLETION), 0);
	vt_done(test, cq, vt_ctx(6));
	KUNIT_EXPECT_EQ(test, target[0], 30);

	/* The operand and the result are in regions of their own */
	in = vt_reg(test, own, 8, FI_WRITE);
	out = vt_reg(test, &own[2], 8, FI_READ);
	KUNIT_ASSERT_EQ(test, fi_fetch_atomic(v.atomic.pair.a.ep, own, 1, fi_mr_desc(in), &own[2],
					      fi_mr_desc(out), 0, v.remote.addr, v.remote.key,
					      FI_UINT64, FI_ATOMIC_READ, vt_ctx(6)), 0);
	vt_done(test, cq, vt_ctx(6));
	KUNIT_EXPECT_EQ(test, own[2], 30);

	own[1] = 30;
	own[0] = 1;
	KUNIT_ASSERT_EQ(test, comparev(&v, 1), 0);
	vt_done(test, cq, vt_ctx(6));
	KUNIT_EXPECT_EQ(test, own[2], 30);
	KUNIT_EXPECT_EQ(test, target[0], 1);

	KUNIT_ASSERT_EQ(test, comparemsg(&v, 1, FI_COMPLETION), 0);
	vt_done(test, cq, vt_ctx(6));
	KUNIT_EXPECT_EQ(test, own[2], 1);
	KUNIT_EXPECT_EQ(test, target[0], 1);
}

static void vectors_of_other_lengths_are_refused(struct kunit *test)
{
	struct vt_vectors v = {};
	struct fid_ep *ep;

	if (!vt_vectors_open(test, &v))
		return;
	ep = v.atomic.pair.a.ep;

	KUNIT_EXPECT_EQ(test, fi_atomicv(ep, &v.in, NULL, 2, 0, v.remote.addr, v.remote.key,
					 FI_UINT64, FI_ATOMIC_WRITE, NULL), -E2BIG);
	KUNIT_EXPECT_EQ(test, fetchv(&v, FI_SUM, 2, 1), -E2BIG);
	KUNIT_EXPECT_EQ(test, fetchv(&v, FI_SUM, 0, 1), -E2BIG);
	KUNIT_EXPECT_EQ(test, fetchv(&v, FI_ATOMIC_READ, 0, 2), -E2BIG);
	KUNIT_EXPECT_EQ(test, comparev(&v, 2), -E2BIG);
	KUNIT_EXPECT_EQ(test, comparemsg(&v, 0, 0), -E2BIG);

	v.in.count = 2;
	KUNIT_EXPECT_EQ(test, fetchv(&v, FI_SUM, 1, 1), -EINVAL);
	v.in.count = 1;
	v.compare.count = 2;
	KUNIT_EXPECT_EQ(test, comparev(&v, 1), -EINVAL);
	v.compare.count = 1;
	v.remote.count = 2;
	KUNIT_EXPECT_EQ(test, fetchmsg(&v, FI_SUM, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, comparemsg(&v, 1, 0), -EINVAL);
	v.msg.op = FI_ATOMIC_WRITE;
	KUNIT_EXPECT_EQ(test, fi_atomicmsg(ep, &v.msg, 0), -EINVAL);
	v.remote.count = 1;
	/* Keys have 32 bits */
	v.remote.key |= BIT_ULL(32);
	KUNIT_EXPECT_EQ(test, fetchmsg(&v, FI_SUM, 1, 0), -EINVAL);
	v.msg.rma_iov_count = 2;
	KUNIT_EXPECT_EQ(test, fetchmsg(&v, FI_SUM, 1, 0), -E2BIG);
	vt_none(test, v.atomic.pair.a.tx);
}

static void flags_that_bring_back_nothing_are_refused(struct kunit *test)
{
	static const u64 flags[] = {
		FI_INJECT, FI_REMOTE_CQ_DATA, FI_REMOTE_INV, FI_SAVE,
	};
	struct vt_vectors v = {};
	int i;

	if (!vt_vectors_open(test, &v))
		return;
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		KUNIT_EXPECT_EQ(test, fetchmsg(&v, FI_SUM, 1, flags[i]), -FI_EBADFLAGS);
		KUNIT_EXPECT_EQ(test, comparemsg(&v, 1, flags[i]), -FI_EBADFLAGS);
	}
	vt_none(test, v.atomic.pair.a.tx);
}

static void the_valid_calls_tell_what_there_is(struct kunit *test)
{
	struct vt_atomic atomic = {};
	enum fi_datatype type;
	struct fid_ep *ep;
	enum fi_op op;
	size_t count;

	if (!vt_atomic_open(test, &atomic))
		return;
	ep = atomic.pair.a.ep;
	for (op = FI_MIN; op <= FI_DIFF; op++) {
		for (type = FI_INT8; type <= FI_UINT128; type++) {
			bool u64s = type == FI_INT64 || type == FI_UINT64;
			bool any = u64s || type == FI_DOUBLE;
			int put = op != FI_ATOMIC_WRITE ? -ENOSYS :
				  any ? 0 : -EINVAL;
			int get = op == FI_SUM ? (u64s ? 0 : -EINVAL) :
				  op != FI_ATOMIC_READ ? -ENOSYS :
				  any ? 0 : -EINVAL;
			int swap = op != FI_CSWAP ? -ENOSYS : any ? 0 : -EINVAL;

			KUNIT_EXPECT_EQ(test, fi_atomicvalid(ep, type, op, &count), put);
			KUNIT_EXPECT_EQ(test, fi_fetch_atomicvalid(ep, type, op, &count), get);
			KUNIT_EXPECT_EQ(test, fi_compare_atomicvalid(ep, type, op, &count), swap);
		}
	}
	KUNIT_EXPECT_EQ(test, count, 1);
}

static void what_there_is_not_is_refused(struct kunit *test)
{
	struct vt_atomic atomic = {};

	if (!vt_atomic_open(test, &atomic))
		return;
	KUNIT_EXPECT_EQ(test, post_put(&atomic, 1, FI_SUM, FI_UINT64, 1), -ENOSYS);
	KUNIT_EXPECT_EQ(test, post_put(&atomic, 1, FI_ATOMIC_WRITE, FI_UINT32, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, post_put(&atomic, 1, FI_ATOMIC_WRITE, FI_UINT64, 2), -E2BIG);
	KUNIT_EXPECT_EQ(test, post_fetch(&atomic.pair.a, &atomic, 1, FI_SUM, FI_DOUBLE), -EINVAL);
	KUNIT_EXPECT_EQ(test, post_fetch(&atomic.pair.a, &atomic, 1, FI_MAX, FI_UINT64), -ENOSYS);
	KUNIT_EXPECT_EQ(test, post_swap(&atomic, 1, 1, FI_CSWAP_NE, FI_UINT64), -ENOSYS);
	atomic.target = (void *)atomic.target + 4;
	KUNIT_EXPECT_EQ(test, post_fetch(&atomic.pair.a, &atomic, 1, FI_SUM, FI_UINT64), -EINVAL);
	vt_none(test, atomic.pair.a.tx);
}

static struct kunit_case vt_atomic_cases[] = {
	KUNIT_CASE(messages_and_injects_put_too),
	KUNIT_CASE(vectors_and_messages_do_what_the_plain_calls_do),
	KUNIT_CASE(vectors_of_other_lengths_are_refused),
	KUNIT_CASE(flags_that_bring_back_nothing_are_refused),
	KUNIT_CASE(the_valid_calls_tell_what_there_is),
	KUNIT_CASE(what_there_is_not_is_refused),
	{}
};

struct kunit_suite kofi_verbs_atomic_suite = {
	.name		= "kofi_verbs_atomic",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= vt_atomic_cases,
};
