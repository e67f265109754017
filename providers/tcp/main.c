// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The module kofi_tcp.ko.
 *
 * An open fabric pins the module, so when it goes nothing is open.
 */
#include <linux/module.h>
#include <kofi/compat.h>
#include "tcp.h"

static struct kofi_provider ktcp_provider = {
	.name		= KTCP_NAME,
	.version	= KTCP_VERSION,
	.getinfo	= ktcp_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= ktcp_fabric,
	.net_exit	= kofi_soft_net_exit,
	/* What fabrics and domains were called before they had names of their own */
	.any_name	= KTCP_NAME,
	.owner		= THIS_MODULE,
};

static int __init ktcp_init(void)
{
	int ret;

	/* Writeback may wait for what is sent here */
	ktcp_wq = alloc_workqueue("kofi_tcp", WQ_HIGHPRI | WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	if (!ktcp_wq)
		return -ENOMEM;
	ktcp_type.wq = ktcp_wq;
	ktcp_ep_type.wq = ktcp_wq;
	ktcp_rdm_type.wq = ktcp_wq;
	ktcp_ctx_type.wq = ktcp_wq;
	ret = ktcp_ep_cache_init();
	if (ret)
		goto destroy_wq;
	ret = ktcp_link_cache_init();
	if (ret)
		goto exit_ep_cache;
	ret = ktcp_linger_init();
	if (ret)
		goto exit_link_cache;
	ret = ktcp_netdev_init();
	if (ret)
		goto exit_linger;
	ret = kofi_provider_register(KOFI_PROVIDER_VERSION, &ktcp_provider);
	if (ret)
		goto exit_netdev;
	ktcp_debugfs_init();
	return 0;

exit_netdev:
	ktcp_netdev_exit();
exit_linger:
	ktcp_linger_exit();
exit_link_cache:
	ktcp_link_cache_exit();
exit_ep_cache:
	ktcp_ep_cache_exit();
destroy_wq:
	destroy_workqueue(ktcp_wq);
	return ret;
}
module_init(ktcp_init);

static void __exit ktcp_exit(void)
{
	ktcp_debugfs_exit();
	kofi_provider_deregister(&ktcp_provider);
	ktcp_netdev_exit();
	/* Waits for sockets that linger, whose work items need the workqueue */
	ktcp_linger_exit();
	destroy_workqueue(ktcp_wq);
	ktcp_link_cache_exit();
	ktcp_ep_cache_exit();
	ktcp_reserves_exit();
	ktcp_reqs_exit();
	/* RCU may still be freeing regions */
	rcu_barrier();
}
module_exit(ktcp_exit);

MODULE_DESCRIPTION("kOFI provider for TCP");
MODULE_AUTHOR("the kOFI authors");
MODULE_VERSION("0.1");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_KOFI(KTCP_NAME);
