// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * -EAGAIN and the word that a call is worth trying again: it comes once, in the context
 * of the queue of that direction, and then the call succeeds.  On every kind of queue.
 *
 * A transmit queue is full because the peer has posted no receive, so these cases are for
 * providers that lose nothing then (FI_RM_ENABLED).  Operations have FI_DELIVERY_COMPLETE or
 * FI_TRANSMIT_COMPLETE, if that is there: otherwise one may complete when the provider has a
 * copy, and a callback gives its slot back at once.  A provider that has no such word does not
 * know FI_OPT_CALLBACKS.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/scatterlist.h>
#include "queue.h"

#define DEPTH	4

/**
 * struct ready - An endpoint's callbacks
 * @queue: of the direction that is full
 * @dir: this direction
 * @calls: how often there was room
 * @strange: calls for another endpoint or direction
 * @ep: the endpoint
 * @buf: of the operations
 * @posts: the callback tries again
 * @ret: what it was answered
 */
struct ready {
	struct conf_queue	*queue;
	u64			dir;
	atomic_t		calls;
	atomic_t		strange;
	struct fid_ep		*ep;
	u8			*buf;
	bool			posts;
	ssize_t			ret;
};

/* Endpoints know their clients by a context; the callback has nothing else */
static void ready_called(struct fid_ep *ep, u64 flags)
{
	struct ready *ready = ep->fid.context;

	conf_queue_enter(ready->queue);
	if (ep != ready->ep || flags != ready->dir)
		atomic_inc(&ready->strange);
	if (ready->posts) {
		ready->posts = false;
		ready->ret = fi_send(ep, ready->buf, 8, NULL, 0, conf_queue_ctx(ready->queue));
	}
	atomic_inc(&ready->calls);
	conf_queue_leave(ready->queue);
}

static const struct fi_ep_callbacks callbacks = { .ready = ready_called };

/* Is fi_writesgl() there?  An endpoint that has been opened knows its option, or does not */
static bool has_rw_ops(struct kunit *test)
{
	size_t rw_ops = 1;
	struct fid_ep *ep;
	int ret;

	if (!conf_has(test, FI_RMA | FI_READ | FI_REMOTE_READ))
		return false;
	ep = vt_ep(test, vt_of(test)->info);
	ret = fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RW_OPS, &rw_ops, sizeof(rw_ops));
	vt_close(test, &ep->fid);
	if (ret)
		KUNIT_EXPECT_EQ(test, ret, -ENOPROTOOPT);
	return !ret;
}

/* Operations complete at @level; NULL: that is not there */
static struct fi_info *with_level(struct kunit *test, u64 level)
{
	struct fi_info *hints = conf_ask(test), *info;

	hints->tx_attr->op_flags = level;
	/* kofi_rxm delivers messages, but not writes */
	if (vt_is_rdm(hints)) {
		hints->caps = FI_MSG;
		hints->tx_attr->caps = 0;
		hints->rx_attr->caps = 0;
	}
	return conf_getinfo(test, hints, &info) ? NULL : info;
}

static bool is_claimed(struct kunit *test)
{
	struct fi_info *info;
	struct fid_ep *ep;
	int ret;

	if (vt_of(test)->info->domain_attr->resource_mgmt != FI_RM_ENABLED)
		return false;
	info = with_level(test, FI_DELIVERY_COMPLETE) ? : with_level(test, FI_TRANSMIT_COMPLETE);
	if (info)
		vt_of(test)->info = info;
	conf_shallow(test, DEPTH);
	conf_serve(test);
	ep = vt_ep(test, vt_of(test)->info);
	ret = fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, &callbacks, sizeof(callbacks));
	vt_close(test, &ep->fid);
	if (ret)
		KUNIT_EXPECT_EQ(test, ret, -ENOPROTOOPT);
	return !ret;
}

