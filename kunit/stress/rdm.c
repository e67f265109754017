// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints without connections: they are opened, send to each other and to those that have gone,
 * and are closed, while their addresses come and go.
 *
 * All share one address vector.  The address of a place stays there for a while when its endpoint
 * has been closed, so operations meet peers that are dead.  A client may not post to an address
 * that it has removed, so those that post share a lock with the task that removes it.
 *
 * A send may wait for a receive of its peer as long as that lives.  So an endpoint that is drained
 * takes its receives back, and waits for these.  One that has a message may have to wait until the
 * connection ends by message_timeout of kofi_rxm, which is therefore to be short.
 *
 * When all others have been closed, the last endpoint of a world receives what it has sent to
 * itself, and then all that it has posted has to complete.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include "stress.h"

#define ST_TAGS		4
#define ST_DRAIN_MS	(2 * ST_PATIENCE_MS)
#define ST_CAPS		(FI_MSG | FI_TAGGED | FI_DIRECTED_RECV | FI_SOURCE | FI_MULTI_RECV)
#define ST_TX_FLAGS	(FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)

/* Endpoints */

int st_rdm_find(struct st_world *world, bool rma)
{
	int ret = st_getinfo(world, FI_EP_RDM, ST_CAPS | (rma ? FI_RMA | FI_ATOMIC : 0));

	world->atomic = rma;
	if (ret)
		return ret;
	world->tx_flags = world->info->tx_attr->op_flags & ST_TX_FLAGS;
	world->info->tx_attr->size = ST_DEPTH;
	world->info->rx_attr->size = ST_DEPTH;
	return 0;
}

int st_rdm_open(struct st_world *world)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE };

	return st_said(world, ST_AV, fi_av_open(world->domain, &attr, &world->av, NULL));
}

static int st_rdm_prepare(struct st_thread *thread, struct st_ep *ep)
{
	struct st_world *world = thread->world;
	u64 flags = FI_TRANSMIT | FI_RECV;

	ep->cq = &world->cqs[st_below(thread, ST_KINDS)];
	ep->selective = !st_below(thread, 4);
	if (ep->selective)
		flags |= FI_SELECTIVE_COMPLETION;
	if (st_said(world, ST_ENDPOINT,
		    fi_endpoint(world->domain, world->info, &ep->ep, NULL))) {
		ep->ep = NULL;
		return -EIO;
	}
	if (st_said(world, ST_BIND, fi_ep_bind(ep->ep, &world->av->fid, 0)) ||
	    st_said(world, ST_BIND, fi_ep_bind(ep->ep, &ep->cq->cq->fid, flags)))
		return -EIO;
	ep->enabled = !st_said(world, ST_ENABLE, fi_enable(ep->ep));
	return ep->enabled ? 0 : -EIO;
}

/* The caller has the name of the place for itself */
static void st_rdm_forget(struct st_ep *ep)
{
	if (ep->addr != FI_ADDR_NOTAVAIL)
		st_said(ep->world, ST_AV_REMOVE, fi_av_remove(ep->world->av, &ep->addr, 1, 0));
	ep->addr = FI_ADDR_NOTAVAIL;
}

/* As st_rdm_forget(), and nobody closes the endpoint */
static void st_rdm_know(struct st_ep *ep)
{
	struct sockaddr_storage name = {};
	size_t len = sizeof(name);

	st_rdm_forget(ep);
	if (st_said(ep->world, ST_NAME, fi_getname(&ep->ep->fid, &name, &len)))
		return;
	if (st_said(ep->world, ST_AV_INSERT,
		    fi_av_insert(ep->world->av, &name, 1, &ep->addr, 0, NULL)) != 1)
		ep->addr = FI_ADDR_NOTAVAIL;
}

static void act_rdm_open(struct st_thread *thread)
{
	struct st_ep *ep = &thread->world->eps[st_below(thread, ST_EPS)];

	if (!down_write_trylock(&ep->lock))
		return;
	if (!ep->ep && !st_rdm_prepare(thread, ep) && down_write_trylock(&ep->name_lock)) {
		st_rdm_know(ep);
		up_write(&ep->name_lock);
	}
	up_write(&ep->lock);
}

