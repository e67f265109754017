/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of kofi_insn.ko share.
 *
 *	main.c	the module: rounds, results, the counter
 *	bed.c	both sides, connected on a fake HCA
 *	post.c	posting
 *	comp.c	completing
 *	mr.c	registration
 *
 * What is counted is the distance of two readings of the processor's counter.  In a
 * guest whose time is the number of instructions executed (QEMU's icount) that is
 * their number; main.c makes sure of it.
 */
#ifndef _KUNIT_INSN_H
#define _KUNIT_INSN_H

#include <linux/completion.h>
#include <linux/timex.h>
#include <linux/types.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include "../../clients/perf/link.h"
#include "../../clients/perf/raw_cm.h"
#include "../fakehca/fakehca.h"

/* Operations between two readings, the size of a batch of completions */
#define INSN_BATCH	16

#define INSN_LEN	64
#define INSN_LONG	512	/* more than goes inline */
#define INSN_DEPTH	128

/* How completions come to their reader */
enum insn_kind {
	INSN_POLL,
	INSN_SREAD,
	INSN_HANDLER,
	INSN_DONE,
	INSN_KINDS,
};

/**
 * struct insn_req - An operation
 * @done: kOFI's way to it, INSN_DONE
 * @cqe: ib_core's way to it
 * @len: bytes of its completion
 * @next: completed before and not read yet
 * @dma: mapping of its own, or 0
 */
struct insn_req {
	struct fi_done	done;
	struct ib_cqe	cqe;
	u32		len;
	struct insn_req	*next;
	u64		dma;
};

/**
 * struct insn_kofi - kOFI on the fake HCA
 * @buf: for all operations
 * @f: the fabric
 * @cq: of both ends
 * @link: the connection
 * @mr: region of @buf
 * @desc: its descriptor
 * @key: its key, for the peer
 * @qp: what is below @link.a
 * @kind: of @cq
 * @reqs: operations
 */
struct insn_kofi {
	void			*buf;
	struct perf_fabric	f;
	struct fid_cq		*cq;
	struct perf_link	link;
	struct fid_mr		*mr;
	void			*desc;
	u64			key;
	struct ib_qp		*qp;
	enum insn_kind		kind;
	struct insn_req		reqs[INSN_BATCH];
};

/**
 * struct insn_raw - ib_core on the fake HCA
 * @buf: for all operations
 * @cm: protection domain and listener
 * @cq: of both ends
 * @link: the connection
 * @dma: the buffer for the device
 * @qp: the queue pair that is used
 * @kind: of @cq
 * @reqs: operations
 * @list: these, for who sleeps
 * @arrived: completed for who sleeps
 */
struct insn_raw {
	void			*buf;
	struct perf_raw_cm	cm;
	struct ib_cq		*cq;
	struct perf_raw_link	link;
	u64			dma;
	struct ib_qp		*qp;
	enum insn_kind		kind;
	struct insn_req		reqs[INSN_BATCH];
	struct insn_req		*list;
	struct completion	arrived;
};

/**
 * struct insn_bed - Both sides, with completions of one kind
 * @hca: the device
 * @buf: INSN_LONG bytes for all operations
 * @page: to register
 * @kofi: one side
 * @raw: the other one
 */
struct insn_bed {
	struct fakehca		*hca;
	void			*buf;
	void			*page;
	struct insn_kofi	kofi;
	struct insn_raw		raw;
};

/**
 * struct insn_case - A case
 * @key: of the row
 * @kind: of completions
 * @kofi: counts once, INSN_BATCH operations; or an errno
 * @raw: the same work on ib_core
 * @arg: for them
 */
struct insn_case {
	const char	*key;
	enum insn_kind	kind;
	s64		(*kofi)(struct insn_bed *bed, int arg);
	s64		(*raw)(struct insn_bed *bed, int arg);
	int		arg;
};

/* main.c: what insn_begin() and insn_end() cost together */
extern s64 insn_overhead;

/* main.c: where a count begins and ends; scripts/profile knows both by their names */
cycles_t insn_begin(void);
cycles_t insn_end(void);

/* post.c: one operation each, as a client's function would post it */
typedef int (*insn_kofi_fn)(struct insn_kofi *k, struct insn_req *req);
typedef int (*insn_raw_fn)(struct insn_raw *r, struct insn_req *req);

enum insn_op {
	INSN_SEND,
	INSN_RECV,
	INSN_WRITE,
	INSN_READ,
	INSN_INJECT,
	INSN_SEND_MAP,
	INSN_LONG_MAP,
	INSN_SENDMSG,
	INSN_OPS,
};

extern const insn_kofi_fn insn_kofi_ops[INSN_OPS];
extern const insn_raw_fn insn_raw_ops[INSN_OPS];

/* insn_bed.c */
int insn_bed_open(struct insn_bed *bed, enum insn_kind kind);
void insn_bed_close(struct insn_bed *bed);
void insn_tell(struct ib_cq *cq);
/* What was posted ends and is taken, uncounted */
int insn_kofi_settle(struct insn_bed *bed);
int insn_raw_settle(struct insn_bed *bed);

extern const struct insn_case insn_post_cases[], insn_comp_cases[],
			      insn_mr_cases[];
extern const unsigned int insn_nr_post_cases, insn_nr_comp_cases,
			  insn_nr_mr_cases;

#endif /* _KUNIT_INSN_H */
