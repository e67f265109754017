// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The token of a connection: providers/tcp/stream/token.h alone, and what clients see of it when
 * two tasks come to one connection.
 *
 * A case that holds the lock of the endpoint's socket makes a call that sends wait for that lock,
 * with the token.
 */
#include <linux/delay.h>
#include <net/sock.h>
#include "../lib/async.h"
#include "../../providers/tcp/stream/token.h"
#include "tcp.h"

#define LEN	64
#define THREADS	4
#define EACH	2000

static struct ktcp_token *token_new(struct kunit *test)
{
	struct ktcp_token *token = vt_buf(test, sizeof(*token));

	ktcp_token_init(token);
	return token;
}

static void a_task_that_finds_it_taken_is_noted_once(struct kunit *test)
{
	struct ktcp_token *token = token_new(test);

	KUNIT_ASSERT_TRUE(test, ktcp_token_try(token));
	KUNIT_EXPECT_FALSE(test, ktcp_token_is_wanted(token));
	KUNIT_EXPECT_FALSE(test, ktcp_token_try(token));
	KUNIT_EXPECT_FALSE(test, ktcp_token_try(token));
	KUNIT_EXPECT_TRUE(test, ktcp_token_is_wanted(token));
	KUNIT_EXPECT_FALSE(test, ktcp_token_is_wanted(token));
	KUNIT_EXPECT_FALSE(test, ktcp_token_give(token));
}

static void a_task_that_comes_last_is_reported_with_the_end(struct kunit *test)
{
	struct ktcp_token *token = token_new(test);

	KUNIT_ASSERT_TRUE(test, ktcp_token_try(token));
	KUNIT_EXPECT_FALSE(test, ktcp_token_try(token));
	KUNIT_EXPECT_TRUE(test, ktcp_token_give(token));
	KUNIT_ASSERT_TRUE(test, ktcp_token_try(token));
	KUNIT_EXPECT_FALSE(test, ktcp_token_give(token));
}

static int take(void *arg)
{
	struct ktcp_token *token = arg;

	ktcp_token_take(token);
	return ktcp_token_give(token);
}

static void tasks_that_wait_ask_for_no_turn(struct kunit *test)
{
	struct ktcp_token *token = token_new(test);
	struct vt_async *waiters[2];
	bool given;
	int i;

	KUNIT_ASSERT_TRUE(test, ktcp_token_try(token));
	for (i = 0; i < ARRAY_SIZE(waiters); i++)
		waiters[i] = vt_async_start(test, take, token);
	for (i = 0; i < ARRAY_SIZE(waiters); i++)
		KUNIT_EXPECT_TRUE(test, vt_async_waits(waiters[i]));
	KUNIT_EXPECT_FALSE(test, ktcp_token_is_wanted(token));
	given = ktcp_token_give(token);
	for (i = 0; i < ARRAY_SIZE(waiters); i++)
		KUNIT_EXPECT_EQ(test, vt_async_join(test, waiters[i]), 0);
	KUNIT_EXPECT_FALSE(test, given);
	KUNIT_ASSERT_TRUE(test, ktcp_token_try(token));
	KUNIT_EXPECT_FALSE(test, ktcp_token_give(token));
}

/**
 * struct work - What tasks have for the holder of a token
 * @token: the token
 * @due: pieces that no task has done
 * @done: pieces that the holder has done
 */
struct work {
	struct ktcp_token	token;
	atomic_t		due;
	unsigned int		done;
};

/* Other tasks come while the holder lets them run */
static void work_turn(struct work *work)
{
	do {
		work->done += atomic_xchg(&work->due, 0);
		if (work->done % 3)
			usleep_range(10, 20);
	} while (ktcp_token_is_wanted(&work->token));
}

static int work_add(void *arg)
{
	struct work *work = arg;
	bool again;
	int i;

	for (i = 0; i < EACH; i++) {
		atomic_inc(&work->due);
		do {
			if (!ktcp_token_try(&work->token))
				break;
			work_turn(work);
			again = ktcp_token_give(&work->token);
		} while (again);
		if (i % 5 == 0)
			usleep_range(10, 20);
	}
	return 0;
}

