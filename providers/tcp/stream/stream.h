/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections over TCP, and the endpoints that have one.
 *
 * kofi/soft.h has what all providers that move the data themselves have in common: fabrics,
 * domains, operations until the worker takes them, and endpoints from the open to the close.
 *
 *	ktcp_listener	a socket that listens, and connections without a request yet (listen.c)
 *	ktcp_pep	a passive endpoint (pep.c)
 *	ktcp_req	a connection request (pep.c)
 *	ktcp_ep		an endpoint: its life (ep.c) and how it connects (cm.c)
 *	ktcp_conn	a connection: its sending half and its receiving half (halves.h)
 *	ktcp_sock	a socket whose events wake a worker (sock.c)
 *	ktcp_linger	a socket that outlives its endpoint; lingering_max at most (linger.c)
 *	ktcp_upper	what an endpoint without connections does with its connections (../rdm)
 *
 * One work item of the endpoint, kofi_soft_ep.work, sends and receives (io.c).  It sends what
 * is posted (tx.c) and takes what has arrived (rx.c) until the socket has neither room nor
 * data, or its share of the processor is used up.  A post puts an operation into a list and
 * queues the work item; the socket's callbacks queue it, too.  The work item runs on one
 * processor, the endpoint's.
 *
 * A client that posts in process context only (FI_OPT_MAY_SLEEP) sends within its call
 * (ktcp_send_now()), unless another task has ktcp_conn.token: then that task sends, or has the
 * worker send.  If such a client has its callbacks called in a worker, the worker of its queue
 * receives what comes while no callback runs (ktcp_queue_turn()).  The token guards the transfer:
 * the state of a message that is half sent or half received has one user at a time.  token.h says
 * how it is taken.
 *
 * A connection ends in one place, too.  ktcp_ep_end() notes the end and queues the work item.
 * The worker then gives everything back: operations, the message that was being received,
 * responses that were due, and the socket.
 *
 * Locks, from the outside to the inside:
 *
 *	ktcp_cm_lock	mutex: states of connections, listeners, requests; held in a NOIO frame
 *			(ktcp_cm_enter())
 *	ktcp_conn.token	what is sent and received.  A turn, and a post, only try to take it; the
 *			worker waits for it when a connection begins or ends
 *	ktcp_linger_lock	mutex: sockets that outlive their endpoints; taken with neither of
 *				the two above held
 *	lock of a socket
 *	kofi_soft_ep.lock	the list of posted operations, and whether it is closed
 *	sk_callback_lock of a socket: which worker its events wake
 *
 * No lock is held while data are moved but, while they are read, that of their socket.  Completions
 * are queued with ktcp_conn.token, and clients are called when the token has been given back
 * (ktcp_transfer()).
 */
#ifndef _KOFI_TCP_STREAM_H
#define _KOFI_TCP_STREAM_H

#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <linux/sizes.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include <kofi/addr.h>
#include <kofi/connreq.h>
#include <kofi/soft.h>
#include <kofi/source.h>
#include <kofi/srx.h>
#include "../trace.h"
#include "../wire.h"
#include "halves.h"
#include "token.h"

#define KTCP_NAME		"tcp"
#define KTCP_VERSION		FI_VERSION(0, 1)

#define KTCP_MR_MODE		(FI_MR_VIRT_ADDR | FI_MR_PROV_KEY)
#define KTCP_MAX_MSG		SZ_1G
#define KTCP_MANY		65536	/* reported for attributes that only memory bounds */
#define KTCP_DEF_QUEUE		128	/* operations of a queue */
#define KTCP_MAX_QUEUE		16384
#define KTCP_COPY_MAX		SZ_16K	/* longer messages are sent without a copy */
#define KTCP_ZC_PAGES		16	/* most pages that one call of sendmsg() takes */
#define KTCP_GATHER_BYTES	SZ_64K	/* bytes of them, as long as the limit is not exceeded */
#define KTCP_RESPONSES		16	/* to reads of a peer, and refusals */
#define KTCP_MIN_MULTI		64	/* FI_OPT_MIN_MULTI_RECV, bytes */
#define KTCP_GREETINGS		128	/* connections of a listener without a request yet */
#define KTCP_GREETING_MS	10000	/* time until their request must be there */
#define KTCP_PRESSED_MS		1000	/* that time while another connection waits for a place */
#define KTCP_CROWDED_MS		100	/* and if its address has more places than it may keep */
#define KTCP_REQUESTS		1024	/* of a listener, which its client has not answered */
#define KTCP_EARLY_BUF		SZ_16K	/* receive buffer of a connection until it is accepted */
#define KTCP_TX_OP_FLAGS	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | \
				 FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)
