// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints without connections (FI_EP_RDM).
 *
 * Life of an endpoint
 *
 *	fi_endpoint()	it has its address from now on; peers that connect wait in the backlog
 *	fi_enable()	it accepts connections
 *	the end		ktcp_rdm_end(): it listens no more, its connections are over, and
 *			what was posted ends; the worker flushes receives
 *	fi_close()	waits for operations, for connections, and so for unexpected messages
 *
 * Life of a peer: peer.c.
 *
 * Life of a connection: link.c.  A connection is made when an operation needs it, or when the
 * peer connects (cm.c).  Data flow as in the connection of any endpoint (rx.c, tx.c).
 *
 * Life of an operation
 *
 *	posted		in kofi_soft_ep.posted, which holds those for all peers
 *	waiting		in ktcp_peer.posted: ktcp_rdm_route() has found the peer
 *	sent		by the holder of ktcp_conn.token of the peer's connection; from then on it
 *			ends with the connection
 *
 * The worker of the endpoint routes what is posted.  It also sends if the connection stands and
 * no other task sends or receives (ktcp_try_send()).  A client that may sleep routes and sends
 * within its call.  What the callbacks of a turn post is routed by the task that has called them,
 * in its next turn; see kofi/soft.h for other callbacks.  ktcp_rdm_route() moves operations from
 * the head of kofi_soft_ep.posted to the tail of ktcp_peer.posted under one lock, so those for one
 * peer stay in their order.  Only the worker routes to a peer without a connection, as that may
 * need memory and ktcp_cm_lock.
 *
 * Life of an unexpected message: unexpected.c.
 *
 * Locks are those of tcp.h.  kofi_soft_ep.lock guards the lists of operations of all peers,
 * which peers have a connection, and unexpected messages.  Connections send and receive in
 * parallel.
 */
#include <kofi/refuse.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "rdm.h"

#define KTCP_RDM_BUDGET	64	/* operations between two looks at the scheduler */

static const struct kofi_ep_limits ktcp_rdm_limits = {
	.cntr_dirs	= KTCP_CNTR_DIRS,
	.tx_op_flags	= KTCP_TX_OP_FLAGS,
	.rx_op_flags	= KTCP_RX_OP_FLAGS,
	.tx_flags	= KTCP_TX_FLAGS | FI_TAGGED,
	.recv_flags	= KTCP_RX_OP_FLAGS | FI_MORE,
	.trecv_flags	= KTCP_RX_OP_FLAGS | FI_MORE | FI_PEEK | FI_CLAIM | FI_DISCARD,
	.av		= true,
	.lent_iov	= KOFI_OP_LENT_IOV,
};

/* Operations on their way to a peer */

/**
 * struct ktcp_route - Where the operations at the head of the list go
 * @addr: address of a peer that has to be made, or dialled
 * @index: its receive context
 * @link: connection that has something to send, with a reference; or NULL
 * @op: an operation whose address the address vector does not know; or NULL
 * @more: there is another operation; false: nothing is posted any more
 */
struct ktcp_route {
	struct sockaddr_storage	addr;
	u32			index;
	struct ktcp_link	*link;
	struct kofi_soft_op	*op;
	bool			more;
};

/* kofi_soft_type.admit: while less than half of the queue is used, each operation is admitted */
bool ktcp_rdm_admit(struct kofi_soft_op *op)
{
	struct ktcp_rdm *rdm = to_ktcp_rdm(op->ep->hub);
	struct kofi_av *av = ktcp_rdm_av(rdm);
	struct sockaddr_storage addr __uninitialized;
	bool room = true;

	lockdep_assert_held(&rdm->soft.lock);
	if (2 * (rdm->waiting + rdm->unrouted) >= rdm->queue &&
	    kofi_av_count(av) > 1 && kofi_av_addr(av, op->kept.addr, &addr)) {
		rcu_read_lock();
		room = ktcp_peer_has_room(rdm, &addr, kofi_av_rx_index(av, op->kept.addr));
		rcu_read_unlock();
	}
	if (room) {
		rdm->unrouted++;
	} else {
		rdm->refused = true;
		if (rdm->unrouted)
			WRITE_ONCE(rdm->refused_early, true);
	}
	return room;
}

