// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Buffers for several messages (FI_MULTI_RECV): each message has a completion and lies
 * behind the one before it; the buffer comes back once, with the last of them.
 */
#include <rdma/fi_tagged.h>
#include "conformance.h"

#define LEN	256
#define MIN_LEFT	64

static ssize_t post(struct fid_ep *ep, void *buf, size_t len, void *context, u64 flags)
{
	struct kvec iov = { buf, len };
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.addr		= FI_ADDR_UNSPEC,
		.context	= context,
	};

	return fi_recvmsg(ep, &msg, FI_MULTI_RECV | flags);
}

static int set_min(struct fid_ep *ep, size_t min)
{
	return fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, sizeof(min));
}

/* false: it is not claimed, and is refused */
static bool multi_join(struct kunit *test, struct vt_pair *pair)
{
	u8 *buf = vt_buf(test, 8);

	conf_join(test, pair);
	if (!conf_has(test, FI_MULTI_RECV)) {
		KUNIT_EXPECT_EQ(test, post(pair->b.ep, buf, 8, NULL, 0), -FI_EBADFLAGS);
		KUNIT_EXPECT_EQ(test, set_min(pair->b.ep, MIN_LEFT), -ENOPROTOOPT);
		return false;
	}
	KUNIT_ASSERT_EQ(test, set_min(pair->b.ep, MIN_LEFT), 0);
	return true;
}

static void send(struct kunit *test, struct vt_pair *pair, size_t len, u8 seed)
{
	u8 *buf = vt_buf(test, len);

	vt_fill(buf, len, seed);
	vt_send(test, &pair->a, buf, len, vt_ctx(seed));
	vt_done(test, pair->a.tx, vt_ctx(seed));
}

/* The next message lies there, and is the last in the buffer or not */
static void arrived(struct kunit *test, struct vt_pair *pair, void *context,
		    u8 *at, size_t len, u8 seed, bool last)
{
	struct vt_comp comp = vt_done(test, pair->b.rx, context);

	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV | (last ? FI_MULTI_RECV : 0));
	KUNIT_EXPECT_EQ(test, comp.len, len);
	KUNIT_EXPECT_PTR_EQ(test, comp.buf, (void *)at);
	KUNIT_EXPECT_TRUE(test, vt_filled(at, len, seed));
}

static void an_endpoint_without_the_capability_has_no_such_buffers(struct kunit *test)
{
	struct vt_pair pair = {};

	vt_of(test)->info->caps &= ~FI_MULTI_RECV;
	KUNIT_EXPECT_FALSE(test, multi_join(test, &pair));
}

static void messages_lie_one_behind_the_other(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN), *next = vt_buf(test, LEN);
	struct vt_pair pair = {};
	int i;

	if (!multi_join(test, &pair))
		return;
	KUNIT_ASSERT_EQ(test, post(pair.b.ep, buf, LEN, vt_ctx(9), 0), 0);
	for (i = 0; i < 4; i++) {
		send(test, &pair, 50, i);
		/* 56 bytes are left behind the fourth, too few for another one */
		arrived(test, &pair, vt_ctx(9), buf + 50 * i, 50, i, i == 3);
	}
	vt_none(test, pair.b.rx);
	KUNIT_EXPECT_EQ(test, buf[200], 0);
	/* The buffer is the client's; what comes now goes to another one */
	KUNIT_ASSERT_EQ(test, post(pair.b.ep, next, LEN, vt_ctx(10), 0), 0);
	send(test, &pair, 20, 7);
	arrived(test, &pair, vt_ctx(10), next, 20, 7, false);
	KUNIT_EXPECT_EQ(test, buf[200], 0);
}

