// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Read regions: registrations of the buffers of reads over iWARP.
 *
 * Over iWARP the peer answers a read by a write, into one element under a key that the peer learns
 * and that allows remote writes.  The local DMA key does not allow them, and a key that covers more
 * than this read would be dangerous.  So every read registers its buffers, right in front of it
 * and with one doorbell for both, and ends the key with its own completion (READ_WITH_INV).
 *
 * A region has a limited number of pages and no gaps within them.  A read that does not fit one is
 * several work requests, each with a registration of its own:
 *
 *	REG_MR, READ_WITH_INV, REG_MR, READ_WITH_INV, ..., REG_MR, READ_WITH_INV
 *
 * They are a batch (batch.c).  Only the last work request has a slot and is signaled.  Answers come
 * in the order of the requests, so its success is that of all.  A work request in front of it that
 * fails leaves its error with the operation, and the last one is flushed then.
 *
 * fi_enable() makes a few read regions: regions as in mr_ep.c, without a fid that a client could
 * see, each with its work requests.  The queue pair and the completion queue have room for these
 * beside those of operations.  A region belongs to one read from verbs_read_mr_take() until the
 * read has succeeded.  If the read fails, the connection ends, and the region stays with the read
 * until the endpoint is closed.
 *
 * Locking: verbs_read_mr_take() takes regions under the lock of the transmit side; completions give
 * them back without a lock.
 */
#include <linux/bvec.h>
#include <linux/slab.h>
#include "../ep.h"
#include "../mr.h"
#include "../op.h"
#include "../queue.h"
#include "../verbs.h"

/**
 * struct verbs_read_mr - A region for a part of a read
 * @mr: the region
 * @cqe: entry point of the completion of its work requests, if they fail
 * @read: the work request behind the registration
 * @sge: the only element of @read
 * @before: the part of the read before this one, or NULL
 * @free: link while no read uses it
 * @next: next in the endpoint's all_read_mrs
 */
struct verbs_read_mr {
	struct verbs_mr		mr;
	struct ib_cqe		cqe;
	struct ib_rdma_wr	read;
	struct ib_sge		sge;
	struct verbs_read_mr	*before;
	struct llist_node	free;
	struct verbs_read_mr	*next;
};

static struct verbs_read_mr *to_verbs_read_mr(struct verbs_mr *mr)
{
	return container_of(mr, struct verbs_read_mr, mr);
}

static void verbs_read_mr_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_read_mr *rmr = container_of(wc->wr_cqe, struct verbs_read_mr,
						 cqe);

	/* Then the operation's own work request is flushed, which ends the operation */
	if (wc->status != IB_WC_SUCCESS && wc->status != IB_WC_WR_FLUSH_ERR)
		verbs_slot_set_err(rmr->mr.slot, -verbs_wc_errno(wc->status, false),
				   wc->status);
}

static void verbs_read_mrs_give(struct verbs_read_mr *rmr)
{
	struct verbs_read_mr *before;

	for (; rmr; rmr = before) {
		before = rmr->before;
		verbs_mr_unmap(&rmr->mr);
		llist_add(&rmr->free, &rmr->mr.ep->read_mrs);
	}
}

/* The read whose last part is @mr has succeeded, so its slot is about to come back, too (room.c) */
static void verbs_read_mr_ended(struct verbs_mr *mr)
{
	verbs_read_mrs_give(to_verbs_read_mr(mr));
}

static int verbs_read_mr_new(struct verbs_ep *ep)
{
	struct ib_device *ibdev = ep->domain->dev->ibdev;
	struct verbs_read_mr *rmr = kzalloc(sizeof(*rmr), GFP_KERNEL);
	struct verbs_mr *mr;

	if (!rmr)
		return -ENOMEM;
	rmr->cqe.done = verbs_read_mr_done;
	mr = &rmr->mr;
	mr->domain = ep->domain;
	mr->ep = ep;
	mr->page_limit = verbs_read_mr_pages(ibdev);
	mr->seg_limit = ep->tx.iov_limit + verbs_read_mr_bytes(ibdev) /
			ALIGN_DOWN(ib_dma_max_seg_size(ibdev), PAGE_SIZE);
	mr->ended = verbs_read_mr_ended;
	mr->is_read_mr = true;
	mr->segs = kcalloc(mr->seg_limit, sizeof(*mr->segs), GFP_KERNEL);
	if (!mr->segs)
		goto free_rmr;
	mr->ibmr = ib_alloc_mr(ep->domain->pd, IB_MR_TYPE_MEM_REG, mr->page_limit);
	if (IS_ERR(mr->ibmr))
		goto free_segs;
	verbs_mr_init_reg(mr);
	rmr->next = ep->all_read_mrs;
	ep->all_read_mrs = rmr;
	llist_add(&rmr->free, &ep->read_mrs);
	return 0;

free_segs:
	kfree(mr->segs);
free_rmr:
	kfree(rmr);
	return -ENOMEM;
}

