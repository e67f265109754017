// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * rw operations: fi_readsgl() and fi_writesgl(), scatterlists of any length to or from the
 * peer's (address, key).
 *
 * An rw operation is transferred in batches (batch.c).  rw_batch.c makes a few contexts of rdma_rw
 * out of a piece of the list, and their work requests are one batch.  The client's thread posts
 * the first batch.  When a batch has completed, a worker of the endpoint posts the next one.  So
 * progress depends only on the polling of the completion queue.
 *
 *	fi_readsgl() --build--> batch --post--> in flight --done--> reported
 *	                          ^                 |
 *	                          +---- worker <----+ more of the list
 *
 * Slots are credits for work requests.  An rw operation takes all it needs with the first batch,
 * or gets -EAGAIN, and keeps them to its end: a list of one batch takes as many as the batch has
 * work requests, a longer one as many as any batch may have (rws->wrs).  The whole (batch.c) is
 * the slot of each batch's last work request, and in the end has the client's completion.
 *
 * The registrations of an endpoint are made when it is enabled, as many as the rw operations that
 * the client has asked for can use at once, so no batch ever waits for one.
 *
 * If the next batch cannot be posted, the operation is partial (batch.c).  The marker ends it, in
 * the context of any completion.
 *
 * Locking: the lock of the transmit side guards the list of rw operations.  An rw operation
 * has one owner at a time: the poster, the device, the done function, the worker.  The worker
 * posts under the handler lock of the rdma_cm_id, which guards closing.  A closing endpoint
 * posts nothing; when its queue pair has been drained, the close ends the rw operations that are
 * left.  verbs_rw_unmap() destroys the contexts when their batch has ended and its poster has left
 * the driver.  It does so before the queue pair is destroyed, which has the registrations.
 */
#include <kofi/refuse.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "../ep.h"
#include "rw.h"
#include "../op.h"
#include "../queue.h"
#include "../verbs.h"

#define VERBS_RW_WRS		32	/* most work requests of a batch */

/*
 * Posts the batch.  Returns an errno only if nothing has been posted and the batch has no
 * registration, which rdma_rw would take for executed.
 */
static int verbs_rw_post(struct verbs_rw *rw)
{
	static const struct verbs_call part_call;
	struct ib_send_wr *first = verbs_rw_wrs(rw), *wr;
	struct verbs_slot *part = rw->slot->parts;
	bool registers = false;

	for (wr = first; wr->next; wr = wr->next, part = part->link) {
		verbs_slot_fill(part, &part_call);
		registers |= wr->opcode == IB_WR_REG_MR;
		verbs_rw_fix_inv(wr);
	}
	verbs_rw_fix_inv(wr);
	return verbs_batch_post(rw->ep, first, rw->slot, !registers);
}

static void verbs_rw_end(const struct ib_cq *cq, struct verbs_rw *rw)
{
	struct verbs_slot *slot = rw->slot;
	struct verbs_ep *ep = rw->ep;
	size_t len = rw->len;
	unsigned long flags;

	slot->cqe.done = verbs_send_done;
	slot->comp.op_context = verbs_context(slot->queue, rw->context);
	verbs_slot_put_parts(slot);
	spin_lock_irqsave(&ep->tx.lock, flags);
	list_del(&rw->entry);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	kfree(rw);
	kofi_credit_give(&ep->rws->credit);
	if (ep->saves)
		ep->save_ops->rw_ended(ep);

	if (slot->comp.err) {
		verbs_slot_fail(cq, slot, slot->comp.err,
				slot->comp.prov_errno);
		return;
	}
	verbs_slot_over(slot);
	verbs_slot_succeed(cq, slot, len);
}

/* The device will not report the end, so verbs_rws_abandon() frees the rw operation */
static void verbs_rw_orphan(struct verbs_rw *rw)
{
	struct verbs_slot *slot = rw->slot;

	rw->slot = NULL;
	slot->parts = NULL;
	slot->cqe.done = verbs_send_done;
	slot->comp.op_context = verbs_context(slot->queue, rw->context);
	verbs_slot_fail(NULL, slot, ECANCELED, IB_WC_WR_FLUSH_ERR);
}

