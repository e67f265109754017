// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Busy connections.
 *
 * Each connection has one completion queue with a handler, and one event queue, for
 * both of its ends.  Two threads share the connections: a handler marks a connection
 * as ready and wakes the thread, which reads and posts anew.  Two more threads
 * register memory, and connect and accept.  All go on until something answers
 * -ENODEV; what has ended until then, and how, is in the counters of the connection,
 * which only its thread writes.
 */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include "busy.h"
#include "client.h"

#define BUSY_THREADS	2
#define BUSY_SLOTS	4	/* of a connection, each with the operations below */
#define BUSY_LEN	512	/* bytes of an operation */
#define BUSY_WARM	(4 * BUSY_OPS)	/* operations that end well before the start */

enum busy_op_kind {
	BUSY_RECV,
	BUSY_SEND,
	BUSY_WRITE,
	BUSY_OPS,
};

struct busy_op {
	bool	out;
	u8	*buf;
};

/**
 * struct busy_conn - A connection
 * @ep: its ends, [0] has connected
 * @eq: events of both
 * @cq: completions of both
 * @mr: what [1] exposes
 * @mem: its memory, and that of the operations
 * @ops: per slot
 * @count: so far
 * @thread: serves it
 * @ready: there is something to read
 * @gone: the completion queue has ended
 */
struct busy_conn {
	struct fid_ep		*ep[2];
	struct fid_eq		*eq;
	struct fid_cq		*cq;
	struct fid_mr		*mr;
	u8			*mem;
	struct busy_op		ops[BUSY_SLOTS][BUSY_OPS];
	struct busy_count	count;
	struct busy_thread	*thread;
	atomic_t		ready;
	bool			gone;
};

struct busy_thread {
	struct busy		*busy;
	struct task_struct	*task;
	wait_queue_head_t	wait;
	atomic_t		work;
	unsigned int		first;
	bool			enough;
	struct completion	done;
};

/**
 * struct busy - All of it
 * @test: the case
 * @info: what everything is opened with
 * @bed: where everything is opened, and which listens
 * @nr_conns: entries of @conns
 * @conns: connections
 * @traffic: the threads that serve them
 * @regs: registers memory
 * @joins: connects and accepts
 * @nr_regs: what @regs has done
 * @nr_joins: what @joins has done
 * @progress: for who waits for any of that
 */
struct busy {
	struct kunit		*test;
	struct fi_info		*info;
	struct tb		bed;
	unsigned int		nr_conns;
	struct busy_conn	*conns;
	struct busy_thread	traffic[BUSY_THREADS];
	struct busy_thread	regs;
	struct busy_thread	joins;
	unsigned long		nr_regs;
	unsigned long		nr_joins;
	wait_queue_head_t	progress;
};

static void busy_handler(struct fid_cq *cq, void *context)
{
	struct busy_conn *conn = context;

	atomic_set(&conn->ready, 1);
	atomic_set(&conn->thread->work, 1);
	wake_up(&conn->thread->wait);
}

static int busy_open_queues(struct busy *busy, struct busy_conn *conn,
			    bool soft)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr cq_attr = {
		.size		= 4 * BUSY_SLOTS * BUSY_OPS,
		.format		= FI_CQ_FORMAT_CONTEXT,
		.wait_obj	= FI_WAIT_CALLBACK,
		.comp_ctx	= soft ? FI_COMP_SOFTIRQ : FI_COMP_WORKQUEUE,
		.handler	= busy_handler,
	};

	return fi_eq_open(busy->bed.fabric, &eq_attr, &conn->eq, NULL) ? :
	       fi_cq_open(busy->bed.domain, &cq_attr, &conn->cq, conn);
}

static int busy_open_end(struct busy *busy, struct busy_conn *conn, int end,
			 struct fi_info *info)
{
	struct tb_end what = { .eq = conn->eq, .tx = conn->cq };
	int ret = tb_end_open(&what, busy->bed.domain, info);

