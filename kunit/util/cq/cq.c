// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The completion queue of all providers (include/kofi/cq.h): order, formats,
 * errors, room, and taking completions out again.  Waiting is in wait.c, and
 * where clients are called in run.c, call.c and handler.c.
 *
 * What happens in a fixed order is a table of steps: each of them makes one call on the queue, and
 * has its result beside it.
 */
#include <linux/completion.h>
#include <linux/sched.h>
#include <kofi/cq.h>
#include <kofi/stat.h>
#include "../../../kofi/util/cq/cq.h"
#include "../../lib/async.h"
#include "../util.h"

#define NR_COMPS	200

/*
 * @released: what the queue has given back, oldest first; guarded by @lock
 * @begun: completed when a purge holds the lock of the queue
 */
struct cq_test {
	struct kofi_cq		cq;
	struct kofi_comp	comps[NR_COMPS];
	struct fi_cq_entry	entries[NR_COMPS + 1];	/* of the last read */
	spinlock_t		lock;		/* a reader and a purge release */
	struct kofi_comp	*released[2 * NR_COMPS];
	int			nr_released;
	struct completion	begun;
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
	struct cq_test *ct = vt_buf(test, sizeof(*ct));
	int i;

	spin_lock_init(&ct->lock);
	init_completion(&ct->begun);
	the_case = ct;
	KUNIT_ASSERT_EQ(test, kofi_cq_init(&ct->cq, &attr, NR_COMPS, &test_ops, ct), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fini_cq, &ct->cq), 0);
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

static bool is_odd(struct kofi_comp *comp, void *owner)
{
	struct cq_test *ct = owner;

	return (comp - ct->comps) % 2;
}

static bool is_even(struct kofi_comp *comp, void *owner)
{
	return !is_odd(comp, owner);
}

/**
 * struct step - A call, and its result
 * @name: of the step
 * @run: makes the call
 * @arg: its argument
 * @err: of a completion
 * @want: the result
 */
struct step {
	const char	*name;
	long		(*run)(struct cq_test *ct, const struct step *step);
	long		arg;
	int		err;
	long		want;
};

static long do_complete(struct cq_test *ct, const struct step *step)
{
	complete_one(ct, step->arg, step->err);
	return 0;
}

static long do_complete_many(struct cq_test *ct, const struct step *step)
{
	int i;

	for (i = 0; i < step->arg; i++)
		complete_one(ct, i, 0);
	return 0;
}

/* So many, one behind the other, from number 1 on; the second one has failed */
static long do_chain(struct cq_test *ct, const struct step *step)
{
	int i;

	for (i = 1; i < step->arg; i++)
		ct->comps[i].next = &ct->comps[i + 1];
	ct->comps[2].err = EIO;
	kofi_cq_complete_chain(&ct->cq, &ct->comps[1]);
	return 0;
}

static long do_read(struct cq_test *ct, const struct step *step)
{
	memset(ct->entries, 0, sizeof(ct->entries));
	return read_cq(ct, ct->entries, step->arg);
}

/* The number of the completion that the last read has at this place; -1: none */
static long do_got(struct cq_test *ct, const struct step *step)
{
	struct kofi_comp *comp = ct->entries[step->arg].op_context;

	return comp ? comp - ct->comps : -1;
}

/* How many of the last read are those from 0 on, in order */
static long do_in_order(struct cq_test *ct, const struct step *step)
{
	long i = 0;

	while (i < NR_COMPS && ct->entries[i].op_context == &ct->comps[i])
		i++;
	return i;
}

/* Reads one; its number, or an error */
static long read_one(struct cq_test *ct, const struct step *step)
{
	struct fi_cq_tagged_entry entry;
	ssize_t ret = read_cq(ct, &entry, 1);

	return ret < 0 ? ret : (struct kofi_comp *)entry.op_context - ct->comps;
}

/* Reads all, one at a time; the number at which they are not every @arg'th from 0 on */
static long do_read_each(struct cq_test *ct, const struct step *step)
{
	long i = 0;

	while (read_one(ct, step) == i)
		i += step->arg;
	return i;
}

static long do_read_error(struct cq_test *ct, const struct step *step)
{
	return read_error(ct, &(struct fi_cq_err_entry) {});
}

static long do_released(struct cq_test *ct, const struct step *step)
{
	return ct->nr_released;
}

static long do_gave_back(struct cq_test *ct, const struct step *step)
{
	return ct->released[step->arg] - ct->comps;
}

static long do_purge(struct cq_test *ct, const struct step *step)
{
	kofi_cq_purge(&ct->cq, step->arg ? is_odd : is_even, ct);
	return 0;
}

static long do_end(struct cq_test *ct, const struct step *step)
{
	kofi_cq_end(&ct->cq, step->arg);
	return 0;
}

