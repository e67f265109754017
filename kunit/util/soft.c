// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints of providers that move the data themselves, include/kofi/soft.h.  The suite takes the
 * place of the provider: an operation stays posted until the case ends it, or the endpoint does.
 */
#include <linux/scatterlist.h>
#include <net/net_namespace.h>
#include <rdma/fi_rma.h>
#include <kofi/eq.h>
#include <kofi/soft.h>
#include "util.h"

#define DEPTH	4
#define LEN	8

/**
 * struct soft - A case
 * @ep: the endpoint
 * @fabric: its fabric
 * @domain: its domain
 * @info: what it is opened with
 * @tx: completions of its transmit side
 * @rx: completions of its receives
 * @buf: a local buffer
 * @sgl: a list that has it
 * @eq: its event queue, if it has one
 * @done: context of operations with callbacks
 * @closed: it needs no close: there is none yet, or none any more
 * @admits: the provider allows operations
 * @slow: its worker takes its time
 * @again: how often a slow worker has itself run once more
 * @works: runs of its worker that have begun
 * @worked: runs of its worker that have ended
 * @nows: operations that were taken within their call
 * @readys: calls of its ready callback
 * @dones: operations that have called back
 * @events: calls of the handler of its event queue
 * @ready: completed by each call of the ready callback
 */
struct soft {
	struct kofi_soft_ep	ep;
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fi_info		*info;
	struct fid_cq		*tx;
	struct fid_cq		*rx;
	struct fid_eq		*eq;
	u8			*buf;
	struct scatterlist	sgl;
	struct fi_done		done;
	bool			closed;
	bool			admits;
	bool			slow;
	int			again;
	atomic_t		works;
	atomic_t		worked;
	int			nows;
	int			readys;
	atomic_t		dones;
	atomic_t		events;
	struct completion	ready;
};

static struct soft *to_soft(struct kofi_soft_ep *ep)
{
	return container_of(ep, struct soft, ep);
}

static struct kofi_soft_op *take(struct kofi_soft_ep *ep)
{
	struct kofi_soft_op *op;
	unsigned long flags;

	spin_lock_irqsave(&ep->lock, flags);
	op = list_first_entry_or_null(&ep->posted, struct kofi_soft_op, entry);
	if (op)
		list_del(&op->entry);
	spin_unlock_irqrestore(&ep->lock, flags);
	return op;
}

static void end(struct kunit *test, struct soft *soft, int err)
{
	struct kofi_soft_op *op = take(&soft->ep);

	KUNIT_ASSERT_NOT_NULL(test, op);
	kofi_soft_op_done(op, err);
}

/* The provider */

static DEFINE_MUTEX(soft_lock);

static void soft_start(struct kofi_rx *rx, struct kofi_srx_msg *msg)
{
}

static void soft_discard(struct kofi_srx_msg *msg)
{
}

static void soft_resume(struct kofi_srx *srx)
{
}

static const struct kofi_srx_ops srx_ops = {
	.start		= soft_start,
	.discard	= soft_discard,
	.resume		= soft_resume,
};

static void soft_work(struct work_struct *work)
{
	struct kofi_soft_ep *ep = container_of(work, struct kofi_soft_ep, work);
	struct soft *soft = to_soft(ep);
	struct kofi_soft_op *op;

	atomic_inc(&soft->works);
	while (READ_ONCE(ep->over) && (op = take(ep)))
		kofi_soft_op_done(op, ECANCELED);
	if (soft->slow)
		msleep(20);
	if (soft->again) {
		soft->again--;
		kofi_soft_kick(ep);
	}
	atomic_inc(&soft->worked);
}

static void soft_now(struct kofi_soft_ep *ep)
{
	to_soft(ep)->nows++;
}

static bool soft_admit(struct kofi_soft_op *op)
{
	return to_soft(op->ep)->admits;
}

static void soft_event_room(struct kofi_soft_ep *ep)
{
}

