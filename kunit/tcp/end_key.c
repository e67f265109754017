// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages that end a key of their receiver (FI_REMOTE_INV), byte by byte, and peers that lie
 * about them.
 */
#include <rdma/fi_rma.h>
#include "../../providers/tcp/trace.h"
#include "tcp.h"

#define LEN	64

#define REFUSES	PEER_REFUSES
#define ENDS	PEER_ENDS_KEYS

struct bed {
	struct vt_end	end;
	struct socket	*sock;
	struct fid_mr	*mr;
	u64		key;
	u8		*mem;
};

static void bed_join(struct kunit *test, struct bed *bed, u8 understands)
{
	bed->sock = peer_join_kofi(test, &bed->end, understands);
	bed->mem = vt_buf(test, LEN);
	bed->mr = peer_ep_region(test, &bed->end, bed->mem, LEN, FI_REMOTE_READ);
	bed->key = fi_mr_key(bed->mr);
}

/* A message of eight bytes */
static void put(struct kunit *test, struct bed *bed, u16 flags, u64 key)
{
	u8 msg[PEER_BASE + 8 + 8] = {};
	size_t len = peer_hdr(msg, 0, flags, flags & 1 ? &key : NULL, NULL, 0, 8);

	peer_send(test, bed->sock, msg, len + 8);
}

static void read_region(struct kunit *test, struct bed *bed)
{
	peer_send_read(test, bed->sock, bed->key, 8);
}

static void a_message_ends_a_key_before_it_is_received(struct kunit *test)
{
	u8 *in = vt_buf(test, 8), bytes[8];
	struct bed bed = {};
	struct vt_comp comp;
	int i;

	bed_join(test, &bed, REFUSES | ENDS);
	/* What the peer has read is no matter any more */
	read_region(test, &bed);
	peer_recv(test, bed.sock, vt_buf(test, PEER_BASE), PEER_BASE);
	peer_recv(test, bed.sock, bytes, sizeof(bytes));
	KUNIT_EXPECT_EQ(test, fi_mr_disable(bed.mr, FI_REMOTE_INV, NULL), -FI_EOPBADSTATE);
	put(test, &bed, 0x41, bed.key);
	for (i = 0; i < 100 && fi_mr_key(bed.mr) != FI_KEY_NOTAVAIL; i++)
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, fi_mr_key(bed.mr), FI_KEY_NOTAVAIL);
	vt_none(test, bed.end.rx);
	vt_recv(test, &bed.end, in, 8, vt_ctx(1));
	comp = vt_done(test, bed.end.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV | FI_REMOTE_INV);
	KUNIT_EXPECT_EQ(test, comp.data, bed.key);
	KUNIT_EXPECT_EQ(test, fi_mr_disable(bed.mr, FI_REMOTE_INV, NULL), 0);
	/* The key is nobody's now */
	read_region(test, &bed);
	peer_expect_op(test, bed.sock, 8, 1, 0);
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

/* And the message takes no receive */
static void a_wrong_key_is_refused(struct kunit *test)
{
	u8 *in = vt_buf(test, 8), want[PEER_BASE + 8];
	const u64 number = 1;
	struct bed bed = {};
	struct vt_comp comp;

	bed_join(test, &bed, REFUSES | ENDS);
	vt_recv(test, &bed.end, in, 8, vt_ctx(1));
	vt_recv(test, &bed.end, in, 8, vt_ctx(2));
	put(test, &bed, 4, 0);
	peer_expect_ack(test, bed.sock);
	put(test, &bed, 0x45, bed.key + 1);
	put(test, &bed, 0x45, bed.key);
	peer_expect(test, bed.sock, want, peer_refusal(want, &number, 1));
	peer_expect_ack(test, bed.sock);
	peer_expect_ack(test, bed.sock);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed.end.rx, vt_ctx(1)).flags, FI_MSG | FI_RECV);
	comp = vt_done(test, bed.end.rx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV | FI_REMOTE_INV);
	vt_none(test, bed.end.rx);
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

static const struct foul_case {
	const char		*name;
	enum ktcp_violation	reason;
	u8			understands;
	u16			flags;
	bool			wrong;
} foul_cases[] = {
	{ "by one that has said nothing", KTCP_BAD_HEADER, 0, 0x41, false },
	{ "by one that refuses", KTCP_BAD_HEADER, REFUSES, 0x45, false },
	{ "of no key", KTCP_BAD_HEADER, REFUSES | ENDS, 0x40, false },
	{ "wrong, without acknowledgment", KTCP_BAD_ACCESS, REFUSES | ENDS, 0x41, true },
	{ "wrong, by one that refuses nothing", KTCP_BAD_ACCESS, ENDS, 0x45, true },
};

