// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Dynamic moderation of interrupts, on devices that have it (use_cq_dim).
 *
 * The poller says how many completions each interrupt has brought.  lib/dim finds a profile by
 * that, and has the work item set it.  ib_alloc_cq() has its own caller of lib/dim, for the
 * queues that ib_core polls; the profiles here are those of ib_core, which exports none.
 */
#include <linux/dim.h>
#include <linux/slab.h>
#include "../queue.h"
#include "../verbs.h"

/* How long the device may keep an interrupt back, and for how many completions */
static const struct {
	u8	usec;
	u8	comps;
} verbs_dim_profiles[RDMA_DIM_PARAMS_NUM_PROFILES] = {
	{ 1, 1 }, { 1, 4 }, { 2, 4 }, { 2, 8 }, { 4, 8 },
	{ 16, 8 }, { 16, 16 }, { 32, 16 }, { 32, 32 },
};

static void verbs_dim_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	u8 i = dim->profile_ix;

	dim->state = DIM_START_MEASURE;
	rdma_set_cq_moderation(dim->priv, verbs_dim_profiles[i].comps,
			       verbs_dim_profiles[i].usec);
}

/* Without memory for it the device announces each completion, as it does by default */
void verbs_dim_begin(struct verbs_cq *cq)
{
	struct ib_cq *ibcq = cq->ibcq;
	struct dim *dim;

	if (!ibcq->device->use_cq_dim || !ibcq->device->ops.modify_cq)
		return;
	dim = kzalloc(sizeof(*dim), GFP_KERNEL);
	if (!dim)
		return;
	dim->state = DIM_START_MEASURE;
	dim->tune_state = DIM_GOING_RIGHT;
	dim->profile_ix = RDMA_DIM_START_PROFILE;
	dim->priv = ibcq;
	INIT_WORK(&dim->work, verbs_dim_work);
	cq->dim = dim;
}

/* The poller is about to have the device announce the next completion */
void verbs_dim_polled(struct verbs_cq *cq)
{
	lockdep_assert_held(&cq->kcq.poll_lock);
	rdma_dim(cq->dim, cq->polled);
	cq->polled = 0;
}

/* Nothing is polled any more */
void verbs_dim_end(struct verbs_cq *cq)
{
	if (!cq->dim)
		return;
	cancel_work_sync(&cq->dim->work);
	kfree(cq->dim);
	cq->dim = NULL;
}
