// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Hooks: endpoints of all kinds, their options, and connections.
 *
 * The callbacks of a lower endpoint find the upper endpoint by the lower one's context.  They
 * are set before the first of them can run, and do not change afterwards.
 */
#include <kofi/refuse.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/string.h>
#include "hook.h"

static ssize_t hook_cancel(fid_t fid, void *context)
{
	return fi_cancel(to_kofi_hook_obj(fid)->lower.fid, context);
}

/* The lower endpoint has callbacks of this file, so FI_OPT_CALLBACKS returns the client's */
static int hook_getopt(fid_t fid, int level, int optname, void *optval,
		       size_t *optlen)
{
	struct kofi_hook_obj *obj = to_kofi_hook_obj(fid);
	const struct kofi_hook *hook = obj->root->hook;
	int ret = -ENOPROTOOPT;

	if (hook->getopt && level == FI_OPT_ENDPOINT)
		ret = hook->getopt(obj, optname, optval, optlen);
	if (ret != -ENOPROTOOPT)
		return ret;
	ret = fi_getopt(obj->lower.fid, level, optname, optval, optlen);
	if (!ret && level == FI_OPT_ENDPOINT && optname == FI_OPT_CALLBACKS)
		memcpy(optval, &obj->ep_callbacks, sizeof(obj->ep_callbacks));
	return ret;
}

/* Called by the lower endpoint, whose context is the upper one */
static void hook_ep_done(struct fid_ep *ep, const struct fi_done_entry *entry)
{
	struct kofi_hook_obj *obj = ep->fid.context;

	obj->ep_callbacks.done(&obj->ep, entry);
}

static void hook_ep_ready(struct fid_ep *ep, u64 flags)
{
	struct kofi_hook_obj *obj = ep->fid.context;
	const struct kofi_hook *hook = obj->root->hook;

	if (!hook->ready || hook->ready(obj, flags))
		obj->ep_callbacks.ready(&obj->ep, flags);
}

static int hook_set_callbacks(struct kofi_hook_obj *obj, const void *optval,
			      size_t optlen)
{
	const struct fi_ep_callbacks *wanted = optval;
	struct fi_ep_callbacks lower = {};
	int ret;

	if (optlen != sizeof(*wanted))
		return kofi_refuse("setopt", -EINVAL, "optlen is %zu; struct fi_ep_callbacks has %zu bytes",
				   optlen, sizeof(*wanted));
	if (wanted->done)
		lower.done = hook_ep_done;
	if (wanted->ready)
		lower.ready = hook_ep_ready;
	ret = fi_setopt(obj->lower.fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS,
			&lower, sizeof(lower));
	/* No callback runs until the endpoint is enabled, or has a receive */
	if (!ret)
		obj->ep_callbacks = *wanted;
	return ret;
}

static int hook_setopt(fid_t fid, int level, int optname, const void *optval,
		       size_t optlen)
{
	struct kofi_hook_obj *obj = to_kofi_hook_obj(fid);
	const struct kofi_hook *hook = obj->root->hook;
	int ret = -ENOPROTOOPT;

	if (level == FI_OPT_ENDPOINT && optname == FI_OPT_CALLBACKS)
		return hook_set_callbacks(obj, optval, optlen);
	if (hook->setopt && level == FI_OPT_ENDPOINT)
		ret = hook->setopt(obj, optname, optval, optlen);
	if (ret != -ENOPROTOOPT)
		return ret;
	return fi_setopt(obj->lower.fid, level, optname, optval, optlen);
}

static ssize_t hook_rx_size_left(struct fid_ep *ep)
{
	return fi_rx_size_left(kofi_hook_lower_ep(ep));
}

static ssize_t hook_tx_size_left(struct fid_ep *ep)
{
	return fi_tx_size_left(kofi_hook_lower_ep(ep));
}

static int hook_drain(struct fid_ep *ep, int timeout)
{
	return fi_ep_drain(kofi_hook_lower_ep(ep), timeout);
}

static int hook_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		       struct fid_ep **tx_ep, void *context);
static int hook_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		       struct fid_ep **rx_ep, void *context);

