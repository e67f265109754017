// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Remote memory access: every call with every size, at any place of a region; what
 * a bad request is answered.  Where FI_RMA is not claimed, every call refuses.
 */
#include "conformance.h"

/**
 * struct rma_call - A call
 * @name: of the call
 * @post: makes it
 * @read: it reads
 * @silent: there is no completion
 * @short_only: carries inject_size bytes at most, and the buffer is free at once
 * @with_data: the target gets remote CQ data
 * @refusal: what it answers if there are none
 */
struct rma_call {
	const char	*name;
	ssize_t		(*post)(struct fid_ep *ep, void *buf, size_t len,
				u64 data, u64 addr, u64 key, void *context);
	bool		read;
	bool		silent;
	bool		short_only;
	bool		with_data;
	int		refusal;
};

static ssize_t post_read(struct fid_ep *ep, void *buf, size_t len, u64 data,
			 u64 addr, u64 key, void *context)
{
	return fi_read(ep, buf, len, NULL, 0, addr, key, context);
}

static ssize_t post_readv(struct fid_ep *ep, void *buf, size_t len, u64 data,
			  u64 addr, u64 key, void *context)
{
	struct kvec iov = { buf, len };

	return fi_readv(ep, &iov, NULL, 1, 0, addr, key, context);
}

static ssize_t post_msg(struct fid_ep *ep, void *buf, size_t len, u64 data,
			u64 addr, u64 key, void *context, bool read, u64 flags)
{
	struct fi_rma_iov remote = { addr, len, key };
	struct kvec iov = { buf, len };
	struct fi_msg_rma msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.rma_iov	= &remote,
		.rma_iov_count	= 1,
		.context	= context,
		.data		= data,
	};

	flags |= FI_COMPLETION;
	return read ? fi_readmsg(ep, &msg, flags) :
		      fi_writemsg(ep, &msg, flags);
}

static ssize_t post_readmsg(struct fid_ep *ep, void *buf, size_t len, u64 data,
			    u64 addr, u64 key, void *context)
{
	return post_msg(ep, buf, len, data, addr, key, context, true, 0);
}

static ssize_t post_write(struct fid_ep *ep, void *buf, size_t len, u64 data,
			  u64 addr, u64 key, void *context)
{
	return fi_write(ep, buf, len, NULL, 0, addr, key, context);
}

static ssize_t post_writev(struct fid_ep *ep, void *buf, size_t len, u64 data,
			   u64 addr, u64 key, void *context)
{
	struct kvec iov = { buf, len };

	return fi_writev(ep, &iov, NULL, 1, 0, addr, key, context);
}

static ssize_t post_writemsg(struct fid_ep *ep, void *buf, size_t len, u64 data,
			     u64 addr, u64 key, void *context)
{
	return post_msg(ep, buf, len, data, addr, key, context, false, 0);
}

static ssize_t post_writemsg_data(struct fid_ep *ep, void *buf, size_t len,
				  u64 data, u64 addr, u64 key, void *context)
{
	return post_msg(ep, buf, len, data, addr, key, context, false,
			FI_REMOTE_CQ_DATA);
}

static ssize_t post_writemsg_inject(struct fid_ep *ep, void *buf, size_t len,
				    u64 data, u64 addr, u64 key, void *context)
{
	return post_msg(ep, buf, len, data, addr, key, context, false,
			FI_INJECT);
}

static ssize_t post_inject(struct fid_ep *ep, void *buf, size_t len, u64 data,
			   u64 addr, u64 key, void *context)
{
	return fi_inject_write(ep, buf, len, 0, addr, key);
}

static ssize_t post_writedata(struct fid_ep *ep, void *buf, size_t len,
			      u64 data, u64 addr, u64 key, void *context)
{
	return fi_writedata(ep, buf, len, NULL, data, 0, addr, key, context);
}

static ssize_t post_injectdata(struct fid_ep *ep, void *buf, size_t len,
			       u64 data, u64 addr, u64 key, void *context)
{
	return fi_inject_writedata(ep, buf, len, data, 0, addr, key);
}

static const struct rma_call calls[] = {
	{ "read", post_read, .read = true },
	{ "readv", post_readv, .read = true },
	{ "readmsg", post_readmsg, .read = true },
	{ "write", post_write },
	{ "writev", post_writev },
	{ "writemsg", post_writemsg },
	{ "writemsg with data", post_writemsg_data, .with_data = true,
	  .refusal = -FI_EBADFLAGS },
	{ "writemsg, injected", post_writemsg_inject, .short_only = true },
	{ "inject_write", post_inject, .silent = true, .short_only = true },
	{ "writedata", post_writedata, .with_data = true, .refusal = -ENOSYS },
	{ "inject_writedata", post_injectdata, .silent = true,
	  .short_only = true, .with_data = true, .refusal = -ENOSYS },
};

static bool is_claimed(struct kunit *test, const struct rma_call *call)
{
	return conf_has(test, call->read ? FI_READ | FI_REMOTE_READ :
					   FI_WRITE | FI_REMOTE_WRITE);
}

static void read_one(struct kunit *test, struct vt_pair *pair,
		     struct conf_region *region, const struct rma_call *call,
		     size_t offset, size_t len)
{
	u8 *buf = vt_buf(test, len + 1);
	struct vt_comp comp;

	vt_fill(region->buf + offset, len, len);
	memset(buf, 0x5a, len + 1);
	KUNIT_ASSERT_EQ(test, call->post(pair->a.ep, buf, len, 0,
					 region->addr + offset, region->key,
					 vt_ctx(1)), 0);
	comp = vt_done(test, pair->a.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | FI_READ);
	KUNIT_EXPECT_TRUE_MSG(test, vt_filled(buf, len, len), "%s, %zu bytes",
			      call->name, len);
	KUNIT_EXPECT_EQ(test, buf[len], 0x5a);
	kunit_kfree(test, buf);
}

