// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_hook_trace: each call and each completion is an event, whatever the call and
 * the kind of queue.
 */
#include <linux/bvec.h>
#include <linux/scatterlist.h>
#include <rdma/fi_rma.h>
#include "../lib/calls.h"
#include "bed.h"

#define LEN	64

static void a_send_and_its_completion_are_traced(struct kunit *test)
{
	struct vt_pair pair = {};
	struct bed_trace *trace;
	u8 *buf = vt_buf(test, LEN);

	bed_open(test, BED_TRACE, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	trace = bed_trace_begin(test);
	vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, trace->op, FI_OP_RECV);
	KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, vt_ctx(2)), 0);
	KUNIT_EXPECT_EQ(test, trace->op, FI_OP_SEND);
	KUNIT_EXPECT_EQ(test, trace->call_len, LEN);
	KUNIT_EXPECT_PTR_EQ(test, trace->context, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, trace->ret, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->calls), 2);
	vt_done(test, pair.a.tx, vt_ctx(2));
	vt_done(test, pair.b.rx, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->done), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->errors), 0);
}

static void a_refused_call_is_traced_with_its_answer(struct kunit *test)
{
	struct vt_end end = {};
	struct bed_trace *trace;
	u8 byte = 0;

	bed_open(test, BED_TRACE, FI_MSG);
	vt_client(test, &end, &vt_default_kind);
	trace = bed_trace_begin(test);
	KUNIT_EXPECT_EQ(test, fi_inject(end.ep, &byte, 1, 0), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, trace->op, KOFI_HOOK_INJECT);
	KUNIT_EXPECT_EQ(test, trace->ret, -ENOTCONN);
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->calls), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->done), 0);
}

/* Whatever it is answered: the endpoint is not connected, and some are not there */
static void each_call_is_traced_once(struct kunit *test)
{
	static const struct vt_call *const tables[] = { vt_sends, vt_recvs, vt_reads, vt_writes };
	const struct vt_xfer x = { .buf = vt_buf(test, LEN), .len = 8, .key = 1 };
	const struct vt_call *call;
	struct vt_end end = {};
	struct bed_trace *trace;
	ssize_t ret;
	int i, n = 0;

	bed_open(test, BED_TRACE, FI_MSG | FI_RMA);
	vt_client(test, &end, &vt_default_kind);
	trace = bed_trace_begin(test);
	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		for (call = tables[i]; call->name; call++) {
			ret = vt_post(end.ep, call, &x);
			KUNIT_EXPECT_EQ_MSG(test, atomic_read(&trace->calls), ++n, "%s",
					    call->name);
			KUNIT_EXPECT_EQ_MSG(test, trace->ret, ret, "%s", call->name);
			n = atomic_read(&trace->calls);
		}
	}
}

static void what_is_flushed_is_traced_as_an_error(struct kunit *test)
{
	struct vt_pair pair = {};
	struct bed_trace *trace;

	bed_open(test, BED_TRACE, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	trace = bed_trace_begin(test);
	vt_recv(test, &pair.a, vt_buf(test, LEN), LEN, vt_ctx(1));
	KUNIT_ASSERT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	KUNIT_EXPECT_EQ(test, vt_failed(test, pair.a.rx).err, ECANCELED);
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->errors), 1);
	KUNIT_EXPECT_EQ(test, trace->comp.err, ECANCELED);
	KUNIT_EXPECT_PTR_EQ(test, trace->cq, &pair.a.rx->cq->fid);
}

static const struct list_case {
	const char		*name;
	enum fi_buf_type	type;
} list_cases[] = {
	{ "kvec", FI_BUF_KVEC },
	{ "bvec", FI_BUF_BVEC },
	{ "sgl", FI_BUF_SGL },
};

KUNIT_ARRAY_PARAM_DESC(list, list_cases, name);

static void a_list_is_traced_with_all_its_bytes(struct kunit *test)
{
	const struct list_case *row = test->param_value;
	u8 *one = vt_buf(test, LEN), *two = vt_buf(test, LEN);
	struct kvec kvec[] = { { one, 8 }, { two, 24 } };
	struct fi_msg msg = { .type = row->type, .iov_count = 2, .context = vt_ctx(2) };
	struct vt_pair pair = {};
	struct bed_trace *trace;
	struct scatterlist sg[2];
	struct bio_vec bvec[2];

	bvec_set_virt(&bvec[0], one, 8);
	bvec_set_virt(&bvec[1], two, 24);
	sg_init_table(sg, 2);
	sg_set_buf(&sg[0], one, 8);
	sg_set_buf(&sg[1], two, 24);
	msg.msg_iov = row->type == FI_BUF_KVEC ? kvec : row->type == FI_BUF_BVEC ?
		      (void *)bvec : (void *)sg;
	bed_open(test, BED_TRACE, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	vt_recv(test, &pair.b, vt_buf(test, LEN), LEN, vt_ctx(1));
	trace = bed_trace_begin(test);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_COMPLETION), 0);
	KUNIT_EXPECT_EQ(test, trace->call_len, 32);
	KUNIT_EXPECT_EQ(test, trace->flags, FI_COMPLETION);
	vt_done(test, pair.a.tx, vt_ctx(2));
	vt_done(test, pair.b.rx, vt_ctx(1));
}

