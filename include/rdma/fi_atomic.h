/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Atomic operations on remote memory.  Names: libfabric 2.6, fi_atomic.h.
 *
 * Each family has a call with one buffer, one with vectors, and one with a message and
 * flags of its own:
 *
 *	fi_atomic		changes remote memory
 *	fi_fetch_atomic		changes it and returns the old values
 *	fi_compare_atomic	changes it if it is as expected, and returns the old values
 *
 * Each element is atomic, not the operation as a whole.  The local and the remote vector
 * of one call have the same number of elements in total.
 *
 * Each call returns what the top of fi_endpoint.h lists, and
 *
 *	-ENOSYS		there is no such operation; an endpoint without FI_ATOMIC has
 *			none
 *	-EINVAL		the operation is not for this type, or an address is no multiple of
 *			the type's size, or vectors have different lengths
 *	-E2BIG		more elements than fi_atomicvalid() and its variants report
 */
#ifndef _RDMA_FI_ATOMIC_H
#define _RDMA_FI_ATOMIC_H

#include <linux/overflow.h>
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

/* Flags of fi_query_atomic(): which family the query is about */
#define FI_FETCH_ATOMIC		BIT_ULL(58)
#define FI_COMPARE_ATOMIC	BIT_ULL(59)

/**
 * struct fi_atomic_attr - The limits that fi_query_atomic() reports
 * @count: most elements of one call
 * @size: bytes of an element
 */
struct fi_atomic_attr {
	size_t			count;
	size_t			size;
};

/**
 * struct fi_msg_atomic - An operation, for the calls that take flags
 * @msg_iov: operands; unused by FI_ATOMIC_READ
 * @desc: one fi_mr_desc() per element of @msg_iov, or NULL
 * @iov_count: elements of @msg_iov
 * @addr: peer, for connectionless endpoints
 * @rma_iov: remote memory
 * @rma_iov_count: elements of @rma_iov
 * @datatype: type of the elements
 * @op: operation
 * @context: comes back with the completion
 * @data: remote CQ data, with FI_REMOTE_CQ_DATA
 */
struct fi_msg_atomic {
	const struct fi_ioc	*msg_iov;
	void			**desc;
	size_t			iov_count;
	fi_addr_t		addr;
	const struct fi_rma_ioc	*rma_iov;
	size_t			rma_iov_count;
	enum fi_datatype	datatype;
	enum fi_op		op;
	void			*context;
	u64			data;
};

/**
 * struct fi_ioc_list - kernel: a list of an atomic operation besides its operands
 * @ioc: the elements
 * @desc: their descriptors, or NULL
 * @count: elements of @ioc
 */
struct fi_ioc_list {
	const struct fi_ioc	*ioc;
	void			**desc;
	size_t			count;
};

/**
 * struct fi_atomic_xfer - kernel: an atomic operation, as its call describes it to the provider
 * @xfer: what all data transfers have; its list has the operands
 * @ioc: remote memory; of a call without such a list it has as many values as the operands,
 *	of FI_ATOMIC_READ as many as @result
 * @ioc_count: elements of @ioc
 * @result: FI_OP_FETCH_ATOMIC and FI_OP_COMPARE_ATOMIC: buffers for old values; otherwise empty
 * @compare: FI_OP_COMPARE_ATOMIC: values to compare with; otherwise empty
 * @datatype: type of the values
 * @op: the operation
 */
struct fi_atomic_xfer {
	struct fi_xfer			xfer;
	const struct fi_rma_ioc		*ioc;
	size_t				ioc_count;
	struct fi_ioc_list		result;
	struct fi_ioc_list		compare;
	enum fi_datatype		datatype;
	enum fi_op			op;
};

/* Of an @xfer whose type is FI_OP_ATOMIC, FI_OP_FETCH_ATOMIC or FI_OP_COMPARE_ATOMIC */
static inline const struct fi_atomic_xfer *to_fi_atomic_xfer(const struct fi_xfer *xfer)
{
	return container_of(xfer, struct fi_atomic_xfer, xfer);
}

