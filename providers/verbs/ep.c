// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints: from fi_endpoint() to fi_close().
 *
 * Life
 *
 *	fi_endpoint()	an rdma_cm_id, new and bound to the local address, or
 *			taken over from a connection request
 *	fi_ep_bind()	pointers to the queues
 *	fi_enable()	slots, queue pair, room in the completion queues
 *	cm.c		connection
 *	fi_close()	state DOWN and no more events; an accept on its way seen
 *			through; queue pair to the error state and drained
 *			(receives from a shared receive context: srx.c), so
 *			every done function has run; queue pair and rdma_cm_id
 *			destroyed, in this order.  Then unread completions taken
 *			out of the completion queues, and slots freed
 *
 * When the device is removed, everything but the last step happens without the
 * client (device.c).  The state is GONE then, and the slots stay, with what the client
 * has not read.
 *
 * Locking: the state changes under the rdma_cm_id's handler lock
 * (rdma_lock_handler()), which is also held while an event of the id is handled.
 * Control calls enter the device, as long as they use it or the id.  The data path
 * reads the state under RCU, without the lock; once a removal has set it to GONE and
 * waited for readers, nobody posts any more.  Everything that binding and enabling
 * set up is written before the state allows anyone to use it, and is not changed
 * until close, which no other call may accompany, or a removal.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include "cm.h"
#include "ep.h"
#include "mr.h"
#include "op.h"
#include "queue.h"
#include "verbs.h"

/* Receiver-not-ready delay asked of the peer: 0.64 ms, as libfabric has it */
#define VERBS_RNR_TIMER		12

static struct kmem_cache *verbs_eps;

/* 18 of them take what kmalloc() has for 16 */
int verbs_eps_init(void)
{
	verbs_eps = kmem_cache_create("kofi_verbs_ep", sizeof(struct verbs_ep),
				      __alignof__(struct verbs_ep), 0, NULL);
	return verbs_eps ? 0 : -ENOMEM;
}

void verbs_eps_exit(void)
{
	kmem_cache_destroy(verbs_eps);
}

static void verbs_qp_event(struct ib_event *event, void *context)
{
	struct verbs_ep *ep = context;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		/* Data came before the peer's last CM message */
		rdma_notify(ep->id, IB_EVENT_COMM_EST);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		complete_all(&ep->last_wqe);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		queue_work(verbs_wq, &ep->broken);
		break;
	default:
		break;
	}
}

static int verbs_ep_reserve(struct verbs_ep *ep)
{
	int ret;

	ret = kofi_cq_reserve(&ep->tx.cq->kcq, ep->tx.size);
	if (ret)
		return ret;
	if (ep->srx)
		ret = verbs_srx_attach(ep);
	else
		ret = kofi_cq_reserve(&ep->rx.cq->kcq, ep->rx.size);
	if (ret)
		kofi_cq_unreserve(&ep->tx.cq->kcq, ep->tx.size);
	return ret;
}

int verbs_ep_enter(struct verbs_ep *ep)
{
	return verbs_device_enter(ep->domain->dev);
}

void verbs_ep_leave(struct verbs_ep *ep)
{
	verbs_device_leave(ep->domain->dev);
}

/* With the state kept from changing, too; it is not GONE */
int verbs_ep_lock(struct verbs_ep *ep)
{
	int ret = verbs_ep_enter(ep);

	if (ret)
		return ret;
	rdma_lock_handler(ep->id);
	if (ep->state != VERBS_EP_GONE)
		return 0;
	/* The removal has begun meanwhile */
	verbs_ep_unlock(ep);
	return -ENODEV;
}

void verbs_ep_unlock(struct verbs_ep *ep)
{
	rdma_unlock_handler(ep->id);
	verbs_ep_leave(ep);
}

