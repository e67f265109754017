// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Registering memory when something fails: each verb it takes, the work request,
 * and the connection that it is posted on, which strangers may find, too.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "../lib/async.h"
#include "../lib/refusal.h"
#include "mr.h"

/**
 * struct reg_fail - A verb that fails in the first registration
 * @name: of the verb
 * @point: the verb
 * @nth: at which call
 * @value: with what
 * @error: what the client sees
 */
struct reg_fail {
	const char		*name;
	enum fakehca_point	point;
	unsigned int		nth;
	int			value;
	int			error;
};

static const struct reg_fail reg_fails[] = {
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

KUNIT_ARRAY_PARAM_DESC(reg_fail, reg_fails, name);

static void registration_fails_with_the_verb(struct kunit *test)
{
	const struct reg_fail *fail = test->param_value;
	struct fakehca_stats before, after;
	u8 *buf = hm_pages(test);
	/* Three segments, so that there are parts */
	struct kvec list[] = {
		{ buf, PAGE_SIZE },
		{ buf + 2 * PAGE_SIZE, PAGE_SIZE },
		{ buf + 4 * PAGE_SIZE, 100 },
	};
	struct fid_mr *mr;

	hm_open(test, NULL);
	before = ht_stats(test);
	fakehca_fail(ht_of(test)->hca, fail->point, fail->nth, fail->value);

	KUNIT_EXPECT_EQ(test, hm_regv(test, list, 3, HM_REMOTE, &mr), fail->error);
	KUNIT_EXPECT_NULL(test, mr);
	fakehca_idle(ht_of(test)->hca);
	after = ht_stats(test);
	KUNIT_EXPECT_EQ(test, after.mrs, before.mrs);
	KUNIT_EXPECT_EQ(test, after.mapped, before.mapped);
	KUNIT_EXPECT_EQ(test, after.cqs, before.cqs);
	KUNIT_EXPECT_EQ(test, after.qps, before.qps);

	KUNIT_ASSERT_EQ(test, hm_regv(test, list, 3, HM_REMOTE, &mr), 0);
}

static const struct reg_fail reg_statuses[] = {
	{ "operation", FAKEHCA_SEND_WC, 1, IB_WC_LOC_QP_OP_ERR, -EIO },
	{ "protection", FAKEHCA_SEND_WC, 1, IB_WC_LOC_PROT_ERR, -EFAULT },
	{ "fatal", FAKEHCA_SEND_WC, 1, IB_WC_FATAL_ERR, -EIO },
	/* Not executed, so tried again */
	{ "flushed", FAKEHCA_SEND_WC, 1, IB_WC_WR_FLUSH_ERR, 0 },
	{ "not posted", FAKEHCA_POST_SEND, 1, -EIO, 0 },
};

KUNIT_ARRAY_PARAM_DESC(reg_status, reg_statuses, name);

static void registration_ends_with_the_status(struct kunit *test)
{
	const struct reg_fail *fail = test->param_value;
	struct fakehca_stats before;
	struct fid_mr *mr;

	hm_open(test, NULL);
	before = ht_stats(test);
	fakehca_fail(ht_of(test)->hca, fail->point, fail->nth, fail->value);

	KUNIT_EXPECT_EQ(test, hm_reg_any(test, &mr), fail->error);
	if (fail->error) {
		KUNIT_EXPECT_EQ(test, ht_stats(test).mrs, before.mrs);
		KUNIT_EXPECT_EQ(test, ht_stats(test).mapped, before.mapped);
	}
	KUNIT_ASSERT_EQ(test, hm_reg_any(test, &mr), 0);
	/* Whatever the status was, the connection that has failed is replaced once */
	KUNIT_EXPECT_EQ(test, fakehca_calls(ht_of(test)->hca, FAKEHCA_CONNECT), 2);
}

/* A device that flushes everything ends the second try, too */
static void a_device_that_only_flushes_is_not_tried_for_ever(struct kunit *test)
{
	struct fid_mr *mr;

	hm_open(test, NULL);
	vt_refusals_begin(test);
	KUNIT_ASSERT_EQ(test, hm_reg_any(test, &mr), 0);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_SEND_WC, 1, IB_WC_WR_FLUSH_ERR);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_CONNECT, 1, -ENETDOWN);
	KUNIT_EXPECT_EQ(test, hm_reg_any(test, &mr), -ENETDOWN);
	vt_refused(test, "mr_reg", -ENETDOWN, "could not be connected with itself");
	fakehca_fail_again(ht_of(test)->hca, FAKEHCA_SEND_WC, 1, IB_WC_WR_FLUSH_ERR, 2);
	KUNIT_EXPECT_EQ(test, hm_reg_any(test, &mr), -EIO);
	vt_refused(test, "mr_reg", -EIO, "refused the registration twice");
	KUNIT_EXPECT_EQ(test, hm_reg_any(test, &mr), 0);
}

