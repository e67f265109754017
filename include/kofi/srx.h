/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The receive side of a provider whose device does not match: posted receives, messages
 * that arrive, and messages that arrive before their receive.
 *
 * One engine serves an endpoint's own receives and a shared receive context.  It knows
 * no wire and moves no data:
 *
 *	kofi_srx_post()		a client's receive.  It is matched with a message that waits,
 *				or it is posted.
 *	kofi_srx_arrive()	a message is there.  It is matched with a posted receive, or
 *				it waits in an object of the provider's, or it has to wait
 *				outside (-EAGAIN).
 *	kofi_rx_iter()		where the provider puts the data of a matched message
 *	kofi_rx_complete()	reports the receive to the client
 *
 * A receive takes the oldest message that it matches, and a message takes the oldest
 * receive that it matches, whatever kinds of receives (exact tag or with bits to ignore,
 * from one sender or from any) there are.  So the messages of one sender take receives
 * in their order, as long as the provider brings them in their order.  Untagged and
 * tagged messages are two worlds.
 *
 * A buffer with FI_MULTI_RECV takes message after message.  Each has a completion of its
 * own, from a bounded pool; the last of them to complete has FI_MULTI_RECV and gives the
 * buffer back.  A message that does not fit into what is left gives the buffer back,
 * and takes the next receive; if all messages of the buffer have completed by then, the
 * buffer comes back with a completion that has no flag but FI_MULTI_RECV.
 *
 * Nothing is allocated after kofi_srx_init().  What runs short is back-pressure: of
 * receives, for the poster, whose ready callback is due when one is back (kofi_ep_room());
 * of anything else, for the provider (ops->resume()).
 *
 * What is matched belongs to the provider until it has called kofi_rx_complete() or
 * kofi_rx_fail().  No call of the client and no end of the context touches it before.
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
 * struct kofi_srx_key - What receives and messages are looked up by
 * @tag: the tag; 0 of what is untagged; the claimer's context
 * @src: sender, or FI_ADDR_UNSPEC: any
 * @kind: tagged, untagged or claimed
 * @hash: of all this
 */
struct kofi_srx_key {
	u64			tag;
	fi_addr_t		src;
	u32			kind;
	u32			hash;
};

/**
 * struct kofi_srx_link - Place in a table
 * @key: what it is looked up by
 * @node: in a bucket, if it is the oldest that has the key
 * @same: ring of all that have the key, oldest first
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
 * @src_addr: sender, for receives that name theirs (kofi_av_find()); FI_ADDR_NOTAVAIL:
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
 * The provider embeds it in an object of its own, which it leaves alone from
 * KOFI_SRX_QUEUED until ops->start(), ops->discard() or kofi_srx_withdraw().  @what is
 * the provider's to read at any time; the rest is the engine's.
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
 * @discard: a waiting message will not be received: the client said so, or its endpoint is
 *	being closed
 * @resume: kofi_srx_arrive() has answered -EAGAIN, and it is worth trying again, or will
 *	answer otherwise now; at most once for each -EAGAIN, and once for all that have
 *	been answered so until then.  May come before kofi_srx_arrive() has returned.
 *
 * @sender: whom receives call the sender of a message whose kofi_srx_arrival.src_addr was
 *	unknown, now: the client may have inserted its address meanwhile.  The message waits,
 *	or is the one that kofi_srx_arrive() was called with; the lock of the engine is held.
 *	NULL: no sender becomes known later
 *
 * But for @sender all of them must be there.  They are called in any context, with no lock
 * of the engine held but for @sender, and must not sleep.
 */
struct kofi_srx_ops {
	void	(*start)(struct kofi_rx *rx, struct kofi_srx_msg *msg);
	void	(*discard)(struct kofi_srx_msg *msg);
	void	(*resume)(struct kofi_srx *srx);
	fi_addr_t (*sender)(const struct kofi_srx_msg *msg);
};

/**
 * struct kofi_srx_attr - What a receive side has room for
 * @size: receives that are posted or have not been read (fi_rx_attr.size)
 * @iov_limit: elements of the list of a receive
 * @max_msgs: messages that may wait for their receive; 0: none
 * @multi: messages of buffers with FI_MULTI_RECV that are in transfer or have not been
 *	read; 0: there are no such buffers
 * @min_multi_recv: initial value of FI_OPT_MIN_MULTI_RECV
 * @directed: receives may name their sender (FI_DIRECTED_RECV); otherwise the address of
 *	a receive is ignored
 */
