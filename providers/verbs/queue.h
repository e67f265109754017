/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queues: what is in flight in one direction of an endpoint, and the completion queue
 * where that ends.  What needs to know whose queue it is stands in ep.h.
 */
#ifndef _KOFI_VERBS_QUEUE_H
#define _KOFI_VERBS_QUEUE_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <kofi/cntr.h>
#include <kofi/cq.h>
#include "verbs.h"

struct verbs_ep;
struct verbs_mr;

/**
 * struct verbs_cq - A completion queue
 * @kcq: list of unread completions and its waiters
 * @domain: parent
 * @ibcq: the device's queue; ib_core or, if @direct, fi_cq_read() empties it
 * @direct: nobody but the reader polls
 * @poll_lock: one poller at a time, so that completions stay in order; guards
 *	@ibcq and @drained, if @direct
 * @drained: a driver drains a queue pair and polls itself (drain.c)
 * @drain_lock: one driver at a time
 * @kid: stands on the device
 */
struct verbs_cq {
	struct kofi_cq		kcq;
	struct verbs_domain	*domain;
	struct ib_cq		*ibcq;
	bool			direct;
	bool			drained;
	spinlock_t		poll_lock;	/* see above */
	struct mutex		drain_lock;	/* see above */
	struct verbs_kid	kid;
};

/**
 * struct verbs_sge - Where a buffer was mapped, for unmapping
 * @addr: DMA address
 * @len: bytes; 0: this one and those behind it are not used
 */
struct verbs_sge {
	u64			addr;
	u32			len;
};

/**
 * struct verbs_slot - An operation in flight
 * @comp: its completion
 * @link: while it is in flight, on the transmit side: among the @riders of another; or
 *	among the slots that wait for a move's work requests (move.c)
 * @next: while it is free: place of the next one, see verbs_slot_place(); 0: none
 * @whole: if @part: the slot of the operation that it is a part of (split.c)
 * @bytes: transmit side, until it has ended: length of the buffers; 0 if it is plain
 * @riders: likewise: unsignalled operations posted before, which have succeeded if this
 *	one has; by their @link
 * @region: likewise: whose key ends with the operation, or begins if there are no
 *	comp.flags; or NULL
 * @silent: success is not reported
 * @signaled: the device reports success to us
 * @mapped: its part of the queue's maps is to be unmapped
 * @part: of another operation
 * @due: over iWARP: it has begun, and has not failed yet; see verbs_slot_is_due()
 * @cqe: entry point of the device's completion
 * @queue: the queue it belongs to, or if that is shared and an endpoint has taken the
 *	receive, this endpoint's
 *
 * Operations of deep queues are many, so a slot is one cache line: a completion that is
 * not there yet lends its place.  Nothing of that is left when it is reported: data are
 * the key of a region that has ended or what came with a message, and only a receive
 * has buffer and length.
 */
struct verbs_slot {
	union {
		struct kofi_comp	comp;
		struct {
			union {					/* comp.next */
				struct verbs_slot	*link;
				u32			next;
			};
			struct verbs_slot	*whole;		/* comp.op_context */
			/* private: */
			u32			same_flags;
			/* public: */
			u32			bytes;		/* comp.len */
			struct verbs_slot	*riders;	/* comp.buf */
			union {					/* comp.data */
				struct verbs_mr	*region;
				/* private: */
				u64		same_data;
			};
			int			same_err;
			u16			same_prov_errno;
			/* public: */
			u8			silent : 1;	/* comp.own */
			u8			signaled : 1;
			u8			mapped : 1;
			u8			part : 1;
			u8			due : 1;
		};
	};
	struct ib_cqe		cqe;
	struct verbs_queue	*queue;
};

static_assert(sizeof(struct verbs_slot) <= 64);
static_assert(offsetof(struct verbs_slot, link) ==
	      offsetof(struct verbs_slot, comp.next));
static_assert(offsetof(struct verbs_slot, whole) ==
	      offsetof(struct verbs_slot, comp.op_context));
static_assert(offsetof(struct verbs_slot, bytes) ==
	      offsetof(struct verbs_slot, comp.len));
static_assert(offsetof(struct verbs_slot, riders) ==
	      offsetof(struct verbs_slot, comp.buf));
static_assert(offsetof(struct verbs_slot, region) ==
	      offsetof(struct verbs_slot, comp.data));
static_assert(offsetof(struct verbs_slot, same_prov_errno) + sizeof(u16) ==
	      offsetof(struct verbs_slot, comp.own));

/* What a counter may be bound to, in one direction */
enum verbs_kind {
	VERBS_MSG,
	VERBS_WRITE,
	VERBS_READ,
	VERBS_NR_KINDS,
};

/**
 * struct verbs_queue - One direction of an endpoint, or a shared receive context's
 * @lock: guards the transmit side from the choice of who rides with whom to the
 *	doorbell; taken with interrupts off; see verbs_queue_unlock()
 * @plain: plain operations may go the short way now (fast.h)
 * @fits: and may as far as the endpoint is concerned
 * @selective: success is reported only with FI_COMPLETION
 * @counted: a counter is bound, so everything is signalled
 * @free: place of the first free slot, and below a count of takings (slot.c)
 * @home: whose slots they are: this queue, or the shared one
 * @slots: all slots, @size of them
 * @base: one slot in front of them, see verbs_slot_place()
 * @plain_done: done function of a free slot, and of plain operations once their buffer
 *	is mapped no more (verbs_mapped_done())
 * @done: done function of all others
 * @block: number of a block that has been found to be memory, see VERBS_BLOCK_SHIFT
 * @maps: @iov_limit mappings per slot; NULL if the device needs no unmapping
 * @lkey: key of memory that is in no region
 * @bare: nothing is to be done when an operation succeeds but to report it
 * @size: depth
 * @iov_limit: SGEs of an operation
 * @op_flags: FI_* of calls without flags
 * @cntrs: the counter of each kind of operation, or NULL
 * @cq: where completions go
 * @domain: the domain
 * @ep: whose queue it is; NULL: it is shared
 * @srq: the device's queue, if it is shared
 *
 * Of an endpoint's receive side that uses a shared receive context, only @home, @cq,
 * @selective, @counted, @cntrs and @ep count; it has no slots.
 */
