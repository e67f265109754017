/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A connection of a case with itself on which both ends send all the time, until it ends.
 * Each operation is accounted for.
 *
 * From the start until load_expect_over() a case must not abort: KUNIT_EXPECT_* only.
 */
#ifndef _KUNIT_TCP_LOAD_H
#define _KUNIT_TCP_LOAD_H

#include "../lib/client.h"

struct load;

/* Connects a pair whose four queues are one */
void load_join(struct kunit *test, struct vt_pair *pair, const struct fi_cq_attr *attr);
/* Begins on such a pair; some operations have ended well then */
struct load *load_start(struct kunit *test, struct vt_pair *pair);
/* Waits until as many more have ended well; whether they have */
bool load_goes_on(struct load *load, unsigned long more);
/* Waits for the end: each operation has ended once then */
void load_expect_over(struct kunit *test, struct load *load);

#endif /* _KUNIT_TCP_LOAD_H */
