// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Bad arguments of transfer calls and of the calls that open objects.  Nothing
 * that was refused takes a slot, completes, or disturbs the connection.
 */
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
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

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);

	for (i = 0; i < ARRAY_SIZE(vt_wild); i++) {
		wild = (void *)vt_wild[i];
		KUNIT_EXPECT_EQ_MSG(test, fi_send(pair.a.ep, wild, 8, NULL, 0,
						  NULL), -EINVAL, "%lx",
				    vt_wild[i]);
		KUNIT_EXPECT_EQ_MSG(test, fi_recv(pair.b.ep, wild, 8, NULL, 0,
						  NULL), -EINVAL, "%lx",
				    vt_wild[i]);
	}
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, NULL, 8, NULL, 0, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.a.ep, NULL, 8, NULL, 0, NULL),
			-EINVAL);
	vt_ping(test, &pair.a, &pair.b);
}

static void memory_that_ends_too_early_is_refused(struct kunit *test)
{
	void *last = (void *)high_memory - 8;
	struct vt_pair pair = {};
	size_t len;

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	len = vt_of(test)->info->ep_attr->max_msg_size;

	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, last, len, NULL, 0, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.b.ep, last, len, NULL, 0, NULL),
			-EINVAL);
	vt_ping(test, &pair.a, &pair.b);
}

static void the_stack_is_refused(struct kunit *test)
{
	struct kvec iov[2];
	struct vt_pair pair = {};
	u8 buf[8] = {};

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	iov[0] = (struct kvec) { vt_buf(test, 8), 8 };
	iov[1] = (struct kvec) { buf, sizeof(buf) };

	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, sizeof(buf), NULL, 0,
				      NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_sendv(pair.a.ep, iov, NULL, 2, 0, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_senddata(pair.a.ep, buf, sizeof(buf), NULL, 0,
					  0, NULL),
			vt_has_data(test) ? -EINVAL : -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.b.ep, buf, sizeof(buf), NULL, 0,
				      NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recvv(pair.b.ep, iov, NULL, 2, 0, NULL),
			-EINVAL);
	vt_ping(test, &pair.a, &pair.b);
}

static void bad_lists_are_refused(struct kunit *test)
{
	struct kvec iov = { vt_buf(test, 8), 8 };
	struct fi_msg none = { .iov_count = 1 };
	struct fi_msg odd = { .type = 77, .msg_iov = &iov, .iov_count = 1 };
	struct vt_pair pair = {};

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);

	KUNIT_EXPECT_EQ(test, fi_sendv(pair.a.ep, NULL, NULL, 1, 0, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recvv(pair.b.ep, NULL, NULL, 1, 0, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &none, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &none, FI_INJECT), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(pair.b.ep, &none, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &odd, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(pair.b.ep, &odd, 0), -EINVAL);
	vt_ping(test, &pair.a, &pair.b);
}

static void lists_whose_lengths_overflow_are_refused(struct kunit *test)
{
	u8 *buf = vt_buf(test, 8);
	struct kvec iov[2] = { { buf, SIZE_MAX }, { buf, 2 } };
	struct vt_pair pair = {};

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);

	KUNIT_EXPECT_EQ(test, fi_sendv(pair.a.ep, iov, NULL, 2, 0, NULL),
			-EMSGSIZE);
	swap(iov[0], iov[1]);
	KUNIT_EXPECT_EQ(test, fi_sendv(pair.a.ep, iov, NULL, 2, 0, NULL),
			-EMSGSIZE);
	KUNIT_EXPECT_EQ(test, fi_recvv(pair.b.ep, iov, NULL, 2, 0, NULL),
			-EMSGSIZE);
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

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);

	for (i = 0; i < ARRAY_SIZE(send_flags); i++)
		KUNIT_EXPECT_EQ_MSG(test, fi_sendmsg(pair.a.ep, &msg,
						     send_flags[i]),
				    -FI_EBADFLAGS, "%llx", send_flags[i]);
	for (i = 0; i < ARRAY_SIZE(recv_flags); i++)
		KUNIT_EXPECT_EQ_MSG(test, fi_recvmsg(pair.b.ep, &msg,
						     recv_flags[i]),
				    -FI_EBADFLAGS, "%llx", recv_flags[i]);
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
	vt_serve(test, AF_INET, hints);
	vt_join(test, &pair, &vt_default_kind);
	for (i = 0; i < 10; i++) {
		fi_send(pair.a.ep, stack, 8, NULL, 0, NULL);
		fi_recv(pair.b.ep, stack, 8, NULL, 0, NULL);
	}

	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, fi_recv(pair.b.ep, buf, 8, NULL, 0,
					      vt_ctx(i)), 0);
		KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, buf, 8, NULL, 0,
					      vt_ctx(i)), 0);
	}
	for (i = 0; i < 4; i++) {
		vt_done(test, pair.b.rx, vt_ctx(i));
		vt_done(test, pair.a.tx, vt_ctx(i));
	}
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
}

