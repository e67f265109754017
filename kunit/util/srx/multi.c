// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Buffers with FI_MULTI_RECV (include/kofi/srx.h): which messages go into one, when it
 * comes back, and what happens when there is no completion for the next message.
 */
#include "srx.h"

#define MIN_LEFT	64

static const struct fi_tagged_xfer buffer = {
	.xfer.type	= FI_OP_RECV,
	.xfer.flags	= FI_MULTI_RECV,
};

static const struct fi_tagged_xfer tagged_buffer = {
	.xfer.type	= FI_OP_TRECV,
	.xfer.flags	= FI_MULTI_RECV,
	.tag		= 7,
};

static struct ut_srx_how multi(u32 count)
{
	return (struct ut_srx_how) {
		.attr = {
			.size		= 4,
			.iov_limit	= 2,
			.max_msgs	= 4,
			.multi		= count,
			.min_multi_recv	= MIN_LEFT,
		},
	};
}

/* @nr was received at @offset of buffer 1 */
static void gets_part(struct kunit *test, struct ut_srx *us, int nr,
		      size_t offset, size_t len, u64 flags)
{
	ut_gets(test, us, .nr = 1, .flags = UT_RECV | flags, .len = len,
		.buf = ut_srx_buf(us, 1) + offset);
	KUNIT_EXPECT_TRUE(test, ut_delivered(us, 1, offset, nr, len));
}

static void messages_stand_one_behind_the_other(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));

	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	ut_brings(test, us, 1, 100);
	gets_part(test, us, 1, 0, 100, 0);
	ut_brings(test, us, 2, 0);
	gets_part(test, us, 2, 100, 0, 0);
	ut_brings(test, us, 3, 137);
	gets_part(test, us, 3, 100, 137, FI_MULTI_RECV);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&us->cntr.cntr), 3);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 4, 10), KOFI_SRX_QUEUED);
}

/* A buffer of 300 bytes, of which one message leaves some */
static const struct leaves {
	const char	*name;
	size_t		min;
	size_t		left;
	bool		stays;
} leaves[] = {
	{ "as much as is asked for", 64, 64, true },
	{ "a byte less", 64, 63, false },
	{ "nothing", 64, 0, false },
	{ "a byte, which is enough", 0, 1, true },
	{ "nothing, which is not", 0, 0, false },
	{ "less than all of it", 300, 299, false },
};

static void a_buffer_stays_as_long_as_enough_is_left(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));
	const struct leaves *leave = test->param_value;
	size_t min = leave->min;

	KUNIT_EXPECT_EQ(test, kofi_srx_setopt(&us->srx, FI_OPT_MIN_MULTI_RECV,
					      &min, sizeof(min)), 0);
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	/* It counts for receives that are posted from now on */
	min = 1;
	KUNIT_EXPECT_EQ(test, kofi_srx_setopt(&us->srx, FI_OPT_MIN_MULTI_RECV,
					      &min, sizeof(min)), 0);
	ut_brings(test, us, 1, 300 - leave->left);
	gets_part(test, us, 1, 0, 300 - leave->left, leave->stays ? 0 : FI_MULTI_RECV);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), leave->stays ? 0 : -ENOENT);
}

static void the_last_to_complete_gives_the_buffer_back(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));

	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 100), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 2, 100), KOFI_SRX_MATCHED);
	ut_brings(test, us, 3, 100);
	ut_deliver(us, 1);
	ut_deliver(us, 2);
	gets_part(test, us, 3, 200, 100, 0);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV, .len = 100);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV | FI_MULTI_RECV, .len = 100);
	KUNIT_EXPECT_TRUE(test, vt_filled(ut_srx_buf(us, 1), 100, 1));
	KUNIT_EXPECT_TRUE(test, vt_filled(ut_srx_buf(us, 1) + 100, 100, 2));
}

static void a_failed_message_gives_the_buffer_back_too(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));

	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 100, buffer), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 90), KOFI_SRX_MATCHED);
	kofi_rx_fail(us->msg[1].rx, 20, EIO, EIO);
	us->msg[1].rx = NULL;
	ut_gets(test, us, .nr = 1, .flags = UT_RECV | FI_MULTI_RECV, .len = 20, .err = EIO);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(&us->cntr.cntr), 1);
}

/* Memory for most of them is allocated as they come */
static void a_buffer_takes_as_many_messages_as_there_may_be(struct kunit *test)
{
	struct ut_srx_how how = multi(100);
	struct ut_srx *us;
	int nr;

	how.attr.grows = true;
	us = ut_srx_open(test, how);
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, UT_SRX_BUF, buffer), 0);
	for (nr = 1; nr <= 100; nr++)
		KUNIT_EXPECT_EQ(test, ut_msg(us, nr, 1), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_msg(us, nr, 1), -EAGAIN);
}

