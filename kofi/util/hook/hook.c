// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Hooks: discovery, objects and control calls of include/kofi/hook.h.  Endpoints are in
 * ep.c, data transfers in xfer.c, queues and counters in queue.c.
 *
 * Each object has exactly one lower object, opened with it.  ->close closes the lower
 * object first.  If that is refused, nothing has changed.  No later step can fail.
 *
 * Where a provider below returns a lower object, the fabric's table of objects has the upper
 * object that it belongs to.  An object is in the table from the moment its lower object is open
 * until the lower object has been closed, which withdraws its events.  Between that close and its
 * removal from the table a new lower object may have the same address; the table finds the newer
 * of the two.
 *
 * Locking: a fabric's lock guards its table, and keeps what is found there from being freed.  It
 * is taken inside the lock of an event queue.  Calls on one object go on to the lower object
 * as they come from the core; no lock is held around them.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <kofi/hook.h>
#include <kofi/refuse.h>
#include "../../kofi.h"
#include "hook.h"

/* May a hook have something of its own for objects of the class? */
static bool hook_is_extended(u32 fclass)
{
	switch (fclass) {
	case FI_CLASS_EP:
	case FI_CLASS_SEP:
	case FI_CLASS_TX_CTX:
	case FI_CLASS_RX_CTX:
	case FI_CLASS_SRX_CTX:
	case FI_CLASS_CQ:
		return true;
	default:
		return false;
	}
}

static void hook_free(struct kofi_hook_obj *obj)
{
	const struct kofi_hook *hook = obj->root->hook;

	if (obj->fid.fclass == FI_CLASS_MR && hook->unreg)
		hook->unreg(obj);
	kfree(obj);
}

static int hook_close(struct fid *fid)
{
	struct kofi_hook_obj *obj = to_kofi_hook_obj(fid);
	struct kofi_hook_fabric *root = obj->root;
	const struct kofi_hook *hook = root->hook;
	bool extended = hook_is_extended(fid->fclass);
	int ret = 0;

	if (extended && hook->stop)
		ret = hook->stop(obj);
	if (ret)
		return ret;
	ret = fi_close(obj->lower.fid);
	if (ret) {
		if (extended && hook->resume)
			hook->resume(obj);
		return ret;
	}
	scoped_guard(spinlock_irqsave, &root->lock)
		hash_del(&obj->entry);
	if (obj == &root->obj) {
		kfree(root->prov_name);
		kfree(root);
	} else {
		hook_free(obj);
	}
	return 0;
}

/* The core binds only objects of one fabric, so @bfid is an object of the hook, too */
static int hook_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	struct kofi_hook_obj *obj = to_kofi_hook_obj(fid);
	struct kofi_hook_obj *bound = to_kofi_hook_obj(bfid);
	int ret = kofi_bind("ep_bind", obj->lower.fid, bound->lower.fid, flags);

	if (ret || bfid->fclass != FI_CLASS_CQ || !hook_is_extended(fid->fclass))
		return ret;
	if (flags & FI_TRANSMIT)
		obj->tx = bound;
	if (flags & FI_RECV)
		obj->rx = bound;
	return 0;
}

/* FI_ALIAS would return a lower object */
static int hook_control(struct fid *fid, int command, void *arg)
{
	if (command == FI_ALIAS)
		return kofi_refuse("ep_alias", -ENOSYS, "hooks have no aliases");
	return fi_control(to_kofi_hook_obj(fid)->lower.fid, command, arg);
}

static int hook_tostr(const struct fid *fid, char *buf, size_t len)
{
	const struct fid *lower = to_kofi_hook_obj((struct fid *)fid)->lower.fid;

	return lower->ops->tostr(lower, buf, len);
}

static const struct fi_ops hook_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= hook_close,
	.bind		= hook_bind,
	.control	= hook_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= hook_tostr,
	.ops_set	= fi_no_ops_set,
};

static void hook_init(struct kofi_hook_obj *obj, struct kofi_hook_fabric *root,
		      u32 fclass, void *context)
{
	obj->root = root;
	obj->fid.fclass = fclass;
	obj->fid.context = context;
	obj->fid.ops = &hook_fid_ops;
}

