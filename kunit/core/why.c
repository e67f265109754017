// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_why: does fi_getinfo_why() name what is left out, and the reason?
 *
 * Most cases let one mock offer one result, spoil one thing, and look at the first
 * reason.  Hints name the mock, so that no other provider has a say.
 */
#include <linux/interrupt.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/fi_reason.h>
#include "info.h"

#define ROOM	8

struct why {
	struct fi_reason	reasons[ROOM];
	struct fi_info		*hints;
	struct mock		*mock;
};

/* What the case works with, and hints that name the mock */
static struct why *why_of(struct kunit *test, struct mock *mock)
{
	struct why *why = vt_buf(test, sizeof(*why));

	why->mock = mock;
	why->hints = core_hints(test);
	core_set_string(test, &why->hints->fabric_attr->prov_name, mock->name);
	return why;
}

static struct why *why_mock(struct kunit *test)
{
	return why_of(test, core_mock(test, "mock", FI_VERSION(1, 2)));
}

static int ask(struct why *why)
{
	return fi_getinfo_why(CORE_API, NULL, 0, 0, why->hints, why->reasons, ROOM);
}

static void one_reason(struct kunit *test, struct why *why, enum fi_reason_kind kind)
{
	struct fi_info *info = NULL;

	KUNIT_ASSERT_EQ(test, ask(why), 1);
	KUNIT_EXPECT_EQ(test, why->reasons->kind, kind);
	if (kind != FI_REASON_CALL && kind != FI_REASON_ERROR)
		KUNIT_EXPECT_EQ(test, why->reasons->err, 0);
	if (kind != FI_REASON_FIELD && kind != FI_REASON_SKIPPED)
		return;
	/* And what has a reason is not found */
	KUNIT_EXPECT_EQ(test, fi_getinfo(CORE_API, NULL, 0, 0, why->hints, &info), -ENODATA);
	fi_freeinfo(info);
}

static void nothing_is_said_when_nothing_is_left_out(struct kunit *test)
{
	struct why *why = why_mock(test);

	KUNIT_EXPECT_EQ(test, ask(why), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&why->mock->infos_out), 0);
}

static void rma_without_modes_names_mr_mode(struct kunit *test)
{
	struct why *why = why_mock(test);
	struct fi_reason *reason = why->reasons;

	why->mock->infos->caps |= FI_RMA | FI_READ | FI_WRITE |
				  FI_REMOTE_READ | FI_REMOTE_WRITE;
	why->mock->infos->domain_attr->mr_mode = FI_MR_VIRT_ADDR |
						 FI_MR_PROV_KEY;
	why->hints->caps = FI_MSG | FI_RMA;

	one_reason(test, why, FI_REASON_FIELD);
	KUNIT_EXPECT_EQ(test, reason->misfits, 1u);
	KUNIT_EXPECT_STREQ(test, reason->prov_name, "mock");
	KUNIT_EXPECT_STREQ(test, reason->domain_name, "mock0");
	KUNIT_EXPECT_STREQ(test, reason->field, "domain_attr->mr_mode");
	KUNIT_EXPECT_STREQ(test, reason->wanted, "none");
	KUNIT_EXPECT_STREQ(test, reason->offered,
			   "FI_MR_VIRT_ADDR, FI_MR_PROV_KEY");
	KUNIT_EXPECT_STREQ(test, reason->text,
			   "domain_attr->mr_mode: none followed, FI_MR_VIRT_ADDR, FI_MR_PROV_KEY needed");
}

/* One hint that the mock cannot satisfy, and what is said of it */
struct field_case {
	const char	*field;
	const char	*wanted;
	const char	*offered;
	void		(*spoil)(struct kunit *test, struct fi_info *hints, struct fi_info *offer);
};

#define SPOIL(name, statement)						\
	static void spoil_##name(struct kunit *test, struct fi_info *hints, \
				 struct fi_info *offer)			\
	{								\
		statement;						\
	}

static void spoil_bus(struct kunit *test, struct fi_info *hints, struct fi_info *offer)
{
	info_add_nic(test, hints);
	info_add_nic(test, offer);
	hints->nic->bus_attr->bus_type = FI_BUS_PCI;
	hints->nic->bus_attr->attr.pci.bus_id = 3;
	offer->nic->bus_attr->bus_type = FI_BUS_PCI;
}

static void spoil_link(struct kunit *test, struct fi_info *hints, struct fi_info *offer)
{
	info_add_nic(test, hints);
	info_add_nic(test, offer);
	kfree(offer->nic->link_attr);
	offer->nic->link_attr = NULL;
}

static void spoil_dest(struct kunit *test, struct fi_info *hints, struct fi_info *offer)
{
	info_set_addr(test, &hints->dest_addr, &hints->dest_addrlen, "10.0.0.1", 80);
	info_set_addr(test, &offer->dest_addr, &offer->dest_addrlen, "10.0.0.2", 80);
}

static void spoil_thread(struct kunit *test, struct fi_info *hints, struct fi_info *offer)
{
	offer->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->threading = FI_THREAD_SAFE;
}

static void spoil_manage(struct kunit *test, struct fi_info *hints, struct fi_info *offer)
{
	offer->domain_attr->resource_mgmt = FI_RM_DISABLED;
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
}

