// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * KUnit suites of kofi.ko.  They test what include/rdma/ and include/kofi/
 * promise, with the mock provider on the other side; nothing private to the
 * core is used.
 */
#include <linux/module.h>
#include "core_test.h"

kunit_test_suites(&kofi_registry_suite,
		  &kofi_race_suite,
		  &kofi_lifetime_suite,
		  &kofi_bind_suite,
		  &kofi_complete_suite,
		  &kofi_refusal_suite,
		  &kofi_nomem_suite,
		  &kofi_module_suite,
		  &kofi_getinfo_suite,
		  &kofi_eq_suite,
		  &kofi_eq_wait_suite,
		  &kofi_cq_suite,
		  &kofi_cq_wait_suite,
		  &kofi_cntr_suite,
		  &kofi_cntr_ep_suite,
		  &kofi_transfer_suite,
		  &kofi_info_suite,
		  &kofi_match_suite,
		  &kofi_narrow_suite,
		  &kofi_tostr_suite);

MODULE_DESCRIPTION("KUnit tests of the kOFI core");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
