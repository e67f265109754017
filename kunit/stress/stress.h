/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of kofi_stress_test.ko share: several threads make random calls on
 * the same objects for some time.
 *
 * The harness keeps the rules that fi_*.h gives to clients and no others: the call
 * that closes an object is accompanied by no other on it, so each object that may
 * be closed has a lock, shared by its users, which are never waited for.  Everything
 * else may meet everything else.
 *
 * Each thread draws its calls from a generator of its own.  Its seed follows from the
 * one that is printed, so the same calls are made again, though not at the same
 * moments.
 */
#ifndef _KUNIT_STRESS_H
#define _KUNIT_STRESS_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/rwsem.h>
#include <linux/scatterlist.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <kunit/test.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#define ST_THREADS	4
#define ST_EPS		8
#define ST_MRS		4
#define ST_DEPTH	8	/* of the queues of endpoints */
#define ST_OPS		24	/* of an endpoint, more than fit */
#define ST_MULTIS	2	/* and receives for several messages */
#define ST_ALL_OPS	(ST_OPS + ST_MULTIS)
#define ST_LEN		256
#define ST_RDM_LEN	12288	/* of messages without connections */
#define ST_PATIENCE_MS	60000
#define ST_ERRNOS	12
#define ST_PIECES	3	/* of the list of a move */
#define ST_RW_OPS	2	/* of an endpoint in flight */

/* Everything that is called; the table in run.c has the names */
enum st_call {
	ST_GETINFO, ST_FABRIC, ST_DOMAIN, ST_EQ_OPEN, ST_CQ_OPEN, ST_CNTR_OPEN,
	ST_PASSIVE_EP, ST_ENDPOINT, ST_BIND, ST_ENABLE, ST_OPTIONS, ST_LISTEN,
	ST_CONNECT, ST_ACCEPT, ST_REJECT, ST_SHUTDOWN, ST_NAME,
	ST_MR_REG, ST_MR_BIND, ST_MR_ENABLE, ST_MR_DISABLE, ST_MR_REFRESH,
	ST_MR_CLOSE,
	ST_SRX, ST_SRX_CLOSE, ST_SEND, ST_INJECT, ST_RECV, ST_WRITE, ST_READ,
	ST_MOVE, ST_ATOMIC,
	ST_CQ_READ, ST_CQ_SREAD, ST_CQ_READERR, ST_EQ_READ, ST_EQ_WRITE,
	ST_CNTR, ST_CLOSE, ST_CLOSE_PARENT,
	ST_AV, ST_AV_INSERT, ST_AV_REMOVE, ST_RDM_SEND, ST_RDM_TSEND,
	ST_RDM_INJECT, ST_RDM_RECV, ST_RDM_TRECV, ST_RDM_PEEK, ST_RDM_CLAIM,
	ST_RDM_RMA, ST_RDM_ATOMIC, ST_CANCEL, ST_CALLS,
};

enum st_kind {
	ST_POLL,
	ST_SLEEP,
	ST_HANDLER,
	ST_DONE,
	ST_KINDS,
};

enum st_op_state {
	ST_FREE,
	ST_TAKEN,
	ST_POSTED,
	ST_CLAIMED,	/* its context has a message, for a receive to take */
};

struct st_ep;

/**
 * struct st_op - An operation
 * @done: what its context points to, also where nobody calls it
 * @claim: the context of one that claims a message
 * @state: enum st_op_state
 * @ep: the endpoint
 * @recv: it is a receive, which can be cancelled; set before it is posted, as @claims
 * @multi: it is only used for receives for several messages
 * @claims: it claims a message if there is one
 * @call: by which it was posted, for the report of one that does not complete; as @len and @flags
 * @len: bytes
 * @flags: flags
 * @buf: its memory
 * @sgl: @buf in pieces
 */
struct st_op {
	union {
		struct fi_done		done;
		struct fi_context	claim;
	};
	atomic_t	state;
	struct st_ep	*ep;
	bool		recv;
	bool		multi;
	bool		claims;
	enum st_call	call;
	u32		len;
	u64		flags;
	u8		*buf;
	struct scatterlist sgl[ST_PIECES];
};

