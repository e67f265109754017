// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Persistent memory: FI_RMA_PMEM on registration, FI_COMMIT_COMPLETE and FI_SAVE.  What a crash
 * would leave is that of the cases' own memory (lib/pmem.h).  Where FI_RMA_PMEM or
 * FI_ATOMIC_PMEM is not claimed, every use of them is refused.
 */
#include <rdma/fi_atomic.h>
#include <rdma/fi_tagged.h>
#include "../lib/pmem.h"
#include "conformance.h"

#define LEN		SZ_4K
#define COMMIT		(FI_COMPLETION | FI_COMMIT_COMPLETE)
#define SAVE		(COMMIT | FI_SAVE)

/**
 * struct pmem - A case
 * @pair: the target is b
 * @mem: the target's memory
 * @mr: its registration
 * @at: the same for a peer
 * @buf: of the initiator's
 * @delivered: the highest level that says nothing of durability
 */
struct pmem {
	struct vt_pair		pair;
	struct vt_pmem		*mem;
	struct fid_mr		*mr;
	struct fi_rma_iov	at;
	u8			*buf;
	u64			delivered;
};

static int reg(struct kunit *test, void *buf, size_t len, u64 flags, struct fid_mr **mr)
{
	static u64 next_key = 1000;
	const struct kvec kvec = { buf, len };
	const struct fi_mr_attr attr = {
		.type		= FI_BUF_KVEC,
		.mr_iov		= &kvec,
		.iov_count	= 1,
		.access		= CONF_ACCESS,
		.requested_key	= next_key++,
	};
	int ret = fi_mr_regattr(vt_of(test)->domain, &attr, flags, mr);

	if (!ret)
		vt_adopt(test, &(*mr)->fid);
	return ret;
}

/* default_flags_work_if_and_only_if_claimed sees to the refusal */
static u64 delivered(struct kunit *test)
{
	return conf_with_flags(test, FI_DELIVERY_COMPLETE, 0) ? FI_DELIVERY_COMPLETE :
								FI_TRANSMIT_COMPLETE;
}

/* false: persistent memory is not claimed, and the case has seen that it is refused */
static bool start(struct kunit *test, struct pmem *pm)
{
	struct fi_rma_iov remote = { .addr = 0, .len = 0, .key = 1 };
	struct fi_msg_rma msg = { .rma_iov = &remote, .rma_iov_count = 1 };
	struct fid_mr *mr;
	int refused = conf_has(test, FI_RMA) ? -FI_EBADFLAGS : -ENOSYS;
	bool has = conf_want(test, FI_RMA | FI_RMA_PMEM);

	conf_join(test, &pm->pair);
	pm->delivered = delivered(test);
	pm->mem = vt_pmem(test, LEN);
	pm->buf = vt_buf(test, LEN);
	vt_fill(pm->buf, LEN, 1);
	if (!has) {
		KUNIT_EXPECT_EQ(test, reg(test, pm->mem->mem, LEN, FI_RMA_PMEM, &mr),
				-FI_EBADFLAGS);
		KUNIT_EXPECT_EQ(test, fi_writemsg(pm->pair.a.ep, &msg, SAVE), refused);
		KUNIT_EXPECT_EQ(test, fi_writemsg(pm->pair.a.ep, &msg, COMMIT), refused);
		KUNIT_EXPECT_EQ(test, fi_readmsg(pm->pair.a.ep, &msg, SAVE), refused);
		return false;
	}
	KUNIT_ASSERT_EQ(test, reg(test, pm->mem->mem, LEN, FI_RMA_PMEM, &pm->mr), 0);
	pm->at = (struct fi_rma_iov) {
		.addr = fi_mr_addr(pm->mr), .key = fi_mr_key(pm->mr),
	};
	return true;
}

/* Writes @len bytes to the same place of the target */
static void write_at(struct kunit *test, struct pmem *pm, size_t offset, size_t len, u64 flags)
{
	struct fi_rma_iov remote = { pm->at.addr + offset, len, pm->at.key };
	struct kvec iov = { pm->buf + offset, len };
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1, .rma_iov = &remote, .rma_iov_count = 1,
		.context = vt_ctx(1),
	};

	KUNIT_ASSERT_EQ(test, fi_writemsg(pm->pair.a.ep, &msg, flags | FI_COMPLETION), 0);
	vt_done(test, pm->pair.a.tx, vt_ctx(1));
}

