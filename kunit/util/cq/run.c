// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Where the completion queue calls its client: callbacks of operations, the handler,
 * and other calls, in each context, never two at a time.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <kofi/cq.h>
#include <kofi/stat.h>
#include "../../lib/async.h"
#include "../util.h"

#define NR_OPS		300
#define PATIENCE	(20 * HZ)

struct run_test;

/**
 * struct op - An operation with a callback
 * @done: what its context points to
 * @comp: its completion
 * @rt: the case
 * @entry: what the callback was given
 * @msg: the same
 * @released: the queue has given the completion back
 * @released_before: it had when the callback was called
 */
struct op {
	struct fi_done		done;
	struct kofi_msg_comp	comp;
	struct run_test		*rt;
	struct fi_done_entry	entry;
	struct fi_done_msg	msg;
	bool			released;
	bool			released_before;
};

/**
 * struct run_test - A case
 * @cq: the queue
 * @ops: operations
 * @order: their numbers in the order of the callbacks
 * @calls: callbacks, or calls of the handler
 * @inside: how many run
 * @overlaps: how often that was more than one
 * @softirq: the last one ran in a softirq
 * @cpu: on this processor
 * @task: in this task
 * @hold: the next one stays until @leave
 * @entered: it is there
 * @leave: it may return
 * @arrived: completed by each call
 * @may_close: what kofi_cq_may_close() said inside
 * @reads: the handler reads the queue
 * @seen: completions that it has read
 * @call: another call
 * @polls: how often ->progress was called
 * @on_poll: operation that ->progress completes, or NULL
 */
struct run_test {
	struct kofi_cq		cq;
	struct op		ops[NR_OPS];
	int			order[2 * NR_OPS];
	atomic_t		calls;
	atomic_t		inside;
	atomic_t		overlaps;
	bool			softirq;
	int			cpu;
	struct task_struct	*task;
	bool			hold;
	struct completion	entered;
	struct completion	leave;
	struct completion	arrived;
	int			may_close;
	bool			reads;
	atomic_t		seen;
	struct kofi_cq_call	call;
	int			polls;
	struct op		*on_poll;
};

static void release(struct kofi_comp *chain)
{
	struct op *op;

	for (; chain; chain = chain->next) {
		op = container_of(chain, struct op, comp.comp);
		op->released = true;
	}
}

static void progress(struct kofi_cq *cq)
{
	struct run_test *rt = container_of(cq, struct run_test, cq);
	struct op *op = rt->on_poll;

	rt->polls++;
	rt->on_poll = NULL;
	if (op)
		kofi_cq_complete_here(cq, &op->comp.comp);
}

static const struct kofi_cq_ops test_ops = {
	.release	= release,
	.progress	= progress,
};

static void enter(struct run_test *rt)
{
	if (atomic_inc_return(&rt->inside) > 1)
		atomic_inc(&rt->overlaps);
	rt->softirq = in_serving_softirq();
	rt->cpu = raw_smp_processor_id();
	rt->task = current;
	rt->may_close = kofi_cq_may_close(&rt->cq);
	if (xchg(&rt->hold, false)) {
		complete(&rt->entered);
		wait_for_completion(&rt->leave);
	}
}

static void leave(struct run_test *rt)
{
	atomic_dec(&rt->inside);
	complete(&rt->arrived);
}

static void op_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct op *op = container_of(done, struct op, done);
	struct run_test *rt = op->rt;

	enter(rt);
	op->entry = *entry;
	if (entry->msg)
		op->msg = *entry->msg;
	op->released_before = op->released;
	rt->order[atomic_inc_return(&rt->calls) - 1] = op - rt->ops;
	leave(rt);
}

static void handler(struct fid_cq *cq, void *context)
{
	struct fi_cq_entry entries[8];
	struct run_test *rt = context;
	ssize_t ret;

	enter(rt);
	atomic_inc(&rt->calls);
	while (rt->reads && (ret = fi_cq_read(cq, entries, 8)) > 0)
		atomic_add(ret, &rt->seen);
	leave(rt);
}

