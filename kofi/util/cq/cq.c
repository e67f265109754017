// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The completion queue of include/kofi/cq.h: the list, and its life.
 *
 * The list is singly linked.  With FI_WAIT_DONE it has the completions that wait for their
 * callback, otherwise those that no reader has taken.  cq->lock guards the list, and is held for
 * KOFI_CQ_BATCH completions at most, whatever the client asks for.  Neither clients nor
 * providers are called with the lock held.
 *
 * The completions of a device that the core polls come in batches (run.c).  The list gets a batch
 * with one hold of the lock, or a runner or reader has it without the list.  The poller holds
 * cq->poll_lock until one of them has it.  So when poll_lock has been free once behind a
 * completion, that completion is in the list, or has a runner or reader.
 *
 * Readers (read.c) take completions out of the list under the lock, and copy and release them
 * afterwards, under rcu_read_lock().  kofi_cq_purge() takes an endpoint's completions out and
 * then waits for readers by RCU, if there are any; so when it returns, no reader looks at a slot of
 * the endpoint, and the slots may be freed.  A callback (run.c) may sleep, so for callbacks the
 * purge waits for a mark at the end of the list instead, if something is in the list or a task
 * makes calls.
 *
 * A tap sees each completion before it comes into the list, and may keep it.  Taps are added
 * before the first completion, so nothing guards them.  A purge first has the taps give back
 * what they keep, as that may belong to the endpoint.
 *
 * A handler is armed at the start and whenever a reader finds the queue empty; the
 * next completion disarms it and makes it due.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <kofi/provider.h>
#include <kofi/refuse.h>
#include <kofi/stat.h>
#include "../../trace.h"
#include "cq.h"

static int kofi_cq_check(const struct fi_cq_attr *attr)
{
	int ret = kofi_check_flags("cq_open", attr->flags, FI_AFFINITY);

	if (ret)
		return ret;
	if (attr->format > FI_CQ_FORMAT_TAGGED ||
	    attr->wait_cond > FI_CQ_COND_THRESHOLD ||
	    attr->comp_ctx > FI_COMP_DIRECT || attr->signaling_vector < 0)
		return kofi_refuse("cq_open", -EINVAL, "attr: format %d, wait_cond %d, comp_ctx %d or signaling_vector %d is none",
				   attr->format, attr->wait_cond, attr->comp_ctx,
				   attr->signaling_vector);
	if (attr->wait_obj != FI_WAIT_NONE &&
	    attr->wait_obj != FI_WAIT_UNSPEC &&
	    attr->wait_obj != FI_WAIT_CALLBACK &&
	    attr->wait_obj != FI_WAIT_DONE)
		return kofi_refuse("cq_open", -ENOSYS, "attr->wait_obj is %d; there are FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_CALLBACK and FI_WAIT_DONE",
				   attr->wait_obj);
	if (attr->wait_cond && attr->wait_obj != FI_WAIT_UNSPEC)
		return kofi_refuse("cq_open", -EINVAL, "attr->wait_cond needs attr->wait_obj FI_WAIT_UNSPEC");
	if (attr->wait_obj == FI_WAIT_CALLBACK && !attr->handler)
		return kofi_refuse("cq_open", -EINVAL, "attr->handler is NULL; FI_WAIT_CALLBACK needs one");
	if (attr->wait_obj != FI_WAIT_CALLBACK && attr->handler)
		return kofi_refuse("cq_open", -EINVAL, "attr->handler is given; it needs attr->wait_obj FI_WAIT_CALLBACK");
	/* With FI_COMP_DIRECT nothing would wake a sleeper, or call a handler */
	if (attr->comp_ctx == FI_COMP_DIRECT &&
	    attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_DONE)
		return kofi_refuse("cq_open", -EINVAL, "attr->comp_ctx FI_COMP_DIRECT needs attr->wait_obj FI_WAIT_NONE or FI_WAIT_DONE");
	return 0;
}

size_t kofi_cq_size(const struct fi_cq_attr *attr, size_t def, size_t max)
{
	if (!attr || !attr->size)
		return min(def, max);
	if (attr->size <= max)
		return attr->size;
	kofi_refuse("cq_open", -EINVAL, "attr->size is %zu; the most is %zu", attr->size, max);
	pr_warn_ratelimited("completion queue of %zu entries refused: the limit is %zu\n",
			    attr->size, max);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_cq_size);

