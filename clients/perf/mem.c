// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Idle objects, to measure the memory that they take; and the time that it takes to
 * connect.
 *
 *	KEY hold side=kofi op=ep count=100 depth=128
 *
 * opens count objects of one side and of the kind op: ep, ep-rma, cq or mr; conn, a
 * connection with both its ends; peer, an address that is in the address vector and no
 * more; met, an endpoint without connections that another endpoint has sent to.  A second
 * command of this kind opens as many again.  The memory that the second command takes is
 * that of its objects, as the first objects have filled the allocators' reserves.  "KEY
 * release" closes all objects.  Completion queues of endpoints are opened beforehand.
 *
 * Locking: commands come one at a time.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "perf.h"

/* There is room for this many times the count of the first command */
#define MEM_HOLDS	2

struct mem {
	const struct perf_side	*side;
	void			*objects;
	unsigned int		holds;
};

static struct mem mem_held;

void perf_release(void)
{
	if (mem_held.objects)
		mem_held.side->mem->close(mem_held.objects);
	mem_held = (struct mem) { };
}

static struct perf_spec mem_spec(const struct perf_cmd *cmd)
{
	return (struct perf_spec) {
		.way	= cmd->way,
		.node	= cmd->node,
		.links	= cmd->count * MEM_HOLDS,
		.depth	= { cmd->depth, cmd->depth },
	};
}

static int mem_begin(const struct perf_side *side, const struct perf_cmd *cmd)
{
	bool rma = !strcmp(cmd->op, "ep-rma") || !strcmp(cmd->op, "mr");
	const struct perf_spec spec = mem_spec(cmd);
	void *objects;

	objects = side->mem->open(&spec, rma);
	if (IS_ERR(objects))
		return PTR_ERR(objects);
	mem_held = (struct mem) { .side = side, .objects = objects };
	return 0;
}

int perf_hold(const struct perf_side *side, const struct perf_cmd *cmd)
{
	unsigned int i;
	int ret = 0;

	if (!mem_held.objects)
		ret = mem_begin(side, cmd);
	else if (mem_held.side != side || mem_held.holds == MEM_HOLDS)
		ret = -EBUSY;
	if (ret)
		return ret;
	mem_held.holds++;
	for (i = 0; i < cmd->count && !ret; i++) {
		ret = side->mem->add(mem_held.objects, cmd->op);
		cond_resched();
	}
	return ret;
}

struct setup {
	const struct perf_side	*side;
	struct perf_spec	spec;
};

static void *setup_open(const struct perf_side *side,
			const struct perf_cmd *cmd)
{
	struct setup *setup = kzalloc(sizeof(*setup), GFP_KERNEL);

	if (!setup)
		return ERR_PTR(-ENOMEM);
	setup->side = side;
	setup->spec = mem_spec(cmd);
	return setup;
}

static void setup_close(void *state)
{
	kfree(state);
}

/* Returns the time for all connections; each is closed before the next one is made */
static s64 setup_run(void *state, const struct perf_cmd *cmd)
{
	const struct setup *setup = state;
	struct perf_flow flow;
	unsigned int i;
	void *objects;
	s64 ret = 0;

	objects = setup->side->mem->open(&setup->spec, false);
	if (IS_ERR(objects))
		return PTR_ERR(objects);
	perf_flow_begin(&flow, NULL, 1);
	for (i = 0; i < cmd->count && !ret; i++)
		ret = setup->side->mem->connect(objects);
	if (!ret)
		ret = ktime_to_ns(ktime_sub(ktime_get(), flow.start));
	setup->side->mem->close(objects);
	return ret;
}

const struct perf_test perf_setup = {
	.name	= "setup",
	.unit	= "rate",
	.open	= setup_open,
	.run	= setup_run,
	.close	= setup_close,
};
