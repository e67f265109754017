// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lists of buffers for providers that copy.
 *
 * kofi_iov_set() is the only function that trusts nothing: it checks the client's
 * list while it copies it, counts the bytes without overflow, and leaves out empty
 * elements.  All other functions take the list as it is.
 *
 * A copy maps one page of its source at a time, by kmap_local_page(), and hands it to
 * the iterator of the destination, which maps pages of its own inside.  The two
 * mappings nest, so they are undone in the right order in any context.
 *
 * This file calls _copy_to_iter() and _copy_from_iter().  The calls without an underscore
 * check whether the object that a buffer lies in may be copied to user space (hardened
 * usercopy), and refuse most slab caches.
 */
#include <linux/highmem.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <kofi/iov.h>
#include <kofi/pages.h>

/* Counts one more element, which is not empty; the caller fills it in */
static int kofi_iov_count(struct kofi_iov *iov, size_t max, size_t len,
			  size_t max_len)
{
	if (iov->count >= max)
		return -EINVAL;
	if (len > max_len - iov->len)
		return -EMSGSIZE;
	iov->len += len;
	iov->count++;
	return 0;
}

static int kofi_iov_set_kvecs(struct kofi_iov *iov, size_t max,
			      const struct kvec *kvec, size_t count,
			      size_t max_len, bool peer)
{
	int ret;

	for (; count; count--, kvec++) {
		if (!kvec->iov_len)
			continue;
		ret = kofi_iov_count(iov, max, kvec->iov_len, max_len);
		if (ret)
			return ret;
		if (!kofi_is_memory(kvec->iov_base, kvec->iov_len, peer))
			return -EINVAL;
		iov->kvec[iov->count - 1] = *kvec;
	}
	return 0;
}

static int kofi_iov_add_page(struct kofi_iov *iov, size_t max,
			     const struct bio_vec *bvec, size_t max_len, bool peer)
{
	int ret;

	if (!bvec->bv_len)
		return 0;
	ret = kofi_iov_count(iov, max, bvec->bv_len, max_len);
	if (ret)
		return ret;
	if (!kofi_page_is_memory(bvec->bv_page, peer))
		return -EINVAL;
	iov->bvec[iov->count - 1] = *bvec;
	return 0;
}

static int kofi_iov_set_bvecs(struct kofi_iov *iov, size_t max,
			      const struct bio_vec *bvec, size_t count,
			      size_t max_len, bool peer)
{
	int ret = 0;

	for (; count && !ret; count--, bvec++)
		ret = kofi_iov_add_page(iov, max, bvec, max_len, peer);
	return ret;
}

static int kofi_iov_set_sgl(struct kofi_iov *iov, size_t max,
			    struct scatterlist *sg, size_t count,
			    size_t max_len, bool peer)
{
	struct bio_vec bvec;
	int ret = 0;

	for (; count && !ret; count--, sg = sg_next(sg)) {
		/* The list ends before its count is up */
		if (!sg)
			return -EINVAL;
		bvec_set_page(&bvec, sg_page(sg), sg->length, sg->offset);
		ret = kofi_iov_add_page(iov, max, &bvec, max_len, peer);
	}
	return ret;
}

int kofi_iov_set(struct kofi_iov *iov, size_t max, enum fi_buf_type type,
		 const void *list, size_t count, size_t max_len, bool peer)
{
	int ret = -EINVAL;

	iov->len = 0;
	iov->count = 0;
	iov->pages = type != FI_BUF_KVEC;
	if (count && !list)
		return -EINVAL;
	max = min_t(size_t, max, U32_MAX);

	switch (type) {
	case FI_BUF_KVEC:
		ret = kofi_iov_set_kvecs(iov, max, list, count, max_len, peer);
		break;
	case FI_BUF_BVEC:
		ret = kofi_iov_set_bvecs(iov, max, list, count, max_len, peer);
		break;
	case FI_BUF_SGL:
		ret = kofi_iov_set_sgl(iov, max, (struct scatterlist *)list,
				       count, max_len, peer);
		break;
	}
	if (ret) {
		iov->len = 0;
		iov->count = 0;
	}
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_iov_set);

void kofi_iov_iter(const struct kofi_iov *iov, unsigned int direction,
		   size_t offset, size_t len, struct iov_iter *iter)
{
	if (iov->pages)
		iov_iter_bvec(iter, direction, iov->bvec, iov->count,
			      iov->len);
	else
		iov_iter_kvec(iter, direction, iov->kvec, iov->count,
			      iov->len);
	if (offset)
		iov_iter_advance(iter, offset);
	iov_iter_truncate(iter, len);
}
EXPORT_SYMBOL_GPL(kofi_iov_iter);

void *kofi_iter_map(const struct iov_iter *iter, size_t *len)
{
	const struct bio_vec *bvec = iter->bvec;
	size_t offset;

	if (iov_iter_is_kvec(iter)) {
		*len = min(*len, iter->kvec->iov_len - iter->iov_offset);
		return iter->kvec->iov_base + iter->iov_offset;
	}
	offset = bvec->bv_offset + iter->iov_offset;
	*len = min3(*len, bvec->bv_len - iter->iov_offset,
		    PAGE_SIZE - offset_in_page(offset));
	return kmap_local_page(bvec->bv_page + offset / PAGE_SIZE) +
	       offset_in_page(offset);
}
EXPORT_SYMBOL_GPL(kofi_iter_map);

void kofi_iter_unmap(const struct iov_iter *iter, const void *addr)
{
	if (!iov_iter_is_kvec(iter))
		kunmap_local(addr);
}
EXPORT_SYMBOL_GPL(kofi_iter_unmap);

size_t kofi_iov_copy(struct iov_iter *to, struct iov_iter *from, size_t len)
{
	size_t left, part;
	void *addr;

	len = min3(len, iov_iter_count(to), iov_iter_count(from));
	for (left = len; left; left -= part) {
		part = left;
		addr = kofi_iter_map(from, &part);
		_copy_to_iter(addr, part, to);
		kofi_iter_unmap(from, addr);
		iov_iter_advance(from, part);
	}
	return len;
}
EXPORT_SYMBOL_GPL(kofi_iov_copy);

size_t kofi_iov_gather(void *to, const struct kofi_iov *iov, size_t offset,
		       size_t len)
{
	struct iov_iter iter;

	kofi_iov_iter(iov, ITER_SOURCE, offset, len, &iter);
	return _copy_from_iter(to, iov_iter_count(&iter), &iter);
}
EXPORT_SYMBOL_GPL(kofi_iov_gather);

size_t kofi_iov_scatter(const struct kofi_iov *iov, size_t offset,
			const void *from, size_t len)
{
	struct iov_iter iter;

	kofi_iov_iter(iov, ITER_DEST, offset, len, &iter);
	return _copy_to_iter(from, iov_iter_count(&iter), &iter);
}
EXPORT_SYMBOL_GPL(kofi_iov_scatter);
