// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What endpoints of all providers have in common, include/kofi/ep.h: binding, flags,
 * counters, callbacks, and the word that a call is worth trying again.
 */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <kofi/ep.h>
#include <kofi/stat.h>
#include "util.h"

#define PATIENCE	(20 * HZ)

/**
 * struct ep_test - A case
 * @ep: the endpoint, or shared receive context
 * @cq: a queue to bind
 * @cntr: a counter to bind
 * @entry: what a callback was given last
 * @calls: calls of the ready callback
 * @dir: what the last was for
 * @may_close: what kofi_ep_may_close() says from inside a callback
 * @noio: the ready callback ran in a NOIO frame
 * @called: completed by each
 * @leave: the ready callback may return
 */
struct ep_test {
	struct kofi_ep		ep;
	struct kofi_cq		cq;
	struct kofi_cntr	cntr;
	struct fi_done_entry	entry;
	int			calls;
	u64			dir;
	int			may_close;
	bool			noio;
	struct completion	called;
	struct completion	leave;
};

static const struct kofi_ep_limits limits = {
	.cntr_dirs	= FI_SEND | FI_RECV | FI_WRITE | FI_READ |
			  FI_REMOTE_WRITE,
	.tx_op_flags	= FI_COMPLETION | FI_INJECT,
	.rx_op_flags	= FI_COMPLETION,
};

static const struct kofi_ep_limits av_limits = { .av = true };

static void release(struct kofi_comp *chain)
{
}

static const struct kofi_cq_ops cq_ops = { .release = release };

static void no_context_done(struct fid_ep *ep, const struct fi_done_entry *entry)
{
	struct ep_test *et = container_of(ep, struct ep_test, ep.ep);

	et->entry = *entry;
	complete(&et->called);
}

static void ready(struct fid_ep *ep, u64 flags)
{
	struct ep_test *et = container_of(ep, struct ep_test, ep.ep);

	et->calls++;
	et->dir = flags;
	et->may_close = kofi_ep_may_close(&et->ep);
	et->noio = current->flags & PF_MEMALLOC_NOIO;
	complete(&et->called);
}

static const struct fi_ep_callbacks callbacks = {
	.done	= no_context_done,
	.ready	= ready,
};

static void fini_cq(void *cq)
{
	kofi_cq_fini(cq);
}

static void fini_ep(void *ep)
{
	kofi_ep_fini(ep);
}

static struct ep_test *open_ep(struct kunit *test, enum fi_ep_type type, enum fi_wait_obj wait_obj,
			       const struct kofi_ep_limits *of)
{
	struct fi_cntr_attr cntr_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr cq_attr = { .wait_obj = wait_obj };
	struct ep_test *et = vt_buf(test, sizeof(*et));
	struct fi_info *info = fi_allocinfo();

	KUNIT_ASSERT_NOT_NULL(test, info);
	init_completion(&et->called);
	info->ep_attr->type = type;
	memset(&et->cntr, 0xa5, sizeof(et->cntr));
	KUNIT_ASSERT_EQ(test, kofi_cntr_init(&et->cntr, &cntr_attr, NULL), 0);
	KUNIT_ASSERT_EQ(test, kofi_cq_init(&et->cq, &cq_attr, 8, &cq_ops, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fini_cq, &et->cq), 0);
	KUNIT_ASSERT_EQ(test, kofi_ep_init(&et->ep, info, of, et), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fini_ep, &et->ep), 0);
	fi_freeinfo(info);
	return et;
}

static int bind(struct ep_test *et, struct fid *fid, u64 flags)
{
	return kofi_ep_bind(&et->ep.ep.fid, fid, flags);
}

static struct ep_test *open_bound(struct kunit *test, enum fi_wait_obj wait_obj)
{
	struct ep_test *et = open_ep(test, FI_EP_RDM, wait_obj, &limits);

	KUNIT_ASSERT_EQ(test, bind(et, &et->cq.cq.fid, FI_TRANSMIT | FI_RECV), 0);
	KUNIT_ASSERT_EQ(test, kofi_ep_setopt(&et->ep, FI_OPT_CALLBACKS,
					     &callbacks, sizeof(callbacks)), 0);
	kofi_conn_set_state(&et->ep.conn, KOFI_CONN_ENABLED);
	return et;
}

static void called(struct kunit *test, struct ep_test *et)
{
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&et->called, PATIENCE), 0);
}

