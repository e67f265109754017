// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The calls that register memory, and the kinds of regions.
 *
 *	with a key at once			mr.c
 *	for single operations (FI_MR_ENDPOINT)	mr_ep.c
 *	of a dma-buf (FI_MR_DMABUF)		peer.c
 *	of persistent memory (FI_RMA_PMEM)	here, and save_serve.c
 */
#include <linux/slab.h>
#include <kofi/refuse.h>
#include "../mr.h"
#include "../verbs.h"

static struct verbs_mr *verbs_mr_alloc(struct verbs_domain *domain,
				       const struct fi_mr_attr *attr)
{
	struct verbs_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return NULL;
	mr->domain = domain;
	mr->mr.fid.fclass = FI_CLASS_MR;
	mr->mr.fid.context = attr->context;
	mr->mr.fid.ops = &verbs_mr_fid_ops;
	mr->mr.ops = &kofi_no_ops_mr_ep;
	mr->mr.mem_desc = mr;
	return mr;
}

/* Persistent memory is in domain->saved, too (save_serve.c), before a peer can know the key */
static int verbs_mr_pmem_init(struct verbs_mr *mr, const struct fi_mr_attr *attr)
{
	struct fi_mr_attr saved = *attr;
	int ret;

	if (verbs_is_iwarp(mr->domain->dev->ibdev))
		return kofi_refuse("mr_regattr", -FI_EBADFLAGS, "flags: FI_RMA_PMEM: not over iWARP");
	/* The initiator reads from the region before it sends its request (save.c) */
	if (!(attr->access & FI_REMOTE_READ))
		return kofi_refuse("mr_regattr", -EINVAL, "attr->access: FI_RMA_PMEM needs FI_REMOTE_READ, as the initiator reads before it saves");
	ret = verbs_mr_init(mr, attr);
	if (ret)
		return ret;
	saved.requested_key = mr->mr.key;
	ret = kofi_mr_regattr(&mr->domain->saved, &saved, FI_RMA_PMEM, &mr->saved);
	if (ret && !ib_dereg_mr(mr->ibmr))
		verbs_mr_unmap(mr);
	return ret;
}

/* On a device that has been entered */
static int verbs_mr_new(struct verbs_domain *domain,
			const struct fi_mr_attr *attr, u64 flags,
			struct fid_mr **fid_mr)
{
	struct verbs_mr *mr = verbs_mr_alloc(domain, attr);
	int ret;

	if (!mr)
		return -ENOMEM;
	if (flags & FI_MR_DMABUF)
		ret = verbs_mr_dmabuf_init(mr, attr);
	else if (flags & FI_MR_ENDPOINT)
		ret = verbs_mr_ep_init(mr, attr, flags & FI_MR_LEND);
	else if (flags & FI_RMA_PMEM)
		ret = verbs_mr_pmem_init(mr, attr);
	else
		ret = verbs_mr_init(mr, attr);
	if (ret) {
		verbs_mr_free(mr);
		return ret;
	}
	verbs_res_add(domain->dev, &mr->res, &verbs_mr_res_ops);
	*fid_mr = &mr->mr;
	return 0;
}

static int verbs_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr,
			    u64 flags, struct fid_mr **mr)
{
	struct verbs_domain *domain =
		container_of(fid, struct verbs_domain, domain.fid);
	int ret;

	/* No counters for regions */
	ret = kofi_check_flags("mr_regattr", flags, FI_MR_ENDPOINT | FI_MR_LEND | FI_MR_DMABUF |
			       FI_RMA_PMEM);
	if (ret)
		return ret;
	if ((flags & FI_RMA_PMEM && flags != FI_RMA_PMEM) ||
	    (flags & FI_MR_DMABUF && flags != FI_MR_DMABUF))
		return kofi_refuse("mr_regattr", -FI_EBADFLAGS, "flags: FI_RMA_PMEM and FI_MR_DMABUF go with no other flag");
	ret = verbs_domain_enter(domain);
	if (ret)
		return ret;
	ret = verbs_mr_new(domain, attr, flags, mr);
	verbs_domain_leave(domain);
	return ret;
}

const struct fi_ops_mr verbs_mr_ops = {
	.size		= sizeof(struct fi_ops_mr),
	.reg		= kofi_mr_reg_buf,
	.regv		= kofi_mr_reg_list,
	.regattr	= verbs_mr_regattr,
};
