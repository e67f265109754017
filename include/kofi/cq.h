/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The completion queue of every provider.
 *
 * A completion is a struct kofi_comp that the provider embeds in an object of
 * its own: in the slot of an operation, which needs no memory beyond it, or in
 * an object of a bounded pool (multi-receive, peek, a remote write that uses no
 * receive).  The queue links the completions and owns none, so it cannot
 * overrun; a pool that is empty is back-pressure for the provider.
 *
 * The provider hands a completion over with one of two calls:
 *
 *	kofi_cq_complete()	from any context, for a provider that moves the data by itself
 *	kofi_cq_polled()	from ->poll of &struct kofi_cq_ops, for a provider whose device
 *				has a queue of its own.  The core polls where the client wants
 *				to be called: in the queue's tasklet, its worker, or its reader
 *
 * Both may be mixed on one queue.  The core calls the client in the context that the client asked
 * for (fi_cq_attr.comp_ctx, .signaling_vector), and makes one call at a time on one queue,
 * whichever way the completions came.
 *
 * A completion is the core's until the core gives it back by ops->release(): when
 * a reader has copied it, or right before its callback is called.  A completion with error
 * data is given back after its callback.
 *
 * The core implements struct fi_ops_cq.  A provider embeds struct kofi_cq, calls
 * kofi_cq_init(), and sets cq.fid.ops with a ->close of its own, which begins
 * with kofi_cq_may_close() and ends with kofi_cq_fini().
 */
#ifndef _KOFI_CQ_H
#define _KOFI_CQ_H

#include <linux/atomic.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/fi_eq.h>

/* In kofi_comp.flags: the completion has kofi_msg_comp.msg.  Clients do not see it */
#define KOFI_COMP_MSG		BIT_ULL(31)

/* The most completions that the core asks ->poll for in one call */
#define KOFI_CQ_POLL		16

struct kofi_bufpool;

/**
 * struct kofi_comp - A completion, embedded in an object of the provider's
 * @next: next in the queue or chain
 * @op_context: the operation's context
 * @flags: FI_SEND | FI_MSG and the like, below bit 30, and KOFI_COMP_MSG
 * @err: positive error code; 0: success
 * @prov_errno: provider's code of the error
 * @error: @err and @prov_errno; 0: success
 * @len: bytes received
 * @buf: buffer of a receive
 * @data: remote CQ data
 *
 * There is one for each operation that may be in flight, so it is small: an error code has 16 bits.
 */
struct kofi_comp {
	struct kofi_comp	*next;
	void			*op_context;
	u32			flags;
	union {
		struct {
			s16	err;
			s16	prov_errno;
		};
		u32		error;
	};
	size_t			len;
	void			*buf;
	u64			data;
};

/**
 * struct kofi_msg_comp - A completion with more fields, as objects of pools have it
 * @comp: what every completion has; first
 * @pool: where the object goes back to; the object begins with this completion
 * @msg: the other fields, if KOFI_COMP_MSG is set; err_data stays valid until the completion is
 *	released
 */
struct kofi_msg_comp {
	struct kofi_comp	comp;
	struct kofi_bufpool	*pool;
	struct fi_done_msg	msg;
};

struct kofi_cq;

/**
 * struct kofi_cq_ops - What a provider does for its queue
 * @release: take the completions of a chain (linked by next) back: each has been
 *	read or purged, or its callback is about to be called, or was called with its error
 *	data.  They may belong to several endpoints.  Called without a lock, in any context;
 *	must not sleep.
 * @poll: take at most @budget entries, KOFI_CQ_POLL or fewer, from the device, and hand what they
 *	complete over by kofi_cq_polled(), in order.  Return the number of entries, which is less
 *	only if the device has no more.  Called by one task at a time, with the poll lock held;
 *	must not sleep.  NULL: the provider has no device to poll
 * @arm: have the device call kofi_cq_poll_due() when it has an entry.  Return true if it has one
 *	already.  Called as @poll, behind it; never for a queue that only its readers poll
 * @strerror: text of a prov_errno, never NULL; or NULL: there are no texts
 */
