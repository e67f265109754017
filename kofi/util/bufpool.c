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
 *
 * A pool that began with a part has its objects in blocks.  A block is allocated without the lock,
 * and its objects join the others under the lock.  Two tasks may allocate at the same time: the
 * second adds only as many objects as the pool may still have.
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

/**
 * struct kofi_bufpool_block - Memory of some objects of a pool that began with a part
 * @next: the block that was allocated before this one
 * @objs: the objects
 */
struct kofi_bufpool_block {
	struct kofi_bufpool_block	*next;
	u64				objs[];
};

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

/* Set a pool up that has no objects yet */
static int kofi_bufpool_begin(struct kofi_bufpool *pool, size_t size, u32 count,
			      kofi_bufpool_fn refilled)
{
	if (!size || size > INT_MAX || !count)
		return -EINVAL;

	memset(pool, 0, sizeof(*pool));
	spin_lock_init(&pool->own_lock);
	pool->lock = &pool->own_lock;
	pool->refilled = refilled;
	pool->count = count;
	pool->size = ALIGN(size, sizeof(u64));
	pool->free = kvmalloc_array(count, sizeof(*pool->free),
				    GFP_KERNEL | __GFP_NOWARN);
	if (pool->free)
		return 0;
	memset(pool, 0, sizeof(*pool));
	return -ENOMEM;
}

/* Callers tell by the count whether there is something to destroy */
static int kofi_bufpool_abort(struct kofi_bufpool *pool)
{
	kvfree(pool->free);
	memset(pool, 0, sizeof(*pool));
	return -ENOMEM;
}

int kofi_bufpool_init(struct kofi_bufpool *pool, size_t size, u32 count,
		      kofi_bufpool_fn refilled)
{
	int ret;
	u32 i;

	ret = kofi_bufpool_begin(pool, size, count, refilled);
	if (ret)
		return ret;
	pool->objs = kofi_bufpool_alloc(size_mul(count, pool->size));
	if (!pool->objs)
		return kofi_bufpool_abort(pool);

	/* The first object is taken first */
	for (i = 0; i < count; i++)
		pool->free[i] = kofi_bufpool_obj(pool, count - 1 - i);
	pool->nfree = count;
	pool->made = count;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_bufpool_init);

/* How many objects have room in a block of so many bytes?  One at least */
static u32 kofi_bufpool_fit(const struct kofi_bufpool *pool, size_t bytes)
{
	return max_t(u32, 1, (bytes - sizeof(struct kofi_bufpool_block)) / pool->size);
}

/* Put the objects of a new block into the pool; return how many */
static u32 kofi_bufpool_add(struct kofi_bufpool *pool, struct kofi_bufpool_block *block, u32 count)
{
	unsigned long flags;
	u32 i;

	for (i = 0; pool->prepare && i < count; i++)
		pool->prepare(pool, (void *)block->objs + i * pool->size);
	spin_lock_irqsave(pool->lock, flags);
	count = min(count, pool->count - pool->made);
	for (i = 0; i < count; i++)
		pool->free[pool->nfree++] = (void *)block->objs + (count - 1 - i) * pool->size;
	pool->made += count;
	if (count) {
		block->next = pool->blocks;
		pool->blocks = block;
	}
	spin_unlock_irqrestore(pool->lock, flags);
	if (!count)
		kfree(block);
	return count;
}

/* Allocate a block of at most @bytes; return as kofi_bufpool_grow() */
static int kofi_bufpool_more(struct kofi_bufpool *pool, size_t bytes, gfp_t gfp)
{
	u32 left = pool->count - READ_ONCE(pool->made), count;
	struct kofi_bufpool_block *block;

	if (!left)
		return 0;
	count = min(left, kofi_bufpool_fit(pool, bytes));
	block = kzalloc(struct_size(block, objs, count * (pool->size / sizeof(u64))),
			gfp | __GFP_NOWARN);
	return block ? kofi_bufpool_add(pool, block, count) : -ENOMEM;
}

int kofi_bufpool_init_part(struct kofi_bufpool *pool, size_t size, u32 count,
			   kofi_bufpool_prepare_fn prepare, kofi_bufpool_fn refilled)
{
	int ret;

	ret = kofi_bufpool_begin(pool, size, count, refilled);
	if (ret)
		return ret;
	pool->in_blocks = true;
	pool->prepare = prepare;
	ret = kofi_bufpool_more(pool, KOFI_BUFPOOL_PART, GFP_KERNEL);
	return ret < 0 ? kofi_bufpool_abort(pool) : 0;
}
EXPORT_SYMBOL_GPL(kofi_bufpool_init_part);

