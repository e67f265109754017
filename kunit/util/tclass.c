// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Traffic classes: what IP carries for each, and what is no class.
 */
#include <kofi/tclass.h>
#include <rdma/fabric.h>
#include "util.h"

/* A class and its code point: see Documentation/differences.rst */
struct ip_class {
	const char	*name;
	u32		tclass;
	u8		dscp;
};

static const struct ip_class classes[] = {
	{ "best effort",	FI_TC_BEST_EFFORT,	0 },
	{ "low latency",	FI_TC_LOW_LATENCY,	46 },
	{ "dedicated access",	FI_TC_DEDICATED_ACCESS,	34 },
	{ "bulk data",		FI_TC_BULK_DATA,	10 },
	{ "scavenger",		FI_TC_SCAVENGER,	1 },
	{ "network control",	FI_TC_NETWORK_CTRL,	48 },
	{ "DSCP 0",		FI_TC_DSCP,		0 },
	{ "DSCP 26",		FI_TC_DSCP | 26,	26 },
	{ "DSCP 63",		FI_TC_DSCP | 63,	63 },
};

static void a_class_is_the_upper_bits_of_the_type_of_service(struct kunit *test)
{
	const struct ip_class *class = test->param_value;

	KUNIT_EXPECT_TRUE(test, kofi_tclass_known(class->tclass));
	KUNIT_EXPECT_EQ(test, kofi_tclass_tos(class->tclass), class->dscp << 2);
	KUNIT_EXPECT_EQ(test, kofi_tclass_of_tos(class->dscp << 2), fi_tc_dscp_set(class->dscp));
}

static void bits_of_congestion_are_no_part_of_a_class(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, kofi_tclass_of_tos(46 << 2 | 3), fi_tc_dscp_set(46));
}

static void no_class_is_known_too(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, kofi_tclass_known(FI_TC_UNSPEC));
}

static void other_values_are_no_classes(struct kunit *test)
{
	static const u32 unknown[] = { FI_TC_DSCP | 64, FI_TC_DSCP | FI_TC_LABEL,
				       FI_TC_NETWORK_CTRL + 1, 1, U32_MAX };
	int i;

	for (i = 0; i < ARRAY_SIZE(unknown); i++)
		KUNIT_EXPECT_FALSE_MSG(test, kofi_tclass_known(unknown[i]),
				       "%x", unknown[i]);
}

KUNIT_ARRAY_PARAM_DESC(ip_class, classes, name);

static struct kunit_case tclass_cases[] = {
	KUNIT_CASE_PARAM(a_class_is_the_upper_bits_of_the_type_of_service, ip_class_gen_params),
	KUNIT_CASE(bits_of_congestion_are_no_part_of_a_class),
	KUNIT_CASE(no_class_is_known_too),
	KUNIT_CASE(other_values_are_no_classes),
	{}
};

static struct kunit_suite tclass_suite = {
	.name		= "kofi_util_tclass",
	.test_cases	= tclass_cases,
};

kunit_test_suite(tclass_suite);
