/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of kofi_verbs.ko share: one structure per object.
 *
 *	verbs_device	an RDMA device (device.c)
 *	verbs_fabric	a network namespace (domain.c)
 *	verbs_domain	a protection domain on a device (domain.c)
 *	verbs_reg	a domain's connection for registering memory (reg.c)
 *	verbs_mr	a memory region (mr.c)
 *	verbs_cq	a kofi_cq on an ib_cq (cq.c)
 *	verbs_ep	an RC queue pair and its rdma_cm_id (ep.c, cm.c)
 *	verbs_srx	a receive queue that endpoints share (srx.c)
 *	verbs_op	an operation on its way into the queue (msg.c, rma.c, post.c)
 *	verbs_part	one of several work requests of an operation (split.c)
 *	verbs_move	a list of any length on its way (move.c)
 *	verbs_pep	a listening rdma_cm_id (pep.c)
 *	verbs_connreq	a connection request nobody has taken yet (connreq.c)
 *	verbs_slot	an operation in flight (slot.c, done.c)
 */
#ifndef _KOFI_VERBS_H
#define _KOFI_VERBS_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/llist.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/scatterlist.h>
#include <linux/sched/task_stack.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <kofi/cntr.h>
#include <kofi/compat.h>
#include <kofi/cq.h>
#include <kofi/eq.h>
#include <kofi/provider.h>

#define VERBS_NAME		"verbs"
#define VERBS_VERSION		FI_VERSION(0, 1)

#define VERBS_DEF_QUEUE		128	/* depth of a queue, operations */
#define VERBS_DEF_IOV		4	/* elements of a list */
#define VERBS_MAX_IOV		16	/* the same, on the caller's stack */
#define VERBS_MAX_INJECT	256	/* bytes, on the caller's stack */
#define VERBS_CHAIN		8	/* most work requests per doorbell */
#define VERBS_SINKS		16	/* regions for reads over iWARP */
#define VERBS_SINK_IOV		8	/* elements of a list there */
#define VERBS_PARTS		16	/* most work requests of an operation */
#define VERBS_RESOLVE_MS	2000	/* limit of address and route lookups */
#define VERBS_CONNECT_MS	60000	/* default of FI_OPT_CONNECT_TIMEOUT */
#define VERBS_SETTLE_MS		2000	/* longest wait of a close for the peer */
#define VERBS_LAST_WQE_MS	1000	/* the same for the device, see srx.c */

/* All pages of a block are memory, or none is (pfn_valid()) */
#ifdef CONFIG_SPARSEMEM_VMEMMAP
#define VERBS_BLOCK_SHIFT	SUBSECTION_SHIFT
#else
#define VERBS_BLOCK_SHIFT	PAGE_SHIFT
#endif

/* What fi_recvmsg() may be asked */
#define VERBS_RECV_FLAGS	(FI_COMPLETION | FI_MORE)

/* Private data that rdma_cm takes, with addresses of IP, in bytes */
#define VERBS_CM_REQ		56
#define VERBS_CM_REP		196
#define VERBS_CM_REJ		148
/* With the length byte, in every message what fits into a REQ */
#define VERBS_CM_DATA		(VERBS_CM_REQ - 1)

/**
 * struct verbs_cm_frame - Connection data
 * @raw: as they are, for peers that are not libfabric (FI_OPT_CM_DATA_RAW); else
 *	behind one length byte, as libfabric's verbs provider has it (1.17 and 2.x)
 * @len: bytes of the client's
 * @wire: what is sent
 */
struct verbs_cm_frame {
	bool	raw;
	u8	len;
	u8	wire[VERBS_CM_REP];
};

static inline u8 *verbs_cm_data(struct verbs_cm_frame *frame)
{
	return frame->wire + !frame->raw;
}

static inline size_t verbs_cm_wire_len(const struct verbs_cm_frame *frame)
{
	return frame->len + !frame->raw;
}

/* What stands on a device, in the order in which a removal takes it down */
enum verbs_kid_kind {
	VERBS_KID_PEP,
	VERBS_KID_EP,
	VERBS_KID_SRX,
	VERBS_KID_MR,
	VERBS_KID_CQ,
	VERBS_KID_DOMAIN,
	VERBS_NR_KIDS,
};

/**
 * struct verbs_kid - Part of an object that stands on a device
 * @entry: in the device's list
 * @ops: what its kind does when the device is removed
 */
struct verbs_kid {
	struct list_head		entry;
	const struct verbs_kid_ops	*ops;
};

/**
 * struct verbs_kid_ops - What a kind of object does when its device is removed
 * @kind: which
 * @tell: let nothing begin any more, and tell the client; or NULL; may come twice
 * @halt: end what is under way, when all have been told; or NULL; may come twice
 * @strip: give up all that is the device's; nobody else uses the object's hardware
 *	any more; also called by the close of an object
 * @end: the removal has stripped it, and the client has not closed it; or NULL
 */
struct verbs_kid_ops {
	enum verbs_kid_kind	kind;
	void			(*tell)(struct verbs_kid *kid);
	void			(*halt)(struct verbs_kid *kid);
	void			(*strip)(struct verbs_kid *kid);
	void			(*end)(struct verbs_kid *kid);
};

/**
 * struct verbs_device - An RDMA device that is there, or was
 * @entry: in the list of devices
 * @ibdev: the device; only for who has entered (device.c)
 * @max_msg_size: bytes of the longest message
 * @atomics: its driver takes atomics, and registrations for them (probe.c)
 * @refs: the list, and whoever points to this structure
 * @calls: calls that use @ibdev; dies when it is removed
 * @idle: completed when @calls has gone
 * @stripped: completed when nothing of ours is left on @ibdev
 * @lock: guards @kids
 * @kids: what stands on it, by kind
 */
