// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tagged messages that have arrived and that nobody has taken: a client looks at them,
 * claims one, discards one.  That is a part of FI_TAGGED.
 *
 * A peek says what is there now, so the cases look again until a message is there.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <rdma/fi_tagged.h>
#include "conformance.h"

#define TAG	0x77

static ssize_t post(struct vt_end *end, u8 *buf, size_t len, u64 tag, void *context, u64 flags)
{
	struct kvec iov = { buf, len };
	struct fi_msg_tagged msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.addr		= FI_ADDR_UNSPEC,
		.tag		= tag,
		.context	= context,
	};

	return fi_trecvmsg(end->ep, &msg, flags);
}

/* The answer to one peek */
static struct vt_comp peek(struct kunit *test, struct vt_end *end, u64 tag,
			   void *context, u64 flags)
{
	struct vt_comp comp;

	KUNIT_ASSERT_EQ(test, post(end, NULL, 0, tag, context, FI_PEEK | flags), 0);
	KUNIT_ASSERT_EQ(test, vt_wait(end->rx, &comp), 1);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, context);
	if (comp.err)
		KUNIT_ASSERT_EQ(test, comp.err, FI_ENOMSG);
	return comp;
}

static struct vt_comp find(struct kunit *test, struct vt_end *end, u64 tag,
			   void *context, u64 flags)
{
	ktime_t limit = ktime_add_ms(ktime_get(), VT_PATIENCE_MS);
	struct vt_comp comp;

	do {
		comp = peek(test, end, tag, context, flags);
		/* No event says that a message has arrived which nobody wants */
		if (comp.err)
			usleep_range(1000, 2000);
	} while (comp.err && ktime_before(ktime_get(), limit));
	KUNIT_ASSERT_EQ_MSG(test, comp.err, 0, "tag %#llx does not arrive", tag);
	KUNIT_EXPECT_EQ(test, comp.tag, tag);
	return comp;
}

static void send(struct kunit *test, struct vt_end *end, u64 tag, u8 byte)
{
	KUNIT_ASSERT_EQ(test, fi_tinject(end->ep, &byte, 1, 0, tag), 0);
}

static void expect_none(struct kunit *test, struct vt_end *end, u64 tag)
{
	KUNIT_EXPECT_EQ(test, peek(test, end, tag, vt_ctx(99), 0).err, FI_ENOMSG);
}

/* It is there for a receive, and is this one */
static void receive(struct kunit *test, struct vt_end *end, u64 tag, u8 byte)
{
	u8 *buf = vt_buf(test, 8);
	struct vt_comp comp;

	KUNIT_ASSERT_EQ(test, post(end, buf, 8, tag, vt_ctx(50), FI_COMPLETION), 0);
	comp = vt_done(test, end->rx, vt_ctx(50));
	KUNIT_EXPECT_EQ(test, comp.tag, tag);
	KUNIT_EXPECT_EQ(test, comp.len, 1);
	KUNIT_EXPECT_EQ(test, buf[0], byte);
}

static void a_peek_that_finds_nothing_is_an_error_once(struct kunit *test)
{
	struct vt_pair pair = {};
	struct vt_comp comp;

	if (!conf_tagged_join(test, &pair))
		return;
	comp = peek(test, &pair.b, TAG, vt_ctx(1), 0);
	KUNIT_EXPECT_EQ(test, comp.err, FI_ENOMSG);
	KUNIT_EXPECT_EQ(test, comp.flags & (FI_TAGGED | FI_RECV), FI_TAGGED | FI_RECV);
	vt_none(test, pair.b.rx);
	/* Nothing has been posted */
	send(test, &pair.a, TAG, 5);
	receive(test, &pair.b, TAG, 5);
	vt_none(test, pair.b.rx);
}

