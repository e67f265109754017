// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Setting a receive side up, its memory, and its options.
 *
 * All memory is allocated here, but for what kofi_srx_attr.grows leaves to posts and messages: one
 * object for each receive, one for each message of buffers with FI_MULTI_RECV, and tables with a
 * bucket for each key that there can be, up to KOFI_SRX_MSG_BUCKETS for messages.  A receive has
 * one key, a message that waits has two if receives can name their sender.
 *
 * FI_OPT_SRX_LIMIT is written under the lock of the receive side, and read without it.
 * FI_OPT_MIN_MULTI_RECV, which a post reads, needs no lock.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <kofi/opt.h>
#include <kofi/refuse.h>
#include "srx.h"

/* Messages that wait are few in most endpoints: if all are there that may, a bucket has some */
#define KOFI_SRX_MSG_BUCKETS	2048

/* Tables of pointers of this size can still be allocated */
#define KOFI_SRX_MAX		BIT(22)

static void kofi_srx_refilled(struct kofi_bufpool *pool)
{
	struct kofi_srx *srx = container_of(pool, struct kofi_srx, pool);

	kofi_waiter_wake(&srx->ep->rx.room);
}

/* Sets the fields that an object keeps each time it is used */
static void kofi_srx_prepare(struct kofi_srx *srx, struct kofi_bufpool *pool, struct kofi_rx *rx)
{
	rx->srx = srx;
	rx->comp.pool = pool;
	spin_lock_init(&rx->order);
}

static void kofi_srx_prepare_rx(struct kofi_bufpool *pool, void *obj)
{
	kofi_srx_prepare(container_of(pool, struct kofi_srx, pool), pool, obj);
}

static void kofi_srx_prepare_multi(struct kofi_bufpool *pool, void *obj)
{
	kofi_srx_prepare(container_of(pool, struct kofi_srx, multi), pool, obj);
}

static int kofi_srx_init_pools(struct kofi_srx *srx,
			       const struct kofi_srx_attr *attr)
{
	size_t size = size_add(offsetof(struct kofi_rx, iov),
			       kofi_iov_size(attr->iov_limit));
	int ret;

	ret = kofi_bufpool_init_prepared(&srx->pool, size, attr->size, attr->grows,
					 kofi_srx_prepare_rx, kofi_srx_refilled);
	if (ret)
		return ret;
	kofi_bufpool_use_lock(&srx->pool, &srx->lock);
	if (!attr->multi)
		return 0;

	ret = kofi_bufpool_init_prepared(&srx->multi, sizeof(struct kofi_rx), attr->multi,
					 attr->grows, kofi_srx_prepare_multi,
					 kofi_srx_multi_refilled);
	if (ret)
		kofi_bufpool_destroy(&srx->pool);
	return ret;
}

int kofi_srx_fill(struct kofi_srx *srx)
{
	u32 more = 0;
	int ret;

	ret = kofi_bufpool_fill(&srx->pool, &more);
	if (!ret && srx->multi.count)
		ret = kofi_bufpool_fill(&srx->multi, &more);
	return ret;
}

static void kofi_srx_destroy_pool(struct kofi_bufpool *pool)
{
	if (!pool->count)
		return;
	kofi_bufpool_drain(pool);
	kofi_bufpool_destroy(pool);
}

void kofi_srx_free(struct kofi_srx *srx)
{
	/* kofi_srx.multi goes first: the last message of a buffer gives the buffer back */
	kofi_srx_destroy_pool(&srx->multi);
	kofi_srx_destroy_pool(&srx->pool);
	kofi_srx_table_destroy(&srx->messages);
	kofi_srx_table_destroy(&srx->receives);
}

/* A receive that refers to a list which is lent needs some room, too */
static bool kofi_srx_lists_ok(const struct kofi_ep *ep, const struct kofi_srx_attr *attr)
{
	return !ep->lent_iov || attr->iov_limit >= KOFI_IOV_LENT_ROOM;
}

static bool kofi_srx_ops_ok(const struct kofi_srx_ops *ops)
{
	return ops->start && ops->discard && ops->resume &&
	       !ops->sender == !ops->changes;
}

