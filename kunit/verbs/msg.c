// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages: every transfer call with every size, what their completions say,
 * and the flags of calls and endpoints.
 */
#include "verbs.h"

#define VT_DATA		0x89abcdefULL

struct vt_call {
	const char	*name;
	ssize_t		(*post)(struct fid_ep *ep, void *buf, size_t len,
				void *context);
	bool		short_only;
	bool		silent;
	bool		with_data;
	ssize_t		refusal;
	bool		transmit;
};

/* Three pieces, the last of them the longest */
static void vt_split(struct kvec *iov, void *buf, size_t len)
{
	size_t third = len / 3;

	iov[0] = (struct kvec) { buf, third };
	iov[1] = (struct kvec) { buf + third, third };
	iov[2] = (struct kvec) { buf + 2 * third, len - 2 * third };
}

static ssize_t post_send(struct fid_ep *ep, void *buf, size_t len,
			 void *context)
{
	return fi_send(ep, buf, len, NULL, 0, context);
}

static ssize_t post_sendv(struct fid_ep *ep, void *buf, size_t len,
			  void *context)
{
	struct kvec iov[3];

	vt_split(iov, buf, len);
	return fi_sendv(ep, iov, NULL, 3, 0, context);
}

static ssize_t post_flags(struct fid_ep *ep, void *buf, size_t len,
			  void *context, u64 flags)
{
	struct kvec iov[3];
	struct fi_msg msg = {
		.msg_iov	= iov,
		.iov_count	= 3,
		.context	= context,
		.data		= VT_DATA,
	};

	vt_split(iov, buf, len);
	return fi_sendmsg(ep, &msg, flags);
}

static ssize_t post_sendmsg(struct fid_ep *ep, void *buf, size_t len,
			    void *context)
{
	return post_flags(ep, buf, len, context, FI_COMPLETION);
}

static ssize_t post_sendmsg_data(struct fid_ep *ep, void *buf, size_t len,
				 void *context)
{
	return post_flags(ep, buf, len, context,
			  FI_COMPLETION | FI_REMOTE_CQ_DATA);
}

static ssize_t post_sendmsg_inject(struct fid_ep *ep, void *buf, size_t len,
				   void *context)
{
	return post_flags(ep, buf, len, context, FI_COMPLETION | FI_INJECT);
}

static ssize_t post_sendmsg_fence(struct fid_ep *ep, void *buf, size_t len,
				  void *context)
{
	return post_flags(ep, buf, len, context, FI_COMPLETION | FI_FENCE |
			  FI_INJECT_COMPLETE);
}

static ssize_t post_sendmsg_transmit(struct fid_ep *ep, void *buf, size_t len,
				     void *context)
{
	return post_flags(ep, buf, len, context, FI_COMPLETION |
			  FI_TRANSMIT_COMPLETE);
}

static ssize_t post_inject(struct fid_ep *ep, void *buf, size_t len,
			   void *context)
{
	return fi_inject(ep, buf, len, 0);
}

static ssize_t post_senddata(struct fid_ep *ep, void *buf, size_t len,
			     void *context)
{
	return fi_senddata(ep, buf, len, NULL, VT_DATA, 0, context);
}

static ssize_t post_injectdata(struct fid_ep *ep, void *buf, size_t len,
			       void *context)
{
	return fi_injectdata(ep, buf, len, VT_DATA, 0);
}

/* @refusal: the answer of a device that has not what the call is about */
static const struct vt_call vt_sends[] = {
	{ "send", post_send },
	{ "sendv", post_sendv },
	{ "sendmsg", post_sendmsg },
	{ "sendmsg with data", post_sendmsg_data, .with_data = true,
	  .refusal = -FI_EBADFLAGS },
	{ "sendmsg, injected", post_sendmsg_inject, .short_only = true },
	{ "sendmsg, fenced", post_sendmsg_fence },
	{ "sendmsg, transmitted", post_sendmsg_transmit, .transmit = true,
	  .refusal = -FI_EBADFLAGS },
	{ "inject", post_inject, .short_only = true, .silent = true },
	{ "senddata", post_senddata, .with_data = true, .refusal = -ENOSYS },
	{ "injectdata", post_injectdata, .short_only = true, .silent = true,
	  .with_data = true, .refusal = -ENOSYS },
};

KUNIT_ARRAY_PARAM_DESC(vt_send, vt_sends, name);

static ssize_t post_recv(struct fid_ep *ep, void *buf, size_t len,
			 void *context)
{
	return fi_recv(ep, buf, len, NULL, 0, context);
}

static ssize_t post_recvv(struct fid_ep *ep, void *buf, size_t len,
			  void *context)
{
	struct kvec iov[3];

	vt_split(iov, buf, len);
	return fi_recvv(ep, iov, NULL, 3, 0, context);
}

