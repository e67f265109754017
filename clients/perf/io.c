// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a storage client does for each request: register a buffer, send the key,
 * and take the buffer back when the answer has ended the key.
 *
 * b answers at once, without reading or writing the buffer; stream.c measures reads and
 * writes.  A message is the number of the request and its key.
 *
 * Locking: as in stream.c.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "perf.h"

/* Messages for each request in flight, which requests and answers use in turn */
#define IO_TURNS	4

struct io_message {
	u32	nth;
	u32	key;
};

/**
 * struct perf_io - Requests in flight
 * @flow: the run
 * @bed: the connection
 * @closing: io_close() runs, so operations end with an error
 * @depth: requests in flight
 * @to_begin: requests of the run that have not begun
 * @to_end: requests of the run that have not ended
 * @turns: how often each request has begun; selects its next message
 * @answers: answers so far
 * @requests: a's sends, IO_TURNS for each request
 * @replies: a's receives
 * @arrivals: b's receives
 * @sends: b's sends
 * @buf: all messages
 */
struct perf_io {
	struct perf_flow	flow;
	struct perf_bed		*bed;
	bool			closing;
	unsigned int		depth;
	unsigned int		to_begin;
	unsigned int		to_end;
	unsigned int		*turns;
	unsigned int		answers;
	void			*requests;
	void			*replies;
	void			*arrivals;
	void			*sends;
	struct io_message	*buf;
};

static void io_fail(struct perf_io *io, int err)
{
	if (!io->closing)
		perf_flow_fail(&io->flow, err);
}

static void io_sent(struct perf_req *req, int err)
{
	if (err)
		io_fail(req->context, err);
}

static void io_begin(struct perf_io *io, unsigned int nth)
{
	const struct perf_side *side = io->bed->side;
	unsigned int turn = nth * IO_TURNS + io->turns[nth]++ % IO_TURNS;
	struct perf_req *req = perf_req(io->requests, side, turn);
	struct io_message *message = req->buf;
	int ret;

	message->nth = nth;
	ret = side->begin(req, nth);
	if (ret)
		io_fail(io, ret);
}

/* a has received an answer */
static void io_replied(struct perf_req *req, int err)
{
	const struct io_message *message = req->buf;
	struct perf_io *io = req->context;
	unsigned int nth = message->nth;

	if (io->closing)
		return;
	if (!err && nth >= io->depth)
		err = -EPROTO;
	if (!err)
		err = io->bed->side->finish(io->bed, nth, req->inv);
	if (!err)
		err = io->bed->side->recv(req);
	if (err) {
		io_fail(io, err);
		return;
	}
	if (!--io->to_end)
		perf_flow_part(&io->flow);
	else if (io->to_begin && io->to_begin--)
		io_begin(io, nth);
}

/* b has received a request */
static void io_arrived(struct perf_req *req, int err)
{
	const struct io_message *message = req->buf;
	struct perf_io *io = req->context;
	const struct perf_side *side = io->bed->side;
	unsigned int turn;
	struct perf_req *answer;

	if (io->closing)
		return;
	turn = io->answers++ % (io->depth * IO_TURNS);
	answer = perf_req(io->sends, side, turn);
	*(struct io_message *)answer->buf = *message;
	if (!err)
		err = side->answer(answer, message->key);
	if (!err)
		err = side->recv(req);
	if (err)
		io_fail(io, err);
}

/* Allocate all operations of one kind; each has a message of its own */
static void *io_reqs(struct perf_io *io, unsigned int kind, bool far,
		     void (*done)(struct perf_req *req, int err))
{
	const struct perf_side *side = io->bed->side;
	unsigned int i, count = io->depth * IO_TURNS;
	struct perf_req *req;
	void *reqs;

	reqs = kcalloc(count, side->req_size, GFP_KERNEL);
	for (i = 0; reqs && i < count; i++) {
		req = perf_req(reqs, side, i);
		req->bed = io->bed;
		req->end = side->end(io->bed, 0, far);
		req->buf = &io->buf[kind * count + i];
		req->len = sizeof(*io->buf);
		req->done = done;
		req->context = io;
	}
	return reqs;
}

static int io_init(struct perf_io *io)
{
	const struct perf_side *side = io->bed->side;
	unsigned int i, count = io->depth * IO_TURNS;
	int ret = 0;

	io->turns = kcalloc(io->depth, sizeof(*io->turns), GFP_KERNEL);
	io->buf = kcalloc(4 * count, sizeof(*io->buf), GFP_KERNEL);
	if (!io->turns || !io->buf)
		return -ENOMEM;
	io->requests = io_reqs(io, 0, false, io_sent);
	io->replies = io_reqs(io, 1, false, io_replied);
	io->arrivals = io_reqs(io, 2, true, io_arrived);
	io->sends = io_reqs(io, 3, true, io_sent);
	if (!io->requests || !io->replies || !io->arrivals || !io->sends)
		return -ENOMEM;
	for (i = 0; i < count && !ret; i++) {
		ret = side->recv(perf_req(io->replies, side, i));
		if (!ret)
			ret = side->recv(perf_req(io->arrivals, side, i));
	}
	return ret;
}

static void io_close(void *state)
{
	struct perf_io *io = state;

	WRITE_ONCE(io->closing, true);
	io->bed->side->close(io->bed);
	kfree(io->requests);
	kfree(io->replies);
	kfree(io->arrivals);
	kfree(io->sends);
	kfree(io->turns);
	kfree(io->buf);
	kfree(io);
}

static void *io_open(const struct perf_side *side, const struct perf_cmd *cmd)
{
	unsigned int depth = cmd->depth * IO_TURNS;
	const struct perf_spec spec = {
		.way	= cmd->way,
		.node	= cmd->node,
		.links	= 1,
		.depth	= { 2 * depth, depth },
		.ios	= cmd->depth,
	};
	struct perf_io *io;
	int ret;

	if (cmd->count < cmd->depth)
		return ERR_PTR(perf_refuse("count=%u; the least with depth=%u is %u", cmd->count,
					   cmd->depth, cmd->depth));
	io = kzalloc(sizeof(*io), GFP_KERNEL);
	if (!io)
		return ERR_PTR(-ENOMEM);
	io->depth = cmd->depth;
	io->bed = side->open(&spec);
	if (IS_ERR(io->bed)) {
		ret = PTR_ERR(io->bed);
		kfree(io);
		return ERR_PTR(ret);
	}
	ret = io_init(io);
	if (!ret)
		return io;
	io_close(io);
	return ERR_PTR(ret);
}

static s64 io_run(void *state, const struct perf_cmd *cmd)
{
	struct perf_io *io = state;
	unsigned int i;

	io->to_begin = cmd->count - io->depth;
	io->to_end = cmd->count;
	perf_flow_begin(&io->flow, io->bed, 1);
	for (i = 0; i < io->depth; i++)
		io_begin(io, i);
	return perf_flow_wait(&io->flow);
}

const struct perf_test perf_perio = {
	.name	= "perio",
	.unit	= "ns",
	.open	= io_open,
	.run	= io_run,
	.close	= io_close,
};
