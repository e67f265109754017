// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * KUnit suites for what only a fake HCA shows: DMA mappings, verbs that fail,
 * devices with hardly any resources, devices that break or go away.  But for the
 * suite of the device itself they are clients of kOFI and use include/rdma/ only.
 */
#include <linux/module.h>
#include "hca.h"

kunit_test_suites(&kofi_hca_device_suite,
		  &kofi_hca_info_suite,
		  &kofi_hca_dma_suite,
		  &kofi_hca_inject_suite,
		  &kofi_hca_post_suite,
		  &kofi_hca_fail_suite,
		  &kofi_hca_limits_suite,
		  &kofi_hca_fatal_suite,
		  &kofi_hca_drain_suite,
		  &kofi_hca_dim_suite,
		  &kofi_hca_ep_drain_suite,
		  &kofi_hca_remove_suite,
		  &kofi_hca_close_suite,
		  &kofi_hca_save_suite,
		  &kofi_hca_mr_suite,
		  &kofi_hca_mr_ep_suite,
		  &kofi_hca_read_region_suite,
		  &kofi_hca_atomic_suite,
		  &kofi_hca_reg_suite,
		  &kofi_hca_srx_suite,
		  &kofi_hca_last_wqe_suite,
		  &kofi_hca_split_suite,
		  &kofi_hca_rw_suite,
		  &kofi_hca_ready_suite,
		  &kofi_hca_context_suite,
		  &kofi_hca_p2p_suite,
		  &kofi_hca_pci_suite);

MODULE_DESCRIPTION("KUnit tests of kOFI on a fake HCA");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_SOFTDEP("pre: kofi_verbs kofi_hook_p2p nvme");
