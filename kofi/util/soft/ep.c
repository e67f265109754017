// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints of providers that move the data themselves, from open to close; see
 * kofi/soft.h.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <kofi/addr.h>
#include <kofi/opt.h>
#include <kofi/refuse.h>
#include <kofi/stat.h>
#include "soft.h"

void kofi_soft_ep_put_many(struct kofi_soft_ep *ep, unsigned int count)
{
	if (refcount_sub_and_test(count, &ep->users))
		complete_all(&ep->unused);
}

void kofi_soft_ep_put(struct kofi_soft_ep *ep)
{
	kofi_soft_ep_put_many(ep, 1);
}
EXPORT_SYMBOL_GPL(kofi_soft_ep_put);

void kofi_soft_ep_over(struct kofi_soft_ep *ep)
{
	unsigned long flags;

	lockdep_assert_held(ep->type->lock);
	spin_lock_irqsave(&ep->hub->lock, flags);
	ep->over = true;
	spin_unlock_irqrestore(&ep->hub->lock, flags);
	kofi_soft_kick(ep->hub);
}
EXPORT_SYMBOL_GPL(kofi_soft_ep_over);

/* fi_enable() */

static int kofi_soft_reserve(struct kofi_soft_ep *ep)
{
	int ret = 0;

	if (!ep->kep.no_tx)
		ret = kofi_cq_reserve(ep->kep.tx.cq, ep->slots.count);
	if (ret || ep->kep.no_rx)
		return ret;
	ret = kofi_cq_reserve(ep->kep.rx.cq, ep->own_srx.size);
	if (ret && !ep->kep.no_tx)
		kofi_cq_unreserve(ep->kep.tx.cq, ep->slots.count);
	return ret;
}

static void kofi_soft_unreserve(struct kofi_soft_ep *ep)
{
	if (!ep->enabled)
		return;
	if (!ep->kep.no_tx)
		kofi_cq_unreserve(ep->kep.tx.cq, ep->slots.count);
	if (!ep->kep.no_rx)
		kofi_cq_unreserve(ep->kep.rx.cq, ep->own_srx.size);
}

static int kofi_soft_enable(struct kofi_soft_ep *ep)
{
	int ret;

	mutex_lock(ep->type->lock);
	ret = kofi_ep_may_enable(&ep->kep);
	if (!ret)
		ret = kofi_soft_reserve(ep);
	if (ret)
		goto unlock;
	if (ep->kep.shared)
		ep->type->join(ep, true);
	ep->enabled = true;
	kofi_conn_set_state(&ep->kep.conn, KOFI_CONN_ENABLED);
unlock:
	mutex_unlock(ep->type->lock);
	return ret;
}

static int kofi_soft_control(struct fid *fid, int command, void *arg)
{
	struct kofi_soft_ep *ep = to_kofi_soft_ep(fid);
	int ret;

	if (command == FI_ENABLE)
		return kofi_soft_enable(ep);
	ret = kofi_ep_control(fid, command, arg);
	if (command == KOFI_GETSTAT && !ret && ep->type->stat)
		ep->type->stat(ep, arg);
	return ret;
}

/* Options */

static ssize_t kofi_soft_cancel(struct fid *fid, void *context)
{
	struct kofi_soft_ep *ep = to_kofi_soft_ep(fid);

	if (ep->kep.no_rx)
		return kofi_refuse("cancel", -ENOENT, "the endpoint has no receives of its own");
	return kofi_srx_cancel(&ep->own_srx, context);
}