/**
 * struct st_cq - A completion queue
 * @cq: the queue
 * @kind: who takes its completions, and how
 * @readers: shared by who reads; a closer of an endpoint waits for them
 * @handling: the same for the handler
 */
struct st_cq {
	struct fid_cq		*cq;
	enum st_kind		kind;
	struct rw_semaphore	readers;
	spinlock_t		handling;	/* see above */
};

/**
 * struct st_ep - A place for an endpoint: even ones connect, odd ones accept
 * @world: whose
 * @lock: shared by users of @ep, exclusive for who opens and closes it
 * @ep: the endpoint, or NULL
 * @cq: of all its operations
 * @enabled: it is
 * @dead: it has been seen without a connection that it had
 * @shared: its receives are those of the shared receive context
 * @selective: it reports success only where that is asked for
 * @rw_ops: it may have rw operations
 * @scratch: memory of operations that report nothing
 * @mr_lock: of calls on @mr
 * @mr: a region for single operations, or NULL; its memory is @mr_mem
 * @mr_mem: a page
 * @mr_addr: where the region began last, for others
 * @mr_key: its last key, for others
 * @posted: operations that have been posted and are not over
 * @receives: of these, receives of an endpoint without connections
 * @name_lock: of @addr: shared by users, exclusive for a task that inserts or removes it
 * @addr: its name in the address vector, also when it has been closed; or FI_ADDR_NOTAVAIL
 * @ops: its operations
 */
struct st_ep {
	struct st_world		*world;
	struct rw_semaphore	lock;
	struct fid_ep		*ep;
	struct st_cq		*cq;
	bool			enabled;
	bool			dead;
	bool			shared;
	bool			selective;
	bool			rw_ops;
	u8			*scratch;
	struct mutex		mr_lock;	/* see above */
	struct fid_mr		*mr;
	u8			*mr_mem;
	u64			mr_addr;
	u64			mr_key;
	atomic_t		posted;
	atomic_t		receives;
	struct rw_semaphore	name_lock;	/* see above */
	fi_addr_t		addr;
	struct st_op		ops[ST_ALL_OPS];
};

/**
 * struct st_mr - A place for a region
 * @lock: as in &struct st_ep
 * @mr: the region, or NULL
 * @mem: its memory, a page
 */
struct st_mr {
	struct rw_semaphore	lock;
	struct fid_mr		*mr;
	u8			*mem;
};

/**
 * struct st_count - How often a call was made
 * @made: calls
 * @done: those that said 0, or gave something
 */
struct st_count {
	atomic64_t	made;
	atomic64_t	done;
};

/**
 * struct st_figures - What all worlds of a case have done
 * @calls: by enum st_call
 * @posted: operations posted
 * @completed: their completions, errors included
 * @errors: errors among these
 * @closed: operations whose endpoint was closed before they completed
 * @parts: messages that have come to receives for several, but for the last of each
 * @silent: operations of which nothing is reported unless they fail
 * @twice: completions of what was not posted
 * @lost: operations that had not completed when an ended connection was drained
 * @wrong: answers that the call may not give
 * @wrong_call: the call that gave the first of them
 * @wrong_errno: what it was
 */
struct st_figures {
	struct st_count	calls[ST_CALLS];
	atomic64_t	posted;
	atomic64_t	completed;
	atomic64_t	errors;
	atomic64_t	closed;
	atomic64_t	parts;
	atomic64_t	silent;
	atomic_t	twice;
	atomic_t	lost;
	atomic_t	wrong;
	int		wrong_call;
	int		wrong_errno;
};

/**
 * struct st_world - Objects of one provider, and who uses them
 * @test: the case
 * @figures: the case's
 * @prov_name: the provider
 * @rma: it has regions and remote memory access, flushes when a connection ends,
 *	and calls done functions
 * @rdm: its endpoints have no connections
 * @len: most bytes of a message
 * @tx_flags: flags of sends that it has, of those that rdm.c draws
 * @atomic: it has atomic operations
 * @info: what it offers
 * @srx_info: the same for endpoints that share receives
 * @fabric: fabric of @info
 * @domain: domain of @info
 * @eq: for all events
 * @cntr: a counter
 * @av: the addresses of @eps, if these have no connections
 * @cqs: a queue of each kind
 * @pep_lock: as in &struct st_ep, of @pep
 * @pep: listens, or NULL
 * @name: where
 * @eps: endpoints
 * @srx: the place of a shared receive context, if the provider has that; a receive
 *	completes in the queue of whoever takes it
 * @mrs: regions
 * @stop: threads are to end
 */