int kofi_cq_init(struct kofi_cq *cq, const struct fi_cq_attr *attr, size_t size,
		 const struct kofi_cq_ops *ops, void *context)
{
	static const struct fi_cq_attr defaults = { .wait_obj = FI_WAIT_UNSPEC };
	int ret;

	if (!attr)
		attr = &defaults;
	ret = kofi_cq_check(attr);
	if (ret)
		return ret;

	*cq = (struct kofi_cq) {
		.cq = {
			.fid = {
				.fclass		= FI_CLASS_CQ,
				.context	= context,
			},
			.ops = attr->wait_obj == FI_WAIT_DONE ?
			       &kofi_cq_done_ops : &kofi_cq_ops,
		},
		.ops		= ops,
		.armed		= attr->wait_obj == FI_WAIT_CALLBACK,
		.size		= size,
		.format		= attr->format ? : FI_CQ_FORMAT_CONTEXT,
		.wait_obj	= attr->wait_obj,
		.wait_cond	= attr->wait_cond,
		.handler	= attr->handler,
	};
	cq->tail = &cq->head;
	spin_lock_init(&cq->lock);
	spin_lock_init(&cq->poll_lock);
	mutex_init(&cq->purge_lock);
	init_waitqueue_head(&cq->wait);
	kofi_cq_run_setup(cq, attr);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_cq_init);

void kofi_cq_fini(struct kofi_cq *cq)
{
	kofi_cq_run_stop(cq);
	mutex_destroy(&cq->purge_lock);
}
EXPORT_SYMBOL_GPL(kofi_cq_fini);

static void kofi_cq_stat(struct kofi_cq *cq, struct kofi_stat *stat)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	stat->state = cq->ended ? "ended" : NULL;
	kofi_stat_add(stat, "size", cq->size);
	kofi_stat_add(stat, "reserved", cq->reserved);
	kofi_stat_add(stat, "unread", cq->count);
	kofi_stat_add(stat, "unread_errors", cq->errors);
	kofi_stat_add(stat, "completed", cq->completed + READ_ONCE(cq->completed_direct));
	kofi_stat_add(stat, "failed", cq->failed + READ_ONCE(cq->failed_direct));
	spin_unlock_irqrestore(&cq->lock, flags);
}

int kofi_cq_control(struct fid *fid, int command, void *arg)
{
	if (command != FI_GETWAITOBJ && command != KOFI_GETQUEUE &&
	    command != KOFI_GETSTAT)
		return kofi_refuse("control", -ENOSYS, "a completion queue has no command %d",
				   command);
	if (command == KOFI_GETSTAT)
		kofi_cq_stat(to_kofi_cq(fid), arg);
	else if (command == KOFI_GETQUEUE)
		*(struct kofi_cq **)arg = to_kofi_cq(fid);
	else
		*(enum fi_wait_obj *)arg = to_kofi_cq(fid)->wait_obj;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_cq_control);

static int kofi_cq_close(struct fid *fid)
{
	struct kofi_cq *cq = to_kofi_cq(fid);
	int ret = kofi_cq_may_close(cq);

	if (ret)
		return ret;
	mutex_lock(&cq->cqs->lock);
	list_del(&cq->of_cqs);
	mutex_unlock(&cq->cqs->lock);
	kofi_cq_fini(cq);
	kfree(cq);
	return 0;
}

static const struct fi_ops kofi_cq_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= kofi_cq_close,
	.bind		= fi_no_bind,
	.control	= kofi_cq_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

int kofi_cq_open(struct kofi_cqs *cqs, const struct fi_cq_attr *attr,
		 const struct kofi_cq_ops *ops, struct fid_cq **fid_cq,
		 void *context)
{
	size_t size = kofi_cq_size(attr, INT_MAX, INT_MAX);
	struct kofi_cq *cq;
	int ret;

	if (!size)
		return kofi_refuse("cq_open", -EINVAL, "attr->size is above %d", INT_MAX);
	cq = kzalloc(sizeof(*cq), GFP_KERNEL);
	if (!cq)
		return -ENOMEM;
	ret = kofi_cq_init(cq, attr, size, ops, context);
	if (ret) {
		kfree(cq);
		return ret;
	}
	cq->cq.fid.ops = &kofi_cq_fid_ops;
	cq->cqs = cqs;
	mutex_lock(&cqs->lock);
	list_add_tail(&cq->of_cqs, &cqs->list);
	if (cqs->ended)
		kofi_cq_end(cq, cqs->ended);
	mutex_unlock(&cqs->lock);
	*fid_cq = &cq->cq;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_cq_open);