/* If it cannot listen at the client's address, it can at none of the others */
static void a_device_that_has_lost_its_address_registers_nothing(struct kunit *test)
{
	struct fakehca *hca;
	struct fid_mr *mr;

	hm_open(test, NULL);
	hca = ht_of(test)->hca;
	vt_refusals_begin(test);
	fakehca_fail_again(hca, FAKEHCA_LISTEN, 1, -EADDRNOTAVAIL, 100);
	KUNIT_EXPECT_EQ(test, hm_reg_any(test, &mr), -EADDRNOTAVAIL);
	vt_refused(test, "mr_reg", -EADDRNOTAVAIL, "has no address");
	fakehca_fail(hca, FAKEHCA_LISTEN, 0, 0);
	KUNIT_EXPECT_EQ(test, hm_reg_any(test, &mr), 0);
}

static void a_broken_connection_is_replaced(struct kunit *test)
{
	struct fakehca *hca;
	struct fid_mr *before, *mr;
	u32 qpn;

	hm_open(test, NULL);
	hca = ht_of(test)->hca;
	KUNIT_ASSERT_EQ(test, hm_reg_any(test, &before), 0);
	qpn = fakehca_last_qp(hca);
	KUNIT_ASSERT_EQ(test, fakehca_qp_fatal(hca, qpn), 0);
	fakehca_idle(hca);

	KUNIT_EXPECT_EQ(test, hm_reg_any(test, &mr), 0);
	KUNIT_EXPECT_NE(test, fakehca_last_qp(hca), qpn);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, 2);
	qpn = fakehca_last_qp(hca);
	KUNIT_EXPECT_EQ(test, hm_reg_any(test, &mr), 0);
	KUNIT_EXPECT_EQ(test, fakehca_last_qp(hca), qpn);
}

struct reg_task {
	struct work_struct	work;
	struct fid_domain	*domain;
	u8			*buf;
	struct fid_mr		*mr;
	int			ret;
};

static void reg_task_reg(struct work_struct *work)
{
	struct reg_task *task = container_of(work, struct reg_task, work);

	task->ret = fi_mr_reg(task->domain, task->buf, 64, HM_REMOTE, 0, 0, 0, &task->mr, NULL);
}

static void reg_task_begin(struct kunit *test, struct reg_task *task)
{
	struct fakehca *hca = ht_of(test)->hca;
	unsigned int posted = fakehca_calls(hca, FAKEHCA_POST_SEND);

	task->domain = vt_of(test)->domain;
	task->buf = ht_buf(test, 64);
	INIT_WORK(&task->work, reg_task_reg);
	fakehca_hold(hca);
	queue_work(system_unbound_wq, &task->work);
	while (fakehca_calls(hca, FAKEHCA_POST_SEND) == posted)
		cond_resched();
}

static void a_registration_cut_off_starts_again(struct kunit *test)
{
	struct reg_task *task = ht_buf(test, sizeof(*task));
	struct fakehca *hca;
	struct fid_mr *mr;

	hm_open(test, NULL);
	hca = ht_of(test)->hca;
	KUNIT_ASSERT_EQ(test, hm_reg_any(test, &mr), 0);
	reg_task_begin(test, task);

	KUNIT_ASSERT_EQ(test, fakehca_qp_fatal(hca, fakehca_last_qp(hca)), 0);
	fakehca_release(hca);
	flush_work(&task->work);

	KUNIT_ASSERT_EQ(test, task->ret, 0);
	vt_adopt(test, &task->mr->fid);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, 2);
}

