// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The completion queue of include/kofi/cq.h.
 *
 * A singly linked list of completed, unread slots.  The lock guards the list,
 * and a reader holds it until the slots it took are back with their endpoints:
 * that makes kofi_cq_purge() a barrier against readers when an endpoint that
 * shares the queue with others is closed.  Handlers are called without it.
 *
 * An unread error stops a reader in front of it (-FI_EAVAIL); only
 * kofi_cq_readerr() takes it.
 *
 * A handler is armed at the start and whenever a reader finds the queue empty;
 * the next completion disarms and calls it.  Completions may come from several
 * processors while a handler that has read everything has not returned yet: then
 * whoever is inside calls it once more, so that it never runs twice at the same
 * time.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <kofi/cq.h>
#include "kofi.h"

static int kofi_cq_check(const struct fi_cq_attr *attr)
{
	if (attr->flags & ~FI_AFFINITY)
		return -FI_EBADFLAGS;
	if (attr->format > FI_CQ_FORMAT_TAGGED ||
	    attr->wait_cond > FI_CQ_COND_THRESHOLD ||
	    attr->comp_ctx > FI_COMP_WORKQUEUE || attr->signaling_vector < 0)
		return -EINVAL;
	if (attr->wait_obj != FI_WAIT_NONE &&
	    attr->wait_obj != FI_WAIT_UNSPEC &&
	    attr->wait_obj != FI_WAIT_CALLBACK &&
	    attr->wait_obj != FI_WAIT_DONE)
		return -ENOSYS;
	if (attr->wait_cond && attr->wait_obj != FI_WAIT_UNSPEC)
		return -EINVAL;
	if (attr->wait_obj == FI_WAIT_CALLBACK ? !attr->handler :
						 !!attr->handler)
		return -EINVAL;
	return 0;
}

int kofi_cq_init(struct kofi_cq *cq, const struct fi_cq_attr *attr, size_t size,
		 void *context)
{
	static const struct fi_cq_attr defaults = { .wait_obj = FI_WAIT_UNSPEC };
	int ret;

	if (!attr)
		attr = &defaults;
	ret = kofi_cq_check(attr);
	if (ret)
		return ret;

	cq->cq.fid.fclass = FI_CLASS_CQ;
	cq->cq.fid.context = context;
	spin_lock_init(&cq->lock);
	init_waitqueue_head(&cq->wait);
	cq->head = NULL;
	cq->tail = &cq->head;
	cq->count = 0;
	cq->errors = 0;
	cq->reserved = 0;
	cq->armed = attr->wait_obj == FI_WAIT_CALLBACK;
	cq->handling = false;
	cq->due = false;
	cq->signalled = false;
	cq->ended = 0;
	cq->size = size;
	cq->format = attr->format ? : FI_CQ_FORMAT_CONTEXT;
	cq->wait_obj = attr->wait_obj;
	cq->wait_cond = attr->wait_cond;
	cq->handler = attr->handler;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_cq_init);

int kofi_cq_reserve(struct kofi_cq *cq, size_t count)
{
	unsigned long flags;
	int ret = -ENOSPC;

	spin_lock_irqsave(&cq->lock, flags);
	if (count <= cq->size - cq->reserved) {
		cq->reserved += count;
		ret = 0;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_cq_reserve);

void kofi_cq_unreserve(struct kofi_cq *cq, size_t count)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->reserved -= count;
	spin_unlock_irqrestore(&cq->lock, flags);
}
EXPORT_SYMBOL_GPL(kofi_cq_unreserve);

/* Is the handler for the caller to call?  Caller holds the lock */
static bool kofi_cq_disarm(struct kofi_cq *cq)
{
	if (!cq->armed)
		return false;
	cq->armed = false;
	cq->due = cq->handling;
	cq->handling = true;
	return !cq->due;
}

static void kofi_cq_handle(struct kofi_cq *cq)
{
	unsigned long flags;
	bool again;

	do {
		cq->handler(&cq->cq, cq->cq.fid.context);
		spin_lock_irqsave(&cq->lock, flags);
		again = cq->due;
		cq->due = false;
		cq->handling = again;
		spin_unlock_irqrestore(&cq->lock, flags);
	} while (again);
}

