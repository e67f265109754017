// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Every call of the core with memory short at every point.
 *
 * The kernel's fault injection lets the n-th allocation of a task fail.  Each
 * case makes one call with n = 1, 2, 3, ... until the call needs fewer than n
 * allocations.  Whenever one failed, the call has either said -ENOMEM and left
 * nothing behind, or done without.  Leaks that no count shows are found by
 * kmemleak.
 *
 * Allocations that may sleep fail only if failslab is set so, in debugfs.  The pages of a new
 * slab are one more allocation of the task, now and then, with which n would move on to the
 * next one: they are not counted.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/fi_reason.h>
#include "core.h"

#define FAILSLAB	"cd /sys/kernel/debug/failslab && "
#define MIN_ORDER	"/sys/kernel/debug/fail_page_alloc/min-order"
#define MANY		200	/* more than any call allocates */

static int nomem_suite_init(struct kunit_suite *suite)
{
	int ret = core_shell(FAILSLAB "echo N >ignore-gfp-wait && echo 0 >verbose");

	return ret ?: core_shell("[ ! -e " MIN_ORDER " ] || echo 99 >" MIN_ORDER);
}

static void nomem_suite_exit(struct kunit_suite *suite)
{
	core_shell(FAILSLAB "echo Y >ignore-gfp-wait && echo 2 >verbose");
	core_shell("[ ! -e " MIN_ORDER " ] || echo 1 >" MIN_ORDER);
}

#ifdef CONFIG_FAULT_INJECTION
static void fail_nth(unsigned int n)
{
	WRITE_ONCE(current->fail_nth, n);
}

/* How many more allocations there would have to be */
static unsigned int fail_left(void)
{
	return READ_ONCE(current->fail_nth);
}
#else
static void fail_nth(unsigned int n)
{
}

static unsigned int fail_left(void)
{
	return 0;
}
#endif

/**
 * struct call - A call, and how to undo it when it succeeded
 * @name: which
 * @class: class of the object it opens, or that it is about
 * @make: makes it
 * @undo: undoes it
 */
struct call {
	const char	*name;
	enum mock_class	class;
	int		(*make)(struct core_set *set, const struct call *call, void **result);
	int		(*undo)(void *result);
};

static int make_open(struct core_set *set, const struct call *call, void **result)
{
	int err = core_open_raw(set, call->class, (struct fid **)result);
	struct fid *fid = *result;

	/* Its tables are whole */
	if (err || fid->ops->size >= sizeof(struct fi_ops))
		return err;
	return fi_close(fid) ?: -EFAULT;
}

static int undo_open(void *result)
{
	return fi_close(result);
}

/* What was found before the memory ran out is no result */
static int make_getinfo(struct core_set *set, const struct call *call, void **result)
{
	int err = fi_getinfo(CORE_API, "10.0.0.1", 80, 0, NULL, (struct fi_info **)result);

	return err && *result ? -EFAULT : err;
}

static int make_names(struct core_set *set, const struct call *call, void **result)
{
	return fi_getinfo(CORE_API, NULL, 0, FI_PROV_ATTR_ONLY, NULL, (struct fi_info **)result);
}

/*
 * With the query's own memory short it says so; with the provider's, that is a
 * reason.  Of one provider, as what the others allocate depends on the machine.
 */
static int make_getinfo_why(struct core_set *set, const struct call *call, void **result)
{
	static struct fi_reason reasons[2];
	struct fi_fabric_attr fabric = {
		.prov_name = set->info->fabric_attr->prov_name,
	};
	struct fi_info hints = { .fabric_attr = &fabric };
	int i, count;

	count = fi_getinfo_why(CORE_API, NULL, 0, 0, &hints, reasons, ARRAY_SIZE(reasons));
	for (i = 0; i < count; i++)
		if (reasons[i].err == -ENOMEM)
			return -ENOMEM;
	return count < 0 ? count : 0;
}

static int make_dupinfo(struct core_set *set, const struct call *call, void **result)
{
	*result = fi_dupinfo(set->info);
	return *result ? 0 : -ENOMEM;
}

