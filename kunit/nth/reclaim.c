// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a client calls in the way of writeback makes progress when there is no memory
 * (Documentation/reclaim.rst).
 *
 * rec_params has the providers, with hooks on top, too, and rec_steps has the paths that the page
 * names.  Each case takes a provider through all paths, with the rule that the page has for each:
 * nothing is allocated, or nothing that may write pages back.  Endpoints without connections have
 * paths of their own, rec_rdm_steps.
 *
 * The kernel's tracepoints of allocation are followed in all contexts, done functions
 * in softirq and workers included: whatever is allocated below a function of kofi.ko, a provider
 * or a hook counts.  The fake HCA does not allocate where it takes work requests;
 * what the kernel's own debugging allocates for itself is left out.
 */
#include <linux/bvec.h>
#include <linux/completion.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include "../lib/calls.h"
#include "../lib/client.h"
#include "nth.h"

#define REC_FRAMES	48
#define REC_LEN		64
#define REC_ROUNDS	3
#define REC_SEGS	128	/* of an rw operation: more than one batch of verbs */
#define REC_BYTES	(REC_SEGS * REC_LEN)
#define REC_RW_OPS	2
#define REC_TAG		9
/* Messages of endpoints without connections: of several segments of kofi_rxm, and on offer */
#define REC_SEGMENTS	SZ_64K
#define REC_OFFERED	(SZ_128K + SZ_64K)

/**
 * struct rec_param - A provider and a kind of completion queue
 * @name: of both
 * @prov: the provider, and hooks on it
 * @wait_obj: the queue
 * @comp_ctx: the same
 * @caps: what the provider has that others have not
 * @sockets: sends allocate, without waiting
 * @rdm: endpoints have no connections
 * @attr: a fake HCA
 * @hca: @attr counts
 */
struct rec_param {
	const char		*name;
	const char		*prov;
	enum fi_wait_obj	wait_obj;
	enum fi_comp_ctx	comp_ctx;
	u64			caps;
	bool			sockets;
	bool			rdm;
	bool			hca;
	struct fakehca_attr	attr;
};

#define REC_ROCE	.hca = true, .attr = { .roce = true, .atomics = FAKEHCA_ATOMICS }, \
			.caps = FI_ATOMIC
#define REC_LOOP	.caps = FI_ATOMIC
#define REC_IWARP	.hca = true
#define REC_TCP		.sockets = true
#define REC_RXM		.rdm = true
#define REC_RXM_TCP	.rdm = true, .sockets = true, .caps = FI_ATOMIC
#define REC_HOOKS	";ofi_hook_fault;ofi_hook_trace"

