/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kofi_rxm: reliable datagrams (FI_EP_RDM) over any provider of connected endpoints, on
 * the wire of libfabric's rxm (wire.h).
 *
 * kofi/soft.h has what the upper objects share with those of other software providers.  Below
 * it this provider is a client: all that it opens there belongs to it.
 *
 *	rxm_fabric	has a lower fabric (main.c)
 *	rxm_domain	has a lower domain (main.c)
 *	rxm_ep		an endpoint; has a lower passive endpoint and event queue (ep.c)
 *	rxm_peer	an address that the endpoint sends to, or hears from (cm.c)
 *	rxm_mr		a region; has a lower region (mr.c)
 *	rxm_conn	a connection with a peer: a lower endpoint, its completion queues and
 *			buffers (conn.c), and what it may send (credit.c)
 *	rxm_op		an operation (op.c, tx.c, rma.c, offer.c, atomic.c)
 *	rxm_unexp	a message that has come before its receive (unexp.c), also if its connection
 *			is over (rest.c)
 *
 * The call of a client sends what it posts, if the peer is connected (rxm_now()).  The completion
 * of a packet sends what had to wait for it.  An endpoint has two work items for the rest.
 * kofi_soft_ep.work moves data: it makes peers, sends what may sleep, answers, and delivers
 * messages that have waited for their receive.  rxm_ep.cm makes all control calls of lower objects:
 * it takes events, dials, accepts, and closes.  So a lower endpoint that takes long to open or to
 * close delays no transfer of another one, and control calls need no lock.  The handler of a lower
 * completion queue delivers what comes, in softirq, in the run that the lower provider reports it
 * in.
 *
 * Locks, from the outside to the inside:
 *
 *	rxm_lock		mutex of kofi/soft.h; no lower call is made under it
 *	rxm_conn.rx_lock	whether a task deals with what has come
 *	kofi_soft_ep.lock	all that work items and callbacks share: the table of peers, their
 *				operations and connections, buffers, unexpected messages
 *
 * No lock is held across a call of the lower provider, or of the engine of kofi/srx.h.
 *
 * References (kofi_soft_ep.users): a connection and an unexpected message have one of the endpoint
 * each.
 */
#ifndef _KOFI_RXM_H
#define _KOFI_RXM_H

#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/rhashtable-types.h>
#include <linux/sizes.h>
#include <linux/uio.h>
#include <linux/workqueue.h>
#include <kofi/addr.h>
#include <kofi/av.h>
#include <kofi/param.h>
#include <kofi/peer.h>
#include <kofi/provider.h>
#include <kofi/soft.h>
#include <kofi/source.h>
#include <kofi/srx.h>
#include "wire.h"

#define RXM_NAME		"ofi_rxm"
#define RXM_VERSION		FI_VERSION(0, 1)

#define RXM_MR_MODE		(FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)
#define RXM_MAX_MSG		SZ_1G
#define RXM_MANY		65536	/* reported where only memory is the limit */
#define RXM_DEF_QUEUE		128	/* operations of a queue */
#define RXM_MAX_QUEUE		16384
#define RXM_MIN_MULTI		64	/* FI_OPT_MIN_MULTI_RECV, bytes */

#define RXM_TX			8	/* packets of a connection that are being sent */
#define RXM_READS		4	/* reads of a connection that are in flight */
#define RXM_RMAS		16	/* and those of the client, with its writes */
#define RXM_WRITES		16	/* messages of a connection that the peer may write */
#define RXM_UNWANTED		64	/* messages of peers that nobody wants, to be answered */
#define RXM_READ_MAX		SZ_1M	/* bytes of a read */
#define RXM_RX			16	/* receives of a connection */
#define RXM_ATOMICS		(RXM_RX / 2)	/* atomic operations of a connection */
/* Every receive may become a response, and there may be a grant */
#define RXM_LOWER_TX		(RXM_TX + RXM_READS + RXM_RMAS + RXM_RX + 1)
#define RXM_SAR_MAX		8	/* eager limits: above, messages are offered */
#define RXM_EVENTS		64	/* its writes with data that are unread below */
#define RXM_SARS		16	/* segmented messages that a peer may send at a time */
#define RXM_CONNS		4096	/* connections of an endpoint that peers have made */
#define RXM_ADDRESS_CONNS	1024	/* of these, those from one address */
#define RXM_DIALS		64	/* connections that an endpoint makes at a time */
#define RXM_DIAL_MS		10000	/* until a peer that is not reached is given up */
#define RXM_TICK		(HZ / 20)
#define RXM_WATCH		HZ	/* between two looks at what has to end */
#define RXM_REQUESTS		1024	/* requests that wait to be answered */
#define RXM_BUDGET		64	/* packets, or events, between two looks at the rest */
#define RXM_BATCH		8	/* completions that are read at a time, up to RXM_RX */

