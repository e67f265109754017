// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fabrics, domains, completion queues and listeners of providers that move the data
 * themselves; see kofi/soft.h.
 */
#include <kofi/refuse.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "soft.h"

static struct kofi_soft_fabric *to_kofi_soft_fabric(struct fid_fabric *fabric)
{
	return container_of(fabric, struct kofi_soft_fabric, fabric);
}

static const struct kofi_cq_ops kofi_soft_cq_ops = {
	.release	= kofi_soft_release,
};

int kofi_soft_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		      struct fid_cq **cq, void *context)
{
	return kofi_cq_open(&to_kofi_soft_domain(domain)->fabric->cqs, attr,
			    &kofi_soft_cq_ops, cq, context);
}
EXPORT_SYMBOL_GPL(kofi_soft_cq_open);

int kofi_soft_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		      struct fid_eq **eq, void *context)
{
	return kofi_eq_open(attr, NULL, eq, context);
}
EXPORT_SYMBOL_GPL(kofi_soft_eq_open);

void kofi_soft_info_lend(struct fi_info *info, const struct fi_info *hints)
{
	u64 mode = hints ? hints->mode : 0;

	if (hints && hints->tx_attr && hints->tx_attr->mode)
		mode &= hints->tx_attr->mode;
	if (hints && hints->rx_attr && hints->rx_attr->mode)
		mode &= hints->rx_attr->mode;
	if (!(mode & FI_ASYNC_IOV))
		return;
	info->mode = FI_ASYNC_IOV;
	info->tx_attr->mode = FI_ASYNC_IOV;
	info->rx_attr->mode = FI_ASYNC_IOV;
	info->tx_attr->iov_limit = KOFI_OP_LENT_IOV;
	info->rx_attr->iov_limit = KOFI_OP_LENT_IOV;
}
EXPORT_SYMBOL_GPL(kofi_soft_info_lend);

void kofi_soft_info_short_keys(struct fi_domain_attr *domain, const struct fi_info *hints)
{
	size_t size = hints && hints->domain_attr ? hints->domain_attr->mr_key_size : 0;

	if (!size || size > sizeof(u32))
		return;
	domain->mr_key_size = sizeof(u32);
	domain->mr_cnt = KOFI_MR_SHORT_REGIONS;
}
EXPORT_SYMBOL_GPL(kofi_soft_info_short_keys);

static int kofi_soft_domain_close(struct fid *fid)
{
	struct kofi_soft_domain *domain =
		container_of(fid, struct kofi_soft_domain, mrs.domain.fid);

	kofi_mr_map_destroy(&domain->mrs.map);
	kfree(domain);
	return 0;
}

static const struct fi_ops kofi_soft_domain_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= kofi_soft_domain_close,
	.bind		= fi_no_bind,
	.control	= fi_no_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

int kofi_soft_domain_open(struct fid_fabric *fid_fabric, struct fi_info *info,
			  struct fid_domain **fid_domain, void *context)
{
	struct kofi_soft_fabric *fabric = to_kofi_soft_fabric(fid_fabric);
	struct kofi_soft_domain *domain;
	int ret;

	if (info->domain_attr->mr_mode & ~fabric->type->mr_mode)
		return kofi_refuse("domain", -EINVAL, "info->domain_attr->mr_mode is %#x; the provider has %#x",
				   info->domain_attr->mr_mode, fabric->type->mr_mode);
	domain = kzalloc(max(fabric->type->domain_size, sizeof(*domain)), GFP_KERNEL);
	if (!domain)
		return -ENOMEM;
	ret = kofi_mr_map_init(&domain->mrs.map, info->domain_attr->mr_mode,
			       info->caps & FI_HMEM, &kofi_soft_mr_ops);
	if (ret) {
		kfree(domain);
		return ret;
	}
	if (info->domain_attr->mr_key_size == sizeof(u32))
		kofi_mr_map_set_short(&domain->mrs.map);
	domain->fabric = fabric;
	domain->addr_format = info->addr_format ? : FI_SOCKADDR;
	domain->shares = info->domain_attr->max_ep_srx_ctx;
	domain->mrs.domain.fid.fclass = FI_CLASS_DOMAIN;
	domain->mrs.domain.fid.context = context;
	domain->mrs.domain.fid.ops = &kofi_soft_domain_fid_ops;
	domain->mrs.domain.ops = fabric->type->domain;
	domain->mrs.domain.mr = &kofi_mr_domain_ops;
	*fid_domain = &domain->mrs.domain;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_soft_domain_open);

static int kofi_soft_fabric_close(struct fid *fid)
{
	struct kofi_soft_fabric *fabric =
		container_of(fid, struct kofi_soft_fabric, fabric.fid);

	mutex_lock(fabric->type->lock);
	list_del(&fabric->of_type);
	mutex_unlock(fabric->type->lock);
	kfree(fabric);
	return 0;
}

static const struct fi_ops kofi_soft_fabric_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= kofi_soft_fabric_close,
	.bind		= fi_no_bind,
	.control	= fi_no_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

int kofi_soft_fabric_open(struct kofi_soft_type *type,
			  struct fi_fabric_attr *attr,
			  struct fid_fabric **fid_fabric, void *context)
{
	struct kofi_soft_fabric *fabric;

