// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections with a peer that writes the wire by hand, in both roles.
 */
#include <linux/cpumask.h>
#include <linux/in.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <kofi/tclass.h>
#include "../../providers/tcp/trace.h"
#include "tcp.h"

#define DATA	256

/* What kofi_tcp says that it understands: saves, refusals and the end of keys */
static void announce(u8 *buf)
{
	memcpy(buf + 16, "kOFI\0\0\0\x29", 8);
}

static void a_request_is_answered_as_libfabric_answers(struct kunit *test)
{
	struct socket *sock = peer_connect(test);
	u8 *data = vt_buf(test, DATA), buf[PEER_CM + DATA], want[PEER_CM + 5];
	union vt_event event;
	struct vt_end end = {};
	struct fi_info *info;

	vt_fill(data, DATA, 3);
	peer_send(test, sock, buf, peer_cm(buf, 0, data, DATA));
	info = vt_connreq(test, &event);
	KUNIT_EXPECT_MEMEQ(test, event.cm.data, data, DATA);
	vt_end_open(test, &end, info, &vt_default_kind);
	vt_accept(test, &end, "hello", 5);
	peer_cm(want, 1, "hello", 5);
	announce(want);
	peer_recv(test, sock, buf, sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
}

static void a_request_may_come_byte_by_byte(struct kunit *test)
{
	struct socket *sock = peer_connect(test);
	union vt_event event;
	u8 buf[PEER_CM + 3];
	size_t i;

	peer_cm(buf, 0, "abc", 3);
	for (i = 0; i < sizeof(buf); i++) {
		peer_send(test, sock, buf + i, 1);
		cond_resched();
	}
	vt_connreq(test, &event);
	KUNIT_EXPECT_MEMEQ(test, event.cm.data, "abc", 3);
}

static void a_rejection_has_its_data(struct kunit *test)
{
	struct socket *sock = peer_ask(test);
	u8 buf[PEER_CM + 2], want[PEER_CM + 2];
	struct fi_info *info;

	info = vt_connreq(test, NULL);
	KUNIT_ASSERT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, "no", 2), 0);
	peer_cm(want, 6, "no", 2);
	peer_recv(test, sock, buf, sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
	peer_ended(test, sock);
}

static const struct garbage_case {
	const char	*name;
	size_t		at;
	u8		byte;
	int		err;	/* in a response */
} garbage_cases[] = {
	{ "another version", 0, 4, ENOPROTOOPT },
	{ "a response", 1, 1, ECONNREFUSED },
	{ "a rejection", 1, 6, ECONNREFUSED },
	{ "no type", 1, 77, ECONNREFUSED },
	{ "too many bytes", 2, 2, EPROTO },
	{ "no byte order", 24, 0, EPROTO },
};

KUNIT_ARRAY_PARAM_DESC(garbage, garbage_cases, name);

/* And the listener goes on */
static void what_is_no_request_is_hung_up_on(struct kunit *test)
{
	const struct garbage_case *row = test->param_value;
	struct socket *sock = peer_connect(test);
	struct vt_end end = {};
	u8 buf[PEER_CM];

	violations_begin(test);
	peer_cm(buf, 0, NULL, 0);
	buf[row->at] = row->byte;
	peer_send(test, sock, buf, sizeof(buf));
	peer_hung_up(test, sock);
	vt_no_event(test, vt_of(test)->eq);
	peer_join(test, &end);
	expect_violations(test, 1, KTCP_BAD_REQUEST);
	KUNIT_EXPECT_PTR_EQ(test, violation_fid(), &vt_of(test)->pep->fid);
}

