/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Operations before they are posted.  A work request describes an operation; &struct verbs_call has
 * what a work request cannot say, and &struct kofi_list_iter the local buffers.
 *
 *	send.c, recv.c	the calls: fill the work request, and post what is usual
 *	atomic.c	the work requests of atomic operations
 *	submit.c	everything that is not usual, and what keeps an order
 *	split.c, rw.c, read_mr.c
 *			operations of several work requests, by batch.c
 *	room.c, wr_list.c
 *			slots, and work requests that wait for the doorbell
 */
#ifndef _KOFI_VERBS_OP_H
#define _KOFI_VERBS_OP_H

#include <kofi/pages.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include "ep.h"
#include "sge.h"

#define VERBS_PARTS		16	/* most work requests of an operation */

/*
 * FI_* that verbs_ep.straight may have: verbs_wr_init() and verbs_submit() are all they need, and
 * kofi_xfer_check() allows them for every operation of the kind, unless it is of any length.  Such
 * an operation has a scatterlist, which is not usual.
 */
#define VERBS_STRAIGHT		(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE |	\
				 FI_TRANSMIT_COMPLETE | FI_REMOTE_CQ_DATA |		\
				 FI_REMOTE_INV | FI_MORE | FI_FENCE)

/* A work request of any opcode but a registration */
union verbs_any_wr {
	struct ib_send_wr	wr;
	struct ib_rdma_wr	rdma;
	struct ib_atomic_wr	atomic;
};

/**
 * struct verbs_call - What a work request cannot say about an operation
 * @context: the client's
 * @flags: FI_* of the call, with FI_COMPLETION if success is reported to the client
 * @comp_flags: flags of the completion
 * @remote_len: bytes of the remote memory; of a message any number
 * @region: the region whose key ends with the operation, or NULL
 * @save: FI_SAVE or FI_COMMIT_COMPLETE: the operation of save.c; or NULL
 */
struct verbs_call {
	void			*context;
	u64			flags;
	u64			comp_flags;
	size_t			remote_len;
	struct verbs_mr		*region;
	struct verbs_save	*save;
};

/**
 * struct verbs_part - One of the work requests of an operation
 * @any: the work request
 * @map: its elements
 * @sge: memory for them
 */
struct verbs_part {
	union verbs_any_wr	any;
	struct verbs_map	map;
	struct ib_sge		sge[VERBS_MAX_IOV];
};

/* bounce.c */
int verbs_bounce_init(struct verbs_ep *ep);
void verbs_bounce_destroy(struct verbs_ep *ep);
void verbs_bounce(struct verbs_slot *slot, const struct kofi_list_iter *at, struct ib_sge *sge);

/* xfer.c */
const struct kofi_ep_limits *verbs_ep_limits(bool iwarp);
void verbs_ep_set_ops(struct verbs_ep *ep);
void verbs_srx_set_ops(struct verbs_srx *srx);

/* send.c */
ssize_t verbs_send(struct fid_ep *fid_ep, const void *buf, size_t len, void *desc,
		   fi_addr_t dest_addr, void *context);
ssize_t verbs_read(struct fid_ep *fid_ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
		   u64 addr, u64 key, void *context);
ssize_t verbs_write(struct fid_ep *fid_ep, const void *buf, size_t len, void *desc,
		    fi_addr_t dest_addr, u64 addr, u64 key, void *context);
ssize_t verbs_post(struct fid_ep *fid_ep, const struct fi_xfer *xfer);

/* recv.c */
ssize_t verbs_recv(struct fid_ep *fid_ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
		   void *context);
ssize_t verbs_post_recv(struct verbs_ep *ep, const struct fi_xfer *xfer);
ssize_t verbs_srx_post(struct fid_ep *fid_ep, const struct fi_xfer *xfer);

/* atomic.c */
int verbs_query_atomic(struct verbs_domain *domain, enum fi_datatype type, enum fi_op op,
		       struct fi_atomic_attr *attr, u64 flags);
int verbs_atomicvalid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, u64 form,
		      size_t *count);
int verbs_atomic_init(union verbs_any_wr *any, struct verbs_call *call, struct kofi_list_iter *at,
		      struct kvec *local, const struct fi_atomic_xfer *atomic);

/* submit.c */
int verbs_submit_in_order(struct verbs_ep *ep, struct ib_send_wr *wr, struct verbs_slot *slot,
			  u64 flags, size_t len, struct verbs_save *save);
ssize_t verbs_submit_any(struct verbs_ep *ep, union verbs_any_wr *any,
			 const struct verbs_call *call, struct kofi_list_iter *at);

