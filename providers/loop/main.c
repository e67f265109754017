// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The module kofi_loop.ko.
 *
 * An open fabric pins the module, so nothing is open when the module is unloaded.
 */
#include <linux/module.h>
#include "loop.h"

static struct kofi_provider loop_provider = {
	.name		= LOOP_NAME,
	.version	= LOOP_VERSION,
	.getinfo	= loop_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= loop_fabric,
	.net_exit	= kofi_soft_net_exit,
	.owner		= THIS_MODULE,
};

static int __init loop_init(void)
{
	int ret;

	ret = loop_names_init();
	if (ret)
		return ret;
	ret = -ENOMEM;
	/* Writeback may wait for operations that the workers execute */
	loop_type.wq = alloc_workqueue("kofi_loop", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!loop_type.wq)
		goto exit_names;
	ret = kofi_provider_register(KOFI_PROVIDER_VERSION, &loop_provider);
	if (ret)
		goto destroy_wq;
	return 0;

destroy_wq:
	destroy_workqueue(loop_type.wq);
exit_names:
	loop_names_exit();
	return ret;
}
module_init(loop_init);

static void __exit loop_exit(void)
{
	kofi_provider_deregister(&loop_provider);
	destroy_workqueue(loop_type.wq);
	loop_reqs_exit();
	loop_names_exit();
	/* Regions that RCU frees */
	rcu_barrier();
}
module_exit(loop_exit);

MODULE_DESCRIPTION("kOFI provider for endpoints of one kernel");
MODULE_AUTHOR("the kOFI authors");
MODULE_VERSION("0.1");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_KOFI(LOOP_NAME);
