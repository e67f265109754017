// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The shared counter: its two numbers, sleepers and what ends their sleep.
 *
 * "Sleeps" is checked by vt_async_waits(), as for the queues; a lost wake-up
 * shows as a join that times out.  Where it matters that a thread has come to the
 * counter before the case goes on, count_sleepers() looks into the wait queue.
 */
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <kofi/cntr.h>
#include "core.h"

#define A_MOMENT_MS	20
#define FOR_EVER_MS	(2 * VT_PATIENCE_MS)	/* the join is sooner */
#define NR_ROUNDS	1000
#define NR_THREADS	4

struct cntr_test {
	struct core_set		set;
	struct fid_cntr		*cntr;
	u64			threshold;
	int			timeout;
	struct completion	ready;
	struct irq_work		irq;
};

static struct cntr_test *cntr_test(struct kunit *test)
{
	struct cntr_test *ct = vt_buf(test, sizeof(*ct));

	init_completion(&ct->ready);
	ct->timeout = FOR_EVER_MS;
	ct->threshold = 3;
	core_open_parents(test, &ct->set, core_mock(test, "mock", 1), MOCK_CNTR);
	return ct;
}

static struct fid_cntr *open_cntr(struct kunit *test, struct cntr_test *ct,
				  struct fi_cntr_attr attr)
{
	struct fid_cntr *cntr;

	KUNIT_ASSERT_EQ(test, fi_cntr_open(core_domain(&ct->set), &attr, &cntr, ct), 0);
	core_adopt(test, &cntr->fid);
	return cntr;
}

/* A counter to sleep on */
static struct cntr_test *open_test(struct kunit *test)
{
	struct cntr_test *ct = cntr_test(test);
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };

	ct->cntr = open_cntr(test, ct, attr);
	return ct;
}

static int do_wait(void *data)
{
	struct cntr_test *ct = data;

	return fi_cntr_wait(ct->cntr, ct->threshold, ct->timeout);
}

/* Milliseconds that a wait took */
static s64 time_wait(struct cntr_test *ct, int timeout, int *ret)
{
	ktime_t start = ktime_get();

	*ret = fi_cntr_wait(ct->cntr, ct->threshold, timeout);
	return ktime_ms_delta(ktime_get(), start);
}

static int count_sleepers(struct cntr_test *ct)
{
	struct wait_queue_head *wait = &core_kofi_cntr(ct->cntr)->wait;
	struct list_head *entry;
	int count = 0;

	spin_lock_irq(&wait->lock);
	list_for_each(entry, &wait->head)
		count++;
	spin_unlock_irq(&wait->lock);
	return count;
}

/* A thread that falls asleep makes no event */
static bool have_sleepers(struct cntr_test *ct, int count)
{
	unsigned long until = jiffies + msecs_to_jiffies(FOR_EVER_MS);

	while (count_sleepers(ct) < count) {
		if (time_after(jiffies, until))
			return false;
		usleep_range(1000, 2000);
	}
	return true;
}

/**
 * struct step - A call, and its result
 * @name: of the call
 * @run: makes it
 * @arg: its argument
 * @want: its result
 */
struct step {
	const char	*name;
	s64		(*run)(struct fid_cntr *cntr, u64 arg);
	u64		arg;
	s64		want;
};

static s64 do_add(struct fid_cntr *cntr, u64 arg)
{
	return fi_cntr_add(cntr, arg);
}

static s64 do_set(struct fid_cntr *cntr, u64 arg)
{
	return fi_cntr_set(cntr, arg);
}

static s64 do_adderr(struct fid_cntr *cntr, u64 arg)
{
	return fi_cntr_adderr(cntr, arg);
}

static s64 do_seterr(struct fid_cntr *cntr, u64 arg)
{
	return fi_cntr_seterr(cntr, arg);
}

static s64 do_read(struct fid_cntr *cntr, u64 arg)
{
	return fi_cntr_read(cntr);
}

