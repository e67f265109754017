// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: every kind with every format, waiting, signals, and sharing.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include "verbs.h"

static const struct vt_kind vt_kinds[] = {
	{ "polled", FI_WAIT_NONE },
	{ "sread", FI_WAIT_UNSPEC, FI_COMP_SOFTIRQ },
	{ "sread, filled by a worker", FI_WAIT_UNSPEC, FI_COMP_WORKQUEUE },
	{ "softirq handler", FI_WAIT_CALLBACK, FI_COMP_SOFTIRQ },
	{ "worker handler", FI_WAIT_CALLBACK, FI_COMP_WORKQUEUE },
};

KUNIT_ARRAY_PARAM_DESC(vt_kind, vt_kinds, name);

static void check_entry(struct kunit *test, const struct vt_kind *kind,
			const struct vt_comp *comp, u64 flags, size_t len,
			void *buf, u64 data)
{
	bool msg = kind->format >= FI_CQ_FORMAT_MSG;
	bool all = kind->format >= FI_CQ_FORMAT_DATA;

	KUNIT_EXPECT_EQ(test, comp->flags, msg ? flags : 0);
	KUNIT_EXPECT_EQ(test, comp->len, msg ? len : 0);
	KUNIT_EXPECT_PTR_EQ(test, comp->buf, all ? buf : NULL);
	KUNIT_EXPECT_EQ(test, comp->data, all ? data : 0);
}

static void echo(struct kunit *test, struct vt_end *from, struct vt_end *to,
		 const struct vt_kind *kind)
{
	u8 *out = vt_buf(test, 3000), *in = vt_buf(test, 3000);
	struct vt_comp comp;
	u64 data;

	vt_fill(out, 3000, 7);
	vt_recv(test, to, in, 3000, vt_ctx(1));
	data = vt_senddata(test, from, out, 2999, 77, vt_ctx(2));

	comp = vt_done(test, to->rx, vt_ctx(1));
	check_entry(test, kind, &comp,
		    FI_RECV | FI_MSG | (data ? FI_REMOTE_CQ_DATA : 0),
		    2999, in, data);
	comp = vt_done(test, from->tx, vt_ctx(2));
	if (kind->format >= FI_CQ_FORMAT_MSG)
		KUNIT_EXPECT_EQ(test, comp.flags, FI_SEND | FI_MSG);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, 2999, 7));
}

/* The kind of the parameter, as it will be for as long as the case lasts */
static const struct vt_kind *with_format(struct kunit *test,
					 enum fi_cq_format format)
{
	struct vt_kind *kind = vt_buf(test, sizeof(*kind));

	*kind = *(const struct vt_kind *)test->param_value;
	kind->format = format;
	return kind;
}

static void every_kind_of_queue_reports_every_format(struct kunit *test)
{
	const struct vt_kind *kind;
	enum fi_cq_format format;
	struct vt_pair pair = {};

	vt_serve(test, AF_INET, NULL);

	for (format = FI_CQ_FORMAT_CONTEXT; format <= FI_CQ_FORMAT_TAGGED;
	     format++) {
		kind = with_format(test, format);
		vt_join(test, &pair, kind);
		echo(test, &pair.a, &pair.b, kind);
		echo(test, &pair.b, &pair.a, kind);
		echo(test, &pair.a, &pair.b, kind);
		vt_none(test, pair.a.tx);
		vt_none(test, pair.b.tx);
		vt_pair_close(test, &pair);
	}
}

static void every_kind_of_queue_reports_errors(struct kunit *test)
{
	const struct vt_kind *kind = with_format(test, FI_CQ_FORMAT_DATA);
	struct vt_pair pair = {};
	struct vt_comp comp;

	vt_serve(test, AF_INET6, NULL);
	vt_join(test, &pair, kind);
	vt_recv(test, &pair.b, vt_buf(test, 8), 8, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);

	comp = vt_failed(test, pair.b.rx);

	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
	KUNIT_EXPECT_EQ(test, comp.flags, FI_RECV | FI_MSG);
}

static void the_default_format_is_context(struct kunit *test)
{
	struct fi_cq_attr attr = {};
	struct vt_kind kind = { "default", FI_WAIT_UNSPEC };
	void *entries[2] = { vt_ctx(7), vt_ctx(7) };
	struct vt_pair pair = {};

	vt_serve(test, AF_INET, NULL);
	pair.b.rx = vt_cq_new(test, vt_of(test)->domain, &attr, &kind);
	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, NULL, 0, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, NULL, 0, 0), 0);

	KUNIT_EXPECT_EQ(test, vt_cq_sread(pair.b.rx->cq, entries, 1, NULL), 1);
	KUNIT_EXPECT_PTR_EQ(test, entries[0], vt_ctx(1));
	KUNIT_EXPECT_PTR_EQ(test, entries[1], vt_ctx(7));
}

