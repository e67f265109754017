// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints.
 *
 * Life of an endpoint
 *
 *	fi_endpoint()	it listens, and so has its address; peers that connect wait in its lower
 *			event queue
 *	fi_enable()	rxm_ep.cm answers them from now on
 *	the end		kofi_soft_ep.over is set: rxm_ep.cm ends the connections and what waits for
 *			peers, kofi_soft_ep.work ends receives
 *	fi_close()	waits for operations, connections and unexpected messages
 *
 * Life of an operation
 *
 *	posted		in kofi_soft_ep.posted, which holds those for all peers
 *	waiting		in rxm_peer.posted: the call of the client has found the peer, or
 *			kofi_soft_ep.work has, as it may have to be made or dialled first (cm.c)
 *	sending		packets are to be sent (tx.c), in the same call if the peer is connected and
 *			nothing else waits
 *	sent		the lower endpoint has its packets, and completes them
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <kofi/refuse.h>
#include "rxm.h"

#define RXM_CNTR_DIRS	(FI_SEND | FI_RECV | FI_READ | FI_WRITE)
#define RXM_TX_OP_FLAGS	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE)
#define RXM_RX_OP_FLAGS	(FI_COMPLETION | FI_MULTI_RECV)

#define RXM_TX_FLAGS	(RXM_TX_OP_FLAGS | FI_REMOTE_CQ_DATA | FI_MORE)
#define RXM_RECV_FLAGS	(RXM_RX_OP_FLAGS | FI_MORE)
#define RXM_TRECV_FLAGS	(RXM_RECV_FLAGS | FI_PEEK | FI_CLAIM | FI_DISCARD)

struct kofi_ep_limits rxm_limits __ro_after_init = {
	.cntr_dirs	= RXM_CNTR_DIRS,
	.tx_op_flags	= RXM_TX_OP_FLAGS | FI_DELIVERY_COMPLETE,
	.rx_op_flags	= RXM_RX_OP_FLAGS,
	.tx_flags	= RXM_TX_FLAGS | FI_DELIVERY_COMPLETE,
	.recv_flags	= RXM_RECV_FLAGS,
	.trecv_flags	= RXM_TRECV_FLAGS,
	.av		= true,
};

/* With writes by reliable queue pairs, which do not say when a write has been delivered */
static struct kofi_ep_limits rxm_rc_limits __ro_after_init = {
	.cntr_dirs	= RXM_CNTR_DIRS,
	.tx_op_flags	= RXM_TX_OP_FLAGS,
	.rx_op_flags	= RXM_RX_OP_FLAGS,
	.tx_flags	= RXM_TX_FLAGS,
	.recv_flags	= RXM_RECV_FLAGS,
	.trecv_flags	= RXM_TRECV_FLAGS,
	.av		= true,
};

/* Over iWARP, which does not say either when the peer has a message */
static struct kofi_ep_limits rxm_iwarp_limits __ro_after_init = {
	.cntr_dirs	= RXM_CNTR_DIRS,
	.tx_op_flags	= RXM_TX_OP_FLAGS & ~FI_TRANSMIT_COMPLETE,
	.rx_op_flags	= RXM_RX_OP_FLAGS,
	.tx_flags	= RXM_TX_FLAGS & ~FI_TRANSMIT_COMPLETE,
	.recv_flags	= RXM_RECV_FLAGS,
	.trecv_flags	= RXM_TRECV_FLAGS,
	.av		= true,
};

/* With writes, which have no remote CQ data there */
static struct kofi_ep_limits rxm_iwarp_rma_limits __ro_after_init = {
	.cntr_dirs	= RXM_CNTR_DIRS,
	.tx_op_flags	= RXM_TX_OP_FLAGS & ~FI_TRANSMIT_COMPLETE,
	.rx_op_flags	= RXM_RX_OP_FLAGS,
	.tx_flags	= RXM_TX_FLAGS & ~(FI_TRANSMIT_COMPLETE | FI_REMOTE_CQ_DATA),
	.recv_flags	= RXM_RECV_FLAGS,
	.trecv_flags	= RXM_TRECV_FLAGS,
	.av		= true,
};

