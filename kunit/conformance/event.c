// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a target hears of accesses to its memory: remote CQ data, and with FI_RMA_EVENT
 * counters of a region.  (Counters of an endpoint: cntr.c.)
 *
 * With callbacks (FI_WAIT_DONE) what has no context goes to the endpoint's default one.
 */
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <rdma/fi_atomic.h>
#include "queue.h"

#define NR_WRITES	200

static bool has_data(struct kunit *test)
{
	return conf_has(test, FI_RMA | FI_WRITE | FI_REMOTE_WRITE) &&
	       conf_data(test);
}

/* A receive for a write, for those who need one */
static void recv_for_write(struct kunit *test, struct vt_end *end, u8 *buf)
{
	if (vt_of(test)->info->mode & FI_RX_CQ_DATA)
		vt_recv(test, end, buf, 8, vt_ctx(1));
}

/**
 * struct flood - Writes with data, their number
 * @pair: from the first end to the second
 * @region: where they go
 * @buf: of operations
 * @recvs: receives that have been posted for them
 * @posted: writes that have been posted
 */
struct flood {
	struct vt_pair		pair;
	struct conf_region	region;
	u8			*buf;
	u32			recvs;
	u32			posted;
};

/* The place of a write is free when somebody has read its completion */
static void reap(struct kunit *test, struct vt_cq *cq)
{
	struct fi_cq_data_entry entry;
	ssize_t ret;

	do {
		ret = fi_cq_read(cq->cq, &entry, 1);
	} while (ret == 1);
	KUNIT_ASSERT_EQ(test, ret, -EAGAIN);
}

/* As many as there is room for */
static void flood_post(struct kunit *test, struct flood *flood)
{
	bool recv = vt_of(test)->info->mode & FI_RX_CQ_DATA;
	struct vt_pair *pair = &flood->pair;
	ssize_t ret = 0;

	for (; flood->posted < NR_WRITES; flood->posted += !ret) {
		if (recv && flood->recvs == flood->posted) {
			ret = fi_recv(pair->b.ep, flood->buf + 8, 8, NULL, 0, NULL);
			if (ret)
				break;
			flood->recvs++;
		}
		reap(test, pair->a.tx);
		ret = fi_writedata(pair->a.ep, flood->buf, 8, NULL, flood->posted, 0,
				   flood->region.addr, flood->region.key, NULL);
		if (ret)
			break;
	}
	KUNIT_ASSERT_TRUE_MSG(test, !ret || ret == -EAGAIN, "%zd", ret);
}

static void flood_open(struct kunit *test, struct flood *flood)
{
	conf_shallow(test, 16);
	conf_join(test, &flood->pair);
	conf_region(test, &flood->region, 8, CONF_ACCESS);
	flood->buf = vt_buf(test, 16);
}

/* Until the sender has to wait, as the target reads none */
static void flood_fill(struct kunit *test, struct flood *flood)
{
	struct fi_cq_data_entry entry;

	do {
		flood_post(test, flood);
	} while (flood->posted < NR_WRITES &&
		 fi_cq_sread(flood->pair.a.tx->cq, &entry, 1, NULL, 100) == 1);
}

