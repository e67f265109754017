// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lists of local buffers to scatter/gather elements of the device.
 *
 * Everything is mapped piece by piece as page and offset under the domain's
 * local DMA key; no registration.  A piece is contiguous in physical memory: a
 * buffer from kmalloc or of pages is one piece, one from vmalloc is one for each
 * page.  What was mapped is kept per slot for unmapping, except for devices
 * without DMA (rxe, siw), for which there is nothing to undo.
 *
 * Runs in any context; a slot belongs to one operation, so nothing is locked.
 */
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/sched/task_stack.h>
#include "verbs.h"

struct verbs_mapper {
	struct verbs_slot	*slot;
	struct ib_device	*ibdev;
	struct ib_sge		*sge;
	u32			lkey;
	int			count;
};

static struct verbs_sge *verbs_slot_maps(struct verbs_slot *slot)
{
	struct verbs_queue *queue = slot->queue;

	if (!queue->maps)
		return NULL;
	return &queue->maps[(slot - queue->slots) * queue->iov_limit];
}

static int verbs_map_piece(struct verbs_mapper *mapper, struct page *page,
			   size_t offset, size_t len)
{
	struct verbs_queue *queue = mapper->slot->queue;
	struct verbs_sge *maps = verbs_slot_maps(mapper->slot);
	struct ib_sge *sge = &mapper->sge[mapper->count];

	if (mapper->count == queue->iov_limit)
		return -EINVAL;

	sge->addr = ib_dma_map_page(mapper->ibdev, page, offset, len,
				    queue->dir);
	if (ib_dma_mapping_error(mapper->ibdev, sge->addr))
		return -EAGAIN;
	sge->length = len;
	sge->lkey = mapper->lkey;
	if (maps)
		maps[mapper->count] = (struct verbs_sge) { sge->addr, len };
	mapper->count++;
	return 0;
}

static int verbs_map_vmalloc(struct verbs_mapper *mapper, const void *base,
			     size_t len)
{
	size_t offset, piece;
	struct page *page;
	int ret = 0;

	while (len && !ret) {
		offset = offset_in_page(base);
		piece = min(len, PAGE_SIZE - offset);
		page = vmalloc_to_page(base);
		if (!page)
			return -EINVAL;
		ret = verbs_map_piece(mapper, page, offset, piece);
		base += piece;
		len -= piece;
	}
	return ret;
}

static int verbs_map_kvec(struct verbs_mapper *mapper, const struct kvec *kvec)
{
	const void *base = kvec->iov_base;

	if (!kvec->iov_len)
		return 0;
	/* A stack frame may be gone before the device is done with it */
	if (!base || object_is_on_stack(base))
		return -EINVAL;
	if (is_vmalloc_or_module_addr(base))
		return verbs_map_vmalloc(mapper, base, kvec->iov_len);
	if (!virt_addr_valid(base) ||
	    !virt_addr_valid(base + kvec->iov_len - 1))
		return -EINVAL;
	return verbs_map_piece(mapper, virt_to_page(base),
			       offset_in_page(base), kvec->iov_len);
}

static int verbs_map_kvecs(struct verbs_mapper *mapper, const struct kvec *kvec,
			   size_t count)
{
	int ret = 0;

	for (; count && !ret; count--, kvec++)
		ret = verbs_map_kvec(mapper, kvec);
	return ret;
}

static int verbs_map_bvecs(struct verbs_mapper *mapper,
			   const struct bio_vec *bvec, size_t count)
{
	int ret = 0;

	for (; count && !ret; count--, bvec++)
		if (bvec->bv_len)
			ret = verbs_map_piece(mapper, bvec->bv_page,
					      bvec->bv_offset, bvec->bv_len);
	return ret;
}

static int verbs_map_sgl(struct verbs_mapper *mapper, struct scatterlist *sg,
			 size_t count)
{
	int ret = 0;

	for (; count && sg && !ret; count--, sg = sg_next(sg))
		if (sg->length)
			ret = verbs_map_piece(mapper, sg_page(sg), sg->offset,
					      sg->length);
	return count && !ret ? -EINVAL : ret;
}

/*
 * Returns how many of @sge (iov_limit of them) are filled, -EINVAL for a list
 * that is too long or not memory, -EAGAIN if the IOMMU is full.
 */
int verbs_map(struct verbs_slot *slot, enum fi_buf_type type, const void *list,
	      size_t count, struct ib_sge *sge)
{
	struct verbs_domain *domain = slot->queue->ep->domain;
	struct verbs_mapper mapper = {
		.slot	= slot,
		.ibdev	= domain->dev->ibdev,
		.sge	= sge,
		.lkey	= domain->pd->local_dma_lkey,
	};
	int ret;

	if (type == FI_BUF_KVEC)
		ret = verbs_map_kvecs(&mapper, list, count);
	else if (type == FI_BUF_BVEC)
		ret = verbs_map_bvecs(&mapper, list, count);
	else
		ret = verbs_map_sgl(&mapper, (struct scatterlist *)list, count);

	slot->nr_sge = mapper.count;
	if (!ret)
		return mapper.count;
	verbs_unmap(slot);
	return ret;
}

void verbs_unmap(struct verbs_slot *slot)
{
	struct verbs_sge *maps = verbs_slot_maps(slot);
	struct verbs_queue *queue = slot->queue;
	int i;

	for (i = 0; maps && i < slot->nr_sge; i++)
		ib_dma_unmap_page(queue->ep->domain->dev->ibdev, maps[i].addr,
				  maps[i].len, queue->dir);
	slot->nr_sge = 0;
}

static size_t verbs_elem_len(enum fi_buf_type type, const void **elem)
{
	const struct scatterlist *sg;
	const struct bio_vec *bvec;
	const struct kvec *kvec;

	if (type == FI_BUF_KVEC) {
		kvec = *elem;
		*elem = kvec + 1;
		return kvec->iov_len;
	}
	if (type == FI_BUF_BVEC) {
		bvec = *elem;
		*elem = bvec + 1;
		return bvec->bv_len;
	}
	sg = *elem;
	*elem = sg_next((struct scatterlist *)sg);
	return sg->length;
}

/*
 * Returns the bytes of a list, -EINVAL if it is none, -EMSGSIZE if it has more
 * than @max.
 */
ssize_t verbs_list_len(enum fi_buf_type type, const void *list, size_t count,
		       size_t max)
{
	size_t len, total = 0;

	if (type > FI_BUF_SGL || (count && !list))
		return -EINVAL;
	while (count-- && list) {
		len = verbs_elem_len(type, &list);
		if (len > max - total)
			return -EMSGSIZE;
		total += len;
	}
	return total;
}

/* The list's bytes have been counted; pages are all in the linear mapping */
void verbs_gather(void *to, enum fi_buf_type type, const void *list,
		  size_t count)
{
	const struct bio_vec *bvec = list;
	const struct kvec *kvec = list;

	if (type == FI_BUF_SGL) {
		sg_copy_to_buffer((struct scatterlist *)list, count, to,
				  SIZE_MAX);
		return;
	}
	for (; count; count--) {
		if (type == FI_BUF_KVEC) {
			memcpy(to, kvec->iov_base, kvec->iov_len);
			to += kvec++->iov_len;
		} else {
			memcpy_from_bvec(to, (struct bio_vec *)bvec);
			to += bvec++->bv_len;
		}
	}
}
