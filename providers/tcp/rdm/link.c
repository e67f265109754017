// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections of an endpoint without connections, and their workers.
 *
 * A connection is ktcp_peer.link from its beginning until it is over (ktcp_link_end()).  Its
 * worker then gives back what the connection has.  The struct ktcp_link stays until TCP has let
 * go of its pages and no unexpected message is left that has come by it.  The endpoint waits for
 * all of its connections.
 *
 * Callbacks of the socket, posts, receives and TCP queue the worker (ktcp_kick()).  A caller
 * without a reference is in an RCU section, or holds kofi_soft_ep.lock.  So the memory is freed a
 * grace period after the last reference, when the worker has stopped.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <kofi/compat.h>
#include "rdm.h"

/* A connection is a little larger than a page, and the general caches would make it two */
static struct kmem_cache *ktcp_link_cache;

int ktcp_link_cache_init(void)
{
	ktcp_link_cache = KMEM_CACHE(ktcp_link, 0);
	return ktcp_link_cache ? 0 : -ENOMEM;
}

void ktcp_link_cache_exit(void)
{
	kmem_cache_destroy(ktcp_link_cache);
}

static void ktcp_link_free(struct work_struct *work)
{
	struct ktcp_link *link = container_of(to_rcu_work(work), struct ktcp_link, free);
	struct kofi_soft_ep *soft = &link->rdm->soft, *at = link->conn.at;

	cancel_work_sync(&link->work);
	ktcp_conn_fini(&link->conn);
	kofi_source_put(&link->rdm->sources, link->source);
	kfree(link->head);
	kfree(link->taken);
	kmem_cache_free(ktcp_link_cache, link);
	/* The endpoint may go now, and the receive context */
	if (at && at != soft)
		kofi_soft_ep_put(at);
	kofi_soft_ep_put(soft);
}

/**
 * ktcp_link_put() - Give a reference back
 * @link: a connection that may go afterwards
 *
 * Context: any.
 */
void ktcp_link_put(struct ktcp_link *link)
{
	if (refcount_dec_and_test(&link->refs))
		queue_rcu_work(ktcp_wq, &link->free);
}

bool ktcp_link_try_get(struct ktcp_conn *conn)
{
	return refcount_inc_not_zero(&to_ktcp_link(conn)->refs);
}

bool ktcp_link_is_over(const struct ktcp_conn *conn)
{
	return READ_ONCE(container_of(conn, struct ktcp_link, conn)->over);
}

/* The other end */

/**
 * ktcp_link_source() - What completions and receives call the other end
 * @conn: the connection
 * @src_addr: for receives that name their sender; FI_ADDR_NOTAVAIL: unknown
 * @source: for completions; FI_ADDR_NOTAVAIL: unknown
 *
 * Context: any.
 */
void ktcp_link_source(const struct ktcp_conn *conn, fi_addr_t *src_addr, fi_addr_t *source)
{
	const struct ktcp_link *link = container_of(conn, struct ktcp_link, conn);
	u64 caps = link->rdm->soft.kep.caps;

	*src_addr = caps & FI_DIRECTED_RECV ?
		    kofi_av_find(ktcp_rdm_av(link->rdm), &link->addr) : FI_ADDR_NOTAVAIL;
	*source = caps & FI_SOURCE ?
		  kofi_av_source(ktcp_rdm_av(link->rdm), &link->addr) : FI_ADDR_NOTAVAIL;
}

/**
 * ktcp_link_is_known() - Is the other end in the address vector?
 * @link: the connection
 *
 * Context: any.
 * Return: whether it is.
 */
bool ktcp_link_is_known(const struct ktcp_link *link)
{
	return kofi_av_find(ktcp_rdm_av(link->rdm), &link->addr) != FI_ADDR_NOTAVAIL;
}

/* The end */

/* Gives back whatever the connection has */
static void ktcp_link_finish(struct ktcp_link *link)
{
	struct socket *sock = ktcp_conn_stop(&link->conn, link->err);
	unsigned int noio;

	cancel_delayed_work_sync(&link->idle);
	noio = ktcp_cm_enter();
	list_del_init(&link->entry);
	ktcp_cm_leave(noio);
	if (sock)
		ktcp_hang_up(&link->conn, sock);
}

