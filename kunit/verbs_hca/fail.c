// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Verbs that fail, one at a time, in each call of the client that uses them: the
 * error comes out, nothing is left behind, and the next try succeeds.  What belongs to another
 * device is refused.
 */
#include <linux/err.h>
#include <linux/inet.h>
#include <rdma/ib_verbs.h>
#include "hca.h"

/**
 * struct fail_point - A verb that fails
 * @name: of the verb
 * @point: the verb
 * @nth: at which call
 * @error: with what
 */
struct fail_point {
	const char		*name;
	enum fakehca_point	point;
	unsigned int		nth;
	int			error;
};

static void fail_arm(struct kunit *test, const struct fail_point *fail)
{
	fakehca_fail(ht_of(test)->hca, fail->point, fail->nth, fail->error);
}

/* Nothing but @before is left of a call that failed */
static void fail_expect_same(struct kunit *test, const struct fakehca_stats *before)
{
	struct fakehca_stats now = ht_stats(test);

	KUNIT_EXPECT_EQ(test, now.pds, before->pds);
	KUNIT_EXPECT_EQ(test, now.cqs, before->cqs);
	KUNIT_EXPECT_EQ(test, now.qps, before->qps);
	KUNIT_EXPECT_EQ(test, now.srqs, before->srqs);
	KUNIT_EXPECT_EQ(test, now.mrs, before->mrs);
	KUNIT_EXPECT_EQ(test, now.mapped, before->mapped);
}

static const struct fail_point domain_points[] = {
	{ "alloc_pd", FAKEHCA_ALLOC_PD, 1, -ENOMEM },
	{ "alloc_pd", FAKEHCA_ALLOC_PD, 1, -EIO },
	{ "get_dma_mr", FAKEHCA_GET_DMA_MR, 1, -ENOMEM },
};

KUNIT_ARRAY_PARAM_DESC(domain_point, domain_points, name);

static void domain_fails_with_the_verb(struct kunit *test)
{
	const struct fail_point *fail = test->param_value;
	struct fakehca_stats before;
	struct fid_domain *domain = NULL;
	struct ht *ht = ht_of(test);

	ht_device(test, NULL);
	ht_fabric(test, ht_hints(test));
	before = ht_stats(test);
	fail_arm(test, fail);

	KUNIT_EXPECT_EQ(test, fi_domain(ht->vt.fabric, ht->vt.info, &domain, NULL), fail->error);
	KUNIT_EXPECT_NULL(test, domain);
	fail_expect_same(test, &before);
	KUNIT_ASSERT_EQ(test, fi_domain(ht->vt.fabric, ht->vt.info, &domain, NULL), 0);
	vt_adopt(test, &domain->fid);
}

static const struct fail_point cq_points[] = {
	{ "create_cq", FAKEHCA_CREATE_CQ, 1, -ENOMEM },
	{ "create_cq", FAKEHCA_CREATE_CQ, 1, -EINVAL },
	{ "create_cq", FAKEHCA_CREATE_CQ, 1, -EIO },
};

KUNIT_ARRAY_PARAM_DESC(cq_point, cq_points, name);

static void cq_open_fails_with_the_verb(struct kunit *test)
{
	const struct fail_point *fail = test->param_value;
	struct fakehca_stats before;
	struct fid_cq *cq = NULL;

	ht_open(test, NULL);
	before = ht_stats(test);
	fail_arm(test, fail);

	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, NULL, &cq, NULL), fail->error);
	KUNIT_EXPECT_NULL(test, cq);
	fail_expect_same(test, &before);
	KUNIT_ASSERT_EQ(test, fi_cq_open(vt_of(test)->domain, NULL, &cq, NULL), 0);
	vt_adopt(test, &cq->fid);
}

static const struct fail_point enable_points[] = {
	{ "create_qp", FAKEHCA_CREATE_QP, 1, -ENOMEM },
	{ "create_qp", FAKEHCA_CREATE_QP, 1, -EPERM },
	{ "modify_qp to INIT", FAKEHCA_MODIFY_QP, 1, -EIO },
};

KUNIT_ARRAY_PARAM_DESC(enable_point, enable_points, name);

static void enable_fails_with_the_verb(struct kunit *test)
{
	const struct fail_point *fail = test->param_value;
	struct fakehca_stats before;
	struct vt_pair pair = {};

	ht_serve(test, NULL);
	ht_end_open(test, &pair.a, vt_of(test)->info);
	before = ht_stats(test);
	fail_arm(test, fail);

	KUNIT_EXPECT_EQ(test, fi_enable(pair.a.ep), fail->error);
	fail_expect_same(test, &before);
	ht_join(test, &pair);
	vt_ping(test, &pair.a, &pair.b);
}