/* The message takes the next receive, and the buffer comes back alone */
static void a_message_that_does_not_fit_gives_the_buffer_back(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));

	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 2, UT_SRX_BUF), 0);
	ut_brings(test, us, 1, 200);
	ut_brings(test, us, 2, 101);
	gets_part(test, us, 1, 0, 200, 0);
	ut_gets(test, us, .nr = 1, .flags = FI_MULTI_RECV, .src = FI_ADDR_NOTAVAIL);
	ut_gets(test, us, .nr = 2, .flags = UT_RECV, .len = 101);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&us->cntr.cntr), 2);
}

/* A message is too long for what is left of one buffer, and of the next */
static void buffers_that_have_no_room_come_back_in_turn(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));
	struct fi_tagged_xfer any_tag = tagged_buffer;

	any_tag.ignore = ~0ULL;
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, tagged_buffer), 0);
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 2, 300, any_tag), 0);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 1, 8, 100), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 2, 7, 100), KOFI_SRX_MATCHED);
	ut_deliver(us, 1);
	ut_deliver(us, 2);
	ut_gets(test, us, .nr = 2, .flags = UT_TRECV, .len = 100, .tag = 8);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV, .len = 100, .tag = 7);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 3, 7, 201), KOFI_SRX_QUEUED);
	ut_gets(test, us, .nr = 1, .flags = FI_MULTI_RECV);
	ut_gets(test, us, .nr = 2, .flags = FI_MULTI_RECV);
}

/* What is in transfer gives it back; there is no completion of its own */
static void a_buffer_in_use_comes_back_with_its_last_message(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));

	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 200), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 2, 101), KOFI_SRX_QUEUED);
	ut_gets_nothing(test, us);
	ut_deliver(us, 1);
	gets_part(test, us, 1, 0, 200, FI_MULTI_RECV);
	ut_gets_nothing(test, us);
}

static void a_message_longer_than_the_buffer_is_truncated(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));

	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 100, buffer), 0);
	ut_brings(test, us, 1, 130);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV | FI_MULTI_RECV, .len = 100,
		.err = FI_ETRUNC, .olen = 30);
	KUNIT_EXPECT_TRUE(test, ut_delivered(us, 1, 0, 1, 100));
}

static void a_buffer_of_no_bytes_takes_one_message(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));

	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 0, buffer), 0);
	ut_brings(test, us, 1, 0);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV | FI_MULTI_RECV);
}

static void a_list_is_no_buffer(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));
	const struct kvec two[] = {
		{ ut_srx_buf(us, 1), 1 }, { ut_srx_buf(us, 2), 1 },
	};
	struct fi_tagged_xfer op = buffer;

	op.xfer.list = two;
	op.xfer.count = 2;
	KUNIT_EXPECT_EQ(test, ut_post(us, 1, op), -EINVAL);
}

static void a_buffer_of_pages_is_addressed(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));
	u8 *mem = ut_pages(test, 0);
	struct ut_list *list = ut_list(test, FI_BUF_BVEC);
	struct fi_tagged_xfer op = buffer;

	ut_list_add(test, list, mem + 8, 200);
	op.xfer.buf_type = list->type;
	op.xfer.list = list->bvec;
	op.xfer.count = 1;
	KUNIT_EXPECT_EQ(test, ut_post(us, 1, op), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 50), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 2, 50), KOFI_SRX_MATCHED);
	ut_deliver(us, 1);
	ut_deliver(us, 2);
	ut_gets(test, us, .nr = 1, .len = 50, .buf = mem + 8);
	ut_gets(test, us, .nr = 1, .len = 50, .buf = mem + 58);
	KUNIT_EXPECT_TRUE(test, vt_filled(mem + 8, 50, 1));
	KUNIT_EXPECT_TRUE(test, vt_filled(mem + 58, 50, 2));
}

static void only_the_last_success_is_reported_selectively(struct kunit *test)
{
	struct ut_srx_how how = multi(1);
	struct ut_srx *us;

	how.selective = true;
	us = ut_srx_open(test, how);
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	ut_brings(test, us, 1, 100);
	ut_gets_nothing(test, us);
	ut_brings(test, us, 2, 150);
	gets_part(test, us, 2, 100, 150, FI_MULTI_RECV);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&us->cntr.cntr), 2);
}

static void every_success_is_reported_if_the_client_asks(struct kunit *test)
{
	struct fi_tagged_xfer op = buffer;
	struct ut_srx_how how = multi(4);
	struct ut_srx *us;

	how.selective = true;
	us = ut_srx_open(test, how);
	op.xfer.flags |= FI_COMPLETION;
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, op), 0);
	ut_brings(test, us, 1, 100);
	gets_part(test, us, 1, 0, 100, 0);
}

