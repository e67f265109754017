// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peers and their connections: rxm_ep.cm, which makes all control calls of lower objects.
 *
 * A peer is made when an operation is routed to its address, or when it connects.  It is forgotten
 * when it has neither a connection nor an operation.  So connections and operations bound what
 * peers cost.
 *
 * Each end listens, and either may dial.  The request names the port that its sender listens at;
 * with the address that the request comes from, this is the address that the accepting end has
 * in its address vector.  The request also names the incarnation of its sender, a random number.
 *
 * Two ends have one connection.  If both dial at once, the request of the end with the larger
 * address counts (rxm_judge()):
 *
 *	no connection		accept
 *	we dial, too		the peer's address is larger: accept, and drop ours;
 *				smaller: refuse, as the peer will accept ours
 *	from the own address	the endpoint dials itself, and has both ends, if the request
 *				names the connection that dials; else refuse
 *	a connection stands	refuse if it is with the same incarnation; else accept, and
 *				drop the old one
 *
 * A peer that operations wait for is dialled, RXM_DIALS peers at a time.  If it refuses because
 * it dials, too, or if somebody was short of something, it is dialled again after a random time,
 * unless its request comes first.  RXM_DIAL_MS after the first attempt the operations end.
 *
 * When a connection ends, an operation of which a packet has been sent ends with it.  Operations
 * behind it wait for the next connection, unless the peer has died (ETIMEDOUT): to find out that it
 * is still dead would take as long again.
 */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/rhashtable.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "rxm.h"

static struct kofi_param accepted_max = { .value = RXM_CONNS, .min = 1, .max = U16_MAX };
module_param_cb(accepted_max, &kofi_param_ops, &accepted_max, 0644);
MODULE_PARM_DESC(accepted_max, "connections that an endpoint accepts from all peers (default 4096)");

static struct kofi_param address_max = { .value = RXM_ADDRESS_CONNS, .min = 1, .max = U16_MAX };
module_param_cb(address_max, &kofi_param_ops, &address_max, 0644);
MODULE_PARM_DESC(address_max, "connections that an endpoint accepts from one address, of IPv6 from one network of 64 bits (default 1024)");

/* An event, with room for connection data */
union rxm_event {
	struct fi_eq_cm_entry	cm;
	struct fi_eq_entry	entry;
	u8			raw[sizeof(struct fi_eq_cm_entry) + 256];
};

/* What is done with a request */
enum rxm_verdict {
	RXM_REFUSE,
	RXM_ACCEPT,
	RXM_ACCEPT_SELF,
};

/* The table of peers */

static const struct rhashtable_params rxm_peer_params = {
	.head_offset		= offsetof(struct rxm_peer, node),
	.key_offset		= offsetof(struct rxm_peer, key),
	.key_len		= sizeof(struct kofi_peer_key),
	.automatic_shrinking	= true,
};

int rxm_peers_init(struct rxm_ep *ep)
{
	return rhashtable_init(&ep->peers, &rxm_peer_params);
}

static void rxm_peer_free(void *peer, void *unused)
{
	kfree(peer);
}

/* Called when nothing of the endpoint runs any more, and no peer has operations */
void rxm_peers_destroy(struct rxm_ep *ep)
{
	rhashtable_free_and_destroy(&ep->peers, rxm_peer_free, NULL);
}

/**
 * rxm_peer_find() - Look a peer up
 * @ep: the endpoint
 * @addr: its address
 *
 * Context: any, with kofi_soft_ep.lock held, or in rxm_ep.cm.
 * Return: the peer, or NULL.
 */
struct rxm_peer *rxm_peer_find(struct rxm_ep *ep, const struct sockaddr_storage *addr)
{
	struct kofi_peer_key key;

	kofi_peer_key_set(&key, addr, 0);
	return rhashtable_lookup_fast(&ep->peers, &key, rxm_peer_params);
}

/**
 * rxm_peer_new() - Make a peer, which rxm_peer_insert() makes known
 * @addr: its address
 *
 * Context: may sleep.
 * Return: the peer, or NULL: there is no memory.
 */
struct rxm_peer *rxm_peer_new(const struct sockaddr_storage *addr)
{
	struct rxm_peer *peer = kzalloc(sizeof(*peer), GFP_KERNEL);

