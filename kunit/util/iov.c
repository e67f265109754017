// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A provider's copy of a list of buffers: what it takes, which part of it an
 * iterator addresses, and copies between lists of every two kinds.
 *
 * Data are checked by position: each byte follows from its place in the list.
 */
#include <linux/irqflags.h>
#include <kofi/iov.h>
#include "util.h"

#define ROOM		4
#define AREA_ORDER	2
#define AREA		(PAGE_SIZE << AREA_ORDER)
#define GUARD		0xa5
#define LENT		30	/* elements of a list that is lent */
#define LENT_ROOM	KOFI_IOV_LENT_ROOM

/**
 * struct memory_kind - Memory, and the list that it stands in
 * @name: of the kind
 * @alloc: AREA bytes that are contiguous for the CPU
 * @type: what the list consists of
 */
struct memory_kind {
	const char		*name;
	void			*(*alloc)(struct kunit *test);
	enum fi_buf_type	type;
};

static void *alloc_kmalloc(struct kunit *test)
{
	return vt_buf(test, AREA);
}

static void *alloc_vmalloc(struct kunit *test)
{
	return ut_vmalloc(test, AREA);
}

static void *alloc_pages_area(struct kunit *test)
{
	return ut_pages(test, AREA_ORDER);
}

static const struct memory_kind memory_kinds[] = {
	{ "kmalloc", alloc_kmalloc, FI_BUF_KVEC },
	{ "vmalloc", alloc_vmalloc, FI_BUF_KVEC },
	{ "bvec", alloc_pages_area, FI_BUF_BVEC },
	{ "sgl", alloc_pages_area, FI_BUF_SGL },
};

static struct kofi_iov *new_iov(struct kunit *test)
{
	return memset(vt_buf(test, KOFI_IOV_SIZE(ROOM)), GUARD, KOFI_IOV_SIZE(ROOM));
}

static int set(struct kofi_iov *iov, const struct ut_list *list, size_t max_len)
{
	return kofi_iov_set(iov, ROOM, list->type, list->kvec, list->count, max_len, false);
}

/*
 * A list of three elements over @mem: 5 bytes, more than a page, and the rest of
 * @len.  The client's array is overwritten before this returns.
 */
static struct kofi_iov *iov_over(struct kunit *test, const struct memory_kind *kind, void *mem,
				 size_t len)
{
	struct ut_list *list = ut_list(test, kind->type);
	size_t first = min_t(size_t, 5, len);
	size_t second = min(PAGE_SIZE + 9, len - first);
	struct kofi_iov *iov = new_iov(test);

	ut_list_add(test, list, mem, first);
	ut_list_add(test, list, mem + first, second);
	ut_list_add(test, list, mem + first + second, len - first - second);
	KUNIT_ASSERT_EQ(test, set(iov, list, AREA), 0);
	memset(list, GUARD, sizeof(*list));
	return iov;
}

static void addresses_stay_addresses(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	struct kofi_iov *iov = new_iov(test);
	void *buf = vt_buf(test, 64);

	ut_list_add(test, list, buf, 10);
	ut_list_add(test, list, buf + 20, 30);

	KUNIT_ASSERT_EQ(test, set(iov, list, 40), 0);
	KUNIT_EXPECT_FALSE(test, iov->pages);
	KUNIT_EXPECT_EQ(test, iov->count, 2);
	KUNIT_EXPECT_EQ(test, iov->len, 40);
	KUNIT_EXPECT_PTR_EQ(test, iov->kvec[1].iov_base, buf + 20);
	KUNIT_EXPECT_EQ(test, iov->kvec[1].iov_len, 30);
}

