// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Closing and draining endpoints whose completion queue others read by polling,
 * meanwhile, and a queue that is being polled, or about to be.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/iopoll.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include "hca.h"

#define DRAIN_PAIRS	4
#define DRAIN_OPS	8	/* of an end in each direction */
#define DRAIN_LEN	64	/* cache lines of their own */

/**
 * struct drain - A case
 * @cq: completions of all connecting ends
 * @pairs: connections
 * @seen: completions of operation n of pair p
 * @strange: completions of nobody
 * @reader: reads @cq
 * @stop: the reader is to end
 * @done: it has
 */
struct drain {
	struct vt_cq		*cq;
	struct vt_pair		pairs[DRAIN_PAIRS];
	unsigned int		seen[DRAIN_PAIRS][2 * DRAIN_OPS];
	unsigned int		strange;
	struct task_struct	*reader;
	bool			stop;
	struct completion	done;
};

static void drain_see(struct drain *drain, void *context)
{
	unsigned long n = (unsigned long)context - 1;

	if (n < DRAIN_PAIRS * 2 * DRAIN_OPS)
		drain->seen[n / (2 * DRAIN_OPS)][n % (2 * DRAIN_OPS)]++;
	else
		drain->strange++;
}

/* Returns whether there was something */
static bool drain_read(struct drain *drain)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_data_entry entry[4];
	ssize_t i, n = fi_cq_read(drain->cq->cq, entry, ARRAY_SIZE(entry));

	for (i = 0; i < n; i++)
		drain_see(drain, entry[i].op_context);
	if (n == -FI_EAVAIL && fi_cq_readerr(drain->cq->cq, &error, 0) == 1) {
		drain_see(drain, error.op_context);
		n = 1;
	}
	return n > 0;
}

static int drain_reader(void *context)
{
	struct drain *drain = context;

	while (!READ_ONCE(drain->stop)) {
		drain_read(drain);
		cond_resched();
	}
	while (drain_read(drain))
		;
	complete(&drain->done);
	return 0;
}

static void drain_open(struct kunit *test, struct drain *drain)
{
	struct fi_info *info = vt_of(test)->info;
	int i;

	drain->cq = vt_cq(test, &ht_polled,
			  DRAIN_PAIRS * (info->tx_attr->size + info->rx_attr->size));
	for (i = 0; i < DRAIN_PAIRS; i++) {
		drain->pairs[i].a.tx = drain->cq;
		ht_join(test, &drain->pairs[i]);
	}
}

/* Sends and receives at the connecting end; nothing is executed */
static void drain_post(struct kunit *test, struct drain *drain, int pair)
{
	struct fid_ep *ep = drain->pairs[pair].a.ep;
	u8 *buf = ht_buf(test, 2 * DRAIN_OPS * DRAIN_LEN);
	unsigned long i, nr = pair * 2 * DRAIN_OPS;

	for (i = 0; i < DRAIN_OPS; i++) {
		KUNIT_ASSERT_EQ(test, fi_send(ep, buf, DRAIN_LEN, NULL, 0, vt_ctx(++nr)), 0);
		buf += DRAIN_LEN;
		KUNIT_ASSERT_EQ(test, fi_recv(ep, buf, DRAIN_LEN, NULL, 0, vt_ctx(++nr)), 0);
		buf += DRAIN_LEN;
	}
}

static void drain_start(struct kunit *test, struct drain *drain)
{
	init_completion(&drain->done);
	drain->reader = kthread_run(drain_reader, drain, "drain_reader");
	KUNIT_ASSERT_FALSE(test, IS_ERR(drain->reader));
}

static void drain_stop(struct kunit *test, struct drain *drain)
{
	WRITE_ONCE(drain->stop, true);
	KUNIT_ASSERT_TRUE(test, vt_completed(&drain->done));
	drain->stop = false;
}

/*
 * One after the other is closed; of each operation the reader sees at most one end.  Or
 * it is drained, and the reader sees each.
 */