struct kofi_cq_ops {
	void		(*release)(struct kofi_comp *chain);
	size_t		(*poll)(struct kofi_cq *cq, size_t budget);
	bool		(*arm)(struct kofi_cq *cq);
	const char	*(*strerror)(int prov_errno);
};

/**
 * struct kofi_cq_batch - What the device has reported in one hold of the poll lock
 * @head: oldest completion
 * @tail: where the next completion is linked
 * @count: completions
 * @errors: how many of these are errors
 * @pending: a run is due for what is in the list already, see kofi_cq_polled_now()
 */
struct kofi_cq_batch {
	struct kofi_comp	*head;
	struct kofi_comp	**tail;
	size_t			count;
	size_t			errors;
	bool			pending;
};

/**
 * struct kofi_cq_call - A function to call in the context of a queue
 * @entry: place among the calls that are due; empty otherwise
 * @fn: called once per kofi_cq_call(), never beside another call of the queue
 */
struct kofi_cq_call {
	struct list_head	entry;
	void			(*fn)(struct kofi_cq_call *call);
};

/**
 * struct kofi_cq_turn - Work of a provider that the worker of a queue does, see kofi_cq_turn()
 * @fn: called by the worker; it may sleep.  @busy: the worker is about to make callbacks, so
 *	@fn only has another task do the work; locks may be held then
 */
struct kofi_cq_turn {
	void			(*fn)(struct kofi_cq_turn *turn, bool busy);
};

/* kofi_cq_control(): struct kofi_cq **, for providers on top of the queue's provider */
#define KOFI_GETQUEUE		0x1000

/**
 * struct kofi_cq_tap - Sees each completion of a queue before the queue has it
 * @next: the tap that sees it next
 * @complete: a completion has come; @comp->err and @comp->prov_errno may be changed.
 *	True: the tap keeps the completion, and gives it to kofi_cq_tapped() later.  Any
 *	context; locks of the provider may be held
 * @flush: give back all completions that the tap keeps, before this returns.  May sleep.
 *	NULL: the tap never keeps one
 */
struct kofi_cq_tap {
	struct kofi_cq_tap	*next;
	bool			(*complete)(struct kofi_cq_tap *tap,
					    struct kofi_comp *comp);
	void			(*flush)(struct kofi_cq_tap *tap);
};

/**
 * struct kofi_cqs - The queues that end together, such as those of a fabric
 * @lock: guards what follows
 * @list: &struct kofi_cq of kofi_cq_open()
 * @ended: the queues have ended: negative errno for readers; else 0
 */
struct kofi_cqs {
	struct mutex		lock;		/* see above */
	struct list_head	list;
	int			ended;
};

