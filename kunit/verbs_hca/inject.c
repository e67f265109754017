// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * DMA mappings, the special cases: lists that are refused half-way, and messages
 * that are copied instead of mapped, by the device (inline data) or through the
 * endpoint's bounce buffer.
 */
#include <linux/scatterlist.h>
#include <rdma/fi_rma.h>
#include "../lib/calls.h"
#include "hca.h"
#include "mr.h"

#define INJECT_SIZE	256
#define LIST_LEN	256

/* A list of @count buffers is refused, and none of it stays mapped; @bad: its end is no memory */
static void list_is_refused(struct kunit *test, size_t count, bool bad)
{
	struct vt_pair pair = {};
	struct kvec kvec[5];
	unsigned int base;
	size_t i;

	ht_connect(test, NULL, &pair);
	base = ht_stats(test).mapped;
	for (i = 0; i < count; i++)
		kvec[i] = (struct kvec) { ht_buf(test, 64), 64 };
	if (bad)
		kvec[count - 1].iov_base = NULL;

	KUNIT_EXPECT_EQ(test, fi_sendv(pair.a.ep, kvec, NULL, count, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recvv(pair.a.ep, kvec, NULL, count, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, base);
	vt_ping(test, &pair.a, &pair.b);
}

static void a_bad_element_unmaps_the_good_ones(struct kunit *test)
{
	list_is_refused(test, 4, true);
}

static void a_list_too_long_is_unmapped_again(struct kunit *test)
{
	list_is_refused(test, 5, false);
}

/* Sends @count quarters of @buf as a list, of which the device is to map @mapped */
static void list_maps(struct kunit *test, struct vt_pair *pair, u8 *buf,
		      void **desc, size_t count, unsigned int mapped)
{
	u8 *in = ht_buf(test, LIST_LEN);
	struct kvec kvec[4];
	unsigned int base;
	size_t i;

	for (i = 0; i < count; i++)
		kvec[i] = (struct kvec) { buf + i * LIST_LEN / 4, LIST_LEN / 4 };
	vt_recv(test, &pair->b, in, LIST_LEN, vt_ctx(2));
	fakehca_hold(ht_of(test)->hca);
	base = ht_stats(test).mapped;
	KUNIT_EXPECT_EQ(test, fi_sendv(pair->a.ep, kvec, desc, count, 0, vt_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, base + mapped);
	fakehca_release(ht_of(test)->hca);

	vt_done(test, pair->a.tx, vt_ctx(1));
	vt_done(test, pair->b.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, base - 1);
	KUNIT_EXPECT_EQ(test, memcmp(in, buf, count * LIST_LEN / 4), 0);
}

/* One after the other in the same slot, so what one leaves there the next must not see */
static void a_list_may_lie_in_regions_in_part(struct kunit *test)
{
	u8 *buf = ht_buf(test, LIST_LEN);
	struct vt_pair pair = {};
	struct fid_mr *mr;
	void *in;

	ht_connect(test, NULL, &pair);
	vt_fill(buf, LIST_LEN, 3);
	mr = vt_reg(test, buf, LIST_LEN, FI_SEND);
	in = fi_mr_desc(mr);

	list_maps(test, &pair, buf, (void *[]) { NULL, NULL, NULL, NULL }, 4, 4);
	list_maps(test, &pair, buf, (void *[]) { in, NULL, in, NULL }, 4, 2);
	list_maps(test, &pair, buf, (void *[]) { in, in, in, NULL }, 4, 1);
	list_maps(test, &pair, buf, (void *[]) { NULL, in, in, in }, 4, 1);
	list_maps(test, &pair, buf, (void *[]) { in, in, in, in }, 4, 0);
	list_maps(test, &pair, buf, (void *[]) { NULL, NULL, in, NULL }, 4, 3);
	list_maps(test, &pair, buf, NULL, 1, 1);
}

/* Its slot has a mark, unreported, in the place of the length of its completion */
static void a_receive_that_is_unreported_fails_without_a_length(struct kunit *test)
{
	struct vt_pair pair = { .a.bind_flags = FI_SELECTIVE_COMPLETION };

	ht_connect(test, NULL, &pair);
	KUNIT_ASSERT_EQ(test, fi_recv(pair.a.ep, ht_buf(test, 64), 64, NULL, 0, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	KUNIT_EXPECT_PTR_EQ(test, ht_failed(test, pair.a.tx, ECANCELED).context, vt_ctx(1));
}

/* Two receives have one slot, one after the other, where the first one leaves its data */
static void a_receive_has_no_data_of_an_earlier_message(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct kvec kvec = { ht_buf(test, 8), 8 };
	const struct fi_msg msg = { .msg_iov = &kvec, .iov_count = 1, .context = vt_ctx(2) };
	struct vt_pair pair = { .b.bind_flags = FI_SELECTIVE_COMPLETION };
	int i;

	ht_connect(test, &attr, &pair);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, fi_recvmsg(pair.b.ep, &msg, FI_COMPLETION), 0);
		if (i)
			vt_send(test, &pair.a, NULL, 0, vt_ctx(1));
		else
			KUNIT_ASSERT_EQ(test, fi_senddata(pair.a.ep, NULL, 0, NULL, 0x1234, 0,
							  vt_ctx(1)), 0);
		vt_done(test, pair.a.tx, vt_ctx(1));
		KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.tx, vt_ctx(2)).data, i ? 0 : 0x1234);
	}
}

/* The lower half of this key is the key of the region */
static void a_key_of_more_than_32_bits_is_refused(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	u8 *buf = ht_buf(test, 64);
	struct vt_pair pair = {};
	struct fid_mr *mr;
	u64 key;

	hm_serve(test, &attr);
	ht_join(test, &pair);
	KUNIT_ASSERT_EQ(test, hm_reg(test, ht_buf(test, 64), 64, &mr), 0);
	key = fi_mr_key(mr) | BIT_ULL(32);
	KUNIT_EXPECT_EQ(test, fi_write(pair.a.ep, buf, 8, NULL, 0, fi_mr_addr(mr), key, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_read(pair.a.ep, buf, 8, NULL, 0, fi_mr_addr(mr), key, NULL),
			-EINVAL);
}

static void a_write_that_is_longer_than_its_target_is_unmapped(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct kvec kvec = { ht_buf(test, 64), 64 };
	const struct fi_rma_iov target = { .len = 63, .key = 1 };
	const struct fi_msg_rma msg = {
		.msg_iov	= &kvec,
		.iov_count	= 1,
		.rma_iov	= &target,
		.rma_iov_count	= 1,
	};
	struct vt_pair pair = {};
	unsigned int mapped;

	hm_serve(test, &attr);
	ht_join(test, &pair);
	mapped = ht_stats(test).mapped;
	KUNIT_EXPECT_EQ(test, fi_writemsg(pair.a.ep, &msg, FI_COMPLETION), -EINVAL);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, mapped);
}

/* A call that finds no slot gives up before it maps */
static void a_full_queue_maps_nothing(struct kunit *test)
{
	u8 *buf = ht_buf(test, 64);
	struct vt_pair pair = {};
	struct scatterlist sg;
	struct fi_info *info;
	unsigned int maps, i;
	size_t rw_ops = 1;

	hm_serve(test, NULL);
	info = vt_dup(test, vt_of(test)->info);
	info->tx_attr->size = 4;
	info->rx_attr->size = 4;
	ht_end_open(test, &pair.a, info);
	KUNIT_ASSERT_EQ(test, fi_setopt(&pair.a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RW_OPS,
					&rw_ops, sizeof(rw_ops)), 0);
	ht_join(test, &pair);
	fakehca_hold(ht_of(test)->hca);
	for (i = 0; i < 4; i++) {
		vt_recv(test, &pair.a, NULL, 0, vt_ctx(i));
		vt_send(test, &pair.a, NULL, 0, vt_ctx(i));
	}
	sg_init_one(&sg, buf, 64);
	maps = ht_stats(test).maps;
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, 64, NULL, 0, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.a.ep, buf, 64, NULL, 0, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_writesgl(pair.a.ep, &sg, 1, 0, 64, 0, 0, 1, NULL, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ht_stats(test).maps, maps);
	fakehca_release(ht_of(test)->hca);
}

/* As any other, although the device copies a byte to send */
static void a_receive_of_one_byte_is_mapped(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true, .max_inline = 64 };
	u8 *out = ht_buf(test, 1), *in = ht_buf(test, 1);
	struct vt_pair pair = {};
	struct vt_comp comp;
	unsigned int base;

	ht_connect(test, &attr, &pair);
	base = ht_stats(test).mapped;
	*out = 7;

	vt_recv(test, &pair.b, in, 1, vt_ctx(1));

	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, base + 1);
	vt_send(test, &pair.a, out, 1, vt_ctx(2));
	/* Neither data of the peer nor a key came with it */
	comp = vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, comp.data, 0);
	KUNIT_EXPECT_EQ(test, comp.len, 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.tx, vt_ctx(1)).data, 0);
	KUNIT_EXPECT_EQ(test, *in, 7);
}

