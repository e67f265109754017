// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reading completion queues, and messages.
 *
 * Several workers read a queue, as in kfilnd.  A buffer has one user for its post, and one for
 * each worker that looks at a message in it; the last one posts it again.  The completion with
 * KFI_MULTI_RECV ends the post.  A worker that has read an earlier message must have become a user
 * by then, so bulk_lane.take is held from the read until that has happened.  kfilnd has no such
 * lock there.
 */
#include <linux/slab.h>
#include "node.h"

/* Posts a buffer that nobody uses; without room for it, later */
int bulk_buf_post(struct bulk_buf *buf)
{
	ssize_t ret;

	atomic_inc(&buf->users);
	ret = kfi_recv(buf->lane->ep->rx, buf->mem, BULK_BUF_SIZE, NULL, KFI_ADDR_UNSPEC, buf);
	if (ret == -EAGAIN) {
		queue_delayed_work(buf->lane->node->wq, &buf->again,
				   msecs_to_jiffies(BULK_REPLAY_MS));
		return 0;
	}
	if (ret)
		atomic_dec(&buf->users);
	return ret;
}

void bulk_buf_put(struct bulk_buf *buf)
{
	if (atomic_dec_and_test(&buf->users) && !READ_ONCE(buf->lane->node->stop))
		bulk_buf_post(buf);
}

/* The peer's receive is read, written, or ended */
static void bulk_serve(struct bulk_lane *lane, struct bulk_peer *peer, const struct bulk_msg *msg,
		       enum bulk_kind kind)
{
	struct bulk_tn *tn = bulk_tn_new(lane, peer, kind, true);

	if (!tn)
		return;
	tn->tag = le32_to_cpu(msg->tag);
	tn->to = msg->ctx;
	tn->seed = msg->seed;
	tn->len = le32_to_cpu(msg->len);
	tn->fail = le16_to_cpu(msg->fail);
	if (!tn->fail) {
		tn->mem = bulk_mem_new(le32_to_cpu(msg->offset), tn->len);
		if (!tn->mem)
			tn->fail = ENOMEM;
	}
	tn->err = -tn->fail;
	if (tn->mem && kind == BULK_GET)
		bulk_mem_fill(tn->mem, tn->seed);
	bulk_tn_begin(tn, tn->fail ? BULK_TELLING : BULK_MOVING);
}

static void bulk_heard_hello(struct bulk_peer *peer, const struct bulk_msg *msg)
{
	peer->contexts = clamp_t(int, msg->contexts, 1, BULK_MAX_CTXS);
	complete_all(&peer->hello);
}

/* A message of a peer, which may be new */
static void bulk_message(struct bulk_lane *lane, const void *mem, size_t len)
{
	struct bulk_node *node = lane->node;
	const struct bulk_msg *msg = mem;
	struct bulk_peer *peer;

	if (len < sizeof(*msg) || le32_to_cpu(msg->magic) != BULK_MAGIC) {
		atomic_inc(&node->stats.bad);
		return;
	}
	peer = bulk_peer_get(node, le32_to_cpu(msg->addr), le16_to_cpu(msg->net));
	if (!peer)
		return;
	switch (msg->type) {
	case BULK_HELLO_REQ:
		bulk_heard_hello(peer, msg);
		bulk_say_hello(node, peer, BULK_HELLO_RSP);
		break;
	case BULK_HELLO_RSP:
		bulk_heard_hello(peer, msg);
		break;
	case BULK_IMM_REQ:
		if (bulk_filled(mem + sizeof(*msg), len - sizeof(*msg), 0, msg->seed))
			atomic_inc(&node->stats.served);
		else
			atomic_inc(&node->stats.bad);
		break;
	case BULK_PUT_REQ:
		bulk_serve(lane, peer, msg, BULK_PUT);
		break;
	case BULK_GET_REQ:
		bulk_serve(lane, peer, msg, BULK_GET);
		break;
	default:
		atomic_inc(&node->stats.bad);
	}
}

static bool bulk_is_message(u64 flags)
{
	return flags == (KFI_MSG | KFI_RECV) || flags == (KFI_MSG | KFI_RECV | KFI_MULTI_RECV);
}

static void bulk_error(const struct kfi_cq_err_entry *error)
{
	if (!bulk_is_message(error->flags))
		bulk_tn_event(error->op_context, error->flags, error->data, error->err);
	else if (error->flags & KFI_MULTI_RECV || error->err == ECANCELED)
		bulk_buf_put(error->op_context);
}

static void bulk_entry(struct bulk_lane *lane, const struct kfi_cq_data_entry *entry)
{
	if (!bulk_is_message(entry->flags)) {
		bulk_tn_event(entry->op_context, entry->flags, entry->data, 0);
		return;
	}
	bulk_message(lane, entry->buf, entry->len);
	bulk_buf_put(entry->op_context);
	if (entry->flags & KFI_MULTI_RECV)
		bulk_buf_put(entry->op_context);
}

static ssize_t bulk_take(struct bulk_lane *lane, struct kfid_cq *cq,
			 struct kfi_cq_data_entry *entry)
{
	struct bulk_buf *buf;
	ssize_t ret;

	mutex_lock(&lane->take);
	ret = kfi_cq_read(cq, entry, 1);
	if (ret == 1 && bulk_is_message(entry->flags)) {
		buf = entry->op_context;
		atomic_inc(&buf->users);
	}
	mutex_unlock(&lane->take);
	return ret;
}

void bulk_reader_run(struct work_struct *work)
{
	struct bulk_reader *reader = container_of(work, struct bulk_reader, work);
	struct bulk_lane *lane = reader->cq->ep->user;
	struct kfid_cq *cq = reader->cq->cq;
	struct kfi_cq_data_entry entry;
	struct kfi_cq_err_entry error;
	ssize_t ret;

	do {
		ret = bulk_take(lane, cq, &entry);
		if (ret == 1)
			bulk_entry(lane, &entry);
		while (ret == -KFI_EAVAIL && kfi_cq_readerr(cq, &error, 0) == 1)
			bulk_error(&error);
	} while (ret == 1 || ret == -KFI_EAVAIL);
	bulk_lane_replay(lane);
}