/* What the failed enable reserved in the queue is free again */
static void enable_that_failed_gives_its_room_back(struct kunit *test)
{
	struct vt_pair pair = {};
	struct fi_info *info;

	ht_serve(test, NULL);
	info = vt_of(test)->info;
	pair.a.tx = vt_cq(test, &vt_default_kind, info->tx_attr->size + info->rx_attr->size);
	ht_end_open(test, &pair.a, info);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_CREATE_QP, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, fi_enable(pair.a.ep), -ENOMEM);
	KUNIT_EXPECT_EQ(test, fi_enable(pair.a.ep), 0);
}

/* A peer that has gone has this errno, too, but this one waits */
static void enable_that_failed_leaves_the_request(struct kunit *test)
{
	static const struct fakehca_attr attr = { .roce = true };
	struct ht *ht = ht_of(test);
	struct vt_pair pair = {};

	ht_serve(test, &attr);
	ht_client(test, &pair.a);
	vt_connect(test, &pair.a, NULL, 0);
	ht_end_open(test, &pair.b, vt_connreq(test, NULL));
	/* Twice, as it is tried without inline data, too */
	fakehca_fail_again(ht->hca, FAKEHCA_CREATE_QP, 1, -EINVAL, 2);

	KUNIT_EXPECT_EQ(test, fi_enable(pair.b.ep), -EINVAL);
	ht_end_enable(test, &pair.b);
	vt_accept(test, &pair.b, NULL, 0);
	vt_event(test, pair.a.eq, FI_CONNECTED, NULL);
	vt_ping(test, &pair.a, &pair.b);
}

static void close_after_a_failed_enable(struct kunit *test)
{
	struct vt_end end = {};

	ht_serve(test, NULL);
	ht_end_open(test, &end, vt_of(test)->info);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_CREATE_QP, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, fi_enable(end.ep), -ENOMEM);
	vt_end_close(test, &end);
}

static const struct fail_point listen_points[] = {
	{ "listen", FAKEHCA_LISTEN, 1, -ENOMEM },
	{ "listen", FAKEHCA_LISTEN, 1, -EADDRINUSE },
};

KUNIT_ARRAY_PARAM_DESC(listen_point, listen_points, name);

static void listen_fails_with_the_device(struct kunit *test)
{
	const struct fail_point *fail = test->param_value;
	struct vt_pair pair = {};
	struct ht *ht = ht_of(test);

	ht_open(test, NULL);
	ht->vt.eq = vt_eq(test, 0);
	KUNIT_ASSERT_EQ(test, fi_passive_ep(ht->vt.fabric, ht->vt.info, &ht->vt.pep, NULL), 0);
	vt_adopt(test, &ht->vt.pep->fid);
	KUNIT_ASSERT_EQ(test, fi_pep_bind(ht->vt.pep, &ht->vt.eq->fid, 0), 0);
	fail_arm(test, fail);

	KUNIT_EXPECT_EQ(test, fi_listen(ht->vt.pep), fail->error);
	KUNIT_ASSERT_EQ(test, fi_listen(ht->vt.pep), 0);
	ht->vt.name_len = sizeof(ht->vt.name);
	KUNIT_ASSERT_EQ(test, fi_getname(&ht->vt.pep->fid, &ht->vt.name, &ht->vt.name_len), 0);
	ht_join(test, &pair);
	vt_ping(test, &pair.a, &pair.b);
}

static const struct fail_point connect_points[] = {
	{ "modify_qp to INIT", FAKEHCA_MODIFY_QP, 1, -EIO },
	{ "modify_qp to RTR", FAKEHCA_MODIFY_QP, 2, -EIO },
	{ "connect", FAKEHCA_CONNECT, 1, -ENOMEM },
};

KUNIT_ARRAY_PARAM_DESC(connect_point, connect_points, name);