static void default_flags_are_those_of_the_info(struct kunit *test)
{
	struct fi_info *info = fi_allocinfo();
	struct kofi_ep *ep = vt_buf(test, sizeof(*ep));
	u64 flags = FI_TRANSMIT;

	KUNIT_ASSERT_NOT_NULL(test, info);
	info->tx_attr->op_flags = FI_INJECT;
	info->rx_attr->op_flags = FI_COMPLETION;
	KUNIT_EXPECT_EQ(test, kofi_ep_init(ep, info, &limits, NULL), 0);
	KUNIT_EXPECT_EQ(test, kofi_ep_control(&ep->ep.fid, FI_GETOPSFLAG, &flags), 0);
	KUNIT_EXPECT_EQ(test, flags, FI_INJECT);
	flags = FI_RECV;
	KUNIT_EXPECT_EQ(test, kofi_ep_control(&ep->ep.fid, FI_GETOPSFLAG, &flags), 0);
	KUNIT_EXPECT_EQ(test, flags, FI_COMPLETION);
	kofi_ep_fini(ep);
	fi_freeinfo(info);
}

static void default_flags_beyond_the_limits_are_refused(struct kunit *test)
{
	struct fi_info *info = fi_allocinfo();
	struct kofi_ep *ep = vt_buf(test, sizeof(*ep));

	KUNIT_ASSERT_NOT_NULL(test, info);
	info->tx_attr->op_flags = FI_FENCE;
	KUNIT_EXPECT_EQ(test, kofi_ep_init(ep, info, &limits, NULL), -EINVAL);
	info->tx_attr->op_flags = 0;
	info->rx_attr->op_flags = FI_INJECT;
	KUNIT_EXPECT_EQ(test, kofi_ep_init(ep, info, &limits, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_ep_init_srx(ep, info->rx_attr, &limits, NULL), -EINVAL);
	fi_freeinfo(info);
}

static void default_flags_can_be_set(struct kunit *test)
{
	struct ep_test *et = open_bound(test, FI_WAIT_UNSPEC);
	struct fid *fid = &et->ep.ep.fid;
	u64 flags = FI_TRANSMIT | FI_INJECT;

	KUNIT_EXPECT_EQ(test, kofi_ep_control(fid, FI_SETOPSFLAG, &flags), 0);
	KUNIT_EXPECT_EQ(test, et->ep.tx.op_flags, FI_INJECT);
	KUNIT_EXPECT_EQ(test, et->ep.rx.op_flags, 0);
	flags = FI_RECV | FI_COMPLETION;
	KUNIT_EXPECT_EQ(test, kofi_ep_control(fid, FI_SETOPSFLAG, &flags), 0);
	KUNIT_EXPECT_EQ(test, et->ep.rx.op_flags, FI_COMPLETION);
}

static void flags_without_one_direction_are_refused(struct kunit *test)
{
	struct ep_test *et = open_bound(test, FI_WAIT_UNSPEC);
	struct fid *fid = &et->ep.ep.fid;
	u64 flags = FI_INJECT;

	KUNIT_EXPECT_EQ(test, kofi_ep_control(fid, FI_SETOPSFLAG, &flags), -EINVAL);
	flags = FI_TRANSMIT | FI_RECV;
	KUNIT_EXPECT_EQ(test, kofi_ep_control(fid, FI_GETOPSFLAG, &flags), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_ep_control(fid, FI_GETOPSFLAG, NULL), -EINVAL);
	flags = FI_RECV | FI_INJECT;
	KUNIT_EXPECT_EQ(test, kofi_ep_control(fid, FI_SETOPSFLAG, &flags), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, kofi_ep_control(fid, FI_ENABLE, NULL), -ENOSYS);
}

static void queues_are_bound_by_direction(struct kunit *test)
{
	struct ep_test *et = open_ep(test, FI_EP_MSG, FI_WAIT_UNSPEC, &limits);

	KUNIT_EXPECT_EQ(test, bind(et, &et->cq.cq.fid, FI_TRANSMIT), 0);
	KUNIT_EXPECT_PTR_EQ(test, et->ep.tx.cq, &et->cq);
	KUNIT_EXPECT_NULL(test, et->ep.rx.cq);
	KUNIT_EXPECT_EQ(test, et->ep.tx.implied, FI_COMPLETION);
	KUNIT_EXPECT_EQ(test, et->ep.rx.implied, FI_COMPLETION);
	KUNIT_EXPECT_EQ(test, bind(et, &et->cq.cq.fid, FI_RECV | FI_SELECTIVE_COMPLETION), 0);
	KUNIT_EXPECT_PTR_EQ(test, et->ep.rx.cq, &et->cq);
	KUNIT_EXPECT_EQ(test, et->ep.rx.implied, 0);
	KUNIT_EXPECT_EQ(test, et->ep.tx.implied, FI_COMPLETION);
}

static void counters_are_bound_for_what_is_counted(struct kunit *test)
{
	struct ep_test *et = open_ep(test, FI_EP_MSG, FI_WAIT_UNSPEC, &limits);
	struct fid *cntr = &et->cntr.cntr.fid;

	KUNIT_EXPECT_EQ(test, fi_cntr_wait(&et->cntr.cntr, 1, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, bind(et, cntr, FI_SEND | FI_REMOTE_READ), -ENOSYS);
	KUNIT_EXPECT_EQ(test, bind(et, cntr, FI_SEND | FI_REMOTE_WRITE), 0);
	kofi_ep_posted(&et->ep, FI_MSG | FI_RECV, NULL, 30);
	kofi_ep_count(&et->ep, FI_MSG | FI_SEND, 0, 10);
	kofi_ep_count(&et->ep, FI_TAGGED | FI_SEND, EIO, 10);
	kofi_ep_count(&et->ep, FI_RMA | FI_REMOTE_WRITE, 0, 10);
	kofi_ep_count(&et->ep, FI_RMA | FI_WRITE, 0, 10);
	kofi_ep_count(&et->ep, FI_MSG | FI_RECV, 0, 10);
	kofi_ep_count(&et->ep, FI_RMA | FI_READ, 0, 10);
	kofi_ep_count(&et->ep, FI_RMA | FI_REMOTE_READ, 0, 10);
	kofi_ep_count(&et->ep, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&et->cntr.cntr), 2);
	KUNIT_EXPECT_EQ(test, fi_cntr_readerr(&et->cntr.cntr), 1);

	KUNIT_EXPECT_EQ(test, bind(et, cntr, FI_RECV | FI_READ | FI_WRITE), 0);
	kofi_ep_count(&et->ep, FI_RMA | FI_WRITE, 0, 10);
	kofi_ep_count(&et->ep, FI_MSG | FI_RECV, 0, 10);
	kofi_ep_count(&et->ep, FI_RMA | FI_READ, 0, 10);
	KUNIT_EXPECT_EQ(test, fi_cntr_read(&et->cntr.cntr), 5);
}

static u64 stat_value(struct kunit *test, struct ep_test *et, const char *name)
{
	struct kofi_stat stat = {};
	size_t i;

	KUNIT_EXPECT_EQ(test, kofi_ep_control(&et->ep.ep.fid, KOFI_GETSTAT, &stat), 0);
	for (i = 0; i < stat.count; i++)
		if (!strcmp(stat.values[i].name, name))
			return stat.values[i].value;
	KUNIT_FAIL(test, "there is no %s", name);
	return 0;
}

/* Whether or not a counter is bound */
static void an_endpoint_says_what_it_has_done(struct kunit *test)
{
	struct ep_test *et = open_ep(test, FI_EP_MSG, FI_WAIT_UNSPEC, &limits);
	struct kofi_stat stat = {};

	et->ep.max_msg_size = 50;
	kofi_ep_posted(&et->ep, FI_MSG | FI_SEND, NULL, 10);
	kofi_ep_posted(&et->ep, FI_RMA | FI_WRITE, NULL, 20);
	kofi_ep_posted(&et->ep, FI_MSG | FI_RECV, NULL, 30);
	kofi_ep_count(&et->ep, FI_MSG | FI_SEND, 0, 10);
	kofi_ep_count(&et->ep, FI_RMA | FI_WRITE, EIO, 0);
	kofi_ep_count(&et->ep, FI_MSG | FI_RECV, 0, 30);
	kofi_ep_count(&et->ep, FI_MSG | FI_RECV, ECANCELED, 0);
	kofi_ep_count(&et->ep, FI_RMA | FI_REMOTE_WRITE, 0, 40);
	kofi_waiter_note(&et->ep.tx.room);
	kofi_waiter_note(&et->ep.rx.room);
	kofi_waiter_note(&et->ep.rx.room);

	KUNIT_EXPECT_EQ(test, kofi_ep_control(&et->ep.ep.fid, KOFI_GETSTAT, &stat), 0);
	KUNIT_EXPECT_STREQ(test, stat.state, "open");
	KUNIT_EXPECT_TRUE(test, stat.no_peer);
	KUNIT_EXPECT_EQ(test, stat_value(test, et, "max_msg_size"), 50);
	KUNIT_EXPECT_EQ(test, stat_value(test, et, "rx_again"), 2);
	KUNIT_EXPECT_EQ(test, stat_value(test, et, "tx_ops"), 2);
	KUNIT_EXPECT_EQ(test, stat_value(test, et, "tx_bytes"), 30);
	KUNIT_EXPECT_EQ(test, stat_value(test, et, "tx_errors"), 1);
	KUNIT_EXPECT_EQ(test, stat_value(test, et, "tx_again"), 1);
	KUNIT_EXPECT_EQ(test, stat_value(test, et, "rx_ops"), 1);
	KUNIT_EXPECT_EQ(test, stat_value(test, et, "rx_bytes"), 30);
	KUNIT_EXPECT_EQ(test, stat_value(test, et, "rx_errors"), 1);
}

static void other_objects_are_bound_where_they_fit(struct kunit *test)
{
	struct fid av = { .fclass = FI_CLASS_AV };
	struct fid srx = { .fclass = FI_CLASS_SRX_CTX };
	struct fid mr = { .fclass = FI_CLASS_MR };
	struct ep_test *et = open_ep(test, FI_EP_MSG, FI_WAIT_UNSPEC, &limits);

	KUNIT_EXPECT_EQ(test, bind(et, &av, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, bind(et, &srx, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, bind(et, &mr, 0), -EINVAL);
	et->ep.shared = true;
	KUNIT_EXPECT_EQ(test, bind(et, &srx, 0), 0);
	et->ep.limits = &av_limits;
	KUNIT_EXPECT_EQ(test, bind(et, &av, 0), 0);
	KUNIT_EXPECT_PTR_EQ(test, &et->ep.av->fid, &av);
	KUNIT_EXPECT_PTR_EQ(test, &et->ep.srx->fid, &srx);
}

static void nothing_is_bound_after_the_enable(struct kunit *test)
{
	struct ep_test *et = open_ep(test, FI_EP_MSG, FI_WAIT_UNSPEC, &limits);

	kofi_conn_set_state(&et->ep.conn, KOFI_CONN_ENABLED);
	KUNIT_EXPECT_EQ(test, bind(et, &et->cq.cq.fid, FI_TRANSMIT), -FI_EOPBADSTATE);
	kofi_conn_set_state(&et->ep.conn, KOFI_CONN_GONE);
	KUNIT_EXPECT_EQ(test, bind(et, &et->cq.cq.fid, FI_TRANSMIT), -ENODEV);
	KUNIT_EXPECT_NULL(test, et->ep.tx.cq);
	/* The peer of its request has gone: fi_enable() will say so */
	kofi_conn_set_state(&et->ep.conn, KOFI_CONN_DOWN);
	KUNIT_EXPECT_EQ(test, bind(et, &et->cq.cq.fid, FI_TRANSMIT), 0);
}

static void enable_says_what_is_missing(struct kunit *test)
{
	struct ep_test *et = open_ep(test, FI_EP_MSG, FI_WAIT_UNSPEC, &limits);
	struct kofi_eq *eq = (void *)et;

	KUNIT_EXPECT_EQ(test, kofi_ep_may_enable(&et->ep), -FI_ENOEQ);
	et->ep.conn.eq = eq;
	KUNIT_EXPECT_EQ(test, kofi_ep_may_enable(&et->ep), -FI_ENOCQ);
	et->ep.tx.cq = &et->cq;
	KUNIT_EXPECT_EQ(test, kofi_ep_may_enable(&et->ep), -FI_ENOCQ);
	et->ep.rx.cq = &et->cq;
	KUNIT_EXPECT_EQ(test, kofi_ep_may_enable(&et->ep), 0);
	et->ep.shared = true;
	KUNIT_EXPECT_EQ(test, kofi_ep_may_enable(&et->ep), -FI_ENORX);
	et->ep.shared = false;
	et->ep.limits = &av_limits;
	KUNIT_EXPECT_EQ(test, kofi_ep_may_enable(&et->ep), -FI_ENOAV);
	et->ep.limits = &limits;
	kofi_conn_set_state(&et->ep.conn, KOFI_CONN_ENABLED);
	KUNIT_EXPECT_EQ(test, kofi_ep_may_enable(&et->ep), -FI_EOPBADSTATE);
	et->ep.conn.eq = NULL;
}

static void an_endpoint_without_connections_needs_no_event_queue(struct kunit *test)
{
	struct ep_test *et = open_ep(test, FI_EP_RDM, FI_WAIT_UNSPEC, &limits);

	KUNIT_ASSERT_EQ(test, bind(et, &et->cq.cq.fid, FI_TRANSMIT | FI_RECV), 0);
	KUNIT_EXPECT_EQ(test, kofi_ep_may_enable(&et->ep), 0);
}

static void sleeping_for_a_polled_queue_is_refused(struct kunit *test)
{
	struct ep_test *et = open_ep(test, FI_EP_RDM, FI_WAIT_NONE, &limits);
	static const u64 dirs[] = { FI_SEND, FI_RECV, FI_READ, FI_WRITE };
	int i;

	KUNIT_ASSERT_EQ(test, bind(et, &et->cq.cq.fid, FI_TRANSMIT | FI_RECV), 0);
	for (i = 0; i < ARRAY_SIZE(dirs); i++) {
		memset(et->ep.cntrs, 0, sizeof(et->ep.cntrs));
		KUNIT_ASSERT_EQ(test, bind(et, &et->cntr.cntr.fid, dirs[i]), 0);
		et->cntr.wait_obj = FI_WAIT_UNSPEC;
		KUNIT_EXPECT_EQ(test, kofi_ep_may_enable(&et->ep), -EINVAL);
		et->cntr.wait_obj = FI_WAIT_NONE;
		KUNIT_EXPECT_EQ(test, kofi_ep_may_enable(&et->ep), 0);
	}
}

static void success_is_reported_unless_completion_is_selective(struct kunit *test)
{
	struct ep_test *et = open_bound(test, FI_WAIT_UNSPEC);

	KUNIT_EXPECT_EQ(test, kofi_ep_flags(&et->ep.tx, FI_MORE), FI_MORE | FI_COMPLETION);
	et->ep.tx.implied = 0;
	KUNIT_EXPECT_EQ(test, kofi_ep_flags(&et->ep.tx, FI_MORE), FI_MORE);
	KUNIT_EXPECT_EQ(test, kofi_ep_flags(&et->ep.tx, FI_COMPLETION), FI_COMPLETION);
}

static void an_operation_without_context_has_the_default_callback(struct kunit *test)
{
	struct ep_test *et = open_bound(test, FI_WAIT_DONE);
	struct kofi_comp comp = {
		.op_context	= kofi_ep_context(&et->ep, &et->ep.tx, NULL),
		.flags		= FI_MSG | FI_SEND,
		.err		= EIO,
	};

	KUNIT_EXPECT_PTR_EQ(test, kofi_ep_context(&et->ep, &et->ep.tx, et), (void *)et);
	kofi_cq_complete(&et->cq, &comp);
	called(test, et);
	KUNIT_EXPECT_EQ(test, et->entry.err, EIO);
	KUNIT_EXPECT_EQ(test, et->entry.flags, FI_MSG | FI_SEND);
}

static void a_default_callback_that_is_not_there_is_not_called(struct kunit *test)
{
	struct ep_test *et = open_bound(test, FI_WAIT_DONE);
	struct kofi_comp comp = {
		.op_context	= kofi_ep_context(&et->ep, &et->ep.tx, NULL),
	};

	et->ep.callbacks.done = NULL;
	kofi_cq_complete(&et->cq, &comp);
	kofi_cq_purge(&et->cq, NULL, NULL);
	KUNIT_EXPECT_FALSE(test, try_wait_for_completion(&et->called));
}

static void a_queue_without_callbacks_keeps_the_context(struct kunit *test)
{
	struct ep_test *et = open_bound(test, FI_WAIT_UNSPEC);

	KUNIT_EXPECT_NULL(test, kofi_ep_context(&et->ep, &et->ep.tx, NULL));
}

static void callbacks_can_be_set_before_the_enable_only(struct kunit *test)
{
	struct ep_test *et = open_ep(test, FI_EP_RDM, FI_WAIT_DONE, &limits);
	struct fi_ep_callbacks got = {};
	size_t len = sizeof(got);

	KUNIT_EXPECT_EQ(test, kofi_ep_setopt(&et->ep, FI_OPT_CALLBACKS, &callbacks, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, kofi_ep_setopt(&et->ep, FI_OPT_CM_DATA_SIZE, &callbacks,
					     sizeof(callbacks)), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, kofi_ep_setopt(&et->ep, FI_OPT_CALLBACKS,
					     &callbacks, sizeof(callbacks)), 0);
	KUNIT_EXPECT_EQ(test, kofi_ep_getopt(&et->ep, FI_OPT_CALLBACKS, &got, &len), 0);
	KUNIT_EXPECT_PTR_EQ(test, got.ready, callbacks.ready);
	KUNIT_EXPECT_EQ(test, kofi_ep_getopt(&et->ep, FI_OPT_CM_DATA_SIZE, &got,
					     &len), -ENOPROTOOPT);
	kofi_conn_set_state(&et->ep.conn, KOFI_CONN_ENABLED);
	KUNIT_EXPECT_EQ(test, kofi_ep_setopt(&et->ep, FI_OPT_CALLBACKS, &callbacks,
					     sizeof(callbacks)), -FI_EOPBADSTATE);
}

static void a_size_is_an_option_of_its_capability(struct kunit *test)
{
	static const struct kofi_ep_limits sizes = { .cm_data_size = 20, .max_atomic_size = 30 };
	static const struct {
		int	name;
		u64	cap;
		size_t	value;
	} rows[] = {
		{ FI_OPT_MAX_MSG_SIZE, FI_MSG, 50 },
		{ FI_OPT_MAX_TAGGED_SIZE, FI_TAGGED, 50 },
		{ FI_OPT_MAX_RMA_SIZE, FI_RMA, 50 },
		{ FI_OPT_MAX_ATOMIC_SIZE, FI_ATOMIC, 30 },
		{ FI_OPT_INJECT_MSG_SIZE, FI_MSG, 40 },
		{ FI_OPT_INJECT_TAGGED_SIZE, FI_TAGGED, 40 },
		{ FI_OPT_INJECT_RMA_SIZE, FI_RMA, 40 },
		{ FI_OPT_INJECT_ATOMIC_SIZE, FI_ATOMIC, 30 },
	};
	struct ep_test *et = open_ep(test, FI_EP_MSG, FI_WAIT_UNSPEC, &sizes);
	size_t value, len = sizeof(value);
	int i;

	et->ep.max_msg_size = 50;
	et->ep.inject_size = 40;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		et->ep.caps = rows[i].cap;
		KUNIT_EXPECT_EQ(test, kofi_ep_getopt(&et->ep, rows[i].name, &value, &len), 0);
		KUNIT_EXPECT_EQ(test, value, rows[i].value);
		et->ep.caps = ~rows[i].cap;
		KUNIT_EXPECT_EQ(test, kofi_ep_getopt(&et->ep, rows[i].name, &value, &len),
				-ENOPROTOOPT);
	}
	KUNIT_EXPECT_EQ(test, kofi_ep_getopt(&et->ep, FI_OPT_CM_DATA_SIZE, &value, &len), 0);
	KUNIT_EXPECT_EQ(test, value, 20);
	KUNIT_EXPECT_EQ(test, kofi_ep_getopt(&et->ep, 0x7fff, &value, &len), -ENOPROTOOPT);
}

static void late(struct work_struct *work)
{
}

static void the_time_to_connect_is_set_before_the_connection(struct kunit *test)
{
	struct ep_test *et = open_ep(test, FI_EP_MSG, FI_WAIT_UNSPEC, &limits);
	size_t ms = 7;

	kofi_conn_set_late(&et->ep.conn, late, 0);
	KUNIT_EXPECT_EQ(test, kofi_ep_setopt(&et->ep, FI_OPT_CONNECT_TIMEOUT, &ms, sizeof(ms)), 0);
	KUNIT_EXPECT_EQ(test, et->ep.conn.timeout, 7);
	kofi_conn_set_state(&et->ep.conn, KOFI_CONN_CONNECTING);
	KUNIT_EXPECT_EQ(test, kofi_ep_setopt(&et->ep, FI_OPT_CONNECT_TIMEOUT, &ms, sizeof(ms)),
			-FI_EOPBADSTATE);
}

static void room_calls_a_client_that_waits_once(struct kunit *test)
{
	struct ep_test *et = open_bound(test, FI_WAIT_DONE);

	et->ep.rx.cq = NULL;
	kofi_waiter_wake(&et->ep.tx.room);
	kofi_waiter_note(&et->ep.tx.room);
	kofi_waiter_note(&et->ep.tx.room);
	kofi_waiter_wake(&et->ep.tx.room);
	kofi_waiter_wake(&et->ep.tx.room);

	called(test, et);
	kofi_cq_purge(&et->cq, NULL, NULL);
	KUNIT_EXPECT_EQ(test, et->calls, 1);
	KUNIT_EXPECT_EQ(test, et->dir, FI_TRANSMIT);
	KUNIT_EXPECT_EQ(test, et->may_close, -EDEADLK);

	et->ep.rx.cq = &et->cq;
	et->ep.tx.cq = NULL;
	kofi_waiter_note(&et->ep.rx.room);
	kofi_waiter_wake(&et->ep.rx.room);
	called(test, et);
	KUNIT_EXPECT_EQ(test, et->dir, FI_RECV);
	KUNIT_EXPECT_EQ(test, et->may_close, -EDEADLK);
}

static void a_client_is_called_without_an_event(struct kunit *test)
{
	struct ep_test *et = open_bound(test, FI_WAIT_UNSPEC);

	kofi_ep_want_later(&et->ep.tx);

	called(test, et);
	KUNIT_EXPECT_EQ(test, et->calls, 1);
	KUNIT_EXPECT_FALSE(test, et->ep.tx.room.wanted);
}

static void the_end_of_an_operation_calls_before_the_timer(struct kunit *test)
{
	struct ep_test *et = open_bound(test, FI_WAIT_DONE);

	kofi_ep_want_later(&et->ep.tx);
	kofi_waiter_wake(&et->ep.tx.room);
	called(test, et);
	flush_delayed_work(&et->ep.tx.later);
	kofi_cq_purge(&et->cq, NULL, NULL);
	KUNIT_EXPECT_EQ(test, et->calls, 1);
}

static void without_a_ready_callback_nothing_is_called(struct kunit *test)
{
	struct ep_test *et = open_bound(test, FI_WAIT_DONE);

	et->ep.callbacks.ready = NULL;
	kofi_ep_want_later(&et->ep.tx);
	KUNIT_EXPECT_FALSE(test, et->ep.tx.room.wanted);
	kofi_waiter_note(&et->ep.tx.room);
	kofi_waiter_wake(&et->ep.tx.room);
	kofi_cq_purge(&et->cq, NULL, NULL);
	KUNIT_EXPECT_EQ(test, et->calls, 0);
}

static struct ep_test *open_srx(struct kunit *test, void (*ready)(struct fid_ep *ep, u64 flags))
{
	struct ep_test *et = vt_buf(test, sizeof(*et));
	struct fi_rx_attr attr = {};

	init_completion(&et->called);
	init_completion(&et->leave);
	KUNIT_ASSERT_EQ(test, kofi_ep_init_srx(&et->ep, &attr, &limits, NULL), 0);
	et->ep.callbacks.ready = ready;
	return et;
}

static void a_shared_receive_context_only_receives(struct kunit *test)
{
	struct ep_test *et = open_srx(test, ready);
	int value;
	size_t len = sizeof(value);

	KUNIT_EXPECT_EQ(test, et->ep.ep.fid.fclass, FI_CLASS_SRX_CTX);
	KUNIT_EXPECT_TRUE(test, et->ep.conn.connless);
	KUNIT_EXPECT_EQ(test, et->ep.lent_iov, 0);
	KUNIT_EXPECT_EQ(test, et->ep.rx.implied, 0);
	KUNIT_EXPECT_EQ(test, kofi_ep_getopt(&et->ep, FI_OPT_MAY_SLEEP, &value, &len),
			-ENOPROTOOPT);
	kofi_ep_fini(&et->ep);
}

static void a_shared_receive_context_has_what_was_asked_for(struct kunit *test)
{
	static const struct kofi_ep_limits lends = { .rx_op_flags = FI_COMPLETION, .lent_iov = 9 };
	struct fi_rx_attr attr = {
		.caps = FI_HMEM | FI_MSG, .mode = FI_ASYNC_IOV, .op_flags = FI_COMPLETION,
	};
	struct kofi_ep *ep = vt_buf(test, sizeof(*ep));

	KUNIT_ASSERT_EQ(test, kofi_ep_init_srx(ep, &attr, &lends, test), 0);
	KUNIT_EXPECT_EQ(test, ep->caps, FI_HMEM);
	KUNIT_EXPECT_EQ(test, ep->lent_iov, 9);
	KUNIT_EXPECT_EQ(test, ep->rx.op_flags, FI_COMPLETION);
	KUNIT_EXPECT_PTR_EQ(test, ep->ep.fid.context, (void *)test);
	kofi_ep_fini(ep);
}

static void a_shared_receive_context_is_called_in_a_worker(struct kunit *test)
{
	struct ep_test *et = open_srx(test, ready);

	kofi_waiter_note(&et->ep.rx.room);
	kofi_waiter_wake(&et->ep.rx.room);
	KUNIT_EXPECT_FALSE(test, timer_pending(&et->ep.rx.later.timer));
	called(test, et);
	KUNIT_EXPECT_EQ(test, et->dir, FI_RECV);
	KUNIT_EXPECT_TRUE(test, et->noio);
	flush_delayed_work(&et->ep.rx.later);
	/* There is nothing to report, and what the worker does next may wait for I/O */
	et->ep.rx.later.work.func(&et->ep.rx.later.work);
	KUNIT_EXPECT_EQ(test, et->calls, 1);
	KUNIT_EXPECT_FALSE(test, current->flags & PF_MEMALLOC_NOIO);
	KUNIT_EXPECT_NULL(test, et->ep.rx.caller);
	kofi_ep_fini(&et->ep);
}

#define POSTS	"events/kofi/kofi_post/enable"
#define POST	"kofi_post: fid=[^ ]* op=[a-z]* len=10 "

/* A shared receive context has no queue, so the context is as the client gave it */
static void a_trace_has_the_context_of_the_completion(struct kunit *test)
{
	struct ep_test *et = open_bound(test, FI_WAIT_DONE), *srx = open_srx(test, ready);

	KUNIT_EXPECT_EQ(test, vt_shell(UT_TRACING "echo >trace && echo 1 >" POSTS), 0);
	kofi_ep_posted(&et->ep, FI_MSG | FI_SEND, NULL, 10);
	kofi_ep_posted(&srx->ep, FI_MSG | FI_RECV, NULL, 10);
	KUNIT_EXPECT_EQ(test, vt_shell(UT_TRACING "echo 0 >" POSTS), 0);
	KUNIT_EXPECT_EQ(test, vt_shell(UT_TRACING "[ $(grep -c '" POST "' trace) = 2 ]"), 0);
	KUNIT_EXPECT_EQ(test, vt_shell(UT_TRACING "[ $(grep -c '" POST "context=0* ' trace) = 1 ]"),
			0);
	kofi_ep_fini(&srx->ep);
}

static void ready_stays(struct fid_ep *ep, u64 flags)
{
	struct ep_test *et = container_of(ep, struct ep_test, ep.ep);

	complete(&et->called);
	wait_for_completion(&et->leave);
}

static void callbacks_of_two_contexts_run_at_once(struct kunit *test)
{
	struct ep_test *one = open_srx(test, ready_stays), *two = open_srx(test, ready);

	kofi_ep_call_ready(&one->ep.rx);
	called(test, one);
	kofi_ep_call_ready(&two->ep.rx);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&two->called, PATIENCE), 0);
	complete(&one->leave);
	kofi_ep_fini(&two->ep);
	kofi_ep_fini(&one->ep);
}

static void a_shared_receive_context_is_not_called_after_the_end(struct kunit *test)
{
	struct ep_test *et = open_srx(test, ready);

	kofi_waiter_note(&et->ep.rx.room);
	kofi_waiter_wake(&et->ep.rx.room);
	kofi_ep_fini(&et->ep);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&et->ep.rx.later));
}

