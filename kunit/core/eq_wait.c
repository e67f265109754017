// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Waiting for the shared event queue: sleeping readers, handlers, and events
 * that go away while somebody reads.
 */
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <kofi/eq.h>
#include "core.h"

#define A_MOMENT_MS	20
#define FOR_EVER_MS	20000
#define NR_EVENTS	64
#define ROUNDS		2000

struct wait_test {
	struct fid_eq		*eq;
	struct kofi_event	events[NR_EVENTS];
	int			timeout;
	bool			stop;
	bool			hold;
	struct completion	ready;
	struct completion	entered;
	struct completion	leave;
	struct completion	all_seen;
	int			expected;
	atomic_t		inside;
	atomic_t		calls;
	atomic_t		overlaps;
	atomic_t		seen;
};

static struct wait_test *open_eq_of(struct kunit *test, const char *prov, enum fi_wait_obj wait_obj,
				    void (*handler)(struct fid_eq *eq, void *context))
{
	struct wait_test *wt = vt_buf(test, sizeof(*wt));
	struct fi_eq_attr attr = { .wait_obj = wait_obj, .handler = handler };
	struct core_set set;
	int i;

	init_completion(&wt->ready);
	init_completion(&wt->entered);
	init_completion(&wt->leave);
	init_completion(&wt->all_seen);
	wt->timeout = -1;
	core_open_parents(test, &set, core_mock(test, prov, 1), MOCK_EQ);
	KUNIT_ASSERT_EQ(test, fi_eq_open(core_fabric(&set), &attr, &wt->eq, wt), 0);
	core_adopt(test, &wt->eq->fid);
	for (i = 0; i < NR_EVENTS; i++)
		kofi_event_init(&wt->events[i], NULL);
	return wt;
}

static struct wait_test *open_eq(struct kunit *test, enum fi_wait_obj wait_obj,
				 void (*handler)(struct fid_eq *eq, void *context))
{
	return open_eq_of(test, "mock", wait_obj, handler);
}

static int post(struct wait_test *wt, int i)
{
	wt->events[i].event = FI_CONNECTED;
	return kofi_eq_post(core_kofi_eq(wt->eq), &wt->events[i]);
}

static ssize_t read_all(struct wait_test *wt)
{
	struct fi_eq_entry entry;
	ssize_t total = 0;
	u32 event;

	while (fi_eq_read(wt->eq, &event, &entry, sizeof(entry), 0) > 0)
		total++;
	return total;
}

static int do_wait(void *data)
{
	struct wait_test *wt = data;
	struct fi_eq_entry entry;
	u32 event;

	return fi_eq_sread(wt->eq, &event, &entry, sizeof(entry), wt->timeout, 0);
}

static void no_handler(struct fid_eq *eq, void *context)
{
}

static void polled_queue_is_not_slept_on(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_NONE, NULL);

	KUNIT_EXPECT_EQ(test, do_wait(wt), -EINVAL);
}

static void queue_with_a_handler_is_not_slept_on(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_CALLBACK, no_handler);

	KUNIT_EXPECT_EQ(test, do_wait(wt), -EINVAL);
}

static void sread_without_time_does_not_sleep(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_UNSPEC, NULL);

	wt->timeout = 0;

	KUNIT_EXPECT_EQ(test, do_wait(wt), -EAGAIN);
}

static void sread_ends_with_its_time(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_UNSPEC, NULL);
	ktime_t start = ktime_get();

	wt->timeout = A_MOMENT_MS;

	KUNIT_EXPECT_EQ(test, do_wait(wt), -EAGAIN);
	KUNIT_EXPECT_GE(test, ktime_ms_delta(ktime_get(), start), A_MOMENT_MS);
}

static void event_wakes_the_sleeper(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_UNSPEC, NULL);
	struct vt_async *sleeper = vt_async_start(test, do_wait, wt);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(sleeper));
	KUNIT_EXPECT_EQ(test, post(wt, 0), 0);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), (int)sizeof(struct fi_eq_cm_entry));
}