struct verbs_device {
	struct list_head	entry;
	struct ib_device	*ibdev;
	u32			max_msg_size;
	bool			atomics;
	refcount_t		refs;
	struct percpu_ref	calls;
	struct completion	idle;
	struct completion	stripped;
	struct mutex		lock;		/* of kids */
	struct list_head	kids[VERBS_NR_KIDS];
};

struct verbs_fabric {
	struct fid_fabric	fabric;
	struct net		*net;
};

struct verbs_reg;
struct verbs_sink;

/**
 * struct verbs_domain - A protection domain on a device
 * @domain: what the client sees
 * @fabric: parent
 * @dev: the device
 * @pd: the protection domain
 * @src: the device's address that the client meant; family 0: none
 * @reg_lock: guards @reg and its use
 * @reg: the registration connection, once one has been needed
 * @reg_wait: who waits for a step of it
 * @next_key: variable byte of the key given out last
 * @tclass: FI_TC_* of endpoints that name none
 * @kid: stands on @dev
 */
struct verbs_domain {
	struct fid_domain	domain;
	struct verbs_fabric	*fabric;
	struct verbs_device	*dev;
	struct ib_pd		*pd;
	struct sockaddr_storage	src;
	struct mutex		reg_lock;	/* of reg */
	struct verbs_reg	*reg;
	wait_queue_head_t	reg_wait;
	atomic_t		next_key;
	u32			tclass;
	struct verbs_kid	kid;
};

/**
 * enum verbs_mr_state - State of a region for single operations
 * @VERBS_MR_EMPTY: no memory
 * @VERBS_MR_READY: memory, but no key
 * @VERBS_MR_ENABLED: the key is on its way to the device, or there
 * @VERBS_MR_ENDING: and on its way out
 */
enum verbs_mr_state {
	VERBS_MR_EMPTY,
	VERBS_MR_READY,
	VERBS_MR_ENABLED,
	VERBS_MR_ENDING,
};

/**
 * struct verbs_mr - A memory region
 * @mr: what the client sees; mem_desc points to the region itself
 * @domain: parent
 * @ibmr: the device's registration; addresses from ->iova on
 * @len: bytes
 * @sgt: the memory, mapped for the device
 * @dir: of that mapping
 * @access: IB_ACCESS_*
 * @linear: the kernel address of each byte is its address in the region
 * @plain: @domain if it is linear and may be named by plain operations, else NULL
 * @start: its first address
 * @lkey: its local key
 * @mapped: @sgt is mapped
 * @kid: stands on the device
 *
 * Of a region for single operations (mr_ep.c):
 * @state: see &enum verbs_mr_state
 * @page_limit: most pages; 0: not of this kind
 * @seg_limit: most entries of @segs
 * @segs: memory for @sgt
 * @ep: where it is registered
 * @reg: the work request that registers it
 * @slot: of its last work request; in flight if that one still has it as @region
 * @sink: it is a part of a &struct verbs_sink
 */
struct verbs_mr {
	struct fid_mr		mr;
	struct verbs_domain	*domain;
	struct ib_mr		*ibmr;
	u64			len;
	struct sg_table		sgt;
	enum dma_data_direction	dir;
	int			access;
	bool			linear;
	bool			mapped;
	const struct verbs_domain *plain;
	u64			start;
	u32			lkey;
	struct verbs_kid	kid;

	enum verbs_mr_state	state;
	size_t			page_limit;
	size_t			seg_limit;
	struct scatterlist	*segs;
	struct verbs_ep		*ep;
	struct ib_reg_wr	reg;
	struct verbs_slot	*slot;
	bool			sink;
};

/**
 * struct verbs_piece - Memory that is physically contiguous
 * @addr: kernel address of the first byte, as the client gave it
 * @page: page
 * @offset: from the start of @page, which it may exceed
 * @len: bytes
 */
struct verbs_piece {
	void			*addr;
	struct page		*page;
	size_t			offset;
	size_t			len;
};

typedef int (*verbs_piece_fn)(void *context, const struct verbs_piece *piece);

/**
 * struct verbs_cq - A completion queue
 * @kcq: list of unread completions and its waiters
 * @domain: parent
 * @ibcq: the device's queue; ib_core or, if @direct, fi_cq_read() empties it
 * @direct: nobody but the reader polls
 * @poll_lock: one poller at a time, so that completions stay in order; guards
 *	@ibcq, if @direct
 * @kid: stands on the device
 */
struct verbs_cq {
	struct kofi_cq		kcq;
	struct verbs_domain	*domain;
	struct ib_cq		*ibcq;
	bool			direct;
	spinlock_t		poll_lock;	/* see above */
	struct verbs_kid	kid;
};

/**
 * struct verbs_sge - Where a buffer was mapped, for unmapping
 * @addr: DMA address
 * @len: bytes
 */
struct verbs_sge {
	u64			addr;
	u32			len;
};

/**
 * struct verbs_slot - An operation in flight
 * @comp: its completion
 * @cqe: entry point of the device's completion
 * @queue: the queue it belongs to
 * @riders: of an endpoint's slot: unsignalled operations posted before, which have
 *	succeeded if this one has; by their @link
 * @taker: of a shared slot: the receive side of the endpoint that has taken it, see
 *	verbs_slot_taker()
 * @link: among the @riders of another
 * @next: while it is free: place of the next one, see verbs_slot_place(); 0: none
 * @whole: the slot of the operation that this one is a part of, or NULL (split.c)
 * @region: whose key ends with the operation, or begins if there are no comp.flags; or
 *	NULL
 * @bytes: transmit side: length of the buffers
 * @mapped: bit n: entry n of its part of the queue's maps is to be unmapped
 * @dir: what the device does with the buffers
 * @silent: success is not reported
 * @signaled: the device reports success to us
 */
