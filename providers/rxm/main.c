// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The module kofi_rxm.ko, its fabrics and its domains.
 *
 * An open fabric pins the module and, by its lower fabric, the module of the lower provider.
 */
#include <linux/module.h>
#include <kofi/atomic.h>
#include <kofi/mr_map.h>
#include <kofi/refuse.h>
#include "rxm.h"

/* Connections of kofi/soft.h; no lower call is made under it */
DEFINE_MUTEX(rxm_lock);

/* The length of a segment has 16 bits */
struct kofi_param rxm_eager_limit = { .value = SZ_16K, .min = SZ_1K, .max = U16_MAX };
module_param_cb(eager_limit, &kofi_param_ops, &rxm_eager_limit, 0444);
MODULE_PARM_DESC(eager_limit, "most payload of a packet, bytes; equal to FI_OFI_RXM_BUFFER_SIZE of peers (default 16384)");

/* Runs rxm_domain.gone, which waits for all that rxm_type.wq runs */
static struct workqueue_struct *rxm_gone_wq;

/* Domains */

static void rxm_domain_gone(struct work_struct *work)
{
	struct rxm_domain *domain = container_of(work, struct rxm_domain, gone);
	struct kofi_soft_ep *ep;

	/* For all operations to end; the second time for work that the first one has queued */
	flush_workqueue(rxm_type.wq);
	flush_workqueue(rxm_type.wq);
	mutex_lock(&rxm_lock);
	list_for_each_entry(ep, &domain->soft.fabric->eps, of_fabric) {
		if (ep->domain != &domain->soft)
			continue;
		if (ep->kep.tx.cq)
			kofi_cq_end(ep->kep.tx.cq, -ENODEV);
		if (ep->kep.rx.cq)
			kofi_cq_end(ep->kep.rx.cq, -ENODEV);
	}
	mutex_unlock(&rxm_lock);
}

/**
 * rxm_device_gone() - End the completion queues of endpoints whose device has gone
 * @domain: the domain of the device, of which all endpoints have been ended
 *
 * They end when all operations have: an empty queue says then that nothing completes any more.
 *
 * Context: any.
 */
void rxm_device_gone(struct rxm_domain *domain)
{
	queue_work(rxm_gone_wq, &domain->gone);
}

static int rxm_domain_close(struct fid *fid)
{
	struct rxm_domain *domain = to_rxm_domain(container_of(fid, struct fid_domain, fid));

	cancel_work_sync(&domain->gone);
	kofi_lower_close(&domain->lower->fid);
	kofi_mr_map_destroy(&domain->soft.mrs.map);
	kfree(domain);
	return 0;
}

static const struct fi_ops rxm_domain_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= rxm_domain_close,
	.bind		= fi_no_bind,
	.control	= fi_no_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static int rxm_domain_open(struct fid_fabric *fid_fabric, struct fi_info *info,
			   struct fid_domain **fid_domain, void *context)
{
	struct rxm_fabric *fabric = to_rxm_fabric(fid_fabric);
	struct fid_domain *lower;
	struct fi_info *lower_info;
	int ret, mr_mode;
	bool credits;
	u32 protocol;

	ret = rxm_lower_info(fabric, NULL, info, &lower_info);
	if (ret)
		return ret;
	ret = fi_domain(fabric->lower, lower_info, &lower, NULL);
	mr_mode = lower_info->domain_attr->mr_mode;
	protocol = lower_info->ep_attr->protocol;
	credits = lower_info->domain_attr->resource_mgmt != FI_RM_ENABLED;
	fi_freeinfo(lower_info);
	if (ret)
		return ret;
	ret = kofi_soft_domain_open(fid_fabric, info, fid_domain, context);
	if (ret) {
		kofi_lower_close(&lower->fid);
		return ret;
	}
	/* The map has the keys and addresses of lower regions */
	to_kofi_soft_domain(*fid_domain)->mrs.map.mr_mode = 0;
	to_rxm_domain(*fid_domain)->lower = lower;
	to_rxm_domain(*fid_domain)->mr_mode = mr_mode;
	to_rxm_domain(*fid_domain)->protocol = protocol;
	to_rxm_domain(*fid_domain)->credits = credits;
	INIT_WORK(&to_rxm_domain(*fid_domain)->gone, rxm_domain_gone);
	(*fid_domain)->mr = &rxm_mr_ops;
	(*fid_domain)->fid.ops = &rxm_domain_fid_ops;
	return 0;
}

static void rxm_av_removed(struct kofi_av *av, u32 index)
{
	kofi_soft_forget(&rxm_type, av, index);
}

static int rxm_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		       struct fid_av **av, void *context)
{
	return kofi_av_open(attr, to_kofi_soft_domain(domain)->addr_format, rxm_av_removed, av,
			    context);
}

