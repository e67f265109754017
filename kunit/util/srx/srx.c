// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Matching of untagged receives and messages (include/kofi/srx.h): order, data, lengths,
 * and what happens when receives or room for messages run out.
 */
#include "srx.h"

static void a_receive_takes_the_message_that_arrives(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_arrive(us, 9, (struct kofi_srx_arrival) {
		.flags		= FI_MSG | FI_REMOTE_CQ_DATA,
		.tag		= 77,
		.src_addr	= 5,
		.len		= 100,
		.data		= 4711,
	}), KOFI_SRX_MATCHED);
	ut_gets_nothing(test, us);
	ut_deliver(us, 9);

	ut_gets(test, us, .nr = 1, .flags = UT_RECV | FI_REMOTE_CQ_DATA,
		.len = 100, .buf = ut_srx_buf(us, 1), .data = 4711, .src = 5);
	KUNIT_EXPECT_TRUE(test, ut_delivered(us, 1, 0, 9, 100));
	KUNIT_EXPECT_EQ(test, us->msg[9].starts, 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&us->cntr.cntr), 1);
}

static void a_message_waits_for_its_receive(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 100), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, us->msg[9].msg.what.len, 100);
	KUNIT_EXPECT_EQ(test, us->msg[9].starts, 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, us->msg[9].starts, 1);
	ut_gets_nothing(test, us);
	ut_deliver(us, 9);

	ut_gets(test, us, .nr = 1, .flags = UT_RECV, .len = 100,
		.buf = ut_srx_buf(us, 1), .src = FI_ADDR_NOTAVAIL);
	KUNIT_EXPECT_TRUE(test, ut_delivered(us, 1, 0, 9, 100));
	KUNIT_EXPECT_EQ(test, us->msg[9].discards, 0);
}

static void messages_take_receives_in_order(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	int i;

	for (i = 1; i <= 3; i++)
		KUNIT_EXPECT_EQ(test, ut_recv(us, i, UT_SRX_BUF), 0);
	for (i = 1; i <= 3; i++)
		KUNIT_EXPECT_EQ(test, ut_msg(us, i, 10 * i), KOFI_SRX_MATCHED);
	/* Completed in another order, which is the order of the queue */
	for (i = 3; i >= 1; i--)
		ut_deliver(us, i);
	for (i = 3; i >= 1; i--)
		ut_gets(test, us, .nr = i, .len = 10 * i);
}

/* A message of @len bytes @fill is received from one buffer, if that is simple */
static bool receive_plain(struct ut_srx *us, size_t len, u8 fill)
{
	static u8 message[UT_SRX_BUF];
	static DEFINE_SPINLOCK(lock);
	struct kofi_rx *rx;
	unsigned long flags;

	memset(message, fill, sizeof(message));
	spin_lock_irqsave(&lock, flags);
	rx = kofi_srx_take_plain(&us->srx, &us->ep[0]);
	if (rx)
		kofi_rx_receive(rx, &us->ep[0], message, len);
	spin_unlock_irqrestore(&lock, flags);
	return rx;
}

static void plain_messages_take_the_oldest_receives(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_FALSE(test, receive_plain(us, 10, 1));
	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 2, 7, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 3, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 4, 25), 0);
	memset(ut_srx_buf(us, 1), 0, UT_SRX_BUF);
	KUNIT_EXPECT_TRUE(test, receive_plain(us, 10, 1));
	KUNIT_EXPECT_NULL(test, memchr_inv(ut_srx_buf(us, 1), 1, 10));
	KUNIT_EXPECT_NULL(test, memchr_inv(ut_srx_buf(us, 1) + 10, 0, UT_SRX_BUF - 10));
	KUNIT_EXPECT_TRUE(test, receive_plain(us, 0, 2));
	ut_gets(test, us, .nr = 1, .flags = UT_RECV, .len = 10, .buf = ut_srx_buf(us, 1),
		.src = FI_ADDR_NOTAVAIL);
	ut_gets(test, us, .nr = 3, .flags = UT_RECV, .src = FI_ADDR_NOTAVAIL);
	KUNIT_EXPECT_TRUE(test, receive_plain(us, 30, 3));
	ut_gets(test, us, .nr = 4, .flags = UT_RECV, .len = 25, .err = FI_ETRUNC, .olen = 5);
	/* A tagged receive takes no untagged message */
	KUNIT_EXPECT_FALSE(test, receive_plain(us, 40, 4));
	ut_gets_nothing(test, us);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&us->cntr.cntr), 2);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(&us->cntr.cntr), 1);
	kofi_srx_flush(&us->srx, ECANCELED);
	ut_gets(test, us, .nr = 2, .flags = UT_TRECV, .tag = 7, .err = ECANCELED);
	ut_gets_nothing(test, us);
}

