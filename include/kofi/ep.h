/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What endpoints of all providers have in common: bound objects, default flags,
 * which completions are reported, counters, options, and the ready callback after -EAGAIN.
 *
 * A provider embeds struct kofi_ep in its endpoint.  Binding, default flags and common
 * options are ready-made (kofi_ep_bind(), kofi_ep_control(), kofi_ep_getopt(),
 * kofi_ep_setopt()).  The provider implements fi_enable(): it calls kofi_ep_may_enable()
 * first, and sets the state of kofi_ep.conn at the end.
 *
 * Fields that binding and options set are written before the state allows an operation, and
 * do not change until close.  Default flags (FI_SETOPSFLAG) may change at any time;
 * an operation sees the old ones or the new ones.
 *
 * A call that lacks a resource answers -EAGAIN, and its client's ready callback is due, once, in
 * the context of the queue of that direction when the resource has come back.  A resource that is
 * counted is a struct kofi_credit (kofi/credit.h).  What cannot be counted has a struct
 * kofi_waiter (kofi/waiter.h).  kofi_ep_side.room is the waiter of what comes back when an
 * operation ends.  Where no event announces room, as with a device that was busy, the provider
 * calls kofi_ep_want_later(), and the ready callback is due after a short time, or when an
 * operation ends.
 */
#ifndef _KOFI_EP_H
#define _KOFI_EP_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/tracepoint-defs.h>
#include <linux/workqueue.h>
#include <kofi/cntr.h>
#include <kofi/conn.h>
#include <kofi/cq.h>
#include <kofi/waiter.h>
#include <rdma/fi_endpoint.h>

struct kofi_av;
struct kofi_ep;

/**
 * struct kofi_ep_side - One direction of an endpoint, or a shared receive context
 * @cq: where completions go; NULL: none is bound, or the side is a shared receive context
 * @op_flags: default flags of calls that take none
 * @implied: flags that every operation has: FI_COMPLETION, or 0 if success is reported only to
 *	operations that ask for it
 * @room: the client that waits for an operation to end
 * @again: how many calls had no room
 * @dir: FI_TRANSMIT or FI_RECV
 * @ep: the endpoint of this side
 * @call: calls the client's ready callback
 * @later: makes the ready callback due without an event, or calls it without a queue
 * @queued: @later has been queued once
 * @due: without a queue: @later is to call the ready callback
 * @caller: the task that calls the ready callback without a queue, or NULL
 * @closed: set if the callback closes the shared receive context; @caller's
 */
struct kofi_ep_side {
	struct kofi_cq		*cq;
	u64			op_flags;
	u64			implied;
	struct kofi_waiter	room;
	atomic_long_t		again;
	u64			dir;
	struct kofi_ep		*ep;
	struct kofi_cq_call	call;
	struct delayed_work	later;
	bool			queued;
	bool			due;
	struct task_struct	*caller;
	bool			*closed;
};

/* Kinds of operations that a counter may be bound for */
enum kofi_ep_cntr {
	KOFI_CNTR_SEND,
	KOFI_CNTR_RECV,
	KOFI_CNTR_READ,
	KOFI_CNTR_WRITE,
	KOFI_CNTR_REMOTE_READ,
	KOFI_CNTR_REMOTE_WRITE,
	KOFI_NR_CNTRS,
};

/**
 * struct kofi_ep_limits - What a provider's endpoints can do
 * @cntr_dirs: FI_SEND, ... that a counter may be bound for
 * @tx_op_flags: flags that may be the default of operations that send
 * @rx_op_flags: flags that may be the default of operations that receive
 * @tx_flags: flags that fi_sendmsg() and the like may have
 * @recv_flags: flags that fi_recvmsg() may have
 * @trecv_flags: flags that fi_trecvmsg() may have
 * @av: an address vector has to be bound
 * @cm_data_size: most bytes of connection data, or 0
 * @max_atomic_size: most bytes of an atomic operation, or 0
 * @lent_iov: most elements of a list that the client lends with FI_ASYNC_IOV; 0: none is lent
 */
struct kofi_ep_limits {
	u64	cntr_dirs;
	u64	tx_op_flags;
	u64	rx_op_flags;
	u64	tx_flags;
	u64	recv_flags;
	u64	trecv_flags;
	bool	av;
	size_t	cm_data_size;
	size_t	max_atomic_size;
	u32	lent_iov;
};

/**
 * struct kofi_ep_stat - What an endpoint has done, on one processor
 * @tx_ops: operations that its transmit side has taken
 * @tx_bytes: bytes of these operations
 * @tx_errors: how many of these operations have failed
 * @rx_ops: receives that have got a message
 * @rx_bytes: bytes of these messages
 * @rx_errors: receives that have ended without a message
 * @connects: connections of an endpoint that needs none to be opened
 */