	if (!peer)
		return NULL;
	kofi_peer_key_set(&peer->key, addr, 0);
	peer->addr = *addr;
	INIT_LIST_HEAD(&peer->posted);
	INIT_LIST_HEAD(&peer->entry);
	return peer;
}

/**
 * rxm_peer_insert() - Make a peer known
 * @ep: the endpoint
 * @peer: the peer, which gets an operation or a connection
 *
 * Context: process, between rxm_peers_lock() and rxm_peers_unlock().
 * Return: whether there was memory for it.
 */
bool rxm_peer_insert(struct rxm_ep *ep, struct rxm_peer *peer)
{
	lockdep_assert_held(&ep->soft.lock);
	return !rhashtable_insert_fast(&ep->peers, &peer->node, rxm_peer_params);
}

/**
 * rxm_peer_post() - An operation is to be sent to a peer
 * @ep: the endpoint
 * @peer: the peer
 * @op: the operation, in no list
 *
 * Context: any, with kofi_soft_ep.lock held.
 * Return: the connection of the peer, by which the operation is to be sent; NULL: there is none
 * yet.
 */
struct rxm_conn *rxm_peer_post(struct rxm_ep *ep, struct rxm_peer *peer, struct kofi_soft_op *op)
{
	lockdep_assert_held(&ep->soft.lock);
	list_add_tail(&op->entry, &peer->posted);
	if (!peer->conn && list_empty(&peer->entry)) {
		list_add_tail(&peer->entry, &ep->unsettled);
		rxm_cm_kick(ep);
	}
	return peer->conn;
}

/* Has rxm_ep.cm look at the peer when RXM_TICK has passed */
static void rxm_peer_later(struct rxm_ep *ep, struct rxm_peer *peer)
{
	spin_lock_irq(&ep->soft.lock);
	if (list_empty(&peer->entry))
		list_add_tail(&peer->entry, &ep->unsettled);
	spin_unlock_irq(&ep->soft.lock);
	rxm_cm_later(ep, RXM_TICK);
}

/* Forgets a peer without a connection and without operations; returns whether it was one */
static bool rxm_peer_forget(struct rxm_ep *ep, struct rxm_peer *peer)
{
	bool forget;

	rxm_peers_lock(ep);
	forget = !peer->conn && list_empty(&peer->posted);
	if (forget) {
		list_del(&peer->entry);
		rhashtable_remove_fast(&ep->peers, &peer->node, rxm_peer_params);
	}
	rxm_peers_unlock(ep);
	if (forget)
		kfree_rcu(peer, rcu);
	return forget;
}

/* Ends the operations that wait for a peer without a connection, which may be forgotten */
static void rxm_peer_cancel(struct rxm_ep *ep, struct rxm_peer *peer, int err)
{
	struct kofi_soft_op *op, *next;
	LIST_HEAD(posted);

	spin_lock_irq(&ep->soft.lock);
	list_splice_init(&peer->posted, &posted);
	spin_unlock_irq(&ep->soft.lock);
	kofi_redial_end(&peer->redial);
	rxm_peer_forget(ep, peer);
	list_for_each_entry_safe(op, next, &posted, entry) {
		list_del(&op->entry);
		kofi_soft_op_done(op, err);
	}
}

/* An attempt to connect has failed; the peer may be forgotten */
static void rxm_not_reached(struct rxm_ep *ep, struct rxm_peer *peer, int err)
{
	if (kofi_redial_failed(&peer->redial, err, RXM_TICK))
		rxm_peer_later(ep, peer);
	else
		rxm_peer_cancel(ep, peer, err == EALREADY ? ECONNREFUSED : err);
}

/* Connections */

/* What this end names itself by in connection data */
static u64 rxm_own_id(const struct rxm_conn *conn)
{
	return (u64)conn->ep->pid << 32 | conn->id;
}

/* Makes @conn the connection with @peer; without a peer it only receives */
static void rxm_join_peer(struct rxm_conn *conn, struct rxm_peer *peer, enum rxm_conn_state state)
{
	struct rxm_ep *ep = conn->ep;

	spin_lock_irq(&ep->soft.lock);
	conn->state = state;
	conn->peer = peer;
	if (peer)
		peer->conn = conn;
	spin_unlock_irq(&ep->soft.lock);
	conn->accepted = state == RXM_ACCEPTING;
	if (conn->accepted) {
		ep->nconns++;
		conn->source->accepted++;
	} else {
		ep->dialling++;
	}
}