static void spoil_api(struct kunit *test, struct fi_info *hints, struct fi_info *offer)
{
	offer->fabric_attr->api_version = FI_VERSION(2, 1);
	hints->fabric_attr->api_version = FI_VERSION(2, 0);
}

SPOIL(nic, info_add_nic(test, hints))
SPOIL(src, info_set_addr(test, &hints->src_addr, &hints->src_addrlen, "10.0.0.1", 80))
SPOIL(caps, hints->caps = FI_MSG | FI_TAGGED)
SPOIL(mode, offer->mode = FI_CONTEXT)
SPOIL(format, hints->addr_format = FI_SOCKADDR_IN6)
SPOIL(tx_mode, offer->tx_attr->mode = FI_MSG_PREFIX)
SPOIL(order, hints->tx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_RAW)
SPOIL(orders, hints->tx_attr->msg_order = BIT_ULL(50) | FI_ORDER_SAS | FI_ORDER_RAR | FI_ORDER_RAS |
					 FI_ORDER_WAR | FI_ORDER_WAS | FI_ORDER_SAR | FI_ORDER_WAW)
SPOIL(inject, hints->tx_attr->inject_size = MOCK_MAX_INJECT + 1)
SPOIL(tclass, hints->tx_attr->tclass = fi_tc_dscp_set(12))
SPOIL(rx_size, hints->rx_attr->size = MOCK_DEPTH + 1)
SPOIL(type, hints->ep_attr->type = FI_EP_RDM)
SPOIL(shared, hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT)
SPOIL(domain, core_set_string(test, &hints->domain_attr->name, "else"))
SPOIL(fabric, core_set_string(test, &hints->fabric_attr->name, "else"))

static const struct field_case field_cases[] = {
	{ "caps", "FI_TAGGED", "FI_MSG, FI_RECV, FI_SEND", spoil_caps },
	{ "mode", "none", "FI_CONTEXT", spoil_mode },
	{ "addr_format", "FI_SOCKADDR_IN6", "FI_SOCKADDR_IN", spoil_format },
	{ "src_addr", "10.0.0.1:80", "(null)", spoil_src },
	{ "dest_addr", "10.0.0.1:80", "10.0.0.2:80", spoil_dest },
	{ "tx_attr->mode", "none", "FI_MSG_PREFIX", spoil_tx_mode },
	{ "tx_attr->msg_order", "FI_ORDER_RAW", "FI_ORDER_SAS", spoil_order },
	{ "tx_attr->msg_order",
	  "FI_ORDER_RAR, FI_ORDER_RAS, FI_ORDER_WAR, FI_ORDER_WAW, FI_ORDER_WAS, FI_ORDER_SAR, ...",
	  "FI_ORDER_SAS", spoil_orders },
	{ "tx_attr->inject_size", "65", "64", spoil_inject },
	{ "tx_attr->tclass", "DSCP 12", "FI_TC_UNSPEC", spoil_tclass },
	{ "rx_attr->size", "9", "8", spoil_rx_size },
	{ "ep_attr->type", "FI_EP_RDM", "FI_EP_MSG", spoil_type },
	{ "ep_attr->rx_ctx_cnt", "FI_SHARED_CONTEXT", "1", spoil_shared },
	{ "domain_attr->name", "else", "mock0", spoil_domain },
	{ "domain_attr->threading", "FI_THREAD_SAFE", "FI_THREAD_DOMAIN",
	  spoil_thread },
	{ "domain_attr->resource_mgmt", "FI_RM_ENABLED", "FI_RM_DISABLED",
	  spoil_manage },
	{ "fabric_attr->name", "else", "mock", spoil_fabric },
	{ "fabric_attr->api_version", "2.0", "2.1", spoil_api },
	{ "nic->bus_attr", "0000:03:00.0", "0000:00:00.0", spoil_bus },
	{ "nic", "some", "none", spoil_nic },
	{ "nic->link_attr", "some", "none", spoil_link },
};

KUNIT_ARRAY_PARAM_DESC(field, field_cases, field);

static void misfit_is_named_with_both_values(struct kunit *test)
{
	const struct field_case *row = test->param_value;
	struct why *why = why_mock(test);

	row->spoil(test, why->hints, why->mock->infos);

	one_reason(test, why, FI_REASON_FIELD);
	KUNIT_EXPECT_EQ(test, why->reasons->misfits, 1u);
	KUNIT_EXPECT_STREQ(test, why->reasons->field, row->field);
	KUNIT_EXPECT_STREQ(test, why->reasons->wanted, row->wanted);
	KUNIT_EXPECT_STREQ(test, why->reasons->offered, row->offered);
}

/* Each element of a list is a name from beginning to end, or "..." */
static void expect_whole_names(struct kunit *test, const char *list)
{
	char text[FI_REASON_VALUE_MAX], flag[32], *rest = text, *name;
	u64 caps;

	strscpy(text, list, sizeof(text));
	while ((name = strsep(&rest, ","))) {
		name = strim(name);
		for (caps = 1; caps; caps <<= 1)
			if (!strcmp(fi_tostr(&caps, FI_TYPE_CAPS, flag, sizeof(flag)), name))
				break;
		KUNIT_EXPECT_TRUE_MSG(test, caps || !strcmp(name, "..."), "%s", name);
	}
}

