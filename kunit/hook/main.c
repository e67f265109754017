// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * KUnit suites of the hooks in providers/hook, over kofi_loop.  That a hook is as good a
 * provider as the one below it is for kunit/conformance to show.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit tests of the hooks of kOFI");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
