// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads and writes of tagged receives (FI_TAGGED_RMA), byte by byte, and peers that lie about
 * them.
 */
#include <linux/delay.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include "../../providers/tcp/trace.h"
#include "rdm.h"

#define LEN	64
#define TAG	0x1234567890ULL
#define KEY	5
#define BIG	SZ_1M
#define BIGS	48	/* more than sockets and the places of responses have room for */

#define REFUSES	PEER_REFUSES
#define BOTH	(PEER_REFUSES | PEER_TAGGED)

#define DID_WRITE	(FI_TAGGED | FI_RMA | FI_WRITE)
#define DID_READ	(FI_TAGGED | FI_RMA | FI_READ)

static u8 *post(struct kunit *test, struct rdm_bed *bed, size_t len, u64 tag, void *context)
{
	u8 *buf = vt_buf(test, len);

	vt_fill(buf, len, 1);
	KUNIT_ASSERT_EQ(test, fi_trecv(bed->end.ep, buf, len, NULL, FI_ADDR_UNSPEC, tag, 0,
				       context), 0);
	return buf;
}

/* The peer reads, or writes what vt_fill() makes of 2 */
static void ask_read(struct kunit *test, struct rdm_bed *bed, u64 tag, u64 len)
{
	u8 msg[PEER_BASE + 16];

	peer_send(test, bed->sock, msg, peer_tagged_read(msg, tag, len));
}

static size_t make_write(u8 *msg, u16 flags, u64 tag, size_t len)
{
	static const u64 data = 0x77;
	size_t hdr = peer_tagged_write(msg, flags, flags & 1 ? &data : NULL, tag, len);

	vt_fill(msg + hdr, len, 2);
	return hdr + len;
}

static void ask_write(struct kunit *test, struct rdm_bed *bed, u16 flags, u64 tag, size_t len)
{
	u8 msg[PEER_BASE + 16 + 2 * LEN];

	peer_send(test, bed->sock, msg, make_write(msg, flags, tag, len));
}

static void expect_response(struct kunit *test, struct rdm_bed *bed, size_t len)
{
	u8 *buf = vt_buf(test, LEN);

	peer_expect_op(test, bed->sock, 3, 0, len);
	if (len)
		peer_recv(test, bed->sock, buf, len);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, len, 1));
}

static void expect_refusal(struct kunit *test, struct rdm_bed *bed, u8 reason)
{
	peer_expect_op(test, bed->sock, 8, reason, 0);
}

/* A message of the peer still finds its receive */
static void goes_on(struct kunit *test, struct rdm_bed *bed)
{
	post(test, bed, 8, TAG + 9, vt_ctx(9));
	peer_send_tagged(test, bed->sock, 0, TAG + 9, 8, 0);
	vt_done(test, bed->end.rx, vt_ctx(9));
	vt_none(test, bed->end.rx);
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

static void expect_receive(struct kunit *test, struct rdm_bed *bed, void *context, u64 flags,
			   size_t len)
{
	struct vt_comp comp = vt_done(test, bed->end.rx, context);

	KUNIT_EXPECT_EQ(test, comp.flags, flags | FI_RECV);
	KUNIT_EXPECT_EQ(test, comp.len, len);
	KUNIT_EXPECT_EQ(test, comp.tag, TAG);
	if (flags & FI_REMOTE_CQ_DATA)
		KUNIT_EXPECT_EQ(test, comp.data, 0x77);
}

/* In the order of the requests, as reads of regions are */
static void a_tagged_read_is_answered_in_its_turn(struct kunit *test)
{
	u8 *mem = vt_buf(test, LEN);
	struct rdm_bed bed = {};

	vt_fill(mem, LEN, 1);
	peer_region(test, mem, LEN, FI_REMOTE_READ, KEY);
	rdm_bed_open(test, &bed, 1, BOTH);
	post(test, &bed, LEN, TAG, vt_ctx(1));
	post(test, &bed, LEN, TAG, vt_ctx(2));
	ask_read(test, &bed, TAG, LEN);
	peer_send_read(test, bed.sock, KEY, 8);
	ask_read(test, &bed, TAG + 1, LEN);
	ask_read(test, &bed, TAG, LEN - 9);
	ask_read(test, &bed, TAG, LEN);
	expect_response(test, &bed, LEN);
	expect_response(test, &bed, 8);
	expect_refusal(test, &bed, 3);
	expect_response(test, &bed, LEN - 9);
	expect_refusal(test, &bed, 3);
	expect_receive(test, &bed, vt_ctx(1), DID_READ, LEN);
	expect_receive(test, &bed, vt_ctx(2), DID_READ, LEN - 9);
	post(test, &bed, LEN, TAG, vt_ctx(3));
	ask_read(test, &bed, TAG, U64_MAX >> 1);
	expect_refusal(test, &bed, 4);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed.end.rx).err, EMSGSIZE);
	goes_on(test, &bed);
}

