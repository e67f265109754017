// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Data transfers: from the call of a client to an operation for post.c.
 *
 * fi_send(), fi_recv(), fi_read() and fi_write() of one buffer have a fast path.  It makes the work
 * request and the slot that post.c would make, without the list and the lock of the queue.  The
 * fast path is open
 *
 *	- while the endpoint is connected, and its default flags ask for nothing but
 *	  completions
 *	- while no operation waits for a doorbell or for another one's completion: the lock
 *	  of a transmit queue keeps the order of such operations.  A thread that has posted
 *	  one of them finds the fast path closed (verbs_queue_settle()).  Between threads
 *	  there is no order that a client could expect
 *	- for a buffer in a region, or in memory that the device reaches under its kernel
 *	  address
 *
 * Every other call comes as a struct fi_xfer, which takes the slow path: verbs_xfer_post(), then
 * verbs_post() or verbs_post_recv(), or verbs_rw() for lists of any length; receives of a shared
 * receive context take verbs_srx_xfer_post(), then verbs_post_srx().  A call that finds the fast
 * path closed or the queue full takes the slow path, too, and starts afresh there.
 *
 * The device copies data that fit inline when they are posted, as it does for fi_inject(): it need
 * not fetch them, and they need no mapping.  As with any other send, the client may change the
 * buffer only after the completion.
 *
 * Remote memory: one range per operation, as in libfabric's verbs provider.  Keys have 32 bits;
 * this file refuses a longer one, which cannot come from this provider.
 *
 * Atomic operations on 64 bits of remote memory, as in libfabric's verbs provider (1.17 and 2.x):
 *
 *	fi_atomic, FI_ATOMIC_WRITE		a fenced RDMA write
 *	fi_fetch_atomic, FI_ATOMIC_READ		an RDMA read
 *	fi_fetch_atomic, FI_SUM			fetch and add
 *	fi_compare_atomic, FI_CSWAP		compare and swap
 *
 * on FI_INT64, FI_UINT64 and, except for FI_SUM, FI_DOUBLE.  (libfabric also claims the sum of
 * doubles, and FI_FLOAT, of which it transfers eight bytes.)  Each call has one element, at an
 * address that is a multiple of its size.
 */
#include <kofi/provider.h>
#include <kofi/refuse.h>
#include <kofi/xfer.h>
#include "ep.h"
#include "mr.h"
#include "op.h"
#include "queue.h"
#include "save.h"
#include "verbs.h"

#define VERBS_ATOMIC_SIZE	sizeof(u64)

/* Flags that may be the default of calls without flags */
#define VERBS_OP_FLAGS	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | \
			 FI_TRANSMIT_COMPLETE)
#define VERBS_TX_FLAGS	(VERBS_OP_FLAGS | FI_REMOTE_CQ_DATA | FI_REMOTE_INV | \
			 FI_MORE | FI_FENCE)
/* iWARP has no immediate data, and does not report when data have arrived */
#define VERBS_IWARP_NOT	(FI_REMOTE_CQ_DATA | FI_TRANSMIT_COMPLETE)

/*
 * Counters leave out reads and writes by a peer: an RC queue pair has no event for them.  A write
 * with remote CQ data takes a receive, but does not count as a received message.
 */
#define VERBS_LIMITS						\
	.cntr_dirs	 = FI_SEND | FI_RECV | FI_READ | FI_WRITE,	\
	.rx_op_flags	 = FI_COMPLETION,			\
	.recv_flags	 = FI_COMPLETION | FI_MORE,		\
	.cm_data_size	 = VERBS_CM_DATA,			\
	.max_atomic_size = VERBS_ATOMIC_SIZE

static const struct kofi_ep_limits verbs_limits = {
	VERBS_LIMITS,
	.tx_op_flags	= VERBS_OP_FLAGS,
	.tx_flags	= VERBS_TX_FLAGS | FI_SAVE | FI_COMMIT_COMPLETE,
};

static const struct kofi_ep_limits verbs_iwarp_limits = {
	VERBS_LIMITS,
	.tx_op_flags	= VERBS_OP_FLAGS & ~VERBS_IWARP_NOT,
	.tx_flags	= VERBS_TX_FLAGS & ~VERBS_IWARP_NOT,
};

const struct kofi_ep_limits *verbs_ep_limits(bool iwarp)
{
	return iwarp ? &verbs_iwarp_limits : &verbs_limits;
}

/* Atomic operations */

