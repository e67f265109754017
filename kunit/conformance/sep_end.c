// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Contexts of scalable endpoints that threads of their own use, that end while others work, and
 * that are not there.
 */
#include <linux/jiffies.h>
#include "../lib/async.h"
#include "sep.h"

#define MESSAGES	100	/* of each sender to each receiver */
#define DEPTH		16	/* operations of a thread under way */

/**
 * struct worker - A thread that has a context of its own
 * @ep: the context
 * @cq: its queue
 * @index: number of the context
 * @buf: what is sent or received: number of the sender, and of the message
 * @done: messages that were sent or received
 * @posted: receives that were posted
 * @number: of each of the buffers: which receive it is, from 1 on
 * @taken: of each message of each sender: which receive it has taken
 */
struct worker {
	struct fid_ep	*ep;
	struct vt_cq	*cq;
	u32		index;
	u32		(*buf)[2];
	int		done;
	u32		posted;
	u32		number[DEPTH];
	u32		(*taken)[MESSAGES];
};

/* Waits for the next completion; which of the buffers it was, or a negative errno */
static int worker_reap(struct worker *worker)
{
	struct vt_comp comp;
	int ret = vt_wait(worker->cq, &comp);

	if (ret != 1)
		return ret;
	if (comp.err)
		return -comp.err;
	worker->done++;
	return (unsigned long)comp.context;
}

static int worker_send(void *arg)
{
	struct worker *worker = arg;
	int i, slot;
	ssize_t ret;

	for (i = 0; i < MESSAGES * SEP_CTXS; i++) {
		slot = i < DEPTH ? i : worker_reap(worker);
		if (slot < 0)
			return slot;
		worker->buf[slot][0] = worker->index;
		worker->buf[slot][1] = i / SEP_CTXS;
		ret = fi_send(worker->ep, worker->buf[slot], 8, NULL,
			      fi_rx_addr(0, i % SEP_CTXS, SEP_BITS), vt_ctx(slot));
		if (ret)
			return ret;
	}
	while (worker->done < MESSAGES * SEP_CTXS) {
		slot = worker_reap(worker);
		if (slot < 0)
			return slot;
	}
	return 0;
}

static int worker_post_recv(struct worker *worker, int slot)
{
	worker->number[slot] = ++worker->posted;
	return fi_recv(worker->ep, worker->buf[slot], 8, NULL, FI_ADDR_UNSPEC, vt_ctx(slot));
}

/* What one sender sends to one receiver takes receives in its order */
static bool worker_in_order(const struct worker *worker)
{
	int sender, i;

	for (sender = 0; sender < SEP_CTXS; sender++)
		for (i = 1; i < MESSAGES; i++)
			if (worker->taken[sender][i] <= worker->taken[sender][i - 1])
				return false;
	return true;
}

static int worker_receive(void *arg)
{
	struct worker *worker = arg;
	int i, slot, ret = 0;
	u32 *msg;

	for (i = 0; i < DEPTH && !ret; i++)
		ret = worker_post_recv(worker, i);
	while (!ret && worker->done < MESSAGES * SEP_CTXS) {
		slot = worker_reap(worker);
		if (slot < 0)
			return slot;
		msg = worker->buf[slot];
		if (msg[0] >= SEP_CTXS || msg[1] >= MESSAGES || worker->taken[msg[0]][msg[1]])
			return -EBADMSG;
		worker->taken[msg[0]][msg[1]] = worker->number[slot];
		ret = worker_post_recv(worker, slot);
	}
	return ret ? : worker_in_order(worker) ? 0 : -EPROTO;
}

static void threads_with_a_context_each_lose_nothing(struct kunit *test)
{
	struct vt_async *threads[2 * SEP_CTXS];
	struct worker *workers;
	struct sep a = {}, b = {};
	int i;

	if (!sep_begin(test, 0, &a, &b))
		return;
	workers = vt_buf(test, ARRAY_SIZE(threads) * sizeof(*workers));
	for (i = 0; i < SEP_CTXS; i++) {
		workers[i] = (struct worker) { b.rx[i], b.rx_cq[i], i };
		workers[SEP_CTXS + i] = (struct worker) { a.tx[i], a.tx_cq[i], i };
	}
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		workers[i].buf = vt_buf(test, DEPTH * sizeof(*workers[i].buf));
	for (i = 0; i < SEP_CTXS; i++)
		workers[i].taken = vt_buf(test, SEP_CTXS * sizeof(*workers[i].taken));
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = vt_async_start(test, i < SEP_CTXS ? worker_receive : worker_send,
					    &workers[i]);
	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		KUNIT_EXPECT_EQ_MSG(test, vt_async_join(test, threads[i]), 0, "thread %d", i);
		KUNIT_EXPECT_EQ_MSG(test, workers[i].done, MESSAGES * SEP_CTXS, "thread %d", i);
	}
}

