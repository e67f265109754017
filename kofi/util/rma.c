// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads and writes of peers on regions.
 *
 * A struct kofi_rma belongs to the owner of its operation.  The references that
 * kofi_rma_get() takes hold the regions in it.  kofi_rma_get() takes all references
 * before the first byte is copied, so an operation with a range that is refused changes
 * nothing.
 *
 * The lengths of the ranges come from a peer, but each is at most that of its region,
 * and a region is so short that the sum of all cannot overflow (mr/map.c).
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/uio.h>
#include <kofi/dmabuf.h>
#include <kofi/iov.h>
#include <kofi/mr_map.h>
#include <kofi/pmem.h>
#include <kofi/rma.h>

int kofi_rma_get(struct kofi_rma *rma, struct kofi_mr_map *map,
		 const struct fid_ep *ep, const struct fi_rma_iov *iov,
		 size_t count, u64 access)
{
	struct kofi_rma_range *range;
	struct kofi_mr *mr;

	rma->len = 0;
	rma->access = access;
	rma->durable = false;
	rma->count = 0;
	rma->revocable = false;
	if (!count || count > KOFI_RMA_MAX_IOV)
		return -EINVAL;

	for (; rma->count < count; iov++) {
		range = &rma->range[rma->count];
		mr = kofi_mr_get(map, ep, iov->key, iov->addr, iov->len, access,
				 &range->offset);
		if (IS_ERR(mr)) {
			kofi_rma_put(rma);
			return PTR_ERR(mr);
		}
		range->mr = mr;
		range->len = iov->len;
		rma->revocable |= !!mr->dmabuf;
		rma->len += iov->len;
		rma->count++;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_rma_get);

void kofi_rma_put(struct kofi_rma *rma)
{
	while (rma->count)
		kofi_mr_put(rma->range[--rma->count].mr);
}
EXPORT_SYMBOL_GPL(kofi_rma_put);

bool kofi_rma_is_persistent(const struct kofi_rma *rma)
{
	u32 i;

	for (i = 0; i < rma->count; i++)
		if (!rma->range[i].mr->pmem)
			return false;
	return true;
}
EXPORT_SYMBOL_GPL(kofi_rma_is_persistent);

void kofi_rma_commit(struct kofi_rma *rma)
{
	const struct kofi_rma_range *range = rma->range;
	u32 i;

	for (i = 0; i < rma->count; i++)
		kofi_pmem_write_back(range[i].mr, range[i].offset, range[i].len);
	for (i = 0; i < rma->count; i++)
		range[i].mr->pmem->ops->fence();
	rma->durable = true;
}
EXPORT_SYMBOL_GPL(kofi_rma_commit);

void kofi_rma_save(struct kofi_rma *rma, bool durable)
{
	u32 i;

	for (i = 0; i < rma->count; i++) {
		if (durable)
			kofi_pmem_save(rma->range[i].mr);
		rma->range[i].len = 0;
	}
	rma->len = 0;
}
EXPORT_SYMBOL_GPL(kofi_rma_save);

/* Records what was written, for the next save of each region */
static void kofi_rma_note_written(const struct kofi_rma *rma)
{
	const struct kofi_rma_range *range = rma->range;
	u32 i;

	for (i = 0; i < rma->count; i++)
		if (range[i].mr->pmem)
			kofi_pmem_written(range[i].mr, range[i].offset, range[i].len);
}

void kofi_rma_done(struct kofi_rma *rma, int err)
{
	const struct kofi_rma_range *range = rma->range;
	size_t len;
	u32 i, k;

	if (rma->access & FI_REMOTE_WRITE && !rma->durable)
		kofi_rma_note_written(rma);
	for (i = 0; i < rma->count; i++) {
		for (k = 0; range[k].mr != range[i].mr; k++)
			;
		/* Count each region once, at its first range */
		if (k < i)
			continue;
		for (len = 0; k < rma->count; k++)
			if (range[k].mr == range[i].mr)
				len += range[k].len;
		kofi_mr_count(range[i].mr, rma->access, err, len);
	}
	kofi_rma_put(rma);
}
EXPORT_SYMBOL_GPL(kofi_rma_done);

int kofi_rma_enter(const struct kofi_rma *rma)
{
	const struct kofi_mr *mr;
	int idx;
	u32 i;

	if (likely(!rma->revocable))
		return 0;
	idx = kofi_dmabuf_enter();
	for (i = 0; i < rma->count; i++) {
		mr = rma->range[i].mr;
		if (mr->dmabuf && !kofi_dmabuf_is_there(mr->dmabuf)) {
			kofi_dmabuf_leave(idx);
			return -EACCES;
		}
	}
	return idx;
}
EXPORT_SYMBOL_GPL(kofi_rma_enter);

void kofi_rma_leave(const struct kofi_rma *rma, int idx)
{
	if (unlikely(rma->revocable))
		kofi_dmabuf_leave(idx);
}
EXPORT_SYMBOL_GPL(kofi_rma_leave);

size_t kofi_rma_iter(const struct kofi_rma *rma, unsigned int direction,
		     size_t offset, size_t len, struct iov_iter *iter)
{
	const struct kofi_rma_range *range = rma->range;

	for (; range < rma->range + rma->count; range++) {
		if (offset < range->len) {
			len = min(len, range->len - offset);
			kofi_mr_iter(range->mr, direction,
				     range->offset + offset, len, iter);
			return len;
		}
		offset -= range->len;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_rma_iter);

size_t kofi_rma_write(const struct kofi_rma *rma, size_t offset,
		      struct iov_iter *from, size_t len)
{
	size_t left, part;
	struct iov_iter to;
	int idx;

	idx = kofi_rma_enter(rma);
	if (idx < 0)
		return 0;
	len = min(len, iov_iter_count(from));
	for (left = len; left; left -= part) {
		part = kofi_rma_iter(rma, ITER_DEST, offset, left, &to);
		if (!part)
			break;
		kofi_iov_copy(&to, from, part);
		offset += part;
	}
	kofi_rma_leave(rma, idx);
	return len - left;
}
EXPORT_SYMBOL_GPL(kofi_rma_write);

size_t kofi_rma_read(const struct kofi_rma *rma, size_t offset,
		     struct iov_iter *to, size_t len)
{
	size_t left, part;
	struct iov_iter from;
	int idx;

	idx = kofi_rma_enter(rma);
	if (idx < 0)
		return 0;
	len = min(len, iov_iter_count(to));
	for (left = len; left; left -= part) {
		part = kofi_rma_iter(rma, ITER_SOURCE, offset, left, &from);
		if (!part)
			break;
		kofi_iov_copy(to, &from, part);
		offset += part;
	}
	kofi_rma_leave(rma, idx);
	return len - left;
}
EXPORT_SYMBOL_GPL(kofi_rma_read);