int kofi_soft_getopt(struct fid *fid, int level, int optname, void *optval, size_t *optlen)
{
	struct kofi_soft_ep *ep = to_kofi_soft_ep(fid);
	int ret;

	if (level != FI_OPT_ENDPOINT)
		return -ENOPROTOOPT;
	if (optname == FI_OPT_MAX_RW_OPS && !ep->kep.no_tx)
		return kofi_opt_put_size(ep->max_rw_ops, optval, optlen);
	if (optname == FI_OPT_MAX_RMA_IOV && !ep->kep.no_tx)
		return kofi_opt_put_size(ep->kep.lent_iov ? : KOFI_OP_IOV, optval, optlen);
	if (optname == FI_OPT_MEM_RESERVES && ep->type->reserves)
		return kofi_opt_put(&ep->reserves, sizeof(ep->reserves), optval, optlen);
	ret = kofi_ep_getopt(&ep->kep, optname, optval, optlen);
	if (ret == -ENOPROTOOPT && !ep->kep.no_rx)
		ret = kofi_srx_getopt(&ep->own_srx, optname, optval, optlen);
	return ret;
}

static int kofi_soft_set_rw_ops(struct kofi_soft_ep *ep, const void *optval,
				size_t optlen)
{
	int ret;

	if (ep->enabled)
		return kofi_refuse("setopt", -FI_EOPBADSTATE, "FI_OPT_MAX_RW_OPS: set it before fi_enable()");
	ret = kofi_opt_get_size(&ep->max_rw_ops, ep->slots.count, optval, optlen);
	if (!ret)
		kofi_credit_init(&ep->rw_credit, &ep->kep.tx, ep->max_rw_ops);
	return ret;
}

/* Allocate all operations and receives that an endpoint may have */
static int kofi_soft_fill(struct kofi_soft_ep *ep)
{
	u32 more = 0;
	int ret = 0;

	if (!ep->kep.no_tx)
		ret = kofi_bufpool_fill(&ep->slots, &more);
	if (ret || ep->kep.no_rx)
		return ret;
	return kofi_srx_fill(&ep->own_srx);
}

static int kofi_soft_set_reserves(struct kofi_soft_ep *ep, const void *optval, size_t optlen)
{
	if (ep->kep.conn.state != KOFI_CONN_OPEN)
		return kofi_conn_refuse("setopt", &ep->kep.conn, -FI_EOPBADSTATE,
					"open for FI_OPT_MEM_RESERVES");
	return kofi_opt_get(&ep->reserves, sizeof(ep->reserves), optval, optlen);
}

int kofi_soft_setopt(struct fid *fid, int level, int optname, const void *optval,
		     size_t optlen)
{
	struct kofi_soft_ep *ep = to_kofi_soft_ep(fid);
	int ret;

	if (level != FI_OPT_ENDPOINT)
		return -ENOPROTOOPT;
	if (optname == FI_OPT_MEM_RESERVES && ep->type->reserves) {
		ep->type->reserves();
		ret = kofi_soft_fill(ep);
		if (ret)
			return ret;
	}
	mutex_lock(ep->type->lock);
	if (optname == FI_OPT_MAX_RW_OPS && !ep->kep.no_tx)
		ret = kofi_soft_set_rw_ops(ep, optval, optlen);
	else if (optname == FI_OPT_MEM_RESERVES && ep->type->reserves)
		ret = kofi_soft_set_reserves(ep, optval, optlen);
	else
		ret = kofi_ep_setopt(&ep->kep, optname, optval, optlen);
	if (ret == -ENOPROTOOPT && !ep->kep.no_rx)
		ret = kofi_srx_setopt(&ep->own_srx, optname, optval, optlen);
	mutex_unlock(ep->type->lock);
	return ret;
}

/* The end */

/*
 * Gives the client's reference back, once.  The receives of a shared receive context are
 * not flushed, but no message for this endpoint takes one any more.
 */
static void kofi_soft_drop(struct kofi_soft_ep *ep)
{
	bool first;

	mutex_lock(ep->type->lock);
	kofi_conn_close(&ep->kep.conn);
	first = !ep->drained;
	ep->drained = true;
	mutex_unlock(ep->type->lock);
	if (!first)
		return;
	if (ep->kep.shared && ep->enabled)
		kofi_srx_leave(ep->srx, &ep->kep);
	kofi_soft_ep_put(ep);
}