static ssize_t post_recvmsg(struct fid_ep *ep, void *buf, size_t len,
			    void *context)
{
	struct kvec iov[3];
	struct fi_msg msg = {
		.msg_iov	= iov,
		.iov_count	= 3,
		.context	= context,
	};

	vt_split(iov, buf, len);
	return fi_recvmsg(ep, &msg, FI_COMPLETION);
}

static const struct vt_call vt_recvs[] = {
	{ "recv", post_recv },
	{ "recvv", post_recvv },
	{ "recvmsg", post_recvmsg },
};

KUNIT_ARRAY_PARAM_DESC(vt_recv, vt_recvs, name);

static const struct vt_call *const vt_plain_send = &vt_sends[0];
static const struct vt_call *const vt_plain_recv = &vt_recvs[0];

static void check_recv(struct kunit *test, const struct vt_comp *comp,
		       const struct vt_call *send, void *buf, size_t len)
{
	u64 flags = FI_RECV | FI_MSG;

	if (send->with_data)
		flags |= FI_REMOTE_CQ_DATA;
	KUNIT_EXPECT_EQ(test, comp->flags, flags);
	KUNIT_EXPECT_EQ(test, comp->len, len);
	KUNIT_EXPECT_PTR_EQ(test, comp->buf, buf);
	KUNIT_EXPECT_EQ(test, comp->data, send->with_data ? VT_DATA : 0);
}

/* One message of @len bytes into a receive that is longer by @spare */
static void transfer(struct kunit *test, struct vt_pair *pair,
		     const struct vt_call *send, const struct vt_call *recv,
		     size_t len, size_t spare)
{
	u8 *out = vt_buf(test, len + 1), *in = vt_buf(test, len + spare + 1);
	struct vt_comp comp;

	vt_fill(out, len, len);
	memset(in, 0x5a, len + spare + 1);
	KUNIT_ASSERT_EQ(test, recv->post(pair->b.ep, in, len + spare,
					 vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, send->post(pair->a.ep, out, len, vt_ctx(2)), 0);
	if (send->short_only)
		memset(out, 0, len);

	comp = vt_done(test, pair->b.rx, vt_ctx(1));
	check_recv(test, &comp, send, in, len);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, len, len));
	KUNIT_EXPECT_EQ(test, in[len], 0x5a);
	if (!send->silent) {
		comp = vt_done(test, pair->a.tx, vt_ctx(2));
		KUNIT_EXPECT_EQ(test, comp.flags, FI_SEND | FI_MSG);
	}
	kunit_kfree(test, out);
	kunit_kfree(test, in);
}

static bool is_there(struct kunit *test, const struct vt_call *call)
{
	return !(call->with_data && !vt_has_data(test)) &&
	       !(call->transmit && vt_is_iwarp(test));
}

static void refused(struct kunit *test, struct vt_pair *pair,
		    const struct vt_call *call)
{
	u8 *buf = vt_buf(test, 8);

	KUNIT_EXPECT_EQ(test, call->post(pair->a.ep, buf, 8, vt_ctx(1)),
			call->refusal);
	vt_none(test, pair->a.tx);
	vt_ping(test, &pair->a, &pair->b);
}

static void transfer_all_sizes(struct kunit *test, const struct vt_call *send,
			       const struct vt_call *recv)
{
	static const size_t long_sizes[] = { 4096, 65536, 1UL << 20 };
	struct vt_pair pair = {};
	size_t limit, i;

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	if (!is_there(test, send)) {
		refused(test, &pair, send);
		return;
	}
	limit = vt_of(test)->info->tx_attr->inject_size;

	transfer(test, &pair, send, recv, 0, 0);
	transfer(test, &pair, send, recv, 1, 0);
	transfer(test, &pair, send, recv, 100, 28);
	transfer(test, &pair, send, recv, limit, 0);
	for (i = 0; i < ARRAY_SIZE(long_sizes) && !send->short_only; i++)
		transfer(test, &pair, send, recv, long_sizes[i], 0);
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
}

static void every_send_call_carries_every_size(struct kunit *test)
{
	transfer_all_sizes(test, test->param_value, vt_plain_recv);
}

static void every_recv_call_takes_every_size(struct kunit *test)
{
	transfer_all_sizes(test, vt_plain_send, test->param_value);
}

