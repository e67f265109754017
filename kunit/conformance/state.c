// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Control calls at the wrong time, on the wrong object or with a handle that is
 * used up: each answers with its documented error, and what was open before goes
 * on as if it had not been called.
 */
#include "conformance.h"

static int connect_to_server(struct kunit *test, struct vt_end *end)
{
	return fi_connect(end->ep, &vt_of(test)->name, NULL, 0);
}

/* The second end has been opened for the request of the first one: the connection is made */
static void go_on(struct kunit *test, struct vt_pair *pair)
{
	vt_accept(test, &pair->b, NULL, 0);
	vt_event(test, pair->a.eq, FI_CONNECTED, NULL);
	vt_ping(test, &pair->a, &pair->b);
}

static void connecting_twice_is_refused(struct kunit *test)
{
	struct vt_pair pair = {};

	if (!conf_serve_msg(test))
		return;
	vt_client(test, &pair.a, &vt_default_kind);
	vt_connect(test, &pair.a, NULL, 0);

	KUNIT_EXPECT_EQ(test, connect_to_server(test, &pair.a), -EALREADY);

	vt_end_open(test, &pair.b, vt_connreq(test, NULL), &vt_default_kind);
	vt_accept(test, &pair.b, NULL, 0);
	vt_event(test, pair.a.eq, FI_CONNECTED, NULL);
	KUNIT_EXPECT_EQ(test, connect_to_server(test, &pair.a), -EISCONN);
	vt_ping(test, &pair.a, &pair.b);
}

static void accepting_twice_is_refused(struct kunit *test)
{
	struct vt_pair pair = {};
	int ret;

	if (!conf_serve_msg(test))
		return;
	vt_end_open(test, &pair.b, vt_dial(test, &pair.a), &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_accept(pair.b.ep, NULL, 0), 0);

	ret = fi_accept(pair.b.ep, NULL, 0);
	KUNIT_EXPECT_TRUE(test, ret == -EALREADY || ret == -EISCONN);

	vt_event(test, pair.b.eq, FI_CONNECTED, NULL);
	vt_event(test, pair.a.eq, FI_CONNECTED, NULL);
	KUNIT_EXPECT_EQ(test, fi_accept(pair.b.ep, NULL, 0), -EISCONN);
	vt_ping(test, &pair.a, &pair.b);
}

static void connecting_again_after_shutdown_is_refused(struct kunit *test)
{
	struct vt_pair pair = {};

	if (!conf_serve_msg(test))
		return;
	vt_join(test, &pair, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);

	KUNIT_EXPECT_EQ(test, connect_to_server(test, &pair.a), -ESHUTDOWN);
}

static void an_endpoint_keeps_to_its_side(struct kunit *test)
{
	struct vt_pair pair = {};

	if (!conf_serve_msg(test))
		return;
	vt_client(test, &pair.a, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_accept(pair.a.ep, NULL, 0), -FI_EOPBADSTATE);
	vt_connect(test, &pair.a, NULL, 0);
	vt_end_open(test, &pair.b, vt_connreq(test, NULL), &vt_default_kind);

	KUNIT_EXPECT_EQ(test, connect_to_server(test, &pair.b), -FI_EOPBADSTATE);

	vt_accept(test, &pair.b, NULL, 0);
}

static void connections_need_an_enabled_endpoint(struct kunit *test)
{
	struct vt_end client = {}, a = {}, b = {};

	if (!conf_serve_msg(test))
		return;
	a.ep = vt_ep(test, vt_of(test)->info);
	b.ep = vt_ep(test, vt_dial(test, &client));

	KUNIT_EXPECT_EQ(test, connect_to_server(test, &a), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_accept(b.ep, NULL, 0), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_shutdown(a.ep, 0), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, fi_shutdown(b.ep, 0), -ENOTCONN);
}

static void an_unreported_send_needs_a_connection(struct kunit *test)
{
	struct vt_pair pair = { .a.bind_flags = FI_SELECTIVE_COMPLETION };
	u8 *buf = vt_buf(test, 8);

	if (!conf_serve_msg(test))
		return;
	vt_client(test, &pair.a, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, 8, NULL, 0, NULL), -ENOTCONN);

	vt_connect(test, &pair.a, NULL, 0);
	vt_end_open(test, &pair.b, vt_connreq(test, NULL), &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, 8, NULL, 0, NULL), -ENOTCONN);
	vt_accept(test, &pair.b, NULL, 0);
}

