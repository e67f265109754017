// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The kernel's allocations are seen where its tracepoints are: slabs by kmalloc and by caches, and
 * pages.  vmalloc takes its pages one by one, so it is seen, too.
 */
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include "probe.h"

static void (*vt_alloc_look)(gfp_t gfp);

static void vt_find(struct tracepoint *tp, void *arg)
{
	struct vt_probe *probe = arg;

	if (!strcmp(tp->name, probe->name))
		probe->tp = tp;
}

void vt_unprobe_all(struct vt_probe *probes, size_t count)
{
	while (count--)
		tracepoint_probe_unregister(probes[count].tp, probes[count].probe, NULL);
	tracepoint_synchronize_unregister();
}
EXPORT_SYMBOL_GPL(vt_unprobe_all);

int vt_probe_all(struct vt_probe *probes, size_t count)
{
	size_t i;
	int ret;

	for (i = 0; i < count; i++) {
		for_each_kernel_tracepoint(vt_find, &probes[i]);
		ret = probes[i].tp ? 0 : -ENOENT;
		if (!ret)
			ret = tracepoint_probe_register(probes[i].tp, probes[i].probe, NULL);
		if (ret) {
			vt_unprobe_all(probes, i);
			return ret;
		}
	}
	return 0;
}
EXPORT_SYMBOL_GPL(vt_probe_all);

static void vt_kmalloc(void *unused, unsigned long site, const void *mem, size_t asked,
		       size_t bytes, gfp_t gfp, int node)
{
	vt_alloc_look(gfp);
}

static void vt_cache(void *unused, unsigned long site, const void *mem,
		     struct kmem_cache *cache, gfp_t gfp, int node)
{
	vt_alloc_look(gfp);
}

static void vt_pages(void *unused, struct page *page, unsigned int order, gfp_t gfp, int type)
{
	vt_alloc_look(gfp);
}

static struct vt_probe vt_alloc_probes[] = {
	{ "kmalloc", vt_kmalloc },
	{ "kmem_cache_alloc", vt_cache },
	{ "mm_page_alloc", vt_pages },
};

int vt_alloc_follow(void (*look)(gfp_t gfp))
{
	int ret;

	if (vt_alloc_look)
		return -EBUSY;
	vt_alloc_look = look;
	ret = vt_probe_all(vt_alloc_probes, ARRAY_SIZE(vt_alloc_probes));
	if (ret)
		vt_alloc_look = NULL;
	return ret;
}
EXPORT_SYMBOL_GPL(vt_alloc_follow);

void vt_alloc_unfollow(void)
{
	vt_unprobe_all(vt_alloc_probes, ARRAY_SIZE(vt_alloc_probes));
	vt_alloc_look = NULL;
}
EXPORT_SYMBOL_GPL(vt_alloc_unfollow);

bool vt_alloc_may_write_back(gfp_t gfp)
{
	return gfp & __GFP_DIRECT_RECLAIM && current_gfp_context(gfp) & __GFP_IO &&
	       !(current->flags & PF_MEMALLOC);
}
EXPORT_SYMBOL_GPL(vt_alloc_may_write_back);