/* Which receive a message takes is then up to kofi_srx_arrive() */
static void plain_messages_leave_receives_that_name_a_sender(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_post(us, 2, (struct fi_tagged_xfer) {
		.xfer.type = FI_OP_RECV, .xfer.addr = 5,
	}), 0);
	KUNIT_EXPECT_FALSE(test, receive_plain(us, 10, 1));
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 2), 0);
	ut_gets(test, us, .nr = 2, .err = ECANCELED);
	KUNIT_EXPECT_TRUE(test, receive_plain(us, 10, 1));
	ut_gets(test, us, .nr = 1, .len = 10);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	kofi_srx_flush(&us->srx, ECANCELED);
	ut_gets(test, us, .nr = 1, .err = ECANCELED);
	KUNIT_EXPECT_FALSE(test, receive_plain(us, 10, 1));
	ut_gets_nothing(test, us);
}

static void receives_take_messages_in_order(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	int i;

	for (i = 1; i <= 3; i++)
		KUNIT_EXPECT_EQ(test, ut_msg(us, i, 10 * i), KOFI_SRX_QUEUED);
	for (i = 1; i <= 3; i++) {
		KUNIT_EXPECT_EQ(test, ut_recv(us, i, UT_SRX_BUF), 0);
		KUNIT_EXPECT_EQ(test, us->msg[i].starts, 1);
		ut_deliver(us, i);
		ut_gets(test, us, .nr = i, .len = 10 * i);
	}
}

/* A receive of @room bytes takes a message of @len */
static const struct fit {
	const char	*name;
	size_t		room;
	size_t		len;
	bool		waits;
} fits[] = {
	{ "more room", 100, 99 },
	{ "as much room", 100, 100 },
	{ "a byte too few", 100, 101 },
	{ "a byte too few, waiting", 100, 101, true },
	{ "no room", 0, 100 },
	{ "no room, waiting", 0, 100, true },
	{ "an empty message", 100, 0 },
	{ "nothing and no room", 0, 0 },
	{ "a length beyond all memory", 100, SIZE_MAX },
};

static void a_longer_message_is_truncated(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	const struct fit *fit = test->param_value;
	size_t len = min(fit->room, fit->len);
	int err = fit->len > fit->room ? FI_ETRUNC : 0;

	if (fit->waits)
		KUNIT_EXPECT_EQ(test, ut_msg(us, 9, fit->len), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, fit->room), 0);
	if (!fit->waits)
		KUNIT_EXPECT_EQ(test, ut_msg(us, 9, fit->len), KOFI_SRX_MATCHED);
	KUNIT_ASSERT_NOT_NULL(test, us->msg[9].rx);
	KUNIT_EXPECT_EQ(test, kofi_rx_len(us->msg[9].rx), len);
	ut_deliver(us, 9);

	ut_gets(test, us, .nr = 1, .flags = UT_RECV, .len = len, .err = err,
		.olen = fit->len - len);
	KUNIT_EXPECT_TRUE(test, ut_delivered(us, 1, 0, 9, len));
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(&us->cntr.cntr), !!err);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&us->cntr.cntr), !err);
}