static void sread_gives_up_after_its_timeout(struct kunit *test)
{
	struct fi_cq_data_entry entry;
	unsigned long start;
	struct vt_cq *cq;

	vt_open(test, AF_INET, NULL);
	cq = vt_cq(test, &vt_default_kind, 0);

	start = jiffies;
	KUNIT_EXPECT_EQ(test, fi_cq_sread(cq->cq, &entry, 1, NULL, 100),
			-EAGAIN);
	KUNIT_EXPECT_GE(test, jiffies - start, msecs_to_jiffies(100));
	KUNIT_EXPECT_EQ(test, fi_cq_sread(cq->cq, &entry, 1, NULL, 0), -EAGAIN);
}

static void sread_of_nothing_does_not_stay(struct kunit *test)
{
	struct fi_cq_data_entry entry;
	struct vt_pair pair = {};

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, NULL, 0, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, NULL, 0, 0), 0);

	/* Returns when there is something, and leaves it there */
	KUNIT_EXPECT_EQ(test, fi_cq_sread(pair.b.rx->cq, &entry, 0, NULL, -1),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_cq_sread(pair.b.rx->cq, NULL, 0, NULL, -1),
			-EAGAIN);
	vt_done(test, pair.b.rx, vt_ctx(1));
}

static struct vt_cq *threshold_cq(struct kunit *test)
{
	struct fi_cq_attr attr = { .wait_cond = FI_CQ_COND_THRESHOLD };

	return vt_cq_new(test, vt_of(test)->domain, &attr, &vt_default_kind);
}

static void send_some(struct kunit *test, struct vt_pair *pair, u8 *buf,
		      int count)
{
	while (count--)
		KUNIT_ASSERT_EQ(test, fi_send(pair->a.ep, buf, 8, NULL, 0,
					      NULL), 0);
}

static void sread_waits_for_its_threshold(struct kunit *test)
{
	struct fi_cq_data_entry entries[8];
	u8 *buf = vt_buf(test, 16);
	struct vt_pair pair = {};
	size_t two = 2, threshold = 3;
	int i;

	vt_serve(test, AF_INET, NULL);
	pair.b.rx = threshold_cq(test);
	vt_join(test, &pair, &vt_default_kind);
	for (i = 0; i < 6; i++)
		vt_recv(test, &pair.b, buf, 8, vt_ctx(i));

	send_some(test, &pair, buf + 8, 2);
	/* Waits for them, and takes none */
	KUNIT_EXPECT_EQ(test, vt_cq_sread(pair.b.rx->cq, entries, 0, &two),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_cq_sread(pair.b.rx->cq, entries, 8, &threshold,
					  1000), 2);
	send_some(test, &pair, buf + 8, 3);
	KUNIT_EXPECT_EQ(test, vt_cq_sread(pair.b.rx->cq, entries, 8, &threshold),
			3);
	KUNIT_EXPECT_PTR_EQ(test, entries[2].op_context, vt_ctx(4));
	send_some(test, &pair, buf + 8, 1);
	KUNIT_EXPECT_EQ(test, vt_cq_sread(pair.b.rx->cq, entries, 8, NULL), 1);
}

static void an_error_ends_the_wait_for_a_threshold(struct kunit *test)
{
	struct fi_cq_data_entry entries[8];
	struct vt_pair pair = {};
	size_t threshold = 8;

	vt_serve(test, AF_INET, NULL);
	pair.b.rx = threshold_cq(test);
	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, vt_buf(test, 8), 8, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);

	KUNIT_EXPECT_EQ(test, vt_cq_sread(pair.b.rx->cq, entries, 8, &threshold),
			-FI_EAVAIL);
}

static void a_signal_ends_the_next_wait_and_only_that(struct kunit *test)
{
	struct fi_cq_data_entry entry;
	struct vt_cq *cq;

	vt_open(test, AF_INET, NULL);
	cq = vt_cq(test, &vt_default_kind, 0);
	KUNIT_ASSERT_EQ(test, fi_cq_signal(cq->cq), 0);

	KUNIT_EXPECT_EQ(test, fi_cq_sread(cq->cq, &entry, 1, NULL, -1),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_cq_sread(cq->cq, &entry, 1, NULL, 10),
			-EAGAIN);
}

