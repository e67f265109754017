/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The receive side of a provider whose device does not match: posted receives, messages
 * that arrive, and messages that arrive before their receive.
 *
 * One engine serves an endpoint's own receives and a shared receive context.  It knows
 * no wire format and moves no data:
 *
 *	kofi_srx_post()		the client posts a receive.  The receive is matched with a
 *				message that waits, or it joins the posted receives.
 *	kofi_srx_arrive()	a message has arrived.  It is matched with a posted receive, or
 *				it waits in an object of the provider's, or it has to wait
 *				outside (-EAGAIN).
 *	kofi_rx_iter()		where the provider puts the data of a matched message
 *	kofi_rx_complete()	reports the receive to the client
 *
 * A receive takes the oldest message that it matches, and a message takes the oldest
 * receive that it matches, whatever kinds of receives (exact tag or with bits to ignore,
 * from one sender or from any) there are.  So the messages of one sender take receives
 * in the order in which they were sent, if the provider passes them on in that order.
 * Untagged and tagged messages are matched separately.
 *
 * A buffer with FI_MULTI_RECV takes message after message.  Each has a completion of its
 * own, from a bounded pool; the last of them to complete has FI_MULTI_RECV and gives the
 * buffer back.  A message that does not fit into what is left gives the buffer back,
 * and takes the next receive; if all messages of the buffer have completed by then, the
 * buffer comes back with a completion that has no flag but FI_MULTI_RECV.
 *
 * Nothing is allocated after kofi_srx_init(), unless kofi_srx_attr.grows is set.  Then a post that
 * finds no receive free allocates some without waiting, until there are as many as the client has
 * asked for.  A shortage is back-pressure.  If receives run short, the client gets -EAGAIN, and its
 * ready callback is due when one comes back (kofi_ep_room()), or after a short time if there was no
 * memory for one.  If anything else runs short, the provider gets -EAGAIN, and ops->resume() is
 * called.
 *
 * A receive that is matched belongs to the provider until it has called kofi_rx_complete() or
 * kofi_rx_fail().  No call of the client and no end of the context touches it before.
 *
 * A read or a write of a peer may name a receive by its tag (FI_TAGGED_RMA).  It takes the
 * receive that a message would take (kofi_srx_take()), and never waits for one.
 *
 * A shared receive context is ready-made: kofi_srx_ctx_open().
 */
#ifndef _KOFI_SRX_H
#define _KOFI_SRX_H

#include <linux/list.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/uio.h>
#include <kofi/bufpool.h>
#include <kofi/cq.h>
#include <kofi/ep.h>
#include <kofi/eq.h>
#include <kofi/iov.h>
#include <kofi/xfer.h>

struct kofi_rx;
struct kofi_srx;

/**
 * struct kofi_srx_key - Key to look up receives and messages
 * @tag: the tag; 0 if untagged; the claimer's context if claimed
 * @src: sender, or FI_ADDR_UNSPEC: any
 * @kind: tagged, untagged or claimed
 * @hash: of @tag, @src and @kind
 */
struct kofi_srx_key {
	u64			tag;
	fi_addr_t		src;
	u32			kind;
	u32			hash;
};

/**
 * struct kofi_srx_link - Place in a table
 * @key: the key
 * @node: in a bucket, if this is the oldest link with the key
 * @same: ring of all links with the key, oldest first
 */
struct kofi_srx_link {
	struct kofi_srx_key	key;
	struct hlist_node	node;
	struct list_head	same;
};

/**
 * struct kofi_srx_arrival - A message that has arrived
 * @ep: endpoint that it has arrived at, where it will complete
 * @flags: of its completion: FI_MSG or FI_TAGGED, and FI_REMOTE_CQ_DATA and the like
 * @tag: if it is tagged
 * @src_addr: sender, for receives that name a sender (kofi_av_find()); FI_ADDR_NOTAVAIL:
 *	unknown
 * @source: sender, as its completion names it (kofi_av_source()); FI_ADDR_NOTAVAIL: unknown
 * @len: its bytes, as the sender says; any value
 * @data: remote CQ data
 */