static void reads_and_writes_are_traced(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct vt_pair pair = {};
	struct bed_trace *trace;
	struct fid_mr *mr;

	bed_open(test, BED_TRACE, FI_MSG | FI_RMA);
	vt_join(test, &pair, &vt_default_kind);
	KUNIT_ASSERT_EQ(test, fi_mr_reg(vt_of(test)->domain, buf, LEN,
					FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &mr, NULL), 0);
	vt_adopt(test, &mr->fid);
	trace = bed_trace_begin(test);
	KUNIT_ASSERT_EQ(test, fi_write(pair.a.ep, vt_buf(test, LEN), LEN, NULL, 0, fi_mr_addr(mr),
				       fi_mr_key(mr), vt_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, trace->op, FI_OP_WRITE);
	vt_done(test, pair.a.tx, vt_ctx(1));
	KUNIT_EXPECT_TRUE(test, trace->comp.flags & FI_WRITE);
	KUNIT_ASSERT_EQ(test, fi_read(pair.a.ep, vt_buf(test, LEN), LEN, NULL, 0, fi_mr_addr(mr),
				      fi_mr_key(mr), vt_ctx(2)), 0);
	KUNIT_EXPECT_EQ(test, trace->op, FI_OP_READ);
	vt_done(test, pair.a.tx, vt_ctx(2));
	KUNIT_EXPECT_TRUE(test, trace->comp.flags & FI_READ);
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->done), 2);
}

static void a_list_of_any_length_is_traced_with_the_bytes_of_the_call(struct kunit *test)
{
	struct vt_pair pair = { .a.rw_ops = 1 };
	struct bed_trace *trace;
	struct scatterlist sg;
	struct fid_mr *mr;

	bed_open(test, BED_TRACE, FI_MSG | FI_RMA);
	mr = vt_reg(test, vt_buf(test, LEN), LEN, FI_REMOTE_WRITE);
	vt_join(test, &pair, &vt_default_kind);
	sg_init_one(&sg, vt_buf(test, LEN), LEN);
	trace = bed_trace_begin(test);
	KUNIT_ASSERT_EQ(test, fi_writesgl(pair.a.ep, &sg, 1, 0, 8, 0, fi_mr_addr(mr),
					  fi_mr_key(mr), vt_ctx(1), FI_COMPLETION), 0);
	KUNIT_EXPECT_EQ(test, trace->op, FI_OP_WRITE);
	KUNIT_EXPECT_EQ(test, trace->call_len, 8);
	vt_done(test, pair.a.tx, vt_ctx(1));
}

/* Nor does its provider */
static void a_list_of_no_known_type_is_not_looked_at(struct kunit *test)
{
	struct kvec kvec = { vt_buf(test, LEN), LEN };
	struct fi_msg msg = { .type = FI_BUF_SGL + 1, .msg_iov = &kvec, .iov_count = 1 };
	struct vt_pair pair = {};
	struct bed_trace *trace;

	bed_open(test, BED_TRACE, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	trace = bed_trace_begin(test);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &msg, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->calls), 1);
	KUNIT_EXPECT_EQ(test, trace->call_len, 0);
}

static void operations_with_callbacks_are_traced(struct kunit *test)
{
	u8 *buf = vt_buf(test, LEN);
	struct bed_trace *trace;
	struct vt_pair pair;
	struct bed_ep *ep;
	int i;

	bed_open(test, BED_TRACE, FI_MSG);
	trace = bed_trace_begin(test);
	for (i = 0; i < BED_KINDS; i++) {
		ep = bed_join(test, &pair, &bed_kinds[i]);
		vt_recv(test, &pair.b, buf, LEN, vt_ctx(1));
		KUNIT_ASSERT_EQ(test, fi_send(pair.a.ep, buf, LEN, NULL, 0, &ep->done), 0);
		bed_completed(test, &pair, ep, 1);
		vt_done(test, pair.b.rx, vt_ctx(1));
		KUNIT_EXPECT_EQ(test, atomic_read(&trace->done), 2 * (i + 1));
		vt_pair_close(test, &pair);
	}
}

static void nothing_is_traced_while_the_events_are_off(struct kunit *test)
{
	struct vt_pair pair = {};
	struct bed_trace *trace;

	bed_open(test, BED_TRACE, FI_MSG);
	vt_join(test, &pair, &vt_default_kind);
	trace = bed_trace_begin(test);
	vt_ping(test, &pair.a, &pair.b);
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->calls), 2);
	kunit_release_action(test, bed_trace_end, NULL);
	vt_ping(test, &pair.a, &pair.b);
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->calls), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&trace->done), 2);
}

static struct kunit_case trace_cases[] = {
	KUNIT_CASE(a_send_and_its_completion_are_traced),
	KUNIT_CASE(a_refused_call_is_traced_with_its_answer),
	KUNIT_CASE(each_call_is_traced_once),
	KUNIT_CASE(what_is_flushed_is_traced_as_an_error),
	KUNIT_CASE_PARAM(a_list_is_traced_with_all_its_bytes, list_gen_params),
	KUNIT_CASE(reads_and_writes_are_traced),
	KUNIT_CASE(a_list_of_any_length_is_traced_with_the_bytes_of_the_call),
	KUNIT_CASE(a_list_of_no_known_type_is_not_looked_at),
	KUNIT_CASE(operations_with_callbacks_are_traced),
	KUNIT_CASE(nothing_is_traced_while_the_events_are_off),
	{}
};

static struct kunit_suite trace_suite = {
	.name		= "kofi_hook_trace",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= trace_cases,
};

kunit_test_suite(trace_suite);
