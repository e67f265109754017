// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receives, from the match to the release.
 *
 * A receive that a message takes has all that its completion reports, and is in no list, so it
 * belongs to the provider alone.  When it has completed, it belongs to the completion queue
 * until kofi_srx_release() puts it into its pool.
 *
 * A buffer with FI_MULTI_RECV is never matched itself.  Each message gets an object from
 * kofi_srx.multi and as many of the next bytes of the buffer as it has; nmsgs of the buffer
 * counts the messages that have not completed.  A buffer is spent when it has left the list of
 * posted receives: too little is left, a message did not fit, or the buffer was cancelled or
 * flushed.  The last message of a spent buffer completes with FI_MULTI_RECV and puts the
 * buffer into its pool.  Nothing else refers to the buffer then.
 *
 * FI_MULTI_RECV must be on the last of all completions of a buffer.  So the lock kofi_rx.order of
 * the buffer is held from the decision whether a message is the last one until its completion is
 * in the queue.  A buffer that is spent with no message in transfer has a completion of its own.
 * That completion is queued after kofi_rx.order has been taken and released, so behind those of
 * the messages.  kofi_srx.lock and the lock of the queue are taken inside kofi_rx.order.  An
 * object keeps its kofi_rx.order when it goes back to its pool.
 *
 * A receive whose success is not to be reported goes straight to the pool.  The endpoint that
 * the message arrived at decides whether success is reported.
 */
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include "srx.h"

/* No receive is free: allocate more if there may be more, and take one; as kofi_rx_get() */
static struct kofi_rx *kofi_rx_get_more(struct kofi_srx *srx)
{
	int more = kofi_bufpool_grow(&srx->pool);
	struct kofi_rx *rx;

	if (more < 0)
		kofi_ep_want_later(&srx->ep->rx);
	rx = more > 0 ? kofi_bufpool_get(&srx->pool) : NULL;
	if (rx)
		return rx;
	kofi_waiter_note(&srx->ep->rx.room);
	return kofi_bufpool_get(&srx->pool);
}

/* Gets an object for a receive; NULL: there is none, and the ready callback will be due */
struct kofi_rx *kofi_rx_get(struct kofi_srx *srx, const struct fi_xfer *xfer, u64 flags)
{
	bool tagged = xfer->type == FI_OP_TRECV;
	struct kofi_rx *rx;

	rx = kofi_bufpool_get(&srx->pool);
	if (unlikely(!rx))
		rx = kofi_rx_get_more(srx);
	if (unlikely(!rx))
		return NULL;
	kofi_rx_begin(rx, srx->ep, flags, tagged ? FI_TAGGED : FI_MSG, xfer->context);
	kofi_srx_link_init(&rx->link);
	if (tagged) {
		rx->comp.comp.flags |= KOFI_COMP_MSG;
		rx->comp.msg = (struct fi_done_msg) {
			.tag		= to_fi_tagged_xfer(xfer)->tag,
			.src_addr	= FI_ADDR_NOTAVAIL,
		};
		rx->ignore = to_fi_tagged_xfer(xfer)->ignore;
		kofi_srx_key_set(srx, &rx->link.key, KOFI_SRX_TAGGED, rx->comp.msg.tag,
				 srx->directed ? xfer->addr : FI_ADDR_UNSPEC);
	} else if (srx->directed) {
		kofi_srx_key_set_untagged(&rx->link.key, xfer->addr);
	}
	return rx;
}

int kofi_rx_set_list(struct kofi_rx *rx, const struct fi_xfer *xfer)
{
	const struct kofi_ep *ep = rx->srx->ep;
	int ret = kofi_iov_keep(&rx->iov, rx->srx->iov_limit, ep->lent_iov, xfer->buf_type,
				xfer->list, xfer->count, SIZE_MAX, ep->caps & FI_HMEM);

	if (ret || !kofi_rx_is_multi(rx))
		return ret;
	if (rx->iov.count > 1)
		return -EINVAL;
	/* A buffer with nothing left takes no more in any case */
	rx->min_left = max_t(size_t, READ_ONCE(rx->srx->min_multi_recv), 1);
	return 0;
}

void kofi_rx_put(struct kofi_rx *rx)
{
	kofi_bufpool_put(rx->comp.pool, rx);
}

void kofi_srx_release(struct kofi_comp *comp)
{
	kofi_rx_put(to_kofi_rx(comp));
}
EXPORT_SYMBOL_GPL(kofi_srx_release);

static struct kofi_iov *kofi_rx_iov(struct kofi_rx *rx)
{
	return rx->buf ? &rx->buf->iov : &rx->iov;
}

/* The address at which the message begins; NULL: it has none */
static void *kofi_rx_addr(struct kofi_rx *rx)
{
	void *addr = kofi_iov_addr(kofi_rx_iov(rx));

	return addr ? addr + rx->offset : NULL;
}