/* Ends a connection, or an attempt; the peer is the caller's, and may be NULL */
static struct rxm_peer *rxm_drop(struct rxm_conn *conn, int err)
{
	struct rxm_ep *ep = conn->ep;
	struct rxm_peer *peer;
	LIST_HEAD(posted);

	spin_lock_irq(&ep->soft.lock);
	peer = conn->peer;
	conn->peer = NULL;
	if (peer)
		peer->conn = NULL;
	spin_unlock_irq(&ep->soft.lock);
	if (conn->accepted) {
		ep->nconns--;
		conn->source->accepted--;
	} else if (conn->state == RXM_DIALLING) {
		ep->dialling--;
	}
	rxm_conn_close(conn, err, &posted);
	spin_lock_irq(&ep->soft.lock);
	if (peer)
		list_splice(&posted, &peer->posted);
	spin_unlock_irq(&ep->soft.lock);
	return peer;
}

/*
 * Has a connection been of use?  Otherwise the peer counts as one that is not reached, or it could
 * have operations wait for good by ending each connection before one of them has begun.
 */
static bool rxm_was_of_use(const struct rxm_conn *conn)
{
	return conn->used || (conn->state == RXM_OPEN &&
			      time_after(jiffies, conn->opened + msecs_to_jiffies(RXM_DIAL_MS)));
}

/* A connection, or an attempt to make one, has ended by itself or by the peer */
static void rxm_lost(struct rxm_conn *conn, int err)
{
	bool dialled = conn->state == RXM_DIALLING, used = conn->used || conn->leaving;
	bool reached = rxm_was_of_use(conn);
	struct rxm_ep *ep = conn->ep;
	struct rxm_peer *peer = rxm_drop(conn, err);

	if (!peer)
		return;
	if (reached)
		kofi_redial_end(&peer->redial);
	if (!dialled && (err == ETIMEDOUT || err == ENODEV))
		rxm_peer_cancel(ep, peer, err);
	else if (!dialled && used)
		rxm_peer_later(ep, peer);
	else
		/* The peer may hang up on each connection: the next attempt is made later */
		rxm_not_reached(ep, peer, dialled ? err : ECONNRESET);
}

static void rxm_opened(struct rxm_conn *conn)
{
	struct rxm_ep *ep = conn->ep;

	if (conn->state == RXM_DIALLING)
		ep->dialling--;
	conn->opened = jiffies;
	kofi_ep_connected(&ep->soft.kep);
	spin_lock_irq(&ep->soft.lock);
	conn->state = RXM_OPEN;
	rxm_conn_ready(conn);
	rxm_credit_check(conn);
	kofi_soft_kick(&ep->soft);
	spin_unlock_irq(&ep->soft.lock);
}

static void rxm_dial(struct rxm_ep *ep, struct rxm_peer *peer)
{
	struct rxm_wire_request msg = {
		.version	= RXM_WIRE_CM_VERSION,
		.endian		= RXM_WIRE_ENDIAN,
		.ctrl_version	= RXM_WIRE_CTRL_VERSION,
		.op_version	= RXM_WIRE_OP_VERSION,
		.port		= kofi_addr_port(&ep->name),
		.flow_ctrl	= rxm_credit_flow(ep),
		.eager_limit	= rxm_eager(),
		.rx_size	= RXM_RX,
	};
	struct rxm_conn *conn;
	int ret;

	kofi_redial_begin(&peer->redial, msecs_to_jiffies(RXM_DIAL_MS));
	conn = rxm_conn_open(ep, ep->info, &peer->addr, &ret);
	if (!conn) {
		rxm_not_reached(ep, peer, -ret);
		return;
	}
	rxm_join_peer(conn, peer, RXM_DIALLING);
	msg.conn_id = rxm_own_id(conn);
	ret = fi_connect(conn->lower, &peer->addr, &msg, sizeof(msg));
	if (ret)
		rxm_lost(conn, -ret);
}

/* Does what is due for a peer, which may be forgotten */
static void rxm_peer_settle(struct rxm_ep *ep, struct rxm_peer *peer)
{
	if (peer->conn || rxm_peer_forget(ep, peer))
		return;
	if (ep->dialling >= RXM_DIALS || kofi_redial_is_early(&peer->redial))
		rxm_peer_later(ep, peer);
	else
		rxm_dial(ep, peer);
}

