// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The kfi_* names: a net is opened with each allocation failing once, and operations allocate
 * nothing at all. What the client on them allocates for a transfer fails once, too.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include "../../clients/bulk/bulk.h"
#include "../lib/client.h"
#include "nth.h"

#define KFI_NET		9
#define KFI_CTXS	2

static int kfi_init(struct kunit *test)
{
	return vt_shell("echo loop >/sys/module/kofi_kfi/parameters/provider");
}

static void kfi_ignore(struct kfid_cq *cq, void *context)
{
}

static bool kfi_open_once(struct kunit *test, struct bulk_ni *ni, unsigned int nth)
{
	bool struck;
	int ret;

	nth_leak_begin();
	nth_own.arm(NULL, &nth_own, nth);
	ret = bulk_ni_open(ni, "lo", KFI_NET, KFI_CTXS, kfi_ignore);
	struck = nth_own.disarm(NULL, &nth_own);
	/* Some allocations have a second way */
	if (!struck || ret != -ENOMEM)
		KUNIT_EXPECT_EQ(test, ret, 0);
	if (!ret)
		KUNIT_EXPECT_EQ(test, bulk_ni_close(ni), 0);
	nth_leak_end(test);
	return struck;
}

static void every_allocation_of_a_net_fails_once(struct kunit *test)
{
	struct bulk_ni *ni = vt_buf(test, sizeof(*ni));
	unsigned int nth = 1;

	while (nth < NTH_MANY && kfi_open_once(test, ni, nth))
		nth++;
	KUNIT_EXPECT_GT(test, nth, 10);
	KUNIT_EXPECT_LT(test, nth, NTH_MANY);
	kunit_info(test, "%u allocations\n", nth - 1);
}

static void every_allocation_of_an_insertion_fails_once(struct kunit *test)
{
	struct bulk_ni *ni = vt_buf(test, sizeof(*ni));
	unsigned int nth = 0;
	kfi_addr_t peer;
	bool struck;
	int ret;

	KUNIT_ASSERT_EQ(test, bulk_ni_open(ni, "lo", KFI_NET, KFI_CTXS, kfi_ignore), 0);
	do {
		nth_own.arm(NULL, &nth_own, ++nth);
		ret = kfi_av_insertsvc(ni->av, "0x7f000001", "10", &peer, 0, NULL);
		struck = nth_own.disarm(NULL, &nth_own);
		/* 0: the address was not inserted */
		if (!struck || (ret && ret != -ENOMEM))
			KUNIT_EXPECT_EQ(test, ret, 1);
	} while (struck && nth < NTH_MANY);
	KUNIT_EXPECT_EQ(test, bulk_ni_close(ni), 0);
}

/* A transfer of several pages between two nodes of their own, by which nothing may be lost */
static bool kfi_transfer_once(struct kunit *test, unsigned int nth)
{
	const struct bulk_work work = {
		.kind = BULK_PUT, .offset = 8, .len = 2 * PAGE_SIZE, .seed = 3,
	};
	struct bulk_node *node[2];
	struct bulk_peer *peer;
	bool struck;
	int ret, i;

	nth_leak_begin();
	for (i = 0; i < 2; i++) {
		node[i] = bulk_node_open("lo", KFI_NET + i, 1);
		KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(node[i]), 0);
	}
	peer = bulk_peer_find(node[0], bulk_node_addr(node[1]), KFI_NET + 1);
	KUNIT_ASSERT_NOT_NULL(test, peer);
	nth_own.arm(NULL, &nth_own, nth);
	ret = bulk_transfer(node[0], peer, &work, VT_PATIENCE_MS);
	struck = nth_own.disarm(NULL, &nth_own);
	if (!struck || ret != -ENOMEM)
		KUNIT_EXPECT_EQ(test, ret, 0);
	for (i = 1; i >= 0; i--)
		KUNIT_EXPECT_EQ(test, bulk_node_close(node[i]), 0);
	nth_leak_end(test);
	return struck;
}