/**
 * ktcp_link_drop() - End a connection, or the attempt to make one
 * @link: a connection that is not over
 * @err: why, positive
 *
 * ktcp_peer_settle() is due for its peer, if it has one.
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_link_drop(struct ktcp_link *link, int err)
{
	struct ktcp_rdm *rdm = link->rdm;

	lockdep_assert_held(&ktcp_cm_lock);
	ktcp_source_connected(link, false);
	spin_lock_irq(&rdm->soft.lock);
	link->over_since = jiffies;
	link->conn.stopped = true;
	if (link->peer) {
		/* The peer may be forgotten while the worker still looks at the list */
		link->conn.posted = &link->none;
		link->peer->link = NULL;
		ktcp_peer_set_open(link->peer, false);
		if (link->peer->firewall || err == ETIMEDOUT)
			ktcp_peer_add_all(link->peer);
	}
	spin_unlock_irq(&rdm->soft.lock);
	link->peer = NULL;
	link->err = err;
	/* Pairs with ktcp_link_work() */
	smp_store_release(&link->over, true);
	ktcp_kick(&link->conn);
	if (!link->dialling)
		return;
	link->dialling = false;
	rdm->dialling--;
	/* Another peer may be dialled now */
	mod_delayed_work(ktcp_wq, &rdm->tick, 0);
}

/**
 * ktcp_link_end() - As ktcp_link_drop(), and do what is due for the peer
 * @link: the connection; nothing happens if it is over already
 * @err: why, positive
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_link_end(struct ktcp_link *link, int err)
{
	struct ktcp_peer *peer = link->peer;
	bool dialling = link->dialling;

	lockdep_assert_held(&ktcp_cm_lock);
	if (link->over)
		return;
	ktcp_link_drop(link, err);
	if (peer && dialling)
		ktcp_peer_not_reached(peer, err);
	else if (peer && link->conn.left)
		ktcp_peer_settle(peer);
	else if (peer)
		ktcp_peer_lost(peer, READ_ONCE(link->conn.tx.begun), err);
}

/* The worker */

static int ktcp_link_run(struct ktcp_link *link)
{
	struct ktcp_conn *conn = &link->conn;
	int ret;

	switch (conn->phase) {
	case KTCP_DIALLING:
		ret = ktcp_dial(conn);
		if (ret)
			return ret;
		fallthrough;
	case KTCP_ASKED:
		ret = ktcp_link_responded(link);
		if (ret)
			return ret;
		fallthrough;
	case KTCP_OPEN:
		return ktcp_transfer(conn);
	default:
		return -EAGAIN;
	}
}

static void ktcp_link_work(struct work_struct *work)
{
	struct ktcp_link *link = container_of(work, struct ktcp_link, work);
	struct ktcp_conn *conn = &link->conn;
	/* Pairs with ktcp_link_drop() */
	bool over = smp_load_acquire(&link->over), lent;
	unsigned int noio;
	int ret = -EAGAIN;

	if (!over)
		ret = ktcp_link_run(link);
	if (!ret) {
		ktcp_kick(conn);
	} else if (ret != -EAGAIN) {
		noio = ktcp_cm_enter();
		conn->cut = true;
		/* A peer that hangs up is one error, whichever half sees it */
		ktcp_link_end(link, ret == -ESHUTDOWN || ret == -EPIPE ? ECONNRESET : -ret);
		ktcp_cm_leave(noio);
	}
	/* ktcp_link_drop() has queued the work item once more */
	if (!over || link->released)
		return;
	if (conn->phase != KTCP_OVER)
		ktcp_link_finish(link);
	ktcp_token_take(&conn->token);
	ktcp_zc_reap(conn);
	lent = conn->tx.zcs;
	ktcp_give(conn);
	if (lent)
		return;
	link->released = true;
	ktcp_link_put(link);
}

/* The beginning */

