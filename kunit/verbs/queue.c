// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Depths and limits: what fi_getinfo() claims holds exactly, a full queue says
 * so and loses nothing, and completion queues cannot be overbooked.
 */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include "verbs.h"

#define VT_DEPTH	8

static struct fi_info *depth_hints(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test);

	hints->tx_attr->size = VT_DEPTH;
	hints->rx_attr->size = VT_DEPTH;
	return hints;
}

static void serve_shallow(struct kunit *test, struct vt_pair *pair,
			  const struct vt_kind *kind)
{
	vt_serve(test, AF_INET, depth_hints(test));
	vt_join(test, pair, kind);
}

static ssize_t post_send(struct vt_end *end, u8 *buf, unsigned long nr)
{
	return fi_send(end->ep, buf, 8, NULL, 0, vt_ctx(nr));
}

static ssize_t post_recv(struct vt_end *end, u8 *buf, unsigned long nr)
{
	return fi_recv(end->ep, buf, 8, NULL, 0, vt_ctx(nr));
}

static void a_full_send_queue_says_so_until_a_completion_is_read(struct kunit *test)
{
	u8 *buf = vt_buf(test, 16);
	struct vt_pair pair = {};
	int i;

	serve_shallow(test, &pair, &vt_default_kind);
	for (i = 0; i < VT_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, post_recv(&pair.b, buf, i), 0);
	for (i = 0; i < VT_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, post_send(&pair.a, buf + 8, i), 0);
	KUNIT_EXPECT_EQ(test, post_send(&pair.a, buf + 8, 99), -EAGAIN);
	for (i = 0; i < VT_DEPTH; i++)
		vt_done(test, pair.b.rx, vt_ctx(i));

	/* All of them are done, none has been read */
	KUNIT_EXPECT_EQ(test, post_send(&pair.a, buf + 8, 99), -EAGAIN);

	vt_done(test, pair.a.tx, vt_ctx(0));
	KUNIT_EXPECT_EQ(test, post_recv(&pair.b, buf, 100), 0);
	KUNIT_EXPECT_EQ(test, post_send(&pair.a, buf + 8, 100), 0);
	KUNIT_EXPECT_EQ(test, post_send(&pair.a, buf + 8, 99), -EAGAIN);
	for (i = 1; i < VT_DEPTH; i++)
		vt_done(test, pair.a.tx, vt_ctx(i));
	vt_done(test, pair.a.tx, vt_ctx(100));
	vt_done(test, pair.b.rx, vt_ctx(100));
	vt_none(test, pair.a.tx);
}

static void a_full_receive_queue_says_so_until_a_completion_is_read(struct kunit *test)
{
	u8 *buf = vt_buf(test, 16);
	struct vt_pair pair = {};
	int i;

	serve_shallow(test, &pair, &vt_default_kind);
	for (i = 0; i < VT_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, post_recv(&pair.b, buf, i), 0);
	KUNIT_EXPECT_EQ(test, post_recv(&pair.b, buf, 99), -EAGAIN);
	KUNIT_ASSERT_EQ(test, post_send(&pair.a, buf + 8, 1), 0);
	vt_done(test, pair.a.tx, vt_ctx(1));

	KUNIT_EXPECT_EQ(test, post_recv(&pair.b, buf, 99), -EAGAIN);

	vt_done(test, pair.b.rx, vt_ctx(0));
	KUNIT_EXPECT_EQ(test, post_recv(&pair.b, buf, 100), 0);
	KUNIT_EXPECT_EQ(test, post_recv(&pair.b, buf, 99), -EAGAIN);
}

/* As many sends and receives as there is room for */
struct vt_flood {
	u32	*out;
	u32	*in;
	u32	recvs;
	u32	sends;
	u32	total;
};

static void flood_post(struct kunit *test, struct vt_pair *pair,
		       struct vt_flood *flood)
{
	ssize_t ret = 0;

