// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_kfi: the contract of the kfi_* names.
 */
#include <linux/module.h>
#include "kfi.h"

kunit_test_suites(&kfi_flags_suite,
		  &kfi_tags_suite,
		  &kfi_multi_suite,
		  &kfi_cancel_suite,
		  &kfi_objects_suite,
		  &kfi_bulk_suite);

MODULE_DESCRIPTION("KUnit tests of kofi_kfi");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
