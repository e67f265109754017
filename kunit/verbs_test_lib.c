// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The frame of a case: discovery, objects, and their end.
 */
#include <net/ipv6.h>
#include "verbs_test.h"

struct vt_fid {
	struct list_head	entry;
	struct fid		*fid;
};

KUNIT_DEFINE_ACTION_WRAPPER(vt_freeinfo, fi_freeinfo, struct fi_info *);

int vt_init(struct kunit *test)
{
	struct vt *vt = kunit_kzalloc(test, sizeof(*vt), GFP_KERNEL);

	if (!vt)
		return -ENOMEM;
	INIT_LIST_HEAD(&vt->fids);
	test->priv = vt;
	return 0;
}

void vt_exit(struct kunit *test)
{
	struct vt *vt = test->priv;
	struct vt_fid *entry, *next;

	if (!vt)
		return;
	list_for_each_entry_safe(entry, next, &vt->fids, entry) {
		KUNIT_EXPECT_EQ(test, fi_close(entry->fid), 0);
		kfree(entry);
	}
}

void vt_adopt(struct kunit *test, struct fid *fid)
{
	struct vt_fid *entry = kzalloc(sizeof(*entry), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, entry);
	entry->fid = fid;
	list_add(&entry->entry, &vt_of(test)->fids);
}

void vt_close(struct kunit *test, struct fid *fid)
{
	struct vt_fid *entry;

	KUNIT_ASSERT_EQ(test, fi_close(fid), 0);
	list_for_each_entry(entry, &vt_of(test)->fids, entry) {
		if (entry->fid != fid)
			continue;
		list_del(&entry->entry);
		kfree(entry);
		return;
	}
	KUNIT_FAIL(test, "closed an object that was not open");
}

void vt_free_later(struct kunit *test, struct fi_info *info)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, vt_freeinfo, info),
			0);
}

struct fi_info *vt_hints(struct kunit *test)
{
	struct fi_info *hints = fi_allocinfo();

	KUNIT_ASSERT_NOT_NULL(test, hints);
	vt_free_later(test, hints);
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_MSG;
	hints->fabric_attr->prov_name = kstrdup("verbs", GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hints->fabric_attr->prov_name);
	return hints;
}

int vt_getinfo(struct kunit *test, const char *node, int service, u64 flags,
	       const struct fi_info *hints, struct fi_info **info)
{
	int ret;

	*info = NULL;
	ret = fi_getinfo(VT_API, node, service, flags,
			 hints ? hints : vt_hints(test), info);
	if (!ret)
		vt_free_later(test, *info);
	return ret;
}

bool vt_is_global(const struct fi_info *info)
{
	const struct sockaddr_in6 *sin6 = info->src_addr;

	return info->addr_format != FI_SOCKADDR_IN6 ||
	       !(ipv6_addr_type(&sin6->sin6_addr) & IPV6_ADDR_LINKLOCAL);
}

/* An address of this machine that an RDMA device has; there must be one */
struct fi_info *vt_local(struct kunit *test, int family,
			 const struct fi_info *hints)
{
	u32 format = family == AF_INET6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
	struct fi_info *info;

	KUNIT_ASSERT_EQ_MSG(test, vt_getinfo(test, NULL, 0, 0, hints, &info), 0,
			    "no RDMA device with an IP address; add an rxe device");
	while (info && (info->addr_format != format || !vt_is_global(info)))
		info = info->next;
	KUNIT_ASSERT_NOT_NULL_MSG(test, info,
				  "no RDMA device with an address of family %d",
				  family);
	return info;
}

void vt_open(struct kunit *test, int family, const struct fi_info *hints)
{
	struct vt *vt = vt_of(test);

	vt->info = vt_local(test, family, hints);
	KUNIT_ASSERT_EQ(test, fi_fabric(vt->info->fabric_attr, &vt->fabric, vt),
			0);
	vt_adopt(test, &vt->fabric->fid);
	KUNIT_ASSERT_EQ(test, fi_domain(vt->fabric, vt->info, &vt->domain, vt),
			0);
	vt_adopt(test, &vt->domain->fid);
}

struct fid_eq *vt_eq(struct kunit *test, size_t size)
{
	struct fi_eq_attr attr = { .size = size, .wait_obj = FI_WAIT_UNSPEC };
	struct fid_eq *eq;

	KUNIT_ASSERT_EQ(test, fi_eq_open(vt_of(test)->fabric, &attr, &eq, NULL),
			0);
	vt_adopt(test, &eq->fid);
	return eq;
}

struct fid_ep *vt_ep(struct kunit *test, struct fi_info *info)
{
	struct fid_ep *ep;

	KUNIT_ASSERT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL),
			0);
	vt_adopt(test, &ep->fid);
	return ep;
}

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

void vt_serve(struct kunit *test, int family, const struct fi_info *hints)
{
	vt_open(test, family, hints);
	vt_listen(test, vt_eq(test, 0));
}