static s64 do_readerr(struct fid_cntr *cntr, u64 arg)
{
	return fi_cntr_readerr(cntr);
}

static s64 do_look(struct fid_cntr *cntr, u64 arg)
{
	return fi_cntr_wait(cntr, arg, 0);
}

static s64 do_wait_for_ever(struct fid_cntr *cntr, u64 arg)
{
	return fi_cntr_wait(cntr, arg, -1);
}

#define ADD(n)			{ "fi_cntr_add", do_add, n }
#define SET(n)			{ "fi_cntr_set", do_set, n }
#define ADDERR(n)		{ "fi_cntr_adderr", do_adderr, n }
#define SETERR(n)		{ "fi_cntr_seterr", do_seterr, n }
#define VALUE(want)		{ "fi_cntr_read", do_read, 0, want }
#define ERRORS(want)		{ "fi_cntr_readerr", do_readerr, 0, want }
/* Without time, and with all of it */
#define LOOK(n, want)		{ "fi_cntr_wait", do_look, n, want }
#define WAIT(n, want)		{ "fi_cntr_wait", do_wait_for_ever, n, want }

static const struct sequence {
	const char	*name;
	struct step	steps[12];
} sequences[] = {
	{ "a new counter is zero", { VALUE(0), ERRORS(0) } },
	{ "the value is added to and set",
	  { ADD(5), ADD(2), VALUE(7), SET(3), VALUE(3), ERRORS(0) } },
	{ "errors are counted apart",
	  { ADDERR(5), ADDERR(2), ERRORS(7), SETERR(3), ERRORS(3), VALUE(0) } },
	{ "numbers have 64 bits",
	  { SET(BIT_ULL(63)), ADD(1), SETERR(BIT_ULL(40)), VALUE(BIT_ULL(63) + 1),
	    ERRORS(BIT_ULL(40)), LOOK(BIT_ULL(63), 0), LOOK(BIT_ULL(63) + 1, 0),
	    LOOK(BIT_ULL(63) + 2, -ETIMEDOUT) } },
	{ "a wait ends at once at the threshold", { ADD(3), WAIT(3, 0), LOOK(2, 0), WAIT(0, 0) } },
	{ "a wait without time does not sleep", { ADD(2), LOOK(3, -ETIMEDOUT) } },
	{ "an error is reported until it was read",
	  { ADDERR(1), WAIT(3, -FI_EAVAIL), WAIT(3, -FI_EAVAIL), ERRORS(1), LOOK(3, -ETIMEDOUT),
	    ADDERR(1), WAIT(3, -FI_EAVAIL) } },
	{ "an error that the client has set is not reported",
	  { ADDERR(1), SETERR(1), LOOK(3, -ETIMEDOUT), ADDERR(1), SETERR(0), LOOK(3, -ETIMEDOUT),
	    ADDERR(0), LOOK(3, -ETIMEDOUT) } },
	{ "the threshold goes before an error", { ADDERR(1), ADD(3), WAIT(3, 0) } },
};

KUNIT_ARRAY_PARAM_DESC(sequence, sequences, name);

static void each_step_has_its_result(struct kunit *test)
{
	const struct sequence *sequence = test->param_value;
	struct cntr_test *ct = open_test(test);
	const struct step *step = sequence->steps;

	KUNIT_EXPECT_PTR_EQ(test, ct->cntr->fid.context, (void *)ct);
	for (; step < sequence->steps + ARRAY_SIZE(sequence->steps) && step->name; step++)
		KUNIT_ASSERT_EQ_MSG(test, step->run(ct->cntr, step->arg), step->want,
				    "step %zu, %s(%llu)", step - sequence->steps + 1, step->name,
				    step->arg);
}

static void wait_ends_with_its_time(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	int ret;

	fi_cntr_add(ct->cntr, 2);

	KUNIT_EXPECT_GE(test, time_wait(ct, A_MOMENT_MS, &ret), A_MOMENT_MS);
	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(ct->cntr), 2);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(ct->cntr), 0);
}

