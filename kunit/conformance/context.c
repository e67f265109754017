// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Where a completion queue calls its client, however operations end: success, truncation,
 * refusal by the target, cancel, the end of a connection, drain and close.  On every kind
 * of queue, and with both directions on one: never two calls at a time.
 *
 * conf_queue_check() judges each call; what these cases add are the ways to end.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <rdma/fi_cm.h>
#include "queue.h"

#define DEPTH	8
#define TRIES	10

/**
 * struct ends - A pair whose first end is observed
 * @pair: the pair
 * @queue: both directions of the first end
 * @buf: of its operations
 * @posted: how many it has posted
 */
struct ends {
	struct vt_pair		pair;
	struct conf_queue	*queue;
	u8			*buf;
	int			posted;
};

static struct ends *ends_join(struct kunit *test, const struct vt_kind *kind)
{
	const struct fi_info *info = vt_of(test)->info;
	struct ends *ends = vt_buf(test, sizeof(*ends));

	ends->buf = vt_buf(test, SZ_1K);
	ends->queue = conf_queue(test, kind, info->tx_attr->size + info->rx_attr->size);
	ends->pair.a.tx = &ends->queue->cq;
	vt_join(test, &ends->pair, &vt_default_kind);
	return ends;
}

static void post_recvs(struct kunit *test, struct ends *ends, int count)
{
	ends->posted += count;
	while (count--)
		vt_recv(test, &ends->pair.a, ends->buf, 8, conf_queue_ctx(ends->queue));
}

static void post_sends(struct kunit *test, struct ends *ends, int count)
{
	ends->posted += count;
	while (count--)
		vt_send(test, &ends->pair.a, ends->buf + 8, 8, conf_queue_ctx(ends->queue));
}

static void post_untaken(struct kunit *test, struct ends *ends)
{
	int n = 0;

	while (n < DEPTH && conf_send_untaken(test, ends->pair.a.ep, ends->buf + 8,
					      conf_queue_ctx(ends->queue)))
		n++;
	KUNIT_EXPECT_GT(test, n, 0);
	ends->posted += n;
}

/* Messages of @len bytes from the peer */
static void answer(struct kunit *test, struct ends *ends, size_t len, int count)
{
	struct vt_end *peer = &ends->pair.b;

	while (count--) {
		vt_send(test, peer, ends->buf + 64, len, vt_ctx(1));
		vt_done(test, peer->tx, vt_ctx(1));
	}
}

static void success(struct kunit *test, struct ends *ends)
{
	u8 *buf = vt_buf(test, 8);
	int i;

	post_recvs(test, ends, DEPTH);
	for (i = 0; i < DEPTH; i++)
		vt_recv(test, &ends->pair.b, buf, 8, vt_ctx(2));
	post_sends(test, ends, DEPTH);
	for (i = 0; i < DEPTH; i++)
		vt_done(test, ends->pair.b.rx, vt_ctx(2));
	answer(test, ends, 8, DEPTH);
	conf_queue_expect(test, ends->queue, ends->posted);
	KUNIT_EXPECT_EQ(test, atomic_read(&ends->queue->failed), 0);
}

static void truncation(struct kunit *test, struct ends *ends)
{
	post_recvs(test, ends, 1);
	vt_send(test, &ends->pair.b, ends->buf + 64, 100, vt_ctx(1));
	conf_queue_expect(test, ends->queue, ends->posted);
	KUNIT_EXPECT_EQ(test, atomic_read(&ends->queue->failed), 1);
	KUNIT_EXPECT_EQ(test, ends->queue->err, FI_ETRUNC);
}

/*
 * One message from the peer.  It ends with the connection that a refusal has ended if the peer has
 * not heard of that yet; the next one makes a new connection.
 */
static void answer_again(struct kunit *test, struct ends *ends)
{
	struct vt_end *peer = &ends->pair.b;
	struct vt_comp comp;
	int tries = 0;

	do {
		vt_send(test, peer, ends->buf + 64, 8, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, vt_wait(peer->tx, &comp), 1);
	} while (comp.err == ECONNRESET && ++tries < TRIES);
	KUNIT_ASSERT_EQ(test, comp.err, 0);
}