/* The queue pair is drained, or there has never been one */
void verbs_read_mrs_destroy(struct verbs_ep *ep)
{
	struct verbs_read_mr *rmr;

	while ((rmr = ep->all_read_mrs)) {
		ep->all_read_mrs = rmr->next;
		ib_dereg_mr(rmr->mr.ibmr);
		verbs_mr_unmap(&rmr->mr);
		kfree(rmr->mr.segs);
		kfree(rmr);
	}
	init_llist_head(&ep->read_mrs);
}

static struct verbs_read_mr *verbs_read_mr_take(struct verbs_ep *ep)
{
	struct llist_node *node;
	unsigned long flags;

	spin_lock_irqsave(&ep->tx.lock, flags);
	node = llist_del_first(&ep->read_mrs);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	return node ? llist_entry(node, struct verbs_read_mr, free) : NULL;
}

/**
 * struct verbs_run - The part of a list for one read region
 * @bvec: the elements
 * @count: how many
 * @end: physical address behind the last element
 * @room: bytes that the pages of the region have left
 */
struct verbs_run {
	struct bio_vec	bvec[VERBS_READ_MR_IOV];
	size_t		count;
	phys_addr_t	end;
	size_t		room;
};

/* May @piece follow?  Only the first piece may begin, and the last one end, within a page */
static bool verbs_run_takes(struct verbs_run *run, size_t page_size,
			    const struct kofi_piece *piece)
{
	phys_addr_t start = page_to_phys(piece->page) + piece->offset;

	if (!run->count) {
		run->room -= start & (page_size - 1);
		return true;
	}
	return run->room && run->count < VERBS_READ_MR_IOV &&
	       (start == run->end || IS_ALIGNED(start | run->end, page_size));
}

static size_t verbs_run_add(struct verbs_run *run,
			    const struct kofi_piece *piece)
{
	size_t len = min(piece->len, run->room);

	bvec_set_page(&run->bvec[run->count++], piece->page, len,
		      piece->offset);
	run->end = page_to_phys(piece->page) + piece->offset + len;
	run->room -= len;
	return len;
}

/* Fills @run from the list; @left: pieces that the list may still have */
static int verbs_run_fill(struct verbs_run *run, const struct verbs_mr *mr,
			  struct kofi_list_iter *iter, size_t *left)
{
	size_t page_size = verbs_mr_min_page(mr->domain->dev->ibdev), len;
	struct kofi_piece piece;
	int ret;

	run->count = 0;
	run->room = mr->page_limit * page_size;
	while (kofi_list_more(iter)) {
		ret = kofi_list_piece(iter, &piece);
		if (ret)
			return ret;
		if (!verbs_run_takes(run, page_size, &piece))
			break;
		if (!*left)
			return -EINVAL;
		len = verbs_run_add(run, &piece);
		*left -= len == piece.len;
		kofi_list_advance(iter, len);
	}
	return 0;
}

/* Makes the work requests of @rmr, and links them behind those of the part before it */
static void verbs_read_mr_link(struct verbs_read_mr *rmr, u64 addr, u64 key)
{
	struct verbs_mr *mr = &rmr->mr;
	struct ib_send_wr *wr = &rmr->read.wr;

	verbs_mr_prepare_reg(mr);
	mr->reg.wr.wr_cqe = &rmr->cqe;
	mr->reg.wr.send_flags = 0;
	mr->reg.wr.next = wr;
	rmr->sge = (struct ib_sge) {
		.addr	= mr->ibmr->iova,
		.length	= mr->len,
		.lkey	= mr->ibmr->lkey,
	};
	rmr->read.remote_addr = addr;
	rmr->read.rkey = key;
	wr->wr_cqe = &rmr->cqe;
	wr->opcode = IB_WR_RDMA_READ_WITH_INV;
	wr->ex.invalidate_rkey = mr->ibmr->rkey;
	wr->send_flags = 0;
	wr->sg_list = &rmr->sge;
	wr->num_sge = 1;
	wr->next = NULL;
	if (rmr->before)
		rmr->before->read.wr.next = &mr->reg.wr;
}

