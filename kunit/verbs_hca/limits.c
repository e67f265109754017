// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices with hardly anything: fi_getinfo() says what there is, and exactly that
 * much can be used.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <rdma/fi_reason.h>
#include <rdma/ib_verbs.h>
#include "hca.h"

static void iov_limit_is_the_devices(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_send_sge = 2, .max_recv_sge = 1 };
	struct fi_info *hints;

	ht_open(test, &attr);
	hints = ht_hints(test);
	hints->tx_attr->iov_limit = 2;
	hints->rx_attr->iov_limit = 1;

	KUNIT_EXPECT_EQ(test, vt_of(test)->info->tx_attr->iov_limit, 2);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->rx_attr->iov_limit, 1);
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, hints, &hints), 0);
}

static void more_iov_than_the_device_has_is_not_found(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_send_sge = 2, .max_recv_sge = 1 };
	struct fi_info *hints, *info;

	ht_open(test, &attr);
	hints = ht_hints(test);
	hints->tx_attr->iov_limit = 3;
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, hints, &info), -ENODATA);
	hints = ht_hints(test);
	hints->rx_attr->iov_limit = 2;
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, hints, &info), -ENODATA);
}

static void lists_up_to_iov_limit_and_no_longer(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_send_sge = 2, .max_recv_sge = 1 };
	struct vt_pair pair = {};
	struct kvec kvec[3];
	u8 *in;
	int i;

	ht_connect(test, &attr, &pair);
	in = ht_buf(test, 128);
	for (i = 0; i < 3; i++) {
		kvec[i] = (struct kvec) { ht_buf(test, 64), 64 };
		vt_fill(kvec[i].iov_base, 64, i);
	}

	KUNIT_EXPECT_EQ(test, fi_recvv(pair.b.ep, kvec, NULL, 2, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_sendv(pair.a.ep, kvec, NULL, 3, 0, NULL), -EINVAL);
	vt_recv(test, &pair.b, in, 128, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_sendv(pair.a.ep, kvec, NULL, 2, 0, vt_ctx(2)), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.tx, vt_ctx(1)).len, 128);
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, 64, 0));
	KUNIT_EXPECT_TRUE(test, vt_filled(in + 64, 64, 1));
}

static void a_device_with_one_sge_works(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_send_sge = 1, .max_recv_sge = 1 };
	u8 *memory = ht_buf(test, 64);
	struct kvec kvec[2] = { { memory, 32 }, { memory + 32, 32 } };
	struct vt_pair pair = {};

	ht_serve(test, &attr);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->tx_attr->iov_limit, 1);
	ht_join(test, &pair);
	KUNIT_EXPECT_EQ(test, fi_sendv(pair.a.ep, kvec, NULL, 2, 0, NULL), -EINVAL);
	vt_ping(test, &pair.a, &pair.b);
	vt_ping(test, &pair.b, &pair.a);
}

/* One work request of each queue is ib_drain_qp()'s */
static void queue_size_is_the_devices(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_qp_wr = 5, .roce = true };

	ht_open(test, &attr);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->tx_attr->size, 4);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->rx_attr->size, 4);
}

static void a_deeper_queue_than_the_devices_is_refused(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_qp_wr = 5, .roce = true };
	struct fi_info *hints, *info;
	struct fid_ep *ep;

	ht_open(test, &attr);
	hints = ht_hints(test);
	hints->tx_attr->size = 5;
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, hints, &info), -ENODATA);
	info = vt_dup(test, vt_of(test)->info);
	info->tx_attr->size = 5;
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL), -EINVAL);
	info = vt_dup(test, vt_of(test)->info);
	info->rx_attr->size = 5;
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL), -EINVAL);
}

static ssize_t limits_recv(struct vt_end *end, u8 *buf, unsigned long i)
{
	return fi_recv(end->ep, buf + i * 64, 64, NULL, 0, vt_ctx(i));
}

static ssize_t limits_send(struct vt_end *end, u8 *buf, unsigned long i)
{
	return fi_send(end->ep, buf + i * 64, 64, NULL, 0, vt_ctx(i));
}

