/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory that is persistent for the length of a case.
 *
 * What a crash would leave is in @media: the cache lines that kOFI has handed to the
 * write-back hook, as they were then, and no others.  A line arrives there with the fence
 * behind it.  There is one such memory at a time.
 */
#ifndef _KUNIT_CLIENT_PMEM_H
#define _KUNIT_CLIENT_PMEM_H

#include <linux/spinlock.h>
#include "client.h"

#define VT_PMEM_LINE	64

/**
 * struct vt_pmem - Persistent memory
 * @mem: the memory; begins with a line
 * @media: what a crash would leave of it
 * @handed: lines that were handed over, as they were then
 * @due: a bit for each line of @handed that waits for a fence
 * @len: bytes of each, whole lines
 * @lock: guards @media, @handed, @due, @lines and @fences
 * @lines: how many were handed over
 * @fences: how often they were waited for
 */
struct vt_pmem {
	u8		*mem;
	u8		*media;
	u8		*handed;
	unsigned long	*due;
	size_t		len;
	spinlock_t	lock;		/* see above */
	unsigned int	lines;
	unsigned int	fences;
};

/* @len bytes, which are whole lines; zeroed, and so is the medium */
struct vt_pmem *vt_pmem(struct kunit *test, size_t len);

#endif /* _KUNIT_CLIENT_PMEM_H */