static void a_tagged_write_is_answered_without_bytes(struct kunit *test)
{
	struct rdm_bed bed = {};
	u8 *mem;

	rdm_bed_open(test, &bed, 1, BOTH);
	mem = post(test, &bed, LEN, TAG, vt_ctx(1));
	ask_write(test, &bed, 1, TAG, LEN);
	ask_write(test, &bed, 0, TAG, LEN);
	peer_expect_op(test, bed.sock, 3, 0, 0);
	expect_refusal(test, &bed, 3);
	expect_receive(test, &bed, vt_ctx(1), DID_WRITE | FI_REMOTE_CQ_DATA, LEN);
	KUNIT_EXPECT_TRUE(test, vt_filled(mem, LEN, 2));

	mem = post(test, &bed, LEN, TAG, vt_ctx(2));
	ask_write(test, &bed, 0, TAG, LEN + 1);
	expect_refusal(test, &bed, 4);
	KUNIT_EXPECT_EQ(test, vt_failed(test, bed.end.rx).err, EMSGSIZE);
	KUNIT_EXPECT_TRUE(test, vt_filled(mem, LEN, 1));

	mem = post(test, &bed, LEN, TAG, vt_ctx(3));
	ask_write(test, &bed, 0, TAG, 0);
	peer_expect_op(test, bed.sock, 3, 0, 0);
	expect_receive(test, &bed, vt_ctx(3), DID_WRITE, 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(mem, LEN, 1));
	goes_on(test, &bed);
}

static void a_tagged_write_comes_however_it_is_split(struct kunit *test)
{
	u8 msg[PEER_BASE + 16 + LEN];
	struct rdm_bed bed = {};
	size_t i, len;
	u8 *mem;

	rdm_bed_open(test, &bed, 1, BOTH);
	mem = post(test, &bed, LEN, TAG, vt_ctx(1));
	len = make_write(msg, 1, TAG, LEN);
	for (i = 0; i < len; i++) {
		peer_send(test, bed.sock, msg + i, 1);
		if (!(i & 15))
			msleep(20);
	}
	peer_expect_op(test, bed.sock, 3, 0, 0);
	expect_receive(test, &bed, vt_ctx(1), DID_WRITE | FI_REMOTE_CQ_DATA, LEN);
	KUNIT_EXPECT_TRUE(test, vt_filled(mem, LEN, 2));
	goes_on(test, &bed);
}

/* A receive that names another sender, and memory of a client that has not asked for this */
static void what_is_not_for_the_peer_is_refused(struct kunit *test)
{
	struct sockaddr_storage name = { .ss_family = AF_INET };
	u8 *mem = vt_buf(test, LEN);
	struct rdm_bed bed = {};
	fi_addr_t other;

	rdm_bed_open(test, &bed, 1, BOTH);
	((struct sockaddr_in *)&name)->sin_addr.s_addr = htonl(RDM_HIGH);
	((struct sockaddr_in *)&name)->sin_port = htons(1);
	KUNIT_ASSERT_EQ(test, fi_av_insert(bed.end.av, &name, 1, &other, 0, NULL), 1);
	KUNIT_ASSERT_EQ(test, fi_trecv(bed.end.ep, mem, LEN, NULL, other, TAG, 0, vt_ctx(1)), 0);
	ask_read(test, &bed, TAG, LEN);
	ask_write(test, &bed, 0, TAG, LEN);
	expect_refusal(test, &bed, 3);
	expect_refusal(test, &bed, 3);
	KUNIT_ASSERT_EQ(test, fi_trecv(bed.end.ep, mem, LEN, NULL, bed.peer.addr, TAG, 0,
				       vt_ctx(2)), 0);
	ask_write(test, &bed, 0, TAG, LEN);
	peer_expect_op(test, bed.sock, 3, 0, 0);
	expect_receive(test, &bed, vt_ctx(2), DID_WRITE, LEN);
	goes_on(test, &bed);
}