static void what_a_task_has_come_for_is_done(struct kunit *test)
{
	struct work *work = vt_buf(test, sizeof(*work));
	struct vt_async *threads[THREADS];
	int i;

	ktcp_token_init(&work->token);
	for (i = 0; i < THREADS; i++)
		threads[i] = vt_async_start(test, work_add, work);
	for (i = 0; i < THREADS; i++)
		KUNIT_EXPECT_EQ(test, vt_async_join(test, threads[i]), 0);
	KUNIT_EXPECT_EQ(test, work->done, THREADS * EACH);
	KUNIT_EXPECT_EQ(test, atomic_read(&work->due), 0);
}

/**
 * struct call - A send by another task
 * @ep: the endpoint
 * @buf: LEN bytes
 */
struct call {
	struct fid_ep	*ep;
	u8		*buf;
};

static int call_send(void *arg)
{
	struct call *call = arg;

	return fi_send(call->ep, call->buf, LEN, NULL, 0, call->buf);
}

static struct call *call_new(struct kunit *test, struct vt_end *end, u8 byte)
{
	struct call *call = vt_buf(test, sizeof(*call));

	call->ep = end->ep;
	call->buf = vt_buf(test, LEN);
	vt_fill(call->buf, LEN, byte);
	return call;
}

/* The task that has the token sends what the other one has posted */
static void a_post_does_not_wait_for_a_task_that_sends(struct kunit *test)
{
	u8 in[2][PEER_BASE + LEN];
	struct vt_end end = { .may_sleep = 1 };
	struct socket *sock = peer_join(test, &end);
	struct sock *sk = peer_other_end(test, sock);
	struct vt_async *first, *second;
	struct call *calls[2];
	struct vt_comp comp;
	int i;

	for (i = 0; i < 2; i++)
		calls[i] = call_new(test, &end, i + 1);
	lock_sock(sk);
	first = vt_async_start(test, call_send, calls[0]);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(first));
	second = vt_async_start(test, call_send, calls[1]);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, second), 0);
	release_sock(sk);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, first), 0);
	peer_recv(test, sock, in, sizeof(in));
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_TRUE(test, vt_filled(in[i] + PEER_BASE, LEN, i + 1));
		KUNIT_ASSERT_EQ(test, vt_wait(end.tx, &comp), 1);
		KUNIT_EXPECT_EQ(test, comp.err, 0);
	}
}

static int drain(void *arg)
{
	return fi_ep_drain(arg, VT_PATIENCE_MS);
}

/* The worker waits for the token, and then ends what is under way */
static void the_end_waits_for_a_task_that_sends(struct kunit *test)
{
	struct vt_end end = { .may_sleep = 1 };
	struct socket *sock = peer_join(test, &end);
	struct sock *sk = peer_other_end(test, sock);
	struct vt_async *send, *end_of_all;
	struct vt_comp comp;

	lock_sock(sk);
	send = vt_async_start(test, call_send, call_new(test, &end, 1));
	KUNIT_EXPECT_TRUE(test, vt_async_waits(send));
	end_of_all = vt_async_start(test, drain, end.ep);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(end_of_all));
	vt_none(test, end.tx);
	release_sock(sk);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, send), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, end_of_all), 0);
	KUNIT_EXPECT_EQ(test, vt_wait(end.tx, &comp), 1);
	vt_none(test, end.tx);
}

static struct kunit_case token_cases[] = {
	KUNIT_CASE(a_task_that_finds_it_taken_is_noted_once),
	KUNIT_CASE(a_task_that_comes_last_is_reported_with_the_end),
	KUNIT_CASE(tasks_that_wait_ask_for_no_turn),
	KUNIT_CASE(what_a_task_has_come_for_is_done),
	KUNIT_CASE(a_post_does_not_wait_for_a_task_that_sends),
	KUNIT_CASE(the_end_waits_for_a_task_that_sends),
	{}
};

static struct kunit_suite token_suite = {
	.name		= "kofi_tcp_token",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= token_cases,
};

kunit_test_suite(token_suite);