static const struct rec_param rec_params[] = {
	{ "RoCE, polled", "verbs", FI_WAIT_NONE, REC_ROCE },
	{ "RoCE, asleep", "verbs", FI_WAIT_UNSPEC, REC_ROCE },
	{ "RoCE, handler", "verbs", FI_WAIT_CALLBACK, REC_ROCE },
	{ "RoCE, handler in worker", "verbs", FI_WAIT_CALLBACK, FI_COMP_WORKQUEUE, REC_ROCE },
	{ "RoCE, done in softirq", "verbs", FI_WAIT_DONE, REC_ROCE },
	{ "RoCE, done in worker", "verbs", FI_WAIT_DONE, FI_COMP_WORKQUEUE, REC_ROCE },
	{ "RoCE, under hooks", "verbs" REC_HOOKS, FI_WAIT_DONE, FI_COMP_WORKQUEUE, REC_ROCE },
	{ "iWARP, polled", "verbs", FI_WAIT_NONE, REC_IWARP },
	{ "iWARP, done in softirq", "verbs", FI_WAIT_DONE, REC_IWARP },
	{ "loop, polled", "loop", FI_WAIT_NONE, REC_LOOP },
	{ "loop, asleep", "loop", FI_WAIT_UNSPEC, REC_LOOP },
	{ "loop, handler", "loop", FI_WAIT_CALLBACK, FI_COMP_WORKQUEUE, REC_LOOP },
	{ "loop, done in softirq", "loop", FI_WAIT_DONE, REC_LOOP },
	{ "loop, done in worker", "loop", FI_WAIT_DONE, FI_COMP_WORKQUEUE, REC_LOOP },
	{ "loop, polled under hooks", "loop" REC_HOOKS, FI_WAIT_NONE, REC_LOOP },
	{ "loop, under hooks", "loop" REC_HOOKS, FI_WAIT_DONE, FI_COMP_WORKQUEUE, REC_LOOP },
	{ "tcp, polled", "tcp", FI_WAIT_NONE, REC_TCP },
	{ "tcp, asleep", "tcp", FI_WAIT_UNSPEC, REC_TCP },
	{ "tcp, handler", "tcp", FI_WAIT_CALLBACK, FI_COMP_WORKQUEUE, REC_TCP },
	{ "tcp, done in softirq", "tcp", FI_WAIT_DONE, REC_TCP },
	{ "tcp, done in worker", "tcp", FI_WAIT_DONE, FI_COMP_WORKQUEUE, REC_TCP },
	{ "tcp, under hooks", "tcp" REC_HOOKS, FI_WAIT_DONE, FI_COMP_WORKQUEUE, REC_TCP },
	{ "rxm over RoCE, polled", "verbs;ofi_rxm", FI_WAIT_NONE, REC_ROCE, REC_RXM },
	{ "rxm over RoCE, asleep", "verbs;ofi_rxm", FI_WAIT_UNSPEC, REC_ROCE, REC_RXM },
	{ "rxm over RoCE, done in softirq", "verbs;ofi_rxm", FI_WAIT_DONE, REC_ROCE, REC_RXM },
	{ "rxm over RoCE, done in worker", "verbs;ofi_rxm", FI_WAIT_DONE, FI_COMP_WORKQUEUE,
	  REC_ROCE, REC_RXM },
	{ "rxm over iWARP, polled", "verbs;ofi_rxm", FI_WAIT_NONE, REC_IWARP, REC_RXM },
	{ "rxm over iWARP, done in softirq", "verbs;ofi_rxm", FI_WAIT_DONE, REC_IWARP, REC_RXM },
	{ "rxm over loop, polled", "loop;ofi_rxm", FI_WAIT_NONE, REC_LOOP, REC_RXM },
	{ "rxm over loop, handler", "loop;ofi_rxm", FI_WAIT_CALLBACK, REC_LOOP, REC_RXM },
	{ "rxm over loop, done in worker", "loop;ofi_rxm", FI_WAIT_DONE, FI_COMP_WORKQUEUE,
	  REC_LOOP, REC_RXM },
	{ "rxm over tcp, done in softirq", "tcp;ofi_rxm", FI_WAIT_DONE, REC_RXM_TCP },
	{ "rxm over tcp, done in worker", "tcp;ofi_rxm", FI_WAIT_DONE, FI_COMP_WORKQUEUE,
	  REC_RXM_TCP },
};

KUNIT_ARRAY_PARAM_DESC(rec_param, rec_params, name);

/**
 * struct rec - A connection whose ends share a completion queue
 * @env: the connection, and its memory
 * @param: the case's
 * @cq: the queue
 * @cntr: a counter
 * @base: objects that are opened once
 * @over: operations that are over
 * @wait: for a change of @over
 * @done: what contexts point to
 * @lent: a region for single operations, of a's
 * @far: what peers access, REC_BYTES
 * @near: the parts of @segs, REC_BYTES
 * @segs: a list of REC_SEGS parts
 * @out: a long message, REC_OFFERED bytes; without connections alone, as @in
 * @in: where it goes
 * @posted: operations that will have a completion
 * @expected: errors that there are to be
 * @errors: errors among their completions
 * @unframed: callbacks in a worker that may wait for I/O
 */
struct rec {
	struct nth_env		env;
	const struct rec_param	*param;
	struct fid_cq		*cq;
	struct fid_cntr		*cntr;
	unsigned int		base;
	atomic_t		over;
	wait_queue_head_t	wait;
	struct fi_done		done;
	struct fid_mr		*lent;
	u8			*far;
	u8			*near;
	struct scatterlist	segs[REC_SEGS];
	u8			*out;
	u8			*in;
	int			posted;
	int			expected;
	atomic_t		errors;
	atomic_t		unframed;
};

/**
 * enum rec_rule - What a path must not do
 * @REC_ANYTHING: allocations are not looked at
 * @REC_NO_IO: allocate with flags that may write pages back
 * @REC_NOTHING: allocate
 */