static inline size_t __fi_ioc_values(const struct fi_ioc *ioc, size_t count)
{
	size_t i, sum = 0;

	for (i = 0; i < count; i++)
		sum = size_add(sum, ioc[i].count);
	return sum;
}

/* As __fi_post_list().  An operation without operands has as many values as results */
static inline ssize_t
__fi_post_atomic(struct fid_ep *ep, enum fi_op_type type, const struct fi_ioc *iov,
		 void **desc, size_t count, struct fi_ioc_list result,
		 struct fi_ioc_list compare, u64 flags, fi_addr_t peer, u64 addr, u64 key,
		 enum fi_datatype datatype, enum fi_op op, void *context)
{
	const struct fi_rma_ioc ioc = {
		.addr		= addr,
		.count		= op == FI_ATOMIC_READ ?
				  __fi_ioc_values(result.ioc, result.count) :
				  __fi_ioc_values(iov, count),
		.key		= key,
	};
	const struct fi_atomic_xfer atomic = {
		.xfer		= __fi_xfer_defaults(type, iov, desc, count, flags, peer, context,
						     0),
		.ioc		= &ioc,
		.ioc_count	= 1,
		.result		= result,
		.compare	= compare,
		.datatype	= datatype,
		.op		= op,
	};

	return ep->xfer->post(ep, &atomic.xfer);
}

static inline ssize_t
__fi_post_atomic_msg(struct fid_ep *ep, enum fi_op_type type, const struct fi_msg_atomic *msg,
		     struct fi_ioc_list result, struct fi_ioc_list compare, u64 flags)
{
	const struct fi_atomic_xfer atomic = {
		.xfer		= __fi_xfer(type, false, FI_BUF_KVEC, msg->msg_iov, msg->desc,
					    msg->iov_count, flags, msg->addr, msg->context,
					    msg->data),
		.ioc		= msg->rma_iov,
		.ioc_count	= msg->rma_iov_count,
		.result		= result,
		.compare	= compare,
		.datatype	= msg->datatype,
		.op		= msg->op,
	};

	return ep->xfer->post(ep, &atomic.xfer);
}

