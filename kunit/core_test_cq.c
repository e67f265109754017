// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The completion queue that providers share (include/kofi/cq.h): order, formats,
 * errors, room, and taking completions out again.  Waiting is in
 * core_test_cq_wait.c.
 */
#include <kofi/cq.h>
#include "core_test.h"

#define NR_COMPS	6

struct cq_test {
	struct kofi_cq		cq;
	struct kofi_comp	comps[NR_COMPS];
};

static struct cq_test *open_cq(struct kunit *test, enum fi_cq_format format)
{
	struct fi_cq_attr attr = { .format = format };
	struct cq_test *ct = kunit_kzalloc(test, sizeof(*ct), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, ct);
	KUNIT_ASSERT_EQ(test, kofi_cq_init(&ct->cq, &attr, NR_COMPS, ct), 0);
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

static ssize_t read_cq(struct cq_test *ct, void *buf, size_t count,
		       struct kofi_comp **chain)
{
	ssize_t ret;

	spin_lock_irq(&ct->cq.lock);
	ret = kofi_cq_read(&ct->cq, buf, count, chain);
	spin_unlock_irq(&ct->cq.lock);
	return ret;
}

static ssize_t read_error(struct cq_test *ct, struct fi_cq_err_entry *entry,
			  struct kofi_comp **chain)
{
	ssize_t ret;

	spin_lock_irq(&ct->cq.lock);
	ret = kofi_cq_readerr(&ct->cq, entry, 0, chain);
	spin_unlock_irq(&ct->cq.lock);
	return ret;
}

/* Reads one; its number, or an error */
static long read_one(struct cq_test *ct)
{
	struct fi_cq_tagged_entry entry;
	struct kofi_comp *chain;
	ssize_t ret;

	ret = read_cq(ct, &entry, 1, &chain);
	return ret < 0 ? ret : (struct kofi_comp *)entry.op_context - ct->comps;
}

static void empty_queue_gives_eagain(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_err_entry entry = {};
	struct kofi_comp *chain = &ct->comps[0];

	KUNIT_EXPECT_EQ(test, read_one(ct), -EAGAIN);
	KUNIT_EXPECT_EQ(test, read_error(ct, &entry, &chain), -EAGAIN);
	KUNIT_EXPECT_NULL(test, chain);
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
	struct fi_cq_entry entries[NR_COMPS];
	struct kofi_comp *chain;
	int i;

	for (i = 0; i < NR_COMPS; i++)
		complete_one(ct, i, 0);

	KUNIT_EXPECT_EQ(test, read_cq(ct, entries, 2, &chain), 2);
	KUNIT_EXPECT_EQ(test, read_cq(ct, entries, NR_COMPS, &chain),
			NR_COMPS - 2);
	KUNIT_EXPECT_PTR_EQ(test, entries[0].op_context, (void *)&ct->comps[2]);
}

static void chain_holds_the_slots_that_were_read(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_entry entries[NR_COMPS];
	struct kofi_comp *chain;

	complete_one(ct, 0, 0);
	complete_one(ct, 1, 0);
	complete_one(ct, 2, 0);

	KUNIT_ASSERT_EQ(test, read_cq(ct, entries, 2, &chain), 2);

	KUNIT_ASSERT_PTR_EQ(test, chain, &ct->comps[0]);
	KUNIT_ASSERT_PTR_EQ(test, chain->next, &ct->comps[1]);
	KUNIT_EXPECT_NULL(test, chain->next->next);
}

static void context_format_has_the_context(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_UNSPEC);
	struct fi_cq_entry entries[3] = {};
	struct kofi_comp *chain;

	complete_one(ct, 0, 0);
	complete_one(ct, 1, 0);

	KUNIT_ASSERT_EQ(test, read_cq(ct, entries, 2, &chain), 2);
	KUNIT_EXPECT_PTR_EQ(test, entries[0].op_context, (void *)&ct->comps[0]);
	KUNIT_EXPECT_PTR_EQ(test, entries[1].op_context, (void *)&ct->comps[1]);
	KUNIT_EXPECT_NULL(test, entries[2].op_context);
}

static void msg_format_has_flags_and_length(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_MSG);
	struct fi_cq_msg_entry entries[3] = {};
	struct kofi_comp *chain;

	complete_one(ct, 0, 0);
	complete_one(ct, 1, 0);

	KUNIT_ASSERT_EQ(test, read_cq(ct, entries, 2, &chain), 2);
	KUNIT_EXPECT_PTR_EQ(test, entries[1].op_context, (void *)&ct->comps[1]);
	KUNIT_EXPECT_EQ(test, entries[1].flags, FI_RECV | FI_MSG);
	KUNIT_EXPECT_EQ(test, entries[1].len, 101);
	KUNIT_EXPECT_NULL(test, entries[2].op_context);
}

