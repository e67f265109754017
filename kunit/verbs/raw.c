// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peers that are not kOFI: rdma_cm used as it is, without a queue pair unless
 * there is no connection without one (iWARP).  Some check how connection data looks
 * on the wire (one length byte, then the data), others send what no libfabric would.
 *
 * A raw peer logs its events under no lock: rdma_cm calls the handler of one
 * id at a time, a listener's child has it called after the listener's, and the
 * reader takes an entry only after the completion that follows it.
 */
#include <linux/ktime.h>
#include <net/net_namespace.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include "verbs.h"

#define VT_RAW_LOG	8
#define VT_RAW_DATA	56	/* what rdma_cm leaves of a request */

struct vt_raw_event {
	enum rdma_cm_event_type	event;
	int			status;
	u8			flow_control;
	u8			reads;	/* that the peer serves at a time */
	u8			len;
	u8			data[VT_RAW_DATA];
};

enum vt_answer {
	VT_HOLD,
	VT_ACCEPT,
	VT_REJECT,
};

struct vt_raw {
	u32			qpn;	/* of the queue pair that it has not got */
	struct rdma_cm_id	*id;
	struct rdma_cm_id	*child;
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	struct completion	more;
	struct vt_raw_event	log[VT_RAW_LOG];
	int			nr_logged;
	int			nr_read;
	enum vt_answer		answer;
	const void		*data;
	u8			data_len;
};

static void vt_raw_log(struct vt_raw *raw, struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct vt_raw_event *log = &raw->log[raw->nr_logged];
	const void *data = event->param.conn.private_data;
	u8 len = event->param.conn.private_data_len;

	if (raw->nr_logged == VT_RAW_LOG)
		return;
	/* siw does not say that it was the consumer */
	if (event->event == RDMA_CM_EVENT_REJECTED &&
	    !rdma_protocol_iwarp(id->device, id->port_num))
		data = rdma_consumer_reject_data(id, event, &len);
	log->event = event->event;
	log->status = event->status;
	log->flow_control = event->param.conn.flow_control;
	log->reads = event->param.conn.initiator_depth;
	log->len = data ? min_t(u8, len, VT_RAW_DATA) : 0;
	if (log->len)
		memcpy(log->data, data, log->len);
	raw->nr_logged++;
	complete(&raw->more);
}

static int vt_raw_qp(struct vt_raw *raw, struct rdma_cm_id *id)
{
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr	= 2,
			.max_recv_wr	= 2,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};

	if (!rdma_protocol_iwarp(id->device, id->port_num))
		return 0;
	raw->pd = ib_alloc_pd(id->device, 0);
	if (IS_ERR(raw->pd))
		return PTR_ERR(raw->pd);
	raw->cq = ib_alloc_cq(id->device, raw, 8, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(raw->cq))
		return PTR_ERR(raw->cq);
	attr.send_cq = raw->cq;
	attr.recv_cq = raw->cq;
	return rdma_create_qp(id, raw->pd, &attr);
}

static void vt_raw_answer(struct vt_raw *raw)
{
	struct rdma_conn_param param = {
		.private_data		= raw->data,
		.private_data_len	= raw->data_len,
		.rnr_retry_count	= 7,
		.qp_num			= raw->qpn,
	};

	if (raw->answer == VT_ACCEPT && !vt_raw_qp(raw, raw->child))
		rdma_accept(raw->child, &param);
	else if (raw->answer == VT_REJECT)
		rdma_reject(raw->child, raw->data, raw->data_len, IB_CM_REJ_CONSUMER_DEFINED);
}

static int vt_raw_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct vt_raw *raw = id->context;

	vt_raw_log(raw, id, event);
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		raw->child = id;
		vt_raw_answer(raw);
	}
	return 0;
}

static void vt_raw_end(struct rdma_cm_id *id)
{
	if (!id)
		return;
	if (id->qp) {
		rdma_disconnect(id);
		ib_drain_qp(id->qp);
		rdma_destroy_qp(id);
	}
	rdma_destroy_id(id);
}

