// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * rw operations, atomic operations, and regions for single operations.
 *
 * A region for single operations belongs to an endpoint and is closed before it.
 * Calls on one region come one after the other, in any order: what its state does not
 * allow has to be refused.  Its key is open to all, also when it is over.
 */
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include "stress.h"

static struct fi_mr_attr st_mr_attr(const struct kvec *iov)
{
	return (struct fi_mr_attr) {
		.mr_iov		= iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
		.page_limit	= 1,
	};
}

/* The caller has the place for itself */
void st_mr_open(struct st_ep *ep)
{
	struct st_world *world = ep->world;
	struct kvec iov = { ep->mr_mem, PAGE_SIZE };
	struct fi_mr_attr attr = st_mr_attr(&iov);

	if (st_said(world, ST_MR_REG, fi_mr_regattr(world->domain, &attr,
						    FI_MR_ENDPOINT, &ep->mr))) {
		ep->mr = NULL;
		return;
	}
	st_said(world, ST_MR_BIND, fi_mr_bind(ep->mr, &ep->ep->fid, 0));
}

void st_mr_close(struct st_ep *ep)
{
	if (!ep->mr)
		return;
	WRITE_ONCE(ep->mr_key, 0);
	/* What is in flight for it comes back when the connection is over */
	if (st_said(ep->world, ST_MR_CLOSE, fi_close(&ep->mr->fid))) {
		st_said(ep->world, ST_SHUTDOWN, fi_shutdown(ep->ep, 0));
		st_said(ep->world, ST_CLOSE, fi_close(&ep->mr->fid));
	}
	ep->mr = NULL;
}

static void st_mr_enable(struct st_ep *ep)
{
	if (st_said(ep->world, ST_MR_ENABLE, fi_mr_enable(ep->mr)))
		return;
	WRITE_ONCE(ep->mr_addr, fi_mr_addr(ep->mr));
	WRITE_ONCE(ep->mr_key, fi_mr_key(ep->mr));
}

/* The key is over once this has completed */
static void st_mr_disable(struct st_thread *thread, struct st_ep *ep)
{
	struct st_op *op = st_op_take(thread, ep);

	if (!op)
		return;
	st_op_begin(op);
	st_op_end(op, st_said(ep->world, ST_MR_DISABLE, fi_mr_disable(ep->mr, 0, &op->done)));
}

static void st_mr_refresh(struct st_thread *thread, struct st_ep *ep)
{
	u32 at = st_below(thread, PAGE_SIZE);
	struct kvec iov = { ep->mr_mem + at, PAGE_SIZE - at };
	struct fi_mr_attr attr = st_mr_attr(&iov);

	st_said(ep->world, ST_MR_REFRESH, fi_mr_refresh(ep->mr, &attr, 0));
}

static void st_mr_step(struct st_thread *thread, struct st_ep *ep)
{
	switch (st_below(thread, 3)) {
	case 0:
		st_mr_enable(ep);
		break;
	case 1:
		st_mr_disable(thread, ep);
		break;
	default:
		st_mr_refresh(thread, ep);
	}
}

/* With FI_SELECTIVE_COMPLETION the end of a key is reported only if asked for */
static void act_mr(struct st_thread *thread)
{
	struct st_ep *ep = st_ep_use(thread);

	if (!ep)
		return;
	if (ep->mr && !ep->selective && mutex_trylock(&ep->mr_lock)) {
		st_mr_step(thread, ep);
		mutex_unlock(&ep->mr_lock);
	}
	up_read(&ep->lock);
}

static long st_move(struct st_thread *thread, struct st_ep *ep, struct st_op *op, u64 addr, u64 key)
{
	u32 offset = st_below(thread, ST_LEN);
	u32 len = st_below(thread, ST_LEN - offset + 1);

	if (st_below(thread, 2))
		return fi_readsgl(ep->ep, op->sgl, ST_PIECES, offset, len, 0,
				  addr, key, &op->done, FI_COMPLETION);
	return fi_writesgl(ep->ep, op->sgl, ST_PIECES, offset, len, 0, addr,
			   key, &op->done, FI_COMPLETION);
}

/* Operands and the old value are in the operation's memory */
static long st_atomic(struct st_thread *thread, struct st_ep *ep,
		      struct st_op *op, u64 addr, u64 key)
{
	u64 *words = (u64 *)op->buf;

	if (st_below(thread, 2))
		return fi_fetch_atomic(ep->ep, words, 1, NULL, words + 1, NULL, 0, addr, key,
				       FI_UINT64, FI_SUM, &op->done);
	return fi_compare_atomic(ep->ep, words, 1, NULL, words + 1, NULL, words + 2, NULL, 0, addr,
				 key, FI_UINT64, FI_CSWAP, &op->done);
}

static void st_more(struct st_thread *thread, struct st_ep *ep, enum st_call call)
{
	u64 addr, key;
	struct st_op *op;
	long ret;

	if (!st_target(thread, &addr, &key))
		return;
	op = st_op_take(thread, ep);
	if (!op)
		return;
	st_op_begin(op);
	ret = call == ST_MOVE ? st_move(thread, ep, op, addr, key) :
				st_atomic(thread, ep, op, ALIGN(addr, 8), key);
	if (ret == -ESHUTDOWN)
		WRITE_ONCE(ep->dead, true);
	st_op_end(op, st_said(ep->world, call, ret));
}

static void act_move(struct st_thread *thread)
{
	struct st_ep *ep = st_ep_use(thread);

	if (!ep)
		return;
	if (ep->rw_ops)
		st_more(thread, ep, ST_MOVE);
	up_read(&ep->lock);
}

/* Atomic operations without a message report nothing where that must be asked for */
static void act_atomic(struct st_thread *thread)
{
	struct st_ep *ep = st_ep_use(thread);

	if (!ep)
		return;
	if (ep->world->atomic && !ep->selective)
		st_more(thread, ep, ST_ATOMIC);
	up_read(&ep->lock);
}

const struct st_act st_more_acts[] = {
	{ act_mr, 8 },
	{ act_move, 8 },
	{ act_atomic, 6 },
};

const unsigned int st_more_count = ARRAY_SIZE(st_more_acts);
