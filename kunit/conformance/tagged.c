// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tagged messages: a receive takes the message whose tag fits, or, where FI_TAGGED
 * is not claimed, every call refuses.  Looking at messages without taking them: peek.c.
 */
#include <rdma/fi_cm.h>
#include <rdma/fi_tagged.h>
#include "conformance.h"

static void tagged_calls_are_refused_unless_claimed(struct kunit *test)
{
	static const struct vt_call *const tables[] = { vt_tsends, vt_trecvs };
	const struct vt_xfer x = { .buf = vt_buf(test, 8), .len = 8, .tag = 1 };
	const struct vt_call *call;
	struct vt_pair pair = {};
	int i;

	conf_join(test, &pair);
	if (conf_has(test, FI_TAGGED))
		return;
	for (i = 0; i < 2; i++)
		for (call = tables[i]; call->name; call++)
			KUNIT_EXPECT_EQ_MSG(test, vt_post(pair.a.ep, call, &x), -ENOSYS, "%s",
					    call->name);
}

static void put(struct kunit *test, struct vt_end *end, u64 tag, u8 byte)
{
	KUNIT_ASSERT_EQ(test, fi_tinject(end->ep, &byte, 1, 0, tag), 0);
}

static void take(struct kunit *test, struct vt_end *end, u8 *buf, u64 tag,
		 u64 ignore, unsigned long nr)
{
	KUNIT_ASSERT_EQ(test, fi_trecv(end->ep, buf, 8, NULL, 0, tag, ignore, vt_ctx(nr)), 0);
}

/* The next completion is that of receive @nr, which has taken this message */
static void taken(struct kunit *test, struct vt_end *end, const u8 *buf,
		  unsigned long nr, u64 tag, u8 byte)
{
	struct vt_comp comp = vt_done(test, end->rx, vt_ctx(nr));

	KUNIT_EXPECT_EQ(test, comp.tag, tag);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_RECV);
	KUNIT_EXPECT_EQ(test, comp.len, 1);
	KUNIT_EXPECT_EQ(test, buf[0], byte);
}

static void carry(struct kunit *test, struct vt_pair *pair, const struct vt_call *send,
		  const struct vt_call *recv, u64 tag)
{
	size_t len = vt_of(test)->info->tx_attr->inject_size;
	u8 *out = vt_buf(test, len), *in = vt_buf(test, len + 1);
	struct vt_xfer from = { .buf = out, .len = len, .tag = tag, .context = vt_ctx(2) };
	const struct vt_xfer to = { .buf = in, .len = len, .tag = tag, .context = vt_ctx(1) };
	struct vt_comp comp;

	if (send->is & VT_CQ_DATA)
		from.data = conf_data(test);
	vt_fill(out, len, tag);
	in[len] = 0x5a;
	KUNIT_ASSERT_EQ(test, vt_post(pair->b.ep, recv, &to), 0);
	KUNIT_ASSERT_EQ_MSG(test, vt_post(pair->a.ep, send, &from), 0, "%s", send->name);
	if (send->is & VT_SHORT)
		memset(out, 0, len);
	comp = vt_done(test, pair->b.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.len, len);
	KUNIT_EXPECT_EQ(test, comp.tag, tag);
	KUNIT_EXPECT_EQ(test, comp.data, from.data);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_RECV |
			(send->is & VT_CQ_DATA ? FI_REMOTE_CQ_DATA : 0));
	if (!(send->is & VT_UNSIGNALED)) {
		comp = vt_done(test, pair->a.tx, vt_ctx(2));
		KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_SEND);
	}
	KUNIT_EXPECT_TRUE_MSG(test, vt_filled(in, len, tag), "%s", send->name);
	KUNIT_EXPECT_EQ(test, in[len], 0x5a);
}

static void each_tagged_call_reaches_each_receive_call(struct kunit *test)
{
	/* The whole width counts */
	static const u64 tags[] = { 0, 1, BIT_ULL(63), U64_MAX };
	const struct vt_call *call;
	struct vt_pair pair = {};
	int i;

	if (!conf_tagged_join(test, &pair))
		return;
	for (call = vt_tsends; call->name; call++) {
		if (!conf_claims(test, call)) {
			if (!(call->flags & FI_FENCE))
				conf_refuses(test, pair.a.ep, call);
			continue;
		}
		for (i = 0; i < ARRAY_SIZE(tags); i++)
			carry(test, &pair, call, &vt_trecvs[i % 3], tags[i]);
	}
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
}