static void a_list_is_filled_element_by_element(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	u8 *buf = ut_pages(test, 1);
	struct ut_list *list = ut_list(test, ut_type(test));

	ut_list_add(test, list, buf + 10, 40);
	ut_list_add(test, list, buf + PAGE_SIZE, 60);
	KUNIT_EXPECT_EQ(test, ut_post(us, 1, (struct fi_tagged_xfer) {
		.xfer.type = FI_OP_RECV, .xfer.buf_type = list->type,
		.xfer.list = list->kvec, .xfer.count = 2,
	}), 0);
	ut_brings(test, us, 9, 100);

	ut_gets(test, us, .nr = 1, .len = 100, .buf = buf + 10);
	memmove(buf + 50, buf + PAGE_SIZE, 60);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf + 10, 100, 9));
}

static void an_empty_list_has_no_address(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 0), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_NULL(test, us->msg[9].rx->comp.comp.buf);
	ut_deliver(us, 9);
	ut_gets(test, us, .nr = 1);
}

static void behind_the_message_there_is_nothing_to_fill(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	struct iov_iter iter;

	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 100), KOFI_SRX_MATCHED);
	kofi_rx_iter(us->msg[9].rx, 99, &iter);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 1);
	kofi_rx_iter(us->msg[9].rx, 100, &iter);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 0);
	kofi_rx_iter(us->msg[9].rx, 101, &iter);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 0);
	kofi_rx_iter(us->msg[9].rx, SIZE_MAX, &iter);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 0);
}

static void a_receive_that_fails_says_what_is_there(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 2, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 1, 100), KOFI_SRX_MATCHED);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 2, 100), KOFI_SRX_MATCHED);
	kofi_rx_fail(us->msg[1].rx, 60, EIO, EIO);
	kofi_rx_fail(us->msg[2].rx, 101, EPIPE, EPIPE);
	us->msg[1].rx = NULL;
	us->msg[2].rx = NULL;

	ut_gets(test, us, .nr = 1, .flags = UT_RECV, .len = 60, .err = EIO);
	ut_gets(test, us, .nr = 2, .len = 100, .err = EPIPE);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(&us->cntr.cntr), 2);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&us->cntr.cntr), 0);
}

static void without_an_object_a_message_waits_outside(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	us->outside = true;
	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 100), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 100), -EAGAIN);
	KUNIT_EXPECT_EQ(test, us->resumes, 0);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 3, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, us->resumes, 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, us->resumes, 1);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 2, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, us->resumes, 1);

	ut_brings(test, us, 9, 100);
	ut_gets(test, us, .nr = 1, .len = 100);
}

static void messages_that_wait_are_bounded(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	int i;

	for (i = 0; i < ut_srx_attr.max_msgs; i++)
		KUNIT_EXPECT_EQ(test, ut_msg(us, i, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 10), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ut_tmsg(us, 9, 0, 10), -EAGAIN);
	KUNIT_EXPECT_FALSE(test, us->msg[9].msg.queued);
	KUNIT_EXPECT_EQ(test, us->resumes, 0);

	KUNIT_EXPECT_EQ(test, ut_recv(us, 0, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, us->resumes, 1);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, us->resumes, 1);
}

static void a_receive_may_help_where_there_is_no_room(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	int i;

	for (i = 0; i < ut_srx_attr.max_msgs; i++)
		KUNIT_EXPECT_EQ(test, ut_tmsg(us, i, 1, 10), KOFI_SRX_QUEUED);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 10), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ut_trecv(us, 0, 2, 0), 0);
	KUNIT_EXPECT_EQ(test, us->resumes, 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, us->resumes, 1);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 10), KOFI_SRX_MATCHED);
}

static void no_message_waits_where_there_is_no_room_for_any(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, (struct ut_srx_how) {
		.attr = { .size = 1, .iov_limit = 1 },
	});

	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 100), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, us->resumes, 1);
	KUNIT_EXPECT_EQ(test, ut_msg(us, 9, 100), KOFI_SRX_MATCHED);
}

