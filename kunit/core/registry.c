// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Registration of providers: who is accepted, who serves new calls, and what
 * deregistration waits for.  Races are in core_test_race.c.
 */
#include <linux/module.h>
#include "core.h"

static int register_mock(struct mock *mock)
{
	return kofi_provider_register(KOFI_PROVIDER_VERSION, &mock->provider);
}

static int deregister_mock(void *mock)
{
	return kofi_provider_deregister(&((struct mock *)mock)->provider);
}

/* How many results of a provider are there among the mocks? */
static int count_results(struct kunit *test, const struct mock *mock)
{
	struct fi_info *info, *list;
	int count = 0;

	if (core_getinfo(test, NULL, &list))
		return 0;
	for (info = list; info; info = info->next)
		if (!strcmp(info->fabric_attr->prov_name, mock->name) &&
		    info->fabric_attr->prov_version == mock->provider.version)
			count++;
	return count;
}

static int open_fabric(struct kunit *test, const char *name, u32 version,
		       struct fid_fabric **fabric)
{
	struct fi_fabric_attr attr = {
		.prov_name = (char *)name,
		.prov_version = version,
	};
	int err = fi_fabric(&attr, fabric, NULL);

	if (!err)
		core_adopt(test, &(*fabric)->fid);
	return err;
}

static void every_provider_is_found(struct kunit *test)
{
	struct mock *mocks[10];
	char name[FI_NAME_MAX];
	int i, k;

	for (i = 0; i < ARRAY_SIZE(mocks); i++) {
		snprintf(name, sizeof(name), "mock-%d", i);
		mocks[i] = core_mock(test, name, 1);
		for (k = 0; k <= i; k++)
			KUNIT_EXPECT_EQ(test, count_results(test, mocks[k]), 1);
	}
}

static void unregistered_provider_is_not_called(struct kunit *test)
{
	struct mock *mock = core_mock_new(test, "mock", 1);

	KUNIT_EXPECT_EQ(test, count_results(test, mock), 0);
	KUNIT_EXPECT_EQ(test, mock_calls(mock), 0);
}

static void same_name_and_version_is_refused(struct kunit *test)
{
	struct mock *first = core_mock(test, "mock", 1);
	struct mock *second = core_mock_new(test, "mock", 1);

	KUNIT_EXPECT_EQ(test, register_mock(second), -EEXIST);

	KUNIT_EXPECT_EQ(test, count_results(test, first), 1);
	KUNIT_EXPECT_EQ(test, mock_calls(second), 0);
}

static void registering_twice_is_refused_and_logged(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", FI_VERSION(1, 2));

	core_log_clear();
	KUNIT_ASSERT_EQ(test, register_mock(mock), -EEXIST);

	KUNIT_EXPECT_EQ(test, core_log_count("mock refused: version 1.2 of it"), 1);
}

static void provider_without_a_name_is_logged(struct kunit *test)
{
	struct mock *mock = core_mock_new(test, "mock", 1);

	mock->provider.name = NULL;
	core_log_clear();
	KUNIT_ASSERT_EQ(test, register_mock(mock), -EINVAL);

	KUNIT_EXPECT_EQ(test, core_log_count("provider refused: it has no name"), 1);
}

/*
 * struct versions - Two versions of a provider
 * @name: of the case
 * @first: registered first
 * @second: registered after that
 * @asked: what a fabric is opened with
 * @opens: the version that opens it
 */
struct versions {
	const char	*name;
	u32		first;
	u32		second;
	u32		asked;
	u32		opens;
};

static const struct versions versions[] = {
	{ "newer second", FI_VERSION(1, 9), FI_VERSION(2, 0), 0, FI_VERSION(2, 0) },
	{ "older second", FI_VERSION(2, 0), FI_VERSION(1, 9), 0, FI_VERSION(2, 0) },
	{ "older of the info", 1, 2, 1, 1 },
	{ "newer of the info", 1, 2, 2, 2 },
	{ "older of the info, second", 2, 1, 1, 1 },
};

