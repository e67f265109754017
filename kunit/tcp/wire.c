// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The parsers of providers/tcp/wire.c, which is compiled into this module: they keep no
 * state and know no socket.
 */
#include <linux/prandom.h>
#include "tcp.h"
#include "../../providers/tcp/wire.c"

static const u64 some_data = 0xfedcba9876543210ULL;
static const u64 some_tag = 0x0123456789abcdefULL;
static const u64 some_announced = 0x123456789ULL;
static const u8 some_number = 0xfe;
static const struct fi_rma_iov some_rma[] = {
	{ .addr = 0x1000, .len = 10, .key = 7 },
	{ .addr = 0x2000, .len = 20, .key = 8 },
	{ .addr = 0, .len = 30, .key = U64_MAX - 1 },
	{ .addr = U64_MAX, .len = 0, .key = 0 },
};

static const struct header_case {
	const char	*name;
	u8		op;
	u16		flags;
	bool		data;
	u8		count;
	u64		payload;
} header_cases[] = {
	{ "message", 0, 0, false, 0, 100 },
	{ "message without bytes", 0, 4, false, 0, 0 },
	{ "message with data", 0, 1, true, 0, 100 },
	{ "message that ends a key", 0, 0x45, true, 0, 100 },
	{ "message with a tag", 0, 0x80, false, 0, 100 },
	{ "message with a tag and data", 0, 0x85, true, 0, 100 },
	{ "write", 4, 0, false, 1, 10 },
	{ "write of two ranges with data", 4, 5, true, 2, 30 },
	{ "write of four ranges", 4, 0, false, 4, 60 },
	{ "committed write with data", 4, 9, true, 1, 10 },
	{ "save with data", 4, 0x19, true, 1, 0 },
	{ "save of what was read", 2, 0x18, false, 2, 0 },
	{ "save of messages", 0, 0x14, false, 0, 0 },
	{ "read request", 2, 0, false, 1, 0 },
	{ "read request of four ranges", 2, 0, false, 4, 0 },
	{ "response", 3, 0, false, 0, 60 },
	{ "tagged message", 1, 4, false, 0, 100 },
	{ "tagged message with data", 1, 1, true, 0, 100 },
	{ "RTS", 5, 4, false, 0, 0 },
	{ "RTS with data", 5, 1, true, 0, 0 },
	{ "CTS", 6, 0, false, 0, 0 },
	{ "payload of an RTS with data", 7, 5, false, 0, 100 },
	{ "refusal of a read", 8, 0, false, 0, 0 },
	{ "refusal of a write", 8, 1, true, 0, 0 },
	{ "tagged read", 9, 0, false, 0, 0 },
	{ "tagged write", 10, 0, false, 0, 100 },
	{ "tagged write with data", 10, 1, true, 0, 100 },
	{ "the longest message", 0, 0, false, 0, SIZE_MAX - PEER_BASE },
};

KUNIT_ARRAY_PARAM_DESC(header, header_cases, name);

static bool has_tag(const struct header_case *row)
{
	return row->op == 1 || row->op == 5 || row->op >= 9 || row->flags & 0x80;
}

/* Of a refusal it is the reason */
static u8 number_of(const struct header_case *row)
{
	return row->op == 8 ? 2 : some_number;
}

static size_t make(u8 *buf, const struct header_case *row)
{
	size_t len;

	if (row->op == 5)
		return peer_rts(buf, row->flags, row->data ? &some_data : NULL,
				some_tag, some_announced, some_number);
	if (row->op == 1)
		return peer_tagged(buf, row->flags, row->data ? &some_data : NULL,
				   some_tag, row->payload);
	if (row->op == 9)
		return peer_tagged_read(buf, some_tag, some_announced);
	if (row->op == 10)
		return peer_tagged_write(buf, row->flags, row->data ? &some_data : NULL,
					 some_tag, row->payload);
	if (row->flags & 0x80) {
		len = peer_tagged(buf, row->flags, row->data ? &some_data : NULL, some_tag,
				  row->payload);
		buf[1] = 0;
		return len;
	}
	len = peer_hdr(buf, row->op, row->flags, row->data ? &some_data : NULL,
		       row->count ? some_rma : NULL, row->count, row->payload);
	if (row->op > 5)
		buf[4] = number_of(row);
	return len;
}

