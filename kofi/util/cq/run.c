// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Where the device of a completion queue is polled, and its client called, and by which task.
 *
 * Three things are called in the context of a queue: the callback of an operation
 * (FI_WAIT_DONE), the handler (FI_WAIT_CALLBACK), and struct kofi_cq_call.
 * The task that makes such a call holds the token, cq->runner, which names the task.  So no two
 * calls run at the same time, and a close from inside a callback is recognised.
 *
 * The runner is
 *
 *	- a tasklet (FI_COMP_SOFTIRQ) or a work item (FI_COMP_WORKQUEUE), on the
 *	  processor that the client asked for, if it asked for one and it is online;
 *	- the caller of fi_cq_read() (FI_COMP_DIRECT, and FI_WAIT_NONE).
 *
 * The life of a batch.  If the provider has a device to poll (->poll), its runner polls: the
 * tasklet, the reader, or with FI_COMP_WORKQUEUE a work item of its own, on the processor of the
 * device's interrupt.  Under cq->poll_lock ->poll links the completions of up to KOFI_CQ_POLL
 * entries (cq->batch).  Before the lock is released, the batch goes to one of three: with
 * FI_WAIT_DONE to the runner, which already holds the token; to the reader of a direct queue; or,
 * with one hold of cq->lock and one wake-up, into the list.  The list comes first, so a batch
 * goes there if anything is left in it, or a tap has to see the batch.  If the provider hands
 * completions over by itself, they are in the list, and the runner takes its batches from there.
 *
 * A runner copies what up to KOFI_CQ_DUE callbacks are given, has the provider take the completions
 * back together, and makes the callbacks with nothing held but the token.
 *
 * When the device has no more entries, the poller has the device announce the next one (->arm).
 * Devices announce no entry that came before, so ->arm says whether there is one.  Nothing arms the
 * device of a direct queue, unless a task waits for the device itself (kofi_cq_watch()): then
 * the work item polls into the list.
 *
 * Handing over.  A task that has something for the runner puts it into the queue and sets
 * cq->pending, both under the lock; then it schedules a runner.  A runner that finds the token
 * taken returns at once, as the holder looks at cq->pending once more after it has released the
 * token.  There is a full barrier between the two steps on either side, so one of the two sees
 * the other.
 *
 * What a callback may wait for.  A client whose operation has failed closes what the operation
 * used, and such a close may wait for the device, and so for the poller.  With FI_COMP_WORKQUEUE,
 * the work item that polls only calls the callbacks of batches without a failure; everything else
 * is called by the other work item, beside which the first goes on polling, into the list.
 * kofi_cq_may_wait() says what is left: waits that would wait for themselves.
 *
 * Memory.  A client that is called in a worker may be part of writeback, and posts or connects
 * again from there.  So each worker makes its calls in a NOIO frame: no
 * allocation of the client waits for the I/O that waits for the client (Documentation/reclaim.rst).
 * A reader of a direct queue has a frame of its own if it needs one.  A call may wait for a poller,
 * so the work items that poll have a workqueue of their own, with a rescuer of its own.
 *
 * A plug.  A worker that moves data itself, and completes many operations in one turn, plugs the
 * queue meanwhile.  What it completes for callbacks is collected in cq->plug.  When the turn is
 * over, and the worker still holds the lock that keeps its operations in order, kofi_cq_claim()
 * takes the token if it can, or else puts the collection into the list.  So what another task
 * completes from then on is behind it.  kofi_cq_unplug() then makes the callbacks, with nothing
 * held but the token, and with bottom halves disabled: that is done for FI_COMP_SOFTIRQ only, as a
 * callback that sleeps may wait for the worker, and by the work item of the queue in its turn.  A
 * task that waits for the callbacks of a queue (kofi_cq_flush()) first waits until it is unplugged.
 *
 * A turn (kofi_cq_turn()).  A provider whose worker would do nothing but complete operations has
 * the work item of a FI_COMP_WORKQUEUE queue do that work, with a plug: then the work item takes
 * the token at the claim, and one task does both.  As a callback may sleep, and wait for the
 * provider's worker or for the peer, a turn never waits for callbacks: the provider's own worker
 * does what becomes due while there is a runner.  kofi_cq_turn() puts the turn into cq->turn and
 * then looks at the runner; a runner takes the token and then looks at cq->turn.  There is a full
 * barrier between the two steps on either side.
 *
 * A run ends after KOFI_CQ_BATCH calls and schedules the next one, so that a busy queue keeps
 * neither softirqs nor workers from others.
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/wait_bit.h>
#include <kofi/compat.h>
#include <kofi/refuse.h>
#include "../../kofi.h"
#include "../../trace.h"
#include "cq.h"

