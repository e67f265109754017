// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Hooks with ->begin: data transfer calls.  Each call is described to the hook by ->begin,
 * forwarded unless the hook answers it, and reported to the hook with its answer by ->end.
 *
 * The functions run in any context, as the calls themselves.  A description is on the stack of
 * the call.  Atomics are in call_atomic.c.
 */
#include <linux/bvec.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/uio.h>
#include "hook.h"

static size_t hook_sgl_len(const struct kofi_hook_call *call)
{
	struct scatterlist *sg = (struct scatterlist *)call->list;
	size_t len = 0, i;

	for (i = 0; sg && i < call->count; i++, sg = sg_next(sg))
		len += sg->length;
	return len;
}

static bool hook_is_atomic(enum kofi_hook_op op)
{
	return op >= KOFI_HOOK_ATOMIC && op <= KOFI_HOOK_INJECT_ATOMIC;
}

size_t kofi_hook_call_len(const struct kofi_hook_call *call)
{
	const struct bio_vec *bvec = call->list;
	const struct fi_ioc *ioc = call->list;
	const struct kvec *kvec = call->list;
	size_t len = 0, i;

	if (!call->list)
		return call->len;
	if (call->type == FI_BUF_SGL)
		return hook_sgl_len(call);
	if (call->type > FI_BUF_SGL)
		return 0;
	for (i = 0; i < call->count; i++)
		len += hook_is_atomic(call->op) ? ioc[i].count :
		       call->type == FI_BUF_BVEC ? bvec[i].bv_len : kvec[i].iov_len;
	return len;
}
EXPORT_SYMBOL_GPL(kofi_hook_call_len);

