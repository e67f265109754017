// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: every kind of waiting and every format, thresholds, signals,
 * callbacks of operations, what is refused.
 */
#include <linux/ktime.h>
#include <linux/preempt.h>
#include "conformance.h"

static const struct vt_kind kinds[] = {
	{ "polled", FI_WAIT_NONE, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA },
	{ "sread", FI_WAIT_UNSPEC, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA },
	{ "sread, filled by a worker", FI_WAIT_UNSPEC, FI_COMP_WORKQUEUE, FI_CQ_FORMAT_DATA },
	{ "handler", FI_WAIT_CALLBACK, FI_COMP_SOFTIRQ, FI_CQ_FORMAT_DATA },
	{ "handler in a worker", FI_WAIT_CALLBACK, FI_COMP_WORKQUEUE, FI_CQ_FORMAT_DATA },
};

/* A message with remote CQ data, if there are any; the receiver's queue has this format */
static void send_one(struct kunit *test, struct vt_end *from, struct vt_end *to,
		     enum fi_cq_format format)
{
	u8 *out = vt_buf(test, 64), *in = vt_buf(test, 64);
	u64 flags = FI_MSG | FI_RECV, data = conf_data(test);
	const struct vt_xfer x = {
		.buf = out, .len = 60, .data = data, .context = vt_ctx(2),
	};
	struct vt_comp comp;

	vt_fill(out, 64, 7);
	vt_recv(test, to, in, 64, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, vt_post_flags(from->ep, data ? VT_SENDDATA : VT_SEND, &x, 0), 0);
	if (data)
		flags |= FI_REMOTE_CQ_DATA;
	comp = vt_done(test, to->rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.flags, format >= FI_CQ_FORMAT_MSG ? flags : 0);
	KUNIT_EXPECT_EQ(test, comp.len, format >= FI_CQ_FORMAT_MSG ? 60 : 0);
	KUNIT_EXPECT_EQ(test, comp.data, format >= FI_CQ_FORMAT_DATA ? data : 0);
	KUNIT_EXPECT_TRUE(test, vt_filled(in, 60, 7));
	comp = vt_done(test, from->tx, vt_ctx(2));
	if (from->tx->kind->format >= FI_CQ_FORMAT_MSG)
		KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_SEND);
	kunit_kfree(test, in);
	kunit_kfree(test, out);
}

static void exchange(struct kunit *test, struct vt_pair *pair)
{
	int i;

	for (i = 0; i < 2; i++) {
		send_one(test, &pair->a, &pair->b, pair->b.rx->kind->format);
		send_one(test, &pair->b, &pair->a, pair->a.rx->kind->format);
	}
	vt_none(test, pair->a.tx);
	vt_none(test, pair->b.rx);
}

static void every_wait_object_works_with_every_format(struct kunit *test)
{
	enum fi_cq_format format;
	struct vt_pair pair = {};
	struct vt_kind kind;
	size_t i;

	conf_serve(test);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		for (format = FI_CQ_FORMAT_CONTEXT; format <= FI_CQ_FORMAT_TAGGED; format++) {
			kind = kinds[i];
			kind.format = format;
			vt_join(test, &pair, &kind);
			exchange(test, &pair);
			vt_pair_close(test, &pair);
		}
}

static void every_wait_object_reports_errors(struct kunit *test)
{
	u8 *buf = vt_buf(test, 8);
	struct vt_pair pair = {};
	struct vt_comp comp;
	size_t i;

	if (!conf_serve_msg(test))
		return;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		vt_join(test, &pair, &kinds[i]);
		vt_recv(test, &pair.b, buf, 8, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
		comp = vt_failed(test, pair.b.rx);
		KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
		KUNIT_EXPECT_EQ(test, comp.err, ECANCELED);
		KUNIT_EXPECT_EQ(test, comp.flags, FI_MSG | FI_RECV);
		vt_pair_close(test, &pair);
	}
}

