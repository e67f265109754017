// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Matching by tag and by sender (include/kofi/srx.h): whatever kinds of receives there
 * are, the oldest that matches takes the message, and takes the oldest message.
 */
#include "srx.h"

#define NR_MANY		1000

/* Receive @nr of @src with @tag and bits to ignore */
static ssize_t directed(struct ut_srx *us, int nr, u64 tag, u64 ignore, fi_addr_t src)
{
	return ut_post(us, nr, (struct fi_tagged_xfer) {
		.xfer.type	= FI_OP_TRECV,
		.tag		= tag,
		.ignore		= ignore,
		.xfer.addr	= src,
	});
}

static int from(struct ut_srx *us, int nr, u64 tag, fi_addr_t src)
{
	return ut_arrive(us, nr, (struct kofi_srx_arrival) {
		.flags		= FI_TAGGED,
		.tag		= tag,
		.src_addr	= src,
		.len		= 10,
	});
}

/* One receive and one message, and whether they match */
static const struct pair {
	const char	*name;
	u64		tag;
	u64		ignore;
	fi_addr_t	src;
	u64		msg_tag;
	fi_addr_t	msg_src;
	bool		matches;
} pairs[] = {
	{ "the tag", 7, 0, FI_ADDR_UNSPEC, 7, 1, true },
	{ "another tag", 7, 0, FI_ADDR_UNSPEC, 8, 1, false },
	{ "a tag of another upper half", 7, 0, FI_ADDR_UNSPEC,
	  7 | BIT_ULL(63), 1, false },
	{ "an ignored bit", 0x70, 0xf, FI_ADDR_UNSPEC, 0x75, 1, true },
	{ "a bit that counts", 0x70, 0xf, FI_ADDR_UNSPEC, 0x65, 1, false },
	{ "ignored bits of the receive's own", 0x7f, 0xf, FI_ADDR_UNSPEC, 0x70,
	  1, true },
	{ "any tag", 7, ~0ULL, FI_ADDR_UNSPEC, 0x1234567890, 1, true },
	{ "the sender", 7, 0, 1, 7, 1, true },
	{ "another sender", 7, 0, 1, 7, 2, false },
	{ "the sender with another tag", 7, 0, 1, 8, 1, false },
	{ "an unknown sender", 7, 0, 1, 7, FI_ADDR_NOTAVAIL, false },
	{ "any sender, and an unknown one", 7, 0, FI_ADDR_UNSPEC, 7,
	  FI_ADDR_NOTAVAIL, true },
	{ "any tag of the sender", 7, ~0ULL, 1, 8, 1, true },
	{ "any tag of another sender", 7, ~0ULL, 1, 8, 2, false },
	{ "any tag of an unknown sender", 7, ~0ULL, 1, 8, FI_ADDR_NOTAVAIL,
	  false },
};

/* All keys of receives are in one bucket, so none is told apart by its hash */
static struct ut_srx *one_bucket(struct kunit *test)
{
	return ut_srx_open(test, (struct ut_srx_how) {
		.attr = {
			.size = 1, .iov_limit = 1, .max_msgs = 1,
			.directed = true,
		},
	});
}

static void a_message_finds_what_matches(struct kunit *test)
{
	struct ut_srx *us = one_bucket(test);
	const struct pair *pair = test->param_value;

	KUNIT_EXPECT_EQ(test, directed(us, 1, pair->tag, pair->ignore, pair->src), 0);
	KUNIT_ASSERT_EQ(test, from(us, 9, pair->msg_tag, pair->msg_src),
			pair->matches ? KOFI_SRX_MATCHED : KOFI_SRX_QUEUED);
	if (!pair->matches)
		return;
	ut_deliver(us, 9);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV, .len = 10,
		.tag = pair->msg_tag, .src = pair->msg_src);
}

static void a_receive_finds_what_matches(struct kunit *test)
{
	struct ut_srx *us = one_bucket(test);
	const struct pair *pair = test->param_value;

	KUNIT_EXPECT_EQ(test, from(us, 9, pair->msg_tag, pair->msg_src), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, directed(us, 1, pair->tag, pair->ignore, pair->src), 0);
	KUNIT_ASSERT_EQ(test, us->msg[9].starts, pair->matches);
	if (!pair->matches)
		return;
	ut_deliver(us, 9);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV, .len = 10,
		.tag = pair->msg_tag, .src = pair->msg_src);
}

