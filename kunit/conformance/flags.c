// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Flags: those that fi_getinfo() agrees to as defaults work, as defaults and with a
 * call; the others are refused everywhere.  Selective completion, levels of
 * completion, FI_MORE.
 */
#include "../lib/memory.h"
#include "conformance.h"

/* Buffers with gaps between them */
#define PIECE	500
#define STRIDE	600

/* Every flag that can be a default of the transmit side */
static const struct {
	const char	*name;
	u64		flag;
} tx_flags[] = {
	{ "FI_COMPLETION", FI_COMPLETION },
	{ "FI_INJECT", FI_INJECT },
	{ "FI_INJECT_COMPLETE", FI_INJECT_COMPLETE },
	{ "FI_TRANSMIT_COMPLETE", FI_TRANSMIT_COMPLETE },
	{ "FI_DELIVERY_COMPLETE", FI_DELIVERY_COMPLETE },
	{ "FI_COMMIT_COMPLETE", FI_COMMIT_COMPLETE },
	{ "FI_MATCH_COMPLETE", FI_MATCH_COMPLETE },
	{ "FI_MULTICAST", FI_MULTICAST },
};

static ssize_t sendmsg(struct vt_end *end, void *buf, size_t len, u64 flags, unsigned long nr)
{
	const struct vt_xfer x = { .buf = buf, .len = len, .context = vt_ctx(nr) };

	return vt_post_flags(end->ep, VT_SENDMSG, &x, flags);
}

/* One call without flags, then one that has the flag */
static void use_flag(struct kunit *test, struct vt_pair *pair, u64 flag)
{
	u8 *buf = vt_buf(test, 16);

	vt_recv(test, &pair->b, buf, 8, vt_ctx(1));
	vt_send(test, &pair->a, buf + 8, 8, vt_ctx(2));
	vt_done(test, pair->b.rx, vt_ctx(1));
	vt_done(test, pair->a.tx, vt_ctx(2));

	vt_recv(test, &pair->b, buf, 8, vt_ctx(3));
	KUNIT_ASSERT_EQ(test, sendmsg(&pair->a, buf + 8, 8, flag, 4), 0);
	vt_done(test, pair->b.rx, vt_ctx(3));
	vt_done(test, pair->a.tx, vt_ctx(4));
}

static void check_tx_flag(struct kunit *test, const char *name, u64 flag)
{
	struct vt *vt = vt_of(test);
	struct fi_info *mine = vt->info, *info;
	u64 arg = FI_TRANSMIT | flag;
	struct vt_pair pair = {};
	struct fid_ep *ep;

	info = conf_with_flags(test, flag, 0);
	vt->info = info ?: mine;
	vt_join(test, &pair, &vt_default_kind);
	if (info) {
		use_flag(test, &pair, flag);
		KUNIT_EXPECT_EQ_MSG(test, fi_control(&pair.a.ep->fid, FI_SETOPSFLAG, &arg), 0, "%s",
				    name);
	} else {
		mine->tx_attr->op_flags = flag;
		KUNIT_EXPECT_EQ_MSG(test, fi_endpoint(vt->domain, mine, &ep, NULL), -EINVAL, "%s",
				    name);
		mine->tx_attr->op_flags = 0;
		KUNIT_EXPECT_EQ_MSG(test, fi_control(&pair.a.ep->fid, FI_SETOPSFLAG, &arg),
				    -FI_EBADFLAGS, "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, sendmsg(&pair.a, NULL, 0, flag, 0),
				    -FI_EBADFLAGS, "%s", name);
	}
	vt->info = mine;
	vt_pair_close(test, &pair);
}

static void default_flags_work_if_and_only_if_claimed(struct kunit *test)
{
	size_t i;

	conf_serve(test);
	for (i = 0; i < ARRAY_SIZE(tx_flags); i++)
		check_tx_flag(test, tx_flags[i].name, tx_flags[i].flag);
}

static void default_flags_of_receives_are_told_truly(struct kunit *test)
{
	static const u64 flags[] = { FI_COMPLETION, FI_MULTI_RECV };
	u8 *buf = vt_buf(test, 8);
	struct kvec iov = { buf, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct vt_end end = {};
	u64 arg;
	size_t i;
	int ret;

	vt_open_info(test, vt_of(test)->info);
	vt_client(test, &end, &vt_default_kind);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		ret = conf_with_flags(test, 0, flags[i]) ? 0 : -FI_EBADFLAGS;
		arg = FI_RECV | flags[i];
		KUNIT_EXPECT_EQ(test, fi_control(&end.ep->fid, FI_SETOPSFLAG, &arg), ret);
		KUNIT_EXPECT_EQ(test, fi_recvmsg(end.ep, &msg, flags[i]), ret);
	}
	KUNIT_EXPECT_NOT_NULL(test, conf_with_flags(test, 0, FI_COMPLETION));
}

