// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What takes receives and messages back (include/kofi/srx.h): cancel, withdraw, flush,
 * and the close of an endpoint and of a receive side.
 */
#include "srx.h"

#define NR_MANY		150	/* messages, more than are discarded at once */

static const struct fi_tagged_xfer buffer = {
	.xfer.type	= FI_OP_RECV,
	.xfer.flags	= FI_MULTI_RECV,
};

static struct ut_srx_how how_multi(bool shared)
{
	return (struct ut_srx_how) {
		.attr = {
			.size = 4, .iov_limit = 1, .max_msgs = NR_MANY,
			.multi = 2, .min_multi_recv = 1,
		},
		.shared = shared,
	};
}

static int arrives_at(struct ut_srx *us, int nr, struct kofi_ep *ep)
{
	return ut_arrive(us, nr, (struct kofi_srx_arrival) {
		.ep = ep, .flags = FI_MSG, .len = 10,
	});
}

static void a_cancelled_receive_ends_with_an_error(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 2, 7, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 3, 7, 1), 0);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), 0);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV, .err = ECANCELED);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 3), 0);
	ut_gets(test, us, .nr = 3, .flags = UT_TRECV, .tag = 7, .err = ECANCELED);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 2), 0);
	ut_gets(test, us, .nr = 2, .flags = UT_TRECV, .tag = 7, .err = ECANCELED);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 2, 7, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(&us->cntr.cntr), 3);
}

/* Its object has had another message before */
static void a_cancelled_receive_has_nothing_of_a_message(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, (struct ut_srx_how) {
		.attr = { .size = 1, .iov_limit = 1, .max_msgs = 1 },
	});

	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_arrive(us, 1, (struct kofi_srx_arrival) {
		.flags = FI_MSG | FI_REMOTE_CQ_DATA, .len = 10, .data = 4711,
	}), KOFI_SRX_MATCHED);
	ut_deliver(us, 1);
	ut_gets(test, us, .nr = 1, .len = 10, .data = 4711);
	KUNIT_EXPECT_EQ(test, kofi_srx_post_buf(&us->srx, ut_srx_buf(us, 2), UT_SRX_BUF, NULL,
						FI_ADDR_UNSPEC, &us->context[2]), 0);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 2), 0);
	KUNIT_EXPECT_NULL(test, us->cq.head->buf);
	ut_gets(test, us, .nr = 2, .flags = UT_RECV, .err = ECANCELED);
}

static void the_oldest_with_the_context_is_cancelled(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	u64 tag;

	for (tag = 7; tag <= 9; tag++)
		KUNIT_EXPECT_EQ(test, ut_trecv(us, 1, tag, 0), 0);
	for (tag = 7; tag <= 9; tag++) {
		KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), 0);
		ut_gets(test, us, .nr = 1, .tag = tag, .err = ECANCELED);
	}
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), -ENOENT);
}

static void what_has_taken_a_message_is_not_cancelled(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 10), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 2, 7, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 2, 7, FI_PEEK | FI_CLAIM), 0);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 2), -ENOENT);
	ut_deliver(us, 1);
	ut_gets(test, us, .nr = 2, .len = 10, .tag = 7);
	ut_gets(test, us, .nr = 1, .len = 10);
	KUNIT_EXPECT_EQ(test, ut_peek(us, 2, 7, FI_CLAIM), 0);
	KUNIT_EXPECT_EQ(test, us->msg[2].starts, 1);
}

static void no_context_cancels_nothing(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_recv(us, UT_NO_CONTEXT, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, UT_NO_CONTEXT), -ENOENT);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 10), KOFI_SRX_MATCHED);
}

static void a_shared_receive_is_cancelled_without_completion(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, (struct ut_srx_how) {
		.attr = { .size = 1, .iov_limit = 1, .max_msgs = 1 },
		.shared = true,
	});

	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), 0);
	ut_gets_nothing(test, us);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 2, UT_SRX_BUF), 0);
}

static void an_unused_buffer_is_cancelled_as_a_receive(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, how_multi(false));

	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	ut_brings(test, us, 1, 100);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV, .len = 100);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), 0);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV | FI_MULTI_RECV, .err = ECANCELED);
}

static void a_cancelled_buffer_in_use_comes_back_with_its_last(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, how_multi(false));

	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 100), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 2, 100), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), 0);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), -ENOENT);
	ut_gets_nothing(test, us);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 3, 10), KOFI_SRX_QUEUED);
	ut_deliver(us, 1);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV, .len = 100);
	ut_deliver(us, 2);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV | FI_MULTI_RECV, .len = 100);
	ut_gets_nothing(test, us);
}

