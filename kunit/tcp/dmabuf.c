// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A dma-buf that is taken back while a peer is in the middle of a write or a read: the
 * exporter does not wait for that peer, and the connection ends.
 */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include "../lib/dmabuf.h"
#include "tcp.h"

#define LEN	SZ_16K
/* More than sockets hold, so the response to a read of it cannot be sent at once */
#define LONG	SZ_16M
#define KEY	5

static struct vt_dmabuf *region(struct kunit *test, size_t len)
{
	struct vt_dmabuf *db = vt_dmabuf(test, VT_DMABUF_MOVES, len);
	const struct fi_mr_dmabuf piece = { .dmabuf = db->dmabuf, .len = len };
	const struct fi_mr_attr attr = {
		.dmabuf		= &piece,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
		.requested_key	= KEY,
	};
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_DMABUF, &mr), 0);
	vt_adopt(test, &mr->fid);
	return db;
}

/* What arrives in the middle of a message makes no event */
static void wait_byte(struct kunit *test, const u8 *byte, u8 want)
{
	unsigned long until = jiffies + msecs_to_jiffies(VT_PATIENCE_MS);

	while (READ_ONCE(*byte) != want && time_before(jiffies, until))
		schedule_timeout_uninterruptible(1);
	KUNIT_ASSERT_EQ(test, *byte, want);
}

static void a_write_under_way_ends_with_a_move(struct kunit *test)
{
	const struct fi_rma_iov rma = { .len = LEN, .key = KEY };
	u8 *msg = vt_buf(test, PEER_BASE + PEER_RMA + LEN);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct vt_dmabuf *db = region(test, LEN);
	union vt_event event;
	size_t len;

	violations_begin(test);
	len = peer_hdr(msg, 4, 0, NULL, &rma, 1, LEN);
	memset(msg + len, 0x77, LEN);
	peer_send(test, sock, msg, len + LEN / 2);
	wait_byte(test, db->mem + LEN / 2 - 1, 0x77);
	KUNIT_ASSERT_EQ(test, vt_dmabuf_move(db), 0);
	KUNIT_EXPECT_FALSE(test, db->mapped_at_move);
	peer_send(test, sock, msg + len + LEN / 2, LEN / 2);

	vt_event(test, end.eq, FI_SHUTDOWN, &event);
	KUNIT_EXPECT_NULL(test, memchr_inv(db->mem, 0x77, LEN / 2));
	KUNIT_EXPECT_NULL(test, memchr_inv(db->mem + LEN / 2, 0, LEN / 2));
	/* The peer has broken no rule */
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

/* Bytes that come until the other end hangs up */
static size_t drain(struct kunit *test, struct socket *sock)
{
	struct kvec kvec = { vt_buf(test, SZ_64K), SZ_64K };
	size_t total = 0;
	int ret;

	do {
		struct msghdr msg = {};

		ret = kernel_recvmsg(sock, &msg, &kvec, 1, kvec.iov_len, 0);
		total += max(ret, 0);
	} while (ret > 0);
	KUNIT_EXPECT_TRUE(test, !ret || ret == -ECONNRESET);
	return total;
}

static void a_read_under_way_ends_with_a_move(struct kunit *test)
{
	const struct fi_rma_iov rma = { .len = LONG, .key = KEY };
	u8 msg[PEER_BASE + PEER_RMA], in[PEER_BASE];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct vt_dmabuf *db = region(test, LONG);
	union vt_event event;

	violations_begin(test);
	peer_send(test, sock, msg, peer_hdr(msg, 2, 0, NULL, &rma, 1, 0));
	peer_recv(test, sock, in, sizeof(in));
	KUNIT_EXPECT_EQ(test, in[1], 3);
	KUNIT_ASSERT_EQ(test, vt_dmabuf_move(db), 0);
	KUNIT_EXPECT_FALSE(test, db->mapped_at_move);

	KUNIT_EXPECT_LT(test, drain(test, sock), LONG);
	vt_event(test, end.eq, FI_SHUTDOWN, &event);
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

static struct kunit_case dmabuf_cases[] = {
	KUNIT_CASE(a_write_under_way_ends_with_a_move),
	KUNIT_CASE(a_read_under_way_ends_with_a_move),
	{}
};

static struct kunit_suite dmabuf_suite = {
	.name		= "kofi_tcp_dmabuf",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= dmabuf_cases,
};

kunit_test_suite(dmabuf_suite);