static int kofi_soft_drain(struct fid_ep *fid_ep, int timeout)
{
	struct kofi_soft_ep *ep = to_kofi_soft_ep(&fid_ep->fid);
	int ret = kofi_ep_may_close(&ep->kep);

	if (ret)
		return ret;
	mutex_lock(ep->type->lock);
	if (ep->enabled)
		ep->type->shut(ep, ECONNABORTED);
	mutex_unlock(ep->type->lock);
	if (!ep->enabled)
		return kofi_refuse("ep_drain", -FI_EOPBADSTATE, "the endpoint has not been enabled");
	kofi_soft_drop(ep);
	if (timeout < 0)
		wait_for_completion(&ep->unused);
	else if (!try_wait_for_completion(&ep->unused) &&
		 !wait_for_completion_timeout(&ep->unused,
					      msecs_to_jiffies(timeout)))
		return kofi_refuse("ep_drain", -ETIMEDOUT, "after %d ms the endpoint still has operations under way",
				   timeout);
	/* The worker also gives back what the connection had for receives */
	flush_work(&ep->hub->work);
	if (ep->kep.tx.cq)
		kofi_cq_flush(ep->kep.tx.cq);
	if (ep->kep.rx.cq)
		kofi_cq_flush(ep->kep.rx.cq);
	return 0;
}

static void kofi_soft_purge(struct kofi_soft_ep *ep)
{
	if (ep->kep.tx.cq)
		kofi_cq_purge(ep->kep.tx.cq, kofi_soft_comp_is_of, ep);
	if (ep->kep.rx.cq && ep->kep.rx.cq != ep->kep.tx.cq)
		kofi_cq_purge(ep->kep.rx.cq, kofi_soft_comp_is_of, ep);
}

static int kofi_soft_close(struct fid *fid)
{
	struct kofi_soft_ep *ep = to_kofi_soft_ep(fid);
	int ret = kofi_ep_may_close(&ep->kep);

	if (ret)
		return ret;
	mutex_lock(ep->type->lock);
	list_del(&ep->of_fabric);
	kofi_conn_close(&ep->kep.conn);
	ep->type->close(ep);
	mutex_unlock(ep->type->lock);
	if (ep->sep)
		kofi_soft_ctx_leave(ep);
	kofi_soft_drop(ep);
	wait_for_completion(&ep->unused);
	flush_work(&ep->hub->work);

	if (ep->kep.shared)
		ep->type->join(ep, false);
	kofi_soft_purge(ep);
	kofi_soft_unreserve(ep);
	if (ep->events.count)
		kofi_bufpool_drain(&ep->events);
	if (ep->slots.count)
		kofi_bufpool_drain(&ep->slots);
	/* RCU readers that have found it, and callbacks of its receives, may still queue @work */
	synchronize_rcu_expedited();
	cancel_work_sync(&ep->work);
	ep->type->free(ep);
	return 0;
}

/* The beginning */

static const struct fi_ops kofi_soft_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= kofi_soft_close,
	.bind		= kofi_ep_bind,
	.control	= kofi_soft_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static const struct fi_ops_ep kofi_soft_ep_ops = {
	.size		= sizeof(struct fi_ops_ep),
	.cancel		= kofi_soft_cancel,
	.getopt		= kofi_soft_getopt,
	.setopt		= kofi_soft_setopt,
	.tx_ctx		= fi_no_tx_ctx,
	.rx_ctx		= fi_no_rx_ctx,
	.rx_size_left	= fi_no_size_left,
	.tx_size_left	= fi_no_size_left,
	.drain		= kofi_soft_drain,
};

static void kofi_soft_events_refilled(struct kofi_bufpool *pool)
{
	struct kofi_soft_ep *ep = container_of(pool, struct kofi_soft_ep, events);

	ep->type->event_room(ep);
}

/* An operation has ended, behind one that found no slot */
static void kofi_soft_slots_refilled(struct kofi_bufpool *pool)
{
	struct kofi_soft_ep *ep = container_of(pool, struct kofi_soft_ep, slots);

	kofi_waiter_wake(&ep->kep.tx.room);
}

/* Set the fields that a slot keeps */
static void kofi_soft_prepare_slot(struct kofi_bufpool *pool, void *obj)
{
	struct kofi_soft_op *op = obj;

	op->comp.pool = pool;
	op->ep = container_of(pool, struct kofi_soft_ep, slots);
}