static void parse(struct kunit *test, bool net_order)
{
	const struct header_case *row = test->param_value;
	u8 buf[TCP_WIRE_MAX_HDR];
	struct ktcp_hdr hdr;
	size_t len, have;
	int ret;

	len = make(buf, row);
	memset(&hdr, 0xff, sizeof(hdr));
	for (have = 0; have < len; have++) {
		ret = ktcp_hdr_parse(&hdr, buf, have, net_order);
		KUNIT_EXPECT_GT(test, ret, (int)have);
		KUNIT_EXPECT_LE(test, ret, (int)len);
	}
	KUNIT_ASSERT_EQ(test, ktcp_hdr_parse(&hdr, buf, len, net_order), 0);
	KUNIT_EXPECT_EQ(test, hdr.op, row->op);
	KUNIT_EXPECT_EQ(test, hdr.flags, row->flags);
	KUNIT_EXPECT_FALSE(test, hdr.ack);
	KUNIT_EXPECT_EQ(test, hdr.len, row->payload);
	KUNIT_EXPECT_EQ(test, hdr.data, row->data ? some_data : 0);
	KUNIT_EXPECT_EQ(test, hdr.tag, has_tag(row) ? some_tag : 0);
	KUNIT_EXPECT_EQ(test, hdr.number, row->op >= 5 && row->op < 9 ? number_of(row) : 0);
	KUNIT_EXPECT_EQ(test, hdr.msg_len, row->op == 5 || row->op == 9 ? some_announced : 0);
	KUNIT_EXPECT_EQ(test, hdr.count, row->count);
	KUNIT_EXPECT_MEMEQ(test, hdr.rma, some_rma, row->count * sizeof(some_rma[0]));
}

static void a_header_is_parsed_wherever_it_is_split(struct kunit *test)
{
	parse(test, false);
}

static void a_header_of_another_order_is_parsed(struct kunit *test)
{
	peer_foreign = true;
	parse(test, true);
}

static void build(struct kunit *test, bool net_order)
{
	const struct header_case *row = test->param_value;
	u8 buf[TCP_WIRE_MAX_HDR], built[TCP_WIRE_MAX_HDR];
	struct ktcp_hdr hdr;
	size_t len = make(buf, row);

	KUNIT_ASSERT_EQ(test, ktcp_hdr_parse(&hdr, buf, len, net_order), 0);
	KUNIT_ASSERT_EQ(test, ktcp_hdr_build(built, &hdr, 0x77, net_order), len);
	buf[7] = 0x77;
	KUNIT_EXPECT_MEMEQ(test, built, buf, len);
}

static void a_header_is_built_as_peers_build_it(struct kunit *test)
{
	build(test, false);
}

static void a_header_of_another_order_is_built(struct kunit *test)
{
	peer_foreign = true;
	build(test, true);
}

static void an_acknowledgment_is_told_from_a_message(struct kunit *test)
{
	const struct ktcp_hdr ack = { .op = TCP_WIRE_MSG, .ack = true };
	u8 buf[TCP_WIRE_MAX_HDR];
	struct ktcp_hdr hdr;

	KUNIT_EXPECT_EQ(test, ktcp_hdr_build(buf, &ack, 0, false), PEER_BASE);
	KUNIT_EXPECT_EQ(test, buf[4], 2);
	KUNIT_EXPECT_EQ(test, ktcp_hdr_parse(&hdr, buf, PEER_BASE, false), 0);
	KUNIT_EXPECT_TRUE(test, hdr.ack);
	/* It ends no key */
	buf[2] = 0x41;
	KUNIT_EXPECT_NE(test, ktcp_hdr_parse(&hdr, buf, PEER_BASE, false), 0);
	buf[2] = 0;
	/* It has no payload */
	buf[8]++;
	KUNIT_EXPECT_EQ(test, ktcp_hdr_parse(&hdr, buf, PEER_BASE, false), -EPROTO);
}