/* Is it a receive of one buffer that has an address? */
static bool kofi_rx_is_buf(const struct kofi_rx *rx)
{
	return !rx->buf && rx->iov.count == 1 && !rx->iov.pages && !rx->iov.is_lent;
}

/*
 * Fills in a receive that a message takes; @room: bytes that the receive can take.  The completion
 * has no kofi_msg_comp.msg if that would say nothing.
 */
void kofi_rx_fill(struct kofi_rx *rx, const struct kofi_srx_arrival *what,
		  size_t room)
{
	struct kofi_comp *comp = &rx->comp.comp;

	rx->ep = what->ep;
	comp->flags = FI_RECV | what->flags;
	comp->len = min(what->len, room);
	comp->buf = likely(kofi_rx_is_buf(rx)) ? rx->iov.kvec[0].iov_base : kofi_rx_addr(rx);
	comp->data = what->data;
	comp->err = what->len > room ? FI_ETRUNC : 0;
	comp->prov_errno = comp->err;
	if (likely(!comp->err && !(what->flags & FI_TAGGED) && what->source == FI_ADDR_NOTAVAIL))
		return;
	comp->flags |= KOFI_COMP_MSG;
	rx->comp.msg = (struct fi_done_msg) {
		.tag		= what->flags & FI_TAGGED ? what->tag : 0,
		.src_addr	= what->source,
		.olen		= what->len - comp->len,
	};
}

/* Copies a message into a list of any kind */
static void kofi_rx_scatter(struct kofi_rx *rx, const void *buf)
{
	size_t done = 0, len = kofi_rx_len(rx), part;
	struct iov_iter to, from;
	struct kvec kvec;

	/* A scatterlist that is lent comes in several parts */
	do {
		kvec.iov_base = (void *)buf + done;
		kvec.iov_len = len - done;
		iov_iter_kvec(&from, ITER_SOURCE, &kvec, 1, kvec.iov_len);
		kofi_rx_iter(rx, done, &to);
		part = kofi_iov_copy(&to, &from, kvec.iov_len);
		done += part;
	} while (part && done < len);
}

void kofi_rx_set_tag(struct kofi_rx *rx, u64 tag)
{
	struct kofi_comp *comp = &rx->comp.comp;

	if (!(comp->flags & KOFI_COMP_MSG))
		rx->comp.msg = (struct fi_done_msg) { .src_addr = FI_ADDR_NOTAVAIL };
	comp->flags = (comp->flags & ~FI_MSG) | FI_TAGGED | KOFI_COMP_MSG;
	rx->comp.msg.tag = tag;
}
EXPORT_SYMBOL_GPL(kofi_rx_set_tag);

/* Gives a message the next bytes of a buffer; returns as kofi_rx_take() */
static struct kofi_rx *kofi_rx_take_part(struct kofi_rx *buf,
					 const struct kofi_srx_arrival *what,
					 struct kofi_srx_due *due)
{
	struct kofi_srx *srx = buf->srx;
	size_t room = buf->iov.len - buf->used;
	struct kofi_rx *rx;

	lockdep_assert_held(&srx->lock);
	if (what->len > room && buf->used) {
		buf->spent = true;
		kofi_srx_unpost(srx, buf, due);
		due->ep = what->ep;
		if (!buf->nmsgs)
			list_add_tail(&buf->entry, &due->spent);
		return NULL;
	}
	rx = kofi_bufpool_get(&srx->multi);
	if (unlikely(!rx) && kofi_bufpool_grow(&srx->multi) > 0)
		rx = kofi_bufpool_get(&srx->multi);
	if (!rx)
		return ERR_PTR(-EAGAIN);
	rx->buf = buf;
	rx->offset = buf->used;
	rx->flags = buf->flags;
	rx->comp.comp.op_context = buf->comp.comp.op_context;
	kofi_rx_fill(rx, what, room);
	buf->used += kofi_rx_len(rx);
	buf->nmsgs++;
	if (buf->iov.len - buf->used < buf->min_left) {
		buf->spent = true;
		kofi_srx_unpost(srx, buf, due);
	}
	return rx;
}

/*
 * Let a message take a receive.  Returns the receive that the provider fills.  NULL: the message
 * does not fit into the rest of a buffer, and takes the next receive.  An error: kofi_srx.multi
 * has no object for the message.
 */
struct kofi_rx *kofi_rx_take(struct kofi_rx *rx,
			     const struct kofi_srx_arrival *what,
			     struct kofi_srx_due *due)
{
	lockdep_assert_held(&rx->srx->lock);
	if (kofi_rx_is_multi(rx))
		return kofi_rx_take_part(rx, what, due);
	kofi_srx_unpost(rx->srx, rx, due);
	kofi_rx_fill(rx, what, rx->iov.len);
	return rx;
}

static void kofi_rx_part(struct kofi_rx *rx, unsigned int direction, size_t offset,
			 struct iov_iter *iter)
{
	size_t len = kofi_rx_len(rx);