/* With writes, whose remote CQ data would take a receive at the peer that no credit stands for */
static struct kofi_ep_limits rxm_credit_rma_limits __ro_after_init = {
	.cntr_dirs	= RXM_CNTR_DIRS,
	.tx_op_flags	= RXM_TX_OP_FLAGS,
	.rx_op_flags	= RXM_RX_OP_FLAGS,
	.tx_flags	= RXM_TX_FLAGS & ~FI_REMOTE_CQ_DATA,
	.recv_flags	= RXM_RECV_FLAGS,
	.trecv_flags	= RXM_TRECV_FLAGS,
	.av		= true,
};

/**
 * rxm_ep_limits() - Get what endpoints may be asked for
 * @protocol: of lower endpoints
 * @credits: connections count credits
 * @rma: with reads and writes
 *
 * Context: any.
 * Return: the limits.
 */
const struct kofi_ep_limits *rxm_ep_limits(u32 protocol, bool credits, bool rma)
{
	if (protocol == FI_PROTO_IWARP)
		return rma ? &rxm_iwarp_rma_limits : &rxm_iwarp_limits;
	if (rma && credits)
		return &rxm_credit_rma_limits;
	return rma && rxm_is_qp(protocol) ? &rxm_rc_limits : &rxm_limits;
}

/**
 * rxm_limits_set() - Set the limits that the eager limit decides
 *
 * Context: before the provider is registered.
 */
void __init rxm_limits_set(void)
{
	/* A request has operands, and as many values to compare with */
	size_t room = rxm_eager() - sizeof(struct rxm_wire_atomic);
	struct kofi_ep_limits *const all[] = {
		&rxm_limits, &rxm_rc_limits, &rxm_iwarp_limits, &rxm_iwarp_rma_limits,
		&rxm_credit_rma_limits,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		all[i]->max_atomic_size = round_down(room / 2, sizeof(u64));
}

/* Routing */

/*
 * Gives the first operation to its peer.  Returns 0: done, and there may be more; *conn is the
 * connection of the peer, or NULL; -ENODATA: there is none; -ENOENT: its peer has to be made, at
 * @addr; -EINVAL: *op has no address that is known, and is the caller's.
 */
static int rxm_route_one(struct rxm_ep *ep, struct sockaddr_storage *addr,
			 struct kofi_soft_op **op, struct rxm_conn **conn)
{
	struct rxm_peer *peer;

	lockdep_assert_held(&ep->soft.lock);
	*op = list_first_entry_or_null(&ep->soft.posted, struct kofi_soft_op, entry);
	if (!*op || ep->soft.over)
		return -ENODATA;
	if (!kofi_av_addr(rxm_av(ep), (*op)->kept.addr, addr) ||
	    kofi_av_rx_index(rxm_av(ep), (*op)->kept.addr)) {
		list_del(&(*op)->entry);
		return -EINVAL;
	}
	peer = rxm_peer_find(ep, addr);
	if (!peer)
		return -ENOENT;
	list_del(&(*op)->entry);
	*conn = rxm_peer_post(ep, peer, *op);
	return 0;
}

/*
 * kofi_soft_type.now: sends what a client has just posted if its peer is connected, and nothing
 * waits before it.  kofi_soft_ep.work makes peers.
 */
static void rxm_now(struct kofi_soft_ep *soft)
{
	struct rxm_ep *ep = to_rxm_ep(soft);
	struct rxm_conn *conn = NULL;
	struct sockaddr_storage addr;
	struct kofi_soft_op *op;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&soft->lock, flags);
	ret = rxm_route_one(ep, &addr, &op, &conn);
	if (ret == -ENOENT || (!ret && !list_empty(&soft->posted)))
		kofi_soft_kick(soft);
	if (conn)
		rxm_send_now(conn, &flags);
	spin_unlock_irqrestore(&soft->lock, flags);
	if (ret == -EINVAL)
		kofi_soft_op_done(op, EINVAL);
}

/* Takes the first operation if it is for a peer at @addr; NULL: it is not, or there is none */
static struct kofi_soft_op *rxm_take_posted(struct rxm_ep *ep, const struct sockaddr_storage *addr)
{
	struct sockaddr_storage to;
	struct kofi_soft_op *op;

