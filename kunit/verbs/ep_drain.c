// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fi_ep_drain(): what it has returned 0 for is in the queues without any waiting, each
 * operation once, and nothing comes behind.  Drains of endpoints in other states:
 * close.c; of those with regions: mr_ep.c.
 *
 * Operations have numbers from 1 on as their contexts.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include "rw.h"
#include "srx.h"

#define VT_OPS		16	/* of a case, in both directions together */
#define VT_SLOW_MS	50	/* how long a drain is seen to wait */
#define VT_THREADS	3

static const struct vt_kind vt_drain_kinds[] = {
	{ "polled", FI_WAIT_NONE, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA },
	{ "sleeping", FI_WAIT_UNSPEC, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA },
	{ "softirq", FI_WAIT_CALLBACK, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA },
	{ "worker", FI_WAIT_CALLBACK, FI_COMP_WORKQUEUE, FI_CQ_FORMAT_DATA },
};

KUNIT_ARRAY_PARAM_DESC(vt_drain_kind, vt_drain_kinds, name);

/* What is there, without waiting for any; each operation once.  Returns how many */
static unsigned long drain_read(struct kunit *test, struct vt_cq *cq, unsigned long *seen)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry;
	unsigned long count = 0, nr;
	ssize_t ret;

	for (;;) {
		ret = fi_cq_read(cq->cq, &entry, 1);
		if (ret == 1) {
			nr = (unsigned long)entry.op_context;
		} else if (ret == -FI_EAVAIL) {
			KUNIT_ASSERT_EQ(test, fi_cq_readerr(cq->cq, &error, 0), 1);
			nr = (unsigned long)error.op_context;
		} else {
			break;
		}
		count++;
		if (!seen)
			continue;
		KUNIT_EXPECT_LT(test, nr, BITS_PER_LONG);
		KUNIT_EXPECT_FALSE(test, *seen & BIT(nr));
		*seen |= BIT(nr);
	}
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	return count;
}

/* Operations 1 to VT_OPS are there, and nothing else, now or later */
static void drain_expect_all(struct kunit *test, struct vt_cq *cq)
{
	unsigned long seen = 0;

	KUNIT_EXPECT_EQ(test, drain_read(test, cq, &seen), VT_OPS);
	KUNIT_EXPECT_EQ(test, seen, GENMASK(VT_OPS, 1));
	vt_none(test, cq);
}

static void drain_expect_shut(struct kunit *test, struct vt_end *end)
{
	u8 *buf = vt_buf(test, 8);

	KUNIT_EXPECT_EQ(test, fi_recv(end->ep, buf, 8, NULL, 0, NULL), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, fi_send(end->ep, buf, 8, NULL, 0, NULL), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, fi_inject(end->ep, buf, 8, 0), -ESHUTDOWN);
}

/* Half of them are receives; nobody waits for the sends */
static void drain_post(struct kunit *test, struct vt_end *end)
{
	u8 *buf = vt_buf(test, 5000);
	unsigned long nr;

	for (nr = 1; nr <= VT_OPS; nr++) {
		if (nr % 2)
			vt_recv(test, end, buf, 5000, vt_ctx(nr));
		else
			vt_send(test, end, buf, 5000, vt_ctx(nr));
	}
}

static void everything_posted_has_completed(struct kunit *test)
{
	struct vt_pair pair = {};

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, test->param_value);
	drain_post(test, &pair.a);

	KUNIT_ASSERT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);

	drain_expect_all(test, pair.a.tx);
	drain_expect_shut(test, &pair.a);
	vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
	vt_event(test, pair.b.eq, FI_SHUTDOWN, NULL);
	vt_close(test, &pair.a.ep->fid);
	vt_no_event(test, pair.a.eq);
}