static void rxm_settle_peers(struct rxm_ep *ep)
{
	struct rxm_peer *peer;
	LIST_HEAD(todo);

	spin_lock_irq(&ep->soft.lock);
	list_splice_init(&ep->unsettled, &todo);
	while ((peer = list_first_entry_or_null(&todo, struct rxm_peer, entry))) {
		list_del_init(&peer->entry);
		spin_unlock_irq(&ep->soft.lock);
		rxm_peer_settle(ep, peer);
		spin_lock_irq(&ep->soft.lock);
	}
	spin_unlock_irq(&ep->soft.lock);
}

/* Requests of peers */

/* Do both ends count credits, or neither need?  Otherwise the peer would end the connection */
static bool rxm_flow_fits(const struct rxm_ep *ep, const struct sockaddr_storage *addr,
			  u8 flow_ctrl, u32 rx_size)
{
	if (rxm_credit_fits(ep, flow_ctrl, rx_size))
		return true;
	pr_debug_ratelimited("%pISpc counts no credits, flow control %u, receives %u\n", addr,
			     flow_ctrl, rx_size);
	return false;
}

/* Reads a request, and the address of its sender; returns whether both ends fit */
static bool rxm_request_get(const struct rxm_ep *ep, const struct fi_info *info, const void *data,
			    size_t len, struct rxm_wire_request *msg,
			    struct sockaddr_storage *addr)
{
	memcpy(msg, data, min(len, sizeof(*msg)));
	if (rxm_wire_request_check(msg, len, rxm_eager()))
		return false;
	if (kofi_addr_from_info(addr, info->dest_addr, info->dest_addrlen) ||
	    addr->ss_family != ep->name.ss_family)
		return false;
	kofi_addr_set_port(addr, msg->port);
	return rxm_flow_fits(ep, addr, msg->flow_ctrl, msg->rx_size);
}

/* Return true if a connection from an address that rxm_judge() accepts finds room */
static bool rxm_has_room(struct rxm_ep *ep, const struct sockaddr_storage *addr)
{
	const struct rxm_peer *peer = rxm_peer_find(ep, addr);
	/* rxm_accept() drops the old connection of the peer */
	unsigned int dropped = peer && peer->conn && peer->conn->accepted;

	return ep->nconns - dropped < READ_ONCE(accepted_max.value) &&
	       kofi_source_accepted(&ep->sources, addr) - dropped < READ_ONCE(address_max.value);
}

static enum rxm_verdict rxm_judge(struct rxm_ep *ep, const struct rxm_wire_request *msg,
				  const struct sockaddr_storage *addr)
{
	struct rxm_peer *peer = rxm_peer_find(ep, addr);
	const struct rxm_conn *conn = peer ? peer->conn : NULL;
	u32 pid = upper_32_bits(msg->conn_id);

	if (kofi_addr_equal(addr, &ep->name))
		return conn && conn->state == RXM_DIALLING && pid == ep->pid &&
		       (u32)msg->conn_id == conn->id ? RXM_ACCEPT_SELF : RXM_REFUSE;
	if (!conn)
		return RXM_ACCEPT;
	if (conn->state == RXM_DIALLING)
		return kofi_addr_cmp(addr, &ep->name) < 0 ? RXM_REFUSE : RXM_ACCEPT;
	return conn->pid == pid ? RXM_REFUSE : RXM_ACCEPT;
}

static void rxm_reject(struct rxm_ep *ep, struct fi_info *info, u8 reason)
{
	const struct rxm_wire_reject msg = {
		.version	= RXM_WIRE_CM_VERSION,
		.reason		= reason,
	};

	fi_reject(ep->pep, info->handle, &msg, sizeof(msg));
}

/* Finds the peer of a request, or makes it */
static struct rxm_peer *rxm_peer_get(struct rxm_ep *ep, const struct sockaddr_storage *addr)
{
	struct rxm_peer *peer = rxm_peer_new(addr), *old;

	rxm_peers_lock(ep);
	old = rxm_peer_find(ep, addr);
	if (!old && peer && rxm_peer_insert(ep, peer)) {
		old = peer;
		/* It is forgotten if its connection does not come about */
		list_add_tail(&peer->entry, &ep->unsettled);
	}
	rxm_peers_unlock(ep);
	if (old != peer)
		kfree(peer);
	return old;
}

