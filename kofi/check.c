// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Checks that an object that a provider has opened is complete.
 *
 * Clients call through an object's tables without a check, so no slot may be NULL.
 * This file lists the tables of each class, and for each table its size in this version
 * of the core, its fillers, and the names of its slots for the log.
 * A table is a size_t and pointers to functions, nothing else.
 *
 *  - A table that is missing, has no sensible size, or has an empty slot:
 *    refused.
 *  - A table that caps promise and that consists of fillers: refused.
 *  - A shorter table, from a provider of an older minor version: the object gets
 *    a longer copy with fillers at the end, freed with the object.
 *  - A longer table, from a provider of a newer minor version: taken as it is.
 *
 * A refused object is closed again by its own ->close.  The log says why once
 * per provider and class; the author needs one line, not one per attempt.
 *
 * All this runs after the provider's open and before the client has the object, so no
 * other call uses the object's pointers meanwhile.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/slab.h>
#include "kofi.h"

/* The layout of every table */
struct kofi_ops {
	size_t		size;
	const void	*slot[];
};

struct kofi_table {
	const char		*name;
	size_t			size;
	const size_t		*fillers;
	const char *const	*slots;
};

/* The static_assert() fails if there are fewer or more names than slots */
#define KOFI_TABLE(_name, _type, _fillers, ...)				\
	static const char *const _name##_slots[] = { __VA_ARGS__ };	\
	static_assert(sizeof(struct _type) ==				\
		      sizeof(struct kofi_ops) + sizeof(_name##_slots));	\
	static const struct kofi_table _name##_table = {		\
		.name = #_name,						\
		.size = sizeof(struct kofi_ops) + sizeof(_name##_slots), \
		.fillers = &(_fillers).size,				\
		.slots = _name##_slots,					\
	}

KOFI_TABLE(fid, fi_ops, kofi_no_ops,
	   "close", "bind", "control", "ops_open", "tostr", "ops_set");
KOFI_TABLE(fabric, fi_ops_fabric, kofi_no_ops_fabric,
	   "domain", "passive_ep", "eq_open");
KOFI_TABLE(domain, fi_ops_domain, kofi_no_ops_domain,
	   "av_open", "cq_open", "endpoint", "scalable_ep", "cntr_open",
	   "stx_ctx", "srx_ctx", "query_atomic", "dma_device");
KOFI_TABLE(mr, fi_ops_mr, kofi_no_ops_mr, "reg", "regv", "regattr");
KOFI_TABLE(mr_ep, fi_ops_mr_ep, kofi_no_ops_mr_ep,
	   "refresh", "enable", "disable");
KOFI_TABLE(ep, fi_ops_ep, kofi_no_ops_ep,
	   "cancel", "getopt", "setopt", "tx_ctx", "rx_ctx", "rx_size_left",
	   "tx_size_left", "drain");
KOFI_TABLE(cm, fi_ops_cm, kofi_no_ops_cm,
	   "setname", "getname", "getpeer", "connect", "listen", "accept",
	   "reject", "shutdown", "join");
KOFI_TABLE(xfer, fi_ops_xfer, kofi_no_ops_xfer,
	   "send", "recv", "read", "write", "post", "atomicvalid");
KOFI_TABLE(eq, fi_ops_eq, kofi_no_ops_eq,
	   "read", "readerr", "write", "sread", "strerror");
KOFI_TABLE(cq, fi_ops_cq, kofi_no_ops_cq,
	   "read", "readfrom", "readerr", "sread", "sreadfrom", "signal",
	   "strerror");
KOFI_TABLE(cntr, fi_ops_cntr, kofi_no_ops_cntr,
	   "read", "readerr", "add", "set", "wait", "adderr", "seterr");
KOFI_TABLE(av, fi_ops_av, kofi_no_ops_av,
	   "insert", "insertsvc", "insertsym", "remove", "lookup", "straddr",
	   "insert_auth_key", "lookup_auth_key", "set_user_id");

/* Where an object points to a table, and which capabilities promise it */
struct kofi_table_ref {
	size_t				offset;
	const struct kofi_table		*table;
	u64				caps;
};

static const struct kofi_table_ref fabric_refs[] = {
	{ offsetof(struct fid_fabric, fid.ops), &fid_table },
	{ offsetof(struct fid_fabric, ops), &fabric_table },
	{ }
};

static const struct kofi_table_ref domain_refs[] = {
	{ offsetof(struct fid_domain, fid.ops), &fid_table },
	{ offsetof(struct fid_domain, ops), &domain_table },
	{ offsetof(struct fid_domain, mr), &mr_table },
	{ }
};

static const struct kofi_table_ref ep_refs[] = {
	{ offsetof(struct fid_ep, fid.ops), &fid_table },
	{ offsetof(struct fid_ep, ops), &ep_table },
	{ offsetof(struct fid_ep, cm), &cm_table },
	{ offsetof(struct fid_ep, xfer), &xfer_table,
	  FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC },
	{ }
};

static_assert(ARRAY_SIZE(ep_refs) - 1 == KOFI_MAX_TABLES);

static const struct kofi_table_ref pep_refs[] = {
	{ offsetof(struct fid_pep, fid.ops), &fid_table },
	{ offsetof(struct fid_pep, ops), &ep_table },
	{ offsetof(struct fid_pep, cm), &cm_table },
	{ }
};

static const struct kofi_table_ref stx_refs[] = {
	{ offsetof(struct fid_stx, fid.ops), &fid_table },
	{ offsetof(struct fid_stx, ops), &ep_table },
	{ }
};

static const struct kofi_table_ref mc_refs[] = {
	{ offsetof(struct fid_mc, fid.ops), &fid_table },
	{ }
};

static const struct kofi_table_ref eq_refs[] = {
	{ offsetof(struct fid_eq, fid.ops), &fid_table },
	{ offsetof(struct fid_eq, ops), &eq_table },
	{ }
};

static const struct kofi_table_ref cq_refs[] = {
	{ offsetof(struct fid_cq, fid.ops), &fid_table },
	{ offsetof(struct fid_cq, ops), &cq_table },
	{ }
};

static const struct kofi_table_ref cntr_refs[] = {
	{ offsetof(struct fid_cntr, fid.ops), &fid_table },
	{ offsetof(struct fid_cntr, ops), &cntr_table },
	{ }
};

static const struct kofi_table_ref av_refs[] = {
	{ offsetof(struct fid_av, fid.ops), &fid_table },
	{ offsetof(struct fid_av, ops), &av_table },
	{ }
};

static const struct kofi_table_ref mr_refs[] = {
	{ offsetof(struct fid_mr, fid.ops), &fid_table },
	{ offsetof(struct fid_mr, ops), &mr_ep_table },
	{ }
};

static const struct {
	const char			*name;
	const struct kofi_table_ref	*refs;
} kofi_classes[] = {
	[FI_CLASS_FABRIC]	= { "fabric", fabric_refs },
	[FI_CLASS_DOMAIN]	= { "domain", domain_refs },
	[FI_CLASS_EP]		= { "endpoint", ep_refs },
	[FI_CLASS_SEP]		= { "scalable endpoint", ep_refs },
	[FI_CLASS_RX_CTX]	= { "receive context", ep_refs },
	[FI_CLASS_SRX_CTX]	= { "shared receive context", ep_refs },
	[FI_CLASS_TX_CTX]	= { "transmit context", ep_refs },
	[FI_CLASS_STX_CTX]	= { "shared transmit context", stx_refs },
	[FI_CLASS_PEP]		= { "passive endpoint", pep_refs },
	[FI_CLASS_AV]		= { "address vector", av_refs },
	[FI_CLASS_MR]		= { "memory region", mr_refs },
	[FI_CLASS_EQ]		= { "event queue", eq_refs },
	[FI_CLASS_CQ]		= { "completion queue", cq_refs },
	[FI_CLASS_CNTR]		= { "counter", cntr_refs },
	[FI_CLASS_MC]		= { "multicast group", mc_refs },
};

const char *kofi_class_name(size_t fclass)
{
	if (fclass >= ARRAY_SIZE(kofi_classes) || !kofi_classes[fclass].name)
		return "unknown object";
	return kofi_classes[fclass].name;
}

static const struct kofi_ops **kofi_ops_at(struct fid *fid,
					   const struct kofi_table_ref *ref)
{
	return (void *)fid + ref->offset;
}

static size_t kofi_count_slots(size_t size)
{
	return (size - sizeof(struct kofi_ops)) / sizeof(void *);
}

/* Logs the reason unless one has been logged for this provider and class */
static __printf(2, 3) int kofi_misbuilt(struct kofi_obj *obj, const char *fmt,
					...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	if (test_and_set_bit(obj->fclass, &obj->prov->refused))
		goto refuse;

	va_start(args, fmt);
	vaf.va = &args;
	pr_err("provider %s: %s refused: %pV\n", obj->prov->provider->name,
	       kofi_class_name(obj->fclass), &vaf);
	va_end(args);
refuse:
	return kofi_refuse("open", -EINVAL, "the provider's %s is incomplete; the log said what it lacks",
			   kofi_class_name(obj->fclass));
}

static int kofi_check_slots(struct kofi_obj *obj, const struct kofi_table *table,
			    const struct kofi_ops *ops)
{
	size_t i;

	if (!ops)
		return kofi_misbuilt(obj, "it has no %s table; kofi_no_* fill it",
				     table->name);
	if (ops->size < sizeof(*ops) || ops->size % sizeof(void *))
		return kofi_misbuilt(obj, "the %s table says that its size is %zu",
				     table->name, ops->size);

	for (i = 0; i < kofi_count_slots(min(ops->size, table->size)); i++)
		if (!ops->slot[i])
			return kofi_misbuilt(obj,
					     "%s of its %s table is NULL; kofi_no_* or fi_no_* fill it",
					     table->slots[i], table->name);
	return 0;
}

static bool kofi_is_all_filler(const struct kofi_table *table,
			       const struct kofi_ops *ops)
{
	return !memcmp(ops->slot, table->fillers + 1,
		       min(ops->size, table->size) - sizeof(*ops));
}

static int kofi_check_table(struct kofi_obj *obj, struct fid *fid, u64 caps,
			    const struct kofi_table_ref *ref)
{
	const struct kofi_ops *ops = *kofi_ops_at(fid, ref);
	int ret;

	ret = kofi_check_slots(obj, ref->table, ops);
	if (ret)
		return ret;
	if (caps & ref->caps && kofi_is_all_filler(ref->table, ops))
		return kofi_misbuilt(obj,
				     "its caps promise %s, but the table is all filler",
				     ref->table->name);
	return 0;
}

/* Replaces the @nth table by a longer copy if it is shorter than the core's version of it */
static int kofi_lengthen_table(struct kofi_obj *obj, size_t nth, struct fid *fid,
			       const struct kofi_table_ref *ref)
{
	const struct kofi_ops **ops = kofi_ops_at(fid, ref);
	struct kofi_ops *longer;

	if ((*ops)->size >= ref->table->size)
		return 0;

	if (!obj->tables)
		obj->tables = kcalloc(KOFI_MAX_TABLES, sizeof(*obj->tables),
				      GFP_KERNEL);
	if (!obj->tables)
		return -ENOMEM;
	longer = kmemdup(ref->table->fillers, ref->table->size, GFP_KERNEL);
	if (!longer)
		return -ENOMEM;
	memcpy(longer->slot, (*ops)->slot, (*ops)->size - sizeof(*longer));
	*ops = longer;
	obj->tables[nth] = longer;
	return 0;
}

/*
 * ->close is the first slot in every version.  It is there even if the size makes
 * no sense, because a provider forgot to set it.  It is not there if the size says that
 * the table has no slots.
 */
static bool kofi_can_close(const struct fi_ops *ops)
{
	return ops && ops->size != sizeof(ops->size) && ops->close &&
	       ops->close != kofi_no_ops.close;
}

static int kofi_check_tables(struct kofi_obj *obj, struct fid *fid, u64 caps)
{
	const struct kofi_table_ref *refs = kofi_classes[obj->fclass].refs;
	const struct kofi_table_ref *ref;
	int ret;

	for (ref = refs; ref->table; ref++) {
		ret = kofi_check_table(obj, fid, caps, ref);
		if (ret)
			return ret;
	}

	if (!kofi_can_close(fid->ops))
		return kofi_misbuilt(obj, "it cannot be closed");

	for (ref = refs; ref->table; ref++) {
		ret = kofi_lengthen_table(obj, ref - refs, fid, ref);
		if (ret)
			return ret;
	}
	return 0;
}

static void kofi_close_refused(struct kofi_obj *obj, struct fid *fid)
{
	int ret = -ENOSYS;

	if (kofi_can_close(fid->ops))
		ret = fid->ops->close(fid);
	if (ret)
		pr_err_ratelimited("provider %s: the refused %s stays open (%d)\n",
				   obj->prov->provider->name,
				   kofi_class_name(obj->fclass), ret);
}

int kofi_check(struct kofi_obj *obj, struct fid *fid, u64 caps)
{
	int ret;

	if (!fid)
		return kofi_misbuilt(obj, "the open call succeeds without a fid");

	if (fid->fclass == obj->fclass)
		ret = kofi_check_tables(obj, fid, caps);
	else
		ret = kofi_misbuilt(obj, "its fid.fclass is %zu, not %u",
				    fid->fclass, obj->fclass);
	if (ret)
		kofi_close_refused(obj, fid);
	return ret;
}

void kofi_check_undo(struct kofi_obj *obj)
{
	int i;

	for (i = 0; obj->tables && i < KOFI_MAX_TABLES; i++)
		kfree(obj->tables[i]);
	kfree(obj->tables);
}
