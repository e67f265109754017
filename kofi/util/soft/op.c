// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Operations of providers that move the data themselves: from the call of the client until
 * the provider takes them, and their completions; see kofi/soft.h.
 *
 * Data transfers come to kofi_soft_post(), which hands receives to kofi_srx_post().  fi_send() and
 * fi_recv() come to kofi_soft_send() and kofi_soft_recv(), which know in advance what most of
 * them are, and leave all others to kofi_soft_post().
 * The completion of fi_mr_disable() is an operation, too; it waits for accesses and not for the
 * worker.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <kofi/pages.h>
#include <kofi/provider.h>
#include <kofi/xfer.h>
#include "soft.h"

/* No slot is free: allocate more if the endpoint may have more; as kofi_soft_op_get() */
static struct kofi_soft_op *kofi_soft_op_get_more(struct kofi_soft_ep *ep)
{
	int more = kofi_bufpool_grow(&ep->slots);
	struct kofi_soft_op *op;

	if (more < 0)
		kofi_ep_want_later(&ep->kep.tx);
	op = more > 0 ? kofi_bufpool_get(&ep->slots) : NULL;
	if (op)
		return op;
	kofi_waiter_note(&ep->kep.tx.room);
	return kofi_bufpool_get(&ep->slots);
}

/* Take a slot; NULL: there is none, and the ready callback will be due */
static struct kofi_soft_op *kofi_soft_op_get(struct kofi_soft_ep *ep)
{
	return kofi_bufpool_get(&ep->slots) ? : kofi_soft_op_get_more(ep);
}

/* Give a slot back.  The endpoint may be closing; its close waits until the pool is done with it */
static void kofi_soft_op_put(struct kofi_soft_op *op)
{
	kofi_bufpool_put(&op->ep->slots, op);
}

static int kofi_soft_op_fill(struct kofi_soft_op *op, const struct fi_xfer *xfer, u64 flags)
{
	struct kofi_ep *kep = &op->ep->kep;

	op->comp.comp = (struct kofi_comp) {
		.op_context	= kofi_ep_context(kep, &kep->tx, xfer->context),
		/* Only tagged reads and writes have FI_TAGGED as a flag */
		.flags		= kofi_xfer_comp_flags(xfer) | (flags & FI_TAGGED),
	};
	if (kofi_xfer_any_length(xfer) && !op->ep->max_rw_ops)
		return -ENOSYS;
	if (flags & op->ep->absent)
		return -EOPNOTSUPP;
	return kofi_keep_op(&op->kept, kep, xfer, flags);
}

/*
 * Begins an operation, unless the end of the endpoint has come.  @post: the operation goes to
 * kofi_soft_ep.posted, unless the provider has no room there.
 */
static __always_inline int kofi_soft_op_begin(struct kofi_soft_op *op, bool post)
{
	struct kofi_soft_ep *ep = op->ep;
	int ret;

	lockdep_assert_held(&ep->hub->lock);
	if (ep->over || ep->hub->over) {
		ret = kofi_conn_check(&ep->kep.conn, true);
		return ret ? : kofi_conn_check(&ep->hub->kep.conn, true);
	}
	if (op->kept.sgl && !kofi_credit_take(&ep->rw_credit))
		return -EAGAIN;
	if (post && ep->type->admit && !ep->type->admit(op)) {
		/* Nobody waits for this credit, as the lock was held since it was taken */
		if (op->kept.sgl)
			kofi_credit_give(&ep->rw_credit);
		ep->refused = true;
		atomic_long_inc(&ep->kep.tx.again);
		return -EAGAIN;
	}
	kofi_soft_ep_get(ep);
	return 0;
}

void kofi_soft_admit_again(struct kofi_soft_ep *ep)
{
	lockdep_assert_held(&ep->hub->lock);
	if (!ep->refused)
		return;
	ep->refused = false;
	kofi_waiter_want(&ep->kep.tx.room);
	if (kofi_bufpool_has_locked(&ep->slots))
		kofi_waiter_call(&ep->kep.tx.room);
}
EXPORT_SYMBOL_GPL(kofi_soft_admit_again);

