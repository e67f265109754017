// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Domains, and the check that an fi_info is fit to open anything with.
 *
 * The open calls of a provider get a whole fi_info of that provider: every attribute
 * structure is there.  The provider finds contradictions between the values.
 */
#include <linux/module.h>
#include "kofi.h"

int kofi_check_info(const char *call, const struct fi_info *info, const struct fid *fid)
{
	const char *wanted, *opened = kofi_fabric_of(fid->obj)->root->prov_name;
	int ret;

	ret = kofi_check_ptr(call, info) ? :
	      kofi_check_ptr(call, info->tx_attr) ? :
	      kofi_check_ptr(call, info->rx_attr) ? :
	      kofi_check_ptr(call, info->ep_attr) ? :
	      kofi_check_ptr(call, info->domain_attr) ? :
	      kofi_check_ptr(call, info->fabric_attr);
	if (ret)
		return ret;

	wanted = info->fabric_attr->prov_name;
	if (wanted && strcmp(wanted, opened))
		return kofi_refuse(call, -EINVAL, "info->fabric_attr->prov_name is %s, but the fabric was opened by %s",
				   wanted, opened);
	return 0;
}

int fi_domain(struct fid_fabric *fabric, struct fi_info *info,
	      struct fid_domain **domain, void *context)
{
	int ret;

	might_sleep();
	ret = kofi_check_is("domain", fabric, BIT(FI_CLASS_FABRIC)) ? :
	      kofi_check_ptr("domain", domain) ? :
	      kofi_check_info("domain", info, &fabric->fid);
	if (ret)
		return ret;

	return kofi_open_with("domain", &fabric->fid, FI_CLASS_DOMAIN, info->domain_attr->name,
			      info->caps, domain,
			      fabric->ops->domain(fabric, info, &new, context));
}
EXPORT_SYMBOL_GPL(fi_domain);

int fi_domain_bind(struct fid_domain *domain, struct fid *fid, u64 flags)
{
	might_sleep();
	return kofi_check_is("domain_bind", domain, BIT(FI_CLASS_DOMAIN)) ? :
	       kofi_bind("domain_bind", &domain->fid, fid, flags);
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
	int ret;

	might_sleep();
	ret = kofi_check_is("query_atomic", domain, BIT(FI_CLASS_DOMAIN)) ? :
	      kofi_check_ptr("query_atomic", attr);
	if (ret)
		return ret;
	return kofi_call("query_atomic", &domain->fid,
			 domain->ops->query_atomic(domain, datatype, op, attr,
						   flags));
}
EXPORT_SYMBOL_GPL(fi_query_atomic);
