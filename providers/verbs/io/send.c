// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Calls that send, read and write: from the call of a client to the device's queue.
 *
 * A call fills a work request and hands it to verbs_submit(), with the list of its buffers.  The
 * gate in front is one word, the flags that verbs_ep.straight admits for this kind of
 * operation: none before the endpoint is connected, none if the endpoint lacks the operation, and
 * none over iWARP (verbs_queue_tune()).  What the gate does not admit, and lists of other buffers
 * than sge.h calls usual, take verbs_post_unusual(), which starts afresh: it finds out whether the
 * endpoint has such an operation at all, and calls verbs_submit_any() (submit.c).
 *
 * fi_send(), fi_read() and fi_write() are verbs_submit() with constant flags, for endpoints whose
 * default flags ask for nothing but completions.  For others they are described as any call is, by
 * a struct fi_xfer.
 *
 * Most operations need no lock: as long as no operation waits for a doorbell or for another one's
 * completion (verbs_queue.plain), there is no order to keep.  A thread that has posted such an
 * operation finds the queue not plain (verbs_queue_settle()).  Between threads there is no order
 * that a client could expect.
 *
 * The device copies data that fit inline when they are posted, as it does for fi_inject(): it need
 * not fetch them, and they need no mapping.  As with any other send, the client may change the
 * buffer only after the completion.
 *
 * Remote memory: one range per operation, as in libfabric's verbs provider.  Keys have 32 bits;
 * this file refuses a longer one, which cannot come from this provider.
 */
#include <kofi/provider.h>
#include <kofi/xfer.h>
#include "../ep.h"
#include "../op.h"
#include "../queue.h"
#include "../verbs.h"

/* verbs_submit() leaves the operation to verbs_post_unusual(); nothing has happened */
#define VERBS_UNUSUAL	1

/*
 * The gate; the device is held.  An open one admits FI_COMPLETION, and a closed one no operation,
 * not even one without flags.
 */
static __always_inline bool verbs_submit_may(const struct verbs_ep *ep, enum fi_op_type type,
					     u64 flags)
{
	/* Pairs with verbs_queue_tune(): sees all that was set up before the connection */
	return !((flags | FI_COMPLETION) & ~smp_load_acquire(&ep->straight[type]));
}

/* The elements.  Return false if verbs_post_unusual() has to post the operation */
static __always_inline bool verbs_submit_map(struct verbs_ep *ep, const struct verbs_call *call,
					     const struct kofi_list_iter *at,
					     enum dma_data_direction dir, struct verbs_map *map)
{
	bool read = dir == DMA_FROM_DEVICE;
	/* Data that wait for a doorbell stay where they are */
	bool stay = read || (call->flags & (FI_MORE | FI_INJECT)) == FI_MORE;

	map->anywhere = call->flags & FI_INJECT;
	if (unlikely(!verbs_sges_set(&ep->tx, at, dir, read ? ep->read_limit : ep->tx.iov_limit,
				     ep->kep.max_msg_size, stay ? 0 : ep->inline_size, map)))
		return false;
	if (likely(call->comp_flags & FI_MSG || call->remote_len == map->len))
		return true;
	verbs_sges_unmap(ep->domain, dir, map->sge, map->mapped);
	return false;
}

/**
 * verbs_submit() - Post an operation of usual buffers
 * @ep: the endpoint
 * @type: FI_OP_*; the gate is open for it
 * @wr: its work request, without completion and elements
 * @call: what else there is to know, but for the context
 * @context: the client's; read late, as there are few registers
 * @at: its list
 * @sge: memory for the elements
 *
 * Context: any; the device is held.
 * Return: 0; an errno; or VERBS_UNUSUAL.
 */
static __always_inline int
verbs_submit(struct verbs_ep *ep, enum fi_op_type type, struct ib_send_wr *wr,
	     const struct verbs_call *call, void *const *context, const struct kofi_list_iter *at,
	     struct ib_sge *sge)
{
	enum dma_data_direction dir = type == FI_OP_READ ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
	struct verbs_map map = { .sge = sge };
	struct verbs_queue *tx = &ep->tx;
	struct verbs_slot *slot;
	bool direct;
	int ret;