static void a_peek_describes_a_message_and_leaves_it(struct kunit *test)
{
	u64 data = conf_data(test);
	u8 *buf = vt_buf(test, 200);
	struct vt_pair pair = {};
	struct vt_comp comp;

	if (!conf_tagged_join(test, &pair))
		return;
	vt_fill(buf, 100, 1);
	if (data)
		KUNIT_ASSERT_EQ(test, fi_tsenddata(pair.a.ep, buf, 100, NULL,
						   data, 0, TAG, vt_ctx(2)), 0);
	else
		KUNIT_ASSERT_EQ(test, fi_tsend(pair.a.ep, buf, 100, NULL, 0, TAG, vt_ctx(2)), 0);
	comp = find(test, &pair.b, TAG, vt_ctx(1), 0);
	KUNIT_EXPECT_EQ(test, comp.len, 100);
	KUNIT_EXPECT_EQ(test, comp.data, data);
	KUNIT_EXPECT_EQ(test, comp.flags & FI_REMOTE_CQ_DATA, data ? FI_REMOTE_CQ_DATA : 0);
	expect_none(test, &pair.b, TAG + 1);
	KUNIT_EXPECT_EQ(test, peek(test, &pair.b, TAG, vt_ctx(3), 0).err, 0);

	KUNIT_ASSERT_EQ(test, post(&pair.b, buf + 100, 100, TAG, vt_ctx(4), FI_COMPLETION), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.rx, vt_ctx(4)).len, 100);
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf + 100, 100, 1));
	expect_none(test, &pair.b, TAG);
}

static void a_peek_names_the_sender_if_asked_to(struct kunit *test)
{
	struct fi_cq_tagged_entry entry;
	struct vt_pair pair = {};
	fi_addr_t addr = 77;

	if (!conf_is_rdm(test) || !conf_want(test, FI_SOURCE) || !conf_tagged_join(test, &pair))
		return;
	send(test, &pair.a, TAG, 1);
	find(test, &pair.b, TAG, vt_ctx(1), 0);
	KUNIT_ASSERT_EQ(test, post(&pair.b, NULL, 0, TAG, vt_ctx(2), FI_PEEK), 0);
	KUNIT_ASSERT_EQ(test, vt_cq_sreadfrom(pair.b.rx->cq, &entry, 1, &addr, NULL), 1);
	KUNIT_EXPECT_EQ(test, addr, 0);
	KUNIT_EXPECT_EQ(test, entry.tag, TAG);
}

static fi_addr_t source_of_next(struct kunit *test, struct vt_end *end)
{
	struct fi_cq_tagged_entry entry;
	fi_addr_t addr = 77;

	KUNIT_ASSERT_EQ(test, vt_cq_sreadfrom(end->rx->cq, &entry, 1, &addr, NULL), 1);
	return addr;
}

static void a_peek_names_a_sender_that_became_known(struct kunit *test)
{
	struct fi_context *claim = vt_buf(test, sizeof(*claim));
	struct vt_end server = {}, client = {};
	u8 *buf = vt_buf(test, 8);
	fi_addr_t addr;

	if (!conf_is_rdm(test) || !conf_has(test, FI_TAGGED) || !conf_want(test, FI_SOURCE))
		return;
	conf_serve(test);
	vt_client(test, &server, &conf_tagged_kind);
	vt_client(test, &client, &conf_tagged_kind);
	vt_know(test, &client, &server);
	send(test, &client, TAG, 1);
	find(test, &server, TAG, claim, FI_CLAIM);
	send(test, &client, TAG, 2);
	find(test, &server, TAG, vt_ctx(1), 0);
	addr = vt_know(test, &server, &client);
	KUNIT_ASSERT_EQ(test, post(&server, NULL, 0, TAG, vt_ctx(2), FI_PEEK), 0);
	KUNIT_EXPECT_EQ(test, source_of_next(test, &server), addr);
	KUNIT_ASSERT_EQ(test, post(&server, buf, 8, TAG, claim, FI_CLAIM | FI_COMPLETION), 0);
	KUNIT_EXPECT_EQ(test, source_of_next(test, &server), addr);
}

