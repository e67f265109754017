// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Pools of equal objects: what is in them, what happens when they are empty, how they grow, and
 * when they are drained.
 */
#include <linux/atomic.h>
#include <kofi/bufpool.h>
#include "util.h"

#define COUNT		4
#define NR_THREADS	6
#define NR_ROUNDS	20000

/* Whatever is in front of the payload keeps its contents */
struct object {
	u64		before;
	atomic_t	owners;
	u64		after;
};

/**
 * struct pool_test - A pool that counts the calls of refilled()
 * @pool: the pool
 * @calls: calls of refilled()
 * @busy_in_call: objects that are out, seen from there
 * @gets_in_call: take so many objects from there, and give them back
 * @entered: refilled() has been entered
 * @leave: refilled() may return, if @hold
 * @hold: refilled() waits for @leave
 * @shared: an object had two owners
 */
struct pool_test {
	struct kofi_bufpool	pool;
	int			calls;
	u32			busy_in_call;
	int			gets_in_call;
	struct completion	entered;
	struct completion	leave;
	bool			hold;
	bool			shared;
};

static void refilled(struct kofi_bufpool *pool)
{
	struct pool_test *pt = container_of(pool, struct pool_test, pool);
	void *obj;
	int i;

	pt->calls++;
	pt->busy_in_call = kofi_bufpool_busy(pool);
	complete(&pt->entered);
	for (i = 0; i < pt->gets_in_call; i++) {
		obj = kofi_bufpool_get(pool);
		if (obj)
			kofi_bufpool_put(pool, obj);
	}
	if (pt->hold)
		wait_for_completion(&pt->leave);
}

static void destroy_pool(void *pool)
{
	kofi_bufpool_destroy(pool);
}

static struct pool_test *new_pool(struct kunit *test, kofi_bufpool_fn fn)
{
	struct pool_test *pt = vt_buf(test, sizeof(*pt));

	init_completion(&pt->entered);
	init_completion(&pt->leave);
	memset(&pt->pool, 0xa5, sizeof(pt->pool));
	KUNIT_ASSERT_EQ(test, kofi_bufpool_init(&pt->pool, sizeof(struct object), COUNT, fn), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy_pool, &pt->pool), 0);
	return pt;
}

/* Until the pool is empty, which the last get finds */
static void take_all(struct kunit *test, struct pool_test *pt, void **obj)
{
	int i;

	for (i = 0; i < COUNT; i++) {
		obj[i] = kofi_bufpool_get(&pt->pool);
		KUNIT_ASSERT_NOT_NULL(test, obj[i]);
	}
	KUNIT_ASSERT_NULL(test, kofi_bufpool_get(&pt->pool));
}

static void put_all(struct pool_test *pt, void **obj)
{
	int i;

	for (i = 0; i < COUNT; i++)
		kofi_bufpool_put(&pt->pool, obj[i]);
}

static void every_object_is_given_out_once(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, NULL);
	void *obj[COUNT];
	int i, k;

	take_all(test, pt, obj);

	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&pt->pool), COUNT);
	for (i = 0; i < COUNT; i++)
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_GE(test, abs(obj[i] - obj[k]), sizeof(struct object));
	put_all(pt, obj);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&pt->pool), 0);
}

static void objects_are_zeroed_and_aligned(struct kunit *test)
{
	struct kofi_bufpool pool;
	u8 *obj;
	int i;

	KUNIT_ASSERT_EQ(test, kofi_bufpool_init(&pool, 3, COUNT, NULL), 0);
	for (i = 0; i < COUNT; i++) {
		obj = kofi_bufpool_obj(&pool, i);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)obj, sizeof(u64)));
		KUNIT_EXPECT_EQ(test, obj[0] | obj[1] | obj[2], 0);
	}
	kofi_bufpool_destroy(&pool);
}

static void objects_keep_their_contents(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, NULL);
	struct object *obj;
	void *all[COUNT];
	u32 i;

	for (i = 0; i < COUNT; i++) {
		obj = kofi_bufpool_obj(&pt->pool, i);
		*obj = (struct object) { .before = i + 1, .after = ~i };
	}
	take_all(test, pt, all);
	put_all(pt, all);

	for (i = 0; i < COUNT; i++) {
		obj = kofi_bufpool_obj(&pt->pool, i);
		KUNIT_EXPECT_EQ(test, obj->before, i + 1);
		KUNIT_EXPECT_EQ(test, obj->after, ~i);
	}
}