/* Of an endpoint that reports nothing by itself */
static void default_flags_act_and_can_be_read_back(struct kunit *test)
{
	struct vt_pair pair = {
		.a.bind_flags = FI_SELECTIVE_COMPLETION,
		.b.bind_flags = FI_SELECTIVE_COMPLETION,
	};
	u64 tx = FI_TRANSMIT | FI_COMPLETION, rx = FI_RECV | FI_COMPLETION;
	u64 arg = FI_TRANSMIT;
	struct fid *fid;

	conf_join(test, &pair);
	fid = &pair.a.ep->fid;
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_GETOPSFLAG, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg, vt_of(test)->info->tx_attr->op_flags);
	KUNIT_ASSERT_EQ(test, fi_control(fid, FI_SETOPSFLAG, &tx), 0);
	KUNIT_ASSERT_EQ(test, fi_control(&pair.b.ep->fid, FI_SETOPSFLAG, &rx), 0);
	arg = FI_TRANSMIT;
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_GETOPSFLAG, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg, FI_COMPLETION);
	arg = FI_RECV;
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_GETOPSFLAG, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg, 0);
	vt_ping(test, &pair.a, &pair.b);
}

static void bad_default_flags_are_refused(struct kunit *test)
{
	static const struct {
		u64	arg;
		int	ret;
	} bad[] = {
		{ FI_TRANSMIT | FI_MULTI_RECV, -FI_EBADFLAGS },
		{ FI_TRANSMIT | FI_REMOTE_CQ_DATA, -FI_EBADFLAGS },
		{ FI_RECV | FI_INJECT, -FI_EBADFLAGS },
		{ FI_TRANSMIT | FI_RECV, -EINVAL },
		{ 0, -EINVAL },
	};
	struct vt_end end = {};
	struct fid *fid;
	u64 arg;
	int i;

	vt_open_info(test, vt_of(test)->info);
	vt_client(test, &end, &vt_default_kind);
	fid = &end.ep->fid;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		arg = bad[i].arg;
		KUNIT_EXPECT_EQ_MSG(test, fi_control(fid, FI_SETOPSFLAG, &arg), bad[i].ret,
				    "%#llx", bad[i].arg);
		if (bad[i].ret == -EINVAL)
			KUNIT_EXPECT_EQ(test, fi_control(fid, FI_GETOPSFLAG, &arg), -EINVAL);
	}
	KUNIT_EXPECT_EQ(test, fi_control(fid, FI_GETOPSFLAG, NULL), -EINVAL);
}

/* Bits that no call knows */
static void unknown_flags_are_refused(struct kunit *test)
{
	static const u64 unknown[] = {
		FI_PEEK, FI_CLAIM, FI_TRIGGER, FI_SOURCE, FI_READ, BIT_ULL(63),
	};
	u8 *buf = vt_buf(test, 8);
	struct kvec iov = { buf, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct vt_pair pair = {};
	size_t i;

	conf_join(test, &pair);
	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		KUNIT_EXPECT_EQ_MSG(test, fi_sendmsg(pair.a.ep, &msg, unknown[i]), -FI_EBADFLAGS,
				    "%#llx", unknown[i]);
		KUNIT_EXPECT_EQ_MSG(test, fi_recvmsg(pair.a.ep, &msg, unknown[i]), -FI_EBADFLAGS,
				    "%#llx", unknown[i]);
	}
	if (!vt_is_rdm(vt_of(test)->info))
		KUNIT_EXPECT_EQ(test, fi_shutdown(pair.a.ep, 1), -FI_EBADFLAGS);
	vt_ping(test, &pair.a, &pair.b);
}

/*
 * Sends are completed at this level; false: it is not claimed.
 * default_flags_work_if_and_only_if_claimed sees to the refusal.
 */
static bool join_with(struct kunit *test, struct vt_pair *pair, u64 level)
{
	struct fi_info *info = conf_with_flags(test, level, 0);

	if (!info)
		return false;
	vt_of(test)->info = info;
	conf_join(test, pair);
	return true;
}

