/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites about memory regions on the fake HCA share.
 */
#ifndef _KUNIT_HCA_TEST_MR_H
#define _KUNIT_HCA_TEST_MR_H

#include "hca.h"

#define HM_REMOTE	(FI_REMOTE_READ | FI_REMOTE_WRITE)
#define HM_ORDER	3

/* As ht_open(), for a client that wants to be reached */
void hm_open(struct kunit *test, const struct fakehca_attr *attr);
/* hm_open(), and a listener */
void hm_serve(struct kunit *test, const struct fakehca_attr *attr);
/* Contiguous pages, 1 << HM_ORDER of them */
u8 *hm_pages(struct kunit *test);
/* What fi_mr_regv() answers; the region is closed with the case */
int hm_regv(struct kunit *test, const struct kvec *iov, size_t count,
	    u64 access, struct fid_mr **mr);
int hm_reg(struct kunit *test, void *buf, size_t len, struct fid_mr **mr);
/* A page, for single operations of an endpoint */
struct fid_mr *hm_reg_ep(struct kunit *test, struct fid_ep *ep);
/* Memory of its own for each: mappings that overlap are reported */
int hm_reg_any(struct kunit *test, struct fid_mr **mr);

#endif /* _KUNIT_HCA_TEST_MR_H */