/* What the target is told, or else what comes behind the write tells it */
static void await_write(struct kunit *test, struct vt_pair *pair,
			const struct rma_call *call, size_t len, void *context)
{
	struct vt_comp comp;

	if (!call->with_data) {
		vt_ping(test, &pair->a, &pair->b);
		return;
	}
	comp = vt_done(test, pair->b.rx, context);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | FI_REMOTE_WRITE |
					  FI_REMOTE_CQ_DATA);
	KUNIT_EXPECT_EQ(test, comp.data, conf_data(test));
	KUNIT_EXPECT_EQ(test, comp.len, len);
}

static void write_one(struct kunit *test, struct vt_pair *pair,
		      struct conf_region *region, const struct rma_call *call,
		      size_t offset, size_t len)
{
	bool takes_recv = call->with_data &&
			  vt_of(test)->info->mode & FI_RX_CQ_DATA;
	u8 *buf = vt_buf(test, len + 8), *target = region->buf + offset;

	vt_fill(buf, len, len);
	memset(region->buf, 0x5a, CONF_RMA_LEN);
	if (takes_recv)
		vt_recv(test, &pair->b, buf + len, 8, vt_ctx(3));
	KUNIT_ASSERT_EQ_MSG(test, call->post(pair->a.ep, buf, len,
					     conf_data(test),
					     region->addr + offset, region->key,
					     vt_ctx(1)), 0, "%s", call->name);
	if (call->short_only)
		memset(buf, 0, len);
	if (!call->silent)
		KUNIT_EXPECT_EQ(test, vt_done(test, pair->a.tx,
					      vt_ctx(1)).flags,
				FI_RMA | FI_WRITE);
	await_write(test, pair, call, len, takes_recv ? vt_ctx(3) : NULL);
	KUNIT_EXPECT_TRUE_MSG(test, vt_filled(target, len, len),
			      "%s, %zu bytes", call->name, len);
	KUNIT_EXPECT_EQ(test, target[len], 0x5a);
	if (offset)
		KUNIT_EXPECT_EQ(test, target[-1], 0x5a);
	kunit_kfree(test, buf);
}

static void check_call(struct kunit *test, struct vt_pair *pair,
		       struct conf_region *region, const struct rma_call *call)
{
	size_t inject = vt_of(test)->info->tx_attr->inject_size;
	static const size_t sizes[] = { 0, 1, 100, CONF_RMA_LEN - 5000 };
	static const size_t offsets[] = { 0, 1, 4095 };
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (call->short_only && sizes[i] > inject)
			break;
		for (k = 0; k < ARRAY_SIZE(offsets); k++)
			if (call->read)
				read_one(test, pair, region, call, offsets[k],
					 sizes[i]);
			else
				write_one(test, pair, region, call, offsets[k],
					  sizes[i]);
	}
}

static void every_call_reaches_the_target_or_is_refused(struct kunit *test)
{
	struct conf_region region;
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	size_t i;
	int refusal;

	conf_join(test, &pair);
	if (conf_has(test, FI_RMA))
		conf_region(test, &region, CONF_RMA_LEN, CONF_ACCESS);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (is_claimed(test, &calls[i]) &&
		    (!calls[i].with_data || conf_data(test))) {
			check_call(test, &pair, &region, &calls[i]);
			continue;
		}
		refusal = conf_has(test, FI_RMA) ? calls[i].refusal : -ENOSYS;
		KUNIT_EXPECT_EQ_MSG(test, calls[i].post(pair.a.ep, buf, 1, 1, 0,
							0, NULL),
				    refusal, "%s", calls[i].name);
	}
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
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
	KUNIT_EXPECT_EQ(test, fi_writemsg(pair.a.ep, &msg, FI_COMPLETION),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_readmsg(pair.a.ep, &msg, FI_COMPLETION),
			-EINVAL);
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
	KUNIT_EXPECT_EQ(test, fi_inject_write(ep, buf, inject + 1, 0,
					      region.addr, region.key),
			-EMSGSIZE);
	if (key_size < sizeof(u64))
		KUNIT_EXPECT_EQ(test, fi_write(ep, buf, 1, NULL, 0, region.addr,
					       region.key |
					       BIT_ULL(8 * key_size), NULL),
				-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &msg, 0), -EINVAL);
	msg.rma_iov = &remote;
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &msg, 0), -EINVAL);
	msg.rma_iov_count = 1;
	remote = (struct fi_rma_iov) { region.addr, 2, region.key };
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &msg, 0), -EINVAL);
	remote.len = 1;
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &msg, FI_INJECT), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &msg, FI_REMOTE_CQ_DATA),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &msg, FI_PEEK), -FI_EBADFLAGS);
	vt_none(test, pair.a.tx);
	vt_ping(test, &pair.a, &pair.b);
}

static struct kunit_case rma_cases[] = {
	KUNIT_CASE_PARAM(every_call_reaches_the_target_or_is_refused,
			 conf_gen_params),
	KUNIT_CASE_PARAM(remote_lists_are_as_long_as_claimed,
			 conf_gen_params),
	KUNIT_CASE_PARAM(bad_requests_are_refused, conf_gen_params),
	{}
};

struct kunit_suite conf_rma_suite = {
	.name		= "kofi_conformance_rma",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= rma_cases,
};
