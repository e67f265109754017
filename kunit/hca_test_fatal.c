// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices that break or go away with operations posted: the client is told once,
 * every operation completes exactly once, and close works and ends.
 */
#include <rdma/ib_verbs.h>
#include "hca_test.h"

#define FATAL_OPS	8

/* Posts FATAL_OPS operations, 1 to FATAL_OPS, half of them receives */
static void fatal_post(struct kunit *test, struct ht_end *end)
{
	u8 *buf = ht_buf(test, (FATAL_OPS + 1) * 64);
	unsigned long i;

	for (i = 1; i <= FATAL_OPS; i++) {
		if (i % 2)
			KUNIT_ASSERT_EQ(test, fi_recv(end->ep, buf + i * 64, 64,
						      NULL, 0, ht_ctx(i)), 0);
		else
			KUNIT_ASSERT_EQ(test, fi_send(end->ep, buf + i * 64, 64,
						      NULL, 0, ht_ctx(i)), 0);
	}
}

static void fatal_begin(struct kunit *test, struct ht_pair *pair)
{
	ht_serve(test, NULL);
	ht_join(test, pair);
	fakehca_hold(ht_of(test)->hca);
	fatal_post(test, &pair->a);
	fatal_post(test, &pair->b);
}

static void fatal_expect_over(struct kunit *test, struct ht_end *end)
{
	ht_event(test, end->eq, FI_SHUTDOWN);
	ht_each_once(test, end->cq, FATAL_OPS, ECANCELED);
	KUNIT_EXPECT_EQ(test, fi_send(end->ep, NULL, 0, NULL, 0, NULL),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, fi_recv(end->ep, NULL, 0, NULL, 0, NULL),
			-ESHUTDOWN);
}

static void qp_fatal_shuts_both_ends_down(struct kunit *test)
{
	struct ht_pair pair = {};

	fatal_begin(test, &pair);

	KUNIT_EXPECT_EQ(test, fakehca_qp_fatal(ht_of(test)->hca, pair.a.qpn), 0);

	fatal_expect_over(test, &pair.a);
	fatal_expect_over(test, &pair.b);
	ht_no_event(test, pair.a.eq);
	ht_no_event(test, pair.b.eq);
}

static void qp_fatal_twice_is_told_once(struct kunit *test)
{
	struct ht_pair pair = {};

	fatal_begin(test, &pair);

	fakehca_qp_fatal(ht_of(test)->hca, pair.a.qpn);
	fakehca_qp_fatal(ht_of(test)->hca, pair.a.qpn);
	fakehca_qp_fatal(ht_of(test)->hca, pair.b.qpn);

	fatal_expect_over(test, &pair.a);
	fatal_expect_over(test, &pair.b);
	ht_close(test, &pair.a.ep->fid);
	ht_close(test, &pair.b.ep->fid);
	ht_no_event(test, pair.a.eq);
	ht_no_event(test, pair.b.eq);
}

static void qp_fatal_before_connect_fails_the_connect(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct ht_end end = {};

	ht_serve(test, NULL);
	ht_end_open(test, &end, ht->info);
	ht_end_enable(test, &end);
	KUNIT_ASSERT_EQ(test, fi_recv(end.ep, NULL, 0, NULL, 0, ht_ctx(1)), 0);

	fakehca_qp_fatal(ht->hca, end.qpn);

	ht_each_once(test, end.cq, 1, ECANCELED);
	KUNIT_EXPECT_EQ(test, fi_connect(end.ep, &ht->name, NULL, 0), 0);
	ht_error(test, end.eq);
	ht_no_event(test, end.eq);
}

static void qp_fatal_while_connecting_is_an_error(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct ht_end end = {};

	ht_serve(test, NULL);
	ht_end_open(test, &end, ht->info);
	ht_end_enable(test, &end);
	KUNIT_ASSERT_EQ(test, fi_connect(end.ep, &ht->name, NULL, 0), 0);
	ht_connreq(test);

	fakehca_qp_fatal(ht->hca, end.qpn);

	ht_error(test, end.eq);
	ht_no_event(test, end.eq);
}

