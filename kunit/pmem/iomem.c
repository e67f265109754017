// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The medium is a file of the host's which this kernel has mapped: iomem= of User-Mode Linux.
 * See crash.h.
 */
#include <linux/err.h>
#include <mem_user.h>
#include "crash.h"

void *crash_medium_open(size_t len)
{
	unsigned long there, addr = find_iomem("kofi", &there);

	return addr && there >= len ? (void *)addr : ERR_PTR(-ENODEV);
}

void crash_medium_close(void)
{
}
