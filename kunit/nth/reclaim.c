// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The data path allocates nothing, so that a client in the way of writeback makes
 * progress when there is no memory (Documentation/reclaim.rst).
 *
 * The kernel's tracepoints of allocation are followed in all contexts, done functions
 * in softirq and workers included: whatever is allocated below a function of kofi.ko or
 * kofi_verbs.ko counts.  The fake HCA does not allocate where it takes work requests;
 * what the kernel's own debugging allocates for itself is left out.
 */
#include <linux/bvec.h>
#include <linux/completion.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <rdma/fi_rma.h>
#include "nth.h"

#define REC_FRAMES	48
#define REC_LEN		64
#define REC_ROUNDS	3

/**
 * struct rec_param - Kind of device and of completion queue
 * @name: of both
 * @attr: the device
 * @wait_obj: the queue
 * @comp_ctx: the same
 */
struct rec_param {
	const char		*name;
	struct fakehca_attr	attr;
	enum fi_wait_obj	wait_obj;
	enum fi_comp_ctx	comp_ctx;
};

static const struct rec_param rec_params[] = {
	{ "RoCE, polled", { .roce = true }, FI_WAIT_NONE },
	{ "RoCE, asleep", { .roce = true }, FI_WAIT_UNSPEC },
	{ "RoCE, handler", { .roce = true }, FI_WAIT_CALLBACK },
	{ "RoCE, done in softirq", { .roce = true }, FI_WAIT_DONE },
	{ "RoCE, done in worker", { .roce = true }, FI_WAIT_DONE,
	  FI_COMP_WORKQUEUE },
	{ "iWARP, polled", { }, FI_WAIT_NONE },
	{ "iWARP, done in softirq", { }, FI_WAIT_DONE },
};

KUNIT_ARRAY_PARAM_DESC(rec_param, rec_params, name);

/**
 * struct rec - A connection whose ends share a completion queue
 * @env: the connection, and its memory
 * @param: the case's
 * @cq: the queue
 * @over: operations that are over
 * @wait: for a change of @over
 * @done: what contexts point to
 * @lent: a region for single operations, of a's
 * @posted: operations that will have a completion
 * @errors: errors among their completions
 */
struct rec {
	struct nth_env		env;
	const struct rec_param	*param;
	struct fid_cq		*cq;
	atomic_t		over;
	wait_queue_head_t	wait;
	struct fi_done		done;
	struct fid_mr		*lent;
	int			posted;
	atomic_t		errors;
};

/* Whether allocations are looked at, and what has been found */
static bool rec_watching;
static unsigned int rec_found;
static char rec_where[KSYM_SYMBOL_LEN];
/* Guards all of them but the first, and @rec_symbol; any context allocates */
static DEFINE_RAW_SPINLOCK(rec_lock);
static char rec_symbol[KSYM_SYMBOL_LEN];

static bool rec_is_debugging(const char *symbol)
{
	return strstr(symbol, "debug_object") || strstr(symbol, "debug_dma") ||
	       strstr(symbol, "stack_depot") || strstr(symbol, "kmemleak");
}

static bool rec_is_ours(const char *symbol)
{
	return strstr(symbol, "[kofi]") || strstr(symbol, "[kofi_verbs]");
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
	if (ours < count && !rec_found++)
		sprint_symbol(rec_where, frames[ours]);
	raw_spin_unlock_irqrestore(&rec_lock, flags);
}

/* Serves all three tracepoints, as it looks at no argument */
static void rec_allocates(void *unused)
{
	if (READ_ONCE(rec_watching))
		rec_look();
}

static struct nth_probe rec_probes[] = {
	{ "kmalloc", rec_allocates },
	{ "kmem_cache_alloc", rec_allocates },
	{ "mm_page_alloc", rec_allocates },
};

static int rec_suite_init(struct kunit_suite *suite)
{
	return nth_probe_all(rec_probes, ARRAY_SIZE(rec_probes));
}

