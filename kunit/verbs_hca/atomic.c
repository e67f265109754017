// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices that say they have atomics: some have, some drivers refuse them, and
 * nobody learns of it from the attributes.
 *
 * That trying leaves nothing behind is for ht_exit() to check.
 */
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include "mr.h"

static struct fi_info *atomic_hints(struct kunit *test)
{
	struct fi_info *hints = ht_hints(test);

	hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	return hints;
}

static void atomic_serve(struct kunit *test, const struct fakehca_attr *attr, struct vt_pair *pair)
{
	hm_serve(test, attr);
	ht_join(test, pair);
}

static void a_device_that_takes_atomics_has_them(struct kunit *test)
{
	const struct fakehca_attr attr = {
		.roce	 = true,
		.atomics = FAKEHCA_ATOMICS,
	};
	u64 *target = ht_buf(test, 64), *old = ht_buf(test, 64);
	struct vt_pair pair = {};
	u64 one = 1, two = 2;
	unsigned int fences;
	struct fi_info *info;
	struct fid_mr *mr;

	atomic_serve(test, &attr, &pair);
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, atomic_hints(test), &info), 0);
	KUNIT_ASSERT_EQ(test, hm_reg(test, target, 64, &mr), 0);
	KUNIT_ASSERT_EQ(test, fi_fetch_atomic(pair.a.ep, &one, 1, NULL, old, NULL, 0,
					      (uintptr_t)target, fi_mr_key(mr), FI_UINT64, FI_SUM,
					      vt_ctx(1)), 0);
	vt_done(test, pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, *old, 0);
	KUNIT_EXPECT_EQ(test, *target, 1);
	KUNIT_ASSERT_EQ(test, fi_compare_atomic(pair.a.ep, &two, 1, NULL, &one, NULL, old, NULL, 0,
						(uintptr_t)target, fi_mr_key(mr), FI_UINT64,
						FI_CSWAP, vt_ctx(2)), 0);
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, *old, 1);
	KUNIT_EXPECT_EQ(test, *target, 2);

	/* A write, behind a fence */
	fences = ht_stats(test).fences;
	*old = 3;
	KUNIT_ASSERT_EQ(test, fi_atomic(pair.a.ep, old, 1, NULL, 0, (uintptr_t)target,
					fi_mr_key(mr), FI_UINT64, FI_ATOMIC_WRITE, vt_ctx(3)), 0);
	vt_done(test, pair.a.tx, vt_ctx(3));
	KUNIT_EXPECT_EQ(test, *target, 3);
	KUNIT_EXPECT_EQ(test, ht_stats(test).fences, fences + 1);
}

/* All but atomics works, as on a device that has none */
static void expect_no_atomics(struct kunit *test, const struct fakehca_attr *attr)
{
	u64 *target = ht_buf(test, 64), *own = ht_buf(test, 64), one = 1;
	struct vt_pair pair = {};
	struct fi_info *info;
	struct fid_mr *mr;

	atomic_serve(test, attr, &pair);
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, atomic_hints(test), &info), -ENODATA);
	KUNIT_EXPECT_FALSE(test, vt_of(test)->info->caps & FI_ATOMIC);
	KUNIT_ASSERT_EQ(test, hm_reg(test, target, 64, &mr), 0);
	KUNIT_EXPECT_EQ(test, fi_fetch_atomic(pair.a.ep, &one, 1, NULL, own, NULL, 0,
					      (uintptr_t)target, fi_mr_key(mr), FI_UINT64, FI_SUM,
					      vt_ctx(1)), -ENOSYS);
	*own = 7;
	KUNIT_ASSERT_EQ(test, fi_write(pair.a.ep, own, sizeof(*own), NULL, 0, (uintptr_t)target,
				       fi_mr_key(mr), vt_ctx(2)), 0);
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, *target, 7);
}

static void atomics_that_are_refused_are_not_offered(struct kunit *test)
{
	const struct fakehca_attr attr = {
		.roce	 = true,
		.atomics = FAKEHCA_ATOMICS_NOT_POSTED,
	};

	expect_no_atomics(test, &attr);
}

static void atomics_that_cannot_be_registered_are_not_offered(struct kunit *test)
{
	const struct fakehca_attr attr = {
		.roce	 = true,
		.atomics = FAKEHCA_ATOMICS_NOT_REGISTERED,
	};

	expect_no_atomics(test, &attr);
}

struct atomic_failure {
	const char		*name;
	enum fakehca_point	point;
	unsigned int		nth;
};

static const struct atomic_failure atomic_failures[] = {
	{ "protection domain",	FAKEHCA_ALLOC_PD, 1 },
	{ "completion queue",	FAKEHCA_CREATE_CQ, 1 },
	{ "queue pair",		FAKEHCA_CREATE_QP, 1 },
	{ "state INIT",		FAKEHCA_MODIFY_QP, 1 },
	{ "state ERR",		FAKEHCA_MODIFY_QP, 2 },
	{ "registration",	FAKEHCA_ALLOC_MR, 1 },
	{ "page list",		FAKEHCA_MAP_MR_SG, 1 },
	{ "swap",		FAKEHCA_POST_SEND, 1 },
	{ "work request",	FAKEHCA_POST_SEND, 2 },
};

KUNIT_ARRAY_PARAM_DESC(atomic_failure, atomic_failures, name);

static void what_cannot_be_tried_is_not_offered(struct kunit *test)
{
	const struct atomic_failure *param = test->param_value;
	const struct fakehca_attr attr = {
		.roce		= true,
		.atomics	= FAKEHCA_ATOMICS,
		.fail		= param->point,
		.fail_nth	= param->nth,
	};

	expect_no_atomics(test, &attr);
}

static struct kunit_case hca_atomic_cases[] = {
	KUNIT_CASE(a_device_that_takes_atomics_has_them),
	KUNIT_CASE(atomics_that_are_refused_are_not_offered),
	KUNIT_CASE(atomics_that_cannot_be_registered_are_not_offered),
	KUNIT_CASE_PARAM(what_cannot_be_tried_is_not_offered, atomic_failure_gen_params),
	{}
};

struct kunit_suite kofi_hca_atomic_suite = {
	.name		= "kofi_hca_atomic",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= hca_atomic_cases,
};