/* A receive that nobody has read counts as one that is posted */
static void the_client_is_called_when_a_receive_is_back(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);
	int i;

	for (i = 0; i < ut_srx_attr.size; i++)
		KUNIT_EXPECT_EQ(test, ut_recv(us, i, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 8, UT_SRX_BUF), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 8, UT_SRX_BUF), -EAGAIN);
	ut_brings(test, us, 0, 10);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 8, UT_SRX_BUF), -EAGAIN);
	KUNIT_EXPECT_EQ(test, atomic_read(&us->readys), 0);

	ut_gets(test, us, .nr = 0, .len = 10);
	KUNIT_EXPECT_EQ(test, fi_cq_read(&us->cq.cq, NULL, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, atomic_read(&us->readys), 1);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 8, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, ut_cancel(us, 8), 0);
	ut_gets(test, us, .nr = 8, .err = ECANCELED);
	KUNIT_EXPECT_EQ(test, atomic_read(&us->readys), 1);
}

/* Memory for most of them is allocated as they are posted */
static void as_many_receives_are_posted_as_there_may_be(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, (struct ut_srx_how) {
		.attr = { .size = 100, .iov_limit = 1, .grows = true },
	});
	int nr;

	for (nr = 0; nr < 100; nr++)
		KUNIT_EXPECT_EQ(test, ut_recv(us, nr, UT_SRX_BUF), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&us->ep[0].rx.again), 0);
	KUNIT_EXPECT_EQ(test, ut_recv(us, nr, UT_SRX_BUF), -EAGAIN);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&us->ep[0].rx.again), 1);
}

static void selective_success_is_not_reported(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, (struct ut_srx_how) {
		.attr = { .size = 1, .iov_limit = 1 },
		.selective = true,
	});
	const struct fi_tagged_xfer reported = {
		.xfer.type = FI_OP_RECV, .xfer.flags = FI_COMPLETION,
	};

	/* There is one receive only, so it comes back at once */
	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
	ut_brings(test, us, 1, 10);
	ut_gets_nothing(test, us);
	KUNIT_EXPECT_EQ(test, ut_post(us, 2, reported), 0);
	ut_brings(test, us, 2, 10);
	ut_gets(test, us, .nr = 2, .len = 10);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 3, 5), 0);
	ut_brings(test, us, 3, 10);
	ut_gets(test, us, .nr = 3, .len = 5, .err = FI_ETRUNC, .olen = 5);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&us->cntr.cntr), 2);
}

static void a_receive_without_context_has_the_default_callback(struct kunit *test)
{
	struct ut_srx *us = ut_srx_open(test, (struct ut_srx_how) {
		.attr = ut_srx_attr, .wait_obj = FI_WAIT_DONE,
	});

	KUNIT_EXPECT_EQ(test, ut_recv(us, UT_NO_CONTEXT, UT_SRX_BUF), 0);
	ut_brings(test, us, 1, 10);
	KUNIT_EXPECT_TRUE(test, vt_until(atomic_read(&us->dones) == 1));
	KUNIT_EXPECT_EQ(test, us->done.len, 10);
	KUNIT_EXPECT_EQ(test, ut_recv(us, UT_NO_CONTEXT, UT_SRX_BUF), 0);
	kofi_srx_flush(&us->srx, ECANCELED);
	KUNIT_EXPECT_TRUE(test, vt_until(atomic_read(&us->dones) == 2));
	KUNIT_EXPECT_EQ(test, us->done.err, ECANCELED);
}

static u8 memory[2];

static const struct kvec two_elements[] = {
	{ &memory[0], 1 }, { &memory[1], 1 },
};