/* The close that comes then leaves what has not been read to nobody */
static void a_drained_endpoint_closes_with_completions_unread(struct kunit *test)
{
	struct vt_pair pair = {};

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, test->param_value);
	drain_post(test, &pair.a);
	KUNIT_ASSERT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);

	vt_close(test, &pair.a.ep->fid);

	vt_none(test, pair.a.tx);
	vt_close(test, &pair.a.tx->cq->fid);
}

static void a_drain_tells_the_client_nothing_before_a_connection(struct kunit *test)
{
	struct vt_end end = {};
	u8 *buf = vt_buf(test, 8);
	unsigned long nr;

	vt_serve(test, AF_INET, NULL);
	vt_client(test, &end, &vt_default_kind);
	for (nr = 1; nr <= VT_OPS; nr++)
		vt_recv(test, &end, buf, 8, vt_ctx(nr));

	KUNIT_ASSERT_EQ(test, fi_ep_drain(end.ep, -1), 0);

	drain_expect_all(test, end.tx);
	drain_expect_shut(test, &end);
	KUNIT_EXPECT_EQ(test, fi_connect(end.ep, &vt_of(test)->name, NULL, 0), -ESHUTDOWN);
	vt_no_event(test, end.eq);
}

static void a_drain_ends_the_attempt_to_connect(struct kunit *test)
{
	struct fi_eq_err_entry error = {};
	struct vt_end end = {};

	vt_serve(test, AF_INET, NULL);
	vt_client(test, &end, &vt_default_kind);
	vt_recv(test, &end, vt_buf(test, 8), 8, vt_ctx(1));
	vt_connect(test, &end, NULL, 0);
	vt_connreq(test, NULL);

	KUNIT_ASSERT_EQ(test, fi_ep_drain(end.ep, -1), 0);

	KUNIT_EXPECT_EQ(test, drain_read(test, end.tx, NULL), 1);
	vt_error(test, end.eq, &error);
	KUNIT_EXPECT_EQ(test, error.err, ECONNABORTED);
	vt_close(test, &end.ep->fid);
}

/* An operation with a callback that may be made to take its time */
struct drain_request {
	struct fi_done		done;
	atomic_t		calls;
	bool			slow;
	struct completion	begun;
	struct completion	go;
	bool			returned;
};

static void drain_request_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct drain_request *request =
		container_of(done, struct drain_request, done);

	atomic_inc(&request->calls);
	complete(&request->begun);
	if (request->slow)
		wait_for_completion(&request->go);
	WRITE_ONCE(request->returned, true);
}

static struct drain_request *drain_request(struct kunit *test, bool slow)
{
	struct drain_request *request = vt_buf(test, sizeof(*request));

	request->done.done = drain_request_done;
	request->slow = slow;
	init_completion(&request->begun);
	init_completion(&request->go);
	return request;
}

static const struct vt_kind vt_called_kinds[] = {
	{ "softirq", FI_WAIT_DONE, FI_COMP_SOFTIRQ },
	{ "worker", FI_WAIT_DONE, FI_COMP_WORKQUEUE },
};

KUNIT_ARRAY_PARAM_DESC(vt_called_kind, vt_called_kinds, name);

static void every_callback_has_returned(struct kunit *test)
{
	struct drain_request *requests[VT_OPS];
	u8 *buf = vt_buf(test, 5000);
	struct vt_pair pair = {};
	ssize_t ret;
	int i;

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, test->param_value);
	for (i = 0; i < VT_OPS; i++) {
		requests[i] = drain_request(test, false);
		ret = i % 2 ? fi_recv(pair.a.ep, buf, 5000, NULL, 0,
				      &requests[i]->done) :
			      fi_send(pair.a.ep, buf, 5000, NULL, 0,
				      &requests[i]->done);
		KUNIT_ASSERT_EQ(test, ret, 0);
	}

	KUNIT_ASSERT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);

	for (i = 0; i < VT_OPS; i++) {
		KUNIT_EXPECT_TRUE(test, READ_ONCE(requests[i]->returned));
		KUNIT_EXPECT_EQ(test, atomic_read(&requests[i]->calls), 1);
	}
	vt_close(test, &pair.a.ep->fid);
	for (i = 0; i < VT_OPS; i++)
		KUNIT_EXPECT_EQ(test, atomic_read(&requests[i]->calls), 1);
}