/* A key that nobody has; some providers end the connection then */
static void refusal(struct kunit *test, struct ends *ends)
{
	if (!conf_has(test, FI_RMA | FI_READ | FI_REMOTE_READ))
		return;
	post_recvs(test, ends, 1);
	ends->posted++;
	KUNIT_ASSERT_EQ(test, fi_read(ends->pair.a.ep, ends->buf, 8, NULL, 0, 0, 0x7fffff,
				      conf_queue_ctx(ends->queue)), 0);
	if (!vt_is_rdm(vt_of(test)->info)) {
		conf_queue_wait(ends->queue, 1);
		fi_shutdown(ends->pair.a.ep, 0);
	} else {
		answer_again(test, ends);
	}
	conf_queue_expect(test, ends->queue, ends->posted);
	KUNIT_EXPECT_GE(test, atomic_read(&ends->queue->failed), 1);
}

static void cancel(struct kunit *test, struct ends *ends)
{
	void *context = conf_queue_ctx(ends->queue) ? : vt_ctx(7);
	ssize_t ret;

	ends->posted++;
	vt_recv(test, &ends->pair.a, ends->buf, 8, context);
	ret = fi_cancel(&ends->pair.a.ep->fid, context);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENOSYS);
		answer(test, ends, 8, 1);
	}
	conf_queue_expect(test, ends->queue, ends->posted);
	KUNIT_EXPECT_EQ(test, atomic_read(&ends->queue->failed), !ret);
}

/* The peer ends the connection, or this end does */
static void shutdown_by(struct kunit *test, struct ends *ends, struct vt_end *by)
{
	post_recvs(test, ends, DEPTH);
	KUNIT_ASSERT_EQ(test, fi_shutdown(by->ep, 0), 0);
	conf_queue_expect(test, ends->queue, ends->posted);
	KUNIT_EXPECT_EQ(test, atomic_read(&ends->queue->failed), DEPTH);
	KUNIT_EXPECT_EQ(test, ends->queue->err, ECANCELED);
}

static void shutdown_there(struct kunit *test, struct ends *ends)
{
	shutdown_by(test, ends, &ends->pair.b);
}

static void shutdown_here(struct kunit *test, struct ends *ends)
{
	shutdown_by(test, ends, &ends->pair.a);
}

/* The sends find no receive; what is reported then needs no reader to be there */
static void drain(struct kunit *test, struct ends *ends)
{
	int ret;

	post_recvs(test, ends, DEPTH);
	post_untaken(test, ends);
	ends->queue->drains = true;
	ret = fi_ep_drain(ends->pair.a.ep, -1);
	if (ret == -ENOSYS)
		return;
	KUNIT_ASSERT_EQ(test, ret, 0);
	conf_queue_read(ends->queue, INT_MAX);
	KUNIT_EXPECT_EQ_MSG(test, conf_queue_ended(ends->queue), ends->posted,
			    "%s", ends->queue->cq.kind->name);
}

/* What has a callback is called before the endpoint has gone; what is read is not read */
static void close(struct kunit *test, struct ends *ends)
{
	int ended;

	post_recvs(test, ends, DEPTH);
	post_untaken(test, ends);
	vt_close(test, &ends->pair.a.ep->fid);
	ended = conf_queue_ended(ends->queue);
	KUNIT_EXPECT_EQ_MSG(test, ended, ends->queue->cq.kind->wait_obj ==
			    FI_WAIT_DONE ? ends->posted : 0, "%s",
			    ends->queue->cq.kind->name);
	/* That something does not happen is no event to wait for */
	msleep(20);
	conf_queue_read(ends->queue, INT_MAX);
	KUNIT_EXPECT_EQ(test, conf_queue_ended(ends->queue), ended);
}

static void check_each(struct kunit *test, void (*way)(struct kunit *test, struct ends *ends),
		       bool closes)
{
	struct ends *ends;
	int i;

	conf_shallow(test, 2 * DEPTH);
	conf_serve(test);
	for (i = 0; i < CONF_QUEUE_KINDS; i++) {
		ends = ends_join(test, &conf_queue_kinds[i]);
		way(test, ends);
		conf_queue_check(test, ends->queue);
		if (!closes)
			vt_close(test, &ends->pair.a.ep->fid);
		vt_close(test, &ends->pair.b.ep->fid);
		conf_queue_check(test, ends->queue);
	}
}

