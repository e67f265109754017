// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Streaming: on each connection depth operations are in flight all the time.
 *
 * The callback of an operation posts the next operation.  With "more" the callback
 * of the last of PERF_CHAIN operations posts as many with one doorbell.  b has more
 * receives posted than a has sends in flight, and posts each again at once.  A run
 * ends when a has its last completion, and for messages when b has its last, too.
 *
 * Locking: the fields of an end belong to the callbacks of its completion queue,
 * which come one at a time, except before the first operation is posted.  A post
 * that fails ends the run.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "perf.h"

/* b's receives for each of a's sends in flight, and their least number on a single connection */
#define STREAM_RECVS		2
#define STREAM_MIN_RECVS	16

/**
 * struct stream - Connections that stream
 * @flow: the run
 * @bed: the connections
 * @closing: stream_close() runs, so operations end with an error
 * @chained: sends are posted PERF_CHAIN at a time
 * @messages: the operations are messages, so b counts completions, too
 * @post: posts one operation
 * @txs: operations of all ends a, @depth each
 * @rxs: receives of all ends b
 * @groups: operations that are posted together, by connection
 * @nr_links: connections
 * @depth: operations in flight on each connection
 * @nr_rx: receives of each connection
 * @buf: what is sent
 * @rx_buf: buffer of all receives
 * @to_post: operations of the run that are not posted
 * @to_send: completions of a that are missing
 * @to_recv: completions of b that are missing
 */
struct stream {
	struct perf_flow	flow;
	struct perf_bed		*bed;
	bool			closing;
	bool			chained;
	bool			messages;
	int			(*post)(struct perf_req *req);
	void			*txs;
	void			*rxs;
	struct stream_group	*groups;
	unsigned int		nr_links;
	unsigned int		depth;
	unsigned int		nr_rx;
	void			*buf;
	void			*rx_buf;
	unsigned int		to_post;
	unsigned int		to_send;
	unsigned int		to_recv;
};

/* Operations that are posted together; @missing have not completed */
struct stream_group {
	struct stream	*stream;
	struct perf_req	*reqs[PERF_CHAIN];
	unsigned int	missing;
};

static void stream_post(struct stream *s, struct perf_req *req)
{
	int ret;

	if (!s->to_post)
		return;
	s->to_post--;
	ret = s->post(req);
	if (ret)
		perf_flow_fail(&s->flow, ret);
}

static void stream_post_group(struct stream *s, struct stream_group *group)
{
	int ret;

	if (s->to_post < PERF_CHAIN)
		return;
	s->to_post -= PERF_CHAIN;
	group->missing = PERF_CHAIN;
	ret = s->bed->side->chain(group->reqs, PERF_CHAIN);
	if (ret)
		perf_flow_fail(&s->flow, ret);
}

/* Returns false if the caller has nothing more to do */
static bool stream_count_sent(struct stream *s, int err)
{
	if (s->closing)
		return false;
	if (err) {
		perf_flow_fail(&s->flow, err);
		return false;
	}
	if (!--s->to_send)
		perf_flow_part(&s->flow);
	return true;
}

static void stream_sent(struct perf_req *req, int err)
{
	struct stream *s = req->context;

	if (stream_count_sent(s, err))
		stream_post(s, req);
}

static void stream_sent_one(struct perf_req *req, int err)
{
	struct stream_group *group = req->context;

	if (stream_count_sent(group->stream, err) && !--group->missing)
		stream_post_group(group->stream, group);
}

static void stream_received(struct perf_req *req, int err)
{
	struct stream *s = req->context;

	if (s->closing)
		return;
	if (!err)
		err = s->bed->side->recv(req);
	if (err)
		perf_flow_fail(&s->flow, err);
	else if (!--s->to_recv)
		perf_flow_part(&s->flow);
}

static struct perf_req *stream_tx(struct stream *s, unsigned int link,
				  unsigned int nth)
{
	return perf_req(s->txs, s->bed->side, link * s->depth + nth);
}

static void stream_init_tx(struct stream *s, unsigned int link, size_t size)
{
	unsigned int i, per_link = s->depth / PERF_CHAIN;
	struct stream_group *group;
	struct perf_req *req;

	for (i = 0; i < s->depth; i++) {
		req = stream_tx(s, link, i);
		req->bed = s->bed;
		req->end = s->bed->side->end(s->bed, link, false);
		req->buf = s->buf;
		req->len = size;
		req->done = s->chained ? stream_sent_one : stream_sent;
		req->context = s;
		if (!s->chained)
			continue;
		group = &s->groups[link * per_link + i / PERF_CHAIN];
		group->stream = s;
		group->reqs[i % PERF_CHAIN] = req;
		req->context = group;
	}
}

static int stream_init_rx(struct stream *s, unsigned int link, size_t size)
{
	struct perf_req *req;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < s->nr_rx && !ret; i++) {
		req = perf_req(s->rxs, s->bed->side, link * s->nr_rx + i);
		req->bed = s->bed;
		req->end = s->bed->side->end(s->bed, link, true);
		req->buf = s->rx_buf;
		req->len = size;
		req->done = stream_received;
		req->context = s;
		ret = s->bed->side->recv(req);
	}
	return ret;
}