static void other_call(struct kofi_cq_call *call)
{
	struct run_test *rt = container_of(call, struct run_test, call);

	enter(rt);
	atomic_inc(&rt->calls);
	leave(rt);
}

KUNIT_DEFINE_ACTION_WRAPPER(fini_cq, kofi_cq_fini, struct kofi_cq *);

static struct run_test *open_cq(struct kunit *test, const struct fi_cq_attr *attr)
{
	struct run_test *rt = kunit_kzalloc(test, sizeof(*rt), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, rt);
	for (i = 0; i < NR_OPS; i++) {
		rt->ops[i].done.done = op_done;
		rt->ops[i].rt = rt;
		rt->ops[i].comp.comp.op_context = &rt->ops[i].done;
		rt->ops[i].comp.comp.flags = FI_MSG | FI_SEND;
	}
	init_completion(&rt->entered);
	init_completion(&rt->leave);
	init_completion(&rt->arrived);
	INIT_LIST_HEAD(&rt->call.entry);
	rt->call.fn = other_call;
	KUNIT_ASSERT_EQ(test, kofi_cq_init(&rt->cq, attr, NR_OPS, &test_ops, rt),
			0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fini_cq, &rt->cq),
			0);
	return rt;
}

static struct run_test *open_done(struct kunit *test, enum fi_comp_ctx ctx)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_DONE, .comp_ctx = ctx };

	return open_cq(test, &attr);
}

static struct run_test *open_handled(struct kunit *test, enum fi_comp_ctx ctx)
{
	struct fi_cq_attr attr = {
		.wait_obj	= FI_WAIT_CALLBACK,
		.comp_ctx	= ctx,
		.handler	= handler,
	};

	return open_cq(test, &attr);
}

static void complete_one(struct run_test *rt, int i)
{
	kofi_cq_complete(&rt->cq, &rt->ops[i].comp.comp);
}

/* Waits until @n calls have returned */
static void arrived(struct kunit *test, struct run_test *rt, int n)
{
	while (n--)
		KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&rt->arrived,
								  PATIENCE), 0);
}

static void callback_runs_in_softirq(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_SOFTIRQ);

	complete_one(rt, 0);

	arrived(test, rt, 1);
	KUNIT_EXPECT_TRUE(test, rt->softirq);
}

static void callback_runs_in_a_worker(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_WORKQUEUE);

	complete_one(rt, 0);

	arrived(test, rt, 1);
	KUNIT_EXPECT_FALSE(test, rt->softirq);
	KUNIT_EXPECT_PTR_NE(test, rt->task, current);
}

static void direct_callback_runs_in_a_read(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_DIRECT);

	complete_one(rt, 0);
	complete_one(rt, 1);
	complete_one(rt, 2);

	KUNIT_EXPECT_EQ(test, atomic_read(&rt->calls), 0);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, NULL, 2), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->calls), 2);
	KUNIT_EXPECT_PTR_EQ(test, rt->task, current);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, NULL, 8), 1);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, NULL, 8), -EAGAIN);
}

static void direct_read_makes_progress(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_DIRECT);

	rt->on_poll = &rt->ops[5];

	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, NULL, 8), 1);
	KUNIT_EXPECT_EQ(test, rt->order[0], 5);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->overlaps), 0);
	KUNIT_EXPECT_EQ(test, rt->polls, 1);
}

static int read_directly(void *data)
{
	struct run_test *rt = data;

	return fi_cq_read(&rt->cq.cq, NULL, 8);
}

static void second_direct_reader_does_not_wait(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_DIRECT);
	struct vt_async *reader;

	rt->hold = true;
	complete_one(rt, 0);
	complete_one(rt, 1);
	reader = vt_async_start(test, read_directly, rt);
	wait_for_completion(&rt->entered);

	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, NULL, 8), -EAGAIN);

	complete(&rt->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, reader), 2);
}

static void end_of_a_direct_queue_is_said_behind_the_last_callback(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_DIRECT);

	complete_one(rt, 0);
	kofi_cq_end(&rt->cq, -ENODEV);

	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, NULL, 8), 1);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, NULL, 8), -ENODEV);
}

