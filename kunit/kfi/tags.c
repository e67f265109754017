// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tags: a receive with a tag is used once, by one peer, for as much as both ends agree on.
 */
#include <linux/sizes.h>
#include "kfi.h"

/* Both directions of each case */
static const bool reads[] = { true, false };

static u64 mine(bool read)
{
	return read ? BED_READ : BED_WROTE;
}

static u64 theirs(bool read)
{
	return read ? BED_WAS_READ : BED_WAS_WRITTEN;
}

/* b posts @receive and a reads or writes it by @mem; both complete, with @err */
static struct bed_event meet(struct kunit *test, struct bed *bed, bool read,
			     struct bed_mem *receive, struct bed_mem *mem, int err)
{
	bed_fill(receive, 1);
	bed_fill(mem, 2);
	KUNIT_ASSERT_EQ(test, bed_trecv(&bed->b.ni.ep[0], receive, bed->b.peer, BED_TAG,
					bed_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, bed_rma(&bed->a.ni.ep[0], read, mem, bed->a.peer, BED_TAG,
				      bed_ctx(2)), 0);
	bed_expect(test, &bed->a.ni.ep[0].tx_cq, bed_ctx(2), mine(read), err);
	return bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(1), theirs(read), err);
}

static void a_shorter_access_succeeds(struct kunit *test)
{
	struct bed_mem *receive = bed_mem(test, 2, 0, 8000), *mem = bed_mem(test, 1, 1, 500);
	struct bed *bed = bed_open(test);
	struct bed_event event;
	int i;

	for (i = 0; i < ARRAY_SIZE(reads); i++) {
		event = meet(test, bed, reads[i], receive, mem, 0);
		KUNIT_EXPECT_EQ(test, event.len, 500);
		KUNIT_EXPECT_TRUE(test, bed_filled(mem, 500, reads[i] ? 1 : 2));
		KUNIT_EXPECT_TRUE(test, bed_filled(receive, 500, reads[i] ? 1 : 2));
	}
}

static void a_longer_access_fails_at_both_ends(struct kunit *test)
{
	struct bed_mem *receive = bed_mem(test, 1, 0, 500), *mem = bed_mem(test, 2, 1, 8000);
	struct bed *bed = bed_open(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(reads); i++) {
		meet(test, bed, reads[i], receive, mem, EMSGSIZE);
		KUNIT_EXPECT_TRUE(test, bed_filled(receive, 500, 1));
		KUNIT_EXPECT_TRUE(test, bed_filled(mem, 8000, 2));
	}
}

static void a_tag_is_used_once(struct kunit *test)
{
	struct bed_mem *receive = bed_mem(test, 1, 0, 500), *mem = bed_mem(test, 1, 1, 500);
	struct bed *bed = bed_open(test);
	struct bulk_ep *ep;
	int i;

	for (i = 0; i < ARRAY_SIZE(reads); i++) {
		ep = &bed->a.ni.ep[0];
		meet(test, bed, reads[i], receive, mem, 0);
		KUNIT_ASSERT_EQ(test, bed_rma(ep, reads[i], mem, bed->a.peer, BED_TAG,
					      bed_ctx(3)), 0);
		bed_expect(test, &ep->tx_cq, bed_ctx(3), mine(reads[i]), ENOMSG);
		KUNIT_ASSERT_EQ(test, kfi_tsenddata(ep->tx, NULL, 0, NULL, 1, bed->a.peer,
						    BED_TAG, bed_ctx(4)), 0);
		bed_expect(test, &ep->tx_cq, bed_ctx(4), BED_TOLD, ENOMSG);
		bed_none(test, &bed->b.ni.ep[0].rx_cq);
	}
}

/* The receive stays for the peer it is for; a third net on the interface is another peer */
static void a_receive_is_for_one_peer(struct kunit *test)
{
	struct bed_mem *receive = bed_mem(test, 1, 0, 500), *mem = bed_mem(test, 1, 1, 500);
	struct bed *bed = bed_open(test);
	kfi_addr_t other;
	struct bulk_ep *ep;
	int i;

	ep = &bed->a.ni.ep[0];
	KUNIT_ASSERT_EQ(test, bulk_know(&bed->b.ni, bed->a.ni.addr, 3, &other), 0);
	for (i = 0; i < ARRAY_SIZE(reads); i++) {
		KUNIT_ASSERT_EQ(test, bed_trecv(&bed->b.ni.ep[0], receive, other, BED_TAG,
						bed_ctx(1)), 0);
		KUNIT_ASSERT_EQ(test, bed_rma(ep, reads[i], mem, bed->a.peer, BED_TAG,
					      bed_ctx(2)), 0);
		bed_expect(test, &ep->tx_cq, bed_ctx(2), mine(reads[i]), ENOMSG);
		bed_none(test, &bed->b.ni.ep[0].rx_cq);
		KUNIT_EXPECT_EQ(test, kfi_cancel(&bed->b.ni.ep[0].rx->fid, bed_ctx(1)), 0);
		bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(1), BED_UNUSED, ECANCELED);
	}
}

static void a_receive_is_in_one_context(struct kunit *test)
{
	struct bed_mem *receive = bed_mem(test, 1, 0, 500), *mem = bed_mem(test, 1, 1, 500);
	struct bed *bed = bed_open(test);
	struct bulk_ep *ep;

	ep = &bed->a.ni.ep[0];
	KUNIT_ASSERT_EQ(test, bed_trecv(&bed->b.ni.ep[1], receive, bed->b.peer, BED_TAG,
					bed_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, bed_rma(ep, false, mem, bed_at(bed->a.peer, 0), BED_TAG,
				      bed_ctx(2)), 0);
	bed_expect(test, &ep->tx_cq, bed_ctx(2), BED_WROTE, ENOMSG);
	KUNIT_ASSERT_EQ(test, bed_rma(ep, false, mem, bed_at(bed->a.peer, 1), BED_TAG,
				      bed_ctx(3)), 0);
	bed_expect(test, &ep->tx_cq, bed_ctx(3), BED_WROTE, 0);
	bed_expect(test, &bed->b.ni.ep[1].rx_cq, bed_ctx(1), BED_WAS_WRITTEN, 0);
}

/* An LNet message in the pages that it happens to be in */
static void a_transfer_has_256_pages(struct kunit *test)
{
	size_t len = BULK_PAGES * PAGE_SIZE - 123;
	struct bed_mem *receive = bed_mem(test, BULK_PAGES, 123, len);
	struct bed_mem *mem = bed_mem(test, BULK_PAGES, 77, len);
	struct bed *bed = bed_open(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(reads); i++) {
		meet(test, bed, reads[i], receive, mem, 0);
		KUNIT_EXPECT_TRUE(test, bed_filled(mem, len, reads[i] ? 1 : 2));
		KUNIT_EXPECT_TRUE(test, bed_filled(receive, len, reads[i] ? 1 : 2));
	}
}

static struct kunit_case tags_cases[] = {
	KUNIT_CASE_PARAM(a_shorter_access_succeeds, bed_gen),
	KUNIT_CASE_PARAM(a_longer_access_fails_at_both_ends, bed_gen),
	KUNIT_CASE_PARAM(a_tag_is_used_once, bed_gen),
	KUNIT_CASE_PARAM(a_receive_is_for_one_peer, bed_gen),
	KUNIT_CASE_PARAM(a_receive_is_in_one_context, bed_gen),
	KUNIT_CASE_PARAM(a_transfer_has_256_pages, bed_gen),
	{}
};

struct kunit_suite kfi_tags_suite = {
	.name		= "kofi_kfi_tags",
	.test_cases	= tags_cases,
};