static void an_endpoint_without_the_capability_refuses(struct kunit *test)
{
	struct rdm_bed bed = {};

	bed_caps(test, 0, FI_TAGGED_RMA);
	rdm_bed_open(test, &bed, 1, BOTH);
	post(test, &bed, LEN, TAG, vt_ctx(1));
	ask_read(test, &bed, TAG, LEN);
	ask_write(test, &bed, 0, TAG, LEN);
	expect_refusal(test, &bed, 1);
	expect_refusal(test, &bed, 1);
	goes_on(test, &bed);
}

/* rdm_dial() sees that it has not announced them */
static void an_endpoint_without_rma_hangs_up(struct kunit *test)
{
	struct rdm_bed bed = {};

	bed_caps(test, 0, FI_TAGGED_RMA | FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ |
		 FI_REMOTE_WRITE);
	rdm_bed_open(test, &bed, 1, BOTH);
	ask_read(test, &bed, TAG, LEN);
	peer_hung_up(test, bed.sock);
	expect_violations(test, 1, KTCP_BAD_ACCESS);
}

static ssize_t access(struct rdm_bed *bed, bool write, u8 *buf, size_t len, void *context,
		      u64 flags)
{
	const struct kvec iov = { buf, len };
	const struct fi_rma_iov rma = { .len = len, .key = TAG };
	const struct fi_msg_rma msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.addr		= bed->peer.addr,
		.rma_iov	= &rma,
		.rma_iov_count	= 1,
		.context	= context,
		.data		= 0x77,
	};

	flags |= FI_TAGGED | FI_COMPLETION;
	return write ? fi_writemsg(bed->end.ep, &msg, flags) : fi_readmsg(bed->end.ep, &msg, flags);
}

/* The peer gets what it has to, and answers, or refuses */
static void respond(struct kunit *test, struct rdm_bed *bed, u8 op, u8 reason, size_t len)
{
	u8 msg[PEER_BASE + 2 * LEN];

	peer_op(msg, op, reason, len);
	vt_fill(msg + PEER_BASE, len, 2);
	peer_send(test, bed->sock, msg, PEER_BASE + len);
}

static void expect_read(struct kunit *test, struct rdm_bed *bed)
{
	u8 want[PEER_BASE + 16];

	peer_tagged_read(want, TAG, LEN);
	peer_expect(test, bed->sock, want, sizeof(want));
}

static void expect_write(struct kunit *test, struct rdm_bed *bed)
{
	u8 want[PEER_BASE + 16 + LEN];

	KUNIT_ASSERT_EQ(test, make_write(want, 1, TAG, LEN), sizeof(want));
	peer_expect(test, bed->sock, want, sizeof(want));
}

static void an_access_completes_when_it_is_answered(struct kunit *test)
{
	u8 *in = vt_buf(test, LEN), *out = vt_buf(test, LEN);
	u64 flags = FI_REMOTE_CQ_DATA | FI_DELIVERY_COMPLETE;
	struct rdm_bed bed = {};

	vt_fill(out, LEN, 2);
	rdm_bed_open(test, &bed, 1, BOTH);
	KUNIT_ASSERT_EQ(test, access(&bed, false, in, LEN, vt_ctx(1), 0), 0);
	KUNIT_ASSERT_EQ(test, access(&bed, true, out, LEN, vt_ctx(2), flags), 0);
	expect_read(test, &bed);
	expect_write(test, &bed);
	vt_none(test, bed.end.tx);
	respond(test, &bed, 3, 0, LEN);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed.end.tx, vt_ctx(1)).flags, DID_READ);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, LEN, 2));
	vt_none(test, bed.end.tx);
	respond(test, &bed, 3, 0, 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, bed.end.tx, vt_ctx(2)).flags, DID_WRITE);
	goes_on(test, &bed);
}

