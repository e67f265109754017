// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The matching engine under two threads.  The client posts, cancels, peeks and reads; the
 * provider brings messages, completes them and takes some back.  Every receive that was
 * accepted has to be reported once, every message has to leave once, and no -EAGAIN may be
 * the last word.
 */
#include <linux/prandom.h>
#include <linux/wait.h>
#include "srx.h"

#define NR_RECEIVED	20000
#define NR_RECVS	16
#define NR_MSGS		24
#define MAX_WAIT	8
#define NR_MULTI	4

enum place {
	FREE,
	GIVEN,		/* to the client, or of a message: to the engine */
	STARTED,
};

/**
 * struct race - A receive side and its two users
 * @us: the receive side
 * @client: steps of the client
 * @provider: steps of the provider
 * @recvs: by context; the client's thread's own
 * @multi: the context is a buffer's
 * @msgs: messages
 * @wait: where the provider waits
 * @wake: there is something to do for it
 * @received: messages that the client has read
 * @given: messages that the engine has accepted
 * @dropped: messages that were discarded
 * @completed: messages that the provider has completed
 * @withdrawn: messages that the provider has taken back
 * @wrong: what must not happen has happened
 * @late: the provider has waited in vain
 */
struct race {
	struct ut_srx		*us;
	struct rnd_state	client;
	struct rnd_state	provider;
	enum place		recvs[NR_RECVS];
	bool			multi[NR_RECVS];
	enum place		msgs[NR_MSGS];
	wait_queue_head_t	wait;
	bool			wake;
	int			received;
	int			given;
	atomic_t		dropped;
	int			completed;
	int			withdrawn;
	atomic_t		wrong;
	bool			late;
};

static struct race *the_race;

static void wake_provider(void)
{
	WRITE_ONCE(the_race->wake, true);
	wake_up(&the_race->wait);
}

/* The message is in none of the engine's lists any more */
static void leaves(struct kofi_srx_msg *msg, enum place to)
{
	struct ut_srx_msg *um = container_of(msg, struct ut_srx_msg, msg);
	enum place *place = &the_race->msgs[um - the_race->us->msg];

	if (cmpxchg(place, GIVEN, to) != GIVEN)
		atomic_inc(&the_race->wrong);
	wake_provider();
}

static void start(struct kofi_rx *rx, struct kofi_srx_msg *msg)
{
	container_of(msg, struct ut_srx_msg, msg)->rx = rx;
	leaves(msg, STARTED);
}

static void discard(struct kofi_srx_msg *msg)
{
	atomic_inc(&the_race->dropped);
	leaves(msg, FREE);
}

static void resume(struct kofi_srx *srx)
{
	wake_provider();
}

static const struct kofi_srx_ops race_ops = {
	.start		= start,
	.discard	= discard,
	.resume		= resume,
};

/* The provider */

static u32 provider_below(struct race *race, u32 limit)
{
	return prandom_u32_state(&race->provider) % limit;
}

static void complete_rx(struct race *race, struct kofi_rx *rx)
{
	race->completed++;
	if (provider_below(race, 8))
		kofi_rx_complete(rx);
	else
		kofi_rx_fail(rx, 0, EIO, EIO);
}

/* Those for which a receive was posted; returns a message that is free, or NULL */
static struct ut_srx_msg *complete_started(struct race *race)
{
	struct ut_srx_msg *um, *unused = NULL;
	struct kofi_rx *rx;
	int i;

	for (i = 0; i < NR_MSGS; i++) {
		um = &race->us->msg[i];
		/* Pairs with cmpxchg() in leaves() */
		if (smp_load_acquire(&race->msgs[i]) == STARTED) {
			rx = um->rx;
			um->rx = NULL;
			WRITE_ONCE(race->msgs[i], FREE);
			complete_rx(race, rx);
		}
		if (READ_ONCE(race->msgs[i]) == FREE)
			unused = um;
	}
	return unused;
}

static void take_one_back(struct race *race)
{
	int i = provider_below(race, NR_MSGS);

	if (READ_ONCE(race->msgs[i]) != GIVEN)
		return;
	if (kofi_srx_withdraw(&race->us->srx, &race->us->msg[i].msg)) {
		race->withdrawn++;
		leaves(&race->us->msg[i].msg, FREE);
	} else if (READ_ONCE(race->msgs[i]) == GIVEN) {
		/* The call that has taken it has not returned */
		atomic_inc(&race->wrong);
	}
}

static int bring(struct race *race, struct ut_srx_msg *um)
{
	enum place *place = &race->msgs[um - race->us->msg];
	const struct kofi_srx_arrival what = {
		.ep		= &race->us->ep[0],
		.flags		= provider_below(race, 3) ? FI_TAGGED : FI_MSG,
		.tag		= provider_below(race, 3),
		.src_addr	= 1 + provider_below(race, 2),
		.len		= provider_below(race, 100),
	};
	bool outside = !provider_below(race, 4);
	struct kofi_rx *rx;
	int ret;

	/* From now on the engine may give it back */
	if (!outside)
		WRITE_ONCE(*place, GIVEN);
	for (;;) {
		ret = kofi_srx_arrive(&race->us->srx, &what, outside ? NULL : &um->msg, &rx);
		race->given += ret >= 0;
		if (ret == KOFI_SRX_QUEUED)
			return 0;
		if (ret != -EAGAIN)
			break;
		if (!wait_event_timeout(race->wait, xchg(&race->wake, false),
					msecs_to_jiffies(VT_PATIENCE_MS))) {
			race->late = true;
			break;
		}
		complete_started(race);
	}
	WRITE_ONCE(*place, FREE);
	if (ret == KOFI_SRX_MATCHED)
		complete_rx(race, rx);
	return ret;
}

