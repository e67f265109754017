// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_netlink: questions to the generic netlink family "kofi", and what fi_getinfo() has
 * to say to a program.
 */
#include <rdma/fi_endpoint.h>
#include <rdma/fi_reason.h>
#include "info.h"
#include "netlink.h"

/* As many asks that nobody reads as there may be */
#define MAX_ASKS	64

static bool is_greeting(struct nl *nl)
{
	return nl->attrs[KOFI_A_VERSION];
}

static bool is_info(struct nl *nl)
{
	return nl_nest(nl, KOFI_A_INFO, KOFI_INFO_MAX);
}

static bool is_info_mock(struct nl *nl)
{
	return is_info(nl) && !nla_strcmp(nl->nest[KOFI_INFO_PROV_NAME], "mock");
}

static bool is_reason(struct nl *nl)
{
	return nl_nest(nl, KOFI_A_REASON, KOFI_REASON_MAX);
}

static void getinfo_returns_what_fi_getinfo_finds(struct kunit *test)
{
	struct nl *nl = nl_open(test, &init_net);
	struct mock *mock = core_mock(test, "mock", 1);
	struct sockaddr_in *sin;
	struct fi_info *info;

	info_set_addr(test, &mock->infos->src_addr, &mock->infos->src_addrlen, "10.0.0.1", 80);
	info = core_info(test, "mock");

	nl_ask_info(nl, "mock", 0);
	KUNIT_ASSERT_EQ(test, nla_put_string(nl->skb, KOFI_A_NODE, "10.0.0.2"), 0);
	KUNIT_ASSERT_EQ(test, nla_put_u16(nl->skb, KOFI_A_SERVICE, 81), 0);
	nl_send(nl);

	KUNIT_ASSERT_EQ(test, nl_read(nl, is_greeting), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u32(nl->attrs[KOFI_A_VERSION]), (u32)CORE_API);
	KUNIT_ASSERT_EQ(test, nl_read(nl, is_info), 0);
	KUNIT_EXPECT_EQ(test, nla_strcmp(nl->nest[KOFI_INFO_PROV_NAME], "mock"), 0);
	KUNIT_EXPECT_EQ(test, nla_strcmp(nl->nest[KOFI_INFO_FABRIC], MOCK_FABRIC_NAME), 0);
	sin = nla_data(nl->nest[KOFI_INFO_SRC_ADDR]);
	KUNIT_EXPECT_EQ(test, ntohs(sin->sin_port), 80);
	sin = nla_data(nl->nest[KOFI_INFO_DEST_ADDR]);
	KUNIT_EXPECT_EQ(test, ntohs(sin->sin_port), 81);
	KUNIT_EXPECT_EQ(test, nla_len(nl->nest[KOFI_INFO_PROTOCOL]), (int)sizeof(u32));
	KUNIT_EXPECT_EQ(test, nla_get_u32(nl->nest[KOFI_INFO_PROTOCOL]), info->ep_attr->protocol);
	KUNIT_EXPECT_EQ(test, nla_get_u64(nl->nest[KOFI_INFO_TX_SIZE]), info->tx_attr->size);
	KUNIT_EXPECT_EQ(test, nla_strcmp(nl->nest[KOFI_INFO_DOMAIN], info->domain_attr->name), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(nla_data(nl->nest[KOFI_INFO_TEXT]),
					   "prov_name: mock\n"));
	KUNIT_EXPECT_EQ(test, nl_read(nl, nl_is_error), 0);
	KUNIT_EXPECT_EQ(test, nla_get_s32(nl->attrs[KOFI_A_ERROR]), 0);
}

static void getinfo_without_hints_returns_everything(struct kunit *test)
{
	struct nl *nl = nl_open(test, &init_net);
	struct mock *mock = core_mock(test, "mock", 1);

	mock->infos->mode = FI_CONTEXT;
	mock->infos->domain_attr->mode = FI_MSG_PREFIX;
	nl_ask(nl, KOFI_CMD_GETINFO);
	nl_send(nl);

	KUNIT_ASSERT_EQ(test, nl_read(nl, is_info_mock), 0);
	KUNIT_EXPECT_EQ(test, nl_read(nl, nl_is_error), 0);
	KUNIT_EXPECT_EQ(test, nla_get_s32(nl->attrs[KOFI_A_ERROR]), 0);
}

