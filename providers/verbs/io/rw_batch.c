// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The batches of an rw operation (rw.c): from a piece of the client's list to work requests.
 *
 * The kernel's rdma_rw knows how a device transfers long lists best: as many elements, or with a
 * registration in front, which iWARP needs for reads.  verbs_rw_build() cuts the list into pieces,
 * and rdma_rw makes a context of each.
 *
 * Where rdma_rw registers, it takes a limited number of pages, without gaps between them.  So a
 * context ends in front of a gap.  verbs_rw_cut() cuts the list at pages if rdma_rw is going to
 * register, or has refused longer elements.
 *
 * There is no lock: an rw operation has one owner at a time.
 */
#include <linux/mm.h>
#include <kofi/pages.h>
#include "../ep.h"
#include "../mr.h"
#include "rw.h"
#include "../verbs.h"

#define VERBS_RW_MR_PAGES	256	/* most pages that rdma_rw registers */

static void verbs_cursor_skip(struct verbs_cursor *at, size_t len)
{
	at->skip += len;
	while (at->sg && at->skip >= at->sg->length) {
		at->skip -= at->sg->length;
		at->sg = sg_next(at->sg);
	}
}

/* Returns the length of the next element, as long as it may be */
static size_t verbs_rw_cut(const struct verbs_rw *rw,
			   const struct verbs_cursor *at, phys_addr_t *start)
{
	struct ib_device *ibdev = rw->ep->domain->dev->ibdev;
	size_t len = min_t(size_t, at->sg->length - at->skip, at->left);

	*start = page_to_phys(sg_page(at->sg)) + at->sg->offset + at->skip;
	len = min_t(size_t, len, ALIGN_DOWN(ib_dma_max_seg_size(ibdev),
					    PAGE_SIZE));
	len = min(len, rw->ep->kep.max_msg_size);
	return rw->fine ? min(len, PAGE_SIZE - offset_in_page(*start)) : len;
}

/* Puts the elements of one context into @sg, and moves @at behind them */
static unsigned int verbs_rw_fill(struct verbs_rw *rw,
				  struct verbs_cursor *at,
				  struct scatterlist *sg, unsigned int limit)
{
	size_t len, total = 0;
	phys_addr_t start, end = 0;
	unsigned int n;

	for (n = 0; n < limit && at->left; n++) {
		len = verbs_rw_cut(rw, at, &start);
		if (total + len > rw->ep->kep.max_msg_size)
			break;
		if (rw->fine && n && (offset_in_page(start) ||
				      offset_in_page(end)))
			break;
		sg[n] = (struct scatterlist) {};
		sg_set_page(&sg[n], pfn_to_page(PHYS_PFN(start)), len,
			    offset_in_page(start));
		end = start + len;
		total += len;
		at->left -= len;
		verbs_cursor_skip(at, len);
	}
	sg_mark_end(&sg[n - 1]);
	return n;
}

/* Elements that a context of at most @wrs work requests may have */
static unsigned int verbs_rw_limit(const struct verbs_rw *rw,
				   unsigned int wrs)
{
	const struct ib_device *ibdev = rw->ep->domain->dev->ibdev;
	const struct ib_qp *qp = rw->ep->qp;
	u32 per_wr = verbs_rw_is_read(rw) ? qp->max_read_sge :
						qp->max_write_sge;
	u32 pages = min_t(u32, ibdev->attrs.max_fast_reg_page_list_len,
			  VERBS_RW_MR_PAGES);

	if (!rw->fine)
		return per_wr ? per_wr * wrs : min(wrs, 1U);
	if (wrs < VERBS_RW_MIN_WRS)
		return 0;
	if (rw->ep->iwarp)
		return pages;
	/* rdma_rw may register, or may not */
	return min(pages, per_wr ? per_wr * wrs : 1U);
}

static void verbs_rw_ctx_destroy(struct verbs_rw *rw,
				 struct verbs_rw_ctx *ctx)
{
	struct verbs_ep *ep = rw->ep;

	rdma_rw_ctx_destroy(&ctx->rw, ep->qp, ep->id->port_num, ctx->sg,
			    ctx->nents, rw->dir);
}

void verbs_rw_unmap(struct verbs_rw *rw)
{
	while (rw->nr_ctxs)
		verbs_rw_ctx_destroy(rw, &rw->ctxs[--rw->nr_ctxs]);
}

/*
 * Adds a context to the batch.  Returns the number of its work requests; 0: the context does not
 * fit into the batch; or an errno.
 */
