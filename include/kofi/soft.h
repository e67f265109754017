/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Providers that move the data themselves: what their objects have in common.
 *
 * Providers on top of sockets, or of nothing at all, differ only in how operations
 * get to the peer, and how connections are made.  The rest is here:
 *
 *	kofi_soft_fabric	a network namespace, and what ends with it
 *	kofi_soft_domain	a map of regions
 *	kofi_soft_ep		an endpoint: from open to close, its options, its receives
 *	kofi_soft_op		an operation, from the call to the completion
 *	kofi_soft_event		the completion of a peer's write
 *	kofi_soft_pep		a listener
 *	kofi_soft_ctxs		the contexts of a scalable endpoint
 *
 * The provider embeds them, and describes itself by a &struct kofi_soft_type.
 *
 * Life of an endpoint
 *
 *	fi_endpoint()	the provider calls kofi_soft_ep_init(), and adds the endpoint to the
 *			list of the fabric
 *	fi_enable()	reserves room in the completion queues, and joins the shared receive
 *			context
 *	the end		the client, the peer or the provider ends the connection; after
 *			kofi_soft_ep_over() nothing is posted any more, and the worker
 *			completes what was posted
 *	fi_ep_drain()	ends the connection, and waits for what was posted
 *	fi_close()	ends the connection; when all users have gone, the endpoint is purged
 *			from its completion queues, and the provider frees it
 *
 * Scalable endpoints.  A &struct kofi_soft_ep may be a scalable endpoint, which has the address
 * and the address vector, or one of its contexts, which has the operations or the receives.
 * So a context ends by itself, with what it has posted, as any endpoint does.  A context is in
 * the list of its fabric, too, and the core keeps its scalable endpoint for it.  The provider
 * decides (kofi_soft_ep.hub) whether the worker of the context or that of the scalable
 * endpoint takes the operations that a context posts.
 *
 * Memory.  With kofi_soft_type.grows an endpoint begins with a few operations and receives.  A
 * call that finds none free has more of them allocated, without waiting, until there are as many
 * as the client has asked for.  If there is no memory, the call answers -EAGAIN, and the ready
 * callback is due after a short time, or when an operation ends.  FI_OPT_MEM_RESERVES has all of
 * them allocated in advance.
 *
 * References (kofi_soft_ep.users): an endpoint stays as long as its client has it open
 * and not drained, an operation of it is not over, or the provider has taken a reference.
 *
 * Operations.  A call takes a slot, copies what the client may change after its call, and
 * puts the operation into &kofi_soft_ep.posted under &kofi_soft_ep.lock.  The end of the
 * endpoint closes the list under this lock, too.  Then the provider's worker
 * (&kofi_soft_ep.work) runs, takes the operations out of the list, and calls
 * kofi_soft_op_done() for each, once.  So posting is short in any context.
 *
 * A message of one short buffer whose peer is in this kernel, and has a receive for it, is
 * received within its call (kofi_soft_ep.receiver).  So such a message needs no worker, in any
 * context.  If a client is to be called in a softirq, this holds for messages that are posted in
 * one.
 *
 * If the client has promised to post in process context (FI_OPT_MAY_SLEEP), and the provider
 * has kofi_soft_type.now, the provider takes operations within the client's call.  It leaves what
 * a callback posts to the task that calls it, if that looks for more (kofi_soft_ep.caller), or to
 * the worker, if other operations of the endpoint are under way.  A provider whose ->now never
 * sleeps (kofi_soft_type.now_any) takes the operations of all clients within their calls.
 *
 * The worker runs on the processor kofi_soft_ep.cpu.  The processor may go offline: then the
 * workqueue runs work items that are queued on it on other processors.  But it must have been
 * online once.
 *
 * Locks, from the outside to the inside:
 *
 *	kofi_soft_type.lock	mutex of the provider's: connections, listeners, requests
 *	kofi_soft_ep.lock	the list of operations, and its end
 *
 * No lock is held inside a call into the rest of kofi/util that may call a client.
 */
#ifndef _KOFI_SOFT_H
#define _KOFI_SOFT_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <kofi/av.h>
#include <kofi/bufpool.h>
#include <kofi/credit.h>
#include <kofi/ep.h>
#include <kofi/kept_op.h>
#include <kofi/pep.h>
#include <kofi/provider.h>
#include <kofi/srx.h>
#include <kofi/stat.h>

