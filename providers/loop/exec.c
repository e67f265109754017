// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Execution: the worker of an endpoint, and what its operations wait for.
 *
 * Life of an operation
 *
 *	posted		by kofi/soft.h, or put back by the worker, as it has to wait
 *	running		the worker has taken it out of its list
 *	parked		an unexpected message of its target, with a reference to the target
 *	matched		a receive was posted for it (loop_start())
 *	saving		it moves nothing, and waits until messages before it are delivered
 *	over		kofi_soft_op_done()
 *
 * Only the worker takes operations out of the lists, with two exceptions.  A call that posts a
 * receive at the target moves a parked operation to the matched ones (loop_start()).  The target
 * removes a parked operation when it ends, or when its client discards the message
 * (loop_discard()).  Both functions hold the lock of the operation's endpoint.
 *
 * A worker that has to wait puts its endpoint into a list of the target (loop_wait_enter())
 * and then tries once more.  So it finds the room itself, or is kicked when there is room.  The
 * endpoint holds a reference to the target as long as it waits, and the end of the target kicks
 * the worker, too.  An endpoint waits for one thing at a time, that of its oldest operation:
 * loop_run() ends the waiting before it executes that operation again.
 *
 * The worker plugs the queue of its endpoint, and that of the target (kofi_cq_plug()), so what
 * completes in a turn is reported together.  A turn ends behind LOOP_TURN_OPS operations or
 * LOOP_TURN_BYTES bytes.  What callbacks post then is executed by the worker that has called them.
 *
 * An untagged message of one short buffer that goes over a connection is received within its call,
 * if the peer has a receive (kofi_soft_ep.receiver).  It never becomes an operation of the worker.
 * If there is no receive, if something was posted before, or if a client is to be called in a
 * softirq that has to be started, the message is posted as any other operation, and the worker
 * receives it in the same way when there is a receive (loop_run_plain()).
 */
#include <linux/module.h>
#include <linux/sched.h>
#include "loop.h"

/*
 * May the peer receive messages under the lock of this end?  Not if one of them has no queue, or a
 * hook sees its completions first: that is called without locks
 */
static bool loop_peer_may_receive(const struct loop_ep *ep)
{
	const struct kofi_cq *tx = ep->soft.kep.tx.cq, *rx = ep->peer->soft.kep.rx.cq;

	return tx && rx && !tx->taps && !rx->taps;
}

/*
 * Messages are received within their calls if the peer is known, and no task executes operations,
 * which might overtake them or be overtaken.  Called after each change of what it looks at.
 */
void loop_set_receiver(struct loop_ep *ep)
{
	bool may = ep->peer && !ep->busy && list_empty(&ep->soft.posted) &&
		   list_empty(&ep->matched) && loop_peer_may_receive(ep);

	lockdep_assert_held(&ep->soft.lock);
	ep->soft.receiver = may ? &ep->peer->soft : NULL;
	ep->soft.in_softirq = may && (kofi_cq_calls_in_softirq(ep->soft.kep.tx.cq) ||
				      kofi_cq_calls_in_softirq(ep->peer->soft.kep.rx.cq));
}

/* Waiting for a target */

void loop_waiters_init(struct loop_waiters *waiters)
{
	spin_lock_init(&waiters->lock);
	INIT_LIST_HEAD(&waiters->list);
}

/* Kicks the worker of each waiter, which leaves the list itself.  Context: any */
void loop_waiters_wake(struct loop_waiters *waiters)
{
	struct loop_ep *ep;
	unsigned long flags;

	spin_lock_irqsave(&waiters->lock, flags);
	list_for_each_entry(ep, &waiters->list, wait.entry)
		kofi_soft_kick(&ep->soft);
	spin_unlock_irqrestore(&waiters->lock, flags);
}

/* Stop waiting, if the endpoint waits */
static void loop_wait_leave(struct loop_ep *ep)
{
	struct loop_wait *wait = &ep->wait;
	unsigned long flags;

	if (!wait->at)
		return;
	spin_lock_irqsave(&wait->at->lock, flags);
	list_del(&wait->entry);
	spin_unlock_irqrestore(&wait->at->lock, flags);
	wait->at = NULL;
	loop_ep_put(wait->target);
}

