// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * FI_PEEK, FI_CLAIM and FI_DISCARD (include/kofi/srx.h): looking at messages that wait,
 * keeping one, and dropping one.
 */
#include "srx.h"

/* Message @nr of sender 3 with data */
static int arrives(struct ut_srx *us, int nr, u64 tag, struct kofi_ep *ep)
{
	return ut_arrive(us, nr, (struct kofi_srx_arrival) {
		.ep		= ep,
		.flags		= FI_TAGGED | FI_REMOTE_CQ_DATA,
		.tag		= tag,
		.src_addr	= 3,
		.len		= 100,
		.data		= 50 + nr,
	});
}

/* Nothing but a completion that was asked for is reported */
static struct ut_srx *open_selective(struct kunit *test)
{
	return ut_srx_open(test, (struct ut_srx_how) {
		.attr = { .size = 1, .iov_limit = 1, .max_msgs = 4 },
		.selective = true,
	});
}

static void a_peek_says_what_waits(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	int i;

	KUNIT_EXPECT_EQ(test, arrives(us, 1, 7, NULL), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, arrives(us, 2, 7, NULL), KOFI_SRX_QUEUED);
	/* It takes nothing away, and needs no room */
	for (i = 1; i <= 2; i++) {
		KUNIT_EXPECT_EQ(test, ut_post(us, i, (struct fi_tagged_xfer) {
			.xfer.type = FI_OP_TRECV, .xfer.flags = FI_PEEK, .tag = 7,
			.xfer.list = us, .xfer.count = 99,
		}), 0);
		ut_gets(test, us, .nr = i, .flags = UT_TRECV | FI_REMOTE_CQ_DATA,
			.len = 100, .data = 51, .tag = 7, .src = 3);
	}
	KUNIT_EXPECT_EQ(test, us->msg[1].starts + us->msg[1].discards, 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&us->cntr.cntr), 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 3, 7, 0), 0);
	KUNIT_EXPECT_EQ(test, us->msg[1].starts, 1);
}

static void a_peek_matches_as_a_receive_does(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	struct fi_tagged_xfer peek = { .xfer.type = FI_OP_TRECV, .xfer.flags = FI_PEEK };

	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, arrives(us, 1, 0x17, NULL), KOFI_SRX_QUEUED);
	peek.tag = 0x10;
	peek.ignore = 0xf;
	KUNIT_EXPECT_EQ(test, ut_post(us, 1, peek), 0);
	ut_gets(test, us, .nr = 1, .len = 100, .data = 51, .tag = 0x17);
	peek.xfer.addr = 4;
	KUNIT_EXPECT_EQ(test, ut_post(us, 2, peek), 0);
	ut_gets(test, us, .nr = 2, .err = ENOMSG, .tag = 0x10);
	peek.tag = 0x17;
	peek.ignore = 0;
	peek.xfer.addr = 3;
	KUNIT_EXPECT_EQ(test, ut_post(us, 3, peek), 0);
	ut_gets(test, us, .nr = 3, .len = 100, .data = 51, .tag = 0x17);
}

static void a_peek_that_finds_nothing_is_an_error(struct kunit *test)
{
	struct ut_srx *us = open_selective(test);

	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK), 0);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV, .err = ENOMSG, .tag = 7);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 2, 7, FI_PEEK | FI_CLAIM), 0);
	ut_gets(test, us, .nr = 2, .flags = UT_TRECV, .err = ENOMSG, .tag = 7);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 3, 7, FI_PEEK | FI_DISCARD), 0);
	ut_gets(test, us, .nr = 3, .flags = UT_TRECV, .err = ENOMSG, .tag = 7);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(&us->cntr.cntr), 0);
	/* It has not become a receive */
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 1, 7, 10), KOFI_SRX_QUEUED);
}

/* A context has no queue for the answer */
static void a_peek_of_a_shared_context_returns_the_error(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, (struct ut_srx_how) {
		.attr = { .size = 1, .iov_limit = 1, .max_msgs = 4 },
		.shared = true,
	});

	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK), -ENOMSG);
	ut_gets_nothing(test, us);
	KUNIT_EXPECT_EQ(test, arrives(us, 1, 7, &us->ep[1]), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK), 0);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV | FI_REMOTE_CQ_DATA,
		.len = 100, .data = 51, .tag = 7);
}

