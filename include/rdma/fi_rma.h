/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Remote memory access.  Names: libfabric 2.6, fi_rma.h.
 *
 * The calls follow the rules at the top of fi_endpoint.h.  An endpoint without
 * FI_RMA answers each of them with -ENOSYS.  -EACCES for a read, or for an atomic
 * operation that fetches values: the peer has reported when it connected that its memory
 * must not be read.
 *
 * An operation of no bytes names remote memory as any other does: a key that the peer has given
 * out, and an address within the region or right behind it.  A provider that copies looks both
 * up; an RDMA device looks at neither.
 *
 * Tagged reads and writes (kernel, capability FI_TAGGED_RMA): fi_readmsg() and fi_writemsg() with
 * FI_TAGGED reach the memory of a tagged receive, and no region.  rma_iov has one element, whose
 * key is the tag and whose addr is 0.  The target is the receive that a message with this tag from
 * this sender would take now.  It is used once: the receive completes, with FI_TAGGED | FI_RMA |
 * FI_RECV and FI_READ or FI_WRITE.  The operation completes with FI_TAGGED | FI_RMA and FI_READ or
 * FI_WRITE.  It never waits at the target, so it never meets a receive that is posted later.
 *
 *	as long as the receive, or shorter	both ends succeed, with the bytes of the operation
 *	longer than the receive			both ends fail with EMSGSIZE; no byte moves
 *	no receive for this tag and sender:	the operation fails with FI_ENOMSG
 *	 none was posted, or it was used or
 *	 cancelled, or it names another sender
 *	that receive has FI_MULTI_RECV		FI_ENOMSG; the receive stays
 *	the receive has ended under way		the operation fails with EREMOTEIO
 *	the target lacks FI_TAGGED_RMA, or	the operation fails with EACCES
 *	 FI_REMOTE_READ or FI_REMOTE_WRITE
 *	the target's provider, or an older	the operation fails with EOPNOTSUPP
 *	 one, does not know the operation
 *
 * Each of these errors ends this operation only.  The connection and other operations go on.
 */
#ifndef _RDMA_FI_RMA_H
#define _RDMA_FI_RMA_H

#include <linux/overflow.h>
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>

/**
 * struct fi_rma_iov - Remote memory
 * @addr: address, or without FI_MR_VIRT_ADDR offset in the region
 * @len: bytes
 * @key: key of the region
 */
struct fi_rma_iov {
	u64			addr;
	size_t			len;
	u64			key;
};

/**
 * struct fi_rma_ioc - Remote elements of an atomic operation
 * @addr: as in &struct fi_rma_iov
 * @count: number of elements
 * @key: key of the region
 */
struct fi_rma_ioc {
	u64			addr;
	size_t			count;
	u64			key;
};

/**
 * struct fi_msg_rma - A transfer, for fi_readmsg() and fi_writemsg()
 * @type: kernel: what the local list consists of; 0 is FI_BUF_KVEC
 * @msg_iov: the list, if @type is FI_BUF_KVEC
 * @msg_bvec: the list, if @type is FI_BUF_BVEC
 * @msg_sgl: the list, if @type is FI_BUF_SGL
 * @desc: one fi_mr_desc() per element, or NULL
 * @iov_count: elements of the list
 * @addr: peer, for connectionless endpoints
 * @rma_iov: remote memory
 * @rma_iov_count: elements of @rma_iov
 * @context: comes back with the completion
 * @data: remote CQ data, with FI_REMOTE_CQ_DATA
 */
struct fi_msg_rma {
	enum fi_buf_type	type;
	union {
		const struct kvec	*msg_iov;
		const struct bio_vec	*msg_bvec;
		struct scatterlist	*msg_sgl;
	};
	void			**desc;
	size_t			iov_count;
	fi_addr_t		addr;
	const struct fi_rma_iov	*rma_iov;
	size_t			rma_iov_count;
	void			*context;
	u64			data;
};

/**
 * struct fi_rma_xfer - kernel: a read or a write, as its call describes it to the provider
 * @xfer: what all data transfers have
 * @rma: remote memory; of a call without such a list it is as long as the local list, and
 *	SIZE_MAX bytes if that has more than can be counted
 * @rma_count: elements of @rma
 * @any_length: fi_readsgl() or fi_writesgl(): the local list may have any number of elements
 * @offset: with @any_length: bytes to skip at the start of the local list; otherwise 0
 */
struct fi_rma_xfer {
	struct fi_xfer			xfer;
	const struct fi_rma_iov		*rma;
	size_t				rma_count;
	bool				any_length;
	size_t				offset;
};

/* Of an @xfer whose type is FI_OP_READ or FI_OP_WRITE */
static inline const struct fi_rma_xfer *to_fi_rma_xfer(const struct fi_xfer *xfer)
{
	return container_of(xfer, struct fi_rma_xfer, xfer);
}

