// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Operations that are kept; see include/kofi/kept_op.h.
 */
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <kofi/kept_op.h>
#include <kofi/pages.h>

/* Bytes copied between two calls of cond_resched() */
#define KOFI_COPY_STEP	SZ_256K

static_assert(KOFI_IOV_LENT_ROOM <= KOFI_OP_IOV);

/* Local buffers may be memory of a PCI device if the client has asked for FI_HMEM */
static bool kofi_takes_peer(const struct kofi_ep *ep)
{
	return ep->caps & FI_HMEM;
}

/* Copies the data of an injected operation, which may be on the caller's stack */
static int kofi_keep_inject(struct kofi_kept_op *kept, const struct kofi_ep *ep,
			    enum fi_buf_type type, const void *list,
			    size_t count)
{
	size_t max = min_t(size_t, ep->inject_size, KOFI_OP_INJECT);
	ssize_t len = kofi_list_len(type, list, count, max);

	if (len < 0)
		return len;
	kofi_list_gather(kept->inject, type, list, count, len);
	kofi_iov_set_buf(&kept->local, kept->inject, len);
	return 0;
}

/* A save (FI_SAVE) transfers no data and has no local buffers.  @count: how many there are */
static int kofi_keep_nothing(struct kofi_kept_op *kept, size_t count)
{
	kofi_iov_set_buf(&kept->local, NULL, 0);
	kept->len = 0;
	return count ? -EINVAL : 0;
}

static int kofi_keep_local(struct kofi_kept_op *kept, const struct kofi_ep *ep,
			   const struct fi_xfer *xfer)
{
	int ret;

	if (kept->flags & FI_SAVE)
		return kofi_keep_nothing(kept, xfer->count);
	if (xfer->count > (ep->lent_iov ? : KOFI_OP_IOV))
		return -EINVAL;
	if (kept->flags & FI_INJECT)
		ret = kofi_keep_inject(kept, ep, xfer->buf_type, xfer->list, xfer->count);
	else
		ret = kofi_iov_keep(&kept->local, KOFI_OP_IOV, ep->lent_iov, xfer->buf_type,
				    xfer->list, xfer->count, ep->max_msg_size,
				    kofi_takes_peer(ep));
	kept->len = kept->local.len;
	return ret;
}

/* The client keeps the list until the operation is over, so only its start is noted */
static int kofi_keep_sgl(struct kofi_kept_op *kept, const struct kofi_ep *ep,
			 const struct fi_rma_xfer *rma)
{
	struct scatterlist *sg = (struct scatterlist *)rma->xfer.list;
	size_t skip = rma->offset, left, len = rma->rma->len;
	u32 nents = rma->xfer.count;

	if (len > ep->max_msg_size)
		return -EMSGSIZE;
	while (nents && sg && skip >= sg->length) {
		skip -= sg->length;
		sg = sg_next(sg);
		nents--;
	}
	kept->sgl = (struct scatterlist *)rma->xfer.list;
	kept->next = sg;
	kept->nents = 0;
	kept->skip = skip;
	kept->len = len;
	for (left = size_add(skip, len); kept->nents < nents && sg && left; kept->nents++) {
		if (sg->length && !kofi_page_is_memory(sg_page(sg), kofi_takes_peer(ep)))
			return -EINVAL;
		left -= min_t(size_t, left, sg->length);
		sg = sg_next(sg);
	}
	return len && left ? -EINVAL : 0;
}

static int kofi_keep_rma(struct kofi_kept_op *kept, const struct kofi_ep *ep,
			 const struct fi_rma_xfer *rma)
{
	size_t len = 0;
	int ret;
	u32 i;

	ret = rma->any_length ? kofi_keep_sgl(kept, ep, rma) :
				kofi_keep_local(kept, ep, &rma->xfer);
	if (ret)
		return ret;
	if (!rma->rma || !rma->rma_count || rma->rma_count > KOFI_RMA_MAX_IOV)
		return -EINVAL;
	if (kept->flags & FI_TAGGED) {
		if (rma->rma_count > 1 || rma->rma->addr)
			return -EINVAL;
		kept->tag = rma->rma->key;
	}
	for (i = 0; i < rma->rma_count; i++) {
		if (check_add_overflow(len, rma->rma[i].len, &len))
			return -EINVAL;
		kept->rma[i] = rma->rma[i];
	}
	kept->remote_count = rma->rma_count;
	return len == kept->len || kept->flags & FI_SAVE ? 0 : -EINVAL;
}