#define RXM_UNEXP_MSGS		512	/* unexpected messages that an endpoint keeps */
#define RXM_UNEXP_BYTES		SZ_16M	/* and their bytes */
#define RXM_UNEXP_PEER_MSGS	64	/* those of a connection */
#define RXM_UNEXP_PEER_BYTES	SZ_1M	/* and their bytes */
#define RXM_UNEXP_MAX		SZ_128K	/* bytes of an unexpected message that is kept */
#define RXM_UNEXP_WAIT		8192	/* unexpected messages, kept or in their buffers */

struct rxm_conn;
struct rxm_ep;

/**
 * struct rxm_fabric - A fabric
 * @soft: the common part
 * @lower: the fabric of the lower provider
 * @name: name of the lower provider
 */
struct rxm_fabric {
	struct kofi_soft_fabric	soft;
	struct fid_fabric	*lower;
	char			name[FI_NAME_MAX];
};

/**
 * struct rxm_domain - A domain
 * @soft: the common part
 * @lower: the domain of the lower provider
 * @mr_mode: of @lower
 * @protocol: of its endpoints
 * @credits: connections count credits
 * @has_gone: an RDMA device, and it has gone
 * @gone: ends the completion queues of endpoints then (main.c)
 */
struct rxm_domain {
	struct kofi_soft_domain	soft;
	struct fid_domain	*lower;
	int			mr_mode;
	u32			protocol;
	bool			credits;
	bool			has_gone;
	struct work_struct	gone;
};

/**
 * struct rxm_list - A list of local buffers: a copy
 * @count: elements
 * @len: their bytes
 * @pages: the elements are @bvec
 * @kvec: kernel addresses
 * @bvec: pages
 */
struct rxm_list {
	u32			count;
	size_t			len;
	bool			pages;
	union {
		struct kvec	kvec[KOFI_OP_IOV];
		struct bio_vec	bvec[KOFI_OP_IOV];
	};
};

/**
 * struct rxm_regs - Lower regions that a peer reads from, or writes to
 * @mrs: the regions
 * @lens: bytes of each
 * @count: how many
 * @copy: memory of the only region if the buffers could not be registered, or NULL
 */
struct rxm_regs {
	struct fid_mr		*mrs[RXM_WIRE_IOV];
	size_t			lens[RXM_WIRE_IOV];
	int			count;
	void			*copy;
};

/**
 * struct rxm_op - An operation
 * @soft: the common part
 * @sent: bytes that have been sent, or read
 * @packets: of its packets or pieces, those that are being sent, and one more until the last one
 *	is; guarded by kofi_soft_ep.lock, as the next one
 * @err: why one of them has failed, positive
 * @begun: one of them has been posted
 * @msg_id: identity of a message in segments or on offer, or of an atomic operation
 * @since: jiffies when the request of an atomic operation was sent
 * @iter: local buffers of a read or a write, from @sent on
 * @prepared: it has been decided whether the message is offered
 * @regs: regions of an offered message; none: the message is not offered
 * @is_asked: the peer wants the offered message written; guarded by kofi_soft_ep.lock
 * @asked: so many bytes of it
 */
struct rxm_op {
	struct kofi_soft_op	soft;
	size_t			sent;
	unsigned int		packets;
	int			err;
	bool			begun;
	u64			msg_id;
	unsigned long		since;
	struct iov_iter		iter;
	bool			prepared;
	struct rxm_regs		regs;
	bool			is_asked;
	size_t			asked;
};

/**
 * struct rxm_buf - A buffer for one packet
 * @done: its completion, of a buffer to send, and of a response
 * @conn: where it belongs
 * @entry: of a buffer to send: in rxm_conn.free; of one to receive: in rxm_conn.responses
 * @op: operation that is being sent
 * @len: bytes that have been received, or of a response
 * @hdr: the packet
 */
struct rxm_buf {
	struct fi_done		done;
	struct rxm_conn		*conn;
	struct list_head	entry;
	struct rxm_op		*op;
	size_t			len;
	struct rxm_wire_hdr	*hdr;
};

