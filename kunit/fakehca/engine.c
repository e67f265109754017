// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The engine: executes work requests, one at a time for the whole device.
 *
 * It runs on the device's ordered workqueue whenever something was posted or has
 * changed, and goes on until nothing is left that could be done; after a few work
 * requests the connection manager, on the same workqueue, has its turn.  Under the lock
 * it picks the queue pair that was served longest ago and has something to do: in
 * the error state, flush, and say once that it takes no more from its shared
 * receive queue; otherwise, if the device is not held, execute the oldest send.  A
 * message for a peer without a receive waits.  Events are told and bytes are moved without
 * the lock; the rings stay, because only the engine takes from them and
 * destruction waits for it.
 */
#include <linux/module.h>
#include "priv.h"

#define FAKEHCA_BUDGET	64	/* work requests before others have their turn */

/**
 * struct fakehca_op - What is executed
 * @qp: the sender
 * @peer: the receiver; NULL for local operations
 * @send: the work request
 * @recv: the receive it uses up, or NULL
 * @buf: the bytes; the device's, which has room for the longest message
 * @len: how many
 * @send_status: how the send ends
 * @recv_status: how the receive ends
 * @last_wqe: nothing to execute, but to tell that @qp takes no more receives
 * @low: SRQ whose limit has been reached, or NULL
 */
struct fakehca_op {
	struct fakehca_qp	*qp;
	struct fakehca_qp	*peer;
	struct fakehca_wqe	*send;
	struct fakehca_wqe	*recv;
	void			*buf;
	size_t			len;
	enum ib_wc_status	send_status;
	enum ib_wc_status	recv_status;
	bool			last_wqe;
	struct fakehca_srq	*low;
};

static bool fakehca_is_local(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_REG_MR || opcode == IB_WR_LOCAL_INV;
}

static bool fakehca_uses_recv(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_SEND || opcode == IB_WR_SEND_WITH_IMM ||
	       opcode == IB_WR_SEND_WITH_INV ||
	       opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

static bool fakehca_is_read(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_RDMA_READ || opcode == IB_WR_RDMA_READ_WITH_INV;
}

enum ib_wc_opcode fakehca_wc_opcode(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return IB_WC_RDMA_READ;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return IB_WC_FETCH_ADD;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return IB_WC_COMP_SWAP;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	default:
		return IB_WC_SEND;
	}
}

/* The caller holds the lock, here and below */
static void fakehca_report_send(struct fakehca_qp *qp, enum ib_wc_status status)
{
	struct fakehca_wqe *wqe = fakehca_ring_first(&qp->sq);
	struct ib_wc wc = {
		.wr_cqe	= wqe->cqe,
		.status	= status,
		.opcode	= fakehca_wc_opcode(wqe->opcode),
		.qp	= &qp->ibqp,
	};

	if (status || qp->signal_all || wqe->flags & IB_SEND_SIGNALED)
		fakehca_cq_push(qp->ibqp.send_cq, &wc);
}

static void fakehca_complete_send(struct fakehca_qp *qp, enum ib_wc_status status)
{
	fakehca_report_send(qp, status);
	qp->sq.tail++;
}

static void fakehca_complete_recv(struct fakehca_qp *qp, const struct fakehca_op *op,
				  enum ib_wc_status status)
{
	struct ib_wc wc = {
		.wr_cqe	= fakehca_ring_first(qp->rx)->cqe,
		.status	= status,
		.opcode	= IB_WC_RECV,
		.qp	= &qp->ibqp,
	};

	qp->rx->tail++;
	if (!status) {
		wc.byte_len = op->len;
		if (op->send->opcode == IB_WR_RDMA_WRITE_WITH_IMM)
			wc.opcode = IB_WC_RECV_RDMA_WITH_IMM;
		if (op->send->opcode == IB_WR_SEND_WITH_IMM ||
		    op->send->opcode == IB_WR_RDMA_WRITE_WITH_IMM) {
			wc.wc_flags |= IB_WC_WITH_IMM;
			wc.ex.imm_data = op->send->imm;
		}
		if (op->send->opcode == IB_WR_SEND_WITH_INV) {
			wc.wc_flags |= IB_WC_WITH_INVALIDATE;
			wc.ex.invalidate_rkey = op->send->inv;
		}
	}
	fakehca_cq_push(qp->ibqp.recv_cq, &wc);
}

