// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The completion queue of all providers (include/kofi/cq.h): order, formats,
 * errors, room, and taking completions out again.  Waiting is in wait.c, and
 * where clients are called in run.c, call.c and handler.c.
 */
#include <kofi/cq.h>
#include "../../lib/async.h"
#include "../util.h"

#define NR_COMPS	200

/* @released: what the queue has given back, oldest first; guarded by @lock */
struct cq_test {
	struct kofi_cq		cq;
	struct kofi_comp	comps[NR_COMPS];
	spinlock_t		lock;		/* a reader and a purge release */
	struct kofi_comp	*released[2 * NR_COMPS];
	int			nr_released;
};

static struct cq_test *the_case;

static void release(struct kofi_comp *chain)
{
	unsigned long flags;

	spin_lock_irqsave(&the_case->lock, flags);
	for (; chain; chain = chain->next)
		the_case->released[the_case->nr_released++] = chain;
	spin_unlock_irqrestore(&the_case->lock, flags);
}

static const char *error_text(int prov_errno)
{
	return prov_errno == 1005 ? "a thousand and five" : "another";
}

static const struct kofi_cq_ops test_ops = {
	.release	= release,
	.strerror	= error_text,
};

KUNIT_DEFINE_ACTION_WRAPPER(fini_cq, kofi_cq_fini, struct kofi_cq *);

static struct cq_test *open_cq(struct kunit *test, enum fi_cq_format format)
{
	struct fi_cq_attr attr = { .format = format };
	struct cq_test *ct = kunit_kzalloc(test, sizeof(*ct), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, ct);
	spin_lock_init(&ct->lock);
	the_case = ct;
	KUNIT_ASSERT_EQ(test, kofi_cq_init(&ct->cq, &attr, NR_COMPS, &test_ops,
					   ct), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fini_cq, &ct->cq),
			0);
	for (i = 0; i < NR_COMPS; i++)
		ct->comps[i] = (struct kofi_comp) {
			.op_context = &ct->comps[i],
			.flags = FI_RECV | FI_MSG,
			.len = 100 + i,
			.buf = ct,
			.data = 200 + i,
		};
	return ct;
}

static void complete_one(struct cq_test *ct, int i, int err)
{
	ct->comps[i].err = err;
	ct->comps[i].prov_errno = err ? 1000 + err : 0;
	kofi_cq_complete(&ct->cq, &ct->comps[i]);
}

static ssize_t read_cq(struct cq_test *ct, void *buf, size_t count)
{
	return fi_cq_read(&ct->cq.cq, buf, count);
}

static ssize_t read_error(struct cq_test *ct, struct fi_cq_err_entry *entry)
{
	return fi_cq_readerr(&ct->cq.cq, entry, 0);
}

/* Reads one; its number, or an error */
static long read_one(struct cq_test *ct)
{
	struct fi_cq_tagged_entry entry;
	ssize_t ret;

	ret = read_cq(ct, &entry, 1);
	return ret < 0 ? ret : (struct kofi_comp *)entry.op_context - ct->comps;
}

static void empty_queue_gives_eagain(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_err_entry entry = {};

	KUNIT_EXPECT_EQ(test, read_one(ct), -EAGAIN);
	KUNIT_EXPECT_EQ(test, read_error(ct, &entry), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ct->nr_released, 0);
}

static void completions_come_in_order(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	int i;

	for (i = 0; i < NR_COMPS; i++)
		complete_one(ct, i, 0);

	for (i = 0; i < NR_COMPS; i++)
		KUNIT_EXPECT_EQ(test, read_one(ct), i);
	KUNIT_EXPECT_EQ(test, read_one(ct), -EAGAIN);
}

static void slot_can_complete_again_when_it_was_read(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	int i;

	for (i = 0; i < 3; i++) {
		complete_one(ct, 0, 0);
		complete_one(ct, 1, 0);
		KUNIT_EXPECT_EQ(test, read_one(ct), 0);
		KUNIT_EXPECT_EQ(test, read_one(ct), 1);
	}
	KUNIT_EXPECT_EQ(test, read_one(ct), -EAGAIN);
}