struct verbs_slot {
	struct kofi_comp	comp;
	struct ib_cqe		cqe;
	struct verbs_queue	*queue;
	union {
		struct verbs_slot	*riders;
		struct verbs_queue	*taker;
	};
	union {
		struct verbs_slot	*link;
		u32			next;
	};
	struct verbs_slot	*whole;
	struct verbs_mr		*region;
	u32			bytes;
	u16			mapped;
	u8			dir;
	bool			silent : 1;
	bool			signaled : 1;
};

/* A table of slots fills its pages, and a slot its cache lines */
static_assert(sizeof(struct verbs_slot) <= 128);
static_assert(VERBS_MAX_IOV <= 16);

/* What a counter may be bound to, in one direction */
enum verbs_kind {
	VERBS_MSG,
	VERBS_WRITE,
	VERBS_READ,
	VERBS_NR_KINDS,
};

/**
 * struct verbs_wr - A work request that waits for the doorbell
 * @rdma: the request
 * @sge: its elements, iov_limit of them
 */
struct verbs_wr {
	struct ib_rdma_wr	rdma;
	struct ib_sge		sge[];
};

/**
 * struct verbs_queue - One direction of an endpoint, or a shared receive context's
 * @lock: guards the transmit side from the choice of a slot to the doorbell;
 *	taken with interrupts off; see verbs_queue_unlock()
 * @plain: plain operations may go the short way now (fast.h)
 * @fits: and may as far as the endpoint is concerned
 * @free: place of the first free slot, and below a count of takings (slot.c)
 * @slots: all slots, @size of them
 * @base: one slot in front of them, see verbs_slot_place()
 * @plain_done: done function of a free slot, and of plain operations
 * @done: done function of all others
 * @lkey: key of memory that is in no region
 * @block: number of a block that has been found to be memory, see VERBS_BLOCK_SHIFT
 * @maps: @iov_limit mappings per slot; NULL if the device needs no unmapping
 * @bounce: @inject_size bytes per slot; NULL if the device takes data inline
 * @bounce_dma: DMA address of @bounce
 * @size: depth
 * @iov_limit: SGEs of an operation
 * @op_flags: FI_* of calls without flags
 * @selective: success is reported only with FI_COMPLETION
 * @quiet: operations posted unsignalled since the last signalled one
 * @riders: these operations
 * @chain: work requests posted with FI_MORE, or NULL
 * @chain_end: where the next one is linked
 * @chained: how many there are
 * @wrs: memory for VERBS_CHAIN of them
 * @busy: over iWARP, operations that are not known to be done
 * @stranded: operations that the device has taken in part; their comp.next
 * @split_lock: guards @parts; taken outside of @lock, with interrupts off
 * @parts: memory for VERBS_PARTS of them, or NULL
 * @counted: a counter is bound, so everything is signalled
 * @cntrs: the counter of each kind of operation, or NULL
 * @cq: where completions go
 * @domain: the domain
 * @ep: whose queue it is; NULL: it is shared
 * @srq: the device's queue, if it is shared
 *
 * Of an endpoint's receive side that uses a shared receive context, only @cq,
 * @selective, @counted, @cntrs and @ep count; it has no slots.
 */
struct verbs_queue {
	spinlock_t		lock;		/* see above */
	bool			plain;
	bool			fits;
	atomic64_t		free;
	struct verbs_slot	*slots;
	void			*base;
	void			(*plain_done)(struct ib_cq *cq, struct ib_wc *wc);
	void			(*done)(struct ib_cq *cq, struct ib_wc *wc);
	u32			lkey;
	unsigned long		block;
	struct verbs_sge	*maps;
	void			*bounce;
	u64			bounce_dma;
	size_t			size;
	size_t			iov_limit;
	u64			op_flags;
	bool			selective;
	size_t			quiet;
	struct verbs_slot	*riders;
	struct ib_send_wr	*chain;
	struct ib_send_wr	**chain_end;
	unsigned int		chained;
	struct verbs_wr		*wrs;
	atomic_t		busy;
	struct kofi_comp	*stranded;
	spinlock_t		split_lock;	/* of parts */
	struct verbs_part	*parts;
	bool			counted;
	struct kofi_cntr	*cntrs[VERBS_NR_KINDS];
	struct verbs_cq		*cq;
	struct verbs_domain	*domain;
	struct verbs_ep		*ep;
	struct ib_srq		*srq;
};

/**
 * struct verbs_iter - A place in a list of local buffers
 * @type: what the list consists of
 * @elem: current element
 * @count: elements from here on
 * @skip: bytes of @elem that are done
 * @desc: descriptor of @elem, or NULL
 */
struct verbs_iter {
	enum fi_buf_type	type;
	const void		*elem;
	size_t			count;
	size_t			skip;
	void			**desc;
};

/**
 * struct verbs_map - Elements for the device
 * @count: of @sge
 * @mapped: bit n: @sge n is to be unmapped
 * @len: bytes
 * @sge: the elements
 */
struct verbs_map {
	u32			count;
	u32			mapped;
	size_t			len;
	struct ib_sge		sge[VERBS_MAX_IOV];
};

/**
 * struct verbs_op - An operation on its way into the transmit queue
 * @opcode: what the device is to do; IB_WR_SEND and IB_WR_RDMA_WRITE become
 *	their variants with immediate data by @flags
 * @type: what the local list consists of
 * @list: the local list
 * @count: its elements
 * @desc: its descriptors, or NULL
 * @context: the client's
 * @flags: FI_* of the call
 * @data: remote CQ data
 * @addr: remote address
 * @key: remote key
 * @region: whose key ends with the operation, or NULL
 * @swap: what a compare and swap puts in; it compares with @data, as fetch and add
 *	adds @data
 * @atomic: counts as an atomic operation
 * @silent: success is not reported
 */
struct verbs_op {
	enum ib_wr_opcode	opcode;
	enum fi_buf_type	type;
	const void		*list;
	size_t			count;
	void			**desc;
	void			*context;
	u64			flags;
	u64			data;
	u64			addr;
	u64			key;
	struct verbs_mr		*region;
	u64			swap;
	bool			atomic;
	bool			silent;
};