static void error_wakes_the_sleeper(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_UNSPEC, NULL);
	struct vt_async *sleeper = vt_async_start(test, do_wait, wt);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(sleeper));
	wt->events[0].err = EIO;
	KUNIT_EXPECT_EQ(test, post(wt, 0), 0);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), -FI_EAVAIL);
}

static void one_event_serves_one_of_two_sleepers(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_UNSPEC, NULL);
	struct vt_async *one = vt_async_start(test, do_wait, wt);
	struct vt_async *two = vt_async_start(test, do_wait, wt);
	bool first, second;
	int tries = 100;

	KUNIT_EXPECT_TRUE(test, vt_async_waits(one));
	KUNIT_EXPECT_TRUE(test, vt_async_waits(two));
	KUNIT_EXPECT_EQ(test, post(wt, 0), 0);
	/* Who has got it may take his time to return */
	do {
		first = vt_async_waits(one);
		second = vt_async_waits(two);
	} while (first && second && --tries);
	KUNIT_EXPECT_NE(test, first, second);
	KUNIT_EXPECT_EQ(test, post(wt, 1), 0);

	KUNIT_EXPECT_GT(test, vt_async_join(test, one), 0);
	KUNIT_EXPECT_GT(test, vt_async_join(test, two), 0);
}

static int wait_interruptibly(void *data)
{
	struct wait_test *wt = data;
	int ret;

	allow_signal(SIGUSR1);
	complete(&wt->ready);
	ret = do_wait(wt);
	flush_signals(current);
	disallow_signal(SIGUSR1);
	return ret;
}

static void task_signal_ends_the_wait(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_UNSPEC, NULL);
	struct vt_async *sleeper;

	sleeper = vt_async_start(test, wait_interruptibly, wt);
	wait_for_completion(&wt->ready);
	send_sig(SIGUSR1, sleeper->task, 1);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, sleeper), -EINTR);
}

/* A handler that reads everything, and on demand stays a while */
static void eq_handler(struct fid_eq *eq, void *context)
{
	struct wait_test *wt = context;

	if (atomic_inc_return(&wt->inside) > 1)
		atomic_inc(&wt->overlaps);
	atomic_inc(&wt->calls);
	if (atomic_add_return(read_all(wt), &wt->seen) == wt->expected)
		complete(&wt->all_seen);
	if (xchg(&wt->hold, false)) {
		complete(&wt->entered);
		wait_for_completion(&wt->leave);
	}
	atomic_dec(&wt->inside);
}

/* A handler that leaves reading to somebody else */
static void lazy_handler(struct fid_eq *eq, void *context)
{
	struct wait_test *wt = context;

	atomic_inc(&wt->calls);
	complete(&wt->entered);
}

static bool arrives(struct completion *completion)
{
	return wait_for_completion_timeout(completion, msecs_to_jiffies(FOR_EVER_MS));
}

/* A call that should not come makes no event; give it time */
static bool stays_away(struct completion *completion)
{
	return !wait_for_completion_timeout(completion, msecs_to_jiffies(A_MOMENT_MS));
}

static void handler_is_called_for_the_first_event(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_CALLBACK, lazy_handler);

	KUNIT_EXPECT_TRUE(test, stays_away(&wt->entered));
	KUNIT_ASSERT_EQ(test, post(wt, 0), 0);
	KUNIT_EXPECT_TRUE(test, arrives(&wt->entered));
}

static void worker_of_a_handler_may_wait_for_io_afterwards(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_CALLBACK, lazy_handler);
	struct work_struct *work = &core_kofi_eq(wt->eq)->work;

	work->func(work);
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->calls), 1);
	KUNIT_EXPECT_FALSE(test, current->flags & PF_MEMALLOC_NOIO);
}