struct vt_sleeper {
	struct vt_cq		*cq;
	struct completion	started;
	struct completion	done;
	ssize_t			ret;
};

static int sleep_in_sread(void *data)
{
	struct vt_sleeper *sleeper = data;
	struct fi_cq_data_entry entry;

	complete(&sleeper->started);
	sleeper->ret = fi_cq_sread(sleeper->cq->cq, &entry, 1, NULL, -1);
	complete(&sleeper->done);
	return 0;
}

static struct vt_sleeper *start_sleeper(struct kunit *test, struct vt_cq *cq)
{
	struct vt_sleeper *sleeper = vt_buf(test, sizeof(*sleeper));
	struct task_struct *task;

	sleeper->cq = cq;
	init_completion(&sleeper->started);
	init_completion(&sleeper->done);
	task = kthread_run(sleep_in_sread, sleeper, "vt_sleeper");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&sleeper->started);
	return sleeper;
}

static void a_signal_wakes_a_reader_that_sleeps_for_ever(struct kunit *test)
{
	struct vt_sleeper *sleeper;

	vt_open(test, AF_INET, NULL);
	sleeper = start_sleeper(test, vt_cq(test, &vt_default_kind, 0));

	KUNIT_EXPECT_EQ(test, fi_cq_signal(sleeper->cq->cq), 0);

	wait_for_completion(&sleeper->done);
	KUNIT_EXPECT_EQ(test, sleeper->ret, -EAGAIN);
}

static void a_completion_wakes_a_reader_that_sleeps_for_ever(struct kunit *test)
{
	u8 *buf = vt_buf(test, 8);
	struct vt_sleeper *sleeper;
	struct vt_pair pair = {};

	vt_serve(test, AF_INET, NULL);
	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, buf, 8, vt_ctx(1));
	sleeper = start_sleeper(test, pair.b.rx);

	/* Its completion or, if the message is lost, its cancellation */
	KUNIT_EXPECT_EQ(test, fi_inject(pair.a.ep, "x", 1, 0), 0);

	wait_for_completion(&sleeper->done);
	KUNIT_EXPECT_EQ(test, sleeper->ret, 1);
}

static void only_queues_to_sleep_on_can_be_slept_on(struct kunit *test)
{
	static const struct vt_kind polled = {
		"polled", FI_WAIT_NONE, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA
	};
	static const struct vt_kind handled = {
		"handled", FI_WAIT_CALLBACK, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA
	};
	struct fi_cq_data_entry entry;
	struct vt_cq *cq;

	vt_open(test, AF_INET, NULL);
	cq = vt_cq(test, &polled, 0);
	KUNIT_EXPECT_EQ(test, fi_cq_sread(cq->cq, &entry, 1, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cq_signal(cq->cq), -EINVAL);
	cq = vt_cq(test, &handled, 0);
	KUNIT_EXPECT_EQ(test, fi_cq_sread(cq->cq, &entry, 1, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cq_signal(cq->cq), -EINVAL);
}

static void one_queue_serves_two_endpoints_and_both_directions(struct kunit *test)
{
	struct vt_pair one = {}, two = {};
	u8 *buf = vt_buf(test, 64);
	int count[8] = {}, i;
	struct vt_comp comp;
	struct vt_cq *cq;

	vt_serve(test, AF_INET, NULL);
	cq = vt_cq(test, &vt_default_kind, 4 * (vt_of(test)->info->tx_attr->size +
		   vt_of(test)->info->rx_attr->size));
	one.a.tx = cq;
	one.b.tx = cq;
	two.a.tx = cq;
	two.b.tx = cq;
	vt_join(test, &one, &vt_default_kind);
	vt_join(test, &two, &vt_default_kind);

	vt_recv(test, &one.a, buf, 8, vt_ctx(0));
	vt_recv(test, &one.b, buf + 8, 8, vt_ctx(1));
	vt_recv(test, &two.a, buf + 16, 8, vt_ctx(2));
	vt_recv(test, &two.b, buf + 24, 8, vt_ctx(3));
	KUNIT_ASSERT_EQ(test, fi_send(one.a.ep, buf + 32, 8, NULL, 0,
				      vt_ctx(4)), 0);
	KUNIT_ASSERT_EQ(test, fi_send(one.b.ep, buf + 32, 8, NULL, 0,
				      vt_ctx(5)), 0);
	KUNIT_ASSERT_EQ(test, fi_send(two.a.ep, buf + 32, 8, NULL, 0,
				      vt_ctx(6)), 0);
	KUNIT_ASSERT_EQ(test, fi_send(two.b.ep, buf + 32, 8, NULL, 0,
				      vt_ctx(7)), 0);

	for (i = 0; i < 8; i++) {
		KUNIT_ASSERT_EQ(test, vt_wait(cq, &comp), 1);
		KUNIT_ASSERT_EQ(test, comp.err, 0);
		count[(unsigned long)comp.context]++;
	}
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, count[i], 1);
	vt_none(test, cq);
}

static void many_completions_are_read_at_once_in_order(struct kunit *test)
{
	struct fi_cq_data_entry entries[8] = {};
	fi_addr_t addrs[8] = {};
	u8 *buf = vt_buf(test, 16);
	struct vt_pair pair = {};
	size_t threshold = 5;
	int i;

	vt_serve(test, AF_INET, NULL);
	pair.b.rx = threshold_cq(test);
	vt_join(test, &pair, &vt_default_kind);
	for (i = 0; i < 5; i++)
		vt_recv(test, &pair.b, buf, 8, vt_ctx(i));
	send_some(test, &pair, buf + 8, 5);

	KUNIT_EXPECT_EQ(test, vt_cq_sreadfrom(pair.b.rx->cq, entries, 3, addrs,
					      &threshold), 3);
	KUNIT_EXPECT_EQ(test, fi_cq_readfrom(pair.b.rx->cq, entries + 3, 5,
					     addrs + 3), 2);
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_PTR_EQ(test, entries[i].op_context, vt_ctx(i));
		KUNIT_EXPECT_EQ(test, addrs[i], FI_ADDR_NOTAVAIL);
	}
	KUNIT_EXPECT_NULL(test, entries[5].op_context);
}