static void a_scalable_endpoint_outlives_its_contexts(struct kunit *test)
{
	struct sep sep = {};
	int i;

	if (!sep_wanted(test, 0))
		return;
	conf_serve(test);
	sep_open(test, &sep);
	sep_enable(test, &sep);
	for (i = 0; i < SEP_CTXS; i++) {
		KUNIT_EXPECT_EQ(test, fi_close(&sep.sep->fid), -EBUSY);
		vt_close(test, &sep.tx[i]->fid);
		KUNIT_EXPECT_EQ(test, fi_close(&sep.sep->fid), -EBUSY);
		vt_close(test, &sep.rx[i]->fid);
	}
	vt_close(test, &sep.sep->fid);
}

/* Waits for an error of this operation */
static struct vt_comp failed(struct kunit *test, struct vt_cq *cq, void *context)
{
	struct vt_comp comp = vt_failed(test, cq);

	KUNIT_EXPECT_PTR_EQ(test, comp.context, context);
	return comp;
}

/* Neither one that the peer cannot have, nor one that it has not opened, nor that of a plain one */
static void a_context_that_is_not_there_is_an_error(struct kunit *test)
{
	struct vt_end plain = {};
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 16);
	fi_addr_t addr, at;

	if (!sep_begin(test, 0, &a, &b))
		return;
	at = fi_rx_addr(0, SEP_CTXS + 1, SEP_BITS);
	KUNIT_ASSERT_EQ(test, fi_send(a.tx[0], buf, 8, NULL, at, vt_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, failed(test, a.tx_cq[0], vt_ctx(1)).err, ECONNREFUSED);
	vt_close(test, &b.rx[2]->fid);
	at = fi_rx_addr(0, 2, SEP_BITS);
	KUNIT_ASSERT_EQ(test, fi_send(a.tx[1], buf, 8, NULL, at, vt_ctx(2)), 0);
	KUNIT_EXPECT_EQ(test, failed(test, a.tx_cq[1], vt_ctx(2)).err, ECONNREFUSED);
	vt_client(test, &plain, &vt_default_kind);
	addr = sep_know(test, a.av, plain.ep);
	at = fi_rx_addr(addr, 1, SEP_BITS);
	KUNIT_ASSERT_EQ(test, fi_send(a.tx[1], buf, 8, NULL, at, vt_ctx(3)), 0);
	KUNIT_EXPECT_EQ(test, failed(test, a.tx_cq[1], vt_ctx(3)).err, ECONNREFUSED);
	/* The others have not heard of it */
	sep_pass(test, &a, 0, &b, 0, buf);
	sep_pass(test, &a, 1, &b, 3, buf);
	sep_quiet(test, &a);
}

static void contexts_close_while_others_work(struct kunit *test)
{
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 16);
	int i;

	if (!sep_begin(test, 0, &a, &b))
		return;
	for (i = 0; i < SEP_CTXS; i++) {
		sep_pass(test, &a, i, &b, i, buf);
		sep_pass(test, &b, i, &a, i, buf);
	}
	for (i = 1; i < SEP_CTXS; i++) {
		vt_close(test, &a.tx[i]->fid);
		sep_pass(test, &a, 0, &b, i, buf);
		sep_pass(test, &b, i, &a, i, buf);
		vt_close(test, &b.rx[i]->fid);
		sep_pass(test, &a, 0, &b, 0, buf);
		sep_pass(test, &b, i, &a, 0, buf);
	}
	sep_quiet(test, &a);
	sep_quiet(test, &b);
}

/* A context can be opened again when its close has returned, and is a new one */
static void open_again(struct kunit *test, struct sep *a, struct sep *b, int i)
{
	vt_close(test, &b->rx[i]->fid);
	vt_close(test, &a->tx[i]->fid);
	KUNIT_ASSERT_EQ(test, fi_rx_context(b->sep, i, NULL, &b->rx[i], NULL), 0);
	vt_adopt(test, &b->rx[i]->fid);
	KUNIT_ASSERT_EQ(test, fi_tx_context(a->sep, i, NULL, &a->tx[i], NULL), 0);
	vt_adopt(test, &a->tx[i]->fid);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(b->rx[i], &b->rx_cq[i]->cq->fid, FI_RECV), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(a->tx[i], &a->tx_cq[i]->cq->fid, FI_TRANSMIT), 0);
	KUNIT_ASSERT_EQ(test, fi_enable(b->rx[i]), 0);
	KUNIT_ASSERT_EQ(test, fi_enable(a->tx[i]), 0);
}

static void a_context_that_was_closed_is_opened_again(struct kunit *test)
{
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 16);
	int i;

	if (!sep_begin(test, 0, &a, &b))
		return;
	for (i = 0; i < SEP_CTXS; i++)
		sep_pass(test, &a, i, &b, i, buf);
	for (i = 0; i < SEP_CTXS; i++) {
		open_again(test, &a, &b, i);
		sep_pass(test, &a, i, &b, i, buf);
		sep_pass(test, &b, i, &a, i, buf);
		sep_pass(test, &a, i, &b, SEP_CTXS - 1 - i, buf);
	}
	sep_quiet(test, &a);
	sep_quiet(test, &b);
}