static void long_lists_are_cut_between_names(struct kunit *test)
{
	struct why *why = why_mock(test);

	why->mock->infos->caps = ~(FI_REMOTE_INV | FI_COLLECTIVE);
	why->hints->caps = FI_MSG | FI_REMOTE_INV;

	KUNIT_ASSERT_EQ(test, ask(why), 1);

	KUNIT_EXPECT_STREQ(test, why->reasons->text, "caps: FI_REMOTE_INV wanted, not offered");
	expect_whole_names(test, why->reasons->offered);
	KUNIT_EXPECT_NOT_NULL(test, strstr(why->reasons->offered, ", ..."));
}

static void long_texts_are_cut_behind_a_word(struct kunit *test)
{
	char node[2 * FI_REASON_TEXT_MAX];
	struct fi_reason reason;
	size_t i;

	for (i = 0; i < sizeof(node) - 1; i++)
		node[i] = i % 4 ? 'x' : ' ';
	node[i] = 0;

	KUNIT_ASSERT_EQ(test, fi_getinfo_why(CORE_API, node, 0, 0, NULL, &reason, 1), 1);
	i = strlen(reason.text);
	KUNIT_ASSERT_GT(test, i, 8);
	KUNIT_EXPECT_STREQ(test, reason.text + i - 8, " xxx ...");
}

/* Whatever fi_getinfo() takes */
static void every_flag_can_be_asked_about(struct kunit *test)
{
	static const u64 flags[] = { FI_RESCAN, FI_NUMERICHOST, FI_PROV_ATTR_ONLY };
	struct why *why = why_mock(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++)
		KUNIT_EXPECT_EQ_MSG(test, fi_getinfo_why(CORE_API, NULL, 0, flags[i],
							 why->hints, why->reasons, ROOM), 0,
				    "%llx", flags[i]);
}

static void every_misfit_of_a_result_is_named(struct kunit *test)
{
	struct why *why = why_mock(test);

	why->hints->caps = FI_TAGGED;
	why->hints->addr_format = FI_SOCKADDR_IN6;
	why->mock->infos->mode = FI_CONTEXT;

	KUNIT_ASSERT_EQ(test, ask(why), 3);

	KUNIT_EXPECT_STREQ(test, why->reasons[0].text, "caps: FI_TAGGED wanted, not offered");
	KUNIT_EXPECT_STREQ(test, why->reasons[1].text, "mode: none followed, FI_CONTEXT needed");
	KUNIT_EXPECT_STREQ(test, why->reasons[2].text,
			   "addr_format: FI_SOCKADDR_IN6 wanted, FI_SOCKADDR_IN offered");
	KUNIT_EXPECT_EQ(test, why->reasons[0].misfits, 3u);
	KUNIT_EXPECT_EQ(test, why->reasons[2].misfits, 3u);
}

/* A second result, which fails by one field where the first fails by two */
static struct why *why_two_results(struct kunit *test)
{
	struct why *why = why_mock(test);
	struct fi_info *second = mock_info(why->mock);

	KUNIT_ASSERT_NOT_NULL(test, second);
	why->mock->infos->next = second;
	core_set_string(test, &second->domain_attr->name, "second");
	second->ep_attr->type = FI_EP_RDM;
	why->hints->ep_attr->type = FI_EP_RDM;
	why->hints->tx_attr->size = MOCK_DEPTH + 1;
	return why;
}

static void result_that_fails_by_one_field_comes_first(struct kunit *test)
{
	struct why *why = why_two_results(test);

	KUNIT_ASSERT_EQ(test, ask(why), 3);

	KUNIT_EXPECT_STREQ(test, why->reasons[0].domain_name, "second");
	KUNIT_EXPECT_STREQ(test, why->reasons[0].field, "tx_attr->size");
	KUNIT_EXPECT_STREQ(test, why->reasons[1].domain_name, "mock0");
	KUNIT_EXPECT_STREQ(test, why->reasons[2].domain_name, "mock0");
}

static void nearest_reason_is_kept_when_room_is_short(struct kunit *test)
{
	struct why *why = why_two_results(test);

	KUNIT_ASSERT_EQ(test, fi_getinfo_why(CORE_API, NULL, 0, 0, why->hints, why->reasons, 1), 1);

	KUNIT_EXPECT_STREQ(test, why->reasons[0].domain_name, "second");
	KUNIT_EXPECT_STREQ(test, why->reasons[1].text, "");
}

static void equal_reasons_come_once(struct kunit *test)
{
	struct why *why = why_mock(test);

	why->mock->infos->next = mock_info(why->mock);
	KUNIT_ASSERT_NOT_NULL(test, why->mock->infos->next);
	why->hints->ep_attr->type = FI_EP_RDM;

	KUNIT_EXPECT_EQ(test, ask(why), 1);
}