static void a_queue_holds_exactly_its_size(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_qp_wr = 5, .roce = true };
	u8 *out = ht_buf(test, 8 * 64), *in = ht_buf(test, 8 * 64);
	struct vt_pair pair = {};
	unsigned long i;

	ht_connect(test, &attr, &pair);
	fakehca_hold(ht_of(test)->hca);
	for (i = 1; i <= 4; i++) {
		KUNIT_EXPECT_EQ(test, limits_recv(&pair.b, in, i), 0);
		KUNIT_EXPECT_EQ(test, limits_send(&pair.a, out, i), 0);
	}
	KUNIT_EXPECT_EQ(test, limits_recv(&pair.b, in, 5), -EAGAIN);
	KUNIT_EXPECT_EQ(test, limits_send(&pair.a, out, 5), -EAGAIN);
	fakehca_release(ht_of(test)->hca);
	fakehca_idle(ht_of(test)->hca);
	/* Completed, but not read */
	KUNIT_EXPECT_EQ(test, limits_send(&pair.a, out, 5), -EAGAIN);

	vt_done(test, pair.b.tx, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, limits_recv(&pair.b, in, 5), 0);
	KUNIT_EXPECT_EQ(test, limits_send(&pair.a, out, 5), 0);
	KUNIT_EXPECT_EQ(test, limits_send(&pair.a, out, 6), -EAGAIN);
	for (i = 2; i <= 5; i++) {
		vt_done(test, pair.b.tx, vt_ctx(i));
		vt_done(test, pair.a.tx, vt_ctx(i));
	}
}

/* A queue that is full to the brim has room for the marker that drains it */
static void close_of_full_queues_still_drains(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_qp_wr = 5, .roce = true };
	u8 *out = ht_buf(test, 8 * 64), *in = ht_buf(test, 8 * 64);
	struct vt_pair pair = {};
	unsigned long i;

	ht_connect(test, &attr, &pair);
	fakehca_flush_late(ht_of(test)->hca);
	fakehca_hold(ht_of(test)->hca);
	for (i = 1; i <= 4; i++) {
		KUNIT_EXPECT_EQ(test, limits_recv(&pair.a, in, i), 0);
		KUNIT_EXPECT_EQ(test, limits_send(&pair.a, out, i), 0);
	}
	vt_pair_close(test, &pair);
	KUNIT_EXPECT_EQ(test, ht_stats(test).overruns, 0);
}

#define LIMITS_PAIRS	12

/**
 * struct limits_block - A callback that keeps the poller of its queue
 * @done: the callback
 * @entered: it has been called
 * @go: it may return
 */
struct limits_block {
	struct fi_done		done;
	struct completion	entered;
	struct completion	go;
};

static void limits_block_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct limits_block *block = container_of(done, struct limits_block, done);

	complete(&block->entered);
	wait_for_completion(&block->go);
}

/* While nothing polls, the device's queue fills up */
static void limits_block(struct kunit *test, struct vt_pair *pair, struct limits_block *block)
{
	u8 *buf = ht_buf(test, 2 * 64);

	block->done.done = limits_block_done;
	init_completion(&block->entered);
	init_completion(&block->go);
	vt_recv(test, &pair->a, buf, 64, &block->done);
	vt_send(test, &pair->b, buf + 64, 64, vt_ctx(1));
	vt_done(test, pair->b.tx, vt_ctx(1));
	KUNIT_ASSERT_TRUE(test, vt_completed(&block->entered));
}