/* What libfabric leaves in fields that an operation does not have is ignored */
static void stale_fields_are_ignored(struct kunit *test)
{
	u8 buf[TCP_WIRE_MAX_HDR];
	struct ktcp_hdr hdr;
	size_t len;

	len = peer_hdr(buf, 0, 0, NULL, NULL, 200, 5);
	KUNIT_EXPECT_EQ(test, ktcp_hdr_parse(&hdr, buf, len, false), 0);
	KUNIT_EXPECT_EQ(test, hdr.count, 0);
	/* A response repeats the flags of its request */
	len = peer_hdr(buf, 3, 5, NULL, NULL, 4, 5);
	KUNIT_EXPECT_EQ(test, ktcp_hdr_parse(&hdr, buf, len, false), 0);
	KUNIT_EXPECT_EQ(test, hdr.len, 5);
	buf[0] = 99;
	KUNIT_EXPECT_EQ(test, ktcp_hdr_parse(&hdr, buf, len, false), 0);
}

static const struct bad_case {
	const char	*name;
	u8		op;
	u16		flags;
	u8		count;
	u8		hdr_size;
	u64		size;
} bad_cases[] = {
	{ "tagged message without its tag", 1, 0, 0, 16, 16 },
	{ "commit of a tagged message", 1, 8, 0, 24, 24 },
	{ "RTS without its length", 5, 0, 0, 24, 24 },
	{ "RTS with payload", 5, 0, 0, 32, 33 },
	{ "commit of an RTS", 5, 8, 0, 32, 32 },
	{ "CTS with payload", 6, 0, 0, 16, 17 },
	{ "CTS with a tag", 6, 0, 0, 24, 24 },
	{ "payload with a tag", 7, 0, 0, 24, 30 },
	{ "refusal without a reason", 8, 0, 0, 16, 16 },
	{ "tagged read without its length", 9, 0, 0, 24, 24 },
	{ "tagged read with payload", 9, 0, 0, 32, 33 },
	{ "tagged read that is to be acknowledged", 9, 4, 0, 32, 32 },
	{ "tagged read with data", 9, 1, 0, 40, 40 },
	{ "save of a tagged read", 9, 0x10, 0, 32, 32 },
	{ "tagged write without its tag", 10, 0, 0, 16, 16 },
	{ "tagged write with a length", 10, 0, 0, 32, 32 },
	{ "tagged write that is to be acknowledged", 10, 4, 0, 24, 24 },
	{ "commit of a tagged write", 10, 8, 0, 24, 24 },
	{ "save of a tagged write", 10, 0x10, 0, 24, 24 },
	{ "tagged write that leaves", 10, 0x21, 0, 32, 32 },
	{ "no operation", 11, 0, 0, 16, 16 },
	{ "no operation at all", 255, 0, 0, 16, 16 },
	{ "short header", 0, 0, 0, 15, 16 },
	{ "no header", 0, 0, 0, 0, 16 },
	{ "long header", 0, 0, 0, 24, 24 },
	{ "header without its data", 0, 1, 0, 16, 16 },
	{ "message shorter than its header", 0, 0, 0, 16, 15 },
	{ "message of no bytes", 0, 0, 0, 16, 0 },
	{ "write without ranges", 4, 0, 0, 16, 16 },
	{ "write with five ranges", 4, 0, 5, 136, 136 },
	{ "write with 255 ranges", 4, 0, 255, 120, 120 },
	{ "read without ranges", 2, 0, 0, 16, 16 },
	{ "read with five ranges", 2, 0, 5, 136, 136 },
	{ "write with more payload than range", 4, 0, 1, 40, 51 },
	{ "write with less payload than range", 4, 0, 1, 40, 49 },
	{ "read with payload", 2, 0, 1, 40, 41 },
	{ "commit of a read", 2, 8, 1, 40, 40 },
	{ "commit of a message", 0, 8, 0, 16, 16 },
	{ "commit of a response", 3, 8, 0, 16, 16 },
	{ "save with payload", 4, 0x10, 1, 40, 50 },
	{ "save of messages with payload", 0, 0x10, 0, 16, 17 },
	{ "save and commit of messages", 0, 0x18, 0, 16, 16 },
	{ "save of a tagged message", 1, 0x10, 0, 24, 24 },
	{ "save of a response", 3, 0x10, 0, 16, 16 },
	{ "save without ranges", 4, 0x18, 0, 16, 16 },
	{ "message with a tag, without it", 0, 0x80, 0, 16, 16 },
	{ "message with a tag and data, without one", 0, 0x81, 0, 24, 24 },
	{ "commit of a message with a tag", 0, 0x88, 0, 24, 24 },
	{ "save of messages with a tag", 0, 0x90, 0, 24, 24 },
	{ "message with a tag that leaves", 0, 0xa1, 0, 32, 32 },
	{ "message with a tag that ends a key", 0, 0xc1, 0, 32, 32 },
	{ "end of no key", 0, 0x40, 0, 16, 16 },
	{ "save that ends a key", 0, 0x51, 0, 24, 24 },
	{ "leave that ends a key", 0, 0x61, 0, 24, 24 },
	{ "tagged message that ends a key", 1, 0x41, 0, 32, 32 },
	{ "write that ends a key", 4, 0x41, 1, 48, 58 },
	{ "read that ends a key", 2, 0x41, 1, 48, 48 },
	{ "response that ends a key", 3, 0x41, 0, 16, 16 },
	{ "refusal that ends a key", 8, 0x41, 0, 24, 24 },
	{ "tagged write that ends a key", 10, 0x41, 0, 32, 32 },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_cases, name);