static struct workqueue_struct *kofi_comp_wq;
static struct workqueue_struct *kofi_poll_wq;

/* The worker of the queue takes the turn that is due; @busy: it is about to make callbacks */
static void kofi_cq_take_turn(struct kofi_cq *cq, bool busy)
{
	struct kofi_cq_turn *turn = xchg(&cq->turn, NULL);

	if (turn)
		turn->fn(turn, busy);
}

static bool kofi_cq_try_run(struct kofi_cq *cq)
{
	if (READ_ONCE(cq->runner) || cmpxchg(&cq->runner, NULL, current))
		return false;
	/* Pairs with kofi_cq_turn(): it sees the runner, or this task sees the turn */
	if (unlikely(READ_ONCE(cq->turn)))
		kofi_cq_take_turn(cq, true);
	return true;
}

static void kofi_cq_end_run(struct kofi_cq *cq)
{
	/* The next runner sees what the calls have done */
	smp_store_release(&cq->runner, NULL);
	/* Pairs with kofi_cq_run(): it sees that the token is free, or this task sees @pending */
	smp_mb();
	if (READ_ONCE(cq->pending))
		kofi_cq_schedule(cq);
}

/* FI_COMP_DIRECT: the next reader looks at @pending; kofi_cq_flush_direct() waits for the token */
static void kofi_cq_end_direct(struct kofi_cq *cq)
{
	store_release_wake_up(&cq->runner, NULL);
}

/* A completion with more fields.  Error data are the provider's until it is released */
static void kofi_cq_call_msg(struct kofi_cq *cq, struct kofi_comp *comp)
{
	struct fi_done_msg msg = container_of(comp, struct kofi_msg_comp, comp)->msg;
	struct fi_done *done = comp->op_context;
	const struct fi_done_entry entry = {
		.flags		= comp->flags & ~KOFI_COMP_MSG,
		.len		= comp->len,
		.buf		= comp->buf,
		.data		= comp->data,
		.err		= comp->err,
		.prov_errno	= comp->prov_errno,
		.msg		= &msg,
	};

	comp->next = NULL;
	if (msg.err_data_size && done && done->done) {
		done->done(done, &entry);
		done = NULL;
	}
	cq->ops->release(comp);
	if (done && done->done)
		done->done(done, &entry);
}

static bool kofi_comp_is_plain(const struct kofi_comp *comp)
{
	return likely(!(comp->flags & (KOFI_COMP_MSG | KOFI_COMP_MARK)));
}

/*
 * Makes the callbacks of the next plain completions, and returns what is left of the chain.  The
 * slots are free before the callbacks run, so that these find room to post.
 */
static struct kofi_comp *kofi_cq_call_plain(struct kofi_cq *cq, struct kofi_comp *chain)
{
	struct kofi_cq_due dues[KOFI_CQ_DUE] __uninitialized;
	struct kofi_cq_due *due = dues, *end = dues + KOFI_CQ_DUE;
	struct kofi_comp *comp = chain, *last;

	do {
		due->done = comp->op_context;
		due->entry.flags = comp->flags;
		due->entry.len = comp->len;
		due->entry.buf = comp->buf;
		due->entry.data = comp->data;
		due->entry.err = comp->err;
		due->entry.prov_errno = comp->prov_errno;
		due->entry.msg = NULL;
		last = comp;
		comp = comp->next;
	} while (++due < end && comp && kofi_comp_is_plain(comp));
	last->next = NULL;
	cq->ops->release(chain);
	for (end = due, due = dues; due < end; due++)
		if (likely(due->done && due->done->done))
			due->done->done(due->done, &due->entry);
	return comp;
}