/* More drains than a completion queue has room for markers, with all operations in the queue */
static void drains_wait_for_room_for_their_markers(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct vt_pair *pairs = ht_buf(test, LIMITS_PAIRS * sizeof(*pairs));
	struct limits_block *block = ht_buf(test, sizeof(*block));
	u8 *buf = ht_buf(test, 2 * LIMITS_PAIRS * 64);
	static const struct vt_kind kind = {
		.wait_obj	= FI_WAIT_DONE,
		.comp_ctx	= FI_COMP_WORKQUEUE,
	};
	struct vt_cq *cq;
	int i;

	ht_open(test, &attr);
	vt_of(test)->info->tx_attr->size = 1;
	vt_of(test)->info->rx_attr->size = 1;
	vt_listen(test, vt_eq(test, 0));
	cq = vt_cq(test, &kind, 2 * LIMITS_PAIRS);
	for (i = 0; i < LIMITS_PAIRS; i++) {
		pairs[i].a.tx = cq;
		ht_join(test, &pairs[i]);
	}
	limits_block(test, &pairs[0], block);
	fakehca_hold(ht_of(test)->hca);
	for (i = 0; i < LIMITS_PAIRS; i++) {
		KUNIT_EXPECT_EQ(test, fi_recv(pairs[i].a.ep, buf + 2 * i * 64, 64, NULL, 0, NULL),
				0);
		KUNIT_EXPECT_EQ(test, fi_send(pairs[i].a.ep, buf + (2 * i + 1) * 64, 64, NULL, 0,
					      NULL), 0);
	}
	for (i = 0; i < LIMITS_PAIRS; i++)
		KUNIT_EXPECT_EQ(test, fi_ep_drain(pairs[i].a.ep, 0), -ETIMEDOUT);
	msleep(HT_QUIET_MS);
	complete(&block->go);
	for (i = 0; i < LIMITS_PAIRS; i++)
		KUNIT_EXPECT_EQ(test, fi_ep_drain(pairs[i].a.ep, HT_PATIENCE_MS), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).overruns, 0);
	fakehca_release(ht_of(test)->hca);
}

/* iWARP: each of at most 16 regions for reads has two work requests of its own */
static void iwarp_keeps_work_requests_for_reads(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_qp_wr = 13, .max_cqe = 64 };

	ht_open(test, &attr);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->tx_attr->size, 4);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->rx_attr->size, 12);
}

static void iwarp_keeps_work_requests_for_all_regions_for_reads(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_qp_wr = 50, .max_cqe = 256 };

	ht_open(test, &attr);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->tx_attr->size, 50 - 1 - 2 * 16);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->rx_attr->size, 50 - 1);
}

static void iwarp_keeps_room_in_the_cq_for_reads(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_qp_wr = 200, .max_cqe = 400 };
	struct fi_cq_attr cq_attr = { .size = 101 };
	struct fid_cq *cq;

	ht_open(test, &attr);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->tx_attr->size, 100);
	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, &cq_attr, &cq, NULL), -EINVAL);
	cq_attr.size = 100;
	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, &cq_attr, &cq, NULL), 0);
	vt_adopt(test, &cq->fid);
}

/* Eight entries of a device's queue are for the markers of ib_drain_qp() */
static void cq_size_is_the_devices(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_cqe = 16, .roce = true };
	struct fi_cq_attr cq_attr = { .size = 8 };
	struct fid_cq *cq;

	ht_open(test, &attr);
	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, &cq_attr, &cq, NULL), 0);
	vt_adopt(test, &cq->fid);
	cq_attr.size = 9;
	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, &cq_attr, &cq, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, NULL, &cq, NULL), 0);
	vt_adopt(test, &cq->fid);
}

static void markers_may_leave_no_room_in_a_cq(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_cqe = 7, .roce = true };
	struct fid_cq *cq;

	ht_open(test, &attr);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->domain_attr->max_cq_size, 0);
	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, NULL, &cq, NULL), -EINVAL);
}

/* Two queues of the announced size would not fit into any queue */
static void small_cqs_bound_the_queues(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_cqe = 16, .roce = true };

	ht_open(test, &attr);
	KUNIT_EXPECT_LE(test, vt_of(test)->info->tx_attr->size, 8);
	KUNIT_EXPECT_LE(test, vt_of(test)->info->rx_attr->size, 8);
}

static void a_cq_without_room_refuses_the_endpoint(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_cqe = 16, .roce = true };
	struct vt_end end = {};
	struct fi_info *info;

	ht_open(test, &attr);
	info = vt_dup(test, vt_of(test)->info);
	info->tx_attr->size = 4;
	info->rx_attr->size = 5;
	end.tx = vt_cq(test, &vt_default_kind, 8);
	ht_end_open(test, &end, info);
	KUNIT_EXPECT_EQ(test, fi_enable(end.ep), -ENOSPC);
	vt_close(test, &end.ep->fid);

	info->rx_attr->size = 4;
	ht_end_open(test, &end, info);
	KUNIT_EXPECT_EQ(test, fi_enable(end.ep), 0);
}

