// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A world of objects, the threads in it, and the book-keeping.
 */
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/fabric.h>
#include "stress.h"

#define ST_PORT		7471

/**
 * struct st_rule - A call
 * @name: of it
 * @errnos: what it may say beside 0 and more
 */
struct st_rule {
	const char	*name;
	int		errnos[ST_ERRNOS];
};

/*
 * Whatever the others do meanwhile: an endpoint may be in any state, its peer may
 * have gone, and so may the listener.
 */
static const struct st_rule st_rules[ST_CALLS] = {
	[ST_GETINFO]	= { "fi_getinfo", { -ENODATA } },
	[ST_FABRIC]	= { "fi_fabric", { -ENODEV } },
	[ST_DOMAIN]	= { "fi_domain" },
	[ST_EQ_OPEN]	= { "fi_eq_open" },
	[ST_CQ_OPEN]	= { "fi_cq_open" },
	[ST_CNTR_OPEN]	= { "fi_cntr_open" },
	[ST_PASSIVE_EP]	= { "fi_passive_ep" },
	[ST_ENDPOINT]	= { "fi_endpoint", { -EINVAL, -ECONNABORTED } },
	[ST_BIND]	= { "bind", { -EINVAL, -FI_EOPBADSTATE } },
	[ST_ENABLE]	= { "fi_enable", { -FI_EOPBADSTATE, -ECONNABORTED,
					   -ENODEV } },
	[ST_OPTIONS]	= { "fi_getopt", { -ENOPROTOOPT } },
	[ST_LISTEN]	= { "fi_listen" },
	[ST_CONNECT]	= { "fi_connect", { -FI_EOPBADSTATE, -EALREADY,
					    -EISCONN, -ESHUTDOWN,
					    -ECONNREFUSED } },
	[ST_ACCEPT]	= { "fi_accept", { -FI_EOPBADSTATE, -EALREADY, -EISCONN,
					   -ECONNABORTED, -ESHUTDOWN } },
	[ST_REJECT]	= { "fi_reject", { -EINVAL, -ECONNABORTED } },
	[ST_SHUTDOWN]	= { "fi_shutdown", { -ENOTCONN } },
	[ST_NAME]	= { "fi_getname", { -ENOTCONN } },
	[ST_MR_REG]	= { "fi_mr_reg" },
	[ST_MR_BIND]	= { "fi_mr_bind" },
	[ST_MR_ENABLE]	= { "fi_mr_enable", { -EAGAIN, -FI_EOPBADSTATE,
					      -ENOTCONN, -ESHUTDOWN } },
	[ST_MR_DISABLE]	= { "fi_mr_disable", { -EAGAIN, -FI_EOPBADSTATE,
					       -ENOTCONN, -ESHUTDOWN } },
	[ST_MR_CLOSE]	= { "fi_close, region", { -EBUSY } },
	[ST_MR_REFRESH]	= { "fi_mr_refresh", { -EAGAIN, -FI_EOPBADSTATE } },
	[ST_SRX]	= { "fi_srx_context, bind, limit" },
	[ST_SRX_CLOSE]	= { "fi_close, shared receives", { -EBUSY } },
	[ST_SEND]	= { "fi_send", { -EAGAIN, -ENOTCONN, -ESHUTDOWN,
					 -FI_EOPBADSTATE } },
	[ST_INJECT]	= { "fi_inject", { -EAGAIN, -ENOTCONN, -ESHUTDOWN,
					   -FI_EOPBADSTATE } },
	[ST_RECV]	= { "fi_recv", { -EAGAIN, -ESHUTDOWN,
					 -FI_EOPBADSTATE } },
	[ST_WRITE]	= { "fi_write", { -EAGAIN, -ENOTCONN, -ESHUTDOWN,
					  -FI_EOPBADSTATE } },
	[ST_READ]	= { "fi_read", { -EAGAIN, -ENOTCONN, -ESHUTDOWN,
					 -FI_EOPBADSTATE } },
	[ST_MOVE]	= { "fi_readsgl, fi_writesgl",
			    { -EAGAIN, -ENOTCONN, -ESHUTDOWN,
			      -FI_EOPBADSTATE } },
	[ST_ATOMIC]	= { "fi_*_atomic", { -EAGAIN, -ENOTCONN, -ESHUTDOWN,
					     -FI_EOPBADSTATE } },
	[ST_CQ_READ]	= { "fi_cq_read", { -EAGAIN, -FI_EAVAIL } },
	[ST_CQ_SREAD]	= { "fi_cq_sread", { -EAGAIN, -FI_EAVAIL } },
	[ST_CQ_READERR]	= { "fi_cq_readerr", { -EAGAIN } },
	[ST_EQ_READ]	= { "fi_eq_read", { -EAGAIN, -FI_EAVAIL } },
	[ST_EQ_WRITE]	= { "fi_eq_write", { -EAGAIN } },
	[ST_CNTR]	= { "fi_cntr_*", { -ETIMEDOUT } },
	[ST_CLOSE]	= { "fi_close" },
	[ST_CLOSE_PARENT] = { "fi_close, parent", { -EBUSY } },
	[ST_AV]		= { "fi_av_open" },
	[ST_AV_INSERT]	= { "fi_av_insert" },
	[ST_AV_REMOVE]	= { "fi_av_remove" },
	[ST_RDM_SEND]	= { "fi_sendmsg, no connection", { -EAGAIN } },
	[ST_RDM_TSEND]	= { "fi_tsendmsg", { -EAGAIN } },
	[ST_RDM_INJECT]	= { "fi_inject, fi_tinject, no connection", { -EAGAIN } },
	[ST_RDM_RECV]	= { "fi_recvmsg, no connection", { -EAGAIN } },
	[ST_RDM_TRECV]	= { "fi_trecvmsg", { -EAGAIN } },
	[ST_RDM_PEEK]	= { "fi_trecvmsg, peek", { -EAGAIN } },
	/* The sender has gone before all of the message had come */
	[ST_RDM_CLAIM]	= { "fi_trecvmsg, claimed", { -EAGAIN, -EINVAL } },
	[ST_RDM_RMA]	= { "fi_writemsg, fi_readmsg, no connection", { -EAGAIN } },
	[ST_RDM_ATOMIC]	= { "fi_*_atomic, no connection", { -EAGAIN } },
	[ST_CANCEL]	= { "fi_cancel", { -ENOENT } },
};

