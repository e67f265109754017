/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tagged messages.  Names: libfabric 2.6, fi_tagged.h.
 *
 * A receive takes the first message whose tag equals its own in all bits that ignore does
 * not set.  A message takes the first receive for which that holds.  Tagged receives
 * never take messages of fi_send(), and fi_recv() never takes tagged messages.  A message
 * for which there is no receive waits at the receiver, as far as the provider has room.
 *
 * The calls follow the rules at the top of fi_endpoint.h.  On an endpoint without
 * FI_TAGGED each of them returns -ENOSYS.
 */
#ifndef _RDMA_FI_TAGGED_H
#define _RDMA_FI_TAGGED_H

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>

/**
 * struct fi_msg_tagged - A tagged message, for fi_tsendmsg() and fi_trecvmsg()
 * @type: kernel: what the list consists of; 0 is FI_BUF_KVEC
 * @msg_iov: the list, if @type is FI_BUF_KVEC
 * @msg_bvec: the list, if @type is FI_BUF_BVEC
 * @msg_sgl: the list, if @type is FI_BUF_SGL
 * @desc: one fi_mr_desc() per element, or NULL
 * @iov_count: elements of the list
 * @addr: peer, for connectionless endpoints
 * @tag: the tag
 * @ignore: of a receive: bits of the tag that do not matter
 * @context: comes back with the completion
 * @data: remote CQ data, with FI_REMOTE_CQ_DATA
 */
struct fi_msg_tagged {
	enum fi_buf_type	type;
	union {
		const struct kvec	*msg_iov;
		const struct bio_vec	*msg_bvec;
		struct scatterlist	*msg_sgl;
	};
	void			**desc;
	size_t			iov_count;
	fi_addr_t		addr;
	u64			tag;
	u64			ignore;
	void			*context;
	u64			data;
};

/**
 * struct fi_tagged_xfer - kernel: a tagged message, as its call describes it to the provider
 * @xfer: what all data transfers have
 * @tag: the tag
 * @ignore: of a receive: bits of the tag that do not matter
 */
struct fi_tagged_xfer {
	struct fi_xfer		xfer;
	u64			tag;
	u64			ignore;
};

/* Of an @xfer whose type is FI_OP_TRECV or FI_OP_TSEND */
static inline const struct fi_tagged_xfer *to_fi_tagged_xfer(const struct fi_xfer *xfer)
{
	return container_of(xfer, struct fi_tagged_xfer, xfer);
}

/* As __fi_post_list() */
static __always_inline ssize_t
__fi_post_tagged(struct fid_ep *ep, enum fi_op_type type, const struct kvec *iov, void **desc,
		 size_t count, u64 flags, fi_addr_t addr, u64 tag, u64 ignore, void *context,
		 u64 data)
{
	const struct fi_tagged_xfer tagged = {
		.xfer		= __fi_xfer_defaults(type, iov, desc, count, flags, addr, context,
						     data),
		.tag		= tag,
		.ignore		= ignore,
	};

	return ep->xfer->post(ep, &tagged.xfer);
}

static __always_inline ssize_t
__fi_post_tagged_buf(struct fid_ep *ep, enum fi_op_type type, const void *buf, size_t len,
		     void *desc, u64 flags, fi_addr_t addr, u64 tag, u64 ignore, void *context,
		     u64 data)
{
	const struct kvec iov = { (void *)buf, len };

	return __fi_post_tagged(ep, type, &iov, &desc, 1, flags, addr, tag, ignore, context,
				data);
}

static __always_inline ssize_t
__fi_post_tagged_msg(struct fid_ep *ep, enum fi_op_type type, const struct fi_msg_tagged *msg,
		     u64 flags)
{
	const struct fi_tagged_xfer tagged = {
		.xfer		= __fi_xfer(type, false, msg->type, msg->msg_iov, msg->desc,
					    msg->iov_count, flags, msg->addr, msg->context,
					    msg->data),
		.tag		= msg->tag,
		.ignore		= msg->ignore,
	};

	return ep->xfer->post(ep, &tagged.xfer);
}

