// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Handlers of completion queues and event queues: when they are called, from
 * where, and what they may do.
 *
 * A handler writes its findings before the completion that the case waits for.
 */
#include "conformance.h"

static const struct vt_kind kinds[] = {
	{ "softirq", FI_WAIT_CALLBACK, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA },
	{ "worker", FI_WAIT_CALLBACK, FI_COMP_WORKQUEUE, FI_CQ_FORMAT_DATA },
};

static void wait_called(struct kunit *test, struct completion *event)
{
	KUNIT_ASSERT_TRUE(test, vt_completed(event));
}

static void join_handled(struct kunit *test, struct vt_pair *pair, const struct vt_kind *kind)
{
	*pair = (struct vt_pair) { .b.rx = vt_cq(test, kind, 0) };
	vt_join(test, pair, &vt_default_kind);
}

static void send_one(struct kunit *test, struct vt_pair *pair, u8 *buf)
{
	vt_send(test, &pair->a, buf, 8, vt_ctx(9));
	vt_done(test, pair->a.tx, vt_ctx(9));
}

/* The first call is for the first completion, any other for a read in vain */
static void a_handler_is_not_called_again_before_the_queue_was_empty(struct kunit *test)
{
	u8 *buf = vt_buf(test, 16);
	struct vt_pair pair;
	struct vt_cq *cq;
	int i, k;

	conf_serve(test);
	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		join_handled(test, &pair, &kinds[k]);
		cq = pair.b.rx;
		for (i = 0; i < 16; i++)
			vt_recv(test, &pair.b, buf, 8, vt_ctx(i));
		for (i = 0; i < 16; i++)
			send_one(test, &pair, buf + 8);
		wait_called(test, &cq->event);
		for (i = 0; i < 16; i++)
			vt_done(test, cq, vt_ctx(i));
		KUNIT_EXPECT_LE(test, atomic_read(&cq->calls), 1 + cq->empties);
		vt_pair_close(test, &pair);
	}
}

static void a_handler_is_called_again_after_the_queue_was_empty(struct kunit *test)
{
	u8 *buf = vt_buf(test, 16);
	struct vt_pair pair;
	int i, k;

	conf_serve(test);
	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		join_handled(test, &pair, &kinds[k]);
		for (i = 0; i < 4; i++) {
			vt_recv(test, &pair.b, buf, 8, vt_ctx(i));
			send_one(test, &pair, buf + 8);
			wait_called(test, &pair.b.rx->event);
			vt_done(test, pair.b.rx, vt_ctx(i));
			vt_none(test, pair.b.rx);
		}
		KUNIT_EXPECT_EQ(test, atomic_read(&pair.b.rx->calls), 4);
		vt_pair_close(test, &pair);
	}
}

/**
 * struct echo - A server in a handler
 * @ep: its endpoint
 * @buf: of its receive
 * @left: messages to return
 * @ret: first error
 * @done: all returned, or an error
 */
struct echo {
	struct fid_ep		*ep;
	u8			*buf;
	int			left;
	int			ret;
	struct completion	done;
};

static int echo_one(struct echo *echo, const struct fi_cq_data_entry *entry)
{
	int ret;

	if (!(entry->flags & FI_RECV))
		return 0;
	ret = fi_inject(echo->ep, echo->buf, entry->len, 0);
	if (!ret)
		ret = fi_recv(echo->ep, echo->buf, 8, NULL, 0, NULL);
	if (!ret && !--echo->left)
		complete(&echo->done);
	return ret;
}

static void echo_handler(struct fid_cq *cq, void *context)
{
	struct echo *echo = context;
	struct fi_cq_data_entry entry;

	while (!echo->ret && fi_cq_read(cq, &entry, 1) == 1)
		echo->ret = echo_one(echo, &entry);
	if (echo->ret)
		complete(&echo->done);
}

static struct vt_cq *echo_cq(struct kunit *test, struct echo *echo, enum fi_comp_ctx ctx)
{
	struct vt_cq *vcq = vt_buf(test, sizeof(*vcq));
	struct fi_cq_attr attr = {
		.format		= FI_CQ_FORMAT_DATA,
		.wait_obj	= FI_WAIT_CALLBACK,
		.comp_ctx	= ctx,
		.handler	= echo_handler,
	};

	KUNIT_ASSERT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &vcq->cq, echo), 0);
	vt_adopt(test, &vcq->cq->fid);
	vcq->kind = &kinds[0];
	return vcq;
}

static void echoes(struct kunit *test, enum fi_comp_ctx ctx)
{
	struct echo *echo = vt_buf(test, sizeof(*echo));
	u8 *out = vt_buf(test, 8), *in = vt_buf(test, 8);
	struct vt_pair pair = {};
	int i;

	echo->buf = vt_buf(test, 8);
	echo->left = 10;
	init_completion(&echo->done);
	pair.b.tx = echo_cq(test, echo, ctx);
	vt_join(test, &pair, &vt_default_kind);
	echo->ep = pair.b.ep;
	vt_recv(test, &pair.b, echo->buf, 8, NULL);
	for (i = 0; i < 10; i++) {
		vt_fill(out, 8, i);
		vt_recv(test, &pair.a, in, 8, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, out, 8, 0), 0);
		vt_done(test, pair.a.rx, vt_ctx(1));
		KUNIT_EXPECT_TRUE(test, vt_filled(in, 8, i));
	}
	wait_called(test, &echo->done);
	KUNIT_EXPECT_EQ(test, echo->ret, 0);
	vt_pair_close(test, &pair);
}