static void inject_copies_before_it_returns(struct kunit *test)
{
	struct fakehca_attr attr = { .roce = true, .max_inline = 64 };
	static const size_t lens[] = { 0, 1, 64, 65, INJECT_SIZE };
	u8 *out, *in = ht_buf(test, ARRAY_SIZE(lens) * INJECT_SIZE);
	struct vt_pair pair = {};
	struct vt_comp comp;
	size_t i;

	ht_connect(test, &attr, &pair);
	fakehca_hold(ht_of(test)->hca);
	out = ht_buf(test, INJECT_SIZE);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		vt_recv(test, &pair.b, in + i * INJECT_SIZE, INJECT_SIZE, vt_ctx(i));
		vt_fill(out, lens[i], i);
		KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, out, lens[i], 0), 0);
		memset(out, 0xee, INJECT_SIZE);
	}
	fakehca_release(ht_of(test)->hca);

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		comp = vt_done(test, pair.b.tx, vt_ctx(i));
		KUNIT_EXPECT_EQ(test, comp.len, lens[i]);
		KUNIT_EXPECT_TRUE(test, vt_filled(in + i * INJECT_SIZE, lens[i], i));
	}
	/* What is longer than the device takes inline was handed over to it */
	KUNIT_EXPECT_EQ(test, ht_stats(test).syncs, 2);
	vt_none(test, pair.a.tx);
}

