/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waiters: the client that a call has answered -EAGAIN, and that is called when it is worth
 * trying again.
 *
 * A waiter belongs to a resource that the operations of an endpoint may lack, and each resource
 * notes its own, so what comes back of one resource does not call a client that waits for another.
 * A resource that is counted is a struct kofi_credit (kofi/credit.h), which has a waiter.  The
 * other resources have a waiter only: a list of slots, a device that is busy.
 *
 * No lock is taken, and none is needed:
 *
 *	call			what brings the resource back
 *	finds none
 *	sets wanted		gives it back
 *	full barrier		full barrier
 *	looks again		reads wanted
 *
 * At least one of the two sees what the other has written: the call finds the resource, or
 * its client is called.  Both may happen.  Then the ready callback comes without need, which is
 * allowed.
 *
 * kofi_waiter_wake() still reads the endpoint when the resource can be taken again.  So its caller
 * holds a reference to the endpoint, or is in an RCU read-side section that the close waits for.
 */
#ifndef _KOFI_WAITER_H
#define _KOFI_WAITER_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>

struct kofi_ep_side;

/**
 * struct kofi_waiter - The client that waits for a resource
 * @wanted: a call has found none, and the client has not been called since
 * @side: whose client
 */
struct kofi_waiter {
	bool			wanted;
	struct kofi_ep_side	*side;
};

/**
 * kofi_waiter_init() - Set a waiter up
 * @waiter: the waiter
 * @side: whose client waits
 *
 * Context: any.
 */
static inline void kofi_waiter_init(struct kofi_waiter *waiter, struct kofi_ep_side *side)
{
	waiter->wanted = false;
	waiter->side = side;
}

/**
 * kofi_waiter_note() - A call is about to answer -EAGAIN
 * @waiter: of the resource that the call has not found
 *
 * The caller looks for the resource once more before it answers.
 *
 * Context: any.
 */
void kofi_waiter_note(struct kofi_waiter *waiter);

/**
 * kofi_waiter_want() - As kofi_waiter_note(), for a call that was counted before
 * @waiter: of the resource that the client has to have now
 *
 * The caller looks for the resource afterwards, and calls kofi_waiter_call() if it is there.
 *
 * Context: any.
 */
void kofi_waiter_want(struct kofi_waiter *waiter);

/**
 * kofi_waiter_forget() - The client need not be called, or the caller calls it
 * @waiter: the waiter
 *
 * Context: any.
 * Return: true if a call was noted.
 */
static inline bool kofi_waiter_forget(struct kofi_waiter *waiter)
{
	return xchg(&waiter->wanted, false);
}

void kofi_waiter_call(struct kofi_waiter *waiter);

/**
 * kofi_waiter_wake_after_atomic() - kofi_waiter_wake() behind a full barrier
 * @waiter: of the resource
 *
 * Context: as kofi_waiter_wake().  The resource was given back by an atomic operation that is a
 * full barrier, as those that return a value are.
 */
static inline void kofi_waiter_wake_after_atomic(struct kofi_waiter *waiter)
{
	if (unlikely(READ_ONCE(waiter->wanted)))
		kofi_waiter_call(waiter);
}

/**
 * kofi_waiter_wake() - A resource has come back: call the client that waits for it
 * @waiter: of the resource, which can be taken already
 *
 * The ready callback is due, once for all calls that were noted.
 *
 * Context: any; locks may be held.
 */
static inline void kofi_waiter_wake(struct kofi_waiter *waiter)
{
	/* Pairs with kofi_waiter_note() */
	smp_mb();
	kofi_waiter_wake_after_atomic(waiter);
}

#endif /* _KOFI_WAITER_H */
