// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Hooks: data transfers, each forwarded to the lower endpoint.
 *
 * Buffers, descriptors, addresses, keys and contexts concern only the client and the lower
 * provider; nothing in them has to be translated.  The functions run in any context, as the
 * calls themselves.
 */
#include <linux/module.h>
#include "hook.h"

static ssize_t hook_msg_recv(struct fid_ep *ep, void *buf, size_t len,
			     void *desc, fi_addr_t src_addr, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->msg->recv(lower, buf, len, desc, src_addr, context);
}

static ssize_t hook_msg_recvv(struct fid_ep *ep, const struct kvec *iov,
			      void **desc, size_t count, fi_addr_t src_addr,
			      void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->msg->recvv(lower, iov, desc, count, src_addr, context);
}

static ssize_t hook_msg_recvmsg(struct fid_ep *ep, const struct fi_msg *msg,
				u64 flags)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->msg->recvmsg(lower, msg, flags);
}

static ssize_t hook_msg_send(struct fid_ep *ep, const void *buf, size_t len,
			     void *desc, fi_addr_t dest_addr, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->msg->send(lower, buf, len, desc, dest_addr, context);
}

static ssize_t hook_msg_sendv(struct fid_ep *ep, const struct kvec *iov,
			      void **desc, size_t count, fi_addr_t dest_addr,
			      void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->msg->sendv(lower, iov, desc, count, dest_addr, context);
}

static ssize_t hook_msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg,
				u64 flags)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->msg->sendmsg(lower, msg, flags);
}

static ssize_t hook_msg_inject(struct fid_ep *ep, const void *buf, size_t len,
			       fi_addr_t dest_addr)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->msg->inject(lower, buf, len, dest_addr);
}

static ssize_t hook_msg_senddata(struct fid_ep *ep, const void *buf, size_t len,
				 void *desc, u64 data, fi_addr_t dest_addr,
				 void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->msg->senddata(lower, buf, len, desc, data, dest_addr,
				    context);
}

static ssize_t hook_msg_injectdata(struct fid_ep *ep, const void *buf,
				   size_t len, u64 data, fi_addr_t dest_addr)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->msg->injectdata(lower, buf, len, data, dest_addr);
}

HOOK_ALL_CALLS(fi_ops_msg, 9);
const struct fi_ops_msg kofi_hook_msg = {
	.size		= sizeof(struct fi_ops_msg),
	.recv		= hook_msg_recv,
	.recvv		= hook_msg_recvv,
	.recvmsg	= hook_msg_recvmsg,
	.send		= hook_msg_send,
	.sendv		= hook_msg_sendv,
	.sendmsg	= hook_msg_sendmsg,
	.inject		= hook_msg_inject,
	.senddata	= hook_msg_senddata,
	.injectdata	= hook_msg_injectdata,
};
EXPORT_SYMBOL_GPL(kofi_hook_msg);

static ssize_t hook_rma_read(struct fid_ep *ep, void *buf, size_t len,
			     void *desc, fi_addr_t src_addr, u64 addr, u64 key,
			     void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->rma->read(lower, buf, len, desc, src_addr, addr, key,
				context);
}

static ssize_t hook_rma_readv(struct fid_ep *ep, const struct kvec *iov,
			      void **desc, size_t count, fi_addr_t src_addr,
			      u64 addr, u64 key, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->rma->readv(lower, iov, desc, count, src_addr, addr, key,
				 context);
}

static ssize_t hook_rma_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
				u64 flags)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->rma->readmsg(lower, msg, flags);
}

static ssize_t hook_rma_write(struct fid_ep *ep, const void *buf, size_t len,
			      void *desc, fi_addr_t dest_addr, u64 addr,
			      u64 key, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->rma->write(lower, buf, len, desc, dest_addr, addr, key,
				 context);
}

static ssize_t hook_rma_writev(struct fid_ep *ep, const struct kvec *iov,
			       void **desc, size_t count, fi_addr_t dest_addr,
			       u64 addr, u64 key, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->rma->writev(lower, iov, desc, count, dest_addr, addr, key,
				  context);
}

static ssize_t hook_rma_writemsg(struct fid_ep *ep,
				 const struct fi_msg_rma *msg, u64 flags)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->rma->writemsg(lower, msg, flags);
}

static ssize_t hook_rma_inject(struct fid_ep *ep, const void *buf, size_t len,
			       fi_addr_t dest_addr, u64 addr, u64 key)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->rma->inject(lower, buf, len, dest_addr, addr, key);
}

static ssize_t hook_rma_writedata(struct fid_ep *ep, const void *buf,
				  size_t len, void *desc, u64 data,
				  fi_addr_t dest_addr, u64 addr, u64 key,
				  void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->rma->writedata(lower, buf, len, desc, data, dest_addr,
				     addr, key, context);
}

static ssize_t hook_rma_injectdata(struct fid_ep *ep, const void *buf,
				   size_t len, u64 data, fi_addr_t dest_addr,
				   u64 addr, u64 key)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->rma->injectdata(lower, buf, len, data, dest_addr, addr,
				      key);
}

