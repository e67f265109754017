// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions on devices that take gaps or that take hardly any pages, their
 * mappings and their keys.
 *
 * That everything is unmapped once and nothing is left is for ht_exit() to check.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <rdma/fi_rma.h>
#include <rdma/ib_verbs.h>
#include "../lib/dmabuf.h"
#include "mr.h"

static void hm_free_pages(void *mem)
{
	free_pages((unsigned long)mem, HM_ORDER);
}

u8 *hm_pages(struct kunit *test)
{
	void *mem = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, HM_ORDER);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, hm_free_pages, mem), 0);
	return mem;
}

void hm_open(struct kunit *test, const struct fakehca_attr *attr)
{
	struct ht *ht = ht_of(test);
	struct fi_info *hints;

	ht_device(test, attr);
	hints = ht_hints(test);
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	ht_fabric(test, hints);
	KUNIT_ASSERT_EQ(test, fi_domain(ht->vt.fabric, ht->vt.info, &ht->vt.domain, NULL), 0);
	vt_adopt(test, &ht->vt.domain->fid);
}

void hm_serve(struct kunit *test, const struct fakehca_attr *attr)
{
	hm_open(test, attr);
	vt_listen(test, vt_eq(test, 0));
}

int hm_regv(struct kunit *test, const struct kvec *iov, size_t count,
	    u64 access, struct fid_mr **mr)
{
	int ret;

	*mr = NULL;
	ret = fi_mr_regv(vt_of(test)->domain, iov, count, access, 0, 0, 0, mr, NULL);
	if (!ret)
		vt_adopt(test, &(*mr)->fid);
	return ret;
}

struct fid_mr *hm_reg_ep(struct kunit *test, struct fid_ep *ep)
{
	struct kvec kvec = { ht_buf(test, PAGE_SIZE), PAGE_SIZE };
	struct fi_mr_attr attr = {
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= FI_REMOTE_WRITE,
	};
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_ENDPOINT, &mr), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(mr, &ep->fid, 0), 0);
	return mr;
}

int hm_reg(struct kunit *test, void *buf, size_t len, struct fid_mr **mr)
{
	struct kvec kvec = { buf, len };

	return hm_regv(test, &kvec, 1, HM_REMOTE, mr);
}

int hm_reg_any(struct kunit *test, struct fid_mr **mr)
{
	return hm_reg(test, ht_buf(test, 64), 64, mr);
}

/* What reaches a region, on both ends of a connection within the case */
static void mr_expect_read(struct kunit *test, struct vt_pair *pair, u8 *want,
			   size_t len, void *addr, struct fid_mr *mr)
{
	u8 *in = ht_buf(test, len);

	KUNIT_ASSERT_EQ(test, fi_read(pair->a.ep, in, len, NULL, 0, (uintptr_t)addr, fi_mr_key(mr),
				      vt_ctx(1)), 0);
	vt_done(test, pair->a.tx, vt_ctx(1));
	KUNIT_EXPECT_MEMEQ(test, in, want, len);
}

/**
 * struct mr_direction - An access, and how its memory is mapped
 * @name: of the access
 * @access: the access
 * @dir: the direction
 */
struct mr_direction {
	const char		*name;
	u64			access;
	enum dma_data_direction	dir;
};

static const struct mr_direction mr_directions[] = {
	{ "none", 0, DMA_TO_DEVICE },
	{ "FI_SEND", FI_SEND, DMA_TO_DEVICE },
	{ "FI_RECV", FI_RECV, DMA_FROM_DEVICE },
	{ "FI_READ", FI_READ, DMA_FROM_DEVICE },
	{ "FI_WRITE", FI_WRITE, DMA_TO_DEVICE },
	{ "FI_REMOTE_READ", FI_REMOTE_READ, DMA_TO_DEVICE },
	{ "FI_REMOTE_WRITE", FI_REMOTE_WRITE, DMA_FROM_DEVICE },
	{ "both remote", HM_REMOTE, DMA_BIDIRECTIONAL },
};

KUNIT_ARRAY_PARAM_DESC(mr_direction, mr_directions, name);