static void soft_shut(struct kofi_soft_ep *ep, int err)
{
	kofi_conn_end(&ep->kep.conn, err, 0, NULL, 0);
	kofi_soft_ep_over(ep);
	kofi_srx_flush(&ep->own_srx, ECANCELED);
}

static void soft_close(struct kofi_soft_ep *ep)
{
	soft_shut(ep, ECANCELED);
}

static void soft_gone(struct kofi_soft_ep *ep)
{
	kofi_soft_ep_over(ep);
	kofi_srx_flush(&ep->own_srx, ECANCELED);
}

static void soft_free(struct kofi_soft_ep *ep)
{
	kofi_soft_ep_fini(ep);
	to_soft(ep)->closed = true;
}

static struct kofi_soft_type soft_type = {
	.lock		= &soft_lock,
	.own_rx		= &srx_ops,
	.mr_mode	= FI_MR_VIRT_ADDR,
	.op_size	= sizeof(struct kofi_soft_op),
	.max_queue	= 2 * DEPTH,
	.max_msg	= PAGE_SIZE,
	.work		= soft_work,
	.now		= soft_now,
	.admit		= soft_admit,
	.event_room	= soft_event_room,
	.shut		= soft_shut,
	.gone		= soft_gone,
	.close		= soft_close,
	.free		= soft_free,
	.fabrics	= LIST_HEAD_INIT(soft_type.fabrics),
};

static const struct kofi_ep_limits soft_limits = {
	.tx_op_flags	= FI_COMPLETION,
	.rx_op_flags	= FI_COMPLETION,
	.tx_flags	= FI_COMPLETION | FI_REMOTE_CQ_DATA,
	.recv_flags	= FI_COMPLETION,
};

/* The client */

static struct fid_ep *fid_ep(struct soft *soft)
{
	return &soft->ep.kep.ep;
}

static int close_ep(void *arg)
{
	struct fid *fid = &fid_ep(arg)->fid;

	return fid->ops->close(fid);
}

static int drain(void *arg)
{
	return fid_ep(arg)->ops->drain(fid_ep(arg), -1);
}

static int set(struct soft *soft, int optname, const void *value, size_t len)
{
	struct fid_ep *ep = fid_ep(soft);

	return ep->ops->setopt(&ep->fid, FI_OPT_ENDPOINT, optname, value, len);
}

static void close_all(void *arg)
{
	struct soft *soft = arg;

	if (!soft->closed)
		close_ep(soft);
	if (soft->tx)
		soft->tx->fid.ops->close(&soft->tx->fid);
	if (soft->rx)
		soft->rx->fid.ops->close(&soft->rx->fid);
	if (soft->eq)
		soft->eq->fid.ops->close(&soft->eq->fid);
	if (soft->domain)
		soft->domain->fid.ops->close(&soft->domain->fid);
	if (soft->fabric)
		soft->fabric->fid.ops->close(&soft->fabric->fid);
}

static void ready(struct fid_ep *ep, u64 flags)
{
	struct soft *soft = ep->fid.context;

	soft->readys++;
	complete(&soft->ready);
}

static void slow_done(struct fi_done *done, const struct fi_done_entry *entry)
{
	msleep(20);
	atomic_inc(&container_of(done, struct soft, done)->dones);
}

static struct fi_info *soft_info(struct kunit *test)
{
	struct fi_info *info = fi_allocinfo();

	KUNIT_ASSERT_NOT_NULL(test, info);
	vt_free_later(test, info);
	info->caps = FI_MSG | FI_RMA;
	info->ep_attr->type = FI_EP_RDM;
	info->ep_attr->max_msg_size = PAGE_SIZE;
	info->tx_attr->size = DEPTH;
	info->rx_attr->size = DEPTH;
	info->tx_attr->iov_limit = 1;
	info->rx_attr->iov_limit = 1;
	return info;
}

