// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Remote memory access: every call with every size, what it tells both sides, and
 * what is refused.  Both ends are in one domain; the target's memory is a region.
 */
#include <linux/vmalloc.h>
#include <rdma/fi_rma.h>
#include "verbs.h"

#define VT_RMA_LEN	SZ_1M
#define VT_ACCESS	(FI_SEND | FI_RECV | FI_READ | FI_WRITE | \
			 FI_REMOTE_READ | FI_REMOTE_WRITE)
#define VT_DATA		0xfeedf00dULL

/**
 * struct vt_rma - A pair and a region at its second end
 * @pair: the connection, writes and reads go from a to b
 * @target: memory of the region
 * @mr: the region
 */
struct vt_rma {
	struct vt_pair	pair;
	u8		*target;
	struct fid_mr	*mr;
};

static struct fi_info *rma_hints(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test);

	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_RX_CQ_DATA;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	return hints;
}

static struct fid_mr *vt_mr(struct kunit *test, void *buf, size_t len,
			    u64 access)
{
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, buf, len, access,
					0, 0, 0, &mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	return mr;
}

static void vt_rma_open(struct kunit *test, struct vt_rma *rma)
{
	vt_serve(test, AF_INET, rma_hints(test));
	vt_join(test, &rma->pair, &vt_default_kind);
	rma->target = vt_buf(test, VT_RMA_LEN);
	rma->mr = vt_mr(test, rma->target, VT_RMA_LEN, VT_ACCESS);
}

static u64 vt_addr(const void *buf)
{
	return (uintptr_t)buf;
}

/**
 * struct vt_rma_call - A call
 * @name: of the call
 * @post: makes it, between @buf and the beginning of the region
 * @flags: of the completion; 0: there is none
 * @short_only: carries inject_size bytes at most
 * @with_data: the target gets VT_DATA
 * @needs: capability without which it is refused, or FI_TRANSMIT_COMPLETE
 * @refusal: how, and how it is where there are no data
 */
struct vt_rma_call {
	const char	*name;
	ssize_t		(*post)(struct fid_ep *ep, void *buf, size_t len,
				u64 addr, u64 key, void *context);
	u64		flags;
	bool		short_only;
	bool		with_data;
	u64		needs;
	ssize_t		refusal;
};

static ssize_t post_read(struct fid_ep *ep, void *buf, size_t len, u64 addr,
			 u64 key, void *context)
{
	return fi_read(ep, buf, len, NULL, 0, addr, key, context);
}

static void vt_halves(struct kvec *iov, void *buf, size_t len)
{
	iov[0] = (struct kvec) { buf, len / 3 };
	iov[1] = (struct kvec) { buf + len / 3, len - len / 3 };
}

static ssize_t post_readv(struct fid_ep *ep, void *buf, size_t len, u64 addr,
			  u64 key, void *context)
{
	struct kvec iov[2];

	vt_halves(iov, buf, len);
	return fi_readv(ep, iov, NULL, 2, 0, addr, key, context);
}

static ssize_t post_msg(struct fid_ep *ep, void *buf, size_t len, u64 addr,
			u64 key, void *context, bool read, u64 flags)
{
	struct fi_rma_iov remote = { addr, len, key };
	struct kvec iov[2];
	struct fi_msg_rma msg = {
		.msg_iov	= iov,
		.iov_count	= 2,
		.rma_iov	= &remote,
		.rma_iov_count	= 1,
		.context	= context,
		.data		= VT_DATA,
	};

	vt_halves(iov, buf, len);
	return read ? fi_readmsg(ep, &msg, flags) :
		      fi_writemsg(ep, &msg, flags);
}

static ssize_t post_readmsg(struct fid_ep *ep, void *buf, size_t len, u64 addr,
			    u64 key, void *context)
{
	return post_msg(ep, buf, len, addr, key, context, true, FI_COMPLETION);
}

static ssize_t post_readmsg_fence(struct fid_ep *ep, void *buf, size_t len,
				  u64 addr, u64 key, void *context)
{
	return post_msg(ep, buf, len, addr, key, context, true,
			FI_COMPLETION | FI_FENCE);
}

static ssize_t post_write(struct fid_ep *ep, void *buf, size_t len, u64 addr,
			  u64 key, void *context)
{
	return fi_write(ep, buf, len, NULL, 0, addr, key, context);
}

static ssize_t post_writev(struct fid_ep *ep, void *buf, size_t len, u64 addr,
			   u64 key, void *context)
{
	struct kvec iov[2];

	vt_halves(iov, buf, len);
	return fi_writev(ep, iov, NULL, 2, 0, addr, key, context);
}

