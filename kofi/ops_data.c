// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The fillers of an endpoint's data transfer tables, see ops.c.
 *
 * An endpoint that has a capability can easily have all of its calls, and an endpoint
 * that does not have it uses the whole table of fillers.  Only messages have single
 * fillers, because their tables are mixed: a shared receive context only receives, and an
 * endpoint that is bound to one only sends.
 */
#include <linux/module.h>
#include "kofi.h"

/* Refuses an operation that an endpoint without the capability does not have */
static int kofi_no_transfer(const char *call, const struct fid *fid, const char *cap)
{
	return kofi_refuse(call, -ENOSYS, "the %s does not have this call: it needs %s in info->caps, and a provider with it",
			   fid ? kofi_class_name(fid->fclass) : "endpoint", cap);
}

/* Messages */

ssize_t fi_no_msg_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
		       fi_addr_t src_addr, void *context)
{
	return kofi_no_transfer("recv", &ep->fid, "FI_MSG");
}
EXPORT_SYMBOL_GPL(fi_no_msg_recv);

ssize_t fi_no_msg_recvv(struct fid_ep *ep, const struct kvec *iov, void **desc,
			size_t count, fi_addr_t src_addr, void *context)
{
	return kofi_no_transfer("recvv", &ep->fid, "FI_MSG");
}
EXPORT_SYMBOL_GPL(fi_no_msg_recvv);

ssize_t fi_no_msg_recvmsg(struct fid_ep *ep, const struct fi_msg *msg,
			  u64 flags)
{
	return kofi_no_transfer("recvmsg", &ep->fid, "FI_MSG");
}
EXPORT_SYMBOL_GPL(fi_no_msg_recvmsg);

ssize_t fi_no_msg_send(struct fid_ep *ep, const void *buf, size_t len,
		       void *desc, fi_addr_t dest_addr, void *context)
{
	return kofi_no_transfer("send", &ep->fid, "FI_MSG");
}
EXPORT_SYMBOL_GPL(fi_no_msg_send);

ssize_t fi_no_msg_sendv(struct fid_ep *ep, const struct kvec *iov, void **desc,
			size_t count, fi_addr_t dest_addr, void *context)
{
	return kofi_no_transfer("sendv", &ep->fid, "FI_MSG");
}
EXPORT_SYMBOL_GPL(fi_no_msg_sendv);

ssize_t fi_no_msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg,
			  u64 flags)
{
	return kofi_no_transfer("sendmsg", &ep->fid, "FI_MSG");
}
EXPORT_SYMBOL_GPL(fi_no_msg_sendmsg);

ssize_t fi_no_msg_inject(struct fid_ep *ep, const void *buf, size_t len,
			 fi_addr_t dest_addr)
{
	return kofi_no_transfer("inject", &ep->fid, "FI_MSG");
}
EXPORT_SYMBOL_GPL(fi_no_msg_inject);

ssize_t fi_no_msg_senddata(struct fid_ep *ep, const void *buf, size_t len,
			   void *desc, u64 data, fi_addr_t dest_addr,
			   void *context)
{
	return kofi_no_transfer("senddata", &ep->fid, "FI_MSG");
}
EXPORT_SYMBOL_GPL(fi_no_msg_senddata);

ssize_t fi_no_msg_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			     u64 data, fi_addr_t dest_addr)
{
	return kofi_no_transfer("injectdata", &ep->fid, "FI_MSG");
}
EXPORT_SYMBOL_GPL(fi_no_msg_injectdata);

const struct fi_ops_msg kofi_no_ops_msg = {
	.size		= sizeof(struct fi_ops_msg),
	.recv		= fi_no_msg_recv,
	.recvv		= fi_no_msg_recvv,
	.recvmsg	= fi_no_msg_recvmsg,
	.send		= fi_no_msg_send,
	.sendv		= fi_no_msg_sendv,
	.sendmsg	= fi_no_msg_sendmsg,
	.inject		= fi_no_msg_inject,
	.senddata	= fi_no_msg_senddata,
	.injectdata	= fi_no_msg_injectdata,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_msg);

/* Remote memory access */

