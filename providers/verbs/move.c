// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Moves: fi_readsgl() and fi_writesgl(), scatterlists of any length between here and
 * a peer's (address, key).
 *
 * A move goes in rounds.  A round has a few contexts of rdma_rw's, which round.c makes
 * out of a piece of the list.  Their work requests form one chain, posted in order under
 * the queue's lock; the last one is signalled, others only where batch.c has
 * to.  The client's thread posts the first round, a worker of the endpoint the next one
 * when a round has completed.  So progress depends on nobody but whoever polls the
 * completion queue.
 *
 *	fi_readsgl() --build--> round --post--> in flight --done--> reported
 *	                          ^                 |
 *	                          +---- worker <----+ more to move
 *
 * Slots are credits for work requests.  A move takes all it needs with the first
 * round, or gets -EAGAIN, and keeps them to its end: a list for one round, what that
 * round has; a longer one, what any round may have (moves->wrs).  One of them is the
 * move's own: the last work request of each round, and in the end the client's
 * completion, on which nothing else has a claim.  The others are its parts (batch.c).  The registrations
 * of an endpoint are made when it is enabled, as many as the moves that the client
 * has asked for can use at once, so no round ever waits for one.
 *
 * If the next round cannot be posted, the move is partial (batch.c), and its end comes with the marker, in the context of any other.
 *
 * Locking: the list of moves and their number by the queue's lock.  A move belongs to
 * one at a time: the poster, the device, the done function, the worker.  The worker
 * posts under the handler lock of the rdma_cm_id, where closing is decided; after
 * that nothing is posted any more, and when the queue pair has been drained, the
 * moves that are left are the closer's.  Contexts are destroyed when their round has
 * ended and its poster has left the driver, at the latest before the queue pair is, as
 * that has the registrations.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "ep.h"
#include "move.h"
#include "op.h"
#include "queue.h"
#include "verbs.h"

#define VERBS_MOVE_WRS		32	/* most work requests of a round */

/*
 * Posts the batch.  Returns an errno only if nothing has been posted, and rdma_rw has no
 * registration that it takes for done.
 */
static int verbs_move_post(struct verbs_move *move)
{
	static const struct verbs_op op = { .silent = true };
	struct ib_send_wr *first = verbs_move_wrs(move), *wr;
	struct verbs_slot *part = move->slot->parts;
	bool registers = false;

	for (wr = first; wr->next; wr = wr->next, part = part->link) {
		verbs_slot_fill(part, &op, 0);
		registers |= wr->opcode == IB_WR_REG_MR;
		verbs_move_fix_inv(wr);
	}
	verbs_move_fix_inv(wr);
	return verbs_batch_post(move->ep, first, move->slot, !registers);
}

/* There is one less; only those who were refused for that are called */
static void verbs_move_put(struct verbs_ep *ep)
{
	lockdep_assert_held(&ep->tx.lock);
	ep->moves->nr--;
	if (ep->moves->wanted)
		kofi_ep_room(&ep->kep.tx);
	ep->moves->wanted = false;
}

/* Done function: all is moved, or the move has failed */
static void verbs_move_end(const struct ib_cq *cq, struct verbs_move *move)
{
	struct verbs_slot *slot = move->slot;
	struct verbs_ep *ep = move->ep;
	size_t len = move->len;
	unsigned long flags;

	slot->cqe.done = verbs_send_done;
	slot->comp.op_context = verbs_context(slot->queue, move->context);
	verbs_slot_put_parts(slot);
	spin_lock_irqsave(&ep->tx.lock, flags);
	list_del(&move->entry);
	verbs_move_put(ep);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	kfree(move);

	if (slot->comp.err) {
		verbs_slot_fail(cq, slot, slot->comp.err,
				slot->comp.prov_errno);
		return;
	}
	verbs_slot_over(slot);
	verbs_slot_succeed(cq, slot, len);
}

/*
 * A device may complete a work request while its driver still looks at it, on the way
 * to the next one; once the lock has been ours, it does not.
 */
static void verbs_move_await_poster(struct verbs_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	spin_unlock_irqrestore(&queue->lock, flags);
}

/* The device will not say when it is done; the rest is for verbs_moves_abandon() */
static void verbs_move_orphan(struct verbs_move *move)
{
	struct verbs_slot *slot = move->slot;

	move->slot = NULL;
	slot->parts = NULL;
	slot->cqe.done = verbs_send_done;
	slot->comp.op_context = verbs_context(slot->queue, move->context);
	verbs_slot_fail(NULL, slot, ECANCELED, IB_WC_WR_FLUSH_ERR);
}