/* Routes the first operation, and as many behind it that have its address */
static void ktcp_rdm_route_same(struct ktcp_rdm *rdm, struct ktcp_peer *peer, fi_addr_t addr)
{
	struct list_head *posted = &rdm->soft.posted;
	struct kofi_soft_op *op;
	int i;

	lockdep_assert_held(&rdm->soft.lock);
	for (i = 0; i < KTCP_GATHER; i++) {
		op = list_first_entry_or_null(posted, struct kofi_soft_op, entry);
		if (!op || op->kept.addr != addr)
			break;
		ktcp_peer_add(peer, op);
	}
}

/* Return true if the last operation that was routed had this address, and its peer stands */
static bool ktcp_rdm_is_recent(const struct ktcp_rdm *rdm, fi_addr_t addr, unsigned long changes)
{
	const struct ktcp_peer *peer = rdm->recent;

	lockdep_assert_held(&rdm->soft.lock);
	return peer && rdm->recent_addr == addr && rdm->recent_changes == changes && peer->open;
}

/* Routes the first operation to the peer of ktcp_rdm.recent */
static void ktcp_rdm_route_recent(struct ktcp_rdm *rdm, struct ktcp_route *route)
{
	struct ktcp_peer *peer = rdm->recent;

	ktcp_rdm_route_same(rdm, peer, rdm->recent_addr);
	route->more = !list_empty(&rdm->soft.posted);
	route->link = peer->link;
	refcount_inc(&route->link->refs);
}

/*
 * Routes the first operation, with those behind it for its peer.  False: it is routed, or it is
 * route->op, or there is none; true: nothing was done, and the peer at route->addr is to be
 * dialled.
 */
static bool ktcp_rdm_route_one(struct ktcp_rdm *rdm, struct ktcp_route *route)
{
	struct kofi_av *av = ktcp_rdm_av(rdm);
	struct kofi_soft_op *op;
	struct ktcp_peer *peer;
	unsigned long changes;

	lockdep_assert_held(&rdm->soft.lock);
	op = list_first_entry_or_null(&rdm->soft.posted, struct kofi_soft_op, entry);
	route->op = NULL;
	route->link = NULL;
	route->more = op;
	if (!op)
		return false;
	/* Only an endpoint with an address vector has operations */
	changes = kofi_av_changes(av);
	if (likely(ktcp_rdm_is_recent(rdm, op->kept.addr, changes))) {
		ktcp_rdm_route_recent(rdm, route);
		return false;
	}
	route->index = kofi_av_rx_index(av, op->kept.addr);
	if (!kofi_av_addr(av, op->kept.addr, &route->addr)) {
		list_del(&op->entry);
		rdm->unrouted--;
		route->op = op;
		route->more = !list_empty(&rdm->soft.posted);
		return false;
	}
	peer = ktcp_peer_find(rdm, &route->addr, route->index);
	if (!peer || peer->forgotten || !peer->open)
		return true;
	rdm->recent = peer;
	rdm->recent_addr = op->kept.addr;
	rdm->recent_changes = changes;
	ktcp_rdm_route_recent(rdm, route);
	return false;
}

/* Give the first operation to the peer of a route, and dial that peer */
static void ktcp_rdm_route_dial(struct ktcp_rdm *rdm, const struct ktcp_route *route)
{
	struct kofi_av *av = ktcp_rdm_av(rdm);
	struct kofi_soft_op *op, *failed = NULL;
	struct sockaddr_storage again;
	struct ktcp_peer *peer;
	unsigned int noio;

	noio = ktcp_cm_enter();
	peer = ktcp_peer_get(rdm, &route->addr, route->index);
	spin_lock_irq(&rdm->soft.lock);
	op = list_first_entry_or_null(&rdm->soft.posted, struct kofi_soft_op, entry);
	/* A client's call may have routed the operation, if the peer has connected meanwhile */
	if (op && kofi_av_addr(av, op->kept.addr, &again) &&
	    kofi_addr_equal(&again, &route->addr) &&
	    kofi_av_rx_index(av, op->kept.addr) == route->index) {
		if (peer) {
			ktcp_peer_add(peer, op);
		} else {
			list_del(&op->entry);
			rdm->unrouted--;
			failed = op;
		}
	}
	spin_unlock_irq(&rdm->soft.lock);
	if (peer && peer->link)
		ktcp_kick(&peer->link->conn);
	if (peer)
		ktcp_peer_settle(peer);
	ktcp_cm_leave(noio);
	if (failed)
		kofi_soft_op_done(failed, ENOMEM);
}

