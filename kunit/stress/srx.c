// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A shared receive context, which endpoints join while they are opened, to which all
 * threads post, and which somebody tries to close now and then; that works when no
 * endpoint uses it.
 *
 * A receive completes in the queue of the endpoint whose message took it.  If that
 * endpoint is closed before the completion is read, nothing will be heard of the
 * receive any more; it counts as closed with the context.
 */
#include <linux/errno.h>
#include "stress.h"

static int st_srx_create(struct st_world *world)
{
	return fi_srx_context(world->domain, world->srx_info->rx_attr, &world->srx.ep, NULL);
}

static int st_srx_bind(struct st_world *world)
{
	return st_said(world, ST_SRX, fi_ep_bind(world->srx.ep, &world->eq->fid, 0));
}

/* Who has none says so, and then there are no such endpoints */
int st_srx_open(struct st_world *world)
{
	int ret;

	if (!world->srx_info)
		return 0;
	ret = st_srx_create(world);
	if (ret == -ENOSYS) {
		fi_freeinfo(world->srx_info);
		world->srx_info = NULL;
		world->srx.ep = NULL;
		return 0;
	}
	st_said(world, ST_SRX, ret);
	if (ret) {
		world->srx.ep = NULL;
		return ret;
	}
	return st_srx_bind(world);
}

/* Nothing of it completes any more; the caller has the place for itself */
static void st_srx_forget(struct st_world *world)
{
	enum st_kind kind;

	world->srx.ep = NULL;
	for (kind = 0; kind < ST_KINDS; kind++)
		st_await_readers(&world->cqs[kind]);
	st_ep_sweep(&world->srx);
}

void st_srx_close(struct st_world *world)
{
	if (!world->srx.ep)
		return;
	KUNIT_EXPECT_EQ(world->test, fi_close(&world->srx.ep->fid), 0);
	st_srx_forget(world);
}

/* Returns whether @ep, which is not enabled yet, uses it from now on */
bool st_srx_join(struct st_world *world, struct st_ep *ep)
{
	bool joined = false;

	if (!down_read_trylock(&world->srx.lock))
		return false;
	if (world->srx.ep)
		joined = !st_said(world, ST_BIND, fi_ep_bind(ep->ep, &world->srx.ep->fid, 0));
	up_read(&world->srx.lock);
	return joined;
}

void st_srx_recv(struct st_thread *thread)
{
	struct st_world *world = thread->world;
	struct st_ep *srx = &world->srx;
	struct st_op *op = NULL;

	if (!down_read_trylock(&srx->lock))
		return;
	if (srx->ep)
		op = st_op_take(thread, srx);
	if (op) {
		st_op_begin(op);
		st_op_end(op, st_said(world, ST_RECV,
				      fi_recv(srx->ep, op->buf, ST_LEN, NULL, 0, &op->done)));
	}
	up_read(&srx->lock);
}

static void act_srx_recv(struct st_thread *thread)
{
	if (thread->world->srx_info)
		st_srx_recv(thread);
}

static void act_srx_limit(struct st_thread *thread)
{
	struct st_world *world = thread->world;
	size_t limit = st_below(thread, ST_DEPTH);

	if (!world->srx_info || !down_read_trylock(&world->srx.lock))
		return;
	if (world->srx.ep)
		st_said(world, ST_SRX, fi_setopt(&world->srx.ep->fid, FI_OPT_ENDPOINT,
						 FI_OPT_SRX_LIMIT, &limit, sizeof(limit)));
	up_read(&world->srx.lock);
}

/* Mostly it is in use */
static void act_srx_close(struct st_thread *thread)
{
	struct st_world *world = thread->world;

	if (!world->srx_info || !down_write_trylock(&world->srx.lock))
		return;
	if (!world->srx.ep) {
		if (!st_said(world, ST_SRX, st_srx_create(world)))
			st_srx_bind(world);
		else
			world->srx.ep = NULL;
	} else if (!st_said(world, ST_SRX_CLOSE,
			    fi_close(&world->srx.ep->fid))) {
		st_srx_forget(world);
	}
	up_write(&world->srx.lock);
}

const struct st_act st_srx_acts[] = {
	{ act_srx_recv, 6 },
	{ act_srx_limit, 1 },
	{ act_srx_close, 1 },
};

const unsigned int st_srx_count = ARRAY_SIZE(st_srx_acts);