/* Receives that all match tag 7 of sender 1 */
static const struct kind {
	const char	*name;
	u64		ignore;
	fi_addr_t	src;
} kinds[] = {
	{ "any sender", 0, FI_ADDR_UNSPEC },
	{ "one sender", 0, 1 },
	{ "bits to ignore", 0xf, FI_ADDR_UNSPEC },
	{ "one sender with bits to ignore", 0xf, 1 },
};

static ssize_t post_kind(struct ut_srx *us, int nr, const struct kind *kind)
{
	return directed(us, nr, 7, kind->ignore, kind->src);
}

/* All orders of two of each kind */
static void the_oldest_receive_takes_the_message(struct kunit *test)
{
	const struct kind *first = test->param_value, *second;
	int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct ut_srx *us = ut_srx(test);

		second = &kinds[i];
		KUNIT_EXPECT_EQ(test, post_kind(us, 1, first), 0);
		KUNIT_EXPECT_EQ(test, post_kind(us, 2, second), 0);
		KUNIT_EXPECT_EQ(test, post_kind(us, 3, first), 0);
		KUNIT_EXPECT_EQ(test, post_kind(us, 4, second), 0);
		for (int nr = 1; nr <= 4; nr++) {
			KUNIT_EXPECT_EQ_MSG(test, from(us, nr, 7, 1), KOFI_SRX_MATCHED, "%s",
					    second->name);
			ut_deliver(us, nr);
			ut_gets(test, us, .nr = nr, .len = 10, .tag = 7);
		}
		ut_srx_close(us);
	}
}

static void the_oldest_message_is_taken(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct ut_srx *us = ut_srx(test);
	int nr;

	/* In front of them, between and behind, what does not match */
	KUNIT_EXPECT_EQ(test, from(us, 1, 0x17, 1), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, from(us, 2, 7, 1), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 8, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, from(us, 3, 7, 1), KOFI_SRX_QUEUED);
	for (nr = 2; nr <= 3; nr++) {
		KUNIT_EXPECT_EQ(test, post_kind(us, nr, kind), 0);
		KUNIT_EXPECT_EQ(test, us->msg[nr].starts, 1);
	}
	KUNIT_EXPECT_EQ(test, post_kind(us, 4, kind), 0);
	KUNIT_EXPECT_EQ(test, us->msg[1].starts, 0);
	KUNIT_EXPECT_EQ(test, us->msg[8].starts, 0);
}

static void messages_of_other_senders_stay(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, from(us, 1, 7, 1), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, from(us, 2, 7, 2), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, from(us, 3, 7, 1), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, directed(us, 4, 7, 0, 2), 0);
	KUNIT_EXPECT_EQ(test, us->msg[2].starts, 1);
	KUNIT_EXPECT_EQ(test, directed(us, 5, 7, 0, FI_ADDR_UNSPEC), 0);
	KUNIT_EXPECT_EQ(test, us->msg[1].starts, 1);
	KUNIT_EXPECT_EQ(test, directed(us, 6, 7, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, us->msg[3].starts, 1);
}

/* Where receives cannot name their sender, whatever address they have is ignored */
static void without_directed_receives_a_sender_is_ignored(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, (struct ut_srx_how) {
		.attr = { .size = 4, .iov_limit = 1, .max_msgs = 2 },
	});

	KUNIT_EXPECT_EQ(test, directed(us, 1, 7, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, directed(us, 2, 7, 0xf, 1), 0);
	KUNIT_EXPECT_EQ(test, from(us, 1, 7, 2), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, from(us, 2, 7, 2), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, from(us, 3, 7, 2), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, from(us, 4, 7, 2), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, from(us, 5, 7, 2), -EAGAIN);
	KUNIT_EXPECT_EQ(test, directed(us, 3, 7, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, directed(us, 4, 7, 0xf, 1), 0);
	KUNIT_EXPECT_EQ(test, us->msg[3].starts, 1);
	KUNIT_EXPECT_EQ(test, us->msg[4].starts, 1);
}

static void untagged_receives_name_their_sender_too(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_post(us, 1, (struct fi_tagged_xfer) {
		.xfer.type = FI_OP_RECV, .xfer.addr = 2,
	}), 0);
	KUNIT_EXPECT_EQ(test, ut_arrive(us, 1, (struct kofi_srx_arrival) {
		.flags = FI_MSG, .src_addr = 1,
	}), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_arrive(us, 2, (struct kofi_srx_arrival) {
		.flags = FI_MSG, .src_addr = 2,
	}), KOFI_SRX_MATCHED);
}

