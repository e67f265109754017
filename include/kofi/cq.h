/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A completion queue that any provider may build its own on.
 *
 * A completion is a struct kofi_comp that the provider embeds in the slot of
 * the operation.  The queue is a list of the slots that have completed and have
 * not been read, so it needs no memory of its own and cannot run over: a slot
 * is free again when its completion has been read.  Errors stand in the same
 * list, in order.
 *
 * Reading is in two steps under one hold of the queue's lock: kofi_cq_read()
 * takes slots off the list, copies them into the client's entries and hands the
 * chain back; the provider returns the slots of the chain to their endpoints and
 * then unlocks.  So once kofi_cq_purge() has taken an endpoint's completions out,
 * no reader of a shared queue is still looking at its slots, and its close may
 * free them.
 *
 * With FI_WAIT_DONE the list stays empty: the provider calls the operation's
 * callback in place of kofi_cq_complete(), and frees the slot before it does.
 */
#ifndef _KOFI_CQ_H
#define _KOFI_CQ_H

#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/fi_eq.h>

/**
 * struct kofi_comp - A completion, embedded in the slot of an operation
 * @next: next in the queue or chain
 * @op_context: the operation's context
 * @flags: FI_SEND | FI_MSG and the like, the lower half of the client's 64 bits, where
 *	all are that completions have, but for FI_CLAIM
 * @len: bytes received; so no provider's messages may have more than U32_MAX
 * @buf: buffer of a receive
 * @data: remote CQ data
 * @err: positive error code; 0: success
 * @prov_errno: provider's code of the error, at most U16_MAX
 * @own: the provider's, which finds room here that would be lost
 *
 * There is one for each operation that may be in flight, so its size counts: 48 bytes
 * on a machine of 64 bits.
 */
struct kofi_comp {
	struct kofi_comp	*next;
	void			*op_context;
	u32			flags;
	u32			len;
	void			*buf;
	u64			data;
	int			err;
	u16			prov_errno;
	u8			own;
};

/**
 * struct kofi_tagged_comp - The completion of a tagged message
 * @comp: with FI_TAGGED in its flags
 * @tag: of the message
 */
struct kofi_tagged_comp {
	struct kofi_comp	comp;
	u64			tag;
};

/* What a callback of FI_WAIT_DONE is told */
static inline void kofi_comp_entry(const struct kofi_comp *comp,
				   struct fi_done_entry *entry)
{
	entry->flags = comp->flags;
	entry->len = comp->len;
	entry->data = comp->data;
	entry->err = comp->err;
	entry->prov_errno = comp->err ? comp->prov_errno : 0;
}

/**
 * struct kofi_cq - The queue; the provider embeds it in its own
 * @cq: what the client sees
 * @lock: guards @head to @ended, and the slots of a chain that was read
 *	until they are back with their endpoint; taken with interrupts off
 * @head: oldest completion
 * @tail: where the next one is linked
 * @count: completions in the list
 * @errors: how many of these are errors
 * @reserved: operations that bound, enabled endpoints may have
 * @armed: the handler is due at the next completion
 * @handling: the handler runs
 * @due: it is due again as soon as it returns
 * @signalled: fi_cq_signal() was called and nobody has woken for it yet
 * @ended: nothing completes any more: negative errno for readers; else 0
 * @size: most of @reserved
 * @format: layout of entries
 * @wait_obj: kind of queue
 * @wait_cond: fi_cq_sread() takes a threshold
 * @wait: sleepers in fi_cq_sread()
 * @handler: client's handler
 */
struct kofi_cq {
	struct fid_cq		cq;
	spinlock_t		lock;		/* see above */
	struct kofi_comp	*head;
	struct kofi_comp	**tail;
	size_t			count;
	size_t			errors;
	size_t			reserved;
	bool			armed;
	bool			handling;
	bool			due;
	bool			signalled;
	int			ended;
	size_t			size;
	enum fi_cq_format	format;
	enum fi_wait_obj	wait_obj;
	enum fi_cq_wait_cond	wait_cond;
	wait_queue_head_t	wait;
	void			(*handler)(struct fid_cq *cq, void *context);
};

