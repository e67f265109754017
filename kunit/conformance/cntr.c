// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Counters: their own calls, and what an endpoint counts.  A direction in which a
 * counter can be bound counts each operation of that direction once, and one in
 * which it cannot is refused.
 */
#include "conformance.h"

#define NR_OPS	3

/* NULL: the provider has none, and says so */
static struct fid_cntr *cntr_open(struct kunit *test,
				  enum fi_cntr_events events)
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
		cntr_open(test, i % 2 ? FI_CNTR_EVENTS_COMP :
					FI_CNTR_EVENTS_BYTES);
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
		KUNIT_EXPECT_EQ_MSG(test, fi_cntr_open(vt_of(test)->domain,
						       &attr, &cntr, NULL),
				    bad[i].ret, "attributes %zu", i);
	}
}

/**
 * struct direction - A direction that may be counted
 * @name: of the flag
 * @flag: as fi_ep_bind() has it
 * @cap: what an endpoint needs for it
 * @at_target: it is counted at the other end of the operation
 * @read: the operation is a read; else, if it is not a message, a write
 */
struct direction {
	const char	*name;
	u64		flag;
	u64		cap;
	bool		at_target;
	bool		read;
};

static const struct direction directions[] = {
	{ "FI_SEND", FI_SEND, FI_MSG | FI_SEND },
	{ "FI_RECV", FI_RECV, FI_MSG | FI_RECV, .at_target = true },
	{ "FI_WRITE", FI_WRITE, FI_RMA | FI_WRITE | FI_REMOTE_WRITE },
	{ "FI_READ", FI_READ, FI_RMA | FI_READ | FI_REMOTE_READ, .read = true },
	{ "FI_REMOTE_WRITE", FI_REMOTE_WRITE,
	  FI_RMA | FI_WRITE | FI_REMOTE_WRITE, .at_target = true },
	{ "FI_REMOTE_READ", FI_REMOTE_READ,
	  FI_RMA | FI_READ | FI_REMOTE_READ, .at_target = true, .read = true },
};

/* Open, with the counter; false: it cannot be bound so */
static bool open_end(struct kunit *test, struct vt_end *end,
		     struct fi_info *info, struct fid_cntr *cntr, u64 flag)
{
	int ret = 0;

	end->info = info;
	end->ep = vt_ep(test, info);
	if (cntr)
		ret = fi_ep_bind(end->ep, &cntr->fid, flag);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENOSYS);
		/* What is claimed is counted; what is not may be */
		KUNIT_EXPECT_FALSE(test, conf_has(test, FI_RMA_EVENT) &&
				   flag & (FI_REMOTE_READ | FI_REMOTE_WRITE));
		vt_close(test, &end->ep->fid);
		return false;
	}
	vt_end_enable(test, end, &vt_default_kind);
	return true;
}

static bool join(struct kunit *test, struct vt_pair *pair,
		 const struct direction *dir, struct fid_cntr *cntr)
{
	struct fid_cntr *near = dir->at_target ? NULL : cntr;
	struct fid_cntr *far = dir->at_target ? cntr : NULL;
	struct fi_info *info = vt_of(test)->info;
	bool rdm = vt_is_rdm(info);
	union vt_event event;

	vt_end_queues(test, &pair->a, info, &vt_default_kind);
	vt_end_queues(test, &pair->b, info, &vt_default_kind);
	if (!open_end(test, &pair->a, info, near, dir->flag))
		return false;
	if (!rdm) {
		vt_connect(test, &pair->a, NULL, 0);
		info = vt_connreq(test, NULL);
	}
	if (!open_end(test, &pair->b, info, far, dir->flag)) {
		vt_close(test, &pair->a.ep->fid);
		return false;
	}
	if (rdm) {
		vt_meet(test, pair);
		return true;
	}
	vt_accept(test, &pair->b, NULL, 0);
	vt_event(test, pair->a.eq, FI_CONNECTED, &event);
	return true;
}

