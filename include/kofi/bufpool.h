/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A pool of equal objects, of which there is a bounded number.
 *
 * An endpoint has a bounded number of operations in flight.  So slots of operations, and
 * completions that use no receive, are allocated when the endpoint is
 * opened.  An empty pool is back-pressure: the call that finds it empty answers
 * -EAGAIN, and the pool reports once when an object has come back.
 *
 * A pool may begin with a part of its objects (kofi_bufpool_init_part()).  Its owner has it grow
 * when a caller finds it empty (kofi_bufpool_grow()), without waiting for memory, or has it
 * allocate the rest in advance (kofi_bufpool_fill()).  Objects stay until the pool is destroyed.
 *
 * An object keeps its contents while it is in the pool.
 *
 * A pool has a spinlock, held for a few instructions; a provider gives each endpoint a pool, so
 * endpoints do not share one.  An owner that takes a lock of its own with each object has the pool
 * use that lock (kofi_bufpool_use_lock()).
 */
#ifndef _KOFI_BUFPOOL_H
#define _KOFI_BUFPOOL_H

#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define KOFI_BUFPOOL_PART	SZ_2K	/* see kofi_bufpool_init_part() */

struct completion;
struct kofi_bufpool;
struct kofi_bufpool_block;

/*
 * An object has come back after kofi_bufpool_get() found the pool empty.  Called in
 * the context of kofi_bufpool_put(), with no lock held.  May get and put.
 */
typedef void (*kofi_bufpool_fn)(struct kofi_bufpool *pool);

/* A new object, zeroed, is about to be put into the pool.  Any context; must not sleep */
typedef void (*kofi_bufpool_prepare_fn)(struct kofi_bufpool *pool, void *obj);

/**
 * struct kofi_bufpool - A pool of equal objects
 * @lock: protects @nfree to @free, and @made and @blocks: @own_lock, or its owner's
 * @own_lock: of the pool
 * @nfree: objects in the pool
 * @calls: calls of @refilled under way
 * @starved: a get has failed since the last call of @refilled
 * @in_blocks: the pool began with a part
 * @drained: completion that kofi_bufpool_drain() waits for, or NULL
 * @free: the objects in the pool, @nfree of them
 * @refilled: see kofi_bufpool_fn, or NULL
 * @count: most objects
 * @made: number of objects, in the pool or not; @count, unless the pool began with a part
 * @size: bytes from one object to the next
 * @objs: the objects, if the pool began with all
 * @blocks: memory of the objects, if the pool began with a part
 * @prepare: see kofi_bufpool_prepare_fn, or NULL
 */
struct kofi_bufpool {
	spinlock_t		*lock; /* see above */
	spinlock_t		own_lock; /* see above */
	u32			nfree;
	u32			calls;
	bool			starved;
	bool			in_blocks;
	struct completion	*drained;
	void			**free;
	kofi_bufpool_fn		refilled;
	u32			count;
	u32			made;
	size_t			size;
	union {
		void				*objs;
		struct kofi_bufpool_block	*blocks;
	};
	kofi_bufpool_prepare_fn	prepare;
};

/**
 * kofi_bufpool_init() - Allocate the objects of a pool
 * @pool: the pool
 * @size: bytes of an object; each is aligned for 64-bit integers
 * @count: objects
 * @refilled: see kofi_bufpool_fn, or NULL
 *
 * The objects are zeroed.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: no objects, or of no size; -ENOMEM.
 */
int kofi_bufpool_init(struct kofi_bufpool *pool, size_t size, u32 count,
		      kofi_bufpool_fn refilled);

/**
 * kofi_bufpool_init_part() - Set a pool up that begins with a part of its objects
 * @pool: the pool
 * @size: as kofi_bufpool_init()
 * @count: the most objects that there will be
 * @prepare: see kofi_bufpool_prepare_fn, or NULL
 * @refilled: see kofi_bufpool_fn, or NULL
 *
 * The pool begins with at least one object, and at most what KOFI_BUFPOOL_PART bytes have.
 *
 * Context: may sleep.
 * Return: as kofi_bufpool_init().
 */
int kofi_bufpool_init_part(struct kofi_bufpool *pool, size_t size, u32 count,
			   kofi_bufpool_prepare_fn prepare, kofi_bufpool_fn refilled);

/**
 * kofi_bufpool_init_prepared() - Set a pool up with all of its objects, or with a part of them
 * @pool: the pool
 * @size: as kofi_bufpool_init()
 * @count: the most objects that there will be
 * @part: the pool begins with a part
 * @prepare: as kofi_bufpool_init_part(), called for each object
 * @refilled: see kofi_bufpool_fn, or NULL
 *
 * Context: may sleep.
 * Return: as kofi_bufpool_init().
 */
int kofi_bufpool_init_prepared(struct kofi_bufpool *pool, size_t size, u32 count, bool part,
			       kofi_bufpool_prepare_fn prepare, kofi_bufpool_fn refilled);

