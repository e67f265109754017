// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints, and the worker that moves the data of what is posted to one.
 *
 * An operation that cannot go on yet goes back to the head of its list: a message for
 * which the peer has no receive, or a write with remote CQ data for which the peer has no
 * completion left.  The peer has this endpoint's worker run again when it has.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "example.h"

#define EX_TX_OP_FLAGS	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | \
			 FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)
#define EX_COPY		SZ_256K		/* bytes between two looks at the scheduler */

/* guide: limits */
const struct kofi_ep_limits ex_limits = {
	.cntr_dirs	= FI_SEND | FI_RECV | FI_READ | FI_WRITE |
			  FI_REMOTE_READ | FI_REMOTE_WRITE,
	.tx_op_flags	= EX_TX_OP_FLAGS,
	.rx_op_flags	= FI_COMPLETION,
	.tx_flags	= EX_TX_OP_FLAGS | FI_REMOTE_CQ_DATA | FI_MORE,
	.recv_flags	= FI_COMPLETION | FI_MORE,
	.cm_data_size	= EX_CM_DATA,
};

/* guide: end */
/* Has the worker of the endpoint that sends to @ep run again */
static void ex_kick_peer(struct ex_ep *ep)
{
	unsigned long flags;

	spin_lock_irqsave(&ep->soft.lock, flags);
	if (ep->peer)
		kofi_soft_kick(&ep->peer->soft);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

void ex_event_room(struct kofi_soft_ep *soft)
{
	ex_kick_peer(to_ex_ep(soft));
}

static void ex_resume(struct kofi_srx *srx)
{
	ex_kick_peer(fid_to_ex_ep(&srx->ep->ep.fid));
}

/* No message of this provider waits in kofi/srx.h, so these two have none to be called for */
static void ex_start(struct kofi_rx *rx, struct kofi_srx_msg *msg)
{
	WARN_ON_ONCE(1);
}

static void ex_discard(struct kofi_srx_msg *msg)
{
	WARN_ON_ONCE(1);
}

const struct kofi_srx_ops ex_srx_ops = {
	.start		= ex_start,
	.discard	= ex_discard,
	.resume		= ex_resume,
};

/* guide: message */
static int ex_message(struct kofi_soft_op *op, struct ex_ep *target)
{
	const struct kofi_srx_arrival what = {
		.ep		= &target->soft.kep,
		.flags		= FI_MSG | (op->kept.flags & FI_REMOTE_CQ_DATA),
		.src_addr	= FI_ADDR_NOTAVAIL,
		.source		= FI_ADDR_NOTAVAIL,
		.len		= op->kept.len,
		.data		= op->kept.data,
	};
	struct iov_iter to, from;
	struct kofi_rx *rx;
	int ret;

	ret = kofi_srx_arrive(target->soft.srx, &what, NULL, &rx);
	if (ret != KOFI_SRX_MATCHED)
		return ret == -ESHUTDOWN ? -ECONNRESET : ret;
	kofi_rx_iter(rx, 0, &to);
	kofi_iov_iter(&op->kept.local, ITER_SOURCE, 0, kofi_rx_len(rx), &from);
	while (kofi_iov_copy(&to, &from, EX_COPY))
		cond_resched();
	kofi_rx_complete(rx);
	return 0;
}

/* guide: access */
static int ex_access(struct kofi_soft_op *op, struct ex_ep *target)
{
	struct kofi_soft_event *event = NULL;
	int ret;

	if (!kofi_soft_is_target(&target->soft))
		return -EACCES;
	if (op->kept.flags & FI_REMOTE_CQ_DATA) {
		event = kofi_soft_event_get(&target->soft);
		if (!event)
			return -EAGAIN;
	}
	ret = kofi_execute(&op->kept, &target->soft.kep, &target->soft.domain->mrs.map);
	if (event && ret)
		kofi_soft_event_put(&target->soft, event);
	else if (event)
		kofi_soft_event_report(event, &target->soft, op->kept.len, op->kept.data,
				       FI_ADDR_NOTAVAIL);
	return ret;
}

/* guide: worker */
static int ex_execute(struct kofi_soft_op *op)
{
	struct ex_ep *ep = to_ex_ep(op->ep), *target;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&ep->soft.lock, flags);
	target = ep->soft.over ? NULL : ep->peer;
	if (target)
		kofi_soft_ep_get(&target->soft);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	if (!target)
		return -ECANCELED;
	ret = op->kept.type == FI_OP_SEND ? ex_message(op, target) :
					      ex_access(op, target);
	kofi_soft_ep_put(&target->soft);
	return ret;
}

