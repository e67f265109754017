// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Objects of the mock provider: what all classes have in common.
 *
 * mock_classes[] describes the tables of each class.  A new object gets copies
 * of them, each in memory of its own and tailored by mock->knob, so that one
 * object can be flawed in one way at a time.
 *
 * All objects are in one list under a spinlock, because the event queue belongs
 * to the core's helper and has no room for a pointer to its instance.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "priv.h"

static DEFINE_SPINLOCK(mock_objs_lock);
static LIST_HEAD(mock_objs);

struct mock_obj *mock_obj_find(const struct fid *fid)
{
	struct mock_obj *obj, *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&mock_objs_lock, flags);
	list_for_each_entry(obj, &mock_objs, entry) {
		if (obj->fid == fid) {
			found = obj;
			break;
		}
	}
	spin_unlock_irqrestore(&mock_objs_lock, flags);
	return found;
}

struct mock *mock_of(const struct fid *fid)
{
	return mock_obj_find(fid)->mock;
}

/* Where slots are real or newer than the core: never called */
static int mock_real_slot(void)
{
	return 0;
}

static void *mock_resize(const struct mock_table *table, const void *own, size_t size)
{
	/* The first slot is always there, even if the size denies it */
	size_t bytes = max(size, 2 * sizeof(void *));
	void **resized = kmalloc(bytes, GFP_KERNEL);
	size_t slot;

	if (!resized)
		return NULL;
	memcpy(resized, own, min(bytes, table->size));
	*(size_t *)resized = size;
	for (slot = table->size / sizeof(void *); slot < size / sizeof(void *); slot++)
		resized[slot] = mock_real_slot;
	return resized;
}

/* The object's copy of a table, or NULL */
static void *mock_tailor(const struct mock_knob *knob,
			 const struct mock_table *table, const void *own)
{
	void **copy;

	if (knob->flaw == MOCK_SIZE)
		return mock_resize(table, own, knob->arg);
	if (knob->flaw == MOCK_FILLER_COPY)
		own = table->fillers;

	copy = kmemdup(own, table->size, GFP_KERNEL);
	if (copy && knob->flaw == MOCK_HOLE)
		copy[1 + knob->arg] = NULL;
	else if (copy && knob->flaw == MOCK_REAL)
		copy[1 + knob->arg] = mock_real_slot;
	return copy;
}

static void mock_free_tables(struct mock_obj *obj)
{
	int i;

	for (i = 0; i < MOCK_MAX_TABLES; i++)
		kfree(obj->tables[i]);
}

static int mock_set_table(struct mock_obj *obj, unsigned int index, const struct mock_knob *knob)
{
	const struct mock_table *table = &mock_classes[obj->class].tables[index];
	const void **where = (void *)obj->fid + table->where;
	static const struct mock_knob sound;

	if (knob->class != obj->class || knob->table != index)
		knob = &sound;
	if (knob->flaw == MOCK_NO_TABLE) {
		*where = NULL;
		return 0;
	}
	if (knob->flaw == MOCK_FILLERS) {
		*where = table->fillers;
		return 0;
	}
	obj->tables[index] = mock_tailor(knob, table, table->own ? : *where);
	*where = obj->tables[index];
	return *where ? 0 : -ENOMEM;
}

int mock_obj_init(struct mock_obj *obj, struct mock *mock,
		  enum mock_class class, struct fid *fid, void *context)
{
	const struct mock_class_desc *desc = &mock_classes[class];
	unsigned long flags;
	unsigned int i;

	obj->mock = mock;
	obj->class = class;
	obj->fid = fid;
	fid->fclass = desc->fclass;
	if (mock->knob.flaw == MOCK_WRONG_CLASS && mock->knob.class == class)
		fid->fclass = FI_CLASS_UNSPEC;
	fid->context = context;
	for (i = 0; i < desc->nr_tables; i++) {
		if (mock_set_table(obj, i, &mock->knob)) {
			mock_free_tables(obj);
			return -ENOMEM;
		}
	}
	atomic_inc(&mock->live[class]);
	spin_lock_irqsave(&mock_objs_lock, flags);
	list_add_tail(&obj->entry, &mock_objs);
	spin_unlock_irqrestore(&mock_objs_lock, flags);
	return 0;
}