static void drain_round(struct kunit *test, bool drains, bool stays)
{
	struct fakehca_attr attr = { .roce = true, .drains = drains };
	struct drain *drain;
	int i, n;

	drain = vt_buf(test, sizeof(*drain));
	ht_serve(test, &attr);
	drain_open(test, drain);
	fakehca_hold(ht_of(test)->hca);
	for (i = 0; i < DRAIN_PAIRS; i++)
		drain_post(test, drain, i);
	drain_start(test, drain);
	for (i = 0; i < DRAIN_PAIRS; i++)
		if (stays)
			KUNIT_EXPECT_EQ(test, fi_ep_drain(drain->pairs[i].a.ep, -1), 0);
		else
			vt_close(test, &drain->pairs[i].a.ep->fid);
	drain_stop(test, drain);

	KUNIT_EXPECT_EQ(test, drain->strange, 0);
	for (i = 0; i < DRAIN_PAIRS; i++)
		for (n = 0; n < 2 * DRAIN_OPS; n++)
			KUNIT_EXPECT_TRUE(test,
					  stays ? drain->seen[i][n] == 1 : drain->seen[i][n] <= 1);
	for (i = 0; i < DRAIN_PAIRS && stays; i++)
		vt_close(test, &drain->pairs[i].a.ep->fid);
	/* Once, whoever asked for it */
	KUNIT_EXPECT_EQ(test, ht_stats(test).drains, drains ? 2 * DRAIN_PAIRS : 0);
	fakehca_release(ht_of(test)->hca);
}

static void a_close_and_a_reader_poll_in_turn(struct kunit *test)
{
	drain_round(test, false, false);
}

static void a_drain_and_a_reader_poll_in_turn(struct kunit *test)
{
	drain_round(test, false, true);
}

static void a_reader_leaves_the_queue_to_a_driver_that_drains(struct kunit *test)
{
	drain_round(test, true, false);
}

static void a_drain_by_the_driver_comes_once(struct kunit *test)
{
	drain_round(test, true, true);
}

/* There is nobody who reads */
static void a_close_needs_no_reader(struct kunit *test)
{
	struct fakehca_attr attr = { .roce = true };
	struct drain *drain;
	int i;

	drain = vt_buf(test, sizeof(*drain));
	ht_serve(test, &attr);
	drain_open(test, drain);
	for (i = 0; i < DRAIN_PAIRS; i++) {
		drain_post(test, drain, i);
		vt_close(test, &drain->pairs[i].a.ep->fid);
	}
	/* What has completed at the end has gone with its endpoint */
	KUNIT_EXPECT_FALSE(test, drain_read(drain));
}

#define DRAIN_EVENTS	20

/* A device may raise an event for which there is no completion, at any time */
static void a_close_overtakes_an_event(struct kunit *test)
{
	static const enum fi_comp_ctx contexts[] = { FI_COMP_SOFTIRQ, FI_COMP_WORKQUEUE };
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_DONE };
	struct fid_cq *cq;
	int i;

	ht_open(test, NULL);
	for (i = 0; i < DRAIN_EVENTS; i++) {
		attr.comp_ctx = contexts[i % 2];
		KUNIT_ASSERT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &cq, NULL), 0);
		fakehca_event_without_completion(ht_of(test)->hca);
		KUNIT_EXPECT_EQ(test, fi_close(&cq->fid), 0);
	}
	KUNIT_EXPECT_EQ(test, ht_stats(test).cqs, 0);
}

#if IS_ENABLED(CONFIG_KRETPROBES)

#define DRAIN_LINGER_MS	200	/* of a poller that should be gone in no time */
#define DRAIN_BEGIN_MS	5000	/* until the close that it meets begins, at most */

/**
 * struct drain_close - A close, and what a poller sees that comes too late
 * @event: raises an event
 * @hca: at this device
 * @there: the poller has looked at the queue, and has still to arm it
 * @begun: the queue is being closed
 * @ended: it is
 * @met: the poller was still there when the close began
 * @late: and when it had ended
 */
struct drain_close {
	struct work_struct	event;
	struct fakehca		*hca;
	bool			there;
	bool			begun;
	bool			ended;
	bool			met;
	bool			late;
};