/* Receives that are refused; there is one receive only, so each gives it back */
static const struct refused {
	const char	*name;
	struct fi_tagged_xfer	op;
	int		ret;
} refused[] = {
	{ "an untagged peek", { .xfer.type = FI_OP_RECV, .xfer.flags = FI_PEEK },
	  -FI_EBADFLAGS },
	{ "an untagged claim", { .xfer.type = FI_OP_RECV, .xfer.flags = FI_CLAIM },
	  -FI_EBADFLAGS },
	{ "nothing to discard", { .xfer.type = FI_OP_TRECV, .xfer.flags = FI_DISCARD },
	  -FI_EBADFLAGS },
	{ "claim and discard at once", { .xfer.type = FI_OP_TRECV,
	  .xfer.flags = FI_PEEK | FI_CLAIM | FI_DISCARD }, -FI_EBADFLAGS },
	{ "a peek of a buffer", { .xfer.type = FI_OP_TRECV,
	  .xfer.flags = FI_PEEK | FI_MULTI_RECV }, -FI_EBADFLAGS },
	{ "no room for FI_MULTI_RECV", { .xfer.type = FI_OP_RECV,
	  .xfer.flags = FI_MULTI_RECV }, -FI_EBADFLAGS },
	{ "nothing was claimed", { .xfer.type = FI_OP_TRECV, .xfer.flags = FI_CLAIM },
	  -EINVAL },
	{ "nothing was claimed to discard", { .xfer.type = FI_OP_TRECV,
	  .xfer.flags = FI_CLAIM | FI_DISCARD }, -EINVAL },
	{ "too many elements", { .xfer.type = FI_OP_RECV, .xfer.list = two_elements,
	  .xfer.count = 2 }, -EINVAL },
	{ "a list of an unknown kind", { .xfer.type = FI_OP_RECV,
	  .xfer.buf_type = FI_BUF_KVEC + 99, .xfer.list = two_elements, .xfer.count = 1 },
	  -EINVAL },
};

static void what_makes_no_sense_is_refused(struct kunit *test)
{
	const struct refused *refuse = test->param_value;
	struct ut_srx *us = ut_srx_open(test, (struct ut_srx_how) {
		.attr = { .size = 1, .iov_limit = 1 },
	});

	KUNIT_EXPECT_EQ(test, ut_post(us, 1, refuse->op), refuse->ret);
	ut_gets_nothing(test, us);
	KUNIT_EXPECT_EQ(test, ut_recv(us, 1, UT_SRX_BUF), 0);
}

static void a_claim_without_context_is_refused(struct kunit *test)
{
	struct ut_srx *us = ut_srx(test);

	KUNIT_EXPECT_EQ(test, ut_peek(us, UT_NO_CONTEXT, 1, FI_PEEK | FI_CLAIM), -EINVAL);
	KUNIT_EXPECT_EQ(test, ut_peek(us, UT_NO_CONTEXT, 1, FI_CLAIM), -EINVAL);
	ut_gets_nothing(test, us);
}

KUNIT_ARRAY_PARAM_DESC(fit, fits, name);
KUNIT_ARRAY_PARAM_DESC(refused, refused, name);
KUNIT_ARRAY_PARAM_DESC(type, ut_types, name);

static struct kunit_case srx_cases[] = {
	KUNIT_CASE(a_receive_takes_the_message_that_arrives),
	KUNIT_CASE(a_message_waits_for_its_receive),
	KUNIT_CASE(messages_take_receives_in_order),
	KUNIT_CASE(plain_messages_take_the_oldest_receives),
	KUNIT_CASE(plain_messages_leave_receives_that_name_a_sender),
	KUNIT_CASE(receives_take_messages_in_order),
	KUNIT_CASE_PARAM(a_longer_message_is_truncated, fit_gen_params),
	KUNIT_CASE_PARAM(a_list_is_filled_element_by_element, type_gen_params),
	KUNIT_CASE(an_empty_list_has_no_address),
	KUNIT_CASE(behind_the_message_there_is_nothing_to_fill),
	KUNIT_CASE(a_receive_that_fails_says_what_is_there),
	KUNIT_CASE(without_an_object_a_message_waits_outside),
	KUNIT_CASE(messages_that_wait_are_bounded),
	KUNIT_CASE(a_receive_may_help_where_there_is_no_room),
	KUNIT_CASE(no_message_waits_where_there_is_no_room_for_any),
	KUNIT_CASE(the_client_is_called_when_a_receive_is_back),
	KUNIT_CASE(as_many_receives_are_posted_as_there_may_be),
	KUNIT_CASE(selective_success_is_not_reported),
	KUNIT_CASE(a_receive_without_context_has_the_default_callback),
	KUNIT_CASE_PARAM(what_makes_no_sense_is_refused, refused_gen_params),
	KUNIT_CASE(a_claim_without_context_is_refused),
	{}
};

static struct kunit_suite srx_suite = {
	.name		= "kofi_util_srx",
	.test_cases	= srx_cases,
};

kunit_test_suite(srx_suite);