static int make_allocinfo(struct core_set *set, const struct call *call, void **result)
{
	*result = fi_allocinfo();
	return *result ? 0 : -ENOMEM;
}

static int undo_info(void *result)
{
	fi_freeinfo(result);
	return 0;
}

static struct kofi_provider another = { .name = "another", .version = 1 };

static int make_register(struct core_set *set, const struct call *call, void **result)
{
	another.getinfo = set->mock->provider.getinfo;
	another.freeinfo = set->mock->provider.freeinfo;
	another.fabric = set->mock->provider.fabric;
	another.owner = THIS_MODULE;
	*result = &another;
	return kofi_provider_register(KOFI_PROVIDER_VERSION, &another);
}

static int undo_register(void *result)
{
	return kofi_provider_deregister(result);
}

/* Binding cannot be undone but by closing, so each bind gets an endpoint */
static int make_bind(struct core_set *set, const struct call *call, void **result)
{
	struct fid *ep;
	unsigned int n = fail_left();
	int err;

	fail_nth(0);
	err = core_open_raw(set, MOCK_EP, &ep);
	if (err)
		return err;
	fail_nth(n);
	err = fi_ep_bind((struct fid_ep *)ep, set->fid[MOCK_EQ], 0);
	n = fail_left();
	fail_nth(0);
	*result = ep;
	if (err)
		fi_close(ep);
	fail_nth(n);
	return err;
}

static int make_event(struct core_set *set, const struct call *call, void **result)
{
	struct fi_eq_entry entry = {};
	ssize_t ret;

	*result = set->fid[MOCK_EQ];
	ret = fi_eq_write(core_eq(set), FI_NOTIFY, &entry, sizeof(entry), 0);
	return ret < 0 ? ret : 0;
}

static int undo_event(void *result)
{
	struct fi_eq_entry entry;
	ssize_t ret;
	u32 event;

	ret = fi_eq_read(result, &event, &entry, sizeof(entry), 0);
	return ret < 0 ? ret : 0;
}

static const struct call calls[] = {
	{ "register", MOCK_FABRIC, make_register, undo_register },
	{ "getinfo", MOCK_FABRIC, make_getinfo, undo_info },
	{ "getinfo of names", MOCK_FABRIC, make_names, undo_info },
	{ "getinfo_why", MOCK_FABRIC, make_getinfo_why, undo_info },
	{ "dupinfo", MOCK_FABRIC, make_dupinfo, undo_info },
	{ "allocinfo", MOCK_FABRIC, make_allocinfo, undo_info },
	{ "bind", MOCK_EP, make_bind, undo_open },
	{ "eq_write", MOCK_EQ, make_event, undo_event },
};

static const struct call opens[] = {
	{ "fabric", MOCK_FABRIC, make_open, undo_open },
	{ "domain", MOCK_DOMAIN, make_open, undo_open },
	{ "eq", MOCK_EQ, make_open, undo_open },
	{ "passive endpoint", MOCK_PEP, make_open, undo_open },
	{ "cq", MOCK_CQ, make_open, undo_open },
	{ "endpoint", MOCK_EP, make_open, undo_open },
	{ "mr", MOCK_MR, make_open, undo_open },
	{ "counter", MOCK_CNTR, make_open, undo_open },
	{ "av", MOCK_AV, make_open, undo_open },
	{ "srx", MOCK_SRX, make_open, undo_open },
	{ "sep", MOCK_SEP, make_open, undo_open },
	{ "tx", MOCK_TX, make_open, undo_open },
	{ "rx", MOCK_RX, make_open, undo_open },
	{ "stx", MOCK_STX, make_open, undo_open },
	{ "mc", MOCK_MC, make_open, undo_open },
};

KUNIT_ARRAY_PARAM_DESC(call, calls, name);
KUNIT_ARRAY_PARAM_DESC(open, opens, name);

/* Makes the call with its n-th allocation failing; false: it has not so many */
static bool call_short(struct kunit *test, struct core_set *set,
		       const struct call *call, int n, int *refused)
{
	unsigned int left;
	void *result = NULL;
	int err;

	fail_nth(n);
	err = call->make(set, call, &result);
	left = fail_left();
	fail_nth(0);
	if (!err)
		KUNIT_EXPECT_EQ(test, call->undo(result), 0);
	else
		KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "allocation %d", n);
	*refused += err == -ENOMEM;
	return !left;
}