const char *st_call_name(enum st_call call)
{
	return st_rules[call].name;
}

static bool st_may_say(enum st_call call, long ret)
{
	int i;

	/* As long as it has a child, this must not work */
	if (ret >= 0)
		return call != ST_CLOSE_PARENT;
	for (i = 0; i < ST_ERRNOS; i++)
		if (ret == st_rules[call].errnos[i])
			return true;
	return false;
}

long st_said(struct st_world *world, enum st_call call, long ret)
{
	struct st_figures *figures = world->figures;

	atomic64_inc(&figures->calls[call].made);
	if (ret >= 0)
		atomic64_inc(&figures->calls[call].done);
	if (!st_may_say(call, ret) && atomic_inc_return(&figures->wrong) == 1) {
		figures->wrong_call = call;
		figures->wrong_errno = ret;
	}
	return ret;
}

u32 st_below(struct st_thread *thread, u32 ceil)
{
	return prandom_u32_state(&thread->rnd) % ceil;
}

/* The mock provider draws no ports, and has nothing to ask for */
static int st_set_port(struct fi_info *info)
{
	const struct sockaddr_in sin = {
		.sin_family	= AF_INET,
		.sin_port	= htons(ST_PORT),
	};

	kfree(info->src_addr);
	info->src_addr = kmemdup(&sin, sizeof(sin), GFP_KERNEL);
	info->src_addrlen = sizeof(sin);
	return info->src_addr ? 0 : -ENOMEM;
}

