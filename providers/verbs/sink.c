// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sinks of reads on iWARP.
 *
 * There the answer to a read is a write by the peer: its sink is one element under
 * a key that allows remote writing, which the peer gets to know.  The local DMA
 * key is of no use for that, and one that covers more than this read would be
 * dangerous.  So every read of ours registers its buffers, in front of it and with
 * the same doorbell, and ends the key with its own completion (READ_WITH_INV).
 *
 * A region has so many pages and no gaps within them.  A read that does not fit
 * one is several work requests, each with a registration of its own:
 *
 *	REG_MR, READ_WITH_INV, REG_MR, READ_WITH_INV, ..., REG_MR, READ_WITH_INV
 *
 * They are a batch (batch.c).  Only the last one has a slot, and reports; answers come in
 * the order of the requests, so its success is that of all.  A failure of another
 * leaves its error with the operation, whose work request is flushed then.
 *
 * An endpoint has a few regions for it, made when it is enabled: the regions of
 * mr_ep.c, without a fid that a client could see, each with its work requests.  The
 * queue pair and the completion queue have room for these beside the operations'.
 * A region belongs to one read from verbs_sink_take() until the read has succeeded;
 * those of reads that failed are only good for the close of the endpoint, as the
 * connection is over.
 *
 * Locking: whoever posts takes regions under the lock of the transmit queue,
 * completions give them back without a lock.
 */
#include <linux/bvec.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "ep.h"
#include "mr.h"
#include "op.h"
#include "queue.h"
#include "verbs.h"

/* Pages of a sink */
#define VERBS_SINK_PAGES	256

/**
 * struct verbs_sink - A region for a part of a read
 * @mr: the region
 * @cqe: entry point of its work requests' failures
 * @read: the work request behind the registration
 * @sge: its only element
 * @before: the part before this one of the same read, or NULL
 * @free: link while no read has it
 * @next: next of the endpoint's
 */
struct verbs_sink {
	struct verbs_mr		mr;
	struct ib_cqe		cqe;
	struct ib_rdma_wr	read;
	struct ib_sge		sge;
	struct verbs_sink	*before;
	struct llist_node	free;
	struct verbs_sink	*next;
};

static struct verbs_sink *to_verbs_sink(struct verbs_mr *mr)
{
	return container_of(mr, struct verbs_sink, mr);
}

static u32 verbs_sink_pages(const struct ib_device *ibdev)
{
	return min_t(u32, VERBS_SINK_PAGES,
		     ibdev->attrs.max_fast_reg_page_list_len);
}

static size_t verbs_sink_bytes(const struct ib_device *ibdev)
{
	return verbs_sink_pages(ibdev) * verbs_mr_min_page(ibdev);
}

/*
 * Bytes of the longest read that the sinks of one endpoint are always enough for.
 * An element takes one sink and another for each time that it has the pages of one
 * more; that it begins and ends within a page has been counted with the first.
 */
u32 verbs_sinks_max_len(const struct ib_device *ibdev)
{
	return (VERBS_SINKS - VERBS_SINK_IOV) * verbs_sink_bytes(ibdev);
}

static void verbs_sink_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_sink *sink = container_of(wc->wr_cqe, struct verbs_sink,
					       cqe);

	/* The operation ends after this, as its work request is flushed */
	if (wc->status != IB_WC_SUCCESS && wc->status != IB_WC_WR_FLUSH_ERR)
		verbs_slot_blame(sink->mr.slot, -verbs_wc_errno(wc->status, false),
				 wc->status);
}

static int verbs_sink_new(struct verbs_ep *ep)
{
	struct ib_device *ibdev = ep->domain->dev->ibdev;
	struct verbs_sink *sink = kzalloc(sizeof(*sink), GFP_KERNEL);
	struct verbs_mr *mr;

	if (!sink)
		return -ENOMEM;
	sink->cqe.done = verbs_sink_done;
	mr = &sink->mr;
	mr->domain = ep->domain;
	mr->ep = ep;
	mr->page_limit = verbs_sink_pages(ibdev);
	mr->seg_limit = ep->tx.iov_limit + verbs_sink_bytes(ibdev) /
			ALIGN_DOWN(ib_dma_max_seg_size(ibdev), PAGE_SIZE);
	mr->sink = true;
	mr->segs = kcalloc(mr->seg_limit, sizeof(*mr->segs), GFP_KERNEL);
	if (!mr->segs)
		goto free_sink;
	mr->ibmr = ib_alloc_mr(ep->domain->pd, IB_MR_TYPE_MEM_REG, mr->page_limit);
	if (IS_ERR(mr->ibmr))
		goto free_segs;
	sink->next = ep->all_sinks;
	ep->all_sinks = sink;
	llist_add(&sink->free, &ep->sinks);
	return 0;

free_segs:
	kfree(mr->segs);
free_sink:
	kfree(sink);
	return -ENOMEM;
}

