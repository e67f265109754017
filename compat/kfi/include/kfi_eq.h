/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kfi_* names on kOFI: completion queues; see kfabric.h.
 *
 * A queue calls a handler when it is no longer empty.  The handler, or what it wakes, reads until
 * -EAGAIN; several threads may read at the same time.  Completions have exactly these flags:
 *
 *	MSG | SEND			kfi_send()
 *	MSG | RECV			a message in a buffer
 *	MSG | RECV | MULTI_RECV		the last message of a buffer, which the client has again
 *	TAGGED | SEND			kfi_tsenddata()
 *	TAGGED | RMA | READ | SEND	kfi_readmsg()
 *	TAGGED | RMA | WRITE | SEND	kfi_writemsg()
 *	TAGGED | RECV | REMOTE_CQ_DATA	a receive that a peer's kfi_tsenddata() has ended
 *	TAGGED | RMA | READ | RECV	a receive that a peer has read
 *	TAGGED | RMA | WRITE | RECV	a receive that a peer has written
 *
 * An error has those of what has failed, or TAGGED | RECV for a receive that nothing has used.
 * What a peer sends against these rules is an error, too: a tagged message without data is
 * EPROTO, and a buffer that is given back because the next message does not fit is
 * MSG | RECV | MULTI_RECV with ENOBUFS.  ECANCELED is the end of a receive by kfi_cancel().
 */
#ifndef _KOFI_KFI_EQ_H
#define _KOFI_KFI_EQ_H

#include <rdma/fi_eq.h>
#include <kfabric.h>

#define kfi_cq_attr		fi_cq_attr
#define kfi_cq_data_entry	fi_cq_data_entry
#define kfi_cq_err_entry	fi_cq_err_entry

/* The queue's calls are made on the processor signaling_vector */
#define KFI_AFFINITY		FI_AFFINITY
#define KFI_CQ_FORMAT_DATA	FI_CQ_FORMAT_DATA
#define KFI_CQ_COND_NONE	FI_CQ_COND_NONE
#define KFI_WAIT_NONE		FI_WAIT_NONE

typedef void (*kfi_comp_handler)(struct kfid_cq *cq, void *context);

int kofi_kfi_cq_open(struct kfid_domain *domain, const struct kfi_cq_attr *attr,
		     struct kfid_cq **cq, kfi_comp_handler handler, void *context);
ssize_t kofi_kfi_cq_read(struct kfid_cq *cq, struct kfi_cq_data_entry *entries, size_t count);
ssize_t kofi_kfi_cq_readerr(struct kfid_cq *cq, struct kfi_cq_err_entry *entry, u64 flags);

/**
 * kfi_cq_open() - Open a completion queue
 * @domain: where
 * @attr: its size, format KFI_CQ_FORMAT_DATA, KFI_WAIT_NONE
 * @cq: the queue
 * @handler: called in a worker when the first entry comes after a read found the queue empty
 * @context: for @handler
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: another format or wait object, or no handler; -ENOMEM; as fi_cq_open().
 */
static inline int kfi_cq_open(struct kfid_domain *domain, const struct kfi_cq_attr *attr,
			      struct kfid_cq **cq, kfi_comp_handler handler, void *context)
{
	return kofi_kfi_cq_open(domain, attr, cq, handler, context);
}

/**
 * kfi_cq_read() - Take completions
 * @cq: the queue
 * @entries: where they go
 * @count: most entries to take
 *
 * Context: any.
 * Return: number of entries; -EAGAIN: there is none, or enough other threads are reading;
 * -KFI_EAVAIL: an error is next, read it with kfi_cq_readerr(); -ENODEV: there is none, and none
 * will come, as the network namespace or the device has gone.
 */
static inline ssize_t kfi_cq_read(struct kfid_cq *cq, struct kfi_cq_data_entry *entries,
				  size_t count)
{
	return kofi_kfi_cq_read(cq, entries, count);
}

/**
 * kfi_cq_readerr() - Take the error at the head of the queue
 * @cq: the queue
 * @entry: where it goes; no field of it is read
 * @flags: 0
 *
 * Context: any.
 * Return: 1; -EAGAIN: there is none.
 */
static inline ssize_t kfi_cq_readerr(struct kfid_cq *cq, struct kfi_cq_err_entry *entry,
				     u64 flags)
{
	return kofi_kfi_cq_readerr(cq, entry, flags);
}

#endif /* _KOFI_KFI_EQ_H */
