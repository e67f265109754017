// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Execution: the worker of an endpoint, and what its operations wait for.
 *
 * Life of an operation
 *
 *	posted		by kofi/soft.h, or put back by the worker, as it has to wait
 *	running		the worker has taken it out of its list
 *	parked		as an unexpected message of its target, which holds a reference
 *	matched		a receive was posted for it (loop_start())
 *	saving		it moves nothing, and waits until messages before it are delivered
 *	over		kofi_soft_op_done()
 *
 * Only the worker takes operations out of the lists, with two exceptions: a poster of
 * another endpoint moves a parked one to those that are matched, and a target that ends
 * discards it.  Both do so under the endpoint's lock.
 *
 * A worker that has to wait puts its endpoint into a list of the target (loop_wait_at())
 * and then tries once more, so it sees the room, or is kicked.  It keeps the target as
 * long as it waits; the end of the target kicks it, too.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include "loop.h"

/* Waiting for a target */

void loop_waiters_init(struct loop_waiters *waiters)
{
	spin_lock_init(&waiters->lock);
	INIT_LIST_HEAD(&waiters->list);
}

/* Each waiter looks again, and leaves the list itself.  Context: any */
void loop_waiters_wake(struct loop_waiters *waiters)
{
	struct loop_ep *ep;
	unsigned long flags;

	spin_lock_irqsave(&waiters->lock, flags);
	list_for_each_entry(ep, &waiters->list, waiting)
		loop_kick(ep);
	spin_unlock_irqrestore(&waiters->lock, flags);
}

static void loop_wait_at(struct loop_ep *ep, struct loop_waiters *waiters,
			 struct loop_ep *target)
{
	unsigned long flags;

	kofi_soft_ep_get(&target->soft);
	ep->waits_for = target;
	ep->waits_at = waiters;
	spin_lock_irqsave(&waiters->lock, flags);
	list_add_tail(&ep->waiting, &waiters->list);
	spin_unlock_irqrestore(&waiters->lock, flags);
}

static void loop_stop_waiting(struct loop_ep *ep)
{
	unsigned long flags;

	if (!ep->waits_at)
		return;
	spin_lock_irqsave(&ep->waits_at->lock, flags);
	list_del(&ep->waiting);
	spin_unlock_irqrestore(&ep->waits_at->lock, flags);
	ep->waits_at = NULL;
	loop_ep_put(ep->waits_for);
}

void loop_event_room(struct kofi_soft_ep *soft)
{
	loop_waiters_wake(&to_loop_soft(soft)->event_waiters);
}

/* Receives */