/**
 * struct kofi_cq - The queue; the provider embeds it in its own
 * @lock: guards @head to @called; taken with interrupts off
 * @cq: what the client sees
 * @ops: the provider's
 * @head: oldest completion
 * @tail: where the next completion is linked
 * @count: completions in the list
 * @errors: how many of these are errors
 * @completed: completions that came into the list so far
 * @failed: how many of these were errors
 * @poll_lock: held while the device is polled, and until the batch is in the list or has a runner
 *	or reader; guards @batch to @failed_direct.  Readers only try to take it
 * @batch: what has been polled
 * @completed_direct: completions that were reported without the list, of which the writer holds
 *	@poll_lock or, if nothing is polled, the token
 * @failed_direct: how many of these were errors
 * @reserved: operations that bound, enabled endpoints may have
 * @armed: the handler is due at the next completion
 * @handler_due: the handler is to be called
 * @pending: something is left for the runner: a callback, the handler, a call
 * @signalled: fi_cq_signal() was called and no sleeper has woken for it yet
 * @ended: nothing completes any more: negative errno for readers; else 0
 * @readers: readers that may have completions which they have not given back yet
 * @calls: struct kofi_cq_call that are due
 * @called: the runner's last was one of @calls
 * @runner: the task that calls the client at the moment, or NULL; this is the
 *	token that keeps calls of one queue from running at the same time
 * @in_poller: the runner is the tasklet or worker that polls the device; the runner's
 * @turn: see kofi_cq_turn(); NULL: none is due
 * @worker: the task of @work, while it takes a turn, or NULL
 * @plugger: the task that has put runs off, or NULL
 * @plug_waits: how many tasks wait for the plugger
 * @plugs: how often the queue has been unplugged
 * @plug: what the plugger has completed; the plugger's.  Its @pending: a run was put off
 * @calling: the call that runs
 * @size: most of @reserved
 * @format: layout of entries
 * @wait_obj: kind of queue
 * @wait_cond: fi_cq_sread() takes a threshold
 * @comp_ctx: where the client is called
 * @cpu: on which processor; -1: any
 * @wait: sleepers in fi_cq_sread()
 * @handler: client's handler
 * @tasklet: runs the queue with FI_COMP_SOFTIRQ
 * @work: runs the queue with FI_COMP_WORKQUEUE, but for what @poll_work calls
 * @poll_work: polls the device, with FI_COMP_WORKQUEUE or while @watchers is not 0
 * @watchers: tasks that wait for the device; see kofi_cq_watch()
 * @csd: schedules @tasklet on @cpu
 * @csd_busy: @csd has been sent and has not run yet
 * @purge_lock: one kofi_cq_purge() at a time
 * @taps: the first tap, or NULL
 * @cqs: of kofi_cq_open(): the queues that it ends with
 * @of_cqs: place in the list of @cqs
 */
struct kofi_cq {
	spinlock_t			lock;		/* see above */
	struct fid_cq			cq;
	const struct kofi_cq_ops	*ops;
	struct kofi_comp		*head;
	struct kofi_comp		**tail;
	size_t				count;
	size_t				errors;
	u64				completed;
	u64				failed;
	size_t				reserved;
	bool				armed;
	bool				handler_due;
	bool				pending;
	bool				signalled;
	int				ended;
	atomic_t			readers;
	struct list_head		calls;
	bool				called;
	spinlock_t			poll_lock;	/* see above */
	struct kofi_cq_batch		batch;
	u64				completed_direct;
	u64				failed_direct;
	struct task_struct		*runner;
	bool				in_poller;
	struct kofi_cq_turn		*turn;
	struct task_struct		*worker;
	struct task_struct		*plugger;
	atomic_t			plug_waits;
	unsigned int			plugs;
	struct kofi_cq_batch		plug;
	struct kofi_cq_call		*calling;
	size_t				size;
	enum fi_cq_format		format;
	enum fi_wait_obj		wait_obj;
	enum fi_cq_wait_cond		wait_cond;
	enum fi_comp_ctx		comp_ctx;
	int				cpu;
	wait_queue_head_t		wait;
	void				(*handler)(struct fid_cq *cq,
						   void *context);
	struct tasklet_struct		tasklet;
	struct work_struct		work;
	struct work_struct		poll_work;
	atomic_t			watchers;
	call_single_data_t		csd;
	unsigned long			csd_busy;
	struct mutex			purge_lock;	/* see above */
	struct kofi_cq_tap		*taps;
	struct kofi_cqs			*cqs;
	struct list_head		of_cqs;
};

static inline struct kofi_cq *to_kofi_cq(struct fid *fid)
{
	return container_of(fid, struct kofi_cq, cq.fid);
}

/**
 * kofi_cq_size() - How many operations a queue gets room for
 * @attr: the client's wishes, may be NULL
 * @def: the size if the client asks for none; @max if that is less
 * @max: the largest size
 *
 * Context: any.
 * Return: the size; 0: the client wants more than @max, which is logged.
 */
size_t kofi_cq_size(const struct fi_cq_attr *attr, size_t def, size_t max);

