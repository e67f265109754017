// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Refusals between peers that have announced them: a read or a write fails alone, and a peer that
 * lies about it ends its connection.
 */
#include <linux/delay.h>
#include <rdma/fi_rma.h>
#include "../../providers/tcp/trace.h"
#include "tcp.h"

#define LEN		64
#define KEY		5	/* of a region to be read and written */
#define READ_KEY	8	/* of one to be read */
#define BIG_KEY		9	/* of a long one */
#define BIG		SZ_1M
#define BIGS		8	/* that no socket has room for */
#define MANY		300	/* operations that are refused, more than there are responses */
#define RESPONSES	16	/* that a connection has */
#define REFUSAL		(PEER_BASE + 8)	/* bytes of the refusal of a write */

/* The peer reads or writes LEN bytes at the begin of a region */
static void access(struct kunit *test, struct socket *sock, u8 op, u16 flags, u64 key, u64 len)
{
	const struct fi_rma_iov rma = { .len = len, .key = key };
	u8 msg[PEER_BASE + PEER_RMA + LEN];
	size_t hdr = peer_hdr(msg, op, flags, NULL, &rma, 1, op == 4 ? len : 0);

	memset(msg + hdr, 0x77, LEN);
	peer_send(test, sock, msg, hdr + (op == 4 ? len : 0));
}

static void expect_response(struct kunit *test, struct socket *sock, size_t len)
{
	u8 bytes[256];
	size_t part;

	peer_expect_op(test, sock, 3, 0, len);
	for (; len; len -= part) {
		part = min(len, sizeof(bytes));
		peer_recv(test, sock, bytes, part);
	}
}

static void expect_refusal(struct kunit *test, struct socket *sock, u8 reason)
{
	peer_expect_op(test, sock, 8, reason, 0);
}

/*
 * @acks acknowledgments, and the refusal of write @number, which comes before the acknowledgment of
 * that write
 */
static void expect_acks(struct kunit *test, struct socket *sock, int acks, u64 number, u8 reason)
{
	u8 want[REFUSAL], got[REFUSAL];
	bool refused = false;
	int i;

	for (i = 0; i < acks;) {
		peer_recv(test, sock, got, PEER_BASE);
		if (got[1]) {
			KUNIT_EXPECT_FALSE(test, refused);
			KUNIT_EXPECT_LE(test, i, (int)number);
			peer_recv(test, sock, got + PEER_BASE, REFUSAL - PEER_BASE);
			peer_refusal(want, &number, reason);
			want[7] = got[7];
			KUNIT_EXPECT_MEMEQ(test, got, want, sizeof(want));
			refused = true;
			continue;
		}
		peer_op(want, 0, 2, 0);
		want[7] = got[7];
		KUNIT_EXPECT_MEMEQ(test, got, want, PEER_BASE);
		i++;
	}
	KUNIT_EXPECT_TRUE(test, refused);
}

