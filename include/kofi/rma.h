/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads and writes of peers, executed on regions by the CPU.
 *
 * The target of an operation is up to KOFI_RMA_MAX_IOV ranges, in the order of the data.
 * kofi_rma_get() resolves all of them, or none.  Then the
 * provider copies, as much at a time as it likes and wherever the data come from:
 *
 *	kofi_rma_get()			addresses, lengths and keys from the peer
 *	kofi_rma_write(), _read()	to or from other buffers
 *	kofi_rma_iter()			to or from functions that take iterators, as for an skb
 *	kofi_rma_commit()		makes the bytes that were written durable
 *	kofi_rma_save()			in place of a copy: makes earlier writes durable
 *	kofi_rma_done()			counts, and ends the operation
 *
 * An operation may last as long as a peer likes, so it holds no memory.  Its regions can be
 * closed or disabled at any time, and the exporter of a dma-buf can take the memory back
 * (kofi/dmabuf.h).  An access lasts from kofi_rma_enter() to kofi_rma_leave(): fi_close() of the
 * regions, the completion of fi_mr_disable() and the exporter wait for that, and for nothing
 * else.  When they have waited, the next kofi_rma_enter() fails, and the provider ends the
 * operation, or the connection.  kofi_rma_write(), kofi_rma_read(), kofi_rma_commit() and
 * kofi_rma_save() enter and leave by themselves.
 *
 * A provider that has somebody else hold the pages after kofi_rma_leave() lends them
 * (kofi_rma_lend()), and is called when they are wanted back.
 *
 * Nothing here allocates, and only kofi_rma_commit() and kofi_rma_save() sleep.
 * Only writes to regions of persistent memory take a lock, see kofi/pmem.h.
 */
#ifndef _KOFI_RMA_H
#define _KOFI_RMA_H

#include <linux/types.h>
#include <kofi/mr_map.h>
#include <rdma/fi_rma.h>

struct iov_iter;

/* As many as libfabric's providers that copy have */
#define KOFI_RMA_MAX_IOV	4

/**
 * struct kofi_rma_range - A part of a region
 * @mr: the region, pinned
 * @key: its key
 * @offset: of the first byte in the region
 * @len: bytes
 */
struct kofi_rma_range {
	struct kofi_mr	*mr;
	u64		key;
	size_t		offset;
	size_t		len;
};

/**
 * struct kofi_rma - The target of an operation
 * @len: bytes of all ranges
 * @access: rights that the peer needs
 * @durable: the bytes that were written are durable already
 * @count: ranges
 * @revocable: an exporter may take some of its memory back
 * @persistent: all regions are persistent memory
 * @range: the ranges
 */
struct kofi_rma {
	size_t			len;
	u64			access;
	bool			durable;
	u32			count;
	bool			revocable;
	bool			persistent;
	struct kofi_rma_range	range[KOFI_RMA_MAX_IOV];
};

/**
 * struct kofi_rma_lent - A range of a loan
 * @borrower: in its region
 * @loan: the loan
 */
struct kofi_rma_lent {
	struct kofi_mr_borrower	borrower;
	struct kofi_rma_loan	*loan;
};

/**
 * struct kofi_rma_loan - The memory of a target that somebody holds beyond an access
 * @recall: the client wants a region back: see to it, without waiting for a peer, that the
 *	memory comes back, and call kofi_rma_return() then, but not from here.  May be called once
 *	for each range.  Any context, with a lock held
 * @lent: the ranges
 */
struct kofi_rma_loan {
	void			(*recall)(struct kofi_rma_loan *loan);
	struct kofi_rma_lent	lent[KOFI_RMA_MAX_IOV];
};

/**
 * kofi_rma_get() - Resolve the target of an operation
 * @rma: the target, filled in
 * @map: where keys are looked up
 * @ep: the endpoint that the operation came through
 * @iov: the ranges, from the peer
 * @count: how many, from the peer
 * @access: FI_REMOTE_READ, FI_REMOTE_WRITE or both
 *
 * Context: any.  May call @disabled of &struct kofi_mr_ops.
 * Return: 0; -EINVAL: no ranges, or too many; -EACCES: as kofi_mr_get(), for one of
 * them.  After an error nothing is held, and nothing has been accessed.  The initiator's
 * completion has this error code; kofi_verbs, too, reports -EACCES for every key, address
 * and right that a peer refuses.
 */
int kofi_rma_get(struct kofi_rma *rma, struct kofi_mr_map *map,
		 const struct fid_ep *ep, const struct fi_rma_iov *iov,
		 size_t count, u64 access);

/**
 * kofi_rma_put() - Give up an operation that has not been executed
 * @rma: the target
 *
 * Context: any.
 */
void kofi_rma_put(struct kofi_rma *rma);

/**
 * kofi_rma_done() - End an operation that has been executed
 * @rma: the target
 * @err: 0, or why it has failed
 *
 * Each region that has a counter counts the operation once.  Regions of persistent memory
 * record the bytes for the next save, even if the write has failed half way.  A region that was
 * closed or disabled meanwhile does neither.
 *
 * Context: any.  May call @disabled of &struct kofi_mr_ops.
 */
