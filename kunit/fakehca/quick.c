// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A device that costs next to nothing, for who counts instructions.
 *
 * While it is quick, a queue pair notes of a work request what a completion needs
 * and does no more: nothing is checked, no data move, no engine runs.  What was
 * noted ends when fakehca_quick_end() says so, always well; the completion queues'
 * users are told by fakehca_quick_tell(), so that posting, completing and the
 * reaction to it can be looked at one by one.
 *
 * The user is one thread and posts no more than fits.
 */
#include <linux/module.h>
#include "priv.h"

#define FAKEHCA_QUICK_LEN	64

void fakehca_quick(struct fakehca *hca, bool on)
{
	fakehca_idle(hca);
	WRITE_ONCE(hca->quick, on);
}
EXPORT_SYMBOL_GPL(fakehca_quick);

static struct fakehca_wqe *fakehca_quick_next(struct fakehca_ring *ring)
{
	return &ring->wqe[ring->head++ % ring->size];
}

int fakehca_quick_post_send(struct fakehca_qp *qp, const struct ib_send_wr *wr)
{
	struct fakehca_wqe *wqe;

	for (; wr; wr = wr->next) {
		wqe = fakehca_quick_next(&qp->sq);
		wqe->cqe = wr->wr_cqe;
		wqe->opcode = wr->opcode;
		wqe->flags = wr->send_flags;
	}
	return 0;
}

int fakehca_quick_post_recv(struct fakehca_qp *qp, const struct ib_recv_wr *wr)
{
	for (; wr; wr = wr->next)
		fakehca_quick_next(&qp->rq)->cqe = wr->wr_cqe;
	return 0;
}

static void fakehca_quick_push(struct ib_cq *ibcq, const struct ib_wc *wc)
{
	struct fakehca_cq *cq = to_fakehca_cq(ibcq);

	if (WARN_ON_ONCE(cq->head - cq->tail == cq->size))
		return;
	cq->wc[cq->head++ % cq->size] = *wc;
}

void fakehca_quick_end(struct ib_qp *ibqp)
{
	struct fakehca_qp *qp = to_fakehca_qp(ibqp);
	struct ib_wc wc = { .qp = ibqp };
	struct fakehca_wqe *wqe;

	for (; !fakehca_ring_empty(&qp->sq); qp->sq.tail++) {
		wqe = fakehca_ring_first(&qp->sq);
		wc.wr_cqe = wqe->cqe;
		wc.opcode = fakehca_wc_opcode(wqe->opcode);
		if (wqe->flags & IB_SEND_SIGNALED)
			fakehca_quick_push(ibqp->send_cq, &wc);
	}
	wc.opcode = IB_WC_RECV;
	wc.byte_len = FAKEHCA_QUICK_LEN;
	for (; !fakehca_ring_empty(&qp->rq); qp->rq.tail++) {
		wc.wr_cqe = fakehca_ring_first(&qp->rq)->cqe;
		fakehca_quick_push(ibqp->recv_cq, &wc);
	}
}
EXPORT_SYMBOL_GPL(fakehca_quick_end);

void fakehca_quick_tell(struct ib_cq *ibcq)
{
	struct fakehca_cq *cq = to_fakehca_cq(ibcq);

	if (!cq->armed)
		return;
	cq->armed = false;
	ibcq->comp_handler(ibcq, ibcq->cq_context);
}
EXPORT_SYMBOL_GPL(fakehca_quick_tell);

struct ib_qp *fakehca_qp(struct fakehca *hca, u32 qpn)
{
	return fakehca_get_qp(fakehca_ibdev(hca), qpn);
}
EXPORT_SYMBOL_GPL(fakehca_qp);
