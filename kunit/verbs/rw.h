/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites about rw operations share.
 */
#ifndef _KUNIT_VERBS_TEST_MOVE_H
#define _KUNIT_VERBS_TEST_MOVE_H

#include "far.h"

/* What one region holds anywhere */
#define VT_LONG		SZ_1M

/* Local memory, a list of its pages */
struct rw_mem {
	u8		*mem;
	size_t		len;
	struct sg_table	sgt;
};

struct rw_mem *rw_mem(struct kunit *test, size_t len);
/* fi_readsgl() or fi_writesgl(), from @at in the region on */
ssize_t rw_post(struct vt_far *far, bool read, struct scatterlist *sgl, unsigned int nents,
		size_t offset, size_t len, u64 at, void *context, u64 flags);

#endif /* _KUNIT_VERBS_TEST_MOVE_H */