	for (; flood->recvs < flood->total && !ret; flood->recvs += !ret)
		ret = fi_recv(pair->b.ep, &flood->in[flood->recvs], sizeof(u32),
			      NULL, 0, vt_ctx(flood->recvs));
	KUNIT_ASSERT_TRUE(test, !ret || ret == -EAGAIN);
	for (ret = 0; flood->sends < flood->total && !ret; flood->sends += !ret)
		ret = fi_send(pair->a.ep, &flood->out[flood->sends], sizeof(u32),
			      NULL, 0, vt_ctx(flood->sends));
	KUNIT_ASSERT_TRUE(test, !ret || ret == -EAGAIN);
}

static void nothing_is_lost_where_queues_are_always_full(struct kunit *test)
{
	struct vt_flood flood = { .total = 100 };
	struct vt_pair pair = {};
	u32 i;

	serve_shallow(test, &pair, &vt_default_kind);
	flood.out = vt_buf(test, flood.total * sizeof(u32));
	flood.in = vt_buf(test, flood.total * sizeof(u32));
	for (i = 0; i < flood.total; i++)
		flood.out[i] = 7 * i;

	for (i = 0; i < flood.total; i++) {
		flood_post(test, &pair, &flood);
		vt_done(test, pair.a.tx, vt_ctx(i));
		vt_done(test, pair.b.rx, vt_ctx(i));
		KUNIT_EXPECT_EQ(test, flood.in[i], 7 * i);
	}
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
}

static const struct vt_kind vt_polled_kind = {
	.name		= "polled",
	.wait_obj	= FI_WAIT_NONE,
	.format		= FI_CQ_FORMAT_DATA,
};

/* Polling is what makes room; there is no completion to wait for */
static ssize_t inject_when_possible(struct vt_end *end, const void *buf,
				    size_t len)
{
	unsigned long until = jiffies + msecs_to_jiffies(VT_PATIENCE_MS);
	struct fi_cq_data_entry entry;
	ssize_t ret;

	do {
		ret = fi_inject(end->ep, buf, len, 0);
		if (ret != -EAGAIN || fi_cq_read(end->tx->cq, &entry, 1) !=
				      -EAGAIN)
			return ret;
		cond_resched();
	} while (time_before(jiffies, until));
	return -ETIMEDOUT;
}

static void injects_fill_a_polled_queue_until_it_is_read(struct kunit *test)
{
	u8 *in = vt_buf(test, 1), out;
	struct vt_pair pair = {};
	int i;

	vt_serve(test, AF_INET, depth_hints(test));
	pair.b.tx = vt_cq(test, &vt_default_kind, 2 * VT_DEPTH);
	vt_join(test, &pair, &vt_polled_kind);
	/* Not every device lets a message wait for its receive */
	for (i = 0; i < VT_DEPTH; i++)
		vt_recv(test, &pair.b, in, 1, vt_ctx(i));
	for (i = 0; i < VT_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, &out, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, &out, 0, 0), -EAGAIN);
	for (i = 0; i < VT_DEPTH; i++)
		vt_done(test, pair.b.rx, vt_ctx(i));

	for (i = 0; i < 4 * VT_DEPTH; i++) {
		out = i;
		vt_recv(test, &pair.b, in, 1, vt_ctx(i));
		KUNIT_ASSERT_EQ(test, inject_when_possible(&pair.a, &out, 1), 0);
		vt_done(test, pair.b.rx, vt_ctx(i));
		KUNIT_EXPECT_EQ(test, *in, i);
	}
	vt_none(test, pair.a.tx);
}

static void queues_are_as_deep_as_the_info_says(struct kunit *test)
{
	struct vt_end end = {};
	struct fi_info *info;
	u8 *buf = vt_buf(test, 8);
	size_t i;

	vt_open(test, AF_INET, NULL);
	vt_client(test, &end, &vt_default_kind);
	info = vt_of(test)->info;

	for (i = 0; i < info->rx_attr->size; i++)
		KUNIT_ASSERT_EQ(test, post_recv(&end, buf, i), 0);
	KUNIT_EXPECT_EQ(test, post_recv(&end, buf, 0), -EAGAIN);
}

