// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs that are never connected.
 *
 * In the error state a queue pair takes work requests and flushes them.  probe.c uses one to find
 * out whether a driver takes atomics, and srx.c to drain a completion queue.
 */
#include <linux/err.h>
#include "../ep.h"

/* A queue pair can go from INIT to the error state, but not from RESET */
static int verbs_lone_qp_init(struct ib_qp *qp)
{
	u32 port = rdma_start_port(qp->device);
	struct ib_qp_attr attr = {
		.qp_state	= IB_QPS_INIT,
		.port_num	= port,
	};
	int mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS;

	if (!rdma_protocol_iwarp(qp->device, port))
		mask |= IB_QP_PKEY_INDEX | IB_QP_PORT;
	return ib_modify_qp(qp, &attr, mask);
}

/**
 * verbs_lone_qp() - Create a queue pair that is only used in the error state
 * @pd: protection domain
 * @cq: for both directions
 * @send_wr: depth of the send queue
 *
 * Context: may sleep.
 * Return: the queue pair in the state INIT, for ib_destroy_qp(); or an ERR_PTR() of the errno.
 */
struct ib_qp *verbs_lone_qp(struct ib_pd *pd, struct ib_cq *cq, u32 send_wr)
{
	struct ib_qp_init_attr attr = {
		.send_cq	= cq,
		.recv_cq	= cq,
		.cap = {
			.max_send_wr	= send_wr,
			.max_recv_wr	= 1,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};
	struct ib_qp *qp = ib_create_qp(pd, &attr);
	int ret;

	if (IS_ERR(qp))
		return qp;
	ret = verbs_lone_qp_init(qp);
	if (!ret)
		return qp;
	ib_destroy_qp(qp);
	return ERR_PTR(ret);
}