/* Removes the address, mostly of an endpoint that has gone, or inserts it */
static void act_rdm_name(struct st_thread *thread)
{
	struct st_ep *ep = &thread->world->eps[st_below(thread, ST_EPS)];

	if (!down_read_trylock(&ep->lock))
		return;
	if (down_write_trylock(&ep->name_lock)) {
		if (ep->addr != FI_ADDR_NOTAVAIL) {
			if (!ep->ep || !st_below(thread, 8))
				st_rdm_forget(ep);
		} else if (ep->ep && ep->enabled) {
			st_rdm_know(ep);
		}
		up_write(&ep->name_lock);
	}
	up_read(&ep->lock);
}

/* What a place stands for in a call that posts; st_rdm_put() is due unless it is NULL */
static struct st_ep *st_rdm_peer(struct st_thread *thread)
{
	struct st_ep *peer = &thread->world->eps[st_below(thread, ST_EPS)];

	if (!down_read_trylock(&peer->name_lock))
		return NULL;
	if (peer->addr != FI_ADDR_NOTAVAIL)
		return peer;
	up_read(&peer->name_lock);
	return NULL;
}

static void st_rdm_put(struct st_ep *peer)
{
	up_read(&peer->name_lock);
}

/* The end */

/* The caller has the place for itself, so nothing is posted meanwhile */
static void st_rdm_cancel(struct st_ep *ep)
{
	struct st_op *op;
	unsigned int i;

	for (i = 0; i < ST_ALL_OPS; i++) {
		op = &ep->ops[i];
		if (op->recv && atomic_read(&op->state) == ST_POSTED)
			st_said(ep->world, ST_CANCEL, fi_cancel(&ep->ep->fid, &op->done));
	}
}

/* Counts what has not completed */
static void st_rdm_lost(struct st_ep *ep, bool receives)
{
	struct kunit *test = ep->world->test;
	const struct st_op *op;
	unsigned int i;

	for (i = 0; i < ST_ALL_OPS; i++) {
		op = &ep->ops[i];
		if (atomic_read(&op->state) != ST_POSTED || (receives && !op->recv))
			continue;
		atomic_inc(&ep->world->figures->lost);
		kunit_info(test, "%s of %u bytes, flags %#llx, does not complete\n",
			   st_call_name(op->call), op->len, op->flags);
	}
}

/* Waits until receives, or all operations, have completed; nothing is posted meanwhile */
static void st_rdm_await(struct st_ep *ep, bool receives)
{
	const atomic_t *posted = receives ? &ep->receives : &ep->posted;
	unsigned long until = jiffies + msecs_to_jiffies(ST_DRAIN_MS);

	while (atomic_read(posted)) {
		st_poll(ep->cq, ep->world);
		if (time_after(jiffies, until)) {
			st_rdm_lost(ep, receives);
			return;
		}
		/* Completions that others take make no event for us */
		usleep_range(500, 1000);
	}
}

/* The caller has the place for itself */
static void st_rdm_ep_close(struct st_ep *ep, bool drain)
{
	struct st_world *world = ep->world;
	unsigned int i;

	if (drain && ep->enabled) {
		st_rdm_cancel(ep);
		st_rdm_await(ep, true);
	}
	if (st_said(world, ST_CLOSE, fi_close(&ep->ep->fid)))
		return;
	ep->ep = NULL;
	ep->enabled = false;
	st_await_readers(ep->cq);
	st_ep_sweep(ep);
	atomic_set(&ep->receives, 0);
	/* With the endpoint goes what has been claimed */
	for (i = 0; i < ST_ALL_OPS; i++)
		atomic_cmpxchg(&ep->ops[i].state, ST_CLAIMED, ST_FREE);
}

static void act_rdm_close(struct st_thread *thread)
{
	struct st_ep *ep = &thread->world->eps[st_below(thread, ST_EPS)];

	if (st_below(thread, 4) || !down_write_trylock(&ep->lock))
		return;
	if (ep->ep)
		st_rdm_ep_close(ep, st_below(thread, 2));
	up_write(&ep->lock);
}

