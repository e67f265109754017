// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices that break with operations posted: the client is told once, every
 * operation completes exactly once, and close works and ends.
 */
#include <linux/completion.h>
#include <rdma/fi_reason.h>
#include <rdma/ib_verbs.h>
#include "hca.h"

#define FATAL_OPS	8
#define FATAL_REFUSAL_MS 2000	/* longer than a peer is left to end a connection */

/* Posts FATAL_OPS operations, 1 to FATAL_OPS, half of them receives */
static void fatal_post(struct kunit *test, struct vt_end *end)
{
	u8 *buf = ht_buf(test, (FATAL_OPS + 1) * 64);
	unsigned long i;

	for (i = 1; i <= FATAL_OPS; i++) {
		if (i % 2)
			vt_recv(test, end, buf + i * 64, 64, vt_ctx(i));
		else
			vt_send(test, end, buf + i * 64, 64, vt_ctx(i));
	}
}

static void fatal_begin(struct kunit *test, struct vt_pair *pair)
{
	ht_connect(test, NULL, pair);
	fakehca_hold(ht_of(test)->hca);
	fatal_post(test, &pair->a);
	fatal_post(test, &pair->b);
}

static void fatal_expect_over(struct kunit *test, struct vt_end *end)
{
	vt_event(test, end->eq, FI_SHUTDOWN, NULL);
	ht_each_once(test, end->tx, FATAL_OPS, ECANCELED);
	KUNIT_EXPECT_EQ(test, fi_send(end->ep, NULL, 0, NULL, 0, NULL), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, fi_recv(end->ep, NULL, 0, NULL, 0, NULL), -ESHUTDOWN);
}

static void qp_fatal_shuts_both_ends_down(struct kunit *test)
{
	struct vt_pair pair = {};

	fatal_begin(test, &pair);

	KUNIT_EXPECT_EQ(test, fakehca_qp_fatal(ht_of(test)->hca, pair.a.qpn), 0);

	fatal_expect_over(test, &pair.a);
	fatal_expect_over(test, &pair.b);
	vt_no_event(test, pair.a.eq);
	vt_no_event(test, pair.b.eq);
}

static void qp_fatal_twice_is_told_once(struct kunit *test)
{
	struct vt_pair pair = {};

	fatal_begin(test, &pair);

	fakehca_qp_fatal(ht_of(test)->hca, pair.a.qpn);
	fakehca_qp_fatal(ht_of(test)->hca, pair.a.qpn);
	fakehca_qp_fatal(ht_of(test)->hca, pair.b.qpn);

	fatal_expect_over(test, &pair.a);
	fatal_expect_over(test, &pair.b);
	vt_close(test, &pair.a.ep->fid);
	vt_close(test, &pair.b.ep->fid);
	vt_no_event(test, pair.a.eq);
	vt_no_event(test, pair.b.eq);
}

static void qp_fatal_before_connect_fails_the_connect(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct vt_end end = {};

	ht_serve(test, NULL);
	ht_client(test, &end);
	vt_recv(test, &end, NULL, 0, vt_ctx(1));

	fakehca_qp_fatal(ht->hca, end.qpn);

	ht_each_once(test, end.tx, 1, ECANCELED);
	KUNIT_EXPECT_EQ(test, fi_connect(end.ep, &ht->vt.name, NULL, 0), 0);
	ht_error(test, end.eq);
	vt_no_event(test, end.eq);
}

/* Begins to connect; returns the request */
static struct fi_info *fatal_connect(struct kunit *test, struct vt_end *end)
{
	struct ht *ht = ht_of(test);

	ht_serve(test, NULL);
	ht_end_open(test, end, ht->vt.info);
	ht_end_enable(test, end);
	KUNIT_ASSERT_EQ(test, fi_connect(end->ep, &ht->vt.name, NULL, 0), 0);
	return vt_connreq(test, NULL);
}

static void qp_fatal_while_connecting_is_an_error(struct kunit *test)
{
	struct vt_end end = {};

	fatal_connect(test, &end);

	fakehca_qp_fatal(ht_of(test)->hca, end.qpn);

	/* At once, although the peer might still accept */
	KUNIT_EXPECT_EQ(test, ht_error(test, end.eq).err, ECONNABORTED);
	vt_no_event(test, end.eq);
}