/* More of them than a target may leave unread: they wait, and none is lost */
static void every_write_with_data_is_reported_once(struct kunit *test)
{
	struct flood *flood = vt_buf(test, sizeof(*flood));
	DECLARE_BITMAP(seen, NR_WRITES) = {};
	struct vt_comp comp;
	u32 i;

	if (!has_data(test))
		return;
	flood_open(test, flood);
	flood_fill(test, flood);
	for (i = 0; i < NR_WRITES; i++) {
		flood_post(test, flood);
		/* All have arrived, and the sender has not heard of it yet */
		while (flood->posted == i) {
			KUNIT_ASSERT_EQ(test, vt_wait(flood->pair.a.tx, &comp), 1);
			KUNIT_ASSERT_EQ(test, comp.err, 0);
			flood_post(test, flood);
		}
		KUNIT_ASSERT_EQ_MSG(test, vt_wait(flood->pair.b.rx, &comp), 1,
				    "%u of %u", i, flood->posted);
		KUNIT_ASSERT_EQ(test, comp.err, 0);
		KUNIT_ASSERT_EQ(test, comp.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
		KUNIT_ASSERT_LT(test, comp.data, NR_WRITES);
		KUNIT_ASSERT_FALSE(test, __test_and_set_bit(comp.data, seen));
	}
	vt_none(test, flood->pair.b.rx);
}

/* The target reads none, and one end closes while writes wait for room there; then the other one */
static void expect_end_of_flood(struct kunit *test, bool target)
{
	struct flood *flood = vt_buf(test, sizeof(*flood));

	if (!has_data(test))
		return;
	flood_open(test, flood);
	flood_fill(test, flood);
	vt_end_close(test, target ? &flood->pair.b : &flood->pair.a);
	/* What the other end has had of it may be given back by a worker */
	msleep(100);
	vt_end_close(test, target ? &flood->pair.a : &flood->pair.b);
}

static void writes_with_data_end_with_their_target(struct kunit *test)
{
	expect_end_of_flood(test, true);
}

static void writes_with_data_end_with_their_initiator(struct kunit *test)
{
	expect_end_of_flood(test, false);
}

static void writes_without_data_are_not_reported(struct kunit *test)
{
	struct conf_region region;
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);

	if (!conf_has(test, FI_RMA | FI_WRITE | FI_REMOTE_WRITE | FI_READ | FI_REMOTE_READ))
		return;
	conf_join(test, &pair);
	conf_region(test, &region, 8, CONF_ACCESS);
	KUNIT_ASSERT_EQ(test, fi_write(pair.a.ep, buf, 8, NULL, 0, region.addr,
				       region.key, vt_ctx(1)), 0);
	vt_done(test, pair.a.tx, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_read(pair.a.ep, buf, 8, NULL, 0, region.addr,
				      region.key, vt_ctx(2)), 0);
	vt_done(test, pair.a.tx, vt_ctx(2));
	vt_ping(test, &pair.a, &pair.b);
	vt_none(test, pair.b.rx);
}

/* A write that is refused brings no data either */
static void a_refused_write_is_not_reported(struct kunit *test)
{
	struct conf_region region;
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 16);
	const struct kvec kvec = { buf, 8 };
	struct fi_rma_iov remote = { .len = 8 };
	const struct fi_msg_rma msg = {
		.msg_iov	= &kvec,
		.iov_count	= 1,
		.rma_iov	= &remote,
		.rma_iov_count	= 1,
		.context	= vt_ctx(1),
		.data		= 5,
	};
	ssize_t ret;

	/* In a connection it may be the end of it, with what is in flight */
	if (!has_data(test) || !conf_is_rdm(test))
		return;
	conf_join(test, &pair);
	conf_region(test, &region, 8, FI_REMOTE_READ);
	remote.addr = region.addr;
	remote.key = region.key;
	/* Without FI_DELIVERY_COMPLETE it may end when it is on its way */
	ret = fi_writemsg(pair.a.ep, &msg, FI_COMPLETION | FI_REMOTE_CQ_DATA |
			  FI_DELIVERY_COMPLETE);
	if (ret == -FI_EBADFLAGS)
		return;
	KUNIT_ASSERT_EQ(test, ret, 0);
	vt_failed(test, pair.a.tx);
	vt_ping(test, &pair.a, &pair.b);
	vt_none(test, pair.b.rx);
}

static void an_atomic_brings_data_as_a_write_does(struct kunit *test)
{
	struct vt_pair pair = {};
	u64 *buf = vt_buf(test, 16);
	struct fi_ioc ioc = { .addr = buf, .count = 1 };
	struct conf_region region;
	struct fi_rma_ioc remote;
	struct fi_msg_atomic msg = {
		.msg_iov	= &ioc,
		.iov_count	= 1,
		.rma_iov	= &remote,
		.rma_iov_count	= 1,
		.datatype	= FI_UINT64,
		.op		= FI_SUM,
		.context	= vt_ctx(1),
		.data		= conf_data(test),
	};
	struct vt_comp comp;
	size_t count;

	if (!conf_has(test, FI_ATOMIC))
		return;
	conf_join(test, &pair);
	conf_region(test, &region, 8, CONF_ACCESS);
	remote = (struct fi_rma_ioc) { region.addr, 1, region.key };
	buf[0] = 5;
	if (!conf_data(test) || fi_atomicvalid(pair.a.ep, FI_UINT64, FI_SUM, &count)) {
		KUNIT_EXPECT_LT(test, fi_atomicmsg(pair.a.ep, &msg, FI_REMOTE_CQ_DATA), 0);
		return;
	}
	recv_for_write(test, &pair.b, (u8 *)(buf + 1));
	KUNIT_ASSERT_EQ(test, fi_atomicmsg(pair.a.ep, &msg, FI_COMPLETION | FI_REMOTE_CQ_DATA), 0);
	vt_done(test, pair.a.tx, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, vt_wait(pair.b.rx, &comp), 1);
	KUNIT_EXPECT_EQ(test, comp.data, conf_data(test));
	KUNIT_EXPECT_TRUE(test, comp.flags & FI_REMOTE_CQ_DATA);
	KUNIT_EXPECT_EQ(test, *(u64 *)region.buf, 5);
	/* What is fetched brings the target nothing to report */
	KUNIT_EXPECT_LT(test, fi_fetch_atomicmsg(pair.a.ep, &msg, &ioc, NULL, 1,
						 FI_REMOTE_CQ_DATA), 0);
}

