// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs: RC only, two rings each; receives may come from that of a shared
 * receive queue instead.
 *
 * Posting copies the work request into a ring and wakes the engine; nothing ever
 * completes in the poster's context.  A queue pair takes sends once it is
 * connected, receives before that, and both in the error state, where the engine
 * flushes them.
 *
 * References: the creator, and the connection manager's.  Destruction waits for
 * the latter.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "priv.h"

int fakehca_ring_init(struct fakehca_ring *ring, u32 size, u32 max_sge)
{
	ring->size = size;
	ring->max_sge = max_sge;
	ring->wqe = kvcalloc(max(size, 1U), sizeof(*ring->wqe), GFP_KERNEL);
	return ring->wqe ? 0 : -ENOMEM;
}

static int fakehca_qp_init_rings(struct fakehca_qp *qp, const struct ib_qp_cap *cap)
{
	u32 i;

	if (fakehca_ring_init(&qp->sq, cap->max_send_wr, cap->max_send_sge) ||
	    fakehca_ring_init(&qp->rq, cap->max_recv_wr, cap->max_recv_sge))
		return -ENOMEM;
	if (!qp->max_inline)
		return 0;
	qp->inline_data = kvcalloc(cap->max_send_wr, qp->max_inline, GFP_KERNEL);
	if (!qp->inline_data)
		return -ENOMEM;
	for (i = 0; i < cap->max_send_wr; i++)
		qp->sq.wqe[i].data = qp->inline_data + i * qp->max_inline;
	return 0;
}

static void fakehca_qp_free_rings(struct fakehca_qp *qp)
{
	kvfree(qp->inline_data);
	kvfree(qp->rq.wqe);
	kvfree(qp->sq.wqe);
}

static bool fakehca_qp_fits(const struct fakehca_attr *attr, const struct ib_qp_cap *cap)
{
	return cap->max_send_wr <= attr->max_qp_wr &&
	       cap->max_recv_wr <= attr->max_qp_wr &&
	       cap->max_send_sge <= attr->max_send_sge &&
	       cap->max_recv_sge <= attr->max_recv_sge;
}

static int fakehca_qp_list(struct fakehca_qp *qp)
{
	struct fakehca *hca = qp->hca;
	unsigned long flags;
	u32 qpn;
	int ret;

	spin_lock_irqsave(&hca->lock, flags);
	qpn = hca->next_qpn++;
	spin_unlock_irqrestore(&hca->lock, flags);

	qp->ibqp.qp_num = qpn;
	ret = xa_err(xa_store_irq(&hca->qpns, qpn, qp, GFP_KERNEL));
	if (ret)
		return ret;
	spin_lock_irqsave(&hca->lock, flags);
	list_add_tail(&qp->entry, &hca->qps);
	hca->stats.qps++;
	spin_unlock_irqrestore(&hca->lock, flags);
	return 0;
}

int fakehca_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct fakehca *hca = to_fakehca(ibqp->device);
	struct fakehca_qp *qp = to_fakehca_qp(ibqp);
	int ret = fakehca_should_fail(hca, FAKEHCA_CREATE_QP);

	if (ret)
		return ret;
	if (attr->qp_type != IB_QPT_RC)
		return -EOPNOTSUPP;
	if (!fakehca_qp_fits(&hca->attr, &attr->cap))
		return -EINVAL;

	qp->hca = hca;
	qp->state = IB_QPS_RESET;
	qp->rx = attr->srq ? &to_fakehca_srq(attr->srq)->ring : &qp->rq;
	qp->signal_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->max_inline = min(attr->cap.max_inline_data, hca->attr.max_inline);
	refcount_set(&qp->ref, 1);
	init_completion(&qp->released);
	ret = fakehca_qp_init_rings(qp, &attr->cap);
	if (!ret)
		ret = fakehca_qp_list(qp);
	if (ret)
		fakehca_qp_free_rings(qp);
	else
		attr->cap.max_inline_data = qp->max_inline;
	return ret;
}

struct ib_qp *fakehca_get_qp(struct ib_device *ibdev, int qpn)
{
	struct fakehca_qp *qp = xa_load(&to_fakehca(ibdev)->qpns, qpn);

	return qp ? &qp->ibqp : NULL;
}

void fakehca_qp_add_ref(struct ib_qp *ibqp)
{
	refcount_inc(&to_fakehca_qp(ibqp)->ref);
}

void fakehca_qp_rem_ref(struct ib_qp *ibqp)
{
	struct fakehca_qp *qp = to_fakehca_qp(ibqp);

	if (refcount_dec_and_test(&qp->ref))
		complete(&qp->released);
}

/* The caller holds the lock, here and below */
void fakehca_qp_link(struct fakehca_qp *a, struct fakehca_qp *b)
{
	lockdep_assert_held(&a->hca->lock);
	a->peer = b;
	b->peer = a;
	a->state = IB_QPS_RTS;
	b->state = IB_QPS_RTS;
	queue_work(a->hca->wq, &a->hca->engine);
}