static void kofi_soft_prepare_event(struct kofi_bufpool *pool, void *obj)
{
	struct kofi_soft_event *event = obj;

	event->comp.pool = pool;
}

static int kofi_soft_check_field(const char *field, size_t value, size_t max)
{
	if (value <= max)
		return 0;
	return kofi_refuse("endpoint", -EINVAL, "info->%s is %zu; the most is %zu", field, value,
			   max);
}

static int kofi_soft_check_info(const struct kofi_soft_type *type, const struct fi_info *info,
				const struct kofi_ep_limits *limits)
{
	const struct fi_tx_attr *tx = info->tx_attr;
	const struct fi_rx_attr *rx = info->rx_attr;
	size_t iov = KOFI_OP_IOV;

	if (info->mode & FI_ASYNC_IOV && limits->lent_iov)
		iov = limits->lent_iov;
	if (!tx->size || !rx->size)
		return kofi_refuse("endpoint", -EINVAL, "info->tx_attr->size is %zu, info->rx_attr->size %zu; each has to be 1 at least",
				   tx->size, rx->size);
	return kofi_soft_check_field("tx_attr->size", tx->size, type->max_queue) ? :
	       kofi_soft_check_field("tx_attr->iov_limit", tx->iov_limit, iov) ? :
	       kofi_soft_check_field("tx_attr->inject_size", tx->inject_size, KOFI_OP_INJECT) ? :
	       kofi_soft_check_field("rx_attr->size", rx->size, type->max_queue) ? :
	       kofi_soft_check_field("rx_attr->iov_limit", rx->iov_limit, iov) ? :
	       kofi_soft_check_field("ep_attr->max_msg_size", info->ep_attr->max_msg_size,
				     type->max_msg);
}

static void kofi_soft_destroy(struct kofi_bufpool *pool)
{
	if (pool->count)
		kofi_bufpool_destroy(pool);
}

static int kofi_soft_alloc(struct kofi_soft_ep *ep, size_t tx_size,
			   const struct kofi_srx_attr *room)
{
	int ret = 0;

	if (!ep->kep.no_tx)
		ret = kofi_bufpool_init_prepared(&ep->slots, ep->type->op_size, tx_size,
						 ep->type->grows, kofi_soft_prepare_slot,
						 kofi_soft_slots_refilled);
	if (ret)
		goto no_slots;
	kofi_bufpool_use_lock(&ep->slots, &ep->lock);
	kofi_credit_init(&ep->rw_credit, &ep->kep.tx, 0);
	if (kofi_soft_is_target(ep) && (!ep->kep.no_rx || ep->kep.shared))
		ret = kofi_bufpool_init_prepared(&ep->events, sizeof(struct kofi_soft_event),
						 KOFI_SOFT_EVENTS, false, kofi_soft_prepare_event,
						 kofi_soft_events_refilled);
	if (ret)
		goto no_events;
	if (!ep->kep.no_rx)
		ret = kofi_srx_init(&ep->own_srx, &ep->kep, room, ep->type->own_rx);
	if (ret)
		goto destroy_events;
	return 0;

destroy_events:
	kofi_soft_destroy(&ep->events);
no_events:
	kofi_soft_destroy(&ep->slots);
no_slots:
	return ret;
}