/**
 * fi_atomic() - Change remote memory atomically
 * @ep: the endpoint
 * @buf: operands
 * @count: elements
 * @desc: as fi_write()
 * @dest_addr: as fi_write()
 * @addr: remote address
 * @key: remote key
 * @datatype: type of the elements
 * @op: operation
 * @context: comes back with the completion
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_atomic(struct fid_ep *ep, const void *buf,
				size_t count, void *desc, fi_addr_t dest_addr,
				u64 addr, u64 key, enum fi_datatype datatype,
				enum fi_op op, void *context)
{
	const struct fi_ioc ioc = { (void *)buf, count };

	return __fi_post_atomic(ep, FI_OP_ATOMIC, &ioc, &desc, 1, (struct fi_ioc_list) {},
				(struct fi_ioc_list) {}, 0, dest_addr, addr, key, datatype, op,
				context);
}

/**
 * fi_atomicv() - fi_atomic() with a vector of operands
 * @ep: the endpoint
 * @iov: operands; the array itself is free when the call returns
 * @desc: one fi_mr_desc() per element of @iov, or NULL
 * @count: elements of @iov
 * @dest_addr: as fi_write()
 * @addr: remote address
 * @key: remote key
 * @datatype: type of the elements
 * @op: operation
 * @context: comes back with the completion
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_atomicv(struct fid_ep *ep, const struct fi_ioc *iov,
				 void **desc, size_t count, fi_addr_t dest_addr,
				 u64 addr, u64 key, enum fi_datatype datatype,
				 enum fi_op op, void *context)
{
	return __fi_post_atomic(ep, FI_OP_ATOMIC, iov, desc, count, (struct fi_ioc_list) {},
				(struct fi_ioc_list) {}, 0, dest_addr, addr, key, datatype, op,
				context);
}

/**
 * fi_atomicmsg() - fi_atomic() with flags of its own
 * @ep: the endpoint
 * @msg: the operation
 * @flags: as fi_writemsg()
 *
 * An endpoint with the capability FI_ATOMIC_PMEM (kernel) knows FI_COMMIT_COMPLETE and
 * FI_SAVE.  Each element becomes durable as a whole: a crash leaves either its old or its new
 * value.  An operation with FI_SAVE has neither operands nor results.  Its type and operation
 * have to exist: they determine the alignment of the memory, and whether the region needs
 * FI_REMOTE_WRITE or (FI_ATOMIC_READ) FI_REMOTE_READ.
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_atomicmsg(struct fid_ep *ep,
				   const struct fi_msg_atomic *msg, u64 flags)
{
	return __fi_post_atomic_msg(ep, FI_OP_ATOMIC, msg, (struct fi_ioc_list) {},
				    (struct fi_ioc_list) {}, flags);
}

/**
 * fi_inject_atomic() - fi_atomic() whose operands are free at once
 * @ep: the endpoint
 * @buf: operands
 * @count: elements
 * @dest_addr: as fi_write()
 * @addr: remote address
 * @key: remote key
 * @datatype: type of the elements
 * @op: operation
 *
 * There is no completion for it, unless it fails.
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_inject_atomic(struct fid_ep *ep, const void *buf,
				       size_t count, fi_addr_t dest_addr,
				       u64 addr, u64 key,
				       enum fi_datatype datatype, enum fi_op op)
{
	const struct fi_ioc ioc = { (void *)buf, count };

	return __fi_post_atomic(ep, FI_OP_ATOMIC, &ioc, NULL, 1, (struct fi_ioc_list) {},
				(struct fi_ioc_list) {}, FI_INJECT, dest_addr, addr, key,
				datatype, op, NULL);
}

/**
 * fi_fetch_atomic() - Change remote memory and get what was there
 * @ep: the endpoint
 * @buf: operands; unused by FI_ATOMIC_READ
 * @count: elements
 * @desc: as fi_write()
 * @result: where the old values go
 * @result_desc: descriptor of @result, or NULL
 * @dest_addr: as fi_write()
 * @addr: remote address
 * @key: remote key
 * @datatype: type of the elements
 * @op: operation
 * @context: comes back with the completion
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_fetch_atomic(struct fid_ep *ep, const void *buf,
				      size_t count, void *desc, void *result,
				      void *result_desc, fi_addr_t dest_addr,
				      u64 addr, u64 key,
				      enum fi_datatype datatype, enum fi_op op,
				      void *context)
{
	const struct fi_ioc ioc = { (void *)buf, count };
	const struct fi_ioc res = { result, count };
	const struct fi_ioc_list results = { &res, &result_desc, 1 };

	return __fi_post_atomic(ep, FI_OP_FETCH_ATOMIC, &ioc, &desc, 1, results,
				(struct fi_ioc_list) {}, 0, dest_addr, addr, key, datatype, op,
				context);
}

/**
 * fi_fetch_atomicv() - fi_fetch_atomic() with vectors
 * @ep: the endpoint
 * @iov: operands; unused by FI_ATOMIC_READ
 * @desc: one fi_mr_desc() per element of @iov, or NULL
 * @count: elements of @iov
 * @resultv: where the old values go; the array itself is free when the call returns
 * @result_desc: one fi_mr_desc() per element of @resultv, or NULL
 * @result_count: elements of @resultv
 * @dest_addr: as fi_write()
 * @addr: remote address
 * @key: remote key
 * @datatype: type of the elements
 * @op: operation
 * @context: comes back with the completion
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_fetch_atomicv(struct fid_ep *ep,
				       const struct fi_ioc *iov, void **desc,
				       size_t count, struct fi_ioc *resultv,
				       void **result_desc, size_t result_count,
				       fi_addr_t dest_addr, u64 addr, u64 key,
				       enum fi_datatype datatype, enum fi_op op,
				       void *context)
{
	const struct fi_ioc_list results = { resultv, result_desc, result_count };

	return __fi_post_atomic(ep, FI_OP_FETCH_ATOMIC, iov, desc, count, results,
				(struct fi_ioc_list) {}, 0, dest_addr, addr, key, datatype, op,
				context);
}

/**
 * fi_fetch_atomicmsg() - fi_fetch_atomic() with flags of its own
 * @ep: the endpoint
 * @msg: the operation
 * @resultv: as fi_fetch_atomicv()
 * @result_desc: as fi_fetch_atomicv()
 * @result_count: as fi_fetch_atomicv()
 * @flags: as fi_readmsg(); FI_COMMIT_COMPLETE and FI_SAVE as fi_atomicmsg()
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_fetch_atomicmsg(struct fid_ep *ep,
					 const struct fi_msg_atomic *msg,
					 struct fi_ioc *resultv,
					 void **result_desc,
					 size_t result_count, u64 flags)
{
	const struct fi_ioc_list results = { resultv, result_desc, result_count };

	return __fi_post_atomic_msg(ep, FI_OP_FETCH_ATOMIC, msg, results,
				    (struct fi_ioc_list) {}, flags);
}

/**
 * fi_compare_atomic() - Change remote memory if it is as expected
 * @ep: the endpoint
 * @buf: operands
 * @count: elements
 * @desc: as fi_write()
 * @compare: what is expected
 * @compare_desc: descriptor of @compare, or NULL
 * @result: where the old values go
 * @result_desc: descriptor of @result, or NULL
 * @dest_addr: as fi_write()
 * @addr: remote address
 * @key: remote key
 * @datatype: type of the elements
 * @op: operation
 * @context: comes back with the completion
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_compare_atomic(struct fid_ep *ep, const void *buf,
					size_t count, void *desc,
					const void *compare, void *compare_desc,
					void *result, void *result_desc,
					fi_addr_t dest_addr, u64 addr, u64 key,
					enum fi_datatype datatype,
					enum fi_op op, void *context)
{
	const struct fi_ioc ioc = { (void *)buf, count };
	const struct fi_ioc comp = { (void *)compare, count };
	const struct fi_ioc res = { result, count };
	const struct fi_ioc_list compares = { &comp, &compare_desc, 1 };
	const struct fi_ioc_list results = { &res, &result_desc, 1 };

	return __fi_post_atomic(ep, FI_OP_COMPARE_ATOMIC, &ioc, &desc, 1, results, compares, 0,
				dest_addr, addr, key, datatype, op, context);
}

/**
 * fi_compare_atomicv() - fi_compare_atomic() with vectors
 * @ep: the endpoint
 * @iov: operands
 * @desc: one fi_mr_desc() per element of @iov, or NULL
 * @count: elements of @iov
 * @comparev: what is expected
 * @compare_desc: one fi_mr_desc() per element of @comparev, or NULL
 * @compare_count: elements of @comparev
 * @resultv: as fi_fetch_atomicv()
 * @result_desc: as fi_fetch_atomicv()
 * @result_count: as fi_fetch_atomicv()
 * @dest_addr: as fi_write()
 * @addr: remote address
 * @key: remote key
 * @datatype: type of the elements
 * @op: operation
 * @context: comes back with the completion
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_compare_atomicv(struct fid_ep *ep,
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
	const struct fi_ioc_list compares = { comparev, compare_desc, compare_count };
	const struct fi_ioc_list results = { resultv, result_desc, result_count };

	return __fi_post_atomic(ep, FI_OP_COMPARE_ATOMIC, iov, desc, count, results, compares, 0,
				dest_addr, addr, key, datatype, op, context);
}

/**
 * fi_compare_atomicmsg() - fi_compare_atomic() with flags of its own
 * @ep: the endpoint
 * @msg: the operation
 * @comparev: as fi_compare_atomicv()
 * @compare_desc: as fi_compare_atomicv()
 * @compare_count: as fi_compare_atomicv()
 * @resultv: as fi_fetch_atomicv()
 * @result_desc: as fi_fetch_atomicv()
 * @result_count: as fi_fetch_atomicv()
 * @flags: as fi_readmsg(), but for FI_SAVE; FI_COMMIT_COMPLETE as fi_atomicmsg()
 *
 * Context: any.
 * Return: see the top of this file.
 */