/* Receives a message that has been claimed, or drops it; the operation is the caller's */
static void st_rdm_claimed(struct st_ep *ep, struct st_op *op, u32 room, u64 discard)
{
	struct kvec iov = { op->buf, room };
	struct fi_msg_tagged msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &op->claim,
	};
	long ret;

	op->claims = false;
	st_op_note(op, ST_RDM_CLAIM, room, discard);
	atomic_inc(&ep->posted);
	atomic_set_release(&op->state, ST_POSTED);
	ret = st_said(ep->world, ST_RDM_CLAIM,
		      fi_trecvmsg(ep->ep, &msg, FI_CLAIM | FI_COMPLETION | discard));
	if (!ret) {
		atomic64_inc(&ep->world->figures->posted);
		return;
	}
	/* What has been claimed may have gone with its sender */
	atomic_set(&op->state, ret == -EINVAL ? ST_FREE : ST_CLAIMED);
	atomic_dec(&ep->posted);
}

/* Posts a receive for what an endpoint has sent to itself, as long as @posted is not one */
static struct st_op *st_rdm_receive_own(struct st_ep *ep, struct st_op *posted, bool tagged)
{
	struct fi_msg msg = { .iov_count = 1, .addr = FI_ADDR_UNSPEC };
	struct fi_msg_tagged tmsg = { .iov_count = 1, .addr = FI_ADDR_UNSPEC, .ignore = U64_MAX };
	enum st_call call = tagged ? ST_RDM_TRECV : ST_RDM_RECV;
	struct st_op *op = posted;
	struct kvec iov;

	/* It may be of the other kind by now */
	if (op && atomic_read(&op->state) == ST_POSTED && op->call == call)
		return op;
	for (op = ep->ops; op < ep->ops + ST_OPS; op++)
		if (atomic_cmpxchg(&op->state, ST_FREE, ST_TAKEN) == ST_FREE)
			break;
	if (op == ep->ops + ST_OPS)
		return NULL;
	iov = (struct kvec) { op->buf, ep->world->len };
	msg.msg_iov = &iov;
	msg.context = &op->done;
	tmsg.msg_iov = &iov;
	tmsg.context = &op->done;
	op->recv = true;
	op->claims = false;
	st_op_note(op, call, iov.iov_len, 0);
	st_op_begin(op);
	st_op_end(op, st_said(ep->world, call, tagged ? fi_trecvmsg(ep->ep, &tmsg, FI_COMPLETION) :
			      fi_recvmsg(ep->ep, &msg, FI_COMPLETION)));
	return op;
}

static void st_rdm_drop_claimed(struct st_ep *ep)
{
	struct st_op *op;

	for (op = ep->ops; op < ep->ops + ST_OPS; op++)
		if (atomic_cmpxchg(&op->state, ST_CLAIMED, ST_TAKEN) == ST_CLAIMED)
			st_rdm_claimed(ep, op, ep->world->len, FI_DISCARD);
}

/*
 * All its peers have gone.  One receive of each kind is posted at a time: the queue must not fill
 * up with those of the kind that no message takes.
 */
static void st_rdm_drain(struct st_ep *ep)
{
	unsigned long until = jiffies + msecs_to_jiffies(ST_DRAIN_MS);
	struct st_op *plain = NULL, *tagged = NULL;

	st_rdm_cancel(ep);
	while (atomic_read(&ep->posted) > atomic_read(&ep->receives) &&
	       time_before(jiffies, until)) {
		plain = st_rdm_receive_own(ep, plain, false);
		tagged = st_rdm_receive_own(ep, tagged, true);
		st_rdm_drop_claimed(ep);
		st_poll(ep->cq, ep->world);
		usleep_range(500, 1000);
	}
	st_rdm_cancel(ep);
	st_rdm_await(ep, false);
}

void st_rdm_close(struct st_world *world)
{
	struct st_ep *ep, *last = NULL;
	unsigned int i;

	if (!world->rdm)
		return;
	for (i = 0; i < ST_EPS; i++) {
		ep = &world->eps[i];
		if (!ep->ep)
			continue;
		if (last)
			st_rdm_ep_close(last, i % 2);
		last = ep;
	}
	if (last) {
		if (last->enabled)
			st_rdm_drain(last);
		st_rdm_ep_close(last, true);
	}
	for (i = 0; i < ST_EPS; i++)
		st_rdm_forget(&world->eps[i]);
	if (world->av)
		KUNIT_EXPECT_EQ(world->test, fi_close(&world->av->fid), 0);
}

/* Messages */

