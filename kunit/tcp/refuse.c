// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peers that do not keep to the wire: that connection ends, and nothing else.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/prandom.h>
#include <rdma/fi_rma.h>
#include "../../providers/tcp/trace.h"
#include "tcp.h"

#define LEN	64
#define BAD	120	/* connections */
#define END_MS	2000	/* of them all; other guests share the processors */
#define KEY	5	/* of a region to be read and written */
#define READ_KEY	8	/* of one to be read */
#define WRITE_KEY	16	/* of one to be written */
#define READS		16	/* that an endpoint asks a peer of kOFI's for at a time */

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
	{ "message with a tag", KTCP_BAD_TAGGED, 0, 0x80, 0, 0, 24, 0, {} },
	{ "no operation", KTCP_BAD_HEADER, 9, 0, 0, 0, 16, 0, {} },
	{ "short header", KTCP_BAD_HEADER, 0, 0, 0, 0, 3, 0, {} },
	{ "long header", KTCP_BAD_HEADER, 0, 0, 0, 0, 255, 0, {} },
	{ "too many ranges", KTCP_BAD_HEADER, 4, 0, 0, 5, 136, 0, {} },
	{ "acknowledgment of nothing", KTCP_BAD_ACK, 0, 0, 2, 0, 16, 0, {} },
	{ "response to nothing", KTCP_BAD_READ_RSP, 3, 0, 0, 0, 16, 8, {} },
	{ "write with a wrong key", KTCP_BAD_ACCESS, 4, 0, 0, 1, 40, 8, { 0, 8, KEY + 1 } },
	{ "write behind the end", KTCP_BAD_ACCESS, 4, 0, 0, 1, 40, 8, { LEN - 7, 8, KEY } },
	{ "write before the begin", KTCP_BAD_ACCESS, 4, 0, 0, 1, 40, 8, { -1ULL, 8, KEY } },
	{ "write of another length", KTCP_BAD_HEADER, 4, 0, 0, 1, 40, 8, { 0, 9, KEY } },
	{ "commit to ordinary memory", KTCP_BAD_ACCESS, 4, 8, 0, 1, 40, 8, { 0, 8, KEY } },
	{ "save by a peer without saves", KTCP_BAD_HEADER, 4, 0x18, 0, 1, 40, 0, { 0, 0, KEY } },
	{ "read with a wrong key", KTCP_BAD_ACCESS, 2, 0, 0, 1, 40, 0, { 0, 8, KEY + 1 } },
	{ "read behind the end", KTCP_BAD_ACCESS, 2, 0, 0, 1, 40, 0, { LEN, 1, KEY } },
	{ "read of too much", KTCP_BAD_ACCESS, 2, 0, 0, 1, 40, 0, { 0, -1ULL, KEY } },
	{ "read around the end of memory", KTCP_BAD_ACCESS, 2, 0, 0, 1, 40, 0, { -8ULL, 16, KEY } },
	{ "read of what may be written", KTCP_BAD_ACCESS, 2, 0, 0, 1, 40, 0, { 0, 8, WRITE_KEY } },
	{ "write to what may be read", KTCP_BAD_ACCESS, 4, 0, 0, 1, 40, 8, { 0, 8, READ_KEY } },
	{ "write with the key of nothing", KTCP_BAD_ACCESS, 4, 0, 0, 1, 40, 8, { 0, 8, -1ULL } },
	{ "write to no range", KTCP_BAD_HEADER, 4, 0, 0, 0, 16, 8, {} },
	{ "read of no range", KTCP_BAD_HEADER, 2, 0, 0, 0, 16, 0, {} },
	{ "255 ranges", KTCP_BAD_HEADER, 2, 0, 0, 255, 40, 0, { 0, 8, KEY } },
	{ "read with a payload", KTCP_BAD_HEADER, 2, 0, 0, 1, 40, 8, { 0, 8, KEY } },
	{ "no bytes", KTCP_BAD_HEADER, 0, 0, 0, 0, 16, -16ULL, {} },
	{ "a byte", KTCP_BAD_HEADER, 0, 0, 0, 0, 16, -15ULL, {} },
	{ "fewer bytes than the header", KTCP_BAD_HEADER, 0, 0, 0, 0, 16, -1ULL, {} },
	{ "acknowledgment with a payload", KTCP_BAD_HEADER, 0, 0, 2, 0, 16, 8, {} },
	{ "response to nothing, of no bytes", KTCP_BAD_READ_RSP, 3, 0, 0, 0, 16, 0, {} },
	{ "RTS", KTCP_BAD_RENDEZVOUS, 5, 0, 1, 0, 32, 0, {} },
	{ "request for a payload", KTCP_BAD_RENDEZVOUS, 6, 0, 1, 0, 16, 0, {} },
	{ "payload of an RTS", KTCP_BAD_RENDEZVOUS, 7, 0, 1, 0, 16, 8, {} },
	{ "leave with a payload", KTCP_BAD_HEADER, 0, 0x21, 0, 0, 24, 8, {} },
};