/**
 * fi_trecv() - Post a buffer for one message with a certain tag
 * @ep: an enabled endpoint, it need not be connected; or a shared receive context
 * @buf: where the message goes
 * @len: bytes of @buf; a longer message completes with FI_ETRUNC
 * @desc: fi_mr_desc() of @buf, or NULL
 * @src_addr: as fi_recv(), with FI_TAGGED_DIRECTED_RECV or FI_DIRECTED_RECV
 * @tag: the tag
 * @ignore: bits of the tag that do not matter
 * @context: comes back with the completion
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h.
 */
static inline ssize_t fi_trecv(struct fid_ep *ep, void *buf, size_t len,
			       void *desc, fi_addr_t src_addr, u64 tag,
			       u64 ignore, void *context)
{
	return __fi_post_tagged_buf(ep, FI_OP_TRECV, buf, len, desc, 0, src_addr, tag, ignore,
				    context, 0);
}

/**
 * fi_trecvv() - Post a list of buffers for one message with a certain tag
 * @ep: as fi_trecv()
 * @iov: the buffers; the array itself is free when the call returns
 * @desc: one fi_mr_desc() per element, or NULL
 * @count: elements of @iov
 * @src_addr: as fi_trecv()
 * @tag: as fi_trecv()
 * @ignore: as fi_trecv()
 * @context: as fi_trecv()
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h.
 */
static inline ssize_t fi_trecvv(struct fid_ep *ep, const struct kvec *iov,
				void **desc, size_t count, fi_addr_t src_addr,
				u64 tag, u64 ignore, void *context)
{
	return __fi_post_tagged(ep, FI_OP_TRECV, iov, desc, count, 0, src_addr, tag, ignore,
				context, 0);
}

/**
 * fi_trecvmsg() - Post buffers of any kind for one message, or ask for one
 * @ep: as fi_trecv()
 * @msg: the buffers and the tag
 * @flags: FI_COMPLETION, FI_MORE, FI_AUTH_KEY; FI_MULTI_RECV as in fi_recvmsg(), with
 *	FI_TAGGED_MULTI_RECV; FI_PEEK, FI_CLAIM, FI_DISCARD; they replace op_flags
 *
 * FI_PEEK: the call asks whether such a message has arrived.  It posts nothing and
 * ignores the list.  The answer is a completion with the message's length, tag, remote CQ
 * data and source, or the error FI_ENOMSG.  It comes even where FI_SELECTIVE_COMPLETION
 * suppresses others.  The message stays where it is, for a receive to take.
 *
 * FI_PEEK | FI_CLAIM: the message, if there is one, is kept for the caller, and no
 * receive can take it.  The context has to be a &struct fi_context, which belongs to
 * the provider until a call with FI_CLAIM alone and this context has taken the message.
 *
 * FI_PEEK | FI_DISCARD: the message, if there is one, is dropped.  FI_CLAIM |
 * FI_DISCARD: the message that was claimed with this context is dropped; the completion
 * has no data.
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h; -EINVAL also for a context that has claimed
 * nothing.
 */
static inline ssize_t fi_trecvmsg(struct fid_ep *ep,
				  const struct fi_msg_tagged *msg, u64 flags)
{
	return __fi_post_tagged_msg(ep, FI_OP_TRECV, msg, flags);
}

/**
 * fi_tsend() - Send one message with a tag
 * @ep: as fi_send()
 * @buf: the message
 * @len: bytes of @buf; 0 is a message
 * @desc: fi_mr_desc() of @buf, or NULL
 * @dest_addr: as fi_send()
 * @tag: the tag
 * @context: comes back with the completion
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h.
 */
