// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Bad arguments of transfer calls and of the calls that open objects.  Nothing
 * that was refused takes a slot, completes, or disturbs the connection.
 */
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include "../lib/calls.h"
#include "verbs.h"

/* Addresses that no client can hold: user space, nowhere, no canonical form */
static const unsigned long vt_wild[] = {
	1, 0x1000, 0x7ffffffff000UL, 0x00dead0000000000UL, 0xdead000000000000UL,
	0xffff000000000000UL,
};

static void wild_pointers_are_refused(struct kunit *test)
{
	struct vt_pair pair = {};
	void *wild;
	int i;

	vt_serve_pair(test, NULL, &pair);

	for (i = 0; i < ARRAY_SIZE(vt_wild); i++) {
		wild = (void *)vt_wild[i];
		KUNIT_EXPECT_EQ_MSG(test, fi_send(pair.a.ep, wild, 8, NULL, 0, NULL), -EINVAL,
				    "%lx", vt_wild[i]);
		KUNIT_EXPECT_EQ_MSG(test, fi_recv(pair.b.ep, wild, 8, NULL, 0, NULL), -EINVAL,
				    "%lx", vt_wild[i]);
	}
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, NULL, 8, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.a.ep, NULL, 8, NULL, 0, NULL), -EINVAL);
	vt_ping(test, &pair.a, &pair.b);
}

static void memory_that_ends_too_early_is_refused(struct kunit *test)
{
	void *last = (void *)high_memory - 8;
	struct vt_pair pair = {};
	size_t len;

	vt_serve_pair(test, NULL, &pair);
	len = vt_of(test)->info->ep_attr->max_msg_size;

	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, last, len, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.b.ep, last, len, NULL, 0, NULL), -EINVAL);
	vt_ping(test, &pair.a, &pair.b);
}

static void the_stack_is_refused(struct kunit *test)
{
	struct kvec iov[2];
	struct vt_pair pair = {};
	u8 buf[8] = {};

	vt_serve_pair(test, NULL, &pair);
	iov[0] = (struct kvec) { vt_buf(test, 8), 8 };
	iov[1] = (struct kvec) { buf, sizeof(buf) };

	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, sizeof(buf), NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_sendv(pair.a.ep, iov, NULL, 2, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_senddata(pair.a.ep, buf, sizeof(buf), NULL, 0, 0, NULL),
			vt_has_data(test) ? -EINVAL : -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.b.ep, buf, sizeof(buf), NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recvv(pair.b.ep, iov, NULL, 2, 0, NULL), -EINVAL);
	vt_ping(test, &pair.a, &pair.b);
}

static void lists_whose_lengths_overflow_are_refused(struct kunit *test)
{
	u8 *buf = vt_buf(test, 8);
	struct kvec iov[2] = { { buf, SIZE_MAX }, { buf, 2 } };
	struct vt_pair pair = {};

	vt_serve_pair(test, NULL, &pair);

	KUNIT_EXPECT_EQ(test, fi_sendv(pair.a.ep, iov, NULL, 2, 0, NULL), -EMSGSIZE);
	swap(iov[0], iov[1]);
	KUNIT_EXPECT_EQ(test, fi_sendv(pair.a.ep, iov, NULL, 2, 0, NULL), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, fi_recvv(pair.b.ep, iov, NULL, 2, 0, NULL), -EMSGSIZE);
}

