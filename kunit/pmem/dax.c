// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The medium is an NVDIMM of QEMU's, a file of the host's: /dev/pmem0, by the DAX device below
 * it.  See crash.h.
 */
#include <linux/blkdev.h>
#include <linux/dax.h>
#include <linux/err.h>
#include <linux/mm.h>
#include "crash.h"

#define CRASH_DISK	"/dev/pmem0"

static struct file *crash_file;
static struct dax_device *crash_dax;

static void *crash_dax_map(struct dax_device *dax, u64 start, size_t len)
{
	long pages = DIV_ROUND_UP(len, PAGE_SIZE), there;
	void *addr;
	int id;

	id = dax_read_lock();
	there = dax_direct_access(dax, start / PAGE_SIZE, pages, DAX_ACCESS, &addr, NULL);
	dax_read_unlock(id);
	return there < pages ? ERR_PTR(-ENODEV) : addr;
}

void *crash_medium_open(size_t len)
{
	void *addr;
	u64 start;

	crash_file = bdev_file_open_by_path(CRASH_DISK, BLK_OPEN_READ | BLK_OPEN_WRITE,
					    &crash_file, NULL);
	if (IS_ERR(crash_file))
		return ERR_CAST(crash_file);
	crash_dax = fs_dax_get_by_bdev(file_bdev(crash_file), &start, NULL, NULL);
	addr = crash_dax ? crash_dax_map(crash_dax, start, len) : ERR_PTR(-ENODEV);
	if (IS_ERR(addr))
		crash_medium_close();
	return addr;
}

void crash_medium_close(void)
{
	fs_put_dax(crash_dax, NULL);
	bdev_fput(crash_file);
}
