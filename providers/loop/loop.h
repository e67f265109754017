/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kofi_loop: endpoints of one kernel that reach each other without any device.
 *
 * kofi/soft.h has the fabrics, the domains, and what all endpoints of software providers have
 * in common, from the open to the close.
 *
 *	loop_ep		an endpoint, with or without connections (ep.c)
 *	loop_op		an operation (exec.c)
 *	loop_srx	a shared receive context (ep.c)
 *	loop_pep	a listener; loop_req a connection request (cm.c)
 *	loop_name	an address that an endpoint or a listener has (name.c)
 *
 * A call puts an operation into a list of its endpoint.  The endpoint's worker takes the
 * operations in order and executes each: it finds the target, matches the message with a
 * receive or looks up the key, copies the data, and completes both sides.  So all copying is
 * done in process context, by one task per sending endpoint, and posting is short in any
 * context.  If the client has promised to post in process context (FI_OPT_MAY_SLEEP), and nothing
 * else is in flight, the call executes its operation itself, unless the worker is at it
 * (loop_ep.busy).
 *
 * An operation that cannot go on yet stays at the head of its list: a message for which
 * the peer of a connection has posted no receive, or a write with remote CQ data when the
 * target has no free completion to report the data with.  The endpoint then waits in a list of
 * the target (&struct loop_waiters), and its worker runs again when the target has room.  A
 * message to an endpoint without connections, or a tagged message, becomes an unexpected message
 * of the target instead, unless the target has LOOP_UNEXPECTED of them already.  So a receive for
 * one tag finds its message behind messages with other tags.
 *
 * Each context of a scalable endpoint is an endpoint of its own here.  The worker of a transmit
 * context executes what was posted to that context.  A receive context is a target, which
 * operations find by the name of the scalable endpoint and the index in the address.
 *
 * References (kofi_soft_ep.users): besides those that kofi/soft.h names, an endpoint has as
 * users its peer, workers that have looked it up or wait for it, and operations that are parked
 * at it or save its messages.
 *
 * Locks, from the outside to the inside:
 *
 *	loop_cm_lock		mutex: connections, listeners, requests
 *	kofi_soft_ep.lock	the lists of operations of an endpoint, its peer, and its end
 *	loop_waiters.lock
 *
 * None of these spinlocks is held while data are copied, or inside a call into kofi/util.
 */
#ifndef _KOFI_LOOP_H
#define _KOFI_LOOP_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/rhashtable-types.h>
#include <linux/sizes.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <kofi/addr.h>
#include <kofi/av.h>
#include <kofi/connreq.h>
#include <kofi/soft.h>
#include <kofi/srx.h>

#define LOOP_NAME		"loop"
#define LOOP_VERSION		FI_VERSION(0, 1)

#define LOOP_MR_MODE		(FI_MR_VIRT_ADDR | FI_MR_PROV_KEY)
#define LOOP_MAX_MSG		SZ_1G
#define LOOP_MANY		65536	/* reported where only memory is the limit */

#define LOOP_DEF_QUEUE		128	/* operations of a queue */
#define LOOP_MAX_QUEUE		4096
#define LOOP_ATOMIC_BYTES	4096	/* of an atomic operation */
#define LOOP_CM_DATA		KOFI_CM_DATA_MAX
#define LOOP_UNEXPECTED		1024	/* messages that wait for their receive */
#define LOOP_MIN_MULTI		64	/* FI_OPT_MIN_MULTI_RECV, bytes */
#define LOOP_COPY		SZ_256K	/* bytes between two looks at the scheduler */
#define LOOP_TURNS		8	/* in a run of the worker, as long as callbacks post */
#define LOOP_TURN_OPS		64	/* operations that are reported together */
#define LOOP_TURN_BYTES		SZ_64K	/* bytes of them, as long as the limit is not exceeded */
#define LOOP_CONNECT_MS		60000	/* FI_OPT_CONNECT_TIMEOUT */

