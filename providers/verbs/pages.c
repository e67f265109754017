// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lists of buffers, and the pieces of memory they consist of.
 *
 * What a client may hand over is kernel memory that has pages: from kmalloc, of
 * pages, of the kernel's or a module's data, all of which are one piece each, and
 * from vmalloc, one piece for each page.  Everything else is refused: the stack,
 * because the frame may be gone before the device is done with it; device
 * registers; peer device memory; what is no kernel address at all.
 *
 * A list is walked by an iterator that can stop anywhere, for whoever can take
 * only so many pieces at a time.
 *
 * Runs in any context; nothing is locked, as a list belongs to one call.
 */
#include <linux/bvec.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/sched/task_stack.h>
#include <linux/uio.h>
#include "op.h"

static size_t verbs_elem_len(enum fi_buf_type type, const void *elem)
{
	switch (type) {
	case FI_BUF_KVEC:
		return ((const struct kvec *)elem)->iov_len;
	case FI_BUF_BVEC:
		return ((const struct bio_vec *)elem)->bv_len;
	default:
		return ((const struct scatterlist *)elem)->length;
	}
}

static const void *verbs_elem_next(enum fi_buf_type type, const void *elem)
{
	switch (type) {
	case FI_BUF_KVEC:
		return (const struct kvec *)elem + 1;
	case FI_BUF_BVEC:
		return (const struct bio_vec *)elem + 1;
	default:
		return sg_next((struct scatterlist *)elem);
	}
}

/* @len: at most the bytes that are left of the current element */
void verbs_iter_advance(struct verbs_iter *iter, size_t len)
{
	iter->skip += len;
	if (iter->skip < verbs_elem_len(iter->type, iter->elem))
		return;
	iter->skip = 0;
	iter->elem = verbs_elem_next(iter->type, iter->elem);
	iter->count--;
	if (iter->desc)
		iter->desc++;
}

/* Bytes that are left of the current element */
size_t verbs_iter_left(const struct verbs_iter *iter)
{
	return verbs_elem_len(iter->type, iter->elem) - iter->skip;
}

/* Kernel address of the place */
u64 verbs_iter_addr(const struct verbs_iter *iter)
{
	struct scatterlist *sg = (void *)iter->elem;
	const struct bio_vec *bvec = iter->elem;
	const void *base;

	if (iter->type == FI_BUF_KVEC)
		base = ((const struct kvec *)iter->elem)->iov_base;
	else if (iter->type == FI_BUF_BVEC)
		base = page_address(bvec->bv_page) + bvec->bv_offset;
	else
		base = sg_virt(sg);
	return (uintptr_t)base + iter->skip;
}

/* Peer device memory may stand among the kernel's own */
static bool verbs_is_memory(const void *addr)
{
	return virt_addr_valid(addr) &&
	       !is_pci_p2pdma_page(virt_to_page(addr));
}

static int verbs_page_piece(struct page *page, size_t offset, size_t len,
			    struct verbs_piece *piece)
{
	if (!page || is_pci_p2pdma_page(page))
		return -EINVAL;
	piece->addr = page_address(page) + offset;
	piece->page = page;
	piece->offset = offset;
	piece->len = len;
	return 0;
}

static int verbs_vmalloc_piece(void *base, size_t len,
			       struct verbs_piece *piece)
{
	piece->addr = base;
	piece->page = vmalloc_to_page(base);
	piece->offset = offset_in_page(base);
	piece->len = min(len, PAGE_SIZE - piece->offset);
	/* Registers of a device are mapped there, too */
	if (!piece->page || !pfn_valid(page_to_pfn(piece->page)) ||
	    is_pci_p2pdma_page(piece->page))
		return -EINVAL;
	return 0;
}

static int verbs_kvec_piece(const struct kvec *kvec, size_t skip,
			    struct verbs_piece *piece)
{
	void *base = kvec->iov_base + skip;
	size_t len = kvec->iov_len - skip;

	if (!kvec->iov_base || base + len - 1 < base ||
	    object_is_on_stack(base))
		return -EINVAL;
	if (is_vmalloc_or_module_addr(base))
		return verbs_vmalloc_piece(base, len, piece);
	if (!verbs_is_memory(base) || !verbs_is_memory(base + len - 1))
		return -EINVAL;
	return verbs_page_piece(virt_to_page(base), offset_in_page(base), len,
				piece);
}

/*
 * Is all of it in the kernel's linear mapping, and no stack?  Such a buffer is one
 * piece, as verbs_kvec_piece() would find.
 */
bool verbs_is_plain_memory(const void *buf, size_t len)
{
	const void *last;

	if (!buf)
		return false;
	last = buf + len - 1;
	return last >= buf && !object_is_on_stack(buf) &&
	       !is_vmalloc_addr(buf) && verbs_is_memory(buf) &&
	       verbs_is_memory(last);
}

/*
 * The piece that the iterator stands at, once verbs_iter_more() has said that
 * there is one.  Returns 0, or -EINVAL for what is not memory.
 */
int verbs_iter_piece(const struct verbs_iter *iter, struct verbs_piece *piece)
{
	struct scatterlist *sg = (void *)iter->elem;
	const struct bio_vec *bvec = iter->elem;

	switch (iter->type) {
	case FI_BUF_KVEC:
		return verbs_kvec_piece(iter->elem, iter->skip, piece);
	case FI_BUF_BVEC:
		return verbs_page_piece(bvec->bv_page,
					bvec->bv_offset + iter->skip,
					bvec->bv_len - iter->skip, piece);
	default:
		return verbs_page_piece(sg_page(sg), sg->offset + iter->skip,
					sg->length - iter->skip, piece);
	}
}

/* Skips empty elements; true if there is something left */
bool verbs_iter_more(struct verbs_iter *iter)
{
	while (iter->count && iter->elem &&
	       !verbs_elem_len(iter->type, iter->elem))
		verbs_iter_advance(iter, 0);
	return iter->count && iter->elem;
}

/*
 * Calls @fn for each piece, in order, until it fails.  Returns what it returned;
 * -EINVAL for a list that is none, or that has something else than memory in it.
 */
int verbs_each_piece(enum fi_buf_type type, const void *list, size_t count,
		     verbs_piece_fn fn, void *context)
{
	struct verbs_iter iter = {
		.type	= type,
		.elem	= list,
		.count	= count,
	};
	struct verbs_piece piece;
	int ret = 0;

	if (type > FI_BUF_SGL || (count && !list))
		return -EINVAL;
	while (!ret && verbs_iter_more(&iter)) {
		ret = verbs_iter_piece(&iter, &piece);
		if (ret)
			break;
		ret = fn(context, &piece);
		verbs_iter_advance(&iter, piece.len);
	}
	/* A chain of scatterlists may end early */
	return iter.count && !ret ? -EINVAL : ret;
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
	for (; count; count--) {
		/* A chain of scatterlists may end early */
		if (!list)
			return -EINVAL;
		len = verbs_elem_len(type, list);
		if (len > max - total)
			return -EMSGSIZE;
		total += len;
		list = verbs_elem_next(type, list);
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
