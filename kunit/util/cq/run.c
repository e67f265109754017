// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Callbacks of operations: in which context, in which order, never two at a time.
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <kofi/stat.h>
#include "cq.h"

static void callback_runs_in_softirq(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_SOFTIRQ);

	ut_cq_complete(uc, 0);

	ut_cq_await(test, uc, 1);
	KUNIT_EXPECT_TRUE(test, uc->softirq);
}

static void callback_runs_in_a_worker(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_WORKQUEUE);

	ut_cq_complete(uc, 0);

	ut_cq_await(test, uc, 1);
	KUNIT_EXPECT_FALSE(test, uc->softirq);
	KUNIT_EXPECT_PTR_NE(test, uc->task, current);
}

/* The client may be part of writeback, and posts or connects again where it is called */
static void a_client_in_a_worker_does_not_wait_for_io(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_WORKQUEUE);
	struct ut_cq *handled = ut_cq_open_handled(test, FI_COMP_WORKQUEUE);

	ut_cq_complete(uc, 0);
	ut_cq_await(test, uc, 1);
	KUNIT_EXPECT_TRUE(test, uc->noio);
	uc->noio = false;
	kofi_cq_call(&uc->cq, &uc->call);
	ut_cq_await(test, uc, 1);
	KUNIT_EXPECT_TRUE(test, uc->noio);
	uc->noio = false;
	/* By the worker that polls a device */
	uc = ut_cq_open_polled(test, FI_WAIT_DONE, FI_COMP_WORKQUEUE);
	ut_cq_device(uc, 0, 1);
	ut_cq_await(test, uc, 1);
	KUNIT_EXPECT_TRUE(test, uc->noio);
	ut_cq_complete(handled, 0);
	ut_cq_await(test, handled, 1);
	KUNIT_EXPECT_TRUE(test, handled->noio);
	/* What the worker does next, for others, may wait */
	uc->cq.work.func(&uc->cq.work);
	uc->cq.poll_work.func(&uc->cq.poll_work);
	KUNIT_EXPECT_FALSE(test, current->flags & PF_MEMALLOC_NOIO);
	/* And is no worker of the queue any more */
	KUNIT_EXPECT_NULL(test, uc->cq.worker);
}

static void direct_callback_runs_in_a_read(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_DIRECT);

	ut_cq_complete(uc, 0);
	ut_cq_complete(uc, 1);
	ut_cq_complete(uc, 2);

	KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 0);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 2), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 2);
	KUNIT_EXPECT_PTR_EQ(test, uc->task, current);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 8), 1);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 8), -EAGAIN);
}

static void direct_read_polls_the_device(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_DONE, FI_COMP_DIRECT);

	ut_cq_device(uc, 5, 1);

	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 8), 1);
	KUNIT_EXPECT_EQ(test, uc->order[0], 5);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->overlaps), 0);
	KUNIT_EXPECT_EQ(test, uc->polls, 1);
	/* Nobody waits for its interrupts */
	KUNIT_EXPECT_EQ(test, uc->arms, 0);
	/* A batch with a failure goes into the list first */
	uc->ops[7].comp.comp.err = EIO;
	ut_cq_device(uc, 6, 2);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 8), 2);
}

static void second_direct_reader_does_not_wait(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_DIRECT);
	struct vt_async *reader;

	uc->hold = true;
	ut_cq_complete(uc, 0);
	ut_cq_complete(uc, 1);
	reader = vt_async_start(test, ut_cq_read, uc);
	wait_for_completion(&uc->entered);

	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 8), -EAGAIN);

	complete(&uc->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, reader), 2);
}

static void end_of_a_direct_queue_is_said_behind_the_last_callback(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_DIRECT);

	ut_cq_complete(uc, 0);
	kofi_cq_end(&uc->cq, -ENODEV);

	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 8), 1);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 8), -ENODEV);
}

static void other_done_queues_have_nothing_to_read(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_SOFTIRQ);
	struct fi_cq_err_entry error = {};

	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(&uc->cq.cq, &error, 0), -EAGAIN);
}

