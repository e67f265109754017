// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Work of a provider that the worker of a queue does (kofi_cq_turn()).
 */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <kofi/cq.h>
#include "../util.h"

#define NR_OPS		10
#define PATIENCE	(20 * HZ)

struct turn_test;

struct turn_op {
	struct fi_done		done;
	struct kofi_comp	comp;
	struct turn_test	*tt;
};

/**
 * struct turn_own - A turn
 * @turn: the turn
 * @tt: its case
 * @work: what it does for the case, or NULL
 * @calls: how often it was called with a queue that was free
 * @busy: how often it was called by a task that was about to make callbacks
 */
struct turn_own {
	struct kofi_cq_turn	turn;
	struct turn_test	*tt;
	void			(*work)(struct turn_test *tt);
	int			calls;
	int			busy;
};

/**
 * struct turn_test - A case
 * @cq: the queue
 * @ops: operations
 * @turns: turns
 * @asked: what kofi_cq_turn() has returned for the turns that a turn has asked for
 * @due: what kofi_cq_turn_is_due() has returned for each of @turns
 * @callbacks: how many there have been
 * @by_worker: how many of these were made by the task of the turn
 * @in_turn: how many had been made when the first turn unplugged the queue
 * @worker: the task of the first turn
 * @hold: a callback waits for this, if @holds
 * @holds: a callback waits for @hold
 * @held: a callback waits
 * @end: completed by each turn, and by each callback
 */
struct turn_test {
	struct kofi_cq		cq;
	struct turn_op		ops[NR_OPS];
	struct turn_own		turns[2];
	bool			asked[2];
	bool			due[2];
	int			callbacks;
	int			by_worker;
	int			in_turn;
	struct task_struct	*worker;
	struct completion	hold;
	bool			holds;
	struct completion	held;
	struct completion	end;
};

static void release(struct kofi_comp *chain)
{
}

static const struct kofi_cq_ops turn_ops = {
	.release	= release,
};

static void turn_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct turn_test *tt = container_of(done, struct turn_op, done)->tt;

	if (tt->holds) {
		complete(&tt->held);
		wait_for_completion(&tt->hold);
	}
	tt->by_worker += tt->worker == current;
	tt->callbacks++;
	complete(&tt->end);
}

static void turn_fn(struct kofi_cq_turn *turn, bool busy)
{
	struct turn_own *own = container_of(turn, struct turn_own, turn);

	if (busy) {
		own->busy++;
	} else {
		own->calls++;
		if (own->work)
			own->work(own->tt);
	}
	complete(&own->tt->end);
}

/* Completes all operations, and unplugs the queue */
static void complete_all_ops(struct turn_test *tt)
{
	int i;

	tt->worker = current;
	if (!kofi_cq_plug(&tt->cq))
		return;
	for (i = 0; i < NR_OPS; i++)
		kofi_cq_complete(&tt->cq, &tt->ops[i].comp);
	kofi_cq_claim(&tt->cq);
	kofi_cq_unplug(&tt->cq);
	tt->in_turn = tt->callbacks;
}

/* Has another turn become due first */
static void ask_and_complete(struct turn_test *tt)
{
	int i;

	for (i = 0; i < 2; i++)
		tt->asked[i] = kofi_cq_turn(&tt->cq, &tt->turns[1 - i].turn);
	for (i = 0; i < 2; i++)
		tt->due[i] = kofi_cq_turn_is_due(&tt->cq, &tt->turns[i].turn);
	complete_all_ops(tt);
}

KUNIT_DEFINE_ACTION_WRAPPER(fini_cq, kofi_cq_fini, struct kofi_cq *);

static struct turn_test *turn_open(struct kunit *test)
{
	struct turn_test *tt = vt_buf(test, sizeof(*tt));
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_DONE, .comp_ctx = FI_COMP_WORKQUEUE };
	int i;

	for (i = 0; i < NR_OPS; i++) {
		tt->ops[i].done.done = turn_done;
		tt->ops[i].tt = tt;
		tt->ops[i].comp.op_context = &tt->ops[i].done;
		tt->ops[i].comp.flags = FI_MSG | FI_SEND;
	}
	for (i = 0; i < 2; i++) {
		tt->turns[i].turn.fn = turn_fn;
		tt->turns[i].tt = tt;
	}
	init_completion(&tt->hold);
	init_completion(&tt->held);
	init_completion(&tt->end);
	KUNIT_ASSERT_EQ(test, kofi_cq_init(&tt->cq, &attr, NR_OPS, &turn_ops, tt), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fini_cq, &tt->cq), 0);
	return tt;
}

