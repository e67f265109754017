// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions.
 *
 * Three calls register a region.  Each has a slot of its own, so that a provider need not
 * build a list for a single buffer.  The core checks the arguments; the provider checks the
 * memory at the addresses.
 *
 * fi_mr_refresh() and the like, which a storage client calls for each request, are inline
 * functions that call the provider directly.
 */
#include <linux/dma-buf.h>
#include <linux/err.h>
#include <linux/module.h>
#include <kofi/pages.h>
#include <kofi/provider.h>
#include "info.h"
#include "kofi.h"

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

/* Logs why a provider has refused the memory; for a hook, the call below it has logged that */
static void kofi_mr_log(const struct fid_domain *domain, enum fi_buf_type type,
			const void *list, size_t count)
{
	if (!kofi_is_hook(domain->fid.obj->prov->provider->name))
		kofi_list_log(type, list, count, domain->fid.obj->caps & FI_HMEM);
}

int fi_mr_reg(struct fid_domain *domain, const void *buf, size_t len,
	      u64 access, u64 offset, u64 requested_key, u64 flags,
	      struct fid_mr **mr, void *context)
{
	const struct kvec iov = { (void *)buf, len };
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
	if (ret == -EINVAL)
		kofi_mr_log(domain, FI_BUF_KVEC, &iov, 1);
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
	if (ret == -EINVAL)
		kofi_mr_log(domain, FI_BUF_KVEC, iov, count);
	ret = kofi_opened(obj, kofi_fid(new), 0, ret);
	if (!ret)
		*mr = new;
	return ret;
}
EXPORT_SYMBOL_GPL(fi_mr_regv);

/* A domain takes dma-bufs and persistent memory if it was opened with the capability */
static u64 kofi_mr_flags(const struct fid_domain *domain)
{
	u64 flags = FI_MR_ENDPOINT | FI_MR_LEND | FI_MR_SINGLE_USE |
		    FI_RMA_EVENT | FI_AUTH_KEY;

	if (!kofi_is(domain, FI_CLASS_DOMAIN))
		return flags;
	if (domain->fid.obj->caps & FI_HMEM)
		flags |= FI_MR_DMABUF;
	return flags | (domain->fid.obj->caps & FI_RMA_PMEM);
}

static bool kofi_mr_dmabuf_is_valid(const struct fi_mr_attr *attr)
{
	const struct fi_mr_dmabuf *piece = attr->dmabuf;

	return !attr->type && attr->iov_count == 1 && piece && piece->dmabuf &&
	       piece->len && piece->len <= piece->dmabuf->size &&
	       piece->offset <= piece->dmabuf->size - piece->len;
}

static bool kofi_mr_regattr_is_valid(const struct fi_mr_attr *attr, u64 flags)
{
	if (flags & FI_MR_DMABUF && !kofi_mr_dmabuf_is_valid(attr))
		return false;
	/* A region of an endpoint may get its memory later; an empty list lends nothing */
	if (flags & FI_MR_ENDPOINT && kofi_mr_attr_is_empty(attr))
		return true;
	if (flags & FI_MR_LEND && attr->type != FI_BUF_SGL)
		return false;
	return kofi_mr_attr_is_valid(attr);
}

int fi_mr_regattr(struct fid_domain *domain, const struct fi_mr_attr *attr,
		  u64 flags, struct fid_mr **mr)
{
	struct fid_mr *new = NULL;
	struct kofi_obj *obj;
	int ret;

	if (!attr)
		return -EINVAL;
	ret = kofi_mr_check(domain, mr, attr->access, attr->offset, flags,
			    kofi_mr_flags(domain));
	if (ret)
		return ret;
	if (flags & FI_MR_LEND && !(flags & FI_MR_ENDPOINT))
		return -FI_EBADFLAGS;
	if (!kofi_mr_regattr_is_valid(attr, flags))
		return -EINVAL;

	obj = kofi_open_child(&domain->fid, FI_CLASS_MR, NULL);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	ret = domain->mr->regattr(&domain->fid, attr, flags, &new);
	if (ret == -EINVAL && !(flags & FI_MR_DMABUF))
		kofi_mr_log(domain, attr->type, attr->mr_iov, attr->iov_count);
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