static inline size_t __fi_iov_len(const struct kvec *iov, size_t count)
{
	size_t i, len = 0;

	for (i = 0; i < count; i++)
		len = size_add(len, iov[i].iov_len);
	return len;
}

/* As __fi_post_list().  @len: bytes of the local list */
static __always_inline ssize_t
__fi_post_rma(struct fid_ep *ep, enum fi_op_type type, const struct kvec *iov, void **desc,
	      size_t count, u64 flags, fi_addr_t peer, u64 addr, size_t len, u64 key,
	      void *context, u64 data)
{
	const struct fi_rma_iov rma = { .addr = addr, .len = len, .key = key };
	const struct fi_rma_xfer transfer = {
		.xfer		= __fi_xfer_defaults(type, iov, desc, count, flags, peer, context,
						     data),
		.rma		= &rma,
		.rma_count	= 1,
		.any_length	= false,
		.offset		= 0,
	};

	return ep->xfer->post(ep, &transfer.xfer);
}

static __always_inline ssize_t
__fi_post_rma_buf(struct fid_ep *ep, enum fi_op_type type, const void *buf, size_t len,
		  void *desc, u64 flags, fi_addr_t peer, u64 addr, u64 key, void *context,
		  u64 data)
{
	const struct kvec iov = { (void *)buf, len };

	return __fi_post_rma(ep, type, &iov, &desc, 1, flags, peer, addr, len, key, context,
			     data);
}

static __always_inline ssize_t
__fi_post_rma_msg(struct fid_ep *ep, enum fi_op_type type, const struct fi_msg_rma *msg,
		  u64 flags)
{
	const struct fi_rma_xfer transfer = {
		.xfer		= __fi_xfer(type, false, msg->type, msg->msg_iov, msg->desc,
					    msg->iov_count, flags, msg->addr, msg->context,
					    msg->data),
		.rma		= msg->rma_iov,
		.rma_count	= msg->rma_iov_count,
		.any_length	= false,
		.offset		= 0,
	};

	return ep->xfer->post(ep, &transfer.xfer);
}

static __always_inline ssize_t
__fi_post_sgl(struct fid_ep *ep, enum fi_op_type type, struct scatterlist *sgl,
	      unsigned int nents, size_t offset, size_t len, fi_addr_t peer, u64 addr, u64 key,
	      void *context, u64 flags)
{
	const struct fi_rma_iov rma = { .addr = addr, .len = len, .key = key };
	const struct fi_rma_xfer transfer = {
		.xfer		= __fi_xfer(type, false, FI_BUF_SGL, sgl, NULL, nents, flags, peer,
					    context, 0),
		.rma		= &rma,
		.rma_count	= 1,
		.any_length	= true,
		.offset		= offset,
	};

	return ep->xfer->post(ep, &transfer.xfer);
}

/**
 * fi_read() - Read remote memory
 * @ep: the endpoint
 * @buf: local buffer; any kernel address but the stack
 * @len: bytes
 * @desc: fi_mr_desc() of a region that @buf lies in, or NULL
 * @src_addr: peer, for connectionless endpoints
 * @addr: remote address
 * @key: remote key
 * @context: comes back with the completion
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h; -EINVAL also for a key that none of the
 * provider's peers can have given out.
 */
static inline ssize_t fi_read(struct fid_ep *ep, void *buf, size_t len,
			      void *desc, fi_addr_t src_addr, u64 addr, u64 key,
			      void *context)
{
	return ep->xfer->read(ep, buf, len, desc, src_addr, addr, key, context);
}

/**
 * fi_readv() - Read remote memory into a list of buffers
 * @ep: the endpoint
 * @iov: the list
 * @desc: one descriptor per element, or NULL
 * @count: elements of @iov
 * @src_addr: as fi_read()
 * @addr: as fi_read()
 * @key: as fi_read()
 * @context: as fi_read()
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h; -EINVAL also for a key that none of the
 * provider's peers can have given out.
 */
static inline ssize_t fi_readv(struct fid_ep *ep, const struct kvec *iov,
			       void **desc, size_t count, fi_addr_t src_addr,
			       u64 addr, u64 key, void *context)
{
	return __fi_post_rma(ep, FI_OP_READ, iov, desc, count, 0, src_addr, addr,
			     __fi_iov_len(iov, count), key, context, 0);
}

