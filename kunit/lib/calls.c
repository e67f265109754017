// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The tables of data transfer calls, and the only place where they are made from one description.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/uio.h>
#include <rdma/fi_errno.h>
#include "calls.h"

#define ASKS	FI_COMPLETION

const struct vt_call vt_sends[] = {
	{ "send", VT_SEND },
	{ "sendv", VT_SENDV, VT_LIST },
	{ "sendmsg", VT_SENDMSG, VT_LIST, ASKS },
	{ "sendmsg with data", VT_SENDMSG, VT_LIST | VT_CQ_DATA, ASKS | FI_REMOTE_CQ_DATA,
	  -FI_EBADFLAGS },
	{ "sendmsg, injected", VT_SENDMSG, VT_LIST | VT_SHORT, ASKS | FI_INJECT },
	{ "sendmsg, fenced", VT_SENDMSG, VT_LIST, ASKS | FI_FENCE, -FI_EBADFLAGS },
	{ "sendmsg, transmitted", VT_SENDMSG, VT_LIST, ASKS | FI_TRANSMIT_COMPLETE,
	  -FI_EBADFLAGS },
	{ "inject", VT_INJECT, VT_SHORT | VT_UNSIGNALED },
	{ "senddata", VT_SENDDATA, VT_CQ_DATA, 0, -ENOSYS },
	{ "injectdata", VT_INJECTDATA, VT_SHORT | VT_UNSIGNALED | VT_CQ_DATA, 0, -ENOSYS },
	{}
};
EXPORT_SYMBOL_GPL(vt_sends);

const struct vt_call vt_recvs[] = {
	{ "recv", VT_RECV },
	{ "recvv", VT_RECVV, VT_LIST },
	{ "recvmsg", VT_RECVMSG, VT_LIST, ASKS },
	{}
};
EXPORT_SYMBOL_GPL(vt_recvs);

const struct vt_call vt_tsends[] = {
	{ "tsend", VT_TSEND },
	{ "tsendv", VT_TSENDV, VT_LIST },
	{ "tsendmsg", VT_TSENDMSG, VT_LIST, ASKS },
	{ "tsendmsg with data", VT_TSENDMSG, VT_LIST | VT_CQ_DATA, ASKS | FI_REMOTE_CQ_DATA,
	  -FI_EBADFLAGS },
	{ "tsendmsg, injected", VT_TSENDMSG, VT_LIST | VT_SHORT, ASKS | FI_INJECT },
	{ "tsendmsg, fenced", VT_TSENDMSG, VT_LIST, ASKS | FI_FENCE, -FI_EBADFLAGS },
	{ "tsendmsg, transmitted", VT_TSENDMSG, VT_LIST, ASKS | FI_TRANSMIT_COMPLETE,
	  -FI_EBADFLAGS },
	{ "tinject", VT_TINJECT, VT_SHORT | VT_UNSIGNALED },
	{ "tsenddata", VT_TSENDDATA, VT_CQ_DATA, 0, -ENOSYS },
	{ "tinjectdata", VT_TINJECTDATA, VT_SHORT | VT_UNSIGNALED | VT_CQ_DATA, 0, -ENOSYS },
	{}
};
EXPORT_SYMBOL_GPL(vt_tsends);

const struct vt_call vt_trecvs[] = {
	{ "trecv", VT_TRECV },
	{ "trecvv", VT_TRECVV, VT_LIST },
	{ "trecvmsg", VT_TRECVMSG, VT_LIST, ASKS },
	{}
};
EXPORT_SYMBOL_GPL(vt_trecvs);

const struct vt_call vt_reads[] = {
	{ "read", VT_READ },
	{ "readv", VT_READV, VT_LIST },
	{ "readmsg", VT_READMSG, VT_LIST, ASKS },
	{ "readmsg, fenced", VT_READMSG, VT_LIST, ASKS | FI_FENCE, -FI_EBADFLAGS },
	{}
};
EXPORT_SYMBOL_GPL(vt_reads);