/* There is one receive only, so it is the same object */
static void a_buffer_can_be_posted_again(struct kunit *test)
{
	struct ut_srx_how how = multi(1);
	struct ut_srx *us;
	int i;

	how.attr.size = 1;
	us = ut_srx_open(test, how);
	for (i = 1; i <= 3; i++) {
		KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 200, buffer), 0);
		ut_brings(test, us, i, 150);
		gets_part(test, us, i, 0, 150, FI_MULTI_RECV);
	}
}

static void a_tagged_buffer_takes_what_matches(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));

	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 200, tagged_buffer), 0);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 1, 7, 100), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 2, 8, 100), KOFI_SRX_QUEUED);
	ut_deliver(us, 1);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV, .len = 100, .tag = 7);
	/* It does not fit, so that the buffer comes back, without a tag */
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 3, 7, 101), KOFI_SRX_QUEUED);
	ut_gets(test, us, .nr = 1, .flags = FI_MULTI_RECV, .tag = 0);
}

/* Messages that wait go into a buffer one after the other, as if they came now */
static void a_buffer_takes_messages_that_wait(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));
	int nr;

	for (nr = 1; nr <= 4; nr++)
		KUNIT_EXPECT_EQ(test, ut_msg(us, nr, 100), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	for (nr = 1; nr <= 3; nr++) {
		KUNIT_EXPECT_EQ(test, us->msg[nr].starts, 1);
		ut_deliver(us, nr);
		ut_gets(test, us, .nr = 1, .len = 100,
			.buf = ut_srx_buf(us, 1) + (nr - 1) * 100,
			.flags = UT_RECV | (nr == 3 ? FI_MULTI_RECV : 0));
	}
	KUNIT_EXPECT_EQ(test, us->msg[4].starts, 0);
}

static void a_waiting_message_that_does_not_fit_takes_the_next(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(4));

	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 100), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 2, 250), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	KUNIT_EXPECT_EQ(test, us->msg[1].starts, 1);
	KUNIT_EXPECT_EQ(test, us->msg[2].starts, 0);
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 2, 300, buffer), 0);
	KUNIT_EXPECT_EQ(test, us->msg[2].starts, 1);
	ut_deliver(us, 2);
	ut_deliver(us, 1);
	ut_gets(test, us, .nr = 2, .flags = UT_RECV | FI_MULTI_RECV, .len = 250);
	ut_gets(test, us, .nr = 1, .flags = UT_RECV | FI_MULTI_RECV, .len = 100);
}

static void without_a_completion_a_message_waits_outside(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(1));

	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 100), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 2, 100), -EAGAIN);
	KUNIT_EXPECT_FALSE(test, us->msg[2].msg.queued);
	ut_deliver(us, 1);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 2, 100), -EAGAIN);
	KUNIT_EXPECT_EQ(test, us->resumes, 0);
	gets_part(test, us, 1, 0, 100, 0);
	KUNIT_EXPECT_EQ(test, us->resumes, 1);
	ut_brings(test, us, 2, 100);
	gets_part(test, us, 2, 100, 100, 0);
	KUNIT_EXPECT_EQ(test, us->resumes, 1);
}

static void a_cancelled_buffer_resumes_what_waited_for_it(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(1));

	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, buffer), 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 2, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 100), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 2, 100), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 2), 0);
	ut_gets(test, us, .nr = 2, .err = ECANCELED);
	KUNIT_EXPECT_EQ(test, us->resumes, 0);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), 0);
	KUNIT_EXPECT_EQ(test, us->resumes, 1);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 2, 100), KOFI_SRX_QUEUED);
}

/* Two messages wait, and there is a completion for the first */
static struct ut_srx *deferred(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, multi(1));

	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 1, 7, 100), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 2, 7, 100), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_post_len(us, 1, 300, tagged_buffer), 0);
	KUNIT_EXPECT_EQ(test, us->msg[1].starts, 1);
	KUNIT_EXPECT_EQ(test, us->msg[2].starts, 0);
	/* Posted behind it */
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 2, 7, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 3, 8, 0), 0);
	KUNIT_EXPECT_EQ(test, us->msg[2].starts, 0);
	return us;
}

static void a_buffer_goes_on_when_a_completion_is_back(struct kunit *test)
{
	struct ut_srx *us = deferred(test);

	ut_deliver(us, 1);
	KUNIT_EXPECT_EQ(test, us->msg[2].starts, 0);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV, .len = 100, .tag = 7);
	KUNIT_EXPECT_EQ(test, us->msg[2].starts, 1);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 3, 8, 10), KOFI_SRX_MATCHED);
	ut_deliver(us, 2);
	ut_gets(test, us, .nr = 1, .flags = UT_TRECV, .len = 100, .tag = 7,
		.buf = ut_srx_buf(us, 1) + 100);
	ut_deliver(us, 3);
	ut_gets(test, us, .nr = 3, .flags = UT_TRECV, .len = 10, .tag = 8);
}