static void handler_is_not_called_before_the_queue_was_empty(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_CALLBACK, lazy_handler);
	struct fi_eq_entry entry;
	u32 event;

	KUNIT_ASSERT_EQ(test, post(wt, 0), 0);
	KUNIT_EXPECT_TRUE(test, arrives(&wt->entered));
	KUNIT_ASSERT_EQ(test, post(wt, 1), 0);
	KUNIT_EXPECT_GT(test, fi_eq_read(wt->eq, &event, &entry, sizeof(entry), 0), 0);
	KUNIT_ASSERT_EQ(test, post(wt, 2), 0);

	KUNIT_EXPECT_TRUE(test, stays_away(&wt->entered));
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->calls), 1);
}

static void handler_is_called_again_after_an_empty_read(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_CALLBACK, lazy_handler);

	KUNIT_ASSERT_EQ(test, post(wt, 0), 0);
	KUNIT_EXPECT_TRUE(test, arrives(&wt->entered));
	KUNIT_EXPECT_EQ(test, read_all(wt), 1);
	KUNIT_ASSERT_EQ(test, post(wt, 0), 0);

	KUNIT_EXPECT_TRUE(test, arrives(&wt->entered));
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->calls), 2);
}

static void handler_never_runs_twice_at_once(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_CALLBACK, eq_handler);

	wt->hold = true;
	wt->expected = 2;
	KUNIT_EXPECT_EQ(test, post(wt, 0), 0);
	KUNIT_EXPECT_TRUE(test, arrives(&wt->entered));

	KUNIT_EXPECT_EQ(test, post(wt, 1), 0);
	KUNIT_EXPECT_TRUE(test, stays_away(&wt->all_seen));

	complete(&wt->leave);
	KUNIT_EXPECT_TRUE(test, arrives(&wt->all_seen));
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->overlaps), 0);
}

static void handlers_of_two_queues_run_at_once(struct kunit *test)
{
	struct wait_test *held = open_eq(test, FI_WAIT_CALLBACK, eq_handler);
	struct wait_test *wt = open_eq_of(test, "mock2", FI_WAIT_CALLBACK, lazy_handler);

	held->hold = true;
	KUNIT_EXPECT_EQ(test, post(held, 0), 0);
	KUNIT_EXPECT_TRUE(test, arrives(&held->entered));
	KUNIT_EXPECT_EQ(test, post(wt, 0), 0);
	KUNIT_EXPECT_TRUE(test, arrives(&wt->entered));
	complete(&held->leave);
}

static void closing_handler(struct fid_eq *eq, void *context)
{
	struct wait_test *wt = context;

	wt->expected = eq->fid.ops->close(&eq->fid);
	complete(&wt->entered);
}

/* No hook is in between, and no object of the core */
static void handler_does_not_close_its_queue(struct kunit *test)
{
	struct wait_test *wt = vt_buf(test, sizeof(*wt));
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_CALLBACK, .handler = closing_handler };

	init_completion(&wt->entered);
	kofi_event_init(&wt->events[0], NULL);
	wt->events[0].event = FI_CONNECTED;
	KUNIT_ASSERT_EQ(test, kofi_eq_open(&attr, NULL, &wt->eq, wt), 0);
	KUNIT_EXPECT_EQ(test, kofi_eq_post(to_kofi_eq(&wt->eq->fid), &wt->events[0]), 0);
	KUNIT_EXPECT_TRUE(test, arrives(&wt->entered));
	KUNIT_EXPECT_EQ(test, wt->expected, -EDEADLK);
	KUNIT_EXPECT_EQ(test, wt->eq->fid.ops->close(&wt->eq->fid), 0);
}

static int post_half(void *data)
{
	int i;

	for (i = 0; i < NR_EVENTS / 2; i++) {
		if (post(data, i))
			return -EUCLEAN;
		cond_resched();
	}
	return 0;
}