static void a_refused_access_has_an_error(struct kunit *test)
{
	static const int errs[] = { 0, EACCES, EREMOTEIO, FI_ENOMSG, EMSGSIZE };
	u8 *in = vt_buf(test, LEN), *out = vt_buf(test, LEN);
	struct rdm_bed bed = {};
	int i;

	vt_fill(out, LEN, 2);
	rdm_bed_open(test, &bed, 1, BOTH);
	for (i = 1; i < ARRAY_SIZE(errs); i++) {
		KUNIT_ASSERT_EQ(test, access(&bed, false, in, LEN, vt_ctx(1), 0), 0);
		KUNIT_ASSERT_EQ(test, access(&bed, true, out, LEN, vt_ctx(2), FI_REMOTE_CQ_DATA),
				0);
		expect_read(test, &bed);
		expect_write(test, &bed);
		respond(test, &bed, 8, i, 0);
		respond(test, &bed, 8, i, 0);
		vt_failed_with(test, bed.end.tx, vt_ctx(1), errs[i]);
		vt_failed_with(test, bed.end.tx, vt_ctx(2), errs[i]);
	}
	goes_on(test, &bed);
}

/* Such as one of libfabric's, or of an older kOFI */
static void a_peer_that_has_not_announced_them_gets_none(struct kunit *test)
{
	static const u8 rows[] = { 0, REFUSES, PEER_TAGGED };
	u8 *buf = vt_buf(test, LEN), got[PEER_BASE + 8 + 8], want[PEER_BASE + 8];
	int i, write;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rdm_bed bed = {};

		rdm_bed_open(test, &bed, 1, rows[i]);
		for (write = 0; write < 2; write++) {
			KUNIT_ASSERT_EQ(test, access(&bed, write, buf, LEN, vt_ctx(1), 0), 0);
			vt_failed_with(test, bed.end.tx, vt_ctx(1), EOPNOTSUPP);
		}
		/* Nothing of them has been sent */
		KUNIT_ASSERT_EQ(test, fi_tinject(bed.end.ep, buf, 8, bed.peer.addr, TAG), 0);
		peer_recv(test, bed.sock, got, sizeof(got));
		peer_tagged(want, 0, NULL, TAG, 8);
		KUNIT_EXPECT_MEMEQ(test, got, want, sizeof(want));
		goes_on(test, &bed);
		vt_end_close(test, &bed.end);
	}
}

/* The endpoint has posted, as the row says, an access or a read of a region */
static const struct foul_case {
	const char		*name;
	enum ktcp_violation	reason;
	u8			understands;
	char			posted;	/* r: tagged read, w: tagged write, p: plain read */
	u8			op;
	u8			number;
	u64			len;	/* of the payload */
} foul_cases[] = {
	{ "read by one that has said nothing", KTCP_BAD_HEADER, 0, 0, 9, 0, 0 },
	{ "read by one that refuses", KTCP_BAD_HEADER, REFUSES, 0, 9, 0, 0 },
	{ "read by one that does not refuse", KTCP_BAD_HEADER, PEER_TAGGED, 0, 9, 0, 0 },
	{ "write by one that refuses", KTCP_BAD_HEADER, REFUSES, 0, 10, 0, 8 },
	{ "refusal of nothing", KTCP_BAD_READ_RSP, BOTH, 0, 8, 3, 0 },
	{ "no receive for a plain read", KTCP_BAD_READ_RSP, BOTH, 'p', 8, 3, 0 },
	{ "plain read of no size", KTCP_BAD_READ_RSP, BOTH, 'p', 8, 4, 0 },
	{ "no such reason", KTCP_BAD_HEADER, BOTH, 'r', 8, 5, 0 },
	{ "shorter response", KTCP_BAD_READ_RSP, BOTH, 'r', 3, 0, LEN - 1 },
	{ "longer response", KTCP_BAD_READ_RSP, BOTH, 'r', 3, 0, LEN + 1 },
	{ "response to a write with bytes", KTCP_BAD_READ_RSP, BOTH, 'w', 3, 0, LEN },
	{ "acknowledgment of a write", KTCP_BAD_ACK, BOTH, 'w', 0, 2, 0 },
};