static void tagged_and_untagged_are_two_worlds(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_trecv(us, 1, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 2, 0, ~0ULL), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 3, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, us->msg[1].starts, 1);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 4, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 2, 0, 10), KOFI_SRX_MATCHED);
	ut_deliver(us, 2);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV, .len = 10);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 3, 10), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 4, 0, 10), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 5, 0, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 4), -ENOENT);
}

static void kinds_of_one_tag_are_told_apart(struct kunit *test)
{
	struct ut_srx *us = one_bucket(test);

	KUNIT_EXPECT_EQ(test, ut_trecv(us, 1, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), 0);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV, .err = ECANCELED);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 1, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, us->msg[1].starts, 0);
}

/* A tagged receive does not look at the tag of an untagged message, nor that at its own */
static void untagged_messages_have_no_tag(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_post(us, 1, (struct fi_tagged_xfer) {
		.xfer.type = FI_OP_RECV, .tag = 5, .ignore = 1,
	}), 0);
	KUNIT_EXPECT_EQ(test, ut_arrive(us, 1, (struct kofi_srx_arrival) {
		.flags = FI_MSG, .tag = 8, .len = 10,
	}), KOFI_SRX_MATCHED);
	ut_deliver(us, 1);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV, .len = 10, .tag = 0);
}

static void an_untagged_receive_may_be_given_a_tag(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 10), KOFI_SRX_MATCHED);
	kofi_rx_set_tag(us->msg[1].rx, 77);
	ut_deliver(us, 1);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV, .len = 10, .tag = 77,
		.src = FI_ADDR_NOTAVAIL);
}

/* Of four receives or messages with one key, the @gone-th leaves from where it stands */
static void the_rest_of_a_ring_stays_in_order(struct kunit *test)
{
	struct ut_srx *us;
	int gone, nr;

	for (gone = 0; gone < 4; gone++) {
		us = ut_srx(test);
		for (nr = 0; nr < 4; nr++)
			KUNIT_EXPECT_EQ(test, ut_trecv(us, nr, 7, 0), 0);
		KUNIT_EXPECT_EQ(test, ut_cancel(us, gone), 0);
		ut_gets(test, us, .nr = gone, .tag = 7, .err = ECANCELED);
		for (nr = 0; nr < 4; nr++) {
			if (nr == gone)
				continue;
			KUNIT_EXPECT_EQ(test, ut_tmsg(us, nr, 7, 10), KOFI_SRX_MATCHED);
			ut_deliver(us, nr);
			ut_gets(test, us, .nr = nr, .len = 10, .tag = 7);
		}
		for (nr = 0; nr < 4; nr++)
			KUNIT_EXPECT_EQ(test, ut_tmsg(us, nr, 7, 10), KOFI_SRX_QUEUED);
		KUNIT_EXPECT_TRUE(test, kofi_srx_withdraw(&us->srx, &us->msg[gone].msg));
		for (nr = 0; nr < 4; nr++) {
			if (nr == gone)
				continue;
			KUNIT_EXPECT_EQ(test, ut_trecv(us, nr, 7, 0), 0);
			KUNIT_EXPECT_EQ(test, us->msg[nr].starts, 1);
		}
		KUNIT_EXPECT_EQ(test, us->msg[gone].starts, 0);
		ut_srx_close(us);
	}
}

