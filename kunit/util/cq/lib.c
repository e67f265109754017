// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The queue of cq.h.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include "cq.h"

#define PATIENCE	(20 * HZ)

static void release(struct kofi_comp *chain)
{
	struct ut_cq_op *op;

	for (; chain; chain = chain->next) {
		op = container_of(chain, struct ut_cq_op, comp.comp);
		op->released++;
		op->uc->readers = atomic_read(&op->uc->cq.readers);
	}
}

static const struct kofi_cq_ops test_ops = {
	.release	= release,
};

static size_t poll(struct kofi_cq *cq, size_t budget)
{
	struct ut_cq *uc = container_of(cq, struct ut_cq, cq);
	unsigned long flags;
	size_t n;

	spin_lock_irqsave(&uc->dev_lock, flags);
	uc->polls++;
	uc->poller = current;
	for (n = 0; n < budget && uc->dev_tail < uc->dev_head; n++)
		kofi_cq_polled(cq, &uc->ops[uc->dev[uc->dev_tail++]].comp.comp);
	spin_unlock_irqrestore(&uc->dev_lock, flags);
	return n;
}

static bool arm(struct kofi_cq *cq)
{
	struct ut_cq *uc = container_of(cq, struct ut_cq, cq);
	unsigned long flags;
	bool more;

	spin_lock_irqsave(&uc->dev_lock, flags);
	if (uc->late)
		uc->dev[uc->dev_head++] = uc->late;
	uc->late = 0;
	uc->arms++;
	uc->armed = true;
	more = uc->dev_tail < uc->dev_head;
	spin_unlock_irqrestore(&uc->dev_lock, flags);
	return more;
}

static const struct kofi_cq_ops polled_ops = {
	.release	= release,
	.poll		= poll,
	.arm		= arm,
};

void ut_cq_device(struct ut_cq *uc, int first, int count)
{
	unsigned long flags;
	bool announce;
	int i;

	spin_lock_irqsave(&uc->dev_lock, flags);
	for (i = 0; i < count; i++)
		uc->dev[uc->dev_head++] = first + i;
	announce = uc->armed;
	uc->armed = false;
	spin_unlock_irqrestore(&uc->dev_lock, flags);
	if (announce)
		kofi_cq_poll_due(&uc->cq);
}

static void enter(struct ut_cq *uc)
{
	if (atomic_inc_return(&uc->inside) > 1)
		atomic_inc(&uc->overlaps);
	uc->softirq = in_softirq();
	uc->noio = current->flags & PF_MEMALLOC_NOIO;
	uc->cpu = raw_smp_processor_id();
	uc->task = current;
	uc->may_close = kofi_cq_may_close(&uc->cq);
	uc->may_wait = kofi_cq_may_wait(&uc->cq, KOFI_CQ_WAIT_POLLER);
	uc->plugged = kofi_cq_plug(&uc->cq);
	if (xchg(&uc->hold, false)) {
		complete(&uc->entered);
		wait_for_completion(&uc->leave);
	}
}

static void leave(struct ut_cq *uc)
{
	atomic_dec(&uc->inside);
	complete(&uc->arrived);
}

static void op_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct ut_cq_op *op = container_of(done, struct ut_cq_op, done);
	struct ut_cq *uc = op->uc;

	enter(uc);
	op->entry = *entry;
	if (entry->msg)
		op->msg = *entry->msg;
	op->released_before = op->released;
	uc->order[atomic_inc_return(&uc->calls) - 1] = op - uc->ops;
	leave(uc);
}

static void handler(struct fid_cq *cq, void *context)
{
	struct fi_cq_entry entries[8];
	struct ut_cq *uc = context;
	ssize_t ret;

	enter(uc);
	atomic_inc(&uc->calls);
	while (uc->reads && (ret = fi_cq_read(cq, entries, 8)) > 0)
		atomic_add(ret, &uc->seen);
	leave(uc);
}

static void other_call(struct kofi_cq_call *call)
{
	struct ut_cq *uc = container_of(call, struct ut_cq, call);

	enter(uc);
	atomic_inc(&uc->calls);
	leave(uc);
}

KUNIT_DEFINE_ACTION_WRAPPER(fini_cq, kofi_cq_fini, struct kofi_cq *);

static struct ut_cq *open(struct kunit *test, const struct fi_cq_attr *attr,
			  const struct kofi_cq_ops *ops)
{
	struct ut_cq *uc = vt_buf(test, sizeof(*uc));
	int i;

	for (i = 0; i < UT_CQ_OPS; i++) {
		uc->ops[i].done.done = op_done;
		uc->ops[i].uc = uc;
		uc->ops[i].comp.comp.op_context = &uc->ops[i].done;
		uc->ops[i].comp.comp.flags = FI_MSG | FI_SEND;
		/* A provider leaves there what it likes */
		uc->ops[i].comp.comp.next = ERR_PTR(-EFAULT);
	}
	init_completion(&uc->entered);
	init_completion(&uc->leave);
	init_completion(&uc->arrived);
	INIT_LIST_HEAD(&uc->call.entry);
	uc->call.fn = other_call;
	spin_lock_init(&uc->dev_lock);
	uc->armed = attr->comp_ctx != FI_COMP_DIRECT && attr->wait_obj != FI_WAIT_NONE;
	KUNIT_ASSERT_EQ(test, kofi_cq_init(&uc->cq, attr, UT_CQ_OPS, ops, uc), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fini_cq, &uc->cq), 0);
	return uc;
}

struct ut_cq *ut_cq_open(struct kunit *test, const struct fi_cq_attr *attr)
{
	return open(test, attr, &test_ops);
}

struct ut_cq *ut_cq_open_polled(struct kunit *test, enum fi_wait_obj wait_obj, enum fi_comp_ctx ctx)
{
	struct fi_cq_attr attr = {
		.wait_obj	= wait_obj,
		.comp_ctx	= ctx,
		.handler	= wait_obj == FI_WAIT_CALLBACK ? handler : NULL,
	};

	return open(test, &attr, &polled_ops);
}

struct ut_cq *ut_cq_open_done(struct kunit *test, enum fi_comp_ctx ctx)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_DONE, .comp_ctx = ctx };

	return ut_cq_open(test, &attr);
}

struct ut_cq *ut_cq_open_handled(struct kunit *test, enum fi_comp_ctx ctx)
{
	struct fi_cq_attr attr = {
		.wait_obj	= FI_WAIT_CALLBACK,
		.comp_ctx	= ctx,
		.handler	= handler,
	};

	return ut_cq_open(test, &attr);
}

void ut_cq_complete(struct ut_cq *uc, int i)
{
	kofi_cq_complete(&uc->cq, &uc->ops[i].comp.comp);
}

void ut_cq_await(struct kunit *test, struct ut_cq *uc, int n)
{
	while (n--)
		KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&uc->arrived, PATIENCE), 0);
}

const enum fi_comp_ctx ut_cq_contexts[UT_CQ_CONTEXTS] = {
	FI_COMP_SOFTIRQ, FI_COMP_WORKQUEUE
};

int ut_cq_read(void *data)
{
	struct ut_cq *uc = data;

	return fi_cq_read(&uc->cq.cq, NULL, 8);
}

int ut_cq_device_half(void *data)
{
	struct ut_cq *uc = data;
	int i;

	for (i = 0; i < UT_CQ_OPS / 2; i++) {
		ut_cq_device(uc, i, 1);
		cond_resched();
	}
	return 0;
}
