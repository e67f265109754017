// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages: every call that sends to every call that receives, memory of every
 * kind, injection, lists, what is too long.
 */
#include <kofi/stat.h>
#include "../lib/memory.h"
#include "conformance.h"

/* One message of @len bytes into a receive that is longer by @spare */
static void carry(struct kunit *test, struct vt_pair *pair, const struct vt_call *send,
		  const struct vt_call *recv, size_t len, size_t spare)
{
	u64 data = send->is & VT_CQ_DATA ? conf_data(test) : 0;
	u8 *out = vt_buf(test, len + 1), *in = vt_buf(test, len + spare + 1);
	struct vt_xfer from = { .buf = out, .len = len, .data = data };
	struct vt_xfer to = { .buf = in, .len = len + spare, .context = vt_ctx(1) };
	struct vt_comp comp;

	from.context = vt_ctx(2);
	from.pieces = conf_min_iov(test, VT_PIECES);
	to.pieces = from.pieces;
	vt_fill(out, len, len);
	memset(in, 0x5a, len + spare + 1);
	KUNIT_ASSERT_EQ(test, vt_post(vt_rx(&pair->b), recv, &to), 0);
	KUNIT_ASSERT_EQ_MSG(test, vt_post(pair->a.ep, send, &from), 0, "%s", send->name);
	if (send->is & VT_SHORT)
		memset(out, 0, len);
	comp = vt_done(test, pair->b.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.len, len);
	KUNIT_EXPECT_EQ(test, comp.data, data);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV |
			(send->is & VT_CQ_DATA ? FI_REMOTE_CQ_DATA : 0));
	if (!(send->is & VT_UNSIGNALED)) {
		comp = vt_done(test, pair->a.tx, vt_ctx(2));
		KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_SEND);
	}
	KUNIT_EXPECT_TRUE_MSG(test, vt_filled(in, len, len), "%s, %zu bytes", send->name, len);
	KUNIT_EXPECT_EQ(test, in[len], 0x5a);
	kunit_kfree(test, in);
	kunit_kfree(test, out);
}

/* Short sizes by each call that receives, long ones in turn; the longest by calls without flags */
static void carry_sizes(struct kunit *test, struct vt_pair *pair, const struct vt_call *send)
{
	const struct fi_info *info = vt_of(test)->info;
	size_t inject = info->tx_attr->inject_size, limit = info->ep_attr->max_msg_size, i, k;
	const size_t shorts[] = { 0, 1, min(100, inject), inject };
	static const size_t longs[] = { 4096, 4097, SZ_64K, SZ_1M };

	for (i = 0; i < ARRAY_SIZE(shorts); i++)
		for (k = 0; vt_recvs[k].name; k++)
			carry(test, pair, send, &vt_recvs[k], shorts[i], i % 2 ? 28 : 0);
	if (send->is & VT_SHORT)
		return;
	for (i = 0; i < ARRAY_SIZE(longs) && longs[i] <= limit; i++)
		if (longs[i] < SZ_1M || send->op <= VT_SENDV)
			carry(test, pair, send, &vt_recvs[i % k], longs[i], 0);
}

static void no_shared_context_is_possible(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fid_ep *srx;
	int ret;

	vt_open_info(test, vt->info);
	ret = fi_srx_context(vt->domain, vt->info->rx_attr, &srx, NULL);
	if (!ret)
		vt_adopt(test, &srx->fid);
	KUNIT_EXPECT_EQ(test, ret, -ENOSYS);
}

/*
 * The info of a case in the suite of shared receive contexts wishes for one.  Returns
 * whether the ends are connected; if none is claimed, they are not, and it is refused.
 */
static bool join(struct kunit *test, struct vt_pair *pair)
{
	const struct fi_info *info = vt_of(test)->info;

	if (info->ep_attr->rx_ctx_cnt != FI_SHARED_CONTEXT) {
		conf_join(test, pair);
		return true;
	}
	if (!info->domain_attr->max_ep_srx_ctx) {
		no_shared_context_is_possible(test);
		return false;
	}
	conf_serve(test);
	pair->b.srx = conf_srx(test);
	conf_accept_shared(test, pair);
	return true;
}