struct kofi_srx_arrival {
	struct kofi_ep		*ep;
	u64			flags;
	u64			tag;
	fi_addr_t		src_addr;
	fi_addr_t		source;
	size_t			len;
	u64			data;
};

/**
 * struct kofi_srx_msg - A message that waits for its receive
 * @what: the message
 * @any: by kind and tag, or claimer
 * @from: by kind, tag and sender
 * @order: among all tagged messages, in the order of arrival
 * @stranger: in kofi_srx.strangers, or alone
 * @of_ep: in kofi_ep.rx_msgs
 * @queued: it waits
 *
 * The provider embeds it in an object of its own, and must not touch that object from
 * KOFI_SRX_QUEUED until ops->start(), ops->discard() or kofi_srx_withdraw().  The provider
 * may read @what at any time; the other fields are the engine's.
 */
struct kofi_srx_msg {
	struct kofi_srx_arrival	what;
	struct kofi_srx_link	any;
	struct kofi_srx_link	from;
	struct list_head	order;
	struct list_head	stranger;
	struct list_head	of_ep;
	bool			queued;
};

/**
 * struct kofi_srx_ops - What a provider does for its receive side
 * @start: a receive was posted that takes a waiting message.  The provider notes it and
 *	has a worker of its own move the data; it does not complete the receive from here.
 *	May be called in the context of a poster of another endpoint.
 * @discard: a waiting message will not be received: the client has discarded it, or its
 *	endpoint is being closed
 * @resume: kofi_srx_arrive() has answered -EAGAIN, and another call may succeed, or will
 *	return another error.  Called at most once for each -EAGAIN, and once for all calls
 *	that have been answered so until then.  May be called before kofi_srx_arrive() has
 *	returned.
 *
 * @sender: looks up the sender of a message again, as kofi_srx_arrival.src_addr and
 *	kofi_srx_arrival.source name it.  It was unknown, and the client may have inserted its
 *	address meanwhile.  The message waits, or kofi_srx_arrive() was called with it; the lock
 *	of the engine is held.  NULL: no sender becomes known later
 * @changes: a number that changes after an address was inserted that receives may name
 *	(kofi_av_changes()); the lock of the engine is held.  Not called without @sender
 *
 * All of them but @sender and @changes must be there.  They are called in any context, and must
 * not sleep.  No lock of the engine is held, except for these two.
 */
struct kofi_srx_ops {
	void	(*start)(struct kofi_rx *rx, struct kofi_srx_msg *msg);
	void	(*discard)(struct kofi_srx_msg *msg);
	void	(*resume)(struct kofi_srx *srx);
	void	(*sender)(const struct kofi_srx_msg *msg, fi_addr_t *src_addr,
			  fi_addr_t *source);
	unsigned long (*changes)(const struct kofi_srx *srx);
};

/**
 * struct kofi_srx_attr - What a receive side has room for
 * @size: receives that are posted or have not been read (fi_rx_attr.size)
 * @iov_limit: elements of the list of a receive that is copied; a longer list is lent, if the
 *	endpoint has kofi_ep.lent_iov
 * @max_msgs: messages that may wait for their receive; 0: none
 * @multi: messages of buffers with FI_MULTI_RECV that are in transfer or have not been
 *	read; 0: there are no such buffers
 * @min_multi_recv: initial value of FI_OPT_MIN_MULTI_RECV
 * @directed: receives may name their sender (FI_DIRECTED_RECV); otherwise the address of
 *	a receive is ignored
 * @grows: begin with a part of @size and @multi, and have more when they have been in use, see
 *	kofi_bufpool_init_part()
 */
struct kofi_srx_attr {
	u32			size;
	u32			iov_limit;
	u32			max_msgs;
	u32			multi;
	size_t			min_multi_recv;
	bool			directed;
	bool			grows;
};

/**
 * struct kofi_srx_table - Hash table of &struct kofi_srx_link
 * @heads: buckets
 * @mask: number of buckets - 1, which is a power of two
 */