static ssize_t post_writemsg(struct fid_ep *ep, void *buf, size_t len, u64 addr,
			     u64 key, void *context)
{
	return post_msg(ep, buf, len, addr, key, context, false,
			FI_COMPLETION | FI_FENCE);
}

static ssize_t post_writemsg_transmit(struct fid_ep *ep, void *buf, size_t len,
				      u64 addr, u64 key, void *context)
{
	return post_msg(ep, buf, len, addr, key, context, false,
			FI_COMPLETION | FI_TRANSMIT_COMPLETE);
}

static ssize_t post_writemsg_data(struct fid_ep *ep, void *buf, size_t len,
				  u64 addr, u64 key, void *context)
{
	return post_msg(ep, buf, len, addr, key, context, false,
			FI_COMPLETION | FI_REMOTE_CQ_DATA);
}

static ssize_t post_writemsg_inject(struct fid_ep *ep, void *buf, size_t len,
				    u64 addr, u64 key, void *context)
{
	return post_msg(ep, buf, len, addr, key, context, false,
			FI_COMPLETION | FI_INJECT);
}

static ssize_t post_inject_write(struct fid_ep *ep, void *buf, size_t len,
				 u64 addr, u64 key, void *context)
{
	return fi_inject_write(ep, buf, len, 0, addr, key);
}

static ssize_t post_writedata(struct fid_ep *ep, void *buf, size_t len,
			      u64 addr, u64 key, void *context)
{
	return fi_writedata(ep, buf, len, NULL, VT_DATA, 0, addr, key, context);
}

static ssize_t post_inject_writedata(struct fid_ep *ep, void *buf, size_t len,
				     u64 addr, u64 key, void *context)
{
	return fi_inject_writedata(ep, buf, len, VT_DATA, 0, addr, key);
}

static const struct vt_rma_call vt_reads[] = {
	{ "read", post_read, FI_RMA | FI_READ },
	{ "readv", post_readv, FI_RMA | FI_READ },
	{ "readmsg", post_readmsg, FI_RMA | FI_READ },
	{ "readmsg, fenced", post_readmsg_fence, FI_RMA | FI_READ,
	  .needs = FI_FENCE, .refusal = -FI_EBADFLAGS },
};

KUNIT_ARRAY_PARAM_DESC(vt_read, vt_reads, name);

static const struct vt_rma_call vt_writes[] = {
	{ "write", post_write, FI_RMA | FI_WRITE },
	{ "writev", post_writev, FI_RMA | FI_WRITE },
	{ "writemsg, fenced", post_writemsg, FI_RMA | FI_WRITE },
	{ "writemsg, transmitted", post_writemsg_transmit, FI_RMA | FI_WRITE,
	  .needs = FI_TRANSMIT_COMPLETE, .refusal = -FI_EBADFLAGS },
	{ "writemsg with data", post_writemsg_data, FI_RMA | FI_WRITE,
	  .with_data = true, .refusal = -FI_EBADFLAGS },
	{ "writemsg, injected", post_writemsg_inject, FI_RMA | FI_WRITE,
	  .short_only = true },
	{ "inject_write", post_inject_write, .short_only = true },
	{ "writedata", post_writedata, FI_RMA | FI_WRITE, .with_data = true,
	  .refusal = -ENOSYS },
	{ "inject_writedata", post_inject_writedata, .short_only = true,
	  .with_data = true, .refusal = -ENOSYS },
};

KUNIT_ARRAY_PARAM_DESC(vt_write, vt_writes, name);

static bool is_there(struct kunit *test, const struct vt_rma_call *call)
{
	if (call->with_data && !vt_has_data(test))
		return false;
	if (call->needs == FI_TRANSMIT_COMPLETE)
		return !vt_is_iwarp(test);
	return (vt_info(test)->caps & call->needs) == call->needs;
}

/* Nothing is posted, and the connection is as good as before */
static void refused(struct kunit *test, struct vt_rma *rma,
		    const struct vt_rma_call *call)
{
	u8 *buf = vt_buf(test, 8);

	KUNIT_EXPECT_EQ(test, call->post(rma->pair.a.ep, buf, 8,
					 vt_addr(rma->target),
					 fi_mr_key(rma->mr), vt_ctx(7)),
			call->refusal);
	vt_none(test, rma->pair.a.tx);
	vt_ping(test, &rma->pair.a, &rma->pair.b);
}