static struct fid_cntr *open_cntr(struct kunit *test)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_cntr *cntr;

	KUNIT_ASSERT_EQ(test, fi_cntr_open(vt_of(test)->domain, &attr, &cntr, NULL), 0);
	vt_adopt(test, &cntr->fid);
	return cntr;
}

static int reg_event(struct kunit *test, struct conf_region *region)
{
	struct kvec iov;
	struct fi_mr_attr attr = {
		.mr_iov		= &iov,
		.iov_count	= 1,
		.access		= FI_REMOTE_READ | FI_REMOTE_WRITE,
		.requested_key	= 0x4711,
	};
	int ret;

	region->buf = vt_buf(test, 64);
	iov = (struct kvec) { region->buf, 64 };
	ret = fi_mr_regattr(vt_of(test)->domain, &attr, FI_RMA_EVENT, &region->mr);
	if (ret)
		return ret;
	vt_adopt(test, &region->mr->fid);
	region->addr = fi_mr_addr(region->mr);
	region->key = fi_mr_key(region->mr);
	return 0;
}

static void write_byte(struct kunit *test, struct vt_pair *pair, const struct conf_region *region)
{
	u8 *buf = vt_buf(test, 1);

	KUNIT_ASSERT_EQ(test, fi_write(pair->a.ep, buf, 1, NULL, 0, region->addr, region->key,
				       vt_ctx(1)), 0);
	vt_done(test, pair->a.tx, vt_ctx(1));
}

/* A region's counter counts what is done to this region, of the kind that was asked for */
static void a_region_counts_its_accesses_if_claimed(struct kunit *test)
{
	struct conf_region counted, other;
	struct fid_cntr *cntr;
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	int i, ret;

	conf_join(test, &pair);
	ret = reg_event(test, &counted);
	if (!conf_has(test, FI_RMA_EVENT)) {
		KUNIT_EXPECT_LT(test, ret, 0);
		return;
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	/* What is bound is open longer than the region */
	vt_close(test, &counted.mr->fid);
	cntr = open_cntr(test);
	KUNIT_ASSERT_EQ(test, reg_event(test, &counted), 0);
	KUNIT_ASSERT_EQ(test, fi_mr_bind(counted.mr, &cntr->fid, FI_REMOTE_WRITE), 0);
	KUNIT_EXPECT_EQ(test, fi_mr_bind(counted.mr, &cntr->fid, FI_REMOTE_WRITE), -EINVAL);
	conf_region(test, &other, 64, CONF_ACCESS);
	for (i = 0; i < 3; i++)
		write_byte(test, &pair, &counted);
	write_byte(test, &pair, &other);
	KUNIT_ASSERT_EQ(test, fi_read(pair.a.ep, buf, 8, NULL, 0, counted.addr,
				      counted.key, vt_ctx(2)), 0);
	vt_done(test, pair.a.tx, vt_ctx(2));
	vt_ping(test, &pair.a, &pair.b);
	KUNIT_EXPECT_EQ(test, vt_cntr_wait(cntr, 3), 0);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(cntr), 3);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(cntr), 0);
	KUNIT_EXPECT_EQ(test, fi_close(&cntr->fid), -EBUSY);
	vt_close(test, &counted.mr->fid);
}

/**
 * struct defaults - What an endpoint's default callback has seen
 * @queue: where it belongs
 * @entry: the last completion
 * @calls: how many there were
 */
struct defaults {
	struct conf_queue	*queue;
	struct fi_done_entry	entry;
	atomic_t		calls;
};

static void default_done(struct fid_ep *ep, const struct fi_done_entry *entry)
{
	struct defaults *defaults = ep->fid.context;

	conf_queue_enter(defaults->queue);
	defaults->entry = *entry;
	atomic_inc(&defaults->calls);
	conf_queue_leave(defaults->queue);
}

