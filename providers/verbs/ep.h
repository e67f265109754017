/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Endpoints and shared receive contexts, and the functions of queues that need struct verbs_ep.
 */
#ifndef _KOFI_VERBS_EP_H
#define _KOFI_VERBS_EP_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/in6.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <kofi/ep.h>
#include "cm.h"
#include "mr.h"
#include "queue.h"
#include "verbs.h"

struct kofi_list_iter;
struct verbs_call;
struct verbs_save;
union verbs_any_wr;

/* Longest wait of a close, or of a removal, for IB_EVENT_QP_LAST_WQE_REACHED; see srx.c */
#define VERBS_LAST_WQE_MS	1000
#define VERBS_LAST_WQE_BRIEF_MS	5	/* for VERBS_LAST_WQE_MISSED */

/**
 * struct verbs_wr - A work request that waits for the doorbell
 * @rdma: the request
 * @sge: its elements
 */
struct verbs_wr {
	struct ib_rdma_wr	rdma;
	struct ib_sge		sge[];
};

#define VERBS_WRS	8	/* most operations of one buffer per doorbell */
/* Memory for all but the last of them, or for fewer operations of more buffers */
#define VERBS_WRS_ROOM \
	((VERBS_WRS - 1) * (sizeof(struct verbs_wr) + sizeof(struct ib_sge)))

/**
 * struct verbs_drain_job - fi_ep_drain() of an endpoint
 * @work: drains
 * @quiet: completed when @work is done with the queue pair, and the device with all operations
 * @done: completed at the end of @work
 * @lock: held while the queue pair is being drained, also by a close, and while it is destroyed
 * @err: negative errno if the drain failed, or 0
 * @begun: @work was queued; guarded by the handler lock, or the endpoint is stripped
 * @gone: the endpoint was stripped before that
 */
struct verbs_drain_job {
	struct work_struct	work;
	struct completion	quiet;
	struct completion	done;
	struct mutex		lock;		/* see above */
	int			err;
	bool			begun;
	bool			gone;
};

/**
 * struct verbs_save_ops - What the data path asks of an endpoint with FI_RMA_PMEM (save.c)
 * @post: posts an operation with FI_SAVE or FI_COMMIT_COMPLETE
 * @hold: does a save hold up a call with FI_FENCE?  If so, the client will be called
 * @set: the operation that has the slot is about to be posted
 * @posted: a work request was posted under the lock of the transmit side, which is still held
 * @note: notes the range of a write that has been posted, under that lock
 * @written: the writes of the operation have completed
 * @failed: the writes of the operation have failed, and done.c ends it
 * @rw_ended: an rw operation has ended
 */
struct verbs_save_ops {
	ssize_t	(*post)(struct verbs_ep *ep, union verbs_any_wr *any, struct verbs_call *call,
			struct kofi_list_iter *at);
	bool	(*hold)(struct verbs_ep *ep);
	void	(*set)(struct verbs_save *save, struct verbs_slot *slot);
	void	(*posted)(struct verbs_ep *ep, const struct ib_send_wr *wr, size_t len, u64 flags,
			  struct verbs_save *save);
	void	(*note)(struct verbs_ep *ep, u64 addr, u64 key, size_t len);
	void	(*written)(struct verbs_slot *slot);
	void	(*failed)(struct verbs_slot *slot);
	void	(*rw_ended)(struct verbs_ep *ep);
};