	fabric = kzalloc(max(type->fabric_size, sizeof(*fabric)), GFP_KERNEL);
	if (!fabric)
		return -ENOMEM;
	fabric->type = type;
	fabric->net = attr->net;
	INIT_LIST_HEAD(&fabric->eps);
	INIT_LIST_HEAD(&fabric->peps);
	kofi_cqs_init(&fabric->cqs);
	fabric->fabric.fid.fclass = FI_CLASS_FABRIC;
	fabric->fabric.fid.context = context;
	fabric->fabric.fid.ops = &kofi_soft_fabric_fid_ops;
	fabric->fabric.ops = type->fabric;
	fabric->fabric.api_version = attr->api_version;
	mutex_lock(type->lock);
	list_add_tail(&fabric->of_type, &type->fabrics);
	mutex_unlock(type->lock);
	*fid_fabric = &fabric->fabric;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_soft_fabric_open);

static void kofi_soft_end_of(struct kofi_soft_fabric *fabric,
			     bool (*ep_gone)(struct kofi_soft_ep *ep),
			     bool (*pep_gone)(struct kofi_soft_pep *pep))
{
	struct kofi_soft_pep *pep;
	struct kofi_soft_ep *ep;

	lockdep_assert_held(fabric->type->lock);
	list_for_each_entry(pep, &fabric->peps, of_fabric)
		if (pep_gone(pep))
			kofi_pep_gone(&pep->kpep);
	/* All ends are reported before ->gone() of one ends the connection of another */
	list_for_each_entry(ep, &fabric->eps, of_fabric)
		if (ep_gone(ep))
			kofi_conn_gone(&ep->kep.conn);
	list_for_each_entry(ep, &fabric->eps, of_fabric)
		if (ep->kep.conn.state == KOFI_CONN_GONE)
			ep->type->gone(ep);
}

void kofi_soft_end_some(struct kofi_soft_type *type,
			bool (*ep_gone)(struct kofi_soft_ep *ep),
			bool (*pep_gone)(struct kofi_soft_pep *pep))
{
	struct kofi_soft_fabric *fabric;

	mutex_lock(type->lock);
	list_for_each_entry(fabric, &type->fabrics, of_type)
		kofi_soft_end_of(fabric, ep_gone, pep_gone);
	mutex_unlock(type->lock);
}
EXPORT_SYMBOL_GPL(kofi_soft_end_some);

void kofi_soft_forget(const struct kofi_soft_type *type, const struct kofi_av *av, u32 index)
{
	struct kofi_soft_fabric *fabric;
	struct kofi_soft_ep *ep;

	mutex_lock(type->lock);
	list_for_each_entry(fabric, &type->fabrics, of_type)
		list_for_each_entry(ep, &fabric->eps, of_fabric)
			if (!ep->kep.no_rx && kofi_soft_av(ep) == av)
				kofi_srx_forget(&ep->own_srx, index);
	mutex_unlock(type->lock);
}
EXPORT_SYMBOL_GPL(kofi_soft_forget);

static bool kofi_soft_ep_with_net(struct kofi_soft_ep *ep)
{
	return true;
}

static bool kofi_soft_pep_with_net(struct kofi_soft_pep *pep)
{
	return true;
}

void kofi_soft_net_exit(struct fid_fabric *fid_fabric)
{
	struct kofi_soft_fabric *fabric = to_kofi_soft_fabric(fid_fabric);

	mutex_lock(fabric->type->lock);
	kofi_soft_end_of(fabric, kofi_soft_ep_with_net, kofi_soft_pep_with_net);
	WRITE_ONCE(fabric->net, NULL);
	mutex_unlock(fabric->type->lock);
	/* Wait for lookups in that namespace, and for the work that they have queued */
	synchronize_rcu_expedited();
	flush_workqueue(fabric->type->wq);
	/* And for workers of endpoints, which the ends of connections have queued once more */
	flush_workqueue(fabric->type->wq);
	kofi_cqs_end(&fabric->cqs, -ENODEV);
}
EXPORT_SYMBOL_GPL(kofi_soft_net_exit);

int kofi_soft_pep_init(struct kofi_soft_pep *pep, struct fid_fabric *fid_fabric,
		       const struct kofi_pep_type *type, const struct fi_info *info,
		       void *context)
{
	struct kofi_soft_fabric *fabric = to_kofi_soft_fabric(fid_fabric);
	int ret;

	if (info->ep_attr->type != FI_EP_MSG)
		return kofi_refuse("passive_ep", -EINVAL, "info->ep_attr->type is %d; only FI_EP_MSG listens",
				   info->ep_attr->type);
	pep->fabric = fabric;
	ret = kofi_pep_init(&pep->kpep, type, info, context);
	if (ret)
		return ret;
	mutex_lock(fabric->type->lock);
	list_add_tail(&pep->of_fabric, &fabric->peps);
	/* Its namespace may have gone meanwhile */
	if (!fabric->net)
		kofi_pep_gone(&pep->kpep);
	mutex_unlock(fabric->type->lock);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_soft_pep_init);

void kofi_soft_pep_fini(struct kofi_soft_pep *pep)
{
	mutex_lock(pep->fabric->type->lock);
	list_del(&pep->of_fabric);
	mutex_unlock(pep->fabric->type->lock);
}
EXPORT_SYMBOL_GPL(kofi_soft_pep_fini);
