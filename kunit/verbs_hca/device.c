// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The fake HCA itself, by way of raw verbs: what the other suites rely on.
 *
 * Two queue pairs of one protection domain are joined without a connection
 * manager.  Completions are taken by hand from a queue that nobody else polls.
 */
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include "hca.h"

#define RAW_LEN		256
#define RAW_RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_WRITE)

/**
 * struct raw - Two joined queue pairs and a buffer for each
 * @test: the case
 * @pd: of everything
 * @cq: of everything
 * @qp: the queue pairs
 * @buf: RAW_LEN bytes each
 * @dma: their DMA addresses, mapped both ways
 * @cqe: for work requests
 * @mr: a region, if there is one
 * @sg: what it is of
 */
struct raw {
	struct kunit		*test;
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	struct ib_qp		*qp[2];
	u8			*buf[2];
	u64			dma[2];
	struct ib_cqe		cqe;
	struct ib_mr		*mr;
	struct scatterlist	sg;
};

static struct ib_device *raw_dev(struct kunit *test)
{
	return fakehca_ibdev(ht_of(test)->hca);
}

static struct ib_qp *raw_qp(struct raw *raw)
{
	struct ib_qp_init_attr attr = {
		.send_cq	= raw->cq,
		.recv_cq	= raw->cq,
		.cap = {
			.max_send_wr	= 8,
			.max_recv_wr	= 8,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
		.qp_type	= IB_QPT_RC,
	};
	struct ib_qp *qp = ib_create_qp(raw->pd, &attr);

	KUNIT_ASSERT_FALSE(raw->test, IS_ERR(qp));
	return qp;
}

static u64 raw_map(struct raw *raw, void *buf, size_t len)
{
	struct ib_device *ibdev = raw_dev(raw->test);
	u64 dma = ib_dma_map_single(ibdev, buf, len, DMA_BIDIRECTIONAL);

	KUNIT_ASSERT_FALSE(raw->test, ib_dma_mapping_error(ibdev, dma));
	return dma;
}

static void raw_open(struct kunit *test, struct raw *raw, const struct fakehca_attr *attr)
{
	int i;

	ht_device(test, attr);
	raw->test = test;
	raw->pd = ib_alloc_pd(raw_dev(test), 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(raw->pd));
	raw->cq = ib_alloc_cq(raw_dev(test), NULL, 32, 0, IB_POLL_DIRECT);
	KUNIT_ASSERT_FALSE(test, IS_ERR(raw->cq));
	for (i = 0; i < 2; i++) {
		raw->qp[i] = raw_qp(raw);
		raw->buf[i] = ht_buf(test, RAW_LEN);
		vt_fill(raw->buf[i], RAW_LEN, i);
		raw->dma[i] = raw_map(raw, raw->buf[i], RAW_LEN);
	}
	KUNIT_ASSERT_EQ(test, fakehca_join(raw->qp[0], raw->qp[1]), 0);
}

static void raw_close(struct raw *raw)
{
	int i;

	for (i = 0; i < 2; i++) {
		ib_destroy_qp(raw->qp[i]);
		ib_dma_unmap_single(raw_dev(raw->test), raw->dma[i], RAW_LEN, DMA_BIDIRECTIONAL);
	}
	if (raw->mr) {
		ib_dma_unmap_sg(raw_dev(raw->test), &raw->sg, 1, DMA_BIDIRECTIONAL);
		ib_dereg_mr(raw->mr);
	}
	ib_free_cq(raw->cq);
	ib_dealloc_pd(raw->pd);
}

/* The next completion, whatever its status */
static struct ib_wc raw_wc(struct raw *raw)
{
	struct ib_wc wc = { .status = IB_WC_GENERAL_ERR };