static void a_flush_ends_receives_in_order(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_trecv(us, 1, 7, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 2, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 3, 7, 1), 0);
	kofi_srx_flush(&us->srx, ECONNRESET);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV, .tag = 7, .err = ECONNRESET);
	ut_gets(test, us, .nr = 2, .flags = UT_RECV, .err = ECONNRESET);
	ut_gets(test, us, .nr = 3, .flags = UT_TRECV, .tag = 7, .err = ECONNRESET);
	ut_gets_nothing(test, us);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(&us->cntr.cntr), 3);
	/* Once more makes nothing */
	kofi_srx_flush(&us->srx, ECONNRESET);
	ut_gets_nothing(test, us);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(&us->cntr.cntr), 3);
}

static void nothing_is_received_after_a_flush(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	kofi_srx_flush(&us->srx, ECANCELED);
	ut_gets(test, us, .nr = 1, .err = ECANCELED);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 2, UT_SRX_BUF), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 10), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, us->srx.pool.nfree, us->srx.pool.count);
}

static void a_flush_discards_messages_that_wait(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, how_multi(false));
	int nr;

	for (nr = 0; nr < NR_MANY; nr++)
		KUNIT_EXPECT_EQ(test, ut_msg(us, nr, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 0, UT_SRX_BUF), 0);
	kofi_srx_flush(&us->srx, ECANCELED);
	for (nr = 0; nr < NR_MANY; nr++)
		KUNIT_EXPECT_EQ(test, us->msg[nr].discards, nr ? 1 : 0);
	KUNIT_EXPECT_EQ(test, us->srx.nmsgs, 0);
	/* What has been matched is the provider's to the end */
	ut_deliver(us, 0);
	ut_gets(test, us, .nr = 0, .len = 10);
	ut_gets_nothing(test, us);
}

static void a_flush_resumes_what_waits_outside(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	us->outside = true;
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 10), -EAGAIN);
	kofi_srx_flush(&us->srx, ECANCELED);
	KUNIT_EXPECT_EQ(test, us->resumes, 1);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 10), -ESHUTDOWN);
}

static void a_flush_gives_buffers_back(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, how_multi(false));

	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 2, 300, buffer), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 100), KOFI_SRX_MATCHED);
	kofi_srx_flush(&us->srx, ECANCELED);
	ut_gets(test, us, .nr = 2, .flags = UT_RECV | FI_MULTI_RECV, .err = ECANCELED);
	ut_gets_nothing(test, us);
	ut_deliver(us, 1);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV | FI_MULTI_RECV, .len = 100);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(&us->cntr.cntr), 1);
}

/* Receives that have not seen all messages yet are flushed like others */
static void a_flush_ends_deferred_receives(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, how_multi(false));
	int nr;

	for (nr = 1; nr <= 3; nr++)
		KUNIT_EXPECT_EQ(test, ut_msg(us, nr, 50), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 2, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, us->msg[2].starts, 1);
	KUNIT_EXPECT_EQ(test, us->msg[3].starts, 0);
	kofi_srx_flush(&us->srx, ECANCELED);
	KUNIT_EXPECT_EQ(test, us->msg[3].discards, 1);
	ut_gets(test, us, .nr = 2, .flags = UT_RECV, .err = ECANCELED);
	ut_deliver(us, 1);
	ut_deliver(us, 2);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV, .len = 50);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV | FI_MULTI_RECV, .len = 50);
	ut_gets_nothing(test, us);
}

static void a_withdrawn_message_is_the_providers(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 1, 7, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 2, 7, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_TRUE(test, kofi_srx_withdraw(&us->srx, &us->msg[1].msg));
	KUNIT_EXPECT_FALSE(test, kofi_srx_withdraw(&us->srx, &us->msg[1].msg));
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 2, 0, ~0ULL), 0);
	KUNIT_EXPECT_EQ(test, us->msg[2].starts, 1);
	KUNIT_EXPECT_FALSE(test, kofi_srx_withdraw(&us->srx, &us->msg[2].msg));
	KUNIT_EXPECT_EQ(test, us->msg[1].starts + us->msg[1].discards, 0);
	KUNIT_EXPECT_EQ(test, us->srx.nmsgs, 0);
}

static void a_withdrawn_message_makes_room(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	int i;

	for (i = 0; i < ut_srx_attr.max_msgs; i++)
		KUNIT_EXPECT_EQ(test, ut_msg(us, i, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 10), -EAGAIN);
	KUNIT_EXPECT_TRUE(test, kofi_srx_withdraw(&us->srx, &us->msg[2].msg));
	KUNIT_EXPECT_EQ(test, us->resumes, 1);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 10), KOFI_SRX_QUEUED);
}

static void an_endpoint_leaves_with_its_messages_only(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, how_multi(true));
	int nr;

	for (nr = 0; nr < NR_MANY; nr++)
		KUNIT_EXPECT_EQ(test, arrives_at(us, nr, &us->ep[nr % 10 == 9]), KOFI_SRX_QUEUED);
	us->outside = true;
	KUNIT_EXPECT_EQ(test, arrives_at(us, nr, &us->ep[0]), -EAGAIN);
	kofi_srx_leave(&us->srx, &us->ep[0]);
	for (nr = 0; nr < NR_MANY; nr++)
		KUNIT_EXPECT_EQ(test, us->msg[nr].discards, nr % 10 != 9);
	KUNIT_EXPECT_GE(test, us->resumes, 1);
	KUNIT_EXPECT_EQ(test, arrives_at(us, nr, &us->ep[0]), -ESHUTDOWN);

	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, us->msg[9].starts, 1);
	ut_deliver(us, 9);
	ut_gets(test, us, .nr = 1, .len = 10);
	KUNIT_EXPECT_EQ(test, us->srx.nmsgs, NR_MANY / 10 - 1);
}