static void callbacks_come_in_order(struct kunit *test)
{
	struct ut_cq *uc;
	int i, k;

	for (k = 0; k < UT_CQ_CONTEXTS; k++) {
		uc = ut_cq_open_done(test, ut_cq_contexts[k]);
		for (i = 0; i < UT_CQ_OPS; i++)
			ut_cq_complete(uc, i);
		ut_cq_await(test, uc, UT_CQ_OPS);
		for (i = 0; i < UT_CQ_OPS; i++) {
			KUNIT_EXPECT_EQ(test, uc->order[i], i);
			KUNIT_EXPECT_EQ(test, uc->ops[i].released, 1);
		}
	}
}

static void callback_gets_all_of_the_completion(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_WORKQUEUE);
	struct ut_cq_op *op;

	for (op = uc->ops; op < uc->ops + 2; op++) {
		op->comp.comp.flags = FI_TAGGED | FI_RECV;
		op->comp.comp.len = 11;
		op->comp.comp.buf = uc;
		op->comp.comp.data = 12;
		op->comp.comp.err = FI_ETRUNC;
		op->comp.comp.prov_errno = 13;
	}
	op = uc->ops;
	op->comp.comp.flags |= KOFI_COMP_MSG;
	op->comp.msg = (struct fi_done_msg) {
		.tag = 14, .src_addr = 15, .olen = 16,
	};
	ut_cq_complete(uc, 0);
	ut_cq_complete(uc, 1);

	ut_cq_await(test, uc, 2);
	for (op = uc->ops; op < uc->ops + 2; op++) {
		KUNIT_EXPECT_EQ(test, op->entry.flags, FI_TAGGED | FI_RECV);
		KUNIT_EXPECT_EQ(test, op->entry.len, 11);
		KUNIT_EXPECT_PTR_EQ(test, op->entry.buf, (void *)uc);
		KUNIT_EXPECT_EQ(test, op->entry.data, 12ULL);
		KUNIT_EXPECT_EQ(test, op->entry.err, (int)FI_ETRUNC);
		KUNIT_EXPECT_EQ(test, op->entry.prov_errno, 13);
	}
	op = uc->ops;
	KUNIT_ASSERT_NOT_NULL(test, op->entry.msg);
	KUNIT_EXPECT_EQ(test, op->msg.tag, 14ULL);
	KUNIT_EXPECT_EQ(test, op->msg.src_addr, 15ULL);
	KUNIT_EXPECT_EQ(test, op->msg.olen, 16);
}

static void completion_is_released_before_its_callback(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_WORKQUEUE);

	ut_cq_complete(uc, 0);

	ut_cq_await(test, uc, 1);
	KUNIT_EXPECT_TRUE(test, uc->ops[0].released_before);
	KUNIT_EXPECT_NULL(test, uc->ops[0].entry.msg);
}

static void error_data_last_until_the_callback_returns(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_DIRECT);
	struct ut_cq_op *op;

	for (op = uc->ops; op < uc->ops + 2; op++) {
		op->comp.comp.flags |= KOFI_COMP_MSG;
		op->comp.comp.err = EIO;
		op->comp.msg.err_data = "why";
		op->comp.msg.err_data_size = 4;
		ut_cq_complete(uc, op - uc->ops);
	}

	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 2), 2);
	for (op = uc->ops; op < uc->ops + 2; op++) {
		KUNIT_EXPECT_FALSE(test, op->released_before);
		KUNIT_EXPECT_TRUE(test, op->released);
		KUNIT_EXPECT_STREQ(test, (const char *)op->msg.err_data, "why");
	}
}

#define DONES	"events/kofi/kofi_done/enable"

