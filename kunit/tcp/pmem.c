// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Persistent memory on the wire: commits as libfabric sends and answers them, and saves
 * (FI_SAVE) between peers that announce them.
 */
#include <linux/delay.h>
#include <rdma/fi_rma.h>
#include "../../providers/tcp/trace.h"
#include "../lib/pmem.h"
#include "tcp.h"

#define LEN	64
#define KEY	5
#define BIG	SZ_1M
#define BIGS	8	/* that no socket has room for */
#define COMMIT	(FI_COMPLETION | FI_COMMIT_COMPLETE)

static struct vt_pmem *region_new(struct kunit *test, struct fid_mr **mr)
{
	struct vt_pmem *pmem = vt_pmem(test, 2 * LEN);
	const struct kvec kvec = { pmem->mem, pmem->len };
	const struct fi_mr_attr attr = {
		.type		= FI_BUF_KVEC,
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
		.requested_key	= KEY,
	};

	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_RMA_PMEM, mr), 0);
	vt_adopt(test, &(*mr)->fid);
	return pmem;
}

static struct vt_pmem *region(struct kunit *test)
{
	struct fid_mr *mr;

	return region_new(test, &mr);
}

static void send_rma(struct kunit *test, struct socket *sock, u8 op, u16 flags, u64 addr,
		     size_t len, size_t payload)
{
	const struct fi_rma_iov rma = { addr, len, KEY };
	u8 msg[PEER_BASE + PEER_RMA + LEN];
	size_t hdr = peer_hdr(msg, op, flags, NULL, &rma, 1, payload);

	vt_fill(msg + hdr, payload, 3);
	peer_send(test, sock, msg, hdr + payload);
}

static void expect(struct kunit *test, struct socket *sock, u8 op, u8 op_data, size_t payload,
		   u8 id)
{
	u8 want[PEER_BASE], got[PEER_BASE];

	peer_op(want, op, op_data, payload);
	want[7] = id;
	peer_recv(test, sock, got, sizeof(got));
	KUNIT_EXPECT_MEMEQ(test, got, want, sizeof(got));
}

static void expect_ack(struct kunit *test, struct socket *sock, u8 id)
{
	expect(test, sock, 0, 2, 0, id);
}

static void a_commit_is_acknowledged_when_it_is_durable(struct kunit *test)
{
	struct vt_pmem *pmem = region(test);
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	send_rma(test, sock, 4, 4, 0, LEN, LEN);
	expect_ack(test, sock, 0);
	KUNIT_EXPECT_EQ(test, pmem->lines, 0);
	send_rma(test, sock, 4, 8, LEN, LEN, LEN);
	expect_ack(test, sock, 1);
	KUNIT_EXPECT_TRUE(test, vt_filled(pmem->media + LEN, LEN, 3));
	KUNIT_EXPECT_EQ(test, pmem->lines, 1);
	send_rma(test, sock, 4, 12, 0, LEN, LEN);
	expect_ack(test, sock, 2);
	KUNIT_EXPECT_TRUE(test, vt_filled(pmem->media, LEN, 3));
}

static void a_commit_is_sent_as_libfabric_sends_it(struct kunit *test)
{
	const struct fi_rma_iov rma = { 7, LEN, KEY };
	u8 *buf = vt_buf(test, LEN), want[PEER_BASE + PEER_RMA], got[sizeof(want) + LEN];
	const struct kvec iov = { buf, LEN };
	const struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1, .rma_iov = &rma, .rma_iov_count = 1,
		.context = vt_ctx(1),
	};
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	KUNIT_ASSERT_EQ(test, fi_writemsg(end.ep, &msg, COMMIT), 0);
	peer_recv(test, sock, got, sizeof(got));
	peer_hdr(want, 4, 8, NULL, &rma, 1, LEN);
	KUNIT_EXPECT_MEMEQ(test, got, want, sizeof(want));
	vt_none(test, end.tx);
	peer_send_ack(test, sock);
	vt_done(test, end.tx, vt_ctx(1));
}