static void a_receive_of_a_context_is_cancelled(struct kunit *test)
{
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 24);

	if (!sep_begin(test, 0, &a, &b))
		return;
	KUNIT_ASSERT_EQ(test, fi_recv(b.rx[1], buf + 16, 8, NULL, FI_ADDR_UNSPEC, vt_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, fi_cancel(&b.rx[2]->fid, vt_ctx(1)), -ENOENT);
	KUNIT_EXPECT_EQ(test, fi_cancel(&b.rx[1]->fid, vt_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, failed(test, b.rx_cq[1], vt_ctx(1)).err, FI_ECANCELED);
	sep_pass(test, &a, 1, &b, 1, buf);
	sep_quiet(test, &b);
}

/* fi_ep_drain() ends the receives of its context, and what waits at the peer, and no more */
static void a_context_is_drained_by_itself(struct kunit *test)
{
	struct fi_msg msg = { .addr = fi_rx_addr(0, 1, SEP_BITS), .iov_count = 1 };
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 32);
	struct kvec iov = { buf + 16, 8 };
	unsigned long ended = 0;
	int i;

	if (!sep_begin(test, 0, &a, &b))
		return;
	sep_pass(test, &a, 0, &b, 1, buf);
	KUNIT_ASSERT_EQ(test, fi_recv(b.rx[2], buf + 24, 8, NULL, FI_ADDR_UNSPEC, vt_ctx(9)), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_drain(b.rx[2], VT_PATIENCE_MS), 0);
	KUNIT_EXPECT_EQ(test, failed(test, b.rx_cq[2], vt_ctx(9)).err, FI_ECANCELED);
	KUNIT_EXPECT_EQ(test, fi_recv(b.rx[2], buf + 24, 8, NULL, 0, vt_ctx(9)), -ESHUTDOWN);

	msg.msg_iov = &iov;
	for (i = 0; i < 3; i++) {
		msg.context = vt_ctx(i);
		KUNIT_ASSERT_EQ(test, fi_sendmsg(a.tx[1], &msg,
						 FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
	}
	KUNIT_ASSERT_EQ(test, fi_ep_drain(a.tx[1], VT_PATIENCE_MS), 0);
	/* In any order: these have no comp_order */
	for (i = 0; i < 3; i++)
		ended |= BIT((unsigned long)vt_failed(test, a.tx_cq[1]).context);
	KUNIT_EXPECT_EQ(test, ended, GENMASK(2, 0));
	KUNIT_EXPECT_EQ(test, fi_send(a.tx[1], buf, 8, NULL, 0, vt_ctx(9)), -ESHUTDOWN);
	sep_pass(test, &a, 0, &b, 3, buf);
	sep_quiet(test, &a);
}

/* In time, and with operations of others under way that end or stay as they would have */
static void a_context_closes_with_operations_under_way(struct kunit *test)
{
	struct sep a = {}, b = {};
	u8 *buf = vt_buf(test, 16);
	unsigned long begun;
	int i;

	if (!sep_begin(test, 0, &a, &b))
		return;
	sep_pass(test, &a, 0, &b, 0, buf);
	for (i = 0; i < DEPTH; i++)
		KUNIT_ASSERT_EQ(test, fi_send(a.tx[2], buf, 8, NULL,
					      fi_rx_addr(0, i % SEP_CTXS, SEP_BITS), vt_ctx(i)), 0);
	for (i = 0; i < SEP_CTXS; i++)
		KUNIT_ASSERT_EQ(test, fi_recv(b.rx[i], buf + 8, 8, NULL, FI_ADDR_UNSPEC,
					      vt_ctx(i)), 0);
	begun = jiffies;
	vt_close(test, &a.tx[2]->fid);
	vt_close(test, &b.rx[1]->fid);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, begun + msecs_to_jiffies(VT_PATIENCE_MS)));
	sep_quiet(test, &a);
	sep_pass(test, &b, 0, &a, 0, buf);
}

static struct kunit_case sep_end_cases[] = {
	KUNIT_CASE_PARAM(threads_with_a_context_each_lose_nothing, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_scalable_endpoint_outlives_its_contexts, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_context_that_is_not_there_is_an_error, conf_gen_rdm),
	KUNIT_CASE_PARAM(contexts_close_while_others_work, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_context_that_was_closed_is_opened_again, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_receive_of_a_context_is_cancelled, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_context_is_drained_by_itself, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_context_closes_with_operations_under_way, conf_gen_rdm),
	{}
};

struct kunit_suite conf_sep_end_suite = {
	.name		= "kofi_conformance_sep_end",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= sep_end_cases,
};
