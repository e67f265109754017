// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Local buffers as scatter/gather elements of the device.
 *
 * A buffer with a descriptor (fi_mr_desc()) lies in a region, and is one element under the region's
 * own key.  Other buffers are mapped piece by piece (kofi/pages.h) under the domain's local DMA
 * key, without a registration.  The slot keeps the mappings until they are unmapped; devices
 * without DMA (rxe, siw) have none.
 *
 * All of it runs in any context, without a lock, as a list belongs to one call.
 */
#include <linux/slab.h>
#include "mr.h"
#include "op.h"
#include "queue.h"
#include "verbs.h"

static int verbs_map_piece(struct verbs_domain *domain,
			   enum dma_data_direction dir,
			   const struct kofi_piece *piece,
			   struct verbs_map *map)
{
	struct ib_sge *sge = &map->sge[map->count];

	sge->length = piece->len;
	sge->lkey = domain->pd->local_dma_lkey;
	if (map->copied) {
		sge->addr = (uintptr_t)piece->addr;
	} else {
		sge->addr = ib_dma_map_page(domain->dev->ibdev, piece->page,
					    piece->offset, piece->len, dir);
		if (ib_dma_mapping_error(domain->dev->ibdev, sge->addr))
			return -EAGAIN;
		map->mapped |= 1U << map->count;
	}
	map->count++;
	return 0;
}

/*
 * Puts the current element under the key of its region, which is linear: addresses in the region
 * are those of its memory.  Elements in other regions are mapped as if there were no region.
 */
static int verbs_map_region(struct verbs_domain *domain,
			    struct kofi_list_iter *iter,
			    const struct verbs_mr *mr, struct verbs_map *map)
{
	u64 addr = kofi_list_addr(iter), offset = addr - mr->ibmr->iova;
	size_t len = kofi_list_left(iter);

	if (mr->domain != domain || offset > mr->len || len > mr->len - offset)
		return -EINVAL;
	map->sge[map->count++] = (struct ib_sge) {
		.addr	= addr,
		.length	= len,
		.lkey	= mr->ibmr->lkey,
	};
	map->len += len;
	kofi_list_advance(iter, len);
	return 0;
}

static int verbs_map_next(struct verbs_domain *domain,
			  enum dma_data_direction dir,
			  struct kofi_list_iter *iter, struct verbs_map *map)
{
	const struct verbs_mr *mr = iter->desc ? *iter->desc : NULL;
	struct kofi_piece piece;
	int ret;

	if (mr && mr->linear)
		return verbs_map_region(domain, iter, mr, map);
	ret = kofi_list_piece(iter, &piece);
	if (!ret)
		ret = verbs_map_piece(domain, dir, &piece, map);
	if (ret)
		return ret;
	map->len += piece.len;
	kofi_list_advance(iter, piece.len);
	return 0;
}

/**
 * verbs_map_some() - Map as much of a list as fits
 * @domain: the domain
 * @dir: direction of the transfer
 * @iter: place in the list; on return behind the mapped elements
 * @limit: most elements, at most VERBS_MAX_IOV
 * @map: the elements, none before; if @map->copied is set, none is mapped for the device
 *
 * Return: 0, and @iter->count is 0 if the list is finished; -EINVAL: no memory that the device can
 * reach; -EAGAIN: the IOMMU is full.  After an error nothing is mapped.
 */
int verbs_map_some(struct verbs_domain *domain, enum dma_data_direction dir,
		   struct kofi_list_iter *iter, size_t limit,
		   struct verbs_map *map)
{
	int ret;

	while (kofi_list_more(iter) && map->count < limit) {
		ret = verbs_map_next(domain, dir, iter, map);
		if (ret) {
			verbs_map_undo(domain, dir, map);
			return ret;
		}
	}
	return 0;
}

void verbs_map_undo(struct verbs_domain *domain, enum dma_data_direction dir,
		    struct verbs_map *map)
{
	u32 i;

	for (i = 0; i < map->count; i++)
		if (map->mapped & 1U << i)
			ib_dma_unmap_page(domain->dev->ibdev, map->sge[i].addr,
					  map->sge[i].length, dir);
	map->count = 0;
	map->mapped = 0;
}

static struct verbs_sge *verbs_slot_maps(const struct verbs_slot *slot)
{
	const struct verbs_queue *queue = slot->queue;

	return &queue->maps[(slot - queue->slots) * queue->iov_limit];
}

void verbs_map_keep(struct verbs_slot *slot, const struct verbs_map *map)
{
	struct verbs_sge *maps;
	size_t i, kept = 0;

	if (!slot->queue->maps || !map->mapped)
		return;
	maps = verbs_slot_maps(slot);
	for (i = 0; map->mapped >> i; i++)
		if (map->mapped & 1U << i)
			maps[kept++] = (struct verbs_sge) { map->sge[i].addr,
							    map->sge[i].length };
	if (kept < slot->queue->iov_limit)
		maps[kept].len = 0;
	slot->mapped = true;
}

void verbs_unmap(struct verbs_slot *slot)
{
	struct verbs_queue *queue = slot->queue;
	enum dma_data_direction dir;
	struct verbs_sge *maps;
	size_t i;

	if (!slot->mapped)
		return;
	dir = slot->comp.flags & (FI_RECV | FI_READ) ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
	maps = verbs_slot_maps(slot);
	for (i = 0; i < queue->iov_limit && maps[i].len; i++)
		ib_dma_unmap_page(queue->domain->dev->ibdev, maps[i].addr,
				  maps[i].len, dir);
	slot->mapped = false;
}

/* For a queue pair that takes less inline than fi_inject() */
int verbs_bounce_init(struct verbs_ep *ep)
{
	struct ib_device *ibdev = ep->domain->dev->ibdev;
	size_t len = ep->tx.size * ep->kep.inject_size;

	/* For the deepest queues this is more than kmalloc() can allocate */
	ep->bounce = kmalloc(len, GFP_KERNEL | __GFP_NOWARN);
	if (!ep->bounce)
		return -ENOMEM;
	ep->bounce_dma = ib_dma_map_single(ibdev, ep->bounce, len,
					   DMA_TO_DEVICE);
	if (!ib_dma_mapping_error(ibdev, ep->bounce_dma))
		return 0;

	kfree(ep->bounce);
	ep->bounce = NULL;
	return -ENOMEM;
}

void verbs_bounce_destroy(struct verbs_ep *ep)
{
	if (ep->bounce)
		ib_dma_unmap_single(ep->domain->dev->ibdev, ep->bounce_dma,
				    ep->tx.size * ep->kep.inject_size,
				    DMA_TO_DEVICE);
	kfree(ep->bounce);
	ep->bounce = NULL;
}

void verbs_bounce(struct verbs_slot *slot, const struct verbs_op *op,
		  struct ib_sge *sge)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);
	size_t offset = (slot - ep->tx.slots) * ep->kep.inject_size;

	kofi_list_gather(ep->bounce + offset, op->type, op->list, op->count,
			 sge->length);
	sge->addr = ep->bounce_dma + offset;
	sge->lkey = ep->tx.lkey;
	ib_dma_sync_single_for_device(ep->domain->dev->ibdev, sge->addr,
				      sge->length, DMA_TO_DEVICE);
}