static void read_takes_no_more_than_asked(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_entry entries[8];
	int i;

	for (i = 0; i < 6; i++)
		complete_one(ct, i, 0);

	KUNIT_EXPECT_EQ(test, read_cq(ct, entries, 2), 2);
	KUNIT_EXPECT_EQ(test, read_cq(ct, entries, 8), 4);
	KUNIT_EXPECT_PTR_EQ(test, entries[0].op_context, (void *)&ct->comps[2]);
}

static void completions_that_were_read_are_released(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_entry entries[4];

	complete_one(ct, 0, 0);
	complete_one(ct, 1, 0);
	complete_one(ct, 2, 0);

	KUNIT_ASSERT_EQ(test, read_cq(ct, entries, 2), 2);

	KUNIT_ASSERT_EQ(test, ct->nr_released, 2);
	KUNIT_EXPECT_PTR_EQ(test, ct->released[0], &ct->comps[0]);
	KUNIT_EXPECT_PTR_EQ(test, ct->released[1], &ct->comps[1]);
}

static void a_chain_is_queued_in_its_order(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);

	complete_one(ct, 0, 0);
	ct->comps[1].next = &ct->comps[2];
	ct->comps[2].next = &ct->comps[3];
	ct->comps[2].err = EIO;
	kofi_cq_complete_chain(&ct->cq, &ct->comps[1]);
	complete_one(ct, 4, 0);

	KUNIT_EXPECT_EQ(test, read_one(ct), 0);
	KUNIT_EXPECT_EQ(test, read_one(ct), 1);
	KUNIT_EXPECT_EQ(test, read_one(ct), -FI_EAVAIL);
	KUNIT_EXPECT_EQ(test, read_error(ct, &(struct fi_cq_err_entry) {}), 1);
	KUNIT_EXPECT_EQ(test, read_one(ct), 3);
	KUNIT_EXPECT_EQ(test, read_one(ct), 4);
}

static void one_read_takes_more_than_a_batch(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_entry *entries;
	int i;

	entries = kunit_kcalloc(test, NR_COMPS + 1, sizeof(*entries),
				GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, entries);
	for (i = 0; i < NR_COMPS; i++)
		complete_one(ct, i, 0);

	KUNIT_EXPECT_EQ(test, read_cq(ct, entries, NR_COMPS + 1), NR_COMPS);

	for (i = 0; i < NR_COMPS; i++)
		KUNIT_EXPECT_PTR_EQ(test, entries[i].op_context,
				    (void *)&ct->comps[i]);
	KUNIT_EXPECT_NULL(test, entries[NR_COMPS].op_context);
	KUNIT_EXPECT_EQ(test, ct->nr_released, NR_COMPS);
}

static void context_format_has_the_context(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_UNSPEC);
	struct fi_cq_entry entries[3] = {};

	complete_one(ct, 0, 0);
	complete_one(ct, 1, 0);

	KUNIT_ASSERT_EQ(test, read_cq(ct, entries, 2), 2);
	KUNIT_EXPECT_PTR_EQ(test, entries[0].op_context, (void *)&ct->comps[0]);
	KUNIT_EXPECT_PTR_EQ(test, entries[1].op_context, (void *)&ct->comps[1]);
	KUNIT_EXPECT_NULL(test, entries[2].op_context);
}

static void msg_format_has_flags_and_length(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_MSG);
	struct fi_cq_msg_entry entries[3] = {};

	complete_one(ct, 0, 0);
	complete_one(ct, 1, 0);

	KUNIT_ASSERT_EQ(test, read_cq(ct, entries, 2), 2);
	KUNIT_EXPECT_PTR_EQ(test, entries[1].op_context, (void *)&ct->comps[1]);
	KUNIT_EXPECT_EQ(test, entries[1].flags, FI_RECV | FI_MSG);
	KUNIT_EXPECT_EQ(test, entries[1].len, 101);
	KUNIT_EXPECT_NULL(test, entries[2].op_context);
}