const struct vt_call vt_writes[] = {
	{ "write", VT_WRITE },
	{ "writev", VT_WRITEV, VT_LIST },
	{ "writemsg", VT_WRITEMSG, VT_LIST, ASKS },
	{ "writemsg with data", VT_WRITEMSG, VT_LIST | VT_CQ_DATA, ASKS | FI_REMOTE_CQ_DATA,
	  -FI_EBADFLAGS },
	{ "writemsg, injected", VT_WRITEMSG, VT_LIST | VT_SHORT, ASKS | FI_INJECT },
	{ "writemsg, fenced", VT_WRITEMSG, VT_LIST, ASKS | FI_FENCE, -FI_EBADFLAGS },
	{ "writemsg, transmitted", VT_WRITEMSG, VT_LIST, ASKS | FI_TRANSMIT_COMPLETE,
	  -FI_EBADFLAGS },
	{ "inject_write", VT_INJECT_WRITE, VT_SHORT | VT_UNSIGNALED },
	{ "writedata", VT_WRITEDATA, VT_CQ_DATA, 0, -ENOSYS },
	{ "inject_writedata", VT_INJECT_WRITEDATA, VT_SHORT | VT_UNSIGNALED | VT_CQ_DATA, 0,
	  -ENOSYS },
	{}
};
EXPORT_SYMBOL_GPL(vt_writes);

/**
 * struct pieces - The list of a call
 * @iov: the elements, if they are not @list
 * @desc: a descriptor for each
 * @list: the elements
 * @descs: @desc, or NULL
 * @count: how many
 */
struct pieces {
	struct kvec	iov[VT_PIECES];
	void		*desc[VT_PIECES];
	const void	*list;
	void		**descs;
	size_t		count;
};

/* All elements have the same length, but for the last one, which takes the rest, too */
static void pieces_init(struct pieces *p, const struct vt_xfer *x)
{
	size_t part, i;

	p->count = x->pieces ?: 1;
	p->list = x->list ?: p->iov;
	p->descs = x->desc ? p->desc : NULL;
	if (p->count > VT_PIECES)
		return;
	part = x->len / p->count;
	for (i = 0; i < p->count; i++) {
		p->desc[i] = x->desc;
		p->iov[i] = (struct kvec) { x->buf + i * part, part };
	}
	p->iov[i - 1].iov_len = x->len - (i - 1) * part;
}

static ssize_t post_msg(struct fid_ep *ep, enum vt_op op, const struct vt_xfer *x,
			const struct pieces *p, u64 flags)
{
	const struct fi_msg msg = {
		.type		= x->type,
		.msg_iov	= p->list,
		.desc		= p->descs,
		.iov_count	= p->count,
		.addr		= x->peer,
		.context	= x->context,
		.data		= x->data,
	};

	switch (op) {
	case VT_SEND:
		return fi_send(ep, x->buf, x->len, x->desc, x->peer, x->context);
	case VT_SENDV:
		return fi_sendv(ep, p->list, p->descs, p->count, x->peer, x->context);
	case VT_SENDMSG:
		return fi_sendmsg(ep, &msg, flags);
	case VT_INJECT:
		return fi_inject(ep, x->buf, x->len, x->peer);
	case VT_SENDDATA:
		return fi_senddata(ep, x->buf, x->len, x->desc, x->data, x->peer, x->context);
	case VT_INJECTDATA:
		return fi_injectdata(ep, x->buf, x->len, x->data, x->peer);
	case VT_RECV:
		return fi_recv(ep, x->buf, x->len, x->desc, x->peer, x->context);
	case VT_RECVV:
		return fi_recvv(ep, p->list, p->descs, p->count, x->peer, x->context);
	default:
		return fi_recvmsg(ep, &msg, flags);
	}
}

