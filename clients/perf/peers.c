// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One endpoint without connections, the hub, and many peers that it connects to when it first
 * sends to them.  "meet" measures how long that takes; mem.c measures the memory that a
 * connection takes.
 *
 *	KEY meet side=kofi prov=tcp ep=rdm count=2000
 *
 * Each peer has one receive posted.  The hub sends to all peers at once; the time ends when the
 * last peer has its message.  Half of a queue is for peers that are not connected yet.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/fi_cm.h>

#include "kofi.h"

/* @in: the message that the hub sends */
struct peer {
	struct fi_done	done;
	struct peers	*peers;
	struct fid_ep	*ep;
	fi_addr_t	addr;
	u64		in;
};

/**
 * struct peers - The hub and its peers
 * @flow: the peers that wait for a message
 * @f: the fabric
 * @hub: the endpoint that sends to all peers
 * @av: address vector of @hub; the peers have that of @f, which is empty
 * @peers: the first @nr are open
 * @nr: open peers
 * @out: the message that the hub sends
 * @closing: peers_close() runs, so receives end with an error
 */
struct peers {
	struct perf_flow	flow;
	struct perf_fabric	*f;
	struct fid_ep		*hub;
	struct fid_av		*av;
	struct peer		*peers;
	unsigned int		nr;
	u64			out;
	bool			closing;
};

static void peer_met(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct peers *p = container_of(done, struct peer, done)->peers;

	if (READ_ONCE(p->closing))
		return;
	if (entry->err)
		perf_flow_fail(&p->flow, -entry->err);
	else
		perf_flow_part(&p->flow);
}

void peers_close(struct peers *p)
{
	WRITE_ONCE(p->closing, true);
	if (p->hub)
		fi_close(&p->hub->fid);
	while (p->nr)
		fi_close(&p->peers[--p->nr].ep->fid);
	if (p->av)
		fi_close(&p->av->fid);
	kvfree(p->peers);
	kfree(p);
}

/*
 * Open the hub, with a queue of @depth and room for @max peers, which will have queues of @each;
 * returns it or an ERR_PTR()
 */
struct peers *peers_open(struct perf_fabric *f, struct fid_cq *cq, u32 depth, u32 each,
			 unsigned int max)
{
	struct peers *p = kzalloc(sizeof(*p), GFP_KERNEL);
	struct fid_av *av = f->av;
	int ret = -ENOMEM;

	if (!p)
		return ERR_PTR(-ENOMEM);
	p->f = f;
	p->peers = kvcalloc(max, sizeof(*p->peers), GFP_KERNEL);
	f->depth = (struct perf_depth) { depth, 1 };
	if (p->peers)
		ret = perf_av_open(f, &p->av);
	if (!ret) {
		f->av = p->av;
		ret = perf_ep_open(f, f->info, cq, &p->hub);
		f->av = av;
	}
	f->depth = (struct perf_depth) { each, each };
	if (!ret)
		return p;
	peers_close(p);
	return ERR_PTR(ret);
}

/* Open one more peer, and insert it into the hub's address vector */
int peers_add(struct peers *p, struct fid_cq *cq)
{
	struct peer *peer = &p->peers[p->nr];
	int ret;

	*peer = (struct peer) { .done.done = peer_met, .peers = p };
	ret = perf_ep_open(p->f, p->f->info, cq, &peer->ep);
	if (ret)
		return ret;
	p->nr++;
	ret = perf_insert(p->av, peer->ep, &peer->addr);
	return ret ?: fi_recv(peer->ep, &peer->in, sizeof(peer->in), NULL, FI_ADDR_UNSPEC,
			      &peer->done);
}

/* Send to the last @count peers; returns nanoseconds until all have the message, or an errno */
s64 peers_meet(struct peers *p, unsigned int count)
{
	unsigned int i;
	int ret;

	perf_flow_begin(&p->flow, NULL, count);
	for (i = p->nr - count; i < p->nr; i++) {
		ret = fi_inject(p->hub, &p->out, sizeof(p->out), p->peers[i].addr);
		if (ret) {
			perf_flow_fail(&p->flow, ret);
			break;
		}
	}
	return perf_flow_wait(&p->flow);
}

struct meet {
	struct perf_fabric	f;
	struct fid_cq		*cq;
};

static void meet_close(void *state)
{
	struct meet *meet = state;

	if (meet->cq)
		fi_close(&meet->cq->fid);
	perf_fabric_close(&meet->f);
	kfree(meet);
}

static void *meet_open(const struct perf_side *side, const struct perf_cmd *cmd)
{
	struct meet *meet;
	int ret;

	if (side != &perf_kofi_side || !cmd->way.rdm)
		return ERR_PTR(perf_refuse("meet needs side=kofi and ep=rdm"));
	meet = kzalloc(sizeof(*meet), GFP_KERNEL);
	if (!meet)
		return ERR_PTR(-ENOMEM);
	ret = perf_fabric_open(&meet->f, &cmd->way, cmd->node,
			       (struct perf_depth) { cmd->count, 1 }, FI_MSG);
	if (!ret)
		ret = kofi_cq_open(&meet->f, 4 * cmd->count + 1, &meet->cq);
	if (!ret)
		return meet;
	meet_close(meet);
	return ERR_PTR(ret);
}

static s64 meet_run(void *state, const struct perf_cmd *cmd)
{
	struct meet *meet = state;
	struct peers *p;
	unsigned int i;
	s64 ret = 0;

	p = peers_open(&meet->f, meet->cq, 2 * cmd->count, 1, cmd->count);
	if (IS_ERR(p))
		return PTR_ERR(p);
	for (i = 0; i < cmd->count && !ret; i++)
		ret = peers_add(p, meet->cq);
	if (!ret)
		ret = peers_meet(p, cmd->count);
	peers_close(p);
	return ret;
}

const struct perf_test perf_meet = {
	.name	= "meet",
	.unit	= "rate",
	.open	= meet_open,
	.run	= meet_run,
	.close	= meet_close,
};