static void result_that_fits_hides_no_reason_of_another(struct kunit *test)
{
	struct why *why = why_mock(test);

	why->mock->infos->next = mock_info(why->mock);
	KUNIT_ASSERT_NOT_NULL(test, why->mock->infos->next);
	why->mock->infos->next->ep_attr->type = FI_EP_RDM;
	why->hints->ep_attr->type = FI_EP_RDM;

	KUNIT_ASSERT_EQ(test, ask(why), 1);

	KUNIT_EXPECT_STREQ(test, why->reasons->field, "ep_attr->type");
}

static void absent_provider_is_named_with_its_module(struct kunit *test)
{
	struct why *why = why_mock(test);

	core_set_string(test, &why->hints->fabric_attr->prov_name, "absent");

	one_reason(test, why, FI_REASON_ABSENT);
	KUNIT_EXPECT_STREQ(test, why->reasons->field, "fabric_attr->prov_name");
	KUNIT_EXPECT_STREQ(test, why->reasons->text,
			   "fabric_attr->prov_name: there is no provider absent, and no module kofi-absent brings it");
}

/* "^one;^two" of all that are registered */
static void deny_all(struct kunit *test, struct fi_info *hints)
{
	struct fi_info *list = NULL, *info;
	char names[256] = "";

	KUNIT_ASSERT_EQ(test, fi_getinfo(CORE_API, NULL, 0, FI_PROV_ATTR_ONLY, NULL, &list), 0);
	for (info = list; info; info = info->next) {
		strlcat(names, *names ? ";^" : "^", sizeof(names));
		strlcat(names, info->fabric_attr->prov_name, sizeof(names));
	}
	fi_freeinfo(list);
	core_set_string(test, &hints->fabric_attr->prov_name, names);
}

static void no_provider_to_ask_is_a_reason(struct kunit *test)
{
	struct why *why = why_mock(test);

	deny_all(test, why->hints);

	KUNIT_ASSERT_GE(test, ask(why), 2);

	KUNIT_EXPECT_EQ(test, why->reasons->kind, FI_REASON_ABSENT);
	KUNIT_EXPECT_EQ(test, why->reasons->err, 0);
	KUNIT_EXPECT_STREQ(test, why->reasons->prov_name, "");
	KUNIT_EXPECT_EQ(test, why->reasons[1].kind, FI_REASON_SKIPPED);
	KUNIT_EXPECT_STREQ(test, why->reasons[1].field,
			   "fabric_attr->prov_name");
}

/* The version of each is found to be too old before */
static void no_provider_to_ask_comes_before_one_misfit(struct kunit *test)
{
	struct why *why = why_mock(test);

	kfree(why->hints->fabric_attr->prov_name);
	why->hints->fabric_attr->prov_name = NULL;
	why->hints->fabric_attr->prov_version = FI_VERSION(99, 0);

	KUNIT_ASSERT_GE(test, ask(why), 2);

	KUNIT_EXPECT_EQ(test, why->reasons[0].kind, FI_REASON_ABSENT);
	KUNIT_EXPECT_EQ(test, why->reasons[1].kind, FI_REASON_FIELD);
	KUNIT_EXPECT_EQ(test, why->reasons[1].misfits, 1u);
}

static void version_of_the_provider_is_named(struct kunit *test)
{
	struct why *why = why_mock(test);

	why->hints->fabric_attr->prov_version = FI_VERSION(9, 1);

	one_reason(test, why, FI_REASON_FIELD);
	KUNIT_EXPECT_EQ(test, why->reasons->misfits, 1u);
	KUNIT_EXPECT_STREQ(test, why->reasons->prov_name, "mock");
	KUNIT_EXPECT_STREQ(test, why->reasons->field,
			   "fabric_attr->prov_version");
	KUNIT_EXPECT_STREQ(test, why->reasons->wanted, "9.1");
	KUNIT_EXPECT_STREQ(test, why->reasons->offered, "1.2");
}

static void result_of_another_fabric_is_named(struct kunit *test)
{
	struct why *why = why_mock(test);
	struct core_set set;

	core_open_parents(test, &set, why->mock, MOCK_DOMAIN);
	core_set_string(test, &why->mock->infos->fabric_attr->name, "else");
	why->hints->fabric_attr->fabric = core_fabric(&set);

	one_reason(test, why, FI_REASON_SKIPPED);
	KUNIT_EXPECT_STREQ(test, why->reasons->field, "fabric_attr->fabric");
	KUNIT_EXPECT_STREQ(test, why->reasons->wanted, "mock");
	KUNIT_EXPECT_STREQ(test, why->reasons->offered, "else");
}

static void result_of_another_domain_is_named(struct kunit *test)
{
	struct why *why = why_mock(test);
	struct core_set set;

	core_open_parents(test, &set, why->mock, MOCK_EP);
	core_set_string(test, &why->mock->infos->domain_attr->name, "else");
	why->hints->domain_attr->domain = core_domain(&set);

	one_reason(test, why, FI_REASON_SKIPPED);
	KUNIT_EXPECT_STREQ(test, why->reasons->field, "domain_attr->domain");
	KUNIT_EXPECT_STREQ(test, why->reasons->wanted, "mock0");
	KUNIT_EXPECT_STREQ(test, why->reasons->offered, "else");
}

/* Only its address counts */
static struct net another_net;

