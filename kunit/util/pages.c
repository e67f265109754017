// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Pieces of memory: which there are in lists of each kind, what is no memory, and
 * how lists that make no sense are refused.
 */
#include <kofi/pages.h>
#include "../lib/refusal.h"
#include "util.h"

#define PAGES_ORDER	2
#define PAGES_LEN	(PAGE_SIZE << PAGES_ORDER)
#define MAX_PIECES	16

/**
 * struct pieces - What kofi_list_each_piece() has called back for
 * @count: pieces
 * @fail_at: count at which the callback fails; 0: it does not
 * @piece: the pieces
 */
struct pieces {
	size_t			count;
	size_t			fail_at;
	struct kofi_piece	piece[MAX_PIECES];
};

static u8 module_data[64];

static int take_piece(void *context, const struct kofi_piece *piece)
{
	struct pieces *pieces = context;

	if (pieces->count == MAX_PIECES)
		return -E2BIG;
	pieces->piece[pieces->count++] = *piece;
	return pieces->count == pieces->fail_at ? -EIO : 0;
}

static int walk(const struct ut_list *list, struct pieces *pieces)
{
	return kofi_list_each_piece(list->type, list->kvec, list->count, false, take_piece, pieces);
}

/* Where a piece lies, by its page */
static phys_addr_t piece_phys(const struct kofi_piece *piece)
{
	return page_to_phys(piece->page) + piece->offset;
}

static void expect_piece(struct kunit *test, const struct kofi_piece *piece, void *addr, size_t len)
{
	KUNIT_EXPECT_PTR_EQ(test, piece->addr, addr);
	KUNIT_EXPECT_EQ(test, piece->len, len);
	KUNIT_EXPECT_EQ(test, piece_phys(piece), virt_to_phys(addr));
}

static void a_buffer_of_kmalloc_is_one_piece(struct kunit *test)
{
	struct pieces *pieces = vt_buf(test, sizeof(*pieces));
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	void *buf = vt_buf(test, 3 * PAGE_SIZE);

	ut_list_add(test, list, buf + 5, 2 * PAGE_SIZE);

	KUNIT_ASSERT_EQ(test, walk(list, pieces), 0);
	KUNIT_ASSERT_EQ(test, pieces->count, 1);
	expect_piece(test, &pieces->piece[0], buf + 5, 2 * PAGE_SIZE);
}

static void a_buffer_of_vmalloc_is_a_piece_per_page(struct kunit *test)
{
	struct pieces *pieces = vt_buf(test, sizeof(*pieces));
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	void *buf = ut_vmalloc(test, 3 * PAGE_SIZE);
	size_t i, done = 0;

	ut_list_add(test, list, buf + 100, 2 * PAGE_SIZE);

	KUNIT_ASSERT_EQ(test, walk(list, pieces), 0);
	KUNIT_ASSERT_EQ(test, pieces->count, 3);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_PTR_EQ(test, pieces->piece[i].addr, buf + 100 + done);
		KUNIT_EXPECT_PTR_EQ(test, pieces->piece[i].page, vmalloc_to_page(buf + 100 + done));
		KUNIT_EXPECT_EQ(test, pieces->piece[i].offset, offset_in_page(buf + 100 + done));
		done += pieces->piece[i].len;
	}
	KUNIT_EXPECT_EQ(test, done, 2 * PAGE_SIZE);
}

static void data_of_a_module_are_memory(struct kunit *test)
{
	struct pieces *pieces = vt_buf(test, sizeof(*pieces));
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	size_t i, done = 0;

	ut_list_add(test, list, module_data, sizeof(module_data));

	KUNIT_ASSERT_EQ(test, walk(list, pieces), 0);
	for (i = 0; i < pieces->count; i++)
		done += pieces->piece[i].len;
	KUNIT_EXPECT_EQ(test, done, sizeof(module_data));
}

static void an_element_of_pages_is_one_piece(struct kunit *test)
{
	struct pieces *pieces = vt_buf(test, sizeof(*pieces));
	void *buf = ut_pages(test, PAGES_ORDER);
	struct ut_list *list = ut_list(test, ut_type(test));

	/* The offset of an element may lie behind its first page */
	ut_list_add(test, list, buf, 2 * PAGE_SIZE);
	ut_list_add(test, list, buf, PAGE_SIZE);
	if (ut_type(test) == FI_BUF_BVEC)
		list->bvec[1].bv_offset = PAGE_SIZE + 7;
	else
		list->sgl[1].offset = PAGE_SIZE + 7;

	KUNIT_ASSERT_EQ(test, walk(list, pieces), 0);
	KUNIT_ASSERT_EQ(test, pieces->count, 2);
	expect_piece(test, &pieces->piece[0], buf, 2 * PAGE_SIZE);
	expect_piece(test, &pieces->piece[1], buf + PAGE_SIZE + 7, PAGE_SIZE);
}

