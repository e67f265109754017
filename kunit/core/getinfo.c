// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fi_getinfo() over several providers: order, choice of providers, and providers
 * that fail or answer nonsense.  How single hints match is in info_test.c.
 */
#include <linux/in.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/fi_reason.h>
#include "core.h"
#include "../lib/refusal.h"

static void set_speed(struct kunit *test, struct mock *mock, size_t speed)
{
	struct fid_nic *nic = kzalloc(sizeof(*nic), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, nic);
	mock->infos->nic = nic;
	nic->fid.fclass = FI_CLASS_NIC;
	nic->link_attr = kzalloc(sizeof(*nic->link_attr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, nic->link_attr);
	nic->link_attr->speed = speed;
}

static void expect_order(struct kunit *test, const struct fi_info *info,
			 const char *const *names, int count)
{
	int i;

	KUNIT_ASSERT_EQ(test, core_count(info), count);
	for (i = 0; i < count; i++, info = info->next)
		KUNIT_EXPECT_STREQ_MSG(test, info->fabric_attr->prov_name,
				       names[i], "result %d", i);
}

static void faster_providers_come_first(struct kunit *test)
{
	static const char *const order[] = { "fast", "slow", "none" };
	struct mock *none = core_mock_new(test, "none", 1);
	struct mock *slow = core_mock_new(test, "slow", 1);
	struct mock *fast = core_mock_new(test, "fast", 1);
	struct mock *mocks[] = { none, slow, fast };
	struct fi_info *info;
	int i;

	set_speed(test, slow, 10000000000ULL);
	set_speed(test, fast, 100000000000ULL);
	for (i = 0; i < ARRAY_SIZE(mocks); i++)
		KUNIT_ASSERT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION,
							     &mocks[i]->provider), 0);

	KUNIT_ASSERT_EQ(test, core_getinfo(test, NULL, &info), 0);

	expect_order(test, info, order, ARRAY_SIZE(order));
}

/* A link without attributes has the speed 0 */
static void unknown_speed_is_the_lowest(struct kunit *test)
{
	static const char *const order[] = { "slow", "unknown", "zero", "unknown-too" };
	static const char *const names[] = { "unknown", "slow", "zero", "unknown-too" };
	struct mock *mocks[ARRAY_SIZE(names)];
	struct fi_info *info;
	int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		mocks[i] = core_mock_new(test, names[i], 1);
		set_speed(test, mocks[i], i == 1);
		if (i == 0 || i == 3) {
			kfree(mocks[i]->infos->nic->link_attr);
			mocks[i]->infos->nic->link_attr = NULL;
		}
		KUNIT_ASSERT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION,
							     &mocks[i]->provider), 0);
	}

	KUNIT_ASSERT_EQ(test, core_getinfo(test, NULL, &info), 0);

	expect_order(test, info, order, ARRAY_SIZE(order));
}

static void equal_providers_come_in_order_of_registration(struct kunit *test)
{
	static const char *const order[] = { "b", "c", "a" };
	struct fi_info *info;
	int i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		core_mock(test, order[i], 1);

	KUNIT_ASSERT_EQ(test, core_getinfo(test, NULL, &info), 0);

	expect_order(test, info, order, ARRAY_SIZE(order));
}

static void results_of_a_provider_keep_their_order(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct fi_info *info;

	mock->infos->next = mock_info(mock);
	KUNIT_ASSERT_NOT_NULL(test, mock->infos->next);
	core_set_string(test, &mock->infos->next->domain_attr->name, "second");

	KUNIT_ASSERT_EQ(test, core_getinfo(test, NULL, &info), 0);

	KUNIT_ASSERT_EQ(test, core_count(info), 2);
	KUNIT_EXPECT_STREQ(test, info->domain_attr->name, "mock0");
	KUNIT_EXPECT_STREQ(test, info->next->domain_attr->name, "second");
}

static void result_names_its_provider(struct kunit *test)
{
	struct fi_info *info;

	core_mock(test, "mock", FI_VERSION(3, 4));

	KUNIT_ASSERT_EQ(test, core_getinfo(test, NULL, &info), 0);

	KUNIT_EXPECT_STREQ(test, info->fabric_attr->prov_name, "mock");
	KUNIT_EXPECT_EQ(test, info->fabric_attr->prov_version, (u32)FI_VERSION(3, 4));
	KUNIT_EXPECT_EQ(test, info->fabric_attr->api_version, (u32)CORE_API);
}

