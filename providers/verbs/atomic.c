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
/* What comes back does so later, and brings the peer nothing to report */
#define VERBS_SWAP_FLAGS	(VERBS_ATOMIC_FLAGS & \
				 ~(FI_INJECT | FI_REMOTE_CQ_DATA))

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
	op.silent |= verbs_is_silent(&ep->kep.tx, op.flags);
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
				ep->kep.tx.op_flags, context, false);
}

static ssize_t verbs_atomic_inject(struct fid_ep *fid_ep, const void *buf,
				   size_t count, fi_addr_t dest_addr, u64 addr,
				   u64 key, enum fi_datatype type,
				   enum fi_op op)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct fi_rma_ioc to = { addr, count, key };

	return verbs_atomic_put(ep, (void *)buf, count, NULL, &to, type, op, 0,
				ep->kep.tx.op_flags | FI_INJECT, NULL, true);
}

static ssize_t verbs_atomic_writemsg(struct fid_ep *fid_ep,
				     const struct fi_msg_atomic *msg, u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);

	if (flags & ~(ep->kep.limits->tx_flags & VERBS_ATOMIC_FLAGS))
		return -FI_EBADFLAGS;
	if (msg->iov_count != 1 || msg->rma_iov_count != 1)
		return -E2BIG;
	if (msg->rma_iov->count != msg->msg_iov->count)
		return -EINVAL;
	return verbs_atomic_put(ep, msg->msg_iov->addr, msg->msg_iov->count,
				msg->desc ? msg->desc[0] : NULL, msg->rma_iov,
				msg->datatype, msg->op, msg->data, flags,
				msg->context, false);
}

/**
 * struct verbs_swap - An operation that brings back what was there
 * @buf: operand; unused by FI_ATOMIC_READ
 * @compare: what is expected; of a compare and swap only
 * @result: where the old value goes
 * @desc: descriptor of @result, or NULL
 * @count: elements
 * @addr: remote address
 * @key: remote key
 * @type: type of the elements
 * @op: operation
 * @context: the client's
 * @flags: FI_* of the call
 */
struct verbs_swap {
	const void		*buf;
	const void		*compare;
	void			*result;
	void			*desc;
	size_t			count;
	u64			addr;
	u64			key;
	enum fi_datatype	type;
	enum fi_op		op;
	void			*context;
	u64			flags;
};

static ssize_t verbs_atomic_fetch(struct verbs_ep *ep,
				  const struct verbs_swap *swap)
{
	struct verbs_op op = {
		.opcode		= swap->op == FI_SUM ?
				  IB_WR_ATOMIC_FETCH_AND_ADD : IB_WR_RDMA_READ,
		.context	= swap->context,
		.flags		= swap->flags,
		.addr		= swap->addr,
		.key		= swap->key,
	};
	int ret;

	ret = verbs_atomic_valid(FI_FETCH_ATOMIC, swap->type, swap->op);
	if (ret)
		return ret;
	if (swap->op == FI_SUM) {
		if (!swap->buf)
			return -EINVAL;
		op.data = *(const u64 *)swap->buf;
	}
	return verbs_atomic_post(ep, &op, swap->result, swap->desc,
				 swap->count);
}

static ssize_t verbs_atomic_compare(struct verbs_ep *ep,
				    const struct verbs_swap *swap)
{
	struct verbs_op op = {
		.opcode		= IB_WR_ATOMIC_CMP_AND_SWP,
		.context	= swap->context,
		.flags		= swap->flags,
		.addr		= swap->addr,
		.key		= swap->key,
	};
	int ret;

	ret = verbs_atomic_valid(FI_COMPARE_ATOMIC, swap->type, swap->op);
	if (ret)
		return ret;
	if (!swap->buf || !swap->compare)
		return -EINVAL;
	op.data = *(const u64 *)swap->compare;
	op.swap = *(const u64 *)swap->buf;
	return verbs_atomic_post(ep, &op, swap->result, swap->desc,
				 swap->count);
}