/* Is the caller a callback of the endpoint's queues?  Process context */
static bool kofi_soft_in_callback(const struct kofi_soft_ep *ep)
{
	const struct kofi_cq *tx = ep->kep.tx.cq, *rx = ep->kep.rx.cq;

	return (tx && READ_ONCE(tx->runner) == current) || (rx && READ_ONCE(rx->runner) == current);
}

/*
 * Has the provider take what is posted, and gives a reference back.  If a callback has posted it,
 * and other operations have slots, their callbacks are likely to post, too: the worker takes all of
 * them together.
 */
static void kofi_soft_take(struct kofi_soft_ep *ep)
{
	if (!ep->type->now_any && kofi_soft_in_callback(ep) && kofi_bufpool_busy(&ep->slots) > 1)
		kofi_soft_kick(ep->hub);
	else
		ep->type->now(ep->hub);
	kofi_soft_ep_put(ep);
}

/*
 * Puts an operation into the list.  *@now: kofi_soft_take() is due when the lock has been released,
 * and has a reference, as the endpoint may go when the operation is over
 */
static __always_inline int kofi_soft_op_enter(struct kofi_soft_op *op, bool *now)
{
	struct kofi_soft_ep *ep = op->ep, *hub = ep->hub;
	int ret;

	*now = false;
	ret = kofi_soft_op_begin(op, true);
	if (ret)
		return ret;
	list_add_tail(&op->entry, &hub->posted);
	hub->receiver = NULL;
	kofi_ep_posted(&ep->kep, op->comp.comp.flags, op->comp.comp.op_context, op->kept.len);
	if (kofi_soft_is_caller(hub)) {
		WRITE_ONCE(hub->again, true);
	} else if (!ep->type->now || !(ep->type->now_any || ep->kep.may_sleep)) {
		kofi_soft_kick(hub);
	} else {
		kofi_soft_ep_get(ep);
		*now = true;
	}
	return 0;
}

static int kofi_soft_op_queue(struct kofi_soft_op *op)
{
	struct kofi_soft_ep *ep = op->ep;
	unsigned long flags;
	bool now;
	int ret;

	spin_lock_irqsave(&ep->hub->lock, flags);
	ret = kofi_soft_op_enter(op, &now);
	spin_unlock_irqrestore(&ep->hub->lock, flags);
	if (now)
		kofi_soft_take(ep);
	return ret;
}

static ssize_t kofi_soft_post(struct fid_ep *fid_ep, const struct fi_xfer *xfer)
{
	struct kofi_soft_ep *ep = to_kofi_soft_ep(&fid_ep->fid);
	struct kofi_ep *kep = &ep->kep;
	struct kofi_soft_op *op;
	u64 flags;
	int ret;

	ret = kofi_xfer_check(kep, xfer, &flags);
	if (ret)
		goto refuse;
	ret = kofi_conn_check(&kep->conn, !kofi_xfer_is_recv(xfer));
	if (ret)
		goto refuse;
	if (kofi_xfer_is_recv(xfer)) {
		ret = kofi_srx_post(&ep->own_srx, xfer, flags);
		if (ret)
			goto refuse;
		return 0;
	}
	/* A context uses the address vector of its scalable endpoint */
	if (ep->sep)
		ret = kofi_conn_check(&ep->sep->kep.conn, true);
	if (ret)
		goto refuse;
	op = kofi_soft_op_get(ep);
	if (!op)
		return -EAGAIN;
	ret = kofi_soft_op_fill(op, xfer, flags);
	if (!ret)
		ret = kofi_soft_op_queue(op);
	if (!ret)
		return 0;
	kofi_soft_op_put(op);
refuse:
	return kofi_xfer_refuse(kep, xfer, ret);
}

/* Return true if kofi_soft_post() would accept a message of one buffer with the default @flags */
static __always_inline bool kofi_soft_is_usual(const struct kofi_soft_ep *ep, u64 flags,
					       const void *buf, size_t len)
{
	const struct kofi_ep *kep = &ep->kep;

	return !kofi_conn_check(&kep->conn, true) &&
	       !(flags & (~kep->xfer_flags[FI_OP_SEND] | FI_INJECT | ep->absent)) &&
	       len && len <= kep->max_msg_size && kofi_is_ram(buf, len);
}

