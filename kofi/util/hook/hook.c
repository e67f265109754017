// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Hooks: discovery, objects and control calls of include/kofi/hook.h.  Data transfers
 * are in data.c, queues and counters in queue.c.
 *
 * Each object has exactly one lower object, opened with it.  ->close closes the lower
 * one first; if that is refused, nothing has changed.  Nothing after it can fail.
 *
 * Where a lower object comes to light the fabric's table of objects tells which upper
 * one it belongs to.  An object is in it from the moment its lower one is open until that
 * has been closed, which withdraws its events.  What is not in the table is no lower
 * object and stays as it is: a client may write any pointer into its own events.
 *
 * Locking: a fabric's lock guards its table.  Calls on one object come in as they come
 * to any provider and go on to the lower object as they come.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <kofi/hook.h>
#include "../../kofi.h"
#include "hook.h"

static int hook_close(struct fid *fid)
{
	struct kofi_hook_obj *obj = to_kofi_hook_obj(fid);
	struct kofi_hook_fabric *root = obj->root;
	int ret = fi_close(obj->lower.fid);

	if (ret)
		return ret;
	scoped_guard(spinlock_irqsave, &root->lock)
		hash_del(&obj->entry);
	if (obj == &root->obj) {
		kfree(root->prov_name);
		kfree(root);
	} else {
		kfree(obj);
	}
	return 0;
}

/* Both are of one fabric, or the core would not have let them through */
static int hook_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	return kofi_bind(to_kofi_hook_obj(fid)->lower.fid,
			 to_kofi_hook_obj(bfid)->lower.fid, flags);
}