static void pages_stay_pages(struct kunit *test)
{
	struct ut_list *list = ut_list(test, ut_type(test));
	struct kofi_iov *iov = new_iov(test);
	void *buf = ut_pages(test, 1);

	ut_list_add(test, list, buf + 7, 10);
	ut_list_add(test, list, buf + PAGE_SIZE + 3, 30);

	KUNIT_ASSERT_EQ(test, set(iov, list, 40), 0);
	KUNIT_EXPECT_TRUE(test, iov->pages);
	KUNIT_EXPECT_EQ(test, iov->count, 2);
	KUNIT_EXPECT_EQ(test, iov->len, 40);
	KUNIT_EXPECT_PTR_EQ(test, iov->bvec[1].bv_page, virt_to_page(buf + PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, iov->bvec[1].bv_offset, 3);
	KUNIT_EXPECT_EQ(test, iov->bvec[1].bv_len, 30);
}

static void empty_elements_take_no_room(struct kunit *test)
{
	struct ut_list *list = ut_list(test, ut_type(test));
	struct kofi_iov *iov = new_iov(test);
	void *buf = ut_pages(test, 0);
	int i;

	for (i = 0; i < ROOM - 1; i++)
		ut_list_add(test, list, buf, 0);
	ut_list_add(test, list, buf, 1);
	for (i = 0; i < ROOM - 1; i++)
		ut_list_add(test, list, buf, 2);

	KUNIT_ASSERT_EQ(test, set(iov, list, AREA), 0);
	KUNIT_EXPECT_EQ(test, iov->count, ROOM);
	KUNIT_EXPECT_EQ(test, iov->len, 1 + 2 * (ROOM - 1));
}

static void a_list_of_nothing_is_taken(struct kunit *test)
{
	struct kofi_iov *iov = new_iov(test);

	KUNIT_EXPECT_EQ(test, kofi_iov_set(iov, ROOM, FI_BUF_KVEC, NULL, 0, 0, false), 0);
	KUNIT_EXPECT_EQ(test, iov->len, 0);
	KUNIT_EXPECT_EQ(test, iov->count, 0);
}

static void expect_refused(struct kunit *test, const struct ut_list *list, size_t max_len, int err)
{
	struct kofi_iov *iov = new_iov(test);

	KUNIT_EXPECT_EQ(test, set(iov, list, max_len), err);
	KUNIT_EXPECT_EQ(test, iov->len, 0);
	KUNIT_EXPECT_EQ(test, iov->count, 0);
}

static void too_many_elements_are_refused(struct kunit *test)
{
	struct ut_list *list = ut_list(test, ut_type(test));
	void *buf = ut_pages(test, 0);
	int i;

	for (i = 0; i < ROOM + 1; i++)
		ut_list_add(test, list, buf, 1);

	expect_refused(test, list, AREA, -EINVAL);
}

static void too_many_bytes_are_refused(struct kunit *test)
{
	struct ut_list *list = ut_list(test, ut_type(test));
	struct kofi_iov *iov = new_iov(test);
	void *buf = ut_pages(test, 0);

	ut_list_add(test, list, buf, 10);
	ut_list_add(test, list, buf, 10);

	expect_refused(test, list, 19, -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, set(iov, list, 20), 0);
}

static void lengths_do_not_overflow(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	void *buf = vt_buf(test, 64);

	ut_list_add(test, list, buf, 16);
	ut_list_add(test, list, buf, SIZE_MAX - 8);

	expect_refused(test, list, SIZE_MAX, -EMSGSIZE);
}

static void a_list_that_is_none_is_refused(struct kunit *test)
{
	struct kofi_iov *iov = new_iov(test);
	struct kvec kvec = { iov, 1 };

	KUNIT_EXPECT_EQ(test, kofi_iov_set(iov, ROOM, FI_BUF_KVEC, NULL, 1, 1, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_iov_set(iov, ROOM, FI_BUF_SGL + 1, &kvec, 1, 1, false), -EINVAL);
}

static void a_list_that_ends_early_is_refused(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_SGL);

	ut_list_add(test, list, ut_pages(test, 0), 1);
	list->count = 2;

	expect_refused(test, list, AREA, -EINVAL);
}

static void what_is_no_memory_is_refused(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	u8 on_stack[8];

	ut_list_add(test, list, vt_buf(test, 8), 8);
	ut_list_add(test, list, on_stack, 8);

	expect_refused(test, list, AREA, -EINVAL);
}

static void an_element_without_a_page_is_refused(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_BVEC);

	ut_list_add(test, list, ut_pages(test, 0), 8);
	list->bvec[0].bv_page = NULL;

	expect_refused(test, list, AREA, -EINVAL);
}

static void no_size_is_enough_for_too_many_elements(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, kofi_iov_size(SIZE_MAX / 4), SIZE_MAX);
	KUNIT_EXPECT_EQ(test, kofi_iov_size(ROOM), KOFI_IOV_SIZE(ROOM));
}