int st_getinfo(struct st_world *world, enum fi_ep_type type, u64 caps)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	if (!hints)
		return -ENOMEM;
	hints->caps = caps;
	hints->ep_attr->type = type;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->fabric_attr->prov_name = kstrdup(world->prov_name, GFP_KERNEL);
	if (world->rma || world->rdm)
		hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR |
					      FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	ret = st_said(world, ST_GETINFO, fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
						    NULL, 0, 0, hints, &world->info));
	fi_freeinfo(hints);
	return ret;
}

static int st_find(struct st_world *world)
{
	int ret;

	if (!world->rma)
		return st_getinfo(world, FI_EP_MSG, FI_MSG) ? : st_set_port(world->info);
	ret = st_getinfo(world, FI_EP_MSG, FI_MSG | FI_RMA | FI_ATOMIC);
	world->atomic = !ret;
	if (ret)
		ret = st_getinfo(world, FI_EP_MSG, FI_MSG | FI_RMA);
	if (ret)
		return ret;
	world->info->tx_attr->size = ST_DEPTH;
	world->info->rx_attr->size = ST_DEPTH;
	world->srx_info = fi_dupinfo(world->info);
	if (!world->srx_info)
		return -ENOMEM;
	world->srx_info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	return 0;
}

static int st_op_alloc(struct st_op *op, struct st_ep *ep)
{
	u32 i, piece = ST_LEN / ST_PIECES, at = 0;

	op->ep = ep;
	op->buf = kzalloc(ep->world->len, GFP_KERNEL);
	if (!op->buf)
		return -ENOMEM;
	sg_init_table(op->sgl, ST_PIECES);
	for (i = 0; i < ST_PIECES; i++, at += piece)
		sg_set_buf(&op->sgl[i], op->buf + at, i + 1 < ST_PIECES ? piece : ST_LEN - at);
	return 0;
}

static int st_ep_alloc(struct st_world *world, struct st_ep *ep)
{
	unsigned int i;
	int ret = 0;

	init_rwsem(&ep->lock);
	init_rwsem(&ep->name_lock);
	mutex_init(&ep->mr_lock);
	ep->world = world;
	ep->addr = FI_ADDR_NOTAVAIL;
	ep->scratch = kzalloc(world->len, GFP_KERNEL);
	ep->mr_mem = (u8 *)get_zeroed_page(GFP_KERNEL);
	if (!ep->scratch || !ep->mr_mem)
		return -ENOMEM;
	for (i = 0; i < ST_ALL_OPS && !ret; i++)
		ret = st_op_alloc(&ep->ops[i], ep);
	for (i = ST_OPS; i < ST_ALL_OPS; i++)
		ep->ops[i].multi = true;
	return ret;
}

static void st_ep_free(struct st_ep *ep)
{
	unsigned int i;

	for (i = 0; i < ST_ALL_OPS; i++)
		kfree(ep->ops[i].buf);
	free_page((unsigned long)ep->mr_mem);
	kfree(ep->scratch);
}

static int st_alloc(struct st_world *world)
{
	unsigned int i;
	int ret = st_ep_alloc(world, &world->srx);

	for (i = 0; i < ST_EPS && !ret; i++)
		ret = st_ep_alloc(world, &world->eps[i]);
	for (i = 0; i < ST_MRS && !ret; i++) {
		init_rwsem(&world->mrs[i].lock);
		world->mrs[i].mem = (u8 *)get_zeroed_page(GFP_KERNEL);
		if (!world->mrs[i].mem)
			ret = -ENOMEM;
	}
	init_rwsem(&world->pep_lock);
	return ret;
}

