// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi_pmemlog.ko: the log of pmemlog.h, for other modules.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("A log in the persistent memory of other machines, over kOFI");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