/* The first end has the callbacks and the queue, and @rw_ops operations of fi_writesgl() */
static struct ready *ready_join_rw(struct kunit *test, struct vt_pair *pair,
				   const struct vt_kind *kind, u64 dir, size_t rw_ops)
{
	const struct fi_info *info = vt_of(test)->info;
	struct ready *ready = vt_buf(test, sizeof(*ready));

	*pair = (struct vt_pair) { .a.rw_ops = rw_ops };
	ready->dir = dir;
	ready->buf = vt_buf(test, 64);
	ready->queue = conf_queue(test, kind, info->tx_attr->size + info->rx_attr->size);
	if (dir == FI_TRANSMIT) {
		pair->a.tx = &ready->queue->cq;
		pair->a.rx = vt_cq(test, &vt_default_kind, info->rx_attr->size);
	} else {
		pair->a.rx = &ready->queue->cq;
		pair->a.tx = vt_cq(test, &vt_default_kind, info->tx_attr->size);
	}
	pair->a.callbacks = &callbacks;
	vt_join(test, pair, &vt_default_kind);
	ready->ep = pair->a.ep;
	pair->a.ep->fid.context = ready;
	return ready;
}

static struct ready *ready_join(struct kunit *test, struct vt_pair *pair,
				const struct vt_kind *kind, u64 dir)
{
	return ready_join_rw(test, pair, kind, dir, 0);
}

/* As many as there is room for; returns how many */
static int fill(struct kunit *test, struct ready *ready)
{
	void *context = conf_queue_ctx(ready->queue);
	ssize_t ret;
	int n;

	for (n = 0; n < 100; n++) {
		ret = ready->dir == FI_TRANSMIT ?
		      fi_send(ready->ep, ready->buf, 8, NULL, 0, context) :
		      fi_recv(ready->ep, ready->buf, 8, NULL, 0, context);
		if (ret)
			break;
	}
	KUNIT_ASSERT_EQ_MSG(test, ret, -EAGAIN, "%s", ready->queue->cq.kind->name);
	KUNIT_ASSERT_GT(test, n, 0);
	return n;
}

/* The call comes, whoever has to read for it; one operation in the queue is enough */
static void expect_call(struct kunit *test, struct ready *ready)
{
	ktime_t limit = ktime_add_ms(ktime_get(), VT_PATIENCE_MS);

	while (!atomic_read(&ready->calls) && ktime_before(ktime_get(), limit)) {
		conf_queue_read(ready->queue, 1);
		wait_event_timeout(ready->queue->wait, atomic_read(&ready->calls), 1);
	}
	KUNIT_ASSERT_EQ_MSG(test, atomic_read(&ready->calls), 1, "%s", ready->queue->cq.kind->name);
	KUNIT_EXPECT_EQ(test, atomic_read(&ready->strange), 0);
	conf_queue_check(test, ready->queue);
}

/* The peer takes so many messages */
static void take(struct kunit *test, struct vt_pair *pair, int count)
{
	u8 *buf = vt_buf(test, 8);

	while (count--) {
		vt_recv(test, &pair->b, buf, 8, vt_ctx(1));
		vt_done(test, pair->b.rx, vt_ctx(1));
	}
}

static void check_transmit(struct kunit *test, const struct vt_kind *kind, bool posts)
{
	struct vt_pair pair;
	struct ready *ready;
	int n;

	ready = ready_join(test, &pair, kind, FI_TRANSMIT);
	ready->posts = posts;
	n = fill(test, ready);
	/* Another -EAGAIN does not make another call */
	KUNIT_EXPECT_EQ(test, fi_inject(ready->ep, ready->buf, 8, 0), -EAGAIN);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&ready->calls), 0, "%s", kind->name);
	take(test, &pair, 1);
	expect_call(test, ready);
	if (posts)
		KUNIT_EXPECT_EQ_MSG(test, ready->ret, 0, "%s", kind->name);
	else
		KUNIT_EXPECT_EQ_MSG(test, fi_send(ready->ep, ready->buf, 8, NULL, 0,
						  conf_queue_ctx(ready->queue)), 0, "%s",
				    kind->name);
	/* What makes room later is no news to somebody who was not refused */
	take(test, &pair, n);
	conf_queue_expect(test, ready->queue, n + 1);
	conf_queue_read(ready->queue, 1);
	vt_pair_close(test, &pair);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&ready->calls), 1, "%s", kind->name);
	conf_queue_check(test, ready->queue);
	KUNIT_EXPECT_EQ(test, atomic_read(&ready->queue->failed), 0);
}

