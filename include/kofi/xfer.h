/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One form of all data transfers.
 *
 * Clients have some forty calls for data transfers, which differ mostly in how arguments
 * are passed.  struct kofi_op describes the operation of any of them.  A provider that
 * includes kofi/xfer_ops.h implements each kind of operation once and has all calls;
 * kofi/xfer_atomic_ops.h does that for atomic operations.
 */
#ifndef _KOFI_XFER_H
#define _KOFI_XFER_H

#include <kofi/ep.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

enum kofi_op_kind {
	KOFI_OP_SEND,
	KOFI_OP_TSEND,
	KOFI_OP_RECV,
	KOFI_OP_TRECV,
	KOFI_OP_READ,
	KOFI_OP_WRITE,
	KOFI_OP_ATOMIC,
	KOFI_OP_FETCH,
	KOFI_OP_COMPARE,
};

/**
 * struct kofi_op - A data transfer, as its call describes it
 * @kind: what is to be done
 * @type: what @list consists of
 * @list: local buffers: to be sent or written, to receive or read into; operands of an
 *	atomic operation are a list of &struct fi_ioc
 * @count: elements of @list
 * @any_length: fi_readsgl() or fi_writesgl(): the list may have any number of elements
 * @offset: fi_readsgl() or fi_writesgl(): bytes to skip at the start of the list
 * @desc: descriptors of the elements, or NULL
 * @flags: of the call, with FI_COMPLETION if success is to be reported
 * @addr: peer: of a receive the only sender, or FI_ADDR_UNSPEC
 * @context: the client's
 * @data: remote CQ data, or with FI_REMOTE_INV the key
 * @tag: tagged messages: the tag
 * @ignore: tagged receives: bits of the tag that do not count
 * @rma: remote memory of reads and writes
 * @ioc: remote memory of atomic operations
 * @remote_count: elements of @rma or @ioc
 * @result: atomic operations that fetch: buffers for old values, &struct fi_ioc
 * @result_count: elements of @result
 * @result_desc: descriptors of @result, or NULL
 * @compare: atomic operations that compare: values to compare with, &struct fi_ioc
 * @compare_count: elements of @compare
 * @compare_desc: descriptors of @compare, or NULL
 * @datatype: atomic operations: type of the elements
 * @op: atomic operations: the operation
 *
 * Everything that this points to, except the buffers, is the caller's again when the call
 * returns.
 */
struct kofi_op {
	enum kofi_op_kind		kind;
	enum fi_buf_type		type;
	const void			*list;
	size_t				count;
	bool				any_length;
	size_t				offset;
	void				**desc;
	u64				flags;
	fi_addr_t			addr;
	void				*context;
	u64				data;
	u64				tag;
	u64				ignore;
	union {
		const struct fi_rma_iov	*rma;
		const struct fi_rma_ioc	*ioc;
	};
	size_t				remote_count;
	const struct fi_ioc		*result;
	size_t				result_count;
	void				**result_desc;
	const struct fi_ioc		*compare;
	size_t				compare_count;
	void				**compare_desc;
	enum fi_datatype		datatype;
	enum fi_op			op;
};

/* Is the operation a receive? */
static inline bool kofi_op_is_recv(const struct kofi_op *op)
{
	return op->kind == KOFI_OP_RECV || op->kind == KOFI_OP_TRECV;
}

/**
 * kofi_op_pmem_flags() - Flags about persistent memory that an operation may have
 * @ep: the endpoint
 * @op: the operation
 *
 * A message is not in a region, so it cannot have FI_COMMIT_COMPLETE.  A message with FI_SAVE
 * has no remote CQ data, because that needs a receive.
 *
 * Context: any.
 * Return: those of FI_COMMIT_COMPLETE and FI_SAVE that @op may have.
 */
