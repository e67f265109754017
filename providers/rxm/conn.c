// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections: a lower endpoint each, with completion queues and buffers of its own.
 *
 * The receives of a connection are its own, so a peer takes none of another peer's.  What a peer
 * sends beyond them waits at the peer: the lower provider sees to that, or credits do (credit.c).
 *
 * A connection is opened and closed by rxm_ep.cm only.  Meanwhile callbacks of the lower queue
 * use it, and tasks that send or receive, each of which counts as a user (rxm_conn_use(),
 * rxm_send_begin()).  The close waits for the users, and then fi_ep_drain() for the callbacks.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include "rxm.h"

static size_t rxm_packet_size(void)
{
	return sizeof(struct rxm_wire_hdr) + rxm_eager();
}

/* The beginning */

static void rxm_free_bufs(struct rxm_buf *bufs, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (bufs[i].hdr)
			free_pages_exact(bufs[i].hdr, rxm_packet_size());
}

static bool rxm_alloc_bufs(struct rxm_conn *conn, struct rxm_buf *bufs, int count,
			   void (*done)(struct fi_done *done, const struct fi_done_entry *entry))
{
	int i;

	for (i = 0; i < count; i++) {
		bufs[i].done.done = done;
		bufs[i].conn = conn;
		bufs[i].hdr = alloc_pages_exact(rxm_packet_size(), GFP_KERNEL | __GFP_ZERO);
		if (!bufs[i].hdr)
			return false;
	}
	return true;
}

static void rxm_conn_free(struct rxm_conn *conn)
{
	rxm_free_bufs(conn->tx, RXM_TX);
	rxm_free_bufs(conn->rx, RXM_RX);
	kofi_source_put(&conn->ep->sources, conn->source);
	kfree_rcu(conn, rcu);
}

static struct rxm_conn *rxm_conn_new(struct rxm_ep *ep, const struct sockaddr_storage *addr)
{
	struct rxm_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	int i;

	if (!conn)
		return NULL;
	conn->source = kofi_source_get(&ep->sources, addr);
	if (!conn->source) {
		kfree(conn);
		return NULL;
	}
	kofi_quota_conn_init(&conn->quota, &conn->source->kept);
	conn->ep = ep;
	conn->addr = *addr;
	conn->id = ep->next_id++;
	conn->resumed = jiffies;
	conn->head.ep = ep;
	conn->head.addr = *addr;
	conn->head.conn = conn;
	INIT_LIST_HEAD(&conn->broken);
	INIT_LIST_HEAD(&conn->free);
	INIT_LIST_HEAD(&conn->credits.spare);
	INIT_LIST_HEAD(&conn->ready);
	INIT_LIST_HEAD(&conn->stalled);
	INIT_LIST_HEAD(&conn->kept);
	INIT_LIST_HEAD(&conn->offered);
	INIT_LIST_HEAD(&conn->read);
	INIT_LIST_HEAD(&conn->asked);
	INIT_LIST_HEAD(&conn->writing);
	INIT_LIST_HEAD(&conn->wrote);
	INIT_LIST_HEAD(&conn->atomics);
	INIT_LIST_HEAD(&conn->responses);
	INIT_LIST_HEAD(&conn->rmas_free);
	INIT_LIST_HEAD(&conn->rndvs);
	INIT_LIST_HEAD(&conn->answers);
	INIT_LIST_HEAD(&conn->writes);
	INIT_LIST_HEAD(&conn->invites);
	INIT_LIST_HEAD(&conn->invited);
	INIT_LIST_HEAD(&conn->written);
	spin_lock_init(&conn->rx_lock);
	init_completion(&conn->unused);
	if (!rxm_alloc_bufs(conn, conn->tx, RXM_TX, rxm_sent) ||
	    !rxm_alloc_bufs(conn, conn->rx, RXM_RX, rxm_responded)) {
		rxm_conn_free(conn);
		return NULL;
	}
	for (i = 0; i < RXM_READS; i++) {
		conn->reads[i].done.done = rxm_read_done;
		conn->reads[i].conn = conn;
	}
	for (i = 0; i < RXM_RMAS; i++) {
		conn->rmas[i].done.done = rxm_rma_done;
		conn->rmas[i].conn = conn;
		list_add_tail(&conn->rmas[i].entry, &conn->rmas_free);
	}
	for (i = 0; i < RXM_TX; i++)
		list_add_tail(&conn->tx[i].entry, &conn->free);
	if (ep->credits)
		rxm_credit_init(conn);
	return conn;
}