static void a_peer_that_says_nothing_is_hung_up_on(struct kunit *test)
{
	struct socket *sock = peer_connect(test);
	struct vt_end end = {};

	violations_begin(test);
	/* Others are served meanwhile */
	peer_join(test, &end);
	peer_hung_up(test, sock);
	vt_no_event(test, vt_of(test)->eq);
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

static void a_peer_that_hangs_up_is_not_accepted(struct kunit *test)
{
	struct socket *sock = peer_ask(test);
	struct fi_eq_err_entry error = {};
	struct vt_end end = {};

	vt_end_open(test, &end, vt_connreq(test, NULL), &vt_default_kind);
	peer_close(test, sock);
	KUNIT_ASSERT_EQ(test, fi_accept(end.ep, NULL, 0), 0);
	vt_error(test, end.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNABORTED);
}

static void a_peer_that_has_gone_is_not_rejected(struct kunit *test)
{
	struct socket *sock = peer_ask(test);
	struct fi_info *info = vt_connreq(test, NULL);

	/* A reset, to which nothing can be sent */
	sock_no_linger(sock->sk);
	peer_close(test, sock);
	KUNIT_EXPECT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, NULL, 0), -ECONNABORTED);
	KUNIT_EXPECT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, NULL, 0), -EINVAL);
}

/* Its reset is there before the listener has seen the connection */
static void a_peer_that_has_gone_already_makes_no_request(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock;

	/* Another processor might run the listener at any time */
	if (num_online_cpus() > 1)
		return;
	sched_set_fifo(current);
	sock = peer_ask(test);
	sock_no_linger(sock->sk);
	peer_close(test, sock);
	sched_set_normal(current, 0);
	/* The first request is that of the next peer */
	peer_join(test, &end);
	vt_no_event(test, vt_of(test)->eq);
}

static void the_end_of_a_listener_refuses_its_requests(struct kunit *test)
{
	struct socket *pending = peer_ask(test), *silent = peer_connect(test);

	vt_connreq(test, NULL);
	vt_close(test, &vt_of(test)->pep->fid);
	peer_rejected(test, pending);
	peer_hung_up(test, silent);
}

/* Events of their sockets concern the listener no more */
static void the_end_of_a_listener_leaves_the_requests_that_endpoints_have(struct kunit *test)
{
	struct socket *sock = peer_ask(test);
	u8 *in = vt_buf(test, DATA), buf[PEER_CM];
	struct vt_end end = {};

	vt_end_open(test, &end, vt_connreq(test, NULL), &vt_default_kind);
	vt_close(test, &vt_of(test)->pep->fid);
	peer_send_msg(test, sock, DATA, 3);
	vt_accept(test, &end, NULL, 0);
	peer_recv(test, sock, buf, PEER_CM);
	vt_recv(test, &end, in, DATA, vt_ctx(1));
	vt_done(test, end.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, DATA, 3));
}

/* The peer's end of its stream is answered by that of the endpoint's */
static void a_peer_that_ends_its_stream_sees_an_end(struct kunit *test)
{
	struct vt_end end = {};
	struct socket *sock = peer_join(test, &end);

	KUNIT_ASSERT_EQ(test, kernel_sock_shutdown(sock, SHUT_WR), 0);
	vt_event(test, end.eq, FI_SHUTDOWN, NULL);
	peer_ended(test, sock);
}

/* @tos: of the traffic class */
static void expect_options(struct kunit *test, const struct socket *sock, u8 tos, bool nodelay)
{
	const struct sock *sk = peer_other_end(test, sock);

	KUNIT_EXPECT_EQ(test, sk->sk_allocation, GFP_ATOMIC);
	KUNIT_EXPECT_EQ(test, inet_sk(sk)->tos, tos);
	KUNIT_EXPECT_EQ(test, !!(tcp_sk(sk)->nonagle & TCP_NAGLE_OFF), nodelay);
	KUNIT_EXPECT_TRUE(test, sock_flag(sk, SOCK_KEEPOPEN));
	KUNIT_EXPECT_TRUE(test, sock_flag(sk, SOCK_LINGER));
	KUNIT_EXPECT_EQ(test, sk->sk_lingertime, 0);
	KUNIT_EXPECT_TRUE(test, sk->sk_reuse);
	/* TCP lets its receive buffer grow */
	KUNIT_EXPECT_FALSE(test, sk->sk_userlocks & SOCK_RCVBUF_LOCK);
}

