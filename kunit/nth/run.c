// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ways to fail, and the loop over all failure points of a path.
 *
 * The kernel's fault injection lets the nth allocation of a task fail
 * (current->fail_nth).  What a call makes others do for it, like the connection
 * manager's workers, allocates in their name; for these, a tracepoint hands the
 * count from one work item to the next (nth_workers).  Allocations that may sleep
 * fail only if failslab and fail_page_alloc are told so, in debugfs.
 *
 * A worker's count is handed over, not shared: of work items that run at the same
 * time each one gets what is left.  So on several processors it may happen that two
 * fail; a point that is passed by never happens, as the loop ends only after a run
 * in which no count was used up.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/umh.h>
#include <linux/wait.h>
#include "nth.h"

#define NTH_WORKERS	64	/* at the same time */
#define NTH_END_WAIT	HZ

/* Allocations that workers may still make; 0: no failures among them */
static atomic_t nth_left;
/* How often one has failed */
static atomic_t nth_struck;

static void nth_set(unsigned int nth)
{
	WRITE_ONCE(current->fail_nth, nth);
}

static unsigned int nth_get(void)
{
	return READ_ONCE(current->fail_nth);
}

static void nth_arm_own(struct nth_env *env, const struct nth_means *means, unsigned int nth)
{
	nth_set(nth);
}

static bool nth_disarm_own(struct nth_env *env, const struct nth_means *means)
{
	bool struck = !nth_get();

	nth_set(0);
	return struck;
}

const struct nth_means nth_own = {
	.name	= "allocations of the caller",
	.arm	= nth_arm_own,
	.disarm	= nth_disarm_own,
	.error	= -ENOMEM,
};

/*
 * rxe in 6.12: a queue pair for which there was no memory on the way to RTR takes
 * no receives any more, nor flushes them, and whoever drains it waits for ever.
 * Its queues come from vmalloc(), which reports each failure on the console.
 */
const struct nth_means nth_own_rxe = {
	.name	= "allocations of the caller",
	.arm	= nth_arm_own,
	.disarm	= nth_disarm_own,
	.error	= -ENOMEM,
	.never	= NTH_JOINS | NTH_QUEUES,
};

/* Workers at work, and those that have been given a count: others have begun before */
static struct task_struct *nth_working[NTH_WORKERS], *nth_counting[NTH_WORKERS];

static DECLARE_WAIT_QUEUE_HEAD(nth_ended);

static bool nth_has(struct task_struct *const *tasks, const struct task_struct *task)
{
	size_t i;

	for (i = 0; i < NTH_WORKERS; i++)
		if (READ_ONCE(tasks[i]) == task)
			return true;
	return false;
}

static bool nth_is_empty(struct task_struct *const *tasks)
{
	size_t i;

	for (i = 0; i < NTH_WORKERS; i++)
		if (READ_ONCE(tasks[i]))
			return false;
	return true;
}

/* Returns false if there is no @from, or no place */
static bool nth_mark(struct task_struct **tasks, struct task_struct *from, struct task_struct *to)
{
	size_t i;

	for (i = 0; i < NTH_WORKERS; i++)
		if (cmpxchg(&tasks[i], from, to) == from)
			return true;
	return false;
}

static void nth_arm_workers(struct nth_env *env, const struct nth_means *means, unsigned int nth)
{
	/*
	 * A work item that has been queued, as by the opening of a listener, would use up a count
	 * in some of the rounds only.  That none is queued is no event; where time jumps, all have
	 * run when it does.  One that has begun would do what comes now without a count.
	 */
	schedule_timeout_uninterruptible(1);
	wait_event_timeout(nth_ended, nth_is_empty(nth_working), NTH_END_WAIT);
	atomic_set(&nth_struck, 0);
	atomic_set(&nth_left, nth);
}