/* A lower call that answered -EAGAIN is worth another one; receives never lack a slot */
static void rxm_lower_ready(struct fid_ep *lower, u64 dir)
{
	struct rxm_conn *conn = lower->fid.context;
	struct rxm_ep *ep = conn->ep;
	unsigned long flags;

	if (!(dir & FI_TRANSMIT))
		return;
	spin_lock_irqsave(&ep->soft.lock, flags);
	rxm_conn_ready(conn);
	kofi_soft_kick(&ep->soft);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/* Something has come */
static void rxm_arrival(struct fid_cq *cq, void *context)
{
	rxm_receive(context);
}

/* Completions of all operations have contexts */
static const struct fi_ep_callbacks rxm_lower_callbacks = {
	.ready = rxm_lower_ready,
};

static int rxm_open_cqs(struct rxm_conn *conn, struct fid_domain *domain)
{
	struct fi_cq_attr attr = {
		.size		= RXM_LOWER_TX,
		.wait_obj	= FI_WAIT_DONE,
		.comp_ctx	= FI_COMP_SOFTIRQ,
	};
	struct fi_cq_attr rx_attr = {
		.size		= RXM_RX + RXM_EVENTS,
		.format		= FI_CQ_FORMAT_TAGGED,
		.wait_obj	= FI_WAIT_CALLBACK,
		.comp_ctx	= FI_COMP_SOFTIRQ,
		.handler	= rxm_arrival,
	};

	return fi_cq_open(domain, &attr, &conn->cq, conn) ? :
	       fi_cq_open(domain, &rx_attr, &conn->rx_cq, conn);
}

static int rxm_conn_setup(struct rxm_conn *conn)
{
	struct rxm_domain *domain = container_of(conn->ep->soft.domain, struct rxm_domain, soft);
	size_t timeout = RXM_DIAL_MS, len = sizeof(conn->page_iov);
	int i, ret;

	ret = rxm_open_cqs(conn, domain->lower);
	if (ret)
		return ret;
	ret = fi_ep_bind(conn->lower, &conn->cq->fid, FI_TRANSMIT) ? :
	      fi_ep_bind(conn->lower, &conn->rx_cq->fid, FI_RECV) ? :
	      fi_ep_bind(conn->lower, &conn->ep->eq->fid, 0) ? :
	      fi_setopt(&conn->lower->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS,
			&rxm_lower_callbacks, sizeof(rxm_lower_callbacks)) ? :
	      fi_setopt(&conn->lower->fid, FI_OPT_ENDPOINT, FI_OPT_CONNECT_TIMEOUT,
			&timeout, sizeof(timeout)) ? :
	      fi_getopt(&conn->lower->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RMA_IOV,
			&conn->page_iov, &len) ? :
	      fi_enable(conn->lower);
	for (i = 0; i < RXM_RX && !ret; i++)
		ret = fi_recv(conn->lower, conn->rx[i].hdr, rxm_packet_size(), NULL,
			      FI_ADDR_UNSPEC, &conn->rx[i]);
	return ret;
}

/* Closes the lower objects; when this returns, no callback of theirs runs */
static void rxm_lower_end(struct rxm_conn *conn)
{
	kofi_lower_close(&conn->lower->fid);
	if (conn->rx_cq)
		kofi_lower_close(&conn->rx_cq->fid);
	if (conn->cq)
		kofi_lower_close(&conn->cq->fid);
}

/**
 * rxm_conn_open() - Make a connection, which is to be dialled or accepted
 * @ep: the endpoint
 * @info: what the lower endpoint is opened with: rxm_ep.info, or that of a request
 * @addr: address of the peer
 * @err: why there is none
 *
 * Its receives are posted.
 *
 * Context: may sleep; rxm_ep.cm.
 * Return: the connection, and rxm_conn_close() is due; NULL: *@err is a negative errno.
 */
struct rxm_conn *rxm_conn_open(struct rxm_ep *ep, struct fi_info *info,
			       const struct sockaddr_storage *addr, int *err)
{
	struct rxm_domain *domain = container_of(ep->soft.domain, struct rxm_domain, soft);
	struct rxm_conn *conn = rxm_conn_new(ep, addr);

	*err = -ENOMEM;
	if (!conn)
		return NULL;
	*err = fi_endpoint(domain->lower, info, &conn->lower, conn);
	if (*err)
		goto free_conn;
	*err = rxm_conn_setup(conn);
	if (*err)
		goto end_lower;
	kofi_soft_ep_get(&ep->soft);
	spin_lock_irq(&ep->soft.lock);
	list_add_tail_rcu(&conn->entry, &ep->conns);
	spin_unlock_irq(&ep->soft.lock);
	return conn;

end_lower:
	/* Callbacks of receives that end report nothing any more */
	spin_lock_irq(&ep->soft.lock);
	conn->state = RXM_OVER;
	list_del_init(&conn->broken);
	spin_unlock_irq(&ep->soft.lock);
	if (conn->rx_cq)
		fi_ep_drain(conn->lower, -1);
	rxm_lower_end(conn);
free_conn:
	rxm_conn_free(conn);
	return NULL;
}

/**
 * rxm_conn_close() - Close a connection
 * @conn: the connection, which nobody finds any more, and which is freed
 * @err: why, positive
 * @posted: operations of its peer, in no other list
 *
 * What has come before is dealt with (rxm_receive_rest()).  Operations of which a packet has been
 * sent end with @err, or with ECANCELED if the endpoint has ended.  An operation that has not begun
 * goes to the head of @posted.
 *
 * Context: may sleep; rxm_ep.cm.
 */
void rxm_conn_close(struct rxm_conn *conn, int err, struct list_head *posted)
{
	struct rxm_ep *ep = conn->ep;
	bool users;

	spin_lock_irq(&ep->soft.lock);
	conn->state = RXM_OVER;
	conn->err = err;
	list_del_init(&conn->broken);
	list_del_init(&conn->ready);
	list_del_init(&conn->stalled);
	list_del_rcu(&conn->entry);
	users = conn->users;
	spin_unlock_irq(&ep->soft.lock);
	if (users)
		wait_for_completion(&conn->unused);
	rxm_send_end(conn, posted);
	fi_ep_drain(conn->lower, -1);
	if (!READ_ONCE(ep->soft.over))
		rxm_receive_rest(conn);
	rxm_lower_end(conn);
	rxm_offer_end(conn);
	rxm_atomic_end(conn);
	rxm_rndv_end(conn, err);
	rxm_writes_end(conn, err);
	rxm_receive_end(conn, err);
	rxm_conn_free(conn);
	kofi_soft_ep_put(&ep->soft);
}
