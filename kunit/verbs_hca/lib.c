// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The frame of a case, and the objects below a fake HCA.
 *
 * Closing is part of the test: what a case leaves open is closed by ht_exit() in
 * the order in which a client would, and the device is asked for leftovers when
 * it has gone.
 */
#include <linux/err.h>
#include <linux/string.h>
#include <rdma/fabric.h>
#include "hca.h"

int ht_init(struct kunit *test)
{
	struct ht *ht = kunit_kzalloc(test, sizeof(*ht), GFP_KERNEL);

	if (!ht)
		return -ENOMEM;
	INIT_LIST_HEAD(&ht->vt.fids);
	test->priv = &ht->vt;
	return 0;
}

struct fakehca_stats ht_stats(struct kunit *test)
{
	struct fakehca_stats stats;

	fakehca_get_stats(ht_of(test)->hca, &stats);
	return stats;
}

void ht_expect_clean(struct kunit *test)
{
	struct fakehca_stats stats = ht_stats(test);

	KUNIT_EXPECT_EQ(test, stats.mapped, 0);
	KUNIT_EXPECT_EQ(test, stats.maps, stats.unmaps);
	KUNIT_EXPECT_EQ(test, stats.bad_unmaps, 0);
	KUNIT_EXPECT_EQ(test, stats.faults, ht_of(test)->faults);
	KUNIT_EXPECT_EQ(test, stats.pds, 0);
	KUNIT_EXPECT_EQ(test, stats.cqs, 0);
	KUNIT_EXPECT_EQ(test, stats.qps, 0);
	KUNIT_EXPECT_EQ(test, stats.srqs, 0);
	KUNIT_EXPECT_EQ(test, stats.mrs, 0);
	KUNIT_EXPECT_EQ(test, stats.conns, 0);
	KUNIT_EXPECT_EQ(test, stats.overruns, 0);
}

void ht_exit(struct kunit *test)
{
	struct ht *ht;

	if (!test->priv)
		return;
	vt_exit(test);
	ht = ht_of(test);
	if (!ht->hca)
		return;
	fakehca_idle(ht->hca);
	/* The removal would end the listeners that are left */
	KUNIT_EXPECT_EQ(test, ht_stats(test).listens, 0);
	fakehca_remove_begin(ht->hca);
	if (!fakehca_remove_wait(ht->hca, HT_PATIENCE_MS)) {
		KUNIT_FAIL(test, "the device is still in use");
		return;
	}
	ht_expect_clean(test);
	fakehca_destroy(ht->hca);
}

void ht_device(struct kunit *test, const struct fakehca_attr *attr)
{
	struct fakehca *hca = fakehca_create(attr);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(hca), "error %ld", PTR_ERR(hca));
	ht_of(test)->hca = hca;
}

/* Everything on this device */
struct fi_info *ht_hints(struct kunit *test)
{
	struct fi_info *hints = vt_allocinfo(test, "verbs");

	hints->domain_attr->name = kstrdup(fakehca_name(ht_of(test)->hca), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hints->domain_attr->name);
	return hints;
}

int ht_getinfo(struct kunit *test, const struct fi_info *hints, struct fi_info **info)
{
	int ret;

	ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
			 FAKEHCA_ADDR, 0, FI_SOURCE, hints, info);
	if (!ret)
		vt_free_later(test, *info);
	return ret;
}

void ht_fabric(struct kunit *test, const struct fi_info *hints)
{
	struct ht *ht = ht_of(test);

	KUNIT_ASSERT_EQ(test, ht_getinfo(test, hints, &ht->vt.info), 0);
	KUNIT_ASSERT_EQ(test, fi_fabric(ht->vt.info->fabric_attr, &ht->vt.fabric, ht), 0);
	KUNIT_EXPECT_PTR_EQ(test, ht->vt.fabric->fid.context, (void *)ht);
	vt_adopt(test, &ht->vt.fabric->fid);
}

void ht_open(struct kunit *test, const struct fakehca_attr *attr)
{
	struct ht *ht = ht_of(test);

	ht_device(test, attr);
	ht_fabric(test, ht_hints(test));
	KUNIT_ASSERT_EQ(test, fi_domain(ht->vt.fabric, ht->vt.info, &ht->vt.domain, ht), 0);
	KUNIT_EXPECT_PTR_EQ(test, ht->vt.domain->fid.context, (void *)ht);
	vt_adopt(test, &ht->vt.domain->fid);
}

void ht_serve(struct kunit *test, const struct fakehca_attr *attr)
{
	ht_open(test, attr);
	vt_listen(test, vt_eq(test, 0));
}
