// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections that do not come about: rejected, refused, unreachable, one
 * request too many, and peers that vanish halfway.
 */
#include <linux/iopoll.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "verbs.h"

static void rejected(struct kunit *test, const void *data, size_t len,
		     struct vt_end *client, struct fi_eq_err_entry *error)
{
	struct vt *vt = vt_of(test);
	struct fi_info *info;

	info = vt_dial(test, client);
	KUNIT_ASSERT_EQ(test, fi_reject(vt->pep, info->handle, data, len), 0);
	vt_error(test, client->eq, error);
	KUNIT_ASSERT_PTR_EQ(test, error->fid, &client->ep->fid);
	KUNIT_ASSERT_EQ(test, error->err, ECONNREFUSED);
}

static void data_of_a_reject_arrives_with_the_error(struct kunit *test)
{
	static const size_t lens[] = { 0, 1, VT_CM_DATA };
	u8 data[VT_CM_DATA], buf[VT_CM_DATA + 9];
	struct fi_eq_err_entry error;
	struct vt_end client;
	int i;

	vt_serve(test, AF_INET, NULL);

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		client = (struct vt_end) {};
		vt_fill(data, lens[i], i);
		error = (struct fi_eq_err_entry) {
			.err_data = buf,
			.err_data_size = sizeof(buf),
		};
		rejected(test, data, lens[i], &client, &error);
		KUNIT_EXPECT_EQ(test, error.err_data_size, lens[i]);
		KUNIT_EXPECT_PTR_EQ(test, error.err_data, (void *)buf);
		KUNIT_EXPECT_TRUE(test, vt_filled(buf, lens[i], i));
		vt_end_close(test, &client);
	}
}

static void data_of_a_reject_is_cut_to_the_buffer(struct kunit *test)
{
	u8 data[VT_CM_DATA], buf[4] = { 0, 0, 0, 0x5a };
	struct fi_eq_err_entry error = { .err_data = buf, .err_data_size = 3 };
	struct vt_end client = {};

	vt_serve(test, AF_INET, NULL);
	vt_fill(data, sizeof(data), 3);
	rejected(test, data, sizeof(data), &client, &error);

	KUNIT_EXPECT_EQ(test, error.err_data_size, 3);
	KUNIT_EXPECT_TRUE(test, vt_filled(buf, 3, 3));
	KUNIT_EXPECT_EQ(test, buf[3], 0x5a);
}

static void data_of_a_reject_can_be_seen_in_the_queue(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct vt_end client = {};

	vt_serve(test, AF_INET, NULL);
	rejected(test, "no", 2, &client, &error);

	KUNIT_ASSERT_EQ(test, error.err_data_size, 2);
	KUNIT_EXPECT_MEMEQ(test, error.err_data, "no", 2);
}

/* iWARP knows errors of TCP only */
static void the_reason_of_a_reject_has_a_text(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct vt_end client = {};
	const char *text, *want;
	char buf[64] = "";
	int reason;

	vt_serve(test, AF_INET, NULL);
	rejected(test, NULL, 0, &client, &error);
	text = fi_eq_strerror(client.eq, error.prov_errno, error.err_data, buf, sizeof(buf));
	if (vt_is_iwarp(test)) {
		reason = ECONNRESET;
		want = fi_strerror(ECONNRESET);
	} else {
		reason = -IB_CM_REJ_CONSUMER_DEFINED;
		want = ibcm_reject_msg(IB_CM_REJ_CONSUMER_DEFINED);
	}

	KUNIT_EXPECT_EQ(test, error.prov_errno, reason);
	KUNIT_EXPECT_STREQ(test, text, want);
	KUNIT_EXPECT_STREQ(test, buf, text);
}

static void a_rejected_endpoint_connects_no_more(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct vt_end client = {};

	vt_serve(test, AF_INET, NULL);
	rejected(test, NULL, 0, &client, &error);

	KUNIT_EXPECT_EQ(test, fi_connect(client.ep, &vt_of(test)->name, NULL, 0), -ESHUTDOWN);
	vt_no_event(test, client.eq);
}

static void connecting_where_nobody_listens_is_refused(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct vt_end client = {};

	vt_serve(test, AF_INET, NULL);
	vt_close(test, &vt_of(test)->pep->fid);
	vt_client(test, &client, &vt_default_kind);
	vt_connect(test, &client, "abc", 3);
	vt_error(test, client.eq, &error);

	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, error.prov_errno,
			vt_is_iwarp(test) ? ECONNREFUSED : -IB_CM_REJ_INVALID_SERVICE_ID);
	KUNIT_EXPECT_EQ(test, error.err_data_size, 0);
}