static void a_region_is_mapped_as_long_as_it_is_open(struct kunit *test)
{
	const struct mr_direction *param = test->param_value;
	struct fakehca_attr attr = { .roce = true };
	u8 *buf = hm_pages(test);
	struct kvec list[] = {
		{ buf + 50, PAGE_SIZE - 50 },
		{ buf + 2 * PAGE_SIZE, PAGE_SIZE },
		{ buf + 5 * PAGE_SIZE, 1 },
	};
	unsigned int before, dir_before;
	struct vt_pair pair = {};
	struct fid_mr *mr;
	u8 *data = ht_buf(test, 64);

	hm_serve(test, &attr);
	ht_join(test, &pair);
	before = ht_stats(test).mapped;
	dir_before = ht_stats(test).mapped_dir[param->dir];
	KUNIT_ASSERT_EQ(test, hm_regv(test, list, 3, param->access, &mr), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before + 3);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped_dir[param->dir], dir_before + 3);

	if (param->access & FI_REMOTE_WRITE) {
		vt_fill(data, 64, 5);
		KUNIT_ASSERT_EQ(test, fi_write(pair.a.ep, data, 64, NULL, 0, (uintptr_t)buf + 50,
					       fi_mr_key(mr), vt_ctx(1)), 0);
		vt_done(test, pair.a.tx, vt_ctx(1));
		KUNIT_EXPECT_TRUE(test, vt_filled(buf + 50, 64, 5));
	}
	if (param->access & FI_REMOTE_READ)
		mr_expect_read(test, &pair, buf + 50, 64, buf + 50, mr);

	vt_close(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before);
}

/* Three bytes here, five there: nothing is aligned to anything */
static void a_device_that_takes_gaps_gets_them(struct kunit *test)
{
	struct fakehca_attr attr = { .roce = true, .sg_gaps = true };
	u8 *buf = hm_pages(test), want[128];
	struct kvec list[] = {
		{ buf + 11, 3 }, { buf + 5 * PAGE_SIZE - 2, 5 },
		{ buf + 700, 100 }, { buf + 220, 20 },
	};
	struct vt_pair pair = {};
	struct fid_mr *mr;

	vt_fill(buf, PAGE_SIZE << HM_ORDER, 9);
	memcpy(want, list[0].iov_base, 3);
	memcpy(want + 3, list[1].iov_base, 5);
	memcpy(want + 8, list[2].iov_base, 100);
	memcpy(want + 108, list[3].iov_base, 20);
	hm_serve(test, &attr);
	ht_join(test, &pair);
	KUNIT_ASSERT_EQ(test, hm_regv(test, list, 4, HM_REMOTE, &mr), 0);

	mr_expect_read(test, &pair, want, 128, list[0].iov_base, mr);
	mr_expect_read(test, &pair, want, 1, list[0].iov_base, mr);
	/* And not one byte more */
	KUNIT_ASSERT_EQ(test, fi_read(pair.a.ep, ht_buf(test, 129), 129, NULL, 0,
				      (uintptr_t)list[0].iov_base, fi_mr_key(mr), vt_ctx(2)), 0);
	ht_failed(test, pair.a.tx, EACCES);
}

static void a_device_without_gaps_refuses_them(struct kunit *test)
{
	u8 *buf = hm_pages(test);
	struct kvec list[] = { { buf, 3 }, { buf + PAGE_SIZE, 3 } };
	unsigned int maps;
	struct fid_mr *mr;

	hm_open(test, NULL);
	KUNIT_EXPECT_EQ(test, hm_regv(test, list, 2, HM_REMOTE, &mr), -EINVAL);
	maps = ht_stats(test).mapped;
	KUNIT_ASSERT_EQ(test, hm_reg(test, buf, 3, &mr), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, maps + 1);
}

static void gaps_are_limited_by_the_device(struct kunit *test)
{
	struct fakehca_attr attr = { .sg_gaps = true, .fast_reg_pages = 2 };
	u8 *buf = hm_pages(test);
	struct kvec list[] = {
		{ buf + 1, 3 }, { buf + 128, 3 }, { buf + 256, 3 },
	};
	struct fid_mr *mr;

	hm_open(test, &attr);
	KUNIT_ASSERT_EQ(test, hm_regv(test, list, 2, HM_REMOTE, &mr), 0);
	vt_close(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, hm_regv(test, list, 3, HM_REMOTE, &mr), -EMSGSIZE);
	KUNIT_EXPECT_NULL(test, mr);
}

static void pages_are_counted_from_the_first_to_the_last(struct kunit *test)
{
	struct fakehca_attr attr = { .fast_reg_pages = 2 };
	u8 *buf = hm_pages(test);
	struct fid_mr *mr;

	hm_open(test, &attr);
	KUNIT_ASSERT_EQ(test, hm_reg(test, buf, 2 * PAGE_SIZE, &mr), 0);
	vt_close(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, hm_reg(test, buf, 2 * PAGE_SIZE + 1, &mr), -EMSGSIZE);
	KUNIT_ASSERT_EQ(test, hm_reg(test, buf + PAGE_SIZE - 1, PAGE_SIZE + 1, &mr), 0);
	vt_close(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, hm_reg(test, buf + PAGE_SIZE - 1, PAGE_SIZE + 2, &mr), -EMSGSIZE);
	KUNIT_EXPECT_NULL(test, mr);
}