static void fakehca_flush_send(struct fakehca_qp *qp)
{
	if (qp->hca->flush_twice && fakehca_is_read(fakehca_ring_first(&qp->sq)->opcode))
		fakehca_report_send(qp, IB_WC_WR_FLUSH_ERR);
	fakehca_complete_send(qp, IB_WC_WR_FLUSH_ERR);
}

static void fakehca_flush(struct fakehca_qp *qp)
{
	while (!qp->sq.late && !fakehca_ring_empty(&qp->sq))
		fakehca_flush_send(qp);
	while (!qp->rq.late && !fakehca_ring_empty(&qp->rq))
		fakehca_complete_recv(qp, NULL, IB_WC_WR_FLUSH_ERR);
}

static bool fakehca_ready(const struct fakehca_qp *qp)
{
	enum ib_wr_opcode opcode;

	if (qp->hca->held || qp->state != IB_QPS_RTS || fakehca_ring_empty(&qp->sq))
		return false;
	opcode = fakehca_ring_first(&qp->sq)->opcode;
	if (fakehca_is_local(opcode))
		return true;
	if (!qp->peer)
		return false;
	return !fakehca_uses_recv(opcode) || !fakehca_ring_empty(qp->peer->rx);
}

static void fakehca_begin(struct fakehca_op *op, struct fakehca_qp *qp)
{
	*op = (struct fakehca_op) {
		.qp	= qp,
		.peer	= qp->peer,
		.send	= fakehca_ring_first(&qp->sq),
		.buf	= qp->hca->buf,
	};
	if (fakehca_uses_recv(op->send->opcode))
		op->recv = fakehca_ring_first(qp->peer->rx);
	list_move_tail(&qp->entry, &qp->hca->qps);
}

/* Everything has been flushed; what it took has been completed by the engine */
static bool fakehca_ends(struct fakehca_qp *qp, struct fakehca_op *op)
{
	if (qp->rx == &qp->rq || qp->last_told || qp->hca->no_last_wqe)
		return false;
	qp->last_told = true;
	*op = (struct fakehca_op) { .qp = qp, .last_wqe = true };
	return true;
}

/* Flushes what is to be flushed; returns true with something to execute */
static bool fakehca_pick(struct fakehca *hca, struct fakehca_op *op)
{
	struct fakehca_qp *qp;

	list_for_each_entry(qp, &hca->qps, entry) {
		if (qp->state == IB_QPS_ERR) {
			fakehca_flush(qp);
			if (fakehca_ends(qp, op))
				return true;
		} else if (fakehca_ready(qp)) {
			fakehca_begin(op, qp);
			return true;
		}
	}
	return false;
}

static void fakehca_end(struct fakehca_op *op)
{
	if (op->last_wqe)
		return;
	if (op->recv && op->recv_status != IB_WC_GENERAL_ERR) {
		fakehca_complete_recv(op->peer, op, op->recv_status);
		if (op->peer->ibqp.srq && fakehca_srq_is_low(to_fakehca_srq(op->peer->ibqp.srq)))
			op->low = to_fakehca_srq(op->peer->ibqp.srq);
	}
	fakehca_complete_send(op->qp, op->send_status);
	if (op->send_status || op->recv_status) {
		fakehca_qp_error(op->qp);
		if (op->peer && op->peer->state != IB_QPS_ERR)
			fakehca_qp_error(op->peer);
	}
}