static void a_late_flush_does_not_stop_a_registration(struct kunit *test)
{
	struct fid_mr *mr;

	hm_open(test, NULL);
	KUNIT_ASSERT_EQ(test, hm_reg_any(test, &mr), 0);
	fakehca_flush_late(ht_of(test)->hca);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_SEND_WC, 1, IB_WC_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, hm_reg_any(test, &mr), -EIO);
	KUNIT_EXPECT_EQ(test, hm_reg_any(test, &mr), 0);
}

/**
 * struct reg_stranger - Somebody who has found the listener
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
struct reg_stranger {
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
	struct reg_stranger *stranger = id->context;

	stranger->last = event->event;
	complete(&stranger->event);
	return 0;
}

static int stranger_wait(struct reg_stranger *stranger, enum rdma_cm_event_type want)
{
	unsigned long patience = msecs_to_jiffies(HT_PATIENCE_MS);

	if (!wait_for_completion_timeout(&stranger->event, patience))
		return -ETIMEDOUT;
	return stranger->last == want ? 0 : -EIO;
}

static int stranger_connect(struct reg_stranger *stranger, struct rdma_cm_id *id)
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

static int stranger_resolve(struct reg_stranger *stranger, struct rdma_cm_id *id)
{
	int ret;

	ret = rdma_resolve_addr(id, NULL, (struct sockaddr *)&stranger->to, HT_PATIENCE_MS);
	if (!ret)
		ret = stranger_wait(stranger, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (!ret)
		ret = rdma_resolve_route(id, HT_PATIENCE_MS);
	if (!ret)
		ret = stranger_wait(stranger, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return ret;
}

static int stranger_try(struct reg_stranger *stranger, struct rdma_cm_id *id,
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
	struct reg_stranger *stranger = container_of(work, struct reg_stranger, work);
	struct ib_pd *pd = ib_alloc_pd(stranger->ibdev, 0);
	struct ib_cq *cq = ib_alloc_cq(stranger->ibdev, NULL, 4, 0, IB_POLL_WORKQUEUE);
	struct rdma_cm_id *id = rdma_create_id(&init_net, stranger_handler, stranger, RDMA_PS_TCP,
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
	struct reg_stranger *stranger = context;

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
	struct reg_stranger *stranger = ht_buf(test, sizeof(*stranger));
	struct vt *vt = vt_of(test);
	struct fid_mr *mr;

	hm_open(test, NULL);
	((struct sockaddr_in *)vt->info->src_addr)->sin_port = htons(7);
	KUNIT_ASSERT_EQ(test, fi_domain(vt->fabric, vt->info, &vt->domain, NULL), 0);
	vt_adopt(test, &vt->domain->fid);
	stranger->ibdev = fakehca_ibdev(ht_of(test)->hca);
	stranger->len = *(const u8 *)test->param_value;
	INIT_WORK(&stranger->work, stranger_work);
	init_completion(&stranger->gone);
	init_completion(&stranger->event);
	fakehca_on_connect(ht_of(test)->hca, stranger_comes, stranger);

	KUNIT_EXPECT_EQ(test, hm_reg_any(test, &mr), 0);
	flush_work(&stranger->work);
	KUNIT_EXPECT_EQ(test, stranger->ret, -ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, 2);
	/* No port of a service is taken, not even for that moment, and not the domain's */
	KUNIT_EXPECT_GE(test, ntohs(((struct sockaddr_in *)&stranger->to)->sin_port), 1024);
}

static int reg_call(void *context)
{
	struct reg_task *task = context;

	reg_task_reg(&task->work);
	return task->ret;
}

/* A registration that connects, and whose request is lost */
static struct vt_async *reg_lost(struct kunit *test)
{
	struct reg_task *task = ht_buf(test, sizeof(*task));
	struct vt_async *reg;
	struct fakehca *hca;

	hm_open(test, NULL);
	hca = ht_of(test)->hca;
	task->domain = vt_of(test)->domain;
	task->buf = ht_buf(test, 64);
	fakehca_lose_request(hca);
	reg = vt_async_start(test, reg_call, task);
	while (!fakehca_calls(hca, FAKEHCA_CONNECT))
		cond_resched();
	KUNIT_EXPECT_TRUE(test, vt_async_waits(reg));
	return reg;
}