KUNIT_ARRAY_PARAM_DESC(foul, foul_cases, name);

static void a_foul_access_ends_its_connection(struct kunit *test)
{
	const struct foul_case *row = test->param_value;
	u8 *buf = vt_buf(test, LEN), msg[PEER_BASE + 16 + 2 * LEN] = {};
	struct rdm_bed bed = {};
	u8 *mem;

	rdm_bed_open(test, &bed, 1, row->understands);
	mem = post(test, &bed, LEN, TAG, vt_ctx(1));
	if (row->posted == 'p')
		KUNIT_ASSERT_EQ(test, fi_read(bed.end.ep, buf, LEN, NULL, bed.peer.addr, 0, KEY,
					      vt_ctx(2)), 0);
	else if (row->posted)
		KUNIT_ASSERT_EQ(test, access(&bed, row->posted == 'w', buf, LEN, vt_ctx(2), 0), 0);
	if (row->posted)
		peer_recv(test, bed.sock, vt_buf(test, 256), row->posted == 'p' ? PEER_BASE +
			  PEER_RMA : row->posted == 'r' ? PEER_BASE + 16 : PEER_BASE + 8 + LEN);
	if (row->op == 9) {
		ask_read(test, &bed, TAG, LEN);
	} else if (row->op == 10) {
		ask_write(test, &bed, 0, TAG, row->len);
	} else {
		peer_send(test, bed.sock, msg,
			  peer_op(msg, row->op, row->number, row->len) + row->len);
	}
	peer_hung_up(test, bed.sock);
	if (row->posted)
		vt_failed(test, bed.end.tx);
	vt_none(test, bed.end.tx);
	/* No receive has been taken */
	vt_none(test, bed.end.rx);
	KUNIT_EXPECT_TRUE(test, vt_filled(mem, LEN, 1));
	expect_violations(test, 1, row->reason);
}

/* As long as the peer takes none, the endpoint has no more receives under way than responses */
static void accesses_have_the_places_of_responses(struct kunit *test)
{
	u8 *mem = vt_buf(test, BIG), *in = vt_buf(test, BIG);
	struct rdm_bed bed = {};
	int i;

	rdm_bed_open(test, &bed, 1, BOTH);
	vt_fill(mem, BIG, 3);
	for (i = 0; i < BIGS; i++)
		KUNIT_ASSERT_EQ(test, fi_trecv(bed.end.ep, mem, BIG, NULL, FI_ADDR_UNSPEC, TAG, 0,
					       vt_ctx(i + 1)), 0);
	for (i = 0; i < BIGS; i++)
		ask_read(test, &bed, TAG, BIG);
	msleep(100);
	/* The last of them has not been taken */
	KUNIT_EXPECT_EQ(test, fi_cancel(&bed.end.ep->fid, vt_ctx(BIGS)), 0);
	for (i = 0; i < BIGS - 1; i++) {
		peer_expect_op(test, bed.sock, 3, 0, BIG);
		peer_recv(test, bed.sock, in, BIG);
		KUNIT_EXPECT_TRUE(test, vt_filled(in, BIG, 3));
	}
	expect_refusal(test, &bed, 3);
	for (i = 0; i < BIGS; i++) {
		struct vt_comp comp;

		KUNIT_ASSERT_EQ(test, vt_wait(bed.end.rx, &comp), 1);
		KUNIT_EXPECT_EQ(test, comp.err, comp.context == vt_ctx(BIGS) ? ECANCELED : 0);
	}
	goes_on(test, &bed);
}

