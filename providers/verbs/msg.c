// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages: posting and completing sends and receives.
 *
 * Posting: look at the state, take a slot, map the buffers, hand one work
 * request to the device.  No lock is held while the device is called, and
 * nothing is allocated.  The state may change at any moment after it was looked
 * at; the work request then completes with an error like all others.
 *
 * Completing: ib_core calls the done functions, one at a time per completion
 * queue.  Every work request is signalled; a success that the client did not ask
 * for frees the slot at once, errors are always reported.  The first error other
 * than a flush means that the queue pair has left the connected state; a worker
 * then ends the connection, so that both clients learn of it.
 *
 * On the wire a message is one SEND and nothing else; remote CQ data is the
 * immediate, 32 bits in network order (libfabric's verbs provider, all versions).
 */
#include <linux/module.h>
#include "verbs.h"

#define VERBS_SEND_FLAGS (FI_COMPLETION | FI_REMOTE_CQ_DATA | FI_MORE | \
			  FI_FENCE | FI_INJECT | FI_INJECT_COMPLETE | \
			  FI_TRANSMIT_COMPLETE)
#define VERBS_RECV_FLAGS (FI_COMPLETION | FI_MORE)

/* One message on its way into the queue */
struct verbs_msg {
	enum fi_buf_type	type;
	const void		*list;
	size_t			count;
	void			*context;
	u64			flags;
	u64			data;
	bool			silent;
};

static int verbs_ep_check(const struct verbs_ep *ep, bool send)
{
	switch (smp_load_acquire(&ep->state)) {	/* see verbs_ep_enable() */
	case VERBS_EP_CONNECTED:
		return 0;
	case VERBS_EP_OPEN:
		return -FI_EOPBADSTATE;
	case VERBS_EP_DOWN:
		return -ESHUTDOWN;
	default:
		return send ? -ENOTCONN : 0;
	}
}

static bool verbs_silent(const struct verbs_queue *queue, u64 flags)
{
	return queue->selective && !(flags & FI_COMPLETION);
}

static void verbs_slot_fill(struct verbs_slot *slot,
			    const struct verbs_msg *msg, u64 flags)
{
	slot->comp.op_context = msg->context;
	slot->comp.flags = flags;
	slot->comp.len = 0;
	slot->comp.buf = NULL;
	slot->comp.data = 0;
	slot->comp.err = 0;
	slot->silent = msg->silent;
	slot->nr_sge = 0;
}

/* A device without room says -ENOMEM; it has room when operations are done */
static int verbs_post_errno(int ret)
{
	return ret == -ENOMEM ? -EAGAIN : ret;
}

static int verbs_post_wr(struct verbs_ep *ep, struct verbs_slot *slot,
			 const struct verbs_msg *msg, struct ib_send_wr *wr)
{
	wr->wr_cqe = &slot->cqe;
	wr->opcode = IB_WR_SEND;
	wr->send_flags |= IB_SEND_SIGNALED;
	if (msg->flags & FI_REMOTE_CQ_DATA) {
		wr->opcode = IB_WR_SEND_WITH_IMM;
		wr->ex.imm_data = cpu_to_be32((u32)msg->data);
	}
	if (msg->flags & FI_FENCE)
		wr->send_flags |= IB_SEND_FENCE;
	return verbs_post_errno(ib_post_send(ep->qp, wr, NULL));
}

/* The device, or the slot's piece of the bounce buffer, copies now */
static int verbs_post_inject(struct verbs_ep *ep, struct verbs_slot *slot,
			     const struct verbs_msg *msg, size_t len)
{
	struct verbs_queue *queue = &ep->tx;
	u8 copy[VERBS_MAX_INJECT];
	struct ib_sge sge = { .length = len };
	struct ib_send_wr wr = { .sg_list = &sge, .num_sge = !!len };
	const struct kvec *kvec = msg->list;
	size_t offset;

	if (len > ep->inline_size) {
		offset = (slot - queue->slots) * ep->inject_size;
		verbs_gather(queue->bounce + offset, msg->type, msg->list,
			     msg->count);
		sge.addr = queue->bounce_dma + offset;
		sge.lkey = ep->domain->pd->local_dma_lkey;
		ib_dma_sync_single_for_device(ep->domain->dev->ibdev, sge.addr,
					      len, DMA_TO_DEVICE);
		return verbs_post_wr(ep, slot, msg, &wr);
	}

	wr.send_flags = len ? IB_SEND_INLINE : 0;
	if (msg->type == FI_BUF_KVEC && msg->count == 1) {
		sge.addr = (uintptr_t)kvec->iov_base;
	} else {
		verbs_gather(copy, msg->type, msg->list, msg->count);
		sge.addr = (uintptr_t)copy;
	}
	return verbs_post_wr(ep, slot, msg, &wr);
}