/**
 * struct verbs_ep - An endpoint
 * @kep: the endpoint of the core; the handler lock of @id guards kep.conn
 * @qp: the queue pair, from fi_enable() on
 * @domain: parent
 * @tclass: FI_TC_* of its own
 * @inline_size: bytes that the queue pair takes inline
 * @straight: by FI_OP_*: FI_* that an operation of the kind may have for verbs_submit() (send.c)
 * @tx_flags: FI_* of calls of the transmit side that take no flags
 * @tx: transmit side; its lock also guards the fields below that say "in flight"
 * @rx: receive side
 * @nr_unsignaled: in flight: operations posted unsignaled since the last signaled one
 * @busy: over iWARP, operations in flight that are not known to be done
 * @unsignaled: in flight: the operations that @nr_unsignaled counts
 * @regs: in flight: registrations that wait for the doorbell (wr_list.c), or NULL
 * @regs_end: link at the end of @regs
 * @wrs: in flight: work requests posted with FI_MORE, or NULL
 * @wrs_end: link at the end of @wrs
 * @wrs_bad: in a call of the driver: the work request that it refuses
 * @wrs_taken: after verbs_wrs_post() has failed: see there
 * @wrs_used: bytes of @wrs_room that @wrs takes
 * @read_limit: most elements of the local list of a read
 * @wrs_room: memory for @wrs
 * @partial: in flight: operations that the device has taken in part; by their comp.next
 * @refused: in flight: operations that the device has refused after their call had returned;
 *	by their comp.next
 * @split_lock: guards @parts; taken outside of the lock of @tx, with interrupts off
 * @parts: memory for VERBS_PARTS of &struct verbs_part (split.c), or NULL
 * @bounce: kep.inject_size bytes per slot; NULL if the device takes data inline
 * @bounce_dma: DMA address of @bounce
 * @post_read: posts a read that needs read regions; see verbs_post_read()
 * @read_mrs: those of @all_read_mrs that no read uses (read_mr.c)
 * @all_read_mrs: regions for reads over iWARP
 * @nr_read_mrs: how many
 * @rws: its rw operations (rw.c); NULL: it may have none
 * @saves: its part in making remote memory durable (save.c); NULL: it has no FI_RMA_PMEM
 * @save_ops: with @saves: what the data path asks of it
 * @srx_cq: record of its shared receive context for the completion queue of @rx, from
 *	fi_enable() on
 * @last_wqe: completed when the device takes no more shared receives for the queue pair
 * @id: the connection of @qp
 * @iwarp: the device speaks iWARP
 * @accepted: fi_accept() has answered the peer
 * @may_read: the peer allows at least one read in flight
 * @settled: completed when the peer has answered fi_accept()
 * @conn: limits of reads and atomics for the connection
 * @frame: connection data to send; then, for the events of kep.conn, those of the peer's answer
 * @dest: address that fi_connect() connects to if the call has none, of either family
 * @broken: ends the connection after a failed operation
 * @broken_queued: @broken has been queued once
 * @accepted_at: if @accepted: when, the lower half of jiffies
 * @drain: fi_ep_drain()
 * @calls: calls in progress that have entered the device for the endpoint
 * @res: in the device's list
 *
 * The fields that each operation needs come first, so most of them are on one page.
 */
struct verbs_ep {
	struct kofi_ep		kep;
	struct ib_qp		*qp;
	struct verbs_domain	*domain;
	size_t			inline_size;
	u64			straight[KOFI_NR_XFERS];
	u64			tx_flags;
	u32			tclass;
	struct verbs_queue	tx;
	struct verbs_queue	rx;

	u32			nr_unsignaled;
	atomic_t		busy;
	struct verbs_slot	*unsignaled;
	struct ib_send_wr	*regs;
	struct ib_send_wr	**regs_end;
	struct ib_send_wr	*wrs;
	struct ib_send_wr	**wrs_end;
	const struct ib_send_wr	*wrs_bad;
	u32			wrs_taken;
	u32			wrs_used;
	u32			read_limit;
	u8			wrs_room[VERBS_WRS_ROOM] __aligned(8);
	struct kofi_comp	*partial;
	struct kofi_comp	*refused;
	struct verbs_part	*parts;
	void			*bounce;
	u64			bounce_dma;
	ssize_t			(*post_read)(struct verbs_ep *ep, const struct ib_rdma_wr *wr,
					     const struct verbs_call *call,
					     struct kofi_list_iter *at, size_t len);
	struct llist_head	read_mrs;
	struct verbs_read_mr	*all_read_mrs;
	spinlock_t		split_lock;	/* of parts */
	u32			nr_read_mrs;
	struct verbs_rws	*rws;
	struct verbs_saves	*saves;
	const struct verbs_save_ops *save_ops;