/**
 * fi_readmsg() - Read remote memory with flags of its own
 * @ep: the endpoint
 * @msg: the transfer
 * @flags: FI_COMPLETION, FI_FENCE, FI_MORE, ...; they replace op_flags; FI_SAVE; FI_TAGGED
 *
 * FI_TAGGED (kernel): read the memory of a tagged receive, see the top of this file.  An
 * endpoint with the capability FI_TAGGED_RMA knows the flag.  FI_TAGGED excludes FI_SAVE and
 * FI_COMMIT_COMPLETE; -EINVAL: more than one element in rma_iov, or an addr that is not 0.
 *
 * FI_SAVE (kernel): as fi_writemsg(); the regions need FI_REMOTE_READ.  The operation
 * completes after all reads of these regions that were posted to the endpoint before.  With
 * FI_COMMIT_COMPLETE the bytes that these reads have returned are durable: no crash of the
 * peer takes them back.
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h; -EINVAL also for a key that none of the
 * provider's peers can have given out.
 */
static inline ssize_t fi_readmsg(struct fid_ep *ep,
				 const struct fi_msg_rma *msg, u64 flags)
{
	return __fi_post_rma_msg(ep, FI_OP_READ, msg, flags);
}

/**
 * fi_write() - Write remote memory
 * @ep: the endpoint
 * @buf: local buffer; any kernel address but the stack
 * @len: bytes
 * @desc: fi_mr_desc() of a region that @buf lies in, or NULL
 * @dest_addr: peer, for connectionless endpoints
 * @addr: remote address
 * @key: remote key
 * @context: comes back with the completion
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h; -EINVAL also for a key that none of the
 * provider's peers can have given out.
 */
static inline ssize_t fi_write(struct fid_ep *ep, const void *buf, size_t len,
			       void *desc, fi_addr_t dest_addr, u64 addr,
			       u64 key, void *context)
{
	return ep->xfer->write(ep, buf, len, desc, dest_addr, addr, key, context);
}

/**
 * fi_writev() - Write a list of buffers to remote memory
 * @ep: the endpoint
 * @iov: the list
 * @desc: one descriptor per element, or NULL
 * @count: elements of @iov
 * @dest_addr: as fi_write()
 * @addr: as fi_write()
 * @key: as fi_write()
 * @context: as fi_write()
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h; -EINVAL also for a key that none of the
 * provider's peers can have given out.
 */
static inline ssize_t fi_writev(struct fid_ep *ep, const struct kvec *iov,
				void **desc, size_t count, fi_addr_t dest_addr,
				u64 addr, u64 key, void *context)
{
	return __fi_post_rma(ep, FI_OP_WRITE, iov, desc, count, 0, dest_addr, addr,
			     __fi_iov_len(iov, count), key, context, 0);
}

/**
 * fi_writemsg() - Write remote memory with flags of its own
 * @ep: the endpoint
 * @msg: the transfer
 * @flags: as fi_sendmsg(), but for FI_REMOTE_INV; FI_SAVE; FI_TAGGED
 *
 * FI_TAGGED (kernel): as fi_readmsg(): write into the memory of a tagged receive.  With
 * FI_REMOTE_CQ_DATA the completion of the receive has the data.
 *
 * FI_COMMIT_COMPLETE: the operation completes when its bytes are durable, in a region that
 * its owner has registered with FI_RMA_PMEM; for any other region it fails with FI_EACCES, or
 * ends the connection.  An endpoint with the capability FI_RMA_PMEM knows the flag.
 *
 * FI_SAVE (kernel): the call writes nothing.  @msg has remote memory and no local list.  The
 * remote memory names the regions; a length of 0 is enough for that.  The operation completes
 * when all writes to these regions that were posted to the endpoint before have reached the
 * level of its completion flag: with FI_COMMIT_COMPLETE they are durable.  Operations that
 * are posted after it do not wait for it.  With FI_REMOTE_CQ_DATA the peer gets the
 * completion of a write of 0 bytes.  An endpoint with the capability FI_RMA_PMEM knows the
 * flag; -EOPNOTSUPP: the peer of the connection does not.
 * Documentation/persistent-memory.rst has more.
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h; -EINVAL also for a key that none of the
 * provider's peers can have given out.
 */
static inline ssize_t fi_writemsg(struct fid_ep *ep,
				  const struct fi_msg_rma *msg, u64 flags)
{
	return __fi_post_rma_msg(ep, FI_OP_WRITE, msg, flags);
}

/**
 * fi_inject_write() - Write a few bytes whose buffer is free at once
 * @ep: the endpoint
 * @buf: the bytes; any kernel address
 * @len: bytes of @buf, at most inject_size
 * @dest_addr: as fi_write()
 * @addr: as fi_write()
 * @key: as fi_write()
 *
 * There is no completion for it, unless it fails.
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h; -EINVAL also for a key that none of the
 * provider's peers can have given out.
 */
static inline ssize_t fi_inject_write(struct fid_ep *ep, const void *buf,
				      size_t len, fi_addr_t dest_addr, u64 addr,
				      u64 key)
{
	return __fi_post_rma_buf(ep, FI_OP_WRITE, buf, len, NULL, FI_INJECT, dest_addr, addr, key,
				 NULL, 0);
}