/* That is 64 KiB here; the second element goes on where the first one ends */
static void no_segment_is_longer_than_the_device_takes(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true, .fast_reg_pages = 64 };
	size_t first = SZ_64K - PAGE_SIZE, len = first + 2 * SZ_64K;
	u8 *buf = ht_buf(test, len + 100);
	struct kvec list[] = { { buf, first }, { buf + first, 2 * SZ_64K } };
	struct vt_pair pair = {};
	unsigned int before;
	struct fid_mr *mr;

	hm_serve(test, &attr);
	ht_join(test, &pair);
	vt_fill(buf, len, 4);
	before = ht_stats(test).mapped;
	KUNIT_ASSERT_EQ(test, hm_regv(test, list, 2, HM_REMOTE, &mr), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before + 3);
	mr_expect_read(test, &pair, buf, len, buf, mr);
	vt_close(test, &mr->fid);

	/* Segments without a gap between them need not begin with a page */
	list[0].iov_base += 100;
	list[1].iov_base += 100;
	KUNIT_EXPECT_EQ(test, hm_regv(test, list, 2, HM_REMOTE, &mr), 0);
}

static void a_region_may_be_as_long_as_the_device_says(struct kunit *test)
{
	u8 *buf = ht_buf(test, 128);
	struct fid_mr *mr;

	hm_open(test, NULL);
	fakehca_ibdev(ht_of(test)->hca)->attrs.max_mr_size = 64;
	KUNIT_EXPECT_EQ(test, hm_reg(test, buf, 65, &mr), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, hm_reg(test, buf, 64, &mr), 0);
}

/* The memory is the device's as long as that has the registration */
/* By a client that says more of the device than fi_getinfo() does */
static void regions_of_other_devices_memory_are_refused(struct kunit *test)
{
	const struct fi_mr_dmabuf piece = {
		.dmabuf	= vt_dmabuf(test, VT_DMABUF_FIXED, PAGE_SIZE)->dmabuf,
		.len	= PAGE_SIZE,
	};
	struct fi_mr_attr attr = { .dmabuf = &piece, .iov_count = 1, .access = HM_REMOTE };
	struct kvec kvec = { ht_buf(test, 64), 64 };
	struct vt *vt = vt_of(test);
	struct fid_mr *mr;

	ht_device(test, NULL);
	ht_fabric(test, ht_hints(test));
	vt->info->caps |= FI_HMEM | FI_RMA_PMEM;
	KUNIT_ASSERT_EQ(test, fi_domain(vt->fabric, vt->info, &vt->domain, NULL), 0);
	vt_adopt(test, &vt->domain->fid);
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(vt->domain, &attr, FI_MR_DMABUF, &mr), -EOPNOTSUPP);
	attr.mr_iov = &kvec;
	KUNIT_EXPECT_EQ(test, fi_mr_regattr(vt->domain, &attr, FI_RMA_PMEM, &mr), -FI_EBADFLAGS);
}

/* iWARP: the key of the read region has to allow what the answer does */
static void a_registered_region_takes_what_is_read(struct kunit *test)
{
	u8 *from = ht_buf(test, 64), *to = ht_buf(test, 64);
	struct kvec region = { to, 64 };
	struct fid_mr *source, *mr;
	struct vt_pair pair = {};
	unsigned int base;

	hm_serve(test, NULL);
	ht_join(test, &pair);
	vt_fill(from, 64, 3);
	KUNIT_ASSERT_EQ(test, hm_reg(test, from, 64, &source), 0);
	KUNIT_ASSERT_EQ(test, hm_regv(test, &region, 1, FI_READ, &mr), 0);

	base = fakehca_calls(ht_of(test)->hca, FAKEHCA_POST_SEND);
	KUNIT_ASSERT_EQ(test, fi_read(pair.a.ep, to, 64, fi_mr_desc(mr), 0, (uintptr_t)from,
				      fi_mr_key(source), vt_ctx(1)), 0);
	vt_done(test, pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(to, 64, 3));
	/* Without a registration of its own */
	KUNIT_EXPECT_EQ(test, fakehca_calls(ht_of(test)->hca, FAKEHCA_POST_SEND), base + 1);
}

