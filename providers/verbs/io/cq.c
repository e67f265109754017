// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: a kofi_cq that polls an ib_cq.
 *
 * The core polls, in the context that the client has asked for (kofi/util/cq/run.c), and the
 * completion's done function hands the slot back to it.  Drivers call the completion handler with
 * locks held, but it only schedules the poller, so done functions and the client's callbacks run
 * without these locks.  The poller runs on the processor of the device's interrupt.
 *
 * ib_alloc_cq() would have ib_core poll, which calls one done function at a time and cannot say
 * that more will follow.  What it has beside that is here, too: a completion vector for each
 * queue in turn, and dynamic moderation of interrupts (dim.c).
 *
 * The device's queue never overruns.  fi_enable() reserves room for the operations of an
 * endpoint.  A drain posts one marker more, so the device's queue has VERBS_MARKERS entries more
 * than the client asked for, and a drain holds one of as many permits from the post of its marker
 * until the poller has come to it.  Over iWARP each read region has two work requests, an
 * endpoint has no more read regions than operations, and siw flushes a read twice (done.c).  So
 * there the device's queue has four times the size, which is enough for markers, too.
 *
 * Draining.  ib_drain_sq() and ib_drain_rq() put the queue pair into the error state, post a marker
 * behind everything else, and wait for it; some drivers have functions of their own for that.  The
 * poller comes to the marker, so when the drain returns, every done function of that side of the
 * queue pair has run.  Only readers poll a direct queue, and there may be none, so a drain has the
 * core poll it meanwhile (kofi_cq_watch()).  ib_core and drivers poll a queue of IB_POLL_DIRECT by
 * themselves, at the same time as its readers, and completions would overtake each other.  So no
 * queue of ours says that it is one.
 *
 * The removal of the device frees its queue.  Readers get the completions in the list, and then
 * -ENODEV.
 */
#include <kofi/refuse.h>
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "../mr.h"
#include "../queue.h"
#include "../verbs.h"

#define VERBS_DEF_CQ		(4 * VERBS_DEF_QUEUE)

static u32 verbs_cq_entries(const struct ib_device *ibdev, size_t size)
{
	return verbs_is_iwarp(ibdev) ? VERBS_IWARP_CQES * size : size + VERBS_MARKERS;
}

static struct verbs_cq *to_cq(struct kofi_cq *kcq)
{
	return container_of(kcq, struct verbs_cq, kcq);
}

/* The device's queue has gone when the device is removed */
static size_t verbs_cq_poll(struct kofi_cq *kcq, size_t budget)
{
	struct verbs_cq *cq = to_cq(kcq);
	struct ib_wc *wc, *end;
	int n;

	if (unlikely(!cq->ibcq))
		return 0;
	n = ib_poll_cq(cq->ibcq, budget, cq->wcs);
	if (n <= 0)
		return 0;
	for (wc = cq->wcs, end = wc + n; wc < end; wc++)
		wc->wr_cqe->done(cq->ibcq, wc);
	cq->polled += n;
	return n;
}