static void other_done_queues_have_nothing_to_read(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_SOFTIRQ);
	struct fi_cq_err_entry error = {};

	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, NULL, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(&rt->cq.cq, &error, 0), -EAGAIN);
}

/* Each context that calls by itself */
static const enum fi_comp_ctx contexts[] = {
	FI_COMP_SOFTIRQ, FI_COMP_WORKQUEUE
};

static void callbacks_come_in_order(struct kunit *test)
{
	struct run_test *rt;
	int i, k;

	for (k = 0; k < ARRAY_SIZE(contexts); k++) {
		rt = open_done(test, contexts[k]);
		for (i = 0; i < NR_OPS; i++)
			complete_one(rt, i);
		arrived(test, rt, NR_OPS);
		for (i = 0; i < NR_OPS; i++)
			KUNIT_EXPECT_EQ(test, rt->order[i], i);
	}
}

static void callback_gets_all_of_the_completion(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_WORKQUEUE);
	struct op *op = &rt->ops[0];

	op->comp.comp.flags = FI_TAGGED | FI_RECV | KOFI_COMP_MSG;
	op->comp.comp.len = 11;
	op->comp.comp.buf = rt;
	op->comp.comp.data = 12;
	op->comp.comp.err = FI_ETRUNC;
	op->comp.comp.prov_errno = 13;
	op->comp.msg = (struct fi_done_msg) {
		.tag = 14, .src_addr = 15, .olen = 16,
	};
	complete_one(rt, 0);

	arrived(test, rt, 1);
	KUNIT_EXPECT_EQ(test, op->entry.flags, FI_TAGGED | FI_RECV);
	KUNIT_EXPECT_EQ(test, op->entry.len, 11);
	KUNIT_EXPECT_PTR_EQ(test, op->entry.buf, (void *)rt);
	KUNIT_EXPECT_EQ(test, op->entry.data, 12ULL);
	KUNIT_EXPECT_EQ(test, op->entry.err, (int)FI_ETRUNC);
	KUNIT_EXPECT_EQ(test, op->entry.prov_errno, 13);
	KUNIT_ASSERT_NOT_NULL(test, op->entry.msg);
	KUNIT_EXPECT_EQ(test, op->msg.tag, 14ULL);
	KUNIT_EXPECT_EQ(test, op->msg.src_addr, 15ULL);
	KUNIT_EXPECT_EQ(test, op->msg.olen, 16);
}

static void completion_is_released_before_its_callback(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_WORKQUEUE);

	complete_one(rt, 0);

	arrived(test, rt, 1);
	KUNIT_EXPECT_TRUE(test, rt->ops[0].released_before);
	KUNIT_EXPECT_NULL(test, rt->ops[0].entry.msg);
}

static void error_data_last_until_the_callback_returns(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_DIRECT);
	struct op *op = &rt->ops[0];

	op->comp.comp.flags |= KOFI_COMP_MSG;
	op->comp.comp.err = EIO;
	op->comp.msg.err_data = "why";
	op->comp.msg.err_data_size = 4;
	complete_one(rt, 0);

	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, NULL, 1), 1);
	KUNIT_EXPECT_FALSE(test, op->released_before);
	KUNIT_EXPECT_TRUE(test, op->released);
	KUNIT_EXPECT_STREQ(test, (const char *)op->msg.err_data, "why");
}

/* What was reported or flushed is not unread */
static void no_error_is_left_unread(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_WORKQUEUE);
	struct kofi_stat stat = {};
	size_t i, found = 0;

	rt->ops[0].comp.comp.err = EIO;
	complete_one(rt, 0);
	arrived(test, rt, 1);
	kofi_cq_flush(&rt->cq);
	KUNIT_ASSERT_EQ(test, kofi_cq_control(&rt->cq.cq.fid, KOFI_GETSTAT, &stat), 0);
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
	struct run_test *rt = open_done(test, FI_COMP_DIRECT);

	rt->ops[0].comp.comp.op_context = NULL;
	rt->ops[1].done.done = NULL;
	complete_one(rt, 0);
	complete_one(rt, 1);
	complete_one(rt, 2);

	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, NULL, 8), 3);
	KUNIT_EXPECT_TRUE(test, rt->ops[0].released);
	KUNIT_EXPECT_TRUE(test, rt->ops[1].released);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->calls), 1);
}