/*
 * struct waking - What wakes a thread that sleeps until the value is 3
 * @name: of that
 * @before: the counter, before the thread comes
 * @nothing: leaves the thread asleep
 * @waker: wakes it
 * @ret: the result of its wait
 */
struct waking {
	const char	*name;
	struct step	before;
	struct step	nothing;
	struct step	waker;
	int		ret;
};

static const struct waking wakings[] = {
	{ "the threshold", ADD(0), ADD(2), ADD(1), 0 },
	{ "a new value", ADD(0), SET(2), SET(3), 0 },
	{ "an error", ADD(0), ADDERR(0), ADDERR(1), -FI_EAVAIL },
	{ "fewer errors", SETERR(5), SETERR(5), SETERR(0), -FI_EAVAIL },
	{ "more errors", SETERR(5), SETERR(5), SETERR(6), -FI_EAVAIL },
};

KUNIT_ARRAY_PARAM_DESC(waking, wakings, name);

static void a_change_wakes_the_sleeper(struct kunit *test)
{
	const struct waking *row = test->param_value;
	struct cntr_test *ct = open_test(test);
	struct vt_async *sleeper;

	ct->timeout = -1;
	row->before.run(ct->cntr, row->before.arg);
	sleeper = vt_async_start(test, do_wait, ct);
	KUNIT_EXPECT_TRUE(test, have_sleepers(ct, 1));
	row->nothing.run(ct->cntr, row->nothing.arg);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(sleeper));
	row->waker.run(ct->cntr, row->waker.arg);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), row->ret);
}

static void sleeper_is_left_alone_below_its_threshold(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct vt_async *sleeper;
	unsigned long slept;
	int i;

	ct->threshold = 10;
	sleeper = vt_async_start(test, do_wait, ct);
	KUNIT_EXPECT_TRUE(test, have_sleepers(ct, 1));
	KUNIT_EXPECT_TRUE(test, vt_async_waits(sleeper));
	slept = READ_ONCE(sleeper->task->nvcsw);
	for (i = 1; i < 10; i++) {
		fi_cntr_add(ct->cntr, 1);
		KUNIT_EXPECT_TRUE(test, vt_async_waits(sleeper));
	}
	/* One, if it was on its way to sleep until now */
	KUNIT_EXPECT_LE(test, READ_ONCE(sleeper->task->nvcsw), slept + 1);
	fi_cntr_add(ct->cntr, 1);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), 0);
}

static void each_sleeper_wakes_at_its_threshold(struct kunit *test)
{
	struct cntr_test *near = open_test(test), far = *near;
	struct vt_async *one, *two;

	near->threshold = 1;
	far.threshold = 2;
	two = vt_async_start(test, do_wait, &far);
	one = vt_async_start(test, do_wait, near);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(one));
	fi_cntr_add(near->cntr, 1);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, one), 0);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(two));
	fi_cntr_add(near->cntr, 1);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, two), 0);
}

/* Even if somebody else reads the number before the sleeper has woken up */
static void error_wakes_every_sleeper(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct vt_async *one, *two;

	one = vt_async_start(test, do_wait, ct);
	two = vt_async_start(test, do_wait, ct);
	KUNIT_EXPECT_TRUE(test, have_sleepers(ct, 2));
	fi_cntr_adderr(ct->cntr, 1);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(ct->cntr), 1);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, one), -FI_EAVAIL);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, two), -FI_EAVAIL);
}

static int wait_interruptibly(void *data)
{
	struct cntr_test *ct = data;
	int ret;

	allow_signal(SIGUSR1);
	complete(&ct->ready);
	ret = do_wait(ct);
	flush_signals(current);
	disallow_signal(SIGUSR1);
	return ret;
}