int kofi_bufpool_init_prepared(struct kofi_bufpool *pool, size_t size, u32 count, bool part,
			       kofi_bufpool_prepare_fn prepare, kofi_bufpool_fn refilled)
{
	int ret;
	u32 i;

	if (part)
		return kofi_bufpool_init_part(pool, size, count, prepare, refilled);
	ret = kofi_bufpool_init(pool, size, count, refilled);
	for (i = 0; !ret && i < count; i++)
		prepare(pool, kofi_bufpool_obj(pool, i));
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_bufpool_init_prepared);

int kofi_bufpool_grow(struct kofi_bufpool *pool)
{
	return kofi_bufpool_more(pool, PAGE_SIZE, GFP_NOWAIT);
}
EXPORT_SYMBOL_GPL(kofi_bufpool_grow);

int kofi_bufpool_fill(struct kofi_bufpool *pool, u32 *more)
{
	int ret;

	while ((ret = kofi_bufpool_more(pool, PAGE_SIZE, GFP_KERNEL)) > 0)
		*more += ret;
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_bufpool_fill);

void kofi_bufpool_destroy(struct kofi_bufpool *pool)
{
	struct kofi_bufpool_block *block;

	WARN_ON_ONCE(kofi_bufpool_busy(pool));
	kvfree(pool->free);
	if (!pool->in_blocks) {
		kofi_bufpool_free(pool->objs, pool->count * pool->size);
		return;
	}
	while ((block = pool->blocks)) {
		pool->blocks = block->next;
		kfree(block);
	}
}
EXPORT_SYMBOL_GPL(kofi_bufpool_destroy);

void *kofi_bufpool_get(struct kofi_bufpool *pool)
{
	unsigned long flags;
	void *obj = NULL;

	spin_lock_irqsave(pool->lock, flags);
	if (likely(pool->nfree))
		obj = pool->free[--pool->nfree];
	else
		pool->starved = true;
	spin_unlock_irqrestore(pool->lock, flags);
	return obj;
}
EXPORT_SYMBOL_GPL(kofi_bufpool_get);

static u32 kofi_bufpool_out(const struct kofi_bufpool *pool)
{
	lockdep_assert_held(pool->lock);

	return pool->made - pool->nfree + pool->calls;
}

static void kofi_bufpool_wake(struct kofi_bufpool *pool)
{
	if (unlikely(pool->drained) && !kofi_bufpool_out(pool)) {
		complete(pool->drained);
		pool->drained = NULL;
	}
}

void kofi_bufpool_end_put(struct kofi_bufpool *pool, unsigned long flags)
	__releases(pool->lock)
{
	bool call = unlikely(pool->starved) && pool->refilled;

	pool->starved = false;
	pool->calls += call;
	kofi_bufpool_wake(pool);
	spin_unlock_irqrestore(pool->lock, flags);
	if (likely(!call))
		return;

	pool->refilled(pool);
	spin_lock_irqsave(pool->lock, flags);
	pool->calls--;
	kofi_bufpool_wake(pool);
	spin_unlock_irqrestore(pool->lock, flags);
}
EXPORT_SYMBOL_GPL(kofi_bufpool_end_put);

u32 kofi_bufpool_busy(struct kofi_bufpool *pool)
{
	unsigned long flags;
	u32 out;

	spin_lock_irqsave(pool->lock, flags);
	out = kofi_bufpool_out(pool);
	spin_unlock_irqrestore(pool->lock, flags);
	return out;
}
EXPORT_SYMBOL_GPL(kofi_bufpool_busy);

void kofi_bufpool_drain(struct kofi_bufpool *pool)
{
	DECLARE_COMPLETION_ONSTACK(drained);
	bool wait;

	spin_lock_irq(pool->lock);
	wait = kofi_bufpool_out(pool);
	if (wait)
		pool->drained = &drained;
	spin_unlock_irq(pool->lock);
	if (!wait)
		return;

	wait_for_completion(&drained);
	/* Wait until the last put has released the lock */
	spin_lock_irq(pool->lock);
	spin_unlock_irq(pool->lock);
}
EXPORT_SYMBOL_GPL(kofi_bufpool_drain);