/* An alias would be a lower object */
static int hook_control(struct fid *fid, int command, void *arg)
{
	if (command == FI_ALIAS)
		return -ENOSYS;
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

/* The object that a call on @parent opens; NULL: no memory */
struct kofi_hook_obj *kofi_hook_obj_new(struct fid *parent, u32 fclass,
					void *context)
{
	struct kofi_hook_obj *obj = kzalloc(sizeof(*obj), GFP_KERNEL);

	if (obj)
		hook_init(obj, to_kofi_hook_obj(parent)->root, fclass, context);
	return obj;
}

/* Its lower object is open, unless @ret says that it is not */
int kofi_hook_opened(struct kofi_hook_obj *obj, int ret)
{
	struct kofi_hook_fabric *root = obj->root;

	if (ret) {
		kfree(obj);
		return ret;
	}
	scoped_guard(spinlock_irqsave, &root->lock)
		hash_add(root->objs, &obj->entry,
			 (unsigned long)obj->lower.fid);
	return 0;
}

struct fid *kofi_hook_upper(struct kofi_hook_fabric *root, struct fid *lower)
{
	struct fid *found = NULL;
	struct kofi_hook_obj *obj;
	unsigned long flags;

	spin_lock_irqsave(&root->lock, flags);
	hash_for_each_possible(root->objs, obj, entry, (unsigned long)lower)
		if (obj->lower.fid == lower)
			found = &obj->fid;
	spin_unlock_irqrestore(&root->lock, flags);
	return found;
}

/* What a lower object is opened with; no names and objects of upper ones are in it */
struct hook_info {
	struct fi_info		info;
	struct fi_fabric_attr	fabric;
	struct fi_domain_attr	domain;
};

static struct fi_info *hook_lower_info(struct hook_info *lower,
				       const struct fi_info *info)
{
	lower->info = *info;
	lower->fabric = *info->fabric_attr;
	lower->fabric.prov_name = NULL;
	lower->fabric.fabric = NULL;
	lower->domain = *info->domain_attr;
	lower->domain.domain = NULL;
	lower->info.fabric_attr = &lower->fabric;
	lower->info.domain_attr = &lower->domain;
	return &lower->info;
}

static ssize_t hook_cancel(fid_t fid, void *context)
{
	return fi_cancel(to_kofi_hook_obj(fid)->lower.fid, context);
}

static int hook_getopt(fid_t fid, int level, int optname, void *optval,
		       size_t *optlen)
{
	return fi_getopt(to_kofi_hook_obj(fid)->lower.fid, level, optname,
			 optval, optlen);
}

/* The lower endpoint calls; its context is the upper one */
static void hook_ep_done(struct fid_ep *ep, const struct fi_done_entry *entry)
{
	struct kofi_hook_obj *obj = ep->fid.context;

	obj->ep_callbacks.done(&obj->ep, entry);
}

static void hook_ep_ready(struct fid_ep *ep, u64 flags)
{
	struct kofi_hook_obj *obj = ep->fid.context;

	obj->ep_callbacks.ready(&obj->ep, flags);
}

static int hook_set_callbacks(struct kofi_hook_obj *obj, const void *optval,
			      size_t optlen)
{
	const struct fi_ep_callbacks *wanted = optval;
	struct fi_ep_callbacks lower = {};

	if (optlen != sizeof(*wanted))
		return -EINVAL;
	if (wanted->done)
		lower.done = hook_ep_done;
	if (wanted->ready)
		lower.ready = hook_ep_ready;
	obj->ep_callbacks = *wanted;
	return fi_setopt(obj->lower.fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS,
			 &lower, sizeof(lower));
}

static int hook_setopt(fid_t fid, int level, int optname, const void *optval,
		       size_t optlen)
{
	struct kofi_hook_obj *obj = to_kofi_hook_obj(fid);

	if (level == FI_OPT_ENDPOINT && optname == FI_OPT_CALLBACKS)
		return hook_set_callbacks(obj, optval, optlen);
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

/* Handles of requests are the lower provider's all the way */
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

	if (!obj)
		return -ENOMEM;
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
	obj->ep.msg = hook->msg ?: &kofi_hook_msg;
	obj->ep.rma = hook->rma ?: &kofi_hook_rma;
	obj->ep.tagged = hook->tagged ?: &kofi_hook_tagged;
	obj->ep.atomic = hook->atomic ?: &kofi_hook_atomic;
}

/* An object that operations are posted to */
static struct kofi_hook_obj *hook_ep_new(struct fid *parent, u32 fclass,
					 void *context)
{
	struct kofi_hook_obj *obj = kofi_hook_obj_new(parent, fclass, context);

	if (obj)
		hook_ep_tables(obj);
	return obj;
}

static int hook_endpoint(struct fid_domain *domain, struct fi_info *info,
			 struct fid_ep **ep, void *context)
{
	struct kofi_hook_obj *obj = hook_ep_new(&domain->fid, FI_CLASS_EP,
						context);
	struct hook_info lower;
	int ret;

	if (!obj)
		return -ENOMEM;
	*ep = &obj->ep;
	ret = fi_endpoint(to_kofi_hook_obj(&domain->fid)->lower.domain,
			  hook_lower_info(&lower, info), &obj->lower.ep, obj);
	return kofi_hook_opened(obj, ret);
}

static int hook_scalable_ep(struct fid_domain *domain, struct fi_info *info,
			    struct fid_ep **sep, void *context)
{
	struct kofi_hook_obj *obj = hook_ep_new(&domain->fid, FI_CLASS_SEP,
						context);
	struct hook_info lower;
	int ret;

	if (!obj)
		return -ENOMEM;
	*sep = &obj->ep;
	ret = fi_scalable_ep(to_kofi_hook_obj(&domain->fid)->lower.domain,
			     hook_lower_info(&lower, info), &obj->lower.ep,
			     obj);
	return kofi_hook_opened(obj, ret);
}

static int hook_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		       struct fid_ep **tx_ep, void *context)
{
	struct kofi_hook_obj *obj = hook_ep_new(&sep->fid, FI_CLASS_TX_CTX,
						context);
	int ret;

	if (!obj)
		return -ENOMEM;
	*tx_ep = &obj->ep;
	ret = fi_tx_context(kofi_hook_lower_ep(sep), index, attr,
			    &obj->lower.ep, obj);
	return kofi_hook_opened(obj, ret);
}

static int hook_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		       struct fid_ep **rx_ep, void *context)
{
	struct kofi_hook_obj *obj = hook_ep_new(&sep->fid, FI_CLASS_RX_CTX,
						context);
	int ret;

	if (!obj)
		return -ENOMEM;
	*rx_ep = &obj->ep;
	ret = fi_rx_context(kofi_hook_lower_ep(sep), index, attr,
			    &obj->lower.ep, obj);
	return kofi_hook_opened(obj, ret);
}