static void a_full_transmit_queue_says_when_it_has_room(struct kunit *test)
{
	int i;

	if (!is_claimed(test))
		return;
	for (i = 0; i < CONF_QUEUE_KINDS; i++)
		check_transmit(test, &conf_queue_kinds[i], false);
}

static void the_word_of_room_may_post(struct kunit *test)
{
	int i;

	if (!is_claimed(test))
		return;
	for (i = 0; i < CONF_QUEUE_KINDS; i++)
		check_transmit(test, &conf_queue_kinds[i], true);
}

/*
 * The peer's missing receive holds up the message, and that the response to the read behind it.  A
 * write could end when it has been sent.
 */
static void check_rw(struct kunit *test, const struct vt_kind *kind)
{
	struct conf_region region;
	struct scatterlist sgl[1];
	struct vt_pair pair;
	struct ready *ready;
	void *context;
	int i;

	ready = ready_join_rw(test, &pair, kind, FI_TRANSMIT, 1);
	context = conf_queue_ctx(ready->queue);
	conf_region(test, &region, 64, FI_REMOTE_READ);
	sg_init_one(sgl, ready->buf, 64);
	KUNIT_ASSERT_EQ(test, fi_send(ready->ep, ready->buf, 8, NULL, 0, context), 0);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ_MSG(test, fi_readsgl(ready->ep, sgl, 1, 0, 64, 0, region.addr,
						     region.key, context, FI_COMPLETION),
				    i ? -EAGAIN : 0, "%s", kind->name);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&ready->calls), 0, "%s", kind->name);
	take(test, &pair, 1);
	expect_call(test, ready);
	KUNIT_EXPECT_EQ_MSG(test, fi_readsgl(ready->ep, sgl, 1, 0, 64, 0, region.addr, region.key,
					     context, FI_COMPLETION), 0, "%s", kind->name);
	conf_queue_expect(test, ready->queue, 3);
	vt_pair_close(test, &pair);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&ready->calls), 1, "%s", kind->name);
	KUNIT_EXPECT_EQ(test, atomic_read(&ready->queue->failed), 0);
	conf_queue_check(test, ready->queue);
	vt_close(test, &region.mr->fid);
}

static void an_end_of_an_rw_operation_is_room_for_the_next(struct kunit *test)
{
	int i;

	if (!conf_is_msg(test))
		return;
	if (!is_claimed(test) || !has_rw_ops(test))
		return;
	for (i = 0; i < CONF_QUEUE_KINDS; i++)
		check_rw(test, &conf_queue_kinds[i]);
}

static void check_receive(struct kunit *test, const struct vt_kind *kind)
{
	u8 *buf = vt_buf(test, 8);
	struct vt_pair pair;
	struct ready *ready;
	int n, i;

	ready = ready_join(test, &pair, kind, FI_RECV);
	n = fill(test, ready);
	KUNIT_EXPECT_EQ(test, atomic_read(&ready->calls), 0);
	KUNIT_ASSERT_EQ(test, fi_inject(pair.b.ep, buf, 8, 0), 0);
	expect_call(test, ready);
	KUNIT_EXPECT_EQ_MSG(test, fi_recv(ready->ep, ready->buf, 8, NULL, 0,
					  conf_queue_ctx(ready->queue)), 0, "%s", kind->name);
	for (i = 0; i < n; i++) {
		vt_send(test, &pair.b, buf, 8, vt_ctx(i));
		vt_done(test, pair.b.tx, vt_ctx(i));
	}
	conf_queue_expect(test, ready->queue, n + 1);
	conf_queue_read(ready->queue, 1);
	vt_pair_close(test, &pair);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&ready->calls), 1, "%s", kind->name);
	conf_queue_check(test, ready->queue);
}

static void a_full_receive_queue_says_when_it_has_room(struct kunit *test)
{
	int i;

	if (!is_claimed(test))
		return;
	for (i = 0; i < CONF_QUEUE_KINDS; i++)
		check_receive(test, &conf_queue_kinds[i]);
}

