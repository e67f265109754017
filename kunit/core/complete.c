// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The tables of a provider's objects: which are refused, and which shorter ones
 * are made complete.
 *
 * The rows are the tables of all classes, taken from the mock's own description
 * of them, so that a table or a slot that is added later is tested at once.
 */
#include "../lib/probe.h"
#include "core.h"

struct row {
	enum mock_class	class;
	unsigned int	table;
};

static const struct row rows[] = {
	{ MOCK_FABRIC, 0 }, { MOCK_FABRIC, 1 },
	{ MOCK_DOMAIN, 0 }, { MOCK_DOMAIN, 1 }, { MOCK_DOMAIN, 2 },
	{ MOCK_EQ, 0 }, { MOCK_EQ, 1 },
	{ MOCK_PEP, 0 }, { MOCK_PEP, 1 }, { MOCK_PEP, 2 },
	{ MOCK_CQ, 0 }, { MOCK_CQ, 1 },
	{ MOCK_EP, 0 }, { MOCK_EP, 1 }, { MOCK_EP, 2 }, { MOCK_EP, 3 },
	{ MOCK_MR, 0 }, { MOCK_MR, 1 },
	{ MOCK_CNTR, 0 }, { MOCK_CNTR, 1 },
	{ MOCK_AV, 0 }, { MOCK_AV, 1 },
	{ MOCK_SRX, 0 }, { MOCK_SRX, 1 }, { MOCK_SRX, 2 }, { MOCK_SRX, 3 },
	{ MOCK_SEP, 0 }, { MOCK_SEP, 1 }, { MOCK_SEP, 2 }, { MOCK_SEP, 3 },
	{ MOCK_TX, 0 }, { MOCK_TX, 1 }, { MOCK_TX, 2 }, { MOCK_TX, 3 },
	{ MOCK_RX, 0 }, { MOCK_RX, 1 }, { MOCK_RX, 2 }, { MOCK_RX, 3 },
	{ MOCK_STX, 0 }, { MOCK_STX, 1 },
	{ MOCK_MC, 0 },
};

static const struct mock_table *row_table(const struct row *row)
{
	return &mock_classes[row->class].tables[row->table];
}

static void row_desc(const struct row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %s",
		 mock_classes[row->class].name, row_table(row)->name);
}

KUNIT_ARRAY_PARAM(row, rows, row_desc);

static void every_table_has_a_row(struct kunit *test)
{
	enum mock_class class;
	size_t tables = 0;

	for (class = 0; class < MOCK_NR_CLASSES; class++)
		tables += mock_classes[class].nr_tables;

	KUNIT_EXPECT_EQ(test, tables, ARRAY_SIZE(rows));
}

static void spoil(struct core_set *set, const struct row *row, enum mock_flaw flaw, size_t arg)
{
	set->mock->knob = (struct mock_knob) {
		.flaw = flaw,
		.class = row->class,
		.table = row->table,
		.arg = arg,
	};
}

/* Refused, and closed again unless that cannot be done */
static void expect_refused(struct kunit *test, struct core_set *set,
			   const struct row *row, bool closable)
{
	struct fid *fid = NULL;
	int live = mock_live(set->mock);

	KUNIT_EXPECT_EQ_MSG(test, core_open(test, set, row->class, &fid),
			    -EINVAL, "argument %zu", set->mock->knob.arg);

	KUNIT_EXPECT_NULL(test, fid);
	KUNIT_EXPECT_EQ_MSG(test, mock_live(set->mock), live + !closable,
			    "argument %zu", set->mock->knob.arg);
}

static void null_slot_is_refused(struct kunit *test)
{
	const struct row *row = test->param_value;
	struct core_set *set = core_parents(test, row->class);
	unsigned int slot, slots = mock_table_slots(row_table(row));

	for (slot = row->table ? 0 : 1; slot < slots; slot++) {
		spoil(set, row, MOCK_HOLE, slot);
		expect_refused(test, set, row, true);
	}
}