static void the_object_that_came_back_last_leaves_first(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, NULL);
	void *obj[COUNT];

	take_all(test, pt, obj);
	KUNIT_EXPECT_PTR_EQ(test, obj[0], kofi_bufpool_obj(&pt->pool, 0));
	put_all(pt, obj);

	KUNIT_EXPECT_PTR_EQ(test, kofi_bufpool_get(&pt->pool), obj[COUNT - 1]);
	kofi_bufpool_put(&pt->pool, obj[COUNT - 1]);
}

static void a_pool_of_nothing_is_refused(struct kunit *test)
{
	struct kofi_bufpool pool;

	KUNIT_EXPECT_EQ(test, kofi_bufpool_init(&pool, 0, 1, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_init(&pool, 8, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_init(&pool, SIZE_MAX, 1, NULL), -EINVAL);
}

static void a_pool_without_memory_is_refused(struct kunit *test)
{
	struct kofi_bufpool pool;

	KUNIT_EXPECT_EQ(test, kofi_bufpool_init(&pool, INT_MAX, U32_MAX, NULL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, pool.count, 0);
}

static void a_failed_get_is_reported_once(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, refilled);
	void *obj[COUNT];

	take_all(test, pt, obj);
	KUNIT_EXPECT_NULL(test, kofi_bufpool_get(&pt->pool));
	KUNIT_EXPECT_EQ(test, pt->calls, 0);

	kofi_bufpool_put(&pt->pool, obj[0]);
	KUNIT_EXPECT_EQ(test, pt->calls, 1);

	kofi_bufpool_put(&pt->pool, obj[1]);
	KUNIT_EXPECT_EQ(test, pt->calls, 1);
	kofi_bufpool_put(&pt->pool, obj[2]);
	kofi_bufpool_put(&pt->pool, obj[3]);
	KUNIT_EXPECT_EQ(test, pt->calls, 1);
}

static void each_time_the_pool_was_empty_is_reported(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, refilled);
	void *obj[COUNT];

	take_all(test, pt, obj);
	put_all(pt, obj);
	take_all(test, pt, obj);
	put_all(pt, obj);

	KUNIT_EXPECT_EQ(test, pt->calls, 2);
}

static void a_pool_that_nobody_found_empty_reports_nothing(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, refilled);
	void *obj[COUNT];
	int i;

	for (i = 0; i < COUNT; i++)
		obj[i] = kofi_bufpool_get(&pt->pool);
	put_all(pt, obj);

	KUNIT_EXPECT_EQ(test, pt->calls, 0);
}

static void an_owner_that_holds_the_lock_takes_all_objects(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, refilled);
	static DEFINE_SPINLOCK(lock);
	void *obj[COUNT];
	unsigned long flags;
	int i;

	kofi_bufpool_use_lock(&pt->pool, &lock);
	spin_lock_irqsave(&lock, flags);
	for (i = 0; i < COUNT; i++)
		obj[i] = kofi_bufpool_get_locked(&pt->pool);
	spin_unlock_irqrestore(&lock, flags);

	KUNIT_EXPECT_EQ(test, pt->pool.nfree, 0);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&pt->pool), COUNT);
	for (i = 0; i < COUNT; i++)
		KUNIT_ASSERT_NOT_NULL(test, obj[i]);
	put_all(pt, obj);
	KUNIT_EXPECT_EQ(test, pt->calls, 0);
}

static void a_look_under_the_lock_at_an_empty_pool_is_reported(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, refilled);
	static DEFINE_SPINLOCK(lock);
	void *obj[COUNT];
	unsigned long flags;
	int i;

	kofi_bufpool_use_lock(&pt->pool, &lock);
	for (i = 0; i < COUNT; i++) {
		spin_lock_irqsave(&lock, flags);
		KUNIT_EXPECT_TRUE(test, kofi_bufpool_has_locked(&pt->pool));
		spin_unlock_irqrestore(&lock, flags);
		obj[i] = kofi_bufpool_get(&pt->pool);
	}
	kofi_bufpool_put(&pt->pool, obj[0]);
	KUNIT_EXPECT_EQ(test, pt->calls, 0);
	obj[0] = kofi_bufpool_get(&pt->pool);
	for (i = 0; i < 2; i++) {
		spin_lock_irqsave(&lock, flags);
		KUNIT_EXPECT_FALSE(test, kofi_bufpool_has_locked(&pt->pool));
		spin_unlock_irqrestore(&lock, flags);
	}
	put_all(pt, obj);
	KUNIT_EXPECT_EQ(test, pt->calls, 1);
}

