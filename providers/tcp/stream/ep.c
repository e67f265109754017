// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints and shared receive contexts: what kofi/soft.h leaves to the provider.
 *
 *	fi_connect(), fi_accept()
 *			the connection gets its socket, and from then on its worker runs (io.c)
 *	the end		ktcp_ep_end(): nothing is posted any more, and the worker gives back
 *			what the connection has, including the socket
 */
#include <kofi/refuse.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "stream.h"

/* An endpoint is a little larger than a page, and the general caches would make it two */
static struct kmem_cache *ktcp_ep_cache;

int ktcp_ep_cache_init(void)
{
	ktcp_ep_cache = KMEM_CACHE(ktcp_ep, 0);
	return ktcp_ep_cache ? 0 : -ENOMEM;
}

void ktcp_ep_cache_exit(void)
{
	kmem_cache_destroy(ktcp_ep_cache);
}

const struct kofi_ep_limits ktcp_limits = {
	.cntr_dirs	= KTCP_CNTR_DIRS,
	.tx_op_flags	= KTCP_TX_OP_FLAGS,
	.rx_op_flags	= KTCP_RX_OP_FLAGS,
	.tx_flags	= KTCP_TX_FLAGS | FI_COMMIT_COMPLETE | FI_SAVE | FI_REMOTE_INV,
	.recv_flags	= KTCP_RX_OP_FLAGS | FI_MORE,
	.cm_data_size	= TCP_WIRE_CM_DATA,
	.lent_iov	= KOFI_OP_LENT_IOV,
};

/* Of a shared receive context, which also has receives with tags */
static const struct kofi_ep_limits ktcp_srx_limits = {
	.rx_op_flags	= KTCP_RX_OP_FLAGS,
	.recv_flags	= KTCP_RX_OP_FLAGS | FI_MORE,
	.trecv_flags	= KTCP_RX_OP_FLAGS | FI_MORE,
	.cm_data_size	= TCP_WIRE_CM_DATA,
	.lent_iov	= KOFI_OP_LENT_IOV,
};

/* Receives: messages wait in the socket, so none waits in the engine of kofi/srx.h */

static void ktcp_no_start(struct kofi_rx *rx, struct kofi_srx_msg *msg)
{
}

static void ktcp_no_discard(struct kofi_srx_msg *msg)
{
}

static void ktcp_resume(struct kofi_srx *srx)
{
	kofi_soft_kick(container_of(srx, struct kofi_soft_ep, own_srx));
}

static const struct kofi_srx_ops ktcp_own_srx_ops = {
	.start		= ktcp_no_start,
	.discard	= ktcp_no_discard,
	.resume		= ktcp_resume,
};

static void ktcp_srx_resume(struct kofi_srx *ksrx)
{
	struct ktcp_srx *srx = container_of(ksrx, struct ktcp_srx, ctx.srx);
	struct ktcp_ep *ep;
	unsigned long flags;

	spin_lock_irqsave(&srx->lock, flags);
	list_for_each_entry(ep, &srx->eps, of_srx)
		ktcp_kick(&ep->conn);
	spin_unlock_irqrestore(&srx->lock, flags);
}

static const struct kofi_srx_ops ktcp_srx_ops = {
	.start		= ktcp_no_start,
	.discard	= ktcp_no_discard,
	.resume		= ktcp_srx_resume,
};

static struct kofi_srx_attr ktcp_rx_room(size_t size, u64 caps, bool grows)
{
	return (struct kofi_srx_attr) {
		.size		= size,
		.iov_limit	= KOFI_OP_IOV,
		.multi		= caps & FI_MULTI_RECV ? size : 0,
		.min_multi_recv	= KTCP_MIN_MULTI,
		.grows		= grows,
	};
}

/* Attach the endpoint to its shared receive context, or detach it (@join false) */
static void ktcp_join(struct kofi_soft_ep *soft, bool join)
{
	struct ktcp_ep *ep = to_ktcp_soft(soft);
	struct ktcp_srx *srx;
	unsigned long flags;

	if (!soft->kep.srx)
		return;
	srx = to_ktcp_srx(&soft->kep.srx->fid);
	spin_lock_irqsave(&srx->lock, flags);
	if (join)
		list_add_tail(&ep->of_srx, &srx->eps);
	else
		list_del_init(&ep->of_srx);
	spin_unlock_irqrestore(&srx->lock, flags);
	if (join)
		soft->srx = &srx->ctx.srx;
}