/* Sends what was routed to a connection, unless it is @own.  Gives a reference back */
static void ktcp_rdm_send_routed(struct ktcp_link *link, const struct ktcp_link *own)
{
	if (link != own)
		ktcp_try_send(&link->conn);
	ktcp_link_put(link);
}

/*
 * Routes what is posted, and sends it if that can be done.  @dial: peers may be dialled;
 * otherwise an operation for a peer that has to be dialled stays.  @own: connection that the caller
 * has a turn of afterwards, or NULL.  Returns whether something is left.
 */
static bool ktcp_rdm_route(struct ktcp_rdm *rdm, bool dial, const struct ktcp_link *own)
{
	struct ktcp_link *last = NULL;
	struct ktcp_route route __uninitialized;
	bool routed = false, absent;
	int i;

	for (i = 0; i < KTCP_RDM_BUDGET; i++) {
		rcu_read_lock();
		spin_lock_irq(&rdm->soft.lock);
		absent = ktcp_rdm_route_one(rdm, &route);
		spin_unlock_irq(&rdm->soft.lock);
		rcu_read_unlock();
		if (last && last == route.link)
			ktcp_link_put(last);
		else if (last)
			ktcp_rdm_send_routed(last, own);
		last = route.link;
		if (absent ? !dial : !route.link && !route.op)
			break;
		routed = true;
		if (absent)
			ktcp_rdm_route_dial(rdm, &route);
		else if (route.op)
			kofi_soft_op_done(route.op, EINVAL);
		if (!route.more)
			break;
	}
	if (last)
		ktcp_rdm_send_routed(last, own);
	/* Operations that were not routed counted for each peer (ktcp_peer_has_room()) */
	if (routed && READ_ONCE(rdm->refused_early)) {
		spin_lock_irq(&rdm->soft.lock);
		ktcp_rdm_room(rdm);
		spin_unlock_irq(&rdm->soft.lock);
	}
	return route.more;
}

/* kofi_soft_type.now */
void ktcp_rdm_now(struct kofi_soft_ep *soft)
{
	if (ktcp_rdm_route(to_ktcp_rdm(soft), false, NULL))
		kofi_soft_kick(soft);
}

/* Routes what the callbacks of a turn have posted; the connection gets another turn */
static void ktcp_rdm_posted(struct ktcp_conn *conn)
{
	struct ktcp_link *link = to_ktcp_link(conn);

	if (ktcp_rdm_route(link->rdm, false, link))
		kofi_soft_kick(&link->rdm->soft);
}

/* struct ktcp_upper */

static void ktcp_rdm_put_link(struct ktcp_conn *conn)
{
	ktcp_link_put(to_ktcp_link(conn));
}

static void ktcp_rdm_abort(struct ktcp_conn *conn, int err)
{
	ktcp_unexp_abort(conn, err);
	ktcp_rts_abort(conn, err);
}

static void ktcp_rdm_begun(struct ktcp_conn *conn, const struct kofi_soft_ep *ctx)
{
	__set_bit(ctx->index, &to_ktcp_link(conn)->senders);
}

static int ktcp_rdm_start(struct ktcp_conn *conn)
{
	const struct ktcp_hdr *hdr = &conn->rx.hdr;

	if (hdr->flags & TCP_WIRE_LEAVE)
		return ktcp_start_leave(conn);
	switch (hdr->op) {
	case TCP_WIRE_CTS:
		return ktcp_start_cts(conn);
	case TCP_WIRE_DATA:
		return ktcp_start_data(conn);
	default:
		return ktcp_start_declined(conn);
	}
}

static const struct ktcp_upper ktcp_rdm_upper = {
	.try_get	= ktcp_link_try_get,
	.put		= ktcp_rdm_put_link,
	.is_over	= ktcp_link_is_over,
	.posted		= ktcp_rdm_posted,
	.leave		= ktcp_idle_check,
	.hung_up	= ktcp_unexp_hung_up,
	.check		= ktcp_rts_look,
	.awaits		= ktcp_rts_await,
	.abort		= ktcp_rdm_abort,
	.heard		= ktcp_idle_heard,
	.hold_ack	= ktcp_unexp_hold_ack,
	.start		= ktcp_rdm_start,
	.arrive		= ktcp_unexp_arrive,
	.look		= ktcp_unexp_look,
	.data		= ktcp_unexp_data,
	.filled		= ktcp_unexp_filled,
	.await		= ktcp_link_await,
	.stall		= ktcp_link_stall,
	.source		= ktcp_link_source,
	.may_begin	= ktcp_rts_may_begin,
	.number		= ktcp_rts_number,
	.begun		= ktcp_rdm_begun,
	.sent		= ktcp_rts_done,
	.signal_is_due	= ktcp_rts_signal_is_due,
	.signal		= ktcp_rts_signal,
};