KUNIT_ARRAY_PARAM_DESC(version, versions, name);

/* The newer one also opens what asks for no version; the older one comes back when it goes */
static void the_newer_version_serves(struct kunit *test)
{
	const struct versions *row = test->param_value;
	struct mock *first = core_mock_new(test, "mock", row->first);
	struct mock *second = core_mock_new(test, "mock", row->second);
	struct mock *newer = row->first > row->second ? first : second;
	struct mock *older = newer == first ? second : first;
	struct mock *opener = row->opens == row->first ? first : second;
	struct fid_fabric *fabric;

	KUNIT_ASSERT_EQ(test, register_mock(first), 0);
	core_log_clear();
	KUNIT_ASSERT_EQ(test, register_mock(second), 0);
	KUNIT_EXPECT_EQ(test, core_log_count("provider mock: new calls go to"), newer == second);
	KUNIT_EXPECT_EQ(test, core_log_count("stays unused"), newer == first);

	KUNIT_EXPECT_EQ(test, count_results(test, newer), 1);
	KUNIT_EXPECT_EQ(test, count_results(test, older), 0);
	KUNIT_EXPECT_EQ(test, mock_calls(older), 0);

	KUNIT_ASSERT_EQ(test, open_fabric(test, "mock", row->asked, &fabric), 0);
	KUNIT_EXPECT_EQ(test, mock_live(opener), 1);
	KUNIT_EXPECT_EQ(test, mock_live(opener == newer ? older : newer), 0);
	KUNIT_ASSERT_EQ(test, core_close(test, &fabric->fid), 0);

	core_log_clear();
	KUNIT_ASSERT_EQ(test, deregister_mock(newer), 0);
	KUNIT_EXPECT_EQ(test, core_log_count("provider mock: new calls go to"), 1);
	KUNIT_EXPECT_EQ(test, count_results(test, older), 1);
	KUNIT_EXPECT_EQ(test, count_results(test, newer), 0);
}

static void another_major_version_is_refused(struct kunit *test)
{
	struct mock *mock = core_mock_new(test, "mock", 1);
	u32 newer = FI_VERSION(KOFI_PROVIDER_MAJOR + 1, 0);
	u32 older = FI_VERSION(KOFI_PROVIDER_MAJOR - 1, 99);

	KUNIT_EXPECT_EQ(test, kofi_provider_register(newer, &mock->provider), -ENOSYS);
	KUNIT_EXPECT_EQ(test, kofi_provider_register(older, &mock->provider), -ENOSYS);
	KUNIT_EXPECT_EQ(test, deregister_mock(mock), -ENOENT);
}

static void other_minor_versions_are_accepted(struct kunit *test)
{
	struct mock *older = core_mock_new(test, "older", 1);
	struct mock *newer = core_mock_new(test, "newer", 1);

	KUNIT_EXPECT_EQ(test, kofi_provider_register(FI_VERSION(KOFI_PROVIDER_MAJOR, 0),
						     &older->provider), 0);
	KUNIT_EXPECT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION + 1,
						     &newer->provider), 0);

	KUNIT_EXPECT_EQ(test, count_results(test, older), 1);
	KUNIT_EXPECT_EQ(test, count_results(test, newer), 1);
}

static void missing_call_is_refused(struct kunit *test)
{
	struct mock *mock = core_mock_new(test, "mock", 1);
	struct kofi_provider whole = mock->provider;

	mock->provider.getinfo = NULL;
	KUNIT_EXPECT_EQ(test, register_mock(mock), -EINVAL);
	mock->provider = whole;
	mock->provider.freeinfo = NULL;
	KUNIT_EXPECT_EQ(test, register_mock(mock), -EINVAL);
	mock->provider = whole;
	mock->provider.fabric = NULL;
	KUNIT_EXPECT_EQ(test, register_mock(mock), -EINVAL);
	mock->provider = whole;
	KUNIT_EXPECT_EQ(test, register_mock(mock), 0);
}

static void missing_provider_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION, NULL), -EINVAL);
}