enum rec_rule {
	REC_ANYTHING,
	REC_NO_IO,
	REC_NOTHING,
};

/* The rule, the path, and what has been found: how often, where first, and on which path */
static enum rec_rule rec_rule;
static const char *rec_path;
static unsigned int rec_found;
static char rec_where[KSYM_SYMBOL_LEN];
static const char *rec_found_on;
/* Guards what has been found, and @rec_symbol; any context allocates */
static DEFINE_RAW_SPINLOCK(rec_lock);
static char rec_symbol[KSYM_SYMBOL_LEN];

static bool rec_is_debugging(const char *symbol)
{
	return strstr(symbol, "debug_object") || strstr(symbol, "debug_dma") ||
	       strstr(symbol, "stack_depot") || strstr(symbol, "kmemleak");
}

static bool rec_is_ours(const char *symbol)
{
	return strstr(symbol, "[kofi]") || strstr(symbol, "[kofi_verbs]") ||
	       strstr(symbol, "[kofi_loop]") || strstr(symbol, "[kofi_tcp]") ||
	       strstr(symbol, "[kofi_rxm]") ||
	       strstr(symbol, "[kofi_hook_fault]") || strstr(symbol, "[kofi_hook_trace]");
}

/* Returns which of the frames is the first of ours, or @count */
static unsigned int rec_find(const unsigned long *frames, unsigned int count)
{
	unsigned int i, ours = count;

	for (i = 0; i < count; i++) {
		sprint_symbol(rec_symbol, frames[i]);
		if (rec_is_debugging(rec_symbol))
			return count;
		if (ours == count && rec_is_ours(rec_symbol))
			ours = i;
	}
	return ours;
}

static noinline void rec_look(void)
{
	unsigned long frames[REC_FRAMES], flags;
	unsigned int ours, count;

	count = stack_trace_save(frames, REC_FRAMES, 0);
	raw_spin_lock_irqsave(&rec_lock, flags);
	ours = rec_find(frames, count);
	if (ours < count && !rec_found++) {
		sprint_symbol(rec_where, frames[ours]);
		rec_found_on = rec_path;
	}
	raw_spin_unlock_irqrestore(&rec_lock, flags);
}

static void rec_allocates(gfp_t gfp)
{
	enum rec_rule rule = READ_ONCE(rec_rule);

	if (rule == REC_NOTHING || (rule == REC_NO_IO && in_task() && vt_alloc_may_write_back(gfp)))
		rec_look();
}

static int rec_suite_init(struct kunit_suite *suite)
{
	return vt_alloc_follow(rec_allocates);
}

static void rec_suite_exit(struct kunit_suite *suite)
{
	vt_alloc_unfollow();
}

static void rec_watch(enum rec_rule rule)
{
	WRITE_ONCE(rec_rule, rule);
}

/* A callback in a worker of ours or of ib_core */
static void rec_called(struct rec *rec)
{
	if (in_task() && current->flags & PF_WQ_WORKER && !(current->flags & PF_MEMALLOC_NOIO))
		atomic_inc(&rec->unframed);
}

static void rec_over(struct rec *rec, int count, bool error)
{
	atomic_add(error, &rec->errors);
	atomic_add(count, &rec->over);
	wake_up(&rec->wait);
}

static void rec_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct rec *rec = container_of(done, struct rec, done);

	rec_called(rec);
	rec_over(rec, 1, entry->err);
}

/* Returns what fi_cq_read() or fi_cq_sread() said */
static ssize_t rec_take(struct rec *rec, struct fid_cq *cq, int timeout)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entries[4];
	ssize_t ret;

	ret = timeout ? fi_cq_sread(cq, entries, 4, NULL, timeout) :
			fi_cq_read(cq, entries, 4);
	if (ret == -FI_EAVAIL)
		ret = fi_cq_readerr(cq, &error, 0);
	if (ret > 0)
		rec_over(rec, ret, error.err);
	return ret;
}

static void rec_handler(struct fid_cq *cq, void *context)
{
	rec_called(context);
	while (rec_take(context, cq, 0) > 0)
		;
}

static bool rec_all_over(struct rec *rec)
{
	return atomic_read(&rec->over) >= rec->posted;
}