static void a_chain_of_scatterlists_is_followed(struct kunit *test)
{
	struct pieces *pieces = vt_buf(test, sizeof(*pieces));
	struct ut_list *first = ut_list(test, FI_BUF_SGL);
	struct ut_list *second = ut_list(test, FI_BUF_SGL);
	void *buf = ut_pages(test, PAGES_ORDER);

	ut_list_add(test, first, buf, 10);
	ut_list_add(test, second, buf + PAGE_SIZE, 20);
	sg_unmark_end(&first->sgl[0]);
	sg_init_table(&first->sgl[1], 1);
	sg_chain(first->sgl, 2, second->sgl);
	first->count = 2;

	KUNIT_ASSERT_EQ(test, walk(first, pieces), 0);
	KUNIT_ASSERT_EQ(test, pieces->count, 2);
	expect_piece(test, &pieces->piece[1], buf + PAGE_SIZE, 20);
	KUNIT_EXPECT_EQ(test, kofi_list_len(FI_BUF_SGL, first->sgl, 2, 100), 30);
}

static void empty_elements_are_passed_over(struct kunit *test)
{
	struct pieces *pieces = vt_buf(test, sizeof(*pieces));
	void *buf = ut_pages(test, PAGES_ORDER);
	struct ut_list *list = ut_list(test, ut_type(test));

	ut_list_add(test, list, buf, 0);
	ut_list_add(test, list, buf + 1, 9);
	ut_list_add(test, list, buf, 0);
	ut_list_add(test, list, buf, 0);

	KUNIT_ASSERT_EQ(test, walk(list, pieces), 0);
	KUNIT_ASSERT_EQ(test, pieces->count, 1);
	expect_piece(test, &pieces->piece[0], buf + 1, 9);
	KUNIT_EXPECT_EQ(test, kofi_list_len(ut_type(test), list->kvec, 4, 9), 9);
}

static void a_list_without_elements_has_no_piece(struct kunit *test)
{
	struct pieces *pieces = vt_buf(test, sizeof(*pieces));

	KUNIT_EXPECT_EQ(test, kofi_list_each_piece(FI_BUF_KVEC, NULL, 0, false,
						   take_piece, pieces), 0);
	KUNIT_EXPECT_EQ(test, pieces->count, 0);
	KUNIT_EXPECT_EQ(test, kofi_list_len(FI_BUF_KVEC, NULL, 0, 0), 0);
}

static void a_list_that_is_none_is_refused(struct kunit *test)
{
	struct pieces *pieces = vt_buf(test, sizeof(*pieces));
	struct kvec kvec = { pieces, 1 };

	KUNIT_EXPECT_EQ(test, kofi_list_each_piece(FI_BUF_KVEC, NULL, 1, false, take_piece, pieces),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_list_each_piece(FI_BUF_SGL + 1, &kvec, 1, false, take_piece,
						   pieces), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_list_len(FI_BUF_KVEC, NULL, 1, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_list_len(FI_BUF_SGL + 1, &kvec, 1, 1), -EINVAL);
}

static void a_list_that_ends_early_is_refused(struct kunit *test)
{
	struct pieces *pieces = vt_buf(test, sizeof(*pieces));
	struct ut_list *list = ut_list(test, FI_BUF_SGL);

	ut_list_add(test, list, ut_pages(test, 0), 10);
	list->count = 2;

	KUNIT_EXPECT_EQ(test, walk(list, pieces), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_list_len(FI_BUF_SGL, list->sgl, 2, 100), -EINVAL);
}

static void the_walk_ends_when_the_callback_fails(struct kunit *test)
{
	struct pieces *pieces = vt_buf(test, sizeof(*pieces));
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);

	ut_list_add(test, list, vt_buf(test, 8), 8);
	ut_list_add(test, list, vt_buf(test, 8), 8);
	pieces->fail_at = 1;

	KUNIT_EXPECT_EQ(test, walk(list, pieces), -EIO);
	KUNIT_EXPECT_EQ(test, pieces->count, 1);
}