/* Done function of a batch; @cq: NULL: verbs_end_refused() calls */
static void verbs_rw_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_slot *slot = to_verbs_slot(wc);
	struct verbs_rw *rw = slot->comp.op_context;
	struct verbs_ep *ep = rw->ep;
	unsigned long flags;

	if (!cq) {
		verbs_rw_orphan(rw);
		return;
	}
	if (wc->status != IB_WC_SUCCESS)
		verbs_slot_set_err(slot, -verbs_wc_errno(wc->status, false),
				   wc->status);
	/*
	 * A device may complete a work request while its driver still reads it to find the next
	 * one.  The poster holds the lock until the driver is done.
	 */
	spin_lock_irqsave(&ep->tx.lock, flags);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	verbs_rw_unmap(rw);
	if (slot->comp.err) {
		verbs_rw_end(cq, rw);
		return;
	}
	verbs_slot_put_unsignaled(slot);
	if (!rw->at.left) {
		verbs_rw_end(cq, rw);
		return;
	}
	llist_add(&rw->due, &ep->rws->due);
	queue_work(verbs_wq, &ep->rws->work);
}

/* The caller holds the handler lock, and the endpoint is not being closed */
static void verbs_rw_go_on(struct verbs_rw *rw, int err)
{
	struct verbs_ep *ep = rw->ep;
	unsigned long flags;
	int ret = err;

	spin_lock_irqsave(&ep->tx.lock, flags);
	if (kofi_conn_check(&ep->kep.conn, true)) {
		verbs_slot_set_err(rw->slot, ECANCELED, IB_WC_WR_FLUSH_ERR);
		ret = -ECANCELED;
	}
	if (!ret)
		ret = verbs_rw_post(rw);
	/* If it is posted, the rw operation belongs to the device */
	if (ret)
		verbs_batch_fail(rw->slot, -ret);
	verbs_queue_unlock(ep, &ep->tx, flags);
}

/* Work: posts the next batch of each rw operation that has completed one */
static void verbs_rws_work(struct work_struct *work)
{
	struct verbs_rws *rws = container_of(work, struct verbs_rws, work);
	struct verbs_ep *ep = rws->ep;
	unsigned int noio = memalloc_noio_save();
	struct llist_node *due, *next;
	struct verbs_rw *rw;
	int ret;

	due = llist_reverse_order(llist_del_all(&rws->due));
	for (; due; due = next) {
		next = due->next;
		rw = llist_entry(due, struct verbs_rw, due);
		ret = verbs_rw_build(rw);
		rdma_lock_handler(ep->id);
		if (!ep->kep.conn.closing)
			verbs_rw_go_on(rw, min(ret, 0));
		rdma_unlock_handler(ep->id);
	}
	memalloc_noio_restore(noio);
}

/* The queue pair is drained.  Ends the rw operations that are left */
void verbs_rws_abandon(struct verbs_ep *ep)
{
	struct verbs_rws *rws = ep->rws;
	struct verbs_rw *rw, *next;
	unsigned long flags;

	if (!rws)
		return;
	cancel_work_sync(&rws->work);
	spin_lock_irqsave(&ep->tx.lock, flags);
	list_for_each_entry(rw, &rws->list, entry)
		if (rw->slot)
			verbs_refuse(rw->slot);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	verbs_end_refused(ep);
	list_for_each_entry_safe(rw, next, &rws->list, entry) {
		verbs_rw_unmap(rw);
		kfree(rw);
	}
	INIT_LIST_HEAD(&rws->list);
}

u64 verbs_rws_begun(const struct verbs_ep *ep)
{
	lockdep_assert_held(&ep->tx.lock);
	return ep->rws ? ep->rws->begun : 0;
}