/* The removal waits for the registration, whose request for a connection has no answer */
static void a_removal_ends_a_registration_that_connects(struct kunit *test)
{
	struct vt_async *reg;
	struct fakehca *hca;

	reg = reg_lost(test);
	hca = ht_of(test)->hca;

	fakehca_remove_begin(hca);
	/* A step of connecting takes longer than that to fail by itself */
	KUNIT_EXPECT_TRUE(test, fakehca_remove_wait(hca, ht_removal_ms));
	KUNIT_EXPECT_EQ(test, vt_async_join(test, reg), -ENODEV);
}

/**
 * struct reg_reply - How the connection manager reports that a request was refused
 * @name: of that
 * @status: what it reports; 0: that the request was rejected
 * @error: what the client sees
 */
struct reg_reply {
	const char	*name;
	int		status;
	int		error;
};

static const struct reg_reply reg_replies[] = {
	{ "rejected", 0, -ECONNREFUSED },
	{ "an errno", -EHOSTUNREACH, -EHOSTUNREACH },
	{ "no errno", 5, -ENETUNREACH },
};

KUNIT_ARRAY_PARAM_DESC(reg_reply, reg_replies, name);

/* And not when the limit of the step is over, which is as long as the patience of the case */
static void a_refusal_ends_a_registration_at_once(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	const struct reg_reply *reply = test->param_value;
	struct vt_async *reg;
	struct fakehca *hca;
	ktime_t begin;

	reg = reg_lost(test);
	hca = ht_of(test)->hca;

	fakehca_fail(hca, FAKEHCA_REPLY, !!reply->status, reply->status);
	begin = ktime_get();
	KUNIT_EXPECT_EQ(test, ib_modify_qp(fakehca_qp(hca, fakehca_last_qp(hca)), &attr,
					   IB_QP_STATE), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, reg), reply->error);
	KUNIT_EXPECT_LT(test, ktime_ms_delta(ktime_get(), begin), HT_PATIENCE_MS / 2);
}

static void one_connection_serves_all_registrations(struct kunit *test)
{
	struct fakehca *hca;
	struct fid_mr *mr;
	int i;

	hm_open(test, NULL);
	hca = ht_of(test)->hca;
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, 0);
	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, hm_reg_any(test, &mr), 0);
	KUNIT_EXPECT_EQ(test, fakehca_calls(hca, FAKEHCA_CONNECT), 1);
	KUNIT_EXPECT_EQ(test, fakehca_calls(hca, FAKEHCA_POST_SEND), 5);
	KUNIT_EXPECT_EQ(test, ht_stats(test).qps, 2);
}

/* Both queues of both ends */
static void a_domain_that_closes_drains_its_connection(struct kunit *test)
{
	const struct fakehca_attr attr = { .drains = true };
	struct fid_mr *mr;

	hm_open(test, &attr);
	KUNIT_ASSERT_EQ(test, hm_reg_any(test, &mr), 0);
	vt_close(test, &mr->fid);
	vt_close(test, &vt_of(test)->domain->fid);
	KUNIT_EXPECT_EQ(test, ht_stats(test).drains, 4);
}

static struct kunit_case reg_cases[] = {
	KUNIT_CASE_PARAM(registration_fails_with_the_verb, reg_fail_gen_params),
	KUNIT_CASE_PARAM(registration_ends_with_the_status, reg_status_gen_params),
	KUNIT_CASE(a_device_that_only_flushes_is_not_tried_for_ever),
	KUNIT_CASE(a_device_that_has_lost_its_address_registers_nothing),
	KUNIT_CASE(a_broken_connection_is_replaced),
	KUNIT_CASE(a_registration_cut_off_starts_again),
	KUNIT_CASE(a_late_flush_does_not_stop_a_registration),
	KUNIT_CASE_PARAM(strangers_are_rejected, stranger_len_gen_params),
	KUNIT_CASE(a_removal_ends_a_registration_that_connects),
	KUNIT_CASE_PARAM(a_refusal_ends_a_registration_at_once, reg_reply_gen_params),
	KUNIT_CASE(one_connection_serves_all_registrations),
	KUNIT_CASE(a_domain_that_closes_drains_its_connection),
	{}
};

struct kunit_suite kofi_hca_reg_suite = {
	.name		= "kofi_hca_reg",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= reg_cases,
};
