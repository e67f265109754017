// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Remote memory access: every call with every size, at any place of a region; what
 * a bad request is answered.  Where FI_RMA is not claimed, every call refuses.
 */
#include "conformance.h"

static bool is_claimed(struct kunit *test, const struct vt_call *call, bool read)
{
	return conf_has(test, read ? FI_READ | FI_REMOTE_READ : FI_WRITE | FI_REMOTE_WRITE) &&
	       conf_claims(test, call);
}

/* @len bytes between @buf and the region, from its byte @offset on */
static void post(struct kunit *test, struct vt_pair *pair, const struct conf_region *region,
		 const struct vt_call *call, void *buf, size_t offset, size_t len)
{
	const struct vt_xfer x = {
		.buf		= buf,
		.len		= len,
		.pieces		= conf_min_iov(test, 2),
		.data		= conf_data(test),
		.addr		= region->addr + offset,
		.key		= region->key,
		.context	= vt_ctx(1),
	};

	KUNIT_ASSERT_EQ_MSG(test, vt_post(pair->a.ep, call, &x), 0, "%s", call->name);
}

static void read_one(struct kunit *test, struct vt_pair *pair, struct conf_region *region,
		     const struct vt_call *call, size_t offset, size_t len)
{
	u8 *buf = vt_buf(test, len + 1);
	struct vt_comp comp;

	vt_fill(region->buf + offset, len, len);
	memset(buf, 0x5a, len + 1);
	post(test, pair, region, call, buf, offset, len);
	comp = vt_done(test, pair->a.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | FI_READ);
	KUNIT_EXPECT_TRUE_MSG(test, vt_filled(buf, len, len), "%s, %zu bytes", call->name, len);
	KUNIT_EXPECT_EQ(test, buf[len], 0x5a);
	kunit_kfree(test, buf);
}

/* The target's completion; without one, what follows the write shows that the write is there */
static void await_write(struct kunit *test, struct vt_pair *pair,
			const struct vt_call *call, size_t len, void *context)
{
	struct vt_comp comp;

	if (!(call->is & VT_CQ_DATA)) {
		vt_ping(test, &pair->a, &pair->b);
		return;
	}
	comp = vt_done(test, pair->b.rx, context);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	KUNIT_EXPECT_EQ(test, comp.data, conf_data(test));
	KUNIT_EXPECT_EQ(test, comp.len, len);
}

static void write_one(struct kunit *test, struct vt_pair *pair, struct conf_region *region,
		      const struct vt_call *call, size_t offset, size_t len)
{
	bool takes_recv = call->is & VT_CQ_DATA &&
			  vt_of(test)->info->mode & FI_RX_CQ_DATA;
	u8 *buf = vt_buf(test, len + 8), *target = region->buf + offset;

	vt_fill(buf, len, len);
	memset(target - !!offset, 0x5a, len + 1 + !!offset);
	if (takes_recv)
		vt_recv(test, &pair->b, buf + len, 8, vt_ctx(3));
	post(test, pair, region, call, buf, offset, len);
	if (call->is & VT_SHORT)
		memset(buf, 0, len);
	if (!(call->is & VT_UNSIGNALED))
		KUNIT_EXPECT_EQ(test, vt_done(test, pair->a.tx, vt_ctx(1)).flags,
				FI_RMA | FI_WRITE);
	await_write(test, pair, call, len, takes_recv ? vt_ctx(3) : NULL);
	KUNIT_EXPECT_TRUE_MSG(test, vt_filled(target, len, len), "%s, %zu bytes", call->name, len);
	KUNIT_EXPECT_EQ(test, target[len], 0x5a);
	if (offset)
		KUNIT_EXPECT_EQ(test, target[-1], 0x5a);
	kunit_kfree(test, buf);
}

/* Short sizes at each place; the longest by calls without flags */
static void check_call(struct kunit *test, struct vt_pair *pair, struct conf_region *region,
		       const struct vt_call *call, bool read)
{
	typeof(read_one) *one = read ? read_one : write_one;
	size_t inject = vt_of(test)->info->tx_attr->inject_size;
	size_t limit = min_t(size_t, vt_of(test)->info->ep_attr->max_msg_size, region->len - 1);
	const size_t sizes[] = { 0, 1, 5, min(100, inject), inject, 10000, SZ_64K };
	static const size_t offsets[] = { 0, 1, 4095 };
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(sizes) && sizes[i] <= limit; i++) {
		if (call->is & VT_SHORT && sizes[i] > inject)
			break;
		for (k = 0; k < ARRAY_SIZE(offsets); k++)
			one(test, pair, region, call, offsets[k], sizes[i]);
	}
	if (!call->flags && !call->is)
		one(test, pair, region, call, 0, limit);
}

static void check_calls(struct kunit *test, struct vt_pair *pair, struct conf_region *region,
			const struct vt_call *calls, bool read)
{
	struct vt_call call;

	for (; calls->name; calls++) {
		call = *calls;
		if (!conf_has(test, FI_RMA))
			call.refusal = -ENOSYS;
		if (is_claimed(test, calls, read))
			check_call(test, pair, region, calls, read);
		else if (call.refusal == -ENOSYS || read || !(call.flags & FI_FENCE))
			conf_refuses(test, pair->a.ep, &call);
	}
}

