// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The rounds of a move (move.c): from a piece of the client's list to work requests.
 *
 * How a device moves long lists best is the kernel's knowledge (rdma_rw): many
 * elements, or a registration in front, which iWARP needs for reads.  rdma_rw makes
 * contexts out of pieces of a list; here the list is cut.
 *
 * Where rdma_rw registers, it takes pages, no more than fit, and no gap between them.
 * A context ends in front of a gap then.  Lists are cut at pages where that is known
 * beforehand, or when rdma_rw refuses anything else.
 *
 * Nothing is locked here: a move belongs to one at a time.
 */
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/module.h>
#include "ep.h"
#include "move.h"
#include "verbs.h"

#define VERBS_MOVE_MR_PAGES	256	/* most pages that rdma_rw registers */

static void verbs_cursor_skip(struct verbs_cursor *at, size_t len)
{
	at->skip += len;
	while (at->sg && at->skip >= at->sg->length) {
		at->skip -= at->sg->length;
		at->sg = sg_next(at->sg);
	}
}

/* The next element, as long as it may be */
static size_t verbs_move_cut(const struct verbs_move *move,
			     const struct verbs_cursor *at, phys_addr_t *start)
{
	struct ib_device *ibdev = move->ep->domain->dev->ibdev;
	size_t len = min_t(size_t, at->sg->length - at->skip, at->left);

	*start = page_to_phys(sg_page(at->sg)) + at->sg->offset + at->skip;
	len = min_t(size_t, len, ALIGN_DOWN(ib_dma_max_seg_size(ibdev),
					    PAGE_SIZE));
	len = min(len, move->ep->kep.max_msg_size);
	return move->fine ? min(len, PAGE_SIZE - offset_in_page(*start)) : len;
}

/* Elements, and bytes, of the list from @at on, that one context may have */
static unsigned int verbs_move_fill(struct verbs_move *move,
				    struct verbs_cursor *at,
				    struct scatterlist *sg, unsigned int limit)
{
	size_t len, total = 0;
	phys_addr_t start, end = 0;
	unsigned int n;

