// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tagged receives, of which many are posted: does finding one take longer?
 *
 *	KEY match side=kofi prov=tcp ep=rdm depth=10000 count=1000
 *
 * depth receives wait, each for a tag of its own.  One message at a time is sent.  Its receive is
 * far from that of the last message in the order of posting, and is posted again at once.
 *
 * Locking: the callbacks of a run come one after the other, as each callback sends the next
 * message.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/fi_tagged.h>

#include "kofi.h"

/* The step from one tag to the next; a prime, so that all tags have their turn */
#define MATCH_STEP	4999

#define MATCH_TX_DEPTH	16

struct match;

struct match_rx {
	struct fi_done	done;
	struct match	*match;
	u64		tag;
	u64		in;
};

/**
 * struct match - Two endpoints
 * @flow: the run
 * @f: the fabric
 * @cq: completion queue of both endpoints
 * @link: a sends to b
 * @rxs: b's receives
 * @nr: elements of @rxs
 * @tag: of the last message
 * @left: messages to go
 * @out: the message
 * @closing: match_close() runs, so receives end with an error
 */
struct match {
	struct perf_flow	flow;
	struct perf_fabric	f;
	struct fid_cq		*cq;
	struct perf_link	link;
	struct match_rx		*rxs;
	unsigned int		nr;
	unsigned int		tag;
	unsigned int		left;
	u64			out;
	bool			closing;
};

static int match_post(struct match *m, struct match_rx *rx)
{
	return fi_trecv(m->link.b, &rx->in, sizeof(rx->in), NULL, FI_ADDR_UNSPEC, rx->tag, 0,
			&rx->done);
}

static int match_send(struct match *m)
{
	m->tag = (m->tag + MATCH_STEP) % m->nr;
	return fi_tinject(m->link.a, &m->out, sizeof(m->out), m->link.to_b, m->tag);
}

static void match_received(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct match_rx *rx = container_of(done, struct match_rx, done);
	struct match *m = rx->match;
	int ret;

	if (READ_ONCE(m->closing))
		return;
	ret = -entry->err ?: match_post(m, rx);
	if (!ret && !--m->left)
		perf_flow_part(&m->flow);
	else if (!ret)
		ret = match_send(m);
	if (ret)
		perf_flow_fail(&m->flow, ret);
}

static void match_close(void *state)
{
	struct match *m = state;

	WRITE_ONCE(m->closing, true);
	perf_disconnect(&m->link);
	if (m->cq)
		fi_close(&m->cq->fid);
	perf_fabric_close(&m->f);
	kvfree(m->rxs);
	kfree(m);
}

static int match_init(struct match *m, const struct perf_cmd *cmd)
{
	unsigned int i;
	int ret;

	ret = perf_fabric_open(&m->f, &cmd->way, cmd->node,
			       (struct perf_depth) { MATCH_TX_DEPTH, m->nr }, FI_MSG | FI_TAGGED);
	if (!ret)
		ret = kofi_cq_open(&m->f, 2 * (MATCH_TX_DEPTH + m->nr), &m->cq);
	if (!ret)
		ret = perf_connect(&m->f, &m->link, m->cq, m->cq);
	for (i = 0; i < m->nr && !ret; i++) {
		m->rxs[i] = (struct match_rx) {
			.done.done = match_received, .match = m, .tag = i,
		};
		ret = match_post(m, &m->rxs[i]);
	}
	return ret;
}

static void *match_open(const struct perf_side *side, const struct perf_cmd *cmd)
{
	struct match *m;
	int ret = -ENOMEM;

	if (side != &perf_kofi_side || !cmd->way.rdm)
		return ERR_PTR(perf_refuse("match needs side=kofi and ep=rdm"));
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return ERR_PTR(-ENOMEM);
	m->nr = cmd->depth;
	m->rxs = kvcalloc(m->nr, sizeof(*m->rxs), GFP_KERNEL);
	if (m->rxs)
		ret = match_init(m, cmd);
	if (!ret)
		return m;
	match_close(m);
	return ERR_PTR(ret);
}

static s64 match_run(void *state, const struct perf_cmd *cmd)
{
	struct match *m = state;
	int ret;

	m->left = cmd->count;
	perf_flow_begin(&m->flow, NULL, 1);
	ret = match_send(m);
	if (ret)
		perf_flow_fail(&m->flow, ret);
	return perf_flow_wait(&m->flow);
}

const struct perf_test perf_match = {
	.name	= "match",
	.unit	= "ns",
	.open	= match_open,
	.run	= match_run,
	.close	= match_close,
};