void mock_obj_fini(struct mock_obj *obj)
{
	unsigned long flags;

	spin_lock_irqsave(&mock_objs_lock, flags);
	list_del(&obj->entry);
	spin_unlock_irqrestore(&mock_objs_lock, flags);
	atomic_dec(&obj->mock->live[obj->class]);
	mock_free_tables(obj);
}

int mock_close(struct fid *fid)
{
	struct mock_obj *obj = mock_obj_find(fid);
	int err = mock_enter(obj->mock, MOCK_CALL_CLOSE);

	if (!err)
		obj->release(obj);
	return err;
}

/* Newest first: children before parents, users before what they use */
static struct mock_obj *mock_newest_obj(const struct mock *mock)
{
	struct mock_obj *obj, *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&mock_objs_lock, flags);
	list_for_each_entry_reverse(obj, &mock_objs, entry) {
		if (obj->mock == mock) {
			found = obj;
			break;
		}
	}
	spin_unlock_irqrestore(&mock_objs_lock, flags);
	return found;
}

struct fid *mock_newest(const struct mock *mock)
{
	struct mock_obj *obj = mock_newest_obj(mock);

	return obj ? obj->fid : NULL;
}
EXPORT_SYMBOL_GPL(mock_newest);

int mock_reap(struct mock *mock)
{
	struct mock_obj *obj;
	int reaped = 0;

	while ((obj = mock_newest_obj(mock))) {
		obj->release(obj);
		reaped++;
	}
	return reaped;
}
EXPORT_SYMBOL_GPL(mock_reap);

#define MOCK_TABLE(_fid, _member, _type, _own, _fillers)		\
	{								\
		.name = #_member,					\
		.where = offsetof(struct _fid, _member),		\
		.size = sizeof(struct _type),				\
		.own = _own,						\
		.fillers = _fillers,					\
	}

/* An endpoint without state, which carries nothing */
#define MOCK_QUEUE(_name, _fclass, _ep_ops)				\
	{ _name, _fclass, 4, {						\
		MOCK_TABLE(fid_ep, fid.ops, fi_ops, &mock_fid_ops,	\
			   &kofi_no_ops),				\
		MOCK_TABLE(fid_ep, ops, fi_ops_ep, _ep_ops,		\
			   &kofi_no_ops_ep),				\
		MOCK_TABLE(fid_ep, cm, fi_ops_cm, &kofi_no_ops_cm,	\
			   &kofi_no_ops_cm),				\
		MOCK_TABLE(fid_ep, xfer, fi_ops_xfer, &mock_queue_xfer,	\
			   &kofi_no_ops_xfer),				\
	} }

