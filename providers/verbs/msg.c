// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages: the calls of fi_endpoint.h as operations for post.c.
 */
#include <linux/module.h>
#include "fast.h"

#define VERBS_TX_FLAGS	 (FI_COMPLETION | FI_REMOTE_CQ_DATA | FI_MORE | \
			  FI_FENCE | FI_INJECT | FI_INJECT_COMPLETE | \
			  FI_TRANSMIT_COMPLETE)

static ssize_t verbs_recvv(struct fid_ep *fid_ep, const struct kvec *iov,
			   void **desc, size_t count, fi_addr_t src_addr,
			   void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_op op = {
		.list		= iov,
		.count		= count,
		.desc		= desc,
		.context	= context,
		.silent		= verbs_is_silent(&ep->kep.rx, ep->kep.rx.op_flags),
	};

	return verbs_post_recv(ep, &op);
}

static noinline ssize_t verbs_recv_buf(struct fid_ep *fid_ep, void *buf,
				       size_t len, void *desc, void *context)
{
	struct kvec kvec = { buf, len };

	return verbs_recvv(fid_ep, &kvec, &desc, 1, 0, context);
}

static ssize_t verbs_recv(struct fid_ep *fid_ep, void *buf, size_t len,
			  void *desc, fi_addr_t src_addr, void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct ib_sge sge __uninitialized;
	struct verbs_slot *slot;
	int ret;

	verbs_device_hold();
	if (unlikely(!verbs_fast_begin(ep, &ep->rx, buf, len, desc,
				       DMA_FROM_DEVICE, &sge, &slot))) {
		verbs_device_release();
		return verbs_recv_buf(fid_ep, buf, len, desc, context);
	}
	ret = verbs_fast_recv(ep, slot, &sge, buf, context);
	verbs_device_release();
	return ret;
}

static ssize_t verbs_recvmsg(struct fid_ep *fid_ep, const struct fi_msg *msg,
			     u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct verbs_op op = {
		.type		= msg->type,
		.list		= msg->msg_iov,
		.count		= msg->iov_count,
		.desc		= msg->desc,
		.context	= msg->context,
		.silent		= verbs_is_silent(&ep->kep.rx, flags),
	};

	if (flags & ~VERBS_RECV_FLAGS)
		return -FI_EBADFLAGS;
	return verbs_post_recv(ep, &op);
}

/* @flags: with FI_COMPLETION if success is reported */
static ssize_t verbs_send_list(struct verbs_ep *ep, const struct fi_msg *msg,
			       u64 flags)
{
	const struct verbs_op op = {
		.opcode		= IB_WR_SEND,
		.type		= msg->type,
		.list		= msg->msg_iov,
		.count		= msg->iov_count,
		.desc		= msg->desc,
		.context	= msg->context,
		.flags		= flags,
		.data		= msg->data,
		.silent		= !(flags & FI_COMPLETION),
	};

	return verbs_post(ep, &op);
}

/* @flags: what the call stands for, beside the endpoint's defaults */
static noinline ssize_t verbs_send_buf(struct verbs_ep *ep, const void *buf,
				       size_t len, void *desc, void *context,
				       u64 data, u64 flags)
{
	struct kvec kvec = { (void *)buf, len };
	const struct fi_msg msg = {
		.msg_iov	= &kvec,
		.iov_count	= 1,
		.desc		= &desc,
		.context	= context,
		.data		= data,
	};
	u64 told = kofi_ep_flags(&ep->kep.tx, ep->kep.tx.op_flags);

	/* iWARP carries no immediate data */
	if (unlikely(flags & ~ep->kep.limits->tx_flags))
		return -ENOSYS;
	/* fi_inject() is never told of */
	if (flags & FI_INJECT)
		told &= ~FI_COMPLETION;
	return verbs_send_list(ep, &msg, flags | told);
}

static ssize_t verbs_send(struct fid_ep *fid_ep, const void *buf, size_t len,
			  void *desc, fi_addr_t dest_addr, void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	struct ib_sge sge __uninitialized;
	struct verbs_slot *slot;
	int ret;

	verbs_device_hold();
	if (unlikely(!verbs_fast_begin(ep, &ep->tx, buf, len, desc,
				       DMA_TO_DEVICE, &sge, &slot))) {
		verbs_device_release();
		return verbs_send_buf(ep, buf, len, desc, context, 0, 0);
	}
	ret = verbs_fast_send(ep, slot, &sge, len, context);
	verbs_device_release();
	return ret;
}