static void absent_callbacks_are_ignored_here(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_WORKQUEUE);

	rt->ops[0].comp.comp.op_context = NULL;
	rt->ops[1].done.done = NULL;
	kofi_cq_complete_here(&rt->cq, &rt->ops[0].comp.comp);
	kofi_cq_complete_here(&rt->cq, &rt->ops[1].comp.comp);

	KUNIT_EXPECT_TRUE(test, rt->ops[0].released);
	KUNIT_EXPECT_TRUE(test, rt->ops[1].released);
}

static void completing_here_calls_from_inside(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_WORKQUEUE);

	kofi_cq_complete_here(&rt->cq, &rt->ops[0].comp.comp);

	KUNIT_EXPECT_EQ(test, atomic_read(&rt->calls), 1);
	KUNIT_EXPECT_PTR_EQ(test, rt->task, current);
	KUNIT_EXPECT_TRUE(test, rt->ops[0].released_before);
}

static void completing_here_does_not_overtake(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_WORKQUEUE);

	rt->hold = true;
	complete_one(rt, 0);
	complete_one(rt, 1);
	wait_for_completion(&rt->entered);

	kofi_cq_complete_here(&rt->cq, &rt->ops[2].comp.comp);

	KUNIT_EXPECT_EQ(test, atomic_read(&rt->calls), 0);
	complete(&rt->leave);
	arrived(test, rt, 3);
	KUNIT_EXPECT_EQ(test, rt->order[1], 1);
	KUNIT_EXPECT_EQ(test, rt->order[2], 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->overlaps), 0);
}

static int complete_here(void *data)
{
	struct run_test *rt = data;

	kofi_cq_complete_here(&rt->cq, &rt->ops[0].comp.comp);
	return 0;
}

static void a_run_waits_for_the_end_of_a_callback_here(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_WORKQUEUE);
	struct vt_async *other;

	rt->hold = true;
	other = vt_async_start(test, complete_here, rt);
	wait_for_completion(&rt->entered);

	complete_one(rt, 1);
	/* The worker has been there, and has gone away again */
	flush_work(&rt->cq.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->calls), 0);

	complete(&rt->leave);
	arrived(test, rt, 2);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, other), 0);
	KUNIT_EXPECT_EQ(test, rt->order[0], 0);
	KUNIT_EXPECT_EQ(test, rt->order[1], 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->overlaps), 0);
}

static int complete_first_half(void *data)
{
	struct run_test *rt = data;
	int i;

	for (i = 0; i < NR_OPS / 2; i++) {
		kofi_cq_complete_here(&rt->cq, &rt->ops[i].comp.comp);
		cond_resched();
	}
	return 0;
}

static void callbacks_never_run_at_the_same_time(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_WORKQUEUE);
	int i, n, last[2] = { -1, NR_OPS / 2 - 1 };
	struct vt_async *other;

	other = vt_async_start(test, complete_first_half, rt);
	for (i = NR_OPS / 2; i < NR_OPS; i++) {
		complete_one(rt, i);
		cond_resched();
	}

	KUNIT_EXPECT_EQ(test, vt_async_join(test, other), 0);
	arrived(test, rt, NR_OPS);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->overlaps), 0);
	/* Each of the two has its order */
	for (i = 0; i < NR_OPS; i++) {
		n = rt->order[i];
		KUNIT_EXPECT_EQ(test, n, last[n >= NR_OPS / 2] + 1);
		last[n >= NR_OPS / 2] = n;
	}
}

static void runs_take_place_on_the_processor_asked_for(struct kunit *test)
{
	struct fi_cq_attr attr = {
		.wait_obj	= FI_WAIT_DONE,
		.flags		= FI_AFFINITY,
	};
	struct run_test *rt;
	int cpu, k;

	for (k = 0; k < ARRAY_SIZE(contexts); k++) {
		attr.comp_ctx = contexts[k];
		for_each_online_cpu(cpu) {
			attr.signaling_vector = cpu;
			rt = open_cq(test, &attr);
			complete_one(rt, 0);
			arrived(test, rt, 1);
			KUNIT_EXPECT_EQ(test, rt->cpu, cpu);
			KUNIT_EXPECT_EQ(test, rt->softirq, !k);
		}
	}
}

