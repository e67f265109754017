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
 * The parameter may change at any time; open objects are not affected.  A write loads the hooks
 * that it names, and is refused if one is not there.  While kofi.ko itself is being loaded no
 * module that needs it can be, so the names are only looked at then.
 *
 * The kernel holds the lock of the parameters of kofi.ko during such a write, and so while modprobe
 * runs.  What modprobe loads or runs may call fi_getinfo(), so that takes another lock.
 *
 * A hook that is not there when a result needs it is left out, because one bad parameter must not
 * stop every client.  A query that must not load modules, such as a user's, loads no hook either.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "info.h"
#include "kofi.h"
#include "query.h"

#define HOOKS_END	";\n"

/* The parameter; NULL: it was never set */
static char *hooks;
/* Guards @hooks; not held while a module is loaded */
static DEFINE_MUTEX(hooks_lock);

/* Version of the hook @name; 0: it is not registered */
static u32 hook_registered(const char *name)
{
	struct kofi_prov *prov = kofi_prov_get(name, 0);
	u32 version;

	if (!prov)
		return 0;
	version = prov->provider->version;
	kofi_prov_put(prov);
	return version;
}

/* Loads the module of the hook if need be; 0: there is no such hook */
static u32 hook_version(const char *name, bool may_not_load)
{
	u32 version = hook_registered(name);

	if (version || may_not_load)
		return version;
	kofi_prov_load(name);
	return hook_registered(name);
}

static int say_hook(const struct kofi_prov *prov, void *arg)
{
	if (kofi_is_hook(prov->provider->name))
		pr_err("parameter hooks: %s is a hook that is loaded\n", prov->provider->name);
	return 0;
}

static int check_hook(const char *name)
{
	if (!kofi_is_hook(name)) {
		pr_err("parameter hooks: %s is no hook; the name of one begins with ofi_hook_\n",
		       name);
		return -EINVAL;
	}
	if (THIS_MODULE->state != MODULE_STATE_LIVE || hook_version(name, false))
		return 0;
	pr_err("parameter hooks: there is no provider %s, and no module kofi-%s brings it\n",
	       name, name);
	return -ENOENT;
}

static int hooks_store(const char *value)
{
	char *new = kstrdup(value, GFP_KERNEL);

	if (!new)
		return -ENOMEM;
	mutex_lock(&hooks_lock);
	swap(hooks, new);
	mutex_unlock(&hooks_lock);
	kfree(new);
	return 0;
}

static int hooks_set(const char *value, const struct kernel_param *param)
{
	char *list = kstrdup(value, GFP_KERNEL), *rest = list, *name;
	int err = list ? 0 : -ENOMEM;

	while (!err && (name = strsep(&rest, HOOKS_END)))
		if (*name)
			err = check_hook(name);
	kfree(list);
	if (!err)
		return hooks_store(value);
	if (err != -ENOMEM)
		kofi_prov_each(say_hook, NULL);
	return err;
}

static int hooks_get(char *buffer, const struct kernel_param *param)
{
	int len;

	mutex_lock(&hooks_lock);
	len = scnprintf(buffer, PAGE_SIZE, "%s\n", hooks ?: "");
	mutex_unlock(&hooks_lock);
	return len;
}

static void hooks_free(void *arg)
{
	kfree(hooks);
}

static const struct kernel_param_ops hooks_ops = {
	.set	= hooks_set,
	.get	= hooks_get,
	.free	= hooks_free,
};

module_param_cb(hooks, &hooks_ops, NULL, 0644);
__MODULE_PARM_TYPE(hooks, "charp");
MODULE_PARM_DESC(hooks, "hooks on every provider, with ; between them (default: none)");

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

static int put_hooks(struct fi_info *info, const char *names, bool may_not_load)
{
	char *list = kstrdup(names, GFP_KERNEL), *rest = list, *name;
	int err = list ? 0 : -ENOMEM;
	u32 version;

	while (!err && (name = strsep(&rest, HOOKS_END))) {
		if (!*name)
			continue;
		version = hook_version(name, may_not_load);
		if (version)
			err = put_hook(info->fabric_attr, name, version);
		else if (!may_not_load)
			pr_warn_ratelimited("parameter hooks: there is no provider %s; clients go on without it\n",
					    name);
	}
	kfree(list);
	return err;
}

int kofi_query_put_hooks(struct kofi_query *query)
{
	struct fi_info *info;
	char *names;
	bool none;
	int err = 0;

	if (query->only_fabric || query->flags & FI_PROV_ATTR_ONLY)
		return 0;
	mutex_lock(&hooks_lock);
	none = !hooks;
	names = kstrdup(hooks, GFP_KERNEL);
	mutex_unlock(&hooks_lock);
	if (!names)
		return none ? 0 : -ENOMEM;
	for (info = query->results; info && !err; info = info->next)
		if (!has_hook(info))
			err = put_hooks(info, names, query->may_not_load);
	kfree(names);
	return err;
}
