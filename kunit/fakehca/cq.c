// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: a ring of ib_wc.
 *
 * The engine pushes, whoever polls takes.  The completion handler is called with
 * the queue's lock held and interrupts off, as some drivers do: a handler that
 * polls or arms from there deadlocks, and lockdep says so.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "priv.h"

int fakehca_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		      KOFI_IB_CQ_UDATA *udata)
{
	struct fakehca *hca = to_fakehca(ibcq->device);
	struct fakehca_cq *cq = to_fakehca_cq(ibcq);
	int ret = fakehca_should_fail(hca, FAKEHCA_CREATE_CQ);

	if (ret)
		return ret;
	if (!attr->cqe || attr->cqe > hca->attr.max_cqe ||
	    attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;

	cq->hca = hca;
	cq->size = attr->cqe;
	cq->wc = kvcalloc(cq->size, sizeof(*cq->wc), GFP_KERNEL);
	if (!cq->wc)
		return -ENOMEM;
	spin_lock_init(&cq->lock);
	ibcq->cqe = attr->cqe;
	WRITE_ONCE(hca->youngest_cq, cq);
	fakehca_count(hca, &hca->stats.cqs, 1);
	return 0;
}

int fakehca_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct fakehca_cq *cq = to_fakehca_cq(ibcq);

	cmpxchg(&cq->hca->youngest_cq, cq, NULL);
	kvfree(cq->wc);
	fakehca_count(cq->hca, &cq->hca->stats.cqs, -1);
	return 0;
}

/* Noted only: each completion goes on to be announced */
int fakehca_modify_cq(struct ib_cq *ibcq, u16 comps, u16 usec)
{
	struct fakehca *hca = to_fakehca_cq(ibcq)->hca;
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->stats.moderations++;
	hca->stats.moderate_comps = comps;
	hca->stats.moderate_usec = usec;
	spin_unlock_irqrestore(&hca->lock, flags);
	return 0;
}

int fakehca_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct fakehca_cq *cq = to_fakehca_cq(ibcq);
	unsigned long flags;
	int i;

	spin_lock_irqsave(&cq->lock, flags);
	for (i = 0; i < num_entries && cq->tail != cq->head; i++)
		wc[i] = cq->wc[cq->tail++ % cq->size];
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

int fakehca_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct fakehca_cq *cq = to_fakehca_cq(ibcq);
	int ret = fakehca_should_fail(cq->hca, FAKEHCA_REQ_NOTIFY_CQ);
	unsigned long irq;

	if (ret)
		return ret;
	spin_lock_irqsave(&cq->lock, irq);
	cq->armed = true;
	if (flags & IB_CQ_REPORT_MISSED_EVENTS)
		ret = cq->tail != cq->head;
	spin_unlock_irqrestore(&cq->lock, irq);
	return ret;
}

/* The caller holds the device's lock */
void fakehca_cq_push(struct ib_cq *ibcq, const struct ib_wc *wc)
{
	struct fakehca_cq *cq = to_fakehca_cq(ibcq);

	lockdep_assert_held(&cq->hca->lock);
	spin_lock(&cq->lock);
	if (cq->head - cq->tail == cq->size)
		cq->hca->stats.overruns++;
	else
		cq->wc[cq->head++ % cq->size] = *wc;
	if (cq->armed) {
		cq->armed = false;
		ibcq->comp_handler(ibcq, ibcq->cq_context);
	}
	spin_unlock(&cq->lock);
}

void fakehca_event_without_completion(struct fakehca *hca)
{
	struct fakehca_cq *cq = READ_ONCE(hca->youngest_cq);
	unsigned long flags;

	if (WARN_ON(!cq))
		return;
	spin_lock_irqsave(&cq->lock, flags);
	cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	spin_unlock_irqrestore(&cq->lock, flags);
}
EXPORT_SYMBOL_GPL(fakehca_event_without_completion);
