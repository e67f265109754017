// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Remote memory access: the calls of fi_rma.h as operations for post.c.
 *
 * One remote range per operation, as in libfabric's verbs provider.  Keys are
 * 32 bits; a longer one cannot come from this provider and is refused here, any
 * other is for the peer's device to judge.
 */
#include <linux/module.h>
#include "one.h"

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
		ret = verbs_fast_rdma(ep, opcode, slot, &sge, len, context,
				      addr, key);
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
		.silent		= verbs_is_silent(&ep->kep.tx, ep->kep.tx.op_flags),
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
		     !verbs_fast_slot(ep, &ep->tx, buf, len, desc,
				      DMA_FROM_DEVICE, &sge, &slot))) {
		verbs_device_release();
		return verbs_read_other(fid_ep, buf, len, desc, src_addr, addr,
					key, context);
	}
	ret = verbs_fast_rdma(ep, IB_WR_RDMA_READ, slot, &sge, len, context,
			      addr, key);
	verbs_device_release();
	return ret;
}

/* @flags: with FI_COMPLETION if success is reported; here and below */
static noinline ssize_t verbs_write_list(struct verbs_ep *ep,
					 const struct fi_msg_rma *msg,
					 const struct fi_rma_iov *to, u64 flags)
{
	const struct verbs_op op = {
		.opcode		= IB_WR_RDMA_WRITE,
		.type		= msg->type,
		.list		= msg->msg_iov,
		.count		= msg->iov_count,
		.desc		= msg->desc,
		.context	= msg->context,
		.flags		= flags,
		.data		= msg->data,
		.addr		= to->addr,
		.key		= to->key,
		.silent		= !(flags & FI_COMPLETION),
	};

	return verbs_rma_post(ep, &op);
}

static noinline ssize_t verbs_write_one_list(struct verbs_ep *ep,
					     const struct kvec *kvec, void *desc,
					     const struct verbs_one *one)
{
	const struct fi_msg_rma msg = {
		.msg_iov	= kvec,
		.iov_count	= 1,
		.desc		= &desc,
		.context	= one->context,
		.data		= one->data,
	};

	return verbs_write_list(ep, &msg, &one->to, one->flags);
}

static noinline ssize_t verbs_write_one(struct verbs_ep *ep,
					const struct kvec *kvec, void *desc,
					void *context, u64 data, u64 flags,
					const struct fi_rma_iov *to)
{
	const struct verbs_one one = {
		.opcode		= IB_WR_RDMA_WRITE,
		.context	= context,
		.flags		= flags,
		.data		= data,
		.to		= *to,
	};
	int ret = -ENOMSG;

	if (likely(verbs_rma_fits(ep, IB_WR_RDMA_WRITE, to->key)))
		ret = verbs_one_post(ep, kvec, desc, &one);
	if (likely(ret != -ENOMSG))
		return ret;
	return verbs_write_one_list(ep, kvec, desc, &one);
}

static ssize_t verbs_writev(struct fid_ep *fid_ep, const struct kvec *iov,
			    void **desc, size_t count, fi_addr_t dest_addr,
			    u64 addr, u64 key, void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	const struct fi_msg_rma msg = {
		.msg_iov	= iov,
		.iov_count	= count,
		.desc		= desc,
		.context	= context,
	};
	const struct fi_rma_iov to = { .addr = addr, .key = key };

	return verbs_write_list(ep, &msg, &to,
				kofi_ep_flags(&ep->kep.tx, ep->kep.tx.op_flags));
}

static noinline ssize_t verbs_write_mapped(struct fid_ep *fid_ep,
					   const void *buf, size_t len,
					   void *desc, fi_addr_t dest_addr,
					   u64 addr, u64 key, void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct kvec kvec = { (void *)buf, len };
	int ret = verbs_rma_mapped(ep, IB_WR_RDMA_WRITE, buf, len, addr, key,
				   context);

	if (likely(ret != -ENOMSG))
		return ret;
	return verbs_writev(fid_ep, &kvec, &desc, 1, dest_addr, addr, key,
			    context);
}

static noinline ssize_t verbs_write_other(struct fid_ep *fid_ep, const void *buf,
					  size_t len, void *desc,
					  fi_addr_t dest_addr, u64 addr, u64 key,
					  void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	const struct fi_rma_iov to = { addr, len, key };
	struct kvec kvec = { (void *)buf, len };

	if (verbs_fast_maps(&ep->tx, desc))
		return verbs_write_mapped(fid_ep, buf, len, desc, dest_addr, addr,
					  key, context);
	return verbs_write_one(ep, &kvec, desc, context, 0,
			       kofi_ep_flags(&ep->kep.tx, ep->kep.tx.op_flags), &to);
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
		     !verbs_fast_slot(ep, &ep->tx, buf, len, desc,
				      DMA_TO_DEVICE, &sge, &slot))) {
		verbs_device_release();
		return verbs_write_other(fid_ep, buf, len, desc, dest_addr, addr,
					key, context);
	}
	ret = verbs_fast_rdma(ep, IB_WR_RDMA_WRITE, slot, &sge, len, context,
			      addr, key);
	verbs_device_release();
	return ret;
}

