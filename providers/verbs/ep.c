// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints: from fi_endpoint() to fi_close().
 *
 * Life
 *
 *	fi_endpoint()	takes the rdma_cm_id of a connection request, or makes one
 *			and binds it to the local address
 *	fi_ep_bind()	keeps pointers to the queues
 *	fi_enable()	makes the slots and the queue pair, reserves room in the
 *			completion queues
 *	cm.c		connects
 *	fi_close()	sets the state DOWN, so there are no more events; waits for an
 *			accept on its way; puts the queue pair into the error state and
 *			drains it, unless fi_ep_drain() has (ep_drain.c), so every done
 *			function has run; destroys the queue pair, then the rdma_cm_id.
 *			Then takes unread completions out of the completion queues,
 *			and frees the slots
 *
 * verbs_device_remove() takes the steps of fi_close() except the last one.  The state is GONE
 * then, and the slots stay, as the client still reads completions.
 *
 * Locking: the state changes under the rdma_cm_id's handler lock (rdma_lock_handler()), which is
 * also held while an event of the id is handled.  Control calls that use the device or the id
 * enter the device.  The data path reads the state under RCU, without the lock.  When a removal
 * has set the state to GONE and waited for readers, no call posts any more.  Binding and enabling
 * write all fields before the state allows the data path to read them.  The fields then stay until
 * a removal, or until the close, during which the client may not call.
 */
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include <kofi/addr.h>
#include <kofi/refuse.h>
#include <kofi/tclass.h>
#include <kofi/stat.h>
#include "cm.h"
#include "ep.h"
#include "mr.h"
#include "op.h"
#include "queue.h"
#include "save/save.h"
#include "verbs.h"

/* Receiver-not-ready delay that the peer is to keep: 0.64 ms, as in libfabric */
#define VERBS_RNR_TIMER		12

static struct kmem_cache *verbs_eps;

/* In a cache of their own 14 endpoints take the memory that kmalloc() takes for 8 */
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
		/* Data came before the last message of the handshake */
		rdma_notify(ep->id, IB_EVENT_COMM_EST);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		verbs_last_wqe_reached(ep);
		break;
	case IB_EVENT_QP_FATAL:
		verbs_ep_broken(ep);
		break;
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		verbs_ep_refusing(ep);
		break;
	default:
		break;
	}
}

static int verbs_ep_reserve(struct verbs_ep *ep)
{
	int ret;

	ret = kofi_cq_reserve(ep->kep.tx.cq, ep->tx.size);
	if (ret)
		return ret;
	if (verbs_ep_srx(ep))
		ret = verbs_srx_attach(ep);
	else
		ret = kofi_cq_reserve(ep->kep.rx.cq, ep->rx.size);
	if (ret)
		kofi_cq_unreserve(ep->kep.tx.cq, ep->tx.size);
	return ret;
}

static void verbs_ep_tune(struct verbs_ep *ep)
{
	struct verbs_queue *queues[] = { &ep->tx, &ep->rx };
	unsigned long flags;
	int i;

	for (i = 0; i < ARRAY_SIZE(queues); i++) {
		spin_lock_irqsave(&queues[i]->lock, flags);
		verbs_queue_tune(queues[i]);
		verbs_queue_unlock(ep, queues[i], flags);
	}
}

/*
 * Only a connection opens the gates, and only its end closes them.  The caller holds the handler
 * lock, or is the only one that knows the endpoint.
 */
static void verbs_ep_state_changed(struct kofi_conn *conn)
{
	struct verbs_ep *ep = container_of(conn, struct verbs_ep, kep.conn);

	if (conn->state == KOFI_CONN_CONNECTED || ep->tx.plain || ep->rx.plain ||
	    ep->straight[FI_OP_SEND])
		verbs_ep_tune(ep);
	if (ep->saves)
		wake_up(&ep->saves->wait);
}

