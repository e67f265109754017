// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Providers as modules: loaded on demand, kept while in use, unloaded after.  And
 * clients as modules: named if they are unloaded with open objects.
 *
 * The provider "demand" is in kofi_mock_demand.ko, the client in kofi_leaky.ko.  Each
 * case begins and ends with both unloaded.
 */
#include <linux/slab.h>
#include "core.h"

/* 0: it is not loaded (any more) */
static int unload(void)
{
	return core_shell("modprobe -r -q kofi_mock_demand kofi_leaky");
}

static int module_init_case(struct kunit *test)
{
	int err = unload();

	return err ? -EBUSY : core_init(test);
}

static void module_exit_case(struct kunit *test)
{
	core_exit(test);
	KUNIT_EXPECT_EQ(test, unload(), 0);
}

static int find_demand(struct kunit *test, u64 flags, struct fi_info **info)
{
	struct fi_info *hints = core_hints(test);
	int err;

	core_set_string(test, &hints->fabric_attr->prov_name, "demand");
	*info = NULL;
	err = fi_getinfo(CORE_API, NULL, 0, flags, hints, info);
	if (!err)
		core_free_later(test, *info);
	return err;
}

static int open_demand(struct kunit *test, struct fid_fabric **fabric)
{
	struct fi_fabric_attr attr = { .prov_name = "demand" };
	int err = fi_fabric(&attr, fabric, NULL);

	if (!err)
		core_adopt(test, &(*fabric)->fid);
	return err;
}

static void named_provider_is_loaded_by_getinfo(struct kunit *test)
{
	struct fi_info *info;

	KUNIT_ASSERT_EQ(test, find_demand(test, 0, &info), 0);

	KUNIT_EXPECT_STREQ(test, info->fabric_attr->prov_name, "demand");
}

static void named_provider_is_loaded_by_fabric(struct kunit *test)
{
	struct fid_fabric *fabric;

	KUNIT_EXPECT_EQ(test, open_demand(test, &fabric), 0);
}

static void provider_that_nobody_names_is_not_loaded(struct kunit *test)
{
	struct fi_info *info, *next;

	if (!core_getinfo(test, NULL, &info))
		for (next = info; next; next = next->next)
			KUNIT_EXPECT_STRNEQ(test, next->fabric_attr->prov_name,
					    "demand");
}

static void module_in_use_is_not_unloaded(struct kunit *test)
{
	struct fid_fabric *fabric;
	struct fid_eq *eq;

	KUNIT_ASSERT_EQ(test, open_demand(test, &fabric), 0);

	KUNIT_EXPECT_NE(test, unload(), 0);

	KUNIT_EXPECT_EQ(test, fi_eq_open(fabric, NULL, &eq, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_close(&eq->fid), 0);
	KUNIT_EXPECT_EQ(test, core_close(test, &fabric->fid), 0);
	KUNIT_EXPECT_EQ(test, unload(), 0);
}

static void unloaded_module_is_loaded_again(struct kunit *test)
{
	struct fid_fabric *fabric;
	struct fi_info *info;

	KUNIT_ASSERT_EQ(test, find_demand(test, 0, &info), 0);
	KUNIT_ASSERT_EQ(test, unload(), 0);

	KUNIT_EXPECT_EQ(test, fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	core_adopt(test, &fabric->fid);
}

#define LEAKY	"client kofi_leaky is unloaded with open objects: "
#define OBJECTS	"/sys/kernel/debug/kofi/objects"
#define COME_AND_GO "modprobe kofi_leaky tidy=1 && rmmod kofi_leaky"

/* How many open objects of the mock does debugfs show with this behind the client? */
static int count_shown(const char *client)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "exit $(grep -c 'provider mock,.* client %s\\(,\\|$\\)' " OBJECTS ")",
		 client);
	return core_shell(command) >> 8;
}

static void expect_named(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, core_log_count(LEAKY), 3);
	KUNIT_EXPECT_EQ(test, core_log_count(LEAKY "fabric"), 1);
	KUNIT_EXPECT_EQ(test, core_log_count(LEAKY "domain"), 1);
	KUNIT_EXPECT_EQ(test, core_log_count(LEAKY "event queue"), 1);
}

/* Nobody else has the objects any more */
static void close_forgotten(struct kunit *test, const struct mock *mock)
{
	struct fid *fid;

	while ((fid = mock_newest(mock)))
		if (fi_close(fid))
			break;
	KUNIT_EXPECT_EQ(test, mock_live(mock), 0);
}

static void client_that_forgets_its_objects_is_named(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);

	core_log_clear();
	KUNIT_ASSERT_EQ(test, core_shell("modprobe kofi_leaky"), 0);
	KUNIT_EXPECT_EQ(test, count_shown("kofi_leaky"), 3);
	KUNIT_ASSERT_EQ(test, core_shell("rmmod kofi_leaky"), 0);

	expect_named(test);
	KUNIT_EXPECT_EQ(test, count_shown("kofi_leaky (unloaded)"), 3);
	close_forgotten(test, mock);
}

static void forgotten_objects_are_named_once(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);

	KUNIT_ASSERT_EQ(test, core_shell("modprobe kofi_leaky"), 0);
	KUNIT_ASSERT_EQ(test, core_shell("rmmod kofi_leaky"), 0);
	core_log_clear();
	KUNIT_EXPECT_EQ(test, core_shell(COME_AND_GO), 0);

	KUNIT_EXPECT_EQ(test, core_log_count(LEAKY), 0);
	close_forgotten(test, mock);
}

static void client_that_fails_to_load_is_named(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);

	core_log_clear();
	KUNIT_ASSERT_NE(test, core_shell("modprobe kofi_leaky fail=1"), 0);

	expect_named(test);
	close_forgotten(test, mock);
}

static void tidy_client_is_not_named(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);

	core_log_clear();
	KUNIT_ASSERT_EQ(test, core_shell(COME_AND_GO), 0);

	KUNIT_EXPECT_EQ(test, core_log_count(LEAKY), 0);
	KUNIT_EXPECT_EQ(test, mock_live(mock), 0);
}

static void open_objects_of_another_client_are_not_named(struct kunit *test)
{
	struct core_set *set = core_all(test);

	core_log_clear();
	KUNIT_ASSERT_EQ(test, core_shell(COME_AND_GO), 0);

	KUNIT_EXPECT_EQ(test, core_log_count("unloaded with open objects"), 0);
	KUNIT_EXPECT_EQ(test, count_shown("kofi_core_test"), mock_live(set->mock));
}

static struct kunit_case module_cases[] = {
	KUNIT_CASE(named_provider_is_loaded_by_getinfo),
	KUNIT_CASE(named_provider_is_loaded_by_fabric),
	KUNIT_CASE(provider_that_nobody_names_is_not_loaded),
	KUNIT_CASE(module_in_use_is_not_unloaded),
	KUNIT_CASE(unloaded_module_is_loaded_again),
	KUNIT_CASE(client_that_forgets_its_objects_is_named),
	KUNIT_CASE(forgotten_objects_are_named_once),
	KUNIT_CASE(client_that_fails_to_load_is_named),
	KUNIT_CASE(tidy_client_is_not_named),
	KUNIT_CASE(open_objects_of_another_client_are_not_named),
	{}
};

struct kunit_suite kofi_module_suite = {
	.name = "kofi_module",
	.init = module_init_case,
	.exit = module_exit_case,
	.test_cases = module_cases,
};