static void result_of_another_namespace_is_named(struct kunit *test)
{
	struct why *why = why_mock(test);

	why->mock->infos->fabric_attr->net = &another_net;

	one_reason(test, why, FI_REASON_SKIPPED);
	KUNIT_EXPECT_STREQ(test, why->reasons->field, "fabric_attr->net");
	KUNIT_EXPECT_STREQ(test, why->reasons->domain_name, "mock0");
}

static void fabric_of_another_namespace_is_named(struct kunit *test)
{
	struct why *why = why_mock(test);
	struct core_set set;

	core_open_parents(test, &set, why->mock, MOCK_DOMAIN);
	why->hints->fabric_attr->fabric = core_fabric(&set);
	why->hints->fabric_attr->net = &another_net;

	one_reason(test, why, FI_REASON_SKIPPED);
	KUNIT_EXPECT_STREQ(test, why->reasons->field, "fabric_attr->net");
	KUNIT_EXPECT_STREQ(test, why->reasons->domain_name, "");
}

static int deregister(void *mock)
{
	return kofi_provider_deregister(&((struct mock *)mock)->provider);
}

static void fabric_whose_provider_has_gone_is_named(struct kunit *test)
{
	struct why *why = why_mock(test);
	struct vt_async *thread;
	struct core_set set;
	struct fi_info *info;
	int count;

	core_open_parents(test, &set, why->mock, MOCK_DOMAIN);
	why->hints->fabric_attr->fabric = core_fabric(&set);
	thread = vt_async_start(test, deregister, why->mock);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(thread));

	KUNIT_EXPECT_EQ(test, core_getinfo(test, why->hints, &info), -ENODATA);
	count = ask(why);

	KUNIT_EXPECT_EQ(test, core_close(test, set.fid[MOCK_FABRIC]), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, thread), 0);
	KUNIT_ASSERT_EQ(test, count, 1);
	KUNIT_EXPECT_EQ(test, why->reasons->kind, FI_REASON_ABSENT);
	KUNIT_EXPECT_EQ(test, why->reasons->err, 0);
	KUNIT_EXPECT_STREQ(test, why->reasons->field, "fabric_attr->fabric");
}

static void error_of_the_provider_is_named(struct kunit *test)
{
	struct why *why = why_mock(test);

	why->mock->fail[MOCK_CALL_GETINFO] = -ENODATA;

	one_reason(test, why, FI_REASON_ERROR);
	KUNIT_EXPECT_EQ(test, why->reasons->err, -ENODATA);
	KUNIT_EXPECT_STREQ(test, why->reasons->prov_name, "mock");
}

/* What is said of one provider is not said of the next one, nor that there is none */
static void reasons_of_two_providers_are_apart(struct kunit *test)
{
	struct why *why = why_mock(test);
	bool first_is_there = false, second_is_there = false;
	struct mock *first = why->mock;
	struct fi_reason *reason;
	int i, count;

	core_mock(test, "second", 1);
	kfree(why->hints->fabric_attr->prov_name);
	why->hints->fabric_attr->prov_name = NULL;
	core_set_string(test, &why->hints->fabric_attr->name, MOCK_FABRIC_NAME);
	why->hints->ep_attr->type = FI_EP_RDM;
	first->fail[MOCK_CALL_GETINFO] = -EIO;

	count = ask(why);

	/* Other providers may have a say, too */
	for (i = 0; i < count; i++) {
		reason = &why->reasons[i];
		KUNIT_EXPECT_NE(test, reason->kind, FI_REASON_ABSENT);
		if (reason->kind != FI_REASON_ERROR)
			KUNIT_EXPECT_EQ(test, reason->err, 0);
		first_is_there |= !strcmp(reason->prov_name, "mock") && reason->err == -EIO;
		second_is_there |= !strcmp(reason->prov_name, "second");
	}
	KUNIT_EXPECT_TRUE(test, first_is_there);
	KUNIT_EXPECT_TRUE(test, second_is_there);
}

static struct fi_info *leftover;

static int fail_with_a_list(u32 version, const char *node, const int service, u64 flags,
			    struct fi_info *hints, struct fi_info **info)
{
	*info = leftover;
	return -EIO;
}

static void list_of_a_provider_that_fails_is_no_result(struct kunit *test)
{
	struct mock *mock = core_mock_new(test, "mock", 1);
	struct why *why = why_of(test, mock);
	struct fi_info *info = NULL;

	leftover = mock->infos;
	mock->provider.getinfo = fail_with_a_list;
	KUNIT_ASSERT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION, &mock->provider), 0);

	one_reason(test, why, FI_REASON_ERROR);
	KUNIT_EXPECT_EQ(test, fi_getinfo(CORE_API, NULL, 0, 0, why->hints, &info), -ENODATA);
	fi_freeinfo(info);
}

static void incomplete_result_is_named(struct kunit *test)
{
	struct why *why = why_mock(test);

	why->mock->malformed = MOCK_INFO_NO_TX_ATTR;

	one_reason(test, why, FI_REASON_MALFORMED);
	KUNIT_EXPECT_STREQ(test, why->reasons->domain_name, "mock0");
}

static void say_port_is_down(struct mock *mock, const struct fi_info *hints)
{
	kofi_getinfo_reason("dev0", "port %d is down", 1);
}

