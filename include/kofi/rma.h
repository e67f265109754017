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
 *	kofi_rma_done()			counts and gives the references back
 *
 * A target may lie in a dma-buf, which its exporter can take back in between
 * (kofi/dmabuf.h).  kofi_rma_write() and kofi_rma_read() check for that.  A provider that
 * accesses the memory by an iterator does so between kofi_rma_enter() and kofi_rma_leave().
 *
 * From kofi_rma_get() to kofi_rma_done(), fi_close() of the regions and the completion of
 * fi_mr_disable() wait.  So a provider keeps an operation only as long as data
 * can still come for it.
 *
 * Nothing here allocates, and only kofi_rma_commit() and kofi_rma_save() sleep.
 * Only writes to regions of persistent memory take a lock, see kofi/pmem.h.
 */
#ifndef _KOFI_RMA_H
#define _KOFI_RMA_H

#include <linux/types.h>
#include <rdma/fi_rma.h>

struct iov_iter;
struct kofi_mr;
struct kofi_mr_map;

/* As many as libfabric's providers that copy have */
#define KOFI_RMA_MAX_IOV	4

/**
 * struct kofi_rma_range - A part of a region
 * @mr: the region, with a reference
 * @offset: of the first byte in the region
 * @len: bytes
 */
struct kofi_rma_range {
	struct kofi_mr	*mr;
	size_t		offset;
	size_t		len;
};

/**
 * struct kofi_rma - The target of an operation
 * @len: bytes of all ranges
 * @access: rights that the peer needs
 * @durable: the bytes that were written are durable already
 * @count: ranges
 * @revocable: some of its memory may be taken back
 * @range: the ranges
 */
struct kofi_rma {
	size_t			len;
	u64			access;
	bool			durable;
	u32			count;
	bool			revocable;
	struct kofi_rma_range	range[KOFI_RMA_MAX_IOV];
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
 * Context: any.
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
 * Context: any.  May call @disabled of &struct kofi_mr_ops.
 */
void kofi_rma_put(struct kofi_rma *rma);

/**
 * kofi_rma_done() - End an operation that has been executed
 * @rma: the target
 * @err: 0, or why it has failed
 *
 * Each region that has a counter counts the operation once.  Regions of persistent memory
 * record the bytes for the next save, even if the write has failed half way.
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
bool kofi_rma_is_persistent(const struct kofi_rma *rma);

/**
 * kofi_rma_commit() - Make what was written durable (FI_COMMIT_COMPLETE)
 * @rma: the target, in persistent memory, all of which has been written
 *
 * Writes back the target's ranges and no other bytes.
 *
 * Context: may sleep.
 */
void kofi_rma_commit(struct kofi_rma *rma);

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
 */
void kofi_rma_save(struct kofi_rma *rma, bool durable);

/**
 * kofi_rma_enter() - Keep the memory of a target where it is
 * @rma: the target
 *
 * Exporters of dma-bufs wait until kofi_rma_leave().  So the caller may sleep in between,
 * but must wait for no peer and no client.
 *
 * Context: any; the same context calls kofi_rma_leave().
 * Return: the argument for kofi_rma_leave(), not negative; -EACCES: some of the memory was
 * taken back, and kofi_rma_leave() is not due.
 */
int kofi_rma_enter(const struct kofi_rma *rma);

/**
 * kofi_rma_leave() - Undo kofi_rma_enter()
 * @rma: the target
 * @idx: what kofi_rma_enter() has returned
 *
 * Context: that of kofi_rma_enter().
 */
void kofi_rma_leave(const struct kofi_rma *rma, int idx);

/**
 * kofi_rma_iter() - Address the next part of the target
 * @rma: the target
 * @direction: ITER_SOURCE: the memory is read; ITER_DEST: it is written
 * @offset: bytes of the target that are done
 * @len: most bytes
 * @iter: set up, if there is something
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
 * memory of the target was taken back.
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
 * memory of the target was taken back.
 */
size_t kofi_rma_read(const struct kofi_rma *rma, size_t offset,
		     struct iov_iter *to, size_t len);

#endif /* _KOFI_RMA_H */
