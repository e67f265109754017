/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queues: the operations in flight in one direction of an endpoint, and the completion queue
 * that reports them.  Functions of queues that need struct verbs_ep are in ep.h.
 */
#ifndef _KOFI_VERBS_QUEUE_H
#define _KOFI_VERBS_QUEUE_H

#include <linux/atomic.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <kofi/cq.h>
#include <kofi/ep.h>
#include "verbs.h"

/* Entries of the device's queue for each of the client's over iWARP */
#define VERBS_IWARP_CQES	4

/* Markers of drains that a completion queue has room for */
#define VERBS_MARKERS		8

struct dim;
struct verbs_ep;
struct verbs_mr;

/**
 * struct verbs_cq - A completion queue
 * @kcq: the completion queue of the core
 * @domain: parent
 * @ibcq: the device's queue, or NULL: it is gone; with @wcs to @polled guarded by kcq.poll_lock
 * @wcs: what the device reports in one poll
 * @dim: moderates interrupts, or NULL (dim.c)
 * @polled: completions since the last interrupt
 * @markers: permits to post the marker of a drain
 * @res: in the device's list
 */
struct verbs_cq {
	struct kofi_cq		kcq;
	struct verbs_domain	*domain;
	struct ib_cq		*ibcq;
	struct ib_wc		*wcs;
	struct dim		*dim;
	u64			polled;
	struct semaphore	markers;
	struct verbs_res	res;
};

typedef void verbs_done_fn(struct ib_cq *cq, struct ib_wc *wc);

/**
 * struct verbs_sge - Where a buffer was mapped, for unmapping
 * @addr: DMA address
 * @len: bytes; 0: this element and those behind it are not used
 */
struct verbs_sge {
	u64			addr;
	u32			len;
};

/**
 * struct verbs_slot - An operation in flight
 * @comp: its completion
 * @link: in flight, on the transmit side: next in @unsignaled or @parts of another slot
 * @next: free: place of the next free slot, see &struct verbs_queue; 0: none
 * @of_comp: not used: op_context, flags and error of @comp
 * @bytes: in flight: length of the buffers; 0 if nothing but the slot's completion matters
 * @marks: in flight: all of the following
 * @unreported: success is not reported to the client
 * @part: it is a part of the operation @whole
 * @regional: it has a @region
 * @due: over iWARP: it has begun, and has not failed yet; see verbs_slot_is_due()
 * @save: save.c completes the operation when its writes have completed
 * @whole: if @part: the slot of the operation that it is a part of (batch.c)
 * @region: if @regional: the region whose key the operation ends, or registers if comp.flags is 0
 * @parts: else: its parts, by their @link, or NULL
 * @unsignaled: in flight: earlier operations that the device does not report, and that have
 *	succeeded if this one has; by their @link
 * @cqe: entry point of the device's completion
 * @queue: its queue; of a shared receive that has got a message, the endpoint's
 *
 * A slot is one cache line, as each queue has one for every operation that may be in flight.  What
 * the completion says only when it is reported has room for what is needed until then: next, len,
 * buf and data.  A receive in flight has no more than marks, and its comp.buf.
 *
 * On the transmit side comp.len and comp.buf are 0 in every slot that is free or reported, so
 * @marks and @region are 0 there, too.
 */
struct verbs_slot {
	union {
		struct kofi_comp	comp;
		struct {
			union {
				struct verbs_slot	*link;
				u32			next;
			};
			u64			of_comp[2];
			u32			bytes;
			union {
				u8		marks;
				struct {
					u8	unreported : 1;
					u8	part : 1;
					u8	regional : 1;
					u8	due : 1;
					u8	save : 1;
				};
			};
			union {
				struct verbs_slot	*whole;
				struct verbs_mr		*region;
				struct verbs_slot	*parts;
			};
			struct verbs_slot	*unsignaled;
		};
	};
	struct ib_cqe		cqe;
	struct verbs_queue	*queue;
};