/**
 * struct rxm_unexp - A message that has come before its receive
 * @msg: its place in the engine of kofi/srx.h
 * @ep: endpoint that it has come to; with a reference if the message is kept
 * @addr: its sender
 * @conn: connection whose next packet is the message; NULL: the message is kept
 * @entry: in rxm_ep.settled
 * @rx: receive that takes it; NULL: nobody wants it
 * @settled: @rx has been decided; guarded by kofi_soft_ep.lock, as @rx and the next one
 * @whole: all of it has come, or is at its sender
 * @rndv: it is at its sender, and @data is a &struct rxm_wire_rndv
 * @msg_id: identity of a message that is at its sender
 * @counted: connection that it counts for; guarded by kofi_soft_ep.lock; NULL: it has ended
 * @source: address that it counts for, with a reference
 * @of_conn: in rxm_conn.kept; or in rxm_ep.orphans
 * @since: of one in rxm_ep.orphans: jiffies when its connection ended
 * @data: its payload, if it is kept
 * @len: bytes at @data
 */
struct rxm_unexp {
	struct kofi_srx_msg	msg;
	struct rxm_ep		*ep;
	struct sockaddr_storage	addr;
	struct rxm_conn		*conn;
	struct list_head	entry;
	struct kofi_rx		*rx;
	bool			settled;
	bool			whole;
	bool			rndv;
	u64			msg_id;
	struct rxm_conn		*counted;
	struct kofi_source	*source;
	struct list_head	of_conn;
	unsigned long		since;
	void			*data;
	size_t			len;
};

/**
 * struct rxm_sar - A message of which segments are to come
 * @used: there is one
 * @msg_id: its identity
 * @size: its bytes
 * @have: of these, bytes that have come
 * @next: number of the next segment
 * @since: jiffies when the last one has come, not 0; 0: @used is false
 * @begun: jiffies when the first one has come
 * @rx: receive that takes it, or NULL
 * @unexp: where it is kept, as its receive is to come; both NULL: nobody wants it
 */
struct rxm_sar {
	bool			used;
	u64			msg_id;
	u64			size;
	u64			have;
	u32			next;
	unsigned long		since;
	unsigned long		begun;
	struct kofi_rx		*rx;
	struct rxm_unexp	*unexp;
};

/**
 * struct rxm_rndv - A message that is read from its sender, or that its sender writes
 * @entry: in rxm_conn.rndvs; when all has been read in rxm_conn.answers; or in a list of writes.c
 * @rx: receive that takes it; NULL: nobody wants it
 * @msg_id: identity that the answer repeats
 * @wire: where the message is
 * @size: bytes that are read
 * @issued: of these, bytes of reads that have begun
 * @reads: reads that are in flight; guarded by kofi_soft_ep.lock, as the next one
 * @failed: one has failed
 * @regs: where the sender writes
 * @since: jiffies when its first read began, or when the peer was asked to write
 * @before: rxm_conn.read_bytes then
 * @turns: message_timeouts that it has beyond one, as there is much to be written
 */
struct rxm_rndv {
	struct list_head	entry;
	struct kofi_rx		*rx;
	u64			msg_id;
	struct rxm_wire_rndv	wire;
	size_t			size;
	size_t			issued;
	unsigned int		reads;
	bool			failed;
	struct rxm_regs		regs;
	unsigned long		since;
	u64			before;
	unsigned int		turns;
};

/**
 * struct rxm_read - A read
 * @done: its completion
 * @conn: where it belongs
 * @rndv: what is read; NULL: the slot is free.  Guarded by kofi_soft_ep.lock
 * @len: bytes of it
 */
struct rxm_read {
	struct fi_done		done;
	struct rxm_conn		*conn;
	struct rxm_rndv		*rndv;
	size_t			len;
};

/**
 * struct rxm_rma - A piece of a read or a write of the client
 * @done: its completion
 * @conn: where it belongs
 * @entry: in rxm_conn.rmas_free
 * @op: the operation
 */
struct rxm_rma {
	struct fi_done		done;
	struct rxm_conn		*conn;
	struct list_head	entry;
	struct rxm_op		*op;
};

/**
 * struct rxm_credits - The packets that either end of a connection may send; guarded by
 *	kofi_soft_ep.lock
 * @on: both ends count them
 * @left: packets that the peer takes, beyond one for each buffer in rxm_conn.free
 * @most: receives of the peer
 * @spare: &struct rxm_buf that may be sent when there is a credit
 * @given: packets that the peer may send
 * @due: receives that have been posted, and that the peer does not know of
 * @heard: the peer has sent a packet
 * @busy: @grant is being sent
 * @grant: buffer for RXM_WIRE_CREDIT
 * @hdr: its packet
 */
struct rxm_credits {
	bool			on;
	u64			left;
	u32			most;
	struct list_head	spare;
	u32			given;
	u32			due;
	bool			heard;
	bool			busy;
	struct rxm_buf		grant;
	struct rxm_wire_hdr	hdr;
};