static void shutdown_while_connecting_ends(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct ht_end end = {};

	ht_serve(test, NULL);
	ht_end_open(test, &end, ht->info);
	ht_end_enable(test, &end);
	KUNIT_ASSERT_EQ(test, fi_connect(end.ep, &ht->name, NULL, 0), 0);
	ht_connreq(test);

	KUNIT_EXPECT_EQ(test, fi_shutdown(end.ep, 0), 0);

	ht_error(test, end.eq);
	ht_no_event(test, end.eq);
}

/* On iWARP it takes until the peer, or the device for it, has answered */
static void close_while_connecting_ends(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct ht_end end = {};

	ht_serve(test, NULL);
	ht_end_open(test, &end, ht->info);
	ht_end_enable(test, &end);
	KUNIT_ASSERT_EQ(test, fi_connect(end.ep, &ht->name, NULL, 0), 0);
	ht_connreq(test);

	ht_end_close(test, &end);
}

static void qp_fatal_during_close_is_not_told(struct kunit *test)
{
	struct ht_pair pair = {};

	fatal_begin(test, &pair);

	fakehca_qp_fatal(ht_of(test)->hca, pair.a.qpn);
	ht_close(test, &pair.a.ep->fid);

	ht_no_event(test, pair.a.eq);
	ht_none(test, pair.a.cq);
	fatal_expect_over(test, &pair.b);
}

static void cq_error_shuts_its_endpoints_down(struct kunit *test)
{
	struct ht_pair pair = {};

	fatal_begin(test, &pair);

	KUNIT_EXPECT_EQ(test, fakehca_cq_error(ht_of(test)->hca, pair.b.qpn), 0);

	fatal_expect_over(test, &pair.a);
	fatal_expect_over(test, &pair.b);
}

static void port_down_hides_the_device_until_it_is_up(struct kunit *test)
{
	struct ht_pair pair = {};
	struct fi_info *info;

	ht_serve(test, NULL);
	ht_join(test, &pair);

	fakehca_port(ht_of(test)->hca, false);
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, ht_hints(test), &info), -ENODATA);
	fakehca_port(ht_of(test)->hca, true);
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, ht_hints(test), &info), 0);
	/* Connections outlive the port's pause, as on hardware */
	ht_ping(test, &pair.a, &pair.b);
	ht_no_event(test, pair.a.eq);
}

static void removal_begin(struct kunit *test)
{
	fakehca_remove_begin(ht_of(test)->hca);
}

static void removal_expect_dead(struct kunit *test, struct ht_end *end)
{
	struct fi_eq_err_entry error = ht_error(test, end->eq);

	KUNIT_EXPECT_EQ(test, error.err, ENODEV);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &end->ep->fid);
	ht_no_event(test, end->eq);
}

static void removal_completes_everything_once(struct kunit *test)
{
	struct ht_pair pair = {};

	fatal_begin(test, &pair);

	removal_begin(test);

	removal_expect_dead(test, &pair.a);
	removal_expect_dead(test, &pair.b);
	ht_each_once(test, pair.a.cq, FATAL_OPS, ECANCELED);
	ht_each_once(test, pair.b.cq, FATAL_OPS, ECANCELED);
}

static void removal_lets_close_work(struct kunit *test)
{
	struct ht_pair pair = {};

	fatal_begin(test, &pair);

	removal_begin(test);
	removal_expect_dead(test, &pair.a);

	ht_pair_close(test, &pair);
}

static void removal_of_an_enabled_endpoint(struct kunit *test)
{
	struct ht_end end = {};
	u8 *buf = ht_buf(test, 64);

	ht_serve(test, NULL);
	ht_end_open(test, &end, ht_of(test)->info);
	ht_end_enable(test, &end);
	KUNIT_ASSERT_EQ(test, fi_recv(end.ep, buf, 64, NULL, 0, ht_ctx(1)), 0);

	removal_begin(test);

	removal_expect_dead(test, &end);
	ht_each_once(test, end.cq, 1, ECANCELED);
	KUNIT_EXPECT_NE(test, fi_connect(end.ep, &ht_of(test)->name, NULL, 0),
			0);
}