static void st_free(struct st_world *world)
{
	unsigned int i;

	st_ep_free(&world->srx);
	for (i = 0; i < ST_EPS; i++)
		st_ep_free(&world->eps[i]);
	for (i = 0; i < ST_MRS; i++)
		free_page((unsigned long)world->mrs[i].mem);
}

int st_world_open(struct st_world *world)
{
	struct fi_cntr_attr cntr_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_eq_attr eq_attr = {
		.flags		= FI_WRITE,
		.wait_obj	= FI_WAIT_UNSPEC,
	};
	int ret;

	world->len = world->rdm ? ST_RDM_LEN : ST_LEN;
	ret = st_alloc(world);
	if (!ret)
		ret = world->rdm ? st_rdm_find(world, world->rma) : st_find(world);
	ret = ret ? : st_said(world, ST_FABRIC,
			      fi_fabric(world->info->fabric_attr, &world->fabric, NULL));
	ret = ret ? : st_said(world, ST_EQ_OPEN,
			      fi_eq_open(world->fabric, &eq_attr, &world->eq, NULL));
	ret = ret ? : st_said(world, ST_DOMAIN,
			      fi_domain(world->fabric, world->info, &world->domain, NULL));
	ret = ret ? : st_said(world, ST_CNTR_OPEN,
			      fi_cntr_open(world->domain, &cntr_attr, &world->cntr, NULL));
	ret = ret ? : st_cqs_open(world);
	if (ret || world->rdm)
		return ret ? : st_rdm_open(world);
	ret = st_srx_open(world);
	return ret ? : st_pep_open(world);
}

static void st_close(struct st_world *world, struct fid *fid)
{
	KUNIT_EXPECT_EQ(world->test, fi_close(fid), 0);
}

static void st_drop_events(struct st_world *world)
{
	struct fi_eq_err_entry error = {};
	union {
		struct fi_eq_cm_entry	cm;
		struct fi_eq_entry	entry;
		u8			raw[64];
	} event;
	ssize_t ret;
	u32 type;

	while ((ret = fi_eq_read(world->eq, &type, &event, sizeof(event), 0)) !=
	       -EAGAIN) {
		if (ret == -FI_EAVAIL)
			fi_eq_readerr(world->eq, &error, 0);
		else if (ret > 0 && type == FI_CONNREQ)
			fi_freeinfo(event.cm.info);
		else if (ret < 0)
			break;
	}
}

void st_world_close(struct st_world *world)
{
	unsigned int i;

	st_rdm_close(world);
	for (i = 0; i < ST_EPS; i++)
		if (world->eps[i].ep)
			st_ep_close(&world->eps[i], i % 2);
	for (i = 0; i < ST_MRS; i++)
		if (world->mrs[i].mr)
			st_close(world, &world->mrs[i].mr->fid);
	st_srx_close(world);
	st_pep_close(world);
	st_cqs_close(world);
	if (world->cntr)
		st_close(world, &world->cntr->fid);
	if (world->domain)
		st_close(world, &world->domain->fid);
	if (world->eq) {
		st_drop_events(world);
		st_close(world, &world->eq->fid);
	}
	if (world->fabric)
		st_close(world, &world->fabric->fid);
	fi_freeinfo(world->srx_info);
	fi_freeinfo(world->info);
	st_free(world);
}

/* Some of what a thread does; the list of them ends with one that is empty */
struct st_group {
	const struct st_act	*acts;
	const unsigned int	*count;
};

static const struct st_group st_msg_groups[] = {
	{ st_post_acts, &st_post_count },
	{ st_queue_acts, &st_queue_count },
	{ st_conn_acts, &st_conn_count },
	{ st_object_acts, &st_object_count },
	{ st_srx_acts, &st_srx_count },
	{ st_more_acts, &st_more_count },
	{}
};

static const struct st_group st_rdm_groups[] = {
	{ st_rdm_acts, &st_rdm_count },
	{ st_queue_acts, &st_queue_count },
	{ st_object_acts, &st_object_count },
	{}
};

