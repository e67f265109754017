// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Calls that another thread makes, for cases about two at a time.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include "async.h"
#include "patience.h"

static int vt_async_run(void *data)
{
	struct vt_async *thread = data;

	thread->ret = thread->fn(thread->arg);
	complete(&thread->done);
	return 0;
}

struct vt_async *vt_async_start(struct kunit *test, int (*fn)(void *arg),
				void *arg)
{
	struct vt_async *thread = kzalloc(sizeof(*thread), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, thread);
	thread->fn = fn;
	thread->arg = arg;
	init_completion(&thread->done);
	thread->task = kthread_create(vt_async_run, thread, "kofi_test");
	if (IS_ERR(thread->task)) {
		kfree(thread);
		KUNIT_FAIL_AND_ABORT(test, "no thread");
	}
	get_task_struct(thread->task);
	wake_up_process(thread->task);
	return thread;
}
EXPORT_SYMBOL_GPL(vt_async_start);

int vt_async_join(struct kunit *test, struct vt_async *thread)
{
	unsigned long patience = msecs_to_jiffies(VT_PATIENCE_MS);
	bool late = !wait_for_completion_timeout(&thread->done, patience);
	int ret;

	if (late) {
		KUNIT_FAIL(test, "the call of the other thread does not return");
		/* Where it has a time-out of its own, it lets go of its objects */
		if (!wait_for_completion_timeout(&thread->done, 2 * patience))
			return -ETIMEDOUT;
	}
	kthread_stop(thread->task);
	put_task_struct(thread->task);
	ret = late ? -ETIMEDOUT : thread->ret;
	kfree(thread);
	return ret;
}
EXPORT_SYMBOL_GPL(vt_async_join);

bool vt_async_waits(struct vt_async *thread)
{
	long left = wait_for_completion_timeout(&thread->done, HZ / 20);

	if (left)
		complete(&thread->done); /* for the join */
	return !left;
}
EXPORT_SYMBOL_GPL(vt_async_waits);
