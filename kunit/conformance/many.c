// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Many: messages in order, floods that queues cannot hold, endpoints on one
 * completion queue, threads on one endpoint.
 *
 * Threads post; the thread of the case is the only one that reads completions.  It
 * wakes the others when there is room again.
 */
#include <linux/bitmap.h>
#include <linux/kthread.h>
#include <linux/wait.h>
#include "conformance.h"

#define NR_FLOOD	200

struct flood {
	u32	*out;
	u32	*in;
	u32	recvs;
	u32	sends;
};

/* As many as there is room for */
static void flood_post(struct kunit *test, struct vt_pair *pair, struct flood *flood)
{
	ssize_t ret = 0;

	for (; flood->recvs < NR_FLOOD && !ret; flood->recvs += !ret)
		ret = fi_recv(pair->b.ep, &flood->in[flood->recvs], sizeof(u32),
			      NULL, 0, vt_ctx(flood->recvs));
	KUNIT_ASSERT_TRUE(test, !ret || ret == -EAGAIN);
	/* A receive for each: who waits for receives is asked in another case */
	for (ret = 0; flood->sends < flood->recvs && !ret;
	     flood->sends += !ret)
		ret = fi_send(pair->a.ep, &flood->out[flood->sends],
			      sizeof(u32), NULL, 0, vt_ctx(flood->sends));
	KUNIT_ASSERT_TRUE(test, !ret || ret == -EAGAIN);
}

static void flood_arrives(struct kunit *test, int may_sleep)
{
	bool in_order = vt_of(test)->info->rx_attr->msg_order & FI_ORDER_SAS;
	DECLARE_BITMAP(seen, NR_FLOOD) = {};
	struct vt_pair pair = { .a.may_sleep = may_sleep };
	struct flood flood = {};
	struct vt_comp comp;
	u32 i, nr;

	conf_shallow(test, 4);
	conf_join(test, &pair);
	flood.out = vt_buf(test, NR_FLOOD * sizeof(u32));
	flood.in = vt_buf(test, NR_FLOOD * sizeof(u32));
	for (i = 0; i < NR_FLOOD; i++)
		flood.out[i] = i;

	for (i = 0; i < NR_FLOOD; i++) {
		flood_post(test, &pair, &flood);
		KUNIT_ASSERT_EQ(test, vt_wait(pair.b.rx, &comp), 1);
		KUNIT_ASSERT_EQ(test, comp.err, 0);
		nr = flood.in[(unsigned long)comp.context];
		if (in_order)
			KUNIT_ASSERT_EQ(test, nr, i);
		KUNIT_ASSERT_LT(test, nr, NR_FLOOD);
		KUNIT_ASSERT_FALSE(test, __test_and_set_bit(nr, seen));
		KUNIT_ASSERT_EQ(test, vt_wait(pair.a.tx, &comp), 1);
		KUNIT_ASSERT_EQ(test, comp.err, 0);
	}
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
}

static void a_flood_arrives_whole_and_in_order(struct kunit *test)
{
	flood_arrives(test, 0);
}

static void a_flood_from_process_context_arrives_whole_and_in_order(struct kunit *test)
{
	flood_arrives(test, 1);
}

/* FI_RM_ENABLED: nothing is lost for want of a receive */
static void message_waits(struct kunit *test, int may_sleep)
{
	struct fi_cq_data_entry entry;
	struct vt_pair pair = { .a.may_sleep = may_sleep };
	u32 *buf = vt_buf(test, 8 * sizeof(*buf));
	ssize_t ret;
	int i;

	if (vt_of(test)->info->domain_attr->resource_mgmt != FI_RM_ENABLED)
		return;
	conf_shallow(test, 4);
	conf_join(test, &pair);
	buf[0] = 77;
	vt_send(test, &pair.a, buf, 4, vt_ctx(1));
	/* Time to arrive and to find nothing; a provider may keep it, too */
	ret = fi_cq_sread(pair.a.tx->cq, &entry, 1, NULL, 20);
	KUNIT_ASSERT_TRUE_MSG(test, ret == -EAGAIN || ret == 1, "%zd", ret);
	vt_recv(test, &pair.b, buf + 1, 4, vt_ctx(2));
	vt_done(test, pair.b.rx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, buf[1], 77);
	if (ret != 1)
		vt_done(test, pair.a.tx, vt_ctx(1));
	for (i = 0; i < 3; i++)
		vt_ping(test, &pair.b, &pair.a);
}