/* All that can be in a queue at once is: operations and drain markers */
static void a_full_cq_does_not_overrun(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_cqe = 16, .roce = true };
	u8 *out = ht_buf(test, 8 * 64), *in = ht_buf(test, 8 * 64);
	struct ht *ht = ht_of(test);
	struct vt_pair pair = {};
	unsigned long i;

	ht_open(test, &attr);
	ht->vt.info->tx_attr->size = 4;
	ht->vt.info->rx_attr->size = 4;
	vt_listen(test, vt_eq(test, 0));
	ht_join(test, &pair);
	for (i = 1; i <= 4; i++) {
		KUNIT_EXPECT_EQ(test, limits_recv(&pair.a, in, i), 0);
		KUNIT_EXPECT_EQ(test, limits_send(&pair.a, out, i), 0);
	}
	KUNIT_EXPECT_EQ(test, fi_shutdown(pair.b.ep, 0), 0);
	vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
	fakehca_idle(ht->hca);
	vt_pair_close(test, &pair);
	KUNIT_EXPECT_EQ(test, ht_stats(test).overruns, 0);
}

static void max_msg_size_is_the_devices(struct kunit *test)
{
	const struct fakehca_attr attr = { .max_msg_size = 4096 };
	u8 *out = ht_buf(test, 8192), *in = ht_buf(test, 8192);
	struct vt_pair pair = {};
	struct vt_comp comp;

	ht_serve(test, &attr);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->ep_attr->max_msg_size, 4096);
	/* An endpoint of which the client asks for none */
	vt_of(test)->info->ep_attr->max_msg_size = 0;
	ht_join(test, &pair);
	vt_fill(out, 4096, 9);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, out, 4097, NULL, 0, NULL), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.b.ep, in, 4097, NULL, 0, NULL), -EMSGSIZE);
	vt_recv(test, &pair.b, in, 4096, vt_ctx(1));
	vt_send(test, &pair.a, out, 4096, vt_ctx(2));
	comp = vt_done(test, pair.b.tx, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, comp.len, 4096);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, 4096, 9));
}

static void inject_size_needs_no_inline_data(struct kunit *test)
{
	u8 *out = ht_buf(test, 512), *in = ht_buf(test, 512);
	struct vt_pair pair = {};
	size_t size;

	ht_serve(test, NULL);
	size = vt_of(test)->info->tx_attr->inject_size;
	KUNIT_ASSERT_GT(test, size, 0);
	KUNIT_ASSERT_LT(test, size, 512);
	ht_join(test, &pair);
	vt_fill(out, size, 3);
	KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, out, size + 1, 0), -EMSGSIZE);
	vt_recv(test, &pair.b, in, 512, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, out, size, 0), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.tx, vt_ctx(1)).len, size);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, size, 3));
}

static void a_device_that_registers_nothing_is_not_found(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true, .no_reg = true };
	struct fi_reason *reason = vt_buf(test, sizeof(*reason));
	struct fi_info *hints, *info;

	ht_device(test, &attr);
	hints = ht_hints(test);
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, hints, &info), -ENODATA);
	KUNIT_ASSERT_EQ(test, fi_getinfo_why(VT_API, FAKEHCA_ADDR, 0, FI_SOURCE, hints, reason, 1),
			1);
	KUNIT_EXPECT_STREQ(test, reason->text,
			   FAKEHCA_ADDR ": no RDMA device has this address");
	hints->caps = FI_MSG | FI_REMOTE_INV;
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, hints, &info), -ENODATA);
}

static void a_device_that_registers_takes_remote_invalidation(struct kunit *test)
{
	struct fi_info *hints, *info;

	ht_device(test, NULL);
	hints = ht_hints(test);
	hints->caps = FI_MSG | FI_REMOTE_INV;
	KUNIT_ASSERT_EQ(test, ht_getinfo(test, hints, &info), 0);
	KUNIT_EXPECT_TRUE(test, info->caps & FI_REMOTE_INV);
}