static inline ssize_t fi_compare_atomicmsg(struct fid_ep *ep,
					   const struct fi_msg_atomic *msg,
					   const struct fi_ioc *comparev,
					   void **compare_desc,
					   size_t compare_count,
					   struct fi_ioc *resultv,
					   void **result_desc,
					   size_t result_count, u64 flags)
{
	const struct fi_ioc_list compares = { comparev, compare_desc, compare_count };
	const struct fi_ioc_list results = { resultv, result_desc, result_count };

	return __fi_post_atomic_msg(ep, FI_OP_COMPARE_ATOMIC, msg, results, compares, flags);
}

/**
 * fi_atomicvalid() - Report whether fi_atomic() has an operation on a type
 * @ep: the endpoint
 * @datatype: type of the elements
 * @op: operation
 * @count: most elements of one call
 *
 * Context: any.
 * Return: 0; -ENOSYS: there is no such operation; -EINVAL: not on this type.
 */
static inline int fi_atomicvalid(struct fid_ep *ep, enum fi_datatype datatype,
				 enum fi_op op, size_t *count)
{
	return ep->xfer->atomicvalid(ep, datatype, op, 0, count);
}

/**
 * fi_fetch_atomicvalid() - Report whether fi_fetch_atomic() has an operation on a type
 * @ep: the endpoint
 * @datatype: type of the elements
 * @op: operation
 * @count: as fi_atomicvalid()
 *
 * Context: any.
 * Return: 0; -ENOSYS: there is no such operation; -EINVAL: not on this type.
 */
