// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fabrics and domains.
 *
 * A fabric is a network namespace in which addresses are looked up (id.c).
 *
 * A domain is a protection domain on one device.  Its calls enter the device, so the functions
 * that open its objects need not.  The first registration of memory gives the domain a connection
 * of its own (reg.c), which lasts until the domain is closed.
 */
#include <kofi/refuse.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "cm.h"
#include "ep.h"
#include "mr.h"
#include "op.h"
#include "queue.h"
#include "save/save.h"
#include "verbs.h"

/* verbs_reg_await() may wait for a step that never comes */
static void verbs_domain_report(struct verbs_res *res)
{
	wake_up(&container_of(res, struct verbs_domain, res)->reg_wait);
}

static void verbs_domain_strip(struct verbs_res *res)
{
	struct verbs_domain *domain = container_of(res, struct verbs_domain,
						   res);

	if (domain->save_listener)
		rdma_destroy_id(domain->save_listener);
	verbs_reg_close(domain);
	ib_dealloc_pd(domain->pd);
}

static const struct verbs_res_ops verbs_domain_res_ops = {
	.kind	= VERBS_RES_DOMAIN,
	.report	= verbs_domain_report,
	.strip	= verbs_domain_strip,
};

static int verbs_domain_close(struct fid *fid)
{
	struct verbs_domain *domain =
		container_of(fid, struct verbs_domain, domain.fid);

	verbs_res_strip(domain->dev, &domain->res);
	verbs_res_del(domain->dev, &domain->res);
	put_device(domain->dma_device);
	verbs_device_put(domain->dev);
	kofi_mr_map_destroy(&domain->saved);
	mutex_destroy(&domain->save_lock);
	mutex_destroy(&domain->reg_lock);
	kfree(domain);
	return 0;
}

static int verbs_domain_cq_open(struct fid_domain *fid_domain,
				struct fi_cq_attr *attr, struct fid_cq **cq,
				void *context)
{
	struct verbs_domain *domain = to_verbs_domain(fid_domain);
	int ret = verbs_domain_enter(domain);

	if (ret)
		return ret;
	ret = verbs_cq_open(domain, attr, cq, context);
	verbs_domain_leave(domain);
	return ret;
}

static int verbs_domain_endpoint(struct fid_domain *fid_domain,
				 struct fi_info *info, struct fid_ep **ep,
				 void *context)
{
	struct verbs_domain *domain = to_verbs_domain(fid_domain);
	int ret = verbs_domain_enter(domain);

	if (ret)
		return ret;
	ret = verbs_endpoint(domain, info, ep, context);
	verbs_domain_leave(domain);
	return ret;
}

static int verbs_domain_srx_ctx(struct fid_domain *fid_domain,
				struct fi_rx_attr *attr, struct fid_ep **srx,
				void *context)
{
	struct verbs_domain *domain = to_verbs_domain(fid_domain);
	int ret = verbs_domain_enter(domain);

	if (ret)
		return ret;
	ret = verbs_srx_context(domain, attr, srx, context);
	verbs_domain_leave(domain);
	return ret;
}

static int verbs_domain_cntr_open(struct fid_domain *fid_domain,
				  struct fi_cntr_attr *attr,
				  struct fid_cntr **cntr, void *context)
{
	struct verbs_domain *domain = to_verbs_domain(fid_domain);
	int ret = verbs_domain_enter(domain);

	if (ret)
		return ret;
	ret = kofi_cntr_open(fid_domain, attr, cntr, context);
	verbs_domain_leave(domain);
	return ret;
}

static int verbs_domain_query_atomic(struct fid_domain *fid_domain,
				     enum fi_datatype datatype, enum fi_op op,
				     struct fi_atomic_attr *attr, u64 flags)
{
	struct verbs_domain *domain = to_verbs_domain(fid_domain);
	int ret = verbs_domain_enter(domain);

	if (ret)
		return ret;
	ret = verbs_query_atomic(domain, datatype, op, attr, flags);
	verbs_domain_leave(domain);
	return ret;
}

static struct device *verbs_domain_dma_device(struct fid_domain *fid_domain)
{
	return to_verbs_domain(fid_domain)->dma_device;
}

static const struct fi_ops verbs_domain_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= verbs_domain_close,
	.bind		= fi_no_bind,
	.control	= fi_no_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static const struct fi_ops_domain verbs_domain_ops = {
	.size		= sizeof(struct fi_ops_domain),
	.av_open	= fi_no_av_open,
	.cq_open	= verbs_domain_cq_open,
	.endpoint	= verbs_domain_endpoint,
	.scalable_ep	= fi_no_scalable_ep,
	.cntr_open	= verbs_domain_cntr_open,
	.stx_ctx	= fi_no_stx_ctx,
	.srx_ctx	= verbs_domain_srx_ctx,
	.query_atomic	= verbs_domain_query_atomic,
	.dma_device	= verbs_domain_dma_device,
};

