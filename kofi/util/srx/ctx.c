// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A shared receive context as a client sees it, around a receive side.
 *
 * The core keeps it open as long as an endpoint uses it, and its event queue as long as it
 * is open.  It has no state: receives can be posted from the open to the close, and options
 * can be set.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <kofi/provider.h>
#include <kofi/refuse.h>
#include <kofi/xfer.h>
#include "srx.h"

static struct kofi_srx_ctx *to_kofi_srx_ctx(struct fid *fid)
{
	return container_of(fid, struct kofi_srx_ctx, kep.ep.fid);
}

static ssize_t kofi_srx_ctx_post(struct fid_ep *ep, const struct fi_xfer *xfer)
{
	struct kofi_srx_ctx *ctx = to_kofi_srx_ctx(&ep->fid);
	ssize_t ret;
	u64 flags;

	ret = kofi_xfer_check(&ctx->kep, xfer, &flags);
	if (!ret)
		ret = kofi_srx_post(&ctx->srx, xfer, flags);
	return ret ? kofi_xfer_refuse(&ctx->kep, xfer, ret) : 0;
}

static const struct fi_ops_xfer kofi_srx_ctx_xfer_ops = {
	.size		= sizeof(struct fi_ops_xfer),
	.send		= kofi_xfer_send,
	.recv		= kofi_xfer_recv,
	.read		= kofi_xfer_read,
	.write		= kofi_xfer_write,
	.post		= kofi_srx_ctx_post,
	.atomicvalid	= fi_no_atomicvalid,
};

static int kofi_srx_ctx_close(struct fid *fid)
{
	struct kofi_srx_ctx *ctx = to_kofi_srx_ctx(fid);

	kofi_srx_destroy(&ctx->srx);
	kofi_ep_fini(&ctx->kep);
	kfree(ctx);
	return 0;
}

/* Binds an event queue, for FI_OPT_SRX_LIMIT */
static int kofi_srx_ctx_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	if (bfid->fclass != FI_CLASS_EQ)
		return kofi_refuse("ep_bind", -EINVAL, "a shared receive context takes an event queue only");
	to_kofi_srx_ctx(fid)->kep.conn.eq = to_kofi_eq(bfid);
	return 0;
}

static const struct fi_ops kofi_srx_ctx_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= kofi_srx_ctx_close,
	.bind		= kofi_srx_ctx_bind,
	.control	= fi_no_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static ssize_t kofi_srx_ctx_cancel(struct fid *fid, void *context)
{
	return kofi_srx_cancel(&to_kofi_srx_ctx(fid)->srx, context);
}

static int kofi_srx_ctx_getopt(struct fid *fid, int level, int optname,
			       void *optval, size_t *optlen)
{
	struct kofi_srx_ctx *ctx = to_kofi_srx_ctx(fid);
	int ret;

	if (level != FI_OPT_ENDPOINT)
		return -ENOPROTOOPT;
	ret = kofi_ep_getopt(&ctx->kep, optname, optval, optlen);
	if (ret == -ENOPROTOOPT)
		ret = kofi_srx_getopt(&ctx->srx, optname, optval, optlen);
	return ret;
}

static int kofi_srx_ctx_setopt(struct fid *fid, int level, int optname,
			       const void *optval, size_t optlen)
{
	struct kofi_srx_ctx *ctx = to_kofi_srx_ctx(fid);
	int ret;

	if (level != FI_OPT_ENDPOINT)
		return -ENOPROTOOPT;
	ret = kofi_ep_setopt(&ctx->kep, optname, optval, optlen);
	if (ret == -ENOPROTOOPT)
		ret = kofi_srx_setopt(&ctx->srx, optname, optval, optlen);
	return ret;
}

static const struct fi_ops_ep kofi_srx_ctx_ep_ops = {
	.size		= sizeof(struct fi_ops_ep),
	.cancel		= kofi_srx_ctx_cancel,
	.getopt		= kofi_srx_ctx_getopt,
	.setopt		= kofi_srx_ctx_setopt,
	.tx_ctx		= fi_no_tx_ctx,
	.rx_ctx		= fi_no_rx_ctx,
	.rx_size_left	= fi_no_size_left,
	.tx_size_left	= fi_no_size_left,
	.drain		= fi_no_drain,
};

static void kofi_srx_ctx_set_ops(struct kofi_ep *kep)
{
	kofi_ep_set_xfers(kep, FI_MSG | FI_TAGGED);
	kep->ep.fid.ops = &kofi_srx_ctx_fid_ops;
	kep->ep.ops = &kofi_srx_ctx_ep_ops;
	kep->ep.cm = &kofi_no_ops_cm;
	kep->ep.xfer = &kofi_srx_ctx_xfer_ops;
}

struct kofi_srx_ctx *kofi_srx_ctx_open(size_t size, const struct fi_rx_attr *attr,
				       const struct kofi_ep_limits *limits,
				       const struct kofi_srx_attr *room,
				       const struct kofi_srx_ops *ops,
				       void *context)
{
	struct kofi_srx_ctx *ctx;
	int ret;

	ctx = kzalloc(size, GFP_KERNEL);
	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ret = kofi_ep_init_srx(&ctx->kep, attr, limits, context);
	if (ret)
		goto free_ctx;
	ret = kofi_srx_init(&ctx->srx, &ctx->kep, room, ops);
	if (ret)
		goto fini_ep;
	kofi_srx_ctx_set_ops(&ctx->kep);
	return ctx;

fini_ep:
	kofi_ep_fini(&ctx->kep);
free_ctx:
	kfree(ctx);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(kofi_srx_ctx_open);