static int verbs_rw_add_ctx(struct verbs_rw *rw, struct verbs_cursor *at,
			    unsigned int used, unsigned int wrs)
{
	struct verbs_rw_ctx *ctx = &rw->ctxs[rw->nr_ctxs];
	unsigned int limit = min(verbs_rw_limit(rw, wrs),
				 rw->nr_segs - used);
	struct verbs_cursor from = *at;
	struct verbs_ep *ep = rw->ep;
	int ret;

	if (!limit)
		return 0;
	ctx->sg = &rw->segs[used];
	ctx->nents = verbs_rw_fill(rw, at, ctx->sg, limit);
	ret = rdma_rw_ctx_init(&ctx->rw, ep->qp, ep->id->port_num, ctx->sg, ctx->nents, 0,
			       rw->addr + rw->at.left - from.left, rw->key, rw->dir);
	if (ret == -EINVAL && !rw->fine) {
		rw->fine = true;
		*at = from;
		return verbs_rw_add_ctx(rw, at, used, wrs);
	}
	if (ret < 0)
		return ret;
	if (ret > wrs) {
		verbs_rw_ctx_destroy(rw, ctx);
		*at = from;
		return 0;
	}
	rw->nr_ctxs++;
	return ret;
}

/*
 * Makes the contexts of a batch.  Returns the number of their work requests, with rw->at behind
 * the batch; or an errno, without contexts.
 */
int verbs_rw_build(struct verbs_rw *rw)
{
	unsigned int wrs = rw->ep->rws->wrs, used = 0;
	struct verbs_cursor at = rw->at;
	int ret = 0;

	while (at.left && rw->nr_ctxs < VERBS_RW_CTXS) {
		ret = verbs_rw_add_ctx(rw, &at, used, wrs);
		if (ret <= 0)
			break;
		wrs -= ret;
		used += rw->ctxs[rw->nr_ctxs - 1].nents;
	}
	if (ret < 0) {
		verbs_rw_unmap(rw);
		return verbs_peer_errno(rw->ep->domain->dev, ret);
	}
	if (!rw->nr_ctxs)
		return -EINVAL;
	rw->addr += rw->at.left - at.left;
	rw->at = at;
	return rw->ep->rws->wrs - wrs;
}

/* rdma_rw sets the key to invalidate before it counts the key up, so this sets it again */
void verbs_rw_fix_inv(struct ib_send_wr *wr)
{
	if (wr->opcode == IB_WR_RDMA_READ_WITH_INV)
		wr->ex.invalidate_rkey = wr->sg_list->lkey;
}

/* Returns the work requests of the batch as one list; only the last one has a completion */
struct ib_send_wr *verbs_rw_wrs(struct verbs_rw *rw)
{
	struct verbs_ep *ep = rw->ep;
	struct ib_send_wr *first = NULL;
	unsigned int i = rw->nr_ctxs;

	while (i--)
		first = rdma_rw_ctx_wrs(&rw->ctxs[i].rw, ep->qp,
					ep->id->port_num, &rw->slot->cqe,
					first);
	if (rw->fence)
		first->send_flags |= IB_SEND_FENCE;
	rw->fence = false;
	return first;
}

/* Sets @at to the begin of the range; -EINVAL: the list is too short, or not of memory */
int verbs_rw_find(const struct verbs_domain *domain, struct verbs_cursor *at,
		  struct scatterlist *sgl, unsigned int nents, size_t offset, size_t len)
{
	size_t end = offset + len, seen = 0;
	struct scatterlist *sg = sgl;

	if (end < offset)
		return -EINVAL;
	for (; seen < end; sg = sg_next(sg)) {
		if (!nents-- || !sg)
			return -EINVAL;
		if (!kofi_page_is_memory(sg_page(sg), domain->hmem))
			return -EINVAL;
		seen += sg->length;
	}
	*at = (struct verbs_cursor) { .sg = sgl, .left = len };
	verbs_cursor_skip(at, offset);
	return 0;
}

/* Most elements of the first batch */
unsigned int verbs_rw_count(const struct verbs_rw *rw)
{
	struct verbs_cursor at = rw->at;
	unsigned int count;
	phys_addr_t start;
	size_t len;

	for (count = 0; at.left && count < VERBS_RW_SEGS; count++) {
		len = verbs_rw_cut(rw, &at, &start);
		at.left -= len;
		verbs_cursor_skip(&at, len);
	}
	return count;
}