static void no_message_is_possible(struct kunit *test, struct vt_end *end)
{
	struct vt_xfer x = { .buf = vt_buf(test, 8), .len = 8 };
	const struct vt_call *call;

	for (call = vt_recvs; call->name; call++)
		KUNIT_EXPECT_EQ(test, vt_post(end->ep, call, &x), -ENOSYS);
	for (call = vt_sends; call->name; call++)
		KUNIT_EXPECT_EQ(test, vt_post(end->ep, call, &x), -ENOSYS);
}

static void each_send_call_reaches_each_receive_call(struct kunit *test)
{
	const struct vt_call *call;
	struct vt_pair pair = {};

	if (!join(test, &pair))
		return;
	if (!conf_has(test, FI_MSG)) {
		no_message_is_possible(test, &pair.a);
		return;
	}
	for (call = vt_sends; call->name; call++) {
		if (conf_claims(test, call))
			carry_sizes(test, &pair, call);
		else if (!(call->flags & FI_FENCE))
			conf_refuses(test, pair.a.ep, call);
	}
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
	vt_ping(test, &pair.a, &pair.b);
}

/* As many pieces as the lists may have; a page of vmalloc is one */
static void carry_memory(struct kunit *test, struct vt_pair *pair,
			 const struct vt_memory *kind, size_t len, u64 flags)
{
	struct vt_list *from = vt_buf(test, sizeof(*from));
	struct vt_list *to = vt_buf(test, sizeof(*to));
	struct vt_memory memory = *kind;
	u8 *out, *in;

	memory.pieces = clamp(conf_min_iov(test, VT_IOV) / 2, 1, kind->pieces);
	out = memory.alloc(test) + memory.offset;
	in = memory.alloc(test) + memory.offset;
	vt_make_list(from, &memory, out, len);
	vt_make_list(to, &memory, in, len);
	from->msg.context = vt_ctx(1);
	to->msg.context = vt_ctx(2);
	vt_fill(out, len, 3);
	KUNIT_ASSERT_EQ_MSG(test, fi_recvmsg(vt_rx(&pair->b), &to->msg, 0), 0, "%s", memory.name);
	KUNIT_ASSERT_EQ_MSG(test, fi_sendmsg(pair->a.ep, &from->msg, flags), 0, "%s", memory.name);
	/* Lists belong to the caller again; what was injected, too */
	kunit_kfree(test, from);
	kunit_kfree(test, to);
	if (flags & FI_INJECT)
		memset(out, 0, len);

	KUNIT_EXPECT_EQ(test, vt_done(test, pair->b.rx, vt_ctx(2)).len, len);
	vt_done(test, pair->a.tx, vt_ctx(1));
	KUNIT_EXPECT_TRUE_MSG(test, vt_filled(in, len, 3), "%s", memory.name);
}

static void memory_of_every_kind_carries_messages(struct kunit *test)
{
	size_t len = conf_min_iov(test, 4) == 4 ? 3000 : 1;
	struct vt_pair pair = {};
	int i;

	if (!join(test, &pair))
		return;
	for (i = 0; i < VT_MEMORIES; i++)
		carry_memory(test, &pair, &vt_memories[i], len, 0);
}

static void memory_of_every_kind_can_be_injected(struct kunit *test)
{
	struct vt_pair pair = {};
	int i;

	if (!join(test, &pair))
		return;
	for (i = 0; i < VT_MEMORIES; i++)
		carry_memory(test, &pair, &vt_memories[i], vt_of(test)->info->tx_attr->inject_size,
			     FI_INJECT);
}

static void the_stack_can_be_injected(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *in = vt_buf(test, 32), out[32];
	size_t len;

	conf_join(test, &pair);
	len = min(sizeof(out), vt_of(test)->info->tx_attr->inject_size);
	vt_fill(out, len, 6);
	vt_recv(test, &pair.b, in, 32, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, out, len, 0), 0);
	memset(out, 0, len);
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.rx, vt_ctx(1)).len, len);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, len, 6));
}

static void a_shorter_message_says_its_length(struct kunit *test)
{
	u8 *out = vt_buf(test, 100), *in = vt_buf(test, 100);
	struct vt_pair pair = {};

	if (!join(test, &pair))
		return;
	memset(in, 0x5a, 100);
	vt_recv(test, &pair.b, in, 100, vt_ctx(1));
	vt_send(test, &pair.a, out, 40, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.rx, vt_ctx(1)).len, 40);
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, in[39], 0);
	KUNIT_EXPECT_EQ(test, in[40], 0x5a);
}