/* Whether they were sent before or after the buffer was posted */
static void messages_of_every_length_fill_a_buffer(struct kunit *test)
{
	static const size_t lens[] = { 0, 1, 100, 0, 60, 32 };
	u8 *buf = vt_buf(test, LEN), *out = vt_buf(test, 100);
	struct vt_pair pair = {};
	size_t i, at = 0;

	if (!multi_join(test, &pair))
		return;
	vt_fill(out, 100, 5);
	vt_send(test, &pair.a, out, lens[0], vt_ctx(0));
	KUNIT_ASSERT_EQ(test, post(pair.b.ep, buf, LEN, vt_ctx(9), 0), 0);
	for (i = 1; i < ARRAY_SIZE(lens); i++)
		vt_send(test, &pair.a, out, lens[i], vt_ctx(i));
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		arrived(test, &pair, vt_ctx(9), buf + at, lens[i], 5, i == ARRAY_SIZE(lens) - 1);
		at += lens[i];
		vt_done(test, pair.a.tx, vt_ctx(i));
	}
	vt_none(test, pair.b.rx);
}

static void the_option_holds_for_what_is_posted_afterwards(struct kunit *test)
{
	u8 *one = vt_buf(test, LEN), *two = vt_buf(test, LEN);
	struct vt_pair pair = {};
	size_t value = 0, len = sizeof(value);
	struct fid *fid;

	if (!multi_join(test, &pair))
		return;
	fid = &pair.b.ep->fid;
	KUNIT_EXPECT_EQ(test, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, &len),
			0);
	KUNIT_EXPECT_EQ(test, value, MIN_LEFT);
	KUNIT_EXPECT_EQ(test, fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, 1),
			-EINVAL);
	KUNIT_ASSERT_EQ(test, post(pair.b.ep, one, LEN, vt_ctx(1), 0), 0);
	KUNIT_ASSERT_EQ(test, set_min(pair.b.ep, LEN), 0);
	KUNIT_ASSERT_EQ(test, post(pair.b.ep, two, LEN, vt_ctx(2), 0), 0);
	send(test, &pair, 192, 1);
	arrived(test, &pair, vt_ctx(1), one, 192, 1, false);
	send(test, &pair, 1, 2);
	arrived(test, &pair, vt_ctx(1), one + 192, 1, 2, true);
	send(test, &pair, 1, 3);
	arrived(test, &pair, vt_ctx(2), two, 1, 3, true);
	vt_none(test, pair.b.rx);
}

static void a_longer_message_than_the_buffer_is_cut(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN), *out = vt_buf(test, LEN);
	struct vt_pair pair = {};
	struct vt_comp comp;

	if (!multi_join(test, &pair))
		return;
	KUNIT_ASSERT_EQ(test, post(pair.b.ep, buf, LEN - 1, vt_ctx(1), 0), 0);
	vt_send(test, &pair.a, out, LEN, vt_ctx(2));
	comp = vt_failed(test, pair.b.rx);
	KUNIT_EXPECT_EQ(test, comp.err, FI_ETRUNC);
	KUNIT_EXPECT_EQ(test, comp.len, LEN - 1);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV | FI_MULTI_RECV);
	vt_none(test, pair.b.rx);
}

/* It takes the next receive whole, and the buffer comes back by itself */
static void a_message_that_does_not_fit_takes_the_next_receive(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN), *next = vt_buf(test, LEN);
	struct vt_pair pair = {};
	struct vt_comp comp;
	int i, back = 0;

	if (!multi_join(test, &pair))
		return;
	KUNIT_ASSERT_EQ(test, post(pair.b.ep, buf, LEN, vt_ctx(1), 0), 0);
	vt_recv(test, &pair.b, next, LEN, vt_ctx(2));
	send(test, &pair, 150, 1);
	arrived(test, &pair, vt_ctx(1), buf, 150, 1, false);
	send(test, &pair, 150, 2);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(pair.b.rx, &comp), 1);
		KUNIT_EXPECT_EQ(test, comp.err, 0);
		if (comp.context == vt_ctx(2)) {
			KUNIT_EXPECT_EQ(test, comp.len, 150);
			KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV);
			continue;
		}
		KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
		KUNIT_EXPECT_EQ(test, comp.flags, FI_MULTI_RECV);
		KUNIT_EXPECT_EQ(test, comp.len, 0);
		back++;
	}
	KUNIT_EXPECT_EQ(test, back, 1);
	KUNIT_EXPECT_TRUE(test, vt_filled(next, 150, 2));
	vt_none(test, pair.b.rx);
}

