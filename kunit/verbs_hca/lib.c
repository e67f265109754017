// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The frame of a case, and the objects below a fake HCA.
 *
 * Closing is part of the test: what a case leaves open is closed by ht_exit() in
 * the order in which a client would, and the device is asked for leftovers when
 * it has gone.
 */
#include <linux/err.h>
#include <linux/list.h>
#include <linux/string.h>
#include <rdma/fabric.h>
#include "hca.h"

struct ht_fid {
	struct list_head	entry;
	struct fid		*fid;
};

int ht_init(struct kunit *test)
{
	struct ht *ht = kunit_kzalloc(test, sizeof(*ht), GFP_KERNEL);

	if (!ht)
		return -ENOMEM;
	INIT_LIST_HEAD(&ht->fids);
	test->priv = ht;
	return 0;
}

void ht_adopt(struct kunit *test, struct fid *fid)
{
	struct ht_fid *entry = kunit_kzalloc(test, sizeof(*entry), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, entry);
	entry->fid = fid;
	list_add(&entry->entry, &ht_of(test)->fids);
}

void ht_closed(struct kunit *test, const struct fid *fid)
{
	struct ht_fid *entry, *next;

	list_for_each_entry_safe(entry, next, &ht_of(test)->fids, entry)
		if (entry->fid == fid)
			list_del(&entry->entry);
}

void ht_close(struct kunit *test, struct fid *fid)
{
	ht_closed(test, fid);
	KUNIT_EXPECT_EQ(test, fi_close(fid), 0);
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
	struct ht *ht = ht_of(test);
	struct ht_fid *entry;

	if (!ht)
		return;
	while ((entry = list_first_entry_or_null(&ht->fids, struct ht_fid,
						 entry)))
		ht_close(test, entry->fid);
	if (!ht->hca)
		return;
	fakehca_idle(ht->hca);
	fakehca_remove_begin(ht->hca);
	if (!fakehca_remove_wait(ht->hca, HT_PATIENCE_MS)) {
		KUNIT_FAIL(test, "the device is still in use");
		return;
	}
	ht_expect_clean(test);
	fakehca_destroy(ht->hca);
}

static void ht_freeinfo(void *info)
{
	fi_freeinfo(info);
}

static void ht_free_later(struct kunit *test, struct fi_info *info)
{
	KUNIT_ASSERT_NOT_NULL(test, info);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, ht_freeinfo, info),
			0);
}

struct fi_info *ht_dup(struct kunit *test, const struct fi_info *info)
{
	struct fi_info *copy = fi_dupinfo(info);

	ht_free_later(test, copy);
	return copy;
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
	struct fi_info *hints = fi_allocinfo();

	ht_free_later(test, hints);
	hints->fabric_attr->prov_name = kstrdup("verbs", GFP_KERNEL);
	hints->domain_attr->name = kstrdup(fakehca_name(ht_of(test)->hca),
					   GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hints->fabric_attr->prov_name);
	KUNIT_ASSERT_NOT_NULL(test, hints->domain_attr->name);
	return hints;
}

int ht_getinfo(struct kunit *test, const struct fi_info *hints,
	       struct fi_info **info)
{
	int ret;

	ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
			 FAKEHCA_ADDR, 0, FI_SOURCE, hints, info);
	if (!ret)
		ht_free_later(test, *info);
	return ret;
}

void ht_fabric(struct kunit *test, const struct fi_info *hints)
{
	struct ht *ht = ht_of(test);

	KUNIT_ASSERT_EQ(test, ht_getinfo(test, hints, &ht->info), 0);
	KUNIT_ASSERT_EQ(test, fi_fabric(ht->info->fabric_attr, &ht->fabric,
					NULL), 0);
	ht_adopt(test, &ht->fabric->fid);
}

void ht_open(struct kunit *test, const struct fakehca_attr *attr)
{
	struct ht *ht = ht_of(test);

	ht_device(test, attr);
	ht_fabric(test, ht_hints(test));
	KUNIT_ASSERT_EQ(test, fi_domain(ht->fabric, ht->info, &ht->domain,
					NULL), 0);
	ht_adopt(test, &ht->domain->fid);
}

struct fid_eq *ht_eq(struct kunit *test)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_eq *eq;

	KUNIT_ASSERT_EQ(test, fi_eq_open(ht_of(test)->fabric, &attr, &eq, NULL),
			0);
	ht_adopt(test, &eq->fid);
	return eq;
}

struct fid_cq *ht_cq(struct kunit *test, size_t size)
{
	struct fi_cq_attr attr = {
		.size		= size,
		.format		= FI_CQ_FORMAT_DATA,
		.wait_obj	= FI_WAIT_UNSPEC,
	};
	struct fid_cq *cq;

	KUNIT_ASSERT_EQ(test, fi_cq_open(ht_of(test)->domain, &attr, &cq, NULL),
			0);
	ht_adopt(test, &cq->fid);
	return cq;
}

void ht_listen(struct kunit *test)
{
	struct ht *ht = ht_of(test);

	ht->eq = ht_eq(test);
	KUNIT_ASSERT_EQ(test, fi_passive_ep(ht->fabric, ht->info, &ht->pep,
					    NULL), 0);
	ht_adopt(test, &ht->pep->fid);
	KUNIT_ASSERT_EQ(test, fi_pep_bind(ht->pep, &ht->eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_listen(ht->pep), 0);
	ht->name_len = sizeof(ht->name);
	KUNIT_ASSERT_EQ(test, fi_getname(&ht->pep->fid, &ht->name,
					 &ht->name_len), 0);
}

void ht_serve(struct kunit *test, const struct fakehca_attr *attr)
{
	ht_open(test, attr);
	ht_listen(test);
}