/* The cost of a match is one of keys, not of receives */
static void many_receives_cost_no_more(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, (struct ut_srx_how) {
		.attr = { .size = NR_MANY, .iov_limit = 1, .directed = true },
	});
	u64 before;
	int i;

	for (i = 0; i < NR_MANY; i++)
		KUNIT_ASSERT_EQ(test, directed(us, 0, i % 2 ? i : 0, 0, i % 3 ? FI_ADDR_UNSPEC : i +
					       1), 0);
	before = us->srx.compared;
	for (i = 1; i < NR_MANY; i += 10) {
		KUNIT_ASSERT_EQ(test, from(us, 0, i % 2 ? i : 0, i + 1), KOFI_SRX_MATCHED);
		ut_deliver(us, 0);
	}
	KUNIT_EXPECT_LT(test, us->srx.compared - before, NR_MANY);
	/* Each of them was found by its key */
	KUNIT_EXPECT_GE(test, us->srx.compared - before, NR_MANY / 10);
}

static void a_receive_looks_at_nothing_if_nothing_waits(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	u64 before;

	KUNIT_EXPECT_EQ(test, directed(us, 1, 7, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, us->srx.ndirected, 1);
	KUNIT_EXPECT_EQ(test, from(us, 1, 7, 1), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, us->srx.ndirected, 0);
	before = us->srx.compared;
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 2, 7, 0), 0);
	/* No message waits, so there is nothing to look at */
	KUNIT_EXPECT_EQ(test, us->srx.compared, before);
	/* Of receives with bits to ignore, each is looked at */
	us = ut_srx(test);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 1, 8, 1), 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 2, 4, 1), 0);
	KUNIT_EXPECT_EQ(test, from(us, 1, 4, 1), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, us->srx.compared, 2);
}

/* A peer's access by tag takes a receive, or is refused */
static int take(struct ut_srx *us, u64 tag, fi_addr_t src, size_t len, u64 kind,
		struct kofi_rx **rx)
{
	const struct kofi_srx_arrival what = {
		.ep		= &us->ep[0],
		.flags		= FI_TAGGED | FI_RMA | kind,
		.tag		= tag,
		.src_addr	= src,
		.source		= src,
		.len		= len,
	};

	return kofi_srx_take(&us->srx, &what, rx);
}

static void an_access_by_tag_takes_what_a_message_would(struct kunit *test)
{
	struct ut_srx *us = one_bucket(test);
	const struct pair *pair = test->param_value;
	struct kofi_rx *rx;

	us->ep[0].caps = FI_TAGGED | FI_RMA | FI_TAGGED_RMA;
	KUNIT_EXPECT_EQ(test, directed(us, 1, pair->tag, pair->ignore, pair->src), 0);
	KUNIT_ASSERT_EQ(test, take(us, pair->msg_tag, pair->msg_src, 10, FI_READ, &rx),
			pair->matches ? 0 : -ENOMSG);
	if (!pair->matches)
		return;
	KUNIT_EXPECT_EQ(test, take(us, pair->msg_tag, pair->msg_src, 10, FI_READ, &rx), -ENOMSG);
	kofi_rx_complete(rx);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV | FI_RMA | FI_READ, .len = 10,
		.tag = pair->msg_tag);
}

static void an_access_by_tag_needs_the_capability(struct kunit *test)
{
	static const u64 others[] = { FI_READ, FI_WRITE };
	struct ut_srx *us = ut_srx(test);
	struct kofi_rx *rx;
	int i;

	KUNIT_EXPECT_EQ(test, ut_trecv(us, 1, 7, 0), 0);
	us->ep[0].caps = FI_TAGGED | FI_RMA;
	KUNIT_EXPECT_EQ(test, take(us, 7, 1, 10, FI_WRITE, &rx), -EACCES);
	us->ep[0].caps |= FI_TAGGED_RMA;
	/* A direction of the endpoint's own operations is none of its peers' */
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		us->ep[0].caps |= others[i];
		KUNIT_EXPECT_EQ(test, take(us, 7, 1, 10, FI_WRITE, &rx), -EACCES);
		us->ep[0].caps &= ~others[i];
	}
	us->ep[0].caps |= FI_REMOTE_WRITE;
	KUNIT_EXPECT_EQ(test, take(us, 7, 1, 10, FI_READ, &rx), -EACCES);
	us->ep[0].caps ^= FI_REMOTE_WRITE | FI_REMOTE_READ;
	KUNIT_EXPECT_EQ(test, take(us, 7, 1, 10, FI_WRITE, &rx), -EACCES);
	ut_gets_nothing(test, us);
	KUNIT_EXPECT_EQ(test, take(us, 7, 1, 10, FI_READ, &rx), 0);
	kofi_rx_complete(rx);
	ut_gets(test, us, .nr = 1, .len = 10, .tag = 7);
}

