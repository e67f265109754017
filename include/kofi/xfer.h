/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Data transfers as a provider gets them: what the endpoint has, and what its flags are.
 *
 * Each call of a client is described by a struct fi_xfer.  fi_send(), fi_recv(), fi_read() and
 * fi_write() have slots of their own, for a provider that is faster without a description;
 * kofi_xfer_send() and its siblings (kofi/provider.h) describe them, too.  ->post of the
 * provider calls kofi_xfer_check() first.
 *
 * Flags: a call with an argument for flags, such as fi_sendmsg(), has the client's flags.  Any
 * other call has the default flags of the endpoint, and the flags that its name implies.
 * FI_COMPLETION is added where the endpoint reports every success; fi_inject() and the like
 * never have it.
 */
#ifndef _KOFI_XFER_H
#define _KOFI_XFER_H

#include <kofi/ep.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

static inline bool kofi_xfer_is_recv(const struct fi_xfer *xfer)
{
	return xfer->type == FI_OP_RECV || xfer->type == FI_OP_TRECV;
}

/* Return true if the call is fi_readsgl() or fi_writesgl() */
static inline bool kofi_xfer_any_length(const struct fi_xfer *xfer)
{
	return (xfer->type == FI_OP_READ || xfer->type == FI_OP_WRITE) &&
	       to_fi_rma_xfer(xfer)->any_length;
}

/* Return the flags of an operation, which kofi_xfer_check() has not checked yet */
static __always_inline u64 kofi_xfer_flags(const struct kofi_ep *ep, const struct fi_xfer *xfer)
{
	const struct kofi_ep_side *side = kofi_xfer_is_recv(xfer) ? &ep->rx : &ep->tx;
	u64 flags = kofi_ep_flags(side, xfer->flags);

	if (!xfer->defaults)
		return flags;
	flags |= READ_ONCE(side->op_flags);
	if (xfer->flags & FI_INJECT)
		flags &= ~FI_COMPLETION;
	/* What is read or fetched cannot be injected */
	if (xfer->type == FI_OP_READ || xfer->type >= FI_OP_FETCH_ATOMIC)
		flags &= ~FI_INJECT | xfer->flags;
	return flags;
}

int kofi_xfer_check_exact(const struct kofi_ep *ep, const struct fi_xfer *xfer, u64 flags);

/**
 * kofi_xfer_check() - Find out whether the endpoint has such an operation, and its flags
 * @ep: the endpoint, or one of the contexts
 * @xfer: the operation
 * @flags: of the operation, with FI_COMPLETION if success is to be reported
 *
 * Context: any.
 * Return: 0; -ENOSYS: kofi_ep.xfers lacks the operation, or the name of the call implies a flag
 * that the provider does not have; -FI_EBADFLAGS.
 */
static __always_inline int
kofi_xfer_check(const struct kofi_ep *ep, const struct fi_xfer *xfer, u64 *flags)
{
	*flags = kofi_xfer_flags(ep, xfer);
	if (likely(ep->xfers & BIT(xfer->type) && !(*flags & ~ep->xfer_flags[xfer->type])))
		return 0;
	return kofi_xfer_check_exact(ep, xfer, *flags);
}

/**
 * kofi_xfer_refuse() - Say why an operation was refused, see kofi/refuse.h
 * @ep: the endpoint, or one of the contexts
 * @xfer: the operation
 * @ret: what the call is about to return
 *
 * Providers call it where a post has failed.  -EAGAIN is no refusal.
 *
 * Context: any.
 * Return: @ret.
 */
ssize_t kofi_xfer_refuse(const struct kofi_ep *ep, const struct fi_xfer *xfer, ssize_t ret);

/**
 * kofi_xfer_comp_flags() - Flags of the completion of an operation
 * @xfer: the operation
 *
 * Context: any.
 * Return: FI_MSG | FI_SEND and the like.
 */
static inline u64 kofi_xfer_comp_flags(const struct fi_xfer *xfer)
{
	switch (xfer->type) {
	case FI_OP_SEND:
		return FI_MSG | FI_SEND;
	case FI_OP_TSEND:
		return FI_TAGGED | FI_SEND;
	case FI_OP_RECV:
		return FI_MSG | FI_RECV;
	case FI_OP_TRECV:
		return FI_TAGGED | FI_RECV;
	case FI_OP_READ:
		return FI_RMA | FI_READ;
	case FI_OP_WRITE:
		return FI_RMA | FI_WRITE;
	case FI_OP_ATOMIC:
		return FI_ATOMIC | FI_WRITE;
	default:
		return FI_ATOMIC | FI_READ;
	}
}

/* The form of an atomic operation, as in the flags of fi_query_atomic() */
static inline u64 kofi_atomic_form(enum fi_op_type type)
{
	return type == FI_OP_FETCH_ATOMIC ? FI_FETCH_ATOMIC :
	       type == FI_OP_COMPARE_ATOMIC ? FI_COMPARE_ATOMIC : 0;
}

#endif /* _KOFI_XFER_H */