static const struct row fid_rows[] = {
	{ MOCK_FABRIC }, { MOCK_DOMAIN }, { MOCK_EQ }, { MOCK_PEP },
	{ MOCK_CQ }, { MOCK_EP }, { MOCK_MR }, { MOCK_CNTR }, { MOCK_AV },
	{ MOCK_SRX }, { MOCK_SEP }, { MOCK_TX }, { MOCK_RX }, { MOCK_STX },
	{ MOCK_MC },
};

KUNIT_ARRAY_PARAM(fid_row, fid_rows, row_desc);

/* The core has let go of an object that it could not close */
static void expect_let_go(struct kunit *test, struct core_set *set)
{
	static const enum mock_class parents[] = {
		MOCK_EP, MOCK_SEP, MOCK_DOMAIN, MOCK_FABRIC,
	};
	struct fid *fid;
	int i;

	for (i = 0; i < ARRAY_SIZE(parents); i++) {
		fid = set->fid[parents[i]];
		if (fid)
			KUNIT_EXPECT_EQ(test, core_close(test, fid), 0);
	}
	KUNIT_EXPECT_EQ(test, mock_reap(set->mock), 1);
}

/* First in the suite, as the log takes only so many of these lines in a while */
static void refused_object_that_stays_open_is_logged(struct kunit *test)
{
	static const struct row row = { MOCK_CQ };
	struct core_set *set = core_parents(test, row.class);

	spoil(set, &row, MOCK_WRONG_CLASS, 0);
	core_log_clear();
	expect_refused(test, set, &row, true);
	KUNIT_EXPECT_EQ(test, core_log_count("stays open"), 0);

	set->mock->fail[MOCK_CALL_CLOSE] = -EIO;
	expect_refused(test, set, &row, false);
	KUNIT_EXPECT_EQ(test, core_log_count("the refused completion queue stays open (-5)"), 1);
	/* The reason has been logged once */
	KUNIT_EXPECT_EQ(test, core_log_count("completion queue refused: "), 1);
	expect_let_go(test, set);
}

static void null_close_is_refused(struct kunit *test)
{
	const struct row *row = test->param_value;
	struct core_set *set = core_parents(test, row->class);

	spoil(set, row, MOCK_HOLE, 0);

	expect_refused(test, set, row, false);

	expect_let_go(test, set);
}

static void missing_fid_table_is_refused(struct kunit *test)
{
	const struct row *row = test->param_value;
	struct core_set *set = core_parents(test, row->class);

	spoil(set, row, MOCK_NO_TABLE, 0);

	expect_refused(test, set, row, false);

	expect_let_go(test, set);
}

/* It has a size, and no slot */
static void empty_fid_table_is_refused(struct kunit *test)
{
	const struct row *row = test->param_value;
	struct core_set *set = core_parents(test, row->class);

	spoil(set, row, MOCK_SIZE, sizeof(size_t));

	expect_refused(test, set, row, false);

	expect_let_go(test, set);
}

static int open_nothing(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq,
			void *context)
{
	return 0;
}

static void success_without_a_fid_is_refused(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_EQ);
	struct fid_fabric *fabric = container_of(set->fid[MOCK_FABRIC], struct fid_fabric, fid);
	const struct fi_ops_fabric *ops = fabric->ops;
	struct fi_ops_fabric own = *ops;
	struct fid_eq *eq = NULL;

	own.eq_open = open_nothing;
	fabric->ops = &own;
	KUNIT_EXPECT_EQ(test, fi_eq_open(fabric, NULL, &eq, NULL), -EINVAL);
	KUNIT_EXPECT_NULL(test, eq);
	fabric->ops = ops;
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_FABRIC]), 0);
}