static void verbs_ep_unreserve(struct verbs_ep *ep)
{
	kofi_cq_unreserve(ep->kep.tx.cq, ep->tx.size);
	if (verbs_ep_srx(ep))
		verbs_srx_detach(ep);
	else
		kofi_cq_unreserve(ep->kep.rx.cq, ep->rx.size);
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
	if (verbs_ep_has_rma(ep)) {
		ep->parts = kvcalloc(VERBS_PARTS, sizeof(*ep->parts), GFP_KERNEL);
		if (!ep->parts) {
			ret = -ENOMEM;
			goto destroy_queues;
		}
	}
	if (verbs_ep_srx(ep)) {
		ep->rx.home = &verbs_ep_srx(ep)->rx;
		verbs_queue_tune(&ep->rx);
	} else {
		ret = verbs_queue_init(&ep->rx, ep->domain, ep,
				       verbs_recv_done);
	}
	if (!ret)
		return 0;

destroy_queues:
	verbs_ep_destroy_queues(ep);
	return ret;
}

/* The queue pair also has room for the markers of a drain, and for read regions */
static int verbs_ep_try_qp(struct verbs_ep *ep, u32 inline_size)
{
	struct verbs_srx *srx = verbs_ep_srx(ep);
	struct ib_qp_init_attr attr = {
		.event_handler	= verbs_qp_event,
		.qp_context	= ep,
		.send_cq	= verbs_queue_cq(&ep->tx)->ibcq,
		.recv_cq	= verbs_queue_cq(&ep->rx)->ibcq,
		.srq		= srx ? srx->rx.srq : NULL,
		.cap = {
			.max_send_wr	= ep->tx.size + 1 + 2 * ep->nr_read_mrs,
			.max_recv_wr	= srx ? 0 : ep->rx.size + 1,
			.max_send_sge	= ep->tx.iov_limit,
			.max_recv_sge	= srx ? 0 : ep->rx.iov_limit,
			.max_inline_data = inline_size,
			.max_rdma_ctxs	= verbs_rws_ctxs(ep),
		},
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};
	int ret;

	ret = rdma_create_qp(ep->id, ep->domain->pd, &attr);
	if (ret)
		return ret;
	ep->qp = ep->id->qp;
	verbs_qp_name(ep->qp);
	ep->inline_size = min_t(size_t, attr.cap.max_inline_data, inline_size);
	if (!ep->iwarp)
		rdma_set_min_rnr_timer(ep->id, VERBS_RNR_TIMER);
	return 0;
}

/*
 * No attribute of a device says how much it takes inline, and some devices refuse a queue pair
 * that asks for too much.  Injected data that do not go inline go through ->bounce.  Over iWARP
 * nothing goes inline: siw takes an inline send that ends a key, but never sends it, and cxgb4
 * does not check whether a write is inline if the send behind it is.
 */
static int verbs_ep_create_qp(struct verbs_ep *ep)
{
	u32 inline_size = ep->iwarp ? 0 : ep->kep.inject_size;
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask = 0, ret;

	ret = verbs_ep_try_qp(ep, inline_size);
	if (ret == -EINVAL && inline_size)
		ret = verbs_ep_try_qp(ep, 0);
	/* The peer may have gone, which rdma_cm knows before the endpoint does */
	if (ret == -EINVAL && ep->kep.conn.passive &&
	    rdma_init_qp_attr(ep->id, &attr, &mask) == -EINVAL)
		return kofi_refuse("enable", -ECONNABORTED, "the peer of its connection request has gone");
	if (ret)
		kofi_refuse("enable", ret, "the device %s makes no queue pair with %zu sends and %zu receives",
			    ep->domain->dev->ibdev->name, ep->tx.size, ep->rx.size);
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
	ret = verbs_read_mrs_init(ep);
	if (ret)
		goto destroy_queues;
	ret = verbs_ep_create_qp(ep);
	if (ret)
		goto destroy_read_mrs;
	if (ep->inline_size < ep->kep.inject_size) {
		ret = verbs_bounce_init(ep);
		if (ret)
			goto destroy_qp;
	}
	return 0;

destroy_qp:
	rdma_destroy_qp(ep->id);
	ep->qp = NULL;
destroy_read_mrs:
	verbs_read_mrs_destroy(ep);
destroy_queues:
	verbs_ep_destroy_queues(ep);
unreserve:
	verbs_ep_unreserve(ep);
	return ret;
}

