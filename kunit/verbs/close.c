// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The end of endpoints, and of what is posted to them: in every state they can be in,
 * with and without work posted, next to others that go on.
 */
#include "verbs.h"

#define VT_POSTED	16

/**
 * struct vt_stage - A state to close an endpoint in
 * @name: of the state
 * @reach: takes the ends to it; @end is the one to be closed
 */
struct vt_stage {
	const char	*name;
	void		(*reach)(struct kunit *test, struct vt_end *end, struct vt_end *peer);
};

static void post_receives(struct kunit *test, struct vt_end *end)
{
	u8 *buf = vt_buf(test, 5000);
	int i;

	for (i = 0; i < VT_POSTED; i++)
		vt_recv(test, end, buf, 5000, vt_ctx(i));
}

static void post_sends(struct kunit *test, struct vt_end *end)
{
	u8 *buf = vt_buf(test, 5000);
	int i;

	for (i = 0; i < VT_POSTED; i++)
		vt_send(test, end, buf, 5000, vt_ctx(i));
}

static void join(struct kunit *test, struct vt_end *a, struct vt_end *b)
{
	struct vt_pair pair = { .a = *a, .b = *b };

	vt_join(test, &pair, &vt_default_kind);
	*a = pair.a;
	*b = pair.b;
}

static void reach_open(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	end->ep = vt_ep(test, vt_of(test)->info);
}

static void reach_bound(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	reach_open(test, end, peer);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(end->ep, &end->eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(end->ep, &end->tx->cq->fid, FI_TRANSMIT | FI_RECV), 0);
}

static void reach_enabled(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	vt_client(test, end, &vt_default_kind);
}

static void reach_receiving(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	reach_enabled(test, end, peer);
	post_receives(test, end);
}

static void reach_resolving(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	reach_receiving(test, end, peer);
	vt_connect(test, end, NULL, 0);
}

static void reach_connecting(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	reach_resolving(test, end, peer);
	vt_connreq(test, NULL);
}

/* Linux believes that this one is a neighbour, but nobody answers */
static void reach_nobody(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	struct sockaddr_in nobody = {
		.sin_family		= AF_INET,
		.sin_port		= htons(7471),
		.sin_addr.s_addr	= htonl(0xc0000201),
	};

	reach_receiving(test, end, peer);
	KUNIT_ASSERT_EQ(test, fi_connect(end->ep, &nobody, NULL, 0), 0);
}

static void reach_requested(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	vt_end_open(test, end, vt_dial(test, peer), &vt_default_kind);
	post_receives(test, end);
}

static void reach_accepting(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	reach_requested(test, end, peer);
	KUNIT_ASSERT_EQ(test, fi_accept(end->ep, NULL, 0), 0);
}

static void reach_rejected(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	struct fi_eq_err_entry error = {};
	struct fi_info *info;

	reach_resolving(test, end, peer);
	info = vt_connreq(test, NULL);
	KUNIT_ASSERT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, NULL, 0), 0);
	vt_error(test, end->eq, &error);
}

/* The event of the refusal is still in the queue */
static void reach_rejected_unread(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	union vt_event event;
	struct fi_info *info;
	u32 got;

	reach_resolving(test, end, peer);
	info = vt_connreq(test, NULL);
	KUNIT_ASSERT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, NULL, 0), 0);
	KUNIT_ASSERT_EQ(test, vt_eq_sread(end->eq, &got, &event, sizeof(event),
					  FI_PEEK), -FI_EAVAIL);
}

static void reach_connected(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	join(test, end, peer);
	post_receives(test, end);
}

static void reach_accepted(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	join(test, peer, end);
	post_receives(test, end);
}

static void reach_busy(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	reach_connected(test, end, peer);
	post_receives(test, peer);
	post_sends(test, end);
	post_sends(test, peer);
}

static void reach_stuck(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	reach_connected(test, end, peer);
	post_sends(test, end);
}

static void reach_shut_down(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	reach_connected(test, end, peer);
	KUNIT_ASSERT_EQ(test, fi_shutdown(end->ep, 0), 0);
}

static void reach_left(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	reach_connected(test, end, peer);
	KUNIT_ASSERT_EQ(test, fi_shutdown(peer->ep, 0), 0);
	vt_event(test, end->eq, FI_SHUTDOWN, NULL);
}

static void reach_broken(struct kunit *test, struct vt_end *end, struct vt_end *peer)
{
	u8 *buf = vt_buf(test, 5001);

	join(test, end, peer);
	vt_recv(test, end, buf, 8, vt_ctx(0));
	vt_send(test, peer, buf, 5000, NULL);
	vt_failed(test, end->rx);
}