/* The end */

static void ktcp_rdm_end(struct ktcp_rdm *rdm)
{
	struct ktcp_peer *peer;
	struct ktcp_link *link;

	lockdep_assert_held(&ktcp_cm_lock);
	kofi_soft_ep_over(&rdm->soft);
	if (rdm->ended)
		return;
	rdm->ended = true;
	ktcp_listener_close(&rdm->listener);
	/* Each worker unlists its link later; ktcp_link_end() ends what waits for the peer */
	list_for_each_entry(link, &rdm->links, entry)
		ktcp_link_end(link, ECANCELED);
	while ((peer = list_first_entry_or_null(&rdm->unsettled, struct ktcp_peer, entry)))
		ktcp_peer_cancel(peer, ECANCELED);
}

/* Ends operations and receives of an endpoint that is over, by its worker */
static void ktcp_rdm_flush(struct ktcp_rdm *rdm)
{
	struct kofi_soft_op *op, *next;
	LIST_HEAD(posted);

	if (rdm->flushed)
		return;
	rdm->flushed = true;
	spin_lock_irq(&rdm->soft.lock);
	list_splice_init(&rdm->soft.posted, &posted);
	rdm->unrouted = 0;
	/* A client that posts again gets another answer */
	ktcp_rdm_room(rdm);
	spin_unlock_irq(&rdm->soft.lock);
	list_for_each_entry_safe(op, next, &posted, entry) {
		list_del(&op->entry);
		kofi_soft_op_done(op, ECANCELED);
	}
	if (!rdm->soft.kep.no_rx)
		kofi_srx_flush(&rdm->soft.own_srx, ECANCELED);
}

void ktcp_rdm_work(struct work_struct *work)
{
	struct ktcp_rdm *rdm = container_of(work, struct ktcp_rdm, soft.work);

	if (READ_ONCE(rdm->soft.over))
		ktcp_rdm_flush(rdm);
	else if (ktcp_rdm_route(rdm, true, NULL))
		kofi_soft_kick(&rdm->soft);
	ktcp_unexp_settle(rdm);
}

/* struct kofi_soft_type */

static void ktcp_rdm_shut(struct kofi_soft_ep *soft, int err)
{
	kofi_conn_end(&soft->kep.conn, err, 0, NULL, 0);
	ktcp_rdm_end(to_ktcp_rdm(soft));
}

static void ktcp_rdm_gone(struct kofi_soft_ep *soft)
{
	ktcp_rdm_end(to_ktcp_rdm(soft));
}

static void ktcp_rdm_close(struct kofi_soft_ep *soft)
{
	ktcp_rdm_shut(soft, ECANCELED);
}

/* An endpoint of this kind shares no receives, and has no events to wait for */
void ktcp_rdm_join(struct kofi_soft_ep *soft, bool join)
{
}

/* An event slot is free: resume the connections that stalled for one */
void ktcp_rdm_event_room(struct kofi_soft_ep *soft)
{
	ktcp_rdm_unstall(to_ktcp_rdm(soft->hub));
}

static void ktcp_rdm_destroy(struct ktcp_rdm *rdm)
{
	/* Each connection, operation and message has given back what it counted */
	WARN_ON_ONCE(rdm->accepted || rdm->dialling || rdm->unrouted || rdm->waiting ||
		     rdm->unexp_waiting || rdm->room.used.msgs || rdm->room.used.bytes ||
		     rdm->rts_room.used.msgs);
	ktcp_listener_fini(&rdm->listener);
	cancel_delayed_work_sync(&rdm->tick);
	ktcp_peers_destroy(rdm);
	kfree(rdm);
}

static void ktcp_rdm_free(struct kofi_soft_ep *soft)
{
	struct ktcp_rdm *rdm = to_ktcp_rdm(soft);

	/* kofi_soft_close() has cancelled the worker, and @press may have queued it again since */
	cancel_delayed_work_sync(&rdm->press);
	cancel_work_sync(&soft->work);
	kofi_soft_ep_fini(soft);
	ktcp_rdm_destroy(rdm);
}