static ssize_t hook_rma_readsgl(struct fid_ep *ep, struct scatterlist *sgl,
				unsigned int nents, size_t offset, size_t len,
				fi_addr_t src_addr, u64 addr, u64 key,
				void *context, u64 flags)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->rma->readsgl(lower, sgl, nents, offset, len, src_addr,
				   addr, key, context, flags);
}

static ssize_t hook_rma_writesgl(struct fid_ep *ep, struct scatterlist *sgl,
				 unsigned int nents, size_t offset, size_t len,
				 fi_addr_t dest_addr, u64 addr, u64 key,
				 void *context, u64 flags)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->rma->writesgl(lower, sgl, nents, offset, len, dest_addr,
				    addr, key, context, flags);
}

HOOK_ALL_CALLS(fi_ops_rma, 11);
const struct fi_ops_rma kofi_hook_rma = {
	.size		= sizeof(struct fi_ops_rma),
	.read		= hook_rma_read,
	.readv		= hook_rma_readv,
	.readmsg	= hook_rma_readmsg,
	.write		= hook_rma_write,
	.writev		= hook_rma_writev,
	.writemsg	= hook_rma_writemsg,
	.inject		= hook_rma_inject,
	.writedata	= hook_rma_writedata,
	.injectdata	= hook_rma_injectdata,
	.readsgl	= hook_rma_readsgl,
	.writesgl	= hook_rma_writesgl,
};
EXPORT_SYMBOL_GPL(kofi_hook_rma);

static ssize_t hook_tagged_recv(struct fid_ep *ep, void *buf, size_t len,
				void *desc, fi_addr_t src_addr, u64 tag,
				u64 ignore, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->tagged->recv(lower, buf, len, desc, src_addr, tag, ignore,
				   context);
}

static ssize_t hook_tagged_recvv(struct fid_ep *ep, const struct kvec *iov,
				 void **desc, size_t count, fi_addr_t src_addr,
				 u64 tag, u64 ignore, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->tagged->recvv(lower, iov, desc, count, src_addr, tag,
				    ignore, context);
}

static ssize_t hook_tagged_recvmsg(struct fid_ep *ep,
				   const struct fi_msg_tagged *msg, u64 flags)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->tagged->recvmsg(lower, msg, flags);
}

static ssize_t hook_tagged_send(struct fid_ep *ep, const void *buf, size_t len,
				void *desc, fi_addr_t dest_addr, u64 tag,
				void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->tagged->send(lower, buf, len, desc, dest_addr, tag,
				   context);
}

static ssize_t hook_tagged_sendv(struct fid_ep *ep, const struct kvec *iov,
				 void **desc, size_t count, fi_addr_t dest_addr,
				 u64 tag, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->tagged->sendv(lower, iov, desc, count, dest_addr, tag,
				    context);
}

static ssize_t hook_tagged_sendmsg(struct fid_ep *ep,
				   const struct fi_msg_tagged *msg, u64 flags)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->tagged->sendmsg(lower, msg, flags);
}

static ssize_t hook_tagged_inject(struct fid_ep *ep, const void *buf,
				  size_t len, fi_addr_t dest_addr, u64 tag)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->tagged->inject(lower, buf, len, dest_addr, tag);
}

static ssize_t hook_tagged_senddata(struct fid_ep *ep, const void *buf,
				    size_t len, void *desc, u64 data,
				    fi_addr_t dest_addr, u64 tag, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->tagged->senddata(lower, buf, len, desc, data, dest_addr,
				       tag, context);
}

static ssize_t hook_tagged_injectdata(struct fid_ep *ep, const void *buf,
				      size_t len, u64 data, fi_addr_t dest_addr,
				      u64 tag)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->tagged->injectdata(lower, buf, len, data, dest_addr, tag);
}

HOOK_ALL_CALLS(fi_ops_tagged, 9);
const struct fi_ops_tagged kofi_hook_tagged = {
	.size		= sizeof(struct fi_ops_tagged),
	.recv		= hook_tagged_recv,
	.recvv		= hook_tagged_recvv,
	.recvmsg	= hook_tagged_recvmsg,
	.send		= hook_tagged_send,
	.sendv		= hook_tagged_sendv,
	.sendmsg	= hook_tagged_sendmsg,
	.inject		= hook_tagged_inject,
	.senddata	= hook_tagged_senddata,
	.injectdata	= hook_tagged_injectdata,
};
EXPORT_SYMBOL_GPL(kofi_hook_tagged);

static ssize_t hook_atomic_write(struct fid_ep *ep, const void *buf,
				 size_t count, void *desc, fi_addr_t dest_addr,
				 u64 addr, u64 key, enum fi_datatype datatype,
				 enum fi_op op, void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->atomic->write(lower, buf, count, desc, dest_addr, addr,
				    key, datatype, op, context);
}

static ssize_t hook_atomic_writemsg(struct fid_ep *ep,
				    const struct fi_msg_atomic *msg, u64 flags)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->atomic->writemsg(lower, msg, flags);
}