static bool nth_disarm_workers(struct nth_env *env, const struct nth_means *means)
{
	atomic_set(&nth_left, 0);
	/* Who has told of a failure may not have come to the end of his work yet */
	wait_event_timeout(nth_ended, nth_is_empty(nth_counting), NTH_END_WAIT);
	return atomic_read(&nth_struck);
}

const struct nth_means nth_workers = {
	.name	= "allocations of workers",
	.arm	= nth_arm_workers,
	.disarm	= nth_disarm_workers,
	.error	= -ENOMEM,
};

static void nth_work_begins(void *unused, struct work_struct *work)
{
	unsigned int left = atomic_read(&nth_left);

	nth_mark(nth_working, NULL, current);
	nth_set(left && nth_mark(nth_counting, NULL, current) ? left : 0);
}

static void nth_work_ends(void *unused, struct work_struct *work, work_func_t function)
{
	unsigned int before = atomic_read(&nth_left), left = nth_get();

	nth_set(0);
	if (nth_has(nth_counting, current)) {
		if (!left)
			atomic_inc(&nth_struck);
		if (before)
			atomic_cmpxchg(&nth_left, before, left);
		nth_mark(nth_counting, current, NULL);
	}
	nth_mark(nth_working, current, NULL);
	wake_up(&nth_ended);
}

static struct vt_probe nth_probes[] = {
	{ "workqueue_execute_start", nth_work_begins },
	{ "workqueue_execute_end", nth_work_ends },
};

/* What fault injection may do, and what it does otherwise */
static const struct nth_knob {
	const char	*dir;
	const char	*name;
	const char	*value;
	const char	*before;
} nth_knobs[] = {
	{ "failslab", "ignore-gfp-wait", "N", "Y" },
	{ "failslab", "verbose", "0", "2" },
	{ "fail_page_alloc", "ignore-gfp-wait", "N", "Y" },
	{ "fail_page_alloc", "ignore-gfp-highmem", "N", "Y" },
	{ "fail_page_alloc", "min-order", "0", "1" },
	{ "fail_page_alloc", "verbose", "0", "2" },
};

/* A kernel without one of them has fewer failure points */
static int nth_turn(const struct nth_knob *knob, const char *value)
{
	char command[128], *argv[4] = {}, *envp[2] = {};

	snprintf(command, sizeof(command),
		 "cd /sys/kernel/debug && { [ ! -d %s ] || echo %s >%s/%s; }",
		 knob->dir, value, knob->dir, knob->name);
	envp[0] = "PATH=/sbin:/bin";
	argv[0] = "/bin/sh";
	argv[1] = "-c";
	argv[2] = command;
	return call_usermodehelper(argv[0], argv, envp, UMH_WAIT_PROC);
}

static int nth_allow(bool allow)
{
	const struct nth_knob *knob;
	int ret = 0;

	for (knob = nth_knobs; knob < nth_knobs + ARRAY_SIZE(nth_knobs); knob++)
		ret = ret ? : nth_turn(knob, allow ? knob->value : knob->before);
	return ret;
}

int nth_init(void)
{
	int ret;

	/* Whose end has not been seen */
	memset(nth_working, 0, sizeof(nth_working));
	ret = vt_probe_all(nth_probes, ARRAY_SIZE(nth_probes));
	if (ret)
		return ret;
	ret = nth_leak_init();
	if (ret)
		goto unprobe;
	ret = nth_allow(true);
	if (!ret)
		return 0;
	nth_leak_exit();
unprobe:
	vt_unprobe_all(nth_probes, ARRAY_SIZE(nth_probes));
	return ret;
}

void nth_exit(void)
{
	nth_allow(false);
	nth_leak_exit();
	vt_unprobe_all(nth_probes, ARRAY_SIZE(nth_probes));
}

int nth_plain_suite_init(struct kunit_suite *suite)
{
	return nth_init();
}

void nth_plain_suite_exit(struct kunit_suite *suite)
{
	nth_exit();
}