static void lists_are_as_long_as_the_info_says(struct kunit *test)
{
	struct vt_pair pair = {};
	struct kvec out[32], in[32];
	size_t tx, rx, i;
	u8 *buf = vt_buf(test, 64);

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	tx = vt_of(test)->info->tx_attr->iov_limit;
	rx = vt_of(test)->info->rx_attr->iov_limit;
	KUNIT_ASSERT_LT(test, max(tx, rx), ARRAY_SIZE(out));
	for (i = 0; i < ARRAY_SIZE(out); i++) {
		out[i] = (struct kvec) { buf + i, 1 };
		in[i] = (struct kvec) { buf + 32 + i, 1 };
	}
	vt_fill(buf, 32, 3);

	KUNIT_EXPECT_EQ(test, fi_recvv(pair.b.ep, in, NULL, rx + 1, 0, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_sendv(pair.a.ep, out, NULL, tx + 1, 0, NULL),
			-EINVAL);
	KUNIT_ASSERT_EQ(test, fi_recvv(pair.b.ep, in, NULL, rx, 0, vt_ctx(1)),
			0);
	KUNIT_ASSERT_EQ(test, fi_sendv(pair.a.ep, out, NULL, min(tx, rx), 0,
				       vt_ctx(2)), 0);
	vt_done(test, pair.b.rx, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf + 32, min(tx, rx), 3));
}

static void injects_are_as_long_as_the_info_says(struct kunit *test)
{
	struct vt_pair pair = {};
	struct kvec iov;
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	size_t limit;
	u8 *buf;

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	limit = vt_of(test)->info->tx_attr->inject_size;
	buf = vt_buf(test, 2 * (limit + 1));
	iov = (struct kvec) { buf, limit + 1 };

	KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, buf, limit + 1, 0),
			-EMSGSIZE);
	KUNIT_EXPECT_EQ(test, fi_injectdata(pair.a.ep, buf, limit + 1, 0, 0),
			vt_has_data(test) ? -EMSGSIZE : -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_INJECT),
			-EMSGSIZE);
	vt_recv(test, &pair.b, buf + limit + 1, limit, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, buf, limit, 0), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.rx, vt_ctx(1)).len, limit);
}

static void messages_are_as_long_as_the_info_says(struct kunit *test)
{
	struct vt_pair pair = {};
	size_t value = 0, len = sizeof(value);
	u8 *out = vt_buf(test, 5001), *in = vt_buf(test, 5001);

	vt_open(test, AF_INET, NULL);
	vt_of(test)->info->ep_attr->max_msg_size = 5000;
	vt_listen(test, vt_eq(test, 0));
	vt_join(test, &pair, &vt_default_kind);

	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, out, 5001, NULL, 0, NULL),
			-EMSGSIZE);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.a.ep, in, 5001, NULL, 0, NULL),
			-EMSGSIZE);
	vt_recv(test, &pair.b, in, 5000, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, out, 5000, NULL, 0, vt_ctx(2)),
			0);
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.rx, vt_ctx(1)).len, 5000);
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, fi_getopt(&pair.a.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_MAX_MSG_SIZE, &value, &len), 0);
	KUNIT_EXPECT_EQ(test, value, 5000);
}

static void the_devices_own_message_limit_is_kept(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	size_t limit;

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	limit = vt_of(test)->info->ep_attr->max_msg_size;

	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, limit + 1, NULL, 0, NULL),
			-EMSGSIZE);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, SIZE_MAX, NULL, 0, NULL),
			-EMSGSIZE);
	vt_ping(test, &pair.a, &pair.b);
}