void kofi_cq_complete(struct kofi_cq *cq, struct kofi_comp *comp)
{
	unsigned long flags;
	bool call;

	comp->next = NULL;
	spin_lock_irqsave(&cq->lock, flags);
	*cq->tail = comp;
	cq->tail = &comp->next;
	cq->count++;
	cq->errors += !!comp->err;
	call = kofi_cq_disarm(cq);
	if (cq->wait_obj == FI_WAIT_UNSPEC)
		wake_up(&cq->wait);
	spin_unlock_irqrestore(&cq->lock, flags);

	if (call)
		kofi_cq_handle(cq);
}
EXPORT_SYMBOL_GPL(kofi_cq_complete);

void kofi_cq_end(struct kofi_cq *cq, int err)
{
	unsigned long flags;
	bool call;

	spin_lock_irqsave(&cq->lock, flags);
	cq->ended = err;
	call = kofi_cq_disarm(cq);
	wake_up_all(&cq->wait);
	spin_unlock_irqrestore(&cq->lock, flags);

	if (call)
		kofi_cq_handle(cq);
}
EXPORT_SYMBOL_GPL(kofi_cq_end);

/* Cuts off everything in front of *@end */
static void kofi_cq_cut(struct kofi_cq *cq, struct kofi_comp **end, size_t count)
{
	cq->head = *end;
	if (!cq->head)
		cq->tail = &cq->head;
	cq->count -= count;
	*end = NULL;
}

/* Returns what to cut off: @chain and how many, or why there is nothing */
static ssize_t kofi_cq_take(struct kofi_cq *cq, size_t count,
			    struct kofi_comp **chain)
{
	struct kofi_comp **end = &cq->head;
	ssize_t taken = 0;

	*chain = NULL;
	while (taken < count && *end && !(*end)->err) {
		end = &(*end)->next;
		taken++;
	}
	if (taken) {
		*chain = cq->head;
		kofi_cq_cut(cq, end, taken);
		return taken;
	}
	if (cq->head)
		return count ? -FI_EAVAIL : -EAGAIN;
	if (cq->wait_obj == FI_WAIT_DONE)
		return -EINVAL;
	if (cq->ended)
		return cq->ended;
	cq->armed = cq->wait_obj == FI_WAIT_CALLBACK;
	return -EAGAIN;
}

static void *kofi_cq_put_context(void *buf, const struct kofi_comp *comp)
{
	struct fi_cq_entry *entry = buf;

	entry->op_context = comp->op_context;
	return entry + 1;
}

static void *kofi_cq_put_msg(void *buf, const struct kofi_comp *comp)
{
	struct fi_cq_msg_entry *entry = buf;

	entry->op_context = comp->op_context;
	entry->flags = comp->flags;
	entry->len = comp->len;
	return entry + 1;
}

static void *kofi_cq_put_data(void *buf, const struct kofi_comp *comp)
{
	struct fi_cq_data_entry *entry = buf;

	kofi_cq_put_msg(buf, comp);
	entry->buf = comp->buf;
	entry->data = comp->data;
	return entry + 1;
}

static u64 kofi_comp_tag(const struct kofi_comp *comp)
{
	if (!(comp->flags & FI_TAGGED))
		return 0;
	return container_of(comp, const struct kofi_tagged_comp, comp)->tag;
}

static void *kofi_cq_put_tagged(void *buf, const struct kofi_comp *comp)
{
	struct fi_cq_tagged_entry *entry = buf;

	kofi_cq_put_data(buf, comp);
	entry->tag = kofi_comp_tag(comp);
	return entry + 1;
}

static void kofi_cq_put(enum fi_cq_format format, void *buf,
			const struct kofi_comp *comp)
{
	for (; comp; comp = comp->next) {
		switch (format) {
		case FI_CQ_FORMAT_MSG:
			buf = kofi_cq_put_msg(buf, comp);
			break;
		case FI_CQ_FORMAT_DATA:
			buf = kofi_cq_put_data(buf, comp);
			break;
		case FI_CQ_FORMAT_TAGGED:
			buf = kofi_cq_put_tagged(buf, comp);
			break;
		default:
			buf = kofi_cq_put_context(buf, comp);
		}
	}
}

ssize_t kofi_cq_read(struct kofi_cq *cq, void *buf, size_t count,
		     struct kofi_comp **chain)
{
	ssize_t taken;