/* As kofi_soft_ep_init(), for an endpoint or context of any class */
int kofi_soft_init(struct kofi_soft_ep *ep, const struct kofi_soft_type *type,
		   struct kofi_soft_domain *domain, u32 fclass, const struct fi_info *info,
		   const struct kofi_ep_limits *limits, const struct kofi_srx_attr *room,
		   void *context)
{
	int ret;

	ret = kofi_soft_check_info(type, info, limits);
	if (ret)
		return ret;
	if (info->dest_addr) {
		ret = kofi_addr_get("endpoint", "info->dest_addr", &ep->dest, info->dest_addr,
				    info->dest_addrlen);
		if (ret)
			return ret;
	}
	ret = kofi_ep_init(&ep->kep, info, limits, context);
	if (ret)
		return ret;
	if (fclass != FI_CLASS_EP)
		kofi_ep_set_class(&ep->kep, fclass);
	ep->type = type;
	ep->domain = domain;
	ep->hub = ep;
	ep->srx = &ep->own_srx;
	ep->kep.ep.fid.ops = &kofi_soft_fid_ops;
	ep->kep.ep.ops = &kofi_soft_ep_ops;
	kofi_soft_set_xfers(&ep->kep);
	refcount_set(&ep->users, 1);
	init_completion(&ep->unused);
	spin_lock_init(&ep->lock);
	INIT_LIST_HEAD(&ep->posted);
	INIT_WORK(&ep->work, type->work);
	ep->cpu = WORK_CPU_UNBOUND;
	ret = kofi_soft_alloc(ep, info->tx_attr->size, room);
	if (ret)
		kofi_ep_fini(&ep->kep);
	return ret;
}

int kofi_soft_ep_init(struct kofi_soft_ep *ep, const struct kofi_soft_type *type,
		      struct fid_domain *domain, const struct fi_info *info,
		      const struct kofi_ep_limits *limits,
		      const struct kofi_srx_attr *room, void *context)
{
	return kofi_soft_init(ep, type, to_kofi_soft_domain(domain), FI_CLASS_EP, info, limits,
			      room, context);
}
EXPORT_SYMBOL_GPL(kofi_soft_ep_init);

void kofi_soft_ep_fini(struct kofi_soft_ep *ep)
{
	kofi_ep_fini(&ep->kep);
	if (!ep->kep.no_rx)
		kofi_srx_destroy(&ep->own_srx);
	kofi_soft_destroy(&ep->events);
	kofi_soft_destroy(&ep->slots);
	if (ep->ctxs)
		fi_freeinfo(ep->ctxs->info);
	kfree(ep->ctxs);
}
EXPORT_SYMBOL_GPL(kofi_soft_ep_fini);

/* Connections */

int kofi_soft_dest(const struct kofi_soft_ep *ep, const struct sockaddr_storage *src,
		   const void *addr, struct sockaddr_storage *dest)
{
	const struct sockaddr *sa = addr;
	int ret;

	*dest = ep->dest;
	if (!addr && !dest->ss_family)
		return kofi_refuse("connect", -EADDRNOTAVAIL, "addr is NULL, and the endpoint was opened without info->dest_addr");
	if (!addr)
		return 0;
	if (sa->sa_family != src->ss_family)
		return kofi_refuse("connect", -EINVAL, "addr is of the family %d, but the endpoint has an address of the family %d",
				   sa->sa_family, src->ss_family);
	ret = kofi_addr_get("connect", "addr", dest, addr, kofi_addr_len(src));
	if (!ret && kofi_addr_any(dest))
		ret = kofi_refuse("connect", -EINVAL, "addr is the wildcard address, which no peer has");
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_soft_dest);

int kofi_soft_shutdown(struct fid_ep *fid_ep, u64 flags)
{
	struct kofi_soft_ep *ep = to_kofi_soft_ep(&fid_ep->fid);
	int ret = 0;

	mutex_lock(ep->type->lock);
	switch (ep->kep.conn.state) {
	case KOFI_CONN_CONNECTING:
	case KOFI_CONN_CONNECTED:
		ep->type->shut(ep, ECONNABORTED);
		break;
	case KOFI_CONN_DOWN:
		break;
	case KOFI_CONN_GONE:
		ret = -ENODEV;
		break;
	default:
		ret = kofi_conn_refuse("shutdown", &ep->kep.conn, -ENOTCONN, "connected");
	}
	mutex_unlock(ep->type->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_soft_shutdown);

int kofi_soft_setname(fid_t fid, void *addr, size_t addrlen)
{
	return kofi_refuse("setname", -FI_EOPBADSTATE, "an endpoint has the address of its info->src_addr, for good");
}
EXPORT_SYMBOL_GPL(kofi_soft_setname);