/**
 * enum rxm_conn_state - State of a connection
 * @RXM_DIALLING: fi_connect() has been called
 * @RXM_ACCEPTING: fi_accept() has been called
 * @RXM_OPEN: it stands
 * @RXM_OVER: it has ended, or will in this run of rxm_ep.cm
 */
enum rxm_conn_state {
	RXM_DIALLING,
	RXM_ACCEPTING,
	RXM_OPEN,
	RXM_OVER,
};

/**
 * struct rxm_conn - A connection
 * @ep: endpoint that it belongs to, with a reference
 * @peer: the other end; NULL: it is the accepting end of one from the endpoint itself, or over;
 *	guarded by kofi_soft_ep.lock
 * @addr: address of the other end
 * @source: what counts for that address, with a reference
 * @entry: in rxm_ep.conns
 * @rcu: frees the connection, which rxm_credit_stat() may look at until then
 * @state: written by rxm_ep.cm with kofi_soft_ep.lock held
 * @accepted: the other end has dialled
 * @err: why it is to end, positive; guarded by kofi_soft_ep.lock, as the next three
 * @broken: in rxm_ep.broken
 * @opened: jiffies when it has begun to stand; only rxm_ep.cm uses this
 * @used: an operation has begun to be sent
 * @can_leave: this end has dialled, and the other one answers RXM_WIRE_LEAVE
 * @leaving: RXM_WIRE_LEAVE is due, or has been sent: operations wait; guarded by
 *	kofi_soft_ep.lock, as the next five
 * @leave_due: it is to be sent
 * @stay_due: RXM_WIRE_STAY is to be sent
 * @grant_due: RXM_WIRE_CREDIT is to be sent, and there is a credit for it
 * @idle_since: jiffies when the connection was seen in use, or has begun to leave
 * @idle_seen: what rxm_idle_use() was then
 * @sent: packets that have been posted, and writes with remote CQ data; the task that sends counts
 * @moved: pieces of reads and writes of the client that have been posted; as @sent
 * @moved_asked: @moved when the peer has asked the last time
 * @taken: packets, and writes with remote CQ data, that have been dealt with; the task that deals
 *	with them counts
 * @users: calls of lower objects that are under way, but for those in its callbacks
 * @unused: completed when @users becomes 0 and the connection is over
 * @lower: the lower endpoint
 * @cq: its completion queue for what is sent, which calls back
 * @rx_cq: that for what comes, which is read, so that what is not read waits at the peer
 * @id: what packets to this end have to name
 * @peer_id: what packets to the other end name
 * @pid: incarnation of the other end
 * @tx: buffers to send
 * @rx: receives
 * @free: &struct rxm_buf that may be sent; guarded by kofi_soft_ep.lock
 * @credits: what may be sent besides, if the lower provider has no FI_RM_ENABLED
 * @ready: in rxm_ep.ready
 * @sending: operation of which packets are to be sent; guarded by kofi_soft_ep.lock, as the next
 *	two
 * @tx_busy: a task sends (tx.c)
 * @tx_again: it has to look again
 * @msg_id: identity of the last message that was sent in segments or offered, or of the last
 *	atomic operation
 * @offered: struct kofi_soft_op that the peer has been offered; guarded by kofi_soft_ep.lock, as
 *	the next four
 * @read: those that it has read
 * @asked: those that it wants written
 * @writing: those whose writes have been posted
 * @wrote: those that have been written, of which it is to know
 * @atomics: struct kofi_soft_op, of atomic operations that wait for a response; guarded by
 *	kofi_soft_ep.lock, as the next two
 * @natomics: how many
 * @responses: &struct rxm_buf that are to be sent as responses
 * @rmas: pieces of reads and writes of the client
 * @rmas_free: those that are free; guarded by kofi_soft_ep.lock
 * @reads: reads
 * @nreads: how many of @reads are in flight; guarded by kofi_soft_ep.lock, as the next four
 * @read_since: jiffies when the last of them has completed, or the first has begun
 * @read_bytes: bytes of those that have completed
 * @rndvs: &struct rxm_rndv
 * @answers: &struct rxm_rndv that are to be answered
 * @writes: &struct rxm_rndv that the peer is to write; guarded by kofi_soft_ep.lock, as the next
 *	four
 * @invites: those that it is to be asked for
 * @invited: those that it writes
 * @written: those that it has written
 * @nwrites: how many there are in the last three, and on their way there
 * @to_write: messages in @asked, @writing, @wrote, @writes, @invites and @written, and on their
 *	way; guarded by kofi_soft_ep.lock
 * @page_iov: pages of vmalloc memory that a read may have
 * @rx_lock: guards the next three; taken with interrupts off
 * @rx_busy: a task deals with what has come
 * @rx_again: that task has to look again
 * @rx_broken: nothing more is dealt with
 * @entries: completions that have been read; only the task that deals with them uses these, the
 *	next two and @head_waits
 * @nentries: how many
 * @next_entry: the first of them that has not been dealt with
 * @stuck: the next packet has to wait; read by rxm_ep.cm, as the next one
 * @resumed: jiffies when a packet that had to wait has been dealt with
 * @stalled: in rxm_ep.stalled, if the next packet may find a receive now, or room
 * @head: the next packet, if it is a message that waits for its receive in its buffer
 * @head_waits: @head is in use
 * @sars: segmented messages; used as @head_waits, and read by rxm_ep.cm
 * @nsars: how many
 * @kept: &struct rxm_unexp; guarded by kofi_soft_ep.lock, as the next one
 * @quota: room that they take; it waits if the next packet has found none
 */
