// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions: what may not be registered, how long and how many they may be,
 * and the domain around them.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include "../lib/memory.h"
#include "verbs.h"
#include "peer.h"

#define LIMIT_REMOTE	(FI_REMOTE_READ | FI_REMOTE_WRITE)
#define LIMIT_MANY	200
#define LIMIT_THREADS	4
#define LIMIT_ROUNDS	25
#define LIMIT_BIG	SZ_8M

static int reg(struct kunit *test, const void *buf, size_t len, struct fid_mr **mr)
{
	int ret = fi_mr_reg(vt_of(test)->domain, buf, len, LIMIT_REMOTE, 0, 0, 0, mr, NULL);

	if (!ret)
		vt_adopt(test, &(*mr)->fid);
	return ret;
}

static int reg_list(struct kunit *test, enum fi_buf_type type, const void *list,
		    size_t count, struct fid_mr **mr)
{
	struct fi_mr_attr attr = {
		.type		= type,
		.mr_iov		= list,
		.iov_count	= count,
		.access		= LIMIT_REMOTE,
	};
	int ret = fi_mr_regattr(vt_of(test)->domain, &attr, 0, mr);

	if (!ret)
		vt_adopt(test, &(*mr)->fid);
	return ret;
}

static u64 addr_of(const void *buf)
{
	return (uintptr_t)buf;
}

static int reg_stack(struct kunit *test, struct fid_mr **mr)
{
	u8 stack[64];

	return reg(test, stack, sizeof(stack), mr);
}

static int reg_user(struct kunit *test, struct fid_mr **mr)
{
	return reg(test, (void *)0x10000, 64, mr);
}

static int reg_error(struct kunit *test, struct fid_mr **mr)
{
	return reg(test, ERR_PTR(-4095), 64, mr);
}

static int reg_hole(struct kunit *test, struct fid_mr **mr)
{
	return reg(test, (void *)VMALLOC_END - PAGE_SIZE, 64, mr);
}

/* Into the guard page */
static int reg_behind_vmalloc(struct kunit *test, struct fid_mr **mr)
{
	return reg(test, vt_alloc_vmalloc(test), VT_AREA + PAGE_SIZE + 1, mr);
}

static int reg_null_element(struct kunit *test, struct fid_mr **mr)
{
	struct kvec list[] = { { vt_buf(test, 64), 64 }, { NULL, 64 } };

	return reg_list(test, FI_BUF_KVEC, list, 2, mr);
}

static int reg_wrapping_element(struct kunit *test, struct fid_mr **mr)
{
	struct kvec list = { vt_buf(test, 64), SIZE_MAX };

	return reg_list(test, FI_BUF_KVEC, &list, 1, mr);
}

static int reg_empty_elements(struct kunit *test, struct fid_mr **mr)
{
	struct kvec list[] = { { vt_buf(test, 64), 0 }, { NULL, 0 } };

	return reg_list(test, FI_BUF_KVEC, list, 2, mr);
}

static int reg_no_page(struct kunit *test, struct fid_mr **mr)
{
	struct bio_vec list = { .bv_len = 64 };

	return reg_list(test, FI_BUF_BVEC, &list, 1, mr);
}

static int reg_short_sgl(struct kunit *test, struct fid_mr **mr)
{
	struct scatterlist list;

	sg_init_one(&list, vt_buf(test, 64), 64);
	return reg_list(test, FI_BUF_SGL, &list, 2, mr);
}

static int reg_gap_behind(struct kunit *test, struct fid_mr **mr)
{
	u8 *buf = vt_alloc_pages(test);
	struct kvec list[] = { { buf, 100 }, { buf + 2 * PAGE_SIZE, 100 } };

	return reg_list(test, FI_BUF_KVEC, list, 2, mr);
}

static int reg_gap_before(struct kunit *test, struct fid_mr **mr)
{
	u8 *buf = vt_alloc_pages(test);
	struct kvec list[] = { { buf, PAGE_SIZE },
			       { buf + 2 * PAGE_SIZE + 8, 100 } };

	return reg_list(test, FI_BUF_KVEC, list, 2, mr);
}

