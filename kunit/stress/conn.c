// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints that connect, accept, hang up and are closed, and everything that has to
 * be refused meanwhile.
 *
 * An endpoint is opened into a free place and closed from there; half of those that
 * are closed hang up before, and then every operation that was posted has to
 * complete by itself.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/string.h>
#include <rdma/fabric.h>
#include "stress.h"

#define ST_EVENT_MS	2

/* Calls that may meet each other on one endpoint */
static struct st_ep *st_any_ep(struct st_thread *thread)
{
	return &thread->world->eps[st_below(thread, ST_EPS)];
}

/* A free place of those that connect, or accept; its lock is the caller's then */
static struct st_ep *st_free_ep(struct st_thread *thread, bool accepts)
{
	u32 i, start = 2 * st_below(thread, ST_EPS / 2) + accepts;
	struct st_ep *ep;

	for (i = 0; i < ST_EPS; i += 2) {
		ep = &thread->world->eps[(start + i) % ST_EPS];
		if (!down_write_trylock(&ep->lock))
			continue;
		if (!ep->ep)
			return ep;
		up_write(&ep->lock);
	}
	return NULL;
}

/* What an endpoint can be told before it is enabled */
static int st_ep_choose(struct st_thread *thread, struct st_ep *ep)
{
	struct st_world *world = thread->world;
	size_t rw_ops = ST_RW_OPS;
	u64 flags = FI_TRANSMIT | FI_RECV;

	ep->selective = world->rma && !st_below(thread, 4);
	ep->rw_ops = world->rma && !st_below(thread, 2);
	if (ep->selective)
		flags |= FI_SELECTIVE_COMPLETION;
	if (ep->rw_ops && st_said(world, ST_OPTIONS, fi_setopt(&ep->ep->fid, FI_OPT_ENDPOINT,
							       FI_OPT_MAX_RW_OPS, &rw_ops,
							       sizeof(rw_ops))))
		return -EIO;
	return st_said(world, ST_BIND, fi_ep_bind(ep->ep, &ep->cq->cq->fid, flags));
}

static int st_ep_prepare(struct st_thread *thread, struct st_ep *ep, struct fi_info *info)
{
	struct st_world *world = thread->world;

	ep->cq = &world->cqs[st_below(thread, world->rma ? ST_KINDS : ST_DONE)];
	if (st_said(world, ST_ENDPOINT,
		    fi_endpoint(world->domain, info, &ep->ep, NULL))) {
		ep->ep = NULL;
		return -EIO;
	}
	ep->shared = info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT;
	if (st_said(world, ST_BIND, fi_ep_bind(ep->ep, &world->eq->fid, 0)) ||
	    st_ep_choose(thread, ep) || (ep->shared && !st_srx_join(world, ep)))
		return -EIO;
	ep->enabled = !st_said(world, ST_ENABLE, fi_enable(ep->ep));
	if (ep->enabled && world->rma && !st_below(thread, 2))
		st_mr_open(ep);
	return ep->enabled ? 0 : -EIO;
}

/* A fourth of all endpoints shares receives, if the provider has that */
static bool st_may_share(struct st_thread *thread)
{
	return thread->world->srx_info && !st_below(thread, 4);
}

static void st_ep_connect(struct st_world *world, struct st_ep *ep)
{
	struct sockaddr_storage name;

	if (!down_read_trylock(&world->pep_lock))
		return;
	name = world->name;
	up_read(&world->pep_lock);
	st_said(world, ST_CONNECT, fi_connect(ep->ep, &name, "hi", 2));
}

/* With the rest of its life before it, or to stay as it is */
static void act_open(struct st_thread *thread)
{
	struct st_ep *ep = st_free_ep(thread, false);

	if (!ep)
		return;
	if (!st_ep_prepare(thread, ep, st_may_share(thread) ? thread->world->srx_info :
			   thread->world->info) && st_below(thread, 8))
		st_ep_connect(thread->world, ep);
	up_write(&ep->lock);
}

/* Operations that are over because their endpoint is */
void st_ep_sweep(struct st_ep *ep)
{
	unsigned int i;

	for (i = 0; i < ST_ALL_OPS; i++)
		if (atomic_cmpxchg(&ep->ops[i].state, ST_POSTED, ST_FREE) ==
		    ST_POSTED) {
			atomic64_inc(&ep->world->figures->closed);
			atomic_dec(&ep->posted);
		}
}

/* The connection has ended, so all that was posted ends, too */
static void st_ep_drain(struct st_ep *ep)
{
	unsigned long until = jiffies + msecs_to_jiffies(ST_PATIENCE_MS);

	while (atomic_read(&ep->posted)) {
		st_poll(ep->cq, ep->world);
		if (time_after(jiffies, until)) {
			atomic_add(atomic_read(&ep->posted), &ep->world->figures->lost);
			return;
		}
		/* Completions that others take make no event for us */
		usleep_range(50, 100);
	}
}