static void expect_sends(struct kunit *test, struct fid_ep *ep, ssize_t want)
{
	struct kvec iov = { vt_buf(test, 8), 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };

	KUNIT_EXPECT_EQ(test, fi_send(ep, iov.iov_base, 8, NULL, 0, NULL),
			want);
	KUNIT_EXPECT_EQ(test, fi_sendv(ep, &iov, NULL, 1, 0, NULL), want);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(ep, &msg, 0), want);
	KUNIT_EXPECT_EQ(test, fi_inject(ep, iov.iov_base, 8, 0), want);
	if (!vt_has_data(test))
		want = -ENOSYS;
	KUNIT_EXPECT_EQ(test, fi_senddata(ep, iov.iov_base, 8, NULL, 0, 0,
					  NULL), want);
	KUNIT_EXPECT_EQ(test, fi_injectdata(ep, iov.iov_base, 8, 0, 0), want);
}

static void expect_recvs(struct kunit *test, struct fid_ep *ep, ssize_t want)
{
	struct kvec iov = { vt_buf(test, 8), 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };

	KUNIT_EXPECT_EQ(test, fi_recv(ep, iov.iov_base, 8, NULL, 0, NULL),
			want);
	KUNIT_EXPECT_EQ(test, fi_recvv(ep, &iov, NULL, 1, 0, NULL), want);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(ep, &msg, 0), want);
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
	union vt_event event;

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	vt_event(test, pair.b.eq, FI_SHUTDOWN, &event);

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
	KUNIT_EXPECT_EQ(test, fi_setopt(&end.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_CM_DATA_SIZE, buf, 8),
			-ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, fi_getopt(&end.ep->fid, FI_OPT_ENDPOINT, 12345,
					buf, &len), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, fi_getopt(&end.ep->fid, 12345,
					FI_OPT_CM_DATA_SIZE, buf, &len),
			-ENOPROTOOPT);
	len = 1;
	KUNIT_EXPECT_EQ(test, fi_getopt(&end.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_CM_DATA_SIZE, buf, &len),
			-FI_ETOOSMALL);
	KUNIT_EXPECT_EQ(test, len, sizeof(size_t));
	KUNIT_EXPECT_EQ(test, fi_control(&end.ep->fid, FI_BACKLOG, buf),
			-ENOSYS);
}

/* The device could, but the endpoint was not opened for it */
static void what_was_not_asked_for_is_not_there(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64);
	struct vt_pair pair = {};
	struct scatterlist sg;
	struct fid_ep *ep;

	sg_init_one(&sg, buf, 64);
	vt_serve(test, AF_INET, vt_hints(test));
	vt_join(test, &pair, &vt_default_kind);
	ep = pair.a.ep;
	KUNIT_EXPECT_EQ(test, fi_read(ep, buf, 8, NULL, 0, 0, 1, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_write(ep, buf, 8, NULL, 0, 0, 1, NULL),
			-ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_inject_write(ep, buf, 8, 0, 0, 1), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_writedata(ep, buf, 8, NULL, 1, 0, 0, 1, NULL),
			-ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_readsgl(ep, &sg, 1, 0, 64, 0, 0, 1, NULL, 0),
			-ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_fetch_atomic(ep, buf, 1, NULL, buf + 8, NULL, 0,
					      0, 1, FI_UINT64, FI_SUM, NULL),
			-ENOSYS);
	vt_ping(test, &pair.a, &pair.b);
}

struct vt_spoiler {
	const char	*name;
	void		(*spoil)(struct fi_info *info);
};

static void ep_datagrams(struct fi_info *info)
{
	info->ep_attr->type = FI_EP_DGRAM;
}

static void ep_deep_tx(struct fi_info *info)
{
	info->tx_attr->size = 1UL << 31;
}

static void ep_deep_rx(struct fi_info *info)
{
	info->rx_attr->size = SIZE_MAX;
}

static void ep_long_tx_list(struct fi_info *info)
{
	info->tx_attr->iov_limit = 1000;
}

static void ep_long_rx_list(struct fi_info *info)
{
	info->rx_attr->iov_limit = SIZE_MAX;
}

static void ep_long_inject(struct fi_info *info)
{
	info->tx_attr->inject_size = SIZE_MAX;
}

static void ep_tx_flags(struct fi_info *info)
{
	info->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
}

static void ep_rx_flags(struct fi_info *info)
{
	info->rx_attr->op_flags = FI_MULTI_RECV;
}

static void ep_short_address(struct fi_info *info)
{
	info->src_addrlen = sizeof(sa_family_t);
}

static void ep_foreign_address(struct fi_info *info)
{
	((struct sockaddr_in *)info->src_addr)->sin_addr.s_addr =
		htonl(0xc0000201);
}

static void ep_odd_family(struct fi_info *info)
{
	((struct sockaddr_in *)info->src_addr)->sin_family = AF_UNIX;
}

static const struct vt_spoiler vt_spoilers[] = {
	{ "datagrams", ep_datagrams },
	{ "deep send queue", ep_deep_tx },
	{ "deep receive queue", ep_deep_rx },
	{ "long send list", ep_long_tx_list },
	{ "long receive list", ep_long_rx_list },
	{ "long inject", ep_long_inject },
	{ "unknown default flag of sends", ep_tx_flags },
	{ "unknown default flag of receives", ep_rx_flags },
	{ "short address", ep_short_address },
	{ "odd address family", ep_odd_family },
};

