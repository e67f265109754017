// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Domains, and the check that an fi_info is fit to open anything with.
 *
 * The open calls of a provider get a whole fi_info of that provider: every attribute
 * structure is there.  The provider finds contradictions between the values.
 */
#include <linux/err.h>
#include <linux/module.h>
#include "kofi.h"

bool kofi_info_suits(const struct fi_info *info, const struct fid *fid)
{
	const char *prov_name;

	if (!info || !info->tx_attr || !info->rx_attr || !info->ep_attr ||
	    !info->domain_attr || !info->fabric_attr)
		return false;

	prov_name = info->fabric_attr->prov_name;
	return !prov_name ||
	       !strcmp(prov_name, kofi_fabric_of(fid->obj)->root->prov_name);
}

int fi_domain(struct fid_fabric *fabric, struct fi_info *info,
	      struct fid_domain **domain, void *context)
{
	struct fid_domain *new = NULL;
	struct kofi_obj *obj;
	int ret;

	if (!kofi_is(fabric, FI_CLASS_FABRIC) || !domain ||
	    !kofi_info_suits(info, &fabric->fid))
		return -EINVAL;

	obj = kofi_open_child(&fabric->fid, FI_CLASS_DOMAIN,
			      info->domain_attr->name);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	obj->caps = info->caps;

	ret = fabric->ops->domain(fabric, info, &new, context);
	ret = kofi_opened(obj, kofi_fid(new), 0, ret);
	if (!ret)
		*domain = new;
	return ret;
}
EXPORT_SYMBOL_GPL(fi_domain);

int fi_domain_bind(struct fid_domain *domain, struct fid *fid, u64 flags)
{
	if (!kofi_is(domain, FI_CLASS_DOMAIN))
		return -EINVAL;
	return kofi_bind(&domain->fid, fid, flags);
}
EXPORT_SYMBOL_GPL(fi_domain_bind);

struct device *fi_domain_device(struct fid_domain *domain)
{
	if (!kofi_is(domain, FI_CLASS_DOMAIN))
		return NULL;
	return domain->ops->dma_device(domain);
}
EXPORT_SYMBOL_GPL(fi_domain_device);

int fi_query_atomic(struct fid_domain *domain, enum fi_datatype datatype,
		    enum fi_op op, struct fi_atomic_attr *attr, u64 flags)
{
	if (!kofi_is(domain, FI_CLASS_DOMAIN) || !attr)
		return -EINVAL;
	return kofi_call("query_atomic", &domain->fid,
			 domain->ops->query_atomic(domain, datatype, op, attr,
						   flags));
}
EXPORT_SYMBOL_GPL(fi_query_atomic);