struct kofi_srx_table {
	struct hlist_head	*heads;
	u32			mask;
};

/**
 * struct kofi_srx - The receive side; the provider embeds it in its own
 * @lock: guards what follows @ops up to @limit, the receives that are posted, the messages that
 *	wait, and kofi_ep.rx_msgs and .rx_left; taken with interrupts off
 * @ep: endpoint or shared receive context that receives are posted to
 * @ops: the provider's
 * @receives: posted receives that are neither in @wild nor in @untagged
 * @messages: messages that wait
 * @wild: posted receives with bits to ignore, oldest first
 * @untagged: oldest of the posted untagged receives from any sender, linked by kofi_rx.next
 * @untagged_tail: where the next of them is linked
 * @posted: other posted receives, oldest first
 * @deferred: younger receives, which have not seen all messages that wait, oldest first
 * @order: tagged messages that wait and are not claimed, oldest first
 * @strangers: messages that wait and whose sender is unknown, oldest first, if receives may
 *	name their sender
 * @looked_up: value of ops->changes() before the senders of @strangers were looked up
 * @next_seq: number of the next receive that is posted
 * @compared: how many keys and tags have been compared: the cost of matching
 * @nposted: receives in @untagged, @posted and @deferred
 * @ndirected: receives in @receives that name their sender
 * @nmsgs: messages that wait
 * @stalled: resources that the provider waits for after -EAGAIN
 * @ended: nothing is posted or arrives any more
 * @min_multi_recv: FI_OPT_MIN_MULTI_RECV
 * @limit: FI_OPT_SRX_LIMIT
 * @limit_event: FI_SRX_LIMIT, for the event queue of @ep
 * @size: number of receives
 * @iov_limit: elements of the list of a receive
 * @max_msgs: most messages that wait
 * @directed: receives may name their sender
 * @secret: key of the hash, so that a peer cannot choose tags that collide
 * @pool: &struct kofi_rx for receives
 * @multi: &struct kofi_rx for messages of buffers with FI_MULTI_RECV
 */
struct kofi_srx {
	spinlock_t			lock; /* see above */
	struct kofi_ep			*ep;
	const struct kofi_srx_ops	*ops;
	struct kofi_srx_table		receives;
	struct kofi_srx_table		messages;
	struct list_head		wild;
	struct kofi_rx			*untagged;
	struct kofi_rx			**untagged_tail;
	struct list_head		posted;
	struct list_head		deferred;
	struct list_head		order;
	struct list_head		strangers;
	unsigned long			looked_up;
	u64				next_seq;
	u64				compared;
	u32				nposted;
	u32				ndirected;
	u32				nmsgs;
	u32				stalled;
	bool				ended;
	size_t				min_multi_recv;
	size_t				limit;
	struct kofi_event		limit_event;
	u32				size;
	u32				iov_limit;
	u32				max_msgs;
	bool				directed;
	hsiphash_key_t			secret;
	struct kofi_bufpool		pool;
	struct kofi_bufpool		multi;
};

/**
 * struct kofi_rx - A receive, or one message of a buffer with FI_MULTI_RECV
 * @comp: its completion
 * @srx: where it was posted
 * @ep: endpoint that it completes for
 * @buf: of a message: the buffer that it goes into; else NULL
 * @offset: of a message: where it begins in @buf
 * @flags: of the client's call
 * @ignore: bits of the tag that do not count
 * @seq: number in the order of posting; an older receive has a smaller number
 * @link: in the table of receives, or in kofi_srx.wild
 * @linked: @link is in use
 * @listed: it is in kofi_srx.untagged
 * @next: in kofi_srx.untagged
 * @entry: in kofi_srx.posted or .deferred
 * @used: of a buffer: bytes that messages have taken
 * @min_left: of a buffer: it takes no more messages when fewer bytes than this are left
 * @nmsgs: of a buffer: messages in transfer
 * @spent: of a buffer: it takes no more messages
 * @order: of a buffer: keeps the completions of its messages in order
 * @iov: the client's list, with room for kofi_srx.iov_limit elements, or lent
 *
 * The provider may read @comp and @ep from the match to the completion; the other fields are
 * the engine's.
 */
