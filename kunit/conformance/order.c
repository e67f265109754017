// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Orders that show in the data: what comes later is posted right behind what it
 * must not overtake, many times.  An order that is not claimed promises nothing.
 */
#include "conformance.h"

#define ROUNDS	20

struct bench {
	struct vt_pair		pair;
	struct conf_region	region;
	u8			*out;
	u8			*in;
	size_t			len;
};

static bool claims(struct kunit *test, u64 order)
{
	const struct fi_info *info = vt_of(test)->info;

	return info->tx_attr->msg_order & info->rx_attr->msg_order & order &&
	       conf_has(test, FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ |
			FI_REMOTE_WRITE);
}

static void bench_open(struct kunit *test, struct bench *bench, size_t max)
{
	bench->len = min_t(size_t, max, SZ_8K);
	bench->out = vt_buf(test, 2 * bench->len);
	bench->in = vt_buf(test, bench->len);
	conf_join(test, &bench->pair);
	conf_region(test, &bench->region, bench->len, CONF_ACCESS);
}

static ssize_t write_region(struct bench *bench, void *buf, unsigned long nr)
{
	return fi_write(bench->pair.a.ep, buf, bench->len, NULL, 0,
			bench->region.addr, bench->region.key, vt_ctx(nr));
}

static ssize_t read_region(struct bench *bench, void *buf, unsigned long nr)
{
	return fi_read(bench->pair.a.ep, buf, bench->len, NULL, 0,
		       bench->region.addr, bench->region.key, vt_ctx(nr));
}

static void post_write(struct kunit *test, struct bench *bench, void *buf, unsigned long nr)
{
	KUNIT_ASSERT_EQ(test, write_region(bench, buf, nr), 0);
}

static void post_read(struct kunit *test, struct bench *bench, unsigned long nr)
{
	KUNIT_ASSERT_EQ(test, read_region(bench, bench->in, nr), 0);
}

static void a_read_sees_the_write_before_it(struct kunit *test)
{
	struct bench bench = {};
	int i;

	if (!claims(test, FI_ORDER_RAW | FI_ORDER_RMA_RAW))
		return;
	bench_open(test, &bench, vt_of(test)->info->ep_attr->max_order_raw_size);
	KUNIT_ASSERT_GT(test, bench.len, 0);
	for (i = 0; i < ROUNDS; i++) {
		vt_fill(bench.out, bench.len, i);
		post_write(test, &bench, bench.out, 1);
		post_read(test, &bench, 2);
		vt_done(test, bench.pair.a.tx, vt_ctx(1));
		vt_done(test, bench.pair.a.tx, vt_ctx(2));
		KUNIT_ASSERT_TRUE(test, vt_filled(bench.in, bench.len, i));
	}
}

static void the_later_of_two_writes_stays(struct kunit *test)
{
	struct bench bench = {};
	int i;

	if (!claims(test, FI_ORDER_WAW | FI_ORDER_RMA_WAW))
		return;
	bench_open(test, &bench, vt_of(test)->info->ep_attr->max_order_waw_size);
	KUNIT_ASSERT_GT(test, bench.len, 0);
	for (i = 0; i < ROUNDS; i++) {
		vt_fill(bench.out, bench.len, ~i);
		vt_fill(bench.out + bench.len, bench.len, i);
		post_write(test, &bench, bench.out, 1);
		post_write(test, &bench, bench.out + bench.len, 2);
		vt_done(test, bench.pair.a.tx, vt_ctx(1));
		vt_done(test, bench.pair.a.tx, vt_ctx(2));
		vt_ping(test, &bench.pair.a, &bench.pair.b);
		KUNIT_ASSERT_TRUE(test, vt_filled(bench.region.buf, bench.len, i));
	}
}

static void a_message_finds_the_write_before_it(struct kunit *test)
{
	struct bench bench = {};
	u8 *buf = vt_buf(test, 8);
	int i;

	if (!claims(test, FI_ORDER_SAW))
		return;
	bench_open(test, &bench, SZ_8K);
	for (i = 0; i < ROUNDS; i++) {
		vt_fill(bench.out, bench.len, i);
		vt_recv(test, &bench.pair.b, buf, 8, vt_ctx(3));
		post_write(test, &bench, bench.out, 1);
		KUNIT_ASSERT_EQ(test, fi_inject(bench.pair.a.ep, buf, 0, 0), 0);
		vt_done(test, bench.pair.b.rx, vt_ctx(3));
		KUNIT_ASSERT_TRUE(test, vt_filled(bench.region.buf, bench.len, i));
		vt_done(test, bench.pair.a.tx, vt_ctx(1));
	}
}

