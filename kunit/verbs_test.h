/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of kofi_verbs_test.ko share beside client.h.
 */
#ifndef _KUNIT_VERBS_TEST_H
#define _KUNIT_VERBS_TEST_H

#include <linux/inet.h>
#include "client.h"

extern struct kunit_suite kofi_verbs_info_suite;
extern struct kunit_suite kofi_verbs_cm_suite;
extern struct kunit_suite kofi_verbs_reject_suite;
extern struct kunit_suite kofi_verbs_state_suite;
extern struct kunit_suite kofi_verbs_raw_suite;
extern struct kunit_suite kofi_verbs_msg_suite;
extern struct kunit_suite kofi_verbs_buf_suite;
extern struct kunit_suite kofi_verbs_rma_suite;
extern struct kunit_suite kofi_verbs_mr_ep_suite;
extern struct kunit_suite kofi_verbs_atomic_suite;
extern struct kunit_suite kofi_verbs_cmraw_suite;
extern struct kunit_suite kofi_verbs_tclass_suite;
extern struct kunit_suite kofi_verbs_net_suite;
extern struct kunit_suite kofi_verbs_sample_suite;
extern struct kunit_suite kofi_verbs_post_suite;
extern struct kunit_suite kofi_verbs_done_suite;
extern struct kunit_suite kofi_verbs_queue_suite;
extern struct kunit_suite kofi_verbs_error_suite;
extern struct kunit_suite kofi_verbs_cq_suite;
extern struct kunit_suite kofi_verbs_handler_suite;
extern struct kunit_suite kofi_verbs_cntr_suite;
extern struct kunit_suite kofi_verbs_srx_suite;
extern struct kunit_suite kofi_verbs_refuse_suite;
extern struct kunit_suite kofi_verbs_close_suite;
extern struct kunit_suite kofi_verbs_mr_suite;
extern struct kunit_suite kofi_verbs_mr_limits_suite;

/* Connection data of the verbs provider, at most */
#define VT_CM_DATA	55

struct fi_info *vt_hints(struct kunit *test);
int vt_getinfo(struct kunit *test, const char *node, int service, u64 flags,
	       const struct fi_info *hints, struct fi_info **info);
bool vt_is_global(const struct fi_info *info);
struct fi_info *vt_local(struct kunit *test, int family,
			 const struct fi_info *hints);
void vt_open(struct kunit *test, int family, const struct fi_info *hints);
/* vt_open() and vt_listen() */
void vt_serve(struct kunit *test, int family, const struct fi_info *hints);

#endif /* _KUNIT_VERBS_TEST_H */
