// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Transactions, and the table of which completion may come in which state.
 *
 * The table is the contract of the kfi_* names: a completion that it has no entry for would crash
 * kfilnd, and is counted here (bulk_stats.broken).  A transaction ends when all that it has posted
 * has completed, once each.
 *
 * A post that returns -EAGAIN is tried again when a queue of the context has been read, or after
 * BULK_REPLAY_MS.  As in kfilnd, a mutex of the transaction is held over a post, so a completion
 * that comes at once waits until the call has returned.
 */
#include <linux/errno.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "node.h"

/* What a completion means to a transaction */
enum bulk_event {
	BULK_EV_NONE,		/* no completion of this interface */
	BULK_EV_SENT,
	BULK_EV_SEND_FAILED,
	BULK_EV_USED,		/* the receive was read, or written, as its kind wants */
	BULK_EV_TOLD,		/* the receive was ended with data */
	BULK_EV_RX_FAILED,
	BULK_EV_RX_CANCELLED,
	BULK_EV_MOVED,
	BULK_EV_MOVE_FAILED,
	BULK_EV_SAID,
	BULK_EV_SAY_FAILED,
	BULK_EVENTS,
};

/* What follows; an entry that is not here must not happen */
static const struct bulk_step {
	bool		allowed;
	enum bulk_state	next;
} bulk_steps[BULK_STATES][BULK_EVENTS] = {
	[BULK_PLAIN] = {
		[BULK_EV_SENT]		= { true, BULK_DONE },
		[BULK_EV_SEND_FAILED]	= { true, BULK_DONE },
	},
	[BULK_ASKING] = {
		[BULK_EV_SENT]		= { true, BULK_WAITING },
		[BULK_EV_SEND_FAILED]	= { true, BULK_WAITING },
		[BULK_EV_USED]		= { true, BULK_ANSWERED },
		[BULK_EV_TOLD]		= { true, BULK_ANSWERED },
		[BULK_EV_RX_FAILED]	= { true, BULK_ANSWERED },
	},
	[BULK_WAITING] = {
		[BULK_EV_USED]		= { true, BULK_DONE },
		[BULK_EV_TOLD]		= { true, BULK_DONE },
		[BULK_EV_RX_FAILED]	= { true, BULK_DONE },
	},
	[BULK_ANSWERED] = {
		[BULK_EV_SENT]		= { true, BULK_DONE },
		[BULK_EV_SEND_FAILED]	= { true, BULK_DONE },
	},
	/* The peer may have been faster than the cancel */
	[BULK_CANCELLED] = {
		[BULK_EV_USED]		= { true, BULK_DONE },
		[BULK_EV_TOLD]		= { true, BULK_DONE },
		[BULK_EV_RX_FAILED]	= { true, BULK_DONE },
		[BULK_EV_RX_CANCELLED]	= { true, BULK_DONE },
	},
	[BULK_MOVING] = {
		[BULK_EV_MOVED]		= { true, BULK_DONE },
		[BULK_EV_MOVE_FAILED]	= { true, BULK_DONE },
	},
	[BULK_TELLING] = {
		[BULK_EV_SAID]		= { true, BULK_DONE },
		[BULK_EV_SAY_FAILED]	= { true, BULK_DONE },
	},
};

/* A read at this end, or of this end */
static u64 bulk_tn_direction(const struct bulk_tn *tn)
{
	return tn->kind == BULK_PUT ? KFI_READ : KFI_WRITE;
}

static enum bulk_event bulk_event_rx(const struct bulk_tn *tn, u64 flags, int err)
{
	u64 used = KFI_TAGGED | KFI_RMA | bulk_tn_direction(tn) | KFI_RECV;

	if (flags == (KFI_TAGGED | KFI_RECV))
		return !err ? BULK_EV_NONE : err == ECANCELED ? BULK_EV_RX_CANCELLED :
		       BULK_EV_RX_FAILED;
	if (flags == (KFI_TAGGED | KFI_RECV | KFI_REMOTE_CQ_DATA))
		return err ? BULK_EV_RX_FAILED : BULK_EV_TOLD;
	if (flags == used)
		return err ? BULK_EV_RX_FAILED : BULK_EV_USED;
	return BULK_EV_NONE;
}