static void the_report_comes_when_there_is_an_object(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, refilled);
	void *obj[COUNT];

	pt->gets_in_call = 1;
	take_all(test, pt, obj);

	put_all(pt, obj);

	/* All but one, and the put that reports it */
	KUNIT_EXPECT_EQ(test, pt->busy_in_call, COUNT);
	KUNIT_EXPECT_EQ(test, pt->calls, 1);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&pt->pool), 0);
}

static int drain(void *data)
{
	struct pool_test *pt = data;

	kofi_bufpool_drain(&pt->pool);
	return kofi_bufpool_busy(&pt->pool);
}

static void a_drain_of_a_full_pool_does_not_wait(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, NULL);

	KUNIT_EXPECT_EQ(test, drain(pt), 0);
}

static void a_drain_waits_for_every_object(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, NULL);
	struct vt_async *thread;
	void *obj[COUNT];
	int i;

	take_all(test, pt, obj);
	thread = vt_async_start(test, drain, pt);
	KUNIT_EXPECT_TRUE(test, vt_until(READ_ONCE(pt->pool.drained)));
	for (i = 0; i < COUNT; i++) {
		KUNIT_EXPECT_FALSE(test, completion_done(&thread->done));
		KUNIT_EXPECT_NOT_NULL(test, READ_ONCE(pt->pool.drained));
		kofi_bufpool_put(&pt->pool, obj[i]);
	}

	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
	/* The next put wakes nobody */
	KUNIT_EXPECT_NULL(test, pt->pool.drained);
}

static int put_first(void *data)
{
	struct pool_test *pt = data;

	kofi_bufpool_put(&pt->pool, kofi_bufpool_obj(&pt->pool, 0));
	return 0;
}

static void a_drain_waits_for_the_report(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, refilled);
	struct vt_async *putter, *drainer;
	void *obj[COUNT];
	int i;

	take_all(test, pt, obj);
	pt->hold = true;
	putter = vt_async_start(test, put_first, pt);
	wait_for_completion(&pt->entered);
	for (i = 1; i < COUNT; i++)
		kofi_bufpool_put(&pt->pool, obj[i]);
	drainer = vt_async_start(test, drain, pt);
	KUNIT_EXPECT_TRUE(test, vt_until(READ_ONCE(pt->pool.drained)));
	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&pt->pool), 1);
	KUNIT_EXPECT_FALSE(test, completion_done(&drainer->done));

	complete(&pt->leave);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, drainer), 0);
	vt_async_join(test, putter);
}

static int get_and_put(void *data)
{
	struct pool_test *pt = data;
	struct object *obj;
	int i, failed = 0;

	for (i = 0; i < NR_ROUNDS; i++) {
		obj = kofi_bufpool_get(&pt->pool);
		if (!obj) {
			failed++;
			cond_resched();
			continue;
		}
		if (atomic_inc_return(&obj->owners) != 1)
			pt->shared = true;
		if (!(i % 64))
			cond_resched();
		atomic_dec(&obj->owners);
		kofi_bufpool_put(&pt->pool, obj);
	}
	return failed;
}

static void an_object_has_one_owner_at_a_time(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, NULL);
	struct vt_async *thread[NR_THREADS];
	int i;

	for (i = 0; i < NR_THREADS; i++)
		thread[i] = vt_async_start(test, get_and_put, pt);
	for (i = 0; i < NR_THREADS; i++)
		vt_async_join(test, thread[i]);

	KUNIT_EXPECT_FALSE(test, pt->shared);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&pt->pool), 0);
}

/* Of which KOFI_BUFPOOL_PART bytes have some, and a page more, but not all */
struct part {
	atomic_t	prepared;
	atomic_t	owners;
	u64		rest[40];
};

#define NR_PARTS	(4 * PAGE_SIZE / sizeof(struct part))

/**
 * struct part_test - A pool that begins with a part of its objects
 * @pool: the pool
 * @obj: what has been taken out
 * @shared: an object had two owners
 */
struct part_test {
	struct kofi_bufpool	pool;
	struct part		*obj[NR_PARTS];
	bool			shared;
};

static void prepare_part(struct kofi_bufpool *pool, void *obj)
{
	struct part *part = obj;

	atomic_inc(&part->prepared);
}

static struct part_test *new_part(struct kunit *test)
{
	struct part_test *pt = vt_buf(test, sizeof(*pt));

	memset(&pt->pool, 0xa5, sizeof(pt->pool));
	KUNIT_ASSERT_EQ(test, kofi_bufpool_init_part(&pt->pool, sizeof(struct part), NR_PARTS,
						     prepare_part, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy_pool, &pt->pool), 0);
	return pt;
}