/*
 * A network for documentation only (RFC 3849).  IPv4 has no such case: Linux
 * takes any address for a neighbour of a device that it is told to use.
 */
static void an_address_without_a_route_gives_an_error_event(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct sockaddr_storage addr;
	struct vt_end client = {};

	vt_open(test, AF_INET6, NULL);
	vt_client(test, &client, &vt_default_kind);
	KUNIT_ASSERT_EQ(test,
			inet_pton_with_scope(&init_net, AF_INET6, "2001:db8::1", "7471", &addr), 0);

	KUNIT_ASSERT_EQ(test, fi_connect(client.ep, &addr, NULL, 0), 0);

	vt_error(test, client.eq, &error);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &client.ep->fid);
	KUNIT_EXPECT_EQ(test, error.err, ENETUNREACH);
	KUNIT_EXPECT_STREQ(test, fi_eq_strerror(client.eq, error.prov_errno, NULL, NULL, 0),
			   fi_strerror(ENETUNREACH));
	KUNIT_EXPECT_STREQ(test, fi_eq_strerror(client.eq, 0, NULL, NULL, 0), fi_strerror(0));
	vt_no_event(test, client.eq);
	KUNIT_EXPECT_EQ(test, fi_connect(client.ep, &addr, NULL, 0), -ESHUTDOWN);
}

static void requests_beyond_the_event_queues_size_are_rejected(struct kunit *test)
{
	struct vt_end client[5] = {}, server[2] = {};
	struct fi_eq_err_entry error = {};
	struct fid_eq *eq;
	int i;

	vt_open(test, AF_INET, NULL);
	vt_listen(test, vt_eq(test, 2));
	eq = vt_eq(test, 0);
	for (i = 0; i < 5; i++) {
		client[i].eq = eq;
		vt_client(test, &client[i], &vt_default_kind);
		vt_connect(test, &client[i], NULL, 0);
	}

	for (i = 0; i < 3; i++) {
		vt_error(test, eq, &error);
		KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	}
	for (i = 0; i < 2; i++) {
		vt_end_open(test, &server[i], vt_connreq(test, NULL), &vt_default_kind);
		vt_accept(test, &server[i], NULL, 0);
		vt_event(test, eq, FI_CONNECTED, NULL);
	}
	vt_no_event(test, eq);
	vt_no_event(test, vt_of(test)->eq);
}

static void reading_a_request_makes_room_for_the_next(struct kunit *test)
{
	struct vt_pair pair[3] = {};
	int i;

	vt_open(test, AF_INET, NULL);
	vt_listen(test, vt_eq(test, 1));

	for (i = 0; i < ARRAY_SIZE(pair); i++)
		vt_join(test, &pair[i], &vt_default_kind);
}