static void task_signal_ends_the_wait(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct vt_async *sleeper;

	ct->timeout = -1;
	sleeper = vt_async_start(test, wait_interruptibly, ct);
	wait_for_completion(&ct->ready);
	send_sig(SIGUSR1, sleeper->task, 1);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), -EINTR);
}

static void add_in_interrupt(struct irq_work *irq)
{
	struct cntr_test *ct = container_of(irq, struct cntr_test, irq);

	fi_cntr_add(ct->cntr, in_hardirq() ? 3 : 2);
}

static void interrupt_may_count(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct vt_async *sleeper = vt_async_start(test, do_wait, ct);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(sleeper));
	ct->irq = IRQ_WORK_INIT_HARD(add_in_interrupt);
	irq_work_queue(&ct->irq);
	irq_work_sync(&ct->irq);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), 0);
}

static int add_often(void *data)
{
	struct cntr_test *ct = data;
	int i;

	for (i = 0; i < NR_ROUNDS; i++) {
		fi_cntr_add(ct->cntr, 1);
		fi_cntr_add(ct->cntr, 2);
		fi_cntr_adderr(ct->cntr, 1);
		cond_resched();
	}
	return 0;
}

static void no_count_is_lost(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct vt_async *threads[NR_THREADS];
	int i;

	for (i = 0; i < NR_THREADS; i++)
		threads[i] = vt_async_start(test, add_often, ct);
	for (i = 0; i < NR_THREADS; i++)
		KUNIT_EXPECT_EQ(test, vt_async_join(test, threads[i]), 0);

	KUNIT_EXPECT_EQ(test, fi_cntr_read(ct->cntr), 3 * NR_ROUNDS * NR_THREADS);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(ct->cntr), NR_ROUNDS * NR_THREADS);
}

static int follow(void *data)
{
	struct cntr_test *ct = data;
	int err, i;

	for (i = 1; i <= NR_ROUNDS; i++) {
		err = vt_cntr_wait(ct->cntr, i);
		if (err)
			return err;
	}
	return 0;
}

static void no_wake_up_is_lost(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct vt_async *follower;
	int i;

	follower = vt_async_start(test, follow, ct);
	for (i = 0; i < NR_ROUNDS; i++) {
		fi_cntr_add(ct->cntr, 1);
		cond_resched();
	}

	KUNIT_EXPECT_EQ(test, vt_async_join(test, follower), 0);
}

static int see_errors(void *data)
{
	struct cntr_test *ct = data;
	u64 seen = 0;
	int err;

	while (seen < NR_ROUNDS) {
		err = vt_cntr_wait(ct->cntr, 1);
		if (err != -FI_EAVAIL)
			return err;
		seen = fi_cntr_readerr(ct->cntr);
	}
	return seen;
}

static void no_error_is_slept_through(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	struct vt_async *watcher;
	int i;

	watcher = vt_async_start(test, see_errors, ct);
	for (i = 0; i < NR_ROUNDS; i++) {
		fi_cntr_adderr(ct->cntr, 1);
		cond_resched();
	}

	KUNIT_EXPECT_EQ(test, vt_async_join(test, watcher), NR_ROUNDS);
}

