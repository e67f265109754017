// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The frame of a case, and its objects.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include <kofi/stat.h>
#include "client.h"
#include "probe.h"

struct vt_fid {
	struct list_head	entry;
	struct fid		*fid;
};

KUNIT_DEFINE_ACTION_WRAPPER(vt_freeinfo, fi_freeinfo, struct fi_info *);

/* The first work that has left its worker without I/O, which the worker's next work may need */
static work_func_t vt_left_noio;

static void vt_work_ends(void *unused, struct work_struct *work, work_func_t function)
{
	if (current->flags & PF_MEMALLOC_NOIO)
		cmpxchg(&vt_left_noio, NULL, function);
}

static struct vt_probe vt_work_probe = { "workqueue_execute_end", vt_work_ends };

int vt_init(struct kunit *test)
{
	struct vt *vt = kunit_kzalloc(test, sizeof(*vt), GFP_KERNEL);

	if (!vt)
		return -ENOMEM;
	INIT_LIST_HEAD(&vt->fids);
	test->priv = vt;
	return 0;
}
EXPORT_SYMBOL_GPL(vt_init);

void vt_exit(struct kunit *test)
{
	struct vt *vt = test->priv;
	struct vt_fid *entry, *next;
	work_func_t left_noio;

	if (!vt)
		return;
	list_for_each_entry_safe(entry, next, &vt->fids, entry) {
		KUNIT_EXPECT_EQ(test, fi_close(entry->fid), 0);
		kfree(entry);
	}
	KUNIT_EXPECT_FALSE(test, current->flags & PF_MEMALLOC_NOIO);
	left_noio = xchg(&vt_left_noio, NULL);
	KUNIT_EXPECT_NULL_MSG(test, left_noio, "%ps", left_noio);
}
EXPORT_SYMBOL_GPL(vt_exit);

void vt_adopt(struct kunit *test, struct fid *fid)
{
	struct vt_fid *entry = kzalloc(sizeof(*entry), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, entry);
	entry->fid = fid;
	list_add(&entry->entry, &vt_of(test)->fids);
}
EXPORT_SYMBOL_GPL(vt_adopt);

void vt_closed(struct kunit *test, const struct fid *fid)
{
	struct vt_fid *entry;

	list_for_each_entry(entry, &vt_of(test)->fids, entry) {
		if (entry->fid != fid)
			continue;
		list_del(&entry->entry);
		kfree(entry);
		return;
	}
	KUNIT_FAIL(test, "closed an object that was not open");
}
EXPORT_SYMBOL_GPL(vt_closed);

void vt_close(struct kunit *test, struct fid *fid)
{
	KUNIT_ASSERT_EQ(test, fi_close(fid), 0);
	vt_expect_no_frame(test);
	vt_closed(test, fid);
}
EXPORT_SYMBOL_GPL(vt_close);

void vt_free_later(struct kunit *test, struct fi_info *info)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, vt_freeinfo, info),
			0);
}
EXPORT_SYMBOL_GPL(vt_free_later);

struct fi_info *vt_dup(struct kunit *test, const struct fi_info *info)
{
	struct fi_info *copy = fi_dupinfo(info);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	vt_free_later(test, copy);
	return copy;
}
EXPORT_SYMBOL_GPL(vt_dup);

struct fi_info *vt_allocinfo(struct kunit *test, const char *prov)
{
	struct fi_info *hints = fi_allocinfo();

	KUNIT_ASSERT_NOT_NULL(test, hints);
	vt_free_later(test, hints);
	hints->fabric_attr->prov_name = kstrdup(prov, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hints->fabric_attr->prov_name);
	return hints;
}
EXPORT_SYMBOL_GPL(vt_allocinfo);

void vt_open_info(struct kunit *test, struct fi_info *info)
{
	struct vt *vt = vt_of(test);

	vt->info = info;
	KUNIT_ASSERT_EQ(test, fi_fabric(vt->info->fabric_attr, &vt->fabric, vt),
			0);
	vt_adopt(test, &vt->fabric->fid);
	KUNIT_ASSERT_EQ(test, fi_domain(vt->fabric, vt->info, &vt->domain, vt),
			0);
	vt_adopt(test, &vt->domain->fid);
}
EXPORT_SYMBOL_GPL(vt_open_info);

struct fid_eq *vt_eq(struct kunit *test, size_t size)
{
	struct fi_eq_attr attr = { .size = size, .wait_obj = FI_WAIT_UNSPEC };
	struct fid_eq *eq;

	KUNIT_ASSERT_EQ(test, fi_eq_open(vt_of(test)->fabric, &attr, &eq, NULL),
			0);
	vt_adopt(test, &eq->fid);
	return eq;
}
EXPORT_SYMBOL_GPL(vt_eq);

struct fid_ep *vt_ep(struct kunit *test, struct fi_info *info)
{
	struct fid_ep *ep;

	KUNIT_ASSERT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL),
			0);
	vt_adopt(test, &ep->fid);
	return ep;
}
EXPORT_SYMBOL_GPL(vt_ep);

void vt_listen(struct kunit *test, struct fid_eq *eq)
{
	struct vt *vt = vt_of(test);

	vt->eq = eq;
	KUNIT_ASSERT_EQ(test, fi_passive_ep(vt->fabric, vt->info, &vt->pep, vt),
			0);
	vt_adopt(test, &vt->pep->fid);
	KUNIT_ASSERT_EQ(test, fi_pep_bind(vt->pep, &vt->eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_listen(vt->pep), 0);
	vt->name_len = sizeof(vt->name);
	KUNIT_ASSERT_EQ(test, fi_getname(&vt->pep->fid, &vt->name,
					 &vt->name_len), 0);
}
EXPORT_SYMBOL_GPL(vt_listen);

struct fid_mr *vt_reg(struct kunit *test, void *buf, size_t len, u64 access)
{
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, buf, len, access, 0, 0, 0, &mr, NULL),
			0);
	vt_adopt(test, &mr->fid);
	return mr;
}
EXPORT_SYMBOL_GPL(vt_reg);

u64 vt_stat(struct kunit *test, struct fid *fid, const char *name)
{
	struct kofi_stat stat = {};
	size_t i;

	KUNIT_ASSERT_EQ(test, fi_control(fid, KOFI_GETSTAT, &stat), 0);
	for (i = 0; i < stat.count; i++)
		if (!strcmp(stat.values[i].name, name))
			return stat.values[i].value;
	KUNIT_FAIL(test, "there is no %s", name);
	return 0;
}
EXPORT_SYMBOL_GPL(vt_stat);

static int __init vt_client_init(void)
{
	return vt_probe_all(&vt_work_probe, 1);
}

static void __exit vt_client_exit(void)
{
	vt_unprobe_all(&vt_work_probe, 1);
}

module_init(vt_client_init);
module_exit(vt_client_exit);

MODULE_DESCRIPTION("What KUnit suites of kOFI share that are clients");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