/* Keeps one list of an atomic operation, whose elements have @size bytes */
static int kofi_keep_ioc(struct kofi_kept_op *kept, struct kofi_iov *iov,
			 const struct kofi_ep *ep, bool inject, const struct fi_ioc *ioc,
			 size_t count, size_t size)
{
	struct kvec kvec[KOFI_OP_ATOMIC_IOV];
	size_t i;
	int ret;

	if (count > KOFI_OP_ATOMIC_IOV || (count && !ioc))
		return -EINVAL;
	for (i = 0; i < count; i++)
		kvec[i] = (struct kvec) {
			ioc[i].addr, size_mul(ioc[i].count, size)
		};
	ret = inject ? kofi_keep_inject(kept, ep, FI_BUF_KVEC, kvec, count) :
		       kofi_iov_set(iov, KOFI_OP_ATOMIC_IOV, FI_BUF_KVEC, kvec,
				    count, SIZE_MAX, kofi_takes_peer(ep));
	if (ret)
		return ret;
	/* All lists of an operation have as many elements as its target */
	return iov->len == kept->len ? 0 : -EINVAL;
}

static int kofi_keep_atomic(struct kofi_kept_op *kept, const struct kofi_ep *ep,
			    const struct fi_atomic_xfer *atomic)
{
	u64 form = kofi_atomic_form(kept->type);
	size_t size, count = 0;
	int ret;
	u32 i;

	ret = kofi_atomic_valid(atomic->datatype, atomic->op, form, &size);
	if (ret)
		return ret;
	if (!atomic->ioc || !atomic->ioc_count || atomic->ioc_count > KOFI_RMA_MAX_IOV)
		return -EINVAL;
	for (i = 0; i < atomic->ioc_count; i++) {
		count = size_add(count, atomic->ioc[i].count);
		kept->ioc[i] = atomic->ioc[i];
	}
	kept->remote_count = atomic->ioc_count;
	kept->datatype = atomic->datatype;
	kept->op = atomic->op;
	kept->len = size_mul(count, size);
	if (kept->len > ep->limits->max_atomic_size)
		return -E2BIG;
	if (kept->flags & FI_SAVE)
		return kofi_keep_nothing(kept, atomic->xfer.count | atomic->result.count);

	kofi_iov_set_buf(&kept->local, NULL, 0);
	if (atomic->op != FI_ATOMIC_READ)
		ret = kofi_keep_ioc(kept, &kept->local, ep, kept->flags & FI_INJECT,
				    atomic->xfer.list, atomic->xfer.count, size);
	if (!ret && form)
		ret = kofi_keep_ioc(kept, &kept->result, ep, false, atomic->result.ioc,
				    atomic->result.count, size);
	if (!ret && form == FI_COMPARE_ATOMIC)
		ret = kofi_keep_ioc(kept, &kept->compare, ep, false, atomic->compare.ioc,
				    atomic->compare.count, size);
	return ret;
}

int kofi_keep_op(struct kofi_kept_op *kept, const struct kofi_ep *ep,
		 const struct fi_xfer *xfer, u64 flags)
{
	kept->type = xfer->type;
	kept->ended = false;
	kept->flags = flags;
	kept->addr = xfer->addr;
	kept->data = xfer->data;
	kept->tag = 0;
	kept->sgl = NULL;
	kept->done = 0;
	switch (xfer->type) {
	case FI_OP_TSEND:
		kept->tag = to_fi_tagged_xfer(xfer)->tag;
		fallthrough;
	case FI_OP_SEND:
		/* The key is in the place of the data */
		if (flags & FI_REMOTE_INV && flags & FI_REMOTE_CQ_DATA)
			return -EINVAL;
		return kofi_keep_local(kept, ep, xfer);
	case FI_OP_READ:
	case FI_OP_WRITE:
		return kofi_keep_rma(kept, ep, to_fi_rma_xfer(xfer));
	default:
		return kofi_keep_atomic(kept, ep, to_fi_atomic_xfer(xfer));
	}
}
EXPORT_SYMBOL_GPL(kofi_keep_op);

static size_t kofi_copy_rma(const struct kofi_rma *rma, size_t offset,
			    bool write, struct iov_iter *iter)
{
	size_t done = 0, len;

	do {
		len = write ? kofi_rma_write(rma, offset + done, iter,
					     KOFI_COPY_STEP) :
			      kofi_rma_read(rma, offset + done, iter,
					    KOFI_COPY_STEP);
		done += len;
		cond_resched();
	} while (len);
	return done;
}

/* Takes the next elements of the list that are not empty; kofi_keep_sgl() has checked them */
static void kofi_kept_next_sgl(struct kofi_kept_op *kept)
{
	u32 i, n;

	do {
		n = min_t(u32, kept->nents, KOFI_OP_IOV);
		kofi_iov_set(&kept->local, KOFI_OP_IOV, FI_BUF_SGL, kept->next,
			     n, SIZE_MAX, true);
		for (i = 0; i < n; i++)
			kept->next = sg_next(kept->next);
		kept->nents -= n;
	} while (!kept->local.len && kept->nents);
}

