/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* kOFI's side: declarations that its files share. */
#ifndef _KOFI_PERF_KOFI_H
#define _KOFI_PERF_KOFI_H

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include "perf.h"

/**
 * struct kofi_bed - The connections of kOFI's side
 * @bed: what tests see
 * @f: the fabric
 * @cqs: completion queues of all ends a, and of all ends b
 * @links: the connections
 * @ends: ends a and b of each connection
 * @nr_links: connections
 * @memory: what a may read and write
 * @mr: region of @memory
 * @ios: regions of requests
 * @nr_ios: elements of @ios
 */
struct kofi_bed {
	struct perf_bed		bed;
	struct perf_fabric	f;
	struct fid_cq		*cqs[2];
	struct perf_link	*links;
	struct kofi_end		*ends;
	unsigned int		nr_links;
	void			*memory;
	struct fid_mr		*mr;
	struct kofi_io		*ios;
	unsigned int		nr_ios;
};

/* @peer: the address to send to, for endpoints without connections */
struct kofi_end {
	struct fid_ep	*ep;
	fi_addr_t	peer;
};

/* @done: leads from the completion to @req */
struct kofi_req {
	struct perf_req	req;
	struct fi_done	done;
};

static inline struct kofi_bed *to_kofi_bed(struct perf_bed *bed)
{
	return container_of(bed, struct kofi_bed, bed);
}

static inline struct kofi_req *to_kofi_req(struct perf_req *req)
{
	return container_of(req, struct kofi_req, req);
}

/* kofi.c */
int kofi_cq_open(struct perf_fabric *f, size_t size, struct fid_cq **cq);
void kofi_done(struct fi_done *done, const struct fi_done_entry *entry);

/* kofi_mr.c */
int kofi_expose(struct kofi_bed *bed, size_t len);
int kofi_ios_open(struct kofi_bed *bed, unsigned int count);
void kofi_mrs_close(struct kofi_bed *bed);
int kofi_begin(struct perf_req *req, unsigned int io);
int kofi_answer(struct perf_req *req, u32 key);
int kofi_finish(struct perf_bed *bed, unsigned int io, u32 key);

/* peers.c */
struct peers;
struct peers *peers_open(struct perf_fabric *f, struct fid_cq *cq, u32 depth, u32 each,
			 unsigned int max);
int peers_add(struct peers *p, struct fid_cq *cq);
s64 peers_meet(struct peers *p, unsigned int count);
void peers_close(struct peers *p);

/* mem_kofi.c */
extern const struct perf_mem_ops kofi_mem_ops;

#endif /* _KOFI_PERF_KOFI_H */
