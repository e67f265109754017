// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Draining: every done function of a queue pair has run.
 *
 * ib_drain_sq() and ib_drain_rq() put the queue pair into the error state, post a marker behind
 * everything else, and wait for it.  They poll a completion queue that only its readers poll
 * (FI_WAIT_NONE) by themselves, ten times a second, and at the same time as a reader.  With two
 * pollers completions overtake each other: the reader would get them out of order, and an
 * operation would end before its parts (split.c).  So for these queues verbs_drain_marked() posts
 * the marker, and polls as a reader does, under poll_lock.
 *
 * Some drivers drain by functions of their own, because their devices do not take a marker in
 * every state.  These functions poll, too, so verbs_cq_take_over() keeps readers away meanwhile.
 */
#include <linux/completion.h>
#include "ep.h"
#include "queue.h"

struct verbs_drain {
	struct ib_cqe		cqe;
	struct completion	done;
};

static void verbs_drain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	complete(&container_of(wc->wr_cqe, struct verbs_drain, cqe)->done);
}

static int verbs_drain_post_send(struct ib_qp *qp, struct ib_cqe *cqe)
{
	const struct ib_rdma_wr marker = {
		.wr.wr_cqe	= cqe,
		.wr.opcode	= IB_WR_RDMA_WRITE,
	};

	return ib_post_send(qp, &marker.wr, NULL);
}

static int verbs_drain_post_recv(struct ib_qp *qp, struct ib_cqe *cqe)
{
	const struct ib_recv_wr marker = { .wr_cqe = cqe };

	return ib_post_recv(qp, &marker, NULL);
}

static void verbs_drain_marked(struct ib_qp *qp, struct verbs_cq *cq,
			       int (*post)(struct ib_qp *qp, struct ib_cqe *cqe))
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct verbs_drain drain = { .cqe.done = verbs_drain_done };
	unsigned long patience = 0;
	int ret;

	init_completion(&drain.done);
	ret = ib_modify_qp(qp, &attr, IB_QP_STATE);
	if (!ret)
		ret = post(qp, &drain.cqe);
	if (WARN_ONCE(ret, "failed to drain a queue: %d\n", ret))
		return;
	/* Completions in front of the marker come first, whether a reader polls or not */
	while (!wait_for_completion_timeout(&drain.done, patience))
		patience = verbs_cq_poll(cq) ? 0 : 1;
}

/**
 * verbs_drain_sq() - Wait for the done functions of the send queue
 * @qp: the queue pair; no call posts any more
 * @cq: its send completion queue
 *
 * Context: may sleep.
 */
void verbs_drain_sq(struct ib_qp *qp, struct verbs_cq *cq)
{
	if (cq->direct && !qp->device->ops.drain_sq) {
		verbs_drain_marked(qp, cq, verbs_drain_post_send);
		return;
	}
	verbs_cq_take_over(cq);
	ib_drain_sq(qp);
	verbs_cq_give_back(cq);
}

/* As verbs_drain_sq(), for the receive queue */
void verbs_drain_rq(struct ib_qp *qp, struct verbs_cq *cq)
{
	if (cq->direct && !qp->device->ops.drain_rq) {
		verbs_drain_marked(qp, cq, verbs_drain_post_recv);
		return;
	}
	verbs_cq_take_over(cq);
	ib_drain_rq(qp);
	verbs_cq_give_back(cq);
}
