// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions on devices that fail, that take gaps, that take hardly any pages,
 * and the connection by which regions are registered.
 *
 * That everything is unmapped once and nothing is left is for ht_exit() to check.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <rdma/fi_rma.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "hca_test.h"

#define MR_ORDER	3
#define MR_REMOTE	(FI_REMOTE_READ | FI_REMOTE_WRITE)

static void mr_free_pages(void *mem)
{
	free_pages((unsigned long)mem, MR_ORDER);
}

static u8 *mr_pages(struct kunit *test)
{
	void *mem = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, MR_ORDER);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, mr_free_pages,
							mem), 0);
	return mem;
}

/* As ht_open(), for a client that wants to be reached */
static void mr_open(struct kunit *test, const struct fakehca_attr *attr)
{
	struct ht *ht = ht_of(test);
	struct fi_info *hints;

	ht_device(test, attr);
	hints = ht_hints(test);
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	ht_fabric(test, hints);
	KUNIT_ASSERT_EQ(test, fi_domain(ht->fabric, ht->info, &ht->domain,
					NULL), 0);
	ht_adopt(test, &ht->domain->fid);
}

static int mr_regv(struct kunit *test, const struct kvec *iov, size_t count,
		   u64 access, struct fid_mr **mr)
{
	int ret;

	*mr = NULL;
	ret = fi_mr_regv(ht_of(test)->domain, iov, count, access, 0, 0, 0, mr,
			 NULL);
	if (!ret)
		ht_adopt(test, &(*mr)->fid);
	return ret;
}

static int mr_reg(struct kunit *test, void *buf, size_t len, struct fid_mr **mr)
{
	struct kvec kvec = { buf, len };

	return mr_regv(test, &kvec, 1, MR_REMOTE, mr);
}

/* Memory of its own for each: mappings that overlap are reported */
static int mr_reg_any(struct kunit *test, struct fid_mr **mr)
{
	return mr_reg(test, ht_buf(test, 64), 64, mr);
}

/* What reaches a region, on both ends of a connection within the case */
static void mr_expect_read(struct kunit *test, struct ht_pair *pair, u8 *want,
			   size_t len, void *addr, struct fid_mr *mr)
{
	u8 *in = ht_buf(test, len);

	KUNIT_ASSERT_EQ(test, fi_read(pair->a.ep, in, len, NULL, 0,
				      (uintptr_t)addr, fi_mr_key(mr),
				      ht_ctx(1)), 0);
	ht_done(test, pair->a.cq, ht_ctx(1));
	KUNIT_EXPECT_MEMEQ(test, in, want, len);
}

/**
 * struct mr_fail - A verb that fails in the first registration
 * @name: of the verb
 * @point: the verb
 * @nth: at which call
 * @value: with what
 * @error: what the client sees
 */
struct mr_fail {
	const char		*name;
	enum fakehca_point	point;
	unsigned int		nth;
	int			value;
	int			error;
};

static const struct mr_fail mr_fails[] = {
	{ "alloc_mr", FAKEHCA_ALLOC_MR, 1, -ENOMEM, -ENOMEM },
	{ "map_mr_sg", FAKEHCA_MAP_MR_SG, 1, -EIO, -EIO },
	{ "map_mr_sg of a part", FAKEHCA_MAP_MR_SG, 1, 1, -EINVAL },
	{ "create_cq", FAKEHCA_CREATE_CQ, 1, -ENOMEM, -ENOMEM },
	{ "listen", FAKEHCA_LISTEN, 1, -EADDRINUSE, -EADDRINUSE },
	{ "create_qp", FAKEHCA_CREATE_QP, 1, -ENOMEM, -ENOMEM },
	{ "create_qp of the other end", FAKEHCA_CREATE_QP, 2, -EIO, -EIO },
	{ "modify_qp, first", FAKEHCA_MODIFY_QP, 1, -EIO, -EIO },
	{ "modify_qp, second", FAKEHCA_MODIFY_QP, 2, -EIO, -EIO },
	{ "modify_qp, third", FAKEHCA_MODIFY_QP, 3, -EIO, -EIO },
	{ "modify_qp, fourth", FAKEHCA_MODIFY_QP, 4, -EIO, -EIO },
	{ "modify_qp, fifth", FAKEHCA_MODIFY_QP, 5, -EIO, -EIO },
	{ "connect", FAKEHCA_CONNECT, 1, -ENOMEM, -ENOMEM },
	{ "accept", FAKEHCA_ACCEPT, 1, -ENOBUFS, -ENOBUFS },
};