	fakehca_idle(ht_of(raw->test)->hca);
	KUNIT_EXPECT_EQ(raw->test, ib_poll_cq(raw->cq, 1, &wc), 1);
	return wc;
}

static struct ib_rdma_wr raw_wr(struct raw *raw, enum ib_wr_opcode opcode,
				struct ib_sge *sge, u64 remote, u32 rkey)
{
	return (struct ib_rdma_wr) {
		.wr = {
			.wr_cqe		= &raw->cqe,
			.sg_list	= sge,
			.num_sge	= 1,
			.opcode		= opcode,
			.send_flags	= IB_SEND_SIGNALED,
		},
		.remote_addr	= remote,
		.rkey		= rkey,
	};
}

static struct ib_sge raw_sge(const struct raw *raw, size_t len)
{
	return (struct ib_sge) { raw->dma[0], len, raw->pd->local_dma_lkey };
}

/* Posts to queue pair 0 and returns how it ended */
static enum ib_wc_status raw_do(struct raw *raw, enum ib_wr_opcode opcode,
				size_t len, u64 remote, u32 rkey)
{
	struct ib_sge sge = raw_sge(raw, len);
	struct ib_rdma_wr wr = raw_wr(raw, opcode, &sge, remote, rkey);

	KUNIT_EXPECT_EQ(raw->test, ib_post_send(raw->qp[0], &wr.wr, NULL), 0);
	return raw_wc(raw).status;
}

/* Registers @len bytes of a page by way of queue pair 1 */
static void raw_register(struct raw *raw, enum ib_mr_type type, size_t len, int access)
{
	struct kunit *test = raw->test;
	u8 *memory = ht_buf(test, PAGE_SIZE);
	struct ib_reg_wr wr = {
		.wr = {
			.wr_cqe		= &raw->cqe,
			.opcode		= IB_WR_REG_MR,
			.send_flags	= IB_SEND_SIGNALED,
		},
		.access		= access,
	};

	raw->mr = ib_alloc_mr(raw->pd, type, 2);
	KUNIT_ASSERT_FALSE(test, IS_ERR(raw->mr));
	sg_init_one(&raw->sg, memory, len);
	KUNIT_ASSERT_EQ(test, ib_dma_map_sg(raw_dev(test), &raw->sg, 1, DMA_BIDIRECTIONAL), 1);
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg(raw->mr, &raw->sg, 1, NULL, PAGE_SIZE), 1);
	ib_update_fast_reg_key(raw->mr, 0x5a);
	wr.mr = raw->mr;
	wr.key = raw->mr->rkey;
	KUNIT_ASSERT_EQ(test, ib_post_send(raw->qp[1], &wr.wr, NULL), 0);
	KUNIT_ASSERT_EQ(test, raw_wc(raw).status, IB_WC_SUCCESS);
}

/* A write to @offset of the region, by its key or by @wrong beside it, is refused */
static void raw_expect_refused(struct raw *raw, u64 offset, u32 wrong)
{
	KUNIT_EXPECT_EQ(raw->test, raw_do(raw, IB_WR_RDMA_WRITE, RAW_LEN, raw->mr->iova + offset,
					  raw->mr->rkey ^ wrong), IB_WC_REM_ACCESS_ERR);
}

static int raw_recv(struct raw *raw, size_t len)
{
	struct ib_sge sge = { raw->dma[1], len, raw->pd->local_dma_lkey };
	struct ib_recv_wr wr = {
		.wr_cqe		= &raw->cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	return ib_post_recv(raw->qp[1], &wr, NULL);
}

static void a_message_moves_from_sge_to_sge(struct kunit *test)
{
	struct raw raw = {};
	struct ib_wc wc;

	raw_open(test, &raw, NULL);
	KUNIT_EXPECT_EQ(test, raw_recv(&raw, RAW_LEN), 0);
	/* The receive completes first */
	KUNIT_EXPECT_EQ(test, raw_do(&raw, IB_WR_SEND, 100, 0, 0), IB_WC_SUCCESS);
	wc = raw_wc(&raw);

	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, vt_filled(raw.buf[1], 100, 0));
	raw_close(&raw);
}

static void writes_and_reads_reach_a_registered_region(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct raw raw = {};

	raw_open(test, &raw, &attr);
	raw_register(&raw, IB_MR_TYPE_MEM_REG, 1000, RAW_RIGHTS);

	KUNIT_EXPECT_EQ(test, raw_do(&raw, IB_WR_RDMA_WRITE, RAW_LEN, raw.mr->iova + 1000 - RAW_LEN,
				     raw.mr->rkey), IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, vt_filled(sg_virt(&raw.sg) + 1000 - RAW_LEN, RAW_LEN, 0));
	vt_fill(sg_virt(&raw.sg), RAW_LEN, 77);
	KUNIT_EXPECT_EQ(test, raw_do(&raw, IB_WR_RDMA_READ, RAW_LEN, raw.mr->iova, raw.mr->rkey),
			IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, vt_filled(raw.buf[0], RAW_LEN, 77));
	raw_close(&raw);
}

