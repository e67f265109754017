// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints and shared receive contexts: what kofi/soft.h leaves to the provider.
 *
 * An endpoint has an address from the open to the close, or until its namespace goes.  Senders
 * find an endpoint without connections by its address.  loop_end() ends an endpoint: it gives
 * back the reference to the peer, and wakes the endpoints that wait for a receive or an event of
 * this one.
 */
#include <kofi/refuse.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "loop.h"

#define LOOP_TX_OP_FLAGS	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | \
				 FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)
#define LOOP_RX_OP_FLAGS	(FI_COMPLETION | FI_MULTI_RECV)
#define LOOP_TX_FLAGS		(LOOP_TX_OP_FLAGS | FI_REMOTE_CQ_DATA | FI_MORE | \
				 FI_FENCE | FI_COMMIT_COMPLETE | FI_SAVE | FI_TAGGED)
#define LOOP_RECV_FLAGS		(LOOP_RX_OP_FLAGS | FI_MORE)
#define LOOP_TRECV_FLAGS	(LOOP_RECV_FLAGS | FI_PEEK | FI_CLAIM | FI_DISCARD)
#define LOOP_CNTR_DIRS		(FI_SEND | FI_RECV | FI_READ | FI_WRITE | \
				 FI_REMOTE_READ | FI_REMOTE_WRITE)

/* A region of an endpoint has accesses of one peer, one at a time, so that peer may end the key */
const struct kofi_ep_limits loop_msg_limits = {
	.cntr_dirs	 = LOOP_CNTR_DIRS,
	.tx_op_flags	 = LOOP_TX_OP_FLAGS,
	.rx_op_flags	 = LOOP_RX_OP_FLAGS,
	.tx_flags	 = LOOP_TX_FLAGS | FI_REMOTE_INV,
	.recv_flags	 = LOOP_RECV_FLAGS,
	.trecv_flags	 = LOOP_TRECV_FLAGS,
	.cm_data_size	 = LOOP_CM_DATA,
	.max_atomic_size = LOOP_ATOMIC_BYTES,
	.lent_iov	 = KOFI_OP_LENT_IOV,
};

static const struct kofi_ep_limits loop_rdm_limits = {
	.cntr_dirs	 = LOOP_CNTR_DIRS,
	.tx_op_flags	 = LOOP_TX_OP_FLAGS,
	.rx_op_flags	 = LOOP_RX_OP_FLAGS,
	.tx_flags	 = LOOP_TX_FLAGS,
	.recv_flags	 = LOOP_RECV_FLAGS,
	.trecv_flags	 = LOOP_TRECV_FLAGS,
	.av		 = true,
	.max_atomic_size = LOOP_ATOMIC_BYTES,
	.lent_iov	 = KOFI_OP_LENT_IOV,
};

/**
 * loop_end() - End an endpoint: nothing is posted or received any more
 * @ep: the endpoint, in state KOFI_CONN_DOWN or KOFI_CONN_GONE
 *
 * Context: may sleep, with loop_cm_lock held.
 */
void loop_end(struct loop_ep *ep)
{
	struct loop_ep *peer;
	unsigned long flags;

	lockdep_assert_held(&loop_cm_lock);
	spin_lock_irqsave(&ep->soft.lock, flags);
	peer = ep->peer;
	ep->peer = NULL;
	loop_set_receiver(ep);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	kofi_soft_ep_over(&ep->soft);
	if (peer)
		loop_ep_put(peer);
	/*
	 * Resumes what waits for a receive.  For one of a shared context the peer waits, which
	 * ends, or any sender, which kofi_srx_leave() resumes
	 */
	if (!ep->soft.kep.no_rx)
		kofi_srx_flush(&ep->soft.own_srx, ECANCELED);
	loop_waiters_wake(&ep->event_waiters);
}

/* struct kofi_soft_type */

static void loop_join(struct kofi_soft_ep *soft, bool join)
{
	struct loop_ep *ep = to_loop_soft(soft);
	struct loop_srx *srx;

	if (!join)
		return;
	srx = to_loop_srx(&soft->kep.srx->fid);
	soft->srx = &srx->ctx.srx;
	ep->waiters = &srx->waiters;
}