static void getinfo_says_why_there_is_nothing(struct kunit *test)
{
	struct nl *nl = nl_open(test, &init_net);

	core_mock(test, "mock", 1);
	nl_ask_info(nl, "mock", FI_MSG | FI_COLLECTIVE);
	nl_send(nl);

	KUNIT_ASSERT_EQ(test, nl_read(nl, is_reason), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u32(nl->nest[KOFI_REASON_KIND]), (u32)FI_REASON_FIELD);
	KUNIT_EXPECT_EQ(test, nla_strcmp(nl->nest[KOFI_REASON_FIELD], "caps"), 0);
	KUNIT_EXPECT_EQ(test, nla_strcmp(nl->nest[KOFI_REASON_WANTED], "FI_COLLECTIVE"), 0);
	KUNIT_ASSERT_EQ(test, nl_read(nl, nl_is_error), 0);
	KUNIT_EXPECT_EQ(test, nla_get_s32(nl->attrs[KOFI_A_ERROR]), -ENODATA);
}

static void getinfo_names_the_module_of_an_absent_provider(struct kunit *test)
{
	struct nl *nl = nl_open(test, &init_net);

	static const char *const names[] = { "absent", "absent;" HOOK_NAME };
	int i;

	/* Nothing is loaded for a program, not even what a hook stands on */
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		nl_ask_info(nl, names[i], 0);
		nl_send(nl);

		KUNIT_ASSERT_EQ(test, nl_read(nl, is_reason), 0);
		KUNIT_EXPECT_EQ(test, nla_get_u32(nl->nest[KOFI_REASON_KIND]),
				(u32)FI_REASON_ABSENT);
		KUNIT_EXPECT_EQ(test, nla_get_s32(nl->nest[KOFI_REASON_ERR]), 0);
		KUNIT_EXPECT_NOT_NULL(test, strstr(nla_data(nl->nest[KOFI_REASON_TEXT]),
						   "modprobe kofi-absent"));
		KUNIT_ASSERT_EQ(test, nl_read(nl, nl_is_error), 0);
		KUNIT_EXPECT_EQ(test, nla_get_s32(nl->attrs[KOFI_A_ERROR]), -ENODATA);
		/* The version, the reason and the end; a hook has a reason of its own */
		KUNIT_EXPECT_EQ(test, nl->count, i ? 4 : 3);
		KUNIT_EXPECT_EQ(test, nl_read(nl, NULL), -ENOENT);
	}
}

/* Hints that the mock does not fulfil: numbers of each size, and names */
static void each_hint_counts(struct kunit *test)
{
	static const struct {
		int		attr;
		size_t		size;
		u64		value;
		const char	*text;
		const char	*field;
	} rows[] = {
		{ KOFI_INFO_EP_TYPE, sizeof(u32), FI_EP_RDM, NULL, "ep_attr->type" },
		{ KOFI_INFO_TX_MSG_ORDER, sizeof(u64), FI_ORDER_RAW, NULL, "tx_attr->msg_order" },
		{ KOFI_INFO_TX_SIZE, sizeof(u64), MOCK_DEPTH + 1, NULL, "tx_attr->size" },
		{ KOFI_INFO_FABRIC, 0, 0, "else", "fabric_attr->name" },
		{ KOFI_INFO_DOMAIN, 0, 0, "else", "domain_attr->name" },
	};
	struct nl *nl = nl_open(test, &init_net);
	struct nlattr *nest;
	int i;

	core_mock(test, "mock", 1);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		nl_ask(nl, KOFI_CMD_GETINFO);
		nest = nla_nest_start(nl->skb, KOFI_A_HINTS);
		KUNIT_ASSERT_NOT_NULL(test, nest);
		KUNIT_ASSERT_EQ(test, nla_put_string(nl->skb, KOFI_INFO_PROV_NAME, "mock"), 0);
		if (rows[i].text)
			nla_put_string(nl->skb, rows[i].attr, rows[i].text);
		else
			nla_put(nl->skb, rows[i].attr, rows[i].size, &rows[i].value);
		nla_nest_end(nl->skb, nest);
		nl_send(nl);
		KUNIT_ASSERT_EQ_MSG(test, nl_read(nl, is_reason), 0, "%s", rows[i].field);
		KUNIT_EXPECT_EQ_MSG(test, nla_strcmp(nl->nest[KOFI_REASON_FIELD], rows[i].field), 0,
				    "%s", rows[i].field);
		KUNIT_EXPECT_EQ(test, nl_read(nl, NULL), -ENOENT);
	}
}

#define LONG	5000

