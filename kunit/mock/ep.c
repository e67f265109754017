// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints of the mock provider: queues and messages.
 *
 * Each endpoint has MOCK_DEPTH slots per direction.  A slot is free, or posted
 * (a receive), or has arrived and waits for a receive (a send), or is in
 * mock->done.  The work completes what is in there, outside the lock, as a
 * device would; the slot is free again when its completion has been read.
 *
 * An endpoint that is closed takes its slots out of all these lists under the
 * lock, waits for the work, which may hold one more of them, and purges the
 * completion queues, which also waits for readers.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "priv.h"

static struct mock_ep *to_mock_ep(struct fid_ep *ep)
{
	return container_of(ep, struct mock_ep, ep);
}

static void mock_op_done(struct mock_op *op, int err)
{
	struct mock *mock = op->ep->obj.mock;

	lockdep_assert_held(&mock->lock);
	op->comp.err = err;
	op->comp.prov_errno = err;
	list_move_tail(&op->entry, &mock->done);
	schedule_work(&mock->work);
}

/* Its endpoint is open, as its close waits for the work; the counter, too */
static void mock_count(struct mock_ep *ep, bool send, int err, size_t len)
{
	kofi_cntr_done(send ? ep->tx_cntr : ep->rx_cntr, err, len);
}

/* The slot may be in use again as soon as its completion is in the queue */
static void mock_op_report(struct mock_op *op)
{
	bool send = op->free == &op->ep->tx_free;
	size_t len = send ? op->len : op->comp.len;
	struct mock_ep *ep = op->ep;
	int err = op->comp.err;

	kofi_cq_complete(op->cq, &op->comp);
	mock_count(ep, send, err, len);
}

static void mock_complete(struct mock *mock)
{
	struct mock_op *op;

	spin_lock_irq(&mock->lock);
	while ((op = list_first_entry_or_null(&mock->done, struct mock_op,
					      entry))) {
		if (op->silent && !op->comp.err) {
			list_move(&op->entry, op->free);
			mock_count(op->ep, true, 0, op->len);
			continue;
		}
		list_del_init(&op->entry);
		spin_unlock_irq(&mock->lock);
		mock_op_report(op);
		spin_lock_irq(&mock->lock);
	}
	spin_unlock_irq(&mock->lock);
}

static void mock_post_events(struct mock *mock)
{
	struct mock_event *event;

	spin_lock_irq(&mock->lock);
	while ((event = list_first_entry_or_null(&mock->posts,
						 struct mock_event, pending))) {
		list_del_init(&event->pending);
		spin_unlock_irq(&mock->lock);
		kofi_eq_post(event->eq, &event->event);
		spin_lock_irq(&mock->lock);
	}
	spin_unlock_irq(&mock->lock);
}

void mock_work(struct work_struct *work)
{
	struct mock *mock = container_of(work, struct mock, work);

	mock_post_events(mock);
	mock_complete(mock);
}

/* The completions of the chain have been read, or purged */
void mock_op_free(struct kofi_comp *chain)
{
	while (chain) {
		struct mock_op *op = container_of(chain, struct mock_op, comp);
		struct mock *mock = op->ep->obj.mock;
		unsigned long flags;

		chain = chain->next;
		spin_lock_irqsave(&mock->lock, flags);
		list_add(&op->entry, op->free);
		spin_unlock_irqrestore(&mock->lock, flags);
	}
}

/* A message meets a receive; both are done */
static void mock_deliver(struct mock_op *tx, struct mock_op *rx)
{
	size_t len = min(tx->len, rx->len);

	memcpy(rx->buf, tx->copy, len);
	rx->comp.len = len;
	rx->comp.flags = FI_MSG | FI_RECV;
	if (tx->has_data) {
		rx->comp.flags |= FI_REMOTE_CQ_DATA;
		rx->comp.data = tx->data;
	}
	mock_op_done(rx, tx->len > rx->len ? FI_ETRUNC : 0);
	mock_op_done(tx, 0);
}

static void mock_match(struct mock_ep *ep)
{
	while (!list_empty(&ep->arrived) && !list_empty(&ep->rx_posted))
		mock_deliver(list_first_entry(&ep->arrived, struct mock_op, entry),
			     list_first_entry(&ep->rx_posted, struct mock_op, entry));
}

