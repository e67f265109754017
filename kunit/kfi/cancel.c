// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kfi_cancel(): 0 means that one completion comes, -ENOENT that there is none to come.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include "kfi.h"

#define ROUNDS	1000

static void a_tagged_receive_is_taken_back(struct kunit *test)
{
	struct bed_mem *mem = bed_mem(test, 1, 0, 4096);
	struct bed *bed = bed_open(test);
	struct bulk_ep *ep;

	ep = &bed->b.ni.ep[0];
	KUNIT_EXPECT_EQ(test, kfi_cancel(&ep->rx->fid, bed_ctx(1)), -ENOENT);
	KUNIT_ASSERT_EQ(test, bed_trecv(ep, mem, bed->b.peer, BED_TAG, bed_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, kfi_cancel(&ep->rx->fid, bed_ctx(1)), 0);
	KUNIT_EXPECT_EQ(test, kfi_cancel(&ep->rx->fid, bed_ctx(1)), -ENOENT);
	bed_expect(test, &ep->rx_cq, bed_ctx(1), BED_UNUSED, ECANCELED);
	KUNIT_EXPECT_EQ(test, kfi_cancel(&ep->rx->fid, bed_ctx(1)), -ENOENT);
	bed_none(test, &ep->rx_cq);
	/* The peer learns it */
	KUNIT_ASSERT_EQ(test, bed_rma(&bed->a.ni.ep[0], true, mem, bed->a.peer, BED_TAG,
				      bed_ctx(2)), 0);
	bed_expect(test, &bed->a.ni.ep[0].tx_cq, bed_ctx(2), BED_READ, ENOMSG);
}

static void a_buffer_is_taken_back(struct kunit *test)
{
	u8 *buf = vt_buf(test, 4 * BULK_MSG);
	struct bed *bed = bed_open(test);
	struct bulk_ep *ep;
	int used;

	for (used = 0; used < 2; used++) {
		ep = &bed->b.ni.ep[0];
		KUNIT_ASSERT_EQ(test, kfi_recv(ep->rx, buf, 4 * BULK_MSG, NULL, KFI_ADDR_UNSPEC,
					       bed_ctx(1)), 0);
		if (used) {
			KUNIT_ASSERT_EQ(test, kfi_send(bed->a.ni.ep[0].tx, buf, 8, NULL,
						       bed->a.peer, bed_ctx(2)), 0);
			bed_expect(test, &ep->rx_cq, bed_ctx(1), BED_RECEIVED, 0);
		}
		KUNIT_EXPECT_EQ(test, kfi_cancel(&ep->rx->fid, bed_ctx(1)), 0);
		bed_expect(test, &ep->rx_cq, bed_ctx(1), BED_LAST, ECANCELED);
		KUNIT_EXPECT_EQ(test, kfi_cancel(&ep->rx->fid, bed_ctx(1)), -ENOENT);
		bed_none(test, &ep->rx_cq);
	}
}

/**
 * struct canceller - A thread that cancels a receive in each round
 * @rx: the receive context
 * @begin: of a round
 * @done: of a round
 * @delay: nanoseconds to wait first
 * @ret: what kfi_cancel() returned
 */
struct canceller {
	struct kfid_ep		*rx;
	struct completion	begin;
	struct completion	done;
	int			delay;
	ssize_t			ret;
};

static int cancel_each(void *data)
{
	struct canceller *canceller = data;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		wait_for_completion(&canceller->begin);
		ndelay(canceller->delay);
		canceller->ret = kfi_cancel(&canceller->rx->fid, bed_ctx(1));
		complete(&canceller->done);
	}
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* What comes first in a round.  On one processor a race may always have the same winner */
enum order {
	CANCEL_FIRST,
	TRANSFER_FIRST,
	RACE,
	RACE_AGAIN,
	ORDERS,
};

/* One round: the receive ends once, and both ends agree on how */
static bool cancel_once(struct kunit *test, struct bed *bed, struct canceller *canceller,
			const struct bed_mem *receive, const struct bed_mem *mem, bool read,
			enum order order)
{
	struct bed_event rx = {}, tx = {};
	bool cancelled;

	KUNIT_ASSERT_EQ(test, bed_trecv(&bed->b.ni.ep[0], receive, bed->b.peer, BED_TAG,
					bed_ctx(1)), 0);
	if (order != TRANSFER_FIRST)
		complete(&canceller->begin);
	/* On one processor the other thread does not run before this one waits */
	if (order == CANCEL_FIRST && wait_for_completion_timeout(&canceller->done, HZ))
		complete(&canceller->done);
	KUNIT_ASSERT_EQ(test, bed_rma(&bed->a.ni.ep[0], read, mem, bed->a.peer, BED_TAG,
				      bed_ctx(2)), 0);
	KUNIT_ASSERT_EQ(test, bed_wait(&bed->b.ni.ep[0].rx_cq, &rx, VT_PATIENCE_MS), 1);
	if (order == TRANSFER_FIRST)
		complete(&canceller->begin);
	wait_for_completion(&canceller->done);
	KUNIT_ASSERT_EQ(test, bed_wait(&bed->a.ni.ep[0].tx_cq, &tx, VT_PATIENCE_MS), 1);
	cancelled = rx.err == ECANCELED;
	KUNIT_EXPECT_EQ(test, rx.flags, cancelled ? BED_UNUSED :
			read ? BED_WAS_READ : BED_WAS_WRITTEN);
	KUNIT_EXPECT_EQ(test, rx.err, cancelled ? ECANCELED : 0);
	KUNIT_EXPECT_EQ(test, tx.flags, read ? BED_READ : BED_WROTE);
	KUNIT_EXPECT_EQ(test, tx.err, cancelled ? ENOMSG : 0);
	KUNIT_EXPECT_EQ(test, canceller->ret, cancelled ? 0 : -ENOENT);
	return cancelled;
}

static void a_cancel_meets_a_transfer(struct kunit *test)
{
	struct bed_mem *receive = bed_mem(test, 1, 0, 4096), *mem = bed_mem(test, 1, 0, 4096);
	struct canceller canceller = {};
	struct bed *bed = bed_open(test);
	struct task_struct *task;
	int round, cancelled = 0;

	canceller.rx = bed->b.ni.ep[0].rx;
	init_completion(&canceller.begin);
	init_completion(&canceller.done);
	task = kthread_run(cancel_each, &canceller, "kfi_cancel");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (round = 0; round < ROUNDS; round++) {
		canceller.delay = round * 37 % 20000;
		cancelled += cancel_once(test, bed, &canceller, receive, mem, round % 2,
					 round / 2 % ORDERS);
	}
	kthread_stop(task);
	KUNIT_EXPECT_GE(test, cancelled, ROUNDS / ORDERS);
	KUNIT_EXPECT_LE(test, cancelled, ROUNDS - ROUNDS / ORDERS);
	bed_none(test, &bed->b.ni.ep[0].rx_cq);
}

static struct kunit_case cancel_cases[] = {
	KUNIT_CASE_PARAM(a_tagged_receive_is_taken_back, bed_gen),
	KUNIT_CASE_PARAM(a_buffer_is_taken_back, bed_gen),
	KUNIT_CASE_PARAM(a_cancel_meets_a_transfer, bed_gen),
	{}
};

struct kunit_suite kfi_cancel_suite = {
	.name		= "kofi_kfi_cancel",
	.test_cases	= cancel_cases,
};