struct kofi_ep_stat {
	u64	tx_ops;
	u64	tx_bytes;
	u64	tx_errors;
	u64	rx_ops;
	u64	rx_bytes;
	u64	rx_errors;
	u64	connects;
};

#define KOFI_NR_XFERS	(FI_OP_COMPARE_ATOMIC + 1)

/**
 * struct kofi_ep - The common part of an endpoint; the provider embeds it in its own
 * @ep: what the client sees
 * @limits: the provider's
 * @conn: the connection, with the event queue
 * @tx: transmit side
 * @rx: receive side
 * @stat: what it has done, for debugfs and kofi-info; see kofi_ep_posted()
 * @cntrs: counters, or NULL
 * @has_cntrs: one of them is not NULL
 * @av: address vector, or NULL
 * @srx: shared receive context, or NULL
 * @shared: opened to use a shared receive context
 * @no_tx: it sends nothing, because it is a shared receive context, a receive context or a
 *	scalable endpoint
 * @no_rx: it has no receives of its own: @shared, or a transmit context or scalable endpoint
 * @xfers: BIT(FI_OP_*) of the operations that it has, see kofi_ep_set_xfers()
 * @xfer_flags: by FI_OP_*, of @xfers: flags that every operation of this kind may have
 * @caps: capabilities it was opened with
 * @max_msg_size: most bytes of an operation
 * @inject_size: most bytes that may be injected
 * @callbacks: what the client has set by FI_OPT_CALLBACKS
 * @may_sleep: FI_OPT_MAY_SLEEP: the client posts in process context only
 * @device_p2p: the device accesses peer memory itself; false: the processor does.  Set by the
 *	provider
 * @lent_iov: it was opened with FI_ASYNC_IOV: most elements of a list that is lent; or 0
 * @no_context: the context of operations that have none, see kofi_ep_context()
 * @rx_msgs: messages for it that wait for a receive; @rx_msgs and @rx_left are guarded by
 *	the lock of the &struct kofi_srx where it receives
 * @rx_left: it takes no message any more
 */
struct kofi_ep {
	struct fid_ep			ep;
	const struct kofi_ep_limits	*limits;
	struct kofi_conn		conn;
	struct kofi_ep_side		tx;
	struct kofi_ep_side		rx;
	struct kofi_ep_stat __percpu	*stat;
	struct kofi_cntr		*cntrs[KOFI_NR_CNTRS];
	bool				has_cntrs;
	struct fid_av			*av;
	struct fid_ep			*srx;
	bool				shared;
	bool				no_tx;
	bool				no_rx;
	u32				xfers;
	u64				xfer_flags[KOFI_NR_XFERS];
	u64				caps;
	size_t				max_msg_size;
	size_t				inject_size;
	struct fi_ep_callbacks		callbacks;
	bool				may_sleep;
	bool				device_p2p;
	u32				lent_iov;
	struct fi_done			no_context;
	struct list_head		rx_msgs;
	bool				rx_left;
};

static inline struct kofi_ep *to_kofi_ep(struct fid *fid)
{
	return container_of(fid, struct kofi_ep, ep.fid);
}

/**
 * kofi_ep_init() - Set the common part of a new endpoint up
 * @ep: the endpoint, zeroed; the provider sets its tables
 * @info: what the client opens it with
 * @limits: the provider's; they stay
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: 0, and kofi_ep_fini() is due; -EINVAL: default flags that @limits do not allow;
 * -ENOMEM.
 */
int kofi_ep_init(struct kofi_ep *ep, const struct fi_info *info,
		 const struct kofi_ep_limits *limits, void *context);

/**
 * kofi_ep_init_srx() - Set the common part of a new shared receive context up
 * @ep: the shared receive context, zeroed; the provider sets its tables
 * @attr: what the client opens it with
 * @limits: the provider's; they stay
 * @context: the client's pointer
 *
 * It has no completion queue and no connection, only a receive side.  The endpoints that use
 * it decide which successes are reported, so kofi_ep_flags() adds nothing to the flags
 * of its receives.
 *
 * Context: may sleep.
 * Return: 0, and kofi_ep_fini() is due; -EINVAL: default flags that @limits do not allow;
 * -ENOMEM.
 */
int kofi_ep_init_srx(struct kofi_ep *ep, const struct fi_rx_attr *attr,
		     const struct kofi_ep_limits *limits, void *context);

/**
 * kofi_ep_set_class() - Turn an endpoint into a scalable endpoint or one of its contexts
 * @ep: after kofi_ep_init()
 * @fclass: FI_CLASS_SEP, FI_CLASS_TX_CTX or FI_CLASS_RX_CTX
 *
 * Afterwards kofi_ep_may_enable() requires only those bindings that an object of this class
 * needs.  Before kofi_ep_set_xfers().
 *
 * Context: any.
 */
