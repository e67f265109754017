// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Registration, discovery and opening at the same time, from several threads.
 *
 * Each thread does its rounds and stops at the first answer that is not among
 * those allowed at such a moment; that answer is the thread's result.  The rest
 * is the work of KASAN, lockdep and the counts of objects.
 *
 * Most rounds keep one version registered for good, so that nobody asks for
 * a module; that takes a user-space helper and would dwarf the race.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include "core.h"

#define ROUNDS		200
#define ROUNDS_SLOW	5

struct racer {
	struct mock	*mock;
	int		rounds;
	u32		version;
};

static int race_register(void *data)
{
	struct racer *racer = data;
	struct kofi_provider *provider = &racer->mock->provider;
	int i, err;

	for (i = 0; i < racer->rounds; i++) {
		err = kofi_provider_register(KOFI_PROVIDER_VERSION, provider);
		if (err)
			return err;
		cond_resched();
		err = kofi_provider_deregister(provider);
		if (err)
			return err;
		if (mock_live(racer->mock) || atomic_read(&racer->mock->infos_out))
			return -EUCLEAN;
	}
	return 0;
}

static bool race_result_is_whole(const struct fi_info *info)
{
	return info->fabric_attr->prov_name && info->fabric_attr->prov_version &&
	       info->domain_attr->name;
}

static int race_getinfo(void *data)
{
	struct fi_info *hints = fi_allocinfo(), *list, *info;
	struct racer *racer = data;
	int i, err = 0;

	if (!hints)
		return -ENOMEM;
	hints->fabric_attr->prov_name = kstrdup(racer->mock->name, GFP_KERNEL);
	for (i = 0; i < racer->rounds && !err; i++) {
		err = fi_getinfo(CORE_API, NULL, 0, 0, hints, &list);
		if (err == -ENODATA) {
			err = 0;
			continue;
		}
		if (err)
			break;
		for (info = list; info; info = info->next)
			if (!race_result_is_whole(info))
				err = -EUCLEAN;
		fi_freeinfo(list);
	}
	fi_freeinfo(hints);
	return err;
}

static int race_open(void *data)
{
	struct racer *racer = data;
	struct fi_fabric_attr attr = {
		.prov_name = racer->mock->name,
		.prov_version = racer->version,
	};
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	int i, err;

	for (i = 0; i < racer->rounds; i++) {
		err = fi_fabric(&attr, &fabric, NULL);
		if (err == -ENODEV)
			continue;
		if (err)
			return err;
		err = fi_eq_open(fabric, NULL, &eq, NULL) ? :
		      fi_close(&eq->fid) ? : fi_close(&fabric->fid);
		if (err)
			return err;
	}
	return 0;
}

static void race(struct kunit *test, struct racer *racers)
{
	struct vt_async *reg, *find, *open;

	reg = vt_async_start(test, race_register, &racers[0]);
	find = vt_async_start(test, race_getinfo, &racers[1]);
	open = vt_async_start(test, race_open, &racers[2]);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, open), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, find), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, reg), 0);
}

static void newer_version_comes_and_goes_under_load(struct kunit *test)
{
	struct mock *low = core_mock(test, "mock", 1);
	struct mock *high = core_mock_new(test, "mock", 2);
	struct racer racers[] = {
		{ high, ROUNDS }, { low, ROUNDS }, { low, ROUNDS, 2 },
	};

	race(test, racers);

	KUNIT_EXPECT_EQ(test, mock_live(low), 0);
	KUNIT_EXPECT_EQ(test, mock_live(high), 0);
}

static void only_version_comes_and_goes_under_load(struct kunit *test)
{
	struct mock *mock = core_mock_new(test, "mock-race", 1);
	struct racer racers[] = {
		{ mock, ROUNDS }, { mock, ROUNDS_SLOW }, { mock, ROUNDS_SLOW },
	};

	race(test, racers);

	KUNIT_EXPECT_EQ(test, mock_live(mock), 0);
}

static void several_versions_come_and_go_at_once(struct kunit *test)
{
	struct mock *mocks[4] = { core_mock(test, "mock", 1) };
	struct vt_async *threads[4];
	struct racer racers[4];
	char name[] = "mock";
	int i;

	for (i = 1; i < ARRAY_SIZE(mocks); i++) {
		mocks[i] = core_mock_new(test, name, i + 1);
		racers[i] = (struct racer) { mocks[i], ROUNDS };
	}

	for (i = 1; i < ARRAY_SIZE(mocks); i++)
		threads[i] = vt_async_start(test, race_register, &racers[i]);

	for (i = 1; i < ARRAY_SIZE(mocks); i++)
		KUNIT_EXPECT_EQ(test, vt_async_join(test, threads[i]), 0);
}

/* Who registers the one name and version is alone with it */
static atomic_t race_owners;

static int race_for_the_name(void *data)
{
	struct racer *racer = data;
	struct kofi_provider *provider = &racer->mock->provider;
	int i, err, owners;

	for (i = 0; i < racer->rounds; i++) {
		err = kofi_provider_register(KOFI_PROVIDER_VERSION, provider);
		if (err == -EEXIST)
			continue;
		if (err)
			return err;
		owners = atomic_inc_return(&race_owners);
		cond_resched();
		atomic_dec(&race_owners);
		err = kofi_provider_deregister(provider);
		if (err || owners != 1)
			return err ? : -EUCLEAN;
	}
	return 0;
}

static void one_of_two_gets_the_name(struct kunit *test)
{
	struct mock *one = core_mock_new(test, "mock", 1);
	struct mock *two = core_mock_new(test, "mock", 1);
	struct racer racers[] = { { one, ROUNDS }, { two, ROUNDS } };
	struct vt_async *first, *second;

	atomic_set(&race_owners, 0);
	first = vt_async_start(test, race_for_the_name, &racers[0]);
	second = vt_async_start(test, race_for_the_name, &racers[1]);

	KUNIT_EXPECT_EQ(test, vt_async_join(test, first), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, second), 0);
}

static int race_children(void *data)
{
	struct core_set *set = data;
	struct fid_eq *eq;
	int i, err;

	for (i = 0; i < ROUNDS; i++) {
		err = fi_eq_open(core_fabric(set), NULL, &eq, NULL) ? :
		      fi_close(&eq->fid);
		if (err)
			return err;
	}
	return 0;
}

static void children_open_and_close_at_once(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_DOMAIN);
	struct mock *mock = set->mock;
	struct vt_async *threads[3];
	int i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = vt_async_start(test, race_children, set);

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		KUNIT_EXPECT_EQ(test, vt_async_join(test, threads[i]), 0);
	KUNIT_EXPECT_EQ(test, mock_live(mock), 1);
	KUNIT_EXPECT_EQ(test, core_close(test, set->fid[MOCK_FABRIC]), 0);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE(newer_version_comes_and_goes_under_load),
	KUNIT_CASE(only_version_comes_and_goes_under_load),
	KUNIT_CASE(several_versions_come_and_go_at_once),
	KUNIT_CASE(one_of_two_gets_the_name),
	KUNIT_CASE(children_open_and_close_at_once),
	{}
};

struct kunit_suite kofi_race_suite = {
	.name = "kofi_race",
	.init = core_init,
	.exit = core_exit,
	.test_cases = race_cases,
};
