// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * clients/bulk between two nets: its table has each completion that may come in each state of a
 * transaction, and whatever else comes fails the case.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sizes.h>
#include "../../clients/bulk/node.h"
#include "../lib/async.h"
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
		{ sizeof(struct bulk_msg) - 1, BULK_MAGIC, BULK_GET_REQ + 1 },
		{ sizeof(struct bulk_msg), ~BULK_MAGIC, BULK_GET_REQ + 1 },
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

/* Sends @msg to a node, by @bed->a */
static void say(struct kunit *test, struct bed *bed, kfi_addr_t node, const struct bulk_msg *msg)
{
	struct bulk_msg *out = vt_buf(test, sizeof(*out));
	struct bed_event event = {};

	*out = *msg;
	out->magic = cpu_to_le32(BULK_MAGIC);
	out->addr = cpu_to_le32(bed->a.ni.addr);
	out->net = msg->net ? : cpu_to_le16(bed->a.ni.net);
	KUNIT_EXPECT_EQ(test, kfi_send(bed->a.ni.ep[0].tx, out, sizeof(*out), NULL, node, out), 0);
	KUNIT_EXPECT_EQ(test, bed_wait(&bed->a.ni.ep[0].tx_cq, &event, VT_PATIENCE_MS), 1);
	KUNIT_EXPECT_EQ(test, event.flags, BED_SENT);
}

static void node_end(void *node)
{
	bulk_node_close(node);
}

/* A node of net 3 until the end of the case, which @bed->a knows as @name */
static struct bulk_node *node_beside(struct kunit *test, struct bed *bed, kfi_addr_t *name)
{
	struct bulk_node *node = bulk_node_open(BED_NODE, 3, 1);

	KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(node), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, node_end, node), 0);
	KUNIT_EXPECT_EQ(test, bulk_know(&bed->a.ni, bulk_node_addr(node), 3, name), 0);
	return node;
}

/*
 * One with other bytes than it says, and one for bytes that begin behind a page.  What comes from
 * a net that has no port has no effect.
 */
static void a_request_that_is_wrong_is_refused(struct kunit *test)
{
	struct bulk_msg msg = {
		.type = BULK_PUT_REQ, .seed = 1,
		.tag = cpu_to_le32(BED_TAG), .len = cpu_to_le32(500),
	};
	const struct bulk_msg lost = { .type = BULK_HELLO_REQ, .net = cpu_to_le16(U16_MAX) };
	struct bed_mem *mem = bed_mem(test, 1, 0, 500);
	struct bed *bed = bed_open(test);
	struct bulk_ep *ep = &bed->a.ni.ep[0];
	const struct bulk_stats *stats;
	struct bulk_node *node;
	struct bed_event event;
	kfi_addr_t name;

	node = node_beside(test, bed, &name);
	stats = bulk_node_stats(node);
	say(test, bed, name, &lost);
	KUNIT_EXPECT_EQ(test, bed_trecv(ep, mem, name, BED_TAG, bed_ctx(1)), 0);
	say(test, bed, name, &msg);
	bed_expect(test, &ep->rx_cq, bed_ctx(1), BED_WAS_READ, 0);
	KUNIT_EXPECT_TRUE(test, vt_until(atomic_read(&stats->refused) == 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&stats->bad), 1);

	KUNIT_EXPECT_EQ(test, bed_trecv(ep, mem, name, BED_TAG + 1, bed_ctx(2)), 0);
	msg.tag = cpu_to_le32(BED_TAG + 1);
	msg.offset = cpu_to_le32(PAGE_SIZE);
	say(test, bed, name, &msg);
	event = bed_expect(test, &ep->rx_cq, bed_ctx(2), BED_HEARD, 0);
	KUNIT_EXPECT_EQ(test, event.data >> 56, ENOMEM);
	KUNIT_EXPECT_TRUE(test, vt_until(atomic_read(&stats->refused) == 2));
	KUNIT_EXPECT_EQ(test, atomic_read(&stats->bad), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&stats->served), 0);
	kunit_release_action(test, node_end, node);
}

/**
 * struct getter - A thread that gets bytes
 * @node: the node that gets them
 * @addr: address of the peer
 * @timeout_ms: after which the transfer is given up
 */
struct getter {
	struct bulk_node	*node;
	u32			addr;
	unsigned int		timeout_ms;
};

static int get(void *arg)
{
	const struct bulk_work work = { .kind = BULK_GET, .len = 500, .seed = 1 };
	struct getter *getter = arg;
	struct bulk_peer *peer = bulk_peer_find(getter->node, getter->addr, 1);

	if (!peer)
		return -EHOSTUNREACH;
	return bulk_transfer(getter->node, peer, &work, getter->timeout_ms);
}