static void a_buffer_of_the_provider_is_a_list(struct kunit *test)
{
	struct kofi_iov *iov = new_iov(test);
	u8 on_stack[8], to[8];

	vt_fill(on_stack, sizeof(on_stack), 1);

	kofi_iov_set_buf(iov, on_stack, sizeof(on_stack));
	KUNIT_EXPECT_EQ(test, kofi_iov_gather(to, iov, 0, SIZE_MAX), 8);
	KUNIT_EXPECT_TRUE(test, vt_filled(to, sizeof(to), 1));

	kofi_iov_set_buf(iov, on_stack, 0);
	KUNIT_EXPECT_EQ(test, iov->count, 0);
	KUNIT_EXPECT_EQ(test, kofi_iov_gather(to, iov, 0, SIZE_MAX), 0);
}

static void any_part_can_be_gathered(struct kunit *test)
{
	static const size_t offsets[] = { 0, 3, 5, 6, 4096, 4110, 5000, 8999 };
	const struct memory_kind *kind = test->param_value;
	u8 *mem = kind->alloc(test), *to = vt_buf(test, AREA);
	struct kofi_iov *iov;
	size_t i, len;

	vt_fill(mem, AREA, 2);
	iov = iov_over(test, kind, mem, 9000);
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		for (len = 0; len <= 9000 - offsets[i]; len += 997) {
			memset(to, GUARD, AREA);
			KUNIT_ASSERT_EQ(test, kofi_iov_gather(to, iov, offsets[i], len), len);
			KUNIT_EXPECT_MEMEQ(test, to, mem + offsets[i], len);
			KUNIT_EXPECT_EQ(test, to[len], GUARD);
		}
	}
}

static void any_part_can_be_scattered_to(struct kunit *test)
{
	const struct memory_kind *kind = test->param_value;
	u8 *mem = kind->alloc(test), *from = vt_buf(test, AREA);
	struct kofi_iov *iov = iov_over(test, kind, mem, 9000);

	vt_fill(from, AREA, 4);
	memset(mem, GUARD, AREA);

	KUNIT_EXPECT_EQ(test, kofi_iov_scatter(iov, 4, from, 5000), 5000);

	KUNIT_EXPECT_EQ(test, mem[3], GUARD);
	KUNIT_EXPECT_MEMEQ(test, mem + 4, from, 5000);
	KUNIT_EXPECT_EQ(test, mem[5004], GUARD);
}

static void a_part_ends_where_its_list_ends(struct kunit *test)
{
	const struct memory_kind *kind = test->param_value;
	struct kofi_iov *iov = iov_over(test, kind, kind->alloc(test), 9000);
	u8 *to = vt_buf(test, AREA);

	KUNIT_EXPECT_EQ(test, kofi_iov_gather(to, iov, 8990, 100), 10);
	KUNIT_EXPECT_EQ(test, kofi_iov_gather(to, iov, 9000, 1), 0);
	KUNIT_EXPECT_EQ(test, kofi_iov_gather(to, iov, SIZE_MAX, SIZE_MAX), 0);
	KUNIT_EXPECT_EQ(test, kofi_iov_scatter(iov, 8990, to, 100), 10);
}

/* Copies 9000 bytes, @step at a time, to a list whose elements end elsewhere */
static void copy_steps(struct kunit *test, const struct memory_kind *to_kind,
		       const struct memory_kind *from_kind, size_t step)
{
	u8 *to_mem = to_kind->alloc(test), *from_mem = from_kind->alloc(test);
	struct kofi_iov *to_iov = iov_over(test, to_kind, to_mem + 1, 9003);
	struct kofi_iov *from_iov = iov_over(test, from_kind, from_mem, 9000);
	struct iov_iter to, from;
	size_t done = 0;

	vt_fill(from_mem, 9000, 5);
	memset(to_mem, GUARD, AREA);
	kofi_iov_iter(to_iov, ITER_DEST, 3, 9000, &to);
	kofi_iov_iter(from_iov, ITER_SOURCE, 0, 9000, &from);

	while (iov_iter_count(&from)) {
		size_t part = min(step, iov_iter_count(&from));

		KUNIT_ASSERT_EQ(test, kofi_iov_copy(&to, &from, part), part);
		done += part;
	}

	KUNIT_EXPECT_EQ(test, done, 9000);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&to), 0);
	KUNIT_EXPECT_TRUE_MSG(test, vt_filled(to_mem + 4, 9000, 5),
			      "%s to %s, by %zu", from_kind->name,
			      to_kind->name, step);
	KUNIT_EXPECT_EQ(test, to_mem[3], GUARD);
	KUNIT_EXPECT_EQ(test, to_mem[9004], GUARD);
}