static void loop_shut(struct kofi_soft_ep *soft, int err)
{
	loop_disconnect(to_loop_soft(soft), err);
}

static void loop_close(struct kofi_soft_ep *soft)
{
	struct loop_ep *ep = to_loop_soft(soft);

	loop_name_drop(&ep->name);
	loop_disconnect(ep, ECANCELED);
}

static void loop_free(struct kofi_soft_ep *soft)
{
	WARN_ON_ONCE(to_loop_soft(soft)->wait.at);
	kofi_soft_ep_fini(soft);
	kfree(to_loop_soft(soft));
}

static int loop_ctx(struct kofi_soft_ep *sep, const struct kofi_soft_ctx_attr *attr,
		    struct kofi_soft_ep **ctx);

struct kofi_soft_type loop_type = {
	.lock		= &loop_cm_lock,
	.fabric		= &loop_fabric_ops,
	.domain		= &loop_domain_ops,
	.own_rx		= &loop_srx_ops,
	.mr_mode	= LOOP_MR_MODE,
	.op_size	= sizeof(struct loop_op),
	.max_queue	= LOOP_MAX_QUEUE,
	.max_msg	= LOOP_MAX_MSG,
	.work		= loop_work,
	.now		= loop_now,
	.event_room	= loop_event_room,
	.join		= loop_join,
	.shut		= loop_shut,
	.gone		= loop_gone,
	.close		= loop_close,
	.free		= loop_free,
	.ctx		= loop_ctx,
	.fabrics	= LIST_HEAD_INIT(loop_type.fabrics),
};

/* @unexpected: messages may come before their receive */
static struct kofi_srx_attr loop_rx_room(size_t size, u64 caps, bool unexpected)
{
	return (struct kofi_srx_attr) {
		.size		= size,
		.iov_limit	= KOFI_OP_IOV,
		.max_msgs	= unexpected ? LOOP_UNEXPECTED : 0,
		.multi		= caps & FI_MULTI_RECV ? size : 0,
		.min_multi_recv	= LOOP_MIN_MULTI,
		.directed	= caps & FI_DIRECTED_RECV,
	};
}

/* An endpoint that answers a request has the listener's address, and claims no name */
static int loop_ep_name(struct loop_ep *ep, const struct fi_info *info)
{
	struct kofi_soft_fabric *fabric = ep->soft.domain->fabric;
	struct sockaddr_storage src = {
		.ss_family = info->addr_format == FI_SOCKADDR_IN6 ?
			     AF_INET6 : AF_INET,
	};
	int ret = 0;

	if (info->src_addr)
		ret = kofi_addr_get("endpoint", "info->src_addr", &src, info->src_addr,
				    info->src_addrlen);
	if (ret)
		return ret;

	mutex_lock(&loop_cm_lock);
	if (!fabric->net) {
		ret = -ENODEV;
	} else if (info->handle) {
		ep->name.addr = src;
		ret = loop_req_adopt(ep, info->handle);
	} else {
		ret = loop_name_claim(&ep->name, fabric->net,
				      ep->type == FI_EP_RDM ? FI_EP_RDM :
							      FI_EP_UNSPEC,
				      &src);
	}
	if (!ret)
		list_add_tail(&ep->soft.of_fabric, &fabric->eps);
	mutex_unlock(&loop_cm_lock);
	return ret;
}

static void loop_ep_setup(struct loop_ep *ep)
{
	struct fid_ep *fid_ep = &ep->soft.kep.ep;

	fid_ep->cm = ep->type == FI_EP_RDM ? &loop_rdm_cm_ops : &loop_ep_cm_ops;
	ep->waiters = &ep->own_waiters;
	loop_waiters_init(&ep->own_waiters);
	loop_waiters_init(&ep->event_waiters);
	INIT_LIST_HEAD(&ep->parked);
	INIT_LIST_HEAD(&ep->matched);
	INIT_LIST_HEAD(&ep->saves);
	if (ep->type == FI_EP_MSG)
		kofi_conn_set_late(&ep->soft.kep.conn, loop_connect_late,
				   LOOP_CONNECT_MS);
}

