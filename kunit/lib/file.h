/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files of user space, which a kernel thread does not see by itself in the newest kernels.
 */
#ifndef _KUNIT_FILE_H
#define _KUNIT_FILE_H

#include <linux/err.h>
#include <linux/fs.h>
#include <kofi/compat.h>

static inline struct file *vt_file_open(const char *path, int flags)
{
	struct file *file;

	scoped_with_init_fs()
		file = filp_open(path, flags, 0);
	return file;
}

#endif /* _KUNIT_FILE_H */
