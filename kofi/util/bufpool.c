// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Pools of equal objects.
 *
 * Pointers to the free objects are in an array that is used as a stack.  So
 * kofi_bufpool_get() returns the object that came back last, which is likely in a
 * cache.  The pool writes nothing into an object.
 *
 * The pool's lock guards everything, and makes two promises exact.  A kofi_bufpool_get() that
 * fails is followed by one call of refilled() when the next object has come back.
 * kofi_bufpool_drain() returns when nothing touches the pool any more.  So a put that calls
 * refilled() counts as an object that is out until refilled() has returned.  kofi_bufpool_drain()
 * takes the lock once more after it was woken, because the last put wakes it before it releases
 * the lock.
 */
#include <linux/bug.h>
#include <linux/completion.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <kofi/bufpool.h>

/* Whole pages, where kmalloc() would round up to a power of two */
static void *kofi_bufpool_alloc(size_t bytes)
{
	void *objs = NULL;

	if (bytes <= PAGE_SIZE)
		return kzalloc(bytes, GFP_KERNEL | __GFP_NOWARN);
	if (bytes <= KMALLOC_MAX_SIZE)
		objs = alloc_pages_exact(bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
					 __GFP_NORETRY);
	return objs ? : __vmalloc(bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
}

static void kofi_bufpool_free(void *objs, size_t bytes)
{
	if (is_vmalloc_addr(objs))
		vfree(objs);
	else if (bytes <= PAGE_SIZE)
		kfree(objs);
	else
		free_pages_exact(objs, bytes);
}

int kofi_bufpool_init(struct kofi_bufpool *pool, size_t size, u32 count,
		      kofi_bufpool_fn refilled)
{
	size_t bytes;
	u32 i;

	if (!size || size > INT_MAX || !count)
		return -EINVAL;

	memset(pool, 0, sizeof(*pool));
	spin_lock_init(&pool->lock);
	pool->refilled = refilled;
	pool->count = count;
	pool->size = ALIGN(size, sizeof(u64));
	bytes = size_mul(count, pool->size);
	pool->objs = kofi_bufpool_alloc(bytes);
	if (!pool->objs)
		goto clear;
	pool->free = kvmalloc_array(count, sizeof(*pool->free),
				    GFP_KERNEL | __GFP_NOWARN);
	if (!pool->free)
		goto free_objs;

	/* The first object is taken first */
	for (i = 0; i < count; i++)
		pool->free[i] = kofi_bufpool_obj(pool, count - 1 - i);
	pool->nfree = count;
	return 0;

free_objs:
	kofi_bufpool_free(pool->objs, bytes);
clear:
	/* Callers tell by the count whether there is something to destroy */
	memset(pool, 0, sizeof(*pool));
	return -ENOMEM;
}
EXPORT_SYMBOL_GPL(kofi_bufpool_init);

void kofi_bufpool_destroy(struct kofi_bufpool *pool)
{
	WARN_ON_ONCE(kofi_bufpool_busy(pool));
	kvfree(pool->free);
	kofi_bufpool_free(pool->objs, pool->count * pool->size);
}
EXPORT_SYMBOL_GPL(kofi_bufpool_destroy);

void *kofi_bufpool_get(struct kofi_bufpool *pool)
{
	unsigned long flags;
	void *obj = NULL;

	spin_lock_irqsave(&pool->lock, flags);
	if (likely(pool->nfree))
		obj = pool->free[--pool->nfree];
	else
		pool->starved = true;
	spin_unlock_irqrestore(&pool->lock, flags);
	return obj;
}
EXPORT_SYMBOL_GPL(kofi_bufpool_get);

static u32 kofi_bufpool_out(const struct kofi_bufpool *pool)
{
	lockdep_assert_held(&pool->lock);

	return pool->count - pool->nfree + pool->calls;
}

static void kofi_bufpool_wake(struct kofi_bufpool *pool)
{
	if (unlikely(pool->drained) && !kofi_bufpool_out(pool)) {
		complete(pool->drained);
		pool->drained = NULL;
	}
}

void kofi_bufpool_put_many(struct kofi_bufpool *pool, void *const *objs, u32 count)
{
	unsigned long flags;
	bool call;
	u32 i;

	spin_lock_irqsave(&pool->lock, flags);
	if (WARN_ON_ONCE(count > pool->count - pool->nfree)) {
		spin_unlock_irqrestore(&pool->lock, flags);
		return;
	}
	for (i = 0; i < count; i++)
		pool->free[pool->nfree++] = objs[i];
	call = unlikely(pool->starved) && pool->refilled;
	pool->starved = false;
	pool->calls += call;
	kofi_bufpool_wake(pool);
	spin_unlock_irqrestore(&pool->lock, flags);
	if (likely(!call))
		return;

	pool->refilled(pool);
	spin_lock_irqsave(&pool->lock, flags);
	pool->calls--;
	kofi_bufpool_wake(pool);
	spin_unlock_irqrestore(&pool->lock, flags);
}
EXPORT_SYMBOL_GPL(kofi_bufpool_put_many);

u32 kofi_bufpool_busy(struct kofi_bufpool *pool)
{
	unsigned long flags;
	u32 out;

	spin_lock_irqsave(&pool->lock, flags);
	out = kofi_bufpool_out(pool);
	spin_unlock_irqrestore(&pool->lock, flags);
	return out;
}
EXPORT_SYMBOL_GPL(kofi_bufpool_busy);

void kofi_bufpool_drain(struct kofi_bufpool *pool)
{
	DECLARE_COMPLETION_ONSTACK(drained);
	bool wait;

	spin_lock_irq(&pool->lock);
	wait = kofi_bufpool_out(pool);
	if (wait)
		pool->drained = &drained;
	spin_unlock_irq(&pool->lock);
	if (!wait)
		return;

	wait_for_completion(&drained);
	/* Wait until the last put has released the lock */
	spin_lock_irq(&pool->lock);
	spin_unlock_irq(&pool->lock);
}
EXPORT_SYMBOL_GPL(kofi_bufpool_drain);