static void vt_raw_destroy(void *ptr)
{
	struct vt_raw *raw = ptr;

	/* The listener first: no more children */
	vt_raw_end(raw->id);
	vt_raw_end(raw->child);
	raw->id = NULL;
	raw->child = NULL;
	if (!IS_ERR_OR_NULL(raw->cq))
		ib_free_cq(raw->cq);
	raw->cq = NULL;
	if (!IS_ERR_OR_NULL(raw->pd))
		ib_dealloc_pd(raw->pd);
	raw->pd = NULL;
}

static struct vt_raw *vt_raw(struct kunit *test)
{
	struct vt_raw *raw = vt_buf(test, sizeof(*raw));
	static u32 qpn = 0x7777;

	/* Two at a time with one number look like one that has come back */
	raw->qpn = qpn++;
	init_completion(&raw->more);
	raw->id = rdma_create_id(&init_net, vt_raw_handler, raw, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_ASSERT_FALSE(test, IS_ERR(raw->id));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, vt_raw_destroy, raw), 0);
	return raw;
}

static const struct vt_raw_event *vt_raw_wait(struct kunit *test, struct vt_raw *raw,
					      enum rdma_cm_event_type want)
{
	const struct vt_raw_event *event;

	KUNIT_ASSERT_TRUE_MSG(test, vt_completed(&raw->more),
			      "no event, waited for %s", rdma_event_msg(want));
	event = &raw->log[raw->nr_read++];
	KUNIT_ASSERT_EQ_MSG(test, event->event, want, "%s, status %d",
			    rdma_event_msg(event->event), event->status);
	return event;
}

static void vt_raw_connect(struct kunit *test, struct vt_raw *raw, const void *data, u8 len)
{
	struct rdma_conn_param param = {
		.private_data		= data,
		.private_data_len	= len,
		.retry_count		= 7,
		.rnr_retry_count	= 7,
		.qp_num			= raw->qpn,
	};
	struct vt *vt = vt_of(test);

	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(raw->id, vt->info->src_addr,
						(struct sockaddr *)&vt->name, 2000), 0);
	vt_raw_wait(test, raw, RDMA_CM_EVENT_ADDR_RESOLVED);
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(raw->id, 2000), 0);
	vt_raw_wait(test, raw, RDMA_CM_EVENT_ROUTE_RESOLVED);
	KUNIT_ASSERT_EQ(test, vt_raw_qp(raw, raw->id), 0);
	KUNIT_ASSERT_EQ(test, rdma_connect(raw->id, &param), 0);
}

/* The case's clients will connect to it */
static struct vt_raw *vt_raw_listen(struct kunit *test, enum vt_answer answer,
				    const void *data, u8 len)
{
	struct vt_raw *raw = vt_raw(test);
	struct vt *vt = vt_of(test);

	raw->answer = answer;
	raw->data = data;
	raw->data_len = len;
	KUNIT_ASSERT_EQ(test, rdma_bind_addr(raw->id, vt->info->src_addr), 0);
	KUNIT_ASSERT_EQ(test, rdma_listen(raw->id, 8), 0);
	vt->name = raw->id->route.addr.src_addr;
	return raw;
}

static void a_request_carries_length_and_data(struct kunit *test)
{
	const struct vt_raw_event *event;
	struct vt_end client = {};
	struct vt_raw *raw;

	vt_open(test, AF_INET, NULL);
	raw = vt_raw_listen(test, VT_HOLD, NULL, 0);
	vt_client(test, &client, &vt_default_kind);
	vt_connect(test, &client, "abc", 3);
	event = vt_raw_wait(test, raw, RDMA_CM_EVENT_CONNECT_REQUEST);

	KUNIT_ASSERT_GE(test, event->len, 4);
	KUNIT_EXPECT_EQ(test, event->data[0], 3);
	KUNIT_EXPECT_MEMEQ(test, event->data + 1, "abc", 3);
	KUNIT_EXPECT_EQ(test, event->flow_control, !vt_is_iwarp(test));
}

