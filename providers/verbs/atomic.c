// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Atomic operations on 64 bits of remote memory.
 *
 * What libfabric's verbs provider has (1.17 and 2.x):
 *
 *	fi_atomic, FI_ATOMIC_WRITE		a fenced RDMA write
 *	fi_fetch_atomic, FI_ATOMIC_READ		an RDMA read
 *	fi_fetch_atomic, FI_SUM			fetch and add
 *	fi_compare_atomic, FI_CSWAP		compare and swap
 *
 * on FI_INT64 and FI_UINT64, and except for the sum on FI_DOUBLE.  (libfabric also
 * answers yes to the sum of doubles, and to FI_FLOAT, of which it moves eight
 * bytes.)  One element per call, at an address that is a multiple of its size.
 */
#include <linux/module.h>
#include "ep.h"
#include "op.h"
#include "queue.h"
#include "verbs.h"

#define VERBS_ATOMIC_SIZE	sizeof(u64)
#define VERBS_ATOMIC_FLAGS	(FI_COMPLETION | FI_MORE | FI_FENCE | \
				 FI_INJECT | FI_INJECT_COMPLETE | \
				 FI_REMOTE_CQ_DATA | FI_TRANSMIT_COMPLETE)

static bool verbs_atomic_has_op(u64 family, enum fi_op op)
{
	switch (family) {
	case 0:
		return op == FI_ATOMIC_WRITE;
	case FI_FETCH_ATOMIC:
		return op == FI_ATOMIC_READ || op == FI_SUM;
	case FI_COMPARE_ATOMIC:
		return op == FI_CSWAP;
	default:
		return false;
	}
}

static bool verbs_atomic_has_type(enum fi_datatype type, enum fi_op op)
{
	return type == FI_INT64 || type == FI_UINT64 ||
	       (type == FI_DOUBLE && op != FI_SUM);
}

static int verbs_atomic_valid(u64 family, enum fi_datatype type, enum fi_op op)
{
	if (!verbs_atomic_has_op(family, op))
		return -ENOSYS;
	return verbs_atomic_has_type(type, op) ? 0 : -EINVAL;
}

int verbs_query_atomic(struct verbs_domain *domain, enum fi_datatype type,
		       enum fi_op op, struct fi_atomic_attr *attr, u64 flags)
{
	int ret;

	if (!domain->dev->atomics)
		return -ENOSYS;
	if (flags && flags != FI_FETCH_ATOMIC && flags != FI_COMPARE_ATOMIC)
		return -FI_EBADFLAGS;
	ret = verbs_atomic_valid(flags, type, op);
	if (ret)
		return ret;
	attr->count = 1;
	attr->size = VERBS_ATOMIC_SIZE;
	return 0;
}

static int verbs_atomic_count(int ret, size_t *count)
{
	if (!ret)
		*count = 1;
	return ret;
}

static int verbs_atomic_writevalid(struct fid_ep *ep, enum fi_datatype type,
				   enum fi_op op, size_t *count)
{
	return verbs_atomic_count(verbs_atomic_valid(0, type, op), count);
}

static int verbs_atomic_readwritevalid(struct fid_ep *ep,
				       enum fi_datatype type, enum fi_op op,
				       size_t *count)
{
	return verbs_atomic_count(verbs_atomic_valid(FI_FETCH_ATOMIC, type, op),
				  count);
}

static int verbs_atomic_compwritevalid(struct fid_ep *ep,
				       enum fi_datatype type, enum fi_op op,
				       size_t *count)
{
	return verbs_atomic_count(verbs_atomic_valid(FI_COMPARE_ATOMIC, type,
						     op), count);
}

/* @what: complete but for what all of them have in common */
static ssize_t verbs_atomic_post(struct verbs_ep *ep,
				 const struct verbs_op *what, void *buf,
				 void *desc, size_t count)
{
	struct kvec kvec = { buf, VERBS_ATOMIC_SIZE };
	struct verbs_op op = *what;

	if (count != 1)
		return -E2BIG;
	if (op.key > U32_MAX || op.addr % VERBS_ATOMIC_SIZE)
		return -EINVAL;
	op.list = &kvec;
	op.count = 1;
	op.desc = &desc;
	op.atomic = true;
	op.silent |= verbs_is_silent(&ep->tx, op.flags);
	return verbs_post(ep, &op);
}