static void unknown_flags_are_refused(struct kunit *test)
{
	static const u64 send_flags[] = {
		FI_MULTI_RECV, FI_PEEK, FI_DELIVERY_COMPLETE, FI_COMMIT_COMPLETE,
		FI_MATCH_COMPLETE, FI_TRIGGER, BIT_ULL(63), FI_RECV,
	};
	static const u64 recv_flags[] = {
		FI_INJECT, FI_REMOTE_CQ_DATA, FI_MULTI_RECV, FI_PEEK, FI_FENCE,
		BIT_ULL(63),
	};
	struct kvec iov = { vt_buf(test, 8), 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct vt_pair pair = {};
	int i;

	vt_serve_pair(test, NULL, &pair);

	for (i = 0; i < ARRAY_SIZE(send_flags); i++)
		KUNIT_EXPECT_EQ_MSG(test, fi_sendmsg(pair.a.ep, &msg, send_flags[i]), -FI_EBADFLAGS,
				    "%llx", send_flags[i]);
	for (i = 0; i < ARRAY_SIZE(recv_flags); i++)
		KUNIT_EXPECT_EQ_MSG(test, fi_recvmsg(pair.b.ep, &msg, recv_flags[i]), -FI_EBADFLAGS,
				    "%llx", recv_flags[i]);
	vt_ping(test, &pair.a, &pair.b);
}

/* More refusals than there are slots, then as many operations as there are */
static void refusals_take_no_slot(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test);
	u8 *buf = vt_buf(test, 8), stack[8];
	struct vt_pair pair = {};
	int i;

	hints->tx_attr->size = 4;
	hints->rx_attr->size = 4;
	vt_serve_pair(test, hints, &pair);
	for (i = 0; i < 10; i++) {
		fi_send(pair.a.ep, stack, 8, NULL, 0, NULL);
		fi_recv(pair.b.ep, stack, 8, NULL, 0, NULL);
	}

	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, fi_recv(pair.b.ep, buf, 8, NULL, 0, vt_ctx(i)), 0);
		KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, 8, NULL, 0, vt_ctx(i)), 0);
	}
	for (i = 0; i < 4; i++) {
		vt_done(test, pair.b.rx, vt_ctx(i));
		vt_done(test, pair.a.tx, vt_ctx(i));
	}
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
}

/* Each call of a table; what carries data that there are not is refused for that first */
static void expect_calls(struct kunit *test, struct fid_ep *ep, const struct vt_call *call,
			 ssize_t want)
{
	const struct vt_xfer x = { .buf = vt_buf(test, 64), .len = 8 };
	ssize_t first;

	for (; call->name; call++) {
		first = want;
		if ((call->is & VT_CQ_DATA && !vt_has_data(test)) ||
		    (call->flags & FI_TRANSMIT_COMPLETE && vt_is_iwarp(test)))
			first = call->refusal;
		KUNIT_EXPECT_EQ_MSG(test, vt_post(ep, call, &x), first, "%s", call->name);
	}
}

static void expect_sends(struct kunit *test, struct fid_ep *ep, ssize_t want)
{
	expect_calls(test, ep, vt_sends, want);
}

static void expect_recvs(struct kunit *test, struct fid_ep *ep, ssize_t want)
{
	expect_calls(test, ep, vt_recvs, want);
}

static void transfers_need_an_enabled_endpoint(struct kunit *test)
{
	struct fid_ep *ep;

	vt_open(test, AF_INET, NULL);
	ep = vt_ep(test, vt_of(test)->info);

	expect_sends(test, ep, -FI_EOPBADSTATE);
	expect_recvs(test, ep, -FI_EOPBADSTATE);
}

static void sends_need_a_connection_and_receives_do_not(struct kunit *test)
{
	struct vt_pair pair = {};

	vt_serve(test, AF_INET, NULL);
	vt_client(test, &pair.a, &vt_default_kind);
	expect_sends(test, pair.a.ep, -ENOTCONN);
	expect_recvs(test, pair.a.ep, 0);
	vt_connect(test, &pair.a, NULL, 0);
	expect_sends(test, pair.a.ep, -ENOTCONN);
	vt_end_open(test, &pair.b, vt_connreq(test, NULL), &vt_default_kind);

	expect_sends(test, pair.b.ep, -ENOTCONN);
	expect_recvs(test, pair.b.ep, 0);
}

static void transfers_after_shutdown_are_refused(struct kunit *test)
{
	struct vt_pair pair = {};

	vt_serve_pair(test, NULL, &pair);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	vt_event(test, pair.b.eq, FI_SHUTDOWN, NULL);

	expect_sends(test, pair.a.ep, -ESHUTDOWN);
	expect_recvs(test, pair.a.ep, -ESHUTDOWN);
	expect_sends(test, pair.b.ep, -ESHUTDOWN);
	expect_recvs(test, pair.b.ep, -ESHUTDOWN);
}