struct kofi_srx_attr {
	u32			size;
	u32			iov_limit;
	u32			max_msgs;
	u32			multi;
	size_t			min_multi_recv;
	bool			directed;
};

/**
 * struct kofi_srx_table - What can be looked up by key
 * @heads: buckets
 * @mask: number of buckets - 1, which is a power of two
 */
struct kofi_srx_table {
	struct hlist_head	*heads;
	u32			mask;
};

/**
 * struct kofi_srx - The receive side; the provider embeds it in its own
 * @ep: endpoint or shared receive context that receives are posted to
 * @ops: the provider's
 * @lock: guards what follows up to @limit, the receives that are posted, the messages that
 *	wait, and kofi_ep.rx_msgs and .rx_left; taken with interrupts off
 * @receives: posted receives without bits to ignore
 * @messages: messages that wait
 * @wild: posted receives with bits to ignore, oldest first
 * @posted: all posted receives, oldest first
 * @deferred: younger receives, which have not seen all messages that wait, oldest first
 * @order: tagged messages that wait and are not claimed, oldest first
 * @strangers: messages that wait and whose sender is unknown, oldest first, if receives may
 *	name their sender
 * @next_seq: number of the next receive that is posted
 * @compared: keys and tags that have been compared, which is the cost of matching
 * @nposted: receives in @posted and @deferred
 * @ndirected: receives in @receives that name their sender
 * @nmsgs: messages that wait
 * @stalled: what the provider waits for after -EAGAIN
 * @ended: nothing is posted or arrives any more
 * @min_multi_recv: FI_OPT_MIN_MULTI_RECV
 * @limit: FI_OPT_SRX_LIMIT
 * @limit_event: FI_SRX_LIMIT, for the event queue of @ep
 * @size: receives there are
 * @iov_limit: elements of the list of a receive
 * @max_msgs: most messages that wait
 * @directed: receives may name their sender
 * @secret: keeps a peer from choosing tags with one hash
 * @pool: &struct kofi_rx for receives
 * @multi: &struct kofi_rx for messages of buffers with FI_MULTI_RECV
 */
