/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A move, between its life (move.c) and its rounds (round.c).
 */
#ifndef _KOFI_VERBS_MOVE_H
#define _KOFI_VERBS_MOVE_H

#include <linux/llist.h>
#include <linux/scatterlist.h>
#include <linux/workqueue.h>
#include <rdma/rw.h>
#include "ep.h"

#define VERBS_MOVE_MIN_WRS	3	/* of a context that registers */
#define VERBS_MOVE_CTXS		4	/* most contexts of a round */
#define VERBS_MOVE_SEGS		512	/* most elements of a round */

/**
 * struct verbs_moves - The moves of an endpoint
 * @ep: the endpoint
 * @max: in flight, at most
 * @nr: in flight; guarded by the lock of the transmit side, as @wanted and @list are
 * @wanted: a call has been refused for want of one
 * @wrs: work requests of a round, at most
 * @list: those in flight
 * @due: those whose next round is to be posted
 * @work: posts it
 */
struct verbs_moves {
	struct verbs_ep		*ep;
	u32			max;
	u32			nr;
	bool			wanted;
	u32			wrs;
	struct list_head	list;
	struct llist_head	due;
	struct work_struct	work;
};

/* A place in the client's list, and the bytes from there on */
struct verbs_cursor {
	struct scatterlist	*sg;
	size_t			skip;
	size_t			left;
};

struct verbs_move_ctx {
	struct rdma_rw_ctx	rw;
	struct scatterlist	*sg;
	unsigned int		nents;
};

/**
 * struct verbs_move - A move
 * @entry: in the endpoint's list
 * @due: link while it waits for the worker
 * @ep: the endpoint
 * @slot: its own; comp.op_context points here until the end
 * @context: the client's
 * @at: where the next round begins
 * @len: bytes of all
 * @addr: remote address of @at
 * @key: remote key
 * @dir: DMA_FROM_DEVICE: a read
 * @fence: the first work request waits for earlier reads
 * @fine: elements are cut at pages
 * @nr_ctxs: contexts of the round
 * @ctxs: these
 * @nr_segs: entries of @segs
 * @segs: elements of the round
 */
struct verbs_move {
	struct list_head	entry;
	struct llist_node	due;
	struct verbs_ep		*ep;
	struct verbs_slot	*slot;
	void			*context;
	struct verbs_cursor	at;
	size_t			len;
	u64			addr;
	u32			key;
	enum dma_data_direction	dir;
	bool			fence;
	bool			fine;
	unsigned int		nr_ctxs;
	struct verbs_move_ctx	ctxs[VERBS_MOVE_CTXS];
	unsigned int		nr_segs;
	struct scatterlist	segs[];
};

static inline bool verbs_move_is_read(const struct verbs_move *move)
{
	return move->dir == DMA_FROM_DEVICE;
}

int verbs_move_find(struct verbs_cursor *at, struct scatterlist *sgl,
		    unsigned int nents, size_t offset, size_t len);
bool verbs_move_registers(const struct verbs_ep *ep, enum dma_data_direction dir);
unsigned int verbs_move_count(const struct verbs_move *move);
int verbs_move_build(struct verbs_move *move);
void verbs_move_unmap(struct verbs_move *move);
struct ib_send_wr *verbs_move_wrs(struct verbs_move *move);
void verbs_move_fix_inv(struct ib_send_wr *wr);

#endif /* _KOFI_VERBS_MOVE_H */