static void operate(struct kunit *test, struct vt_pair *pair,
		    const struct direction *dir)
{
	struct conf_region region;
	u8 *buf = vt_buf(test, 200);
	struct fid_ep *ep = pair->a.ep;
	int i;

	if (dir->cap & FI_RMA)
		conf_region(test, &region, 100, CONF_ACCESS);
	for (i = 0; i < NR_OPS; i++) {
		if (dir->cap & FI_MSG) {
			vt_recv(test, &pair->b, buf + 100, 100, vt_ctx(1));
			KUNIT_ASSERT_EQ(test, fi_send(ep, buf, 100, NULL, 0,
						      vt_ctx(2)), 0);
			vt_done(test, pair->b.rx, vt_ctx(1));
		} else if (dir->read) {
			KUNIT_ASSERT_EQ(test, fi_read(ep, buf, 100, NULL, 0,
						      region.addr, region.key,
						      vt_ctx(2)), 0);
		} else {
			KUNIT_ASSERT_EQ(test, fi_write(ep, buf, 100, NULL, 0,
						       region.addr, region.key,
						       vt_ctx(2)), 0);
		}
		vt_done(test, pair->a.tx, vt_ctx(2));
	}
}

static void check_direction(struct kunit *test, const struct direction *dir,
			    enum fi_cntr_events events)
{
	u64 want = events == FI_CNTR_EVENTS_BYTES ? 100 * NR_OPS : NR_OPS;
	struct fid_cntr *cntr = cntr_open(test, events);
	struct vt_pair pair = {};

	if (!cntr || !join(test, &pair, dir, cntr))
		return;
	operate(test, &pair, dir);
	KUNIT_EXPECT_EQ_MSG(test, vt_cntr_wait(cntr, want), 0, "%s", dir->name);
	vt_close(test, &pair.a.ep->fid);
	vt_close(test, &pair.b.ep->fid);
	KUNIT_EXPECT_EQ_MSG(test, fi_cntr_read(cntr), want, "%s", dir->name);
	KUNIT_EXPECT_EQ_MSG(test, fi_cntr_readerr(cntr), 0, "%s", dir->name);
}

static void each_direction_is_counted_or_refused(struct kunit *test)
{
	size_t i;

	conf_shallow(test, 16);
	conf_serve(test);
	for (i = 0; i < ARRAY_SIZE(directions); i++) {
		if (!conf_has(test, directions[i].cap))
			continue;
		check_direction(test, &directions[i], FI_CNTR_EVENTS_COMP);
		check_direction(test, &directions[i], FI_CNTR_EVENTS_BYTES);
	}
}

/* Operations that the end of the connection takes with it */
static void failures_are_counted_apart(struct kunit *test)
{
	static const struct direction recv = {
		.flag = FI_RECV, .at_target = true,
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
		KUNIT_EXPECT_EQ(test, vt_failed(test, pair.b.rx).err,
				ECANCELED);
	KUNIT_EXPECT_EQ(test, vt_cntr_wait(cntr, 1), -FI_EAVAIL);
	vt_close(test, &pair.b.ep->fid);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(cntr), NR_OPS);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(cntr), 0);
}

static struct kunit_case cntr_cases[] = {
	KUNIT_CASE_PARAM(a_counter_counts_what_it_is_told, conf_gen_params),
	KUNIT_CASE_PARAM(many_counters_open, conf_gen_params),
	KUNIT_CASE_PARAM(other_counters_are_refused, conf_gen_params),
	KUNIT_CASE_PARAM(each_direction_is_counted_or_refused,
			 conf_gen_params),
	KUNIT_CASE_PARAM(failures_are_counted_apart, conf_gen_msg),
	{}
};

struct kunit_suite conf_cntr_suite = {
	.name		= "kofi_conformance_cntr",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= cntr_cases,
};