	lockdep_assert_held(&ep->soft.lock);
	op = list_first_entry_or_null(&ep->soft.posted, struct kofi_soft_op, entry);
	if (!op || !kofi_av_addr(rxm_av(ep), op->kept.addr, &to) || !kofi_addr_equal(&to, addr))
		return NULL;
	list_del(&op->entry);
	return op;
}

/*
 * Makes the peer of the first operation.  A call of a client may have given that to the peer
 * meanwhile, if the peer has connected; what is the first one then may be for another peer.
 */
static void rxm_route_peer(struct rxm_ep *ep, const struct sockaddr_storage *addr)
{
	struct rxm_peer *peer = rxm_peer_new(addr), *unused = peer;
	struct kofi_soft_op *failed = NULL;

	rxm_peers_lock(ep);
	if (!rxm_peer_find(ep, addr)) {
		if (peer && rxm_peer_insert(ep, peer))
			unused = NULL;
		else
			failed = rxm_take_posted(ep, addr);
	}
	rxm_peers_unlock(ep);
	kfree(unused);
	if (failed)
		kofi_soft_op_done(failed, ENOMEM);
}

/* Returns whether operations are left */
static bool rxm_route(struct rxm_ep *ep)
{
	struct sockaddr_storage addr;
	struct kofi_soft_op *op;
	struct rxm_conn *conn;
	int i, ret = 0;

	for (i = 0; i < RXM_BUDGET && ret != -ENODATA; i++) {
		conn = NULL;
		spin_lock_irq(&ep->soft.lock);
		ret = rxm_route_one(ep, &addr, &op, &conn);
		if (conn)
			rxm_conn_ready(conn);
		spin_unlock_irq(&ep->soft.lock);
		if (ret == -ENOENT)
			rxm_route_peer(ep, &addr);
		else if (ret == -EINVAL)
			kofi_soft_op_done(op, EINVAL);
	}
	return ret != -ENODATA;
}

/* Takes a connection out of a list, for a call of its lower endpoint; NULL: the list is empty */
static struct rxm_conn *rxm_next(struct rxm_ep *ep, struct list_head *list, size_t offset)
{
	struct rxm_conn *conn = NULL;
	struct list_head *entry;

	spin_lock_irq(&ep->soft.lock);
	while (!list_empty(list)) {
		entry = list->next;
		list_del_init(entry);
		conn = (void *)entry - offset;
		if (rxm_conn_use(conn))
			break;
		conn = NULL;
	}
	spin_unlock_irq(&ep->soft.lock);
	return conn;
}

/* The end */

/* Ends operations without a peer, and receives, of an endpoint that is over */
static void rxm_flush(struct rxm_ep *ep)
{
	struct kofi_soft_op *op, *next;
	LIST_HEAD(posted);

	if (ep->flushed)
		return;
	ep->flushed = true;
	spin_lock_irq(&ep->soft.lock);
	list_splice_init(&ep->soft.posted, &posted);
	spin_unlock_irq(&ep->soft.lock);
	list_for_each_entry_safe(op, next, &posted, entry) {
		list_del(&op->entry);
		kofi_soft_op_done(op, ECANCELED);
	}
	kofi_srx_flush(&ep->soft.own_srx, ECANCELED);
}

/*
 * Looks again at what has come by the connections in rxm_ep.stalled, once by each: one whose next
 * packet still has to wait is in the list again.  Returns whether connections are left.
 */
static bool rxm_receive_stalled(struct rxm_ep *ep)
{
	struct rxm_conn *conn;
	LIST_HEAD(stalled);
	int i;

	spin_lock_irq(&ep->soft.lock);
	list_splice_init(&ep->stalled, &stalled);
	spin_unlock_irq(&ep->soft.lock);
	for (i = 0; i < RXM_BUDGET; i++) {
		conn = rxm_next(ep, &stalled, offsetof(struct rxm_conn, stalled));
		if (!conn)
			return false;
		rxm_receive(conn);
		rxm_conn_unuse(conn);
	}
	spin_lock_irq(&ep->soft.lock);
	list_splice(&stalled, &ep->stalled);
	spin_unlock_irq(&ep->soft.lock);
	return true;
}