static ssize_t post_tagged(struct fid_ep *ep, enum vt_op op, const struct vt_xfer *x,
			   const struct pieces *p, u64 flags)
{
	const struct fi_msg_tagged msg = {
		.type		= x->type,
		.msg_iov	= p->list,
		.desc		= p->descs,
		.iov_count	= p->count,
		.addr		= x->peer,
		.tag		= x->tag,
		.ignore		= x->ignore,
		.context	= x->context,
		.data		= x->data,
	};

	switch (op) {
	case VT_TSEND:
		return fi_tsend(ep, x->buf, x->len, x->desc, x->peer, x->tag, x->context);
	case VT_TSENDV:
		return fi_tsendv(ep, p->list, p->descs, p->count, x->peer, x->tag, x->context);
	case VT_TSENDMSG:
		return fi_tsendmsg(ep, &msg, flags);
	case VT_TINJECT:
		return fi_tinject(ep, x->buf, x->len, x->peer, x->tag);
	case VT_TSENDDATA:
		return fi_tsenddata(ep, x->buf, x->len, x->desc, x->data, x->peer, x->tag,
				    x->context);
	case VT_TINJECTDATA:
		return fi_tinjectdata(ep, x->buf, x->len, x->data, x->peer, x->tag);
	case VT_TRECV:
		return fi_trecv(ep, x->buf, x->len, x->desc, x->peer, x->tag, x->ignore,
				x->context);
	case VT_TRECVV:
		return fi_trecvv(ep, p->list, p->descs, p->count, x->peer, x->tag, x->ignore,
				 x->context);
	default:
		return fi_trecvmsg(ep, &msg, flags);
	}
}

static ssize_t post_rma(struct fid_ep *ep, enum vt_op op, const struct vt_xfer *x,
			const struct pieces *p, u64 flags)
{
	const struct fi_rma_iov remote = { x->addr, x->len, x->key };
	const struct fi_msg_rma msg = {
		.type		= x->type,
		.msg_iov	= p->list,
		.desc		= p->descs,
		.iov_count	= p->count,
		.addr		= x->peer,
		.rma_iov	= &remote,
		.rma_iov_count	= 1,
		.context	= x->context,
		.data		= x->data,
	};

	switch (op) {
	case VT_READ:
		return fi_read(ep, x->buf, x->len, x->desc, x->peer, x->addr, x->key, x->context);
	case VT_READV:
		return fi_readv(ep, p->list, p->descs, p->count, x->peer, x->addr, x->key,
				x->context);
	case VT_READMSG:
		return fi_readmsg(ep, &msg, flags);
	case VT_WRITE:
		return fi_write(ep, x->buf, x->len, x->desc, x->peer, x->addr, x->key, x->context);
	case VT_WRITEV:
		return fi_writev(ep, p->list, p->descs, p->count, x->peer, x->addr, x->key,
				 x->context);
	case VT_WRITEMSG:
		return fi_writemsg(ep, &msg, flags);
	case VT_INJECT_WRITE:
		return fi_inject_write(ep, x->buf, x->len, x->peer, x->addr, x->key);
	case VT_WRITEDATA:
		return fi_writedata(ep, x->buf, x->len, x->desc, x->data, x->peer, x->addr,
				    x->key, x->context);
	default:
		return fi_inject_writedata(ep, x->buf, x->len, x->data, x->peer, x->addr, x->key);
	}
}

ssize_t vt_post_flags(struct fid_ep *ep, enum vt_op op, const struct vt_xfer *x, u64 flags)
{
	struct pieces p;

	pieces_init(&p, x);
	if (op <= VT_RECVMSG)
		return post_msg(ep, op, x, &p, flags);
	if (op <= VT_TRECVMSG)
		return post_tagged(ep, op, x, &p, flags);
	return post_rma(ep, op, x, &p, flags);
}
EXPORT_SYMBOL_GPL(vt_post_flags);

ssize_t vt_post(struct fid_ep *ep, const struct vt_call *call, const struct vt_xfer *x)
{
	return vt_post_flags(ep, call->op, x, call->flags);
}
EXPORT_SYMBOL_GPL(vt_post);
