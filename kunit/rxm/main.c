// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_rxm: its wire, and peers that do not keep to it.
 */
#include <linux/module.h>
#include "rxm.h"

kunit_test_suites(&rxm_info_suite,
		  &rxm_cm_suite,
		  &rxm_data_suite,
		  &rxm_kept_suite,
		  &rxm_offer_suite,
		  &rxm_writes_suite,
		  &rxm_atomic_suite,
		  &rxm_idle_suite,
		  &rxm_bounds_suite,
		  &rxm_load_suite,
		  &rxm_calls_suite,
		  &rxm_credit_suite,
		  &rxm_corpus_suite);

MODULE_DESCRIPTION("KUnit tests of kofi_rxm");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
