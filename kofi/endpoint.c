// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints of all kinds: open, bind, enable, options, drain.
 *
 * Active endpoints are struct fid_ep and belong to a domain, as do the objects that
 * context.c opens.  Passive endpoints are struct fid_pep and belong to a fabric.  A call
 * that takes any of them gets a fid, and finds the table by the class of the fid.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include "kofi.h"

int fi_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		  struct fid_pep **pep, void *context)
{
	struct fid_pep *new = NULL;
	struct kofi_obj *obj;
	int ret;

	if (!kofi_is(fabric, FI_CLASS_FABRIC) || !pep ||
	    !kofi_info_suits(info, &fabric->fid))
		return -EINVAL;

	obj = kofi_open_child(&fabric->fid, FI_CLASS_PEP, NULL);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	ret = fabric->ops->passive_ep(fabric, info, &new, context);
	ret = kofi_opened(obj, kofi_fid(new), 0, ret);
	if (!ret)
		*pep = new;
	return ret;
}
EXPORT_SYMBOL_GPL(fi_passive_ep);

int fi_endpoint(struct fid_domain *domain, struct fi_info *info,
		struct fid_ep **ep, void *context)
{
	struct fid_ep *new = NULL;
	struct kofi_obj *obj;
	int ret;

	if (!kofi_is(domain, FI_CLASS_DOMAIN) || !ep ||
	    !kofi_info_suits(info, &domain->fid))
		return -EINVAL;

	obj = kofi_open_child(&domain->fid, FI_CLASS_EP, NULL);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	ret = domain->ops->endpoint(domain, info, &new, context);
	ret = kofi_opened(obj, kofi_fid(new), info->caps, ret);
	if (!ret)
		*ep = new;
	return ret;
}
EXPORT_SYMBOL_GPL(fi_endpoint);

/* An endpoint, or a context of a scalable endpoint: each has operations of its own */
static bool kofi_is_ctx(const struct fid_ep *ep)
{
	return kofi_is(ep, FI_CLASS_EP) || kofi_is(ep, FI_CLASS_TX_CTX) ||
	       kofi_is(ep, FI_CLASS_RX_CTX);
}

int fi_ep_bind(struct fid_ep *ep, struct fid *bfid, u64 flags)
{
	if (!kofi_is_ctx(ep) && !kofi_is(ep, FI_CLASS_SEP) &&
	    !kofi_is(ep, FI_CLASS_SRX_CTX))
		return -EINVAL;
	return kofi_bind(&ep->fid, bfid, flags);
}
EXPORT_SYMBOL_GPL(fi_ep_bind);

int fi_pep_bind(struct fid_pep *pep, struct fid *bfid, u64 flags)
{
	if (!kofi_is(pep, FI_CLASS_PEP))
		return -EINVAL;
	return kofi_bind(&pep->fid, bfid, flags);
}
EXPORT_SYMBOL_GPL(fi_pep_bind);

int fi_enable(struct fid_ep *ep)
{
	if (!kofi_is_ctx(ep) && !kofi_is(ep, FI_CLASS_SEP))
		return -EINVAL;
	return fi_control(&ep->fid, FI_ENABLE, NULL);
}
EXPORT_SYMBOL_GPL(fi_enable);

int fi_ep_alias(struct fid_ep *ep, struct fid_ep **alias_ep, u64 flags)
{
	struct fi_alias alias = { .flags = flags };
	struct fid *new = NULL;
	struct kofi_obj *obj;
	int ret;

	if (!kofi_is_ctx(ep) || !alias_ep)
		return -EINVAL;

	obj = kofi_open_child(&ep->fid, ep->fid.fclass, NULL);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	alias.fid = &new;
	ret = ep->fid.ops->control(&ep->fid, FI_ALIAS, &alias);
	ret = kofi_opened(obj, new, 0, ret);
	if (!ret)
		*alias_ep = container_of(new, struct fid_ep, fid);
	return ret;
}
EXPORT_SYMBOL_GPL(fi_ep_alias);

int fi_ep_drain(struct fid_ep *ep, int timeout)
{
	might_sleep();
	if (!kofi_is_ctx(ep))
		return -EINVAL;
	return kofi_call("drain", &ep->fid, ep->ops->drain(ep, timeout));
}
EXPORT_SYMBOL_GPL(fi_ep_drain);

static const struct fi_ops_ep *kofi_ep_ops(fid_t fid)
{
	if (!fid || !fid->obj)
		return NULL;
	switch (fid->fclass) {
	case FI_CLASS_EP:
	case FI_CLASS_SEP:
	case FI_CLASS_TX_CTX:
	case FI_CLASS_RX_CTX:
	case FI_CLASS_SRX_CTX:
		return container_of(fid, struct fid_ep, fid)->ops;
	case FI_CLASS_STX_CTX:
		return container_of(fid, struct fid_stx, fid)->ops;
	case FI_CLASS_PEP:
		return container_of(fid, struct fid_pep, fid)->ops;
	default:
		return NULL;
	}
}

/* Can an operation be posted to the object? */
static bool kofi_takes_operations(const struct fid *fid)
{
	return fid->fclass != FI_CLASS_PEP && fid->fclass != FI_CLASS_SEP &&
	       fid->fclass != FI_CLASS_STX_CTX;
}

ssize_t fi_cancel(fid_t fid, void *context)
{
	const struct fi_ops_ep *ops = kofi_ep_ops(fid);

	if (!ops || !kofi_takes_operations(fid))
		return -EINVAL;
	return kofi_call("cancel", fid, ops->cancel(fid, context));
}
EXPORT_SYMBOL_GPL(fi_cancel);

int fi_setopt(fid_t fid, int level, int optname, const void *optval,
	      size_t optlen)
{
	const struct fi_ops_ep *ops = kofi_ep_ops(fid);

	if (!ops || !optval || !optlen)
		return -EINVAL;
	return kofi_call("setopt", fid,
			 ops->setopt(fid, level, optname, optval, optlen));
}
EXPORT_SYMBOL_GPL(fi_setopt);

int fi_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	const struct fi_ops_ep *ops = kofi_ep_ops(fid);

	if (!ops || !optlen || (!optval && *optlen))
		return -EINVAL;
	return kofi_call("getopt", fid,
			 ops->getopt(fid, level, optname, optval, optlen));
}
EXPORT_SYMBOL_GPL(fi_getopt);
