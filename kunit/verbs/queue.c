// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Full queues lose nothing, and what is refused takes no room.  That limits are exact is in
 * kunit/conformance/limits.c.
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

/* As many sends and receives as there is room for */
struct vt_flood {
	u32	*out;
	u32	*in;
	u32	recvs;
	u32	sends;
	u32	total;
};

static void flood_post(struct kunit *test, struct vt_pair *pair, struct vt_flood *flood)
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

	vt_serve_pair(test, depth_hints(test), &pair);
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
static ssize_t inject_when_possible(struct vt_end *end, const void *buf, size_t len)
{
	unsigned long until = jiffies + msecs_to_jiffies(VT_PATIENCE_MS);
	struct fi_cq_data_entry entry;
	ssize_t ret;

	do {
		ret = fi_inject(end->ep, buf, len, 0);
		if (ret != -EAGAIN || fi_cq_read(end->tx->cq, &entry, 1) != -EAGAIN)
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

/* The limit of the info, and that of the device */
static void receives_are_no_longer_than_messages(struct kunit *test)
{
	u8 *buf = vt_buf(test, 5001);
	struct vt_pair pair = {};

	vt_open(test, AF_INET, NULL);
	vt_of(test)->info->ep_attr->max_msg_size = 5000;
	vt_listen(test, vt_eq(test, 0));
	vt_join(test, &pair, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.a.ep, buf, 5001, NULL, 0, NULL), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.a.ep, buf, 5000, NULL, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, SIZE_MAX, NULL, 0, NULL), -EMSGSIZE);
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
		KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &(i ? tx : rx)->cq->fid, FI_TRANSMIT), 0);
		KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &(i ? rx : tx)->cq->fid, FI_RECV), 0);
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
	pair.a.tx = vt_cq_new(test, vt_of(test)->domain, &attr, &vt_default_kind);
	vt_join(test, &pair, &vt_default_kind);

	vt_ping(test, &pair.a, &pair.b);
}

static struct kunit_case queue_cases[] = {
	KUNIT_CASE(nothing_is_lost_where_queues_are_always_full),
	KUNIT_CASE(injects_fill_a_polled_queue_until_it_is_read),
	KUNIT_CASE(receives_are_no_longer_than_messages),
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
