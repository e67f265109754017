// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A region is closed, or disabled, while a peer is in the middle of a write or a read and does not
 * go on.  That waits for no peer, the connection ends, and no byte changes afterwards.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include "../../providers/tcp/trace.h"
#include "../lib/async.h"
#include "tcp.h"

#define LEN	SZ_16K
/* More than sockets hold, so the response to a read of it cannot be sent at once */
#define LONG	SZ_16M
#define KEY	5
#define POISON	0xa5

/**
 * struct region - A region, and a peer that reaches it
 * @end: the endpoint
 * @sock: the peer
 * @mem: the memory
 * @len: its bytes
 * @mr: its registration
 * @msg: what the peer sends
 */
struct region {
	struct vt_end	end;
	struct socket	*sock;
	u8		*mem;
	size_t		len;
	struct fid_mr	*mr;
	u8		*msg;
};

static void free_memory(void *mem)
{
	kvfree(mem);
}

static u8 *new_memory(struct kunit *test, size_t len)
{
	u8 *mem = kvzalloc(len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_memory, mem), 0);
	return mem;
}

static struct region *new_region(struct kunit *test, size_t len)
{
	struct region *region = vt_buf(test, sizeof(*region));

	region->sock = peer_join(test, &region->end);
	region->len = len;
	region->mem = new_memory(test, len);
	region->msg = vt_buf(test, PEER_BASE + PEER_RMA + LEN);
	region->mr = peer_region(test, region->mem, len, FI_REMOTE_READ | FI_REMOTE_WRITE, KEY);
	violations_begin(test);
	return region;
}

/* The peer writes the first half of the region; returns the bytes of the header */
static size_t begin_write(struct kunit *test, struct region *region, u64 key)
{
	const struct fi_rma_iov rma = { .len = LEN, .key = key };
	size_t len = peer_hdr(region->msg, 4, 0, NULL, &rma, 1, LEN);

	memset(region->msg + len, 0x77, LEN);
	peer_send(test, region->sock, region->msg, len + LEN / 2);
	wait_byte(test, region->mem + LEN / 2 - 1, 0x77);
	return len;
}

static int close_region(void *data)
{
	struct region *region = data;

	return fi_close(&region->mr->fid);
}

/* The close returns while the peer does nothing */
static void expect_close(struct kunit *test, struct region *region)
{
	KUNIT_EXPECT_EQ(test, vt_async_join(test, vt_async_start(test, close_region, region)), 0);
	vt_closed(test, &region->mr->fid);
	memset(region->mem, POISON, region->len);
}

static void expect_end(struct kunit *test, struct region *region)
{
	vt_event(test, region->end.eq, FI_SHUTDOWN, NULL);
	KUNIT_EXPECT_NULL(test, memchr_inv(region->mem, POISON, region->len));
	expect_violations(test, 1, KTCP_BAD_ACCESS);
}

static void a_region_is_closed_in_the_middle_of_a_write(struct kunit *test)
{
	struct region *region = new_region(test, LEN);
	size_t len = begin_write(test, region, KEY);

	expect_close(test, region);
	peer_send(test, region->sock, region->msg + len + LEN / 2, LEN / 2);
	expect_end(test, region);
}

static void a_region_is_closed_in_front_of_the_first_byte(struct kunit *test)
{
	const struct fi_rma_iov rma = { .len = LEN, .key = KEY };
	struct region *region = new_region(test, LEN);
	size_t len = peer_hdr(region->msg, 4, 0, NULL, &rma, 1, LEN);

	memset(region->msg + len, 0x77, LEN);
	/* What comes behind the first message has been read, too, when its receive completes */
	vt_recv(test, &region->end, region->mem, 0, vt_ctx(1));
	peer_send(test, region->sock, region->msg + len,
		  peer_hdr(region->msg + len, 0, 0, NULL, NULL, 0, 0));
	peer_send(test, region->sock, region->msg, len);
	vt_done(test, region->end.rx, vt_ctx(1));
	msleep(20);
	expect_close(test, region);
	memset(region->msg + len, 0x77, LEN);
	peer_send(test, region->sock, region->msg + len, LEN);
	expect_end(test, region);
}

