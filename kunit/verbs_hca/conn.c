// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections of a case with itself, completions, and memory for DMA.
 */
#include <linux/bitmap.h>
#include "hca.h"

void ht_end_open(struct kunit *test, struct ht_end *end, struct fi_info *info)
{
	struct ht *ht = ht_of(test);

	end->info = info;
	end->eq = end->eq ?: vt_eq(test, 0);
	end->cq = end->cq ?: ht_cq(test, info->tx_attr->size +
					 info->rx_attr->size);
	KUNIT_ASSERT_EQ(test, fi_endpoint(ht->vt.domain, info, &end->ep, NULL), 0);
	vt_adopt(test, &end->ep->fid);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(end->ep, &end->eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(end->ep, &end->cq->fid,
					 FI_TRANSMIT | FI_RECV |
					 end->bind_flags), 0);
}

void ht_end_enable(struct kunit *test, struct ht_end *end)
{
	KUNIT_ASSERT_EQ(test, fi_enable(end->ep), 0);
	end->qpn = fakehca_last_qp(ht_of(test)->hca);
}

void ht_end_close(struct kunit *test, struct ht_end *end)
{
	vt_close(test, &end->ep->fid);
	vt_close(test, &end->cq->fid);
	vt_close(test, &end->eq->fid);
	*end = (struct ht_end) {};
}

void ht_event(struct kunit *test, struct fid_eq *eq, u32 want)
{
	union vt_event event;

	vt_event(test, eq, want, &event);
}

struct fi_eq_err_entry ht_error(struct kunit *test, struct fid_eq *eq)
{
	struct fi_eq_err_entry error = {};

	vt_error(test, eq, &error);
	return error;
}

struct fi_info *ht_connreq(struct kunit *test)
{
	union vt_event event;
	struct fi_info *info;
	u32 got = U32_MAX;

	KUNIT_ASSERT_GE(test, vt_eq_sread(vt_of(test)->eq, &got, &event,
					  sizeof(event), 0),
			(ssize_t)sizeof(event.cm));
	KUNIT_ASSERT_EQ(test, got, FI_CONNREQ);
	info = ht_dup(test, event.cm.info);
	fi_freeinfo(event.cm.info);
	return info;
}

void ht_join(struct kunit *test, struct ht_pair *pair)
{
	struct ht *ht = ht_of(test);

	if (!pair->a.ep)
		ht_end_open(test, &pair->a, ht->vt.info);
	if (!pair->a.qpn)
		ht_end_enable(test, &pair->a);
	KUNIT_ASSERT_EQ(test, fi_connect(pair->a.ep, &ht->vt.name, NULL, 0), 0);
	ht_end_open(test, &pair->b, ht_connreq(test));
	ht_end_enable(test, &pair->b);
	KUNIT_ASSERT_EQ(test, fi_accept(pair->b.ep, NULL, 0), 0);
	ht_event(test, pair->b.eq, FI_CONNECTED);
	ht_event(test, pair->a.eq, FI_CONNECTED);
}

void ht_pair_close(struct kunit *test, struct ht_pair *pair)
{
	ht_end_close(test, &pair->a);
	ht_end_close(test, &pair->b);
}

/* Returns 1 with a completion or an error in @comp, or why there is none */
int ht_wait(struct fid_cq *cq, struct ht_comp *comp)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry;
	ssize_t ret;

	ret = vt_cq_sread(cq, &entry, 1, NULL);
	if (ret == 1)
		*comp = (struct ht_comp) {
			.context	= entry.op_context,
			.flags		= entry.flags,
			.len		= entry.len,
			.data		= entry.data,
		};
	if (ret != -FI_EAVAIL)
		return ret;

	ret = fi_cq_readerr(cq, &error, 0);
	*comp = (struct ht_comp) {
		.context	= error.op_context,
		.flags		= error.flags,
		.len		= error.len,
		.err		= error.err,
		.prov_errno	= error.prov_errno,
	};
	return ret;
}

struct ht_comp ht_done(struct kunit *test, struct fid_cq *cq, void *context)
{
	struct ht_comp comp = {};

	KUNIT_ASSERT_EQ(test, ht_wait(cq, &comp), 1);
	KUNIT_ASSERT_EQ_MSG(test, comp.err, 0, "operation %lu failed: %s",
			    (unsigned long)comp.context,
			    fi_cq_strerror(cq, comp.prov_errno, NULL, NULL, 0));
	KUNIT_ASSERT_PTR_EQ(test, comp.context, context);
	return comp;
}

struct ht_comp ht_failed(struct kunit *test, struct fid_cq *cq, int err)
{
	struct ht_comp comp = {};

	KUNIT_ASSERT_EQ(test, ht_wait(cq, &comp), 1);
	KUNIT_ASSERT_EQ_MSG(test, comp.err, err, "operation %lu: %s",
			    (unsigned long)comp.context,
			    fi_cq_strerror(cq, comp.prov_errno, NULL, NULL, 0));
	return comp;
}

void ht_none(struct kunit *test, struct fid_cq *cq)
{
	struct fi_cq_data_entry entry;

	KUNIT_ASSERT_EQ(test, fi_cq_read(cq, &entry, 1), -EAGAIN);
}

void ht_each_once(struct kunit *test, struct fid_cq *cq, unsigned long count,
		  int err)
{
	unsigned long *seen = bitmap_zalloc(count + 1, GFP_KERNEL);
	struct ht_comp comp = {};
	unsigned long i, nr;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 0; i < count; i++) {
		if (ht_wait(cq, &comp) != 1)
			break;
		KUNIT_EXPECT_EQ(test, comp.err, err);
		nr = (unsigned long)comp.context;
		if (nr < 1 || nr > count || test_and_set_bit(nr, seen))
			KUNIT_FAIL(test, "completion of %lu, unknown or again",
				   nr);
	}
	bitmap_free(seen);
	KUNIT_EXPECT_EQ(test, i, count);
	ht_none(test, cq);
}

/*
 * No two receive buffers in one cache line: the kernel's DMA debugging takes
 * that for a mistake.
 */
void *ht_buf(struct kunit *test, size_t len)
{
	void *buf = kunit_kzalloc(test, roundup_pow_of_two(max(len, 64UL)),
				  GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	return buf;
}

void ht_ping(struct kunit *test, struct ht_end *from, struct ht_end *to)
{
	u8 *out = ht_buf(test, 64), *in = ht_buf(test, 64);

	vt_fill(out, 64, 1);
	KUNIT_ASSERT_EQ(test, fi_recv(to->ep, in, 64, NULL, 0, vt_ctx(1001)), 0);
	KUNIT_ASSERT_EQ(test, fi_send(from->ep, out, 64, NULL, 0, vt_ctx(1002)),
			0);
	ht_done(test, to->cq, vt_ctx(1001));
	ht_done(test, from->cq, vt_ctx(1002));
	KUNIT_ASSERT_TRUE(test, vt_filled(in, 64, 1));
}