/* Makes the callbacks of a chain; the caller holds the token */
static void kofi_cq_call_chain(struct kofi_cq *cq, struct kofi_comp *comp)
{
	struct kofi_comp *next;

	while (comp) {
		if (kofi_comp_is_plain(comp)) {
			comp = kofi_cq_call_plain(cq, comp);
			continue;
		}
		next = comp->next;
		if (kofi_comp_is_mark(comp))
			complete(&to_kofi_cq_mark(comp)->passed);
		else
			kofi_cq_call_msg(cq, comp);
		comp = next;
	}
}

static void kofi_cq_run_call(struct kofi_cq *cq, struct kofi_cq_call *call)
{
	call->fn(call);
	/* From now on @call may be gone; kofi_cq_cancel_call() acquires */
	store_release_wake_up(&cq->calling, NULL);
}

/*
 * The call that is due next, or NULL: a completion or the handler is due before, or nothing.  Calls
 * and completions take turns, as a call (ready) may post, be refused, and become due again by that.
 */
static struct kofi_cq_call *kofi_cq_next_call(struct kofi_cq *cq)
{
	bool turn = !cq->called;

	lockdep_assert_held(&cq->lock);
	cq->called = false;
	if (!turn && (cq->handler_due || (kofi_cq_has_callbacks(cq) && cq->head)))
		return NULL;
	return list_first_entry_or_null(&cq->calls, struct kofi_cq_call, entry);
}

/* Takes up to @budget completions out of the list, for their callbacks; returns how many */
static size_t kofi_cq_take_chain(struct kofi_cq *cq, size_t budget, struct kofi_comp **chain)
{
	struct kofi_comp **end = &cq->head, *comp;
	size_t n;

	lockdep_assert_held(&cq->lock);
	*chain = cq->head;
	if (cq->count <= budget) {
		n = cq->count;
		end = cq->tail;
	} else {
		for (n = 0; n < budget; n++)
			end = &(*end)->next;
	}
	if (!n)
		return 0;
	kofi_cq_cut(cq, end, n);
	if (unlikely(cq->errors))
		for (comp = *chain; comp; comp = comp->next)
			cq->errors -= !!comp->err;
	return n;
}

/* Makes the calls that are due next, at most @budget; returns how many, 0 if nothing is due */
static size_t kofi_cq_run_one(struct kofi_cq *cq, size_t budget)
{
	struct kofi_comp *chain;
	struct kofi_cq_call *call;
	unsigned long flags;
	size_t n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	call = kofi_cq_next_call(cq);
	if (call) {
		list_del_init(&call->entry);
		cq->calling = call;
		cq->called = true;
		spin_unlock_irqrestore(&cq->lock, flags);
		kofi_cq_run_call(cq, call);
		return 1;
	}
	if (cq->handler_due) {
		cq->handler_due = false;
		spin_unlock_irqrestore(&cq->lock, flags);
		cq->handler(&cq->cq, cq->cq.fid.context);
		return 1;
	}
	/* If a call is due, it is the call's turn behind one callback */
	if (!list_empty(&cq->calls))
		budget = 1;
	if (kofi_cq_has_callbacks(cq))
		n = kofi_cq_take_chain(cq, budget, &chain);
	if (!n || (!cq->head && list_empty(&cq->calls)))
		cq->pending = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (n)
		kofi_cq_call_chain(cq, chain);
	return n;
}

/* Makes the calls that are due, for the list; returns how many */
static size_t kofi_cq_run_list(struct kofi_cq *cq, size_t budget)
{
	size_t n = 0, made;

	while (n < budget && READ_ONCE(cq->pending) && (made = kofi_cq_run_one(cq, budget - n)))
		n += made;
	return n;
}

/* Makes the calls that are due, unless another task makes them */
void kofi_cq_run(struct kofi_cq *cq)
{
	/* Pairs with kofi_cq_end_run() */
	smp_mb();
	if (!kofi_cq_try_run(cq))
		return;
	kofi_cq_run_list(cq, KOFI_CQ_BATCH);
	kofi_cq_end_run(cq);
}

