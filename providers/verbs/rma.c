// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Remote memory access: the calls of fi_rma.h as operations for post.c.
 *
 * One remote range per operation, as in libfabric's verbs provider.  Keys are
 * 32 bits; a longer one cannot come from this provider and is refused here, any
 * other is for the peer's device to judge.
 */
#include <linux/module.h>
#include "fast.h"

#define VERBS_READ_FLAGS	(FI_COMPLETION | FI_MORE | FI_FENCE | \
				 FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE)

static ssize_t verbs_rma_post(struct verbs_ep *ep, const struct verbs_op *op)
{
	if (op->key > U32_MAX)
		return -EINVAL;
	return verbs_post(ep, op);
}

static __always_inline bool verbs_rma_fits(const struct verbs_ep *ep,
					   enum ib_wr_opcode opcode, u64 key)
{
	return key <= U32_MAX && (opcode == IB_WR_RDMA_WRITE || ep->may_read);
}

/* See fast.h.  -ENOMSG: go the long way */
static __always_inline int verbs_rma_mapped(struct verbs_ep *ep,
					    enum ib_wr_opcode opcode,
					    const void *buf, size_t len,
					    u64 addr, u64 key, void *context)
{
	enum dma_data_direction dir = opcode == IB_WR_RDMA_READ ?
				      DMA_FROM_DEVICE : DMA_TO_DEVICE;
	struct ib_sge sge __uninitialized;
	struct verbs_slot *slot;
	int ret = -ENOMSG;

	verbs_device_hold();
	if (likely(verbs_rma_fits(ep, opcode, key) &&
		   verbs_fast_begin(ep, &ep->tx, buf, len, dir, &sge, &slot)))
		ret = verbs_fast_rdma(ep, opcode, slot, &sge, context, addr,
				      key);
	verbs_device_release();
	return ret;
}

static ssize_t verbs_readv(struct fid_ep *fid_ep, const struct kvec *iov,
			   void **desc, size_t count, fi_addr_t src_addr,
			   u64 addr, u64 key, void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_op op = {
		.opcode		= IB_WR_RDMA_READ,
		.list		= iov,
		.count		= count,
		.desc		= desc,
		.context	= context,
		.addr		= addr,
		.key		= key,
		.silent		= verbs_is_silent(&ep->tx, ep->tx.op_flags),
	};

	return verbs_rma_post(ep, &op);
}

static noinline ssize_t verbs_read_list(struct fid_ep *fid_ep, void *buf,
					size_t len, void *desc,
					fi_addr_t src_addr, u64 addr, u64 key,
					void *context)
{
	struct kvec kvec = { buf, len };

	return verbs_readv(fid_ep, &kvec, &desc, 1, src_addr, addr, key,
			   context);
}

static noinline ssize_t verbs_read_mapped(struct fid_ep *fid_ep,
					  void *buf, size_t len,
					  void *desc, fi_addr_t src_addr,
					  u64 addr, u64 key, void *context)
{
	int ret = verbs_rma_mapped(to_verbs_ep(&fid_ep->fid), IB_WR_RDMA_READ, buf,
				   len, addr, key, context);

	if (likely(ret != -ENOMSG))
		return ret;
	return verbs_read_list(fid_ep, buf, len, desc, src_addr, addr, key,
			       context);
}

static noinline ssize_t verbs_read_other(struct fid_ep *fid_ep, void *buf,
					 size_t len, void *desc,
					 fi_addr_t src_addr, u64 addr, u64 key,
					 void *context)
{
	if (verbs_fast_maps(&to_verbs_ep(&fid_ep->fid)->tx, desc))
		return verbs_read_mapped(fid_ep, buf, len, desc, src_addr, addr,
					 key, context);
	return verbs_read_list(fid_ep, buf, len, desc, src_addr, addr, key,
			       context);
}

static ssize_t verbs_read(struct fid_ep *fid_ep, void *buf, size_t len,
			  void *desc, fi_addr_t src_addr, u64 addr, u64 key,
			  void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct ib_sge sge __uninitialized;
	struct verbs_slot *slot;
	int ret;

	verbs_device_hold();
	if (unlikely(!verbs_rma_fits(ep, IB_WR_RDMA_READ, key) ||
		     !verbs_fast_slot(ep, &ep->tx, buf, len, desc, &sge,
				      &slot))) {
		verbs_device_release();
		return verbs_read_other(fid_ep, buf, len, desc, src_addr, addr,
					key, context);
	}
	ret = verbs_fast_rdma(ep, IB_WR_RDMA_READ, slot, &sge, context, addr, key);
	verbs_device_release();
	return ret;
}