int loop_endpoint(struct fid_domain *domain, struct fi_info *info,
		  struct fid_ep **fid_ep, void *context)
{
	bool rdm = info->ep_attr->type == FI_EP_RDM;
	const struct kofi_srx_attr room =
		loop_rx_room(info->rx_attr->size, info->caps, rdm || info->caps & FI_TAGGED);
	struct loop_ep *ep;
	int ret;

	if (info->ep_attr->type != FI_EP_MSG && !rdm)
		return kofi_refuse("endpoint", -EINVAL, "info->ep_attr->type is %d; there are FI_EP_MSG and FI_EP_RDM",
				   info->ep_attr->type);
	if (rdm && info->handle)
		return kofi_refuse("endpoint", -EINVAL, "info->handle: an endpoint of the type FI_EP_RDM accepts no request");
	ep = kzalloc(sizeof(*ep), GFP_KERNEL);
	if (!ep)
		return -ENOMEM;
	ep->type = info->ep_attr->type;
	ret = kofi_soft_ep_init(&ep->soft, &loop_type, domain, info,
				rdm ? &loop_rdm_limits : &loop_msg_limits, &room,
				context);
	if (ret)
		goto free_ep;
	loop_ep_setup(ep);
	ret = loop_ep_name(ep, info);
	if (ret)
		goto fini_soft;
	*fid_ep = &ep->soft.kep.ep;
	return 0;

fini_soft:
	kofi_soft_ep_fini(&ep->soft);
free_ep:
	kfree(ep);
	return ret;
}

/* Scalable endpoints */

int loop_scalable_ep(struct fid_domain *domain, struct fi_info *info,
		     struct fid_ep **fid_sep, void *context)
{
	struct loop_ep *sep = kzalloc(sizeof(*sep), GFP_KERNEL);
	int ret;

	if (!sep)
		return -ENOMEM;
	sep->type = FI_EP_RDM;
	ret = kofi_soft_sep_init(&sep->soft, &loop_type, domain, info, &loop_rdm_limits,
				 context);
	if (ret)
		goto free_sep;
	loop_ep_setup(sep);
	ret = loop_ep_name(sep, info);
	if (ret)
		goto fini_soft;
	*fid_sep = &sep->soft.kep.ep;
	return 0;

fini_soft:
	kofi_soft_ep_fini(&sep->soft);
free_sep:
	kfree(sep);
	return ret;
}

/* kofi_soft_type.ctx */
static int loop_ctx(struct kofi_soft_ep *sep, const struct kofi_soft_ctx_attr *attr,
		    struct kofi_soft_ep **soft)
{
	const struct kofi_srx_attr room = loop_rx_room(attr->info->rx_attr->size, attr->info->caps,
						       true);
	struct loop_ep *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	int ret;

	if (!ctx)
		return -ENOMEM;
	ctx->type = FI_EP_RDM;
	ret = kofi_soft_ctx_init(&ctx->soft, sep, &loop_type, attr, &room);
	if (ret) {
		kfree(ctx);
		return ret;
	}
	loop_ep_setup(ctx);
	ctx->name.addr = to_loop_soft(sep)->name.addr;
	*soft = &ctx->soft;
	return 0;
}

/* Shared receive contexts */

int loop_srx_context(struct fid_domain *domain, struct fi_rx_attr *attr,
		     struct fid_ep **fid_srx, void *context)
{
	/* Not directed, as endpoints with different address vectors may share the context */
	const struct kofi_srx_attr room =
		loop_rx_room(attr->size ? : LOOP_DEF_QUEUE, FI_MULTI_RECV, true);
	size_t max_iov = attr->mode & FI_ASYNC_IOV ? KOFI_OP_LENT_IOV : KOFI_OP_IOV;
	struct kofi_srx_ctx *ctx;

	if (attr->size > LOOP_MAX_QUEUE || attr->iov_limit > max_iov)
		return kofi_refuse("srx_context", -EINVAL, "attr: size %zu, iov_limit %zu; the most are %d and %zu",
				   attr->size, attr->iov_limit, LOOP_MAX_QUEUE, max_iov);
	ctx = kofi_srx_ctx_open(sizeof(struct loop_srx), attr, &loop_msg_limits,
				&room, &loop_srx_ops, context);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	loop_waiters_init(&to_loop_srx(&ctx->kep.ep.fid)->waiters);
	*fid_srx = &ctx->kep.ep;
	return 0;
}
