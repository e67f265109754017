// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_verbs: FI_EP_MSG endpoints on RC queue pairs and rdma_cm.
 *
 * verbs_init() finds the devices before it registers the provider, so that the first fi_getinfo()
 * sees them.  verbs_exit() deregisters the provider first, as that waits for the objects.
 */
#include <linux/module.h>
#include "verbs.h"

/* Ends connections after failed operations; storage may wait for it */
struct workqueue_struct *verbs_wq;

/* Of their own for drains and saves, which wait for work of verbs_wq */
struct workqueue_struct *verbs_drain_wq;
struct workqueue_struct *verbs_save_wq;

static struct kofi_provider verbs_provider = {
	.name		= VERBS_NAME,
	.version	= VERBS_VERSION,
	.getinfo	= verbs_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= verbs_fabric,
	.net_exit	= verbs_net_exit,
	.owner		= THIS_MODULE,
};

static int __init verbs_init(void)
{
	int ret;

	verbs_wq = alloc_workqueue("kofi_verbs", WQ_UNBOUND | WQ_MEM_RECLAIM,
				   0);
	if (!verbs_wq)
		return -ENOMEM;

	ret = -ENOMEM;
	verbs_drain_wq = alloc_workqueue("kofi_verbs_drain",
					 WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!verbs_drain_wq)
		goto destroy_wq;
	verbs_save_wq = alloc_workqueue("kofi_verbs_save", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!verbs_save_wq)
		goto destroy_drain_wq;
	ret = verbs_eps_init();
	if (ret)
		goto destroy_save_wq;
	ret = verbs_devices_init();
	if (ret)
		goto exit_eps;

	ret = kofi_provider_register(KOFI_PROVIDER_VERSION, &verbs_provider);
	if (ret)
		goto exit_devices;
	return 0;

exit_devices:
	verbs_devices_exit();
exit_eps:
	verbs_eps_exit();
destroy_save_wq:
	destroy_workqueue(verbs_save_wq);
destroy_drain_wq:
	destroy_workqueue(verbs_drain_wq);
destroy_wq:
	destroy_workqueue(verbs_wq);
	return ret;
}

static void __exit verbs_exit(void)
{
	kofi_provider_deregister(&verbs_provider);
	verbs_devices_exit();
	verbs_eps_exit();
	destroy_workqueue(verbs_save_wq);
	destroy_workqueue(verbs_drain_wq);
	destroy_workqueue(verbs_wq);
}

module_init(verbs_init);
module_exit(verbs_exit);

MODULE_DESCRIPTION("kOFI provider for RDMA devices");
MODULE_AUTHOR("the kOFI authors");
MODULE_VERSION("0.1");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_KOFI(VERBS_NAME);
