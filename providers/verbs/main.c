// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_verbs: FI_EP_MSG endpoints on RC queue pairs and rdma_cm.
 *
 * verbs_init() finds the devices before it registers the provider, so that the first fi_getinfo()
 * sees them.  verbs_exit() deregisters the provider first, as that waits for the objects.
 */
#include <linux/module.h>
#include "cm.h"
#include "verbs.h"

static struct kofi_provider verbs_provider = {
	.name		= VERBS_NAME,
	.version	= VERBS_VERSION,
	.getinfo	= verbs_getinfo,
	.freeinfo	= fi_freeinfo,
	.fabric		= verbs_fabric_open,
	.net_exit	= verbs_net_exit,
	.owner		= THIS_MODULE,
};

static int __init verbs_init(void)
{
	int ret;

	ret = verbs_wqs_init();
	if (ret)
		return ret;
	ret = verbs_eps_init();
	if (ret)
		goto exit_wqs;
	ret = verbs_devices_init(verbs_connreqs_drop_device);
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
exit_wqs:
	verbs_wqs_exit();
	return ret;
}

static void __exit verbs_exit(void)
{
	kofi_provider_deregister(&verbs_provider);
	verbs_devices_exit();
	verbs_eps_exit();
	verbs_wqs_exit();
	kofi_connreqs_destroy(&verbs_connreqs);
}

module_init(verbs_init);
module_exit(verbs_exit);

MODULE_DESCRIPTION("kOFI provider for RDMA devices");
MODULE_AUTHOR("the kOFI authors");
MODULE_VERSION("0.1");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_KOFI(VERBS_NAME);
