// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Files that list registered providers and open objects, for the search for a leak:
 *
 *	/sys/kernel/debug/kofi/providers
 *	/sys/kernel/debug/kofi/objects
 *
 * The contents come from the files that own the lists, under their locks.
 * Without debugfs in the kernel all this does nothing.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "kofi.h"

static struct dentry *kofi_debugfs;

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
