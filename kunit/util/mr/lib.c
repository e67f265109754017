// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A domain with regions.
 */
#include <linux/err.h>
#include <linux/xarray.h>
#include "mr.h"

static struct ut_domain *ut_domain_of(struct kofi_mr *mr)
{
	return container_of(mr->map, struct ut_domain, dom.map);
}

static int ut_mr_enable(struct kofi_mr *mr)
{
	struct ut_domain *ud = ut_domain_of(mr);

	ud->enables++;
	return ud->enable_ret;
}

static int ut_mr_disable(struct kofi_mr *mr, void *context, void **token)
{
	struct ut_domain *ud = ut_domain_of(mr);

	if (!ud->disable_ret)
		*token = context;
	return ud->disable_ret;
}

static void ut_mr_disabled(struct kofi_mr *mr, u64 key, void *token)
{
	struct ut_domain *ud = ut_domain_of(mr);

	if (ud->meanwhile)
		ud->meanwhile(ud, mr);
	ud->key = key;
	ud->context = token;
	ud->ends++;
	complete(&ud->entered);
	if (ud->hold)
		wait_for_completion(&ud->leave);
}

static int ut_may_register(const struct kofi_mr_map *map)
{
	return 0;
}

static const struct kofi_mr_ops ut_mr_ops = {
	.size		= sizeof(struct kofi_mr),
	.may_register	= ut_may_register,
	.enable		= ut_mr_enable,
	.disable	= ut_mr_disable,
	.disabled	= ut_mr_disabled,
};

static void ut_domain_destroy(void *data)
{
	struct ut_domain *ud = data;

	kofi_mr_map_destroy(&ud->dom.map);
	/* No leak check counts the nodes of an xarray for the module */
	WARN_ON_ONCE(!xa_empty(&ud->dom.map.chosen));
}

struct ut_domain *ut_domain(struct kunit *test, int mr_mode)
{
	struct ut_domain *ud = vt_buf(test, sizeof(*ud));

	init_completion(&ud->entered);
	init_completion(&ud->leave);
	ud->dom.domain.fid.fclass = FI_CLASS_DOMAIN;
	ud->dom.domain.mr = &kofi_mr_domain_ops;
	memset(&ud->dom.map, 0xa5, sizeof(ud->dom.map));
	KUNIT_ASSERT_EQ(test, kofi_mr_map_init(&ud->dom.map, mr_mode, false, &ut_mr_ops), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, ut_domain_destroy, ud), 0);
	return ud;
}

int ut_mr_reg(struct ut_domain *ud, const struct ut_list *list, u64 access,
	      u64 requested_key, u64 flags, struct kofi_mr **mr)
{
	const struct fi_mr_attr attr = {
		.type		= list->type,
		.mr_iov		= list->kvec,
		.iov_count	= list->count,
		.access		= access,
		.requested_key	= requested_key,
		.context	= ud,
	};
	struct fid_mr *fid_mr;
	int ret;

	ret = ud->dom.domain.mr->regattr(&ud->dom.domain.fid, &attr, flags, &fid_mr);
	if (!ret)
		*mr = to_kofi_mr(&fid_mr->fid);
	return ret;
}

struct kofi_mr *ut_mr(struct kunit *test, struct ut_domain *ud, void *buf,
		      size_t len, u64 access, u64 requested_key)
{
	struct ut_list list = {
		.type		= FI_BUF_KVEC,
		.count		= 1,
		.kvec		= { { buf, len } },
	};
	struct kofi_mr *mr = NULL;

	KUNIT_ASSERT_EQ(test, ut_mr_reg(ud, &list, access, requested_key, 0, &mr), 0);
	return mr;
}

void ut_mr_close(struct kunit *test, struct kofi_mr *mr)
{
	KUNIT_EXPECT_EQ(test, mr->mr.fid.ops->close(&mr->mr.fid), 0);
}

int ut_access(struct ut_domain *ud, const struct fid_ep *ep, u64 key, u64 addr,
	      size_t len, u64 access)
{
	struct kofi_mr *mr;
	size_t offset;

	mr = kofi_mr_get(&ud->dom.map, ep, key, addr, len, access, &offset);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	kofi_mr_put(mr);
	return 0;
}