	/* First, as nothing is mapped for a queue that is full */
	slot = verbs_slot_take(tx);
	if (unlikely(!slot))
		return VERBS_UNUSUAL;
	if (unlikely(!verbs_submit_map(ep, call, at, dir, &map))) {
		verbs_slot_put(slot);
		return VERBS_UNUSUAL;
	}
	wr->wr_cqe = &slot->cqe;
	wr->sg_list = sge;
	wr->num_sge = map.count;
	if (map.copied)
		wr->send_flags |= IB_SEND_INLINE;
	slot->comp.op_context = verbs_context(tx, *context);
	slot->comp.flags = call->comp_flags;
	slot->comp.error = 0;
	slot->comp.data = 0;
	if (map.mapped)
		verbs_sges_keep(slot, sge, map.mapped);
	direct = (call->flags & (FI_COMPLETION | FI_MORE)) == FI_COMPLETION &&
		 READ_ONCE(tx->plain);
	if (likely(direct)) {
		slot->cqe.done = map.mapped ? verbs_sent_mapped : verbs_sent;
		wr->send_flags |= IB_SEND_SIGNALED;
		ret = ib_post_send(ep->qp, wr, NULL);
	} else {
		slot->cqe.done = verbs_sent_mapped;
		slot->marks = 0;
		slot->unreported = !(call->flags & FI_COMPLETION);
		ret = verbs_submit_in_order(ep, wr, slot, call->flags, map.len, NULL);
	}
	if (unlikely(ret)) {
		verbs_sges_unmap(ep->domain, dir, sge, map.mapped);
		return verbs_submit_failed(slot, ret);
	}
	kofi_ep_posted(&ep->kep, call->comp_flags, *context, map.len);
	return 0;
}

/* Fill what work requests of all opcodes have, but for what verbs_submit() fills */
static __always_inline void verbs_wr_begin(struct ib_send_wr *wr, enum ib_wr_opcode opcode)
{
	wr->next = NULL;
	wr->opcode = opcode;
	wr->send_flags = 0;
	wr->ex.imm_data = 0;
}

/* Fill what calls say, with one buffer and no flags */
static __always_inline int
verbs_submit_buf(struct verbs_ep *ep, enum fi_op_type type, struct ib_send_wr *wr, u64 comp_flags,
		 const void *buf, size_t len, void *desc, void *context)
{
	const struct kvec iov = { (void *)buf, len };
	const struct verbs_call call = {
		.flags		= FI_COMPLETION,
		.comp_flags	= comp_flags,
		.remote_len	= len,
	};
	const struct kofi_list_iter at = {
		.type	= FI_BUF_KVEC,
		.elem	= &iov,
		.count	= 1,
		.desc	= &desc,
	};
	struct ib_sge sge __uninitialized;
	int ret = VERBS_UNUSUAL;

	if (unlikely(READ_ONCE(ep->tx_flags) != FI_COMPLETION))
		return VERBS_UNUSUAL;
	verbs_device_hold();
	if (likely(verbs_submit_may(ep, type, call.flags)))
		ret = verbs_submit(ep, type, wr, &call, &context, &at, &sge);
	verbs_device_release();
	return ret;
}

static __always_inline int
verbs_submit_rdma(struct verbs_ep *ep, enum fi_op_type type, enum ib_wr_opcode opcode,
		  u64 comp_flags, const void *buf, size_t len, void *desc, u64 addr, u64 key,
		  void *context)
{
	struct ib_rdma_wr wr __uninitialized;

	if (unlikely(key > U32_MAX))
		return VERBS_UNUSUAL;
	verbs_wr_begin(&wr.wr, opcode);
	wr.remote_addr = addr;
	wr.rkey = key;
	return verbs_submit_buf(ep, type, &wr.wr, comp_flags, buf, len, desc, context);
}

