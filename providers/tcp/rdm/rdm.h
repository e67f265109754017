/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Endpoints without connections (FI_EP_RDM), on the wire that libfabric's tcp has for them.
 *
 *	ktcp_rdm	an endpoint (rdm.c)
 *	ktcp_peer	an address that the endpoint sends to or hears from (peer.c)
 *	ktcp_link	a connection with a peer (link.c); how it begins (cm.c)
 *	ktcp_ctx	a context of a scalable endpoint (sep.c)
 *	ktcp_unexp	a message that has come before its receive (unexpected.c), or its RTS
 *			(rts.c)
 *
 * The top of rdm.c describes the life of each.
 */
#ifndef _KOFI_TCP_RDM_H
#define _KOFI_TCP_RDM_H

#include <linux/bitmap.h>
#include <linux/in6.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <kofi/peer.h>
#include <kofi/av.h>
#include "../stream/stream.h"

#define KTCP_DIALS		64	/* connections that an endpoint makes at a time */
#define KTCP_DIAL_MS		10000	/* until a peer that is not reached is given up */
#define KTCP_DIAL_TICK		(HZ / 20)
#define KTCP_CTX_TRIES		3	/* requests for a context that a peer may hang up on */
#define KTCP_CTX_MS		2000	/* time for what a closing transmit context has begun */
#define KTCP_RDM_BACKLOG	4096	/* peers that connect at once */
#define KTCP_UNEXP_MAX		SZ_64K	/* bytes of an unexpected message that is kept */
#define KTCP_UNEXP_MSGS		512	/* unexpected messages of an endpoint */
#define KTCP_UNEXP_BYTES	SZ_16M	/* and their bytes */
#define KTCP_UNEXP_PEER_MSGS	64	/* unexpected messages of a peer */
#define KTCP_UNEXP_PEER_BYTES	SZ_1M	/* and their bytes */
#define KTCP_UNEXP_RTS		4096	/* RTS messages that wait at an endpoint */
#define KTCP_RTS_NUMBERS	256	/* numbers of RTS messages of a connection; 0 is none */
#define KTCP_UNEXP_WAIT		8192	/* unexpected messages, kept or in their sockets */
#define KTCP_UNEXP_PRESS	HZ	/* until another look for messages to be dropped */
#define KTCP_UNEXP_DROPS	16	/* of them, each time */

struct ktcp_link;
struct ktcp_rdm;

/**
 * struct ktcp_peer - A peer; there as long as it has a connection, or operations for it wait
 * @node: place in ktcp_rdm.peers
 * @key: its address
 * @addr: its address in the form of sockets
 * @rdm: endpoint whose peer it is
 * @entry: in ktcp_rdm.unsettled, if it is to have a connection and has none that stands
 * @link: its connection, or NULL; written with ktcp_cm_lock and kofi_soft_ep.lock held
 * @posted: struct kofi_soft_op to be sent to it; guarded by kofi_soft_ep.lock, as the next
 *	three
 * @waiting: length of @posted, as long as the peer is not @open; else 0
 * @open: its connection stands
 * @forgotten: it leaves the table
 * @firewall: it takes no connections
 * @redial: attempts to connect
 * @hang_ups: of those that have failed, requests for a context that the peer has hung up on
 * @rcu: readers of the table may still see it
 *
 * Guarded by ktcp_cm_lock where nothing else is said.
 */
struct ktcp_peer {
	struct rhash_head	node;
	struct kofi_peer_key	key;
	struct sockaddr_storage	addr;
	struct ktcp_rdm		*rdm;
	struct list_head	entry;
	struct ktcp_link	*link;
	struct list_head	posted;
	unsigned int		waiting;
	bool			open;
	bool			forgotten;
	bool			firewall;
	struct kofi_redial	redial;
	unsigned int		hang_ups;
	struct rcu_head		rcu;
};