/* Wait for what @target lacks; the endpoint does not wait for anything else */
static void loop_wait_enter(struct loop_ep *ep, struct loop_waiters *waiters,
			    struct loop_ep *target)
{
	struct loop_wait *wait = &ep->wait;
	unsigned long flags;

	/* A second entry would corrupt both lists */
	if (WARN_ON_ONCE(wait->at))
		loop_wait_leave(ep);
	kofi_soft_ep_get(&target->soft);
	wait->target = target;
	wait->at = waiters;
	spin_lock_irqsave(&waiters->lock, flags);
	list_add_tail(&wait->entry, &waiters->list);
	spin_unlock_irqrestore(&waiters->lock, flags);
}

void loop_event_room(struct kofi_soft_ep *soft)
{
	loop_waiters_wake(&to_loop_soft(soft)->event_waiters);
}

/* Receives */

/* kofi_srx_ops.start: a receive was posted that takes a parked message */
static void loop_start(struct kofi_rx *rx, struct kofi_srx_msg *msg)
{
	struct loop_op *op = container_of(msg, struct loop_op, msg);
	struct loop_ep *ep = loop_op_ep(op);
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	op->rx = rx;
	list_move_tail(&op->op.entry, &ep->matched);
	loop_set_receiver(ep);
	kofi_soft_kick(&ep->soft);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/* kofi_srx_ops.discard: the target's client discards a parked message, or the target ends */
static void loop_discard(struct kofi_srx_msg *msg)
{
	struct loop_op *op = container_of(msg, struct loop_op, msg);
	struct loop_ep *ep = loop_op_ep(op), *target = op->target;
	int err = kofi_conn_check(&target->soft.kep.conn, false);
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	list_del(&op->op.entry);
	/* A fence may wait for it */
	kofi_soft_kick(&ep->soft);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	kofi_soft_op_done(&op->op, err ? ECONNRESET : 0);
	loop_ep_put(target);
}

static void loop_resume(struct kofi_srx *srx)
{
	struct fid *fid = &srx->ep->ep.fid;

	loop_waiters_wake(fid->fclass == FI_CLASS_SRX_CTX ?
			  &to_loop_srx(fid)->waiters :
			  &to_loop_ep(fid)->own_waiters);
}

/* The sender's address as directed receives of the target name it */
static fi_addr_t loop_peer(const struct loop_ep *target,
			   const struct loop_ep *ep)
{
	struct kofi_av *av = kofi_soft_av(&target->soft);

	if (!av || !(target->soft.kep.caps & FI_DIRECTED_RECV))
		return FI_ADDR_NOTAVAIL;
	return kofi_av_find(av, &ep->name.addr);
}

/* The sender's address as completions of the target report it (FI_SOURCE) */
static fi_addr_t loop_source(const struct loop_ep *target,
			     const struct loop_ep *ep)
{
	struct kofi_av *av = kofi_soft_av(&target->soft);

	if (!av || !(target->soft.kep.caps & FI_SOURCE))
		return FI_ADDR_NOTAVAIL;
	return kofi_av_source(av, &ep->name.addr);
}

/* kofi_srx_ops.sender, for a parked message */
static void loop_sender(const struct kofi_srx_msg *msg, fi_addr_t *src_addr, fi_addr_t *source)
{
	struct loop_op *op = container_of(msg, struct loop_op, msg);

	*src_addr = loop_peer(op->target, loop_op_ep(op));
	*source = loop_source(op->target, loop_op_ep(op));
}

/* kofi_srx_ops.changes, of an endpoint: a shared receive context has no directed receives */
static unsigned long loop_changes(const struct kofi_srx *srx)
{
	return kofi_av_changes(kofi_soft_av(container_of(srx, struct kofi_soft_ep, own_srx)));
}

const struct kofi_srx_ops loop_srx_ops = {
	.start		= loop_start,
	.discard	= loop_discard,
	.resume		= loop_resume,
	.sender		= loop_sender,
	.changes	= loop_changes,
};

/* Messages */

/* Copy between an operation and its receive.  @read: the receive is the source */
static void loop_copy(struct loop_op *op, struct kofi_rx *rx, bool read)
{
	struct kofi_iov *local = &op->op.kept.local;
	size_t done = 0, len = kofi_rx_len(rx), part, copied;
	struct iov_iter to, from;

	/* A scatterlist that is lent comes in several parts */
	do {
		if (read)
			kofi_rx_source(rx, done, &from);
		else
			kofi_rx_iter(rx, done, &to);
		kofi_iov_part(local, read ? ITER_DEST : ITER_SOURCE, done, len - done,
			      read ? &to : &from);
		part = 0;
		while ((copied = kofi_iov_copy(&to, &from, LOOP_COPY))) {
			part += copied;
			cond_resched();
		}
		done += part;
	} while (part && done < len);
}

static void loop_deliver(struct loop_op *op, struct kofi_rx *rx)
{
	loop_copy(op, rx, false);
	kofi_rx_complete(rx);
}

static void loop_park(struct loop_op *op, struct loop_ep *target)
{
	struct loop_ep *ep = loop_op_ep(op);
	unsigned long flags;

	kofi_soft_ep_get(&target->soft);
	op->target = target;
	op->parked = ++ep->parkings;
	spin_lock_irqsave(&ep->soft.lock, flags);
	list_add_tail(&op->op.entry, &ep->parked);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

static void loop_unpark(struct loop_op *op)
{
	struct loop_ep *ep = loop_op_ep(op);
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	list_del(&op->op.entry);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	loop_ep_put(op->target);
}

/* To the sender, a target that ends at this moment resets the connection */
static int loop_target_error(int ret)
{
	return ret == -ESHUTDOWN ? -ECONNRESET : ret;
}

static int loop_arrive(struct loop_op *op, struct loop_ep *target,
		       struct kofi_rx **rx)
{
	bool park = loop_op_ep(op)->type == FI_EP_RDM || op->op.kept.type == FI_OP_TSEND;
	const struct kofi_srx_arrival what = {
		.ep		= &target->soft.kep,
		.flags		= (op->op.kept.type == FI_OP_TSEND ? FI_TAGGED : FI_MSG) |
				  (op->op.kept.flags & (FI_REMOTE_CQ_DATA | FI_REMOTE_INV)),
		.tag		= op->op.kept.tag,
		.src_addr	= loop_peer(target, loop_op_ep(op)),
		.source		= loop_source(target, loop_op_ep(op)),
		.len		= op->op.kept.len,
		.data		= op->op.kept.data,
	};
	int ret;

	if (park)
		loop_park(op, target);
	ret = kofi_srx_arrive(target->soft.srx, &what, park ? &op->msg : NULL,
			      rx);
	if (park && ret != KOFI_SRX_QUEUED)
		loop_unpark(op);
	return ret;
}

/* End the key that a message names (FI_REMOTE_INV), once, even if the message has to wait */
static int loop_invalidate(struct loop_op *op, struct loop_ep *target)
{
	struct kofi_kept_op *kept = &op->op.kept;
	int ret;

	if (likely(!(kept->flags & FI_REMOTE_INV)) || kept->ended)
		return 0;
	ret = kofi_mr_invalidate(&target->soft.domain->mrs.map, &target->soft.kep.ep, kept->data);
	kept->ended = !ret;
	return ret;
}

/* -EINPROGRESS: the operation is not the worker's any more; -EAGAIN: the endpoint waits */
static int loop_message(struct loop_op *op, struct loop_ep *target)
{
	struct loop_ep *ep = loop_op_ep(op);
	struct kofi_rx *rx;
	int ret;

	ret = loop_invalidate(op, target);
	if (ret)
		return ret;
	ret = loop_arrive(op, target, &rx);
	if (ret == -EAGAIN) {
		loop_wait_enter(ep, target->waiters, target);
		ret = loop_arrive(op, target, &rx);
		if (ret != -EAGAIN)
			loop_wait_leave(ep);
	}
	if (ret == KOFI_SRX_QUEUED)
		return -EINPROGRESS;
	if (ret == KOFI_SRX_MATCHED)
		loop_deliver(op, rx);
	return loop_target_error(ret);
}

/*
 * Saves of messages (FI_SAVE).  The worker takes operations in the order of posting, so earlier
 * messages are delivered already, except those that were parked.  A save waits for the earlier
 * messages that are parked or matched.  Operations behind a save do not wait for it.
 */

static void loop_save_messages(struct loop_op *op, struct loop_ep *target)
{
	struct loop_ep *ep = loop_op_ep(op);

	kofi_soft_ep_get(&target->soft);
	op->target = target;
	op->parked = ep->parkings;
	list_add_tail(&op->op.entry, &ep->saves);
}

static bool loop_has_earlier(struct list_head *messages, const struct loop_op *save)
{
	struct loop_op *op;

	list_for_each_entry(op, messages, op.entry)
		if (op->parked <= save->parked && op->target == save->target &&
		    op->op.kept.type == save->op.kept.type)
			return true;
	return false;
}

static bool loop_save_waits(struct loop_ep *ep, const struct loop_op *save)
{
	unsigned long flags;
	bool ret;

	spin_lock_irqsave(&ep->soft.lock, flags);
	ret = !ep->soft.over && (loop_has_earlier(&ep->parked, save) ||
				 loop_has_earlier(&ep->matched, save));
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return ret;
}

/* Ends the saves that need not wait any more; returns whether there was one */
static bool loop_end_saves(struct loop_ep *ep)
{
	struct loop_op *op, *next;
	struct loop_ep *target;
	bool ended = false;
	int err;

	list_for_each_entry_safe(op, next, &ep->saves, op.entry) {
		if (loop_save_waits(ep, op))
			continue;
		target = op->target;
		err = kofi_conn_check(&target->soft.kep.conn, false) ? ECONNRESET : 0;
		list_del(&op->op.entry);
		kofi_soft_op_done(&op->op, READ_ONCE(ep->soft.over) ? ECANCELED : err);
		loop_ep_put(target);
		ended = true;
	}
	return ended;
}

/* Reads, writes and atomic operations */

static struct kofi_soft_event *loop_event_get(struct loop_op *op,
					      struct loop_ep *target)
{
	struct kofi_soft_event *event = kofi_soft_event_get(&target->soft);

	if (!event) {
		loop_wait_enter(loop_op_ep(op), &target->event_waiters, target);
		event = kofi_soft_event_get(&target->soft);
		if (event)
			loop_wait_leave(loop_op_ep(op));
	}
	return event;
}

/* Remote CQ data need a completion of the target; -EAGAIN: the endpoint waits for one */
static int loop_access(struct loop_op *op, struct loop_ep *target)
{
	struct kofi_soft_event *event = NULL;
	int ret;

	if (!kofi_soft_is_target(&target->soft))
		return -EACCES;
	if (op->op.kept.flags & FI_REMOTE_CQ_DATA) {
		event = loop_event_get(op, target);
		if (!event)
			return -EAGAIN;
	}
	ret = kofi_execute(&op->op.kept, &target->soft.kep, &target->soft.domain->mrs.map);
	if (event && ret)
		kofi_soft_event_put(&target->soft, event);
	else if (event)
		kofi_soft_event_report(event, &target->soft, op->op.kept.len,
				       op->op.kept.data,
				       loop_source(target, loop_op_ep(op)));
	return ret;
}

/* A read or a write of the memory of a tagged receive */
static int loop_tagged_access(struct loop_op *op, struct loop_ep *target)
{
	const struct kofi_kept_op *kept = &op->op.kept;
	bool read = kept->type == FI_OP_READ;
	const struct kofi_srx_arrival what = {
		.ep		= &target->soft.kep,
		.flags		= FI_TAGGED | FI_RMA | (read ? FI_READ : FI_WRITE) |
				  (kept->flags & FI_REMOTE_CQ_DATA),
		.tag		= kept->tag,
		.src_addr	= loop_peer(target, loop_op_ep(op)),
		.source		= loop_source(target, loop_op_ep(op)),
		.len		= kept->len,
		.data		= kept->data,
	};
	struct kofi_rx *rx;
	int ret;

	ret = kofi_srx_take(target->soft.srx, &what, &rx);
	if (ret)
		return loop_target_error(ret);
	loop_copy(op, rx, read);
	kofi_rx_complete(rx);
	return 0;
}

/* The worker */

/* Have the client of the target called for what has completed there */
static void loop_unplug_at(struct loop_ep *ep)
{
	struct loop_ep *target = ep->plugged_at;

	if (!target)
		return;
	ep->plugged_at = NULL;
	kofi_cq_unplug(target->soft.kep.rx.cq);
	loop_ep_put(target);
}

/*
 * Returns the receive context of an index, with a reference, and gives back the reference to
 * @target.  An endpoint that is not scalable is its own context 0.  NULL: there is no such
 * context.
 */
static struct loop_ep *loop_target_ctx(struct loop_ep *target, u32 index)
{
	struct kofi_soft_ep *ctx = NULL;

	if (!target->soft.ctxs && !index)
		return target;
	if (target->soft.ctxs && !kofi_conn_check(&target->soft.kep.conn, false))
		ctx = kofi_soft_rx_ctx(&target->soft, index);
	loop_ep_put(target);
	return ctx ? to_loop_soft(ctx) : NULL;
}

/* The endpoint that an operation goes to, with a reference; an ERR_PTR if there is none */
static struct loop_ep *loop_target(struct loop_op *op)
{
	struct loop_ep *ep = loop_op_ep(op), *target;
	struct kofi_av *av = kofi_soft_av(&ep->soft);
	struct sockaddr_storage addr;
	unsigned long flags;

	if (ep->type == FI_EP_MSG) {
		spin_lock_irqsave(&ep->soft.lock, flags);
		target = ep->peer;
		if (target)
			kofi_soft_ep_get(&target->soft);
		spin_unlock_irqrestore(&ep->soft.lock, flags);
		return target ? : ERR_PTR(-ECANCELED);
	}
	if (!kofi_av_addr(av, op->op.kept.addr, &addr))
		return ERR_PTR(-EINVAL);
	target = loop_find_ep(READ_ONCE(ep->soft.domain->fabric->net), &addr);
	if (target)
		target = loop_target_ctx(target, kofi_av_rx_index(av, op->op.kept.addr));
	if (!target)
		return ERR_PTR(-ECONNREFUSED);
	if (!kofi_conn_check(&target->soft.kep.conn, false))
		return target;
	loop_ep_put(target);
	return ERR_PTR(-ECONNREFUSED);
}

/* Put off the calls of the target's client, if the next operation goes to another one */
static void loop_plug_at(struct loop_ep *ep, struct loop_ep *target)
{
	struct kofi_cq *cq = target->soft.kep.rx.cq;

	if (ep->plugged_at == target)
		return;
	loop_unplug_at(ep);
	if (!cq || !kofi_cq_plug(cq))
		return;
	kofi_soft_ep_get(&target->soft);
	ep->plugged_at = target;
}

/* Returns an error code as loop_message() does */
static int loop_execute(struct loop_op *op)
{
	struct loop_ep *target = loop_target(op);
	int ret;

	if (IS_ERR(target))
		return PTR_ERR(target);
	loop_plug_at(loop_op_ep(op), target);
	if (op->op.kept.flags & FI_TAGGED) {
		ret = loop_tagged_access(op, target);
	} else if (op->op.kept.type != FI_OP_SEND && op->op.kept.type != FI_OP_TSEND) {
		ret = loop_access(op, target);
	} else if (op->op.kept.flags & FI_SAVE) {
		loop_save_messages(op, target);
		ret = -EINPROGRESS;
	} else {
		ret = loop_message(op, target);
	}
	loop_ep_put(target);
	return ret;
}

/*
 * Takes the next operation out of its list.  NULL: there is none, or it has FI_FENCE and waits
 * for parked messages or saves.
 */
static struct loop_op *loop_next(struct loop_ep *ep)
{
	struct loop_op *op;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	op = list_first_entry_or_null(&ep->matched, struct loop_op, op.entry);
	if (!op) {
		op = list_first_entry_or_null(&ep->soft.posted, struct loop_op,
					      op.entry);
		if (op && op->op.kept.flags & FI_FENCE && !ep->soft.over &&
		    !(list_empty(&ep->parked) && list_empty(&ep->saves)))
			op = NULL;
	}
	if (op)
		list_del(&op->op.entry);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return op;
}

static void loop_put_back(struct loop_op *op)
{
	struct loop_ep *ep = loop_op_ep(op);
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	list_add(&op->op.entry, &ep->soft.posted);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/* A parked message, with a reference to its target; NULL: none, or the endpoint is not over */
static struct loop_op *loop_parked(struct loop_ep *ep, struct loop_ep **target)
{
	struct loop_op *op = NULL;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	if (ep->soft.over)
		op = list_first_entry_or_null(&ep->parked, struct loop_op,
					      op.entry);
	if (op) {
		*target = op->target;
		kofi_soft_ep_get(&op->target->soft);
	}
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return op;
}

/* Takes the parked messages back if the endpoint is over */
static void loop_withdraw(struct loop_ep *ep)
{
	struct loop_ep *target;
	struct loop_op *op;

	while ((op = loop_parked(ep, &target))) {
		/* If false, loop_start() or loop_discard() has taken it out of the list */
		if (kofi_srx_withdraw(target->soft.srx, &op->msg)) {
			loop_unpark(op);
			kofi_soft_op_done(&op->op, ECANCELED);
		}
		loop_ep_put(target);
	}
}

/* Put off the calls of the endpoint's client, if it sends at all, and of its peer's */
static void loop_plug(struct loop_ep *ep)
{
	struct kofi_cq *cq = ep->soft.kep.tx.cq;
	struct loop_ep *peer;
	unsigned long flags;

	ep->plugged = cq && kofi_cq_plug(cq);
	spin_lock_irqsave(&ep->soft.lock, flags);
	peer = ep->peer;
	if (peer)
		kofi_soft_ep_get(&peer->soft);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	if (!peer)
		return;
	loop_plug_at(ep, peer);
	loop_ep_put(peer);
}

/* Have the clients called for what has completed; returns whether they have posted something */
static bool loop_report(struct loop_ep *ep)
{
	kofi_soft_begin_calls(&ep->soft);
	loop_unplug_at(ep);
	if (ep->plugged)
		kofi_cq_unplug(ep->soft.kep.tx.cq);
	ep->plugged = false;
	return kofi_soft_end_calls(&ep->soft);
}

/**
 * struct loop_done - What has been done since the clients were called last
 * @ops: operations
 * @bytes: bytes of them
 */
struct loop_done {
	unsigned int	ops;
	size_t		bytes;
};

/* Reports what has completed, and goes on, if it has been enough */
static void loop_turn(struct loop_ep *ep, struct loop_done *done)
{
	if (done->ops < LOOP_TURN_OPS && done->bytes < LOOP_TURN_BYTES)
		return;
	*done = (struct loop_done) {};
	loop_report(ep);
	loop_plug(ep);
	cond_resched();
}

/* Delivers a matched message or executes a posted operation; false: none, or it has to wait */
static bool loop_run_one(struct loop_ep *ep, struct loop_done *done)
{
	struct loop_op *op = loop_next(ep);
	struct loop_ep *target;
	int ret;

	if (!op)
		return false;
	done->ops++;
	done->bytes += op->op.kept.len;
	if (op->rx) {
		target = op->target;
		loop_deliver(op, op->rx);
		op->rx = NULL;
		kofi_soft_op_done(&op->op, 0);
		loop_ep_put(target);
		return true;
	}
	ret = READ_ONCE(ep->soft.over) ? -ECANCELED : loop_execute(op);
	if (ret == -EAGAIN) {
		loop_put_back(op);
		return false;
	}
	if (ret != -EINPROGRESS)
		kofi_soft_op_done(&op->op, -ret);
	return true;
}

#define LOOP_NOT_PLAIN	(FI_FENCE | FI_SAVE | FI_REMOTE_CQ_DATA | FI_REMOTE_INV)

/* Is it an untagged message that has one buffer, and no data? */
static bool loop_is_plain(const struct kofi_kept_op *kept)
{
	return kept->type == FI_OP_SEND && !(kept->flags & LOOP_NOT_PLAIN) &&
	       kept->len <= KOFI_SOFT_DELIVER && kept->local.count == 1 && !kept->local.pages;
}

static bool loop_receive_plain(struct kofi_soft_ep *to, const struct kofi_kept_op *kept)
{
	struct kofi_rx *rx = kofi_srx_take_plain(to->srx, &to->kep);

	if (rx)
		kofi_rx_receive(rx, &to->kep, kept->local.kvec[0].iov_base, kept->len);
	return rx;
}

/* The peer receives the message that is next, as within a call; false: loop_run_one() decides */
static bool loop_run_plain(struct loop_ep *ep, struct loop_done *done)
{
	struct kofi_soft_op *op;
	bool received = false;
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	op = list_first_entry_or_null(&ep->soft.posted, struct kofi_soft_op, entry);
	if (op && ep->peer && list_empty(&ep->matched) && loop_is_plain(&op->kept) &&
	    loop_peer_may_receive(ep))
		received = loop_receive_plain(&ep->peer->soft, &op->kept);
	if (received)
		list_del(&op->entry);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	if (!received)
		return false;
	done->ops++;
	done->bytes += op->kept.len;
	kofi_soft_op_done(op, 0);
	return true;
}

/* Delivers matched messages and executes posted operations, until one has to wait */
static void loop_run(struct loop_ep *ep)
{
	struct loop_done done = {};

	loop_wait_leave(ep);
	while (loop_run_plain(ep, &done) || loop_run_one(ep, &done))
		loop_turn(ep, &done);
}

/* Takes the turn; or false: the task that has it looks again */
static bool loop_begin(struct loop_ep *ep)
{
	unsigned long flags;
	bool busy;

	spin_lock_irqsave(&ep->soft.lock, flags);
	busy = ep->busy;
	if (busy)
		ep->again = true;
	ep->busy = true;
	loop_set_receiver(ep);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	return !busy;
}

/* Lets go of the turn, unless there is more to do, or @again says so, and @may allows another */
static bool loop_end_turn(struct loop_ep *ep, bool again, bool may)
{
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	again |= ep->again;
	ep->again = false;
	ep->busy = again && may;
	loop_set_receiver(ep);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	if (again && !may)
		kofi_soft_kick(&ep->soft);
	return !again || !may;
}

/* @worker: the caller is the worker, which lets others run; a call of the client goes on */
static void loop_turns(struct loop_ep *ep, bool worker)
{
	int turns = LOOP_TURNS;
	bool again;

	if (!loop_begin(ep))
		return;
	do {
		loop_withdraw(ep);
		loop_plug(ep);
		/* A fence may have waited only for a save that has ended now */
		do {
			loop_run(ep);
		} while (loop_end_saves(ep));
		again = loop_report(ep);
		/* Workers that call clients may post, so let them run first */
		if (worker)
			cond_resched();
	} while (!loop_end_turn(ep, again, --turns));
}

/*
 * kofi_soft_type.now.  With other operations in flight the worker is about to run, and reports them
 * together, which takes less than to wake the clients for each.
 */
void loop_now(struct kofi_soft_ep *soft)
{
	if (kofi_bufpool_busy(&soft->slots) > 1)
		kofi_soft_kick_posted(soft);
	else
		loop_turns(to_loop_soft(soft), false);
}

void loop_work(struct work_struct *work)
{
	loop_turns(container_of(work, struct loop_ep, soft.work), true);
}