static_assert(offsetof(struct verbs_slot, bytes) == offsetof(struct verbs_slot, comp.len));
static_assert(offsetof(struct verbs_slot, region) == offsetof(struct verbs_slot, comp.buf));
static_assert(offsetof(struct verbs_slot, unsignaled) == offsetof(struct verbs_slot, comp.data));
static_assert(sizeof(struct verbs_slot) == 64);

/**
 * struct verbs_queue - One direction of an endpoint, or the queue of a shared receive context
 * @lock: held on the transmit side from the decision to signal to the doorbell; taken with
 *	interrupts off; see verbs_queue_unlock()
 * @plain: operations that ask for nothing but a completion are posted without the lock
 * @fits: the endpoint allows that while it is connected and nothing waits (verbs_queue_tune())
 * @counted: a counter is bound, so everything is signaled (verbs_queue_tune())
 * @free: upper half: place of the first free slot; lower half: how often one was taken (slot.c)
 * @home: the queue that owns the slots: this one, or the shared one
 * @slots: all slots, @size of them, of which @fresh have never been used and hold nothing
 * @base: one slot in front of @slots; the place of a slot is its distance from here in bytes,
 *	which is never 0
 * @done: done function of operations in general
 * @maps: @iov_limit mappings per slot, up to one without a length; NULL if the device needs no
 *	unmapping
 * @lkey: key of memory that is in no region
 * @size: depth
 * @fresh: see @slots
 * @iov_limit: SGEs of an operation
 * @side: the direction: completion queue, default flags, and the client that waits for a slot
 * @domain: the domain
 * @ep: the endpoint; NULL: the queue is shared
 * @srq: the device's queue, if this one is shared
 *
 * The receive side of an endpoint with a shared receive context has no slots, and only
 * @home, @side, @counted and @ep.
 */
struct verbs_queue {
	spinlock_t		lock;		/* see above */
	bool			plain;
	bool			fits;
	bool			counted;
	atomic64_t		free;
	struct verbs_queue	*home;
	struct verbs_slot	*slots;
	void			*base;
	verbs_done_fn		*done;
	struct verbs_sge	*maps;
	u32			lkey;
	size_t			size;
	atomic_t		fresh;
	size_t			iov_limit;
	struct kofi_ep_side	*side;
	struct verbs_domain	*domain;
	struct verbs_ep		*ep;
	struct ib_srq		*srq;
};

/* limits.c */
size_t verbs_cq_max(const struct ib_device *ibdev);
size_t verbs_rx_max(const struct ib_device *ibdev);
size_t verbs_tx_max(const struct ib_device *ibdev);

/* cq.c */
int verbs_cq_open(struct verbs_domain *domain, struct fi_cq_attr *attr,
		  struct fid_cq **cq, void *context);
void verbs_cq_forget(struct verbs_cq *cq, struct verbs_ep *ep);
void verbs_drain_sq(struct ib_qp *qp, struct verbs_cq *cq);
void verbs_drain_rq(struct ib_qp *qp, struct verbs_cq *cq);

/* dim.c */
void verbs_dim_begin(struct verbs_cq *cq);
void verbs_dim_polled(struct verbs_cq *cq);
void verbs_dim_end(struct verbs_cq *cq);

/* slot.c */
void verbs_queue_prepare(struct verbs_queue *queue, struct kofi_ep_side *side);
int verbs_queue_init(struct verbs_queue *queue, struct verbs_domain *domain,
		     struct verbs_ep *ep,
		     verbs_done_fn *done);
void verbs_queue_unmap(struct verbs_queue *queue);
void verbs_queue_destroy(struct verbs_queue *queue);
void verbs_queue_tune(struct verbs_queue *queue);
struct verbs_slot *verbs_slot_take_fresh(struct verbs_queue *queue);
void verbs_slot_put(struct verbs_slot *slot);
void verbs_slots_release(struct kofi_comp *chain);
void verbs_slot_put_unsignaled(struct verbs_slot *slot);
void verbs_slot_put_parts(struct verbs_slot *slot);
void verbs_slot_set_err(struct verbs_slot *slot, int err, int prov_errno);
void verbs_slot_undo_signaling(struct verbs_slot *slot, const struct ib_send_wr *wr);