/* Remote CQ data, which kofi_rxm over iWARP does not have */
static u64 st_rdm_data(const struct st_world *world)
{
	return world->info->domain_attr->cq_data_size ? FI_REMOTE_CQ_DATA : 0;
}

/* Of those that the provider has */
static u64 st_rdm_tx_flags(struct st_thread *thread, u32 len)
{
	static const u64 flags[] = {
		0, FI_REMOTE_CQ_DATA, FI_INJECT, FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE,
		FI_DELIVERY_COMPLETE, FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA,
	};
	const struct st_world *world = thread->world;
	u64 drawn = flags[st_below(thread, ARRAY_SIZE(flags))];

	if (drawn & ST_TX_FLAGS & ~world->tx_flags ||
	    drawn & FI_REMOTE_CQ_DATA & ~st_rdm_data(world))
		return 0;
	return drawn & FI_INJECT && len > world->info->tx_attr->inject_size ? 0 : drawn;
}

/* Short ones, those of a packet, in segments, and on offer: as many of each */
static u32 st_rdm_len(struct st_thread *thread)
{
	static const u32 most[] = { 64, 1024, 8192, ST_RDM_LEN };

	return st_below(thread, most[st_below(thread, ARRAY_SIZE(most))] + 1);
}

static long st_rdm_post_send(struct st_thread *thread, struct st_ep *ep, fi_addr_t to,
			     bool tagged, u8 *buf, struct st_op *op)
{
	struct kvec iov = { buf, st_rdm_len(thread) };
	u64 flags = st_rdm_tx_flags(thread, iov.iov_len) | (op ? FI_COMPLETION : 0);
	void *context = op ? &op->done : NULL;
	struct fi_msg msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = to, .context = context, .data = 7,
	};
	struct fi_msg_tagged tmsg = {
		.msg_iov = &iov, .iov_count = 1, .addr = to, .context = context, .data = 7,
		.tag = st_below(thread, ST_TAGS),
	};

	if (op) {
		st_op_note(op, tagged ? ST_RDM_TSEND : ST_RDM_SEND, iov.iov_len, flags);
		st_op_begin(op);
	}
	return tagged ? fi_tsendmsg(ep->ep, &tmsg, flags) : fi_sendmsg(ep->ep, &msg, flags);
}

static void st_rdm_send_to(struct st_thread *thread, struct st_ep *ep, fi_addr_t to, bool tagged)
{
	enum st_call call = tagged ? ST_RDM_TSEND : ST_RDM_SEND;
	struct st_op *op;

	/* Nothing is reported of it unless it fails; its memory is good as long as the world */
	if (ep->selective && st_below(thread, 2)) {
		if (!st_said(ep->world, call, st_rdm_post_send(thread, ep, to, tagged, ep->scratch,
							       NULL)))
			atomic64_inc(&ep->world->figures->silent);
		return;
	}
	op = st_op_take(thread, ep);
	if (!op)
		return;
	st_op_end(op, st_said(ep->world, call, st_rdm_post_send(thread, ep, to, tagged, op->buf,
								op)));
}

static void st_rdm_inject_to(struct st_thread *thread, struct st_ep *ep, fi_addr_t to)
{
	u8 note[16] = {};

	st_said(ep->world, ST_RDM_INJECT, st_below(thread, 2) ?
		fi_inject(ep->ep, note, sizeof(note), to) :
		fi_tinject(ep->ep, note, sizeof(note), to, st_below(thread, ST_TAGS)));
}

static void act_rdm_send(struct st_thread *thread)
{
	struct st_ep *ep = st_ep_use(thread), *peer;

	if (!ep)
		return;
	peer = ep->enabled ? st_rdm_peer(thread) : NULL;
	if (peer) {
		switch (st_below(thread, 5)) {
		case 0:
			st_rdm_inject_to(thread, ep, peer->addr);
			break;
		case 1:
		case 2:
			st_rdm_send_to(thread, ep, peer->addr, false);
			break;
		default:
			st_rdm_send_to(thread, ep, peer->addr, true);
		}
		st_rdm_put(peer);
	}
	up_read(&ep->lock);
}

/* Receives */

/* Some are too short */
static u32 st_rdm_room(struct st_thread *thread)
{
	return st_below(thread, 8) ? thread->world->len : 100;
}