static int rec_await(struct rec *rec)
{
	unsigned long until = jiffies + msecs_to_jiffies(NTH_PATIENCE_MS);

	while (!rec_all_over(rec)) {
		if (time_after(jiffies, until))
			return -ETIMEDOUT;
		if (rec->param->wait_obj == FI_WAIT_UNSPEC)
			rec_take(rec, rec->cq, NTH_PATIENCE_MS);
		else if (rec->param->wait_obj == FI_WAIT_NONE)
			rec_take(rec, rec->cq, 0);
		else
			wait_event_timeout(rec->wait, rec_all_over(rec), HZ);
		cond_resched();
	}
	return 0;
}

/* The receiver's half of a message; no two buffers in one cache line */
static int rec_expect(struct rec *rec)
{
	u8 *buf = rec->env.mem + PAGE_SIZE + REC_LEN * (rec->posted % 16);

	rec->posted++;
	return fi_recv(rec->env.b.ep, buf, REC_LEN, NULL, FI_ADDR_UNSPEC, &rec->done);
}

static u64 rec_target(const struct rec *rec)
{
	return fi_mr_addr(rec->env.mr);
}

/* A call of one buffer; a message has its receive */
static int rec_call(struct rec *rec, enum vt_op op)
{
	const struct vt_xfer x = {
		.buf		= rec->env.mem + (op == VT_READ ? 3 * PAGE_SIZE : 0),
		.len		= REC_LEN,
		.data		= 5,
		.addr		= rec_target(rec),
		.key		= fi_mr_key(rec->env.mr),
		.context	= &rec->done,
	};
	int ret = 0;

	if (op == VT_SENDDATA && !rec->env.info->domain_attr->cq_data_size)
		return 0;
	if (op < VT_RECV)
		ret = rec_expect(rec);
	if (ret)
		return ret;
	rec->posted += op != VT_INJECT;
	return vt_post_flags(rec->env.a.ep, op, &x, 0);
}

/* Two messages, one doorbell, a list of each kind */
static int rec_chain(struct rec *rec)
{
	struct fi_msg msg = {
		.type		= FI_BUF_BVEC,
		.iov_count	= 1,
		.context	= &rec->done,
	};
	struct scatterlist sg;
	struct bio_vec bvec;
	int ret;

	bvec_set_page(&bvec, virt_to_page(rec->env.mem), REC_LEN, 0);
	sg_init_one(&sg, rec->env.mem, REC_LEN);
	rec->posted += 2;
	ret = rec_expect(rec) ? : rec_expect(rec);
	if (ret)
		return ret;
	msg.msg_bvec = &bvec;
	ret = fi_sendmsg(rec->env.a.ep, &msg, FI_MORE | FI_COMPLETION);
	if (ret)
		return ret;
	msg.type = FI_BUF_SGL;
	msg.msg_sgl = &sg;
	return fi_sendmsg(rec->env.a.ep, &msg, FI_COMPLETION);
}

/* Per-operation registration, as a storage client does it */
static int rec_lend(struct rec *rec)
{
	struct kvec iov = { rec->env.mem + 5 * PAGE_SIZE, PAGE_SIZE };
	struct fi_mr_attr attr = {
		.mr_iov		= &iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ,
	};

	return fi_mr_enable(rec->lent) ? : rec_call(rec, VT_SEND) ? : rec_await(rec) ? :
	       (rec->posted++, fi_mr_disable(rec->lent, 0, &rec->done)) ? :
	       rec_await(rec) ? : fi_mr_refresh(rec->lent, &attr, 0);
}

static int rec_atomic(struct rec *rec)
{
	u8 *operand = rec->env.mem + 6 * PAGE_SIZE;

	if (!(rec->env.info->caps & FI_ATOMIC))
		return 0;
	rec->posted++;
	return fi_fetch_atomic(rec->env.a.ep, operand, 1, NULL, operand + REC_LEN, NULL, 0,
			       rec_target(rec), fi_mr_key(rec->env.mr), FI_UINT64, FI_SUM,
			       &rec->done);
}

static int rec_eq(struct rec *rec)
{
	struct fi_eq_err_entry error = {};
	struct fi_eq_cm_entry entry;
	u32 event;

	if (fi_eq_read(rec->env.eq, &event, &entry, sizeof(entry), 0) != -EAGAIN ||
	    fi_eq_sread(rec->env.eq, &event, &entry, sizeof(entry), 1, 0) != -EAGAIN ||
	    fi_eq_readerr(rec->env.eq, &error, 0) != -EAGAIN)
		return -EBUSY;
	return 0;
}