struct kofi_rx {
	struct kofi_msg_comp	comp;
	struct kofi_srx		*srx;
	struct kofi_ep		*ep;
	struct kofi_rx		*buf;
	size_t			offset;
	u64			flags;
	u64			ignore;
	u64			seq;
	struct kofi_srx_link	link;
	bool			linked;
	bool			listed;
	union {
		struct kofi_rx		*next;
		struct list_head	entry;
	};
	size_t			used;
	size_t			min_left;
	u32			nmsgs;
	bool			spent;
	spinlock_t		order;	/* of completions */
	struct kofi_iov		iov;	/* last */
};

/**
 * kofi_comp_is_rx() - Is a completion one of a &struct kofi_rx?
 * @comp: a completion of the provider's
 *
 * For a provider whose other completions have neither FI_RECV nor FI_MULTI_RECV.
 *
 * Context: any.
 * Return: whether it is.
 */
static inline bool kofi_comp_is_rx(const struct kofi_comp *comp)
{
	return comp->flags & (FI_RECV | FI_MULTI_RECV);
}

static inline struct kofi_rx *to_kofi_rx(struct kofi_comp *comp)
{
	return container_of(comp, struct kofi_rx, comp.comp);
}

/**
 * kofi_srx_init() - Set a receive side up
 * @srx: the receive side
 * @ep: endpoint, or shared receive context, that receives are posted to
 * @attr: how much room it has
 * @ops: the provider's
 *
 * Context: may sleep.
 * Return: 0, and kofi_srx_destroy() is due; -EINVAL: @ops are not complete, no size, or
 * more than the engine can count; -ENOMEM.
 */
int kofi_srx_init(struct kofi_srx *srx, struct kofi_ep *ep,
		  const struct kofi_srx_attr *attr,
		  const struct kofi_srx_ops *ops);

/**
 * kofi_srx_fill() - Allocate all that a receive side lacks, with kofi_srx_attr.grows
 * @srx: the receive side
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int kofi_srx_fill(struct kofi_srx *srx);

/**
 * kofi_srx_destroy() - The end of a receive side
 * @srx: every endpoint that received here has left and has been purged from its queue
 *
 * Receives that are still posted (of a shared receive context) are the client's again
 * without a completion.  An FI_SRX_LIMIT that was not read is withdrawn.
 *
 * Context: may sleep.
 */
void kofi_srx_destroy(struct kofi_srx *srx);

/**
 * kofi_srx_post() - Post a receive
 * @srx: the receive side
 * @xfer: FI_OP_RECV or FI_OP_TRECV, which the endpoint has
 * @flags: of @xfer, from kofi_xfer_check()
 *
 * Flags besides FI_COMPLETION, and FI_MORE, which means nothing here::
 *
 *	FI_MULTI_RECV		the buffer, one element, takes message after message
 *	FI_PEEK			tagged: reports the oldest waiting message that the receive
 *				would take, or the error FI_ENOMSG; always reported, never
 *				counted
 *	FI_PEEK | FI_CLAIM	then keeps the message for the receive that will have FI_CLAIM
 *				and the context of this one
 *	FI_PEEK | FI_DISCARD	then drops the message
 *	FI_CLAIM		receives the oldest message that was claimed with its context
 *	FI_CLAIM | FI_DISCARD	drops that message, and reports it without its remote CQ data;
 *				never counted
 *
 * Context: any.
 * Return: 0; -EAGAIN: kofi_srx_attr.size receives are posted or unread, and the ready
 * callback is due when one is back; -FI_EBADFLAGS: flags that exclude each other, or that
 * untagged receives do not have, or no room for FI_MULTI_RECV; -EINVAL: a list that
 * kofi_iov_set() refuses, more than one element with FI_MULTI_RECV, FI_CLAIM without a
 * context, or with one that has claimed nothing; -EMSGSIZE: more bytes than can be
 * counted; -ENOMSG: FI_PEEK finds no message, and the context is shared, which has no
 * queue for the answer; -ESHUTDOWN: after kofi_srx_flush().
 */