/* fi_connect() only starts, so the error is an event */
static void connect_ends_in_an_error_event(struct kunit *test)
{
	const struct fail_point *fail = test->param_value;
	struct ht *ht = ht_of(test);
	struct vt_pair pair = {};
	struct fi_eq_err_entry error;
	struct vt_end end = {};

	ht_serve(test, NULL);
	ht_client(test, &end);
	fail_arm(test, fail);

	KUNIT_EXPECT_EQ(test, fi_connect(end.ep, &ht->vt.name, NULL, 0), 0);
	error = ht_error(test, end.eq);
	KUNIT_EXPECT_EQ(test, error.err, -fail->error);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &end.ep->fid);
	vt_no_event(test, end.eq);
	KUNIT_EXPECT_EQ(test, fi_connect(end.ep, &ht->vt.name, NULL, 0), -ESHUTDOWN);
	vt_end_close(test, &end);
	ht_join(test, &pair);
	vt_ping(test, &pair.a, &pair.b);
}

struct fail_reply {
	const char	*name;
	bool		roce;
	int		err;
};

static const struct fail_reply fail_replies[] = {
	{ "RoCE", true, ETIMEDOUT },
	{ "iWARP", false, ECONNRESET },
};

KUNIT_ARRAY_PARAM_DESC(fail_reply, fail_replies, name);

/* As of a peer that breaks the rules of the connection manager */
static void a_reply_of_another_error_has_it_in_prov_errno(struct kunit *test)
{
	const struct fail_reply *param = test->param_value;
	const struct fakehca_attr attr = { .roce = param->roce };
	struct fi_eq_err_entry error;
	struct vt_end end = {};
	struct fi_info *info;

	ht_serve(test, &attr);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_REPLY, 1, -EPROTO);
	info = vt_dial(test, &end);
	KUNIT_ASSERT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, NULL, 0), 0);

	error = ht_error(test, end.eq);
	KUNIT_EXPECT_EQ(test, error.err, param->err);
	KUNIT_EXPECT_EQ(test, error.prov_errno, EPROTO);
	vt_no_event(test, end.eq);
}

static void a_failed_connect_flushes_receives(struct kunit *test)
{
	struct ht *ht = ht_of(test);
	struct vt_end end = {};
	u8 *buf = ht_buf(test, 64);

	ht_serve(test, NULL);
	ht_client(test, &end);
	KUNIT_EXPECT_EQ(test, fi_recv(end.ep, buf, 64, NULL, 0, vt_ctx(1)), 0);
	fakehca_fail(ht->hca, FAKEHCA_CONNECT, 1, -ENOMEM);

	KUNIT_EXPECT_EQ(test, fi_connect(end.ep, &ht->vt.name, NULL, 0), 0);
	ht_error(test, end.eq);
	ht_each_once(test, end.tx, 1, ECANCELED);
}

static const struct fail_point accept_points[] = {
	{ "modify_qp to INIT", FAKEHCA_MODIFY_QP, 1, -EIO },
	{ "modify_qp to RTR", FAKEHCA_MODIFY_QP, 2, -EIO },
	{ "accept", FAKEHCA_ACCEPT, 1, -ENOMEM },
};

KUNIT_ARRAY_PARAM_DESC(accept_point, accept_points, name);

static void accept_fails_and_the_peer_is_told(struct kunit *test)
{
	const struct fail_point *fail = test->param_value;
	struct vt_pair pair = {}, again = {};

	ht_serve(test, NULL);
	ht_client(test, &pair.a);
	vt_connect(test, &pair.a, NULL, 0);
	ht_end_open(test, &pair.b, vt_connreq(test, NULL));
	ht_end_enable(test, &pair.b);
	fail_arm(test, fail);

	KUNIT_EXPECT_EQ(test, fi_accept(pair.b.ep, NULL, 0), -ECONNABORTED);
	KUNIT_EXPECT_EQ(test, ht_error(test, pair.a.eq).err, ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, fi_accept(pair.b.ep, NULL, 0), -ECONNABORTED);
	vt_no_event(test, pair.b.eq);
	vt_pair_close(test, &pair);
	ht_join(test, &again);
	vt_ping(test, &again.a, &again.b);
}

/* It has no room, or its queue pair is changing its state */
static void a_device_that_is_busy_says_try_again(struct kunit *test)
{
	static const int errnos[] = { -ENOMEM, -ENOTCONN };
	struct vt_pair pair = {};
	u8 *buf = ht_buf(test, 64);
	size_t i;

	ht_connect(test, NULL, &pair);
	for (i = 0; i < ARRAY_SIZE(errnos); i++) {
		fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 1, errnos[i]);
		KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, 64, NULL, 0, NULL), -EAGAIN);
		fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_RECV, 1, errnos[i]);
		KUNIT_EXPECT_EQ(test, fi_recv(pair.a.ep, buf, 64, NULL, 0, NULL), -EAGAIN);
	}
	vt_ping(test, &pair.a, &pair.b);
	vt_ping(test, &pair.b, &pair.a);
}