int verbs_sinks_init(struct verbs_ep *ep)
{
	size_t i, count = ep->iwarp ? min_t(size_t, VERBS_SINKS, ep->tx.size) : 0;
	int ret = 0;

	init_llist_head(&ep->sinks);
	for (i = 0; i < count && !ret; i++)
		ret = verbs_sink_new(ep);
	if (ret)
		verbs_sinks_destroy(ep);
	else
		ep->nr_sinks = count;
	return ret;
}

/* The queue pair is drained, or has never been */
void verbs_sinks_destroy(struct verbs_ep *ep)
{
	struct verbs_sink *sink;

	while ((sink = ep->all_sinks)) {
		ep->all_sinks = sink->next;
		ib_dereg_mr(sink->mr.ibmr);
		verbs_mr_unmap(&sink->mr);
		kfree(sink->mr.segs);
		kfree(sink);
	}
	init_llist_head(&ep->sinks);
}

static struct verbs_sink *verbs_sink_take(struct verbs_ep *ep)
{
	struct llist_node *node;
	unsigned long flags;

	spin_lock_irqsave(&ep->tx.lock, flags);
	node = llist_del_first(&ep->sinks);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	return node ? llist_entry(node, struct verbs_sink, free) : NULL;
}

static void verbs_sinks_give(struct verbs_sink *sink)
{
	struct verbs_sink *before;

	for (; sink; sink = before) {
		before = sink->before;
		verbs_mr_unmap(&sink->mr);
		llist_add(&sink->free, &sink->mr.ep->sinks);
	}
}

/* The read whose last part is @mr is over, or was never posted */
void verbs_sinks_put(struct verbs_mr *mr)
{
	verbs_sinks_give(to_verbs_sink(mr));
	kofi_ep_room(&mr->ep->kep.tx);
}

/* Does @op read into what the device takes as a sink as it is? */
static bool verbs_sink_is_region(const struct verbs_op *op)
{
	const struct verbs_mr *mr;
	size_t i;

	for (i = 0; i < op->count; i++) {
		mr = op->desc ? op->desc[i] : NULL;
		if (!mr || !mr->linear || !(mr->access & IB_ACCESS_REMOTE_WRITE))
			return false;
	}
	return true;
}

bool verbs_needs_sink(const struct verbs_ep *ep, const struct verbs_op *op)
{
	return ep->iwarp && op->opcode == IB_WR_RDMA_READ &&
	       !verbs_sink_is_region(op);
}

/**
 * struct verbs_span - What one sink can take of a list
 * @bvec: elements
 * @count: how many
 * @end: physical address behind the last one
 * @room: bytes that the pages have left
 */
struct verbs_span {
	struct bio_vec	bvec[VERBS_SINK_IOV];
	size_t		count;
	phys_addr_t	end;
	size_t		room;
};

/* Can it go on with @piece?  Only the first begins, and the last ends, in a page */
static bool verbs_span_takes(struct verbs_span *span, size_t page_size,
			     const struct kofi_piece *piece)
{
	phys_addr_t start = page_to_phys(piece->page) + piece->offset;

	if (!span->count) {
		span->room -= start & (page_size - 1);
		return true;
	}
	return span->room && span->count < VERBS_SINK_IOV &&
	       (start == span->end || IS_ALIGNED(start | span->end, page_size));
}

static size_t verbs_span_add(struct verbs_span *span,
			     const struct kofi_piece *piece)
{
	size_t len = min(piece->len, span->room);

	bvec_set_page(&span->bvec[span->count++], piece->page, len,
		      piece->offset);
	span->end = page_to_phys(piece->page) + piece->offset + len;
	span->room -= len;
	return len;
}

/* As much of the list as goes under one key; @left: pieces that it may still have */
static int verbs_span_fill(struct verbs_span *span, const struct verbs_mr *mr,
			   struct kofi_list_iter *iter, size_t *left)
{
	size_t page_size = verbs_mr_min_page(mr->domain->dev->ibdev), len;
	struct kofi_piece piece;
	int ret;