void kofi_ep_set_class(struct kofi_ep *ep, u32 fclass);

/**
 * kofi_ep_set_xfers() - Set which operations an endpoint has
 * @ep: the endpoint, whose limits and class are set
 * @caps: of FI_MSG, FI_TAGGED, FI_RMA and FI_ATOMIC those that the client has asked for and the
 *	provider has
 *
 * kofi_xfer_check() refuses all others, and those of a direction that the endpoint does not have.
 *
 * Context: any.
 */
void kofi_ep_set_xfers(struct kofi_ep *ep, u64 caps);

/**
 * kofi_ep_may_close() - May the caller close or drain the endpoint?
 * @ep: the endpoint
 *
 * Context: may sleep.
 * Return: 0; -EDEADLK: the caller is inside a callback of one of its queues.
 */
int kofi_ep_may_close(const struct kofi_ep *ep);

/**
 * kofi_ep_fini() - The end of the common part
 * @ep: an endpoint that posts and completes nothing any more, and has been purged from
 *	its completion queues
 *
 * When this returns, no callback of the endpoint runs.
 *
 * Context: may sleep.
 */
void kofi_ep_fini(struct kofi_ep *ep);

/**
 * kofi_ep_bind() - Ready-made ->bind of an endpoint
 * @fid: of a &struct kofi_ep
 * @bfid: completion queue, event queue, counter, address vector or shared receive context
 * @flags: as fi_ep_bind()
 *
 * The core refuses to bind an object twice, or an object of another domain or fabric.
 *
 * Context: may sleep; fi_enable() is not called at the same time.
 * Return: 0; -FI_EOPBADSTATE: enabled already; -ENOSYS: a counter for something that the
 * provider does not count; -EINVAL: wrong kind of object; -ENODEV.
 */
int kofi_ep_bind(struct fid *fid, struct fid *bfid, u64 flags);

/**
 * kofi_ep_may_enable() - Is everything bound that fi_enable() needs?
 * @ep: the endpoint
 *
 * Context: may sleep, with the provider's lock held.
 * Return: 0; -FI_ENOEQ: it has connections and no event queue; -FI_ENOCQ; -FI_ENOAV;
 * -FI_ENORX: it is to use a shared receive context, and none is bound; -EINVAL: a counter
 * to sleep on, and a completion queue that only its reader polls; or as
 * kofi_conn_may_enable().
 */
int kofi_ep_may_enable(const struct kofi_ep *ep);

/**
 * kofi_ep_control() - Ready-made ->control: FI_GETOPSFLAG, FI_SETOPSFLAG, KOFI_GETSTAT
 * @fid: of a &struct kofi_ep
 * @command: as fi_control()
 * @arg: as fi_control()
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: no direction, or both; -FI_EBADFLAGS; -ENOSYS: another command.
 */
int kofi_ep_control(struct fid *fid, int command, void *arg);

/**
 * kofi_ep_setopt() - The options that endpoints of all providers have
 * @ep: the endpoint
 * @optname: FI_OPT_CALLBACKS, FI_OPT_CONNECT_TIMEOUT after kofi_conn_set_late(),
 *	FI_OPT_MAY_SLEEP if the endpoint sends, or FI_OPT_FI_HMEM_P2P with FI_HMEM
 * @optval: as fi_setopt()
 * @optlen: as fi_setopt()
 *
 * Context: may sleep, with the provider's lock held.
 * Return: 0; -FI_EOPBADSTATE: it is too late for this option; -EINVAL; -EOPNOTSUPP: peer
 * memory is not accessed that way, see kofi_ep.device_p2p; -ENOPROTOOPT: another option.
 */
int kofi_ep_setopt(struct kofi_ep *ep, int optname, const void *optval,
		   size_t optlen);

/**
 * kofi_ep_getopt() - The options that endpoints of all providers have
 * @ep: the endpoint
 * @optname: those of kofi_ep_setopt(), FI_OPT_CM_DATA_SIZE, or one of the sizes from
 *	FI_OPT_MAX_MSG_SIZE to FI_OPT_INJECT_ATOMIC_SIZE that the endpoint has the
 *	capability for
 * @optval: as fi_getopt()
 * @optlen: as fi_getopt()
 *
 * Context: may sleep.
 * Return: 0; -FI_ETOOSMALL; -ENOPROTOOPT: another option.
 */
int kofi_ep_getopt(struct kofi_ep *ep, int optname, void *optval,
		   size_t *optlen);