KUNIT_ARRAY_PARAM_DESC(vt_spoiler, vt_spoilers, name);

static struct fi_info *spoilt(struct kunit *test,
			      void (*spoil)(struct fi_info *info))
{
	struct fi_info *info = fi_dupinfo(vt_of(test)->info);

	KUNIT_ASSERT_NOT_NULL(test, info);
	vt_free_later(test, info);
	spoil(info);
	return info;
}

static void an_endpoint_beyond_the_device_is_refused(struct kunit *test)
{
	const struct vt_spoiler *param = test->param_value;
	struct fid_ep *ep;

	vt_open(test, AF_INET, NULL);

	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain,
					  spoilt(test, param->spoil), &ep,
					  NULL), -EINVAL);
}

static void an_address_of_nobody_here_is_refused(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fi_info *info;
	struct fid_pep *pep;
	struct fid_ep *ep;

	vt_open(test, AF_INET, NULL);
	info = spoilt(test, ep_foreign_address);

	KUNIT_EXPECT_EQ(test, fi_endpoint(vt->domain, info, &ep, NULL),
			-EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, fi_passive_ep(vt->fabric, info, &pep, NULL),
			-EADDRNOTAVAIL);
}

static void an_unknown_device_has_no_domain(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fid_domain *domain;
	struct fi_info *info;

	vt_open(test, AF_INET, NULL);
	info = fi_dupinfo(vt->info);
	KUNIT_ASSERT_NOT_NULL(test, info);
	vt_free_later(test, info);
	info->domain_attr->name[0] ^= 1;

	KUNIT_EXPECT_EQ(test, fi_domain(vt->fabric, info, &domain, NULL),
			-ENODEV);
}

static void no_handler(struct fid_cq *cq, void *context)
{
}

struct vt_cq_case {
	const char		*name;
	struct fi_cq_attr	attr;
	int			want;
};

static const struct vt_cq_case vt_cq_cases[] = {
	{ "size", { .size = 1UL << 30 }, -EINVAL },
	{ "format", { .format = FI_CQ_FORMAT_TAGGED + 1 }, -EINVAL },
	{ "flags", { .flags = FI_WRITE }, -FI_EBADFLAGS },
	{ "context", { .comp_ctx = FI_COMP_DIRECT + 1 }, -EINVAL },
	{ "wait set", { .wait_obj = FI_WAIT_SET }, -ENOSYS },
	{ "wait fd", { .wait_obj = FI_WAIT_FD }, -ENOSYS },
	{ "unknown wait object", { .wait_obj = 12345 }, -ENOSYS },
	{ "callback without handler", { .wait_obj = FI_WAIT_CALLBACK },
	  -EINVAL },
	{ "handler without callback", { .handler = no_handler }, -EINVAL },
	{ "threshold without sleep", { .wait_cond = FI_CQ_COND_THRESHOLD },
	  -EINVAL },
	{ "condition", { .wait_obj = FI_WAIT_UNSPEC,
	    .wait_cond = FI_CQ_COND_THRESHOLD + 1 }, -EINVAL },
	{ "vector", { .flags = FI_AFFINITY, .signaling_vector = -1 }, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(vt_cq_case, vt_cq_cases, name);

static void a_bad_completion_queue_is_refused(struct kunit *test)
{
	const struct vt_cq_case *param = test->param_value;
	struct fi_cq_attr attr = param->attr;
	struct fid_cq *cq;

	vt_open(test, AF_INET, NULL);

	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &cq, NULL),
			param->want);
}

static struct kunit_case refuse_cases[] = {
	KUNIT_CASE(wild_pointers_are_refused),
	KUNIT_CASE(memory_that_ends_too_early_is_refused),
	KUNIT_CASE(the_stack_is_refused),
	KUNIT_CASE(bad_lists_are_refused),
	KUNIT_CASE(lists_whose_lengths_overflow_are_refused),
	KUNIT_CASE(unknown_flags_are_refused),
	KUNIT_CASE(refusals_take_no_slot),
	KUNIT_CASE(transfers_need_an_enabled_endpoint),
	KUNIT_CASE(sends_need_a_connection_and_receives_do_not),
	KUNIT_CASE(transfers_after_shutdown_are_refused),
	KUNIT_CASE(what_the_provider_lacks_is_not_there),
	KUNIT_CASE(what_was_not_asked_for_is_not_there),
	KUNIT_CASE_PARAM(an_endpoint_beyond_the_device_is_refused,
			 vt_spoiler_gen_params),
	KUNIT_CASE(an_address_of_nobody_here_is_refused),
	KUNIT_CASE(an_unknown_device_has_no_domain),
	KUNIT_CASE_PARAM(a_bad_completion_queue_is_refused,
			 vt_cq_case_gen_params),
	{}
};

struct kunit_suite kofi_verbs_refuse_suite = {
	.name		= "kofi_verbs_refuse",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= refuse_cases,
};