static struct mock_op *mock_op_take(struct list_head *free, struct kofi_cq *cq,
				    void *context, u64 flags)
{
	struct mock_op *op;

	op = list_first_entry_or_null(free, struct mock_op, entry);
	if (!op)
		return NULL;
	list_del_init(&op->entry);
	op->comp = (struct kofi_comp) {
		.op_context = context,
		.flags = flags,
	};
	op->free = free;
	op->cq = cq;
	op->silent = false;
	op->has_data = false;
	return op;
}

static int mock_tx_state(const struct mock_ep *ep)
{
	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (!ep->tx_cq)
		return -FI_ENOCQ;
	if (ep->state == MOCK_DOWN)
		return -ESHUTDOWN;
	return ep->state == MOCK_CONNECTED ? 0 : -ENOTCONN;
}

struct mock_tx {
	const void	*buf;
	size_t		len;
	void		*context;
	bool		silent;
	bool		has_data;
	u64		data;
};

static ssize_t mock_post_tx(struct mock_ep *ep, const struct mock_tx *tx)
{
	struct mock_op *op;
	int err;

	lockdep_assert_held(&ep->obj.mock->lock);
	err = mock_tx_state(ep);
	if (err)
		return err;
	op = mock_op_take(&ep->tx_free, ep->tx_cq, tx->context, FI_MSG | FI_SEND);
	if (!op)
		return -EAGAIN;
	op->len = tx->len;
	op->silent = tx->silent;
	op->has_data = tx->has_data;
	op->data = tx->data;
	memcpy(op->copy, tx->buf, tx->len);
	list_add_tail(&op->entry, &ep->peer->arrived);
	mock_match(ep->peer);
	return 0;
}

static ssize_t mock_tx(struct fid_ep *fid_ep, struct mock_tx tx)
{
	struct mock_ep *ep = to_mock_ep(fid_ep);
	struct mock *mock = ep->obj.mock;
	unsigned long flags;
	ssize_t ret;

	if (tx.len > (tx.silent ? MOCK_MAX_INJECT : MOCK_MAX_MSG))
		return -EMSGSIZE;
	spin_lock_irqsave(&mock->lock, flags);
	ret = mock_post_tx(ep, &tx);
	spin_unlock_irqrestore(&mock->lock, flags);
	return ret;
}

static ssize_t mock_rx(struct fid_ep *fid_ep, void *buf, size_t len, void *context)
{
	struct mock_ep *ep = to_mock_ep(fid_ep);
	struct mock *mock = ep->obj.mock;
	unsigned long flags;
	struct mock_op *op;
	ssize_t ret = 0;

	spin_lock_irqsave(&mock->lock, flags);
	if (!ep->enabled)
		ret = -FI_EOPBADSTATE;
	else if (!ep->rx_cq)
		ret = -FI_ENOCQ;
	else if (ep->state == MOCK_DOWN)
		ret = -ESHUTDOWN;
	if (ret)
		goto out;
	op = mock_op_take(&ep->rx_free, ep->rx_cq, context, FI_MSG | FI_RECV);
	if (!op) {
		ret = -EAGAIN;
		goto out;
	}
	op->buf = buf;
	op->len = len;
	op->comp.buf = buf;
	list_add_tail(&op->entry, &ep->rx_posted);
	mock_match(ep);
out:
	spin_unlock_irqrestore(&mock->lock, flags);
	return ret;
}

static ssize_t mock_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			 fi_addr_t src_addr, void *context)
{
	return mock_rx(ep, buf, len, context);
}

static ssize_t mock_send(struct fid_ep *ep, const void *buf, size_t len,
			 void *desc, fi_addr_t dest_addr, void *context)
{
	return mock_tx(ep, (struct mock_tx) { .buf = buf, .len = len,
					      .context = context });
}

