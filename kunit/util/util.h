/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of kofi_util_test.ko share: memory of each kind, lists of it, and
 * bytes that are known in advance.
 */
#ifndef _KUNIT_UTIL_TEST_H
#define _KUNIT_UTIL_TEST_H

#include <linux/bvec.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <kunit/test.h>
#include <rdma/fi_domain.h>

#define UT_MAX_ELEMS	8
#define UT_PATIENCE_MS	30000

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
void *ut_kmalloc(struct kunit *test, size_t len);
void *ut_vmalloc(struct kunit *test, size_t len);
void *ut_pages(struct kunit *test, unsigned int order);

/* An empty list; memory that is added to one of pages is no vmalloc */
struct ut_list *ut_list(struct kunit *test, enum fi_buf_type type);
void ut_list_add(struct kunit *test, struct ut_list *list, void *buf, size_t len);

/**
 * struct ut_thread - A call made by another thread
 * @fn: the call
 * @arg: its argument
 * @ret: what it returned
 * @done: it has returned
 * @task: the thread
 */
struct ut_thread {
	int			(*fn)(void *arg);
	void			*arg;
	int			ret;
	struct completion	done;
	struct task_struct	*task;
};

/*
 * Between the two a case must not abort: KUNIT_EXPECT_* only.  The join fails the
 * case, and returns -ETIMEDOUT, if the call does not return.
 */
struct ut_thread *ut_start(struct kunit *test, int (*fn)(void *arg), void *arg);
int ut_join(struct kunit *test, struct ut_thread *thread);

/*
 * Waits until a condition of another thread's is true, which makes no event;
 * false: it does not become true.
 */
#define ut_until(cond)							\
({									\
	int __left = UT_PATIENCE_MS;					\
									\
	while (!(cond) && --__left)					\
		usleep_range(1000, 2000);				\
	__left > 0;							\
})

/* Bytes that follow from @seed, and their check */
void ut_fill(void *buf, size_t len, u8 seed);
bool ut_filled(const void *buf, size_t len, u8 seed);

#endif /* _KUNIT_UTIL_TEST_H */
