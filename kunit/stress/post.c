// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Operations and their completions.
 *
 * An operation is free, or taken by a poster, or posted.  It becomes posted before
 * the call, as it may be over before that returns; whoever completes it makes it
 * free, and if it was not posted then, it has completed twice.
 *
 * When an endpoint has been closed, nothing of it completes any more, but a reader may
 * hold what it has read before.  So readers share a lock, which the closer takes once
 * before it looks what is left.  Done functions need none: that they have returned is
 * what is tested.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <rdma/fi_rma.h>
#include "stress.h"

#define ST_BATCH	4
#define ST_NAP_MS	5

static void st_op_over(struct st_op *op, struct st_figures *figures, u64 flags, int err)
{
	bool recv = op->recv, claimed = op->claims && !err;
	struct st_ep *ep = op->ep;

	/* The last message of a receive for several ends it, whether or not it has failed */
	if (op->multi && !(flags & FI_MULTI_RECV)) {
		atomic64_inc(&figures->parts);
		return;
	}
	if (atomic_cmpxchg(&op->state, ST_POSTED, claimed ? ST_CLAIMED : ST_FREE) != ST_POSTED) {
		atomic_inc(&figures->twice);
		return;
	}
	atomic64_inc(&figures->completed);
	if (err)
		atomic64_inc(&figures->errors);
	if (recv)
		atomic_dec(&ep->receives);
	atomic_dec(&ep->posted);
}

static void st_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct st_op *op = container_of(done, struct st_op, done);

	st_op_over(op, op->ep->world->figures, entry->flags, entry->err);
}

/* What fi_inject() posted has no context, and completes only if it failed */
static void st_completed(struct st_world *world, void *context, u64 flags, int err)
{
	if (context)
		st_op_over(container_of(context, struct st_op, done), world->figures, flags, err);
}

static long st_read_error(struct st_cq *cq, struct st_world *world)
{
	struct fi_cq_err_entry error = {};
	long ret;

	ret = st_said(world, ST_CQ_READERR, fi_cq_readerr(cq->cq, &error, 0));
	if (ret == 1)
		st_completed(world, error.op_context, error.flags, error.err);
	return ret;
}

/* Returns whether there was something */
static bool st_take(struct st_cq *cq, struct st_world *world, int timeout)
{
	struct fi_cq_msg_entry entries[ST_BATCH];
	long i, ret;

	if (timeout)
		ret = st_said(world, ST_CQ_SREAD,
			      fi_cq_sread(cq->cq, entries, ST_BATCH, NULL, timeout));
	else
		ret = st_said(world, ST_CQ_READ, fi_cq_read(cq->cq, entries, ST_BATCH));
	for (i = 0; i < ret; i++)
		st_completed(world, entries[i].op_context, entries[i].flags, 0);
	if (ret == -FI_EAVAIL)
		ret = st_read_error(cq, world);
	return ret > 0;
}

static void st_handler(struct fid_cq *fid_cq, void *context)
{
	struct st_world *world = context;
	struct st_cq *cq = &world->cqs[ST_HANDLER];
	unsigned long flags;

	/* It may come before fi_cq_open() has returned */
	cq->cq = fid_cq;
	spin_lock_irqsave(&cq->handling, flags);
	while (st_take(cq, world, 0))
		;
	spin_unlock_irqrestore(&cq->handling, flags);
}

/* Takes what there is, if taking is the client's part */
void st_poll(struct st_cq *cq, struct st_world *world)
{
	if (cq->kind == ST_HANDLER || cq->kind == ST_DONE)
		return;
	down_read(&cq->readers);
	while (st_take(cq, world, 0))
		;
	up_read(&cq->readers);
}

void st_await_readers(struct st_cq *cq)
{
	unsigned long flags;

	down_write(&cq->readers);
	up_write(&cq->readers);
	spin_lock_irqsave(&cq->handling, flags);
	spin_unlock_irqrestore(&cq->handling, flags);
}

struct st_ep *st_ep_use(struct st_thread *thread)
{
	struct st_ep *ep = &thread->world->eps[st_below(thread, ST_EPS)];

	if (!down_read_trylock(&ep->lock))
		return NULL;
	if (ep->ep)
		return ep;
	up_read(&ep->lock);
	return NULL;
}

struct st_op *st_op_take(struct st_thread *thread, struct st_ep *ep)
{
	u32 i, start = st_below(thread, ST_OPS);
	struct st_op *op;

	for (i = 0; i < ST_OPS; i++) {
		op = &ep->ops[(start + i) % ST_OPS];
		if (atomic_cmpxchg(&op->state, ST_FREE, ST_TAKEN) == ST_FREE) {
			op->recv = false;
			op->claims = false;
			return op;
		}
	}
	return NULL;
}