static void a_byte_beyond_the_region_is_refused(struct kunit *test)
{
	struct raw raw = {};

	raw_open(test, &raw, NULL);
	raw_register(&raw, IB_MR_TYPE_MEM_REG, 1000, RAW_RIGHTS);

	raw_expect_refused(&raw, 1001 - RAW_LEN, 0);
	raw_close(&raw);
}

static void a_right_not_given_is_refused(struct kunit *test)
{
	struct raw raw = {};

	raw_open(test, &raw, NULL);
	raw_register(&raw, IB_MR_TYPE_MEM_REG, 1000, IB_ACCESS_REMOTE_READ);

	raw_expect_refused(&raw, 0, 0);
	raw_close(&raw);
}

static void the_wrong_key_is_refused(struct kunit *test)
{
	struct raw raw = {};

	raw_open(test, &raw, NULL);
	raw_register(&raw, IB_MR_TYPE_MEM_REG, 1000, RAW_RIGHTS);

	raw_expect_refused(&raw, 0, 1);
	raw_close(&raw);
}

static void an_invalidated_key_is_refused(struct kunit *test)
{
	struct ib_send_wr inv = {
		.opcode		= IB_WR_LOCAL_INV,
		.send_flags	= IB_SEND_SIGNALED,
	};
	struct raw raw = {};

	raw_open(test, &raw, NULL);
	raw_register(&raw, IB_MR_TYPE_MEM_REG, 1000, RAW_RIGHTS);
	inv.wr_cqe = &raw.cqe;
	inv.ex.invalidate_rkey = raw.mr->rkey;
	KUNIT_EXPECT_EQ(test, ib_post_send(raw.qp[1], &inv, NULL), 0);
	KUNIT_EXPECT_EQ(test, raw_wc(&raw).status, IB_WC_SUCCESS);

	raw_expect_refused(&raw, 0, 0);
	raw_close(&raw);
}

static void a_message_can_invalidate_the_receivers_key(struct kunit *test)
{
	struct ib_rdma_wr wr;
	struct ib_sge sge;
	struct raw raw = {};
	struct ib_wc wc;

	raw_open(test, &raw, NULL);
	raw_register(&raw, IB_MR_TYPE_MEM_REG, 1000, RAW_RIGHTS);
	KUNIT_EXPECT_EQ(test, raw_recv(&raw, RAW_LEN), 0);
	sge = raw_sge(&raw, 8);
	wr = raw_wr(&raw, IB_WR_SEND_WITH_INV, &sge, 0, 0);
	wr.wr.ex.invalidate_rkey = raw.mr->rkey;
	KUNIT_EXPECT_EQ(test, ib_post_send(raw.qp[0], &wr.wr, NULL), 0);
	wc = raw_wc(&raw);
	KUNIT_EXPECT_EQ(test, raw_wc(&raw).status, IB_WC_SUCCESS);

	KUNIT_EXPECT_TRUE(test, wc.wc_flags & IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, wc.ex.invalidate_rkey, raw.mr->rkey);
	raw_expect_refused(&raw, 0, 0);
	raw_close(&raw);
}

static void gaps_only_where_the_device_has_them(struct kunit *test)
{
	const struct fakehca_attr attr = { .sg_gaps = true };
	struct ib_mr *mr;
	struct raw raw = {};

	raw_open(test, &raw, &attr);
	raw_register(&raw, IB_MR_TYPE_SG_GAPS, 1000, RAW_RIGHTS);
	KUNIT_EXPECT_EQ(test, raw_do(&raw, IB_WR_RDMA_WRITE, RAW_LEN, raw.mr->iova, raw.mr->rkey),
			IB_WC_SUCCESS);
	mr = ib_alloc_mr(raw.pd, IB_MR_TYPE_MEM_REG, 17);
	KUNIT_EXPECT_PTR_EQ(test, mr, ERR_PTR(-EINVAL));
	raw_close(&raw);
}

