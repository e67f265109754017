// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completions, four ways.  Whichever it is, op_over() is called once for each operation.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sched.h>
#include "guide.h"

static void op_over(struct op *op, int err, u64 flags, u64 data)
{
	op->err = err;
	op->flags = flags;
	op->data = data;
	complete(&op->over);
}

/* guide: read */
/* Takes what the queue has.  -EAGAIN: no more now; -ENODEV: no more at all */
static int queue_read(struct end *end)
{
	struct fi_cq_err_entry error = { };
	struct fi_cq_data_entry entry;
	ssize_t ret;

	for (;;) {
		ret = fi_cq_read(end->cq, &entry, 1);
		if (ret == 1)
			op_over(entry.op_context, 0, entry.flags, entry.data);
		else if (ret == -FI_EAVAIL && fi_cq_readerr(end->cq, &error, 0) == 1)
			op_over(error.op_context, error.err, error.flags, error.data);
		else
			return ret;
	}
}

/* guide: handler */
/* FI_WAIT_CALLBACK: there is something to read, or the device has gone */
static void queue_handler(struct fid_cq *cq, void *context)
{
	queue_read(context);
}

/* guide: done */
/* FI_WAIT_DONE: this operation is over */
static void op_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	op_over(container_of(done, struct op, done), entry->err, entry->flags,
		entry->data);
}

/* guide: open */
int queue_open(struct end *end)
{
	struct fi_cq_attr attr = {
		.size		= end->info->tx_attr->size + end->info->rx_attr->size,
		.format		= FI_CQ_FORMAT_DATA,
		.wait_obj	= end->wait_obj,
	};

	if (end->wait_obj == FI_WAIT_CALLBACK)
		attr.handler = queue_handler;
	if (end->wait_obj == FI_WAIT_CALLBACK || end->wait_obj == FI_WAIT_DONE)
		attr.comp_ctx = FI_COMP_WORKQUEUE;
	return fi_cq_open(end->domain, &attr, &end->cq, end);
}

/* guide: end */
void op_init(struct op *op)
{
	op->done.done = op_done;
	init_completion(&op->over);
}

/* guide: await */
int op_await(struct end *end, struct op *op)
{
	unsigned long until = jiffies + msecs_to_jiffies(TIMEOUT_MS);
	struct fi_cq_err_entry error = { };
	struct fi_cq_data_entry entry;
	ssize_t ret;

	switch (end->wait_obj) {
	case FI_WAIT_NONE:
		while (!completion_done(&op->over) && time_before(jiffies, until)) {
			queue_read(end);
			cond_resched();
		}
		break;
	case FI_WAIT_UNSPEC:
		while (!completion_done(&op->over)) {
			ret = fi_cq_sread(end->cq, &entry, 1, NULL, TIMEOUT_MS);
			if (ret == 1)
				op_over(entry.op_context, 0, entry.flags, entry.data);
			else if (ret == -FI_EAVAIL &&
				 fi_cq_readerr(end->cq, &error, 0) == 1)
				op_over(error.op_context, error.err, error.flags,
					error.data);
			else
				return ret;
		}
		break;
	default: /* the queue calls */
		break;
	}
	if (!wait_for_completion_timeout(&op->over, msecs_to_jiffies(TIMEOUT_MS)))
		return -ETIMEDOUT;
	return -op->err;
}