/* Also of what the provider sends from where it is */
static void a_buffer_is_free_when_its_send_completes(struct kunit *test)
{
	static const size_t lens[] = { 1, SZ_4K - 1, SZ_4K, SZ_64K };
	u8 *out = vt_buf(test, SZ_64K), *in[ARRAY_SIZE(lens)];
	struct vt_pair pair = {};
	size_t i;

	if (!join_with(test, &pair, FI_INJECT_COMPLETE))
		return;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		in[i] = vt_buf(test, lens[i]);
		vt_recv(test, &pair.b, in[i], lens[i], vt_ctx(i));
	}
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		vt_fill(out, lens[i], i);
		vt_send(test, &pair.a, out, lens[i], vt_ctx(i));
		vt_done(test, pair.a.tx, vt_ctx(i));
	}
	memset(out, 0xff, SZ_64K);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		vt_done(test, pair.b.rx, vt_ctx(i));
		KUNIT_EXPECT_TRUE(test, vt_filled(in[i], lens[i], i));
	}
}

/* By then it needs nothing of the sender any more */
static void a_transmitted_message_arrives_without_its_sender(struct kunit *test)
{
	u8 *out = vt_buf(test, SZ_64K), *in = vt_buf(test, SZ_64K);
	struct vt_pair pair = {};

	if (!join_with(test, &pair, FI_TRANSMIT_COMPLETE))
		return;
	vt_fill(out, SZ_64K, 1);
	vt_recv(test, &pair.b, in, SZ_64K, vt_ctx(1));
	vt_send(test, &pair.a, out, SZ_64K, vt_ctx(2));
	vt_done(test, pair.a.tx, vt_ctx(2));
	vt_close(test, &pair.a.ep->fid);
	vt_done(test, pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, vt_filled(in, SZ_64K, 1));
}

static void a_delivered_message_has_arrived(struct kunit *test)
{
	u8 *out = vt_buf(test, SZ_64K), *in = vt_buf(test, SZ_64K);
	struct fi_cq_data_entry entry;
	struct vt_pair pair = {};

	if (!join_with(test, &pair, FI_DELIVERY_COMPLETE))
		return;
	vt_fill(out, SZ_64K, 1);
	vt_recv(test, &pair.b, in, SZ_64K, vt_ctx(1));
	vt_send(test, &pair.a, out, SZ_64K, vt_ctx(2));
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, fi_cq_read(pair.b.rx->cq, &entry, 1), 1);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, SZ_64K, 1));
}

/* More than a packet of kofi_rxm names, and an RDMA device cannot register them as one region */
static void a_delivered_message_may_be_of_many_buffers(struct kunit *test)
{
	u8 *out = vt_buf(test, VT_IOV * STRIDE), *in = vt_buf(test, VT_IOV * STRIDE);
	struct fi_info *hints = conf_ask(test), *info;
	struct kvec kvec[VT_IOV];
	struct vt_pair pair = {};
	size_t i, count;

	/* Over RDMA devices kofi_rxm sees to the delivery only if there are no reads and writes */
	hints->caps = FI_MSG;
	hints->domain_attr->caps = 0;
	hints->tx_attr->caps = 0;
	hints->tx_attr->msg_order = 0;
	hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	hints->rx_attr->caps = 0;
	hints->rx_attr->msg_order = 0;
	if (conf_getinfo(test, hints, &info))
		return;
	vt_of(test)->info = info;
	conf_join(test, &pair);
	count = min_t(size_t, info->tx_attr->iov_limit, VT_IOV);
	for (i = 0; i < count; i++) {
		kvec[i] = (struct kvec) { out + i * STRIDE, PIECE };
		vt_fill(kvec[i].iov_base, PIECE, i);
	}
	vt_recv(test, &pair.b, in, count * PIECE, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_sendv(pair.a.ep, kvec, NULL, count, 0, vt_ctx(2)), 0);
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, vt_done(test, pair.b.rx, vt_ctx(1)).len, count * PIECE);
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_TRUE(test, vt_filled(in + i * PIECE, PIECE, i));
}

/* The slot of an unsignaled send comes free a little later than its message arrives */
static void send_surely(struct kunit *test, struct vt_end *end, enum vt_op op, void *buf,
			u64 flags, unsigned long nr)
{
	const struct vt_xfer x = { .buf = buf, .len = 8, .context = vt_ctx(nr) };
	ktime_t limit = ktime_add_ms(ktime_get(), VT_PATIENCE_MS);
	ssize_t ret;

	while ((ret = vt_post_flags(end->ep, op, &x, flags)) == -EAGAIN &&
	       ktime_before(ktime_get(), limit))
		cond_resched();
	KUNIT_ASSERT_EQ(test, ret, 0);
}

