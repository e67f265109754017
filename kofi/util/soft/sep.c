// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Scalable endpoints of providers that move the data themselves, and their contexts; see
 * kofi/soft.h.
 *
 * Lookups find a context by its index from its open until its close has begun.  A lookup takes a
 * reference (kofi_soft_ep.users).  So after kofi_soft_ctx_leave(), and then the wait for users,
 * nothing uses the context.
 */
#include <kofi/refuse.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "soft.h"

static struct kofi_soft_ep **kofi_soft_ctx_slot(struct kofi_soft_ep *sep, u32 fclass, u32 index)
{
	return fclass == FI_CLASS_TX_CTX ? &sep->ctxs->tx[index] : &sep->ctxs->rx[index];
}

struct kofi_soft_ep *kofi_soft_rx_ctx(struct kofi_soft_ep *sep, u32 index)
{
	struct kofi_soft_ep *ctx;
	unsigned long flags;

	if (index >= sep->ctxs->nr_rx)
		return NULL;
	spin_lock_irqsave(&sep->lock, flags);
	ctx = sep->ctxs->rx[index];
	if (ctx && !kofi_soft_ep_try_get(ctx))
		ctx = NULL;
	spin_unlock_irqrestore(&sep->lock, flags);
	return ctx;
}
EXPORT_SYMBOL_GPL(kofi_soft_rx_ctx);

/* When this returns, no lookup finds the context any more */
void kofi_soft_ctx_leave(struct kofi_soft_ep *ctx)
{
	struct kofi_soft_ep *sep = ctx->sep;

	spin_lock_irq(&sep->lock);
	*kofi_soft_ctx_slot(sep, ctx->kep.ep.fid.fclass, ctx->index) = NULL;
	spin_unlock_irq(&sep->lock);
}

/* Makes a new context visible to lookups and to the end of the namespace */
static int kofi_soft_ctx_enter(struct kofi_soft_ep *ctx)
{
	struct kofi_soft_ep *sep = ctx->sep, **slot;
	struct kofi_soft_fabric *fabric = sep->domain->fabric;
	int ret = 0;

	slot = kofi_soft_ctx_slot(sep, ctx->kep.ep.fid.fclass, ctx->index);
	mutex_lock(sep->type->lock);
	spin_lock_irq(&sep->lock);
	if (!fabric->net)
		ret = -ENODEV;
	else if (*slot)
		ret = kofi_refuse("tx_context or rx_context", -EBUSY, "the context %d is open; a context is opened once",
				  ctx->index);
	else
		*slot = ctx;
	spin_unlock_irq(&sep->lock);
	if (!ret)
		list_add_tail(&ctx->of_fabric, &fabric->eps);
	mutex_unlock(sep->type->lock);
	return ret;
}

static int kofi_soft_ctx_open(struct kofi_soft_ep *sep, const struct kofi_soft_ctx_attr *attr,
			      struct fid_ep **fid_ep)
{
	struct kofi_soft_ep *ctx;
	int ret;

	ret = sep->type->ctx(sep, attr, &ctx);
	if (ret)
		return ret;
	ret = kofi_soft_ctx_enter(ctx);
	if (ret) {
		ctx->type->free(ctx);
		return ret;
	}
	*fid_ep = &ctx->kep.ep;
	return 0;
}

/* Refuses an index or attributes above those of the scalable endpoint */
static int kofi_soft_ctx_check(const char *call, int index, size_t count)
{
	if (index < count)
		return 0;
	return kofi_refuse(call, -EINVAL, "index is %d; the scalable endpoint has %zu contexts",
			   index, count);
}

static int kofi_soft_ctx_fits(const char *call, u64 caps, u64 all, size_t size, size_t max_size,
			      size_t iov_limit, size_t max_iov)
{
	if (!(caps & ~all) && size <= max_size && iov_limit <= max_iov)
		return 0;
	return kofi_refuse(call, -EINVAL, "attr: caps %#llx, size %zu, iov_limit %zu; the most are %#llx, %zu and %zu",
			   caps, size, iov_limit, all, max_size, max_iov);
}

static int kofi_soft_tx_ctx(struct fid_ep *fid_sep, int index, struct fi_tx_attr *attr,
			    struct fid_ep **tx_ep, void *context)
{
	struct kofi_soft_ep *sep = to_kofi_soft_ep(&fid_sep->fid);
	struct fi_info info = *sep->ctxs->info;
	struct fi_tx_attr tx = *info.tx_attr;
	const struct kofi_soft_ctx_attr all = {
		.fclass = FI_CLASS_TX_CTX, .index = index, .info = &info, .context = context,
	};
	int ret;

