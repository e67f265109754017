// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive contexts: one receive queue (SRQ) for many endpoints.
 *
 * The queue has slots as an endpoint's has.  A message takes the oldest receive, whichever endpoint
 * the message is for.  The device reports the receive in the completion queue of that endpoint's
 * queue pair.  There verbs_srx_done() gives the slot to the endpoint, whose completion queue,
 * counters and FI_SELECTIVE_COMPLETION count from then on.  The reader of the completion gives the
 * slot back to the shared queue (home), without a lock.
 *
 * Posters of all endpoints meet in the shared queue's list of free slots, which has no lock, and in
 * the queue of the device's driver.  Elsewhere endpoints share nothing that is written on the data
 * path; here sharing is the purpose.
 *
 * Room in completion queues
 *
 * Any receive may end in any of the completion queues that the endpoints have, but in one at a
 * time, as its slot is free only when the completion has been read there.  So each of these queues
 * has room for all of the shared queue, once, however many endpoints use both.  struct verbs_srx_cq
 * is the record of that.
 *
 * Closing an endpoint
 *
 * Every receive that its queue pair has taken must have passed the done function before the queue
 * pair is destroyed: other endpoints need the slots, and the done function uses the queue pair.
 * (mlx5, for one, removes a queue pair's completions from the completion queue when it destroys the
 * queue pair, so the slots would be lost.)  ib_drain_rq() would post a marker behind the receives,
 * but a shared queue takes none.  InfiniBand's way (specification 10.3.1) is
 *
 *	1. error state
 *	2. IB_EVENT_QP_LAST_WQE_REACHED: the queue pair takes no more receives, and those
 *	   it has taken are in the completion queue
 *	3. a work request that completes in this completion queue, behind all of them
 *
 * ib_drain_qp() does part of this.  In 6.12 it waits for the event a whole minute and then polls
 * the queue itself, at the same time as its poller, so completions of other endpoints may
 * change their order.  In 6.1 it does nothing.  Here step 3 is the send marker of the queue pair
 * itself.  If its sends complete elsewhere, step 3 is the marker of another queue pair, which has
 * no other use and is never connected.
 *
 * Step 2 is limited to a second, because siw and bnxt_re never report the event, nor does rxe in
 * 6.1.  siw has everything in the completion queue when it has reached the error state, and rxe
 * needs microseconds.  If a device is late, receives of its queue pair are lost until the shared
 * receive context is closed.  Nothing worse happens, as drivers of hardware leave no completion of
 * a queue pair that is gone.
 *
 * No attribute says whether a device reports the event, so verbs_device.last_wqe learns it.  A
 * drain always waits for the event if the device has reported it once.  If the event of a queue
 * pair that had been connected did not come, later drains on the device wait only many times what
 * rxe needs; an event that comes late still counts, and ends this.  So a client that closes many
 * endpoints one after the other waits the second once.  When a device is removed, all its queue
 * pairs share one second.
 *
 * Receives that no message has taken stay.  The close of the shared receive context destroys the
 * device's queue, which does not report them, and then unmaps the buffers.
 *
 * Events
 *
 * The device reports in any context that few receives are left (once for each verbs_srx_arm()), or
 * that the queue has failed.  Both events are embedded: a failure is reported once, and a limit
 * that is reached again before the client has read the event is reported once, too.
 *
 * Locking: lock is a mutex, held while completion queues come and go, and while a limit is armed.
 * Each record of a completion queue has a mutex, held while its marker drains the queue.  That
 * waits for the poller of that queue only: in a callback of one queue an endpoint of another can be
 * closed.  event_lock is held for a few instructions.  No two are held together, and none is
 * taken on the data path.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <kofi/opt.h>
#include <kofi/refuse.h>
#include "ep.h"
#include "op.h"
#include "queue.h"
#include "verbs.h"

/* mthca has limits even if its firmware has no shared receive queues */
static void verbs_srx_fail(struct verbs_srx *srx, int err)
{
	unsigned long flags;

	spin_lock_irqsave(&srx->event_lock, flags);
	if (!srx->err) {
		srx->error.err = err;
		WRITE_ONCE(srx->err, err);
		if (srx->kep.conn.eq)
			kofi_eq_post(srx->kep.conn.eq, &srx->error);
	}
	spin_unlock_irqrestore(&srx->event_lock, flags);
}

static void verbs_srx_event(struct ib_event *event, void *context)
{
	struct verbs_srx *srx = context;

	switch (event->event) {
	case IB_EVENT_SRQ_LIMIT_REACHED:
		WRITE_ONCE(srx->limit, 0);
		/* verbs_srx_arm() arms no limit without an event queue */
		kofi_eq_post(READ_ONCE(srx->kep.conn.eq), &srx->reached);
		break;
	case IB_EVENT_SRQ_ERR:
		verbs_srx_fail(srx, EIO);
		break;
	default:
		break;
	}
}