/**
 * kofi_cq_init() - Check the attributes and set the queue up
 * @cq: the queue; the provider sets cq.fid.ops and cq.ops
 * @attr: the client's wishes, may be NULL
 * @size: operations it has room for
 * @context: the client's pointer
 *
 * Context: any.
 * Return: 0; -EINVAL; -FI_EBADFLAGS; -ENOSYS: that kind of wait object.
 */
int kofi_cq_init(struct kofi_cq *cq, const struct fi_cq_attr *attr, size_t size,
		 void *context);

/**
 * kofi_cq_reserve() - Set room aside for an endpoint's operations
 * @cq: the queue
 * @count: depth of the endpoint's queue
 *
 * Context: any.
 * Return: 0; -ENOSPC: there is not that much left.
 */
int kofi_cq_reserve(struct kofi_cq *cq, size_t count);

/**
 * kofi_cq_unreserve() - Give the room back
 * @cq: the queue
 * @count: as reserved
 *
 * Context: any.
 */
void kofi_cq_unreserve(struct kofi_cq *cq, size_t count);

/**
 * kofi_cq_complete() - Queue a completion and tell the client
 * @cq: the queue
 * @comp: the completion
 *
 * Context: any; the handler is called from here, unless it runs already: then
 * from there, once more.
 */
void kofi_cq_complete(struct kofi_cq *cq, struct kofi_comp *comp);

/**
 * kofi_cq_end() - Nothing completes any more
 * @cq: the queue
 * @err: negative errno, what readers get from an empty queue from now on
 *
 * What has completed can still be read.  Sleepers wake up, and the handler is told.
 *
 * Context: any; the handler is called from here, as by kofi_cq_complete().
 */
void kofi_cq_end(struct kofi_cq *cq, int err);

/**
 * kofi_cq_read() - Take completions off the queue
 * @cq: the queue
 * @buf: the client's entries
 * @count: most of them
 * @chain: the slots of the completions taken, linked by @next
 *
 * Context: any; the caller holds @cq->lock and keeps it until the slots of
 * @chain are back with their endpoints.
 * Return: number of entries; -EAGAIN, or why nothing will come; -FI_EAVAIL; as
 * fi_cq_read().
 */
ssize_t kofi_cq_read(struct kofi_cq *cq, void *buf, size_t count,
		     struct kofi_comp **chain);

/**
 * kofi_cq_readerr() - Take the error at the head of the queue
 * @cq: the queue
 * @buf: the client's entry
 * @flags: 0
 * @chain: the slot of the error
 *
 * Context: any; the caller holds @cq->lock, as for kofi_cq_read().
 * Return: as fi_cq_readerr().
 */
ssize_t kofi_cq_readerr(struct kofi_cq *cq, struct fi_cq_err_entry *buf,
			u64 flags, struct kofi_comp **chain);

/**
 * kofi_cq_wait() - Sleep until fi_cq_sread() should read
 * @cq: the queue
 * @cond: as fi_cq_sread()
 * @timeout: as fi_cq_sread()
 *
 * Context: may sleep.
 * Return: 0: read now; -EAGAIN: signalled, nothing to read; -EINTR; -EINVAL: no
 * wait object.  The time running out also gives 0.
 */
int kofi_cq_wait(struct kofi_cq *cq, const void *cond, int timeout);

/**
 * kofi_cq_signal() - Ready-made ->signal
 * @cq: the queue
 *
 * Context: any.
 * Return: as fi_cq_signal().
 */
int kofi_cq_signal(struct fid_cq *cq);

/**
 * kofi_cq_purge() - Take all completions out that belong to an owner
 * @cq: the queue
 * @belongs: says whether a completion belongs to @owner
 * @owner: passed to @belongs
 *
 * Context: any; @belongs is called with the queue's lock held.
 * Return: the chain of what was taken out.
 */
struct kofi_comp *kofi_cq_purge(struct kofi_cq *cq,
				bool (*belongs)(struct kofi_comp *comp,
						void *owner),
				void *owner);

#endif /* _KOFI_CQ_H */
