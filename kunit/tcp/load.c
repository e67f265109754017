// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A thread posts and reads, and nobody else does.  It ends when a call says that the
 * connection has.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/wait.h>
#include "load.h"

#define SLOTS	4
#define LEN	20000	/* long enough to be sent without a copy */

/**
 * struct load_op - An operation that is posted again and again
 * @out: it has been posted and has not ended
 * @buf: its memory
 */
struct load_op {
	bool	out;
	u8	*buf;
};

/**
 * struct load - What goes on
 * @pair: where
 * @ops: receives and sends of both ends
 * @task: the thread
 * @over: it has read all there is
 * @progress: somebody waits for @ok
 * @ok: how many have ended well
 * @posted: how many have been posted
 * @failed: how many have ended with an error
 * @twice: ends of what was not posted
 */
struct load {
	struct vt_pair		*pair;
	struct load_op		ops[2][2][SLOTS];
	struct task_struct	*task;
	struct completion	over;
	wait_queue_head_t	progress;
	unsigned long		ok;
	unsigned long		posted;
	unsigned long		failed;
	unsigned long		twice;
};

static bool load_post_some(struct load *load, struct vt_end *end, bool send, struct load_op *ops)
{
	ssize_t ret;
	int i;

	for (i = 0; i < SLOTS; i++) {
		if (ops[i].out)
			continue;
		ret = send ? fi_send(end->ep, ops[i].buf, LEN, NULL, 0, &ops[i]) :
			     fi_recv(end->ep, ops[i].buf, LEN, NULL, 0, &ops[i]);
		if (ret == -EAGAIN)
			return true;
		if (ret)
			return false;
		ops[i].out = true;
		load->posted++;
	}
	return true;
}

/* Until a call says that the connection has ended */
static bool load_post(struct load *load)
{
	struct vt_end *ends[] = { &load->pair->a, &load->pair->b };
	int i;

	for (i = 0; i < 2; i++)
		if (!load_post_some(load, ends[i], false, load->ops[i][0]) ||
		    !load_post_some(load, ends[i], true, load->ops[i][1]))
			return false;
	return true;
}

/* Whether there was something */
static bool load_read(struct load *load, int timeout)
{
	struct fid_cq *cq = load->pair->a.tx->cq;
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry;
	struct load_op *op;
	ssize_t ret;

	ret = fi_cq_sread(cq, &entry, 1, NULL, timeout);
	if (ret == -FI_EAVAIL && fi_cq_readerr(cq, &error, 0) == 1) {
		op = error.op_context;
		load->failed++;
	} else if (ret == 1) {
		op = entry.op_context;
		WRITE_ONCE(load->ok, load->ok + 1);
		wake_up(&load->progress);
	} else {
		return false;
	}
	load->twice += !op->out;
	op->out = false;
	return true;
}

static int load_run(void *data)
{
	struct load *load = data;

	while (load_post(load) && !kthread_should_stop())
		load_read(load, 100);
	fi_ep_drain(load->pair->a.ep, VT_PATIENCE_MS);
	fi_ep_drain(load->pair->b.ep, VT_PATIENCE_MS);
	while (load_read(load, 0))
		;
	complete(&load->over);
	wait_event(load->progress, kthread_should_stop());
	return 0;
}

static void load_stop(void *data)
{
	kthread_stop(((struct load *)data)->task);
}

void load_join(struct kunit *test, struct vt_pair *pair, const struct fi_cq_attr *attr)
{
	pair->a.tx = vt_cq_new(test, vt_of(test)->domain, attr, &vt_default_kind);
	pair->a.rx = pair->a.tx;
	pair->b.tx = pair->a.tx;
	pair->b.rx = pair->a.tx;
	vt_join(test, pair, &vt_default_kind);
}

struct load *load_start(struct kunit *test, struct vt_pair *pair)
{
	struct load *load = vt_buf(test, sizeof(*load));
	struct load_op *op = &load->ops[0][0][0];
	int i;

	load->pair = pair;
	init_completion(&load->over);
	init_waitqueue_head(&load->progress);
	for (i = 0; i < 2 * 2 * SLOTS; i++)
		op[i].buf = vt_buf(test, LEN);
	load->task = kthread_run(load_run, load, "kofi_tcp_test/load");
	KUNIT_ASSERT_FALSE(test, IS_ERR(load->task));
	KUNIT_EXPECT_TRUE(test, load_goes_on(load, 4 * SLOTS));
	return load;
}

bool load_goes_on(struct load *load, unsigned long more)
{
	unsigned long want = READ_ONCE(load->ok) + more;

	return wait_event_timeout(load->progress, READ_ONCE(load->ok) >= want,
				  msecs_to_jiffies(VT_PATIENCE_MS));
}

void load_expect_over(struct kunit *test, struct load *load)
{
	struct load_op *op = &load->ops[0][0][0];
	int i;

	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&load->over,
							    2 * msecs_to_jiffies(VT_PATIENCE_MS)));
	load_stop(load);
	for (i = 0; i < 2 * 2 * SLOTS; i++)
		KUNIT_EXPECT_FALSE(test, op[i].out);
	KUNIT_EXPECT_EQ(test, load->twice, 0UL);
	KUNIT_EXPECT_EQ(test, load->posted, load->ok + load->failed);
	kunit_info(test, "%lu operations, %lu failed\n", load->posted, load->failed);
}
