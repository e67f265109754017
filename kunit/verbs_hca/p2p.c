// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What ofi_hook_p2p is for: a device that does not reach peer memory.
 */
#include <rdma/fi_rma.h>
#include "../lib/dmabuf.h"
#include "hca.h"

#define SIZE	(4 * PAGE_SIZE)
#define BEGIN	4097
#define LEN	(2 * PAGE_SIZE)

static const struct fakehca_attr p2p_device;

static void p2p_open(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct fi_info *hints;

	ht_device(test, &p2p_device);
	hints = ht_hints(test);
	hints->caps = FI_MSG | FI_RMA | FI_HMEM;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	kfree(hints->fabric_attr->prov_name);
	hints->fabric_attr->prov_name = kstrdup("verbs;ofi_hook_p2p", GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hints->fabric_attr->prov_name);
	ht_fabric(test, hints);
	KUNIT_ASSERT_EQ(test, fi_domain(ht->vt.fabric, ht->vt.info, &ht->vt.domain, NULL), 0);
	vt_adopt(test, &ht->vt.domain->fid);
	vt_listen(test, vt_eq(test, 0));
}

static void peer_memory_of_a_device_that_cannot_is_copied(struct kunit *test)
{
	struct vt_dmabuf *db = vt_dmabuf(test, VT_DMABUF_FIXED, SIZE);
	const struct fi_mr_dmabuf piece = { .dmabuf = db->dmabuf, .offset = BEGIN, .len = LEN };
	const struct fi_mr_attr attr = {
		.dmabuf		= &piece,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
	};
	u8 *mine = ht_buf(test, LEN), *memory = db->mem + BEGIN;
	struct vt_pair pair = {};
	struct fid_mr *mr;

	p2p_open(test);
	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_MR_DMABUF, &mr), 0);
	vt_adopt(test, &mr->fid);
	ht_join(test, &pair);
	vt_fill(mine, LEN, 1);
	KUNIT_ASSERT_EQ(test, fi_write(pair.a.ep, mine, LEN, NULL, 0, fi_mr_addr(mr),
				       fi_mr_key(mr), vt_ctx(1)), 0);
	vt_done(test, pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_NULL(test, memchr_inv(db->mem, 0, SIZE));
	vt_ping(test, &pair.a, &pair.b);
	KUNIT_EXPECT_TRUE(test, vt_filled(memory, LEN, 1));

	vt_fill(memory, LEN, 2);
	vt_ping(test, &pair.b, &pair.a);
	KUNIT_ASSERT_EQ(test, fi_read(pair.a.ep, mine, LEN, NULL, 0, fi_mr_addr(mr),
				      fi_mr_key(mr), vt_ctx(2)), 0);
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(mine, LEN, 2));
	vt_pair_close(test, &pair);
	vt_close(test, &mr->fid);
	vt_dmabuf_expect_unused(test, db);
}

static struct kunit_case p2p_cases[] = {
	KUNIT_CASE(peer_memory_of_a_device_that_cannot_is_copied),
	{}
};

struct kunit_suite kofi_hca_p2p_suite = {
	.name		= "kofi_hca_p2p",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= p2p_cases,
};