static void data_format_has_buffer_and_data(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_DATA);
	struct fi_cq_data_entry entries[3] = {};

	complete_one(ct, 0, 0);
	complete_one(ct, 1, 0);

	KUNIT_ASSERT_EQ(test, read_cq(ct, entries, 2), 2);
	KUNIT_EXPECT_PTR_EQ(test, entries[1].op_context, (void *)&ct->comps[1]);
	KUNIT_EXPECT_EQ(test, entries[1].flags, FI_RECV | FI_MSG);
	KUNIT_EXPECT_EQ(test, entries[1].len, 101);
	KUNIT_EXPECT_PTR_EQ(test, entries[1].buf, (void *)ct);
	KUNIT_EXPECT_EQ(test, entries[1].data, 201ULL);
	KUNIT_EXPECT_NULL(test, entries[2].op_context);
}

static const struct kofi_msg_comp tagged_message = {
	.comp	= { .flags = FI_RECV | FI_TAGGED | KOFI_COMP_MSG, .len = 7,
		    .data = 8 },
	.msg	= { .tag = 0x123456789abcdef0, .src_addr = 77, .olen = 5,
		    .err_data = "details", .err_data_size = 8 },
};

static void tagged_format_has_the_tag_of_tagged_messages(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_TAGGED);
	struct kofi_msg_comp tagged = tagged_message;
	struct fi_cq_tagged_entry entries[3];

	memset(entries, 0xee, sizeof(entries));
	complete_one(ct, 1, 0);
	kofi_cq_complete(&ct->cq, &tagged.comp);

	KUNIT_ASSERT_EQ(test, read_cq(ct, entries, 3), 2);
	KUNIT_EXPECT_PTR_EQ(test, entries[0].op_context, (void *)&ct->comps[1]);
	KUNIT_EXPECT_EQ(test, entries[0].len, 101);
	KUNIT_EXPECT_EQ(test, entries[0].data, 201ULL);
	KUNIT_EXPECT_EQ(test, entries[0].tag, 0ULL);
	KUNIT_EXPECT_EQ(test, entries[1].flags, FI_RECV | FI_TAGGED);
	KUNIT_EXPECT_EQ(test, entries[1].len, 7);
	KUNIT_EXPECT_EQ(test, entries[1].data, 8ULL);
	KUNIT_EXPECT_EQ(test, entries[1].tag, tagged_message.msg.tag);
	KUNIT_EXPECT_EQ(test, entries[2].tag, 0xeeeeeeeeeeeeeeeeULL);
}

static void error_stops_the_reader(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_entry entries[8];
	struct fi_cq_err_entry error = {};

	complete_one(ct, 0, 0);
	complete_one(ct, 1, 0);
	complete_one(ct, 2, EIO);
	complete_one(ct, 3, 0);

	KUNIT_EXPECT_EQ(test, read_error(ct, &error), -EAGAIN);
	KUNIT_EXPECT_EQ(test, read_cq(ct, entries, 8), 2);
	KUNIT_EXPECT_EQ(test, read_cq(ct, entries, 8), -FI_EAVAIL);
	KUNIT_EXPECT_EQ(test, ct->nr_released, 2);
	KUNIT_EXPECT_EQ(test, read_error(ct, &error), 1);
	KUNIT_ASSERT_EQ(test, ct->nr_released, 3);
	KUNIT_EXPECT_PTR_EQ(test, ct->released[2], &ct->comps[2]);
	KUNIT_EXPECT_EQ(test, read_one(ct), 3);
}

