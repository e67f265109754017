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

struct fi_ops_atomic {
	size_t	size;
	ssize_t	(*write)(struct fid_ep *ep, const void *buf, size_t count,
			 void *desc, fi_addr_t dest_addr, u64 addr, u64 key,
			 enum fi_datatype datatype, enum fi_op op,
			 void *context);
	ssize_t	(*writev)(struct fid_ep *ep, const struct fi_ioc *iov,
			  void **desc, size_t count, fi_addr_t dest_addr,
			  u64 addr, u64 key, enum fi_datatype datatype,
			  enum fi_op op, void *context);
	ssize_t	(*writemsg)(struct fid_ep *ep, const struct fi_msg_atomic *msg,
			    u64 flags);
	ssize_t	(*inject)(struct fid_ep *ep, const void *buf, size_t count,
			  fi_addr_t dest_addr, u64 addr, u64 key,
			  enum fi_datatype datatype, enum fi_op op);
	ssize_t	(*readwrite)(struct fid_ep *ep, const void *buf, size_t count,
			     void *desc, void *result, void *result_desc,
			     fi_addr_t dest_addr, u64 addr, u64 key,
			     enum fi_datatype datatype, enum fi_op op,
			     void *context);
	ssize_t	(*readwritev)(struct fid_ep *ep, const struct fi_ioc *iov,
			      void **desc, size_t count, struct fi_ioc *resultv,
			      void **result_desc, size_t result_count,
			      fi_addr_t dest_addr, u64 addr, u64 key,
			      enum fi_datatype datatype, enum fi_op op,
			      void *context);
	ssize_t	(*readwritemsg)(struct fid_ep *ep,
				const struct fi_msg_atomic *msg,
				struct fi_ioc *resultv, void **result_desc,
				size_t result_count, u64 flags);
	ssize_t	(*compwrite)(struct fid_ep *ep, const void *buf, size_t count,
			     void *desc, const void *compare,
			     void *compare_desc, void *result,
			     void *result_desc, fi_addr_t dest_addr, u64 addr,
			     u64 key, enum fi_datatype datatype, enum fi_op op,
			     void *context);
	ssize_t	(*compwritev)(struct fid_ep *ep, const struct fi_ioc *iov,
			      void **desc, size_t count,
			      const struct fi_ioc *comparev,
			      void **compare_desc, size_t compare_count,
			      struct fi_ioc *resultv, void **result_desc,
			      size_t result_count, fi_addr_t dest_addr,
			      u64 addr, u64 key, enum fi_datatype datatype,
			      enum fi_op op, void *context);
	ssize_t	(*compwritemsg)(struct fid_ep *ep,
				const struct fi_msg_atomic *msg,
				const struct fi_ioc *comparev,
				void **compare_desc, size_t compare_count,
				struct fi_ioc *resultv, void **result_desc,
				size_t result_count, u64 flags);
	int	(*writevalid)(struct fid_ep *ep, enum fi_datatype datatype,
			      enum fi_op op, size_t *count);
	int	(*readwritevalid)(struct fid_ep *ep, enum fi_datatype datatype,
				  enum fi_op op, size_t *count);
	int	(*compwritevalid)(struct fid_ep *ep, enum fi_datatype datatype,
				  enum fi_op op, size_t *count);
};

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
	return ep->atomic->write(ep, buf, count, desc, dest_addr, addr, key,
				 datatype, op, context);
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
	return ep->atomic->writev(ep, iov, desc, count, dest_addr, addr, key,
				  datatype, op, context);
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
	return ep->atomic->writemsg(ep, msg, flags);
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
	return ep->atomic->inject(ep, buf, count, dest_addr, addr, key,
				  datatype, op);
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
	return ep->atomic->readwrite(ep, buf, count, desc, result, result_desc,
				     dest_addr, addr, key, datatype, op,
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
	return ep->atomic->readwritev(ep, iov, desc, count, resultv,
				      result_desc, result_count, dest_addr,
				      addr, key, datatype, op, context);
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
	return ep->atomic->readwritemsg(ep, msg, resultv, result_desc,
					result_count, flags);
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
	return ep->atomic->compwrite(ep, buf, count, desc, compare,
				     compare_desc, result, result_desc,
				     dest_addr, addr, key, datatype, op,
				     context);
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
	return ep->atomic->compwritev(ep, iov, desc, count, comparev,
				      compare_desc, compare_count, resultv,
				      result_desc, result_count, dest_addr,
				      addr, key, datatype, op, context);
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
	return ep->atomic->compwritemsg(ep, msg, comparev, compare_desc,
					compare_count, resultv, result_desc,
					result_count, flags);
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
	return ep->atomic->writevalid(ep, datatype, op, count);
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
	return ep->atomic->readwritevalid(ep, datatype, op, count);
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
	return ep->atomic->compwritevalid(ep, datatype, op, count);
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