static u32 st_weights(const struct st_group *group)
{
	u32 i, weights = 0;

	for (; group->acts; group++)
		for (i = 0; i < *group->count; i++)
			weights += group->acts[i].weight;
	return weights;
}

static void st_act(struct st_thread *thread, const struct st_group *group, u32 weights)
{
	u32 i, drawn = st_below(thread, weights);

	for (; group->acts; group++) {
		for (i = 0; i < *group->count; i++) {
			if (drawn < group->acts[i].weight) {
				group->acts[i].act(thread);
				return;
			}
			drawn -= group->acts[i].weight;
		}
	}
}

static int st_thread_run(void *data)
{
	struct st_thread *thread = data;
	const struct st_group *groups = thread->world->rdm ? st_rdm_groups : st_msg_groups;
	u32 weights = st_weights(groups);

	while (!READ_ONCE(thread->world->stop)) {
		st_act(thread, groups, weights);
		cond_resched();
	}
	complete(&thread->ended);
	return 0;
}

static void st_thread_start(struct st_world *world, struct st_thread *thread,
			    u32 seed, unsigned int nr)
{
	thread->world = world;
	init_completion(&thread->ended);
	prandom_seed_state(&thread->rnd, ((u64)seed << 8) + nr);
	thread->task = kthread_create(st_thread_run, thread, "kofi_stress/%u", nr);
	if (IS_ERR(thread->task)) {
		KUNIT_FAIL(world->test, "no thread");
		thread->task = NULL;
		return;
	}
	get_task_struct(thread->task);
	wake_up_process(thread->task);
}

/* Whoever does not come back in time hangs; the world cannot be closed then */
static void st_thread_join(struct st_world *world, struct st_thread *thread)
{
	if (!thread->task)
		return;
	while (!wait_for_completion_timeout(&thread->ended, msecs_to_jiffies(ST_PATIENCE_MS)))
		KUNIT_FAIL(world->test, "a thread hangs");
	kthread_stop(thread->task);
	put_task_struct(thread->task);
}

void st_world_run(struct st_world *world, u32 seed, unsigned int ms)
{
	struct st_thread threads[ST_THREADS] = {};
	unsigned int i;

	for (i = 0; i < ST_THREADS; i++)
		st_thread_start(world, &threads[i], seed, i);
	msleep(ms);
	WRITE_ONCE(world->stop, true);
	for (i = 0; i < ST_THREADS; i++)
		st_thread_join(world, &threads[i]);
}

void st_print(struct kunit *test, struct st_figures *figures)
{
	unsigned int i;

	for (i = 0; i < ST_CALLS; i++)
		if (atomic64_read(&figures->calls[i].made))
			kunit_info(test, "%s: %lld of %lld\n", st_rules[i].name,
				   (s64)atomic64_read(&figures->calls[i].done),
				   (s64)atomic64_read(&figures->calls[i].made));
	kunit_info(test, "%lld operations: %lld completed, %lld of them with an error, %lld ended with their endpoint; %lld silent\n",
		   (s64)atomic64_read(&figures->posted),
		   (s64)atomic64_read(&figures->completed),
		   (s64)atomic64_read(&figures->errors),
		   (s64)atomic64_read(&figures->closed),
		   (s64)atomic64_read(&figures->silent));
	if (atomic64_read(&figures->parts))
		kunit_info(test, "%lld messages in receives for several\n",
			   (s64)atomic64_read(&figures->parts));
	KUNIT_EXPECT_EQ(test, atomic64_read(&figures->posted), atomic64_read(&figures->completed) +
			atomic64_read(&figures->closed));
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&figures->twice), 0,
			    "completions of what was not posted");
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&figures->lost), 0,
			    "operations without a completion");
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&figures->wrong), 0,
			    "the first: %s says %d",
			    st_rules[figures->wrong_call].name,
			    figures->wrong_errno);
}