/* More often than there are slots, so none may get lost */
static void failed_posts_lose_no_slot(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = ht_buf(test, 64);
	size_t i;

	ht_connect(test, NULL, &pair);
	for (i = 0; i < 2 * pair.a.info->tx_attr->size; i++) {
		fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 1, -EIO);
		KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, 64, NULL, 0, NULL), -EIO);
		fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_RECV, 1, -EIO);
		KUNIT_ASSERT_EQ(test, fi_recv(pair.a.ep, buf, 64, NULL, 0, NULL), -EIO);
	}
	vt_ping(test, &pair.a, &pair.b);
	vt_ping(test, &pair.b, &pair.a);
}

struct fail_status {
	const char		*name;
	enum ib_wc_status	status;
	int			err;
};

static const struct fail_status send_statuses[] = {
	{ "local length", IB_WC_LOC_LEN_ERR, EMSGSIZE },
	{ "local protection", IB_WC_LOC_PROT_ERR, EFAULT },
	{ "remote access", IB_WC_REM_ACCESS_ERR, EACCES },
	{ "remote operation", IB_WC_REM_OP_ERR, EREMOTEIO },
	{ "retries exceeded", IB_WC_RETRY_EXC_ERR, ETIMEDOUT },
	{ "receiver not ready", IB_WC_RNR_RETRY_EXC_ERR, FI_ENORX },
	{ "fatal", IB_WC_FATAL_ERR, EIO },
};

KUNIT_ARRAY_PARAM_DESC(send_status, send_statuses, name);

static void a_failed_send_ends_the_connection(struct kunit *test)
{
	const struct fail_status *param = test->param_value;
	struct vt_pair pair = {};
	u8 *buf = ht_buf(test, 64);
	struct vt_comp comp;

	ht_connect(test, NULL, &pair);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_SEND_WC, 1, param->status);
	vt_recv(test, &pair.b, buf, 64, vt_ctx(1));
	vt_send(test, &pair.a, buf, 64, vt_ctx(2));

	comp = ht_failed(test, pair.a.tx, param->err);
	KUNIT_EXPECT_EQ(test, comp.prov_errno, param->status);
	vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
	vt_event(test, pair.b.eq, FI_SHUTDOWN, NULL);
	ht_failed(test, pair.b.tx, ECANCELED);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, 64, NULL, 0, NULL), -ESHUTDOWN);
	vt_no_event(test, pair.a.eq);
	vt_no_event(test, pair.b.eq);
}

static void a_message_too_long_for_the_receive_is_truncated(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = ht_buf(test, 128), *in = ht_buf(test, 64);

	ht_connect(test, NULL, &pair);
	vt_recv(test, &pair.b, in, 64, vt_ctx(1));
	vt_send(test, &pair.a, buf, 65, vt_ctx(2));
	ht_failed(test, pair.b.tx, FI_ETRUNC);
	ht_failed(test, pair.a.tx, EREMOTEIO);
	vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
	vt_event(test, pair.b.eq, FI_SHUTDOWN, NULL);
}

/* An address of any device but the case's */
static struct fi_info *fail_other(struct kunit *test)
{
	struct fi_info *hints = vt_allocinfo(test, "verbs"), *info;

	KUNIT_ASSERT_EQ(test, fi_getinfo(VT_API, NULL, 0, 0, hints, &info), 0);
	vt_free_later(test, info);
	while (info && (info->addr_format != FI_SOCKADDR_IN ||
			!strcmp(info->domain_attr->name, fakehca_name(ht_of(test)->hca))))
		info = info->next;
	KUNIT_ASSERT_NOT_NULL(test, info);
	return info;
}

static void an_address_of_another_device_is_refused(struct kunit *test)
{
	struct fi_info *info;
	struct fid_ep *ep;

	ht_open(test, NULL);
	info = vt_dup(test, vt_of(test)->info);
	memcpy(info->src_addr, fail_other(test)->src_addr, info->src_addrlen);
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL), -EINVAL);
}

