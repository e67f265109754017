// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Room in the transmit queue, and the client that waits for it.
 *
 * A call that finds no room answers -EAGAIN.  Its client is called when another try may succeed
 * (kofi/ep.h):
 *
 *	no slot			by verbs_slot_put()
 *	no rw operation		by the credit of rw.c, when one of them has ended
 *	no save, or a fence behind one
 *				by the credit of save.c, when a save has ended
 *	no read region		as for a slot, as the read that had it has one; and by a timer
 *	no room in the IOMMU or the device, no registration of rdma_rw
 *				by a timer, as there is no event
 *
 * The client may wait although it has nothing in flight, so every slot has to come back by itself:
 *
 *	- a refused call rings the doorbell for operations that wait for it (FI_MORE)
 *	- a refused call that needs several slots posts an empty write, whose completion
 *	  ends the unsignaled operations.  If the device refuses that, a timer calls the client.
 *	  A call for one slot need not: at least every size/2th operation is signaled
 *	- a refused call does not ring the doorbell for registrations alone, as the client
 *	  may take them back (FI_DISCARD).  A queue full of them gives back nothing, so a
 *	  timer calls the client
 *
 * A call that needs several slots and does not get all of them gives them back without calling the
 * client, which would be its own.  No other call waits for these slots: calls that take several do
 * so under the lock, and the holder of the missing slot gives it back.
 */
#include "../ep.h"
#include "../op.h"
#include "../queue.h"

/* Posts a signaled write of no bytes behind the unsignaled operations, which ends them */
static void verbs_report_unsignaled(struct verbs_ep *ep)
{
	struct ib_rdma_wr marker = { .wr.opcode = IB_WR_RDMA_WRITE };
	static const struct verbs_call nothing;
	struct verbs_slot *slot;

	lockdep_assert_held(&ep->tx.lock);
	if (!ep->unsignaled || verbs_ep_ends(ep))
		return;
	slot = verbs_slot_take(&ep->tx);
	if (!slot)
		return;
	verbs_slot_fill(slot, &nothing);
	slot->due = true;
	marker.wr.wr_cqe = &slot->cqe;
	verbs_slot_set_signaled(ep, slot, &marker.wr);
	if (!ib_post_send(ep->qp, &marker.wr, NULL))
		return;
	verbs_slot_undo_signaling(slot, &marker.wr);
	verbs_slot_put(slot);
	kofi_ep_want_later(&ep->kep.tx);
}

static bool verbs_slots_take(struct verbs_queue *queue, unsigned int count,
			     struct verbs_slot **list)
{
	struct verbs_slot *slot;

	for (*list = NULL; count && (slot = verbs_slot_take(queue)); count--) {
		slot->link = *list;
		*list = slot;
	}
	if (!count)
		return true;
	while ((slot = *list)) {
		*list = slot->link;
		verbs_slots_push(queue, slot, slot);
	}
	return false;
}

/* Do registrations that wait for the doorbell have all slots? */
static bool verbs_regs_fill_queue(const struct verbs_ep *ep)
{
	const struct ib_send_wr *wr;
	size_t count = 0;

	lockdep_assert_held(&ep->tx.lock);
	for (wr = ep->regs; wr; wr = wr->next)
		count++;
	return count == ep->tx.size;
}

/**
 * verbs_slots_claim() - Take slots of the transmit queue, all or none
 * @ep: the endpoint; the caller holds the transmit side's lock
 * @count: how many
 * @list: the slots, by their link
 *
 * Context: any.
 * Return: 0; -EAGAIN: too few are free, and the client will be called.
 */
int verbs_slots_claim(struct verbs_ep *ep, unsigned int count,
		      struct verbs_slot **list)
{
	lockdep_assert_held(&ep->tx.lock);
	if (likely(verbs_slots_take(&ep->tx, count, list)))
		return 0;
	/* Every slot has to come back by itself, see above */
	verbs_ring_locked(ep);
	if (count > 1)
		verbs_report_unsignaled(ep);
	if (verbs_regs_fill_queue(ep))
		kofi_ep_want_later(&ep->kep.tx);
	kofi_waiter_note(&ep->kep.tx.room);
	return verbs_slots_take(&ep->tx, count, list) ? 0 : -EAGAIN;
}

/**
 * verbs_slot_await() - Take a slot of a transmit queue that was full
 * @ep: the endpoint
 *
 * Context: any.
 * Return: the slot; NULL: none is free, and the client will be called.
 */
struct verbs_slot *verbs_slot_await(struct verbs_ep *ep)
{
	struct verbs_slot *slot;
	unsigned long flags;

	spin_lock_irqsave(&ep->tx.lock, flags);
	if (verbs_slots_claim(ep, 1, &slot))
		slot = NULL;
	verbs_queue_unlock(ep, &ep->tx, flags);
	return slot;
}

/**
 * verbs_queue_await() - Find out whether a transmit queue that was full has a slot
 * @ep: the endpoint
 *
 * Context: any.
 * Return: true; false: none is free, and the client will be called.
 */
bool verbs_queue_await(struct verbs_ep *ep)
{
	struct verbs_slot *slot;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&ep->tx.lock, flags);
	ret = verbs_slots_claim(ep, 1, &slot);
	/* Within the lock, where no call can have missed the slot meanwhile */
	if (!ret)
		verbs_slots_push(&ep->tx, slot, slot);
	verbs_queue_unlock(ep, &ep->tx, flags);
	return !ret;
}