static void result_is_a_copy(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct fi_info *info;

	KUNIT_ASSERT_EQ(test, core_getinfo(test, NULL, &info), 0);

	KUNIT_EXPECT_EQ(test, atomic_read(&mock->infos_out), 0);
	KUNIT_EXPECT_PTR_NE(test, info, mock->infos);
	KUNIT_EXPECT_PTR_NE(test, info->domain_attr->name, mock->infos->domain_attr->name);
}

static void hints_stay_as_they_are(struct kunit *test)
{
	struct fi_info *hints = core_hints(test), *info;
	char *prov_name;

	core_mock(test, "mock", 1);
	core_set_string(test, &hints->fabric_attr->prov_name, "mock");
	prov_name = hints->fabric_attr->prov_name;

	KUNIT_ASSERT_EQ(test, core_getinfo(test, hints, &info), 0);

	KUNIT_EXPECT_PTR_EQ(test, hints->fabric_attr->prov_name, prov_name);
	KUNIT_EXPECT_STREQ(test, hints->fabric_attr->prov_name, "mock");
	KUNIT_EXPECT_EQ(test, hints->caps, 0ULL);
	KUNIT_EXPECT_EQ(test, hints->fabric_attr->prov_version, 0u);
	KUNIT_EXPECT_NULL(test, hints->domain_attr->name);
}

static void named_provider_alone_is_asked(struct kunit *test)
{
	static const char *const order[] = { "two" };
	struct mock *one = core_mock(test, "one", 1);
	struct fi_info *hints = core_hints(test), *info;

	core_mock(test, "two", 1);
	core_set_string(test, &hints->fabric_attr->prov_name, "two");

	KUNIT_ASSERT_EQ(test, core_getinfo(test, hints, &info), 0);

	expect_order(test, info, order, ARRAY_SIZE(order));
	KUNIT_EXPECT_EQ(test, mock_calls(one), 0);
}

static void denied_provider_is_not_asked(struct kunit *test)
{
	static const char *const order[] = { "one", "three" };
	struct fi_info *hints = core_hints(test), *info;
	struct mock *two;

	core_mock(test, "one", 1);
	two = core_mock(test, "two", 1);
	core_mock(test, "three", 1);
	core_set_string(test, &hints->fabric_attr->prov_name, "^two");

	KUNIT_ASSERT_EQ(test, core_getinfo(test, hints, &info), 0);

	expect_order(test, info, order, ARRAY_SIZE(order));
	KUNIT_EXPECT_EQ(test, mock_calls(two), 0);
}

static void part_of_a_name_is_not_the_name(struct kunit *test)
{
	struct fi_info *hints = core_hints(test), *info;

	core_mock(test, "mock-long", 1);
	core_set_string(test, &hints->fabric_attr->prov_name, "mock");

	KUNIT_EXPECT_EQ(test, core_getinfo(test, hints, &info), -ENODATA);
}

static void absent_provider_gives_enodata(struct kunit *test)
{
	struct fi_info *hints = core_hints(test), *info;

	core_mock(test, "mock", 1);
	core_set_string(test, &hints->fabric_attr->prov_name, "absent");

	KUNIT_EXPECT_EQ(test, core_getinfo(test, hints, &info), -ENODATA);
	KUNIT_EXPECT_NULL(test, info);
}

static void name_that_no_module_can_have_gives_enodata(struct kunit *test)
{
	struct fi_info *hints = core_hints(test), *info;

	core_set_string(test, &hints->fabric_attr->prov_name, "../no such");

	KUNIT_EXPECT_EQ(test, core_getinfo(test, hints, &info), -ENODATA);
}

static void open_fabric_restricts_to_its_provider(struct kunit *test)
{
	static const char *const order[] = { "two" };
	struct fi_info *hints = core_hints(test), *info;
	struct core_set set;

	core_mock(test, "one", 1);
	core_open_parents(test, &set, core_mock(test, "two", 1), MOCK_DOMAIN);
	hints->fabric_attr->fabric = core_fabric(&set);

	KUNIT_ASSERT_EQ(test, core_getinfo(test, hints, &info), 0);

	expect_order(test, info, order, ARRAY_SIZE(order));
}

