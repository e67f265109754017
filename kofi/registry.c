// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The registry of providers.
 *
 * A provider is in the list from kofi_provider_register() to
 * kofi_provider_deregister().  Several versions of one name may be there; new
 * calls see the highest version, and the next lower one when the highest goes.
 *
 * A struct kofi_prov lives as long as it has references: the registry holds
 * one, each call into the provider one, each open fabric one.  The last two
 * kinds also pin the provider's module, so a module's exit function normally
 * finds the registry's alone.  Deregistration has the provider's directory in sysfs
 * removed (struct kofi_prov_ops), takes the entry off the list, drops the registry's
 * reference and waits for the rest.
 *
 * Locking: providers_lock guards the list and nothing else.  It is held while
 * references are taken, never while a provider is called or a module loaded;
 * a provider may therefore register another one from inside a call.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kmod.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "kofi.h"

/* How often a deregistration that waits logs that */
#define KOFI_WAIT_LOG		(10 * HZ)

#define KOFI_NAME_CHARS		"abcdefghijklmnopqrstuvwxyz0123456789_-"

static LIST_HEAD(providers);
static DECLARE_RWSEM(providers_lock);

static const struct kofi_prov_ops *prov_ops;

void kofi_prov_set_ops(const struct kofi_prov_ops *ops)
{
	prov_ops = ops;
}

static void kofi_prov_unref(struct kofi_prov *prov)
{
	if (refcount_dec_and_test(&prov->refs))
		complete(&prov->idle);
}

/* New calls do not see a provider whose module is being unloaded, even if it is registered */
static bool kofi_prov_is_live(const struct kofi_prov *prov)
{
	const struct module *owner = prov->provider->owner;

	return !owner || owner->state != MODULE_STATE_GOING;
}

static bool kofi_prov_is_named(const struct kofi_prov *prov, const char *name)
{
	return !strcmp(prov->provider->name, name);
}

/* The lock keeps the registry's reference */
static struct kofi_prov *kofi_prov_pin(struct kofi_prov *prov)
{
	lockdep_assert_held(&providers_lock);
	if (!try_module_get(prov->provider->owner))
		return NULL;
	refcount_inc(&prov->refs);
	return prov;
}

static struct kofi_prov *kofi_prov_best(const char *name)
{
	struct kofi_prov *prov, *best = NULL;

	lockdep_assert_held(&providers_lock);
	list_for_each_entry(prov, &providers, entry) {
		if (!kofi_prov_is_named(prov, name) || !kofi_prov_is_live(prov))
			continue;
		if (!best || prov->provider->version > best->provider->version)
			best = prov;
	}
	return best;
}

static struct kofi_prov *kofi_prov_exact(const char *name, u32 version)
{
	struct kofi_prov *prov;

	lockdep_assert_held(&providers_lock);
	list_for_each_entry(prov, &providers, entry)
		if (kofi_prov_is_named(prov, name) &&
		    prov->provider->version == version)
			return prov;
	return NULL;
}

struct kofi_prov *kofi_prov_get(const char *name, u32 version)
{
	struct kofi_prov *prov = NULL;

	scoped_guard(rwsem_read, &providers_lock) {
		if (version)
			prov = kofi_prov_exact(name, version);
		if (!prov || !kofi_prov_is_live(prov))
			prov = kofi_prov_best(name);
		if (prov)
			prov = kofi_prov_pin(prov);
	}
	return prov;
}

void kofi_prov_put(struct kofi_prov *prov)
{
	struct module *owner = prov->provider->owner;

	/* prov may be gone after the first step, the module after the second */
	kofi_prov_unref(prov);
	module_put(owner);
}

static size_t kofi_prov_count(void)
{
	struct list_head *at;
	size_t count = 0;

	list_for_each(at, &providers)
		count++;
	return count;
}

int kofi_prov_get_all(struct kofi_prov ***provs)
{
	struct kofi_prov *prov, **all;
	int count = 0;

	guard(rwsem_read)(&providers_lock);
	all = kcalloc(kofi_prov_count(), sizeof(*all), GFP_KERNEL);
	if (!all)
		return -ENOMEM;

	list_for_each_entry(prov, &providers, entry)
		if (kofi_prov_best(prov->provider->name) == prov &&
		    kofi_prov_pin(prov))
			all[count++] = prov;
	*provs = all;
	return count;
}

void kofi_prov_put_all(struct kofi_prov **provs, int count)
{
	int i;

	for (i = 0; i < count; i++)
		kofi_prov_put(provs[i]);
	kfree(provs);
}

static bool kofi_name_is_valid(const char *name)
{
	size_t len = strspn(name, KOFI_NAME_CHARS);

	return len && !name[len] && len < FI_NAME_MAX;
}

void kofi_prov_load(const char *name)
{
	if (kofi_name_is_valid(name))
		request_module("kofi-%s", name);
}

