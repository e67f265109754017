// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the device is handed, and how: doorbells, fences, and which work requests it
 * is to report.  A peer cannot tell.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <rdma/fi_rma.h>
#include "../lib/calls.h"
#include "mr.h"

/* One more than a work request has elements for */
#define PO_PAGES	BIT(HM_ORDER)
#define PO_LEN		(PO_PAGES * PAGE_SIZE)

/**
 * struct po - A connection, memory, and a region
 * @pair: the memory is a's, the region is b's
 * @buf: PO_PAGES pages
 * @list: them, one for each element
 * @sgl: the same
 * @target: PO_LEN bytes
 * @in: a page that b receives into
 * @key: of @target
 * @counted: @cntr is bound to a
 * @cntr: counts the bytes of a's operations
 */
struct po {
	struct vt_pair		pair;
	u8			*buf;
	struct kvec		list[PO_PAGES];
	struct scatterlist	sgl[PO_PAGES];
	u8			*target;
	u8			*in;
	u64			key;
	bool			counted;
	struct fid_cntr		*cntr;
};

static void po_open(struct kunit *test, struct po *po, bool roce)
{
	struct fi_cntr_attr cntr_attr = {
		.events		= FI_CNTR_EVENTS_BYTES,
		.wait_obj	= FI_WAIT_UNSPEC,
	};
	struct fakehca_attr attr = { .roce = roce, .max_send_sge = 4 };
	size_t rw_ops = 1;
	struct fid_mr *mr;
	int i;

	hm_serve(test, &attr);
	if (po->counted) {
		KUNIT_ASSERT_EQ(test, fi_cntr_open(vt_of(test)->domain, &cntr_attr, &po->cntr,
						   NULL), 0);
		vt_adopt(test, &po->cntr->fid);
	}
	ht_end_open(test, &po->pair.a, vt_of(test)->info);
	KUNIT_ASSERT_EQ(test, fi_setopt(&po->pair.a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RW_OPS,
					&rw_ops, sizeof(rw_ops)), 0);
	if (po->counted)
		KUNIT_ASSERT_EQ(test, fi_ep_bind(po->pair.a.ep, &po->cntr->fid,
						 FI_SEND | FI_READ | FI_WRITE), 0);
	ht_join(test, &po->pair);

	po->buf = hm_pages(test);
	sg_init_table(po->sgl, PO_PAGES);
	for (i = 0; i < PO_PAGES; i++) {
		po->list[i] = (struct kvec) { po->buf + i * PAGE_SIZE,
					      PAGE_SIZE };
		sg_set_buf(&po->sgl[i], po->list[i].iov_base, PAGE_SIZE);
	}
	po->in = ht_buf(test, PAGE_SIZE);
	po->target = hm_pages(test);
	KUNIT_ASSERT_EQ(test, hm_reg(test, po->target, PO_LEN, &mr), 0);
	po->key = fi_mr_key(mr);
}

/**
 * struct po_call - A call, and on which device
 * @name: of that
 * @op: the call; PO_MOVE: fi_writesgl()
 * @pages: elements of its list
 * @roce: not iWARP
 * @alone: not two at a time
 * @no_fence: FI_FENCE is refused
 */
struct po_call {
	const char	*name;
	int		op;
	size_t		pages;
	bool		roce;
	bool		alone;
	bool		no_fence;
};

#define PO_MOVE	-1

static const struct po_call po_calls[] = {
	{ "RoCE, send", VT_SENDMSG, 1, true },
	{ "RoCE, write", VT_WRITEMSG, 1, true },
	{ "RoCE, read", VT_READMSG, 1, true, .alone = true },
	{ "RoCE, write in parts", VT_WRITEMSG, PO_PAGES, true, .alone = true },
	{ "RoCE, move", PO_MOVE, PO_PAGES, true, .alone = true },
	{ "iWARP, send", VT_SENDMSG, 1, false },
	{ "iWARP, write", VT_WRITEMSG, 1, false },
	{ "iWARP, read", VT_READMSG, 1, false, .alone = true, .no_fence = true },
	{ "iWARP, write in parts", VT_WRITEMSG, PO_PAGES, false, .alone = true },
	{ "iWARP, move", PO_MOVE, PO_PAGES, false, .alone = true },
};

/* A message has its receive */
static ssize_t po_post(struct po *po, const struct po_call *call, u64 flags)
{
	const struct vt_xfer x = {
		.len		= call->pages * PAGE_SIZE,
		.pieces		= call->pages,
		.list		= po->list,
		.addr		= (uintptr_t)po->target,
		.key		= po->key,
		.context	= vt_ctx(1),
	};
	ssize_t ret = 0;

	if (call->op == PO_MOVE)
		return fi_writesgl(po->pair.a.ep, po->sgl, PO_PAGES, 0, PO_LEN, 0, x.addr, x.key,
				   vt_ctx(1), flags);
	if (call->op == VT_SENDMSG)
		ret = fi_recv(po->pair.b.ep, po->in, PAGE_SIZE, NULL, 0, vt_ctx(2));
	return ret ? : vt_post_flags(po->pair.a.ep, call->op, &x, flags);
}

