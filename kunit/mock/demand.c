// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An instance of the mock provider in a module of its own, which registers it
 * when it is loaded.  Nobody depends on this module, so that tests can see it
 * loaded on demand and unloaded.
 */
#include <linux/module.h>
#include "mock.h"

static struct mock *demand;

static int __init mock_demand_init(void)
{
	int err;

	demand = mock_create("demand", 1);
	if (!demand)
		return -ENOMEM;
	demand->provider.owner = THIS_MODULE;
	err = kofi_provider_register(KOFI_PROVIDER_VERSION, &demand->provider);
	if (err)
		mock_destroy(demand);
	return err;
}

static void __exit mock_demand_exit(void)
{
	kofi_provider_deregister(&demand->provider);
	mock_destroy(demand);
}

module_init(mock_demand_init);
module_exit(mock_demand_exit);
MODULE_ALIAS_KOFI("demand");
MODULE_DESCRIPTION("kOFI mock provider that is loaded on demand");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