static void missing_table_is_refused(struct kunit *test)
{
	const struct row *row = test->param_value;
	struct core_set *set = core_parents(test, row->class);
	unsigned int table;

	for (table = 1; table < mock_classes[row->class].nr_tables; table++) {
		struct row other = { row->class, table };

		spoil(set, &other, MOCK_NO_TABLE, table);
		expect_refused(test, set, &other, true);
	}
}

static void wrong_class_is_refused(struct kunit *test)
{
	const struct row *row = test->param_value;
	struct core_set *set = core_parents(test, row->class);

	spoil(set, row, MOCK_WRONG_CLASS, 0);

	expect_refused(test, set, row, true);
}

static void absurd_size_is_refused(struct kunit *test)
{
	static const size_t sizes[] = { 0, 1, sizeof(size_t) - 1 };
	const struct row *row = test->param_value;
	struct core_set *set = core_parents(test, row->class);
	size_t size = row_table(row)->size;
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		spoil(set, row, MOCK_SIZE, sizes[i]);
		expect_refused(test, set, row, true);
	}
	spoil(set, row, MOCK_SIZE, size + 1);
	expect_refused(test, set, row, true);
	spoil(set, row, MOCK_SIZE, size - 1);
	expect_refused(test, set, row, true);
}

/* The last slot of a table of an open object, and of the core's filler */
static void *last_slot(const struct row *row, struct fid *fid)
{
	void ***table = (void *)fid + row_table(row)->where;

	return (*table)[mock_table_slots(row_table(row))];
}

static void *last_filler(const struct row *row)
{
	void *const *fillers = row_table(row)->fillers;

	return fillers[mock_table_slots(row_table(row))];
}

static void *first_slot(const struct row *row, struct fid *fid)
{
	void ***table = (void *)fid + row_table(row)->where;

	return (*table)[1];
}

static void shorter_table_is_filled_up(struct kunit *test)
{
	const struct row *row = test->param_value;
	struct core_set *set = core_parents(test, row->class);
	struct fid *whole, *fid;
	size_t size;

	KUNIT_ASSERT_EQ(test, core_open(test, set, row->class, &whole), 0);

	for (size = row_table(row)->size - sizeof(void *);
	     size > sizeof(size_t); size -= sizeof(void *)) {
		spoil(set, row, MOCK_SIZE, size);
		KUNIT_ASSERT_EQ(test, core_open(test, set, row->class, &fid), 0);
		KUNIT_EXPECT_PTR_EQ(test, last_slot(row, fid), last_filler(row));
		KUNIT_EXPECT_PTR_EQ(test, first_slot(row, fid), first_slot(row, whole));
		KUNIT_EXPECT_EQ(test, core_close(test, fid), 0);
	}
}

static const void *watched;
static bool watched_is_freed;

static void see_kfree(void *unused, unsigned long site, const void *ptr)
{
	if (ptr && ptr == watched)
		watched_is_freed = true;
}

static void filled_up_table_is_freed_with_its_object(struct kunit *test)
{
	static const struct row row = { MOCK_EP, 3 };
	struct core_set *set = core_parents(test, row.class);
	struct vt_probe probe = { "kfree", see_kfree };
	struct fid *fid;

	spoil(set, &row, MOCK_SIZE, offsetof(struct fi_ops_xfer, recv));
	KUNIT_ASSERT_EQ(test, core_open(test, set, row.class, &fid), 0);
	watched = container_of(fid, struct fid_ep, fid)->xfer;
	watched_is_freed = false;

	KUNIT_ASSERT_EQ(test, vt_probe_all(&probe, 1), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, fid), 0);
	vt_unprobe_all(&probe, 1);
	KUNIT_EXPECT_TRUE(test, watched_is_freed);
}

static void longer_table_is_accepted(struct kunit *test)
{
	const struct row *row = test->param_value;
	struct core_set *set = core_parents(test, row->class);
	struct fid *fid;

	spoil(set, row, MOCK_SIZE, row_table(row)->size + 3 * sizeof(void *));

	KUNIT_EXPECT_EQ(test, core_open(test, set, row->class, &fid), 0);
}