static void save(struct kunit *test, struct pmem *pm, bool read, u64 flags, u64 data)
{
	struct fi_msg_rma msg = {
		.rma_iov = &pm->at, .rma_iov_count = 1, .context = vt_ctx(2), .data = data,
	};
	struct vt_comp comp;

	KUNIT_ASSERT_EQ(test, read ? fi_readmsg(pm->pair.a.ep, &msg, flags) :
				     fi_writemsg(pm->pair.a.ep, &msg, flags), 0);
	comp = vt_done(test, pm->pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | (read ? FI_READ : FI_WRITE));
}

/* Would these bytes be as the initiator has them, or as they were in the beginning? */
static bool survives(const struct pmem *pm, size_t offset, size_t len)
{
	return !memcmp(pm->mem->media + offset, pm->buf + offset, len);
}

static bool is_lost(const struct pmem *pm, size_t offset, size_t len)
{
	return !memchr_inv(pm->mem->media + offset, 0, len);
}

static void ordinary_memory_is_refused(struct kunit *test)
{
	struct pmem pm = {};
	struct fid_mr *mr;

	if (!start(test, &pm))
		return;
	KUNIT_EXPECT_EQ(test, reg(test, pm.buf, LEN, FI_RMA_PMEM, &mr), -EINVAL);
	KUNIT_EXPECT_EQ(test, reg(test, pm.mem->mem, LEN, FI_RMA_PMEM | FI_MR_ENDPOINT, &mr),
			-FI_EBADFLAGS);
}

static void a_committed_write_is_durable_and_no_other(struct kunit *test)
{
	struct pmem pm = {};

	if (!start(test, &pm))
		return;
	write_at(test, &pm, 0, 1000, pm.delivered);
	write_at(test, &pm, 2000, 1000, FI_COMMIT_COMPLETE);
	KUNIT_EXPECT_TRUE(test, survives(&pm, 2000, 1000));
	KUNIT_EXPECT_TRUE(test, is_lost(&pm, 0, 1000));
	/* 2000 to 3000 touch the lines from 1984 to 3008 */
	KUNIT_EXPECT_EQ(test, pm.mem->lines, 16);
	KUNIT_EXPECT_EQ(test, pm.mem->fences, 1);
}

static void other_levels_write_nothing_back(struct kunit *test)
{
	u64 levels[] = { 0, FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE, 0 };
	struct pmem pm = {};
	size_t i;

	if (!start(test, &pm))
		return;
	levels[3] = pm.delivered;
	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		write_at(test, &pm, 0, LEN, levels[i]);
		save(test, &pm, false, FI_COMPLETION | FI_SAVE | levels[i], 0);
	}
	vt_ping(test, &pm.pair.a, &pm.pair.b);
	KUNIT_EXPECT_MEMEQ(test, pm.mem->mem, pm.buf, LEN);
	KUNIT_EXPECT_EQ(test, pm.mem->lines, 0);
	KUNIT_EXPECT_EQ(test, pm.mem->fences, 0);
}

static void a_save_makes_earlier_writes_durable_once(struct kunit *test)
{
	struct pmem pm = {};
	unsigned int lines;

	if (!start(test, &pm))
		return;
	write_at(test, &pm, 100, 1000, 0);
	write_at(test, &pm, 3000, 1, pm.delivered);
	KUNIT_EXPECT_TRUE(test, is_lost(&pm, 0, LEN));
	save(test, &pm, false, SAVE, 0);
	KUNIT_EXPECT_TRUE(test, survives(&pm, 100, 1000));
	KUNIT_EXPECT_TRUE(test, survives(&pm, 3000, 1));
	/* 64 to 1152, and one line */
	KUNIT_EXPECT_EQ(test, pm.mem->lines, 17 + 1);
	lines = pm.mem->lines;
	save(test, &pm, false, SAVE, 0);
	KUNIT_EXPECT_EQ(test, pm.mem->lines, lines);
}

static void a_save_can_tell_the_peer(struct kunit *test)
{
	bool recv = vt_of(test)->info->mode & FI_RX_CQ_DATA;
	struct pmem pm = {};
	struct vt_comp comp;

	if (!start(test, &pm) || !conf_data(test))
		return;
	if (recv)
		vt_recv(test, &pm.pair.b, NULL, 0, vt_ctx(3));
	write_at(test, &pm, 0, 64, 0);
	save(test, &pm, false, SAVE | FI_REMOTE_CQ_DATA, conf_data(test));
	comp = vt_done(test, pm.pair.b.rx, recv ? vt_ctx(3) : NULL);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	KUNIT_EXPECT_EQ(test, comp.data, conf_data(test));
	KUNIT_EXPECT_EQ(test, comp.len, 0);
	KUNIT_EXPECT_TRUE(test, survives(&pm, 0, 64));
}