static void data_format_has_buffer_and_data(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_DATA);
	struct fi_cq_data_entry entries[3] = {};
	struct kofi_comp *chain;

	complete_one(ct, 0, 0);
	complete_one(ct, 1, 0);

	KUNIT_ASSERT_EQ(test, read_cq(ct, entries, 2, &chain), 2);
	KUNIT_EXPECT_PTR_EQ(test, entries[1].op_context, (void *)&ct->comps[1]);
	KUNIT_EXPECT_EQ(test, entries[1].flags, FI_RECV | FI_MSG);
	KUNIT_EXPECT_EQ(test, entries[1].len, 101);
	KUNIT_EXPECT_PTR_EQ(test, entries[1].buf, (void *)ct);
	KUNIT_EXPECT_EQ(test, entries[1].data, 201ULL);
	KUNIT_EXPECT_NULL(test, entries[2].op_context);
}

static const struct kofi_tagged_comp tagged_message = {
	.comp	= { .flags = FI_RECV | FI_TAGGED, .len = 7, .data = 8 },
	.tag	= 0x123456789abcdef0,
};

static void tagged_format_has_the_tag_of_tagged_messages(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_TAGGED);
	struct kofi_tagged_comp tagged = tagged_message;
	struct fi_cq_tagged_entry entries[3];
	struct kofi_comp *chain;

	memset(entries, 0xee, sizeof(entries));
	complete_one(ct, 1, 0);
	kofi_cq_complete(&ct->cq, &tagged.comp);

	KUNIT_ASSERT_EQ(test, read_cq(ct, entries, 3, &chain), 2);
	KUNIT_EXPECT_PTR_EQ(test, entries[0].op_context, (void *)&ct->comps[1]);
	KUNIT_EXPECT_EQ(test, entries[0].len, 101);
	KUNIT_EXPECT_EQ(test, entries[0].data, 201ULL);
	KUNIT_EXPECT_EQ(test, entries[0].tag, 0ULL);
	KUNIT_EXPECT_EQ(test, entries[1].flags, FI_RECV | FI_TAGGED);
	KUNIT_EXPECT_EQ(test, entries[1].len, 7);
	KUNIT_EXPECT_EQ(test, entries[1].data, 8ULL);
	KUNIT_EXPECT_EQ(test, entries[1].tag, tagged_message.tag);
	KUNIT_EXPECT_EQ(test, entries[2].tag, 0xeeeeeeeeeeeeeeeeULL);
}

static void error_stops_the_reader(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_entry entries[NR_COMPS];
	struct fi_cq_err_entry error = {};
	struct kofi_comp *chain;

	complete_one(ct, 0, 0);
	complete_one(ct, 1, 0);
	complete_one(ct, 2, EIO);
	complete_one(ct, 3, 0);

	KUNIT_EXPECT_EQ(test, read_error(ct, &error, &chain), -EAGAIN);
	KUNIT_EXPECT_EQ(test, read_cq(ct, entries, NR_COMPS, &chain), 2);
	KUNIT_EXPECT_EQ(test, read_cq(ct, entries, NR_COMPS, &chain),
			-FI_EAVAIL);
	KUNIT_EXPECT_NULL(test, chain);
	KUNIT_EXPECT_EQ(test, read_error(ct, &error, &chain), 1);
	KUNIT_EXPECT_PTR_EQ(test, chain, &ct->comps[2]);
	KUNIT_EXPECT_NULL(test, ct->comps[2].next);
	KUNIT_EXPECT_EQ(test, read_one(ct), 3);
}