/* Polls up to @budget entries into the batch; returns whether the device may have more */
static bool kofi_cq_poll_device(struct kofi_cq *cq, size_t budget)
{
	size_t n, step;

	kofi_cq_begin_batch(cq);
	do {
		step = min_t(size_t, budget, KOFI_CQ_POLL);
		n = cq->ops->poll(cq, step);
		budget -= n;
	} while (n == step && budget);
	return n == step;
}

/*
 * Ends a batch, and returns it if @take is set, the list is empty, and no tap has to see it.
 * Otherwise the batch goes into the list.
 */
static struct kofi_comp *kofi_cq_end_batch(struct kofi_cq *cq, bool take)
{
	struct kofi_cq_batch *batch = &cq->batch;

	lockdep_assert_held(&cq->poll_lock);
	if (!batch->count)
		return NULL;
	if (!take || unlikely(READ_ONCE(cq->head)) || unlikely(cq->taps)) {
		kofi_cq_append_batch(cq);
		return NULL;
	}
	*batch->tail = NULL;
	if (trace_kofi_done_enabled())
		kofi_cq_trace(cq, batch->head);
	WRITE_ONCE(cq->completed_direct, cq->completed_direct + batch->count);
	WRITE_ONCE(cq->failed_direct, cq->failed_direct + batch->errors);
	return batch->head;
}

/* For the tasklet, or a work item */
static void kofi_cq_lock_poll(struct kofi_cq *cq) __acquires(&cq->poll_lock)
{
	if (cq->comp_ctx != FI_COMP_SOFTIRQ)
		local_bh_disable();
	spin_lock(&cq->poll_lock);
}

static void kofi_cq_unlock_poll(struct kofi_cq *cq) __releases(&cq->poll_lock)
{
	spin_unlock(&cq->poll_lock);
	if (cq->comp_ctx != FI_COMP_SOFTIRQ)
		local_bh_enable();
}

/*
 * Polls one batch, and makes its callbacks if the caller is the @runner.  Returns whether the
 * device may have more.
 */
static bool kofi_cq_poll_batch(struct kofi_cq *cq, bool runner, bool *pending)
{
	struct kofi_comp *chain;
	bool more, take;

	kofi_cq_lock_poll(cq);
	more = kofi_cq_poll_device(cq, KOFI_CQ_POLL);
	/* The callback of a failure may wait for the worker that polls */
	take = runner && kofi_cq_has_callbacks(cq) &&
	       (cq->comp_ctx == FI_COMP_SOFTIRQ || !cq->batch.errors);
	chain = kofi_cq_end_batch(cq, take);
	*pending |= cq->batch.pending;
	cq->batch.pending = false;
	kofi_cq_unlock_poll(cq);
	if (chain)
		kofi_cq_call_chain(cq, chain);
	return more;
}

/* Has the device announce its next entry; returns whether it has one already */
static bool kofi_cq_arm(struct kofi_cq *cq)
{
	bool more;

	if (cq->comp_ctx == FI_COMP_DIRECT && !atomic_read(&cq->watchers))
		return false;
	kofi_cq_lock_poll(cq);
	more = cq->ops->arm(cq);
	kofi_cq_unlock_poll(cq);
	return more;
}

/* A run of the tasklet, or of the work item that polls, which leaves the list to another */
static void kofi_cq_poll_run(struct kofi_cq *cq)
{
	int left = KOFI_CQ_BATCH / KOFI_CQ_POLL;
	bool runner, more, pending = false;

	/* Pairs with kofi_cq_end_run() */
	smp_mb();
	runner = cq->comp_ctx != FI_COMP_DIRECT && kofi_cq_try_run(cq);
	if (runner)
		cq->in_poller = true;
	do
		more = kofi_cq_poll_batch(cq, runner, &pending) || kofi_cq_arm(cq);
	while (more && --left);
	if (more)
		kofi_cq_poll_due(cq);
	if (!runner) {
		if (pending)
			kofi_cq_schedule(cq);
		return;
	}
	if (cq->comp_ctx == FI_COMP_SOFTIRQ && READ_ONCE(cq->pending))
		kofi_cq_run_list(cq, KOFI_CQ_BATCH);
	cq->in_poller = false;
	kofi_cq_end_run(cq);
}