/* One for several messages; a completion of such a buffer may be read behind its last one */
struct st_op *st_op_take_multi(struct st_thread *thread, struct st_ep *ep)
{
	struct st_op *op = &ep->ops[ST_OPS + st_below(thread, ST_MULTIS)];

	return atomic_cmpxchg(&op->state, ST_FREE, ST_TAKEN) == ST_FREE ? op : NULL;
}

void st_op_begin(struct st_op *op)
{
	op->done.done = st_done;
	atomic_inc(&op->ep->posted);
	if (op->recv)
		atomic_inc(&op->ep->receives);
	atomic_set_release(&op->state, ST_POSTED);
}

void st_op_end(struct st_op *op, long ret)
{
	if (!ret) {
		atomic64_inc(&op->ep->world->figures->posted);
		return;
	}
	if (op->recv)
		atomic_dec(&op->ep->receives);
	atomic_set(&op->state, ST_FREE);
	atomic_dec(&op->ep->posted);
}

/* A region for single operations of this moment */
static bool st_target_ep(struct st_thread *thread, u64 *addr, u64 *key)
{
	struct st_ep *ep = &thread->world->eps[st_below(thread, ST_EPS)];

	*addr = READ_ONCE(ep->mr_addr);
	*key = READ_ONCE(ep->mr_key);
	return *key;
}

/* A region of this moment, to be accessed when it may have gone */
bool st_target(struct st_thread *thread, u64 *addr, u64 *key)
{
	struct st_mr *mr = &thread->world->mrs[st_below(thread, ST_MRS)];
	bool open;

	if (!st_below(thread, 8))
		return st_target_ep(thread, addr, key);
	if (!down_read_trylock(&mr->lock))
		return false;
	open = mr->mr;
	if (open) {
		*addr = fi_mr_addr(mr->mr) + 8 * st_below(thread, (PAGE_SIZE - ST_LEN) / 8);
		*key = fi_mr_key(mr->mr);
	}
	up_read(&mr->lock);
	return open;
}

static long st_post_plain(struct st_ep *ep, enum st_call call,
			  struct st_op *op, u32 len, u64 addr, u64 key)
{
	switch (call) {
	case ST_SEND:
		return fi_send(ep->ep, op->buf, len, NULL, 0, &op->done);
	case ST_RECV:
		return fi_recv(ep->ep, op->buf, ST_LEN, NULL, 0, &op->done);
	case ST_WRITE:
		return fi_write(ep->ep, op->buf, len, NULL, 0, addr, key, &op->done);
	default:
		return fi_read(ep->ep, op->buf, len, NULL, 0, addr, key, &op->done);
	}
}

/* With a context it is to be reported, without one it is not */
static long st_post_msg(struct st_ep *ep, enum st_call call, u8 *buf,
			void *context, u32 len, u64 addr, u64 key)
{
	u64 flags = context ? FI_COMPLETION : 0;
	struct kvec iov = { buf, call == ST_RECV ? ST_LEN : len };
	struct fi_rma_iov rma = { .addr = addr, .len = len, .key = key };
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.context	= context,
	};
	struct fi_msg_rma msg_rma = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.rma_iov	= &rma,
		.rma_iov_count	= 1,
		.context	= context,
	};

	switch (call) {
	case ST_SEND:
		return fi_sendmsg(ep->ep, &msg, flags);
	case ST_RECV:
		return fi_recvmsg(ep->ep, &msg, flags);
	case ST_WRITE:
		return fi_writemsg(ep->ep, &msg_rma, flags);
	default:
		return fi_readmsg(ep->ep, &msg_rma, flags);
	}
}

static long st_answered(struct st_ep *ep, enum st_call call, long ret)
{
	if (ret == -ESHUTDOWN)
		WRITE_ONCE(ep->dead, true);
	return st_said(ep->world, call, ret);
}

/* Nobody will hear of it unless it fails; its memory is good as long as the world */
static void st_post_silent(struct st_ep *ep, enum st_call call, u32 len, u64 addr, u64 key)
{
	if (!st_answered(ep, call, st_post_msg(ep, call, ep->scratch, NULL, len, addr, key)))
		atomic64_inc(&ep->world->figures->silent);
}

static void st_post_told(struct st_thread *thread, struct st_ep *ep,
			 enum st_call call, u32 len, u64 addr, u64 key)
{
	struct st_op *op = st_op_take(thread, ep);
	long ret;

	if (!op)
		return;
	st_op_begin(op);
	if (ep->selective)
		ret = st_post_msg(ep, call, op->buf, &op->done, len, addr, key);
	else
		ret = st_post_plain(ep, call, op, len, addr, key);
	st_op_end(op, st_answered(ep, call, ret));
}