/* Nothing of that is memory, by any of the calls that decide it */
static void expect_refused(struct kunit *test, void *buf, size_t len)
{
	struct pieces *pieces = vt_buf(test, sizeof(*pieces));
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);

	ut_list_add(test, list, buf, len);
	KUNIT_EXPECT_EQ(test, walk(list, pieces), -EINVAL);
	KUNIT_EXPECT_FALSE(test, kofi_is_plain_memory(buf, len));
	KUNIT_EXPECT_FALSE(test, kofi_is_ram(buf, len));
	KUNIT_EXPECT_FALSE(test, kofi_is_memory(buf, len, false));
}

static void the_stack_is_refused(struct kunit *test)
{
	u8 buf[8];

	expect_refused(test, buf, sizeof(buf));
}

static void no_address_is_refused(struct kunit *test)
{
	expect_refused(test, NULL, 8);
}

static void a_buffer_over_the_end_of_addresses_is_refused(struct kunit *test)
{
	expect_refused(test, vt_buf(test, 8), SIZE_MAX);
}

static void an_address_of_no_memory_is_refused(struct kunit *test)
{
	/* Physical memory ends before so much */
	expect_refused(test, vt_buf(test, 8), SIZE_MAX >> 2);
}

static void pages_behind_vmalloc_are_refused(struct kunit *test)
{
	struct pieces *pieces = vt_buf(test, sizeof(*pieces));
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	void *buf = ut_vmalloc(test, PAGE_SIZE);

	ut_list_add(test, list, buf, PAGE_SIZE + 1);

	KUNIT_EXPECT_EQ(test, walk(list, pieces), -EINVAL);
	KUNIT_EXPECT_FALSE(test, kofi_is_memory(buf, PAGE_SIZE + 1, false));
	KUNIT_EXPECT_TRUE(test, kofi_is_memory(buf, PAGE_SIZE, false));
}

static void the_end_of_the_linear_map_is_found_by_comparison(struct kunit *test)
{
	size_t len = high_memory - vt_buf(test, 8);

	/* What is in between may have holes, which only a debug check sees */
	if (!IS_ENABLED(CONFIG_DEBUG_VM))
		KUNIT_EXPECT_TRUE(test, kofi_is_ram(high_memory - len, len));
	KUNIT_EXPECT_FALSE(test, kofi_is_ram(high_memory - len, len + 1));
	KUNIT_EXPECT_FALSE(test, kofi_is_ram(high_memory, 1));
	KUNIT_EXPECT_FALSE(test, kofi_is_ram(high_memory - 1, SIZE_MAX));
}

static void the_last_byte_of_the_linear_map_is_memory(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, kofi_is_plain_memory(high_memory - 8, 8));
	KUNIT_EXPECT_TRUE(test, kofi_is_memory_exact(high_memory - 8, 8, false));
	KUNIT_EXPECT_FALSE(test, kofi_is_memory_exact(high_memory - 8, 9, false));
}

static void a_refusal_names_the_first_element_that_is_no_memory(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);

	vt_refusals_begin(test);
	ut_list_add(test, list, module_data, 8);
	ut_list_add(test, list, (void *)8, 8);
	KUNIT_EXPECT_FALSE(test, kofi_list_refuse("send", FI_BUF_KVEC, list->kvec, 1, false));
	vt_not_refused(test);
	KUNIT_EXPECT_TRUE(test, kofi_list_refuse("send", FI_BUF_KVEC, list->kvec, 2, false));
	vt_refused(test, "send", -EINVAL, "element 2 of 2 is no kernel memory");
}

static void an_element_without_a_page_is_refused(struct kunit *test)
{
	struct pieces *pieces = vt_buf(test, sizeof(*pieces));
	struct ut_list *list = ut_list(test, FI_BUF_BVEC);

	ut_list_add(test, list, ut_pages(test, 0), 8);
	list->bvec[0].bv_page = NULL;

	KUNIT_EXPECT_EQ(test, walk(list, pieces), -EINVAL);
	KUNIT_EXPECT_FALSE(test, kofi_page_is_memory(NULL, false));
	KUNIT_EXPECT_FALSE(test, kofi_page_is_memory(NULL, true));
}

