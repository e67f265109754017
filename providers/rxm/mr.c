// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions: each has one of the lower domain below it, which has the key.  Peers reach the memory by
 * reads and writes of the lower endpoints, so that nothing of this provider is between them.
 *
 * Atomic operations of peers are executed here, and look the key up in the map of the domain: a
 * region that peers reach has an entry there, too, with the key and the address of the lower one.
 * The lower region is there before the entry and after it, so no other region has the key.  The
 * processor does not compute with memory of devices, so such a region (FI_MR_DMABUF) has no entry.
 */
#include <linux/slab.h>
#include <kofi/mr_map.h>
#include <kofi/refuse.h>
#include "rxm.h"

/**
 * struct rxm_mr - A region
 * @mr: what the client sees, with the key and the address of @lower
 * @lower: the region of the lower domain
 * @entry: what atomic operations find; or NULL
 */
struct rxm_mr {
	struct fid_mr	mr;
	struct fid_mr	*lower;
	struct fid_mr	*entry;
};

static struct rxm_mr *to_rxm_mr(struct fid *fid)
{
	return container_of(fid, struct rxm_mr, mr.fid);
}

static int rxm_mr_open_entry(struct rxm_mr *mr, struct rxm_domain *domain,
			     const struct fi_mr_attr *attr)
{
	struct fi_mr_attr own = *attr;
	int ret;

	own.requested_key = mr->lower->key;
	ret = kofi_mr_regattr(&domain->soft.mrs.map, &own, 0, &mr->entry);
	if (!ret)
		mr->entry->addr = mr->lower->addr;
	return ret;
}

/* Waits for atomic operations that are under way */
static void rxm_mr_close_entry(struct rxm_mr *mr)
{
	if (mr->entry)
		mr->entry->fid.ops->close(&mr->entry->fid);
	mr->entry = NULL;
}

static int rxm_mr_close(struct fid *fid)
{
	struct rxm_mr *mr = to_rxm_mr(fid);
	int ret;

	/* If the lower region stays, only reads and writes reach it from now on */
	rxm_mr_close_entry(mr);
	ret = fi_close(&mr->lower->fid);
	if (!ret)
		kfree(mr);
	return ret;
}

static int rxm_mr_bind(struct fid *fid, struct fid *bfid, u64 flags)
{
	return kofi_refuse("mr_bind", -ENOSYS, "accesses of peers are not counted here, and no region is for one endpoint");
}

static int rxm_mr_control(struct fid *fid, int command, void *arg)
{
	return fi_control(&to_rxm_mr(fid)->lower->fid, command, arg);
}

static const struct fi_ops rxm_mr_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= rxm_mr_close,
	.bind		= rxm_mr_bind,
	.control	= rxm_mr_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static int rxm_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr, u64 flags,
			  struct fid_mr **fid_mr)
{
	struct rxm_domain *domain = to_rxm_domain(container_of(fid, struct fid_domain, fid));
	struct fi_mr_attr lower = *attr;
	struct rxm_mr *mr;
	int ret;

	if (flags & FI_RMA_EVENT)
		return kofi_refuse("mr_reg", -FI_EBADFLAGS, "FI_RMA_EVENT: accesses of peers are not counted here");
	if (flags & FI_MR_ENDPOINT)
		return kofi_refuse("mr_reg", -FI_EBADFLAGS, "FI_MR_ENDPOINT: an endpoint has a lower one for each peer, and a region can be bound to one only");
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return -ENOMEM;
	lower.context = mr;
	ret = fi_mr_regattr(domain->lower, &lower, flags, &mr->lower);
	if (ret)
		goto free_mr;
	if (mr->lower->key != FI_KEY_NOTAVAIL && !(flags & FI_MR_DMABUF))
		ret = rxm_mr_open_entry(mr, domain, attr);
	if (ret)
		goto close_lower;
	mr->mr.fid.fclass = FI_CLASS_MR;
	mr->mr.fid.context = attr->context;
	mr->mr.fid.ops = &rxm_mr_fid_ops;
	mr->mr.ops = &kofi_no_ops_mr_ep;
	mr->mr.key = mr->lower->key;
	mr->mr.addr = mr->lower->addr;
	*fid_mr = &mr->mr;
	return 0;

close_lower:
	kofi_lower_close(&mr->lower->fid);
free_mr:
	kfree(mr);
	return ret;
}

/* Calls on the regions of a domain */
const struct fi_ops_mr rxm_mr_ops = {
	.size		= sizeof(struct fi_ops_mr),
	.reg		= kofi_mr_reg_buf,
	.regv		= kofi_mr_reg_list,
	.regattr	= rxm_mr_regattr,
};
