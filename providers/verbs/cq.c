// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: a kofi_cq fed by an ib_cq.
 *
 * Only fi_cq_read() polls a direct queue (IB_POLL_DIRECT); ib_core polls any other from softirq
 * or a worker.  The completion's done function hands the slot to the kofi_cq.  Drivers call the
 * completion handler with locks held, but ib_core only schedules there, so done functions and the
 * client's callbacks run without these locks.
 *
 * The device's queue never overruns.  fi_enable() reserves room for the operations of an endpoint,
 * and for each reservation of at least one operation a drain may post one marker more.  So the
 * device's queue has twice the size the client asked for.  Over iWARP each read region has two
 * work requests, and an endpoint has no more read regions than operations, so the device's queue
 * has four times the size.
 *
 * Only the holder of poll_lock polls a direct queue, so completions stay in order.  A second
 * reader takes the completions in the list and does not wait.  The close of an endpoint polls,
 * too (drain.c).
 *
 * The removal of the device frees its queue.  Readers get the completions in the list, and then
 * -ENODEV.
 */
#include <kofi/refuse.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "mr.h"
#include "queue.h"
#include "verbs.h"

#define VERBS_DEF_CQ		(4 * VERBS_DEF_QUEUE)
#define VERBS_DIRECT		16	/* completions per poll of a reader */

/* Entries of the device's queue for each of the client's */
static int verbs_cqe_factor(const struct ib_device *ibdev)
{
	return verbs_is_iwarp(ibdev) ? 4 : 2;
}

size_t verbs_cq_max(const struct ib_device *ibdev)
{
	return ibdev->attrs.max_cqe / verbs_cqe_factor(ibdev);
}

/* Deepest receive queue; a drain needs one work request more */
size_t verbs_rx_max(const struct ib_device *ibdev)
{
	return min_t(size_t, ibdev->attrs.max_qp_wr - 1, verbs_cq_max(ibdev));
}

/* Deepest transmit queue; over iWARP each read region needs two work requests more */
size_t verbs_tx_max(const struct ib_device *ibdev)
{
	size_t max = verbs_rx_max(ibdev), wrs = ibdev->attrs.max_qp_wr - 1;

	if (!verbs_is_iwarp(ibdev))
		return max;
	return min(max, wrs < 3 * VERBS_READ_MRS ? wrs / 3 :
					       wrs - 2 * VERBS_READ_MRS);
}

static void verbs_cq_progress(struct kofi_cq *kcq)
{
	struct verbs_cq *cq = container_of(kcq, struct verbs_cq, kcq);
	unsigned long flags;

	if (!cq->direct || !spin_trylock_irqsave(&cq->poll_lock, flags))
		return;
	if (cq->ibcq && !cq->drained)
		ib_process_cq_direct(cq->ibcq, VERBS_DIRECT);
	spin_unlock_irqrestore(&cq->poll_lock, flags);
}

static const struct kofi_cq_ops verbs_cq_ops = {
	.release	= verbs_slots_release,
	.progress	= verbs_cq_progress,
	.strerror	= verbs_cq_strerror,
};

static bool verbs_comp_of_ep(struct kofi_comp *comp, void *ep)
{
	return container_of(comp, struct verbs_slot, comp)->queue->ep == ep;
}

/* Polls for a drain of a direct queue.  Returns the number of completions. */
int verbs_cq_poll(struct verbs_cq *cq)
{
	unsigned long flags;
	int n;

	spin_lock_irqsave(&cq->poll_lock, flags);
	n = ib_process_cq_direct(cq->ibcq, VERBS_DIRECT);
	spin_unlock_irqrestore(&cq->poll_lock, flags);
	return n;
}

static void verbs_cq_set_drained(struct verbs_cq *cq, bool drained)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->poll_lock, flags);
	cq->drained = drained;
	spin_unlock_irqrestore(&cq->poll_lock, flags);
}