static bool is_any(struct kofi_comp *comp, void *owner)
{
	return true;
}

static int purge_all(void *data)
{
	struct run_test *rt = data;

	kofi_cq_purge(&rt->cq, is_any, NULL);
	return atomic_read(&rt->calls);
}

static void purge_waits_for_callbacks(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_WORKQUEUE);
	struct vt_async *purger;

	rt->hold = true;
	complete_one(rt, 0);
	complete_one(rt, 1);
	wait_for_completion(&rt->entered);
	purger = vt_async_start(test, purge_all, rt);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(purger));
	complete(&rt->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, purger), 2);
}

static void purge_waits_for_a_callback_here(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_WORKQUEUE);
	struct vt_async *other, *purger;

	rt->hold = true;
	other = vt_async_start(test, complete_here, rt);
	wait_for_completion(&rt->entered);
	purger = vt_async_start(test, purge_all, rt);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(purger));
	complete(&rt->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, purger), 1);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, other), 0);
}

static void purge_of_a_direct_queue_makes_the_calls(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_DIRECT);

	complete_one(rt, 0);
	complete_one(rt, 1);

	KUNIT_EXPECT_EQ(test, purge_all(rt), 2);
	KUNIT_EXPECT_PTR_EQ(test, rt->task, current);
}

static void purge_of_a_direct_queue_waits_for_its_reader(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_DIRECT);
	struct vt_async *reader, *purger;

	rt->hold = true;
	complete_one(rt, 0);
	complete_one(rt, 1);
	reader = vt_async_start(test, read_directly, rt);
	wait_for_completion(&rt->entered);
	purger = vt_async_start(test, purge_all, rt);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(purger));
	complete(&rt->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, purger), 2);
	vt_async_join(test, reader);
}

static int flush_all(void *data)
{
	struct run_test *rt = data;

	kofi_cq_flush(&rt->cq);
	return 0;
}

static void the_end_of_a_flush_wakes_the_next_one(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_DIRECT);
	struct vt_async *first, *second;

	rt->hold = true;
	complete_one(rt, 0);
	first = vt_async_start(test, flush_all, rt);
	wait_for_completion(&rt->entered);
	second = vt_async_start(test, flush_all, rt);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(second));
	complete(&rt->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, first), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, second), 0);
}

static void a_call_is_made_in_the_context_of_the_queue(struct kunit *test)
{
	struct run_test *rt;
	int k;

	for (k = 0; k < ARRAY_SIZE(contexts); k++) {
		rt = open_done(test, contexts[k]);
		kofi_cq_call(&rt->cq, &rt->call);
		arrived(test, rt, 1);
		KUNIT_EXPECT_EQ(test, rt->softirq, !k);
		rt = open_handled(test, contexts[k]);
		kofi_cq_call(&rt->cq, &rt->call);
		arrived(test, rt, 1);
		KUNIT_EXPECT_EQ(test, rt->softirq, !k);
	}
}

static void a_call_of_a_polled_queue_is_made_by_its_reader(struct kunit *test)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_NONE };
	struct run_test *rt = open_cq(test, &attr);
	struct fi_cq_entry entry;

	kofi_cq_call(&rt->cq, &rt->call);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->calls), 0);

	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, &entry, 1), -EAGAIN);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->calls), 1);
	KUNIT_EXPECT_PTR_EQ(test, rt->task, current);
	KUNIT_EXPECT_EQ(test, rt->polls, 1);
}

static void a_call_that_is_due_is_made_once(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_DIRECT);

	kofi_cq_call(&rt->cq, &rt->call);
	kofi_cq_call(&rt->cq, &rt->call);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, NULL, 8), 1);

	kofi_cq_call(&rt->cq, &rt->call);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, NULL, 8), 1);
}