/* The caller has the place for itself */
void st_ep_close(struct st_ep *ep, bool drain)
{
	struct st_world *world = ep->world;

	if (drain && world->rma && ep->enabled &&
	    !st_said(world, ST_SHUTDOWN, fi_shutdown(ep->ep, 0)))
		st_ep_drain(ep);
	st_mr_close(ep);
	if (st_said(world, ST_CLOSE, fi_close(&ep->ep->fid)))
		return;
	ep->ep = NULL;
	ep->enabled = false;
	ep->dead = false;
	st_await_readers(ep->cq);
	st_ep_sweep(ep);
}

/* Those that live on are spared mostly */
static void act_close(struct st_thread *thread)
{
	struct st_ep *ep = st_any_ep(thread);

	if (!READ_ONCE(ep->dead) && st_below(thread, 8))
		return;
	if (!down_write_trylock(&ep->lock))
		return;
	if (ep->ep)
		st_ep_close(ep, st_below(thread, 2));
	up_write(&ep->lock);
}

static void act_shutdown(struct st_thread *thread)
{
	struct st_ep *ep = st_any_ep(thread);

	if (st_below(thread, 4) || !down_read_trylock(&ep->lock))
		return;
	if (ep->ep)
		st_said(thread->world, ST_SHUTDOWN, fi_shutdown(ep->ep, 0));
	up_read(&ep->lock);
}

/* Too late, each of them, or without effect */
static void st_meddle(struct st_thread *thread, struct st_ep *ep)
{
	struct st_world *world = thread->world;
	struct sockaddr_storage name;
	size_t len = sizeof(name), size;

	switch (st_below(thread, 6)) {
	case 0:
		st_said(world, ST_BIND, fi_ep_bind(ep->ep, &world->eq->fid, 0));
		break;
	case 1:
		st_said(world, ST_ENABLE, fi_enable(ep->ep));
		break;
	case 2:
		st_ep_connect(world, ep);
		break;
	case 3:
		st_said(world, ST_NAME, fi_getpeer(ep->ep, &name, &len));
		break;
	case 4:
		len = sizeof(size);
		st_said(world, ST_OPTIONS,
			fi_getopt(&ep->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &size, &len));
		break;
	default:
		st_said(world, ST_ACCEPT, fi_accept(ep->ep, NULL, 0));
	}
}

static void act_meddle(struct st_thread *thread)
{
	struct st_ep *ep = st_any_ep(thread);

	if (!down_read_trylock(&ep->lock))
		return;
	if (ep->ep && ep->enabled)
		st_meddle(thread, ep);
	up_read(&ep->lock);
}

/* The endpoint is there, so its parents have a child */
static void act_close_parent(struct st_thread *thread)
{
	struct st_world *world = thread->world;
	struct st_ep *ep = st_any_ep(thread);
	struct fid *fid;

	if (!down_read_trylock(&ep->lock))
		return;
	if (!ep->ep || !ep->enabled)
		goto unlock;
	switch (st_below(thread, 4)) {
	case 0:
		fid = &world->domain->fid;
		break;
	case 1:
		fid = &world->fabric->fid;
		break;
	case 2:
		fid = &world->eq->fid;
		break;
	default:
		fid = &ep->cq->cq->fid;
	}
	st_said(world, ST_CLOSE_PARENT, fi_close(fid));
unlock:
	up_read(&ep->lock);
}

static void st_accept(struct st_thread *thread, struct st_ep *ep, struct fi_info *info)
{
	struct st_world *world = thread->world;

	if (st_may_share(thread))
		info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	if (!st_ep_prepare(thread, ep, info) && st_below(thread, 16))
		st_said(world, ST_ACCEPT, fi_accept(ep->ep, "yes", 3));
}

static void st_reject(struct st_world *world, struct fi_info *info)
{
	if (!down_read_trylock(&world->pep_lock))
		return;
	if (world->pep)
		st_said(world, ST_REJECT, fi_reject(world->pep, info->handle,
						    "no", 2));
	up_read(&world->pep_lock);
}

/* Accepted if there is a place, else rejected, seldom forgotten */
static void st_connreq(struct st_thread *thread, struct fi_info *info)
{
	struct st_ep *ep = st_free_ep(thread, true);

	if (ep) {
		st_accept(thread, ep, info);
		up_write(&ep->lock);
	} else if (st_below(thread, 32)) {
		st_reject(thread->world, info);
	}
	fi_freeinfo(info);
}

