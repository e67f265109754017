// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages behind one another: those posted with FI_MORE, and those without a completion, whose
 * places in the queue come back without one.
 */
#include <linux/sched.h>
#include "../lib/calls.h"
#include "conformance.h"

#define DEPTH	16
#define LEN	8

static void open_shallow(struct kunit *test, struct vt_pair *pair)
{
	conf_shallow(test, DEPTH);
	conf_join(test, pair);
}

static ssize_t send_flags(struct vt_end *end, u8 *buf, unsigned long nr, u64 flags)
{
	return vt_post_flags(end->ep, VT_SENDMSG, &(struct vt_xfer) {
		.buf = buf + nr * LEN, .len = LEN, .context = vt_ctx(nr),
	}, flags);
}

/* So many with FI_MORE */
static void send_chain(struct kunit *test, struct vt_end *end, u8 *buf, int count)
{
	int i;

	for (i = 0; i < count; i++)
		KUNIT_ASSERT_EQ(test, send_flags(end, buf, i, FI_COMPLETION | FI_MORE), 0);
}

static void recv_all(struct kunit *test, struct vt_end *end, u8 *buf, int count)
{
	int i;

	for (i = 0; i < count; i++)
		vt_recv(test, end, buf + i * LEN, LEN, vt_ctx(i));
}

/* The last one rings for all; one doorbell takes eight at most */
static void a_chain_arrives_whole_and_in_order(struct kunit *test)
{
	u8 *out = vt_buf(test, DEPTH * LEN), *in = vt_buf(test, DEPTH * LEN);
	struct vt_pair pair = {};
	int i;

	open_shallow(test, &pair);
	vt_fill(out, DEPTH * LEN, 5);
	recv_all(test, &pair.b, in, DEPTH);
	send_chain(test, &pair.a, out, DEPTH - 1);
	KUNIT_ASSERT_EQ(test, send_flags(&pair.a, out, DEPTH - 1, FI_COMPLETION), 0);
	for (i = 0; i < DEPTH; i++) {
		vt_done(test, pair.b.rx, vt_ctx(i));
		vt_done(test, pair.a.tx, vt_ctx(i));
	}
	KUNIT_EXPECT_TRUE(test, vt_filled(in, DEPTH * LEN, 5));
}

static void an_inject_rings_for_the_chain_before_it(struct kunit *test)
{
	u8 *out = vt_buf(test, 4 * LEN), *in = vt_buf(test, 4 * LEN);
	struct vt_pair pair = {};
	int i;

	open_shallow(test, &pair);
	vt_fill(out, 4 * LEN, 5);
	recv_all(test, &pair.b, in, 4);
	send_chain(test, &pair.a, out, 3);
	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, out + 3 * LEN, LEN, 0), 0);
	for (i = 0; i < 4; i++)
		vt_done(test, pair.b.rx, vt_ctx(i));
	for (i = 0; i < 3; i++)
		vt_done(test, pair.a.tx, vt_ctx(i));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, 4 * LEN, 5));
	vt_none(test, pair.a.tx);
}

static void a_plain_send_stays_behind_the_chain(struct kunit *test)
{
	u8 *out = vt_buf(test, 5 * LEN), *in = vt_buf(test, 5 * LEN);
	struct vt_pair pair = {};
	int i;

	open_shallow(test, &pair);
	vt_fill(out, 5 * LEN, 5);
	recv_all(test, &pair.b, in, 5);
	send_chain(test, &pair.a, out, 3);
	for (i = 3; i < 5; i++)
		vt_send(test, &pair.a, out + i * LEN, LEN, vt_ctx(i));
	for (i = 0; i < 5; i++) {
		vt_done(test, pair.b.rx, vt_ctx(i));
		vt_done(test, pair.a.tx, vt_ctx(i));
	}
	KUNIT_EXPECT_TRUE(test, vt_filled(in, 5 * LEN, 5));
}