struct kofi_soft_type ktcp_rdm_type = {
	.lock		= &ktcp_cm_lock,
	.own_rx		= &ktcp_rdm_srx_ops,
	.op_size	= sizeof(struct ktcp_op),
	.max_queue	= KTCP_MAX_QUEUE,
	.max_msg	= KTCP_MAX_MSG,
	.work		= ktcp_rdm_work,
	.now		= ktcp_rdm_now,
	.admit		= ktcp_rdm_admit,
	.event_room	= ktcp_rdm_event_room,
	.reserves	= ktcp_reserves_prepare,
	.join		= ktcp_rdm_join,
	.shut		= ktcp_rdm_shut,
	.gone		= ktcp_rdm_gone,
	.close		= ktcp_rdm_close,
	.free		= ktcp_rdm_free,
	.ctx		= ktcp_ctx_new,
};

/* fi_enable() has come: the endpoint accepts connections of peers */
static void ktcp_rdm_changed(struct kofi_conn *conn)
{
	struct ktcp_rdm *rdm = container_of(conn, struct ktcp_rdm, soft.kep.conn);

	if (conn->state == KOFI_CONN_ENABLED)
		ktcp_listener_open(&rdm->listener);
}

static int ktcp_rdm_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return kofi_addr_copy_out(&to_ktcp_rdm(to_kofi_soft_ep(fid)->hub)->name, addr, addrlen);
}

const struct fi_ops_cm ktcp_rdm_cm_ops = {
	.size		= sizeof(struct fi_ops_cm),
	.setname	= kofi_soft_setname,
	.getname	= ktcp_rdm_getname,
	.getpeer	= fi_no_getpeer,
	.connect	= fi_no_connect,
	.listen		= fi_no_listen,
	.accept		= fi_no_accept,
	.reject		= fi_no_reject,
	.shutdown	= fi_no_shutdown,
	.join		= fi_no_join,
};

/* Gives an endpoint its address, and puts it where the end of its namespace finds it */
static int ktcp_rdm_claim(struct ktcp_rdm *rdm)
{
	struct kofi_soft_fabric *fabric = rdm->soft.domain->fabric;
	unsigned int noio;
	int ret = 0;

	noio = ktcp_cm_enter();
	if (!fabric->net)
		ret = -ENODEV;
	if (!ret)
		ret = ktcp_listener_bind(&rdm->listener, fabric->net, &rdm->name);
	if (ret)
		goto unlock;
	/* Listens at once, as a socket that does not listen shares its address */
	ret = kernel_listen(rdm->listener.sk.sock, KTCP_RDM_BACKLOG);
	if (ret) {
		ktcp_listener_close(&rdm->listener);
		goto unlock;
	}
	list_add_tail(&rdm->soft.of_fabric, &fabric->eps);
	ktcp_note_interface(fabric->net, &rdm->name, &rdm->ifindex);
unlock:
	ktcp_cm_leave(noio);
	return ret;
}

static struct ktcp_rdm *ktcp_rdm_new(const struct fi_info *info)
{
	struct ktcp_rdm *rdm = kzalloc(sizeof(*rdm), GFP_KERNEL);

	if (!rdm)
		return NULL;
	rdm->upper = &ktcp_rdm_upper;
	rdm->tclass = info->tx_attr->tclass ? : info->domain_attr->tclass;
	do {
		rdm->pid = get_random_u32();
	} while (!rdm->pid);
	INIT_LIST_HEAD(&rdm->links);
	INIT_LIST_HEAD(&rdm->unsettled);
	INIT_LIST_HEAD(&rdm->settled);
	INIT_LIST_HEAD(&rdm->stalled);
	INIT_LIST_HEAD(&rdm->kept);
	INIT_DELAYED_WORK(&rdm->tick, ktcp_peer_tick);
	INIT_DELAYED_WORK(&rdm->press, ktcp_unexp_press);
	ktcp_listener_init(&rdm->listener, &rdm->soft.kep.ep.fid, rdm->tclass, ktcp_rdm_asked);
	rdm->listener.contexts = true;
	kofi_sources_init(&rdm->sources);
	ktcp_unexp_init(rdm);
	if (!ktcp_peers_init(rdm))
		return rdm;
	kfree(rdm);
	return NULL;
}