static void nobody_is_called_who_was_not_refused(struct kunit *test)
{
	struct vt_pair pair;
	struct ready *ready;
	int i;

	if (!is_claimed(test))
		return;
	ready = ready_join(test, &pair, &conf_queue_kinds[4], FI_TRANSMIT);
	for (i = 0; i < 4 * DEPTH; i++) {
		KUNIT_ASSERT_EQ(test, fi_send(ready->ep, ready->buf, 8, NULL, 0,
					      conf_queue_ctx(ready->queue)), 0);
		take(test, &pair, 1);
		conf_queue_expect(test, ready->queue, i + 1);
	}
	vt_pair_close(test, &pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&ready->calls), 0);
}

/* Also if the call is due at that moment */
static void nobody_is_called_after_close(struct kunit *test)
{
	struct vt_pair pair;
	struct ready *ready;
	int i, calls;

	if (!is_claimed(test))
		return;
	for (i = 0; i < CONF_QUEUE_KINDS; i++) {
		ready = ready_join(test, &pair, &conf_queue_kinds[i], FI_TRANSMIT);
		fill(test, ready);
		vt_close(test, &pair.a.ep->fid);
		calls = atomic_read(&ready->calls);
		KUNIT_EXPECT_LE(test, calls, 1);
		/* That something does not happen is no event to wait for */
		msleep(20);
		conf_queue_read(ready->queue, INT_MAX);
		KUNIT_EXPECT_EQ(test, atomic_read(&ready->calls), calls);
		conf_queue_check(test, ready->queue);
		vt_close(test, &pair.b.ep->fid);
	}
}

static int close_ep(void *arg)
{
	struct ready *ready = arg;

	return fi_close(&ready->ep->fid);
}

/* From contexts that may sleep */
static void an_endpoint_does_not_close_in_its_own_callback(struct kunit *test)
{
	static const int may_sleep[] = { 0, 5, 6 };
	struct vt_pair pair;
	struct ready *ready;
	int i, n;

	if (!is_claimed(test))
		return;
	for (i = 0; i < ARRAY_SIZE(may_sleep); i++) {
		ready = ready_join(test, &pair, &conf_queue_kinds[may_sleep[i]], FI_TRANSMIT);
		n = fill(test, ready);
		conf_queue_hook(ready->queue, close_ep, ready);
		take(test, &pair, 1);
		expect_call(test, ready);
		conf_queue_hooked(test, ready->queue);
		KUNIT_EXPECT_EQ_MSG(test, ready->queue->hook_ret, -EDEADLK,
				    "%s", ready->queue->cq.kind->name);
		take(test, &pair, n - 1);
		conf_queue_expect(test, ready->queue, n);
		vt_pair_close(test, &pair);
	}
}

static void callbacks_are_set_before_the_endpoint_is_enabled(struct kunit *test)
{
	struct fi_ep_callbacks got = {};
	size_t len = sizeof(got);
	struct vt_pair pair;
	struct ready *ready;
	struct fid *fid;

	if (!is_claimed(test))
		return;
	ready = ready_join(test, &pair, &conf_queue_kinds[1], FI_TRANSMIT);
	fid = &ready->ep->fid;
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, &callbacks,
					sizeof(callbacks)), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, &got, &len), 0);
	KUNIT_EXPECT_EQ(test, len, sizeof(got));
	KUNIT_EXPECT_PTR_EQ(test, got.ready, callbacks.ready);
	KUNIT_EXPECT_NULL(test, got.done);
}

/* One that several endpoints share has no queue; it calls from a worker */
static void shared_called(struct fid_ep *ep, u64 flags)
{
	struct ready *ready = ep->fid.context;

	if (ep != ready->ep || flags != FI_RECV || !(in_task() && current->flags & PF_WQ_WORKER))
		atomic_inc(&ready->strange);
	atomic_inc(&ready->calls);
	wake_up(&ready->queue->wait);
}