struct rxm_conn {
	struct rxm_ep		*ep;
	struct rxm_peer		*peer;
	struct sockaddr_storage	addr;
	struct kofi_source	*source;
	struct list_head	entry;
	struct rcu_head		rcu;
	enum rxm_conn_state	state;
	bool			accepted;
	int			err;
	struct list_head	broken;
	unsigned long		opened;
	bool			used;
	bool			can_leave;
	bool			leaving;
	bool			leave_due : 1;
	bool			stay_due : 1;
	bool			grant_due : 1;
	unsigned long		idle_since;
	u64			idle_seen;
	u64			sent;
	u64			moved;
	u64			moved_asked;
	u64			taken;
	unsigned int		users;
	struct completion	unused;
	struct fid_ep		*lower;
	struct fid_cq		*cq;
	struct fid_cq		*rx_cq;
	u32			id;
	u32			peer_id;
	u32			pid;
	struct rxm_buf		tx[RXM_TX];
	struct rxm_buf		rx[RXM_RX];
	struct list_head	free;
	struct rxm_credits	credits;
	struct list_head	ready;
	struct rxm_op		*sending;
	bool			tx_busy;
	bool			tx_again;
	u64			msg_id;
	struct list_head	offered;
	struct list_head	read;
	struct list_head	asked;
	struct list_head	writing;
	struct list_head	wrote;
	struct list_head	atomics;
	unsigned int		natomics;
	struct list_head	responses;
	struct rxm_rma		rmas[RXM_RMAS];
	struct list_head	rmas_free;
	struct rxm_read		reads[RXM_READS];
	unsigned int		nreads;
	unsigned long		read_since;
	u64			read_bytes;
	struct list_head	rndvs;
	struct list_head	answers;
	struct list_head	writes;
	struct list_head	invites;
	struct list_head	invited;
	struct list_head	written;
	unsigned int		nwrites;
	unsigned int		to_write;
	size_t			page_iov;
	spinlock_t		rx_lock;	/* see above */
	bool			rx_busy;
	bool			rx_again;
	bool			rx_broken;
	struct fi_cq_tagged_entry entries[RXM_RX];
	unsigned int		nentries;
	unsigned int		next_entry;
	bool			stuck;
	unsigned long		resumed;
	struct list_head	stalled;
	struct rxm_unexp	head;
	bool			head_waits;
	struct rxm_sar		sars[RXM_SARS];
	unsigned int		nsars;
	struct list_head	kept;
	struct kofi_quota_conn	quota;
};

/**
 * struct rxm_peer - A peer; there as long as it has a connection or operations
 * @node: in rxm_ep.peers
 * @key: its address
 * @addr: its address in the form of sockets
 * @posted: struct kofi_soft_op to be sent; guarded by kofi_soft_ep.lock
 * @conn: its connection, or NULL; written by rxm_ep.cm with kofi_soft_ep.lock held
 * @entry: in rxm_ep.unsettled, if it is to have a connection; guarded by kofi_soft_ep.lock
 * @redial: attempts to connect that have failed in a row, or led to a connection that ended before
 *	it was of use; only rxm_ep.cm uses it
 * @rcu: frees it
 */
struct rxm_peer {
	struct rhash_head	node;
	struct kofi_peer_key	key;
	struct sockaddr_storage	addr;
	struct list_head	posted;
	struct rxm_conn		*conn;
	struct list_head	entry;
	struct kofi_redial	redial;
	struct rcu_head		rcu;
};