static void verbs_srx_report(struct verbs_res *res)
{
	verbs_srx_fail(container_of(res, struct verbs_srx, res), ENODEV);
}

static void verbs_srx_strip(struct verbs_res *res)
{
	struct verbs_srx *srx = container_of(res, struct verbs_srx, res);

	ib_destroy_srq(srx->rx.srq);
	verbs_queue_unmap(&srx->rx);
}

static const struct verbs_res_ops verbs_srx_res_ops = {
	.kind	= VERBS_RES_SRX,
	.report	= verbs_srx_report,
	.strip	= verbs_srx_strip,
};

static int verbs_srx_cq_add_marker(struct verbs_srx *srx,
				   struct verbs_srx_cq *srx_cq)
{
	struct ib_qp *marker;

	if (srx_cq->marker)
		return 0;
	marker = verbs_lone_qp(srx->rx.domain->pd, srx_cq->cq->ibcq, 1);
	if (IS_ERR(marker))
		return PTR_ERR(marker);
	srx_cq->marker = marker;
	return 0;
}

/* Returns the record for @cq, with one more user */
static struct verbs_srx_cq *verbs_srx_cq_get(struct verbs_srx *srx,
					     struct verbs_cq *cq)
{
	struct verbs_srx_cq *srx_cq;
	int ret;

	list_for_each_entry(srx_cq, &srx->cqs, entry) {
		if (srx_cq->cq == cq) {
			srx_cq->users++;
			return srx_cq;
		}
	}

	srx_cq = kzalloc(sizeof(*srx_cq), GFP_KERNEL);
	if (!srx_cq)
		return ERR_PTR(-ENOMEM);
	ret = kofi_cq_reserve(&cq->kcq, srx->rx.size);
	if (ret) {
		kfree(srx_cq);
		return ERR_PTR(ret);
	}
	srx_cq->cq = cq;
	srx_cq->users = 1;
	mutex_init(&srx_cq->lock);
	list_add(&srx_cq->entry, &srx->cqs);
	return srx_cq;
}

static void verbs_srx_cq_put(struct verbs_srx *srx, struct verbs_srx_cq *srx_cq)
{
	if (--srx_cq->users)
		return;
	list_del(&srx_cq->entry);
	if (srx_cq->marker)
		ib_destroy_qp(srx_cq->marker);
	kofi_cq_unreserve(&srx_cq->cq->kcq, srx->rx.size);
	mutex_destroy(&srx_cq->lock);
	kfree(srx_cq);
}

/**
 * verbs_srx_attach() - Prepare an endpoint's completion queue for shared receives
 * @ep: the endpoint, with all its queues bound
 *
 * Context: may sleep.
 * Return: 0, and verbs_srx_detach() is due when the queue pair is gone; -ENOSPC: no room in the
 * completion queue; -ENOMEM; or the device's errno.
 */
int verbs_srx_attach(struct verbs_ep *ep)
{
	struct verbs_srx *srx = verbs_ep_srx(ep);
	struct verbs_srx_cq *srx_cq;
	int ret = 0;

	mutex_lock(&srx->lock);
	srx_cq = verbs_srx_cq_get(srx, verbs_queue_cq(&ep->rx));
	if (IS_ERR(srx_cq)) {
		ret = PTR_ERR(srx_cq);
		goto unlock;
	}
	if (verbs_queue_cq(&ep->tx) != verbs_queue_cq(&ep->rx))
		ret = verbs_srx_cq_add_marker(srx, srx_cq);
	if (ret)
		verbs_srx_cq_put(srx, srx_cq);
	else
		ep->srx_cq = srx_cq;
unlock:
	mutex_unlock(&srx->lock);
	return ret;
}

void verbs_srx_detach(struct verbs_ep *ep)
{
	mutex_lock(&verbs_ep_srx(ep)->lock);
	verbs_srx_cq_put(verbs_ep_srx(ep), ep->srx_cq);
	mutex_unlock(&verbs_ep_srx(ep)->lock);
}

void verbs_last_wqe_reached(struct verbs_ep *ep)
{
	WRITE_ONCE(ep->domain->dev->last_wqe, VERBS_LAST_WQE_REPORTED);
	complete_all(&ep->last_wqe);
}

static void verbs_last_wqe_wait(struct verbs_ep *ep)
{
	const struct verbs_device *dev = ep->domain->dev;
	unsigned long now = jiffies, until;

	until = READ_ONCE(ep->kep.conn.state) == KOFI_CONN_GONE ?
		READ_ONCE(dev->drain_until) : verbs_last_wqe_until(dev);
	if (time_before(now, until))
		wait_for_completion_timeout(&ep->last_wqe, until - now);
}