static int rec_cntr(struct rec *rec)
{
	u64 next = fi_cntr_read(rec->cntr) + 1;

	return fi_cntr_add(rec->cntr, 1) ? : fi_cntr_wait(rec->cntr, next, NTH_PATIENCE_MS);
}

/* A worker of verbs posts all batches but the first */
static int rec_writesgl(struct rec *rec)
{
	unsigned int noio = memalloc_noio_save();
	int ret;

	rec->posted++;
	ret = fi_writesgl(rec->env.a.ep, rec->segs, REC_SEGS, 0, REC_BYTES, 0, rec_target(rec),
			  fi_mr_key(rec->env.mr), &rec->done, 0);
	memalloc_noio_restore(noio);
	return ret;
}

static int rec_readsgl(struct rec *rec)
{
	unsigned int noio = memalloc_noio_save();
	int ret;

	rec->posted++;
	ret = fi_readsgl(rec->env.a.ep, rec->segs, REC_SEGS, 0, REC_BYTES, 0, rec_target(rec),
			 fi_mr_key(rec->env.mr), &rec->done, 0);
	memalloc_noio_restore(noio);
	return ret;
}

/* What is still posted when the connection ends comes back as an error */
static int rec_flush(struct rec *rec)
{
	enum rec_rule rule = rec_rule;
	unsigned int noio;
	int ret = rec_expect(rec);

	if (ret)
		return ret;
	rec->expected++;
	rec_watch(REC_NO_IO);
	noio = memalloc_noio_save();
	ret = fi_shutdown(rec->env.b.ep, 0);
	memalloc_noio_restore(noio);
	rec_watch(rule);
	return ret;
}

static int rec_connect(struct rec *rec);

/* As a client does whose connection has broken */
static int rec_again(struct rec *rec)
{
	unsigned int noio = memalloc_noio_save();
	struct fid_cq *cq;
	struct fid_eq *eq;
	int ret;

	ret = fi_ep_drain(rec->env.a.ep, NTH_PATIENCE_MS);
	nth_drop(&rec->env, rec->base);
	ret = ret ? : nth_cq_open(&rec->env, rec->param->wait_obj == FI_WAIT_NONE ?
					     FI_WAIT_NONE : FI_WAIT_UNSPEC, &cq);
	ret = ret ? : fi_eq_open(rec->env.fabric, NULL, &eq, NULL);
	if (!ret)
		nth_keep(&rec->env, &eq->fid);
	ret = ret ? : rec_connect(rec);
	memalloc_noio_restore(noio);
	return ret;
}

static int rec_rdm_expect(struct rec *rec, size_t len)
{
	rec->posted++;
	return fi_trecv(rec->env.b.ep, rec->in, len, NULL, FI_ADDR_UNSPEC, REC_TAG, 0, &rec->done);
}

static int rec_rdm_send(struct rec *rec, size_t len)
{
	rec->posted++;
	return fi_tsend(rec->env.a.ep, rec->out, len, NULL, 0, REC_TAG, &rec->done);
}

static int rec_tagged(struct rec *rec)
{
	return rec_rdm_expect(rec, REC_LEN) ? : rec_rdm_send(rec, REC_LEN);
}

static int rec_segments(struct rec *rec)
{
	return rec_rdm_expect(rec, REC_SEGMENTS) ? : rec_rdm_send(rec, REC_SEGMENTS);
}

/* Its memory is registered, and read by the peer */
static int rec_offered(struct rec *rec)
{
	return rec_rdm_expect(rec, REC_OFFERED) ? : rec_rdm_send(rec, REC_OFFERED);
}

/* The message is kept, or waits in its buffer */
static int rec_unexpected(struct rec *rec)
{
	return rec_rdm_send(rec, REC_LEN) ? : rec_await(rec) ? : rec_rdm_expect(rec, REC_LEN);
}

static int rec_cancel(struct rec *rec)
{
	int ret = rec_rdm_expect(rec, REC_LEN);

	rec->expected++;
	return ret ? : fi_cancel(&rec->env.b.ep->fid, &rec->done);
}