KUNIT_ARRAY_PARAM_DESC(po_call, po_calls, name);

static void po_do(struct kunit *test, struct po *po, u64 flags)
{
	const struct po_call *call = test->param_value;

	KUNIT_ASSERT_EQ(test, po_post(po, call, flags | FI_COMPLETION), 0);
	vt_done(test, po->pair.a.tx, vt_ctx(1));
	if (call->op == VT_SENDMSG)
		vt_done(test, po->pair.b.tx, vt_ctx(2));
}

static void an_operation_is_counted_with_its_bytes(struct kunit *test)
{
	const struct po_call *call = test->param_value;
	struct po po = { .counted = true };
	u64 len = call->pages * PAGE_SIZE;
	struct fid *fid;

	po_open(test, &po, call->roce);
	fid = &po.pair.a.ep->fid;
	po_do(test, &po, 0);
	KUNIT_EXPECT_EQ(test, vt_stat(test, fid, "tx_ops"), 1);
	KUNIT_EXPECT_EQ(test, vt_stat(test, fid, "tx_bytes"), len);
	KUNIT_EXPECT_EQ(test, vt_cntr_wait(po.cntr, len), 0);
}

/* Once, whatever the operation is made of */
static void a_fence_reaches_the_device(struct kunit *test)
{
	const struct po_call *call = test->param_value;
	struct po po = {};
	unsigned int base;

	po_open(test, &po, call->roce);
	base = ht_stats(test).fences;
	po_do(test, &po, 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).fences, base);
	if (call->no_fence) {
		KUNIT_EXPECT_EQ(test, po_post(&po, call, FI_FENCE), -FI_EBADFLAGS);
		return;
	}
	po_do(test, &po, FI_FENCE);
	KUNIT_EXPECT_EQ(test, ht_stats(test).fences, base + 1);
	po_do(test, &po, 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).fences, base + 1);
}

static void an_operation_has_one_doorbell(struct kunit *test)
{
	const struct po_call *call = test->param_value;
	struct po po = {};
	unsigned int base;

	po_open(test, &po, call->roce);
	base = ht_stats(test).doorbells;
	po_do(test, &po, 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).doorbells, base + 1);
}

/*
 * Over TCP what is not reported may still have to be sent again.  On other devices
 * it is as it should be: nobody is told what nobody wants to know.
 */
static void large_data_over_iwarp_are_reported(struct kunit *test)
{
	const struct po_call *call = test->param_value;
	struct po po = { .pair.a.bind_flags = FI_SELECTIVE_COMPLETION };
	bool unsaid = call->roce && call->op != VT_READMSG;
	unsigned int base, i;

	po_open(test, &po, call->roce);
	base = ht_stats(test).unsaid;
	/* More often than there are slots, so none may get lost */
	for (i = 0; i < po.pair.a.info->tx_attr->size; i++) {
		if (!call->alone) {
			KUNIT_ASSERT_EQ(test, po_post(&po, call, 0), 0);
			if (call->op == VT_SENDMSG)
				vt_done(test, po.pair.b.tx, vt_ctx(2));
		}
		po_do(test, &po, 0);
	}
	if (unsaid)
		KUNIT_EXPECT_GT(test, ht_stats(test).unsaid, base);
	else
		KUNIT_EXPECT_EQ(test, ht_stats(test).unsaid, base);
}

/* Queue pairs that change their state when a connection ends, at either end */
static unsigned int po_shutdown(struct kunit *test, struct vt_pair *pair)
{
	struct fakehca *hca = ht_of(test)->hca;
	unsigned int base = fakehca_calls(hca, FAKEHCA_MODIFY_QP);

	KUNIT_ASSERT_EQ(test, fi_shutdown(pair->a.ep, 0), 0);
	vt_event(test, pair->a.eq, FI_SHUTDOWN, NULL);
	vt_event(test, pair->b.eq, FI_SHUTDOWN, NULL);
	/* Waits for the handler, which changes the state behind the event */
	KUNIT_EXPECT_EQ(test, fi_shutdown(pair->b.ep, 0), 0);
	fakehca_idle(hca);
	return fakehca_calls(hca, FAKEHCA_MODIFY_QP) - base;
}