static long do_reserve(struct cq_test *ct, const struct step *step)
{
	return kofi_cq_reserve(&ct->cq, step->arg);
}

static long do_unreserve(struct cq_test *ct, const struct step *step)
{
	kofi_cq_unreserve(&ct->cq, step->arg);
	return 0;
}

#define DONE(i)			{ "DONE", do_complete, i }
#define FAIL(i, err)		{ "FAIL", do_complete, i, err }
#define DONE_MANY(n)		{ "DONE_MANY", do_complete_many, n }
#define CHAIN(n)		{ "CHAIN", do_chain, n }
#define READN(n, want)		{ "READN", do_read, n, 0, want }
#define GOT(at, want)		{ "GOT", do_got, at, 0, want }
#define IN_ORDER(want)		{ "IN_ORDER", do_in_order, 0, 0, want }
#define READ1(want)		{ "READ1", read_one, 0, 0, want }
#define READ_EACH(n, want)	{ "READ_EACH", do_read_each, n, 0, want }
#define READERR(want)		{ "READERR", do_read_error, 0, 0, want }
#define RELEASED(want)		{ "RELEASED", do_released, 0, 0, want }
#define GAVE_BACK(at, want)	{ "GAVE_BACK", do_gave_back, at, 0, want }
#define PURGE_ODD		{ "PURGE_ODD", do_purge, true }
#define PURGE_EVEN		{ "PURGE_EVEN", do_purge, false }
#define ENDED(err)		{ "ENDED", do_end, err }
#define RESERVE(n, want)	{ "RESERVE", do_reserve, n, 0, want }
#define UNRESERVE(n)		{ "UNRESERVE", do_unreserve, n }

static const struct sequence {
	const char	*name;
	struct step	steps[16];
} sequences[] = {
	{ "an empty queue gives EAGAIN",
	  { READ1(-EAGAIN), READERR(-EAGAIN), RELEASED(0) } },
	{ "completions come in order",
	  { DONE_MANY(NR_COMPS), READ_EACH(1, NR_COMPS), READ1(-EAGAIN) } },
	{ "a slot completes again when it was read",
	  { DONE(0), DONE(1), READ1(0), READ1(1), DONE(0), DONE(1), READ1(0), READ1(1),
	    DONE(0), DONE(1), READ1(0), READ1(1), READ1(-EAGAIN) } },
	{ "a read takes no more than asked",
	  { DONE_MANY(6), READN(2, 2), GOT(1, 1), READN(8, 4), GOT(0, 2), GOT(4, -1) } },
	{ "completions that were read are released",
	  { DONE_MANY(3), READN(2, 2), RELEASED(2), GAVE_BACK(0, 0), GAVE_BACK(1, 1) } },
	{ "a chain is queued in its order",
	  { DONE(0), CHAIN(3), DONE(4), READ1(0), READ1(1), READ1(-FI_EAVAIL), READERR(1),
	    READ1(3), READ1(4), READ1(-EAGAIN) } },
	{ "a read takes more than a batch",
	  { DONE_MANY(NR_COMPS), READN(NR_COMPS + 1, NR_COMPS), IN_ORDER(NR_COMPS),
	    GOT(NR_COMPS, -1), RELEASED(NR_COMPS) } },
	{ "a read takes one more than a batch",
	  { DONE_MANY(65), READN(NR_COMPS, 65), IN_ORDER(65), GOT(65, -1) } },
	{ "an error stops the reader",
	  { DONE(0), DONE(1), FAIL(2, EIO), DONE(3), READERR(-EAGAIN), READN(8, 2),
	    READN(8, -FI_EAVAIL), RELEASED(2), READERR(1), RELEASED(3), GAVE_BACK(2, 2),
	    READ1(3) } },
	{ "an error of the first stops the reader",
	  { FAIL(0, EIO), FAIL(1, EIO), DONE(2), READN(8, -FI_EAVAIL), READERR(1),
	    READN(8, -FI_EAVAIL), READERR(1), READERR(-EAGAIN), READ1(2) } },
	{ "room is reserved up to the size",
	  { RESERVE(NR_COMPS - 1, 0), RESERVE(2, -ENOSPC), RESERVE(1, 0), RESERVE(1, -ENOSPC),
	    UNRESERVE(NR_COMPS - 1), RESERVE(NR_COMPS - 1, 0), RESERVE(-1, -ENOSPC) } },
	{ "a purge takes what belongs",
	  { DONE_MANY(3), FAIL(3, EIO), DONE(4), PURGE_ODD, RELEASED(2), READ_EACH(2, 6),
	    READ1(-EAGAIN) } },
	{ "a queue goes on after a purge of its end",
	  { DONE(0), DONE(1), PURGE_ODD, DONE(1), READ1(0), READ1(1), READ1(-EAGAIN) } },
	{ "a queue goes on after a purge of all",
	  { DONE(0), DONE(2), PURGE_EVEN, RELEASED(2), READ1(-EAGAIN), DONE(0), READ1(0),
	    READ1(-EAGAIN) } },
	{ "a purged error does not stop the reader",
	  { FAIL(1, EIO), DONE(2), PURGE_ODD, READ1(2), READ1(-EAGAIN) } },
	{ "a purge leaves the other errors",
	  { FAIL(1, EIO), FAIL(2, EIO), DONE(3), PURGE_ODD, RELEASED(2), READ1(-FI_EAVAIL),
	    READERR(1), GAVE_BACK(2, 2), READ1(-EAGAIN) } },
	{ "a purge of an empty queue gives nothing",
	  { PURGE_EVEN, RELEASED(0), DONE(0), READ1(0) } },
	{ "a purge goes through more than a batch",
	  { DONE_MANY(NR_COMPS), PURGE_ODD, RELEASED(NR_COMPS / 2), READ_EACH(2, NR_COMPS),
	    READ1(-EAGAIN), DONE(0), READ1(0) } },
	{ "an ended queue gives the rest and its error",
	  { DONE(1), FAIL(2, EIO), ENDED(-ENODEV), READ1(1), READ1(-FI_EAVAIL), READERR(1),
	    READERR(-ENODEV), READ1(-ENODEV) } },
};