static void st_post(struct st_thread *thread, enum st_call call)
{
	struct st_ep *ep = st_ep_use(thread);
	u32 len = st_below(thread, ST_LEN + 1);
	u64 addr = 0, key = 0;

	if (!ep)
		return;
	if (call >= ST_WRITE && !st_target(thread, &addr, &key))
		goto unlock;
	if (call == ST_RECV && ep->shared)
		st_srx_recv(thread);
	else if (ep->selective && st_below(thread, 2))
		st_post_silent(ep, call, len, addr, key);
	else
		st_post_told(thread, ep, call, len, addr, key);
unlock:
	up_read(&ep->lock);
}

static void act_send(struct st_thread *thread)
{
	st_post(thread, ST_SEND);
}

static void act_recv(struct st_thread *thread)
{
	st_post(thread, ST_RECV);
}

static void act_write(struct st_thread *thread)
{
	if (thread->world->rma)
		st_post(thread, ST_WRITE);
}

static void act_read(struct st_thread *thread)
{
	if (thread->world->rma)
		st_post(thread, ST_READ);
}

static void act_inject(struct st_thread *thread)
{
	struct st_ep *ep = st_ep_use(thread);
	u8 note[16] = {};

	if (!ep)
		return;
	st_said(thread->world, ST_INJECT, fi_inject(ep->ep, note, sizeof(note), 0));
	up_read(&ep->lock);
}

static void act_poll(struct st_thread *thread)
{
	st_poll(&thread->world->cqs[st_below(thread, ST_SLEEP + 1)], thread->world);
}

static void act_sleep(struct st_thread *thread)
{
	struct st_cq *cq = &thread->world->cqs[ST_SLEEP];

	down_read(&cq->readers);
	st_take(cq, thread->world, ST_NAP_MS);
	up_read(&cq->readers);
}

static void act_reg(struct st_thread *thread)
{
	struct st_mr *mr = &thread->world->mrs[st_below(thread, ST_MRS)];
	struct st_world *world = thread->world;

	if (!world->rma || !down_write_trylock(&mr->lock))
		return;
	if (!mr->mr) {
		if (st_said(world, ST_MR_REG, fi_mr_reg(world->domain, mr->mem, PAGE_SIZE,
							FI_REMOTE_READ | FI_REMOTE_WRITE, 0, mr -
							world->mrs, 0, &mr->mr, NULL)))
			mr->mr = NULL;
	} else if (!st_below(thread, 4) &&
		   !st_said(world, ST_CLOSE, fi_close(&mr->mr->fid))) {
		mr->mr = NULL;
	}
	up_write(&mr->lock);
}

const struct st_act st_post_acts[] = {
	{ act_send, 20 },
	{ act_recv, 30 },
	{ act_inject, 4 },
	{ act_write, 8 },
	{ act_read, 8 },
};

const unsigned int st_post_count = ARRAY_SIZE(st_post_acts);

const struct st_act st_queue_acts[] = {
	{ act_poll, 20 },
	{ act_sleep, 6 },
	{ act_reg, 3 },
};

const unsigned int st_queue_count = ARRAY_SIZE(st_queue_acts);

static const struct fi_cq_attr st_cq_attrs[ST_KINDS] = {
	[ST_POLL]	= { .wait_obj = FI_WAIT_NONE },
	[ST_SLEEP]	= { .wait_obj = FI_WAIT_UNSPEC },
	[ST_HANDLER]	= { .wait_obj = FI_WAIT_CALLBACK,
			    .handler = st_handler },
	[ST_DONE]	= { .wait_obj = FI_WAIT_DONE,
			    .comp_ctx = FI_COMP_WORKQUEUE },
};

int st_cqs_open(struct st_world *world)
{
	enum st_kind kind;
	int ret = 0;

	for (kind = 0; kind < ST_KINDS && !ret; kind++) {
		struct fi_cq_attr attr = st_cq_attrs[kind];
		struct st_cq *cq = &world->cqs[kind];

		attr.size = 2 * ST_DEPTH * ST_EPS + ST_DEPTH;
		attr.format = FI_CQ_FORMAT_MSG;
		cq->kind = kind;
		init_rwsem(&cq->readers);
		spin_lock_init(&cq->handling);
		ret = st_said(world, ST_CQ_OPEN, fi_cq_open(world->domain, &attr, &cq->cq, world));
	}
	return ret;
}

void st_cqs_close(struct st_world *world)
{
	enum st_kind kind;

	for (kind = 0; kind < ST_KINDS; kind++)
		if (world->cqs[kind].cq)
			KUNIT_EXPECT_EQ(world->test, fi_close(&world->cqs[kind].cq->fid), 0);
}