/* Until the client flushes the receive side */
static int provide(void *arg)
{
	struct race *race = arg;
	struct ut_srx_msg *um;
	int ret = 0;

	while (!ret) {
		if (!provider_below(race, 64))
			take_one_back(race);
		um = complete_started(race);
		if (um)
			ret = bring(race, um);
		else if (!wait_event_timeout(race->wait, xchg(&race->wake, false),
					     msecs_to_jiffies(VT_PATIENCE_MS)))
			race->late = true;
		if (race->late)
			ret = -ETIMEDOUT;
		cond_resched();
	}
	return ret;
}

/* The client */

static u32 client_below(struct race *race, u32 limit)
{
	return prandom_u32_state(&race->client) % limit;
}

/* Reads what is there; the client's thread only */
static void read_all(struct race *race)
{
	struct fi_cq_err_entry err = {};
	struct fi_cq_tagged_entry entry;
	ssize_t ret;
	int nr;

	for (;;) {
		ret = fi_cq_read(&race->us->cq.cq, &entry, 1);
		if (ret == -FI_EAVAIL &&
		    fi_cq_readerr(&race->us->cq.cq, &err, 0) == 1) {
			entry.op_context = err.op_context;
			entry.flags = err.flags;
		} else if (ret != 1) {
			return;
		}
		nr = (u8 *)entry.op_context - race->us->context;
		if (race->recvs[nr] != GIVEN)
			atomic_inc(&race->wrong);
		if (!race->multi[nr] || entry.flags & FI_MULTI_RECV)
			race->recvs[nr] = FREE;
		race->received++;
	}
}

static void post_one(struct race *race, int nr)
{
	static const u64 ignores[] = { 0, 0, 1, ~0ULL };
	struct fi_tagged_xfer op = {
		.xfer.type	= client_below(race, 3) ? FI_OP_TRECV : FI_OP_RECV,
		.tag		= client_below(race, 3),
		.ignore		= ignores[client_below(race, 4)],
		.xfer.addr	= client_below(race, 3),
	};
	int what = client_below(race, 16);

	race->multi[nr] = what < 4;
	if (what < 4) {
		op.xfer.flags = FI_MULTI_RECV;
	} else if (what < 6) {
		op.xfer.type = FI_OP_TRECV;
		op.xfer.flags = FI_PEEK | (what == 5 ? FI_DISCARD : 0);
	}
	if (!ut_post(race->us, nr, op))
		race->recvs[nr] = GIVEN;
}

static void consume(struct race *race)
{
	unsigned long end = jiffies + msecs_to_jiffies(VT_PATIENCE_MS);
	int nr;

	while (race->received < NR_RECEIVED && time_before(jiffies, end)) {
		nr = client_below(race, NR_RECVS);
		if (race->recvs[nr] == FREE)
			post_one(race, nr);
		else if (!client_below(race, 8))
			ut_cancel(race->us, nr);
		read_all(race);
		cond_resched();
	}
}

static void nothing_is_lost_or_twice(struct kunit *test)
{
	struct race *race = vt_buf(test, sizeof(*race));
	struct vt_async *provider;
	int nr;

	the_race = race;
	init_waitqueue_head(&race->wait);
	prandom_seed_state(&race->client, 1);
	prandom_seed_state(&race->provider, 2);
	race->us = ut_srx_open(test, (struct ut_srx_how) {
		.attr = {
			.size = NR_RECVS - 2, .iov_limit = 1,
			.max_msgs = MAX_WAIT, .multi = NR_MULTI,
			.min_multi_recv = 10, .directed = true,
		},
		.ops = &race_ops,
	});
	provider = vt_async_start(test, provide, race);
	consume(race);
	kofi_srx_flush(&race->us->srx, ECANCELED);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, provider), -ESHUTDOWN);
	complete_started(race);
	read_all(race);

	KUNIT_EXPECT_GE(test, race->received, NR_RECEIVED);
	KUNIT_EXPECT_EQ(test, atomic_read(&race->wrong), 0);
	KUNIT_EXPECT_FALSE(test, race->late);
	for (nr = 0; nr < NR_RECVS; nr++)
		KUNIT_EXPECT_EQ(test, race->recvs[nr], FREE);
	for (nr = 0; nr < NR_MSGS; nr++)
		KUNIT_EXPECT_EQ(test, race->msgs[nr], FREE);
	KUNIT_EXPECT_EQ(test, race->given, race->completed + race->withdrawn +
					   atomic_read(&race->dropped));
	KUNIT_EXPECT_GT(test, race->withdrawn, 0);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&race->us->srx.pool), 0);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&race->us->srx.multi), 0);
}

static struct kunit_case srx_race_cases[] = {
	KUNIT_CASE(nothing_is_lost_or_twice),
	{}
};

static struct kunit_suite srx_race_suite = {
	.name		= "kofi_util_srx_race",
	.test_cases	= srx_race_cases,
};

kunit_test_suite(srx_race_suite);