static void messages_go_where_their_tags_fit(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 16);
	struct vt_comp comp;
	int i, first;

	if (!conf_tagged_join(test, &pair))
		return;
	take(test, &pair.b, buf, 0x10, 0xf, 1);
	take(test, &pair.b, buf + 8, 0x20, 0, 2);
	put(test, &pair.a, 0x20, 0x20);
	put(test, &pair.a, 0x15, 0x15);
	for (i = 0, first = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(pair.b.rx, &comp), 1);
		KUNIT_EXPECT_EQ(test, comp.err, 0);
		KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_RECV);
		KUNIT_EXPECT_EQ(test, comp.tag, comp.context == vt_ctx(1) ? 0x15 : 0x20);
		first += comp.context == vt_ctx(1);
	}
	KUNIT_EXPECT_EQ(test, first, 1);
	KUNIT_EXPECT_EQ(test, buf[0], 0x15);
	KUNIT_EXPECT_EQ(test, buf[8], 0x20);
}

/* A receive that fits, and one behind it that fits anything and is for the rest */
static void bits_to_ignore_do_not_count_and_the_others_do(struct kunit *test)
{
	static const struct {
		u64	tag;
		u64	ignore;
		u64	sent;
		bool	fits;
	} pairs[] = {
		{ 5, 0, 5, true },
		{ 5, 0, 4, false },
		{ 5, 1, 4, true },
		{ 4, 1, 5, true },
		{ 5, 2, 4, false },
		{ 0, U64_MAX, 0x123456789abcdef0, true },
		{ BIT_ULL(63), 0, 0, false },
		{ BIT_ULL(63), BIT_ULL(63), 0, true },
		{ 1, ~1ULL, U64_MAX, true },
		{ 1, ~1ULL, ~1ULL, false },
	};
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 16);
	size_t i;

	if (!conf_tagged_join(test, &pair))
		return;
	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		take(test, &pair.b, buf, pairs[i].tag, pairs[i].ignore, 1);
		take(test, &pair.b, buf + 8, 0, U64_MAX, 2);
		put(test, &pair.a, pairs[i].sent, i);
		taken(test, &pair.b, pairs[i].fits ? buf : buf + 8,
		      pairs[i].fits ? 1 : 2, pairs[i].sent, i);
		/* The rest goes with a message that fits it */
		put(test, &pair.a, pairs[i].tag, 99);
		taken(test, &pair.b, pairs[i].fits ? buf + 8 : buf,
		      pairs[i].fits ? 2 : 1, pairs[i].tag, 99);
	}
	vt_none(test, pair.b.rx);
}

/* Whether it names the tag or ignores bits */
static void the_oldest_receive_that_fits_is_taken(struct kunit *test)
{
	static const u64 ignores[] = { 0, 0xf, 0, U64_MAX, 0xf, 0 };
	u8 *buf = vt_buf(test, 8 * ARRAY_SIZE(ignores));
	struct vt_pair pair = {};
	size_t i;

	if (!conf_tagged_join(test, &pair))
		return;
	for (i = 0; i < ARRAY_SIZE(ignores); i++)
		take(test, &pair.b, buf + 8 * i, 7, ignores[i], i);
	for (i = 0; i < ARRAY_SIZE(ignores); i++) {
		put(test, &pair.a, 7, 10 + i);
		taken(test, &pair.b, buf + 8 * i, i, 7, 10 + i);
	}
	vt_none(test, pair.b.rx);
}

static void messages_of_a_tag_keep_their_order(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 64);
	u64 i;

	if (!conf_tagged_join(test, &pair))
		return;
	if (!(vt_of(test)->info->rx_attr->msg_order & FI_ORDER_SAS))
		return;
	/* Some wait, some find their receive */
	for (i = 0; i < 4; i++)
		put(test, &pair.a, 1, i);
	for (i = 0; i < 8; i++)
		take(test, &pair.b, buf + 8 * i, 1, i % 2, i);
	for (i = 4; i < 8; i++)
		put(test, &pair.a, 1, i);
	for (i = 0; i < 8; i++)
		taken(test, &pair.b, buf + 8 * i, i, 1, i);
}

/* In another order than they were sent in */
static void a_message_waits_until_its_tag_is_asked_for(struct kunit *test)
{
	static const u64 wanted[] = { 3, 1, 4, 2 };
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	size_t i;

	if (!conf_tagged_join(test, &pair))
		return;
	if (vt_of(test)->info->domain_attr->resource_mgmt != FI_RM_ENABLED)
		return;
	for (i = 1; i <= ARRAY_SIZE(wanted); i++)
		put(test, &pair.a, i, 10 + i);
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		take(test, &pair.b, buf, wanted[i], 0, i);
		taken(test, &pair.b, buf, i, wanted[i], 10 + wanted[i]);
	}
	vt_ping(test, &pair.a, &pair.b);
}

