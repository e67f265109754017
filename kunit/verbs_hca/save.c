// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Persistent memory of peers: the listener of a domain on a device that refuses it.
 */
#include <rdma/fi_rma.h>
#include "../lib/async.h"
#include "mr.h"

static void save_serve(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct ht *ht = ht_of(test);
	struct fi_info *hints;

	ht_device(test, &attr);
	hints = ht_hints(test);
	hints->caps = FI_MSG | FI_RMA | FI_RMA_PMEM;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	ht_fabric(test, hints);
	KUNIT_ASSERT_EQ(test, fi_domain(ht->vt.fabric, ht->vt.info, &ht->vt.domain, NULL), 0);
	vt_adopt(test, &ht->vt.domain->fid);
	vt_listen(test, vt_eq(test, 0));
}

/*
 * The listener that the device refuses is destroyed, and the peer comes to the next one.  lockdep
 * compares the order of the locks of both.
 */
static void a_listener_that_is_refused_is_replaced(struct kunit *test)
{
	const struct fi_rma_iov remote = { .key = 1 };
	const struct fi_msg_rma msg = {
		.rma_iov = &remote, .rma_iov_count = 1, .context = vt_ctx(1),
	};
	struct vt_pair pair = {};

	save_serve(test);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_LISTEN, 1, -EIO);
	ht_join(test, &pair);
	KUNIT_EXPECT_EQ(test, fakehca_calls(ht_of(test)->hca, FAKEHCA_LISTEN), 3);
	KUNIT_ASSERT_EQ(test, fi_writemsg(pair.a.ep, &msg, FI_COMPLETION | FI_COMMIT_COMPLETE |
					  FI_SAVE), 0);
	/* The target has no region with this key, and says so */
	ht_failed(test, pair.a.tx, EACCES);
}

/**
 * struct save_opener - Another endpoint, opened by a thread of its own
 * @test: the case
 * @thread: opens it
 * @ep: the endpoint
 */
struct save_opener {
	struct kunit	*test;
	struct vt_async	*thread;
	struct fid_ep	*ep;
};

static int save_open(void *context)
{
	struct save_opener *opener = context;
	struct vt *vt = vt_of(opener->test);

	return fi_endpoint(vt->domain, vt->info, &opener->ep, NULL);
}

/* By the task of the case, while its listener is made */
static void save_begin_open(void *context)
{
	struct save_opener *opener = context;

	opener->thread = vt_async_start(opener->test, save_open, opener);
	KUNIT_EXPECT_TRUE(opener->test, vt_async_waits(opener->thread));
}

/* Each finds that the domain has no listener, and makes one; one of these stays */
static void endpoints_that_open_at_a_time_share_a_listener(struct kunit *test)
{
	struct save_opener *opener = ht_buf(test, sizeof(*opener));
	struct fakehca *hca;
	unsigned int calls;
	struct fid_ep *ep;

	save_serve(test);
	hca = ht_of(test)->hca;
	calls = fakehca_calls(hca, FAKEHCA_LISTEN);
	opener->test = test;
	fakehca_on_listen(hca, save_begin_open, opener);
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, vt_of(test)->info, &ep, NULL), 0);
	KUNIT_ASSERT_EQ(test, vt_async_join(test, opener->thread), 0);
	vt_adopt(test, &ep->fid);
	vt_adopt(test, &opener->ep->fid);

	KUNIT_EXPECT_EQ(test, fakehca_calls(hca, FAKEHCA_LISTEN), calls + 2);
	/* The other is that of the case */
	KUNIT_EXPECT_EQ(test, ht_stats(test).listens, 2);
}

static struct kunit_case save_cases[] = {
	KUNIT_CASE(a_listener_that_is_refused_is_replaced),
	KUNIT_CASE(endpoints_that_open_at_a_time_share_a_listener),
	{}
};

struct kunit_suite kofi_hca_save_suite = {
	.name		= "kofi_hca_save",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= save_cases,
};
