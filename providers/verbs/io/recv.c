// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Calls that receive, on an endpoint or on a shared receive context.
 *
 * Receives need no order, and no lock.  verbs_submit_recv() posts a receive into usual buffers
 * (sge.h) on a connected endpoint that reports every success.  verbs_recv_any() posts every other
 * one, and those of a shared receive context.
 */
#include <kofi/provider.h>
#include <kofi/xfer.h>
#include "../ep.h"
#include "../op.h"
#include "../queue.h"
#include "../verbs.h"

static __always_inline void *verbs_recv_buf(const struct kofi_list_iter *at)
{
	return at->type == FI_BUF_KVEC && at->count ? ((const struct kvec *)at->elem)->iov_base :
						      NULL;
}

/* Post a receive whose slot has been filled */
static __always_inline int verbs_recv_wr(struct verbs_queue *queue, struct verbs_slot *slot,
					 const struct verbs_map *map)
{
	const struct ib_recv_wr wr = {
		.wr_cqe		= &slot->cqe,
		/* NULL for an empty list, as irdma reads the first element */
		.sg_list	= map->count ? map->sge : NULL,
		.num_sge	= map->count,
	};
	int ret = queue->srq ? ib_post_srq_recv(queue->srq, &wr, NULL) :
			       ib_post_recv(queue->ep->qp, &wr, NULL);

	return likely(!ret) ? 0 : verbs_submit_failed(slot, ret);
}

/* Return false if verbs_recv_any() has to post the receive; else see @ret */
static __always_inline bool
verbs_submit_recv(struct verbs_ep *ep, const struct kofi_list_iter *at, void *context,
		  struct ib_sge *sge, int *ret)
{
	struct verbs_map map = { .sge = sge };
	struct verbs_queue *rx = &ep->rx;
	struct verbs_slot *slot;

	/* Pairs with verbs_queue_settle(): sees all that was set up before the connection */
	if (unlikely(!smp_load_acquire(&rx->plain)))
		return false;
	slot = verbs_slot_take(rx);
	if (unlikely(!slot))
		return false;
	if (unlikely(!verbs_sges_set(rx, at, DMA_FROM_DEVICE, rx->iov_limit, ep->kep.max_msg_size,
				     0, &map))) {
		verbs_slot_put(slot);
		return false;
	}
	slot->comp.op_context = verbs_context(rx, context);
	slot->comp.flags = FI_MSG | FI_RECV;
	slot->comp.error = 0;
	slot->comp.len = 0;
	slot->comp.buf = verbs_recv_buf(at);
	slot->comp.data = 0;
	slot->cqe.done = verbs_received;
	if (map.mapped) {
		slot->cqe.done = verbs_recv_done;
		verbs_sges_keep(slot, sge, map.mapped);
	}
	*ret = verbs_recv_wr(rx, slot, &map);
	if (unlikely(*ret))
		verbs_sges_unmap(ep->domain, DMA_FROM_DEVICE, sge, map.mapped);
	else
		kofi_ep_posted(&ep->kep, FI_MSG | FI_RECV, context, map.len);
	return true;
}

ssize_t verbs_recv(struct fid_ep *fid_ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
		   void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	const struct kvec iov = { buf, len };
	const struct kofi_list_iter at = {
		.type	= FI_BUF_KVEC,
		.elem	= &iov,
		.count	= 1,
		.desc	= &desc,
	};
	struct ib_sge sge __uninitialized;
	bool done;
	int ret;

	verbs_device_hold();
	done = verbs_submit_recv(ep, &at, context, &sge, &ret);
	verbs_device_release();
	return likely(done) ? ret :
	       kofi_xfer_recv(fid_ep, buf, len, desc, src_addr, context);
}

static int verbs_recv_map(struct verbs_queue *queue, const struct verbs_call *call,
			  const struct verbs_map *map, void *buf)
{
	struct verbs_slot *slot = verbs_slot_take(queue);

	if (!slot && !verbs_queue_stays_full(queue))
		slot = verbs_slot_take(queue);
	if (!slot)
		return -EAGAIN;
	verbs_slot_fill(slot, call);
	slot->comp.buf = buf;
	verbs_sges_keep(slot, map->sge, map->mapped);
	return verbs_recv_wr(queue, slot, map);
}

/* The device is held, and the state allows receives */
static ssize_t verbs_recv_any(struct verbs_queue *queue, const struct fi_xfer *xfer, u64 flags,
			      size_t max)
{
	struct verbs_domain *domain = queue->domain;
	struct kofi_list_iter at __uninitialized;
	const struct verbs_call call = {
		.context	= xfer->context,
		.flags		= flags,
		.comp_flags	= FI_MSG | FI_RECV,
	};
	struct ib_sge sge[VERBS_MAX_IOV] __uninitialized;
	struct verbs_map map = { .sge = sge };
	ssize_t len;
	void *buf;
	int ret;

	verbs_list_begin(&at, domain, xfer);
	len = kofi_list_len(at.type, at.elem, at.count, max);
	if (len < 0)
		return len;
	if (verbs_queue_full(queue) && verbs_queue_stays_full(queue))
		return -EAGAIN;
	buf = verbs_recv_buf(&at);
	ret = verbs_map_some(domain, DMA_FROM_DEVICE, &at, queue->iov_limit, &map);
	if (ret)
		return verbs_try_later(queue, ret);
	ret = at.count ? -EINVAL : verbs_recv_map(queue, &call, &map, buf);
	if (ret)
		verbs_map_undo(domain, DMA_FROM_DEVICE, &map);
	else
		kofi_ep_posted(queue->side->ep, FI_MSG | FI_RECV, xfer->context, len);
	return ret;
}

ssize_t verbs_post_recv(struct verbs_ep *ep, const struct fi_xfer *xfer)
{
	struct ib_sge sge[VERBS_MAX_IOV] __uninitialized;
	struct kofi_list_iter at __uninitialized;
	u64 flags;
	int ret;

	ret = kofi_xfer_check(&ep->kep, xfer, &flags);
	if (ret)
		goto refuse;
	verbs_list_begin(&at, ep->domain, xfer);
	verbs_device_hold();
	if (!verbs_submit_recv(ep, &at, xfer->context, sge, &ret)) {
		ret = kofi_conn_check(&ep->kep.conn, false);
		if (!ret)
			ret = verbs_recv_any(&ep->rx, xfer, flags, ep->kep.max_msg_size);
	}
	verbs_device_release();
	if (likely(!ret))
		return 0;
refuse:
	return kofi_xfer_refuse(&ep->kep, xfer, ret);
}

/* FI_COMPLETION counts for endpoints with FI_SELECTIVE_COMPLETION */
ssize_t verbs_srx_post(struct fid_ep *fid_ep, const struct fi_xfer *xfer)
{
	struct verbs_srx *srx = to_verbs_srx(&fid_ep->fid);
	ssize_t ret;
	u64 flags;

	ret = kofi_xfer_check(&srx->kep, xfer, &flags);
	if (ret)
		goto refuse;
	verbs_device_hold();
	ret = -READ_ONCE(srx->err);
	if (!ret)
		ret = verbs_recv_any(&srx->rx, xfer, flags, srx->rx.domain->dev->max_msg_size);
	verbs_device_release();
	if (likely(!ret))
		return 0;
refuse:
	return kofi_xfer_refuse(&srx->kep, xfer, ret);
}