static void a_failed_post_points_into_the_chain(struct kunit *test)
{
	const struct ib_send_wr *bad = NULL;
	struct ib_rdma_wr wr[3];
	struct ib_sge sge;
	struct raw raw = {};
	int i;

	raw_open(test, &raw, NULL);
	sge = raw_sge(&raw, 8);
	for (i = 0; i < 3; i++) {
		wr[i] = raw_wr(&raw, IB_WR_SEND, &sge, 0, 0);
		wr[i].wr.next = i < 2 ? &wr[i + 1].wr : NULL;
		KUNIT_EXPECT_EQ(test, raw_recv(&raw, RAW_LEN), 0);
	}
	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 2, -ENOMEM);

	KUNIT_EXPECT_EQ(test, ib_post_send(raw.qp[0], &wr[0].wr, &bad), -ENOMEM);

	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr[1].wr);
	KUNIT_EXPECT_EQ(test, raw_wc(&raw).status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, raw_wc(&raw).status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, ib_post_send(raw.qp[0], &wr[1].wr, &bad), 0);
	raw_close(&raw);
}

static void memory_that_is_not_mapped_is_not_touched(struct kunit *test)
{
	struct raw raw = {};
	u64 dma;

	raw_open(test, &raw, NULL);
	ht_of(test)->faults = 1;
	KUNIT_EXPECT_EQ(test, raw_recv(&raw, RAW_LEN), 0);
	dma = raw.dma[0];
	/* What lies behind the buffer may be the other one; nobody maps page 0 */
	raw.dma[0] = 0;
	KUNIT_EXPECT_EQ(test, raw_do(&raw, IB_WR_SEND, 8, 0, 0), IB_WC_LOC_PROT_ERR);
	raw.dma[0] = dma;
	raw_close(&raw);
}

static void a_mapping_that_is_left_is_counted(struct kunit *test)
{
	struct raw raw = {};
	unsigned int before;
	u8 *buf;
	u64 dma;

	raw_open(test, &raw, NULL);
	before = ht_stats(test).mapped;
	buf = ht_buf(test, 64);
	dma = raw_map(&raw, buf, 64);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before + 1);
	ib_dma_unmap_single(raw_dev(test), dma, 64, DMA_BIDIRECTIONAL);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before);
	raw_close(&raw);
}

static void immediate_data_only_on_roce(struct kunit *test)
{
	struct ib_rdma_wr wr;
	struct ib_sge sge;
	struct raw raw = {};

	raw_open(test, &raw, NULL);
	sge = raw_sge(&raw, 8);
	wr = raw_wr(&raw, IB_WR_SEND_WITH_IMM, &sge, 0, 0);
	KUNIT_EXPECT_EQ(test, ib_post_send(raw.qp[0], &wr.wr, NULL), -EINVAL);
	raw_close(&raw);
}

static void nothing_completes_while_held(struct kunit *test)
{
	struct ib_rdma_wr wr;
	struct ib_sge sge;
	struct raw raw = {};
	struct ib_wc wc;

	raw_open(test, &raw, NULL);
	fakehca_hold(ht_of(test)->hca);
	KUNIT_EXPECT_EQ(test, raw_recv(&raw, RAW_LEN), 0);
	sge = raw_sge(&raw, 8);
	wr = raw_wr(&raw, IB_WR_SEND, &sge, 0, 0);
	KUNIT_EXPECT_EQ(test, ib_post_send(raw.qp[0], &wr.wr, NULL), 0);
	fakehca_idle(ht_of(test)->hca);
	KUNIT_EXPECT_EQ(test, ib_poll_cq(raw.cq, 1, &wc), 0);

	fakehca_release(ht_of(test)->hca);
	KUNIT_EXPECT_EQ(test, raw_wc(&raw).status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, raw_wc(&raw).status, IB_WC_SUCCESS);
	raw_close(&raw);
}

static struct kunit_case device_cases[] = {
	KUNIT_CASE(a_message_moves_from_sge_to_sge),
	KUNIT_CASE(writes_and_reads_reach_a_registered_region),
	KUNIT_CASE(a_byte_beyond_the_region_is_refused),
	KUNIT_CASE(a_right_not_given_is_refused),
	KUNIT_CASE(the_wrong_key_is_refused),
	KUNIT_CASE(an_invalidated_key_is_refused),
	KUNIT_CASE(a_message_can_invalidate_the_receivers_key),
	KUNIT_CASE(gaps_only_where_the_device_has_them),
	KUNIT_CASE(a_failed_post_points_into_the_chain),
	KUNIT_CASE(memory_that_is_not_mapped_is_not_touched),
	KUNIT_CASE(a_mapping_that_is_left_is_counted),
	KUNIT_CASE(immediate_data_only_on_roce),
	KUNIT_CASE(nothing_completes_while_held),
	{}
};

struct kunit_suite kofi_hca_device_suite = {
	.name		= "kofi_hca_device",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= device_cases,
};