static void provider_has_a_say(struct kunit *test)
{
	struct why *why = why_mock(test);

	why->mock->empty = true;
	why->mock->in_getinfo = say_port_is_down;

	one_reason(test, why, FI_REASON_PROVIDER);
	KUNIT_EXPECT_STREQ(test, why->reasons->prov_name, "mock");
	KUNIT_EXPECT_STREQ(test, why->reasons->domain_name, "dev0");
	KUNIT_EXPECT_STREQ(test, why->reasons->text, "port 1 is down");
}

static void provider_stands_between_one_misfit_and_two(struct kunit *test)
{
	struct why *why = why_two_results(test);

	why->mock->in_getinfo = say_port_is_down;

	KUNIT_ASSERT_EQ(test, ask(why), 4);

	KUNIT_EXPECT_EQ(test, why->reasons[0].misfits, 1u);
	KUNIT_EXPECT_EQ(test, why->reasons[1].kind, FI_REASON_PROVIDER);
	KUNIT_EXPECT_EQ(test, why->reasons[2].misfits, 2u);
}

/* It asks a provider below first, as a layer does */
static void say_after_a_query_below(struct mock *mock, const struct fi_info *hints)
{
	struct fi_info *info = NULL;

	kofi_lower_getinfo(CORE_API, "below", NULL, 0, 0, NULL, &info);
	fi_freeinfo(info);
	say_port_is_down(mock, hints);
}

static void provider_has_a_say_after_a_query_below(struct kunit *test)
{
	struct why *why = why_mock(test);

	core_mock(test, "below", 1);
	why->mock->empty = true;
	why->mock->in_getinfo = say_after_a_query_below;

	one_reason(test, why, FI_REASON_PROVIDER);
	KUNIT_EXPECT_STREQ(test, why->reasons->prov_name, "mock");
}

static void say_after_two_misfits(struct mock *mock, const struct fi_info *hints)
{
	struct fi_info *info = mock_info(mock);

	kofi_info_match(info, hints);
	fi_freeinfo(info);
	say_port_is_down(mock, hints);
}

static void provider_comes_before_two_misfits_that_were_found_first(struct kunit *test)
{
	struct why *why = why_mock(test);

	why->hints->caps = FI_TAGGED;
	why->hints->ep_attr->type = FI_EP_RDM;
	why->mock->empty = true;
	why->mock->in_getinfo = say_after_two_misfits;

	KUNIT_ASSERT_EQ(test, ask(why), 3);

	KUNIT_EXPECT_EQ(test, why->reasons[0].kind, FI_REASON_PROVIDER);
	KUNIT_EXPECT_EQ(test, why->reasons[0].misfits, 0u);
	KUNIT_EXPECT_STREQ(test, why->reasons[0].wanted, "");
	KUNIT_EXPECT_EQ(test, why->reasons[1].kind, FI_REASON_FIELD);
}

/* A provider that filters by itself: the core never sees its result */
static void compare_inside(struct mock *mock, const struct fi_info *hints)
{
	struct fi_info *info = mock_info(mock);

	if (!info)
		return;
	info->fabric_attr->net = &another_net;
	kofi_info_match(info, hints);
	fi_freeinfo(info);
}

static void comparison_inside_a_provider_is_heard(struct kunit *test)
{
	struct why *why = why_mock(test);
	char offered[32];

	snprintf(offered, sizeof(offered), "net:[%u]", another_net.ns.inum);
	why->hints->fabric_attr->net = &init_net;
	why->mock->empty = true;
	why->mock->in_getinfo = compare_inside;

	one_reason(test, why, FI_REASON_FIELD);
	KUNIT_EXPECT_STREQ(test, why->reasons->prov_name, "mock");
	KUNIT_EXPECT_STREQ(test, why->reasons->field, "fabric_attr->net");
	KUNIT_EXPECT_STREQ(test, why->reasons->offered, offered);
}

static void reason_outside_getinfo_goes_nowhere(struct kunit *test)
{
	struct why *why = why_mock(test);

	kofi_getinfo_reason("dev0", "nobody listens");

	KUNIT_EXPECT_EQ(test, ask(why), 0);
}

static void say_in_softirq(struct tasklet_struct *tasklet)
{
	kofi_getinfo_reason("dev0", "nobody listens");
}

static DECLARE_TASKLET(say_tasklet, say_in_softirq);

/* The task that is interrupted has a query */
static void interrupt_query(struct mock *mock, const struct fi_info *hints)
{
	local_bh_disable();
	tasklet_schedule(&say_tasklet);
	local_bh_enable();
	tasklet_unlock_wait(&say_tasklet);
}

static void reason_in_an_interrupt_goes_nowhere(struct kunit *test)
{
	struct why *why = why_mock(test);

	why->mock->in_getinfo = interrupt_query;

	KUNIT_EXPECT_EQ(test, ask(why), 0);
	tasklet_kill(&say_tasklet);
}

static int find_nothing(void *unused)
{
	struct fi_info *info = NULL;
	int err;

	err = fi_getinfo(CORE_API, "no address", 0, 0, NULL, &info);
	fi_freeinfo(info);
	return err;
}