/* A receive was posted that takes a parked message */
static void loop_start(struct kofi_rx *rx, struct kofi_srx_msg *msg)
{
	struct loop_op *op = container_of(msg, struct loop_op, msg);
	struct loop_ep *ep = loop_op_ep(op);
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	op->rx = rx;
	list_move_tail(&op->op.entry, &ep->matched);
	loop_kick(ep);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/* The client has seen a parked message and does not want it, or the target has ended */
static void loop_discard(struct kofi_srx_msg *msg)
{
	struct loop_op *op = container_of(msg, struct loop_op, msg);
	struct loop_ep *ep = loop_op_ep(op), *target = op->target;
	int err = kofi_conn_check(&target->soft.kep.conn, false);
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	list_del(&op->op.entry);
	/* There may be a fence behind it */
	loop_kick(ep);
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

/* What receives of the target call the sender */
static fi_addr_t loop_peer(const struct loop_ep *target,
			   const struct loop_ep *ep)
{
	struct kofi_av *av = kofi_soft_av(&target->soft);

	if (!av || !(target->soft.kep.caps & FI_DIRECTED_RECV))
		return FI_ADDR_NOTAVAIL;
	return kofi_av_find(av, &ep->name.addr);
}

/* What receives of the target call the sender of a message that is parked there */
static fi_addr_t loop_sender(const struct kofi_srx_msg *msg)
{
	struct loop_op *op = container_of(msg, struct loop_op, msg);

	return loop_peer(op->target, loop_op_ep(op));
}

const struct kofi_srx_ops loop_srx_ops = {
	.start		= loop_start,
	.discard	= loop_discard,
	.resume		= loop_resume,
	.sender		= loop_sender,
};

/* Messages */

static void loop_deliver(struct loop_op *op, struct kofi_rx *rx)
{
	struct iov_iter to, from;

	kofi_rx_iter(rx, 0, &to);
	kofi_iov_iter(&op->op.kept.local, ITER_SOURCE, 0, kofi_rx_len(rx), &from);
	while (kofi_iov_copy(&to, &from, LOOP_COPY))
		cond_resched();
	kofi_rx_complete(rx);
}

/* What completions of the target call the sender */
static fi_addr_t loop_source(const struct loop_ep *target,
			     const struct loop_ep *ep)
{
	struct kofi_av *av = kofi_soft_av(&target->soft);

	if (!av || !(target->soft.kep.caps & FI_SOURCE))
		return FI_ADDR_NOTAVAIL;
	return kofi_av_source(av, &ep->name.addr);
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

static int loop_arrive(struct loop_op *op, struct loop_ep *target,
		       struct kofi_rx **rx)
{
	bool park = loop_op_ep(op)->type == FI_EP_RDM || op->op.kept.kind == KOFI_OP_TSEND;
	const struct kofi_srx_arrival what = {
		.ep		= &target->soft.kep,
		.flags		= (op->op.kept.kind == KOFI_OP_TSEND ? FI_TAGGED : FI_MSG) |
				  (op->op.kept.flags & FI_REMOTE_CQ_DATA),
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

/* -EINPROGRESS: the operation is not ours any more; -EAGAIN: the endpoint waits */
static int loop_message(struct loop_op *op, struct loop_ep *target)
{
	struct loop_ep *ep = loop_op_ep(op);
	struct kofi_rx *rx;
	int ret;

	ret = loop_arrive(op, target, &rx);
	if (ret == -EAGAIN) {
		loop_wait_at(ep, target->waiters, target);
		ret = loop_arrive(op, target, &rx);
		if (ret != -EAGAIN)
			loop_stop_waiting(ep);
	}
	if (ret == KOFI_SRX_QUEUED)
		return -EINPROGRESS;
	if (ret == KOFI_SRX_MATCHED)
		loop_deliver(op, rx);
	return ret == -ESHUTDOWN ? -ECONNRESET : ret;
}

/*
 * Saves of messages (FI_SAVE).  Messages that are delivered at once have been, as the worker
 * goes by the order of posting; those that were parked may have to be waited for.  What is
 * posted behind a save does not wait.
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
		    op->op.kept.kind == save->op.kept.kind)
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

/* Whether a save has ended */
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
		loop_wait_at(loop_op_ep(op), &target->event_waiters, target);
		event = kofi_soft_event_get(&target->soft);
		if (event)
			loop_stop_waiting(loop_op_ep(op));
	}
	return event;
}

/* What the target hears of it needs a completion; -EAGAIN: the endpoint waits for one */
static int loop_access(struct loop_op *op, struct loop_ep *target)
{
	struct kofi_soft_event *event = NULL;
	int ret;

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

/* The worker */

/*
 * The receive context of an index, with a reference instead of that of its scalable endpoint.
 * Any endpoint has one, 0.  NULL: the endpoint has no such context.
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

/* As loop_message() */
static int loop_execute(struct loop_op *op)
{
	struct loop_ep *target = loop_target(op);
	int ret;

	if (IS_ERR(target))
		return PTR_ERR(target);
	if (op->op.kept.kind != KOFI_OP_SEND && op->op.kept.kind != KOFI_OP_TSEND) {
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

/* The next operation, out of its list; NULL: there is none, or a fence is in front of it */
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

/* A parked message, with a reference to its target; the endpoint is over */
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

/* Takes back what is parked if the endpoint is over */
static void loop_withdraw(struct loop_ep *ep)
{
	struct loop_ep *target;
	struct loop_op *op;

	while ((op = loop_parked(ep, &target))) {
		/* Otherwise it has left the list when this returns */
		if (kofi_srx_withdraw(target->soft.srx, &op->msg)) {
			loop_unpark(op);
			kofi_soft_op_done(&op->op, ECANCELED);
		}
		loop_ep_put(target);
	}
}

/* Executes what is posted, until it has to wait */
static void loop_run(struct loop_ep *ep)
{
	struct loop_op *op;
	int ret;

	while ((op = loop_next(ep))) {
		if (op->rx) {
			struct loop_ep *target = op->target;

			loop_deliver(op, op->rx);
			op->rx = NULL;
			kofi_soft_op_done(&op->op, 0);
			loop_ep_put(target);
			continue;
		}
		ret = READ_ONCE(ep->soft.over) ? -ECANCELED : loop_execute(op);
		if (ret == -EAGAIN) {
			loop_put_back(op);
			break;
		}
		if (ret != -EINPROGRESS)
			kofi_soft_op_done(&op->op, -ret);
		cond_resched();
	}
}

void loop_work(struct work_struct *work)
{
	struct loop_ep *ep = container_of(work, struct loop_ep, soft.work);

	loop_stop_waiting(ep);
	loop_withdraw(ep);
	/* A fence may wait for a save only */
	do {
		loop_run(ep);
	} while (loop_end_saves(ep));
}