static void open_domain_restricts_to_its_name(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct fi_info *hints = core_hints(test), *info;
	struct core_set set;

	core_mock(test, "other", 1);
	mock->infos->next = mock_info(mock);
	KUNIT_ASSERT_NOT_NULL(test, mock->infos->next);
	core_set_string(test, &mock->infos->next->domain_attr->name, "second");
	core_open_parents(test, &set, mock, MOCK_EP);
	hints->domain_attr->domain = core_domain(&set);

	KUNIT_ASSERT_EQ(test, core_getinfo(test, hints, &info), 0);

	KUNIT_EXPECT_EQ(test, core_count(info), 1);
	KUNIT_EXPECT_STREQ(test, info->domain_attr->name, "mock0");
}

static void nothing_that_fits_gives_enodata(struct kunit *test)
{
	struct fi_info *hints = core_hints(test), *info;
	struct mock *mock = core_mock(test, "mock", 1);

	hints->caps = FI_MSG | FI_RMA;

	KUNIT_EXPECT_EQ(test, core_getinfo(test, hints, &info), -ENODATA);
	KUNIT_EXPECT_NULL(test, info);
	KUNIT_EXPECT_EQ(test, atomic_read(&mock->infos_out), 0);
}

static void only_the_fitting_result_is_returned(struct kunit *test)
{
	struct fi_info *hints = core_hints(test), *info;
	struct mock *mock = core_mock(test, "mock", 1);

	mock->infos->next = mock_info(mock);
	KUNIT_ASSERT_NOT_NULL(test, mock->infos->next);
	mock->infos->next->caps |= FI_RMA;
	hints->caps = FI_MSG | FI_RMA;

	KUNIT_ASSERT_EQ(test, core_getinfo(test, hints, &info), 0);

	KUNIT_EXPECT_EQ(test, core_count(info), 1);
	KUNIT_EXPECT_EQ(test, info->caps & FI_RMA, FI_RMA);
}

static void empty_provider_gives_enodata(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct fi_info *info;

	mock->empty = true;

	KUNIT_EXPECT_EQ(test, core_getinfo(test, NULL, &info), -ENODATA);
}

static const int errors[] = { -ENODATA, -EIO, -ENODEV, -EINVAL, -EAGAIN };

static void error_desc(const int *err, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "error %d", *err);
}

KUNIT_ARRAY_PARAM(error, errors, error_desc);

static void failing_provider_gives_enodata(struct kunit *test)
{
	struct fi_info *hints = core_hints(test), *info;
	struct mock *mock = core_mock(test, "mock", 1);

	core_set_string(test, &hints->fabric_attr->prov_name, "mock");
	mock->fail[MOCK_CALL_GETINFO] = *(const int *)test->param_value;

	KUNIT_EXPECT_EQ(test, core_getinfo(test, hints, &info), -ENODATA);
	KUNIT_EXPECT_NULL(test, info);
}

static void failing_provider_does_not_hide_another(struct kunit *test)
{
	static const char *const order[] = { "good" };
	struct mock *bad = core_mock(test, "bad", 1);
	struct fi_info *info;

	core_mock(test, "good", 1);
	bad->fail[MOCK_CALL_GETINFO] = *(const int *)test->param_value;

	KUNIT_ASSERT_EQ(test, core_getinfo(test, NULL, &info), 0);

	expect_order(test, info, order, ARRAY_SIZE(order));
}

static void shortage_of_memory_is_reported(struct kunit *test)
{
	struct fi_info *hints = core_hints(test), *info;
	struct mock *mock = core_mock(test, "mock", 1);

	core_set_string(test, &hints->fabric_attr->prov_name, "mock");
	mock->fail[MOCK_CALL_GETINFO] = -ENOMEM;

	KUNIT_EXPECT_EQ(test, core_getinfo(test, hints, &info), -ENOMEM);
	KUNIT_EXPECT_NULL(test, info);
}

static const struct malformed_case {
	enum mock_malformed	malformed;
	const char		*name;
} malformed_cases[] = {
	{ MOCK_INFO_NO_TX_ATTR, "no tx_attr" },
	{ MOCK_INFO_NO_RX_ATTR, "no rx_attr" },
	{ MOCK_INFO_NO_EP_ATTR, "no ep_attr" },
	{ MOCK_INFO_NO_DOMAIN_ATTR, "no domain_attr" },
	{ MOCK_INFO_NO_FABRIC_ATTR, "no fabric_attr" },
	{ MOCK_INFO_NO_DOMAIN_NAME, "no domain name" },
	{ MOCK_INFO_NO_FABRIC_NAME, "no fabric name" },
};

