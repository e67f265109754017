// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The work request list: work requests that wait for the doorbell.
 *
 * verbs_wrs_add() keeps a copy of a work request with FI_MORE.  The list goes to the device
 * together with the next work request without FI_MORE, or when it has no room for one more, or when
 * the connection ends.  The call has returned 0 by then, so a work request of the list that the
 * device refuses completes with an error, which ends the connection like any other error.  A worker
 * completes it, as the caller that has rung the doorbell may hold locks that the client's callbacks
 * take.
 *
 * The registration of a region of an endpoint (mr_ep.c) waits in a list of its own, where the
 * client can take it back.  verbs_regs_post() puts it in front of the work request list when the
 * doorbell is rung for an operation.  The end of the connection drops it, as no operation will
 * need it.
 *
 * The lock of the transmit side guards both lists.
 */
#include "../ep.h"
#include "../mr.h"
#include "../op.h"
#include "../queue.h"
#include "../verbs.h"

void verbs_wrs_add(struct verbs_ep *ep, const struct ib_rdma_wr *wr)
{
	struct verbs_wr *copy = (void *)&ep->wrs_room[ep->wrs_used];
	struct ib_sge *to = copy->sge, *end = to + wr->wr.num_sge;
	const struct ib_sge *from = wr->wr.sg_list;

	lockdep_assert_held(&ep->tx.lock);
	copy->rdma = *wr;
	/* Most have one element, for which memcpy() of any length takes longer */
	while (to < end)
		*to++ = *from++;
	copy->rdma.wr.sg_list = copy->sge;
	ep->wrs_used = (u8 *)end - ep->wrs_room;
	copy->rdma.wr.next = NULL;
	*ep->wrs_end = &copy->rdma.wr;
	ep->wrs_end = &copy->rdma.wr.next;
}

/*
 * Leaves the operation to verbs_end_refused(), behind those that were refused before.  The worker
 * of verbs_slot_set_err() calls that, or a drain.
 */
void verbs_refuse(struct verbs_slot *slot)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);
	struct kofi_comp **tail = &ep->refused;

	while (*tail)
		tail = &(*tail)->next;
	slot->comp.next = NULL;
	*tail = &slot->comp;
}

/*
 * The device has refused ep->wrs_bad.  Count how many work requests it has taken from @first on.
 * If ep->wrs_bad is in front of @first, refuse the work requests of the list from there on.
 */
static noinline void verbs_wrs_refuse(struct verbs_ep *ep, const struct ib_send_wr *first, int err)
{
	const struct ib_send_wr *wr, *bad = ep->wrs_bad;
	struct verbs_slot *slot;

	lockdep_assert_held(&ep->tx.lock);
	ep->wrs_taken = 0;
	for (wr = first; wr && wr != bad; wr = wr->next)
		ep->wrs_taken++;
	if (wr)
		return;
	for (; bad && bad != first; bad = bad->next) {
		slot = container_of(bad->wr_cqe, struct verbs_slot, cqe);
		verbs_slot_set_err(slot, -err, 0);
		verbs_refuse(slot);
	}
	ep->wrs_taken = 0;
}

/**
 * verbs_wrs_post() - Post the work request list, and more behind it
 * @ep: the endpoint
 * @first: the first of more work requests, or NULL
 *
 * Refused work requests of the list end by verbs_refuse(), those from @first on are the caller's.
 *
 * Return: 0, or the errno for the first work request that was refused; ep->wrs_taken says how many
 * from @first on the device has taken.
 */
int verbs_wrs_post(struct verbs_ep *ep, struct ib_send_wr *first)
{
	int ret;

	lockdep_assert_held(&ep->tx.lock);
	*ep->wrs_end = first;
	ep->wrs_bad = NULL;
	ret = verbs_wr_post(ep, ep->wrs);
	if (unlikely(ret))
		verbs_wrs_refuse(ep, first, ret);
	ep->wrs = NULL;
	ep->wrs_end = &ep->wrs;
	ep->wrs_used = 0;
	return ret;
}

/*
 * A refused operation frees its slot by a completion of its own, and must not hang on another slot
 * any more.  Other unsignaled operations keep their slots until the close: the connection ends now.
 */