/* A work request of any kind that has data or none */
union verbs_any_wr {
	struct ib_send_wr	wr;
	struct ib_rdma_wr	rdma;
	struct ib_atomic_wr	atomic;
};

/**
 * struct verbs_part - One of the work requests of an operation
 * @any: the work request
 * @map: its elements
 * @slot: what it takes in the queue
 */
struct verbs_part {
	union verbs_any_wr	any;
	struct verbs_map	map;
	struct verbs_slot	*slot;
};

/**
 * struct verbs_move_to - A move, seen from the call
 * @dir: DMA_FROM_DEVICE: a read; DMA_TO_DEVICE: a write
 * @len: bytes
 * @addr: remote address
 * @key: remote key
 * @context: the client's
 */
struct verbs_move_to {
	enum dma_data_direction	dir;
	size_t			len;
	u64			addr;
	u64			key;
	void			*context;
};

/* A fetch and add, or a compare and swap */
static inline bool verbs_op_is_swap(const struct verbs_op *op)
{
	return op->opcode == IB_WR_ATOMIC_FETCH_AND_ADD ||
	       op->opcode == IB_WR_ATOMIC_CMP_AND_SWP;
}

/**
 * enum verbs_ep_state - State of an endpoint
 * @VERBS_EP_OPEN: fi_enable() is to come
 * @VERBS_EP_ENABLED: receives may be posted
 * @VERBS_EP_CONNECTING: fi_connect() or fi_accept() is on its way
 * @VERBS_EP_CONNECTED: sends may be posted
 * @VERBS_EP_DOWN: the connection, or the attempt, is over
 * @VERBS_EP_GONE: the device has gone
 */
enum verbs_ep_state {
	VERBS_EP_OPEN,
	VERBS_EP_ENABLED,
	VERBS_EP_CONNECTING,
	VERBS_EP_CONNECTED,
	VERBS_EP_DOWN,
	VERBS_EP_GONE,
};

/**
 * struct verbs_ep - An endpoint
 * @ep: what the client sees
 * @state: see &enum verbs_ep_state
 * @tx_flags: what fi_sendmsg() and fi_writemsg() may be asked
 * @read_limit: most elements of the local list of a read
 * @inline_size: bytes the queue pair takes inline
 * @max_msg_size: bytes
 * @inject_size: bytes
 * @tclass: FI_TC_* of its own
 * @sinks: regions that reads may take (sink.c)
 * @all_sinks: all of them
 * @nr_sinks: how many
 * @max_moves: moves in flight, at most (move.c)
 * @nr_moves: moves in flight; this and @moves guarded by the lock of @tx
 * @moves: these
 * @moves_due: those whose next round is to be posted
 * @move_work: posts it
 * @move_wrs: work requests of a round, at most
 * @mr_drain: held by who waits for everything in flight, see verbs_mr_ep_drain()
 * @tx: transmit side
 * @rx: receive side
 * @shared: opened to use a shared receive context
 * @srx: this one
 * @srx_cq: what @srx knows of the completion queue of @rx, from fi_enable() on
 * @last_wqe: completed when the device takes no more from @srx for the queue pair
 * @qp: the queue pair, from fi_enable() on
 * @id: its connection
 * @domain: parent
 * @eq: event queue
 * @iwarp: the device speaks iWARP
 * @rma: opened for remote memory access, too
 * @passive: opened from a connection request
 * @closing: no event may be told any more
 * @accepted: fi_accept() has answered the peer
 * @settled: completed when the peer, too, has answered that
 * @conn: limits of reads and atomics for the connection
 * @may_read: the peer lets us have at least one of them in flight
 * @frame: connection data to send
 * @peer_frame: connection data received, for @connected and @error
 * @dest: where to connect if fi_connect() does not say
 * @connected: FI_CONNECTED
 * @shutdown: FI_SHUTDOWN
 * @error: an error of the connection
 * @told: FI_SHUTDOWN or the error has been queued once
 * @broken: ends the connection after a failed operation
 * @connect_ms: FI_OPT_CONNECT_TIMEOUT
 * @late: ends the attempt to connect or to accept when the time is over
 * @kid: stands on the device
 */
struct verbs_ep {
	struct fid_ep		ep;
	enum verbs_ep_state	state;
	u64			tx_flags;
	size_t			read_limit;
	size_t			inline_size;
	size_t			max_msg_size;
	size_t			inject_size;
	u32			tclass;
	struct llist_head	sinks;
	struct verbs_sink	*all_sinks;
	size_t			nr_sinks;
	size_t			max_moves;
	size_t			nr_moves;
	struct list_head	moves;
	struct llist_head	moves_due;
	struct work_struct	move_work;
	unsigned int		move_wrs;
	struct mutex		mr_drain;	/* see above */
	struct verbs_queue	tx;
	struct verbs_queue	rx;
	bool			shared;
	struct verbs_srx	*srx;
	struct verbs_srx_cq	*srx_cq;
	struct completion	last_wqe;
	struct ib_qp		*qp;

	struct rdma_cm_id	*id;
	struct verbs_domain	*domain;
	struct kofi_eq		*eq;
	bool			iwarp;
	bool			rma;
	bool			passive;
	bool			closing;
	bool			accepted;
	struct completion	settled;
	struct rdma_conn_param	conn;
	bool			may_read;
	struct verbs_cm_frame	frame;
	struct verbs_cm_frame	peer_frame;
	struct sockaddr_storage	dest;
	struct kofi_event	connected;
	struct kofi_event	shutdown;
	struct kofi_event	error;
	bool			told;
	struct work_struct	broken;
	unsigned int		connect_ms;
	struct delayed_work	late;
	struct verbs_kid	kid;
};