/* A peer that was in use has gone, and another one is there: the next message has a worker dial */
static int rec_meet_again(struct rec *rec)
{
	unsigned int noio = memalloc_noio_save();
	int ret;

	nth_drop(&rec->env, rec->base);
	ret = rec_connect(rec);
	memalloc_noio_restore(noio);
	return ret;
}

/**
 * struct rec_step - A path of Documentation/reclaim.rst
 * @name: of it
 * @step: takes it; NULL: it is a call
 * @rule: of the page
 * @op: the call
 */
struct rec_step {
	const char	*name;
	int		(*step)(struct rec *rec);
	enum rec_rule	rule;
	enum vt_op	op;
};

static const struct rec_step rec_steps[] = {
	{ "fi_send", NULL, REC_NOTHING, VT_SEND },
	{ "fi_inject", NULL, REC_NOTHING, VT_INJECT },
	{ "fi_senddata", NULL, REC_NOTHING, VT_SENDDATA },
	{ "fi_sendmsg", rec_chain, REC_NOTHING },
	{ "fi_write", NULL, REC_NOTHING, VT_WRITE },
	{ "fi_read", NULL, REC_NOTHING, VT_READ },
	{ "fi_fetch_atomic", rec_atomic, REC_NOTHING },
	{ "fi_mr_enable", rec_lend, REC_NOTHING },
	{ "fi_eq_read", rec_eq, REC_NOTHING },
	{ "fi_cntr_wait", rec_cntr, REC_NOTHING },
	{ "fi_writesgl", rec_writesgl, REC_NO_IO },
	{ "fi_readsgl", rec_readsgl, REC_NO_IO },
	{ "flush", rec_flush, REC_NOTHING },
	{ "connect again", rec_again, REC_NO_IO },
};

static const struct rec_step rec_rdm_steps[] = {
	{ "fi_send", NULL, REC_NOTHING, VT_SEND },
	{ "fi_inject", NULL, REC_NOTHING, VT_INJECT },
	{ "fi_senddata", NULL, REC_NOTHING, VT_SENDDATA },
	{ "fi_sendmsg", rec_chain, REC_NOTHING },
	{ "fi_tsend", rec_tagged, REC_NOTHING },
	{ "fi_tsend, segments", rec_segments, REC_NOTHING },
	{ "fi_tsend, offered", rec_offered, REC_NO_IO },
	{ "fi_tsend, unexpected", rec_unexpected, REC_NO_IO },
	{ "fi_cancel", rec_cancel, REC_NOTHING },
	{ "fi_write", NULL, REC_NOTHING, VT_WRITE },
	{ "fi_read", NULL, REC_NOTHING, VT_READ },
	{ "fi_fetch_atomic", rec_atomic, REC_NOTHING },
	{ "fi_eq_read", rec_eq, REC_NOTHING },
	{ "fi_cntr_wait", rec_cntr, REC_NOTHING },
	{ "meet again", rec_meet_again, REC_NO_IO },
};

static size_t rec_nr_steps(const struct rec *rec)
{
	return rec->param->rdm ? ARRAY_SIZE(rec_rdm_steps) : ARRAY_SIZE(rec_steps);
}

/* Returns the step that failed, or NULL */
static const char *rec_run(struct rec *rec, int *err)
{
	const struct rec_step *step, *steps = rec->param->rdm ? rec_rdm_steps : rec_steps;
	size_t i;

	for (i = 0; i < REC_ROUNDS * rec_nr_steps(rec); i++) {
		step = &steps[i % rec_nr_steps(rec)];
		WRITE_ONCE(rec_path, step->name);
		rec_watch(rec->param->sockets ? REC_NO_IO : step->rule);
		*err = step->step ? step->step(rec) : rec_call(rec, step->op);
		*err = *err ? : rec_await(rec);
		rec_watch(REC_ANYTHING);
		if (*err)
			return step->name;
	}
	return NULL;
}

static int rec_cq_open(struct rec *rec)
{
	struct fi_cq_attr attr = {
		.size		= 4 * NTH_DEPTH,
		.format		= FI_CQ_FORMAT_DATA,
		.wait_obj	= rec->param->wait_obj,
		.comp_ctx	= rec->param->comp_ctx,
	};
	int ret;

	if (attr.wait_obj == FI_WAIT_CALLBACK)
		attr.handler = rec_handler;
	ret = fi_cq_open(rec->env.domain, &attr, &rec->cq, rec);
	if (!ret)
		nth_keep(&rec->env, &rec->cq->fid);
	return ret;
}