struct kofi_srx {
	struct kofi_ep			*ep;
	const struct kofi_srx_ops	*ops;
	spinlock_t			lock; /* see above */
	struct kofi_srx_table		receives;
	struct kofi_srx_table		messages;
	struct list_head		wild;
	struct list_head		posted;
	struct list_head		deferred;
	struct list_head		order;
	struct list_head		strangers;
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
 * @pool: where it came from
 * @ep: endpoint that it completes for
 * @buf: of a message: the buffer that it goes into; else NULL
 * @offset: of a message: where it begins there
 * @flags: of the client's call
 * @ignore: bits of the tag that do not count
 * @seq: it is older than all that have a larger number
 * @link: in the table of receives, or in kofi_srx.wild
 * @linked: it is in one of them
 * @entry: in kofi_srx.posted or .deferred
 * @used: of a buffer: bytes that messages have taken
 * @min_left: of a buffer: it takes no more when less than that is left
 * @nmsgs: of a buffer: messages in transfer
 * @spent: of a buffer: it takes no more
 * @order: of a buffer: keeps the completions of its messages in order
 * @iov: the client's list, with room for kofi_srx.iov_limit elements
 *
 * The provider may read @comp and @ep from the match to the completion; the rest is the
 * engine's.
 */
struct kofi_rx {
	struct kofi_msg_comp	comp;
	struct kofi_srx		*srx;
	struct kofi_bufpool	*pool;
	struct kofi_ep		*ep;
	struct kofi_rx		*buf;
	size_t			offset;
	u64			flags;
	u64			ignore;
	u64			seq;
	struct kofi_srx_link	link;
	bool			linked;
	struct list_head	entry;
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
 * @attr: what there is to be room for
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
 * kofi_srx_destroy() - The end of a receive side
 * @srx: every endpoint that received here has left and has been purged from its queue
 *
 * Receives that are still posted, as those of a shared receive context may be, are the
 * client's again without a completion.  An FI_SRX_LIMIT that was not read is withdrawn.
 *
 * Context: may sleep.
 */
void kofi_srx_destroy(struct kofi_srx *srx);

/**
 * kofi_srx_post() - Post a receive
 * @srx: the receive side
 * @op: KOFI_OP_RECV or KOFI_OP_TRECV, which the endpoint has (kofi_op_check())
 *
 * Flags of @op besides FI_COMPLETION, and FI_MORE, which means nothing here::
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
ssize_t kofi_srx_post(struct kofi_srx *srx, const struct kofi_op *op);

/* What kofi_srx_arrive() has done */
#define KOFI_SRX_MATCHED	0
#define KOFI_SRX_QUEUED		1

/**
 * kofi_srx_arrive() - Find the receive for a message
 * @srx: where the endpoint receives
 * @what: the message
 * @msg: where it may wait for its receive, or NULL: it waits outside
 * @rx: the receive, which is the provider's until kofi_rx_complete() or kofi_rx_fail()
 *
 * After -EAGAIN the provider brings no later message of that sender before this one.  To
 * lose no call of ops->resume(), it makes its wish to be called known before it calls for
 * the last time.
 *
 * Context: any.
 * Return: KOFI_SRX_MATCHED: with @rx, and @msg is untouched; KOFI_SRX_QUEUED: @msg waits;
 * -EAGAIN: there is no receive, and @msg is NULL or kofi_srx_attr.max_msgs wait already, or
 * the receive has FI_MULTI_RECV and kofi_srx_attr.multi messages are unread; -ESHUTDOWN:
 * after kofi_srx_flush(), or kofi_srx_leave() of the endpoint.
 */
int kofi_srx_arrive(struct kofi_srx *srx, const struct kofi_srx_arrival *what,
		    struct kofi_srx_msg *msg, struct kofi_rx **rx);

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
 * kofi_srx_cancel() - Take a receive back (fi_cancel())
 * @srx: the receive side
 * @context: of the receive
 *
 * The oldest posted receive with that context ends with FI_ECANCELED, or without a
 * completion if the context is shared, which has no queue.  A buffer with FI_MULTI_RECV
 * that messages are in transfer to takes no more, and comes back with the last of these.
 * Receives that have taken a message, and claimed messages, stay.
 *
 * Context: any.  Walks over the receives that were posted before.
 * Return: 0; -ENOENT: no such receive, or no @context.
 */
int kofi_srx_cancel(struct kofi_srx *srx, void *context);

/**
 * kofi_srx_flush() - Nothing is received any more
 * @srx: the receive side of one endpoint, whose close or end of connection this is
 * @err: positive error code
 *
 * Posted receives complete with @err, in order; a buffer with FI_MULTI_RECV that messages
 * are in transfer to comes back with the last of these.  Waiting messages are discarded.
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
 * will come; what has been matched is the provider's, to complete before it purges the
 * queue.
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
 * FI_SRX_LIMIT, and the limit is 0 again; if there are fewer already, that is at once.
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
 * kofi_rx_len() - How many bytes of the message have room?
 * @rx: a receive that a message has taken
 *
 * What comes behind them, comp.msg.olen bytes, the provider drops.
 *
 * Context: any.
 * Return: bytes.
 */
static inline size_t kofi_rx_len(const struct kofi_rx *rx)
{
	return rx->comp.comp.len;
}

/**
 * kofi_rx_iter() - Address what is to be filled
 * @rx: a receive that a message has taken
 * @offset: bytes of the message that are in front
 * @iter: set up for the rest of kofi_rx_len(), with ITER_DEST
 *
 * Context: any.
 */
void kofi_rx_iter(const struct kofi_rx *rx, size_t offset,
		  struct iov_iter *iter);

/**
 * kofi_rx_complete() - Report a receive
 * @rx: a receive that is filled, kofi_rx_len() bytes; from now on the engine's
 *
 * A message that was longer is reported with FI_ETRUNC.
 *
 * Context: any; @rx->ep stays until this returns.
 */
void kofi_rx_complete(struct kofi_rx *rx);

/**
 * kofi_rx_complete_here() - Report a receive in the context of its queue
 * @rx: as kofi_rx_complete()
 *
 * As kofi_cq_complete_here(), but for messages of buffers with FI_MULTI_RECV, which are
 * reported as by kofi_rx_complete().
 *
 * Context: what fi_cq_attr.comp_ctx of the endpoint's queue asks for; no lock is held.
 */
void kofi_rx_complete_here(struct kofi_rx *rx);

/**
 * kofi_rx_fail() - Report a receive whose message did not come to its end
 * @rx: a receive that a message has taken; from now on the engine's
 * @len: bytes that are there
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
 * kofi_srx_ctx_open() - A shared receive context that the provider has little to add to
 * @size: bytes of the provider's object, which begins with the context
 * @attr: what the client opens it with
 * @limits: of the endpoints that use it; they stay
 * @room: what there is to be room for; the provider has compared it with @attr
 * @ops: the provider's
 * @context: the client's pointer
 *
 * kep.ep is the client's; all its tables are there, tagged receives among them.  Messages
 * arrive at the receive side.  Its ->close frees the object.
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