/* In the middle of a response.  Each receive ends once, and those of reads that wait stay */
static void a_reader_that_leaves_ends_its_receives(struct kunit *test)
{
	DECLARE_BITMAP(seen, BIGS + 1) = {};
	u8 *mem = vt_buf(test, BIG), msg[PEER_BASE + LEN];
	struct rdm_bed bed = {};
	struct vt_comp comp;
	int i, failed = 0;

	rdm_bed_open(test, &bed, 1, BOTH);
	for (i = 1; i <= BIGS; i++)
		KUNIT_ASSERT_EQ(test, fi_trecv(bed.end.ep, mem, BIG, NULL, FI_ADDR_UNSPEC, TAG, 0,
					       vt_ctx(i)), 0);
	for (i = 0; i < BIGS; i++)
		ask_read(test, &bed, TAG, BIG);
	peer_recv(test, bed.sock, msg, sizeof(msg));
	msleep(100);
	peer_close(test, bed.sock);
	msleep(100);
	for (i = 1; i <= BIGS; i++)
		fi_cancel(&bed.end.ep->fid, vt_ctx(i));
	for (i = 0; i < BIGS; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(bed.end.rx, &comp), 1);
		KUNIT_EXPECT_FALSE(test, test_and_set_bit(comp.context - vt_ctx(0), seen));
		failed += comp.err && comp.err != ECANCELED;
		KUNIT_EXPECT_EQ(test, comp.len, comp.err ? 0 : BIG);
		/* That of a receive that is cancelled is the engine's */
		KUNIT_EXPECT_EQ(test, comp.prov_errno, comp.err == ECANCELED ? ECANCELED : 0);
	}
	KUNIT_EXPECT_GT(test, failed, 0);
	KUNIT_EXPECT_LE(test, failed, 16);
	vt_none(test, bed.end.rx);
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

static void a_writer_that_leaves_ends_its_receive(struct kunit *test)
{
	u8 msg[PEER_BASE + 8 + LEN];
	struct rdm_bed bed = {};

	rdm_bed_open(test, &bed, 1, BOTH);
	post(test, &bed, LEN, TAG, vt_ctx(1));
	post(test, &bed, LEN, TAG, vt_ctx(2));
	peer_send(test, bed.sock, msg, make_write(msg, 0, TAG, LEN) - 1);
	msleep(50);
	peer_close(test, bed.sock);
	KUNIT_EXPECT_PTR_EQ(test, vt_failed(test, bed.end.rx).context, vt_ctx(1));
	/* A stale tag does not meet the next receive */
	vt_none(test, bed.end.rx);
	KUNIT_EXPECT_EQ(test, fi_cancel(&bed.end.ep->fid, vt_ctx(2)), 0);
	KUNIT_EXPECT_PTR_EQ(test, vt_failed(test, bed.end.rx).context, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

static struct kunit_case tagged_rma_cases[] = {
	KUNIT_CASE(a_tagged_read_is_answered_in_its_turn),
	KUNIT_CASE(a_tagged_write_is_answered_without_bytes),
	KUNIT_CASE(a_tagged_write_comes_however_it_is_split),
	KUNIT_CASE(what_is_not_for_the_peer_is_refused),
	KUNIT_CASE(an_endpoint_without_the_capability_refuses),
	KUNIT_CASE(an_endpoint_without_rma_hangs_up),
	KUNIT_CASE(an_access_completes_when_it_is_answered),
	KUNIT_CASE(a_refused_access_has_an_error),
	KUNIT_CASE(a_peer_that_has_not_announced_them_gets_none),
	KUNIT_CASE_PARAM(a_foul_access_ends_its_connection, foul_gen_params),
	KUNIT_CASE(accesses_have_the_places_of_responses),
	KUNIT_CASE(a_reader_that_leaves_ends_its_receives),
	KUNIT_CASE(a_writer_that_leaves_ends_its_receive),
	{}
};

static int tagged_rma_init(struct kunit *test)
{
	int ret = bed_init_rdm(test);

	if (ret)
		return ret;
	violations_begin(test);
	bed_caps(test, FI_TAGGED_RMA, 0);
	return 0;
}

static struct kunit_suite tagged_rma_suite = {
	.name		= "kofi_tcp_tagged_rma",
	.init		= tagged_rma_init,
	.exit		= vt_exit,
	.test_cases	= tagged_rma_cases,
};

kunit_test_suite(tagged_rma_suite);