static void a_claimed_message_is_for_its_claimer(struct kunit *test)
{
	struct fi_context *one = vt_buf(test, sizeof(*one));
	struct fi_context *two = vt_buf(test, sizeof(*two));
	u8 *buf = vt_buf(test, 16);
	struct vt_pair pair = {};

	if (!conf_tagged_join(test, &pair))
		return;
	send(test, &pair.a, TAG, 1);
	send(test, &pair.a, TAG, 2);
	find(test, &pair.b, TAG, one, FI_CLAIM);
	find(test, &pair.b, TAG, two, FI_CLAIM);
	expect_none(test, &pair.b, TAG);
	/* A receive that would fit waits for the next one */
	KUNIT_ASSERT_EQ(test, post(&pair.b, buf, 8, TAG, vt_ctx(3), FI_COMPLETION), 0);
	KUNIT_ASSERT_EQ(test, post(&pair.b, buf + 8, 8, TAG, two, FI_CLAIM | FI_COMPLETION), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.rx, two).tag, TAG);
	KUNIT_EXPECT_EQ(test, buf[8], 2);
	KUNIT_ASSERT_EQ(test, post(&pair.b, buf + 8, 8, TAG, one, FI_CLAIM | FI_COMPLETION), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.rx, one).len, 1);
	KUNIT_EXPECT_EQ(test, buf[8], 1);
	vt_none(test, pair.b.rx);
	send(test, &pair.a, TAG, 3);
	vt_done(test, pair.b.rx, vt_ctx(3));
	KUNIT_EXPECT_EQ(test, buf[0], 3);
	/* Nothing is claimed any more */
	KUNIT_EXPECT_EQ(test, post(&pair.b, buf, 8, TAG, one, FI_CLAIM), -EINVAL);
}

static void a_message_that_is_looked_at_can_be_discarded(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	struct vt_comp comp;

	if (!conf_tagged_join(test, &pair))
		return;
	KUNIT_ASSERT_EQ(test, fi_tsend(pair.a.ep, buf, 8, NULL, 0, TAG, vt_ctx(2)), 0);
	send(test, &pair.a, TAG, 7);
	comp = find(test, &pair.b, TAG, vt_ctx(1), FI_DISCARD);
	KUNIT_EXPECT_EQ(test, comp.len, 8);
	/* To its sender it has arrived */
	vt_done(test, pair.a.tx, vt_ctx(2));
	receive(test, &pair.b, TAG, 7);
	expect_none(test, &pair.b, TAG);
}

/* The fence waits for the message, which nobody receives */
static void a_fence_goes_on_behind_a_message_that_is_discarded(struct kunit *test)
{
	u8 *buf = vt_buf(test, 16);
	struct kvec iov = { buf, 1 };
	struct fi_msg_tagged msg = {
		.msg_iov = &iov, .iov_count = 1, .tag = TAG + 1, .context = vt_ctx(2),
	};
	struct vt_pair pair = {};

	if (!conf_tagged_join(test, &pair) || !conf_has(test, FI_FENCE))
		return;
	send(test, &pair.a, TAG, 1);
	buf[0] = 2;
	KUNIT_ASSERT_EQ(test, fi_tsendmsg(pair.a.ep, &msg, FI_FENCE | FI_COMPLETION), 0);
	find(test, &pair.b, TAG, vt_ctx(1), FI_DISCARD);
	KUNIT_ASSERT_EQ(test, post(&pair.b, buf + 8, 8, TAG + 1, vt_ctx(3), FI_COMPLETION), 0);
	vt_done(test, pair.b.rx, vt_ctx(3));
	KUNIT_EXPECT_EQ(test, buf[8], 2);
	vt_done(test, pair.a.tx, vt_ctx(2));
}

static void a_claimed_message_can_be_discarded(struct kunit *test)
{
	struct fi_context *context = vt_buf(test, sizeof(*context));
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);

	if (!conf_tagged_join(test, &pair))
		return;
	KUNIT_ASSERT_EQ(test, fi_tsend(pair.a.ep, buf, 8, NULL, 0, TAG, vt_ctx(2)), 0);
	find(test, &pair.b, TAG, context, FI_CLAIM);
	KUNIT_ASSERT_EQ(test, post(&pair.b, NULL, 0, TAG, context,
				   FI_CLAIM | FI_DISCARD | FI_COMPLETION), 0);
	vt_done(test, pair.b.rx, context);
	vt_done(test, pair.a.tx, vt_ctx(2));
	vt_none(test, pair.b.rx);
	KUNIT_EXPECT_EQ(test, post(&pair.b, NULL, 0, TAG, context, FI_CLAIM | FI_DISCARD), -EINVAL);
	vt_ping(test, &pair.a, &pair.b);
}