/**
 * struct loop_key - Key of an address in the table of names
 * @net: its namespace
 * @type: FI_EP_MSG: of a listener; FI_EP_RDM: of an endpoint without connections;
 *	FI_EP_UNSPEC: of an endpoint that connects, which no lookup finds
 * @family: AF_INET or AF_INET6
 * @port: in network byte order
 * @scope: scope of an IPv6 address
 * @addr: IPv6 address, or an IPv4 address in the last four bytes
 *
 * loop_key_set() fills it in and zeroes its padding, as keys are compared as bytes.
 */
struct loop_key {
	struct net		*net;
	u32			type;
	u16			family;
	__be16			port;
	u32			scope;
	struct in6_addr		addr;
};

/**
 * struct loop_name - An address that is taken
 * @node: in the table of names
 * @key: the address
 * @addr: the address in the form that clients use
 * @taken: it is in the table
 */
struct loop_name {
	struct rhash_head	node;
	struct loop_key		key;
	struct sockaddr_storage	addr;
	bool			taken;
};

/**
 * struct loop_waiters - Endpoints whose workers wait for a resource of a target
 * @lock: guards @list; taken with interrupts off
 * @list: struct loop_ep, by wait.entry
 */
struct loop_waiters {
	spinlock_t		lock;		/* of list */
	struct list_head	list;
};

/**
 * struct loop_srx - A shared receive context
 * @ctx: what the client sees, and its receives
 * @waiters: senders whose messages find no receive
 */
struct loop_srx {
	struct kofi_srx_ctx	ctx;
	struct loop_waiters	waiters;
};

struct loop_ep;

/**
 * struct loop_wait - What the worker of an endpoint waits for
 * @entry: place in the list of @at, guarded by its lock
 * @at: waiters of @target that the endpoint is one of; NULL: it does not wait
 * @target: endpoint that lacks something, with a reference while @at is set
 *
 * Only the worker uses @at and @target, and only loop_wait_enter() and loop_wait_leave() set them.
 */
struct loop_wait {
	struct list_head	entry;
	struct loop_waiters	*at;
	struct loop_ep		*target;
};

/**
 * struct loop_op - An operation of a transmit queue
 * @op: the common part
 * @msg: the operation as an unexpected message
 * @rx: receive that it has been matched with
 * @target: endpoint at which it is parked, or whose messages it saves; with a reference
 * @parked: of a message: its number among those that were parked (loop_ep.parkings); of a save:
 *	the number of the last message before it
 */
struct loop_op {
	struct kofi_soft_op	op;
	struct kofi_srx_msg	msg;
	struct kofi_rx		*rx;
	struct loop_ep		*target;
	u64			parked;
};

/**
 * struct loop_ep - An endpoint, or a scalable endpoint or one of its contexts
 * @soft: the common part, whose lock guards @parked, @matched and @peer, too
 * @type: FI_EP_MSG or FI_EP_RDM
 * @name: its address; a context has only loop_name.addr, the address of its scalable endpoint
 * @waiters: senders that wait for a receive: @own_waiters, or those of a shared receive context
 * @own_waiters: senders that wait for a receive of its own
 * @event_waiters: senders that wait for a &struct kofi_soft_event
 * @parked: its messages that wait at their targets as unexpected messages
 * @matched: its messages that were parked and have a receive now
 * @saves: saves of messages (FI_SAVE) that wait for messages in @parked and @matched; only the
 *	worker accesses @saves and @parkings
 * @parkings: how many messages have been parked
 * @peer: endpoint at the other end of the connection, with a reference; or NULL
 * @busy: a task executes operations; guarded by the lock, as is @again
 * @again: that task has to look for more
 * @wait: what its worker waits for
 * @plugged: its worker has plugged the queue of its transmissions; only the worker accesses this
 *	and @plugged_at
 * @plugged_at: endpoint whose queue of receives its worker has plugged, with a reference; or NULL
 * @req: request that it was opened with, until accepted; guarded by loop_cm_lock
 * @asks: request that it has sent, until answered; guarded by loop_cm_lock
 * @cm_data: connection data of the peer
 */
