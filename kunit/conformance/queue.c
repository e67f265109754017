// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues of every kind behind one count.
 *
 * The thread of the case reads those that are read.  Counters are atomic, as calls come
 * from elsewhere; what a call writes besides is read after the count has shown it.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include "queue.h"

#define FORMAT	FI_CQ_FORMAT_DATA

const struct vt_kind conf_queue_kinds[CONF_QUEUE_KINDS] = {
	{ "polled", FI_WAIT_NONE, FI_COMP_SOFTIRQ, FORMAT },
	{ "sleeping", FI_WAIT_UNSPEC, FI_COMP_SOFTIRQ, FORMAT },
	{ "handler, softirq", FI_WAIT_CALLBACK, FI_COMP_SOFTIRQ, FORMAT },
	{ "handler, worker", FI_WAIT_CALLBACK, FI_COMP_WORKQUEUE, FORMAT },
	{ "callbacks, softirq", FI_WAIT_DONE, FI_COMP_SOFTIRQ, FORMAT },
	{ "callbacks, worker", FI_WAIT_DONE, FI_COMP_WORKQUEUE, FORMAT },
	{ "callbacks, direct", FI_WAIT_DONE, FI_COMP_DIRECT, FORMAT },
};

static bool is_where_it_should_be(const struct conf_queue *queue)
{
	if (conf_queue_is_direct(queue))
		return in_task() && (queue->drains || current == queue->reader);
	if (queue->cq.kind->comp_ctx == FI_COMP_WORKQUEUE)
		return in_task() && current->flags & PF_WQ_WORKER;
	return in_softirq();
}

void conf_queue_enter(struct conf_queue *queue)
{
	int (*hook)(void *arg) = queue->hook;

	if (!is_where_it_should_be(queue))
		atomic_inc(&queue->astray);
	if (atomic_inc_return(&queue->busy) > 1)
		atomic_inc(&queue->beside);
	if (hook) {
		queue->hook = NULL;
		queue->hook_ret = hook(queue->hook_arg);
		complete(&queue->hooked);
	}
}

void conf_queue_leave(struct conf_queue *queue)
{
	atomic_dec(&queue->busy);
	atomic_inc(&queue->calls);
	wake_up(&queue->wait);
}

void conf_queue_hook(struct conf_queue *queue, int (*hook)(void *arg), void *arg)
{
	reinit_completion(&queue->hooked);
	queue->hook_arg = arg;
	queue->hook = hook;
}

void conf_queue_hooked(struct kunit *test, struct conf_queue *queue)
{
	KUNIT_ASSERT_TRUE_MSG(test, vt_completed(&queue->hooked), "%s", queue->cq.kind->name);
}

static void count(struct conf_queue *queue, int err, u64 flags)
{
	if (!err) {
		atomic_inc(&queue->ok);
		return;
	}
	queue->err = err;
	queue->flags = flags;
	atomic_inc(&queue->failed);
}

static void queue_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct conf_queue *queue = container_of(done, struct conf_queue, done);

	conf_queue_enter(queue);
	count(queue, entry->err, entry->flags);
	conf_queue_leave(queue);
}

static void queue_handler(struct fid_cq *cq, void *context)
{
	struct conf_queue *queue = context;

	conf_queue_enter(queue);
	conf_queue_leave(queue);
}

struct conf_queue *conf_queue(struct kunit *test, const struct vt_kind *kind, size_t size)
{
	struct conf_queue *queue = vt_buf(test, sizeof(*queue));
	struct fi_cq_attr attr = {
		.size		= size,
		.format		= kind->format,
		.wait_obj	= kind->wait_obj,
		.comp_ctx	= kind->comp_ctx,
	};

	queue->cq.kind = kind;
	queue->done.done = queue_done;
	queue->reader = current;
	init_waitqueue_head(&queue->wait);
	init_completion(&queue->hooked);
	if (kind->wait_obj == FI_WAIT_CALLBACK)
		attr.handler = queue_handler;
	KUNIT_ASSERT_EQ_MSG(test, fi_cq_open(vt_of(test)->domain, &attr, &queue->cq.cq, queue), 0,
			    "%s", kind->name);
	vt_adopt(test, &queue->cq.cq->fid);
	return queue;
}

static bool read_one(struct conf_queue *queue)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry;
	ssize_t ret;

	ret = fi_cq_read(queue->cq.cq, &entry, 1);
	if (queue->cq.kind->wait_obj == FI_WAIT_DONE)
		return ret == 1;
	if (ret == 1)
		count(queue, 0, entry.flags);
	else if (ret == -FI_EAVAIL && fi_cq_readerr(queue->cq.cq, &error, 0) == 1)
		count(queue, error.err, error.flags);
	else
		return false;
	return true;
}

void conf_queue_read(struct conf_queue *queue, int count)
{
	/* Nobody reads what others are called for */
	if (queue->cq.kind->wait_obj == FI_WAIT_DONE && queue->cq.kind->comp_ctx != FI_COMP_DIRECT)
		return;
	while (count-- && read_one(queue))
		;
}

/*
 * Sleeps until a call that has not been among @calls, if there are calls; a reader that
 * polls looks again later.
 */
static void wait_for_call(struct conf_queue *queue, int calls, int ended)
{
	long jiffies = msecs_to_jiffies(VT_PATIENCE_MS);

	switch (queue->cq.kind->wait_obj) {
	case FI_WAIT_DONE:
		if (queue->cq.kind->comp_ctx != FI_COMP_DIRECT) {
			wait_event_timeout(queue->wait, conf_queue_ended(queue) >= ended, jiffies);
			return;
		}
		fallthrough;
	default:
		usleep_range(100, 200);
		return;
	case FI_WAIT_CALLBACK:
		if (!wait_event_timeout(queue->wait, atomic_read(&queue->calls) != calls, jiffies))
			queue->late = true;
		return;
	}
}

void conf_queue_wait(struct conf_queue *queue, int ended)
{
	ktime_t limit = ktime_add_ms(ktime_get(), VT_PATIENCE_MS);
	int calls = atomic_read(&queue->calls);

	conf_queue_read(queue, INT_MAX);
	while (conf_queue_ended(queue) < ended && ktime_before(ktime_get(), limit)) {
		wait_for_call(queue, calls, ended);
		calls = atomic_read(&queue->calls);
		conf_queue_read(queue, INT_MAX);
	}
}

void conf_queue_expect(struct kunit *test, struct conf_queue *queue, int ended)
{
	conf_queue_wait(queue, ended);
	KUNIT_ASSERT_EQ_MSG(test, conf_queue_ended(queue), ended, "%s", queue->cq.kind->name);
	KUNIT_ASSERT_FALSE_MSG(test, queue->late, "%s", queue->cq.kind->name);
}

void conf_queue_check(struct kunit *test, struct conf_queue *queue)
{
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&queue->astray), 0, "%s", queue->cq.kind->name);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&queue->beside), 0, "%s", queue->cq.kind->name);
}