static ssize_t kofi_no_rma_read(struct fid_ep *ep, void *buf, size_t len,
				void *desc, fi_addr_t src_addr, u64 addr,
				u64 key, void *context)
{
	return kofi_no_transfer("read", &ep->fid, "FI_RMA");
}

static ssize_t kofi_no_rma_readv(struct fid_ep *ep, const struct kvec *iov,
				 void **desc, size_t count, fi_addr_t src_addr,
				 u64 addr, u64 key, void *context)
{
	return kofi_no_transfer("readv", &ep->fid, "FI_RMA");
}

static ssize_t kofi_no_rma_readmsg(struct fid_ep *ep,
				   const struct fi_msg_rma *msg, u64 flags)
{
	return kofi_no_transfer("readmsg", &ep->fid, "FI_RMA");
}

static ssize_t kofi_no_rma_write(struct fid_ep *ep, const void *buf, size_t len,
				 void *desc, fi_addr_t dest_addr, u64 addr,
				 u64 key, void *context)
{
	return kofi_no_transfer("write", &ep->fid, "FI_RMA");
}

static ssize_t kofi_no_rma_writev(struct fid_ep *ep, const struct kvec *iov,
				  void **desc, size_t count,
				  fi_addr_t dest_addr, u64 addr, u64 key,
				  void *context)
{
	return kofi_no_transfer("writev", &ep->fid, "FI_RMA");
}

static ssize_t kofi_no_rma_writemsg(struct fid_ep *ep,
				    const struct fi_msg_rma *msg, u64 flags)
{
	return kofi_no_transfer("writemsg", &ep->fid, "FI_RMA");
}

static ssize_t kofi_no_rma_inject(struct fid_ep *ep, const void *buf,
				  size_t len, fi_addr_t dest_addr, u64 addr,
				  u64 key)
{
	return kofi_no_transfer("inject_write", &ep->fid, "FI_RMA");
}

static ssize_t kofi_no_rma_writedata(struct fid_ep *ep, const void *buf,
				     size_t len, void *desc, u64 data,
				     fi_addr_t dest_addr, u64 addr, u64 key,
				     void *context)
{
	return kofi_no_transfer("writedata", &ep->fid, "FI_RMA");
}

static ssize_t kofi_no_rma_injectdata(struct fid_ep *ep, const void *buf,
				      size_t len, u64 data, fi_addr_t dest_addr,
				      u64 addr, u64 key)
{
	return kofi_no_transfer("inject_writedata", &ep->fid, "FI_RMA");
}

static ssize_t kofi_no_rma_sgl(struct fid_ep *ep, struct scatterlist *sgl,
			       unsigned int nents, size_t offset, size_t len,
			       fi_addr_t addr, u64 remote_addr, u64 key,
			       void *context, u64 flags)
{
	return kofi_no_transfer("readsgl or writesgl", &ep->fid, "FI_RMA");
}

const struct fi_ops_rma kofi_no_ops_rma = {
	.size		= sizeof(struct fi_ops_rma),
	.read		= kofi_no_rma_read,
	.readv		= kofi_no_rma_readv,
	.readmsg	= kofi_no_rma_readmsg,
	.write		= kofi_no_rma_write,
	.writev		= kofi_no_rma_writev,
	.writemsg	= kofi_no_rma_writemsg,
	.inject		= kofi_no_rma_inject,
	.writedata	= kofi_no_rma_writedata,
	.injectdata	= kofi_no_rma_injectdata,
	.readsgl	= kofi_no_rma_sgl,
	.writesgl	= kofi_no_rma_sgl,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_rma);

/* Tagged messages */

static ssize_t kofi_no_tagged_recv(struct fid_ep *ep, void *buf, size_t len,
				   void *desc, fi_addr_t src_addr, u64 tag,
				   u64 ignore, void *context)
{
	return kofi_no_transfer("trecv", &ep->fid, "FI_TAGGED");
}

static ssize_t kofi_no_tagged_recvv(struct fid_ep *ep, const struct kvec *iov,
				    void **desc, size_t count,
				    fi_addr_t src_addr, u64 tag, u64 ignore,
				    void *context)
{
	return kofi_no_transfer("trecvv", &ep->fid, "FI_TAGGED");
}

