// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Binding: which object may be bound to which, with which flags.
 *
 * A binding makes the bound object (a queue, say) count as in use until the object it is
 * bound to (an endpoint) is closed; there is no unbind.  One table has the rules.  The
 * provider decides what depends on the state of the object, such as a bind after
 * fi_enable().
 *
 * kofi_bind() adds the binding to the list before it calls the provider, and removes it if
 * the provider fails.  So of two equal calls at the same time only one reaches the
 * provider, and no lock is held during ->bind.  Meanwhile the call itself
 * counts as a user of both objects, so fi_close() of either fails.
 */
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include "kofi.h"
#include "trace.h"

#define KOFI_CQ_DIRS	(FI_TRANSMIT | FI_RECV)
#define KOFI_TX_CNTR	(FI_SEND | FI_READ | FI_WRITE)
#define KOFI_RX_CNTR	(FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define KOFI_CNTR_DIRS	(KOFI_TX_CNTR | KOFI_RX_CNTR)

/**
 * struct kofi_bind_rule - One allowed pair
 * @fclass: class of the object that is bound to
 * @bclass: class of the object that is bound
 * @same_domain: both must be in one domain; false: in one fabric
 * @flags: flags that are known
 * @dirs: at least one of these flags must be set, and each can be bound once; 0: only one
 *	object of @bclass can be bound
 */
struct kofi_bind_rule {
	u32	fclass;
	u32	bclass;
	bool	same_domain;
	u64	flags;
	u64	dirs;
};

static const struct kofi_bind_rule kofi_bind_rules[] = {
	{ FI_CLASS_DOMAIN, FI_CLASS_EQ },
	{ FI_CLASS_PEP, FI_CLASS_EQ },
	{ FI_CLASS_EP, FI_CLASS_EQ },
	{ FI_CLASS_EP, FI_CLASS_CQ, true,
	  KOFI_CQ_DIRS | FI_SELECTIVE_COMPLETION, KOFI_CQ_DIRS },
	{ FI_CLASS_EP, FI_CLASS_CNTR, true, KOFI_CNTR_DIRS, KOFI_CNTR_DIRS },
	{ FI_CLASS_EP, FI_CLASS_AV, true },
	{ FI_CLASS_EP, FI_CLASS_SRX_CTX, true },
	{ FI_CLASS_EP, FI_CLASS_STX_CTX, true },
	{ FI_CLASS_SEP, FI_CLASS_EQ },
	{ FI_CLASS_SEP, FI_CLASS_AV, true },
	{ FI_CLASS_TX_CTX, FI_CLASS_CQ, true,
	  FI_TRANSMIT | FI_SELECTIVE_COMPLETION, FI_TRANSMIT },
	{ FI_CLASS_TX_CTX, FI_CLASS_CNTR, true, KOFI_TX_CNTR, KOFI_TX_CNTR },
	{ FI_CLASS_RX_CTX, FI_CLASS_CQ, true,
	  FI_RECV | FI_SELECTIVE_COMPLETION, FI_RECV },
	{ FI_CLASS_RX_CTX, FI_CLASS_CNTR, true, KOFI_RX_CNTR, KOFI_RX_CNTR },
	{ FI_CLASS_SRX_CTX, FI_CLASS_EQ },
	{ FI_CLASS_AV, FI_CLASS_EQ },
	{ FI_CLASS_MR, FI_CLASS_EP, true, ~0ULL },
	{ FI_CLASS_MR, FI_CLASS_SEP, true, ~0ULL },
	{ FI_CLASS_MR, FI_CLASS_CNTR, true, ~0ULL },
};

static const struct kofi_bind_rule *kofi_bind_rule(u32 fclass, u32 bclass)
{
	const struct kofi_bind_rule *rule = kofi_bind_rules;

	for (; rule < kofi_bind_rules + ARRAY_SIZE(kofi_bind_rules); rule++)
		if (rule->fclass == fclass && rule->bclass == bclass)
			return rule;
	return NULL;
}

/* A context is in the domain of its scalable endpoint */
static const struct kofi_obj *kofi_domain_of(const struct kofi_obj *obj)
{
	while (obj && obj->fclass != FI_CLASS_DOMAIN)
		obj = obj->parent;
	return obj;
}

static int kofi_refuse_no_dir(const char *call, u64 dirs)
{
	char text[96];

	fi_tostr(&dirs, FI_TYPE_CAPS, text, sizeof(text));
	return kofi_refuse(call, -FI_EBADFLAGS, "flags: none of %s is given", text);
}