/* Takes objects until there is none, from the @first one on; returns how many are out then */
static u32 take_parts(struct part_test *pt, u32 first)
{
	while (first < NR_PARTS && (pt->obj[first] = kofi_bufpool_get(&pt->pool)))
		first++;
	return first;
}

static void put_parts(struct part_test *pt, u32 count)
{
	while (count)
		kofi_bufpool_put(&pt->pool, pt->obj[--count]);
}

static void a_pool_begins_with_a_part(struct kunit *test)
{
	struct part_test *pt = new_part(test);
	u32 count = take_parts(pt, 0);

	KUNIT_EXPECT_GT(test, count, 0);
	KUNIT_EXPECT_LE(test, count * sizeof(struct part), KOFI_BUFPOOL_PART);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&pt->pool), count);
	put_parts(pt, count);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&pt->pool), 0);
}

static void a_pool_grows_until_it_has_all(struct kunit *test)
{
	struct part_test *pt = new_part(test);
	u32 count = take_parts(pt, 0), before;
	int more, i, k, rounds = 0;

	while ((more = kofi_bufpool_grow(&pt->pool)) > 0) {
		before = count;
		count = take_parts(pt, count);
		KUNIT_EXPECT_EQ(test, count - before, more);
		rounds++;
	}
	KUNIT_EXPECT_EQ(test, more, 0);
	KUNIT_EXPECT_GT(test, rounds, 1);
	KUNIT_ASSERT_EQ(test, count, NR_PARTS);
	KUNIT_EXPECT_NULL(test, kofi_bufpool_get(&pt->pool));
	for (i = 0; i < NR_PARTS; i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&pt->obj[i]->prepared), 1);
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_GE(test, abs((void *)pt->obj[i] - (void *)pt->obj[k]),
					sizeof(struct part));
	}
	put_parts(pt, count);
}

static void a_pool_can_be_filled_in_advance(struct kunit *test)
{
	struct part_test *pt = new_part(test);
	u32 count = take_parts(pt, 0), more = 0;

	KUNIT_ASSERT_EQ(test, kofi_bufpool_fill(&pt->pool, &more), 0);
	KUNIT_EXPECT_EQ(test, more, NR_PARTS - count);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_grow(&pt->pool), 0);
	count = take_parts(pt, count);
	KUNIT_EXPECT_EQ(test, count, NR_PARTS);
	put_parts(pt, count);
}

static void a_pool_is_filled_object_by_object(struct kunit *test)
{
	struct kofi_bufpool pool;
	u32 more = 0;

	KUNIT_ASSERT_EQ(test, kofi_bufpool_init_part(&pool, PAGE_SIZE, 4, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, pool.made, 1);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_fill(&pool, &more), 0);
	KUNIT_EXPECT_EQ(test, more, 3);
	kofi_bufpool_destroy(&pool);
}

/* Another task fills the pool between the allocation of a block and its entry */
static bool filled_meanwhile;

static void prepare_and_fill(struct kofi_bufpool *pool, void *obj)
{
	u32 more;

	if (xchg(&filled_meanwhile, false))
		kofi_bufpool_fill(pool, &more);
}

static void a_block_that_comes_too_late_is_given_back(struct kunit *test)
{
	struct kofi_bufpool pool;

	KUNIT_ASSERT_EQ(test, kofi_bufpool_init_part(&pool, PAGE_SIZE, 3, prepare_and_fill, NULL),
			0);
	filled_meanwhile = true;
	KUNIT_EXPECT_EQ(test, kofi_bufpool_grow(&pool), 0);
	KUNIT_EXPECT_EQ(test, pool.made, 3);
	KUNIT_EXPECT_EQ(test, pool.nfree, 3);
	kofi_bufpool_destroy(&pool);
}

static void a_pool_with_all_objects_does_not_grow(struct kunit *test)
{
	struct pool_test *pt = new_pool(test, NULL);
	u32 more = 0;

	/* Nor does it ask for memory */
	ut_fail_nth(1);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_grow(&pt->pool), 0);
	KUNIT_EXPECT_EQ(test, ut_fail_nth(0), IS_ENABLED(CONFIG_FAULT_INJECTION));
	KUNIT_EXPECT_EQ(test, kofi_bufpool_fill(&pt->pool, &more), 0);
	KUNIT_EXPECT_EQ(test, more, 0);
}