static void a_longer_message_is_a_truncation(struct kunit *test)
{
	u8 *out = vt_buf(test, 100), *in = vt_buf(test, 100);
	struct vt_pair pair = {};
	struct vt_comp comp;

	if (!join(test, &pair))
		return;
	memset(in, 0x5a, 100);
	vt_recv(test, &pair.b, in, 50, vt_ctx(1));
	vt_send(test, &pair.a, out, 100, vt_ctx(2));
	comp = vt_failed(test, pair.b.rx);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.err, FI_ETRUNC);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV);
	KUNIT_EXPECT_EQ(test, in[50], 0x5a);
}

static void bad_lists_are_refused(struct kunit *test)
{
	struct kvec iov = { vt_buf(test, 8), 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct vt_pair pair = {};

	conf_join(test, &pair);
	msg.type = FI_BUF_SGL + 1;
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &msg, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(pair.a.ep, &msg, 0), -EINVAL);
	msg.type = FI_BUF_KVEC;
	msg.msg_iov = NULL;
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &msg, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_INJECT), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(pair.a.ep, &msg, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_sendv(pair.a.ep, NULL, NULL, 1, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recvv(pair.a.ep, NULL, NULL, 1, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, NULL, 8, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_recv(pair.a.ep, NULL, 8, NULL, 0, NULL), -EINVAL);
	vt_none(test, pair.a.tx);
	vt_ping(test, &pair.a, &pair.b);
}

/* Short ones, long ones, and those that are not reported; debugfs and kofi-info show it */
static void an_endpoint_says_what_it_has_sent_and_received(struct kunit *test)
{
	u8 *out = vt_buf(test, SZ_4K), *in = vt_buf(test, SZ_4K);
	struct fid *sent, *received;
	struct kofi_stat stat = {};
	struct vt_pair pair = {};
	struct kvec iov[2] = { { out, 33 }, { out + 33, 67 } };

	conf_join(test, &pair);
	sent = &pair.a.ep->fid;
	received = &pair.b.ep->fid;
	if (fi_control(sent, KOFI_GETSTAT, &stat)) {
		/* A provider need not count */
		vt_ping(test, &pair.a, &pair.b);
		return;
	}
	/* First, as what follows says when it is over */
	vt_recv(test, &pair.b, in, SZ_4K, vt_ctx(5));
	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, out, 3, 0), 0);
	vt_done(test, pair.b.rx, vt_ctx(5));
	vt_recv(test, &pair.b, in, SZ_4K, vt_ctx(1));
	vt_send(test, &pair.a, out, SZ_4K, vt_ctx(2));
	vt_done(test, pair.b.rx, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(2));
	vt_recv(test, &pair.b, in, SZ_4K, vt_ctx(3));
	KUNIT_ASSERT_EQ(test, fi_sendv(pair.a.ep, iov, NULL, 2, 0, vt_ctx(4)), 0);
	vt_done(test, pair.b.rx, vt_ctx(3));
	vt_done(test, pair.a.tx, vt_ctx(4));

	/* The last count may come behind the report */
	KUNIT_ASSERT_EQ(test, vt_ep_drain(pair.a.ep), 0);
	KUNIT_ASSERT_EQ(test, vt_ep_drain(pair.b.ep), 0);
	KUNIT_EXPECT_EQ(test, vt_stat(test, sent, "tx_ops"), 3);
	KUNIT_EXPECT_EQ(test, vt_stat(test, sent, "tx_bytes"), SZ_4K + 103);
	KUNIT_EXPECT_EQ(test, vt_stat(test, sent, "tx_errors"), 0);
	KUNIT_EXPECT_EQ(test, vt_stat(test, sent, "rx_ops"), 0);
	KUNIT_EXPECT_EQ(test, vt_stat(test, received, "rx_ops"), 3);
	KUNIT_EXPECT_EQ(test, vt_stat(test, received, "rx_bytes"), SZ_4K + 103);
	KUNIT_EXPECT_EQ(test, vt_stat(test, received, "rx_errors"), 0);
	KUNIT_EXPECT_EQ(test, vt_stat(test, received, "tx_ops"), 0);
}

