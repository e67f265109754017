// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Files that list registered providers and open objects, to find leaks:
 *
 *	/sys/kernel/debug/kofi/providers
 *	/sys/kernel/debug/kofi/objects
 *
 * The lists belong to registry.c and object.c.  In a kernel without debugfs this file does
 * nothing.
 */
#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/socket.h>
#include <kofi/stat.h>
#include "kofi.h"

static struct dentry *kofi_debugfs;

static int kofi_provider_show(const struct kofi_prov *prov, void *arg)
{
	const struct kofi_provider *provider = prov->provider;
	struct seq_file *file = arg;

	seq_printf(file, "%s %u.%u %u.%u %u %s\n", provider->name,
		   FI_MAJOR(provider->version), FI_MINOR(provider->version),
		   FI_MAJOR(prov->version), FI_MINOR(prov->version),
		   refcount_read(&prov->refs),
		   provider->owner ? provider->owner->name : "-");
	return 0;
}

static int kofi_providers_show(struct seq_file *file, void *unused)
{
	seq_puts(file, "name version api references module\n");
	return kofi_prov_each(kofi_provider_show, file);
}

static void kofi_addr_show(struct seq_file *file, const char *name,
			   const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET || addr->ss_family == AF_INET6)
		seq_printf(file, ", %s %pISpc", name, addr);
}

static void kofi_stat_show(struct seq_file *file, struct kofi_obj *obj)
{
	struct kofi_stat stat;
	size_t i;

	kofi_obj_stat(obj, &stat);
	if (stat.state)
		seq_printf(file, ", state %s", stat.state);
	kofi_addr_show(file, "address", &stat.addr);
	kofi_addr_show(file, "peer", &stat.peer);
	for (i = 0; i < stat.count; i++)
		seq_printf(file, ", %s %llu", stat.values[i].name, stat.values[i].value);
}

static void kofi_obj_show(struct seq_file *file, struct kofi_obj *obj)
{
	const struct kofi_root *root = kofi_fabric_of(obj)->root;
	struct kofi_binding *binding;

	seq_printf(file, "%p: %s, provider %s, users %d", obj->fid,
		   kofi_class_name(obj->fclass), obj->prov->provider->name,
		   atomic_read(&obj->users));
	if (obj->name)
		seq_printf(file, ", name %s", obj->name);
	if (obj->parent)
		seq_printf(file, ", opened on %p", obj->parent->fid);
	seq_printf(file, ", client %s%s", root->client_name,
		   READ_ONCE(root->unloaded) ? " (unloaded)" : "");
	scoped_guard(mutex, &kofi_objects_lock)
		list_for_each_entry(binding, &obj->bindings, entry)
			seq_printf(file, ", bound to %p flags %#llx",
				   binding->to->fid, binding->flags);
	kofi_stat_show(file, obj);
	seq_putc(file, '\n');
}

static int kofi_objects_show(struct seq_file *file, void *unused)
{
	struct kofi_obj *obj;

	for (obj = kofi_obj_look(0); obj; obj = kofi_obj_look_on(obj))
		kofi_obj_show(file, obj);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(kofi_providers);
DEFINE_SHOW_ATTRIBUTE(kofi_objects);

void kofi_debugfs_init(void)
{
	kofi_debugfs = debugfs_create_dir("kofi", NULL);
	debugfs_create_file("providers", 0400, kofi_debugfs, NULL,
			    &kofi_providers_fops);
	debugfs_create_file("objects", 0400, kofi_debugfs, NULL,
			    &kofi_objects_fops);
}

void kofi_debugfs_exit(void)
{
	debugfs_remove(kofi_debugfs);
}