static int rec_lent_open(struct rec *rec)
{
	struct kvec iov = { rec->env.mem + 4 * PAGE_SIZE, PAGE_SIZE };
	struct fi_mr_attr attr = {
		.mr_iov		= &iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ,
		.page_limit	= 2,
	};
	int ret;

	ret = fi_mr_regattr(rec->env.domain, &attr, FI_MR_ENDPOINT, &rec->lent);
	if (ret)
		return ret;
	nth_keep(&rec->env, &rec->lent->fid);
	return fi_mr_bind(rec->lent, &rec->env.a.ep->fid, 0);
}

static int rec_rdm_open(struct rec *rec, struct nth_end *end)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE };
	struct nth_env *env = &rec->env;
	int ret = fi_av_open(env->domain, &attr, &end->av, NULL);

	if (ret)
		return ret;
	nth_keep(env, &end->av->fid);
	return nth_ep_open(env, end, env->info) ? :
	       tb_end_bind(&(struct tb_end) { .ep = end->ep, .av = end->av, .tx = rec->cq }) ? :
	       fi_enable(end->ep);
}

/* The first message makes the connection below */
static int rec_rdm_meet(struct rec *rec)
{
	struct nth_env *env = &rec->env;
	fi_addr_t addr;

	return rec_rdm_open(rec, &env->a) ? : rec_rdm_open(rec, &env->b) ? :
	       tb_know(env->a.av, env->b.ep, &addr) ? : rec_tagged(rec) ? : rec_await(rec);
}

static int rec_connect(struct rec *rec)
{
	struct nth_env *env = &rec->env;

	if (rec->param->rdm)
		return rec_rdm_meet(rec);
	env->a.cq = rec->cq;
	env->b.cq = rec->cq;
	return nth_end_open(env, &env->a, env->info, REC_RW_OPS) ? : nth_request(env) ? :
	       nth_join(env) ? : rec_lent_open(rec);
}

static int rec_open(struct rec *rec)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct nth_env *env = &rec->env;
	int i, ret = rec_cq_open(rec);

	if (ret)
		return ret;
	ret = fi_cntr_open(env->domain, &attr, &rec->cntr, NULL);
	if (ret)
		return ret;
	nth_keep(env, &rec->cntr->fid);
	ret = fi_mr_reg(env->domain, rec->far, REC_BYTES, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0,
			&env->mr, NULL);
	if (ret)
		return ret;
	nth_keep(env, &env->mr->fid);
	sg_init_table(rec->segs, REC_SEGS);
	for (i = 0; i < REC_SEGS; i++)
		sg_set_buf(&rec->segs[i], rec->near + i * REC_LEN, REC_LEN);
	rec->base = env->nr_fids;
	return rec_connect(rec);
}

static struct rec *rec_new(struct kunit *test, const struct rec_param *param)
{
	struct rec *rec = vt_buf(test, sizeof(*rec));

	rec->far = vt_buf(test, REC_BYTES);
	rec->near = vt_buf(test, REC_BYTES);
	if (param->rdm) {
		rec->out = vt_buf(test, REC_OFFERED);
		rec->in = vt_buf(test, REC_OFFERED);
	}
	rec->param = param;
	rec->done.done = rec_done;
	init_waitqueue_head(&rec->wait);
	rec_found = 0;
	return rec;
}

static int rec_env_open(struct rec *rec, struct kunit *test)
{
	rec->env.caps = rec->param->caps | (rec->param->rdm ? FI_TAGGED : 0);
	rec->env.connless = rec->param->rdm;
	return nth_env_open(&rec->env, test, rec->param->prov,
			    rec->param->hca ? &rec->param->attr : NULL);
}