static void an_unconnected_endpoint_has_no_peer(struct kunit *test)
{
	struct sockaddr_storage name;
	size_t len = sizeof(name);
	struct vt_end end = {};

	if (!conf_is_msg(test))
		return;
	vt_open_info(test, vt_of(test)->info);
	vt_client(test, &end, &vt_default_kind);

	KUNIT_EXPECT_EQ(test, fi_shutdown(end.ep, 0), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, fi_shutdown(end.ep, 1), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_getpeer(end.ep, &name, &len), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, fi_getname(&end.ep->fid, &name, &len), 0);
}

static void calls_of_the_other_kind_of_endpoint_are_refused(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_end end = {};
	struct fid_ep *as_ep;
	struct fid_pep *as_pep;
	struct fi_info *info;

	if (!conf_serve_msg(test))
		return;
	info = vt_dial(test, &end);
	as_ep = (struct fid_ep *)vt->pep;
	as_pep = (struct fid_pep *)end.ep;

	KUNIT_EXPECT_EQ(test, fi_connect(as_ep, &vt->name, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_accept(as_ep, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_enable(as_ep), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_shutdown(as_ep, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_listen(as_pep), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_reject(as_pep, info->handle, NULL, 0), -EINVAL);
}

static void bad_peer_addresses_are_refused(struct kunit *test)
{
	struct sockaddr_storage addr = { .ss_family = AF_INET6 };
	struct vt_end end = {};

	if (!conf_serve_msg(test))
		return;
	vt_client(test, &end, &vt_default_kind);

	KUNIT_EXPECT_EQ(test, fi_connect(end.ep, &addr, NULL, 0), -EINVAL);
	addr.ss_family = AF_UNIX;
	KUNIT_EXPECT_EQ(test, fi_connect(end.ep, &addr, NULL, 0), -EINVAL);
	addr.ss_family = AF_INET;
	KUNIT_EXPECT_EQ(test, fi_connect(end.ep, &addr, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_connect(end.ep, NULL, NULL, 0), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, connect_to_server(test, &end), 0);
}

static void a_request_serves_one_endpoint(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_pair pair = {};
	struct fi_info *info;
	struct fid_ep *ep;

	if (!conf_serve_msg(test))
		return;
	info = vt_dial(test, &pair.a);
	vt_end_open(test, &pair.b, info, &vt_default_kind);

	KUNIT_EXPECT_EQ(test, fi_endpoint(vt->domain, info, &ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_reject(vt->pep, info->handle, NULL, 0), -EINVAL);

	go_on(test, &pair);
}

static void a_rejected_request_is_used_up(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_end client = {};
	struct fi_info *info;
	struct fid_ep *ep;

	if (!conf_serve_msg(test))
		return;
	info = vt_dial(test, &client);
	KUNIT_ASSERT_EQ(test, fi_reject(vt->pep, info->handle, NULL, 0), 0);

	KUNIT_EXPECT_EQ(test, fi_endpoint(vt->domain, info, &ep, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_reject(vt->pep, info->handle, NULL, 0), -EINVAL);
}

#define OLD_REQUESTS	32

/* A request has been rejected for good; its memory is free, and will be another's */
static struct fi_info *used_up(struct kunit *test)
{
	struct vt_end client = {};
	struct fi_info *info = vt_dial(test, &client);

	KUNIT_ASSERT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, NULL, 0), 0);
	vt_end_close(test, &client);
	return info;
}

static void an_old_handle_reaches_no_other_request(struct kunit *test)
{
	struct fi_info *old[OLD_REQUESTS], *info;
	struct vt *vt = vt_of(test);
	struct vt_pair pair = {};
	struct fid_ep *ep;
	int i, j;

	if (!conf_serve_msg(test))
		return;
	for (i = 0; i < OLD_REQUESTS; i++) {
		old[i] = used_up(test);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_PTR_NE(test, old[j]->handle, old[i]->handle);
	}
	info = vt_dial(test, &pair.a);

	for (i = 0; i < OLD_REQUESTS; i++) {
		KUNIT_EXPECT_EQ(test, fi_endpoint(vt->domain, old[i], &ep, NULL), -EINVAL);
		KUNIT_EXPECT_EQ(test, fi_reject(vt->pep, old[i]->handle, NULL, 0), -EINVAL);
	}
	vt_end_open(test, &pair.b, info, &vt_default_kind);
	go_on(test, &pair);
}

static void a_request_dies_with_its_passive_endpoint(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_end client = {};
	struct fi_info *info;
	struct fid_ep *ep;

	if (!conf_serve_msg(test))
		return;
	info = vt_dial(test, &client);
	vt_close(test, &vt->pep->fid);

	KUNIT_EXPECT_EQ(test, fi_endpoint(vt->domain, info, &ep, NULL), -EINVAL);
}

/* The listener may hear of it later */
static void a_request_of_a_client_that_has_gone_can_be_rejected(struct kunit *test)
{
	struct vt_end client = {};
	struct vt *vt = vt_of(test);
	struct fi_info *info;
	int i, ret;

	if (!conf_serve_msg(test))
		return;
	for (i = 0; i < 2; i++) {
		info = vt_dial(test, &client);
		if (i)
			KUNIT_EXPECT_EQ(test, fi_shutdown(client.ep, 0), 0);
		else
			vt_end_close(test, &client);
		ret = fi_reject(vt->pep, info->handle, NULL, 0);
		KUNIT_EXPECT_TRUE_MSG(test, !ret || ret == -ECONNABORTED, "%d", ret);
		KUNIT_EXPECT_EQ(test, fi_reject(vt->pep, info->handle, NULL, 0), -EINVAL);
	}
}

static void an_endpoint_that_is_drained_accepts_no_more(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct vt_pair pair = {};

	if (!conf_serve_msg(test))
		return;
	vt_end_open(test, &pair.b, vt_dial(test, &pair.a), &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.b.ep, -1), 0);
	KUNIT_EXPECT_NE(test, fi_accept(pair.b.ep, NULL, 0), 0);
	vt_end_close(test, &pair.b);
	vt_error(test, pair.a.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
}

static void a_client_that_has_gone_is_not_connected(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct vt_pair pair = {};
	int ret;

	/* Over iWARP it may be, for a moment */
	if (!conf_serve_msg(test) || conf_is_iwarp(vt_of(test)->info))
		return;
	vt_end_open(test, &pair.b, vt_dial(test, &pair.a), &vt_default_kind);
	vt_end_close(test, &pair.a);
	ret = fi_accept(pair.b.ep, NULL, 0);
	KUNIT_EXPECT_TRUE_MSG(test, !ret || ret == -ECONNABORTED, "%d", ret);
	vt_error(test, pair.b.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNABORTED);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &pair.b.ep->fid);
}

static void an_endpoint_outlives_its_passive_endpoint(struct kunit *test)
{
	struct vt_pair pair = {};

	if (!conf_serve_msg(test))
		return;
	vt_end_open(test, &pair.b, vt_dial(test, &pair.a), &vt_default_kind);

	vt_close(test, &vt_of(test)->pep->fid);

	go_on(test, &pair);
}

static void only_handles_of_the_passive_endpoint_can_be_rejected(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_end client = {};
	struct fid_pep *pep;
	struct fi_info *info;

	if (!conf_serve_msg(test))
		return;
	pep = vt->pep;
	vt_listen(test, vt_eq(test, 0));
	info = vt_dial(test, &client);

	KUNIT_EXPECT_EQ(test, fi_reject(pep, info->handle, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_reject(pep, &client.ep->fid, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_reject(pep, NULL, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_reject(vt->pep, info->handle, NULL, 0), 0);
}

static void made_up_handles_open_no_endpoint(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fi_info *info;
	struct fid_ep *ep;

	if (!conf_serve_msg(test))
		return;
	info = vt_dup(test, vt->info);
	info->handle = &vt->pep->fid;

	KUNIT_EXPECT_EQ(test, fi_endpoint(vt->domain, info, &ep, NULL), -EINVAL);
}

static struct fid_pep *open_pep(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fid_pep *pep;

	KUNIT_ASSERT_EQ(test, fi_passive_ep(vt->fabric, vt->info, &pep, NULL), 0);
	vt_adopt(test, &pep->fid);
	return pep;
}

static void listening_needs_an_event_queue(struct kunit *test)
{
	struct fid_pep *pep;
	struct fid_eq *eq;

	if (!conf_is_msg(test))
		return;
	vt_open_info(test, vt_of(test)->info);
	eq = vt_eq(test, 0);
	pep = open_pep(test);

	KUNIT_EXPECT_EQ(test, fi_listen(pep), -FI_ENOEQ);
	KUNIT_EXPECT_EQ(test, fi_pep_bind(pep, &eq->fid, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_pep_bind(pep, &eq->fid, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_listen(pep), 0);
	KUNIT_EXPECT_EQ(test, fi_listen(pep), -FI_EOPBADSTATE);
}

static void the_backlog_is_set_before_listening(struct kunit *test)
{
	int backlog = 5, none = 0;
	struct fid_pep *pep;
	struct fid_eq *eq;

	if (!conf_is_msg(test))
		return;
	vt_open_info(test, vt_of(test)->info);
	eq = vt_eq(test, 0);
	pep = open_pep(test);
	KUNIT_EXPECT_EQ(test, fi_control(&pep->fid, FI_BACKLOG, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_control(&pep->fid, FI_BACKLOG, &none), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_control(&pep->fid, FI_BACKLOG, &backlog), 0);
	KUNIT_EXPECT_EQ(test, fi_control(&pep->fid, FI_GETOPSFLAG, &backlog), -ENOSYS);
	KUNIT_ASSERT_EQ(test, fi_pep_bind(pep, &eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_listen(pep), 0);

	KUNIT_EXPECT_EQ(test, fi_control(&pep->fid, FI_BACKLOG, &backlog), -FI_EOPBADSTATE);
}

static void an_address_in_use_is_refused(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fi_info *info;
	struct fid_pep *pep;

	if (!conf_serve_msg(test))
		return;
	info = vt_dup(test, vt->info);
	memcpy(info->src_addr, &vt->name, info->src_addrlen);

	KUNIT_EXPECT_EQ(test, fi_passive_ep(vt->fabric, info, &pep, NULL), -EADDRINUSE);
}

static void an_address_that_is_set_stays(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_end end = {};

	if (!conf_serve_msg(test))
		return;
	vt_client(test, &end, &vt_default_kind);

	KUNIT_EXPECT_EQ(test, fi_setname(&vt->pep->fid, &vt->name, vt->name_len), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_setname(&end.ep->fid, &vt->name, vt->name_len), -FI_EOPBADSTATE);
}

static struct kunit_case state_cases[] = {
	KUNIT_CASE_PARAM(connecting_twice_is_refused, conf_gen_msg),
	KUNIT_CASE_PARAM(accepting_twice_is_refused, conf_gen_msg),
	KUNIT_CASE_PARAM(connecting_again_after_shutdown_is_refused, conf_gen_msg),
	KUNIT_CASE_PARAM(an_endpoint_keeps_to_its_side, conf_gen_msg),
	KUNIT_CASE_PARAM(connections_need_an_enabled_endpoint, conf_gen_msg),
	KUNIT_CASE_PARAM(an_unreported_send_needs_a_connection, conf_gen_msg),
	KUNIT_CASE_PARAM(an_unconnected_endpoint_has_no_peer, conf_gen_msg),
	KUNIT_CASE_PARAM(calls_of_the_other_kind_of_endpoint_are_refused, conf_gen_msg),
	KUNIT_CASE_PARAM(bad_peer_addresses_are_refused, conf_gen_msg),
	KUNIT_CASE_PARAM(a_request_serves_one_endpoint, conf_gen_msg),
	KUNIT_CASE_PARAM(a_rejected_request_is_used_up, conf_gen_msg),
	KUNIT_CASE_PARAM(an_old_handle_reaches_no_other_request, conf_gen_msg),
	KUNIT_CASE_PARAM(a_request_dies_with_its_passive_endpoint, conf_gen_msg),
	KUNIT_CASE_PARAM(a_request_of_a_client_that_has_gone_can_be_rejected, conf_gen_msg),
	KUNIT_CASE_PARAM(an_endpoint_that_is_drained_accepts_no_more, conf_gen_msg),
	KUNIT_CASE_PARAM(a_client_that_has_gone_is_not_connected, conf_gen_msg),
	KUNIT_CASE_PARAM(an_endpoint_outlives_its_passive_endpoint, conf_gen_msg),
	KUNIT_CASE_PARAM(only_handles_of_the_passive_endpoint_can_be_rejected, conf_gen_msg),
	KUNIT_CASE_PARAM(made_up_handles_open_no_endpoint, conf_gen_msg),
	KUNIT_CASE_PARAM(listening_needs_an_event_queue, conf_gen_msg),
	KUNIT_CASE_PARAM(the_backlog_is_set_before_listening, conf_gen_msg),
	KUNIT_CASE_PARAM(an_address_in_use_is_refused, conf_gen_msg),
	KUNIT_CASE_PARAM(an_address_that_is_set_stays, conf_gen_msg),
	{}
};

struct kunit_suite conf_state_suite = {
	.name		= "kofi_conformance_state",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= state_cases,
};