ssize_t kofi_srx_post(struct kofi_srx *srx, const struct fi_xfer *xfer, u64 flags);

/**
 * kofi_srx_post_buf() - Post a receive of one buffer, with default flags
 * @srx: the receive side of an endpoint that is enabled, and has FI_OP_RECV
 * @buf: as fi_recv()
 * @len: as fi_recv()
 * @desc: as fi_recv()
 * @src_addr: as fi_recv()
 * @context: as fi_recv()
 *
 * What fi_recv() does.  A receive that is not simple is described to ->post of the endpoint.
 *
 * Context: any.
 * Return: as fi_recv().
 */
ssize_t kofi_srx_post_buf(struct kofi_srx *srx, void *buf, size_t len, void *desc,
			  fi_addr_t src_addr, void *context);

/* Results of kofi_srx_arrive() if it succeeds */
#define KOFI_SRX_MATCHED	0
#define KOFI_SRX_QUEUED		1

/**
 * kofi_srx_arrive() - Find the receive for a message
 * @srx: where the endpoint receives
 * @what: the message
 * @msg: object in which the message may wait for its receive, or NULL: it waits outside
 * @rx: the receive, which is the provider's until kofi_rx_complete() or kofi_rx_fail()
 *
 * After -EAGAIN the provider passes on no later message of that sender before this one.
 * ops->resume() may be called before this returns.  So, to lose no such call, the provider
 * notes that it waits for one before it calls this for the last time.
 *
 * Context: any.
 * Return: KOFI_SRX_MATCHED: @rx is set, and @msg is untouched; KOFI_SRX_QUEUED: @msg waits;
 * -EAGAIN: there is no receive, and @msg is NULL or kofi_srx_attr.max_msgs wait already, or
 * the receive has FI_MULTI_RECV and kofi_srx_attr.multi messages are unread; -ESHUTDOWN:
 * after kofi_srx_flush(), or kofi_srx_leave() of the endpoint.
 */
int kofi_srx_arrive(struct kofi_srx *srx, const struct kofi_srx_arrival *what,
		    struct kofi_srx_msg *msg, struct kofi_rx **rx);

/**
 * kofi_srx_arrive_plain() - Find the receive for an untagged message, if that is simple
 * @srx: where the endpoint receives
 * @what: the message; its sender has no name
 *
 * Context: as kofi_srx_arrive().
 * Return: the receive, as with KOFI_SRX_MATCHED; NULL: kofi_srx_arrive() finds out.
 */
struct kofi_rx *kofi_srx_arrive_plain(struct kofi_srx *srx, const struct kofi_srx_arrival *what);

/* Take the receive at *@at out of kofi_srx.untagged, with the lock held */
static inline struct kofi_rx *kofi_srx_unlist(struct kofi_srx *srx, struct kofi_rx **at)
{
	struct kofi_rx *rx = *at;

	lockdep_assert_held(&srx->lock);
	*at = rx->next;
	if (!rx->next)
		srx->untagged_tail = at;
	rx->listed = false;
	return rx;
}

/*
 * Take the oldest untagged receive for a message, with the lock held.  NULL: there is none, or
 * kofi_srx_arrive() has to look for another, or something else is due then.
 */
static inline struct kofi_rx *kofi_srx_take_listed(struct kofi_srx *srx, const struct kofi_ep *ep)
{
	struct kofi_rx *rx = srx->untagged;

	lockdep_assert_held(&srx->lock);
	if (unlikely(!rx || rx->flags & FI_MULTI_RECV || srx->ndirected || srx->limit ||
		     ep->rx_left))
		return NULL;
	srx->nposted--;
	return kofi_srx_unlist(srx, &srx->untagged);
}

/**
 * kofi_srx_take_plain() - As kofi_srx_arrive_plain(), for a message that kofi_rx_receive() receives
 * @srx: where the endpoint receives
 * @ep: the endpoint
 *
 * Context: any, with interrupts disabled.
 * Return: as kofi_srx_arrive_plain(); the receive is not filled in yet.
 */
