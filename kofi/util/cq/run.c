// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Where the client of a completion queue is called, and by which task.
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
 *	- the caller of fi_cq_read() (FI_COMP_DIRECT, and FI_WAIT_NONE);
 *	- the caller of kofi_cq_complete_here(), which has the right context already.
 *
 * Handing over.  A task that has something for the runner puts it into the queue and sets
 * cq->pending, both under the lock; then it schedules a runner.  A runner that finds the token
 * taken returns at once, as the holder looks at cq->pending once more after it has released the
 * token.  There is a full barrier between the two steps on either side, so one of the two sees
 * the other.  kofi_cq_complete_here() bypasses the list only while nothing is pending, so
 * completions of one caller keep their order.
 *
 * What a callback may wait for.  A callback that kofi_cq_complete_here() calls keeps the poller of
 * the device waiting.  A client whose operation has failed closes what the operation used, and such
 * a close may wait for the device, and so for the poller.  So kofi_cq_complete_here() never calls
 * the callback of an operation that has failed; the queue's own tasklet or work item does.
 * kofi_cq_may_wait() says what is left: waits that would wait for themselves.
 *
 * Memory.  A client that is called in a worker may be part of writeback, and posts or connects
 * again from there.  So each worker makes its calls in a NOIO frame, the poller's included: no
 * allocation of the client waits for the I/O that waits for the client (Documentation/reclaim.rst).
 * A reader of a direct queue has a frame of its own if it needs one.
 *
 * A run ends after KOFI_CQ_BATCH calls and schedules the next one, so that a busy queue keeps
 * neither softirqs nor workers from others.  The calls that kofi_cq_call_last() has put aside
 * are made at the end of the run, still with the token.
 */
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

