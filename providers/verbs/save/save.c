// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The initiator of FI_COMMIT_COMPLETE and FI_SAVE; see save.h.
 *
 * Life of an operation
 *
 *	posted		a write with FI_COMMIT_COMPLETE is posted as any other; a save is a write
 *			of no bytes, which completes behind all that was posted before it
 *	written		the write has completed, and the worker has the operation.  If the write
 *			has failed or was flushed, the operation ends as any other (done.c)
 *	read		the worker reads a byte of the region over the endpoint's queue pair: a
 *			completed write need not be in the memory, but a device answers the read
 *			when all that came before it is
 *	asked		the worker sends the request and waits for the answer
 *	reported	with remote CQ data the worker posts one more write of no bytes, whose
 *			completion is reported
 *
 * Without FI_COMMIT_COMPLETE a save ends when it is written: a completed write has been
 * acknowledged by the peer's device, and a completed message is in a receive.
 *
 * Ranges.  The peer's processor does not see writes, so an endpoint notes the ranges of its writes,
 * and a save sends those of its region.  The number of ranges is limited.  Ranges of a region that
 * touch become one.  If there is no room, the new range and another of its region become one that
 * covers both.  If there is no other either, the new range is forgotten, and from then on each save
 * is one of a whole region.  So is a save by fi_readmsg(): others may have written what was
 * read.  rw operations are transferred in batches, so the worker reads only when those that began
 * before a save have ended.
 *
 * An operation with FI_FENCE has to wait for saves, which the device does not know.  While there
 * are any, the call answers -EAGAIN.
 *
 * Locking: the lock of the transmit side guards the lists and the ranges.  The worker has a
 * workqueue of its own, as it waits for other workers.  It posts under the handler lock of the
 * rdma_cm_id, as the worker of rw.c does.  When the connection ends, all waits of the worker end,
 * and the operations that are left fail.  verbs_saves_abandon() waits for that, when no operation
 * becomes written any more.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "../op.h"
#include "../queue.h"
#include "../io/rw.h"
#include "save.h"

/* Ranges */

static bool verbs_unsaved_join(struct verbs_unsaved *range, const struct verbs_unsaved *new,
			       bool touch)
{
	if (range->key != new->key ||
	    (touch && (new->begin > range->end || new->end < range->begin)))
		return false;
	range->begin = min(new->begin, range->begin);
	range->end = max(new->end, range->end);
	return true;
}

/**
 * verbs_saves_note() - Note the range of a write that has been posted
 * @ep: the endpoint; the caller holds the lock of the transmit side
 * @addr: remote address
 * @key: remote key
 * @len: bytes
 *
 * Context: any.
 */
static void verbs_saves_note(struct verbs_ep *ep, u64 addr, u64 key, size_t len)
{
	const struct verbs_unsaved new = { .begin = addr, .end = addr + len, .key = key };
	struct verbs_saves *saves = ep->saves;
	u32 i;

	lockdep_assert_held(&ep->tx.lock);
	if (!len)
		return;
	for (i = 0; i < saves->nr_unsaved; i++)
		if (verbs_unsaved_join(&saves->unsaved[i], &new, true))
			return;
	if (saves->nr_unsaved < VERBS_SAVE_RANGES) {
		saves->unsaved[saves->nr_unsaved++] = new;
		return;
	}
	for (i = 0; i < saves->nr_unsaved; i++)
		if (verbs_unsaved_join(&saves->unsaved[i], &new, false))
			return;
	saves->forgotten = true;
}

static void verbs_unsaved_take(struct verbs_saves *saves, struct verbs_save *save)
{
	u32 i, left = 0;

	for (i = 0; i < saves->nr_unsaved; i++) {
		if (saves->unsaved[i].key == save->key)
			save->range[save->count++] = saves->unsaved[i];
		else
			saves->unsaved[left++] = saves->unsaved[i];
	}
	saves->nr_unsaved = left;
	save->whole |= saves->forgotten;
}

/* Operations */

/* Takes an operation; NULL: too many are in flight, and the client will be called */
static struct verbs_save *verbs_save_claim(struct verbs_saves *saves)
{
	struct verbs_ep *ep = saves->ep;
	struct verbs_save *save;
	unsigned long flags;

