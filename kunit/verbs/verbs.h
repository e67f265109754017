/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of kofi_verbs_test.ko share beside client.h.
 */
#ifndef _KUNIT_VERBS_TEST_H
#define _KUNIT_VERBS_TEST_H

#include <linux/inet.h>
#include "../lib/client.h"

extern struct kunit_suite kofi_verbs_info_suite;
extern struct kunit_suite kofi_verbs_why_suite;
extern struct kunit_suite kofi_verbs_cm_suite;
extern struct kunit_suite kofi_verbs_reject_suite;
extern struct kunit_suite kofi_verbs_raw_suite;
extern struct kunit_suite kofi_verbs_buf_suite;
extern struct kunit_suite kofi_verbs_rma_suite;
extern struct kunit_suite kofi_verbs_read_suite;
extern struct kunit_suite kofi_verbs_rma_split_suite;
extern struct kunit_suite kofi_verbs_rw_suite;
extern struct kunit_suite kofi_verbs_rw_refuse_suite;
extern struct kunit_suite kofi_verbs_limits_suite;
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
extern struct kunit_suite kofi_verbs_cntr_suite;
extern struct kunit_suite kofi_verbs_srx_suite;
extern struct kunit_suite kofi_verbs_srx_open_suite;
extern struct kunit_suite kofi_verbs_refuse_suite;
extern struct kunit_suite kofi_verbs_close_suite;
extern struct kunit_suite kofi_verbs_ep_drain_suite;
extern struct kunit_suite kofi_verbs_mr_suite;
extern struct kunit_suite kofi_verbs_mr_limits_suite;
extern struct kunit_suite kofi_verbs_save_suite;
extern struct kunit_suite kofi_verbs_removal_suite;

/* Connection data of the verbs provider, at most */
#define VT_CM_DATA	55

struct fi_info *vt_hints(struct kunit *test);
/* With remote memory access */
struct fi_info *vt_rma_hints(struct kunit *test);
int vt_getinfo(struct kunit *test, const char *node, int service, u64 flags,
	       const struct fi_info *hints, struct fi_info **info);
bool vt_is_global(const struct fi_info *info);
struct fi_info *vt_local(struct kunit *test, int family, const struct fi_info *hints);
void vt_open(struct kunit *test, int family, const struct fi_info *hints);
/* vt_open() and vt_listen() */
void vt_serve(struct kunit *test, int family, const struct fi_info *hints);
/* vt_serve() by IPv4, and a connection */
void vt_serve_pair(struct kunit *test, const struct fi_info *hints, struct vt_pair *pair);

/*
 * What a case has to know of its device, once it is open, as fi_getinfo() tells.
 * What the device does not have is refused, and the cases see to that.
 */
static inline const struct fi_info *vt_info(struct kunit *test)
{
	return vt_of(test)->info;
}

/* Remote CQ data */
static inline bool vt_has_data(struct kunit *test)
{
	return vt_info(test)->domain_attr->cq_data_size;
}

/* A message waits for its receive; else it ends the connection */
static inline bool vt_has_patience(struct kunit *test)
{
	return vt_info(test)->domain_attr->resource_mgmt == FI_RM_ENABLED;
}

/*
 * iWARP: sends and writes complete when TCP has them, whatever the peer makes of
 * them, and of a request that the peer refuses nobody hears but by the end of the
 * connection.
 */
static inline bool vt_is_iwarp(struct kunit *test)
{
	return vt_info(test)->ep_attr->protocol == FI_PROTO_IWARP;
}

/* fi_senddata(), or fi_send() if that is refused; returns what will arrive */
u64 vt_senddata(struct kunit *test, struct vt_end *end, void *buf, size_t len,
		u64 data, void *context);
/* The operation of @context was a send or write that the peer does not take */
void vt_not_taken(struct kunit *test, struct vt_end *end, void *context, int err);

#endif /* _KUNIT_VERBS_TEST_H */
