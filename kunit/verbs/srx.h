/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites about shared receive contexts share.
 */
#ifndef _KUNIT_VERBS_TEST_SRX_H
#define _KUNIT_VERBS_TEST_SRX_H

#include "verbs.h"

#define SRX_DEPTH	8
#define SRX_TX		4
#define SRX_LEN		64
#define SRX_PAIRS	3

/**
 * struct srx_set - A shared receive context and connections to its endpoints
 * @srx: the context
 * @eq: its event queue
 * @buf: a buffer of SRX_LEN for each receive; the context of a receive is its
 *	number
 * @pairs: connections; the endpoint b of each uses @srx
 */
struct srx_set {
	struct fid_ep	*srx;
	struct fid_eq	*eq;
	u8		*buf;
	struct vt_pair	pairs[SRX_PAIRS];
};

#define SRX_MANY	16	/* connections of a case that counts time */

/* srx_open.c: a accepted by b, which shares @srx */
void srx_join_pair(struct kunit *test, struct vt_pair *pair, struct fid_ep *srx);

struct fi_info *srx_hints(struct kunit *test);
struct fid_ep *srx_open(struct kunit *test, struct fi_rx_attr *attr);
struct fi_info *srx_plain(struct kunit *test);
void srx_serve(struct kunit *test, struct srx_set *set);
void srx_post(struct kunit *test, struct srx_set *set, unsigned long nr);
void srx_post_all(struct kunit *test, struct srx_set *set);
unsigned long srx_post_rest(struct kunit *test, struct srx_set *set);
void srx_join(struct kunit *test, struct srx_set *set, int nr, const struct vt_kind *kind);
void srx_send(struct kunit *test, struct srx_set *set, int nr, u8 seed);
unsigned long srx_arrived(struct kunit *test, struct srx_set *set, struct vt_cq *cq, u8 seed);

#endif /* _KUNIT_VERBS_TEST_SRX_H */
