// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * KUnit suites of kofi_verbs.ko, for any RDMA device of this machine that has an
 * IPv4 and a global IPv6 address; rxe or siw will do.  They are clients: what they use
 * is include/rdma/, and rdma_cm itself where a peer must misbehave.
 */
#include <linux/module.h>
#include "verbs.h"

kunit_test_suites(&kofi_verbs_info_suite,
		  &kofi_verbs_why_suite,
		  &kofi_verbs_cm_suite,
		  &kofi_verbs_reject_suite,
		  &kofi_verbs_raw_suite,
		  &kofi_verbs_buf_suite,
		  &kofi_verbs_rma_suite,
		  &kofi_verbs_read_suite,
		  &kofi_verbs_rma_split_suite,
		  &kofi_verbs_rw_suite,
		  &kofi_verbs_rw_refuse_suite,
		  &kofi_verbs_limits_suite,
		  &kofi_verbs_mr_ep_suite,
		  &kofi_verbs_atomic_suite,
		  &kofi_verbs_cmraw_suite,
		  &kofi_verbs_tclass_suite,
		  &kofi_verbs_net_suite,
		  &kofi_verbs_sample_suite,
		  &kofi_verbs_post_suite,
		  &kofi_verbs_done_suite,
		  &kofi_verbs_queue_suite,
		  &kofi_verbs_error_suite,
		  &kofi_verbs_cntr_suite,
		  &kofi_verbs_srx_suite,
		  &kofi_verbs_srx_open_suite,
		  &kofi_verbs_refuse_suite,
		  &kofi_verbs_close_suite,
		  &kofi_verbs_ep_drain_suite,
		  &kofi_verbs_mr_suite,
		  &kofi_verbs_mr_limits_suite,
		  &kofi_verbs_save_suite,
		  &kofi_verbs_removal_suite);

MODULE_DESCRIPTION("KUnit tests of the kOFI provider for RDMA devices");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