static void error_entry_tells_all(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_err_entry error;
	struct kofi_comp *chain;

	memset(&error, 0xee, sizeof(error));
	error.err_data = NULL;
	error.err_data_size = 0;
	complete_one(ct, 0, FI_ETRUNC);

	KUNIT_ASSERT_EQ(test, read_error(ct, &error, &chain), 1);
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

static void error_entry_has_the_tag_of_a_tagged_message(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct kofi_tagged_comp tagged = tagged_message;
	struct fi_cq_err_entry error = {};
	struct kofi_comp *chain;

	tagged.comp.err = FI_ETRUNC;
	kofi_cq_complete(&ct->cq, &tagged.comp);

	KUNIT_ASSERT_EQ(test, read_error(ct, &error, &chain), 1);
	KUNIT_EXPECT_EQ(test, error.flags, FI_RECV | FI_TAGGED);
	KUNIT_EXPECT_EQ(test, error.tag, tagged_message.tag);
	KUNIT_EXPECT_EQ(test, error.err, (int)FI_ETRUNC);
}

static void error_data_that_is_not_there_has_no_size(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_err_entry error = { .err_data = ct, .err_data_size = 8 };
	struct kofi_comp *chain;

	complete_one(ct, 0, EIO);

	KUNIT_ASSERT_EQ(test, read_error(ct, &error, &chain), 1);
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

static int chain_length(const struct kofi_comp *chain)
{
	int length = 0;

	for (; chain; chain = chain->next)
		length++;
	return length;
}

static void purge_takes_what_belongs(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	int i;

	for (i = 0; i < 5; i++)
		complete_one(ct, i, i == 3 ? EIO : 0);

	KUNIT_EXPECT_EQ(test, chain_length(kofi_cq_purge(&ct->cq, is_odd, ct)),
			2);

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
	KUNIT_EXPECT_EQ(test, chain_length(kofi_cq_purge(&ct->cq, is_even, ct)),
			2);
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
	struct kofi_comp *chain;

	complete_one(ct, 1, 0);
	complete_one(ct, 2, EIO);
	kofi_cq_end(&ct->cq, -ENODEV);

	KUNIT_EXPECT_EQ(test, read_one(ct), 1);
	KUNIT_EXPECT_EQ(test, read_one(ct), -FI_EAVAIL);
	spin_lock_irq(&ct->cq.lock);
	KUNIT_EXPECT_EQ(test, kofi_cq_readerr(&ct->cq, &error, 0, &chain), 1);
	KUNIT_EXPECT_EQ(test, kofi_cq_readerr(&ct->cq, &error, 0, &chain),
			-ENODEV);
	spin_unlock_irq(&ct->cq.lock);
	KUNIT_EXPECT_EQ(test, read_one(ct), -ENODEV);
}

static void purge_of_an_empty_queue_gives_nothing(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);

	KUNIT_EXPECT_NULL(test, kofi_cq_purge(&ct->cq, is_even, ct));
	complete_one(ct, 0, 0);
	KUNIT_EXPECT_EQ(test, read_one(ct), 0);
}

static void count_handled(struct fid_cq *cq, void *context)
{
}

static const struct attr_case {
	const char		*what;
	struct fi_cq_attr	attr;
	int			err;
} attr_cases[] = {
	{ "polled", { .wait_obj = FI_WAIT_NONE } },
	{ "slept on", { .wait_obj = FI_WAIT_UNSPEC } },
	{ "slept on with a threshold", { .wait_obj = FI_WAIT_UNSPEC,
	  .wait_cond = FI_CQ_COND_THRESHOLD } },
	{ "with a handler", { .wait_obj = FI_WAIT_CALLBACK,
	  .handler = count_handled } },
	{ "with a processor", { .flags = FI_AFFINITY, .signaling_vector = 1 } },
	{ "callback without a handler", { .wait_obj = FI_WAIT_CALLBACK },
	  -EINVAL },
	{ "handler without callback", { .handler = count_handled }, -EINVAL },
	{ "file descriptor", { .wait_obj = FI_WAIT_FD }, -ENOSYS },
	{ "no such wait object", { .wait_obj = 99 }, -ENOSYS },
	{ "no such format", { .format = FI_CQ_FORMAT_TAGGED + 1 }, -EINVAL },
	{ "no such condition", { .wait_obj = FI_WAIT_UNSPEC,
	  .wait_cond = FI_CQ_COND_THRESHOLD + 1 }, -EINVAL },
	{ "no such context", { .comp_ctx = FI_COMP_WORKQUEUE + 1 }, -EINVAL },
};

static void attr_desc(const struct attr_case *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(attr, attr_cases, attr_desc);

static void attributes_are_checked(struct kunit *test)
{
	const struct attr_case *row = test->param_value;
	struct fi_cq_attr attr = row->attr;
	struct core_set set;
	struct fid_cq *cq;

	core_open_parents(test, &set, core_mock(test, "mock", 1), MOCK_CQ);

	KUNIT_EXPECT_EQ(test, fi_cq_open(core_domain(&set), &attr, &cq, NULL),
			row->err);

	KUNIT_EXPECT_EQ(test, atomic_read(&set.mock->live[MOCK_CQ]),
			!row->err);
	if (!row->err)
		fi_close(&cq->fid);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(empty_queue_gives_eagain),
	KUNIT_CASE(completions_come_in_order),
	KUNIT_CASE(slot_can_complete_again_when_it_was_read),
	KUNIT_CASE(read_takes_no_more_than_asked),
	KUNIT_CASE(chain_holds_the_slots_that_were_read),
	KUNIT_CASE(context_format_has_the_context),
	KUNIT_CASE(msg_format_has_flags_and_length),
	KUNIT_CASE(data_format_has_buffer_and_data),
	KUNIT_CASE(tagged_format_has_the_tag_of_tagged_messages),
	KUNIT_CASE(error_stops_the_reader),
	KUNIT_CASE(error_entry_tells_all),
	KUNIT_CASE(error_entry_has_the_tag_of_a_tagged_message),
	KUNIT_CASE(error_data_that_is_not_there_has_no_size),
	KUNIT_CASE(room_is_reserved_up_to_the_size),
	KUNIT_CASE(purge_takes_what_belongs),
	KUNIT_CASE(queue_goes_on_after_a_purge_of_its_end),
	KUNIT_CASE(queue_goes_on_after_a_purge_of_all),
	KUNIT_CASE(purged_error_does_not_stop_the_reader),
	KUNIT_CASE(purge_of_an_empty_queue_gives_nothing),
	KUNIT_CASE(an_ended_queue_gives_the_rest_and_its_error),
	KUNIT_CASE_PARAM(attributes_are_checked, attr_gen_params),
	{}
};

struct kunit_suite kofi_cq_suite = {
	.name = "kofi_cq",
	.init = core_init,
	.exit = core_exit,
	.test_cases = cq_cases,
};