static void error_entry_tells_all(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_err_entry error;

	memset(&error, 0xee, sizeof(error));
	error.err_data = NULL;
	error.err_data_size = 0;
	complete_one(ct, 0, FI_ETRUNC);

	KUNIT_ASSERT_EQ(test, read_error(ct, &error), 1);
	KUNIT_EXPECT_PTR_EQ(test, error.op_context, (void *)&ct->comps[0]);
	KUNIT_EXPECT_EQ(test, error.flags, FI_RECV | FI_MSG);
	KUNIT_EXPECT_EQ(test, error.len, 100);
	KUNIT_EXPECT_PTR_EQ(test, error.buf, (void *)ct);
	KUNIT_EXPECT_EQ(test, error.data, 200ULL);
	KUNIT_EXPECT_EQ(test, error.tag, 0ULL);
	KUNIT_EXPECT_EQ(test, error.olen, 0);
	KUNIT_EXPECT_EQ(test, error.err, (int)FI_ETRUNC);
	KUNIT_EXPECT_EQ(test, error.prov_errno, 1000 + (int)FI_ETRUNC);
	KUNIT_EXPECT_EQ(test, error.err_data_size, 0);
	KUNIT_EXPECT_EQ(test, error.src_addr, FI_ADDR_NOTAVAIL);
}

static void error_entry_has_tag_sender_length_and_data(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct kofi_msg_comp tagged = tagged_message;
	char data[4] = {};
	struct fi_cq_err_entry error = {
		.err_data	= data,
		.err_data_size	= sizeof(data),
	};

	tagged.comp.err = FI_ETRUNC;
	kofi_cq_complete(&ct->cq, &tagged.comp);

	KUNIT_ASSERT_EQ(test, read_error(ct, &error), 1);
	KUNIT_EXPECT_EQ(test, error.flags, FI_RECV | FI_TAGGED);
	KUNIT_EXPECT_EQ(test, error.tag, tagged_message.msg.tag);
	KUNIT_EXPECT_EQ(test, error.src_addr, 77ULL);
	KUNIT_EXPECT_EQ(test, error.olen, 5);
	KUNIT_EXPECT_EQ(test, error.err, (int)FI_ETRUNC);
	KUNIT_EXPECT_EQ(test, error.err_data_size, sizeof(data));
	KUNIT_EXPECT_EQ(test, memcmp(data, "deta", 4), 0);
}

static void error_data_without_a_buffer_are_not_given(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_err_entry error = { .err_data_size = 8 };
	struct kofi_msg_comp tagged = tagged_message;

	tagged.comp.err = EIO;
	kofi_cq_complete(&ct->cq, &tagged.comp);

	KUNIT_ASSERT_EQ(test, read_error(ct, &error), 1);
	KUNIT_EXPECT_NULL(test, error.err_data);
	KUNIT_EXPECT_EQ(test, error.err_data_size, 0);
}

static void readfrom_names_the_senders(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_MSG);
	struct kofi_msg_comp tagged = tagged_message;
	struct fi_cq_msg_entry entries[2];
	fi_addr_t senders[2] = {};

	complete_one(ct, 0, 0);
	kofi_cq_complete(&ct->cq, &tagged.comp);

	KUNIT_ASSERT_EQ(test, fi_cq_readfrom(&ct->cq.cq, entries, 2, senders),
			2);
	KUNIT_EXPECT_EQ(test, senders[0], FI_ADDR_NOTAVAIL);
	KUNIT_EXPECT_EQ(test, senders[1], 77ULL);
	KUNIT_EXPECT_EQ(test, entries[1].flags, FI_RECV | FI_TAGGED);
}

static void arguments_of_readerr_are_checked(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_err_entry error = {};

	complete_one(ct, 0, EIO);

	KUNIT_EXPECT_EQ(test, fi_cq_readerr(&ct->cq.cq, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(&ct->cq.cq, &error, 1),
			-FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(&ct->cq.cq, &error, 0), 1);
}

static void the_provider_puts_errors_into_words(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	char buf[8];

	KUNIT_EXPECT_STREQ(test, fi_cq_strerror(&ct->cq.cq, 1005, NULL, buf,
						sizeof(buf)),
			   "a thousand and five");
	KUNIT_EXPECT_STREQ(test, buf, "a thous");
}

static void error_data_that_is_not_there_has_no_size(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_err_entry error = { .err_data = ct, .err_data_size = 8 };

	complete_one(ct, 0, EIO);

	KUNIT_ASSERT_EQ(test, read_error(ct, &error), 1);
	KUNIT_EXPECT_EQ(test, error.err_data_size, 0);
}

static void room_is_reserved_up_to_the_size(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);

	KUNIT_EXPECT_EQ(test, kofi_cq_reserve(&ct->cq, NR_COMPS - 1), 0);
	KUNIT_EXPECT_EQ(test, kofi_cq_reserve(&ct->cq, 2), -ENOSPC);
	KUNIT_EXPECT_EQ(test, kofi_cq_reserve(&ct->cq, 1), 0);
	KUNIT_EXPECT_EQ(test, kofi_cq_reserve(&ct->cq, 1), -ENOSPC);
	kofi_cq_unreserve(&ct->cq, NR_COMPS - 1);
	KUNIT_EXPECT_EQ(test, kofi_cq_reserve(&ct->cq, NR_COMPS - 1), 0);
	KUNIT_EXPECT_EQ(test, kofi_cq_reserve(&ct->cq, SIZE_MAX), -ENOSPC);
}

