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
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <kofi/stat.h>
#include "kofi.h"

#define KOFI_LINE_MAX	SZ_2K	/* of kofi/objects; a longer one is cut */

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

static void kofi_addr_show(struct seq_buf *line, const char *name,
			   const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET || addr->ss_family == AF_INET6)
		seq_buf_printf(line, ", %s %pISpc", name, addr);
}

static void kofi_stat_show(struct seq_buf *line, struct kofi_obj *obj)
{
	struct kofi_stat stat;
	size_t i;

	kofi_obj_stat(obj, &stat);
	if (stat.state)
		seq_buf_printf(line, ", state %s", stat.state);
	kofi_addr_show(line, "address", &stat.addr);
	kofi_addr_show(line, "peer", &stat.peer);
	for (i = 0; i < stat.count; i++)
		seq_buf_printf(line, ", %s %llu", stat.values[i].name, stat.values[i].value);
}

/* All but the object's own address */
static void kofi_obj_show(struct seq_buf *line, struct kofi_obj *obj)
{
	const struct kofi_root *root = kofi_fabric_of(obj)->root;
	struct kofi_binding *binding;

	seq_buf_printf(line, "%s, provider %s, users %d", kofi_class_name(obj->fclass),
		       obj->prov->provider->name, atomic_read(&obj->users));
	if (obj->name)
		seq_buf_printf(line, ", name %s", obj->name);
	if (obj->parent)
		seq_buf_printf(line, ", opened on %p", obj->parent->fid);
	seq_buf_printf(line, ", client %s%s", root->client_name,
		       READ_ONCE(root->unloaded) ? " (unloaded)" : "");
	scoped_guard(mutex, &kofi_objects_lock)
		list_for_each_entry(binding, &obj->bindings, entry)
			seq_buf_printf(line, ", bound to %p flags %#llx",
				       binding->to->fid, binding->flags);
	kofi_stat_show(line, obj);
}

static void kofi_line_end(struct seq_file *file, unsigned int more)
{
	if (more)
		seq_printf(file, ", and %u more like it", more);
	seq_putc(file, '\n');
}

/* A client may have hundreds of regions, one for each request: those that are alike share a line */
static int kofi_objects_show(struct seq_file *file, void *unused)
{
	char *lines = kcalloc(2, KOFI_LINE_MAX, GFP_KERNEL), *text, *last;
	unsigned int more = 0;
	struct kofi_obj *obj;
	struct seq_buf line;

	if (!lines)
		return -ENOMEM;
	text = lines;
	last = lines + KOFI_LINE_MAX;
	for (obj = kofi_obj_look(0); obj; obj = kofi_obj_look_on(obj)) {
		seq_buf_init(&line, text, KOFI_LINE_MAX);
		kofi_obj_show(&line, obj);
		if (obj->fclass == FI_CLASS_MR && !strcmp(text, last)) {
			more++;
			continue;
		}
		if (*last)
			kofi_line_end(file, more);
		seq_printf(file, "%p: %s", obj->fid, text);
		swap(text, last);
		more = 0;
	}
	if (*last)
		kofi_line_end(file, more);
	kfree(lines);
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
