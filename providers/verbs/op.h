/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Operations before they are posted: the client's lists, the elements and work requests that the
 * device gets for them, and the functions that post them.
 */
#ifndef _KOFI_VERBS_OP_H
#define _KOFI_VERBS_OP_H

#include <kofi/pages.h>
#include "ep.h"

#define VERBS_PARTS		16	/* most work requests of an operation */

/**
 * struct verbs_map - Elements for the device
 * @count: entries of @sge
 * @mapped: bit n: entry n of @sge is to be unmapped
 * @copied: the device copies the data when they are posted; addresses are the kernel's
 * @len: bytes of all elements
 * @sge: the elements
 */
struct verbs_map {
	u32			count;
	u32			mapped;
	bool			copied;
	size_t			len;
	struct ib_sge		sge[VERBS_MAX_IOV];
};

/**
 * struct verbs_op - An operation on its way into the transmit queue
 * @opcode: of the work request; by @flags IB_WR_SEND and IB_WR_RDMA_WRITE get immediate data
 * @type: kind of the elements of the local list
 * @list: the local list
 * @count: its elements
 * @desc: its descriptors, or NULL
 * @context: the client's
 * @flags: FI_* of the call
 * @data: remote CQ data
 * @addr: remote address
 * @key: remote key
 * @remote_len: reads and writes: bytes of the remote memory
 * @region: the region whose key ends with the operation, or NULL
 * @swap: the new value of a compare and swap, which compares with @data.  A fetch and add
 *	adds @data
 * @atomic: counts as an atomic operation
 * @comp_flags: flags of the completion, if they do not follow from @opcode; or 0
 * @save: FI_SAVE or FI_COMMIT_COMPLETE: the operation of save.c; or NULL
 * @unreported: success is not reported to the client
 */
struct verbs_op {
	enum ib_wr_opcode	opcode;
	enum fi_buf_type	type;
	const void		*list;
	size_t			count;
	void			**desc;
	void			*context;
	u64			flags;
	u64			data;
	u64			addr;
	u64			key;
	size_t			remote_len;
	struct verbs_mr		*region;
	u64			swap;
	bool			atomic;
	u64			comp_flags;
	struct verbs_save	*save;
	bool			unreported;
};

/* A work request of any opcode but a registration */
union verbs_any_wr {
	struct ib_send_wr	wr;
	struct ib_rdma_wr	rdma;
	struct ib_atomic_wr	atomic;
};

/**
 * struct verbs_part - One of the work requests of an operation
 * @any: the work request
 * @map: its elements
 */
struct verbs_part {
	union verbs_any_wr	any;
	struct verbs_map	map;
};

/* map.c */
int verbs_map_some(struct verbs_domain *domain, enum dma_data_direction dir,
		   struct kofi_list_iter *iter, size_t limit,
		   struct verbs_map *map);
void verbs_map_undo(struct verbs_domain *domain, enum dma_data_direction dir,
		    struct verbs_map *map);
void verbs_map_keep(struct verbs_slot *slot, const struct verbs_map *map);
void verbs_unmap(struct verbs_slot *slot);
int verbs_bounce_init(struct verbs_ep *ep);
void verbs_bounce_destroy(struct verbs_ep *ep);
void verbs_bounce(struct verbs_slot *slot, const struct verbs_op *op,
		  struct ib_sge *sge);

/* xfer.c */
const struct kofi_ep_limits *verbs_ep_limits(bool iwarp);
int verbs_query_atomic(struct verbs_domain *domain, enum fi_datatype datatype,
		       enum fi_op op, struct fi_atomic_attr *attr, u64 flags);
void verbs_ep_set_ops(struct verbs_ep *ep);
void verbs_srx_set_ops(struct verbs_srx *srx);

/* post.c */
ssize_t verbs_post(struct verbs_ep *ep, const struct verbs_op *op);
ssize_t verbs_post_recv(struct verbs_ep *ep, const struct verbs_op *op);
ssize_t verbs_post_srx(struct verbs_srx *srx, const struct verbs_op *op);
int verbs_post_errno(const struct verbs_queue *queue, int ret);
u64 verbs_comp_flags(const struct verbs_op *op);
enum dma_data_direction verbs_op_dir(const struct verbs_op *op);
void verbs_slot_fill(struct verbs_slot *slot, const struct verbs_op *op,
		     u64 comp_flags);
void verbs_wr_init(union verbs_any_wr *any, const struct verbs_op *op,
		   struct verbs_map *map);

/* room.c */
int verbs_slots_claim(struct verbs_ep *ep, unsigned int count,
		      struct verbs_slot **list);
int verbs_slot_await(struct verbs_ep *ep, struct verbs_slot **slot);

/* wr_list.c */
void verbs_wrs_add(struct verbs_ep *ep, const struct ib_rdma_wr *wr);
int verbs_wrs_post(struct verbs_ep *ep, struct ib_send_wr *first,
		   unsigned int *taken);
void verbs_wrs_abandon(struct verbs_ep *ep);
void verbs_ring_last(struct verbs_ep *ep);
void verbs_refuse(struct verbs_slot *slot);
void verbs_end_refused(struct verbs_ep *ep);
void verbs_ring_locked(struct verbs_ep *ep);
void verbs_reg_wait(struct verbs_mr *mr);
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
int verbs_post_split(struct verbs_ep *ep, const struct verbs_op *op,
		     struct kofi_list_iter *iter, const struct verbs_map *first);

/* rw.c */
int verbs_rws_set(struct verbs_ep *ep, size_t rws);
u32 verbs_rws_max(const struct verbs_ep *ep);
u32 verbs_rws_ctxs(const struct verbs_ep *ep);
void verbs_rws_abandon(struct verbs_ep *ep);
u64 verbs_rws_begun(const struct verbs_ep *ep);
bool verbs_rws_ended(struct verbs_ep *ep, u64 begun);
ssize_t verbs_rw(struct verbs_ep *ep, const struct verbs_op *op, size_t offset);

static inline u32 verbs_wr_size(int num_sge)
{
	return sizeof(struct verbs_wr) + num_sge * sizeof(struct ib_sge);
}

static inline bool verbs_op_is_swap(const struct verbs_op *op)
{
	return op->opcode == IB_WR_ATOMIC_FETCH_AND_ADD ||
	       op->opcode == IB_WR_ATOMIC_CMP_AND_SWP;
}

#endif /* _KOFI_VERBS_OP_H */