/**
 * struct verbs_srx - A shared receive context
 * @srx: what the client sees
 * @rx: its queue
 * @lock: guards @cqs, their queue pairs, and arming
 * @cqs: struct verbs_srx_cq of the endpoints that are bound to it
 * @event_lock: guards @eq and @err; taken with interrupts off
 * @eq: event queue, or NULL
 * @limit: limit that is armed, or 0
 * @reached: FI_SRX_LIMIT
 * @error: its end
 * @err: positive error code of @error; 0: it works
 * @kid: stands on the device
 */
struct verbs_srx {
	struct fid_ep		srx;
	struct verbs_queue	rx;
	struct mutex		lock;		/* of cqs and arming */
	struct list_head	cqs;
	spinlock_t		event_lock;	/* of eq and err */
	struct kofi_eq		*eq;
	size_t			limit;
	struct kofi_event	reached;
	struct kofi_event	error;
	int			err;
	struct verbs_kid	kid;
};

/**
 * struct verbs_srx_cq - A completion queue for receives of an srx
 * @entry: in the list of the srx
 * @cq: the queue, with room for all of the srx
 * @users: endpoints that use both
 * @marker: a queue pair to drain @cq with; NULL unless needed
 */
struct verbs_srx_cq {
	struct list_head	entry;
	struct verbs_cq		*cq;
	unsigned int		users;
	struct ib_qp		*marker;
};

/**
 * struct verbs_pep - A passive endpoint
 * @pep: what the client sees
 * @fabric: parent
 * @eq: event queue
 * @info: for connection requests
 * @raw: FI_OPT_CM_DATA_RAW
 * @lock: guards what follows
 * @id: what listens; NULL: its device has gone
 * @dev: the device it is bound to; NULL: none, or all
 * @kid: stands on @dev
 * @error: the device's end
 * @bound: it has an address
 * @listening: it listens
 * @backlog: requests that rdma_cm keeps
 */
struct verbs_pep {
	struct fid_pep		pep;
	struct verbs_fabric	*fabric;
	struct kofi_eq		*eq;
	struct fi_info		*info;
	bool			raw;
	struct mutex		lock;		/* of what follows */
	struct rdma_cm_id	*id;
	struct verbs_device	*dev;
	struct verbs_kid	kid;
	struct kofi_event	error;
	bool			bound;
	bool			listening;
	int			backlog;
};

/**
 * struct verbs_connreq - A connection request
 * @fid: what fi_info.handle points to
 * @entry: in the list of all requests
 * @pep: where it came in
 * @id: the connection to be
 * @conn: what the peer proposes
 * @event: FI_CONNREQ; its info is set until the client has read it
 * @frame: the peer's connection data
 * @dead: the peer has gone
 */
struct verbs_connreq {
	struct fid		fid;
	struct list_head	entry;
	struct verbs_pep	*pep;
	struct rdma_cm_id	*id;
	struct rdma_conn_param	conn;
	struct kofi_event	event;
	struct verbs_cm_frame	frame;
	bool			dead;
};

extern struct workqueue_struct *verbs_wq;

/* device.c */
int verbs_devices_init(void);
void verbs_devices_exit(void);
struct verbs_device *verbs_device_find(const struct ib_device *ibdev);
struct verbs_device *verbs_device_find_by_name(const char *name);
int verbs_device_enter(struct verbs_device *dev);
void verbs_device_leave(struct verbs_device *dev);
void verbs_device_get(struct verbs_device *dev);
void verbs_device_put(struct verbs_device *dev);
void verbs_kid_add(struct verbs_device *dev, struct verbs_kid *kid,
		   const struct verbs_kid_ops *ops);
bool verbs_kid_enter(struct verbs_device *dev);
void verbs_kid_del(struct verbs_device *dev, struct verbs_kid *kid);
void verbs_kid_strip(struct verbs_device *dev, struct verbs_kid *kid);

/* probe.c */
void verbs_probe(struct verbs_device *dev);

/* tclass.c */
bool verbs_tclass_known(u32 tclass);
u8 verbs_tclass_tos(u32 tclass);
u32 verbs_tclass_of_id(const struct rdma_cm_id *id);

/* addr.c */
size_t verbs_addr_len(const struct sockaddr_storage *addr);
bool verbs_addr_any(const struct sockaddr_storage *addr);
void verbs_addr_set_port(struct sockaddr_storage *addr, int port);
int verbs_addr_from_info(struct sockaddr_storage *to, const void *addr,
			 size_t len);
int verbs_addr_copy_out(const struct sockaddr_storage *addr, void *to,
			size_t *len);
int verbs_addr_list(struct net *net, struct sockaddr_storage **list);

/* info.c, nic.c */
size_t verbs_tx_iov_max(const struct ib_device *ibdev);
struct fi_info *verbs_info_build(struct verbs_device *dev, u32 port,
				 const struct sockaddr_storage *src,
				 const struct sockaddr_storage *dest,
				 const struct fi_info *hints);
struct fi_info *verbs_info_with_nic(struct fi_info *info,
				    struct ib_device *ibdev, u32 port,
				    const struct ib_port_attr *attr);
int verbs_getinfo(u32 version, const char *node, const int service, u64 flags,
		  struct fi_info *hints, struct fi_info **info);

/* domain.c */
int verbs_domain_enter(struct verbs_domain *domain);
void verbs_domain_leave(struct verbs_domain *domain);
int verbs_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		 void *context);

/* mr.c */
extern const struct fi_ops_mr verbs_mr_ops;
int verbs_mr_prepare(struct verbs_mr *mr, const struct fi_mr_attr *attr);
int verbs_mr_remap(struct verbs_mr *mr, const struct fi_mr_attr *attr);
void verbs_mr_unmap(struct verbs_mr *mr);
int verbs_mr_close(struct fid *fid);

/* reg.c */
int verbs_reg_mr(struct verbs_domain *domain, struct ib_mr *ibmr, int access);
void verbs_reg_close(struct verbs_domain *domain);