static bool is_odd(struct kofi_comp *comp, void *owner)
{
	struct cq_test *ct = owner;

	return (comp - ct->comps) % 2;
}

static bool is_even(struct kofi_comp *comp, void *owner)
{
	return !is_odd(comp, owner);
}

static void purge_takes_what_belongs(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	int i;

	for (i = 0; i < 5; i++)
		complete_one(ct, i, i == 3 ? EIO : 0);

	kofi_cq_purge(&ct->cq, is_odd, ct);

	KUNIT_EXPECT_EQ(test, ct->nr_released, 2);
	KUNIT_EXPECT_EQ(test, read_one(ct), 0);
	KUNIT_EXPECT_EQ(test, read_one(ct), 2);
	KUNIT_EXPECT_EQ(test, read_one(ct), 4);
	KUNIT_EXPECT_EQ(test, read_one(ct), -EAGAIN);
}

static void queue_goes_on_after_a_purge_of_its_end(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);

	complete_one(ct, 0, 0);
	complete_one(ct, 1, 0);
	kofi_cq_purge(&ct->cq, is_odd, ct);

	complete_one(ct, 1, 0);

	KUNIT_EXPECT_EQ(test, read_one(ct), 0);
	KUNIT_EXPECT_EQ(test, read_one(ct), 1);
	KUNIT_EXPECT_EQ(test, read_one(ct), -EAGAIN);
}

static void queue_goes_on_after_a_purge_of_all(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);

	complete_one(ct, 0, 0);
	complete_one(ct, 2, 0);
	kofi_cq_purge(&ct->cq, is_even, ct);
	KUNIT_EXPECT_EQ(test, ct->nr_released, 2);
	KUNIT_EXPECT_EQ(test, read_one(ct), -EAGAIN);

	complete_one(ct, 0, 0);

	KUNIT_EXPECT_EQ(test, read_one(ct), 0);
	KUNIT_EXPECT_EQ(test, read_one(ct), -EAGAIN);
}

static void purged_error_does_not_stop_the_reader(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);

	complete_one(ct, 1, EIO);
	complete_one(ct, 2, 0);
	kofi_cq_purge(&ct->cq, is_odd, ct);

	KUNIT_EXPECT_EQ(test, read_one(ct), 2);
	KUNIT_EXPECT_EQ(test, read_one(ct), -EAGAIN);
}

static void an_ended_queue_gives_the_rest_and_its_error(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_err_entry error = {};

	complete_one(ct, 1, 0);
	complete_one(ct, 2, EIO);
	kofi_cq_end(&ct->cq, -ENODEV);

	KUNIT_EXPECT_EQ(test, read_one(ct), 1);
	KUNIT_EXPECT_EQ(test, read_one(ct), -FI_EAVAIL);
	KUNIT_EXPECT_EQ(test, read_error(ct, &error), 1);
	KUNIT_EXPECT_EQ(test, read_error(ct, &error), -ENODEV);
	KUNIT_EXPECT_EQ(test, read_one(ct), -ENODEV);
}

static void purge_of_an_empty_queue_gives_nothing(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);

	kofi_cq_purge(&ct->cq, is_even, ct);
	KUNIT_EXPECT_EQ(test, ct->nr_released, 0);
	complete_one(ct, 0, 0);
	KUNIT_EXPECT_EQ(test, read_one(ct), 0);
}