/**
 * kofi_ep_context() - The context of an operation's completion
 * @ep: the endpoint
 * @side: the direction
 * @context: the client's
 *
 * Context: any; the endpoint is enabled.
 * Return: @context; the endpoint's own if @context is NULL and the queue has callbacks.
 */
static inline void *kofi_ep_context(struct kofi_ep *ep,
				    const struct kofi_ep_side *side,
				    void *context)
{
	if (context || side->cq->wait_obj != FI_WAIT_DONE)
		return context;
	return &ep->no_context;
}

/**
 * kofi_ep_flags() - Flags of an operation as the provider sees them
 * @side: the direction
 * @flags: of the call; a call without flags passes @side->op_flags
 *
 * Context: any.
 * Return: @flags, with FI_COMPLETION if success is to be reported.
 */
static inline u64 kofi_ep_flags(const struct kofi_ep_side *side, u64 flags)
{
	return flags | side->implied;
}

DECLARE_TRACEPOINT(kofi_post);
void kofi_trace_post(struct kofi_ep *ep, u64 flags, void *context, size_t len);

/**
 * kofi_ep_posted() - The endpoint has taken an operation
 * @ep: the endpoint, or shared receive context
 * @flags: flags that its completion will have at least
 * @context: the operation's context, as the client gave it
 * @len: bytes; of a receive: bytes that it has room for, or 0 if they have not been counted
 *
 * Counts operations of the transmit side, and traces the event kofi_post.
 *
 * debugfs and kofi-info show the counts of this function and of kofi_ep_ended()
 * (kofi/stat.h).  Each processor counts for itself, so that a count costs an addition and no
 * lock.  Counters that clients bind are separate (kofi_ep_count()).
 *
 * Context: any.
 */
static inline void kofi_ep_posted(struct kofi_ep *ep, u64 flags, void *context, size_t len)
{
	struct kofi_ep_stat __percpu *stat = ep->stat;

	if (!(flags & FI_RECV)) {
		this_cpu_inc(stat->tx_ops);
		this_cpu_add(stat->tx_bytes, len);
	}
	if (tracepoint_enabled(kofi_post))
		kofi_trace_post(ep, flags, context, len);
}

/**
 * kofi_ep_received() - A receive has got a message
 * @ep: the endpoint
 * @len: bytes
 *
 * Context: any.
 */
static inline void kofi_ep_received(struct kofi_ep *ep, size_t len)
{
	this_cpu_inc(ep->stat->rx_ops);
	this_cpu_add(ep->stat->rx_bytes, len);
}

/**
 * kofi_ep_connected() - An endpoint of FI_EP_RDM has one more connection
 * @ep: the endpoint
 *
 * Context: any.
 */
static inline void kofi_ep_connected(struct kofi_ep *ep)
{
	this_cpu_inc(ep->stat->connects);
}

/**
 * kofi_ep_ended() - An operation is over
 * @ep: the endpoint
 * @flags: of its completion
 * @err: positive error code, or 0
 * @len: its bytes
 *
 * kofi_ep_count() calls this, too.
 *
 * Context: any.
 */
static inline void kofi_ep_ended(struct kofi_ep *ep, u64 flags, int err, size_t len)
{
	if (flags & FI_RECV) {
		if (err)
			this_cpu_inc(ep->stat->rx_errors);
		else
			kofi_ep_received(ep, len);
	} else if (err && flags & (FI_SEND | FI_READ | FI_WRITE)) {
		this_cpu_inc(ep->stat->tx_errors);
	}
}

void kofi_ep_add_cntr(struct kofi_ep *ep, u64 flags, int err, size_t len);

/**
 * kofi_ep_count() - Count an operation that is over, in the bound counter, too
 * @ep: the endpoint
 * @flags: of its completion
 * @err: positive error code, or 0
 * @len: its bytes
 *
 * Context: any.
 */
static inline void kofi_ep_count(struct kofi_ep *ep, u64 flags, int err, size_t len)
{
	kofi_ep_ended(ep, flags, err, len);
	if (unlikely(ep->has_cntrs))
		kofi_ep_add_cntr(ep, flags, err, len);
}

/**
 * kofi_ep_call_ready() - The ready callback is due
 * @side: the direction
 *
 * A provider calls kofi_waiter_wake() or kofi_credit_give() instead.
 *
 * Context: any; locks may be held.
 */
void kofi_ep_call_ready(struct kofi_ep_side *side);

/**
 * kofi_ep_want_later() - A call is about to answer -EAGAIN, and no event will announce room
 * @side: its direction
 *
 * Notes kofi_ep_side.room, so an operation that ends earlier calls the client, too.
 *
 * Context: any; the endpoint is not being closed.
 */
void kofi_ep_want_later(struct kofi_ep_side *side);

#endif /* _KOFI_EP_H */