/* Opens a listener at the address of the fake HCA, on a fabric of another device */
static int fail_listen(struct kunit *test)
{
	struct sockaddr_in addr = {
		.sin_family		= AF_INET,
		.sin_addr.s_addr	= in_aton(FAKEHCA_ADDR),
	};
	struct vt *vt = vt_of(test);
	struct fi_info *info;
	struct fid_pep *pep;
	int ret;

	info = vt_dup(test, fail_other(test));
	memcpy(info->src_addr, &addr, sizeof(addr));
	KUNIT_ASSERT_EQ(test, fi_fabric(info->fabric_attr, &vt->fabric, NULL), 0);
	ret = fi_passive_ep(vt->fabric, info, &pep, NULL);
	if (!ret)
		KUNIT_EXPECT_EQ(test, fi_close(&pep->fid), 0);
	KUNIT_EXPECT_EQ(test, fi_close(&vt->fabric->fid), 0);
	return ret;
}

/* That it registers no memory does not keep rdma_cm from it */
static void a_listener_on_a_device_that_is_not_found_is_refused(struct kunit *test)
{
	static const struct fakehca_attr attr = { .no_reg = true };

	ht_device(test, &attr);
	KUNIT_EXPECT_EQ(test, fail_listen(test), -ENODEV);
}

/* ib_core queries it, too, when the device comes up */
static void a_device_whose_port_cannot_be_queried_is_not_found(struct kunit *test)
{
	struct fakehca_attr attr = { .fail = FAKEHCA_QUERY_PORT, .fail_nth = 1 };
	struct ht *ht = ht_of(test);
	int ret, unknown = 0;

	for (; attr.fail_nth < 8; attr.fail_nth++) {
		ht->hca = fakehca_create(&attr);
		if (IS_ERR(ht->hca))
			continue;
		ret = fail_listen(test);
		KUNIT_EXPECT_TRUE(test, !ret || ret == -ENODEV);
		unknown += !!ret;
		fakehca_destroy(ht->hca);
	}
	ht->hca = NULL;
	KUNIT_EXPECT_EQ(test, unknown, 1);
}

/* The request waits for an endpoint of its device */
static void a_request_on_another_device_is_refused(struct kunit *test)
{
	struct fid_domain *domain;
	struct vt_pair pair = {};
	struct fi_info *info;
	struct fid_ep *ep;

	ht_serve(test, NULL);
	KUNIT_ASSERT_EQ(test, fi_domain(vt_of(test)->fabric, fail_other(test), &domain, NULL), 0);
	vt_adopt(test, &domain->fid);
	info = vt_dial(test, &pair.a);
	KUNIT_EXPECT_EQ(test, fi_endpoint(domain, info, &ep, NULL), -FI_EDOMAIN);
	ht_end_open(test, &pair.b, info);
	ht_end_enable(test, &pair.b);
	vt_accept(test, &pair.b, NULL, 0);
}

static struct kunit_case fail_cases[] = {
	KUNIT_CASE_PARAM(domain_fails_with_the_verb, domain_point_gen_params),
	KUNIT_CASE_PARAM(cq_open_fails_with_the_verb, cq_point_gen_params),
	KUNIT_CASE_PARAM(enable_fails_with_the_verb, enable_point_gen_params),
	KUNIT_CASE(enable_that_failed_gives_its_room_back),
	KUNIT_CASE(enable_that_failed_leaves_the_request),
	KUNIT_CASE(close_after_a_failed_enable),
	KUNIT_CASE_PARAM(listen_fails_with_the_device, listen_point_gen_params),
	KUNIT_CASE_PARAM(connect_ends_in_an_error_event, connect_point_gen_params),
	KUNIT_CASE_PARAM(a_reply_of_another_error_has_it_in_prov_errno, fail_reply_gen_params),
	KUNIT_CASE(a_failed_connect_flushes_receives),
	KUNIT_CASE_PARAM(accept_fails_and_the_peer_is_told, accept_point_gen_params),
	KUNIT_CASE(a_device_that_is_busy_says_try_again),
	KUNIT_CASE(failed_posts_lose_no_slot),
	KUNIT_CASE_PARAM(a_failed_send_ends_the_connection, send_status_gen_params),
	KUNIT_CASE(a_message_too_long_for_the_receive_is_truncated),
	KUNIT_CASE(an_address_of_another_device_is_refused),
	KUNIT_CASE(a_listener_on_a_device_that_is_not_found_is_refused),
	KUNIT_CASE(a_device_whose_port_cannot_be_queried_is_not_found),
	KUNIT_CASE(a_request_on_another_device_is_refused),
	{}
};

struct kunit_suite kofi_hca_fail_suite = {
	.name		= "kofi_hca_fail",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= fail_cases,
};