static void an_access_that_is_too_long_ends_the_receive(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	struct kofi_rx *rx;

	us->ep[0].caps = FI_TAGGED_RMA;
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 1, 7, 0), 0);
	KUNIT_EXPECT_EQ(test, take(us, 7, 1, UT_SRX_BUF + 1, FI_WRITE, &rx), -EMSGSIZE);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV | FI_RMA | FI_WRITE, .tag = 7,
		.err = EMSGSIZE, .olen = 1);
	KUNIT_EXPECT_EQ(test, take(us, 7, 1, 10, FI_WRITE, &rx), -ENOMSG);
}

/*
 * A buffer that has no object for its second message defers the receives behind it.  One that is
 * to take a message which waits is not taken.
 */
static void an_access_by_tag_takes_a_deferred_receive(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, (struct ut_srx_how) {
		.attr = { .size = 4, .iov_limit = 1, .max_msgs = 4, .multi = 1 },
	});
	struct kofi_rx *rx;

	us->ep[0].caps = FI_TAGGED_RMA;
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 8, 9, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 9, 9, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_post(us, 1, (struct fi_tagged_xfer) {
		.xfer.type	= FI_OP_TRECV,
		.xfer.flags	= FI_MULTI_RECV,
		.tag		= 9,
	}), 0);
	KUNIT_ASSERT_EQ(test, us->msg[8].starts, 1);
	KUNIT_ASSERT_EQ(test, us->msg[9].starts, 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 2, 9, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 3, 7, 0), 0);
	KUNIT_EXPECT_EQ(test, take(us, 9, 1, 10, FI_WRITE, &rx), -ENOMSG);
	KUNIT_ASSERT_EQ(test, take(us, 7, 1, 10, FI_WRITE, &rx), 0);
	kofi_rx_complete(rx);
	ut_gets(test, us, .nr = 3, .len = 10, .tag = 7);
	ut_deliver(us, 8);
	ut_gets(test, us, .nr = 1, .len = 10, .tag = 9);
}

KUNIT_ARRAY_PARAM_DESC(pair, pairs, name);
KUNIT_ARRAY_PARAM_DESC(kind, kinds, name);

static struct kunit_case srx_tagged_cases[] = {
	KUNIT_CASE_PARAM(a_message_finds_what_matches, pair_gen_params),
	KUNIT_CASE_PARAM(a_receive_finds_what_matches, pair_gen_params),
	KUNIT_CASE_PARAM(the_oldest_receive_takes_the_message, kind_gen_params),
	KUNIT_CASE_PARAM(the_oldest_message_is_taken, kind_gen_params),
	KUNIT_CASE(messages_of_other_senders_stay),
	KUNIT_CASE(without_directed_receives_a_sender_is_ignored),
	KUNIT_CASE(untagged_receives_name_their_sender_too),
	KUNIT_CASE(tagged_and_untagged_are_two_worlds),
	KUNIT_CASE(kinds_of_one_tag_are_told_apart),
	KUNIT_CASE(untagged_messages_have_no_tag),
	KUNIT_CASE(an_untagged_receive_may_be_given_a_tag),
	KUNIT_CASE(the_rest_of_a_ring_stays_in_order),
	KUNIT_CASE(many_receives_cost_no_more),
	KUNIT_CASE(a_receive_looks_at_nothing_if_nothing_waits),
	KUNIT_CASE_PARAM(an_access_by_tag_takes_what_a_message_would, pair_gen_params),
	KUNIT_CASE(an_access_by_tag_needs_the_capability),
	KUNIT_CASE(an_access_that_is_too_long_ends_the_receive),
	KUNIT_CASE(an_access_by_tag_takes_a_deferred_receive),
	{}
};

static struct kunit_suite srx_tagged_suite = {
	.name		= "kofi_util_srx_tagged",
	.test_cases	= srx_tagged_cases,
};

kunit_test_suite(srx_tagged_suite);