/* Those without a tag have none, not even 0 */
static void tagged_and_untagged_messages_do_not_meet(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 24);

	if (!conf_tagged_join(test, &pair) || !conf_has(test, FI_MSG))
		return;
	take(test, &pair.b, buf, 0, U64_MAX, 1);
	vt_recv(test, &pair.b, buf + 8, 8, vt_ctx(2));
	buf[16] = 2;
	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, buf + 16, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.rx, vt_ctx(2)).flags, FI_MSG | FI_RECV);
	KUNIT_EXPECT_EQ(test, buf[8], 2);
	vt_recv(test, &pair.b, buf + 8, 8, vt_ctx(2));
	put(test, &pair.a, 0, 1);
	taken(test, &pair.b, buf, 1, 0, 1);
	vt_none(test, pair.b.rx);
	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, buf + 16, 1, 0), 0);
	vt_done(test, pair.b.rx, vt_ctx(2));
}

static void a_longer_tagged_message_is_a_truncation(struct kunit *test)
{
	u8 *out = vt_buf(test, 100), *in = vt_buf(test, 100);
	struct vt_pair pair = {};
	struct vt_comp comp;

	if (!conf_tagged_join(test, &pair))
		return;
	memset(in, 0x5a, 100);
	KUNIT_ASSERT_EQ(test, fi_trecv(pair.b.ep, in, 50, NULL, 0, 3, 0, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_tsend(pair.a.ep, out, 100, NULL, 0, 3, vt_ctx(2)), 0);
	comp = vt_failed(test, pair.b.rx);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.err, FI_ETRUNC);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_RECV);
	KUNIT_EXPECT_EQ(test, comp.tag, 3);
	KUNIT_EXPECT_EQ(test, comp.len, 50);
	KUNIT_EXPECT_EQ(test, in[50], 0x5a);
}

/* Each operation once, whichever end it was; what has been kept may count as sent */
static void expect_each_once(struct kunit *test, struct vt_cq *cq, int count)
{
	unsigned long seen = 0, nr;
	struct vt_comp comp;

	while (count--) {
		KUNIT_ASSERT_EQ(test, vt_wait(cq, &comp), 1);
		nr = (unsigned long)comp.context;
		KUNIT_ASSERT_LT(test, nr, BITS_PER_LONG);
		KUNIT_EXPECT_FALSE(test, seen & BIT(nr));
		KUNIT_EXPECT_EQ(test, comp.err ? comp.flags : 0,
				comp.err ? FI_TAGGED | FI_SEND : 0);
		seen |= BIT(nr);
	}
	vt_none(test, cq);
}

static void waiting_messages_end_with_the_connection(struct kunit *test)
{
	u8 *buf = vt_buf(test, 16);
	struct vt_pair pair;
	int by, i;

	if (!conf_is_msg(test))
		return;
	for (by = 0; by < 2; by++) {
		pair = (struct vt_pair) {};
		if (!conf_tagged_join(test, &pair))
			return;
		for (i = 0; i < 4; i++)
			KUNIT_ASSERT_EQ(test, fi_tsend(pair.a.ep, buf, 8, NULL,
						       0, 1 + i, vt_ctx(i)), 0);
		/* One of them is taken, so the others have been seen */
		take(test, &pair.b, buf + 8, 4, 0, 9);
		vt_done(test, pair.b.rx, vt_ctx(9));
		KUNIT_ASSERT_EQ(test, fi_shutdown(by ? pair.a.ep : pair.b.ep, 0), 0);
		expect_each_once(test, pair.a.tx, 4);
		vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
		vt_event(test, pair.b.eq, FI_SHUTDOWN, NULL);
		vt_none(test, pair.b.rx);
		vt_close(test, &pair.a.ep->fid);
		vt_close(test, &pair.b.ep->fid);
	}
}

/* A message from another peer does not fit */
static void a_directed_tagged_receive_waits_for_its_sender(struct kunit *test)
{
	struct vt_end other = {};
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);

	if (!conf_is_rdm(test) || !conf_has(test, FI_DIRECTED_RECV) ||
	    !conf_tagged_join(test, &pair))
		return;
	vt_client(test, &other, &vt_default_kind);
	vt_know(test, &other, &pair.b);
	KUNIT_ASSERT_EQ(test, vt_know(test, &pair.b, &other), 1);

	KUNIT_ASSERT_EQ(test, fi_trecv(pair.b.ep, buf, 8, NULL, 1, 0, 0xff, vt_ctx(1)), 0);
	put(test, &pair.a, 5, 55);
	put(test, &other, 5, 66);
	taken(test, &pair.b, buf, 1, 5, 66);
	KUNIT_ASSERT_EQ(test, fi_trecv(pair.b.ep, buf, 8, NULL, 0, 5, 0, vt_ctx(2)), 0);
	taken(test, &pair.b, buf, 2, 5, 55);
}

