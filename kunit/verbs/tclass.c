// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Traffic classes.  On RoCE the class of a connection arrives with the request,
 * which shows that it has left the sender; iWARP has no place for it there.
 */
#include "verbs.h"

#define VT_MAX_DSCP	63

/* What a label is on the wire: see Documentation/differences.rst */
struct vt_class {
	const char	*name;
	u32		tclass;
	u8		dscp;
};

static const struct vt_class vt_classes[] = {
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

KUNIT_ARRAY_PARAM_DESC(vt_class, vt_classes, name);

static const u32 vt_unknown[] = {
	FI_TC_DSCP | (VT_MAX_DSCP + 1), FI_TC_DSCP | FI_TC_LABEL,
	FI_TC_NETWORK_CTRL + 1, 1, U32_MAX,
};

/* What the info of a request says of a peer that has chosen @dscp */
static u32 seen_as(const struct fi_info *info, u8 dscp)
{
	return info->ep_attr->protocol == FI_PROTO_IWARP ? FI_TC_UNSPEC :
							   fi_tc_dscp_set(dscp);
}

static void all_known_classes_are_found(struct kunit *test)
{
	const struct vt_class *class = test->param_value;
	struct fi_info *hints = vt_hints(test), *info;

	hints->tx_attr->tclass = class->tclass;
	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), 0);
	KUNIT_EXPECT_EQ(test, info->tx_attr->tclass, class->tclass);
	KUNIT_EXPECT_EQ(test, info->domain_attr->tclass, FI_TC_UNSPEC);

	hints->tx_attr->tclass = FI_TC_UNSPEC;
	hints->domain_attr->tclass = class->tclass;
	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), 0);
	KUNIT_EXPECT_EQ(test, info->tx_attr->tclass, FI_TC_UNSPEC);
	KUNIT_EXPECT_EQ(test, info->domain_attr->tclass, class->tclass);
}

static void unknown_classes_are_not_found(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test), *info;
	int i;

	for (i = 0; i < ARRAY_SIZE(vt_unknown); i++) {
		hints->tx_attr->tclass = vt_unknown[i];
		hints->domain_attr->tclass = FI_TC_UNSPEC;
		KUNIT_EXPECT_EQ_MSG(test, vt_getinfo(test, NULL, 0, 0, hints, &info), -ENODATA,
				    "tx class %#x", vt_unknown[i]);
		hints->tx_attr->tclass = FI_TC_UNSPEC;
		hints->domain_attr->tclass = vt_unknown[i];
		KUNIT_EXPECT_EQ_MSG(test, vt_getinfo(test, NULL, 0, 0, hints, &info), -ENODATA,
				    "domain class %#x", vt_unknown[i]);
	}
}

static void unknown_classes_open_nothing(struct kunit *test)
{
	struct fid_domain *domain;
	struct fi_info *info;
	struct fid_ep *ep;
	int i;

	vt_open(test, AF_INET, NULL);
	info = vt_dup(test, vt_of(test)->info);
	for (i = 0; i < ARRAY_SIZE(vt_unknown); i++) {
		info->tx_attr->tclass = vt_unknown[i];
		KUNIT_EXPECT_EQ_MSG(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL),
				    -EINVAL, "tx class %#x", vt_unknown[i]);
		info->tx_attr->tclass = FI_TC_UNSPEC;
		info->domain_attr->tclass = vt_unknown[i];
		KUNIT_EXPECT_EQ_MSG(test, fi_domain(vt_of(test)->fabric, info, &domain, NULL),
				    -EINVAL, "domain class %#x", vt_unknown[i]);
		info->domain_attr->tclass = FI_TC_UNSPEC;
	}
}

/* Asks for a connection of that class; returns the request's info */
static struct fi_info *request(struct kunit *test, struct vt_end *end, u32 tclass)
{
	struct fi_info *info = vt_dup(test, vt_of(test)->info);

	info->tx_attr->tclass = tclass;
	vt_end_open(test, end, info, &vt_default_kind);
	vt_connect(test, end, NULL, 0);
	return vt_connreq(test, NULL);
}

static void peers_see_the_class_of_the_endpoint(struct kunit *test)
{
	const struct vt_class *class = test->param_value;
	struct vt_end end = {};
	struct fi_info *info;

	vt_serve(test, AF_INET, NULL);
	info = request(test, &end, class->tclass);
	KUNIT_EXPECT_EQ(test, info->tx_attr->tclass, seen_as(info, class->dscp));
	KUNIT_EXPECT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, NULL, 0), 0);
}

static void endpoints_without_a_class_have_that_of_the_domain(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test), *info;
	struct vt_end own = {}, none = {};

	hints->domain_attr->tclass = FI_TC_BULK_DATA;
	vt_serve(test, AF_INET6, hints);
	info = request(test, &none, FI_TC_UNSPEC);
	KUNIT_EXPECT_EQ(test, info->tx_attr->tclass, seen_as(info, 10));
	KUNIT_EXPECT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, NULL, 0), 0);
	info = request(test, &own, FI_TC_LOW_LATENCY);
	KUNIT_EXPECT_EQ(test, info->tx_attr->tclass, seen_as(info, 46));
	KUNIT_EXPECT_EQ(test, fi_reject(vt_of(test)->pep, info->handle, NULL, 0), 0);
}

/* Both directions have the class of the side that connects */
static void an_accepting_endpoint_can_only_agree(struct kunit *test)
{
	struct vt_pair pair = {};
	struct fid_ep *ep;
	struct fi_info *info;
	bool told;

	vt_serve(test, AF_INET, NULL);
	info = request(test, &pair.a, FI_TC_LOW_LATENCY);
	told = info->tx_attr->tclass;
	info->tx_attr->tclass = FI_TC_BULK_DATA;
	if (told)
		KUNIT_EXPECT_EQ(test, fi_endpoint(vt_of(test)->domain, info, &ep, NULL), -EINVAL);
	info->tx_attr->tclass = FI_TC_LOW_LATENCY;
	vt_end_open(test, &pair.b, info, &vt_default_kind);
	vt_accept(test, &pair.b, NULL, 0);
	vt_event(test, pair.a.eq, FI_CONNECTED, NULL);
	vt_ping(test, &pair.a, &pair.b);
	vt_ping(test, &pair.b, &pair.a);
}

static struct kunit_case vt_tclass_cases[] = {
	KUNIT_CASE_PARAM(all_known_classes_are_found, vt_class_gen_params),
	KUNIT_CASE(unknown_classes_are_not_found),
	KUNIT_CASE(unknown_classes_open_nothing),
	KUNIT_CASE_PARAM(peers_see_the_class_of_the_endpoint, vt_class_gen_params),
	KUNIT_CASE(endpoints_without_a_class_have_that_of_the_domain),
	KUNIT_CASE(an_accepting_endpoint_can_only_agree),
	{}
};

struct kunit_suite kofi_verbs_tclass_suite = {
	.name		= "kofi_verbs_tclass",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= vt_tclass_cases,
};