static void rxm_work(struct work_struct *work)
{
	struct rxm_ep *ep = container_of(work, struct rxm_ep, soft.work);
	unsigned int noio = memalloc_noio_save();
	struct rxm_conn *conn;
	bool more = false;
	int i;

	if (READ_ONCE(ep->soft.over))
		rxm_flush(ep);
	else
		more = rxm_route(ep);
	rxm_settle(ep);
	more |= rxm_receive_stalled(ep);
	for (i = 0; i < RXM_BUDGET; i++) {
		conn = rxm_next(ep, &ep->ready, offsetof(struct rxm_conn, ready));
		if (!conn)
			break;
		rxm_send(conn);
		rxm_conn_unuse(conn);
	}
	if (more || i == RXM_BUDGET)
		kofi_soft_kick(&ep->soft);
	memalloc_noio_restore(noio);
}

/* struct kofi_soft_type */

static void rxm_end(struct rxm_ep *ep)
{
	lockdep_assert_held(&rxm_lock);
	kofi_soft_ep_over(&ep->soft);
	rxm_cm_kick(ep);
}

static void rxm_shut(struct kofi_soft_ep *soft, int err)
{
	kofi_conn_end(&soft->kep.conn, err, 0, NULL, 0);
	rxm_end(to_rxm_ep(soft));
}

static void rxm_gone(struct kofi_soft_ep *soft)
{
	rxm_end(to_rxm_ep(soft));
}

static void rxm_close(struct kofi_soft_ep *soft)
{
	rxm_shut(soft, ECANCELED);
}

/* An endpoint of this kind shares no receives */
static void rxm_join(struct kofi_soft_ep *soft, bool join)
{
}

/* A connection in rxm_ep.stalled may report the next write with data */
static void rxm_event_room(struct kofi_soft_ep *soft)
{
	kofi_soft_kick(soft);
}

static void rxm_destroy(struct rxm_ep *ep)
{
	if (ep->pep)
		kofi_lower_close(&ep->pep->fid);
	if (ep->eq)
		kofi_lower_close(&ep->eq->fid);
	/* Of an endpoint that is over, it reads no events */
	cancel_delayed_work_sync(&ep->watch);
	cancel_delayed_work_sync(&ep->cm);
	fi_freeinfo(ep->info);
	if (ep->unexp.count)
		kofi_bufpool_destroy(&ep->unexp);
	if (ep->rndv.count)
		kofi_bufpool_destroy(&ep->rndv);
	rxm_peers_destroy(ep);
	kfree(ep);
}

static void rxm_free(struct kofi_soft_ep *soft)
{
	struct rxm_ep *ep = to_rxm_ep(soft);

	/* The last run of rxm_ep.cm may have queued it again */
	cancel_delayed_work_sync(&ep->watch);
	cancel_delayed_work_sync(&ep->cm);
	cancel_work_sync(&soft->work);
	kofi_soft_ep_fini(soft);
	rxm_destroy(ep);
}

struct kofi_soft_type rxm_type = {
	.lock		= &rxm_lock,
	.own_rx		= &rxm_srx_ops,
	.mr_mode	= RXM_MR_MODE,
	.fabric_size	= sizeof(struct rxm_fabric),
	.domain_size	= sizeof(struct rxm_domain),
	.op_size	= sizeof(struct rxm_op),
	.max_queue	= RXM_MAX_QUEUE,
	.max_msg	= RXM_MAX_MSG,
	.work		= rxm_work,
	.now		= rxm_now,
	.now_any	= true,
	.event_room	= rxm_event_room,
	.stat		= rxm_credit_stat,
	.join		= rxm_join,
	.shut		= rxm_shut,
	.gone		= rxm_gone,
	.close		= rxm_close,
	.free		= rxm_free,
	.fabrics	= LIST_HEAD_INIT(rxm_type.fabrics),
};

/* fi_enable() has come: requests of peers are answered */
static void rxm_changed(struct kofi_conn *conn)
{
	struct rxm_ep *ep = container_of(conn, struct rxm_ep, soft.kep.conn);

	if (conn->state == KOFI_CONN_ENABLED)
		rxm_cm_kick(ep);
}