#define KOFI_SOFT_EVENTS	64	/* most unread completions of a peer's writes with data */
#define KOFI_SOFT_CTXS		64	/* most contexts of a scalable endpoint, each direction */
#define KOFI_SOFT_DELIVER	SZ_4K	/* most bytes of a message received within its call */

struct kofi_soft_ep;
struct kofi_soft_op;

/**
 * struct kofi_soft_ctx_attr - What a context is opened with
 * @fclass: FI_CLASS_TX_CTX or FI_CLASS_RX_CTX
 * @index: which one
 * @info: of its scalable endpoint, with the attributes of the context
 * @context: the client's pointer
 */
struct kofi_soft_ctx_attr {
	u32			fclass;
	u32			index;
	const struct fi_info	*info;
	void			*context;
};

/**
 * struct kofi_soft_type - A provider that moves the data itself
 * @wq: where its workers run; WQ_MEM_RECLAIM.  Set before the provider is registered
 * @lock: guards the lists of fabrics, and states of connections
 * @fabric: calls of a fabric; ->domain and ->eq_open are kofi_soft_domain_open() and
 *	kofi_soft_eq_open()
 * @domain: calls of a domain; ->cq_open is kofi_soft_cq_open()
 * @own_rx: calls of the receive side of an endpoint without a shared receive context
 * @mr_mode: FI_MR_VIRT_ADDR and the like that a domain may have
 * @fabric_size: bytes of a fabric of the provider's, which begins with &struct
 *	kofi_soft_fabric; 0: it has nothing else
 * @domain_size: bytes of a domain of the provider's, which begins with &struct
 *	kofi_soft_domain; 0: it has nothing else
 * @op_size: bytes of an operation of the provider's, which begins with &struct
 *	kofi_soft_op
 * @grows: an endpoint begins with a part of its operations and receives, and has more when they
 *	have been in use, see kofi_bufpool_init_part()
 * @max_queue: most operations of a queue
 * @max_msg: most bytes of an operation
 * @work: the worker of an endpoint
 * @now: take what is posted, for a client that may sleep; NULL: the worker does that.
 *	May sleep
 * @now_any: @now never sleeps, and is called in each call of a client, in any context
 * @admit: an operation goes to &kofi_soft_ep.posted if this allows it.  Otherwise its call
 *	answers -EAGAIN, and kofi_soft_admit_again() is due when this may allow it.
 *	kofi_soft_ep.lock is held.  NULL: each operation that has a slot
 * @event_room: a &struct kofi_soft_event has come back to an empty pool.  Any context
 * @reserves: FI_OPT_MEM_RESERVES is about to be set; NULL: endpoints of this type do not have
 *	this option.  May sleep
 * @join: the endpoint receives from its shared receive context from now on, or (false) is
 *	being closed; it may have none.  Sets kofi_soft_ep.srx.  May sleep
 * @shut: end the connection, or the attempt; the positive error is reported if the
 *	connection did not stand.  @lock is held
 * @gone: the namespace goes; the event of the connection has been reported.  @lock is held
 * @close: fi_close() has begun: end the connection as @shut; afterwards no lookup finds the
 *	endpoint.  @lock is held
 * @free: the endpoint is in use no more, and kofi_soft_ep_fini() is due.  May sleep
 * @stat: add what an endpoint reports of itself (kofi/stat.h) besides what all do; NULL: nothing.
 *	May sleep
 * @ctx: make a context of a scalable endpoint, by kofi_soft_ctx_init(); NULL: there are no
 *	scalable endpoints.  May sleep
 * @fabrics: &struct kofi_soft_fabric; guarded by @lock
 */
struct kofi_soft_type {
	struct workqueue_struct		*wq;
	struct mutex			*lock;		/* see above */
	const struct fi_ops_fabric	*fabric;
	const struct fi_ops_domain	*domain;
	const struct kofi_srx_ops	*own_rx;
	int				mr_mode;
	size_t				fabric_size;
	size_t				domain_size;
	size_t				op_size;
	bool				grows;
	size_t				max_queue;
	size_t				max_msg;
	void				(*work)(struct work_struct *work);
	void				(*now)(struct kofi_soft_ep *ep);
	bool				now_any;
	bool				(*admit)(struct kofi_soft_op *op);
	void				(*event_room)(struct kofi_soft_ep *ep);
	void				(*reserves)(void);
	void				(*join)(struct kofi_soft_ep *ep, bool join);
	void				(*shut)(struct kofi_soft_ep *ep, int err);
	void				(*gone)(struct kofi_soft_ep *ep);
	void				(*close)(struct kofi_soft_ep *ep);
	void				(*free)(struct kofi_soft_ep *ep);
	void				(*stat)(struct kofi_soft_ep *ep, struct kofi_stat *stat);
	int				(*ctx)(struct kofi_soft_ep *sep,
					       const struct kofi_soft_ctx_attr *attr,
					       struct kofi_soft_ep **ctx);
	struct list_head		fabrics;
};