KUNIT_ARRAY_PARAM_DESC(foul, foul_cases, name);

static u8 *region_of(struct kunit *test, u64 access, u64 key)
{
	u8 *buf = vt_buf(test, LEN);

	peer_region(test, buf, LEN, access, key);
	return buf;
}

static u8 *region(struct kunit *test)
{
	return region_of(test, FI_REMOTE_READ | FI_REMOTE_WRITE, KEY);
}

static void a_foul_message_ends_its_connection(struct kunit *test)
{
	const struct foul_case *row = test->param_value;
	u8 *target = region(test), *in = vt_buf(test, LEN), msg[160] = {};
	u8 *readable = region_of(test, FI_REMOTE_READ, READ_KEY);
	struct vt_pair other = {};
	struct vt_end end = {};
	struct socket *sock;
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
	region_of(test, FI_REMOTE_WRITE, WRITE_KEY);
	peer_send(test, sock, msg, sizeof(msg));

	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	vt_failed_with(test, end.rx, vt_ctx(1), ECANCELED);
	vt_none(test, end.rx);
	peer_hung_up(test, sock);
	KUNIT_EXPECT_NULL(test, memchr_inv(target, 0, LEN));
	KUNIT_EXPECT_NULL(test, memchr_inv(readable, 0, LEN));
	KUNIT_EXPECT_NULL(test, memchr_inv(in, 0, LEN));
	vt_ping(test, &other.a, &other.b);
	expect_violations(test, 1, row->reason);
}

/* The key and the range are right */
static void an_endpoint_without_rma_is_no_target(struct kunit *test)
{
	const struct fi_rma_iov rma = { .addr = 0, .len = 8, .key = KEY };
	u8 *target = region(test), msg[PEER_BASE + PEER_RMA + 8] = {};
	static const u8 ops[] = { 2, 4 };
	struct socket *sock;
	int i;

	bed_caps(test, 0, FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE);
	violations_begin(test);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		struct vt_end end = {};

		sock = peer_respond(test, &end);
		memset(msg, 0x77, sizeof(msg));
		peer_hdr(msg, ops[i], 0, NULL, &rma, 1, ops[i] == 4 ? 8 : 0);
		peer_send(test, sock, msg, sizeof(msg) - (ops[i] == 4 ? 0 : 8));
		vt_event(test, end.eq, FI_SHUTDOWN, NULL);
		peer_hung_up(test, sock);
		expect_violations(test, i + 1, KTCP_BAD_ACCESS);
	}
	KUNIT_EXPECT_NULL(test, memchr_inv(target, 0, LEN));
}

/**
 * struct sweep - Headers that differ in one field
 * @name: of the field
 * @ops: operations 0 to this one have it
 * @count: values
 * @set: sets value @i in a header of a message of @op with a valid range
 */
struct sweep {
	const char	*name;
	u8		ops;
	unsigned int	count;
	void		(*set)(u8 *msg, unsigned int i);
};

static void set_flag(u8 *msg, unsigned int i)
{
	u16 flags = BIT(i);

	memcpy(msg + 2, &flags, sizeof(flags));
}

static void set_header_size(u8 *msg, unsigned int i)
{
	msg[6] = i;
}

static void set_ranges(u8 *msg, unsigned int i)
{
	msg[5] = i;
}

static void set_op_data(u8 *msg, unsigned int i)
{
	msg[4] = i;
}

static void set_size(u8 *msg, unsigned int i)
{
	static const u64 sizes[] = {
		0, 1, 15, 16, 17, 1ULL << 31, 1ULL << 32, 1ULL << 62, 1ULL << 63, -2ULL, -1ULL,
	};

	memcpy(msg + 8, &sizes[i], sizeof(sizes[i]));
}

static void set_all(u8 *msg, unsigned int i)
{
	struct rnd_state rnd;

	prandom_seed_state(&rnd, i + 1);
	prandom_bytes_state(&rnd, msg, PEER_BASE + PEER_RMA);
}

/* Cut behind byte @i instead */
static void set_nothing(u8 *msg, unsigned int i)
{
}