static void inline_devices_need_no_bounce_buffer(struct kunit *test)
{
	struct fakehca_attr attr = { .roce = true, .max_inline = INJECT_SIZE };
	struct vt_pair pair = {};

	ht_connect(test, &attr, &pair);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, 0);
}

/* Whatever the device would take; what it makes of that is not the same for all */
static void over_iwarp_nothing_goes_inline(struct kunit *test)
{
	struct fakehca_attr attr = { .max_inline = INJECT_SIZE };
	u8 *out = ht_buf(test, 8);
	struct vt_pair pair = {};

	ht_connect(test, &attr, &pair);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, 2);
	vt_recv(test, &pair.b, ht_buf(test, 8), 8, vt_ctx(1));
	vt_recv(test, &pair.b, ht_buf(test, 8), 8, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, out, 8, 0), 0);
	vt_done(test, pair.b.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, ht_stats(test).syncs, 1);

	fakehca_hold(ht_of(test)->hca);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, out, 8, NULL, 0, vt_ctx(3)), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, 4);
	fakehca_release(ht_of(test)->hca);
	vt_done(test, pair.a.tx, vt_ctx(3));
	vt_done(test, pair.b.tx, vt_ctx(2));
}

static void no_inline_data_needs_a_bounce_buffer(struct kunit *test)
{
	struct vt_pair pair = {};

	ht_connect(test, NULL, &pair);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, 2);
	vt_close(test, &pair.a.ep->fid);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, 1);
}

/* Some devices refuse a queue pair that asks for more than they take inline */
static void refused_inline_data_needs_a_bounce_buffer(struct kunit *test)
{
	struct fakehca_attr attr = { .roce = true, .max_inline = INJECT_SIZE };
	struct vt_pair pair = {};

	ht_serve(test, &attr);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_CREATE_QP, 1, -EINVAL);
	ht_join(test, &pair);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, 1);
	vt_ping(test, &pair.a, &pair.b);
}

#define COPY_INLINE	64

/* Calls whose buffer is the provider's until they have completed */
static const struct vt_call copy_calls[] = {
	{ "send", VT_SEND },
	{ "sendmsg", VT_SENDMSG, VT_LIST, FI_COMPLETION | FI_FENCE },
	{ "write", VT_WRITE },
	{ "writemsg", VT_WRITEMSG, VT_LIST, FI_COMPLETION | FI_FENCE },
};