#define KTCP_RX_OP_FLAGS	(FI_COMPLETION | FI_MULTI_RECV)
#define KTCP_TX_FLAGS		(KTCP_TX_OP_FLAGS | FI_REMOTE_CQ_DATA | FI_MORE | FI_FENCE)
#define KTCP_CNTR_DIRS		(FI_SEND | FI_RECV | FI_READ | FI_WRITE | \
				 FI_REMOTE_READ | FI_REMOTE_WRITE)
#define KTCP_CAN_MSG		(TCP_WIRE_CAN_SAVE | TCP_WIRE_CAN_REFUSE | TCP_WIRE_CAN_END_KEY)
#define KTCP_CAN_RDM		(TCP_WIRE_CAN_LEAVE | TCP_WIRE_CAN_CTX | TCP_WIRE_CAN_REFUSE | \
				 TCP_WIRE_CAN_DECLINE)
#define KTCP_CAN_RDM_RMA	TCP_WIRE_CAN_TAGGED	/* and with FI_RMA */
#define KTCP_CONNECT_MS		60000	/* FI_OPT_CONNECT_TIMEOUT */
#define KTCP_BACKLOG		128	/* of a listener whose client has set none */

/**
 * struct ktcp_sock - A socket whose events wake a worker
 * @sock: the socket, or NULL
 * @work: queued by events of the socket
 * @cpu: processor that @work is queued on; WORK_CPU_UNBOUND: that of the event
 * @take: have something else than @work take what has come; returns whether it does.  Any context,
 *	with sk_callback_lock held.  NULL: @work does; set at KTCP_OPEN
 * @rcvbuf: sk_rcvbuf of a limited socket before ktcp_sock_limit()
 * @data_ready: the socket's own callback
 * @write_space: the socket's own callback
 * @state_change: the socket's own callback
 */
struct ktcp_sock {
	struct socket		*sock;
	struct work_struct	*work;
	int			cpu;
	bool			(*take)(struct ktcp_sock *ksk);
	int			rcvbuf;
	void			(*data_ready)(struct sock *sk);
	void			(*write_space)(struct sock *sk);
	void			(*state_change)(struct sock *sk);
};

/**
 * struct ktcp_cm_msg - A message of connection management that comes piece by piece
 * @have: bytes that are there
 * @net_order: the sender's byte order is not ours
 * @cm: its header
 * @data: connection data
 */
struct ktcp_cm_msg {
	size_t			have;
	bool			net_order;
	struct ktcp_wire_cm	cm;
	u8			data[TCP_WIRE_CM_DATA];
} __packed __aligned(8);

/**
 * struct ktcp_srx - A shared receive context
 * @ctx: what the client sees, and its receives
 * @lock: guards @eps; taken with interrupts off
 * @eps: struct ktcp_ep that receive here
 */
struct ktcp_srx {
	struct kofi_srx_ctx	ctx;
	spinlock_t		lock;		/* of eps */
	struct list_head	eps;
};

/**
 * struct ktcp_budget - What one direction of a connection may still do in a run of its worker
 * @steps: sent: messages; received: steps of messages, of which each takes two or three
 * @bytes: of payload
 * @until: jiffies: when the time is over
 *
 * Bytes and time bound the run where the copy is slower than the network.
 */
struct ktcp_budget {
	int		steps;
	ssize_t		bytes;
	unsigned long	until;
};

#define KTCP_TURNS		8	/* in a run of the worker, as long as callbacks post */
#define KTCP_BUDGET_STEPS	64
#define KTCP_BUDGET_BYTES	SZ_1M
#define KTCP_BUDGET_TIME	(1 + HZ / 500)	/* jiffies */
#define KTCP_BUDGET		{ KTCP_BUDGET_STEPS, KTCP_BUDGET_BYTES, 0 }

