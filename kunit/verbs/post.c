// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How operations get into the device's queue: chains behind one doorbell, and
 * operations whose success nobody wants to know.
 */
#include <linux/bits.h>
#include <linux/sched.h>
#include "verbs.h"

#define VT_DEPTH	16
#define VT_MSG		8

static void open_shallow(struct kunit *test, struct vt_pair *pair)
{
	struct fi_info *hints = vt_hints(test);

	hints->tx_attr->size = VT_DEPTH;
	hints->rx_attr->size = VT_DEPTH;
	vt_serve(test, AF_INET, hints);
	vt_join(test, pair, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, pair->a.info->tx_attr->size, VT_DEPTH);
}

static ssize_t send_flags(struct vt_end *end, u8 *buf, unsigned long nr,
			  u64 flags)
{
	struct kvec iov = { buf + nr * VT_MSG, VT_MSG };
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.context	= vt_ctx(nr),
	};

	return fi_sendmsg(end->ep, &msg, flags);
}

static void recv_all(struct kunit *test, struct vt_end *end, u8 *buf, int count)
{
	int i;

	for (i = 0; i < count; i++)
		vt_recv(test, end, buf + i * VT_MSG, VT_MSG, vt_ctx(i));
}

/* The last one rings for all; one doorbell takes eight at most */
static void a_chain_arrives_whole_and_in_order(struct kunit *test)
{
	u8 *out = vt_buf(test, VT_DEPTH * VT_MSG);
	u8 *in = vt_buf(test, VT_DEPTH * VT_MSG);
	struct vt_pair pair = {};
	int i;

	open_shallow(test, &pair);
	vt_fill(out, VT_DEPTH * VT_MSG, 5);
	recv_all(test, &pair.b, in, VT_DEPTH);
	for (i = 0; i < VT_DEPTH - 1; i++)
		KUNIT_ASSERT_EQ(test, send_flags(&pair.a, out, i, FI_COMPLETION |
						 FI_MORE), 0);
	KUNIT_ASSERT_EQ(test, send_flags(&pair.a, out, i, FI_COMPLETION), 0);
	for (i = 0; i < VT_DEPTH; i++) {
		vt_done(test, pair.b.rx, vt_ctx(i));
		vt_done(test, pair.a.tx, vt_ctx(i));
	}
	KUNIT_EXPECT_TRUE(test, vt_filled(in, VT_DEPTH * VT_MSG, 5));
}

static void an_inject_rings_for_the_chain_before_it(struct kunit *test)
{
	u8 *out = vt_buf(test, 4 * VT_MSG), *in = vt_buf(test, 4 * VT_MSG);
	struct vt_pair pair = {};
	int i;

	open_shallow(test, &pair);
	vt_fill(out, 4 * VT_MSG, 5);
	recv_all(test, &pair.b, in, 4);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, send_flags(&pair.a, out, i, FI_COMPLETION |
						 FI_MORE), 0);
	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, out + 3 * VT_MSG, VT_MSG, 0),
			0);
	for (i = 0; i < 4; i++)
		vt_done(test, pair.b.rx, vt_ctx(i));
	for (i = 0; i < 3; i++)
		vt_done(test, pair.a.tx, vt_ctx(i));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, 4 * VT_MSG, 5));
	vt_none(test, pair.a.tx);
}

static void a_plain_send_stays_behind_the_chain(struct kunit *test)
{
	u8 *out = vt_buf(test, 5 * VT_MSG), *in = vt_buf(test, 5 * VT_MSG);
	struct vt_pair pair = {};
	int i;

	open_shallow(test, &pair);
	vt_fill(out, 5 * VT_MSG, 5);
	recv_all(test, &pair.b, in, 5);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, send_flags(&pair.a, out, i, FI_COMPLETION |
						 FI_MORE), 0);
	for (; i < 5; i++)
		KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, out + i * VT_MSG,
					      VT_MSG, NULL, 0, vt_ctx(i)), 0);
	for (i = 0; i < 5; i++) {
		vt_done(test, pair.b.rx, vt_ctx(i));
		vt_done(test, pair.a.tx, vt_ctx(i));
	}
	KUNIT_EXPECT_TRUE(test, vt_filled(in, 5 * VT_MSG, 5));
}