static ssize_t verbs_writev(struct fid_ep *fid_ep, const struct kvec *iov,
			    void **desc, size_t count, fi_addr_t dest_addr,
			    u64 addr, u64 key, void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_op op = {
		.opcode		= IB_WR_RDMA_WRITE,
		.list		= iov,
		.count		= count,
		.desc		= desc,
		.context	= context,
		.flags		= ep->tx.op_flags,
		.addr		= addr,
		.key		= key,
		.silent		= verbs_is_silent(&ep->tx, ep->tx.op_flags),
	};

	return verbs_rma_post(ep, &op);
}

static noinline ssize_t verbs_write_list(struct fid_ep *fid_ep, const void *buf,
					 size_t len, void *desc,
					 fi_addr_t dest_addr, u64 addr, u64 key,
					 void *context)
{
	struct kvec kvec = { (void *)buf, len };

	return verbs_writev(fid_ep, &kvec, &desc, 1, dest_addr, addr, key,
			    context);
}

static noinline ssize_t verbs_write_mapped(struct fid_ep *fid_ep,
					   const void *buf, size_t len,
					   void *desc, fi_addr_t dest_addr,
					   u64 addr, u64 key, void *context)
{
	int ret = verbs_rma_mapped(to_verbs_ep(&fid_ep->fid), IB_WR_RDMA_WRITE, buf,
				   len, addr, key, context);

	if (likely(ret != -ENOMSG))
		return ret;
	return verbs_write_list(fid_ep, buf, len, desc, dest_addr, addr, key,
				context);
}

static noinline ssize_t verbs_write_other(struct fid_ep *fid_ep, const void *buf,
					  size_t len, void *desc,
					  fi_addr_t dest_addr, u64 addr, u64 key,
					  void *context)
{
	if (verbs_fast_maps(&to_verbs_ep(&fid_ep->fid)->tx, desc))
		return verbs_write_mapped(fid_ep, buf, len, desc, dest_addr, addr,
					 key, context);
	return verbs_write_list(fid_ep, buf, len, desc, dest_addr, addr, key,
			       context);
}

static ssize_t verbs_write(struct fid_ep *fid_ep, const void *buf, size_t len,
			   void *desc, fi_addr_t dest_addr, u64 addr, u64 key,
			   void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct ib_sge sge __uninitialized;
	struct verbs_slot *slot;
	int ret;

	verbs_device_hold();
	if (unlikely(!verbs_rma_fits(ep, IB_WR_RDMA_WRITE, key) ||
		     !verbs_fast_slot(ep, &ep->tx, buf, len, desc, &sge,
				      &slot))) {
		verbs_device_release();
		return verbs_write_other(fid_ep, buf, len, desc, dest_addr, addr,
					key, context);
	}
	ret = verbs_fast_rdma(ep, IB_WR_RDMA_WRITE, slot, &sge, context, addr, key);
	verbs_device_release();
	return ret;
}

/* The remote range, if it says how long it is, is as long as the local list */
static ssize_t verbs_rma_msg(struct verbs_ep *ep, const struct fi_msg_rma *msg,
			     enum ib_wr_opcode opcode, u64 flags)
{
	const struct fi_rma_iov *remote = msg->rma_iov;
	struct verbs_op op = {
		.opcode		= opcode,
		.type		= msg->type,
		.list		= msg->msg_iov,
		.count		= msg->iov_count,
		.desc		= msg->desc,
		.context	= msg->context,
		.flags		= flags,
		.data		= msg->data,
		.silent		= verbs_is_silent(&ep->tx, flags),
	};
	ssize_t len;

	if (!remote || msg->rma_iov_count != 1)
		return -EINVAL;
	len = verbs_list_len(op.type, op.list, op.count, ep->max_msg_size);
	if (len < 0)
		return len;
	if (remote->len != len)
		return -EINVAL;
	op.addr = remote->addr;
	op.key = remote->key;
	return verbs_rma_post(ep, &op);
}

static ssize_t verbs_readmsg(struct fid_ep *fid_ep, const struct fi_msg_rma *msg,
			     u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);

	if (flags & ~(ep->tx_flags & VERBS_READ_FLAGS))
		return -FI_EBADFLAGS;
	/* iWARP knows no fence in front of a read */
	if (flags & FI_FENCE && ep->iwarp)
		return -FI_EBADFLAGS;
	return verbs_rma_msg(ep, msg, IB_WR_RDMA_READ, flags);
}

