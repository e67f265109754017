// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Bounce buffers: where data wait that fi_inject() has taken, and that the queue pair does not take
 * inline.  Each slot of the transmit queue has a piece of its own, so there is always one.
 */
#include <linux/slab.h>
#include "../ep.h"
#include "../op.h"

int verbs_bounce_init(struct verbs_ep *ep)
{
	struct ib_device *ibdev = ep->domain->dev->ibdev;
	size_t len = ep->tx.size * ep->kep.inject_size;

	/* For the deepest queues this is more than kmalloc() can allocate */
	ep->bounce = kmalloc(len, GFP_KERNEL | __GFP_NOWARN);
	if (!ep->bounce)
		return -ENOMEM;
	ep->bounce_dma = ib_dma_map_single(ibdev, ep->bounce, len,
					   DMA_TO_DEVICE);
	if (!ib_dma_mapping_error(ibdev, ep->bounce_dma))
		return 0;

	kfree(ep->bounce);
	ep->bounce = NULL;
	return -ENOMEM;
}

void verbs_bounce_destroy(struct verbs_ep *ep)
{
	if (ep->bounce)
		ib_dma_unmap_single(ep->domain->dev->ibdev, ep->bounce_dma,
				    ep->tx.size * ep->kep.inject_size,
				    DMA_TO_DEVICE);
	kfree(ep->bounce);
	ep->bounce = NULL;
}

/* @sge: has the length of the list @at */
void verbs_bounce(struct verbs_slot *slot, const struct kofi_list_iter *at, struct ib_sge *sge)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);
	size_t offset = (slot - ep->tx.slots) * ep->kep.inject_size;

	kofi_list_gather(ep->bounce + offset, at->type, at->elem, at->count, sge->length);
	sge->addr = ep->bounce_dma + offset;
	sge->lkey = ep->tx.lkey;
	ib_dma_sync_single_for_device(ep->domain->dev->ibdev, sge->addr,
				      sge->length, DMA_TO_DEVICE);
}