/* On a device that has been entered */
static int verbs_domain_init(struct verbs_domain *domain, struct fi_info *info)
{
	int ret;

	ret = kofi_mr_map_init(&domain->saved, FI_MR_VIRT_ADDR, false, &verbs_save_mr_ops);
	if (ret)
		return ret;
	domain->pd = ib_alloc_pd(domain->dev->ibdev, 0);
	if (IS_ERR(domain->pd)) {
		kofi_mr_map_destroy(&domain->saved);
		return PTR_ERR(domain->pd);
	}

	if (kofi_addr_from_info(&domain->src, info->src_addr,
				info->src_addrlen))
		domain->src.ss_family = AF_UNSPEC;
	mutex_init(&domain->reg_lock);
	mutex_init(&domain->save_lock);
	INIT_LIST_HEAD(&domain->savers);
	init_waitqueue_head(&domain->reg_wait);
	atomic_set(&domain->next_key, get_random_u32());
	domain->tclass = info->domain_attr->tclass;
	domain->hmem = info->caps & FI_HMEM;
	domain->peer_lists = domain->hmem && ib_uses_virt_dma(domain->dev->ibdev);
	/* Devices that map by themselves have no dma_device */
	domain->dma_device = get_device(domain->dev->ibdev->dma_device);
	verbs_device_get(domain->dev);
	verbs_res_add(domain->dev, &domain->res, &verbs_domain_res_ops);
	return 0;
}

static int verbs_domain(struct fid_fabric *fabric, struct fi_info *info,
			struct fid_domain **fid_domain, void *context)
{
	struct verbs_domain *domain;
	int ret = -ENODEV;

	if (!info->domain_attr->name)
		return kofi_refuse("domain", -EINVAL, "info->domain_attr->name is NULL; it names the device");
	if (!kofi_tclass_known(info->domain_attr->tclass))
		return kofi_refuse("domain", -EINVAL, "info->domain_attr->tclass %#x is no FI_TC_*",
				   info->domain_attr->tclass);

	domain = kzalloc(sizeof(*domain), GFP_KERNEL);
	if (!domain)
		return -ENOMEM;

	domain->fabric = to_verbs_fabric(fabric);
	domain->domain.fid.fclass = FI_CLASS_DOMAIN;
	domain->domain.fid.context = context;
	domain->domain.fid.ops = &verbs_domain_fid_ops;
	domain->domain.ops = &verbs_domain_ops;
	domain->domain.mr = &verbs_mr_ops;
	domain->dev = verbs_device_find_by_name(info->domain_attr->name);
	if (!domain->dev)
		goto free_domain;
	ret = verbs_domain_init(domain, info);
	verbs_device_leave(domain->dev);
	if (ret)
		goto free_domain;
	*fid_domain = &domain->domain;
	return 0;

free_domain:
	kfree(domain);
	return ret;
}

static int verbs_fabric_close(struct fid *fid)
{
	kfree(container_of(fid, struct verbs_fabric, fabric.fid));
	return 0;
}

static int verbs_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
			 struct fid_eq **eq, void *context)
{
	return kofi_eq_open(attr, verbs_eq_strerror, eq, context);
}

static const struct fi_ops verbs_fabric_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= verbs_fabric_close,
	.bind		= fi_no_bind,
	.control	= fi_no_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static const struct fi_ops_fabric verbs_fabric_ops = {
	.size		= sizeof(struct fi_ops_fabric),
	.domain		= verbs_domain,
	.passive_ep	= verbs_passive_ep,
	.eq_open	= verbs_eq_open,
};

int verbs_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fid_fabric,
		      void *context)
{
	struct verbs_fabric *fabric;

	fabric = kzalloc(sizeof(*fabric), GFP_KERNEL);
	if (!fabric)
		return -ENOMEM;

	spin_lock_init(&fabric->lock);
	fabric->net = attr->net;
	fabric->fabric.fid.fclass = FI_CLASS_FABRIC;
	fabric->fabric.fid.context = context;
	fabric->fabric.fid.ops = &verbs_fabric_fid_ops;
	fabric->fabric.ops = &verbs_fabric_ops;
	fabric->fabric.api_version = attr->api_version;
	*fid_fabric = &fabric->fabric;
	return 0;
}