static void kofi_cq_tasklet(struct tasklet_struct *tasklet)
{
	struct kofi_cq *cq = from_tasklet(cq, tasklet, tasklet);

	if (cq->ops->poll)
		kofi_cq_poll_run(cq);
	else
		kofi_cq_run(cq);
}

static void kofi_cq_work(struct work_struct *work)
{
	struct kofi_cq *cq = container_of(work, struct kofi_cq, work);
	unsigned int noio = memalloc_noio_save();

	WRITE_ONCE(cq->worker, current);
	if (READ_ONCE(cq->turn))
		kofi_cq_take_turn(cq, false);
	WRITE_ONCE(cq->worker, NULL);
	/* What becomes pending after this look queues the work item once more */
	if (READ_ONCE(cq->pending))
		kofi_cq_run(cq);
	memalloc_noio_restore(noio);
}

static void kofi_cq_poll_work(struct work_struct *work)
{
	unsigned int noio = memalloc_noio_save();

	kofi_cq_poll_run(container_of(work, struct kofi_cq, poll_work));
	memalloc_noio_restore(noio);
}

/* Runs on the processor that the client asked for */
static void kofi_cq_csd(void *context)
{
	struct kofi_cq *cq = context;

	tasklet_schedule(&cq->tasklet);
	clear_and_wake_up_bit(0, &cq->csd_busy);
}

/*
 * Send an IPI that schedules the tasklet on cq->cpu.  Return false if there is no such processor to
 * send it to: none is set, or it is this one, or offline.
 */
static bool kofi_cq_send_ipi(struct kofi_cq *cq)
{
	bool sent = false;

	if (cq->cpu < 0)
		return false;
	if (cq->cpu != get_cpu() && cpu_online(cq->cpu)) {
		sent = true;
		if (!test_and_set_bit(0, &cq->csd_busy) &&
		    smp_call_function_single_async(cq->cpu, &cq->csd)) {
			clear_and_wake_up_bit(0, &cq->csd_busy);
			sent = false;
		}
	}
	put_cpu();
	return sent;
}

static void kofi_cq_queue_work(struct kofi_cq *cq)
{
	queue_work_on(cq->cpu >= 0 && cpu_online(cq->cpu) ? cq->cpu : WORK_CPU_UNBOUND,
		      kofi_comp_wq, &cq->work);
}

bool kofi_cq_turn(struct kofi_cq *cq, struct kofi_cq_turn *turn)
{
	if (READ_ONCE(cq->runner) || cmpxchg(&cq->turn, NULL, turn))
		return false;
	/* Pairs with kofi_cq_try_run().  If another task has taken the turn, it has called it */
	if (unlikely(READ_ONCE(cq->runner)) && cmpxchg(&cq->turn, turn, NULL) == turn)
		return false;
	kofi_cq_queue_work(cq);
	return true;
}
EXPORT_SYMBOL_GPL(kofi_cq_turn);

void kofi_cq_schedule(struct kofi_cq *cq)
{
	if (READ_ONCE(cq->plugger) == current) {
		WRITE_ONCE(cq->plug.pending, true);
		return;
	}
	/* Both look at @pending at their end: the caller is one of them, or interrupts it */
	if (READ_ONCE(cq->runner) == current || READ_ONCE(cq->worker) == current)
		return;
	switch (cq->comp_ctx) {
	case FI_COMP_SOFTIRQ:
		if (!kofi_cq_send_ipi(cq))
			tasklet_schedule(&cq->tasklet);
		break;
	case FI_COMP_WORKQUEUE:
		kofi_cq_queue_work(cq);
		break;
	case FI_COMP_DIRECT:
		/* The next fi_cq_read() will look */
		break;
	}
}

bool kofi_cq_plug(struct kofi_cq *cq)
{
	/* The run that the caller belongs to makes the callbacks, and keeps the token until then */
	if (READ_ONCE(cq->runner) == current)
		return false;
	return !READ_ONCE(cq->plugger) && !cmpxchg(&cq->plugger, NULL, current);
}
EXPORT_SYMBOL_GPL(kofi_cq_plug);