static void a_failed_get_of_a_part_is_reported_when_an_object_is_back(struct kunit *test)
{
	struct pool_test *pt = vt_buf(test, sizeof(*pt));
	struct object *obj;

	*pt = (struct pool_test) {};
	init_completion(&pt->entered);
	KUNIT_ASSERT_EQ(test, kofi_bufpool_init_part(&pt->pool, KOFI_BUFPOOL_PART, 2, NULL,
						     refilled), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy_pool, &pt->pool), 0);
	obj = kofi_bufpool_get(&pt->pool);
	KUNIT_ASSERT_NOT_NULL(test, obj);
	KUNIT_EXPECT_NULL(test, kofi_bufpool_get(&pt->pool));
	KUNIT_EXPECT_EQ(test, pt->calls, 0);
	kofi_bufpool_put(&pt->pool, obj);
	KUNIT_EXPECT_EQ(test, pt->calls, 1);
}

static int grow_get_and_put(void *data)
{
	struct part_test *pt = data;
	struct part *obj[NR_PARTS / NR_THREADS];
	int i, had = 0;

	while (had < ARRAY_SIZE(obj)) {
		obj[had] = kofi_bufpool_get(&pt->pool);
		if (obj[had] && atomic_inc_return(&obj[had]->owners) != 1)
			pt->shared = true;
		if (obj[had])
			had++;
		else if (kofi_bufpool_grow(&pt->pool) < 0)
			break;
		cond_resched();
	}
	for (i = 0; i < had; i++) {
		atomic_dec(&obj[i]->owners);
		kofi_bufpool_put(&pt->pool, obj[i]);
	}
	return had;
}

static void tasks_that_let_a_pool_grow_share_no_object(struct kunit *test)
{
	struct part_test *pt = new_part(test);
	struct vt_async *thread[NR_THREADS];
	int i;

	for (i = 0; i < NR_THREADS; i++)
		thread[i] = vt_async_start(test, grow_get_and_put, pt);
	for (i = 0; i < NR_THREADS; i++)
		KUNIT_EXPECT_EQ(test, vt_async_join(test, thread[i]), NR_PARTS / NR_THREADS);

	KUNIT_EXPECT_FALSE(test, pt->shared);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&pt->pool), 0);
	KUNIT_EXPECT_LE(test, pt->pool.made, NR_PARTS);
}

static void a_part_of_nothing_is_refused(struct kunit *test)
{
	struct kofi_bufpool pool;

	KUNIT_EXPECT_EQ(test, kofi_bufpool_init_part(&pool, 0, 1, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_init_part(&pool, 8, 0, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_init_part(&pool, INT_MAX, 1, NULL, NULL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, pool.count, 0);
}

static struct kunit_case bufpool_cases[] = {
	KUNIT_CASE(every_object_is_given_out_once),
	KUNIT_CASE(objects_are_zeroed_and_aligned),
	KUNIT_CASE(objects_keep_their_contents),
	KUNIT_CASE(the_object_that_came_back_last_leaves_first),
	KUNIT_CASE(a_pool_of_nothing_is_refused),
	KUNIT_CASE(a_pool_without_memory_is_refused),
	KUNIT_CASE(a_failed_get_is_reported_once),
	KUNIT_CASE(each_time_the_pool_was_empty_is_reported),
	KUNIT_CASE(a_pool_that_nobody_found_empty_reports_nothing),
	KUNIT_CASE(an_owner_that_holds_the_lock_takes_all_objects),
	KUNIT_CASE(a_look_under_the_lock_at_an_empty_pool_is_reported),
	KUNIT_CASE(the_report_comes_when_there_is_an_object),
	KUNIT_CASE(a_drain_of_a_full_pool_does_not_wait),
	KUNIT_CASE(a_drain_waits_for_every_object),
	KUNIT_CASE(a_drain_waits_for_the_report),
	KUNIT_CASE(an_object_has_one_owner_at_a_time),
	KUNIT_CASE(a_pool_begins_with_a_part),
	KUNIT_CASE(a_pool_grows_until_it_has_all),
	KUNIT_CASE(a_pool_can_be_filled_in_advance),
	KUNIT_CASE(a_pool_is_filled_object_by_object),
	KUNIT_CASE(a_block_that_comes_too_late_is_given_back),
	KUNIT_CASE(a_pool_with_all_objects_does_not_grow),
	KUNIT_CASE(a_failed_get_of_a_part_is_reported_when_an_object_is_back),
	KUNIT_CASE(tasks_that_let_a_pool_grow_share_no_object),
	KUNIT_CASE(a_part_of_nothing_is_refused),
	{}
};

static struct kunit_suite bufpool_suite = {
	.name		= "kofi_util_bufpool",
	.test_cases	= bufpool_cases,
};

kunit_test_suite(bufpool_suite);