static void an_accept_carries_length_and_data(struct kunit *test)
{
	const struct vt_raw_event *event;
	struct vt_end server = {};
	struct vt_raw *raw;

	vt_serve(test, AF_INET, NULL);
	raw = vt_raw(test);
	vt_raw_connect(test, raw, NULL, 0);
	vt_end_open(test, &server, vt_connreq(test, NULL), &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_accept(server.ep, "abcd", 4), 0);
	/* With a queue pair rdma_cm does the rest */
	event = vt_raw_wait(test, raw, raw->id->qp ?
			    RDMA_CM_EVENT_ESTABLISHED :
			    RDMA_CM_EVENT_CONNECT_RESPONSE);

	KUNIT_ASSERT_GE(test, event->len, 5);
	KUNIT_EXPECT_EQ(test, event->data[0], 4);
	KUNIT_EXPECT_MEMEQ(test, event->data + 1, "abcd", 4);
	/* As few as were asked for */
	KUNIT_EXPECT_EQ(test, event->reads, 0);
}

static void a_reject_carries_length_and_data(struct kunit *test)
{
	const struct vt_raw_event *event;
	struct fi_info *info;
	struct vt_raw *raw;

	vt_serve(test, AF_INET, NULL);
	raw = vt_raw(test);
	vt_raw_connect(test, raw, NULL, 0);
	info = vt_connreq(test, NULL);
	KUNIT_ASSERT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, "no", 2), 0);
	event = vt_raw_wait(test, raw, RDMA_CM_EVENT_REJECTED);

	KUNIT_ASSERT_GE(test, event->len, 3);
	KUNIT_EXPECT_EQ(test, event->data[0], 2);
	KUNIT_EXPECT_MEMEQ(test, event->data + 1, "no", 2);
}

struct vt_field {
	const char	*name;
	u8		data[VT_RAW_DATA];
	u8		len;
};

/* Length bytes that promise more than there can be */
static const struct vt_field vt_lies[] = {
	{ "56", { 56, 1, 2, 3 }, VT_RAW_DATA },
	{ "57", { 57 }, VT_RAW_DATA },
	{ "255", { 255, 255, 255 }, VT_RAW_DATA },
	{ "255 in one byte", { 255 }, 1 },
};

KUNIT_ARRAY_PARAM_DESC(vt_field, vt_lies, name);

static void a_request_out_of_form_is_rejected(struct kunit *test)
{
	const struct vt_field *param = test->param_value;
	struct vt_pair before = {}, after = {};
	struct vt_raw *raw;

	vt_serve_pair(test, NULL, &before);
	raw = vt_raw(test);
	vt_raw_connect(test, raw, param->data, param->len);

	vt_raw_wait(test, raw, RDMA_CM_EVENT_REJECTED);

	vt_no_event(test, vt_of(test)->eq);
	vt_ping(test, &before.a, &before.b);
	vt_join(test, &after, &vt_default_kind);
	vt_ping(test, &after.b, &after.a);
}

static void a_request_without_data_is_one_of_no_bytes(struct kunit *test)
{
	vt_serve(test, AF_INET, NULL);
	vt_raw_connect(test, vt_raw(test), NULL, 0);

	KUNIT_EXPECT_EQ(test, vt_event(test, vt_of(test)->eq, FI_CONNREQ, NULL), 0);
}

static void bytes_behind_the_data_are_no_data(struct kunit *test)
{
	static const u8 data[VT_RAW_DATA] = { 2, 'o', 'k', 'x', 'x', 'x' };
	union vt_event event;

	vt_serve(test, AF_INET, NULL);
	vt_raw_connect(test, vt_raw(test), data, sizeof(data));

	KUNIT_ASSERT_EQ(test, vt_event(test, vt_of(test)->eq, FI_CONNREQ, &event), 2);
	KUNIT_EXPECT_MEMEQ(test, event.cm.data, "ok", 2);
}

static void an_accept_out_of_form_fails_the_connection(struct kunit *test)
{
	const struct vt_field *param = test->param_value;
	struct fi_eq_err_entry error = {};
	struct vt_end client = {};
	struct vt_pair other = {};

	vt_serve_pair(test, NULL, &other);
	vt_raw_listen(test, VT_ACCEPT, param->data, param->len);
	vt_client(test, &client, &vt_default_kind);
	vt_recv(test, &client, vt_buf(test, 8), 8, vt_ctx(1));
	vt_connect(test, &client, NULL, 0);

	vt_error(test, client.eq, &error);

	KUNIT_EXPECT_EQ(test, error.err, EPROTO);
	KUNIT_EXPECT_EQ(test, error.prov_errno, EPROTO);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &client.ep->fid);
	KUNIT_EXPECT_EQ(test, vt_failed(test, client.rx).err, ECANCELED);
	vt_no_event(test, client.eq);
	vt_ping(test, &other.a, &other.b);
}

