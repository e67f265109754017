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

/* An endpoint, or a context of a scalable endpoint: each has operations of its own */
#define KOFI_CTXS		\
	(BIT(FI_CLASS_EP) | BIT(FI_CLASS_TX_CTX) | BIT(FI_CLASS_RX_CTX))
#define KOFI_HAVE_OPTIONS	\
	(KOFI_CTXS | BIT(FI_CLASS_SEP) | BIT(FI_CLASS_SRX_CTX) | BIT(FI_CLASS_STX_CTX) | \
	 BIT(FI_CLASS_PEP))

int fi_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		  struct fid_pep **pep, void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("passive_ep", fabric, BIT(FI_CLASS_FABRIC)) ? :
	      kofi_check_ptr("passive_ep", pep) ? :
	      kofi_check_info("passive_ep", info, &fabric->fid);
	if (ret)
		return ret;

	return kofi_open("passive_ep", &fabric->fid, FI_CLASS_PEP, pep,
			 fabric->ops->passive_ep(fabric, info, &new, context));
}
EXPORT_SYMBOL_GPL(fi_passive_ep);

int fi_endpoint(struct fid_domain *domain, struct fi_info *info,
		struct fid_ep **ep, void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("endpoint", domain, BIT(FI_CLASS_DOMAIN)) ? :
	      kofi_check_ptr("endpoint", ep) ? :
	      kofi_check_info("endpoint", info, &domain->fid);
	if (ret)
		return ret;

	return kofi_open_with("endpoint", &domain->fid, FI_CLASS_EP, NULL, info->caps, ep,
			      domain->ops->endpoint(domain, info, &new, context));
}
EXPORT_SYMBOL_GPL(fi_endpoint);

int fi_ep_bind(struct fid_ep *ep, struct fid *bfid, u64 flags)
{
	might_sleep();
	return kofi_check_is("ep_bind", ep, KOFI_CTXS | BIT(FI_CLASS_SEP) |
			     BIT(FI_CLASS_SRX_CTX)) ? :
	       kofi_bind("ep_bind", &ep->fid, bfid, flags);
}
EXPORT_SYMBOL_GPL(fi_ep_bind);

int fi_pep_bind(struct fid_pep *pep, struct fid *bfid, u64 flags)
{
	might_sleep();
	return kofi_check_is("pep_bind", pep, BIT(FI_CLASS_PEP)) ? :
	       kofi_bind("pep_bind", &pep->fid, bfid, flags);
}
EXPORT_SYMBOL_GPL(fi_pep_bind);

int fi_enable(struct fid_ep *ep)
{
	might_sleep();
	return kofi_check_is("enable", ep, KOFI_CTXS | BIT(FI_CLASS_SEP)) ? :
	       fi_control(&ep->fid, FI_ENABLE, NULL);
}
EXPORT_SYMBOL_GPL(fi_enable);

int fi_ep_alias(struct fid_ep *ep, struct fid_ep **alias_ep, u64 flags)
{
	struct fi_alias alias = { .flags = flags };
	struct fid *new = NULL;
	struct kofi_obj *obj;
	int ret;

	might_sleep();
	ret = kofi_check_is("ep_alias", ep, KOFI_CTXS) ? :
	      kofi_check_ptr("ep_alias", alias_ep);
	if (ret)
		return ret;

	obj = kofi_open_child("ep_alias", &ep->fid, ep->fid.fclass, NULL, ep->fid.obj->caps);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	alias.fid = &new;
	ret = ep->fid.ops->control(&ep->fid, FI_ALIAS, &alias);
	ret = kofi_opened(obj, new, ret);
	if (!ret)
		*alias_ep = container_of(new, struct fid_ep, fid);
	return ret;
}
EXPORT_SYMBOL_GPL(fi_ep_alias);

int fi_ep_drain(struct fid_ep *ep, int timeout)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("ep_drain", ep, KOFI_CTXS);
	if (ret)
		return ret;
	return kofi_call("drain", &ep->fid, ep->ops->drain(ep, timeout));
}
EXPORT_SYMBOL_GPL(fi_ep_drain);

/* @fid has one of the classes KOFI_HAVE_OPTIONS */
static const struct fi_ops_ep *kofi_ep_ops(fid_t fid)
{
	switch (fid->fclass) {
	case FI_CLASS_STX_CTX:
		return container_of(fid, struct fid_stx, fid)->ops;
	case FI_CLASS_PEP:
		return container_of(fid, struct fid_pep, fid)->ops;
	default:
		return container_of(fid, struct fid_ep, fid)->ops;
	}
}

ssize_t fi_cancel(fid_t fid, void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_fid("cancel", "fid", fid, KOFI_CTXS | BIT(FI_CLASS_SRX_CTX));
	if (ret)
		return ret;
	return kofi_call("cancel", fid, kofi_ep_ops(fid)->cancel(fid, context));
}
EXPORT_SYMBOL_GPL(fi_cancel);

int fi_setopt(fid_t fid, int level, int optname, const void *optval,
	      size_t optlen)
{
	int ret;

	might_sleep();
	ret = kofi_check_fid("setopt", "fid", fid, KOFI_HAVE_OPTIONS) ? :
	      kofi_check_ptr("setopt", optval);
	if (!ret && !optlen)
		ret = kofi_refuse("setopt", -EINVAL, "optlen is 0");
	if (ret)
		return ret;
	return kofi_call("setopt", fid,
			 kofi_ep_ops(fid)->setopt(fid, level, optname, optval, optlen));
}
EXPORT_SYMBOL_GPL(fi_setopt);

int fi_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	int ret;

	might_sleep();
	ret = kofi_check_fid("getopt", "fid", fid, KOFI_HAVE_OPTIONS) ? :
	      kofi_check_ptr("getopt", optlen) ? :
	      kofi_check_list("getopt", optval, *optlen);
	if (ret)
		return ret;
	return kofi_call("getopt", fid,
			 kofi_ep_ops(fid)->getopt(fid, level, optname, optval, optlen));
}
EXPORT_SYMBOL_GPL(fi_getopt);