/**
 * struct fatal_hold - Holds a connection request in the device
 * @entered: it is there
 * @go: it may go on
 */
struct fatal_hold {
	struct completion	entered;
	struct completion	go;
};

static void fatal_hold(void *context, const struct sockaddr_storage *to)
{
	struct fatal_hold *hold = context;

	complete(&hold->entered);
	wait_for_completion(&hold->go);
}

/* The work of one endpoint waits for its handler lock, which its connection request holds */
static void qp_fatal_of_one_endpoint_holds_up_no_other(struct kunit *test)
{
	struct fatal_hold *hold = ht_buf(test, sizeof(*hold));
	struct fakehca *hca;
	struct vt_end end = {}, held = {};
	struct fi_eq_entry entry;
	u32 event;

	fatal_connect(test, &end);
	hca = ht_of(test)->hca;
	ht_client(test, &held);
	init_completion(&hold->entered);
	init_completion(&hold->go);
	fakehca_on_connect(hca, fatal_hold, hold);
	vt_connect(test, &held, NULL, 0);
	wait_for_completion(&hold->entered);
	KUNIT_EXPECT_EQ(test, fakehca_qp_fatal(hca, held.qpn), 0);
	KUNIT_EXPECT_EQ(test, fakehca_qp_fatal(hca, end.qpn), 0);
	KUNIT_EXPECT_EQ(test, vt_eq_sread(end.eq, &event, &entry, sizeof(entry), 0), -FI_EAVAIL);

	complete(&hold->go);
	KUNIT_EXPECT_EQ(test, ht_error(test, end.eq).err, ECONNABORTED);
	ht_error(test, held.eq);
}

static void qp_fatal_after_a_refusal_is_not_told(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct vt_end end = {};
	struct fi_info *req = fatal_connect(test, &end);

	vt_recv(test, &end, NULL, 0, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_reject(ht->vt.pep, req->handle, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, ht_error(test, end.eq).err, ECONNREFUSED);
	ht_each_once(test, end.tx, 1, ECANCELED);

	KUNIT_EXPECT_EQ(test, fakehca_qp_fatal(ht->hca, end.qpn), 0);
	vt_no_event_for(test, end.eq, HT_QUIET_MS);
}

static void shutdown_while_connecting_ends(struct kunit *test)
{
	struct vt_end end = {};

	fatal_connect(test, &end);

	KUNIT_EXPECT_EQ(test, fi_shutdown(end.ep, 0), 0);

	ht_error(test, end.eq);
	vt_no_event(test, end.eq);
}

/* On iWARP it takes until the peer, or the device for it, has answered */
static void close_while_connecting_ends(struct kunit *test)
{
	struct vt_end end = {};

	fatal_connect(test, &end);

	vt_end_close(test, &end);
}

static void qp_fatal_during_close_is_not_told(struct kunit *test)
{
	struct vt_pair pair = {};

	fatal_begin(test, &pair);

	fakehca_qp_fatal(ht_of(test)->hca, pair.a.qpn);
	vt_close(test, &pair.a.ep->fid);

	vt_no_event(test, pair.a.eq);
	vt_none(test, pair.a.tx);
	fatal_expect_over(test, &pair.b);
}

/* Connects, and @b has refused something */
static void refusal_begin(struct kunit *test, struct vt_pair *pair)
{
	ht_connect(test, NULL, pair);
	vt_recv(test, &pair->b, NULL, 0, vt_ctx(2));
	fakehca_hold(ht_of(test)->hca);
	vt_send(test, &pair->a, NULL, 0, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fakehca_qp_access_err(ht_of(test)->hca, pair->b.qpn), 0);
	vt_no_event_for(test, pair->b.eq, HT_QUIET_MS);
	vt_none(test, pair->a.tx);
}

/* The peer gets the reason, however late the answer comes */
static void a_refusal_is_the_peers_to_end(struct kunit *test)
{
	struct vt_pair pair = {};

	refusal_begin(test, &pair);

	fakehca_fail(ht_of(test)->hca, FAKEHCA_SEND_WC, 1, IB_WC_REM_ACCESS_ERR);
	fakehca_release(ht_of(test)->hca);

	ht_failed(test, pair.a.tx, EACCES);
	vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
	vt_event(test, pair.b.eq, FI_SHUTDOWN, NULL);
}

static void a_refusal_that_the_peer_ignores_ends_the_connection(struct kunit *test)
{
	struct vt_pair pair = {};

	refusal_begin(test, &pair);

	vt_event(test, pair.b.eq, FI_SHUTDOWN, NULL);
	vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
	ht_failed(test, pair.a.tx, ECANCELED);
}

/* What the event would lead to later is left out, as nothing is posted any more */
static void a_refusal_behind_a_drain_goes_with_the_endpoint(struct kunit *test)
{
	struct vt_pair pair = {};

	ht_connect(test, NULL, &pair);
	KUNIT_ASSERT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);
	vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
	KUNIT_ASSERT_EQ(test, fakehca_qp_access_err(ht_of(test)->hca, pair.a.qpn), 0);
	vt_close(test, &pair.a.ep->fid);
	vt_no_event_for(test, pair.a.eq, FATAL_REFUSAL_MS);
}