/* May the client be called by this task?  With FI_COMP_SOFTIRQ bottom halves are disabled then */
static bool kofi_cq_may_call_here(const struct kofi_cq *cq)
{
	if (cq->comp_ctx != FI_COMP_SOFTIRQ)
		return READ_ONCE(cq->worker) == current;
	return cq->cpu < 0 ||
	       (current->nr_cpus_allowed == 1 && cq->cpu == raw_smp_processor_id());
}

void kofi_cq_claim(struct kofi_cq *cq)
{
	if (!cq->plug.count || READ_ONCE(cq->runner) == current)
		return;
	if (!kofi_cq_may_call_here(cq) || !kofi_cq_try_run(cq)) {
		kofi_cq_append_plug(cq);
		return;
	}
	/* This task has the token: what comes into the list from now on is called later */
	if (likely(!READ_ONCE(cq->head)))
		return;
	kofi_cq_append_plug(cq);
	kofi_cq_end_run(cq);
}
EXPORT_SYMBOL_GPL(kofi_cq_claim);

/* Makes the callbacks of what was put off; the caller holds the token */
static void kofi_cq_call_plugged(struct kofi_cq *cq, const struct kofi_cq_batch *plug)
{
	unsigned int noio = memalloc_noio_save();

	*plug->tail = NULL;
	if (trace_kofi_done_enabled())
		kofi_cq_trace(cq, plug->head);
	WRITE_ONCE(cq->completed_direct, cq->completed_direct + plug->count);
	WRITE_ONCE(cq->failed_direct, cq->failed_direct + plug->errors);
	kofi_cq_call_chain(cq, plug->head);
	if (READ_ONCE(cq->pending))
		kofi_cq_run_list(cq, KOFI_CQ_BATCH);
	kofi_cq_end_run(cq);
	memalloc_noio_restore(noio);
}

void kofi_cq_unplug(struct kofi_cq *cq)
{
	struct kofi_cq_batch plug;
	bool calls;

	if (cq->plug.count && READ_ONCE(cq->runner) != current)
		kofi_cq_claim(cq);
	calls = cq->plug.count || READ_ONCE(cq->plug.pending);
	/* A softirq that interrupts this task puts its run off, too, until @plugger is NULL */
	calls = calls && cq->comp_ctx == FI_COMP_SOFTIRQ;
	if (calls)
		local_bh_disable();
	plug = cq->plug;
	kofi_cq_begin_plug(cq);
	/* What interrupts this task from here on sets it again, and is seen below */
	plug.pending = xchg(&cq->plug.pending, false);
	/* Pairs with kofi_cq_is_unplugged(), as the next release does */
	smp_store_release(&cq->plugs, cq->plugs + 1);
	/* The next task to plug the queue finds @plug as it is now */
	smp_store_release(&cq->plugger, NULL);
	/* Pairs with kofi_cq_wait_plug(): its count is seen here, or @plugger is NULL there */
	smp_mb();
	if (unlikely(atomic_read(&cq->plug_waits)))
		wake_up_var(&cq->plugger);
	/* An interrupt may have come meanwhile; a run too many does no harm */
	plug.pending |= READ_ONCE(cq->plug.pending);
	if (plug.count)
		kofi_cq_call_plugged(cq, &plug);
	if (plug.pending && READ_ONCE(cq->pending))
		kofi_cq_schedule(cq);
	/* The tasklet runs here, and ksoftirqd is not woken */
	if (calls)
		local_bh_enable();
}
EXPORT_SYMBOL_GPL(kofi_cq_unplug);

/* Is nobody the plugger that there was when @plugs was read?  Acquires what that one has done */
static bool kofi_cq_is_unplugged(const struct kofi_cq *cq, unsigned int plugs)
{
	/* Both pair with kofi_cq_unplug() */
	return !smp_load_acquire(&cq->plugger) || smp_load_acquire(&cq->plugs) != plugs;
}

