// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Counters of endpoints on a device: what an operation is for its queue, what is not counted, and
 * failures.  What each direction counts is in kunit/conformance/cntr.c.
 *
 * A count that is too high shows at the end: nothing is counted any more when the
 * endpoint has been closed.
 */
#include <rdma/fi_rma.h>
#include "verbs.h"

#define NR_OPS	3

static const struct vt_kind polled_kind = {
	.name		= "polled",
	.wait_obj	= FI_WAIT_NONE,
	.format		= FI_CQ_FORMAT_DATA,
};

static struct fid_cntr *open_cntr(struct kunit *test, enum fi_cntr_events events,
				  enum fi_wait_obj wait_obj)
{
	struct fi_cntr_attr attr = { .events = events, .wait_obj = wait_obj };
	struct fid_cntr *cntr;

	KUNIT_ASSERT_EQ(test, fi_cntr_open(vt_of(test)->domain, &attr, &cntr, NULL), 0);
	vt_adopt(test, &cntr->fid);
	return cntr;
}

static struct tb_cntr sleepy(struct kunit *test, u64 dirs)
{
	return (struct tb_cntr) {
		open_cntr(test, FI_CNTR_EVENTS_COMP, FI_WAIT_UNSPEC), dirs,
	};
}

static struct tb_cntr bytes(struct kunit *test, u64 dirs)
{
	return (struct tb_cntr) {
		open_cntr(test, FI_CNTR_EVENTS_BYTES, FI_WAIT_UNSPEC), dirs,
	};
}

static int wait_for(struct vt_end *end, u64 threshold)
{
	return vt_cntr_wait(end->cntrs[0].cntr, threshold);
}

/* A case that may use remote memory */
static void serve(struct kunit *test)
{
	struct fi_info *hints = vt_rma_hints(test);

	vt_serve(test, AF_INET, hints);
}

static void post_recvs(struct kunit *test, struct vt_end *end, int count)
{
	u8 *buf = vt_buf(test, 128);

	while (count--)
		vt_recv(test, end, buf, 128, vt_ctx(count));
}

/* fi_recv() at one end, 100 bytes from the other, NR_OPS times */
static void send_some(struct kunit *test, struct vt_end *from, struct vt_end *to)
{
	u8 *buf = vt_buf(test, 100);
	int i;

	post_recvs(test, to, NR_OPS);
	for (i = 0; i < NR_OPS; i++)
		vt_send(test, from, buf, 100, vt_ctx(i));
}

/* Memory of the other end for fi_write() and fi_read() */
static struct fid_mr *expose(struct kunit *test, void *buf, size_t len)
{
	struct fid_mr *mr;

	mr = vt_reg(test, buf, len, FI_REMOTE_READ | FI_REMOTE_WRITE);
	return mr;
}

/* What the counter of an endpoint has when it has been closed */
static void expect_after_close(struct kunit *test, struct vt_end *end, u64 value, u64 errors)
{
	vt_close(test, &end->ep->fid);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(end->cntrs[0].cntr), value);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(end->cntrs[0].cntr), errors);
}

static void operation_that_is_counted_is_in_its_queue(struct kunit *test)
{
	u8 *in = vt_buf(test, 8), *out = vt_buf(test, 8);
	struct fi_cq_data_entry entry;
	struct vt_pair pair = {};
	int i;

	serve(test);
	pair.b.cntrs[0] = sleepy(test, FI_RECV);
	vt_join(test, &pair, &vt_default_kind);

	for (i = 1; i <= 20; i++) {
		vt_recv(test, &pair.b, in, 8, vt_ctx(i));
		KUNIT_ASSERT_EQ(test, fi_inject(pair.a.ep, out, 8, 0), 0);
		KUNIT_ASSERT_EQ(test, wait_for(&pair.b, i), 0);
		KUNIT_EXPECT_EQ(test, fi_cq_read(pair.b.rx->cq, &entry, 1), 1);
	}
}

static void queue_full_of_silent_sends_comes_free(struct kunit *test)
{
	struct vt_pair pair = { .a.bind_flags = FI_SELECTIVE_COMPLETION };
	u8 *buf = vt_buf(test, 8);
	size_t depth, i;
	int round;

	serve(test);
	pair.a.cntrs[0] = sleepy(test, FI_SEND);
	vt_join(test, &pair, &vt_default_kind);
	depth = pair.a.info->tx_attr->size;
	KUNIT_ASSERT_LE(test, depth, pair.b.info->rx_attr->size);

	for (round = 1; round <= 2; round++) {
		post_recvs(test, &pair.b, depth);
		for (i = 0; i < depth; i++)
			vt_send(test, &pair.a, buf, 8, NULL);
		KUNIT_ASSERT_EQ(test, wait_for(&pair.a, round * depth), 0);
		for (i = 0; i < depth; i++)
			vt_done(test, pair.b.rx, vt_ctx(depth - 1 - i));
	}
}

