// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Opening a fabric: the client's first call into a provider.
 *
 * __fi_fabric() finds the provider by the name that fi_getinfo() filled in, and by the
 * version, if that is still registered.  If no provider has the name, it requests the
 * module once.  The fabric keeps the reference on the provider until it is closed.
 * kofi_lower_fabric() does that for a provider that stands on another one; layers.c has the names.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "kofi.h"

/* The uppermost provider of the name, which opens the providers below it itself */
static struct kofi_prov *kofi_fabric_prov(const struct fi_fabric_attr *attr)
{
	const char *name = strrchr(attr->prov_name, ';');
	struct kofi_prov *prov;

	name = name ? name + 1 : attr->prov_name;
	prov = kofi_prov_get(name, attr->prov_version);
	if (prov)
		return prov;

	kofi_prov_load(name);
	return kofi_prov_get(name, attr->prov_version);
}

int __fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		void *context, struct module *client)
{
	struct fi_fabric_attr own_attr;
	struct fid_fabric *new = NULL;
	struct kofi_prov *prov;
	struct kofi_obj *obj;
	int ret;

	might_sleep();
	ret = kofi_check_ptr("fabric", attr) ? :
	      kofi_check_ptr("fabric", attr->prov_name) ? :
	      kofi_check_ptr("fabric", fabric);
	if (ret)
		return ret;

	own_attr = *attr;
	own_attr.net = attr->net ?: kofi_callers_net();
	prov = kofi_fabric_prov(attr);
	if (!prov)
		return kofi_refuse("fabric", -ENODEV, "attr->prov_name: there is no provider %s, and no module kofi-... brings it",
				   attr->prov_name);

	obj = kofi_open_fabric(prov, &own_attr, client);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	ret = prov->provider->fabric(&own_attr, &new, context);
	ret = kofi_opened(obj, kofi_fid(new), ret);
	if (ret)
		return ret;

	if (!new->api_version)
		new->api_version = attr->api_version ? : KOFI_API_VERSION;
	*fabric = new;
	return 0;
}
EXPORT_SYMBOL_GPL(__fi_fabric);

int kofi_lower_fabric(const struct fi_fabric_attr *attr,
		      struct fid_fabric **fabric, void *context,
		      const struct kofi_provider *upper)
{
	const char *top = strrchr(attr->prov_name, ';');
	struct fi_fabric_attr lower = *attr;
	int ret;

	if (!top)
		return kofi_refuse("fabric", -EINVAL, "attr->prov_name is %s: nothing is below the provider",
				   attr->prov_name);

	lower.fabric = NULL;
	lower.prov_version = 0;
	lower.prov_name = kstrndup(attr->prov_name, top - attr->prov_name,
				   GFP_KERNEL);
	if (!lower.prov_name)
		return -ENOMEM;
	ret = __fi_fabric(&lower, fabric, context, upper->owner);
	kfree(lower.prov_name);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_lower_fabric);