/**
 * struct rxm_ep - An endpoint
 * @soft: the common part
 * @info: what lower endpoints are opened with
 * @pep: where peers connect to
 * @eq: events of lower objects
 * @name: its address
 * @pid: its incarnation
 * @data_mask: bits that remote CQ data have
 * @errors_end_conn: a read or write that fails is the end of its connection
 * @credits: connections count credits
 * @next_id: of the next connection
 * @cm: see the top; all that follows up to @gone is used by @cm only
 * @conns: &struct rxm_conn; changed with kofi_soft_ep.lock held, and read under RCU, too
 * @nconns: how many of these were accepted
 * @dialling: how many of these have been dialled and do not stand
 * @watch_next: jiffies when rxm_watch() looks at the connections again
 * @watch: runs @cm then; of its own, so that it does not put off what @cm has to do for a peer
 * @gone: the lower device has gone
 * @peers: &struct rxm_peer; changed with kofi_soft_ep.lock held
 * @unsettled: &struct rxm_peer that are to have a connection; guarded by kofi_soft_ep.lock, as all
 *	that follows but @flushed
 * @broken: &struct rxm_conn that are to end
 * @ready: &struct rxm_conn that may send
 * @stalled: &struct rxm_conn whose next packet may find a receive, or room
 * @orphans: &struct rxm_unexp, kept as a whole, whose connections have ended, the oldest first
 * @settled: &struct rxm_unexp that are to be delivered or dropped
 * @unexp: free &struct rxm_unexp
 * @sources: addresses of peers, see kofi/source.h
 * @quota: room of kept messages
 * @watched: something has begun that has to end, see rxm_watch_begin()
 * @rndv: free &struct rxm_rndv: one for each receive, and RXM_UNWANTED
 * @flushed: receives and operations have been flushed; only kofi_soft_ep.work uses it
 */
struct rxm_ep {
	struct kofi_soft_ep	soft;
	struct fi_info		*info;
	struct fid_pep		*pep;
	struct fid_eq		*eq;
	struct sockaddr_storage	name;
	u32			pid;
	u64			data_mask;
	bool			errors_end_conn;
	bool			credits;
	u32			next_id;
	struct delayed_work	cm;
	struct list_head	conns;
	unsigned int		nconns;
	unsigned int		dialling;
	unsigned long		watch_next;
	struct delayed_work	watch;
	bool			gone;
	struct rhashtable	peers;
	struct list_head	unsettled;
	struct list_head	broken;
	struct list_head	ready;
	struct list_head	stalled;
	struct list_head	orphans;
	struct list_head	settled;
	struct kofi_bufpool	unexp;
	struct kofi_sources	sources;
	struct kofi_quota	quota;
	bool			watched;
	struct kofi_bufpool	rndv;
	bool			flushed;
};

extern struct kofi_provider rxm_provider;
extern struct kofi_soft_type rxm_type;
extern struct mutex rxm_lock;
extern struct kofi_param rxm_eager_limit;
extern struct kofi_ep_limits rxm_limits;

static inline struct rxm_fabric *to_rxm_fabric(struct fid_fabric *fabric)
{
	return container_of(fabric, struct rxm_fabric, soft.fabric);
}

static inline struct rxm_domain *to_rxm_domain(struct fid_domain *domain)
{
	return container_of(to_kofi_soft_domain(domain), struct rxm_domain, soft);
}

static inline struct rxm_ep *to_rxm_ep(struct kofi_soft_ep *soft)
{
	return container_of(soft, struct rxm_ep, soft);
}

static inline struct rxm_op *to_rxm_op(struct kofi_soft_op *soft)
{
	return container_of(soft, struct rxm_op, soft);
}

/* Most payload of a packet; does not change while the module is loaded */
static inline unsigned int rxm_eager(void)
{
	return rxm_eager_limit.value;
}

/* Bytes behind the header of a packet that has been received */
static inline size_t rxm_payload(const struct rxm_buf *buf)
{
	return buf->len - sizeof(*buf->hdr);
}

/* Are the lower endpoints queue pairs? */
static inline bool rxm_is_qp(u32 protocol)
{
	return protocol == FI_PROTO_RDMA_CM_IB_RC || protocol == FI_PROTO_IWARP;
}

static inline struct kofi_av *rxm_av(const struct rxm_ep *ep)
{
	return to_kofi_av(&ep->soft.kep.av->fid);
}

/*
 * Takes kofi_soft_ep.lock to change the table of peers.  Before 6.2 a change of a rhashtable ends
 * with local_bh_enable(), which runs the softirqs that are pending, and with interrupts on, unless
 * bottom halves are disabled outside of it, too.  Completions in softirq take the lock.
 */
static inline void rxm_peers_lock(struct rxm_ep *ep) __acquires(&ep->soft.lock)
{
	local_bh_disable();
	spin_lock_irq(&ep->soft.lock);
}

static inline void rxm_peers_unlock(struct rxm_ep *ep) __releases(&ep->soft.lock)
{
	spin_unlock_irq(&ep->soft.lock);
	local_bh_enable();
}

