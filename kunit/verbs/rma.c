// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Remote memory access: descriptors, keys that a message invalidates, and what is refused.
 * Both ends are in one domain; the target's memory is a region.  Each call with each size is
 * in kunit/conformance/rma.c.
 */
#include <linux/vmalloc.h>
#include "../lib/calls.h"
#include "far.h"

#define VT_RMA_LEN	SZ_1M

static void results_promise_what_rma_needs(struct kunit *test)
{
	struct fi_info *info = vt_local(test, AF_INET, vt_far_hints(test));
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

/* Conformance has those of every provider */
static void what_no_write_has_is_refused(struct kunit *test)
{
	static const u64 flags[] = { FI_REMOTE_INV, FI_DELIVERY_COMPLETE };
	struct vt_xfer x = { .buf = vt_buf(test, 64), .len = 64 };
	const struct kvec iov = { x.buf, 64 };
	const struct fi_msg_rma nowhere = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.rma_iov_count	= 1,
	};
	struct vt_far far = {};
	int i;

	vt_far_open(test, &far, VT_RMA_LEN);
	x.addr = vt_far_addr(&far);
	x.key = fi_mr_key(far.mr);
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		KUNIT_EXPECT_EQ(test, vt_post_flags(far.pair.a.ep, VT_WRITEMSG, &x, flags[i]),
				-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_writemsg(far.pair.a.ep, &nowhere, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_readmsg(far.pair.a.ep, &nowhere, 0), -EINVAL);
	vt_none(test, far.pair.a.tx);
	vt_ping(test, &far.pair.a, &far.pair.b);
}

static void a_wrong_key_ends_the_connection_with_an_access_error(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64);
	struct vt_far far = {};

	vt_far_open(test, &far, VT_RMA_LEN);
	memset(far.target, 0x5a, 64);
	KUNIT_ASSERT_EQ(test, fi_write(far.pair.a.ep, buf, 64, NULL, 0, vt_far_addr(&far),
				       fi_mr_key(far.mr) ^ 1, vt_ctx(1)), 0);
	vt_not_taken(test, &far.pair.a, vt_ctx(1), EACCES);
	vt_event(test, far.pair.b.eq, FI_SHUTDOWN, NULL);
	KUNIT_EXPECT_EQ(test, far.target[0], 0x5a);
}

/* What a descriptor saves: 16 pages of vmalloc memory are one element */
static void a_descriptor_makes_one_element_of_any_buffer(struct kunit *test)
{
	size_t len = 16 * PAGE_SIZE;
	struct vt_far far = {};
	struct fid_mr *mr;
	u8 *buf;

	vt_far_open(test, &far, VT_RMA_LEN);
	KUNIT_ASSERT_LT(test, far.pair.a.info->tx_attr->iov_limit, 16);
	buf = vzalloc(len);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	mr = vt_reg(test, buf, len, FI_SEND | FI_RECV | FI_READ | FI_WRITE);

	vt_fill(buf, len, 1);
	KUNIT_EXPECT_EQ(test, fi_send(far.pair.a.ep, buf, len, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_write(far.pair.a.ep, buf, len, fi_mr_desc(mr), 0,
				       vt_far_addr(&far), fi_mr_key(far.mr), vt_ctx(1)), 0);
	vt_done(test, far.pair.a.tx, vt_ctx(1));
	memset(buf, 0, len);
	KUNIT_EXPECT_EQ(test, fi_read(far.pair.a.ep, buf, len, fi_mr_desc(mr), 0, vt_far_addr(&far),
				      fi_mr_key(far.mr), vt_ctx(2)), 0);
	vt_done(test, far.pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, len, 1));

	vt_close(test, &mr->fid);
	vfree(buf);
}

static void a_descriptor_that_does_not_fit_is_refused(struct kunit *test)
{
	struct vt_far far = {};
	u8 *buf = vt_buf(test, SZ_4K);
	struct fid_domain *other;
	struct fid_mr *mr;

	vt_far_open(test, &far, VT_RMA_LEN);
	mr = vt_reg(test, buf + 100, 100, FI_SEND);
	KUNIT_EXPECT_EQ(test, fi_send(far.pair.a.ep, buf + 99, 10,
				      fi_mr_desc(mr), 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_send(far.pair.a.ep, buf + 191, 10,
				      fi_mr_desc(mr), 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_send(far.pair.a.ep, far.target, 10,
				      fi_mr_desc(mr), 0, NULL), -EINVAL);
	vt_close(test, &mr->fid);

	KUNIT_ASSERT_EQ(test, fi_domain(vt_of(test)->fabric, vt_of(test)->info, &other, NULL), 0);
	vt_adopt(test, &other->fid);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(other, buf, SZ_4K, FI_SEND, 0, 0, 0, &mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, fi_send(far.pair.a.ep, buf, 10, fi_mr_desc(mr), 0, NULL), -EINVAL);
	vt_none(test, far.pair.a.tx);
}

static ssize_t send_inv(struct fid_ep *ep, void *buf, u64 key, u64 flags)
{
	const struct vt_xfer x = { .buf = buf, .len = 8, .data = key, .context = vt_ctx(9) };

	return vt_post_flags(ep, VT_SENDMSG, &x, flags | FI_COMPLETION);
}

static void a_message_can_invalidate_a_key_of_its_receiver(struct kunit *test)
{
	u8 *buf = vt_buf(test, 16);
	struct vt_far far = {};
	struct vt_comp comp;
	u64 key;

	vt_far_open(test, &far, VT_RMA_LEN);
	key = fi_mr_key(far.mr);
	vt_recv(test, &far.pair.b, buf + 8, 8, vt_ctx(3));
	KUNIT_ASSERT_EQ(test, send_inv(far.pair.a.ep, buf, key, FI_REMOTE_INV), 0);
	comp = vt_done(test, far.pair.b.rx, vt_ctx(3));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV | FI_REMOTE_INV);
	KUNIT_EXPECT_EQ(test, comp.data, key);
	vt_done(test, far.pair.a.tx, vt_ctx(9));

	KUNIT_ASSERT_EQ(test, fi_write(far.pair.a.ep, buf, 8, NULL, 0,
				       vt_far_addr(&far), key, vt_ctx(1)), 0);
	vt_not_taken(test, &far.pair.a, vt_ctx(1), EACCES);
}

static void invalidation_and_data_exclude_each_other(struct kunit *test)
{
	u8 *buf = vt_buf(test, 8);
	struct vt_far far = {};
	u64 key;

	vt_far_open(test, &far, VT_RMA_LEN);
	key = fi_mr_key(far.mr);
	KUNIT_EXPECT_EQ(test, send_inv(far.pair.a.ep, buf, key, FI_REMOTE_INV | FI_REMOTE_CQ_DATA),
			vt_has_data(test) ? -EINVAL : -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, send_inv(far.pair.a.ep, buf, BIT_ULL(32), FI_REMOTE_INV), -EINVAL);
	vt_none(test, far.pair.a.tx);
}

static struct kunit_case vt_rma_cases[] = {
	KUNIT_CASE(results_promise_what_rma_needs),
	KUNIT_CASE(what_no_write_has_is_refused),
	KUNIT_CASE(a_wrong_key_ends_the_connection_with_an_access_error),
	KUNIT_CASE(a_descriptor_makes_one_element_of_any_buffer),
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