KUNIT_ARRAY_PARAM_DESC(sequence, sequences, name);

static void each_step_has_its_result(struct kunit *test)
{
	const struct sequence *sequence = test->param_value;
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	const struct step *step = sequence->steps;

	for (; step < sequence->steps + ARRAY_SIZE(sequence->steps) && step->name; step++)
		KUNIT_ASSERT_EQ_MSG(test, step->run(ct, step), step->want, "step %zu, %s(%ld)",
				    step - sequence->steps + 1, step->name, step->arg);
}

static const struct kofi_msg_comp tagged_message = {
	.comp	= { .flags = FI_RECV | FI_TAGGED | KOFI_COMP_MSG, .len = 7,
		    .data = 8 },
	.msg	= { .tag = 0x123456789abcdef0, .src_addr = 77, .olen = 5,
		    .err_data = "details", .err_data_size = 8 },
};

static const struct format {
	const char		*name;
	enum fi_cq_format	format;
	size_t			size;
} formats[] = {
	{ "unspecified", FI_CQ_FORMAT_UNSPEC, sizeof(struct fi_cq_entry) },
	{ "context", FI_CQ_FORMAT_CONTEXT, sizeof(struct fi_cq_entry) },
	{ "msg", FI_CQ_FORMAT_MSG, sizeof(struct fi_cq_msg_entry) },
	{ "data", FI_CQ_FORMAT_DATA, sizeof(struct fi_cq_data_entry) },
	{ "tagged", FI_CQ_FORMAT_TAGGED, sizeof(struct fi_cq_tagged_entry) },
};

KUNIT_ARRAY_PARAM_DESC(format, formats, name);

