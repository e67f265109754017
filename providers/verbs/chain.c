// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Chains: work requests that wait for the doorbell.
 *
 * With FI_MORE a work request is kept, and goes to the device together with the next
 * one that has no FI_MORE, or when there is no room for one more behind that, or when
 * the connection ends.  The registration of a region for single operations (mr_ep.c)
 * always waits like that.  The call has returned 0 by then, so a work request of a
 * chain that the device refuses completes with an error, which ends the connection
 * like any other.  It completes from a worker: who has rung the bell may hold locks
 * that the client's callbacks take.
 *
 * The chain is guarded by the lock of the transmit side.  A function here that does not
 * take that lock is called with it held.
 */
#include <linux/module.h>
#include "ep.h"
#include "mr.h"
#include "op.h"
#include "queue.h"
#include "verbs.h"

/* Keeps a copy of the work request until the doorbell */
void verbs_chain_add(struct verbs_ep *ep, const struct ib_rdma_wr *wr)
{
	struct verbs_wr *copy = verbs_chain_place(ep);

	copy->rdma = *wr;
	if (wr->wr.sg_list) {
		memcpy(copy->sge, wr->wr.sg_list,
		       wr->wr.num_sge * sizeof(*copy->sge));
		copy->rdma.wr.sg_list = copy->sge;
	}
	ep->chain_used += verbs_wr_size(wr->wr.num_sge);
	verbs_chain_link(ep, &copy->rdma.wr);
}

/* A worker ends it, behind those that were refused before */
void verbs_refuse(struct verbs_slot *slot)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);
	struct kofi_comp **tail = &ep->refused;

	while (*tail)
		tail = &(*tail)->next;
	slot->comp.next = NULL;
	*tail = &slot->comp;
	queue_work(verbs_wq, &ep->broken);
}

/* The device refused what is in the chain from @bad on, up to @end */
static void verbs_chain_refuse(const struct ib_send_wr *bad,
			       const struct ib_send_wr *end, int err)
{
	struct verbs_slot *slot;

	for (; bad && bad != end; bad = bad->next) {
		if (verbs_wr_is_sinks(bad))
			continue;
		slot = container_of(bad->wr_cqe, struct verbs_slot, cqe);
		verbs_slot_blame(slot, -err, 0);
		verbs_refuse(slot);
	}
}

/* How many of the list from @first on the device has taken when it refused @bad */
static unsigned int verbs_chain_taken(const struct ib_send_wr *first,
				      const struct ib_send_wr *bad, int err)
{
	const struct ib_send_wr *wr;
	unsigned int taken = 0;

	for (wr = first; wr && wr != bad; wr = wr->next)
		taken++;
	if (wr)
		return taken;
	verbs_chain_refuse(bad, first, err);
	return 0;
}

static __always_inline int verbs_chain_ring(struct verbs_ep *ep,
					    struct ib_send_wr *first,
					    unsigned int *taken)
{
	const struct ib_send_wr *bad = NULL;
	int ret;

	*ep->chain_end = first;
	ret = ib_post_send(ep->qp, ep->chain, &bad);
	if (unlikely(ret))
		*taken = verbs_chain_taken(first, bad, ret);
	ep->chain = NULL;
	ep->chain_end = &ep->chain;
	ep->chain_used = 0;
	return ret;
}

/**
 * verbs_chain_post() - Post what waits for the doorbell, and more behind it
 * @ep: the endpoint; the caller holds the transmit side's lock
 * @first: the first of a list of work requests, or NULL
 * @taken: set on error: how many of this list the device has taken
 *
 * What was refused of the chain ends on its own.
 *
 * Return: 0, or the errno for the first work request that was refused.
 */
int verbs_chain_post(struct verbs_ep *ep, struct ib_send_wr *first,
		     unsigned int *taken)
{
	return verbs_chain_ring(ep, first, taken);
}

/* The same for one work request, whether there is a chain or not */
int verbs_post_now(struct verbs_ep *ep, struct ib_send_wr *wr)
{
	unsigned int taken;

	if (ep->chain)
		return verbs_chain_ring(ep, wr, &taken);
	return ib_post_send(ep->qp, wr, NULL);
}

/*
 * What was refused frees its slot by a completion of its own, and must not ride
 * on anything any more.  Other riders are lost until the endpoint is closed; the
 * connection ends now.
 */
void verbs_chain_abandon(struct verbs_ep *ep)
{
	if (ep->refused)
		ep->riders = NULL;
}