static void every_call_reaches_the_target_or_is_refused(struct kunit *test)
{
	struct conf_region region = {};
	struct vt_pair pair = {};

	conf_join(test, &pair);
	if (conf_has(test, FI_RMA))
		conf_region(test, &region, SZ_1M, CONF_ACCESS);
	check_calls(test, &pair, &region, vt_reads, true);
	check_calls(test, &pair, &region, vt_writes, false);
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
	if (conf_has(test, FI_MSG))
		vt_ping(test, &pair.a, &pair.b);
}

static void remote_lists_are_as_long_as_claimed(struct kunit *test)
{
	size_t limit = vt_of(test)->info->tx_attr->rma_iov_limit, i;
	struct fi_rma_iov *remote;
	u8 *buf = vt_buf(test, 64);
	struct kvec fits = { buf, limit }, longer = { buf, limit + 1 };
	struct fi_msg_rma msg = {
		.msg_iov	= &longer,
		.iov_count	= 1,
		.rma_iov_count	= limit + 1,
		.context	= vt_ctx(1),
	};
	struct conf_region region;
	struct vt_pair pair = {};

	if (!conf_has(test, FI_WRITE | FI_REMOTE_WRITE))
		return;
	conf_join(test, &pair);
	conf_region(test, &region, 2 * (limit + 1), CONF_ACCESS);
	remote = vt_buf(test, (limit + 1) * sizeof(*remote));
	/* Every other byte */
	for (i = 0; i <= limit; i++)
		remote[i] = (struct fi_rma_iov) {
			region.addr + 2 * i, 1, region.key
		};
	msg.rma_iov = remote;
	KUNIT_ASSERT_GT(test, limit, 0);
	KUNIT_ASSERT_LT(test, limit, 64);
	vt_fill(buf, limit, 1);
	KUNIT_EXPECT_EQ(test, fi_writemsg(pair.a.ep, &msg, FI_COMPLETION), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_readmsg(pair.a.ep, &msg, FI_COMPLETION), -EINVAL);
	msg.msg_iov = &fits;
	msg.rma_iov_count = limit;
	KUNIT_ASSERT_EQ(test, fi_writemsg(pair.a.ep, &msg, FI_COMPLETION), 0);
	vt_done(test, pair.a.tx, vt_ctx(1));
	vt_ping(test, &pair.a, &pair.b);
	for (i = 0; i < limit; i++)
		KUNIT_EXPECT_EQ(test, region.buf[2 * i], buf[i]);
}

static void bad_requests_are_refused(struct kunit *test)
{
	size_t key_size = vt_of(test)->info->domain_attr->mr_key_size;
	size_t inject = vt_of(test)->info->tx_attr->inject_size;
	u8 *buf = vt_buf(test, inject + 1);
	struct kvec iov = { buf, 1 };
	struct fi_rma_iov remote = {};
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1 };
	struct conf_region region;
	struct vt_pair pair = {};
	struct fid_ep *ep;

	if (!conf_has(test, FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_WRITE))
		return;
	conf_join(test, &pair);
	conf_region(test, &region, 64, CONF_ACCESS);
	ep = pair.a.ep;
	KUNIT_EXPECT_EQ(test, fi_inject_write(ep, buf, inject + 1, 0, region.addr, region.key),
			-EMSGSIZE);
	if (key_size < sizeof(u64)) {
		u64 key = region.key | BIT_ULL(8 * key_size);

		KUNIT_EXPECT_EQ(test, fi_write(ep, buf, 1, NULL, 0, region.addr, key, NULL),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, fi_read(ep, buf, 1, NULL, 0, region.addr, key, NULL),
				-EINVAL);
	}
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &msg, 0), -EINVAL);
	msg.rma_iov_count = 1;
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &msg, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &msg, 0), -EINVAL);
	msg.rma_iov_count = 0;
	msg.rma_iov = &remote;
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &msg, 0), -EINVAL);
	msg.rma_iov_count = 1;
	remote = (struct fi_rma_iov) { region.addr, 2, region.key };
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &msg, 0), -EINVAL);
	remote.len = 1;
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &msg, FI_INJECT), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &msg, FI_REMOTE_CQ_DATA), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &msg, FI_PEEK), -FI_EBADFLAGS);
	vt_none(test, pair.a.tx);
	vt_ping(test, &pair.a, &pair.b);
}

static struct kunit_case rma_cases[] = {
	KUNIT_CASE_PARAM(every_call_reaches_the_target_or_is_refused, conf_gen_params),
	KUNIT_CASE_PARAM(remote_lists_are_as_long_as_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(bad_requests_are_refused, conf_gen_params),
	{}
};

struct kunit_suite conf_rma_suite = {
	.name		= "kofi_conformance_rma",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= rma_cases,
};