static void a_peek_is_reported_in_any_case(struct kunit *test)
{
	struct ut_srx *us = open_selective(test);

	KUNIT_EXPECT_EQ(test, arrives(us, 1, 7, NULL), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK), 0);
	ut_gets(test, us, .nr = 1, .len = 100, .data = 51, .tag = 7);
}

static void a_peek_may_discard_the_message(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	int i;

	for (i = 1; i <= ut_srx_attr.max_msgs; i++)
		KUNIT_EXPECT_EQ(test, arrives(us, i, 7, NULL), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, arrives(us, 9, 7, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK | FI_DISCARD), 0);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV | FI_REMOTE_CQ_DATA,
		.len = 100, .data = 51, .tag = 7, .src = 3);
	KUNIT_EXPECT_EQ(test, us->msg[1].discards, 1);
	KUNIT_EXPECT_EQ(test, us->resumes, 1);
	KUNIT_EXPECT_EQ(test, arrives(us, 9, 7, NULL), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 2, 7, 0), 0);
	KUNIT_EXPECT_EQ(test, us->msg[2].starts, 1);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&us->cntr.cntr), 0);
}

static void a_claimed_message_is_kept_for_its_context(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, arrives(us, 1, 7, NULL), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK | FI_CLAIM), 0);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV | FI_REMOTE_CQ_DATA,
		.len = 100, .data = 51, .tag = 7, .src = 3);

	/* Neither another peek nor a receive of any kind finds it */
	KUNIT_EXPECT_EQ(test, ut_peek(us, 2, 7, FI_PEEK), 0);
	ut_gets(test, us, .nr = 2, .err = ENOMSG, .tag = 7);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 2, 7, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 3, 0, ~0ULL), 0);
	KUNIT_EXPECT_EQ(test, ut_post(us, 4, (struct fi_tagged_xfer) {
		.xfer.type = FI_OP_TRECV, .tag = 7, .xfer.addr = 3,
	}), 0);
	KUNIT_EXPECT_EQ(test, us->msg[1].starts, 0);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 4), 0);
	ut_gets(test, us, .nr = 4, .err = ECANCELED, .tag = 7);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 2, 7, FI_CLAIM), -EINVAL);

	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 99, FI_CLAIM), 0);
	KUNIT_EXPECT_EQ(test, us->msg[1].starts, 1);
	ut_deliver(us, 1);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV | FI_REMOTE_CQ_DATA,
		.len = 100, .data = 51, .tag = 7, .src = 3,
		.buf = ut_srx_buf(us, 1));
	KUNIT_EXPECT_TRUE(test, ut_delivered(us, 1, 0, 1, 100));
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&us->cntr.cntr), 1);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_CLAIM), -EINVAL);
}

static void a_claimed_message_may_be_truncated(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, arrives(us, 1, 7, NULL), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK | FI_CLAIM), 0);
	ut_gets(test, us, .nr = 1, .len = 100, .data = 51, .tag = 7);
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 60, (struct fi_tagged_xfer) {
		.xfer.type = FI_OP_TRECV, .xfer.flags = FI_CLAIM,
	}), 0);
	ut_deliver(us, 1);
	ut_gets(test, us, .nr = 1, .len = 60, .data = 51, .tag = 7, .err = FI_ETRUNC, .olen = 40);
}

/* A list that is refused leaves the message where it is */
static void a_claim_with_a_wrong_list_is_refused(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, arrives(us, 1, 7, NULL), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK | FI_CLAIM), 0);
	ut_gets(test, us, .nr = 1, .len = 100, .data = 51, .tag = 7);
	KUNIT_EXPECT_EQ(test, ut_post(us, 1, (struct fi_tagged_xfer) {
		.xfer.type = FI_OP_TRECV, .xfer.flags = FI_CLAIM,
		.xfer.buf_type = FI_BUF_KVEC + 99, .xfer.list = us, .xfer.count = 1,
	}), -EINVAL);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_CLAIM), 0);
	KUNIT_EXPECT_EQ(test, us->msg[1].starts, 1);
}