static int hook_stx_ctx(struct fid_domain *domain, struct fi_tx_attr *attr,
			struct fid_stx **stx, void *context)
{
	struct kofi_hook_obj *obj = kofi_hook_obj_new(&domain->fid,
						      FI_CLASS_STX_CTX, context);
	int ret;

	if (!obj)
		return -ENOMEM;
	obj->stx.ops = &hook_ep;
	*stx = &obj->stx;
	ret = fi_stx_context(to_kofi_hook_obj(&domain->fid)->lower.domain, attr,
			     &obj->lower.stx, obj);
	return kofi_hook_opened(obj, ret);
}

static int hook_srx_ctx(struct fid_domain *domain, struct fi_rx_attr *attr,
			struct fid_ep **srx, void *context)
{
	struct kofi_hook_obj *obj = hook_ep_new(&domain->fid, FI_CLASS_SRX_CTX,
						context);
	int ret;

	if (!obj)
		return -ENOMEM;
	*srx = &obj->ep;
	ret = fi_srx_context(to_kofi_hook_obj(&domain->fid)->lower.domain, attr,
			     &obj->lower.ep, obj);
	return kofi_hook_opened(obj, ret);
}

static int hook_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
			   struct fid_pep **pep, void *context)
{
	struct kofi_hook_obj *obj = kofi_hook_obj_new(&fabric->fid,
						      FI_CLASS_PEP, context);
	struct hook_info lower;
	int ret;

	if (!obj)
		return -ENOMEM;
	obj->pep.ops = &hook_ep;
	obj->pep.cm = obj->root->hook->cm ?: &kofi_hook_cm;
	*pep = &obj->pep;
	ret = fi_passive_ep(to_kofi_hook_obj(&fabric->fid)->lower.fabric,
			    hook_lower_info(&lower, info), &obj->lower.pep,
			    obj);
	return kofi_hook_opened(obj, ret);
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
	.endpoint	= hook_endpoint,
	.scalable_ep	= hook_scalable_ep,
	.cntr_open	= kofi_hook_cntr_open,
	.stx_ctx	= hook_stx_ctx,
	.srx_ctx	= hook_srx_ctx,
	.query_atomic	= hook_query_atomic,
	.dma_device	= hook_dma_device,
};

static int hook_domain(struct fid_fabric *fabric, struct fi_info *info,
		       struct fid_domain **domain, void *context)
{
	struct kofi_hook_obj *obj = kofi_hook_obj_new(&fabric->fid,
						      FI_CLASS_DOMAIN, context);
	struct hook_info lower;
	int ret;

	if (!obj)
		return -ENOMEM;
	obj->domain.ops = &hook_domain_ops;
	obj->domain.mr = &kofi_hook_mr;
	*domain = &obj->domain;
	ret = fi_domain(to_kofi_hook_obj(&fabric->fid)->lower.fabric,
			hook_lower_info(&lower, info), &obj->lower.domain, obj);
	return kofi_hook_opened(obj, ret);
}

HOOK_ALL_CALLS(fi_ops_fabric, 3);
static const struct fi_ops_fabric hook_fabric_ops = {
	.size		= sizeof(struct fi_ops_fabric),
	.domain		= hook_domain,
	.passive_ep	= hook_passive_ep,
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

int kofi_hook_getinfo(const struct kofi_hook *hook, u32 version,
		      const char *node, int service, u64 flags,
		      const struct fi_info *hints, struct fi_info **info)
{
	struct fi_domain_attr domain;
	struct fi_fabric_attr fabric;
	char name[FI_NAME_MAX];
	struct fi_info lower;
	int ret;

	*info = NULL;
	ret = kofi_lower_name(hints, hook->provider, name, sizeof(name));
	if (ret <= 0)
		return ret;

	/* Open objects in the hints are this hook's: the core has looked */
	lower = *hints;
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
	return kofi_lower_getinfo(version, name, node, service, flags, &lower,
				  info);
}
EXPORT_SYMBOL_GPL(kofi_hook_getinfo);