/* No reader polls from the return of this function to verbs_cq_give_back() */
void verbs_cq_take_over(struct verbs_cq *cq)
{
	if (!cq->direct)
		return;
	mutex_lock(&cq->drain_lock);
	verbs_cq_set_drained(cq, true);
}

void verbs_cq_give_back(struct verbs_cq *cq)
{
	if (!cq->direct)
		return;
	verbs_cq_set_drained(cq, false);
	mutex_unlock(&cq->drain_lock);
}

/* The queue pair is drained; waits for a reader that may still be inside a done function of it */
void verbs_cq_quiesce(struct verbs_cq *cq)
{
	unsigned long flags;

	if (!cq->direct)
		return;
	spin_lock_irqsave(&cq->poll_lock, flags);
	spin_unlock_irqrestore(&cq->poll_lock, flags);
}

/*
 * Drops unread completions of @ep, which has no operation in flight any more.  This gives their
 * slots back, because a shared receive context still needs its own.
 */
void verbs_cq_forget(struct verbs_cq *cq, struct verbs_ep *ep)
{
	kofi_cq_purge(&cq->kcq, verbs_comp_of_ep, ep);
}

static void verbs_cq_strip(struct verbs_res *res)
{
	struct verbs_cq *cq = container_of(res, struct verbs_cq, res);
	struct ib_cq *ibcq = cq->ibcq;
	unsigned long flags;

	spin_lock_irqsave(&cq->poll_lock, flags);
	cq->ibcq = NULL;
	spin_unlock_irqrestore(&cq->poll_lock, flags);
	/*
	 * In softirq ib_core's poller releases the queue (irq_poll_complete()), and then uses it
	 * once more to arm it.  ib_free_cq() waits only for the release (6.1 to 7.3).  Expedited,
	 * as a device that is removed may have many queues.
	 */
	if (ibcq->poll_ctx == IB_POLL_SOFTIRQ) {
		irq_poll_disable(&ibcq->iop);
		synchronize_rcu_expedited();
		irq_poll_enable(&ibcq->iop);
	}
	ib_free_cq(ibcq);
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
	mutex_destroy(&cq->drain_lock);
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

static enum ib_poll_context verbs_cq_context(const struct verbs_cq *cq)
{
	switch (cq->kcq.comp_ctx) {
	case FI_COMP_DIRECT:
		return IB_POLL_DIRECT;
	case FI_COMP_WORKQUEUE:
		return IB_POLL_WORKQUEUE;
	default:
		return IB_POLL_SOFTIRQ;
	}
}

static struct ib_cq *verbs_cq_alloc(struct verbs_cq *cq,
				    struct ib_device *ibdev,
				    const struct fi_cq_attr *attr)
{
	enum ib_poll_context context = verbs_cq_context(cq);
	int nr_cqe = verbs_cqe_factor(ibdev) * cq->kcq.size;

	cq->direct = context == IB_POLL_DIRECT;
	if (attr && attr->flags & FI_AFFINITY)
		return ib_alloc_cq(ibdev, cq, nr_cqe,
				   attr->signaling_vector %
				   ibdev->num_comp_vectors, context);
	return ib_alloc_cq_any(ibdev, cq, nr_cqe, context);
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
	spin_lock_init(&cq->poll_lock);
	mutex_init(&cq->drain_lock);
	cq->kcq.cq.fid.ops = &verbs_cq_fid_ops;

	cq->ibcq = verbs_cq_alloc(cq, ibdev, attr);
	if (IS_ERR(cq->ibcq)) {
		ret = PTR_ERR(cq->ibcq);
		goto fini_cq;
	}
	verbs_res_add(domain->dev, &cq->res, &verbs_cq_res_ops);
	*fid_cq = &cq->kcq.cq;
	return 0;

fini_cq:
	kofi_cq_fini(&cq->kcq);
free_cq:
	kfree(cq);
	return ret;
}