/* done.c */
void verbs_send_done(struct ib_cq *cq, struct ib_wc *wc);
void verbs_recv_done(struct ib_cq *cq, struct ib_wc *wc);
void verbs_sent(struct ib_cq *cq, struct ib_wc *wc);
void verbs_sent_mapped(struct ib_cq *cq, struct ib_wc *wc);
void verbs_received(struct ib_cq *cq, struct ib_wc *wc);
void verbs_srx_done(struct ib_cq *cq, struct ib_wc *wc);
void verbs_slot_succeed(const struct ib_cq *cq, struct verbs_slot *slot,
			size_t len);
void verbs_slot_fail(const struct ib_cq *cq, struct verbs_slot *slot, int err,
		     int prov_errno);

static inline struct verbs_cq *to_verbs_cq(struct fid *fid)
{
	return container_of(fid, struct verbs_cq, kcq.cq.fid);
}

/* The completion queue that the client has bound, or NULL */
static inline struct verbs_cq *verbs_queue_cq(const struct verbs_queue *queue)
{
	return container_of(queue->side->cq, struct verbs_cq, kcq);
}

static inline struct verbs_slot *to_verbs_slot(struct ib_wc *wc)
{
	return container_of(wc->wr_cqe, struct verbs_slot, cqe);
}

/* A hint that saves mapping buffers in vain; verbs_slot_take() decides */
static inline bool verbs_queue_full(const struct verbs_queue *queue)
{
	return !((u64)atomic64_read(&queue->free) >> 32) && !atomic_read(&queue->fresh);
}

/*
 * A receive found its queue full: asks for a call of the client.  Returns false if a slot has
 * come back meanwhile, else the caller answers -EAGAIN.  room.c has the transmit side.
 */
static inline bool verbs_queue_stays_full(struct verbs_queue *queue)
{
	kofi_waiter_note(&queue->side->room);
	return verbs_queue_full(queue);
}

/* Returns @ret.  If @ret is -EAGAIN, a timer calls the client, as no event announces room */
static inline int verbs_try_later(const struct verbs_queue *queue, int ret)
{
	if (ret == -EAGAIN)
		kofi_ep_want_later(queue->side);
	return ret;
}

/* Take a slot, or return NULL; see slot.c */
static __always_inline struct verbs_slot *verbs_slot_take(struct verbs_queue *queue)
{
	s64 head = atomic64_read(&queue->free);
	struct verbs_slot *slot;
	u64 place, next;

	do {
		place = (u64)head >> 32;
		if (unlikely(!place))
			return verbs_slot_take_fresh(queue);
		slot = queue->base + place;
		/* Garbage if another processor has taken the slot; then the count has changed */
		next = data_race(READ_ONCE(slot->next));
		next = next << 32 | (u32)(head + 1);
	} while (unlikely(!atomic64_try_cmpxchg(&queue->free, &head, next)));
	/* Only a fresh slot may be NULL, so the compiler need not test this one in each caller */
	if (!slot)
		__builtin_unreachable();
	return slot;
}

/*
 * Gives slots back, from @first to @last by their next.  Acts as a full barrier, behind
 * which the caller looks for a waiting client.
 */
static __always_inline void verbs_slots_push(struct verbs_queue *queue,
					     const struct verbs_slot *first,
					     struct verbs_slot *last)
{
	s64 head = atomic64_read(&queue->free);
	u64 place = (u64)((void *)first - queue->base) << 32;

	do
		WRITE_ONCE(last->next, (u64)head >> 32);
	while (unlikely(!atomic64_try_cmpxchg(&queue->free, &head,
					      place | (u32)head)));
}

/* The context of a completion; verbs_srx_done() sets it once a shared receive has an endpoint */
static __always_inline void *verbs_context(const struct verbs_queue *queue,
					   void *context)
{
	if (likely(context) || !queue->ep)
		return context;
	return kofi_ep_context(queue->side->ep, queue->side, NULL);
}

static inline bool verbs_is_unreported(const struct kofi_ep_side *side, u64 flags)
{
	return !(kofi_ep_flags(side, flags) & FI_COMPLETION);
}

#endif /* _KOFI_VERBS_QUEUE_H */