/* Unsignaled ones by either call, more than the queue is deep, then a signaled one */
static void only_chosen_operations_complete(struct kunit *test)
{
	struct vt_pair pair = {
		.a.bind_flags = FI_SELECTIVE_COMPLETION,
		.b.bind_flags = FI_SELECTIVE_COMPLETION,
	};
	u8 *buf = vt_buf(test, 8);
	const struct vt_xfer x = { .buf = buf, .len = 8, .context = vt_ctx(1) };
	size_t rounds, i;

	conf_shallow(test, 16);
	conf_join(test, &pair);
	rounds = 3 * vt_of(test)->info->tx_attr->size;
	for (i = 0; i < rounds; i++) {
		KUNIT_ASSERT_EQ(test, vt_post_flags(pair.b.ep, VT_RECVMSG, &x, FI_COMPLETION), 0);
		send_surely(test, &pair.a, i % 3 ? VT_SENDMSG : VT_SEND, buf, 0, 2);
		vt_done(test, pair.b.rx, vt_ctx(1));
	}
	vt_recv(test, &pair.b, buf, 8, vt_ctx(3));
	send_surely(test, &pair.a, VT_SENDMSG, buf, FI_COMPLETION, 4);
	vt_done(test, pair.a.tx, vt_ctx(4));
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
}

static void more_is_a_hint_that_loses_nothing(struct kunit *test)
{
	struct vt_pair pair = {};
	u32 *in, *out;
	u64 flags;
	size_t i, n;

	conf_shallow(test, 32);
	conf_join(test, &pair);
	n = min(vt_of(test)->info->tx_attr->size, vt_of(test)->info->rx_attr->size);
	out = vt_buf(test, n * sizeof(*out));
	in = vt_buf(test, n * sizeof(*in));
	for (i = 0; i < n; i++)
		vt_recv(test, &pair.b, &in[i], sizeof(*in), vt_ctx(i));
	for (i = 0; i < n; i++) {
		out[i] = 7 * i;
		flags = FI_COMPLETION | (i < n - 1 ? FI_MORE : 0);
		KUNIT_ASSERT_EQ(test, sendmsg(&pair.a, &out[i], sizeof(*out), flags, i), 0);
	}
	for (i = 0; i < n; i++) {
		vt_done(test, pair.a.tx, vt_ctx(i));
		vt_done(test, pair.b.rx, vt_ctx(i));
		KUNIT_EXPECT_EQ(test, in[i], 7 * i);
	}
}

static void a_fence_is_known_to_who_claims_an_order(struct kunit *test)
{
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 16);
	int ret;

	conf_join(test, &pair);
	vt_recv(test, &pair.b, buf, 8, vt_ctx(1));
	ret = sendmsg(&pair.a, buf + 8, 8, FI_FENCE | FI_COMPLETION, 2);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -FI_EBADFLAGS);
		KUNIT_EXPECT_FALSE(test, conf_has(test, FI_FENCE));
		return;
	}
	vt_done(test, pair.b.rx, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(2));
}

#define LEVELS	(FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)

static bool is_claimed(struct kunit *test, u64 flag)
{
	switch (flag) {
	case FI_REMOTE_CQ_DATA:
		return conf_data(test);
	case FI_FENCE:
		return conf_has(test, FI_FENCE);
	case FI_TRANSMIT_COMPLETE:
	case FI_DELIVERY_COMPLETE:
		return conf_with_flags(test, flag, 0);
	default:
		return true;
	}
}

/*
 * A message with @flags; with @waits it has been sent before its receive is posted.  What FI_MORE
 * has kept goes with the empty message behind it.
 */
