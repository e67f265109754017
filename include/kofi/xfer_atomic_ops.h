/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All atomic calls of a provider, built on one function, as kofi/xfer_ops.h does for the
 * other data transfers.
 *
 * To be included once, behind kofi/xfer_ops.h, by a provider that defines
 *
 *	static int kofi_xfer_atomic_attr(struct kofi_ep *ep, enum fi_datatype datatype,
 *					 enum fi_op op, u64 form,
 *					 struct fi_atomic_attr *attr);
 *
 * which is declared here and answers as fi_query_atomic(); form is 0, FI_FETCH_ATOMIC or
 * FI_COMPARE_ATOMIC.  This file has the table kofi_xfer_atomic_ops.
 */
#ifndef _KOFI_XFER_ATOMIC_OPS_H
#define _KOFI_XFER_ATOMIC_OPS_H

#include <kofi/xfer_ops.h>
#include <rdma/fi_atomic.h>

static int kofi_xfer_atomic_attr(struct kofi_ep *ep, enum fi_datatype datatype,
				 enum fi_op op, u64 form,
				 struct fi_atomic_attr *attr);

/* For calls with an address and a key: the remote memory is as long as the operands */
static ssize_t kofi_xfer_atomic_at(struct kofi_ep *ep,
				   const struct kofi_op *without, u64 addr,
				   u64 key)
{
	struct fi_rma_ioc ioc = { .addr = addr, .key = key };
	const struct fi_ioc *local = without->list;
	struct kofi_op op = *without;
	size_t i, n = op.count;

	/* FI_ATOMIC_READ has no operands */
	if (op.op == FI_ATOMIC_READ) {
		local = op.result;
		n = op.result_count;
	}
	for (i = 0; i < n; i++)
		if (check_add_overflow(ioc.count, local[i].count, &ioc.count))
			return -E2BIG;
	op.ioc = &ioc;
	op.remote_count = 1;
	return kofi_xfer_post(ep, &op);
}

static ssize_t kofi_xfer_atomicmsg(struct kofi_ep *ep, struct kofi_op *op,
				   const struct fi_msg_atomic *msg, u64 flags)
{
	op->list = msg->msg_iov;
	op->count = msg->iov_count;
	op->desc = msg->desc;
	op->flags = kofi_ep_flags(&ep->tx, flags);
	op->addr = msg->addr;
	op->context = msg->context;
	op->data = msg->data;
	op->ioc = msg->rma_iov;
	op->remote_count = msg->rma_iov_count;
	op->datatype = msg->datatype;
	op->op = msg->op;
	return kofi_xfer_post(ep, op);
}

static ssize_t kofi_xfer_atomic_one(struct fid_ep *fid_ep, const void *buf,
				    size_t count, void *desc,
				    fi_addr_t dest_addr, u64 addr, u64 key,
				    enum fi_datatype datatype, enum fi_op op,
				    void *context, u64 flags)
{
	const struct fi_ioc ioc = { (void *)buf, count };
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op kop = {
		.kind		= KOFI_OP_ATOMIC,
		.list		= &ioc,
		.count		= 1,
		.desc		= &desc,
		.flags		= kofi_xfer_tx_flags(ep, flags),
		.addr		= dest_addr,
		.context	= context,
		.datatype	= datatype,
		.op		= op,
	};

	return kofi_xfer_atomic_at(ep, &kop, addr, key);
}

static ssize_t kofi_xfer_atomic(struct fid_ep *ep, const void *buf, size_t count,
				void *desc, fi_addr_t dest_addr, u64 addr,
				u64 key, enum fi_datatype datatype,
				enum fi_op op, void *context)
{
	return kofi_xfer_atomic_one(ep, buf, count, desc, dest_addr, addr, key,
				    datatype, op, context, 0);
}