/**
 * struct ktcp_unexp - A message that has come before its receive
 * @msg: its place in the engine of kofi/srx.h
 * @link: connection that it has come by, with a reference
 * @waits: it counts in kofi_source.waiting
 * @number: number of an RTS; 0: it is no RTS
 * @since: jiffies: when an RTS began to wait
 * @entry: in ktcp_rdm.settled; an RTS: in ktcp_link.settled
 * @of_link: in ktcp_link.unacked, if its sender wants an acknowledgment; an RTS: in
 *	ktcp_link.rts
 * @of_rdm: in ktcp_rdm.kept, if it is kept and no RTS
 * @behind: acknowledgments that wait for this one
 * @rx: receive that takes it; NULL: nobody wants it
 * @settled: @rx has been decided
 * @full: all of its payload is in @data; an RTS: ktcp_rts_wait() has seen it
 * @kept: bytes of @data
 * @loose: the bounds of its connection do not count, as the peer had hung up
 * @data: its payload; NULL: that is in the socket, or there is none
 *
 * From @entry to @full it is guarded by kofi_soft_ep.lock.
 */
struct ktcp_unexp {
	struct kofi_srx_msg	msg;
	struct ktcp_link	*link;
	bool			waits;
	u8			number;
	unsigned long		since;
	struct list_head	entry;
	struct list_head	of_link;
	struct list_head	of_rdm;
	u32			behind;
	struct kofi_rx		*rx;
	bool			settled;
	bool			full;
	size_t			kept;
	bool			loose;
	void			*data;
};

/**
 * enum ktcp_rts_state - State of the number of an RTS
 * @KTCP_RTS_NONE: it is free
 * @KTCP_RTS_WAITS: the RTS waits for a receive
 * @KTCP_RTS_TAKEN: the payload has been asked for, or will be
 */
enum ktcp_rts_state {
	KTCP_RTS_NONE,
	KTCP_RTS_WAITS,
	KTCP_RTS_TAKEN,
};

/**
 * struct ktcp_taken - An RTS of a peer's, by its number
 * @state: see &enum ktcp_rts_state
 * @rx: where the payload goes; NULL: nowhere
 * @len: its bytes
 */
struct ktcp_taken {
	enum ktcp_rts_state	state;
	struct kofi_rx		*rx;
	size_t			len;
};

/**
 * struct ktcp_link - A connection with a peer
 * @conn: the common part
 * @rdm: endpoint that it belongs to
 * @source: what counts for the address of the other end
 * @accepted: it counts in kofi_source.accepted
 * @over_since: jiffies: when it ended; guarded by kofi_soft_ep.lock
 * @index: receive context of the end that has accepted; not 0: only the end that has dialled
 *	sends operations
 * @contexts: the other end understands TCP_WIRE_CTXREQ; guarded by ktcp_cm_lock
 * @senders: bit map of transmit contexts that have sent by it; guarded by ktcp_conn.token
 * @peer: the other end, as long as this is the connection with it; NULL: the connection is over,
 *	or is the accepting end of one from the endpoint itself, or of one to a receive context;
 *	guarded by ktcp_cm_lock
 * @addr: address of the other end
 * @entry: in ktcp_rdm.links; guarded by ktcp_cm_lock
 * @refs: one of the connection itself, until it is over and TCP has let go of its pages; one of
 *	each unexpected message, and of each call that sends
 * @work: its worker
 * @free: frees it
 * @idle: queues the worker, which looks whether the connection has been idle for long enough
 * @idle_late: @idle has run, and the worker has not looked yet
 * @none: what is posted for a connection without @peer: always empty
 * @dialling: it counts among ktcp_rdm.dialling
 * @over: the worker is to give everything back
 * @released: the worker has put the reference of the connection itself
 * @err: why it is over, positive
 * @pid: incarnation of the other end
 * @deadline: jiffies: when it must stand
 * @head: of the message that comes; if the message is not kept, its payload stays in the socket
 * @room: room of unexpected messages that are kept; guarded by kofi_soft_ep.lock, as the next two
 * @rts_room: that of RTS messages
 * @unacked: unexpected messages that are to be acknowledged, oldest first
 * @stalled: in ktcp_rdm.stalled; guarded by kofi_soft_ep.lock
 * @hung_up: the stream ends behind a message that waits; guarded by ktcp_conn.token
 * @rts: RTS messages that wait for a receive; guarded by kofi_soft_ep.lock, as the next one
 * @settled: RTS messages that have a receive, or that nobody wants
 * @taken: the peer's RTS messages by number, KTCP_RTS_NUMBERS elements, or NULL; guarded by
 *	ktcp_conn.token, as the next four
 * @awaited: payloads that have been asked for, and have not begun to come
 * @cts: numbers of RTS messages whose payload is to be asked for
 * @declined: numbers of RTS messages whose refusal is to be sent
 * @numbers: numbers of our RTS messages that are in use
 */