/**
 * kofi_cq_init() - Check the attributes and set the queue up
 * @cq: the queue; the provider sets cq.fid.ops
 * @attr: the client's wishes, may be NULL
 * @size: operations it has room for
 * @ops: the provider's
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: 0, and kofi_cq_fini() is due; -EINVAL; -FI_EBADFLAGS; -ENOSYS: that
 * kind of wait object.
 */
int kofi_cq_init(struct kofi_cq *cq, const struct fi_cq_attr *attr, size_t size,
		 const struct kofi_cq_ops *ops, void *context);

/**
 * kofi_cq_open() - A queue that the provider has nothing to add to
 * @cqs: the queues that it ends with, which stay as long
 * @attr: the client's wishes, may be NULL
 * @ops: the provider's
 * @cq: the queue, allocated; its ->close frees it
 * @context: the client's pointer
 *
 * It has room for as many operations as the client says, at most INT_MAX, which is also
 * the default.
 *
 * Context: may sleep.
 * Return: as kofi_cq_init(); -ENOMEM.
 */
int kofi_cq_open(struct kofi_cqs *cqs, const struct fi_cq_attr *attr,
		 const struct kofi_cq_ops *ops, struct fid_cq **cq,
		 void *context);

/**
 * kofi_cqs_init() - Set a group of queues up
 * @cqs: the group, without queues
 *
 * Context: any.
 */
static inline void kofi_cqs_init(struct kofi_cqs *cqs)
{
	mutex_init(&cqs->lock);
	INIT_LIST_HEAD(&cqs->list);
	cqs->ended = 0;
}

/**
 * kofi_cqs_end() - Nothing completes any more in a group of queues
 * @cqs: the group; queues that are opened from now on have ended, too
 * @err: as kofi_cq_end()
 *
 * Context: may sleep.
 */
void kofi_cqs_end(struct kofi_cqs *cqs, int err);

/**
 * enum kofi_cq_wait - What a task is about to wait for
 * @KOFI_CQ_WAIT_CALLS: callbacks and other calls of a queue that are due or run
 * @KOFI_CQ_WAIT_POLLER: the task that polls the device of a queue, for example until the device
 *	is done with an operation
 */
enum kofi_cq_wait {
	KOFI_CQ_WAIT_CALLS,
	KOFI_CQ_WAIT_POLLER,
};

/**
 * kofi_cq_may_wait() - Would the caller wait for itself?
 * @cq: the queue
 * @wait: what the caller is about to wait for
 *
 * Every close that waits for a queue asks here first, as the client may close in a callback.
 * A callback of the queue may wait for its poller unless the poller has called it.  With
 * FI_COMP_WORKQUEUE the poller calls callbacks of operations that have succeeded only.
 *
 * Context: may sleep.
 * Return: 0; -EDEADLK: it would, as the caller is inside a callback of the queue.
 */
int kofi_cq_may_wait(const struct kofi_cq *cq, enum kofi_cq_wait wait);

/**
 * kofi_cq_may_close() - May the caller close the queue?
 * @cq: the queue
 *
 * Also for the close of an endpoint that uses the queue.
 *
 * Context: may sleep.
 * Return: 0; -EDEADLK: the caller is inside a callback of the queue.
 */
static inline int kofi_cq_may_close(const struct kofi_cq *cq)
{
	return kofi_cq_may_wait(cq, KOFI_CQ_WAIT_CALLS);
}

/**
 * kofi_cq_fini() - The end of a queue
 * @cq: the queue; nothing completes any more, and every endpoint has purged it
 *
 * When this returns, no callback of the queue runs.
 *
 * Context: may sleep.
 */
void kofi_cq_fini(struct kofi_cq *cq);

/**
 * kofi_cq_control() - Ready-made ->control: FI_GETWAITOBJ, KOFI_GETQUEUE, KOFI_GETSTAT
 * @fid: of a &struct kofi_cq
 * @command: as fi_control()
 * @arg: as fi_control(), which refuses NULL from a client
 *
 * Context: any.
 * Return: 0; -ENOSYS: any other command.
 */
