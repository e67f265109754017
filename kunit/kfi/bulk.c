// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * clients/bulk between two nets: its table has each completion that may come in each state of a
 * transaction, and whatever else comes fails the case.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sizes.h>
#include "../../clients/bulk/node.h"
#include "kfi.h"

#define CONTEXTS	2
#define THREADS		8
#define TRANSFERS	10

/**
 * struct ends - Two nodes
 * @a: makes the transfers
 * @b: serves them
 * @peer: @b, for @a
 */
struct ends {
	struct bulk_node	*a;
	struct bulk_node	*b;
	struct bulk_peer	*peer;
};

static void node_close(struct kunit *test, struct bulk_node **node)
{
	const struct bulk_stats *stats;

	if (IS_ERR_OR_NULL(*node))
		return;
	stats = bulk_node_stats(*node);
	KUNIT_EXPECT_EQ(test, atomic_read(&stats->bad), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&stats->broken), 0);
	KUNIT_EXPECT_EQ(test, bulk_node_close(*node), 0);
	*node = NULL;
}

static void ends_close(struct kunit *test, struct ends *ends)
{
	node_close(test, &ends->b);
	node_close(test, &ends->a);
}

static void ends_open_by(struct kunit *test, struct ends *ends, const char *provider)
{
	KUNIT_ASSERT_EQ(test, bed_provider(provider), 0);
	ends->a = bulk_node_open(BED_NODE, 1, CONTEXTS);
	KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(ends->a), 0);
	ends->b = bulk_node_open(BED_NODE, 2, CONTEXTS);
	if (!IS_ERR(ends->b))
		ends->peer = bulk_peer_find(ends->a, bulk_node_addr(ends->b), 2);
	if (!ends->peer)
		ends_close(test, ends);
	KUNIT_ASSERT_NOT_NULL(test, ends->peer);
}

static void ends_open(struct kunit *test, struct ends *ends)
{
	ends_open_by(test, ends, bed_provider_of(test));
}

static int transfer(struct ends *ends, const struct bulk_work *work)
{
	return bulk_transfer(ends->a, ends->peer, work, VT_PATIENCE_MS);
}

static void bytes_of_any_length_get_there(struct kunit *test)
{
	static const size_t lens[] = { 1, 500, SZ_4K, SZ_4K + 1, SZ_64K, SZ_1M - SZ_4K };
	struct bulk_work work = {};
	struct ends ends = {};
	int i, ctx;

	ends_open(test, &ends);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		for (ctx = 0; ctx < CONTEXTS; ctx++) {
			work = (struct bulk_work) { BULK_PUT, ctx, 123, lens[i], i };
			KUNIT_EXPECT_EQ(test, transfer(&ends, &work), 0);
			work.kind = BULK_GET;
			KUNIT_EXPECT_EQ(test, transfer(&ends, &work), 0);
			work.kind = BULK_IMM;
			work.len = min_t(size_t, lens[i], BULK_IMM_MAX);
			KUNIT_EXPECT_EQ(test, transfer(&ends, &work), 0);
		}
	}
	ends_close(test, &ends);
}

static void a_refusal_gets_there(struct kunit *test)
{
	struct bulk_work work = { .kind = BULK_PUT, .len = 100, .fail = ENOSPC };
	struct ends ends = {};

	ends_open(test, &ends);
	KUNIT_EXPECT_EQ(test, transfer(&ends, &work), -ENOSPC);
	work.kind = BULK_GET;
	KUNIT_EXPECT_EQ(test, transfer(&ends, &work), -ENOSPC);
	KUNIT_EXPECT_EQ(test, atomic_read(&bulk_node_stats(ends.a)->failed), 2);
	ends_close(test, &ends);
}

static void unused(struct kfid_cq *cq, void *context)
{
}