static inline u64 kofi_op_pmem_flags(const struct kofi_ep *ep, const struct kofi_op *op)
{
	u64 asked = op->flags & FI_SAVE;

	switch (op->kind) {
	case KOFI_OP_SEND:
	case KOFI_OP_TSEND:
		return ep->caps & FI_RMA_PMEM && !(op->flags & FI_REMOTE_CQ_DATA) ? asked : 0;
	case KOFI_OP_WRITE:
		return ep->caps & FI_RMA_PMEM ? FI_COMMIT_COMPLETE | asked : 0;
	case KOFI_OP_READ:
		return ep->caps & FI_RMA_PMEM && asked ? FI_COMMIT_COMPLETE | asked : 0;
	case KOFI_OP_ATOMIC:
		return ep->caps & FI_ATOMIC_PMEM ? FI_COMMIT_COMPLETE | asked : 0;
	case KOFI_OP_FETCH:
		if (op->op == FI_ATOMIC_READ && !asked)
			return 0;
		return ep->caps & FI_ATOMIC_PMEM ? FI_COMMIT_COMPLETE | asked : 0;
	case KOFI_OP_COMPARE:
		return ep->caps & FI_ATOMIC_PMEM ? FI_COMMIT_COMPLETE : 0;
	default:
		return 0;
	}
}

/**
 * kofi_op_check() - Does the endpoint have such an operation, with such flags?
 * @ep: the endpoint, or one of the contexts
 * @op: the operation
 *
 * Context: any.
 * Return: 0; -ENOSYS: a receive of a transmit context, or of an endpoint that uses a shared
 * receive context, or anything else of a receive context; -FI_EBADFLAGS.
 */
static inline int kofi_op_check(const struct kofi_ep *ep, const struct kofi_op *op)
{
	bool recv = kofi_op_is_recv(op);
	u64 known;

	if (recv ? ep->no_rx : ep->no_tx)
		return -ENOSYS;
	known = op->kind == KOFI_OP_RECV ? ep->limits->recv_flags :
		op->kind == KOFI_OP_TRECV ? ep->limits->trecv_flags :
					    ep->limits->tx_flags;
	/* Only a message can invalidate a key of the peer */
	if (op->kind != KOFI_OP_SEND)
		known &= ~FI_REMOTE_INV;
	/* Reads and fetches have no data to inject, and no remote CQ data */
	if (op->kind == KOFI_OP_READ || op->kind >= KOFI_OP_FETCH)
		known &= ~(FI_INJECT | FI_REMOTE_CQ_DATA);
	if (op->flags & (FI_COMMIT_COMPLETE | FI_SAVE))
		known &= ~(FI_COMMIT_COMPLETE | FI_SAVE) | kofi_op_pmem_flags(ep, op);
	if (op->any_length)
		known &= FI_COMPLETION | FI_FENCE | FI_INJECT_COMPLETE |
			 FI_TRANSMIT_COMPLETE;
	return op->flags & ~known ? -FI_EBADFLAGS : 0;
}

/**
 * kofi_op_refuse() - Say why an operation was refused, see kofi/refuse.h
 * @ep: the endpoint, or one of the contexts
 * @op: the operation
 * @ret: what the call is about to return
 *
 * Providers call it where a post has failed.  -EAGAIN is no refusal.
 *
 * Context: any.
 * Return: @ret.
 */
ssize_t kofi_op_refuse(const struct kofi_ep *ep, const struct kofi_op *op, ssize_t ret);

/**
 * kofi_op_comp_flags() - Flags of the completion of an operation
 * @op: the operation
 *
 * Context: any.
 * Return: FI_MSG | FI_SEND and the like.
 */
static inline u64 kofi_op_comp_flags(const struct kofi_op *op)
{
	switch (op->kind) {
	case KOFI_OP_SEND:
		return FI_MSG | FI_SEND;
	case KOFI_OP_TSEND:
		return FI_TAGGED | FI_SEND;
	case KOFI_OP_RECV:
		return FI_MSG | FI_RECV;
	case KOFI_OP_TRECV:
		return FI_TAGGED | FI_RECV;
	case KOFI_OP_READ:
		return FI_RMA | FI_READ;
	case KOFI_OP_WRITE:
		return FI_RMA | FI_WRITE;
	case KOFI_OP_ATOMIC:
		return FI_ATOMIC | FI_WRITE;
	default:
		return FI_ATOMIC | FI_READ;
	}
}

/* The form of an atomic operation, as in the flags of fi_query_atomic() */
static inline u64 kofi_atomic_form(enum kofi_op_kind kind)
{
	return kind == KOFI_OP_FETCH ? FI_FETCH_ATOMIC :
	       kind == KOFI_OP_COMPARE ? FI_COMPARE_ATOMIC : 0;
}

#endif /* _KOFI_XFER_H */
