/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All data transfer calls of a provider, built on one function of the provider.
 *
 * To be included once, by the file of a provider that defines
 *
 *	static ssize_t kofi_xfer_post(struct kofi_ep *ep, const struct kofi_op *op);
 *
 * which is declared here.  This file has the tables kofi_xfer_msg_ops,
 * kofi_xfer_tagged_ops and kofi_xfer_rma_ops.  Their functions are compiled into the
 * provider, so that a client reaches kofi_xfer_post() by one indirect call.
 *
 * Flags: calls with an argument for flags, such as fi_sendmsg(), pass the client's flags.
 * All other calls pass the default flags of the endpoint, and the flags that their names
 * imply.  kofi_ep_flags() has added FI_COMPLETION where the
 * endpoint reports every success; fi_inject() and the like never have it.  A call whose
 * name implies a flag that the endpoint does not have returns -ENOSYS.
 * kofi_op_check() finds calls and flags that the endpoint does not have.
 */
#ifndef _KOFI_XFER_OPS_H
#define _KOFI_XFER_OPS_H

#include <linux/overflow.h>
#include <kofi/provider.h>
#include <kofi/xfer.h>

static ssize_t kofi_xfer_post(struct kofi_ep *ep, const struct kofi_op *op);

static inline struct kofi_ep *kofi_xfer_ep(struct fid_ep *ep)
{
	return container_of(ep, struct kofi_ep, ep);
}

static inline u64 kofi_xfer_rx_flags(const struct kofi_ep *ep)
{
	return kofi_ep_flags(&ep->rx, READ_ONCE(ep->rx.op_flags));
}

/* @flags: flags that the name of the call implies */
static inline u64 kofi_xfer_tx_flags(const struct kofi_ep *ep, u64 flags)
{
	u64 all = kofi_ep_flags(&ep->tx, READ_ONCE(ep->tx.op_flags)) | flags;

	return flags & FI_INJECT ? all & ~FI_COMPLETION : all;
}

/* Messages */