struct ktcp_link {
	struct ktcp_conn	conn;
	struct ktcp_rdm		*rdm;
	struct kofi_source	*source;
	bool			accepted;
	unsigned long		over_since;
	u32			index;
	bool			contexts;
	unsigned long		senders;
	struct ktcp_peer	*peer;
	struct sockaddr_storage	addr;
	struct list_head	entry;
	refcount_t		refs;
	struct work_struct	work;
	struct rcu_work		free;
	struct delayed_work	idle;
	bool			idle_late;
	struct list_head	none;
	bool			dialling;
	bool			over;
	bool			released;
	int			err;
	u32			pid;
	unsigned long		deadline;
	struct ktcp_unexp	*head;
	struct kofi_quota_conn	room;
	struct kofi_quota_conn	rts_room;
	struct list_head	unacked;
	struct list_head	stalled;
	bool			hung_up;
	struct list_head	rts;
	struct list_head	settled;
	struct ktcp_taken	*taken;
	unsigned int		awaited;
	DECLARE_BITMAP(cts, KTCP_RTS_NUMBERS);
	DECLARE_BITMAP(declined, KTCP_RTS_NUMBERS);
	DECLARE_BITMAP(numbers, KTCP_RTS_NUMBERS);
};

/**
 * struct ktcp_rdm - An endpoint without connections, or a scalable endpoint
 * @soft: the common part; its worker routes operations to their peers
 * @upper: what it does with its connections
 * @listener: where peers connect to
 * @name: its address
 * @ifindex: the interface of @name; guarded by ktcp_cm_lock
 * @tclass: traffic class
 * @pid: its incarnation
 * @peers: struct ktcp_peer
 * @links: struct ktcp_link; guarded by ktcp_cm_lock
 * @sources: addresses of peers
 * @accepted: connections that were accepted and are not over; guarded by ktcp_cm_lock
 * @unsettled: struct ktcp_peer without a connection that stands; guarded by ktcp_cm_lock
 * @dialling: connections that begin; guarded by ktcp_cm_lock
 * @crowded: a peer waits for others to be reached; guarded by ktcp_cm_lock
 * @tick: looks at @unsettled
 * @ended: no connection begins any more; guarded by ktcp_cm_lock
 * @queue: operations that all of its transmit contexts together may post
 * @flushed: ktcp_rdm_flush() has run; only the worker uses it
 * @unrouted: length of kofi_soft_ep.posted; guarded by kofi_soft_ep.lock
 * @waiting: operations that wait for peers that are not open; guarded by kofi_soft_ep.lock, as
 *	the next five
 * @refused: an operation has been refused as too many waited, and ktcp_rdm_room() is due
 * @refused_early: an operation has been refused while others were not routed yet, which may be
 *	the reason
 * @recent: peer that the last operation was routed to, or NULL
 * @recent_addr: the address that the operation had
 * @recent_changes: kofi_av_changes() when the address was looked up
 * @room: room of unexpected messages that are kept; guarded by kofi_soft_ep.lock, as all that
 *	follow but @press
 * @rts_room: that of RTS messages
 * @unexp_waiting: messages that have a place in the engine
 * @kept: struct ktcp_unexp that are kept, without RTS messages, oldest first
 * @press: queues the worker, which looks for messages to drop, as long as there is no room
 * @pressed: @press has run, and the worker has not looked yet
 * @settled: unexpected messages that are to be given to their receive, or freed
 * @stalled: connections whose next message finds no place among the receives
 */