/* From now on, what the plugger had completed is in the list, or has a runner */
static void kofi_cq_wait_plug(struct kofi_cq *cq)
{
	unsigned int plugs = READ_ONCE(cq->plugs);

	if (READ_ONCE(cq->plugger) == current || kofi_cq_is_unplugged(cq, plugs))
		return;
	atomic_inc(&cq->plug_waits);
	/* Pairs with kofi_cq_unplug() */
	smp_mb__after_atomic();
	wait_var_event(&cq->plugger, kofi_cq_is_unplugged(cq, plugs));
	atomic_dec(&cq->plug_waits);
}

void kofi_cq_poll_due(struct kofi_cq *cq)
{
	if (cq->comp_ctx == FI_COMP_SOFTIRQ)
		tasklet_schedule(&cq->tasklet);
	else if (cq->comp_ctx == FI_COMP_WORKQUEUE || atomic_read(&cq->watchers))
		queue_work(kofi_poll_wq, &cq->poll_work);
}
EXPORT_SYMBOL_GPL(kofi_cq_poll_due);

void kofi_cq_watch(struct kofi_cq *cq)
{
	atomic_inc(&cq->watchers);
	if (cq->comp_ctx == FI_COMP_DIRECT)
		kofi_cq_poll_due(cq);
}
EXPORT_SYMBOL_GPL(kofi_cq_watch);

/*
 * Polls for the reader of a direct queue, without waiting for another one.  Returns a chain of
 * *@polled completions, at most @count, or NULL: there are none, or they are in the list.
 */
struct kofi_comp *kofi_cq_poll_reader(struct kofi_cq *cq, size_t count, size_t *polled)
{
	struct kofi_comp *chain;
	unsigned long flags;
	bool take;

	if (!cq->ops->poll || !count || READ_ONCE(cq->head) ||
	    !spin_trylock_irqsave(&cq->poll_lock, flags))
		return NULL;
	kofi_cq_poll_device(cq, count);
	*polled = cq->batch.count;
	/* Readers stop in front of an error */
	take = !cq->batch.errors && cq->batch.count <= count;
	chain = kofi_cq_end_batch(cq, take);
	spin_unlock_irqrestore(&cq->poll_lock, flags);
	return chain;
}

/* For a reader that polls for callbacks; returns how many calls were made */
size_t kofi_cq_run_reader(struct kofi_cq *cq, size_t count)
{
	struct kofi_comp *chain;
	size_t n, polled;

	if (!kofi_cq_try_run(cq))
		return 0;
	n = kofi_cq_run_list(cq, count);
	chain = kofi_cq_poll_reader(cq, min_t(size_t, count - n, KOFI_CQ_BATCH), &polled);
	if (chain) {
		kofi_cq_call_chain(cq, chain);
		n += polled;
	} else {
		n += kofi_cq_run_list(cq, count - n);
	}
	kofi_cq_end_direct(cq);
	return n;
}

/* No reader may come any more, so the caller makes the calls that are due */
static void kofi_cq_flush_direct(struct kofi_cq *cq, struct kofi_cq_mark *mark)
{
	bool mine = false;

	wait_var_event(&cq->runner,
		       completion_done(&mark->passed) ||
		       (mine = kofi_cq_try_run(cq)));
	if (!mine)
		return;
	while (!completion_done(&mark->passed)) {
		kofi_cq_run_one(cq, KOFI_CQ_BATCH);
		cond_resched();
	}
	kofi_cq_end_direct(cq);
}

/* A completion that is not in the list any more has been called, or its runner holds the token */
static bool kofi_cq_is_idle(const struct kofi_cq *cq)
{
	if (READ_ONCE(cq->pending))
		return false;
	/* A runner takes the token before it takes from the list */
	smp_rmb();
	/* Acquires what the last runner has done */
	return !smp_load_acquire(&cq->runner);
}