static int init_ep(struct soft *soft)
{
	const struct kofi_srx_attr room = { .size = DEPTH, .iov_limit = 1 };

	return kofi_soft_ep_init(&soft->ep, &soft_type, soft->domain, soft->info, &soft_limits,
				 &room, soft);
}

/* Not enabled; its queues have room for @tx and @rx operations */
static struct soft *open_with(struct kunit *test, const struct fi_cq_attr *tx,
			      const struct fi_cq_attr *rx, u64 tx_flags)
{
	static const struct fi_ep_callbacks callbacks = { .ready = ready };
	struct soft *soft = vt_buf(test, sizeof(*soft));
	struct fi_cq_attr tx_attr = *tx, rx_attr = *rx;
	struct fi_fabric_attr attr = { .net = &init_net };
	struct kofi_soft_fabric *fabric;

	soft->buf = vt_buf(test, LEN);
	soft->admits = true;
	soft->done.done = slow_done;
	init_completion(&soft->ready);
	sg_init_one(&soft->sgl, soft->buf, LEN);
	soft->info = soft_info(test);
	soft->closed = true;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_all, soft), 0);
	KUNIT_ASSERT_EQ(test, kofi_soft_fabric_open(&soft_type, &attr, &soft->fabric, NULL), 0);
	KUNIT_ASSERT_EQ(test, kofi_soft_domain_open(soft->fabric, soft->info, &soft->domain, NULL),
			0);
	KUNIT_ASSERT_EQ(test, kofi_soft_cq_open(soft->domain, &tx_attr, &soft->tx, NULL), 0);
	KUNIT_ASSERT_EQ(test, kofi_soft_cq_open(soft->domain, &rx_attr, &soft->rx, NULL), 0);
	KUNIT_ASSERT_EQ(test, init_ep(soft), 0);
	soft->closed = false;
	fabric = container_of(soft->fabric, struct kofi_soft_fabric, fabric);
	list_add_tail(&soft->ep.of_fabric, &fabric->eps);
	KUNIT_ASSERT_EQ(test, set(soft, FI_OPT_CALLBACKS, &callbacks, sizeof(callbacks)), 0);
	KUNIT_ASSERT_EQ(test, kofi_ep_bind(&fid_ep(soft)->fid, &soft->tx->fid,
					   FI_TRANSMIT | tx_flags), 0);
	KUNIT_ASSERT_EQ(test, kofi_ep_bind(&fid_ep(soft)->fid, &soft->rx->fid, FI_RECV), 0);
	return soft;
}

static const struct fi_cq_attr usual = { .size = DEPTH, .wait_obj = FI_WAIT_UNSPEC };

static int enable(struct soft *soft)
{
	struct fid *fid = &fid_ep(soft)->fid;

	return fid->ops->control(fid, FI_ENABLE, NULL);
}

static struct soft *open_enabled(struct kunit *test)
{
	struct soft *soft = open_with(test, &usual, &usual, 0);

	KUNIT_ASSERT_EQ(test, enable(soft), 0);
	return soft;
}

static ssize_t post_send(struct soft *soft)
{
	return fi_send(fid_ep(soft), soft->buf, LEN, NULL, 0, &soft->done);
}

static ssize_t post_rw(struct soft *soft, u64 flags)
{
	return fi_writesgl(fid_ep(soft), &soft->sgl, 1, 0, LEN, 0, 0, 1, NULL, flags);
}

static size_t reserved(struct fid_cq *cq)
{
	return to_kofi_cq(&cq->fid)->reserved;
}

static size_t unread(struct fid_cq *cq)
{
	return to_kofi_cq(&cq->fid)->count;
}

static void called(struct kunit *test, struct soft *soft, int readys)
{
	KUNIT_ASSERT_TRUE(test, vt_completed(&soft->ready));
	KUNIT_EXPECT_EQ(test, soft->readys, readys);
}

/* Cases */