static void send_flagged(struct kunit *test, struct vt_pair *pair, bool tagged, u64 flags,
			 size_t len, bool waits)
{
	enum vt_op send = tagged ? VT_TSENDMSG : VT_SENDMSG;
	enum vt_op recv = tagged ? VT_TRECVMSG : VT_RECVMSG;
	u64 data = flags & FI_REMOTE_CQ_DATA ? conf_data(test) : 0;
	u8 *out = vt_buf(test, len), *in = vt_buf(test, len + 1);
	const struct vt_xfer from = {
		.buf = out, .len = len, .data = data, .tag = 5, .context = vt_ctx(1),
	};
	const struct vt_xfer to = { .buf = in, .len = len, .tag = 5, .context = vt_ctx(2) };
	struct vt_comp comp;

	vt_fill(out, len, len);
	if (!waits)
		KUNIT_ASSERT_EQ(test, vt_post_flags(pair->b.ep, recv, &to, 0), 0);
	KUNIT_ASSERT_EQ_MSG(test, vt_post_flags(pair->a.ep, send, &from, flags | FI_COMPLETION), 0,
			    "flags %#llx", flags);
	if (flags & FI_INJECT)
		memset(out, 0, len);
	if (flags & FI_MORE)
		KUNIT_ASSERT_EQ(test, tagged ? fi_tinject(pair->a.ep, NULL, 0, 0, 6) :
					       fi_inject(pair->a.ep, NULL, 0, 0), 0);
	if (waits)
		KUNIT_ASSERT_EQ(test, vt_post_flags(pair->b.ep, recv, &to, 0), 0);

	comp = vt_done(test, pair->b.rx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, comp.len, len);
	KUNIT_EXPECT_EQ_MSG(test, comp.data, data, "flags %#llx", flags);
	KUNIT_EXPECT_EQ_MSG(test, comp.flags, (tagged ? FI_TAGGED : FI_MSG) | FI_RECV |
			    (flags & FI_REMOTE_CQ_DATA), "flags %#llx", flags);
	KUNIT_EXPECT_TRUE_MSG(test, vt_filled(in, len, len), "flags %#llx, %zu bytes", flags, len);
	vt_done(test, pair->a.tx, vt_ctx(1));
	if (flags & FI_MORE) {
		KUNIT_ASSERT_EQ(test, tagged ? fi_trecv(pair->b.ep, in, 1, NULL, FI_ADDR_UNSPEC, 6,
							0, vt_ctx(3)) :
					       fi_recv(pair->b.ep, in, 1, NULL, FI_ADDR_UNSPEC,
						       vt_ctx(3)), 0);
		vt_done(test, pair->b.rx, vt_ctx(3));
	}
	kunit_kfree(test, in);
	kunit_kfree(test, out);
}

/* On the short way, and on the ways of longer messages */
static void send_pair(struct kunit *test, struct vt_pair *pair, bool tagged, u64 flags)
{
	const struct fi_info *info = vt_of(test)->info;
	const size_t lens[] = { 1, info->tx_attr->inject_size, 4097, SZ_64K };
	bool may_wait = info->domain_attr->resource_mgmt == FI_RM_ENABLED;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens) && lens[i] <= info->ep_attr->max_msg_size; i++) {
		if (flags & FI_INJECT && lens[i] > info->tx_attr->inject_size)
			break;
		if (may_wait)
			send_flagged(test, pair, tagged, flags, lens[i], true);
		if (may_wait || !(flags & FI_MORE))
			send_flagged(test, pair, tagged, flags, lens[i], false);
	}
}

static void pairs_of_flags_act_together(struct kunit *test)
{
	static const u64 flags[] = {
		FI_INJECT, FI_REMOTE_CQ_DATA, FI_FENCE, FI_MORE, FI_TRANSMIT_COMPLETE,
		FI_DELIVERY_COMPLETE,
	};
	struct vt_pair pair = {};
	u64 both;
	int i, k;

	conf_join(test, &pair);
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		for (k = 0; k < i; k++) {
			both = flags[i] | flags[k];
			if (!is_claimed(test, flags[i]) || !is_claimed(test, flags[k]) ||
			    (both & LEVELS) == LEVELS)
				continue;
			if (conf_has(test, FI_MSG))
				send_pair(test, &pair, false, both);
			if (conf_has(test, FI_TAGGED))
				send_pair(test, &pair, true, both);
		}
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
}

static struct kunit_case flags_cases[] = {
	KUNIT_CASE_PARAM(default_flags_work_if_and_only_if_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(default_flags_of_receives_are_told_truly, conf_gen_params),
	KUNIT_CASE_PARAM(default_flags_act_and_can_be_read_back, conf_gen_params),
	KUNIT_CASE_PARAM(bad_default_flags_are_refused, conf_gen_params),
	KUNIT_CASE_PARAM(unknown_flags_are_refused, conf_gen_params),
	KUNIT_CASE_PARAM(a_buffer_is_free_when_its_send_completes, conf_gen_params),
	KUNIT_CASE_PARAM(a_transmitted_message_arrives_without_its_sender, conf_gen_params),
	KUNIT_CASE_PARAM(a_delivered_message_has_arrived, conf_gen_params),
	KUNIT_CASE_PARAM(a_delivered_message_may_be_of_many_buffers, conf_gen_params),
	KUNIT_CASE_PARAM(only_chosen_operations_complete, conf_gen_params),
	KUNIT_CASE_PARAM(more_is_a_hint_that_loses_nothing, conf_gen_params),
	KUNIT_CASE_PARAM(pairs_of_flags_act_together, conf_gen_params),
	KUNIT_CASE_PARAM(a_fence_is_known_to_who_claims_an_order, conf_gen_params),
	{}
};

struct kunit_suite conf_flags_suite = {
	.name		= "kofi_conformance_flags",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= flags_cases,
};
