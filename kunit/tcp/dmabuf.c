// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A dma-buf that is taken back while a peer is in the middle of a write or a read: the
 * exporter does not wait for that peer, and the connection ends.
 */
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

static void a_write_under_way_ends_with_a_move(struct kunit *test)
{
	const struct fi_rma_iov rma = { .len = LEN, .key = KEY };
	u8 *msg = vt_buf(test, PEER_BASE + PEER_RMA + LEN);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct vt_dmabuf *db = region(test, LEN);
	size_t len;

	violations_begin(test);
	len = peer_hdr(msg, 4, 0, NULL, &rma, 1, LEN);
	memset(msg + len, 0x77, LEN);
	peer_send(test, sock, msg, len + LEN / 2);
	wait_byte(test, db->mem + LEN / 2 - 1, 0x77);
	KUNIT_ASSERT_EQ(test, vt_dmabuf_move(db), 0);
	KUNIT_EXPECT_FALSE(test, db->mapped_at_move);
	peer_send(test, sock, msg + len + LEN / 2, LEN / 2);

	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	KUNIT_EXPECT_NULL(test, memchr_inv(db->mem, 0x77, LEN / 2));
	KUNIT_EXPECT_NULL(test, memchr_inv(db->mem + LEN / 2, 0, LEN / 2));
	/* The peer has broken no rule */
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

static void a_read_under_way_ends_with_a_move(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct vt_dmabuf *db = region(test, LONG);

	violations_begin(test);
	peer_send_read(test, sock, KEY, LONG);
	peer_expect_op(test, sock, 3, 0, LONG);
	KUNIT_ASSERT_EQ(test, vt_dmabuf_move(db), 0);
	KUNIT_EXPECT_FALSE(test, db->mapped_at_move);

	KUNIT_EXPECT_LT(test, peer_drain(test, sock, 0), LONG);
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
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