/* A round is over; without @cq see verbs_batch_end_partial() */
static void verbs_move_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_slot *slot = to_verbs_slot(wc);
	struct verbs_move *move = slot->comp.op_context;
	struct verbs_ep *ep = move->ep;

	if (!cq) {
		verbs_move_orphan(move);
		return;
	}
	if (wc->status != IB_WC_SUCCESS)
		verbs_slot_blame(slot, -verbs_wc_errno(wc->status, false),
				 wc->status);
	verbs_move_await_poster(&ep->tx);
	verbs_move_unmap(move);
	if (slot->comp.err) {
		verbs_move_end(cq, move);
		return;
	}
	verbs_slot_put_riders(slot);
	if (!move->at.left) {
		verbs_move_end(cq, move);
		return;
	}
	llist_add(&move->due, &ep->moves->due);
	queue_work(verbs_wq, &ep->moves->work);
}

/* The caller holds the handler lock, and the endpoint is not being closed */
static void verbs_move_go_on(struct verbs_move *move, int err)
{
	struct verbs_ep *ep = move->ep;
	unsigned long flags;
	int ret = err;

	spin_lock_irqsave(&ep->tx.lock, flags);
	if (kofi_conn_check(&ep->kep.conn, true)) {
		verbs_slot_blame(move->slot, ECANCELED, IB_WC_WR_FLUSH_ERR);
		ret = -ECANCELED;
	}
	if (!ret)
		ret = verbs_move_post(move);
	/* Once it is posted, the move is not ours any more */
	if (ret)
		verbs_batch_fail(move->slot, -ret);
	verbs_queue_unlock(ep, &ep->tx, flags);
}

/* Work: the next round of whatever has completed one */
static void verbs_moves_work(struct work_struct *work)
{
	struct verbs_moves *moves = container_of(work, struct verbs_moves, work);
	struct verbs_ep *ep = moves->ep;
	unsigned int noio = memalloc_noio_save();
	struct llist_node *due, *next;
	struct verbs_move *move;
	int ret;

	due = llist_reverse_order(llist_del_all(&moves->due));
	for (; due; due = next) {
		next = due->next;
		move = llist_entry(due, struct verbs_move, due);
		ret = verbs_move_build(move);
		rdma_lock_handler(ep->id);
		if (!ep->kep.conn.closing)
			verbs_move_go_on(move, min(ret, 0));
		rdma_unlock_handler(ep->id);
	}
	memalloc_noio_restore(noio);
}

/* The queue pair is drained: what has not ended by now ends here */
void verbs_moves_abandon(struct verbs_ep *ep)
{
	struct verbs_moves *moves = ep->moves;
	struct verbs_move *move, *next;
	unsigned long flags;

	if (!moves)
		return;
	cancel_work_sync(&moves->work);
	spin_lock_irqsave(&ep->tx.lock, flags);
	list_for_each_entry(move, &moves->list, entry)
		if (move->slot)
			verbs_refuse(move->slot);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	flush_work(&ep->broken);
	list_for_each_entry_safe(move, next, &moves->list, entry) {
		verbs_move_unmap(move);
		kfree(move);
	}
	INIT_LIST_HEAD(&moves->list);
}

void verbs_moves_free(struct verbs_ep *ep)
{
	kfree(ep->moves);
}

/* Work requests of a queue that a move may have at once; 0: too few */
static unsigned int verbs_move_budget(const struct verbs_ep *ep)
{
	if (ep->tx.size < VERBS_MOVE_MIN_WRS)
		return 0;
	return min_t(size_t, ep->tx.size, VERBS_MOVE_WRS);
}

static int verbs_moves_alloc(struct verbs_ep *ep)
{
	struct verbs_moves *moves = kzalloc(sizeof(*moves), GFP_KERNEL);

	if (!moves)
		return -ENOMEM;
	moves->ep = ep;
	moves->wrs = verbs_move_budget(ep);
	INIT_LIST_HEAD(&moves->list);
	init_llist_head(&moves->due);
	INIT_WORK(&moves->work, verbs_moves_work);
	/* Whoever moves without waiting for fi_enable() finds all of it */
	smp_store_release(&ep->moves, moves);
	return 0;
}

/* FI_OPT_MAX_MOVES; the caller holds the handler lock */
int verbs_moves_set(struct verbs_ep *ep, size_t moves)
{
	int ret;

	if (moves > ep->tx.size || (moves && !verbs_move_budget(ep)))
		return -EINVAL;
	ret = moves && !ep->moves ? verbs_moves_alloc(ep) : 0;
	if (!ret && ep->moves)
		WRITE_ONCE(ep->moves->max, moves);
	return ret;
}

u32 verbs_moves_max(const struct verbs_ep *ep)
{
	const struct verbs_moves *moves = READ_ONCE(ep->moves);

	return moves ? READ_ONCE(moves->max) : 0;
}

/* For the attributes of the queue pair */
u32 verbs_moves_ctxs(const struct verbs_ep *ep)
{
	return verbs_moves_max(ep) * VERBS_MOVE_CTXS;
}

/* A copy of @template with as many elements as it needs */
static struct verbs_move *verbs_move_new(const struct verbs_move *template)
{
	unsigned int count = verbs_move_count(template);
	struct verbs_move *move;