struct ktcp_linger;
struct seq_file;

/**
 * struct ktcp_awaited - Since when the peer owes an answer
 * @since: jiffies: last look at which it owed none, had given one, or was giving it
 * @count: answers that had come then
 */
struct ktcp_awaited {
	unsigned long		since;
	u32			count;
};

/**
 * struct ktcp_alive - Whether the peer is still there; guarded by ktcp_conn.token
 * @look: queues the worker for the next look
 * @looking: something was on its way at the last look
 * @next: jiffies: when the next look is due
 * @answered: tcp_sock.rcv_tstamp at the last look: when the peer's last acknowledgment came
 * @heard: jiffies: last look at which the peer had answered, or was asked nothing
 * @open: jiffies: last look at which the window was open
 * @rest: jiffies: last look at which the peer owed nothing, or had gone on
 * @place: tcp_sock.copied_seq at that look
 * @begun: ktcp_rx.begun at that look
 * @behind: a message waited for something on this side then
 * @owed: jiffies: first look at which the peer owed the rest of this message, or payloads
 * @came: bytes that have come since
 * @seen: tcp_sock.copied_seq at the last look
 * @response: of the oldest read, or of the oldest access to a tagged receive
 * @ack: of a write, if that is the oldest operation that waits for an acknowledgment
 */
struct ktcp_alive {
	struct delayed_work	look;
	bool			looking;
	unsigned long		next;
	u32			answered;
	unsigned long		heard;
	unsigned long		open;
	unsigned long		rest;
	u32			place;
	u32			begun;
	bool			behind;
	unsigned long		owed;
	u64			came;
	u32			seen;
	struct ktcp_awaited	response;
	struct ktcp_awaited	ack;
};

/**
 * struct ktcp_upper - What an endpoint without connections does with its connections
 * @try_get: take a reference; returns false if the connection is about to go.  Any context, without
 *	ktcp_conn.token, as the next two
 * @put: give a reference back
 * @is_over: return true if the connection is over, or is about to be
 * @posted: route what the callbacks of a turn have posted.  May sleep, without ktcp_conn.token
 * @leave: there is nothing to do: is it time to leave?  Then TCP_WIRE_LEAVE is to be sent
 * @hung_up: the stream ends behind a message that waits; returns true if that message is to be
 *	looked at once more
 * @check: refuse RTS messages that have waited for too long; returns whether there are others
 * @awaits: return true if a payload was asked for and has not begun to come
 * @abort: the connection is over: give back what this end has of messages that wait; the positive
 *	error is that of receives that have taken one
 * @heard: a header has come, not of TCP_WIRE_LEAVE
 * @hold_ack: return true if the acknowledgment of the message that has ended has to wait
 * @start: a message of which the header has come is TCP_WIRE_LEAVE, TCP_WIRE_CTS, TCP_WIRE_DATA or
 *	the refusal of an RTS; returns 0, -ESHUTDOWN: the connection is to be closed, or as
 *	ktcp_conn_violated()
 * @arrive: a message has come, or TCP_WIRE_RTS; @what has no sender yet.  Returns 0, and the state
 *	says where the payload goes; -EAGAIN: it has to wait; another negative errno: the
 *	connection is over
 * @look: in KTCP_RX_PARKED: returns 0, and the state says where the payload goes now; or -EAGAIN
 * @data: in KTCP_RX_UNEXP: where the next bytes of the payload go
 * @filled: in KTCP_RX_UNEXP: all of the payload is there
 * @await: wait for the receive context that messages arrive at; returns it, if there is one now
 * @stall: have the worker look again when receives are posted, or completions are read
 * @source: what completions and receives call the other end, see ktcp_link_source()
 * @may_begin: return false if an operation has to wait for a number; with kofi_soft_ep.lock held
 * @number: the number of an operation that begins; 0: its payload is sent at once
 * @begun: an operation of a context of a scalable endpoint begins
 * @sent: the payload of an operation with a number has been sent
 * @signal_is_due: return false if @signal would find none
 * @signal: fill in the header of TCP_WIRE_CTS, or of the refusal of an RTS; returns false if
 *	neither is to be sent
 *
 * Connections of endpoints with connections have nothing of this.  All but the first four are
 * called with ktcp_conn.token held, or when the connection is over, by its worker.
 */
