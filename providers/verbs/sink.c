// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sinks of reads on iWARP.
 *
 * There the answer to a read is a write by the peer: its sink is one element under
 * a key that allows remote writing, which the peer gets to know.  The local DMA
 * key is of no use for that, and one that covers more than this read would be
 * dangerous.  So every read of ours registers its buffers, in front of it and with
 * the same doorbell, and ends the key with its own completion (READ_WITH_INV).
 *
 * An endpoint has a few regions for it, made when it is enabled: the regions of
 * mr_ep.c, without a fid that a client could see.  A region belongs to one read
 * from verbs_sink_take() until the read has succeeded; those of reads that failed
 * are only good for the close of the endpoint, as the connection is over.
 *
 * Locking: whoever posts takes regions under the lock of the transmit queue,
 * completions give them back without a lock.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "verbs.h"

/* Reads in flight; the next one is refused with -EAGAIN */
#define VERBS_SINKS		8
/* Bytes of a sink, if its device knows small pages only */
#define VERBS_SINK_PAGES	256

static int verbs_sink_new(struct verbs_ep *ep)
{
	struct verbs_domain *domain = ep->domain;
	u32 pages = min_t(u32, VERBS_SINK_PAGES,
			  domain->dev->ibdev->attrs.max_fast_reg_page_list_len);
	struct verbs_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return -ENOMEM;
	mr->domain = domain;
	mr->ep = ep;
	mr->page_limit = pages;
	mr->seg_limit = ep->tx.iov_limit;
	mr->sink = true;
	mr->segs = kcalloc(mr->seg_limit, sizeof(*mr->segs), GFP_KERNEL);
	if (!mr->segs)
		goto free_mr;
	mr->ibmr = ib_alloc_mr(domain->pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(mr->ibmr))
		goto free_segs;
	mr->next_sink = ep->all_sinks;
	ep->all_sinks = mr;
	llist_add(&mr->free, &ep->sinks);
	return 0;

free_segs:
	kfree(mr->segs);
free_mr:
	kfree(mr);
	return -ENOMEM;
}

int verbs_sinks_init(struct verbs_ep *ep)
{
	size_t i;
	int ret = 0;

	init_llist_head(&ep->sinks);
	for (i = 0; ep->iwarp && i < VERBS_SINKS && !ret; i++)
		ret = verbs_sink_new(ep);
	if (ret)
		verbs_sinks_destroy(ep);
	return ret;
}

/* The queue pair is drained, or has never been */
void verbs_sinks_destroy(struct verbs_ep *ep)
{
	struct verbs_mr *mr;

	while ((mr = ep->all_sinks)) {
		ep->all_sinks = mr->next_sink;
		ib_dereg_mr(mr->ibmr);
		verbs_mr_unmap(mr);
		kfree(mr->segs);
		kfree(mr);
	}
	init_llist_head(&ep->sinks);
}

static struct verbs_mr *verbs_sink_take(struct verbs_ep *ep)
{
	struct llist_node *node;
	unsigned long flags;

	spin_lock_irqsave(&ep->tx.lock, flags);
	node = llist_del_first(&ep->sinks);
	spin_unlock_irqrestore(&ep->tx.lock, flags);
	return node ? llist_entry(node, struct verbs_mr, free) : NULL;
}

/* The read is over, or was never posted */
void verbs_sink_put(struct verbs_mr *mr)
{
	verbs_mr_unmap(mr);
	llist_add(&mr->free, &mr->ep->sinks);
}

/* Does @op read into what the device takes as a sink as it is? */
static bool verbs_sink_is_region(const struct verbs_op *op)
{
	const struct verbs_mr *mr = op->desc ? op->desc[0] : NULL;

	return op->count == 1 && mr && mr->linear &&
	       mr->access & IB_ACCESS_REMOTE_WRITE;
}

bool verbs_needs_sink(const struct verbs_ep *ep, const struct verbs_op *op)
{
	return ep->iwarp && op->opcode == IB_WR_RDMA_READ &&
	       !verbs_sink_is_region(op);
}

/* @op: a read that needs a sink */
ssize_t verbs_post_sink(struct verbs_ep *ep, const struct verbs_op *op)
{
	const struct fi_mr_attr attr = {
		.type		= op->type,
		.mr_iov		= op->list,
		.iov_count	= op->count,
		.access		= FI_READ,
	};
	struct verbs_op read = *op;
	struct verbs_mr *mr;
	int ret;

	mr = verbs_sink_take(ep);
	if (!mr)
		return -EAGAIN;
	ret = verbs_mr_remap(mr, &attr);
	if (ret)
		goto put;

	verbs_mr_prepare_reg(mr);
	read.opcode = IB_WR_RDMA_READ_WITH_INV;
	read.region = mr;
	ret = verbs_post_region(ep, &read);
	/* What the device has refused otherwise it may have taken in part */
	if (ret != -EAGAIN)
		return ret;
put:
	verbs_sink_put(mr);
	return ret == -ENOMEM ? -EAGAIN : ret;
}