static void each_kind_is_copied_to_each_kind(struct kunit *test)
{
	static const size_t steps[] = { 9000, 4096, 333 };
	const struct memory_kind *from = test->param_value;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(memory_kinds); i++)
		for (k = 0; k < ARRAY_SIZE(steps); k++)
			copy_steps(test, &memory_kinds[i], from, steps[k]);
}

static void a_copy_ends_with_the_shorter_list(struct kunit *test)
{
	const struct memory_kind *kind = test->param_value;
	u8 *to_mem = kind->alloc(test), *from_mem = kind->alloc(test);
	struct kofi_iov *to_iov = iov_over(test, kind, to_mem, 100);
	struct kofi_iov *from_iov = iov_over(test, kind, from_mem, 300);
	struct iov_iter to, from;

	kofi_iov_iter(to_iov, ITER_DEST, 0, SIZE_MAX, &to);
	kofi_iov_iter(from_iov, ITER_SOURCE, 0, SIZE_MAX, &from);
	KUNIT_EXPECT_EQ(test, kofi_iov_copy(&to, &from, SIZE_MAX), 100);
	KUNIT_EXPECT_EQ(test, kofi_iov_copy(&to, &from, SIZE_MAX), 0);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&from), 200);

	kofi_iov_iter(to_iov, ITER_DEST, 0, SIZE_MAX, &to);
	kofi_iov_iter(from_iov, ITER_SOURCE, 290, SIZE_MAX, &from);
	KUNIT_EXPECT_EQ(test, kofi_iov_copy(&to, &from, SIZE_MAX), 10);
}

static void a_copy_may_be_made_with_interrupts_off(struct kunit *test)
{
	const struct memory_kind *kind = test->param_value;
	u8 *to_mem = kind->alloc(test), *from_mem = kind->alloc(test);
	struct kofi_iov *to_iov = iov_over(test, kind, to_mem, 9000);
	struct kofi_iov *from_iov = iov_over(test, kind, from_mem, 9000);
	struct iov_iter to, from;
	unsigned long flags;

	vt_fill(from_mem, 9000, 6);
	kofi_iov_iter(to_iov, ITER_DEST, 0, SIZE_MAX, &to);
	kofi_iov_iter(from_iov, ITER_SOURCE, 0, SIZE_MAX, &from);
	local_irq_save(flags);
	kofi_iov_copy(&to, &from, SIZE_MAX);
	local_irq_restore(flags);

	KUNIT_EXPECT_TRUE(test, vt_filled(to_mem, 9000, 6));
}

/* Elements of 9 + i bytes in @mem, one behind the other, in a list that is lent */
static void lend(struct kunit *test, struct kofi_iov *iov, enum fi_buf_type type, void *list,
		 u8 *mem)
{
	struct scatterlist *sgl = list;
	struct bio_vec *bvec = list;
	struct kvec *kvec = list;
	size_t len, pos = 0;
	int i;

	if (type == FI_BUF_SGL)
		sg_init_table(sgl, LENT + 1);
	for (i = 0; i < LENT; i++, pos += len) {
		len = 9 + i;
		if (type == FI_BUF_KVEC)
			kvec[i] = (struct kvec) { mem + pos, len };
		else if (type == FI_BUF_BVEC)
			bvec_set_page(&bvec[i], virt_to_page(mem + pos), len,
				      offset_in_page(mem + pos));
		else
			sg_set_buf(&sgl[i], mem + pos, len);
	}
	KUNIT_ASSERT_EQ(test, kofi_iov_keep(iov, LENT_ROOM, LENT, type, list, LENT, SIZE_MAX,
					    false), 0);
	KUNIT_EXPECT_TRUE(test, iov->is_lent);
	KUNIT_EXPECT_EQ(test, iov->len, pos);
	KUNIT_EXPECT_EQ(test, iov->count, LENT);
	KUNIT_EXPECT_PTR_EQ(test, kofi_iov_addr(iov), mem);
}