KUNIT_ARRAY_PARAM_DESC(copy_call, copy_calls, name);

/* Posts @len bytes; the device is to map @mapped buffers, and has a copy if there is none */
static void copy_expect(struct kunit *test, struct vt_pair *pair, u8 *buf,
			size_t len, struct fid_mr *mr, unsigned int mapped)
{
	const struct vt_call *call = test->param_value;
	struct vt_xfer x = { .buf = buf, .len = len, .context = vt_ctx(1) };
	bool write = call->op >= VT_READ;
	u8 *in = ht_buf(test, len);
	struct fid_mr *there = NULL;
	unsigned int base;

	if (write) {
		KUNIT_ASSERT_EQ(test, hm_reg(test, in, len, &there), 0);
		x.addr = (uintptr_t)in;
		x.key = fi_mr_key(there);
	} else {
		vt_recv(test, &pair->b, in, len, vt_ctx(2));
	}
	x.desc = mr ? fi_mr_desc(mr) : NULL;
	vt_fill(buf, len, len);
	fakehca_hold(ht_of(test)->hca);
	base = ht_stats(test).mapped;
	KUNIT_ASSERT_EQ(test, vt_post(pair->a.ep, call, &x), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, base + mapped);
	if (len <= COPY_INLINE)
		memset(buf, 0xee, len);
	fakehca_release(ht_of(test)->hca);

	vt_done(test, pair->a.tx, vt_ctx(1));
	if (!write)
		vt_done(test, pair->b.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, len, len));
	if (there)
		vt_close(test, &there->fid);
}

/* The device copies what it can copy when it is posted, so there is nothing to map */
static void what_fits_inline_is_not_mapped(struct kunit *test)
{
	struct fakehca_attr attr = { .roce = true, .max_inline = COPY_INLINE };
	u8 *buf = ht_buf(test, 2 * COPY_INLINE);
	u8 *in_mr = ht_buf(test, 2 * COPY_INLINE);
	struct vt_pair pair = {};
	struct fid_mr *mr;

	hm_serve(test, &attr);
	ht_join(test, &pair);
	KUNIT_ASSERT_EQ(test, hm_reg(test, in_mr, 2 * COPY_INLINE, &mr), 0);
	copy_expect(test, &pair, buf, 1, NULL, 0);
	copy_expect(test, &pair, buf, COPY_INLINE, NULL, 0);
	copy_expect(test, &pair, buf, COPY_INLINE + 1, NULL, 1);
	copy_expect(test, &pair, buf, COPY_INLINE, NULL, 0);
	copy_expect(test, &pair, in_mr, COPY_INLINE, mr, 0);
	copy_expect(test, &pair, in_mr, COPY_INLINE + 1, mr, 0);
}

static struct kunit_case inject_cases[] = {
	KUNIT_CASE(a_bad_element_unmaps_the_good_ones),
	KUNIT_CASE(a_list_too_long_is_unmapped_again),
	KUNIT_CASE(a_list_may_lie_in_regions_in_part),
	KUNIT_CASE(a_receive_that_is_unreported_fails_without_a_length),
	KUNIT_CASE(a_receive_has_no_data_of_an_earlier_message),
	KUNIT_CASE(a_key_of_more_than_32_bits_is_refused),
	KUNIT_CASE(a_write_that_is_longer_than_its_target_is_unmapped),
	KUNIT_CASE(a_full_queue_maps_nothing),
	KUNIT_CASE(a_receive_of_one_byte_is_mapped),
	KUNIT_CASE(inject_copies_before_it_returns),
	KUNIT_CASE(inline_devices_need_no_bounce_buffer),
	KUNIT_CASE(over_iwarp_nothing_goes_inline),
	KUNIT_CASE(no_inline_data_needs_a_bounce_buffer),
	KUNIT_CASE(refused_inline_data_needs_a_bounce_buffer),
	KUNIT_CASE_PARAM(what_fits_inline_is_not_mapped, copy_call_gen_params),
	{}
};

struct kunit_suite kofi_hca_inject_suite = {
	.name		= "kofi_hca_inject",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= inject_cases,
};