/* Messages whose success is not reported, but the buffer's return is */
static void an_unsignaled_buffer_comes_back_all_the_same(struct kunit *test)
{
	struct vt_pair pair = { .b.bind_flags = FI_SELECTIVE_COMPLETION };
	u8 *buf = vt_buf(test, LEN);
	int i;

	if (!multi_join(test, &pair))
		return;
	KUNIT_ASSERT_EQ(test, post(pair.b.ep, buf, LEN, vt_ctx(1), 0), 0);
	for (i = 0; i < 4; i++)
		send(test, &pair, 50, i);
	arrived(test, &pair, vt_ctx(1), buf + 150, 50, 3, true);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, vt_filled(buf + 50 * i, 50, i));
	vt_none(test, pair.b.rx);
}

static void a_buffer_can_be_cancelled(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};
	struct vt_comp comp;
	int used;

	if (!multi_join(test, &pair))
		return;
	for (used = 0; used < 2; used++) {
		KUNIT_ASSERT_EQ(test, post(pair.b.ep, buf, LEN, vt_ctx(1), 0), 0);
		if (used) {
			send(test, &pair, 50, 3);
			arrived(test, &pair, vt_ctx(1), buf, 50, 3, false);
		}
		KUNIT_ASSERT_EQ(test, fi_cancel(&pair.b.ep->fid, vt_ctx(1)), 0);
		comp = vt_failed(test, pair.b.rx);
		KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
		KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
		KUNIT_EXPECT_TRUE(test, comp.flags & FI_MULTI_RECV);
		KUNIT_EXPECT_EQ(test, fi_cancel(&pair.b.ep->fid, vt_ctx(1)), -ENOENT);
		vt_none(test, pair.b.rx);
	}
	vt_ping(test, &pair.a, &pair.b);
}

#define NR_FLOOD	64

/* More messages than completions: nothing is lost while nobody reads */
static void a_flood_into_one_buffer_waits_for_its_reader(struct kunit *test)
{
	u32 *buf = vt_buf(test, NR_FLOOD * sizeof(*buf) + MIN_LEFT - 1);
	u32 *out = vt_buf(test, NR_FLOOD * sizeof(*out)), i, sent = 0;
	struct vt_pair pair = {};
	struct vt_comp comp;

	conf_shallow(test, 4);
	if (!multi_join(test, &pair))
		return;
	KUNIT_ASSERT_EQ(test, post(pair.b.ep, buf, NR_FLOOD * sizeof(*buf) + MIN_LEFT - 1,
				   vt_ctx(1), 0), 0);
	for (i = 0; i < NR_FLOOD; i++) {
		for (; sent < NR_FLOOD; sent++) {
			out[sent] = sent;
			if (fi_send(pair.a.ep, &out[sent], sizeof(*out), NULL, 0, vt_ctx(sent)))
				break;
		}
		comp = vt_done(test, pair.b.rx, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, buf[i], i);
		KUNIT_ASSERT_EQ(test, !!(comp.flags & FI_MULTI_RECV), i == NR_FLOOD - 1);
		vt_done(test, pair.a.tx, vt_ctx(i));
	}
	vt_none(test, pair.b.rx);
}

static void calls_without_flags_post_such_buffers_by_default(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};
	struct fi_info *info;

	info = conf_with_flags(test, 0, FI_MULTI_RECV);
	KUNIT_EXPECT_EQ(test, !!info, conf_has(test, FI_MULTI_RECV));
	if (info)
		vt_of(test)->info = info;
	if (!multi_join(test, &pair))
		return;
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	send(test, &pair, 150, 1);
	arrived(test, &pair, vt_ctx(1), buf, 150, 1, false);
	send(test, &pair, 100, 2);
	arrived(test, &pair, vt_ctx(1), buf + 150, 100, 2, true);
}