#define LETTERS_62 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz-_01234567"

static const struct name_case {
	const char	*what;
	const char	*name;
	int		err;
} name_cases[] = {
	{ "none", NULL, -EINVAL },
	{ "empty", "", -EINVAL },
	{ "one letter", "a", 0 },
	{ "digits, dash and underscore", "0-9_z", 0 },
	{ "63 letters", LETTERS_62 "8", 0 },
	{ "64 letters", LETTERS_62 "89", -EINVAL },
	{ "upper case", "Mock", -EINVAL },
	{ "space", "mo ck", -EINVAL },
	{ "newline", "mock\n", -EINVAL },
	{ "semicolon", "mock;mock", -EINVAL },
	{ "slash", "../mock", -EINVAL },
	{ "percent", "mock%s", -EINVAL },
	{ "caret", "^mock", -EINVAL },
	{ "beyond ASCII", "mock\xc3\xa9", -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(name, name_cases, what);

static void name_is_checked(struct kunit *test)
{
	struct mock *mock = core_mock_new(test, "mock", 1);
	const struct name_case *row = test->param_value;

	mock->provider.name = row->name;

	KUNIT_EXPECT_EQ(test, register_mock(mock), row->err);
	KUNIT_EXPECT_EQ(test, deregister_mock(mock), row->err ? -ENOENT : 0);
}

static void deregistering_twice_is_refused(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);

	KUNIT_EXPECT_EQ(test, deregister_mock(mock), 0);
	KUNIT_EXPECT_EQ(test, deregister_mock(mock), -ENOENT);
}

static void deregistered_provider_can_register_again(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);

	KUNIT_ASSERT_EQ(test, deregister_mock(mock), 0);
	KUNIT_ASSERT_EQ(test, register_mock(mock), 0);

	KUNIT_EXPECT_EQ(test, count_results(test, mock), 1);
}

static void fabric_of_a_deregistered_provider_is_refused(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock-gone", 1);
	struct fid_fabric *fabric;

	KUNIT_ASSERT_EQ(test, deregister_mock(mock), 0);

	KUNIT_EXPECT_EQ(test, open_fabric(test, "mock-gone", 1, &fabric), -ENODEV);
}

static void results_outlive_their_provider(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct fi_info *info = core_info(test, "mock");

	KUNIT_ASSERT_EQ(test, deregister_mock(mock), 0);
	memset(mock->name, 'x', sizeof(mock->name) - 1);

	KUNIT_EXPECT_STREQ(test, info->fabric_attr->prov_name, "mock");
	KUNIT_EXPECT_STREQ(test, info->domain_attr->name, "mock0");
}

/* The call of the other thread that the gate holds inside the provider */
struct inside {
	struct mock		*mock;
	struct fi_fabric_attr	attr;
	struct core_set		set;
	struct fid		*opened;
};

static int call_getinfo(void *data)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	struct inside *inside = data;
	int err;

	if (!hints)
		return -ENOMEM;
	hints->fabric_attr->prov_name = kstrdup(inside->mock->name, GFP_KERNEL);
	err = fi_getinfo(CORE_API, NULL, 0, 0, hints, &info);
	if (!err)
		fi_freeinfo(info);
	fi_freeinfo(hints);
	return err;
}

static int call_fabric(void *data)
{
	struct inside *inside = data;
	struct fid_fabric *fabric;
	int err = fi_fabric(&inside->attr, &fabric, NULL);

	if (!err)
		inside->opened = &fabric->fid;
	return err;
}

/* Starts it, and waits until the gate holds it */
static struct vt_async *enter(struct kunit *test, struct inside *inside, struct mock *mock,
			      enum mock_call gate, int (*call)(void *data))
{
	struct vt_async *caller;

	*inside = (struct inside) {
		.mock			= mock,
		.attr.prov_name		= mock->name,
		.attr.prov_version	= mock->provider.version,
	};
	mock_gate_arm(mock, gate);
	caller = vt_async_start(test, call, inside);
	KUNIT_EXPECT_TRUE(test, mock_gate_wait(mock));
	return caller;
}

