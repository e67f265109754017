// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues that several endpoints and kinds of operations share, and whose client is
 * called: by which order, and what a callback that sleeps holds up.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <rdma/fi_rma.h>
#include "tcp.h"

#define LEN	64
#define EACH	32		/* of each kind under way */
#define BATCHES	16
#define IDLE_S	3		/* in which a connection has become idle */

static const struct vt_kind kinds[] = {
	{ "softirq", FI_WAIT_DONE, FI_COMP_SOFTIRQ },
	{ "worker", FI_WAIT_DONE, FI_COMP_WORKQUEUE },
};

static struct vt_cq *queue_new(struct kunit *test, const struct vt_kind *kind)
{
	struct fi_cq_attr attr = {};

	return vt_cq_new(test, vt_of(test)->domain, &attr, kind);
}

static bool has_completed(struct completion *done)
{
	return wait_for_completion_timeout(done, msecs_to_jiffies(VT_PATIENCE_MS));
}

/* Sends, receives and reads of either end */
#define KINDS	6

/**
 * struct log - What the callbacks of a queue have seen
 * @next: number of the operation of each kind that is to complete next
 * @disorder: callbacks of another operation than that
 * @failed: callbacks of an error
 * @left: operations that are under way
 * @done: none is
 */
struct log {
	int			next[KINDS];
	int			disorder;
	int			failed;
	int			left;
	struct completion	done;
};

struct op {
	struct fi_done	done;
	struct log	*log;
	int		kind;
	int		nr;
};

/* The queue makes one call at a time */
static void op_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct op *op = container_of(done, struct op, done);
	struct log *log = op->log;

	log->failed += !!entry->err;
	log->disorder += op->nr != log->next[op->kind]++;
	if (!--log->left)
		complete(&log->done);
}

/* One operation of each kind, of an end with another one; their number is @nr */
static void post_each(struct kunit *test, struct vt_end *end, u8 *buf,
		      const struct fi_rma_iov *rma, struct op *ops, int nr)
{
	struct op *op = &ops[nr % EACH * KINDS];

	op[0].nr = nr;
	op[1].nr = nr;
	op[2].nr = nr;
	KUNIT_ASSERT_EQ(test, fi_recv(end->ep, buf, LEN, NULL, 0, &op[0].done), 0);
	KUNIT_ASSERT_EQ(test, fi_send(end->ep, buf + LEN, LEN, NULL, 0, &op[1].done), 0);
	KUNIT_ASSERT_EQ(test, fi_read(end->ep, buf + 2 * LEN, LEN, NULL, 0, rma->addr, rma->key,
				      &op[2].done), 0);
}

static void ops_init(struct op *ops, struct log *log)
{
	int i;

	for (i = 0; i < EACH * KINDS; i++)
		ops[i] = (struct op) { .done.done = op_done, .log = log, .kind = i % KINDS };
}

static void order_on(struct kunit *test, const struct vt_kind *kind)
{
	struct op *ops = vt_buf(test, EACH * KINDS * sizeof(*ops));
	struct fid_mr *mr = peer_region(test, vt_buf(test, LEN), LEN, FI_REMOTE_READ,
					kind->comp_ctx + 1);
	const struct fi_rma_iov rma = peer_target(mr, LEN);
	struct log *log = vt_buf(test, sizeof(*log));
	u8 *buf = vt_buf(test, 6 * LEN);
	struct vt_pair pair = {};
	int i, nr = 0, batch;

	pair.a.tx = queue_new(test, kind);
	pair.b.tx = pair.a.tx;
	vt_join(test, &pair, kind);
	ops_init(ops, log);
	init_completion(&log->done);
	for (batch = 0; batch < BATCHES; batch++) {
		log->left = EACH * KINDS;
		reinit_completion(&log->done);
		for (i = 0; i < EACH; i++, nr++) {
			post_each(test, &pair.a, buf, &rma, ops, nr);
			post_each(test, &pair.b, buf + 3 * LEN, &rma, ops + 3, nr);
		}
		KUNIT_ASSERT_TRUE(test, has_completed(&log->done));
	}
	KUNIT_EXPECT_EQ(test, log->failed, 0);
	KUNIT_EXPECT_EQ(test, log->disorder, 0);
}