static void what_was_read_can_be_saved(struct kunit *test)
{
	struct pmem pm = {};
	u8 *in = vt_buf(test, 64);

	if (!start(test, &pm))
		return;
	write_at(test, &pm, 0, 64, pm.delivered);
	KUNIT_ASSERT_EQ(test, fi_read(pm.pair.a.ep, in, 64, NULL, 0, pm.at.addr, pm.at.key,
				      vt_ctx(3)), 0);
	vt_done(test, pm.pair.a.tx, vt_ctx(3));
	KUNIT_EXPECT_TRUE(test, is_lost(&pm, 0, 64));
	save(test, &pm, true, SAVE, 0);
	KUNIT_EXPECT_TRUE(test, survives(&pm, 0, 64));
}

static void a_save_that_makes_no_sense_is_refused(struct kunit *test)
{
	struct pmem pm = {};
	struct kvec iov = { NULL, 1 };
	struct fi_msg_rma msg = { .rma_iov = &pm.at, .rma_iov_count = 1 };
	struct fi_msg send = { .msg_iov = &iov };
	struct fid_ep *ep;

	if (!start(test, &pm))
		return;
	ep = pm.pair.a.ep;
	iov.iov_base = pm.buf;
	msg.msg_iov = &iov;
	msg.iov_count = 1;
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &msg, SAVE), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &msg, SAVE), -EINVAL);
	msg.iov_count = 0;
	msg.rma_iov_count = 0;
	KUNIT_EXPECT_EQ(test, fi_writemsg(ep, &msg, SAVE), -EINVAL);
	/* A read without a save makes nothing durable, and a message is in no region */
	msg.rma_iov_count = 1;
	KUNIT_EXPECT_EQ(test, fi_readmsg(ep, &msg, COMMIT), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(ep, &send, COMMIT), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(ep, &send, SAVE), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(ep, &send, FI_SAVE | FI_REMOTE_CQ_DATA), -FI_EBADFLAGS);
	send.iov_count = 1;
	KUNIT_EXPECT_EQ(test, fi_sendmsg(ep, &send, FI_SAVE), -EINVAL);
	vt_none(test, pm.pair.a.tx);
}

/* 1: the peer refuses; of a connection that may be its end */
static void fails(struct kunit *test, struct pmem *pm, const struct fi_rma_iov *remote, u64 flags)
{
	struct kvec iov = { pm->buf, remote->len };
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = flags & FI_SAVE ? 0 : 1,
		.rma_iov = remote, .rma_iov_count = 1, .context = vt_ctx(4),
	};
	struct vt_comp comp;

	KUNIT_ASSERT_EQ(test, fi_writemsg(pm->pair.a.ep, &msg, flags), 0);
	comp = vt_failed(test, pm->pair.a.tx);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(4));
	KUNIT_EXPECT_TRUE_MSG(test, comp.err == EACCES || comp.err == ECANCELED, "%d", comp.err);
}

static void ordinary_regions_cannot_be_committed(struct kunit *test, u64 flags)
{
	struct fi_rma_iov remote = { .len = 8 };
	struct pmem pm = {};
	struct fid_mr *mr;
	u8 *buf = vt_buf(test, 64);

	if (!start(test, &pm))
		return;
	KUNIT_ASSERT_EQ(test, reg(test, buf, 64, 0, &mr), 0);
	remote.addr = fi_mr_addr(mr);
	remote.key = fi_mr_key(mr);
	fails(test, &pm, &remote, flags);
	KUNIT_EXPECT_EQ(test, pm.mem->fences, 0);
}

static void a_write_to_ordinary_memory_is_not_committed(struct kunit *test)
{
	ordinary_regions_cannot_be_committed(test, COMMIT);
}

static void ordinary_memory_is_not_saved(struct kunit *test)
{
	ordinary_regions_cannot_be_committed(test, SAVE);
}