/**
 * fi_writedata() - Write remote memory and give the peer a completion with data
 * @ep: the endpoint
 * @buf: as fi_write()
 * @len: as fi_write()
 * @desc: as fi_write()
 * @data: remote CQ data, cq_data_size bytes of it
 * @dest_addr: as fi_write()
 * @addr: as fi_write()
 * @key: as fi_write()
 * @context: as fi_write()
 *
 * The peer gets a completion with FI_RMA, FI_REMOTE_WRITE and FI_REMOTE_CQ_DATA; this may
 * use up a receive of the peer (FI_RX_CQ_DATA).
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h; -EINVAL also for a key that none of the
 * provider's peers can have given out.
 */
static inline ssize_t fi_writedata(struct fid_ep *ep, const void *buf,
				   size_t len, void *desc, u64 data,
				   fi_addr_t dest_addr, u64 addr, u64 key,
				   void *context)
{
	return __fi_post_rma_buf(ep, FI_OP_WRITE, buf, len, desc, FI_REMOTE_CQ_DATA, dest_addr,
				 addr, key, context, data);
}

/**
 * fi_inject_writedata() - fi_inject_write() and fi_writedata() in one
 * @ep: the endpoint
 * @buf: as fi_inject_write()
 * @len: as fi_inject_write()
 * @data: as fi_writedata()
 * @dest_addr: as fi_write()
 * @addr: as fi_write()
 * @key: as fi_write()
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h; -EINVAL also for a key that none of the
 * provider's peers can have given out.
 */
static inline ssize_t fi_inject_writedata(struct fid_ep *ep, const void *buf,
					  size_t len, u64 data,
					  fi_addr_t dest_addr, u64 addr,
					  u64 key)
{
	return __fi_post_rma_buf(ep, FI_OP_WRITE, buf, len, NULL, FI_INJECT | FI_REMOTE_CQ_DATA,
				 dest_addr, addr, key, NULL, data);
}

/**
 * fi_readsgl() - Read remote memory into a scatterlist of any length
 * @ep: an endpoint with FI_OPT_MAX_RW_OPS
 * @sgl: the list, of pages that a device can reach
 * @nents: its elements
 * @offset: bytes to skip at the start of the list
 * @len: bytes
 * @src_addr: peer, for connectionless endpoints
 * @addr: remote address
 * @key: remote key
 * @context: comes back with the completion
 * @flags: FI_COMPLETION, FI_FENCE, FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE; they
 *	replace op_flags
 *
 * kernel: for a server whose peer exposes memory with each request.  The call is one
 * operation: one completion, one error, which may come when part of the bytes have been
 * transferred.  The order between the call and other operations of the endpoint is not
 * defined; wait for the completion.
 *
 * The list itself, too, belongs to the provider until the completion has been read.  The
 * provider does not write to it.
 *
 * A long list takes as many slots of the transmit queue as the provider posts at
 * once.  The provider posts one batch after the other by itself.
 *
 * Context: may sleep.
 * Return: see the top of fi_endpoint.h; -EAGAIN also with FI_OPT_MAX_RW_OPS such
 * operations in flight; -EINVAL also for a list with less than @offset + @len bytes;
 * -ENOSYS also for an endpoint without FI_OPT_MAX_RW_OPS; -ENOMEM.
 */
static inline ssize_t fi_readsgl(struct fid_ep *ep, struct scatterlist *sgl,
				 unsigned int nents, size_t offset, size_t len,
				 fi_addr_t src_addr, u64 addr, u64 key,
				 void *context, u64 flags)
{
	return __fi_post_sgl(ep, FI_OP_READ, sgl, nents, offset, len, src_addr, addr, key,
			     context, flags);
}

/**
 * fi_writesgl() - Write a scatterlist of any length to remote memory
 * @ep: as fi_readsgl()
 * @sgl: as fi_readsgl()
 * @nents: as fi_readsgl()
 * @offset: as fi_readsgl()
 * @len: as fi_readsgl()
 * @dest_addr: peer, for connectionless endpoints
 * @addr: as fi_readsgl()
 * @key: as fi_readsgl()
 * @context: as fi_readsgl()
 * @flags: as fi_readsgl()
 *
 * kernel: everything else is as for fi_readsgl().
 *
 * Context: may sleep.
 * Return: as fi_readsgl().
 */
static inline ssize_t fi_writesgl(struct fid_ep *ep, struct scatterlist *sgl,
				  unsigned int nents, size_t offset, size_t len,
				  fi_addr_t dest_addr, u64 addr, u64 key,
				  void *context, u64 flags)
{
	return __fi_post_sgl(ep, FI_OP_WRITE, sgl, nents, offset, len, dest_addr, addr, key,
			     context, flags);
}

#endif /* _RDMA_FI_RMA_H */