	if (!kofi_credit_take(&saves->credit))
		return NULL;
	spin_lock_irqsave(&ep->tx.lock, flags);
	/* There is one, as verbs_save_put() gives the credit back last */
	save = list_first_entry(&saves->free, struct verbs_save, entry);
	list_move_tail(&save->entry, &saves->posted);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	return save;
}

static void verbs_save_put(struct verbs_saves *saves, struct verbs_save *save)
{
	struct verbs_ep *ep = saves->ep;
	unsigned long flags;

	spin_lock_irqsave(&ep->tx.lock, flags);
	save->slot = NULL;
	list_move(&save->entry, &saves->free);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	kofi_credit_give(&saves->credit);
}

static bool verbs_saves_hold(struct verbs_ep *ep)
{
	return !kofi_credit_has(&ep->saves->credit, VERBS_SAVES);
}

static void verbs_save_set(struct verbs_save *save, struct verbs_slot *slot)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);

	lockdep_assert_held(&ep->tx.lock);
	slot->save = true;
	save->slot = slot;
	save->rws = verbs_rws_begun(ep);
}

static void verbs_saves_posted(struct verbs_ep *ep, const struct ib_send_wr *wr, size_t len,
			       u64 flags, struct verbs_save *save)
{
	lockdep_assert_held(&ep->tx.lock);
	if (save && flags & FI_SAVE && save->commit)
		verbs_unsaved_take(ep->saves, save);
	else if (!save && verbs_wr_is_write(wr))
		verbs_saves_note(ep, rdma_wr(wr)->remote_addr, rdma_wr(wr)->rkey, len);
}

static struct verbs_save *verbs_save_of(struct verbs_slot *slot)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);
	struct verbs_saves *saves = ep->saves;
	struct verbs_save *save;

	lockdep_assert_held(&ep->tx.lock);
	list_for_each_entry(save, &saves->posted, entry)
		if (save->slot == slot)
			return save;
	return NULL;
}

/* The writes of the operation have completed, so the worker has to finish it */
static void verbs_save_written(struct verbs_slot *slot)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);
	struct verbs_save *save;
	unsigned long flags;

	spin_lock_irqsave(&ep->tx.lock, flags);
	save = verbs_save_of(slot);
	list_move_tail(&save->entry, &ep->saves->written);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	queue_work(verbs_save_wq, &ep->saves->work);
}

static void verbs_save_failed(struct verbs_slot *slot)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);
	struct verbs_save *save;
	unsigned long flags;

	spin_lock_irqsave(&ep->tx.lock, flags);
	save = verbs_save_of(slot);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	slot->save = false;
	if (save)
		verbs_save_put(ep->saves, save);
}

/* The worker */

static void verbs_save_read_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_saves *saves = container_of(wc->wr_cqe, struct verbs_saves, read);

	saves->read_status = wc->status;
	/* Pairs with verbs_save_read() */
	smp_store_release(&saves->read_done, true);
	wake_up(&saves->wait);
}

/* Posts under the handler lock, which a close takes; -ECANCELED: the connection has ended */
static int verbs_save_post_wr(struct verbs_ep *ep, struct ib_rdma_wr *wr)
{
	unsigned long flags;
	int ret = -ECANCELED;

	rdma_lock_handler(ep->id);
	if (verbs_saves_alive(ep->saves)) {
		spin_lock_irqsave(&ep->tx.lock, flags);
		if (ep->regs)
			verbs_regs_post(ep);
		ret = verbs_wrs_post(ep, &wr->wr);
		verbs_queue_unlock(ep, &ep->tx, flags);
	}
	rdma_unlock_handler(ep->id);
	return ret;
}