	conn->ep[end] = what.ep;
	return ret;
}

static int busy_event(struct fid_eq *eq, u32 want, struct fi_info **info)
{
	struct fi_eq_cm_entry entry = {};
	ssize_t ret;

	ret = vt_in_time(VT_PATIENCE_MS,
			 tb_hear(eq, want, &entry, sizeof(entry), VT_PATIENCE_MS));
	if (ret < 0)
		return ret;
	if (want == FI_CONNREQ)
		*info = entry.info;
	return 0;
}

static int busy_accept(struct busy *busy, struct busy_conn *conn)
{
	struct fi_info *info = NULL;
	int ret = busy_event(busy->bed.eq, FI_CONNREQ, &info);

	if (ret)
		return ret;
	info->tx_attr->size = busy->info->tx_attr->size;
	info->rx_attr->size = busy->info->rx_attr->size;
	ret = busy_open_end(busy, conn, 1, info) ? :
	      fi_accept(conn->ep[1], NULL, 0);
	fi_freeinfo(info);
	return ret;
}

/* Whatever fails is left to busy_part() */
static int busy_join(struct busy *busy, struct busy_conn *conn)
{
	return busy_open_end(busy, conn, 0, busy->info) ? :
	       fi_connect(conn->ep[0], &busy->bed.name, NULL, 0) ? :
	       busy_accept(busy, conn) ? :
	       busy_event(conn->eq, FI_CONNECTED, NULL) ? :
	       busy_event(conn->eq, FI_CONNECTED, NULL);
}

static void busy_close(struct busy *busy, struct fid *fid)
{
	KUNIT_EXPECT_EQ(busy->test, fi_close(fid), 0);
}

static void busy_part(struct busy *busy, struct busy_conn *conn)
{
	int end;

	for (end = 0; end < 2; end++)
		if (conn->ep[end])
			busy_close(busy, &conn->ep[end]->fid);
	if (conn->mr)
		busy_close(busy, &conn->mr->fid);
	if (conn->cq)
		busy_close(busy, &conn->cq->fid);
	if (conn->eq)
		busy_close(busy, &conn->eq->fid);
	kfree(conn->mem);
	*conn = (struct busy_conn) {};
}

static ssize_t busy_post_one(struct busy_conn *conn, enum busy_op_kind kind,
			     struct busy_op *op)
{
	switch (kind) {
	case BUSY_RECV:
		return fi_recv(conn->ep[1], op->buf, BUSY_LEN, NULL, 0, op);
	case BUSY_SEND:
		return fi_send(conn->ep[0], op->buf, BUSY_LEN, NULL, 0, op);
	default:
		return fi_write(conn->ep[0], op->buf, BUSY_LEN, NULL, 0,
				(uintptr_t)conn->mem, fi_mr_key(conn->mr), op);
	}
}

/* It may be over before the call returns, but only this thread reads */
static void busy_post_op(struct busy_conn *conn, struct busy_op *ops,
			 enum busy_op_kind kind)
{
	if (ops[kind].out || busy_post_one(conn, kind, &ops[kind]))
		return;
	ops[kind].out = true;
	conn->count.posted++;
}

/* A message is sent when its receive is there, and both are over before the next */
static void busy_post(struct busy_conn *conn)
{
	struct busy_op *ops;
	int i;

	for (i = 0; i < BUSY_SLOTS; i++) {
		ops = conn->ops[i];
		if (!ops[BUSY_RECV].out && !ops[BUSY_SEND].out) {
			busy_post_op(conn, ops, BUSY_RECV);
			if (ops[BUSY_RECV].out)
				busy_post_op(conn, ops, BUSY_SEND);
		}
		busy_post_op(conn, ops, BUSY_WRITE);
	}
}

