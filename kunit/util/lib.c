// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the suites of kofi_util_test.ko share.  All of it belongs to the thread of a
 * case; other threads run what they are given and touch nothing here.
 */
#include <linux/gfp.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>
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

void *ut_vmalloc(struct kunit *test, size_t len)
{
	void *mem = vzalloc(len);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, ut_vfree, mem), 0);
	return mem;
}

void *ut_pages(struct kunit *test, unsigned int order)
{
	struct ut_page_mem *mem = vt_buf(test, sizeof(*mem));

	mem->order = order;
	mem->addr = __get_free_pages(GFP_KERNEL | __GFP_ZERO, order);
	KUNIT_ASSERT_NE(test, mem->addr, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, ut_free_pages, mem), 0);
	return (void *)mem->addr;
}

struct ut_list *ut_list(struct kunit *test, enum fi_buf_type type)
{
	struct ut_list *list = vt_buf(test, sizeof(*list));

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

#define FAILSLAB	"cd /sys/kernel/debug/failslab && "
#define NODES_CACHE	"/sys/kernel/slab/radix_tree_node/failslab"	/* of an xarray */

void ut_task_fails(bool fails)
{
#ifdef CONFIG_FAULT_INJECTION
	current->make_it_fail = fails;
#endif
}

static void fail_nothing(void *unused)
{
	vt_shell("echo 0 >" NODES_CACHE);
	vt_shell(FAILSLAB "echo 0 >probability && echo N >cache-filter && echo N >task-filter");
	vt_shell(FAILSLAB "echo 0 >space && echo Y >ignore-gfp-wait && echo 2 >verbose");
}

bool ut_fail_second_node(struct kunit *test)
{
	char command[96];

	if (!IS_ENABLED(CONFIG_FAILSLAB))
		return false;
	snprintf(command, sizeof(command), FAILSLAB "echo %zu >space", sizeof(struct xa_node) + 1);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fail_nothing, NULL), 0);
	KUNIT_ASSERT_EQ(test, vt_shell("echo 1 >" NODES_CACHE), 0);
	KUNIT_ASSERT_EQ(test, vt_shell(FAILSLAB "echo Y >cache-filter && echo Y >task-filter"), 0);
	KUNIT_ASSERT_EQ(test, vt_shell(FAILSLAB "echo N >ignore-gfp-wait && echo 0 >verbose"), 0);
	KUNIT_ASSERT_EQ(test, vt_shell(command), 0);
	KUNIT_ASSERT_EQ(test, vt_shell(FAILSLAB "echo -1 >times && echo 100 >probability"), 0);
	return true;
}