static bool verbs_atomic_has_op(enum fi_op op, u64 form)
{
	switch (form) {
	case 0:
		return op == FI_ATOMIC_WRITE;
	case FI_FETCH_ATOMIC:
		return op == FI_ATOMIC_READ || op == FI_SUM;
	default:
		return op == FI_CSWAP;
	}
}

static int verbs_atomic_attr(enum fi_datatype type, enum fi_op op, u64 form,
			     struct fi_atomic_attr *attr)
{
	if (!verbs_atomic_has_op(op, form))
		return kofi_refuse("query_atomic", -ENOSYS, "op %d: RDMA devices have FI_SUM, FI_CSWAP and FI_ATOMIC_READ, which fetch",
				   op);
	if (type != FI_INT64 && type != FI_UINT64 &&
	    (type != FI_DOUBLE || op == FI_SUM))
		return kofi_refuse("query_atomic", -EINVAL, "datatype %d: RDMA devices have FI_INT64 and FI_UINT64",
				   type);
	attr->count = 1;
	attr->size = VERBS_ATOMIC_SIZE;
	return 0;
}

static int verbs_atomicvalid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, u64 form,
			     size_t *count)
{
	struct fi_atomic_attr attr;
	int ret;

	if (!(to_kofi_ep(&ep->fid)->xfers & BIT(FI_OP_ATOMIC)))
		return fi_no_atomicvalid(ep, type, op, form, count);
	ret = verbs_atomic_attr(type, op, form, &attr);
	if (!ret)
		*count = attr.count;
	return ret;
}

int verbs_query_atomic(struct verbs_domain *domain, enum fi_datatype type,
		       enum fi_op op, struct fi_atomic_attr *attr, u64 flags)
{
	if (!domain->dev->atomics)
		return kofi_refuse("query_atomic", -ENOSYS, "the device has no atomics");
	if (flags && flags != FI_FETCH_ATOMIC && flags != FI_COMPARE_ATOMIC)
		return kofi_refuse_flags("query_atomic", flags,
					 FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC);
	return verbs_atomic_attr(type, op, flags, attr);
}

/* Every list has one element, and so has the remote memory */
static int verbs_atomic_check(const struct fi_atomic_xfer *atomic)
{
	const struct fi_xfer *xfer = &atomic->xfer;
	bool compare = xfer->type == FI_OP_COMPARE_ATOMIC;
	bool operand = atomic->op != FI_ATOMIC_READ;
	bool result = xfer->type != FI_OP_ATOMIC;
	const struct fi_rma_ioc *ioc = atomic->ioc;
	const struct fi_ioc *list = xfer->list;
	struct fi_atomic_attr attr;
	int ret;

	ret = verbs_atomic_attr(atomic->datatype, atomic->op, kofi_atomic_form(xfer->type), &attr);
	if (ret)
		return ret;
	if (atomic->ioc_count != 1 || (operand && xfer->count != 1) ||
	    (result && atomic->result.count != 1) || (compare && atomic->compare.count != 1))
		return -E2BIG;
	if ((operand && list->count != ioc->count) ||
	    (result && atomic->result.ioc->count != ioc->count) ||
	    (compare && atomic->compare.ioc->count != ioc->count))
		return -EINVAL;
	if (ioc->count != attr.count)
		return -E2BIG;
	return ioc->addr % attr.size ? -EINVAL : 0;
}

/* @local: memory for the only element of the local list */
static int verbs_atomic_fill(struct verbs_op *op, const struct fi_atomic_xfer *atomic,
			     struct kvec *local)
{
	const struct fi_ioc *operand = atomic->xfer.list;
	u8 type = atomic->xfer.type;
	int ret = verbs_atomic_check(atomic);

	if (ret)
		return ret;
	*local = (struct kvec) { NULL, VERBS_ATOMIC_SIZE };
	op->atomic = true;
	op->type = FI_BUF_KVEC;
	op->list = local;
	op->count = 1;
	op->addr = atomic->ioc->addr;
	op->key = atomic->ioc->key;
	op->remote_len = VERBS_ATOMIC_SIZE;
	if (type == FI_OP_ATOMIC) {
		op->opcode = IB_WR_RDMA_WRITE;
		op->flags |= FI_FENCE;
		local->iov_base = operand->addr;
		return 0;
	}
	local->iov_base = atomic->result.ioc->addr;
	op->desc = atomic->result.desc;
	if (atomic->op == FI_ATOMIC_READ) {
		op->opcode = IB_WR_RDMA_READ;
		return 0;
	}
	if (!operand->addr ||
	    (type == FI_OP_COMPARE_ATOMIC && !atomic->compare.ioc->addr))
		return -EINVAL;
	if (type == FI_OP_FETCH_ATOMIC) {
		op->opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
		op->data = *(const u64 *)operand->addr;
	} else {
		op->opcode = IB_WR_ATOMIC_CMP_AND_SWP;
		op->data = *(const u64 *)atomic->compare.ioc->addr;
		op->swap = *(const u64 *)operand->addr;
	}
	return 0;
}