void nth_pause(struct nth_env *env)
{
	env->pause = nth_get();
	nth_set(0);
}

void nth_resume(struct nth_env *env)
{
	nth_set(env->pause);
}

static struct fakehca_stats nth_stats(struct nth_env *env)
{
	struct fakehca_stats stats = {};

	if (env->hca) {
		fakehca_idle(env->hca);
		fakehca_get_stats(env->hca, &stats);
	}
	return stats;
}

static void nth_expect_same(struct nth_env *env, const struct fakehca_stats *before)
{
	struct fakehca_stats now = nth_stats(env);

	KUNIT_EXPECT_EQ(env->test, now.pds, before->pds);
	KUNIT_EXPECT_EQ(env->test, now.cqs, before->cqs);
	KUNIT_EXPECT_EQ(env->test, now.qps, before->qps);
	KUNIT_EXPECT_EQ(env->test, now.srqs, before->srqs);
	KUNIT_EXPECT_EQ(env->test, now.mrs, before->mrs);
	/* fi_mr_refresh() lets go of the old memory before it takes the new */
	KUNIT_EXPECT_LE(env->test, now.mapped, before->mapped);
}

static bool nth_says(struct nth_env *env, const struct nth_path *path,
		     const struct nth_means *means, int err)
{
	bool verbs = nth_is_verbs(env);
	int i;

	/* The network stack has words of its own for that, bind() the last one */
	if (err == -ENOMEM || err == -ENOBUFS || err == -ENFILE ||
	    err == means->error || (err == -EADDRINUSE && !verbs))
		return true;
	/* Only what is lost on a wire is waited for until the time is over */
	if (err == -ETIMEDOUT && !verbs)
		return false;
	for (i = 0; i < NTH_ERRNOS; i++)
		if (err == path->errnos[i])
			return true;
	return false;
}

/* Is @err what a client may be told?  Then again, with nothing failing */
static void nth_failed(struct nth_env *env, const struct nth_path *path,
		       const struct nth_means *means, unsigned int nth, int err,
		       const struct fakehca_stats *before)
{
	struct kunit *test = env->test;

	if (path->traits & NTH_SURE || !nth_says(env, path, means, err))
		KUNIT_FAIL(test, "%s says %d at number %u of the %s",
			   path->name, err, nth, means->name);
	if (path->traits & (means->error == -ENOMEM ? NTH_FINAL : NTH_FINAL | NTH_ENDS))
		return;
	nth_expect_same(env, before);
	err = path->call(env);
	KUNIT_EXPECT_EQ_MSG(test, err, 0, "%s again, after number %u of the %s",
			    path->name, nth, means->name);
}

/* False: there is no nth */
static bool nth_once(struct nth_env *env, const struct nth_path *path,
		     const struct nth_means *means, unsigned int nth)
{
	unsigned int mark = env->nr_fids;
	struct fakehca_stats before;
	bool struck;
	int err;

	err = path->prepare ? path->prepare(env) : 0;
	KUNIT_EXPECT_EQ_MSG(env->test, err, 0, "before %s, number %u of the %s",
			    path->name, nth, means->name);
	if (err) {
		nth_drop(env, mark);
		return false;
	}
	before = nth_stats(env);
	means->arm(env, means, nth);
	err = path->call(env);
	struck = means->disarm(env, means);
	if (err)
		nth_failed(env, path, means, nth, err, &before);
	KUNIT_EXPECT_TRUE_MSG(env->test, !err || struck, "%s says %d although nothing failed",
			      path->name, err);
	nth_drop(env, mark);
	return struck;
}

unsigned int nth_run(struct nth_env *env, const struct nth_path *path,
		     const struct nth_means *means)
{
	unsigned int nth;

	for (nth = 1; nth < NTH_MANY; nth++)
		if (!nth_once(env, path, means, nth))
			break;
	KUNIT_EXPECT_LT(env->test, nth, NTH_MANY);
	return nth - 1;
}