static void claims_of_one_context_come_in_order(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	int nr;

	for (nr = 1; nr <= 3; nr++)
		KUNIT_EXPECT_EQ(test, arrives(us, nr, nr, NULL), KOFI_SRX_QUEUED);
	/* The third first */
	for (nr = 3; nr >= 1; nr--) {
		KUNIT_EXPECT_EQ(test, ut_peek(us, 8, nr, FI_PEEK | FI_CLAIM), 0);
		ut_gets(test, us, .nr = 8, .len = 100, .data = 50 + nr, .tag = nr);
	}
	for (nr = 3; nr >= 1; nr--) {
		KUNIT_EXPECT_EQ(test, ut_peek(us, 8, 0, FI_CLAIM), 0);
		KUNIT_EXPECT_EQ(test, us->msg[nr].starts, 1);
		ut_deliver(us, nr);
		ut_gets(test, us, .nr = 8, .len = 100, .data = 50 + nr, .tag = nr);
	}
}

/* What has been seen by the peek is not reported once more, but for its length */
static void a_claimed_message_may_be_discarded(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, arrives(us, 1, 7, NULL), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK | FI_CLAIM), 0);
	ut_gets(test, us, .nr = 1, .len = 100, .data = 51, .tag = 7);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_CLAIM | FI_DISCARD), 0);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV, .len = 100, .tag = 7, .src = 3);
	KUNIT_EXPECT_EQ(test, us->msg[1].discards, 1);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&us->cntr.cntr), 0);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_CLAIM | FI_DISCARD), -EINVAL);
}

static void a_discard_is_reported_if_the_client_asks(struct kunit *test)
{
	struct ut_srx *us = open_selective(test);
	int nr;

	for (nr = 1; nr <= 2; nr++) {
		KUNIT_EXPECT_EQ(test, arrives(us, nr, 7, NULL), KOFI_SRX_QUEUED);
		KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK | FI_CLAIM), 0);
		ut_gets(test, us, .nr = 1, .len = 100, .data = 50 + nr, .tag = 7);
	}
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_CLAIM | FI_DISCARD), 0);
	ut_gets_nothing(test, us);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_CLAIM | FI_DISCARD | FI_COMPLETION), 0);
	ut_gets(test, us, .nr = 1, .len = 100, .tag = 7);
	KUNIT_EXPECT_EQ(test, us->msg[1].discards, 1);
	KUNIT_EXPECT_EQ(test, us->msg[2].discards, 1);
}

static void a_claimed_message_still_counts_as_one_that_waits(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	int i;

	for (i = 1; i <= ut_srx_attr.max_msgs; i++)
		KUNIT_EXPECT_EQ(test, arrives(us, i, 7, NULL), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, arrives(us, 9, 7, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK | FI_CLAIM), 0);
	ut_gets(test, us, .nr = 1, .len = 100, .data = 51, .tag = 7);
	KUNIT_EXPECT_EQ(test, us->resumes, 0);
	KUNIT_EXPECT_EQ(test, arrives(us, 9, 7, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_CLAIM), 0);
	KUNIT_EXPECT_EQ(test, us->resumes, 1);
	KUNIT_EXPECT_EQ(test, arrives(us, 9, 7, NULL), KOFI_SRX_QUEUED);
}

static void a_claimed_message_is_not_withdrawn_for_room(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, arrives(us, 1, 7, NULL), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, arrives(us, 2, 7, NULL), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK | FI_CLAIM), 0);
	ut_gets(test, us, .nr = 1, .len = 100, .data = 51, .tag = 7);
	KUNIT_EXPECT_FALSE(test, kofi_srx_withdraw_unclaimed(&us->srx, &us->msg[1].msg));
	KUNIT_EXPECT_TRUE(test, kofi_srx_withdraw_unclaimed(&us->srx, &us->msg[2].msg));
	KUNIT_EXPECT_FALSE(test, kofi_srx_withdraw_unclaimed(&us->srx, &us->msg[2].msg));
	KUNIT_EXPECT_TRUE(test, kofi_srx_withdraw(&us->srx, &us->msg[1].msg));
	KUNIT_EXPECT_EQ(test, us->srx.nmsgs, 0);
}