struct ktcp_rdm {
	struct kofi_soft_ep	soft;
	const struct ktcp_upper	*upper;
	struct ktcp_listener	listener;
	struct sockaddr_storage	name;
	int			ifindex;
	u32			tclass;
	u32			pid;
	struct rhashtable	peers;
	struct list_head	links;
	struct kofi_sources	sources;
	unsigned int		accepted;
	struct list_head	unsettled;
	unsigned int		dialling;
	bool			crowded;
	struct delayed_work	tick;
	bool			ended;
	unsigned int		queue;
	bool			flushed;
	unsigned int		unrouted;
	unsigned int		waiting;
	bool			refused;
	bool			refused_early;
	struct ktcp_peer	*recent;
	fi_addr_t		recent_addr;
	unsigned long		recent_changes;
	struct kofi_quota	room;
	struct kofi_quota	rts_room;
	u32			unexp_waiting;
	struct list_head	kept;
	struct delayed_work	press;
	bool			pressed;
	struct list_head	settled;
	struct list_head	stalled;
};

/**
 * struct ktcp_ctx - A context of a scalable endpoint
 * @soft: the common part, whose hub is the scalable endpoint
 * @late: ends the wait for what it has begun to send
 */
struct ktcp_ctx {
	struct kofi_soft_ep	soft;
	struct delayed_work	late;
};

static inline struct ktcp_rdm *to_ktcp_rdm(struct kofi_soft_ep *soft)
{
	return container_of(soft, struct ktcp_rdm, soft);
}

/* Only an endpoint with an address vector has operations */
static inline struct kofi_av *ktcp_rdm_av(const struct ktcp_rdm *rdm)
{
	return to_kofi_av(&rdm->soft.kep.av->fid);
}

static inline struct ktcp_link *to_ktcp_link(struct ktcp_conn *conn)
{
	return container_of(conn, struct ktcp_link, conn);
}

/* source.c */
bool ktcp_source_may_connect(struct ktcp_rdm *rdm, const struct sockaddr_storage *addr);
void ktcp_source_connected(struct ktcp_link *link, bool accepted);

/* peer.c */
int ktcp_peers_init(struct ktcp_rdm *rdm);
void ktcp_peers_destroy(struct ktcp_rdm *rdm);
struct ktcp_peer *ktcp_peer_find(struct ktcp_rdm *rdm, const struct sockaddr_storage *addr,
				 u32 index);
struct ktcp_peer *ktcp_peer_get(struct ktcp_rdm *rdm, const struct sockaddr_storage *addr,
				u32 index);
void ktcp_rdm_room(struct ktcp_rdm *rdm);
void ktcp_peer_set_open(struct ktcp_peer *peer, bool open);
void ktcp_peer_add(struct ktcp_peer *peer, struct kofi_soft_op *op);
void ktcp_peer_add_all(struct ktcp_peer *peer);
bool ktcp_peer_has_room(struct ktcp_rdm *rdm, const struct sockaddr_storage *addr, u32 index);
void ktcp_peer_withdraw(struct ktcp_peer *peer, const struct kofi_soft_ep *ctx,
			struct list_head *ops);
void ktcp_peer_settle(struct ktcp_peer *peer);
void ktcp_peer_not_reached(struct ktcp_peer *peer, int err);
void ktcp_peer_lost(struct ktcp_peer *peer, bool sent, int err);
void ktcp_peer_cancel(struct ktcp_peer *peer, int err);
void ktcp_peer_tick(struct work_struct *work);

/* link.c */
int ktcp_link_cache_init(void);
void ktcp_link_cache_exit(void);
bool ktcp_link_is_known(const struct ktcp_link *link);
bool ktcp_link_try_get(struct ktcp_conn *conn);
bool ktcp_link_is_over(const struct ktcp_conn *conn);
void ktcp_link_source(const struct ktcp_conn *conn, fi_addr_t *src_addr, fi_addr_t *source);
struct kofi_soft_ep *ktcp_ctx_find(struct ktcp_rdm *rdm, u32 index);
struct ktcp_link *ktcp_link_new(struct ktcp_rdm *rdm, const struct sockaddr_storage *addr);
int ktcp_link_dial(struct ktcp_peer *peer);
void ktcp_link_accept(struct ktcp_link *link, struct ktcp_peer *peer, struct ktcp_req *req);
void ktcp_link_opened(struct ktcp_link *link);
void ktcp_link_bind(struct ktcp_link *link, struct kofi_soft_ep *ctx);
void ktcp_link_drop(struct ktcp_link *link, int err);
void ktcp_link_end(struct ktcp_link *link, int err);
void ktcp_link_put(struct ktcp_link *link);