int kofi_cq_control(struct fid *fid, int command, void *arg);

/**
 * kofi_cq_reserve() - Set room aside for an endpoint's operations
 * @cq: the queue
 * @count: depth of the endpoint's queue
 *
 * Context: any.
 * Return: 0; -ENOSPC: there is not that much left.
 */
int kofi_cq_reserve(struct kofi_cq *cq, size_t count);

/**
 * kofi_cq_unreserve() - Give the room back
 * @cq: the queue
 * @count: as reserved
 *
 * Context: any.
 */
void kofi_cq_unreserve(struct kofi_cq *cq, size_t count);

/**
 * kofi_cq_complete() - Complete an operation
 * @cq: the queue
 * @comp: the completion; the core's until it is released
 *
 * Completions of one caller are reported in the order of its calls.
 *
 * Context: any; locks may be held, as no client is called from here.
 */
void kofi_cq_complete(struct kofi_cq *cq, struct kofi_comp *comp);

/**
 * kofi_cq_complete_success() - As kofi_cq_complete(), for an operation that has succeeded
 * @cq: the queue, which has no taps
 * @comp: as kofi_cq_complete(), without an error
 *
 * Context: as kofi_cq_complete(), with interrupts disabled.
 */
void kofi_cq_complete_success(struct kofi_cq *cq, struct kofi_comp *comp);

/**
 * kofi_cq_calls_in_softirq() - Is the client called in a softirq?
 * @cq: the queue
 *
 * A completion of a task then wakes ksoftirqd, unless the task unplugs the queue: that calls the
 * client itself.
 *
 * Context: any.
 * Return: whether it is, if it is called at all.
 */
static inline bool kofi_cq_calls_in_softirq(const struct kofi_cq *cq)
{
	return cq->comp_ctx == FI_COMP_SOFTIRQ &&
	       (cq->wait_obj == FI_WAIT_DONE || cq->wait_obj == FI_WAIT_CALLBACK);
}

/**
 * kofi_cq_plug_batch() - Where completions of the caller go
 * @cq: the queue
 *
 * For a caller that completes several operations one after the other.
 *
 * Context: any.
 * Return: the batch that the caller may add completions to, until it unplugs the queue; NULL:
 * kofi_cq_complete() takes each.
 */
struct kofi_cq_batch *kofi_cq_plug_batch(struct kofi_cq *cq);

/* Adds a completion to a batch, whose owner calls this */
static inline void kofi_cq_batch_add(struct kofi_cq_batch *batch, struct kofi_comp *comp)
{
	*batch->tail = comp;
	batch->tail = &comp->next;
	batch->count++;
	batch->errors += !!comp->err;
}

/**
 * kofi_cq_complete_now() - As kofi_cq_complete(), and the queue has the completion on return
 * @cq: the queue
 * @comp: the completion; the core's until it is released
 *
 * The difference matters where the queue is plugged, and another task is to complete something
 * behind this.
 *
 * Context: as kofi_cq_complete().
 */
void kofi_cq_complete_now(struct kofi_cq *cq, struct kofi_comp *comp);

/**
 * kofi_cq_complete_chain() - Complete several operations at once
 * @cq: the queue
 * @chain: completions, linked by next, in the order in which they are reported
 *
 * Takes the lock of the queue once.
 *
 * Context: as kofi_cq_complete().
 */
void kofi_cq_complete_chain(struct kofi_cq *cq, struct kofi_comp *chain);

/**
 * kofi_cq_plug() - Put the runs of a queue off
 * @cq: the queue
 *
 * For a worker that completes several operations in one pass.  The callbacks of what it hands over
 * are made when it unplugs the queue.  It must not wait for a callback until then.
 *
 * Context: process.
 * Return: true: kofi_cq_unplug() is due, by the same task; false: the queue is plugged already, or
 * the caller belongs to a run of its callbacks.
 */
