// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues: a ring that the engine takes from for several queue
 * pairs.
 *
 * ib_core lets none be destroyed that a queue pair uses, and the destruction of
 * the last one waits for the engine; so neither the engine nor its events meet a
 * queue that is going.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "priv.h"

int fakehca_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct fakehca *hca = to_fakehca(ibsrq->device);
	struct fakehca_srq *srq = to_fakehca_srq(ibsrq);
	int ret = fakehca_should_fail(hca, FAKEHCA_CREATE_SRQ);
	unsigned long flags;

	if (ret)
		return ret;
	if (attr->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (hca->attr.no_srq || !attr->attr.max_wr || attr->attr.max_wr > hca->attr.max_srq_wr ||
	    attr->attr.max_sge > hca->attr.max_srq_sge)
		return -EINVAL;

	ret = fakehca_ring_init(&srq->ring, attr->attr.max_wr, attr->attr.max_sge);
	if (ret)
		return ret;
	srq->hca = hca;
	spin_lock_irqsave(&hca->lock, flags);
	list_add_tail(&srq->entry, &hca->srqs);
	hca->stats.srqs++;
	spin_unlock_irqrestore(&hca->lock, flags);
	return 0;
}

int fakehca_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		       enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct fakehca_srq *srq = to_fakehca_srq(ibsrq);
	int ret = fakehca_should_fail(srq->hca, FAKEHCA_MODIFY_SRQ);
	unsigned long flags;

	if (ret)
		return ret;
	if (mask != IB_SRQ_LIMIT || attr->srq_limit > srq->ring.size)
		return -EINVAL;
	spin_lock_irqsave(&srq->hca->lock, flags);
	srq->limit = attr->srq_limit;
	spin_unlock_irqrestore(&srq->hca->lock, flags);
	return 0;
}

int fakehca_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct fakehca_srq *srq = to_fakehca_srq(ibsrq);
	unsigned long flags;

	spin_lock_irqsave(&srq->hca->lock, flags);
	list_del(&srq->entry);
	srq->hca->stats.srqs--;
	spin_unlock_irqrestore(&srq->hca->lock, flags);
	kvfree(srq->ring.wqe);
	return 0;
}

int fakehca_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad_wr)
{
	struct fakehca_srq *srq = to_fakehca_srq(ibsrq);
	struct fakehca *hca = srq->hca;
	unsigned long flags;
	int ret = 0;

	for (; wr; wr = wr->next) {
		ret = fakehca_should_fail(hca, FAKEHCA_POST_SRQ_RECV);
		spin_lock_irqsave(&hca->lock, flags);
		if (!ret)
			ret = fakehca_ring_post_recv(&srq->ring, wr);
		spin_unlock_irqrestore(&hca->lock, flags);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	queue_work(hca->wq, &hca->engine);
	return ret;
}

/* One has been taken.  Is it time for the event?  The caller holds the lock */
bool fakehca_srq_is_low(struct fakehca_srq *srq)
{
	lockdep_assert_held(&srq->hca->lock);
	if (srq->ring.head - srq->ring.tail >= srq->limit)
		return false;
	srq->limit = 0;
	return true;
}

void fakehca_tell_srq(struct fakehca_srq *srq, enum ib_event_type type)
{
	struct ib_event event = {
		.device		= srq->ibsrq.device,
		.element.srq	= &srq->ibsrq,
		.event		= type,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}

/* Events of other devices come with interrupts off, so may this one */
void fakehca_srq_error(struct fakehca *hca)
{
	struct fakehca_srq *srq;
	unsigned long flags;

	local_irq_save(flags);
	list_for_each_entry(srq, &hca->srqs, entry)
		fakehca_tell_srq(srq, IB_EVENT_SRQ_ERR);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_GPL(fakehca_srq_error);