/* The other object is at the place of the first one, before a younger claim of the context */
static void a_claimed_message_can_be_moved(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	int i;

	for (i = 1; i <= 2; i++) {
		KUNIT_EXPECT_EQ(test, arrives(us, i, 7, NULL), KOFI_SRX_QUEUED);
		KUNIT_EXPECT_FALSE(test, kofi_srx_move_claimed(&us->srx, &us->msg[i].msg,
							       &us->msg[3].msg));
		KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK | FI_CLAIM), 0);
		ut_gets(test, us, .nr = 1, .len = 100, .data = 50 + i, .tag = 7);
	}
	KUNIT_EXPECT_TRUE(test, kofi_srx_move_claimed(&us->srx, &us->msg[1].msg, &us->msg[3].msg));
	KUNIT_EXPECT_FALSE(test, kofi_srx_move_claimed(&us->srx, &us->msg[1].msg, &us->msg[4].msg));
	KUNIT_EXPECT_FALSE(test, kofi_srx_withdraw(&us->srx, &us->msg[1].msg));
	KUNIT_EXPECT_EQ(test, us->srx.nmsgs, 2);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_CLAIM), 0);
	KUNIT_EXPECT_FALSE(test, us->msg[3].msg.queued);
	KUNIT_EXPECT_TRUE(test, us->msg[2].msg.queued);
	KUNIT_EXPECT_TRUE(test, kofi_srx_move_claimed(&us->srx, &us->msg[2].msg, &us->msg[1].msg));
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_CLAIM), 0);
	KUNIT_EXPECT_EQ(test, us->srx.nmsgs, 0);
}

static void a_claimed_message_can_be_withdrawn(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, arrives(us, 1, 7, NULL), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK | FI_CLAIM), 0);
	ut_gets(test, us, .nr = 1, .len = 100, .data = 51, .tag = 7);
	KUNIT_EXPECT_TRUE(test, kofi_srx_withdraw(&us->srx, &us->msg[1].msg));
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_CLAIM), -EINVAL);
}

static void a_peek_without_a_receive_waits_for_one(struct kunit *test)
{
	struct ut_srx *us = open_selective(test);

	KUNIT_EXPECT_EQ(test, ut_trecv(us, 1, 8, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 2, 7, FI_PEEK), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), 0);
	ut_gets(test, us, .nr = 1, .tag = 8, .err = ECANCELED);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&us->cq.cq, NULL, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, atomic_read(&us->readys), 1);
}

static void nothing_is_looked_at_after_the_end(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	kofi_srx_flush(&us->srx, ECANCELED);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_PEEK), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_CLAIM), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 1, 7, FI_CLAIM | FI_DISCARD), -ESHUTDOWN);
	ut_gets_nothing(test, us);
}

static struct kunit_case srx_peek_cases[] = {
	KUNIT_CASE(a_peek_says_what_waits),
	KUNIT_CASE(a_peek_matches_as_a_receive_does),
	KUNIT_CASE(a_peek_that_finds_nothing_is_an_error),
	KUNIT_CASE(a_peek_of_a_shared_context_returns_the_error),
	KUNIT_CASE(a_peek_is_reported_in_any_case),
	KUNIT_CASE(a_peek_may_discard_the_message),
	KUNIT_CASE(a_claimed_message_is_kept_for_its_context),
	KUNIT_CASE(a_claimed_message_may_be_truncated),
	KUNIT_CASE(a_claim_with_a_wrong_list_is_refused),
	KUNIT_CASE(claims_of_one_context_come_in_order),
	KUNIT_CASE(a_claimed_message_may_be_discarded),
	KUNIT_CASE(a_discard_is_reported_if_the_client_asks),
	KUNIT_CASE(a_claimed_message_still_counts_as_one_that_waits),
	KUNIT_CASE(a_claimed_message_is_not_withdrawn_for_room),
	KUNIT_CASE(a_claimed_message_can_be_moved),
	KUNIT_CASE(a_claimed_message_can_be_withdrawn),
	KUNIT_CASE(a_peek_without_a_receive_waits_for_one),
	KUNIT_CASE(nothing_is_looked_at_after_the_end),
	{}
};

static struct kunit_suite srx_peek_suite = {
	.name		= "kofi_util_srx_peek",
	.test_cases	= srx_peek_cases,
};

kunit_test_suite(srx_peek_suite);