/* A message of the peer still finds its receive */
static void goes_on(struct kunit *test, struct socket *sock, struct vt_end *end)
{
	vt_recv(test, end, vt_buf(test, 8), 8, vt_ctx(9));
	peer_send_msg(test, sock, 8, 0);
	vt_done(test, end->rx, vt_ctx(9));
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

static const struct access_case {
	const char	*name;
	u16		flags;	/* of a write */
	u64		key;
	u64		len;
} access_cases[] = {
	{ "key of no region", 4, KEY + 1, 8 },
	{ "behind the end", 4, KEY, LEN + 1 },
	{ "not for that", 4, READ_KEY, 8 },
	{ "no bytes", 4, KEY + 1, 0 },
	{ "commit to ordinary memory", 8, KEY, 8 },
};

KUNIT_ARRAY_PARAM_DESC(access, access_cases, name);

static void a_read_is_refused_in_its_turn(struct kunit *test)
{
	const struct access_case *row = test->param_value;
	u8 *mem = vt_buf(test, LEN), *writable = vt_buf(test, LEN);
	struct vt_end end = {};
	struct socket *sock;

	/* A read has no flags, and READ_KEY may be read */
	if (row->flags != 4 || row->key == READ_KEY)
		return;
	peer_region(test, mem, LEN, FI_REMOTE_READ, KEY);
	peer_region(test, writable, LEN, FI_REMOTE_WRITE, READ_KEY);
	violations_begin(test);
	sock = peer_join_kofi(test, &end, PEER_SAVES | PEER_REFUSES);
	access(test, sock, 2, 0, KEY, 8);
	access(test, sock, 2, 0, row->key, row->len);
	access(test, sock, 2, 0, KEY, 9);
	access(test, sock, 2, 0, READ_KEY, 9);
	access(test, sock, 2, 0, KEY, 10);
	expect_response(test, sock, 8);
	expect_refusal(test, sock, 1);
	expect_response(test, sock, 9);
	expect_refusal(test, sock, 1);
	expect_response(test, sock, 10);
	goes_on(test, sock, &end);
}

static void a_write_is_refused_before_its_acknowledgment(struct kunit *test)
{
	const struct access_case *row = test->param_value;
	u8 *mem = vt_buf(test, LEN), *readable = vt_buf(test, LEN);
	const struct fi_rma_iov rma = { .len = row->len, .key = row->key };
	u8 msg[PEER_BASE + PEER_RMA + LEN + 1] = {};
	struct vt_end end = {};
	struct socket *sock;
	size_t len;

	peer_region(test, mem, LEN, FI_REMOTE_WRITE, KEY);
	peer_region(test, readable, LEN, FI_REMOTE_READ, READ_KEY);
	violations_begin(test);
	sock = peer_join_kofi(test, &end, PEER_REFUSES);
	access(test, sock, 4, 4, KEY, 8);
	access(test, sock, 4, 0, KEY, 8);
	len = peer_hdr(msg, 4, row->flags, NULL, &rma, 1, row->len);
	memset(msg + len, 0x99, row->len);
	peer_send(test, sock, msg, len + row->len);
	access(test, sock, 4, 4, KEY, 8);
	expect_acks(test, sock, 3, 1, 1);
	KUNIT_EXPECT_NULL(test, memchr_inv(mem, 0x77, 8));
	KUNIT_EXPECT_NULL(test, memchr_inv(mem + 8, 0, LEN - 8));
	KUNIT_EXPECT_NULL(test, memchr_inv(readable, 0, LEN));
	vt_none(test, end.rx);
	goes_on(test, sock, &end);
}

/* Its client may have a success already.  So does a peer that understands no refusals */
static void a_write_that_is_not_acknowledged_ends_the_connection(struct kunit *test)
{
	static const struct {
		u8	understands;
		u8	op;
		u16	flags;
	} rows[] = {
		{ PEER_REFUSES, 4, 0 }, { PEER_SAVES, 4, 4 }, { PEER_SAVES, 2, 0 }, { 0, 2, 0 },
	};
	int i;

	violations_begin(test);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct vt_end end = {};
		struct socket *sock = peer_join_kofi(test, &end, rows[i].understands);

		access(test, sock, rows[i].op, rows[i].flags, KEY, 8);
		vt_event(test, end.eq, FI_SHUTDOWN, NULL);
		peer_hung_up(test, sock);
		expect_violations(test, i + 1, KTCP_BAD_ACCESS);
	}
}

/* Its refusal would be due behind the rest of its payload */
static void a_peer_that_leaves_in_a_refused_write_hears_nothing(struct kunit *test)
{
	const struct fi_rma_iov rma = { .len = LEN, .key = KEY };
	u8 msg[PEER_BASE + PEER_RMA + LEN] = {};
	struct vt_end end = {};
	struct socket *sock;

	sock = peer_join_kofi(test, &end, PEER_REFUSES);
	peer_hdr(msg, 4, 4, NULL, &rma, 1, LEN);
	peer_send(test, sock, msg, sizeof(msg) - LEN / 2);
	peer_close(test, sock);
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	vt_end_close(test, &end);
}