static int inner_count;

/* The same task has a query of its own meanwhile */
static void query_inside(struct mock *mock, const struct fi_info *hints)
{
	static struct fi_reason reason;

	inner_count = fi_getinfo_why(CORE_API, "no address", 0, 0, NULL, &reason, 1);
}

static void reasons_of_an_inner_query_are_not_mixed_in(struct kunit *test)
{
	struct why *why = why_mock(test);

	why->mock->in_getinfo = query_inside;

	KUNIT_EXPECT_EQ(test, ask(why), 0);
	KUNIT_EXPECT_EQ(test, inner_count, 1);
}

static struct kunit *other_test;
static int other_err;

/* Another task has a query of its own meanwhile */
static void query_elsewhere(struct mock *mock, const struct fi_info *hints)
{
	struct vt_async *thread = vt_async_start(other_test, find_nothing, NULL);

	other_err = vt_async_join(other_test, thread);
}

static void reasons_of_another_task_are_not_mixed_in(struct kunit *test)
{
	struct why *why = why_mock(test);

	other_test = test;
	why->mock->in_getinfo = query_elsewhere;

	KUNIT_EXPECT_EQ(test, ask(why), 0);
	KUNIT_EXPECT_EQ(test, other_err, -EINVAL);
}

/* Arguments that fi_getinfo() refuses, and which of them is named */
struct refused_case {
	const char	*field;
	int		err;
	u32		version;
	const char	*node;
	int		service;
	u64		flags;
	void		(*spoil)(struct kunit *test, struct fi_info *hints, struct fi_info *offer);
};

static void spoil_ep_key(struct kunit *test, struct fi_info *hints, struct fi_info *offer)
{
	hints->ep_attr->auth_key = kzalloc(8, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hints->ep_attr->auth_key);
}

static void spoil_domain_key(struct kunit *test, struct fi_info *hints, struct fi_info *offer)
{
	hints->domain_attr->auth_key = kzalloc(8, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hints->domain_attr->auth_key);
}

static struct fid_domain no_domain;
static struct fid_fabric no_fabric;

SPOIL(short_addr, spoil_src(test, hints, offer); hints->src_addrlen = 3)
SPOIL(short_dest, spoil_dest(test, hints, offer); hints->dest_addrlen = 3)
SPOIL(orphan, hints->caps = FI_SEND)
SPOIL(tx_caps, hints->caps = FI_MSG; hints->tx_attr->caps = FI_RMA)
SPOIL(rx_caps, hints->caps = FI_MSG; hints->rx_attr->caps = FI_TAGGED)
SPOIL(no_domain, hints->domain_attr->domain = &no_domain)
SPOIL(no_fabric, hints->fabric_attr->fabric = &no_fabric)

#define NOW	CORE_API

static const struct refused_case refused_cases[] = {
	{ "version", -ENOSYS, FI_VERSION(FI_MAJOR_VERSION + 1, 0) },
	{ "flags", -FI_EBADFLAGS, NOW, NULL, 0, FI_MORE },
	{ "flags", -EINVAL, NOW, NULL, 0, FI_SOURCE },
	{ "node", -EINVAL, NOW, "localhost" },
	{ "service", -EINVAL, NOW, "10.0.0.1", 65536 },
	{ "caps", -EINVAL, NOW, .spoil = spoil_orphan },
	{ "tx_attr->caps", -EINVAL, NOW, .spoil = spoil_tx_caps },
	{ "rx_attr->caps", -EINVAL, NOW, .spoil = spoil_rx_caps },
	{ "src_addr", -EINVAL, NOW, .spoil = spoil_short_addr },
	{ "dest_addr", -EINVAL, NOW, .spoil = spoil_short_dest },
	{ "ep_attr->auth_key_size", -EINVAL, NOW, .spoil = spoil_ep_key },
	{ "domain_attr->auth_key_size", -EINVAL, NOW,
	  .spoil = spoil_domain_key },
	{ "domain_attr->domain", -EINVAL, NOW, .spoil = spoil_no_domain },
	{ "fabric_attr->fabric", -EINVAL, NOW, .spoil = spoil_no_fabric },
};

static void refused_desc(const struct refused_case *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %d", row->field, row->err);
}

KUNIT_ARRAY_PARAM(refused, refused_cases, refused_desc);

static void refused_argument_is_named(struct kunit *test)
{
	const struct refused_case *row = test->param_value;
	struct why *why = why_mock(test);

	if (row->spoil)
		row->spoil(test, why->hints, why->mock->infos);

	KUNIT_ASSERT_EQ(test, fi_getinfo_why(row->version, row->node, row->service, row->flags,
					     why->hints, why->reasons, ROOM), 1);

	KUNIT_EXPECT_EQ(test, why->reasons->kind, FI_REASON_CALL);
	KUNIT_EXPECT_EQ(test, why->reasons->err, row->err);
	KUNIT_EXPECT_STREQ(test, why->reasons->field, row->field);
	KUNIT_EXPECT_TRUE(test, strstarts(why->reasons->text, row->field));
	KUNIT_EXPECT_EQ(test, mock_calls(why->mock), 0);
}

