/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of the state machine share: nodes, peers, transactions.
 */
#ifndef _KOFI_BULK_NODE_H
#define _KOFI_BULK_NODE_H

#include <linux/completion.h>
#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include "bulk.h"

#define BULK_MAGIC	0x6b6c7562
#define BULK_WORKERS	4	/* that read a queue at the same time */
#define BULK_REPLAY_MS	100

/**
 * enum bulk_type - Types of messages
 * @BULK_HELLO_REQ: answered by @BULK_HELLO_RSP
 * @BULK_HELLO_RSP: the peer knows the sender
 * @BULK_IMM_REQ: the bytes follow
 * @BULK_PUT_REQ: read the receive with the tag
 * @BULK_GET_REQ: write the receive with the tag
 */
enum bulk_type {
	BULK_HELLO_REQ	= 1,
	BULK_HELLO_RSP,
	BULK_IMM_REQ,
	BULK_PUT_REQ,
	BULK_GET_REQ,
};

/**
 * struct bulk_msg - A message
 * @magic: BULK_MAGIC
 * @addr: the sender's address
 * @net: the sender's net
 * @type: &enum bulk_type
 * @ctx: receive context of the sender where the tag is
 * @contexts: of the sender, in a hello
 * @seed: of the pattern
 * @fail: errno with which to refuse, or 0
 * @tag: of the sender's receive
 * @offset: of the first byte in its page
 * @len: bytes
 */
struct bulk_msg {
	__le32	magic;
	__le32	addr;
	__le16	net;
	u8	type;
	u8	ctx;
	u8	contexts;
	u8	seed;
	__le16	fail;
	__le32	tag;
	__le32	offset;
	__le32	len;
};

/**
 * enum bulk_state - Where a transaction is
 * @BULK_DONE: everything has completed; the state of a new one, too
 * @BULK_PLAIN: a message is sent that wants no answer
 * @BULK_ASKING: the request is sent, and the receive is posted
 * @BULK_WAITING: the request has been sent, the receive has not ended
 * @BULK_ANSWERED: the receive has ended, the request's completion is due
 * @BULK_CANCELLED: the receive has been cancelled and has not ended
 * @BULK_MOVING: the peer's receive is read or written
 * @BULK_TELLING: the peer's receive is ended
 * @BULK_STATES: how many there are
 */
enum bulk_state {
	BULK_DONE,
	BULK_PLAIN,
	BULK_ASKING,
	BULK_WAITING,
	BULK_ANSWERED,
	BULK_CANCELLED,
	BULK_MOVING,
	BULK_TELLING,
	BULK_STATES,
};

/**
 * struct bulk_mem - Pages, and the list of them
 * @count: pages
 * @page: the pages
 * @list: all bytes
 */
struct bulk_mem {
	int		count;
	struct page	*page[BULK_PAGES];
	struct bio_vec	list[BULK_PAGES];
};

/**
 * struct bulk_tn - A transaction
 * @entry: in bulk_lane.tns
 * @replay: in bulk_lane.replay, while a post has to be tried again
 * @lane: where
 * @peer: with whom
 * @kind: what it does
 * @target: the peer has begun it
 * @users: its owner, and those that work at it
 * @lock: guards @state and @err; held over posts and cancels
 * @state: where it is
 * @err: the first error, negative
 * @key: in bulk_lane.keys; 0: it has none
 * @tag: of the receive, at the initiator
 * @to: context of the peer
 * @seed: of the pattern
 * @fail: errno to tell the peer
 * @offset: of the first byte in its page
 * @len: bytes
 * @mem: bytes of a PUT or a GET
 * @done: completed at the end, at the initiator
 * @msg: to be sent, of BULK_MSG bytes
 * @msg_len: its bytes
 */
struct bulk_tn {
	struct list_head	entry;
	struct list_head	replay;
	struct bulk_lane	*lane;
	struct bulk_peer	*peer;
	enum bulk_kind		kind;
	bool			target;
	refcount_t		users;
	struct mutex		lock;	/* guards the next two */
	enum bulk_state		state;
	int			err;
	int			key;
	u32			tag;
	int			to;
	u8			seed;
	u16			fail;
	size_t			offset;
	size_t			len;
	struct bulk_mem		*mem;
	struct completion	done;
	struct bulk_msg		*msg;
	size_t			msg_len;
};

