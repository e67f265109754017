// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The flags of completions, each of which a client compares with exactly one value, also where a
 * peer does what no client of these names does.
 */
#include <linux/delay.h>
#include "kfi.h"

#define KEPT	16	/* errors that a queue keeps */

static void messages_are_sent_and_received(struct kunit *test)
{
	u8 *buf = vt_buf(test, BULK_MSG * 2), *out = vt_buf(test, 100);
	struct bed *bed = bed_open(test);
	struct bed_event event;

	KUNIT_ASSERT_EQ(test, kfi_recv(bed->b.ni.ep[0].rx, buf, BULK_MSG * 2, NULL,
				       KFI_ADDR_UNSPEC, bed_ctx(1)), 0);
	vt_fill(out, 100, 3);
	KUNIT_ASSERT_EQ(test, kfi_send(bed->a.ni.ep[1].tx, out, 100, NULL, bed->a.peer,
				       bed_ctx(2)), 0);
	bed_expect(test, &bed->a.ni.ep[1].tx_cq, bed_ctx(2), BED_SENT, 0);
	event = bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(1), BED_RECEIVED, 0);
	KUNIT_EXPECT_EQ(test, event.len, 100);
	KUNIT_EXPECT_PTR_EQ(test, event.buf, buf);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, 100, 3));
	/* The context of a message may be any pointer */
	KUNIT_ASSERT_EQ(test, kfi_send(bed->a.ni.ep[1].tx, out, 100, NULL, bed->a.peer,
				       bed_ctx(2) + 1), 0);
	bed_expect(test, &bed->a.ni.ep[1].tx_cq, bed_ctx(2) + 1, BED_SENT, 0);
	bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(1), BED_RECEIVED, 0);
	bed_none(test, &bed->b.ni.ep[0].rx_cq);
}

static void a_read_ends_the_receive_as_one(struct kunit *test)
{
	struct bed_mem *source = bed_mem(test, 2, 5, 5000), *to = bed_mem(test, 2, 9, 5000);
	struct bed *bed = bed_open(test);
	struct bed_event event;

	bed_fill(source, 1);
	KUNIT_ASSERT_EQ(test, bed_trecv(&bed->b.ni.ep[1], source, bed->b.peer, BED_TAG,
					bed_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, bed_rma(&bed->a.ni.ep[0], true, to, bed_at(bed->a.peer, 1), BED_TAG,
				      bed_ctx(2)), 0);
	bed_expect(test, &bed->a.ni.ep[0].tx_cq, bed_ctx(2), BED_READ, 0);
	event = bed_expect(test, &bed->b.ni.ep[1].rx_cq, bed_ctx(1), BED_WAS_READ, 0);
	KUNIT_EXPECT_EQ(test, event.len, 5000);
	KUNIT_EXPECT_TRUE(test, bed_filled(to, 5000, 1));
}

static void a_write_ends_the_receive_as_one(struct kunit *test)
{
	struct bed_mem *from = bed_mem(test, 2, 5, 5000), *target = bed_mem(test, 2, 9, 5000);
	struct bed *bed = bed_open(test);
	struct bed_event event;

	bed_fill(from, 2);
	KUNIT_ASSERT_EQ(test, bed_trecv(&bed->b.ni.ep[1], target, bed->b.peer, BED_TAG,
					bed_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, bed_rma(&bed->a.ni.ep[0], false, from, bed_at(bed->a.peer, 1),
				      BED_TAG, bed_ctx(2)), 0);
	bed_expect(test, &bed->a.ni.ep[0].tx_cq, bed_ctx(2), BED_WROTE, 0);
	event = bed_expect(test, &bed->b.ni.ep[1].rx_cq, bed_ctx(1), BED_WAS_WRITTEN, 0);
	KUNIT_EXPECT_EQ(test, event.len, 5000);
	KUNIT_EXPECT_TRUE(test, bed_filled(target, 5000, 2));
}

/* The errno of a client of these names is in the upper byte of a little endian machine */
static void tsenddata_ends_the_receive_with_64_bits(struct kunit *test)
{
	static const u64 data[] = { 0, 1, U64_MAX, 0x0500000000000000, 0x0123456789abcdef };
	struct bed_mem *mem = bed_mem(test, 1, 0, 4096);
	struct bed *bed = bed_open(test);
	struct bed_event event;
	int i;

	for (i = 0; i < ARRAY_SIZE(data); i++) {
		KUNIT_ASSERT_EQ(test, bed_trecv(&bed->b.ni.ep[0], mem, bed->b.peer, BED_TAG,
						bed_ctx(1)), 0);
		KUNIT_ASSERT_EQ(test, kfi_tsenddata(bed->a.ni.ep[0].tx, NULL, 0, NULL, data[i],
						    bed->a.peer, BED_TAG, bed_ctx(2)), 0);
		bed_expect(test, &bed->a.ni.ep[0].tx_cq, bed_ctx(2), BED_TOLD, 0);
		event = bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(1), BED_HEARD, 0);
		KUNIT_EXPECT_EQ(test, event.data, data[i]);
		KUNIT_EXPECT_EQ(test, event.len, 0);
	}
}

static void tsenddata_has_bytes_too(struct kunit *test)
{
	struct bed_mem *mem = bed_mem(test, 1, 0, 4096);
	u8 *out = vt_buf(test, 10);
	struct bed *bed = bed_open(test);
	struct bed_event event;

	vt_fill(out, 10, 4);
	KUNIT_ASSERT_EQ(test, bed_trecv(&bed->b.ni.ep[0], mem, bed->b.peer, BED_TAG, bed_ctx(1)),
			0);
	KUNIT_ASSERT_EQ(test, kfi_tsenddata(bed->a.ni.ep[0].tx, out, 10, NULL, 5, bed->a.peer,
					    BED_TAG, bed_ctx(2)), 0);
	bed_expect(test, &bed->a.ni.ep[0].tx_cq, bed_ctx(2), BED_TOLD, 0);
	event = bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(1), BED_HEARD, 0);
	KUNIT_EXPECT_EQ(test, event.len, 10);
	KUNIT_EXPECT_TRUE(test, vt_filled(page_address(mem->pages[0]), 10, 4));
	KUNIT_EXPECT_EQ(test, kfi_tsenddata(bed->a.ni.ep[0].tx, NULL, 0, NULL, 5, bed->a.peer,
					    BED_TAG, bed_ctx(2) + 1), -EINVAL);
}