/* Runs rxm_ep.cm.  Any context */
static inline void rxm_cm_kick(struct rxm_ep *ep)
{
	mod_delayed_work(rxm_type.wq, &ep->cm, 0);
}

/* Has rxm_ep.cm call rxm_watch() after a time, if it is not to do so before.  Any context */
static inline void rxm_watch_later(struct rxm_ep *ep, unsigned long delay)
{
	queue_delayed_work(rxm_type.wq, &ep->watch, delay);
}

/* Runs rxm_ep.cm after a time, if it is not to run before.  Any context */
static inline void rxm_cm_later(struct rxm_ep *ep, unsigned long delay)
{
	queue_delayed_work(rxm_type.wq, &ep->cm, delay);
}

/* main.c */
void rxm_device_gone(struct rxm_domain *domain);

/* info.c */
int rxm_getinfo(u32 version, const char *node, const int service, u64 flags,
		struct fi_info *hints, struct fi_info **info);
int rxm_lower_info(const struct rxm_fabric *fabric, const struct rxm_domain *domain,
		   const struct fi_info *info, struct fi_info **lower);

/* mr.c */
extern const struct fi_ops_mr rxm_mr_ops;

/* ep.c */
void rxm_limits_set(void);
const struct kofi_ep_limits *rxm_ep_limits(u32 protocol, bool credits, bool rma);
int rxm_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		 void *context);

/* cm.c */
int rxm_peers_init(struct rxm_ep *ep);
void rxm_peers_destroy(struct rxm_ep *ep);
struct rxm_peer *rxm_peer_find(struct rxm_ep *ep, const struct sockaddr_storage *addr);
struct rxm_peer *rxm_peer_new(const struct sockaddr_storage *addr);
bool rxm_peer_insert(struct rxm_ep *ep, struct rxm_peer *peer);
struct rxm_conn *rxm_peer_post(struct rxm_ep *ep, struct rxm_peer *peer, struct kofi_soft_op *op);
void rxm_cm_work(struct work_struct *work);

/* op.c */
void rxm_conn_fail(struct rxm_conn *conn, int err);
bool rxm_conn_use(struct rxm_conn *conn);
void rxm_conn_unuse(struct rxm_conn *conn);
void rxm_conn_ready(struct rxm_conn *conn);
int rxm_op_err(const struct rxm_conn *conn);
bool rxm_part_done(struct rxm_conn *conn, struct rxm_op *op, struct list_head *slot,
		   struct list_head *free, int err, bool broken);
void rxm_op_put(struct rxm_conn *conn, struct rxm_op *op, int err);

/* conn.c */
struct rxm_conn *rxm_conn_open(struct rxm_ep *ep, struct fi_info *info,
			       const struct sockaddr_storage *addr, int *err);
void rxm_conn_close(struct rxm_conn *conn, int err, struct list_head *posted);

/* credit.c */
u8 rxm_credit_flow(const struct rxm_ep *ep);
bool rxm_credit_fits(const struct rxm_ep *ep, u8 flow_ctrl, u32 rx_size);
void rxm_credit_init(struct rxm_conn *conn);
bool rxm_credit_begin(struct rxm_conn *conn, u32 rx_size);
bool rxm_credit_is_grant(const struct rxm_conn *conn, const struct fi_cq_tagged_entry *entry);
int rxm_credit_came(struct rxm_conn *conn, const struct fi_cq_tagged_entry *entries, size_t count);
void rxm_credit_posted(struct rxm_conn *conn);
void rxm_credit_check(struct rxm_conn *conn);
bool rxm_credit_get(struct rxm_conn *conn);
int rxm_grant(struct rxm_conn *conn);
void rxm_credit_stat(struct kofi_soft_ep *soft, struct kofi_stat *stat);

/* idle.c */
bool rxm_idle_begin(struct rxm_conn *conn, const struct rxm_wire_accept *msg);
bool rxm_idle_watch(struct rxm_conn *conn);
bool rxm_idle_fill(struct rxm_conn *conn, struct rxm_wire_hdr *hdr);
int rxm_idle_asked(struct rxm_conn *conn, u64 taken);
int rxm_idle_answered(struct rxm_conn *conn);

/* watch.c */
void rxm_watch_begin(struct rxm_ep *ep);
void rxm_watch_due(struct work_struct *work);
bool rxm_is_overdue(unsigned long since);
bool rxm_is_slow(unsigned long since, u64 bytes);
bool rxm_is_read_slow(const struct rxm_conn *conn, const struct rxm_rndv *rndv);
void rxm_watch(struct rxm_ep *ep);

