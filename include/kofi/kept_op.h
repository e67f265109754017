/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Operations that are kept after the client's call has returned, for a provider that
 * executes operations later and without a device.
 *
 * struct fi_xfer points to lists that are the client's again when its call returns.
 * kofi_keep_op() checks them and copies them into a struct kofi_kept_op, which the
 * provider embeds in the slot of the operation.  A list of more than KOFI_OP_IOV elements is not
 * copied: its client has lent it (FI_ASYNC_IOV).  Only the data of an injected operation are
 * copied, and no other buffers.
 *
 * kofi_execute() executes a read, a write or an atomic operation as a whole.  It is for a
 * target in this kernel, and for requests of peers that are described as a
 * struct kofi_kept_op.
 *
 * No lock is needed: a slot has one owner at a time.
 */
#ifndef _KOFI_KEPT_OP_H
#define _KOFI_KEPT_OP_H

#include <linux/scatterlist.h>
#include <kofi/atomic.h>
#include <kofi/iov.h>
#include <kofi/mr_map.h>
#include <kofi/xfer.h>

#define KOFI_OP_IOV		16	/* elements of a list of local buffers that is copied */
#define KOFI_OP_LENT_IOV	1024	/* and of one that is lent (kofi_ep_limits.lent_iov) */
#define KOFI_OP_ATOMIC_IOV	4	/* elements of each list of an atomic operation */
#define KOFI_OP_INJECT		256	/* bytes of an injected operation */

/**
 * struct kofi_kept_op - A data transfer that does not point to the lists of its call
 * @type: what is to be done
 * @ended: FI_REMOTE_INV: the key has ended; the provider's
 * @flags: of the operation, from kofi_xfer_check()
 * @addr: peer
 * @data: remote CQ data
 * @tag: tag, also of a read or a write with FI_TAGGED
 * @len: bytes, without the results of an atomic operation
 * @rma: remote memory of a read or a write
 * @ioc: remote memory of an atomic operation
 * @remote_count: elements of @rma or @ioc
 * @datatype: atomic operations
 * @op: atomic operations
 * @sgl: the list of fi_readsgl() and fi_writesgl(), which the client keeps; or NULL
 * @next: element of @sgl that kofi_kept_next() begins at
 * @nents: elements from @next on
 * @skip: bytes to skip at @next
 * @done: bytes that kofi_kept_next() has returned
 * @local: local buffers, or some of @sgl; of an injected operation @inject
 * @local_mem: memory of @local with its elements
 * @inject_mem: memory of @local with one element
 * @inject: data of an injected operation
 * @operand_mem: memory of @local with its elements, of an atomic operation
 * @compare: atomic operations: values to compare with
 * @compare_mem: memory of @compare with its elements
 * @result: atomic operations: buffers for old values
 * @result_mem: memory of @result with its elements
 *
 * An injected atomic operation has neither @compare nor @result, so the lists of an operation
 * and its injected data share memory.
 */
struct kofi_kept_op {
	enum fi_op_type		type;
	bool			ended;
	u64			flags;
	fi_addr_t		addr;
	u64			data;
	u64			tag;
	size_t			len;
	union {
		struct fi_rma_iov	rma[KOFI_RMA_MAX_IOV];
		struct fi_rma_ioc	ioc[KOFI_RMA_MAX_IOV];
	};
	u32			remote_count;
	enum fi_datatype	datatype;
	enum fi_op		op;
	struct scatterlist	*sgl;
	struct scatterlist	*next;
	u32			nents;
	size_t			skip;
	size_t			done;
	union {
		struct kofi_iov	local;
		u8		local_mem[KOFI_IOV_SIZE(KOFI_OP_IOV)];
		struct {
			u8	inject_mem[KOFI_IOV_SIZE(1)];
			u8	inject[KOFI_OP_INJECT];
		};
		struct {
			u8	operand_mem[KOFI_IOV_SIZE(KOFI_OP_ATOMIC_IOV)];
			union {
				struct kofi_iov	compare;
				u8		compare_mem[KOFI_IOV_SIZE(KOFI_OP_ATOMIC_IOV)];
			};
			union {
				struct kofi_iov	result;
				u8		result_mem[KOFI_IOV_SIZE(KOFI_OP_ATOMIC_IOV)];
			};
		};
	};
};

/**
 * kofi_keep_op() - Check an operation and copy the lists of the client's call
 * @kept: the copy; it must not move afterwards
 * @ep: the endpoint; its max_msg_size, inject_size and max_atomic_size are the limits
 * @xfer: any operation but a receive
 * @flags: of @xfer, from kofi_xfer_check()
 *
 * Context: any.
 * Return: 0; -EINVAL: a list that is too long or malformed, lengths that do not agree, a
 * save (FI_SAVE) with local buffers, FI_TAGGED with remote memory that is more than a tag, or
 * FI_REMOTE_INV with remote CQ data;
 * -EMSGSIZE: too many bytes; -E2BIG: too many bytes of an atomic operation; -ENOSYS: no
 * such atomic operation.
 */
int kofi_keep_op(struct kofi_kept_op *kept, const struct kofi_ep *ep,
		 const struct fi_xfer *xfer, u64 flags);

/**
 * kofi_keep_buf() - Keep an untagged message of one buffer
 * @kept: the copy; it must not move afterwards
 * @buf: the buffer, which the caller has checked (kofi_is_memory())
 * @len: its bytes, which the caller has checked
 * @addr: the peer
 * @flags: without FI_INJECT
 *
 * Context: any.
 */
static inline void kofi_keep_buf(struct kofi_kept_op *kept, const void *buf, size_t len,
				 fi_addr_t addr, u64 flags)
{
	kept->type = FI_OP_SEND;
	kept->flags = flags;
	kept->addr = addr;
	kept->data = 0;
	kept->tag = 0;
	kept->len = len;
	kept->sgl = NULL;
	kept->done = 0;
	kofi_iov_set_buf(&kept->local, (void *)buf, len);
}

/**
 * kofi_kept_next() - Address the next part of the local buffers
 * @kept: the operation; not an atomic one
 * @direction: ITER_SOURCE: they are read; ITER_DEST: they are written
 * @iter: set up, if there is something
 *
 * A list of any length, or a scatterlist that is lent, has several parts, any other list one.
 *
 * Context: any.
 * Return: bytes of @iter; 0: there is nothing left.
 */
size_t kofi_kept_next(struct kofi_kept_op *kept, unsigned int direction,
		      struct iov_iter *iter);

/**
 * kofi_execute() - Execute a read, a write or an atomic operation, or save (FI_SAVE)
 * @kept: the operation
 * @target: the endpoint that it goes to, whose counters of remote accesses count it
 * @map: where the target's keys are looked up
 *
 * Long copies call cond_resched() now and then.
 *
 * Context: may sleep; no memory of @target goes meanwhile.
 * Return: 0.  As kofi_rma_get() or kofi_atomic_get(), or -EACCES: FI_COMMIT_COMPLETE and memory
 * that is not persistent; nothing has been accessed.  Also -EACCES: memory of the target
 * was taken back meanwhile, and some of it may have been accessed before.
 */
int kofi_execute(struct kofi_kept_op *kept, struct kofi_ep *target,
		 struct kofi_mr_map *map);

#endif /* _KOFI_KEPT_OP_H */