/* Flags are compared with exact values */
static enum bulk_event bulk_event_of(const struct bulk_tn *tn, u64 flags, int err)
{
	if (flags == (KFI_MSG | KFI_SEND))
		return err ? BULK_EV_SEND_FAILED : BULK_EV_SENT;
	if (flags == (KFI_TAGGED | KFI_SEND))
		return err ? BULK_EV_SAY_FAILED : BULK_EV_SAID;
	if (flags == (KFI_TAGGED | KFI_RMA | bulk_tn_direction(tn) | KFI_SEND))
		return err ? BULK_EV_MOVE_FAILED : BULK_EV_MOVED;
	return bulk_event_rx(tn, flags, err);
}

struct bulk_tn *bulk_tn_new(struct bulk_lane *lane, struct bulk_peer *peer, enum bulk_kind kind,
			    bool target)
{
	struct bulk_tn *tn = kzalloc(sizeof(*tn), GFP_NOFS);

	if (!tn)
		return NULL;
	tn->msg = kzalloc(BULK_MSG, GFP_NOFS);
	if (!tn->msg) {
		kfree(tn);
		return NULL;
	}
	tn->lane = lane;
	tn->peer = peer;
	tn->kind = kind;
	tn->target = target;
	refcount_set(&tn->users, 1);
	mutex_init(&tn->lock);
	init_completion(&tn->done);
	INIT_LIST_HEAD(&tn->replay);
	spin_lock(&lane->lock);
	list_add_tail(&tn->entry, &lane->tns);
	spin_unlock(&lane->lock);
	return tn;
}

void bulk_tn_put(struct bulk_tn *tn)
{
	struct bulk_lane *lane = tn->lane;

	if (!refcount_dec_and_test(&tn->users))
		return;
	if (tn->key)
		ida_free(&lane->keys, tn->key);
	bulk_mem_free(tn->mem);
	kfree(tn->msg);
	spin_lock(&lane->lock);
	list_del(&tn->entry);
	spin_unlock(&lane->lock);
	kfree(tn);
}

/* The bytes have to be right where they have come */
static void bulk_tn_check(struct bulk_tn *tn)
{
	bool came = tn->target ? tn->kind == BULK_PUT : tn->kind == BULK_GET;

	if (tn->err || !came || bulk_mem_is(tn->mem, tn->seed))
		return;
	tn->err = -EILSEQ;
	atomic_inc(&tn->lane->node->stats.bad);
}

/* Nothing of it is in flight any more */
static void bulk_tn_end(struct bulk_tn *tn)
{
	struct bulk_stats *stats = &tn->lane->node->stats;

	bulk_tn_check(tn);
	if (tn->target)
		atomic_inc(tn->err ? &stats->refused : &stats->served);
	else if (tn->kind != BULK_HELLO)
		atomic_inc(tn->err ? &stats->failed : &stats->done);
	/* The initiator waits, but for a hello */
	if (tn->target || tn->kind == BULK_HELLO)
		bulk_tn_put(tn);
	else
		complete(&tn->done);
}

static ssize_t bulk_tn_move(struct bulk_tn *tn, kfi_addr_t to)
{
	const struct kfi_rma_iov rma = { .len = tn->len, .key = tn->tag };
	const struct kfi_msg_rma msg = {
		.type		= KFI_BVEC,
		.msg_biov	= tn->mem->list,
		.iov_count	= tn->mem->count,
		.addr		= to,
		.rma_iov	= &rma,
		.rma_iov_count	= 1,
		.context	= tn,
	};
	struct kfid_ep *tx = tn->lane->ep->tx;

	if (tn->kind == BULK_PUT)
		return kfi_readmsg(tx, &msg, KFI_TAGGED | KFI_COMPLETION);
	return kfi_writemsg(tx, &msg, KFI_TAGGED | KFI_COMPLETION);
}

/* Posts what the state wants */
static ssize_t bulk_tn_post(struct bulk_tn *tn, enum bulk_state state)
{
	kfi_addr_t to = kfi_rx_addr(tn->peer->name, tn->to, BULK_RX_BITS);
	struct kfid_ep *tx = tn->lane->ep->tx;

	switch (state) {
	case BULK_MOVING:
		return bulk_tn_move(tn, to);
	case BULK_TELLING:
		return kfi_tsenddata(tx, NULL, 0, NULL, (u64)tn->fail << 56, to, tn->tag, tn);
	default:
		return kfi_send(tx, tn->msg, tn->msg_len, NULL, to, tn);
	}
}