/* One receive, or send, whose callback waits until it may go on; each has a queue */
static struct drain_request *drain_open_slow(struct kunit *test, struct vt_pair *pair, bool send)
{
	static const struct vt_kind kind = {
		"worker", FI_WAIT_DONE, FI_COMP_WORKQUEUE,
	};
	struct drain_request *request = drain_request(test, true);

	vt_serve(test, AF_INET, NULL);
	pair->a.rx = vt_cq(test, &kind, 0);
	vt_join(test, pair, &kind);
	if (send)
		vt_send(test, &pair->a, vt_buf(test, 8), 8, &request->done);
	else
		vt_recv(test, &pair->a, vt_buf(test, 8), 8, &request->done);
	return request;
}

struct drain_side {
	const char	*name;
	bool		send;
};

static const struct drain_side drain_sides[] = {
	{ "receive", false },
	{ "send", true },
};

KUNIT_ARRAY_PARAM_DESC(drain_side, drain_sides, name);

static void patience_ends_and_the_drain_goes_on(struct kunit *test)
{
	const struct drain_side *side = test->param_value;
	struct drain_request *request;
	struct vt_pair pair = {};

	request = drain_open_slow(test, &pair, side->send);

	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, 0), -ETIMEDOUT);
	drain_expect_shut(test, &pair.a);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, VT_SLOW_MS), -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(request->returned));

	complete(&request->go);
	KUNIT_EXPECT_EQ(test, vt_ep_drain(pair.a.ep), 0);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(request->returned));
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, 0), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&request->calls), 1);
}

struct drain_thread {
	struct fid_ep		*ep;
	struct drain_request	*request;
	struct completion	ready;
	struct completion	over;
	unsigned long		posted;
	ssize_t			ret;
	u8			out[8];
	u8			in[8];
};

static struct drain_thread *drain_thread(struct kunit *test, struct fid_ep *ep,
					 int (*fn)(void *context), struct drain_request *request)
{
	struct drain_thread *thread = vt_buf(test, sizeof(*thread));

	thread->ep = ep;
	thread->request = request;
	init_completion(&thread->ready);
	init_completion(&thread->over);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(fn, thread, "drain_test")));
	return thread;
}

static void drain_join(struct kunit *test, struct completion *done)
{
	KUNIT_ASSERT_TRUE(test, vt_completed(done));
}

static int drain_let_go(void *context)
{
	struct drain_thread *thread = context;

	msleep(VT_SLOW_MS);
	complete(&thread->request->go);
	complete(&thread->over);
	return 0;
}

static void a_close_waits_for_the_drain(struct kunit *test)
{
	struct drain_request *request;
	struct drain_thread *thread;
	struct vt_pair pair = {};

	request = drain_open_slow(test, &pair, false);
	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, 0), -ETIMEDOUT);
	drain_join(test, &request->begun);
	thread = drain_thread(test, NULL, drain_let_go, request);

	vt_close(test, &pair.a.ep->fid);

	KUNIT_EXPECT_TRUE(test, READ_ONCE(request->returned));
	KUNIT_EXPECT_EQ(test, atomic_read(&request->calls), 1);
	drain_join(test, &thread->over);
}

static int drain_too(void *context)
{
	struct drain_thread *thread = context;

	complete(&thread->ready);
	thread->ret = fi_ep_drain(thread->ep, -1);
	/* Nothing may have been let through early */
	thread->posted = READ_ONCE(thread->request->returned);
	complete(&thread->over);
	return 0;
}

