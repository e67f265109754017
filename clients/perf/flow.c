// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Runs: a run ends when callbacks have reported the end of all its parts.  And
 * ping-pong: one message travels to and fro, each end answers from the callback of
 * its receive.
 *
 * Receives are posted once, when the connection is made, and again by their
 * callbacks, so a message always finds one.  Sends use a few requests in turn: the
 * answer to a message may overtake the completion of its send.
 *
 * Locking: a callback touches only the end that it belongs to; the completion queue
 * of an end calls one callback at a time.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "perf.h"

/* Not inlined: scripts/profile counts from here to perf_sample() */
noinline void perf_flow_begin(struct perf_flow *flow, struct perf_bed *bed, int parts)
{
	flow->bed = bed;
	flow->err = 0;
	atomic_set(&flow->left, parts);
	init_completion(&flow->end);
	flow->start = ktime_get();
}

void perf_flow_part(struct perf_flow *flow)
{
	if (!atomic_dec_and_test(&flow->left))
		return;
	flow->stop = ktime_get();
	complete(&flow->end);
}

void perf_flow_fail(struct perf_flow *flow, int err)
{
	WRITE_ONCE(flow->err, err);
	complete(&flow->end);
}

/* Returns nanoseconds, or an errno */
s64 perf_flow_wait(struct perf_flow *flow)
{
	unsigned long patience = msecs_to_jiffies(PERF_PATIENCE_MS);

	if (!wait_for_completion_timeout(&flow->end, patience))
		return -ETIMEDOUT;
	if (flow->err)
		return flow->err;
	return ktime_to_ns(ktime_sub(flow->stop, flow->start));
}

struct perf_req *perf_req(void *reqs, const struct perf_side *side,
			  unsigned int nth)
{
	return reqs + nth * side->req_size;
}

#define PP_SENDS	4
#define PP_RECVS	4
#define PP_REQS		(PP_SENDS + PP_RECVS)

struct pp;

/**
 * struct pp_end - One end
 * @pp: the ping-pong
 * @reqs: PP_SENDS sends, PP_RECVS receives
 * @buf: what is sent, and behind it what is received
 * @turn: sends so far; selects the next of the sends in @reqs
 */
struct pp_end {
	struct pp	*pp;
	void		*reqs;
	void		*buf;
	unsigned int	turn;
};

/**
 * struct pp - A ping-pong
 * @flow: the run
 * @bed: the connection
 * @closing: pp_close() runs, so operations end with an error
 * @left: round trips to go
 * @ends: a and b
 */
struct pp {
	struct perf_flow	flow;
	struct perf_bed		*bed;
	bool			closing;
	unsigned int		left;
	struct pp_end		ends[2];
};

static void pp_sent(struct perf_req *req, int err)
{
	struct pp_end *end = req->context;

	if (err && !end->pp->closing)
		perf_flow_fail(&end->pp->flow, err);
}

static void pp_send(struct pp_end *end)
{
	const struct perf_side *side = end->pp->bed->side;
	int ret;

	ret = side->send(perf_req(end->reqs, side, end->turn++ % PP_SENDS));
	if (ret)
		perf_flow_fail(&end->pp->flow, ret);
}

static void pp_received(struct perf_req *req, int err)
{
	struct pp_end *end = req->context;
	struct pp *pp = end->pp;

	if (pp->closing)
		return;
	if (!err)
		err = pp->bed->side->recv(req);
	if (err)
		perf_flow_fail(&pp->flow, err);
	else if (end == &pp->ends[0] && !--pp->left)
		perf_flow_part(&pp->flow);
	else
		pp_send(end);
}

static int pp_end_init(struct pp *pp, int nth, size_t size)
{
	const struct perf_side *side = pp->bed->side;
	struct pp_end *end = &pp->ends[nth];
	struct perf_req *req;
	int i, ret = 0;

	end->pp = pp;
	end->reqs = kcalloc(PP_REQS, side->req_size, GFP_KERNEL);
	end->buf = kzalloc(2 * size, GFP_KERNEL);
	if (!end->reqs || !end->buf)
		return -ENOMEM;
	for (i = 0; i < PP_REQS && !ret; i++) {
		req = perf_req(end->reqs, side, i);
		req->bed = pp->bed;
		req->end = side->end(pp->bed, 0, nth);
		req->context = end;
		req->len = size;
		req->buf = end->buf + (i < PP_SENDS ? 0 : size);
		req->done = i < PP_SENDS ? pp_sent : pp_received;
		if (i >= PP_SENDS)
			ret = side->recv(req);
	}
	return ret;
}

static void pp_close(void *state)
{
	struct pp *pp = state;
	int i;

	WRITE_ONCE(pp->closing, true);
	pp->bed->side->close(pp->bed);
	for (i = 0; i < 2; i++) {
		kfree(pp->ends[i].reqs);
		kfree(pp->ends[i].buf);
	}
	kfree(pp);
}

static void *pp_open(const struct perf_side *side, const struct perf_cmd *cmd)
{
	const struct perf_spec spec = {
		.way = cmd->way, .node = cmd->node, .links = 1, .depth = { 16, 16 },
	};
	struct pp *pp = kzalloc(sizeof(*pp), GFP_KERNEL);
	int ret;

	if (!pp)
		return ERR_PTR(-ENOMEM);
	pp->bed = side->open(&spec);
	if (IS_ERR(pp->bed)) {
		ret = PTR_ERR(pp->bed);
		kfree(pp);
		return ERR_PTR(ret);
	}
	ret = pp_end_init(pp, 0, cmd->size);
	if (!ret)
		ret = pp_end_init(pp, 1, cmd->size);
	if (!ret)
		return pp;
	pp_close(pp);
	return ERR_PTR(ret);
}

/* Returns the time of one way, not of a round trip */
static s64 pp_run(void *state, const struct perf_cmd *cmd)
{
	struct pp *pp = state;
	s64 ns;

	pp->left = cmd->count;
	perf_flow_begin(&pp->flow, pp->bed, 1);
	pp_send(&pp->ends[0]);
	ns = perf_flow_wait(&pp->flow);
	return ns < 0 ? ns : ns / 2;
}

const struct perf_test perf_pingpong = {
	.name	= "pingpong",
	.unit	= "ns",
	.open	= pp_open,
	.run	= pp_run,
	.close	= pp_close,
};