	span->count = 0;
	span->room = mr->page_limit * page_size;
	while (kofi_list_more(iter)) {
		ret = kofi_list_piece(iter, &piece);
		if (ret)
			return ret;
		if (!verbs_span_takes(span, page_size, &piece))
			break;
		if (!*left)
			return -EINVAL;
		len = verbs_span_add(span, &piece);
		*left -= len == piece.len;
		kofi_list_advance(iter, len);
	}
	return 0;
}

/* The work requests of @sink behind those of the part before it */
static void verbs_sink_link(struct verbs_sink *sink, u64 addr, u64 key)
{
	struct verbs_mr *mr = &sink->mr;
	struct ib_send_wr *wr = &sink->read.wr;

	verbs_mr_prepare_reg(mr);
	mr->reg.wr.wr_cqe = &sink->cqe;
	mr->reg.wr.send_flags = 0;
	mr->reg.wr.next = wr;
	sink->sge = (struct ib_sge) {
		.addr	= mr->ibmr->iova,
		.length	= mr->len,
		.lkey	= mr->ibmr->lkey,
	};
	sink->read.remote_addr = addr;
	sink->read.rkey = key;
	wr->wr_cqe = &sink->cqe;
	wr->opcode = IB_WR_RDMA_READ_WITH_INV;
	wr->ex.invalidate_rkey = mr->ibmr->rkey;
	wr->send_flags = 0;
	wr->sg_list = &sink->sge;
	wr->num_sge = 1;
	wr->next = NULL;
	if (sink->before)
		sink->before->read.wr.next = &mr->reg.wr;
}

static int verbs_sink_map(struct verbs_sink *sink, struct kofi_list_iter *iter,
			  size_t *left)
{
	struct verbs_span span;
	struct fi_mr_attr attr = {
		.type		= FI_BUF_BVEC,
		.mr_bvec	= span.bvec,
		.access		= FI_READ,
	};
	int ret;

	ret = verbs_span_fill(&span, &sink->mr, iter, left);
	if (ret)
		return ret;
	attr.iov_count = span.count;
	ret = verbs_mr_remap(&sink->mr, &attr);
	return ret == -ENOMEM ? -EAGAIN : ret;
}

/*
 * Sinks for all of the list, whose last one is *@last, even after an error.  More
 * than there are can only be meant by who has few of them, see verbs_sinks_init().
 */
static int verbs_sinks_take(struct verbs_ep *ep, const struct verbs_op *op,
			    struct verbs_sink **last)
{
	struct kofi_list_iter iter = {
		.type	= op->type,
		.elem	= op->list,
		.count	= op->count,
	};
	size_t left = ep->tx.iov_limit, taken;
	struct verbs_sink *sink;
	u64 addr = op->addr;
	int ret;

	for (taken = 0; kofi_list_more(&iter); taken++) {
		sink = verbs_sink_take(ep);
		if (!sink)
			return taken == ep->nr_sinks ? -EMSGSIZE : -EAGAIN;
		sink->before = *last;
		*last = sink;
		ret = verbs_sink_map(sink, &iter, &left);
		if (ret)
			return ret;
		verbs_sink_link(sink, addr, op->key);
		addr += sink->mr.len;
	}
	return iter.count ? -EINVAL : 0;
}

/* The slot is the one of the last read */
static int verbs_sinks_launch(struct verbs_ep *ep, const struct verbs_op *op,
			      struct verbs_sink *last, size_t len)
{
	struct verbs_sink *first = last, *sink;
	struct verbs_slot *slot;
	unsigned long flags;
	int ret;

	while (first->before)
		first = first->before;
	spin_lock_irqsave(&ep->tx.lock, flags);
	ret = verbs_batch_claim(ep, 1, &slot);
	if (!ret) {
		verbs_slot_fill(slot, op, verbs_comp_flags(op));
		verbs_slot_begun(slot);
		slot->bytes = len;
		for (sink = last; sink; sink = sink->before)
			sink->mr.slot = slot;
		/* siw may keep what it refuses */
		ret = verbs_batch_post(ep, &first->mr.reg.wr, slot, false);
	}
	verbs_queue_unlock(ep, &ep->tx, flags);
	return ret;
}

/* @op: a read of @len bytes that needs sinks */
ssize_t verbs_post_sink(struct verbs_ep *ep, const struct verbs_op *op,
			size_t len)
{
	struct verbs_sink *last = NULL;
	struct verbs_op read = *op;
	int ret;

	ret = verbs_try_later(&ep->tx, verbs_sinks_take(ep, op, &last));
	if (!ret) {
		read.region = &last->mr;
		ret = verbs_sinks_launch(ep, &read, last, len);
	}
	if (ret)
		verbs_sinks_give(last);
	return ret;
}