static const struct sweep sweeps[] = {
	{ "each flag with each operation", 9, 16, set_flag },
	{ "each size of a header", 0, 256, set_header_size },
	{ "each number of ranges", 4, 16, set_ranges },
	{ "each op_data", 0, 16, set_op_data },
	{ "sizes", 9, 11, set_size },
	{ "random bytes", 0, 400, set_all },
	{ "cut at each byte", 4, PEER_BASE + PEER_RMA, set_nothing },
};

KUNIT_ARRAY_PARAM_DESC(sweep, sweeps, name);

/*
 * What it becomes is the endpoint's business: a message, an access or a violation.  Its connection
 * may end, and nothing else.
 */
static void a_header_that_is_varied_harms_nobody_else(struct kunit *test)
{
	const struct fi_rma_iov rma = { .addr = 0, .len = 8, .key = KEY };
	const struct sweep *row = test->param_value;
	u8 *target = region(test), *readable = region_of(test, FI_REMOTE_READ, READ_KEY);
	u8 msg[PEER_BASE + PEER_RMA + 8];
	struct vt_pair other = {}, late = {};
	struct socket *sock;
	struct vt_end end;
	unsigned int i;
	size_t len;
	u8 op;

	vt_join(test, &other, &vt_default_kind);
	for (op = 0; op <= row->ops; op++) {
		for (i = 0; i < row->count; i++) {
			end = (struct vt_end) {};
			sock = peer_join(test, &end);
			memset(msg, 0x77, sizeof(msg));
			len = peer_hdr(msg, op, 0, NULL, &rma, 1, op == 4 ? 8 : 0);
			len += op == 4 ? 8 : 0;
			row->set(msg, i);
			peer_send(test, sock, msg, row->set == set_nothing ? i + 1 : len);
			peer_close(test, sock);
			vt_end_close(test, &end);
		}
	}
	/* Only the valid writes reach the region, and only their range */
	KUNIT_EXPECT_NULL(test, memchr_inv(target + 8, 0, LEN - 8));
	KUNIT_EXPECT_NULL(test, memchr_inv(readable, 0, LEN));
	vt_ping(test, &other.a, &other.b);
	vt_ping(test, &other.b, &other.a);
	vt_join(test, &late, &vt_default_kind);
	vt_ping(test, &late.a, &late.b);
}

static void a_response_of_another_length_ends_the_connection(struct kunit *test)
{
	u8 *in = vt_buf(test, LEN), buf[PEER_BASE + PEER_RMA + LEN] = {};
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	violations_begin(test);
	KUNIT_ASSERT_EQ(test, fi_read(end.ep, in, LEN, NULL, 0, 0, 1, vt_ctx(1)), 0);
	peer_recv(test, sock, buf, PEER_BASE + PEER_RMA);
	peer_op(buf, 3, 0, LEN - 1);
	peer_send(test, sock, buf, PEER_BASE + LEN - 1);
	KUNIT_EXPECT_EQ(test, vt_failed(test, end.tx).err, ECANCELED);
	peer_hung_up(test, sock);
	expect_violations(test, 1, KTCP_BAD_READ_RSP);
}