static void every_allocation_of_a_transfer_fails_once(struct kunit *test)
{
	unsigned int nth = 1;

	while (nth < NTH_MANY && kfi_transfer_once(test, nth))
		nth++;
	/* The transaction, the list of its pages, and three pages */
	KUNIT_EXPECT_GT(test, nth, 5);
	KUNIT_EXPECT_LT(test, nth, NTH_MANY);
}

/* What the case posts: each call with the first allocation failing, if there were one */
static void kfi_post_all(struct kunit *test, struct bulk_ni *ni, kfi_addr_t peer, u8 *buf)
{
	const struct bio_vec list = { .bv_page = virt_to_page(buf), .bv_len = 64 };
	const struct kfi_rma_iov rma = { .len = 64, .key = 5 };
	const struct kfi_msg_tagged tagged = {
		.type = KFI_BVEC, .msg_biov = &list, .iov_count = 1, .addr = peer, .tag = 5,
		.context = &ni->ep[0],
	};
	const struct kfi_msg_rma access = {
		.type = KFI_BVEC, .msg_biov = &list, .iov_count = 1, .addr = peer,
		.rma_iov = &rma, .rma_iov_count = 1, .context = &ni->ep[0],
	};
	ssize_t ret[6];
	bool struck;
	int i;

	nth_own.arm(NULL, &nth_own, 1);
	ret[0] = kfi_recv(ni->ep[0].rx, buf, 64, NULL, KFI_ADDR_UNSPEC, &ni->ep[1]);
	ret[1] = kfi_trecvmsg(ni->ep[0].rx, &tagged, KFI_COMPLETION);
	ret[2] = kfi_send(ni->ep[0].tx, buf, 64, NULL, peer, &ni->ep[0]);
	ret[3] = kfi_readmsg(ni->ep[0].tx, &access, KFI_TAGGED | KFI_COMPLETION);
	ret[4] = kfi_writemsg(ni->ep[0].tx, &access, KFI_TAGGED | KFI_COMPLETION);
	ret[5] = kfi_tsenddata(ni->ep[0].tx, NULL, 0, NULL, 7, peer, 5, &ni->ep[0]);
	kfi_cancel(&ni->ep[0].rx->fid, &ni->ep[1]);
	struck = nth_own.disarm(NULL, &nth_own);
	KUNIT_EXPECT_FALSE(test, struck);
	for (i = 0; i < ARRAY_SIZE(ret); i++)
		KUNIT_EXPECT_EQ(test, ret[i], 0);
}

static void operations_allocate_nothing(struct kunit *test)
{
	struct bulk_ni *ni = vt_buf(test, sizeof(*ni));
	u8 *buf = (u8 *)__get_free_page(GFP_KERNEL | __GFP_ZERO);
	kfi_addr_t peer;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_ASSERT_EQ(test, bulk_ni_open(ni, "lo", KFI_NET, KFI_CTXS, kfi_ignore), 0);
	/* It is its own peer */
	KUNIT_EXPECT_EQ(test, bulk_know(ni, ni->addr, KFI_NET, &peer), 0);
	kfi_post_all(test, ni, peer, buf);
	KUNIT_EXPECT_EQ(test, bulk_ni_close(ni), 0);
	free_page((unsigned long)buf);
}

static struct kunit_case nth_kfi_cases[] = {
	KUNIT_CASE(every_allocation_of_a_net_fails_once),
	KUNIT_CASE(every_allocation_of_an_insertion_fails_once),
	KUNIT_CASE(every_allocation_of_a_transfer_fails_once),
	KUNIT_CASE(operations_allocate_nothing),
	{}
};

struct kunit_suite kofi_nth_kfi_suite = {
	.name		= "kofi_nth_kfi",
	.suite_init	= nth_plain_suite_init,
	.suite_exit	= nth_plain_suite_exit,
	.init		= kfi_init,
	.test_cases	= nth_kfi_cases,
};