/* One remote range, which is as long as the local list */
static int verbs_rma_check(const struct verbs_ep *ep, const struct fi_msg_rma *msg)
{
	const struct fi_rma_iov *remote = msg->rma_iov;
	ssize_t len;

	if (!remote || msg->rma_iov_count != 1)
		return -EINVAL;
	len = kofi_list_len(msg->type, msg->msg_iov, msg->iov_count,
			    ep->kep.max_msg_size);
	if (len < 0)
		return len;
	return remote->len == len ? 0 : -EINVAL;
}

static ssize_t verbs_readmsg(struct fid_ep *fid_ep, const struct fi_msg_rma *msg,
			     u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_op op = {
		.opcode		= IB_WR_RDMA_READ,
		.type		= msg->type,
		.list		= msg->msg_iov,
		.count		= msg->iov_count,
		.desc		= msg->desc,
		.context	= msg->context,
		.flags		= flags,
		.silent		= verbs_is_silent(&ep->kep.tx, flags),
	};
	int ret;

	if (flags & ~(ep->kep.limits->tx_flags & VERBS_READ_FLAGS))
		return -FI_EBADFLAGS;
	/* iWARP knows no fence in front of a read */
	if (flags & FI_FENCE && ep->iwarp)
		return -FI_EBADFLAGS;
	ret = verbs_rma_check(ep, msg);
	if (ret)
		return ret;
	op.addr = msg->rma_iov->addr;
	op.key = msg->rma_iov->key;
	return verbs_rma_post(ep, &op);
}

static ssize_t verbs_writemsg(struct fid_ep *fid_ep,
			      const struct fi_msg_rma *msg, u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	int ret;

	if (flags & ~ep->kep.limits->tx_flags)
		return -FI_EBADFLAGS;
	ret = verbs_rma_check(ep, msg);
	if (ret)
		return ret;
	flags = kofi_ep_flags(&ep->kep.tx, flags);
	if (likely(msg->type == FI_BUF_KVEC && msg->iov_count == 1))
		return verbs_write_one(ep, msg->msg_iov,
				       msg->desc ? *msg->desc : NULL,
				       msg->context, msg->data, flags,
				       msg->rma_iov);
	return verbs_write_list(ep, msg, msg->rma_iov, flags);
}

/* @flags: what the call stands for, beside the endpoint's defaults */
static __always_inline ssize_t verbs_write_as(struct verbs_ep *ep,
					      const void *buf, size_t len,
					      void *desc, void *context,
					      u64 data, u64 addr, u64 key,
					      u64 flags)
{
	const struct fi_rma_iov to = { addr, len, key };
	struct kvec kvec = { (void *)buf, len };
	u64 told = kofi_ep_flags(&ep->kep.tx, ep->kep.tx.op_flags);

	/* iWARP carries no immediate data */
	if (unlikely(flags & ~ep->kep.limits->tx_flags))
		return -ENOSYS;
	/* fi_inject_write() is never told of */
	if (flags & FI_INJECT)
		told &= ~FI_COMPLETION;
	return verbs_write_one(ep, &kvec, desc, context, data, flags | told, &to);
}

static ssize_t verbs_inject_write(struct fid_ep *fid_ep, const void *buf,
				  size_t len, fi_addr_t dest_addr, u64 addr,
				  u64 key)
{
	return verbs_write_as(to_verbs_ep(&fid_ep->fid), buf, len, NULL, NULL, 0,
			      addr, key, FI_INJECT);
}

static ssize_t verbs_writedata(struct fid_ep *fid_ep, const void *buf,
			       size_t len, void *desc, u64 data,
			       fi_addr_t dest_addr, u64 addr, u64 key,
			       void *context)
{
	return verbs_write_as(to_verbs_ep(&fid_ep->fid), buf, len, desc, context,
			      data, addr, key, FI_REMOTE_CQ_DATA);
}

static ssize_t verbs_inject_writedata(struct fid_ep *fid_ep, const void *buf,
				      size_t len, u64 data, fi_addr_t dest_addr,
				      u64 addr, u64 key)
{
	return verbs_write_as(to_verbs_ep(&fid_ep->fid), buf, len, NULL, NULL,
			      data, addr, key, FI_INJECT | FI_REMOTE_CQ_DATA);
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