static void st_rdm_recv_from(struct st_thread *thread, struct st_ep *ep, fi_addr_t from)
{
	bool multi = !st_below(thread, 8);
	struct st_op *op = multi ? st_op_take_multi(thread, ep) : st_op_take(thread, ep);
	struct kvec iov;
	struct fi_msg msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = from,
	};

	if (!op)
		return;
	iov = (struct kvec) { op->buf, st_rdm_room(thread) };
	msg.context = &op->done;
	op->recv = true;
	st_op_note(op, ST_RDM_RECV, iov.iov_len, multi ? FI_MULTI_RECV : 0);
	st_op_begin(op);
	st_op_end(op, st_said(ep->world, ST_RDM_RECV, fi_recvmsg(ep->ep, &msg, FI_COMPLETION |
								 (multi ? FI_MULTI_RECV : 0))));
}

static long st_rdm_tagged(struct st_thread *thread, struct st_ep *ep, fi_addr_t from,
			  struct st_op *op, u64 flags)
{
	struct kvec iov = { op->buf, st_rdm_room(thread) };
	struct fi_msg_tagged msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = from, .context = &op->done,
		.tag = st_below(thread, ST_TAGS),
		.ignore = st_below(thread, 2) ? U64_MAX : st_below(thread, ST_TAGS),
	};

	return fi_trecvmsg(ep->ep, &msg, FI_COMPLETION | flags);
}

static void st_rdm_trecv_from(struct st_thread *thread, struct st_ep *ep, fi_addr_t from)
{
	struct st_op *op = st_op_take(thread, ep);

	if (!op)
		return;
	op->recv = true;
	st_op_note(op, ST_RDM_TRECV, ep->world->len, 0);
	st_op_begin(op);
	st_op_end(op, st_said(ep->world, ST_RDM_TRECV, st_rdm_tagged(thread, ep, from, op, 0)));
}

/* A context of FI_WAIT_DONE is not the provider's, so nothing is claimed there */
static void st_rdm_peek(struct st_thread *thread, struct st_ep *ep, fi_addr_t from)
{
	static const u64 flags[] = { FI_PEEK, FI_PEEK | FI_DISCARD, FI_PEEK | FI_CLAIM };
	u64 drawn = flags[st_below(thread, ep->cq->kind == ST_DONE ? 2 : 3)];
	struct st_op *op = st_op_take(thread, ep);

	if (!op)
		return;
	op->claims = drawn & FI_CLAIM;
	st_op_note(op, ST_RDM_PEEK, 0, drawn);
	st_op_begin(op);
	st_op_end(op, st_said(ep->world, ST_RDM_PEEK, st_rdm_tagged(thread, ep, from, op, drawn)));
}

static void st_rdm_take_claimed(struct st_thread *thread, struct st_ep *ep)
{
	struct st_op *op = &ep->ops[st_below(thread, ST_OPS)];

	if (atomic_cmpxchg(&op->state, ST_CLAIMED, ST_TAKEN) == ST_CLAIMED)
		st_rdm_claimed(ep, op, st_rdm_room(thread), st_below(thread, 2) ? FI_DISCARD : 0);
}

static void st_rdm_receive(struct st_thread *thread, struct st_ep *ep, fi_addr_t from)
{
	switch (st_below(thread, 8)) {
	case 0:
		st_rdm_peek(thread, ep, from);
		break;
	case 1:
		st_rdm_take_claimed(thread, ep);
		break;
	case 2:
	case 3:
	case 4:
		st_rdm_recv_from(thread, ep, from);
		break;
	default:
		st_rdm_trecv_from(thread, ep, from);
	}
}

/* One of four is for the messages of one peer */
static void act_rdm_recv(struct st_thread *thread)
{
	struct st_ep *ep = st_ep_use(thread), *peer;

	if (!ep)
		return;
	if (ep->enabled && st_below(thread, 4)) {
		st_rdm_receive(thread, ep, FI_ADDR_UNSPEC);
	} else if (ep->enabled) {
		peer = st_rdm_peer(thread);
		if (peer) {
			st_rdm_receive(thread, ep, peer->addr);
			st_rdm_put(peer);
		}
	}
	up_read(&ep->lock);
}