struct ktcp_upper {
	bool			(*try_get)(struct ktcp_conn *conn);
	void			(*put)(struct ktcp_conn *conn);
	bool			(*is_over)(const struct ktcp_conn *conn);
	void			(*posted)(struct ktcp_conn *conn);
	bool			(*leave)(struct ktcp_conn *conn);
	bool			(*hung_up)(struct ktcp_conn *conn);
	bool			(*check)(struct ktcp_conn *conn);
	bool			(*awaits)(const struct ktcp_conn *conn);
	void			(*abort)(struct ktcp_conn *conn, int err);
	void			(*heard)(struct ktcp_conn *conn);
	bool			(*hold_ack)(struct ktcp_conn *conn);
	int			(*start)(struct ktcp_conn *conn);
	int			(*arrive)(struct ktcp_conn *conn, struct kofi_srx_arrival *what);
	int			(*look)(struct ktcp_conn *conn);
	void			*(*data)(const struct ktcp_conn *conn);
	void			(*filled)(struct ktcp_conn *conn);
	struct kofi_soft_ep	*(*await)(struct ktcp_conn *conn);
	void			(*stall)(struct ktcp_conn *conn);
	void			(*source)(const struct ktcp_conn *conn, fi_addr_t *src_addr,
					  fi_addr_t *source);
	bool			(*may_begin)(const struct ktcp_conn *conn,
					     const struct kofi_kept_op *kept);
	u8			(*number)(struct ktcp_conn *conn, const struct kofi_kept_op *kept);
	void			(*begun)(struct ktcp_conn *conn, const struct kofi_soft_ep *ctx);
	void			(*sent)(struct ktcp_conn *conn, u8 number);
	bool			(*signal_is_due)(const struct ktcp_conn *conn);
	bool			(*signal)(struct ktcp_conn *conn, struct ktcp_hdr *hdr);
};

/**
 * enum ktcp_phase - Where a connection is, for the worker
 * @KTCP_IDLE: there is no socket yet
 * @KTCP_DIALLING: TCP connects
 * @KTCP_ASKED: the response to the request is to come
 * @KTCP_OPEN: data flow
 * @KTCP_OVER: the worker has given everything back
 */
enum ktcp_phase {
	KTCP_IDLE,
	KTCP_DIALLING,
	KTCP_ASKED,
	KTCP_OPEN,
	KTCP_OVER,
};