/* In the list, in a batch of the device, or behind a plug; and a mark of a flush is none */
static void each_completion_is_traced(struct kunit *test)
{
	struct ut_cq *listed = ut_cq_open_done(test, FI_COMP_DIRECT);
	struct ut_cq *polled = ut_cq_open_polled(test, FI_WAIT_DONE, FI_COMP_DIRECT);
	struct ut_cq *plugged = ut_cq_open_done(test, FI_COMP_SOFTIRQ);

	KUNIT_EXPECT_EQ(test, vt_shell(UT_TRACING "echo >trace && echo 1 >" DONES), 0);
	ut_cq_complete(listed, 0);
	kofi_cq_flush(&listed->cq);
	ut_cq_device(polled, 0, 2);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&polled->cq.cq, NULL, 8), 2);
	KUNIT_EXPECT_TRUE(test, kofi_cq_plug(&plugged->cq));
	ut_cq_complete(plugged, 0);
	kofi_cq_unplug(&plugged->cq);
	KUNIT_EXPECT_EQ(test, vt_shell(UT_TRACING "echo 0 >" DONES), 0);
	KUNIT_EXPECT_EQ(test, vt_shell(UT_TRACING "[ $(grep -c ': kofi_done: ' trace) = 4 ]"), 0);
}

/* What was reported or flushed is not unread */
static void no_error_is_left_unread(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_WORKQUEUE);
	struct kofi_stat stat = {};
	size_t i, found = 0;

	uc->ops[0].comp.comp.err = EIO;
	ut_cq_complete(uc, 0);
	ut_cq_await(test, uc, 1);
	kofi_cq_flush(&uc->cq);
	KUNIT_ASSERT_EQ(test, kofi_cq_control(&uc->cq.cq.fid, KOFI_GETSTAT, &stat), 0);
	for (i = 0; i < stat.count; i++) {
		if (strncmp(stat.values[i].name, "unread", strlen("unread")))
			continue;
		found++;
		KUNIT_EXPECT_EQ(test, stat.values[i].value, 0);
	}
	KUNIT_EXPECT_EQ(test, found, 2);
}

static void absent_callbacks_are_ignored(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_DIRECT);

	uc->ops[0].comp.comp.op_context = NULL;
	uc->ops[1].done.done = NULL;
	ut_cq_complete(uc, 0);
	ut_cq_complete(uc, 1);
	ut_cq_complete(uc, 2);

	KUNIT_EXPECT_EQ(test, fi_cq_read(&uc->cq.cq, NULL, 8), 3);
	KUNIT_EXPECT_TRUE(test, uc->ops[0].released);
	KUNIT_EXPECT_TRUE(test, uc->ops[1].released);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 1);
}

static void callbacks_never_run_at_the_same_time(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_polled(test, FI_WAIT_DONE, FI_COMP_WORKQUEUE);
	int i, n, last[2] = { -1, UT_CQ_OPS / 2 - 1 };
	struct vt_async *other;

	/* Some fail, so both work items of the queue make calls */
	for (i = 10; i < UT_CQ_OPS / 2; i += 10)
		uc->ops[i].comp.comp.err = EIO;
	other = vt_async_start(test, ut_cq_device_half, uc);
	for (i = UT_CQ_OPS / 2; i < UT_CQ_OPS; i++) {
		ut_cq_complete(uc, i);
		cond_resched();
	}

	KUNIT_EXPECT_EQ(test, vt_async_join(test, other), 0);
	ut_cq_await(test, uc, UT_CQ_OPS);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->overlaps), 0);
	/* Each of the two has its order */
	for (i = 0; i < UT_CQ_OPS; i++) {
		n = uc->order[i];
		KUNIT_EXPECT_EQ(test, n, last[n >= UT_CQ_OPS / 2] + 1);
		last[n >= UT_CQ_OPS / 2] = n;
	}
}

static void runs_take_place_on_the_processor_asked_for(struct kunit *test)
{
	struct fi_cq_attr attr = {
		.wait_obj	= FI_WAIT_DONE,
		.flags		= FI_AFFINITY,
	};
	struct ut_cq *uc;
	int cpu, k;

	for (k = 0; k < UT_CQ_CONTEXTS; k++) {
		attr.comp_ctx = ut_cq_contexts[k];
		for_each_online_cpu(cpu) {
			attr.signaling_vector = cpu;
			uc = ut_cq_open(test, &attr);
			ut_cq_complete(uc, 0);
			ut_cq_await(test, uc, 1);
			KUNIT_EXPECT_EQ(test, uc->cpu, cpu);
			KUNIT_EXPECT_EQ(test, uc->softirq, !k);
		}
	}
}