KUNIT_ARRAY_PARAM_DESC(mr_fail, mr_fails, name);

static void registration_fails_with_the_verb(struct kunit *test)
{
	const struct mr_fail *fail = test->param_value;
	struct fakehca_stats before, after;
	u8 *buf = mr_pages(test);
	/* Three segments, so that there are parts */
	struct kvec list[] = {
		{ buf, PAGE_SIZE },
		{ buf + 2 * PAGE_SIZE, PAGE_SIZE },
		{ buf + 4 * PAGE_SIZE, 100 },
	};
	struct fid_mr *mr;

	mr_open(test, NULL);
	before = ht_stats(test);
	fakehca_fail(ht_of(test)->hca, fail->point, fail->nth, fail->value);

	KUNIT_EXPECT_EQ(test, mr_regv(test, list, 3, MR_REMOTE, &mr),
			fail->error);
	KUNIT_EXPECT_NULL(test, mr);
	fakehca_idle(ht_of(test)->hca);
	after = ht_stats(test);
	KUNIT_EXPECT_EQ(test, after.mrs, before.mrs);
	KUNIT_EXPECT_EQ(test, after.mapped, before.mapped);
	KUNIT_EXPECT_EQ(test, after.cqs, before.cqs);
	KUNIT_EXPECT_EQ(test, after.qps, before.qps);

	KUNIT_ASSERT_EQ(test, mr_regv(test, list, 3, MR_REMOTE, &mr), 0);
}

static const struct mr_fail mr_statuses[] = {
	{ "operation", FAKEHCA_SEND_WC, 1, IB_WC_LOC_QP_OP_ERR, -EIO },
	{ "protection", FAKEHCA_SEND_WC, 1, IB_WC_LOC_PROT_ERR, -EFAULT },
	{ "fatal", FAKEHCA_SEND_WC, 1, IB_WC_FATAL_ERR, -EIO },
	/* Not executed, so tried again */
	{ "flushed", FAKEHCA_SEND_WC, 1, IB_WC_WR_FLUSH_ERR, 0 },
	{ "not posted", FAKEHCA_POST_SEND, 1, -EIO, 0 },
};

KUNIT_ARRAY_PARAM_DESC(mr_status, mr_statuses, name);

static void registration_ends_with_the_status(struct kunit *test)
{
	const struct mr_fail *fail = test->param_value;
	struct fakehca_stats before;
	struct fid_mr *mr;

	mr_open(test, NULL);
	before = ht_stats(test);
	fakehca_fail(ht_of(test)->hca, fail->point, fail->nth, fail->value);

	KUNIT_EXPECT_EQ(test, mr_reg_any(test, &mr), fail->error);
	if (fail->error) {
		KUNIT_EXPECT_EQ(test, ht_stats(test).mrs, before.mrs);
		KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before.mapped);
	}
	KUNIT_ASSERT_EQ(test, mr_reg_any(test, &mr), 0);
}

/* A device that flushes everything ends the second try, too */
static void a_device_that_only_flushes_is_not_tried_for_ever(struct kunit *test)
{
	struct fid_mr *mr;

	mr_open(test, NULL);
	KUNIT_ASSERT_EQ(test, mr_reg_any(test, &mr), 0);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_SEND_WC, 1, IB_WC_WR_FLUSH_ERR);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_CONNECT, 1, -ENETDOWN);
	KUNIT_EXPECT_EQ(test, mr_reg_any(test, &mr), -ENETDOWN);
	KUNIT_EXPECT_EQ(test, mr_reg_any(test, &mr), 0);
}

struct mr_direction {
	const char	*name;
	u64		access;
};

static const struct mr_direction mr_directions[] = {
	{ "none", 0 },
	{ "FI_SEND", FI_SEND },
	{ "FI_RECV", FI_RECV },
	{ "FI_READ", FI_READ },
	{ "FI_WRITE", FI_WRITE },
	{ "FI_REMOTE_READ", FI_REMOTE_READ },
	{ "FI_REMOTE_WRITE", FI_REMOTE_WRITE },
	{ "both remote", MR_REMOTE },
};

KUNIT_ARRAY_PARAM_DESC(mr_direction, mr_directions, name);