static int kofi_provider_check(u32 version, const struct kofi_provider *provider)
{
	const char *name;

	if (!provider)
		return -EINVAL;

	name = provider->name;
	if (!name) {
		pr_err("provider refused: it has no name\n");
		return -EINVAL;
	}

	if (!kofi_name_is_valid(name)) {
		pr_err("provider name \"%*pE\" refused: it must be 1 to %d characters of a-z, 0-9, _ and -\n",
		       (int)strnlen(name, FI_NAME_MAX), name, FI_NAME_MAX - 1);
		return -EINVAL;
	}

	if (FI_MAJOR(version) != KOFI_PROVIDER_MAJOR) {
		pr_err("provider %s refused: compiled for version %u.%u of the provider interface, but this is %u.%u; compile it anew\n",
		       name, FI_MAJOR(version), FI_MINOR(version),
		       KOFI_PROVIDER_MAJOR, KOFI_PROVIDER_MINOR);
		return -ENOSYS;
	}

	if (!provider->getinfo || !provider->freeinfo || !provider->fabric) {
		pr_err("provider %s refused: it needs getinfo, freeinfo and fabric\n",
		       name);
		return -EINVAL;
	}
	return 0;
}

static void kofi_prov_log_shadow(const struct kofi_provider *upper,
				 const struct kofi_provider *lower)
{
	pr_info("provider %s: new calls go to version %u.%u, no longer to %u.%u\n",
		upper->name, FI_MAJOR(upper->version), FI_MINOR(upper->version),
		FI_MAJOR(lower->version), FI_MINOR(lower->version));
}

static void kofi_prov_log_shadowed(const struct kofi_provider *lower,
				   const struct kofi_provider *upper)
{
	pr_info("provider %s: version %u.%u stays unused as long as %u.%u is there\n",
		lower->name, FI_MAJOR(lower->version), FI_MINOR(lower->version),
		FI_MAJOR(upper->version), FI_MINOR(upper->version));
}

/* @beside: set if another version of the provider is registered */
static int kofi_prov_add(struct kofi_prov *prov, bool *beside)
{
	struct kofi_provider *provider = prov->provider;
	struct kofi_prov *other, *best;

	guard(rwsem_write)(&providers_lock);
	if (kofi_prov_exact(provider->name, provider->version)) {
		pr_err("provider %s refused: version %u.%u of it is registered already\n",
		       provider->name, FI_MAJOR(provider->version),
		       FI_MINOR(provider->version));
		return -EEXIST;
	}

	*beside = false;
	list_for_each_entry(other, &providers, entry)
		if (kofi_prov_is_named(other, provider->name))
			*beside = true;

	best = kofi_prov_best(provider->name);
	if (best && best->provider->version < provider->version)
		kofi_prov_log_shadow(provider, best->provider);
	else if (best)
		kofi_prov_log_shadowed(provider, best->provider);
	list_add_tail(&prov->entry, &providers);
	return 0;
}

static struct kofi_prov *kofi_prov_find(const struct kofi_provider *provider)
{
	struct kofi_prov *prov;

	guard(rwsem_read)(&providers_lock);
	list_for_each_entry(prov, &providers, entry)
		if (prov->provider == provider)
			return prov;
	return NULL;
}

static void kofi_prov_remove(struct kofi_prov *prov)
{
	const struct kofi_provider *provider = prov->provider;
	struct kofi_prov *best;

	guard(rwsem_write)(&providers_lock);
	list_del(&prov->entry);
	best = kofi_prov_best(provider->name);
	if (best && best->provider->version < provider->version)
		kofi_prov_log_shadow(best->provider, provider);
}

/* Takes the provider off the list and waits until all references are gone */
static void kofi_prov_end(struct kofi_prov *prov)
{
	kofi_prov_remove(prov);
	kofi_prov_unref(prov);
	while (!wait_for_completion_timeout(&prov->idle, KOFI_WAIT_LOG))
		pr_info("provider %s: deregistration waits for %u open fabrics and calls\n",
			prov->provider->name, refcount_read(&prov->refs));
	kfree(prov);
}

int kofi_provider_register(u32 version, struct kofi_provider *provider)
{
	struct kofi_prov *prov;
	bool beside;
	int ret;

	ret = kofi_provider_check(version, provider);
	if (ret)
		return ret;

	prov = kzalloc(sizeof(*prov), GFP_KERNEL);
	if (!prov)
		return -ENOMEM;
	prov->provider = provider;
	prov->version = version;
	refcount_set(&prov->refs, 1);
	init_completion(&prov->idle);

	ret = kofi_prov_add(prov, &beside);
	if (ret) {
		kfree(prov);
		return ret;
	}
	ret = prov_ops->added(prov, beside);
	if (ret)
		kofi_prov_end(prov);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_provider_register);

int kofi_provider_deregister(struct kofi_provider *provider)
{
	struct kofi_prov *prov = kofi_prov_find(provider);

	if (!prov)
		return -ENOENT;
	/* Before the name is free: a provider that reuses it needs the directory's name */
	prov_ops->removed(prov);
	kofi_prov_end(prov);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_provider_deregister);

int kofi_prov_each(int (*fn)(const struct kofi_prov *prov, void *arg), void *arg)
{
	struct kofi_prov *prov;
	int ret = 0;

	guard(rwsem_read)(&providers_lock);
	list_for_each_entry(prov, &providers, entry) {
		ret = fn(prov, arg);
		if (ret)
			break;
	}
	return ret;
}