static void operations_of_a_kind_complete_in_order(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		order_on(test, &kinds[i]);
}

/**
 * struct sleeper - A callback that sleeps, or does not
 * @done: the callback
 * @sleeps: it sleeps until @wake
 * @entered: it has been called
 * @wake: it may go on
 */
struct sleeper {
	struct fi_done		done;
	bool			sleeps;
	struct completion	entered;
	struct completion	wake;
};

static void sleeper_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct sleeper *sleeper = container_of(done, struct sleeper, done);

	complete(&sleeper->entered);
	if (sleeper->sleeps)
		wait_for_completion(&sleeper->wake);
}

static struct sleeper *sleeper_new(struct kunit *test, bool sleeps)
{
	struct sleeper *sleeper = vt_buf(test, sizeof(*sleeper));

	sleeper->done.done = sleeper_done;
	sleeper->sleeps = sleeps;
	init_completion(&sleeper->entered);
	init_completion(&sleeper->wake);
	return sleeper;
}

/*
 * The queue makes one call at a time, so the callbacks of the other endpoint wait.  Its messages do
 * not.
 */
static void a_callback_that_sleeps_holds_up_no_message_of_another_endpoint(struct kunit *test)
{
	struct sleeper *first = sleeper_new(test, true), *got = sleeper_new(test, false),
		       *sent = sleeper_new(test, false);
	u8 *in = vt_buf(test, 2 * LEN), *out = vt_buf(test, LEN);
	u8 msg[PEER_BASE + LEN];
	struct vt_end sleeping = {}, awake = {};
	struct socket *sock, *other;

	sleeping.tx = queue_new(test, &kinds[1]);
	awake.tx = sleeping.tx;
	sock = peer_join(test, &sleeping);
	other = peer_join(test, &awake);
	KUNIT_ASSERT_EQ(test, fi_recv(sleeping.ep, in, LEN, NULL, 0, &first->done), 0);
	peer_send_msg(test, sock, LEN, 1);
	KUNIT_ASSERT_TRUE(test, has_completed(&first->entered));

	KUNIT_ASSERT_EQ(test, fi_recv(awake.ep, in + LEN, LEN, NULL, 0, &got->done), 0);
	KUNIT_ASSERT_EQ(test, fi_send(awake.ep, out, LEN, NULL, 0, &sent->done), 0);
	peer_send_msg(test, other, LEN, 2);
	peer_recv(test, other, msg, sizeof(msg));
	KUNIT_EXPECT_TRUE(test, vt_until(vt_filled(in + LEN, LEN, 2)));
	/* A second in which nothing is called */
	KUNIT_EXPECT_FALSE(test, wait_for_completion_timeout(&got->entered, HZ));
	complete(&first->wake);
	KUNIT_EXPECT_TRUE(test, has_completed(&got->entered));
	KUNIT_EXPECT_TRUE(test, has_completed(&sent->entered));
}

/* The worker of the queue receives what comes, but not while a callback runs */
static void a_callback_that_sleeps_holds_up_no_message_of_its_endpoint(struct kunit *test)
{
	struct sleeper *first = sleeper_new(test, true), *second = sleeper_new(test, false);
	u8 *in = vt_buf(test, 2 * LEN);
	struct vt_end end = { .may_sleep = 1 };
	struct socket *sock;

	end.tx = queue_new(test, &kinds[1]);
	sock = peer_join(test, &end);
	KUNIT_ASSERT_EQ(test, fi_recv(end.ep, in, LEN, NULL, 0, &first->done), 0);
	KUNIT_ASSERT_EQ(test, fi_recv(end.ep, in + LEN, LEN, NULL, 0, &second->done), 0);
	peer_send_msg(test, sock, LEN, 1);
	KUNIT_ASSERT_TRUE(test, has_completed(&first->entered));
	peer_send_msg(test, sock, LEN, 2);
	KUNIT_EXPECT_TRUE(test, vt_until(vt_filled(in + LEN, LEN, 2)));
	KUNIT_EXPECT_FALSE(test, completion_done(&second->entered));
	complete(&first->wake);
	KUNIT_EXPECT_TRUE(test, has_completed(&second->entered));
}