static void read_one(struct kunit *test, struct vt_rma *rma,
		     const struct vt_rma_call *call, size_t len)
{
	u8 *buf = vt_buf(test, len + 1);
	struct vt_comp comp;

	vt_fill(rma->target, len, len);
	memset(buf, 0x5a, len + 1);
	KUNIT_ASSERT_EQ(test, call->post(rma->pair.a.ep, buf, len,
					 vt_addr(rma->target),
					 fi_mr_key(rma->mr), vt_ctx(7)), 0);
	comp = vt_done(test, rma->pair.a.tx, vt_ctx(7));
	KUNIT_EXPECT_EQ(test, comp.flags, call->flags);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, len, len));
	KUNIT_EXPECT_EQ(test, buf[len], 0x5a);
	kunit_kfree(test, buf);
}

static void every_read_call_carries_every_size(struct kunit *test)
{
	static const size_t sizes[] = { 0, 1, 1000, 4096, 65536, VT_RMA_LEN };
	struct vt_rma rma = {};
	size_t i;

	vt_rma_open(test, &rma);
	if (!is_there(test, test->param_value)) {
		refused(test, &rma, test->param_value);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		read_one(test, &rma, test->param_value, sizes[i]);
	vt_none(test, rma.pair.a.tx);
	vt_none(test, rma.pair.b.rx);
}

/* With data the target has a completion to wait for, else the next ping tells */
static void write_one(struct kunit *test, struct vt_rma *rma,
		      const struct vt_rma_call *call, size_t len)
{
	u8 *buf = vt_buf(test, len + 1), *unused = vt_buf(test, 8);
	struct vt_comp comp;

	vt_fill(buf, len, len);
	memset(rma->target, 0x5a, len + 1);
	if (call->with_data)
		vt_recv(test, &rma->pair.b, unused, 8, vt_ctx(3));
	KUNIT_ASSERT_EQ(test, call->post(rma->pair.a.ep, buf, len,
					 vt_addr(rma->target),
					 fi_mr_key(rma->mr), vt_ctx(7)), 0);
	if (call->short_only)
		memset(buf, 0, len);
	if (call->flags) {
		comp = vt_done(test, rma->pair.a.tx, vt_ctx(7));
		KUNIT_EXPECT_EQ(test, comp.flags, call->flags);
	}
	if (call->with_data) {
		comp = vt_done(test, rma->pair.b.rx, vt_ctx(3));
		KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | FI_REMOTE_WRITE |
						  FI_REMOTE_CQ_DATA);
		KUNIT_EXPECT_EQ(test, comp.data, VT_DATA);
		KUNIT_EXPECT_EQ(test, comp.len, len);
	} else {
		vt_ping(test, &rma->pair.a, &rma->pair.b);
	}
	KUNIT_EXPECT_TRUE(test, vt_filled(rma->target, len, len));
	KUNIT_EXPECT_EQ(test, rma->target[len], 0x5a);
	kunit_kfree(test, buf);
	kunit_kfree(test, unused);
}

static void every_write_call_carries_every_size(struct kunit *test)
{
	static const size_t sizes[] = { 4096, 65536, VT_RMA_LEN - 1 };
	const struct vt_rma_call *call = test->param_value;
	struct vt_rma rma = {};
	size_t i;

	vt_rma_open(test, &rma);
	if (!is_there(test, call)) {
		refused(test, &rma, call);
		return;
	}
	write_one(test, &rma, call, 0);
	write_one(test, &rma, call, 1);
	write_one(test, &rma, call, vt_of(test)->info->tx_attr->inject_size);
	for (i = 0; i < ARRAY_SIZE(sizes) && !call->short_only; i++)
		write_one(test, &rma, call, sizes[i]);
	vt_none(test, rma.pair.a.tx);
	vt_none(test, rma.pair.b.rx);
}

static void results_promise_what_rma_needs(struct kunit *test)
{
	struct fi_info *info = vt_local(test, AF_INET, rma_hints(test));
	u64 mode = info->domain_attr->cq_data_size ? FI_RX_CQ_DATA : 0;
	bool raw = info->tx_attr->msg_order & FI_ORDER_RAW;

	KUNIT_EXPECT_EQ(test, info->caps & FI_RMA, FI_RMA);
	KUNIT_EXPECT_EQ(test, info->mode, mode);
	KUNIT_EXPECT_EQ(test, info->rx_attr->mode, mode);
	KUNIT_EXPECT_EQ(test, info->domain_attr->mr_mode,
			FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY);
	KUNIT_EXPECT_EQ(test, info->domain_attr->mr_key_size, 4);
	KUNIT_EXPECT_EQ(test, info->tx_attr->rma_iov_limit, 1);
	KUNIT_EXPECT_EQ(test, info->ep_attr->max_order_raw_size,
			raw ? info->ep_attr->max_msg_size : 0);
	KUNIT_EXPECT_EQ(test, info->ep_attr->max_order_war_size, 0);
}