/**
 * struct bulk_buf - A buffer for messages
 * @lane: where it is posted
 * @mem: the bytes
 * @users: its post, and workers that look at a message in it
 * @again: try the post again
 */
struct bulk_buf {
	struct bulk_lane	*lane;
	void			*mem;
	atomic_t		users;
	struct delayed_work	again;
};

/**
 * struct bulk_reader - A worker that reads a queue
 * @work: the work
 * @cq: the queue
 */
struct bulk_reader {
	struct work_struct	work;
	struct bulk_cq		*cq;
};

/**
 * struct bulk_lane - What a node has for a context
 * @node: whose
 * @ep: the context
 * @take: held by a worker from reading an entry until it has noted that it uses a buffer
 * @readers: of the queues of receive and transmit context
 * @nr_readers: of each queue
 * @buf: buffers for messages
 * @lock: guards @tns and @replay
 * @tns: transactions
 * @replay: those with a post to be tried again
 * @retry: does so
 * @keys: lower bits of tags that are in use
 * @last_key: where the next search for one begins
 */
struct bulk_lane {
	struct bulk_node	*node;
	struct bulk_ep		*ep;
	struct mutex		take;	/* one at a time, see above */
	struct bulk_reader	readers[2][BULK_WORKERS];
	int			nr_readers;
	struct bulk_buf		buf[BULK_BUFS];
	spinlock_t		lock;	/* guards the lists */
	struct list_head	tns;
	struct list_head	replay;
	struct delayed_work	retry;
	struct ida		keys;
	atomic_t		last_key;
};

/**
 * struct bulk_peer - A peer
 * @entry: in bulk_node.peers
 * @addr: its address
 * @net: its net
 * @name: in the address vector
 * @contexts: how many it has; 0: it has not said hello
 * @hello: completed when it has
 */
struct bulk_peer {
	struct list_head	entry;
	u32			addr;
	u16			net;
	kfi_addr_t		name;
	int			contexts;
	struct completion	hello;
};

/**
 * struct bulk_node - An end
 * @ni: its objects
 * @wq: of all work
 * @stop: buffers are not posted any more
 * @session: upper bits of tags
 * @lock: guards @peers
 * @peers: &struct bulk_peer
 * @stats: what it has seen
 * @lane: of each context
 */
struct bulk_node {
	struct bulk_ni		ni;
	struct workqueue_struct	*wq;
	bool			stop;
	u16			session;
	struct mutex		lock;	/* guards peers */
	struct list_head	peers;
	struct bulk_stats	stats;
	struct bulk_lane	lane[BULK_MAX_CTXS];
};

/* mem.c */
void bulk_pattern_init(void);
struct bulk_mem *bulk_mem_new(size_t offset, size_t len);
void bulk_mem_free(struct bulk_mem *mem);
void bulk_mem_fill(struct bulk_mem *mem, u8 seed);
bool bulk_mem_is(const struct bulk_mem *mem, u8 seed);
void bulk_fill(u8 *buf, size_t len, size_t pos, u8 seed);
bool bulk_filled(const u8 *buf, size_t len, size_t pos, u8 seed);

/* tn.c */
struct bulk_tn *bulk_tn_new(struct bulk_lane *lane, struct bulk_peer *peer, enum bulk_kind kind,
			    bool target);
void bulk_tn_put(struct bulk_tn *tn);
void bulk_tn_begin(struct bulk_tn *tn, enum bulk_state state);
void bulk_tn_cancel(struct bulk_tn *tn);
/* A completion of a transaction; @err is positive */
void bulk_tn_event(struct bulk_tn *tn, u64 flags, u64 data, int err);
void bulk_lane_replay(struct bulk_lane *lane);

/* node.c */
struct bulk_peer *bulk_peer_get(struct bulk_node *node, u32 addr, u16 net);
void bulk_say_hello(struct bulk_node *node, struct bulk_peer *peer, enum bulk_type type);

/* rx.c */
int bulk_buf_post(struct bulk_buf *buf);
void bulk_buf_put(struct bulk_buf *buf);
void bulk_reader_run(struct work_struct *work);

#endif /* _KOFI_BULK_NODE_H */