	struct verbs_srx_cq	*srx_cq;
	struct completion	last_wqe;
	struct rdma_cm_id	*id;
	bool			iwarp;
	bool			accepted;
	bool			may_read;
	struct completion	settled;
	struct rdma_conn_param	conn;
	struct verbs_cm_frame	frame;
	struct sockaddr_in6	dest;
	struct delayed_work	broken;
	bool			broken_queued;
	u32			accepted_at;
	struct verbs_drain_job	drain;
	atomic_t		calls;
	struct verbs_res	res;
};

/**
 * struct verbs_srx - A shared receive context
 * @kep: the common part of endpoints; of kep.conn only the event queue is used
 * @rx: its queue
 * @lock: guards @cqs, and arming
 * @cqs: struct verbs_srx_cq of the endpoints that are bound to it
 * @event_lock: guards kep.conn.eq and @err; taken with interrupts off
 * @limit: the limit that is armed, or 0
 * @reached: the event FI_SRX_LIMIT
 * @error: the event of its failure
 * @err: positive error code of @error; 0: it has not failed
 * @res: in the device's list
 */
struct verbs_srx {
	struct kofi_ep		kep;
	struct verbs_queue	rx;
	struct mutex		lock;		/* see above */
	struct list_head	cqs;
	spinlock_t		event_lock;	/* of eq and err */
	size_t			limit;
	struct kofi_event	reached;
	struct kofi_event	error;
	int			err;
	struct verbs_res	res;
};

/**
 * struct verbs_srx_cq - A completion queue for receives of an srx
 * @entry: in the list of the srx
 * @cq: the queue, with room for all receives of the srx
 * @users: endpoints that use both the srx and @cq
 * @marker: a queue pair to drain @cq with; NULL unless needed
 * @lock: held while @marker drains @cq
 */
struct verbs_srx_cq {
	struct list_head	entry;
	struct verbs_cq		*cq;
	unsigned int		users;
	struct ib_qp		*marker;
	struct mutex		lock;		/* see above */
};

/* ep.c */
int verbs_endpoint(struct verbs_domain *domain, struct fi_info *info,
		   struct fid_ep **ep, void *context);

/* ep_call.c */
int verbs_ep_enter(struct verbs_ep *ep);
void verbs_ep_leave(struct verbs_ep *ep);
void verbs_ep_await_calls(struct verbs_ep *ep);
int verbs_ep_lock(struct verbs_ep *ep);
void verbs_ep_stop(struct verbs_ep *ep);
void verbs_ep_unlock(struct verbs_ep *ep);
bool verbs_ep_drained(struct verbs_ep *ep);
void verbs_ep_broken(struct verbs_ep *ep);
void verbs_ep_refusing(struct verbs_ep *ep);

/* batch.c */
void verbs_ep_flush(struct verbs_ep *ep);

/* cm.c */
void verbs_ep_hang_up(struct verbs_ep *ep);
void verbs_ep_disconnected(struct verbs_ep *ep);

/* limits.c */
bool verbs_has_srx(const struct ib_device *ibdev);
size_t verbs_srx_max(const struct ib_device *ibdev);
size_t verbs_srx_iov_max(const struct ib_device *ibdev);

/* ep_drain.c */
void verbs_drain_init(struct verbs_drain_job *drain);
int verbs_ep_drain(struct fid_ep *ep, int timeout);
void verbs_ep_drain_qp(struct verbs_ep *ep);

/* opt.c */
extern const struct fi_ops_ep verbs_ep_ops;

/* qp.c */
struct ib_qp *verbs_lone_qp(struct ib_pd *pd, struct ib_cq *cq, u32 send_wr);

/* srx.c */
int verbs_srx_context(struct verbs_domain *domain, struct fi_rx_attr *attr,
		      struct fid_ep **srx, void *context);
int verbs_srx_attach(struct verbs_ep *ep);
void verbs_last_wqe_reached(struct verbs_ep *ep);
void verbs_srx_drain(struct verbs_ep *ep);
void verbs_srx_detach(struct verbs_ep *ep);

static inline struct verbs_ep *to_verbs_ep(struct fid *fid)
{
	return container_of(fid, struct verbs_ep, kep.ep.fid);
}

static inline struct verbs_srx *to_verbs_srx(struct fid *fid)
{
	return container_of(fid, struct verbs_srx, kep.ep.fid);
}

