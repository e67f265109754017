// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_verbs_why: why fi_getinfo() finds nothing on RDMA devices.
 */
#include <net/net_namespace.h>
#include <rdma/fi_reason.h>
#include "verbs.h"

#define ROOM	4

/* The nearest reason */
static const struct fi_reason *vt_why(struct kunit *test, const char *node,
				      u64 flags, const struct fi_info *hints)
{
	struct fi_reason *reasons;

	reasons = kunit_kcalloc(test, ROOM, sizeof(*reasons), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, reasons);
	KUNIT_ASSERT_GE(test, fi_getinfo_why(VT_API, node, 1, flags, hints, reasons, ROOM), 1);
	KUNIT_EXPECT_STREQ(test, reasons->prov_name, "verbs");
	return reasons;
}

/* The hints of a client that has not heard of registration modes */
static void rma_without_modes_names_mr_mode(struct kunit *test)
{
	const struct fi_info *info = vt_local(test, AF_INET, NULL);
	struct fi_info *hints = fi_allocinfo(), *none;
	const struct fi_reason *reason;

	KUNIT_ASSERT_NOT_NULL(test, hints);
	vt_free_later(test, hints);
	hints->caps = FI_MSG | FI_RMA;
	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &none), -ENODATA);

	reason = vt_why(test, NULL, 0, hints);

	KUNIT_EXPECT_EQ(test, reason->kind, FI_REASON_FIELD);
	KUNIT_EXPECT_EQ(test, reason->misfits, 1u);
	KUNIT_EXPECT_STREQ(test, reason->domain_name, info->domain_attr->name);
	KUNIT_EXPECT_STREQ(test, reason->field, "domain_attr->mr_mode");
	KUNIT_EXPECT_STREQ(test, reason->offered,
			   "FI_MR_VIRT_ADDR, FI_MR_ALLOCATED, FI_MR_PROV_KEY");
}

static void address_that_is_not_local_is_named(struct kunit *test)
{
	const struct fi_reason *reason;

	reason = vt_why(test, "192.0.2.1", FI_SOURCE, vt_hints(test));

	KUNIT_EXPECT_EQ(test, reason->kind, FI_REASON_PROVIDER);
	KUNIT_EXPECT_TRUE(test, strstarts(reason->text, "192.0.2.1: no local address"));
}

static void peer_without_a_route_is_named(struct kunit *test)
{
	const struct fi_reason *reason;

	reason = vt_why(test, "192.0.2.1", 0, vt_hints(test));

	KUNIT_EXPECT_EQ(test, reason->kind, FI_REASON_PROVIDER);
	KUNIT_EXPECT_STREQ(test, reason->text, "192.0.2.1: no RDMA device reaches this address");
}

static struct kunit_case vt_why_cases[] = {
	KUNIT_CASE(rma_without_modes_names_mr_mode),
	KUNIT_CASE(address_that_is_not_local_is_named),
	KUNIT_CASE(peer_without_a_route_is_named),
	{}
};

struct kunit_suite kofi_verbs_why_suite = {
	.name		= "kofi_verbs_why",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= vt_why_cases,
};