/* The key of one registration does not become that of another in the middle of a write */
static void a_write_under_way_does_not_go_on_in_another_region(struct kunit *test)
{
	struct region *region = new_region(test, LEN);
	size_t len = begin_write(test, region, KEY);

	expect_close(test, region);
	region->mr = peer_region(test, region->mem, LEN, FI_REMOTE_WRITE, KEY);
	peer_send(test, region->sock, region->msg + len + LEN / 2, LEN / 2);
	expect_end(test, region);
}

/* The peer has read the header of the response, and reads no more */
static void begin_read(struct kunit *test, struct region *region)
{
	memset(region->mem, 0x66, region->len);
	peer_send_read(test, region->sock, KEY, region->len);
	peer_expect_op(test, region->sock, 3, 0, region->len);
}

static void a_region_is_closed_in_the_middle_of_a_read(struct kunit *test)
{
	struct region *region = new_region(test, LONG);

	begin_read(test, region);
	expect_close(test, region);
	/* What comes is from before the close */
	KUNIT_EXPECT_LT(test, peer_drain(test, region->sock, 0x66), LONG);
	expect_end(test, region);
}

/* A second read waits behind the first */
static void a_region_is_closed_before_it_is_read(struct kunit *test)
{
	struct region *region = new_region(test, LONG), other = {};

	other.mem = vt_buf(test, LEN);
	other.len = LEN;
	other.mr = peer_region(test, other.mem, LEN, FI_REMOTE_READ, KEY + 1);
	begin_read(test, region);
	peer_send_read(test, region->sock, KEY + 1, LEN);
	msleep(20);
	expect_close(test, &other);
	/* The first still goes on */
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

/* A disabled region of an endpoint is the client's again, with the completion */
static void a_region_is_disabled_in_the_middle_of_a_write(struct kunit *test)
{
	struct region *region = vt_buf(test, sizeof(*region));
	struct kvec kvec = { vt_buf(test, LEN), LEN };
	const struct fi_mr_attr attr = {
		.mr_iov = &kvec, .iov_count = 1, .access = FI_REMOTE_WRITE,
	};
	size_t len;

	region->sock = peer_join(test, &region->end);
	region->len = LEN;
	region->mem = kvec.iov_base;
	region->msg = vt_buf(test, PEER_BASE + PEER_RMA + LEN);
	region->mr = peer_ep_region(test, &region->end, region->mem, LEN, FI_REMOTE_WRITE);
	violations_begin(test);
	len = begin_write(test, region, fi_mr_key(region->mr));
	KUNIT_ASSERT_EQ(test, fi_mr_disable(region->mr, 0, vt_ctx(3)), 0);
	vt_done(test, region->end.tx, vt_ctx(3));
	/* Its next key is not that of the write either */
	KUNIT_ASSERT_EQ(test, fi_mr_refresh(region->mr, &attr, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_enable(region->mr), 0);
	memset(region->mem, POISON, LEN);
	peer_send(test, region->sock, region->msg + len + LEN / 2, LEN / 2);
	expect_end(test, region);
}

static struct kunit_case region_cases[] = {
	KUNIT_CASE(a_region_is_closed_in_the_middle_of_a_write),
	KUNIT_CASE(a_region_is_closed_in_front_of_the_first_byte),
	KUNIT_CASE(a_write_under_way_does_not_go_on_in_another_region),
	KUNIT_CASE(a_region_is_closed_in_the_middle_of_a_read),
	KUNIT_CASE(a_region_is_closed_before_it_is_read),
	KUNIT_CASE(a_region_is_disabled_in_the_middle_of_a_write),
	{}
};

static struct kunit_suite region_suite = {
	.name		= "kofi_tcp_region",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= region_cases,
};

kunit_test_suite(region_suite);