void verbs_wrs_abandon(struct verbs_ep *ep)
{
	if (ep->refused)
		ep->unsignaled = NULL;
}

/* Calls done functions without an ib_cq, as the device has not reported the end */
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

static struct verbs_slot *verbs_reg_slot(const struct ib_send_wr *wr)
{
	return container_of(wr->wr_cqe, struct verbs_slot, cqe);
}

/* The registrations have left their list */
static void verbs_regs_forget(struct verbs_ep *ep)
{
	lockdep_assert_held(&ep->tx.lock);
	ep->regs = NULL;
	ep->regs_end = &ep->regs;
}

static struct verbs_mr *verbs_reg_mr_of(struct ib_send_wr *wr)
{
	return container_of(wr, struct verbs_mr, reg.wr);
}

/**
 * verbs_regs_post() - Put the registrations that wait in front of the work request list
 * @ep: the endpoint; the caller rings the doorbell before it releases the lock
 *
 * The caller signals its operation after this, so that the operation also ends its registrations.
 * A registration is not reported even if it fails, as the operation behind it fails, too.  Every
 * size/2th is signaled, as there may be no operation behind them that is (verbs_ring_locked()).
 */
void verbs_regs_post(struct verbs_ep *ep)
{
	struct ib_send_wr *wr;

	lockdep_assert_held(&ep->tx.lock);
	if (!ep->regs)
		return;
	for (wr = ep->regs; wr; wr = wr->next) {
		WRITE_ONCE(verbs_reg_mr_of(wr)->waits, false);
		wr->send_flags = 0;
		if (unlikely(++ep->nr_unsignaled >= ep->tx.size / 2))
			verbs_slot_set_signaled(ep, verbs_reg_slot(wr), wr);
		else
			verbs_slot_set_unsignaled(ep, verbs_reg_slot(wr));
	}
	*ep->regs_end = ep->wrs;
	if (!ep->wrs)
		ep->wrs_end = ep->regs_end;
	ep->wrs = ep->regs;
	verbs_regs_forget(ep);
}

/* Take one of the registrations that wait out of their list */
static void verbs_reg_unlink(struct verbs_ep *ep, struct verbs_mr *mr)
{
	struct ib_send_wr **link = &ep->regs;

	lockdep_assert_held(&ep->tx.lock);
	while (*link != &mr->reg.wr)
		link = &(*link)->next;
	*link = mr->reg.wr.next;
	if (ep->regs_end == &mr->reg.wr.next)
		ep->regs_end = link;
	WRITE_ONCE(mr->waits, false);
}

/**
 * verbs_reg_take_back() - Take back a registration that waits for the doorbell
 * @mr: a region that is enabled
 *
 * Context: any.
 * Return: true: the device does not get it, and its slot is free; false: it does not wait any more.
 */
bool verbs_reg_take_back(struct verbs_mr *mr)
{
	struct verbs_ep *ep = mr->ep;
	unsigned long flags;
	bool waits;

	spin_lock_irqsave(&ep->tx.lock, flags);
	waits = verbs_reg_waits(mr);
	if (waits) {
		verbs_reg_unlink(ep, mr);
		verbs_slot_put(mr->slot);
	}
	verbs_queue_unlock(ep, &ep->tx, flags);
	return waits;
}

/* Rings the doorbell for operations that wait for it.  Registrations alone go on waiting. */
void verbs_ring_locked(struct verbs_ep *ep)
{
	lockdep_assert_held(&ep->tx.lock);
	if (!ep->wrs)
		return;
	verbs_regs_post(ep);
	verbs_wrs_post(ep, NULL);
	verbs_wrs_abandon(ep);
}

/* The connection has ended: rings the last doorbell, and drops registrations that wait */
void verbs_ring_last(struct verbs_ep *ep)
{
	struct ib_send_wr *wr, *next;
	struct verbs_slot *slot;
	unsigned long flags;

	spin_lock_irqsave(&ep->tx.lock, flags);
	verbs_ring_locked(ep);
	for (wr = ep->regs; wr; wr = next) {
		next = wr->next;
		slot = verbs_reg_slot(wr);
		WRITE_ONCE(slot->region->waits, false);
		verbs_slot_put(slot);
	}
	verbs_regs_forget(ep);
	verbs_queue_unlock(ep, &ep->tx, flags);
}