static const struct vt_stage vt_stages[] = {
	{ "open", reach_open },
	{ "bound", reach_bound },
	{ "enabled", reach_enabled },
	{ "enabled, receives posted", reach_receiving },
	{ "resolving", reach_resolving },
	{ "connecting", reach_connecting },
	{ "connecting to nobody", reach_nobody },
	{ "opened from a request", reach_requested },
	{ "accepting", reach_accepting },
	{ "rejected", reach_rejected },
	{ "rejected, event unread", reach_rejected_unread },
	{ "connected", reach_connected },
	{ "accepted", reach_accepted },
	{ "connected, traffic in flight", reach_busy },
	{ "connected, sends stuck", reach_stuck },
	{ "after its own shutdown", reach_shut_down },
	{ "after the peer's shutdown", reach_left },
	{ "after an error", reach_broken },
};

KUNIT_ARRAY_PARAM_DESC(vt_stage, vt_stages, name);

static void check_drain(struct kunit *test, const struct vt_stage *stage, struct vt_end *end)
{
	int ret = vt_ep_drain(end->ep);
	u8 *buf = vt_buf(test, 8);

	/* There is nothing to be drained */
	if (stage->reach == reach_open || stage->reach == reach_bound) {
		KUNIT_EXPECT_EQ(test, ret, -FI_EOPBADSTATE);
		return;
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, fi_recv(end->ep, buf, 8, NULL, 0, NULL), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, fi_send(end->ep, buf, 8, NULL, 0, NULL), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(end->ep, 0), 0);
}

/* Nothing of it is left, and others connect */
static void close_in_state(struct kunit *test, bool drain)
{
	const struct vt_stage *stage = test->param_value;
	struct vt_end end = {}, peer = {};
	struct vt_pair after = {};
	struct fi_info *info;

	vt_serve(test, AF_INET, NULL);
	info = vt_of(test)->info;
	end.eq = vt_eq(test, 0);
	/* Room for one endpoint */
	end.tx = vt_cq(test, &vt_default_kind, info->tx_attr->size + info->rx_attr->size);
	stage->reach(test, &end, &peer);

	if (drain)
		check_drain(test, stage, &end);
	vt_close(test, &end.ep->fid);

	vt_none(test, end.tx);
	vt_no_event(test, end.eq);
	/* The room in the completion queue is back; old requests may come yet */
	after.a.tx = end.tx;
	vt_listen(test, vt_eq(test, 0));
	vt_join(test, &after, &vt_default_kind);
	vt_ping(test, &after.a, &after.b);
}

static void an_endpoint_can_be_closed_in_every_state(struct kunit *test)
{
	close_in_state(test, false);
}

static void an_endpoint_can_be_drained_in_every_state_from_enabled_on(struct kunit *test)
{
	close_in_state(test, true);
}

