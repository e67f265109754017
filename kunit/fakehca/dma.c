// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Which memory is mapped for a fake HCA: its IOMMU, so to say.
 *
 * The kernel's tracepoints of the DMA API tell of every map and unmap.  A table
 * of those of our devices answers two questions: does every unmap fit a map, and
 * may the device touch an address that it finds in a work request?  An access to
 * what is not mapped, or not mapped for that direction, is counted and refused,
 * as an IOMMU would.
 *
 * The kernel's own DMA debugging does not know when a platform device goes away;
 * the count of mappings that are left tells.
 *
 * One lock guards all tables; it is the innermost of all.
 */
#include <linux/dma-direct.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <kofi/compat.h>
#include "priv.h"

#define FAKEHCA_MAPS	4096

struct fakehca_map {
	struct list_head	entry;
	u64			addr;
	size_t			len;
	enum dma_data_direction	dir;
};

static DEFINE_SPINLOCK(fakehca_dma_lock);
static LIST_HEAD(fakehca_dmas);
static LIST_HEAD(fakehca_free_maps);
static struct fakehca_map *fakehca_maps;

static struct fakehca_dma *fakehca_dma_find(const struct device *dev)
{
	struct fakehca_dma *dma;

	list_for_each_entry(dma, &fakehca_dmas, entry)
		if (dma->dev == dev)
			return dma;
	return NULL;
}

static void fakehca_mapped(struct fakehca_dma *dma, u64 addr, size_t len,
			   enum dma_data_direction dir)
{
	struct fakehca_map *map;

	dma->stats.maps++;
	dma->stats.mapped++;
	dma->stats.mapped_dir[dir]++;
	map = list_first_entry_or_null(&fakehca_free_maps, struct fakehca_map, entry);
	if (WARN_ON_ONCE(!map))
		return;
	map->addr = addr;
	map->len = len;
	map->dir = dir;
	list_move(&map->entry, &dma->maps);
}

static void fakehca_unmapped(struct fakehca_dma *dma, u64 addr, size_t len,
			     enum dma_data_direction dir)
{
	struct fakehca_map *map;

	dma->stats.unmaps++;
	list_for_each_entry(map, &dma->maps, entry) {
		if (map->addr == addr && map->len == len && map->dir == dir) {
			list_move(&map->entry, &fakehca_free_maps);
			dma->stats.mapped--;
			dma->stats.mapped_dir[dir]--;
			return;
		}
	}
	dma->stats.bad_unmaps++;
}

static void fakehca_on_map_page(void *unused, struct device *dev, phys_addr_t phys, dma_addr_t addr,
				size_t len, enum dma_data_direction dir, unsigned long attrs)
{
	struct fakehca_dma *dma;
	unsigned long flags;

	if (addr == DMA_MAPPING_ERROR)
		return;
	spin_lock_irqsave(&fakehca_dma_lock, flags);
	dma = fakehca_dma_find(dev);
	if (dma)
		fakehca_mapped(dma, addr, len, dir);
	spin_unlock_irqrestore(&fakehca_dma_lock, flags);
}

static void fakehca_on_unmap_page(void *unused, struct device *dev, dma_addr_t addr, size_t len,
				  enum dma_data_direction dir, unsigned long attrs)
{
	struct fakehca_dma *dma;
	unsigned long flags;

	spin_lock_irqsave(&fakehca_dma_lock, flags);
	dma = fakehca_dma_find(dev);
	if (dma)
		fakehca_unmapped(dma, addr, len, dir);
	spin_unlock_irqrestore(&fakehca_dma_lock, flags);
}

static void fakehca_on_map_sg(void *unused, struct device *dev, struct scatterlist *sgl, int nents,
			      int ents, enum dma_data_direction dir, unsigned long attrs)
{
	struct fakehca_dma *dma;
	struct scatterlist *sg;
	unsigned long flags;
	int i;

	spin_lock_irqsave(&fakehca_dma_lock, flags);
	dma = fakehca_dma_find(dev);
	if (dma)
		for_each_sg(sgl, sg, ents, i)
			fakehca_mapped(dma, sg_dma_address(sg), sg_dma_len(sg), dir);
	spin_unlock_irqrestore(&fakehca_dma_lock, flags);
}

/* Without an IOMMU a list keeps its length when it is mapped */
static void fakehca_on_unmap_sg(void *unused, struct device *dev, struct scatterlist *sgl,
				int nents, enum dma_data_direction dir, unsigned long attrs)
{
	struct fakehca_dma *dma;
	struct scatterlist *sg;
	unsigned long flags;
	int i;

	spin_lock_irqsave(&fakehca_dma_lock, flags);
	dma = fakehca_dma_find(dev);
	if (dma)
		for_each_sg(sgl, sg, nents, i)
			fakehca_unmapped(dma, sg_dma_address(sg), sg_dma_len(sg), dir);
	spin_unlock_irqrestore(&fakehca_dma_lock, flags);
}

static void fakehca_on_sync(void *unused, struct device *dev, dma_addr_t addr,
			    size_t len, enum dma_data_direction dir)
{
	struct fakehca_dma *dma;
	unsigned long flags;

	spin_lock_irqsave(&fakehca_dma_lock, flags);
	dma = fakehca_dma_find(dev);
	if (dma)
		dma->stats.syncs++;
	spin_unlock_irqrestore(&fakehca_dma_lock, flags);
}

static void fakehca_on_sync_cpu(void *unused, struct device *dev, dma_addr_t addr, size_t len,
				enum dma_data_direction dir)
{
	struct fakehca_dma *dma;
	unsigned long flags;

	spin_lock_irqsave(&fakehca_dma_lock, flags);
	dma = fakehca_dma_find(dev);
	if (dma)
		dma->stats.cpu_syncs++;
	spin_unlock_irqrestore(&fakehca_dma_lock, flags);
}