ssize_t verbs_send(struct fid_ep *fid_ep, const void *buf, size_t len, void *desc,
		   fi_addr_t dest_addr, void *context)
{
	struct ib_send_wr wr __uninitialized;
	int ret;

	verbs_wr_begin(&wr, IB_WR_SEND);
	ret = verbs_submit_buf(to_verbs_ep(&fid_ep->fid), FI_OP_SEND, &wr, FI_MSG | FI_SEND, buf,
			       len, desc, context);
	return likely(ret <= 0) ? ret : kofi_xfer_send(fid_ep, buf, len, desc, dest_addr, context);
}

ssize_t verbs_read(struct fid_ep *fid_ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
		   u64 addr, u64 key, void *context)
{
	int ret = verbs_submit_rdma(to_verbs_ep(&fid_ep->fid), FI_OP_READ, IB_WR_RDMA_READ,
				    FI_RMA | FI_READ, buf, len, desc, addr, key, context);

	return likely(ret <= 0) ? ret :
	       kofi_xfer_read(fid_ep, buf, len, desc, src_addr, addr, key, context);
}

ssize_t verbs_write(struct fid_ep *fid_ep, const void *buf, size_t len, void *desc,
		    fi_addr_t dest_addr, u64 addr, u64 key, void *context)
{
	int ret = verbs_submit_rdma(to_verbs_ep(&fid_ep->fid), FI_OP_WRITE, IB_WR_RDMA_WRITE,
				    FI_RMA | FI_WRITE, buf, len, desc, addr, key, context);

	return likely(ret <= 0) ? ret :
	       kofi_xfer_write(fid_ep, buf, len, desc, dest_addr, addr, key, context);
}

/* Every other call */

/* Put the flags of a call into its work request, whose opcode is set */
static __always_inline int verbs_wr_flags(struct ib_send_wr *wr, u64 flags,
					  const struct fi_xfer *xfer)
{
	if (likely(!(flags & (FI_FENCE | FI_REMOTE_CQ_DATA | FI_REMOTE_INV))))
		return 0;
	if (flags & FI_FENCE)
		wr->send_flags |= IB_SEND_FENCE;
	if (flags & FI_REMOTE_INV) {
		/* The wire has one field for the key and the data */
		if (flags & FI_REMOTE_CQ_DATA || xfer->data > U32_MAX)
			return -EINVAL;
		wr->opcode = IB_WR_SEND_WITH_INV;
		wr->ex.invalidate_rkey = xfer->data;
		return 0;
	}
	if (!(flags & FI_REMOTE_CQ_DATA))
		return 0;
	wr->opcode = wr->opcode == IB_WR_SEND ? IB_WR_SEND_WITH_IMM : IB_WR_RDMA_WRITE_WITH_IMM;
	wr->ex.imm_data = cpu_to_be32((u32)xfer->data);
	return 0;
}

/* A work request with its elements; an array alone would have the stack aligned to 16 */
struct verbs_listed_wr {
	struct ib_rdma_wr	rdma;
	struct ib_sge		sge[VERBS_MAX_IOV];
};

/* Fill the work request of a message, a read or a write, and what else there is to know */
static __always_inline int verbs_wr_init(struct ib_rdma_wr *wr, struct verbs_call *call,
					 const struct fi_xfer *xfer)
{
	const struct fi_rma_xfer *rma;

	verbs_wr_begin(&wr->wr, IB_WR_SEND);
	wr->remote_addr = 0;
	wr->rkey = 0;
	if (!(call->comp_flags & FI_MSG)) {
		rma = to_fi_rma_xfer(xfer);
		if (!rma->rma || rma->rma_count != 1 || rma->rma->key > U32_MAX)
			return -EINVAL;
		wr->wr.opcode = call->comp_flags & FI_READ ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE;
		wr->remote_addr = rma->rma->addr;
		wr->rkey = rma->rma->key;
		call->remote_len = rma->rma->len;
	}
	return verbs_wr_flags(&wr->wr, call->flags, xfer);
}