/* The shared receive context that an endpoint uses, or NULL */
static inline struct verbs_srx *verbs_ep_srx(const struct verbs_ep *ep)
{
	return ep->kep.srx ? to_verbs_srx(&ep->kep.srx->fid) : NULL;
}

static inline bool verbs_ep_has_rma(const struct verbs_ep *ep)
{
	return ep->kep.caps & FI_RMA;
}

/*
 * Does the device copy @len bytes when they are posted (inline)?  It need not fetch them then,
 * and they need no mapping.  libfabric's verbs provider sends data inline up to its inject size
 * (2.6, VERBS_INJECT_FLAGS).
 */
static __always_inline bool verbs_copies(const struct verbs_ep *ep, size_t len)
{
	return len <= ep->inline_size;
}

static inline struct verbs_ep *verbs_tx_ep(const struct verbs_queue *tx)
{
	return container_of(tx, struct verbs_ep, tx);
}

/*
 * Finds out, right before the lock of @queue is released, whether operations may be posted without
 * it: while the endpoint is connected, and on the transmit side while no work request or
 * registration waits for the doorbell and no unsignaled operation for another's completion.
 */
static inline void verbs_queue_settle(struct verbs_ep *ep,
				      struct verbs_queue *queue)
{
	bool waits = queue == &ep->tx && (ep->unsignaled || ep->wrs || ep->regs);
	bool plain = !waits && queue->fits &&
		     READ_ONCE(ep->kep.conn.state) == KOFI_CONN_CONNECTED;

	/* Pairs with verbs_submit_recv(), which then sees all that was set up before */
	smp_store_release(&queue->plain, plain);
}

static inline void verbs_queue_unlock(struct verbs_ep *ep,
				      struct verbs_queue *queue,
				      unsigned long flags)
{
	verbs_queue_settle(ep, queue);
	spin_unlock_irqrestore(&queue->lock, flags);
}

/* Over iWARP no operation begins once the connection is ending; see verbs_ep_hang_up() */
static inline bool verbs_ep_ends(const struct verbs_ep *ep)
{
	return ep->iwarp && READ_ONCE(ep->kep.conn.state) >= KOFI_CONN_DOWN;
}

/* An operation, or a part of one, begins; the caller has filled the slot */
static inline void verbs_slot_begun(struct verbs_ep *ep, struct verbs_slot *slot)
{
	if (ep->iwarp) {
		slot->due = true;
		atomic_inc(&ep->busy);
	}
}

/* Return the parts of an operation, by their link */
static inline struct verbs_slot *verbs_slot_parts(const struct verbs_slot *slot)
{
	return slot->regional ? NULL : slot->parts;
}

/* Undoes verbs_slot_begun(); slots without comp.flags (registrations) have not been counted */
static inline void verbs_slot_over(const struct verbs_slot *slot)
{
	struct verbs_ep *ep = verbs_tx_ep(slot->queue);

	if (slot->comp.flags && ep->iwarp)
		atomic_dec(&ep->busy);
}

/* The device reports the operation, and the unsignaled ones in front of it end with it */
static inline void verbs_slot_set_signaled(struct verbs_ep *ep, struct verbs_slot *slot,
					   struct ib_send_wr *wr)
{
	lockdep_assert_held(&ep->tx.lock);
	wr->send_flags |= IB_SEND_SIGNALED;
	slot->unsignaled = ep->unsignaled;
	ep->unsignaled = NULL;
	ep->nr_unsignaled = 0;
}

/* The operation ends with the next one that the device reports */
static inline void verbs_slot_set_unsignaled(struct verbs_ep *ep, struct verbs_slot *slot)
{
	lockdep_assert_held(&ep->tx.lock);
	slot->link = ep->unsignaled;
	ep->unsignaled = slot;
}

/*
 * Must the device report an operation of @len bytes?  TCP may have to send data again.  siw
 * keeps no copy of a page or more, and the completion of a later work request does not say that
 * TCP is done with these buffers.
 */
static inline bool verbs_wr_lingers(const struct verbs_ep *ep, size_t len)
{
	return ep->iwarp && len >= PAGE_SIZE;
}

#endif /* _KOFI_VERBS_EP_H */
