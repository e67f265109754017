// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A processor that goes offline while endpoints have their workers on it, on kernels that
 * can do that.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include "load.h"
#include "tcp.h"

/* Another one than that which the machine has booted on */
static int spare(struct kunit *test)
{
	int cpu = cpumask_next(0, cpu_online_mask);

	KUNIT_ASSERT_LT_MSG(test, cpu, nr_cpu_ids, "the machine has one processor");
	return cpu;
}

static void a_processor_goes_offline_under_load(struct kunit *test)
{
	const struct fi_cq_attr attr = {
		.flags = FI_AFFINITY, .signaling_vector = spare(test),
	};
	unsigned int cpu = attr.signaling_vector;
	struct vt_pair pair = {};
	struct load *load;
	int i;

	load_join(test, &pair, &attr);
	load = load_start(test, &pair);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, remove_cpu(cpu), 0);
		KUNIT_EXPECT_FALSE(test, cpu_online(cpu));
		KUNIT_EXPECT_TRUE(test, load_goes_on(load, 200));
		KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
		KUNIT_EXPECT_TRUE(test, load_goes_on(load, 200));
	}
	KUNIT_EXPECT_EQ(test, remove_cpu(cpu), 0);
	KUNIT_EXPECT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	load_expect_over(test, load);
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
}

static void back_online(void *cpu)
{
	add_cpu((uintptr_t)cpu);
}

static void an_endpoint_of_an_offline_processor_connects(struct kunit *test)
{
	const struct fi_cq_attr attr = {
		.flags = FI_AFFINITY, .signaling_vector = spare(test),
	};
	unsigned long cpu = attr.signaling_vector;
	struct vt_pair pair = {};
	struct load *load;

	KUNIT_ASSERT_EQ(test, remove_cpu(cpu), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, back_online, (void *)cpu), 0);
	load_join(test, &pair, &attr);
	load = load_start(test, &pair);
	KUNIT_EXPECT_EQ(test, fi_shutdown(pair.a.ep, 0), 0);
	load_expect_over(test, load);
}

static struct kunit_case cpu_cases[] = {
	KUNIT_CASE(a_processor_goes_offline_under_load),
	KUNIT_CASE(an_endpoint_of_an_offline_processor_connects),
	{}
};

static struct kunit_suite cpu_suite = {
	.name		= "kofi_tcp_cpu",
	.init		= bed_init,
	.exit		= vt_exit,
	.test_cases	= cpu_cases,
};

kunit_test_suite(cpu_suite);