/**
 * struct kofi_soft_fabric - A fabric: a network namespace
 * @fabric: what the client sees
 * @type: the provider
 * @of_type: place in the list of its provider
 * @net: the namespace, without a reference; NULL: it has gone.  Written under the
 *	provider's mutex, which guards the lists, too
 * @eps: &struct kofi_soft_ep
 * @peps: &struct kofi_soft_pep
 * @cqs: completion queues of all domains
 */
struct kofi_soft_fabric {
	struct fid_fabric		fabric;
	const struct kofi_soft_type	*type;
	struct list_head		of_type;
	struct net			*net;
	struct list_head		eps;
	struct list_head		peps;
	struct kofi_cqs			cqs;
};

/**
 * struct kofi_soft_domain - A domain
 * @mrs: what the client sees, and its regions
 * @fabric: parent
 * @addr_format: format of the addresses in its vectors
 * @shares: the info that it was opened with allows shared receive contexts
 */
struct kofi_soft_domain {
	struct kofi_mr_domain	mrs;
	struct kofi_soft_fabric	*fabric;
	u32			addr_format;
	bool			shares;
};

/**
 * struct kofi_soft_pep - A listener
 * @kpep: the common part
 * @fabric: parent
 * @of_fabric: place in the list of its fabric
 */
struct kofi_soft_pep {
	struct kofi_pep		kpep;
	struct kofi_soft_fabric	*fabric;
	struct list_head	of_fabric;
};

/**
 * struct kofi_soft_op - An operation of a transmit queue
 * @comp: its completion; has KOFI_COMP_MSG if it has failed at an endpoint without connections
 * @ep: the endpoint that it was posted to, whose slot it is
 * @entry: in &kofi_soft_ep.posted, then in a list of the provider's
 * @kept: what is to be done
 */
struct kofi_soft_op {
	struct kofi_msg_comp	comp;
	struct kofi_soft_ep	*ep;
	struct list_head	entry;
	struct kofi_kept_op	kept;
};

/**
 * struct kofi_soft_event - A write of a peer with remote CQ data, which uses no receive
 * @comp: its completion
 */
struct kofi_soft_event {
	struct kofi_msg_comp	comp;
};

/**
 * struct kofi_soft_ctxs - The contexts of a scalable endpoint
 * @info: what it was opened with
 * @nr_tx: elements of @tx
 * @nr_rx: elements of @rx
 * @rx: receive contexts that are open, by index: behind the elements of @tx
 * @tx: transmit contexts that are open, by index; @tx and @rx are guarded by
 *	kofi_soft_ep.lock of the scalable endpoint
 */
struct kofi_soft_ctxs {
	struct fi_info		*info;
	u32			nr_tx;
	u32			nr_rx;
	struct kofi_soft_ep	**rx;
	struct kofi_soft_ep	*tx[];
};

