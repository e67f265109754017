// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lists of buffers as pieces of memory that are contiguous in physical memory.
 *
 * What a client may hand over is kernel memory that has pages: from kmalloc, of
 * pages, of the kernel's or a module's data, all of which are one piece each, and
 * from vmalloc, one piece for each page.  Everything else is refused: the stack,
 * because the frame may be gone before the device is done with it; device
 * registers; peer device memory; what is no kernel address at all.
 *
 * Runs in any context; nothing is locked.
 */
#include <linux/bvec.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/sched/task_stack.h>
#include <linux/uio.h>
#include "verbs.h"

struct verbs_walk {
	verbs_piece_fn	fn;
	void		*context;
};

static int verbs_walk_page(const struct verbs_walk *walk, struct page *page,
			   size_t offset, size_t len)
{
	struct verbs_piece piece = {
		.page	= page,
		.offset	= offset,
		.len	= len,
	};

	if (!page || is_pci_p2pdma_page(page))
		return -EINVAL;
	piece.addr = page_address(page) + offset;
	return walk->fn(walk->context, &piece);
}

static int verbs_walk_vmalloc(const struct verbs_walk *walk, void *base,
			      size_t len)
{
	struct verbs_piece piece;
	int ret = 0;

	for (; len && !ret; base += piece.len, len -= piece.len) {
		piece.addr = base;
		piece.offset = offset_in_page(base);
		piece.len = min(len, PAGE_SIZE - piece.offset);
		piece.page = vmalloc_to_page(base);
		/* Registers of a device are mapped there, too */
		if (!piece.page || !pfn_valid(page_to_pfn(piece.page)))
			return -EINVAL;
		ret = walk->fn(walk->context, &piece);
	}
	return ret;
}

static int verbs_walk_kvec(const struct verbs_walk *walk,
			   const struct kvec *kvec)
{
	void *base = kvec->iov_base;
	size_t len = kvec->iov_len;

	if (!len)
		return 0;
	if (!base || base + len - 1 < base || object_is_on_stack(base))
		return -EINVAL;
	if (is_vmalloc_or_module_addr(base))
		return verbs_walk_vmalloc(walk, base, len);
	if (!virt_addr_valid(base) || !virt_addr_valid(base + len - 1))
		return -EINVAL;
	return verbs_walk_page(walk, virt_to_page(base), offset_in_page(base),
			       len);
}

static int verbs_walk_kvecs(const struct verbs_walk *walk,
			    const struct kvec *kvec, size_t count)
{
	int ret = 0;

	for (; count && !ret; count--, kvec++)
		ret = verbs_walk_kvec(walk, kvec);
	return ret;
}

static int verbs_walk_bvecs(const struct verbs_walk *walk,
			    const struct bio_vec *bvec, size_t count)
{
	int ret = 0;

	for (; count && !ret; count--, bvec++)
		if (bvec->bv_len)
			ret = verbs_walk_page(walk, bvec->bv_page,
					      bvec->bv_offset, bvec->bv_len);
	return ret;
}

static int verbs_walk_sgl(const struct verbs_walk *walk, struct scatterlist *sg,
			  size_t count)
{
	int ret = 0;

	for (; count && sg && !ret; count--, sg = sg_next(sg))
		if (sg->length)
			ret = verbs_walk_page(walk, sg_page(sg), sg->offset,
					      sg->length);
	return count && !ret ? -EINVAL : ret;
}

/*
 * Calls @fn for each piece, in order, until it fails.  Returns what it returned;
 * -EINVAL for a list that is none, or that has something else than memory in it.
 */
int verbs_each_piece(enum fi_buf_type type, const void *list, size_t count,
		     verbs_piece_fn fn, void *context)
{
	struct verbs_walk walk = { fn, context };

	if (count && !list)
		return -EINVAL;

	switch (type) {
	case FI_BUF_KVEC:
		return verbs_walk_kvecs(&walk, list, count);
	case FI_BUF_BVEC:
		return verbs_walk_bvecs(&walk, list, count);
	case FI_BUF_SGL:
		return verbs_walk_sgl(&walk, (struct scatterlist *)list, count);
	default:
		return -EINVAL;
	}
}