static ssize_t verbs_atomic_readwrite(struct fid_ep *fid_ep, const void *buf,
				      size_t count, void *desc, void *result,
				      void *result_desc, fi_addr_t dest_addr,
				      u64 addr, u64 key, enum fi_datatype type,
				      enum fi_op op, void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	const struct verbs_swap swap = {
		.buf		= buf,
		.result		= result,
		.desc		= result_desc,
		.count		= count,
		.addr		= addr,
		.key		= key,
		.type		= type,
		.op		= op,
		.context	= context,
		.flags		= ep->kep.tx.op_flags & ~FI_INJECT,
	};

	return verbs_atomic_fetch(ep, &swap);
}

static ssize_t verbs_atomic_compwrite(struct fid_ep *fid_ep, const void *buf,
				      size_t count, void *desc,
				      const void *compare, void *compare_desc,
				      void *result, void *result_desc,
				      fi_addr_t dest_addr, u64 addr, u64 key,
				      enum fi_datatype type, enum fi_op op,
				      void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	const struct verbs_swap swap = {
		.buf		= buf,
		.compare	= compare,
		.result		= result,
		.desc		= result_desc,
		.count		= count,
		.addr		= addr,
		.key		= key,
		.type		= type,
		.op		= op,
		.context	= context,
		.flags		= ep->kep.tx.op_flags & ~FI_INJECT,
	};

	return verbs_atomic_compare(ep, &swap);
}

/*
 * Vectors: one element is all that an operation has, so each of them has one, of one
 * element.
 */
static ssize_t verbs_atomic_writev(struct fid_ep *fid_ep,
				   const struct fi_ioc *iov, void **desc,
				   size_t count, fi_addr_t dest_addr, u64 addr,
				   u64 key, enum fi_datatype type,
				   enum fi_op op, void *context)
{
	if (count != 1)
		return -E2BIG;
	return verbs_atomic_write(fid_ep, iov->addr, iov->count,
				  desc ? desc[0] : NULL, dest_addr, addr, key,
				  type, op, context);
}

/* FI_ATOMIC_READ has no operands, whatever @iov and @iov_count are */
static int verbs_swap_set_vectors(struct verbs_swap *swap,
				  const struct fi_ioc *iov, size_t iov_count,
				  const struct fi_ioc *resultv,
				  void **result_desc, size_t result_count)
{
	if (result_count != 1)
		return -E2BIG;
	swap->result = resultv->addr;
	swap->count = resultv->count;
	swap->desc = result_desc ? result_desc[0] : NULL;
	if (swap->op == FI_ATOMIC_READ)
		return 0;
	if (iov_count != 1)
		return -E2BIG;
	if (iov->count != swap->count)
		return -EINVAL;
	swap->buf = iov->addr;
	return 0;
}

static int verbs_swap_set_compare(struct verbs_swap *swap,
				  const struct fi_ioc *comparev,
				  size_t compare_count)
{
	if (compare_count != 1)
		return -E2BIG;
	if (comparev->count != swap->count)
		return -EINVAL;
	swap->compare = comparev->addr;
	return 0;
}

/* @swap: without vectors and what the message says */
static int verbs_swap_set_msg(struct verbs_swap *swap, const struct verbs_ep *ep,
			      const struct fi_msg_atomic *msg, u64 flags)
{
	if (flags & ~(ep->kep.limits->tx_flags & VERBS_SWAP_FLAGS))
		return -FI_EBADFLAGS;
	if (msg->rma_iov_count != 1)
		return -E2BIG;
	swap->addr = msg->rma_iov->addr;
	swap->key = msg->rma_iov->key;
	swap->type = msg->datatype;
	swap->op = msg->op;
	swap->context = msg->context;
	swap->flags = flags;
	return 0;
}