static void busy_ended(struct busy_conn *conn, struct busy_op *op, int err)
{
	if (!op->out)
		conn->count.twice++;
	op->out = false;
	if (err)
		conn->count.failed++;
	else
		conn->count.ok++;
}

/* Reads everything there is */
static void busy_read(struct busy_conn *conn)
{
	struct fi_cq_err_entry error;
	struct fi_cq_entry entry;
	ssize_t ret;

	for (;;) {
		ret = fi_cq_read(conn->cq, &entry, 1);
		if (ret == 1)
			busy_ended(conn, entry.op_context, 0);
		else if (ret == -FI_EAVAIL &&
			 fi_cq_readerr(conn->cq, &error, 0) == 1)
			busy_ended(conn, error.op_context, error.err);
		else
			break;
	}
	conn->gone = ret == -ENODEV;
}

/* Returns whether any of the thread's connections has not ended */
static bool busy_serve(struct busy_thread *thread)
{
	struct busy *busy = thread->busy;
	struct busy_conn *conn;
	bool left = false;
	unsigned int i;

	for (i = thread->first; i < busy->nr_conns; i += BUSY_THREADS) {
		conn = &busy->conns[i];
		if (!conn->gone && atomic_xchg(&conn->ready, 0)) {
			busy_read(conn);
			busy_post(conn);
		}
		left |= !conn->gone;
	}
	return left;
}

static int busy_traffic(void *data)
{
	struct busy_thread *thread = data;
	struct busy *busy = thread->busy;

	while (!kthread_should_stop() && busy_serve(thread)) {
		wake_up(&busy->progress);
		wait_event(thread->wait,
			   atomic_xchg(&thread->work, 0) ||
			   kthread_should_stop());
	}
	complete_all(&thread->done);
	wait_event(thread->wait, kthread_should_stop());
	return 0;
}

static int busy_reg_once(struct busy *busy, void *mem)
{
	struct fid_mr *mr;
	int ret = fi_mr_reg(busy->bed.domain, mem, PAGE_SIZE, FI_REMOTE_WRITE, 0, 0,
			    0, &mr, NULL);

	if (ret)
		return ret;
	busy_close(busy, &mr->fid);
	busy->nr_regs++;
	return 0;
}

static int busy_join_once(struct busy *busy, void *unused)
{
	struct busy_conn conn = { .thread = &busy->traffic[0] };
	int ret = busy_open_queues(busy, &conn, false);

	if (!ret)
		ret = busy_join(busy, &conn);
	busy_part(busy, &conn);
	if (!ret)
		busy->nr_joins++;
	return ret;
}

/* Until it fails, which it does when the device goes, and not before.  Returns that */
static int busy_repeat(struct busy_thread *thread,
		       int (*once)(struct busy *busy, void *mem), void *mem)
{
	struct busy *busy = thread->busy;
	int ret;

	do {
		ret = once(busy, mem);
		wake_up(&busy->progress);
		cond_resched();
	} while (!ret && !READ_ONCE(thread->enough) && !kthread_should_stop());
	complete_all(&thread->done);
	wait_event(thread->wait, kthread_should_stop());
	return ret;
}

static int busy_register(void *data)
{
	void *mem = kzalloc(PAGE_SIZE, GFP_KERNEL);

	if (mem)
		busy_repeat(data, busy_reg_once, mem);
	kfree(mem);
	return 0;
}

static int busy_connect(void *data)
{
	return busy_repeat(data, busy_join_once, NULL);
}

static void busy_thread_start(struct busy *busy, struct busy_thread *thread,
			      int (*fn)(void *data), const char *name)
{
	struct task_struct *task;

	thread->busy = busy;
	task = kthread_run(fn, thread, "%s", name);
	KUNIT_ASSERT_FALSE(busy->test, IS_ERR(task));
	thread->task = task;
}

static int busy_thread_stop(struct busy_thread *thread)
{
	int ret = 0;

	if (thread->task)
		ret = kthread_stop(thread->task);
	thread->task = NULL;
	return ret;
}