static bool verbs_cq_arm(struct kofi_cq *kcq)
{
	struct verbs_cq *cq = to_cq(kcq);

	if (unlikely(!cq->ibcq))
		return false;
	if (cq->dim)
		verbs_dim_polled(cq);
	return ib_req_notify_cq(cq->ibcq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0;
}

static void verbs_cq_event(struct ib_cq *ibcq, void *context)
{
	struct verbs_cq *cq = context;

	kofi_cq_poll_due(&cq->kcq);
}

static const struct kofi_cq_ops verbs_cq_ops = {
	.release	= verbs_slots_release,
	.poll		= verbs_cq_poll,
	.arm		= verbs_cq_arm,
	.strerror	= verbs_cq_strerror,
};

static bool verbs_comp_of_ep(struct kofi_comp *comp, void *ep)
{
	return container_of(comp, struct verbs_slot, comp)->queue->ep == ep;
}

static void verbs_drain_begin(struct verbs_cq *cq)
{
	down(&cq->markers);
	kofi_cq_watch(&cq->kcq);
}

static void verbs_drain_end(struct verbs_cq *cq)
{
	kofi_cq_unwatch(&cq->kcq);
	up(&cq->markers);
}

/**
 * verbs_drain_sq() - Wait for the done functions of the send queue
 * @qp: the queue pair; no call posts any more
 * @cq: its send completion queue
 *
 * Context: may sleep.
 */
void verbs_drain_sq(struct ib_qp *qp, struct verbs_cq *cq)
{
	verbs_drain_begin(cq);
	ib_drain_sq(qp);
	verbs_drain_end(cq);
}

/* As verbs_drain_sq(), for the receive queue */
void verbs_drain_rq(struct ib_qp *qp, struct verbs_cq *cq)
{
	verbs_drain_begin(cq);
	ib_drain_rq(qp);
	verbs_drain_end(cq);
}

/*
 * Drops unread completions of @ep, which has no operation in flight any more.  This gives their
 * slots back, because a shared receive context still needs its own.
 */
void verbs_cq_forget(struct verbs_cq *cq, struct verbs_ep *ep)
{
	kofi_cq_purge(&cq->kcq, verbs_comp_of_ep, ep);
}

/* Does not wait for callbacks, as the core holds the lock only while it polls */
static void verbs_cq_strip(struct verbs_res *res)
{
	struct verbs_cq *cq = container_of(res, struct verbs_cq, res);
	struct ib_cq *ibcq = cq->ibcq;

	spin_lock_bh(&cq->kcq.poll_lock);
	cq->ibcq = NULL;
	spin_unlock_bh(&cq->kcq.poll_lock);
	verbs_dim_end(cq);
	/* The poller finds no queue from now on, so an event that is under way does no harm */
	ib_destroy_cq(ibcq);
}

static void verbs_cq_end(struct verbs_res *res)
{
	kofi_cq_end(&container_of(res, struct verbs_cq, res)->kcq, -ENODEV);
}

static const struct verbs_res_ops verbs_cq_res_ops = {
	.kind	= VERBS_RES_CQ,
	.strip	= verbs_cq_strip,
	.end	= verbs_cq_end,
};

static int verbs_cq_close(struct fid *fid)
{
	struct verbs_cq *cq = to_verbs_cq(fid);
	struct verbs_device *dev = cq->domain->dev;
	int ret = kofi_cq_may_close(&cq->kcq);

	if (ret)
		return ret;
	verbs_res_strip(dev, &cq->res);
	verbs_res_del(dev, &cq->res);
	kofi_cq_fini(&cq->kcq);
	kfree(cq->wcs);
	kfree(cq);
	return 0;
}

static const struct fi_ops verbs_cq_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= verbs_cq_close,
	.bind		= fi_no_bind,
	.control	= kofi_cq_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

/* The vector that the client asks for, or each in turn */
static u32 verbs_cq_vector(const struct ib_device *ibdev, const struct fi_cq_attr *attr)
{
	static atomic_t next;

	if (attr && attr->flags & FI_AFFINITY)
		return attr->signaling_vector % ibdev->num_comp_vectors;
	return (u32)atomic_inc_return(&next) %
	       min_t(u32, ibdev->num_comp_vectors, num_online_cpus());
}

static int verbs_cq_create(struct verbs_cq *cq, struct ib_device *ibdev,
			   const struct fi_cq_attr *attr)
{
	const struct ib_cq_init_attr init = {
		.cqe		= verbs_cq_entries(ibdev, cq->kcq.size),
		.comp_vector	= verbs_cq_vector(ibdev, attr),
	};
	struct ib_cq *ibcq;

	cq->wcs = kmalloc_array(KOFI_CQ_POLL, sizeof(*cq->wcs), GFP_KERNEL);
	if (!cq->wcs)
		return -ENOMEM;
	ibcq = ib_create_cq(ibdev, verbs_cq_event, NULL, cq, &init);
	if (IS_ERR(ibcq)) {
		kfree(cq->wcs);
		return PTR_ERR(ibcq);
	}
	cq->ibcq = ibcq;
	if (cq->kcq.comp_ctx == FI_COMP_DIRECT)
		return 0;
	verbs_dim_begin(cq);
	ib_req_notify_cq(ibcq, IB_CQ_NEXT_COMP);
	return 0;
}

int verbs_cq_open(struct verbs_domain *domain, struct fi_cq_attr *attr,
		  struct fid_cq **fid_cq, void *context)
{
	struct ib_device *ibdev = domain->dev->ibdev;
	size_t size = kofi_cq_size(attr, VERBS_DEF_CQ, verbs_cq_max(ibdev));
	struct verbs_cq *cq;
	int ret;

	if (!size)
		return kofi_refuse("cq_open", -EINVAL, "attr->size is above what the device %s has",
				   ibdev->name);

	cq = kzalloc(sizeof(*cq), GFP_KERNEL);
	if (!cq)
		return -ENOMEM;

	ret = kofi_cq_init(&cq->kcq, attr, size, &verbs_cq_ops, context);
	if (ret)
		goto free_cq;
	cq->domain = domain;
	sema_init(&cq->markers, VERBS_MARKERS);
	cq->kcq.cq.fid.ops = &verbs_cq_fid_ops;
	ret = verbs_cq_create(cq, ibdev, attr);
	if (ret)
		goto fini_cq;
	verbs_res_add(domain->dev, &cq->res, &verbs_cq_res_ops);
	*fid_cq = &cq->kcq.cq;
	return 0;

fini_cq:
	kofi_cq_fini(&cq->kcq);
free_cq:
	kfree(cq);
	return ret;
}