/**
 * struct ktcp_conn - A connection
 * @soft: the endpoint whose operations it sends
 * @at: where its messages arrive: @soft, or the receive context of a scalable endpoint; NULL:
 *	that context is not enabled yet.  Set once, with ktcp_cm_lock held
 * @work: its worker, which sends and receives; once there is a socket, only the worker uses
 *	@cm_msg
 * @cpu: where the worker runs, see &kofi_soft_ep.cpu
 * @posted: struct kofi_soft_op that are to be sent; guarded by kofi_soft_ep.lock
 * @stopped: nothing is taken out of @posted any more; guarded by kofi_soft_ep.lock
 * @upper: what an endpoint without connections does; NULL: it is that of a &struct ktcp_ep
 * @rendezvous: both ends speak version 1 (ktcp_wire_rdm.version); set before KTCP_OPEN
 * @leaves: the peer understands TCP_WIRE_LEAVE; set before KTCP_OPEN
 * @leave_due: TCP_WIRE_LEAVE is to be sent; guarded by @token, as the next three
 * @leaving: TCP_WIRE_LEAVE has been sent, and no message has come since
 * @left: the connection ends because it is idle
 * @used: jiffies: last message
 * @late_acks: acknowledgments that are due for unexpected messages
 * @refuses: the peer understands TCP_WIRE_REFUSAL; set before KTCP_OPEN
 * @declines: and TCP_WIRE_OF_RTS, by which an RTS is refused; set before KTCP_OPEN
 * @tagged_rma: and TCP_WIRE_TAGGED_READ and _WRITE; set before KTCP_OPEN
 * @few_reads: no more than KTCP_RESPONSES operations that have a response are under way; set
 *	before KTCP_OPEN
 * @responses: struct ktcp_response; none without FI_RMA
 * @token: of the task that sends or receives: the worker, the worker of @cq, or a client's call
 * @cq: queue whose worker takes a turn when data have come, or NULL; set at KTCP_OPEN
 * @turn: a turn by the worker of @cq; has a reference to the endpoint, or to the
 *	&struct ktcp_link, while it is due or runs
 * @request: type of its request
 * @phase: see &enum ktcp_phase; becomes KTCP_OPEN and KTCP_OVER with @token
 * @failed: negative errno, for the worker to see: the connection is over; 0: it is not.  Set by a
 *	call that sends, or by a turn
 * @err: positive error code of what TCP still has when the connection is over; set before KTCP_OVER
 * @violation: what the peer has done that the wire does not allow; 0: nothing
 * @recalled: a client wants back a region whose pages TCP may have
 * @cut: the end closes the socket at once, whatever TCP has still to deliver; set before the end
 * @linger: takes the socket over if TCP is to deliver the rest (linger.c)
 * @net_order: the peer's byte order is not ours
 * @saves: the peer understands TCP_WIRE_SAVE
 * @ends_keys: the peer understands TCP_WIRE_END_KEY
 * @sk: the socket; from KTCP_OPEN until KTCP_OVER it stays
 * @zc_done: struct ktcp_zc that TCP has let go of
 * @tx: the sending half
 * @rx: the receiving half
 * @alive: whether the peer is still there
 * @cm_msg: the request's data, then the peer's response
 */
struct ktcp_conn {
	struct kofi_soft_ep	*soft;
	struct kofi_soft_ep	*at;
	struct work_struct	*work;
	int			cpu;
	struct list_head	*posted;
	bool			stopped;
	const struct ktcp_upper	*upper;
	bool			rendezvous;
	bool			leaves;
	bool			leave_due;
	bool			leaving;
	bool			left;
	unsigned long		used;
	atomic_t		late_acks;
	bool			refuses;
	bool			declines;
	bool			tagged_rma;
	bool			few_reads;
	struct kofi_bufpool	responses;
	struct ktcp_token	token;
	struct kofi_cq		*cq;
	struct kofi_cq_turn	turn;
	enum ktcp_wire_cm_type	request;
	enum ktcp_phase		phase;
	int			failed;
	int			err;
	enum ktcp_violation	violation;
	bool			recalled;
	bool			cut;
	struct ktcp_linger	*linger;
	bool			net_order;
	bool			saves;
	bool			ends_keys;
	struct ktcp_sock	sk;
	struct llist_head	zc_done;
	struct ktcp_tx		tx;
	struct ktcp_rx		rx;
	struct ktcp_alive	alive;
	struct ktcp_cm_msg	cm_msg;
};

/**
 * struct ktcp_ep - An endpoint
 * @soft: the common part; its worker is that of the connection
 * @conn: its connection
 * @of_srx: place in the list of its shared receive context
 * @tclass: traffic class
 * @req: request that it was opened with, until accepted; guarded by ktcp_cm_lock
 * @src: its own address, as far as the client has set it
 * @ifindex: the interface of its address; 0: it has none; guarded by ktcp_cm_lock
 */
struct ktcp_ep {
	struct kofi_soft_ep	soft;
	struct ktcp_conn	conn;
	struct list_head	of_srx;
	u32			tclass;
	struct ktcp_req		*req;
	struct sockaddr_storage	src;
	int			ifindex;
};

/**
 * struct ktcp_req - A connection, from accept() until an endpoint has it
 * @req: its place in the registry (pep.c), once the request is there
 * @entry: in ktcp_listener.greetings until the request is there
 * @sk: the socket
 * @msg: the request
 * @deadline: jiffies: when the request must be there
 * @from: address of the peer
 * @pep: the passive endpoint, until an endpoint has the connection
 * @net: namespace it came to
 */
