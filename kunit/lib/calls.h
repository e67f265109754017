/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The data transfer calls as tables: what each of them carries, and how it is refused where
 * what it carries is not there.  A suite goes through a table and makes each call by vt_post();
 * a change of a call changes calls.c alone.  In kofi_client.ko.
 *
 *	const struct vt_call *call;
 *
 *	for (call = vt_sends; call->name; call++)
 *		ret = vt_post(ep, call, &(struct vt_xfer) { .buf = buf, .len = 8 });
 */
#ifndef _KUNIT_CALLS_H
#define _KUNIT_CALLS_H

#include <linux/bits.h>
#include <linux/types.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

/* Elements of a list that vt_post() makes, at most */
#define VT_PIECES	3

/**
 * struct vt_xfer - What a data transfer call is given
 * @buf: the memory
 * @len: bytes of it
 * @pieces: elements of the list of a call that takes one: 1 (or 0), up to VT_PIECES
 * @list: a list of @pieces elements in place of @buf; NULL: the call makes one of struct kvec
 * @type: of @list
 * @desc: descriptor of the memory
 * @peer: the peer's address
 * @data: remote CQ data, or the key that FI_REMOTE_INV invalidates
 * @tag: tag
 * @ignore: bits of @tag that do not count for a receive
 * @addr: remote address
 * @key: remote key
 * @context: of the completion
 */
struct vt_xfer {
	void		*buf;
	size_t		len;
	size_t		pieces;
	const void	*list;
	enum fi_buf_type type;
	void		*desc;
	fi_addr_t	peer;
	u64		data;
	u64		tag;
	u64		ignore;
	u64		addr;
	u64		key;
	void		*context;
};

/* The calls; each family has its place in vt_post() */
enum vt_op {
	VT_SEND, VT_SENDV, VT_SENDMSG, VT_INJECT, VT_SENDDATA, VT_INJECTDATA,
	VT_RECV, VT_RECVV, VT_RECVMSG,
	VT_TSEND, VT_TSENDV, VT_TSENDMSG, VT_TINJECT, VT_TSENDDATA, VT_TINJECTDATA,
	VT_TRECV, VT_TRECVV, VT_TRECVMSG,
	VT_READ, VT_READV, VT_READMSG,
	VT_WRITE, VT_WRITEV, VT_WRITEMSG, VT_INJECT_WRITE, VT_WRITEDATA, VT_INJECT_WRITEDATA,
};

/* What a call is */
#define VT_UNSIGNALED	BIT(0)	/* there is no completion */
#define VT_SHORT	BIT(1)	/* inject_size bytes at most, and the buffer is free at once */
#define VT_CQ_DATA	BIT(2)	/* remote CQ data go with it */
#define VT_LIST		BIT(3)	/* it takes a list */

/**
 * struct vt_call - A data transfer call
 * @name: of the call; NULL: the end of a table
 * @op: which
 * @is: VT_UNSIGNALED and so on
 * @flags: of a call that takes flags
 * @refusal: its result where the result of fi_getinfo() lacks the data or @flags
 */
struct vt_call {
	const char	*name;
	enum vt_op	op;
	unsigned int	is;
	u64		flags;
	int		refusal;
};

extern const struct vt_call vt_sends[];
extern const struct vt_call vt_recvs[];
extern const struct vt_call vt_tsends[];
extern const struct vt_call vt_trecvs[];
extern const struct vt_call vt_reads[];
extern const struct vt_call vt_writes[];

/**
 * vt_post() - Make a data transfer call
 * @ep: endpoint, or receive context
 * @call: the call
 * @x: its arguments; those that the call does not take do not count
 *
 * Context: as the call.
 * Return: the result of the call.
 */
ssize_t vt_post(struct fid_ep *ep, const struct vt_call *call, const struct vt_xfer *x);

/**
 * vt_post_flags() - Make a call with a message and flags
 * @ep: endpoint, or receive context
 * @op: VT_SENDMSG, or another VT_...MSG
 * @x: its arguments
 * @flags: all of its flags; those of the tables do not count
 *
 * Context: as the call.
 * Return: the result of the call.
 */
ssize_t vt_post_flags(struct fid_ep *ep, enum vt_op op, const struct vt_xfer *x, u64 flags);

#endif /* _KUNIT_CALLS_H */
