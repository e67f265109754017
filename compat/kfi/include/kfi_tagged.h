/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kfi_* names on kOFI: tagged receives, and ending a peer's; see kfabric.h.
 */
#ifndef _KOFI_KFI_TAGGED_H
#define _KOFI_KFI_TAGGED_H

#include <rdma/fi_tagged.h>
#include <kfi_endpoint.h>

#define kfi_msg_tagged		fi_msg_tagged
/* A field of the messages: the list of KFI_BVEC */
#define msg_biov		msg_bvec

ssize_t kofi_kfi_tsenddata(struct kfid_ep *tx, const void *buf, size_t len, u64 data,
			   kfi_addr_t addr, u64 tag, void *context);

/**
 * kfi_trecvmsg() - Post a receive that one peer reads, writes, or ends, once
 * @rx: the receive context
 * @msg: the buffers, the peer, and the tag
 * @flags: KFI_COMPLETION; they replace the op_flags of @rx
 *
 * Context: any.
 * Return: as fi_trecvmsg().
 */
static inline ssize_t kfi_trecvmsg(struct kfid_ep *rx, const struct kfi_msg_tagged *msg,
				   u64 flags)
{
	return fi_trecvmsg(rx, msg, flags);
}

/**
 * kfi_tsenddata() - End a peer's tagged receive, with 64 bits of data
 * @tx: the transmit context
 * @buf: bytes for the receive, or NULL
 * @len: bytes of @buf
 * @desc: NULL
 * @data: for the completion of the receive
 * @addr: the peer's receive context
 * @tag: that of the receive
 * @context: comes back with the completion
 *
 * It is a tagged write with data, so it does not wait for its receive either: if there is none,
 * it ends with ENOMSG, and never ends a later receive with that tag.
 *
 * Context: any.
 * Return: as fi_writemsg(); -EINVAL also for a @context whose bit 0 is set.
 */
static inline ssize_t kfi_tsenddata(struct kfid_ep *tx, const void *buf, size_t len, void *desc,
				    u64 data, kfi_addr_t addr, u64 tag, void *context)
{
	return kofi_kfi_tsenddata(tx, buf, len, data, addr, tag, context);
}

#endif /* _KOFI_KFI_TAGGED_H */
