/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of the completion queue share: cq.c (the list), run.c (where devices are polled
 * and clients are called), read.c (readers).
 */
#ifndef _KOFI_UTIL_CQ_H
#define _KOFI_UTIL_CQ_H

#include <kofi/cq.h>

/* Completions that are looked at under one hold of the lock, and callbacks per run */
#define KOFI_CQ_BATCH		64

/* Callbacks whose completions are given back together */
#define KOFI_CQ_DUE		16

/**
 * struct kofi_cq_due - A callback that is about to be made
 * @done: its client's function, or NULL
 * @entry: what the function is given
 */
struct kofi_cq_due {
	struct fi_done		*done;
	struct fi_done_entry	entry;
};

/*
 * In kofi_comp.flags: this is a mark in the list and no completion.  err is set so that readers
 * stop at a mark.  In a queue with callbacks, kofi_cq_flush() waits for its mark; in a queue for
 * readers, kofi_cq_purge() goes on from its mark.
 */
#define KOFI_COMP_MARK		BIT_ULL(30)

/**
 * struct kofi_cq_mark - A mark in the list
 * @comp: with KOFI_COMP_MARK
 * @passed: completed when the runner has come to it
 * @popped: a reader has come to it and taken it out
 */
struct kofi_cq_mark {
	struct kofi_comp	comp;
	struct completion	passed;
	bool			popped;
};

static inline bool kofi_comp_is_mark(const struct kofi_comp *comp)
{
	return comp->flags & KOFI_COMP_MARK;
}

static inline struct kofi_cq_mark *to_kofi_cq_mark(struct kofi_comp *comp)
{
	return container_of(comp, struct kofi_cq_mark, comp);
}

/* Does each completion call the done function of its operation? */
static inline bool kofi_cq_has_callbacks(const struct kofi_cq *cq)
{
	return cq->wait_obj == FI_WAIT_DONE;
}

/* Nothing is put off any more; by the plugger */
static inline void kofi_cq_begin_plug(struct kofi_cq *cq)
{
	cq->plug.tail = &cq->plug.head;
	cq->plug.count = 0;
	cq->plug.errors = 0;
}

/* cq.c: cut off everything in front of *@end */
void kofi_cq_cut(struct kofi_cq *cq, struct kofi_comp **end, size_t count);
void kofi_cq_begin_batch(struct kofi_cq *cq);
/* Put what the plugger has completed into the list; by the plugger */
void kofi_cq_append_plug(struct kofi_cq *cq);
/* Put the batch into the list */
void kofi_cq_append_batch(struct kofi_cq *cq);
/* Trace kofi_done for each completion of a chain */
void kofi_cq_trace(const struct kofi_cq *cq, const struct kofi_comp *comp);
/* Make all taps give back the completions that they keep; may sleep */
void kofi_cq_flush_taps(struct kofi_cq *cq);

/* run.c */
void kofi_cq_run_setup(struct kofi_cq *cq, const struct fi_cq_attr *attr);
void kofi_cq_run_stop(struct kofi_cq *cq);
void kofi_cq_schedule(struct kofi_cq *cq);
void kofi_cq_run(struct kofi_cq *cq);
size_t kofi_cq_run_reader(struct kofi_cq *cq, size_t count);
struct kofi_comp *kofi_cq_poll_reader(struct kofi_cq *cq, size_t count, size_t *polled);
int kofi_cq_run_init(void);
void kofi_cq_run_exit(void);

/* read.c */
extern const struct fi_ops_cq kofi_cq_ops;
extern const struct fi_ops_cq kofi_cq_done_ops;

#endif /* _KOFI_UTIL_CQ_H */