static void a_write_whose_target_ends_is_refused(struct kunit *test)
{
	const struct fi_rma_iov rma = { .len = LEN, .key = KEY };
	u8 *mem = vt_buf(test, LEN), msg[PEER_BASE + PEER_RMA + LEN];
	struct fid_mr *mr = peer_region(test, mem, LEN, FI_REMOTE_WRITE, KEY);
	struct vt_end end = {};
	struct socket *sock;

	violations_begin(test);
	sock = peer_join_kofi(test, &end, PEER_REFUSES);
	peer_hdr(msg, 4, 4, NULL, &rma, 1, LEN);
	memset(msg + PEER_BASE + PEER_RMA, 0x77, LEN);
	peer_send(test, sock, msg, sizeof(msg) - LEN / 2);
	wait_byte(test, &mem[LEN / 2 - 1], 0x77);
	vt_close(test, &mr->fid);
	peer_send(test, sock, msg + sizeof(msg) - LEN / 2, LEN / 2);
	expect_acks(test, sock, 1, 0, 2);
	KUNIT_EXPECT_NULL(test, memchr_inv(mem, 0x77, LEN / 2));
	KUNIT_EXPECT_NULL(test, memchr_inv(mem + LEN / 2, 0, LEN / 2));
	goes_on(test, sock, &end);
}

/* The responses in front of it fill the socket, so it has not begun when its target ends */
static void a_read_whose_target_ends_before_its_response_is_refused(struct kunit *test)
{
	u8 *mem = vt_buf(test, LEN), *big = vt_buf(test, BIG);
	struct fid_mr *mr = peer_region(test, mem, LEN, FI_REMOTE_READ, KEY);
	struct vt_end end = {};
	struct socket *sock;
	int i;

	peer_region(test, big, BIG, FI_REMOTE_READ, BIG_KEY);
	violations_begin(test);
	sock = peer_join_kofi(test, &end, PEER_REFUSES);
	for (i = 0; i < BIGS; i++)
		access(test, sock, 2, 0, BIG_KEY, BIG);
	access(test, sock, 2, 0, KEY, LEN);
	access(test, sock, 2, 0, BIG_KEY, 8);
	msleep(100);
	vt_close(test, &mr->fid);
	for (i = 0; i < BIGS; i++)
		expect_response(test, sock, BIG);
	expect_refusal(test, sock, 1);
	expect_response(test, sock, 8);
	goes_on(test, sock, &end);
}

/* That of a write is behind responses which fill the socket */
static void a_refusal_that_has_not_been_sent_ends_with_its_connection(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock;
	int i;

	peer_region(test, vt_buf(test, BIG), BIG, FI_REMOTE_READ, BIG_KEY);
	sock = peer_join_kofi(test, &end, PEER_REFUSES);
	for (i = 0; i < BIGS; i++)
		access(test, sock, 2, 0, BIG_KEY, BIG);
	msleep(100);
	access(test, sock, 4, 4, KEY, 8);
	msleep(100);
	peer_close(test, sock);
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	vt_end_close(test, &end);
}

/* As long as the peer takes none, the endpoint has no more of them than responses */
static void refusals_have_the_places_of_responses(struct kunit *test)
{
	struct vt_end end = {};
	unsigned long begin = jiffies;
	struct socket *sock;
	int i;

	violations_begin(test);
	sock = peer_join_kofi(test, &end, PEER_REFUSES);
	for (i = 0; i < MANY; i++) {
		access(test, sock, 2, 0, KEY, 8);
		access(test, sock, 4, 4, KEY, 8);
	}
	for (i = 0; i < 2 * MANY;) {
		u8 got[REFUSAL];

		peer_recv(test, sock, got, PEER_BASE);
		if (got[6] > PEER_BASE)
			peer_recv(test, sock, got + PEER_BASE, got[6] - PEER_BASE);
		i += got[1] == 8;
	}
	/* A connection that has no place is looked at each half a second, whatever wakes it */
	KUNIT_EXPECT_LT(test, jiffies - begin, 2 * MANY / RESPONSES * HZ / 4);
	/* The last acknowledgment may be behind the last refusal, and is nothing to this peer */
	goes_on(test, sock, &end);
}