static inline struct kofi_rx *kofi_srx_take_plain(struct kofi_srx *srx, const struct kofi_ep *ep)
{
	struct kofi_rx *rx;

	spin_lock(&srx->lock);
	rx = kofi_srx_take_listed(srx, ep);
	spin_unlock(&srx->lock);
	return rx;
}

/**
 * kofi_srx_take() - Find the receive that a tagged read or write of a peer names
 * @srx: where the endpoint receives
 * @what: the operation; flags are FI_TAGGED, FI_RMA, and FI_READ or FI_WRITE, and
 *	FI_REMOTE_CQ_DATA if it has data
 * @rx: as kofi_srx_arrive(): kofi_rx_len() is the length of the operation
 *
 * A deferred receive is taken, too, unless it is to take a message that waits.
 *
 * Context: any.
 * Return: 0: @rx is set; -ENOMSG: there is no such receive, or it has FI_MULTI_RECV; -EMSGSIZE:
 * the operation is longer than the receive, which has completed with this error; -EACCES: the
 * endpoint allows its peers no such access; -ESHUTDOWN: as kofi_srx_arrive().
 */
int kofi_srx_take(struct kofi_srx *srx, const struct kofi_srx_arrival *what,
		  struct kofi_rx **rx);

/**
 * kofi_srx_forget() - Messages that wait have no known sender any more
 * @srx: where they wait
 * @addr: the sender, which has been removed from the address vector; it may become the address of
 *	another peer when this has returned
 *
 * Context: may sleep.
 */
void kofi_srx_forget(struct kofi_srx *srx, fi_addr_t addr);

/**
 * kofi_srx_withdraw() - Take a waiting message back
 * @srx: where it waits
 * @msg: a message that kofi_srx_arrive() has queued
 *
 * Context: may sleep.
 * Return: true: the message is the provider's again; false: ops->start() or ops->discard()
 * was called for it, and has returned.
 */
bool kofi_srx_withdraw(struct kofi_srx *srx, struct kofi_srx_msg *msg);

/**
 * kofi_srx_withdraw_unclaimed() - Take a waiting message back unless a client has claimed it
 * @srx: where it waits
 * @msg: a message that kofi_srx_arrive() has queued
 *
 * A claimed message (FI_CLAIM) is the client's, which receives or discards it.
 *
 * Context: any.
 * Return: true: the message is the provider's again; false: it is claimed, or ops->start() or
 * ops->discard() was called for it, and may still run.
 */
bool kofi_srx_withdraw_unclaimed(struct kofi_srx *srx, struct kofi_srx_msg *msg);

/**
 * kofi_srx_move_claimed() - Have another object of the provider stand for a claimed message
 * @srx: where the message waits
 * @msg: a message that kofi_srx_arrive() has queued, which is the provider's afterwards
 * @to: stands for the message from now on, as if kofi_srx_arrive() had queued it
 *
 * Context: any.
 * Return: true; false: the message is not claimed, or waits no more, and nothing has changed.
 */
bool kofi_srx_move_claimed(struct kofi_srx *srx, struct kofi_srx_msg *msg,
			   struct kofi_srx_msg *to);

/**
 * kofi_srx_cancel() - Take a receive back (fi_cancel())
 * @srx: the receive side
 * @context: of the receive
 *
 * The oldest posted receive with that context ends with FI_ECANCELED.  A receive of a shared
 * receive context ends without a completion, because that has no queue.  If messages are in
 * transfer to a buffer with FI_MULTI_RECV, it takes no more messages, and comes back with the
 * last of these.  Receives that have taken a message, and claimed messages, stay.
 *
 * Context: any.  Walks over the receives that were posted before.
 * Return: 0; -ENOENT: no such receive, or no @context.
 */
int kofi_srx_cancel(struct kofi_srx *srx, void *context);