static void success_is_reported_where_it_was_asked_for(struct kunit *test)
{
	check_each(test, success, false);
}

static void a_truncation_is_reported_where_it_was_asked_for(struct kunit *test)
{
	check_each(test, truncation, false);
}

static void a_refusal_is_reported_where_it_was_asked_for(struct kunit *test)
{
	check_each(test, refusal, false);
}

static void a_cancel_is_reported_where_it_was_asked_for(struct kunit *test)
{
	check_each(test, cancel, false);
}

static void an_end_by_the_peer_is_reported_where_it_was_asked_for(struct kunit *test)
{
	if (!conf_is_msg(test))
		return;
	check_each(test, shutdown_there, false);
}

static void an_end_by_the_client_is_reported_where_it_was_asked_for(struct kunit *test)
{
	if (!conf_is_msg(test))
		return;
	check_each(test, shutdown_here, false);
}

static void a_drain_is_reported_where_it_was_asked_for(struct kunit *test)
{
	check_each(test, drain, false);
}

static void a_close_is_reported_where_it_was_asked_for(struct kunit *test)
{
	check_each(test, close, true);
}

/* Two endpoints, on one queue, that get what is sent and are flushed at the same time */
static void calls_of_many_endpoints_do_not_run_beside_each_other(struct kunit *test)
{
	const struct fi_info *info;
	struct conf_queue *queue;
	struct vt_pair pairs[2];
	u8 *buf = vt_buf(test, 16);
	int i, k, n;

	conf_shallow(test, 2 * DEPTH);
	info = vt_of(test)->info;
	conf_serve(test);
	for (k = 0; k < CONF_QUEUE_KINDS; k++) {
		queue = conf_queue(test, &conf_queue_kinds[k],
				   2 * (info->tx_attr->size + info->rx_attr->size));
		for (i = 0; i < 2; i++) {
			pairs[i] = (struct vt_pair) { .a.tx = &queue->cq };
			vt_join(test, &pairs[i], &vt_default_kind);
			for (n = 0; n < 2 * DEPTH; n++)
				vt_recv(test, &pairs[i].a, buf, 8, conf_queue_ctx(queue));
		}
		for (n = 0; n < DEPTH; n++)
			for (i = 0; i < 2; i++)
				KUNIT_ASSERT_EQ(test, fi_inject(pairs[i].b.ep, buf + 8, 8, 0), 0);
		conf_queue_expect(test, queue, 2 * DEPTH);
		for (i = 0; i < 2; i++) {
			vt_close(test, &pairs[i].a.ep->fid);
			vt_close(test, &pairs[i].b.ep->fid);
		}
		conf_queue_check(test, queue);
		KUNIT_EXPECT_EQ_MSG(test, conf_queue_ended(queue),
				    queue->cq.kind->wait_obj == FI_WAIT_DONE ?
				    4 * DEPTH : 2 * DEPTH, "%s",
				    queue->cq.kind->name);
	}
}

struct closing {
	struct fid	*fid[2];
	int		ret[2];
	struct fid_ep	*ep;
	int		drained;
};

static int close_both(void *arg)
{
	struct closing *closing = arg;
	int i;

	for (i = 0; i < 2; i++)
		closing->ret[i] = fi_close(closing->fid[i]);
	closing->drained = fi_ep_drain(closing->ep, -1);
	return 0;
}