/* cm.c */
void ktcp_link_request(struct ktcp_link *link);
int ktcp_link_responded(struct ktcp_link *link);
void ktcp_rdm_asked(struct ktcp_listener *listener, struct ktcp_req *req);

/* rdm.c */
extern struct kofi_soft_type ktcp_rdm_type;
extern const struct fi_ops_cm ktcp_rdm_cm_ops;
bool ktcp_rdm_admit(struct kofi_soft_op *op);
void ktcp_rdm_now(struct kofi_soft_ep *soft);
void ktcp_rdm_event_room(struct kofi_soft_ep *soft);
void ktcp_rdm_join(struct kofi_soft_ep *soft, bool join);
void ktcp_rdm_work(struct work_struct *work);
struct kofi_srx_attr ktcp_rdm_rx_room(const struct fi_info *info);
int ktcp_rdm_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		      void *context);

int ktcp_rdm_scalable(struct fid_domain *domain, struct fi_info *info, struct fid_ep **sep,
		      void *context);

/* sep.c */
extern struct kofi_soft_type ktcp_ctx_type;
int ktcp_ctx_new(struct kofi_soft_ep *sep, const struct kofi_soft_ctx_attr *attr,
		 struct kofi_soft_ep **ctx);

/* idle.c */
void ktcp_idle_init(struct ktcp_link *link);
void ktcp_idle_begin(struct ktcp_link *link);
bool ktcp_idle_check(struct ktcp_conn *conn);
void ktcp_idle_heard(struct ktcp_conn *conn);
int ktcp_start_leave(struct ktcp_conn *conn);

/* unexpected.c */
extern const struct kofi_srx_ops ktcp_rdm_srx_ops;
void ktcp_unexp_init(struct ktcp_rdm *rdm);
bool ktcp_unexp_hold_ack(struct ktcp_conn *conn);
void ktcp_link_stall(struct ktcp_conn *conn);
struct kofi_soft_ep *ktcp_link_await(struct ktcp_conn *conn);
int ktcp_unexp_arrive(struct ktcp_conn *conn, struct kofi_srx_arrival *what);
int ktcp_unexp_look(struct ktcp_conn *conn);
bool ktcp_unexp_hung_up(struct ktcp_conn *conn);
void ktcp_unexp_filled(struct ktcp_conn *conn);
void *ktcp_unexp_data(const struct ktcp_conn *conn);
void ktcp_unexp_put(struct ktcp_unexp *unexp);
void ktcp_unexp_unkeep(struct ktcp_unexp *unexp);
void ktcp_unexp_abort(struct ktcp_conn *conn, int err);
void ktcp_unexp_settle(struct ktcp_rdm *rdm);
void ktcp_unexp_press(struct work_struct *work);
void ktcp_rdm_resume(struct kofi_srx *srx);
void ktcp_rdm_unstall(struct ktcp_rdm *rdm);

/* rts.c */
bool ktcp_rts_may_begin(const struct ktcp_conn *conn, const struct kofi_kept_op *kept);
u8 ktcp_rts_number(struct ktcp_conn *conn, const struct kofi_kept_op *kept);
void ktcp_rts_done(struct ktcp_conn *conn, u8 number);
bool ktcp_rts_signal_is_due(const struct ktcp_conn *conn);
bool ktcp_rts_signal(struct ktcp_conn *conn, struct ktcp_hdr *hdr);
int ktcp_start_cts(struct ktcp_conn *conn);
int ktcp_start_data(struct ktcp_conn *conn);
int ktcp_start_declined(struct ktcp_conn *conn);
int ktcp_rts_begin(struct ktcp_conn *conn);
void ktcp_rts_take(struct ktcp_conn *conn, u8 number, struct kofi_rx *rx, size_t len);
void ktcp_rts_wait(struct ktcp_unexp *unexp);
bool ktcp_rts_look(struct ktcp_conn *conn);
bool ktcp_rts_await(const struct ktcp_conn *conn);
void ktcp_rts_abort(struct ktcp_conn *conn, int err);

#endif /* _KOFI_TCP_RDM_H */