static int verbs_save_read(struct verbs_saves *saves, const struct verbs_save *save)
{
	const struct verbs_save_end *end = saves->link;
	struct ib_sge sge = {
		.addr	= end->dma + offsetof(struct verbs_save_msg, read),
		.length	= 1,
		.lkey	= saves->ep->domain->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr.wr_cqe	= &saves->read,
		.wr.sg_list	= &sge,
		.wr.num_sge	= 1,
		.wr.opcode	= IB_WR_RDMA_READ,
		.wr.send_flags	= IB_SEND_SIGNALED,
		.remote_addr	= save->count ? save->range[0].begin : save->addr,
		.rkey		= save->key,
	};
	int ret;

	saves->read_done = false;
	ret = verbs_save_post_wr(saves->ep, &wr);
	if (ret)
		return ret;
	/* Pairs with verbs_save_read_done() */
	wait_event(saves->wait, smp_load_acquire(&saves->read_done) || !verbs_saves_alive(saves));
	return !saves->read_done ? -ECANCELED : verbs_wc_errno(saves->read_status, false);
}

static int verbs_save_execute(struct verbs_saves *saves, const struct verbs_save *save)
{
	int ret;

	wait_event(saves->wait, verbs_rws_ended(saves->ep, save->rws) || !verbs_saves_alive(saves));
	if (!verbs_saves_alive(saves))
		return -ECANCELED;
	if (!save->commit)
		return 0;
	ret = verbs_save_connect(saves);
	if (!ret && (save->count || save->whole))
		ret = verbs_save_read(saves, save);
	return ret ? : verbs_save_ask(saves, save);
}

/* All is durable: the last write of no bytes reports that to the peer */
static int verbs_save_tell(struct verbs_ep *ep, struct verbs_slot *slot, u32 data)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe	= &slot->cqe,
		.wr.opcode	= IB_WR_RDMA_WRITE_WITH_IMM,
		.wr.send_flags	= IB_SEND_SIGNALED,
		.wr.ex.imm_data	= cpu_to_be32(data),
	};

	slot->cqe.done = verbs_send_done;
	return verbs_save_post_wr(ep, &wr);
}

/* Ends the operation; a failure ends the connection, too */
static void verbs_save_end_op(struct verbs_saves *saves, struct verbs_save *save, int ret)
{
	struct verbs_slot *slot = save->slot;
	struct verbs_ep *ep = saves->ep;
	bool tell = save->tell;
	u32 data = save->data;

	slot->save = false;
	verbs_save_put(saves, save);
	if (!ret && tell) {
		ret = verbs_save_tell(ep, slot, data);
		if (!ret)
			return;
	}
	if (ret)
		verbs_slot_fail(NULL, slot, -ret,
				ret == -ECANCELED ? IB_WC_WR_FLUSH_ERR : IB_WC_REM_OP_ERR);
	else
		verbs_slot_succeed(NULL, slot, slot->bytes);
}

static struct verbs_save *verbs_saves_next(struct verbs_saves *saves)
{
	struct verbs_save *save;
	unsigned long flags;

	spin_lock_irqsave(&saves->ep->tx.lock, flags);
	save = list_first_entry_or_null(&saves->written, struct verbs_save, entry);
	spin_unlock_irqrestore(&saves->ep->tx.lock, flags);
	return save;
}

/* Work: finishes operations that are written, one after the other */
static void verbs_saves_work(struct work_struct *work)
{
	struct verbs_saves *saves = container_of(work, struct verbs_saves, work);
	unsigned int noio = memalloc_noio_save();
	struct verbs_save *save;

	while ((save = verbs_saves_next(saves)))
		verbs_save_end_op(saves, save, verbs_save_execute(saves, save));
	memalloc_noio_restore(noio);
}

/* Calls */

static u32 verbs_wr_key(const union verbs_any_wr *any)
{
	return verbs_wr_is_swap(&any->wr) ? any->atomic.rkey : any->rdma.rkey;
}

/* The write of no bytes that a save is to the device */
static void verbs_save_only(union verbs_any_wr *any, struct verbs_call *call)
{
	any->wr.opcode = IB_WR_RDMA_WRITE;
	any->rdma.remote_addr = 0;
	any->rdma.rkey = 0;
	call->remote_len = 0;
}

/**
 * verbs_save_post() - Post an operation with FI_SAVE or FI_COMMIT_COMPLETE
 * @ep: the endpoint, with FI_RMA_PMEM
 * @any: its work request, without completion and elements
 * @call: what else there is to know
 * @at: its list
 *
 * Context: any.
 * Return: as the data transfer calls of fi_endpoint.h; -EOPNOTSUPP: the peer has not offered to
 * make memory durable.
 */
