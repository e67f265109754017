// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Persistent memory of peers: the listener of a domain on a device that refuses it, and control
 * connections on a device that fails.
 */
#include <rdma/fi_rma.h>
#include <rdma/ib_verbs.h>
#include "../lib/async.h"
#include "mr.h"

#define SAVE_FIND_LISTENER \
	"PATH=$PATH:/usr/bin:/usr/sbin; rdma resource show cm_id | " \
	"grep -q 'LISTEN.* src-addr 0.0.0.0:'"

static void save_serve(struct kunit *test)
{
	const struct fakehca_attr attr = { .roce = true };
	struct ht *ht = ht_of(test);
	struct fi_info *hints;

	ht_device(test, &attr);
	hints = ht_hints(test);
	hints->caps = FI_MSG | FI_RMA | FI_RMA_PMEM;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	ht_fabric(test, hints);
	KUNIT_ASSERT_EQ(test, fi_domain(ht->vt.fabric, ht->vt.info, &ht->vt.domain, NULL), 0);
	vt_adopt(test, &ht->vt.domain->fid);
	vt_listen(test, vt_eq(test, 0));
}

/*
 * The listener that the device refuses is destroyed, and the peer comes to the next one.  lockdep
 * compares the order of the locks of both.
 */
static void a_listener_that_is_refused_is_replaced(struct kunit *test)
{
	const struct fi_rma_iov remote = { .key = 1 };
	const struct fi_msg_rma msg = {
		.rma_iov = &remote, .rma_iov_count = 1, .context = vt_ctx(1),
	};
	struct vt_pair pair = {};
	struct fid_ep *ep;

	save_serve(test);
	/* The wildcard addresses of both families */
	fakehca_fail_again(ht_of(test)->hca, FAKEHCA_LISTEN, 1, -EIO, 2);
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, vt_of(test)->info, &ep, NULL), -EIO);
	fakehca_fail(ht_of(test)->hca, FAKEHCA_LISTEN, 1, -EIO);
	ht_join(test, &pair);
	KUNIT_EXPECT_EQ(test, fakehca_calls(ht_of(test)->hca, FAKEHCA_LISTEN), 5);
	KUNIT_EXPECT_EQ(test, vt_shell(SAVE_FIND_LISTENER), 0);
	KUNIT_ASSERT_EQ(test, fi_writemsg(pair.a.ep, &msg, FI_COMPLETION | FI_COMMIT_COMPLETE |
					  FI_SAVE), 0);
	/* The target has no region with this key, and says so */
	ht_failed(test, pair.a.tx, EACCES);
	/* A request and an answer */
	KUNIT_EXPECT_EQ(test, ht_stats(test).syncs, 2);
	KUNIT_EXPECT_EQ(test, ht_stats(test).cpu_syncs, 2);
}

/**
 * struct save_failure - What fails while an endpoint saves for the first time
 * @name: of the step
 * @point: where
 * @nth: at which call, of both ends
 * @value: with what
 * @err: the error of the operation
 * @read: the save is one of what was read, which needs a read by the worker
 */
struct save_failure {
	const char		*name;
	enum fakehca_point	point;
	unsigned int		nth;
	int			value;
	int			err;
	bool			read;
};

/* The target has ended the control connection where the error is ECONNABORTED */
static const struct save_failure save_failures[] = {
	{ "completion queue", FAKEHCA_CREATE_CQ, 1, -EPERM, EPERM },
	{ "queue pair", FAKEHCA_CREATE_QP, 1, -EPERM, EPERM },
	{ "state INIT", FAKEHCA_MODIFY_QP, 1, -EPERM, EPERM },
	{ "connect", FAKEHCA_CONNECT, 1, -EPERM, EPERM },
	{ "the target's completion queue", FAKEHCA_CREATE_CQ, 2, -EPERM, ECONNABORTED },
	{ "the target's queue pair", FAKEHCA_CREATE_QP, 2, -EPERM, ECONNABORTED },
	{ "the target's receive", FAKEHCA_POST_RECV, 1, -EPERM, ECONNABORTED },
	{ "accept", FAKEHCA_ACCEPT, 1, -EPERM, ECONNABORTED },
	{ "read", FAKEHCA_POST_SEND, 2, -EPERM, EPERM, true },
	{ "receive of the answer", FAKEHCA_POST_RECV, 2, -EPERM, EPERM },
	{ "request", FAKEHCA_POST_SEND, 2, -EPERM, EPERM },
	{ "completion of the request", FAKEHCA_SEND_WC, 2, IB_WC_LOC_LEN_ERR, ECONNABORTED },
	{ "the target's next receive", FAKEHCA_POST_RECV, 3, -EPERM, ECONNABORTED },
	{ "answer", FAKEHCA_POST_SEND, 3, -EPERM, ECONNABORTED },
	{ "completion of the answer", FAKEHCA_RECV_WC, 2, IB_WC_LOC_LEN_ERR, ECONNABORTED },
};