static void a_drain_waits_for_users_of_the_endpoint(struct kunit *test)
{
	struct soft *soft = open_enabled(test);
	struct vt_async *thread;

	kofi_soft_ep_get(&soft->ep);
	KUNIT_EXPECT_EQ(test, fid_ep(soft)->ops->drain(fid_ep(soft), 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, fid_ep(soft)->ops->drain(fid_ep(soft), 20), -ETIMEDOUT);
	thread = vt_async_start(test, drain, soft);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(thread));
	kofi_soft_ep_put(&soft->ep);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
	KUNIT_EXPECT_EQ(test, fid_ep(soft)->ops->drain(fid_ep(soft), 0), 0);
}

static void a_close_waits_for_users_of_the_endpoint(struct kunit *test)
{
	struct soft *soft = open_enabled(test);
	struct vt_async *thread;

	kofi_soft_ep_get(&soft->ep);
	thread = vt_async_start(test, close_ep, soft);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(thread));
	kofi_soft_ep_put(&soft->ep);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
	KUNIT_EXPECT_TRUE(test, soft->closed);
}

/* Each side has a queue of its own, and callbacks that take their time */
static void a_drain_waits_for_callbacks_of_each_side(struct kunit *test)
{
	static const struct fi_cq_attr slow = {
		.size = DEPTH, .wait_obj = FI_WAIT_DONE, .comp_ctx = FI_COMP_WORKQUEUE,
	};
	struct soft *soft;
	int i;

	for (i = 0; i < 2; i++) {
		soft = open_with(test, i ? &usual : &slow, i ? &slow : &usual, 0);
		KUNIT_ASSERT_EQ(test, enable(soft), 0);
		if (i)
			KUNIT_ASSERT_EQ(test, fi_recv(fid_ep(soft), soft->buf, LEN, NULL, 0,
						      &soft->done), 0);
		else
			KUNIT_ASSERT_EQ(test, post_send(soft), 0);
		KUNIT_EXPECT_EQ(test, drain(soft), 0);
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&soft->dones), 1, "%d", i);
	}
}

/* It may still give back what the connection had */
static void a_drain_waits_for_the_worker(struct kunit *test)
{
	struct soft *soft = open_enabled(test);

	soft->slow = true;
	KUNIT_ASSERT_EQ(test, post_send(soft), 0);
	KUNIT_EXPECT_EQ(test, drain(soft), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&soft->worked), atomic_read(&soft->works));
}

/* And for a worker that runs once more */
static void the_end_of_a_namespace_waits_for_workers(struct kunit *test)
{
	struct soft *soft = open_enabled(test);

	soft->slow = true;
	soft->again = 1;
	kofi_soft_net_exit(soft->fabric);
	KUNIT_EXPECT_EQ(test, atomic_read(&soft->worked), 2);
	KUNIT_EXPECT_EQ(test, post_send(soft), -ENODEV);
	KUNIT_EXPECT_EQ(test, fi_cq_read(soft->tx, NULL, 0), -ENODEV);
}

static void handle(struct fid_eq *eq, void *context)
{
	struct soft *soft = context;

	atomic_inc(&soft->events);
}

static void an_endpoint_reports_no_end_that_its_close_brings(struct kunit *test)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_CALLBACK, .handler = handle };
	struct soft *soft = open_with(test, &usual, &usual, 0);

	KUNIT_ASSERT_EQ(test, kofi_eq_open(&attr, NULL, &soft->eq, soft), 0);
	KUNIT_ASSERT_EQ(test, kofi_ep_bind(&fid_ep(soft)->fid, &soft->eq->fid, 0), 0);
	KUNIT_ASSERT_EQ(test, enable(soft), 0);
	KUNIT_EXPECT_EQ(test, close_ep(soft), 0);
	/* That something does not happen is no event to wait for */
	msleep(20);
	KUNIT_EXPECT_EQ(test, atomic_read(&soft->events), 0);
}