/* From those that may sleep.  A queue whose endpoint is open is in use besides */
static void nothing_closes_or_drains_in_its_own_callback(struct kunit *test)
{
	static const int may_sleep[] = { 3, 5, 6 };
	struct closing closing;
	struct ends *ends;
	int i;

	conf_shallow(test, 2 * DEPTH);
	conf_serve(test);
	for (i = 0; i < ARRAY_SIZE(may_sleep); i++) {
		ends = ends_join(test, &conf_queue_kinds[may_sleep[i]]);
		closing = (struct closing) {
			.fid = { &ends->pair.a.ep->fid,
				 &ends->queue->cq.cq->fid },
			.ep = ends->pair.a.ep,
		};
		conf_queue_hook(ends->queue, close_both, &closing);
		post_recvs(test, ends, 1);
		answer(test, ends, 8, 1);
		conf_queue_expect(test, ends->queue, 1);
		conf_queue_hooked(test, ends->queue);
		KUNIT_EXPECT_EQ_MSG(test, closing.ret[0], -EDEADLK, "%s",
				    ends->queue->cq.kind->name);
		KUNIT_EXPECT_EQ_MSG(test, closing.ret[1], -EBUSY, "%s", ends->queue->cq.kind->name);
		if (closing.drained != -ENOSYS)
			KUNIT_EXPECT_EQ_MSG(test, closing.drained, -EDEADLK, "%s",
					    ends->queue->cq.kind->name);
		/* Nothing has changed */
		post_recvs(test, ends, 1);
		answer(test, ends, 8, 1);
		conf_queue_expect(test, ends->queue, 2);
		vt_close(test, &ends->pair.a.ep->fid);
		vt_close(test, &ends->pair.b.ep->fid);
	}
}

/**
 * struct events - An event queue whose handler closes it
 * @eq: the queue
 * @called: the handler was there
 * @ret: what it was answered
 * @in_task: it may sleep
 */
struct events {
	struct fid_eq		*eq;
	struct completion	called;
	int			ret;
	bool			in_task;
};

static void events_handler(struct fid_eq *eq, void *context)
{
	struct events *events = context;

	events->in_task = in_task();
	events->ret = fi_close(&eq->fid);
	complete(&events->called);
}

static void an_event_queue_does_not_close_in_its_handler(struct kunit *test)
{
	struct events *events = vt_buf(test, sizeof(*events));
	struct fi_eq_attr attr = {
		.flags		= FI_WRITE,
		.wait_obj	= FI_WAIT_CALLBACK,
		.handler	= events_handler,
	};
	struct fi_eq_entry entry = {};

	init_completion(&events->called);
	vt_open_info(test, vt_of(test)->info);
	KUNIT_ASSERT_EQ(test, fi_eq_open(vt_of(test)->fabric, &attr, &events->eq, events), 0);
	vt_adopt(test, &events->eq->fid);
	KUNIT_ASSERT_EQ(test, fi_eq_write(events->eq, FI_NOTIFY, &entry, sizeof(entry), 0),
			(ssize_t)sizeof(entry));
	KUNIT_ASSERT_TRUE(test, vt_completed(&events->called));
	KUNIT_EXPECT_EQ(test, events->ret, -EDEADLK);
	KUNIT_EXPECT_TRUE(test, events->in_task);
}

static struct kunit_case context_cases[] = {
	KUNIT_CASE_PARAM(success_is_reported_where_it_was_asked_for, conf_gen_params),
	KUNIT_CASE_PARAM(a_truncation_is_reported_where_it_was_asked_for, conf_gen_params),
	KUNIT_CASE_PARAM(a_refusal_is_reported_where_it_was_asked_for, conf_gen_params),
	KUNIT_CASE_PARAM(a_cancel_is_reported_where_it_was_asked_for, conf_gen_params),
	KUNIT_CASE_PARAM(an_end_by_the_peer_is_reported_where_it_was_asked_for, conf_gen_msg),
	KUNIT_CASE_PARAM(an_end_by_the_client_is_reported_where_it_was_asked_for, conf_gen_msg),
	KUNIT_CASE_PARAM(a_drain_is_reported_where_it_was_asked_for, conf_gen_params),
	KUNIT_CASE_PARAM(a_close_is_reported_where_it_was_asked_for, conf_gen_params),
	KUNIT_CASE_PARAM(calls_of_many_endpoints_do_not_run_beside_each_other, conf_gen_params),
	KUNIT_CASE_PARAM(nothing_closes_or_drains_in_its_own_callback, conf_gen_params),
	KUNIT_CASE_PARAM(an_event_queue_does_not_close_in_its_handler, conf_gen_params),
	{}
};

struct kunit_suite conf_context_suite = {
	.name		= "kofi_conformance_context",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= context_cases,
};