/* The caller holds the handler lock, or nobody else knows the endpoint */
void verbs_ep_set_state(struct verbs_ep *ep, enum verbs_ep_state state)
{
	struct verbs_queue *queues[] = { &ep->tx, &ep->rx };
	unsigned long flags;
	int i;

	/* Who posts because of the state sees what it stands for */
	smp_store_release(&ep->state, state);
	for (i = 0; i < ARRAY_SIZE(queues); i++) {
		spin_lock_irqsave(&queues[i]->lock, flags);
		verbs_queue_unlock(ep, queues[i], flags);
	}
}

static void verbs_ep_unreserve(struct verbs_ep *ep)
{
	kofi_cq_unreserve(&ep->tx.cq->kcq, ep->tx.size);
	if (ep->srx)
		verbs_srx_detach(ep);
	else
		kofi_cq_unreserve(&ep->rx.cq->kcq, ep->rx.size);
}

static void verbs_ep_destroy_queues(struct verbs_ep *ep)
{
	kvfree(ep->parts);
	ep->parts = NULL;
	verbs_queue_destroy(&ep->tx);
	verbs_queue_destroy(&ep->rx);
}

static int verbs_ep_init_queues(struct verbs_ep *ep)
{
	int ret;

	ret = verbs_queue_init(&ep->tx, ep->domain, ep, verbs_send_done);
	if (ret)
		return ret;
	if (ep->rma)
		ret = verbs_parts_init(ep);
	if (ret)
		goto destroy_tx;
	if (ep->srx)
		ep->rx.home = &ep->srx->rx;
	else
		ret = verbs_queue_init(&ep->rx, ep->domain, ep,
				       verbs_recv_done);
	if (ret)
		goto destroy_tx;
	return 0;

destroy_tx:
	verbs_ep_destroy_queues(ep);
	return ret;
}

/* More work requests than the client has: ib_drain_qp()'s marker, and for sinks */
static int verbs_ep_try_qp(struct verbs_ep *ep, u32 inline_size)
{
	struct ib_qp_init_attr attr = {
		.event_handler	= verbs_qp_event,
		.qp_context	= ep,
		.send_cq	= ep->tx.cq->ibcq,
		.recv_cq	= ep->rx.cq->ibcq,
		.srq		= ep->srx ? ep->srx->rx.srq : NULL,
		.cap = {
			.max_send_wr	= ep->tx.size + 1 + 2 * ep->nr_sinks,
			.max_recv_wr	= ep->srx ? 0 : ep->rx.size + 1,
			.max_send_sge	= ep->tx.iov_limit,
			.max_recv_sge	= ep->srx ? 0 : ep->rx.iov_limit,
			.max_inline_data = inline_size,
			.max_rdma_ctxs	= verbs_moves_ctxs(ep),
		},
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};
	int ret;

	ret = rdma_create_qp(ep->id, ep->domain->pd, &attr);
	if (ret)
		return ret;
	ep->qp = ep->id->qp;
	ep->inline_size = min_t(size_t, attr.cap.max_inline_data, inline_size);
	if (!ep->iwarp)
		rdma_set_min_rnr_timer(ep->id, VERBS_RNR_TIMER);
	return 0;
}

/* No queue pair for who has gone: rdma_cm knows it before the endpoint is told */
static bool verbs_ep_peer_gone(struct verbs_ep *ep)
{
	struct ib_qp_attr attr = {
		.qp_state	= IB_QPS_INIT,
	};
	int mask = 0;

	return ep->passive && rdma_init_qp_attr(ep->id, &attr, &mask) == -EINVAL;
}

/*
 * No attribute of a device says how much it takes inline, and some refuse who asks for
 * too much.  What does not go inline is copied.  Over iWARP nothing does: siw takes a send
 * that ends a key inline and never sends it, and cxgb4 does not look whether a write is
 * inline if the send behind it is.
 */
static int verbs_ep_create_qp(struct verbs_ep *ep)
{
	u32 inline_size = ep->iwarp ? 0 : ep->inject_size;
	int ret = verbs_ep_try_qp(ep, inline_size);

	if (ret == -EINVAL && inline_size)
		ret = verbs_ep_try_qp(ep, 0);
	if (ret == -EINVAL && verbs_ep_peer_gone(ep))
		ret = -ECONNABORTED;
	return ret;
}