/* When it is done, so are they, and all of the queue is there again */
static void a_plain_send_frees_the_injects_before_it(struct kunit *test)
{
	u8 *buf = vt_buf(test, 2 * VT_MSG);
	struct vt_pair pair = {};
	int i;

	open_shallow(test, &pair);
	for (i = 0; i < VT_DEPTH; i++)
		vt_recv(test, &pair.b, buf, VT_MSG, vt_ctx(i));
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, buf + VT_MSG, VT_MSG,
						0), 0);
	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf + VT_MSG, VT_MSG, NULL, 0,
				      vt_ctx(3)), 0);
	vt_done(test, pair.a.tx, vt_ctx(3));
	for (i = 0; i < 4; i++) {
		vt_done(test, pair.b.rx, vt_ctx(i));
		vt_recv(test, &pair.b, buf, VT_MSG, vt_ctx(VT_DEPTH + i));
	}
	for (i = 0; i < VT_DEPTH; i++)
		KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf + VT_MSG, VT_MSG,
					      NULL, 0, vt_ctx(i)), 0);
	for (i = 0; i < VT_DEPTH; i++)
		vt_done(test, pair.a.tx, vt_ctx(i));
}

static void a_chain_without_end_completes_with_errors_at_shutdown(struct kunit *test)
{
	u8 *out = vt_buf(test, 4 * VT_MSG);
	struct vt_pair pair = {};
	struct vt_comp comp;
	int i;

	open_shallow(test, &pair);
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, send_flags(&pair.a, out, i, FI_COMPLETION |
						 FI_MORE), 0);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	for (i = 0; i < 4; i++) {
		comp = vt_failed(test, pair.a.tx);
		KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(i));
		KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
	}
	vt_none(test, pair.a.tx);
}

static void an_endpoint_closes_with_a_chain_waiting(struct kunit *test)
{
	u8 *out = vt_buf(test, 4 * VT_MSG);
	struct vt_pair pair = {};
	int i;

	open_shallow(test, &pair);
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, send_flags(&pair.a, out, i, FI_COMPLETION |
						 FI_MORE), 0);
	vt_close(test, &pair.a.ep->fid);
	vt_none(test, pair.a.tx);
}

static void open_selective(struct kunit *test, struct vt_pair *pair)
{
	pair->a.bind_flags = FI_SELECTIVE_COMPLETION;
	open_shallow(test, pair);
}

/*
 * Ten times the depth of the queue without one completion asked for: the queue
 * gets its slots back all by itself.
 */
static void silent_sends_never_stop_the_queue(struct kunit *test)
{
	u8 *out = vt_buf(test, VT_MSG), *in = vt_buf(test, VT_MSG);
	struct vt_pair pair = {};
	int i, ret;

	open_selective(test, &pair);
	for (i = 0; i < 10 * VT_DEPTH; i++) {
		vt_fill(out, VT_MSG, i);
		vt_recv(test, &pair.b, in, VT_MSG, vt_ctx(i));
		while ((ret = send_flags(&pair.a, out, 0, 0)) == -EAGAIN)
			cond_resched();
		KUNIT_ASSERT_EQ(test, ret, 0);
		vt_done(test, pair.b.rx, vt_ctx(i));
		KUNIT_ASSERT_TRUE(test, vt_filled(in, VT_MSG, i));
	}
	vt_none(test, pair.a.tx);
}