static void purge_goes_through_more_than_a_batch(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	int i;

	for (i = 0; i < NR_COMPS; i++)
		complete_one(ct, i, 0);

	kofi_cq_purge(&ct->cq, is_odd, ct);

	KUNIT_EXPECT_EQ(test, ct->nr_released, NR_COMPS / 2);
	for (i = 0; i < NR_COMPS; i += 2)
		KUNIT_EXPECT_EQ(test, read_one(ct), i);
	KUNIT_EXPECT_EQ(test, read_one(ct), -EAGAIN);
	complete_one(ct, 0, 0);
	KUNIT_EXPECT_EQ(test, read_one(ct), 0);
}

/* Reads while the purge has let go of the lock; returns how many it got */
static int read_meanwhile(void *data)
{
	struct fi_cq_entry entries[8];
	struct cq_test *ct = data;
	int total = 0;
	ssize_t ret;

	do {
		ret = read_cq(ct, entries, 7);
		if (ret > 0)
			total += ret;
		cond_resched();
	} while (ret > 0);
	return total;
}

static void a_reader_and_a_purge_share_the_queue(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct vt_async *reader;
	int i, n, round;

	for (round = 0; round < 50; round++) {
		ct->nr_released = 0;
		for (i = 0; i < NR_COMPS; i++)
			complete_one(ct, i, 0);

		reader = vt_async_start(test, read_meanwhile, ct);
		kofi_cq_purge(&ct->cq, is_odd, ct);
		n = vt_async_join(test, reader);
		n += read_meanwhile(ct);

		KUNIT_EXPECT_EQ(test, ct->nr_released, NR_COMPS);
		KUNIT_EXPECT_GE(test, n, NR_COMPS / 2);
		KUNIT_EXPECT_EQ(test, read_one(ct), -EAGAIN);
	}
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(empty_queue_gives_eagain),
	KUNIT_CASE(completions_come_in_order),
	KUNIT_CASE(slot_can_complete_again_when_it_was_read),
	KUNIT_CASE(read_takes_no_more_than_asked),
	KUNIT_CASE(completions_that_were_read_are_released),
	KUNIT_CASE(a_chain_is_queued_in_its_order),
	KUNIT_CASE(one_read_takes_more_than_a_batch),
	KUNIT_CASE(context_format_has_the_context),
	KUNIT_CASE(msg_format_has_flags_and_length),
	KUNIT_CASE(data_format_has_buffer_and_data),
	KUNIT_CASE(tagged_format_has_the_tag_of_tagged_messages),
	KUNIT_CASE(error_stops_the_reader),
	KUNIT_CASE(error_entry_tells_all),
	KUNIT_CASE(error_entry_has_tag_sender_length_and_data),
	KUNIT_CASE(error_data_without_a_buffer_are_not_given),
	KUNIT_CASE(readfrom_names_the_senders),
	KUNIT_CASE(arguments_of_readerr_are_checked),
	KUNIT_CASE(the_provider_puts_errors_into_words),
	KUNIT_CASE(error_data_that_is_not_there_has_no_size),
	KUNIT_CASE(room_is_reserved_up_to_the_size),
	KUNIT_CASE(purge_takes_what_belongs),
	KUNIT_CASE(queue_goes_on_after_a_purge_of_its_end),
	KUNIT_CASE(queue_goes_on_after_a_purge_of_all),
	KUNIT_CASE(purged_error_does_not_stop_the_reader),
	KUNIT_CASE(purge_of_an_empty_queue_gives_nothing),
	KUNIT_CASE(purge_goes_through_more_than_a_batch),
	KUNIT_CASE(a_reader_and_a_purge_share_the_queue),
	KUNIT_CASE(an_ended_queue_gives_the_rest_and_its_error),
	{}
};

static struct kunit_suite cq_suite = {
	.name = "kofi_util_cq",
	.test_cases = cq_cases,
};

kunit_test_suite(cq_suite);