static inline int fi_fetch_atomicvalid(struct fid_ep *ep,
				       enum fi_datatype datatype, enum fi_op op,
				       size_t *count)
{
	return ep->xfer->atomicvalid(ep, datatype, op, FI_FETCH_ATOMIC, count);
}

/**
 * fi_compare_atomicvalid() - Report whether fi_compare_atomic() has an operation on a type
 * @ep: the endpoint
 * @datatype: type of the elements
 * @op: operation
 * @count: as fi_atomicvalid()
 *
 * Context: any.
 * Return: 0; -ENOSYS: there is no such operation; -EINVAL: not on this type.
 */
static inline int fi_compare_atomicvalid(struct fid_ep *ep,
					 enum fi_datatype datatype,
					 enum fi_op op, size_t *count)
{
	return ep->xfer->atomicvalid(ep, datatype, op, FI_COMPARE_ATOMIC, count);
}

/**
 * fi_query_atomic() - Report whether a domain has an atomic operation on a type
 * @domain: the domain
 * @datatype: element type
 * @op: operation
 * @attr: filled with the most elements of one call and their size
 * @flags: 0, FI_FETCH_ATOMIC or FI_COMPARE_ATOMIC
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: not this operation, or no atomics at all; -EINVAL: not on
 * this type, or a bad argument; -FI_EBADFLAGS.
 */
int fi_query_atomic(struct fid_domain *domain, enum fi_datatype datatype,
		    enum fi_op op, struct fi_atomic_attr *attr, u64 flags);

#endif /* _RDMA_FI_ATOMIC_H */
