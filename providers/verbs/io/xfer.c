// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The data transfers that endpoints and shared receive contexts have, and their flags. */
#include <kofi/provider.h>
#include <kofi/xfer.h>
#include "../ep.h"
#include "../op.h"
#include "../verbs.h"

/* Flags that may be the default of calls without flags */
#define VERBS_OP_FLAGS	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | \
			 FI_TRANSMIT_COMPLETE)
#define VERBS_TX_FLAGS	(VERBS_OP_FLAGS | FI_REMOTE_CQ_DATA | FI_REMOTE_INV | \
			 FI_MORE | FI_FENCE)
/* iWARP has no immediate data, and does not report when data have arrived */
#define VERBS_IWARP_NOT	(FI_REMOTE_CQ_DATA | FI_TRANSMIT_COMPLETE)

/*
 * Counters leave out reads and writes by a peer: an RC queue pair has no event for them.  A write
 * with remote CQ data takes a receive, but does not count as a received message.
 */
#define VERBS_LIMITS						\
	.cntr_dirs	 = FI_SEND | FI_RECV | FI_READ | FI_WRITE,	\
	.rx_op_flags	 = FI_COMPLETION,			\
	.recv_flags	 = FI_COMPLETION | FI_MORE,		\
	.cm_data_size	 = VERBS_CM_DATA,			\
	.max_atomic_size = sizeof(u64)

static const struct kofi_ep_limits verbs_limits = {
	VERBS_LIMITS,
	.tx_op_flags	= VERBS_OP_FLAGS,
	.tx_flags	= VERBS_TX_FLAGS | FI_SAVE | FI_COMMIT_COMPLETE,
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

static const struct fi_ops_xfer verbs_xfer_ops = {
	.size		= sizeof(struct fi_ops_xfer),
	.send		= verbs_send,
	.recv		= verbs_recv,
	.read		= verbs_read,
	.write		= verbs_write,
	.post		= verbs_post,
	.atomicvalid	= verbs_atomicvalid,
};

static const struct fi_ops_xfer verbs_srx_xfer_ops = {
	.size		= sizeof(struct fi_ops_xfer),
	.send		= kofi_xfer_send,
	.recv		= kofi_xfer_recv,
	.read		= kofi_xfer_read,
	.write		= kofi_xfer_write,
	.post		= verbs_srx_post,
	.atomicvalid	= fi_no_atomicvalid,
};

void verbs_ep_set_ops(struct verbs_ep *ep)
{
	struct kofi_ep *kep = &ep->kep;
	u64 caps = FI_MSG;

	if (verbs_ep_has_rma(ep))
		caps |= FI_RMA;
	if (ep->domain->dev->atomics)
		caps |= kep->caps & FI_ATOMIC;
	kofi_ep_set_xfers(kep, caps);
	kep->ep.xfer = &verbs_xfer_ops;
}

void verbs_srx_set_ops(struct verbs_srx *srx)
{
	kofi_ep_set_xfers(&srx->kep, FI_MSG);
	srx->kep.ep.xfer = &verbs_srx_xfer_ops;
}
