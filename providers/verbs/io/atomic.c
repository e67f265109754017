// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
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
#include "../op.h"
#include "../verbs.h"

#define VERBS_ATOMIC_SIZE	sizeof(u64)

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

int verbs_atomicvalid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, u64 form,
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

int verbs_query_atomic(struct verbs_domain *domain, enum fi_datatype type, enum fi_op op,
		       struct fi_atomic_attr *attr, u64 flags)
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
	if (!ioc || (operand && !list) || (result && !atomic->result.ioc) ||
	    (compare && !atomic->compare.ioc))
		return -EINVAL;
	if ((operand && list->count != ioc->count) ||
	    (result && atomic->result.ioc->count != ioc->count) ||
	    (compare && atomic->compare.ioc->count != ioc->count))
		return -EINVAL;
	if (ioc->count != attr.count)
		return -E2BIG;
	return ioc->addr % attr.size ? -EINVAL : 0;
}

static int verbs_swap_init(struct ib_atomic_wr *wr, const struct fi_atomic_xfer *atomic)
{
	bool compare = atomic->xfer.type == FI_OP_COMPARE_ATOMIC;
	const struct fi_ioc *operand = atomic->xfer.list;

	if (!operand->addr || (compare && !atomic->compare.ioc->addr))
		return -EINVAL;
	*wr = (struct ib_atomic_wr) {
		.wr.opcode	= compare ? IB_WR_ATOMIC_CMP_AND_SWP : IB_WR_ATOMIC_FETCH_AND_ADD,
		.remote_addr	= atomic->ioc->addr,
		.compare_add	= *(const u64 *)(compare ? atomic->compare.ioc->addr :
							   operand->addr),
		.swap		= compare ? *(const u64 *)operand->addr : 0,
		.rkey		= atomic->ioc->key,
	};
	return 0;
}

/**
 * verbs_atomic_init() - Fill the work request of an atomic operation
 * @any: the work request; its opcode and what belongs to the opcode
 * @call: gets the flags and the length that follow
 * @at: gets the list of the local buffer
 * @local: memory for that list
 * @atomic: the operation
 *
 * Context: any.
 * Return: 0; or as the calls of fi_atomic.h.
 */
int verbs_atomic_init(union verbs_any_wr *any, struct verbs_call *call, struct kofi_list_iter *at,
		      struct kvec *local, const struct fi_atomic_xfer *atomic)
{
	bool write = atomic->xfer.type == FI_OP_ATOMIC;
	const struct fi_ioc *buf = write ? atomic->xfer.list : atomic->result.ioc;
	int ret = verbs_atomic_check(atomic);

	if (ret)
		return ret;
	if (atomic->ioc->key > U32_MAX)
		return -EINVAL;
	*local = (struct kvec) { buf->addr, VERBS_ATOMIC_SIZE };
	at->type = FI_BUF_KVEC;
	at->elem = local;
	at->count = 1;
	if (!write)
		at->desc = atomic->result.desc;
	call->remote_len = VERBS_ATOMIC_SIZE;
	if (!write && atomic->op != FI_ATOMIC_READ)
		return verbs_swap_init(&any->atomic, atomic);
	if (write)
		call->flags |= FI_FENCE;
	any->rdma = (struct ib_rdma_wr) {
		.wr.opcode	= write ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ,
		.remote_addr	= atomic->ioc->addr,
		.rkey		= atomic->ioc->key,
	};
	return 0;
}
