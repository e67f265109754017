/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections of this machine with itself, on rdma_cm and ib_core: the other side
 * of every comparison (see link.h).
 *
 * Each call belongs to one thread and may sleep.
 */
#ifndef _KOFI_PERF_RAW_CM_H
#define _KOFI_PERF_RAW_CM_H

#include <linux/completion.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "link.h"

/**
 * struct perf_raw_cm - What queue pairs are made on
 * @listener: listens
 * @pd: protection domain
 * @addr: where @listener listens
 * @depth: of queue pairs
 * @sges: of a work request
 * @inline_size: bytes that queue pairs take inline
 * @arrived: completed for each connection request
 * @request: the last connection request
 */
struct perf_raw_cm {
	struct rdma_cm_id	*listener;
	struct ib_pd		*pd;
	struct sockaddr_storage	addr;
	struct perf_depth	depth;
	u32			sges;
	u32			inline_size;
	struct completion	arrived;
	struct rdma_cm_id	*request;
};

/**
 * struct perf_raw_end - One end of a connection
 * @id: the connection
 * @qp: its queue pair
 * @event: completed for each step that has ended
 * @err: error of a step, or 0
 */
struct perf_raw_end {
	struct rdma_cm_id	*id;
	struct ib_qp		*qp;
	struct completion	event;
	int			err;
};

/* A connection; it must not be moved */
struct perf_raw_link {
	struct perf_raw_end	a;
	struct perf_raw_end	b;
};

int perf_raw_cm_open(struct perf_raw_cm *cm, const char *node,
		     struct perf_depth depth, u32 inline_size);
void perf_raw_cm_close(struct perf_raw_cm *cm);
/* A queue pair that is not connected; perf_raw_end_close() ends it */
int perf_raw_end_open(struct perf_raw_cm *cm, struct perf_raw_end *end,
		      struct ib_cq *cq);
void perf_raw_end_close(struct perf_raw_end *end);
int perf_raw_connect(struct perf_raw_cm *cm, struct perf_raw_link *link,
		     struct ib_cq *cq_a, struct ib_cq *cq_b);
void perf_raw_disconnect(struct perf_raw_link *link);

#endif /* _KOFI_PERF_RAW_CM_H */