static struct drain_close *drain_closes;

/* The poller has polled, and will look at the queue again when we return */
static int drain_linger(struct kretprobe_instance *probe, struct pt_regs *regs)
{
	struct drain_close *close = READ_ONCE(drain_closes);
	int ms;

	if (!close || READ_ONCE(close->ended))
		return 0;
	WRITE_ONCE(close->there, true);
	/* On a busy machine the other processor may take its time to begin the close */
	for (ms = 0; ms < DRAIN_BEGIN_MS && !READ_ONCE(close->begun); ms++)
		mdelay(1);
	if (READ_ONCE(close->begun))
		WRITE_ONCE(close->met, true);
	for (ms = 0; ms < DRAIN_LINGER_MS && !READ_ONCE(close->ended); ms++)
		mdelay(1);
	if (READ_ONCE(close->ended))
		WRITE_ONCE(close->late, true);
	return 0;
}

static void drain_unprobe(void *probe)
{
	unregister_kretprobe(probe);
	drain_closes = NULL;
}

static void drain_event(struct work_struct *work)
{
	fakehca_event_without_completion(container_of(work, struct drain_close, event)->hca);
}

static void drain_no_event(void *event)
{
	cancel_work_sync(event);
}

/* Has the queue polled on another processor, and waits until it was */
static void drain_poll_elsewhere(struct kunit *test, struct drain_close *close)
{
	int cpu = cpumask_first(cpu_online_mask);
	int other = cpumask_any_but(cpu_online_mask, cpu);
	bool there;

	KUNIT_ASSERT_LT(test, other, (int)nr_cpu_ids);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(cpu)), 0);
	WRITE_ONCE(drain_closes, close);
	/* The poller may run before the work item has returned */
	schedule_work_on(other, &close->event);
	KUNIT_ASSERT_EQ(test, read_poll_timeout(READ_ONCE, there, there, 100, HT_PATIENCE_MS * 1000,
						false, close->there), 0);
}

static void a_close_waits_for_the_poller(struct kunit *test)
{
	static struct kretprobe probe = {
		.kp.symbol_name	= "fakehca_poll_cq",
		.handler	= drain_linger,
	};
	struct drain_close *close;
	struct vt_end end = {};

	close = vt_buf(test, sizeof(*close));
	INIT_WORK(&close->event, drain_event);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, drain_no_event, &close->event), 0);
	ht_open(test, NULL);
	close->hca = ht_of(test)->hca;
	ht_client(test, &end);
	vt_close(test, &end.ep->fid);
	probe.kp.addr = NULL;
	probe.kp.flags = 0;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&probe), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, drain_unprobe, &probe), 0);
	drain_poll_elsewhere(test, close);
	WRITE_ONCE(close->begun, true);
	vt_close(test, &end.tx->cq->fid);
	WRITE_ONCE(close->ended, true);
	kunit_release_action(test, drain_unprobe, &probe);
	KUNIT_EXPECT_TRUE(test, close->met);
	KUNIT_EXPECT_FALSE(test, close->late);
}

#endif /* CONFIG_KRETPROBES */

static struct kunit_case kofi_hca_drain_cases[] = {
	KUNIT_CASE(a_close_and_a_reader_poll_in_turn),
	KUNIT_CASE(a_drain_and_a_reader_poll_in_turn),
	KUNIT_CASE(a_reader_leaves_the_queue_to_a_driver_that_drains),
	KUNIT_CASE(a_drain_by_the_driver_comes_once),
	KUNIT_CASE(a_close_needs_no_reader),
	KUNIT_CASE(a_close_overtakes_an_event),
#if IS_ENABLED(CONFIG_KRETPROBES)
	KUNIT_CASE(a_close_waits_for_the_poller),
#endif
	{}
};

struct kunit_suite kofi_hca_drain_suite = {
	.name		= "kofi_hca_drain",
	.init		= ht_init,
	.exit		= ht_exit,
	.test_cases	= kofi_hca_drain_cases,
};