static bool kofi_cq_try_run(struct kofi_cq *cq)
{
	return !READ_ONCE(cq->runner) && !cmpxchg(&cq->runner, NULL, current);
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

/* The slot is free before the callback runs, so that the callback finds room to post */
static void kofi_cq_report(struct kofi_cq *cq, struct kofi_comp *comp)
{
	struct fi_done *done = comp->op_context;
	struct fi_done_entry entry = {
		.flags		= comp->flags & ~KOFI_COMP_MSG,
		.len		= comp->len,
		.buf		= comp->buf,
		.data		= comp->data,
		.err		= comp->err,
		.prov_errno	= comp->prov_errno,
	};
	struct fi_done_msg msg;

	comp->next = NULL;
	if (unlikely(comp->flags & KOFI_COMP_MSG)) {
		msg = container_of(comp, struct kofi_msg_comp, comp)->msg;
		entry.msg = &msg;
		/* Error data are the provider's until the completion is released */
		if (msg.err_data_size && done && done->done) {
			done->done(done, &entry);
			done = NULL;
		}
	}
	cq->ops->release(comp);
	if (done && done->done)
		done->done(done, &entry);
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

/* Calls what is due next; returns false if nothing is */
static bool kofi_cq_run_one(struct kofi_cq *cq)
{
	struct kofi_cq_call *call;
	struct kofi_comp *comp;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	call = kofi_cq_next_call(cq);
	if (call) {
		list_del_init(&call->entry);
		cq->calling = call;
		cq->called = true;
		spin_unlock_irqrestore(&cq->lock, flags);
		kofi_cq_run_call(cq, call);
		return true;
	}
	if (cq->handler_due) {
		cq->handler_due = false;
		spin_unlock_irqrestore(&cq->lock, flags);
		cq->handler(&cq->cq, cq->cq.fid.context);
		return true;
	}
	comp = kofi_cq_has_callbacks(cq) ? cq->head : NULL;
	/* Not by a poller, which kofi_cq_end_run() schedules a run for */
	if (comp && comp->err && !kofi_comp_is_mark(comp) && cq->in_poller) {
		spin_unlock_irqrestore(&cq->lock, flags);
		return false;
	}
	if (!comp) {
		cq->pending = false;
		spin_unlock_irqrestore(&cq->lock, flags);
		return false;
	}
	cq->head = comp->next;
	if (!cq->head)
		cq->tail = &cq->head;
	cq->count--;
	cq->errors -= !!comp->err;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (kofi_comp_is_mark(comp))
		complete(&to_kofi_cq_mark(comp)->passed);
	else
		kofi_cq_report(cq, comp);
	return true;
}

/* Makes the calls that are due; returns how many */
static size_t kofi_cq_run_some(struct kofi_cq *cq, size_t budget)
{
	struct kofi_cq_call *call;
	size_t n = 0;

	cq->in_run = true;
	while (n < budget && kofi_cq_run_one(cq))
		n++;
	cq->in_run = false;
	while ((call = list_first_entry_or_null(&cq->last, struct kofi_cq_call, entry))) {
		list_del_init(&call->entry);
		call->fn(call);
	}
	return n;
}

bool kofi_cq_call_last(struct kofi_cq *cq, struct kofi_cq_call *call)
{
	if (READ_ONCE(cq->runner) != current || !cq->in_run)
		return false;
	list_add_tail(&call->entry, &cq->last);
	return true;
}
EXPORT_SYMBOL_GPL(kofi_cq_call_last);

/* Returns how many calls were made; 0 also if another task makes them */
static size_t kofi_cq_run(struct kofi_cq *cq, size_t budget)
{
	size_t n;

	/* Pairs with kofi_cq_end_run() */
	smp_mb();
	if (!kofi_cq_try_run(cq))
		return 0;
	n = kofi_cq_run_some(cq, budget);
	kofi_cq_end_run(cq);
	return n;
}

/* The caller is the reader of a direct queue, and something is pending */
void kofi_cq_run_here(struct kofi_cq *cq)
{
	kofi_cq_run(cq, KOFI_CQ_BATCH);
}

/* The caller is a poller that has the queue's context, and something is pending */
static void kofi_cq_run_in_poller(struct kofi_cq *cq)
{
	/* Pairs with kofi_cq_end_run() */
	smp_mb();
	if (!kofi_cq_try_run(cq))
		return;
	cq->in_poller = true;
	kofi_cq_run_some(cq, KOFI_CQ_BATCH);
	cq->in_poller = false;
	kofi_cq_end_run(cq);
}

static void kofi_cq_tasklet(struct tasklet_struct *tasklet)
{
	struct kofi_cq *cq = from_tasklet(cq, tasklet, tasklet);

	kofi_cq_run(cq, KOFI_CQ_BATCH);
}

static void kofi_cq_work(struct work_struct *work)
{
	unsigned int noio = memalloc_noio_save();

	kofi_cq_run(container_of(work, struct kofi_cq, work), KOFI_CQ_BATCH);
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

void kofi_cq_schedule(struct kofi_cq *cq)
{
	switch (cq->comp_ctx) {
	case FI_COMP_SOFTIRQ:
		if (!kofi_cq_send_ipi(cq))
			tasklet_schedule(&cq->tasklet);
		break;
	case FI_COMP_WORKQUEUE:
		queue_work_on(cq->cpu >= 0 && cpu_online(cq->cpu) ?
			      cq->cpu : WORK_CPU_UNBOUND, kofi_comp_wq,
			      &cq->work);
		break;
	case FI_COMP_DIRECT:
		/* The next fi_cq_read() will look */
		break;
	}
}

/* Take the token to call the callback of @comp at once, or return false */
static __always_inline bool kofi_cq_try_here(struct kofi_cq *cq, const struct kofi_comp *comp)
{
	return likely(!comp->err) && likely(!READ_ONCE(cq->pending)) &&
	       likely(kofi_cq_try_run(cq));
}

static __always_inline void kofi_cq_report_here(struct kofi_cq *cq, struct kofi_comp *comp)
{
	WRITE_ONCE(cq->completed_here, cq->completed_here + 1);
	trace_kofi_done(&cq->cq.fid, comp);
	kofi_cq_report(cq, comp);
	kofi_cq_end_run(cq);
}

static void kofi_cq_append_here(struct kofi_cq *cq, struct kofi_comp *comp)
{
	bool failed = comp->err;

	if (!kofi_cq_append(cq, comp))
		return;
	/* A handler is called once for all that the caller completes now */
	if (cq->handler || failed)
		kofi_cq_schedule(cq);
	else if (cq->comp_ctx != FI_COMP_DIRECT)
		kofi_cq_run_in_poller(cq);
}

static void kofi_cq_complete_in_worker(struct kofi_cq *cq, struct kofi_comp *comp)
{
	unsigned int noio = memalloc_noio_save();

	if (cq->calls_here == KOFI_CQ_HERE_NOIO && kofi_cq_try_here(cq, comp))
		kofi_cq_report_here(cq, comp);
	else
		kofi_cq_append_here(cq, comp);
	memalloc_noio_restore(noio);
}

void kofi_cq_complete_here(struct kofi_cq *cq, struct kofi_comp *comp)
{
	if (likely(cq->calls_here == KOFI_CQ_HERE) && kofi_cq_try_here(cq, comp))
		kofi_cq_report_here(cq, comp);
	else if (cq->comp_ctx == FI_COMP_WORKQUEUE)
		kofi_cq_complete_in_worker(cq, comp);
	else
		kofi_cq_append_here(cq, comp);
}
EXPORT_SYMBOL_GPL(kofi_cq_complete_here);

/* For a reader that polls; returns how many calls were made */
ssize_t kofi_cq_poll(struct kofi_cq *cq, size_t count)
{
	size_t n;

	if (!kofi_cq_try_run(cq))
		return 0;
	/* A completion that comes meanwhile finds the token taken, and is reported here */
	if (cq->ops->progress)
		cq->ops->progress(cq);
	n = kofi_cq_run_some(cq, count);
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
		kofi_cq_run_one(cq);
		cond_resched();
	}
	kofi_cq_end_direct(cq);
}

void kofi_cq_flush(struct kofi_cq *cq)
{
	struct kofi_cq_mark mark = {
		.comp = { .flags = KOFI_COMP_MARK, .err = EIO },
	};
	unsigned long flags;

	kofi_cq_flush_taps(cq);
	if (!kofi_cq_has_callbacks(cq))
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
	if (wait == KOFI_CQ_WAIT_POLLER &&
	    (cq->comp_ctx == FI_COMP_DIRECT || (cq->in_run && !cq->in_poller)))
		return 0;
	return kofi_refuse("close or ep_drain", -EDEADLK, "called in a callback of the completion queue %p, for which it would wait; call it elsewhere",
			   &cq->cq.fid);
}
EXPORT_SYMBOL_GPL(kofi_cq_may_wait);

void kofi_cq_run_setup(struct kofi_cq *cq, const struct fi_cq_attr *attr)
{
	INIT_LIST_HEAD(&cq->calls);
	INIT_LIST_HEAD(&cq->last);
	tasklet_setup(&cq->tasklet, kofi_cq_tasklet);
	INIT_WORK(&cq->work, kofi_cq_work);
	INIT_CSD(&cq->csd, kofi_cq_csd, cq);
	cq->comp_ctx = attr->wait_obj == FI_WAIT_NONE ? FI_COMP_DIRECT :
							 attr->comp_ctx;
	cq->calls_here = KOFI_CQ_NOT_HERE;
	if (kofi_cq_has_callbacks(cq) && cq->comp_ctx != FI_COMP_DIRECT)
		cq->calls_here = cq->comp_ctx == FI_COMP_SOFTIRQ ? KOFI_CQ_HERE :
								   KOFI_CQ_HERE_NOIO;
	cq->cpu = attr->flags & FI_AFFINITY ?
		  attr->signaling_vector % nr_cpu_ids : -1;
}

/* Ends runs that are scheduled; nothing becomes due any more */
void kofi_cq_run_stop(struct kofi_cq *cq)
{
	wait_on_bit(&cq->csd_busy, 0, TASK_UNINTERRUPTIBLE);
	tasklet_kill(&cq->tasklet);
	cancel_work_sync(&cq->work);
}

/* Memory reclaim may depend on callbacks */
int kofi_cq_run_init(void)
{
	kofi_comp_wq = alloc_workqueue("kofi_comp",
				       WQ_MEM_RECLAIM | WQ_HIGHPRI | WQ_PERCPU, 0);
	return kofi_comp_wq ? 0 : -ENOMEM;
}

void kofi_cq_run_exit(void)
{
	destroy_workqueue(kofi_comp_wq);
}