static int verbs_ep_enable(struct verbs_ep *ep)
{
	int ret = verbs_ep_lock(ep);

	if (ret)
		return ret;
	ret = kofi_ep_may_enable(&ep->kep);
	if (!ret)
		ret = verbs_ep_build(ep);
	if (!ret)
		kofi_conn_set_state(&ep->kep.conn, KOFI_CONN_ENABLED);
	verbs_ep_unlock(ep);
	return ret;
}

static int verbs_ep_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(fid);
	int ret = verbs_ep_enter(ep);

	if (ret)
		return ret;
	/* Checks the queue pair, which stays when the connection is over */
	if (ep->qp)
		ret = kofi_conn_refuse("ep_bind", &ep->kep.conn, -FI_EOPBADSTATE,
				       "open: bind before fi_enable()");
	else
		ret = kofi_ep_bind(fid, bfid, flags);
	verbs_ep_leave(ep);
	return ret;
}

static int verbs_ep_control(struct fid *fid, int command, void *arg)
{
	struct verbs_ep *ep = to_verbs_ep(fid);
	int ret;

	/* Works if the device has gone, too */
	if (command == KOFI_GETSTAT)
		return kofi_ep_control(fid, command, arg);
	ret = verbs_ep_enter(ep);
	if (ret)
		return ret;
	if (command == FI_ENABLE)
		ret = verbs_ep_enable(ep);
	else
		ret = kofi_ep_control(fid, command, arg);
	if (!ret && command == FI_SETOPSFLAG)
		verbs_ep_tune(ep);
	verbs_ep_leave(ep);
	return ret;
}

static void verbs_ep_destroy_qp(struct verbs_ep *ep)
{
	verbs_ep_hang_up(ep);
	if (!verbs_ep_drained(ep))
		verbs_ep_drain_qp(ep);
	/* During a removal a region may be closed at the same time (mr_ep.c) */
	mutex_lock(&ep->drain.lock);
	rdma_destroy_qp(ep->id);
	ep->qp = NULL;
	mutex_unlock(&ep->drain.lock);
	verbs_read_mrs_destroy(ep);
	/* An event of the queue pair may have come after the drain */
	if (READ_ONCE(ep->broken_queued))
		cancel_delayed_work_sync(&ep->broken);
	verbs_queue_unmap(&ep->tx);
	verbs_queue_unmap(&ep->rx);
	verbs_bounce_destroy(ep);
	verbs_ep_unreserve(ep);
}

static void verbs_ep_strip(struct verbs_res *res)
{
	struct verbs_ep *ep = container_of(res, struct verbs_ep, res);
	u32 spent, limit = msecs_to_jiffies(VERBS_SETTLE_MS);

	rdma_lock_handler(ep->id);
	verbs_ep_stop(ep);
	rdma_unlock_handler(ep->id);

	kofi_conn_cancel_late(&ep->kep.conn);
	/*
	 * Destroying an id whose accept the peer has not answered sends a reject right behind
	 * the accept.  The peer's ib_cm handles messages on all CPUs at once, and drops the reject
	 * if it overtakes the accept; then the peer would see a connection.  The limit counts from
	 * the accept, as an older one has arrived or is lost, so endpoints that are closed one
	 * after the other share the wait.
	 */
	spent = (u32)jiffies - ep->accepted_at;
	if (ep->kep.conn.state != KOFI_CONN_GONE && ep->accepted && spent < limit)
		wait_for_completion_timeout(&ep->settled, limit - spent);
	if (ep->qp)
		verbs_ep_destroy_qp(ep);
	verbs_saves_close(ep);
	rdma_destroy_id(ep->id);
	ep->id = NULL;
}

static const struct verbs_res_ops verbs_ep_res_ops = {
	.kind	= VERBS_RES_EP,
	.report	= verbs_cm_device_gone,
	.halt	= verbs_cm_halt,
	.strip	= verbs_ep_strip,
};