static void handler_sees_every_event(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_CALLBACK, eq_handler);
	struct vt_async *other;
	int i;

	wt->expected = NR_EVENTS;
	other = vt_async_start(test, post_half, wt);
	for (i = NR_EVENTS / 2; i < NR_EVENTS; i++) {
		KUNIT_EXPECT_EQ(test, post(wt, i), 0);
		cond_resched();
	}

	KUNIT_EXPECT_EQ(test, vt_async_join(test, other), 0);
	KUNIT_EXPECT_TRUE(test, arrives(&wt->all_seen));
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->overlaps), 0);
}

static int close_eq(void *data)
{
	struct wait_test *wt = data;

	return fi_close(&wt->eq->fid);
}

static void close_waits_for_the_handler(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_CALLBACK, eq_handler);
	struct vt_async *closer;

	core_disown(test, &wt->eq->fid);
	wt->hold = true;
	KUNIT_EXPECT_EQ(test, post(wt, 0), 0);
	KUNIT_EXPECT_TRUE(test, arrives(&wt->entered));

	closer = vt_async_start(test, close_eq, wt);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(closer));
	complete(&wt->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, closer), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&wt->inside), 0);
}

static int keep_reading(void *data)
{
	struct wait_test *wt = data;
	struct fi_eq_err_entry error;
	struct fi_eq_entry entry;
	u32 event;

	while (!READ_ONCE(wt->stop)) {
		error.err_data_size = 0;
		fi_eq_readerr(wt->eq, &error, 0);
		fi_eq_read(wt->eq, &event, &entry, sizeof(entry), 0);
		cond_resched();
	}
	return 0;
}

/* Of events that are freed right after their withdrawal, KASAN is the judge */
static void reader_does_not_look_at_a_withdrawn_event(struct kunit *test)
{
	struct wait_test *wt = open_eq(test, FI_WAIT_NONE, NULL);
	struct kofi_eq *eq = core_kofi_eq(wt->eq);
	struct kofi_event *event;
	struct vt_async *reader;
	int i, err = 0;

	reader = vt_async_start(test, keep_reading, wt);
	for (i = 0; i < ROUNDS && !err; i++) {
		event = kzalloc(sizeof(*event), GFP_KERNEL);
		if (!event)
			break;
		kofi_event_init(event, NULL);
		event->err = i % 2 ? EIO : 0;
		event->event = FI_CONNECTED;
		err = kofi_eq_post(eq, event);
		cond_resched();
		kofi_eq_withdraw(eq, event);
		kfree(event);
	}
	WRITE_ONCE(wt->stop, true);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, reader), 0);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, i, ROUNDS);
}

static struct kunit_case eq_wait_cases[] = {
	KUNIT_CASE(polled_queue_is_not_slept_on),
	KUNIT_CASE(queue_with_a_handler_is_not_slept_on),
	KUNIT_CASE(sread_without_time_does_not_sleep),
	KUNIT_CASE(sread_ends_with_its_time),
	KUNIT_CASE(event_wakes_the_sleeper),
	KUNIT_CASE(error_wakes_the_sleeper),
	KUNIT_CASE(one_event_serves_one_of_two_sleepers),
	KUNIT_CASE(task_signal_ends_the_wait),
	KUNIT_CASE(handler_is_called_for_the_first_event),
	KUNIT_CASE(worker_of_a_handler_may_wait_for_io_afterwards),
	KUNIT_CASE(handler_is_not_called_before_the_queue_was_empty),
	KUNIT_CASE(handler_is_called_again_after_an_empty_read),
	KUNIT_CASE(handler_never_runs_twice_at_once),
	KUNIT_CASE(handlers_of_two_queues_run_at_once),
	KUNIT_CASE(handler_does_not_close_its_queue),
	KUNIT_CASE(handler_sees_every_event),
	KUNIT_CASE(close_waits_for_the_handler),
	KUNIT_CASE(reader_does_not_look_at_a_withdrawn_event),
	{}
};

struct kunit_suite kofi_eq_wait_suite = {
	.name = "kofi_eq_wait",
	.init = core_init,
	.exit = core_exit,
	.test_cases = eq_wait_cases,
};
