/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A completion queue whose callbacks, handler and other calls note where they run.
 */
#ifndef _KUNIT_UTIL_CQ_H
#define _KUNIT_UTIL_CQ_H

#include <linux/completion.h>
#include <kofi/cq.h>
#include "../../lib/async.h"
#include "../util.h"

#define UT_CQ_OPS	300

struct ut_cq;

/**
 * struct ut_cq_op - An operation with a callback
 * @done: what its context points to
 * @comp: its completion
 * @uc: the case
 * @entry: what the callback was given
 * @msg: the same
 * @released: how often the queue has given the completion back
 * @released_before: it had when the callback was called
 */
struct ut_cq_op {
	struct fi_done		done;
	struct kofi_msg_comp	comp;
	struct ut_cq		*uc;
	struct fi_done_entry	entry;
	struct fi_done_msg	msg;
	int			released;
	bool			released_before;
};

/**
 * struct ut_cq - A queue that notes how it calls its client
 * @cq: the queue
 * @ops: operations
 * @order: their numbers in the order of the callbacks
 * @calls: callbacks, or calls of the handler
 * @inside: how many run
 * @overlaps: how often that was more than one
 * @softirq: the last one ran in a softirq
 * @noio: the last one ran where allocations do not wait for I/O
 * @cpu: on this processor
 * @task: in this task
 * @hold: the next one stays until @leave
 * @entered: it is there
 * @leave: it may return
 * @arrived: completed by each call
 * @may_close: what kofi_cq_may_close() said inside
 * @may_wait: what kofi_cq_may_wait() said inside about the poller
 * @plugged: kofi_cq_plug() has plugged the queue inside
 * @reads: the handler reads the queue
 * @seen: completions that it has read
 * @call: another call
 * @dev_lock: guards what follows
 * @dev: operations that the device has completed, of a queue that is polled
 * @dev_head: how many that were
 * @dev_tail: how many of them have been polled
 * @armed: the device announces the next one
 * @polls: how often the device was polled
 * @arms: how often it was armed
 * @late: operation that the device completes right before it is armed; 0: none
 * @poller: polled last
 * @readers: of the queue, when it gave a completion back
 */
struct ut_cq {
	struct kofi_cq		cq;
	struct ut_cq_op		ops[UT_CQ_OPS];
	int			order[2 * UT_CQ_OPS];
	atomic_t		calls;
	atomic_t		inside;
	atomic_t		overlaps;
	bool			softirq;
	bool			noio;
	int			cpu;
	struct task_struct	*task;
	bool			hold;
	struct completion	entered;
	struct completion	leave;
	struct completion	arrived;
	int			may_close;
	int			may_wait;
	bool			plugged;
	bool			reads;
	atomic_t		seen;
	struct kofi_cq_call	call;
	spinlock_t		dev_lock;	/* see above */
	int			dev[2 * UT_CQ_OPS];
	int			dev_head;
	int			dev_tail;
	bool			armed;
	int			polls;
	int			arms;
	int			late;
	struct task_struct	*poller;
	int			readers;
};

/* It is finished after the case */
struct ut_cq *ut_cq_open(struct kunit *test, const struct fi_cq_attr *attr);
struct ut_cq *ut_cq_open_done(struct kunit *test, enum fi_comp_ctx ctx);
struct ut_cq *ut_cq_open_handled(struct kunit *test, enum fi_comp_ctx ctx);
/* The same with a device, which the core polls */
struct ut_cq *ut_cq_open_polled(struct kunit *test, enum fi_wait_obj wait_obj,
				enum fi_comp_ctx ctx);
/* The device completes operations, and then announces them if it is armed */
void ut_cq_device(struct ut_cq *uc, int first, int count);

/* Each context that calls by itself: softirq, then a worker */
#define UT_CQ_CONTEXTS	2
extern const enum fi_comp_ctx ut_cq_contexts[UT_CQ_CONTEXTS];

/* Completes an operation */
void ut_cq_complete(struct ut_cq *uc, int i);
/* Waits until @n calls have returned */
void ut_cq_await(struct kunit *test, struct ut_cq *uc, int n);

/* For vt_async_start() with a struct ut_cq: the device completes half of them, one by one */
int ut_cq_device_half(void *uc);
/* The same: the return value of fi_cq_read() */
int ut_cq_read(void *uc);

#endif /* _KUNIT_UTIL_CQ_H */