static void rxm_accept(struct rxm_ep *ep, struct fi_info *info, const struct rxm_wire_request *msg,
		       const struct sockaddr_storage *addr, bool self)
{
	struct rxm_peer *peer = self ? NULL : rxm_peer_get(ep, addr);
	struct rxm_wire_accept answer = {
		.rx_size	= RXM_RX,
		.flow_ctrl	= rxm_credit_flow(ep),
		.kofi		= RXM_WIRE_KOFI,
	};
	struct rxm_conn *conn = NULL;
	int ret;

	if (self || peer)
		conn = rxm_conn_open(ep, info, addr, &ret);
	if (!conn) {
		/* Nothing happens if the lower endpoint has used the request up */
		rxm_reject(ep, info, RXM_WIRE_ALREADY);
		return;
	}
	if (peer && peer->conn)
		rxm_drop(peer->conn, ECONNRESET);
	rxm_join_peer(conn, peer, RXM_ACCEPTING);
	conn->peer_id = msg->conn_id;
	conn->pid = upper_32_bits(msg->conn_id);
	answer.conn_id = rxm_own_id(conn);
	/* No grant has come before the answer */
	rxm_credit_begin(conn, msg->rx_size);
	ret = fi_accept(conn->lower, &answer, sizeof(answer));
	if (ret)
		rxm_lost(conn, -ret);
}

/* FI_CONNREQ */
static void rxm_asked(struct rxm_ep *ep, struct fi_info *info, const void *data, size_t len)
{
	enum rxm_verdict verdict = RXM_REFUSE;
	u8 reason = RXM_WIRE_REFUSED;
	struct sockaddr_storage addr;
	struct rxm_wire_request msg;

	if (rxm_request_get(ep, info, data, len, &msg, &addr)) {
		reason = RXM_WIRE_ALREADY;
		verdict = rxm_judge(ep, &msg, &addr);
		if (verdict != RXM_REFUSE && !rxm_has_room(ep, &addr))
			verdict = RXM_REFUSE;
	}
	if (verdict == RXM_REFUSE)
		rxm_reject(ep, info, reason);
	else
		rxm_accept(ep, info, &msg, &addr, verdict == RXM_ACCEPT_SELF);
}

/* Events */

static void rxm_watch_conns(struct rxm_ep *ep)
{
	spin_lock_irq(&ep->soft.lock);
	rxm_watch_begin(ep);
	spin_unlock_irq(&ep->soft.lock);
}

/* FI_CONNECTED */
static void rxm_connected(struct rxm_conn *conn, const void *data, size_t len)
{
	struct rxm_wire_accept msg;

	if (conn->state == RXM_DIALLING) {
		if (len < sizeof(msg)) {
			rxm_lost(conn, ECONNREFUSED);
			return;
		}
		memcpy(&msg, data, sizeof(msg));
		if (!rxm_flow_fits(conn->ep, &conn->addr, msg.flow_ctrl, msg.rx_size) ||
		    !rxm_credit_begin(conn, msg.rx_size)) {
			rxm_lost(conn, ECONNREFUSED);
			return;
		}
		conn->peer_id = msg.conn_id;
		conn->pid = upper_32_bits(msg.conn_id);
		if (rxm_idle_begin(conn, &msg))
			rxm_watch_conns(conn->ep);
	}
	rxm_opened(conn);
}

static struct rxm_domain *rxm_domain_of(const struct rxm_ep *ep)
{
	return container_of(ep->soft.domain, struct rxm_domain, soft);
}

/* Has the device of an endpoint gone?  An RDMA device goes with all endpoints of its domain */
static bool rxm_ep_gone(struct kofi_soft_ep *soft)
{
	return to_rxm_ep(soft)->gone || READ_ONCE(rxm_domain_of(to_rxm_ep(soft))->has_gone);
}

static bool rxm_pep_gone(struct kofi_soft_pep *pep)
{
	return false;
}

