/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Scalable endpoints of a case; sep.c and sep_end.c. */
#ifndef _KUNIT_CONFORMANCE_SEP_H
#define _KUNIT_CONFORMANCE_SEP_H

#include "conformance.h"

#define SEP_CTXS	4
#define SEP_BITS	3	/* one more bit than the contexts need */

/**
 * struct sep - A scalable endpoint, all of its contexts, and a queue for each
 * @sep: the scalable endpoint
 * @av: its address vector
 * @tx: transmit contexts
 * @rx: receive contexts
 * @tx_cq: completions of @tx
 * @rx_cq: completions of @rx
 */
struct sep {
	struct fid_ep	*sep;
	struct fid_av	*av;
	struct fid_ep	*tx[SEP_CTXS];
	struct fid_ep	*rx[SEP_CTXS];
	struct vt_cq	*tx_cq[SEP_CTXS];
	struct vt_cq	*rx_cq[SEP_CTXS];
};

/*
 * For conf_gen_rdm: the case goes on with a result that has contexts; false: it has seen that there
 * are none
 */
bool sep_wanted(struct kunit *test, u64 caps);
struct fid_av *sep_av(struct kunit *test);
/* Everything but fi_enable() */
void sep_open(struct kunit *test, struct sep *sep);
void sep_enable(struct kunit *test, struct sep *sep);
/* Inserts the address of an endpoint; returns what it has become */
fi_addr_t sep_know(struct kunit *test, struct fid_av *av, struct fid_ep *other);
/* Two of them, each of which is address 0 of the other */
void sep_join(struct kunit *test, struct sep *a, struct sep *b);
/* sep_wanted(), and sep_join() if so */
bool sep_begin(struct kunit *test, u64 caps, struct sep *a, struct sep *b);
/* A byte of @buf, which has 16, from a transmit context to a receive context gets there */
void sep_pass(struct kunit *test, struct sep *from, int tx, struct sep *to, int rx, u8 *buf);
/* No queue has a completion */
void sep_quiet(struct kunit *test, struct sep *sep);

#endif /* _KUNIT_CONFORMANCE_SEP_H */