/* A claimed message that nobody fetches ends with its receiver */
static void a_claim_ends_with_its_endpoint(struct kunit *test)
{
	struct fi_context *context = vt_buf(test, sizeof(*context));
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	struct vt_comp comp;

	if (!conf_tagged_join(test, &pair))
		return;
	KUNIT_ASSERT_EQ(test, fi_tsend(pair.a.ep, buf, 8, NULL, 0, TAG, vt_ctx(2)), 0);
	find(test, &pair.b, TAG, context, FI_CLAIM);
	vt_close(test, &pair.b.ep->fid);
	KUNIT_ASSERT_EQ(test, vt_wait(pair.a.tx, &comp), 1);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(2));
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
}

/* FI_SELECTIVE_COMPLETION does not hold an answer back */
static void a_peek_is_always_answered(struct kunit *test)
{
	struct vt_pair pair = { .b.bind_flags = FI_SELECTIVE_COMPLETION };

	if (!conf_tagged_join(test, &pair))
		return;
	expect_none(test, &pair.b, TAG);
	send(test, &pair.a, TAG, 1);
	find(test, &pair.b, TAG, vt_ctx(1), 0);
	find(test, &pair.b, TAG, vt_ctx(1), FI_DISCARD);
	expect_none(test, &pair.b, TAG);
}

static void what_makes_no_sense_is_refused(struct kunit *test)
{
	struct fi_context *context = vt_buf(test, sizeof(*context));
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	struct kvec iov = { buf, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };

	if (!conf_tagged_join(test, &pair))
		return;
	KUNIT_EXPECT_EQ(test, post(&pair.b, buf, 8, TAG, context, FI_CLAIM), -EINVAL);
	KUNIT_EXPECT_EQ(test, post(&pair.b, buf, 8, TAG, NULL, FI_CLAIM), -EINVAL);
	KUNIT_EXPECT_EQ(test, post(&pair.b, buf, 8, TAG, context, FI_DISCARD), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, post(&pair.b, buf, 8, TAG, context, FI_PEEK | FI_CLAIM | FI_DISCARD),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(pair.b.ep, &msg, FI_PEEK), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.b.ep, &msg, FI_PEEK), -FI_EBADFLAGS);
	vt_none(test, pair.b.rx);
	vt_ping(test, &pair.a, &pair.b);
}

static struct kunit_case peek_cases[] = {
	KUNIT_CASE_PARAM(a_peek_that_finds_nothing_is_an_error_once, conf_gen_params),
	KUNIT_CASE_PARAM(a_peek_describes_a_message_and_leaves_it, conf_gen_params),
	KUNIT_CASE_PARAM(a_peek_names_a_sender_that_became_known, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_peek_names_the_sender_if_asked_to, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_claimed_message_is_for_its_claimer, conf_gen_params),
	KUNIT_CASE_PARAM(a_message_that_is_looked_at_can_be_discarded, conf_gen_params),
	KUNIT_CASE_PARAM(a_fence_goes_on_behind_a_message_that_is_discarded, conf_gen_params),
	KUNIT_CASE_PARAM(a_claimed_message_can_be_discarded, conf_gen_params),
	KUNIT_CASE_PARAM(a_claim_ends_with_its_endpoint, conf_gen_params),
	KUNIT_CASE_PARAM(a_peek_is_always_answered, conf_gen_params),
	KUNIT_CASE_PARAM(what_makes_no_sense_is_refused, conf_gen_params),
	{}
};

struct kunit_suite conf_peek_suite = {
	.name		= "kofi_conformance_peek",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= peek_cases,
};