/* Sets the address, which is no wildcard: peers know the endpoint by it */
static int ktcp_rdm_name(struct ktcp_rdm *rdm, const struct fi_info *info)
{
	int ret;

	if (!info->src_addr)
		return kofi_refuse("endpoint", -EADDRNOTAVAIL, "info->src_addr is NULL; peers know the endpoint by it");
	ret = kofi_addr_get("endpoint", "info->src_addr", &rdm->name, info->src_addr,
			    info->src_addrlen);
	if (!ret && kofi_addr_any(&rdm->name))
		ret = kofi_refuse("endpoint", -EADDRNOTAVAIL, "info->src_addr is the wildcard address; peers know the endpoint by it");
	return ret;
}

/**
 * ktcp_rdm_rx_room() - What receives of an endpoint, or receive context, have room for
 * @info: what it is opened with
 *
 * Context: any.
 * Return: the attributes.
 */
struct kofi_srx_attr ktcp_rdm_rx_room(const struct fi_info *info)
{
	return (struct kofi_srx_attr) {
		.size		= info->rx_attr->size,
		.iov_limit	= KOFI_OP_IOV,
		.max_msgs	= KTCP_UNEXP_WAIT,
		.multi		= info->caps & FI_MULTI_RECV ? info->rx_attr->size : 0,
		.min_multi_recv	= KTCP_MIN_MULTI,
		.directed	= info->caps & FI_DIRECTED_RECV,
	};
}

static int ktcp_rdm_open(struct fid_domain *domain, struct fi_info *info, bool scalable,
			 struct fid_ep **fid_ep, void *context)
{
	const struct kofi_srx_attr room = ktcp_rdm_rx_room(info);
	struct ktcp_rdm *rdm;
	int ret;

	if (info->handle)
		return kofi_refuse("endpoint", -EINVAL, "info->handle: an endpoint of the type FI_EP_RDM accepts no request");
	if (info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT)
		return kofi_refuse("endpoint", -EINVAL, "info->ep_attr->rx_ctx_cnt: endpoints of the type FI_EP_RDM share no receives");
	rdm = ktcp_rdm_new(info);
	if (!rdm)
		return -ENOMEM;
	rdm->queue = info->tx_attr->size * (scalable ? info->ep_attr->tx_ctx_cnt : 1);
	ret = ktcp_rdm_name(rdm, info);
	if (!ret && scalable)
		ret = kofi_soft_sep_init(&rdm->soft, &ktcp_rdm_type, domain, info,
					 &ktcp_rdm_limits, context);
	else if (!ret)
		ret = kofi_soft_ep_init(&rdm->soft, &ktcp_rdm_type, domain, info,
					&ktcp_rdm_limits, &room, context);
	if (ret)
		goto destroy;
	rdm->soft.kep.ep.cm = &ktcp_rdm_cm_ops;
	rdm->soft.kep.conn.changed = ktcp_rdm_changed;
	ret = ktcp_rdm_claim(rdm);
	if (ret)
		goto fini_soft;
	*fid_ep = &rdm->soft.kep.ep;
	return 0;

fini_soft:
	kofi_soft_ep_fini(&rdm->soft);
destroy:
	ktcp_rdm_destroy(rdm);
	return ret;
}

/**
 * ktcp_rdm_endpoint() - Open an endpoint without connections
 * @domain: as fi_endpoint()
 * @info: as fi_endpoint(), FI_EP_RDM
 * @ep: as fi_endpoint()
 * @context: as fi_endpoint()
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: with a shared receive context, or as kofi_soft_ep_init();
 * -EADDRNOTAVAIL: it has no address of its own; -EADDRINUSE; -ENODEV: the namespace has gone;
 * -ENOMEM.
 */
int ktcp_rdm_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		      void *context)
{
	return ktcp_rdm_open(domain, info, false, ep, context);
}

/**
 * ktcp_rdm_scalable() - Open a scalable endpoint
 * @domain: as fi_scalable_ep()
 * @info: as fi_scalable_ep()
 * @sep: as fi_scalable_ep()
 * @context: as fi_scalable_ep()
 *
 * Context: may sleep.
 * Return: as ktcp_rdm_endpoint(), and kofi_soft_sep_init().
 */
int ktcp_rdm_scalable(struct fid_domain *domain, struct fi_info *info, struct fid_ep **sep,
		      void *context)
{
	return ktcp_rdm_open(domain, info, true, sep, context);
}