/* The peer has places for half of them, and answers none */
static void reads_that_have_no_place_end_with_their_connection(struct kunit *test)
{
	u8 *mem = vt_buf(test, LEN), request[PEER_BASE + PEER_RMA];
	struct vt_end end = {};
	struct socket *sock;
	int i;

	sock = peer_join_kofi(test, &end, PEER_REFUSES);
	for (i = 0; i < 2 * RESPONSES; i++)
		KUNIT_ASSERT_EQ(test, fi_read(end.ep, mem, 8, NULL, 0, 0, 1, vt_ctx(i + 1)), 0);
	for (i = 0; i < RESPONSES; i++)
		peer_recv(test, sock, request, sizeof(request));
	peer_close(test, sock);
	for (i = 0; i < 2 * RESPONSES; i++)
		vt_failed_with(test, end.tx, vt_ctx(i + 1), ECANCELED);
}

/* Two reads around a write that is to be acknowledged; the peer refuses the first two */
static void a_refusal_is_an_error_of_its_operation(struct kunit *test)
{
	u8 *mem = vt_buf(test, LEN), msg[PEER_BASE + PEER_RMA + LEN] = {};
	const struct fi_rma_iov rma = { .len = 8, .key = 1 };
	struct kvec kvec = { mem, 8 };
	const struct fi_msg_rma write = {
		.msg_iov = &kvec, .iov_count = 1, .rma_iov = &rma, .rma_iov_count = 1,
		.context = vt_ctx(2),
	};
	struct vt_end end = {};
	struct socket *sock;

	violations_begin(test);
	sock = peer_join_kofi(test, &end, PEER_REFUSES);
	KUNIT_ASSERT_EQ(test, fi_read(end.ep, mem, 8, NULL, 0, 0, 1, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_writemsg(end.ep, &write, FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
	KUNIT_ASSERT_EQ(test, fi_read(end.ep, mem + 8, 8, NULL, 0, 0, 1, vt_ctx(3)), 0);
	peer_recv(test, sock, msg, PEER_BASE + PEER_RMA);
	peer_recv(test, sock, msg, PEER_BASE + PEER_RMA + 8);
	peer_recv(test, sock, msg, PEER_BASE + PEER_RMA);

	peer_send(test, sock, msg, peer_refusal(msg, NULL, 1));
	vt_failed_with(test, end.tx, vt_ctx(1), EACCES);

	peer_send(test, sock, msg, peer_refusal(msg, &(u64){ 0 }, 2));
	peer_send(test, sock, msg, peer_op(msg, 3, 0, 8) + 8);
	vt_done(test, end.tx, vt_ctx(3));
	/* It is over when it is acknowledged */
	vt_none(test, end.tx);
	peer_send_ack(test, sock);
	vt_failed_with(test, end.tx, vt_ctx(2), EREMOTEIO);
	goes_on(test, sock, &end);
}

/* The endpoint has posted a write, number 0, and a message, number 1, and no read */
static const struct foul_case {
	const char		*name;
	enum ktcp_violation	reason;
	u8			understands;
	bool			twice;
	bool			cm;	/* a response to the request, once more */
	u16			flags;
	u8			op_data;
	u64			number;
} foul_cases[] = {
	{ "by one that has said nothing", KTCP_BAD_HEADER, 0, false, false, 1, 1, 0 },
	{ "by one that understands saves", KTCP_BAD_HEADER, PEER_SAVES, false, false, 1, 1, 0 },
	{ "by one that says it twice", KTCP_BAD_HEADER, PEER_REFUSES, false, true, 0, 0, 0 },
	{ "without a reason", KTCP_BAD_HEADER, PEER_REFUSES, false, false, 1, 0, 0 },
	{ "with another reason", KTCP_BAD_HEADER, PEER_REFUSES, false, false, 1, 3, 0 },
	{ "with other flags", KTCP_BAD_HEADER, PEER_REFUSES, false, false, 5, 1, 0 },
	{ "of a read", KTCP_BAD_READ_RSP, PEER_REFUSES, false, false, 0, 1, 0 },
	{ "of a message", KTCP_BAD_ACK, PEER_REFUSES, false, false, 1, 1, 1 },
	{ "of an operation to come", KTCP_BAD_ACK, PEER_REFUSES, false, false, 1, 1, 2 },
	{ "of one before the first", KTCP_BAD_ACK, PEER_REFUSES, false, false, 1, 1, U32_MAX },
	{ "of a long number", KTCP_BAD_ACK, PEER_REFUSES, false, false, 1, 1, 1ULL << 32 },
	{ "twice", KTCP_BAD_ACK, PEER_REFUSES, true, false, 1, 1, 0 },
};

KUNIT_ARRAY_PARAM_DESC(foul, foul_cases, name);

static void a_foul_refusal_ends_its_connection(struct kunit *test)
{
	const struct foul_case *row = test->param_value;
	u8 *mem = vt_buf(test, LEN), msg[PEER_CM + REFUSAL] = {};
	const struct fi_rma_iov rma = { .len = 8, .key = 1 };
	struct kvec kvec = { mem, 8 };
	const struct fi_msg_rma write = {
		.msg_iov = &kvec, .iov_count = 1, .rma_iov = &rma, .rma_iov_count = 1,
		.context = vt_ctx(1),
	};
	const struct fi_msg send = { .msg_iov = &kvec, .iov_count = 1, .context = vt_ctx(2) };
	u64 flags = FI_COMPLETION | FI_TRANSMIT_COMPLETE;
	struct vt_end end = {};
	struct socket *sock;
	size_t len;

	violations_begin(test);
	sock = peer_join_kofi(test, &end, row->understands);
	KUNIT_ASSERT_EQ(test, fi_writemsg(end.ep, &write, flags), 0);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(end.ep, &send, flags), 0);
	peer_recv(test, sock, vt_buf(test, 128), PEER_BASE + PEER_RMA + 8 + PEER_BASE + 8);
	if (row->cm) {
		len = peer_cm(msg, 1, NULL, 0);
		memcpy(msg + 16, "kOFI\0\0\0\x8", 8);
	} else {
		len = peer_hdr(msg, 8, row->flags, row->flags & 1 ? &row->number : NULL, NULL, 0,
			       0);
		msg[4] = row->op_data;
	}
	peer_send(test, sock, msg, len);
	if (row->twice)
		peer_send(test, sock, msg, len);
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	/* Each operation ends once */
	vt_failed(test, end.tx);
	vt_failed(test, end.tx);
	vt_none(test, end.tx);
	peer_hung_up(test, sock);
	expect_violations(test, 1, row->reason);
}

static struct kunit_case refusal_cases[] = {
	KUNIT_CASE_PARAM(a_read_is_refused_in_its_turn, access_gen_params),
	KUNIT_CASE_PARAM(a_write_is_refused_before_its_acknowledgment, access_gen_params),
	KUNIT_CASE(a_write_that_is_not_acknowledged_ends_the_connection),
	KUNIT_CASE(a_peer_that_leaves_in_a_refused_write_hears_nothing),
	KUNIT_CASE(a_write_whose_target_ends_is_refused),
	KUNIT_CASE(a_read_whose_target_ends_before_its_response_is_refused),
	KUNIT_CASE(a_refusal_that_has_not_been_sent_ends_with_its_connection),
	KUNIT_CASE(refusals_have_the_places_of_responses),
	KUNIT_CASE(reads_that_have_no_place_end_with_their_connection),
	KUNIT_CASE(a_refusal_is_an_error_of_its_operation),
	KUNIT_CASE_PARAM(a_foul_refusal_ends_its_connection, foul_gen_params),
	{}
};

static struct kunit_suite refusal_suite = {
	.name		= "kofi_tcp_refusal",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= refusal_cases,
};

kunit_test_suite(refusal_suite);