KUNIT_ARRAY_PARAM_DESC(malformed, malformed_cases, name);

static void malformed_result_is_skipped(struct kunit *test)
{
	const struct malformed_case *row = test->param_value;
	static const char *const order[] = { "good" };
	struct mock *bad = core_mock(test, "bad", 1);
	struct fi_info *info;

	core_mock(test, "good", 1);
	bad->malformed = row->malformed;

	KUNIT_ASSERT_EQ(test, core_getinfo(test, NULL, &info), 0);

	expect_order(test, info, order, ARRAY_SIZE(order));
	KUNIT_EXPECT_EQ(test, atomic_read(&bad->infos_out), 0);
}

static int getinfo(u32 version, const char *node, int service, u64 flags,
		   const struct fi_info *hints)
{
	struct fi_info *info = NULL;
	int err;

	err = fi_getinfo(version, node, service, flags, hints, &info);
	fi_freeinfo(info);
	return err;
}

static void newer_client_is_refused(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);

	KUNIT_EXPECT_EQ(test, getinfo(FI_VERSION(FI_MAJOR_VERSION + 1, 0), NULL,
				      0, 0, NULL), -ENOSYS);
	KUNIT_EXPECT_EQ(test, mock_calls(mock), 0);
}

static void older_client_is_served(struct kunit *test)
{
	core_mock(test, "mock", 1);

	KUNIT_EXPECT_EQ(test, getinfo(FI_VERSION(1, 0), NULL, 0, 0, NULL), 0);
}

static void unknown_flag_is_refused(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);

	KUNIT_EXPECT_EQ(test, getinfo(CORE_API, NULL, 0, FI_MORE, NULL), -FI_EBADFLAGS);
	KUNIT_EXPECT_EQ(test, mock_calls(mock), 0);
}

/* A client that asks for a new look at the devices gets what others get */
static void devices_are_always_looked_for_anew(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);

	KUNIT_EXPECT_EQ(test, getinfo(CORE_API, NULL, 0, FI_RESCAN, NULL), 0);
	KUNIT_EXPECT_EQ(test, mock_calls(mock), 1);
}

static void missing_place_for_the_result_is_refused(struct kunit *test)
{
	struct fi_reason reason;

	vt_refusals_begin(test);
	KUNIT_EXPECT_EQ(test, fi_getinfo(CORE_API, NULL, 0, 0, NULL, NULL), -EINVAL);
	vt_refused(test, "getinfo", -EINVAL, "info is NULL");
	KUNIT_EXPECT_EQ(test, fi_getinfo_why(CORE_API, NULL, 0, 0, NULL, NULL, 1), -EINVAL);
	vt_refused(test, "getinfo_why", -EINVAL, "reasons is NULL");
	KUNIT_EXPECT_EQ(test, fi_getinfo_why(CORE_API, NULL, 0, 0, NULL, &reason, 0), -EINVAL);
	vt_refused(test, "getinfo_why", -EINVAL, "count is 0");
}

static const struct address_case {
	const char	*node;
	int		service;
} address_cases[] = {
	{ "", 0 },
	{ "localhost", 0 },
	{ "10.0.0", 0 },
	{ "10.0.0.256", 0 },
	{ "10.0.0.1 ", 0 },
	{ "10.0.0.1:80", 0 },
	{ "fe80::1::2", 0 },
	{ "[::1]", 0 },
	{ "10.0.0.1", -1 },
	{ "10.0.0.1", 65536 },
	{ NULL, -1 },
	{ NULL, 65536 },
};

static void address_desc(const struct address_case *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "node \"%s\" service %d",
		 row->node ? : "(null)", row->service);
}

KUNIT_ARRAY_PARAM(address, address_cases, address_desc);