/**
 * kofi_srx_flush() - Nothing is received any more
 * @srx: the receive side of one endpoint, which is being closed or whose connection has ended
 * @err: positive error code
 *
 * Posted receives complete with @err, in order.  If messages are in transfer to a buffer with
 * FI_MULTI_RECV, it comes back with the last of these.  Waiting messages are discarded.
 *
 * Context: any.
 */
void kofi_srx_flush(struct kofi_srx *srx, int err);

/**
 * kofi_srx_leave() - An endpoint receives here no more
 * @srx: where it has received
 * @ep: the endpoint, which is being closed
 *
 * Messages that wait for it are discarded; receives stay.  When this returns, no call of
 * ops->start() and ops->discard() is under way for a message of the endpoint, and none
 * will come.  Receives that have been matched are the provider's, which has to complete them
 * before it purges the queue.
 *
 * Context: may sleep.
 */
void kofi_srx_leave(struct kofi_srx *srx, struct kofi_ep *ep);

/**
 * kofi_srx_setopt() - Options of a receive side
 * @srx: the receive side
 * @optname: FI_OPT_MIN_MULTI_RECV, which holds for receives that are posted from now on;
 *	or FI_OPT_SRX_LIMIT, see there
 * @optval: as fi_setopt()
 * @optlen: as fi_setopt()
 *
 * When there are fewer posted receives than the limit, the event queue of the context gets
 * FI_SRX_LIMIT, and the limit is 0 again.  If there are fewer already, this happens at once.
 *
 * Context: any.
 * Return: 0; -EINVAL: another length, or more receives than there can be; -FI_ENOEQ: a
 * limit without an event queue; -ENOPROTOOPT: another option, or the receive side has no
 * such thing.
 */
int kofi_srx_setopt(struct kofi_srx *srx, int optname, const void *optval,
		    size_t optlen);

/**
 * kofi_srx_getopt() - Options of a receive side
 * @srx: the receive side
 * @optname: as kofi_srx_setopt()
 * @optval: as fi_getopt()
 * @optlen: as fi_getopt()
 *
 * Context: any.
 * Return: 0; -FI_ETOOSMALL; -ENOPROTOOPT: as kofi_srx_setopt().
 */
int kofi_srx_getopt(struct kofi_srx *srx, int optname, void *optval,
		    size_t *optlen);

/**
 * kofi_rx_len() - How many bytes of the message fit into the receive?
 * @rx: a receive that a message has taken
 *
 * The provider drops the rest of the message, comp.msg.olen bytes.
 *
 * Context: any.
 * Return: bytes.
 */
static inline size_t kofi_rx_len(const struct kofi_rx *rx)
{
	return rx->comp.comp.len;
}

/**
 * kofi_rx_buf() - Find the memory of a receive with one buffer
 * @rx: a receive that a message has taken
 *
 * Context: any.
 * Return: the address of kofi_rx_len() bytes; NULL: only kofi_rx_iter() finds them.
 */
static inline void *kofi_rx_buf(const struct kofi_rx *rx)
{
	const struct kofi_iov *iov = rx->buf ? &rx->buf->iov : &rx->iov;

	return iov->count == 1 && !iov->pages ? rx->comp.comp.buf : NULL;
}

/**
 * kofi_rx_iter() - Address the part of a receive that is to be filled
 * @rx: a receive that a message has taken
 * @offset: where the part begins in the message
 * @iter: set up for the rest of kofi_rx_len(), with ITER_DEST; for the next bytes of it if the
 *	client lends lists (kofi_iov_part())
 *
 * Context: any.
 */
void kofi_rx_iter(struct kofi_rx *rx, size_t offset, struct iov_iter *iter);

/**
 * kofi_rx_source() - Address the part of a receive that a peer reads
 * @rx: a receive from kofi_srx_take(), with FI_READ
 * @offset: as kofi_rx_iter()
 * @iter: as kofi_rx_iter(), with ITER_SOURCE
 *
 * Context: any.
 */
void kofi_rx_source(struct kofi_rx *rx, size_t offset, struct iov_iter *iter);