static void a_save_needs_the_key(struct kunit *test)
{
	struct fi_rma_iov remote;
	struct pmem pm = {};

	if (!start(test, &pm))
		return;
	remote = (struct fi_rma_iov) { pm.at.addr, 0, pm.at.key ^ BIT_ULL(20) };
	fails(test, &pm, &remote, SAVE);
	KUNIT_EXPECT_EQ(test, pm.mem->fences, 0);
}

/* Messages */

static int post_save(const struct pmem *pm, bool tagged, void *context)
{
	struct fid_ep *ep = pm->pair.a.ep;
	struct fi_msg msg = { .context = context };
	struct fi_msg_tagged tmsg = { .context = context };
	const u64 flags = FI_COMPLETION | FI_SAVE | pm->delivered;

	return tagged ? fi_tsendmsg(ep, &tmsg, flags) : fi_sendmsg(ep, &msg, flags);
}

static int post_send(const struct pmem *pm, bool tagged, void *context)
{
	struct fid_ep *ep = pm->pair.a.ep;
	struct kvec iov = { pm->buf, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = context };
	struct fi_msg_tagged tmsg = { .msg_iov = &iov, .iov_count = 1, .context = context };
	const u64 flags = FI_COMPLETION | pm->delivered;

	return tagged ? fi_tsendmsg(ep, &tmsg, flags) : fi_sendmsg(ep, &msg, flags);
}

/* Two messages, for which there is no receive yet, and a save */
static void save_messages(struct kunit *test, struct pmem *pm, bool tagged)
{
	struct fid_ep *b = pm->pair.b.ep;
	u8 *in = vt_buf(test, 8);
	unsigned long i;

	for (i = 1; i <= 2; i++)
		KUNIT_ASSERT_EQ(test, post_send(pm, tagged, vt_ctx(i)), 0);
	KUNIT_ASSERT_EQ(test, post_save(pm, tagged, vt_ctx(3)), 0);
	vt_none(test, pm->pair.a.tx);
	for (i = 1; i <= 2; i++) {
		vt_none(test, pm->pair.a.tx);
		KUNIT_ASSERT_EQ(test, tagged ? fi_trecv(b, in, 8, NULL, FI_ADDR_UNSPEC, 0, 0,
							vt_ctx(10 + i)) :
					       fi_recv(b, in, 8, NULL, FI_ADDR_UNSPEC,
						       vt_ctx(10 + i)), 0);
		vt_done(test, pm->pair.b.rx, vt_ctx(10 + i));
		vt_done(test, pm->pair.a.tx, vt_ctx(i));
	}
	vt_done(test, pm->pair.a.tx, vt_ctx(3));
	/* With nothing to wait for */
	KUNIT_ASSERT_EQ(test, post_save(pm, tagged, vt_ctx(4)), 0);
	vt_done(test, pm->pair.a.tx, vt_ctx(4));
	vt_none(test, pm->pair.b.rx);
}

static void messages_are_saved_when_they_are_received(struct kunit *test)
{
	bool has = conf_want(test, FI_RMA | FI_RMA_PMEM);
	struct pmem pm = {};

	conf_serve(test);
	vt_join(test, &pm.pair, &vt_default_kind);
	pm.buf = vt_buf(test, 8);
	pm.delivered = delivered(test);
	if (!has) {
		KUNIT_EXPECT_EQ(test, post_save(&pm, false, NULL), -FI_EBADFLAGS);
		return;
	}
	save_messages(test, &pm, false);
	if (conf_has(test, FI_TAGGED))
		save_messages(test, &pm, true);
}