/* Each of what is under way ends once.  The peer has broken no rule */
static void a_peer_that_leaves_in_a_message_cancels_it(struct kunit *test)
{
	u8 *in = vt_buf(test, LEN), *mem = vt_buf(test, LEN);
	u8 msg[PEER_BASE + LEN] = {}, buf[PEER_BASE + PEER_RMA];
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);
	struct vt_comp comp;
	size_t len;
	int i;

	violations_begin(test);
	vt_recv(test, &end, in, LEN, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_read(end.ep, mem, LEN, NULL, 0, 0, 1, vt_ctx(2)), 0);
	peer_recv(test, sock, buf, sizeof(buf));
	len = peer_op(msg, 0, 0, LEN);
	peer_send(test, sock, msg, len + LEN / 2);
	peer_close(test, sock);
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	for (i = 0; i < 2; i++) {
		comp = vt_failed(test, end.rx);
		KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
		/* The provider of a receive has no error of its own */
		KUNIT_EXPECT_EQ(test, comp.prov_errno, comp.context == vt_ctx(1) ? 0 : ECANCELED);
		KUNIT_EXPECT_EQ(test, comp.len, comp.context == vt_ctx(1) ? LEN / 2 : 0);
	}
	vt_none(test, end.rx);
	KUNIT_EXPECT_EQ(test, fi_send(end.ep, mem, 1, NULL, 0, NULL), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

/* Its completion was taken before its first byte, and is free again */
static void a_peer_that_leaves_in_a_write_with_data_completes_nothing(struct kunit *test)
{
	u8 msg[PEER_BASE + 8 + PEER_RMA + LEN] = {};
	const struct fi_rma_iov rma = { .len = LEN, .key = KEY };
	struct vt_end end = {};
	struct socket *sock;

	region(test);
	sock = peer_join(test, &end);
	peer_hdr(msg, 4, 1, &(u64){ 7 }, &rma, 1, LEN);
	peer_send(test, sock, msg, sizeof(msg) - LEN / 2);
	peer_close(test, sock);
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	vt_none(test, end.rx);
	vt_end_close(test, &end);
}

/* A read for which the peer has no place, and a message behind a fence */
static void what_has_not_begun_ends_with_its_connection(struct kunit *test)
{
	u8 *mem = vt_buf(test, LEN), buf[PEER_BASE + PEER_RMA];
	const struct kvec kvec = { mem, LEN };
	const struct fi_msg msg = {
		.msg_iov = &kvec, .iov_count = 1, .context = vt_ctx(READS + 2),
	};
	struct vt_end end = {};
	struct socket *sock = peer_join_kofi(test, &end, 0x80);
	int i;

	for (i = 1; i <= READS + 1; i++)
		KUNIT_ASSERT_EQ(test, fi_read(end.ep, mem, LEN, NULL, 0, 0, 1, vt_ctx(i)), 0);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(end.ep, &msg, FI_COMPLETION | FI_FENCE), 0);
	for (i = 0; i < READS; i++)
		peer_recv(test, sock, buf, sizeof(buf));
	peer_leave(test, sock);
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	for (i = 1; i <= READS + 2; i++)
		vt_failed_with(test, end.tx, vt_ctx(i), ECANCELED);
	vt_none(test, end.tx);
}

static void a_peer_that_leaves_is_noticed_behind_a_message(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	peer_send_msg(test, sock, LEN, 0);
	peer_close(test, sock);
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
}

/* Without a word, with half a request, in a message and in a write */
static struct socket *bad_connection(struct kunit *test, struct vt_end *end, int kind)
{
	const struct fi_rma_iov rma = { .addr = 0, .len = LEN, .key = KEY };
	u8 msg[PEER_CM + PEER_BASE + PEER_RMA + LEN] = {};
	struct socket *sock;
	size_t len;

	if (kind < 2) {
		sock = peer_connect(test);
		peer_cm(msg, 0, NULL, 0);
		if (kind)
			peer_send(test, sock, msg, PEER_CM / 2);
		return sock;
	}
	sock = peer_join(test, end);
	vt_recv(test, end, vt_buf(test, LEN), LEN, NULL);
	len = kind == 2 ? peer_op(msg, 0, 0, LEN) :
			  peer_hdr(msg, 4, 0, NULL, &rma, 1, LEN);
	peer_send(test, sock, msg, len + LEN / 2);
	return sock;
}

/* As when the module of a client goes: all of its endpoints, and what listens */
static void no_end_waits_for_bad_connections(struct kunit *test)
{
	struct vt_end *ends = vt_buf(test, BAD * sizeof(*ends));
	struct socket **socks = vt_buf(test, BAD * sizeof(*socks));
	ktime_t begun;
	int i;

	region(test);
	for (i = 0; i < BAD; i++)
		socks[i] = bad_connection(test, &ends[i], i % 4);
	msleep(100);
	begun = ktime_get();
	for (i = 0; i < BAD; i++)
		if (ends[i].ep)
			vt_end_close(test, &ends[i]);
	vt_close(test, &vt_of(test)->pep->fid);
	KUNIT_EXPECT_LT(test, ktime_ms_delta(ktime_get(), begun), (s64)END_MS);
	for (i = 0; i < BAD; i++)
		peer_hung_up(test, socks[i]);
}

static struct kunit_case refuse_cases[] = {
	KUNIT_CASE_PARAM(a_foul_message_ends_its_connection, foul_gen_params),
	KUNIT_CASE(an_endpoint_without_rma_is_no_target),
	KUNIT_CASE_PARAM(a_header_that_is_varied_harms_nobody_else, sweep_gen_params),
	KUNIT_CASE_SLOW(no_end_waits_for_bad_connections),
	KUNIT_CASE(a_response_of_another_length_ends_the_connection),
	KUNIT_CASE(a_peer_that_leaves_in_a_message_cancels_it),
	KUNIT_CASE(a_peer_that_leaves_in_a_write_with_data_completes_nothing),
	KUNIT_CASE(what_has_not_begun_ends_with_its_connection),
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