/* When it is done, so are they, and all of the queue is there again */
static void a_plain_send_frees_the_injects_before_it(struct kunit *test)
{
	u8 *buf = vt_buf(test, 2 * LEN);
	struct vt_pair pair = {};
	int i;

	open_shallow(test, &pair);
	for (i = 0; i < DEPTH; i++)
		vt_recv(test, &pair.b, buf, LEN, vt_ctx(i));
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, buf + LEN, LEN, 0), 0);
	vt_send(test, &pair.a, buf + LEN, LEN, vt_ctx(3));
	vt_done(test, pair.a.tx, vt_ctx(3));
	for (i = 0; i < 4; i++) {
		vt_done(test, pair.b.rx, vt_ctx(i));
		vt_recv(test, &pair.b, buf, LEN, vt_ctx(DEPTH + i));
	}
	for (i = 0; i < DEPTH; i++)
		KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf + LEN, LEN, NULL, 0, vt_ctx(i)), 0);
	for (i = 0; i < DEPTH; i++)
		vt_done(test, pair.a.tx, vt_ctx(i));
}

static void an_endpoint_closes_with_a_chain_waiting(struct kunit *test)
{
	u8 *out = vt_buf(test, 4 * LEN);
	struct vt_pair pair = {};

	open_shallow(test, &pair);
	send_chain(test, &pair.a, out, 4);
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
	u8 *out = vt_buf(test, LEN), *in = vt_buf(test, LEN);
	struct vt_pair pair = {};
	int i, ret;

	open_selective(test, &pair);
	for (i = 0; i < 10 * DEPTH; i++) {
		vt_fill(out, LEN, i);
		vt_recv(test, &pair.b, in, LEN, vt_ctx(i));
		while ((ret = send_flags(&pair.a, out, 0, 0)) == -EAGAIN)
			cond_resched();
		KUNIT_ASSERT_EQ(test, ret, 0);
		vt_done(test, pair.b.rx, vt_ctx(i));
		KUNIT_ASSERT_TRUE(test, vt_filled(in, LEN, i));
	}
	vt_none(test, pair.a.tx);
}

static void injects_never_stop_the_queue(struct kunit *test)
{
	u8 *in = vt_buf(test, LEN);
	struct vt_pair pair = {};
	int i, ret;

	open_shallow(test, &pair);
	for (i = 0; i < 10 * DEPTH; i++) {
		vt_recv(test, &pair.b, in, LEN, vt_ctx(i));
		while ((ret = fi_inject(pair.a.ep, &i, sizeof(i), 0)) == -EAGAIN)
			cond_resched();
		KUNIT_ASSERT_EQ(test, ret, 0);
		vt_done(test, pair.b.rx, vt_ctx(i));
		KUNIT_ASSERT_EQ(test, *(int *)in, i);
	}
	vt_none(test, pair.a.tx);
}

/* A completion that was asked for frees the places of those before it, too */
static void only_what_was_asked_for_is_reported(struct kunit *test)
{
	u8 *out = vt_buf(test, DEPTH * LEN), *in = vt_buf(test, DEPTH * LEN);
	struct vt_pair pair = {};
	int i;

	open_selective(test, &pair);
	vt_fill(out, DEPTH * LEN, 5);
	recv_all(test, &pair.b, in, DEPTH);
	for (i = 0; i < DEPTH; i++)
		KUNIT_ASSERT_EQ(test, send_flags(&pair.a, out, i,
						 i % 5 == 4 ? FI_COMPLETION : 0), 0);
	for (i = 4; i < DEPTH; i += 5)
		vt_done(test, pair.a.tx, vt_ctx(i));
	for (i = 0; i < DEPTH; i++)
		vt_done(test, pair.b.rx, vt_ctx(i));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, DEPTH * LEN, 5));
	vt_none(test, pair.a.tx);
}

static struct kunit_case post_cases[] = {
	KUNIT_CASE_PARAM(a_chain_arrives_whole_and_in_order, conf_gen_params),
	KUNIT_CASE_PARAM(an_inject_rings_for_the_chain_before_it, conf_gen_params),
	KUNIT_CASE_PARAM(a_plain_send_stays_behind_the_chain, conf_gen_params),
	KUNIT_CASE_PARAM(a_plain_send_frees_the_injects_before_it, conf_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_closes_with_a_chain_waiting, conf_gen_params),
	KUNIT_CASE_PARAM(silent_sends_never_stop_the_queue, conf_gen_params),
	KUNIT_CASE_PARAM(injects_never_stop_the_queue, conf_gen_params),
	KUNIT_CASE_PARAM(only_what_was_asked_for_is_reported, conf_gen_params),
	{}
};

struct kunit_suite conf_post_suite = {
	.name		= "kofi_conformance_post",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= post_cases,
};