/* The end of a save finds its endpoint waiting for a receive of another kind */
static void a_save_ends_before_a_message_that_waits(struct kunit *test)
{
	struct fid_ep *a, *b;
	struct pmem pm = {};
	u8 *in = vt_buf(test, 8);

	if (!conf_has(test, FI_TAGGED) || !start(test, &pm))
		return;
	a = pm.pair.a.ep;
	b = pm.pair.b.ep;
	KUNIT_ASSERT_EQ(test, fi_tsend(a, pm.buf, 8, NULL, 0, 0, vt_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, post_save(&pm, true, vt_ctx(2)), 0);
	KUNIT_ASSERT_EQ(test, fi_send(a, pm.buf, 8, NULL, 0, vt_ctx(3)), 0);
	vt_none(test, pm.pair.b.rx);
	KUNIT_ASSERT_EQ(test, fi_trecv(b, in, 8, NULL, FI_ADDR_UNSPEC, 0, 0, vt_ctx(11)), 0);
	vt_done(test, pm.pair.b.rx, vt_ctx(11));
	KUNIT_ASSERT_EQ(test, fi_recv(b, in, 8, NULL, FI_ADDR_UNSPEC, vt_ctx(13)), 0);
	vt_done(test, pm.pair.b.rx, vt_ctx(13));
	vt_pair_close(test, &pm.pair);
}

/* For conf_gen_rdm: as start(), with a message and a save of it that wait for a receive */
static bool start_waiting(struct kunit *test, struct pmem *pm)
{
	if (!conf_is_rdm(test) || !start(test, pm))
		return false;
	KUNIT_ASSERT_EQ(test, post_send(pm, false, vt_ctx(5)), 0);
	KUNIT_ASSERT_EQ(test, post_save(pm, false, vt_ctx(6)), 0);
	return true;
}

static void a_save_of_messages_holds_up_nothing_else(struct kunit *test)
{
	struct pmem pm = {};
	u8 *in = vt_buf(test, 8);

	if (!start_waiting(test, &pm))
		return;
	/* A write goes by, and a save of other things; a fence waits for both */
	write_at(test, &pm, 0, 64, FI_COMMIT_COMPLETE);
	save(test, &pm, false, SAVE, 0);
	vt_none(test, pm.pair.a.tx);
	vt_recv(test, &pm.pair.b, in, 8, vt_ctx(7));
	vt_done(test, pm.pair.b.rx, vt_ctx(7));
	vt_done(test, pm.pair.a.tx, vt_ctx(5));
	vt_done(test, pm.pair.a.tx, vt_ctx(6));
}

static void a_fence_waits_for_a_save(struct kunit *test)
{
	struct pmem pm = {};
	u8 *in = vt_buf(test, 8);
	struct fi_msg_rma msg = {
		.rma_iov = &pm.at, .rma_iov_count = 1, .context = vt_ctx(8),
	};

	if (!start_waiting(test, &pm))
		return;
	KUNIT_ASSERT_EQ(test, fi_writemsg(pm.pair.a.ep, &msg, SAVE | FI_FENCE), 0);
	vt_none(test, pm.pair.a.tx);
	vt_recv(test, &pm.pair.b, in, 8, vt_ctx(7));
	vt_done(test, pm.pair.b.rx, vt_ctx(7));
	vt_done(test, pm.pair.a.tx, vt_ctx(5));
	vt_done(test, pm.pair.a.tx, vt_ctx(6));
	vt_done(test, pm.pair.a.tx, vt_ctx(8));
}

/* What waits ends with its endpoint, or with that of the peer */
static void a_save_of_messages_ends_with_the_peer(struct kunit *test)
{
	struct pmem pm = {};
	struct vt_comp comp;

	if (!start_waiting(test, &pm))
		return;
	/* What is behind them has been executed, so both have come to the peer */
	write_at(test, &pm, 0, 64, 0);
	vt_close(test, &pm.pair.b.ep->fid);
	comp = vt_failed(test, pm.pair.a.tx);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(5));
	comp = vt_failed(test, pm.pair.a.tx);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(6));
	KUNIT_EXPECT_EQ(test, comp.err, ECONNRESET);
}

static void a_save_of_messages_ends_with_its_endpoint(struct kunit *test)
{
	struct pmem pm = {};
	struct vt_comp comp;

	if (!start_waiting(test, &pm))
		return;
	KUNIT_ASSERT_EQ(test, fi_ep_drain(pm.pair.a.ep, -1), 0);
	comp = vt_failed(test, pm.pair.a.tx);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(5));
	comp = vt_failed(test, pm.pair.a.tx);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(6));
	KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
}

/* Atomic operations */

static ssize_t post_atomic(struct pmem *pm, u64 form, size_t count, u64 offset, u64 flags)
{
	struct fi_ioc operand = { pm->buf, count }, result = { pm->buf + 64, count };
	struct fi_rma_ioc remote = { pm->at.addr + offset, count, pm->at.key };
	struct fi_msg_atomic msg = {
		.msg_iov = &operand, .iov_count = flags & FI_SAVE ? 0 : 1,
		.rma_iov = &remote, .rma_iov_count = 1, .datatype = FI_UINT64,
		.op = form == FI_COMPARE_ATOMIC ? FI_CSWAP_NE : FI_ATOMIC_WRITE,
		.context = vt_ctx(9),
	};

	if (form == FI_FETCH_ATOMIC)
		return fi_fetch_atomicmsg(pm->pair.a.ep, &msg, &result, NULL,
					  flags & FI_SAVE ? 0 : 1, flags);
	if (form == FI_COMPARE_ATOMIC)
		return fi_compare_atomicmsg(pm->pair.a.ep, &msg, &operand, NULL, 1, &result, NULL,
					    1, flags);
	return fi_atomicmsg(pm->pair.a.ep, &msg, flags);
}