/* What is flushed by the end of a connection is an error of the endpoint's */
static void an_endpoint_says_how_many_receives_failed(struct kunit *test)
{
	struct vt_pair pair = {};
	struct kofi_stat stat = {};
	u8 *buf = vt_buf(test, 8);

	conf_join(test, &pair);
	if (fi_control(&pair.b.ep->fid, KOFI_GETSTAT, &stat) || vt_is_rdm(vt_of(test)->info)) {
		vt_ping(test, &pair.a, &pair.b);
		return;
	}
	vt_recv(test, &pair.b, buf, 8, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.b.ep, 0), 0);
	vt_failed(test, pair.b.rx);
	/* The count comes behind the report */
	KUNIT_EXPECT_EQ(test, vt_ep_drain(pair.b.ep), 0);

	KUNIT_EXPECT_EQ(test, vt_stat(test, &pair.b.ep->fid, "rx_errors"), 1);
	KUNIT_EXPECT_EQ(test, vt_stat(test, &pair.b.ep->fid, "rx_ops"), 0);
}

static void a_receive_is_cancelled_or_stays(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	struct vt_comp comp;
	ssize_t ret;

	conf_join(test, &pair);
	vt_recv(test, &pair.b, buf, 8, vt_ctx(5));
	ret = fi_cancel(&pair.b.ep->fid, vt_ctx(5));
	if (ret == -ENOSYS) {
		/* Then the receive is still there */
		vt_send(test, &pair.a, buf, 0, vt_ctx(6));
		vt_done(test, pair.b.rx, vt_ctx(5));
		return;
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	comp = vt_failed(test, pair.b.rx);
	KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(5));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV);
	KUNIT_EXPECT_EQ(test, fi_cancel(&pair.b.ep->fid, vt_ctx(5)), -ENOENT);
	KUNIT_EXPECT_EQ(test, fi_cancel(&pair.b.ep->fid, NULL), -ENOENT);
	vt_none(test, pair.b.rx);
	vt_ping(test, &pair.a, &pair.b);
	/* That one has taken its message */
	KUNIT_EXPECT_EQ(test, fi_cancel(&pair.b.ep->fid, vt_ctx(1001)), -ENOENT);
}

static struct kunit_case msg_cases[] = {
	KUNIT_CASE_PARAM(each_send_call_reaches_each_receive_call, conf_gen_params),
	KUNIT_CASE_PARAM(memory_of_every_kind_carries_messages, conf_gen_params),
	KUNIT_CASE_PARAM(memory_of_every_kind_can_be_injected, conf_gen_params),
	KUNIT_CASE_PARAM(the_stack_can_be_injected, conf_gen_params),
	KUNIT_CASE_PARAM(a_shorter_message_says_its_length, conf_gen_params),
	KUNIT_CASE_PARAM(a_longer_message_is_a_truncation, conf_gen_params),
	KUNIT_CASE_PARAM(bad_lists_are_refused, conf_gen_params),
	KUNIT_CASE_PARAM(a_receive_is_cancelled_or_stays, conf_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_says_what_it_has_sent_and_received, conf_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_says_how_many_receives_failed, conf_gen_params),
	{}
};

struct kunit_suite conf_msg_suite = {
	.name		= "kofi_conformance_msg",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= msg_cases,
};

static int shared_init(struct kunit *test)
{
	int ret = conf_init(test);
	bool claimed;

	if (ret)
		return ret;
	claimed = vt_of(test)->info->domain_attr->max_ep_srx_ctx;
	KUNIT_EXPECT_EQ(test, conf_wants_shared(test), claimed);
	vt_of(test)->info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	return 0;
}

/* Received through a shared receive context, or refused if there is none */
static struct kunit_case shared_cases[] = {
	KUNIT_CASE_PARAM(each_send_call_reaches_each_receive_call, conf_gen_params),
	KUNIT_CASE_PARAM(memory_of_every_kind_carries_messages, conf_gen_params),
	KUNIT_CASE_PARAM(memory_of_every_kind_can_be_injected, conf_gen_params),
	KUNIT_CASE_PARAM(a_shorter_message_says_its_length, conf_gen_params),
	KUNIT_CASE_PARAM(a_longer_message_is_a_truncation, conf_gen_params),
	{}
};

struct kunit_suite conf_shared_suite = {
	.name		= "kofi_conformance_shared",
	.init		= shared_init,
	.exit		= vt_exit,
	.test_cases	= shared_cases,
};