static void a_list_that_is_lent_is_read_from_anywhere(struct kunit *test)
{
	static const size_t offsets[] = { 5, 0, 9, 300, 17, 700, 0 };
	struct kofi_iov *iov = vt_buf(test, KOFI_IOV_SIZE(LENT_ROOM));
	void *list = vt_buf(test, (LENT + 1) * sizeof(struct scatterlist));
	u8 *mem = ut_pages(test, 1), *to = vt_buf(test, PAGE_SIZE);
	size_t i, done, part;
	struct iov_iter iter;

	vt_fill(mem, PAGE_SIZE, 3);
	memset(iov, GUARD, KOFI_IOV_SIZE(LENT_ROOM));
	lend(test, iov, ut_type(test), list, mem);
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		memset(to, 0, PAGE_SIZE);
		for (done = offsets[i]; done < iov->len; done += part) {
			kofi_iov_part(iov, ITER_SOURCE, done, SIZE_MAX, &iter);
			part = iov_iter_count(&iter);
			KUNIT_ASSERT_GT(test, part, 0);
			KUNIT_ASSERT_LE(test, part, iov->len - done);
			KUNIT_ASSERT_EQ(test, _copy_from_iter(to + done, part, &iter), part);
		}
		KUNIT_EXPECT_EQ(test, memcmp(to + offsets[i], mem + offsets[i],
					     iov->len - offsets[i]), 0);
	}
	/* The next operation begins anew */
	lend(test, iov, ut_type(test), list, mem);
	kofi_iov_part(iov, ITER_SOURCE, 700, 1, &iter);
	KUNIT_ASSERT_EQ(test, _copy_from_iter(to, 1, &iter), 1);
	KUNIT_EXPECT_EQ(test, *to, mem[700]);
	/* Behind the end, and no bytes, there is nothing */
	kofi_iov_part(iov, ITER_SOURCE, iov->len, SIZE_MAX, &iter);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 0);
	kofi_iov_part(iov, ITER_SOURCE, 5, 0, &iter);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 0);
	kofi_iov_part(iov, ITER_SOURCE, 5, 3, &iter);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 3);
}

