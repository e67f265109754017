/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The baseline: declarations that its files share. */
#ifndef _KOFI_PERF_RAW_H
#define _KOFI_PERF_RAW_H

#include <linux/dma-direction.h>
#include <rdma/ib_verbs.h>

#include "perf.h"
#include "raw_cm.h"

/**
 * struct raw_bed - The connections of the baseline
 * @bed: what tests see
 * @cm: protection domain and listener
 * @cqs: completion queues of all ends a, and of all ends b
 * @links: the connections
 * @nr_links: connections
 * @memory: what a may read and write
 * @mr: region of @memory
 * @mapped: scatterlist of @memory, mapped for the device
 * @ios: regions of requests
 * @nr_ios: elements of @ios
 */
struct raw_bed {
	struct perf_bed		bed;
	struct perf_raw_cm	cm;
	struct ib_cq		*cqs[2];
	struct perf_raw_link	*links;
	unsigned int		nr_links;
	void			*memory;
	struct ib_mr		*mr;
	struct scatterlist	*mapped;
	struct raw_io		*ios;
	unsigned int		nr_ios;
};

/**
 * struct raw_req - An operation
 * @req: what tests see
 * @cqe: leads from the completion to the operation
 * @sge: buffer of the operation
 * @dir: direction of the buffer's mapping
 * @wr: only for perf_side.chain: the work request
 */
struct raw_req {
	struct perf_req		req;
	struct ib_cqe		cqe;
	struct ib_sge		sge;
	enum dma_data_direction	dir;
	struct ib_send_wr	wr;
};

static inline struct raw_bed *to_raw_bed(struct perf_bed *bed)
{
	return container_of(bed, struct raw_bed, bed);
}

static inline struct raw_req *to_raw_req(struct perf_req *req)
{
	return container_of(req, struct raw_req, req);
}

static inline struct ib_device *raw_ibdev(struct perf_bed *bed)
{
	return to_raw_bed(bed)->cm.pd->device;
}

/* Bytes that a queue pair of base=inline takes inline */
#define RAW_INLINE	256

/* raw.c */
int raw_map(struct raw_req *r, enum dma_data_direction dir);
void raw_unmap(struct raw_req *r);
void raw_sent(struct ib_cq *cq, struct ib_wc *wc);
void raw_sent_copy(struct ib_cq *cq, struct ib_wc *wc);

/* Prepare the buffer of a send: @copy: for the device to copy; else mapped */
static __always_inline int raw_source(struct raw_req *r, bool copy)
{
	if (!copy) {
		r->cqe.done = raw_sent;
		return raw_map(r, DMA_TO_DEVICE);
	}
	r->cqe.done = raw_sent_copy;
	r->sge.addr = (uintptr_t)r->req.buf;
	r->sge.length = r->req.len;
	return 0;
}

static __always_inline int raw_send_flags(bool copy)
{
	return IB_SEND_SIGNALED | (copy ? IB_SEND_INLINE : 0);
}

/* Unmap the buffer of a send that the device does not take */
static __always_inline int raw_source_posted(struct raw_req *r, bool copy, int ret)
{
	if (ret && !copy)
		raw_unmap(r);
	return ret;
}

/* raw_mr.c */
int raw_expose(struct raw_bed *bed, size_t len);
int raw_ios_open(struct raw_bed *bed, unsigned int count);
void raw_mrs_close(struct raw_bed *bed);
int raw_begin(struct perf_req *req, unsigned int io);
int raw_answer(struct perf_req *req, u32 key);
int raw_begin_copy(struct perf_req *req, unsigned int io);
int raw_answer_copy(struct perf_req *req, u32 key);
int raw_finish(struct perf_bed *bed, unsigned int io, u32 key);

/* mem_raw.c */
extern const struct perf_mem_ops raw_mem_ops;

#endif /* _KOFI_PERF_RAW_H */