static void rec_suite_exit(struct kunit_suite *suite)
{
	nth_unprobe_all(rec_probes, ARRAY_SIZE(rec_probes));
}

static void rec_watch(bool on)
{
	WRITE_ONCE(rec_watching, on);
}

static void rec_over(struct rec *rec, int count, bool error)
{
	atomic_add(error, &rec->errors);
	atomic_add(count, &rec->over);
	wake_up(&rec->wait);
}

static void rec_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	rec_over(container_of(done, struct rec, done), 1, entry->err);
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
	return fi_recv(rec->env.b.ep, buf, REC_LEN, NULL, 0, &rec->done);
}

static int rec_send(struct rec *rec)
{
	rec->posted++;
	return rec_expect(rec) ? :
	       fi_send(rec->env.a.ep, rec->env.mem, REC_LEN, NULL, 0,
		       &rec->done);
}

static int rec_inject(struct rec *rec)
{
	return rec_expect(rec) ? :
	       fi_inject(rec->env.a.ep, rec->env.mem, REC_LEN, 0);
}

static int rec_senddata(struct rec *rec)
{
	if (!rec->param->attr.roce)
		return 0;
	rec->posted++;
	return rec_expect(rec) ? :
	       fi_senddata(rec->env.a.ep, rec->env.mem, REC_LEN, NULL, 5, 0,
			   &rec->done);
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

static u64 rec_target(const struct rec *rec)
{
	return (uintptr_t)rec->env.mem + 2 * PAGE_SIZE;
}

static int rec_write(struct rec *rec)
{
	rec->posted++;
	return fi_write(rec->env.a.ep, rec->env.mem, REC_LEN, NULL, 0,
			rec_target(rec), fi_mr_key(rec->env.mr), &rec->done);
}

static int rec_read(struct rec *rec)
{
	rec->posted++;
	return fi_read(rec->env.a.ep, rec->env.mem + 3 * PAGE_SIZE, REC_LEN,
		       NULL, 0, rec_target(rec), fi_mr_key(rec->env.mr),
		       &rec->done);
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

	return fi_mr_enable(rec->lent) ? : rec_send(rec) ? : rec_await(rec) ? :
	       (rec->posted++, fi_mr_disable(rec->lent, 0, &rec->done)) ? :
	       rec_await(rec) ? : fi_mr_refresh(rec->lent, &attr, 0);
}

/* What is still posted when the connection ends comes back as an error */
static int rec_flush(struct rec *rec)
{
	int ret = rec_expect(rec);

	rec_watch(false);
	ret = ret ? : fi_shutdown(rec->env.b.ep, 0);
	rec_watch(true);
	return ret;
}

static const struct rec_step {
	const char	*name;
	int		(*step)(struct rec *rec);
} rec_steps[] = {
	{ "fi_send", rec_send },
	{ "fi_inject", rec_inject },
	{ "fi_senddata", rec_senddata },
	{ "fi_sendmsg", rec_chain },
	{ "fi_write", rec_write },
	{ "fi_read", rec_read },
	{ "fi_mr_enable", rec_lend },
};

/* Returns the step that failed, or NULL */
static const char *rec_run(struct rec *rec, int *err)
{
	size_t i;

	for (i = 0; i < REC_ROUNDS * ARRAY_SIZE(rec_steps); i++) {
		const struct rec_step *step = &rec_steps[i %
							 ARRAY_SIZE(rec_steps)];

		*err = step->step(rec) ? : rec_await(rec);
		if (*err)
			return step->name;
	}
	*err = rec_flush(rec) ? : rec_await(rec);
	return *err ? "flush" : NULL;
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

static int rec_open(struct rec *rec)
{
	struct nth_env *env = &rec->env;
	int ret = rec_cq_open(rec);

	if (ret)
		return ret;
	env->a.cq = rec->cq;
	env->b.cq = rec->cq;
	ret = nth_end_open(env, &env->a, env->info, 0) ? : nth_request(env) ? :
	      nth_join(env);
	if (ret)
		return ret;
	ret = fi_mr_reg(env->domain, (void *)(uintptr_t)rec_target(rec), PAGE_SIZE,
			FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &env->mr,
			NULL);
	if (ret)
		return ret;
	nth_keep(env, &env->mr->fid);
	return rec_lent_open(rec);
}

static struct rec *rec_new(struct kunit *test, const struct rec_param *param)
{
	struct rec *rec = kunit_kzalloc(test, sizeof(*rec), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rec);
	rec->param = param;
	rec->done.done = rec_done;
	init_waitqueue_head(&rec->wait);
	rec_found = 0;
	return rec;
}

static void the_data_path_allocates_nothing(struct kunit *test)
{
	const struct rec_param *param = test->param_value;
	struct rec *rec = rec_new(test, param);
	const char *failed;
	int err, ret;

	ret = nth_env_open(&rec->env, test, "verbs", &param->attr) ? : rec_open(rec);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (!ret) {
		rec_watch(true);
		failed = rec_run(rec, &err);
		rec_watch(false);
		KUNIT_EXPECT_NULL_MSG(test, failed, "%s says %d", failed, err);
		KUNIT_EXPECT_EQ_MSG(test, rec_found, 0,
				    "allocations, the first in %s", rec_where);
		/* The one at the end */
		KUNIT_EXPECT_EQ(test, atomic_read(&rec->errors), 1);
		kunit_info(test, "%s: %d operations without an allocation\n",
			   param->name, rec->posted);
	}
	nth_env_close(&rec->env);
}

/* Or the case above would prove nothing */
static void what_allocates_is_seen(struct kunit *test)
{
	struct rec *rec = rec_new(test, &rec_params[0]);
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_cntr *cntr;
	int ret;

	ret = nth_env_open(&rec->env, test, "verbs", &rec->param->attr);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (ret)
		goto close;
	rec_watch(true);
	ret = fi_cntr_open(rec->env.domain, &attr, &cntr, NULL);
	rec_watch(false);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_GT(test, rec_found, 0);
	if (!ret)
		KUNIT_EXPECT_EQ(test, fi_close(&cntr->fid), 0);
close:
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
	 * kofi_comp, kofi_eq, kofi_ready, kofi_loop, kofi_tcp, kofi_verbs, kofi_verbs_drain,
	 * kofi_verbs_save, kofi_hook_fault
	 */
	KUNIT_EXPECT_EQ(test, rescuers, 9);
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
	struct rec *rec = rec_new(test, &rec_params[0]);
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
	ret = nth_env_open(&rec->env, test, "verbs", &rec->param->attr) ? :
	      fi_eq_open(rec->env.fabric, &attr, &eq, &heard);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (!ret) {
		nth_keep(&rec->env, &eq->fid);
		KUNIT_EXPECT_EQ(test, fi_eq_write(eq, FI_NOTIFY, &entry,
						  sizeof(entry), 0),
				(ssize_t)sizeof(entry));
		wait_for_completion(&heard.called);
		KUNIT_EXPECT_TRUE(test, heard.noio);
	}
	nth_env_close(&rec->env);
}

static struct kunit_case rec_cases[] = {
	KUNIT_CASE_PARAM(the_data_path_allocates_nothing, rec_param_gen_params),
	KUNIT_CASE(what_allocates_is_seen),
	KUNIT_CASE(every_workqueue_has_a_rescuer),
	KUNIT_CASE(handlers_of_events_do_not_wait_for_io),
	{}
};

struct kunit_suite kofi_reclaim_suite = {
	.name		= "kofi_reclaim",
	.suite_init	= rec_suite_init,
	.suite_exit	= rec_suite_exit,
	.test_cases	= rec_cases,
};