static void a_passive_endpoint_can_be_closed_in_every_state(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_end client = {};
	struct fid_pep *pep;
	struct fid_eq *eq;

	vt_open(test, AF_INET, NULL);
	eq = vt_eq(test, 0);
	KUNIT_ASSERT_EQ(test, fi_passive_ep(vt->fabric, vt->info, &pep, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_close(&pep->fid), 0);
	KUNIT_ASSERT_EQ(test, fi_passive_ep(vt->fabric, vt->info, &pep, NULL), 0);
	KUNIT_ASSERT_EQ(test, fi_pep_bind(pep, &eq->fid, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_close(&pep->fid), 0);
	vt_listen(test, eq);
	vt_client(test, &client, &vt_default_kind);
	vt_connect(test, &client, NULL, 0);
	vt_close(test, &vt->pep->fid);

	vt_no_event(test, eq);
}

/* @end is closed with completions unread on queues that @other uses as well */
static void a_closed_endpoint_leaves_nothing_on_shared_queues(struct kunit *test)
{
	struct vt_pair end = {}, other = {};
	u8 *buf = vt_buf(test, 64);
	struct vt_cq *cq;
	int i;

	vt_serve(test, AF_INET, NULL);
	cq = vt_cq(test, &vt_default_kind, 0);
	end.b.tx = cq;
	other.b.tx = cq;
	vt_join(test, &end, &vt_default_kind);
	vt_join(test, &other, &vt_default_kind);
	for (i = 0; i < 8; i++) {
		vt_recv(test, &end.b, buf, 8, vt_ctx(100 + i));
		vt_recv(test, &other.b, buf + 8, 8, vt_ctx(i));
	}
	for (i = 0; i < 4; i++) {
		vt_send(test, &end.a, buf + 16, 8, vt_ctx(1));
		vt_done(test, end.a.tx, vt_ctx(1));
		vt_send(test, &other.a, buf + 16, 8, vt_ctx(2));
		vt_done(test, other.a.tx, vt_ctx(2));
	}

	vt_close(test, &end.b.ep->fid);

	for (i = 4; i < 8; i++) {
		vt_send(test, &other.a, buf + 16, 8, vt_ctx(2));
		vt_done(test, other.a.tx, vt_ctx(2));
	}
	for (i = 0; i < 8; i++)
		vt_done(test, cq, vt_ctx(i));
	vt_none(test, cq);
	vt_ping(test, &other.a, &other.b);
}

static const struct vt_kind vt_close_kinds[] = {
	{ "polled", FI_WAIT_NONE, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA },
	{ "softirq", FI_WAIT_CALLBACK, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA },
	{ "worker", FI_WAIT_CALLBACK, FI_COMP_WORKQUEUE, FI_CQ_FORMAT_DATA },
};

KUNIT_ARRAY_PARAM_DESC(vt_close_kind, vt_close_kinds, name);

static void closing_drains_every_kind_of_queue(struct kunit *test)
{
	const struct vt_kind *kind = test->param_value;
	struct vt_pair pair = {};
	int calls;

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, kind);
	post_receives(test, &pair.a);
	post_receives(test, &pair.b);
	post_sends(test, &pair.a);
	post_sends(test, &pair.b);

	vt_close(test, &pair.a.ep->fid);
	vt_close(test, &pair.b.ep->fid);

	calls = atomic_read(&pair.a.tx->calls);
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.tx);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.a.tx->calls), calls);
}

static void events_of_a_closed_endpoint_are_not_read(struct kunit *test)
{
	struct vt_pair pair = {}, other = {};
	union vt_event event;
	struct fid_eq *eq;
	u32 got;

	vt_serve(test, AF_INET, NULL);
	eq = vt_eq(test, 0);
	pair.b.eq = eq;
	other.b.eq = eq;
	vt_join(test, &pair, &vt_default_kind);
	vt_join(test, &other, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	KUNIT_ASSERT_GT(test, vt_eq_sread(eq, &got, &event, sizeof(event), FI_PEEK), 0);
	KUNIT_ASSERT_EQ(test, fi_shutdown(other.a.ep, 0), 0);

	vt_close(test, &pair.b.ep->fid);

	vt_event(test, eq, FI_SHUTDOWN, &event);
	KUNIT_EXPECT_PTR_EQ(test, event.cm.fid, &other.b.ep->fid);
	vt_no_event(test, eq);
}

static void what_is_in_use_cannot_be_closed(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_pair pair = {};

	vt_serve(test, AF_INET, NULL);
	pair.a.rx = vt_cq(test, &vt_default_kind, 0);
	vt_join(test, &pair, &vt_default_kind);

	KUNIT_EXPECT_EQ(test, fi_close(&vt->fabric->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&vt->domain->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&vt->eq->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&pair.a.eq->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&pair.a.tx->cq->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&pair.a.rx->cq->fid), -EBUSY);
	vt_ping(test, &pair.a, &pair.b);

	vt_close(test, &pair.a.ep->fid);
	vt_close(test, &pair.a.tx->cq->fid);
	vt_close(test, &pair.a.rx->cq->fid);
	vt_close(test, &pair.a.eq->fid);
}

static struct kunit_case close_cases[] = {
	KUNIT_CASE_PARAM(an_endpoint_can_be_closed_in_every_state, vt_stage_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_can_be_drained_in_every_state_from_enabled_on,
			 vt_stage_gen_params),
	KUNIT_CASE(a_passive_endpoint_can_be_closed_in_every_state),
	KUNIT_CASE(a_closed_endpoint_leaves_nothing_on_shared_queues),
	KUNIT_CASE_PARAM(closing_drains_every_kind_of_queue, vt_close_kind_gen_params),
	KUNIT_CASE(events_of_a_closed_endpoint_are_not_read),
	KUNIT_CASE(what_is_in_use_cannot_be_closed),
	{}
};

struct kunit_suite kofi_verbs_close_suite = {
	.name		= "kofi_verbs_close",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= close_cases,
};
