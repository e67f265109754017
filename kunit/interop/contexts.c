// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The kernel's end as a scalable endpoint, whose peer knows of none: what the peer sends comes
 * to receive context 0, and receive context 1 of the peer is refused.
 */
#include "interop.h"

#define INTEROP_CONTEXTS	2

bool interop_has_contexts(const struct interop_end *end)
{
	return INTEROP_HAS_CONTEXTS && end->plan->contexts;
}

/* What to ask fi_getinfo() for */
void interop_want_contexts(struct fi_info *hints)
{
	hints->caps |= FI_NAMED_RX_CTX;
	hints->ep_attr->tx_ctx_cnt = INTEROP_CONTEXTS;
	hints->ep_attr->rx_ctx_cnt = INTEROP_CONTEXTS;
}

/**
 * interop_open_contexts() - Open a scalable endpoint and its contexts 0
 * @end: with its domain open
 * @info: of the endpoint
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int interop_open_contexts(struct interop_end *end, struct fi_info *info)
{
	int ret;

	ret = fi_scalable_ep(end->domain, info, &end->sep, NULL);
	if (!ret)
		ret = fi_scalable_ep_bind(end->sep, &end->av->fid, 0);
	if (!ret)
		ret = fi_tx_context(end->sep, 0, NULL, &end->ep, NULL);
	if (!ret)
		ret = fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT);
	if (!ret)
		ret = fi_rx_context(end->sep, 0, NULL, &end->rx, NULL);
	if (!ret)
		ret = fi_ep_bind(end->rx, &end->cq->fid, FI_RECV);
	if (!ret)
		ret = fi_enable(end->ep);
	if (!ret)
		ret = fi_enable(end->rx);
	return ret ? ret : fi_enable(end->sep);
}

/**
 * interop_refused_context() - Send to receive context 1 of a peer that has no contexts
 * @end: the initiator, with nothing under way but receives
 *
 * Context: may sleep.
 * Return: 0: that ended with EOPNOTSUPP; or a negative errno.
 */
int interop_refused_context(struct interop_end *end)
{
	fi_addr_t addr = fi_rx_addr(end->peer, 1, INTEROP_CTX_BITS);
	struct fi_cq_err_entry error = { 0 };
	struct fi_cq_data_entry entry;
	ssize_t ret;

	ret = fi_tsend(end->ep, interop_at(&end->local, 0), sizeof(__u64),
		       interop_desc(&end->local), addr, INTEROP_MAIL, end);
	if (ret)
		return ret;
	ret = fi_cq_sread(end->cq, &entry, 1, NULL, INTEROP_PATIENCE_MS);
	if (ret == -FI_EAVAIL && fi_cq_readerr(end->cq, &error, 0) == 1 &&
	    error.op_context == end && error.err == EOPNOTSUPP)
		return 0;
	interop_say("a message for a context that the peer has not: %zd, %s", ret,
		    fi_strerror(error.err));
	return ret < 0 && ret != -FI_EAVAIL ? ret : -EPROTO;
}