static void ready_closes(struct fid_ep *ep, u64 flags)
{
	struct ep_test *et = container_of(ep, struct ep_test, ep.ep);

	kofi_ep_call_ready(&et->ep.rx);
	kofi_ep_fini(&et->ep);
	et->ep.rx.caller = (void *)et;
	complete(&et->called);
}

static void what_the_callback_closes_is_not_touched_any_more(struct kunit *test)
{
	struct ep_test *et = open_srx(test, ready_closes);

	kofi_waiter_note(&et->ep.rx.room);
	kofi_waiter_wake(&et->ep.rx.room);
	called(test, et);
	flush_delayed_work(&et->ep.rx.later);
	KUNIT_EXPECT_PTR_EQ(test, et->ep.rx.caller, (void *)et);
}

static void a_client_is_not_called_after_the_end(struct kunit *test)
{
	struct ep_test *et = open_bound(test, FI_WAIT_DONE);

	kofi_ep_want_later(&et->ep.tx);
	kofi_ep_fini(&et->ep);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&et->ep.tx.later));
	KUNIT_EXPECT_NULL(test, et->ep.stat);
	KUNIT_EXPECT_EQ(test, et->calls, 0);
	kofi_cq_purge(&et->cq, NULL, NULL);
	KUNIT_EXPECT_EQ(test, et->calls, 0);
}