/* Have all rw operations ended that had begun when verbs_rws_begun() returned @begun? */
bool verbs_rws_ended(struct verbs_ep *ep, u64 begun)
{
	const struct verbs_rw *first;
	unsigned long flags;
	bool ended;

	if (!begun)
		return true;
	spin_lock_irqsave(&ep->tx.lock, flags);
	first = list_first_entry_or_null(&ep->rws->list, struct verbs_rw, entry);
	ended = !first || first->place > begun;
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	return ended;
}

static int verbs_rws_alloc(struct verbs_ep *ep)
{
	struct verbs_rws *rws = kzalloc(sizeof(*rws), GFP_KERNEL);

	if (!rws)
		return -ENOMEM;
	rws->ep = ep;
	rws->wrs = min_t(size_t, ep->tx.size, VERBS_RW_WRS);
	INIT_LIST_HEAD(&rws->list);
	init_llist_head(&rws->due);
	INIT_WORK(&rws->work, verbs_rws_work);
	/* verbs_post_rw() may read it without a lock before fi_enable() has returned */
	smp_store_release(&ep->rws, rws);
	return 0;
}

/* FI_OPT_MAX_RW_OPS; the caller holds the handler lock */
int verbs_rws_set(struct verbs_ep *ep, size_t rws)
{
	size_t most = ep->tx.size < VERBS_RW_MIN_WRS ? 0 : ep->tx.size;
	int ret;

	if (rws > most)
		return kofi_refuse("setopt", -EINVAL, "FI_OPT_MAX_RW_OPS is %zu; the most is %zu",
				   rws, most);
	ret = rws && !ep->rws ? verbs_rws_alloc(ep) : 0;
	if (ret || !ep->rws)
		return ret;
	kofi_credit_init(&ep->rws->credit, &ep->kep.tx, rws);
	WRITE_ONCE(ep->rws->max, rws);
	return 0;
}

u32 verbs_rws_max(const struct verbs_ep *ep)
{
	const struct verbs_rws *rws = READ_ONCE(ep->rws);

	return rws ? READ_ONCE(rws->max) : 0;
}

/* max_rdma_ctxs of the queue pair */
u32 verbs_rws_ctxs(const struct verbs_ep *ep)
{
	return verbs_rws_max(ep) * VERBS_RW_CTXS;
}

/* Returns a copy of @template with memory for its elements */
static struct verbs_rw *verbs_rw_new(const struct verbs_rw *template)
{
	unsigned int count = verbs_rw_count(template);
	struct verbs_rw *rw;

	rw = kzalloc(struct_size(rw, segs, count), GFP_KERNEL);
	if (!rw)
		return NULL;
	*rw = *template;
	rw->nr_segs = count;
	return rw;
}

/* Posts the first batch, of @wrs work requests */
static int verbs_rw_first(struct verbs_rw *rw, unsigned int wrs, u64 fi_flags)
{
	const struct verbs_call call = {
		.context	= rw,
		.flags		= fi_flags,
		.comp_flags	= FI_RMA | (verbs_rw_is_read(rw) ? FI_READ : FI_WRITE),
	};
	struct verbs_ep *ep = rw->ep;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&ep->tx.lock, flags);
	/* Checks once more, as a drain does not wait for a call that maps its list */
	ret = kofi_conn_check(&ep->kep.conn, true);
	if (!ret)
		ret = verbs_batch_claim(ep, rw->at.left ? ep->rws->wrs : wrs,
					&rw->slot);
	if (!ret) {
		verbs_slot_fill(rw->slot, &call);
		verbs_slot_begun(ep, rw->slot);
		rw->slot->parts = rw->slot->link;
		rw->slot->cqe.done = verbs_rw_done;
		rw->place = ++ep->rws->begun;
		list_add_tail(&rw->entry, &ep->rws->list);
		ret = verbs_rw_post(rw);
		if (ret) {
			list_del(&rw->entry);
			verbs_batch_drop(rw->slot);
			ret = verbs_post_errno(&ep->tx, ret);
		} else if (ep->saves && !verbs_rw_is_read(rw)) {
			ep->save_ops->note(ep, rw->addr - (rw->len - rw->at.left), rw->key,
					   rw->len);
		}
	}
	verbs_queue_unlock(ep, &ep->tx, flags);
	return ret;
}

