// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Hooks: event queues, completion queues, counters, address vectors and regions.
 *
 * The events of a queue name lower objects; upper objects take their place while an event is
 * read, under the lock of the lowest queue (struct kofi_eq_tap).  A handler may run before the
 * call that opens its queue has returned, so hook_eq_handler() and hook_cq_handler() set the lower
 * queue from their argument.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <kofi/mr_map.h>
#include "hook.h"

/*
 * The client will open an endpoint with @info on upper objects, so @info names the hook: the lower
 * passive endpoint knows no name.  Without memory it names none, and suits any provider.
 */
static void hook_map_request(const struct kofi_hook_obj *pep,
			     struct fi_info *info)
{
	const struct kofi_hook_fabric *root = pep->root;

	kofi_hook_add_caps(pep->caps & root->hook->caps, info);
	kfree(info->fabric_attr->prov_name);
	info->fabric_attr->prov_name = kstrdup(root->prov_name, GFP_ATOMIC);
}

/* The client has closed no object that the event is about, see struct kofi_eq_tap */
static void hook_eq_map(struct kofi_eq_tap *tap, struct kofi_eq_seen *seen)
{
	struct kofi_hook_obj *eq = container_of(tap, struct kofi_hook_obj, eq_tap);
	struct kofi_hook_fabric *root = eq->root;
	struct kofi_hook_obj *upper;
	unsigned long flags;

	spin_lock_irqsave(&root->lock, flags);
	upper = kofi_hook_upper(root, seen->fid);
	if (upper) {
		seen->fid = &upper->fid;
		seen->context = upper->fid.context;
	}
	if (upper && seen->info)
		hook_map_request(upper, seen->info);
	spin_unlock_irqrestore(&root->lock, flags);
}

static ssize_t hook_eq_read(struct fid_eq *eq, u32 *event, void *buf,
			    size_t len, u64 flags)
{
	return fi_eq_read(to_kofi_hook_obj(&eq->fid)->lower.eq, event, buf, len, flags);
}

static ssize_t hook_eq_sread(struct fid_eq *eq, u32 *event, void *buf,
			     size_t len, int timeout, u64 flags)
{
	return fi_eq_sread(to_kofi_hook_obj(&eq->fid)->lower.eq, event, buf, len, timeout, flags);
}

static ssize_t hook_eq_readerr(struct fid_eq *eq, struct fi_eq_err_entry *buf,
			       u64 flags)
{
	return fi_eq_readerr(to_kofi_hook_obj(&eq->fid)->lower.eq, buf, flags);
}

static ssize_t hook_eq_write(struct fid_eq *eq, u32 event, const void *buf,
			     size_t len, u64 flags)
{
	return fi_eq_write(to_kofi_hook_obj(&eq->fid)->lower.eq, event, buf,
			   len, flags);
}

static const char *hook_eq_strerror(struct fid_eq *eq, int prov_errno,
				    const void *err_data, char *buf, size_t len)
{
	return fi_eq_strerror(to_kofi_hook_obj(&eq->fid)->lower.eq, prov_errno,
			      err_data, buf, len);
}

HOOK_ALL_CALLS(fi_ops_eq, 5);
const struct fi_ops_eq kofi_hook_eq = {
	.size		= sizeof(struct fi_ops_eq),
	.read		= hook_eq_read,
	.readerr	= hook_eq_readerr,
	.write		= hook_eq_write,
	.sread		= hook_eq_sread,
	.strerror	= hook_eq_strerror,
};
EXPORT_SYMBOL_GPL(kofi_hook_eq);

static void hook_eq_handler(struct fid_eq *lower, void *context)
{
	struct kofi_hook_obj *obj = context;

	WRITE_ONCE(obj->lower.eq, lower);
	obj->eq_handler(&obj->eq, obj->eq.fid.context);
}

/* The lowest queue has the events; hooks in between forward KOFI_GETEQ to it */
static int hook_eq_tap(struct kofi_hook_obj *obj)
{
	struct kofi_eq *queue;
	int ret = fi_control(obj->lower.fid, KOFI_GETEQ, &queue);

	if (ret) {
		kofi_lower_close(obj->lower.fid);
		return ret;
	}
	obj->eq_tap.map = hook_eq_map;
	kofi_eq_add_tap(queue, &obj->eq_tap);
	return 0;
}

int kofi_hook_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		      struct fid_eq **eq, void *context)
{
	struct kofi_hook_obj *obj = kofi_hook_obj_new(&fabric->fid, FI_CLASS_EQ,
						      context);
	struct fi_eq_attr lower;
	int ret;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	obj->eq.ops = obj->root->hook->eq ?: &kofi_hook_eq;
	if (attr && attr->handler) {
		lower = *attr;
		lower.handler = hook_eq_handler;
		obj->eq_handler = attr->handler;
		attr = &lower;
	}
	*eq = &obj->eq;
	ret = fi_eq_open(to_kofi_hook_obj(&fabric->fid)->lower.fabric, attr,
			 &obj->lower.eq, obj);
	if (!ret)
		ret = hook_eq_tap(obj);
	return kofi_hook_opened(obj, ret);
}