/**
 * struct kofi_soft_ep - An endpoint
 * @kep: the common part
 * @domain: parent
 * @ctxs: of a scalable endpoint; NULL: it is no scalable endpoint
 * @sep: scalable endpoint of a context; NULL: it is no context
 * @index: of a context
 * @hub: the endpoint whose @lock, @posted and worker serve operations that are posted here:
 *	itself, or @sep, see kofi_soft_set_hub()
 * @type: the provider
 * @of_fabric: place in the list of its fabric; guarded by the provider's mutex
 * @srx: where it receives: @own_srx, or that of a shared receive context
 * @own_srx: its own receives
 * @enabled: it has room in its completion queues; guarded by the provider's mutex
 * @drained: the client's reference has been given back; guarded by the provider's mutex
 * @users: see the top
 * @unused: completed when @users becomes 0
 * @slots: operations; the pool has the @lock of @hub
 * @rw_credit: fi_readsgl() and fi_writesgl() that may be posted
 * @events: &struct kofi_soft_event, of an endpoint that is a target
 * @lock: guards @posted and @over, and lists of the provider's; taken with interrupts off
 * @posted: operations that the worker has not taken, oldest first
 * @receiver: the peer, if it is in this kernel and receives messages within their calls; or NULL,
 *	as while something is posted.  The provider sets it; guarded by @lock, under which messages
 *	are received
 * @in_softirq: the client of @receiver, or that of this endpoint, is called in a softirq, so
 *	messages are received within their calls only in one; guarded by @lock
 * @over: nothing is posted any more; guarded by the @lock of @hub, as is @refused
 * @refused: @admit of the provider has refused an operation
 * @absent: flags of operations that the peer does not know; set before the connection stands
 * @max_rw_ops: FI_OPT_MAX_RW_OPS
 * @reserves: FI_OPT_MEM_RESERVES
 * @caller: a task that calls clients, and looks at @posted afterwards: the worker, or another
 *	that does its work; or NULL
 * @again: something was posted meanwhile by the same task
 * @work: the worker
 * @cpu: where it runs, see the top; WORK_CPU_UNBOUND: where it is queued
 * @dest: where to connect if fi_connect() does not say; family 0: nowhere
 */
struct kofi_soft_ep {
	struct kofi_ep			kep;
	struct kofi_soft_domain		*domain;
	struct kofi_soft_ctxs		*ctxs;
	struct kofi_soft_ep		*sep;
	u32				index;
	struct kofi_soft_ep		*hub;
	const struct kofi_soft_type	*type;
	struct list_head		of_fabric;
	struct kofi_srx			*srx;
	struct kofi_srx			own_srx;
	bool				enabled;
	bool				drained;
	refcount_t			users;
	struct completion		unused;
	struct kofi_bufpool		slots;
	struct kofi_credit		rw_credit;
	struct kofi_bufpool		events;
	spinlock_t			lock;		/* see above */
	struct list_head		posted;
	struct kofi_soft_ep		*receiver;
	bool				in_softirq;
	bool				over;
	bool				refused;
	u64				absent;
	size_t				max_rw_ops;
	int				reserves;
	struct task_struct		*caller;
	bool				again;
	struct work_struct		work;
	int				cpu;
	struct sockaddr_storage		dest;
};

/* May peers read or write memory through @ep?  Otherwise it has no @events */
static inline bool kofi_soft_is_target(const struct kofi_soft_ep *ep)
{
	return ep->kep.caps & (FI_RMA | FI_ATOMIC);
}

static inline struct kofi_soft_domain *to_kofi_soft_domain(struct fid_domain *domain)
{
	return container_of(domain, struct kofi_soft_domain, mrs.domain);
}

static inline struct kofi_soft_ep *to_kofi_soft_ep(struct fid *fid)
{
	return container_of(fid, struct kofi_soft_ep, kep.ep.fid);
}

/* The address vector of an endpoint, or of a context's scalable endpoint; NULL: there is none */
static inline struct kofi_av *kofi_soft_av(const struct kofi_soft_ep *ep)
{
	const struct fid_av *av = ep->sep ? ep->sep->kep.av : ep->kep.av;

	return av ? container_of(av, struct kofi_av, av) : NULL;
}

/**
 * kofi_soft_set_hub() - Have a scalable endpoint serve what is posted to a context
 * @ctx: the context, in kofi_soft_type.ctx()
 * @hub: its scalable endpoint
 *
 * Context: may sleep.
 */
static inline void kofi_soft_set_hub(struct kofi_soft_ep *ctx, struct kofi_soft_ep *hub)
{
	ctx->hub = hub;
	kofi_bufpool_use_lock(&ctx->slots, &hub->lock);
}

/* Runs the worker of @ep.  Any context */
static inline void kofi_soft_kick(struct kofi_soft_ep *ep)
{
	queue_work_on(READ_ONCE(ep->cpu), ep->type->wq, &ep->work);
}

/* Is the caller called by the task that looks at @posted afterwards?  Any context */
static inline bool kofi_soft_is_caller(const struct kofi_soft_ep *ep)
{
	return READ_ONCE(ep->caller) == current;
}

/*
 * Runs the worker of @ep for what has been posted.  If the caller is called by the worker, the
 * worker itself looks for it.  Any context
 */
static inline void kofi_soft_kick_posted(struct kofi_soft_ep *ep)
{
	if (kofi_soft_is_caller(ep))
		WRITE_ONCE(ep->again, true);
	else
		kofi_soft_kick(ep);
}