/* Where a write that the peer refuses is done (iWARP), a read is the error */
static void refused_access_is_an_error(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64), *there = vt_buf(test, 64);
	struct vt_pair pair = {};
	struct fid_mr *mr;

	serve(test);
	pair.a.cntrs[0] = bytes(test, vt_is_iwarp(test) ? FI_READ : FI_WRITE);
	vt_join(test, &pair, &vt_default_kind);
	mr = expose(test, there, 32);
	if (vt_is_iwarp(test))
		KUNIT_ASSERT_EQ(test, fi_read(pair.a.ep, buf, 64, NULL, 0, (uintptr_t)there,
					      fi_mr_key(mr), NULL), 0);
	else
		KUNIT_ASSERT_EQ(test, fi_write(pair.a.ep, buf, 64, NULL, 0, (uintptr_t)there,
					       fi_mr_key(mr), NULL), 0);

	KUNIT_EXPECT_EQ(test, wait_for(&pair.a, 1), -FI_EAVAIL);
	expect_after_close(test, &pair.a, 0, 1);
}

/* It takes a receive, but it is not a message */
static void write_with_data_is_not_a_receive(struct kunit *test)
{
	u8 *buf = vt_buf(test, 64), *there = vt_buf(test, 64);
	struct vt_pair pair = {};
	struct vt_comp comp;
	struct fid_mr *mr;

	serve(test);
	pair.b.cntrs[0] = sleepy(test, FI_RECV);
	vt_join(test, &pair, &vt_default_kind);
	mr = expose(test, there, 64);
	post_recvs(test, &pair.b, 1);
	KUNIT_ASSERT_EQ(test, fi_writedata(pair.a.ep, buf, 64, NULL, 7, 0, (uintptr_t)there,
					   fi_mr_key(mr), NULL), vt_has_data(test) ? 0 : -ENOSYS);
	if (!vt_has_data(test)) {
		/* The receive is still there, and cancelled */
		expect_after_close(test, &pair.b, 0, 1);
		return;
	}

	KUNIT_ASSERT_EQ(test, vt_wait(pair.b.rx, &comp), 1);
	KUNIT_EXPECT_EQ(test, comp.err, 0);
	KUNIT_EXPECT_EQ(test, comp.data, 7);
	expect_after_close(test, &pair.b, 0, 0);
}

static void polled_queue_moves_its_counter(struct kunit *test)
{
	struct vt_pair pair = {};
	int i;

	serve(test);
	pair.a.cntrs[0].cntr = open_cntr(test, FI_CNTR_EVENTS_COMP, FI_WAIT_NONE);
	pair.a.cntrs[0].flags = FI_SEND;
	pair.a.tx = vt_cq(test, &polled_kind, 0);
	vt_join(test, &pair, &vt_default_kind);
	send_some(test, &pair.a, &pair.b);

	for (i = 0; i < NR_OPS; i++)
		vt_done(test, pair.a.tx, vt_ctx(i));
	KUNIT_EXPECT_EQ(test, fi_cntr_wait(pair.a.cntrs[0].cntr, 1, 0), -EINVAL);
	expect_after_close(test, &pair.a, NR_OPS, 0);
}

static void a_counter_needs_a_queue_to_wait_on(struct kunit *test)
{
	struct fid_cntr *cntr;
	struct fid_eq *eq;
	struct fid_ep *ep;
	struct vt_cq *cq;

	serve(test);
	cntr = open_cntr(test, FI_CNTR_EVENTS_COMP, FI_WAIT_UNSPEC);
	eq = vt_eq(test, 0);
	cq = vt_cq(test, &polled_kind, 0);
	ep = vt_ep(test, vt_of(test)->info);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &cntr->fid, FI_SEND | FI_RECV), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(ep), -FI_ENOCQ);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &cq->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(ep), -EINVAL);
}

static void what_cannot_be_counted_is_refused(struct kunit *test)
{
	struct vt_end end = {};
	struct fid_cntr *cntr;
	struct fid_ep *ep;

	serve(test);
	cntr = open_cntr(test, FI_CNTR_EVENTS_COMP, FI_WAIT_UNSPEC);
	vt_client(test, &end, &vt_default_kind);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(end.ep, &cntr->fid, FI_SEND), -FI_EOPBADSTATE);
	ep = vt_ep(test, vt_of(test)->info);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &cntr->fid, FI_REMOTE_READ), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &cntr->fid, FI_WRITE | FI_REMOTE_WRITE), -ENOSYS);
	/* So it is not bound to anything */
	vt_close(test, &cntr->fid);
	KUNIT_EXPECT_GE(test, vt_of(test)->info->domain_attr->cntr_cnt, 4);
}

static struct kunit_case vt_cntr_cases[] = {
	KUNIT_CASE(operation_that_is_counted_is_in_its_queue),
	KUNIT_CASE(queue_full_of_silent_sends_comes_free),
	KUNIT_CASE(refused_access_is_an_error),
	KUNIT_CASE(write_with_data_is_not_a_receive),
	KUNIT_CASE(polled_queue_moves_its_counter),
	KUNIT_CASE(a_counter_needs_a_queue_to_wait_on),
	KUNIT_CASE(what_cannot_be_counted_is_refused),
	{}
};

struct kunit_suite kofi_verbs_cntr_suite = {
	.name = "kofi_verbs_cntr",
	.init = vt_init,
	.exit = vt_exit,
	.test_cases = vt_cntr_cases,
};