static size_t hook_size(const struct kofi_hook *hook, u32 fclass)
{
	size_t size = 0;

	if (fclass == FI_CLASS_CQ)
		size = hook->cq_size;
	else if (fclass == FI_CLASS_MR)
		size = hook->mr_size;
	else if (hook_is_extended(fclass))
		size = hook->ep_size;
	return max(size, sizeof(struct kofi_hook_obj));
}

struct kofi_hook_obj *kofi_hook_obj_new(struct fid *parent, u32 fclass,
					void *context)
{
	struct kofi_hook_fabric *root = to_kofi_hook_obj(parent)->root;
	const struct kofi_hook *hook = root->hook;
	struct kofi_hook_obj *obj;
	int ret = hook->opens ? hook->opens(fclass) : 0;

	if (ret)
		return ERR_PTR(ret);
	obj = kzalloc(hook_size(hook, fclass), GFP_KERNEL);
	if (!obj)
		return ERR_PTR(-ENOMEM);
	hook_init(obj, root, fclass, context);
	if (hook->init && hook_is_extended(fclass))
		hook->init(obj);
	return obj;
}

/* The lower object is open, unless @ret says that it is not */
int kofi_hook_opened(struct kofi_hook_obj *obj, int ret)
{
	struct kofi_hook_fabric *root = obj->root;

	if (ret) {
		hook_free(obj);
		return ret;
	}
	scoped_guard(spinlock_irqsave, &root->lock)
		hash_add(root->objs, &obj->entry,
			 (unsigned long)obj->lower.fid);
	return 0;
}

struct kofi_hook_obj *kofi_hook_upper(struct kofi_hook_fabric *root, const struct fid *lower)
{
	struct kofi_hook_obj *obj;

	lockdep_assert_held(&root->lock);
	/* hash_add() puts the newest in front: a closed one may still be behind it */
	hash_for_each_possible(root->objs, obj, entry, (unsigned long)lower)
		if (obj->lower.fid == lower)
			return obj;
	return NULL;
}

struct fi_info *kofi_hook_lower_info(const struct kofi_hook *hook,
				     struct kofi_hook_info *lower,
				     const struct fi_info *info)
{
	lower->info = *info;
	lower->info.caps &= ~hook->caps;
	lower->info.tx_attr = kofi_hook_lower_tx(hook, &lower->tx, info->tx_attr);
	lower->info.rx_attr = kofi_hook_lower_rx(hook, &lower->rx, info->rx_attr);
	lower->fabric = *info->fabric_attr;
	lower->fabric.prov_name = NULL;
	lower->fabric.fabric = NULL;
	lower->domain = *info->domain_attr;
	lower->domain.domain = NULL;
	lower->info.fabric_attr = &lower->fabric;
	lower->info.domain_attr = &lower->domain;
	return &lower->info;
}

static int hook_query_atomic(struct fid_domain *domain,
			     enum fi_datatype datatype, enum fi_op op,
			     struct fi_atomic_attr *attr, u64 flags)
{
	return fi_query_atomic(to_kofi_hook_obj(&domain->fid)->lower.domain,
			       datatype, op, attr, flags);
}

static struct device *hook_dma_device(struct fid_domain *domain)
{
	return fi_domain_device(to_kofi_hook_obj(&domain->fid)->lower.domain);
}

HOOK_ALL_CALLS(fi_ops_domain, 9);
static const struct fi_ops_domain hook_domain_ops = {
	.size		= sizeof(struct fi_ops_domain),
	.av_open	= kofi_hook_av_open,
	.cq_open	= kofi_hook_cq_open,
	.endpoint	= kofi_hook_endpoint,
	.scalable_ep	= kofi_hook_scalable_ep,
	.cntr_open	= kofi_hook_cntr_open,
	.stx_ctx	= kofi_hook_stx_ctx,
	.srx_ctx	= kofi_hook_srx_ctx,
	.query_atomic	= hook_query_atomic,
	.dma_device	= hook_dma_device,
};