static void fakehca_qp_stop(struct fakehca_qp *qp)
{
	if (qp->state != IB_QPS_ERR) {
		qp->sq.late = qp->hca->flush_late;
		qp->rq.late = qp->hca->flush_late;
	}
	qp->state = IB_QPS_ERR;
	qp->peer = NULL;
	queue_work(qp->hca->wq, &qp->hca->engine);
}

static void fakehca_qp_error_one(struct fakehca_qp *qp)
{
	fakehca_qp_stop(qp);
	if (qp->conn)
		fakehca_cm_broken(qp->conn);
}

/* The end of a connection is the end of both queue pairs */
void fakehca_qp_error(struct fakehca_qp *qp)
{
	struct fakehca_qp *peer = qp->peer;

	lockdep_assert_held(&qp->hca->lock);
	fakehca_qp_error_one(qp);
	if (peer)
		fakehca_qp_error_one(peer);
}

/*
 * By itself.  While it connects its consumer hears of that first, and only when he has
 * set the error state too does the connection manager give the answer to the request.
 */
void fakehca_qp_fail(struct fakehca_qp *qp)
{
	lockdep_assert_held(&qp->hca->lock);
	if (qp->conn && fakehca_cm_requested(qp->conn))
		fakehca_qp_stop(qp);
	else
		fakehca_qp_error(qp);
}

int fakehca_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct fakehca_qp *qp = to_fakehca_qp(ibqp);
	int ret = fakehca_should_fail(qp->hca, FAKEHCA_MODIFY_QP);
	unsigned long flags;

	if (ret)
		return ret;
	if (!(mask & IB_QP_STATE))
		return 0;

	spin_lock_irqsave(&qp->hca->lock, flags);
	/* SQD is how an iWARP connection is closed */
	if (attr->qp_state == IB_QPS_ERR || attr->qp_state == IB_QPS_SQD)
		fakehca_qp_error(qp);
	else if (qp->state == IB_QPS_ERR)
		ret = -EINVAL;
	else
		qp->state = attr->qp_state;
	spin_unlock_irqrestore(&qp->hca->lock, flags);
	return ret;
}

int fakehca_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_qp_init_attr *init_attr)
{
	struct fakehca_qp *qp = to_fakehca_qp(ibqp);

	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	init_attr->cap = (struct ib_qp_cap) {
		.max_send_wr		= qp->sq.size,
		.max_recv_wr		= qp->rq.size,
		.max_send_sge		= qp->sq.max_sge,
		.max_recv_sge		= qp->rq.max_sge,
		.max_inline_data	= qp->max_inline,
	};
	return 0;
}

int fakehca_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct fakehca_qp *qp = to_fakehca_qp(ibqp);
	struct fakehca *hca = qp->hca;
	unsigned long flags;

	xa_erase_irq(&hca->qpns, ibqp->qp_num);
	spin_lock_irqsave(&hca->lock, flags);
	fakehca_qp_error(qp);
	/* What has not been flushed by now is never heard of again */
	list_del(&qp->entry);
	hca->stats.qps--;
	spin_unlock_irqrestore(&hca->lock, flags);
	flush_work(&hca->engine);

	fakehca_qp_rem_ref(ibqp);
	wait_for_completion(&qp->released);
	fakehca_qp_free_rings(qp);
	return 0;
}

/* Inline data are copied now, and from any address */
static bool fakehca_copy_inline(struct fakehca_qp *qp, struct fakehca_wqe *wqe)
{
	int i;

	for (i = 0; i < wqe->num_sge; i++) {
		if (wqe->sge[i].length > qp->max_inline - wqe->inline_len)
			return false;
		memcpy(wqe->data + wqe->inline_len,
		       (void *)(uintptr_t)wqe->sge[i].addr, wqe->sge[i].length);
		wqe->inline_len += wqe->sge[i].length;
	}
	wqe->num_sge = 0;
	return true;
}

static struct fakehca_wqe *fakehca_ring_next(struct fakehca_ring *ring)
{
	if (ring->head - ring->tail == ring->size)
		return NULL;
	return &ring->wqe[ring->head % ring->size];
}

static void fakehca_copy_sge(struct fakehca_wqe *wqe, const struct ib_sge *sge, int num_sge)
{
	wqe->num_sge = num_sge;
	if (num_sge)
		memcpy(wqe->sge, sge, num_sge * sizeof(*sge));
}

static void fakehca_fill_wqe(struct fakehca_wqe *wqe, const struct ib_send_wr *wr)
{
	wqe->cqe = wr->wr_cqe;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	wqe->inline_len = 0;
	fakehca_copy_sge(wqe, wr->sg_list, wr->num_sge);

	switch (wr->opcode) {
	case IB_WR_SEND_WITH_IMM:
		wqe->imm = wr->ex.imm_data;
		break;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		wqe->inv = wr->ex.invalidate_rkey;
		break;
	case IB_WR_RDMA_READ_WITH_INV:
		wqe->inv = wr->ex.invalidate_rkey;
		fallthrough;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wqe->imm = wr->ex.imm_data;
		fallthrough;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_READ:
		wqe->remote = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
		break;
	case IB_WR_REG_MR:
		wqe->key = reg_wr(wr)->key;
		wqe->access = reg_wr(wr)->access;
		break;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_ATOMIC_CMP_AND_SWP:
		wqe->remote = atomic_wr(wr)->remote_addr;
		wqe->rkey = atomic_wr(wr)->rkey;
		wqe->compare_add = atomic_wr(wr)->compare_add;
		wqe->swap = atomic_wr(wr)->swap;
		break;
	default:
		break;
	}
}