static void a_save_is_refused_to_a_peer_that_has_not_announced_it(struct kunit *test)
{
	const struct fi_rma_iov rma = { 0, 0, KEY };
	const struct fi_msg_rma msg = { .rma_iov = &rma, .rma_iov_count = 1 };
	const struct fi_msg send = {};
	struct vt_end end = {};

	peer_join(test, &end);
	KUNIT_EXPECT_EQ(test, fi_writemsg(end.ep, &msg, COMMIT | FI_SAVE), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, fi_readmsg(end.ep, &msg, COMMIT | FI_SAVE), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(end.ep, &send, FI_SAVE), -EOPNOTSUPP);
	vt_none(test, end.tx);
}

/* The response decides, whatever was asked */
static void the_response_announces_saves_too(struct kunit *test)
{
	const struct fi_rma_iov rma = { 0, 3, KEY };
	const struct fi_msg_rma msg = {
		.rma_iov = &rma, .rma_iov_count = 1, .context = vt_ctx(1),
	};
	u8 buf[PEER_CM], want[PEER_BASE + PEER_RMA], got[sizeof(want)];
	struct sockaddr_storage addr;
	struct socket *listener = peer_listen(test, &addr), *sock;
	struct vt_end end = {};

	vt_client(test, &end, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_connect(end.ep, &addr, NULL, 0), 0);
	sock = peer_accept(test, listener);
	peer_recv(test, sock, buf, PEER_CM);
	peer_cm(buf, 1, NULL, 0);
	peer_announce(buf);
	peer_send(test, sock, buf, PEER_CM);
	vt_event(test, end.eq, FI_CONNECTED, NULL);
	KUNIT_ASSERT_EQ(test, fi_writemsg(end.ep, &msg, COMMIT | FI_SAVE), 0);
	peer_recv(test, sock, got, sizeof(got));
	peer_hdr(want, 4, 0x18, NULL, &rma, 1, 0);
	KUNIT_EXPECT_MEMEQ(test, got, want, sizeof(want));
	vt_none(test, end.tx);
	peer_send_ack(test, sock);
	vt_done(test, end.tx, vt_ctx(1));
}

static void a_save_is_acknowledged_when_it_is_durable(struct kunit *test)
{
	struct vt_pmem *pmem = region(test);
	struct vt_end end = {};
	struct socket *sock = peer_join_kofi(test, &end, PEER_SAVES);

	send_rma(test, sock, 4, 0, 0, LEN, LEN);
	send_rma(test, sock, 4, 0x14, 0, 0, 0);
	expect_ack(test, sock, 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(pmem->mem, LEN, 3));
	KUNIT_EXPECT_EQ(test, pmem->lines, 0);
	send_rma(test, sock, 4, 0x18, 0, 0, 0);
	expect_ack(test, sock, 1);
	KUNIT_EXPECT_TRUE(test, vt_filled(pmem->media, LEN, 3));
	KUNIT_EXPECT_EQ(test, pmem->lines, 1);
}

/* In the order of reads */
static void a_save_of_what_was_read_is_a_response_without_bytes(struct kunit *test)
{
	struct vt_pmem *pmem = region(test);
	struct vt_end end = {};
	struct socket *sock = peer_join_kofi(test, &end, PEER_SAVES);
	u8 data[8];

	send_rma(test, sock, 4, 0, 0, 8, 8);
	send_rma(test, sock, 2, 0, 0, 8, 0);
	send_rma(test, sock, 2, 0x18, 0, 8, 0);
	expect(test, sock, 3, 0, 8, 0);
	peer_recv(test, sock, data, sizeof(data));
	expect(test, sock, 3, 0, 0, 1);
	KUNIT_EXPECT_TRUE(test, vt_filled(pmem->media, 8, 3));
}

/* The responses in front of it fill the socket, so it has not begun when its target ends */
static void a_save_of_a_region_that_ends_ends_the_connection(struct kunit *test)
{
	u8 *big = vt_buf(test, BIG), msg[PEER_BASE + PEER_RMA];
	const struct fi_rma_iov rma = { .len = BIG, .key = KEY + 1 };
	struct vt_end end = {};
	struct socket *sock;
	struct fid_mr *mr;
	int i;

	region_new(test, &mr);
	peer_region(test, big, BIG, FI_REMOTE_READ, KEY + 1);
	violations_begin(test);
	sock = peer_join_kofi(test, &end, PEER_SAVES);
	for (i = 0; i < BIGS; i++)
		peer_send(test, sock, msg, peer_hdr(msg, 2, 0, NULL, &rma, 1, 0));
	send_rma(test, sock, 2, 0x18, 0, 8, 0);
	msleep(100);
	vt_close(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, violations(), 0);
	for (i = 0; i < BIGS; i++) {
		peer_recv(test, sock, msg, PEER_BASE);
		peer_recv(test, sock, big, BIG);
	}
	peer_hung_up(test, sock);
	expect_violations(test, 1, KTCP_BAD_ACCESS);
}