/* For the direction, the fake HCA counts an access that was not mapped so */
static void a_region_is_mapped_as_long_as_it_is_open(struct kunit *test)
{
	const struct mr_direction *param = test->param_value;
	struct fakehca_attr attr = { .roce = true };
	u8 *buf = mr_pages(test);
	struct kvec list[] = {
		{ buf + 50, PAGE_SIZE - 50 },
		{ buf + 2 * PAGE_SIZE, PAGE_SIZE },
		{ buf + 5 * PAGE_SIZE, 1 },
	};
	struct ht_pair pair = {};
	unsigned int before;
	struct fid_mr *mr;
	u8 *data = ht_buf(test, 64);

	mr_open(test, &attr);
	ht_listen(test);
	ht_join(test, &pair);
	before = ht_stats(test).mapped;
	KUNIT_ASSERT_EQ(test, mr_regv(test, list, 3, param->access, &mr), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before + 3);

	if (param->access & FI_REMOTE_WRITE) {
		ht_fill(data, 64, 5);
		KUNIT_ASSERT_EQ(test, fi_write(pair.a.ep, data, 64, NULL, 0,
					       (uintptr_t)buf + 50,
					       fi_mr_key(mr), ht_ctx(1)), 0);
		ht_done(test, pair.a.cq, ht_ctx(1));
		KUNIT_EXPECT_TRUE(test, ht_filled(buf + 50, 64, 5));
	}
	if (param->access & FI_REMOTE_READ)
		mr_expect_read(test, &pair, buf + 50, 64, buf + 50, mr);

	ht_close(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before);
}

/* Three bytes here, five there: nothing is aligned to anything */
static void a_device_that_takes_gaps_gets_them(struct kunit *test)
{
	struct fakehca_attr attr = { .roce = true, .sg_gaps = true };
	u8 *buf = mr_pages(test), want[128];
	struct kvec list[] = {
		{ buf + 11, 3 }, { buf + 5 * PAGE_SIZE - 2, 5 },
		{ buf + 700, 100 }, { buf + 220, 20 },
	};
	struct ht_pair pair = {};
	struct fid_mr *mr;

	ht_fill(buf, PAGE_SIZE << MR_ORDER, 9);
	memcpy(want, list[0].iov_base, 3);
	memcpy(want + 3, list[1].iov_base, 5);
	memcpy(want + 8, list[2].iov_base, 100);
	memcpy(want + 108, list[3].iov_base, 20);
	mr_open(test, &attr);
	ht_listen(test);
	ht_join(test, &pair);
	KUNIT_ASSERT_EQ(test, mr_regv(test, list, 4, MR_REMOTE, &mr), 0);

	mr_expect_read(test, &pair, want, 128, list[0].iov_base, mr);
	/* And not one byte more */
	KUNIT_ASSERT_EQ(test, fi_read(pair.a.ep, ht_buf(test, 129), 129, NULL,
				      0, (uintptr_t)list[0].iov_base,
				      fi_mr_key(mr), ht_ctx(2)), 0);
	ht_failed(test, pair.a.cq, EACCES);
}

static void a_device_without_gaps_refuses_them(struct kunit *test)
{
	u8 *buf = mr_pages(test);
	struct kvec list[] = { { buf, 3 }, { buf + PAGE_SIZE, 3 } };
	unsigned int maps;
	struct fid_mr *mr;

	mr_open(test, NULL);
	KUNIT_EXPECT_EQ(test, mr_regv(test, list, 2, MR_REMOTE, &mr), -EINVAL);
	maps = ht_stats(test).mapped;
	KUNIT_ASSERT_EQ(test, mr_reg(test, buf, 3, &mr), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, maps + 1);
}

static void gaps_are_limited_by_the_device(struct kunit *test)
{
	struct fakehca_attr attr = { .sg_gaps = true, .fast_reg_pages = 2 };
	u8 *buf = mr_pages(test);
	struct kvec list[] = {
		{ buf + 1, 3 }, { buf + 128, 3 }, { buf + 256, 3 },
	};
	struct fid_mr *mr;

	mr_open(test, &attr);
	KUNIT_ASSERT_EQ(test, mr_regv(test, list, 2, MR_REMOTE, &mr), 0);
	ht_close(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, mr_regv(test, list, 3, MR_REMOTE, &mr),
			-EMSGSIZE);
	KUNIT_EXPECT_NULL(test, mr);
}