static int verbs_post_mapped(struct verbs_ep *ep, struct verbs_slot *slot,
			     const struct verbs_msg *msg)
{
	struct ib_sge sge[VERBS_MAX_IOV];
	struct ib_send_wr wr = { .sg_list = sge };
	int ret;

	ret = verbs_map(slot, msg->type, msg->list, msg->count, sge);
	if (ret < 0)
		return ret;
	wr.num_sge = ret;
	ret = verbs_post_wr(ep, slot, msg, &wr);
	if (ret)
		verbs_unmap(slot);
	return ret;
}

static ssize_t verbs_post_send(struct verbs_ep *ep, const struct verbs_msg *msg)
{
	bool inject = msg->flags & FI_INJECT;
	struct verbs_slot *slot;
	ssize_t len;
	int ret;

	ret = verbs_ep_check(ep, true);
	if (ret)
		return ret;
	len = verbs_list_len(msg->type, msg->list, msg->count,
			     inject ? ep->inject_size : ep->max_msg_size);
	if (len < 0)
		return len;
	slot = verbs_slot_get(&ep->tx);
	if (!slot)
		return -EAGAIN;

	verbs_slot_fill(slot, msg, FI_SEND | FI_MSG);
	ret = inject ? verbs_post_inject(ep, slot, msg, len) :
		       verbs_post_mapped(ep, slot, msg);
	if (ret)
		verbs_slot_put(slot);
	return ret;
}

static ssize_t verbs_post_recv(struct verbs_ep *ep, const struct verbs_msg *msg)
{
	struct ib_sge sge[VERBS_MAX_IOV];
	struct ib_recv_wr wr = { .sg_list = sge };
	struct verbs_slot *slot;
	ssize_t len;
	int ret;

	ret = verbs_ep_check(ep, false);
	if (ret)
		return ret;
	len = verbs_list_len(msg->type, msg->list, msg->count,
			     ep->max_msg_size);
	if (len < 0)
		return len;
	slot = verbs_slot_get(&ep->rx);
	if (!slot)
		return -EAGAIN;

	verbs_slot_fill(slot, msg, FI_RECV | FI_MSG);
	if (msg->type == FI_BUF_KVEC && msg->count)
		slot->comp.buf = ((const struct kvec *)msg->list)->iov_base;
	wr.wr_cqe = &slot->cqe;
	ret = verbs_map(slot, msg->type, msg->list, msg->count, sge);
	if (ret < 0)
		goto put_slot;
	wr.num_sge = ret;
	ret = verbs_post_errno(ib_post_recv(ep->qp, &wr, NULL));
	if (!ret)
		return 0;

	verbs_unmap(slot);
put_slot:
	verbs_slot_put(slot);
	return ret;
}

static ssize_t verbs_recvv(struct fid_ep *fid_ep, const struct kvec *iov,
			   void **desc, size_t count, fi_addr_t src_addr,
			   void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_msg msg = {
		.list		= iov,
		.count		= count,
		.context	= context,
		.silent		= verbs_silent(&ep->rx, ep->rx.op_flags),
	};

	return verbs_post_recv(ep, &msg);
}

static ssize_t verbs_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			  fi_addr_t src_addr, void *context)
{
	struct kvec kvec = { buf, len };

	return verbs_recvv(ep, &kvec, &desc, 1, src_addr, context);
}

static ssize_t verbs_recvmsg(struct fid_ep *fid_ep, const struct fi_msg *fi_msg,
			     u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_msg msg = {
		.type		= fi_msg->type,
		.list		= fi_msg->msg_iov,
		.count		= fi_msg->iov_count,
		.context	= fi_msg->context,
		.silent		= verbs_silent(&ep->rx, flags),
	};

	if (flags & ~VERBS_RECV_FLAGS)
		return -FI_EBADFLAGS;
	return verbs_post_recv(ep, &msg);
}

static ssize_t verbs_sendv(struct fid_ep *fid_ep, const struct kvec *iov,
			   void **desc, size_t count, fi_addr_t dest_addr,
			   void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_msg msg = {
		.list		= iov,
		.count		= count,
		.context	= context,
		.flags		= ep->tx.op_flags,
		.silent		= verbs_silent(&ep->tx, ep->tx.op_flags),
	};

	return verbs_post_send(ep, &msg);
}