static void fabric_that_is_not_the_domains_is_named(struct kunit *test)
{
	struct why *why = why_mock(test);
	struct core_set set, other;

	core_open_parents(test, &set, why->mock, MOCK_EP);
	core_open_parents(test, &other, why->mock, MOCK_DOMAIN);
	why->hints->domain_attr->domain = core_domain(&set);
	why->hints->fabric_attr->fabric = core_fabric(&other);

	one_reason(test, why, FI_REASON_CALL);
	KUNIT_EXPECT_STREQ(test, why->reasons->field, "fabric_attr->fabric");
}

static void missing_place_for_reasons_is_refused(struct kunit *test)
{
	struct why *why = why_mock(test);

	KUNIT_EXPECT_EQ(test, fi_getinfo_why(NOW, NULL, 0, 0, NULL, NULL, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_getinfo_why(NOW, NULL, 0, 0, NULL, why->reasons, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, mock_calls(why->mock), 0);
}

#define TRACING	"cd /sys/kernel/tracing && " \
		"{ [ -e trace ] || mount -t tracefs none . && cd /sys/kernel/tracing; } && "
#define ENABLE	"events/kofi/kofi_getinfo/enable"
#define FOUND	"ret=1 left out: - - -"
#define LEFT	"ret=-61 left out: mock mock0 ep_attr->type: FI_EP_RDM wanted"

static void trace_event_shows_result_and_reason(struct kunit *test)
{
	struct why *why = why_mock(test);
	struct fi_info *info;

	KUNIT_ASSERT_EQ(test, core_shell(TRACING "echo >trace && echo 1 >" ENABLE), 0);
	KUNIT_EXPECT_EQ(test, core_getinfo(test, why->hints, &info), 0);
	why->hints->ep_attr->type = FI_EP_RDM;
	KUNIT_EXPECT_EQ(test, core_getinfo(test, why->hints, &info), -ENODATA);
	KUNIT_EXPECT_EQ(test, core_shell(TRACING "echo 0 >" ENABLE), 0);

	KUNIT_EXPECT_EQ(test, core_shell(TRACING "grep 'prov=mock caps=0x0 " FOUND "' trace"), 0);
	KUNIT_EXPECT_EQ(test, core_shell(TRACING "grep 'prov=mock caps=0x0 " LEFT "' trace"), 0);
}

static struct kunit_case why_cases[] = {
	KUNIT_CASE(nothing_is_said_when_nothing_is_left_out),
	KUNIT_CASE(rma_without_modes_names_mr_mode),
	KUNIT_CASE_PARAM(misfit_is_named_with_both_values, field_gen_params),
	KUNIT_CASE(long_lists_are_cut_between_names),
	KUNIT_CASE(long_texts_are_cut_behind_a_word),
	KUNIT_CASE(every_flag_can_be_asked_about),
	KUNIT_CASE(every_misfit_of_a_result_is_named),
	KUNIT_CASE(result_that_fails_by_one_field_comes_first),
	KUNIT_CASE(nearest_reason_is_kept_when_room_is_short),
	KUNIT_CASE(equal_reasons_come_once),
	KUNIT_CASE(result_that_fits_hides_no_reason_of_another),
	KUNIT_CASE(absent_provider_is_named_with_its_module),
	KUNIT_CASE(no_provider_to_ask_is_a_reason),
	KUNIT_CASE(no_provider_to_ask_comes_before_one_misfit),
	KUNIT_CASE(version_of_the_provider_is_named),
	KUNIT_CASE(result_of_another_fabric_is_named),
	KUNIT_CASE(result_of_another_domain_is_named),
	KUNIT_CASE(result_of_another_namespace_is_named),
	KUNIT_CASE(fabric_of_another_namespace_is_named),
	KUNIT_CASE(fabric_whose_provider_has_gone_is_named),
	KUNIT_CASE(error_of_the_provider_is_named),
	KUNIT_CASE(reasons_of_two_providers_are_apart),
	KUNIT_CASE(list_of_a_provider_that_fails_is_no_result),
	KUNIT_CASE(incomplete_result_is_named),
	KUNIT_CASE(provider_has_a_say),
	KUNIT_CASE(provider_has_a_say_after_a_query_below),
	KUNIT_CASE(provider_stands_between_one_misfit_and_two),
	KUNIT_CASE(provider_comes_before_two_misfits_that_were_found_first),
	KUNIT_CASE(comparison_inside_a_provider_is_heard),
	KUNIT_CASE(reason_outside_getinfo_goes_nowhere),
	KUNIT_CASE(reason_in_an_interrupt_goes_nowhere),
	KUNIT_CASE(reasons_of_an_inner_query_are_not_mixed_in),
	KUNIT_CASE(reasons_of_another_task_are_not_mixed_in),
	KUNIT_CASE_PARAM(refused_argument_is_named, refused_gen_params),
	KUNIT_CASE(fabric_that_is_not_the_domains_is_named),
	KUNIT_CASE(missing_place_for_reasons_is_refused),
	KUNIT_CASE(trace_event_shows_result_and_reason),
	{}
};

struct kunit_suite kofi_why_suite = {
	.name = "kofi_why",
	.init = core_init,
	.exit = core_exit,
	.test_cases = why_cases,
};