static void receives_stay_when_an_endpoint_leaves(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, how_multi(true));

	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 2, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, arrives_at(us, 1, &us->ep[0]), KOFI_SRX_MATCHED);
	kofi_srx_leave(&us->srx, &us->ep[0]);
	KUNIT_EXPECT_NOT_NULL(test, us->msg[1].rx);
	ut_gets_nothing(test, us);
	ut_deliver(us, 1);
	ut_gets(test, us, .nr = 1, .len = 10);
	KUNIT_EXPECT_EQ(test, arrives_at(us, 2, &us->ep[1]), KOFI_SRX_MATCHED);
	ut_deliver(us, 2);
	ut_gets(test, us, .nr = 2, .len = 10);
}

/* A buffer waited for a completion, to take a message of an endpoint that goes */
static void a_buffer_goes_on_when_an_endpoint_leaves(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, how_multi(true));
	int nr;

	for (nr = 1; nr <= 3; nr++)
		KUNIT_EXPECT_EQ(test, arrives_at(us, nr, &us->ep[nr == 3]), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 2, 7, 0), 0);
	us->outside = true;
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 9, 7, 10), -EAGAIN);
	ut_srx_leave(us, &us->ep[1]);
	KUNIT_EXPECT_EQ(test, us->msg[3].discards, 1);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 9, 7, 10), KOFI_SRX_MATCHED);
}

static void posted_receives_end_quietly_with_their_context(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, how_multi(true));
	int nr;

	for (nr = 1; nr <= 4; nr++)
		KUNIT_EXPECT_EQ(test, ut_recv(us, nr, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 5, UT_SRX_BUF), -EAGAIN);
	ut_srx_leave(us, &us->ep[0]);
	ut_srx_leave(us, &us->ep[1]);
	kofi_srx_destroy(&us->srx);
	ut_gets_nothing(test, us);
	/* A client that may not post any more is not called */
	flush_delayed_work(&us->ctx.rx.later);
	KUNIT_EXPECT_EQ(test, atomic_read(&us->readys), 0);
	ut_srx_reopen(us);
}

static void a_context_calls_its_client_too(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, how_multi(true));
	int nr;

	for (nr = 1; nr <= 4; nr++)
		KUNIT_EXPECT_EQ(test, ut_recv(us, nr, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 5, UT_SRX_BUF), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), 0);
	KUNIT_EXPECT_TRUE(test, vt_until(atomic_read(&us->readys) == 1));
	KUNIT_EXPECT_EQ(test, ut_recv(us, 5, UT_SRX_BUF), 0);
}

static struct kunit_case srx_end_cases[] = {
	KUNIT_CASE(a_cancelled_receive_ends_with_an_error),
	KUNIT_CASE(a_cancelled_receive_has_nothing_of_a_message),
	KUNIT_CASE(the_oldest_with_the_context_is_cancelled),
	KUNIT_CASE(what_has_taken_a_message_is_not_cancelled),
	KUNIT_CASE(no_context_cancels_nothing),
	KUNIT_CASE(a_shared_receive_is_cancelled_without_completion),
	KUNIT_CASE(an_unused_buffer_is_cancelled_as_a_receive),
	KUNIT_CASE(a_cancelled_buffer_in_use_comes_back_with_its_last),
	KUNIT_CASE(a_flush_ends_receives_in_order),
	KUNIT_CASE(nothing_is_received_after_a_flush),
	KUNIT_CASE(a_flush_discards_messages_that_wait),
	KUNIT_CASE(a_flush_resumes_what_waits_outside),
	KUNIT_CASE(a_flush_gives_buffers_back),
	KUNIT_CASE(a_flush_ends_deferred_receives),
	KUNIT_CASE(a_withdrawn_message_is_the_providers),
	KUNIT_CASE(a_withdrawn_message_makes_room),
	KUNIT_CASE(an_endpoint_leaves_with_its_messages_only),
	KUNIT_CASE(receives_stay_when_an_endpoint_leaves),
	KUNIT_CASE(a_buffer_goes_on_when_an_endpoint_leaves),
	KUNIT_CASE(posted_receives_end_quietly_with_their_context),
	KUNIT_CASE(a_context_calls_its_client_too),
	{}
};

static struct kunit_suite srx_end_suite = {
	.name		= "kofi_util_srx_end",
	.test_cases	= srx_end_cases,
};

kunit_test_suite(srx_end_suite);