HOOK_ALL_CALLS(fi_ops_ep, 8);
static const struct fi_ops_ep hook_ep = {
	.size		= sizeof(struct fi_ops_ep),
	.cancel		= hook_cancel,
	.getopt		= hook_getopt,
	.setopt		= hook_setopt,
	.tx_ctx		= hook_tx_ctx,
	.rx_ctx		= hook_rx_ctx,
	.rx_size_left	= hook_rx_size_left,
	.tx_size_left	= hook_tx_size_left,
	.drain		= hook_drain,
};

static int hook_setname(fid_t fid, void *addr, size_t addrlen)
{
	return fi_setname(to_kofi_hook_obj(fid)->lower.fid, addr, addrlen);
}

static int hook_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return fi_getname(to_kofi_hook_obj(fid)->lower.fid, addr, addrlen);
}

static int hook_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen)
{
	return fi_getpeer(kofi_hook_lower_ep(ep), addr, addrlen);
}

static int hook_connect(struct fid_ep *ep, const void *addr, const void *param,
			size_t paramlen)
{
	return fi_connect(kofi_hook_lower_ep(ep), addr, param, paramlen);
}

static int hook_listen(struct fid_pep *pep)
{
	return fi_listen(to_kofi_hook_obj(&pep->fid)->lower.pep);
}

static int hook_accept(struct fid_ep *ep, const void *param, size_t paramlen)
{
	return fi_accept(kofi_hook_lower_ep(ep), param, paramlen);
}

/* The client has the lower provider's handle of a request */
static int hook_reject(struct fid_pep *pep, fid_t handle, const void *param,
		       size_t paramlen)
{
	return fi_reject(to_kofi_hook_obj(&pep->fid)->lower.pep, handle, param,
			 paramlen);
}

static int hook_shutdown(struct fid_ep *ep, u64 flags)
{
	return fi_shutdown(kofi_hook_lower_ep(ep), flags);
}

static int hook_join(struct fid_ep *ep, const void *addr, u64 flags,
		     struct fid_mc **mc, void *context)
{
	struct kofi_hook_obj *obj = kofi_hook_obj_new(&ep->fid, FI_CLASS_MC,
						      context);
	int ret;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	*mc = &obj->mc;
	ret = fi_join(kofi_hook_lower_ep(ep), addr, flags, &obj->lower.mc, obj);
	if (!ret)
		obj->mc.fi_addr = obj->lower.mc->fi_addr;
	return kofi_hook_opened(obj, ret);
}

HOOK_ALL_CALLS(fi_ops_cm, 9);
const struct fi_ops_cm kofi_hook_cm = {
	.size		= sizeof(struct fi_ops_cm),
	.setname	= hook_setname,
	.getname	= hook_getname,
	.getpeer	= hook_getpeer,
	.connect	= hook_connect,
	.listen		= hook_listen,
	.accept		= hook_accept,
	.reject		= hook_reject,
	.shutdown	= hook_shutdown,
	.join		= hook_join,
};
EXPORT_SYMBOL_GPL(kofi_hook_cm);

static void hook_ep_tables(struct kofi_hook_obj *obj)
{
	const struct kofi_hook *hook = obj->root->hook;

	obj->ep.ops = &hook_ep;
	obj->ep.cm = hook->cm ?: &kofi_hook_cm;
	obj->ep.xfer = hook->begin ? &kofi_hook_seen_xfer : hook->xfer ?: &kofi_hook_xfer;
}

/* Makes an object that operations are posted to */
static struct kofi_hook_obj *hook_ep_new(struct fid *parent, u32 fclass,
					 void *context)
{
	struct kofi_hook_obj *obj = kofi_hook_obj_new(parent, fclass, context);

	if (!IS_ERR(obj))
		hook_ep_tables(obj);
	return obj;
}

int kofi_hook_endpoint(struct fid_domain *domain, struct fi_info *info,
		       struct fid_ep **ep, void *context)
{
	struct kofi_hook_obj *obj = hook_ep_new(&domain->fid, FI_CLASS_EP,
						context);
	struct kofi_hook_info lower;
	int ret;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	obj->caps = info->caps;
	*ep = &obj->ep;
	ret = fi_endpoint(to_kofi_hook_obj(&domain->fid)->lower.domain,
			  kofi_hook_lower_info(obj->root->hook, &lower, info),
			  &obj->lower.ep, obj);
	return kofi_hook_opened(obj, ret);
}