static ssize_t hook_cq_read(struct fid_cq *cq, void *buf, size_t count)
{
	return fi_cq_read(to_kofi_hook_obj(&cq->fid)->lower.cq, buf, count);
}

static ssize_t hook_cq_readfrom(struct fid_cq *cq, void *buf, size_t count,
				fi_addr_t *src_addr)
{
	return fi_cq_readfrom(to_kofi_hook_obj(&cq->fid)->lower.cq, buf, count,
			      src_addr);
}

static ssize_t hook_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *buf,
			       u64 flags)
{
	return fi_cq_readerr(to_kofi_hook_obj(&cq->fid)->lower.cq, buf, flags);
}

static ssize_t hook_cq_sread(struct fid_cq *cq, void *buf, size_t count,
			     const void *cond, int timeout)
{
	return fi_cq_sread(to_kofi_hook_obj(&cq->fid)->lower.cq, buf, count,
			   cond, timeout);
}

static ssize_t hook_cq_sreadfrom(struct fid_cq *cq, void *buf, size_t count,
				 fi_addr_t *src_addr, const void *cond,
				 int timeout)
{
	return fi_cq_sreadfrom(to_kofi_hook_obj(&cq->fid)->lower.cq, buf, count,
			       src_addr, cond, timeout);
}

static int hook_cq_signal(struct fid_cq *cq)
{
	return fi_cq_signal(to_kofi_hook_obj(&cq->fid)->lower.cq);
}

static const char *hook_cq_strerror(struct fid_cq *cq, int prov_errno,
				    const void *err_data, char *buf, size_t len)
{
	return fi_cq_strerror(to_kofi_hook_obj(&cq->fid)->lower.cq, prov_errno,
			      err_data, buf, len);
}

HOOK_ALL_CALLS(fi_ops_cq, 7);
const struct fi_ops_cq kofi_hook_cq = {
	.size		= sizeof(struct fi_ops_cq),
	.read		= hook_cq_read,
	.readfrom	= hook_cq_readfrom,
	.readerr	= hook_cq_readerr,
	.sread		= hook_cq_sread,
	.sreadfrom	= hook_cq_sreadfrom,
	.signal		= hook_cq_signal,
	.strerror	= hook_cq_strerror,
};
EXPORT_SYMBOL_GPL(kofi_hook_cq);

static void hook_cq_handler(struct fid_cq *lower, void *context)
{
	struct kofi_hook_obj *obj = context;

	WRITE_ONCE(obj->lower.cq, lower);
	obj->cq_handler(&obj->cq, obj->cq.fid.context);
}

static bool hook_cq_complete(struct kofi_cq_tap *tap, struct kofi_comp *comp)
{
	struct kofi_hook_obj *obj = container_of(tap, struct kofi_hook_obj, tap);

	return obj->root->hook->complete(obj, comp);
}

static void hook_cq_flush(struct kofi_cq_tap *tap)
{
	struct kofi_hook_obj *obj = container_of(tap, struct kofi_hook_obj, tap);

	obj->root->hook->flush(obj);
}

/* The lowest queue has the completions; hooks in between forward KOFI_GETQUEUE to it */
static int hook_cq_tap(struct kofi_hook_obj *obj)
{
	const struct kofi_hook *hook = obj->root->hook;
	int ret;

	if (!hook->complete)
		return 0;
	ret = fi_control(obj->lower.fid, KOFI_GETQUEUE, &obj->queue);
	if (ret) {
		kofi_lower_close(obj->lower.fid);
		return ret;
	}
	obj->tap.complete = hook_cq_complete;
	if (hook->flush)
		obj->tap.flush = hook_cq_flush;
	kofi_cq_add_tap(obj->queue, &obj->tap);
	return 0;
}

int kofi_hook_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		      struct fid_cq **cq, void *context)
{
	struct kofi_hook_obj *obj = kofi_hook_obj_new(&domain->fid, FI_CLASS_CQ,
						      context);
	struct fi_cq_attr lower;
	int ret;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	obj->cq.ops = obj->root->hook->cq ?: &kofi_hook_cq;
	if (attr && attr->handler) {
		lower = *attr;
		lower.handler = hook_cq_handler;
		obj->cq_handler = attr->handler;
		attr = &lower;
	}
	*cq = &obj->cq;
	ret = fi_cq_open(to_kofi_hook_obj(&domain->fid)->lower.domain, attr,
			 &obj->lower.cq, obj);
	if (!ret)
		ret = hook_cq_tap(obj);
	return kofi_hook_opened(obj, ret);
}