	ret = kofi_soft_ctx_check("tx_context", index, info.ep_attr->tx_ctx_cnt);
	if (ret)
		return ret;
	info.tx_attr = &tx;
	if (attr) {
		ret = kofi_soft_ctx_fits("tx_context", attr->caps, info.caps, attr->size, tx.size,
					 attr->iov_limit, tx.iov_limit);
		if (!ret && attr->inject_size > tx.inject_size)
			ret = kofi_refuse("tx_context", -EINVAL, "attr->inject_size is %zu; the most is %zu",
					  attr->inject_size, tx.inject_size);
		if (ret)
			return ret;
		info.caps = attr->caps ? : info.caps;
		tx.caps = attr->caps ? : tx.caps;
		tx.size = attr->size ? : tx.size;
		tx.op_flags = attr->op_flags;
	}
	ret = kofi_soft_ctx_open(sep, &all, tx_ep);
	if (!ret && attr)
		*attr = tx;
	return ret;
}

static int kofi_soft_rx_ctx_open(struct fid_ep *fid_sep, int index, struct fi_rx_attr *attr,
				 struct fid_ep **rx_ep, void *context)
{
	struct kofi_soft_ep *sep = to_kofi_soft_ep(&fid_sep->fid);
	struct fi_info info = *sep->ctxs->info;
	struct fi_rx_attr rx = *info.rx_attr;
	const struct kofi_soft_ctx_attr all = {
		.fclass = FI_CLASS_RX_CTX, .index = index, .info = &info, .context = context,
	};
	int ret;

	ret = kofi_soft_ctx_check("rx_context", index, info.ep_attr->rx_ctx_cnt);
	if (ret)
		return ret;
	info.rx_attr = &rx;
	if (attr) {
		ret = kofi_soft_ctx_fits("rx_context", attr->caps, info.caps, attr->size, rx.size,
					 attr->iov_limit, rx.iov_limit);
		if (ret)
			return ret;
		info.caps = attr->caps ? : info.caps;
		rx.caps = attr->caps ? : rx.caps;
		rx.size = attr->size ? : rx.size;
		rx.op_flags = attr->op_flags;
	}
	ret = kofi_soft_ctx_open(sep, &all, rx_ep);
	if (!ret && attr)
		*attr = rx;
	return ret;
}

static const struct fi_ops_ep kofi_soft_sep_ops = {
	.size		= sizeof(struct fi_ops_ep),
	.cancel		= fi_no_cancel,
	.getopt		= kofi_soft_getopt,
	.setopt		= kofi_soft_setopt,
	.tx_ctx		= kofi_soft_tx_ctx,
	.rx_ctx		= kofi_soft_rx_ctx_open,
	.rx_size_left	= fi_no_size_left,
	.tx_size_left	= fi_no_size_left,
	.drain		= fi_no_drain,
};

int kofi_soft_sep_init(struct kofi_soft_ep *sep, const struct kofi_soft_type *type,
		       struct fid_domain *domain, const struct fi_info *info,
		       const struct kofi_ep_limits *limits, void *context)
{
	size_t nr_tx = info->ep_attr->tx_ctx_cnt, nr_rx = info->ep_attr->rx_ctx_cnt;
	struct kofi_soft_ctxs *ctxs;
	int ret;

	if (info->ep_attr->type != FI_EP_RDM || nr_tx > KOFI_SOFT_CTXS || nr_rx > KOFI_SOFT_CTXS)
		return kofi_refuse("scalable_ep", -EINVAL, "info->ep_attr: type %d, tx_ctx_cnt %zu, rx_ctx_cnt %zu; it has to be FI_EP_RDM, with at most %d contexts each",
				   info->ep_attr->type, nr_tx, nr_rx, KOFI_SOFT_CTXS);
	ctxs = kzalloc(struct_size(ctxs, tx, nr_tx + nr_rx), GFP_KERNEL);
	if (!ctxs)
		return -ENOMEM;
	ctxs->nr_tx = nr_tx;
	ctxs->nr_rx = nr_rx;
	ctxs->rx = &ctxs->tx[nr_tx];
	ret = -ENOMEM;
	ctxs->info = fi_dupinfo(info);
	if (!ctxs->info)
		goto free_ctxs;
	ret = kofi_soft_init(sep, type, to_kofi_soft_domain(domain), FI_CLASS_SEP, info, limits,
			     NULL, context);
	if (ret)
		goto free_info;
	sep->ctxs = ctxs;
	sep->kep.ep.ops = &kofi_soft_sep_ops;
	return 0;

free_info:
	fi_freeinfo(ctxs->info);
free_ctxs:
	kfree(ctxs);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_soft_sep_init);

int kofi_soft_ctx_init(struct kofi_soft_ep *ctx, struct kofi_soft_ep *sep,
		       const struct kofi_soft_type *type,
		       const struct kofi_soft_ctx_attr *attr,
		       const struct kofi_srx_attr *room)
{
	int ret;

	ret = kofi_soft_init(ctx, type, sep->domain, attr->fclass, attr->info,
			     sep->kep.limits, room, attr->context);
	if (ret)
		return ret;
	ctx->sep = sep;
	ctx->index = attr->index;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_soft_ctx_init);
