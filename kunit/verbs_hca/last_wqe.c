// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Many endpoints with a shared receive context, on a device that reports when a queue
 * pair takes no more receives, or does not: how long closes and a removal take.
 *
 * Time is that of the clock.  In User-Mode Linux a wait costs nothing, but counts.
 */
#include <linux/ktime.h>
#include "hca.h"

#define LW_DEPTH	4
#define LW_MANY		64	/* endpoints */
#define LW_WAIT_MS	1000	/* what the provider leaves a device for the event */

/**
 * struct lw - Endpoints that have accepted, with one shared receive context
 * @srx: the context
 * @cq: of all of them
 * @eq: of all of them
 * @peer: of each of them
 * @ep: the endpoints
 */
struct lw {
	struct fid_ep	*srx;
	struct vt_cq	*cq;
	struct fid_eq	*eq;
	struct vt_end	peer[LW_MANY];
	struct fid_ep	*ep[LW_MANY];
};

static struct lw *lw_open(struct kunit *test)
{
	struct lw *lw = ht_buf(test, sizeof(*lw));
	struct ht *ht = ht_of(test);

	ht_open(test, NULL);
	ht->vt.info->tx_attr->size = LW_DEPTH;
	ht->vt.info->rx_attr->size = LW_DEPTH;
	vt_listen(test, vt_eq(test, 0));
	KUNIT_ASSERT_EQ(test, fi_srx_context(ht->vt.domain, ht->vt.info->rx_attr,
					     &lw->srx, NULL), 0);
	vt_adopt(test, &lw->srx->fid);
	/* Peers have it for both directions */
	lw->cq = vt_cq(test, &vt_default_kind, LW_MANY * 3 * LW_DEPTH + LW_DEPTH);
	lw->eq = vt_eq(test, 0);
	return lw;
}

/* Enabled, in @lw->ep[nr] */
static void lw_end_open(struct kunit *test, struct lw *lw, int nr, struct fi_info *info)
{
	struct vt_end end = { .eq = lw->eq, .tx = lw->cq, .srx = lw->srx };

	info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	vt_end_open(test, &end, info, &vt_default_kind);
	lw->ep[nr] = end.ep;
}

static void lw_join(struct kunit *test, struct lw *lw, int nr)
{
	struct ht *ht = ht_of(test);
	struct vt_end *peer = &lw->peer[nr];

	peer->eq = ht->vt.eq;
	peer->tx = lw->cq;
	ht_end_open(test, peer, ht->vt.info);
	ht_end_enable(test, peer);
	KUNIT_ASSERT_EQ(test, fi_connect(peer->ep, &ht->vt.name, NULL, 0), 0);
	lw_end_open(test, lw, nr, vt_connreq(test, NULL));
	KUNIT_ASSERT_EQ(test, fi_accept(lw->ep[nr], NULL, 0), 0);
	vt_event(test, lw->eq, FI_CONNECTED, NULL);
	vt_event(test, ht->vt.eq, FI_CONNECTED, NULL);
}

/* Returns how long it took, in milliseconds */
static s64 lw_close(struct kunit *test, struct lw *lw, int nr)
{
	ktime_t begin = ktime_get();

	vt_close(test, &lw->ep[nr]->fid);
	return ktime_ms_delta(ktime_get(), begin);
}

static void removal_waits_once_for_all_endpoints(struct kunit *test)
{
	struct lw *lw = lw_open(test);
	ktime_t begin;
	s64 ms;
	int i;

	for (i = 0; i < LW_MANY; i++)
		lw_join(test, lw, i);
	fakehca_last_wqe(ht_of(test)->hca, false);
	begin = ktime_get();
	fakehca_remove_begin(ht_of(test)->hca);

	KUNIT_ASSERT_TRUE(test, fakehca_remove_wait(ht_of(test)->hca, 2 * LW_MANY * LW_WAIT_MS));

	ms = ktime_ms_delta(ktime_get(), begin);
	kunit_info(test, "%d endpoints removed in %lld ms\n", LW_MANY, ms);
	KUNIT_EXPECT_LT(test, ms, ht_removal_ms);
	ht_expect_clean(test);
}

static void closes_wait_once_for_a_device_that_never_reports(struct kunit *test)
{
	struct lw *lw = lw_open(test);
	s64 first, rest = 0;
	int i;

	for (i = 0; i < LW_MANY; i++)
		lw_join(test, lw, i);
	fakehca_last_wqe(ht_of(test)->hca, false);

	first = lw_close(test, lw, 0);
	for (i = 1; i < LW_MANY; i++)
		rest += lw_close(test, lw, i);

	kunit_info(test, "the first close took %lld ms, the next %d %lld ms\n",
		   first, LW_MANY - 1, rest);
	KUNIT_EXPECT_GE(test, first, LW_WAIT_MS * 9 / 10);
	KUNIT_EXPECT_LT(test, rest, ht_removal_ms);
}

static void a_device_that_has_reported_is_always_waited_for(struct kunit *test)
{
	struct lw *lw = lw_open(test);
	int i;

	for (i = 0; i < 3; i++)
		lw_join(test, lw, i);
	lw_close(test, lw, 0);
	fakehca_last_wqe(ht_of(test)->hca, false);

	for (i = 1; i < 3; i++)
		KUNIT_EXPECT_GE(test, lw_close(test, lw, i), LW_WAIT_MS * 9 / 10);
}

/* Its report counts, whether a close waits for it or not */
static void a_device_that_reports_late_is_waited_for_again(struct kunit *test)
{
	struct lw *lw = lw_open(test);
	struct ht *ht = ht_of(test);
	int i;

	for (i = 0; i < 3; i++)
		lw_join(test, lw, i);
	fakehca_last_wqe(ht->hca, false);
	KUNIT_EXPECT_GE(test, lw_close(test, lw, 0), LW_WAIT_MS * 9 / 10);
	fakehca_last_wqe(ht->hca, true);
	KUNIT_ASSERT_EQ(test, fi_shutdown(lw->ep[1], 0), 0);
	fakehca_idle(ht->hca);
	fakehca_last_wqe(ht->hca, false);

	KUNIT_EXPECT_GE(test, lw_close(test, lw, 2), LW_WAIT_MS * 9 / 10);
}

/* The device need not report it for a queue pair that was not ready to receive */
static void an_endpoint_that_never_stood_teaches_nothing(struct kunit *test)
{
	struct lw *lw = lw_open(test);
	struct ht *ht = ht_of(test);

	lw_join(test, lw, 0);
	fakehca_last_wqe(ht->hca, false);
	lw_end_open(test, lw, 1, vt_dup(test, ht->vt.info));
	KUNIT_ASSERT_EQ(test, fi_connect(lw->ep[1], &ht->vt.name, NULL, 0), 0);
	vt_connreq(test, NULL);
	lw_close(test, lw, 1);

	KUNIT_EXPECT_GE(test, lw_close(test, lw, 0), LW_WAIT_MS * 9 / 10);
}

static struct kunit_case last_wqe_cases[] = {
	KUNIT_CASE(removal_waits_once_for_all_endpoints),
	KUNIT_CASE(closes_wait_once_for_a_device_that_never_reports),
	KUNIT_CASE(a_device_that_has_reported_is_always_waited_for),
	KUNIT_CASE(a_device_that_reports_late_is_waited_for_again),
	KUNIT_CASE(an_endpoint_that_never_stood_teaches_nothing),
	{}
};

struct kunit_suite kofi_hca_last_wqe_suite = {
	.name		= "kofi_hca_last_wqe",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= last_wqe_cases,
};