static void ktcp_event_room(struct kofi_soft_ep *soft)
{
	kofi_soft_kick(soft);
}

/* The worker */

static int ktcp_run(struct ktcp_ep *ep)
{
	int ret;

	switch (ep->conn.phase) {
	case KTCP_DIALLING:
		ret = ktcp_dial(&ep->conn);
		if (ret)
			return ret;
		fallthrough;
	case KTCP_ASKED:
		ret = ktcp_responded(ep);
		if (ret)
			return ret;
		fallthrough;
	case KTCP_OPEN:
		return ktcp_transfer(&ep->conn);
	default:
		return -EAGAIN;
	}
}

/* Gives back whatever the connection has */
static void ktcp_finish(struct ktcp_ep *ep)
{
	struct socket *sock = ktcp_conn_stop(&ep->conn, ECANCELED);
	struct kofi_soft_op *op;

	while ((op = ktcp_next_posted(&ep->conn, false)))
		kofi_soft_op_done(op, ECANCELED);
	if (!ep->soft.kep.shared)
		kofi_srx_flush(&ep->soft.own_srx, ECANCELED);
	if (sock)
		ktcp_hang_up(&ep->conn, sock);
}

static void ktcp_work(struct work_struct *work)
{
	struct ktcp_ep *ep = container_of(work, struct ktcp_ep, soft.work);
	struct ktcp_conn *conn = &ep->conn;
	unsigned int noio;
	int ret = -EAGAIN;

	if (!READ_ONCE(ep->soft.over))
		ret = ktcp_run(ep);
	if (!ret) {
		ktcp_kick(conn);
	} else if (ret != -EAGAIN) {
		noio = ktcp_cm_enter();
		conn->cut = true;
		ktcp_ep_end(ep, -ret);
		ktcp_cm_leave(noio);
	}
	if (READ_ONCE(ep->soft.over) && conn->phase != KTCP_OVER)
		ktcp_finish(ep);
	if (conn->phase != KTCP_OVER)
		return;
	/* Gives back what TCP and the device have let go of since */
	ktcp_token_take(&conn->token);
	ktcp_zc_reap(conn);
	ktcp_give(conn);
}

/* struct kofi_soft_type */

/* kofi_soft_type.now: send what is posted within the call of a client that may sleep */
static void ktcp_send_now(struct kofi_soft_ep *soft)
{
	ktcp_try_send(&to_ktcp_soft(soft)->conn);
}

static void ktcp_shut(struct kofi_soft_ep *soft, int err)
{
	ktcp_ep_end(to_ktcp_soft(soft), err);
}

static void ktcp_gone(struct kofi_soft_ep *soft)
{
	/* Without its interface or its namespace the socket delivers nothing more */
	to_ktcp_soft(soft)->conn.cut = true;
	ktcp_ep_stop(to_ktcp_soft(soft));
}

static void ktcp_close(struct kofi_soft_ep *soft)
{
	ktcp_ep_end(to_ktcp_soft(soft), ECANCELED);
}

static void ktcp_free(struct kofi_soft_ep *soft)
{
	struct ktcp_ep *ep = to_ktcp_soft(soft);

	kofi_soft_ep_fini(soft);
	ktcp_conn_fini(&ep->conn);
	kmem_cache_free(ktcp_ep_cache, ep);
}

struct kofi_soft_type ktcp_ep_type = {
	.lock		= &ktcp_cm_lock,
	.own_rx		= &ktcp_own_srx_ops,
	.op_size	= sizeof(struct ktcp_op),
	.grows		= true,
	.max_queue	= KTCP_MAX_QUEUE,
	.max_msg	= KTCP_MAX_MSG,
	.work		= ktcp_work,
	.now		= ktcp_send_now,
	.event_room	= ktcp_event_room,
	.reserves	= ktcp_reserves_prepare,
	.join		= ktcp_join,
	.shut		= ktcp_shut,
	.gone		= ktcp_gone,
	.close		= ktcp_close,
	.free		= ktcp_free,
};