static void pages_are_counted_from_the_first_to_the_last(struct kunit *test)
{
	struct fakehca_attr attr = { .fast_reg_pages = 2 };
	u8 *buf = mr_pages(test);
	struct fid_mr *mr;

	mr_open(test, &attr);
	KUNIT_ASSERT_EQ(test, mr_reg(test, buf, 2 * PAGE_SIZE, &mr), 0);
	ht_close(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, mr_reg(test, buf, 2 * PAGE_SIZE + 1, &mr),
			-EMSGSIZE);
	KUNIT_ASSERT_EQ(test, mr_reg(test, buf + PAGE_SIZE - 1, PAGE_SIZE + 1,
				     &mr), 0);
	ht_close(test, &mr->fid);
	KUNIT_EXPECT_EQ(test, mr_reg(test, buf + PAGE_SIZE - 1, PAGE_SIZE + 2,
				     &mr), -EMSGSIZE);
	KUNIT_EXPECT_NULL(test, mr);
}

/* iWARP: the key of the sink has to allow what the answer does */
static void a_registered_sink_takes_what_is_read(struct kunit *test)
{
	u8 *from = ht_buf(test, 64), *to = ht_buf(test, 64);
	struct kvec sink = { to, 64 };
	struct fid_mr *source, *mr;
	struct ht_pair pair = {};

	mr_open(test, NULL);
	ht_listen(test);
	ht_join(test, &pair);
	ht_fill(from, 64, 3);
	KUNIT_ASSERT_EQ(test, mr_reg(test, from, 64, &source), 0);
	KUNIT_ASSERT_EQ(test, mr_regv(test, &sink, 1, FI_READ, &mr), 0);

	KUNIT_ASSERT_EQ(test, fi_read(pair.a.ep, to, 64, fi_mr_desc(mr), 0,
				      (uintptr_t)from, fi_mr_key(source),
				      ht_ctx(1)), 0);
	ht_done(test, pair.a.cq, ht_ctx(1));
	KUNIT_EXPECT_TRUE(test, ht_filled(to, 64, 3));
}

static void keys_are_fresh_although_the_device_repeats(struct kunit *test)
{
	u8 *buf = ht_buf(test, 64);
	struct fid_mr *mr;
	u64 last = 0;
	int i;

	mr_open(test, NULL);
	for (i = 0; i < 300; i++) {
		KUNIT_ASSERT_EQ(test, mr_reg(test, buf, 64, &mr), 0);
		KUNIT_ASSERT_NE(test, fi_mr_key(mr), last);
		last = fi_mr_key(mr);
		ht_close(test, &mr->fid);
	}
}

static void a_broken_connection_is_replaced(struct kunit *test)
{
	struct fakehca *hca;
	struct fid_mr *before, *mr;
	u32 qpn;

	mr_open(test, NULL);
	hca = ht_of(test)->hca;
	KUNIT_ASSERT_EQ(test, mr_reg_any(test, &before), 0);
	qpn = fakehca_last_qp(hca);
	KUNIT_ASSERT_EQ(test, fakehca_qp_fatal(hca, qpn), 0);
	fakehca_idle(hca);

	KUNIT_EXPECT_EQ(test, mr_reg_any(test, &mr), 0);
	KUNIT_EXPECT_NE(test, fakehca_last_qp(hca), qpn);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, 2);
	qpn = fakehca_last_qp(hca);
	KUNIT_EXPECT_EQ(test, mr_reg_any(test, &mr), 0);
	KUNIT_EXPECT_EQ(test, fakehca_last_qp(hca), qpn);
}

struct mr_task {
	struct work_struct	work;
	struct fid_domain	*domain;
	u8			*buf;
	struct fid_mr		*mr;
	int			ret;
};

static void mr_task_reg(struct work_struct *work)
{
	struct mr_task *task = container_of(work, struct mr_task, work);

	task->ret = fi_mr_reg(task->domain, task->buf, 64, MR_REMOTE, 0, 0, 0,
			      &task->mr, NULL);
}

static void mr_task_begin(struct kunit *test, struct mr_task *task)
{
	struct fakehca *hca = ht_of(test)->hca;
	unsigned int posted = fakehca_calls(hca, FAKEHCA_POST_SEND);

	task->domain = ht_of(test)->domain;
	task->buf = ht_buf(test, 64);
	INIT_WORK(&task->work, mr_task_reg);
	fakehca_hold(hca);
	queue_work(system_unbound_wq, &task->work);
	while (fakehca_calls(hca, FAKEHCA_POST_SEND) == posted)
		cond_resched();
}