static const struct entered {
	const char	*name;
	enum mock_call	gate;
	int		(*call)(void *data);
	int		err;
} entered[] = {
	{ "getinfo", MOCK_CALL_GETINFO, call_getinfo },
	{ "a fabric that is being opened", MOCK_CALL_FABRIC, call_fabric },
	{ "a fabric that fails to open", MOCK_CALL_FABRIC, call_fabric, -EIO },
};

KUNIT_ARRAY_PARAM_DESC(entered, entered, name);

static void deregister_waits_for_a_call(struct kunit *test)
{
	const struct entered *row = test->param_value;
	struct mock *mock = core_mock(test, "mock", 1);
	struct vt_async *caller, *leaver;
	struct inside inside;

	mock->fail[row->gate] = row->err;
	caller = enter(test, &inside, mock, row->gate, row->call);

	leaver = vt_async_start(test, deregister_mock, mock);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(leaver));
	mock_gate_open(mock);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, caller), row->err);
	if (inside.opened) {
		KUNIT_EXPECT_TRUE(test, vt_async_waits(leaver));
		KUNIT_EXPECT_EQ(test, fi_close(inside.opened), 0);
	}
	KUNIT_EXPECT_EQ(test, vt_async_join(test, leaver), 0);
	KUNIT_EXPECT_EQ(test, !!inside.opened, row->call == call_fabric && !row->err);
	KUNIT_EXPECT_EQ(test, atomic_read(&mock->infos_out), 0);
}

/* Meanwhile nobody finds the provider, and its fabric goes on */
static void deregister_waits_for_an_open_fabric(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock-leaves", 1);
	struct fid_fabric *fabric;
	struct vt_async *leaver;
	struct core_set set;
	struct fid *ep;

	core_open_parents(test, &set, mock, MOCK_EP);

	leaver = vt_async_start(test, deregister_mock, mock);

	KUNIT_EXPECT_TRUE(test, vt_async_waits(leaver));
	KUNIT_EXPECT_EQ(test, count_results(test, mock), 0);
	KUNIT_EXPECT_EQ(test, open_fabric(test, mock->name, 1, &fabric), -ENODEV);
	KUNIT_EXPECT_EQ(test, core_open(test, &set, MOCK_EP, &ep), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, ep), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, set.fid[MOCK_DOMAIN]), 0);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(leaver));
	KUNIT_EXPECT_EQ(test, core_close(test, set.fid[MOCK_FABRIC]), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, leaver), 0);
}

static void deregister_one_does_not_wait_for_another(struct kunit *test)
{
	struct mock *busy = core_mock(test, "mock-busy", 1);
	struct mock *idle = core_mock(test, "mock-idle", 1);
	struct core_set set;

	core_open_parents(test, &set, busy, MOCK_EP);

	KUNIT_EXPECT_EQ(test, deregister_mock(idle), 0);
}

static void successor_serves_while_predecessor_waits(struct kunit *test)
{
	struct mock *old = core_mock(test, "mock", 1);
	struct mock *new = core_mock_new(test, "mock", 1);
	struct vt_async *leaver;
	struct fid_fabric *fabric;
	struct core_set set;

	core_open_parents(test, &set, old, MOCK_EP);
	leaver = vt_async_start(test, deregister_mock, old);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(leaver));

	KUNIT_EXPECT_EQ(test, register_mock(new), 0);

	KUNIT_EXPECT_EQ(test, count_results(test, new), 1);
	KUNIT_EXPECT_EQ(test, open_fabric(test, "mock", 1, &fabric), 0);
	KUNIT_EXPECT_EQ(test, mock_live(new), 1);
	KUNIT_EXPECT_EQ(test, core_close(test, set.fid[MOCK_DOMAIN]), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, set.fid[MOCK_FABRIC]), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, leaver), 0);
}

