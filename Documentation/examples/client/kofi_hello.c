// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/module.h>
#include <rdma/fabric.h>

static int __init hello_init(void)
{
	struct fi_info *info;
	int ret = fi_getinfo(FI_VERSION(2, 6), NULL, 0, 0, NULL, &info);

	if (ret)
		return ret;
	pr_info("hello %s\n", info->fabric_attr->prov_name);
	fi_freeinfo(info);
	return 0;
}

static void __exit hello_exit(void)
{
}

module_init(hello_init);
module_exit(hello_exit);
MODULE_DESCRIPTION("hello");
MODULE_LICENSE("Dual BSD/GPL");