int kofi_hook_scalable_ep(struct fid_domain *domain, struct fi_info *info,
			  struct fid_ep **sep, void *context)
{
	struct kofi_hook_obj *obj = hook_ep_new(&domain->fid, FI_CLASS_SEP,
						context);
	struct kofi_hook_info lower;
	int ret;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	*sep = &obj->ep;
	ret = fi_scalable_ep(to_kofi_hook_obj(&domain->fid)->lower.domain,
			     kofi_hook_lower_info(obj->root->hook, &lower, info),
			     &obj->lower.ep, obj);
	return kofi_hook_opened(obj, ret);
}

static int hook_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		       struct fid_ep **tx_ep, void *context)
{
	struct kofi_hook_obj *obj = hook_ep_new(&sep->fid, FI_CLASS_TX_CTX,
						context);
	struct fi_tx_attr lower;
	int ret;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	*tx_ep = &obj->ep;
	ret = fi_tx_context(kofi_hook_lower_ep(sep), index,
			    kofi_hook_lower_tx(obj->root->hook, &lower, attr),
			    &obj->lower.ep, obj);
	ret = kofi_hook_opened(obj, ret);
	if (!ret && attr) {
		lower.caps |= attr->caps & obj->root->hook->caps;
		*attr = lower;
	}
	return ret;
}

static int hook_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		       struct fid_ep **rx_ep, void *context)
{
	struct kofi_hook_obj *obj = hook_ep_new(&sep->fid, FI_CLASS_RX_CTX,
						context);
	struct fi_rx_attr lower;
	int ret;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	*rx_ep = &obj->ep;
	ret = fi_rx_context(kofi_hook_lower_ep(sep), index,
			    kofi_hook_lower_rx(obj->root->hook, &lower, attr),
			    &obj->lower.ep, obj);
	ret = kofi_hook_opened(obj, ret);
	if (!ret && attr) {
		lower.caps |= attr->caps & obj->root->hook->caps;
		*attr = lower;
	}
	return ret;
}

int kofi_hook_stx_ctx(struct fid_domain *domain, struct fi_tx_attr *attr,
		      struct fid_stx **stx, void *context)
{
	struct kofi_hook_obj *obj = kofi_hook_obj_new(&domain->fid,
						      FI_CLASS_STX_CTX, context);
	struct fi_tx_attr lower;
	int ret;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	obj->stx.ops = &hook_ep;
	*stx = &obj->stx;
	ret = fi_stx_context(to_kofi_hook_obj(&domain->fid)->lower.domain,
			     kofi_hook_lower_tx(obj->root->hook, &lower, attr),
			     &obj->lower.stx, obj);
	return kofi_hook_opened(obj, ret);
}

int kofi_hook_srx_ctx(struct fid_domain *domain, struct fi_rx_attr *attr,
		      struct fid_ep **srx, void *context)
{
	struct kofi_hook_obj *obj = hook_ep_new(&domain->fid, FI_CLASS_SRX_CTX,
						context);
	struct fi_rx_attr lower;
	int ret;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	*srx = &obj->ep;
	ret = fi_srx_context(to_kofi_hook_obj(&domain->fid)->lower.domain,
			     kofi_hook_lower_rx(obj->root->hook, &lower, attr),
			     &obj->lower.ep, obj);
	return kofi_hook_opened(obj, ret);
}

int kofi_hook_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
			 struct fid_pep **pep, void *context)
{
	struct kofi_hook_obj *obj = kofi_hook_obj_new(&fabric->fid,
						      FI_CLASS_PEP, context);
	struct kofi_hook_info lower;
	int ret;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	obj->pep.ops = &hook_ep;
	obj->pep.cm = obj->root->hook->cm ?: &kofi_hook_cm;
	obj->caps = info->caps;
	*pep = &obj->pep;
	ret = fi_passive_ep(to_kofi_hook_obj(&fabric->fid)->lower.fabric,
			    kofi_hook_lower_info(obj->root->hook, &lower, info),
			    &obj->lower.pep, obj);
	return kofi_hook_opened(obj, ret);
}
