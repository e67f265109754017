/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A hook that counts what is sent through it: "PROVIDER;ofi_hook_count".
 */
#ifndef _KUNIT_HOOK_H
#define _KUNIT_HOOK_H

#define HOOK_NAME	"ofi_hook_count"

/* Messages that have been accepted since the module was loaded */
unsigned long hook_sent(void);

/* The next endpoint, context or completion queue that is closed answers with this, and stays */
void hook_refuse_close(int err);

#endif /* _KUNIT_HOOK_H */