static void plain_memory_is_one_piece(struct kunit *test)
{
	void *buf = vt_buf(test, 2 * PAGE_SIZE);

	KUNIT_EXPECT_TRUE(test, kofi_is_plain_memory(buf, 2 * PAGE_SIZE));
	KUNIT_EXPECT_TRUE(test, kofi_is_ram(buf, 2 * PAGE_SIZE));
	KUNIT_EXPECT_FALSE(test, kofi_is_ram(ut_vmalloc(test, 8), 8));
	KUNIT_EXPECT_FALSE(test, kofi_is_ram(module_data, 8));
	KUNIT_EXPECT_TRUE(test, kofi_is_memory(buf, 2 * PAGE_SIZE, false));
	KUNIT_EXPECT_FALSE(test, kofi_is_plain_memory(ut_vmalloc(test, 8), 8));
	KUNIT_EXPECT_FALSE(test, kofi_is_plain_memory(module_data, 8));
	KUNIT_EXPECT_TRUE(test, kofi_is_memory(module_data, 8, false));
	KUNIT_EXPECT_TRUE(test, kofi_is_memory(module_data, 1, false));
	KUNIT_EXPECT_TRUE(test, kofi_is_memory(ut_vmalloc(test, 2 * PAGE_SIZE), 2 * PAGE_SIZE,
					       false));
}

static void a_list_is_counted_up_to_a_limit(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	void *buf = vt_buf(test, 8);

	ut_list_add(test, list, buf, 8);
	ut_list_add(test, list, buf, 8);

	KUNIT_EXPECT_EQ(test, kofi_list_len(FI_BUF_KVEC, list->kvec, 2, 16), 16);
	KUNIT_EXPECT_EQ(test, kofi_list_len(FI_BUF_KVEC, list->kvec, 2, 15), -EMSGSIZE);
}

static void each_element_counts_in_whole_pages(struct kunit *test)
{
	struct ut_list *list = ut_list(test, ut_type(test));
	void *buf = ut_pages(test, PAGES_ORDER);

	ut_list_add(test, list, buf + 1, 1);
	ut_list_add(test, list, buf + PAGE_SIZE - 1, 2);
	ut_list_add(test, list, buf, 0);
	ut_list_add(test, list, buf, 2 * PAGE_SIZE);

	KUNIT_EXPECT_EQ(test, kofi_list_pages(ut_type(test), list->kvec, 4), 5);
	KUNIT_EXPECT_EQ(test, kofi_list_pages(ut_type(test), NULL, 1), -EINVAL);
}

static void lengths_do_not_overflow(struct kunit *test)
{
	struct ut_list *list = ut_list(test, FI_BUF_KVEC);
	void *buf = vt_buf(test, 8);

	ut_list_add(test, list, buf, 16);
	ut_list_add(test, list, buf, SIZE_MAX - 8);

	KUNIT_EXPECT_EQ(test, kofi_list_len(FI_BUF_KVEC, list->kvec, 2, SIZE_MAX), -EMSGSIZE);
	list->kvec[0].iov_len = 0;
	list->kvec[1].iov_len = SSIZE_MAX;
	KUNIT_EXPECT_EQ(test, kofi_list_len(FI_BUF_KVEC, list->kvec, 2, SIZE_MAX), SSIZE_MAX);
	/* More than the result can say */
	list->kvec[0].iov_len = 1;
	KUNIT_EXPECT_EQ(test, kofi_list_len(FI_BUF_KVEC, list->kvec, 2, SIZE_MAX), -EMSGSIZE);
}

static void a_walk_can_stop_anywhere(struct kunit *test)
{
	void *buf = ut_pages(test, PAGES_ORDER), *descs[2] = { buf, NULL };
	struct ut_list *list = ut_list(test, ut_type(test));
	struct kofi_list_iter iter = {
		.type	= ut_type(test),
		.elem	= list->kvec,
		.count	= 2,
		.desc	= descs,
	};
	struct kofi_piece piece;

	ut_list_add(test, list, buf, 100);
	ut_list_add(test, list, buf + PAGE_SIZE, 50);

	KUNIT_ASSERT_TRUE(test, kofi_list_more(&iter));
	kofi_list_advance(&iter, 30);
	KUNIT_EXPECT_EQ(test, kofi_list_left(&iter), 70);
	KUNIT_EXPECT_EQ(test, kofi_list_addr(&iter), (uintptr_t)buf + 30);
	KUNIT_EXPECT_PTR_EQ(test, iter.desc, &descs[0]);
	KUNIT_ASSERT_EQ(test, kofi_list_piece(&iter, &piece), 0);
	expect_piece(test, &piece, buf + 30, 70);

	kofi_list_advance(&iter, 70);
	KUNIT_ASSERT_TRUE(test, kofi_list_more(&iter));
	KUNIT_EXPECT_PTR_EQ(test, iter.desc, &descs[1]);
	KUNIT_EXPECT_EQ(test, kofi_list_addr(&iter), (uintptr_t)buf + PAGE_SIZE);

	kofi_list_advance(&iter, 50);
	KUNIT_EXPECT_FALSE(test, kofi_list_more(&iter));
	KUNIT_EXPECT_EQ(test, iter.count, 0);
}

