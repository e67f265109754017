// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Objects that are only there: how much memory they take, and how long it takes to
 * connect.
 *
 * Memory is counted in free pages, before and after many objects are opened, so
 * whatever an object takes is in the figure: its own, the driver's, ib_core's.
 * The first round fills what allocators keep to themselves and is not counted.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "perf.h"

struct mem {
	const struct perf_mem_ops	*ops;
	struct perf_spec		spec;
	bool				rma;
	const char			*kind;
};

static void *mem_open(const struct perf_side *side, const struct perf_cmd *cmd)
{
	struct mem *mem = kzalloc(sizeof(*mem), GFP_KERNEL);

	if (!mem)
		return ERR_PTR(-ENOMEM);
	mem->ops = side->mem;
	mem->spec = (struct perf_spec) {
		.node	= cmd->node,
		.links	= cmd->count,
		.depth	= { cmd->depth, cmd->depth },
	};
	mem->kind = cmd->op;
	return mem;
}

static void mem_close(void *state)
{
	kfree(state);
}

static s64 mem_free_bytes(void)
{
	struct sysinfo info;

	si_meminfo(&info);
	return (s64)info.freeram * info.mem_unit;
}

/* Returns the bytes that all objects take together */
static s64 mem_run(void *state, const struct perf_cmd *cmd)
{
	struct mem *mem = state;
	unsigned int i;
	void *objects;
	s64 before, ret = 0;

	objects = mem->ops->open(&mem->spec, !strcmp(mem->kind, "mr"));
	if (IS_ERR(objects))
		return PTR_ERR(objects);
	before = mem_free_bytes();
	for (i = 0; i < cmd->count && !ret; i++) {
		ret = mem->ops->add(objects, mem->kind);
		cond_resched();
	}
	if (!ret)
		ret = max_t(s64, before - mem_free_bytes(), 0);
	mem->ops->close(objects);
	return ret;
}

/* Returns the time for all connections; no two stand at the same time */
static s64 setup_run(void *state, const struct perf_cmd *cmd)
{
	struct mem *mem = state;
	ktime_t start;
	unsigned int i;
	void *objects;
	s64 ret = 0;

	objects = mem->ops->open(&mem->spec, false);
	if (IS_ERR(objects))
		return PTR_ERR(objects);
	start = ktime_get();
	for (i = 0; i < cmd->count && !ret; i++)
		ret = mem->ops->connect(objects);
	if (!ret)
		ret = ktime_to_ns(ktime_sub(ktime_get(), start));
	mem->ops->close(objects);
	return ret;
}

const struct perf_test perf_mem = {
	.name	= "mem",
	.unit	= "bytes",
	.open	= mem_open,
	.run	= mem_run,
	.close	= mem_close,
};

const struct perf_test perf_setup = {
	.name	= "setup",
	.unit	= "rate",
	.open	= mem_open,
	.run	= setup_run,
	.close	= mem_close,
};
