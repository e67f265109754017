// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * KUnit suites of kofi.ko.  They test what include/rdma/ and include/kofi/
 * promise, with the mock provider on the other side; nothing private to the
 * core is used.
 *
 * Suites about objects run a second time over a hook, which has to be as good a provider
 * as the one below it: all that differs is the init function.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "core.h"

/* A suite over a hook; KUnit keeps results in the cases, so it has cases of its own */
static struct hooked {
	struct kunit_suite		suite;
	const struct kunit_suite	*plain;
} hooked[] = {
	{ .plain = &kofi_lifetime_suite },
	{ .plain = &kofi_bind_suite },
	{ .plain = &kofi_eq_suite },
	{ .plain = &kofi_eq_wait_suite },
	{ .plain = &kofi_cq_suite },
	{ .plain = &kofi_cntr_suite },
	{ .plain = &kofi_cntr_ep_suite },
	{ .plain = &kofi_transfer_suite },
	{ .plain = &kofi_nomem_suite },
};

kunit_test_suites(&kofi_av_suite,
		  &kofi_class_suite,
		  &kofi_context_suite,
		  &kofi_registry_suite,
		  &kofi_race_suite,
		  &kofi_lifetime_suite,
		  &kofi_bind_suite,
		  &kofi_complete_suite,
		  &kofi_refusal_suite,
		  &kofi_nomem_suite,
		  &kofi_module_suite,
		  &kofi_getinfo_suite,
		  &kofi_why_suite,
		  &kofi_layers_suite,
		  &kofi_net_suite,
		  &kofi_netlink_suite,
		  &kofi_netlink_objects_suite,
		  &kofi_sysfs_suite,
		  &kofi_eq_suite,
		  &kofi_eq_wait_suite,
		  &kofi_cq_suite,
		  &kofi_cntr_suite,
		  &kofi_cntr_ep_suite,
		  &kofi_transfer_suite,
		  &kofi_info_suite,
		  &kofi_match_suite,
		  &kofi_match_own_suite,
		  &kofi_apply_hints_suite,
		  &kofi_tostr_suite,
		  &kofi_values_suite,
		  &hooked[0].suite, &hooked[1].suite, &hooked[2].suite,
		  &hooked[3].suite, &hooked[4].suite, &hooked[5].suite,
		  &hooked[6].suite, &hooked[7].suite, &hooked[8].suite);

static struct kunit_case *copy_cases(const struct kunit_case *cases)
{
	size_t count = 0;

	while (cases[count].run_case)
		count++;
	return kmemdup(cases, (count + 1) * sizeof(*cases), GFP_KERNEL);
}

static void core_free_hooked(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooked); i++)
		kfree(hooked[i].suite.test_cases);
}

/* KUnit looks at the suites when the module is live, which is after this */
static int __init core_test_init(void)
{
	struct kunit_suite *suite;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooked); i++) {
		suite = &hooked[i].suite;
		strscpy((char *)suite->name, hooked[i].plain->name, sizeof(suite->name));
		strlcat((char *)suite->name, "_hooked", sizeof(suite->name));
		suite->init = core_init_hooked;
		suite->exit = hooked[i].plain->exit;
		suite->suite_init = hooked[i].plain->suite_init;
		suite->suite_exit = hooked[i].plain->suite_exit;
		suite->test_cases = copy_cases(hooked[i].plain->test_cases);
		if (!suite->test_cases)
			goto err_free;
	}
	return 0;

err_free:
	core_free_hooked();
	return -ENOMEM;
}

static void __exit core_test_exit(void)
{
	core_free_hooked();
}

module_init(core_test_init);
module_exit(core_test_exit);
MODULE_DESCRIPTION("KUnit tests of the kOFI core");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