static ssize_t kofi_xfer_inject_atomic(struct fid_ep *ep, const void *buf,
				       size_t count, fi_addr_t dest_addr,
				       u64 addr, u64 key,
				       enum fi_datatype datatype, enum fi_op op)
{
	return kofi_xfer_atomic_one(ep, buf, count, NULL, dest_addr, addr, key,
				    datatype, op, NULL, FI_INJECT);
}

static ssize_t kofi_xfer_atomicv(struct fid_ep *fid_ep, const struct fi_ioc *iov,
				 void **desc, size_t count, fi_addr_t dest_addr,
				 u64 addr, u64 key, enum fi_datatype datatype,
				 enum fi_op op, void *context)
{
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op kop = {
		.kind		= KOFI_OP_ATOMIC,
		.list		= iov,
		.count		= count,
		.desc		= desc,
		.flags		= kofi_xfer_tx_flags(ep, 0),
		.addr		= dest_addr,
		.context	= context,
		.datatype	= datatype,
		.op		= op,
	};

	return kofi_xfer_atomic_at(ep, &kop, addr, key);
}

static ssize_t kofi_xfer_atomic_writemsg(struct fid_ep *ep,
					 const struct fi_msg_atomic *msg,
					 u64 flags)
{
	struct kofi_op op = { .kind = KOFI_OP_ATOMIC };

	return kofi_xfer_atomicmsg(kofi_xfer_ep(ep), &op, msg, flags);
}

static ssize_t kofi_xfer_fetchv(struct fid_ep *fid_ep, const struct fi_ioc *iov,
				void **desc, size_t count,
				struct fi_ioc *resultv, void **result_desc,
				size_t result_count, fi_addr_t dest_addr,
				u64 addr, u64 key, enum fi_datatype datatype,
				enum fi_op op, void *context)
{
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op kop = {
		.kind		= KOFI_OP_FETCH,
		.list		= iov,
		.count		= count,
		.desc		= desc,
		.flags		= kofi_xfer_tx_flags(ep, 0) & ~FI_INJECT,
		.addr		= dest_addr,
		.context	= context,
		.result		= resultv,
		.result_count	= result_count,
		.result_desc	= result_desc,
		.datatype	= datatype,
		.op		= op,
	};

	return kofi_xfer_atomic_at(ep, &kop, addr, key);
}

static ssize_t kofi_xfer_fetch(struct fid_ep *ep, const void *buf, size_t count,
			       void *desc, void *result, void *result_desc,
			       fi_addr_t dest_addr, u64 addr, u64 key,
			       enum fi_datatype datatype, enum fi_op op,
			       void *context)
{
	const struct fi_ioc ioc = { (void *)buf, count };
	struct fi_ioc res = { result, count };

	return kofi_xfer_fetchv(ep, &ioc, &desc, 1, &res, &result_desc, 1,
				dest_addr, addr, key, datatype, op, context);
}

static ssize_t kofi_xfer_fetchmsg(struct fid_ep *ep,
				  const struct fi_msg_atomic *msg,
				  struct fi_ioc *resultv, void **result_desc,
				  size_t result_count, u64 flags)
{
	struct kofi_op op = {
		.kind		= KOFI_OP_FETCH,
		.result		= resultv,
		.result_count	= result_count,
		.result_desc	= result_desc,
	};

	return kofi_xfer_atomicmsg(kofi_xfer_ep(ep), &op, msg, flags);
}

static ssize_t kofi_xfer_comparev(struct fid_ep *fid_ep,
				  const struct fi_ioc *iov, void **desc,
				  size_t count, const struct fi_ioc *comparev,
				  void **compare_desc, size_t compare_count,
				  struct fi_ioc *resultv, void **result_desc,
				  size_t result_count, fi_addr_t dest_addr,
				  u64 addr, u64 key, enum fi_datatype datatype,
				  enum fi_op op, void *context)
{
	struct kofi_ep *ep = kofi_xfer_ep(fid_ep);
	const struct kofi_op kop = {
		.kind		= KOFI_OP_COMPARE,
		.list		= iov,
		.count		= count,
		.desc		= desc,
		.flags		= kofi_xfer_tx_flags(ep, 0) & ~FI_INJECT,
		.addr		= dest_addr,
		.context	= context,
		.result		= resultv,
		.result_count	= result_count,
		.result_desc	= result_desc,
		.compare	= comparev,
		.compare_count	= compare_count,
		.compare_desc	= compare_desc,
		.datatype	= datatype,
		.op		= op,
	};

