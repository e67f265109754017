/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Differences between kernel versions, from 6.1 on.  Code reads as if it were
 * written for the newest kernel; each shim here carries the newest name.
 */
#ifndef _KOFI_COMPAT_H
#define _KOFI_COMPAT_H

#include <linux/version.h>

#endif /* _KOFI_COMPAT_H */