struct loop_ep {
	struct kofi_soft_ep	soft;
	enum fi_ep_type		type;
	struct loop_name	name;
	struct loop_waiters	*waiters;
	struct loop_waiters	own_waiters;
	struct loop_waiters	event_waiters;
	struct list_head	parked;
	struct list_head	matched;
	struct list_head	saves;
	u64			parkings;
	struct loop_ep		*peer;
	bool			busy;
	bool			again;
	struct loop_wait	wait;
	bool			plugged;
	struct loop_ep		*plugged_at;
	struct loop_req		*req;
	struct loop_req		*asks;
	u8			cm_data[LOOP_CM_DATA];
};

/**
 * struct loop_req - A connection request
 * @req: its handle and event
 * @active: the connecting endpoint; NULL: it has gone
 * @net: namespace it came to
 * @data: connection data
 */
struct loop_req {
	struct kofi_connreq	req;
	struct loop_ep		*active;
	struct net		*net;
	u8			data[LOOP_CM_DATA];
};

/**
 * struct loop_pep - A listener
 * @soft: the common part
 * @name: its address
 */
struct loop_pep {
	struct kofi_soft_pep	soft;
	struct loop_name	name;
};

extern struct kofi_soft_type loop_type;
extern struct mutex loop_cm_lock;
extern const struct kofi_ep_limits loop_msg_limits;

/* info.c */
int loop_getinfo(u32 version, const char *node, const int service, u64 flags,
		 struct fi_info *hints, struct fi_info **info);

/* name.c */
int loop_names_init(void);
void loop_names_exit(void);
int loop_name_claim(struct loop_name *name, struct net *net,
		    enum fi_ep_type type, const struct sockaddr_storage *addr);
void loop_name_drop(struct loop_name *name);
struct loop_ep *loop_find_ep(struct net *net,
			     const struct sockaddr_storage *addr);
struct loop_pep *loop_find_pep(struct net *net,
			       const struct sockaddr_storage *addr);

/* domain.c */
int loop_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		void *context);

extern const struct fi_ops_domain loop_domain_ops;
extern const struct fi_ops_fabric loop_fabric_ops;

/* ep.c */
int loop_endpoint(struct fid_domain *domain, struct fi_info *info,
		  struct fid_ep **ep, void *context);
int loop_scalable_ep(struct fid_domain *domain, struct fi_info *info,
		     struct fid_ep **sep, void *context);
int loop_srx_context(struct fid_domain *domain, struct fi_rx_attr *attr,
		     struct fid_ep **srx, void *context);
void loop_end(struct loop_ep *ep);

/* cm.c */
extern const struct fi_ops_cm loop_ep_cm_ops;
extern const struct fi_ops_cm loop_rdm_cm_ops;
int loop_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_pep **pep, void *context);
int loop_req_adopt(struct loop_ep *ep, fid_t handle);
void loop_reqs_exit(void);
void loop_disconnect(struct loop_ep *ep, int err);
void loop_connect_late(struct work_struct *work);
void loop_gone(struct kofi_soft_ep *soft);

/* exec.c */
extern const struct kofi_srx_ops loop_srx_ops;
void loop_set_receiver(struct loop_ep *ep);
void loop_waiters_init(struct loop_waiters *waiters);
void loop_waiters_wake(struct loop_waiters *waiters);
void loop_event_room(struct kofi_soft_ep *soft);
void loop_now(struct kofi_soft_ep *soft);
void loop_work(struct work_struct *work);

static inline struct loop_ep *to_loop_soft(struct kofi_soft_ep *soft)
{
	return container_of(soft, struct loop_ep, soft);
}

static inline struct loop_ep *to_loop_ep(struct fid *fid)
{
	return to_loop_soft(to_kofi_soft_ep(fid));
}

static inline struct loop_ep *loop_op_ep(const struct loop_op *op)
{
	return to_loop_soft(op->op.ep);
}

static inline struct loop_srx *to_loop_srx(struct fid *fid)
{
	return container_of(fid, struct loop_srx, ctx.kep.ep.fid);
}

static inline void loop_ep_put(struct loop_ep *ep)
{
	kofi_soft_ep_put(&ep->soft);
}

#endif /* _KOFI_LOOP_H */
