// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peers that do not keep to the wire: that connection ends, and nothing else.
 */
#include <rdma/fi_rma.h>
#include "../../providers/tcp/trace.h"
#include "tcp.h"

#define LEN	64
#define KEY	5

static const struct foul_case {
	const char		*name;
	enum ktcp_violation	reason;
	u8			op;
	u16			flags;
	u8			op_data;
	u8			count;
	u8			hdr_size;
	u64			payload;
	struct fi_rma_iov	rma;
} foul_cases[] = {
	{ "tagged message", KTCP_BAD_TAGGED, 1, 0, 0, 0, 24, 0, {} },
	{ "no operation", KTCP_BAD_HEADER, 9, 0, 0, 0, 16, 0, {} },
	{ "short header", KTCP_BAD_HEADER, 0, 0, 0, 0, 3, 0, {} },
	{ "long header", KTCP_BAD_HEADER, 0, 0, 0, 0, 255, 0, {} },
	{ "too many ranges", KTCP_BAD_HEADER, 4, 0, 0, 5, 136, 0, {} },
	{ "acknowledgment of nothing", KTCP_BAD_ACK, 0, 0, 2, 0, 16, 0, {} },
	{ "answer to nothing", KTCP_BAD_ANSWER, 3, 0, 0, 0, 16, 8, {} },
	{ "write with a wrong key", KTCP_BAD_ACCESS, 4, 0, 0, 1, 40, 8, { 0, 8, KEY + 1 } },
	{ "write behind the end", KTCP_BAD_ACCESS, 4, 0, 0, 1, 40, 8, { LEN - 7, 8, KEY } },
	{ "write before the begin", KTCP_BAD_ACCESS, 4, 0, 0, 1, 40, 8, { -1ULL, 8, KEY } },
	{ "write of another length", KTCP_BAD_HEADER, 4, 0, 0, 1, 40, 8, { 0, 9, KEY } },
	{ "commit to ordinary memory", KTCP_BAD_ACCESS, 4, 8, 0, 1, 40, 8, { 0, 8, KEY } },
	{ "save by a peer without saves", KTCP_BAD_HEADER, 4, 0x18, 0, 1, 40, 0, { 0, 0, KEY } },
	{ "read with a wrong key", KTCP_BAD_ACCESS, 2, 0, 0, 1, 40, 0, { 0, 8, KEY + 1 } },
	{ "read behind the end", KTCP_BAD_ACCESS, 2, 0, 0, 1, 40, 0, { LEN, 1, KEY } },
	{ "read of too much", KTCP_BAD_ACCESS, 2, 0, 0, 1, 40, 0, { 0, -1ULL, KEY } },
};

static void foul_desc(const struct foul_case *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(foul, foul_cases, foul_desc);

static u8 *region(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct fid_mr *mr;

	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, buf, LEN,
					FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY,
					0, &mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	return buf;
}

static void a_foul_message_ends_its_connection(struct kunit *test)
{
	const struct foul_case *row = test->param_value;
	u8 *target = region(test), *in = vt_buf(test, LEN), msg[160] = {};
	struct vt_pair other = {};
	struct vt_end end = {};
	struct socket *sock;
	union vt_event event;
	struct vt_comp comp;
	u64 size = row->hdr_size + row->payload;

	violations_begin(test);
	vt_join(test, &other, &vt_default_kind);
	sock = peer_join(test, &end);
	vt_recv(test, &end, in, LEN, vt_ctx(1));
	peer_hdr(msg, row->op, row->flags, NULL, &row->rma, 1, 0);
	msg[4] = row->op_data;
	msg[5] = row->count;
	msg[6] = row->hdr_size;
	memcpy(msg + 8, &size, sizeof(size));
	memset(msg + PEER_BASE + PEER_RMA, 0x77, LEN);
	peer_send(test, sock, msg, sizeof(msg));

	vt_event(test, end.eq, FI_SHUTDOWN, &event);
	comp = vt_failed(test, end.rx);
	KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
	vt_none(test, end.rx);
	peer_hung_up(test, sock);
	KUNIT_EXPECT_NULL(test, memchr_inv(target, 0, LEN));
	KUNIT_EXPECT_NULL(test, memchr_inv(in, 0, LEN));
	vt_ping(test, &other.a, &other.b);
	KUNIT_EXPECT_EQ(test, violations(), 1);
	KUNIT_EXPECT_EQ(test, violation_reason(), row->reason);
}

static void an_answer_of_another_length_ends_the_connection(struct kunit *test)
{
	u8 *in = vt_buf(test, LEN), buf[PEER_BASE + PEER_RMA + LEN] = {};
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct vt_comp comp;

	violations_begin(test);
	KUNIT_ASSERT_EQ(test, fi_read(end.ep, in, LEN, NULL, 0, 0, 1, vt_ctx(1)),
			0);
	peer_recv(test, sock, buf, PEER_BASE + PEER_RMA);
	peer_hdr(buf, 3, 0, NULL, NULL, 0, LEN - 1);
	peer_send(test, sock, buf, PEER_BASE + LEN - 1);
	comp = vt_failed(test, end.tx);
	KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
	peer_hung_up(test, sock);
	KUNIT_EXPECT_EQ(test, violations(), 1);
	KUNIT_EXPECT_EQ(test, violation_reason(), KTCP_BAD_ANSWER);
}

/* Each of what is under way ends once.  The peer has broken no rule */
static void a_peer_that_leaves_in_a_message_cancels_it(struct kunit *test)
{
	u8 *in = vt_buf(test, LEN), *mem = vt_buf(test, LEN);
	u8 msg[PEER_BASE + LEN] = {}, buf[PEER_BASE + PEER_RMA];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	union vt_event event;
	struct vt_comp comp;
	size_t len;

	violations_begin(test);
	vt_recv(test, &end, in, LEN, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_read(end.ep, mem, LEN, NULL, 0, 0, 1, vt_ctx(2)),
			0);
	peer_recv(test, sock, buf, sizeof(buf));
	len = peer_hdr(msg, 0, 0, NULL, NULL, 0, LEN);
	peer_send(test, sock, msg, len + LEN / 2);
	peer_close(test, sock);
	vt_event(test, end.eq, FI_SHUTDOWN, &event);
	comp = vt_failed(test, end.rx);
	KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
	comp = vt_failed(test, end.rx);
	KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
	vt_none(test, end.rx);
	KUNIT_EXPECT_EQ(test, fi_send(end.ep, mem, 1, NULL, 0, NULL),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

static void a_peer_that_leaves_is_noticed_behind_a_message(struct kunit *test)
{
	u8 msg[PEER_BASE + LEN] = {};
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	union vt_event event;
	size_t len;

	len = peer_hdr(msg, 0, 0, NULL, NULL, 0, LEN);
	peer_send(test, sock, msg, len + LEN);
	peer_close(test, sock);
	vt_event(test, end.eq, FI_SHUTDOWN, &event);
}

static struct kunit_case refuse_cases[] = {
	KUNIT_CASE_PARAM(a_foul_message_ends_its_connection, foul_gen_params),
	KUNIT_CASE(an_answer_of_another_length_ends_the_connection),
	KUNIT_CASE(a_peer_that_leaves_in_a_message_cancels_it),
	KUNIT_CASE(a_peer_that_leaves_is_noticed_behind_a_message),
	{}
};

static struct kunit_suite refuse_suite = {
	.name		= "kofi_tcp_refuse",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= refuse_cases,
};

kunit_test_suite(refuse_suite);