static void each_element_that_is_lent_has_bytes(struct kunit *test)
{
	struct kofi_iov *iov = vt_buf(test, KOFI_IOV_SIZE(LENT_ROOM));
	struct scatterlist *list = vt_buf(test, (LENT + 1) * sizeof(*list));

	lend(test, iov, ut_type(test), list, ut_pages(test, 1));
	KUNIT_EXPECT_EQ(test, kofi_iov_keep(iov, LENT_ROOM, LENT + 1, ut_type(test), list,
					    LENT + 1, SIZE_MAX, false), -EINVAL);
	/* A scatterlist may end early */
	if (ut_type(test) == FI_BUF_SGL)
		sg_mark_end(&list[LENT - 1]);
	KUNIT_EXPECT_EQ(test, kofi_iov_keep(iov, LENT_ROOM, LENT + 1, ut_type(test), list,
					    LENT + 1, SIZE_MAX, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_iov_keep(iov, LENT_ROOM, LENT + 1, FI_BUF_SGL + 1, list, LENT,
					    SIZE_MAX, false), -EINVAL);
}

static void a_list_is_lent_only_if_it_is_too_long(struct kunit *test)
{
	struct kofi_iov *iov = vt_buf(test, KOFI_IOV_SIZE(LENT_ROOM));
	struct kvec *list = vt_buf(test, LENT * sizeof(*list));
	u8 *mem = ut_pages(test, 1);

	lend(test, iov, FI_BUF_KVEC, list, mem);
	KUNIT_EXPECT_EQ(test, kofi_iov_keep(iov, LENT_ROOM, LENT, FI_BUF_KVEC, list, LENT_ROOM,
					    SIZE_MAX, false), 0);
	KUNIT_EXPECT_FALSE(test, iov->is_lent);
	KUNIT_EXPECT_EQ(test, kofi_iov_keep(iov, LENT_ROOM, 0, FI_BUF_KVEC, list, LENT,
					    SIZE_MAX, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_iov_keep(iov, LENT_ROOM, LENT - 1, FI_BUF_KVEC, list, LENT,
					    SIZE_MAX, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_iov_keep(iov, LENT_ROOM, LENT, FI_BUF_KVEC, list, LENT, 100,
					    false), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, kofi_iov_keep(iov, LENT_ROOM, LENT, FI_BUF_KVEC, NULL, LENT,
					    SIZE_MAX, false), -EINVAL);
	list[LENT - 1].iov_len = 0;
	KUNIT_EXPECT_EQ(test, kofi_iov_keep(iov, LENT_ROOM, LENT, FI_BUF_KVEC, list, LENT,
					    SIZE_MAX, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, iov->count, 0);
	KUNIT_EXPECT_FALSE(test, iov->is_lent);
}

/* Hardened usercopy takes only caches that were made for it */
static void objects_of_any_slab_cache_are_copied(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("kofi_util_test", 64, 0, 0, NULL);
	struct kofi_iov *iov = new_iov(test);
	struct kofi_iov *other = new_iov(test);
	u8 *object, *buf = vt_buf(test, 64);
	struct iov_iter to, from;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	object = kmem_cache_alloc(cache, GFP_KERNEL);
	if (!object) {
		kmem_cache_destroy(cache);
		KUNIT_FAIL(test, "no memory");
		return;
	}
	vt_fill(object, 64, 8);
	kofi_iov_set_buf(iov, object, 64);
	kofi_iov_set_buf(other, buf, 64);

	kofi_iov_iter(iov, ITER_SOURCE, 0, 64, &from);
	kofi_iov_iter(other, ITER_DEST, 0, 64, &to);
	KUNIT_EXPECT_EQ(test, kofi_iov_copy(&to, &from, 64), 64);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, 64, 8));
	KUNIT_EXPECT_EQ(test, kofi_iov_gather(object, other, 0, 64), 64);
	KUNIT_EXPECT_EQ(test, kofi_iov_scatter(other, 0, object, 64), 64);

	kmem_cache_free(cache, object);
	kmem_cache_destroy(cache);
}

KUNIT_ARRAY_PARAM_DESC(ut_type, ut_types, name);
KUNIT_ARRAY_PARAM_DESC(ut_page_type, ut_page_types, name);
KUNIT_ARRAY_PARAM_DESC(memory_kind, memory_kinds, name);

static struct kunit_case iov_cases[] = {
	KUNIT_CASE(addresses_stay_addresses),
	KUNIT_CASE_PARAM(pages_stay_pages, ut_page_type_gen_params),
	KUNIT_CASE_PARAM(empty_elements_take_no_room, ut_type_gen_params),
	KUNIT_CASE(a_list_of_nothing_is_taken),
	KUNIT_CASE_PARAM(too_many_elements_are_refused, ut_type_gen_params),
	KUNIT_CASE_PARAM(too_many_bytes_are_refused, ut_type_gen_params),
	KUNIT_CASE(lengths_do_not_overflow),
	KUNIT_CASE(a_list_that_is_none_is_refused),
	KUNIT_CASE(a_list_that_ends_early_is_refused),
	KUNIT_CASE(what_is_no_memory_is_refused),
	KUNIT_CASE(an_element_without_a_page_is_refused),
	KUNIT_CASE(no_size_is_enough_for_too_many_elements),
	KUNIT_CASE(a_buffer_of_the_provider_is_a_list),
	KUNIT_CASE_PARAM(any_part_can_be_gathered, memory_kind_gen_params),
	KUNIT_CASE_PARAM(any_part_can_be_scattered_to, memory_kind_gen_params),
	KUNIT_CASE_PARAM(a_part_ends_where_its_list_ends, memory_kind_gen_params),
	KUNIT_CASE_PARAM(each_kind_is_copied_to_each_kind, memory_kind_gen_params),
	KUNIT_CASE_PARAM(a_copy_ends_with_the_shorter_list, memory_kind_gen_params),
	KUNIT_CASE_PARAM(a_copy_may_be_made_with_interrupts_off, memory_kind_gen_params),
	KUNIT_CASE_PARAM(a_list_that_is_lent_is_read_from_anywhere, ut_type_gen_params),
	KUNIT_CASE_PARAM(each_element_that_is_lent_has_bytes, ut_type_gen_params),
	KUNIT_CASE(a_list_is_lent_only_if_it_is_too_long),
	KUNIT_CASE(objects_of_any_slab_cache_are_copied),
	{}
};

static struct kunit_suite iov_suite = {
	.name		= "kofi_util_iov",
	.test_cases	= iov_cases,
};

kunit_test_suite(iov_suite);