void kofi_cq_flush(struct kofi_cq *cq)
{
	struct kofi_cq_mark mark = {
		.comp = { .flags = KOFI_COMP_MARK, .err = EIO },
	};
	unsigned long flags;

	/* From now on a completion that was polled is in the list, or has a runner or a reader */
	spin_lock_bh(&cq->poll_lock);
	spin_unlock_bh(&cq->poll_lock);
	kofi_cq_wait_plug(cq);
	kofi_cq_flush_taps(cq);
	if (!kofi_cq_has_callbacks(cq) || kofi_cq_is_idle(cq))
		return;
	init_completion(&mark.passed);
	kofi_cq_complete(cq, &mark.comp);
	if (cq->comp_ctx == FI_COMP_DIRECT)
		kofi_cq_flush_direct(cq, &mark);
	else
		wait_for_completion(&mark.passed);

	/* The mark was counted, and is no completion */
	spin_lock_irqsave(&cq->lock, flags);
	cq->completed--;
	cq->failed--;
	spin_unlock_irqrestore(&cq->lock, flags);
}
EXPORT_SYMBOL_GPL(kofi_cq_flush);

void kofi_cq_call(struct kofi_cq *cq, struct kofi_cq_call *call)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (list_empty(&call->entry))
		list_add_tail(&call->entry, &cq->calls);
	cq->pending = true;
	spin_unlock_irqrestore(&cq->lock, flags);
	kofi_cq_schedule(cq);
}
EXPORT_SYMBOL_GPL(kofi_cq_call);

void kofi_cq_cancel_call(struct kofi_cq *cq, struct kofi_cq_call *call)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	list_del_init(&call->entry);
	spin_unlock_irqrestore(&cq->lock, flags);
	/* Pairs with kofi_cq_run_call() */
	wait_var_event(&cq->calling, smp_load_acquire(&cq->calling) != call);
}
EXPORT_SYMBOL_GPL(kofi_cq_cancel_call);

int kofi_cq_may_wait(const struct kofi_cq *cq, enum kofi_cq_wait wait)
{
	if (READ_ONCE(cq->runner) != current)
		return 0;
	/* The token is the caller's, and so are the fields of the runner */
	if (wait == KOFI_CQ_WAIT_POLLER && !cq->in_poller)
		return 0;
	return kofi_refuse("close or ep_drain", -EDEADLK, "called in a callback of the completion queue %p, for which it would wait; call it elsewhere",
			   &cq->cq.fid);
}
EXPORT_SYMBOL_GPL(kofi_cq_may_wait);

void kofi_cq_run_setup(struct kofi_cq *cq, const struct fi_cq_attr *attr)
{
	INIT_LIST_HEAD(&cq->calls);
	tasklet_setup(&cq->tasklet, kofi_cq_tasklet);
	INIT_WORK(&cq->work, kofi_cq_work);
	INIT_WORK(&cq->poll_work, kofi_cq_poll_work);
	INIT_CSD(&cq->csd, kofi_cq_csd, cq);
	cq->comp_ctx = attr->wait_obj == FI_WAIT_NONE ? FI_COMP_DIRECT :
							 attr->comp_ctx;
	cq->cpu = attr->flags & FI_AFFINITY ?
		  attr->signaling_vector % nr_cpu_ids : -1;
	kofi_cq_begin_plug(cq);
}

/* Ends runs that are scheduled; nothing becomes due any more */
void kofi_cq_run_stop(struct kofi_cq *cq)
{
	wait_on_bit(&cq->csd_busy, 0, TASK_UNINTERRUPTIBLE);
	tasklet_kill(&cq->tasklet);
	cancel_work_sync(&cq->poll_work);
	cancel_work_sync(&cq->work);
}

static struct workqueue_struct *kofi_cq_new_wq(const char *name)
{
	/* Memory reclaim may depend on callbacks */
	return alloc_workqueue("%s", WQ_MEM_RECLAIM | WQ_HIGHPRI | WQ_PERCPU, 0, name);
}

int kofi_cq_run_init(void)
{
	kofi_comp_wq = kofi_cq_new_wq("kofi_comp");
	if (!kofi_comp_wq)
		return -ENOMEM;
	kofi_poll_wq = kofi_cq_new_wq("kofi_poll");
	if (kofi_poll_wq)
		return 0;
	destroy_workqueue(kofi_comp_wq);
	return -ENOMEM;
}

void kofi_cq_run_exit(void)
{
	destroy_workqueue(kofi_poll_wq);
	destroy_workqueue(kofi_comp_wq);
}