static ssize_t call_msg_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			     fi_addr_t src_addr, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_RECV, .len = len, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_msg.recv(ep, buf, len, desc, src_addr, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_msg_recvv(struct fid_ep *ep, const struct kvec *iov, void **desc,
			      size_t count, fi_addr_t src_addr, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_RECV, .list = iov, .count = count, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_msg.recvv(ep, iov, desc, count, src_addr, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_msg_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, u64 flags)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_RECV, .type = msg->type, .list = msg->msg_iov,
		.count = msg->iov_count, .context = msg->context, .flags = flags,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_msg.recvmsg(ep, msg, flags);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_msg_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			     fi_addr_t dest_addr, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_SEND, .len = len, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_msg.send(ep, buf, len, desc, dest_addr, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_msg_sendv(struct fid_ep *ep, const struct kvec *iov, void **desc,
			      size_t count, fi_addr_t dest_addr, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_SEND, .list = iov, .count = count, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_msg.sendv(ep, iov, desc, count, dest_addr, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, u64 flags)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_SEND, .type = msg->type, .list = msg->msg_iov,
		.count = msg->iov_count, .context = msg->context, .flags = flags,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_msg.sendmsg(ep, msg, flags);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_msg_inject(struct fid_ep *ep, const void *buf, size_t len,
			       fi_addr_t dest_addr)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_INJECT, .len = len,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_msg.inject(ep, buf, len, dest_addr);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_msg_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				 u64 data, fi_addr_t dest_addr, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_SEND, .len = len, .context = context,
		.flags = FI_REMOTE_CQ_DATA,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_msg.senddata(ep, buf, len, desc, data, dest_addr, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_msg_injectdata(struct fid_ep *ep, const void *buf, size_t len, u64 data,
				   fi_addr_t dest_addr)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_INJECT, .len = len, .flags = FI_REMOTE_CQ_DATA,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_msg.injectdata(ep, buf, len, data, dest_addr);
	return kofi_hook_end(ep, &call, ret);
}

const struct fi_ops_msg kofi_hook_call_msg = {
	.size		= sizeof(struct fi_ops_msg),
	.recv		= call_msg_recv,
	.recvv		= call_msg_recvv,
	.recvmsg	= call_msg_recvmsg,
	.send		= call_msg_send,
	.sendv		= call_msg_sendv,
	.sendmsg	= call_msg_sendmsg,
	.inject		= call_msg_inject,
	.senddata	= call_msg_senddata,
	.injectdata	= call_msg_injectdata,
};

static ssize_t call_rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
			     fi_addr_t src_addr, u64 addr, u64 key, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_READ, .len = len, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_rma.read(ep, buf, len, desc, src_addr, addr, key, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_rma_readv(struct fid_ep *ep, const struct kvec *iov, void **desc,
			      size_t count, fi_addr_t src_addr, u64 addr, u64 key,
			      void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_READ, .list = iov, .count = count, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_rma.readv(ep, iov, desc, count, src_addr, addr, key, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_rma_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg, u64 flags)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_READ, .type = msg->type, .list = msg->msg_iov,
		.count = msg->iov_count, .context = msg->context, .flags = flags,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_rma.readmsg(ep, msg, flags);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_rma_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			      fi_addr_t dest_addr, u64 addr, u64 key, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_WRITE, .len = len, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_rma.write(ep, buf, len, desc, dest_addr, addr, key, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_rma_writev(struct fid_ep *ep, const struct kvec *iov, void **desc,
			       size_t count, fi_addr_t dest_addr, u64 addr, u64 key,
			       void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_WRITE, .list = iov, .count = count, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_rma.writev(ep, iov, desc, count, dest_addr, addr, key, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_rma_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg, u64 flags)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_WRITE, .type = msg->type, .list = msg->msg_iov,
		.count = msg->iov_count, .context = msg->context, .flags = flags,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_rma.writemsg(ep, msg, flags);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_rma_inject(struct fid_ep *ep, const void *buf, size_t len,
			       fi_addr_t dest_addr, u64 addr, u64 key)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_INJECT_WRITE, .len = len,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_rma.inject(ep, buf, len, dest_addr, addr, key);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_rma_writedata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				  u64 data, fi_addr_t dest_addr, u64 addr, u64 key,
				  void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_WRITE, .len = len, .context = context,
		.flags = FI_REMOTE_CQ_DATA,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_rma.writedata(ep, buf, len, desc, data, dest_addr, addr, key,
					      context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_rma_injectdata(struct fid_ep *ep, const void *buf, size_t len, u64 data,
				   fi_addr_t dest_addr, u64 addr, u64 key)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_INJECT_WRITE, .len = len, .flags = FI_REMOTE_CQ_DATA,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_rma.injectdata(ep, buf, len, data, dest_addr, addr, key);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_rma_readsgl(struct fid_ep *ep, struct scatterlist *sgl, unsigned int nents,
				size_t offset, size_t len, fi_addr_t src_addr, u64 addr,
				u64 key, void *context, u64 flags)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_READ, .len = len, .context = context, .flags = flags,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_rma.readsgl(ep, sgl, nents, offset, len, src_addr, addr, key,
					    context, flags);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_rma_writesgl(struct fid_ep *ep, struct scatterlist *sgl, unsigned int nents,
				 size_t offset, size_t len, fi_addr_t dest_addr, u64 addr,
				 u64 key, void *context, u64 flags)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_WRITE, .len = len, .context = context, .flags = flags,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_rma.writesgl(ep, sgl, nents, offset, len, dest_addr, addr, key,
					     context, flags);
	return kofi_hook_end(ep, &call, ret);
}

const struct fi_ops_rma kofi_hook_call_rma = {
	.size		= sizeof(struct fi_ops_rma),
	.read		= call_rma_read,
	.readv		= call_rma_readv,
	.readmsg	= call_rma_readmsg,
	.write		= call_rma_write,
	.writev		= call_rma_writev,
	.writemsg	= call_rma_writemsg,
	.inject		= call_rma_inject,
	.writedata	= call_rma_writedata,
	.injectdata	= call_rma_injectdata,
	.readsgl	= call_rma_readsgl,
	.writesgl	= call_rma_writesgl,
};

static ssize_t call_tagged_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
				fi_addr_t src_addr, u64 tag, u64 ignore, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_TRECV, .len = len, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_tagged.recv(ep, buf, len, desc, src_addr, tag, ignore, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_tagged_recvv(struct fid_ep *ep, const struct kvec *iov, void **desc,
				 size_t count, fi_addr_t src_addr, u64 tag, u64 ignore,
				 void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_TRECV, .list = iov, .count = count, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_tagged.recvv(ep, iov, desc, count, src_addr, tag, ignore,
					     context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_tagged_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
				   u64 flags)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_TRECV, .type = msg->type, .list = msg->msg_iov,
		.count = msg->iov_count, .context = msg->context, .flags = flags,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_tagged.recvmsg(ep, msg, flags);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_tagged_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				fi_addr_t dest_addr, u64 tag, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_TSEND, .len = len, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_tagged.send(ep, buf, len, desc, dest_addr, tag, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_tagged_sendv(struct fid_ep *ep, const struct kvec *iov, void **desc,
				 size_t count, fi_addr_t dest_addr, u64 tag, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_TSEND, .list = iov, .count = count, .context = context,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_tagged.sendv(ep, iov, desc, count, dest_addr, tag, context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
				   u64 flags)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_TSEND, .type = msg->type, .list = msg->msg_iov,
		.count = msg->iov_count, .context = msg->context, .flags = flags,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_tagged.sendmsg(ep, msg, flags);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_tagged_inject(struct fid_ep *ep, const void *buf, size_t len,
				  fi_addr_t dest_addr, u64 tag)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_TINJECT, .len = len,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_tagged.inject(ep, buf, len, dest_addr, tag);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_tagged_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				    u64 data, fi_addr_t dest_addr, u64 tag, void *context)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_TSEND, .len = len, .context = context,
		.flags = FI_REMOTE_CQ_DATA,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_tagged.senddata(ep, buf, len, desc, data, dest_addr, tag,
						context);
	return kofi_hook_end(ep, &call, ret);
}

static ssize_t call_tagged_injectdata(struct fid_ep *ep, const void *buf, size_t len, u64 data,
				      fi_addr_t dest_addr, u64 tag)
{
	struct kofi_hook_call call = {
		.op = KOFI_HOOK_TINJECT, .len = len, .flags = FI_REMOTE_CQ_DATA,
	};
	ssize_t ret = kofi_hook_begin(ep, &call);

	if (!ret)
		ret = kofi_hook_tagged.injectdata(ep, buf, len, data, dest_addr, tag);
	return kofi_hook_end(ep, &call, ret);
}

const struct fi_ops_tagged kofi_hook_call_tagged = {
	.size		= sizeof(struct fi_ops_tagged),
	.recv		= call_tagged_recv,
	.recvv		= call_tagged_recvv,
	.recvmsg	= call_tagged_recvmsg,
	.send		= call_tagged_send,
	.sendv		= call_tagged_sendv,
	.sendmsg	= call_tagged_sendmsg,
	.inject		= call_tagged_inject,
	.senddata	= call_tagged_senddata,
	.injectdata	= call_tagged_injectdata,
};
