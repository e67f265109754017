/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of kofi.ko share with each other.
 */
#ifndef _KOFI_KOFI_H
#define _KOFI_KOFI_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <kofi/provider.h>

/**
 * struct kofi_prov - A registered provider, registry.c
 * @entry: place in the registry; registration order
 * @provider: the provider's own structure
 * @version: API version it was compiled with
 * @refs: the registry, each call inside and each open fabric
 * @idle: completed when @refs has gone
 */
struct kofi_prov {
	struct list_head	entry;
	struct kofi_provider	*provider;
	u32			version;
	refcount_t		refs;
	struct completion	idle;
};

/*
 * kofi_prov_get_all() returns how many providers new calls see (of each name the
 * highest version), each with its module pinned, or -ENOMEM; give them all back
 * with kofi_prov_put_all().  kofi_prov_get() finds one by name, and by version
 * unless that is 0 or no longer registered; NULL if there is none.  Neither
 * loads modules; kofi_prov_load() does, and may sleep for long.
 */
int kofi_prov_get_all(struct kofi_prov ***provs);
void kofi_prov_put_all(struct kofi_prov **provs, int count);
struct kofi_prov *kofi_prov_get(const char *name, u32 version);
void kofi_prov_put(struct kofi_prov *prov);
void kofi_prov_load(const char *name);

#endif /* _KOFI_KOFI_H */