/**
 * ktcp_link_new() - Make a connection that does not stand yet
 * @rdm: endpoint that it belongs to
 * @addr: address of the other end
 *
 * Context: may sleep, with ktcp_cm_lock held.
 * Return: the connection, and ktcp_link_end() is due; NULL: there is no memory.
 */
struct ktcp_link *ktcp_link_new(struct ktcp_rdm *rdm, const struct sockaddr_storage *addr)
{
	struct ktcp_link *link = kmem_cache_zalloc(ktcp_link_cache, GFP_KERNEL);

	lockdep_assert_held(&ktcp_cm_lock);
	if (!link)
		return NULL;
	INIT_LIST_HEAD(&link->none);
	INIT_LIST_HEAD(&link->unacked);
	INIT_LIST_HEAD(&link->stalled);
	INIT_LIST_HEAD(&link->rts);
	INIT_LIST_HEAD(&link->settled);
	ktcp_idle_init(link);
	INIT_WORK(&link->work, ktcp_link_work);
	INIT_RCU_WORK(&link->free, ktcp_link_free);
	refcount_set(&link->refs, 1);
	link->rdm = rdm;
	link->addr = *addr;
	link->head = kzalloc(sizeof(*link->head), GFP_KERNEL);
	if (!link->head)
		goto free_link;
	link->source = kofi_source_get(&rdm->sources, addr);
	if (!link->source)
		goto free_head;
	kofi_quota_conn_init(&link->room, &link->source->kept);
	kofi_quota_conn_init(&link->rts_room, &link->source->rts);
	if (ktcp_conn_init(&link->conn, &rdm->soft, &link->work, &link->none,
			   rdm->soft.kep.caps))
		goto put_source;
	link->conn.upper = rdm->upper;
	if (rdm->soft.ctxs)
		link->conn.at = NULL;
	link->conn.cpu = ktcp_pick_cpu(&rdm->soft);
	list_add_tail(&link->entry, &rdm->links);
	kofi_soft_ep_get(&rdm->soft);
	return link;

put_source:
	kofi_source_put(&rdm->sources, link->source);
free_head:
	kfree(link->head);
free_link:
	kmem_cache_free(ktcp_link_cache, link);
	return NULL;
}

/**
 * ktcp_link_bind() - Messages arrive at a receive context from now on
 * @link: a connection of a scalable endpoint that has no context yet
 * @ctx: the context, with a reference for the connection
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_link_bind(struct ktcp_link *link, struct kofi_soft_ep *ctx)
{
	lockdep_assert_held(&ktcp_cm_lock);
	/* Pairs with ktcp_conn_at() */
	smp_store_release(&link->conn.at, ctx);
}

/**
 * ktcp_ctx_find() - Find a receive context
 * @rdm: an endpoint; one that is not scalable has no contexts
 * @index: which one, any value
 *
 * Context: may sleep, with ktcp_cm_lock held.
 * Return: the context, and kofi_soft_ep_put() is due; NULL: it is not enabled.
 */
struct kofi_soft_ep *ktcp_ctx_find(struct ktcp_rdm *rdm, u32 index)
{
	struct kofi_soft_ep *ctx;

	lockdep_assert_held(&ktcp_cm_lock);
	if (!rdm->soft.ctxs)
		return NULL;
	ctx = kofi_soft_rx_ctx(&rdm->soft, index);
	if (!ctx || !kofi_conn_check(&ctx->kep.conn, false))
		return ctx;
	kofi_soft_ep_put(ctx);
	return NULL;
}

/* Messages of a connection that goes both ways arrive at receive context 0, if it is enabled */
static void ktcp_link_bind_first(struct ktcp_link *link)
{
	struct kofi_soft_ep *ctx = NULL;

	if (link->rdm->soft.ctxs)
		ctx = ktcp_ctx_find(link->rdm, 0);
	if (ctx)
		ktcp_link_bind(link, ctx);
}