/**
 * kofi_rx_set_tag() - Give the completion of an untagged receive a tag
 * @rx: a receive that a message has taken
 * @tag: its tag
 *
 * Its completion has FI_TAGGED in the place of FI_MSG.
 *
 * Context: any.
 */
void kofi_rx_set_tag(struct kofi_rx *rx, u64 tag);

/**
 * kofi_rx_complete() - Report a receive
 * @rx: a receive that is filled, kofi_rx_len() bytes; from now on the engine's
 *
 * A message that was longer is reported with FI_ETRUNC.
 *
 * Context: any; @rx->ep stays until this returns.
 */
void kofi_rx_complete(struct kofi_rx *rx);

/* As kofi_rx_receive(), into a receive of any kind */
void kofi_rx_receive_any(struct kofi_rx *rx, struct kofi_ep *ep, const void *buf, size_t len);

/**
 * kofi_rx_receive() - Copy an untagged message from one buffer, and report it
 * @rx: from kofi_srx_take_plain()
 * @ep: the endpoint that the message has arrived at, whose queue has no taps; it stays until this
 *	returns
 * @buf: the message
 * @len: its bytes
 *
 * Context: any, with interrupts disabled; locks may be held.
 */
static inline void kofi_rx_receive(struct kofi_rx *rx, struct kofi_ep *ep, const void *buf,
				   size_t len)
{
	struct kofi_comp *comp = &rx->comp.comp;

	if (unlikely(!comp->buf || len > rx->iov.len ||
		     !(kofi_ep_flags(&ep->rx, rx->flags) & FI_COMPLETION))) {
		kofi_rx_receive_any(rx, ep, buf, len);
		return;
	}
	/* What kofi_rx_fill() does; flags and buffer are those of the post */
	rx->ep = ep;
	comp->op_context = kofi_ep_context(ep, &ep->rx, comp->op_context);
	comp->len = len;
	comp->data = 0;
	comp->error = 0;
	memcpy(comp->buf, buf, len);
	kofi_cq_complete_success(ep->rx.cq, comp);
	kofi_ep_count(ep, FI_MSG | FI_RECV, 0, len);
}

/**
 * kofi_rx_fail() - Report a receive whose message did not come to its end
 * @rx: a receive that a message has taken; from now on the engine's
 * @len: bytes of the message that have arrived
 * @err: positive error code
 * @prov_errno: the provider's code
 *
 * Context: as kofi_rx_complete().
 */
void kofi_rx_fail(struct kofi_rx *rx, size_t len, int err, int prov_errno);

/**
 * kofi_srx_release() - Take a completion back, for kofi_cq_ops.release
 * @comp: one for which kofi_comp_is_rx() is true; its next is gone afterwards
 *
 * Context: any.
 */
void kofi_srx_release(struct kofi_comp *comp);

/**
 * struct kofi_srx_ctx - A shared receive context
 * @kep: the common part
 * @srx: its receives
 */
struct kofi_srx_ctx {
	struct kofi_ep		kep;
	struct kofi_srx		srx;
};

/**
 * kofi_srx_ctx_open() - Open a ready-made shared receive context
 * @size: bytes of the provider's object, which begins with the context
 * @attr: what the client opens it with
 * @limits: of the endpoints that use it; they stay
 * @room: how much room it has; the provider has compared this with @attr
 * @ops: the provider's
 * @context: the client's pointer
 *
 * kep.ep is what the client sees; all its tables are set, with tagged receives.  Messages
 * arrive at @srx of the context.  Its ->close frees the object.
 *
 * Context: may sleep.
 * Return: the context, and zeroes behind it; an ERR_PTR: as kofi_ep_init_srx() and
 * kofi_srx_init().
 */
struct kofi_srx_ctx *kofi_srx_ctx_open(size_t size, const struct fi_rx_attr *attr,
				       const struct kofi_ep_limits *limits,
				       const struct kofi_srx_attr *room,
				       const struct kofi_srx_ops *ops,
				       void *context);

#endif /* _KOFI_SRX_H */