static const struct row transfers = { MOCK_EP, 3 };

static void transfer_beyond_a_short_table_answers_enosys(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_EP);
	struct fid_ep *ep;
	struct fid *fid;

	spoil(set, &transfers, MOCK_SIZE, offsetof(struct fi_ops_xfer, recv));
	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_EP, &fid), 0);
	ep = container_of(fid, struct fid_ep, fid);

	KUNIT_EXPECT_EQ(test, fi_recv(ep, NULL, 0, NULL, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_read(ep, NULL, 0, NULL, 0, 0, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_write(ep, NULL, 0, NULL, 0, 0, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_inject(ep, "x", 1, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_atomicvalid(ep, FI_UINT8, FI_SUM, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_send(ep, "x", 1, NULL, 0, NULL), -FI_EOPBADSTATE);
}

static void control_beyond_a_short_table_answers_enosys(struct kunit *test)
{
	static const struct row cm = { MOCK_EP, 2 };
	struct core_set *set = core_parents(test, MOCK_EP);
	struct fid_ep *ep;
	struct fid *fid;

	spoil(set, &cm, MOCK_SIZE, offsetof(struct fi_ops_cm, accept));
	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_EP, &fid), 0);
	ep = container_of(fid, struct fid_ep, fid);

	KUNIT_EXPECT_EQ(test, fi_accept(ep, NULL, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_shutdown(ep, 0), -ENOSYS);
}

static void open_beyond_a_short_table_answers_enosys(struct kunit *test)
{
	static const struct row fabric = { MOCK_FABRIC, 1 };
	struct core_set *set = core_parents(test, MOCK_FABRIC);
	struct fid *fid;

	spoil(set, &fabric, MOCK_SIZE, offsetof(struct fi_ops_fabric, eq_open));
	KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_FABRIC, &set->fid[MOCK_FABRIC]), 0);

	KUNIT_EXPECT_EQ(test, core_open(test, set, MOCK_EQ, &fid), -ENOSYS);
	KUNIT_EXPECT_EQ(test, core_open(test, set, MOCK_DOMAIN, &fid), 0);
}

/* Capabilities that promise the table of data transfers */
static const struct promise {
	const char	*name;
	u64		cap;
} promises[] = {
	{ "FI_MSG", FI_MSG },
	{ "FI_RMA", FI_RMA },
	{ "FI_TAGGED", FI_TAGGED },
	{ "FI_ATOMIC", FI_ATOMIC },
};

KUNIT_ARRAY_PARAM_DESC(promise, promises, name);

/* Objects whose info has the capability of this row, for an endpoint */
static struct core_set *open_promise(struct kunit *test)
{
	const struct promise *promise = test->param_value;
	struct core_set *set = core_parents(test, MOCK_EP);

	set->info->caps = promise->cap;
	return set;
}

static void promised_table_of_the_cores_fillers_is_refused(struct kunit *test)
{
	struct core_set *set = open_promise(test);

	spoil(set, &transfers, MOCK_FILLERS, 0);

	expect_refused(test, set, &transfers, true);
}

static void promised_table_of_copied_fillers_is_refused(struct kunit *test)
{
	struct core_set *set = open_promise(test);

	spoil(set, &transfers, MOCK_FILLER_COPY, 0);

	expect_refused(test, set, &transfers, true);
}

static void promised_short_table_of_nothing_is_refused(struct kunit *test)
{
	struct core_set *set = open_promise(test);

	spoil(set, &transfers, MOCK_SIZE, sizeof(size_t));

	expect_refused(test, set, &transfers, true);
}

static void promised_table_with_one_call_is_accepted(struct kunit *test)
{
	struct core_set *set = open_promise(test);
	struct fid *fid;

	spoil(set, &transfers, MOCK_REAL, mock_table_slots(row_table(&transfers)) - 1);

	KUNIT_EXPECT_EQ(test, core_open(test, set, MOCK_EP, &fid), 0);
}

static void table_of_fillers_that_nobody_promised_is_accepted(struct kunit *test)
{
	struct core_set *set = open_promise(test);
	struct fid *fid;

	set->info->caps = 0;
	spoil(set, &transfers, MOCK_FILLERS, 0);

	KUNIT_EXPECT_EQ(test, core_open(test, set, MOCK_EP, &fid), 0);
}

/* A provider whose objects transfer no data names this table */
static void a_transfer_that_a_provider_has_not_is_not_there(struct kunit *test)
{
	const struct kvec iov = { "x", 1 };
	const struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct fid_ep ep = { .xfer = &kofi_no_ops_xfer };

	KUNIT_EXPECT_EQ(test, fi_recv(&ep, NULL, 0, NULL, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_recvmsg(&ep, &msg, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_send(&ep, "x", 1, NULL, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_sendv(&ep, &iov, NULL, 1, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_injectdata(&ep, "x", 1, 0, 0), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_tsend(&ep, "x", 1, NULL, 0, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_read(&ep, NULL, 0, NULL, 0, 0, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_writev(&ep, &iov, NULL, 1, 0, 0, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_inject_atomic(&ep, "x", 1, 0, 0, 0, FI_UINT8, FI_SUM), -ENOSYS);
	KUNIT_EXPECT_EQ(test, fi_fetch_atomicvalid(&ep, FI_UINT8, FI_SUM, NULL), -ENOSYS);
}

static struct kunit_case complete_cases[] = {
	KUNIT_CASE(every_table_has_a_row),
	KUNIT_CASE(refused_object_that_stays_open_is_logged),
	KUNIT_CASE_PARAM(null_slot_is_refused, row_gen_params),
	KUNIT_CASE_PARAM(null_close_is_refused, fid_row_gen_params),
	KUNIT_CASE_PARAM(missing_fid_table_is_refused, fid_row_gen_params),
	KUNIT_CASE_PARAM(empty_fid_table_is_refused, fid_row_gen_params),
	KUNIT_CASE(success_without_a_fid_is_refused),
	KUNIT_CASE_PARAM(missing_table_is_refused, fid_row_gen_params),
	KUNIT_CASE_PARAM(wrong_class_is_refused, fid_row_gen_params),
	KUNIT_CASE_PARAM(absurd_size_is_refused, row_gen_params),
	KUNIT_CASE_PARAM(shorter_table_is_filled_up, row_gen_params),
	KUNIT_CASE(filled_up_table_is_freed_with_its_object),
	KUNIT_CASE_PARAM(longer_table_is_accepted, row_gen_params),
	KUNIT_CASE(transfer_beyond_a_short_table_answers_enosys),
	KUNIT_CASE(control_beyond_a_short_table_answers_enosys),
	KUNIT_CASE(open_beyond_a_short_table_answers_enosys),
	KUNIT_CASE_PARAM(promised_table_of_the_cores_fillers_is_refused, promise_gen_params),
	KUNIT_CASE_PARAM(promised_table_of_copied_fillers_is_refused, promise_gen_params),
	KUNIT_CASE_PARAM(promised_short_table_of_nothing_is_refused, promise_gen_params),
	KUNIT_CASE_PARAM(promised_table_with_one_call_is_accepted, promise_gen_params),
	KUNIT_CASE_PARAM(table_of_fillers_that_nobody_promised_is_accepted, promise_gen_params),
	KUNIT_CASE(a_transfer_that_a_provider_has_not_is_not_there),
	{}
};

struct kunit_suite kofi_complete_suite = {
	.name = "kofi_complete",
	.init = core_init,
	.exit = core_exit,
	.test_cases = complete_cases,
};