static void a_call_that_is_cancelled_is_not_made(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_DIRECT);

	kofi_cq_call(&rt->cq, &rt->call);
	kofi_cq_cancel_call(&rt->cq, &rt->call);

	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, NULL, 8), -EAGAIN);
	kofi_cq_cancel_call(&rt->cq, &rt->call);
}

static int cancel_call(void *data)
{
	struct run_test *rt = data;

	kofi_cq_cancel_call(&rt->cq, &rt->call);
	return atomic_read(&rt->calls);
}

static void cancelling_waits_for_a_call_that_runs(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_WORKQUEUE);
	struct vt_async *other;

	rt->hold = true;
	kofi_cq_call(&rt->cq, &rt->call);
	wait_for_completion(&rt->entered);
	other = vt_async_start(test, cancel_call, rt);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(other));
	complete(&rt->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, other), 1);
}

static void the_queue_cannot_be_closed_from_a_callback(struct kunit *test)
{
	struct run_test *rt = open_done(test, FI_COMP_WORKQUEUE);

	complete_one(rt, 0);
	arrived(test, rt, 1);
	KUNIT_EXPECT_EQ(test, rt->may_close, -EDEADLK);
	kofi_cq_complete_here(&rt->cq, &rt->ops[1].comp.comp);
	arrived(test, rt, 1);
	KUNIT_EXPECT_EQ(test, rt->may_close, -EDEADLK);
	KUNIT_EXPECT_EQ(test, kofi_cq_may_close(&rt->cq), 0);
}

static void the_queue_cannot_be_closed_from_its_handler(struct kunit *test)
{
	struct run_test *rt = open_handled(test, FI_COMP_WORKQUEUE);

	complete_one(rt, 0);
	arrived(test, rt, 1);
	KUNIT_EXPECT_EQ(test, rt->may_close, -EDEADLK);
	KUNIT_EXPECT_EQ(test, kofi_cq_may_close(&rt->cq), 0);
}

static int fini(void *data)
{
	struct run_test *rt = data;

	kofi_cq_fini(&rt->cq);
	return atomic_read(&rt->inside);
}

static void the_end_waits_for_the_handler(struct kunit *test)
{
	struct run_test *rt = open_handled(test, FI_COMP_WORKQUEUE);
	struct vt_async *closer;

	rt->hold = true;
	complete_one(rt, 0);
	wait_for_completion(&rt->entered);
	closer = vt_async_start(test, fini, rt);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(closer));
	complete(&rt->leave);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, closer), 0);
}

static void handler_runs_where_it_is_asked_to(struct kunit *test)
{
	struct run_test *rt;
	int k;

	for (k = 0; k < ARRAY_SIZE(contexts); k++) {
		rt = open_handled(test, contexts[k]);
		complete_one(rt, 0);
		arrived(test, rt, 1);
		KUNIT_EXPECT_EQ(test, rt->softirq, !k);
	}
}

static void handler_is_not_called_before_the_queue_was_empty(struct kunit *test)
{
	struct run_test *rt = open_handled(test, FI_COMP_WORKQUEUE);
	struct fi_cq_entry entry;

	complete_one(rt, 0);
	complete_one(rt, 1);
	arrived(test, rt, 1);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&rt->cq.cq, &entry, 1), 1);
	complete_one(rt, 2);
	flush_work(&rt->cq.work);

	KUNIT_EXPECT_EQ(test, atomic_read(&rt->calls), 1);
}

static void handler_is_called_again_after_an_empty_read(struct kunit *test)
{
	struct run_test *rt = open_handled(test, FI_COMP_WORKQUEUE);

	rt->reads = true;
	complete_one(rt, 0);
	arrived(test, rt, 1);
	complete_one(rt, 1);
	arrived(test, rt, 1);

	KUNIT_EXPECT_EQ(test, atomic_read(&rt->calls), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->seen), 2);
}