static void atomic_done(struct kunit *test, struct pmem *pm, u64 form, size_t count, u64 offset,
			u64 flags)
{
	KUNIT_ASSERT_EQ(test, post_atomic(pm, form, count, offset, flags), 0);
	vt_done(test, pm->pair.a.tx, vt_ctx(9));
}

static void atomic_operations_are_committed_and_saved(struct kunit *test)
{
	struct pmem pm = {};
	static const u64 forms[] = { 0, FI_FETCH_ATOMIC, FI_COMPARE_ATOMIC };
	size_t i;

	if (!start(test, &pm))
		return;
	if (!conf_has(test, FI_ATOMIC_PMEM)) {
		for (i = 0; i < ARRAY_SIZE(forms); i++)
			KUNIT_EXPECT_EQ(test, post_atomic(&pm, forms[i], 1, 0, COMMIT),
					conf_has(test, FI_ATOMIC) ? -FI_EBADFLAGS : -ENOSYS);
		return;
	}
	for (i = 0; i < 2; i++) {
		atomic_done(test, &pm, forms[i], 1, 256 * i, COMMIT);
		KUNIT_EXPECT_FALSE(test, is_lost(&pm, 256 * i, 8));
		atomic_done(test, &pm, forms[i], 1, 256 * i + 128, FI_COMPLETION);
		KUNIT_EXPECT_TRUE(test, is_lost(&pm, 256 * i + 128, 8));
		atomic_done(test, &pm, forms[i], 0, 0, SAVE);
		KUNIT_EXPECT_FALSE(test, is_lost(&pm, 256 * i + 128, 8));
	}
	atomic_done(test, &pm, FI_COMPARE_ATOMIC, 1, 1024, COMMIT);
	KUNIT_EXPECT_FALSE(test, is_lost(&pm, 1024, 8));
	KUNIT_EXPECT_MEMEQ(test, pm.mem->media, pm.mem->mem, LEN);
	KUNIT_EXPECT_EQ(test, post_atomic(&pm, FI_COMPARE_ATOMIC, 1, 0, SAVE), -FI_EBADFLAGS);
}

static struct kunit_case pmem_cases[] = {
	KUNIT_CASE_PARAM(ordinary_memory_is_refused, conf_gen_params),
	KUNIT_CASE_PARAM(a_committed_write_is_durable_and_no_other, conf_gen_params),
	KUNIT_CASE_PARAM(other_levels_write_nothing_back, conf_gen_params),
	KUNIT_CASE_PARAM(a_save_makes_earlier_writes_durable_once, conf_gen_params),
	KUNIT_CASE_PARAM(a_save_can_tell_the_peer, conf_gen_params),
	KUNIT_CASE_PARAM(what_was_read_can_be_saved, conf_gen_params),
	KUNIT_CASE_PARAM(a_save_that_makes_no_sense_is_refused, conf_gen_params),
	KUNIT_CASE_PARAM(a_write_to_ordinary_memory_is_not_committed, conf_gen_params),
	KUNIT_CASE_PARAM(ordinary_memory_is_not_saved, conf_gen_params),
	KUNIT_CASE_PARAM(a_save_needs_the_key, conf_gen_params),
	KUNIT_CASE_PARAM(messages_are_saved_when_they_are_received, conf_gen_params),
	KUNIT_CASE_PARAM(a_save_ends_before_a_message_that_waits, conf_gen_params),
	KUNIT_CASE_PARAM(a_save_of_messages_holds_up_nothing_else, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_fence_waits_for_a_save, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_save_of_messages_ends_with_the_peer, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_save_of_messages_ends_with_its_endpoint, conf_gen_rdm),
	KUNIT_CASE_PARAM(atomic_operations_are_committed_and_saved, conf_gen_params),
	{}
};

struct kunit_suite conf_pmem_suite = {
	.name		= "kofi_conformance_pmem",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= pmem_cases,
};