static void operations_without_a_receive_fail_as_what_they_are(struct kunit *test)
{
	struct bed_mem *mem = bed_mem(test, 1, 0, 4096);
	struct bed *bed = bed_open(test);
	struct bulk_ep *ep;

	ep = &bed->a.ni.ep[0];
	KUNIT_ASSERT_EQ(test, bed_rma(ep, true, mem, bed->a.peer, BED_TAG, bed_ctx(1)), 0);
	bed_expect(test, &ep->tx_cq, bed_ctx(1), BED_READ, ENOMSG);
	KUNIT_ASSERT_EQ(test, bed_rma(ep, false, mem, bed->a.peer, BED_TAG, bed_ctx(2)), 0);
	bed_expect(test, &ep->tx_cq, bed_ctx(2), BED_WROTE, ENOMSG);
	KUNIT_ASSERT_EQ(test, kfi_tsenddata(ep->tx, NULL, 0, NULL, 1, bed->a.peer, BED_TAG,
					    bed_ctx(3)), 0);
	bed_expect(test, &ep->tx_cq, bed_ctx(3), BED_TOLD, ENOMSG);
	/* None of them waits for the next receive with the tag */
	KUNIT_ASSERT_EQ(test, bed_trecv(&bed->b.ni.ep[0], mem, bed->b.peer, BED_TAG, bed_ctx(4)),
			0);
	bed_none(test, &bed->b.ni.ep[0].rx_cq);
}