/* Until a message with @tag is there; what its sender sent before is there, too */
static void await_tagged(struct kunit *test, struct vt_end *end, struct vt_end *from, u8 *buf,
			 u64 tag)
{
	put(test, from, tag, tag);
	KUNIT_ASSERT_EQ(test, fi_trecv(end->ep, buf, 8, NULL, FI_ADDR_UNSPEC, tag, 0, vt_ctx(9)),
			0);
	taken(test, end, buf, 9, tag, tag);
}

/* Of two messages the older came from an unknown sender, the younger from a known one */
static void a_directed_receive_takes_what_came_before_its_sender_was_known(struct kunit *test)
{
	struct vt_end other = {};
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);

	if (!conf_is_rdm(test) || !conf_has(test, FI_DIRECTED_RECV) ||
	    !conf_tagged_join(test, &pair))
		return;
	vt_client(test, &other, &vt_default_kind);
	vt_know(test, &other, &pair.b);
	put(test, &other, 5, 66);
	await_tagged(test, &pair.b, &other, buf, 1);
	KUNIT_ASSERT_EQ(test, vt_know(test, &pair.b, &other), 1);
	put(test, &other, 5, 77);
	await_tagged(test, &pair.b, &other, buf, 2);

	KUNIT_ASSERT_EQ(test, fi_trecv(pair.b.ep, buf, 8, NULL, 1, 5, 0, vt_ctx(3)), 0);
	taken(test, &pair.b, buf, 3, 5, 66);
	KUNIT_ASSERT_EQ(test, fi_trecv(pair.b.ep, buf, 8, NULL, 1, 0, 0xff, vt_ctx(4)), 0);
	taken(test, &pair.b, buf, 4, 5, 77);
}

/* The message then takes the next receive */
static void a_tagged_receive_is_cancelled_once(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 16);
	struct vt_comp comp;
	ssize_t ret;

	if (!conf_tagged_join(test, &pair))
		return;
	take(test, &pair.b, buf, 1, 0, 5);
	take(test, &pair.b, buf + 8, 1, 1, 6);
	ret = fi_cancel(&pair.b.ep->fid, vt_ctx(5));
	if (ret == -ENOSYS) {
		put(test, &pair.a, 1, 1);
		taken(test, &pair.b, buf, 5, 1, 1);
		return;
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	comp = vt_failed(test, pair.b.rx);
	KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_TAGGED | FI_RECV);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(5));
	KUNIT_EXPECT_EQ(test, fi_cancel(&pair.b.ep->fid, vt_ctx(5)), -ENOENT);
	KUNIT_EXPECT_EQ(test, fi_cancel(&pair.b.ep->fid, NULL), -ENOENT);
	put(test, &pair.a, 1, 9);
	taken(test, &pair.b, buf + 8, 6, 1, 9);
	KUNIT_EXPECT_EQ(test, buf[0], 0);
	/* It has taken its message */
	KUNIT_EXPECT_EQ(test, fi_cancel(&pair.b.ep->fid, vt_ctx(6)), -ENOENT);
	vt_none(test, pair.b.rx);
}

static struct kunit_case tagged_cases[] = {
	KUNIT_CASE_PARAM(tagged_calls_are_refused_unless_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(each_tagged_call_reaches_each_receive_call, conf_gen_params),
	KUNIT_CASE_PARAM(messages_go_where_their_tags_fit, conf_gen_params),
	KUNIT_CASE_PARAM(bits_to_ignore_do_not_count_and_the_others_do, conf_gen_params),
	KUNIT_CASE_PARAM(the_oldest_receive_that_fits_is_taken, conf_gen_params),
	KUNIT_CASE_PARAM(messages_of_a_tag_keep_their_order, conf_gen_params),
	KUNIT_CASE_PARAM(a_message_waits_until_its_tag_is_asked_for, conf_gen_params),
	KUNIT_CASE_PARAM(tagged_and_untagged_messages_do_not_meet, conf_gen_params),
	KUNIT_CASE_PARAM(a_longer_tagged_message_is_a_truncation, conf_gen_params),
	KUNIT_CASE_PARAM(waiting_messages_end_with_the_connection, conf_gen_msg),
	KUNIT_CASE_PARAM(a_directed_tagged_receive_waits_for_its_sender, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_directed_receive_takes_what_came_before_its_sender_was_known,
			 conf_gen_rdm),
	KUNIT_CASE_PARAM(a_tagged_receive_is_cancelled_once, conf_gen_params),
	{}
};

struct kunit_suite conf_tagged_suite = {
	.name		= "kofi_conformance_tagged",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= tagged_cases,
};