static ssize_t verbs_atomic_readwritev(struct fid_ep *fid_ep,
				       const struct fi_ioc *iov, void **desc,
				       size_t count, struct fi_ioc *resultv,
				       void **result_desc, size_t result_count,
				       fi_addr_t dest_addr, u64 addr, u64 key,
				       enum fi_datatype type, enum fi_op op,
				       void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_swap swap = {
		.addr		= addr,
		.key		= key,
		.type		= type,
		.op		= op,
		.context	= context,
		.flags		= ep->kep.tx.op_flags & ~FI_INJECT,
	};
	int ret;

	ret = verbs_swap_set_vectors(&swap, iov, count, resultv, result_desc,
				     result_count);
	return ret ? : verbs_atomic_fetch(ep, &swap);
}

static ssize_t verbs_atomic_readwritemsg(struct fid_ep *fid_ep,
					 const struct fi_msg_atomic *msg,
					 struct fi_ioc *resultv,
					 void **result_desc,
					 size_t result_count, u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_swap swap = {};
	int ret;

	ret = verbs_swap_set_msg(&swap, ep, msg, flags);
	if (!ret)
		ret = verbs_swap_set_vectors(&swap, msg->msg_iov,
					     msg->iov_count, resultv,
					     result_desc, result_count);
	if (!ret && msg->rma_iov->count != swap.count)
		ret = -EINVAL;
	return ret ? : verbs_atomic_fetch(ep, &swap);
}

static ssize_t verbs_atomic_compwritev(struct fid_ep *fid_ep,
				       const struct fi_ioc *iov, void **desc,
				       size_t count,
				       const struct fi_ioc *comparev,
				       void **compare_desc,
				       size_t compare_count,
				       struct fi_ioc *resultv,
				       void **result_desc, size_t result_count,
				       fi_addr_t dest_addr, u64 addr, u64 key,
				       enum fi_datatype type, enum fi_op op,
				       void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_swap swap = {
		.addr		= addr,
		.key		= key,
		.type		= type,
		.op		= op,
		.context	= context,
		.flags		= ep->kep.tx.op_flags & ~FI_INJECT,
	};
	int ret;

	ret = verbs_swap_set_vectors(&swap, iov, count, resultv, result_desc,
				     result_count);
	if (!ret)
		ret = verbs_swap_set_compare(&swap, comparev, compare_count);
	return ret ? : verbs_atomic_compare(ep, &swap);
}

static ssize_t verbs_atomic_compwritemsg(struct fid_ep *fid_ep,
					 const struct fi_msg_atomic *msg,
					 const struct fi_ioc *comparev,
					 void **compare_desc,
					 size_t compare_count,
					 struct fi_ioc *resultv,
					 void **result_desc,
					 size_t result_count, u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_swap swap = {};
	int ret;

	ret = verbs_swap_set_msg(&swap, ep, msg, flags);
	if (!ret)
		ret = verbs_swap_set_vectors(&swap, msg->msg_iov,
					     msg->iov_count, resultv,
					     result_desc, result_count);
	if (!ret)
		ret = verbs_swap_set_compare(&swap, comparev, compare_count);
	if (!ret && msg->rma_iov->count != swap.count)
		ret = -EINVAL;
	return ret ? : verbs_atomic_compare(ep, &swap);
}

const struct fi_ops_atomic verbs_atomic_ops = {
	.size		= sizeof(struct fi_ops_atomic),
	.write		= verbs_atomic_write,
	.writev		= verbs_atomic_writev,
	.writemsg	= verbs_atomic_writemsg,
	.inject		= verbs_atomic_inject,
	.readwrite	= verbs_atomic_readwrite,
	.readwritev	= verbs_atomic_readwritev,
	.readwritemsg	= verbs_atomic_readwritemsg,
	.compwrite	= verbs_atomic_compwrite,
	.compwritev	= verbs_atomic_compwritev,
	.compwritemsg	= verbs_atomic_compwritemsg,
	.writevalid	= verbs_atomic_writevalid,
	.readwritevalid	= verbs_atomic_readwritevalid,
	.compwritevalid	= verbs_atomic_compwritevalid,
};