void kofi_cqs_end(struct kofi_cqs *cqs, int err)
{
	struct kofi_cq *cq;

	mutex_lock(&cqs->lock);
	cqs->ended = err;
	list_for_each_entry(cq, &cqs->list, of_cqs)
		kofi_cq_end(cq, err);
	mutex_unlock(&cqs->lock);
}
EXPORT_SYMBOL_GPL(kofi_cqs_end);

int kofi_cq_reserve(struct kofi_cq *cq, size_t count)
{
	unsigned long flags;
	size_t left;

	spin_lock_irqsave(&cq->lock, flags);
	left = cq->size - cq->reserved;
	if (count <= left)
		cq->reserved += count;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (count <= left)
		return 0;
	return kofi_refuse("enable", -ENOSPC, "the completion queue %p has %zu entries, and %zu of them left; %zu are needed: open it with %zu more",
			   &cq->cq.fid, cq->size, left, count, count - left);
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

/* Makes the handler due if it is armed */
static void kofi_cq_disarm(struct kofi_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	if (!cq->armed)
		return;
	cq->armed = false;
	cq->handler_due = true;
	cq->pending = true;
}

void kofi_cq_cut(struct kofi_cq *cq, struct kofi_comp **end, size_t count)
{
	lockdep_assert_held(&cq->lock);
	cq->head = *end;
	if (!cq->head)
		cq->tail = &cq->head;
	cq->count -= count;
	*end = NULL;
}

void kofi_cq_trace(const struct kofi_cq *cq, const struct kofi_comp *comp)
{
	for (; comp; comp = comp->next)
		if (!kofi_comp_is_mark(comp))
			trace_kofi_done(&cq->cq.fid, comp);
}

/* Links a chain of @count completions to the list; returns whether nothing was pending before */
static bool kofi_cq_link(struct kofi_cq *cq, struct kofi_comp *first, struct kofi_comp *last,
			 size_t count, size_t errors)
{
	bool idle = !cq->pending;

	lockdep_assert_held(&cq->lock);
	*cq->tail = first;
	cq->tail = &last->next;
	cq->count += count;
	cq->completed += count;
	if (unlikely(errors)) {
		cq->errors += errors;
		cq->failed += errors;
	}
	if (likely(kofi_cq_has_callbacks(cq))) {
		cq->pending = true;
		return idle;
	}
	kofi_cq_disarm(cq);
	if (cq->wait_obj == FI_WAIT_UNSPEC)
		wake_up(&cq->wait);
	return idle && cq->pending;
}

/*
 * Puts a chain of @count completions into the list; returns whether the caller has to schedule a
 * run.  If something was pending, a run is due already, unless the plugger has put it off.
 */
static bool kofi_cq_append_chain(struct kofi_cq *cq, struct kofi_comp *first,
				 struct kofi_comp *last, size_t count,
				 size_t errors)
{
	unsigned long flags;
	bool due;

	last->next = NULL;
	if (trace_kofi_done_enabled())
		kofi_cq_trace(cq, first);
	spin_lock_irqsave(&cq->lock, flags);
	due = kofi_cq_link(cq, first, last, count, errors) ||
	      (READ_ONCE(cq->plugger) && cq->pending);
	spin_unlock_irqrestore(&cq->lock, flags);
	return due;
}

/* Shows a chain to @tap and those behind it; returns what none of them keeps */
static struct kofi_comp *kofi_cq_show(struct kofi_cq_tap *tap,
				      struct kofi_comp *chain)
{
	struct kofi_comp *left = NULL, **tail = &left, *comp;
	struct kofi_cq_tap *at;

	while ((comp = chain)) {
		chain = comp->next;
		comp->next = NULL;
		for (at = tap; at; at = at->next)
			if (at->complete(at, comp))
				break;
		if (at)
			continue;
		*tail = comp;
		tail = &comp->next;
	}
	return left;
}

static bool kofi_cq_append_counted(struct kofi_cq *cq, struct kofi_comp *chain)
{
	struct kofi_comp *last = chain;
	size_t count = 1, errors = !!chain->err;

	for (; last->next; last = last->next) {
		count++;
		errors += !!last->next->err;
	}
	return kofi_cq_append_chain(cq, chain, last, count, errors);
}

static bool kofi_cq_append_shown(struct kofi_cq *cq, struct kofi_cq_tap *tap,
				 struct kofi_comp *chain)
{
	if (tap)
		chain = kofi_cq_show(tap, chain);
	return chain && kofi_cq_append_counted(cq, chain);
}

static bool kofi_cq_append(struct kofi_cq *cq, struct kofi_comp *comp)
{
	if (unlikely(cq->taps) && !kofi_comp_is_mark(comp)) {
		comp->next = NULL;
		return kofi_cq_append_shown(cq, cq->taps, comp);
	}
	return kofi_cq_append_chain(cq, comp, comp, 1, !!comp->err);
}

void kofi_cq_begin_batch(struct kofi_cq *cq)
{
	lockdep_assert_held(&cq->poll_lock);
	cq->batch.tail = &cq->batch.head;
	cq->batch.count = 0;
	cq->batch.errors = 0;
}

void kofi_cq_append_batch(struct kofi_cq *cq)
{
	struct kofi_cq_batch *batch = &cq->batch;

	lockdep_assert_held(&cq->poll_lock);
	if (unlikely(cq->taps)) {
		*batch->tail = NULL;
		batch->pending |= kofi_cq_append_shown(cq, cq->taps, batch->head);
		return;
	}
	batch->pending |= kofi_cq_append_chain(cq, batch->head,
					       container_of(batch->tail, struct kofi_comp, next),
					       batch->count, batch->errors);
}

void kofi_cq_polled_now(struct kofi_cq *cq, struct kofi_comp *comp)
{
	kofi_cq_polled(cq, comp);
	kofi_cq_append_batch(cq);
	kofi_cq_begin_batch(cq);
}
EXPORT_SYMBOL_GPL(kofi_cq_polled_now);

void kofi_cq_add_tap(struct kofi_cq *cq, struct kofi_cq_tap *tap)
{
	struct kofi_cq_tap **end = &cq->taps;

	while (*end)
		end = &(*end)->next;
	tap->next = NULL;
	*end = tap;
}
EXPORT_SYMBOL_GPL(kofi_cq_add_tap);

void kofi_cq_tapped(struct kofi_cq *cq, struct kofi_cq_tap *tap,
		    struct kofi_comp *chain)
{
	if (kofi_cq_append_shown(cq, tap->next, chain))
		kofi_cq_schedule(cq);
}
EXPORT_SYMBOL_GPL(kofi_cq_tapped);

void kofi_cq_flush_taps(struct kofi_cq *cq)
{
	struct kofi_cq_tap *tap;

	for (tap = cq->taps; tap; tap = tap->next)
		if (tap->flush)
			tap->flush(tap);
}

void kofi_cq_append_plug(struct kofi_cq *cq)
{
	struct kofi_cq_batch *plug = &cq->plug;

	if (!plug->count)
		return;
	plug->pending |= kofi_cq_append_chain(cq, plug->head,
					      container_of(plug->tail, struct kofi_comp, next),
					      plug->count, plug->errors);
	kofi_cq_begin_plug(cq);
}

/*
 * Has the caller plugged the queue, for callbacks?  A softirq that interrupts the plugger is
 * another task; readers, and taps, see each completion at once.
 */
static bool kofi_cq_is_plugged(const struct kofi_cq *cq)
{
	return READ_ONCE(cq->plugger) == current && in_task() && kofi_cq_has_callbacks(cq) &&
	       !cq->taps;
}

struct kofi_cq_batch *kofi_cq_plug_batch(struct kofi_cq *cq)
{
	return kofi_cq_is_plugged(cq) ? &cq->plug : NULL;
}
EXPORT_SYMBOL_GPL(kofi_cq_plug_batch);

void kofi_cq_complete(struct kofi_cq *cq, struct kofi_comp *comp)
{
	if (kofi_cq_is_plugged(cq)) {
		kofi_cq_batch_add(&cq->plug, comp);
		return;
	}
	if (kofi_cq_append(cq, comp))
		kofi_cq_schedule(cq);
}
EXPORT_SYMBOL_GPL(kofi_cq_complete);

void kofi_cq_complete_success(struct kofi_cq *cq, struct kofi_comp *comp)
{
	if (unlikely(READ_ONCE(cq->plugger) || !kofi_cq_has_callbacks(cq) ||
		     trace_kofi_done_enabled())) {
		kofi_cq_complete(cq, comp);
		return;
	}
	comp->next = NULL;
	spin_lock(&cq->lock);
	*cq->tail = comp;
	cq->tail = &comp->next;
	cq->count++;
	cq->completed++;
	/* A plugger that has come meanwhile, and puts a run off, unplugs the queue soon */
	if (likely(cq->pending)) {
		spin_unlock(&cq->lock);
		return;
	}
	cq->pending = true;
	spin_unlock(&cq->lock);
	kofi_cq_schedule(cq);
}
EXPORT_SYMBOL_GPL(kofi_cq_complete_success);

void kofi_cq_complete_now(struct kofi_cq *cq, struct kofi_comp *comp)
{
	if (kofi_cq_is_plugged(cq))
		kofi_cq_append_plug(cq);
	if (kofi_cq_append(cq, comp))
		kofi_cq_schedule(cq);
}
EXPORT_SYMBOL_GPL(kofi_cq_complete_now);

void kofi_cq_complete_chain(struct kofi_cq *cq, struct kofi_comp *chain)
{
	if (kofi_cq_is_plugged(cq))
		kofi_cq_append_plug(cq);
	if (kofi_cq_append_shown(cq, cq->taps, chain))
		kofi_cq_schedule(cq);
}
EXPORT_SYMBOL_GPL(kofi_cq_complete_chain);

void kofi_cq_end(struct kofi_cq *cq, int err)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->ended = err;
	kofi_cq_disarm(cq);
	wake_up_all(&cq->wait);
	spin_unlock_irqrestore(&cq->lock, flags);
	kofi_cq_schedule(cq);
}
EXPORT_SYMBOL_GPL(kofi_cq_end);

