// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Senders whose address the client inserts while their messages wait: completions name them, and
 * directed receives find them, at a cost that does not grow with what strangers send.
 */
#include "srx.h"

#define STRANGERS	100
#define SENDER		7
#define OTHER		8
#define SOURCE_OF(addr)	((addr) + 1000)
#define ANSWERS		5

/**
 * struct sender_test - What the provider knows
 * @answers: of the first calls of ops->sender(), each an address; 0: as @known says
 * @known: the client has inserted the address of all senders
 * @changes: insertions of any address
 * @lookups: calls of ops->sender()
 */
static struct sender_test {
	fi_addr_t	answers[ANSWERS];
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
	fi_addr_t addr = st.lookups < ANSWERS ? st.answers[st.lookups] : 0;

	st.lookups++;
	if (!addr)
		addr = st.known ? SENDER : FI_ADDR_NOTAVAIL;
	*src_addr = addr;
	*source = addr == FI_ADDR_NOTAVAIL ? addr : SOURCE_OF(addr);
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

static ssize_t directed_to(struct ut_srx *us, int nr, u64 tag, u64 ignore, fi_addr_t addr)
{
	return ut_post(us, nr, (struct fi_tagged_xfer) {
		.xfer.type	= FI_OP_TRECV,
		.tag		= tag,
		.ignore		= ignore,
		.xfer.addr	= addr,
	});
}

static ssize_t directed(struct ut_srx *us, int nr, u64 tag, u64 ignore)
{
	return directed_to(us, nr, tag, ignore, SENDER);
}

/* The message that a receive has taken is reported with the address @addr of the sender */
static void expect_from(struct kunit *test, struct ut_srx *us, int nr, int msg, fi_addr_t addr)
{
	KUNIT_ASSERT_NOT_NULL(test, us->msg[msg].rx);
	ut_deliver(us, msg);
	ut_gets(test, us, .nr = nr, .len = 10, .tag = 5, .src = addr);
}

static void expect_named(struct kunit *test, struct ut_srx *us, int nr, int msg)
{
	expect_from(test, us, nr, msg, SENDER);
}

static void a_receive_names_a_sender_that_became_known(struct kunit *test)
{
	struct ut_srx *us = open_srx(test);

	KUNIT_ASSERT_EQ(test, ut_tmsg(us, 1, 5, 10), KOFI_SRX_QUEUED);
	KUNIT_ASSERT_EQ(test, ut_tmsg(us, 2, 5, 10), KOFI_SRX_QUEUED);
	insert();
	KUNIT_ASSERT_EQ(test, ut_trecv(us, 1, 5, 0), 0);
	expect_named(test, us, 1, 1);
	KUNIT_ASSERT_EQ(test, directed(us, 2, 5, 0), 0);
	expect_named(test, us, 2, 2);
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
	expect_named(test, us, 3, 1);
}

/* Only its claimer asks for it */
static void the_sender_of_a_claimed_message_is_not_looked_for(struct kunit *test)
{
	struct ut_srx *us = open_srx(test);
	int lookups;

	KUNIT_ASSERT_EQ(test, ut_tmsg(us, 1, 5, 10), KOFI_SRX_QUEUED);
	KUNIT_ASSERT_EQ(test, ut_peek(us, 3, 5, FI_PEEK | FI_CLAIM), 0);
	ut_gets(test, us, .nr = 3, .len = 10, .tag = 5);
	insert();
	lookups = st.lookups;
	KUNIT_ASSERT_EQ(test, directed(us, 4, 5, 0), 0);
	KUNIT_EXPECT_EQ(test, st.lookups, lookups);
	KUNIT_ASSERT_EQ(test, ut_peek(us, 3, 0, FI_CLAIM), 0);
	expect_named(test, us, 3, 1);
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
		expect_named(test, us, i, i);
	}
}

/* The address may be that of another sender by then */
static void a_message_has_no_address_that_was_removed_as_it_came(struct kunit *test)
{
	const struct kofi_srx_arrival known = {
		.flags = FI_TAGGED, .tag = 5, .len = 10, .src_addr = SENDER,
		.source = SOURCE_OF(SENDER),
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

/* The client inserts it between the provider's look and the message's place, and receives */
static void a_sender_that_becomes_known_as_its_message_comes_is_found(struct kunit *test)
{
	struct ut_srx *us = open_srx(test);

	insert();
	KUNIT_ASSERT_EQ(test, directed(us, 1, 5, 0), 0);
	KUNIT_ASSERT_EQ(test, ut_tmsg(us, 1, 5, 10), KOFI_SRX_MATCHED);
	expect_named(test, us, 1, 1);
}

/* The client removes the address and inserts another one: @answers are those of the looks */
static void look_again(struct kunit *test, const fi_addr_t *answers, bool matched)
{
	const struct kofi_srx_arrival known = {
		.flags = FI_TAGGED, .tag = 5, .len = 10, .src_addr = SENDER,
		.source = SOURCE_OF(SENDER),
	};
	struct ut_srx *us = open_srx(test);

	memcpy(st.answers, answers, sizeof(st.answers));
	if (matched)
		KUNIT_ASSERT_EQ(test, directed_to(us, 1, 5, 0, OTHER), 0);
	KUNIT_ASSERT_EQ(test, ut_arrive(us, 1, known), matched ? KOFI_SRX_MATCHED :
								 KOFI_SRX_QUEUED);
	if (!matched) {
		KUNIT_ASSERT_EQ(test, directed(us, 2, 5, 0), 0);
		KUNIT_EXPECT_NULL(test, us->msg[1].rx);
		KUNIT_ASSERT_EQ(test, directed_to(us, 1, 5, 0, OTHER), 0);
	}
	expect_from(test, us, 1, 1, OTHER);
}

static void a_message_takes_the_address_that_its_sender_has_now(struct kunit *test)
{
	/* A look before the message waits, and one for its new place */
	static const fi_addr_t twice[ANSWERS] = { OTHER, OTHER, OTHER };
	/* Which has changed again when the message is about to wait there */
	static const fi_addr_t again[ANSWERS] = { OTHER, SENDER, OTHER, OTHER, OTHER };

	look_again(test, twice, true);
	look_again(test, twice, false);
	look_again(test, again, true);
	look_again(test, again, false);
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
	KUNIT_CASE(the_sender_of_a_claimed_message_is_not_looked_for),
	KUNIT_CASE(the_order_of_a_sender_stays),
	KUNIT_CASE(a_message_has_no_address_that_was_removed_as_it_came),
	KUNIT_CASE(a_sender_that_becomes_known_as_its_message_comes_is_found),
	KUNIT_CASE(a_message_takes_the_address_that_its_sender_has_now),
	KUNIT_CASE(strangers_are_looked_up_once_per_insertion),
	{}
};

static struct kunit_suite sender_suite = {
	.name		= "kofi_util_srx_sender",
	.test_cases	= sender_cases,
};

kunit_test_suite(sender_suite);
