// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider ofi_hook_fault does to its client, on purpose, whatever a provider may do.
 *
 * Calls are refused, -EAGAIN among the errors; operations fail, connections end, completions
 * come late.  The API allows each of these faults, so a client that does not handle one has a
 * bug.  Without a rule (fault_rule.c) everything is forwarded.
 *
 * This file has the module and the calls that are no data transfers, which need no lock.
 */
#include <linux/module.h>
#include <kofi/compat.h>
#include "fault.h"

struct workqueue_struct *fault_wq;

int fault_control(unsigned int place)
{
	struct fault fault;

	return fault_decide(place, BIT(FAULT_ERROR), &fault) ? -(int)fault.value : 0;
}

static int fault_opens(u32 fclass)
{
	return fault_control(fclass == FI_CLASS_MR ? FAULT_MR : FAULT_OPEN);
}

static int fault_connect(struct fid_ep *ep, const void *addr, const void *param,
			 size_t paramlen)
{
	int ret = fault_control(FAULT_CONNECT);

	return ret ?: kofi_hook_cm.connect(ep, addr, param, paramlen);
}

static int fault_accept(struct fid_ep *ep, const void *param, size_t paramlen)
{
	int ret = fault_control(FAULT_ACCEPT);

	return ret ?: kofi_hook_cm.accept(ep, param, paramlen);
}

static void fault_init_obj(struct kofi_hook_obj *obj)
{
	if (obj->fid.fclass == FI_CLASS_CQ)
		fault_cq_init(to_fault_cq(obj));
	else
		fault_ep_init(to_fault_ep(obj));
}

static int fault_stop(struct kofi_hook_obj *obj)
{
	if (obj->fid.fclass == FI_CLASS_CQ)
		return fault_cq_stop(to_fault_cq(obj));
	return fault_ep_stop(to_fault_ep(obj));
}

/* A queue that stays open keeps no completion at this time, so it has nothing to resume */
static void fault_resume(struct kofi_hook_obj *obj)
{
	if (obj->fid.fclass != FI_CLASS_CQ)
		fault_ep_resume(to_fault_ep(obj));
}

static struct kofi_provider fault_provider;
static struct fi_ops_cm fault_cm;

static const struct kofi_hook fault_hook = {
	.provider	= &fault_provider,
	.cm		= &fault_cm,
	.ep_size	= sizeof(struct fault_ep),
	.cq_size	= sizeof(struct fault_cq),
	.opens		= fault_opens,
	.init		= fault_init_obj,
	.stop		= fault_stop,
	.resume		= fault_resume,
	.begin		= fault_begin,
	.end		= fault_end,
	.ready		= fault_ready,
	.complete	= fault_complete,
	.flush		= fault_flush,
};

static int fault_getinfo(u32 version, const char *node, const int service, u64 flags,
			 struct fi_info *hints, struct fi_info **info)
{
	return kofi_hook_getinfo(&fault_hook, version, node, service, flags, hints, info);
}

static int fault_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return kofi_hook_fabric(&fault_hook, attr, fabric, context);
}

static struct kofi_provider fault_provider = {
	.name		= "ofi_hook_fault",
	.version	= FI_VERSION(1, 0),
	.getinfo	= fault_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= fault_fabric,
	.owner		= THIS_MODULE,
};

static int __init fault_init(void)
{
	int ret;

	fault_cm = kofi_hook_cm;
	fault_cm.connect = fault_connect;
	fault_cm.accept = fault_accept;
	fault_wq = alloc_workqueue("kofi_hook_fault", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	if (!fault_wq)
		return -ENOMEM;
	ret = fault_rules_init();
	if (ret)
		goto destroy_wq;
	ret = kofi_provider_register(KOFI_PROVIDER_VERSION, &fault_provider);
	if (!ret)
		return 0;
	fault_rules_exit();
destroy_wq:
	destroy_workqueue(fault_wq);
	return ret;
}
module_init(fault_init);

static void __exit fault_exit(void)
{
	kofi_provider_deregister(&fault_provider);
	fault_rules_exit();
	destroy_workqueue(fault_wq);
}
module_exit(fault_exit);

MODULE_DESCRIPTION("kOFI hook that has calls and operations of any provider fail, for tests of clients");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_KOFI("ofi_hook_fault");