static void bad_requests_are_refused_before_they_are_posted(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64);
	struct kvec iov = { buf, 64 };
	struct fi_rma_iov remote[2] = {};
	struct fi_msg_rma msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.rma_iov	= remote,
		.rma_iov_count	= 1,
	};
	struct vt_rma rma = {};
	struct fid_ep *ep;
	u64 addr, key;

	vt_rma_open(test, &rma);
	ep = rma.pair.a.ep;
	addr = vt_addr(rma.target);
	key = fi_mr_key(rma.mr);
	remote[0] = (struct fi_rma_iov) { addr, 64, key };

	KUNIT_EXPECT_EQ(test, fi_write(ep, buf, 64, NULL, 0, addr,
				       key | BIT_ULL(32), NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_read(ep, buf, 64, NULL, 0, addr,
				      key | BIT_ULL(40), NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_inject_write(ep, buf, SZ_4K, 0, addr, key),
			-EMSGSIZE);
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &msg, FI_INJECT), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &msg, FI_REMOTE_CQ_DATA),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &msg, FI_REMOTE_INV),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &msg, FI_DELIVERY_COMPLETE),
			-FI_EBADFLAGS);
	msg.rma_iov_count = 2;
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &msg, 0), -EINVAL);
	msg.rma_iov_count = 0;
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &msg, 0), -EINVAL);
	msg.rma_iov_count = 1;
	msg.rma_iov = NULL;
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &msg, 0), -EINVAL);
	msg.rma_iov = remote;
	remote[0].len = 63;
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &msg, 0), -EINVAL);

	vt_none(test, rma.pair.a.tx);
	vt_ping(test, &rma.pair.a, &rma.pair.b);
}

static void a_wrong_key_ends_the_connection_with_an_access_error(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64);
	struct vt_rma rma = {};
	union vt_event event;

	vt_rma_open(test, &rma);
	memset(rma.target, 0x5a, 64);
	KUNIT_ASSERT_EQ(test, fi_write(rma.pair.a.ep, buf, 64, NULL, 0,
				       vt_addr(rma.target),
				       fi_mr_key(rma.mr) ^ 1, vt_ctx(1)), 0);
	vt_not_taken(test, &rma.pair.a, vt_ctx(1), EACCES);
	vt_event(test, rma.pair.b.eq, FI_SHUTDOWN, &event);
	KUNIT_EXPECT_EQ(test, rma.target[0], 0x5a);
}

/* What a descriptor saves: 16 pages of vmalloc memory are one element */
static void a_descriptor_makes_one_element_of_any_buffer(struct kunit *test)
{
	size_t len = 16 * PAGE_SIZE;
	struct fi_info *hints = rma_hints(test);
	struct vt_rma rma = {};
	struct fid_mr *mr;
	u8 *buf;

	vt_rma_open(test, &rma);
	KUNIT_ASSERT_LT(test, hints->tx_attr->iov_limit, 16);
	buf = vzalloc(len);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	mr = vt_mr(test, buf, len, FI_SEND | FI_RECV | FI_READ | FI_WRITE);

	vt_fill(buf, len, 1);
	KUNIT_EXPECT_EQ(test, fi_send(rma.pair.a.ep, buf, len, NULL, 0, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_write(rma.pair.a.ep, buf, len, fi_mr_desc(mr),
				       0, vt_addr(rma.target),
				       fi_mr_key(rma.mr), vt_ctx(1)), 0);
	vt_done(test, rma.pair.a.tx, vt_ctx(1));
	memset(buf, 0, len);
	KUNIT_EXPECT_EQ(test, fi_read(rma.pair.a.ep, buf, len, fi_mr_desc(mr),
				      0, vt_addr(rma.target),
				      fi_mr_key(rma.mr), vt_ctx(2)), 0);
	vt_done(test, rma.pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, len, 1));

	vt_close(test, &mr->fid);
	vfree(buf);
}

static void messages_use_descriptors_too(struct kunit *test)
{
	struct vt_rma rma = {};
	u8 *buf = vt_buf(test, SZ_8K);
	struct fid_mr *mr;

	vt_rma_open(test, &rma);
	mr = vt_mr(test, buf, SZ_8K, FI_SEND | FI_RECV);
	vt_fill(buf, SZ_4K, 3);
	KUNIT_ASSERT_EQ(test, fi_recv(rma.pair.b.ep, buf + SZ_4K, SZ_4K,
				      fi_mr_desc(mr), 0, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_send(rma.pair.a.ep, buf, SZ_4K, fi_mr_desc(mr),
				      0, vt_ctx(2)), 0);
	vt_done(test, rma.pair.b.rx, vt_ctx(1));
	vt_done(test, rma.pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf + SZ_4K, SZ_4K, 3));
	vt_close(test, &mr->fid);
}

