// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the suites of kofi_util_test.ko share.  All of it belongs to the thread of a
 * case; other threads run what they are given and touch nothing here.
 */
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <linux/vmalloc.h>
#include "util.h"

const struct ut_type ut_types[UT_TYPES] = {
	{ "kvec", FI_BUF_KVEC },
	{ "bvec", FI_BUF_BVEC },
	{ "sgl", FI_BUF_SGL },
};

const struct ut_type ut_page_types[UT_PAGE_TYPES] = {
	{ "bvec", FI_BUF_BVEC },
	{ "sgl", FI_BUF_SGL },
};

struct ut_page_mem {
	unsigned long	addr;
	unsigned int	order;
};

static void ut_vfree(void *mem)
{
	vfree(mem);
}

static void ut_free_pages(void *data)
{
	struct ut_page_mem *mem = data;

	free_pages(mem->addr, mem->order);
}

void *ut_kmalloc(struct kunit *test, size_t len)
{
	void *mem = kunit_kzalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	return mem;
}

void *ut_vmalloc(struct kunit *test, size_t len)
{
	void *mem = vzalloc(len);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, ut_vfree, mem), 0);
	return mem;
}

void *ut_pages(struct kunit *test, unsigned int order)
{
	struct ut_page_mem *mem = ut_kmalloc(test, sizeof(*mem));

	mem->order = order;
	mem->addr = __get_free_pages(GFP_KERNEL | __GFP_ZERO, order);
	KUNIT_ASSERT_NE(test, mem->addr, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, ut_free_pages, mem), 0);
	return (void *)mem->addr;
}

struct ut_list *ut_list(struct kunit *test, enum fi_buf_type type)
{
	struct ut_list *list = ut_kmalloc(test, sizeof(*list));

	list->type = type;
	return list;
}

void ut_list_add(struct kunit *test, struct ut_list *list, void *buf, size_t len)
{
	size_t i = list->count++;

	KUNIT_ASSERT_LT(test, i, UT_MAX_ELEMS);
	switch (list->type) {
	case FI_BUF_KVEC:
		list->kvec[i] = (struct kvec) { buf, len };
		break;
	case FI_BUF_BVEC:
		bvec_set_page(&list->bvec[i], virt_to_page(buf), len, offset_in_page(buf));
		break;
	default:
		if (i)
			sg_unmark_end(&list->sgl[i - 1]);
		sg_init_table(&list->sgl[i], 1);
		sg_set_page(&list->sgl[i], virt_to_page(buf), len, offset_in_page(buf));
	}
}

static int ut_run(void *data)
{
	struct ut_thread *thread = data;

	thread->ret = thread->fn(thread->arg);
	complete(&thread->done);
	return 0;
}

struct ut_thread *ut_start(struct kunit *test, int (*fn)(void *arg), void *arg)
{
	struct ut_thread *thread = kzalloc(sizeof(*thread), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, thread);
	thread->fn = fn;
	thread->arg = arg;
	init_completion(&thread->done);
	thread->task = kthread_create(ut_run, thread, "kofi_util_test");
	if (IS_ERR(thread->task)) {
		kfree(thread);
		KUNIT_FAIL_AND_ABORT(test, "no thread");
	}
	get_task_struct(thread->task);
	wake_up_process(thread->task);
	return thread;
}

int ut_join(struct kunit *test, struct ut_thread *thread)
{
	int ret;

	if (!wait_for_completion_timeout(&thread->done,
					 msecs_to_jiffies(UT_PATIENCE_MS))) {
		KUNIT_FAIL(test, "the call of the other thread does not return");
		return -ETIMEDOUT;
	}
	kthread_stop(thread->task);
	put_task_struct(thread->task);
	ret = thread->ret;
	kfree(thread);
	return ret;
}

void ut_fill(void *buf, size_t len, u8 seed)
{
	u8 *byte = buf;
	size_t i;

	for (i = 0; i < len; i++)
		byte[i] = seed + i * 7 + i / 251;
}

bool ut_filled(const void *buf, size_t len, u8 seed)
{
	const u8 *byte = buf;
	size_t i;

	for (i = 0; i < len; i++)
		if (byte[i] != (u8)(seed + i * 7 + i / 251))
			return false;
	return true;
}