static void bulk_tn_replay(struct bulk_tn *tn)
{
	struct bulk_lane *lane = tn->lane;

	spin_lock(&lane->lock);
	list_add_tail(&tn->replay, &lane->replay);
	spin_unlock(&lane->lock);
	queue_delayed_work(lane->node->wq, &lane->retry, msecs_to_jiffies(BULK_REPLAY_MS));
}

/* The flags of the operation that a state posts */
static u64 bulk_tn_flags(const struct bulk_tn *tn, enum bulk_state state)
{
	switch (state) {
	case BULK_MOVING:
		return KFI_TAGGED | KFI_RMA | bulk_tn_direction(tn) | KFI_SEND;
	case BULK_TELLING:
		return KFI_TAGGED | KFI_SEND;
	default:
		return KFI_MSG | KFI_SEND;
	}
}

/* Takes a step; returns true if the transaction has ended */
static bool bulk_tn_step(struct bulk_tn *tn, u64 flags, u64 data, int err)
{
	enum bulk_event event = bulk_event_of(tn, flags, err);
	const struct bulk_step *step = &bulk_steps[tn->state][event];

	lockdep_assert_held(&tn->lock);
	if (!step->allowed) {
		pr_err_ratelimited("kofi_bulk: flags %llx, error %d in state %d\n", flags, err,
				   tn->state);
		atomic_inc(&tn->lane->node->stats.broken);
		return false;
	}
	if (event == BULK_EV_TOLD)
		err = data >> 56;
	tn->err = tn->err ? : -err;
	tn->state = step->next;
	/* The peer does not know the tag, so nobody will use the receive */
	if (event == BULK_EV_SEND_FAILED && tn->state == BULK_WAITING) {
		tn->state = BULK_CANCELLED;
		kfi_cancel(&tn->lane->ep->rx->fid, tn);
	}
	return tn->state == BULK_DONE;
}

/* Posts; an error is as if the operation had failed.  Returns true if the transaction has ended */
static bool bulk_tn_try(struct bulk_tn *tn)
{
	ssize_t ret;

	lockdep_assert_held(&tn->lock);
	ret = bulk_tn_post(tn, tn->state);
	if (ret == -EAGAIN)
		bulk_tn_replay(tn);
	return ret && ret != -EAGAIN && bulk_tn_step(tn, bulk_tn_flags(tn, tn->state), 0, -ret);
}

void bulk_tn_begin(struct bulk_tn *tn, enum bulk_state state)
{
	bool ended;

	refcount_inc(&tn->users);
	mutex_lock(&tn->lock);
	tn->state = state;
	ended = bulk_tn_try(tn);
	mutex_unlock(&tn->lock);
	if (ended)
		bulk_tn_end(tn);
	bulk_tn_put(tn);
}

void bulk_lane_replay(struct bulk_lane *lane)
{
	struct bulk_tn *tn, *next;
	LIST_HEAD(list);
	bool ended;

	spin_lock(&lane->lock);
	list_splice_init(&lane->replay, &list);
	spin_unlock(&lane->lock);
	list_for_each_entry_safe(tn, next, &list, replay) {
		list_del_init(&tn->replay);
		refcount_inc(&tn->users);
		mutex_lock(&tn->lock);
		ended = bulk_tn_try(tn);
		mutex_unlock(&tn->lock);
		if (ended)
			bulk_tn_end(tn);
		bulk_tn_put(tn);
	}
}

/* Cancels the receive of a request that has been sent; if it has ended, its completion is due */
void bulk_tn_cancel(struct bulk_tn *tn)
{
	mutex_lock(&tn->lock);
	if (tn->state == BULK_WAITING) {
		tn->state = BULK_CANCELLED;
		tn->err = tn->err ? : -ETIMEDOUT;
		kfi_cancel(&tn->lane->ep->rx->fid, tn);
	}
	mutex_unlock(&tn->lock);
}

void bulk_tn_event(struct bulk_tn *tn, u64 flags, u64 data, int err)
{
	bool ended;

	refcount_inc(&tn->users);
	mutex_lock(&tn->lock);
	ended = bulk_tn_step(tn, flags, data, err);
	mutex_unlock(&tn->lock);
	if (ended)
		bulk_tn_end(tn);
	bulk_tn_put(tn);
}