/* mr_ep.c */
int verbs_mr_ep_init(struct verbs_mr *mr, const struct fi_mr_attr *attr);
void verbs_mr_prepare_reg(struct verbs_mr *mr);
void verbs_mr_ep_ended(struct verbs_mr *mr);

/* sink.c */
int verbs_sinks_init(struct verbs_ep *ep);
void verbs_sinks_destroy(struct verbs_ep *ep);
void verbs_sinks_put(struct verbs_mr *mr);
void verbs_sinks_chain(struct verbs_queue *queue, struct verbs_mr *mr);
bool verbs_wr_is_sinks(const struct ib_send_wr *wr);
u32 verbs_sinks_max_len(const struct ib_device *ibdev);
bool verbs_needs_sink(const struct verbs_ep *ep, const struct verbs_op *op);
ssize_t verbs_post_sink(struct verbs_ep *ep, const struct verbs_op *op,
			size_t len);

/* pages.c */
bool verbs_is_plain_memory(const void *buf, size_t len);
bool verbs_iter_more(struct verbs_iter *iter);
int verbs_iter_piece(const struct verbs_iter *iter, struct verbs_piece *piece);
void verbs_iter_advance(struct verbs_iter *iter, size_t len);
size_t verbs_iter_left(const struct verbs_iter *iter);
u64 verbs_iter_addr(const struct verbs_iter *iter);
ssize_t verbs_list_len(enum fi_buf_type type, const void *list, size_t count,
		       size_t max);
void verbs_gather(void *to, enum fi_buf_type type, const void *list,
		  size_t count);
int verbs_each_piece(enum fi_buf_type type, const void *list, size_t count,
		     verbs_piece_fn fn, void *context);

/* cq.c */
int verbs_cq_open(struct verbs_domain *domain, struct fi_cq_attr *attr,
		  struct fid_cq **cq, void *context);
size_t verbs_cq_max(const struct ib_device *ibdev);
size_t verbs_rx_max(const struct ib_device *ibdev);
size_t verbs_tx_max(const struct ib_device *ibdev);
void verbs_cq_quiesce(struct verbs_cq *cq);
void verbs_cq_forget(struct verbs_cq *cq, struct verbs_queue *queue);

/* cntr.c */
int verbs_cntr_bind(struct verbs_ep *ep, struct kofi_cntr *cntr, u64 flags);
bool verbs_cntr_fits(const struct verbs_queue *queue);
struct kofi_cntr *verbs_cntr_find(const struct verbs_slot *slot);

/* ep.c */
int verbs_endpoint(struct verbs_domain *domain, struct fi_info *info,
		   struct fid_ep **ep, void *context);
int verbs_ep_enter(struct verbs_ep *ep);
void verbs_ep_leave(struct verbs_ep *ep);
int verbs_ep_lock(struct verbs_ep *ep);
void verbs_ep_set_state(struct verbs_ep *ep, enum verbs_ep_state state);
void verbs_ep_unlock(struct verbs_ep *ep);
void verbs_ep_flush(struct verbs_ep *ep);
void verbs_ep_hang_up(struct verbs_ep *ep);
int verbs_opt_copy_out(size_t value, void *optval, size_t *optlen);
int verbs_get_raw(bool raw, void *optval, size_t *optlen);
int verbs_set_raw(bool *raw, const void *optval, size_t optlen);

/* qp.c */
struct ib_qp *verbs_lone_qp(struct ib_pd *pd, struct ib_cq *cq, u32 send_wr);

/* srx.c */
bool verbs_has_srx(const struct ib_device *ibdev);
size_t verbs_srx_max(const struct ib_device *ibdev);
size_t verbs_srx_iov_max(const struct ib_device *ibdev);
int verbs_srx_context(struct verbs_domain *domain, struct fi_rx_attr *attr,
		      struct fid_ep **srx, void *context);
int verbs_srx_attach(struct verbs_ep *ep);
void verbs_srx_drain(struct verbs_ep *ep);
void verbs_srx_detach(struct verbs_ep *ep);

/* pep.c */
int verbs_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		     struct fid_pep **pep, void *context);

/* connreq.c */
int verbs_connreq_new(struct verbs_pep *pep, struct rdma_cm_id *id,
		      const struct rdma_cm_event *event);
int verbs_connreq_take(const struct fid *handle, struct verbs_ep *ep);
int verbs_connreq_reject(struct verbs_pep *pep, const struct fid *handle,
			 const struct verbs_cm_frame *frame);
void verbs_connreq_drop_all(struct verbs_pep *pep);
void verbs_connreqs_drop_device(const struct ib_device *ibdev);

/* cm.c */
extern const struct fi_ops_cm verbs_ep_cm_ops;
int verbs_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);
void verbs_cm_broken(struct work_struct *work);
void verbs_cm_late(struct work_struct *work);
void verbs_cm_device_gone(struct verbs_kid *kid);
void verbs_cm_halt(struct verbs_kid *kid);
int verbs_cm_pack(struct verbs_cm_frame *frame, const void *param, size_t len,
		  size_t limit);
int verbs_cm_unpack(struct verbs_cm_frame *frame, const void *data, size_t len);

/* map.c */
int verbs_map_one(struct verbs_queue *queue, const void *buf, size_t len,
		  enum dma_data_direction dir, struct ib_sge *sge);
bool verbs_fast_map(struct verbs_queue *queue, const void *buf,
		    enum dma_data_direction dir, struct ib_sge *sge,
		    struct verbs_slot **slot);
int verbs_map_some(struct verbs_domain *domain, enum dma_data_direction dir,
		   struct verbs_iter *iter, size_t limit, struct verbs_map *map);
void verbs_map_undo(struct verbs_domain *domain, enum dma_data_direction dir,
		    struct verbs_map *map);
void verbs_map_keep(struct verbs_slot *slot, const struct verbs_map *map,
		    enum dma_data_direction dir);
