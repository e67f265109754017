// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Senders whose address the client inserts while their messages wait: completions name them, and
 * directed receives find them, at a cost that does not grow with what strangers send.
 */
#include "srx.h"

#define STRANGERS	100
#define SENDER		7
#define SOURCE		1007

/**
 * struct sender_test - What the provider knows
 * @known: the client has inserted the address of all senders
 * @changes: insertions of any address
 * @lookups: calls of ops->sender()
 */
static struct sender_test {
	bool		known;
	unsigned long	changes;
	int		lookups;
} st;

static void start(struct kofi_rx *rx, struct kofi_srx_msg *msg)
{
	struct ut_srx_msg *um = container_of(msg, struct ut_srx_msg, msg);

	um->rx = rx;
	um->starts++;
}

static void discard(struct kofi_srx_msg *msg)
{
}

static void resume(struct kofi_srx *srx)
{
}

static void sender(const struct kofi_srx_msg *msg, fi_addr_t *src_addr, fi_addr_t *source)
{
	st.lookups++;
	*src_addr = st.known ? SENDER : FI_ADDR_NOTAVAIL;
	*source = st.known ? SOURCE : FI_ADDR_NOTAVAIL;
}

static unsigned long changes(const struct kofi_srx *srx)
{
	lockdep_assert_held(&srx->lock);
	return st.changes;
}

static const struct kofi_srx_ops ops = {
	.start		= start,
	.discard	= discard,
	.resume		= resume,
	.sender		= sender,
	.changes	= changes,
};

static struct ut_srx *open_srx(struct kunit *test)
{
	st = (struct sender_test) {};
	return ut_srx_open(test, (struct ut_srx_how) {
		.attr = {
			.size = 16, .iov_limit = 2, .max_msgs = STRANGERS, .directed = true,
		},
		.ops = &ops,
	});
}

static void insert(void)
{
	st.known = true;
	st.changes++;
}

static ssize_t directed(struct ut_srx *us, int nr, u64 tag, u64 ignore)
{
	return ut_post(us, nr, (struct fi_tagged_xfer) {
		.xfer.type	= FI_OP_TRECV,
		.tag		= tag,
		.ignore		= ignore,
		.xfer.addr	= SENDER,
	});
}

/* The message that a receive has taken is reported with the sender's address */
static void expect_named(struct kunit *test, struct ut_srx *us, int nr, int msg, u64 tag)
{
	KUNIT_ASSERT_NOT_NULL(test, us->msg[msg].rx);
	ut_deliver(us, msg);
	ut_gets(test, us, .nr = nr, .len = 10, .tag = tag, .src = SENDER);
}

static void a_receive_names_a_sender_that_became_known(struct kunit *test)
{
	struct ut_srx *us = open_srx(test);

	KUNIT_ASSERT_EQ(test, ut_tmsg(us, 1, 5, 10), KOFI_SRX_QUEUED);
	KUNIT_ASSERT_EQ(test, ut_tmsg(us, 2, 5, 10), KOFI_SRX_QUEUED);
	insert();
	KUNIT_ASSERT_EQ(test, ut_trecv(us, 1, 5, 0), 0);
	expect_named(test, us, 1, 1, 5);
	KUNIT_ASSERT_EQ(test, directed(us, 2, 5, 0), 0);
	expect_named(test, us, 2, 2, 5);
}

static void a_peek_and_a_claim_name_it_too(struct kunit *test)
{
	struct ut_srx *us = open_srx(test);

	KUNIT_ASSERT_EQ(test, ut_tmsg(us, 1, 5, 10), KOFI_SRX_QUEUED);
	KUNIT_ASSERT_EQ(test, ut_tmsg(us, 2, 6, 10), KOFI_SRX_QUEUED);
	KUNIT_ASSERT_EQ(test, ut_peek(us, 3, 5, FI_PEEK | FI_CLAIM), 0);
	ut_gets(test, us, .nr = 3, .len = 10, .tag = 5, .src = FI_ADDR_NOTAVAIL);
	insert();
	KUNIT_ASSERT_EQ(test, ut_peek(us, 4, 6, FI_PEEK), 0);
	ut_gets(test, us, .nr = 4, .len = 10, .tag = 6, .src = SENDER);
	KUNIT_ASSERT_EQ(test, ut_peek(us, 3, 0, FI_CLAIM), 0);
	expect_named(test, us, 3, 1, 5);
}