/* Puts an endpoint where the end of its namespace finds it */
static int ktcp_ep_add(struct ktcp_ep *ep, const struct fi_info *info)
{
	struct kofi_soft_fabric *fabric = ep->soft.domain->fabric;
	unsigned int noio;
	int ret = 0;

	noio = ktcp_cm_enter();
	if (!fabric->net)
		ret = -ENODEV;
	else if (info->handle)
		ret = ktcp_req_adopt(ep, info->handle);
	else if (!kofi_addr_any(&ep->src) &&
		 !kofi_addr_is_local(fabric->net, &ep->src))
		ret = kofi_refuse("endpoint", -EADDRNOTAVAIL, "info->src_addr: %pIS is not an address of this network namespace",
				  &ep->src);
	if (ret)
		goto unlock;
	list_add_tail(&ep->soft.of_fabric, &fabric->eps);
	ktcp_ep_note_interface(ep);
unlock:
	ktcp_cm_leave(noio);
	return ret;
}

static int ktcp_ep_setup(struct ktcp_ep *ep, const struct fi_info *info)
{
	ep->soft.kep.ep.cm = &ktcp_ep_cm_ops;
	ep->tclass = info->tx_attr->tclass ? : info->domain_attr->tclass;
	INIT_LIST_HEAD(&ep->of_srx);
	kofi_conn_set_late(&ep->soft.kep.conn, ktcp_connect_late,
			   KTCP_CONNECT_MS);
	ep->src.ss_family = info->addr_format == FI_SOCKADDR_IN6 ? AF_INET6 :
								  AF_INET;
	if (!info->src_addr)
		return 0;
	return kofi_addr_get("endpoint", "info->src_addr", &ep->src, info->src_addr,
			     info->src_addrlen);
}

int ktcp_msg_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **fid_ep,
		      void *context)
{
	const struct kofi_srx_attr room = ktcp_rx_room(info->rx_attr->size, info->caps, true);
	struct ktcp_ep *ep;
	int ret;

	ep = kmem_cache_zalloc(ktcp_ep_cache, GFP_KERNEL);
	if (!ep)
		return -ENOMEM;
	ret = ktcp_conn_init(&ep->conn, &ep->soft, &ep->soft.work, &ep->soft.posted,
			     info->caps);
	if (ret)
		goto free_ep;
	ret = kofi_soft_ep_init(&ep->soft, &ktcp_ep_type, domain, info, &ktcp_limits,
				&room, context);
	if (ret)
		goto fini_conn;
	ret = ktcp_ep_setup(ep, info);
	if (!ret)
		ret = ktcp_ep_add(ep, info);
	if (ret)
		goto fini_soft;
	*fid_ep = &ep->soft.kep.ep;
	return 0;

fini_soft:
	kofi_soft_ep_fini(&ep->soft);
fini_conn:
	ktcp_conn_fini(&ep->conn);
free_ep:
	kmem_cache_free(ktcp_ep_cache, ep);
	return ret;
}

int ktcp_srx_context(struct fid_domain *domain, struct fi_rx_attr *attr,
		     struct fid_ep **fid_srx, void *context)
{
	const struct kofi_srx_attr room =
		ktcp_rx_room(attr->size ? : KTCP_DEF_QUEUE, attr->caps ? : ~0ULL, false);
	size_t max_iov = attr->mode & FI_ASYNC_IOV ? KOFI_OP_LENT_IOV : KOFI_OP_IOV;
	struct kofi_srx_ctx *ctx;
	struct ktcp_srx *srx;

	/* A domain of endpoints without connections has no shared receive contexts */
	if (!to_kofi_soft_domain(domain)->shares)
		return kofi_refuse("srx_context", -ENOSYS, "the domain was opened for FI_EP_RDM; those endpoints share no receives");
	if (attr->size > KTCP_MAX_QUEUE || attr->iov_limit > max_iov)
		return kofi_refuse("srx_context", -EINVAL, "attr: size %zu, iov_limit %zu; the most are %d and %zu",
				   attr->size, attr->iov_limit, KTCP_MAX_QUEUE, max_iov);
	ctx = kofi_srx_ctx_open(sizeof(*srx), attr, &ktcp_srx_limits, &room,
				&ktcp_srx_ops, context);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	srx = to_ktcp_srx(&ctx->kep.ep.fid);
	spin_lock_init(&srx->lock);
	INIT_LIST_HEAD(&srx->eps);
	*fid_srx = &ctx->kep.ep;
	return 0;
}