static void removal_of_an_endpoint_not_enabled(struct kunit *test)
{
	struct ht_end end = {};

	ht_serve(test, NULL);
	ht_end_open(test, &end, ht_of(test)->info);

	removal_begin(test);

	removal_expect_dead(test, &end);
	KUNIT_EXPECT_EQ(test, fi_enable(end.ep), -ENODEV);
}

static void removal_while_connecting(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct ht_end end = {};

	ht_serve(test, NULL);
	ht_end_open(test, &end, ht->info);
	ht_end_enable(test, &end);
	KUNIT_ASSERT_EQ(test, fi_connect(end.ep, &ht->name, NULL, 0), 0);
	ht_connreq(test);

	removal_begin(test);

	removal_expect_dead(test, &end);
}

static void removal_hides_the_device(struct kunit *test)
{
	struct fid_domain *domain;
	struct fi_info *info;
	struct ht_end end = {};

	ht_serve(test, NULL);
	ht_end_open(test, &end, ht_of(test)->info);
	removal_begin(test);
	removal_expect_dead(test, &end);

	KUNIT_EXPECT_EQ(test, ht_getinfo(test, ht_hints(test), &info), -ENODATA);
	KUNIT_EXPECT_EQ(test, fi_domain(ht_of(test)->fabric, ht_of(test)->info,
					&domain, NULL), -ENODEV);
}

static void removal_refuses_new_endpoints(struct kunit *test)
{
	struct ht_end end = {};
	struct fid_ep *ep;

	ht_serve(test, NULL);
	ht_end_open(test, &end, ht_of(test)->info);
	removal_begin(test);
	removal_expect_dead(test, &end);

	KUNIT_EXPECT_EQ(test, fi_endpoint(ht_of(test)->domain, ht_of(test)->info,
					  &ep, NULL), -ENODEV);
}

static void another_device_after_the_removal(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct ht_pair pair = {}, again = {};

	fatal_begin(test, &pair);
	removal_begin(test);
	removal_expect_dead(test, &pair.a);
	ht_pair_close(test, &pair);
	ht_close(test, &ht->pep->fid);
	ht_close(test, &ht->eq->fid);
	ht_close(test, &ht->domain->fid);
	KUNIT_ASSERT_TRUE(test, fakehca_remove_wait(ht->hca, HT_PATIENCE_MS));
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, 0);
	ht_close(test, &ht->fabric->fid);
	fakehca_destroy(ht->hca);
	ht->hca = NULL;

	ht_serve(test, NULL);
	ht_join(test, &again);
	ht_ping(test, &again.a, &again.b);
}

static struct kunit_case fatal_cases[] = {
	KUNIT_CASE(qp_fatal_shuts_both_ends_down),
	KUNIT_CASE(qp_fatal_twice_is_told_once),
	KUNIT_CASE(qp_fatal_before_connect_fails_the_connect),
	KUNIT_CASE(qp_fatal_while_connecting_is_an_error),
	KUNIT_CASE(qp_fatal_during_close_is_not_told),
	KUNIT_CASE(cq_error_shuts_its_endpoints_down),
	KUNIT_CASE(port_down_hides_the_device_until_it_is_up),
	KUNIT_CASE(removal_completes_everything_once),
	KUNIT_CASE(removal_lets_close_work),
	KUNIT_CASE(removal_of_an_enabled_endpoint),
	KUNIT_CASE(removal_of_an_endpoint_not_enabled),
	KUNIT_CASE(removal_while_connecting),
	KUNIT_CASE(removal_hides_the_device),
	KUNIT_CASE(removal_refuses_new_endpoints),
	KUNIT_CASE(another_device_after_the_removal),
	KUNIT_CASE_SLOW(close_while_connecting_ends),
	KUNIT_CASE(shutdown_while_connecting_ends),
	{}
};

struct kunit_suite kofi_hca_fatal_suite = {
	.name		= "kofi_hca_fatal",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= fatal_cases,
};