/* Of a device whose name, queues and memory have gone, but whose domain is open */
static void the_device_to_map_for_stays_as_long_as_the_domain(struct kunit *test)
{
	struct device *dma_device;
	unsigned int refs;

	ht_open(test, NULL);
	dma_device = fi_domain_device(vt_of(test)->domain);
	KUNIT_ASSERT_NOT_NULL(test, dma_device);
	KUNIT_EXPECT_PTR_EQ(test, dma_device, fakehca_ibdev(ht_of(test)->hca)->dma_device);

	fakehca_remove_begin(ht_of(test)->hca);
	KUNIT_ASSERT_TRUE(test, fakehca_remove_wait(ht_of(test)->hca, HT_PATIENCE_MS));
	KUNIT_EXPECT_PTR_EQ(test, fi_domain_device(vt_of(test)->domain), dma_device);
	KUNIT_EXPECT_NOT_NULL(test, dev_name(dma_device));
	refs = kref_read(&dma_device->kobj.kref);
	vt_close(test, &vt_of(test)->domain->fid);
	KUNIT_EXPECT_EQ(test, kref_read(&dma_device->kobj.kref), refs - 1);
}

struct limits_gaps {
	const char	*name;
	bool		sg_gaps;
	size_t		align;
};

static const struct limits_gaps limits_gaps[] = {
	{ "pages only", false, PAGE_SIZE },
	{ "anywhere", true, 0 },
};

KUNIT_ARRAY_PARAM_DESC(limits_gaps, limits_gaps, name);

static void mr_gap_align_is_the_devices(struct kunit *test)
{
	const struct limits_gaps *param = test->param_value;
	const struct fakehca_attr attr = { .sg_gaps = param->sg_gaps };
	struct fi_info *hints, *info;

	ht_open(test, &attr);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->domain_attr->mr_gap_align, param->align);
	hints = ht_hints(test);
	hints->domain_attr->mr_gap_align = 8;
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, hints, &info), param->sg_gaps ? 0 : -ENODATA);
}

struct limits_rma {
	const char	*name;
	bool		roce;
	size_t		iov_limit;
	size_t		read;
	size_t		write;
};

/* Four work requests of two elements; a read takes one, or all into a read region */
static const struct limits_rma limits_rma[] = {
	{ "RoCE, 1", true, 1, 4, 4 },
	{ "RoCE, 2", true, 2, 4, 8 },
	{ "iWARP, 1", false, 1, 1, 4 },
	{ "iWARP, 2", false, 2, 2, 8 },
};

KUNIT_ARRAY_PARAM_DESC(limits_rma, limits_rma, name);

static void reads_and_writes_have_limits_of_their_own(struct kunit *test)
{
	const struct limits_rma *param = test->param_value;
	const struct fakehca_attr attr = {
		.roce		= param->roce,
		.max_send_sge	= 2,
	};
	struct fi_info *hints, *info;

	ht_device(test, &attr);
	hints = ht_hints(test);
	hints->tx_attr->size = 4;
	hints->tx_attr->iov_limit = param->iov_limit;
	KUNIT_ASSERT_EQ(test, ht_getinfo(test, hints, &info), 0);

	KUNIT_EXPECT_EQ(test, info->tx_attr->rma_read_iov_limit, param->read);
	KUNIT_EXPECT_EQ(test, info->tx_attr->rma_write_iov_limit, param->write);
}

/* What one call can make of a region here is FI_MR_ENDPOINT */
static const u64 limits_mr_flags[] = {
	FI_MR_DMABUF, FI_MR_SINGLE_USE, FI_RMA_EVENT, FI_RMA_PMEM, FI_AUTH_KEY,
};

static void regions_are_of_the_machines_memory(struct kunit *test)
{
	struct kvec kvec = { ht_buf(test, 64), 64 };
	struct fi_mr_attr mr_attr = {
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ,
	};
	struct fid_mr *mr;
	size_t i;

	ht_open(test, NULL);
	for (i = 0; i < ARRAY_SIZE(limits_mr_flags); i++)
		KUNIT_EXPECT_EQ_MSG(test, fi_mr_regattr(vt_of(test)->domain, &mr_attr,
							limits_mr_flags[i], &mr), -FI_EBADFLAGS,
				    "%#llx", limits_mr_flags[i]);
	KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &mr_attr, 0, &mr), 0);
	vt_adopt(test, &mr->fid);
}

