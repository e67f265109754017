// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Options of endpoints: fi_getopt() and fi_setopt().  kofi_ep_getopt() and kofi_ep_setopt()
 * have the options that all providers share.
 *
 * Locking: an option is set under the handler lock, and only in states in which no other
 * code reads it yet; see ep.c.
 */
#include <kofi/opt.h>
#include <kofi/refuse.h>
#include "cm.h"
#include "ep.h"
#include "op.h"
#include "queue.h"

static int verbs_ep_getopt(struct fid *fid, int level, int optname,
			   void *optval, size_t *optlen)
{
	struct verbs_ep *ep = to_verbs_ep(fid);
	int ret;

	if (level != FI_OPT_ENDPOINT)
		return -ENOPROTOOPT;
	ret = verbs_ep_enter(ep);
	if (ret)
		return ret;
	if (optname == FI_OPT_CM_DATA_RAW)
		ret = verbs_get_raw(ep->frame.raw, optval, optlen);
	else if (optname == FI_OPT_CM_DATA_SIZE && ep->frame.raw)
		ret = kofi_opt_put_size(VERBS_CM_REQ, optval, optlen);
	else if (optname == FI_OPT_MAX_RW_OPS)
		ret = kofi_opt_put_size(verbs_rws_max(ep), optval, optlen);
	else if (optname == FI_OPT_MAX_RMA_IOV)
		ret = kofi_opt_put_size(verbs_split_limit(ep), optval, optlen);
	else
		ret = kofi_ep_getopt(&ep->kep, optname, optval, optlen);
	verbs_ep_leave(ep);
	return ret;
}

static int verbs_ep_set_rw_ops(struct verbs_ep *ep, const void *optval,
			       size_t optlen)
{
	size_t rws;
	int ret;

	/* In state DOWN the option is taken, as by fi_ep_bind(), and fi_enable() reports the end */
	if (ep->qp)
		return kofi_refuse("setopt", -FI_EOPBADSTATE, "FI_OPT_MAX_RW_OPS: set it before fi_enable()");
	ret = kofi_opt_get_size(&rws, SIZE_MAX, optval, optlen);
	return ret ? : verbs_rws_set(ep, rws);
}

static int verbs_ep_setopt(struct fid *fid, int level, int optname,
			   const void *optval, size_t optlen)
{
	struct verbs_ep *ep = to_verbs_ep(fid);
	int ret;

	if (level != FI_OPT_ENDPOINT)
		return -ENOPROTOOPT;
	ret = verbs_ep_lock(ep);
	if (ret)
		return ret;
	if (optname == FI_OPT_MAX_RW_OPS)
		ret = verbs_ep_set_rw_ops(ep, optval, optlen);
	else if (optname != FI_OPT_CM_DATA_RAW)
		ret = kofi_ep_setopt(&ep->kep, optname, optval, optlen);
	else if (ep->kep.conn.state > KOFI_CONN_ENABLED || ep->kep.conn.passive)
		/* An accepting endpoint has the setting of the passive endpoint */
		ret = kofi_refuse("setopt", -FI_EOPBADSTATE, "FI_OPT_CM_DATA_RAW: set it before fi_connect(), or for fi_accept() on the passive endpoint");
	else
		ret = verbs_set_raw(&ep->frame.raw, optval, optlen);
	verbs_ep_unlock(ep);
	return ret;
}

const struct fi_ops_ep verbs_ep_ops = {
	.size		= sizeof(struct fi_ops_ep),
	.cancel		= fi_no_cancel,
	.getopt		= verbs_ep_getopt,
	.setopt		= verbs_ep_setopt,
	.tx_ctx		= fi_no_tx_ctx,
	.rx_ctx		= fi_no_rx_ctx,
	.rx_size_left	= fi_no_size_left,
	.tx_size_left	= fi_no_size_left,
	.drain		= verbs_ep_drain,
};