static void a_message_waits_for_its_receive_if_claimed(struct kunit *test)
{
	message_waits(test, 0);
}

static void a_message_from_process_context_waits_if_claimed(struct kunit *test)
{
	message_waits(test, 1);
}

#define NR_PAIRS	8

static void many_endpoints_share_one_completion_queue(struct kunit *test)
{
	struct vt_pair *pairs = vt_buf(test, NR_PAIRS * sizeof(*pairs));
	const struct fi_info *info = vt_of(test)->info;
	DECLARE_BITMAP(seen, 2 * NR_PAIRS) = {};
	u32 *buf = vt_buf(test, 2 * NR_PAIRS * sizeof(*buf));
	struct vt_comp comp;
	struct vt_cq *cq;
	unsigned long i;

	conf_shallow(test, 4);
	conf_serve(test);
	cq = vt_cq(test, &vt_default_kind, 2 * NR_PAIRS *
		   (info->tx_attr->size + info->rx_attr->size));
	for (i = 0; i < NR_PAIRS; i++) {
		pairs[i].a.tx = cq;
		pairs[i].b.tx = cq;
		vt_join(test, &pairs[i], &vt_default_kind);
	}
	for (i = 0; i < NR_PAIRS; i++) {
		buf[i] = 3 * i;
		vt_recv(test, &pairs[i].b, &buf[NR_PAIRS + i], 4, vt_ctx(NR_PAIRS + i));
		vt_send(test, &pairs[i].a, &buf[i], 4, vt_ctx(i));
	}
	for (i = 0; i < 2 * NR_PAIRS; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(cq, &comp), 1);
		KUNIT_ASSERT_EQ(test, comp.err, 0);
		KUNIT_ASSERT_LT(test, (unsigned long)comp.context, 2 * NR_PAIRS);
		KUNIT_EXPECT_FALSE(test, __test_and_set_bit((unsigned long)comp.context, seen));
	}
	for (i = 0; i < NR_PAIRS; i++)
		KUNIT_EXPECT_EQ(test, buf[NR_PAIRS + i], 3 * i);
	vt_none(test, cq);
}

static void an_endpoint_of_many_ends_alone(struct kunit *test)
{
	struct vt_pair pairs[2] = {};
	const struct fi_info *info = vt_of(test)->info;
	struct vt_cq *cq;
	u8 *buf = vt_buf(test, 16);
	int i;

	conf_shallow(test, 4);
	conf_serve(test);
	cq = vt_cq(test, &vt_default_kind, 4 * (info->tx_attr->size + info->rx_attr->size));
	for (i = 0; i < 2; i++) {
		pairs[i].a.tx = cq;
		pairs[i].b.tx = cq;
		vt_join(test, &pairs[i], &vt_default_kind);
	}
	vt_recv(test, &pairs[0].b, buf, 8, vt_ctx(1));
	vt_close(test, &pairs[0].b.ep->fid);
	/* Nothing of it is read any more, and the other goes on */
	vt_recv(test, &pairs[1].b, buf, 8, vt_ctx(2));
	KUNIT_ASSERT_EQ(test, fi_inject(pairs[1].a.ep, buf + 8, 8, 0), 0);
	vt_done(test, cq, vt_ctx(2));
	vt_none(test, cq);
}