static void what_is_no_header_is_refused(struct kunit *test)
{
	const struct bad_case *row = test->param_value;
	u8 buf[256] = {};
	struct ktcp_hdr hdr;

	peer_hdr(buf, row->op, row->flags, NULL, NULL, 0, 0);
	memcpy(buf + PEER_BASE, some_rma, sizeof(some_rma));
	buf[5] = row->count;
	buf[6] = row->hdr_size;
	memcpy(buf + 8, &row->size, sizeof(row->size));
	KUNIT_EXPECT_EQ(test, ktcp_hdr_parse(&hdr, buf, sizeof(buf), false), -EPROTO);
}

/* In a header that is right otherwise */
static void a_refusal_has_a_reason_and_nothing_else(struct kunit *test)
{
	static const struct {
		u8	reason;
		u16	flags;
		u64	payload;
		int	ret;
	} rows[] = {
		{ 1, 1, 0, 0 }, { 2, 1, 0, 0 }, { 0, 1, 0, -EPROTO }, { 3, 1, 0, -EPROTO },
		{ 255, 1, 0, -EPROTO }, { 1, 1, 1, -EPROTO }, { 1, 5, 0, -EPROTO },
		{ 1, 9, 0, -EPROTO }, { 1, 0x11, 0, -EPROTO }, { 1, 0x21, 0, -EPROTO },
		{ 1, 0x8001, 0, -EPROTO },
		/* Reasons of tagged reads and writes, which have no number */
		{ 3, 0, 0, 0 }, { 4, 0, 0, 0 }, { 5, 0, 0, -EPROTO }, { 4, 1, 0, -EPROTO },
	};
	u8 buf[PEER_BASE + 8];
	struct ktcp_hdr hdr;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		peer_hdr(buf, 8, rows[i].flags, rows[i].flags & 1 ? &some_data : NULL, NULL, 0,
			 rows[i].payload);
		buf[4] = rows[i].reason;
		KUNIT_EXPECT_EQ_MSG(test, ktcp_hdr_parse(&hdr, buf, sizeof(buf), false),
				    rows[i].ret, "row %zu", i);
	}
}