/* Over iWARP an endpoint with operations in flight flushes them in front of the end */
static void what_has_ended_or_was_refused_is_not_in_flight(struct kunit *test)
{
	const struct po_call *call = test->param_value;
	struct po po = { .pair.a.bind_flags = FI_SELECTIVE_COMPLETION };
	struct vt_pair idle = {};

	po_open(test, &po, call->roce);
	ht_join(test, &idle);
	/* A read over iWARP has registered by then, and a send would leave its receive */
	if (!call->no_fence && call->op != VT_SENDMSG) {
		fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 1, -ENOMEM);
		KUNIT_EXPECT_EQ(test, po_post(&po, call, 0), -EAGAIN);
	}
	/* The device does not report it */
	KUNIT_ASSERT_EQ(test, fi_write(po.pair.a.ep, po.buf, 8, NULL, 0, (uintptr_t)po.target,
				       po.key, vt_ctx(1)), 0);
	po_do(test, &po, 0);
	KUNIT_EXPECT_EQ(test, po_shutdown(test, &po.pair), po_shutdown(test, &idle));
}

/*
 * Of the operations that have no completion, the device reports the last one of each half of the
 * queue, and so frees that half.
 */
static void every_half_queue_is_reported_once(struct kunit *test)
{
	const struct po_call call = { "send", VT_SENDMSG, 1, true };
	struct po po = { .pair.a.bind_flags = FI_SELECTIVE_COMPLETION };
	unsigned int base, half, i;

	po_open(test, &po, true);
	half = po.pair.a.info->tx_attr->size / 2;
	base = ht_stats(test).unsaid;
	for (i = 1; i <= 3 * half; i++) {
		KUNIT_ASSERT_EQ(test, po_post(&po, &call, 0), 0);
		vt_done(test, po.pair.b.tx, vt_ctx(2));
		KUNIT_ASSERT_EQ(test, ht_stats(test).unsaid, base + i - i / half);
	}
	vt_none(test, po.pair.a.tx);
	/* Nothing of them is left in their slots */
	KUNIT_ASSERT_EQ(test, po_post(&po, &call, FI_COMPLETION), 0);
	KUNIT_EXPECT_EQ(test, vt_done(test, po.pair.a.tx, vt_ctx(1)).len, 0);
}

static void a_chain_has_one_doorbell(struct kunit *test)
{
	struct kvec kvec = { ht_buf(test, 64), 64 };
	const struct fi_msg msg = {
		.msg_iov	= &kvec,
		.iov_count	= 1,
		.context	= vt_ctx(1),
	};
	struct vt_pair pair = {};
	unsigned int base, i;

	ht_connect(test, NULL, &pair);
	for (i = 0; i < 4; i++)
		vt_recv(test, &pair.b, ht_buf(test, 64), 64, vt_ctx(2));
	base = ht_stats(test).doorbells;
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_COMPLETION | FI_MORE), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).doorbells, base);
	KUNIT_ASSERT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_COMPLETION), 0);
	for (i = 0; i < 4; i++) {
		vt_done(test, pair.a.tx, vt_ctx(1));
		vt_done(test, pair.b.tx, vt_ctx(2));
	}
	KUNIT_EXPECT_EQ(test, ht_stats(test).doorbells, base + 1);
}

/* As many as the endpoint has memory for, each time */
static void the_eighth_of_a_chain_rings(struct kunit *test)
{
	struct vt_pair pair = {};
	const struct vt_xfer x = {
		.buf = ht_buf(test, 64), .len = 64, .context = vt_ctx(1),
	};
	unsigned int base, i;

	ht_connect(test, NULL, &pair);
	base = ht_stats(test).doorbells;
	for (i = 1; i <= 3 * 8; i++) {
		vt_recv(test, &pair.b, ht_buf(test, 64), 64, vt_ctx(2));
		KUNIT_ASSERT_EQ(test, vt_post_flags(pair.a.ep, VT_SENDMSG, &x,
						    FI_COMPLETION | FI_MORE), 0);
		KUNIT_ASSERT_EQ(test, ht_stats(test).doorbells, base + i / 8);
	}
}

/**
 * struct po_told - What a callback saw
 * @done: what the client posted with
 * @caller: who posted
 * @ended: once for each operation
 * @own: how many callbacks the poster has run himself
 * @err: of the last one
 */
struct po_told {
	struct fi_done		done;
	struct task_struct	*caller;
	struct completion	ended;
	int			own;
	int			err;
};

static void po_told(struct fi_done *done, const struct fi_done_entry *entry)
{
	struct po_told *told = container_of(done, struct po_told, done);

	told->own += in_task() && current == told->caller;
	told->err = entry->err;
	complete(&told->ended);
}

/* @told has what the completion queue of the pair's end a tells */
static void po_join(struct kunit *test, struct vt_pair *pair, struct po_told *told)
{
	static const struct vt_kind kind = { .wait_obj = FI_WAIT_DONE };

	*told = (struct po_told) { .done.done = po_told, .caller = current };
	init_completion(&told->ended);
	ht_serve(test, NULL);
	pair->a.tx = vt_cq(test, &kind, vt_of(test)->info->tx_attr->size +
					vt_of(test)->info->rx_attr->size);
	ht_join(test, pair);
}

