// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Counters: their own calls, and what an endpoint counts.  A direction in which a
 * counter can be bound counts each operation of that direction once, and one in
 * which it cannot is refused.
 */
#include "conformance.h"

#define NR_OPS	3

/* NULL: the provider has none, and says so */
static struct fid_cntr *cntr_open(struct kunit *test, enum fi_cntr_events events)
{
	struct fi_cntr_attr attr = {
		.events		= events,
		.wait_obj	= FI_WAIT_UNSPEC,
	};
	struct vt *vt = vt_of(test);
	struct fid_cntr *cntr;
	int ret;

	ret = fi_cntr_open(vt->domain, &attr, &cntr, NULL);
	if (!vt->info->domain_attr->cntr_cnt) {
		KUNIT_EXPECT_EQ(test, ret, -ENOSYS);
		return NULL;
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	vt_adopt(test, &cntr->fid);
	return cntr;
}

static void a_counter_counts_what_it_is_told(struct kunit *test)
{
	struct fid_cntr *cntr;

	vt_open_info(test, vt_of(test)->info);
	cntr = cntr_open(test, FI_CNTR_EVENTS_COMP);
	if (!cntr)
		return;
	KUNIT_EXPECT_EQ(test, fi_cntr_read(cntr), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(cntr), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_add(cntr, 5), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_set(cntr, 100), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_add(cntr, 1), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(cntr), 101);
	KUNIT_EXPECT_EQ(test, fi_cntr_adderr(cntr, 2), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(cntr), 2);
	KUNIT_EXPECT_EQ(test, fi_cntr_seterr(cntr, 7), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(cntr), 7);
	KUNIT_EXPECT_EQ(test, fi_cntr_wait(cntr, 101, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_wait(cntr, 102, 5), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, fi_cntr_adderr(cntr, 1), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_wait(cntr, 102, 5), -FI_EAVAIL);
}

static void many_counters_open(struct kunit *test)
{
	int i;

	vt_open_info(test, vt_of(test)->info);
	for (i = 0; i < 16; i++)
		cntr_open(test, i % 2 ? FI_CNTR_EVENTS_COMP : FI_CNTR_EVENTS_BYTES);
}

static void other_counters_are_refused(struct kunit *test)
{
	static const struct {
		struct fi_cntr_attr	attr;
		int			ret;
	} bad[] = {
		{ { .wait_obj = FI_WAIT_FD }, -ENOSYS },
		{ { .wait_obj = FI_WAIT_CALLBACK }, -ENOSYS },
		{ { .events = FI_CNTR_EVENTS_BYTES + 1 }, -EINVAL },
		{ { .flags = 1 }, -FI_EBADFLAGS },
	};
	struct fi_cntr_attr attr;
	struct fid_cntr *cntr;
	size_t i;

	vt_open_info(test, vt_of(test)->info);
	if (!vt_of(test)->info->domain_attr->cntr_cnt)
		return;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		attr = bad[i].attr;
		KUNIT_EXPECT_EQ_MSG(test, fi_cntr_open(vt_of(test)->domain, &attr, &cntr, NULL),
				    bad[i].ret, "attributes %zu", i);
	}
}

/**
 * struct direction - What may be counted together
 * @name: of the flags
 * @flags: as fi_ep_bind() has them
 * @cap: what an endpoint needs for them
 * @at_target: they are counted at the other end of the operation
 * @ops: operations that are counted
 * @count: how many
 */
struct direction {
	const char	*name;
	u64		flags;
	u64		cap;
	bool		at_target;
	enum vt_op	ops[5];
	size_t		count;
};

#define NEAR	(FI_SEND | FI_WRITE | FI_READ)

static const struct direction directions[] = {
	{ "FI_SEND", FI_SEND, FI_MSG | FI_SEND, .ops = { VT_SEND, VT_INJECT }, .count = 2 },
	{ "FI_RECV", FI_RECV, FI_MSG | FI_RECV, .at_target = true,
	  .ops = { VT_SEND, VT_INJECT }, .count = 2 },
	{ "FI_WRITE", FI_WRITE, FI_RMA | FI_WRITE | FI_REMOTE_WRITE,
	  .ops = { VT_WRITE, VT_INJECT_WRITE }, .count = 2 },
	{ "FI_READ", FI_READ, FI_RMA | FI_READ | FI_REMOTE_READ, .ops = { VT_READ }, .count = 1 },
	{ "FI_SEND, FI_WRITE and FI_READ", NEAR,
	  FI_MSG | FI_RMA | NEAR | FI_REMOTE_WRITE | FI_REMOTE_READ,
	  .ops = { VT_SEND, VT_INJECT, VT_WRITE, VT_INJECT_WRITE, VT_READ }, .count = 5 },
	{ "FI_REMOTE_WRITE", FI_REMOTE_WRITE, FI_RMA | FI_WRITE | FI_REMOTE_WRITE,
	  .at_target = true, .ops = { VT_WRITE, VT_INJECT_WRITE }, .count = 2 },
	{ "FI_REMOTE_READ", FI_REMOTE_READ, FI_RMA | FI_READ | FI_REMOTE_READ, .at_target = true,
	  .ops = { VT_READ }, .count = 1 },
};

/* What is claimed is counted; what is not may be */
static bool can_count(struct kunit *test, struct fid_cntr *cntr, u64 flags)
{
	struct fid_ep *ep = vt_ep(test, vt_of(test)->info);
	int ret = fi_ep_bind(ep, &cntr->fid, flags);

	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENOSYS);
		KUNIT_EXPECT_FALSE(test, conf_has(test, FI_RMA_EVENT) &&
				   flags & (FI_REMOTE_READ | FI_REMOTE_WRITE));
	}
	vt_close(test, &ep->fid);
	return !ret;
}