/* Long messages pass each other */
static void cross(struct kunit *test, struct vt_pair *pair, size_t len)
{
	struct vt_end *ends[] = { &pair->a, &pair->b };
	u8 *out[2], *in[2];
	int i;

	for (i = 0; i < 2; i++) {
		out[i] = vt_buf(test, len);
		in[i] = vt_buf(test, len);
		vt_fill(out[i], len, i);
		vt_recv(test, ends[i], in[i], len, vt_ctx(i));
	}
	for (i = 0; i < 2; i++)
		vt_send(test, ends[i], out[i], len, vt_ctx(2 + i));
	for (i = 0; i < 2; i++) {
		vt_done(test, ends[i]->rx, vt_ctx(i));
		vt_done(test, ends[i]->tx, vt_ctx(2 + i));
		KUNIT_EXPECT_TRUE(test, vt_filled(in[i], len, !i));
	}
}

static void each_direction_may_have_its_own_queue(struct kunit *test)
{
	size_t size = vt_of(test)->info->rx_attr->size;
	struct vt_pair pair = {};

	conf_serve(test);
	pair.a.rx = vt_cq(test, &kinds[0], size);
	pair.b.rx = vt_cq(test, &kinds[3], size);
	vt_join(test, &pair, &kinds[1]);
	exchange(test, &pair);
	cross(test, &pair, 30000);
}

static void handlers_run_where_they_are_asked_to(struct kunit *test)
{
	struct vt_pair pair = {};
	size_t i;

	conf_serve(test);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].wait_obj != FI_WAIT_CALLBACK)
			continue;
		vt_join(test, &pair, &kinds[i]);
		exchange(test, &pair);
		KUNIT_EXPECT_GT(test, atomic_read(&pair.b.rx->calls), 0);
		KUNIT_EXPECT_EQ(test, pair.b.rx->in_task, kinds[i].comp_ctx == FI_COMP_WORKQUEUE);
		vt_pair_close(test, &pair);
	}
}

static void a_queue_says_how_it_is_waited_for(struct kunit *test)
{
	enum fi_wait_obj wait_obj;
	struct vt_cq *cq;
	size_t i;

	vt_open_info(test, vt_of(test)->info);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		cq = vt_cq(test, &kinds[i], 0);
		KUNIT_EXPECT_EQ(test, fi_control(&cq->cq->fid, FI_GETWAITOBJ, &wait_obj), 0);
		KUNIT_EXPECT_EQ(test, wait_obj, kinds[i].wait_obj);
		KUNIT_EXPECT_EQ(test, fi_control(&cq->cq->fid, FI_GETWAITOBJ, NULL), -EINVAL);
		KUNIT_EXPECT_EQ(test, fi_control(&cq->cq->fid, FI_BACKLOG, &wait_obj), -ENOSYS);
	}
}

static void a_queue_says_what_it_has_reported(struct kunit *test)
{
	struct fi_info *info = vt_of(test)->info;
	size_t size = info->tx_attr->size + info->rx_attr->size;
	u8 *buf = vt_buf(test, 8);
	struct vt_pair pair = {};
	struct fid *fid;
	int i;

	conf_serve(test);
	pair.b.tx = vt_cq(test, &vt_default_kind, 2 * size);
	vt_join(test, &pair, &vt_default_kind);
	fid = &pair.b.tx->cq->fid;
	for (i = 0; i < 3; i++) {
		vt_recv(test, &pair.b, buf, 8, vt_ctx(i));
		KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, buf, 8, 0), 0);
		vt_done(test, pair.b.rx, vt_ctx(i));
	}
	conf_says(test, fid, "size", 2 * size);
	conf_says(test, fid, "completed", 3);
	conf_says(test, fid, "failed", 0);
	conf_says(test, fid, "unread", 0);
	vt_recv(test, &pair.b, buf, 8, vt_ctx(4));
	if (fi_cancel(&pair.b.ep->fid, vt_ctx(4)))
		return;
	KUNIT_EXPECT_EQ(test, vt_failed(test, pair.b.rx).err, FI_ECANCELED);
	conf_says(test, fid, "completed", 4);
	conf_says(test, fid, "failed", 1);
	conf_says(test, fid, "unread", 0);
	conf_says(test, fid, "unread_errors", 0);
}

static void no_handler(struct fid_cq *cq, void *context)
{
}