static u64 hook_cntr_read(struct fid_cntr *cntr)
{
	return fi_cntr_read(to_kofi_hook_obj(&cntr->fid)->lower.cntr);
}

static u64 hook_cntr_readerr(struct fid_cntr *cntr)
{
	return fi_cntr_readerr(to_kofi_hook_obj(&cntr->fid)->lower.cntr);
}

static int hook_cntr_add(struct fid_cntr *cntr, u64 value)
{
	return fi_cntr_add(to_kofi_hook_obj(&cntr->fid)->lower.cntr, value);
}

static int hook_cntr_set(struct fid_cntr *cntr, u64 value)
{
	return fi_cntr_set(to_kofi_hook_obj(&cntr->fid)->lower.cntr, value);
}

static int hook_cntr_wait(struct fid_cntr *cntr, u64 threshold, int timeout)
{
	return fi_cntr_wait(to_kofi_hook_obj(&cntr->fid)->lower.cntr, threshold,
			    timeout);
}

static int hook_cntr_adderr(struct fid_cntr *cntr, u64 value)
{
	return fi_cntr_adderr(to_kofi_hook_obj(&cntr->fid)->lower.cntr, value);
}

static int hook_cntr_seterr(struct fid_cntr *cntr, u64 value)
{
	return fi_cntr_seterr(to_kofi_hook_obj(&cntr->fid)->lower.cntr, value);
}

HOOK_ALL_CALLS(fi_ops_cntr, 7);
const struct fi_ops_cntr kofi_hook_cntr = {
	.size		= sizeof(struct fi_ops_cntr),
	.read		= hook_cntr_read,
	.readerr	= hook_cntr_readerr,
	.add		= hook_cntr_add,
	.set		= hook_cntr_set,
	.wait		= hook_cntr_wait,
	.adderr		= hook_cntr_adderr,
	.seterr		= hook_cntr_seterr,
};
EXPORT_SYMBOL_GPL(kofi_hook_cntr);

int kofi_hook_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
			struct fid_cntr **cntr, void *context)
{
	struct kofi_hook_obj *obj = kofi_hook_obj_new(&domain->fid,
						      FI_CLASS_CNTR, context);
	int ret;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	obj->cntr.ops = obj->root->hook->cntr ?: &kofi_hook_cntr;
	*cntr = &obj->cntr;
	ret = fi_cntr_open(to_kofi_hook_obj(&domain->fid)->lower.domain, attr,
			   &obj->lower.cntr, obj);
	return kofi_hook_opened(obj, ret);
}

static int hook_av_insert(struct fid_av *av, const void *addr, size_t count,
			  fi_addr_t *fi_addr, u64 flags, void *context)
{
	return fi_av_insert(to_kofi_hook_obj(&av->fid)->lower.av, addr, count,
			    fi_addr, flags, context);
}

static int hook_av_insertsvc(struct fid_av *av, const char *node, int service,
			     fi_addr_t *fi_addr, u64 flags, void *context)
{
	return fi_av_insertsvc(to_kofi_hook_obj(&av->fid)->lower.av, node,
			       service, fi_addr, flags, context);
}

static int hook_av_insertsym(struct fid_av *av, const char *node,
			     size_t nodecnt, int service, size_t svccnt,
			     fi_addr_t *fi_addr, u64 flags, void *context)
{
	return fi_av_insertsym(to_kofi_hook_obj(&av->fid)->lower.av, node,
			       nodecnt, service, svccnt, fi_addr, flags,
			       context);
}

static int hook_av_remove(struct fid_av *av, fi_addr_t *fi_addr, size_t count,
			  u64 flags)
{
	return fi_av_remove(to_kofi_hook_obj(&av->fid)->lower.av, fi_addr,
			    count, flags);
}

static int hook_av_lookup(struct fid_av *av, fi_addr_t fi_addr, void *addr,
			  size_t *addrlen)
{
	return fi_av_lookup(to_kofi_hook_obj(&av->fid)->lower.av, fi_addr, addr,
			    addrlen);
}

static const char *hook_av_straddr(struct fid_av *av, const void *addr,
				   char *buf, size_t *len)
{
	return fi_av_straddr(to_kofi_hook_obj(&av->fid)->lower.av, addr, buf,
			     len);
}

static int hook_av_insert_auth_key(struct fid_av *av, const void *auth_key,
				   size_t auth_key_size, fi_addr_t *fi_addr,
				   u64 flags)
{
	return fi_av_insert_auth_key(to_kofi_hook_obj(&av->fid)->lower.av,
				     auth_key, auth_key_size, fi_addr, flags);
}

