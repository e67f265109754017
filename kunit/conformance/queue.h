/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completion queues of every kind that count what they report, and look where they
 * call their client: queue.c.
 */
#ifndef _KUNIT_CONFORMANCE_QUEUE_H
#define _KUNIT_CONFORMANCE_QUEUE_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/wait.h>
#include "conformance.h"

#define CONF_QUEUE_KINDS	7

/* Polled, sleeping, with a handler, with callbacks; in each context that calls */
extern const struct vt_kind conf_queue_kinds[CONF_QUEUE_KINDS];

/**
 * struct conf_queue - A queue, and what it has reported
 * @cq: the queue, for &struct vt_end
 * @done: context of operations, if the queue has callbacks
 * @reader: the thread of the case, which reads
 * @drains: an endpoint is being drained, so not only the reader calls
 * @wait: woken by each call
 * @calls: calls of the client
 * @late: a call has not come, though there was something to read
 * @ok: operations that have succeeded
 * @failed: operations that have failed
 * @err: of the last one that has failed
 * @flags: of the last one that has failed
 * @astray: calls in another context than the client has asked for
 * @beside: calls that began while another one was running
 * @busy: calls that are running
 * @hook: called from inside the next call, once; or NULL
 * @hook_arg: its argument
 * @hook_ret: what it returned
 * @hooked: it has returned
 */
struct conf_queue {
	struct vt_cq		cq;
	struct fi_done		done;
	struct task_struct	*reader;
	bool			drains;
	wait_queue_head_t	wait;
	atomic_t		calls;
	bool			late;
	atomic_t		ok;
	atomic_t		failed;
	int			err;
	u64			flags;
	atomic_t		astray;
	atomic_t		beside;
	atomic_t		busy;
	int			(*hook)(void *arg);
	void			*hook_arg;
	int			hook_ret;
	struct completion	hooked;
};

struct conf_queue *conf_queue(struct kunit *test, const struct vt_kind *kind, size_t size);

/* The context of an operation */
static inline void *conf_queue_ctx(struct conf_queue *queue)
{
	return queue->cq.kind->wait_obj == FI_WAIT_DONE ? &queue->done : NULL;
}

/* Its client is called by whoever reads it, and by nobody else */
static inline bool conf_queue_is_direct(const struct conf_queue *queue)
{
	const struct vt_kind *kind = queue->cq.kind;

	return kind->wait_obj == FI_WAIT_NONE ||
	       kind->comp_ctx == FI_COMP_DIRECT;
}

static inline int conf_queue_ended(struct conf_queue *queue)
{
	return atomic_read(&queue->ok) + atomic_read(&queue->failed);
}

/* Around each call of the client: where is it, and is it alone? */
void conf_queue_enter(struct conf_queue *queue);
void conf_queue_leave(struct conf_queue *queue);
/* From inside the next call of the client, @hook is called, once */
void conf_queue_hook(struct conf_queue *queue, int (*hook)(void *arg), void *arg);
/* Waits until it has returned: a handler may run after what it announces was read */
void conf_queue_hooked(struct kunit *test, struct conf_queue *queue);
/* Takes what has completed, at most @count, without waiting */
void conf_queue_read(struct conf_queue *queue, int count);
/* Waits until so many operations have ended since the queue was opened */
void conf_queue_wait(struct conf_queue *queue, int ended);
/* The same, and then that is all there are */
void conf_queue_expect(struct kunit *test, struct conf_queue *queue, int ended);
/* No call has been where it should not be */
void conf_queue_check(struct kunit *test, struct conf_queue *queue);

#endif /* _KUNIT_CONFORMANCE_QUEUE_H */