static void other_queues_are_refused(struct kunit *test)
{
	static const struct {
		struct fi_cq_attr	attr;
		int			ret;
	} bad[] = {
		{ { .wait_obj = FI_WAIT_SET }, -ENOSYS },
		{ { .wait_obj = FI_WAIT_FD }, -ENOSYS },
		{ { .wait_obj = FI_WAIT_MUTEX_COND }, -ENOSYS },
		{ { .wait_obj = FI_WAIT_YIELD }, -ENOSYS },
		{ { .wait_obj = FI_WAIT_POLLFD }, -ENOSYS },
		{ { .wait_obj = 12345 }, -ENOSYS },
		{ { .wait_obj = FI_WAIT_CALLBACK }, -EINVAL },
		{ { .handler = no_handler }, -EINVAL },
		{ { .comp_ctx = FI_COMP_DIRECT + 1 }, -EINVAL },
		{ { .wait_cond = FI_CQ_COND_THRESHOLD }, -EINVAL },
		{ { .wait_obj = FI_WAIT_UNSPEC, .wait_cond = FI_CQ_COND_THRESHOLD + 1 }, -EINVAL },
		{ { .flags = FI_AFFINITY, .signaling_vector = -1 }, -EINVAL },
		{ { .flags = FI_WRITE }, -FI_EBADFLAGS },
		{ { .format = FI_CQ_FORMAT_TAGGED + 1 }, -EINVAL },
		{ { .flags = FI_PEEK }, -FI_EBADFLAGS },
	};
	struct fi_cq_attr attr;
	struct fid_cq *cq;
	size_t i;

	vt_open_info(test, vt_of(test)->info);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		attr = bad[i].attr;
		KUNIT_EXPECT_EQ_MSG(test, fi_cq_open(vt_of(test)->domain, &attr, &cq, NULL),
				    bad[i].ret, "attributes %zu", i);
	}
}

static void many_queues_of_many_sizes_open_and_close(struct kunit *test)
{
	size_t size;
	int i;

	vt_open_info(test, vt_of(test)->info);
	for (size = 1; size <= 1024; size *= 4)
		for (i = 0; i < 3; i++)
			vt_cq(test, &vt_default_kind, size);
}

static void an_empty_queue_has_nothing_to_read(struct kunit *test)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry;
	ktime_t begin;
	fi_addr_t addr;
	struct vt_cq *cq;
	size_t i;

	vt_open_info(test, vt_of(test)->info);
	cq = vt_cq(test, &vt_default_kind, 0);
	KUNIT_EXPECT_EQ(test, fi_cq_read(cq->cq, &entry, 1), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_cq_readfrom(cq->cq, &entry, 1, &addr), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(cq->cq, &error, 0), -EAGAIN);
	begin = ktime_get();
	KUNIT_EXPECT_EQ(test, fi_cq_sread(cq->cq, &entry, 1, NULL, 100), -EAGAIN);
	KUNIT_EXPECT_GE(test, ktime_ms_delta(ktime_get(), begin), 100);
	KUNIT_EXPECT_EQ(test, fi_cq_sread(cq->cq, &entry, 1, NULL, 0), -EAGAIN);
	KUNIT_EXPECT_NOT_NULL(test, fi_cq_strerror(cq->cq, 1, NULL, NULL, 0));

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].wait_obj == FI_WAIT_UNSPEC)
			continue;
		cq = vt_cq(test, &kinds[i], 0);
		KUNIT_EXPECT_EQ(test, fi_cq_sread(cq->cq, &entry, 1, NULL, 0), -EINVAL);
		KUNIT_EXPECT_EQ(test, fi_cq_signal(cq->cq), -EINVAL);
	}
}

static void a_signal_ends_one_wait(struct kunit *test)
{
	struct fi_cq_data_entry entry;
	struct vt_cq *cq;
	ktime_t begin;

	vt_open_info(test, vt_of(test)->info);
	cq = vt_cq(test, &vt_default_kind, 0);
	KUNIT_ASSERT_EQ(test, fi_cq_signal(cq->cq), 0);
	/* Without it this would never return */
	KUNIT_EXPECT_EQ(test, fi_cq_sread(cq->cq, &entry, 1, NULL, -1), -EAGAIN);
	begin = ktime_get();
	KUNIT_EXPECT_EQ(test, fi_cq_sread(cq->cq, &entry, 1, NULL, 10), -EAGAIN);
	KUNIT_EXPECT_GE(test, ktime_ms_delta(ktime_get(), begin), 10);
}