static void what_writeback_calls_waits_for_no_memory(struct kunit *test)
{
	const struct rec_param *param = test->param_value;
	struct rec *rec = rec_new(test, param);
	const char *failed;
	int err, ret;

	ret = rec_env_open(rec, test) ? : rec_open(rec);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (!ret) {
		failed = rec_run(rec, &err);
		KUNIT_EXPECT_NULL_MSG(test, failed, "%s says %d", failed, err);
		KUNIT_EXPECT_EQ_MSG(test, rec_found, 0,
				    "allocations, the first in %s, on the path %s", rec_where,
				    rec_found_on);
		KUNIT_EXPECT_EQ(test, atomic_read(&rec->errors), rec->expected);
		KUNIT_EXPECT_EQ(test, atomic_read(&rec->unframed), 0);
		kunit_info(test, "%s: %d operations on %zu paths\n",
			   param->name, rec->posted, rec_nr_steps(rec));
	}
	nth_env_close(&rec->env);
}

/* Or the case above would prove nothing */
static void what_allocates_is_seen(struct kunit *test)
{
	struct rec *rec = rec_new(test, test->param_value);
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_cntr *cntr;
	enum rec_rule rule;
	int ret;

	ret = rec_env_open(rec, test);
	KUNIT_EXPECT_EQ(test, ret, 0);
	for (rule = REC_NO_IO; !ret && rule <= REC_NOTHING; rule++) {
		rec_found = 0;
		rec_watch(rule);
		ret = fi_cntr_open(rec->env.domain, &attr, &cntr, NULL);
		rec_watch(REC_ANYTHING);
		KUNIT_EXPECT_EQ(test, ret, 0);
		KUNIT_EXPECT_GT(test, rec_found, 0);
		if (!ret)
			KUNIT_EXPECT_EQ(test, fi_close(&cntr->fid), 0);
	}
	nth_env_close(&rec->env);
}

/* A workqueue that may be needed to free memory has a rescuer */
static void every_workqueue_has_a_rescuer(struct kunit *test)
{
	struct task_struct *task;
	unsigned int rescuers = 0;

	rcu_read_lock();
	for_each_process(task)
		rescuers += strstarts(task->comm, "kworker/R-kofi_");
	rcu_read_unlock();
	/*
	 * kofi_comp, kofi_poll, kofi_eq, kofi_ready, kofi_loop, kofi_tcp, kofi_verbs,
	 * kofi_verbs_drain, kofi_verbs_save, kofi_rxm, kofi_rxm_gone, kofi_hook_fault
	 */
	KUNIT_EXPECT_EQ(test, rescuers, 12);
}

/**
 * struct rec_heard - What the handler of an event queue has seen
 * @noio: it must not wait for I/O when it allocates
 * @called: it has been called
 */
struct rec_heard {
	bool			noio;
	struct completion	called;
};

static void rec_event(struct fid_eq *eq, void *context)
{
	struct rec_heard *heard = context;

	heard->noio = current->flags & PF_MEMALLOC_NOIO;
	complete(&heard->called);
}

/* It is where a client connects again */
static void handlers_of_events_do_not_wait_for_io(struct kunit *test)
{
	struct rec *rec = rec_new(test, test->param_value);
	struct fi_eq_attr attr = {
		.flags		= FI_WRITE,
		.wait_obj	= FI_WAIT_CALLBACK,
		.handler	= rec_event,
	};
	struct fi_eq_entry entry = {};
	struct rec_heard heard = {};
	struct fid_eq *eq;
	int ret;

	init_completion(&heard.called);
	ret = rec_env_open(rec, test) ? :
	      fi_eq_open(rec->env.fabric, &attr, &eq, &heard);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (!ret) {
		nth_keep(&rec->env, &eq->fid);
		KUNIT_EXPECT_EQ(test, fi_eq_write(eq, FI_NOTIFY, &entry, sizeof(entry), 0),
				(ssize_t)sizeof(entry));
		wait_for_completion(&heard.called);
		KUNIT_EXPECT_TRUE(test, heard.noio);
	}
	nth_env_close(&rec->env);
}

static struct kunit_case rec_cases[] = {
	KUNIT_CASE_PARAM(what_writeback_calls_waits_for_no_memory, rec_param_gen_params),
	KUNIT_CASE_PARAM(what_allocates_is_seen, rec_param_gen_params),
	KUNIT_CASE(every_workqueue_has_a_rescuer),
	KUNIT_CASE_PARAM(handlers_of_events_do_not_wait_for_io, rec_param_gen_params),
	{}
};

struct kunit_suite kofi_reclaim_suite = {
	.name		= "kofi_reclaim",
	.suite_init	= rec_suite_init,
	.suite_exit	= rec_suite_exit,
	.test_cases	= rec_cases,
};