static void a_refusal_of_an_rts_has_its_number(struct kunit *test)
{
	static const struct {
		u8	reason;
		u16	flags;
		u64	number;
		int	ret;
	} rows[] = {
		{ 3, 3, 1, 0 }, { 3, 3, 255, 0 }, { 3, 3, 0, -EPROTO }, { 3, 3, 256, -EPROTO },
		{ 1, 3, 1, -EPROTO }, { 4, 3, 1, -EPROTO }, { 3, 7, 1, -EPROTO },
	};
	u8 buf[PEER_BASE + 8], built[TCP_WIRE_MAX_HDR];
	struct ktcp_hdr hdr;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		peer_hdr(buf, 8, rows[i].flags, &rows[i].number, NULL, 0, 0);
		buf[4] = rows[i].reason;
		KUNIT_EXPECT_EQ_MSG(test, ktcp_hdr_parse(&hdr, buf, sizeof(buf), false),
				    rows[i].ret, "row %zu", i);
		if (rows[i].ret)
			continue;
		KUNIT_EXPECT_EQ(test, ktcp_hdr_build(built, &hdr, buf[7], false), sizeof(buf));
		KUNIT_EXPECT_MEMEQ(test, built, buf, sizeof(buf));
	}
	/* It does not do without */
	peer_hdr(buf, 8, 2, NULL, NULL, 0, 0);
	buf[4] = 3;
	KUNIT_EXPECT_EQ(test, ktcp_hdr_parse(&hdr, buf, PEER_BASE, false), -EPROTO);
}

static void ranges_that_cannot_be_added_are_refused(struct kunit *test)
{
	struct fi_rma_iov rma[] = { { .len = U64_MAX }, { .len = 11 } };
	u8 buf[TCP_WIRE_MAX_HDR];
	struct ktcp_hdr hdr;
	size_t len;

	len = peer_hdr(buf, 4, 0, NULL, rma, 2, 10);
	KUNIT_EXPECT_EQ(test, ktcp_hdr_parse(&hdr, buf, len, false), -EPROTO);
	len = peer_hdr(buf, 2, 0, NULL, rma, 2, 0);
	KUNIT_EXPECT_EQ(test, ktcp_hdr_parse(&hdr, buf, len, false), -EPROTO);
}

/* Whatever comes, a parser says how many bytes it wants, or that it wants none */
static void random_bytes_are_parsed_or_refused(struct kunit *test)
{
	struct rnd_state rnd;
	u8 buf[TCP_WIRE_MAX_HDR];
	struct ktcp_hdr hdr;
	int i, have, ret;

	prandom_seed_state(&rnd, 4711);
	for (i = 0; i < 20000; i++) {
		prandom_bytes_state(&rnd, buf, sizeof(buf));
		buf[1] %= TCP_WIRE_TAGGED_WRITE + 1;
		buf[3] = 0;
		buf[5] &= 7;
		if (i & 1)
			buf[6] = PEER_BASE + PEER_RMA * (i % 5);
		have = 0;
		while ((ret = ktcp_hdr_parse(&hdr, buf, have, false)) > have)
			have = ret;
		KUNIT_ASSERT_LE_MSG(test, have, (int)TCP_WIRE_MAX_HDR,
				    "at %d", i);
		KUNIT_ASSERT_TRUE_MSG(test, !ret || ret == -EPROTO,
				      "%d at %d", ret, i);
		if (!ret)
			KUNIT_ASSERT_LE(test, hdr.count, KOFI_RMA_MAX_IOV);
	}
}

static void requests_and_responses_are_parsed(struct kunit *test)
{
	static const u8 types[] = { 0, 1, 6 };
	u8 buf[PEER_CM + TCP_WIRE_CM_DATA] = {};
	struct ktcp_wire_cm cm;
	bool net_order;
	size_t len, i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		peer_cm(buf, types[i], buf + PEER_CM, TCP_WIRE_CM_DATA);
		memcpy(&cm, buf, sizeof(cm));
		KUNIT_EXPECT_EQ(test, ktcp_cm_parse(&cm, &len, &net_order), types[i]);
		KUNIT_EXPECT_FALSE(test, net_order);
		KUNIT_EXPECT_EQ(test, len, TCP_WIRE_CM_DATA);
		KUNIT_EXPECT_FALSE(test, ktcp_cm_can(&cm, TCP_WIRE_CAN_SAVE));
		if (types[i] != 6)
			peer_announce(buf);
		ktcp_cm_build(&cm, types[i], types[i] != 6 ? TCP_WIRE_CAN_SAVE : 0,
			      TCP_WIRE_CM_DATA);
		KUNIT_EXPECT_EQ(test, ktcp_cm_can(&cm, TCP_WIRE_CAN_SAVE), types[i] != 6);
		KUNIT_EXPECT_MEMEQ(test, &cm, buf, sizeof(cm));
	}
}