static void endpoints_share_receives_if_claimed(struct kunit *test)
{
	struct vt_pair pairs[2] = {};
	u32 *buf = vt_buf(test, 4 * sizeof(*buf));
	struct fi_info *info;
	struct vt_comp comp;
	struct vt_cq *cq;
	int i;

	if (!vt_of(test)->info->domain_attr->max_ep_srx_ctx) {
		KUNIT_EXPECT_FALSE(test, conf_wants_shared(test));
		return;
	}
	KUNIT_ASSERT_TRUE(test, conf_wants_shared(test));
	info = vt_of(test)->info;
	conf_serve(test);
	pairs[0].b.srx = conf_srx(test);
	pairs[1].b.srx = pairs[0].b.srx;
	cq = vt_cq(test, &vt_default_kind, 2 * (info->tx_attr->size + info->rx_attr->size));
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, fi_recv(pairs[i].b.srx, &buf[i], sizeof(*buf), NULL, 0,
					      vt_ctx(i)), 0);
		pairs[i].b.tx = cq;
		conf_accept_shared(test, &pairs[i]);
	}
	/* Either receive may take what the second endpoint is sent */
	for (i = 1; i >= 0; i--) {
		buf[2] = 50 + i;
		KUNIT_ASSERT_EQ(test, fi_inject(pairs[i].a.ep, &buf[2], sizeof(*buf), 0), 0);
		KUNIT_ASSERT_EQ(test, vt_wait(cq, &comp), 1);
		KUNIT_ASSERT_EQ(test, comp.err, 0);
		KUNIT_EXPECT_EQ(test, buf[(unsigned long)comp.context], 50 + i);
	}
}

/* FI_PROGRESS_AUTO: nobody polls or reads at the target */
static void a_target_need_not_help_if_claimed(struct kunit *test)
{
	static const struct vt_kind polled = {
		.name = "polled", .format = FI_CQ_FORMAT_DATA,
	};
	struct fi_info *info = vt_of(test)->info;
	struct conf_region region;
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, SZ_32K);

	if (info->domain_attr->data_progress != FI_PROGRESS_AUTO)
		return;
	conf_serve(test);
	pair.b.tx = vt_cq(test, &polled, info->tx_attr->size + info->rx_attr->size);
	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, buf, SZ_16K, vt_ctx(1));
	vt_send(test, &pair.a, buf + SZ_16K, SZ_16K, vt_ctx(2));
	vt_done(test, pair.a.tx, vt_ctx(2));
	if (conf_has(test, FI_READ | FI_REMOTE_READ)) {
		conf_region(test, &region, SZ_16K, CONF_ACCESS);
		KUNIT_ASSERT_EQ(test, fi_read(pair.a.ep, buf + SZ_16K, SZ_16K, NULL, 0, region.addr,
					      region.key, vt_ctx(3)), 0);
		vt_done(test, pair.a.tx, vt_ctx(3));
	}
	vt_done(test, pair.b.rx, vt_ctx(1));
}

#define NR_THREADS	4
#define NR_EACH		50

/* What the threads of a case share */
struct crowd {
	struct fid_ep		*ep;
	u32			*numbers;
	wait_queue_head_t	room;
	bool			stop;
	bool			may_sleep;
};

struct poster {
	struct crowd		*crowd;
	struct task_struct	*task;
	u32			first;
	int			ret;
};

static bool posted(struct crowd *crowd, u32 nr, int *ret)
{
	*ret = fi_send(crowd->ep, &crowd->numbers[nr], sizeof(u32), NULL, 0, vt_ctx(nr));
	return *ret != -EAGAIN || READ_ONCE(crowd->stop);
}

static int post_each(void *arg)
{
	struct poster *poster = arg;
	u32 nr;

	for (nr = poster->first; nr < poster->first + NR_EACH; nr++) {
		/* wait_event() asks its condition where a task must not sleep */
		while (poster->crowd->may_sleep && !posted(poster->crowd, nr, &poster->ret))
			schedule_timeout_idle(1);
		if (!poster->crowd->may_sleep)
			wait_event(poster->crowd->room, posted(poster->crowd, nr, &poster->ret));
		if (poster->ret)
			break;
	}
	/* Until somebody asks how it went */
	wait_event(poster->crowd->room, kthread_should_stop());
	return poster->ret;
}

static void start_posters(struct kunit *test, struct poster *posters,
			  struct crowd *crowd, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		posters[i].crowd = crowd;
		posters[i].first = i * NR_EACH;
		posters[i].task = kthread_run(post_each, &posters[i], "conf_post/%d", i);
	}
}