static void threads_drain_at_the_same_time(struct kunit *test)
{
	struct drain_thread *threads[VT_THREADS];
	struct drain_request *request;
	struct vt_pair pair = {};
	int i;

	request = drain_open_slow(test, &pair, false);
	for (i = 0; i < VT_THREADS; i++) {
		threads[i] = drain_thread(test, pair.a.ep, drain_too, request);
		drain_join(test, &threads[i]->ready);
	}
	drain_join(test, &request->begun);
	complete(&request->go);
	for (i = 0; i < VT_THREADS; i++) {
		drain_join(test, &threads[i]->over);
		KUNIT_EXPECT_EQ(test, threads[i]->ret, 0);
		KUNIT_EXPECT_TRUE(test, threads[i]->posted);
	}
}

/* Whatever a full queue says, this goes on until the endpoint takes no more */
static int drain_poster(void *context)
{
	struct drain_thread *thread = context;
	struct kvec iov = { thread->out, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	bool send = true;

	do {
		/* What waits for the doorbell is posted, too */
		thread->ret = send ? fi_sendmsg(thread->ep, &msg, FI_MORE |
						FI_COMPLETION) :
				     fi_recv(thread->ep, thread->in, 8, NULL,
					     0, NULL);
		if (!thread->ret && !thread->posted++)
			complete(&thread->request->begun);
		send = !send;
		cond_resched();
	} while (!thread->ret || thread->ret == -EAGAIN);
	complete(&thread->over);
	return 0;
}

static void posters_turn_away_and_nothing_of_theirs_is_lost(struct kunit *test)
{
	struct drain_request *first = drain_request(test, false);
	struct drain_thread *threads[VT_THREADS];
	unsigned long posted = 0;
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	int i;

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, test->param_value);
	for (i = 0; i < VT_OPS; i++)
		vt_recv(test, &pair.b, buf, 8, NULL);
	for (i = 0; i < VT_THREADS; i++)
		threads[i] = drain_thread(test, pair.a.ep, drain_poster, first);
	/* One of them may take all the places */
	drain_join(test, &first->begun);

	KUNIT_EXPECT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);

	for (i = 0; i < VT_THREADS; i++) {
		drain_join(test, &threads[i]->over);
		KUNIT_EXPECT_EQ(test, threads[i]->ret, -ESHUTDOWN);
		posted += threads[i]->posted;
	}
	KUNIT_EXPECT_GT(test, posted, 0);
	KUNIT_EXPECT_EQ(test, drain_read(test, pair.a.tx, NULL), posted);
	vt_none(test, pair.a.tx);
}

static void what_waits_for_the_doorbell_completes(struct kunit *test)
{
	struct kvec iov = { vt_buf(test, 8), 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct vt_pair pair = {};
	unsigned long seen = 0, nr;

	vt_serve_pair(test, NULL, &pair);
	for (nr = 1; nr <= 3; nr++) {
		msg.context = vt_ctx(nr);
		KUNIT_ASSERT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_MORE | FI_COMPLETION), 0);
	}

	KUNIT_ASSERT_EQ(test, fi_ep_drain(pair.a.ep, -1), 0);

	KUNIT_EXPECT_EQ(test, drain_read(test, pair.a.tx, &seen), 3);
	KUNIT_EXPECT_EQ(test, seen, GENMASK(3, 1));
}

/* Several rounds each, and hardly any of them can be over */
static void a_move_ends_once(struct kunit *test)
{
	struct vt_far far = { .rw_ops = 4 };
	struct rw_mem *mem = rw_mem(test, VT_LONG);
	unsigned long seen = 0, nr;

	vt_far_open(test, &far, VT_LONG);
	for (nr = 1; nr <= far.rw_ops; nr++)
		KUNIT_ASSERT_EQ(test, rw_post(&far, nr % 2, mem->sgt.sgl, mem->sgt.nents, 0,
					      VT_LONG, 0, vt_ctx(nr), FI_COMPLETION), 0);

	KUNIT_ASSERT_EQ(test, fi_ep_drain(far.pair.a.ep, -1), 0);

	KUNIT_EXPECT_EQ(test, drain_read(test, far.pair.a.tx, &seen), far.rw_ops);
	KUNIT_EXPECT_EQ(test, seen, GENMASK(far.rw_ops, 1));
	KUNIT_EXPECT_EQ(test, rw_post(&far, true, mem->sgt.sgl, mem->sgt.nents, 0, VT_LONG, 0, NULL,
				      0), -ESHUTDOWN);
	vt_none(test, far.pair.a.tx);
}

