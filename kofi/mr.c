// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions.
 *
 * Three calls describe the same thing in different words; each goes to its own
 * slot, so that a provider need not build lists for a single buffer.  The core
 * checks the words: what lies behind the addresses is for the provider to see.
 */
#include <linux/err.h>
#include <linux/module.h>
#include "kofi.h"

#define KOFI_MR_ACCESS	(FI_SEND | FI_RECV | FI_READ | FI_WRITE | \
			 FI_REMOTE_READ | FI_REMOTE_WRITE)

static int kofi_mr_check(struct fid_domain *domain, struct fid_mr **mr,
			 u64 access, u64 offset, u64 flags, u64 known)
{
	if (!kofi_is(domain, FI_CLASS_DOMAIN) || !mr)
		return -EINVAL;
	if (flags & ~known)
		return -FI_EBADFLAGS;
	if (access & ~KOFI_MR_ACCESS || offset)
		return -EINVAL;
	return 0;
}

/* All views of the list are pointers in one union */
static bool kofi_mr_attr_is_valid(const struct fi_mr_attr *attr)
{
	switch (attr->type) {
	case FI_BUF_KVEC:
	case FI_BUF_BVEC:
	case FI_BUF_SGL:
		break;
	default:
		return false;
	}
	return attr->mr_iov && attr->iov_count &&
	       attr->iface == FI_HMEM_SYSTEM &&
	       (attr->auth_key || !attr->auth_key_size);
}

int fi_mr_reg(struct fid_domain *domain, const void *buf, size_t len,
	      u64 access, u64 offset, u64 requested_key, u64 flags,
	      struct fid_mr **mr, void *context)
{
	struct fid_mr *new = NULL;
	struct kofi_obj *obj;
	int ret;

	ret = kofi_mr_check(domain, mr, access, offset, flags, 0);
	if (ret)
		return ret;
	if (!buf || !len || (uintptr_t)buf + len - 1 < (uintptr_t)buf)
		return -EINVAL;

	obj = kofi_open_child(&domain->fid, FI_CLASS_MR, NULL);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	ret = domain->mr->reg(&domain->fid, buf, len, access, offset,
			      requested_key, flags, &new, context);
	ret = kofi_opened(obj, kofi_fid(new), 0, ret);
	if (!ret)
		*mr = new;
	return ret;
}
EXPORT_SYMBOL_GPL(fi_mr_reg);

int fi_mr_regv(struct fid_domain *domain, const struct kvec *iov, size_t count,
	       u64 access, u64 offset, u64 requested_key, u64 flags,
	       struct fid_mr **mr, void *context)
{
	struct fid_mr *new = NULL;
	struct kofi_obj *obj;
	int ret;

	ret = kofi_mr_check(domain, mr, access, offset, flags, 0);
	if (ret)
		return ret;
	if (!iov || !count)
		return -EINVAL;

	obj = kofi_open_child(&domain->fid, FI_CLASS_MR, NULL);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	ret = domain->mr->regv(&domain->fid, iov, count, access, offset,
			       requested_key, flags, &new, context);
	ret = kofi_opened(obj, kofi_fid(new), 0, ret);
	if (!ret)
		*mr = new;
	return ret;
}
EXPORT_SYMBOL_GPL(fi_mr_regv);

int fi_mr_regattr(struct fid_domain *domain, const struct fi_mr_attr *attr,
		  u64 flags, struct fid_mr **mr)
{
	struct fid_mr *new = NULL;
	struct kofi_obj *obj;
	int ret;

	if (!attr)
		return -EINVAL;
	ret = kofi_mr_check(domain, mr, attr->access, attr->offset, flags,
			    FI_MR_ENDPOINT);
	if (ret)
		return ret;
	if (!kofi_mr_attr_is_valid(attr))
		return -EINVAL;

	obj = kofi_open_child(&domain->fid, FI_CLASS_MR, NULL);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	ret = domain->mr->regattr(&domain->fid, attr, flags, &new);
	ret = kofi_opened(obj, kofi_fid(new), 0, ret);
	if (!ret)
		*mr = new;
	return ret;
}
EXPORT_SYMBOL_GPL(fi_mr_regattr);

int fi_mr_bind(struct fid_mr *mr, struct fid *bfid, u64 flags)
{
	if (!kofi_is(mr, FI_CLASS_MR))
		return -EINVAL;
	return kofi_bind(&mr->fid, bfid, flags);
}
EXPORT_SYMBOL_GPL(fi_mr_bind);

/* As fi_control(), which need not look any more whether there is a region and @arg */
static int kofi_mr_control(struct fid_mr *mr, int command, void *arg)
{
	return kofi_call(command == FI_ENABLE ? "enable" : "control", &mr->fid,
			 mr->fid.ops->control(&mr->fid, command, arg));
}

int fi_mr_enable(struct fid_mr *mr)
{
	if (!kofi_is(mr, FI_CLASS_MR))
		return -EINVAL;
	return kofi_mr_control(mr, FI_ENABLE, NULL);
}
EXPORT_SYMBOL_GPL(fi_mr_enable);

int fi_mr_disable(struct fid_mr *mr, u64 flags, void *context)
{
	struct fi_mr_end end = { .flags = flags, .context = context };

	if (!kofi_is(mr, FI_CLASS_MR))
		return -EINVAL;
	if (flags & ~FI_REMOTE_INV)
		return -FI_EBADFLAGS;
	return kofi_mr_control(mr, FI_DISABLE, &end);
}
EXPORT_SYMBOL_GPL(fi_mr_disable);

int fi_mr_refresh(struct fid_mr *mr, const struct fi_mr_attr *attr, u64 flags)
{
	if (!kofi_is(mr, FI_CLASS_MR) || !attr)
		return -EINVAL;
	if (flags)
		return -FI_EBADFLAGS;
	if (!kofi_mr_attr_is_valid(attr) || attr->access & ~KOFI_MR_ACCESS ||
	    attr->offset)
		return -EINVAL;
	return kofi_mr_control(mr, FI_REFRESH,
			       &(struct fi_mr_modify) { .attr = attr });
}
EXPORT_SYMBOL_GPL(fi_mr_refresh);