static void a_descriptor_that_does_not_fit_is_refused(struct kunit *test)
{
	struct vt_rma rma = {};
	u8 *buf = vt_buf(test, SZ_4K);
	struct fid_domain *other;
	struct fid_mr *mr;

	vt_rma_open(test, &rma);
	mr = vt_mr(test, buf + 100, 100, FI_SEND);
	KUNIT_EXPECT_EQ(test, fi_send(rma.pair.a.ep, buf + 99, 10,
				      fi_mr_desc(mr), 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_send(rma.pair.a.ep, buf + 191, 10,
				      fi_mr_desc(mr), 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_send(rma.pair.a.ep, rma.target, 10,
				      fi_mr_desc(mr), 0, NULL), -EINVAL);
	vt_close(test, &mr->fid);

	KUNIT_ASSERT_EQ(test, fi_domain(vt_of(test)->fabric, vt_of(test)->info,
					&other, NULL), 0);
	vt_adopt(test, &other->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(other, buf, SZ_4K, FI_SEND, 0, 0, 0,
					&mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, fi_send(rma.pair.a.ep, buf, 10, fi_mr_desc(mr), 0,
				      NULL), -EINVAL);
	vt_none(test, rma.pair.a.tx);
}

static ssize_t send_inv(struct fid_ep *ep, void *buf, u64 key, u64 flags)
{
	struct kvec iov = { buf, 8 };
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.context	= vt_ctx(9),
		.data		= key,
	};

	return fi_sendmsg(ep, &msg, flags | FI_COMPLETION);
}

static void a_message_can_invalidate_a_key_of_its_receiver(struct kunit *test)
{
	u8 *buf = vt_buf(test, 16);
	struct vt_rma rma = {};
	struct vt_comp comp;
	u64 key;

	vt_rma_open(test, &rma);
	key = fi_mr_key(rma.mr);
	vt_recv(test, &rma.pair.b, buf + 8, 8, vt_ctx(3));
	KUNIT_ASSERT_EQ(test, send_inv(rma.pair.a.ep, buf, key, FI_REMOTE_INV),
			0);
	comp = vt_done(test, rma.pair.b.rx, vt_ctx(3));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV | FI_REMOTE_INV);
	KUNIT_EXPECT_EQ(test, comp.data, key);
	vt_done(test, rma.pair.a.tx, vt_ctx(9));

	KUNIT_ASSERT_EQ(test, fi_write(rma.pair.a.ep, buf, 8, NULL, 0,
				       vt_addr(rma.target), key, vt_ctx(1)), 0);
	vt_not_taken(test, &rma.pair.a, vt_ctx(1), EACCES);
}

static void invalidation_and_data_exclude_each_other(struct kunit *test)
{
	u8 *buf = vt_buf(test, 8);
	struct vt_rma rma = {};
	u64 key;

	vt_rma_open(test, &rma);
	key = fi_mr_key(rma.mr);
	KUNIT_EXPECT_EQ(test, send_inv(rma.pair.a.ep, buf, key, FI_REMOTE_INV |
				       FI_REMOTE_CQ_DATA),
			vt_has_data(test) ? -EINVAL : -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, send_inv(rma.pair.a.ep, buf, BIT_ULL(32),
				       FI_REMOTE_INV), -EINVAL);
	vt_none(test, rma.pair.a.tx);
}

static struct kunit_case vt_rma_cases[] = {
	KUNIT_CASE(results_promise_what_rma_needs),
	KUNIT_CASE_PARAM(every_read_call_carries_every_size,
			 vt_read_gen_params),
	KUNIT_CASE_PARAM(every_write_call_carries_every_size,
			 vt_write_gen_params),
	KUNIT_CASE(bad_requests_are_refused_before_they_are_posted),
	KUNIT_CASE(a_wrong_key_ends_the_connection_with_an_access_error),
	KUNIT_CASE(a_descriptor_makes_one_element_of_any_buffer),
	KUNIT_CASE(messages_use_descriptors_too),
	KUNIT_CASE(a_descriptor_that_does_not_fit_is_refused),
	KUNIT_CASE(a_message_can_invalidate_a_key_of_its_receiver),
	KUNIT_CASE(invalidation_and_data_exclude_each_other),
	{}
};

struct kunit_suite kofi_verbs_rma_suite = {
	.name		= "kofi_verbs_rma",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= vt_rma_cases,
};