	return kofi_xfer_atomic_at(ep, &kop, addr, key);
}

static ssize_t kofi_xfer_compare(struct fid_ep *ep, const void *buf,
				 size_t count, void *desc, const void *compare,
				 void *compare_desc, void *result,
				 void *result_desc, fi_addr_t dest_addr,
				 u64 addr, u64 key, enum fi_datatype datatype,
				 enum fi_op op, void *context)
{
	const struct fi_ioc ioc = { (void *)buf, count };
	const struct fi_ioc comp = { (void *)compare, count };
	struct fi_ioc res = { result, count };

	return kofi_xfer_comparev(ep, &ioc, &desc, 1, &comp, &compare_desc, 1,
				  &res, &result_desc, 1, dest_addr, addr, key,
				  datatype, op, context);
}

static ssize_t kofi_xfer_comparemsg(struct fid_ep *ep,
				    const struct fi_msg_atomic *msg,
				    const struct fi_ioc *comparev,
				    void **compare_desc, size_t compare_count,
				    struct fi_ioc *resultv, void **result_desc,
				    size_t result_count, u64 flags)
{
	struct kofi_op op = {
		.kind		= KOFI_OP_COMPARE,
		.result		= resultv,
		.result_count	= result_count,
		.result_desc	= result_desc,
		.compare	= comparev,
		.compare_count	= compare_count,
		.compare_desc	= compare_desc,
	};

	return kofi_xfer_atomicmsg(kofi_xfer_ep(ep), &op, msg, flags);
}

static int kofi_xfer_valid(struct fid_ep *ep, enum fi_datatype datatype,
			   enum fi_op op, u64 form, size_t *count)
{
	struct fi_atomic_attr attr;
	int ret;

	ret = kofi_xfer_atomic_attr(kofi_xfer_ep(ep), datatype, op, form, &attr);
	if (!ret)
		*count = attr.count;
	return ret;
}

static int kofi_xfer_writevalid(struct fid_ep *ep, enum fi_datatype datatype,
				enum fi_op op, size_t *count)
{
	return kofi_xfer_valid(ep, datatype, op, 0, count);
}

static int kofi_xfer_readwritevalid(struct fid_ep *ep,
				    enum fi_datatype datatype, enum fi_op op,
				    size_t *count)
{
	return kofi_xfer_valid(ep, datatype, op, FI_FETCH_ATOMIC, count);
}

static int kofi_xfer_compwritevalid(struct fid_ep *ep,
				    enum fi_datatype datatype, enum fi_op op,
				    size_t *count)
{
	return kofi_xfer_valid(ep, datatype, op, FI_COMPARE_ATOMIC, count);
}

static const struct fi_ops_atomic kofi_xfer_atomic_ops = {
	.size		= sizeof(struct fi_ops_atomic),
	.write		= kofi_xfer_atomic,
	.writev		= kofi_xfer_atomicv,
	.writemsg	= kofi_xfer_atomic_writemsg,
	.inject		= kofi_xfer_inject_atomic,
	.readwrite	= kofi_xfer_fetch,
	.readwritev	= kofi_xfer_fetchv,
	.readwritemsg	= kofi_xfer_fetchmsg,
	.compwrite	= kofi_xfer_compare,
	.compwritev	= kofi_xfer_comparev,
	.compwritemsg	= kofi_xfer_comparemsg,
	.writevalid	= kofi_xfer_writevalid,
	.readwritevalid	= kofi_xfer_readwritevalid,
	.compwritevalid	= kofi_xfer_compwritevalid,
};

#endif /* _KOFI_XFER_ATOMIC_OPS_H */