/* Without the lock, from here on */
static bool fakehca_gather(struct fakehca_op *op, const struct fakehca_wqe *wqe)
{
	void *buf = op->buf;
	int i;

	memcpy(buf, wqe->data, wqe->inline_len);
	buf += wqe->inline_len;
	for (i = 0; i < wqe->num_sge; i++) {
		if (!fakehca_mr_access(op->qp, wqe->sge[i].lkey, wqe->sge[i].addr, buf,
				       wqe->sge[i].length, 0, false))
			return false;
		buf += wqe->sge[i].length;
	}
	return true;
}

static bool fakehca_scatter(struct fakehca_op *op, struct fakehca_qp *qp,
			    const struct fakehca_wqe *wqe)
{
	size_t piece, done = 0;
	int i;

	for (i = 0; i < wqe->num_sge && done < op->len; i++) {
		piece = min_t(size_t, wqe->sge[i].length, op->len - done);
		if (!fakehca_mr_access(qp, wqe->sge[i].lkey, wqe->sge[i].addr, op->buf + done,
				       piece, IB_ACCESS_LOCAL_WRITE, true))
			return false;
		done += piece;
	}
	return true;
}

static size_t fakehca_wqe_len(const struct fakehca_wqe *wqe)
{
	size_t len = wqe->inline_len;
	int i;

	for (i = 0; i < wqe->num_sge; i++)
		len += wqe->sge[i].length;
	return len;
}

static void fakehca_do_local(struct fakehca_op *op)
{
	bool done;

	if (op->send->opcode == IB_WR_REG_MR)
		done = fakehca_mr_register(op->qp, op->send);
	else
		done = fakehca_mr_invalidate(op->qp, op->send->inv, false);
	if (!done)
		op->send_status = IB_WC_LOC_QP_OP_ERR;
}

/* iWARP names the sink of a read by a key that the peer may write with */
static int fakehca_sink_access(const struct fakehca_qp *qp)
{
	return qp->hca->attr.roce ? IB_ACCESS_LOCAL_WRITE :
				    IB_ACCESS_REMOTE_WRITE;
}

static void fakehca_do_read(struct fakehca_op *op)
{
	const struct ib_sge *sge = op->send->sge;

	if (!op->len)
		return;
	if (!fakehca_mr_access(op->peer, op->send->rkey, op->send->remote,
			       op->buf, op->len, IB_ACCESS_REMOTE_READ, false))
		op->send_status = IB_WC_REM_ACCESS_ERR;
	else if (!fakehca_mr_access(op->qp, sge->lkey, sge->addr, op->buf,
				    op->len, fakehca_sink_access(op->qp), true))
		op->send_status = IB_WC_LOC_PROT_ERR;
	else if (op->send->opcode == IB_WR_RDMA_READ_WITH_INV &&
		 !fakehca_mr_invalidate(op->qp, op->send->inv, false))
		op->send_status = IB_WC_LOC_QP_OP_ERR;
}

/* The peer's memory is ours alone while the engine runs */
static void fakehca_do_atomic(struct fakehca_op *op)
{
	const struct fakehca_wqe *wqe = op->send;
	u64 old, new;

	if (!fakehca_mr_access(op->peer, wqe->rkey, wqe->remote, &old,
			       sizeof(old), IB_ACCESS_REMOTE_ATOMIC, false)) {
		op->send_status = IB_WC_REM_ACCESS_ERR;
		return;
	}
	if (wqe->opcode == IB_WR_ATOMIC_FETCH_AND_ADD)
		new = old + wqe->compare_add;
	else
		new = old == wqe->compare_add ? wqe->swap : old;
	if (!fakehca_mr_access(op->peer, wqe->rkey, wqe->remote, &new,
			       sizeof(new), IB_ACCESS_REMOTE_ATOMIC, true))
		op->send_status = IB_WC_REM_ACCESS_ERR;
	else if (!fakehca_mr_access(op->qp, wqe->sge[0].lkey, wqe->sge[0].addr, &old, sizeof(old),
				    IB_ACCESS_LOCAL_WRITE, true))
		op->send_status = IB_WC_LOC_PROT_ERR;
}