static int rxm_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return kofi_addr_copy_out(&to_rxm_ep(to_kofi_soft_ep(fid))->name, addr, addrlen);
}

static const struct fi_ops_cm rxm_cm_ops = {
	.size		= sizeof(struct fi_ops_cm),
	.setname	= kofi_soft_setname,
	.getname	= rxm_getname,
	.getpeer	= fi_no_getpeer,
	.connect	= fi_no_connect,
	.listen		= fi_no_listen,
	.accept		= fi_no_accept,
	.reject		= fi_no_reject,
	.shutdown	= fi_no_shutdown,
	.join		= fi_no_join,
};

/* The lower event queue is not empty any more; process context */
static void rxm_event(struct fid_eq *eq, void *context)
{
	struct rxm_ep *ep = context;

	/* Events before fi_enable() wait in the queue; after the end there is nothing to do */
	if (READ_ONCE(ep->soft.kep.conn.state) == KOFI_CONN_ENABLED)
		rxm_cm_kick(ep);
}

/*
 * Does the device of a lower domain still exist?  One that is added again later has its name and
 * its address: an endpoint of the domain could listen there, but would have no connections.
 */
static int rxm_probe(struct fid_domain *lower)
{
	struct fi_cq_attr attr = { .size = 1, .wait_obj = FI_WAIT_NONE };
	struct fid_cq *cq;
	int ret = fi_cq_open(lower, &attr, &cq, NULL);

	if (!ret)
		kofi_lower_close(&cq->fid);
	return ret;
}

/* Opens what peers connect to, which gives the endpoint its address */
static int rxm_listen(struct rxm_ep *ep, struct fid_domain *domain, const struct fi_info *info)
{
	struct rxm_fabric *fabric =
		container_of(to_kofi_soft_domain(domain)->fabric, struct rxm_fabric, soft);
	struct fi_eq_attr attr = {
		.size		= RXM_REQUESTS,
		.wait_obj	= FI_WAIT_CALLBACK,
		.handler	= rxm_event,
	};
	size_t len = sizeof(ep->name);
	int ret;

	ret = rxm_lower_info(fabric, to_rxm_domain(domain), info, &ep->info);
	if (ret)
		return ret;
	ep->errors_end_conn = rxm_is_qp(to_rxm_domain(domain)->protocol);
	ep->credits = to_rxm_domain(domain)->credits;
	ret = fi_eq_open(fabric->lower, &attr, &ep->eq, ep);
	if (!ret)
		ret = fi_passive_ep(fabric->lower, ep->info, &ep->pep, ep);
	if (!ret)
		ret = fi_pep_bind(ep->pep, &ep->eq->fid, 0);
	if (!ret)
		ret = fi_listen(ep->pep);
	if (!ret)
		ret = fi_getname(&ep->pep->fid, &ep->name, &len);
	/* From here on the removal of the device is an event of the passive endpoint */
	if (!ret && rxm_is_qp(to_rxm_domain(domain)->protocol))
		ret = rxm_probe(to_rxm_domain(domain)->lower);
	/* Connections are dialled from this address, and not from the port that is listened at */
	if (!ret)
		kofi_addr_set_port(ep->info->src_addr, 0);
	return ret;
}

static struct rxm_ep *rxm_ep_new(u32 receives)
{
	struct rxm_ep *ep = kzalloc(sizeof(*ep), GFP_KERNEL);

	if (!ep)
		return NULL;
	do {
		ep->pid = get_random_u32();
	} while (!ep->pid);
	INIT_DELAYED_WORK(&ep->cm, rxm_cm_work);
	INIT_DELAYED_WORK(&ep->watch, rxm_watch_due);
	ep->watch_next = jiffies;
	INIT_LIST_HEAD(&ep->conns);
	INIT_LIST_HEAD(&ep->unsettled);
	INIT_LIST_HEAD(&ep->broken);
	INIT_LIST_HEAD(&ep->ready);
	INIT_LIST_HEAD(&ep->stalled);
	INIT_LIST_HEAD(&ep->orphans);
	INIT_LIST_HEAD(&ep->settled);
	kofi_sources_init(&ep->sources);
	kofi_quota_init(&ep->quota, &rxm_unexp_limits);
	if (rxm_peers_init(ep)) {
		kfree(ep);
		return NULL;
	}
	if (kofi_bufpool_init(&ep->unexp, sizeof(struct rxm_unexp), RXM_UNEXP_MSGS, NULL) ||
	    kofi_bufpool_init(&ep->rndv, sizeof(struct rxm_rndv),
			      receives + RXM_UNWANTED, NULL)) {
		rxm_destroy(ep);
		return NULL;
	}
	return ep;
}