static void a_buffer_is_one_element(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct kvec iov[] = { { buf, 100 }, { buf + 100, 100 } };
	struct fi_msg msg = { .msg_iov = iov, .iov_count = 2 };
	struct vt_pair pair = {};

	if (!multi_join(test, &pair))
		return;
	KUNIT_EXPECT_EQ(test, fi_recvmsg(pair.b.ep, &msg, FI_MULTI_RECV), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.b.ep, &msg, FI_MULTI_RECV), -FI_EBADFLAGS);
	vt_ping(test, &pair.a, &pair.b);
}

/* Messages of one tag, or of any; FI_TAGGED_MULTI_RECV is a claim of its own */
static void tagged_messages_share_a_buffer_if_claimed(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN), byte;
	struct kvec iov = { buf, LEN };
	struct fi_msg_tagged msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.tag		= 0x10,
		.ignore		= 0xf,
		.context	= vt_ctx(1),
	};
	struct vt_pair pair = {};
	struct vt_comp comp;

	if (!conf_tagged_join(test, &pair))
		return;
	if (!conf_has(test, FI_TAGGED_MULTI_RECV)) {
		KUNIT_EXPECT_EQ(test, fi_trecvmsg(pair.b.ep, &msg, FI_MULTI_RECV), -FI_EBADFLAGS);
		return;
	}
	KUNIT_ASSERT_EQ(test, set_min(pair.b.ep, LEN - 1), 0);
	KUNIT_ASSERT_EQ(test, fi_trecvmsg(pair.b.ep, &msg, FI_MULTI_RECV), 0);
	for (byte = 0; byte < 2; byte++) {
		KUNIT_ASSERT_EQ(test, fi_tinject(pair.a.ep, &byte, 1, 0, 0x13 + byte), 0);
		comp = vt_done(test, pair.b.rx, vt_ctx(1));
		KUNIT_EXPECT_EQ(test, comp.tag, 0x13 + byte);
		KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_RECV | (byte ? FI_MULTI_RECV : 0));
		KUNIT_EXPECT_EQ(test, buf[byte], byte);
	}
	vt_none(test, pair.b.rx);
}

static struct kunit_case multi_cases[] = {
	KUNIT_CASE_PARAM(an_endpoint_without_the_capability_has_no_such_buffers, conf_gen_params),
	KUNIT_CASE_PARAM(messages_lie_one_behind_the_other, conf_gen_params),
	KUNIT_CASE_PARAM(messages_of_every_length_fill_a_buffer, conf_gen_params),
	KUNIT_CASE_PARAM(the_option_holds_for_what_is_posted_afterwards, conf_gen_params),
	KUNIT_CASE_PARAM(a_longer_message_than_the_buffer_is_cut, conf_gen_params),
	KUNIT_CASE_PARAM(a_message_that_does_not_fit_takes_the_next_receive, conf_gen_params),
	KUNIT_CASE_PARAM(an_unsignaled_buffer_comes_back_all_the_same, conf_gen_params),
	KUNIT_CASE_PARAM(a_buffer_can_be_cancelled, conf_gen_params),
	KUNIT_CASE_PARAM(a_flood_into_one_buffer_waits_for_its_reader, conf_gen_params),
	KUNIT_CASE_PARAM(calls_without_flags_post_such_buffers_by_default, conf_gen_params),
	KUNIT_CASE_PARAM(a_buffer_is_one_element, conf_gen_params),
	KUNIT_CASE_PARAM(tagged_messages_share_a_buffer_if_claimed, conf_gen_params),
	{}
};

struct kunit_suite conf_multi_suite = {
	.name		= "kofi_conformance_multi",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= multi_cases,
};