/* rma.c */
void rxm_list_set(struct rxm_list *list, const struct iov_iter *iter, size_t len, size_t room);
void rxm_rma_begin(struct rxm_op *op);
ssize_t rxm_rma_post(struct rxm_conn *conn, struct rxm_op *op);

/* regs.c */
int rxm_regs_open(struct rxm_domain *domain, struct rxm_regs *regs, u64 access,
		  const struct fi_mr_attr *list);
int rxm_regs_open_copy(struct rxm_domain *domain, struct rxm_regs *regs, u64 access, size_t len,
		       const struct kofi_iov *from);
void rxm_regs_close(struct rxm_regs *regs);
void rxm_regs_free(struct rxm_regs *regs);
void rxm_regs_fill(const struct rxm_regs *regs, struct rxm_wire_rndv *wire);

/* offer.c */
bool rxm_is_offered(const struct rxm_op *op);
int rxm_offer_prepare(struct rxm_conn *conn, struct rxm_op *op);
void rxm_offer_unreg(struct rxm_op *op);
int rxm_offer_read(struct rxm_conn *conn, u64 msg_id);
int rxm_offer_asked(struct rxm_conn *conn, u64 msg_id, const struct rxm_wire_rndv *wire);
void rxm_offers_done(struct rxm_conn *conn);
void rxm_offers_write(struct rxm_conn *conn);
bool rxm_offer_wrote(struct rxm_conn *conn, struct rxm_buf *buf);
void rxm_offer_end(struct rxm_conn *conn);

/* atomic.c */
size_t rxm_atomic_fill(struct rxm_conn *conn, struct rxm_op *op, struct rxm_wire_hdr *hdr);
int rxm_atomic_answered(struct rxm_conn *conn, const struct rxm_buf *buf);
void rxm_atomic_end(struct rxm_conn *conn);
int rxm_atomic(struct rxm_conn *conn, struct rxm_buf *buf, ssize_t *operand);
int rxm_respond(struct rxm_conn *conn);

/* tx.c */
void rxm_sent(struct fi_done *done, const struct fi_done_entry *entry);
void rxm_rma_done(struct fi_done *done, const struct fi_done_entry *entry);
void rxm_send(struct rxm_conn *conn);
void rxm_send_now(struct rxm_conn *conn, unsigned long *flags);
void rxm_send_more(struct rxm_conn *conn);
void rxm_send_end(struct rxm_conn *conn, struct list_head *posted);

/* rndv.c */
void rxm_rndv_begin(struct rxm_conn *conn, struct kofi_rx *rx, u64 msg_id,
		    const struct rxm_wire_rndv *wire);
void rxm_rndv_read(struct rxm_conn *conn);
bool rxm_rndv_answer(struct rxm_conn *conn, struct rxm_buf *buf, struct kofi_rx **rx);
void rxm_rndv_end(struct rxm_conn *conn, int err);
void rxm_read_done(struct fi_done *done, const struct fi_done_entry *entry);

/* writes.c */
bool rxm_writes_rndv(void);
void rxm_writes_prepare(struct rxm_conn *conn);
bool rxm_write_invite(struct rxm_conn *conn, struct rxm_buf *buf, size_t *len);
int rxm_write_done(struct rxm_conn *conn, u64 msg_id);
void rxm_writes_done(struct rxm_conn *conn);
void rxm_writes_end(struct rxm_conn *conn, int err);

/* unexp.c */
extern const struct kofi_srx_ops rxm_srx_ops;
extern const struct kofi_quota_limits rxm_unexp_limits;
void rxm_copy(struct kofi_rx *rx, size_t offset, void *data, size_t len);
void rxm_stall(struct rxm_conn *conn);
void rxm_need_no_room(struct rxm_conn *conn);
bool rxm_goes(const struct rxm_conn *conn, const struct rxm_buf *buf);
struct rxm_unexp *rxm_unexp_get(struct rxm_conn *conn, const struct rxm_buf *buf);
void rxm_unexp_fill(struct rxm_unexp *unexp, const struct rxm_buf *buf);
void rxm_unexp_whole(struct rxm_unexp *unexp);
void rxm_unexp_put(struct rxm_unexp *unexp);
void rxm_source(const struct rxm_ep *ep, const struct sockaddr_storage *addr,
		fi_addr_t *src_addr, fi_addr_t *source);
void rxm_settle(struct rxm_ep *ep);

/* rx.c */
void rxm_responded(struct fi_done *done, const struct fi_done_entry *entry);
void rxm_receive(struct rxm_conn *conn);
int rxm_receive_all(struct rxm_conn *conn);

/* rest.c */
void rxm_receive_rest(struct rxm_conn *conn);
void rxm_receive_end(struct rxm_conn *conn, int err);

#endif /* _KOFI_RXM_H */