static int verbs_ep_build(struct verbs_ep *ep)
{
	int ret;

	ret = verbs_ep_reserve(ep);
	if (ret)
		return ret;
	ret = verbs_ep_init_queues(ep);
	if (ret)
		goto unreserve;
	ret = verbs_sinks_init(ep);
	if (ret)
		goto destroy_queues;
	ret = verbs_ep_create_qp(ep);
	if (ret)
		goto destroy_sinks;
	if (ep->inline_size < ep->inject_size) {
		ret = verbs_bounce_init(ep);
		if (ret)
			goto destroy_qp;
	}
	return 0;

destroy_qp:
	rdma_destroy_qp(ep->id);
	ep->qp = NULL;
destroy_sinks:
	verbs_sinks_destroy(ep);
destroy_queues:
	verbs_ep_destroy_queues(ep);
unreserve:
	verbs_ep_unreserve(ep);
	return ret;
}

static int verbs_ep_enable(struct verbs_ep *ep)
{
	int ret;

	if (!ep->eq)
		return -FI_ENOEQ;
	if (!ep->tx.cq || !ep->rx.cq)
		return -FI_ENOCQ;
	if (ep->shared && !ep->srx)
		return -FI_ENORX;
	if (!verbs_cntr_fits(&ep->tx) || !verbs_cntr_fits(&ep->rx))
		return -EINVAL;

	ret = verbs_ep_lock(ep);
	if (ret)
		return ret;
	if (ep->state == VERBS_EP_DOWN)
		ret = -ECONNABORTED;
	else if (ep->state != VERBS_EP_OPEN)
		ret = -FI_EOPBADSTATE;
	else
		ret = verbs_ep_build(ep);
	if (!ret)
		verbs_ep_set_state(ep, VERBS_EP_ENABLED);
	verbs_ep_unlock(ep);
	return ret;
}

static void verbs_ep_bind_cq(struct verbs_ep *ep, struct verbs_cq *cq, u64 flags)
{
	if (flags & FI_TRANSMIT) {
		ep->tx.cq = cq;
		ep->tx.selective = flags & FI_SELECTIVE_COMPLETION;
	}
	if (flags & FI_RECV) {
		ep->rx.cq = cq;
		ep->rx.selective = flags & FI_SELECTIVE_COMPLETION;
	}
}

static int verbs_ep_bind_any(struct verbs_ep *ep, struct fid *bfid, u64 flags)
{
	/* If the peer has gone meanwhile, fi_enable() will say so */
	if (ep->qp)
		return -FI_EOPBADSTATE;

	switch (bfid->fclass) {
	case FI_CLASS_CQ:
		verbs_ep_bind_cq(ep, to_verbs_cq(bfid), flags);
		return 0;
	case FI_CLASS_EQ:
		ep->eq = to_kofi_eq(bfid);
		return 0;
	case FI_CLASS_CNTR:
		return verbs_cntr_bind(ep, to_kofi_cntr(bfid), flags);
	case FI_CLASS_SRX_CTX:
		if (!ep->shared)
			return -EINVAL;
		ep->srx = to_verbs_srx(bfid);
		return 0;
	default:
		return -EINVAL;
	}
}

/* The core lets nothing be bound twice, nor what belongs elsewhere */
static int verbs_ep_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(fid);
	int ret = verbs_ep_enter(ep);

	if (ret)
		return ret;
	ret = verbs_ep_bind_any(ep, bfid, flags);
	verbs_ep_leave(ep);
	return ret;
}

static struct verbs_queue *verbs_ep_queue(struct verbs_ep *ep, u64 flags)
{
	if ((flags & (FI_TRANSMIT | FI_RECV)) == FI_TRANSMIT)
		return &ep->tx;
	if ((flags & (FI_TRANSMIT | FI_RECV)) == FI_RECV)
		return &ep->rx;
	return NULL;
}