static void a_save_of_messages_takes_no_receive(struct kunit *test)
{
	u8 msg[PEER_BASE], *in = vt_buf(test, 8);
	struct vt_end end = {};
	struct socket *sock = peer_join_kofi(test, &end, PEER_SAVES);

	vt_recv(test, &end, in, 8, vt_ctx(1));
	peer_hdr(msg, 0, 0x14, NULL, NULL, 0, 0);
	peer_send(test, sock, msg, sizeof(msg));
	expect_ack(test, sock, 0);
	vt_none(test, end.rx);
}

static void a_save_of_ordinary_memory_ends_the_connection(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_end end = {};
	struct socket *sock;

	peer_region(test, buf, LEN, FI_REMOTE_READ, KEY);
	violations_begin(test);
	sock = peer_join_kofi(test, &end, PEER_SAVES);
	send_rma(test, sock, 2, 0x18, 0, 0, 0);
	peer_hung_up(test, sock);
	expect_violations(test, 1, KTCP_BAD_ACCESS);
}

static void a_commit_to_ordinary_memory_writes_nothing(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_end end = {};
	struct socket *sock;

	peer_region(test, buf, LEN, FI_REMOTE_WRITE, KEY);
	violations_begin(test);
	sock = peer_join_kofi(test, &end, PEER_SAVES);
	send_rma(test, sock, 4, 8, 0, LEN, LEN);
	peer_hung_up(test, sock);
	KUNIT_EXPECT_EQ(test, violations(), 1);
	KUNIT_EXPECT_NULL(test, memchr_inv(buf, 0, LEN));
}

/* What has come of it may be in the memory */
static void a_write_that_is_cut_off_is_saved(struct kunit *test)
{
	struct vt_pmem *pmem = region(test);
	const struct fi_rma_iov rma = { 0, LEN, KEY };
	u8 msg[PEER_BASE + PEER_RMA + LEN];
	struct vt_end first = {}, second = {};
	struct socket *sock = peer_join_kofi(test, &first, PEER_SAVES), *other;
	size_t hdr = peer_hdr(msg, 4, 8, NULL, &rma, 1, LEN);

	vt_fill(msg + hdr, LEN, 9);
	peer_send(test, sock, msg, hdr + LEN / 2);
	peer_close(test, sock);
	vt_event(test, first.eq, FI_SHUTDOWN, NULL);
	vt_end_close(test, &first);
	KUNIT_EXPECT_EQ(test, pmem->lines, 0);
	other = peer_join_kofi(test, &second, PEER_SAVES);
	send_rma(test, other, 4, 0x18, 0, 0, 0);
	expect_ack(test, other, 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(pmem->media, LEN / 2, 9));
}

static struct kunit_case pmem_cases[] = {
	KUNIT_CASE(a_commit_is_acknowledged_when_it_is_durable),
	KUNIT_CASE(a_commit_is_sent_as_libfabric_sends_it),
	KUNIT_CASE(a_save_is_refused_to_a_peer_that_has_not_announced_it),
	KUNIT_CASE(the_response_announces_saves_too),
	KUNIT_CASE(a_save_is_acknowledged_when_it_is_durable),
	KUNIT_CASE(a_save_of_what_was_read_is_a_response_without_bytes),
	KUNIT_CASE(a_save_of_a_region_that_ends_ends_the_connection),
	KUNIT_CASE(a_save_of_messages_takes_no_receive),
	KUNIT_CASE(a_save_of_ordinary_memory_ends_the_connection),
	KUNIT_CASE(a_commit_to_ordinary_memory_writes_nothing),
	KUNIT_CASE(a_write_that_is_cut_off_is_saved),
	{}
};

static struct kunit_suite pmem_suite = {
	.name		= "kofi_tcp_pmem",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= pmem_cases,
};

kunit_test_suite(pmem_suite);
