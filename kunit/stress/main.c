// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Random calls from several threads: on an RDMA device, or on endpoints without connections, and
 * on a provider that is withdrawn while all go on.
 *
 *	insmod kofi_stress_test.ko seconds=60 seed=4711
 *	insmod kofi_stress_test.ko prov="verbs;ofi_rxm" ep=rdm
 *
 * Without a seed another one is drawn each time; it is printed, and with it the calls
 * can be made again.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <kofi/compat.h>
#include "../mock/mock.h"
#include "stress.h"

static unsigned int seconds = 5;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "how long each case takes: 5");

static unsigned int seed;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the random calls; 0: any");

static char *prov = "verbs";
module_param(prov, charp, 0444);
MODULE_PARM_DESC(prov, "the provider of random_calls_on_shared_objects: verbs");

static char *ep = "msg";
module_param(ep, charp, 0444);
MODULE_PARM_DESC(ep, "the type of its endpoints, msg or rdm: msg");

/* A world lives for a while, so that opening and closing it is tried, too */
#define ST_WORLD_MS	1000
/* KUnit and the kernel take a case for hung that takes minutes */
#define ST_PART_SECONDS	10

/**
 * struct st_part - A part of the time
 * @seed: of its first world; the next one's is one more
 * @seconds: how long
 * @left: after it
 */
struct st_part {
	u32		seed;
	unsigned int	seconds;
	unsigned int	left;
};

static struct st_part st_first, st_next;

static int st_suite_init(struct kunit_suite *suite)
{
	st_first = (struct st_part) {
		.seed		= seed ? : get_random_u32(),
		.left		= seconds,
	};
	return 0;
}

static const void *st_part_gen_params(KOFI_KUNIT_PARAM_TEST const void *prev, char *desc)
{
	if (!prev)
		st_next = st_first;
	else
		st_next.seed += st_next.seconds;
	if (!st_next.left)
		return NULL;
	st_next.seconds = min(st_next.left, ST_PART_SECONDS);
	st_next.left -= st_next.seconds;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "seed=%u seconds=%u", st_next.seed, st_next.seconds);
	return &st_next;
}

static void st_worlds(struct kunit *test, const char *prov_name, bool rdm, bool rma,
		      unsigned int time, int (*begin)(void *arg), void (*end)(void *arg), void *arg)
{
	const struct st_part *part = test->param_value;
	unsigned long until = jiffies + time * HZ;
	struct st_figures *figures;
	struct st_world *world;
	u32 world_seed = part->seed;
	int ret;

	figures = kunit_kzalloc(test, sizeof(*figures), GFP_KERNEL);
	world = kunit_kzalloc(test, sizeof(*world), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, figures);
	KUNIT_ASSERT_NOT_NULL(test, world);
	do {
		*world = (struct st_world) {
			.test		= test,
			.figures	= figures,
			.prov_name	= prov_name,
			.rdm		= rdm,
			/* Without regions, messages may have other flags */
			.rma		= rma && !(rdm && world_seed % 2),
		};
		ret = st_world_open(world);
		KUNIT_EXPECT_EQ(test, ret, 0);
		if (!ret && begin)
			ret = begin(arg);
		if (!ret)
			st_world_run(world, world_seed++, ST_WORLD_MS);
		st_world_close(world);
		if (!ret && end)
			end(arg);
	} while (!ret && time_before(jiffies, until));
	st_print(test, figures);
}

static void random_calls_on_shared_objects(struct kunit *test)
{
	const struct st_part *part = test->param_value;

	st_worlds(test, prov, !strcmp(ep, "rdm"), true, part->seconds, NULL, NULL, NULL);
}

/**
 * struct st_withdrawal - A provider that is withdrawn under load
 * @mock: the provider
 * @task: withdraws it
 * @gone: it has been withdrawn
 * @ret: what that call said
 */
struct st_withdrawal {
	struct mock		*mock;
	struct task_struct	*task;
	struct completion	gone;
	int			ret;
};

static int st_withdraw_run(void *data)
{
	struct st_withdrawal *withdrawal = data;

	msleep(ST_WORLD_MS / 2);
	withdrawal->ret = kofi_provider_deregister(&withdrawal->mock->provider);
	complete(&withdrawal->gone);
	return 0;
}

/* From now on nobody finds it, and it stays until the last object is closed */
static int st_withdraw(void *arg)
{
	struct st_withdrawal *withdrawal = arg;

	init_completion(&withdrawal->gone);
	withdrawal->task = kthread_create(st_withdraw_run, withdrawal,
					  "kofi_stress/w");
	if (IS_ERR(withdrawal->task))
		return PTR_ERR(withdrawal->task);
	get_task_struct(withdrawal->task);
	wake_up_process(withdrawal->task);
	return 0;
}

static void st_return(void *arg)
{
	struct st_withdrawal *withdrawal = arg;

	wait_for_completion(&withdrawal->gone);
	kthread_stop(withdrawal->task);
	put_task_struct(withdrawal->task);
	withdrawal->ret = withdrawal->ret ? :
		kofi_provider_register(KOFI_PROVIDER_VERSION, &withdrawal->mock->provider);
}

/* Where prov= is another provider, one world tells that this works there, too */
static void random_calls_on_a_provider_that_is_withdrawn(struct kunit *test)
{
	const struct st_part *part = test->param_value;
	struct st_withdrawal withdrawal = {
		.mock = mock_create("mock-stress", 1),
	};
	struct mock *mock = withdrawal.mock;

	KUNIT_ASSERT_NOT_NULL(test, mock);
	KUNIT_ASSERT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION, &mock->provider), 0);
	st_worlds(test, mock->name, false, false, strcmp(prov, "verbs") ? 1 : part->seconds,
		  st_withdraw, st_return, &withdrawal);
	KUNIT_EXPECT_EQ(test, withdrawal.ret, 0);
	KUNIT_EXPECT_EQ(test, mock_live(mock), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mock->infos_out), 0);
	KUNIT_EXPECT_EQ(test, kofi_provider_deregister(&mock->provider), 0);
	mock_destroy(mock);
}

static struct kunit_case st_cases[] = {
	KUNIT_CASE_PARAM(random_calls_on_shared_objects, st_part_gen_params),
	KUNIT_CASE_PARAM(random_calls_on_a_provider_that_is_withdrawn, st_part_gen_params),
	{}
};

static struct kunit_suite kofi_stress_suite = {
	.name		= "kofi_stress",
	.suite_init	= st_suite_init,
	.test_cases	= st_cases,
};

kunit_test_suites(&kofi_stress_suite);

MODULE_DESCRIPTION("KUnit stress test of kOFI");
MODULE_AUTHOR("the kOFI authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_SOFTDEP("pre: kofi_verbs");