static int verbs_ep_get_flags(struct verbs_ep *ep, u64 *flags)
{
	struct verbs_queue *queue = flags ? verbs_ep_queue(ep, *flags) : NULL;

	if (!queue)
		return -EINVAL;
	*flags = queue->op_flags;
	return 0;
}

static bool verbs_ep_flags_fit(const struct verbs_ep *ep, u64 tx, u64 rx)
{
	return !(tx & ~verbs_op_flags(ep->iwarp)) && !(rx & ~FI_COMPLETION);
}

static int verbs_ep_set_flags(struct verbs_ep *ep, const u64 *flags)
{
	struct verbs_queue *queue = flags ? verbs_ep_queue(ep, *flags) : NULL;
	unsigned long irq;
	u64 op_flags;

	if (!queue)
		return -EINVAL;
	op_flags = *flags & ~(FI_TRANSMIT | FI_RECV);
	if (!verbs_ep_flags_fit(ep, queue == &ep->tx ? op_flags : 0,
				queue == &ep->rx ? op_flags : 0))
		return -FI_EBADFLAGS;
	spin_lock_irqsave(&queue->lock, irq);
	WRITE_ONCE(queue->op_flags, op_flags);
	verbs_queue_tune(queue);
	verbs_queue_unlock(ep, queue, irq);
	return 0;
}

static int verbs_ep_do(struct verbs_ep *ep, int command, void *arg)
{
	switch (command) {
	case FI_ENABLE:
		return verbs_ep_enable(ep);
	case FI_GETOPSFLAG:
		return verbs_ep_get_flags(ep, arg);
	case FI_SETOPSFLAG:
		return verbs_ep_set_flags(ep, arg);
	default:
		return -ENOSYS;
	}
}

static int verbs_ep_control(struct fid *fid, int command, void *arg)
{
	struct verbs_ep *ep = to_verbs_ep(fid);
	int ret = verbs_ep_enter(ep);

	if (ret)
		return ret;
	ret = verbs_ep_do(ep, command, arg);
	verbs_ep_leave(ep);
	return ret;
}

/* Everything that is posted completes, whatever rdma_cm is up to */
void verbs_ep_flush(struct verbs_ep *ep)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (!ep->qp)
		return;
	ib_modify_qp(ep->qp, &attr, IB_QP_STATE);
	verbs_ring(ep);
	verbs_end_stranded(ep, false);
}

static void verbs_ep_destroy_qp(struct verbs_ep *ep)
{
	verbs_ep_hang_up(ep);
	if (ep->srx) {
		verbs_srx_drain(ep);
	} else {
		verbs_drain_sq(ep->qp, ep->tx.cq);
		verbs_drain_rq(ep->qp, ep->rx.cq);
	}
	verbs_cq_quiesce(ep->tx.cq);
	verbs_cq_quiesce(ep->rx.cq);
	verbs_end_stranded(ep, true);
	flush_work(&ep->broken);
	verbs_moves_abandon(ep);
	rdma_destroy_qp(ep->id);
	ep->qp = NULL;
	verbs_sinks_destroy(ep);
	/* An event of the queue pair may have come after the drain */
	cancel_work_sync(&ep->broken);
	verbs_queue_unmap(&ep->tx);
	verbs_queue_unmap(&ep->rx);
	verbs_bounce_destroy(ep);
	verbs_ep_unreserve(ep);
}

/*
 * Destroying an id whose accept the peer has not answered sends a reject right
 * behind the accept.  ib_cm handles what it receives on all CPUs at once, and if
 * the reject is first, it is dropped: the peer would believe in a connection.
 */
static void verbs_ep_settle(struct verbs_ep *ep)
{
	if (ep->accepted)
		wait_for_completion_timeout(&ep->settled,
					    msecs_to_jiffies(VERBS_SETTLE_MS));
}