/**
 * verbs_srx_drain() - Drain an endpoint with shared receives
 * @ep: the endpoint; no call posts any more
 *
 * See the top of this file.  On return every done function of the endpoint has run.
 *
 * Context: may sleep.
 */
void verbs_srx_drain(struct verbs_ep *ep)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	ib_modify_qp(ep->qp, &attr, IB_QP_STATE);
	verbs_last_wqe_wait(ep);
	verbs_drain_sq(ep->qp, verbs_queue_cq(&ep->tx));
	/*
	 * The send queue is drained, so the device has handled the error state.  Only a queue pair
	 * that was ready to receive can miss the event.
	 */
	if (READ_ONCE(ep->kep.conn.state) != KOFI_CONN_GONE &&
	    ep->kep.conn.connected.event == FI_CONNECTED && !completion_done(&ep->last_wqe))
		cmpxchg(&ep->domain->dev->last_wqe, VERBS_LAST_WQE_UNKNOWN,
			VERBS_LAST_WQE_MISSED);
	if (verbs_queue_cq(&ep->tx) == verbs_queue_cq(&ep->rx))
		return;

	mutex_lock(&ep->srx_cq->lock);
	verbs_drain_sq(ep->srx_cq->marker, verbs_queue_cq(&ep->rx));
	mutex_unlock(&ep->srx_cq->lock);
}

/* The core allows one event queue */
static int verbs_srx_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	struct verbs_srx *srx = to_verbs_srx(fid);
	struct kofi_eq *eq = to_kofi_eq(bfid);
	unsigned long irq;

	spin_lock_irqsave(&srx->event_lock, irq);
	WRITE_ONCE(srx->kep.conn.eq, eq);
	if (srx->err)
		kofi_eq_post(eq, &srx->error);
	spin_unlock_irqrestore(&srx->event_lock, irq);
	return 0;
}

/* The device may report before ib_modify_srq() returns */
static int verbs_srx_arm(struct verbs_srx *srx, size_t limit)
{
	struct ib_srq_attr attr = { .srq_limit = limit };
	int ret, err = READ_ONCE(srx->err);
	size_t before;

	if (limit > srx->rx.size)
		return kofi_refuse("setopt", -EINVAL, "FI_OPT_SRX_LIMIT is %zu; the context has %zu receives",
				   limit, (size_t)srx->rx.size);
	if (!READ_ONCE(srx->kep.conn.eq))
		return kofi_refuse("setopt", -FI_ENOEQ, "FI_OPT_SRX_LIMIT: no event queue is bound, to which the event would go");
	if (err)
		return -err;

	ret = verbs_domain_enter(srx->rx.domain);
	if (ret)
		return ret;
	mutex_lock(&srx->lock);
	before = xchg(&srx->limit, limit);
	ret = ib_modify_srq(srx->rx.srq, &attr, IB_SRQ_LIMIT);
	if (ret)
		cmpxchg(&srx->limit, limit, before);
	mutex_unlock(&srx->lock);
	verbs_domain_leave(srx->rx.domain);
	return ret;
}

static int verbs_srx_setopt(struct fid *fid, int level, int optname,
			    const void *optval, size_t optlen)
{
	struct verbs_srx *srx = to_verbs_srx(fid);
	size_t limit;
	int ret;

	if (level != FI_OPT_ENDPOINT)
		return -ENOPROTOOPT;
	if (optname != FI_OPT_SRX_LIMIT)
		return kofi_ep_setopt(&srx->kep, optname, optval, optlen);
	ret = kofi_opt_get_size(&limit, SIZE_MAX, optval, optlen);
	return ret ? : verbs_srx_arm(srx, limit);
}

static int verbs_srx_getopt(struct fid *fid, int level, int optname,
			    void *optval, size_t *optlen)
{
	struct verbs_srx *srx = to_verbs_srx(fid);

	if (level != FI_OPT_ENDPOINT)
		return -ENOPROTOOPT;
	if (optname != FI_OPT_SRX_LIMIT)
		return kofi_ep_getopt(&srx->kep, optname, optval, optlen);
	return kofi_opt_put_size(READ_ONCE(srx->limit), optval, optlen);
}

static int verbs_srx_close(struct fid *fid)
{
	struct verbs_srx *srx = to_verbs_srx(fid);

	verbs_res_strip(srx->rx.domain->dev, &srx->res);
	verbs_res_del(srx->rx.domain->dev, &srx->res);
	if (srx->kep.conn.eq) {
		kofi_eq_withdraw(srx->kep.conn.eq, &srx->reached);
		kofi_eq_withdraw(srx->kep.conn.eq, &srx->error);
	}
	verbs_queue_destroy(&srx->rx);
	kofi_ep_fini(&srx->kep);
	mutex_destroy(&srx->lock);
	kfree(srx);
	return 0;
}