static inline ssize_t fi_tsend(struct fid_ep *ep, const void *buf, size_t len,
			       void *desc, fi_addr_t dest_addr, u64 tag,
			       void *context)
{
	return __fi_post_tagged_buf(ep, FI_OP_TSEND, buf, len, desc, 0, dest_addr, tag, 0,
				    context, 0);
}

/**
 * fi_tsendv() - Send one message with a tag, gathered from a list of buffers
 * @ep: as fi_send()
 * @iov: the buffers; the array itself is free when the call returns
 * @desc: one fi_mr_desc() per element, or NULL
 * @count: elements of @iov
 * @dest_addr: as fi_send()
 * @tag: the tag
 * @context: as fi_tsend()
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h.
 */
static inline ssize_t fi_tsendv(struct fid_ep *ep, const struct kvec *iov,
				void **desc, size_t count, fi_addr_t dest_addr,
				u64 tag, void *context)
{
	return __fi_post_tagged(ep, FI_OP_TSEND, iov, desc, count, 0, dest_addr, tag, 0, context,
				0);
}

/**
 * fi_tsendmsg() - Send one message with a tag and flags of its own
 * @ep: as fi_send()
 * @msg: the message
 * @flags: as fi_sendmsg(), FI_SAVE too, but for FI_REMOTE_INV; FI_MATCH_COMPLETE: the operation
 *	completes when a receive has taken the message, or the peer has dropped it
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h.
 */
static inline ssize_t fi_tsendmsg(struct fid_ep *ep,
				  const struct fi_msg_tagged *msg, u64 flags)
{
	return __fi_post_tagged_msg(ep, FI_OP_TSEND, msg, flags);
}

/**
 * fi_tinject() - Send a short message with a tag, whose buffer is free at once
 * @ep: as fi_send()
 * @buf: the message; any kernel address
 * @len: bytes of @buf, at most inject_size
 * @dest_addr: as fi_send()
 * @tag: the tag
 *
 * There is no completion for it, unless it fails.
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h.
 */
static inline ssize_t fi_tinject(struct fid_ep *ep, const void *buf, size_t len,
				 fi_addr_t dest_addr, u64 tag)
{
	return __fi_post_tagged_buf(ep, FI_OP_TSEND, buf, len, NULL, FI_INJECT, dest_addr, tag, 0,
				    NULL, 0);
}

/**
 * fi_tsenddata() - Send one message with a tag and remote CQ data
 * @ep: as fi_send()
 * @buf: as fi_tsend()
 * @len: as fi_tsend()
 * @desc: as fi_tsend()
 * @data: as fi_senddata()
 * @dest_addr: as fi_send()
 * @tag: the tag
 * @context: as fi_tsend()
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h.
 */
static inline ssize_t fi_tsenddata(struct fid_ep *ep, const void *buf,
				   size_t len, void *desc, u64 data,
				   fi_addr_t dest_addr, u64 tag, void *context)
{
	return __fi_post_tagged_buf(ep, FI_OP_TSEND, buf, len, desc, FI_REMOTE_CQ_DATA, dest_addr,
				    tag, 0, context, data);
}

/**
 * fi_tinjectdata() - fi_tinject() with remote CQ data
 * @ep: as fi_send()
 * @buf: as fi_tinject()
 * @len: as fi_tinject()
 * @data: as fi_senddata()
 * @dest_addr: as fi_send()
 * @tag: the tag
 *
 * Context: any.
 * Return: see the top of fi_endpoint.h.
 */
static inline ssize_t fi_tinjectdata(struct fid_ep *ep, const void *buf,
				     size_t len, u64 data, fi_addr_t dest_addr,
				     u64 tag)
{
	return __fi_post_tagged_buf(ep, FI_OP_TSEND, buf, len, NULL,
				    FI_INJECT | FI_REMOTE_CQ_DATA, dest_addr, tag, 0, NULL, data);
}

#endif /* _RDMA_FI_TAGGED_H */
