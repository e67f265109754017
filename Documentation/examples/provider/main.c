// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The module, and the tables of fabrics and domains, most of which kofi/soft.h fills.
 */
#include <linux/module.h>
#include "example.h"

/* Names, connections and requests; see example.h */
DEFINE_MUTEX(ex_lock);

static const struct fi_ops_fabric ex_fabric_ops = {
	.size		= sizeof(struct fi_ops_fabric),
	.domain		= kofi_soft_domain_open,
	.passive_ep	= ex_passive_ep,
	.eq_open	= kofi_soft_eq_open,
};

static const struct fi_ops_domain ex_domain_ops = {
	.size		= sizeof(struct fi_ops_domain),
	.av_open	= fi_no_av_open,
	.cq_open	= kofi_soft_cq_open,
	.endpoint	= ex_endpoint,
	.scalable_ep	= fi_no_scalable_ep,
	.cntr_open	= kofi_cntr_open,
	.stx_ctx	= fi_no_stx_ctx,
	.srx_ctx	= fi_no_srx_ctx,
	.query_atomic	= fi_no_query_atomic,
	.dma_device	= fi_no_dma_device,
};

/* ex_endpoint() opens nothing that shares receives, so nothing joins */
static void ex_join(struct kofi_soft_ep *soft, bool join)
{
	WARN_ON_ONCE(1);
}

struct kofi_soft_type ex_type = {
	.lock		= &ex_lock,
	.fabric		= &ex_fabric_ops,
	.domain		= &ex_domain_ops,
	.own_rx		= &ex_srx_ops,
	.mr_mode	= EX_MR_MODE,
	.op_size	= sizeof(struct kofi_soft_op),
	.max_queue	= EX_MAX_QUEUE,
	.max_msg	= EX_MAX_MSG,
	.work		= ex_work,
	.event_room	= ex_event_room,
	.join		= ex_join,
	.shut		= ex_shut,
	.gone		= ex_gone,
	.close		= ex_close,
	.free		= ex_free,
	.fabrics	= LIST_HEAD_INIT(ex_type.fabrics),
};

static int ex_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		     void *context)
{
	return kofi_soft_fabric_open(&ex_type, attr, fabric, context);
}

/* guide: register */
static struct kofi_provider ex_provider = {
	.name		= EX_NAME,
	.version	= FI_VERSION(1, 0),
	.getinfo	= ex_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= ex_fabric,
	.net_exit	= kofi_soft_net_exit,
	.owner		= THIS_MODULE,
};

static int __init ex_init(void)
{
	int ret;

	/* Writeback may wait for what is sent here */
	ex_type.wq = alloc_workqueue("kofi_example", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!ex_type.wq)
		return -ENOMEM;
	ret = kofi_provider_register(KOFI_PROVIDER_VERSION, &ex_provider);
	if (ret)
		destroy_workqueue(ex_type.wq);
	return ret;
}

static void __exit ex_exit(void)
{
	kofi_provider_deregister(&ex_provider);
	destroy_workqueue(ex_type.wq);
	ex_reqs_exit();
	/* Regions that RCU frees */
	rcu_barrier();
}

module_init(ex_init);
module_exit(ex_exit);

MODULE_DESCRIPTION("kOFI provider outside the tree");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_KOFI(EX_NAME);
/* guide: end */
