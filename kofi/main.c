// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The module kofi.ko: what is set up at load and taken down at unload.
 *
 * Providers and clients use symbols of this module, so it cannot be unloaded
 * before all of them are gone.  By then the registry and the list of objects
 * are empty; nothing is left to wait for.
 */
#include <linux/module.h>
#include <linux/netlink.h>
#include <net/genetlink.h>
#include <kofi/dmabuf.h>
#include <uapi/rdma/kofi_netlink.h>
#include "kofi.h"
#include "util/cq/cq.h"

u32 fi_version(void)
{
	return KOFI_API_VERSION;
}
EXPORT_SYMBOL_GPL(fi_version);

static int __init kofi_init(void)
{
	int ret;

	ret = kofi_eq_init();
	if (ret)
		return ret;
	ret = kofi_cq_run_init();
	if (ret)
		goto exit_eq;
	ret = kofi_ep_ready_init();
	if (ret)
		goto exit_cq;
	ret = IS_ENABLED(CONFIG_DMA_SHARED_BUFFER) ? kofi_dmabuf_init() : 0;
	if (ret)
		goto exit_ready;
	ret = kofi_nets_init();
	if (ret)
		goto exit_dmabuf;
	ret = kofi_objects_init();
	if (ret)
		goto exit_nets;
	ret = kofi_sysfs_init();
	if (ret)
		goto exit_objects;
	ret = kofi_netlink_init();
	if (ret)
		goto exit_sysfs;
	kofi_debugfs_init();
	return 0;

exit_sysfs:
	kofi_sysfs_exit();
exit_objects:
	kofi_objects_exit();
exit_nets:
	kofi_nets_exit();
exit_dmabuf:
	if (IS_ENABLED(CONFIG_DMA_SHARED_BUFFER))
		kofi_dmabuf_exit();
exit_ready:
	kofi_ep_ready_exit();
exit_cq:
	kofi_cq_run_exit();
exit_eq:
	kofi_eq_exit();
	return ret;
}

static void __exit kofi_exit(void)
{
	kofi_debugfs_exit();
	kofi_netlink_exit();
	kofi_sysfs_exit();
	kofi_objects_exit();
	kofi_nets_exit();
	if (IS_ENABLED(CONFIG_DMA_SHARED_BUFFER))
		kofi_dmabuf_exit();
	kofi_ep_ready_exit();
	kofi_cq_run_exit();
	kofi_eq_exit();
}

module_init(kofi_init);
module_exit(kofi_exit);

MODULE_DESCRIPTION("OpenFabrics Interfaces for the kernel: core");
MODULE_AUTHOR("the kOFI authors");
MODULE_VERSION("0.1");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_GENL_FAMILY(KOFI_GENL_NAME);
