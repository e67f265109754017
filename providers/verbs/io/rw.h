/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* rw operations: posted and completed by rw.c, cut into batches by rw_batch.c */
#ifndef _KOFI_VERBS_RW_H
#define _KOFI_VERBS_RW_H

#include <linux/llist.h>
#include <linux/scatterlist.h>
#include <linux/workqueue.h>
#include <kofi/credit.h>
#include <rdma/rw.h>
#include "../ep.h"

#define VERBS_RW_MIN_WRS	3	/* work requests of a context that registers */
#define VERBS_RW_CTXS		4	/* most contexts of a batch */
#define VERBS_RW_SEGS		512	/* most elements of a batch */

/**
 * struct verbs_rws - The rw operations of an endpoint
 * @ep: the endpoint
 * @max: most rw operations in flight
 * @credit: rw operations that may begin
 * @wrs: most work requests of a batch
 * @list: rw operations in flight, in the order in which they began; guarded, as @begun is, by the
 *	lock of the transmit side
 * @begun: how many have begun since the endpoint was opened
 * @due: rw operations whose next batch is to be posted
 * @work: posts these batches
 */
struct verbs_rws {
	struct verbs_ep		*ep;
	u32			max;
	struct kofi_credit	credit;
	u32			wrs;
	struct list_head	list;
	u64			begun;
	struct llist_head	due;
	struct work_struct	work;
};

/* A place in the client's list, and the bytes from there on */
struct verbs_cursor {
	struct scatterlist	*sg;
	size_t			skip;
	size_t			left;
};

struct verbs_rw_ctx {
	struct rdma_rw_ctx	rw;
	struct scatterlist	*sg;
	unsigned int		nents;
};

/**
 * struct verbs_rw - An rw operation
 * @entry: in the endpoint's list
 * @place: its number in the order in which they began, from 1 on
 * @due: link while it waits for the worker
 * @ep: the endpoint
 * @slot: its slot; comp.op_context points here until the end
 * @context: the client's
 * @at: begin of the next batch
 * @len: bytes of the operation
 * @addr: remote address of @at
 * @key: remote key
 * @dir: DMA_FROM_DEVICE: it is a read
 * @fence: the first work request waits for earlier reads
 * @fine: elements are cut at pages
 * @nr_ctxs: entries of @ctxs in use
 * @ctxs: contexts of the batch
 * @nr_segs: entries of @segs
 * @segs: elements of the batch
 */
struct verbs_rw {
	struct list_head	entry;
	u64			place;
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
	struct verbs_rw_ctx	ctxs[VERBS_RW_CTXS];
	unsigned int		nr_segs;
	struct scatterlist	segs[];
};

static inline bool verbs_rw_is_read(const struct verbs_rw *rw)
{
	return rw->dir == DMA_FROM_DEVICE;
}

int verbs_rw_find(const struct verbs_domain *domain, struct verbs_cursor *at,
		  struct scatterlist *sgl, unsigned int nents, size_t offset, size_t len);
unsigned int verbs_rw_count(const struct verbs_rw *rw);
int verbs_rw_build(struct verbs_rw *rw);
void verbs_rw_unmap(struct verbs_rw *rw);
struct ib_send_wr *verbs_rw_wrs(struct verbs_rw *rw);
void verbs_rw_fix_inv(struct ib_send_wr *wr);

#endif /* _KOFI_VERBS_RW_H */