KUNIT_ARRAY_PARAM_DESC(save_failure, save_failures, name);

/* And the save */
static void a_step_that_fails_ends_the_connection(struct kunit *test)
{
	const struct save_failure *fail = test->param_value;
	const struct fi_rma_iov remote = { .key = 1 };
	const struct fi_msg_rma msg = {
		.rma_iov = &remote, .rma_iov_count = 1, .context = vt_ctx(1),
	};
	u64 flags = FI_COMPLETION | FI_COMMIT_COMPLETE | FI_SAVE;
	struct vt_pair pair = {};
	struct vt_comp comp;

	save_serve(test);
	/* The device has no listener for both families */
	fakehca_fail(ht_of(test)->hca, FAKEHCA_LISTEN, 1, -EIO);
	ht_join(test, &pair);
	fakehca_fail(ht_of(test)->hca, fail->point, fail->nth, fail->value);
	KUNIT_ASSERT_EQ(test, fail->read ? fi_readmsg(pair.a.ep, &msg, flags) :
					   fi_writemsg(pair.a.ep, &msg, flags), 0);
	comp = ht_failed(test, pair.a.tx, fail->err);
	KUNIT_EXPECT_EQ(test, comp.prov_errno, IB_WC_REM_OP_ERR);
	vt_event(test, pair.a.eq, FI_SHUTDOWN, NULL);
}

/**
 * struct save_opener - Another endpoint, opened by a thread of its own
 * @test: the case
 * @thread: opens it
 * @ep: the endpoint
 */
struct save_opener {
	struct kunit	*test;
	struct vt_async	*thread;
	struct fid_ep	*ep;
};

static int save_open(void *context)
{
	struct save_opener *opener = context;
	struct vt *vt = vt_of(opener->test);

	return fi_endpoint(vt->domain, vt->info, &opener->ep, NULL);
}

/* By the task of the case, while its listener is made */
static void save_begin_open(void *context)
{
	struct save_opener *opener = context;

	opener->thread = vt_async_start(opener->test, save_open, opener);
	KUNIT_EXPECT_TRUE(opener->test, vt_async_waits(opener->thread));
}

/* Each finds that the domain has no listener, and makes one; one of these stays */
static void endpoints_that_open_at_a_time_share_a_listener(struct kunit *test)
{
	struct save_opener *opener = ht_buf(test, sizeof(*opener));
	struct fakehca *hca;
	unsigned int calls;
	struct fid_ep *ep;

	save_serve(test);
	hca = ht_of(test)->hca;
	calls = fakehca_calls(hca, FAKEHCA_LISTEN);
	opener->test = test;
	fakehca_on_listen(hca, save_begin_open, opener);
	KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, vt_of(test)->info, &ep, NULL), 0);
	KUNIT_ASSERT_EQ(test, vt_async_join(test, opener->thread), 0);
	vt_adopt(test, &ep->fid);
	vt_adopt(test, &opener->ep->fid);

	KUNIT_EXPECT_EQ(test, fakehca_calls(hca, FAKEHCA_LISTEN), calls + 2);
	/* The other is that of the case */
	KUNIT_EXPECT_EQ(test, ht_stats(test).listens, 2);
}

static struct kunit_case save_cases[] = {
	KUNIT_CASE(a_listener_that_is_refused_is_replaced),
	KUNIT_CASE_PARAM(a_step_that_fails_ends_the_connection, save_failure_gen_params),
	KUNIT_CASE(endpoints_that_open_at_a_time_share_a_listener),
	{}
};

struct kunit_suite kofi_hca_save_suite = {
	.name		= "kofi_hca_save",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= save_cases,
};