/*
 * A peer that sends a hello, by which it has no context, so it is taken to have one.  If it does
 * anything more, it writes other bytes than it should.
 */
static void get_from(struct kunit *test, bool writes, int err)
{
	const struct bulk_msg hello = { .type = BULK_HELLO_RSP };
	struct bed_mem *mem = bed_mem(test, 1, 0, 500);
	u8 *buf = vt_buf(test, 4 * BULK_MSG);
	struct bed *bed = bed_open(test);
	struct bulk_ep *ep = &bed->a.ni.ep[0];
	struct bed_event event = {};
	struct vt_async *async;
	struct getter getter = {
		.addr		= bed->a.ni.addr,
		.timeout_ms	= writes ? VT_PATIENCE_MS : MSEC_PER_SEC,
	};
	kfi_addr_t name;

	getter.node = node_beside(test, bed, &name);
	KUNIT_ASSERT_EQ(test, kfi_recv(ep->rx, buf, 4 * BULK_MSG, NULL, KFI_ADDR_UNSPEC,
				       bed_ctx(1)), 0);
	async = vt_async_start(test, get, &getter);
	KUNIT_EXPECT_EQ(test, bed_wait(&ep->rx_cq, &event, VT_PATIENCE_MS), 1);
	say(test, bed, name, &hello);
	KUNIT_EXPECT_EQ(test, bed_wait(&ep->rx_cq, &event, VT_PATIENCE_MS), 1);
	KUNIT_EXPECT_EQ(test, event.flags, BED_RECEIVED);
	if (writes && event.buf)
		KUNIT_EXPECT_EQ(test, bed_rma(ep, false, mem, name,
					      le32_to_cpu(((struct bulk_msg *)event.buf)->tag),
					      bed_ctx(2)), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, async), err);
	KUNIT_EXPECT_EQ(test, atomic_read(&bulk_node_stats(getter.node)->failed), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&bulk_node_stats(getter.node)->bad), writes);
	KUNIT_EXPECT_EQ(test, atomic_read(&bulk_node_stats(getter.node)->served), 0);
	kunit_release_action(test, node_end, getter.node);
}

static void wrong_bytes_fail_a_transfer(struct kunit *test)
{
	get_from(test, true, -EILSEQ);
}

static void a_transfer_that_the_peer_forgets_is_given_up(struct kunit *test)
{
	get_from(test, false, -ETIMEDOUT);
}