static void both_ends_have_the_options_that_they_need(struct kunit *test)
{
	struct fi_info *info = vt_of(test)->info;
	struct vt_end accepted = {}, asking = {}, other = {};

	expect_options(test, peer_join(test, &accepted), 0, true);
	info->tx_attr->tclass = FI_TC_BULK_DATA;
	expect_options(test, peer_respond(test, &asking), kofi_tclass_tos(FI_TC_BULK_DATA), false);
	vt_listen(test, vt_eq(test, 0));
	expect_options(test, peer_join(test, &other), kofi_tclass_tos(FI_TC_BULK_DATA), false);
}

/* An endpoint that asks; returns the peer's end of the connection */
static struct socket *asked(struct kunit *test, struct vt_end *end, const void *data, size_t len)
{
	struct sockaddr_storage addr;
	struct socket *listener = peer_listen(test, &addr);

	vt_client(test, end, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_connect(end->ep, &addr, data, len), 0);
	return peer_accept(test, listener);
}

static void a_request_is_sent_as_libfabric_sends_it(struct kunit *test)
{
	u8 *data = vt_buf(test, DATA), buf[PEER_CM + DATA];
	u8 want[PEER_CM + DATA];
	struct vt_end end = {};
	union vt_event event;
	struct socket *sock;
	size_t i, len;

	vt_fill(data, DATA, 5);
	sock = asked(test, &end, data, DATA);
	peer_cm(want, 0, data, DATA);
	announce(want);
	peer_recv(test, sock, buf, sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
	len = peer_cm(buf, 1, "yes", 3);
	for (i = 0; i < len; i++)
		peer_send(test, sock, buf + i, 1);
	KUNIT_EXPECT_EQ(test, vt_event(test, end.eq, FI_CONNECTED, &event), 3);
	KUNIT_EXPECT_MEMEQ(test, event.cm.data, "yes", 3);
}

/* Its request was in its own; what follows is in network byte order */
static void a_response_tells_the_byte_order(struct kunit *test)
{
	u8 buf[PEER_CM], hdr[PEER_BASE], want[PEER_BASE];
	u8 *out = vt_buf(test, 1);
	struct vt_end end = {};
	struct socket *sock;

	sock = asked(test, &end, NULL, 0);
	peer_recv(test, sock, buf, PEER_CM);
	peer_foreign = true;
	peer_send(test, sock, buf, peer_cm(buf, 1, NULL, 0));
	vt_event(test, end.eq, FI_CONNECTED, NULL);
	KUNIT_ASSERT_EQ(test, fi_send(end.ep, out, 1, NULL, 0, vt_ctx(1)), 0);
	peer_op(want, 0, 0, 1);
	peer_recv(test, sock, hdr, sizeof(hdr));
	KUNIT_EXPECT_MEMEQ(test, hdr, want, sizeof(hdr));
	vt_done(test, end.tx, vt_ctx(1));
}

static void a_refusal_is_an_error_with_data(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct vt_end end = {};
	struct socket *sock = asked(test, &end, NULL, 0);
	u8 buf[PEER_CM + 2];

	peer_recv(test, sock, buf, PEER_CM);
	peer_send(test, sock, buf, peer_cm(buf, 6, "no", 2));
	vt_error(test, end.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, error.prov_errno, error.err);
	KUNIT_ASSERT_EQ(test, error.err_data_size, 2);
	KUNIT_EXPECT_MEMEQ(test, error.err_data, "no", 2);
	peer_hung_up(test, sock);
}

static void a_response_that_is_none_is_an_error(struct kunit *test)
{
	const struct garbage_case *row = test->param_value;
	struct fi_eq_err_entry error = {};
	struct vt_end end = {};
	struct socket *sock = asked(test, &end, NULL, 0);
	u8 buf[PEER_CM];

	violations_begin(test);
	peer_recv(test, sock, buf, PEER_CM);
	peer_cm(buf, 1, NULL, 0);
	if (row->at == 1)
		buf[1] = row->byte == 1 ? 0 : 77;
	else
		buf[row->at] = row->byte;
	peer_send(test, sock, buf, PEER_CM);
	vt_error(test, end.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, row->err);
	KUNIT_EXPECT_EQ(test, error.prov_errno, error.err);
	KUNIT_EXPECT_EQ(test, error.err_data_size, 0);
	peer_hung_up(test, sock);
	expect_violations(test, 1, KTCP_BAD_RESPONSE);
}

static void a_peer_that_hangs_up_has_refused(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct vt_end end = {};
	struct socket *sock = asked(test, &end, NULL, 0);
	u8 buf[PEER_CM];

	peer_recv(test, sock, buf, PEER_CM);
	peer_close(test, sock);
	vt_error(test, end.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNREFUSED);
}

static void a_response_that_does_not_come_ends_in_time(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct sockaddr_storage addr;
	struct vt_end end = {};
	size_t ms = 500;

	peer_listen(test, &addr);
	vt_client(test, &end, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_setopt(&end.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CONNECT_TIMEOUT, &ms,
					sizeof(ms)), 0);
	KUNIT_ASSERT_EQ(test, fi_connect(end.ep, &addr, NULL, 0), 0);
	vt_error(test, end.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ETIMEDOUT);
}

static void what_cannot_be_opened_is_refused(struct kunit *test)
{
	static const struct fi_rx_attr attrs[] = { { .size = 16385 }, { .iov_limit = 17 } };
	struct fid_domain *domain = vt_of(test)->domain;
	struct fi_info *info = vt_of(test)->info;
	struct fi_rx_attr attr;
	struct fid_ep *ep;
	int i;

	for (i = 0; i < ARRAY_SIZE(attrs); i++) {
		attr = attrs[i];
		KUNIT_EXPECT_EQ(test, fi_srx_context(domain, &attr, &ep, NULL), -EINVAL);
	}
	info->ep_attr->type = FI_EP_DGRAM;
	KUNIT_EXPECT_EQ(test, fi_endpoint(domain, info, &ep, NULL), -EINVAL);
	info->ep_attr->type = FI_EP_MSG;
	/* No address of this machine, and none at all, which is no matter before the connection */
	((struct sockaddr_in *)info->src_addr)->sin_addr.s_addr = htonl(0xc0000201);
	KUNIT_EXPECT_EQ(test, fi_endpoint(domain, info, &ep, NULL), -EADDRNOTAVAIL);
	kfree(info->src_addr);
	info->src_addr = NULL;
	info->src_addrlen = 0;
	vt_ep(test, info);
}

static struct kunit_case cm_cases[] = {
	KUNIT_CASE(what_cannot_be_opened_is_refused),
	KUNIT_CASE(a_request_is_answered_as_libfabric_answers),
	KUNIT_CASE(a_request_may_come_byte_by_byte),
	KUNIT_CASE(a_rejection_has_its_data),
	KUNIT_CASE_PARAM(what_is_no_request_is_hung_up_on, garbage_gen_params),
	KUNIT_CASE(a_peer_that_says_nothing_is_hung_up_on),
	KUNIT_CASE(a_peer_that_hangs_up_is_not_accepted),
	KUNIT_CASE(a_peer_that_has_gone_is_not_rejected),
	KUNIT_CASE(a_peer_that_has_gone_already_makes_no_request),
	KUNIT_CASE(the_end_of_a_listener_refuses_its_requests),
	KUNIT_CASE(the_end_of_a_listener_leaves_the_requests_that_endpoints_have),
	KUNIT_CASE(a_peer_that_ends_its_stream_sees_an_end),
	KUNIT_CASE(both_ends_have_the_options_that_they_need),
	KUNIT_CASE(a_request_is_sent_as_libfabric_sends_it),
	KUNIT_CASE(a_response_tells_the_byte_order),
	KUNIT_CASE(a_refusal_is_an_error_with_data),
	KUNIT_CASE_PARAM(a_response_that_is_none_is_an_error, garbage_gen_params),
	KUNIT_CASE(a_peer_that_hangs_up_has_refused),
	KUNIT_CASE(a_response_that_does_not_come_ends_in_time),
	{}
};

static struct kunit_suite cm_suite = {
	.name		= "kofi_tcp_cm",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= cm_cases,
};

kunit_test_suite(cm_suite);