static ssize_t kofi_no_tagged_recvmsg(struct fid_ep *ep,
				      const struct fi_msg_tagged *msg,
				      u64 flags)
{
	return kofi_no_transfer("trecvmsg", &ep->fid, "FI_TAGGED");
}

static ssize_t kofi_no_tagged_send(struct fid_ep *ep, const void *buf,
				   size_t len, void *desc, fi_addr_t dest_addr,
				   u64 tag, void *context)
{
	return kofi_no_transfer("tsend", &ep->fid, "FI_TAGGED");
}

static ssize_t kofi_no_tagged_sendv(struct fid_ep *ep, const struct kvec *iov,
				    void **desc, size_t count,
				    fi_addr_t dest_addr, u64 tag, void *context)
{
	return kofi_no_transfer("tsendv", &ep->fid, "FI_TAGGED");
}

static ssize_t kofi_no_tagged_sendmsg(struct fid_ep *ep,
				      const struct fi_msg_tagged *msg,
				      u64 flags)
{
	return kofi_no_transfer("tsendmsg", &ep->fid, "FI_TAGGED");
}

static ssize_t kofi_no_tagged_inject(struct fid_ep *ep, const void *buf,
				     size_t len, fi_addr_t dest_addr, u64 tag)
{
	return kofi_no_transfer("tinject", &ep->fid, "FI_TAGGED");
}

static ssize_t kofi_no_tagged_senddata(struct fid_ep *ep, const void *buf,
				       size_t len, void *desc, u64 data,
				       fi_addr_t dest_addr, u64 tag,
				       void *context)
{
	return kofi_no_transfer("tsenddata", &ep->fid, "FI_TAGGED");
}

static ssize_t kofi_no_tagged_injectdata(struct fid_ep *ep, const void *buf,
					 size_t len, u64 data,
					 fi_addr_t dest_addr, u64 tag)
{
	return kofi_no_transfer("tinjectdata", &ep->fid, "FI_TAGGED");
}

const struct fi_ops_tagged kofi_no_ops_tagged = {
	.size		= sizeof(struct fi_ops_tagged),
	.recv		= kofi_no_tagged_recv,
	.recvv		= kofi_no_tagged_recvv,
	.recvmsg	= kofi_no_tagged_recvmsg,
	.send		= kofi_no_tagged_send,
	.sendv		= kofi_no_tagged_sendv,
	.sendmsg	= kofi_no_tagged_sendmsg,
	.inject		= kofi_no_tagged_inject,
	.senddata	= kofi_no_tagged_senddata,
	.injectdata	= kofi_no_tagged_injectdata,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_tagged);

/* Atomic operations */

static ssize_t kofi_no_atomic_write(struct fid_ep *ep, const void *buf,
				    size_t count, void *desc,
				    fi_addr_t dest_addr, u64 addr, u64 key,
				    enum fi_datatype datatype, enum fi_op op,
				    void *context)
{
	return kofi_no_transfer("atomic", &ep->fid, "FI_ATOMIC");
}

static ssize_t kofi_no_atomic_writev(struct fid_ep *ep,
				     const struct fi_ioc *iov, void **desc,
				     size_t count, fi_addr_t dest_addr,
				     u64 addr, u64 key,
				     enum fi_datatype datatype, enum fi_op op,
				     void *context)
{
	return kofi_no_transfer("atomicv", &ep->fid, "FI_ATOMIC");
}

static ssize_t kofi_no_atomic_writemsg(struct fid_ep *ep,
				       const struct fi_msg_atomic *msg,
				       u64 flags)
{
	return kofi_no_transfer("atomicmsg", &ep->fid, "FI_ATOMIC");
}

static ssize_t kofi_no_atomic_inject(struct fid_ep *ep, const void *buf,
				     size_t count, fi_addr_t dest_addr,
				     u64 addr, u64 key,
				     enum fi_datatype datatype, enum fi_op op)
{
	return kofi_no_transfer("inject_atomic", &ep->fid, "FI_ATOMIC");
}

static ssize_t kofi_no_atomic_readwrite(struct fid_ep *ep, const void *buf,
					size_t count, void *desc, void *result,
					void *result_desc, fi_addr_t dest_addr,
					u64 addr, u64 key,
					enum fi_datatype datatype,
					enum fi_op op, void *context)
{
	return kofi_no_transfer("fetch_atomic", &ep->fid, "FI_ATOMIC");
}