static const struct fi_ops verbs_srx_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= verbs_srx_close,
	.bind		= verbs_srx_bind,
	.control	= fi_no_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static const struct fi_ops_ep verbs_srx_ops = {
	.size		= sizeof(struct fi_ops_ep),
	.cancel		= fi_no_cancel,
	.getopt		= verbs_srx_getopt,
	.setopt		= verbs_srx_setopt,
	.tx_ctx		= fi_no_tx_ctx,
	.rx_ctx		= fi_no_rx_ctx,
	.rx_size_left	= fi_no_size_left,
	.tx_size_left	= fi_no_size_left,
	.drain		= fi_no_drain,
};

static struct verbs_srx *verbs_srx_alloc(const struct ib_device *ibdev,
					 const struct fi_rx_attr *attr,
					 void *context)
{
	struct verbs_srx *srx = kzalloc(sizeof(*srx), GFP_KERNEL);
	int ret;

	if (!srx)
		return ERR_PTR(-ENOMEM);
	ret = kofi_ep_init_srx(&srx->kep, attr,
			       verbs_ep_limits(verbs_is_iwarp(ibdev)), context);
	if (ret) {
		kfree(srx);
		return ERR_PTR(ret);
	}
	mutex_init(&srx->lock);
	INIT_LIST_HEAD(&srx->cqs);
	verbs_queue_prepare(&srx->rx, &srx->kep.rx);
	spin_lock_init(&srx->event_lock);
	kofi_event_init(&srx->reached, &srx->kep.ep.fid);
	srx->reached.event = FI_SRX_LIMIT;
	kofi_event_init(&srx->error, &srx->kep.ep.fid);
	srx->kep.ep.fid.ops = &verbs_srx_fid_ops;
	srx->kep.ep.ops = &verbs_srx_ops;
	srx->kep.ep.cm = &kofi_no_ops_cm;
	verbs_srx_set_ops(srx);
	return srx;
}

static int verbs_srx_set_attrs(struct verbs_srx *srx,
			       const struct ib_device *ibdev,
			       const struct fi_rx_attr *attr)
{
	size_t max = verbs_srx_max(ibdev);

	srx->rx.size = attr->size ? : min_t(size_t, VERBS_DEF_QUEUE, max);
	srx->rx.iov_limit = attr->iov_limit ? : 1;
	if (srx->rx.size > max ||
	    srx->rx.iov_limit > verbs_srx_iov_max(ibdev))
		return kofi_refuse("srx_context", -EINVAL, "attr: size %zu, iov_limit %zu; the most on this device are %zu and %zu",
				   (size_t)srx->rx.size, (size_t)srx->rx.iov_limit, max,
				   (size_t)verbs_srx_iov_max(ibdev));
	return 0;
}

static int verbs_srx_create_srq(struct verbs_srx *srx,
				struct verbs_domain *domain)
{
	struct ib_srq_init_attr init = {
		.event_handler	= verbs_srx_event,
		.srq_context	= srx,
		.attr = {
			.max_wr		= srx->rx.size,
			.max_sge	= srx->rx.iov_limit,
		},
		.srq_type	= IB_SRQT_BASIC,
	};
	struct ib_srq *srq = ib_create_srq(domain->pd, &init);

	if (IS_ERR(srq))
		return PTR_ERR(srq);
	srx->rx.srq = srq;
	return 0;
}

int verbs_srx_context(struct verbs_domain *domain, struct fi_rx_attr *attr,
		      struct fid_ep **fid_srx, void *context)
{
	struct ib_device *ibdev = domain->dev->ibdev;
	struct verbs_srx *srx;
	int ret;

	if (!verbs_has_srx(ibdev))
		return kofi_refuse("srx_context", -ENOSYS, "the device %s has no shared receive contexts",
				   ibdev->name);
	srx = verbs_srx_alloc(ibdev, attr, context);
	if (IS_ERR(srx))
		return PTR_ERR(srx);

	ret = verbs_srx_set_attrs(srx, ibdev, attr);
	if (ret)
		goto free_srx;
	ret = verbs_queue_init(&srx->rx, domain, NULL, verbs_srx_done);
	if (ret)
		goto free_srx;
	ret = verbs_srx_create_srq(srx, domain);
	if (ret)
		goto destroy_queue;
	verbs_res_add(domain->dev, &srx->res, &verbs_srx_res_ops);
	*fid_srx = &srx->kep.ep;
	return 0;

destroy_queue:
	verbs_queue_destroy(&srx->rx);
free_srx:
	kofi_ep_fini(&srx->kep);
	mutex_destroy(&srx->lock);
	kfree(srx);
	return ret;
}