	for (n = 0; n < limit && at->left; n++) {
		len = verbs_move_cut(move, at, &start);
		if (total + len > move->ep->kep.max_msg_size)
			break;
		if (move->fine && n && (offset_in_page(start) ||
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

/* Elements that a context may have for so many work requests; 0: none */
static unsigned int verbs_move_limit(const struct verbs_move *move,
				     unsigned int wrs)
{
	const struct ib_device *ibdev = move->ep->domain->dev->ibdev;
	const struct ib_qp *qp = move->ep->qp;
	u32 per_wr = verbs_move_is_read(move) ? qp->max_read_sge :
						qp->max_write_sge;
	u32 pages = min_t(u32, ibdev->attrs.max_fast_reg_page_list_len,
			  VERBS_MOVE_MR_PAGES);

	if (!move->fine)
		return per_wr ? per_wr * wrs : min(wrs, 1U);
	if (wrs < VERBS_MOVE_MIN_WRS)
		return 0;
	if (move->ep->iwarp)
		return pages;
	/* It is rdma_rw that decides whether to register */
	return min(pages, per_wr ? per_wr * wrs : 1U);
}

static int verbs_move_ctx_init(struct verbs_move *move,
			       struct verbs_move_ctx *ctx,
			       struct verbs_cursor *at, unsigned int limit)
{
	struct verbs_ep *ep = move->ep;
	u64 addr = move->addr + move->at.left - at->left;

	ctx->nents = verbs_move_fill(move, at, ctx->sg, limit);
	return rdma_rw_ctx_init(&ctx->rw, ep->qp, ep->id->port_num, ctx->sg,
				ctx->nents, 0, addr, move->key, move->dir);
}

static void verbs_move_ctx_destroy(struct verbs_move *move,
				   struct verbs_move_ctx *ctx)
{
	struct verbs_ep *ep = move->ep;

	rdma_rw_ctx_destroy(&ctx->rw, ep->qp, ep->id->port_num, ctx->sg,
			    ctx->nents, move->dir);
}

void verbs_move_unmap(struct verbs_move *move)
{
	while (move->nr_ctxs)
		verbs_move_ctx_destroy(move, &move->ctxs[--move->nr_ctxs]);
}

/*
 * Adds a context to the round.  Returns how many work requests it has; 0: it does not
 * fit into the round; or an errno.
 */
static int verbs_move_add_ctx(struct verbs_move *move, struct verbs_cursor *at,
			      unsigned int used, unsigned int wrs)
{
	struct verbs_move_ctx *ctx = &move->ctxs[move->nr_ctxs];
	unsigned int limit = min(verbs_move_limit(move, wrs),
				 move->nr_segs - used);
	struct verbs_cursor from = *at;
	int ret;

	if (!limit)
		return 0;
	ctx->sg = &move->segs[used];
	ret = verbs_move_ctx_init(move, ctx, at, limit);
	if (ret == -EINVAL && !move->fine) {
		move->fine = true;
		*at = from;
		return verbs_move_add_ctx(move, at, used, wrs);
	}
	if (ret < 0)
		return ret;
	if (ret > wrs) {
		verbs_move_ctx_destroy(move, ctx);
		*at = from;
		return 0;
	}
	move->nr_ctxs++;
	return ret;
}

/*
 * Makes the contexts of a round.  Returns how many work requests they have, or an
 * errno; there are no contexts then.  The move then stands behind the round.
 */
int verbs_move_build(struct verbs_move *move)
{
	unsigned int wrs = move->ep->moves->wrs, used = 0;
	struct verbs_cursor at = move->at;
	int ret = 0;

	while (at.left && move->nr_ctxs < VERBS_MOVE_CTXS) {
		ret = verbs_move_add_ctx(move, &at, used, wrs);
		if (ret <= 0)
			break;
		wrs -= ret;
		used += move->ctxs[move->nr_ctxs - 1].nents;
	}
	if (ret < 0) {
		verbs_move_unmap(move);
		return ret;
	}
	if (!move->nr_ctxs)
		return -EINVAL;
	move->addr += move->at.left - at.left;
	move->at = at;
	return move->ep->moves->wrs - wrs;
}

/* rdma_rw names the key to end before it counts the key up, so say it again */
void verbs_move_fix_inv(struct ib_send_wr *wr)
{
	if (wr->opcode == IB_WR_RDMA_READ_WITH_INV)
		wr->ex.invalidate_rkey = wr->sg_list->lkey;
}

/* The round as one chain, without its slots */
struct ib_send_wr *verbs_move_wrs(struct verbs_move *move)
{
	struct verbs_ep *ep = move->ep;
	struct ib_send_wr *first = NULL;
	unsigned int i = move->nr_ctxs;

	while (i--)
		first = rdma_rw_ctx_wrs(&move->ctxs[i].rw, ep->qp,
					ep->id->port_num, &move->slot->cqe,
					first);
	if (move->fence)
		first->send_flags |= IB_SEND_FENCE;
	move->fence = false;
	return first;
}

/* Is all of the range memory that a device can reach?  Finds where it begins. */
int verbs_move_find(struct verbs_cursor *at, struct scatterlist *sgl,
		    unsigned int nents, size_t offset, size_t len)
{
	size_t end = offset + len, seen = 0;
	struct scatterlist *sg = sgl;

	if (end < offset)
		return -EINVAL;
	for (; seen < end; sg = sg_next(sg)) {
		if (!nents-- || !sg)
			return -EINVAL;
		if (!sg_page(sg) || is_pci_p2pdma_page(sg_page(sg)))
			return -EINVAL;
		seen += sg->length;
	}
	*at = (struct verbs_cursor) { .sg = sgl, .left = len };
	verbs_cursor_skip(at, offset);
	return 0;
}

/* Elements of the first round, at most */
unsigned int verbs_move_count(const struct verbs_move *move)
{
	struct verbs_cursor at = move->at;
	unsigned int count;
	phys_addr_t start;
	size_t len;

	for (count = 0; at.left && count < VERBS_MOVE_SEGS; count++) {
		len = verbs_move_cut(move, &at, &start);
		at.left -= len;
		verbs_cursor_skip(&at, len);
	}
	return count;
}

/* Where reads are registered in any case, or beyond so many elements */
bool verbs_move_registers(const struct verbs_ep *ep, enum dma_data_direction dir)
{
	const struct ib_device *ibdev = ep->domain->dev->ibdev;

	return dir == DMA_FROM_DEVICE &&
	       (ep->iwarp || ibdev->attrs.max_sgl_rd);
}