static void what_is_unread_goes_from_both_queues_with_the_endpoint(struct kunit *test)
{
	struct soft *soft = open_enabled(test);

	KUNIT_ASSERT_EQ(test, post_send(soft), 0);
	KUNIT_ASSERT_EQ(test, fi_recv(fid_ep(soft), soft->buf, LEN, NULL, 0, NULL), 0);
	KUNIT_ASSERT_EQ(test, drain(soft), 0);
	KUNIT_EXPECT_EQ(test, unread(soft->tx), 1);
	KUNIT_EXPECT_EQ(test, unread(soft->rx), 1);
	KUNIT_ASSERT_EQ(test, close_ep(soft), 0);
	KUNIT_EXPECT_EQ(test, unread(soft->tx), 0);
	KUNIT_EXPECT_EQ(test, unread(soft->rx), 0);
	KUNIT_EXPECT_EQ(test, reserved(soft->tx), 0);
	KUNIT_EXPECT_EQ(test, reserved(soft->rx), 0);
}

static void an_enable_that_lacks_room_takes_none(struct kunit *test)
{
	static const struct fi_cq_attr small = { .size = DEPTH - 1 };
	struct soft *soft = open_with(test, &usual, &small, 0);

	KUNIT_EXPECT_EQ(test, enable(soft), -ENOSPC);
	KUNIT_EXPECT_EQ(test, reserved(soft->tx), 0);
	KUNIT_EXPECT_EQ(test, reserved(soft->rx), 0);
	soft = open_with(test, &small, &usual, 0);
	KUNIT_EXPECT_EQ(test, enable(soft), -ENOSPC);
	KUNIT_EXPECT_EQ(test, reserved(soft->rx), 0);
	soft = open_enabled(test);
	KUNIT_EXPECT_EQ(test, reserved(soft->tx), DEPTH);
	KUNIT_EXPECT_EQ(test, reserved(soft->rx), DEPTH);
}

static void flags_that_the_peer_does_not_know_are_refused(struct kunit *test)
{
	struct soft *soft = open_enabled(test);

	soft->ep.absent = FI_REMOTE_CQ_DATA;
	KUNIT_EXPECT_EQ(test, fi_senddata(fid_ep(soft), soft->buf, LEN, NULL, 7, 0, NULL),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&soft->ep.slots), 0);
	KUNIT_EXPECT_EQ(test, post_send(soft), 0);
	soft->ep.absent = 0;
	KUNIT_EXPECT_EQ(test, fi_senddata(fid_ep(soft), soft->buf, LEN, NULL, 7, 0, NULL), 0);
}

static void an_error_has_its_code_twice(struct kunit *test)
{
	struct soft *soft = open_enabled(test);
	struct fi_cq_err_entry error = {};

	KUNIT_ASSERT_EQ(test, post_send(soft), 0);
	end(test, soft, EREMOTEIO);
	KUNIT_ASSERT_EQ(test, fi_cq_readerr(soft->tx, &error, 0), 1);
	KUNIT_EXPECT_EQ(test, error.err, EREMOTEIO);
	KUNIT_EXPECT_EQ(test, error.prov_errno, EREMOTEIO);
	KUNIT_EXPECT_PTR_EQ(test, error.op_context, (void *)&soft->done);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&soft->ep.slots), 0);
}

static struct soft *open_rw(struct kunit *test, size_t rw_ops)
{
	struct soft *soft = open_with(test, &usual, &usual, FI_SELECTIVE_COMPLETION);

	KUNIT_ASSERT_EQ(test, set(soft, FI_OPT_MAX_RW_OPS, &rw_ops, sizeof(rw_ops)), 0);
	KUNIT_ASSERT_EQ(test, enable(soft), 0);
	return soft;
}

