/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kfi_* names on kOFI: reads and writes of a peer's tagged receives; see kfabric.h.
 *
 * The key is the tag of a receive that the peer has posted with kfi_trecvmsg(), and the address
 * is 0.  A receive is used once.  An operation does not wait for its receive: without one it ends
 * with ENOMSG.  One that is longer than the receive ends with EMSGSIZE at both ends.
 */
#ifndef _KOFI_KFI_RMA_H
#define _KOFI_KFI_RMA_H

#include <rdma/fi_rma.h>
#include <kfi_endpoint.h>

#define kfi_msg_rma		fi_msg_rma
#define kfi_rma_iov		fi_rma_iov
/* A field of the messages: the list of KFI_BVEC */
#define msg_biov		msg_bvec

/**
 * kfi_readmsg() - Read a peer's tagged receive
 * @tx: the transmit context
 * @msg: local buffers, peer, and one struct kfi_rma_iov
 * @flags: KFI_TAGGED, and KFI_COMPLETION
 *
 * Context: any.
 * Return: as fi_readmsg().
 */
static inline ssize_t kfi_readmsg(struct kfid_ep *tx, const struct kfi_msg_rma *msg, u64 flags)
{
	return fi_readmsg(tx, msg, flags);
}

/**
 * kfi_writemsg() - Write a peer's tagged receive
 * @tx: the transmit context
 * @msg: local buffers, peer, and one struct kfi_rma_iov
 * @flags: KFI_TAGGED, and KFI_COMPLETION
 *
 * Context: any.
 * Return: as fi_writemsg().
 */
static inline ssize_t kfi_writemsg(struct kfid_ep *tx, const struct kfi_msg_rma *msg, u64 flags)
{
	return fi_writemsg(tx, msg, flags);
}

#endif /* _KOFI_KFI_RMA_H */