/* However little the program has read before */
static void message_has_room_for_a_long_name(struct kunit *test)
{
	struct nl *objects = nl_open_sparing(test, &init_net);
	struct nl *infos = nl_open_sparing(test, &init_net);
	struct mock *mock = core_mock(test, "mock", 1);
	char *name = vt_buf(test, LONG + 1);
	struct fi_fabric_attr attr = { .name = name, .prov_name = "mock" };
	struct fid_fabric *fabric;

	memset(name, 'n', LONG);
	core_set_string(test, &mock->infos->domain_attr->name, name);
	nl_ask_info(infos, "mock", 0);
	nl_send(infos);
	KUNIT_ASSERT_EQ(test, nl_read(infos, is_greeting), 0);
	infos->room = NL_ROOM;
	KUNIT_ASSERT_EQ(test, nl_read(infos, is_info), 0);
	KUNIT_EXPECT_EQ(test, nla_strcmp(infos->nest[KOFI_INFO_DOMAIN], name), 0);

	KUNIT_ASSERT_EQ(test, fi_fabric(&attr, &fabric, NULL), 0);
	core_adopt(test, &fabric->fid);
	nl_ask(objects, KOFI_CMD_OBJECTS);
	nl_send(objects);
	objects->room = NL_ROOM;
	KUNIT_ASSERT_EQ(test, nl_read(objects, nl_is_object), 0);
	KUNIT_EXPECT_EQ(test, nla_strcmp(objects->nest[KOFI_OBJECT_NAME], name), 0);
}

#define MANY	20

/* Each has a text of kilobytes, and each is in one message */
static void answer_that_is_long_comes_in_parts(struct kunit *test)
{
	struct nl *nl = nl_open(test, &init_net);
	struct mock *mock = core_mock(test, "mock", 1);
	struct fi_info *info = mock->infos;
	char name[16];
	int i;

	for (i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "mock%d", i);
		core_set_string(test, &info->domain_attr->name, name);
		if (i == MANY - 1)
			break;
		info->next = mock_info(mock);
		KUNIT_ASSERT_NOT_NULL(test, info->next);
		info = info->next;
	}
	nl_ask_info(nl, "mock", 0);
	nl_send(nl);
	for (i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "mock%d", i);
		KUNIT_ASSERT_EQ(test, nl_read(nl, is_info), 0);
		KUNIT_EXPECT_EQ(test, nla_strcmp(nl->nest[KOFI_INFO_DOMAIN], name), 0);
	}
	KUNIT_ASSERT_EQ(test, nl_read(nl, nl_is_error), 0);
	KUNIT_EXPECT_EQ(test, nl->count, MANY + 2);
	KUNIT_EXPECT_EQ(test, nl_read(nl, NULL), -ENOENT);
}

static void getinfo_passes_its_arguments_on(struct kunit *test)
{
	struct nl *nl = nl_open(test, &init_net);

	core_mock(test, "mock", 1);
	nl_ask(nl, KOFI_CMD_GETINFO);
	KUNIT_ASSERT_EQ(test, nla_put_u32(nl->skb, KOFI_A_VERSION, FI_VERSION(2, 99)), 0);
	nl_send(nl);
	KUNIT_ASSERT_EQ(test, nl_read(nl, nl_is_error), 0);
	KUNIT_EXPECT_EQ(test, nla_get_s32(nl->attrs[KOFI_A_ERROR]), -ENOSYS);
	KUNIT_EXPECT_EQ(test, nl_read(nl, NULL), -ENOENT);

	nl_ask(nl, KOFI_CMD_GETINFO);
	KUNIT_ASSERT_EQ(test, nla_put_string(nl->skb, KOFI_A_NODE, "a name"), 0);
	KUNIT_ASSERT_EQ(test, nla_put_u16(nl->skb, KOFI_A_SERVICE, 7471), 0);
	nl_send(nl);
	KUNIT_ASSERT_EQ(test, nl_read(nl, is_reason), 0);
	KUNIT_EXPECT_EQ(test, nla_strcmp(nl->nest[KOFI_REASON_FIELD], "node"), 0);
	KUNIT_EXPECT_EQ(test, nl_read(nl, NULL), -ENOENT);

	nl_ask(nl, KOFI_CMD_GETINFO);
	KUNIT_ASSERT_EQ(test, nla_put_u64_64bit(nl->skb, KOFI_A_FLAGS, FI_MSG, KOFI_A_UNSPEC), 0);
	nl_send(nl);
	KUNIT_ASSERT_EQ(test, nl_read(nl, is_reason), 0);
	KUNIT_EXPECT_EQ(test, nla_strcmp(nl->nest[KOFI_REASON_FIELD], "flags"), 0);
}

/* What is wrong with a request */
static void put_unknown(struct nl *nl)
{
	nla_put_u32(nl->skb, KOFI_A_MAX + 1, 0);
}

static void put_answer(struct nl *nl)
{
	nla_put_s32(nl->skb, KOFI_A_ERROR, 0);
}

static void put_short_number(struct nl *nl)
{
	nla_put_u16(nl->skb, KOFI_A_VERSION, 0);
}

static void put_endless_string(struct nl *nl)
{
	nla_put(nl->skb, KOFI_A_NODE, 4, "abcd");
}

static void put_long_name(struct nl *nl)
{
	struct nlattr *nest = nla_nest_start(nl->skb, KOFI_A_HINTS);
	char name[FI_NAME_MAX + 1] = {};

	memset(name, 'a', FI_NAME_MAX);
	nla_put_string(nl->skb, KOFI_INFO_PROV_NAME, name);
	nla_nest_end(nl->skb, nest);
}