struct verbs_queue {
	spinlock_t		lock;		/* see above */
	bool			plain;
	bool			fits;
	bool			selective;
	bool			counted;
	atomic64_t		free;
	struct verbs_queue	*home;
	struct verbs_slot	*slots;
	void			*base;
	void			(*plain_done)(struct ib_cq *cq, struct ib_wc *wc);
	void			(*done)(struct ib_cq *cq, struct ib_wc *wc);
	unsigned long		block;
	struct verbs_sge	*maps;
	u32			lkey;
	bool			bare;
	size_t			size;
	size_t			iov_limit;
	u64			op_flags;
	struct kofi_cntr	*cntrs[VERBS_NR_KINDS];
	struct verbs_cq		*cq;
	struct verbs_domain	*domain;
	struct verbs_ep		*ep;
	struct ib_srq		*srq;
};

/* cq.c */
int verbs_cq_open(struct verbs_domain *domain, struct fi_cq_attr *attr,
		  struct fid_cq **cq, void *context);
size_t verbs_cq_max(const struct ib_device *ibdev);
size_t verbs_rx_max(const struct ib_device *ibdev);
size_t verbs_tx_max(const struct ib_device *ibdev);
int verbs_cq_poll(struct verbs_cq *cq);
void verbs_cq_take_over(struct verbs_cq *cq);
void verbs_cq_give_back(struct verbs_cq *cq);
void verbs_cq_quiesce(struct verbs_cq *cq);
void verbs_cq_forget(struct verbs_cq *cq, struct verbs_queue *queue);

/* cntr.c */
int verbs_cntr_bind(struct verbs_ep *ep, struct kofi_cntr *cntr, u64 flags);
bool verbs_cntr_fits(const struct verbs_queue *queue);
struct kofi_cntr *verbs_cntr_find(const struct verbs_slot *slot);

/* slot.c */
void verbs_queue_prepare(struct verbs_queue *queue);
int verbs_queue_init(struct verbs_queue *queue, struct verbs_domain *domain,
		     struct verbs_ep *ep,
		     void (*done)(struct ib_cq *cq, struct ib_wc *wc));
void verbs_queue_unmap(struct verbs_queue *queue);
void verbs_queue_destroy(struct verbs_queue *queue);
void verbs_queue_tune(struct verbs_queue *queue);
void verbs_slot_put(struct verbs_slot *slot);
void verbs_slot_put_chain(struct kofi_comp *chain);
void verbs_slot_put_riders(struct verbs_slot *slot);
void verbs_slot_put_parts(struct verbs_slot *slot);
void verbs_slot_board_silent(struct verbs_slot *slot, struct ib_send_wr *wr,
			     size_t len);
void verbs_slot_alight(struct verbs_slot *slot);

/* drain.c */
void verbs_drain_sq(struct ib_qp *qp, struct verbs_cq *cq);
void verbs_drain_rq(struct ib_qp *qp, struct verbs_cq *cq);

/* done.c */
void verbs_send_done(struct ib_cq *cq, struct ib_wc *wc);
void verbs_recv_done(struct ib_cq *cq, struct ib_wc *wc);
void verbs_sent(struct ib_cq *cq, struct ib_wc *wc);
void verbs_received(struct ib_cq *cq, struct ib_wc *wc);
void verbs_call_sent(struct ib_cq *cq, struct ib_wc *wc);
void verbs_call_received(struct ib_cq *cq, struct ib_wc *wc);
void verbs_call_carrier(struct ib_cq *cq, struct ib_wc *wc);
void verbs_mapped_done(struct ib_cq *cq, struct ib_wc *wc);
void verbs_srx_done(struct ib_cq *cq, struct ib_wc *wc);
void verbs_slot_succeed(struct verbs_slot *slot, size_t len);
void verbs_slot_blame(struct verbs_slot *slot, int err, int prov_errno);
void verbs_slot_fail(struct verbs_slot *slot, int err, int prov_errno);

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

/* Or only the end of a key, as an answer does to a storage client */
static inline bool verbs_wc_ends_key(const struct ib_wc *wc)
{
	return wc->status == IB_WC_SUCCESS &&
	       (wc->wc_flags & (IB_WC_WITH_IMM | IB_WC_WITH_INVALIDATE)) ==
	       IB_WC_WITH_INVALIDATE;
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
		next = data_race(READ_ONCE((*slot)->next));
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

/* The counter of an operation; its completion is final and not yet reported */
static inline struct kofi_cntr *verbs_cntr_of(const struct verbs_slot *slot)
{
	return slot->queue->counted ? verbs_cntr_find(slot) : NULL;
}

/* @flags of an operation, with FI_COMPLETION if its success is to be reported */
static inline u64 verbs_told(const struct verbs_queue *queue, u64 flags)
{
	return queue->selective ? flags : flags | FI_COMPLETION;
}

/* Is success of an operation with @flags to be kept from the client? */
static inline bool verbs_is_silent(const struct verbs_queue *queue, u64 flags)
{
	return !(verbs_told(queue, flags) & FI_COMPLETION);
}

#endif /* _KOFI_VERBS_QUEUE_H */