static void malformed_address_is_refused(struct kunit *test)
{
	const struct address_case *row = test->param_value;
	struct mock *mock = core_mock(test, "mock", 1);

	KUNIT_EXPECT_EQ(test, getinfo(CORE_API, row->node, row->service, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, mock_calls(mock), 0);
}

static struct sockaddr_in *ask_address(struct kunit *test, u64 flags, bool source)
{
	struct fi_info *hints = core_hints(test), *info = NULL;
	int err;

	core_set_string(test, &hints->fabric_attr->prov_name, "mock");
	err = fi_getinfo(CORE_API, "10.1.2.3", 4711, flags, hints, &info);
	KUNIT_ASSERT_EQ(test, err, 0);
	core_free_later(test, info);
	return source ? info->src_addr : info->dest_addr;
}

static void node_and_service_become_the_peers_address(struct kunit *test)
{
	struct sockaddr_in *sin;

	core_mock(test, "mock", 1);

	sin = ask_address(test, 0, false);

	KUNIT_ASSERT_NOT_NULL(test, sin);
	KUNIT_EXPECT_EQ(test, ntohl(sin->sin_addr.s_addr), 0x0a010203u);
	KUNIT_EXPECT_EQ(test, ntohs(sin->sin_port), 4711);
}

static void node_and_service_become_the_local_address(struct kunit *test)
{
	struct sockaddr_in *sin;

	core_mock(test, "mock", 1);

	sin = ask_address(test, FI_SOURCE, true);

	KUNIT_ASSERT_NOT_NULL(test, sin);
	KUNIT_EXPECT_EQ(test, ntohl(sin->sin_addr.s_addr), 0x0a010203u);
	KUNIT_EXPECT_EQ(test, ntohs(sin->sin_port), 4711);
}

static void names_alone_are_returned_on_demand(struct kunit *test)
{
	struct fi_info *list = NULL, *info;
	bool one = false, two = false;

	core_mock(test, "one", 1);
	core_mock(test, "two", 1);

	KUNIT_ASSERT_EQ(test, fi_getinfo(CORE_API, NULL, 0, FI_PROV_ATTR_ONLY, NULL, &list), 0);
	for (info = list; info; info = info->next) {
		one |= !strcmp(info->fabric_attr->prov_name, "one");
		two |= !strcmp(info->fabric_attr->prov_name, "two");
		KUNIT_EXPECT_EQ(test, info->fabric_attr->api_version, (u32)CORE_API);
		KUNIT_EXPECT_PTR_EQ(test, info->fabric_attr->net, &init_net);
	}
	fi_freeinfo(list);

	KUNIT_EXPECT_TRUE(test, one);
	KUNIT_EXPECT_TRUE(test, two);
}

static struct kunit_case getinfo_cases[] = {
	KUNIT_CASE(faster_providers_come_first),
	KUNIT_CASE(unknown_speed_is_the_lowest),
	KUNIT_CASE(equal_providers_come_in_order_of_registration),
	KUNIT_CASE(results_of_a_provider_keep_their_order),
	KUNIT_CASE(result_names_its_provider),
	KUNIT_CASE(result_is_a_copy),
	KUNIT_CASE(hints_stay_as_they_are),
	KUNIT_CASE(named_provider_alone_is_asked),
	KUNIT_CASE(denied_provider_is_not_asked),
	KUNIT_CASE(part_of_a_name_is_not_the_name),
	KUNIT_CASE(absent_provider_gives_enodata),
	KUNIT_CASE(name_that_no_module_can_have_gives_enodata),
	KUNIT_CASE(open_fabric_restricts_to_its_provider),
	KUNIT_CASE(open_domain_restricts_to_its_name),
	KUNIT_CASE(nothing_that_fits_gives_enodata),
	KUNIT_CASE(only_the_fitting_result_is_returned),
	KUNIT_CASE(empty_provider_gives_enodata),
	KUNIT_CASE_PARAM(failing_provider_gives_enodata, error_gen_params),
	KUNIT_CASE_PARAM(failing_provider_does_not_hide_another, error_gen_params),
	KUNIT_CASE(shortage_of_memory_is_reported),
	KUNIT_CASE_PARAM(malformed_result_is_skipped, malformed_gen_params),
	KUNIT_CASE(newer_client_is_refused),
	KUNIT_CASE(older_client_is_served),
	KUNIT_CASE(unknown_flag_is_refused),
	KUNIT_CASE(devices_are_always_looked_for_anew),
	KUNIT_CASE(missing_place_for_the_result_is_refused),
	KUNIT_CASE_PARAM(malformed_address_is_refused, address_gen_params),
	KUNIT_CASE(node_and_service_become_the_peers_address),
	KUNIT_CASE(node_and_service_become_the_local_address),
	KUNIT_CASE(names_alone_are_returned_on_demand),
	{}
};

struct kunit_suite kofi_getinfo_suite = {
	.name = "kofi_getinfo",
	.init = core_init,
	.exit = core_exit,
	.test_cases = getinfo_cases,
};