/* What a device of this kind refuses to take */
static bool fakehca_wr_legal(const struct fakehca_qp *qp, const struct ib_send_wr *wr)
{
	if (wr->num_sge < 0 || wr->num_sge > qp->sq.max_sge)
		return false;
	switch (wr->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
	case IB_WR_RDMA_WRITE:
		return true;
	case IB_WR_REG_MR:
		return qp->hca->attr.atomics != FAKEHCA_ATOMICS_NOT_REGISTERED ||
		       !(reg_wr(wr)->access & IB_ACCESS_REMOTE_ATOMIC);
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return wr->num_sge == 1 && wr->sg_list->length == sizeof(u64);
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return wr->num_sge <= 1 && !(wr->send_flags & IB_SEND_INLINE);
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return qp->hca->attr.roce;
	default:
		return false;
	}
}

static bool fakehca_wr_is_unsaid(const struct ib_send_wr *wr)
{
	size_t len = 0;
	int i;

	if (wr->send_flags & IB_SEND_SIGNALED || wr->opcode == IB_WR_RDMA_READ ||
	    wr->opcode == IB_WR_RDMA_READ_WITH_INV)
		return false;
	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	return len >= PAGE_SIZE;
}

static int fakehca_post_one_send(struct fakehca_qp *qp, const struct ib_send_wr *wr)
{
	struct fakehca_wqe *wqe;

	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_ERR)
		return -EINVAL;
	if (fakehca_is_atomic(wr->opcode) && (qp->hca->attr.atomics == FAKEHCA_NO_ATOMICS ||
					      qp->hca->attr.atomics == FAKEHCA_ATOMICS_NOT_POSTED))
		return -EOPNOTSUPP;
	if (!fakehca_wr_legal(qp, wr))
		return -EINVAL;
	wqe = fakehca_ring_next(&qp->sq);
	if (!wqe)
		return -ENOMEM;
	fakehca_fill_wqe(wqe, wr);
	if (wr->send_flags & IB_SEND_INLINE && !fakehca_copy_inline(qp, wqe))
		return -EINVAL;
	qp->sq.head++;
	qp->sq.late = false;
	qp->hca->stats.fences += !!(wr->send_flags & IB_SEND_FENCE);
	qp->hca->stats.unsaid += fakehca_wr_is_unsaid(wr);
	return 0;
}

int fakehca_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad_wr)
{
	struct fakehca_qp *qp = to_fakehca_qp(ibqp);
	unsigned long flags;
	int ret = 0;

	if (qp->hca->quick)
		return fakehca_quick_post_send(qp, wr);
	fakehca_count(qp->hca, &qp->hca->stats.doorbells, 1);
	for (; wr; wr = wr->next) {
		ret = fakehca_should_fail(qp->hca, FAKEHCA_POST_SEND);
		spin_lock_irqsave(&qp->hca->lock, flags);
		if (!ret)
			ret = fakehca_post_one_send(qp, wr);
		spin_unlock_irqrestore(&qp->hca->lock, flags);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	queue_work(qp->hca->wq, &qp->hca->engine);
	return ret;
}

/* The caller holds the lock */
int fakehca_ring_post_recv(struct fakehca_ring *ring, const struct ib_recv_wr *wr)
{
	struct fakehca_wqe *wqe;

	if (wr->num_sge < 0 || wr->num_sge > ring->max_sge)
		return -EINVAL;
	wqe = fakehca_ring_next(ring);
	if (!wqe)
		return -ENOMEM;
	wqe->cqe = wr->wr_cqe;
	fakehca_copy_sge(wqe, wr->sg_list, wr->num_sge);
	ring->head++;
	ring->late = false;
	return 0;
}

static int fakehca_post_one_recv(struct fakehca_qp *qp, const struct ib_recv_wr *wr)
{
	if (qp->state == IB_QPS_RESET || qp->rx != &qp->rq)
		return -EINVAL;
	return fakehca_ring_post_recv(&qp->rq, wr);
}

int fakehca_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr)
{
	struct fakehca_qp *qp = to_fakehca_qp(ibqp);
	unsigned long flags;
	int ret = 0;

	if (qp->hca->quick)
		return fakehca_quick_post_recv(qp, wr);
	for (; wr; wr = wr->next) {
		ret = fakehca_should_fail(qp->hca, FAKEHCA_POST_RECV);
		spin_lock_irqsave(&qp->hca->lock, flags);
		if (!ret)
			ret = fakehca_post_one_recv(qp, wr);
		spin_unlock_irqrestore(&qp->hca->lock, flags);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	queue_work(qp->hca->wq, &qp->hca->engine);
	return ret;
}