/* Another number there is another program's, and bits that are not known say nothing */
static void only_kofi_is_taken_for_kofi(struct kunit *test)
{
	static const u64 others[] = { 0, 1, U64_MAX, TCP_WIRE_KOFI, TCP_WIRE_KOFI | 2,
				      TCP_WIRE_KOFI ^ BIT_ULL(32) ^ 1 };
	struct ktcp_wire_cm cm = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		cm.msg_id = cpu_to_be64(others[i]);
		KUNIT_EXPECT_FALSE(test, ktcp_cm_can(&cm, TCP_WIRE_CAN_SAVE));
	}
	cm.msg_id = cpu_to_be64(TCP_WIRE_KOFI | 3);
	KUNIT_EXPECT_TRUE(test, ktcp_cm_can(&cm, TCP_WIRE_CAN_SAVE));
}

static void a_request_tells_the_byte_order(struct kunit *test)
{
	struct ktcp_wire_cm cm;
	bool net_order = false;
	u8 buf[PEER_CM];
	size_t len;

	peer_foreign = true;
	peer_cm(buf, 0, NULL, 0);
	memcpy(&cm, buf, sizeof(cm));
	KUNIT_EXPECT_EQ(test, ktcp_cm_parse(&cm, &len, &net_order), 0);
	KUNIT_EXPECT_TRUE(test, net_order);
}

static void malformed_requests_are_refused(struct kunit *test)
{
	u8 buf[PEER_CM];
	struct ktcp_wire_cm cm;
	bool net_order;
	size_t len;

	peer_cm(buf, 0, NULL, 0);
	memcpy(&cm, buf, sizeof(cm));
	cm.version = 2;
	KUNIT_EXPECT_EQ(test, ktcp_cm_parse(&cm, &len, &net_order), -ENOPROTOOPT);
	memcpy(&cm, buf, sizeof(cm));
	cm.seg_size = cpu_to_be16(TCP_WIRE_CM_DATA + 1);
	KUNIT_EXPECT_EQ(test, ktcp_cm_parse(&cm, &len, &net_order), -EPROTO);
	/* Neither byte order */
	memcpy(&cm, buf, sizeof(cm));
	cm.conn_data = 1ULL << 48;
	KUNIT_EXPECT_EQ(test, ktcp_cm_parse(&cm, &len, &net_order), -EPROTO);
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE_PARAM(a_header_is_parsed_wherever_it_is_split, header_gen_params),
	KUNIT_CASE_PARAM(a_header_of_another_order_is_parsed, header_gen_params),
	KUNIT_CASE_PARAM(a_header_is_built_as_peers_build_it, header_gen_params),
	KUNIT_CASE_PARAM(a_header_of_another_order_is_built, header_gen_params),
	KUNIT_CASE(an_acknowledgment_is_told_from_a_message),
	KUNIT_CASE(stale_fields_are_ignored),
	KUNIT_CASE_PARAM(what_is_no_header_is_refused, bad_gen_params),
	KUNIT_CASE(a_refusal_has_a_reason_and_nothing_else),
	KUNIT_CASE(a_refusal_of_an_rts_has_its_number),
	KUNIT_CASE(ranges_that_cannot_be_added_are_refused),
	KUNIT_CASE(random_bytes_are_parsed_or_refused),
	KUNIT_CASE(requests_and_responses_are_parsed),
	KUNIT_CASE(only_kofi_is_taken_for_kofi),
	KUNIT_CASE(a_request_tells_the_byte_order),
	KUNIT_CASE(malformed_requests_are_refused),
	{}
};

static int wire_init(struct kunit *test)
{
	peer_foreign = false;
	return 0;
}

static struct kunit_suite wire_suite = {
	.name		= "kofi_tcp_wire",
	.init		= wire_init,
	.test_cases	= wire_cases,
};

kunit_test_suite(wire_suite);
