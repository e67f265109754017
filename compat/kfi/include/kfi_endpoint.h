/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kfi_* names on kOFI: scalable endpoints, their contexts, messages; see kfabric.h.
 *
 * The context of an operation is a pointer to an object, so its bit 0 is clear: kofi_kfi.ko uses
 * that bit on the way.  The list of an operation belongs to the provider until the completion
 * has been read, as its buffers do.
 */
#ifndef _KOFI_KFI_ENDPOINT_H
#define _KOFI_KFI_ENDPOINT_H

#include <rdma/fi_endpoint.h>
#include <kfi_domain.h>
#include <kfi_eq.h>

#define KFI_OPT_ENDPOINT	FI_OPT_ENDPOINT
#define KFI_OPT_MIN_MULTI_RECV	FI_OPT_MIN_MULTI_RECV

int kofi_kfi_scalable_ep(struct kfid_domain *domain, const struct kfi_info *info,
			 struct kfid_ep **sep, void *context);
int kofi_kfi_tx_context(struct kfid_ep *sep, int index, const struct kfi_tx_attr *attr,
			struct kfid_ep **tx, void *context);
int kofi_kfi_rx_context(struct kfid_ep *sep, int index, const struct kfi_rx_attr *attr,
			struct kfid_ep **rx, void *context);
int kofi_kfi_ep_bind(struct kfid_ep *ep, struct kfid *fid, u64 flags);
ssize_t kofi_kfi_cancel(struct kfid *fid, void *context);

/**
 * kfi_scalable_ep() - Open an endpoint of several contexts
 * @domain: where
 * @info: a result of kfi_getinfo()
 * @sep: the scalable endpoint
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: as fi_scalable_ep(); -EINVAL also for an @info with another kind of address.
 */
static inline int kfi_scalable_ep(struct kfid_domain *domain, const struct kfi_info *info,
				  struct kfid_ep **sep, void *context)
{
	return kofi_kfi_scalable_ep(domain, info, sep, context);
}

/**
 * kfi_scalable_ep_bind() - Bind an address vector
 * @sep: the scalable endpoint
 * @fid: the address vector
 * @flags: 0
 *
 * Context: may sleep.
 * Return: as fi_scalable_ep_bind().
 */
static inline int kfi_scalable_ep_bind(struct kfid_ep *sep, struct kfid *fid, u64 flags)
{
	return fi_scalable_ep_bind(sep, fid, flags);
}

/**
 * kfi_tx_context() - Open a transmit context
 * @sep: the scalable endpoint; it may be enabled
 * @index: which context
 * @attr: its size and op_flags; its traffic class is that of @sep
 * @tx: the context
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: as fi_tx_context().
 */
static inline int kfi_tx_context(struct kfid_ep *sep, int index, const struct kfi_tx_attr *attr,
				 struct kfid_ep **tx, void *context)
{
	return kofi_kfi_tx_context(sep, index, attr, tx, context);
}

/**
 * kfi_rx_context() - Open a receive context
 * @sep: the scalable endpoint; it may be enabled
 * @index: which context
 * @attr: its size and op_flags
 * @rx: the context
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: as fi_rx_context().
 */
static inline int kfi_rx_context(struct kfid_ep *sep, int index, const struct kfi_rx_attr *attr,
				 struct kfid_ep **rx, void *context)
{
	return kofi_kfi_rx_context(sep, index, attr, rx, context);
}

/**
 * kfi_ep_bind() - Bind a completion queue to a context
 * @ep: the context
 * @fid: the queue
 * @flags: 0: for the direction that the context has
 *
 * Context: may sleep.
 * Return: as fi_ep_bind().
 */
static inline int kfi_ep_bind(struct kfid_ep *ep, struct kfid *fid, u64 flags)
{
	return kofi_kfi_ep_bind(ep, fid, flags);
}

/**
 * kfi_enable() - Enable a scalable endpoint or a context
 * @ep: the endpoint
 *
 * Context: may sleep.
 * Return: as fi_enable().
 */
static inline int kfi_enable(struct kfid_ep *ep)
{
	return fi_enable(ep);
}

/**
 * kfi_setopt() - Set an option
 * @fid: the context
 * @level: KFI_OPT_ENDPOINT
 * @optname: KFI_OPT_MIN_MULTI_RECV
 * @optval: its value
 * @optlen: bytes of the value
 *
 * Context: may sleep.
 * Return: as fi_setopt().
 */
static inline int kfi_setopt(struct kfid *fid, int level, int optname, const void *optval,
			     size_t optlen)
{
	return fi_setopt(fid, level, optname, optval, optlen);
}

/**
 * kfi_cancel() - Take a receive back
 * @fid: the receive context
 * @context: that of the receive
 *
 * Context: any.
 * Return: 0: the receive ends once, with ECANCELED, or as it would have otherwise; -ENOENT: it has
 * ended already, or there was none.
 */
static inline ssize_t kfi_cancel(struct kfid *fid, void *context)
{
	return kofi_kfi_cancel(fid, context);
}

/**
 * kfi_recv() - Post a buffer for messages
 * @rx: the receive context; with KFI_MULTI_RECV in its op_flags the buffer takes messages until
 *	less than KFI_OPT_MIN_MULTI_RECV is left
 * @buf: the buffer
 * @len: bytes of @buf
 * @desc: NULL
 * @addr: the only sender, or KFI_ADDR_UNSPEC
 * @context: comes back with the completions
 *
 * Context: any.
 * Return: as fi_recv().
 */
static inline ssize_t kfi_recv(struct kfid_ep *rx, void *buf, size_t len, void *desc,
			       kfi_addr_t addr, void *context)
{
	return fi_recv(rx, buf, len, desc, addr, context);
}

/**
 * kfi_send() - Send a message
 * @tx: the transmit context
 * @buf: the message
 * @len: bytes of @buf
 * @desc: NULL
 * @addr: the peer's receive context
 * @context: comes back with the completion
 *
 * Context: any.
 * Return: as fi_send().
 */
static inline ssize_t kfi_send(struct kfid_ep *tx, const void *buf, size_t len, void *desc,
			       kfi_addr_t addr, void *context)
{
	return fi_send(tx, buf, len, desc, addr, context);
}

#endif /* _KOFI_KFI_ENDPOINT_H */