/* All that has been started; unread requests go with the listener */
static void busy_release(void *data)
{
	struct busy *busy = data;
	unsigned int i;

	for (i = 0; i < BUSY_THREADS; i++)
		busy_thread_stop(&busy->traffic[i]);
	busy_thread_stop(&busy->regs);
	busy_thread_stop(&busy->joins);
	for (i = 0; busy->conns && i < busy->nr_conns; i++)
		busy_part(busy, &busy->conns[i]);
	KUNIT_EXPECT_EQ(busy->test, tb_close(&busy->bed), 0);
	fi_freeinfo(busy->info);
	kfree(busy->conns);
	kfree(busy);
}

static struct busy *busy_alloc(struct kunit *test, const struct fi_info *info,
			       unsigned int conns)
{
	struct busy *busy = kzalloc(sizeof(*busy), GFP_KERNEL);
	struct busy_thread *threads[] = { &busy->traffic[0], &busy->traffic[1],
					  &busy->regs, &busy->joins };
	int i;

	KUNIT_ASSERT_NOT_NULL(test, busy);
	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		init_waitqueue_head(&threads[i]->wait);
		init_completion(&threads[i]->done);
		threads[i]->first = i;
	}
	init_waitqueue_head(&busy->progress);
	busy->test = test;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, busy_release,
							busy), 0);
	busy->info = fi_dupinfo(info);
	KUNIT_ASSERT_NOT_NULL(test, busy->info);
	busy->info->tx_attr->size = 2 * BUSY_SLOTS;
	busy->info->rx_attr->size = BUSY_SLOTS;
	busy->conns = kcalloc(conns, sizeof(*busy->conns), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, busy->conns);
	busy->nr_conns = conns;
	return busy;
}

static void busy_listen(struct busy *busy)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct kunit *test = busy->test;

	KUNIT_ASSERT_EQ(test, tb_open(&busy->bed, busy->info, &attr, NULL), 0);
	KUNIT_ASSERT_EQ(test, tb_listen(&busy->bed, busy->info), 0);
}

static void busy_open_conn(struct busy *busy, unsigned int nr)
{
	struct busy_conn *conn = &busy->conns[nr];
	struct kunit *test = busy->test;
	u8 *at;
	int i;

	conn->thread = &busy->traffic[nr % BUSY_THREADS];
	conn->mem = kzalloc((1 + BUSY_SLOTS * BUSY_OPS) * BUSY_LEN, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, conn->mem);
	at = conn->mem + BUSY_LEN;
	for (i = 0; i < BUSY_SLOTS * BUSY_OPS; i++, at += BUSY_LEN)
		conn->ops[i / BUSY_OPS][i % BUSY_OPS].buf = at;
	KUNIT_ASSERT_EQ(test, busy_open_queues(busy, conn, nr % 4 < 2), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(busy->bed.domain, conn->mem, BUSY_LEN,
					FI_REMOTE_WRITE, 0, 0, 0, &conn->mr,
					NULL), 0);
	KUNIT_ASSERT_EQ(test, busy_join(busy, conn), 0);
	atomic_set(&conn->ready, 1);
}

static bool busy_is_warm(struct busy *busy)
{
	unsigned int i;

	for (i = 0; i < busy->nr_conns; i++)
		if (READ_ONCE(busy->conns[i].count.ok) < BUSY_WARM)
			return false;
	return READ_ONCE(busy->nr_regs) && READ_ONCE(busy->nr_joins);
}

