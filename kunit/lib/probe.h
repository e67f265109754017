/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tracepoints of the kernel, and its allocations among them, in all contexts.
 */
#ifndef _KUNIT_PROBE_H
#define _KUNIT_PROBE_H

#include <linux/gfp_types.h>
#include <linux/types.h>

struct tracepoint;

/**
 * struct vt_probe - A function that follows a tracepoint
 * @name: of the tracepoint
 * @probe: is called there
 * @tp: the tracepoint
 */
struct vt_probe {
	const char		*name;
	void			*probe;
	struct tracepoint	*tp;
};

/* All of them, or none: a negative errno */
int vt_probe_all(struct vt_probe *probes, size_t count);
void vt_unprobe_all(struct vt_probe *probes, size_t count);

/* Has @look called for each allocation; one suite at a time; -EBUSY: another one does */
int vt_alloc_follow(void (*look)(gfp_t gfp));
void vt_alloc_unfollow(void);

/* Return true if an allocation of this task may wait for pages that are written back */
bool vt_alloc_may_write_back(gfp_t gfp);

#endif /* _KUNIT_PROBE_H */