static void a_threshold_waits_for_so_many(struct kunit *test)
{
	struct fi_info *info = vt_of(test)->info;
	struct fi_cq_attr attr = {
		.size		= info->tx_attr->size + info->rx_attr->size,
		.wait_cond	= FI_CQ_COND_THRESHOLD,
	};
	struct fi_cq_data_entry entries[4];
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	size_t three = 3, four = 4;
	ktime_t begin, limit;
	ssize_t got;
	int i;

	conf_serve(test);
	pair.b.tx = vt_cq_new(test, vt_of(test)->domain, &attr, &vt_default_kind);
	vt_join(test, &pair, &vt_default_kind);
	for (i = 0; i < 3; i++) {
		vt_recv(test, &pair.b, buf, 8, vt_ctx(i));
		KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, buf, 0, 0), 0);
	}
	/* Without an entry to fill, a wait leaves everything there */
	KUNIT_EXPECT_EQ(test, vt_cq_sread(pair.b.rx->cq, NULL, 0, &three), -EAGAIN);
	KUNIT_EXPECT_EQ(test, vt_cq_sread(pair.b.rx->cq, entries, 4, &three), 3);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_PTR_EQ(test, entries[i].op_context, vt_ctx(i));
	vt_recv(test, &pair.b, buf, 8, vt_ctx(9));
	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, buf, 0, 0), 0);
	/*
	 * One is not enough to wake up for, but it is what there is in the end, if it
	 * has come by then.
	 */
	limit = ktime_add_ms(ktime_get(), VT_PATIENCE_MS);
	do {
		begin = ktime_get();
		got = fi_cq_sread(pair.b.rx->cq, entries, 4, &four, 50);
		KUNIT_EXPECT_GE(test, ktime_ms_delta(ktime_get(), begin), 50);
	} while (got == -EAGAIN && ktime_before(begin, limit));
	KUNIT_EXPECT_EQ(test, got, 1);
	vt_none(test, pair.b.rx);
}

/* Who sends is not known to a connected endpoint, or not asked for */
static void a_read_of_senders_knows_none_without_source(struct kunit *test)
{
	struct fi_cq_data_entry entry;
	struct vt_pair pair = {};
	u8 *buf = vt_buf(test, 8);
	fi_addr_t addr = 0;

	conf_join(test, &pair);
	if (conf_has(test, FI_SOURCE))
		return;
	vt_recv(test, &pair.b, buf, 8, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, buf, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, vt_cq_sreadfrom(pair.b.rx->cq, &entry, 1, &addr, NULL), 1);
	KUNIT_EXPECT_EQ(test, addr, FI_ADDR_NOTAVAIL);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE_PARAM(every_wait_object_works_with_every_format, conf_gen_params),
	KUNIT_CASE_PARAM(every_wait_object_reports_errors, conf_gen_msg),
	KUNIT_CASE_PARAM(each_direction_may_have_its_own_queue, conf_gen_params),
	KUNIT_CASE_PARAM(handlers_run_where_they_are_asked_to, conf_gen_params),
	KUNIT_CASE_PARAM(a_queue_says_how_it_is_waited_for, conf_gen_params),
	KUNIT_CASE_PARAM(a_queue_says_what_it_has_reported, conf_gen_params),
	KUNIT_CASE_PARAM(other_queues_are_refused, conf_gen_params),
	KUNIT_CASE_PARAM(many_queues_of_many_sizes_open_and_close, conf_gen_params),
	KUNIT_CASE_PARAM(an_empty_queue_has_nothing_to_read, conf_gen_params),
	KUNIT_CASE_PARAM(a_signal_ends_one_wait, conf_gen_params),
	KUNIT_CASE_PARAM(a_threshold_waits_for_so_many, conf_gen_params),
	KUNIT_CASE_PARAM(a_read_of_senders_knows_none_without_source, conf_gen_params),
	{}
};

struct kunit_suite conf_cq_suite = {
	.name		= "kofi_conformance_cq",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= cq_cases,
};
