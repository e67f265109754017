// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The baseline's side of mem.c.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "raw.h"

/**
 * struct raw_objects - Objects of one kind
 * @cm: protection domain and listener
 * @shared: completion queues of queue pairs, each shared by @per_cq queue pairs
 * @nr_shared: elements of @shared
 * @per_cq: queue pairs of one completion queue
 * @spec: number and depth of the objects
 * @ends: queue pairs
 * @nr_ends: elements of @ends
 * @cqs: completion queues
 * @nr_cqs: elements of @cqs
 * @mrs: memory regions
 * @nr_mrs: elements of @mrs
 */
struct raw_objects {
	struct perf_raw_cm	cm;
	struct ib_cq		**shared;
	unsigned int		nr_shared;
	unsigned int		per_cq;
	struct perf_spec	spec;
	struct perf_raw_end	*ends;
	unsigned int		nr_ends;
	struct ib_cq		**cqs;
	unsigned int		nr_cqs;
	struct ib_mr		**mrs;
	unsigned int		nr_mrs;
};

static void raw_objects_close(void *objects)
{
	struct raw_objects *o = objects;

	while (o->nr_ends)
		perf_raw_end_close(&o->ends[--o->nr_ends]);
	while (o->nr_cqs)
		ib_free_cq(o->cqs[--o->nr_cqs]);
	while (o->nr_mrs)
		ib_dereg_mr(o->mrs[--o->nr_mrs]);
	while (o->nr_shared)
		ib_free_cq(o->shared[--o->nr_shared]);
	perf_raw_cm_close(&o->cm);
	kvfree(o->shared);
	kvfree(o->ends);
	kvfree(o->cqs);
	kvfree(o->mrs);
	kfree(o);
}

static int raw_objects_cq(struct raw_objects *o, int nr_cqe, struct ib_cq **cq)
{
	struct ib_cq *new;

	new = ib_alloc_cq_any(o->cm.pd->device, o, nr_cqe, IB_POLL_SOFTIRQ);
	if (IS_ERR(new))
		return PTR_ERR(new);
	*cq = new;
	return 0;
}

/* Room for the work requests of ib_drain_qp(), too */
static int raw_objects_shared(struct raw_objects *o)
{
	int nr_cqe = o->per_cq * (o->spec.depth.tx + o->spec.depth.rx + 2);
	unsigned int i, count = DIV_ROUND_UP(o->spec.links, o->per_cq);
	int ret = 0;

	o->shared = kvcalloc(count, sizeof(*o->shared), GFP_KERNEL);
	if (!o->shared)
		return -ENOMEM;
	for (i = 0; i < count && !ret; i++) {
		ret = raw_objects_cq(o, nr_cqe, &o->shared[i]);
		o->nr_shared += !ret;
	}
	return ret;
}

static void *raw_objects_open(const struct perf_spec *spec, bool rma)
{
	struct raw_objects *o = kzalloc(sizeof(*o), GFP_KERNEL);
	int ret;

	if (!o)
		return ERR_PTR(-ENOMEM);
	o->spec = *spec;
	o->per_cq = PERF_PER_CQ / (spec->depth.tx + spec->depth.rx);
	o->ends = kvcalloc(spec->links, sizeof(*o->ends), GFP_KERNEL);
	o->cqs = kvcalloc(spec->links, sizeof(*o->cqs), GFP_KERNEL);
	o->mrs = kvcalloc(spec->links, sizeof(*o->mrs), GFP_KERNEL);
	ret = o->ends && o->cqs && o->mrs ? 0 : -ENOMEM;
	if (!ret)
		ret = perf_raw_cm_open(&o->cm, spec->node, spec->depth, 0);
	if (!ret)
		ret = raw_objects_shared(o);
	if (!ret)
		return o;
	raw_objects_close(o);
	return ERR_PTR(ret);
}

static int raw_objects_mr(struct raw_objects *o)
{
	struct ib_mr *mr = ib_alloc_mr(o->cm.pd, IB_MR_TYPE_MEM_REG,
				       PERF_IO_LEN / PAGE_SIZE);

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	o->mrs[o->nr_mrs++] = mr;
	return 0;
}

static int raw_objects_add(void *objects, const char *kind)
{
	struct raw_objects *o = objects;
	int ret = -EINVAL;

	if (!strncmp(kind, "ep", 2)) {
		ret = perf_raw_end_open(&o->cm, &o->ends[o->nr_ends],
					o->shared[o->nr_ends / o->per_cq]);
		o->nr_ends += !ret;
	} else if (!strcmp(kind, "cq")) {
		ret = raw_objects_cq(o, o->spec.depth.tx, &o->cqs[o->nr_cqs]);
		o->nr_cqs += !ret;
	} else if (!strcmp(kind, "mr")) {
		ret = raw_objects_mr(o);
	}
	return ret;
}

static int raw_objects_connect(void *objects)
{
	struct raw_objects *o = objects;
	struct perf_raw_link link;
	int ret;

	ret = perf_raw_connect(&o->cm, &link, o->shared[0],
			       o->shared[0]);
	if (!ret)
		perf_raw_disconnect(&link);
	return ret;
}

const struct perf_mem_ops raw_mem_ops = {
	.open		= raw_objects_open,
	.close		= raw_objects_close,
	.add		= raw_objects_add,
	.connect	= raw_objects_connect,
};