/* Takes out what belongs to @owner among the next completions; returns where it stopped */
static struct kofi_comp **kofi_cq_purge_some(struct kofi_cq *cq,
					     struct kofi_comp **at,
					     bool (*belongs)(struct kofi_comp *,
							     void *),
					     void *owner,
					     struct kofi_comp **purged)
{
	struct kofi_comp *comp;
	int i;

	lockdep_assert_held(&cq->lock);
	for (i = 0; i < KOFI_CQ_BATCH && (comp = *at); i++) {
		if (!belongs(comp, owner)) {
			at = &comp->next;
			continue;
		}
		*at = comp->next;
		if (!comp->next)
			cq->tail = at;
		comp->next = *purged;
		*purged = comp;
		cq->count--;
		cq->errors -= !!comp->err;
	}
	return at;
}

/* Releases the lock for a moment; returns where to go on */
static struct kofi_comp **kofi_cq_purge_pause(struct kofi_cq *cq,
					      struct kofi_comp **at,
					      unsigned long *flags)
{
	struct kofi_cq_mark mark = {
		.comp = { .next = *at, .flags = KOFI_COMP_MARK, .err = EIO },
	};

	*at = &mark.comp;
	spin_unlock_irqrestore(&cq->lock, *flags);
	cond_resched();
	spin_lock_irqsave(&cq->lock, *flags);
	/* Readers may have taken what was before the mark, and the mark, too */
	if (mark.popped)
		return &cq->head;
	if (cq->head == &mark.comp)
		at = &cq->head;
	*at = mark.comp.next;
	if (!*at)
		cq->tail = at;
	return at;
}