static void an_accept_without_data_is_one_of_no_bytes(struct kunit *test)
{
	struct vt_end client = {};

	vt_open(test, AF_INET, NULL);
	vt_raw_listen(test, VT_ACCEPT, NULL, 0);
	vt_client(test, &client, &vt_default_kind);
	vt_connect(test, &client, NULL, 0);

	KUNIT_EXPECT_EQ(test, vt_event(test, client.eq, FI_CONNECTED, NULL), 0);
}

static void a_reject_out_of_form_is_one_of_no_bytes(struct kunit *test)
{
	const struct vt_field *param = test->param_value;
	struct fi_eq_err_entry error = {};
	struct vt_end client = {};

	vt_open(test, AF_INET, NULL);
	vt_raw_listen(test, VT_REJECT, param->data, param->len);
	vt_client(test, &client, &vt_default_kind);
	vt_connect(test, &client, NULL, 0);

	vt_error(test, client.eq, &error);

	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, error.err_data_size, 0);
}

static void a_raw_peer_that_vanishes_is_told_as_shutdown(struct kunit *test)
{
	struct vt_end client = {};
	struct vt_raw *raw;

	vt_open(test, AF_INET, NULL);
	raw = vt_raw_listen(test, VT_ACCEPT, NULL, 0);
	vt_client(test, &client, &vt_default_kind);
	vt_recv(test, &client, vt_buf(test, 8), 8, vt_ctx(1));
	vt_connect(test, &client, NULL, 0);
	vt_event(test, client.eq, FI_CONNECTED, NULL);
	vt_raw_wait(test, raw, RDMA_CM_EVENT_CONNECT_REQUEST);
	vt_raw_wait(test, raw, RDMA_CM_EVENT_ESTABLISHED);

	vt_raw_destroy(raw);

	vt_event(test, client.eq, FI_SHUTDOWN, NULL);
	KUNIT_EXPECT_EQ(test, vt_failed(test, client.rx).err, ECANCELED);
}

static int set_timeout(struct fid_ep *ep, size_t ms)
{
	return fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CONNECT_TIMEOUT, &ms, sizeof(ms));
}

static void a_peer_that_never_answers_times_the_connect_out(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct vt_end client = {};

	vt_open(test, AF_INET, NULL);
	vt_raw_listen(test, VT_HOLD, NULL, 0);
	vt_client(test, &client, &vt_default_kind);
	vt_recv(test, &client, vt_buf(test, 8), 8, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, set_timeout(client.ep, 200), 0);
	vt_connect(test, &client, NULL, 0);

	vt_error(test, client.eq, &error);

	KUNIT_EXPECT_EQ(test, error.err, ETIMEDOUT);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &client.ep->fid);
	KUNIT_EXPECT_EQ(test, vt_failed(test, client.rx).err, ECANCELED);
	KUNIT_EXPECT_EQ(test, fi_connect(client.ep, &vt_of(test)->name, NULL, 0), -ESHUTDOWN);
	vt_no_event(test, client.eq);
}

/* iWARP knows no confirmation: the connection stands, and its time is not over */
static void a_peer_that_never_confirms_times_the_accept_out(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct vt_end server = {};
	struct vt_raw *raw;

	vt_serve(test, AF_INET, NULL);
	raw = vt_raw(test);
	vt_raw_connect(test, raw, NULL, 0);
	vt_end_open(test, &server, vt_connreq(test, NULL), &vt_default_kind);
	vt_recv(test, &server, vt_buf(test, 8), 8, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, set_timeout(server.ep, raw->id->qp ? VT_PATIENCE_MS : 200), 0);
	KUNIT_ASSERT_EQ(test, fi_accept(server.ep, NULL, 0), 0);
	if (raw->id->qp) {
		vt_event(test, server.eq, FI_CONNECTED, NULL);
		vt_no_event(test, server.eq);
		return;
	}
	vt_raw_wait(test, raw, RDMA_CM_EVENT_CONNECT_RESPONSE);

	vt_error(test, server.eq, &error);

	KUNIT_EXPECT_EQ(test, error.err, ETIMEDOUT);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &server.ep->fid);
	KUNIT_EXPECT_EQ(test, vt_failed(test, server.rx).err, ECANCELED);
	vt_no_event(test, server.eq);
}