/* Messages of one buffer; fi_inject() and fi_injectdata() are silent */
static ssize_t mock_post(struct fid_ep *ep, const struct fi_xfer *xfer)
{
	u64 known = FI_COMPLETION | (xfer->type == FI_OP_SEND ? FI_REMOTE_CQ_DATA : 0);
	const struct kvec *iov = xfer->list;

	if (xfer->type != FI_OP_SEND && xfer->type != FI_OP_RECV)
		return -ENOSYS;
	if (!xfer->defaults && xfer->flags & ~known)
		return -FI_EBADFLAGS;
	if (xfer->buf_type != FI_BUF_KVEC || xfer->count != 1)
		return -EINVAL;
	if (xfer->type == FI_OP_RECV)
		return mock_rx(ep, iov->iov_base, iov->iov_len, xfer->context);
	return mock_tx(ep, (struct mock_tx) {
		.buf = iov->iov_base,
		.len = iov->iov_len,
		.context = xfer->context,
		.silent = xfer->flags & FI_INJECT,
		.has_data = xfer->flags & FI_REMOTE_CQ_DATA,
		.data = xfer->data,
	});
}

const struct fi_ops_xfer mock_ep_xfer = {
	.size		= sizeof(struct fi_ops_xfer),
	.send		= mock_send,
	.recv		= mock_recv,
	.read		= kofi_xfer_read,
	.write		= kofi_xfer_write,
	.post		= mock_post,
	.atomicvalid	= fi_no_atomicvalid,
};

/* Everything posted and not completed fails; the caller holds the lock */
void mock_ep_cancel_all(struct mock_ep *ep, int err)
{
	struct mock_op *op, *next;

	lockdep_assert_held(&ep->obj.mock->lock);
	list_for_each_entry_safe(op, next, &ep->rx_posted, entry)
		mock_op_done(op, err);
	if (!ep->peer)
		return;
	list_for_each_entry_safe(op, next, &ep->peer->arrived, entry)
		mock_op_done(op, err);
}

static void mock_ep_bind_cq(struct mock_ep *ep, struct kofi_cq *cq, u64 flags)
{
	if (flags & FI_TRANSMIT)
		ep->tx_cq = cq;
	if (flags & FI_RECV)
		ep->rx_cq = cq;
}

static int mock_ep_bind_cntr(struct mock_ep *ep, struct kofi_cntr *cntr, u64 flags)
{
	if (flags & ~(FI_SEND | FI_RECV))
		return -ENOSYS;
	if (flags & FI_SEND)
		ep->tx_cntr = cntr;
	if (flags & FI_RECV)
		ep->rx_cntr = cntr;
	return 0;
}

int mock_ep_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	struct mock_ep *ep = container_of(fid, struct mock_ep, ep.fid);
	int err;

	err = mock_enter(ep->obj.mock, MOCK_CALL_BIND);
	if (err)
		return err;
	if (ep->enabled)
		return -FI_EOPBADSTATE;
	switch (bfid->fclass) {
	case FI_CLASS_EQ:
		ep->eq = to_kofi_eq(bfid);
		return 0;
	case FI_CLASS_CQ:
		mock_ep_bind_cq(ep, container_of(bfid, struct kofi_cq, cq.fid), flags);
		return 0;
	case FI_CLASS_CNTR:
		return mock_ep_bind_cntr(ep, to_kofi_cntr(bfid), flags);
	default:
		return 0;
	}
}

static int mock_reserve(struct mock_ep *ep)
{
	int err;

	err = ep->tx_cq ? kofi_cq_reserve(ep->tx_cq, MOCK_DEPTH) : 0;
	if (err)
		return err;
	err = ep->rx_cq ? kofi_cq_reserve(ep->rx_cq, MOCK_DEPTH) : 0;
	if (err && ep->tx_cq)
		kofi_cq_unreserve(ep->tx_cq, MOCK_DEPTH);
	return err;
}

static void mock_unreserve(struct mock_ep *ep)
{
	if (ep->tx_cq)
		kofi_cq_unreserve(ep->tx_cq, MOCK_DEPTH);
	if (ep->rx_cq)
		kofi_cq_unreserve(ep->rx_cq, MOCK_DEPTH);
}

