// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Nodes and peers: an end that transfers in both directions.
 *
 * A peer is asked for its contexts (hello) before anything else is sent to it.  Until then it is
 * reached at its receive context 0.  Peers that are not known yet insert themselves by their hello,
 * in the worker that has read it.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "node.h"

#define BULK_HELLO_MS	10000
#define BULK_MAX_KEY	U16_MAX
#define BULK_NAP	(10UL * HZ)

static void bulk_handler(struct kfid_cq *cq, void *context)
{
	struct bulk_cq *bulk_cq = context;
	struct bulk_lane *lane = bulk_cq->ep->user;
	int i;

	for (i = 0; i < lane->nr_readers; i++)
		queue_work(lane->node->wq, &lane->readers[bulk_cq->tx][i].work);
}

/* Before a queue is closed: nothing reads it any more */
static void bulk_flush(struct bulk_ni *ni)
{
	struct bulk_node *node = container_of(ni, struct bulk_node, ni);

	flush_workqueue(node->wq);
}

static void bulk_buf_again(struct work_struct *work)
{
	bulk_buf_put(container_of(to_delayed_work(work), struct bulk_buf, again));
}

static void bulk_retry(struct work_struct *work)
{
	bulk_lane_replay(container_of(to_delayed_work(work), struct bulk_lane, retry));
}

static void bulk_lane_init(struct bulk_node *node, int index)
{
	struct bulk_lane *lane = &node->lane[index];
	int i;

	lane->node = node;
	lane->ep = &node->ni.ep[index];
	mutex_init(&lane->take);
	spin_lock_init(&lane->lock);
	INIT_LIST_HEAD(&lane->tns);
	INIT_LIST_HEAD(&lane->replay);
	INIT_DELAYED_WORK(&lane->retry, bulk_retry);
	ida_init(&lane->keys);
	lane->nr_readers = clamp_t(int, num_online_cpus(), 2, BULK_WORKERS);
	for (i = 0; i < lane->nr_readers; i++) {
		INIT_WORK(&lane->readers[0][i].work, bulk_reader_run);
		INIT_WORK(&lane->readers[1][i].work, bulk_reader_run);
		lane->readers[0][i].cq = &lane->ep->rx_cq;
		lane->readers[1][i].cq = &lane->ep->tx_cq;
	}
	for (i = 0; i < BULK_BUFS; i++) {
		lane->buf[i].lane = lane;
		INIT_DELAYED_WORK(&lane->buf[i].again, bulk_buf_again);
	}
	lane->ep->user = lane;
}

static int bulk_lane_post(struct bulk_lane *lane)
{
	struct bulk_buf *buf;
	int i, ret;

	for (i = 0; i < BULK_BUFS; i++) {
		buf = &lane->buf[i];
		buf->mem = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, BULK_BUF_ORDER);
		if (!buf->mem)
			return -ENOMEM;
		ret = bulk_buf_post(buf);
		if (ret)
			return ret;
	}
	return 0;
}

/* Takes a buffer back, which a worker may have posted again meanwhile; true: it is in use */
static bool bulk_buf_drain(struct bulk_buf *buf)
{
	if (!buf->mem)
		return false;
	if (cancel_delayed_work_sync(&buf->again))
		atomic_dec(&buf->users);
	if (!atomic_read(&buf->users))
		return false;
	kfi_cancel(&buf->lane->ep->rx->fid, buf);
	return true;
}

/* Waits, as kfilnd does, until buffers and transactions have ended by their completions */
static void bulk_lane_drain(struct bulk_lane *lane)
{
	bool busy;
	int i;

	do {
		spin_lock(&lane->lock);
		busy = !list_empty(&lane->tns);
		spin_unlock(&lane->lock);
		for (i = 0; i < BULK_BUFS; i++)
			busy |= bulk_buf_drain(&lane->buf[i]);
		if (busy)
			msleep(20);
	} while (busy);
	cancel_delayed_work_sync(&lane->retry);
}

static void bulk_lane_free(struct bulk_lane *lane)
{
	int i;

	for (i = 0; i < BULK_BUFS; i++)
		free_pages((unsigned long)lane->buf[i].mem, BULK_BUF_ORDER);
	/* Each transaction has given its key back */
	WARN_ON_ONCE(!ida_is_empty(&lane->keys));
}

/**
 * bulk_node_close() - End a node
 * @node: the node; no transfer of its own is under way
 *
 * Context: may sleep.
 * Return: 0, or the first error of a close.
 */