static void a_queue_knows_its_wait_object(struct kunit *test)
{
	enum fi_wait_obj obj = FI_WAIT_FD;
	struct vt_cq *cq;

	vt_open(test, AF_INET, NULL);
	cq = vt_cq(test, &vt_default_kind, 0);

	KUNIT_EXPECT_EQ(test, fi_control(&cq->cq->fid, FI_GETWAITOBJ, &obj), 0);
	KUNIT_EXPECT_EQ(test, obj, FI_WAIT_UNSPEC);
	KUNIT_EXPECT_EQ(test, fi_control(&cq->cq->fid, FI_GETWAITOBJ, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fi_control(&cq->cq->fid, FI_BACKLOG, &obj),
			-ENOSYS);
}

static void a_queue_may_ask_for_a_completion_vector(struct kunit *test)
{
	struct fi_cq_attr attr = {
		.flags			= FI_AFFINITY,
		.signaling_vector	= 12345,
	};
	struct vt_pair pair = {};

	vt_serve(test, AF_INET, NULL);
	pair.a.tx = vt_cq_new(test, vt_of(test)->domain, &attr,
			      &vt_default_kind);
	vt_join(test, &pair, &vt_default_kind);

	vt_ping(test, &pair.a, &pair.b);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE_PARAM(every_kind_of_queue_reports_every_format,
			 vt_kind_gen_params),
	KUNIT_CASE_PARAM(every_kind_of_queue_reports_errors,
			 vt_kind_gen_params),
	KUNIT_CASE(the_default_format_is_context),
	KUNIT_CASE(sread_gives_up_after_its_timeout),
	KUNIT_CASE(sread_of_nothing_does_not_stay),
	KUNIT_CASE(sread_waits_for_its_threshold),
	KUNIT_CASE(an_error_ends_the_wait_for_a_threshold),
	KUNIT_CASE(a_signal_ends_the_next_wait_and_only_that),
	KUNIT_CASE(a_signal_wakes_a_reader_that_sleeps_for_ever),
	KUNIT_CASE(a_completion_wakes_a_reader_that_sleeps_for_ever),
	KUNIT_CASE(only_queues_to_sleep_on_can_be_slept_on),
	KUNIT_CASE(one_queue_serves_two_endpoints_and_both_directions),
	KUNIT_CASE(many_completions_are_read_at_once_in_order),
	KUNIT_CASE(a_queue_knows_its_wait_object),
	KUNIT_CASE(a_queue_may_ask_for_a_completion_vector),
	{}
};

struct kunit_suite kofi_verbs_cq_suite = {
	.name		= "kofi_verbs_cq",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= cq_cases,
};