static void a_handler_may_read_send_and_receive(struct kunit *test)
{
	conf_serve(test);
	echoes(test, FI_COMP_SOFTIRQ);
	echoes(test, FI_COMP_WORKQUEUE);
}

/**
 * struct acceptor - A server in an event handler
 * @domain: for its endpoint
 * @cq: for its endpoint
 * @ep: its endpoint, once there is a request
 * @info: the request
 * @calls: of the handler
 * @ret: first error
 * @done: connected, or an error
 */
struct acceptor {
	struct fid_domain	*domain;
	struct fid_cq		*cq;
	struct fid_ep		*ep;
	struct fi_info		*info;
	int			calls;
	int			ret;
	struct completion	done;
};

static int accept_request(struct acceptor *acceptor, struct fid_eq *eq)
{
	int ret;

	ret = fi_endpoint(acceptor->domain, acceptor->info, &acceptor->ep, NULL);
	if (ret)
		return ret;
	ret = fi_ep_bind(acceptor->ep, &eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(acceptor->ep, &acceptor->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(acceptor->ep);
	if (!ret)
		ret = fi_accept(acceptor->ep, "hi", 2);
	return ret;
}

static void accept_handler(struct fid_eq *eq, void *context)
{
	struct acceptor *acceptor = context;
	union vt_event event;
	ssize_t ret;
	u32 type;

	acceptor->calls++;
	for (;;) {
		ret = fi_eq_read(eq, &type, &event, sizeof(event), 0);
		if (ret == -EAGAIN)
			return;
		if (ret > 0 && type == FI_CONNREQ) {
			acceptor->info = event.cm.info;
			ret = accept_request(acceptor, eq);
			if (!ret)
				continue;
		}
		acceptor->ret = ret < 0 ? ret : 0;
		complete(&acceptor->done);
		if (ret < 0)
			return;
	}
}

static struct fid_eq *handled_eq(struct kunit *test, struct acceptor *acceptor)
{
	struct fi_eq_attr attr = {
		.wait_obj	= FI_WAIT_CALLBACK,
		.handler	= accept_handler,
	};
	struct fid_eq *eq;

	KUNIT_ASSERT_EQ(test, fi_eq_open(vt_of(test)->fabric, &attr, &eq, acceptor), 0);
	vt_adopt(test, &eq->fid);
	return eq;
}

static void an_event_handler_may_accept(struct kunit *test)
{
	struct acceptor *acceptor = vt_buf(test, sizeof(*acceptor));
	struct vt_end client = {};
	union vt_event event;
	struct vt_cq *cq;
	size_t len;

	if (!conf_is_msg(test))
		return;
	init_completion(&acceptor->done);
	vt_open_info(test, vt_of(test)->info);
	cq = vt_cq(test, &vt_default_kind, 0);
	acceptor->domain = vt_of(test)->domain;
	acceptor->cq = cq->cq;
	vt_listen(test, handled_eq(test, acceptor));
	vt_client(test, &client, &vt_default_kind);
	vt_connect(test, &client, NULL, 0);

	wait_called(test, &acceptor->done);

	if (acceptor->ep)
		vt_adopt(test, &acceptor->ep->fid);
	if (acceptor->info)
		vt_free_later(test, acceptor->info);
	KUNIT_ASSERT_EQ(test, acceptor->ret, 0);
	len = vt_event(test, client.eq, FI_CONNECTED, &event);
	KUNIT_ASSERT_EQ(test, len, 2);
	KUNIT_EXPECT_MEMEQ(test, event.cm.data, "hi", 2);
	KUNIT_EXPECT_GE(test, acceptor->calls, 1);
}

static void a_handled_event_queue_cannot_be_slept_on(struct kunit *test)
{
	struct acceptor *acceptor = vt_buf(test, sizeof(*acceptor));
	union vt_event event;
	struct fid_eq *eq;
	u32 type;

	vt_open_info(test, vt_of(test)->info);
	eq = handled_eq(test, acceptor);

	KUNIT_EXPECT_EQ(test, fi_eq_sread(eq, &type, &event, sizeof(event), 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_eq_read(eq, &type, &event, sizeof(event), 0), -EAGAIN);
}

static struct kunit_case handler_cases[] = {
	KUNIT_CASE_PARAM(a_handler_is_not_called_again_before_the_queue_was_empty, conf_gen_params),
	KUNIT_CASE_PARAM(a_handler_is_called_again_after_the_queue_was_empty, conf_gen_params),
	KUNIT_CASE_PARAM(a_handler_may_read_send_and_receive, conf_gen_params),
	KUNIT_CASE_PARAM(an_event_handler_may_accept, conf_gen_msg),
	KUNIT_CASE_PARAM(a_handled_event_queue_cannot_be_slept_on, conf_gen_params),
	{}
};

struct kunit_suite conf_handler_suite = {
	.name		= "kofi_conformance_handler",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= handler_cases,
};