static void po_ended(struct kunit *test, struct po_told *told, int err)
{
	KUNIT_ASSERT_TRUE(test, vt_completed(&told->ended));
	KUNIT_EXPECT_EQ(test, told->err, err);
}

/* The client may hold a lock that its callback takes */
static void a_refused_chain_calls_nobody_back_from_a_post(struct kunit *test)
{
	struct kvec kvec = { ht_buf(test, 64), 64 };
	struct po_told told;
	const struct fi_msg msg = {
		.msg_iov	= &kvec,
		.iov_count	= 1,
		.context	= &told.done,
	};
	struct vt_pair pair = {};
	int i;

	po_join(test, &pair, &told);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_COMPLETION | FI_MORE), 0);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, 1, -EIO);
	KUNIT_EXPECT_EQ(test, fi_sendmsg(pair.a.ep, &msg, FI_COMPLETION), -EIO);
	for (i = 0; i < 3; i++)
		po_ended(test, &told, EIO);
	KUNIT_EXPECT_EQ(test, told.own, 0);
	vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
	vt_end_close(test, &pair.a);
	KUNIT_EXPECT_FALSE(test, try_wait_for_completion(&told.ended));
}

/* Work requests: the registration, and the send that carries it */
static void a_refused_request_is_told_to_its_caller(struct kunit *test)
{
	const unsigned int *nth = test->param_value;
	struct vt_pair pair = {};
	struct po_told told;
	struct fid_mr *mr;

	po_join(test, &pair, &told);
	mr = hm_reg_ep(test, pair.a.ep);
	vt_recv(test, &pair.b, ht_buf(test, 8), 8, vt_ctx(2));
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_POST_SEND, *nth, -EIO);
	KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, ht_buf(test, 8), 8, NULL, 0, &told.done), -EIO);
	if (*nth == 1) {
		/* Nothing works without the key that was promised */
		vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
	} else {
		KUNIT_EXPECT_EQ(test, fi_send(pair.a.ep, ht_buf(test, 8), 8,
					      NULL, 0, &told.done), 0);
		po_ended(test, &told, 0);
		vt_done(test, pair.b.tx, vt_ctx(2));
	}
	KUNIT_EXPECT_FALSE(test, try_wait_for_completion(&told.ended));
}

static const unsigned int po_nth[] = { 1, 2 };

static void po_nth_desc(const unsigned int *nth, char *desc)
{
	strscpy(desc, *nth == 1 ? "registration" : "send", KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(po_nth, po_nth, po_nth_desc);

static void a_registration_shares_the_doorbell_of_a_send(struct kunit *test)
{
	struct vt_pair pair = {};
	struct fid_mr *mr;
	unsigned int base;

	ht_connect(test, NULL, &pair);
	mr = hm_reg_ep(test, pair.a.ep);
	vt_recv(test, &pair.b, NULL, 0, vt_ctx(2));

	base = ht_stats(test).doorbells;
	KUNIT_ASSERT_EQ(test, fi_mr_enable(mr), 0);
	KUNIT_EXPECT_EQ(test, ht_stats(test).doorbells, base);
	vt_send(test, &pair.a, NULL, 0, vt_ctx(1));
	vt_done(test, pair.a.tx, vt_ctx(1));
	vt_done(test, pair.b.tx, vt_ctx(2));
	KUNIT_EXPECT_EQ(test, ht_stats(test).doorbells, base + 1);
	KUNIT_EXPECT_EQ(test, ht_stats(test).fences, 0);
}

static struct kunit_case kofi_hca_post_cases[] = {
	KUNIT_CASE_PARAM(an_operation_is_counted_with_its_bytes, po_call_gen_params),
	KUNIT_CASE_PARAM(a_fence_reaches_the_device, po_call_gen_params),
	KUNIT_CASE_PARAM(an_operation_has_one_doorbell, po_call_gen_params),
	KUNIT_CASE_PARAM(large_data_over_iwarp_are_reported, po_call_gen_params),
	KUNIT_CASE_PARAM(what_has_ended_or_was_refused_is_not_in_flight, po_call_gen_params),
	KUNIT_CASE(every_half_queue_is_reported_once),
	KUNIT_CASE(a_chain_has_one_doorbell),
	KUNIT_CASE(the_eighth_of_a_chain_rings),
	KUNIT_CASE(a_refused_chain_calls_nobody_back_from_a_post),
	KUNIT_CASE_PARAM(a_refused_request_is_told_to_its_caller, po_nth_gen_params),
	KUNIT_CASE(a_registration_shares_the_doorbell_of_a_send),
	{}
};

struct kunit_suite kofi_hca_post_suite = {
	.name		= "kofi_hca_post",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= kofi_hca_post_cases,
};
