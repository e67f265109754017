// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Elements for lists of any kind; see sge.h. */
#include "../mr.h"
#include "../queue.h"
#include "../sge.h"
#include "../verbs.h"

/* The part of verbs_sges_set() for lists of several elements; no elements stand for false */
struct verbs_map verbs_sges_list(const struct verbs_queue *queue, const struct kofi_list_iter *at,
				 enum dma_data_direction dir, size_t max_len, struct ib_sge *sge)
{
	struct verbs_map map = { .sge = sge };
	struct kvec elem;
	size_t i;

	for (i = 0; i < at->count; i++) {
		elem = verbs_elem(at, i);
		/* Some devices take an element of no bytes for one of 2 GiB */
		if (!elem.iov_len)
			continue;
		if (elem.iov_len > max_len - map.len ||
		    !verbs_sge_set(queue, &map, elem.iov_base, elem.iov_len,
				   at->desc ? at->desc[i] : NULL, dir)) {
			verbs_sges_unmap(queue->domain, dir, sge, map.mapped);
			return (struct verbs_map) {};
		}
		map.len += elem.iov_len;
	}
	return map;
}

static int verbs_map_piece(struct verbs_domain *domain,
			   enum dma_data_direction dir,
			   const struct kofi_piece *piece,
			   struct verbs_map *map)
{
	struct ib_sge *sge = &map->sge[map->count];

	sge->length = piece->len;
	sge->lkey = domain->pd->local_dma_lkey;
	sge->addr = ib_dma_map_page(domain->dev->ibdev, piece->page, piece->offset, piece->len,
				    dir);
	if (ib_dma_mapping_error(domain->dev->ibdev, sge->addr))
		return -EAGAIN;
	map->mapped |= 1U << map->count++;
	return 0;
}

/*
 * Puts the current element under the key of its region, which is linear: addresses in the region
 * are those of its memory.  Elements in other regions are mapped as if there were no region.
 */
static int verbs_map_region(struct verbs_domain *domain,
			    struct kofi_list_iter *at,
			    const struct verbs_mr *mr, struct verbs_map *map)
{
	u64 addr = kofi_list_addr(at), offset = addr - mr->ibmr->iova;
	size_t len = kofi_list_left(at);

	if (mr->domain != domain || offset > mr->len || len > mr->len - offset)
		return -EINVAL;
	map->sge[map->count++] = (struct ib_sge) {
		.addr	= addr,
		.length	= len,
		.lkey	= mr->ibmr->lkey,
	};
	map->len += len;
	kofi_list_advance(at, len);
	return 0;
}

static int verbs_map_next(struct verbs_domain *domain,
			  enum dma_data_direction dir,
			  struct kofi_list_iter *at, struct verbs_map *map)
{
	const struct verbs_mr *mr = at->desc ? *at->desc : NULL;
	struct kofi_piece piece;
	int ret;

	if (mr && mr->linear)
		return verbs_map_region(domain, at, mr, map);
	ret = kofi_list_piece(at, &piece);
	if (ret)
		return ret;
	ret = verbs_map_piece(domain, dir, &piece, map);
	if (ret)
		return ret;
	map->len += piece.len;
	kofi_list_advance(at, piece.len);
	return 0;
}

/**
 * verbs_map_some() - Map as much of a list as fits
 * @domain: the domain
 * @dir: direction of the transfer
 * @at: place in the list; on return behind the mapped elements
 * @limit: most elements, at most VERBS_MAX_IOV
 * @map: the elements, none before
 *
 * Return: 0, and @at->count is 0 if the list is finished; -EINVAL: no memory that the device can
 * reach; -EAGAIN: the IOMMU is full.  After an error nothing is mapped.
 */
int verbs_map_some(struct verbs_domain *domain, enum dma_data_direction dir,
		   struct kofi_list_iter *at, size_t limit, struct verbs_map *map)
{
	int ret;

	while (kofi_list_more(at) && map->count < limit) {
		ret = verbs_map_next(domain, dir, at, map);
		if (ret) {
			verbs_map_undo(domain, dir, map);
			return ret;
		}
	}
	return 0;
}

void verbs_sges_unmap(struct verbs_domain *domain, enum dma_data_direction dir,
		      const struct ib_sge *sge, u32 mapped)
{
	for (; mapped; mapped >>= 1, sge++)
		if (mapped & 1)
			ib_dma_unmap_page(domain->dev->ibdev, sge->addr, sge->length, dir);
}

void verbs_map_undo(struct verbs_domain *domain, enum dma_data_direction dir,
		    struct verbs_map *map)
{
	verbs_sges_unmap(domain, dir, map->sge, map->mapped);
	map->count = 0;
	map->mapped = 0;
}

static struct verbs_sge *verbs_slot_maps(const struct verbs_slot *slot)
{
	const struct verbs_queue *queue = slot->queue;

	return &queue->maps[(slot - queue->slots) * queue->iov_limit];
}

/* Keep the mappings of an operation.  @mapped: as in &struct verbs_map */
void verbs_sges_keep(struct verbs_slot *slot, const struct ib_sge *sge, u32 mapped)
{
	struct verbs_sge *maps, *end;

	if (!slot->queue->maps)
		return;
	maps = verbs_slot_maps(slot);
	end = maps + slot->queue->iov_limit;
	for (; mapped; mapped >>= 1, sge++)
		if (mapped & 1)
			*maps++ = (struct verbs_sge) { sge->addr, sge->length };
	if (maps < end)
		maps->len = 0;
}

/* The mappings of an operation are the caller's again */
void verbs_sges_forget(struct verbs_slot *slot)
{
	if (slot->queue->maps)
		verbs_slot_maps(slot)->len = 0;
}

/* The part of verbs_unmap() for a device that needs it */
void verbs_unmap_slot(struct verbs_slot *slot)
{
	const struct verbs_queue *queue = slot->queue;
	enum dma_data_direction dir;
	struct verbs_sge *map, *end;

	dir = slot->comp.flags & (FI_RECV | FI_READ) ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
	map = verbs_slot_maps(slot);
	for (end = map + queue->iov_limit; map < end && map->len; map++) {
		dma_unmap_page(queue->domain->dma_device, map->addr, map->len, dir);
		map->len = 0;
	}
}