/*
 * The worker of @ep, or a task that does its work, is about to call clients.  If both do, the later
 * one is @caller, and what the clients of the earlier one post is started as if another task had
 * posted it.  Process context
 */
static inline void kofi_soft_begin_calls(struct kofi_soft_ep *ep)
{
	WRITE_ONCE(ep->caller, current);
}

/* The worker of @ep has called clients; returns whether it has to look for what was posted */
static inline bool kofi_soft_end_calls(struct kofi_soft_ep *ep)
{
	WRITE_ONCE(ep->caller, NULL);
	/*
	 * Softirqs that interrupted this task have set @again, and later ones queue the worker.
	 * Two tasks may come here: one of them gets it, and finds what was posted before
	 */
	return READ_ONCE(ep->again) && xchg(&ep->again, false);
}

/* Counts one more user of an endpoint that has a user */
static inline void kofi_soft_ep_get(struct kofi_soft_ep *ep)
{
	refcount_inc(&ep->users);
}

/* Counts one more user, and returns true, unless the endpoint has no user any more */
static inline bool kofi_soft_ep_try_get(struct kofi_soft_ep *ep)
{
	return refcount_inc_not_zero(&ep->users);
}

/**
 * kofi_soft_fabric_open() - Make a fabric: what ->fabric of a provider does
 * @type: the provider
 * @attr: as ->fabric
 * @fabric: as ->fabric
 * @context: as ->fabric
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int kofi_soft_fabric_open(struct kofi_soft_type *type,
			  struct fi_fabric_attr *attr,
			  struct fid_fabric **fabric, void *context);

/**
 * kofi_soft_net_exit() - Ready-made ->net_exit of a provider
 * @fabric: of the namespace that goes
 *
 * Ends all endpoints, listeners and completion queues.  When it returns, workers have
 * finished the work that this has caused, and no endpoint uses the namespace any more.
 *
 * Context: may sleep.
 */
void kofi_soft_net_exit(struct fid_fabric *fabric);

/**
 * kofi_soft_end_some() - The device of some endpoints and listeners has gone
 * @type: the provider
 * @ep_gone: has the device of this endpoint gone?  Called with the provider's mutex held
 * @pep_gone: has the device of this listener gone?  Called with the provider's mutex held
 *
 * Ends these endpoints and listeners as kofi_soft_net_exit() does; their completion queues
 * stay.
 *
 * Context: may sleep.
 */
void kofi_soft_end_some(struct kofi_soft_type *type,
			bool (*ep_gone)(struct kofi_soft_ep *ep),
			bool (*pep_gone)(struct kofi_soft_pep *pep));

/**
 * kofi_soft_forget() - For kofi_av.removed: endpoints forget an address
 * @type: the provider
 * @av: the vector
 * @index: index of the address
 *
 * Messages that wait for a receive do not name it as their sender any more.
 *
 * Context: may sleep.
 */
void kofi_soft_forget(const struct kofi_soft_type *type, const struct kofi_av *av, u32 index);

/**
 * kofi_soft_eq_open() - Ready-made ->eq_open of a fabric
 * @fabric: parent
 * @attr: as fi_eq_open()
 * @eq: as fi_eq_open()
 * @context: as fi_eq_open()
 *
 * Context: may sleep.
 * Return: as kofi_eq_open().
 */
int kofi_soft_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		      struct fid_eq **eq, void *context);

/**
 * kofi_soft_info_lend() - Have long lists, if the client lends its lists
 * @info: a result, without a mode
 * @hints: what the client asks for, or NULL.  A side without a mode of its own has that of the
 *	hints
 *
 * Context: any.
 */
void kofi_soft_info_lend(struct fi_info *info, const struct fi_info *hints);

/**
 * kofi_soft_info_short_keys() - Have keys of 32 bits, if the client asks for them
 * @domain: attributes of a result
 * @hints: what the client asks for, or NULL
 *
 * Context: any.
 */
void kofi_soft_info_short_keys(struct fi_domain_attr *domain, const struct fi_info *hints);

/**
 * kofi_soft_domain_open() - Ready-made ->domain of a fabric
 * @fabric: parent
 * @info: as fi_domain()
 * @domain: as fi_domain()
 * @context: as fi_domain()
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: another mr_mode; -ENOMEM.
 */
int kofi_soft_domain_open(struct fid_fabric *fabric, struct fi_info *info,
			  struct fid_domain **domain, void *context);