/* Expectations only: the threads have to end before the case does */
static void stop_posters(struct kunit *test, struct poster *posters, int count)
{
	int i, ret;

	for (i = 0; i < count; i++) {
		WRITE_ONCE(posters[i].crowd->stop, true);
		ret = IS_ERR(posters[i].task) ? PTR_ERR(posters[i].task) :
						kthread_stop(posters[i].task);
		KUNIT_EXPECT_EQ(test, ret, 0);
	}
}

/* Reads what all post; returns how many have arrived once */
static u32 read_all(struct kunit *test, struct vt_pair *pair,
		    struct crowd *crowd, u32 *in, u32 total)
{
	DECLARE_BITMAP(seen, NR_THREADS * NR_EACH) = {};
	struct vt_comp comp;
	u32 i, nr;

	for (i = 0; i < total; i++) {
		if (vt_wait(pair->b.rx, &comp) != 1 || comp.err)
			break;
		nr = in[(unsigned long)comp.context];
		if (nr >= total || __test_and_set_bit(nr, seen))
			break;
		if (fi_recv(pair->b.ep, &in[(unsigned long)comp.context],
			    sizeof(u32), NULL, 0, comp.context))
			break;
		if (vt_wait(pair->a.tx, &comp) != 1 || comp.err)
			break;
		wake_up_all(&crowd->room);
	}
	return i;
}

/* One thread where the client has promised not to let more in at a time */
static void threads_post(struct kunit *test, int may_sleep)
{
	struct fi_info *info = vt_of(test)->info;
	int count = info->domain_attr->threading == FI_THREAD_SAFE ?
		    NR_THREADS : 1;
	struct poster *posters = vt_buf(test, count * sizeof(*posters));
	u32 total = count * NR_EACH, i;
	struct crowd crowd = { .may_sleep = may_sleep };
	struct vt_pair pair = { .a.may_sleep = may_sleep };
	u32 *in;

	conf_shallow(test, 16);
	conf_join(test, &pair);
	crowd.ep = pair.a.ep;
	crowd.numbers = vt_buf(test, total * sizeof(u32));
	init_waitqueue_head(&crowd.room);
	for (i = 0; i < total; i++)
		crowd.numbers[i] = i;
	in = vt_buf(test, info->rx_attr->size * sizeof(u32));
	for (i = 0; i < info->rx_attr->size; i++)
		vt_recv(test, &pair.b, &in[i], sizeof(u32), vt_ctx(i));

	start_posters(test, posters, &crowd, count);
	KUNIT_EXPECT_EQ(test, read_all(test, &pair, &crowd, in, total), total);
	stop_posters(test, posters, count);
	vt_none(test, pair.a.tx);
	vt_none(test, pair.b.rx);
}

static void threads_post_on_one_endpoint(struct kunit *test)
{
	threads_post(test, 0);
}

static void threads_post_from_process_context(struct kunit *test)
{
	threads_post(test, 1);
}

static struct kunit_case many_cases[] = {
	KUNIT_CASE_PARAM(a_flood_arrives_whole_and_in_order, conf_gen_params),
	KUNIT_CASE_PARAM(a_flood_from_process_context_arrives_whole_and_in_order, conf_gen_params),
	KUNIT_CASE_PARAM(a_message_waits_for_its_receive_if_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(a_message_from_process_context_waits_if_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(many_endpoints_share_one_completion_queue, conf_gen_params),
	KUNIT_CASE_PARAM(an_endpoint_of_many_ends_alone, conf_gen_params),
	KUNIT_CASE_PARAM(endpoints_share_receives_if_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(a_target_need_not_help_if_claimed, conf_gen_params),
	KUNIT_CASE_PARAM(threads_post_on_one_endpoint, conf_gen_params),
	KUNIT_CASE_PARAM(threads_post_from_process_context, conf_gen_params),
	{}
};

struct kunit_suite conf_many_suite = {
	.name		= "kofi_conformance_many",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= many_cases,
};
