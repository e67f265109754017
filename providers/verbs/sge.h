/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Local buffers as scatter/gather elements of the device.
 *
 * A buffer with a descriptor (fi_mr_desc()) lies in a region, and is one element under the region's
 * own key.  Other buffers get the domain's local DMA key, without a registration.  Devices without
 * DMA (rxe, siw) take the kernel address; for other devices the buffer is mapped, and the slot
 * keeps the mapping until it is undone.
 *
 * verbs_sges_set() is for the usual buffers, which are one element each: those in the linear map,
 * and those in a linear region.  The caller has the slot before it maps, so nothing is mapped for a
 * queue that is full.  verbs_map_some() (sge.c) takes any list, piece by piece.
 *
 * All of it runs in any context, without a lock, as a list belongs to one call.
 */
#ifndef _KOFI_VERBS_SGE_H
#define _KOFI_VERBS_SGE_H

#include <linux/bvec.h>
#include <linux/uio.h>
#include <kofi/pages.h>
#include <rdma/ib_verbs.h>
#include "mr.h"
#include "queue.h"

/**
 * struct verbs_map - Elements for the device
 * @count: entries of @sge
 * @mapped: bit n: entry n of @sge is to be unmapped
 * @copied: the device copies the data when they are posted; addresses are the kernel's
 * @anywhere: the same, for data to inject: any kernel address will do
 * @len: bytes of all elements
 * @sge: the elements
 */
struct verbs_map {
	u32			count;
	u32			mapped;
	bool			copied;
	bool			anywhere;
	size_t			len;
	struct ib_sge		*sge;
};

/* sge.c */
int verbs_map_some(struct verbs_domain *domain, enum dma_data_direction dir,
		   struct kofi_list_iter *at, size_t limit, struct verbs_map *map);
void verbs_map_undo(struct verbs_domain *domain, enum dma_data_direction dir,
		    struct verbs_map *map);
struct verbs_map verbs_sges_list(const struct verbs_queue *queue, const struct kofi_list_iter *at,
				 enum dma_data_direction dir, size_t max_len, struct ib_sge *sge);
void verbs_sges_unmap(struct verbs_domain *domain, enum dma_data_direction dir,
		      const struct ib_sge *sge, u32 mapped);
void verbs_sges_keep(struct verbs_slot *slot, const struct ib_sge *sge, u32 mapped);
void verbs_sges_forget(struct verbs_slot *slot);
void verbs_unmap_slot(struct verbs_slot *slot);

/* Undo the mappings of an operation that is over, if it has any */
static __always_inline void verbs_unmap(struct verbs_slot *slot)
{
	if (slot->queue->maps)
		verbs_unmap_slot(slot);
}

/*
 * Return an element of a list that is not of scatterlists.  Its address is NULL if it is of a page
 * that is no memory.
 */
static __always_inline struct kvec verbs_elem(const struct kofi_list_iter *at, size_t i)
{
	const struct bio_vec *bvec = at->elem;

	if (likely(at->type == FI_BUF_KVEC))
		return ((const struct kvec *)at->elem)[i];
	bvec += i;
	return (struct kvec) {
		.iov_base	= kofi_page_is_memory(bvec->bv_page, at->peer) ?
				  page_address(bvec->bv_page) + bvec->bv_offset : NULL,
		.iov_len	= bvec->bv_len,
	};
}

/* Set the element for a buffer.  Return false if it is not one of the usual buffers */
static __always_inline bool
verbs_sge_set(const struct verbs_queue *queue, struct verbs_map *map, const void *buf, size_t len,
	      const struct verbs_mr *mr, enum dma_data_direction dir)
{
	struct ib_sge *sge = &map->sge[map->count];
	struct ib_device *ibdev;

	sge->addr = (uintptr_t)buf;
	sge->length = len;
	if (mr) {
		sge->lkey = mr->lkey;
		map->count++;
		return mr->plain == queue->domain && len <= mr->len &&
		       (uintptr_t)buf - mr->start <= mr->len - len;
	}
	if (unlikely(!map->anywhere && !kofi_is_ram(buf, len)))
		return false;
	sge->lkey = queue->lkey;
	if (queue->maps && !map->copied) {
		ibdev = queue->domain->dev->ibdev;
		sge->addr = ib_dma_map_single(ibdev, (void *)buf, len, dir);
		if (unlikely(ib_dma_mapping_error(ibdev, sge->addr)))
			return false;
		map->mapped |= 1U << map->count;
	}
	map->count++;
	return true;
}

/**
 * verbs_sges_set() - Make elements of a list of usual buffers
 * @queue: where the operation goes
 * @at: the list
 * @dir: direction of the transfer
 * @limit: most elements
 * @max_len: most bytes
 * @copy_len: most bytes that the device copies when they are posted, of one element; not every
 *	device copies more than one
 * @map: the elements; none before, and @anywhere set
 *
 * Context: any.
 * Return: true; or false: there are no bytes, or verbs_map_some() has to make the elements, or the
 * data to inject are not copied; nothing is mapped then.
 */
static __always_inline bool
verbs_sges_set(const struct verbs_queue *queue, const struct kofi_list_iter *at,
	       enum dma_data_direction dir, size_t limit, size_t max_len, size_t copy_len,
	       struct verbs_map *map)
{
	struct kofi_list_iter list __uninitialized;
	struct kvec elem;

	if (unlikely(at->type > FI_BUF_BVEC || !at->elem))
		return false;
	if (unlikely(at->count != 1)) {
		if (at->count > limit || map->anywhere)
			return false;
		/* Copies, so that callers with one element need neither structure in memory */
		list = *at;
		*map = verbs_sges_list(queue, &list, dir, max_len, map->sge);
		return map->count;
	}
	elem = verbs_elem(at, 0);
	map->len = elem.iov_len;
	map->copied = map->len <= copy_len;
	if (unlikely(!map->copied && map->anywhere))
		return false;
	return map->len - 1 < max_len &&
	       verbs_sge_set(queue, map, elem.iov_base, map->len,
			     at->desc ? *at->desc : NULL, dir);
}

#endif /* _KOFI_VERBS_SGE_H */