struct busy *busy_start(struct kunit *test, const struct fi_info *info,
			unsigned int conns)
{
	struct busy *busy = busy_alloc(test, info, conns);
	unsigned int i;
	long left;

	busy_listen(busy);
	for (i = 0; i < conns; i++)
		busy_open_conn(busy, i);
	for (i = 0; i < BUSY_THREADS; i++)
		busy_thread_start(busy, &busy->traffic[i], busy_traffic,
				  "busy_traffic");
	busy_thread_start(busy, &busy->regs, busy_register, "busy_register");
	busy_thread_start(busy, &busy->joins, busy_connect, "busy_connect");
	left = wait_event_timeout(busy->progress, busy_is_warm(busy),
				  4 * msecs_to_jiffies(VT_PATIENCE_MS));
	/* 1 is what is left when it has looked once more at the end of its time */
	KUNIT_ASSERT_GT_MSG(test, left, 1, "%lu registrations, %lu connects",
			    busy->nr_regs, busy->nr_joins);
	return busy;
}
EXPORT_SYMBOL_GPL(busy_start);

bool busy_is_busy(struct busy *busy)
{
	int i;

	for (i = 0; i < BUSY_THREADS; i++)
		if (completion_done(&busy->traffic[i].done))
			return false;
	return !completion_done(&busy->regs.done) &&
	       !completion_done(&busy->joins.done);
}
EXPORT_SYMBOL_GPL(busy_is_busy);

static void busy_await(struct busy *busy, struct busy_thread *thread)
{
	unsigned long patience = msecs_to_jiffies(VT_PATIENCE_MS);

	KUNIT_EXPECT_GT(busy->test,
			wait_for_completion_timeout(&thread->done, patience),
			0);
}

/* A thread that is stopped would not wait for its last event */
static void busy_end(struct busy *busy, struct busy_thread *thread)
{
	WRITE_ONCE(thread->enough, true);
	busy_await(busy, thread);
	KUNIT_EXPECT_EQ(busy->test, busy_thread_stop(thread), 0);
}

void busy_end_joins(struct busy *busy)
{
	busy_end(busy, &busy->joins);
}
EXPORT_SYMBOL_GPL(busy_end_joins);

void busy_end_regs(struct busy *busy)
{
	busy_end(busy, &busy->regs);
}
EXPORT_SYMBOL_GPL(busy_end_regs);

/* Endpoints whose end the event queue tells; nothing else may be there */
static unsigned int busy_told(struct busy_conn *conn)
{
	struct fi_eq_err_entry error = {};
	unsigned int told = 0;

	while (fi_eq_readerr(conn->eq, &error, 0) > 0)
		told += error.err == ENODEV;
	return told;
}

static void busy_add(struct busy_count *sum, struct busy_conn *conn)
{
	int i;

	sum->posted += conn->count.posted;
	sum->ok += conn->count.ok;
	sum->failed += conn->count.failed;
	sum->twice += conn->count.twice;
	sum->told += busy_told(conn);
	for (i = 0; i < BUSY_SLOTS * BUSY_OPS; i++)
		sum->out += conn->ops[i / BUSY_OPS][i % BUSY_OPS].out;
}

struct busy_count busy_expect_gone(struct busy *busy)
{
	struct busy_count sum = {};
	unsigned int i;

	for (i = 0; i < BUSY_THREADS; i++)
		busy_await(busy, &busy->traffic[i]);
	busy_await(busy, &busy->regs);
	busy_await(busy, &busy->joins);
	for (i = 0; i < busy->nr_conns; i++)
		busy_add(&sum, &busy->conns[i]);
	sum.regs = busy->nr_regs;
	sum.joins = busy->nr_joins;

	KUNIT_EXPECT_EQ(busy->test, sum.posted, sum.ok + sum.failed);
	KUNIT_EXPECT_EQ(busy->test, sum.twice, 0);
	KUNIT_EXPECT_EQ(busy->test, sum.out, 0);
	KUNIT_EXPECT_EQ(busy->test, sum.told, 2 * busy->nr_conns);
	return sum;
}
EXPORT_SYMBOL_GPL(busy_expect_gone);

void busy_stop(struct busy *busy)
{
	kunit_release_action(busy->test, busy_release, busy);
}
EXPORT_SYMBOL_GPL(busy_stop);