static void the_queue_cannot_be_closed_from_a_callback(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_WORKQUEUE);

	ut_cq_complete(uc, 0);
	ut_cq_await(test, uc, 1);
	KUNIT_EXPECT_EQ(test, uc->may_close, -EDEADLK);
	/* Nor plugged: the run goes on with the callbacks of what the callback completes */
	KUNIT_EXPECT_FALSE(test, uc->plugged);
	KUNIT_EXPECT_EQ(test, kofi_cq_may_close(&uc->cq), 0);
}

static void a_callback_that_sleeps_holds_up_no_other_queue(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_WORKQUEUE);
	struct ut_cq *other = ut_cq_open_done(test, FI_COMP_WORKQUEUE);

	uc->hold = true;
	ut_cq_complete(uc, 0);
	wait_for_completion(&uc->entered);
	ut_cq_complete(other, 0);
	KUNIT_EXPECT_TRUE(test, vt_until(atomic_read(&other->calls) == 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 0);
	complete(&uc->leave);
	ut_cq_await(test, uc, 1);
}

/* Runs the tasklets that are scheduled on this processor */
static void run_tasklets(void)
{
	local_bh_disable();
	local_bh_enable();
}

static void what_a_plugged_queue_gets_is_called_when_it_is_unplugged(struct kunit *test)
{
	struct ut_cq *uc;
	int k;

	for (k = 0; k < UT_CQ_CONTEXTS; k++) {
		uc = ut_cq_open_done(test, ut_cq_contexts[k]);
		KUNIT_ASSERT_TRUE(test, kofi_cq_plug(&uc->cq));
		KUNIT_EXPECT_FALSE(test, kofi_cq_plug(&uc->cq));
		uc->ops[1].comp.comp.err = EIO;
		ut_cq_complete(uc, 0);
		ut_cq_complete(uc, 1);
		run_tasklets();
		KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 0);

		kofi_cq_unplug(&uc->cq);
		ut_cq_await(test, uc, 2);
		KUNIT_EXPECT_EQ(test, uc->softirq, !k);
		KUNIT_EXPECT_FALSE(test, current->flags & PF_MEMALLOC_NOIO);
		/* It may be plugged again, and nothing is put off without need */
		KUNIT_ASSERT_TRUE(test, kofi_cq_plug(&uc->cq));
		ut_cq_complete(uc, 2);
		kofi_cq_unplug(&uc->cq);
		ut_cq_complete(uc, 3);
		ut_cq_await(test, uc, 2);
		KUNIT_EXPECT_EQ(test, uc->cq.completed + uc->cq.completed_direct, 4);
		KUNIT_EXPECT_EQ(test, uc->cq.failed + uc->cq.failed_direct, 1);
	}
}

static void what_goes_past_a_plug_comes_behind_what_is_there(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_SOFTIRQ);
	int i;

	KUNIT_ASSERT_TRUE(test, kofi_cq_plug(&uc->cq));
	ut_cq_complete(uc, 0);
	kofi_cq_complete_now(&uc->cq, &uc->ops[1].comp.comp);
	ut_cq_complete(uc, 2);
	uc->ops[3].comp.comp.next = NULL;
	kofi_cq_complete_chain(&uc->cq, &uc->ops[3].comp.comp);
	kofi_cq_unplug(&uc->cq);
	ut_cq_await(test, uc, 4);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, uc->order[i], i);
	/* And a chain needs no plug to be called */
	uc->ops[4].comp.comp.next = NULL;
	kofi_cq_complete_chain(&uc->cq, &uc->ops[4].comp.comp);
	ut_cq_await(test, uc, 1);
}

static int complete_one(void *uc)
{
	ut_cq_complete(uc, 0);
	return 0;
}

static void a_plug_holds_up_the_caller_alone(struct kunit *test)
{
	struct ut_cq *uc = ut_cq_open_done(test, FI_COMP_SOFTIRQ);

	KUNIT_ASSERT_TRUE(test, kofi_cq_plug(&uc->cq));
	vt_async_join(test, vt_async_start(test, complete_one, uc));
	ut_cq_await(test, uc, 1);
	kofi_cq_unplug(&uc->cq);
	KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 1);
}