struct st_world {
	struct kunit		*test;
	struct st_figures	*figures;
	const char		*prov_name;
	bool			rma;
	bool			rdm;
	u32			len;
	u64			tx_flags;
	bool			atomic;
	struct fi_info		*info;
	struct fi_info		*srx_info;
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_eq		*eq;
	struct fid_cntr		*cntr;
	struct fid_av		*av;
	struct st_cq		cqs[ST_KINDS];
	struct rw_semaphore	pep_lock;
	struct fid_pep		*pep;
	struct sockaddr_storage	name;
	struct st_ep		eps[ST_EPS];
	struct st_ep		srx;
	struct st_mr		mrs[ST_MRS];
	bool			stop;
};

/**
 * struct st_thread - One of those who call
 * @world: on what
 * @rnd: its generator
 * @task: runs it
 * @ended: it has
 */
struct st_thread {
	struct st_world		*world;
	struct rnd_state	rnd;
	struct task_struct	*task;
	struct completion	ended;
};

/* Something that a thread does, and how often among all */
struct st_act {
	void		(*act)(struct st_thread *thread);
	unsigned int	weight;
};

static inline void st_op_note(struct st_op *op, enum st_call call, u32 len, u64 flags)
{
	op->call = call;
	op->len = len;
	op->flags = flags;
}

/* A number below @ceil */
u32 st_below(struct st_thread *thread, u32 ceil);

/* run.c: counts an answer, looks whether it is allowed, and passes it on */
long st_said(struct st_world *world, enum st_call call, long ret);
const char *st_call_name(enum st_call call);
int st_getinfo(struct st_world *world, enum fi_ep_type type, u64 caps);
int st_world_open(struct st_world *world);
void st_world_close(struct st_world *world);
void st_world_run(struct st_world *world, u32 seed, unsigned int ms);
void st_print(struct kunit *test, struct st_figures *figures);

/* post.c */
extern const struct st_act st_post_acts[], st_queue_acts[];
extern const unsigned int st_post_count, st_queue_count;
int st_cqs_open(struct st_world *world);
void st_cqs_close(struct st_world *world);
void st_poll(struct st_cq *cq, struct st_world *world);
void st_await_readers(struct st_cq *cq);
struct st_ep *st_ep_use(struct st_thread *thread);
struct st_op *st_op_take(struct st_thread *thread, struct st_ep *ep);
struct st_op *st_op_take_multi(struct st_thread *thread, struct st_ep *ep);
void st_op_begin(struct st_op *op);
void st_op_end(struct st_op *op, long ret);
void st_ep_sweep(struct st_ep *ep);
bool st_target(struct st_thread *thread, u64 *addr, u64 *key);

/* conn.c */
extern const struct st_act st_conn_acts[], st_object_acts[];
extern const unsigned int st_conn_count, st_object_count;
int st_pep_open(struct st_world *world);
void st_pep_close(struct st_world *world);
void st_ep_close(struct st_ep *ep, bool drain);

/* srx.c */
extern const struct st_act st_srx_acts[];
extern const unsigned int st_srx_count;
int st_srx_open(struct st_world *world);
void st_srx_close(struct st_world *world);
bool st_srx_join(struct st_world *world, struct st_ep *ep);
void st_srx_recv(struct st_thread *thread);

/* more.c */
extern const struct st_act st_more_acts[];
extern const unsigned int st_more_count;
void st_mr_open(struct st_ep *ep);
void st_mr_close(struct st_ep *ep);

/* rdm.c */
extern const struct st_act st_rdm_acts[];
extern const unsigned int st_rdm_count;
int st_rdm_find(struct st_world *world, bool rma);
int st_rdm_open(struct st_world *world);
void st_rdm_close(struct st_world *world);

#endif /* _KUNIT_STRESS_H */