void verbs_unmap(struct verbs_slot *slot);

/* slot.c */
void verbs_queue_prepare(struct verbs_queue *queue);
int verbs_queue_init(struct verbs_queue *queue, struct verbs_domain *domain,
		     struct verbs_ep *ep,
		     void (*done)(struct ib_cq *cq, struct ib_wc *wc));
int verbs_queue_add_chain(struct verbs_queue *queue);
int verbs_queue_add_bounce(struct verbs_queue *queue);
int verbs_queue_add_parts(struct verbs_queue *queue);
void verbs_queue_unmap(struct verbs_queue *queue);
void verbs_queue_destroy(struct verbs_queue *queue);
void verbs_queue_tune(struct verbs_queue *queue);
void verbs_slot_put(struct verbs_slot *slot);
void verbs_slot_put_chain(struct kofi_comp *chain);
void verbs_slot_put_riders(struct verbs_slot *slot);
void verbs_slot_put_parts(struct verbs_slot *slot);

/* msg.c, rma.c */
extern const struct fi_ops_msg verbs_msg_ops;
extern const struct fi_ops_msg verbs_shared_msg_ops;
extern const struct fi_ops_rma verbs_rma_ops;
u64 verbs_tx_flags(bool iwarp);
u64 verbs_op_flags(bool iwarp);

/* atomic.c */
extern const struct fi_ops_atomic verbs_atomic_ops;
int verbs_query_atomic(struct verbs_domain *domain, enum fi_datatype datatype,
		       enum fi_op op, struct fi_atomic_attr *attr, u64 flags);

/* post.c */
int verbs_post_reg(struct verbs_mr *mr);
void verbs_post_unreg(struct verbs_mr *mr);
int verbs_post_region(struct verbs_ep *ep, const struct verbs_op *op,
		      size_t len);
ssize_t verbs_post(struct verbs_ep *ep, const struct verbs_op *op);
ssize_t verbs_post_recv(struct verbs_ep *ep, const struct verbs_op *op);
ssize_t verbs_post_srx(struct verbs_srx *srx, const struct verbs_op *op);
void verbs_ring(struct verbs_queue *queue);
int verbs_post_errno(int ret);
int verbs_post_refused(struct verbs_slot *slot, int err);
u64 verbs_comp_flags(const struct verbs_op *op);
enum dma_data_direction verbs_op_dir(const struct verbs_op *op);
void verbs_slot_fill(struct verbs_slot *slot, const struct verbs_op *op,
		     u64 comp_flags);
void verbs_slot_ride(struct verbs_slot *slot);
void verbs_slot_carry(struct verbs_slot *slot, struct ib_send_wr *wr);
void verbs_slot_alight(struct verbs_slot *slot);
void verbs_wr_init(union verbs_any_wr *any, const struct verbs_op *op,
		   struct verbs_map *map, int send_flags);
int verbs_chain_post(struct verbs_queue *queue, struct ib_send_wr *first,
		     unsigned int *taken, struct kofi_comp **refused);
void verbs_chain_abandon(struct verbs_queue *queue,
			 const struct kofi_comp *refused);
void verbs_fail_refused(struct kofi_comp *refused, int err);

int verbs_ep_check(const struct verbs_ep *ep, bool send);

/* move.c */
int verbs_moves_set(struct verbs_ep *ep, size_t moves);
u32 verbs_moves_ctxs(const struct verbs_ep *ep);
void verbs_moves_work(struct work_struct *work);
void verbs_moves_abandon(struct verbs_ep *ep);
ssize_t verbs_move(struct verbs_ep *ep, const struct verbs_move_to *to,
		   struct scatterlist *sgl, unsigned int nents, size_t offset,
		   u64 flags);

/* split.c */
size_t verbs_split_limit(const struct verbs_ep *ep);
int verbs_post_split(struct verbs_ep *ep, const struct verbs_op *op,
		     struct verbs_iter *iter, const struct verbs_map *first);
void verbs_part_watch(struct verbs_slot *part, struct ib_send_wr *wr);
void verbs_strand(struct verbs_slot *slot, int err);
void verbs_end_stranded(struct verbs_queue *queue);

/* done.c */
void verbs_send_done(struct ib_cq *cq, struct ib_wc *wc);
void verbs_recv_done(struct ib_cq *cq, struct ib_wc *wc);
void verbs_sent(struct ib_cq *cq, struct ib_wc *wc);
void verbs_received(struct ib_cq *cq, struct ib_wc *wc);
void verbs_call_sent(struct ib_cq *cq, struct ib_wc *wc);
void verbs_call_received(struct ib_cq *cq, struct ib_wc *wc);
void verbs_srx_done(struct ib_cq *cq, struct ib_wc *wc);
void verbs_slot_succeed(struct verbs_slot *slot, size_t len);
void verbs_slot_blame(struct verbs_slot *slot, int err, int prov_errno);
void verbs_slot_fail(struct verbs_slot *slot, int err, int prov_errno);

/* errno.c */
int verbs_wc_errno(enum ib_wc_status status, bool receive);
const char *verbs_cq_strerror(struct fid_cq *cq, int prov_errno,
			      const void *err_data, char *buf, size_t len);
const char *verbs_eq_strerror(int prov_errno);

static inline struct verbs_ep *to_verbs_ep(struct fid *fid)
{
	return container_of(fid, struct verbs_ep, ep.fid);
}

static inline struct verbs_srx *to_verbs_srx(struct fid *fid)
{
	return container_of(fid, struct verbs_srx, srx.fid);
}

static inline struct verbs_pep *to_verbs_pep(struct fid *fid)
{
	return container_of(fid, struct verbs_pep, pep.fid);
}

static inline struct verbs_domain *to_verbs_domain(struct fid_domain *domain)
{
	return container_of(domain, struct verbs_domain, domain);
}