void ex_work(struct work_struct *work)
{
	struct ex_ep *ep = container_of(work, struct ex_ep, soft.work);
	struct kofi_soft_op *op;
	unsigned long flags;
	int ret;

	for (;;) {
		spin_lock_irqsave(&ep->soft.lock, flags);
		op = list_first_entry_or_null(&ep->soft.posted, struct kofi_soft_op, entry);
		if (op)
			list_del(&op->entry);
		spin_unlock_irqrestore(&ep->soft.lock, flags);
		if (!op)
			return;
		ret = ex_execute(op);
		if (ret == -EAGAIN)
			break;
		kofi_soft_op_done(op, -ret);
		cond_resched();
	}
	spin_lock_irqsave(&ep->soft.lock, flags);
	list_add(&op->entry, &ep->soft.posted);
	spin_unlock_irqrestore(&ep->soft.lock, flags);
}

/* guide: end */
/* Nothing is posted or received any more; ex_lock is held */
void ex_end(struct ex_ep *ep)
{
	struct ex_ep *peer;
	unsigned long flags;

	lockdep_assert_held(&ex_lock);
	spin_lock_irqsave(&ep->soft.lock, flags);
	peer = ep->peer;
	ep->peer = NULL;
	spin_unlock_irqrestore(&ep->soft.lock, flags);
	kofi_soft_ep_over(&ep->soft);
	kofi_srx_flush(&ep->soft.own_srx, ECANCELED);
	if (peer)
		kofi_soft_ep_put(&peer->soft);
}

/* The address of an endpoint: its request's, the client's, or any */
static int ex_ep_name(struct ex_ep *ep, const struct fi_info *info)
{
	struct kofi_soft_fabric *fabric = ep->soft.domain->fabric;
	struct sockaddr_storage src = { .ss_family = AF_INET };
	int ret = 0;

	if (info->src_addr)
		ret = kofi_addr_from_info(&src, info->src_addr, info->src_addrlen);
	if (ret)
		return ret;
	if (src.ss_family != AF_INET)
		return kofi_refuse("endpoint", -EINVAL, "%pISpc: there are addresses of IPv4 only",
				   &src);

	mutex_lock(&ex_lock);
	if (!fabric->net) {
		ret = -ENODEV;
	} else if (info->handle) {
		ep->name.addr = src;
		ret = ex_req_adopt(ep, info->handle);
	} else {
		ret = ex_name_claim(&ep->name, fabric->net, &src);
	}
	if (!ret)
		list_add_tail(&ep->soft.of_fabric, &fabric->eps);
	mutex_unlock(&ex_lock);
	return ret;
}

/* guide: endpoint */
int ex_endpoint(struct fid_domain *domain, struct fi_info *info,
		struct fid_ep **fid_ep, void *context)
{
	const struct kofi_srx_attr room = {
		.size		= info->rx_attr->size,
		.iov_limit	= KOFI_OP_IOV,
	};
	struct ex_ep *ep;
	int ret;

	if (info->ep_attr->type != FI_EP_MSG)
		return kofi_refuse("endpoint", -EINVAL, "info->ep_attr->type is %d; there is FI_EP_MSG",
				   info->ep_attr->type);
	if (info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT)
		return kofi_refuse("endpoint", -EINVAL, "info->ep_attr->rx_ctx_cnt is FI_SHARED_CONTEXT; there are no shared receive contexts");
	ep = kzalloc(sizeof(*ep), GFP_KERNEL);
	if (!ep)
		return -ENOMEM;
	INIT_LIST_HEAD(&ep->name.entry);
	ret = kofi_soft_ep_init(&ep->soft, &ex_type, domain, info, &ex_limits, &room,
				context);
	if (ret)
		goto free_ep;
	ep->soft.kep.ep.cm = &ex_cm_ops;
	kofi_conn_set_late(&ep->soft.kep.conn, ex_connect_late, EX_CONNECT_MS);
	ret = ex_ep_name(ep, info);
	if (ret)
		goto fini_soft;
	*fid_ep = &ep->soft.kep.ep;
	return 0;

fini_soft:
	kofi_soft_ep_fini(&ep->soft);
free_ep:
	kfree(ep);
	return ret;
}

/* guide: end */
void ex_free(struct kofi_soft_ep *soft)
{
	kofi_soft_ep_fini(soft);
	kfree(to_ex_ep(soft));
}