static void iwarp_has_no_remote_cq_data(struct kunit *test)
{
	struct fi_info *hints, *info;
	struct vt_pair pair = {};
	struct fi_msg msg = {};

	ht_serve(test, NULL);
	info = vt_of(test)->info;
	KUNIT_EXPECT_EQ(test, info->domain_attr->cq_data_size, 0);
	KUNIT_EXPECT_EQ(test, info->ep_attr->protocol, FI_PROTO_IWARP);
	hints = ht_hints(test);
	hints->domain_attr->cq_data_size = 4;
	KUNIT_EXPECT_EQ(test, ht_getinfo(test, hints, &info), -ENODATA);
	ht_join(test, &pair);
	KUNIT_EXPECT_EQ(test, fi_senddata(pair.a.ep, NULL, 0, NULL, 7, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_injectdata(pair.a.ep, NULL, 0, 7, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_REMOTE_CQ_DATA), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_TRANSMIT_COMPLETE), -FI_EBADFLAGS);
}

static void roce_has_remote_cq_data(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct vt_pair pair = {};
	struct vt_comp comp;

	ht_serve(test, &attr);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->domain_attr->cq_data_size, 4);
	KUNIT_EXPECT_EQ(test, vt_of(test)->info->ep_attr->protocol, FI_PROTO_RDMA_CM_IB_RC);
	ht_join(test, &pair);
	vt_recv(test, &pair.b, NULL, 0, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_senddata(pair.a.ep, NULL, 0, NULL, 0xfeedf00d, 0, vt_ctx(2)), 0);
	comp = vt_done(test, pair.b.tx, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, comp.flags & FI_REMOTE_CQ_DATA);
	KUNIT_EXPECT_EQ(test, comp.data, 0xfeedf00d);
}

static struct kunit_case limits_cases[] = {
	KUNIT_CASE(iov_limit_is_the_devices),
	KUNIT_CASE(more_iov_than_the_device_has_is_not_found),
	KUNIT_CASE(lists_up_to_iov_limit_and_no_longer),
	KUNIT_CASE(a_device_with_one_sge_works),
	KUNIT_CASE(queue_size_is_the_devices),
	KUNIT_CASE(a_deeper_queue_than_the_devices_is_refused),
	KUNIT_CASE(a_queue_holds_exactly_its_size),
	KUNIT_CASE(close_of_full_queues_still_drains),
	KUNIT_CASE(drains_wait_for_room_for_their_markers),
	KUNIT_CASE(iwarp_keeps_work_requests_for_reads),
	KUNIT_CASE(iwarp_keeps_work_requests_for_all_regions_for_reads),
	KUNIT_CASE(iwarp_keeps_room_in_the_cq_for_reads),
	KUNIT_CASE(cq_size_is_the_devices),
	KUNIT_CASE(markers_may_leave_no_room_in_a_cq),
	KUNIT_CASE(small_cqs_bound_the_queues),
	KUNIT_CASE(a_cq_without_room_refuses_the_endpoint),
	KUNIT_CASE(a_full_cq_does_not_overrun),
	KUNIT_CASE(max_msg_size_is_the_devices),
	KUNIT_CASE(inject_size_needs_no_inline_data),
	KUNIT_CASE(a_device_that_registers_nothing_is_not_found),
	KUNIT_CASE(a_device_that_registers_takes_remote_invalidation),
	KUNIT_CASE(the_device_to_map_for_stays_as_long_as_the_domain),
	KUNIT_CASE_PARAM(mr_gap_align_is_the_devices, limits_gaps_gen_params),
	KUNIT_CASE_PARAM(reads_and_writes_have_limits_of_their_own, limits_rma_gen_params),
	KUNIT_CASE(regions_are_of_the_machines_memory),
	KUNIT_CASE(iwarp_has_no_remote_cq_data),
	KUNIT_CASE(roce_has_remote_cq_data),
	{}
};

struct kunit_suite kofi_hca_limits_suite = {
	.name		= "kofi_hca_limits",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= limits_cases,
};