static void what_the_provider_lacks_is_not_there(struct kunit *test)
{
	u8 *buf = vt_buf(test, 8);
	struct vt_end end = {};
	struct fid_ep *alias = NULL;
	size_t len = 8;

	vt_open(test, AF_INET, NULL);
	vt_client(test, &end, &vt_default_kind);

	KUNIT_EXPECT_EQ(test, fi_cancel(&end.ep->fid, buf), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_ep_alias(end.ep, &alias, FI_TRANSMIT), -ENOSYS);
	KUNIT_EXPECT_NULL(test, alias);
	KUNIT_EXPECT_EQ(test, fi_setopt(&end.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, buf, 8),
			-ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, fi_setopt(&end.ep->fid, 12345, FI_OPT_MAX_RW_OPS, buf, 8),
			-ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, fi_getopt(&end.ep->fid, FI_OPT_ENDPOINT, 12345,
					buf, &len), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, fi_getopt(&end.ep->fid, 12345, FI_OPT_CM_DATA_SIZE, buf, &len),
			-ENOPROTOOPT);
	len = 1;
	KUNIT_EXPECT_EQ(test, fi_getopt(&end.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, buf,
					&len), -FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, len, sizeof(size_t));
	KUNIT_EXPECT_EQ(test, fi_control(&end.ep->fid, FI_BACKLOG, buf), -ENOSYS);
}

/* The device could, but the endpoint was not opened for it */
static void what_was_not_asked_for_is_not_there(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64);
	const struct vt_xfer x = { .buf = buf, .len = 8, .key = 1 };
	const struct vt_call *call;
	struct vt_pair pair = {};
	struct scatterlist sg;
	struct fid_ep *ep;

	sg_init_one(&sg, buf, 64);
	vt_serve_pair(test, vt_hints(test), &pair);
	ep = pair.a.ep;
	for (call = vt_reads; call->name; call++)
		KUNIT_EXPECT_EQ_MSG(test, vt_post(ep, call, &x), -ENOSYS, "%s", call->name);
	for (call = vt_writes; call->name; call++)
		KUNIT_EXPECT_EQ_MSG(test, vt_post(ep, call, &x), -ENOSYS, "%s", call->name);
	KUNIT_EXPECT_EQ(test, fi_readsgl(ep, &sg, 1, 0, 64, 0, 0, 1, NULL, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_fetch_atomic(ep, buf, 1, NULL, buf + 8, NULL, 0, 0, 1, FI_UINT64,
					      FI_SUM, NULL), -ENOSYS);
	vt_ping(test, &pair.a, &pair.b);
}

/* What an info is changed to; 0: it stays */
static const struct vt_spoiler {
	const char	*name;
	enum fi_ep_type	type;
	size_t		tx_size;
	size_t		rx_size;
	size_t		tx_iov;
	size_t		rx_iov;
	size_t		inject;
	u64		tx_flags;
	u64		rx_flags;
	size_t		addrlen;
	sa_family_t	family;
} vt_spoilers[] = {
	{ "datagrams", .type = FI_EP_DGRAM },
	{ "deep send queue", .tx_size = 1UL << 31 },
	{ "deep receive queue", .rx_size = SIZE_MAX },
	{ "long send list", .tx_iov = 1000 },
	{ "long receive list", .rx_iov = SIZE_MAX },
	{ "long inject", .inject = SIZE_MAX },
	{ "unknown default flag of sends", .tx_flags = FI_DELIVERY_COMPLETE },
	{ "unknown default flag of receives", .rx_flags = FI_MULTI_RECV },
	{ "short address", .addrlen = sizeof(sa_family_t) },
	{ "odd address family", .family = AF_UNIX },
};

KUNIT_ARRAY_PARAM_DESC(vt_spoiler, vt_spoilers, name);

static struct fi_info *spoilt(struct kunit *test, const struct vt_spoiler *to)
{
	struct fi_info *info = vt_dup(test, vt_of(test)->info);
	struct sockaddr *addr = info->src_addr;