/* The peer receives a message, if it has a receive; false: the worker executes it */
static __always_inline bool kofi_soft_deliver(struct kofi_soft_ep *ep, void *context,
					      const void *buf, size_t len)
{
	struct kofi_soft_ep *to = ep->receiver;
	struct kofi_rx *rx;

	lockdep_assert_held(&ep->hub->lock);
	/* A softirq that a task would have to start wakes ksoftirqd */
	if (!to || len > KOFI_SOFT_DELIVER || (ep->in_softirq && !in_serving_softirq()))
		return false;
	rx = kofi_srx_take_plain(to->srx, &to->kep);
	if (!rx)
		return false;
	kofi_ep_posted(&ep->kep, FI_MSG | FI_SEND, context, len);
	kofi_rx_receive(rx, &to->kep, buf, len);
	return true;
}

static ssize_t kofi_soft_send(struct fid_ep *fid_ep, const void *buf, size_t len, void *desc,
			      fi_addr_t dest_addr, void *context)
{
	struct kofi_soft_ep *ep = to_kofi_soft_ep(&fid_ep->fid);
	struct kofi_ep *kep = &ep->kep;
	u64 flags = kofi_ep_flags(&kep->tx, READ_ONCE(kep->tx.op_flags));
	struct kofi_soft_op *op;
	struct kofi_comp *comp;
	unsigned long irq_flags;
	bool now;
	int ret;

	if (unlikely(!kofi_soft_is_usual(ep, flags, buf, len)))
		goto describe;
	spin_lock_irqsave(&ep->lock, irq_flags);
	if (unlikely(!ep->slots.nfree)) {
		spin_unlock_irqrestore(&ep->lock, irq_flags);
		goto describe;
	}
	/* The endpoint is no context, and so its own hub */
	op = kofi_bufpool_get_locked(&ep->slots);
	comp = &op->comp.comp;
	comp->op_context = kofi_ep_context(kep, &kep->tx, context);
	comp->flags = FI_MSG | FI_SEND;
	comp->error = 0;
	comp->len = 0;
	comp->buf = NULL;
	comp->data = 0;
	if (kofi_soft_deliver(ep, comp->op_context, buf, len)) {
		if (likely(flags & FI_COMPLETION))
			kofi_cq_complete_success(kep->tx.cq, comp);
		spin_unlock_irqrestore(&ep->lock, irq_flags);
		if (unlikely(!(flags & FI_COMPLETION)))
			kofi_soft_op_put(op);
		kofi_ep_count(kep, FI_MSG | FI_SEND, 0, len);
		return 0;
	}
	kofi_keep_buf(&op->kept, buf, len, dest_addr, flags);
	ret = kofi_soft_op_enter(op, &now);
	spin_unlock_irqrestore(&ep->lock, irq_flags);
	if (unlikely(now))
		kofi_soft_take(ep);
	if (likely(!ret))
		return 0;
	kofi_soft_op_put(op);
	if (ret == -EAGAIN)
		return ret;
describe:
	return kofi_xfer_send(fid_ep, buf, len, desc, dest_addr, context);
}

static ssize_t kofi_soft_recv(struct fid_ep *fid_ep, void *buf, size_t len, void *desc,
			      fi_addr_t src_addr, void *context)
{
	struct kofi_soft_ep *ep = to_kofi_soft_ep(&fid_ep->fid);

	if (unlikely(kofi_conn_check(&ep->kep.conn, false)))
		return kofi_xfer_recv(fid_ep, buf, len, desc, src_addr, context);
	return kofi_srx_post_buf(&ep->own_srx, buf, len, desc, src_addr, context);
}

static int kofi_soft_atomicvalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
				 u64 form, size_t *count)
{
	const struct kofi_ep *kep = to_kofi_ep(&ep->fid);
	size_t size;
	int ret;

	if (!(kep->xfers & BIT(FI_OP_ATOMIC)))
		return fi_no_atomicvalid(ep, datatype, op, form, count);
	ret = kofi_atomic_valid(datatype, op, form, &size);
	if (!ret)
		*count = kep->limits->max_atomic_size / size;
	return ret;
}