static void messages_wait_for_receives_behind_the_buffer(struct kunit *test)
{
	struct ut_srx *us = deferred(test);

	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 3, 8, 10), KOFI_SRX_QUEUED);
	ut_deliver(us, 1);
	ut_gets(test, us, .nr = 1, .len = 100, .tag = 7);
	KUNIT_EXPECT_EQ(test, us->msg[2].starts, 1);
	KUNIT_EXPECT_EQ(test, us->msg[3].starts, 1);
}

/* How the message that keeps a buffer deferred goes away */
enum way {
	CANCEL,
	WITHDRAW,
	DISCARD,
	CLAIM,
};

static const struct gone {
	const char	*name;
	enum way	way;
} ways[] = {
	{ "cancel", CANCEL },
	{ "withdraw", WITHDRAW },
	{ "discard", DISCARD },
	{ "claim", CLAIM },
};

static void receives_behind_the_buffer_go_on_without_it(struct kunit *test)
{
	const struct gone *gone = test->param_value;
	struct ut_srx *us = deferred(test);

	us->outside = true;
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 4, 8, 10), -EAGAIN);
	switch (gone->way) {
	case CANCEL:
		KUNIT_EXPECT_EQ(test, ut_cancel(us, 1), 0);
		break;
	case WITHDRAW:
		KUNIT_EXPECT_TRUE(test, kofi_srx_withdraw(&us->srx, &us->msg[2].msg));
		break;
	case DISCARD:
		KUNIT_EXPECT_EQ(test, ut_peek(us, 5, 7, FI_PEEK | FI_DISCARD), 0);
		KUNIT_EXPECT_EQ(test, us->msg[2].discards, 1);
		break;
	case CLAIM:
		KUNIT_EXPECT_EQ(test, ut_peek(us, 5, 7, FI_PEEK | FI_CLAIM), 0);
		break;
	}
	/* Without the buffer, the second receive takes the message */
	KUNIT_EXPECT_EQ(test, us->msg[2].starts, gone->way == CANCEL);
	KUNIT_EXPECT_EQ(test, us->resumes, 1);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 4, 8, 10), KOFI_SRX_MATCHED);
}

KUNIT_ARRAY_PARAM_DESC(leaves, leaves, name);
KUNIT_ARRAY_PARAM_DESC(gone, ways, name);

static struct kunit_case srx_multi_cases[] = {
	KUNIT_CASE(messages_stand_one_behind_the_other),
	KUNIT_CASE_PARAM(a_buffer_stays_as_long_as_enough_is_left, leaves_gen_params),
	KUNIT_CASE(the_last_to_complete_gives_the_buffer_back),
	KUNIT_CASE(a_failed_message_gives_the_buffer_back_too),
	KUNIT_CASE(a_buffer_takes_as_many_messages_as_there_may_be),
	KUNIT_CASE(a_message_that_does_not_fit_gives_the_buffer_back),
	KUNIT_CASE(buffers_that_have_no_room_come_back_in_turn),
	KUNIT_CASE(a_buffer_in_use_comes_back_with_its_last_message),
	KUNIT_CASE(a_message_longer_than_the_buffer_is_truncated),
	KUNIT_CASE(a_buffer_of_no_bytes_takes_one_message),
	KUNIT_CASE(a_list_is_no_buffer),
	KUNIT_CASE(a_buffer_of_pages_is_addressed),
	KUNIT_CASE(only_the_last_success_is_reported_selectively),
	KUNIT_CASE(every_success_is_reported_if_the_client_asks),
	KUNIT_CASE(a_buffer_can_be_posted_again),
	KUNIT_CASE(a_tagged_buffer_takes_what_matches),
	KUNIT_CASE(a_buffer_takes_messages_that_wait),
	KUNIT_CASE(a_waiting_message_that_does_not_fit_takes_the_next),
	KUNIT_CASE(without_a_completion_a_message_waits_outside),
	KUNIT_CASE(a_cancelled_buffer_resumes_what_waited_for_it),
	KUNIT_CASE(a_buffer_goes_on_when_a_completion_is_back),
	KUNIT_CASE(messages_wait_for_receives_behind_the_buffer),
	KUNIT_CASE_PARAM(receives_behind_the_buffer_go_on_without_it, gone_gen_params),
	{}
};

static struct kunit_suite srx_multi_suite = {
	.name		= "kofi_util_srx_multi",
	.test_cases	= srx_multi_cases,
};

kunit_test_suite(srx_multi_suite);