static void counters_have_counted_all(struct kunit *test)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct vt_far far = { .cntr_dirs = FI_WRITE };
	u8 *buf = vt_buf(test, SZ_4K);
	unsigned long nr;

	vt_far_serve(test, &far);
	KUNIT_ASSERT_EQ(test, fi_cntr_open(vt_of(test)->domain, &attr, &far.cntr, NULL), 0);
	vt_adopt(test, &far.cntr->fid);
	vt_far_join(test, &far, SZ_4K);
	for (nr = 1; nr <= VT_OPS; nr++)
		KUNIT_ASSERT_EQ(test, fi_write(far.pair.a.ep, buf, SZ_4K, NULL, 0,
					       vt_far_addr(&far), fi_mr_key(far.mr), vt_ctx(nr)),
				0);

	KUNIT_ASSERT_EQ(test, fi_ep_drain(far.pair.a.ep, -1), 0);

	KUNIT_EXPECT_EQ(test, fi_cntr_read(far.cntr) + fi_cntr_readerr(far.cntr), VT_OPS);
	drain_expect_all(test, far.pair.a.tx);
}

/* Also the receives that would have been its share */
static void shared_receives_stay_with_the_others(struct kunit *test)
{
	struct srx_set set = {};
	struct vt_cq *rx;
	int nr;

	srx_serve(test, &set);
	srx_post_all(test, &set);
	srx_join(test, &set, 0, &vt_default_kind);
	srx_join(test, &set, 1, &vt_default_kind);
	srx_send(test, &set, 0, 1);
	rx = set.pairs[0].b.rx;

	KUNIT_ASSERT_EQ(test, fi_ep_drain(set.pairs[0].b.ep, -1), 0);

	/* The message was there */
	KUNIT_EXPECT_EQ(test, drain_read(test, rx, NULL), 1);
	for (nr = 1; nr < SRX_DEPTH; nr++) {
		srx_send(test, &set, 1, nr);
		srx_arrived(test, &set, set.pairs[1].b.rx, nr);
	}
	KUNIT_EXPECT_EQ(test, srx_post_rest(test, &set), SRX_DEPTH);
	vt_close(test, &set.pairs[0].b.ep->fid);
}

static struct kunit_case ep_drain_cases[] = {
	KUNIT_CASE_PARAM(everything_posted_has_completed, vt_drain_kind_gen_params),
	KUNIT_CASE_PARAM(a_drained_endpoint_closes_with_completions_unread,
			 vt_drain_kind_gen_params),
	KUNIT_CASE(a_drain_tells_the_client_nothing_before_a_connection),
	KUNIT_CASE(a_drain_ends_the_attempt_to_connect),
	KUNIT_CASE_PARAM(every_callback_has_returned, vt_called_kind_gen_params),
	KUNIT_CASE_PARAM(patience_ends_and_the_drain_goes_on, drain_side_gen_params),
	KUNIT_CASE(a_close_waits_for_the_drain),
	KUNIT_CASE(threads_drain_at_the_same_time),
	KUNIT_CASE_PARAM(posters_turn_away_and_nothing_of_theirs_is_lost, vt_drain_kind_gen_params),
	KUNIT_CASE(what_waits_for_the_doorbell_completes),
	KUNIT_CASE(a_move_ends_once),
	KUNIT_CASE(counters_have_counted_all),
	KUNIT_CASE(shared_receives_stay_with_the_others),
	{}
};

struct kunit_suite kofi_verbs_ep_drain_suite = {
	.name		= "kofi_verbs_ep_drain",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= ep_drain_cases,
};