/* The slow path */

static int verbs_rma_fill(struct verbs_op *op, const struct fi_rma_xfer *rma)
{
	if (!rma->rma || rma->rma_count != 1)
		return -EINVAL;
	op->opcode = rma->xfer.type == FI_OP_READ ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE;
	op->addr = rma->rma->addr;
	op->key = rma->rma->key;
	op->remote_len = rma->rma->len;
	return 0;
}

/* Fill what all operations have; a receive has nothing else */
static void verbs_op_init(struct verbs_op *op, const struct fi_xfer *xfer, u64 flags)
{
	*op = (struct verbs_op) {
		.type		= xfer->buf_type,
		.list		= xfer->list,
		.count		= xfer->count,
		.desc		= xfer->desc,
		.context	= xfer->context,
		.flags		= flags,
		.data		= xfer->data,
		.unreported	= !(flags & FI_COMPLETION),
	};
}

static int verbs_op_fill(struct verbs_op *op, const struct fi_xfer *xfer, struct kvec *local)
{
	int ret;

	if (xfer->type == FI_OP_SEND) {
		op->opcode = IB_WR_SEND;
		/* The wire has one field for the key and the data */
		return op->flags & FI_REMOTE_INV &&
		       (op->flags & FI_REMOTE_CQ_DATA || xfer->data > U32_MAX) ? -EINVAL : 0;
	}
	ret = xfer->type < FI_OP_ATOMIC ? verbs_rma_fill(op, to_fi_rma_xfer(xfer)) :
					  verbs_atomic_fill(op, to_fi_atomic_xfer(xfer), local);
	return ret ? : op->key > U32_MAX ? -EINVAL : 0;
}

static ssize_t verbs_post_tx(struct verbs_ep *ep, const struct fi_xfer *xfer,
			     struct verbs_op *op)
{
	struct kvec local;
	int ret;

	ret = verbs_op_fill(op, xfer, &local);
	if (ret)
		return ret;
	if (op->flags & FI_FENCE && verbs_saves_hold(ep))
		return -EAGAIN;
	if (op->flags & (FI_SAVE | FI_COMMIT_COMPLETE))
		return verbs_save_post(ep, op);
	/* iWARP has no fence in front of a read */
	if (ep->iwarp && op->flags & FI_FENCE && op->opcode == IB_WR_RDMA_READ)
		return -FI_EBADFLAGS;
	return kofi_xfer_any_length(xfer) ? verbs_rw(ep, op, to_fi_rma_xfer(xfer)->offset) :
					    verbs_post(ep, op);
}

static ssize_t verbs_xfer_post(struct fid_ep *fid_ep, const struct fi_xfer *xfer)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_op op;
	ssize_t ret;
	u64 flags;

	ret = kofi_xfer_check(&ep->kep, xfer, &flags);
	if (ret)
		goto refuse;
	verbs_op_init(&op, xfer, flags);
	ret = xfer->type == FI_OP_RECV ? verbs_post_recv(ep, &op) : verbs_post_tx(ep, xfer, &op);
	if (likely(!ret))
		return 0;
refuse:
	return kofi_xfer_refuse(&ep->kep, xfer, ret);
}

static ssize_t verbs_srx_xfer_post(struct fid_ep *fid_ep, const struct fi_xfer *xfer)
{
	struct verbs_srx *srx = to_verbs_srx(&fid_ep->fid);
	struct verbs_op op;
	ssize_t ret;
	u64 flags;

	ret = kofi_xfer_check(&srx->kep, xfer, &flags);
	if (ret)
		goto refuse;
	verbs_op_init(&op, xfer, flags);
	ret = verbs_post_srx(srx, &op);
	if (likely(!ret))
		return 0;
refuse:
	return kofi_xfer_refuse(&srx->kep, xfer, ret);
}

/* The fast path */