/* The run that the plugger has put off is not the one that the completion of another task needs */
static void what_a_plugger_has_put_off_holds_up_no_other_task(struct kunit *test)
{
	struct ut_cq *uc;
	int k;

	for (k = 0; k < UT_CQ_CONTEXTS; k++) {
		uc = ut_cq_open_done(test, ut_cq_contexts[k]);
		KUNIT_ASSERT_TRUE(test, kofi_cq_plug(&uc->cq));
		kofi_cq_complete_now(&uc->cq, &uc->ops[1].comp.comp);
		run_tasklets();
		KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 0);
		vt_async_join(test, vt_async_start(test, complete_one, uc));
		ut_cq_await(test, uc, 2);
		KUNIT_EXPECT_EQ(test, uc->order[0], 1);
		KUNIT_EXPECT_EQ(test, uc->order[1], 0);
		kofi_cq_unplug(&uc->cq);
		KUNIT_EXPECT_EQ(test, atomic_read(&uc->calls), 2);
	}
}

static void successes_with_interrupts_disabled_are_called_in_order(struct kunit *test)
{
	static DEFINE_SPINLOCK(lock);
	struct ut_cq *uc;
	unsigned long flags;
	int i, k, plugged;

	for (k = 0; k < 2 * UT_CQ_CONTEXTS; k++) {
		plugged = k / UT_CQ_CONTEXTS;
		uc = ut_cq_open_done(test, ut_cq_contexts[k % UT_CQ_CONTEXTS]);
		if (plugged)
			KUNIT_ASSERT_TRUE(test, kofi_cq_plug(&uc->cq));
		spin_lock_irqsave(&lock, flags);
		for (i = 0; i < 3; i++)
			kofi_cq_complete_success(&uc->cq, &uc->ops[i].comp.comp);
		spin_unlock_irqrestore(&lock, flags);
		if (plugged)
			kofi_cq_unplug(&uc->cq);
		ut_cq_await(test, uc, 3);
		for (i = 0; i < 3; i++)
			KUNIT_EXPECT_EQ(test, uc->order[i], i);
	}
}

static struct kunit_case cq_run_cases[] = {
	KUNIT_CASE(callback_runs_in_softirq),
	KUNIT_CASE(callback_runs_in_a_worker),
	KUNIT_CASE(a_client_in_a_worker_does_not_wait_for_io),
	KUNIT_CASE(direct_callback_runs_in_a_read),
	KUNIT_CASE(direct_read_polls_the_device),
	KUNIT_CASE(second_direct_reader_does_not_wait),
	KUNIT_CASE(end_of_a_direct_queue_is_said_behind_the_last_callback),
	KUNIT_CASE(other_done_queues_have_nothing_to_read),
	KUNIT_CASE(callbacks_come_in_order),
	KUNIT_CASE(callback_gets_all_of_the_completion),
	KUNIT_CASE(completion_is_released_before_its_callback),
	KUNIT_CASE(error_data_last_until_the_callback_returns),
	KUNIT_CASE(each_completion_is_traced),
	KUNIT_CASE(no_error_is_left_unread),
	KUNIT_CASE(absent_callbacks_are_ignored),
	KUNIT_CASE(callbacks_never_run_at_the_same_time),
	KUNIT_CASE(runs_take_place_on_the_processor_asked_for),
	KUNIT_CASE(the_queue_cannot_be_closed_from_a_callback),
	KUNIT_CASE(a_callback_that_sleeps_holds_up_no_other_queue),
	KUNIT_CASE(what_a_plugged_queue_gets_is_called_when_it_is_unplugged),
	KUNIT_CASE(what_goes_past_a_plug_comes_behind_what_is_there),
	KUNIT_CASE(a_plug_holds_up_the_caller_alone),
	KUNIT_CASE(what_a_plugger_has_put_off_holds_up_no_other_task),
	KUNIT_CASE(successes_with_interrupts_disabled_are_called_in_order),
	{}
};

static struct kunit_suite cq_run_suite = {
	.name = "kofi_util_cq_run",
	.test_cases = cq_run_cases,
};

kunit_test_suite(cq_run_suite);