struct ktcp_req {
	struct kofi_connreq	req;
	struct list_head	entry;
	struct ktcp_sock	sk;
	struct ktcp_cm_msg	msg;
	unsigned long		deadline;
	struct kofi_source_key	from;
	struct ktcp_pep		*pep;
	struct net		*net;
};

/**
 * struct ktcp_listener - A socket that listens; guarded by ktcp_cm_lock
 * @fid: the endpoint or passive endpoint that owns it
 * @asked: called when a request is there; the struct ktcp_req is the function's
 * @contexts: the request may be TCP_WIRE_CTXREQ
 * @tclass: traffic class of its connections
 * @net: its namespace
 * @open: connections are accepted
 * @sk: the socket
 * @work: accepts, and reads requests
 * @late: queues @work when a greeting has taken too long, or to accept again after an error
 * @greetings: struct ktcp_req whose request is not there yet
 * @nr_greetings: length of @greetings
 */
struct ktcp_listener {
	const struct fid	*fid;
	void			(*asked)(struct ktcp_listener *listener, struct ktcp_req *req);
	bool			contexts;
	u32			tclass;
	struct net		*net;
	bool			open;
	struct ktcp_sock	sk;
	struct work_struct	work;
	struct delayed_work	late;
	struct list_head	greetings;
	unsigned int		nr_greetings;
};

/**
 * struct ktcp_pep - A passive endpoint
 * @soft: the common part
 * @listener: its listener
 * @nr_requests: number of its struct ktcp_req in the registry; guarded by ktcp_cm_lock
 */
struct ktcp_pep {
	struct kofi_soft_pep	soft;
	struct ktcp_listener	listener;
	unsigned int		nr_requests;
};

/* common.c */
extern struct workqueue_struct *ktcp_wq;
extern struct mutex ktcp_cm_lock;
unsigned int ktcp_cm_enter(void);
void ktcp_cm_leave(unsigned int noio);

/* sock.c */
int ktcp_sock_new(struct net *net, int family, struct socket **sock);
void ktcp_sock_setup(struct socket *sock, u32 tclass);
void ktcp_sock_use_reserves(struct socket *sock);
void ktcp_sock_release(struct socket *sock);
void ktcp_reserves_prepare(void);
void ktcp_reserves_exit(void);
void ktcp_sock_attach(struct ktcp_sock *sk, struct socket *sock,
		      struct work_struct *work, int cpu);
void ktcp_sock_listen(struct ktcp_sock *sk, struct socket *sock,
		      struct work_struct *work);
void ktcp_sock_mute(struct ktcp_sock *sk);
struct socket *ktcp_sock_detach(struct ktcp_sock *sk);
void ktcp_sock_close(struct ktcp_sock *sk);
void ktcp_sock_limit(struct ktcp_sock *sk);
void ktcp_sock_unlimit(struct ktcp_sock *sk);
int ktcp_sock_name(struct socket *sock, bool peer, struct sockaddr_storage *addr);
void ktcp_note_interface(struct net *net, const struct sockaddr_storage *name, int *ifindex);
void ktcp_sock_prime(struct socket *sock);
void ktcp_sock_trim(struct socket *sock);
int ktcp_sock_recv(struct socket *sock, void *buf, size_t len);
int ktcp_cm_send(struct socket *sock, enum ktcp_wire_cm_type type, u64 can,
		 const void *data, size_t len);
int ktcp_cm_recv(struct socket *sock, struct ktcp_cm_msg *msg);

/* ep.c */
extern struct kofi_soft_type ktcp_ep_type;
extern const struct kofi_ep_limits ktcp_limits;
int ktcp_ep_cache_init(void);
void ktcp_ep_cache_exit(void);
int ktcp_msg_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		      void *context);
int ktcp_srx_context(struct fid_domain *domain, struct fi_rx_attr *attr,
		     struct fid_ep **srx, void *context);