/* slot.c */
void verbs_slot_fill(struct verbs_slot *slot, const struct verbs_call *call);
int verbs_post_errno(const struct verbs_queue *queue, int ret);
int verbs_submit_failed(struct verbs_slot *slot, int ret);

/* room.c */
int verbs_slots_claim(struct verbs_ep *ep, unsigned int count,
		      struct verbs_slot **list);
struct verbs_slot *verbs_slot_await(struct verbs_ep *ep);
bool verbs_queue_await(struct verbs_ep *ep);

/* wr_list.c */
void verbs_wrs_add(struct verbs_ep *ep, const struct ib_rdma_wr *wr);
int verbs_wrs_post(struct verbs_ep *ep, struct ib_send_wr *first);
void verbs_wrs_abandon(struct verbs_ep *ep);
void verbs_ring_last(struct verbs_ep *ep);
void verbs_refuse(struct verbs_slot *slot);
void verbs_end_refused(struct verbs_ep *ep);
void verbs_ring_locked(struct verbs_ep *ep);
void verbs_regs_post(struct verbs_ep *ep);
bool verbs_reg_take_back(struct verbs_mr *mr);

/* batch.c */
int verbs_batch_claim(struct verbs_ep *ep, unsigned int count, struct verbs_slot **whole);
int verbs_batch_post(struct verbs_ep *ep, struct ib_send_wr *first,
		     struct verbs_slot *whole, bool undo);
void verbs_batch_fail(struct verbs_slot *whole, int err);
void verbs_batch_drop(struct verbs_slot *whole);
void verbs_batch_end_partial(struct verbs_ep *ep, bool drained);

/* split.c */
size_t verbs_read_iov_max(const struct ib_device *ibdev, size_t size,
			  size_t iov_limit);
size_t verbs_write_iov_max(size_t size, size_t iov_limit);
size_t verbs_split_limit(const struct verbs_ep *ep);
int verbs_post_split(struct verbs_ep *ep, const union verbs_any_wr *any,
		     const struct verbs_call *call, struct kofi_list_iter *at,
		     const struct verbs_map *first);

/* rw.c */
int verbs_rws_set(struct verbs_ep *ep, size_t rws);
u32 verbs_rws_max(const struct verbs_ep *ep);
u32 verbs_rws_ctxs(const struct verbs_ep *ep);
void verbs_rws_abandon(struct verbs_ep *ep);
u64 verbs_rws_begun(const struct verbs_ep *ep);
bool verbs_rws_ended(struct verbs_ep *ep, u64 begun);
ssize_t verbs_post_rw(struct verbs_ep *ep, union verbs_any_wr *any, const struct verbs_call *call,
		      const struct fi_rma_xfer *rma);

static inline u32 verbs_wr_size(int num_sge)
{
	return sizeof(struct verbs_wr) + num_sge * sizeof(struct ib_sge);
}

static inline bool verbs_wr_is_swap(const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_ATOMIC_FETCH_AND_ADD ||
	       wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP;
}

static inline bool verbs_wr_is_write(const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_RDMA_WRITE || wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

static inline enum dma_data_direction verbs_wr_dir(const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_RDMA_READ || verbs_wr_is_swap(wr) ?
	       DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

/* Post @wr, and what is behind it; what the device refuses begins at ep->wrs_bad */
static inline int verbs_wr_post(struct verbs_ep *ep, const struct ib_send_wr *wr)
{
	const struct ib_send_wr **bad = &ep->wrs_bad;

	lockdep_assert_held(&ep->tx.lock);
	/* Else the compiler guards the place on the stack that ib_post_send() has for NULL */
	if (!bad)
		__builtin_unreachable();
	return ib_post_send(ep->qp, wr, bad);
}

/* A registration waits for the doorbell of the next operation (wr_list.c) */
static inline void verbs_reg_wait(struct verbs_ep *ep, struct verbs_mr *mr)
{
	lockdep_assert_held(&ep->tx.lock);
	mr->reg.wr.next = NULL;
	*ep->regs_end = &mr->reg.wr;
	ep->regs_end = &mr->reg.wr.next;
	WRITE_ONCE(mr->waits, true);
	/* No operation overtakes the registration */
	WRITE_ONCE(ep->tx.plain, false);
}

static __always_inline void verbs_list_begin(struct kofi_list_iter *at,
					     const struct verbs_domain *domain,
					     const struct fi_xfer *xfer)
{
	at->type = xfer->buf_type;
	at->elem = xfer->list;
	at->count = xfer->count;
	at->skip = 0;
	at->peer = domain->peer_lists;
	at->desc = xfer->desc;
}

#endif /* _KOFI_VERBS_OP_H */
