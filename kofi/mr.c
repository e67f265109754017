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
#include <linux/module.h>
#include <linux/preempt.h>
#include <kofi/pages.h>
#include <kofi/provider.h>
#include "info.h"
#include "kofi.h"

static int kofi_mr_check(const char *call, struct fid_domain *domain, struct fid_mr **mr,
			 u64 access, u64 offset, u64 flags, u64 known)
{
	int ret;

	/* Without this, vmalloc() stops the machine */
	if (in_interrupt())
		return kofi_refuse(call, -EINVAL, "called in an interrupt, or with softirqs off, but it may sleep");
	ret = kofi_check_is(call, domain, BIT(FI_CLASS_DOMAIN)) ? :
	      kofi_check_ptr(call, mr) ? :
	      kofi_check_flags(call, flags, known);
	if (ret)
		return ret;
	if (access & ~KOFI_MR_ACCESS)
		return kofi_refuse(call, -EINVAL, "access %#llx is not known; %#llx is",
				   access & ~KOFI_MR_ACCESS, KOFI_MR_ACCESS);
	if (offset)
		return kofi_refuse(call, -EINVAL, "offset is %llu, and has to be 0", offset);
	return 0;
}

/*
 * Pass the answer of a provider on, and say why it has refused the memory; for a hook, the call
 * below it has said that
 */
static int kofi_mr_log(const char *call, int ret, const struct fid_domain *domain,
		       enum fi_buf_type type, const void *list, size_t count)
{
	if (ret == -EINVAL && !kofi_is_hook(domain->fid.obj->prov->provider->name))
		kofi_list_log(call, type, list, count, domain->fid.obj->caps & FI_HMEM);
	return ret;
}

static int kofi_mr_check_buf(const void *buf, size_t len)
{
	int ret = kofi_check_ptr("mr_reg", buf);

	if (ret)
		return ret;
	if (!len)
		return kofi_refuse("mr_reg", -EINVAL, "len is 0");
	if ((uintptr_t)buf + len - 1 < (uintptr_t)buf)
		return kofi_refuse("mr_reg", -EINVAL, "len is %zu: more than there is behind buf",
				   len);
	return 0;
}

int fi_mr_reg(struct fid_domain *domain, const void *buf, size_t len,
	      u64 access, u64 offset, u64 requested_key, u64 flags,
	      struct fid_mr **mr, void *context)
{
	const struct kvec iov = { (void *)buf, len };
	int ret;

	might_sleep_if(!in_interrupt());
	ret = kofi_mr_check("mr_reg", domain, mr, access, offset, flags, 0) ? :
	      kofi_mr_check_buf(buf, len);
	if (ret)
		return ret;

	return kofi_open("mr_reg", &domain->fid, FI_CLASS_MR, mr,
			 kofi_mr_log("mr_reg",
				     domain->mr->reg(&domain->fid, buf, len, access, offset,
							requested_key, flags, &new, context),
				     domain, FI_BUF_KVEC, &iov, 1));
}
EXPORT_SYMBOL_GPL(fi_mr_reg);

int fi_mr_regv(struct fid_domain *domain, const struct kvec *iov, size_t count,
	       u64 access, u64 offset, u64 requested_key, u64 flags,
	       struct fid_mr **mr, void *context)
{
	int ret;

	might_sleep_if(!in_interrupt());
	ret = kofi_mr_check("mr_regv", domain, mr, access, offset, flags, 0) ? :
	      kofi_check_ptr("mr_regv", iov);
	if (!ret && !count)
		ret = kofi_refuse("mr_regv", -EINVAL, "count is 0");
	if (ret)
		return ret;

	return kofi_open("mr_regv", &domain->fid, FI_CLASS_MR, mr,
			 kofi_mr_log("mr_regv",
				     domain->mr->regv(&domain->fid, iov, count, access, offset,
							 requested_key, flags, &new, context),
				     domain, FI_BUF_KVEC, iov, count));
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

static int kofi_mr_check_dmabuf(const struct fi_mr_attr *attr)
{
	const struct fi_mr_dmabuf *piece = attr->dmabuf;
	int ret;

	if (attr->type || attr->iov_count != 1)
		return kofi_refuse("mr_regattr", -EINVAL, "attr->type is %d and attr->iov_count is %zu; FI_MR_DMABUF needs 0 and 1",
				   attr->type, attr->iov_count);
	ret = kofi_check_ptr("mr_regattr", piece) ? :
	      kofi_check_ptr("mr_regattr", piece->dmabuf);
	if (ret)
		return ret;
	if (!piece->len || piece->len > piece->dmabuf->size ||
	    piece->offset > piece->dmabuf->size - piece->len)
		return kofi_refuse("mr_regattr", -EINVAL, "%zu bytes at %llu are not in the dma-buf, which has %zu",
				   piece->len, (u64)piece->offset, piece->dmabuf->size);
	return 0;
}

static int kofi_mr_check_attr(const struct fi_mr_attr *attr, u64 flags)
{
	int ret;

	if (flags & FI_MR_LEND && !(flags & FI_MR_ENDPOINT))
		return kofi_refuse("mr_regattr", -FI_EBADFLAGS, "flags: FI_MR_LEND needs FI_MR_ENDPOINT");
	ret = flags & FI_MR_DMABUF ? kofi_mr_check_dmabuf(attr) : 0;
	if (ret)
		return ret;
	/* A region of an endpoint may get its memory later; an empty list lends nothing */
	if (flags & FI_MR_ENDPOINT && kofi_mr_attr_is_empty(attr))
		return 0;
	if (flags & FI_MR_LEND && attr->type != FI_BUF_SGL)
		return kofi_refuse("mr_regattr", -EINVAL, "attr->type is %d; FI_MR_LEND needs FI_BUF_SGL, or an empty list",
				   attr->type);
	if (!kofi_mr_attr_is_valid(attr))
		return kofi_refuse("mr_regattr", -EINVAL, "attr->type %d, attr->iov_count %zu: no list with elements, of a known type",
				   attr->type, attr->iov_count);
	return 0;
}

int fi_mr_regattr(struct fid_domain *domain, const struct fi_mr_attr *attr,
		  u64 flags, struct fid_mr **mr)
{
	int ret;

	might_sleep_if(!in_interrupt());
	ret = kofi_check_ptr("mr_regattr", attr) ? :
	      kofi_mr_check("mr_regattr", domain, mr, attr->access, attr->offset, flags,
			    kofi_mr_flags(domain)) ? :
	      kofi_mr_check_attr(attr, flags);
	if (ret)
		return ret;

	/* A dma-buf is no list */
	return kofi_open("mr_regattr", &domain->fid, FI_CLASS_MR, mr,
			 kofi_mr_log("mr_regattr",
				     domain->mr->regattr(&domain->fid, attr, flags, &new),
				     domain, attr->type, attr->mr_iov,
				     flags & FI_MR_DMABUF ? 0 : attr->iov_count));
}
EXPORT_SYMBOL_GPL(fi_mr_regattr);

int fi_mr_bind(struct fid_mr *mr, struct fid *bfid, u64 flags)
{
	might_sleep();
	return kofi_check_is("mr_bind", mr, BIT(FI_CLASS_MR)) ? :
	       kofi_bind("mr_bind", &mr->fid, bfid, flags);
}
EXPORT_SYMBOL_GPL(fi_mr_bind);
