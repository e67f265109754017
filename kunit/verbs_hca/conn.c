// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections of a case with itself whose device is the case's, and memory for DMA.
 */
#include <linux/bitmap.h>
#include "hca.h"

const struct vt_kind ht_polled = {
	.wait_obj	= FI_WAIT_NONE,
	.format		= FI_CQ_FORMAT_DATA,
};

void ht_end_open(struct kunit *test, struct vt_end *end, struct fi_info *info)
{
	vt_end_queues(test, end, info, &vt_default_kind);
	end->ep = vt_ep(test, info);
	vt_end_bind(test, end);
}

void ht_end_enable(struct kunit *test, struct vt_end *end)
{
	KUNIT_ASSERT_EQ(test, fi_enable(end->ep), 0);
	end->qpn = fakehca_last_qp(ht_of(test)->hca);
}

void ht_client(struct kunit *test, struct vt_end *end)
{
	ht_end_open(test, end, vt_of(test)->info);
	ht_end_enable(test, end);
}

struct fi_eq_err_entry ht_error(struct kunit *test, struct fid_eq *eq)
{
	struct fi_eq_err_entry error = {};

	vt_error(test, eq, &error);
	return error;
}

void ht_join(struct kunit *test, struct vt_pair *pair)
{
	if (!pair->a.ep)
		ht_end_open(test, &pair->a, vt_of(test)->info);
	if (!pair->a.qpn)
		ht_end_enable(test, &pair->a);
	vt_connect(test, &pair->a, NULL, 0);
	ht_end_open(test, &pair->b, vt_connreq(test, NULL));
	ht_end_enable(test, &pair->b);
	vt_accept(test, &pair->b, NULL, 0);
	vt_event(test, pair->a.eq, FI_CONNECTED, NULL);
}

void ht_connect(struct kunit *test, const struct fakehca_attr *attr, struct vt_pair *pair)
{
	ht_serve(test, attr);
	ht_join(test, pair);
}

struct vt_comp ht_failed(struct kunit *test, struct vt_cq *cq, int err)
{
	struct vt_comp comp = vt_failed(test, cq);

	KUNIT_ASSERT_EQ_MSG(test, comp.err, err, "operation %lu: %s", (unsigned long)comp.context,
			    fi_cq_strerror(cq->cq, comp.prov_errno, NULL, NULL, 0));
	KUNIT_EXPECT_EQ(test, comp.len, 0);
	return comp;
}

void ht_each_once(struct kunit *test, struct vt_cq *cq, unsigned long count, int err)
{
	unsigned long *seen = bitmap_zalloc(count + 1, GFP_KERNEL);
	struct vt_comp comp = {};
	unsigned long i, nr;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 0; i < count; i++) {
		if (vt_wait(cq, &comp) != 1)
			break;
		KUNIT_EXPECT_EQ(test, comp.err, err);
		nr = (unsigned long)comp.context;
		if (nr < 1 || nr > count || test_and_set_bit(nr, seen))
			KUNIT_FAIL(test, "completion of %lu, unknown or again", nr);
	}
	bitmap_free(seen);
	KUNIT_EXPECT_EQ(test, i, count);
	vt_none(test, cq);
}

/*
 * No two receive buffers in one cache line: the kernel's DMA debugging takes
 * that for a mistake.
 */
void *ht_buf(struct kunit *test, size_t len)
{
	return vt_buf(test, roundup_pow_of_two(max(len, 64UL)));
}