static void messages_keep_their_order(struct kunit *test)
{
	u32 *out = vt_buf(test, 32 * sizeof(u32));
	u32 *in = vt_buf(test, 32 * sizeof(u32));
	struct vt_pair pair = {};
	u32 i;

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	for (i = 0; i < 32; i++)
		vt_recv(test, &pair.b, &in[i], sizeof(u32), vt_ctx(i));
	for (i = 0; i < 32; i++) {
		out[i] = i;
		KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, &out[i], sizeof(u32),
					      NULL, 0, vt_ctx(100 + i)), 0);
	}

	for (i = 0; i < 32; i++) {
		vt_done(test, pair.b.rx, vt_ctx(i));
		vt_done(test, pair.a.tx, vt_ctx(100 + i));
		KUNIT_EXPECT_EQ(test, in[i], i);
	}
}

static void both_directions_carry_messages_at_once(struct kunit *test)
{
	struct vt_cq *cq[2];
	struct vt_pair pair = {};
	u8 *buf[4];
	int i;

	vt_serve(test, AF_INET6, NULL);
	for (i = 0; i < 2; i++)
		cq[i] = vt_cq(test, &vt_default_kind, 0);
	pair.a.rx = cq[0];
	pair.b.rx = cq[1];
	vt_join(test, &pair, &vt_default_kind);
	for (i = 0; i < 4; i++)
		buf[i] = vt_buf(test, 30000);
	vt_fill(buf[0], 30000, 1);
	vt_fill(buf[1], 30000, 2);
	vt_recv(test, &pair.a, buf[2], 30000, vt_ctx(1));
	vt_recv(test, &pair.b, buf[3], 30000, vt_ctx(2));

	KUNIT_ASSERT_EQ(test, post_send(pair.a.ep, buf[0], 30000, vt_ctx(3)),
			0);
	KUNIT_ASSERT_EQ(test, post_send(pair.b.ep, buf[1], 30000, vt_ctx(4)),
			0);

	vt_done(test, pair.a.rx, vt_ctx(1));
	vt_done(test, pair.b.rx, vt_ctx(2));
	vt_done(test, pair.a.tx, vt_ctx(3));
	vt_done(test, pair.b.tx, vt_ctx(4));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf[2], 30000, 2));
	KUNIT_EXPECT_TRUE(test, vt_filled(buf[3], 30000, 1));
}

static void remote_cq_data_is_32_bits_wide(struct kunit *test)
{
	struct vt_pair pair = {};
	struct vt_comp comp;

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	if (!vt_has_data(test)) {
		KUNIT_EXPECT_EQ(test, fi_injectdata(pair.a.ep, NULL, 0, 1, 0),
				-ENOSYS);
		return;
	}
	KUNIT_EXPECT_EQ(test, vt_info(test)->domain_attr->cq_data_size, 4);
	vt_recv(test, &pair.b, NULL, 0, vt_ctx(1));
	vt_recv(test, &pair.b, NULL, 0, vt_ctx(2));
	KUNIT_ASSERT_EQ(test, fi_injectdata(pair.a.ep, NULL, 0, U32_MAX, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_injectdata(pair.a.ep, NULL, 0,
					    0x1234567800000001ULL, 0), 0);

	comp = vt_done(test, pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.data, U32_MAX);
	comp = vt_done(test, pair.b.rx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, comp.data, 1);
}

static void selective(struct kunit *test, struct vt_pair *pair)
{
	vt_serve(test, AF_INET, NULL);
	pair->a.bind_flags = FI_SELECTIVE_COMPLETION;
	pair->b.bind_flags = FI_SELECTIVE_COMPLETION;
	vt_join(test, pair, &vt_default_kind);
}

static ssize_t recv_flags(struct fid_ep *ep, void *buf, size_t len,
			  void *context, u64 flags)
{
	struct kvec iov = { buf, len };
	struct fi_msg msg = {
		.msg_iov	= &iov,
		.iov_count	= 1,
		.context	= context,
	};

	return fi_recvmsg(ep, &msg, flags);
}

static void selective_completion_reports_what_asks_for_it(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64);
	struct vt_pair pair = {};

	selective(test, &pair);
	KUNIT_ASSERT_EQ(test, post_recv(pair.b.ep, buf, 8, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, recv_flags(pair.b.ep, buf + 8, 8, vt_ctx(2), 0),
			0);
	KUNIT_ASSERT_EQ(test, recv_flags(pair.b.ep, buf + 16, 8, vt_ctx(3),
					 FI_COMPLETION), 0);
	KUNIT_ASSERT_EQ(test, post_send(pair.a.ep, buf + 24, 8, vt_ctx(4)), 0);
	KUNIT_ASSERT_EQ(test, post_flags(pair.a.ep, buf + 32, 8, vt_ctx(5), 0),
			0);
	KUNIT_ASSERT_EQ(test, post_flags(pair.a.ep, buf + 40, 8, vt_ctx(6),
					 FI_COMPLETION), 0);

	vt_done(test, pair.b.rx, vt_ctx(3));
	vt_done(test, pair.a.tx, vt_ctx(6));
	vt_none(test, pair.b.rx);
	vt_none(test, pair.a.tx);
}

static void silent_operations_give_their_slots_back(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test);
	u8 *buf = vt_buf(test, 64);
	struct vt_pair pair = {};
	int i;

	hints->tx_attr->size = 4;
	hints->rx_attr->size = 4;
	vt_serve(test, AF_INET, hints);
	pair.a.bind_flags = FI_SELECTIVE_COMPLETION;
	vt_join(test, &pair, &vt_default_kind);

	/* Each second send is silent, and each fourth slot would be lost */
	for (i = 0; i < 16; i++) {
		vt_recv(test, &pair.b, buf, 8, vt_ctx(1));
		vt_recv(test, &pair.b, buf + 8, 8, vt_ctx(2));
		KUNIT_ASSERT_EQ(test, post_send(pair.a.ep, buf + 16, 8, NULL),
				0);
		KUNIT_ASSERT_EQ(test, post_sendmsg(pair.a.ep, buf + 24, 8,
						   vt_ctx(3)), 0);
		vt_done(test, pair.b.rx, vt_ctx(1));
		vt_done(test, pair.b.rx, vt_ctx(2));
		vt_done(test, pair.a.tx, vt_ctx(3));
	}
	vt_none(test, pair.a.tx);
}