static void replaced_provider_keeps_serving_its_objects(struct kunit *test)
{
	struct mock *old = core_mock(test, "mock", 1);
	struct core_set set;
	struct mock *new;
	struct fid *ep;

	core_open_parents(test, &set, old, MOCK_EP);

	new = core_mock(test, "mock", 2);

	KUNIT_EXPECT_EQ(test, core_open(test, &set, MOCK_EP, &ep), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&old->live[MOCK_EP]), 1);
	KUNIT_EXPECT_EQ(test, mock_live(new), 0);
}

static void registry_is_free_while_a_provider_is_inside_getinfo(struct kunit *test)
{
	struct mock *slow = core_mock(test, "mock-slow", 1);
	struct mock *other = core_mock_new(test, "mock-other", 1);
	struct vt_async *caller;
	struct fid_fabric *fabric;
	struct inside inside;

	caller = enter(test, &inside, slow, MOCK_CALL_GETINFO, call_getinfo);

	KUNIT_EXPECT_EQ(test, register_mock(other), 0);
	KUNIT_EXPECT_EQ(test, count_results(test, other), 1);
	KUNIT_EXPECT_EQ(test, open_fabric(test, slow->name, 1, &fabric), 0);
	KUNIT_EXPECT_EQ(test, deregister_mock(other), 0);

	mock_gate_open(slow);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, caller), 0);
}

static void open_fabric_pins_the_module(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct module *owner = mock->provider.owner;
	int before = module_refcount(owner);
	struct fid_fabric *fabric;

	KUNIT_ASSERT_EQ(test, open_fabric(test, "mock", 1, &fabric), 0);
	KUNIT_EXPECT_EQ(test, module_refcount(owner), before + 1);

	KUNIT_ASSERT_EQ(test, core_close(test, &fabric->fid), 0);
	KUNIT_EXPECT_EQ(test, module_refcount(owner), before);
}

static void failed_fabric_does_not_pin_the_module(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct module *owner = mock->provider.owner;
	int before = module_refcount(owner);
	struct fid_fabric *fabric;

	mock->fail[MOCK_CALL_FABRIC] = -EIO;
	KUNIT_ASSERT_EQ(test, open_fabric(test, "mock", 1, &fabric), -EIO);

	KUNIT_EXPECT_EQ(test, module_refcount(owner), before);
}

static struct kunit_case registry_cases[] = {
	KUNIT_CASE(every_provider_is_found),
	KUNIT_CASE(unregistered_provider_is_not_called),
	KUNIT_CASE(same_name_and_version_is_refused),
	KUNIT_CASE(registering_twice_is_refused_and_logged),
	KUNIT_CASE(provider_without_a_name_is_logged),
	KUNIT_CASE_PARAM(the_newer_version_serves, version_gen_params),
	KUNIT_CASE(another_major_version_is_refused),
	KUNIT_CASE(other_minor_versions_are_accepted),
	KUNIT_CASE(missing_call_is_refused),
	KUNIT_CASE(missing_provider_is_refused),
	KUNIT_CASE_PARAM(name_is_checked, name_gen_params),
	KUNIT_CASE(deregistering_twice_is_refused),
	KUNIT_CASE(deregistered_provider_can_register_again),
	KUNIT_CASE(fabric_of_a_deregistered_provider_is_refused),
	KUNIT_CASE(results_outlive_their_provider),
	KUNIT_CASE_PARAM(deregister_waits_for_a_call, entered_gen_params),
	KUNIT_CASE(deregister_waits_for_an_open_fabric),
	KUNIT_CASE(deregister_one_does_not_wait_for_another),
	KUNIT_CASE(successor_serves_while_predecessor_waits),
	KUNIT_CASE(replaced_provider_keeps_serving_its_objects),
	KUNIT_CASE(registry_is_free_while_a_provider_is_inside_getinfo),
	KUNIT_CASE(open_fabric_pins_the_module),
	KUNIT_CASE(failed_fabric_does_not_pin_the_module),
	{}
};

struct kunit_suite kofi_registry_suite = {
	.name = "kofi_registry",
	.init = core_init,
	.exit = core_exit,
	.test_cases = registry_cases,
};