/**
 * kofi_bufpool_use_lock() - Have a pool use a lock of its owner's
 * @pool: a pool that nothing has been taken out of yet
 * @lock: taken with interrupts off; the owner calls nothing but kofi_bufpool_get_locked() and
 *	kofi_bufpool_has_locked() with it
 *
 * Context: may sleep.
 */
static inline void kofi_bufpool_use_lock(struct kofi_bufpool *pool, spinlock_t *lock)
{
	pool->lock = lock;
}

/**
 * kofi_bufpool_grow() - Allocate more objects, without waiting for memory
 * @pool: any pool
 *
 * Context: any.
 * Return: how many objects the pool has got; 0: it has all; -ENOMEM.
 */
int kofi_bufpool_grow(struct kofi_bufpool *pool);

/**
 * kofi_bufpool_fill() - Allocate all objects that a pool lacks
 * @pool: any pool
 * @more: incremented by the number of objects that the pool has got
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int kofi_bufpool_fill(struct kofi_bufpool *pool, u32 *more);

/**
 * kofi_bufpool_destroy() - Free the objects of a pool
 * @pool: a pool that all objects have come back to
 *
 * Context: may sleep.
 */
void kofi_bufpool_destroy(struct kofi_bufpool *pool);

/**
 * kofi_bufpool_obj() - Find an object by number
 * @pool: the pool, which began with all objects
 * @i: less than @pool->count
 *
 * For a provider that prepares each object once.
 *
 * Context: any.
 * Return: the object, whether it is in the pool or not.
 */
static inline void *kofi_bufpool_obj(const struct kofi_bufpool *pool, u32 i)
{
	return pool->objs + i * pool->size;
}

/**
 * kofi_bufpool_get() - Take an object out of a pool
 * @pool: the pool
 *
 * Context: any.
 * Return: the object that came back last; NULL: the pool is empty, and @refilled
 * will be called, once for all calls that fail until then.
 */
void *kofi_bufpool_get(struct kofi_bufpool *pool);

/**
 * kofi_bufpool_get_locked() - Take an object out of a pool, for a caller that holds its lock
 * @pool: the pool, which has an object: its nfree is not 0
 *
 * Context: any, with the lock of the pool held.
 * Return: as kofi_bufpool_get().
 */
static inline void *kofi_bufpool_get_locked(struct kofi_bufpool *pool)
{
	lockdep_assert_held(pool->lock);
	return pool->free[--pool->nfree];
}

/**
 * kofi_bufpool_has_locked() - Has a pool an object?  For a caller that holds its lock
 * @pool: the pool
 *
 * Context: any, with the lock of the pool held.
 * Return: true: it has; false: it has none, and @refilled will be called, as by kofi_bufpool_get().
 */
static inline bool kofi_bufpool_has_locked(struct kofi_bufpool *pool)
{
	lockdep_assert_held(pool->lock);
	if (!pool->nfree)
		pool->starved = true;
	return pool->nfree;
}

/**
 * kofi_bufpool_begin_put() - Begin to give objects back with one hold of the lock
 * @pool: the pool
 * @flags: state of interrupts, for kofi_bufpool_end_put()
 *
 * kofi_bufpool_put_next() follows for each object, and then kofi_bufpool_end_put().
 *
 * Context: any.
 */
static inline void kofi_bufpool_begin_put(struct kofi_bufpool *pool, unsigned long *flags)
	__acquires(pool->lock)
{
	spin_lock_irqsave(pool->lock, *flags);
}

/* Give the next object back */
static inline void kofi_bufpool_put_next(struct kofi_bufpool *pool, void *obj)
{
	lockdep_assert_held(pool->lock);
	if (!WARN_ON_ONCE(pool->nfree >= pool->made))
		pool->free[pool->nfree++] = obj;
}

/**
 * kofi_bufpool_end_put() - All objects of kofi_bufpool_begin_put() are back
 * @pool: the pool
 * @flags: from kofi_bufpool_begin_put()
 *
 * Context: as kofi_bufpool_begin_put().
 */
void kofi_bufpool_end_put(struct kofi_bufpool *pool, unsigned long flags) __releases(pool->lock);

/**
 * kofi_bufpool_put() - Give an object back
 * @pool: the pool
 * @obj: one of its objects, taken out before
 *
 * Context: any.
 */
static inline void kofi_bufpool_put(struct kofi_bufpool *pool, void *obj)
{
	unsigned long flags;

	kofi_bufpool_begin_put(pool, &flags);
	kofi_bufpool_put_next(pool, obj);
	kofi_bufpool_end_put(pool, flags);
}

/**
 * kofi_bufpool_busy() - How many objects are out?
 * @pool: the pool
 *
 * Context: any.
 * Return: how many; 0: all are back, and no call of @refilled is under way.
 */
u32 kofi_bufpool_busy(struct kofi_bufpool *pool);

/**
 * kofi_bufpool_drain() - Wait until all objects are back
 * @pool: a pool that nothing is taken out of any more
 *
 * When it returns, no call of @refilled is under way, and the pool may be
 * destroyed.
 *
 * Context: may sleep.  One caller at a time.
 */
void kofi_bufpool_drain(struct kofi_bufpool *pool);

#endif /* _KOFI_BUFPOOL_H */
