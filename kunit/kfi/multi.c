// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Buffers for many messages: KFI_MULTI_RECV comes with the last message of a buffer, and never
 * without a message.
 */
#include <linux/kthread.h>
#include <linux/mm.h>
#include "kfi.h"

#define MESSAGES	16	/* of BULK_MSG bytes in a buffer */
#define READERS		3
#define ROUNDS		20

static void *buffer(struct kunit *test)
{
	return vt_buf(test, MESSAGES * BULK_MSG);
}

static void post(struct kunit *test, struct bed *bed, void *buf)
{
	KUNIT_ASSERT_EQ(test, kfi_recv(bed->b.ni.ep[0].rx, buf, MESSAGES * BULK_MSG, NULL,
				       KFI_ADDR_UNSPEC, bed_ctx(1)), 0);
}

static void send(struct kunit *test, struct bed *bed, const void *out, size_t len)
{
	KUNIT_ASSERT_EQ(test, kfi_send(bed->a.ni.ep[0].tx, out, len, NULL, bed->a.peer,
				       bed_ctx(2)), 0);
	bed_expect(test, &bed->a.ni.ep[0].tx_cq, bed_ctx(2), BED_SENT, 0);
}

static void the_last_message_brings_the_buffer_back(struct kunit *test)
{
	void *buf = buffer(test), *out = vt_buf(test, BULK_MSG);
	struct bed *bed = bed_open(test);
	struct bed_event event;
	int i;

	post(test, bed, buf);
	for (i = 0; i < MESSAGES; i++) {
		send(test, bed, out, BULK_MSG);
		event = bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(1),
				   i < MESSAGES - 1 ? BED_RECEIVED : BED_LAST, 0);
		KUNIT_EXPECT_PTR_EQ(test, event.buf, buf + i * BULK_MSG);
	}
	bed_none(test, &bed->b.ni.ep[0].rx_cq);
}

/* The peer sends more than the rules allow; the message itself goes to the next buffer */
static void a_buffer_that_is_given_back_alone_is_an_error(struct kunit *test)
{
	void *buf = buffer(test), *next = buffer(test), *out = vt_buf(test, 3 * BULK_MSG);
	struct bed *bed = bed_open(test);
	struct bed_event event;
	int i;

	post(test, bed, buf);
	KUNIT_ASSERT_EQ(test, kfi_recv(bed->b.ni.ep[0].rx, next, MESSAGES * BULK_MSG, NULL,
				       KFI_ADDR_UNSPEC, bed_ctx(3)), 0);
	for (i = 0; i < MESSAGES - 2; i++) {
		send(test, bed, out, BULK_MSG);
		bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(1), BED_RECEIVED, 0);
	}
	send(test, bed, out, 3 * BULK_MSG);
	bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(1), BED_LAST, ENOBUFS);
	event = bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(3), BED_RECEIVED, 0);
	KUNIT_EXPECT_PTR_EQ(test, event.buf, next);
	bed_none(test, &bed->b.ni.ep[0].rx_cq);
}

static void a_message_longer_than_a_buffer_is_an_error(struct kunit *test)
{
	void *buf = buffer(test), *out = vt_buf(test, 3 * BULK_MSG);
	struct bed *bed = bed_open(test);

	KUNIT_ASSERT_EQ(test, kfi_recv(bed->b.ni.ep[0].rx, buf, 2 * BULK_MSG, NULL,
				       KFI_ADDR_UNSPEC, bed_ctx(1)), 0);
	KUNIT_ASSERT_EQ(test, kfi_send(bed->a.ni.ep[0].tx, out, 3 * BULK_MSG, NULL, bed->a.peer,
				       bed_ctx(2)), 0);
	bed_expect(test, &bed->b.ni.ep[0].rx_cq, bed_ctx(1), BED_LAST, EMSGSIZE);
	bed_none(test, &bed->b.ni.ep[0].rx_cq);
}

/**
 * struct readers - Threads that read one queue at the same time
 * @cq: the queue
 * @left: messages that have not come yet
 * @last: how often the buffer came back
 * @wrong: completions that are neither
 */
struct readers {
	struct bulk_cq	*cq;
	atomic_t	left;
	atomic_t	last;
	atomic_t	wrong;
};

static int reader(void *data)
{
	struct readers *readers = data;
	struct bed_event event;

	while (atomic_read(&readers->left) > 0) {
		if (bed_wait(readers->cq, &event, BED_QUIET_MS) != 1)
			continue;
		if (event.err || event.context != bed_ctx(1) ||
		    (event.flags != BED_RECEIVED && event.flags != BED_LAST))
			atomic_inc(&readers->wrong);
		if (event.flags == BED_LAST)
			atomic_inc(&readers->last);
		atomic_dec(&readers->left);
	}
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static void three_readers_get_the_buffer_back_once(struct kunit *test)
{
	void *buf = buffer(test), *out = vt_buf(test, BULK_MSG);
	struct task_struct *tasks[READERS];
	struct readers readers = {};
	struct bed *bed = bed_open(test);
	int i, round;

	for (round = 0; round < ROUNDS; round++) {
		readers.cq = &bed->b.ni.ep[0].rx_cq;
		atomic_set(&readers.left, MESSAGES);
		atomic_set(&readers.last, 0);
		post(test, bed, buf);
		for (i = 0; i < READERS; i++) {
			tasks[i] = kthread_run(reader, &readers, "kfi_reader%d", i);
			KUNIT_ASSERT_FALSE(test, IS_ERR(tasks[i]));
		}
		for (i = 0; i < MESSAGES; i++)
			KUNIT_EXPECT_EQ(test, kfi_send(bed->a.ni.ep[0].tx, out, BULK_MSG, NULL,
						       bed->a.peer, bed_ctx(2)), 0);
		for (i = 0; i < MESSAGES; i++)
			bed_expect(test, &bed->a.ni.ep[0].tx_cq, bed_ctx(2), BED_SENT, 0);
		for (i = 0; i < READERS; i++)
			kthread_stop(tasks[i]);
		KUNIT_EXPECT_EQ(test, atomic_read(&readers.left), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&readers.last), 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&readers.wrong), 0);
	}
}

static struct kunit_case multi_cases[] = {
	KUNIT_CASE_PARAM(the_last_message_brings_the_buffer_back, bed_gen),
	KUNIT_CASE_PARAM(a_buffer_that_is_given_back_alone_is_an_error, bed_gen),
	KUNIT_CASE_PARAM(a_message_longer_than_a_buffer_is_an_error, bed_gen),
	KUNIT_CASE_PARAM(three_readers_get_the_buffer_back_once, bed_gen),
	{}
};

struct kunit_suite kfi_multi_suite = {
	.name		= "kofi_kfi_multi",
	.test_cases	= multi_cases,
};