static int mock_ep_enable(struct mock_ep *ep)
{
	struct mock *mock = ep->obj.mock;
	int err;

	if (ep->enabled)
		return -FI_EOPBADSTATE;
	if (!ep->tx_cq && !ep->rx_cq)
		return -FI_ENOCQ;
	err = mock_reserve(ep);
	if (err)
		return err;

	spin_lock_irq(&mock->lock);
	ep->enabled = true;
	if (mock->loop) {
		ep->peer = ep;
		ep->state = MOCK_CONNECTED;
	}
	spin_unlock_irq(&mock->lock);
	return 0;
}

int mock_ep_control(struct fid *fid, int command, void *arg)
{
	struct mock_ep *ep = container_of(fid, struct mock_ep, ep.fid);
	int err = mock_enter(ep->obj.mock, MOCK_CALL_CONTROL);

	if (err)
		return err;
	if (command == FI_ALIAS)
		return mock_alias(ep, arg);
	return command == FI_ENABLE ? mock_ep_enable(ep) : -ENOSYS;
}

static bool mock_op_of(struct kofi_comp *comp, void *ep)
{
	return container_of(comp, struct mock_op, comp)->ep == ep;
}

/* Takes the slots out of every list but the completion queues */
static void mock_ep_unlink(struct mock_ep *ep)
{
	struct mock *mock = ep->obj.mock;
	int i;

	spin_lock_irq(&mock->lock);
	for (i = 0; i < MOCK_DEPTH; i++) {
		list_del_init(&ep->tx[i].entry);
		list_del_init(&ep->rx[i].entry);
	}
	spin_unlock_irq(&mock->lock);
}

static void mock_ep_release(struct mock_obj *obj)
{
	struct mock_ep *ep = container_of(obj, struct mock_ep, obj);

	mock_cm_leave(ep);
	mock_ep_unlink(ep);
	flush_work(&obj->mock->work);
	mock_event_withdraw(&ep->connected);
	mock_event_withdraw(&ep->down);
	mock_event_withdraw(&ep->error);
	if (ep->tx_cq)
		kofi_cq_purge(ep->tx_cq, mock_op_of, ep);
	if (ep->rx_cq)
		kofi_cq_purge(ep->rx_cq, mock_op_of, ep);
	if (ep->enabled)
		mock_unreserve(ep);
	mock_obj_fini(obj);
	kfree(ep);
}

static void mock_ep_init(struct mock_ep *ep)
{
	int i;

	INIT_LIST_HEAD(&ep->tx_free);
	INIT_LIST_HEAD(&ep->rx_free);
	INIT_LIST_HEAD(&ep->rx_posted);
	INIT_LIST_HEAD(&ep->arrived);
	for (i = 0; i < MOCK_DEPTH; i++) {
		ep->tx[i].ep = ep;
		ep->rx[i].ep = ep;
		list_add_tail(&ep->tx[i].entry, &ep->tx_free);
		list_add_tail(&ep->rx[i].entry, &ep->rx_free);
	}
	mock_event_init(&ep->connected, &ep->ep.fid, FI_CONNECTED);
	mock_event_init(&ep->down, &ep->ep.fid, FI_SHUTDOWN);
	mock_event_init(&ep->error, &ep->ep.fid, FI_NOTIFY);
	ep->obj.release = mock_ep_release;
}

int mock_endpoint(struct fid_domain *domain, struct fi_info *info,
		  struct fid_ep **ep, void *context)
{
	struct mock *mock = mock_obj_find(&domain->fid)->mock;
	struct mock_ep *mep;
	int err;

	err = mock_enter(mock, MOCK_CALL_ENDPOINT);
	if (err)
		return err;
	mep = kzalloc(sizeof(*mep), GFP_KERNEL);
	if (!mep)
		return -ENOMEM;
	mock_ep_init(mep);
	err = mock_obj_init(&mep->obj, mock, MOCK_EP, &mep->ep.fid, context);
	if (err)
		goto err_free;
	err = mock_connreq_take(mock, mep, info);
	if (err)
		goto err_fini;
	*ep = &mep->ep;
	return 0;

err_fini:
	mock_obj_fini(&mep->obj);
err_free:
	kfree(mep);
	return err;
}

const struct fi_ops mock_ep_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= mock_close,
	.bind		= mock_ep_bind,
	.control	= mock_ep_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};
