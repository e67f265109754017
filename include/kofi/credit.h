/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Credits: a bounded resource that the operations of an endpoint take, and the client that
 * waits for it.
 *
 * Slots, rw operations, saves, admissions: a call takes a credit of each resource that its
 * operation needs, and answers -EAGAIN if one of them has none.  kofi_credit_take() notes then
 * that the client waits.  Each credit comes back by kofi_credit_give(), and the first that comes
 * back to a resource for which a client waits makes the client's ready callback due, once.
 *
 * A credit is a count with a waiter (kofi/waiter.h).  What a call takes, and what comes back, is
 * an atomic count, so neither needs a lock.
 *
 * kofi_credit_give() still reads the endpoint when the credit can be taken again.  So its caller
 * holds a reference to the endpoint, or is in an RCU read-side section that the close waits for.
 */
#ifndef _KOFI_CREDIT_H
#define _KOFI_CREDIT_H

#include <linux/atomic.h>
#include <kofi/waiter.h>

/**
 * struct kofi_credit - A bounded resource of one side of an endpoint
 * @left: credits that are left
 * @waiter: the client that waits for one
 */
struct kofi_credit {
	atomic_t		left;
	struct kofi_waiter	waiter;
};

/**
 * kofi_credit_init() - Set a resource up
 * @credit: the resource
 * @side: whose client waits for it
 * @count: credits that there are
 *
 * Context: any; no credit is out.
 */
static inline void kofi_credit_init(struct kofi_credit *credit, struct kofi_ep_side *side,
				    unsigned int count)
{
	atomic_set(&credit->left, count);
	kofi_waiter_init(&credit->waiter, side);
}

/**
 * kofi_credit_left() - How many credits are left?
 * @credit: the resource
 *
 * Context: any.
 * Return: how many; another processor may change that at once.
 */
static inline unsigned int kofi_credit_left(const struct kofi_credit *credit)
{
	return atomic_read(&credit->left);
}

bool kofi_credit_wait(struct kofi_credit *credit, int count);
bool kofi_credit_wait_left(struct kofi_credit *credit, int count);

/* For kofi_credit_take_many(): does not note that the client waits */
static inline bool kofi_credit_try(struct kofi_credit *credit, int count)
{
	int left = atomic_read(&credit->left);

	do {
		if (unlikely(left < count))
			return false;
	} while (!atomic_try_cmpxchg(&credit->left, &left, left - count));
	return true;
}

/**
 * kofi_credit_take_many() - Take credits, all or none, or note that the client waits
 * @credit: the resource
 * @count: how many, of those that there are
 *
 * Context: any.
 * Return: true: kofi_credit_give_many() is due when the resource comes back; false: so many are
 * not left, the call answers -EAGAIN, and the client's ready callback is due when one or more
 * come back.  If that is too few for the next call, the client is called again.
 */
static inline bool kofi_credit_take_many(struct kofi_credit *credit, int count)
{
	return likely(kofi_credit_try(credit, count)) || kofi_credit_wait(credit, count);
}

/**
 * kofi_credit_take() - Take a credit, or note that the client waits for one
 * @credit: the resource
 *
 * Context: any.
 * Return: as kofi_credit_take_many().
 */
static inline bool kofi_credit_take(struct kofi_credit *credit)
{
	return kofi_credit_take_many(credit, 1);
}

/**
 * kofi_credit_give_many() - Give credits back, and call the client that waits for them
 * @credit: the resource, which can be taken already
 * @count: how many
 *
 * Context: any; locks may be held.
 */
static inline void kofi_credit_give_many(struct kofi_credit *credit, int count)
{
	/* A full barrier, as it returns a value */
	atomic_add_return(count, &credit->left);
	kofi_waiter_wake_after_atomic(&credit->waiter);
}

/**
 * kofi_credit_give() - Give a credit back, and call the client that waits for it
 * @credit: the resource, which can be taken already
 *
 * Context: any; locks may be held.
 */
static inline void kofi_credit_give(struct kofi_credit *credit)
{
	kofi_credit_give_many(credit, 1);
}

/**
 * kofi_credit_has() - Are so many credits left?  If not, note that the client waits
 * @credit: the resource
 * @count: how many, of those that there are
 *
 * For a call that waits until others have given credits back, and takes none: an operation that
 * is to follow all that have one.
 *
 * Context: any.
 * Return: as kofi_credit_take_many(), but no credit is taken.
 */
static inline bool kofi_credit_has(struct kofi_credit *credit, int count)
{
	return likely(atomic_read(&credit->left) >= count) ||
	       kofi_credit_wait_left(credit, count);
}

#endif /* _KOFI_CREDIT_H */