const struct mock_class_desc mock_classes[MOCK_NR_CLASSES] = {
	[MOCK_FABRIC] = { "fabric", FI_CLASS_FABRIC, 2, {
		MOCK_TABLE(fid_fabric, fid.ops, fi_ops, &mock_fid_ops, &kofi_no_ops),
		MOCK_TABLE(fid_fabric, ops, fi_ops_fabric, &mock_fabric_ops, &kofi_no_ops_fabric),
	} },
	[MOCK_DOMAIN] = { "domain", FI_CLASS_DOMAIN, 3, {
		MOCK_TABLE(fid_domain, fid.ops, fi_ops, &mock_fid_ops, &kofi_no_ops),
		MOCK_TABLE(fid_domain, ops, fi_ops_domain, &mock_domain_ops, &kofi_no_ops_domain),
		MOCK_TABLE(fid_domain, mr, fi_ops_mr, &mock_mr_ops, &kofi_no_ops_mr),
	} },
	[MOCK_EQ] = { "eq", FI_CLASS_EQ, 2, {
		MOCK_TABLE(fid_eq, fid.ops, fi_ops, NULL, &kofi_no_ops),
		MOCK_TABLE(fid_eq, ops, fi_ops_eq, NULL, &kofi_no_ops_eq),
	} },
	[MOCK_PEP] = { "pep", FI_CLASS_PEP, 3, {
		MOCK_TABLE(fid_pep, fid.ops, fi_ops, &mock_pep_fid_ops, &kofi_no_ops),
		MOCK_TABLE(fid_pep, ops, fi_ops_ep, &mock_ep_ops, &kofi_no_ops_ep),
		MOCK_TABLE(fid_pep, cm, fi_ops_cm, &mock_pep_cm, &kofi_no_ops_cm),
	} },
	[MOCK_CQ] = { "cq", FI_CLASS_CQ, 2, {
		MOCK_TABLE(fid_cq, fid.ops, fi_ops, &mock_fid_ops, &kofi_no_ops),
		MOCK_TABLE(fid_cq, ops, fi_ops_cq, NULL, &kofi_no_ops_cq),
	} },
	[MOCK_EP] = { "ep", FI_CLASS_EP, 4, {
		MOCK_TABLE(fid_ep, fid.ops, fi_ops, &mock_ep_fid_ops, &kofi_no_ops),
		MOCK_TABLE(fid_ep, ops, fi_ops_ep, &mock_ep_ops, &kofi_no_ops_ep),
		MOCK_TABLE(fid_ep, cm, fi_ops_cm, &mock_ep_cm, &kofi_no_ops_cm),
		MOCK_TABLE(fid_ep, xfer, fi_ops_xfer, &mock_ep_xfer, &kofi_no_ops_xfer),
	} },
	[MOCK_MR] = { "mr", FI_CLASS_MR, 2, {
		MOCK_TABLE(fid_mr, fid.ops, fi_ops, &mock_fid_ops, &kofi_no_ops),
		MOCK_TABLE(fid_mr, ops, fi_ops_mr_ep, &kofi_no_ops_mr_ep, &kofi_no_ops_mr_ep),
	} },
	[MOCK_CNTR] = { "cntr", FI_CLASS_CNTR, 2, {
		MOCK_TABLE(fid_cntr, fid.ops, fi_ops, &mock_cntr_fid_ops, &kofi_no_ops),
		MOCK_TABLE(fid_cntr, ops, fi_ops_cntr, NULL, &kofi_no_ops_cntr),
	} },
	[MOCK_AV] = { "av", FI_CLASS_AV, 2, {
		MOCK_TABLE(fid_av, fid.ops, fi_ops, &mock_fid_ops, &kofi_no_ops),
		MOCK_TABLE(fid_av, ops, fi_ops_av, &mock_av_ops, &kofi_no_ops_av),
	} },
	[MOCK_SRX] = MOCK_QUEUE("srx", FI_CLASS_SRX_CTX, &kofi_no_ops_ep),
	[MOCK_SEP] = MOCK_QUEUE("sep", FI_CLASS_SEP, &mock_sep_ops),
	[MOCK_TX] = MOCK_QUEUE("tx", FI_CLASS_TX_CTX, &mock_ctx_ops),
	[MOCK_RX] = MOCK_QUEUE("rx", FI_CLASS_RX_CTX, &mock_ctx_ops),
	[MOCK_STX] = { "stx", FI_CLASS_STX_CTX, 2, {
		MOCK_TABLE(fid_stx, fid.ops, fi_ops, &mock_fid_ops, &kofi_no_ops),
		MOCK_TABLE(fid_stx, ops, fi_ops_ep, &kofi_no_ops_ep, &kofi_no_ops_ep),
	} },
	[MOCK_MC] = { "mc", FI_CLASS_MC, 1, {
		MOCK_TABLE(fid_mc, fid.ops, fi_ops, &mock_fid_ops, &kofi_no_ops),
	} },
};
EXPORT_SYMBOL_GPL(mock_classes);