static void counter_without_a_wait_object_is_not_slept_on(struct kunit *test)
{
	struct cntr_test *ct = cntr_test(test);
	struct fi_cntr_attr attr = {};

	ct->cntr = open_cntr(test, ct, attr);
	fi_cntr_add(ct->cntr, 3);

	KUNIT_EXPECT_EQ(test, fi_cntr_wait(ct->cntr, 3, -1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(ct->cntr), 3);
}

static void counter_names_its_wait_object(struct kunit *test)
{
	struct cntr_test *ct = open_test(test);
	enum fi_wait_obj wait_obj = FI_WAIT_NONE;

	KUNIT_EXPECT_EQ(test, fi_control(&ct->cntr->fid, FI_GETWAITOBJ, &wait_obj), 0);
	KUNIT_EXPECT_EQ(test, (int)wait_obj, (int)FI_WAIT_UNSPEC);
	KUNIT_EXPECT_EQ(test, fi_control(&ct->cntr->fid, FI_GETWAITOBJ, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_control(&ct->cntr->fid, FI_ENABLE, NULL), -ENOSYS);
}

static const struct bad_attr {
	const char		*name;
	struct fi_cntr_attr	attr;
	int			err;
} bad_attrs[] = {
	{ "unknown events", { .events = FI_CNTR_EVENTS_BYTES + 1 }, -EINVAL },
	{ "flags", { .flags = FI_WRITE }, -FI_EBADFLAGS },
	{ "wait set", { .wait_obj = FI_WAIT_SET }, -ENOSYS },
	{ "fd", { .wait_obj = FI_WAIT_FD }, -ENOSYS },
	{ "mutex", { .wait_obj = FI_WAIT_MUTEX_COND }, -ENOSYS },
	{ "yield", { .wait_obj = FI_WAIT_YIELD }, -ENOSYS },
	{ "callback", { .wait_obj = FI_WAIT_CALLBACK }, -ENOSYS },
};

KUNIT_ARRAY_PARAM_DESC(bad_attr, bad_attrs, name);

static void bad_attributes_are_refused(struct kunit *test)
{
	const struct bad_attr *bad = test->param_value;
	struct cntr_test *ct = cntr_test(test);
	struct fi_cntr_attr attr = bad->attr;
	struct fid_cntr *cntr = NULL;

	KUNIT_EXPECT_EQ(test, fi_cntr_open(core_domain(&ct->set), &attr, &cntr, NULL), bad->err);
	KUNIT_EXPECT_NULL(test, cntr);
	KUNIT_EXPECT_EQ(test, atomic_read(&ct->set.mock->live[MOCK_CNTR]), 0);
}

static void ready_made_counter_needs_no_provider(struct kunit *test)
{
	struct fi_cntr_attr attr = {}, bad = { .flags = 1 };
	struct fid_cntr *cntr = NULL;

	KUNIT_EXPECT_EQ(test, kofi_cntr_open(NULL, NULL, &cntr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_cntr_open(NULL, &bad, &cntr, NULL), -FI_EBADFLAGS);
	KUNIT_ASSERT_EQ(test, kofi_cntr_open(NULL, &attr, &cntr, test), 0);
	kofi_cntr_add(to_kofi_cntr(&cntr->fid), 2);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(cntr), 2);
	KUNIT_EXPECT_PTR_EQ(test, cntr->fid.context, (void *)test);
	KUNIT_EXPECT_EQ(test, cntr->fid.ops->close(&cntr->fid), 0);
}

static struct kunit_case cntr_cases[] = {
	KUNIT_CASE_PARAM(each_step_has_its_result, sequence_gen_params),
	KUNIT_CASE_PARAM(a_change_wakes_the_sleeper, waking_gen_params),
	KUNIT_CASE(wait_ends_with_its_time),
	KUNIT_CASE(sleeper_is_left_alone_below_its_threshold),
	KUNIT_CASE(each_sleeper_wakes_at_its_threshold),
	KUNIT_CASE(error_wakes_every_sleeper),
	KUNIT_CASE(task_signal_ends_the_wait),
	KUNIT_CASE(interrupt_may_count),
	KUNIT_CASE(no_count_is_lost),
	KUNIT_CASE(no_wake_up_is_lost),
	KUNIT_CASE(no_error_is_slept_through),
	KUNIT_CASE(counter_without_a_wait_object_is_not_slept_on),
	KUNIT_CASE(counter_names_its_wait_object),
	KUNIT_CASE_PARAM(bad_attributes_are_refused, bad_attr_gen_params),
	KUNIT_CASE(ready_made_counter_needs_no_provider),
	{}
};

struct kunit_suite kofi_cntr_suite = {
	.name = "kofi_cntr",
	.init = core_init,
	.exit = core_exit,
	.test_cases = cntr_cases,
};