	move = kzalloc(struct_size(move, segs, count), GFP_KERNEL);
	if (!move)
		return NULL;
	*move = *template;
	move->nr_segs = count;
	return move;
}

static void verbs_move_own_slot(struct verbs_move *move, bool silent)
{
	const struct verbs_op op = { .context = move, .silent = silent };

	verbs_slot_fill(move->slot, &op, FI_RMA | (verbs_move_is_read(move) ?
						   FI_READ : FI_WRITE));
	verbs_slot_begun(move->slot);
	move->slot->cqe.done = verbs_move_done;
}

/* Before it takes registrations, as there are as many as moves may be in flight */
static int verbs_move_claim(struct verbs_ep *ep)
{
	struct verbs_moves *moves = ep->moves;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&ep->tx.lock, flags);
	if (moves->nr < moves->max) {
		moves->nr++;
	} else {
		moves->wanted = true;
		kofi_ep_want_room(&ep->kep.tx);
		ret = -EAGAIN;
	}
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	return ret;
}

static void verbs_move_unclaim(struct verbs_ep *ep)
{
	unsigned long flags;

	spin_lock_irqsave(&ep->tx.lock, flags);
	verbs_move_put(ep);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
}

/* Posts the first round, of so many work requests */
static int verbs_move_first(struct verbs_move *move, unsigned int wrs,
			    bool silent)
{
	struct verbs_ep *ep = move->ep;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&ep->tx.lock, flags);
	/* Once more, as a drain does not wait for who maps a list */
	ret = kofi_conn_check(&ep->kep.conn, true);
	if (!ret)
		ret = verbs_batch_claim(ep, move->at.left ? ep->moves->wrs : wrs,
					&move->slot);
	if (!ret) {
		verbs_move_own_slot(move, silent);
		list_add_tail(&move->entry, &ep->moves->list);
		ret = verbs_move_post(move);
		if (ret) {
			list_del(&move->entry);
			verbs_batch_drop(move->slot);
			ret = verbs_post_errno(&ep->tx, ret);
		}
	}
	verbs_queue_unlock(ep, &ep->tx, flags);
	return ret;
}

static int verbs_move_begin(const struct verbs_move *template, bool silent)
{
	struct verbs_move *move = verbs_move_new(template);
	int ret;

	if (!move)
		return -ENOMEM;
	/* Of its registrations there may be none at the moment */
	ret = verbs_try_later(&move->ep->tx, verbs_move_build(move));
	if (ret < 0)
		goto free_move;
	ret = verbs_move_first(move, ret, silent);
	if (ret)
		goto unmap;
	return 0;

unmap:
	verbs_move_unmap(move);
free_move:
	kfree(move);
	return ret;
}

static int verbs_move_start(const struct verbs_move *template, bool silent)
{
	int ret = verbs_move_claim(template->ep);

	if (ret)
		return ret;
	ret = verbs_move_begin(template, silent);
	if (ret)
		verbs_move_unclaim(template->ep);
	return ret;
}

/* On a device that does not go away meanwhile */
static ssize_t verbs_move_list(struct verbs_ep *ep, const struct verbs_op *op,
			       size_t offset)
{
	bool read = op->opcode == IB_WR_RDMA_READ;
	struct verbs_move move = {
		.ep		= ep,
		.context	= op->context,
		.len		= op->remote_len,
		.addr		= op->addr,
		.key		= op->key,
		.dir		= verbs_op_dir(op),
		.fence		= op->flags & FI_FENCE,
		.fine		= verbs_move_registers(ep, verbs_op_dir(op)),
	};
	/* One of nothing is an operation like any other */
	struct verbs_op nothing = *op;
	int ret;

	ret = kofi_conn_check(&ep->kep.conn, true);
	if (ret)
		return ret;
	if (read && !ep->may_read)
		return -EACCES;
	/* The list may end in front of the offset, or be no memory */
	ret = verbs_move_find(&move.at, (void *)op->list, op->count, offset, move.len);
	if (ret)
		return ret;
	nothing.count = 0;
	if (!move.len)
		return verbs_post(ep, &nothing);
	/* A hint that spares the mapping */
	if (verbs_queue_full(&ep->tx) && verbs_slot_await(ep, NULL))
		return -EAGAIN;
	return verbs_move_start(&move, op->silent);
}

/**
 * verbs_move() - Move a list
 * @ep: the endpoint
 * @op: a read or write; its list is a &struct scatterlist
 * @offset: where in the list it begins
 *
 * Context: may sleep.
 * Return: as fi_readsgl().
 */
ssize_t verbs_move(struct verbs_ep *ep, const struct verbs_op *op, size_t offset)
{
	ssize_t ret;

	if (!verbs_moves_max(ep))
		return -ENOSYS;
	ret = verbs_ep_enter(ep);
	if (ret)
		return ret;
	ret = verbs_move_list(ep, op, offset);
	verbs_ep_leave(ep);
	return ret;
}