static void handler_sees_every_completion(struct kunit *test)
{
	struct run_test *rt = open_handled(test, FI_COMP_WORKQUEUE);
	struct vt_async *other;
	int i;

	rt->reads = true;
	other = vt_async_start(test, complete_first_half, rt);
	for (i = NR_OPS / 2; i < NR_OPS; i++) {
		complete_one(rt, i);
		cond_resched();
	}
	KUNIT_EXPECT_EQ(test, vt_async_join(test, other), 0);
	flush_work(&rt->cq.work);

	KUNIT_EXPECT_EQ(test, atomic_read(&rt->seen), NR_OPS);
	KUNIT_EXPECT_EQ(test, atomic_read(&rt->overlaps), 0);
}

static void the_end_calls_the_handler(struct kunit *test)
{
	struct run_test *rt = open_handled(test, FI_COMP_WORKQUEUE);

	kofi_cq_end(&rt->cq, -ENODEV);

	arrived(test, rt, 1);
}

static void the_end_calls_the_handler_in_softirq(struct kunit *test)
{
	struct run_test *rt = open_handled(test, FI_COMP_SOFTIRQ);

	kofi_cq_end(&rt->cq, -ENODEV);

	arrived(test, rt, 1);
	KUNIT_EXPECT_TRUE(test, rt->softirq);
}

static struct kunit_case cq_run_cases[] = {
	KUNIT_CASE(callback_runs_in_softirq),
	KUNIT_CASE(callback_runs_in_a_worker),
	KUNIT_CASE(direct_callback_runs_in_a_read),
	KUNIT_CASE(direct_read_makes_progress),
	KUNIT_CASE(second_direct_reader_does_not_wait),
	KUNIT_CASE(end_of_a_direct_queue_is_said_behind_the_last_callback),
	KUNIT_CASE(other_done_queues_have_nothing_to_read),
	KUNIT_CASE(callbacks_come_in_order),
	KUNIT_CASE(callback_gets_all_of_the_completion),
	KUNIT_CASE(completion_is_released_before_its_callback),
	KUNIT_CASE(error_data_last_until_the_callback_returns),
	KUNIT_CASE(no_error_is_left_unread),
	KUNIT_CASE(absent_callbacks_are_ignored),
	KUNIT_CASE(absent_callbacks_are_ignored_here),
	KUNIT_CASE(completing_here_calls_from_inside),
	KUNIT_CASE(completing_here_does_not_overtake),
	KUNIT_CASE(a_run_waits_for_the_end_of_a_callback_here),
	KUNIT_CASE(callbacks_never_run_at_the_same_time),
	KUNIT_CASE(runs_take_place_on_the_processor_asked_for),
	KUNIT_CASE(purge_waits_for_callbacks),
	KUNIT_CASE(purge_waits_for_a_callback_here),
	KUNIT_CASE(purge_of_a_direct_queue_makes_the_calls),
	KUNIT_CASE(purge_of_a_direct_queue_waits_for_its_reader),
	KUNIT_CASE(the_end_of_a_flush_wakes_the_next_one),
	KUNIT_CASE(a_call_is_made_in_the_context_of_the_queue),
	KUNIT_CASE(a_call_of_a_polled_queue_is_made_by_its_reader),
	KUNIT_CASE(a_call_that_is_due_is_made_once),
	KUNIT_CASE(a_call_that_is_cancelled_is_not_made),
	KUNIT_CASE(cancelling_waits_for_a_call_that_runs),
	KUNIT_CASE(the_queue_cannot_be_closed_from_a_callback),
	KUNIT_CASE(the_queue_cannot_be_closed_from_its_handler),
	KUNIT_CASE(the_end_waits_for_the_handler),
	KUNIT_CASE(handler_runs_where_it_is_asked_to),
	KUNIT_CASE(handler_is_not_called_before_the_queue_was_empty),
	KUNIT_CASE(handler_is_called_again_after_an_empty_read),
	KUNIT_CASE(handler_sees_every_completion),
	KUNIT_CASE(the_end_calls_the_handler),
	KUNIT_CASE(the_end_calls_the_handler_in_softirq),
	{}
};

static struct kunit_suite cq_run_suite = {
	.name = "kofi_util_cq_run",
	.test_cases = cq_run_cases,
};

kunit_test_suite(cq_run_suite);