static int stream_alloc(struct stream *s, const struct perf_cmd *cmd)
{
	const struct perf_side *side = s->bed->side;

	s->txs = kvcalloc(s->nr_links * s->depth, side->req_size, GFP_KERNEL);
	s->rxs = kvcalloc(s->nr_links * s->nr_rx, side->req_size, GFP_KERNEL);
	s->groups = kvcalloc(s->nr_links * s->depth / PERF_CHAIN + 1,
			     sizeof(*s->groups), GFP_KERNEL);
	s->buf = kzalloc(cmd->size, GFP_KERNEL);
	s->rx_buf = kzalloc(cmd->size, GFP_KERNEL);
	return s->txs && s->rxs && s->groups && s->buf && s->rx_buf ? 0 :
								     -ENOMEM;
}

static int stream_init(struct stream *s, const struct perf_cmd *cmd)
{
	unsigned int link;
	int ret;

	ret = stream_alloc(s, cmd);
	for (link = 0; link < s->nr_links && !ret; link++) {
		stream_init_tx(s, link, cmd->size);
		if (s->messages)
			ret = stream_init_rx(s, link, cmd->size);
	}
	return ret;
}

static void stream_close(void *state)
{
	struct stream *s = state;

	WRITE_ONCE(s->closing, true);
	s->bed->side->close(s->bed);
	kvfree(s->txs);
	kvfree(s->rxs);
	kvfree(s->groups);
	kfree(s->buf);
	kfree(s->rx_buf);
	kfree(s);
}

static int stream_set_op(struct stream *s, const struct perf_side *side,
			 const char *op)
{
	s->messages = true;
	if (!strcmp(op, "send")) {
		s->post = side->send;
	} else if (!strcmp(op, "more")) {
		s->chained = true;
	} else if (!strcmp(op, "write")) {
		s->post = side->write;
		s->messages = false;
	} else if (!strcmp(op, "read")) {
		s->post = side->read;
		s->messages = false;
	} else {
		return perf_refuse("op=%s; allowed of stream are send, more, write, read", op);
	}
	return 0;
}

/* All operations of the queues are posted at once, those of a chain together */
static int stream_check(const struct stream *s, const struct perf_cmd *cmd)
{
	if (cmd->count < s->nr_links * s->depth)
		return perf_refuse("count=%u; the least of %u links with depth=%u is %u",
				   cmd->count, s->nr_links, s->depth, s->nr_links * s->depth);
	if (s->chained && (s->depth % PERF_CHAIN || cmd->count % PERF_CHAIN))
		return perf_refuse("depth=%u count=%u; allowed with op=more are multiples of %u",
				   s->depth, cmd->count, PERF_CHAIN);
	return 0;
}

static void *stream_make(const struct perf_side *side,
			 const struct perf_cmd *cmd)
{
	struct perf_spec spec = {
		.way = cmd->way, .node = cmd->node, .links = cmd->links,
	};
	struct stream *s;
	int ret;

	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return ERR_PTR(-ENOMEM);
	s->nr_links = cmd->links;
	s->depth = cmd->depth;
	ret = stream_set_op(s, side, cmd->op);
	if (!ret)
		ret = stream_check(s, cmd);
	if (ret) {
		kfree(s);
		return ERR_PTR(ret);
	}
	s->nr_rx = s->depth * STREAM_RECVS;
	if (cmd->links == 1)
		s->nr_rx = max_t(unsigned int, s->nr_rx, STREAM_MIN_RECVS);
	spec.depth = (struct perf_depth) { s->depth, s->nr_rx };
	spec.rma = s->messages ? 0 : cmd->size;
	s->bed = side->open(&spec);
	if (IS_ERR(s->bed)) {
		ret = PTR_ERR(s->bed);
		kfree(s);
		return ERR_PTR(ret);
	}
	ret = stream_init(s, cmd);
	if (!ret)
		return s;
	stream_close(s);
	return ERR_PTR(ret);
}

/* Post the first operations; callbacks may already post others, on another processor */
static int stream_start(struct stream *s)
{
	unsigned int i, all = s->nr_links * s->depth;
	int ret = 0;

	if (!s->chained) {
		for (i = 0; i < all && !ret; i++)
			ret = s->post(perf_req(s->txs, s->bed->side, i));
		return ret;
	}
	for (i = 0; i < all / PERF_CHAIN && !ret; i++) {
		s->groups[i].missing = PERF_CHAIN;
		ret = s->bed->side->chain(s->groups[i].reqs, PERF_CHAIN);
	}
	return ret;
}

static s64 stream_run(void *state, const struct perf_cmd *cmd)
{
	struct stream *s = state;
	int ret;

	s->to_post = cmd->count - cmd->links * cmd->depth;
	s->to_send = cmd->count;
	s->to_recv = cmd->count;
	perf_flow_begin(&s->flow, s->bed, s->messages ? 2 : 1);
	ret = stream_start(s);
	if (ret)
		perf_flow_fail(&s->flow, ret);
	return perf_flow_wait(&s->flow);
}

const struct perf_test perf_stream = {
	.name	= "stream",
	.unit	= "rate",
	.open	= stream_make,
	.run	= stream_run,
	.close	= stream_close,
};