	lockdep_assert_held(&cq->lock);
	taken = kofi_cq_take(cq, count, chain);
	kofi_cq_put(cq->format, buf, *chain);
	return taken;
}
EXPORT_SYMBOL_GPL(kofi_cq_read);

ssize_t kofi_cq_readerr(struct kofi_cq *cq, struct fi_cq_err_entry *buf,
			u64 flags, struct kofi_comp **chain)
{
	struct kofi_comp *comp = cq->head;

	lockdep_assert_held(&cq->lock);
	*chain = NULL;
	if (!buf)
		return -EINVAL;
	if (flags)
		return -FI_EBADFLAGS;

	if (!comp && cq->ended)
		return cq->ended;
	if (!comp || !comp->err)
		return -EAGAIN;

	kofi_cq_cut(cq, &comp->next, 1);
	cq->errors--;
	*buf = (struct fi_cq_err_entry) {
		.op_context	= comp->op_context,
		.flags		= comp->flags,
		.len		= comp->len,
		.buf		= comp->buf,
		.data		= comp->data,
		.tag		= kofi_comp_tag(comp),
		.err		= comp->err,
		.prov_errno	= comp->prov_errno,
		.src_addr	= FI_ADDR_NOTAVAIL,
	};
	*chain = comp;
	return 1;
}
EXPORT_SYMBOL_GPL(kofi_cq_readerr);

static bool kofi_cq_ready(struct kofi_cq *cq, size_t threshold)
{
	unsigned long flags;
	bool ready;

	spin_lock_irqsave(&cq->lock, flags);
	ready = cq->signalled || cq->errors || cq->ended ||
		cq->count >= threshold;
	spin_unlock_irqrestore(&cq->lock, flags);
	return ready;
}

/* Did fi_cq_signal() end the wait?  If so, that is used up */
static bool kofi_cq_take_signal(struct kofi_cq *cq)
{
	unsigned long flags;
	bool alone;

	spin_lock_irqsave(&cq->lock, flags);
	alone = cq->signalled && !cq->head && !cq->ended;
	cq->signalled = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	return alone;
}

int kofi_cq_wait(struct kofi_cq *cq, const void *cond, int timeout)
{
	struct kofi_deadline deadline;
	size_t threshold = 1;
	long left;

	if (cq->wait_obj != FI_WAIT_UNSPEC)
		return -EINVAL;
	if (cq->wait_cond == FI_CQ_COND_THRESHOLD && cond)
		threshold = max_t(size_t, *(const size_t *)cond, 1);

	deadline = kofi_deadline_in(timeout);
	do {
		left = kofi_deadline_left(&deadline);
		left = wait_event_interruptible_timeout(cq->wait,
							kofi_cq_ready(cq,
								      threshold),
							left);
	} while (!left && kofi_deadline_left(&deadline));
	if (left < 0)
		return -EINTR;
	return kofi_cq_take_signal(cq) ? -EAGAIN : 0;
}
EXPORT_SYMBOL_GPL(kofi_cq_wait);

int kofi_cq_signal(struct fid_cq *fid_cq)
{
	struct kofi_cq *cq = container_of(fid_cq, struct kofi_cq, cq);
	unsigned long flags;

	if (cq->wait_obj != FI_WAIT_UNSPEC)
		return -EINVAL;

	spin_lock_irqsave(&cq->lock, flags);
	cq->signalled = true;
	wake_up_all(&cq->wait);
	spin_unlock_irqrestore(&cq->lock, flags);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_cq_signal);

struct kofi_comp *kofi_cq_purge(struct kofi_cq *cq,
				bool (*belongs)(struct kofi_comp *comp,
						void *owner),
				void *owner)
{
	struct kofi_comp *purged = NULL, *comp;
	struct kofi_comp **at = &cq->head;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	while ((comp = *at)) {
		if (!belongs(comp, owner)) {
			at = &comp->next;
			continue;
		}
		*at = comp->next;
		comp->next = purged;
		purged = comp;
		cq->count--;
		cq->errors -= !!comp->err;
	}
	cq->tail = at;
	spin_unlock_irqrestore(&cq->lock, flags);
	return purged;
}
EXPORT_SYMBOL_GPL(kofi_cq_purge);
