/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Calls that another thread makes.
 */
#ifndef _KUNIT_ASYNC_H
#define _KUNIT_ASYNC_H

#include <linux/completion.h>
#include <linux/sched.h>
#include <kunit/test.h>

/**
 * struct vt_async - A call made by another thread
 * @fn: the call
 * @arg: its argument
 * @ret: what it returned
 * @done: it has returned
 * @task: the thread
 */
struct vt_async {
	int			(*fn)(void *arg);
	void			*arg;
	int			ret;
	struct completion	done;
	struct task_struct	*task;
};

/*
 * Between the two a case must not abort: KUNIT_EXPECT_* only.  The join fails
 * the case, and gives -ETIMEDOUT, if the call does not return in VT_PATIENCE_MS.
 * A call that has to be woken needs a longer time-out than that, or none: when its
 * own time is over it may find what it was not woken for, and look well.
 */
struct vt_async *vt_async_start(struct kunit *test, int (*fn)(void *arg),
				void *arg);
int vt_async_join(struct kunit *test, struct vt_async *thread);

/*
 * True if the call has not returned a moment later.  That something does not
 * happen makes no event to wait for, so this one gives it time.
 */
bool vt_async_waits(struct vt_async *thread);

#endif /* _KUNIT_ASYNC_H */
