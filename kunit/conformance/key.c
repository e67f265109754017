// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Registration in the form that needs least of the provider: mr_mode 0.  The client
 * chooses the keys, and a region begins at 0 for its peers.  A provider that cannot do so
 * has no result for clients that ask for it.
 */
#include "conformance.h"

#define LEN	256

/* false: it is not to be had, and the case has seen that */
static bool key_join(struct kunit *test, struct vt_pair *pair)
{
	struct fi_info *hints = conf_ask(test), *info;
	int ret;

	hints->domain_attr->mr_mode = 0;
	ret = conf_getinfo(test, hints, &info);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENODATA);
		KUNIT_EXPECT_NE(test, vt_of(test)->info->domain_attr->mr_mode, 0);
		return false;
	}
	KUNIT_EXPECT_EQ(test, info->domain_attr->mr_mode, 0);
	vt_of(test)->info = info;
	conf_join(test, pair);
	return conf_has(test, FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE);
}

static int reg(struct kunit *test, u8 *buf, u64 key, struct fid_mr **mr)
{
	int ret = fi_mr_reg(vt_of(test)->domain, buf, LEN, CONF_ACCESS, 0, key, 0, mr, NULL);

	if (!ret)
		vt_adopt(test, &(*mr)->fid);
	return ret;
}

/* Its completion says that the target has it, or why not */
static int write(struct kunit *test, struct vt_pair *pair, u8 *buf, size_t len, u64 addr, u64 key)
{
	const struct kvec kvec = { buf, len };
	const struct fi_rma_iov rma = { .addr = addr, .len = len, .key = key };
	const struct fi_msg_rma msg = {
		.msg_iov	= &kvec,
		.iov_count	= 1,
		.rma_iov	= &rma,
		.rma_iov_count	= 1,
		.context	= vt_ctx(1),
	};
	struct vt_comp comp;

	KUNIT_ASSERT_EQ(test, fi_writemsg(pair->a.ep, &msg, FI_TRANSMIT_COMPLETE), 0);
	KUNIT_ASSERT_EQ(test, vt_wait(pair->a.tx, &comp), 1);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
	return comp.err;
}

static void a_region_has_the_key_that_was_asked_for(struct kunit *test)
{
	static const u64 keys[] = { 0, 1, 0x4711, BIT_ULL(31) };
	u8 *buf = vt_buf(test, LEN), *target = vt_buf(test, LEN);
	struct vt_pair pair = {};
	struct fid_mr *mr;
	size_t i;

	if (!key_join(test, &pair))
		return;
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		KUNIT_ASSERT_EQ(test, reg(test, target, keys[i], &mr), 0);
		KUNIT_EXPECT_EQ(test, fi_mr_key(mr), keys[i]);
		KUNIT_EXPECT_EQ(test, fi_mr_addr(mr), 0);
		vt_fill(buf, LEN, i);
		KUNIT_ASSERT_EQ(test, write(test, &pair, buf, LEN, 0, keys[i]), 0);
		vt_ping(test, &pair.a, &pair.b);
		KUNIT_EXPECT_TRUE(test, vt_filled(target, LEN, i));
		vt_close(test, &mr->fid);
	}
	KUNIT_EXPECT_LT(test, reg(test, target, FI_KEY_NOTAVAIL, &mr), 0);
}

static void addresses_count_from_the_begin_of_the_region(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN), *target = vt_buf(test, LEN + 16);
	struct vt_pair pair = {};
	struct fid_mr *mr;

	if (!key_join(test, &pair))
		return;
	KUNIT_ASSERT_EQ(test, reg(test, target + 8, 5, &mr), 0);
	memset(buf, 0x77, LEN);
	KUNIT_ASSERT_EQ(test, write(test, &pair, buf, 1, LEN - 1, 5), 0);
	KUNIT_ASSERT_EQ(test, write(test, &pair, buf, 1, 3, 5), 0);
	vt_ping(test, &pair.a, &pair.b);
	KUNIT_EXPECT_EQ(test, target[8 + LEN - 1], 0x77);
	KUNIT_EXPECT_EQ(test, target[8 + 3], 0x77);
	/* One byte beyond, and a kernel address, are none of the region's */
	KUNIT_EXPECT_NE(test, write(test, &pair, buf, 2, LEN - 1, 5), 0);
	KUNIT_EXPECT_EQ(test, target[8 + LEN], 0);
}