bool kofi_cq_plug(struct kofi_cq *cq);

/**
 * kofi_cq_claim() - Give what was put off its place
 * @cq: a queue that the caller has plugged
 *
 * What another task completes after this is called behind what the caller has completed.  So a
 * worker calls this before it releases the lock that keeps its operations in order.  The caller
 * may have the token of the queue afterwards, so kofi_cq_unplug() follows soon.
 *
 * Context: process; locks may be held.
 */
void kofi_cq_claim(struct kofi_cq *cq);

/**
 * kofi_cq_unplug() - Start the run that was put off
 * @cq: a queue that the caller has plugged
 *
 * With FI_COMP_SOFTIRQ the client is likely to be called within this call, with bottom halves
 * disabled, so that no other task has to be woken.
 *
 * Context: process, without a lock.
 */
void kofi_cq_unplug(struct kofi_cq *cq);

/**
 * kofi_cq_takes_turns() - May the worker of a queue do work of its provider's?
 * @cq: the queue
 *
 * Context: any.
 * Return: whether kofi_cq_turn() can succeed.
 */
static inline bool kofi_cq_takes_turns(const struct kofi_cq *cq)
{
	return cq->wait_obj == FI_WAIT_DONE && cq->comp_ctx == FI_COMP_WORKQUEUE;
}

/**
 * kofi_cq_turn() - Have the worker of a queue do work of its provider's
 * @cq: a queue for which kofi_cq_takes_turns() is true
 * @turn: the work; stays until it has been called
 *
 * For work that ends with completions of @cq: the worker makes their callbacks then, and no other
 * task is woken.  The worker calls @turn while no callback of @cq runs.  So @turn does not wait for
 * a callback that sleeps.
 *
 * Context: any; locks may be held.
 * Return: true: @turn will be called, once; false: the worker has something else to do, so the
 * provider does the work in another way.
 */
bool kofi_cq_turn(struct kofi_cq *cq, struct kofi_cq_turn *turn);

/**
 * kofi_cq_turn_is_due() - Will the worker of a queue call a turn?
 * @cq: the queue
 * @turn: of kofi_cq_turn()
 *
 * Context: any.
 * Return: true: it will, and sees what the caller has done before; false: it may not.
 */
static inline bool kofi_cq_turn_is_due(const struct kofi_cq *cq, const struct kofi_cq_turn *turn)
{
	/* Pairs with the xchg() by which the worker takes the turn */
	smp_mb();
	return READ_ONCE(cq->turn) == turn;
}

/**
 * kofi_cq_polled_success() - Complete an operation that has succeeded, from ->poll
 * @cq: the queue
 * @comp: the completion, without an error; the core's until it is released
 *
 * Nothing is called from here.
 *
 * Context: ->poll of @cq.
 */
static __always_inline void kofi_cq_polled_success(struct kofi_cq *cq, struct kofi_comp *comp)
{
	struct kofi_cq_batch *batch = &cq->batch;

	lockdep_assert_held(&cq->poll_lock);
	*batch->tail = comp;
	batch->tail = &comp->next;
	batch->count++;
}

/**
 * kofi_cq_polled() - Complete an operation from ->poll
 * @cq: the queue
 * @comp: the completion; the core's until it is released
 *
 * Context: as kofi_cq_polled_success().
 */
static inline void kofi_cq_polled(struct kofi_cq *cq, struct kofi_comp *comp)
{
	kofi_cq_polled_success(cq, comp);
	cq->batch.errors += !!comp->err;
}

/**
 * kofi_cq_polled_now() - Complete an operation from ->poll, before its batch ends
 * @cq: the queue
 * @comp: the completion; the core's until it is released
 *
 * When this returns, a reader finds the completion, and everything that was polled before it: a
 * client that sees the operation counted then finds it reported.  Takes the lock of the queue.
 *
 * Context: as kofi_cq_polled().
 */
void kofi_cq_polled_now(struct kofi_cq *cq, struct kofi_comp *comp);