static void verbs_ep_strip(struct verbs_kid *kid)
{
	struct verbs_ep *ep = container_of(kid, struct verbs_ep, kid);

	rdma_lock_handler(ep->id);
	ep->closing = true;
	/* Nobody could send to it, so it has taken nothing */
	if (ep->state <= VERBS_EP_ENABLED)
		complete_all(&ep->last_wqe);
	if (ep->state != VERBS_EP_GONE)
		verbs_ep_set_state(ep, VERBS_EP_DOWN);
	rdma_unlock_handler(ep->id);

	cancel_delayed_work_sync(&ep->late);
	if (ep->state != VERBS_EP_GONE)
		verbs_ep_settle(ep);
	if (ep->qp)
		verbs_ep_destroy_qp(ep);
	rdma_destroy_id(ep->id);
	ep->id = NULL;
}

static const struct verbs_kid_ops verbs_ep_kid_ops = {
	.kind	= VERBS_KID_EP,
	.tell	= verbs_cm_device_gone,
	.halt	= verbs_cm_halt,
	.strip	= verbs_ep_strip,
};

/* What is left when it has been stripped */
static void verbs_ep_free(struct verbs_ep *ep)
{
	if (ep->tx.slots) {
		verbs_cq_forget(ep->tx.cq, &ep->tx);
		verbs_cq_forget(ep->rx.cq, &ep->rx);
		verbs_ep_destroy_queues(ep);
	}
	verbs_moves_free(ep);
	if (ep->eq) {
		kofi_eq_withdraw(ep->eq, &ep->connected);
		kofi_eq_withdraw(ep->eq, &ep->ended);
	}
	kmem_cache_free(verbs_eps, ep);
}

static int verbs_ep_close(struct fid *fid)
{
	struct verbs_ep *ep = to_verbs_ep(fid);

	verbs_kid_strip(ep->domain->dev, &ep->kid);
	verbs_ep_free(ep);
	return 0;
}

static const struct fi_ops verbs_ep_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= verbs_ep_close,
	.bind		= verbs_ep_bind,
	.control	= verbs_ep_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

/* What the info asks for must be what the device has */
static int verbs_ep_set_attrs(struct verbs_ep *ep, const struct fi_info *info)
{
	struct ib_device *ibdev = ep->domain->dev->ibdev;

	if (!info->ep_attr || !info->tx_attr || !info->rx_attr ||
	    info->ep_attr->type != FI_EP_MSG)
		return -EINVAL;

	ep->shared = info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT;
	ep->tx.size = info->tx_attr->size ? : VERBS_DEF_QUEUE;
	/* A shared receive context has limits of its own */
	ep->rx.size = ep->shared ? 0 : info->rx_attr->size ? : VERBS_DEF_QUEUE;
	ep->tx.iov_limit = info->tx_attr->iov_limit ? : 1;
	ep->rx.iov_limit = ep->shared ? 0 : info->rx_attr->iov_limit ? : 1;
	ep->tx.op_flags = info->tx_attr->op_flags;
	ep->rx.op_flags = info->rx_attr->op_flags;
	ep->inject_size = info->tx_attr->inject_size;
	ep->tclass = info->tx_attr->tclass;
	ep->max_msg_size = info->ep_attr->max_msg_size ? :
			   ep->domain->dev->max_msg_size;
	ep->rma = info->caps & FI_RMA;
	ep->iwarp = verbs_is_iwarp(ibdev);
	ep->tx_flags = verbs_tx_flags(ep->iwarp);
	ep->read_limit = min_t(size_t, ep->tx.iov_limit,
			       ibdev->attrs.max_sge_rd);
	if ((ep->shared && !verbs_has_srx(ibdev)) ||
	    ep->tx.size > verbs_tx_max(ibdev) ||
	    ep->rx.size > verbs_rx_max(ibdev) ||
	    ep->max_msg_size > ep->domain->dev->max_msg_size ||
	    ep->tx.iov_limit > verbs_tx_iov_max(ibdev) ||
	    ep->rx.iov_limit > min(ibdev->attrs.max_recv_sge, VERBS_MAX_IOV) ||
	    ep->inject_size > VERBS_MAX_INJECT ||
	    !verbs_tclass_known(ep->tclass) ||
	    !verbs_ep_flags_fit(ep, ep->tx.op_flags, ep->rx.op_flags))
		return -EINVAL;
	return 0;
}