/* Whether it has been posted, or has completed, or is another one by now */
static void act_rdm_cancel(struct st_thread *thread)
{
	struct st_ep *ep = st_ep_use(thread);

	if (!ep)
		return;
	if (ep->enabled)
		st_said(ep->world, ST_CANCEL,
			fi_cancel(&ep->ep->fid, &ep->ops[st_below(thread, ST_ALL_OPS)].done));
	up_read(&ep->lock);
}

/* Reads, writes and atomic operations */

static long st_rdm_post_rma(struct st_thread *thread, struct st_ep *ep, struct st_op *op,
			    fi_addr_t to, u64 addr, u64 key)
{
	struct kvec iov = { op->buf, st_below(thread, ST_LEN + 1) };
	struct fi_rma_iov rma = { .addr = addr, .len = iov.iov_len, .key = key };
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = to, .rma_iov = &rma, .rma_iov_count = 1,
		.context = &op->done, .data = 7,
	};

	switch (st_below(thread, 5)) {
	case 0:
		return fi_writemsg(ep->ep, &msg, FI_COMPLETION | st_rdm_data(ep->world));
	case 1:
	case 2:
		return fi_writemsg(ep->ep, &msg, FI_COMPLETION);
	default:
		return fi_readmsg(ep->ep, &msg, FI_COMPLETION);
	}
}

/* Operands and the old value are in the operation's memory */
static long st_rdm_post_atomic(struct st_thread *thread, struct st_ep *ep, struct st_op *op,
			       fi_addr_t to, u64 addr, u64 key)
{
	u64 *words = (u64 *)op->buf;

	switch (st_below(thread, 3)) {
	case 0:
		return fi_atomic(ep->ep, words, 1, NULL, to, addr, key, FI_UINT64, FI_SUM,
				 &op->done);
	case 1:
		return fi_fetch_atomic(ep->ep, words, 1, NULL, words + 1, NULL, to, addr, key,
				       FI_UINT64, FI_SUM, &op->done);
	default:
		return fi_compare_atomic(ep->ep, words, 1, NULL, words + 1, NULL, words + 2, NULL,
					 to, addr, key, FI_UINT64, FI_CSWAP, &op->done);
	}
}

static void st_rdm_access(struct st_thread *thread, struct st_ep *ep, fi_addr_t to)
{
	/* Without a message these report nothing where that must be asked for */
	bool atomic = !ep->selective && !st_below(thread, 3);
	u64 addr, key;
	struct st_op *op;

	if (!st_target(thread, &addr, &key))
		return;
	op = st_op_take(thread, ep);
	if (!op)
		return;
	st_op_note(op, atomic ? ST_RDM_ATOMIC : ST_RDM_RMA, 0, 0);
	st_op_begin(op);
	st_op_end(op, atomic ? st_said(ep->world, ST_RDM_ATOMIC,
				       st_rdm_post_atomic(thread, ep, op, to, addr, key)) :
		  st_said(ep->world, ST_RDM_RMA, st_rdm_post_rma(thread, ep, op, to, addr, key)));
}

static void act_rdm_access(struct st_thread *thread)
{
	struct st_ep *ep, *peer;

	if (!thread->world->rma)
		return;
	ep = st_ep_use(thread);
	if (!ep)
		return;
	peer = ep->enabled ? st_rdm_peer(thread) : NULL;
	if (peer) {
		st_rdm_access(thread, ep, peer->addr);
		st_rdm_put(peer);
	}
	up_read(&ep->lock);
}

/* The endpoint is there, so its parents have a child */
static void act_rdm_close_parent(struct st_thread *thread)
{
	struct st_world *world = thread->world;
	struct st_ep *ep = st_ep_use(thread);
	struct fid *fids[] = {
		&world->domain->fid, &world->fabric->fid, &world->av->fid,
	};

	if (!ep)
		return;
	if (ep->enabled)
		st_said(world, ST_CLOSE_PARENT, fi_close(fids[st_below(thread, ARRAY_SIZE(fids))]));
	up_read(&ep->lock);
}

const struct st_act st_rdm_acts[] = {
	{ act_rdm_send, 25 },
	{ act_rdm_recv, 35 },
	{ act_rdm_access, 10 },
	{ act_rdm_cancel, 2 },
	{ act_rdm_open, 4 },
	{ act_rdm_close, 1 },
	{ act_rdm_name, 2 },
	{ act_rdm_close_parent, 2 },
};

const unsigned int st_rdm_count = ARRAY_SIZE(st_rdm_acts);