static ssize_t verbs_sendv(struct fid_ep *fid_ep, const struct kvec *iov,
			   void **desc, size_t count, fi_addr_t dest_addr,
			   void *context)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);
	const struct fi_msg msg = {
		.msg_iov	= iov,
		.iov_count	= count,
		.desc		= desc,
		.context	= context,
	};

	return verbs_send_list(ep, &msg, kofi_ep_flags(&ep->kep.tx, ep->kep.tx.op_flags));
}

static ssize_t verbs_sendmsg(struct fid_ep *fid_ep, const struct fi_msg *msg,
			     u64 flags)
{
	struct verbs_ep *ep = to_verbs_ep(&fid_ep->fid);

	if (unlikely(flags & ~(ep->kep.limits->tx_flags | FI_REMOTE_INV)))
		return -FI_EBADFLAGS;
	/* The wire has one field for both */
	if (unlikely(flags & FI_REMOTE_INV &&
		     (flags & FI_REMOTE_CQ_DATA || msg->data > U32_MAX)))
		return -EINVAL;
	return verbs_send_list(ep, msg, kofi_ep_flags(&ep->kep.tx, flags));
}

static ssize_t verbs_inject(struct fid_ep *fid_ep, const void *buf, size_t len,
			    fi_addr_t dest_addr)
{
	return verbs_send_buf(to_verbs_ep(&fid_ep->fid), buf, len, NULL, NULL, 0,
			      FI_INJECT);
}

static ssize_t verbs_senddata(struct fid_ep *fid_ep, const void *buf,
			      size_t len, void *desc, u64 data,
			      fi_addr_t dest_addr, void *context)
{
	return verbs_send_buf(to_verbs_ep(&fid_ep->fid), buf, len, desc, context,
			      data, FI_REMOTE_CQ_DATA);
}

static ssize_t verbs_injectdata(struct fid_ep *fid_ep, const void *buf,
				size_t len, u64 data, fi_addr_t dest_addr)
{
	return verbs_send_buf(to_verbs_ep(&fid_ep->fid), buf, len, NULL, NULL,
			      data, FI_INJECT | FI_REMOTE_CQ_DATA);
}

/* What may be the default of calls without flags */
#define VERBS_OP_FLAGS	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | \
			 FI_TRANSMIT_COMPLETE)
#define VERBS_IWARP_NOT	(FI_REMOTE_CQ_DATA | FI_TRANSMIT_COMPLETE)

/*
 * What a peer reads and writes is not counted: an RC queue pair has no event for it.  A
 * write with remote CQ data takes a receive, but it is not a message that was received.
 */
#define VERBS_LIMITS						\
	.cntr_dirs	 = FI_SEND | FI_RECV | FI_READ | FI_WRITE,	\
	.rx_op_flags	 = FI_COMPLETION,			\
	.recv_flags	 = VERBS_RECV_FLAGS,			\
	.cm_data_size	 = VERBS_CM_DATA,			\
	.max_atomic_size = sizeof(u64)

static const struct kofi_ep_limits verbs_limits = {
	VERBS_LIMITS,
	.tx_op_flags	= VERBS_OP_FLAGS,
	.tx_flags	= VERBS_TX_FLAGS,
};

static const struct kofi_ep_limits verbs_iwarp_limits = {
	VERBS_LIMITS,
	.tx_op_flags	= VERBS_OP_FLAGS & ~VERBS_IWARP_NOT,
	.tx_flags	= VERBS_TX_FLAGS & ~VERBS_IWARP_NOT,
};

const struct kofi_ep_limits *verbs_ep_limits(bool iwarp)
{
	return iwarp ? &verbs_iwarp_limits : &verbs_limits;
}

const struct fi_ops_msg verbs_msg_ops = {
	.size		= sizeof(struct fi_ops_msg),
	.recv		= verbs_recv,
	.recvv		= verbs_recvv,
	.recvmsg	= verbs_recvmsg,
	.send		= verbs_send,
	.sendv		= verbs_sendv,
	.sendmsg	= verbs_sendmsg,
	.inject		= verbs_inject,
	.senddata	= verbs_senddata,
	.injectdata	= verbs_injectdata,
};

/* Of an endpoint that receives through a shared receive context */
const struct fi_ops_msg verbs_shared_msg_ops = {
	.size		= sizeof(struct fi_ops_msg),
	.recv		= fi_no_msg_recv,
	.recvv		= fi_no_msg_recvv,
	.recvmsg	= fi_no_msg_recvmsg,
	.send		= verbs_send,
	.sendv		= verbs_sendv,
	.sendmsg	= verbs_sendmsg,
	.inject		= verbs_inject,
	.senddata	= verbs_senddata,
	.injectdata	= verbs_injectdata,
};