/**
 * verbs_fast_begin() - Take the fast path, if it is open
 * @ep: the endpoint
 * @queue: the queue of one direction of @ep
 * @buf: the buffer
 * @len: bytes
 * @mr: the region that the client names, or NULL
 * @dir: direction of the transfer
 * @sge: the element
 * @slot: a slot, to be filled by verbs_fast_fill()
 *
 * Context: any; the device is held (verbs_device_hold()).
 * Return: true, or false: take the slow path.
 */
static __always_inline bool
verbs_fast_begin(const struct verbs_ep *ep, struct verbs_queue *queue,
		 const void *buf, size_t len, const struct verbs_mr *mr,
		 enum dma_data_direction dir, struct ib_sge *sge,
		 struct verbs_slot **slot)
{
	/* An empty buffer is rare, too */
	if (unlikely(!smp_load_acquire(&queue->plain) ||
		     len - 1 >= ep->kep.max_msg_size))
		return false;
	if (mr) {
		if (mr->plain != ep->domain || len > mr->len ||
		    (uintptr_t)buf - mr->start > mr->len - len)
			return false;
	} else if ((queue->maps && !(dir == DMA_TO_DEVICE && verbs_copies(ep, len))) ||
		   !kofi_is_plain_memory(buf, len)) {
		/* The device does not take the kernel address of the buffer */
		return false;
	}
	sge->addr = (uintptr_t)buf;
	sge->length = len;
	sge->lkey = mr ? mr->lkey : queue->lkey;
	return verbs_slot_take(queue, slot);
}

/* The rest of a free slot is clean */
static __always_inline void
verbs_fast_fill(struct verbs_slot *slot, void *context, u64 comp_flags,
		void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	slot->cqe.done = done;
	slot->comp.op_context = verbs_context(slot->queue, context);
	slot->comp.flags = comp_flags;
}

/* @ret: of ib_post_send() or ib_post_recv() */
static __always_inline int verbs_fast_end(struct verbs_slot *slot, int ret)
{
	const struct verbs_queue *queue = slot->queue;

	if (likely(!ret))
		return 0;
	verbs_slot_put(slot);
	return verbs_post_errno(queue, ret);
}

/* Posts a read or a write.  Returns false if the fast path is closed; see @ret otherwise. */
static __always_inline bool
verbs_fast_rdma(struct verbs_ep *ep, enum ib_wr_opcode opcode, const void *buf, size_t len,
		const struct verbs_mr *mr, void *context, u64 addr, u64 key, ssize_t *ret)
{
	bool read = opcode == IB_WR_RDMA_READ, open;
	u64 comp_flags = FI_RMA | (read ? FI_READ : FI_WRITE);
	struct ib_rdma_wr wr = {
		.wr.num_sge	= 1,
		.wr.opcode	= opcode,
		.wr.send_flags	= IB_SEND_SIGNALED |
				  (!read && verbs_copies(ep, len) ? IB_SEND_INLINE : 0),
		.remote_addr	= addr,
		.rkey		= key,
	};
	struct verbs_slot *slot;
	struct ib_sge sge;

	verbs_device_hold();
	open = key <= U32_MAX && (!read || ep->may_read) &&
	       verbs_fast_begin(ep, &ep->tx, buf, len, mr,
				read ? DMA_FROM_DEVICE : DMA_TO_DEVICE, &sge, &slot);
	if (likely(open)) {
		wr.wr.wr_cqe = &slot->cqe;
		wr.wr.sg_list = &sge;
		verbs_fast_fill(slot, context, comp_flags, verbs_sent);
		*ret = verbs_fast_end(slot, ib_post_send(ep->qp, &wr.wr, NULL));
		if (likely(!*ret))
			kofi_ep_posted(&ep->kep, comp_flags, context, len);
	}
	verbs_device_release();
	return open;
}

static ssize_t verbs_send(struct fid_ep *fid_ep, const void *buf, size_t len,
			  void *desc, fi_addr_t dest_addr, void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct ib_send_wr wr = { .num_sge = 1, .opcode = IB_WR_SEND };
	struct verbs_slot *slot;
	struct ib_sge sge;
	int ret;

	verbs_device_hold();
	if (unlikely(!verbs_fast_begin(ep, &ep->tx, buf, len, desc,
				       DMA_TO_DEVICE, &sge, &slot))) {
		verbs_device_release();
		return kofi_xfer_send(fid_ep, buf, len, desc, dest_addr, context);
	}
	wr.wr_cqe = &slot->cqe;
	wr.sg_list = &sge;
	wr.send_flags = IB_SEND_SIGNALED |
			(verbs_copies(ep, len) ? IB_SEND_INLINE : 0);
	verbs_fast_fill(slot, context, FI_MSG | FI_SEND, verbs_sent);
	ret = verbs_fast_end(slot, ib_post_send(ep->qp, &wr, NULL));
	if (likely(!ret))
		kofi_ep_posted(&ep->kep, FI_MSG | FI_SEND, context, len);
	verbs_device_release();
	return ret;
}

