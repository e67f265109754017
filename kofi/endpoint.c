// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints of all kinds: open, bind, enable, options.
 *
 * Active endpoints and shared receive contexts are struct fid_ep and belong to
 * a domain, passive endpoints are struct fid_pep and belong to a fabric.  The
 * calls which take either get a fid and find the table by its class.
 */
#include <linux/err.h>
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

int fi_srx_context(struct fid_domain *domain, struct fi_rx_attr *attr,
		   struct fid_ep **rx_ep, void *context)
{
	struct fid_ep *new = NULL;
	struct kofi_obj *obj;
	int ret;

	if (!kofi_is(domain, FI_CLASS_DOMAIN) || !attr || !rx_ep)
		return -EINVAL;

	obj = kofi_open_child(&domain->fid, FI_CLASS_SRX_CTX, NULL);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	ret = domain->ops->srx_ctx(domain, attr, &new, context);
	ret = kofi_opened(obj, kofi_fid(new), 0, ret);
	if (!ret)
		*rx_ep = new;
	return ret;
}
EXPORT_SYMBOL_GPL(fi_srx_context);

int fi_ep_bind(struct fid_ep *ep, struct fid *bfid, u64 flags)
{
	if (!kofi_is(ep, FI_CLASS_EP) && !kofi_is(ep, FI_CLASS_SRX_CTX))
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
	if (!kofi_is(ep, FI_CLASS_EP))
		return -EINVAL;
	return fi_control(&ep->fid, FI_ENABLE, NULL);
}
EXPORT_SYMBOL_GPL(fi_enable);

static const struct fi_ops_ep *kofi_ep_ops(fid_t fid)
{
	if (kofi_fid_is(fid, FI_CLASS_EP) || kofi_fid_is(fid, FI_CLASS_SRX_CTX))
		return container_of(fid, struct fid_ep, fid)->ops;
	if (kofi_fid_is(fid, FI_CLASS_PEP))
		return container_of(fid, struct fid_pep, fid)->ops;
	return NULL;
}

ssize_t fi_cancel(fid_t fid, void *context)
{
	const struct fi_ops_ep *ops = kofi_ep_ops(fid);

	if (!ops || fid->fclass == FI_CLASS_PEP)
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