static int kofi_bind_check(const char *call, const struct kofi_bind_rule *rule,
			   const struct kofi_obj *obj,
			   const struct kofi_obj *to, u64 flags)
{
	int ret;

	if (!rule)
		return kofi_refuse(call, -EINVAL, "no %s can be bound to the %s",
				   kofi_class_name(to->fclass), kofi_class_name(obj->fclass));
	ret = kofi_check_flags(call, flags, rule->flags);
	if (ret)
		return ret;
	if (rule->dirs && !(flags & rule->dirs))
		return kofi_refuse_no_dir(call, rule->dirs);
	if (rule->same_domain && kofi_domain_of(obj) != kofi_domain_of(to))
		return kofi_refuse(call, -FI_EDOMAIN, "the %s and the %s are of different domains",
				   kofi_class_name(obj->fclass), kofi_class_name(to->fclass));
	if (kofi_fabric_of(obj) != kofi_fabric_of(to))
		return kofi_refuse(call, -FI_EDOMAIN, "the %s and the %s are of different fabrics",
				   kofi_class_name(obj->fclass), kofi_class_name(to->fclass));
	return 0;
}

/* Fails if an object of this class is bound already, in one of these directions if @rule has any */
static int kofi_binding_add(const char *call, const struct kofi_bind_rule *rule,
			    struct kofi_obj *obj, struct kofi_binding *binding)
{
	struct kofi_binding *other;

	guard(mutex)(&kofi_objects_lock);
	list_for_each_entry(other, &obj->bindings, entry)
		if (other->to->fclass == rule->bclass &&
		    (!rule->dirs || other->flags & binding->flags & rule->dirs))
			return kofi_refuse(call, -EINVAL, "the %s %p is bound %salready, for good",
					   kofi_class_name(rule->bclass), other->to->fid,
					   rule->dirs ? "in this direction " : "");
	list_add_tail(&binding->entry, &obj->bindings);
	return 0;
}

static void kofi_binding_free(struct kofi_binding *binding)
{
	kofi_obj_unuse(binding->to);
	kfree(binding);
}

static struct kofi_binding *kofi_binding_alloc(const char *call, struct kofi_obj *to, u64 flags)
{
	struct kofi_binding *binding = kmalloc(sizeof(*binding), GFP_KERNEL);

	if (!binding)
		return ERR_PTR(-ENOMEM);
	if (!kofi_obj_use(to)) {
		kfree(binding);
		return ERR_PTR(kofi_refuse(call, -EBUSY, "the %s is being closed",
					   kofi_class_name(to->fclass)));
	}
	binding->to = to;
	binding->flags = flags;
	return binding;
}

/* The caller counts as a user of @obj */
static int kofi_bind_one(const char *call, const struct kofi_bind_rule *rule,
			 struct kofi_obj *obj, struct kofi_obj *to, u64 flags)
{
	struct kofi_binding *binding = kofi_binding_alloc(call, to, flags);
	int ret;

	if (IS_ERR(binding))
		return PTR_ERR(binding);

	ret = kofi_binding_add(call, rule, obj, binding);
	if (ret)
		goto out_free;

	ret = obj->fid->ops->bind(obj->fid, to->fid, flags);
	if (ret)
		goto out_remove;
	return 0;

out_remove:
	scoped_guard(mutex, &kofi_objects_lock)
		list_del(&binding->entry);
out_free:
	kofi_binding_free(binding);
	return ret;
}

int kofi_bind(const char *call, struct fid *fid, struct fid *bfid, u64 flags)
{
	const struct kofi_bind_rule *rule;
	int ret;

	ret = kofi_check_fid(call, "bfid", bfid, KOFI_ANY_CLASS);
	if (ret)
		return ret;

	rule = kofi_bind_rule(fid->obj->fclass, bfid->obj->fclass);
	ret = kofi_bind_check(call, rule, fid->obj, bfid->obj, flags);
	if (!ret && !kofi_obj_use(fid->obj))
		ret = kofi_refuse(call, -EBUSY, "the %s is being closed",
				  kofi_class_name(fid->obj->fclass));
	if (!ret) {
		ret = kofi_bind_one(call, rule, fid->obj, bfid->obj, flags);
		kofi_obj_unuse(fid->obj);
	}
	trace_kofi_bind(fid, bfid, flags, ret);
	return ret;
}

/* No lock: the object is not in the list of open objects, so no other call sees its bindings */
void kofi_unbind_all(struct kofi_obj *obj)
{
	struct kofi_binding *binding, *next;

	list_for_each_entry_safe(binding, next, &obj->bindings, entry)
		kofi_binding_free(binding);
}