static void cq_error_shuts_its_endpoints_down(struct kunit *test)
{
	struct vt_pair pair = {};

	fatal_begin(test, &pair);

	KUNIT_EXPECT_EQ(test, fakehca_cq_error(ht_of(test)->hca, pair.b.qpn), 0);

	fatal_expect_over(test, &pair.a);
	fatal_expect_over(test, &pair.b);
}

static void port_down_hides_the_device_until_it_is_up(struct kunit *test)
{
	struct vt_pair pair = {};
	struct fi_info *info;

	ht_connect(test, NULL, &pair);

	fakehca_port(ht_of(test)->hca, false);
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, ht_hints(test), &info), -ENODATA);
	fakehca_port(ht_of(test)->hca, true);
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, ht_hints(test), &info), 0);
	/* Connections outlive the port's pause, as on hardware */
	vt_ping(test, &pair.a, &pair.b);
	vt_no_event(test, pair.a.eq);
}

static void port_that_is_down_is_the_reason(struct kunit *test)
{
	struct fi_reason *reason;
	int count;

	reason = vt_buf(test, sizeof(*reason));
	ht_device(test, NULL);

	fakehca_port(ht_of(test)->hca, false);
	count = fi_getinfo_why(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), FAKEHCA_ADDR, 0,
			       FI_SOURCE, ht_hints(test), reason, 1);
	fakehca_port(ht_of(test)->hca, true);

	KUNIT_ASSERT_EQ(test, count, 1);
	KUNIT_EXPECT_EQ(test, reason->kind, FI_REASON_PROVIDER);
	KUNIT_EXPECT_STREQ(test, reason->domain_name, fakehca_name(ht_of(test)->hca));
	KUNIT_EXPECT_STREQ(test, reason->text, "port 1 is not active");
}

static struct kunit_case fatal_cases[] = {
	KUNIT_CASE(qp_fatal_shuts_both_ends_down),
	KUNIT_CASE(qp_fatal_twice_is_told_once),
	KUNIT_CASE(qp_fatal_before_connect_fails_the_connect),
	KUNIT_CASE(qp_fatal_while_connecting_is_an_error),
	KUNIT_CASE(qp_fatal_of_one_endpoint_holds_up_no_other),
	KUNIT_CASE(qp_fatal_after_a_refusal_is_not_told),
	KUNIT_CASE(qp_fatal_during_close_is_not_told),
	KUNIT_CASE(a_refusal_is_the_peers_to_end),
	KUNIT_CASE(a_refusal_that_the_peer_ignores_ends_the_connection),
	KUNIT_CASE(a_refusal_behind_a_drain_goes_with_the_endpoint),
	KUNIT_CASE(cq_error_shuts_its_endpoints_down),
	KUNIT_CASE(port_down_hides_the_device_until_it_is_up),
	KUNIT_CASE(port_that_is_down_is_the_reason),
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