/**
 * kofi_soft_cq_open() - Ready-made ->cq_open of a domain
 * @domain: parent
 * @attr: as fi_cq_open()
 * @cq: as fi_cq_open()
 * @context: as fi_cq_open()
 *
 * Context: may sleep.
 * Return: as kofi_cq_open().
 */
int kofi_soft_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		      struct fid_cq **cq, void *context);

/**
 * kofi_soft_pep_init() - Set a new listener up, and add it to the list of its fabric
 * @pep: the listener, zeroed but for what belongs to the provider
 * @fabric: parent
 * @type: the provider's listeners
 * @info: as fi_passive_ep()
 * @context: as fi_passive_ep()
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: not FI_EP_MSG; or as kofi_pep_init().
 */
int kofi_soft_pep_init(struct kofi_soft_pep *pep, struct fid_fabric *fabric,
		       const struct kofi_pep_type *type, const struct fi_info *info,
		       void *context);

/**
 * kofi_soft_pep_fini() - The end of a listener, in kofi_pep_ops.free()
 * @pep: the listener
 *
 * Context: may sleep.
 */
void kofi_soft_pep_fini(struct kofi_soft_pep *pep);

/**
 * kofi_soft_ep_init() - Set a new endpoint up
 * @ep: the endpoint, zeroed
 * @type: the provider
 * @domain: parent
 * @info: as fi_endpoint(); the provider has checked the type
 * @limits: the provider's; they stay
 * @room: of its own receives
 * @context: as fi_endpoint()
 *
 * The endpoint has those data transfers for which @info has the capability and @limits has the
 * flags.  The provider sets the table of connections.  The provider also adds the endpoint
 * to the list of its fabric, under the mutex, unless the namespace has gone.
 *
 * Context: may sleep.
 * Return: 0, and kofi_soft_ep_fini() is due; -EINVAL: a size beyond the limits, or an
 * address that is none; -ENOMEM.
 */
int kofi_soft_ep_init(struct kofi_soft_ep *ep, const struct kofi_soft_type *type,
		      struct fid_domain *domain, const struct fi_info *info,
		      const struct kofi_ep_limits *limits,
		      const struct kofi_srx_attr *room, void *context);

/**
 * kofi_soft_sep_init() - Set a new scalable endpoint up
 * @sep: the scalable endpoint, zeroed
 * @type: the provider, which has &kofi_soft_type.ctx
 * @domain: parent
 * @info: as fi_scalable_ep()
 * @limits: the provider's; they stay
 * @context: as fi_scalable_ep()
 *
 * As kofi_soft_ep_init(), but it has no operations, no receives and no tables for them.
 *
 * Context: may sleep.
 * Return: 0, and kofi_soft_ep_fini() is due; -EINVAL: not FI_EP_RDM, too many contexts, shared
 * ones, or as kofi_soft_ep_init(); -ENOMEM.
 */
int kofi_soft_sep_init(struct kofi_soft_ep *sep, const struct kofi_soft_type *type,
		       struct fid_domain *domain, const struct fi_info *info,
		       const struct kofi_ep_limits *limits, void *context);

/**
 * kofi_soft_ctx_init() - Set a new context up, in kofi_soft_type.ctx()
 * @ctx: the context, zeroed
 * @sep: its scalable endpoint
 * @type: the type of @sep, or a type of the provider for contexts, with the lock of @sep's
 * @attr: of kofi_soft_type.ctx()
 * @room: of its receives; a transmit context has none
 *
 * Context: may sleep.
 * Return: 0, and kofi_soft_ep_fini() is due; as kofi_soft_ep_init().
 */
int kofi_soft_ctx_init(struct kofi_soft_ep *ctx, struct kofi_soft_ep *sep,
		       const struct kofi_soft_type *type,
		       const struct kofi_soft_ctx_attr *attr,
		       const struct kofi_srx_attr *room);

/**
 * kofi_soft_rx_ctx() - Find a receive context of a scalable endpoint
 * @sep: the scalable endpoint
 * @index: which one, any value
 *
 * Context: any, without the lock of @sep.
 * Return: the context, and kofi_soft_ep_put() is due; NULL: it is not open.
 */
struct kofi_soft_ep *kofi_soft_rx_ctx(struct kofi_soft_ep *sep, u32 index);