static int verbs_read_mr_map(struct verbs_read_mr *rmr, struct kofi_list_iter *iter,
			     size_t *left)
{
	struct verbs_run run;
	struct fi_mr_attr attr = {
		.type		= FI_BUF_BVEC,
		.mr_bvec	= run.bvec,
		.access		= FI_READ,
	};
	int ret;

	ret = verbs_run_fill(&run, &rmr->mr, iter, left);
	if (ret)
		return ret;
	attr.iov_count = run.count;
	ret = verbs_mr_map(&rmr->mr, &attr);
	return ret == -ENOMEM ? -EAGAIN : ret;
}

/*
 * Takes read regions for all of the list; *@last is the last one, even after an error.  A read
 * can need more than the endpoint has only if its queue is short, see verbs_read_mrs_init().
 */
static int verbs_read_mrs_take(struct verbs_ep *ep, const struct ib_rdma_wr *wr,
			       struct kofi_list_iter *at, struct verbs_read_mr **last)
{
	size_t left = ep->tx.iov_limit, taken;
	u64 addr = wr->remote_addr;
	struct verbs_read_mr *rmr;
	int ret;

	at->peer = ep->domain->hmem;
	for (taken = 0; kofi_list_more(at); taken++) {
		rmr = verbs_read_mr_take(ep);
		if (!rmr)
			return taken == ep->nr_read_mrs ? -EMSGSIZE : -EAGAIN;
		rmr->before = *last;
		*last = rmr;
		ret = verbs_read_mr_map(rmr, at, &left);
		if (ret)
			return ret;
		verbs_read_mr_link(rmr, addr, wr->rkey);
		addr += rmr->mr.len;
	}
	return at->count ? -EINVAL : 0;
}

static int verbs_read_mrs_launch(struct verbs_ep *ep, const struct verbs_call *call,
				 struct verbs_read_mr *last, size_t len)
{
	struct verbs_read_mr *first = last, *rmr;
	struct verbs_slot *slot;
	unsigned long flags;
	int ret;

	while (first->before)
		first = first->before;
	spin_lock_irqsave(&ep->tx.lock, flags);
	ret = verbs_batch_claim(ep, 1, &slot);
	if (!ret) {
		verbs_slot_fill(slot, call);
		verbs_slot_begun(ep, slot);
		slot->bytes = len;
		slot->region = &last->mr;
		slot->regional = true;
		for (rmr = last; rmr; rmr = rmr->before)
			rmr->mr.slot = slot;
		/* No undo, as siw may keep what it refuses */
		ret = verbs_batch_post(ep, &first->mr.reg.wr, slot, false);
	}
	verbs_queue_unlock(ep, &ep->tx, flags);
	return ret;
}

/**
 * verbs_post_read() - Post a read that needs read regions
 * @ep: the endpoint
 * @wr: the work request that the read would have without
 * @call: what else there is to know
 * @at: its list
 * @len: bytes of the list
 *
 * Context: any; the device is held.
 * Return: as the data transfer calls of fi_endpoint.h.
 */
static ssize_t verbs_post_read(struct verbs_ep *ep, const struct ib_rdma_wr *wr,
			       const struct verbs_call *call, struct kofi_list_iter *at,
			       size_t len)
{
	struct verbs_read_mr *last = NULL;
	int ret;

	ret = verbs_try_later(&ep->tx, verbs_read_mrs_take(ep, wr, at, &last));
	if (!ret)
		ret = verbs_read_mrs_launch(ep, call, last, len);
	if (ret)
		verbs_read_mrs_give(last);
	return ret;
}

int verbs_read_mrs_init(struct verbs_ep *ep)
{
	size_t i, count = ep->iwarp ? min_t(size_t, VERBS_READ_MRS, ep->tx.size) : 0;
	int ret = 0;

	init_llist_head(&ep->read_mrs);
	for (i = 0; i < count && !ret; i++)
		ret = verbs_read_mr_new(ep);
	if (ret)
		verbs_read_mrs_destroy(ep);
	else
		ep->nr_read_mrs = count;
	ep->post_read = verbs_post_read;
	return ret;
}