/* There is no port for such a net */
static void a_peer_without_an_address_is_not_found(struct kunit *test)
{
	struct ends ends = {};
	u32 addr;

	ends_open(test, &ends);
	addr = bulk_node_addr(ends.b);
	KUNIT_EXPECT_NULL(test, bulk_peer_find(ends.a, addr, U16_MAX));
	KUNIT_EXPECT_NULL(test, bulk_peer_find(ends.a, addr, U16_MAX));
	KUNIT_EXPECT_PTR_EQ(test, bulk_peer_find(ends.a, addr, 2), ends.peer);
	ends_close(test, &ends);
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

/* It sleeps 20 ms before each try, for what makes room needs a processor */
static void a_receive_is_posted_when_there_is_room_again(struct kunit *test)
{
	const struct bulk_work work = { .kind = BULK_PUT, .len = 100 };
	struct ends ends = {};
	ktime_t begin;

	ends_open_faulty(test, &ends);
	KUNIT_EXPECT_EQ(test, vt_shell("echo trecv again times=5 >" RULES), 0);
	begin = ktime_get();
	KUNIT_EXPECT_EQ(test, transfer(&ends, &work), 0);
	KUNIT_EXPECT_GE(test, ktime_ms_delta(ktime_get(), begin), 80);
	KUNIT_EXPECT_EQ(test, vt_shell("grep -q ': 5 of ' " RULES), 0);
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

/* A transfer fails by the error of the post that is made again */
static void an_operation_fails_when_it_is_posted_again(struct kunit *test)
{
	const struct bulk_work work = { .kind = BULK_IMM, .len = 500 };
	struct ends ends = {};

	ends_open_faulty(test, &ends);
	KUNIT_EXPECT_EQ(test, vt_shell("echo 'send again times=1;send error 5 times=1' >" RULES),
			0);
	KUNIT_EXPECT_EQ(test, transfer(&ends, &work), -EIO);
	KUNIT_EXPECT_EQ(test, transfer(&ends, &work), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&bulk_node_stats(ends.a)->failed), 1);
	wait_served(test, bulk_node_stats(ends.b), 1);
	ends_close(test, &ends);
}

/* The peer never hears of it */
static void a_refusal_that_cannot_be_sent_is_over(struct kunit *test)
{
	const struct bulk_work work = { .kind = BULK_PUT, .len = 100, .fail = ENOSPC };
	struct ends ends = {};

	ends_open_faulty(test, &ends);
	KUNIT_EXPECT_EQ(test, vt_shell("echo tx error 5 every=2 times=1 >" RULES), 0);
	KUNIT_EXPECT_EQ(test, bulk_transfer(ends.a, ends.peer, &work, 10), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, vt_until(atomic_read(&bulk_node_stats(ends.b)->refused) == 1));
	ends_close(test, &ends);
}

/* No tag is left behind the last one, so the first one that is free comes next */
static void tags_begin_again(struct kunit *test)
{
	const struct bulk_work work = { .kind = BULK_PUT, .len = 100 };
	struct ends ends = {};
	struct bulk_lane *lane;

	ends_open(test, &ends);
	lane = &ends.a->lane[0];
	KUNIT_EXPECT_EQ(test, ida_alloc_range(&lane->keys, U16_MAX, U16_MAX, GFP_KERNEL), U16_MAX);
	atomic_set(&lane->last_key, U16_MAX - 2);
	KUNIT_EXPECT_EQ(test, transfer(&ends, &work), 0);
	KUNIT_EXPECT_EQ(test, transfer(&ends, &work), 0);
	ida_free(&lane->keys, U16_MAX);
	ends_close(test, &ends);
}

/* The peer has posted its read again as it read its queue, long before it would have to */
static void a_node_with_a_retry_ahead_is_closed(struct kunit *test)
{
	const struct bulk_work work = { .kind = BULK_PUT, .len = SZ_4K };
	struct ends ends = {};

	ends_open_faulty(test, &ends);
	KUNIT_EXPECT_EQ(test, vt_shell("echo tx again every=2 times=1 >" RULES), 0);
	KUNIT_EXPECT_EQ(test, transfer(&ends, &work), 0);
	ends_close(test, &ends);
	KUNIT_EXPECT_EQ(test, vt_shell("grep -q ': 1 of ' " RULES), 0);
	schedule_timeout_uninterruptible(msecs_to_jiffies(2 * BULK_REPLAY_MS));
}

static void a_node_with_a_buffer_to_be_posted_is_closed(struct kunit *test)
{
	struct bulk_node *node;
	struct ends ends = {};

	ends_open_faulty(test, &ends);
	KUNIT_EXPECT_EQ(test, vt_shell("echo recv again times=1 >" RULES), 0);
	node = bulk_node_open(BED_NODE, 3, 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(node), 0);
	node_close(test, &node);
	KUNIT_EXPECT_EQ(test, vt_shell("grep -q ': 1 of ' " RULES), 0);
	ends_close(test, &ends);
}

static struct kunit_case bulk_cases[] = {
	KUNIT_CASE_PARAM(bytes_of_any_length_get_there, bed_gen),
	KUNIT_CASE_PARAM(a_refusal_gets_there, bed_gen),
	KUNIT_CASE_PARAM(a_message_that_is_none_is_counted, bed_gen),
	KUNIT_CASE_PARAM(a_request_that_is_wrong_is_refused, bed_gen),
	KUNIT_CASE_PARAM(wrong_bytes_fail_a_transfer, bed_gen),
	KUNIT_CASE_PARAM(a_transfer_that_the_peer_forgets_is_given_up, bed_gen),
	KUNIT_CASE_PARAM(a_peer_without_an_address_is_not_found, bed_gen),
	KUNIT_CASE_PARAM(many_transfers_are_under_way, bed_gen),
	KUNIT_CASE_PARAM(the_peer_goes_away_under_transfers, bed_gen),
	KUNIT_CASE_PARAM(a_buffer_is_posted_when_there_is_room_again, bed_gen),
	KUNIT_CASE_PARAM(a_receive_is_posted_when_there_is_room_again, bed_gen),
	KUNIT_CASE_PARAM(an_operation_is_posted_when_there_is_room_again, bed_gen),
	KUNIT_CASE_PARAM(an_operation_fails_when_it_is_posted_again, bed_gen),
	KUNIT_CASE_PARAM(a_refusal_that_cannot_be_sent_is_over, bed_gen),
	KUNIT_CASE_PARAM(tags_begin_again, bed_gen),
	KUNIT_CASE_PARAM(a_node_with_a_retry_ahead_is_closed, bed_gen),
	KUNIT_CASE_PARAM(a_node_with_a_buffer_to_be_posted_is_closed, bed_gen),
	{}
};

struct kunit_suite kfi_bulk_suite = {
	.name		= "kofi_kfi_bulk",
	.test_cases	= bulk_cases,
};