void kofi_rma_done(struct kofi_rma *rma, int err);

/**
 * kofi_rma_is_persistent() - Are all regions of the target persistent memory?
 * @rma: the target
 *
 * Context: any.
 * Return: whether they are.  If so, kofi_rma_commit() and a durable kofi_rma_save() may be
 * called.
 */
static inline bool kofi_rma_is_persistent(const struct kofi_rma *rma)
{
	return rma->persistent;
}

/**
 * kofi_rma_commit() - Make what was written durable (FI_COMMIT_COMPLETE)
 * @rma: the target, in persistent memory, all of which has been written
 *
 * Writes back the target's ranges and no other bytes.
 *
 * Context: may sleep.
 * Return: 0; -EACCES: as kofi_rma_enter().
 */
int kofi_rma_commit(struct kofi_rma *rma);

/**
 * kofi_rma_save() - Make durable what was written before (FI_SAVE)
 * @rma: the target, which names regions; no byte of it is accessed
 * @durable: FI_COMMIT_COMPLETE: write back; the target is in persistent memory
 *
 * The provider calls this after all writes that the save is to cover, so without @durable
 * nothing is left to do.  The target has no bytes afterwards, so that kofi_rma_done() counts
 * an operation without bytes.
 *
 * Context: may sleep.
 * Return: 0; -EACCES: as kofi_rma_enter().
 */
int kofi_rma_save(struct kofi_rma *rma, bool durable);

/**
 * kofi_rma_enter() - Begin an access to the memory of a target
 * @rma: the target
 *
 * fi_close() of its regions, the completion of fi_mr_disable() and exporters of dma-bufs wait
 * until kofi_rma_leave().  So the caller may sleep in between, but must wait for no peer and no
 * client.
 *
 * Context: any; the same context calls kofi_rma_leave().
 * Return: the argument for kofi_rma_leave(), not negative; -EACCES: a region was closed or
 * disabled, or memory was taken back, and kofi_rma_leave() is not due.
 */
int kofi_rma_enter(const struct kofi_rma *rma);

/**
 * kofi_rma_leave() - Undo kofi_rma_enter()
 * @rma: the target
 * @idx: what kofi_rma_enter() has returned
 *
 * Context: that of kofi_rma_enter().  May call @disabled of &struct kofi_mr_ops.
 */
void kofi_rma_leave(const struct kofi_rma *rma, int idx);

/**
 * kofi_rma_lend() - Hold the memory of a target beyond an access
 * @rma: the target, not in a dma-buf
 * @loan: its @recall is set
 *
 * Context: any.
 * Return: true: kofi_rma_return() is due before kofi_rma_done() or kofi_rma_put(); false: a
 * region was closed or disabled.
 */
bool kofi_rma_lend(const struct kofi_rma *rma, struct kofi_rma_loan *loan);

/**
 * kofi_rma_return() - Undo kofi_rma_lend()
 * @rma: the target
 * @loan: its @recall is not called any more when this returns
 *
 * Context: any.  May call @disabled of &struct kofi_mr_ops.
 */
void kofi_rma_return(const struct kofi_rma *rma, struct kofi_rma_loan *loan);

/**
 * kofi_rma_is_recalled() - Does a client want a region back?
 * @rma: a target that is lent
 *
 * Context: any.
 * Return: whether the key of a region has ended.
 */
bool kofi_rma_is_recalled(const struct kofi_rma *rma);

/**
 * kofi_rma_iter() - Address the next part of the target, which the caller has entered
 * @rma: the target
 * @direction: ITER_SOURCE: the memory is read; ITER_DEST: it is written
 * @offset: bytes of the target that are done
 * @len: most bytes
 * @iter: set up, if there is something; used and advanced within the same access, or within a
 *	later one
 *
 * Context: any.
 * Return: bytes of @iter, which ends where a range ends; 0: all is done, or @len is 0.
 */
size_t kofi_rma_iter(const struct kofi_rma *rma, unsigned int direction,
		     size_t offset, size_t len, struct iov_iter *iter);

/**
 * kofi_rma_write() - Copy into the target
 * @rma: the target
 * @offset: bytes of the target that are done
 * @from: source; advanced by the bytes that were copied
 * @len: most bytes; the caller chooses how much it copies at a time
 *
 * Context: any.
 * Return: bytes that were copied: @len, or what @from or the target has left; 0, too, if
 * kofi_rma_enter() fails.
 */
size_t kofi_rma_write(const struct kofi_rma *rma, size_t offset,
		      struct iov_iter *from, size_t len);

/**
 * kofi_rma_read() - Copy out of the target
 * @rma: the target
 * @offset: bytes of the target that are done
 * @to: destination; advanced by the bytes that were copied
 * @len: most bytes; the caller chooses how much it copies at a time
 *
 * Context: any.
 * Return: bytes that were copied: @len, or what @to or the target has left; 0, too, if
 * kofi_rma_enter() fails.
 */
size_t kofi_rma_read(const struct kofi_rma *rma, size_t offset,
		     struct iov_iter *to, size_t len);

#endif /* _KOFI_RMA_H */
