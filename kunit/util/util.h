/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of kofi_util_test.ko share: memory of each kind, and lists of it.
 */
#ifndef _KUNIT_UTIL_TEST_H
#define _KUNIT_UTIL_TEST_H

#include <linux/bvec.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <kunit/test.h>
#include <rdma/fi_domain.h>
#include "../lib/async.h"
#include "../lib/client.h"
#include "../lib/patience.h"

#define UT_MAX_ELEMS	8

/**
 * struct ut_list - A list of local buffers
 * @type: what it consists of
 * @count: its elements
 * @kvec: the list, if @type is FI_BUF_KVEC
 * @bvec: the list, if @type is FI_BUF_BVEC
 * @sgl: the list, if @type is FI_BUF_SGL
 */
struct ut_list {
	enum fi_buf_type	type;
	size_t			count;
	union {
		struct kvec		kvec[UT_MAX_ELEMS];
		struct bio_vec		bvec[UT_MAX_ELEMS];
		struct scatterlist	sgl[UT_MAX_ELEMS];
	};
};

/**
 * struct ut_type - A kind of list, for parameterised cases
 * @name: of the kind
 * @type: the kind
 */
struct ut_type {
	const char		*name;
	enum fi_buf_type	type;
};

#define UT_TYPES	3
#define UT_PAGE_TYPES	2

extern const struct ut_type ut_types[UT_TYPES];
/* Those that name pages, not addresses */
extern const struct ut_type ut_page_types[UT_PAGE_TYPES];

/* The kind that the case runs with */
static inline enum fi_buf_type ut_type(const struct kunit *test)
{
	const struct ut_type *param = test->param_value;

	return param->type;
}

/* Memory that is freed after the case */
void *ut_vmalloc(struct kunit *test, size_t len);
void *ut_pages(struct kunit *test, unsigned int order);

/* An empty list; memory that is added to one of pages is no vmalloc */
struct ut_list *ut_list(struct kunit *test, enum fi_buf_type type);
void ut_list_add(struct kunit *test, struct ut_list *list, void *buf, size_t len);

/*
 * The @n-th allocation of this task that may not sleep fails, counted from now on; 0: none.
 * Returns how many there would have to be until one fails.
 */
static inline unsigned int ut_fail_nth(unsigned int n)
{
#ifdef CONFIG_FAULT_INJECTION
	return xchg(&current->fail_nth, n);
#else
	return 0;
#endif
}

/*
 * While ut_task_fails(true), there is memory for one node of an xarray, and each allocation of
 * another fails; until the case ends.  False: the kernel cannot make memory short.
 */
bool ut_fail_second_node(struct kunit *test);
void ut_task_fails(bool fails);

/* For vt_shell(), in front of commands that turn trace events on and read them */
#define UT_TRACING	"cd /sys/kernel/tracing && " \
			"{ [ -e trace ] || mount -t tracefs none . && cd /sys/kernel/tracing; } && "

#endif /* _KUNIT_UTIL_TEST_H */