static ssize_t verbs_atomic_put(struct verbs_ep *ep, void *buf, size_t count,
				void *desc, const struct fi_rma_ioc *to,
				enum fi_datatype type, enum fi_op fi_op,
				u64 data, u64 flags, void *context, bool silent)
{
	struct verbs_op op = {
		.opcode		= IB_WR_RDMA_WRITE,
		.context	= context,
		.flags		= flags | FI_FENCE,
		.data		= data,
		.addr		= to->addr,
		.key		= to->key,
		.silent		= silent,
	};
	int ret;

	ret = verbs_atomic_valid(0, type, fi_op);
	return ret ? : verbs_atomic_post(ep, &op, buf, desc, count);
}

static ssize_t verbs_atomic_write(struct fid_ep *fid_ep, const void *buf,
				  size_t count, void *desc,
				  fi_addr_t dest_addr, u64 addr, u64 key,
				  enum fi_datatype type, enum fi_op op,
				  void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct fi_rma_ioc to = { addr, count, key };

	return verbs_atomic_put(ep, (void *)buf, count, desc, &to, type, op, 0,
				ep->tx.op_flags, context, false);
}

static ssize_t verbs_atomic_inject(struct fid_ep *fid_ep, const void *buf,
				   size_t count, fi_addr_t dest_addr, u64 addr,
				   u64 key, enum fi_datatype type,
				   enum fi_op op)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct fi_rma_ioc to = { addr, count, key };

	return verbs_atomic_put(ep, (void *)buf, count, NULL, &to, type, op, 0,
				ep->tx.op_flags | FI_INJECT, NULL, true);
}

static ssize_t verbs_atomic_writemsg(struct fid_ep *fid_ep,
				     const struct fi_msg_atomic *msg, u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);

	if (flags & ~(ep->tx_flags & VERBS_ATOMIC_FLAGS))
		return -FI_EBADFLAGS;
	if (msg->iov_count != 1 || msg->rma_iov_count != 1)
		return -E2BIG;
	return verbs_atomic_put(ep, msg->msg_iov->addr, msg->msg_iov->count,
				msg->desc ? msg->desc[0] : NULL, msg->rma_iov,
				msg->datatype, msg->op, msg->data, flags,
				msg->context, false);
}

static ssize_t verbs_atomic_readwrite(struct fid_ep *fid_ep, const void *buf,
				      size_t count, void *desc, void *result,
				      void *result_desc, fi_addr_t dest_addr,
				      u64 addr, u64 key, enum fi_datatype type,
				      enum fi_op fi_op, void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_op op = {
		.opcode		= fi_op == FI_SUM ?
				  IB_WR_ATOMIC_FETCH_AND_ADD : IB_WR_RDMA_READ,
		.context	= context,
		.flags		= ep->tx.op_flags & ~FI_INJECT,
		.addr		= addr,
		.key		= key,
	};
	int ret;

	ret = verbs_atomic_valid(FI_FETCH_ATOMIC, type, fi_op);
	if (ret)
		return ret;
	if (fi_op == FI_SUM) {
		if (!buf)
			return -EINVAL;
		op.data = *(const u64 *)buf;
	}
	return verbs_atomic_post(ep, &op, result, result_desc, count);
}

static ssize_t verbs_atomic_compwrite(struct fid_ep *fid_ep, const void *buf,
				      size_t count, void *desc,
				      const void *compare, void *compare_desc,
				      void *result, void *result_desc,
				      fi_addr_t dest_addr, u64 addr, u64 key,
				      enum fi_datatype type, enum fi_op fi_op,
				      void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_op op = {
		.opcode		= IB_WR_ATOMIC_CMP_AND_SWP,
		.context	= context,
		.flags		= ep->tx.op_flags & ~FI_INJECT,
		.addr		= addr,
		.key		= key,
	};
	int ret;

	ret = verbs_atomic_valid(FI_COMPARE_ATOMIC, type, fi_op);
	if (ret)
		return ret;
	if (!buf || !compare)
		return -EINVAL;
	op.data = *(const u64 *)compare;
	op.swap = *(const u64 *)buf;
	return verbs_atomic_post(ep, &op, result, result_desc, count);
}

const struct fi_ops_atomic verbs_atomic_ops = {
	.size		= sizeof(struct fi_ops_atomic),
	.write		= verbs_atomic_write,
	.writemsg	= verbs_atomic_writemsg,
	.inject		= verbs_atomic_inject,
	.readwrite	= verbs_atomic_readwrite,
	.compwrite	= verbs_atomic_compwrite,
	.writevalid	= verbs_atomic_writevalid,
	.readwritevalid	= verbs_atomic_readwritevalid,
	.compwritevalid	= verbs_atomic_compwritevalid,
};
