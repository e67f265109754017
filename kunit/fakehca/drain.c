// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A driver that drains queue pairs itself, as some do whose devices take no marker in
 * every state.  What it does is what ib_core would do; and as that does, it polls a
 * completion queue that nobody else polls.
 */
#include <linux/completion.h>
#include <linux/module.h>
#include "priv.h"

struct fakehca_marker {
	struct ib_cqe		cqe;
	struct completion	done;
};

static void fakehca_marker_done(struct ib_cq *cq, struct ib_wc *wc)
{
	complete(&container_of(wc->wr_cqe, struct fakehca_marker, cqe)->done);
}

static void fakehca_marker_init(struct fakehca_marker *marker, struct ib_qp *ibqp)
{
	struct fakehca *hca = to_fakehca_qp(ibqp)->hca;
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	unsigned long flags;

	marker->cqe.done = fakehca_marker_done;
	init_completion(&marker->done);
	spin_lock_irqsave(&hca->lock, flags);
	hca->stats.drains++;
	spin_unlock_irqrestore(&hca->lock, flags);
	ib_modify_qp(ibqp, &attr, IB_QP_STATE);
}

static void fakehca_marker_await(struct fakehca_marker *marker, struct ib_cq *cq, int ret)
{
	if (WARN_ON(ret))
		return;
	if (cq->poll_ctx != IB_POLL_DIRECT)
		wait_for_completion(&marker->done);
	else
		while (!wait_for_completion_timeout(&marker->done, 1))
			ib_process_cq_direct(cq, -1);
}

void fakehca_drain_sq(struct ib_qp *ibqp)
{
	struct fakehca_marker marker;
	struct ib_rdma_wr wr = {
		.wr.wr_cqe	= &marker.cqe,
		.wr.opcode	= IB_WR_RDMA_WRITE,
	};

	fakehca_marker_init(&marker, ibqp);
	fakehca_marker_await(&marker, ibqp->send_cq, ib_post_send(ibqp, &wr.wr, NULL));
}

void fakehca_drain_rq(struct ib_qp *ibqp)
{
	struct fakehca_marker marker;
	struct ib_recv_wr wr = { .wr_cqe = &marker.cqe };

	fakehca_marker_init(&marker, ibqp);
	fakehca_marker_await(&marker, ibqp->recv_cq, ib_post_recv(ibqp, &wr, NULL));
}