/**
 * kofi_soft_ep_fini() - The end of an endpoint
 * @ep: the endpoint, in kofi_soft_type.free(), or before it was in a list
 *
 * The worker does not run any more.
 *
 * Context: may sleep.
 */
void kofi_soft_ep_fini(struct kofi_soft_ep *ep);

/**
 * kofi_soft_ep_put() - Count one user less
 * @ep: an endpoint that may go afterwards
 *
 * Context: any.
 */
void kofi_soft_ep_put(struct kofi_soft_ep *ep);

/**
 * kofi_soft_ep_over() - Nothing is posted any more, and the worker runs
 * @ep: an endpoint whose state says so
 *
 * Context: may sleep, with the provider's mutex held.
 */
void kofi_soft_ep_over(struct kofi_soft_ep *ep);

/**
 * kofi_soft_dest() - Get the address that fi_connect() is to connect to
 * @ep: the endpoint
 * @src: its own address
 * @addr: from fi_connect(); NULL: the address that the client opened the endpoint with
 * @dest: the result
 *
 * Context: any.
 * Return: 0; -EADDRNOTAVAIL: the client has given none; -EINVAL: another family than @src,
 * or no address of a host.
 */
int kofi_soft_dest(const struct kofi_soft_ep *ep, const struct sockaddr_storage *src,
		   const void *addr, struct sockaddr_storage *dest);

/**
 * kofi_soft_shutdown() - Ready-made ->shutdown of an endpoint with connections
 * @ep: as fi_shutdown()
 * @flags: as fi_shutdown()
 *
 * Context: may sleep.
 * Return: 0; -ENOTCONN; -ENODEV: the namespace has gone.
 */
int kofi_soft_shutdown(struct fid_ep *ep, u64 flags);

/**
 * kofi_soft_setname() - ->setname of an endpoint that has its address from the start
 * @fid: as fi_setname()
 * @addr: as fi_setname()
 * @addrlen: as fi_setname()
 *
 * Context: any.
 * Return: -FI_EOPBADSTATE.
 */
int kofi_soft_setname(fid_t fid, void *addr, size_t addrlen);

/**
 * kofi_soft_admit_again() - &kofi_soft_type.admit may allow what it has refused
 * @ep: the endpoint whose operations it has refused, if any
 *
 * Calls the client if it was refused: now if a slot is free, or else when one comes back.
 *
 * Context: any, with the lock of kofi_soft_ep.hub held.
 */
void kofi_soft_admit_again(struct kofi_soft_ep *ep);

/**
 * kofi_soft_op_done() - An operation is over
 * @op: in no list
 * @err: positive error code; 0: success
 *
 * No client is called from here.
 *
 * Context: any, without &kofi_soft_ep.lock.  The endpoint may go afterwards.
 */
void kofi_soft_op_done(struct kofi_soft_op *op, int err);

/**
 * kofi_soft_ops_done() - Several operations of one endpoint have succeeded
 * @ops: operations in no list, in the order in which they are reported
 * @count: how many, not 0
 *
 * As kofi_soft_op_done() for each, without an error.
 *
 * Context: as kofi_soft_op_done().
 */
void kofi_soft_ops_done(struct kofi_soft_op *const *ops, unsigned int count);

/**
 * kofi_soft_event_get() - Get a completion for a write of the peer
 * @ep: the endpoint
 *
 * Context: any.
 * Return: the completion, and kofi_soft_event_report() or kofi_soft_event_put() is due; NULL:
 * all are unread, and kofi_soft_type.event_room() will be called.
 */
static inline struct kofi_soft_event *kofi_soft_event_get(struct kofi_soft_ep *ep)
{
	return kofi_bufpool_get(&ep->events);
}

/* Gives back a completion that is not reported.  Any context */
static inline void kofi_soft_event_put(struct kofi_soft_ep *ep,
				       struct kofi_soft_event *event)
{
	kofi_bufpool_put(&ep->events, event);
}

/**
 * kofi_soft_event_report() - A write of the peer with remote CQ data is over
 * @event: from kofi_soft_event_get()
 * @ep: the endpoint
 * @len: its bytes
 * @data: remote CQ data
 * @src_addr: address of the peer, or FI_ADDR_NOTAVAIL
 *
 * Context: any, without a lock.
 */
void kofi_soft_event_report(struct kofi_soft_event *event, struct kofi_soft_ep *ep,
			    size_t len, u64 data, fi_addr_t src_addr);

#endif /* _KOFI_SOFT_H */