static void an_rw_operation_has_a_credit_until_it_ends(struct kunit *test)
{
	struct soft *soft = open_rw(test, 1);
	struct fid_ep *ep = fid_ep(soft);
	size_t value = 0, len = sizeof(value);
	struct kofi_soft_op *op;
	int i;

	KUNIT_EXPECT_EQ(test, ep->ops->getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RW_OPS, &value,
					      &len), 0);
	KUNIT_EXPECT_EQ(test, value, 1);
	KUNIT_EXPECT_EQ(test, set(soft, FI_OPT_MAX_RW_OPS, &value, len), -FI_EOPBADSTATE);
	for (i = 1; i <= 4; i++) {
		KUNIT_ASSERT_EQ(test, post_rw(soft, i & 1 ? FI_COMPLETION : 0), 0);
		KUNIT_EXPECT_EQ(test, post_rw(soft, 0), -EAGAIN);
		KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&soft->ep.slots), i / 2 + 1);
		if (i <= 2) {
			end(test, soft, 0);
		} else {
			op = take(&soft->ep);
			kofi_soft_ops_done(&op, 1);
		}
		called(test, soft, i);
		KUNIT_EXPECT_EQ(test, kofi_credit_left(&soft->ep.rw_credit), 1);
	}
	KUNIT_EXPECT_EQ(test, unread(soft->tx), 2);
}

static void admit_again(struct soft *soft)
{
	spin_lock_irq(&soft->ep.lock);
	kofi_soft_admit_again(&soft->ep);
	spin_unlock_irq(&soft->ep.lock);
}

static void a_client_that_was_not_admitted_is_called_once(struct kunit *test)
{
	struct soft *soft = open_rw(test, 1);
	int i;

	admit_again(soft);
	soft->admits = false;
	KUNIT_EXPECT_EQ(test, post_rw(soft, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, kofi_credit_left(&soft->ep.rw_credit), 1);
	KUNIT_EXPECT_EQ(test, kofi_bufpool_busy(&soft->ep.slots), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&soft->ep.kep.tx.again), 1);
	admit_again(soft);
	called(test, soft, 1);
	admit_again(soft);
	/* That something does not happen is no event to wait for */
	msleep(20);
	KUNIT_EXPECT_EQ(test, soft->readys, 1);

	/* With no slot left, when one comes back */
	KUNIT_EXPECT_EQ(test, post_send(soft), -EAGAIN);
	soft->admits = true;
	for (i = 0; i < DEPTH; i++)
		KUNIT_ASSERT_EQ(test, post_send(soft), 0);
	admit_again(soft);
	msleep(20);
	KUNIT_EXPECT_EQ(test, soft->readys, 1);
	end(test, soft, 0);
	called(test, soft, 2);
	end(test, soft, 0);
	msleep(20);
	KUNIT_EXPECT_EQ(test, soft->readys, 2);
}

/* Those that callbacks post are left to the worker, as more of them are likely to follow */
static void operations_are_taken_within_their_calls(struct kunit *test)
{
	struct soft *soft = open_with(test, &usual, &usual, 0);
	struct kofi_cq *cq = to_kofi_cq(&soft->tx->fid);
	int may_sleep = 1;

	KUNIT_ASSERT_EQ(test, set(soft, FI_OPT_MAY_SLEEP, &may_sleep, sizeof(may_sleep)), 0);
	KUNIT_ASSERT_EQ(test, enable(soft), 0);
	WRITE_ONCE(cq->runner, current);
	KUNIT_EXPECT_EQ(test, post_send(soft), 0);
	KUNIT_EXPECT_EQ(test, soft->nows, 1);
	KUNIT_EXPECT_EQ(test, post_send(soft), 0);
	WRITE_ONCE(cq->runner, NULL);
	flush_work(&soft->ep.work);
	KUNIT_EXPECT_EQ(test, soft->nows, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&soft->works), 1);
	KUNIT_EXPECT_EQ(test, post_send(soft), 0);
	KUNIT_EXPECT_EQ(test, soft->nows, 2);

	/* Its worker calls the client, and looks for more itself */
	kofi_soft_begin_calls(&soft->ep);
	KUNIT_EXPECT_EQ(test, post_send(soft), 0);
	KUNIT_EXPECT_TRUE(test, kofi_soft_end_calls(&soft->ep));
	flush_work(&soft->ep.work);
	KUNIT_EXPECT_EQ(test, soft->nows, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&soft->works), 1);
}