static void the_time_to_connect_is_set_before(struct kunit *test)
{
	struct vt_end client = {};
	struct vt_pair pair = {};
	size_t ms = 0, len;

	vt_serve(test, AF_INET, NULL);
	vt_client(test, &client, &vt_default_kind);
	len = sizeof(ms);
	KUNIT_EXPECT_EQ(test, fi_getopt(&client.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_CONNECT_TIMEOUT, &ms, &len), 0);
	KUNIT_EXPECT_EQ(test, ms, 60000);
	KUNIT_EXPECT_EQ(test, set_timeout(client.ep, (size_t)INT_MAX + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_setopt(&client.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_CONNECT_TIMEOUT, &ms, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_timeout(client.ep, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_getopt(&client.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_CONNECT_TIMEOUT, &ms, &len), 0);
	KUNIT_EXPECT_EQ(test, ms, 0);
	vt_join(test, &pair, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, set_timeout(pair.a.ep, 1), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, set_timeout(pair.b.ep, 1), -FI_EOPBADSTATE);
	vt_ping(test, &pair.a, &pair.b);
}

#define RAW_MANY	4
#define RAW_SETTLE_MS	2000	/* what a close leaves the peer of an accept */

/* iWARP knows no confirmation, and no wait for it */
static void closes_share_the_wait_for_peers_that_never_confirm(struct kunit *test)
{
	struct vt_end server[RAW_MANY] = {};
	struct vt_raw *raw;
	ktime_t begin;
	s64 ms;
	int i;

	vt_serve(test, AF_INET, NULL);
	for (i = 0; i < RAW_MANY; i++) {
		raw = vt_raw(test);
		vt_raw_connect(test, raw, NULL, 0);
		vt_end_open(test, &server[i], vt_connreq(test, NULL), &vt_default_kind);
		KUNIT_ASSERT_EQ(test, fi_accept(server[i].ep, NULL, 0), 0);
		vt_raw_wait(test, raw, raw->id->qp ?
			    RDMA_CM_EVENT_ESTABLISHED :
			    RDMA_CM_EVENT_CONNECT_RESPONSE);
	}
	begin = ktime_get();

	for (i = 0; i < RAW_MANY; i++)
		vt_end_close(test, &server[i]);

	ms = ktime_ms_delta(ktime_get(), begin);
	KUNIT_EXPECT_LT(test, ms, 2 * RAW_SETTLE_MS);
}

static struct kunit_case raw_cases[] = {
	KUNIT_CASE(a_request_carries_length_and_data),
	KUNIT_CASE(an_accept_carries_length_and_data),
	KUNIT_CASE(a_reject_carries_length_and_data),
	KUNIT_CASE_PARAM(a_request_out_of_form_is_rejected, vt_field_gen_params),
	KUNIT_CASE(a_request_without_data_is_one_of_no_bytes),
	KUNIT_CASE(bytes_behind_the_data_are_no_data),
	KUNIT_CASE_PARAM(an_accept_out_of_form_fails_the_connection, vt_field_gen_params),
	KUNIT_CASE(an_accept_without_data_is_one_of_no_bytes),
	KUNIT_CASE_PARAM(a_reject_out_of_form_is_one_of_no_bytes, vt_field_gen_params),
	KUNIT_CASE(a_raw_peer_that_vanishes_is_told_as_shutdown),
	KUNIT_CASE(a_peer_that_never_answers_times_the_connect_out),
	KUNIT_CASE(a_peer_that_never_confirms_times_the_accept_out),
	KUNIT_CASE(closes_share_the_wait_for_peers_that_never_confirm),
	KUNIT_CASE(the_time_to_connect_is_set_before),
	{}
};

struct kunit_suite kofi_verbs_raw_suite = {
	.name		= "kofi_verbs_raw",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= raw_cases,
};