static int reg_gap_in_page(struct kunit *test, struct fid_mr **mr)
{
	u8 *buf = vt_alloc_pages(test);
	struct kvec list[] = { { buf, 100 }, { buf + 200, 100 } };

	return reg_list(test, FI_BUF_KVEC, list, 2, mr);
}

struct limit_bad {
	const char	*name;
	int		(*reg)(struct kunit *test, struct fid_mr **mr);
};

static const struct limit_bad limit_bads[] = {
	{ "the stack", reg_stack },
	{ "a user address", reg_user },
	{ "an error pointer", reg_error },
	{ "a hole in vmalloc", reg_hole },
	{ "behind vmalloc memory", reg_behind_vmalloc },
	{ "a NULL element", reg_null_element },
	{ "an element that wraps", reg_wrapping_element },
	{ "empty elements only", reg_empty_elements },
	{ "a bvec without page", reg_no_page },
	{ "an sgl shorter than its count", reg_short_sgl },
	{ "a gap behind an element", reg_gap_behind },
	{ "a gap before an element", reg_gap_before },
	{ "a gap within a page", reg_gap_in_page },
};

KUNIT_ARRAY_PARAM_DESC(limit_bad, limit_bads, name);

static void what_is_no_region_is_refused(struct kunit *test)
{
	const struct limit_bad *param = test->param_value;
	struct fid_mr *mr = NULL;

	vt_open(test, AF_INET, NULL);
	KUNIT_EXPECT_EQ(test, param->reg(test, &mr), -EINVAL);
	KUNIT_EXPECT_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, reg(test, vt_buf(test, 64), 64, &mr), 0);
}

/* Pages in whatever order, the first one not from its start */
static void whole_pages_need_not_be_in_order(struct kunit *test)
{
	u8 *buf = vt_alloc_pages(test);
	struct bio_vec list[4] = {};
	struct fid_mr *mr = NULL;
	struct vt_peer *peer;
	size_t len = 100 + 2 * PAGE_SIZE + 50;
	u64 addr;

	vt_serve(test, AF_INET, NULL);
	bvec_set_page(&list[0], virt_to_page(buf + 5 * PAGE_SIZE), 100, PAGE_SIZE - 100);
	bvec_set_page(&list[1], virt_to_page(buf + 3 * PAGE_SIZE), PAGE_SIZE, 0);
	bvec_set_page(&list[2], virt_to_page(buf), PAGE_SIZE, 0);
	bvec_set_page(&list[3], virt_to_page(buf + 9 * PAGE_SIZE), 50, 0);
	KUNIT_ASSERT_EQ(test, reg_list(test, FI_BUF_BVEC, list, 4, &mr), 0);
	addr = addr_of(buf + 6 * PAGE_SIZE - 100);
	peer = vt_peer(test);
	vt_fill(peer->buf, len, 3);

	KUNIT_ASSERT_EQ(test, vt_peer_write(peer, addr, fi_mr_key(mr), len), IB_WC_SUCCESS);
	KUNIT_EXPECT_MEMEQ(test, buf + 6 * PAGE_SIZE - 100, peer->buf, 100);
	KUNIT_EXPECT_MEMEQ(test, buf + 3 * PAGE_SIZE, peer->buf + 100, PAGE_SIZE);
	KUNIT_EXPECT_MEMEQ(test, buf, peer->buf + 100 + PAGE_SIZE, PAGE_SIZE);
	KUNIT_EXPECT_MEMEQ(test, buf + 9 * PAGE_SIZE, peer->buf + len - 50, 50);
	KUNIT_EXPECT_NULL(test, memchr_inv(buf + 9 * PAGE_SIZE + 50, 0, PAGE_SIZE - 50));
	KUNIT_EXPECT_EQ(test, vt_peer_read(peer, addr, fi_mr_key(mr), len + 1),
			IB_WC_REM_ACCESS_ERR);
}

