/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of the completion queue share: cq.c (the list), run.c (where
 * clients are called), read.c (readers).
 */
#ifndef _KOFI_UTIL_CQ_H
#define _KOFI_UTIL_CQ_H

#include <kofi/cq.h>

/* Completions that are looked at under one hold of the lock, and callbacks per run */
#define KOFI_CQ_BATCH		64

/*
 * In kofi_comp.flags: this is a mark in the list and no completion.  err is set so that readers
 * stop at a mark.  In a queue with callbacks, kofi_cq_flush() waits for its mark; in a queue for
 * readers, kofi_cq_purge() goes on from its mark.
 */
#define KOFI_COMP_MARK		BIT_ULL(62)

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

/* cq.c: returns whether a run is due */
bool kofi_cq_append(struct kofi_cq *cq, struct kofi_comp *comp);
/* Make all taps give back the completions that they keep; may sleep */
void kofi_cq_flush_taps(struct kofi_cq *cq);

/* run.c */
void kofi_cq_run_setup(struct kofi_cq *cq, const struct fi_cq_attr *attr);
void kofi_cq_run_stop(struct kofi_cq *cq);
void kofi_cq_schedule(struct kofi_cq *cq);
void kofi_cq_run_here(struct kofi_cq *cq);
ssize_t kofi_cq_poll(struct kofi_cq *cq, size_t count);
int kofi_cq_run_init(void);
void kofi_cq_run_exit(void);

/* read.c */
extern const struct fi_ops_cq kofi_cq_ops;
extern const struct fi_ops_cq kofi_cq_done_ops;

#endif /* _KOFI_UTIL_CQ_H */