/* Frees a stripped endpoint */
static void verbs_ep_free(struct verbs_ep *ep)
{
	/* A drain may still wait for callbacks */
	if (ep->drain.begun)
		flush_work(&ep->drain.work);
	if (ep->tx.slots) {
		verbs_cq_forget(verbs_queue_cq(&ep->tx), ep);
		/* Each time waits for all callbacks that are due */
		if (ep->rx.side->cq != ep->tx.side->cq)
			verbs_cq_forget(verbs_queue_cq(&ep->rx), ep);
	}
	kofi_ep_fini(&ep->kep);
	verbs_ep_destroy_queues(ep);
	verbs_saves_free(ep);
	mutex_destroy(&ep->drain.lock);
	kfree(ep->rws);
	kmem_cache_free(verbs_eps, ep);
}

static int verbs_ep_close(struct fid *fid)
{
	struct verbs_ep *ep = to_verbs_ep(fid);
	int ret = kofi_ep_may_close(&ep->kep);

	if (ret)
		return ret;
	verbs_res_strip(ep->domain->dev, &ep->res);
	verbs_res_del(ep->domain->dev, &ep->res);
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

static int verbs_ep_init(struct verbs_ep *ep, struct verbs_domain *domain,
			 const struct fi_info *info, void *context)
{
	if (info->ep_attr->type != FI_EP_MSG)
		return kofi_refuse("endpoint", -EINVAL, "info->ep_attr->type is %d; there is FI_EP_MSG",
				   info->ep_attr->type);
	ep->domain = domain;
	ep->iwarp = verbs_is_iwarp(domain->dev->ibdev);
	ep->kep.device_p2p = !ib_uses_virt_dma(domain->dev->ibdev);
	return kofi_ep_init(&ep->kep, info, verbs_ep_limits(ep->iwarp), context);
}

static int verbs_ep_check_field(const char *field, size_t value, size_t max)
{
	if (value <= max)
		return 0;
	return kofi_refuse("endpoint", -EINVAL, "info->%s is %zu; the most on this device is %zu",
			   field, value, max);
}

static int verbs_ep_set_attrs(struct verbs_ep *ep, const struct fi_info *info)
{
	struct ib_device *ibdev = ep->domain->dev->ibdev;
	struct kofi_ep *kep = &ep->kep;

	if (!kep->max_msg_size)
		kep->max_msg_size = ep->domain->dev->max_msg_size;
	ep->tx.size = info->tx_attr->size ? : VERBS_DEF_QUEUE;
	/* A shared receive context has its own limits */
	ep->rx.size = kep->shared ? 0 : info->rx_attr->size ? : VERBS_DEF_QUEUE;
	ep->tx.iov_limit = info->tx_attr->iov_limit ? : 1;
	ep->rx.iov_limit = kep->shared ? 0 : info->rx_attr->iov_limit ? : 1;
	ep->tclass = info->tx_attr->tclass;
	ep->read_limit = min_t(size_t, ep->tx.iov_limit,
			       ibdev->attrs.max_sge_rd);
	if (kep->shared && !verbs_has_srx(ibdev))
		return kofi_refuse("endpoint", -EINVAL, "info->ep_attr->rx_ctx_cnt: the device has no shared receive contexts");
	if (!kofi_tclass_known(ep->tclass))
		return kofi_refuse("endpoint", -EINVAL, "info->tx_attr->tclass %#x is no FI_TC_*",
				   ep->tclass);
	return verbs_ep_check_field("tx_attr->size", ep->tx.size, verbs_tx_max(ibdev)) ? :
	       verbs_ep_check_field("rx_attr->size", ep->rx.size, verbs_rx_max(ibdev)) ? :
	       verbs_ep_check_field("ep_attr->max_msg_size", kep->max_msg_size,
				    ep->domain->dev->max_msg_size) ? :
	       verbs_ep_check_field("tx_attr->iov_limit", ep->tx.iov_limit,
				    verbs_tx_iov_max(ibdev)) ? :
	       verbs_ep_check_field("rx_attr->iov_limit", ep->rx.iov_limit,
				    min(ibdev->attrs.max_recv_sge, VERBS_MAX_IOV)) ? :
	       verbs_ep_check_field("tx_attr->inject_size", kep->inject_size, VERBS_MAX_INJECT);
}

/* Takes the id of a connection request, or binds a new one; on success it is in @ep */
static int verbs_ep_get_id(struct verbs_ep *ep, const struct fi_info *info)
{
	u32 tclass = ep->tclass ? : ep->domain->tclass;
	struct sockaddr_storage src, dest;
	struct rdma_cm_id *id;
	int ret;

	if (info->handle) {
		ep->kep.conn.passive = true;
		return verbs_connreq_take(info->handle, ep);
	}
	if (info->dest_addr) {
		ret = kofi_addr_get("endpoint", "info->dest_addr", &dest, info->dest_addr,
				    info->dest_addrlen);
		if (ret)
			return ret;
		memcpy(&ep->dest, &dest, sizeof(ep->dest));
	}
	ret = kofi_addr_get("endpoint", "info->src_addr", &src, info->src_addr,
			    info->src_addrlen);
	if (ret)
		return ret;

	id = verbs_create_id(ep->domain->fabric, verbs_cm_handler, ep);
	if (IS_ERR(id))
		return PTR_ERR(id);
	if (tclass)
		rdma_set_service_type(id, kofi_tclass_tos(tclass));
	ret = rdma_bind_addr(id, (struct sockaddr *)&src);
	if (ret)
		kofi_refuse("endpoint", ret, "info->src_addr: rdma_cm binds nothing to %pISpc",
			    &src);
	else if (id->device != ep->domain->dev->ibdev)
		ret = kofi_refuse("endpoint", -EINVAL, "info->src_addr: %pIS is not an address of the device %s",
				  &src, ep->domain->dev->ibdev->name);
	if (ret)
		rdma_destroy_id(id);
	else
		ep->id = id;
	return ret;
}

int verbs_endpoint(struct verbs_domain *domain, struct fi_info *info,
		   struct fid_ep **fid_ep, void *context)
{
	struct verbs_ep *ep;
	struct fid_ep *fid;
	int ret;

	ep = kmem_cache_zalloc(verbs_eps, GFP_KERNEL);
	if (!ep)
		return -ENOMEM;

	ret = verbs_ep_init(ep, domain, info, context);
	if (ret)
		goto free_ep;
	ret = verbs_ep_set_attrs(ep, info);
	if (ret)
		goto fini_ep;
	verbs_queue_prepare(&ep->tx, &ep->kep.tx);
	verbs_queue_prepare(&ep->rx, &ep->kep.rx);
	ep->regs_end = &ep->regs;
	ep->wrs_end = &ep->wrs;
	spin_lock_init(&ep->split_lock);
	INIT_DELAYED_WORK(&ep->broken, verbs_cm_broken);
	ep->kep.conn.changed = verbs_ep_state_changed;
	kofi_conn_set_late(&ep->kep.conn, verbs_cm_late, VERBS_CONNECT_MS);
	init_completion(&ep->settled);
	init_completion(&ep->last_wqe);
	verbs_drain_init(&ep->drain);
	ep->rx.ep = ep;
	fid = &ep->kep.ep;
	fid->fid.ops = &verbs_ep_fid_ops;
	fid->ops = &verbs_ep_ops;
	fid->cm = &verbs_ep_cm_ops;
	verbs_ep_set_ops(ep);
	ret = ep->kep.caps & FI_RMA_PMEM ? verbs_saves_init(ep) : 0;
	if (ret)
		goto fini_ep;
	ret = verbs_ep_get_id(ep, info);
	if (ret)
		goto free_saves;
	verbs_res_add(domain->dev, &ep->res, &verbs_ep_res_ops);
	*fid_ep = fid;
	return 0;

free_saves:
	verbs_saves_close(ep);
	verbs_saves_free(ep);
fini_ep:
	kofi_ep_fini(&ep->kep);
free_ep:
	kmem_cache_free(verbs_eps, ep);
	return ret;
}