static int verbs_ep_bind_addr(struct verbs_ep *ep, const struct fi_info *info)
{
	u32 tclass = ep->tclass ? : ep->domain->tclass;
	struct sockaddr_storage src, dest;
	struct rdma_cm_id *id;
	int ret;

	if (info->dest_addr) {
		ret = verbs_addr_from_info(&dest, info->dest_addr,
					   info->dest_addrlen);
		if (ret)
			return ret;
		memcpy(&ep->dest, &dest, sizeof(ep->dest));
	}
	ret = verbs_addr_from_info(&src, info->src_addr, info->src_addrlen);
	if (ret)
		return ret;

	id = rdma_create_id(ep->domain->fabric->net, verbs_cm_handler, ep,
			    RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	if (tclass)
		rdma_set_service_type(id, verbs_tclass_tos(tclass));
	ret = rdma_bind_addr(id, (struct sockaddr *)&src);
	if (!ret && id->device != ep->domain->dev->ibdev)
		ret = -EINVAL;
	if (ret)
		rdma_destroy_id(id);
	else
		ep->id = id;
	return ret;
}

/* On success the endpoint has its id */
static int verbs_ep_get_id(struct verbs_ep *ep, const struct fi_info *info)
{
	if (!info->handle)
		return verbs_ep_bind_addr(ep, info);

	ep->passive = true;
	return verbs_connreq_take(info->handle, ep);
}

int verbs_endpoint(struct verbs_domain *domain, struct fi_info *info,
		   struct fid_ep **fid_ep, void *context)
{
	struct verbs_ep *ep;
	int ret;

	ep = kmem_cache_zalloc(verbs_eps, GFP_KERNEL);
	if (!ep)
		return -ENOMEM;

	ep->domain = domain;
	ep->state = VERBS_EP_OPEN;
	kofi_event_init(&ep->connected, &ep->ep.fid);
	kofi_event_init(&ep->ended, &ep->ep.fid);
	verbs_queue_prepare(&ep->tx);
	verbs_queue_prepare(&ep->rx);
	ep->chain_end = &ep->chain;
	spin_lock_init(&ep->split_lock);
	ep->connect_ms = VERBS_CONNECT_MS;
	INIT_WORK(&ep->broken, verbs_cm_broken);
	INIT_DELAYED_WORK(&ep->late, verbs_cm_late);
	init_completion(&ep->settled);
	init_completion(&ep->last_wqe);
	ep->rx.ep = ep;
	ep->ep.fid.fclass = FI_CLASS_EP;
	ep->ep.fid.context = context;
	ep->ep.fid.ops = &verbs_ep_fid_ops;
	ep->ep.ops = &verbs_ep_ops;
	ep->ep.cm = &verbs_ep_cm_ops;
	ep->ep.tagged = &kofi_no_ops_tagged;

	ret = verbs_ep_set_attrs(ep, info);
	if (ret)
		goto free_ep;
	ep->ep.msg = ep->shared ? &verbs_shared_msg_ops : &verbs_msg_ops;
	ep->ep.rma = ep->rma ? &verbs_rma_ops : &kofi_no_ops_rma;
	ep->ep.atomic = info->caps & FI_ATOMIC && domain->dev->atomics ?
			&verbs_atomic_ops : &kofi_no_ops_atomic;
	ret = verbs_ep_get_id(ep, info);
	if (ret)
		goto free_ep;
	verbs_kid_add(domain->dev, &ep->kid, &verbs_ep_kid_ops);
	*fid_ep = &ep->ep;
	return 0;

free_ep:
	kmem_cache_free(verbs_eps, ep);
	return ret;
}