KUNIT_ARRAY_PARAM_DESC(foul, foul_cases, name);

static void a_foul_end_of_a_key_ends_its_connection(struct kunit *test)
{
	const struct foul_case *row = test->param_value;
	struct bed bed = {};

	bed_join(test, &bed, row->understands);
	vt_recv(test, &bed.end, vt_buf(test, 8), 8, vt_ctx(1));
	put(test, &bed, row->flags, bed.key + row->wrong);
	vt_event(test, bed.end.eq, FI_SHUTDOWN, NULL);
	peer_hung_up(test, bed.sock);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed.end.rx).err, ECANCELED);
	expect_violations(test, 1, row->reason);
	/* The client's region is as it was */
	KUNIT_EXPECT_EQ(test, fi_mr_disable(bed.mr, FI_REMOTE_INV, NULL), -FI_EOPBADSTATE);
}

static ssize_t end_key(struct bed *bed, u64 flags)
{
	const struct kvec iov = { bed->mem, 8 };
	const struct fi_msg msg = {
		.msg_iov = &iov, .iov_count = 1, .context = vt_ctx(3), .data = 0x1234,
	};

	return fi_sendmsg(bed->end.ep, &msg, FI_REMOTE_INV | FI_COMPLETION | flags);
}

static void an_end_of_a_key_is_sent_as_it_is_specified(struct kunit *test)
{
	static const u64 flags[] = { 0, FI_TRANSMIT_COMPLETE };
	u8 want[PEER_BASE + 8], msg[PEER_BASE + 8], bytes[8];
	const u64 key = 0x1234, number = 0;
	struct bed bed = {};
	int i;

	bed_join(test, &bed, REFUSES | ENDS);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		KUNIT_ASSERT_EQ(test, end_key(&bed, flags[i]), 0);
		peer_hdr(want, 0, i ? 0x45 : 0x41, &key, NULL, 0, 8);
		peer_expect(test, bed.sock, want, sizeof(want));
		peer_recv(test, bed.sock, bytes, sizeof(bytes));
		if (!i)
			vt_done(test, bed.end.tx, vt_ctx(3));
	}
	/* The second one is refused */
	peer_send(test, bed.sock, msg, peer_refusal(msg, &number, 1));
	vt_none(test, bed.end.tx);
	peer_send_ack(test, bed.sock);
	vt_failed_with(test, bed.end.tx, vt_ctx(3), EACCES);
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

static void a_peer_that_has_not_announced_it_is_sent_none(struct kunit *test)
{
	u8 want[PEER_BASE], got[PEER_BASE + 8];
	struct bed bed = {};

	bed_join(test, &bed, REFUSES);
	KUNIT_EXPECT_EQ(test, end_key(&bed, 0), -EOPNOTSUPP);
	KUNIT_ASSERT_EQ(test, fi_send(bed.end.ep, bed.mem, 8, NULL, 0, vt_ctx(1)), 0);
	peer_hdr(want, 0, 0, NULL, NULL, 0, 8);
	peer_recv(test, bed.sock, got, sizeof(got));
	KUNIT_EXPECT_MEMEQ(test, got, want, sizeof(want));
	vt_done(test, bed.end.tx, vt_ctx(1));
	vt_none(test, bed.end.tx);
}

static struct kunit_case end_key_cases[] = {
	KUNIT_CASE(a_message_ends_a_key_before_it_is_received),
	KUNIT_CASE(a_wrong_key_is_refused),
	KUNIT_CASE_PARAM(a_foul_end_of_a_key_ends_its_connection, foul_gen_params),
	KUNIT_CASE(an_end_of_a_key_is_sent_as_it_is_specified),
	KUNIT_CASE(a_peer_that_has_not_announced_it_is_sent_none),
	{}
};

static int end_key_init(struct kunit *test)
{
	int ret = bed_init(test);

	if (!ret)
		violations_begin(test);
	return ret;
}

static struct kunit_suite end_key_suite = {
	.name		= "kofi_tcp_end_key",
	.init		= end_key_init,
	.exit		= vt_exit,
	.test_cases	= end_key_cases,
};

kunit_test_suite(end_key_suite);