size_t kofi_kept_next(struct kofi_kept_op *kept, unsigned int direction,
		      struct iov_iter *iter)
{
	size_t offset = kept->done, len = kept->len - kept->done;

	if (!len)
		return 0;
	if (kept->sgl) {
		kofi_kept_next_sgl(kept);
		offset = kept->skip;
		kept->skip = 0;
	}
	kofi_iov_part(&kept->local, direction, offset, len, iter);
	kept->done += iov_iter_count(iter);
	return iov_iter_count(iter);
}
EXPORT_SYMBOL_GPL(kofi_kept_next);

static int kofi_execute_copy(struct kofi_kept_op *kept,
			     const struct kofi_rma *rma)
{
	bool write = kept->type == FI_OP_WRITE;
	struct iov_iter iter;
	size_t done = 0;

	while (kofi_kept_next(kept, write ? ITER_SOURCE : ITER_DEST, &iter)) {
		done += kofi_copy_rma(rma, done, write, &iter);
		/* The target was closed, or an exporter has taken memory of it back */
		if (iov_iter_count(&iter))
			return -EACCES;
	}
	return 0;
}

/* Only persistent memory can be made durable; otherwise this gives the target up */
static int kofi_execute_check(const struct kofi_kept_op *kept, struct kofi_rma *rma)
{
	if (!(kept->flags & FI_COMMIT_COMPLETE) || kofi_rma_is_persistent(rma))
		return 0;
	kofi_rma_put(rma);
	return -EACCES;
}

static int kofi_execute_rma(struct kofi_kept_op *kept, struct kofi_ep *target,
			    struct kofi_mr_map *map)
{
	u64 access = kept->type == FI_OP_WRITE ? FI_REMOTE_WRITE : FI_REMOTE_READ;
	struct kofi_rma rma;
	int ret;

	ret = kofi_rma_get(&rma, map, &target->ep, kept->rma,
			   kept->remote_count, access);
	if (!ret)
		ret = kofi_execute_check(kept, &rma);
	if (ret)
		return ret;
	if (kept->flags & FI_SAVE)
		ret = kofi_rma_save(&rma, kept->flags & FI_COMMIT_COMPLETE);
	else
		ret = kofi_execute_copy(kept, &rma);
	if (!ret && kept->flags & FI_COMMIT_COMPLETE && !(kept->flags & FI_SAVE))
		ret = kofi_rma_commit(&rma);
	kofi_rma_done(&rma, -ret);
	if (!ret)
		kofi_ep_count(target, access, 0, kept->len);
	return ret;
}

/* Executes an atomic operation, as kofi_execute_copy() does a read or a write */
static int kofi_execute_values(struct kofi_kept_op *kept, const struct kofi_rma *rma,
			       struct kofi_atomic *atomic)
{
	kofi_iov_iter(&kept->local, ITER_SOURCE, 0, SIZE_MAX, &atomic->operand);
	if (atomic->form)
		kofi_iov_iter(&kept->result, ITER_DEST, 0, SIZE_MAX, &atomic->result);
	if (atomic->form == FI_COMPARE_ATOMIC)
		kofi_iov_iter(&kept->compare, ITER_SOURCE, 0, SIZE_MAX, &atomic->compare);
	return kofi_atomic_run(rma, atomic);
}

static int kofi_execute_atomic(struct kofi_kept_op *kept,
			       struct kofi_ep *target, struct kofi_mr_map *map)
{
	struct kofi_atomic atomic = {
		.datatype	= kept->datatype,
		.op		= kept->op,
		.form		= kofi_atomic_form(kept->type),
	};
	u64 access = kept->op == FI_ATOMIC_READ ? FI_REMOTE_READ :
						  FI_REMOTE_WRITE;
	struct kofi_rma rma;
	int ret;

	ret = kofi_atomic_get(&rma, map, &target->ep, kept->ioc,
			      kept->remote_count, &atomic);
	if (!ret)
		ret = kofi_execute_check(kept, &rma);
	if (ret)
		return ret;
	if (kept->flags & FI_SAVE)
		ret = kofi_rma_save(&rma, kept->flags & FI_COMMIT_COMPLETE);
	else
		ret = kofi_execute_values(kept, &rma, &atomic);
	if (!ret && kept->flags & FI_COMMIT_COMPLETE && !(kept->flags & FI_SAVE))
		ret = kofi_rma_commit(&rma);
	kofi_rma_done(&rma, -ret);
	if (!ret)
		kofi_ep_count(target, access, 0, kept->len);
	return ret;
}

int kofi_execute(struct kofi_kept_op *kept, struct kofi_ep *target,
		 struct kofi_mr_map *map)
{
	return kept->type == FI_OP_READ || kept->type == FI_OP_WRITE ?
	       kofi_execute_rma(kept, target, map) :
	       kofi_execute_atomic(kept, target, map);
}
EXPORT_SYMBOL_GPL(kofi_execute);