static void closing_the_passive_endpoint_rejects_what_waits(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct vt_end one = {}, two = {};
	struct vt *vt = vt_of(test);
	union vt_event event;
	u32 got;

	vt_serve(test, AF_INET, NULL);
	vt_client(test, &one, &vt_default_kind);
	vt_client(test, &two, &vt_default_kind);
	vt_connect(test, &one, NULL, 0);
	vt_connreq(test, NULL);
	vt_connect(test, &two, NULL, 0);
	KUNIT_ASSERT_GT(test, vt_eq_sread(vt->eq, &got, &event, sizeof(event), FI_PEEK), 0);

	vt_close(test, &vt->pep->fid);

	vt_error(test, one.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	vt_error(test, two.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	vt_no_event(test, vt->eq);
}

/*
 * After an accept for a peer that has gone: the error that it is.  siw sees it only
 * now, and may believe in a connection before.
 */
static int no_connection(struct kunit *test, struct vt_end *end)
{
	struct fi_eq_err_entry error = {};
	union vt_event event;
	u32 got = 0;

	if (!vt_is_iwarp(test)) {
		vt_error(test, end->eq, &error);
		return -error.err;
	}
	if (vt_eq_sread(end->eq, &got, &event, sizeof(event), 0) == -FI_EAVAIL) {
		fi_eq_readerr(end->eq, &error, 0);
		return -error.err;
	}
	KUNIT_EXPECT_EQ(test, got, FI_CONNECTED);
	vt_event(test, end->eq, FI_SHUTDOWN, &event);
	return -ECONNABORTED;
}

/* Goes on as if nothing had happened until someone says that the peer has gone */
static int serve_nobody(struct kunit *test, struct fi_info *info, struct vt_end *end)
{
	struct vt *vt = vt_of(test);
	int ret;

	end->eq = vt_eq(test, 0);
	end->tx = vt_cq(test, &vt_default_kind, 0);
	ret = fi_endpoint(vt->domain, info, &end->ep, NULL);
	if (ret)
		return ret;
	vt_adopt(test, &end->ep->fid);
	return fi_ep_bind(end->ep, &end->eq->fid, 0) ? :
	       fi_ep_bind(end->ep, &end->tx->cq->fid, FI_TRANSMIT | FI_RECV) ? :
	       fi_enable(end->ep) ? :
	       fi_accept(end->ep, NULL, 0) ? :
	       no_connection(test, end);
}

/* The peer has gone when it has asked */
static struct fi_info *request_of_nobody(struct kunit *test)
{
	struct vt_end client = {};
	struct fi_info *info = vt_dial(test, &client);

	vt_end_close(test, &client);
	return info;
}

static void a_peer_gone_before_the_accept_aborts_only_itself(struct kunit *test)
{
	struct vt_end server = {};
	struct vt_pair pair = {};
	struct fi_info *info;

	vt_serve(test, AF_INET, NULL);
	info = request_of_nobody(test);

	KUNIT_EXPECT_EQ(test, serve_nobody(test, info, &server), -ECONNABORTED);

	vt_join(test, &pair, &vt_default_kind);
	vt_ping(test, &pair.a, &pair.b);
}

#if IS_ENABLED(CONFIG_KPROBES)
/*
 * The peer of a request goes while fi_enable() creates the queue pair: that call of
 * rdma_create_qp() is led to vanish_create_qp().
 */
static struct {
	struct kunit		*test;
	struct task_struct	*enabler;	/* NULL: all calls go their way */
	struct vt_end		*client;
	struct work_struct	close;
} vanish;

/* Not by the enabler: it holds a lock of this class */
static void vanish_close(struct work_struct *work)
{
	vt_end_close(vanish.test, vanish.client);
}

static int vanish_create_qp(struct rdma_cm_id *id, struct ib_pd *pd, struct ib_qp_init_attr *init)
{
	struct ib_qp_attr attr = {
		.qp_state	= IB_QPS_INIT,
	};
	int mask = 0;
	int gone;

	queue_work(system_wq, &vanish.close);
	/*
	 * Nobody is told, as the caller holds the handler lock.  iWARP learns of it
	 * from the accept only.
	 */
	if (!vt_is_iwarp(vanish.test)) {
		read_poll_timeout(rdma_init_qp_attr, gone, gone, USEC_PER_MSEC,
				  VT_PATIENCE_MS * USEC_PER_MSEC, false, id, &attr, &mask);
		KUNIT_EXPECT_EQ(vanish.test, gone, -EINVAL);
	}
	return rdma_create_qp(id, pd, init);
}

static int vanish_hit(struct kprobe *probe, struct pt_regs *regs)
{
	if (current != vanish.enabler)
		return 0;
	vanish.enabler = NULL;
	instruction_pointer_set(regs, (unsigned long)vanish_create_qp);
	return 1;
}

/* Without it the probe may become a jump, which always comes back */
static void vanish_passed(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static void a_peer_may_go_while_the_endpoint_is_enabled(struct kunit *test)
{
	struct kprobe probe = {
		.symbol_name	= "rdma_create_qp",
		.pre_handler	= vanish_hit,
		.post_handler	= vanish_passed,
	};
	struct vt_end client = {}, server = {};
	struct fi_eq_err_entry error = {};
	struct vt_pair pair = {};
	struct fi_info *info;
	int ret;

	vt_serve(test, AF_INET, NULL);
	info = vt_dial(test, &client);

	vanish.test = test;
	vanish.client = &client;
	vanish.enabler = current;
	INIT_WORK(&vanish.close, vanish_close);
	ret = register_kprobe(&probe);
	KUNIT_ASSERT_EQ(test, ret, 0);
	ret = serve_nobody(test, info, &server);
	unregister_kprobe(&probe);
	flush_work(&vanish.close);

	KUNIT_EXPECT_PTR_EQ(test, vanish.enabler, NULL);
	KUNIT_EXPECT_EQ(test, ret, -ECONNABORTED);
	if (!vt_is_iwarp(test)) {
		vt_error(test, server.eq, &error);
		KUNIT_EXPECT_EQ(test, error.err, ECONNABORTED);
		KUNIT_EXPECT_EQ(test, fi_enable(server.ep), -ECONNABORTED);
	}
	vt_join(test, &pair, &vt_default_kind);
	vt_ping(test, &pair.a, &pair.b);
}
#endif

static void open_for_a_peer_that_goes(struct kunit *test, struct vt_end *server)
{
	struct fi_eq_err_entry error = {};
	struct vt_end client = {};

	server->info = vt_dial(test, &client);
	server->eq = vt_eq(test, 0);
	server->tx = vt_cq(test, &vt_default_kind, 0);
	server->ep = vt_ep(test, server->info);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(server->ep, &server->eq->fid, 0), 0);

	vt_end_close(test, &client);

	if (vt_is_iwarp(test))
		return;
	vt_error(test, server->eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNABORTED);
	KUNIT_EXPECT_PTR_EQ(test, error.fid, &server->ep->fid);
}

static void an_aborted_endpoint_says_so_from_then_on(struct kunit *test)
{
	size_t rw_ops = 0, ms = 1000;
	struct vt_end server = {};

	vt_serve(test, AF_INET, NULL);
	open_for_a_peer_that_goes(test, &server);

	/* What prepares for fi_enable() leaves the news to it */
	KUNIT_EXPECT_EQ(test, fi_setopt(&server.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RW_OPS,
					&rw_ops, sizeof(rw_ops)), 0);
	KUNIT_EXPECT_EQ(test, fi_setopt(&server.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CONNECT_TIMEOUT,
					&ms, sizeof(ms)), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(server.ep, &server.tx->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	if (vt_is_iwarp(test)) {
		/* Nobody knows until the accept */
		KUNIT_EXPECT_EQ(test, fi_enable(server.ep), 0);
		if (!fi_accept(server.ep, NULL, 0))
			KUNIT_EXPECT_EQ(test, no_connection(test, &server), -ECONNABORTED);
		KUNIT_EXPECT_EQ(test, fi_accept(server.ep, NULL, 0), -ECONNABORTED);
		return;
	}
	KUNIT_EXPECT_EQ(test, fi_enable(server.ep), -ECONNABORTED);
	KUNIT_EXPECT_EQ(test, fi_accept(server.ep, NULL, 0), -ECONNABORTED);
	vt_no_event(test, server.eq);
}

static void rejecting_a_peer_that_has_gone_uses_the_request_up(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct vt_pair pair = {};
	struct fi_info *info;
	int ret;

	vt_serve(test, AF_INET, NULL);
	info = request_of_nobody(test);

	/* The news may be on its way still */
	ret = fi_reject(vt->pep, info->handle, NULL, 0);
	KUNIT_EXPECT_TRUE(test, !ret || ret == -ECONNABORTED);
	KUNIT_EXPECT_EQ(test, fi_reject(vt->pep, info->handle, NULL, 0), -EINVAL);
	vt_join(test, &pair, &vt_default_kind);
}

static struct kunit_case reject_cases[] = {
	KUNIT_CASE(data_of_a_reject_arrives_with_the_error),
	KUNIT_CASE(data_of_a_reject_is_cut_to_the_buffer),
	KUNIT_CASE(data_of_a_reject_can_be_seen_in_the_queue),
	KUNIT_CASE(the_reason_of_a_reject_has_a_text),
	KUNIT_CASE(a_rejected_endpoint_connects_no_more),
	KUNIT_CASE(connecting_where_nobody_listens_is_refused),
	KUNIT_CASE(an_address_without_a_route_gives_an_error_event),
	KUNIT_CASE(requests_beyond_the_event_queues_size_are_rejected),
	KUNIT_CASE(reading_a_request_makes_room_for_the_next),
	KUNIT_CASE(closing_the_passive_endpoint_rejects_what_waits),
	KUNIT_CASE(a_peer_gone_before_the_accept_aborts_only_itself),
#if IS_ENABLED(CONFIG_KPROBES)
	KUNIT_CASE(a_peer_may_go_while_the_endpoint_is_enabled),
#endif
	KUNIT_CASE(an_aborted_endpoint_says_so_from_then_on),
	KUNIT_CASE(rejecting_a_peer_that_has_gone_uses_the_request_up),
	{}
};

struct kunit_suite kofi_verbs_reject_suite = {
	.name		= "kofi_verbs_reject",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= reject_cases,
};