static bool join(struct kunit *test, struct vt_pair *pair,
		 const struct direction *dir, struct fid_cntr *cntr)
{
	struct vt_end *end = dir->at_target ? &pair->b : &pair->a;

	if (!can_count(test, cntr, dir->flags))
		return false;
	end->cntrs[0] = (struct tb_cntr) { cntr, dir->flags };
	vt_join(test, pair, &vt_default_kind);
	return true;
}

/* Each operation NR_OPS times; the sender's completions are read unless it has none */
static void operate(struct kunit *test, struct vt_pair *pair,
		    const struct direction *dir, size_t len)
{
	bool unsignaled = pair->a.bind_flags & FI_SELECTIVE_COMPLETION;
	struct conf_region region = {};
	u8 *buf = vt_buf(test, 2 * len);
	struct vt_xfer x = { .buf = buf, .len = len, .context = vt_ctx(2) };
	enum vt_op op;
	size_t i;

	if (dir->cap & FI_RMA)
		conf_region(test, &region, len, CONF_ACCESS);
	x.addr = region.addr;
	x.key = region.key;
	for (i = 0; i < NR_OPS * dir->count; i++) {
		op = dir->ops[i / NR_OPS];
		if (op <= VT_INJECT)
			vt_recv(test, &pair->b, buf + len, len, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, vt_post_flags(pair->a.ep, op, &x, 0), 0);
		if (op <= VT_INJECT)
			vt_done(test, pair->b.rx, vt_ctx(1));
		if (!unsignaled && op != VT_INJECT && op != VT_INJECT_WRITE)
			vt_done(test, pair->a.tx, vt_ctx(2));
	}
	vt_none(test, pair->a.tx);
}

/* A second counter of the end that is for operations of the other kinds stays at 0 */
static void check_direction(struct kunit *test, const struct direction *dir,
			    enum fi_cntr_events events, u64 bind_flags)
{
	size_t len = min(100, vt_of(test)->info->tx_attr->inject_size);
	u64 want = NR_OPS * dir->count * (events == FI_CNTR_EVENTS_BYTES ? len : 1);
	struct fid_cntr *cntr = cntr_open(test, events), *others = cntr_open(test, events);
	struct vt_pair pair = { .a.bind_flags = bind_flags };
	u64 rest = NEAR & ~dir->flags;

