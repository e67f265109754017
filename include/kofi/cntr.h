/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A counter that any provider may use as its own.
 *
 * A counter is two numbers: how many operations (or bytes) have succeeded, and how many
 * operations have failed.  The provider adds to them when operations complete, in any
 * context; the client reads, adds, sets and sleeps in fi_cntr_wait().
 * A counter keeps no entry for an operation, so it cannot overrun and
 * needs no memory beyond the two numbers.
 *
 * A provider that also queues completions queues a completion before it counts it, so that
 * a client that has seen the counter change finds the completion.
 */
#ifndef _KOFI_CNTR_H
#define _KOFI_CNTR_H

#include <linux/atomic.h>
#include <linux/wait.h>
#include <rdma/fi_eq.h>

/**
 * struct kofi_cntr - The counter; the provider may embed it in its own
 * @cntr: what the client sees
 * @value: successes, or their bytes
 * @errors: failures
 * @changes: how often @errors has changed
 * @seen: @changes when the client last looked at @errors
 * @events: what is counted
 * @wait_obj: kind of counter
 * @wait: sleepers in fi_cntr_wait()
 */
struct kofi_cntr {
	struct fid_cntr		cntr;
	atomic64_t		value;
	atomic64_t		errors;
	atomic_t		changes;
	atomic_t		seen;
	enum fi_cntr_events	events;
	enum fi_wait_obj	wait_obj;
	wait_queue_head_t	wait;
};

/**
 * kofi_cntr_init() - Check the attributes and set a counter up
 * @cntr: the counter; its ->control and all calls on it are ready-made, a
 *	provider that embeds it sets cntr.fid.ops with a ->close of its own
 * @attr: the client's wishes
 * @context: the client's pointer
 *
 * Context: any.
 * Return: 0; -EINVAL: @attr is NULL or @events unknown; -FI_EBADFLAGS; -ENOSYS:
 * that kind of wait object.
 */
int kofi_cntr_init(struct kofi_cntr *cntr, const struct fi_cntr_attr *attr,
		   void *context);

/**
 * kofi_cntr_control() - Ready-made ->control: FI_GETWAITOBJ
 * @fid: of a &struct kofi_cntr
 * @command: as fi_control()
 * @arg: as fi_control(), which refuses NULL from a client
 *
 * Context: any.
 * Return: 0; -ENOSYS: any other command.
 */
int kofi_cntr_control(struct fid *fid, int command, void *arg);

/**
 * kofi_cntr_open() - Ready-made ->cntr_open of struct fi_ops_domain
 * @domain: not looked at
 * @attr: the client's wishes
 * @cntr: the counter, allocated; its ->close frees it
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: as kofi_cntr_init(); -ENOMEM.
 */
int kofi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		   struct fid_cntr **cntr, void *context);

static inline struct kofi_cntr *to_kofi_cntr(struct fid *fid)
{
	return container_of(fid, struct kofi_cntr, cntr.fid);
}

/**
 * kofi_cntr_add() - Count successes
 * @cntr: the counter
 * @value: how many, or how many bytes
 *
 * The counter must stay open until this returns, although a sleeper may see
 * the new value before.
 *
 * Context: any.  One atomic operation if no call waits.
 */
void kofi_cntr_add(struct kofi_cntr *cntr, u64 value);

/**
 * kofi_cntr_adderr() - Count failures
 * @cntr: the counter
 * @value: how many, also if the counter counts bytes
 *
 * Context: any.  The counter must stay open until this returns.
 */
void kofi_cntr_adderr(struct kofi_cntr *cntr, u64 value);

/**
 * kofi_cntr_done() - Count one operation
 * @cntr: the counter, or NULL: none is bound
 * @err: 0: it succeeded
 * @len: its bytes
 *
 * Context: any.  The counter must stay open until this returns.
 */
static inline void kofi_cntr_done(struct kofi_cntr *cntr, int err, size_t len)
{
	if (!cntr)
		return;
	if (err)
		kofi_cntr_adderr(cntr, 1);
	else
		kofi_cntr_add(cntr, cntr->events == FI_CNTR_EVENTS_BYTES ?
				    len : 1);
}

#endif /* _KOFI_CNTR_H */