static ssize_t verbs_send(struct fid_ep *ep, const void *buf, size_t len,
			  void *desc, fi_addr_t dest_addr, void *context)
{
	struct kvec kvec = { (void *)buf, len };

	return verbs_sendv(ep, &kvec, &desc, 1, dest_addr, context);
}

static ssize_t verbs_sendmsg(struct fid_ep *fid_ep, const struct fi_msg *fi_msg,
			     u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_msg msg = {
		.type		= fi_msg->type,
		.list		= fi_msg->msg_iov,
		.count		= fi_msg->iov_count,
		.context	= fi_msg->context,
		.flags		= flags,
		.data		= fi_msg->data,
		.silent		= verbs_silent(&ep->tx, flags),
	};

	if (flags & ~ep->send_flags)
		return -FI_EBADFLAGS;
	return verbs_post_send(ep, &msg);
}

static ssize_t verbs_send_one(struct fid_ep *fid_ep, const void *buf,
			      size_t len, void *context, u64 data, u64 flags,
			      bool silent)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct kvec kvec = { (void *)buf, len };
	struct verbs_msg msg = {
		.list		= &kvec,
		.count		= 1,
		.context	= context,
		.flags		= flags | ep->tx.op_flags,
		.data		= data,
		.silent		= silent ||
				  verbs_silent(&ep->tx, ep->tx.op_flags),
	};

	/* iWARP carries no immediate data */
	if (flags & ~ep->send_flags)
		return -ENOSYS;
	return verbs_post_send(ep, &msg);
}

static ssize_t verbs_inject(struct fid_ep *ep, const void *buf, size_t len,
			    fi_addr_t dest_addr)
{
	return verbs_send_one(ep, buf, len, NULL, 0, FI_INJECT, true);
}

static ssize_t verbs_senddata(struct fid_ep *ep, const void *buf, size_t len,
			      void *desc, u64 data, fi_addr_t dest_addr,
			      void *context)
{
	return verbs_send_one(ep, buf, len, context, data, FI_REMOTE_CQ_DATA,
			      false);
}

static ssize_t verbs_injectdata(struct fid_ep *ep, const void *buf, size_t len,
				u64 data, fi_addr_t dest_addr)
{
	return verbs_send_one(ep, buf, len, NULL, data,
			      FI_INJECT | FI_REMOTE_CQ_DATA, true);
}

/* What fi_sendmsg() may be asked on this device */
u64 verbs_send_flags(bool iwarp)
{
	if (iwarp)
		return VERBS_SEND_FLAGS &
		       ~(FI_REMOTE_CQ_DATA | FI_TRANSMIT_COMPLETE);
	return VERBS_SEND_FLAGS;
}

/* What may be the default of calls without flags */
u64 verbs_op_flags(bool iwarp)
{
	return verbs_send_flags(iwarp) & (FI_COMPLETION | FI_INJECT |
					  FI_INJECT_COMPLETE |
					  FI_TRANSMIT_COMPLETE);
}

static void verbs_done(struct verbs_slot *slot, const struct ib_wc *wc,
		       bool receive)
{
	struct verbs_queue *queue = slot->queue;

	verbs_unmap(slot);
	if (wc->status == IB_WC_SUCCESS && slot->silent) {
		verbs_slot_put(slot);
		return;
	}
	if (wc->status != IB_WC_SUCCESS) {
		slot->comp.err = -verbs_wc_errno(wc->status, receive);
		slot->comp.prov_errno = wc->status;
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			queue_work(verbs_wq, &queue->ep->broken);
	}
	kofi_cq_complete(&queue->cq->kcq, &slot->comp);
}

void verbs_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	verbs_done(to_verbs_slot(wc), wc, false);
}

void verbs_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_slot *slot = to_verbs_slot(wc);

	if (wc->status == IB_WC_SUCCESS) {
		slot->comp.len = wc->byte_len;
		if (wc->wc_flags & IB_WC_WITH_IMM) {
			slot->comp.flags |= FI_REMOTE_CQ_DATA;
			slot->comp.data = be32_to_cpu(wc->ex.imm_data);
		}
	}
	verbs_done(slot, wc, true);
}

const struct fi_ops_msg verbs_msg_ops = {
	.size		= sizeof(struct fi_ops_msg),
	.recv		= verbs_recv,
	.recvv		= verbs_recvv,
	.recvmsg	= verbs_recvmsg,
	.send		= verbs_send,
	.sendv		= verbs_sendv,
	.sendmsg	= verbs_sendmsg,
	.inject		= verbs_inject,
	.senddata	= verbs_senddata,
	.injectdata	= verbs_injectdata,
};