	if (!cntr)
		return;
	if (!dir->at_target && rest && conf_has(test, FI_MSG | FI_RMA | NEAR))
		pair.a.cntrs[1] = (struct tb_cntr) { others, rest };
	if (!join(test, &pair, dir, cntr))
		return;
	operate(test, &pair, dir, len);
	KUNIT_EXPECT_EQ_MSG(test, vt_cntr_wait(cntr, want), 0, "%s", dir->name);
	vt_close(test, &pair.a.ep->fid);
	vt_close(test, &pair.b.ep->fid);
	KUNIT_EXPECT_EQ_MSG(test, fi_cntr_read(cntr), want, "%s", dir->name);
	KUNIT_EXPECT_EQ_MSG(test, fi_cntr_readerr(cntr), 0, "%s", dir->name);
	KUNIT_EXPECT_EQ_MSG(test, fi_cntr_read(others), 0, "%s", dir->name);
}

static void each_direction_is_counted_or_refused(struct kunit *test)
{
	size_t i;

	conf_shallow(test, 16);
	conf_serve(test);
	for (i = 0; i < ARRAY_SIZE(directions); i++) {
		if (!conf_has(test, directions[i].cap))
			continue;
		check_direction(test, &directions[i], FI_CNTR_EVENTS_COMP, 0);
		check_direction(test, &directions[i], FI_CNTR_EVENTS_COMP, FI_SELECTIVE_COMPLETION);
		check_direction(test, &directions[i], FI_CNTR_EVENTS_BYTES, 0);
	}
}

static void endpoints_share_a_counter(struct kunit *test)
{
	struct vt_pair pairs[2] = {};
	struct fid_cntr *cntr;
	size_t i;

	if (!conf_has(test, directions[0].cap))
		return;
	conf_serve(test);
	cntr = cntr_open(test, FI_CNTR_EVENTS_COMP);
	if (!cntr)
		return;
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_TRUE(test, join(test, &pairs[i], &directions[0], cntr));
	for (i = 0; i < 2; i++)
		operate(test, &pairs[i], &directions[0], 8);
	KUNIT_EXPECT_EQ(test, vt_cntr_wait(cntr, 4 * NR_OPS), 0);
}

/* Operations that the end of the connection takes with it */
static void failures_are_counted_apart(struct kunit *test)
{
	static const struct direction recv = {
		.flags = FI_RECV, .at_target = true,
	};
	struct vt_pair pair = {};
	struct fid_cntr *cntr;
	u8 *buf = vt_buf(test, 8);
	int i;

	if (!conf_is_msg(test))
		return;
	conf_shallow(test, 16);
	conf_serve(test);
	cntr = cntr_open(test, FI_CNTR_EVENTS_COMP);
	if (!cntr || !join(test, &pair, &recv, cntr))
		return;
	for (i = 0; i < NR_OPS; i++)
		vt_recv(test, &pair.b, buf, 8, vt_ctx(i));
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	for (i = 0; i < NR_OPS; i++)
		KUNIT_EXPECT_EQ(test, vt_failed(test, pair.b.rx).err, ECANCELED);
	KUNIT_EXPECT_EQ(test, vt_cntr_wait(cntr, 1), -FI_EAVAIL);
	vt_close(test, &pair.b.ep->fid);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(cntr), NR_OPS);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(cntr), 0);
}

static struct kunit_case cntr_cases[] = {
	KUNIT_CASE_PARAM(a_counter_counts_what_it_is_told, conf_gen_params),
	KUNIT_CASE_PARAM(many_counters_open, conf_gen_params),
	KUNIT_CASE_PARAM(other_counters_are_refused, conf_gen_params),
	KUNIT_CASE_PARAM(each_direction_is_counted_or_refused, conf_gen_params),
	KUNIT_CASE_PARAM(endpoints_share_a_counter, conf_gen_params),
	KUNIT_CASE_PARAM(failures_are_counted_apart, conf_gen_msg),
	{}
};

struct kunit_suite conf_cntr_suite = {
	.name		= "kofi_conformance_cntr",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= cntr_cases,
};