/* Makes @link the connection with @peer */
static void ktcp_link_join(struct ktcp_link *link, struct ktcp_peer *peer)
{
	link->peer = peer;
	link->index = peer->key.index;
	link->conn.posted = &peer->posted;
	spin_lock_irq(&link->rdm->soft.lock);
	peer->link = link;
	ktcp_peer_set_open(peer, !link->dialling);
	spin_unlock_irq(&link->rdm->soft.lock);
}

/**
 * ktcp_link_dial() - Connect to a peer
 * @peer: a peer without a connection
 *
 * Context: may sleep, with ktcp_cm_lock held.
 * Return: 0, and the connection is the peer's; negative errno.
 */
int ktcp_link_dial(struct ktcp_peer *peer)
{
	struct ktcp_rdm *rdm = peer->rdm;
	struct sockaddr_storage src = rdm->name;
	struct ktcp_link *link;
	struct socket *sock;
	int ret;

	lockdep_assert_held(&ktcp_cm_lock);
	/* The peer knows this endpoint by its address, and the request names the port */
	kofi_addr_set_port(&src, 0);
	ret = ktcp_sock_dial(&rdm->soft, &src, &peer->addr, rdm->tclass, &sock);
	if (ret)
		return ret;
	link = ktcp_link_new(rdm, &peer->addr);
	if (!link) {
		ktcp_sock_release(sock);
		return -ENOMEM;
	}
	link->deadline = jiffies + msecs_to_jiffies(KTCP_DIAL_MS);
	link->dialling = true;
	rdm->dialling++;
	ktcp_link_join(link, peer);
	ktcp_link_request(link);
	if (!link->index)
		ktcp_link_bind_first(link);
	link->conn.phase = KTCP_DIALLING;
	ktcp_sock_attach(&link->conn.sk, sock, &link->work, link->conn.cpu);
	return 0;
}

/**
 * ktcp_link_accept() - Take the socket of a request over
 * @link: a new connection
 * @peer: the other end; NULL: the endpoint itself has dialled, or only the operations of the
 *	other end go by this connection
 * @req: the request, which has been answered and is freed
 *
 * ktcp_peer_settle() is due for @peer.
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_link_accept(struct ktcp_link *link, struct ktcp_peer *peer, struct ktcp_req *req)
{
	struct ktcp_conn *conn = &link->conn;
	struct socket *sock;

	lockdep_assert_held(&ktcp_cm_lock);
	ktcp_source_connected(link, true);
	ktcp_sock_unlimit(&req->sk);
	sock = ktcp_sock_detach(&req->sk);
	/* Strangers connect, too, and get nothing of the reserves */
	if (link->rdm->soft.reserves && ktcp_link_is_known(link))
		ktcp_sock_use_reserves(sock);
	ktcp_token_take(&conn->token);
	conn->net_order = req->msg.net_order;
	ktcp_idle_begin(link);
	if (peer)
		ktcp_link_join(link, peer);
	if (!link->index)
		ktcp_link_bind_first(link);
	ktcp_conn_open(conn);
	kofi_ep_connected(&link->rdm->soft.kep);
	ktcp_sock_attach(&conn->sk, sock, &link->work, conn->cpu);
	ktcp_give(conn);
	kfree(req);
}

/**
 * ktcp_link_opened() - The peer has accepted
 * @link: a connection in KTCP_ASKED, by its worker
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_link_opened(struct ktcp_link *link)
{
	struct ktcp_conn *conn = &link->conn;
	struct ktcp_rdm *rdm = link->rdm;

	lockdep_assert_held(&ktcp_cm_lock);
	ktcp_token_take(&conn->token);
	conn->net_order = conn->cm_msg.net_order;
	ktcp_conn_open(conn);
	ktcp_idle_begin(link);
	ktcp_give(conn);
	/* The link is open: its operations no longer count as waiting, which have a limit */
	spin_lock_irq(&rdm->soft.lock);
	ktcp_peer_set_open(link->peer, true);
	spin_unlock_irq(&rdm->soft.lock);
	link->dialling = false;
	rdm->dialling--;
	kofi_ep_connected(&rdm->soft.kep);
	mod_delayed_work(ktcp_wq, &rdm->tick, 0);
	ktcp_peer_settle(link->peer);
}