#define KOFI_SOFT_XFER_OPS(soft_send, soft_recv) {	\
	.size		= sizeof(struct fi_ops_xfer),	\
	.send		= soft_send,			\
	.recv		= soft_recv,			\
	.read		= kofi_xfer_read,		\
	.write		= kofi_xfer_write,		\
	.post		= kofi_soft_post,		\
	.atomicvalid	= kofi_soft_atomicvalid,	\
}

/* By whether the endpoint has messages to send, and receives of its own */
static const struct fi_ops_xfer kofi_soft_xfer_ops[2][2] = {
	{ KOFI_SOFT_XFER_OPS(kofi_xfer_send, kofi_xfer_recv),
	  KOFI_SOFT_XFER_OPS(kofi_xfer_send, kofi_soft_recv) },
	{ KOFI_SOFT_XFER_OPS(kofi_soft_send, kofi_xfer_recv),
	  KOFI_SOFT_XFER_OPS(kofi_soft_send, kofi_soft_recv) },
};

/*
 * Give the endpoint the operations that the client has asked for and the provider has.  What a
 * context sends is always described, as its scalable endpoint has a say.
 */
void kofi_soft_set_xfers(struct kofi_ep *kep)
{
	u64 caps = kep->caps;
	bool send, recv;

	if (!kep->limits->trecv_flags)
		caps &= ~FI_TAGGED;
	if (!kep->limits->max_atomic_size)
		caps &= ~FI_ATOMIC;
	kofi_ep_set_xfers(kep, caps);
	send = kep->xfers & BIT(FI_OP_SEND) && kep->ep.fid.fclass == FI_CLASS_EP;
	recv = kep->xfers & BIT(FI_OP_RECV);
	kep->ep.xfer = &kofi_soft_xfer_ops[send][recv];
}

/* Completions */

void kofi_soft_op_done(struct kofi_soft_op *op, int err)
{
	struct kofi_soft_ep *ep = op->ep;
	u64 comp_flags = op->comp.comp.flags;
	size_t len = op->kept.len;

	if (op->kept.sgl)
		kofi_credit_give(&ep->rw_credit);
	op->comp.comp.err = err;
	op->comp.comp.prov_errno = err;
	if (err && ep->kep.conn.connless) {
		op->comp.comp.flags |= KOFI_COMP_MSG;
		op->comp.msg = (struct fi_done_msg) { .src_addr = op->kept.addr };
	}
	if (err || op->kept.flags & FI_COMPLETION)
		kofi_cq_complete(ep->kep.tx.cq, &op->comp.comp);
	else
		kofi_soft_op_put(op);
	kofi_ep_count(&ep->kep, comp_flags, err, len);
	kofi_soft_ep_put(ep);
}
EXPORT_SYMBOL_GPL(kofi_soft_op_done);

void kofi_soft_ops_done(struct kofi_soft_op *const *ops, unsigned int count)
{
	struct kofi_soft_ep *ep = ops[0]->ep;
	struct kofi_cq_batch *batch = kofi_cq_plug_batch(ep->kep.tx.cq);
	struct kofi_soft_op *op;
	unsigned int i;
	u64 comp_flags;
	size_t len;

	for (i = 0; i < count; i++) {
		op = ops[i];
		comp_flags = op->comp.comp.flags;
		len = op->kept.len;
		if (unlikely(op->kept.sgl))
			kofi_credit_give(&ep->rw_credit);
		op->comp.comp.error = 0;
		if (unlikely(!(op->kept.flags & FI_COMPLETION)))
			kofi_soft_op_put(op);
		else if (likely(batch))
			kofi_cq_batch_add(batch, &op->comp.comp);
		else
			kofi_cq_complete(ep->kep.tx.cq, &op->comp.comp);
		kofi_ep_count(&ep->kep, comp_flags, 0, len);
	}
	kofi_soft_ep_put_many(ep, count);
}
EXPORT_SYMBOL_GPL(kofi_soft_ops_done);