static void fakehca_do_write(struct fakehca_op *op)
{
	if (!fakehca_gather(op, op->send)) {
		op->send_status = IB_WC_LOC_PROT_ERR;
		op->recv_status = IB_WC_GENERAL_ERR;
	} else if (op->len &&
		   !fakehca_mr_access(op->peer, op->send->rkey,
				      op->send->remote, op->buf, op->len,
				      IB_ACCESS_REMOTE_WRITE, true)) {
		op->send_status = IB_WC_REM_ACCESS_ERR;
		op->recv_status = IB_WC_GENERAL_ERR;
	}
}

static void fakehca_do_send(struct fakehca_op *op)
{
	if (!fakehca_gather(op, op->send)) {
		op->send_status = IB_WC_LOC_PROT_ERR;
		op->recv_status = IB_WC_GENERAL_ERR;
	} else if (op->len > fakehca_wqe_len(op->recv)) {
		op->send_status = IB_WC_REM_INV_REQ_ERR;
		op->recv_status = IB_WC_LOC_LEN_ERR;
	} else if (!fakehca_scatter(op, op->peer, op->recv)) {
		op->send_status = IB_WC_REM_OP_ERR;
		op->recv_status = IB_WC_LOC_PROT_ERR;
	} else if (op->send->opcode == IB_WR_SEND_WITH_INV &&
		   !fakehca_mr_invalidate(op->peer, op->send->inv, true)) {
		op->send_status = IB_WC_REM_ACCESS_ERR;
		op->recv_status = IB_WC_GENERAL_ERR;
	}
}

static void fakehca_do_remote(struct fakehca_op *op)
{
	op->len = fakehca_wqe_len(op->send);
	if (op->len > op->qp->hca->attr.max_msg_size) {
		op->send_status = IB_WC_LOC_LEN_ERR;
		op->recv_status = IB_WC_GENERAL_ERR;
		return;
	}
	if (fakehca_is_read(op->send->opcode))
		fakehca_do_read(op);
	else if (fakehca_is_atomic(op->send->opcode))
		fakehca_do_atomic(op);
	else if (op->recv && op->send->opcode != IB_WR_RDMA_WRITE_WITH_IMM)
		fakehca_do_send(op);
	else
		fakehca_do_write(op);
}

/*
 * A receive status of IB_WC_GENERAL_ERR means that the receive is not used up
 * and will be flushed.
 */
static void fakehca_execute(struct fakehca_op *op)
{
	struct fakehca *hca = op->qp->hca;

	if (op->last_wqe) {
		fakehca_tell_qp(op->qp, IB_EVENT_QP_LAST_WQE_REACHED);
		return;
	}
	op->send_status = fakehca_should_fail(hca, FAKEHCA_SEND_WC);
	if (op->send_status) {
		op->recv_status = IB_WC_GENERAL_ERR;
		return;
	}
	if (op->recv)
		op->recv_status = fakehca_should_fail(hca, FAKEHCA_RECV_WC);
	if (op->recv_status)
		op->send_status = IB_WC_REM_OP_ERR;
	else if (fakehca_is_local(op->send->opcode))
		fakehca_do_local(op);
	else
		fakehca_do_remote(op);
}

void fakehca_engine(struct work_struct *work)
{
	struct fakehca *hca = container_of(work, struct fakehca, engine);
	int budget = FAKEHCA_BUDGET;
	struct fakehca_op op;
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	while (budget-- && fakehca_pick(hca, &op)) {
		spin_unlock_irqrestore(&hca->lock, flags);
		fakehca_execute(&op);
		cond_resched();
		spin_lock_irqsave(&hca->lock, flags);
		fakehca_end(&op);
		if (op.low) {
			spin_unlock_irqrestore(&hca->lock, flags);
			fakehca_tell_srq(op.low, IB_EVENT_SRQ_LIMIT_REACHED);
			spin_lock_irqsave(&hca->lock, flags);
		}
	}
	spin_unlock_irqrestore(&hca->lock, flags);
	if (budget < 0)
		queue_work(hca->wq, &hca->engine);
}