static int rxm_scalable_ep(struct fid_domain *domain, struct fi_info *info,
			   struct fid_ep **sep, void *context)
{
	return kofi_refuse("scalable_ep", -ENOSYS, "the wire of rxm has no contexts");
}

static int rxm_srx_context(struct fid_domain *domain, struct fi_rx_attr *attr,
			   struct fid_ep **srx, void *context)
{
	return kofi_refuse("srx_context", -ENOSYS, "endpoints of the type FI_EP_RDM share no receives");
}

static int rxm_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
			    struct fi_atomic_attr *attr, u64 flags)
{
	return kofi_atomic_query(rxm_limits.max_atomic_size, datatype, op, attr, flags);
}

static const struct fi_ops_domain rxm_domain_ops = {
	.size		= sizeof(struct fi_ops_domain),
	.av_open	= rxm_av_open,
	.cq_open	= kofi_soft_cq_open,
	.endpoint	= rxm_endpoint,
	.scalable_ep	= rxm_scalable_ep,
	.cntr_open	= kofi_cntr_open,
	.stx_ctx	= fi_no_stx_ctx,
	.srx_ctx	= rxm_srx_context,
	.query_atomic	= rxm_query_atomic,
	.dma_device	= fi_no_dma_device,
};

/* Fabrics */

static int rxm_fabric_close(struct fid *fid)
{
	struct rxm_fabric *fabric = to_rxm_fabric(container_of(fid, struct fid_fabric, fid));

	kofi_lower_close(&fabric->lower->fid);
	mutex_lock(&rxm_lock);
	list_del(&fabric->soft.of_type);
	mutex_unlock(&rxm_lock);
	kfree(fabric);
	return 0;
}

static const struct fi_ops rxm_fabric_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= rxm_fabric_close,
	.bind		= fi_no_bind,
	.control	= fi_no_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

static int rxm_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
			  struct fid_pep **pep, void *context)
{
	return kofi_refuse("passive_ep", -EINVAL, "info->ep_attr->type is %d; only FI_EP_MSG listens, which this provider does not have",
			   info->ep_attr->type);
}

static const struct fi_ops_fabric rxm_fabric_ops = {
	.size		= sizeof(struct fi_ops_fabric),
	.domain		= rxm_domain_open,
	.passive_ep	= rxm_passive_ep,
	.eq_open	= kofi_soft_eq_open,
};

static int rxm_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fid_fabric,
			   void *context)
{
	struct fid_fabric *lower;
	struct rxm_fabric *fabric;
	size_t len;
	int ret;

	ret = kofi_lower_fabric(attr, &lower, NULL, &rxm_provider);
	if (ret)
		return ret;
	ret = kofi_soft_fabric_open(&rxm_type, attr, fid_fabric, context);
	if (ret) {
		kofi_lower_close(&lower->fid);
		return ret;
	}
	fabric = to_rxm_fabric(*fid_fabric);
	fabric->lower = lower;
	/* kofi_lower_fabric() has found a name in front of the last one */
	len = strrchr(attr->prov_name, ';') - attr->prov_name;
	strscpy(fabric->name, attr->prov_name, min(sizeof(fabric->name), len + 1));
	fabric->soft.fabric.fid.ops = &rxm_fabric_fid_ops;
	return 0;
}

struct kofi_provider rxm_provider = {
	.name		= RXM_NAME,
	.version	= RXM_VERSION,
	.getinfo	= rxm_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= rxm_fabric_open,
	.net_exit	= kofi_soft_net_exit,
	.owner		= THIS_MODULE,
};

static int __init rxm_init(void)
{
	int ret = -ENOMEM;

	rxm_limits_set();
	rxm_type.fabric = &rxm_fabric_ops;
	rxm_type.domain = &rxm_domain_ops;
	/* Writeback may wait for operations that the workers send */
	rxm_type.wq = alloc_workqueue("kofi_rxm", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rxm_type.wq)
		return ret;
	rxm_gone_wq = alloc_ordered_workqueue("kofi_rxm_gone", WQ_MEM_RECLAIM);
	if (!rxm_gone_wq)
		goto destroy_wq;
	ret = kofi_provider_register(KOFI_PROVIDER_VERSION, &rxm_provider);
	if (!ret)
		return 0;
	destroy_workqueue(rxm_gone_wq);
destroy_wq:
	destroy_workqueue(rxm_type.wq);
	return ret;
}
module_init(rxm_init);

static void __exit rxm_exit(void)
{
	kofi_provider_deregister(&rxm_provider);
	destroy_workqueue(rxm_gone_wq);
	destroy_workqueue(rxm_type.wq);
	/* Peers and regions that RCU frees */
	rcu_barrier();
}
module_exit(rxm_exit);

MODULE_DESCRIPTION("kOFI provider of reliable datagrams over connected endpoints");
MODULE_AUTHOR("the kOFI authors");
MODULE_VERSION("0.1");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_KOFI(RXM_NAME);