static void a_full_shared_context_says_when_it_has_room(struct kunit *test)
{
	static const struct fi_ep_callbacks shared = { .ready = shared_called };
	struct vt_pair pair = {};
	struct ready *ready;

	if (!is_claimed(test) || !conf_wants_shared(test))
		return;
	conf_shallow(test, DEPTH);
	conf_serve(test);
	ready = vt_buf(test, sizeof(*ready));
	ready->buf = vt_buf(test, 64);
	ready->dir = FI_RECV;
	ready->queue = conf_queue(test, &conf_queue_kinds[1], 64);
	pair.b.srx = conf_srx(test);
	pair.b.tx = &ready->queue->cq;
	ready->ep = pair.b.srx;
	ready->ep->fid.context = ready;
	KUNIT_ASSERT_EQ(test, fi_setopt(&ready->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, &shared,
					sizeof(shared)), 0);
	conf_accept_shared(test, &pair);
	fill(test, ready);
	KUNIT_EXPECT_EQ(test, atomic_read(&ready->calls), 0);
	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, ready->buf, 8, 0), 0);
	expect_call(test, ready);
	KUNIT_EXPECT_EQ(test, fi_recv(ready->ep, ready->buf, 8, NULL, 0, NULL), 0);
}

/**
 * struct shared_closer - A client that closes its shared receive context when called
 * @entered: the callback is there
 * @leave: no endpoint uses the context any more
 * @closed: fi_close() has returned
 * @ret: what it has returned
 */
struct shared_closer {
	struct completion	entered;
	struct completion	leave;
	struct completion	closed;
	int			ret;
};

static void shared_closes(struct fid_ep *srx, u64 flags)
{
	struct shared_closer *closer = srx->fid.context;

	complete(&closer->entered);
	wait_for_completion(&closer->leave);
	closer->ret = fi_close(&srx->fid);
	complete(&closer->closed);
}

static void a_shared_context_closes_in_its_own_callback(struct kunit *test)
{
	static const struct fi_ep_callbacks shared = { .ready = shared_closes };
	struct shared_closer *closer;
	struct vt_pair pair = {};
	struct fid_ep *srx;
	ssize_t ret;
	u8 *buf;

	if (!is_claimed(test) || !conf_wants_shared(test))
		return;
	conf_shallow(test, DEPTH);
	conf_serve(test);
	buf = vt_buf(test, 16);
	closer = vt_buf(test, sizeof(*closer));
	init_completion(&closer->entered);
	init_completion(&closer->leave);
	init_completion(&closer->closed);
	srx = conf_srx(test);
	srx->fid.context = closer;
	KUNIT_ASSERT_EQ(test, fi_setopt(&srx->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS, &shared,
					sizeof(shared)), 0);
	pair.b.srx = srx;
	conf_accept_shared(test, &pair);
	do
		ret = fi_recv(srx, buf, 8, NULL, 0, vt_ctx(1));
	while (!ret);
	KUNIT_ASSERT_EQ(test, ret, -EAGAIN);
	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, buf + 8, 8, 0), 0);
	vt_done(test, pair.b.tx, vt_ctx(1));
	KUNIT_ASSERT_TRUE(test, vt_completed(&closer->entered));
	vt_close(test, &pair.b.ep->fid);
	complete(&closer->leave);
	KUNIT_ASSERT_TRUE(test, vt_completed(&closer->closed));
	KUNIT_EXPECT_EQ(test, closer->ret, 0);
	vt_closed(test, &srx->fid);
}

static struct kunit_case ready_cases[] = {
	KUNIT_CASE_PARAM(a_full_transmit_queue_says_when_it_has_room, conf_gen_params),
	KUNIT_CASE_PARAM(the_word_of_room_may_post, conf_gen_params),
	KUNIT_CASE_PARAM(an_end_of_an_rw_operation_is_room_for_the_next, conf_gen_msg),
	KUNIT_CASE_PARAM(a_full_receive_queue_says_when_it_has_room, conf_gen_params),
	KUNIT_CASE_PARAM(nobody_is_called_who_was_not_refused, conf_gen_params),
	KUNIT_CASE_PARAM(nobody_is_called_after_close, conf_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_does_not_close_in_its_own_callback, conf_gen_params),
	KUNIT_CASE_PARAM(callbacks_are_set_before_the_endpoint_is_enabled, conf_gen_params),
	KUNIT_CASE_PARAM(a_full_shared_context_says_when_it_has_room, conf_gen_params),
	KUNIT_CASE_PARAM(a_shared_context_closes_in_its_own_callback, conf_gen_params),
	{}
};

struct kunit_suite conf_ready_suite = {
	.name		= "kofi_conformance_ready",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= ready_cases,
};