static void short_of_memory(struct kunit *test, struct core_set *set, int *refused)
{
	int n, live = mock_live(set->mock);

	for (n = 1; n < MANY; n++) {
		if (!call_short(test, set, test->param_value, n, refused))
			break;
		KUNIT_ASSERT_EQ_MSG(test, mock_live(set->mock), live,
				    "allocation %d", n);
	}
	KUNIT_EXPECT_LT(test, n, MANY);
}

static void open_set(struct kunit *test, struct core_set *set)
{
	const struct call *call = test->param_value;
	struct fi_eq_attr attr = { .flags = FI_WRITE };
	struct fid_eq *eq;

	/* A domain at least */
	core_open_parents(test, set, core_mock(test, "mock", 1), max(call->class, MOCK_EP));
	KUNIT_ASSERT_EQ(test, fi_eq_open(core_fabric(set), &attr, &eq, NULL), 0);
	core_adopt(test, &eq->fid);
	set->fid[MOCK_EQ] = &eq->fid;
	set->mock->infos->next = mock_info(set->mock);
	KUNIT_ASSERT_NOT_NULL(test, set->mock->infos->next);
}

static void call_fails_cleanly_without_memory(struct kunit *test)
{
	struct core_set set;
	int refused = 0;

	open_set(test, &set);

	short_of_memory(test, &set, &refused);

	KUNIT_EXPECT_GT(test, refused, 0);
}

static void open_fails_cleanly_without_memory(struct kunit *test)
{
	call_fails_cleanly_without_memory(test);
}

/* A shorter table costs the core one more allocation, after the provider's */
static void open_with_a_short_table_fails_cleanly_without_memory(struct kunit *test)
{
	const struct call *call = test->param_value;
	struct core_set set;
	int refused = 0;

	open_set(test, &set);
	set.mock->knob = (struct mock_knob) {
		.flaw = MOCK_SIZE,
		.class = call->class,
		.arg = offsetof(struct fi_ops, tostr),
	};

	short_of_memory(test, &set, &refused);

	KUNIT_EXPECT_GT(test, refused, 0);
}

/* The query with its n-th allocation failing; false: it has not so many */
static bool query_short(struct kunit *test, struct fi_info *hints, struct fi_reason *reason,
			int n, int *failed)
{
	unsigned int left;
	int count;

	fail_nth(n);
	count = fi_getinfo_why(CORE_API, NULL, 0, 0, hints, reason, 1);
	left = fail_left();
	fail_nth(0);
	if (count < 0)
		KUNIT_EXPECT_EQ(test, count, -ENOMEM);
	*failed += count < 0;
	return !left;
}

/* It has no reasons; what the provider lacks is one */
static void query_that_is_short_of_memory_says_so(struct kunit *test)
{
	struct fi_reason *reason = vt_buf(test, sizeof(*reason));
	struct fi_info *hints = core_hints(test);
	int n, failed = 0;

	core_mock(test, "mock", 1);
	core_set_string(test, &hints->fabric_attr->prov_name, "mock");
	/* The first one is for the reasons */
	for (n = 2; n < MANY && query_short(test, hints, reason, n, &failed); n++)
		;
	KUNIT_EXPECT_GT(test, failed, 0);
}

static struct kunit_case nomem_cases[] = {
	KUNIT_CASE_PARAM(call_fails_cleanly_without_memory, call_gen_params),
	KUNIT_CASE(query_that_is_short_of_memory_says_so),
	KUNIT_CASE_PARAM(open_fails_cleanly_without_memory, open_gen_params),
	KUNIT_CASE_PARAM(open_with_a_short_table_fails_cleanly_without_memory, open_gen_params),
	{}
};

struct kunit_suite kofi_nomem_suite = {
	.name = "kofi_nomem",
	.suite_init = nomem_suite_init,
	.suite_exit = nomem_suite_exit,
	.init = core_init,
	.exit = core_exit,
	.test_cases = nomem_cases,
};