static void without_the_promise_the_worker_takes_operations(struct kunit *test)
{
	struct soft *soft = open_enabled(test);

	KUNIT_EXPECT_EQ(test, post_send(soft), 0);
	flush_work(&soft->ep.work);
	KUNIT_EXPECT_EQ(test, soft->nows, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&soft->works), 1);
}

static void memory_for_operations_is_allocated_as_they_are_posted(struct kunit *test)
{
	struct soft *soft;
	int i;

	soft_type.grows = true;
	soft = open_enabled(test);
	soft_type.grows = false;
	KUNIT_EXPECT_LT(test, soft->ep.slots.made, DEPTH);
	for (i = 0; i < DEPTH; i++)
		KUNIT_EXPECT_EQ(test, post_send(soft), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&soft->ep.kep.tx.again), 0);
	KUNIT_EXPECT_EQ(test, post_send(soft), -EAGAIN);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&soft->ep.kep.tx.again), 1);
}

static void an_option_of_another_level_is_not_known(struct kunit *test)
{
	struct soft *soft = open_with(test, &usual, &usual, 0);
	struct fid_ep *ep = fid_ep(soft);
	size_t value = 1, len = sizeof(value);

	KUNIT_EXPECT_EQ(test, ep->ops->setopt(&ep->fid, FI_OPT_ENDPOINT + 1, FI_OPT_MAX_RW_OPS,
					      &value, len), -ENOPROTOOPT);
	KUNIT_EXPECT_EQ(test, ep->ops->getopt(&ep->fid, FI_OPT_ENDPOINT + 1, FI_OPT_MAX_RW_OPS,
					      &value, &len), -ENOPROTOOPT);
}

static void infos_that_do_not_fit_are_refused(struct kunit *test)
{
	struct sockaddr_storage other = { .ss_family = AF_UNIX };
	struct soft *soft = open_enabled(test);
	struct fid_domain *domain;
	struct fi_info *info = soft->info;

	KUNIT_ASSERT_EQ(test, close_ep(soft), 0);
	memset(&soft->ep, 0, sizeof(soft->ep));
	info->dest_addr = kmemdup(&other, sizeof(other), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, info->dest_addr);
	info->dest_addrlen = sizeof(other);
	KUNIT_EXPECT_EQ(test, init_ep(soft), -EINVAL);
	info->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
	KUNIT_EXPECT_EQ(test, kofi_soft_domain_open(soft->fabric, info, &domain, NULL), -EINVAL);
}

/* A side without a mode of its own has that of the hints */
static void lists_are_lent_if_both_sides_of_the_hints_say_so(struct kunit *test)
{
	static const struct {
		u64	mode, tx, rx;
		bool	lends;
	} rows[] = {
		{ FI_ASYNC_IOV, 0, 0, true },
		{ FI_ASYNC_IOV | FI_CONTEXT, FI_ASYNC_IOV, FI_ASYNC_IOV, true },
		{ FI_ASYNC_IOV | FI_CONTEXT, FI_CONTEXT, 0, false },
		{ FI_ASYNC_IOV | FI_CONTEXT, 0, FI_CONTEXT, false },
		{ 0, FI_ASYNC_IOV, FI_ASYNC_IOV, false },
	};
	struct fi_info *hints = soft_info(test), *info;
	size_t i, lent;
	u64 mode;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		info = soft_info(test);
		hints->mode = rows[i].mode;
		hints->tx_attr->mode = rows[i].tx;
		hints->rx_attr->mode = rows[i].rx;
		kofi_soft_info_lend(info, hints);
		mode = rows[i].lends ? FI_ASYNC_IOV : 0;
		lent = rows[i].lends ? KOFI_OP_LENT_IOV : 1;
		KUNIT_EXPECT_EQ_MSG(test, info->mode, mode, "%zu", i);
		KUNIT_EXPECT_EQ(test, info->tx_attr->mode, mode);
		KUNIT_EXPECT_EQ(test, info->rx_attr->mode, mode);
		KUNIT_EXPECT_EQ(test, info->tx_attr->iov_limit, lent);
		KUNIT_EXPECT_EQ(test, info->rx_attr->iov_limit, lent);
	}
	info = soft_info(test);
	kofi_soft_info_lend(info, NULL);
	KUNIT_EXPECT_EQ(test, info->mode, 0);
}