static void empty_elements_do_not_count(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64);
	struct kvec list[] = {
		{ NULL, 0 }, { buf, 32 }, { NULL, 0 }, { buf + 32, 32 },
	};
	struct fid_mr *mr = NULL;
	struct vt_peer *peer;

	vt_serve(test, AF_INET, NULL);
	KUNIT_ASSERT_EQ(test, fi_mr_regv(vt_of(test)->domain, list, 4,
					 LIMIT_REMOTE, 0, 0, 0, &mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	peer = vt_peer(test);
	vt_fill(buf, 64, 8);
	KUNIT_EXPECT_EQ(test, vt_peer_read(peer, addr_of(buf), fi_mr_key(mr), 64), IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, vt_filled(peer->buf, 64, 8));
}

static void limit_vfree(void *mem)
{
	vfree(mem);
}

/* The pages of vmalloc memory are anywhere; two runs of them are kept apart */
static void too_many_pages_are_refused(struct kunit *test)
{
	struct fid_mr *mr = NULL;
	struct vt_peer *peer;
	size_t max, i;
	u8 *mem;
	struct kvec *list;

	vt_serve(test, AF_INET, NULL);
	peer = vt_peer(test);
	max = peer->id->device->attrs.max_fast_reg_page_list_len;
	mem = vzalloc((2 * max + 2) * PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, limit_vfree, mem), 0);
	list = vt_buf(test, (max + 1) * sizeof(*list));
	/* Every second page, last one first, is never contiguous */
	for (i = 0; i <= max; i++)
		list[i] = (struct kvec) { mem + (max - i) * 2 * PAGE_SIZE,
					  PAGE_SIZE };

	KUNIT_EXPECT_EQ(test, reg_list(test, FI_BUF_KVEC, list, max + 1, &mr), -EMSGSIZE);
	KUNIT_EXPECT_NULL(test, mr);
	KUNIT_ASSERT_EQ(test, reg_list(test, FI_BUF_KVEC, list + 1, max, &mr), 0);
	vt_fill(peer->buf, PAGE_SIZE, 4);
	KUNIT_EXPECT_EQ(test, vt_peer_write(peer, addr_of(list[1].iov_base) + (max - 1) * PAGE_SIZE,
					    fi_mr_key(mr), PAGE_SIZE), IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, vt_filled(mem, PAGE_SIZE, 4));
}

/**
 * struct limit_big - A long region of contiguous chunks
 * @name: of that
 * @order: of a chunk
 * @skip: bytes at the start that do not belong to it
 */
struct limit_big {
	const char	*name;
	unsigned int	order;
	size_t		skip;
};

static const struct limit_big limit_bigs[] = {
	{ "64 KiB chunks", 4, 0 },
	{ "256 KiB chunks", 6, 0 },
	{ "256 KiB chunks, odd address", 6, 12345 },
	{ "1 MiB chunks", 8, 0 },
	{ "4 MiB chunks", 10, 0 },
	{ "4 MiB chunks, odd address", 10, 77777 },
};

KUNIT_ARRAY_PARAM_DESC(limit_big, limit_bigs, name);

struct limit_chunk {
	void		*mem;
	unsigned int	order;
};

static void free_chunk(void *ptr)
{
	struct limit_chunk *chunk = ptr;

	free_pages((unsigned long)chunk->mem, chunk->order);
}

static void *alloc_chunk(struct kunit *test, unsigned int order)
{
	struct limit_chunk *chunk = vt_buf(test, sizeof(*chunk));

	chunk->order = order;
	chunk->mem = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, order);
	KUNIT_ASSERT_NOT_NULL_MSG(test, chunk->mem, "no chunk of order %u", order);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_chunk, chunk), 0);
	return chunk->mem;
}

