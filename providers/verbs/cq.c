// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: a kofi_cq fed by an ib_cq.
 *
 * ib_alloc_cq() chooses the context: only fi_cq_read() polls a direct queue
 * (IB_POLL_DIRECT); ib_core polls any other from softirq or a worker, and the completion's
 * done function hands the slot to the kofi_cq.  Drivers call the device's completion handler
 * with locks held; as ib_core only schedules there, done functions and the client's
 * callbacks run without these locks.
 *
 * The device's queue never overruns: enabling an endpoint reserves room for its
 * operations, and each reservation of at least one operation may add one more,
 * the marker with which ib_drain_qp() empties a queue at close.  So the device's
 * queue has twice the size the client asked for.  Over iWARP an endpoint has two
 * work requests for each of its read regions, which are no more than its operations, and
 * the device's queue four times the size.
 *
 * The holder of poll_lock polls a direct queue, which keeps completions in order; a second
 * reader takes the completions in the list and does not wait.  The close of an endpoint
 * polls, too (drain.c).
 *
 * The removal of the device frees its queue.  Readers get the completions in the list, and
 * then -ENODEV.
 */
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

/* Deepest receive queue; one work request more is ib_drain_qp()'s */
size_t verbs_rx_max(const struct ib_device *ibdev)
{
	return min_t(size_t, ibdev->attrs.max_qp_wr - 1, verbs_cq_max(ibdev));
}

/* Deepest transmit queue; over iWARP two work requests more are each read region's */
size_t verbs_tx_max(const struct ib_device *ibdev)
{
	size_t max = verbs_rx_max(ibdev), wrs = ibdev->attrs.max_qp_wr - 1;

	if (!verbs_is_iwarp(ibdev))
		return max;
	return min(max, wrs < 3 * VERBS_READ_MRS ? wrs / 3 :
					       wrs - 2 * VERBS_READ_MRS);
}

/* Polls for a reader, unless another thread polls */
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

static bool verbs_comp_of_queue(struct kofi_comp *comp, void *queue)
{
	return container_of(comp, struct verbs_slot, comp)->queue == queue;
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

/*
 * The queue pair is drained, but a reader that polls may still be inside a done function of
 * it.  Taking poll_lock waits for this reader.
 */
void verbs_cq_quiesce(struct verbs_cq *cq)
{
	unsigned long flags;

	if (!cq->direct)
		return;
	spin_lock_irqsave(&cq->poll_lock, flags);
	spin_unlock_irqrestore(&cq->poll_lock, flags);
}

/*
 * Drops unread completions of @queue, which has no operation in flight any more.  Their slots
 * go back, because a shared receive context still needs its own.
 */
void verbs_cq_forget(struct verbs_cq *cq, struct verbs_queue *queue)
{
	kofi_cq_purge(&cq->kcq, verbs_comp_of_queue, queue);
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
	 * In softirq ib_core's poller lets go of the queue (irq_poll_complete()), then looks
	 * at it once more to arm it, and ib_free_cq() waits for the first only (6.1 to 7.3).
	 * Expedited, as a device that is removed has many queues.
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
		return -EINVAL;

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