static void a_registration_cut_off_starts_again(struct kunit *test)
{
	struct mr_task *task = ht_buf(test, sizeof(*task));
	struct fakehca *hca;
	struct fid_mr *mr;

	mr_open(test, NULL);
	hca = ht_of(test)->hca;
	KUNIT_ASSERT_EQ(test, mr_reg_any(test, &mr), 0);
	mr_task_begin(test, task);

	KUNIT_ASSERT_EQ(test, fakehca_qp_fatal(hca, fakehca_last_qp(hca)), 0);
	fakehca_release(hca);
	flush_work(&task->work);

	KUNIT_ASSERT_EQ(test, task->ret, 0);
	ht_adopt(test, &task->mr->fid);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, 2);
}

static void a_late_flush_does_not_stop_a_registration(struct kunit *test)
{
	struct fid_mr *mr;

	mr_open(test, NULL);
	KUNIT_ASSERT_EQ(test, mr_reg_any(test, &mr), 0);
	fakehca_flush_late(ht_of(test)->hca);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_SEND_WC, 1,
		     IB_WC_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, mr_reg_any(test, &mr), -EIO);
	KUNIT_EXPECT_EQ(test, mr_reg_any(test, &mr), 0);
}

/**
 * struct mr_stranger - Somebody who has found the listener
 * @work: what it does, in a thread of its own
 * @gone: it has been there
 * @ibdev: the device
 * @to: the listener
 * @data: what it says
 * @len: bytes of @data
 * @ret: how it ended; -ECONNREFUSED: rejected
 * @event: an event has come
 * @last: which one
 */
struct mr_stranger {
	struct work_struct		work;
	struct completion		gone;
	struct ib_device		*ibdev;
	struct sockaddr_storage		to;
	u8				data[16];
	u8				len;
	int				ret;
	struct completion		event;
	enum rdma_cm_event_type		last;
};

static int stranger_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct mr_stranger *stranger = id->context;

	stranger->last = event->event;
	complete(&stranger->event);
	return 0;
}

static int stranger_wait(struct mr_stranger *stranger,
			 enum rdma_cm_event_type want)
{
	unsigned long patience = msecs_to_jiffies(HT_PATIENCE_MS);

	if (!wait_for_completion_timeout(&stranger->event, patience))
		return -ETIMEDOUT;
	return stranger->last == want ? 0 : -EIO;
}

static int stranger_connect(struct mr_stranger *stranger, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {
		.private_data		= stranger->data,
		.private_data_len	= stranger->len,
	};
	int ret;

	ret = rdma_connect(id, &param);
	if (!ret)
		ret = stranger_wait(stranger, RDMA_CM_EVENT_REJECTED);
	return ret ? : -ECONNREFUSED;
}

