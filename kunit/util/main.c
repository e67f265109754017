// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * KUnit suites of kofi/util, what providers share.  They test what include/kofi/
 * promises and take the place of the provider themselves.  Each suite stands in a file
 * named as the file that it tests, and registers itself.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit tests of what kOFI providers share");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