static void the_order_of_a_sender_stays(struct kunit *test)
{
	const struct kofi_srx_arrival known = {
		.flags = FI_TAGGED, .tag = 5, .len = 10, .src_addr = SENDER,
	};
	struct ut_srx *us = open_srx(test);
	int i;

	KUNIT_ASSERT_EQ(test, ut_tmsg(us, 1, 5, 10), KOFI_SRX_QUEUED);
	insert();
	/* The provider knows the sender of the second one when it comes */
	KUNIT_ASSERT_EQ(test, ut_arrive(us, 2, known), KOFI_SRX_QUEUED);
	for (i = 1; i <= 2; i++) {
		KUNIT_ASSERT_EQ(test, directed(us, i, 5, i == 1 ? 0 : 0xf), 0);
		expect_named(test, us, i, i, 5);
	}
}

/* The address may be that of another sender by then */
static void a_message_has_no_address_that_was_removed_as_it_came(struct kunit *test)
{
	const struct kofi_srx_arrival known = {
		.flags = FI_TAGGED, .tag = 5, .len = 10, .src_addr = SENDER, .source = SOURCE,
	};
	struct ut_srx *us = open_srx(test);

	/* Nobody is known any more when the message looks for its place */
	KUNIT_ASSERT_EQ(test, ut_arrive(us, 1, known), KOFI_SRX_QUEUED);
	KUNIT_ASSERT_EQ(test, directed(us, 1, 5, 0), 0);
	KUNIT_EXPECT_NULL(test, us->msg[1].rx);
	KUNIT_ASSERT_EQ(test, ut_trecv(us, 2, 5, 0), 0);
	KUNIT_ASSERT_NOT_NULL(test, us->msg[1].rx);
	ut_deliver(us, 1);
	ut_gets(test, us, .nr = 2, .len = 10, .tag = 5, .src = FI_ADDR_NOTAVAIL);
}

/* Otherwise strangers decide how long each receive takes, with interrupts off */
static void strangers_are_looked_up_once_per_insertion(struct kunit *test)
{
	struct ut_srx *us = open_srx(test);
	int i, k;

	for (i = 1; i <= STRANGERS; i++)
		KUNIT_ASSERT_EQ(test, ut_tmsg(us, i, 5, 10), KOFI_SRX_QUEUED);
	for (k = 0; k < 3; k++) {
		st.lookups = 0;
		for (i = 1; i <= 4; i++) {
			KUNIT_ASSERT_EQ(test, directed(us, i, 5, i & 1 ? 0 : 0xf), 0);
			KUNIT_EXPECT_EQ(test, ut_cancel(us, i), 0);
			ut_gets(test, us, .nr = i, .tag = 5, .err = ECANCELED);
		}
		KUNIT_EXPECT_EQ(test, st.lookups, k ? STRANGERS : 0);
		/* Of somebody else */
		st.changes++;
	}
}

static struct kunit_case sender_cases[] = {
	KUNIT_CASE(a_receive_names_a_sender_that_became_known),
	KUNIT_CASE(a_peek_and_a_claim_name_it_too),
	KUNIT_CASE(the_order_of_a_sender_stays),
	KUNIT_CASE(a_message_has_no_address_that_was_removed_as_it_came),
	KUNIT_CASE(strangers_are_looked_up_once_per_insertion),
	{}
};

static struct kunit_suite sender_suite = {
	.name		= "kofi_util_srx_sender",
	.test_cases	= sender_cases,
};

kunit_test_suite(sender_suite);