static ssize_t verbs_save_post(struct verbs_ep *ep, union verbs_any_wr *any,
			       struct verbs_call *call, struct kofi_list_iter *at)
{
	bool commit = call->flags & FI_COMMIT_COMPLETE, save_only = call->flags & FI_SAVE;
	struct verbs_save *save;
	ssize_t ret = kofi_conn_check(&ep->kep.conn, true);

	if (ret)
		return ret;
	if (save_only && at->count)
		return -EINVAL;
	if (commit && !ep->frame.offer_port)
		return -EOPNOTSUPP;
	if (commit && !ep->may_read)
		return -EACCES;
	save = verbs_save_claim(ep->saves);
	if (!save)
		return -EAGAIN;
	save->commit = commit;
	save->tell = any->wr.opcode == IB_WR_RDMA_WRITE_WITH_IMM;
	save->data = be32_to_cpu(any->wr.ex.imm_data);
	save->addr = any->rdma.remote_addr;
	save->key = verbs_wr_key(any);
	save->count = 0;
	save->whole = false;
	if (save->tell) {
		any->wr.opcode = IB_WR_RDMA_WRITE;
		any->wr.ex.imm_data = 0;
	}
	if (!save_only && call->remote_len) {
		save->range[save->count++] = (struct verbs_unsaved) {
			.begin	= save->addr,
			.end	= save->addr + call->remote_len,
			.key	= save->key,
		};
	} else if (save_only) {
		save->whole = commit && any->wr.opcode == IB_WR_RDMA_READ;
		verbs_save_only(any, call);
	}
	call->save = save;
	ret = verbs_submit_any(ep, any, call, at);
	if (ret)
		verbs_save_put(ep->saves, save);
	return ret;
}

static void verbs_saves_rw_ended(struct verbs_ep *ep)
{
	wake_up(&ep->saves->wait);
}

static const struct verbs_save_ops verbs_save_ops = {
	.post		= verbs_save_post,
	.hold		= verbs_saves_hold,
	.set		= verbs_save_set,
	.posted		= verbs_saves_posted,
	.note		= verbs_saves_note,
	.written	= verbs_save_written,
	.failed		= verbs_save_failed,
	.rw_ended	= verbs_saves_rw_ended,
};

/* For a new endpoint with FI_RMA_PMEM, before it gets its rdma_cm_id */
int verbs_saves_init(struct verbs_ep *ep)
{
	struct verbs_saves *saves;
	int i, ret;

	saves = kvzalloc(sizeof(*saves), GFP_KERNEL);
	if (!saves)
		return -ENOMEM;
	saves->ep = ep;
	init_waitqueue_head(&saves->wait);
	INIT_LIST_HEAD(&saves->free);
	INIT_LIST_HEAD(&saves->posted);
	INIT_LIST_HEAD(&saves->written);
	kofi_credit_init(&saves->credit, &ep->kep.tx, VERBS_SAVES);
	for (i = 0; i < VERBS_SAVES; i++)
		list_add_tail(&saves->op[i].entry, &saves->free);
	INIT_WORK(&saves->work, verbs_saves_work);
	saves->read.done = verbs_save_read_done;
	ret = verbs_save_join(saves);
	if (ret) {
		kvfree(saves);
		return ret;
	}
	ep->saves = saves;
	ep->save_ops = &verbs_save_ops;
	return 0;
}

/*
 * The connection has ended, which has woken the worker up (verbs_ep_state_changed()), and nothing
 * completes any more: what the worker has left fails.
 */
void verbs_saves_abandon(struct verbs_ep *ep)
{
	if (ep->saves)
		flush_work(&ep->saves->work);
}

/* The endpoint is closed, or its device goes: ends the control connections */
void verbs_saves_close(struct verbs_ep *ep)
{
	struct verbs_saves *saves = ep->saves;

	if (!saves)
		return;
	verbs_saves_abandon(ep);
	verbs_save_leave(saves);
	if (saves->link)
		verbs_save_end_destroy(saves->link);
	saves->link = NULL;
}

void verbs_saves_free(struct verbs_ep *ep)
{
	kvfree(ep->saves);
}