static void wait_default(struct kunit *test, struct defaults *defaults, int calls)
{
	unsigned long limit = jiffies + msecs_to_jiffies(VT_PATIENCE_MS);

	while (atomic_read(&defaults->calls) < calls && time_before(jiffies, limit)) {
		conf_queue_read(defaults->queue, 1);
		wait_event_timeout(defaults->queue->wait,
				   atomic_read(&defaults->calls) >= calls, 1);
	}
	KUNIT_ASSERT_EQ_MSG(test, atomic_read(&defaults->calls), calls, "%s",
			    defaults->queue->cq.kind->name);
	conf_queue_check(test, defaults->queue);
}

static const struct fi_ep_callbacks default_callbacks = {
	.done = default_done,
};

static bool knows_callbacks(struct kunit *test)
{
	struct fid_ep *ep;
	int ret;

	conf_shallow(test, 16);
	conf_serve(test);
	ep = vt_ep(test, vt_of(test)->info);
	ret = fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CALLBACKS,
			&default_callbacks, sizeof(default_callbacks));
	vt_close(test, &ep->fid);
	if (ret)
		KUNIT_EXPECT_EQ(test, ret, -ENOPROTOOPT);
	return !ret;
}

/* The second end has the queue and the callback */
static void check_default(struct kunit *test, const struct vt_kind *kind)
{
	struct defaults *defaults = vt_buf(test, sizeof(*defaults));
	struct conf_region region;
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 16);
	int calls;

	defaults->queue = conf_queue(test, kind, 64);
	pair.a.tx = &defaults->queue->cq;
	pair.a.callbacks = &default_callbacks;
	vt_join(test, &pair, &vt_default_kind);
	pair.a.ep->fid.context = defaults;

	/* A receive without a context */
	vt_recv(test, &pair.a, buf, 8, NULL);
	KUNIT_ASSERT_EQ(test, fi_inject(pair.b.ep, buf + 8, 5, 0), 0);
	wait_default(test, defaults, 1);
	KUNIT_EXPECT_EQ(test, defaults->entry.flags, FI_MSG | FI_RECV);
	KUNIT_EXPECT_EQ(test, defaults->entry.len, 5);
	KUNIT_EXPECT_EQ(test, defaults->entry.err, 0);
	/* A write of the peer's */
	if (has_data(test) && !(vt_of(test)->info->mode & FI_RX_CQ_DATA)) {
		conf_region(test, &region, 8, CONF_ACCESS);
		KUNIT_ASSERT_EQ(test, fi_writedata(pair.b.ep, buf, 8, NULL, 9, 0, region.addr,
						   region.key, vt_ctx(1)), 0);
		wait_default(test, defaults, 2);
		KUNIT_EXPECT_EQ(test, defaults->entry.data, 9);
		KUNIT_EXPECT_EQ(test, defaults->entry.flags, FI_RMA |
				FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	}
	vt_close(test, &pair.b.ep->fid);
	/* An inject that fails, where it is not refused at once */
	if (vt_is_rdm(vt_of(test)->info)) {
		calls = atomic_read(&defaults->calls);
		KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, buf, 8, 0), 0);
		wait_default(test, defaults, calls + 1);
		KUNIT_EXPECT_NE(test, defaults->entry.err, 0);
		KUNIT_EXPECT_EQ(test, defaults->entry.flags, FI_MSG | FI_SEND);
	}
	vt_close(test, &pair.a.ep->fid);
}

static void what_nobody_asked_for_goes_to_the_default_callback(struct kunit *test)
{
	int i;

	if (!knows_callbacks(test))
		return;
	for (i = 0; i < CONF_QUEUE_KINDS; i++)
		if (conf_queue_kinds[i].wait_obj == FI_WAIT_DONE)
			check_default(test, &conf_queue_kinds[i]);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE_PARAM(every_write_with_data_is_reported_once, conf_gen_params),
	KUNIT_CASE_PARAM(writes_with_data_end_with_their_target, conf_gen_params),
	KUNIT_CASE_PARAM(writes_with_data_end_with_their_initiator, conf_gen_params),
	KUNIT_CASE_PARAM(writes_without_data_are_not_reported, conf_gen_params),
	KUNIT_CASE_PARAM(a_refused_write_is_not_reported, conf_gen_rdm),
	KUNIT_CASE_PARAM(an_atomic_brings_data_as_a_write_does, conf_gen_params),
	KUNIT_CASE_PARAM(a_region_counts_its_accesses_if_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(what_nobody_asked_for_goes_to_the_default_callback, conf_gen_params),
	{}
};

struct kunit_suite conf_event_suite = {
	.name		= "kofi_conformance_event",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= event_cases,
};