static int hook_av_lookup_auth_key(struct fid_av *av, fi_addr_t fi_addr,
				   void *auth_key, size_t *auth_key_size)
{
	return fi_av_lookup_auth_key(to_kofi_hook_obj(&av->fid)->lower.av,
				     fi_addr, auth_key, auth_key_size);
}

static int hook_av_set_user_id(struct fid_av *av, fi_addr_t fi_addr,
			       fi_addr_t user_id, u64 flags)
{
	return fi_av_set_user_id(to_kofi_hook_obj(&av->fid)->lower.av, fi_addr,
				 user_id, flags);
}

HOOK_ALL_CALLS(fi_ops_av, 9);
static const struct fi_ops_av hook_av = {
	.size		= sizeof(struct fi_ops_av),
	.insert		= hook_av_insert,
	.insertsvc	= hook_av_insertsvc,
	.insertsym	= hook_av_insertsym,
	.remove		= hook_av_remove,
	.lookup		= hook_av_lookup,
	.straddr	= hook_av_straddr,
	.insert_auth_key = hook_av_insert_auth_key,
	.lookup_auth_key = hook_av_lookup_auth_key,
	.set_user_id	= hook_av_set_user_id,
};

int kofi_hook_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		      struct fid_av **av, void *context)
{
	struct kofi_hook_obj *obj = kofi_hook_obj_new(&domain->fid, FI_CLASS_AV,
						      context);
	int ret;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	obj->av.ops = &hook_av;
	*av = &obj->av;
	ret = fi_av_open(to_kofi_hook_obj(&domain->fid)->lower.domain, attr,
			 &obj->lower.av, obj);
	return kofi_hook_opened(obj, ret);
}

static int hook_mr_refresh(struct fid_mr *mr, const struct fi_mr_attr *attr,
			   u64 flags)
{
	return fi_mr_refresh(to_kofi_hook_obj(&mr->fid)->lower.mr, attr, flags);
}

/* The key is new each time */
static int hook_mr_enable(struct fid_mr *mr)
{
	struct fid_mr *lower = to_kofi_hook_obj(&mr->fid)->lower.mr;
	int ret = fi_mr_enable(lower);

	mr->key = lower->key;
	mr->addr = lower->addr;
	return ret;
}

/*
 * Without FI_DISCARD the key ends later, or has ended with a message, and the client may have
 * enabled the region again before the call returns.  So the key is left alone then.
 */
static int hook_mr_disable(struct fid_mr *mr, u64 flags, void *context)
{
	struct fid_mr *lower = to_kofi_hook_obj(&mr->fid)->lower.mr;
	int ret = fi_mr_disable(lower, flags, context);

	if (!ret && flags & FI_DISCARD)
		mr->key = lower->key;
	return ret;
}

HOOK_ALL_CALLS(fi_ops_mr_ep, 3);
static const struct fi_ops_mr_ep hook_mr_ep = {
	.size		= sizeof(struct fi_ops_mr_ep),
	.refresh	= hook_mr_refresh,
	.enable		= hook_mr_enable,
	.disable	= hook_mr_disable,
};

/* The client passes the descriptor to the lower provider, and the key to peers, as they are */
static int hook_mr_opened(struct kofi_hook_obj *obj, struct fid_mr **mr,
			  int ret)
{
	if (!ret) {
		obj->mr.mem_desc = obj->lower.mr->mem_desc;
		obj->mr.key = obj->lower.mr->key;
		obj->mr.addr = obj->lower.mr->addr;
		*mr = &obj->mr;
	}
	return kofi_hook_opened(obj, ret);
}

static int hook_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr,
			   u64 flags, struct fid_mr **mr)
{
	struct kofi_hook_obj *domain = to_kofi_hook_obj(fid);
	struct kofi_hook_obj *obj = kofi_hook_obj_new(fid, FI_CLASS_MR, attr->context);
	const struct kofi_hook *hook = domain->root->hook;
	struct fi_mr_attr lower = *attr;
	int ret = 0;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	obj->mr.ops = &hook_mr_ep;
	obj->caps = domain->caps;
	lower.context = obj;
	if (hook->reg)
		ret = hook->reg(obj, &lower, &flags);
	if (!ret)
		ret = fi_mr_regattr(domain->lower.domain, &lower, flags, &obj->lower.mr);
	return hook_mr_opened(obj, mr, ret);
}

/* Every region is registered by hook_mr_regattr(), where ->reg of the hook sees it */
HOOK_ALL_CALLS(fi_ops_mr, 3);
const struct fi_ops_mr kofi_hook_mr = {
	.size		= sizeof(struct fi_ops_mr),
	.reg		= kofi_mr_reg_buf,
	.regv		= kofi_mr_reg_list,
	.regattr	= hook_mr_regattr,
};
