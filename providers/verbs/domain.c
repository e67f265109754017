// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fabrics and domains.
 *
 * A fabric is no more than the network namespace in which addresses are looked
 * up.  A domain is a protection domain on one device; it holds the device, and
 * through it whatever is opened in the domain may look at the device without
 * further ado.  The first registration of memory gives it a connection of its
 * own (reg.c), which lasts until it is closed.
 */
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "verbs.h"

static int verbs_domain_close(struct fid *fid)
{
	struct verbs_domain *domain =
		container_of(fid, struct verbs_domain, domain.fid);

	verbs_reg_close(domain);
	ib_dealloc_pd(domain->pd);
	verbs_device_put(domain->dev);
	mutex_destroy(&domain->reg_lock);
	kfree(domain);
	return 0;
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
	.cq_open	= verbs_cq_open,
	.endpoint	= verbs_endpoint,
	.cntr_open	= kofi_cntr_open,
	.srx_ctx	= verbs_srx_context,
	.query_atomic	= verbs_query_atomic,
};

static int verbs_domain(struct fid_fabric *fabric, struct fi_info *info,
			struct fid_domain **fid_domain, void *context)
{
	struct verbs_domain *domain;
	int ret;

	if (!info->domain_attr || !info->domain_attr->name ||
	    !verbs_tclass_known(info->domain_attr->tclass))
		return -EINVAL;

	domain = kzalloc(sizeof(*domain), GFP_KERNEL);
	if (!domain)
		return -ENOMEM;

	ret = -ENODEV;
	domain->dev = verbs_device_get_by_name(info->domain_attr->name);
	if (!domain->dev)
		goto free_domain;

	domain->pd = ib_alloc_pd(domain->dev->ibdev, 0);
	if (IS_ERR(domain->pd)) {
		ret = PTR_ERR(domain->pd);
		goto put_device;
	}

	if (verbs_addr_from_info(&domain->src, info->src_addr,
				 info->src_addrlen))
		domain->src.ss_family = AF_UNSPEC;
	mutex_init(&domain->reg_lock);
	atomic_set(&domain->next_key, get_random_u32());
	domain->tclass = info->domain_attr->tclass;
	domain->fabric = to_verbs_fabric(fabric);
	domain->domain.fid.fclass = FI_CLASS_DOMAIN;
	domain->domain.fid.context = context;
	domain->domain.fid.ops = &verbs_domain_fid_ops;
	domain->domain.ops = &verbs_domain_ops;
	domain->domain.mr = &verbs_mr_ops;
	*fid_domain = &domain->domain;
	return 0;

put_device:
	verbs_device_put(domain->dev);
free_domain:
	kfree(domain);
	return ret;
}

static int verbs_fabric_close(struct fid *fid)
{
	struct verbs_fabric *fabric =
		container_of(fid, struct verbs_fabric, fabric.fid);

	put_net(fabric->net);
	kfree(fabric);
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

int verbs_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fid_fabric,
		 void *context)
{
	struct verbs_fabric *fabric;
	struct net *net = attr->net;

	if (!net)
		net = current->nsproxy ? current->nsproxy->net_ns : &init_net;

	fabric = kzalloc(sizeof(*fabric), GFP_KERNEL);
	if (!fabric)
		return -ENOMEM;

	fabric->net = get_net(net);
	fabric->fabric.fid.fclass = FI_CLASS_FABRIC;
	fabric->fabric.fid.context = context;
	fabric->fabric.fid.ops = &verbs_fabric_fid_ops;
	fabric->fabric.ops = &verbs_fabric_ops;
	fabric->fabric.api_version = attr->api_version;
	*fid_fabric = &fabric->fabric;
	return 0;
}