/**
 * struct poster - A callback that posts, and sleeps
 * @sleeper: the callback
 * @ep: where it posts
 * @out: what it sends
 * @ret: what the call has returned
 */
struct poster {
	struct sleeper	sleeper;
	struct fid_ep	*ep;
	u8		*out;
	ssize_t		ret;
};

static void poster_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct poster *poster = container_of(done, struct poster, sleeper.done);

	poster->ret = fi_inject(poster->ep, poster->out, LEN, 0);
	complete(&poster->sleeper.entered);
	wait_for_completion(&poster->sleeper.wake);
}

/* A client that has not promised process context may wait in a callback for what it has posted */
static void a_callback_that_sleeps_holds_up_nothing_that_it_posts(struct kunit *test)
{
	struct poster *poster = vt_buf(test, sizeof(*poster));
	u8 in[PEER_BASE + LEN];
	struct vt_end end = {};
	struct socket *sock;

	end.tx = queue_new(test, &kinds[1]);
	sock = peer_join(test, &end);
	poster->sleeper.done.done = poster_done;
	init_completion(&poster->sleeper.entered);
	init_completion(&poster->sleeper.wake);
	poster->ep = end.ep;
	poster->out = vt_buf(test, LEN);
	vt_fill(poster->out, LEN, 3);
	KUNIT_ASSERT_EQ(test, fi_recv(end.ep, vt_buf(test, LEN), LEN, NULL, 0,
				      &poster->sleeper.done), 0);
	peer_send_msg(test, sock, LEN, 1);
	KUNIT_ASSERT_TRUE(test, has_completed(&poster->sleeper.entered));
	KUNIT_EXPECT_EQ(test, poster->ret, 0);
	peer_recv(test, sock, in, sizeof(in));
	KUNIT_EXPECT_TRUE(test, vt_filled(in + PEER_BASE, LEN, 3));
	complete(&poster->sleeper.wake);
}

/* The worker of the queue finds what is wrong, and that of the connection ends it */
static void a_violation_that_the_queue_sees_ends_the_connection(struct kunit *test)
{
	struct vt_end end = { .may_sleep = 1 };
	u8 msg[PEER_BASE];
	struct socket *sock;

	end.tx = queue_new(test, &kinds[1]);
	sock = peer_join(test, &end);
	violations_begin(test);
	/* The worker of the connection looks at the peer no more */
	vt_no_event_for(test, end.eq, IDLE_S * MSEC_PER_SEC);
	peer_send(test, sock, msg, peer_op(msg, 77, 0, 0));
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	peer_hung_up(test, sock);
	KUNIT_EXPECT_EQ(test, violations(), 1);
}

static struct kunit_case queue_cases[] = {
	KUNIT_CASE(operations_of_a_kind_complete_in_order),
	KUNIT_CASE(a_callback_that_sleeps_holds_up_no_message_of_another_endpoint),
	KUNIT_CASE(a_callback_that_sleeps_holds_up_no_message_of_its_endpoint),
	KUNIT_CASE(a_callback_that_sleeps_holds_up_nothing_that_it_posts),
	KUNIT_CASE(a_violation_that_the_queue_sees_ends_the_connection),
	{}
};

static struct kunit_suite queue_suite = {
	.name		= "kofi_tcp_queue",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= queue_cases,
};

kunit_test_suite(queue_suite);