static void act_event(struct st_thread *thread)
{
	struct st_world *world = thread->world;
	struct fi_eq_err_entry error = {};
	union {
		struct fi_eq_cm_entry	cm;
		struct fi_eq_entry	entry;
		u8			raw[64];
	} event;
	u32 type;
	long ret;

	if (st_below(thread, 2))
		ret = fi_eq_read(world->eq, &type, &event, sizeof(event), 0);
	else
		ret = fi_eq_sread(world->eq, &type, &event, sizeof(event), ST_EVENT_MS, 0);
	st_said(world, ST_EQ_READ, ret);
	if (ret == -FI_EAVAIL)
		fi_eq_readerr(world->eq, &error, 0);
	else if (ret > 0 && type == FI_CONNREQ)
		st_connreq(thread, event.cm.info);
}

static void act_eq_write(struct st_thread *thread)
{
	struct fi_eq_entry entry = {};

	st_said(thread->world, ST_EQ_WRITE,
		fi_eq_write(thread->world->eq, FI_NOTIFY, &entry, sizeof(entry), 0));
}

static void act_cntr(struct st_thread *thread)
{
	struct fid_cntr *cntr = thread->world->cntr;
	u64 now = fi_cntr_read(cntr);

	if (st_below(thread, 2))
		st_said(thread->world, ST_CNTR, fi_cntr_add(cntr, 1));
	else
		st_said(thread->world, ST_CNTR, fi_cntr_wait(cntr, now + 1, 1));
}

int st_pep_open(struct st_world *world)
{
	size_t len = sizeof(world->name);
	int ret;

	ret = st_said(world, ST_PASSIVE_EP,
		      fi_passive_ep(world->fabric, world->info, &world->pep, NULL));
	if (ret) {
		world->pep = NULL;
		return ret;
	}
	ret = st_said(world, ST_BIND, fi_pep_bind(world->pep, &world->eq->fid, 0));
	if (!ret)
		ret = st_said(world, ST_LISTEN, fi_listen(world->pep));
	if (!ret)
		ret = st_said(world, ST_NAME, fi_getname(&world->pep->fid, &world->name, &len));
	return ret;
}

void st_pep_close(struct st_world *world)
{
	if (world->pep && !st_said(world, ST_CLOSE, fi_close(&world->pep->fid)))
		world->pep = NULL;
}

static void act_pep(struct st_thread *thread)
{
	struct st_world *world = thread->world;

	if (!down_write_trylock(&world->pep_lock))
		return;
	if (world->pep)
		st_pep_close(world);
	else
		st_pep_open(world);
	up_write(&world->pep_lock);
}

/* Objects that nobody else sees */
static void act_fabric(struct st_thread *thread)
{
	struct st_world *world = thread->world;
	struct fid_fabric *fabric;
	struct fid_eq *eq;

	if (st_said(world, ST_FABRIC, fi_fabric(world->info->fabric_attr, &fabric, NULL)))
		return;
	if (!st_said(world, ST_EQ_OPEN, fi_eq_open(fabric, NULL, &eq, NULL)))
		st_said(world, ST_CLOSE, fi_close(&eq->fid));
	st_said(world, ST_CLOSE, fi_close(&fabric->fid));
}

static void act_child(struct st_thread *thread)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct st_world *world = thread->world;
	struct fid_cntr *cntr;
	struct fid_cq *cq;

	if (!st_said(world, ST_CQ_OPEN, fi_cq_open(world->domain, NULL, &cq, NULL)))
		st_said(world, ST_CLOSE, fi_close(&cq->fid));
	if (!st_said(world, ST_CNTR_OPEN, fi_cntr_open(world->domain, &attr, &cntr, NULL)))
		st_said(world, ST_CLOSE, fi_close(&cntr->fid));
}

static void act_getinfo(struct st_thread *thread)
{
	struct st_world *world = thread->world;
	struct fi_info *info = NULL;

	if (!st_said(world, ST_GETINFO, fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
						   NULL, 0, 0, world->info, &info)))
		fi_freeinfo(info);
}

const struct st_act st_conn_acts[] = {
	{ act_open, 8 },
	{ act_close, 4 },
	{ act_shutdown, 1 },
	{ act_meddle, 4 },
	{ act_close_parent, 2 },
	{ act_event, 12 },
	{ act_eq_write, 1 },
	{ act_pep, 1 },
};

const unsigned int st_conn_count = ARRAY_SIZE(st_conn_acts);

/* Those that need no connection */
const struct st_act st_object_acts[] = {
	{ act_cntr, 2 },
	{ act_fabric, 1 },
	{ act_child, 1 },
	{ act_getinfo, 1 },
};

const unsigned int st_object_count = ARRAY_SIZE(st_object_acts);