static void a_key_has_one_region_at_a_time(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN), *target = vt_buf(test, 2 * LEN);
	struct fid_mr *first, *second;
	struct vt_pair pair = {};

	if (!key_join(test, &pair))
		return;
	KUNIT_ASSERT_EQ(test, reg(test, target, 9, &first), 0);
	KUNIT_EXPECT_EQ(test, reg(test, target + LEN, 9, &second), -FI_ENOKEY);
	vt_close(test, &first->fid);
	KUNIT_ASSERT_EQ(test, reg(test, target + LEN, 9, &second), 0);
	memset(buf, 0x77, LEN);
	KUNIT_ASSERT_EQ(test, write(test, &pair, buf, LEN, 0, 9), 0);
	vt_ping(test, &pair.a, &pair.b);
	KUNIT_EXPECT_EQ(test, target[0], 0);
	KUNIT_EXPECT_EQ(test, target[LEN], 0x77);
	/* Another domain has keys of its own */
	vt_open_info(test, vt_of(test)->info);
	KUNIT_EXPECT_EQ(test, reg(test, target, 9, &first), 0);
}

static void a_key_ends_with_its_region(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN), *target = vt_buf(test, LEN);
	struct vt_pair pair = {};
	struct fid_mr *mr;

	if (!key_join(test, &pair))
		return;
	KUNIT_ASSERT_EQ(test, reg(test, target, 9, &mr), 0);
	vt_close(test, &mr->fid);
	memset(buf, 0x77, LEN);
	KUNIT_EXPECT_NE(test, write(test, &pair, buf, LEN, 0, 9), 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(target, 0, LEN));
}

/* A client whose protocol has 32 bits for a key asks for such keys */
static void keys_are_as_short_as_asked_for(struct kunit *test)
{
	static const int modes[] = { 0, CONF_MR_MODE };
	struct fi_info *hints = conf_ask(test), *info;
	u8 *buf = vt_buf(test, LEN), *target = vt_buf(test, LEN);
	size_t i, k, size, all = vt_of(test)->info->domain_attr->mr_key_size;
	struct fid_mr *mr;

	if (!conf_has(test, FI_RMA | FI_WRITE | FI_REMOTE_WRITE))
		return;
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		struct vt_pair pair = {};

		hints->domain_attr->mr_mode = modes[i];
		hints->domain_attr->mr_key_size = sizeof(u32);
		if (conf_getinfo(test, hints, &info))
			continue;
		size = info->domain_attr->mr_key_size;
		KUNIT_EXPECT_TRUE(test, size == sizeof(u32) || size == all);
		if (size != all)
			KUNIT_EXPECT_LE(test, info->domain_attr->mr_cnt, U16_MAX);
		vt_of(test)->info = info;
		conf_join(test, &pair);
		for (k = 0; k < 20; k++) {
			KUNIT_ASSERT_EQ(test, reg(test, target, k + 1, &mr), 0);
			if (size == sizeof(u32))
				KUNIT_EXPECT_LE(test, fi_mr_key(mr), U32_MAX);
			vt_fill(buf, LEN, k);
			KUNIT_ASSERT_EQ(test, fi_write(pair.a.ep, buf, LEN, NULL, 0, fi_mr_addr(mr),
						       fi_mr_key(mr), vt_ctx(1)), 0);
			vt_done(test, pair.a.tx, vt_ctx(1));
			vt_ping(test, &pair.a, &pair.b);
			KUNIT_EXPECT_TRUE(test, vt_filled(target, LEN, k));
			vt_close(test, &mr->fid);
		}
		if (size == sizeof(u32) && !(info->domain_attr->mr_mode & FI_MR_PROV_KEY))
			KUNIT_EXPECT_EQ(test, reg(test, target, BIT_ULL(32), &mr),
					-FI_EKEYREJECTED);
	}
}

static struct kunit_case key_cases[] = {
	KUNIT_CASE_PARAM(a_region_has_the_key_that_was_asked_for, conf_gen_params),
	KUNIT_CASE_PARAM(addresses_count_from_the_begin_of_the_region, conf_gen_params),
	KUNIT_CASE_PARAM(a_key_has_one_region_at_a_time, conf_gen_params),
	KUNIT_CASE_PARAM(a_key_ends_with_its_region, conf_gen_params),
	KUNIT_CASE_PARAM(keys_are_as_short_as_asked_for, conf_gen_params),
	{}
};

struct kunit_suite conf_key_suite = {
	.name		= "kofi_conformance_key",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= key_cases,
};