/*
 * Return as verbs_submit().  The gate is first: verbs_wr_init() takes for granted that this is a
 * message, a read or a write.  verbs_post_unusual() also says why a call is refused.
 */
static __always_inline int verbs_post_usual(struct verbs_ep *ep, enum fi_op_type type,
					    const struct fi_xfer *xfer, struct verbs_call call)
{
	struct kofi_list_iter at __uninitialized;
	struct verbs_listed_wr wr __uninitialized;
	int ret = VERBS_UNUSUAL;

	verbs_list_begin(&at, ep->domain, xfer);
	/* Memory of a PCI device is not usual */
	at.peer = false;
	verbs_device_hold();
	if (likely(verbs_submit_may(ep, type, call.flags) &&
		   !verbs_wr_init(&wr.rdma, &call, xfer)))
		ret = verbs_submit(ep, type, &wr.rdma.wr, &call, &xfer->context, &at, wr.sge);
	verbs_device_release();
	return ret;
}

static noinline ssize_t verbs_post_unusual(struct verbs_ep *ep, const struct fi_xfer *xfer)
{
	struct verbs_call call = {
		.context	= xfer->context,
		.comp_flags	= kofi_xfer_comp_flags(xfer),
	};
	struct kofi_list_iter at __uninitialized;
	union verbs_any_wr any;
	struct kvec local;
	int ret;

	ret = kofi_xfer_check(&ep->kep, xfer, &call.flags);
	if (ret)
		return ret;
	verbs_list_begin(&at, ep->domain, xfer);
	if (xfer->type < FI_OP_ATOMIC) {
		ret = verbs_wr_init(&any.rdma, &call, xfer);
	} else {
		ret = verbs_atomic_init(&any, &call, &at, &local, to_fi_atomic_xfer(xfer));
		if (!ret)
			ret = verbs_wr_flags(&any.wr, call.flags, xfer);
	}
	if (ret)
		return ret;
	if (call.flags & FI_FENCE && ep->saves && ep->save_ops->hold(ep))
		return -EAGAIN;
	if (call.flags & (FI_SAVE | FI_COMMIT_COMPLETE))
		return ep->save_ops->post(ep, &any, &call, &at);
	/* iWARP has no fence in front of a read */
	if (ep->iwarp && call.flags & FI_FENCE && any.wr.opcode == IB_WR_RDMA_READ)
		return -FI_EBADFLAGS;
	return kofi_xfer_any_length(xfer) ? verbs_post_rw(ep, &any, &call, to_fi_rma_xfer(xfer)) :
					    verbs_submit_any(ep, &any, &call, &at);
}

/* The gate admits nothing that kofi_xfer_check() would refuse: only verbs_post_unusual() asks it */
static __always_inline ssize_t verbs_post_tx(struct verbs_ep *ep, enum fi_op_type type,
					     const struct fi_xfer *xfer, u64 comp_flags)
{
	const struct verbs_call call = {
		.flags		= kofi_xfer_flags(&ep->kep, xfer),
		.comp_flags	= comp_flags,
	};
	ssize_t ret;

	ret = verbs_post_usual(ep, type, xfer, call);
	if (likely(!ret))
		return 0;
	if (ret > 0)
		ret = verbs_post_unusual(ep, xfer);
	return ret ? kofi_xfer_refuse(&ep->kep, xfer, ret) : 0;
}

static noinline ssize_t verbs_post_no_msg(struct verbs_ep *ep, const struct fi_xfer *xfer)
{
	return verbs_post_tx(ep, xfer->type, xfer, kofi_xfer_comp_flags(xfer));
}

/* With constant flags for a message, so that the compiler leaves out what only others need */
ssize_t verbs_post(struct fid_ep *fid_ep, const struct fi_xfer *xfer)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);

	if (likely(xfer->type == FI_OP_SEND))
		return verbs_post_tx(ep, FI_OP_SEND, xfer, FI_MSG | FI_SEND);
	return xfer->type == FI_OP_RECV ? verbs_post_recv(ep, xfer) : verbs_post_no_msg(ep, xfer);
}