/**
 * rxm_endpoint() - Open an endpoint
 * @domain: as fi_endpoint()
 * @info: as fi_endpoint()
 * @fid_ep: as fi_endpoint()
 * @context: as fi_endpoint()
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: not FI_EP_RDM, a request, a shared receive context, or as
 * kofi_soft_ep_init(); -EADDRNOTAVAIL: no address of its own; -ENODEV: the namespace, or the
 * device, has gone; or as the calls of the lower provider.
 */
int rxm_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **fid_ep,
		 void *context)
{
	const struct kofi_srx_attr room = {
		.size		= info->rx_attr->size,
		.iov_limit	= KOFI_OP_IOV,
		.max_msgs	= RXM_UNEXP_WAIT,
		.multi		= info->caps & FI_MULTI_RECV ? info->rx_attr->size : 0,
		.min_multi_recv	= RXM_MIN_MULTI,
		.directed	= info->caps & FI_DIRECTED_RECV,
	};
	struct kofi_soft_fabric *fabric = to_kofi_soft_domain(domain)->fabric;
	/* Where writes have no data, messages have none either, also if the client drops FI_RMA */
	bool rma = info->caps & FI_RMA || !info->domain_attr->cq_data_size;
	const struct kofi_ep_limits *limits =
		rxm_ep_limits(to_rxm_domain(domain)->protocol, to_rxm_domain(domain)->credits, rma);
	struct rxm_ep *ep;
	int ret;

	if (info->ep_attr->type != FI_EP_RDM)
		return kofi_refuse("endpoint", -EINVAL, "info->ep_attr->type is %d; there is FI_EP_RDM",
				   info->ep_attr->type);
	if (info->handle)
		return kofi_refuse("endpoint", -EINVAL, "info->handle: an endpoint of the type FI_EP_RDM accepts no request");
	if (info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT)
		return kofi_refuse("endpoint", -EINVAL, "info->ep_attr->rx_ctx_cnt: endpoints of the type FI_EP_RDM share no receives");
	if (!info->src_addr)
		return kofi_refuse("endpoint", -EADDRNOTAVAIL, "info->src_addr is NULL; peers know the endpoint by it");
	if (!READ_ONCE(fabric->net))
		return kofi_refuse("endpoint", -ENODEV, "the network namespace has gone");
	ep = rxm_ep_new(min(room.size + room.multi, 2U * RXM_MAX_QUEUE));
	if (!ep)
		return -ENOMEM;
	ret = kofi_soft_ep_init(&ep->soft, &rxm_type, domain, info, limits, &room, context);
	if (ret)
		goto destroy;
	ep->soft.kep.ep.cm = &rxm_cm_ops;
	ep->soft.kep.conn.changed = rxm_changed;
	ep->data_mask = info->domain_attr->cq_data_size < sizeof(u64) ?
			BIT_ULL(8 * info->domain_attr->cq_data_size) - 1 : U64_MAX;
	ret = rxm_listen(ep, domain, info);
	if (ret)
		goto fini_soft;
	mutex_lock(&rxm_lock);
	/* The event of another endpoint, or of this one, may have come already */
	if (fabric->net && !READ_ONCE(to_rxm_domain(domain)->has_gone))
		list_add_tail(&ep->soft.of_fabric, &fabric->eps);
	else
		ret = -ENODEV;
	mutex_unlock(&rxm_lock);
	if (ret)
		goto fini_soft;
	*fid_ep = &ep->soft.kep.ep;
	return 0;

fini_soft:
	kofi_soft_ep_fini(&ep->soft);
destroy:
	rxm_destroy(ep);
	return ret;
}
