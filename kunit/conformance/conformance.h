/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of kofi_conformance_test.ko share, beside client.h.
 *
 * Each case runs once for each result that fi_getinfo() has for FI_EP_MSG and FI_EP_RDM,
 * or for one of the two if it is about connections or about their absence; that result
 * is the case's parameter, a copy of it is vt_of(test)->info, and what it says is all that
 * a case knows.  The copy may be changed before conf_serve().
 */
#ifndef _KUNIT_CONFORMANCE_H
#define _KUNIT_CONFORMANCE_H

#include <linux/sizes.h>
#include <kofi/compat.h>
#include <rdma/fi_rma.h>
#include "../lib/calls.h"
#include "../lib/client.h"

/* What these suites know how to follow */
#define CONF_MODE	FI_RX_CQ_DATA
#define CONF_MR_MODE	(FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

#define CONF_ACCESS	(FI_SEND | FI_RECV | FI_READ | FI_WRITE | \
			 FI_REMOTE_READ | FI_REMOTE_WRITE)

extern struct kunit_suite conf_info_suite;
extern struct kunit_suite conf_hints_suite;
extern struct kunit_suite conf_cm_suite;
extern struct kunit_suite conf_av_suite;
extern struct kunit_suite conf_rdm_suite;
extern struct kunit_suite conf_sep_suite;
extern struct kunit_suite conf_sep_end_suite;
extern struct kunit_suite conf_open_suite;
extern struct kunit_suite conf_refuse_suite;
extern struct kunit_suite conf_msg_suite;
extern struct kunit_suite conf_shared_suite;
extern struct kunit_suite conf_flags_suite;
extern struct kunit_suite conf_limits_suite;
extern struct kunit_suite conf_many_suite;
extern struct kunit_suite conf_cq_suite;
extern struct kunit_suite conf_eq_suite;
extern struct kunit_suite conf_cntr_suite;
extern struct kunit_suite conf_rma_suite;
extern struct kunit_suite conf_mr_suite;
extern struct kunit_suite conf_mr_ep_suite;
extern struct kunit_suite conf_peer_memory_suite;
extern struct kunit_suite conf_rw_suite;
extern struct kunit_suite conf_order_suite;
extern struct kunit_suite conf_done_suite;
extern struct kunit_suite conf_handler_suite;
extern struct kunit_suite conf_post_suite;
extern struct kunit_suite conf_state_suite;
extern struct kunit_suite conf_atomic_suite;
extern struct kunit_suite conf_atomic_list_suite;
extern struct kunit_suite conf_tagged_suite;
extern struct kunit_suite conf_tagged_rma_suite;
extern struct kunit_suite conf_lent_suite;
extern struct kunit_suite conf_peek_suite;
extern struct kunit_suite conf_multi_suite;
extern struct kunit_suite conf_ready_suite;
extern struct kunit_suite conf_context_suite;
extern struct kunit_suite conf_drain_suite;
extern struct kunit_suite conf_errors_suite;
extern struct kunit_suite conf_close_suite;
extern struct kunit_suite conf_event_suite;
extern struct kunit_suite conf_key_suite;
extern struct kunit_suite conf_net_suite;
extern struct kunit_suite conf_pmem_suite;
extern struct kunit_suite conf_pmemlog_suite;

/* main.c: what there is to check */
const void *conf_gen_params(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc);
/*
 * Endpoints with connections only; if there are none, one without, so that the case sees that they
 * are refused: conf_is_msg()
 */
const void *conf_gen_msg(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc);
/*
 * Endpoints without connections only; if there are none, one with connections, so that
 * the case sees that they are refused: conf_is_rdm()
 */
const void *conf_gen_rdm(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc);
struct fi_info *conf_hints_new(enum fi_ep_type type);
int conf_init(struct kunit *test);

/**
 * struct conf_region - Remote memory of a case
 * @buf: the memory
 * @len: bytes of it
 * @mr: its registration
 * @addr: where a peer finds its first byte
 * @key: its key
 */
struct conf_region {
	u8		*buf;
	size_t		len;
	struct fid_mr	*mr;
	u64		addr;
	u64		key;
};

/* lib.c */
bool conf_has(struct kunit *test, u64 caps);
/* Its endpoints, or those below them, are of iWARP */
bool conf_is_iwarp(const struct fi_info *info);
/* For conf_gen_rdm; false: there are none, and the case has seen that */
bool conf_is_rdm(struct kunit *test);
/* As conf_is_rdm(), for conf_gen_msg */
bool conf_is_msg(struct kunit *test);
/*
 * Capabilities that a result need not have without being asked for: the case goes on with
 * a result that has them.  false: there is none, and the case has seen that.
 */
bool conf_want(struct kunit *test, u64 caps);
u64 conf_data(struct kunit *test);
void conf_serve(struct kunit *test);
/* conf_is_msg(), and conf_serve() if so */
bool conf_serve_msg(struct kunit *test);
void conf_join(struct kunit *test, struct vt_pair *pair);
/* Sleeping reader, entries that say tags */
extern const struct vt_kind conf_tagged_kind;
/* With queues that say tags; false: FI_TAGGED is not claimed, and is refused */
bool conf_tagged_join(struct kunit *test, struct vt_pair *pair);
/*
 * Shared receive contexts.  If the result claims them, conf_wants_shared() makes
 * the case ask for one, and conf_accept_shared() connects; @pair->b.srx is set.
 */
bool conf_wants_shared(struct kunit *test);
struct fid_ep *conf_srx(struct kunit *test);
void conf_accept_shared(struct kunit *test, struct vt_pair *pair);
/*
 * 8 bytes for which the peer has no receive.  false: not posted, as over iWARP one before
 * it has ended the connection (RFC 5041, 7.1).
 */
bool conf_send_untaken(struct kunit *test, struct fid_ep *ep, const void *buf, void *context);
/* Queues of at most @depth operations; to be called before conf_serve() */
void conf_shallow(struct kunit *test, size_t depth);
/* A copy of what the case was given, to be asked for again */
struct fi_info *conf_ask(struct kunit *test);
/* fi_getinfo() with these hints; the result is freed with the case */
int conf_getinfo(struct kunit *test, const struct fi_info *hints, struct fi_info **info);
/* The answer to the same with these default flags, or NULL: there is none */
struct fi_info *conf_with_flags(struct kunit *test, u64 tx_flags, u64 rx_flags);
/*
 * Does the result claim what the call carries: remote CQ data, a fence, a level of completion?
 * A provider may have a fence for messages and writes that it does not claim.
 */
bool conf_claims(struct kunit *test, const struct vt_call *call);
/* Such a call has its refusal */
void conf_refuses(struct kunit *test, struct fid_ep *ep, const struct vt_call *call);
/* What an object says of itself (kofi/stat.h), unless its provider has it say nothing */
void conf_says(struct kunit *test, struct fid *fid, const char *name, u64 want);
/* 0, and @mr is set, or why not */
int conf_reg(struct kunit *test, void *buf, size_t len, u64 access, struct fid_mr **mr);
void conf_region(struct kunit *test, struct conf_region *region, size_t len, u64 access);

static inline size_t conf_min_iov(struct kunit *test, size_t want)
{
	const struct fi_info *info = vt_of(test)->info;

	return min3(want, info->tx_attr->iov_limit, info->rx_attr->iov_limit);
}

#endif /* _KUNIT_CONFORMANCE_H */