static void a_peer_that_is_not_there_fails_the_send(struct kunit *test)
{
	struct bed *bed = bed_open(test);
	u8 *out = vt_buf(test, 8);
	struct bed_event event = {};
	kfi_addr_t nobody;

	KUNIT_ASSERT_EQ(test, bulk_know(&bed->a.ni, bed->a.ni.addr, 77, &nobody), 0);
	KUNIT_ASSERT_EQ(test, kfi_send(bed->a.ni.ep[0].tx, out, 8, NULL, nobody, bed_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, bed_wait(&bed->a.ni.ep[0].tx_cq, &event, VT_PATIENCE_MS), 1);
	KUNIT_EXPECT_EQ(test, event.flags, BED_SENT);
	KUNIT_EXPECT_EQ(test, event.err, EHOSTUNREACH);
}

/* A peer sends tagged messages as a client of fi_tagged.h does, more than a queue keeps errors */
static void a_tagged_message_is_an_error_or_data(struct kunit *test)
{
	struct bed_mem *mem = bed_mem(test, 1, 0, 4096);
	struct bed *bed = bed_open(test);
	struct kfi_cq_data_entry entry;
	u8 *out = vt_buf(test, 8);
	struct bulk_cq *cq;
	struct fid_ep *tx;
	ssize_t ret;
	int i;

	tx = bed->a.ni.ep[0].tx;
	cq = &bed->b.ni.ep[0].rx_cq;
	for (i = 0; i <= KEPT; i++) {
		KUNIT_ASSERT_EQ(test, bed_trecv(&bed->b.ni.ep[0], mem, bed->b.peer, BED_TAG,
						bed_ctx(1)), 0);
		KUNIT_ASSERT_EQ(test, fi_tsend(tx, out, 8, NULL, bed->a.peer, BED_TAG, bed_ctx(2)),
				0);
		bed_expect(test, &bed->a.ni.ep[0].tx_cq, bed_ctx(2), KFI_TAGGED | KFI_SEND, 0);
		KUNIT_EXPECT_TRUE(test, vt_until((ret = kfi_cq_read(cq->cq, &entry, 1)) !=
						 -EAGAIN));
		KUNIT_EXPECT_EQ(test, ret, -KFI_EAVAIL);
		/* Nothing is read before the error */
		KUNIT_EXPECT_EQ(test, kfi_cq_read(cq->cq, &entry, 1), -KFI_EAVAIL);
		bed_expect(test, cq, bed_ctx(1), BED_UNUSED, EPROTO);
	}
	KUNIT_ASSERT_EQ(test, bed_trecv(&bed->b.ni.ep[0], mem, bed->b.peer, BED_TAG, bed_ctx(1)),
			0);
	KUNIT_ASSERT_EQ(test, fi_tsenddata(tx, out, 8, NULL, 6, bed->a.peer, BED_TAG, bed_ctx(2)),
			0);
	bed_expect(test, cq, bed_ctx(1), BED_HEARD, 0);
	bed_none(test, cq);
}

/* Untagged messages have no data in these rules, and regions are none of them */
static void what_a_peer_adds_is_not_seen(struct kunit *test)
{
	u8 *buf = vt_buf(test, BULK_MSG * 2), *out = vt_buf(test, 8);
	struct bed *bed = bed_open(test);
	struct bed_event event = {};
	struct fid_ep *tx;

	tx = bed->a.ni.ep[0].tx;
	KUNIT_ASSERT_EQ(test, kfi_recv(bed->b.ni.ep[0].rx, buf, BULK_MSG * 2, NULL,
				       KFI_ADDR_UNSPEC, bed_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, fi_writedata(tx, NULL, 0, NULL, 7, bed->a.peer, 0, 0, bed_ctx(3)),
			0);
	KUNIT_ASSERT_EQ(test, bed_wait(&bed->a.ni.ep[0].tx_cq, &event, VT_PATIENCE_MS), 1);
	KUNIT_ASSERT_EQ(test, fi_senddata(tx, out, 8, NULL, 7, bed->a.peer, bed_ctx(2)), 0);
	bed_expect(test, &bed->a.ni.ep[0].tx_cq, bed_ctx(2), BED_SENT, 0);
	bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(1), BED_RECEIVED, 0);
	bed_none(test, &bed->b.ni.ep[0].rx_cq);
}

static struct kunit_case flags_cases[] = {
	KUNIT_CASE_PARAM(messages_are_sent_and_received, bed_gen),
	KUNIT_CASE_PARAM(a_read_ends_the_receive_as_one, bed_gen),
	KUNIT_CASE_PARAM(a_write_ends_the_receive_as_one, bed_gen),
	KUNIT_CASE_PARAM(tsenddata_ends_the_receive_with_64_bits, bed_gen),
	KUNIT_CASE_PARAM(tsenddata_has_bytes_too, bed_gen),
	KUNIT_CASE_PARAM(operations_without_a_receive_fail_as_what_they_are, bed_gen),
	KUNIT_CASE_PARAM(a_peer_that_is_not_there_fails_the_send, bed_gen),
	KUNIT_CASE_PARAM(a_tagged_message_is_an_error_or_data, bed_gen),
	KUNIT_CASE_PARAM(what_a_peer_adds_is_not_seen, bed_gen),
	{}
};

struct kunit_suite kfi_flags_suite = {
	.name		= "kofi_kfi_flags",
	.test_cases	= flags_cases,
};