static ssize_t hook_atomic_inject(struct fid_ep *ep, const void *buf,
				  size_t count, fi_addr_t dest_addr, u64 addr,
				  u64 key, enum fi_datatype datatype,
				  enum fi_op op)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->atomic->inject(lower, buf, count, dest_addr, addr, key,
				     datatype, op);
}

static ssize_t hook_atomic_writev(struct fid_ep *ep, const struct fi_ioc *iov,
				  void **desc, size_t count,
				  fi_addr_t dest_addr, u64 addr, u64 key,
				  enum fi_datatype datatype, enum fi_op op,
				  void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->atomic->writev(lower, iov, desc, count, dest_addr, addr,
				     key, datatype, op, context);
}

static ssize_t hook_atomic_readwrite(struct fid_ep *ep, const void *buf,
				     size_t count, void *desc, void *result,
				     void *result_desc, fi_addr_t dest_addr,
				     u64 addr, u64 key,
				     enum fi_datatype datatype, enum fi_op op,
				     void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->atomic->readwrite(lower, buf, count, desc, result,
					result_desc, dest_addr, addr, key,
					datatype, op, context);
}

static ssize_t hook_atomic_readwritev(struct fid_ep *ep,
				      const struct fi_ioc *iov, void **desc,
				      size_t count, struct fi_ioc *resultv,
				      void **result_desc, size_t result_count,
				      fi_addr_t dest_addr, u64 addr, u64 key,
				      enum fi_datatype datatype, enum fi_op op,
				      void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->atomic->readwritev(lower, iov, desc, count, resultv,
					 result_desc, result_count, dest_addr,
					 addr, key, datatype, op, context);
}

static ssize_t hook_atomic_readwritemsg(struct fid_ep *ep,
					const struct fi_msg_atomic *msg,
					struct fi_ioc *resultv,
					void **result_desc,
					size_t result_count, u64 flags)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->atomic->readwritemsg(lower, msg, resultv, result_desc,
					   result_count, flags);
}

static ssize_t hook_atomic_compwritev(struct fid_ep *ep,
				      const struct fi_ioc *iov, void **desc,
				      size_t count,
				      const struct fi_ioc *comparev,
				      void **compare_desc, size_t compare_count,
				      struct fi_ioc *resultv,
				      void **result_desc, size_t result_count,
				      fi_addr_t dest_addr, u64 addr, u64 key,
				      enum fi_datatype datatype, enum fi_op op,
				      void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->atomic->compwritev(lower, iov, desc, count, comparev,
					 compare_desc, compare_count, resultv,
					 result_desc, result_count, dest_addr,
					 addr, key, datatype, op, context);
}

static ssize_t hook_atomic_compwritemsg(struct fid_ep *ep,
					const struct fi_msg_atomic *msg,
					const struct fi_ioc *comparev,
					void **compare_desc,
					size_t compare_count,
					struct fi_ioc *resultv,
					void **result_desc,
					size_t result_count, u64 flags)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->atomic->compwritemsg(lower, msg, comparev, compare_desc,
					   compare_count, resultv, result_desc,
					   result_count, flags);
}

static ssize_t hook_atomic_compwrite(struct fid_ep *ep, const void *buf,
				     size_t count, void *desc,
				     const void *compare, void *compare_desc,
				     void *result, void *result_desc,
				     fi_addr_t dest_addr, u64 addr, u64 key,
				     enum fi_datatype datatype, enum fi_op op,
				     void *context)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->atomic->compwrite(lower, buf, count, desc, compare,
					compare_desc, result, result_desc,
					dest_addr, addr, key, datatype, op,
					context);
}

static int hook_atomic_writevalid(struct fid_ep *ep, enum fi_datatype datatype,
				  enum fi_op op, size_t *count)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->atomic->writevalid(lower, datatype, op, count);
}

static int hook_atomic_readwritevalid(struct fid_ep *ep,
				      enum fi_datatype datatype, enum fi_op op,
				      size_t *count)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->atomic->readwritevalid(lower, datatype, op, count);
}

static int hook_atomic_compwritevalid(struct fid_ep *ep,
				      enum fi_datatype datatype, enum fi_op op,
				      size_t *count)
{
	struct fid_ep *lower = kofi_hook_lower_ep(ep);

	return lower->atomic->compwritevalid(lower, datatype, op, count);
}

HOOK_ALL_CALLS(fi_ops_atomic, 13);
const struct fi_ops_atomic kofi_hook_atomic = {
	.size		= sizeof(struct fi_ops_atomic),
	.write		= hook_atomic_write,
	.writev		= hook_atomic_writev,
	.writemsg	= hook_atomic_writemsg,
	.inject		= hook_atomic_inject,
	.readwrite	= hook_atomic_readwrite,
	.readwritev	= hook_atomic_readwritev,
	.readwritemsg	= hook_atomic_readwritemsg,
	.compwrite	= hook_atomic_compwrite,
	.compwritev	= hook_atomic_compwritev,
	.compwritemsg	= hook_atomic_compwritemsg,
	.writevalid	= hook_atomic_writevalid,
	.readwritevalid	= hook_atomic_readwritevalid,
	.compwritevalid	= hook_atomic_compwritevalid,
};
EXPORT_SYMBOL_GPL(kofi_hook_atomic);