static struct kunit_case ep_cases[] = {
	KUNIT_CASE(default_flags_are_those_of_the_info),
	KUNIT_CASE(default_flags_beyond_the_limits_are_refused),
	KUNIT_CASE(default_flags_can_be_set),
	KUNIT_CASE(flags_without_one_direction_are_refused),
	KUNIT_CASE(queues_are_bound_by_direction),
	KUNIT_CASE(counters_are_bound_for_what_is_counted),
	KUNIT_CASE(an_endpoint_says_what_it_has_done),
	KUNIT_CASE(other_objects_are_bound_where_they_fit),
	KUNIT_CASE(nothing_is_bound_after_the_enable),
	KUNIT_CASE(enable_says_what_is_missing),
	KUNIT_CASE(an_endpoint_without_connections_needs_no_event_queue),
	KUNIT_CASE(sleeping_for_a_polled_queue_is_refused),
	KUNIT_CASE(success_is_reported_unless_completion_is_selective),
	KUNIT_CASE(an_operation_without_context_has_the_default_callback),
	KUNIT_CASE(a_default_callback_that_is_not_there_is_not_called),
	KUNIT_CASE(a_queue_without_callbacks_keeps_the_context),
	KUNIT_CASE(callbacks_can_be_set_before_the_enable_only),
	KUNIT_CASE(a_size_is_an_option_of_its_capability),
	KUNIT_CASE(the_time_to_connect_is_set_before_the_connection),
	KUNIT_CASE(room_calls_a_client_that_waits_once),
	KUNIT_CASE(a_client_is_called_without_an_event),
	KUNIT_CASE(the_end_of_an_operation_calls_before_the_timer),
	KUNIT_CASE(without_a_ready_callback_nothing_is_called),
	KUNIT_CASE(a_shared_receive_context_only_receives),
	KUNIT_CASE(a_shared_receive_context_has_what_was_asked_for),
	KUNIT_CASE(a_shared_receive_context_is_called_in_a_worker),
	KUNIT_CASE(a_trace_has_the_context_of_the_completion),
	KUNIT_CASE(callbacks_of_two_contexts_run_at_once),
	KUNIT_CASE(a_shared_receive_context_is_not_called_after_the_end),
	KUNIT_CASE(what_the_callback_closes_is_not_touched_any_more),
	KUNIT_CASE(a_client_is_not_called_after_the_end),
	{}
};

static struct kunit_suite ep_suite = {
	.name		= "kofi_util_ep",
	.test_cases	= ep_cases,
};

kunit_test_suite(ep_suite);
