// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Calls behind a run of callbacks (kofi_cq_call_last()).
 */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <kofi/cq.h>
#include "../util.h"

#define NR_OPS		10
#define PATIENCE	(20 * HZ)

struct last_test;

struct last_op {
	struct fi_done		done;
	struct kofi_comp	comp;
	struct last_test	*lt;
};

/**
 * struct last_test - A case
 * @cq: the queue
 * @ops: operations
 * @call: what their callbacks put aside, unless it is due
 * @due: it is
 * @refused: how often it could not be put aside
 * @callbacks: how many there have been
 * @calls: how often @call was made
 * @behind: as many callbacks had returned when it was made last
 * @plugged: the call has plugged the queue
 * @kept: the call has not lost the token of the queue
 * @end: completed by each call, and by each callback that was refused
 */
struct last_test {
	struct kofi_cq		cq;
	struct last_op		ops[NR_OPS];
	struct kofi_cq_call	call;
	bool			due;
	int			refused;
	int			callbacks;
	int			calls;
	int			behind;
	bool			plugged;
	bool			kept;
	struct completion	end;
};

static void release(struct kofi_comp *chain)
{
}

static const struct kofi_cq_ops last_ops = {
	.release	= release,
};

static void last_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct last_test *lt = container_of(done, struct last_op, done)->lt;

	if (!lt->due)
		lt->due = kofi_cq_call_last(&lt->cq, &lt->call);
	lt->callbacks++;
	if (lt->due)
		return;
	lt->refused++;
	complete(&lt->end);
}

static void last_call(struct kofi_cq_call *call)
{
	struct last_test *lt = container_of(call, struct last_test, call);

	lt->due = false;
	lt->calls++;
	lt->behind = lt->callbacks;
	complete(&lt->end);
}

/* As a worker does that moves data itself; the operation's callback puts nothing aside */
static void complete_call(struct kofi_cq_call *call)
{
	struct last_test *lt = container_of(call, struct last_test, call);

	lt->plugged = kofi_cq_plug(&lt->cq);
	kofi_cq_complete(&lt->cq, &lt->ops[1].comp);
	if (lt->plugged) {
		kofi_cq_claim(&lt->cq);
		kofi_cq_unplug(&lt->cq);
	}
	lt->kept = READ_ONCE(lt->cq.runner) == current;
	complete(&lt->end);
}

KUNIT_DEFINE_ACTION_WRAPPER(fini_cq, kofi_cq_fini, struct kofi_cq *);

static struct last_test *last_open(struct kunit *test, enum fi_comp_ctx ctx)
{
	struct last_test *lt = kunit_kzalloc(test, sizeof(*lt), GFP_KERNEL);
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_DONE, .comp_ctx = ctx };
	int i;

	KUNIT_ASSERT_NOT_NULL(test, lt);
	for (i = 0; i < NR_OPS; i++) {
		lt->ops[i].done.done = last_done;
		lt->ops[i].lt = lt;
		lt->ops[i].comp.op_context = &lt->ops[i].done;
		lt->ops[i].comp.flags = FI_MSG | FI_SEND;
		lt->ops[i].comp.next = i + 1 < NR_OPS ? &lt->ops[i + 1].comp : NULL;
	}
	init_completion(&lt->end);
	INIT_LIST_HEAD(&lt->call.entry);
	lt->call.fn = last_call;
	KUNIT_ASSERT_EQ(test, kofi_cq_init(&lt->cq, &attr, NR_OPS, &last_ops, lt), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fini_cq, &lt->cq), 0);
	return lt;
}

static void last_wait(struct kunit *test, struct last_test *lt)
{
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&lt->end, PATIENCE), 0);
}

static void it_is_made_once_behind_all_callbacks(struct kunit *test)
{
	static const enum fi_comp_ctx contexts[] = { FI_COMP_SOFTIRQ, FI_COMP_WORKQUEUE };
	struct last_test *lt;
	int k;

	for (k = 0; k < ARRAY_SIZE(contexts); k++) {
		lt = last_open(test, contexts[k]);
		kofi_cq_complete_chain(&lt->cq, &lt->ops[0].comp);
		last_wait(test, lt);
		KUNIT_EXPECT_EQ(test, lt->calls, 1);
		KUNIT_EXPECT_EQ(test, lt->behind, NR_OPS);
		KUNIT_EXPECT_EQ(test, lt->refused, 0);
	}
}

/* Also when the reader takes some of them only */
static void a_reader_makes_it_behind_those_that_it_takes(struct kunit *test)
{
	struct last_test *lt = last_open(test, FI_COMP_DIRECT);
	struct fi_cq_entry entries[NR_OPS];

	kofi_cq_complete_chain(&lt->cq, &lt->ops[0].comp);
	fi_cq_read(&lt->cq.cq, entries, 4);
	KUNIT_EXPECT_EQ(test, lt->calls, 1);
	KUNIT_EXPECT_EQ(test, lt->behind, 4);
	fi_cq_read(&lt->cq.cq, entries, NR_OPS);
	KUNIT_EXPECT_EQ(test, lt->calls, 2);
	KUNIT_EXPECT_EQ(test, lt->behind, NR_OPS);
}

/* Otherwise a callback might be made beside those that follow */
static void what_it_completes_is_reported_by_its_run(struct kunit *test)
{
	static const enum fi_comp_ctx contexts[] = { FI_COMP_SOFTIRQ, FI_COMP_WORKQUEUE };
	struct last_test *lt;
	int k;

	for (k = 0; k < ARRAY_SIZE(contexts); k++) {
		lt = last_open(test, contexts[k]);
		lt->call.fn = complete_call;
		kofi_cq_complete(&lt->cq, &lt->ops[0].comp);
		last_wait(test, lt);
		kofi_cq_flush(&lt->cq);
		KUNIT_EXPECT_FALSE(test, lt->plugged);
		KUNIT_EXPECT_TRUE(test, lt->kept);
		KUNIT_EXPECT_EQ(test, lt->callbacks, 2);
	}
}

static void it_is_refused_outside_of_a_run(struct kunit *test)
{
	struct last_test *lt = last_open(test, FI_COMP_SOFTIRQ);

	KUNIT_EXPECT_FALSE(test, kofi_cq_call_last(&lt->cq, &lt->call));
	KUNIT_EXPECT_TRUE(test, list_empty(&lt->call.entry));
}

static struct kunit_case cq_last_cases[] = {
	KUNIT_CASE(it_is_made_once_behind_all_callbacks),
	KUNIT_CASE(a_reader_makes_it_behind_those_that_it_takes),
	KUNIT_CASE(what_it_completes_is_reported_by_its_run),
	KUNIT_CASE(it_is_refused_outside_of_a_run),
	{}
};

static struct kunit_suite cq_last_suite = {
	.name = "kofi_util_cq_last",
	.test_cases = cq_last_cases,
};

kunit_test_suite(cq_last_suite);