/* cm.c */
extern const struct fi_ops_cm ktcp_ep_cm_ops;
void ktcp_ep_end(struct ktcp_ep *ep, int err);
void ktcp_ep_stop(struct ktcp_ep *ep);
void ktcp_ep_name(struct ktcp_ep *ep, struct sockaddr_storage *name);
void ktcp_ep_note_interface(struct ktcp_ep *ep);
void ktcp_connect_late(struct work_struct *work);
int ktcp_dial(struct ktcp_conn *conn);
int ktcp_pick_cpu(const struct kofi_soft_ep *soft);
int ktcp_sock_dial(struct kofi_soft_ep *soft, struct sockaddr_storage *src,
		   struct sockaddr_storage *dest, u32 tclass, struct socket **sock);
int ktcp_responded(struct ktcp_ep *ep);

/* listen.c */
void ktcp_req_free(struct ktcp_req *req);
void ktcp_listener_init(struct ktcp_listener *listener, const struct fid *fid, u32 tclass,
			void (*asked)(struct ktcp_listener *listener, struct ktcp_req *req));
int ktcp_listener_bind(struct ktcp_listener *listener, struct net *net,
		       struct sockaddr_storage *addr);
void ktcp_listener_open(struct ktcp_listener *listener);
void ktcp_listener_close(struct ktcp_listener *listener);
void ktcp_listener_fini(struct ktcp_listener *listener);

/* pep.c */
int ktcp_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_pep **pep, void *context);
int ktcp_req_adopt(struct ktcp_ep *ep, fid_t handle);
void ktcp_reqs_exit(void);
void ktcp_show_listener(struct seq_file *file, struct kofi_soft_pep *soft);

/* trace.c */
int ktcp_violated(const struct fid *fid, struct socket *sock, enum ktcp_violation reason);

/* io.c */
int ktcp_conn_init(struct ktcp_conn *conn, struct kofi_soft_ep *soft, struct work_struct *work,
		   struct list_head *posted, u64 caps);
void ktcp_conn_fini(struct ktcp_conn *conn);
void ktcp_conn_open(struct ktcp_conn *conn);
int ktcp_transfer(struct ktcp_conn *conn);
void ktcp_try_send(struct ktcp_conn *conn);
struct socket *ktcp_conn_stop(struct ktcp_conn *conn, int err);

/* linger.c */
struct ktcp_linger *ktcp_linger_new(void);
void ktcp_hang_up(struct ktcp_conn *conn, struct socket *sock);
void ktcp_linger_show(struct seq_file *file);
int ktcp_linger_init(void);
void ktcp_linger_exit(void);

/* timeout.c */
unsigned long ktcp_peer_timeout(void);
unsigned long ktcp_window_timeout(void);
unsigned long ktcp_message_timeout(void);
u32 ktcp_message_rate(void);
unsigned long ktcp_rts_timeout(void);
void ktcp_alive_setup(struct sock *sk);

/* alive.c */
void ktcp_alive_init(struct ktcp_alive *alive);
int ktcp_alive_check(struct ktcp_conn *conn);
void ktcp_alive_stop(struct ktcp_alive *alive);

/* tx.c */
void ktcp_tx_init(struct ktcp_tx *tx);
struct kofi_soft_op *ktcp_next_posted(struct ktcp_conn *conn, bool busy);
int ktcp_send(struct ktcp_conn *conn, struct ktcp_budget *budget);
void ktcp_tx_abort(struct ktcp_conn *conn, int err);

/* response.c */
void ktcp_response_done(struct ktcp_conn *conn, struct ktcp_response *response, int err);
bool ktcp_response_lend(struct ktcp_conn *conn, struct ktcp_response *response);
bool ktcp_response_save(struct ktcp_conn *conn, struct ktcp_response *response);
bool ktcp_response_is_refused(const struct ktcp_conn *conn, struct ktcp_response *response);
bool ktcp_response_recall(struct ktcp_conn *conn);
bool ktcp_response_reads(struct ktcp_conn *conn, u64 key);

/* zerocopy.c */
bool ktcp_zc_begin(struct ktcp_conn *conn, struct ktcp_zc *zc, size_t len);
void ktcp_zc_fill(struct ktcp_zc *zc, struct msghdr *msg, struct bio_vec *bvec);
void ktcp_zc_taken(struct ktcp_zc *zc, const struct msghdr *msg);
void ktcp_zc_end(struct ktcp_zc *zc, bool sent);
void ktcp_zc_reap(struct ktcp_conn *conn);
void ktcp_zc_show(struct seq_file *file);