void kofi_soft_event_report(struct kofi_soft_event *event, struct kofi_soft_ep *ep,
			    size_t len, u64 data, fi_addr_t src_addr)
{
	struct kofi_ep *kep = &ep->kep;

	event->comp.comp = (struct kofi_comp) {
		.op_context	= kofi_ep_context(kep, &kep->rx, NULL),
		.flags		= FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA |
				  KOFI_COMP_MSG,
		.len		= len,
		.data		= data,
	};
	event->comp.msg = (struct fi_done_msg) { .src_addr = src_addr };
	kofi_cq_complete(kep->rx.cq, &event->comp.comp);
}
EXPORT_SYMBOL_GPL(kofi_soft_event_report);

/* Receives, events and operations are objects of a pool each */
static struct kofi_bufpool *kofi_soft_pool(const struct kofi_comp *comp)
{
	return container_of(comp, struct kofi_msg_comp, comp)->pool;
}

/* Those of one pool that follow each other go back with one hold of its lock */
void kofi_soft_release(struct kofi_comp *comp)
{
	struct kofi_bufpool *pool;
	struct kofi_comp *next;
	unsigned long flags;

	/* An object of each kind begins with its completion */
	BUILD_BUG_ON(offsetof(struct kofi_rx, comp.comp) ||
		     offsetof(struct kofi_soft_event, comp.comp) ||
		     offsetof(struct kofi_soft_op, comp.comp));
	do {
		pool = kofi_soft_pool(comp);
		kofi_bufpool_begin_put(pool, &flags);
		do {
			next = comp->next;
			kofi_bufpool_put_next(pool, comp);
			comp = next;
		} while (comp && kofi_soft_pool(comp) == pool);
		kofi_bufpool_end_put(pool, flags);
	} while (comp);
}

bool kofi_soft_comp_is_of(struct kofi_comp *comp, void *owner)
{
	const struct kofi_bufpool *pool = kofi_soft_pool(comp);
	struct kofi_soft_ep *ep = owner;

	/* A shared receive context has the receives of several endpoints */
	if (kofi_comp_is_rx(comp))
		return to_kofi_rx(comp)->ep == &ep->kep;
	return pool == &ep->slots || pool == &ep->events;
}

/* Regions of an endpoint: fi_mr_disable() completes when all accesses are over */

static struct kofi_soft_ep *kofi_soft_mr_ep(const struct kofi_mr *mr)
{
	return to_kofi_soft_ep((struct fid *)&mr->ep->fid);
}

static int kofi_soft_may_register(const struct kofi_mr_map *map)
{
	const struct kofi_soft_domain *domain =
		container_of(map, struct kofi_soft_domain, mrs.map);

	return READ_ONCE(domain->fabric->net) ? 0 : -ENODEV;
}

static int kofi_soft_mr_enable(struct kofi_mr *mr)
{
	return kofi_conn_check(&kofi_soft_mr_ep(mr)->kep.conn, true);
}

static int kofi_soft_mr_disable(struct kofi_mr *mr, void *context, void **token)
{
	struct kofi_soft_ep *ep = kofi_soft_mr_ep(mr);
	struct kofi_soft_op *op;
	unsigned long flags;
	int ret;

	ret = kofi_conn_check(&ep->kep.conn, true);
	if (ret)
		return ret;
	op = kofi_soft_op_get(ep);
	if (!op)
		return -EAGAIN;
	op->kept.sgl = NULL;
	op->kept.len = 0;
	op->kept.flags = FI_COMPLETION;
	op->comp.comp = (struct kofi_comp) {
		.op_context	= kofi_ep_context(&ep->kep, &ep->kep.tx, context),
		.flags		= FI_RMA,
	};
	spin_lock_irqsave(&ep->hub->lock, flags);
	ret = kofi_soft_op_begin(op, false);
	spin_unlock_irqrestore(&ep->hub->lock, flags);
	if (ret)
		kofi_soft_op_put(op);
	else
		*token = op;
	return ret;
}

static void kofi_soft_mr_disabled(struct kofi_mr *mr, u64 key, void *token)
{
	struct kofi_soft_op *op = token;

	op->comp.comp.data = key;
	kofi_soft_op_done(op, 0);
}

const struct kofi_mr_ops kofi_soft_mr_ops = {
	.size		= sizeof(struct kofi_mr),
	.may_register	= kofi_soft_may_register,
	.enable		= kofi_soft_mr_enable,
	.disable	= kofi_soft_mr_disable,
	.disabled	= kofi_soft_mr_disabled,
};