int kofi_srx_init(struct kofi_srx *srx, struct kofi_ep *ep,
		  const struct kofi_srx_attr *attr,
		  const struct kofi_srx_ops *ops)
{
	size_t keys = (size_t)attr->max_msgs << attr->directed;
	int ret;

	if (!kofi_srx_ops_ok(ops) || WARN_ON_ONCE(!kofi_srx_lists_ok(ep, attr)) ||
	    !attr->size || attr->size > KOFI_SRX_MAX ||
	    attr->max_msgs > KOFI_SRX_MAX || attr->multi > KOFI_SRX_MAX)
		return kofi_refuse("endpoint or srx_context", -EINVAL, "rx_attr->size is %u; there are 1 to %lu",
				   attr->size, (unsigned long)KOFI_SRX_MAX);

	*srx = (struct kofi_srx) {
		.ep		= ep,
		.ops		= ops,
		.min_multi_recv	= attr->min_multi_recv,
		.size		= attr->size,
		.iov_limit	= attr->iov_limit,
		.max_msgs	= attr->max_msgs,
		.directed	= attr->directed,
	};
	spin_lock_init(&srx->lock);
	INIT_LIST_HEAD(&srx->wild);
	srx->untagged_tail = &srx->untagged;
	INIT_LIST_HEAD(&srx->posted);
	INIT_LIST_HEAD(&srx->deferred);
	INIT_LIST_HEAD(&srx->order);
	INIT_LIST_HEAD(&srx->strangers);
	kofi_event_init(&srx->limit_event, &ep->ep.fid);
	srx->limit_event.event = FI_SRX_LIMIT;
	get_random_bytes(&srx->secret, sizeof(srx->secret));

	ret = kofi_srx_table_init(&srx->receives, attr->size);
	if (ret)
		return ret;
	ret = kofi_srx_table_init(&srx->messages, min_t(size_t, keys, KOFI_SRX_MSG_BUCKETS));
	if (ret)
		goto destroy_receives;
	ret = kofi_srx_init_pools(srx, attr);
	if (ret)
		goto destroy_messages;
	return 0;

destroy_messages:
	kofi_srx_table_destroy(&srx->messages);
destroy_receives:
	kofi_srx_table_destroy(&srx->receives);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_srx_init);

static int kofi_srx_set_limit(struct kofi_srx *srx, const void *optval,
			      size_t optlen)
{
	unsigned long flags;
	bool reached = false;
	size_t limit;
	int ret;

	if (!srx->ep->conn.eq)
		return kofi_refuse("setopt", -FI_ENOEQ, "FI_OPT_SRX_LIMIT: no event queue is bound, to which the event would go");
	ret = kofi_opt_get_size(&limit, srx->size, optval, optlen);
	if (ret)
		return ret;
	spin_lock_irqsave(&srx->lock, flags);
	reached = srx->nposted < limit;
	srx->limit = reached ? 0 : limit;
	spin_unlock_irqrestore(&srx->lock, flags);
	if (reached)
		kofi_eq_post(srx->ep->conn.eq, &srx->limit_event);
	return 0;
}

int kofi_srx_setopt(struct kofi_srx *srx, int optname, const void *optval,
		    size_t optlen)
{
	size_t min_multi_recv;
	int ret;

	if (optname == FI_OPT_SRX_LIMIT && kofi_srx_is_shared(srx))
		return kofi_srx_set_limit(srx, optval, optlen);
	if (optname != FI_OPT_MIN_MULTI_RECV || !srx->multi.count)
		return -ENOPROTOOPT;
	ret = kofi_opt_get_size(&min_multi_recv, SIZE_MAX, optval, optlen);
	if (!ret)
		WRITE_ONCE(srx->min_multi_recv, min_multi_recv);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_srx_setopt);

int kofi_srx_getopt(struct kofi_srx *srx, int optname, void *optval,
		    size_t *optlen)
{
	if (optname == FI_OPT_SRX_LIMIT && kofi_srx_is_shared(srx))
		return kofi_opt_put_size(READ_ONCE(srx->limit), optval, optlen);
	if (optname == FI_OPT_MIN_MULTI_RECV && srx->multi.count)
		return kofi_opt_put_size(READ_ONCE(srx->min_multi_recv), optval,
					 optlen);
	return -ENOPROTOOPT;
}
EXPORT_SYMBOL_GPL(kofi_srx_getopt);