/* An event that is an error */
static void rxm_event_err(struct rxm_ep *ep)
{
	struct rxm_domain *domain = rxm_domain_of(ep);
	struct fi_eq_err_entry err = {};
	const struct rxm_wire_reject *msg;

	if (fi_eq_readerr(ep->eq, &err, 0) < 0)
		return;
	if (err.err == ENODEV && !ep->gone) {
		ep->gone = true;
		if (rxm_is_qp(domain->protocol))
			WRITE_ONCE(domain->has_gone, true);
		kofi_soft_end_some(&rxm_type, rxm_ep_gone, rxm_pep_gone);
		if (rxm_is_qp(domain->protocol))
			rxm_device_gone(domain);
	}
	if (err.fid == &ep->pep->fid)
		return;
	msg = err.err_data;
	if (err.err == ECONNREFUSED && err.err_data_size >= sizeof(*msg) &&
	    msg->version == RXM_WIRE_CM_VERSION && msg->reason == RXM_WIRE_ALREADY)
		err.err = EALREADY;
	rxm_lost(err.fid->context, err.err);
}

/* Takes an event; returns whether there was one */
static bool rxm_event_take(struct rxm_ep *ep, union rxm_event *event)
{
	ssize_t len;
	u32 type;

	len = fi_eq_read(ep->eq, &type, event, sizeof(*event), 0);
	if (len == -FI_EAVAIL) {
		rxm_event_err(ep);
		return true;
	}
	if (len < 0)
		return false;
	len -= sizeof(event->cm);
	switch (type) {
	case FI_CONNREQ:
		rxm_asked(ep, event->cm.info, event->cm.data, len);
		fi_freeinfo(event->cm.info);
		break;
	case FI_CONNECTED:
		rxm_connected(event->cm.fid->context, event->cm.data, len);
		break;
	case FI_SHUTDOWN:
		rxm_lost(event->cm.fid->context, ECONNRESET);
		break;
	}
	return true;
}

/* Takes RXM_BUDGET events, so that requests do not hold up all else; are there more? */
static bool rxm_events(struct rxm_ep *ep)
{
	union rxm_event event;
	int i;

	for (i = 0; i < RXM_BUDGET; i++) {
		if (READ_ONCE(ep->soft.over) || !rxm_event_take(ep, &event))
			return false;
		cond_resched();
	}
	return true;
}

/* The end */

static void rxm_end_broken(struct rxm_ep *ep)
{
	struct rxm_conn *conn;
	int err = 0;

	do {
		spin_lock_irq(&ep->soft.lock);
		conn = list_first_entry_or_null(&ep->broken, struct rxm_conn, broken);
		if (conn)
			err = conn->err;
		spin_unlock_irq(&ep->soft.lock);
		if (conn)
			rxm_lost(conn, err);
	} while (conn);
}

/* A peer that has operations, or NULL */
static struct rxm_peer *rxm_peer_left(struct rxm_ep *ep)
{
	struct rhashtable_iter iter;
	struct rxm_peer *peer;

	rhashtable_walk_enter(&ep->peers, &iter);
	rhashtable_walk_start(&iter);
	do {
		peer = rhashtable_walk_next(&iter);
	} while (IS_ERR(peer));
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
	return peer;
}

/* Ends connections and peers of an endpoint that is over */
static void rxm_end_all(struct rxm_ep *ep)
{
	struct rxm_peer *peer;
	struct rxm_conn *conn;

	while ((conn = list_first_entry_or_null(&ep->conns, struct rxm_conn, entry)))
		rxm_drop(conn, ECANCELED);
	while ((peer = rxm_peer_left(ep)))
		rxm_peer_cancel(ep, peer, ECANCELED);
}

/**
 * rxm_cm_work() - Take events, dial, accept, and close
 * @work: rxm_ep.cm
 *
 * Context: may sleep.
 */
void rxm_cm_work(struct work_struct *work)
{
	struct rxm_ep *ep = container_of(to_delayed_work(work), struct rxm_ep, cm);
	unsigned int noio;
	bool more = false;

	/* Without a user there is neither a connection nor an operation, and none may be made */
	if (!kofi_soft_ep_try_get(&ep->soft))
		return;
	/* Writeback may wait for a connection */
	noio = memalloc_noio_save();
	if (!READ_ONCE(ep->soft.over)) {
		more = rxm_events(ep);
		rxm_end_broken(ep);
		rxm_settle_peers(ep);
		rxm_watch(ep);
	}
	if (more)
		rxm_cm_kick(ep);
	if (READ_ONCE(ep->soft.over))
		rxm_end_all(ep);
	memalloc_noio_restore(noio);
	/* fi_close() may go on now, and waits for this work item */
	kofi_soft_ep_put(&ep->soft);
}
