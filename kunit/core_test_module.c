// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Providers as modules: loaded on demand, kept while in use, unloaded after.
 *
 * The provider "demand" is in kofi_mock_demand.ko.  Each case begins and ends
 * with that module unloaded.
 */
#include <linux/slab.h>
#include "core_test.h"

/* 0: it is not loaded (any more) */
static int unload(void)
{
	return core_shell("modprobe -r -q kofi_mock_demand");
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
	err = fi_getinfo(KOFI_PROVIDER_VERSION, NULL, 0, flags, hints, info);
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

static struct kunit_case module_cases[] = {
	KUNIT_CASE(named_provider_is_loaded_by_getinfo),
	KUNIT_CASE(named_provider_is_loaded_by_fabric),
	KUNIT_CASE(provider_that_nobody_names_is_not_loaded),
	KUNIT_CASE(module_in_use_is_not_unloaded),
	KUNIT_CASE(unloaded_module_is_loaded_again),
	{}
};

struct kunit_suite kofi_module_suite = {
	.name = "kofi_module",
	.init = module_init_case,
	.exit = module_exit_case,
	.test_cases = module_cases,
};