static ssize_t verbs_writemsg(struct fid_ep *fid_ep,
			      const struct fi_msg_rma *msg, u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);

	if (flags & ~ep->tx_flags)
		return -FI_EBADFLAGS;
	return verbs_rma_msg(ep, msg, IB_WR_RDMA_WRITE, flags);
}

/* @flags: what the call stands for, beside the endpoint's defaults */
static ssize_t verbs_write_one(struct verbs_ep *ep, const struct fi_rma_iov *to,
			       const struct kvec *kvec, void **desc,
			       void *context, u64 data, u64 flags)
{
	struct verbs_op op = {
		.opcode		= IB_WR_RDMA_WRITE,
		.list		= kvec,
		.count		= 1,
		.desc		= desc,
		.context	= context,
		.flags		= flags | ep->tx.op_flags,
		.data		= data,
		.addr		= to->addr,
		.key		= to->key,
		.silent		= flags & FI_INJECT ||
				  verbs_is_silent(&ep->tx, ep->tx.op_flags),
	};

	/* iWARP carries no immediate data */
	if (flags & ~ep->tx_flags)
		return -ENOSYS;
	return verbs_rma_post(ep, &op);
}

static ssize_t verbs_inject_write(struct fid_ep *fid_ep, const void *buf,
				  size_t len, fi_addr_t dest_addr, u64 addr,
				  u64 key)
{
	struct fi_rma_iov to = { addr, len, key };
	struct kvec kvec = { (void *)buf, len };

	return verbs_write_one(to_verbs_ep(&fid_ep->fid), &to, &kvec, NULL,
			       NULL, 0, FI_INJECT);
}

static ssize_t verbs_writedata(struct fid_ep *fid_ep, const void *buf,
			       size_t len, void *desc, u64 data,
			       fi_addr_t dest_addr, u64 addr, u64 key,
			       void *context)
{
	struct fi_rma_iov to = { addr, len, key };
	struct kvec kvec = { (void *)buf, len };

	return verbs_write_one(to_verbs_ep(&fid_ep->fid), &to, &kvec, &desc,
			       context, data, FI_REMOTE_CQ_DATA);
}

static ssize_t verbs_inject_writedata(struct fid_ep *fid_ep, const void *buf,
				      size_t len, u64 data, fi_addr_t dest_addr,
				      u64 addr, u64 key)
{
	struct fi_rma_iov to = { addr, len, key };
	struct kvec kvec = { (void *)buf, len };

	return verbs_write_one(to_verbs_ep(&fid_ep->fid), &to, &kvec, NULL,
			       NULL, data, FI_INJECT | FI_REMOTE_CQ_DATA);
}

static ssize_t verbs_readsgl(struct fid_ep *fid_ep, struct scatterlist *sgl,
			     unsigned int nents, size_t offset, size_t len,
			     fi_addr_t src_addr, u64 addr, u64 key,
			     void *context, u64 flags)
{
	struct verbs_move_to to = {
		DMA_FROM_DEVICE, len, addr, key, context
	};

	return verbs_move(to_verbs_ep(&fid_ep->fid), &to, sgl, nents, offset,
			  flags);
}

static ssize_t verbs_writesgl(struct fid_ep *fid_ep, struct scatterlist *sgl,
			      unsigned int nents, size_t offset, size_t len,
			      fi_addr_t dest_addr, u64 addr, u64 key,
			      void *context, u64 flags)
{
	struct verbs_move_to to = { DMA_TO_DEVICE, len, addr, key, context };

	return verbs_move(to_verbs_ep(&fid_ep->fid), &to, sgl, nents, offset,
			  flags);
}

const struct fi_ops_rma verbs_rma_ops = {
	.size		= sizeof(struct fi_ops_rma),
	.read		= verbs_read,
	.readv		= verbs_readv,
	.readmsg	= verbs_readmsg,
	.write		= verbs_write,
	.writev		= verbs_writev,
	.writemsg	= verbs_writemsg,
	.inject		= verbs_inject_write,
	.writedata	= verbs_writedata,
	.injectdata	= verbs_inject_writedata,
	.readsgl	= verbs_readsgl,
	.writesgl	= verbs_writesgl,
};
