/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of hooks share: a case has a provider by name, rules of ofi_hook_fault, and
 * follows the trace events of ofi_hook_trace.
 */
#ifndef _KUNIT_HOOK_BED_H
#define _KUNIT_HOOK_BED_H

#include <kofi/hook.h>
#include <linux/wait.h>
#include <kunit/test.h>
#include "../lib/client.h"

#define BED_TRACE	"loop;ofi_hook_trace"
#define BED_FAULT	"loop;ofi_hook_fault"

/* The first result for the provider, which is opened and listens at 127.0.0.1 */
void bed_open(struct kunit *test, const char *name, u64 caps);
/* A result for the provider; freed after the case */
struct fi_info *bed_info(struct kunit *test, const char *name, u64 caps);

/* Writes to a file of the rules' folder in debugfs; the status of wait() */
int bed_write(const char *file, const char *text);
/* They are refused, and cat says why in these words */
bool bed_refuses(const char *rules, const char *why);
/* The rules are these; they go after the case */
void bed_rules(struct kunit *test, const char *rules);
/* Has the rule with this text fired so often, of so many times that it was asked? */
bool bed_rule_fired(const char *rule, int hits, int seen);

/**
 * struct bed_trace - What has been traced since bed_trace_begin()
 * @calls: calls
 * @done: completions
 * @errors: those of them with an error
 * @op: what the last call does, as kofi_hook_op()
 * @context: its context
 * @flags: flags that its client has passed
 * @call_len: its length
 * @ret: its answer
 * @comp: the last completion
 * @cq: its queue
 */
struct bed_trace {
	atomic_t		calls;
	atomic_t		done;
	atomic_t		errors;
	unsigned int		op;
	void			*context;
	u64			flags;
	size_t			call_len;
	ssize_t			ret;
	struct kofi_comp	comp;
	const struct fid	*cq;
};

struct bed_trace *bed_trace_begin(struct kunit *test);
void bed_trace_end(void *unused);

/**
 * struct bed_ep - A client of callbacks: an endpoint's, and of its operations
 * @done: of the operations; it has to be first
 * @calls: how often ->ready came
 * @dir: its argument, the last time
 * @in_task: the last one came in process context
 * @completed: operations that have completed
 * @failed: those of them that have failed
 * @err: of the last one that failed
 * @wait: woken by each
 */
struct bed_ep {
	struct fi_done		done;
	atomic_t		calls;
	u64			dir;
	bool			in_task;
	atomic_t		completed;
	atomic_t		failed;
	int			err;
	wait_queue_head_t	wait;
};

/* Its callbacks are those of the first end; queues of @kind */
struct bed_ep *bed_join(struct kunit *test, struct vt_pair *pair, const struct vt_kind *kind);
/* Until ->ready has come so often */
void bed_ready(struct kunit *test, struct vt_pair *pair, struct bed_ep *ep, int calls);
/* Until so many operations have completed */
void bed_completed(struct kunit *test, struct vt_pair *pair, struct bed_ep *ep, int count);

/* Kinds of queues that call for each operation */
#define BED_KINDS	3
extern const struct vt_kind bed_kinds[BED_KINDS];

#endif /* _KUNIT_HOOK_BED_H */
