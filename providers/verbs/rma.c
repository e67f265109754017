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

static noinline ssize_t verbs_read_buf(struct fid_ep *fid_ep, void *buf,
				       size_t len, void *desc, u64 addr, u64 key,
				       void *context)
{
	struct kvec kvec = { buf, len };

	return verbs_readv(fid_ep, &kvec, &desc, 1, 0, addr, key, context);
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
	if (unlikely(key > U32_MAX || !ep->may_read ||
		     !verbs_fast_begin(ep, &ep->tx, buf, len, desc,
				       DMA_FROM_DEVICE, &sge, &slot))) {
		verbs_device_release();
		return verbs_read_buf(fid_ep, buf, len, desc, addr, key, context);
	}
	ret = verbs_fast_rdma(ep, IB_WR_RDMA_READ, slot, &sge, len, context,
			      addr, key);
	verbs_device_release();
	return ret;
}

/* @flags: with FI_COMPLETION if success is reported */
static ssize_t verbs_write_list(struct verbs_ep *ep, const struct fi_msg_rma *msg,
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

/* @flags: what the call stands for, beside the endpoint's defaults */
static noinline ssize_t verbs_write_buf(struct verbs_ep *ep, const void *buf,
					size_t len, void *desc, void *context,
					u64 data, u64 addr, u64 key, u64 flags)
{
	const struct fi_rma_iov to = { addr, len, key };
	struct kvec kvec = { (void *)buf, len };
	const struct fi_msg_rma msg = {
		.msg_iov	= &kvec,
		.iov_count	= 1,
		.desc		= &desc,
		.context	= context,
		.data		= data,
	};
	u64 told = kofi_ep_flags(&ep->kep.tx, ep->kep.tx.op_flags);

	/* iWARP carries no immediate data */
	if (unlikely(flags & ~ep->kep.limits->tx_flags))
		return -ENOSYS;
	/* fi_inject_write() is never told of */
	if (flags & FI_INJECT)
		told &= ~FI_COMPLETION;
	return verbs_write_list(ep, &msg, &to, flags | told);
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
	if (unlikely(key > U32_MAX ||
		     !verbs_fast_begin(ep, &ep->tx, buf, len, desc,
				       DMA_TO_DEVICE, &sge, &slot))) {
		verbs_device_release();
		return verbs_write_buf(ep, buf, len, desc, context, 0, addr, key,
				       0);
	}
	ret = verbs_fast_rdma(ep, IB_WR_RDMA_WRITE, slot, &sge, len, context,
			      addr, key);
	verbs_device_release();
	return ret;
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
	return verbs_write_list(ep, msg, msg->rma_iov,
				kofi_ep_flags(&ep->kep.tx, flags));
}

static ssize_t verbs_inject_write(struct fid_ep *fid_ep, const void *buf,
				  size_t len, fi_addr_t dest_addr, u64 addr,
				  u64 key)
{
	return verbs_write_buf(to_verbs_ep(&fid_ep->fid), buf, len, NULL, NULL,
			       0, addr, key, FI_INJECT);
}

static ssize_t verbs_writedata(struct fid_ep *fid_ep, const void *buf,
			       size_t len, void *desc, u64 data,
			       fi_addr_t dest_addr, u64 addr, u64 key,
			       void *context)
{
	return verbs_write_buf(to_verbs_ep(&fid_ep->fid), buf, len, desc,
			       context, data, addr, key, FI_REMOTE_CQ_DATA);
}

static ssize_t verbs_inject_writedata(struct fid_ep *fid_ep, const void *buf,
				      size_t len, u64 data, fi_addr_t dest_addr,
				      u64 addr, u64 key)
{
	return verbs_write_buf(to_verbs_ep(&fid_ep->fid), buf, len, NULL, NULL,
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