/* The byte at an offset in the list is where it should be */
static void check_stamp(struct kunit *test, struct vt_peer *peer, struct scatterlist *sgl,
			size_t count, u64 key, size_t offset)
{
	u64 addr = addr_of(sg_virt(sgl));
	u8 stamp = 0;

	*peer->buf = 1 + offset % 251;
	KUNIT_ASSERT_EQ_MSG(test, vt_peer_write(peer, addr + offset, key, 1),
			    IB_WC_SUCCESS, "at %zu", offset);
	sg_pcopy_to_buffer(sgl, count, &stamp, 1, offset);
	KUNIT_EXPECT_EQ_MSG(test, stamp, 1 + offset % 251, "at %zu", offset);
}

static void contiguous_chunks_make_a_long_region(struct kunit *test)
{
	const struct limit_big *param = test->param_value;
	size_t chunk = PAGE_SIZE << param->order, offset, i;
	size_t count = LIMIT_BIG / chunk, len = LIMIT_BIG - param->skip;
	struct scatterlist *sgl = vt_buf(test, count * sizeof(*sgl));
	struct fid_mr *mr = NULL;
	struct vt_peer *peer;
	int ret;

	vt_serve(test, AF_INET, NULL);
	peer = vt_peer(test);
	sg_init_table(sgl, count);
	/* From above to below, so that they do not happen to be neighbours */
	for (i = 1; i <= count; i++)
		sg_set_buf(&sgl[count - i], alloc_chunk(test, param->order), chunk);
	sgl->offset += param->skip;
	sgl->length -= param->skip;

	ret = reg_list(test, FI_BUF_SGL, sgl, count, &mr);
	if (!(peer->id->device->attrs.page_size_cap & SZ_64K)) {
		KUNIT_EXPECT_EQ(test, ret, -EMSGSIZE);
		return;
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	check_stamp(test, peer, sgl, count, fi_mr_key(mr), 0);
	for (i = 1; i < count; i++) {
		offset = i * chunk - param->skip;
		check_stamp(test, peer, sgl, count, fi_mr_key(mr), offset - 1);
		check_stamp(test, peer, sgl, count, fi_mr_key(mr), offset);
	}
	check_stamp(test, peer, sgl, count, fi_mr_key(mr), len - 1);
	KUNIT_EXPECT_EQ(test, vt_peer_read(peer, addr_of(sg_virt(sgl)) + len, fi_mr_key(mr), 1),
			IB_WC_REM_ACCESS_ERR);
}

static void many_regions_are_open_at_once(struct kunit *test)
{
	struct fid_mr **mr = vt_buf(test, LIMIT_MANY * sizeof(*mr));
	u8 *buf = vt_buf(test, LIMIT_MANY);
	struct vt_peer *peer;
	int i;

	vt_serve(test, AF_INET, NULL);
	peer = vt_peer(test);
	for (i = 0; i < LIMIT_MANY; i++)
		KUNIT_ASSERT_EQ(test, reg(test, buf + i, 1, &mr[i]), 0);
	for (i = 0; i < LIMIT_MANY; i++) {
		*peer->buf = i + 1;
		KUNIT_ASSERT_EQ(test, vt_peer_write(peer, addr_of(buf + i), fi_mr_key(mr[i]), 1),
				IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, buf[i], (u8)(i + 1));
	}
}

struct limit_thread {
	struct work_struct	work;
	struct fid_domain	*domain;
	u8			*buf;
	int			ret;
};

static void reg_and_close(struct work_struct *work)
{
	struct limit_thread *thread = container_of(work, struct limit_thread, work);
	struct fid_mr *mr = NULL;
	int i;

	for (i = 0; i < LIMIT_ROUNDS && !thread->ret; i++) {
		thread->ret = fi_mr_reg(thread->domain, thread->buf, PAGE_SIZE,
					LIMIT_REMOTE, 0, 0, 0, &mr, NULL);
		if (!thread->ret)
			thread->ret = fi_close(&mr->fid);
	}
}

/* On a new domain, so that they also meet in its first registration */
static void threads_register_at_the_same_time(struct kunit *test)
{
	struct limit_thread *threads = vt_buf(test, LIMIT_THREADS * sizeof(*threads));
	int i;

	vt_open(test, AF_INET, NULL);
	for (i = 0; i < LIMIT_THREADS; i++) {
		threads[i].domain = vt_of(test)->domain;
		threads[i].buf = vt_buf(test, PAGE_SIZE);
		INIT_WORK(&threads[i].work, reg_and_close);
	}
	for (i = 0; i < LIMIT_THREADS; i++)
		queue_work(system_unbound_wq, &threads[i].work);
	for (i = 0; i < LIMIT_THREADS; i++)
		flush_work(&threads[i].work);
	for (i = 0; i < LIMIT_THREADS; i++)
		KUNIT_EXPECT_EQ(test, threads[i].ret, 0);
}

static void register_with(struct kunit *test, struct fi_info *info)
{
	struct fid_domain *domain = NULL;
	struct fid_mr *mr = NULL;

	KUNIT_ASSERT_EQ(test, fi_domain(vt_of(test)->fabric, info, &domain, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_reg(domain, vt_buf(test, 64), 64,
					LIMIT_REMOTE, 0, 0, 0, &mr, NULL), 0);
	if (mr)
		KUNIT_EXPECT_EQ(test, fi_close(&mr->fid), 0);
	KUNIT_EXPECT_EQ(test, fi_close(&domain->fid), 0);
}

static void a_domain_without_address_finds_one(struct kunit *test)
{
	struct fi_info *info;

	vt_open(test, AF_INET, NULL);
	info = vt_dup(test, vt_of(test)->info);
	kfree(info->src_addr);
	info->src_addr = NULL;
	info->src_addrlen = 0;
	register_with(test, info);
}

/* Nobody has this one */
static void a_domain_whose_address_has_gone_finds_another(struct kunit *test)
{
	struct sockaddr_in *sin;
	struct fi_info *info;

	vt_open(test, AF_INET, NULL);
	info = vt_dup(test, vt_of(test)->info);
	sin = info->src_addr;
	sin->sin_addr.s_addr = htonl(0xc0000201);
	register_with(test, info);
}

static void regions_work_over_ipv6(struct kunit *test)
{
	struct fid_mr *mr = NULL;

	vt_open(test, AF_INET6, NULL);
	KUNIT_EXPECT_EQ(test, reg(test, vt_buf(test, 64), 64, &mr), 0);
}

static void a_domain_with_a_region_does_not_close(struct kunit *test)
{
	struct fid_mr *mr = NULL;

	vt_open(test, AF_INET, NULL);
	KUNIT_ASSERT_EQ(test, reg(test, vt_buf(test, 64), 64, &mr), 0);
	KUNIT_EXPECT_EQ(test, fi_close(&vt_of(test)->domain->fid), -EBUSY);
}

static struct kunit_case mr_limits_cases[] = {
	KUNIT_CASE_PARAM(what_is_no_region_is_refused, limit_bad_gen_params),
	KUNIT_CASE(whole_pages_need_not_be_in_order),
	KUNIT_CASE(empty_elements_do_not_count),
	KUNIT_CASE(too_many_pages_are_refused),
	KUNIT_CASE_PARAM(contiguous_chunks_make_a_long_region, limit_big_gen_params),
	KUNIT_CASE(many_regions_are_open_at_once),
	KUNIT_CASE(threads_register_at_the_same_time),
	KUNIT_CASE(a_domain_without_address_finds_one),
	KUNIT_CASE(a_domain_whose_address_has_gone_finds_another),
	KUNIT_CASE(regions_work_over_ipv6),
	KUNIT_CASE(a_domain_with_a_region_does_not_close),
	{}
};

struct kunit_suite kofi_verbs_mr_limits_suite = {
	.name		= "kofi_verbs_mr_limits",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= mr_limits_cases,
};