/* start.c */
int ktcp_rx_start(struct ktcp_conn *conn);
void ktcp_rx_next(struct ktcp_conn *conn);
struct kofi_soft_op *ktcp_rx_op(struct list_head *ops);
bool ktcp_may_refuse(const struct ktcp_conn *conn);
int ktcp_refuse(struct ktcp_conn *conn, enum ktcp_wire_reason reason);
int ktcp_rma_ended(struct ktcp_conn *conn, const struct kofi_rma *rma);

/* rx.c */
void ktcp_rx_init(struct ktcp_rx *rx);
int ktcp_recv(struct ktcp_conn *conn, struct ktcp_budget *budget);
bool ktcp_recv_waits(const struct ktcp_conn *conn);
bool ktcp_recv_is_due(const struct ktcp_conn *conn);
void ktcp_rx_abort(struct ktcp_conn *conn, int err);

static inline bool ktcp_budget_left(const struct ktcp_budget *budget)
{
	return budget->steps > 0 && budget->bytes > 0 && time_before_eq(jiffies, budget->until);
}

/* Does what ktcp_cm_recv() has returned violate the wire, where one of two types may come? */
static inline bool ktcp_cm_is_foul(int type, int may, int may_too)
{
	return type < 0 ? type == -EPROTO || type == -ENOPROTOOPT :
			  type != may && type != may_too;
}

static inline struct ktcp_ep *to_ktcp_soft(struct kofi_soft_ep *soft)
{
	return container_of(soft, struct ktcp_ep, soft);
}

static inline struct ktcp_ep *to_ktcp_ep(struct fid *fid)
{
	return to_ktcp_soft(to_kofi_soft_ep(fid));
}

static inline struct ktcp_srx *to_ktcp_srx(struct fid *fid)
{
	return container_of(fid, struct ktcp_srx, ctx.kep.ep.fid);
}

/* The event comes when the connection ends: the lock of the socket may be held now */
static inline int ktcp_conn_violated(struct ktcp_conn *conn, enum ktcp_violation reason)
{
	conn->violation = reason;
	return -EPROTO;
}

/* What this end says that it understands */
static inline u64 ktcp_conn_can(const struct ktcp_conn *conn)
{
	if (!conn->upper)
		return KTCP_CAN_MSG;
	if (!conn->responses.count)
		return KTCP_CAN_RDM;
	return KTCP_CAN_RDM | KTCP_CAN_RDM_RMA;
}

/*
 * Of two ends, the one that has accepted does not ask for more than the peer has places for.  So
 * the peer goes on receiving, and takes the responses that this end has for it.  If neither end
 * did, each might wait for a place, and receive nothing.  What is not kOFI receives always.
 */
static inline bool ktcp_accepts_few(const struct ktcp_wire_cm *request)
{
	return ktcp_cm_can(request, ~TCP_WIRE_KOFI_MASK);
}

/* Was a payload asked for that has not begun to come? */
static inline bool ktcp_data_is_awaited(const struct ktcp_conn *conn)
{
	lockdep_assert_held(&conn->token);
	return conn->upper && conn->upper->awaits(conn);
}

/* Where messages arrive, or NULL.  Called with ktcp_conn.token held */
static inline struct kofi_soft_ep *ktcp_conn_at(const struct ktcp_conn *conn)
{
	/* Pairs with ktcp_link_bind() */
	return smp_load_acquire(&conn->at);
}

/* Queues the worker of @conn.  Any context */
static inline void ktcp_kick(struct ktcp_conn *conn)
{
	queue_work_on(READ_ONCE(conn->cpu), conn->soft->type->wq, conn->work);
}

/* Gives the token of @conn back; the worker does what other tasks have come for.  Any context */
static inline void ktcp_give(struct ktcp_conn *conn)
{
	if (ktcp_token_give(&conn->token))
		ktcp_kick(conn);
}

#endif /* _KOFI_TCP_STREAM_H */