static void keys_are_short_for_a_client_that_asks_for_it(struct kunit *test)
{
	static const size_t sizes[] = { 0, 2, 4, 5, 8 };
	struct fi_domain_attr domain;
	struct fi_info *hints = soft_info(test);
	bool is_short;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		domain = (struct fi_domain_attr) { .mr_key_size = 8, .mr_cnt = SIZE_MAX };
		is_short = sizes[i] && sizes[i] <= 4;
		hints->domain_attr->mr_key_size = sizes[i];
		kofi_soft_info_short_keys(&domain, hints);
		KUNIT_EXPECT_EQ_MSG(test, domain.mr_key_size, is_short ? 4 : 8, "%zu", sizes[i]);
		KUNIT_EXPECT_EQ(test, domain.mr_cnt, is_short ? KOFI_MR_SHORT_REGIONS : SIZE_MAX);
	}
}

static struct kunit_case soft_cases[] = {
	KUNIT_CASE(a_drain_waits_for_users_of_the_endpoint),
	KUNIT_CASE(a_close_waits_for_users_of_the_endpoint),
	KUNIT_CASE(a_drain_waits_for_callbacks_of_each_side),
	KUNIT_CASE(a_drain_waits_for_the_worker),
	KUNIT_CASE(the_end_of_a_namespace_waits_for_workers),
	KUNIT_CASE(an_endpoint_reports_no_end_that_its_close_brings),
	KUNIT_CASE(what_is_unread_goes_from_both_queues_with_the_endpoint),
	KUNIT_CASE(an_enable_that_lacks_room_takes_none),
	KUNIT_CASE(flags_that_the_peer_does_not_know_are_refused),
	KUNIT_CASE(an_error_has_its_code_twice),
	KUNIT_CASE(an_rw_operation_has_a_credit_until_it_ends),
	KUNIT_CASE(a_client_that_was_not_admitted_is_called_once),
	KUNIT_CASE(operations_are_taken_within_their_calls),
	KUNIT_CASE(without_the_promise_the_worker_takes_operations),
	KUNIT_CASE(memory_for_operations_is_allocated_as_they_are_posted),
	KUNIT_CASE(an_option_of_another_level_is_not_known),
	KUNIT_CASE(infos_that_do_not_fit_are_refused),
	KUNIT_CASE(lists_are_lent_if_both_sides_of_the_hints_say_so),
	KUNIT_CASE(keys_are_short_for_a_client_that_asks_for_it),
	{}
};

static int soft_init(struct kunit_suite *suite)
{
	soft_type.wq = alloc_workqueue("kofi_util_soft", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return soft_type.wq ? 0 : -ENOMEM;
}

static void soft_exit(struct kunit_suite *suite)
{
	if (soft_type.wq)
		destroy_workqueue(soft_type.wq);
}

/* A case that fails while it opens leaves that set */
static int soft_begin(struct kunit *test)
{
	soft_type.grows = false;
	return 0;
}

static struct kunit_suite soft_suite = {
	.name		= "kofi_util_soft",
	.init		= soft_begin,
	.suite_init	= soft_init,
	.suite_exit	= soft_exit,
	.test_cases	= soft_cases,
};

kunit_test_suite(soft_suite);