static void kofi_cq_purge_unread(struct kofi_cq *cq,
				 bool (*belongs)(struct kofi_comp *comp,
						 void *owner),
				 void *owner)
{
	struct kofi_comp *purged = NULL, **at = &cq->head;
	unsigned long flags;

	mutex_lock(&cq->purge_lock);
	spin_lock_irqsave(&cq->lock, flags);
	for (;;) {
		at = kofi_cq_purge_some(cq, at, belongs, owner, &purged);
		if (!*at)
			break;
		at = kofi_cq_purge_pause(cq, at, &flags);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	mutex_unlock(&cq->purge_lock);
	if (purged)
		cq->ops->release(purged);
	/*
	 * Wait for readers that had taken some.  New ones may come all the time, so this does not
	 * wait for the count.  Expedited, as devices have many endpoints.
	 */
	if (atomic_read_acquire(&cq->readers))
		synchronize_rcu_expedited();
}

void kofi_cq_purge(struct kofi_cq *cq,
		   bool (*belongs)(struct kofi_comp *comp, void *owner),
		   void *owner)
{
	kofi_cq_flush(cq);
	if (!kofi_cq_has_callbacks(cq))
		kofi_cq_purge_unread(cq, belongs, owner);
}
EXPORT_SYMBOL_GPL(kofi_cq_purge);