/* Waits for so many callbacks and turns */
static void turn_wait(struct kunit *test, struct turn_test *tt, int count)
{
	while (count--)
		KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&tt->end, PATIENCE), 0);
}

static void its_task_makes_the_callbacks(struct kunit *test)
{
	struct turn_test *tt = turn_open(test);

	tt->turns[0].work = complete_all_ops;
	KUNIT_EXPECT_TRUE(test, kofi_cq_turn(&tt->cq, &tt->turns[0].turn));
	turn_wait(test, tt, 1 + NR_OPS);
	KUNIT_EXPECT_EQ(test, tt->turns[0].calls, 1);
	KUNIT_EXPECT_EQ(test, tt->turns[0].busy, 0);
	KUNIT_EXPECT_EQ(test, tt->in_turn, NR_OPS);
	KUNIT_EXPECT_EQ(test, tt->by_worker, NR_OPS);
}

static void only_one_is_due(struct kunit *test)
{
	struct turn_test *tt = turn_open(test);

	tt->turns[0].work = ask_and_complete;
	KUNIT_EXPECT_TRUE(test, kofi_cq_turn(&tt->cq, &tt->turns[0].turn));
	turn_wait(test, tt, 2 + NR_OPS);
	KUNIT_EXPECT_TRUE(test, tt->asked[0]);
	KUNIT_EXPECT_FALSE(test, tt->asked[1]);
	KUNIT_EXPECT_FALSE(test, tt->due[0]);
	KUNIT_EXPECT_TRUE(test, tt->due[1]);
}

/* A callback may sleep for long */
static void it_is_given_up_before_callbacks(struct kunit *test)
{
	struct turn_test *tt = turn_open(test);

	tt->turns[0].work = ask_and_complete;
	KUNIT_EXPECT_TRUE(test, kofi_cq_turn(&tt->cq, &tt->turns[0].turn));
	turn_wait(test, tt, 2 + NR_OPS);
	KUNIT_EXPECT_EQ(test, tt->turns[1].calls, 0);
	KUNIT_EXPECT_EQ(test, tt->turns[1].busy, 1);
}

static void it_is_refused_while_a_callback_sleeps(struct kunit *test)
{
	struct turn_test *tt = turn_open(test);
	unsigned long limit;

	tt->holds = true;
	kofi_cq_complete(&tt->cq, &tt->ops[0].comp);
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&tt->held, PATIENCE), 0);
	KUNIT_EXPECT_FALSE(test, kofi_cq_turn(&tt->cq, &tt->turns[0].turn));
	KUNIT_EXPECT_FALSE(test, kofi_cq_turn_is_due(&tt->cq, &tt->turns[0].turn));
	complete(&tt->hold);
	turn_wait(test, tt, 1);
	KUNIT_EXPECT_EQ(test, tt->turns[0].calls + tt->turns[0].busy, 0);
	/* The worker ends its run behind the callback */
	limit = jiffies + PATIENCE;
	while (!kofi_cq_turn(&tt->cq, &tt->turns[0].turn)) {
		KUNIT_ASSERT_TRUE(test, time_before(jiffies, limit));
		cond_resched();
	}
	turn_wait(test, tt, 1);
	KUNIT_EXPECT_EQ(test, tt->turns[0].calls, 1);
}

static struct kunit_case cq_turn_cases[] = {
	KUNIT_CASE(its_task_makes_the_callbacks),
	KUNIT_CASE(only_one_is_due),
	KUNIT_CASE(it_is_given_up_before_callbacks),
	KUNIT_CASE(it_is_refused_while_a_callback_sleeps),
	{}
};

static struct kunit_suite cq_turn_suite = {
	.name = "kofi_util_cq_turn",
	.test_cases = cq_turn_cases,
};

kunit_test_suite(cq_turn_suite);