static ssize_t verbs_recv(struct fid_ep *fid_ep, void *buf, size_t len,
			  void *desc, fi_addr_t src_addr, void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct ib_recv_wr wr = { .num_sge = 1 };
	struct verbs_slot *slot;
	struct ib_sge sge;
	int ret;

	verbs_device_hold();
	if (unlikely(!verbs_fast_begin(ep, &ep->rx, buf, len, desc,
				       DMA_FROM_DEVICE, &sge, &slot))) {
		verbs_device_release();
		return kofi_xfer_recv(fid_ep, buf, len, desc, src_addr, context);
	}
	wr.wr_cqe = &slot->cqe;
	wr.sg_list = &sge;
	verbs_fast_fill(slot, context, FI_MSG | FI_RECV, verbs_received);
	slot->comp.buf = buf;
	ret = verbs_fast_end(slot, ib_post_recv(ep->qp, &wr, NULL));
	if (likely(!ret))
		kofi_ep_posted(&ep->kep, FI_MSG | FI_RECV, context, len);
	verbs_device_release();
	return ret;
}

static ssize_t verbs_read(struct fid_ep *fid_ep, void *buf, size_t len,
			  void *desc, fi_addr_t src_addr, u64 addr, u64 key,
			  void *context)
{
	ssize_t ret;

	if (verbs_fast_rdma(to_verbs_ep(&fid_ep->fid), IB_WR_RDMA_READ, buf, len, desc,
			    context, addr, key, &ret))
		return ret;
	return kofi_xfer_read(fid_ep, buf, len, desc, src_addr, addr, key, context);
}

static ssize_t verbs_write(struct fid_ep *fid_ep, const void *buf, size_t len,
			   void *desc, fi_addr_t dest_addr, u64 addr, u64 key,
			   void *context)
{
	ssize_t ret;

	if (verbs_fast_rdma(to_verbs_ep(&fid_ep->fid), IB_WR_RDMA_WRITE, buf, len, desc,
			    context, addr, key, &ret))
		return ret;
	return kofi_xfer_write(fid_ep, buf, len, desc, dest_addr, addr, key, context);
}

static const struct fi_ops_xfer verbs_xfer_ops = {
	.size		= sizeof(struct fi_ops_xfer),
	.send		= verbs_send,
	.recv		= verbs_recv,
	.read		= verbs_read,
	.write		= verbs_write,
	.post		= verbs_xfer_post,
	.atomicvalid	= verbs_atomicvalid,
};

/* Of an endpoint without FI_RMA: the fast path asks for no capability */
static const struct fi_ops_xfer verbs_msg_xfer_ops = {
	.size		= sizeof(struct fi_ops_xfer),
	.send		= verbs_send,
	.recv		= verbs_recv,
	.read		= kofi_xfer_read,
	.write		= kofi_xfer_write,
	.post		= verbs_xfer_post,
	.atomicvalid	= verbs_atomicvalid,
};

static const struct fi_ops_xfer verbs_srx_xfer_ops = {
	.size		= sizeof(struct fi_ops_xfer),
	.send		= kofi_xfer_send,
	.recv		= kofi_xfer_recv,
	.read		= kofi_xfer_read,
	.write		= kofi_xfer_write,
	.post		= verbs_srx_xfer_post,
	.atomicvalid	= fi_no_atomicvalid,
};

void verbs_ep_set_ops(struct verbs_ep *ep)
{
	struct kofi_ep *kep = &ep->kep;
	u64 caps = FI_MSG;

	if (verbs_ep_has_rma(ep))
		caps |= FI_RMA;
	if (ep->domain->dev->atomics)
		caps |= kep->caps & FI_ATOMIC;
	kofi_ep_set_xfers(kep, caps);
	kep->ep.xfer = caps & FI_RMA ? &verbs_xfer_ops : &verbs_msg_xfer_ops;
}

void verbs_srx_set_ops(struct verbs_srx *srx)
{
	kofi_ep_set_xfers(&srx->kep, FI_MSG);
	srx->kep.ep.xfer = &verbs_srx_xfer_ops;
}