static void keys_are_fresh_although_the_device_repeats(struct kunit *test)
{
	u8 *buf = ht_buf(test, 64);
	struct fid_mr *mr;
	u64 last = 0;
	int i;

	hm_open(test, NULL);
	for (i = 0; i < 300; i++) {
		KUNIT_ASSERT_EQ(test, hm_reg(test, buf, 64, &mr), 0);
		KUNIT_ASSERT_NE(test, fi_mr_key(mr), last);
		last = fi_mr_key(mr);
		vt_close(test, &mr->fid);
	}
}

/* All four begin with the key that follows 0 by a chance of one in 2^32 */
static void keys_do_not_begin_alike_in_each_domain(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	unsigned int ones = 0;
	struct fid_mr *mr;
	int i;

	hm_open(test, NULL);
	for (i = 0; i < 4; i++) {
		if (i) {
			vt_close(test, &mr->fid);
			vt_close(test, &vt->domain->fid);
			KUNIT_ASSERT_EQ(test, fi_domain(vt->fabric, vt->info,
							&vt->domain, NULL), 0);
			vt_adopt(test, &vt->domain->fid);
		}
		KUNIT_ASSERT_EQ(test, hm_reg_any(test, &mr), 0);
		ones += (u8)fi_mr_key(mr) == 1;
	}
	KUNIT_EXPECT_LT(test, ones, 4);
}

/* Open, mapped and with a key, until the device lets go of it */
static void a_region_that_the_device_keeps_stays_open(struct kunit *test)
{
	u8 *buf = ht_buf(test, 64);
	struct vt_pair pair = {};
	unsigned int mapped;
	struct fid_mr *mr;

	hm_serve(test, NULL);
	ht_join(test, &pair);
	KUNIT_ASSERT_EQ(test, hm_reg_any(test, &mr), 0);
	mapped = ht_stats(test).mapped;
	fakehca_fail(ht_of(test)->hca, FAKEHCA_DEREG_MR, 1, -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&mr->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, mapped);
	KUNIT_ASSERT_EQ(test, fi_write(pair.a.ep, buf, 8, NULL, 0, fi_mr_addr(mr), fi_mr_key(mr),
				       vt_ctx(1)), 0);
	vt_done(test, pair.a.tx, vt_ctx(1));
	vt_close(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, mapped - 1);
}

static void a_region_that_the_device_has_kept_goes_with_it(struct kunit *test)
{
	struct fid_mr *mr;

	hm_serve(test, NULL);
	KUNIT_ASSERT_EQ(test, hm_reg_any(test, &mr), 0);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_DEREG_MR, 1, -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&mr->fid), -EBUSY);
	fakehca_remove_begin(ht_of(test)->hca);
	KUNIT_ASSERT_TRUE(test, fakehca_remove_wait(ht_of(test)->hca, HT_PATIENCE_MS));
	ht_expect_clean(test);
}

static void a_device_that_goes_registers_no_more(struct kunit *test)
{
	struct fi_eq_err_entry error;
	struct vt_pair pair = {};
	struct fid_mr *before, *mr;

	hm_serve(test, NULL);
	ht_join(test, &pair);
	KUNIT_ASSERT_EQ(test, hm_reg_any(test, &before), 0);
	fakehca_remove_begin(ht_of(test)->hca);
	error = ht_error(test, pair.a.eq);
	KUNIT_EXPECT_EQ(test, error.err, ENODEV);

	KUNIT_EXPECT_EQ(test, hm_reg_any(test, &mr), -ENODEV);
	vt_close(test, &before->fid);
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE_PARAM(a_region_is_mapped_as_long_as_it_is_open, mr_direction_gen_params),
	KUNIT_CASE(a_device_that_takes_gaps_gets_them),
	KUNIT_CASE(a_device_without_gaps_refuses_them),
	KUNIT_CASE(gaps_are_limited_by_the_device),
	KUNIT_CASE(pages_are_counted_from_the_first_to_the_last),
	KUNIT_CASE(no_segment_is_longer_than_the_device_takes),
	KUNIT_CASE(a_region_may_be_as_long_as_the_device_says),
	KUNIT_CASE(regions_of_other_devices_memory_are_refused),
	KUNIT_CASE(a_registered_region_takes_what_is_read),
	KUNIT_CASE(keys_are_fresh_although_the_device_repeats),
	KUNIT_CASE(keys_do_not_begin_alike_in_each_domain),
	KUNIT_CASE(a_region_that_the_device_keeps_stays_open),
	KUNIT_CASE(a_region_that_the_device_has_kept_goes_with_it),
	KUNIT_CASE(a_device_that_goes_registers_no_more),
	{}
};

struct kunit_suite kofi_hca_mr_suite = {
	.name		= "kofi_hca_mr",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= mr_cases,
};