static struct fakehca_probe {
	const char		*name;
	void			*probe;
	struct tracepoint	*tp;
} fakehca_probes[] = {
	{ KOFI_TRACE_DMA_MAP, fakehca_on_map_page },
	{ KOFI_TRACE_DMA_UNMAP, fakehca_on_unmap_page },
	{ "dma_map_sg", fakehca_on_map_sg },
	{ "dma_unmap_sg", fakehca_on_unmap_sg },
	{ "dma_sync_single_for_device", fakehca_on_sync },
	{ "dma_sync_single_for_cpu", fakehca_on_sync_cpu },
};

static void fakehca_find_tracepoint(struct tracepoint *tp, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fakehca_probes); i++)
		if (!strcmp(tp->name, fakehca_probes[i].name))
			fakehca_probes[i].tp = tp;
}

static void fakehca_unprobe(size_t count)
{
	while (count--)
		tracepoint_probe_unregister(fakehca_probes[count].tp,
					    fakehca_probes[count].probe, NULL);
	tracepoint_synchronize_unregister();
}

static int fakehca_probe(void)
{
	size_t i;
	int ret;

	for_each_kernel_tracepoint(fakehca_find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(fakehca_probes); i++) {
		ret = fakehca_probes[i].tp ? 0 : -ENOENT;
		if (!ret)
			ret = tracepoint_probe_register(fakehca_probes[i].tp,
							fakehca_probes[i].probe, NULL);
		if (ret) {
			pr_err("fakehca: cannot follow %s: error %d; the kernel needs tracepoints\n",
			       fakehca_probes[i].name, ret);
			fakehca_unprobe(i);
			return ret;
		}
	}
	return 0;
}

int fakehca_dma_init(void)
{
	int i, ret;

	fakehca_maps = kvcalloc(FAKEHCA_MAPS, sizeof(*fakehca_maps), GFP_KERNEL);
	if (!fakehca_maps)
		return -ENOMEM;
	for (i = 0; i < FAKEHCA_MAPS; i++)
		list_add_tail(&fakehca_maps[i].entry, &fakehca_free_maps);
	ret = fakehca_probe();
	if (ret)
		kvfree(fakehca_maps);
	return ret;
}

void fakehca_dma_exit(void)
{
	fakehca_unprobe(ARRAY_SIZE(fakehca_probes));
	kvfree(fakehca_maps);
}

void fakehca_dma_add(struct fakehca_dma *dma, struct device *dev)
{
	unsigned long flags;

	dma->dev = dev;
	INIT_LIST_HEAD(&dma->maps);
	spin_lock_irqsave(&fakehca_dma_lock, flags);
	list_add(&dma->entry, &fakehca_dmas);
	spin_unlock_irqrestore(&fakehca_dma_lock, flags);
}

void fakehca_dma_del(struct fakehca_dma *dma)
{
	unsigned long flags;

	spin_lock_irqsave(&fakehca_dma_lock, flags);
	list_del(&dma->entry);
	list_splice_init(&dma->maps, &fakehca_free_maps);
	spin_unlock_irqrestore(&fakehca_dma_lock, flags);
}

void fakehca_dma_stats(struct fakehca_dma *dma, struct fakehca_stats *stats)
{
	unsigned long flags;

	spin_lock_irqsave(&fakehca_dma_lock, flags);
	stats->maps = dma->stats.maps;
	stats->unmaps = dma->stats.unmaps;
	stats->mapped = dma->stats.mapped;
	memcpy(stats->mapped_dir, dma->stats.mapped_dir, sizeof(stats->mapped_dir));
	stats->bad_unmaps = dma->stats.bad_unmaps;
	stats->syncs = dma->stats.syncs;
	stats->cpu_syncs = dma->stats.cpu_syncs;
	stats->faults = dma->stats.faults;
	spin_unlock_irqrestore(&fakehca_dma_lock, flags);
}

static bool fakehca_dma_allowed(struct fakehca_dma *dma, u64 addr, size_t len,
				enum dma_data_direction dir)
{
	struct fakehca_map *map;

	list_for_each_entry(map, &dma->maps, entry) {
		if (addr >= map->addr && addr + len <= map->addr + map->len &&
		    (map->dir == dir || map->dir == DMA_BIDIRECTIONAL))
			return true;
	}
	dma->stats.faults++;
	return false;
}

/* The lock keeps the memory mapped, a page's worth at a time */
static bool fakehca_dma_copy(struct fakehca_dma *dma, u64 addr, void *buf,
			     size_t len, enum dma_data_direction dir)
{
	bool allowed = true;
	unsigned long flags;
	size_t piece;
	void *memory;

	for (; len && allowed; len -= piece, addr += piece, buf += piece) {
		piece = min_t(size_t, len, PAGE_SIZE);
		spin_lock_irqsave(&fakehca_dma_lock, flags);
		allowed = fakehca_dma_allowed(dma, addr, piece, dir);
		if (allowed) {
			memory = phys_to_virt(dma_to_phys(dma->dev, addr));
			if (dir == DMA_TO_DEVICE)
				memcpy(buf, memory, piece);
			else
				memcpy(memory, buf, piece);
		}
		spin_unlock_irqrestore(&fakehca_dma_lock, flags);
	}
	return allowed;
}

bool fakehca_dma_read(struct fakehca_dma *dma, u64 addr, void *to, size_t len)
{
	return fakehca_dma_copy(dma, addr, to, len, DMA_TO_DEVICE);
}

bool fakehca_dma_write(struct fakehca_dma *dma, u64 addr, const void *from, size_t len)
{
	return fakehca_dma_copy(dma, addr, (void *)from, len, DMA_FROM_DEVICE);
}