static int hook_domain(struct fid_fabric *fabric, struct fi_info *info,
		       struct fid_domain **domain, void *context)
{
	struct kofi_hook_obj *obj = kofi_hook_obj_new(&fabric->fid,
						      FI_CLASS_DOMAIN, context);
	struct kofi_hook_info lower;
	int ret;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	obj->domain.ops = &hook_domain_ops;
	obj->domain.mr = &kofi_hook_mr;
	obj->caps = info->caps;
	*domain = &obj->domain;
	ret = fi_domain(to_kofi_hook_obj(&fabric->fid)->lower.fabric,
			kofi_hook_lower_info(obj->root->hook, &lower, info),
			&obj->lower.domain, obj);
	return kofi_hook_opened(obj, ret);
}

HOOK_ALL_CALLS(fi_ops_fabric, 3);
static const struct fi_ops_fabric hook_fabric_ops = {
	.size		= sizeof(struct fi_ops_fabric),
	.domain		= hook_domain,
	.passive_ep	= kofi_hook_passive_ep,
	.eq_open	= kofi_hook_eq_open,
};

int kofi_hook_fabric(const struct kofi_hook *hook,
		     const struct fi_fabric_attr *attr,
		     struct fid_fabric **fabric, void *context)
{
	struct kofi_hook_fabric *root = kzalloc(sizeof(*root), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!root)
		return ret;
	hook_init(&root->obj, root, FI_CLASS_FABRIC, context);
	root->obj.fabric.ops = &hook_fabric_ops;
	root->hook = hook;
	spin_lock_init(&root->lock);
	hash_init(root->objs);
	root->prov_name = kstrdup(attr->prov_name, GFP_KERNEL);
	if (!root->prov_name)
		goto err_free;

	ret = kofi_lower_fabric(attr, &root->obj.lower.fabric, &root->obj,
				hook->provider);
	if (ret)
		goto err_free;
	root->obj.fabric.api_version = root->obj.lower.fabric->api_version;
	hash_add(root->objs, &root->obj.entry,
		 (unsigned long)root->obj.lower.fid);
	*fabric = &root->obj.fabric;
	return 0;

err_free:
	kfree(root->prov_name);
	kfree(root);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_hook_fabric);

/* A result for FI_PROV_ATTR_ONLY has no capabilities */
void kofi_hook_add_caps(u64 caps, struct fi_info *info)
{
	if (!info->tx_attr || !info->rx_attr)
		return;
	info->caps |= caps;
	info->tx_attr->caps |= caps;
	info->rx_attr->caps |= caps;
}

int kofi_hook_getinfo(const struct kofi_hook *hook, u32 version,
		      const char *node, int service, u64 flags,
		      const struct fi_info *hints, struct fi_info **info)
{
	struct fi_tx_attr tx;
	struct fi_rx_attr rx;
	struct fi_info *at;
	struct fi_domain_attr domain;
	struct fi_fabric_attr fabric;
	char name[FI_NAME_MAX];
	struct fi_info lower;
	int ret;

	*info = NULL;
	ret = kofi_lower_name(hints, hook->provider, name, sizeof(name));
	if (ret <= 0)
		return ret;

	/* The core has checked that open objects in the hints belong to this hook */
	lower = *hints;
	lower.caps &= ~hook->caps;
	lower.tx_attr = kofi_hook_lower_tx(hook, &tx, hints->tx_attr);
	lower.rx_attr = kofi_hook_lower_rx(hook, &rx, hints->rx_attr);
	if (lower.domain_attr && lower.domain_attr->domain) {
		domain = *lower.domain_attr;
		domain.domain = to_kofi_hook_obj(&domain.domain->fid)->lower.domain;
		lower.domain_attr = &domain;
	}
	if (lower.fabric_attr && lower.fabric_attr->fabric) {
		fabric = *lower.fabric_attr;
		fabric.fabric = to_kofi_hook_obj(&fabric.fabric->fid)->lower.fabric;
		lower.fabric_attr = &fabric;
	}
	ret = kofi_lower_getinfo(version, name, node, service, flags, &lower,
				 info);
	for (at = *info; at; at = at->next)
		kofi_hook_add_caps(hook->caps, at);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_hook_getinfo);