/*
 * The peer posts no receive, so the message never gets there, and what stands behind
 * it must not either.  Whether the message counts as sent is another question.
 */
static void behind_a_message(struct kunit *test, struct bench *bench, void *buf,
			     ssize_t (*post)(struct bench *bench, void *buf, unsigned long nr))
{
	struct vt_comp comp;
	int i, ret;

	vt_fill(bench->out, bench->len, 1);
	vt_fill(bench->in, bench->len, 2);
	vt_fill(bench->region.buf, bench->len, 3);
	vt_send(test, &bench->pair.a, bench->out, 8, vt_ctx(1));
	ret = post(bench, buf, 2);
	/* The connection may have been ended for the message already */
	if (ret)
		KUNIT_ASSERT_EQ(test, ret, -ESHUTDOWN);
	vt_close(test, &bench->pair.b.ep->fid);
	for (i = 0; i < 1 + !ret; i++)
		KUNIT_ASSERT_EQ(test, vt_wait(bench->pair.a.tx, &comp), 1);
	KUNIT_EXPECT_TRUE(test, vt_filled(bench->in, bench->len, 2));
	KUNIT_EXPECT_TRUE(test, vt_filled(bench->region.buf, bench->len, 3));
}

static void a_write_stays_behind_the_message_before_it(struct kunit *test)
{
	struct bench bench = {};

	if (!claims(test, FI_ORDER_WAS))
		return;
	bench_open(test, &bench, SZ_8K);
	behind_a_message(test, &bench, bench.out, write_region);
}

static void a_read_stays_behind_the_message_before_it(struct kunit *test)
{
	struct bench bench = {};

	if (!claims(test, FI_ORDER_RAS))
		return;
	bench_open(test, &bench, SZ_8K);
	behind_a_message(test, &bench, bench.in, read_region);
}

/* Whatever is claimed: a fence is for who needs more */
static void a_fenced_write_waits_for_the_read_before_it(struct kunit *test)
{
	struct fi_rma_iov remote;
	struct kvec iov;
	struct fi_msg_rma msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.rma_iov	= &remote,
		.rma_iov_count	= 1,
		.context	= vt_ctx(2),
	};
	struct bench bench = {};
	int i, ret;

	if (!conf_has(test, FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE))
		return;
	bench_open(test, &bench, SZ_8K);
	iov = (struct kvec) { bench.out, bench.len };
	remote = (struct fi_rma_iov) {
		bench.region.addr, bench.len, bench.region.key
	};
	for (i = 0; i < ROUNDS; i++) {
		vt_fill(bench.region.buf, bench.len, i);
		vt_fill(bench.out, bench.len, ~i);
		post_read(test, &bench, 1);
		ret = fi_writemsg(bench.pair.a.ep, &msg, FI_FENCE | FI_COMPLETION);
		vt_done(test, bench.pair.a.tx, vt_ctx(1));
		KUNIT_ASSERT_TRUE(test, vt_filled(bench.in, bench.len, i));
		if (ret) {
			KUNIT_EXPECT_EQ(test, ret, -FI_EBADFLAGS);
			KUNIT_EXPECT_FALSE(test, conf_has(test, FI_FENCE));
			return;
		}
		vt_done(test, bench.pair.a.tx, vt_ctx(2));
		vt_ping(test, &bench.pair.a, &bench.pair.b);
	}
}

static struct kunit_case order_cases[] = {
	KUNIT_CASE_PARAM(a_read_sees_the_write_before_it, conf_gen_params),
	KUNIT_CASE_PARAM(the_later_of_two_writes_stays, conf_gen_params),
	KUNIT_CASE_PARAM(a_message_finds_the_write_before_it, conf_gen_params),
	KUNIT_CASE_PARAM(a_write_stays_behind_the_message_before_it, conf_gen_params),
	KUNIT_CASE_PARAM(a_read_stays_behind_the_message_before_it, conf_gen_params),
	KUNIT_CASE_PARAM(a_fenced_write_waits_for_the_read_before_it, conf_gen_params),
	{}
};

struct kunit_suite conf_order_suite = {
	.name		= "kofi_conformance_order",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= order_cases,
};
