// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads and writes of peers on regions.
 *
 * A struct kofi_rma belongs to the owner of its operation.  kofi_rma_get() checks all ranges
 * before the first byte is copied, so an operation with a range that is refused changes
 * nothing.  Afterwards the operation pins its regions, and has references to them only between
 * kofi_rma_enter() and kofi_rma_leave(): a region may be closed in between, and the next
 * kofi_rma_enter() fails.
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
	rma->persistent = true;
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
		range->key = iov->key;
		range->len = iov->len;
		rma->revocable |= !!mr->dmabuf;
		rma->persistent &= !!mr->pmem;
		kofi_mr_pin(mr);
		kofi_mr_put(mr);
		rma->len += iov->len;
		rma->count++;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_rma_get);

void kofi_rma_put(struct kofi_rma *rma)
{
	while (rma->count)
		kofi_mr_unpin(rma->range[--rma->count].mr);
}
EXPORT_SYMBOL_GPL(kofi_rma_put);

/* Get references to all regions; false: a key has ended, and there are none */
static bool kofi_rma_hold(const struct kofi_rma *rma)
{
	const struct kofi_rma_range *range = rma->range;
	u32 i;

	for (i = 0; i < rma->count; i++)
		if (!kofi_mr_get_again(range[i].mr, range[i].key))
			goto undo;
	return true;
undo:
	while (i)
		kofi_mr_put(range[--i].mr);
	return false;
}

static void kofi_rma_release(const struct kofi_rma *rma)
{
	u32 i;

	for (i = 0; i < rma->count; i++)
		kofi_mr_put(rma->range[i].mr);
}

/* The part of kofi_rma_enter() for memory that exporters take back */
static int kofi_rma_enter_dmabufs(const struct kofi_rma *rma)
{
	int idx = kofi_dmabuf_enter();
	const struct kofi_mr *mr;
	u32 i;

	for (i = 0; i < rma->count; i++) {
		mr = rma->range[i].mr;
		if (mr->dmabuf && !kofi_dmabuf_is_there(mr->dmabuf)) {
			kofi_dmabuf_leave(idx);
			return -EACCES;
		}
	}
	return idx;
}

int kofi_rma_enter(const struct kofi_rma *rma)
{
	int idx = 0;

	if (unlikely(!kofi_rma_hold(rma)))
		return -EACCES;
	if (unlikely(rma->revocable))
		idx = kofi_rma_enter_dmabufs(rma);
	if (idx < 0)
		kofi_rma_release(rma);
	return idx;
}
EXPORT_SYMBOL_GPL(kofi_rma_enter);

void kofi_rma_leave(const struct kofi_rma *rma, int idx)
{
	if (unlikely(rma->revocable))
		kofi_dmabuf_leave(idx);
	kofi_rma_release(rma);
}
EXPORT_SYMBOL_GPL(kofi_rma_leave);

/* Lent memory */

static void kofi_rma_recall(struct kofi_mr_borrower *borrower)
{
	struct kofi_rma_loan *loan = container_of(borrower, struct kofi_rma_lent, borrower)->loan;

	loan->recall(loan);
}

/* Return what of the first @count ranges is lent */
static void kofi_rma_return_some(const struct kofi_rma *rma, struct kofi_rma_loan *loan, u32 count)
{
	while (count--)
		kofi_mr_return(rma->range[count].mr, &loan->lent[count].borrower);
}

bool kofi_rma_lend(const struct kofi_rma *rma, struct kofi_rma_loan *loan)
{
	const struct kofi_rma_range *range = rma->range;
	u32 i;

	for (i = 0; i < rma->count; i++) {
		loan->lent[i].loan = loan;
		loan->lent[i].borrower.recall = kofi_rma_recall;
		if (!kofi_mr_borrow(range[i].mr, range[i].key, &loan->lent[i].borrower)) {
			kofi_rma_return_some(rma, loan, i);
			return false;
		}
	}
	return true;
}
EXPORT_SYMBOL_GPL(kofi_rma_lend);

void kofi_rma_return(const struct kofi_rma *rma, struct kofi_rma_loan *loan)
{
	kofi_rma_return_some(rma, loan, rma->count);
}
EXPORT_SYMBOL_GPL(kofi_rma_return);

bool kofi_rma_is_recalled(const struct kofi_rma *rma)
{
	u32 i;

	for (i = 0; i < rma->count; i++)
		if (READ_ONCE(rma->range[i].mr->mr.key) != rma->range[i].key)
			return true;
	return false;
}
EXPORT_SYMBOL_GPL(kofi_rma_is_recalled);

/* Persistent memory, and the end */

int kofi_rma_commit(struct kofi_rma *rma)
{
	const struct kofi_rma_range *range = rma->range;
	int idx = kofi_rma_enter(rma);
	u32 i;

	if (idx < 0)
		return idx;
	for (i = 0; i < rma->count; i++)
		kofi_pmem_write_back(range[i].mr, range[i].offset, range[i].len);
	for (i = 0; i < rma->count; i++)
		range[i].mr->pmem->ops->fence();
	rma->durable = true;
	kofi_rma_leave(rma, idx);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_rma_commit);

int kofi_rma_save(struct kofi_rma *rma, bool durable)
{
	int idx = kofi_rma_enter(rma);
	u32 i;

	if (idx < 0)
		return idx;
	for (i = 0; durable && i < rma->count; i++)
		kofi_pmem_save(rma->range[i].mr);
	kofi_rma_leave(rma, idx);
	for (i = 0; i < rma->count; i++)
		rma->range[i].len = 0;
	rma->len = 0;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_rma_save);

/* Add up the bytes of a region's ranges; false: range @i is not the region's first */
static bool kofi_rma_sum(const struct kofi_rma *rma, u32 i, size_t *len)
{
	const struct kofi_rma_range *range = rma->range;
	u32 k;

	for (k = 0; range[k].mr != range[i].mr; k++)
		;
	if (k < i)
		return false;
	for (*len = 0; k < rma->count; k++)
		if (range[k].mr == range[i].mr)
			*len += range[k].len;
	return true;
}

/* Record in a region what was written, for its next save, and count the operation once */
static void kofi_rma_note(const struct kofi_rma *rma, u32 i, int err)
{
	const struct kofi_rma_range *range = &rma->range[i];
	size_t len;

	if (rma->access & FI_REMOTE_WRITE && !rma->durable && range->mr->pmem)
		kofi_pmem_written(range->mr, range->offset, range->len);
	if (kofi_rma_sum(rma, i, &len))
		kofi_mr_count(range->mr, rma->access, err, len);
}

void kofi_rma_done(struct kofi_rma *rma, int err)
{
	const struct kofi_rma_range *range;
	u32 i;

	for (i = 0; i < rma->count; i++) {
		range = &rma->range[i];
		/* A region that is closed has no counter, and is not saved any more */
		if ((!READ_ONCE(range->mr->cntr) && !READ_ONCE(range->mr->pmem)) ||
		    !kofi_mr_get_again(range->mr, range->key))
			continue;
		kofi_rma_note(rma, i, err);
		kofi_mr_put(range->mr);
	}
	kofi_rma_put(rma);
}
EXPORT_SYMBOL_GPL(kofi_rma_done);

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