static int stranger_resolve(struct mr_stranger *stranger, struct rdma_cm_id *id)
{
	int ret;

	ret = rdma_resolve_addr(id, NULL, (struct sockaddr *)&stranger->to,
				HT_PATIENCE_MS);
	if (!ret)
		ret = stranger_wait(stranger, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (!ret)
		ret = rdma_resolve_route(id, HT_PATIENCE_MS);
	if (!ret)
		ret = stranger_wait(stranger, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return ret;
}

static int stranger_try(struct mr_stranger *stranger, struct rdma_cm_id *id,
			struct ib_pd *pd, struct ib_cq *cq)
{
	struct ib_qp_init_attr attr = {
		.send_cq	= cq,
		.recv_cq	= cq,
		.cap = {
			.max_send_wr	= 1,
			.max_recv_wr	= 1,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
		.qp_type	= IB_QPT_RC,
	};
	int ret;

	ret = stranger_resolve(stranger, id);
	if (!ret)
		ret = rdma_create_qp(id, pd, &attr);
	if (ret)
		return ret;
	ret = stranger_connect(stranger, id);
	ib_drain_qp(id->qp);
	rdma_destroy_qp(id);
	return ret;
}

static void stranger_work(struct work_struct *work)
{
	struct mr_stranger *stranger = container_of(work, struct mr_stranger,
						    work);
	struct ib_pd *pd = ib_alloc_pd(stranger->ibdev, 0);
	struct ib_cq *cq = ib_alloc_cq(stranger->ibdev, NULL, 4, 0,
				       IB_POLL_WORKQUEUE);
	struct rdma_cm_id *id = rdma_create_id(&init_net, stranger_handler,
					       stranger, RDMA_PS_TCP,
					       IB_QPT_RC);

	stranger->ret = -ENOMEM;
	if (!IS_ERR(pd) && !IS_ERR(cq) && !IS_ERR(id))
		stranger->ret = stranger_try(stranger, id, pd, cq);
	if (!IS_ERR(id))
		rdma_destroy_id(id);
	if (!IS_ERR(cq))
		ib_free_cq(cq);
	if (!IS_ERR(pd))
		ib_dealloc_pd(pd);
	complete(&stranger->gone);
}

/* The one who connects holds locks of the kind that the stranger needs */
static void stranger_comes(void *context, const struct sockaddr_storage *to)
{
	struct mr_stranger *stranger = context;

	stranger->to = *to;
	queue_work(system_unbound_wq, &stranger->work);
	wait_for_completion(&stranger->gone);
}

static const u8 stranger_lens[] = { 0, 7, 8, 16 };

static void stranger_len_name(const u8 *len, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u bytes of data", *len);
}

KUNIT_ARRAY_PARAM(stranger_len, stranger_lens, stranger_len_name);

static void strangers_are_rejected(struct kunit *test)
{
	struct mr_stranger *stranger = ht_buf(test, sizeof(*stranger));
	struct fid_mr *mr;

	mr_open(test, NULL);
	stranger->ibdev = fakehca_ibdev(ht_of(test)->hca);
	stranger->len = *(const u8 *)test->param_value;
	INIT_WORK(&stranger->work, stranger_work);
	init_completion(&stranger->gone);
	init_completion(&stranger->event);
	fakehca_on_connect(ht_of(test)->hca, stranger_comes, stranger);

	KUNIT_EXPECT_EQ(test, mr_reg_any(test, &mr), 0);
	flush_work(&stranger->work);
	KUNIT_EXPECT_EQ(test, stranger->ret, -ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, 2);
}

static void one_connection_serves_all_registrations(struct kunit *test)
{
	struct fakehca *hca;
	struct fid_mr *mr;
	int i;

	mr_open(test, NULL);
	hca = ht_of(test)->hca;
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, 0);
	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, mr_reg_any(test, &mr), 0);
	KUNIT_EXPECT_EQ(test, fakehca_calls(hca, FAKEHCA_CONNECT), 1);
	KUNIT_EXPECT_EQ(test, fakehca_calls(hca, FAKEHCA_POST_SEND), 5);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, 2);
}

static void a_device_that_goes_registers_no_more(struct kunit *test)
{
	struct fi_eq_err_entry error;
	struct ht_pair pair = {};
	struct fid_mr *before, *mr;

	mr_open(test, NULL);
	ht_listen(test);
	ht_join(test, &pair);
	KUNIT_ASSERT_EQ(test, mr_reg_any(test, &before), 0);
	fakehca_remove_begin(ht_of(test)->hca);
	error = ht_error(test, pair.a.eq);
	KUNIT_EXPECT_EQ(test, error.err, ENODEV);

	KUNIT_EXPECT_EQ(test, mr_reg_any(test, &mr), -ENODEV);
	ht_close(test, &before->fid);
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE_PARAM(registration_fails_with_the_verb, mr_fail_gen_params),
	KUNIT_CASE_PARAM(registration_ends_with_the_status,
			 mr_status_gen_params),
	KUNIT_CASE(a_device_that_only_flushes_is_not_tried_for_ever),
	KUNIT_CASE_PARAM(a_region_is_mapped_as_long_as_it_is_open,
			 mr_direction_gen_params),
	KUNIT_CASE(a_device_that_takes_gaps_gets_them),
	KUNIT_CASE(a_device_without_gaps_refuses_them),
	KUNIT_CASE(gaps_are_limited_by_the_device),
	KUNIT_CASE(pages_are_counted_from_the_first_to_the_last),
	KUNIT_CASE(a_registered_sink_takes_what_is_read),
	KUNIT_CASE(keys_are_fresh_although_the_device_repeats),
	KUNIT_CASE(a_broken_connection_is_replaced),
	KUNIT_CASE(a_registration_cut_off_starts_again),
	KUNIT_CASE(a_late_flush_does_not_stop_a_registration),
	KUNIT_CASE_PARAM(strangers_are_rejected, stranger_len_gen_params),
	KUNIT_CASE(one_connection_serves_all_registrations),
	KUNIT_CASE(a_device_that_goes_registers_no_more),
	{}
};

struct kunit_suite kofi_hca_mr_suite = {
	.name		= "kofi_hca_mr",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= mr_cases,
};