static int verbs_rw_start(const struct verbs_rw *template, u64 flags)
{
	struct verbs_ep *ep = template->ep;
	int ret = -ENOMEM;
	struct verbs_rw *rw;

	/* An rw operation is counted before it takes registrations, which suffice for rws->max */
	if (!kofi_credit_take(&ep->rws->credit))
		return -EAGAIN;
	rw = verbs_rw_new(template);
	if (!rw)
		goto give;
	/* -EAGAIN: rdma_rw has no registration left at the moment */
	ret = verbs_try_later(&ep->tx, verbs_rw_build(rw));
	if (ret < 0)
		goto free_rw;
	ret = verbs_rw_first(rw, ret, flags);
	if (!ret)
		return 0;

	verbs_rw_unmap(rw);
free_rw:
	kfree(rw);
give:
	kofi_credit_give(&ep->rws->credit);
	return ret;
}

/* On a device that has been entered */
static ssize_t verbs_rw_list(struct verbs_ep *ep, union verbs_any_wr *any,
			     const struct verbs_call *call, const struct fi_rma_xfer *rma)
{
	bool read = any->wr.opcode == IB_WR_RDMA_READ;
	struct verbs_rw rw = {
		.ep		= ep,
		.context	= call->context,
		.len		= call->remote_len,
		.addr		= any->rdma.remote_addr,
		.key		= any->rdma.rkey,
		.dir		= verbs_wr_dir(&any->wr),
		.fence		= call->flags & FI_FENCE,
		/* rdma_rw registers reads over iWARP, and those longer than max_sgl_rd */
		.fine		= read && (ep->iwarp ||
					   ep->domain->dev->ibdev->attrs.max_sgl_rd),
	};
	struct kofi_list_iter nothing = {};
	int ret;

	ret = kofi_conn_check(&ep->kep.conn, true);
	if (ret)
		return ret;
	if (read && !ep->may_read)
		return -EACCES;
	/* The list may end too early, or be no memory */
	ret = verbs_rw_find(ep->domain, &rw.at, (void *)rma->xfer.list, rma->xfer.count,
			    rma->offset, rw.len);
	if (ret)
		return ret;
	/* Without bytes a plain read or write takes the place of the rw operation */
	if (!rw.len)
		return verbs_submit_any(ep, any, call, &nothing);
	/* A hint that saves mapping the list in vain */
	if (verbs_queue_full(&ep->tx) && !verbs_queue_await(ep))
		return -EAGAIN;
	return verbs_rw_start(&rw, call->flags);
}

/**
 * verbs_post_rw() - Post an rw operation
 * @ep: the endpoint
 * @any: the work request that a short list would have
 * @call: what else there is to know
 * @rma: the operation; its list is a &struct scatterlist
 *
 * Context: may sleep.
 * Return: as fi_readsgl().
 */
ssize_t verbs_post_rw(struct verbs_ep *ep, union verbs_any_wr *any, const struct verbs_call *call,
		      const struct fi_rma_xfer *rma)
{
	ssize_t ret;

	if (!verbs_rws_max(ep))
		return -ENOSYS;
	ret = verbs_ep_enter(ep);
	if (ret)
		return ret;
	ret = verbs_rw_list(ep, any, call, rma);
	/* verbs_submit_any() has counted an operation without bytes */
	if (!ret && call->remote_len)
		kofi_ep_posted(&ep->kep, call->comp_flags, call->context, call->remote_len);
	verbs_ep_leave(ep);
	return ret;
}