static ssize_t kofi_no_atomic_readwritev(struct fid_ep *ep,
					 const struct fi_ioc *iov, void **desc,
					 size_t count, struct fi_ioc *resultv,
					 void **result_desc,
					 size_t result_count,
					 fi_addr_t dest_addr, u64 addr, u64 key,
					 enum fi_datatype datatype,
					 enum fi_op op, void *context)
{
	return kofi_no_transfer("fetch_atomicv", &ep->fid, "FI_ATOMIC");
}

static ssize_t kofi_no_atomic_readwritemsg(struct fid_ep *ep,
					   const struct fi_msg_atomic *msg,
					   struct fi_ioc *resultv,
					   void **result_desc,
					   size_t result_count, u64 flags)
{
	return kofi_no_transfer("fetch_atomicmsg", &ep->fid, "FI_ATOMIC");
}

static ssize_t kofi_no_atomic_compwrite(struct fid_ep *ep, const void *buf,
					size_t count, void *desc,
					const void *compare, void *compare_desc,
					void *result, void *result_desc,
					fi_addr_t dest_addr, u64 addr, u64 key,
					enum fi_datatype datatype,
					enum fi_op op, void *context)
{
	return kofi_no_transfer("compare_atomic", &ep->fid, "FI_ATOMIC");
}

static ssize_t kofi_no_atomic_compwritev(struct fid_ep *ep,
					 const struct fi_ioc *iov, void **desc,
					 size_t count,
					 const struct fi_ioc *comparev,
					 void **compare_desc,
					 size_t compare_count,
					 struct fi_ioc *resultv,
					 void **result_desc,
					 size_t result_count,
					 fi_addr_t dest_addr, u64 addr, u64 key,
					 enum fi_datatype datatype,
					 enum fi_op op, void *context)
{
	return kofi_no_transfer("compare_atomicv", &ep->fid, "FI_ATOMIC");
}

static ssize_t kofi_no_atomic_compwritemsg(struct fid_ep *ep,
					   const struct fi_msg_atomic *msg,
					   const struct fi_ioc *comparev,
					   void **compare_desc,
					   size_t compare_count,
					   struct fi_ioc *resultv,
					   void **result_desc,
					   size_t result_count, u64 flags)
{
	return kofi_no_transfer("compare_atomicmsg", &ep->fid, "FI_ATOMIC");
}

static int kofi_no_atomic_writevalid(struct fid_ep *ep,
				     enum fi_datatype datatype, enum fi_op op,
				     size_t *count)
{
	return kofi_no_transfer("atomicvalid", &ep->fid, "FI_ATOMIC");
}

static int kofi_no_atomic_readwritevalid(struct fid_ep *ep,
					 enum fi_datatype datatype,
					 enum fi_op op, size_t *count)
{
	return kofi_no_transfer("fetch_atomicvalid", &ep->fid, "FI_ATOMIC");
}

static int kofi_no_atomic_compwritevalid(struct fid_ep *ep,
					 enum fi_datatype datatype,
					 enum fi_op op, size_t *count)
{
	return kofi_no_transfer("compare_atomicvalid", &ep->fid, "FI_ATOMIC");
}

const struct fi_ops_atomic kofi_no_ops_atomic = {
	.size		= sizeof(struct fi_ops_atomic),
	.write		= kofi_no_atomic_write,
	.writev		= kofi_no_atomic_writev,
	.writemsg	= kofi_no_atomic_writemsg,
	.inject		= kofi_no_atomic_inject,
	.readwrite	= kofi_no_atomic_readwrite,
	.readwritev	= kofi_no_atomic_readwritev,
	.readwritemsg	= kofi_no_atomic_readwritemsg,
	.compwrite	= kofi_no_atomic_compwrite,
	.compwritev	= kofi_no_atomic_compwritev,
	.compwritemsg	= kofi_no_atomic_compwritemsg,
	.writevalid	= kofi_no_atomic_writevalid,
	.readwritevalid	= kofi_no_atomic_readwritevalid,
	.compwritevalid	= kofi_no_atomic_compwritevalid,
};
EXPORT_SYMBOL_GPL(kofi_no_ops_atomic);
