/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Atomic operations of peers, executed on regions by the CPU.
 *
 * There are libfabric's operations on integers of 8 to 64 bits:
 *
 *	fi_atomic()		FI_MIN to FI_BXOR, FI_DIFF, FI_ATOMIC_WRITE
 *	fi_fetch_atomic()	those of fi_atomic(), and FI_ATOMIC_READ
 *	fi_compare_atomic()	FI_CSWAP to FI_MSWAP
 *
 * Each element is changed in one step, as seen by other operations of this kind and by
 * the atomic operations of the kernel, whatever processor they run on.  For that, the
 * address of an element must be aligned to its size, and an element must lie in one element
 * of the region's list.  Arithmetic wraps around.
 *
 * A region allows them as struct fi_mr_attr says: FI_REMOTE_WRITE, and FI_REMOTE_READ
 * for FI_ATOMIC_READ.
 */
#ifndef _KOFI_ATOMIC_H
#define _KOFI_ATOMIC_H

#include <linux/uio.h>
#include <kofi/rma.h>
#include <rdma/fi_atomic.h>

/**
 * struct kofi_atomic - An atomic operation
 * @datatype: type of the elements
 * @op: operation
 * @form: 0, FI_FETCH_ATOMIC or FI_COMPARE_ATOMIC
 * @operand: the operands; not used by FI_ATOMIC_READ
 * @compare: values to compare with, or the mask of FI_MSWAP; used by FI_COMPARE_ATOMIC
 * @result: where old values go; used by FI_FETCH_ATOMIC and FI_COMPARE_ATOMIC
 */
struct kofi_atomic {
	enum fi_datatype	datatype;
	enum fi_op		op;
	u64			form;
	struct iov_iter		operand;
	struct iov_iter		compare;
	struct iov_iter		result;
};

/**
 * kofi_atomic_valid() - Is there such an operation?
 * @datatype: type of the elements, maybe from a peer
 * @op: operation, maybe from a peer
 * @form: 0, FI_FETCH_ATOMIC or FI_COMPARE_ATOMIC
 * @size: bytes of an element
 *
 * Context: any.
 * Return: 0; -FI_EBADFLAGS: there is no such form; -ENOSYS: the form has no such
 * operation; -EINVAL: not on this type.
 */
int kofi_atomic_valid(enum fi_datatype datatype, enum fi_op op, u64 form,
		      size_t *size);

/**
 * kofi_atomic_query() - What ->query_atomic of a domain does
 * @max: bytes that an operation may have
 * @datatype: as fi_query_atomic()
 * @op: as fi_query_atomic()
 * @attr: as fi_query_atomic()
 * @form: flags of fi_query_atomic()
 *
 * Context: any.
 * Return: as kofi_atomic_valid().
 */
int kofi_atomic_query(size_t max, enum fi_datatype datatype, enum fi_op op,
		      struct fi_atomic_attr *attr, u64 form);

/**
 * kofi_atomic_get() - Resolve the target of an operation
 * @rma: the target, filled in
 * @map: where keys are looked up
 * @ep: the endpoint that the operation came through
 * @ioc: the ranges, from the peer
 * @count: how many, from the peer
 * @atomic: the operation; its iterators are not looked at
 *
 * Context: any.
 * Return: 0; as kofi_atomic_valid(); -EINVAL: no ranges, too many, or an element that
 * is not aligned; -EACCES: as kofi_mr_get().  After an error nothing is held.
 */
int kofi_atomic_get(struct kofi_rma *rma, struct kofi_mr_map *map,
		    const struct fid_ep *ep, const struct fi_rma_ioc *ioc,
		    size_t count, const struct kofi_atomic *atomic);

/**
 * kofi_atomic_run() - Execute an operation
 * @rma: the target, from kofi_atomic_get() with this operation; the caller ends it by
 *	kofi_rma_done()
 * @atomic: the operation; its iterators are advanced behind what was used
 *
 * Context: any.  The provider bounds the number of elements.
 * Return: 0; -EINVAL: an iterator has less than @rma->len bytes; -EACCES: memory of the
 * target was taken back.  After an error nothing has been changed.
 */
int kofi_atomic_run(const struct kofi_rma *rma, struct kofi_atomic *atomic);

#endif /* _KOFI_ATOMIC_H */