	offset = min(offset, len);
	kofi_iov_part(kofi_rx_iov(rx), direction, rx->offset + offset, len - offset, iter);
}

void kofi_rx_iter(struct kofi_rx *rx, size_t offset, struct iov_iter *iter)
{
	kofi_rx_part(rx, ITER_DEST, offset, iter);
}
EXPORT_SYMBOL_GPL(kofi_rx_iter);

void kofi_rx_source(struct kofi_rx *rx, size_t offset, struct iov_iter *iter)
{
	kofi_rx_part(rx, ITER_SOURCE, offset, iter);
}
EXPORT_SYMBOL_GPL(kofi_rx_source);

static bool kofi_rx_is_reported(const struct kofi_rx *rx)
{
	return rx->comp.comp.err || kofi_ep_flags(&rx->ep->rx, rx->flags) & FI_COMPLETION;
}

/* Completes a message of a buffer */
static void kofi_rx_finish_part(struct kofi_rx *rx)
{
	struct kofi_rx *buf = rx->buf;
	bool last, reported;
	unsigned long flags;

	spin_lock_irqsave(&buf->order, flags);
	spin_lock(&buf->srx->lock);
	last = !--buf->nmsgs && buf->spent;
	spin_unlock(&buf->srx->lock);
	reported = last || kofi_rx_is_reported(rx);
	if (last)
		rx->comp.comp.flags |= FI_MULTI_RECV;
	if (reported)
		kofi_cq_complete_now(rx->ep->rx.cq, &rx->comp.comp);
	spin_unlock_irqrestore(&buf->order, flags);
	if (!reported)
		kofi_rx_put(rx);
	if (last)
		kofi_rx_put(buf);
}

void kofi_rx_complete(struct kofi_rx *rx)
{
	struct kofi_comp *comp = &rx->comp.comp;
	struct kofi_ep *ep = rx->ep;
	u64 flags = comp->flags;
	size_t len = comp->len;
	int err = comp->err;

	comp->op_context = kofi_ep_context(ep, &ep->rx, comp->op_context);
	if (unlikely(rx->buf))
		kofi_rx_finish_part(rx);
	else if (unlikely(!kofi_rx_is_reported(rx)))
		kofi_rx_put(rx);
	else
		kofi_cq_complete(ep->rx.cq, comp);
	kofi_ep_count(ep, flags, err, len);
}
EXPORT_SYMBOL_GPL(kofi_rx_complete);

void kofi_rx_receive_any(struct kofi_rx *rx, struct kofi_ep *ep, const void *buf, size_t len)
{
	const struct kofi_srx_arrival what = {
		.ep		= ep,
		.flags		= FI_MSG,
		.src_addr	= FI_ADDR_NOTAVAIL,
		.source		= FI_ADDR_NOTAVAIL,
		.len		= len,
	};

	kofi_rx_fill(rx, &what, rx->iov.len);
	kofi_rx_scatter(rx, buf);
	kofi_rx_complete(rx);
}
EXPORT_SYMBOL_GPL(kofi_rx_receive_any);

void kofi_rx_fail(struct kofi_rx *rx, size_t len, int err, int prov_errno)
{
	rx->comp.comp.len = min(len, kofi_rx_len(rx));
	rx->comp.comp.err = err;
	rx->comp.comp.prov_errno = prov_errno;
	kofi_rx_complete(rx);
}
EXPORT_SYMBOL_GPL(kofi_rx_fail);

/* Waits until the completions of the messages of a buffer are in the queue */
static void kofi_rx_wait_order(struct kofi_rx *rx)
{
	unsigned long flags;

	if (!kofi_rx_is_multi(rx))
		return;
	spin_lock_irqsave(&rx->order, flags);
	spin_unlock_irqrestore(&rx->order, flags);
}

/* Completes a spent buffer whose messages have completed */
void kofi_rx_give_back(struct kofi_rx *rx, struct kofi_ep *ep)
{
	struct kofi_comp *comp = &rx->comp.comp;

	rx->ep = ep;
	comp->flags = FI_MULTI_RECV;
	comp->op_context = kofi_ep_context(ep, &ep->rx, comp->op_context);
	kofi_rx_wait_order(rx);
	kofi_cq_complete(ep->rx.cq, comp);
}

/* Makes the completion of a receive that no message takes any more, of an endpoint's own */
struct kofi_comp *kofi_rx_refuse(struct kofi_rx *rx, int err)
{
	struct kofi_comp *comp = &rx->comp.comp;

	comp->err = err;
	comp->prov_errno = err;
	comp->len = 0;
	comp->buf = NULL;
	comp->data = 0;
	comp->flags |= rx->flags & FI_MULTI_RECV;
	comp->op_context = kofi_ep_context(rx->ep, &rx->ep->rx,
					   comp->op_context);
	kofi_rx_wait_order(rx);
	return comp;
}