/* Each format is the beginning of the next longer one; an untagged message has tag 0 */
static void each_format_has_its_fields(struct kunit *test)
{
	const struct format *format = test->param_value;
	struct cq_test *ct = open_cq(test, format->format);
	struct kofi_msg_comp tagged = tagged_message;
	u8 entries[3 * sizeof(struct fi_cq_tagged_entry)];
	const struct fi_cq_tagged_entry want[] = {
		{ &ct->comps[1], FI_RECV | FI_MSG, 101, ct, 201, 0 },
		{ &tagged, FI_RECV | FI_TAGGED, 7, NULL, 8, tagged_message.msg.tag },
	};
	int i;

	tagged.comp.op_context = &tagged;
	memset(entries, 0xee, sizeof(entries));
	complete_one(ct, 1, 0);
	kofi_cq_complete(&ct->cq, &tagged.comp);
	KUNIT_ASSERT_EQ(test, read_cq(ct, entries, 3), 2);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_MEMEQ(test, entries + i * format->size, &want[i], format->size);
	KUNIT_EXPECT_NULL(test, memchr_inv(entries + 2 * format->size, 0xee, format->size));
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

	KUNIT_ASSERT_EQ(test, fi_cq_readfrom(&ct->cq.cq, entries, 2, senders), 2);
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
	KUNIT_EXPECT_EQ(test, fi_cq_readerr(&ct->cq.cq, &error, 1), -FI_EBADFLAGS);
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

static void a_queue_says_what_is_in_it(struct kunit *test)
{
	static const u64 values[] = { NR_COMPS, 7, 3, 1, 3, 1 };
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct kofi_stat stat = {};
	int i;

	KUNIT_ASSERT_EQ(test, kofi_cq_reserve(&ct->cq, 7), 0);
	for (i = 0; i < 3; i++)
		complete_one(ct, i, i == 1 ? EIO : 0);
	KUNIT_ASSERT_EQ(test, kofi_cq_control(&ct->cq.cq.fid, KOFI_GETSTAT, &stat), 0);
	KUNIT_EXPECT_NULL(test, stat.state);
	KUNIT_ASSERT_EQ(test, stat.count, ARRAY_SIZE(values));
	for (i = 0; i < ARRAY_SIZE(values); i++)
		KUNIT_EXPECT_EQ_MSG(test, stat.values[i].value, values[i], "%s",
				    stat.values[i].name);
	kofi_cq_end(&ct->cq, -ENODEV);
	KUNIT_ASSERT_EQ(test, kofi_cq_control(&ct->cq.cq.fid, KOFI_GETSTAT, &stat), 0);
	KUNIT_EXPECT_STREQ(test, stat.state, "ended");
}

/* As a purge leaves it while it has let go of the lock */
static void a_reader_of_errors_takes_a_mark_out_of_its_way(struct kunit *test)
{
	struct kofi_cq_mark mark = { .comp = { .flags = KOFI_COMP_MARK, .err = EIO } };
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct fi_cq_err_entry error = {};

	ct->cq.head = &mark.comp;
	ct->cq.tail = &mark.comp.next;
	complete_one(ct, 0, EIO);
	KUNIT_EXPECT_EQ(test, read_error(ct, &error), 1);
	KUNIT_EXPECT_TRUE(test, mark.popped);
	KUNIT_EXPECT_PTR_EQ(test, error.op_context, (void *)&ct->comps[0]);
	KUNIT_EXPECT_EQ(test, ct->nr_released, 1);
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
		KUNIT_EXPECT_EQ(test, read_one(ct, NULL), -EAGAIN);
		/* The marks of the purge, which the reader takes out, do not count */
		KUNIT_EXPECT_EQ(test, ct->cq.count, 0);
	}
}

static bool is_odd_and_begun(struct kofi_comp *comp, void *owner)
{
	struct cq_test *ct = owner;

	complete(&ct->begun);
	return is_odd(comp, owner);
}

/* Half a batch, as soon as a purge lets go of the lock: of one processor it gets it at once then */
static int read_half_a_batch(void *data)
{
	struct fi_cq_entry entries[KOFI_CQ_BATCH / 2];
	struct cq_test *ct = data;

	sched_set_fifo(current);
	wait_for_completion(&ct->begun);
	return read_cq(ct, entries, ARRAY_SIZE(entries));
}

static void a_purge_goes_on_where_a_reader_has_stopped(struct kunit *test)
{
	struct cq_test *ct = open_cq(test, FI_CQ_FORMAT_CONTEXT);
	struct vt_async *reader;
	int i;

	for (i = 0; i < NR_COMPS; i++)
		complete_one(ct, i, 0);
	reader = vt_async_start(test, read_half_a_batch, ct);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(reader));
	kofi_cq_purge(&ct->cq, is_odd_and_begun, ct);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, reader), KOFI_CQ_BATCH / 2);
	for (i = KOFI_CQ_BATCH; i < NR_COMPS; i += 2)
		KUNIT_ASSERT_EQ(test, read_one(ct, NULL), i);
	KUNIT_EXPECT_EQ(test, read_one(ct, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ct->nr_released, NR_COMPS);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE_PARAM(each_step_has_its_result, sequence_gen_params),
	KUNIT_CASE_PARAM(each_format_has_its_fields, format_gen_params),
	KUNIT_CASE(error_entry_tells_all),
	KUNIT_CASE(error_entry_has_tag_sender_length_and_data),
	KUNIT_CASE(error_data_without_a_buffer_are_not_given),
	KUNIT_CASE(readfrom_names_the_senders),
	KUNIT_CASE(arguments_of_readerr_are_checked),
	KUNIT_CASE(the_provider_puts_errors_into_words),
	KUNIT_CASE(error_data_that_is_not_there_has_no_size),
	KUNIT_CASE(a_queue_says_what_is_in_it),
	KUNIT_CASE(a_reader_of_errors_takes_a_mark_out_of_its_way),
	KUNIT_CASE(a_reader_and_a_purge_share_the_queue),
	KUNIT_CASE(a_purge_goes_on_where_a_reader_has_stopped),
	{}
};

static struct kunit_suite cq_suite = {
	.name = "kofi_util_cq",
	.test_cases = cq_cases,
};

kunit_test_suite(cq_suite);