static ssize_t kofi_xfer_recv(struct fid_ep *fid_ep, void *buf, size_t len,
			      void *desc, fi_addr_t src_addr, void *context)
{
	const struct kvec kvec = { buf, len };
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op op = {
		.kind		= KOFI_OP_RECV,
		.list		= &kvec,
		.count		= 1,
		.desc		= &desc,
		.flags		= kofi_xfer_rx_flags(ep),
		.addr		= src_addr,
		.context	= context,
	};

	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_recvv(struct fid_ep *fid_ep, const struct kvec *iov,
			       void **desc, size_t count, fi_addr_t src_addr,
			       void *context)
{
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op op = {
		.kind		= KOFI_OP_RECV,
		.list		= iov,
		.count		= count,
		.desc		= desc,
		.flags		= kofi_xfer_rx_flags(ep),
		.addr		= src_addr,
		.context	= context,
	};

	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_recvmsg(struct fid_ep *fid_ep, const struct fi_msg *msg,
				 u64 flags)
{
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op op = {
		.kind		= KOFI_OP_RECV,
		.type		= msg->type,
		.list		= msg->msg_iov,
		.count		= msg->iov_count,
		.desc		= msg->desc,
		.flags		= kofi_ep_flags(&ep->rx, flags),
		.addr		= msg->addr,
		.context	= msg->context,
	};

	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_send_one(struct fid_ep *fid_ep, const void *buf,
				  size_t len, void *desc, u64 data,
				  fi_addr_t dest_addr, void *context, u64 flags)
{
	const struct kvec kvec = { (void *)buf, len };
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op op = {
		.kind		= KOFI_OP_SEND,
		.list		= &kvec,
		.count		= 1,
		.desc		= &desc,
		.flags		= kofi_xfer_tx_flags(ep, flags),
		.addr		= dest_addr,
		.context	= context,
		.data		= data,
	};

	if (flags & ~ep->limits->tx_flags)
		return kofi_op_refuse(ep, &op, -ENOSYS);
	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_send(struct fid_ep *ep, const void *buf, size_t len,
			      void *desc, fi_addr_t dest_addr, void *context)
{
	return kofi_xfer_send_one(ep, buf, len, desc, 0, dest_addr, context, 0);
}

static ssize_t kofi_xfer_sendv(struct fid_ep *fid_ep, const struct kvec *iov,
			       void **desc, size_t count, fi_addr_t dest_addr,
			       void *context)
{
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op op = {
		.kind		= KOFI_OP_SEND,
		.list		= iov,
		.count		= count,
		.desc		= desc,
		.flags		= kofi_xfer_tx_flags(ep, 0),
		.addr		= dest_addr,
		.context	= context,
	};

	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_sendmsg(struct fid_ep *fid_ep, const struct fi_msg *msg,
				 u64 flags)
{
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op op = {
		.kind		= KOFI_OP_SEND,
		.type		= msg->type,
		.list		= msg->msg_iov,
		.count		= msg->iov_count,
		.desc		= msg->desc,
		.flags		= kofi_ep_flags(&ep->tx, flags),
		.addr		= msg->addr,
		.context	= msg->context,
		.data		= msg->data,
	};

	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_inject(struct fid_ep *ep, const void *buf, size_t len,
				fi_addr_t dest_addr)
{
	return kofi_xfer_send_one(ep, buf, len, NULL, 0, dest_addr, NULL,
				  FI_INJECT);
}

static ssize_t kofi_xfer_senddata(struct fid_ep *ep, const void *buf, size_t len,
				  void *desc, u64 data, fi_addr_t dest_addr,
				  void *context)
{
	return kofi_xfer_send_one(ep, buf, len, desc, data, dest_addr, context,
				  FI_REMOTE_CQ_DATA);
}

static ssize_t kofi_xfer_injectdata(struct fid_ep *ep, const void *buf,
				    size_t len, u64 data, fi_addr_t dest_addr)
{
	return kofi_xfer_send_one(ep, buf, len, NULL, data, dest_addr, NULL,
				  FI_INJECT | FI_REMOTE_CQ_DATA);
}

static const struct fi_ops_msg kofi_xfer_msg_ops __maybe_unused = {
	.size		= sizeof(struct fi_ops_msg),
	.recv		= kofi_xfer_recv,
	.recvv		= kofi_xfer_recvv,
	.recvmsg	= kofi_xfer_recvmsg,
	.send		= kofi_xfer_send,
	.sendv		= kofi_xfer_sendv,
	.sendmsg	= kofi_xfer_sendmsg,
	.inject		= kofi_xfer_inject,
	.senddata	= kofi_xfer_senddata,
	.injectdata	= kofi_xfer_injectdata,
};

/* Tagged messages */

static ssize_t kofi_xfer_trecv(struct fid_ep *fid_ep, void *buf, size_t len,
			       void *desc, fi_addr_t src_addr, u64 tag,
			       u64 ignore, void *context)
{
	const struct kvec kvec = { buf, len };
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op op = {
		.kind		= KOFI_OP_TRECV,
		.list		= &kvec,
		.count		= 1,
		.desc		= &desc,
		.flags		= kofi_xfer_rx_flags(ep),
		.addr		= src_addr,
		.context	= context,
		.tag		= tag,
		.ignore		= ignore,
	};

	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_trecvv(struct fid_ep *fid_ep, const struct kvec *iov,
				void **desc, size_t count, fi_addr_t src_addr,
				u64 tag, u64 ignore, void *context)
{
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op op = {
		.kind		= KOFI_OP_TRECV,
		.list		= iov,
		.count		= count,
		.desc		= desc,
		.flags		= kofi_xfer_rx_flags(ep),
		.addr		= src_addr,
		.context	= context,
		.tag		= tag,
		.ignore		= ignore,
	};

	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_trecvmsg(struct fid_ep *fid_ep,
				  const struct fi_msg_tagged *msg, u64 flags)
{
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op op = {
		.kind		= KOFI_OP_TRECV,
		.type		= msg->type,
		.list		= msg->msg_iov,
		.count		= msg->iov_count,
		.desc		= msg->desc,
		.flags		= kofi_ep_flags(&ep->rx, flags),
		.addr		= msg->addr,
		.context	= msg->context,
		.tag		= msg->tag,
		.ignore		= msg->ignore,
	};

	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_tsend_one(struct fid_ep *fid_ep, const void *buf,
				   size_t len, void *desc, u64 data,
				   fi_addr_t dest_addr, u64 tag, void *context,
				   u64 flags)
{
	const struct kvec kvec = { (void *)buf, len };
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op op = {
		.kind		= KOFI_OP_TSEND,
		.list		= &kvec,
		.count		= 1,
		.desc		= &desc,
		.flags		= kofi_xfer_tx_flags(ep, flags),
		.addr		= dest_addr,
		.context	= context,
		.data		= data,
		.tag		= tag,
	};

	if (flags & ~ep->limits->tx_flags)
		return kofi_op_refuse(ep, &op, -ENOSYS);
	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_tsend(struct fid_ep *ep, const void *buf, size_t len,
			       void *desc, fi_addr_t dest_addr, u64 tag,
			       void *context)
{
	return kofi_xfer_tsend_one(ep, buf, len, desc, 0, dest_addr, tag,
				   context, 0);
}

static ssize_t kofi_xfer_tsendv(struct fid_ep *fid_ep, const struct kvec *iov,
				void **desc, size_t count, fi_addr_t dest_addr,
				u64 tag, void *context)
{
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op op = {
		.kind		= KOFI_OP_TSEND,
		.list		= iov,
		.count		= count,
		.desc		= desc,
		.flags		= kofi_xfer_tx_flags(ep, 0),
		.addr		= dest_addr,
		.context	= context,
		.tag		= tag,
	};

	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_tsendmsg(struct fid_ep *fid_ep,
				  const struct fi_msg_tagged *msg, u64 flags)
{
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op op = {
		.kind		= KOFI_OP_TSEND,
		.type		= msg->type,
		.list		= msg->msg_iov,
		.count		= msg->iov_count,
		.desc		= msg->desc,
		.flags		= kofi_ep_flags(&ep->tx, flags),
		.addr		= msg->addr,
		.context	= msg->context,
		.data		= msg->data,
		.tag		= msg->tag,
	};

	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_tinject(struct fid_ep *ep, const void *buf, size_t len,
				 fi_addr_t dest_addr, u64 tag)
{
	return kofi_xfer_tsend_one(ep, buf, len, NULL, 0, dest_addr, tag, NULL,
				   FI_INJECT);
}

static ssize_t kofi_xfer_tsenddata(struct fid_ep *ep, const void *buf,
				   size_t len, void *desc, u64 data,
				   fi_addr_t dest_addr, u64 tag, void *context)
{
	return kofi_xfer_tsend_one(ep, buf, len, desc, data, dest_addr, tag,
				   context, FI_REMOTE_CQ_DATA);
}

static ssize_t kofi_xfer_tinjectdata(struct fid_ep *ep, const void *buf,
				     size_t len, u64 data, fi_addr_t dest_addr,
				     u64 tag)
{
	return kofi_xfer_tsend_one(ep, buf, len, NULL, data, dest_addr, tag,
				   NULL, FI_INJECT | FI_REMOTE_CQ_DATA);
}

static const struct fi_ops_tagged kofi_xfer_tagged_ops __maybe_unused = {
	.size		= sizeof(struct fi_ops_tagged),
	.recv		= kofi_xfer_trecv,
	.recvv		= kofi_xfer_trecvv,
	.recvmsg	= kofi_xfer_trecvmsg,
	.send		= kofi_xfer_tsend,
	.sendv		= kofi_xfer_tsendv,
	.sendmsg	= kofi_xfer_tsendmsg,
	.inject		= kofi_xfer_tinject,
	.senddata	= kofi_xfer_tsenddata,
	.injectdata	= kofi_xfer_tinjectdata,
};

/* Remote memory access */

/* For calls with an address and a key: the remote memory is as long as the list */
static ssize_t kofi_xfer_rma(struct fid_ep *fid_ep, enum kofi_op_kind kind,
			     const struct kvec *iov, size_t count, void **desc,
			     u64 data, fi_addr_t peer, u64 addr, u64 key,
			     void *context, u64 flags)
{
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	struct fi_rma_iov rma = { .addr = addr, .key = key };
	const struct kofi_op op = {
		.kind		= kind,
		.list		= iov,
		.count		= count,
		.desc		= desc,
		.flags		= kofi_xfer_tx_flags(ep, flags) &
				  ~(kind == KOFI_OP_READ ? FI_INJECT : 0),
		.addr		= peer,
		.context	= context,
		.data		= data,
		.rma		= &rma,
		.remote_count	= 1,
	};
	size_t i;

	if (flags & ~ep->limits->tx_flags)
		return kofi_op_refuse(ep, &op, -ENOSYS);
	for (i = 0; i < count; i++)
		if (check_add_overflow(rma.len, iov[i].iov_len, &rma.len))
			return kofi_op_refuse(ep, &op, -EMSGSIZE);
	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_rmamsg(struct kofi_ep *ep, enum kofi_op_kind kind,
				const struct fi_msg_rma *msg, u64 flags)
{
	const struct kofi_op op = {
		.kind		= kind,
		.type		= msg->type,
		.list		= msg->msg_iov,
		.count		= msg->iov_count,
		.desc		= msg->desc,
		.flags		= kofi_ep_flags(&ep->tx, flags),
		.addr		= msg->addr,
		.context	= msg->context,
		.data		= msg->data,
		.rma		= msg->rma_iov,
		.remote_count	= msg->rma_iov_count,
	};

	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_read(struct fid_ep *ep, void *buf, size_t len,
			      void *desc, fi_addr_t src_addr, u64 addr, u64 key,
			      void *context)
{
	const struct kvec kvec = { buf, len };

	return kofi_xfer_rma(ep, KOFI_OP_READ, &kvec, 1, &desc, 0, src_addr,
			     addr, key, context, 0);
}

static ssize_t kofi_xfer_readv(struct fid_ep *ep, const struct kvec *iov,
			       void **desc, size_t count, fi_addr_t src_addr,
			       u64 addr, u64 key, void *context)
{
	return kofi_xfer_rma(ep, KOFI_OP_READ, iov, count, desc, 0, src_addr,
			     addr, key, context, 0);
}

static ssize_t kofi_xfer_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
				 u64 flags)
{
	return kofi_xfer_rmamsg(kofi_xfer_ep(ep), KOFI_OP_READ, msg, flags);
}

static ssize_t kofi_xfer_write_one(struct fid_ep *ep, const void *buf, size_t len,
				   void *desc, u64 data, fi_addr_t dest_addr,
				   u64 addr, u64 key, void *context, u64 flags)
{
	const struct kvec kvec = { (void *)buf, len };

	return kofi_xfer_rma(ep, KOFI_OP_WRITE, &kvec, 1, &desc, data,
			     dest_addr, addr, key, context, flags);
}

static ssize_t kofi_xfer_write(struct fid_ep *ep, const void *buf, size_t len,
			       void *desc, fi_addr_t dest_addr, u64 addr,
			       u64 key, void *context)
{
	return kofi_xfer_write_one(ep, buf, len, desc, 0, dest_addr, addr, key,
				   context, 0);
}

static ssize_t kofi_xfer_writev(struct fid_ep *ep, const struct kvec *iov,
				void **desc, size_t count, fi_addr_t dest_addr,
				u64 addr, u64 key, void *context)
{
	return kofi_xfer_rma(ep, KOFI_OP_WRITE, iov, count, desc, 0, dest_addr,
			     addr, key, context, 0);
}

static ssize_t kofi_xfer_writemsg(struct fid_ep *ep,
				  const struct fi_msg_rma *msg, u64 flags)
{
	return kofi_xfer_rmamsg(kofi_xfer_ep(ep), KOFI_OP_WRITE, msg, flags);
}

static ssize_t kofi_xfer_inject_write(struct fid_ep *ep, const void *buf,
				      size_t len, fi_addr_t dest_addr, u64 addr,
				      u64 key)
{
	return kofi_xfer_write_one(ep, buf, len, NULL, 0, dest_addr, addr, key,
				   NULL, FI_INJECT);
}

static ssize_t kofi_xfer_writedata(struct fid_ep *ep, const void *buf, size_t len,
				   void *desc, u64 data, fi_addr_t dest_addr,
				   u64 addr, u64 key, void *context)
{
	return kofi_xfer_write_one(ep, buf, len, desc, data, dest_addr, addr,
				   key, context, FI_REMOTE_CQ_DATA);
}

static ssize_t kofi_xfer_inject_writedata(struct fid_ep *ep, const void *buf,
					  size_t len, u64 data,
					  fi_addr_t dest_addr, u64 addr, u64 key)
{
	return kofi_xfer_write_one(ep, buf, len, NULL, data, dest_addr, addr,
				   key, NULL, FI_INJECT | FI_REMOTE_CQ_DATA);
}

static ssize_t kofi_xfer_sgl(struct fid_ep *fid_ep, enum kofi_op_kind kind,
			     struct scatterlist *sgl, unsigned int nents,
			     size_t offset, size_t len, fi_addr_t peer,
			     u64 addr, u64 key, void *context, u64 flags)
{
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct fi_rma_iov rma = { .addr = addr, .len = len, .key = key };
	const struct kofi_op op = {
		.kind		= kind,
		.type		= FI_BUF_SGL,
		.list		= sgl,
		.count		= nents,
		.any_length	= true,
		.offset		= offset,
		.flags		= kofi_ep_flags(&ep->tx, flags),
		.addr		= peer,
		.context	= context,
		.rma		= &rma,
		.remote_count	= 1,
	};

	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_readsgl(struct fid_ep *ep, struct scatterlist *sgl,
				 unsigned int nents, size_t offset, size_t len,
				 fi_addr_t src_addr, u64 addr, u64 key,
				 void *context, u64 flags)
{
	return kofi_xfer_sgl(ep, KOFI_OP_READ, sgl, nents, offset, len,
			     src_addr, addr, key, context, flags);
}

static ssize_t kofi_xfer_writesgl(struct fid_ep *ep, struct scatterlist *sgl,
				  unsigned int nents, size_t offset, size_t len,
				  fi_addr_t dest_addr, u64 addr, u64 key,
				  void *context, u64 flags)
{
	return kofi_xfer_sgl(ep, KOFI_OP_WRITE, sgl, nents, offset, len,
			     dest_addr, addr, key, context, flags);
}

static const struct fi_ops_rma kofi_xfer_rma_ops __maybe_unused = {
	.size		= sizeof(struct fi_ops_rma),
	.read		= kofi_xfer_read,
	.readv		= kofi_xfer_readv,
	.readmsg	= kofi_xfer_readmsg,
	.write		= kofi_xfer_write,
	.writev		= kofi_xfer_writev,
	.writemsg	= kofi_xfer_writemsg,
	.inject		= kofi_xfer_inject_write,
	.writedata	= kofi_xfer_writedata,
	.injectdata	= kofi_xfer_inject_writedata,
	.readsgl	= kofi_xfer_readsgl,
	.writesgl	= kofi_xfer_writesgl,
};

#endif /* _KOFI_XFER_OPS_H */