int bulk_node_close(struct bulk_node *node)
{
	struct bulk_peer *peer, *next;
	int i, ret, count = node->ni.count;

	WRITE_ONCE(node->stop, true);
	for (i = 0; i < count; i++)
		bulk_lane_drain(&node->lane[i]);
	ret = bulk_ni_close(&node->ni);
	for (i = 0; i < count; i++)
		bulk_lane_free(&node->lane[i]);
	destroy_workqueue(node->wq);
	list_for_each_entry_safe(peer, next, &node->peers, entry)
		kfree(peer);
	kvfree(node);
	return ret;
}
EXPORT_SYMBOL_GPL(bulk_node_close);

/**
 * bulk_node_open() - Begin to serve peers
 * @iface: name of the interface
 * @net: net number
 * @contexts: how many of each direction
 *
 * Context: may sleep.
 * Return: the node, or an errno as pointer.
 */
struct bulk_node *bulk_node_open(const char *iface, u16 net, int contexts)
{
	struct bulk_node *node = kvzalloc(sizeof(*node), GFP_KERNEL);
	int i, ret;

	if (!node)
		return ERR_PTR(-ENOMEM);
	mutex_init(&node->lock);
	INIT_LIST_HEAD(&node->peers);
	node->session = get_random_u16();
	node->wq = alloc_workqueue("kofi_bulk", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	ret = node->wq ? bulk_ni_open(&node->ni, iface, net, contexts, bulk_handler) : -ENOMEM;
	if (ret) {
		if (node->wq)
			destroy_workqueue(node->wq);
		kvfree(node);
		return ERR_PTR(ret);
	}
	node->ni.flush = bulk_flush;
	for (i = 0; i < contexts; i++)
		bulk_lane_init(node, i);
	for (i = 0; !ret && i < contexts; i++)
		ret = bulk_lane_post(&node->lane[i]);
	if (!ret)
		return node;
	bulk_node_close(node);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(bulk_node_open);

/**
 * bulk_node_stats() - What a node has seen
 * @node: the node
 *
 * Context: any.
 * Return: the counters.
 */
const struct bulk_stats *bulk_node_stats(const struct bulk_node *node)
{
	return &node->stats;
}
EXPORT_SYMBOL_GPL(bulk_node_stats);

/**
 * bulk_node_addr() - By which address peers find a node
 * @node: the node
 *
 * Context: any.
 * Return: the address.
 */
u32 bulk_node_addr(const struct bulk_node *node)
{
	return node->ni.addr;
}
EXPORT_SYMBOL_GPL(bulk_node_addr);

/* The peer, which is inserted if it is new; NULL: that failed */
struct bulk_peer *bulk_peer_get(struct bulk_node *node, u32 addr, u16 net)
{
	struct bulk_peer *peer;

	mutex_lock(&node->lock);
	list_for_each_entry(peer, &node->peers, entry)
		if (peer->addr == addr && peer->net == net)
			goto out;
	peer = kzalloc(sizeof(*peer), GFP_NOFS);
	if (!peer)
		goto out;
	peer->addr = addr;
	peer->net = net;
	init_completion(&peer->hello);
	if (bulk_know(&node->ni, addr, net, &peer->name)) {
		kfree(peer);
		peer = NULL;
		goto out;
	}
	list_add_tail(&peer->entry, &node->peers);
out:
	mutex_unlock(&node->lock);
	return peer;
}

static void bulk_msg_begin(struct bulk_tn *tn, enum bulk_type type)
{
	const struct bulk_node *node = tn->lane->node;

	*tn->msg = (struct bulk_msg) {
		.magic		= cpu_to_le32(BULK_MAGIC),
		.addr		= cpu_to_le32(node->ni.addr),
		.net		= cpu_to_le16(node->ni.net),
		.type		= type,
		.ctx		= tn->lane->ep->index,
		.contexts	= node->ni.count,
		.seed		= tn->seed,
		.fail		= cpu_to_le16(tn->fail),
		.tag		= cpu_to_le32(tn->tag),
		.offset		= cpu_to_le32(tn->offset),
		.len		= cpu_to_le32(tn->len),
	};
	tn->msg_len = sizeof(*tn->msg);
}

void bulk_say_hello(struct bulk_node *node, struct bulk_peer *peer, enum bulk_type type)
{
	struct bulk_tn *tn = bulk_tn_new(&node->lane[0], peer, BULK_HELLO, false);

	if (!tn)
		return;
	bulk_msg_begin(tn, type);
	bulk_tn_begin(tn, BULK_PLAIN);
}

/**
 * bulk_peer_find() - Get to know a peer
 * @node: this end
 * @addr: address of the peer
 * @net: its net
 *
 * Context: may sleep.
 * Return: the peer, or NULL: it does not answer.
 */
struct bulk_peer *bulk_peer_find(struct bulk_node *node, u32 addr, u16 net)
{
	struct bulk_peer *peer = bulk_peer_get(node, addr, net);

	if (!peer)
		return NULL;
	if (!completion_done(&peer->hello))
		bulk_say_hello(node, peer, BULK_HELLO_REQ);
	if (!wait_for_completion_timeout(&peer->hello, msecs_to_jiffies(BULK_HELLO_MS)))
		return NULL;
	return peer;
}
EXPORT_SYMBOL_GPL(bulk_peer_find);

/* A tag that is given back may still be on its way to this end, so all others come before it */
static int bulk_key(struct bulk_lane *lane)
{
	int first = (unsigned int)atomic_inc_return(&lane->last_key) % BULK_MAX_KEY + 1;
	int key = ida_alloc_range(&lane->keys, first, BULK_MAX_KEY, GFP_NOFS);

	return key == -ENOSPC ? ida_alloc_range(&lane->keys, 1, BULK_MAX_KEY, GFP_NOFS) : key;
}

/*
 * Gives a transfer up when its time is over, and waits for its end.  A wait is short, as the
 * transfers of a busy machine take longer than a task may be stuck.
 */
static void bulk_await(struct bulk_tn *tn, unsigned int timeout_ms)
{
	unsigned long wait = min(msecs_to_jiffies(timeout_ms), BULK_NAP);
	unsigned long over = jiffies + msecs_to_jiffies(timeout_ms);

	while (!wait_for_completion_timeout(&tn->done, wait)) {
		if (time_after_eq(jiffies, over))
			bulk_tn_cancel(tn);
	}
}

/* Posts what the peer will read or write */
static int bulk_expose(struct bulk_tn *tn, const struct bulk_work *work)
{
	struct kfi_msg_tagged msg = { .type = KFI_BVEC, .context = tn };
	ssize_t ret;

	tn->key = bulk_key(tn->lane);
	if (tn->key < 0) {
		ret = tn->key;
		tn->key = 0;
		return ret;
	}
	tn->tag = tn->lane->node->session << 16 | tn->key;
	tn->mem = bulk_mem_new(work->offset, work->len);
	if (!tn->mem)
		return -ENOMEM;
	if (work->kind == BULK_PUT)
		bulk_mem_fill(tn->mem, work->seed);
	msg.msg_biov = tn->mem->list;
	msg.iov_count = tn->mem->count;
	msg.addr = tn->peer->name;
	msg.tag = tn->tag;
	do {
		ret = kfi_trecvmsg(tn->lane->ep->rx, &msg, KFI_COMPLETION);
		if (ret == -EAGAIN)
			msleep(20);
	} while (ret == -EAGAIN);
	return ret;
}

static int bulk_request(struct bulk_tn *tn, const struct bulk_work *work)
{
	int ret;

	if (work->kind == BULK_IMM) {
		bulk_msg_begin(tn, BULK_IMM_REQ);
		bulk_fill((u8 *)(tn->msg + 1), work->len, 0, work->seed);
		tn->msg_len += work->len;
		bulk_tn_begin(tn, BULK_PLAIN);
		return 0;
	}
	ret = bulk_expose(tn, work);
	if (ret)
		return ret;
	bulk_msg_begin(tn, work->kind == BULK_PUT ? BULK_PUT_REQ : BULK_GET_REQ);
	bulk_tn_begin(tn, BULK_ASKING);
	return 0;
}

/**
 * bulk_transfer() - Transfer bytes, and check them
 * @node: this end
 * @peer: from bulk_peer_find()
 * @work: what to do
 * @timeout_ms: after which the receive is cancelled
 *
 * Context: may sleep; several transfers may be under way.
 * Return: 0; -EILSEQ: bytes are wrong; or the error of the transfer.
 */
int bulk_transfer(struct bulk_node *node, struct bulk_peer *peer, const struct bulk_work *work,
		  unsigned int timeout_ms)
{
	struct bulk_lane *lane = &node->lane[work->ctx % node->ni.count];
	struct bulk_tn *tn;
	int ret;

	if (work->kind == BULK_HELLO || (work->kind == BULK_IMM && work->len > BULK_IMM_MAX))
		return -EINVAL;
	tn = bulk_tn_new(lane, peer, work->kind, false);
	if (!tn)
		return -ENOMEM;
	tn->to = work->ctx % peer->contexts;
	tn->seed = work->seed;
	tn->offset = work->offset;
	tn->len = work->len;
	tn->fail = work->fail;
	ret = bulk_request(tn, work);
	if (!ret) {
		bulk_await(tn, timeout_ms);
		ret = tn->err;
	}
	bulk_tn_put(tn);
	return ret;
}
EXPORT_SYMBOL_GPL(bulk_transfer);