/* One that is too short, of another client, of no type, and with other bytes than it says */
static void a_message_that_is_none_is_counted(struct kunit *test)
{
	static const struct {
		size_t	len;
		u32	magic;
		u8	type;
	} rows[] = {
		{ sizeof(struct bulk_msg) - 1, BULK_MAGIC, BULK_HELLO_RSP },
		{ sizeof(struct bulk_msg), ~BULK_MAGIC, BULK_HELLO_RSP },
		{ sizeof(struct bulk_msg), BULK_MAGIC, BULK_GET_REQ + 1 },
		{ sizeof(struct bulk_msg) + 4, BULK_MAGIC, BULK_IMM_REQ },
	};
	struct bulk_ni *ni = vt_buf(test, sizeof(*ni));
	struct bulk_msg *msg = vt_buf(test, sizeof(*msg) + 4);
	const struct bulk_stats *stats;
	struct bulk_node *node;
	kfi_addr_t peer;
	int i;

	KUNIT_ASSERT_EQ(test, bed_provider(bed_provider_of(test)), 0);
	node = bulk_node_open(BED_NODE, 1, 1);
	KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(node), 0);
	stats = bulk_node_stats(node);
	KUNIT_EXPECT_EQ(test, bulk_ni_open(ni, BED_NODE, 2, 1, unused), 0);
	KUNIT_EXPECT_EQ(test, bulk_know(ni, bulk_node_addr(node), 1, &peer), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		msg->magic = cpu_to_le32(rows[i].magic);
		msg->addr = cpu_to_le32(ni->addr);
		msg->net = cpu_to_le16(ni->net);
		msg->type = rows[i].type;
		KUNIT_EXPECT_EQ(test, kfi_send(ni->ep[0].tx, msg, rows[i].len, NULL,
					       bed_at(peer, 0), msg), 0);
		KUNIT_EXPECT_TRUE(test, vt_until(atomic_read(&stats->bad) == i + 1));
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&stats->served), 0);
	KUNIT_EXPECT_EQ(test, bulk_node_close(node), 0);
	KUNIT_EXPECT_EQ(test, bulk_ni_close(ni), 0);
}

/**
 * struct mover - A thread that makes transfers
 * @task: the thread
 * @ended: it has made all; a thread that is stopped before it has run never runs
 * @ends: between which
 * @number: which thread
 * @count: transfers
 * @failed: how many failed
 */
struct mover {
	struct task_struct	*task;
	struct completion	ended;
	struct ends		*ends;
	int			number;
	int			count;
	int			failed;
};

static int move(void *data)
{
	struct mover *mover = data;
	int i;

	for (i = 0; i < mover->count; i++) {
		const struct bulk_work work = {
			.kind = i % 2 ? BULK_PUT : BULK_GET, .ctx = mover->number,
			.offset = 77, .len = SZ_1M - SZ_4K, .seed = i + mover->number,
		};

		if (transfer(mover->ends, &work))
			mover->failed++;
	}
	complete(&mover->ended);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static void movers_start(struct kunit *test, struct ends *ends, struct mover *movers)
{
	int i;

	for (i = 0; i < THREADS; i++) {
		movers[i] = (struct mover) { .ends = ends, .number = i, .count = TRANSFERS };
		init_completion(&movers[i].ended);
		movers[i].task = kthread_run(move, &movers[i], "bulk_mover%d", i);
		KUNIT_EXPECT_FALSE(test, IS_ERR(movers[i].task));
	}
}

/* Returns how many transfers failed */
static int movers_end(struct mover *movers)
{
	int i, failed = 0;

	for (i = 0; i < THREADS; i++) {
		if (!IS_ERR(movers[i].task)) {
			wait_for_completion(&movers[i].ended);
			kthread_stop(movers[i].task);
		}
		failed += movers[i].failed;
	}
	return failed;
}

static void many_transfers_are_under_way(struct kunit *test)
{
	struct mover movers[THREADS];
	struct ends ends = {};

	ends_open(test, &ends);
	movers_start(test, &ends, movers);
	KUNIT_EXPECT_EQ(test, movers_end(movers), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&bulk_node_stats(ends.a)->done), THREADS * TRANSFERS);
	ends_close(test, &ends);
}

