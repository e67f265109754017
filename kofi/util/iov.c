// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lists of buffers for providers that copy.
 *
 * kofi_iov_set() and kofi_iov_keep() are the only functions that trust nothing: they check the
 * client's list and count its bytes without overflow.  A copy has no empty elements, and a list
 * that is lent must have none.  All other functions take the list as it is.
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

/* Make a list empty */
static void kofi_iov_begin(struct kofi_iov *iov, enum fi_buf_type type)
{
	iov->len = 0;
	iov->count = 0;
	iov->pages = type != FI_BUF_KVEC;
	iov->is_lent = false;
	iov->is_sgl = false;
}

int kofi_iov_set(struct kofi_iov *iov, size_t max, enum fi_buf_type type,
		 const void *list, size_t count, size_t max_len, bool peer)
{
	int ret = -EINVAL;

	kofi_iov_begin(iov, type);
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

/* Check the next element of a list that is lent, and get its bytes */
static int kofi_iov_check_elem(enum fi_buf_type type, const void **list, bool peer, size_t *len)
{
	struct scatterlist *sg = (struct scatterlist *)*list;
	const struct bio_vec *bvec = *list;
	const struct kvec *kvec = *list;

	switch (type) {
	case FI_BUF_KVEC:
		*list = kvec + 1;
		*len = kvec->iov_len;
		return *len && kofi_is_memory(kvec->iov_base, *len, peer) ? 0 : -EINVAL;
	case FI_BUF_BVEC:
		*list = bvec + 1;
		*len = bvec->bv_len;
		return *len && kofi_page_is_memory(bvec->bv_page, peer) ? 0 : -EINVAL;
	case FI_BUF_SGL:
		/* The list ends before its count is up */
		if (!sg)
			return -EINVAL;
		*list = sg_next(sg);
		*len = sg->length;
		return *len && kofi_page_is_memory(sg_page(sg), peer) ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}

/* Refer to a client's list, with at most @max elements */
static int kofi_iov_lend(struct kofi_iov *iov, size_t max, enum fi_buf_type type,
			 const void *list, size_t count, size_t max_len, bool peer)
{
	const void *next = list;
	size_t i, len;
	int ret = 0;

	kofi_iov_begin(iov, type);
	if (!list)
		return -EINVAL;
	for (i = 0; i < count && !ret; i++) {
		ret = kofi_iov_check_elem(type, &next, peer, &len);
		if (!ret)
			ret = kofi_iov_count(iov, max, len, max_len);
	}
	if (ret) {
		kofi_iov_begin(iov, type);
		return ret;
	}
	iov->is_lent = true;
	iov->is_sgl = type == FI_BUF_SGL;
	iov->lent->list = list;
	iov->lent->next = (struct scatterlist *)list;
	iov->lent->at = 0;
	return 0;
}

int kofi_iov_keep(struct kofi_iov *iov, size_t room, size_t lent, enum fi_buf_type type,
		  const void *list, size_t count, size_t max_len, bool peer)
{
	if (likely(count <= room || !lent))
		return kofi_iov_set(iov, room, type, list, count, max_len, peer);
	return kofi_iov_lend(iov, lent, type, list, count, max_len, peer);
}
EXPORT_SYMBOL_GPL(kofi_iov_keep);

static const struct kvec *kofi_iov_kvec(const struct kofi_iov *iov)
{
	return unlikely(iov->is_lent) ? iov->lent->list : iov->kvec;
}

static const struct bio_vec *kofi_iov_bvec(const struct kofi_iov *iov)
{
	return unlikely(iov->is_lent) ? iov->lent->list : iov->bvec;
}

void kofi_iov_iter(const struct kofi_iov *iov, unsigned int direction,
		   size_t offset, size_t len, struct iov_iter *iter)
{
	if (iov->pages)
		iov_iter_bvec(iter, direction, kofi_iov_bvec(iov), iov->count, iov->len);
	else
		iov_iter_kvec(iter, direction, kofi_iov_kvec(iov), iov->count, iov->len);
	if (offset)
		iov_iter_advance(iter, offset);
	iov_iter_truncate(iter, len);
}
EXPORT_SYMBOL_GPL(kofi_iov_iter);

/* Have the next elements of a scatterlist from @offset on as bio_vecs; @len: how many bytes */
static u32 kofi_iov_convert(struct kofi_iov_lent *lent, size_t offset, size_t *len)
{
	struct scatterlist *sg;
	u32 n = 0;

	if (offset < lent->at) {
		lent->next = (struct scatterlist *)lent->list;
		lent->at = 0;
	}
	for (sg = lent->next; sg && offset - lent->at >= sg->length; sg = sg_next(sg))
		lent->at += sg->length;
	lent->next = sg;
	for (*len = 0; sg && n < KOFI_IOV_PART; sg = sg_next(sg), n++) {
		bvec_set_page(&lent->part[n], sg_page(sg), sg->length, sg->offset);
		*len += sg->length;
	}
	return n;
}

void kofi_iov_part(struct kofi_iov *iov, unsigned int direction, size_t offset, size_t len,
		   struct iov_iter *iter)
{
	size_t there;
	u32 n;

	if (likely(!iov->is_sgl)) {
		kofi_iov_iter(iov, direction, offset, len, iter);
		return;
	}
	/* The list may have more elements than the client has lent */
	offset = min(offset, iov->len);
	len = min(len, iov->len - offset);
	n = len ? kofi_iov_convert(iov->lent, offset, &there) : 0;
	iov_iter_bvec(iter, direction, iov->lent->part, n, n ? there : 0);
	if (n)
		iov_iter_advance(iter, offset - iov->lent->at);
	iov_iter_truncate(iter, len);
}
EXPORT_SYMBOL_GPL(kofi_iov_part);

static void *kofi_page_addr(struct page *page, size_t offset)
{
	void *addr = page_address(page);

	return addr ? addr + offset : NULL;
}

void *kofi_iov_addr(const struct kofi_iov *iov)
{
	struct scatterlist *sg;

	if (!iov->count)
		return NULL;
	if (iov->is_sgl) {
		sg = (struct scatterlist *)iov->lent->list;
		return kofi_page_addr(sg_page(sg), sg->offset);
	}
	if (iov->pages)
		return kofi_page_addr(kofi_iov_bvec(iov)->bv_page, kofi_iov_bvec(iov)->bv_offset);
	return kofi_iov_kvec(iov)->iov_base;
}
EXPORT_SYMBOL_GPL(kofi_iov_addr);

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