static void default_flags_can_be_read_and_set(struct kunit *test)
{
	u64 flags = FI_TRANSMIT;
	struct vt_pair pair = {};
	struct fid *fid;

	selective(test, &pair);
	fid = &pair.a.ep->fid;
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_GETOPSFLAG, &flags), 0);
	KUNIT_EXPECT_EQ(test, flags, 0);
	flags = FI_TRANSMIT | FI_COMPLETION;
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_SETOPSFLAG, &flags), 0);
	flags = FI_TRANSMIT;
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_GETOPSFLAG, &flags), 0);
	KUNIT_EXPECT_EQ(test, flags, FI_COMPLETION);
	flags = FI_RECV;
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_GETOPSFLAG, &flags), 0);
	KUNIT_EXPECT_EQ(test, flags, 0);
}

static void default_flags_act_on_calls_without_flags(struct kunit *test)
{
	u64 tx = FI_TRANSMIT | FI_COMPLETION, rx = FI_RECV | FI_COMPLETION;
	struct vt_pair pair = {};

	selective(test, &pair);
	KUNIT_ASSERT_EQ(test, fi_control(&pair.a.ep->fid, FI_SETOPSFLAG, &tx),
			0);
	KUNIT_ASSERT_EQ(test, fi_control(&pair.b.ep->fid, FI_SETOPSFLAG, &rx),
			0);

	vt_ping(test, &pair.a, &pair.b);
}

static void bad_default_flags_are_refused(struct kunit *test)
{
	u64 unknown = FI_TRANSMIT | FI_MULTI_RECV;
	u64 both = FI_TRANSMIT | FI_RECV, none = 0;
	u64 data = FI_TRANSMIT | FI_REMOTE_CQ_DATA;
	u64 inject = FI_RECV | FI_INJECT;
	struct vt_end end = {};
	struct fid *fid;

	vt_open(test, AF_INET, NULL);
	vt_client(test, &end, &vt_default_kind);
	fid = &end.ep->fid;

	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_SETOPSFLAG, &unknown),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_SETOPSFLAG, &data),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_SETOPSFLAG, &inject),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_SETOPSFLAG, &both), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_SETOPSFLAG, &none), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_GETOPSFLAG, &none), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_GETOPSFLAG, NULL), -EINVAL);
}

static struct kunit_case msg_cases[] = {
	KUNIT_CASE_PARAM(every_send_call_carries_every_size,
			 vt_send_gen_params),
	KUNIT_CASE_PARAM(every_recv_call_takes_every_size, vt_recv_gen_params),
	KUNIT_CASE(messages_keep_their_order),
	KUNIT_CASE(both_directions_carry_messages_at_once),
	KUNIT_CASE(remote_cq_data_is_32_bits_wide),
	KUNIT_CASE(selective_completion_reports_what_asks_for_it),
	KUNIT_CASE(silent_operations_give_their_slots_back),
	KUNIT_CASE(default_flags_can_be_read_and_set),
	KUNIT_CASE(default_flags_act_on_calls_without_flags),
	KUNIT_CASE(bad_default_flags_are_refused),
	{}
};

struct kunit_suite kofi_verbs_msg_suite = {
	.name		= "kofi_verbs_msg",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= msg_cases,
};