static void put_text_as_hint(struct nl *nl)
{
	struct nlattr *nest = nla_nest_start(nl->skb, KOFI_A_HINTS);

	nla_put_string(nl->skb, KOFI_INFO_TEXT, "text");
	nla_nest_end(nl->skb, nest);
}

static void put_hints_without_nest(struct nl *nl)
{
	nla_put(nl->skb, KOFI_A_HINTS, 0, NULL);
}

static const struct malformed {
	const char	*name;
	u8		cmd;
	void		(*put)(struct nl *nl);
} malformed[] = {
	{ "unknown attribute", KOFI_CMD_GETINFO, put_unknown },
	{ "attribute of answers", KOFI_CMD_GETINFO, put_answer },
	{ "number too short", KOFI_CMD_GETINFO, put_short_number },
	{ "string without end", KOFI_CMD_GETINFO, put_endless_string },
	{ "name too long", KOFI_CMD_GETINFO, put_long_name },
	{ "hint that is none", KOFI_CMD_GETINFO, put_text_as_hint },
	{ "hints are no nest", KOFI_CMD_GETINFO, put_hints_without_nest },
	{ "providers take no attribute", KOFI_CMD_PROVIDERS, put_answer },
	{ "objects take no attribute", KOFI_CMD_OBJECTS, put_short_number },
};

KUNIT_ARRAY_PARAM_DESC(malformed, malformed, name);

static void malformed_request_is_refused(struct kunit *test)
{
	const struct malformed *param = test->param_value;
	struct nl *nl = nl_open(test, &init_net);
	int err;

	nl_ask(nl, param->cmd);
	param->put(nl);
	nl_send(nl);

	err = nl_read(nl, NULL);
	KUNIT_EXPECT_TRUE(test, err == -EINVAL || err == -ERANGE);
	KUNIT_EXPECT_EQ(test, nl->count, 0);
}

static void command_that_is_no_dump_is_refused(struct kunit *test)
{
	struct nl *nl = nl_open(test, &init_net);

	nl_begin(nl, nl->family, KOFI_CMD_OBJECTS, 0);
	nl_send(nl);

	KUNIT_EXPECT_EQ(test, nl_read(nl, NULL), -EOPNOTSUPP);
}

static void ask_as_nobody(struct nl *nl)
{
	const struct cred *old;

	nl_ask(nl, KOFI_CMD_GETINFO);
	old = nl_drop_caps(nl->test);
	nl_send(nl);
	nl_take_caps_back(old);
}

static bool nobody_is_answered(struct nl *nl)
{
	ask_as_nobody(nl);
	return !nl_read(nl, is_greeting);
}

static void asks_that_are_not_read_have_a_limit(struct kunit *test)
{
	struct nl *nl[MAX_ASKS + 1];
	int i;

	for (i = 0; i < MAX_ASKS; i++) {
		nl[i] = nl_open(test, &init_net);
		ask_as_nobody(nl[i]);
	}
	nl[i] = nl_open(test, &init_net);
	ask_as_nobody(nl[i]);
	KUNIT_EXPECT_EQ(test, nl_read(nl[i], NULL), -EBUSY);

	nl_ask(nl[i], KOFI_CMD_GETINFO);
	nl_send(nl[i]);
	KUNIT_EXPECT_EQ(test, nl_read(nl[i], nl_is_error), 0);
	KUNIT_EXPECT_EQ(test, nl_read(nl[i], NULL), -ENOENT);

	/* The kernel leaves the end of a socket to a worker */
	kunit_release_action(test, nl_close, nl[0]);
	KUNIT_EXPECT_TRUE(test, vt_until(nobody_is_answered(nl[i])));
}

static struct kunit_case netlink_cases[] = {
	KUNIT_CASE(getinfo_returns_what_fi_getinfo_finds),
	KUNIT_CASE(getinfo_without_hints_returns_everything),
	KUNIT_CASE(getinfo_says_why_there_is_nothing),
	KUNIT_CASE(getinfo_names_the_module_of_an_absent_provider),
	KUNIT_CASE(each_hint_counts),
	KUNIT_CASE(message_has_room_for_a_long_name),
	KUNIT_CASE(answer_that_is_long_comes_in_parts),
	KUNIT_CASE(getinfo_passes_its_arguments_on),
	KUNIT_CASE_PARAM(malformed_request_is_refused, malformed_gen_params),
	KUNIT_CASE(command_that_is_no_dump_is_refused),
	KUNIT_CASE(asks_that_are_not_read_have_a_limit),
	{}
};

struct kunit_suite kofi_netlink_suite = {
	.name = "kofi_netlink",
	.init = core_init,
	.exit = core_exit,
	.test_cases = netlink_cases,
};
