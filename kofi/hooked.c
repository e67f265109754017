// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Hooks for clients that name none: the parameter hooks= of kofi.ko.
 *
 *	modprobe kofi hooks='ofi_hook_fault;ofi_hook_trace'
 *	echo ofi_hook_trace >/sys/module/kofi/parameters/hooks
 *
 * Each result of fi_getinfo() gets these hooks on top, the last one uppermost.  Only the
 * result's name changes: a hook's results are those of the provider below.  The hook opens
 * the objects that the client opens by such a result.  A result that has a hook already,
 * because the client named it, gets no other.
 *
 * The parameter may change at any time; open objects are not affected.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "info.h"
#include "kofi.h"
#include "query.h"

static char *hooks = "";
module_param(hooks, charp, 0644);
MODULE_PARM_DESC(hooks, "hooks on every provider, with ; between them (default: none)");

/* Version of the hook @name; 0: there is no such hook */
static u32 hook_version(const char *name)
{
	struct kofi_prov *prov;
	u32 version;

	if (!kofi_is_hook(name))
		return 0;
	prov = kofi_prov_get(name, 0);
	if (!prov) {
		kofi_prov_load(name);
		prov = kofi_prov_get(name, 0);
	}
	if (!prov)
		return 0;
	version = prov->provider->version;
	kofi_prov_put(prov);
	return version;
}

static int put_hook(struct fi_fabric_attr *attr, const char *name, u32 version)
{
	char *both = kasprintf(GFP_KERNEL, "%s;%s", attr->prov_name, name);

	if (!both)
		return -ENOMEM;
	kfree(attr->prov_name);
	attr->prov_name = both;
	attr->prov_version = version;
	return 0;
}

static bool has_hook(const struct fi_info *info)
{
	const char *top = strrchr(info->fabric_attr->prov_name, ';');

	return top && kofi_is_hook(top + 1);
}

static int put_hooks(struct fi_info *info, const char *names)
{
	char *list = kstrdup(names, GFP_KERNEL), *rest = list, *name;
	int err = list ? 0 : -ENOMEM;
	u32 version;

	while (!err && (name = strsep(&rest, ";\n"))) {
		if (!*name)
			continue;
		version = hook_version(name);
		if (version) {
			err = put_hook(info->fabric_attr, name, version);
		} else {
			pr_warn_ratelimited("parameter hooks: there is no provider %s\n", name);
			err = -ENODATA;
		}
	}
	kfree(list);
	return err;
}

int kofi_query_put_hooks(struct kofi_query *query)
{
	struct fi_info *info;
	char *names;
	int err = 0;

	if (query->only_fabric || query->flags & FI_PROV_ATTR_ONLY)
		return 0;
	kernel_param_lock(THIS_MODULE);
	names = kstrdup(hooks, GFP_KERNEL);
	kernel_param_unlock(THIS_MODULE);
	if (!names)
		return -ENOMEM;
	for (info = query->results; info && !err; info = info->next)
		if (!has_hook(info))
			err = put_hooks(info, names);
	kfree(names);
	return err;
}