/**
 * kofi_cq_poll_due() - The device of a queue has an entry
 * @cq: the queue
 *
 * The queue is polled on the processor that this is called on: the interrupt's, as a rule.
 *
 * Context: any; locks may be held.
 */
void kofi_cq_poll_due(struct kofi_cq *cq);

/**
 * kofi_cq_watch() - Have the core poll a queue that only its readers poll
 * @cq: the queue; nothing happens if the core polls it anyway
 *
 * For a task that waits until the device has reported something.  Completions go into the list, in
 * order, for the reader.
 *
 * Context: may sleep.  kofi_cq_unwatch() ends it.
 */
void kofi_cq_watch(struct kofi_cq *cq);

/**
 * kofi_cq_unwatch() - The end of kofi_cq_watch()
 * @cq: the queue
 *
 * Context: any.
 */
static inline void kofi_cq_unwatch(struct kofi_cq *cq)
{
	atomic_dec(&cq->watchers);
}

/**
 * kofi_cq_add_tap() - Add a tap to a queue
 * @cq: the queue, to which no endpoint is bound yet
 * @tap: sees a completion after those that were added before; stays as long as the queue
 *
 * Context: may sleep.
 */
void kofi_cq_add_tap(struct kofi_cq *cq, struct kofi_cq_tap *tap);

/**
 * kofi_cq_tapped() - Give back completions that a tap has kept
 * @cq: the queue
 * @tap: the tap
 * @chain: completions, linked by next, in the order in which they came
 *
 * Context: as kofi_cq_complete().
 */
void kofi_cq_tapped(struct kofi_cq *cq, struct kofi_cq_tap *tap,
		    struct kofi_comp *chain);

/**
 * kofi_cq_call() - Have a function called in the context of the queue
 * @cq: the queue
 * @call: what to call; nothing happens if it is due already
 *
 * On a queue that only its reader polls, the function is called by fi_cq_read().
 *
 * Context: any; locks may be held.
 */
void kofi_cq_call(struct kofi_cq *cq, struct kofi_cq_call *call);

/**
 * kofi_cq_cancel_call() - Cancel a call of kofi_cq_call()
 * @cq: the queue
 * @call: as kofi_cq_call(), which must not be called for it at the same time
 *
 * When this returns, the function does not run.
 *
 * Context: may sleep; not from inside a callback of the queue.
 */
void kofi_cq_cancel_call(struct kofi_cq *cq, struct kofi_cq_call *call);

/**
 * kofi_cq_end() - Nothing completes any more
 * @cq: the queue
 * @err: negative errno that readers get from an empty queue from now on
 *
 * Completions in the queue can still be read.  Sleepers wake up, and the handler is due.
 *
 * Context: any; locks may be held.
 */
void kofi_cq_end(struct kofi_cq *cq, int err);

/**
 * kofi_cq_flush() - Wait until the callbacks of all completions so far have returned
 * @cq: the queue; without FI_WAIT_DONE this does not wait
 *
 * On a queue that only its reader polls, the callbacks that are due are called from here.  If none
 * is due and none runs, this returns at once.
 *
 * Context: may sleep; not from inside a callback of the queue.
 */
void kofi_cq_flush(struct kofi_cq *cq);

/**
 * kofi_cq_purge() - Remove all completions of an owner from a queue
 * @cq: the queue; no operation of @owner completes any more
 * @belongs: returns whether a completion belongs to @owner; called with the queue's
 *	lock held
 * @owner: passed to @belongs
 *
 * With FI_WAIT_DONE this waits until every callback that is due has been called.
 * Otherwise it takes the owner's unread completions out of the queue, releases them, and
 * waits for readers that have taken some of them.
 *
 * Context: may sleep; not from inside a callback of the queue.
 */
void kofi_cq_purge(struct kofi_cq *cq,
		   bool (*belongs)(struct kofi_comp *comp, void *owner),
		   void *owner);

#endif /* _KOFI_CQ_H */