	info->ep_attr->type = to->type ?: info->ep_attr->type;
	info->tx_attr->size = to->tx_size ?: info->tx_attr->size;
	info->rx_attr->size = to->rx_size ?: info->rx_attr->size;
	info->tx_attr->iov_limit = to->tx_iov ?: info->tx_attr->iov_limit;
	info->rx_attr->iov_limit = to->rx_iov ?: info->rx_attr->iov_limit;
	info->tx_attr->inject_size = to->inject ?: info->tx_attr->inject_size;
	info->tx_attr->op_flags = to->tx_flags ?: info->tx_attr->op_flags;
	info->rx_attr->op_flags = to->rx_flags ?: info->rx_attr->op_flags;
	info->src_addrlen = to->addrlen ?: info->src_addrlen;
	addr->sa_family = to->family ?: addr->sa_family;
	return info;
}

static void an_endpoint_beyond_the_device_is_refused(struct kunit *test)
{
	struct fid_ep *ep;

	vt_open(test, AF_INET, NULL);

	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, spoilt(test, test->param_value), &ep,
					  NULL), -EINVAL);
}

static void a_listener_for_datagrams_is_refused(struct kunit *test)
{
	struct fi_info *info;
	struct fid_pep *pep;

	vt_open(test, AF_INET, NULL);
	info = vt_dup(test, vt_of(test)->info);
	info->ep_attr->type = FI_EP_DGRAM;
	KUNIT_EXPECT_EQ(test, fi_passive_ep(vt_of(test)->fabric, info, &pep, NULL), -EINVAL);
}

static void an_address_of_nobody_here_is_refused(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fi_info *info;
	struct fid_pep *pep;
	struct fid_ep *ep;

	vt_open(test, AF_INET, NULL);
	info = vt_dup(test, vt_of(test)->info);
	((struct sockaddr_in *)info->src_addr)->sin_addr.s_addr = htonl(0xc0000201);

	KUNIT_EXPECT_EQ(test, fi_endpoint(vt->domain, info, &ep, NULL), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, fi_passive_ep(vt->fabric, info, &pep, NULL), -EADDRNOTAVAIL);
}

static void an_unknown_device_has_no_domain(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fid_domain *domain;
	struct fi_info *info;

	vt_open(test, AF_INET, NULL);
	info = vt_dup(test, vt_of(test)->info);
	info->domain_attr->name[0] ^= 1;

	KUNIT_EXPECT_EQ(test, fi_domain(vt->fabric, info, &domain, NULL), -ENODEV);
	kfree(info->domain_attr->name);
	info->domain_attr->name = NULL;
	KUNIT_EXPECT_EQ(test, fi_domain(vt->fabric, info, &domain, NULL), -EINVAL);
}

static struct kunit_case refuse_cases[] = {
	KUNIT_CASE(wild_pointers_are_refused),
	KUNIT_CASE(memory_that_ends_too_early_is_refused),
	KUNIT_CASE(the_stack_is_refused),
	KUNIT_CASE(lists_whose_lengths_overflow_are_refused),
	KUNIT_CASE(unknown_flags_are_refused),
	KUNIT_CASE(refusals_take_no_slot),
	KUNIT_CASE(transfers_need_an_enabled_endpoint),
	KUNIT_CASE(sends_need_a_connection_and_receives_do_not),
	KUNIT_CASE(transfers_after_shutdown_are_refused),
	KUNIT_CASE(what_the_provider_lacks_is_not_there),
	KUNIT_CASE(what_was_not_asked_for_is_not_there),
	KUNIT_CASE_PARAM(an_endpoint_beyond_the_device_is_refused, vt_spoiler_gen_params),
	KUNIT_CASE(a_listener_for_datagrams_is_refused),
	KUNIT_CASE(an_address_of_nobody_here_is_refused),
	KUNIT_CASE(an_unknown_device_has_no_domain),
	{}
};

struct kunit_suite kofi_verbs_refuse_suite = {
	.name		= "kofi_verbs_refuse",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= refuse_cases,
};