static void injects_never_stop_the_queue(struct kunit *test)
{
	u8 *in = vt_buf(test, VT_MSG);
	struct vt_pair pair = {};
	int i, ret;

	open_shallow(test, &pair);
	for (i = 0; i < 10 * VT_DEPTH; i++) {
		vt_recv(test, &pair.b, in, VT_MSG, vt_ctx(i));
		while ((ret = fi_inject(pair.a.ep, &i, sizeof(i), 0)) == -EAGAIN)
			cond_resched();
		KUNIT_ASSERT_EQ(test, ret, 0);
		vt_done(test, pair.b.rx, vt_ctx(i));
		KUNIT_ASSERT_EQ(test, *(int *)in, i);
	}
	vt_none(test, pair.a.tx);
}

/* A completion that was asked for tells of the silent ones before it, too */
static void only_what_was_asked_for_is_reported(struct kunit *test)
{
	u8 *out = vt_buf(test, VT_DEPTH * VT_MSG);
	u8 *in = vt_buf(test, VT_DEPTH * VT_MSG);
	struct vt_pair pair = {};
	int i;

	open_selective(test, &pair);
	vt_fill(out, VT_DEPTH * VT_MSG, 5);
	recv_all(test, &pair.b, in, VT_DEPTH);
	for (i = 0; i < VT_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, send_flags(&pair.a, out, i, i % 5 == 4 ?
						 FI_COMPLETION : 0), 0);
	for (i = 4; i < VT_DEPTH; i += 5)
		vt_done(test, pair.a.tx, vt_ctx(i));
	for (i = 0; i < VT_DEPTH; i++)
		vt_done(test, pair.b.rx, vt_ctx(i));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, VT_DEPTH * VT_MSG, 5));
	vt_none(test, pair.a.tx);
}

/* Silent operations that fail are reported, each of them once */
static void silent_operations_report_their_failure(struct kunit *test)
{
	u8 *out = vt_buf(test, 6 * VT_MSG);
	struct vt_pair pair = {};
	unsigned long seen = 0;
	struct vt_comp comp;
	int i;

	/*
	 * There is no receive: none of them can succeed, but over iWARP, where they
	 * have as soon as TCP has them.
	 */
	open_selective(test, &pair);
	for (i = 0; i < 6; i++)
		KUNIT_ASSERT_EQ(test, send_flags(&pair.a, out, i, i == 5 ?
						 FI_COMPLETION : 0), 0);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	do {
		KUNIT_ASSERT_EQ(test, vt_wait(pair.a.tx, &comp), 1);
		KUNIT_EXPECT_FALSE(test, seen & BIT((unsigned long)comp.context));
		seen |= BIT((unsigned long)comp.context);
		if (!vt_is_iwarp(test) || comp.context != vt_ctx(5))
			KUNIT_EXPECT_NE(test, comp.err, 0);
	} while (comp.context != vt_ctx(5));
	if (!vt_is_iwarp(test))
		KUNIT_EXPECT_EQ(test, seen, GENMASK(5, 0));
	vt_none(test, pair.a.tx);
}

static struct kunit_case vt_post_cases[] = {
	KUNIT_CASE(a_chain_arrives_whole_and_in_order),
	KUNIT_CASE(an_inject_rings_for_the_chain_before_it),
	KUNIT_CASE(a_plain_send_stays_behind_the_chain),
	KUNIT_CASE(a_plain_send_frees_the_injects_before_it),
	KUNIT_CASE(a_chain_without_end_completes_with_errors_at_shutdown),
	KUNIT_CASE(an_endpoint_closes_with_a_chain_waiting),
	KUNIT_CASE(silent_sends_never_stop_the_queue),
	KUNIT_CASE(injects_never_stop_the_queue),
	KUNIT_CASE(only_what_was_asked_for_is_reported),
	KUNIT_CASE(silent_operations_report_their_failure),
	{}
};

struct kunit_suite kofi_verbs_post_suite = {
	.name		= "kofi_verbs_post",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= vt_post_cases,
};