/* Each transfer ends, and this end can be closed */
static void the_peer_goes_away_under_transfers(struct kunit *test)
{
	const struct bulk_stats *stats;
	struct mover movers[THREADS];
	struct ends ends = {};

	ends_open(test, &ends);
	stats = bulk_node_stats(ends.a);
	movers_start(test, &ends, movers);
	while (!atomic_read(&stats->done))
		schedule_timeout_uninterruptible(1);
	node_close(test, &ends.b);
	movers_end(movers);
	KUNIT_EXPECT_EQ(test, atomic_read(&stats->done) + atomic_read(&stats->failed),
			THREADS * TRANSFERS);
	ends_close(test, &ends);
}

#define RULES		"/sys/kernel/debug/kofi_hook_fault/rules"
/* More than fit into all buffers */
#define MESSAGES	(2 * BULK_BUFS * (BULK_BUF_SIZE / BULK_IMM_MAX))

static void no_rules(void *unused)
{
	vt_shell("echo clear >" RULES);
}

static void wait_served(struct kunit *test, const struct bulk_stats *stats, int want)
{
	unsigned long until = jiffies + msecs_to_jiffies(VT_PATIENCE_MS);

	while (atomic_read(&stats->served) < want && time_before(jiffies, until))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, atomic_read(&stats->served), want);
}

/* As ends_open(), over the hook that RULES are for */
static void ends_open_faulty(struct kunit *test, struct ends *ends)
{
	char provider[32];

	snprintf(provider, sizeof(provider), "%s;ofi_hook_fault", bed_provider_of(test));
	KUNIT_ASSERT_EQ(test, vt_shell("modprobe kofi_hook_fault"), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, no_rules, NULL), 0);
	ends_open_by(test, ends, provider);
}

/* None of the buffers can be posted again at once, so the messages behind wait */
static void a_buffer_is_posted_when_there_is_room_again(struct kunit *test)
{
	const struct bulk_work work = { .kind = BULK_IMM, .len = BULK_IMM_MAX };
	struct ends ends = {};
	int i, failed = 0;

	ends_open_faulty(test, &ends);
	KUNIT_EXPECT_EQ(test, vt_shell("echo recv again times=8 >" RULES), 0);
	for (i = 0; i < MESSAGES; i++)
		failed += !!transfer(&ends, &work);
	KUNIT_EXPECT_EQ(test, failed, 0);
	wait_served(test, bulk_node_stats(ends.b), MESSAGES);
	KUNIT_EXPECT_EQ(test, vt_shell("grep -q ': 8 of ' " RULES), 0);
	ends_close(test, &ends);
}

/* The request, and what the peer does for it; nothing else has either end read its queues */
static void an_operation_is_posted_when_there_is_room_again(struct kunit *test)
{
	struct bulk_work work = { .kind = BULK_PUT, .len = SZ_4K };
	struct ends ends = {};

	ends_open_faulty(test, &ends);
	KUNIT_EXPECT_EQ(test, vt_shell("echo tx again every=2 times=4 >" RULES), 0);
	KUNIT_EXPECT_EQ(test, transfer(&ends, &work), 0);
	work.kind = BULK_GET;
	KUNIT_EXPECT_EQ(test, transfer(&ends, &work), 0);
	work.fail = ENOSPC;
	KUNIT_EXPECT_EQ(test, transfer(&ends, &work), -ENOSPC);
	KUNIT_EXPECT_EQ(test, vt_shell("grep -q ': 4 of ' " RULES), 0);
	ends_close(test, &ends);
}

static struct kunit_case bulk_cases[] = {
	KUNIT_CASE_PARAM(bytes_of_any_length_get_there, bed_gen),
	KUNIT_CASE_PARAM(a_refusal_gets_there, bed_gen),
	KUNIT_CASE_PARAM(a_message_that_is_none_is_counted, bed_gen),
	KUNIT_CASE_PARAM(many_transfers_are_under_way, bed_gen),
	KUNIT_CASE_PARAM(the_peer_goes_away_under_transfers, bed_gen),
	KUNIT_CASE_PARAM(a_buffer_is_posted_when_there_is_room_again, bed_gen),
	KUNIT_CASE_PARAM(an_operation_is_posted_when_there_is_room_again, bed_gen),
	{}
};

struct kunit_suite kfi_bulk_suite = {
	.name		= "kofi_kfi_bulk",
	.test_cases	= bulk_cases,
};