static void a_list_is_gathered_in_order(struct kunit *test)
{
	void *buf = ut_pages(test, PAGES_ORDER);
	u8 *to = vt_buf(test, PAGES_LEN);
	struct ut_list *list = ut_list(test, ut_type(test));
	ssize_t len;

	vt_fill(buf, PAGES_LEN, 3);
	ut_list_add(test, list, buf, 5);
	ut_list_add(test, list, buf, 0);
	ut_list_add(test, list, buf + 5, 2 * PAGE_SIZE);
	ut_list_add(test, list, buf + 5 + 2 * PAGE_SIZE, 6);
	len = kofi_list_len(ut_type(test), list->kvec, list->count, PAGES_LEN);
	KUNIT_ASSERT_EQ(test, len, 2 * PAGE_SIZE + 11);
	to[len] = 0xa5;

	kofi_list_gather(to, ut_type(test), list->kvec, list->count, len);

	KUNIT_EXPECT_TRUE(test, vt_filled(to, len, 3));
	KUNIT_EXPECT_EQ(test, to[len], 0xa5);
}

static void the_stack_can_be_gathered(struct kunit *test)
{
	u8 from[8], *to = vt_buf(test, sizeof(from));
	struct kvec kvec = { from, sizeof(from) };

	vt_fill(from, sizeof(from), 9);

	kofi_list_gather(to, FI_BUF_KVEC, &kvec, 1, sizeof(from));

	KUNIT_EXPECT_TRUE(test, vt_filled(to, sizeof(from), 9));
}

KUNIT_ARRAY_PARAM_DESC(ut_type, ut_types, name);
KUNIT_ARRAY_PARAM_DESC(ut_page_type, ut_page_types, name);

static struct kunit_case pages_cases[] = {
	KUNIT_CASE(a_buffer_of_kmalloc_is_one_piece),
	KUNIT_CASE(a_buffer_of_vmalloc_is_a_piece_per_page),
	KUNIT_CASE(data_of_a_module_are_memory),
	KUNIT_CASE_PARAM(an_element_of_pages_is_one_piece, ut_page_type_gen_params),
	KUNIT_CASE(a_chain_of_scatterlists_is_followed),
	KUNIT_CASE_PARAM(empty_elements_are_passed_over, ut_type_gen_params),
	KUNIT_CASE(a_list_without_elements_has_no_piece),
	KUNIT_CASE(a_list_that_is_none_is_refused),
	KUNIT_CASE(a_list_that_ends_early_is_refused),
	KUNIT_CASE(the_walk_ends_when_the_callback_fails),
	KUNIT_CASE(the_stack_is_refused),
	KUNIT_CASE(no_address_is_refused),
	KUNIT_CASE(a_buffer_over_the_end_of_addresses_is_refused),
	KUNIT_CASE(an_address_of_no_memory_is_refused),
	KUNIT_CASE(pages_behind_vmalloc_are_refused),
	KUNIT_CASE(the_end_of_the_linear_map_is_found_by_comparison),
	KUNIT_CASE(the_last_byte_of_the_linear_map_is_memory),
	KUNIT_CASE(a_refusal_names_the_first_element_that_is_no_memory),
	KUNIT_CASE(an_element_without_a_page_is_refused),
	KUNIT_CASE(plain_memory_is_one_piece),
	KUNIT_CASE(a_list_is_counted_up_to_a_limit),
	KUNIT_CASE_PARAM(each_element_counts_in_whole_pages, ut_type_gen_params),
	KUNIT_CASE(lengths_do_not_overflow),
	KUNIT_CASE_PARAM(a_walk_can_stop_anywhere, ut_type_gen_params),
	KUNIT_CASE_PARAM(a_list_is_gathered_in_order, ut_type_gen_params),
	KUNIT_CASE(the_stack_can_be_gathered),
	{}
};

static struct kunit_suite pages_suite = {
	.name		= "kofi_util_pages",
	.test_cases	= pages_cases,
};

kunit_test_suite(pages_suite);