static inline struct verbs_mr *to_verbs_mr(struct fid *fid)
{
	return container_of(fid, struct verbs_mr, mr.fid);
}

static inline struct verbs_fabric *to_verbs_fabric(struct fid_fabric *fabric)
{
	return container_of(fabric, struct verbs_fabric, fabric);
}

static inline struct verbs_cq *to_verbs_cq(struct fid *fid)
{
	return container_of(fid, struct verbs_cq, kcq.cq.fid);
}

static inline struct verbs_slot *to_verbs_slot(struct ib_wc *wc)
{
	return container_of(wc->wr_cqe, struct verbs_slot, cqe);
}

/* A hint that spares the mapping; verbs_slot_take() decides */
static inline bool verbs_queue_full(const struct verbs_queue *queue)
{
	return !((u64)atomic64_read(&queue->free) >> 32);
}

/* A success that brings nothing with it; for receives */
static inline bool verbs_wc_is_plain(const struct ib_wc *wc)
{
	return wc->status == IB_WC_SUCCESS &&
	       !(wc->wc_flags & (IB_WC_WITH_IMM | IB_WC_WITH_INVALIDATE));
}

/* Where a slot is, in bytes from one in front of all of them; never 0 */
static __always_inline u32 verbs_slot_place(const struct verbs_queue *queue,
					    const struct verbs_slot *slot)
{
	return (void *)slot - queue->base;
}

/* Takes a slot, or returns false; see slot.c */
static __always_inline bool verbs_slot_take(struct verbs_queue *queue,
					    struct verbs_slot **slot)
{
	s64 head = atomic64_read(&queue->free);
	u64 place, next;

	do {
		place = (u64)head >> 32;
		if (unlikely(!place))
			return false;
		*slot = queue->base + place;
		/* Nonsense if somebody else has taken it; then the count has moved on */
		next = READ_ONCE((*slot)->next);
		next = next << 32 | (u32)(head + 1);
	} while (unlikely(!atomic64_try_cmpxchg(&queue->free, &head, next)));
	return true;
}

/* Gives clean slots back, from @first to @last by their next */
static __always_inline void verbs_slots_push(struct verbs_queue *queue,
					     const struct verbs_slot *first,
					     struct verbs_slot *last)
{
	s64 head = atomic64_read(&queue->free);
	u64 place = (u64)verbs_slot_place(queue, first) << 32;

	do
		WRITE_ONCE(last->next, (u64)head >> 32);
	while (unlikely(!atomic64_try_cmpxchg(&queue->free, &head,
					      place | (u32)head)));
}

/*
 * Who is about to release the lock says whether plain operations may pass by it: only
 * while the endpoint is connected, not by a chain, and not without those that have to
 * ride with somebody.
 */
static inline void verbs_queue_settle(struct verbs_queue *queue)
{
	bool plain = queue->fits && !queue->chain && !queue->riders &&
		     READ_ONCE(queue->ep->state) == VERBS_EP_CONNECTED;

	/* Who posts because of it sees what the state stands for, too */
	smp_store_release(&queue->plain, plain);
}

static inline void verbs_queue_unlock(struct verbs_queue *queue,
				      unsigned long flags)
{
	verbs_queue_settle(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
}

/*
 * A device stays from the look at an endpoint's state to the doorbell, as its removal
 * waits for who cannot be preempted, too (synchronize_rcu() in device.c).  Where the
 * holder of a spin lock may sleep, drivers must be able to.
 */
static inline void verbs_device_hold(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_lock();
	else
		preempt_disable();
}

static inline void verbs_device_release(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_unlock();
	else
		preempt_enable();
}

/* Whose completion it is; of a shared receive once it is there */
static inline struct verbs_queue *verbs_slot_taker(const struct verbs_slot *slot)
{
	return slot->queue->ep ? slot->queue : slot->taker;
}

/* The counter of an operation; its completion is final and not yet reported */
static inline struct kofi_cntr *verbs_cntr_of(const struct verbs_slot *slot)
{
	return verbs_slot_taker(slot)->counted ? verbs_cntr_find(slot) : NULL;
}

/* Over iWARP nothing begins once the connection is ending; see verbs_ep_hang_up() */
static inline bool verbs_queue_ends(const struct verbs_queue *queue)
{
	return queue->ep->iwarp && READ_ONCE(queue->ep->state) >= VERBS_EP_DOWN;
}

/* An operation, or a part of one, begins; its slot is filled */
static inline void verbs_slot_begun(const struct verbs_slot *slot)
{
	if (slot->queue->ep->iwarp)
		atomic_inc(&slot->queue->busy);
}

/* It is over, if it has been counted */
static inline void verbs_slot_over(const struct verbs_slot *slot)
{
	/* Not receives, whose queue may be nobody's, nor registrations */
	if (!slot->comp.flags || slot->comp.flags & (FI_RECV | FI_REMOTE_WRITE))
		return;
	if (slot->queue->ep->iwarp)
		atomic_dec(&slot->queue->busy);
}

/* Has its removal begun?  For who has entered */
static inline bool verbs_device_going(struct verbs_device *dev)
{
	return percpu_ref_is_dying(&dev->calls);
}

static inline bool verbs_is_iwarp(const struct ib_device *ibdev)
{
	return rdma_protocol_iwarp(ibdev, rdma_start_port(ibdev));
}

/*
 * Over TCP what has been sent may have to be sent again.  siw keeps no copy for that of
 * a page or more whose success it is not to report, and what it reports of others says
 * nothing of these buffers.
 */
static inline bool verbs_wr_lingers(const struct verbs_ep *ep, size_t len)
{
	return ep->iwarp && len >= PAGE_SIZE;
}

/* Is success of an operation with @flags to be kept from the client? */
static inline bool verbs_is_silent(const struct verbs_queue *queue, u64 flags)
{
	return queue->selective && !(flags & FI_COMPLETION);
}

#endif /* _KOFI_VERBS_H */