static struct fid_ep *bound_ep(struct kunit *test, struct fid_eq *eq,
			       struct vt_cq *cq)
{
	struct fid_ep *ep = vt_ep(test, vt_of(test)->info);

	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &cq->cq->fid,
					 FI_TRANSMIT | FI_RECV), 0);
	return ep;
}

static void a_completion_queue_is_not_overbooked(struct kunit *test)
{
	struct fid_ep *first, *second;
	struct fid_eq *eq;
	struct vt_cq *cq;

	vt_open(test, AF_INET, depth_hints(test));
	eq = vt_eq(test, 0);
	cq = vt_cq(test, &vt_default_kind, 2 * VT_DEPTH);
	first = bound_ep(test, eq, cq);
	second = bound_ep(test, eq, cq);
	KUNIT_ASSERT_EQ(test, fi_enable(first), 0);

	KUNIT_EXPECT_EQ(test, fi_enable(second), -ENOSPC);

	vt_close(test, &first->fid);
	KUNIT_EXPECT_EQ(test, fi_enable(second), 0);
}

static void a_refused_enable_takes_no_room(struct kunit *test)
{
	struct fid_ep *ep;
	struct fid_eq *eq;
	struct vt_cq *tx, *rx;
	int i;

	vt_open(test, AF_INET, depth_hints(test));
	eq = vt_eq(test, 0);
	tx = vt_cq(test, &vt_default_kind, VT_DEPTH);
	rx = vt_cq(test, &vt_default_kind, VT_DEPTH - 1);
	for (i = 0; i < 3; i++) {
		ep = vt_ep(test, vt_of(test)->info);
		KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &eq->fid, 0), 0);
		KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &tx->cq->fid, FI_TRANSMIT),
				0);
		KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &rx->cq->fid, FI_RECV), 0);
		KUNIT_EXPECT_EQ(test, fi_enable(ep), -ENOSPC);
		vt_close(test, &ep->fid);
	}

	/* All of tx is still there */
	rx = vt_cq(test, &vt_default_kind, VT_DEPTH);
	ep = vt_ep(test, vt_of(test)->info);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &tx->cq->fid, FI_TRANSMIT), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &rx->cq->fid, FI_RECV), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(ep), 0);
}

static void a_queue_may_ask_for_a_completion_vector(struct kunit *test)
{
	struct fi_cq_attr attr = {
		.flags			= FI_AFFINITY,
		.signaling_vector	= 12345,
	};
	struct vt_pair pair = {};

	vt_serve(test, AF_INET, NULL);
	pair.a.tx = vt_cq_new(test, vt_of(test)->domain, &attr,
			      &vt_default_kind);
	vt_join(test, &pair, &vt_default_kind);

	vt_ping(test, &pair.a, &pair.b);
}

static struct kunit_case queue_cases[] = {
	KUNIT_CASE(a_full_send_queue_says_so_until_a_completion_is_read),
	KUNIT_CASE(a_full_receive_queue_says_so_until_a_completion_is_read),
	KUNIT_CASE(nothing_is_lost_where_queues_are_always_full),
	KUNIT_CASE(injects_fill_a_polled_queue_until_it_is_read),
	KUNIT_CASE(queues_are_as_deep_as_the_info_says),
	KUNIT_CASE(lists_are_as_long_as_the_info_says),
	KUNIT_CASE(injects_are_as_long_as_the_info_says),
	KUNIT_CASE(messages_are_as_long_as_the_info_says),
	KUNIT_CASE(the_devices_own_message_limit_is_kept),
	KUNIT_CASE(a_completion_queue_is_not_overbooked),
	KUNIT_CASE(a_refused_enable_takes_no_room),
	KUNIT_CASE(a_queue_may_ask_for_a_completion_vector),
	{}
};

struct kunit_suite kofi_verbs_queue_suite = {
	.name		= "kofi_verbs_queue",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= queue_cases,
};