/* Without @cq, the device has not said it */
void verbs_end_refused(struct verbs_ep *ep)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };
	struct kofi_comp *comp, *next;
	unsigned long flags;

	spin_lock_irqsave(&ep->tx.lock, flags);
	comp = ep->refused;
	ep->refused = NULL;
	spin_unlock_irqrestore(&ep->tx.lock, flags);

	for (; comp; comp = next) {
		next = comp->next;
		wc.wr_cqe = &container_of(comp, struct verbs_slot, comp)->cqe;
		wc.wr_cqe->done(NULL, &wc);
	}
}

/* Rings the doorbell for what is waiting for it */
void verbs_ring(struct verbs_ep *ep)
{
	unsigned long flags;
	unsigned int taken;

	spin_lock_irqsave(&ep->tx.lock, flags);
	if (ep->chain)
		verbs_chain_post(ep, NULL, &taken);
	verbs_chain_abandon(ep);
	verbs_queue_unlock(ep, &ep->tx, flags);
}

static struct verbs_slot *verbs_wr_slot(const struct ib_send_wr *wr)
{
	return container_of(wr->wr_cqe, struct verbs_slot, cqe);
}

/* The first operation behind @wr in the chain that reports for others, or NULL */
static struct verbs_slot *verbs_chain_signaled(const struct ib_send_wr *wr)
{
	while ((wr = wr->next))
		if (!verbs_wr_is_sinks(wr) && verbs_wr_slot(wr)->signaled)
			return verbs_wr_slot(wr);
	return NULL;
}

/*
 * @wr of the chain will not be posted.  If it is unsignaled, the next signaled operation
 * does not report for it.  If it is signaled, that one, or if there is none, the next
 * one to be posted, reports for those that @wr was to report for.  It reports as any
 * operation then, not as one with a single registration (verbs_one_carry()).
 */
static void verbs_slot_leave_chain(struct verbs_ep *ep,
				   const struct ib_send_wr *wr)
{
	struct verbs_slot *slot = verbs_wr_slot(wr);
	struct verbs_slot *next = verbs_chain_signaled(wr);
	struct verbs_slot **link = next ? &next->riders : &ep->riders;

	lockdep_assert_held(&ep->tx.lock);
	if (next)
		next->cqe.done = ep->tx.done;
	while (*link && *link != slot)
		link = &(*link)->link;
	if (slot->signaled) {
		*link = slot->riders;
		/* They may be many, so the next one is to be signaled for sure */
		if (!next)
			ep->quiet = ep->tx.size;
	} else if (*link) {
		*link = slot->link;
	}
}

/* Where the registration of @mr is linked while it waits for the doorbell, or NULL */
static struct ib_send_wr **verbs_chain_find(struct verbs_ep *ep,
					    const struct verbs_mr *mr)
{
	struct ib_send_wr **link = &ep->chain;

	lockdep_assert_held(&ep->tx.lock);
	while (*link && *link != &mr->reg.wr)
		link = &(*link)->next;
	return *link ? link : NULL;
}

/**
 * verbs_reg_waits() - Does a registration wait for the doorbell?
 * @mr: a region that is enabled
 *
 * If it does not, the device has it, or has refused it: the lock is not released between
 * the doorbell and the end of the chain.
 *
 * Context: any.
 * Return: whether it does.
 */
bool verbs_reg_waits(struct verbs_mr *mr)
{
	struct verbs_ep *ep = mr->ep;
	unsigned long flags;
	bool waits;

	spin_lock_irqsave(&ep->tx.lock, flags);
	waits = verbs_chain_find(ep, mr);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	return waits;
}

/**
 * verbs_reg_take_back() - Take back a registration that waits for the doorbell
 * @mr: a region that is enabled
 *
 * Context: any.
 * Return: true: the device will not hear of it, and its place in the queue is free;
 * false: it does not wait.
 */
bool verbs_reg_take_back(struct verbs_mr *mr)
{
	struct verbs_ep *ep = mr->ep;
	struct ib_send_wr **link;
	unsigned long flags;

	spin_lock_irqsave(&ep->tx.lock, flags);
	link = verbs_chain_find(ep, mr);
	if (link) {
		verbs_slot_leave_chain(ep, *link);
		*link = mr->reg.wr.next;
		if (!*link)
			ep->chain_end = link;
		verbs_slot_put(mr->slot);
	}
	verbs_queue_unlock(ep, &ep->tx, flags);
	return link;
}
