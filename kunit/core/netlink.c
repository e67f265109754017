// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_netlink: what a program is told by the generic netlink family "kofi".
 *
 * Each case asks over a netlink socket of the kernel's, as a program does over its own.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/net.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <kofi/stat.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_reason.h>
#include <uapi/rdma/kofi_netlink.h>
#include "../lib/netns.h"
#include "info.h"

#define ROOM		32768
/* Requests are small */
#define REQUEST_ROOM	1024
/* As many asks that nobody reads as there may be */
#define MAX_ASKS	64

/**
 * struct nl - A socket, and the answer that it has got
 * @test: the case
 * @file: of the socket; a program's socket has one
 * @sock: the socket
 * @family: of generic netlink
 * @skb: the request
 * @header: of its message
 * @room: how much the program reads at a time
 * @buf: what was read last
 * @next: in @buf, the message that has not been looked at
 * @left: bytes from @next on
 * @count: messages of the answer
 * @attrs: of a message
 * @nest: attributes of its nest
 */
struct nl {
	struct kunit	*test;
	struct file	*file;
	struct socket	*sock;
	u16		family;
	struct sk_buff	*skb;
	void		*header;
	int		room;
	char		*buf;
	struct nlmsghdr	*next;
	int		left;
	int		count;
	struct nlattr	*attrs[KOFI_A_MAX + 1];
	struct nlattr	*nest[KOFI_OBJECT_MAX + KOFI_INFO_MAX + 1];
};

static void nl_close(void *data)
{
	struct nl *nl = data;

	kfree_skb(nl->skb);
	if (nl->file)
		fput(nl->file);
	/* A thread of the kernel leaves that to a worker */
	flush_delayed_fput();
}

static void nl_begin(struct nl *nl, u16 family, u8 cmd, u16 flags)
{
	struct nlmsghdr *nlh;
	struct genlmsghdr *genl;

	nl->skb = alloc_skb(REQUEST_ROOM, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(nl->test, nl->skb);
	nlh = nlmsg_put(nl->skb, 0, 1, family, sizeof(*genl), flags | NLM_F_REQUEST);
	KUNIT_ASSERT_NOT_NULL(nl->test, nlh);
	genl = nlmsg_data(nlh);
	*genl = (struct genlmsghdr) { .cmd = cmd, .version = KOFI_GENL_VERSION };
	nl->header = nlh;
}

static void nl_send(struct nl *nl)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT };
	struct kvec iov;

	nlmsg_end(nl->skb, nl->header);
	iov = (struct kvec) { .iov_base = nl->skb->data, .iov_len = nl->skb->len };
	KUNIT_ASSERT_EQ(nl->test, kernel_sendmsg(nl->sock, &msg, &iov, 1, iov.iov_len),
			(int)iov.iov_len);
	kfree_skb(nl->skb);
	nl->skb = NULL;
}

static int nl_receive(struct nl *nl)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT };
	struct kvec iov = { .iov_base = nl->buf, .iov_len = nl->room };

	return kernel_recvmsg(nl->sock, &msg, &iov, 1, nl->room, MSG_DONTWAIT);
}

typedef bool (*nl_fn)(struct nl *nl);

static bool nl_parse(struct nl *nl, struct nlmsghdr *nlh)
{
	return !nla_parse_deprecated(nl->attrs, KOFI_A_MAX, nlmsg_data(nlh) + GENL_HDRLEN,
				     nlmsg_len(nlh) - GENL_HDRLEN, NULL, NULL);
}

/*
 * Reads messages until @fn, which may be NULL, returns true: 0; or to the end: -ENOENT, or
 * the error that came
 */
static int nl_read(struct nl *nl, nl_fn fn)
{
	struct nlmsghdr *nlh;
	int err;

	for (;;) {
		if (!nlmsg_ok(nl->next, nl->left)) {
			nl->next = (void *)nl->buf;
			nl->left = nl_receive(nl);
			if (nl->left < 0)
				return nl->left;
		}
		nlh = nl->next;
		nl->next = nlmsg_next(nlh, &nl->left);
		if (nlh->nlmsg_type == NLMSG_DONE || nlh->nlmsg_type == NLMSG_ERROR) {
			err = *(int *)nlmsg_data(nlh);
			return err ?: -ENOENT;
		}
		nl->count++;
		if (!nl_parse(nl, nlh))
			return -EBADMSG;
		if (fn && fn(nl))
			return 0;
	}
}

static bool nl_take_family(struct nl *nl)
{
	struct nlattr *attr = nl->attrs[CTRL_ATTR_FAMILY_ID];

	if (attr)
		nl->family = nla_get_u16(attr);
	return attr;
}

/* As nl_open(); the program has not read much at a time so far */
static struct nl *nl_open_sparing(struct kunit *test, struct net *net)
{
	struct nl *nl = vt_buf(test, sizeof(*nl));
	struct file *file;

	nl->test = test;
	nl->room = REQUEST_ROOM;
	nl->buf = vt_buf(test, ROOM);
	nl->next = (void *)nl->buf;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, nl_close, nl), 0);
	KUNIT_ASSERT_EQ(test, sock_create_kern(net, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC,
					       &nl->sock), 0);
	file = sock_alloc_file(nl->sock, 0, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	nl->file = file;

	nl_begin(nl, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	KUNIT_ASSERT_EQ(test, nla_put_string(nl->skb, CTRL_ATTR_FAMILY_NAME, KOFI_GENL_NAME), 0);
	nl_send(nl);
	KUNIT_ASSERT_EQ(test, nl_read(nl, nl_take_family), 0);
	return nl;
}

/* A socket in @net, which a program with the capabilities of the caller has opened */
static struct nl *nl_open(struct kunit *test, struct net *net)
{
	struct nl *nl = nl_open_sparing(test, net);

	nl->room = ROOM;
	return nl;
}

static void nl_ask(struct nl *nl, u8 cmd)
{
	nl_begin(nl, nl->family, cmd, NLM_F_DUMP);
	nl->count = 0;
}

/* GETINFO for the provider @prov_name only, with flags of the capabilities @caps */
static void nl_ask_info(struct nl *nl, const char *prov_name, u64 caps)
{
	struct nlattr *nest;

	nl_ask(nl, KOFI_CMD_GETINFO);
	nest = nla_nest_start(nl->skb, KOFI_A_HINTS);
	KUNIT_ASSERT_NOT_NULL(nl->test, nest);
	KUNIT_ASSERT_EQ(nl->test, nla_put_string(nl->skb, KOFI_INFO_PROV_NAME, prov_name), 0);
	KUNIT_ASSERT_EQ(nl->test, nla_put_u64_64bit(nl->skb, KOFI_INFO_CAPS, caps,
						    KOFI_INFO_UNSPEC), 0);
	nla_nest_end(nl->skb, nest);
}

/* The nest of an attribute; false: it is not there */
static bool nl_nest(struct nl *nl, int attr, int max)
{
	return nl->attrs[attr] &&
	       !nla_parse_nested_deprecated(nl->nest, max, nl->attrs[attr], NULL, NULL);
}

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

static bool is_error(struct nl *nl)
{
	return nl->attrs[KOFI_A_ERROR];
}

static bool is_provider_mock(struct nl *nl)
{
	return nl_nest(nl, KOFI_A_PROVIDER, KOFI_PROVIDER_MAX) &&
	       !nla_strcmp(nl->nest[KOFI_PROVIDER_NAME], "mock");
}

static bool is_object(struct nl *nl)
{
	return nl_nest(nl, KOFI_A_OBJECT, KOFI_OBJECT_MAX) &&
	       !nla_strcmp(nl->nest[KOFI_OBJECT_PROV_NAME], "mock");
}

#define IS_CLASS(name, class)							\
	static bool is_##name(struct nl *nl)					\
	{									\
		return is_object(nl) && nla_get_u32(nl->nest[KOFI_OBJECT_CLASS]) == (class); \
	}

IS_CLASS(domain, FI_CLASS_DOMAIN)
IS_CLASS(ep, FI_CLASS_EP)
IS_CLASS(pep, FI_CLASS_PEP)
IS_CLASS(cq, FI_CLASS_CQ)
IS_CLASS(eq, FI_CLASS_EQ)

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
	KUNIT_EXPECT_EQ(test, nl_read(nl, is_error), 0);
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
	KUNIT_EXPECT_EQ(test, nl_read(nl, is_error), 0);
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
	KUNIT_ASSERT_EQ(test, nl_read(nl, is_error), 0);
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
		KUNIT_ASSERT_EQ(test, nl_read(nl, is_error), 0);
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
	infos->room = ROOM;
	KUNIT_ASSERT_EQ(test, nl_read(infos, is_info), 0);
	KUNIT_EXPECT_EQ(test, nla_strcmp(infos->nest[KOFI_INFO_DOMAIN], name), 0);

	KUNIT_ASSERT_EQ(test, fi_fabric(&attr, &fabric, NULL), 0);
	core_adopt(test, &fabric->fid);
	nl_ask(objects, KOFI_CMD_OBJECTS);
	nl_send(objects);
	objects->room = ROOM;
	KUNIT_ASSERT_EQ(test, nl_read(objects, is_object), 0);
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
	KUNIT_ASSERT_EQ(test, nl_read(nl, is_error), 0);
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
	KUNIT_ASSERT_EQ(test, nl_read(nl, is_error), 0);
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

static void providers_are_listed(struct kunit *test)
{
	struct nl *nl = nl_open(test, &init_net);

	core_mock(test, "mock", FI_VERSION(3, 1));
	nl_ask(nl, KOFI_CMD_PROVIDERS);
	nl_send(nl);

	KUNIT_ASSERT_EQ(test, nl_read(nl, is_provider_mock), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u32(nl->nest[KOFI_PROVIDER_NR]), (u32)FI_VERSION(3, 1));
	KUNIT_EXPECT_EQ(test, nla_get_u32(nl->nest[KOFI_PROVIDER_API]),
			(u32)KOFI_PROVIDER_VERSION);
	KUNIT_EXPECT_EQ(test, nla_get_u32(nl->nest[KOFI_PROVIDER_REFS]), 1U);
	KUNIT_EXPECT_EQ(test, nl_read(nl, is_provider_mock), -ENOENT);
}

static void objects_are_listed_with_what_they_belong_to(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct nl *nl = nl_open(test, &init_net);
	struct core_set set = {};
	struct nlattr *bound[KOFI_BOUND_MAX + 1], *value[KOFI_VALUE_MAX + 1];
	struct sockaddr_in *sin;
	u64 fabric, cq;

	info_set_addr(test, &mock->infos->src_addr, &mock->infos->src_addrlen, "10.0.0.1", 80);
	core_open_all(test, &set, mock);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(core_ep(&set), set.fid[MOCK_CQ], FI_TRANSMIT), 0);
	nl_ask(nl, KOFI_CMD_OBJECTS);
	nl_send(nl);

	KUNIT_ASSERT_EQ(test, nl_read(nl, is_object), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u32(nl->nest[KOFI_OBJECT_CLASS]), (u32)FI_CLASS_FABRIC);
	KUNIT_EXPECT_EQ(test, nla_strcmp(nl->nest[KOFI_OBJECT_OWNER], "kofi_core_test"), 0);
	KUNIT_EXPECT_NULL(test, nl->nest[KOFI_OBJECT_PARENT]);
	fabric = nla_get_u64(nl->nest[KOFI_OBJECT_ID]);
	nl_read(nl, NULL);

	nl_ask(nl, KOFI_CMD_OBJECTS);
	nl_send(nl);
	KUNIT_ASSERT_EQ(test, nl_read(nl, is_domain), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u64(nl->nest[KOFI_OBJECT_PARENT]), fabric);
	KUNIT_ASSERT_NOT_NULL(test, nl->nest[KOFI_OBJECT_ADDR]);
	KUNIT_EXPECT_EQ(test, nla_get_u64(nl->nest[KOFI_OBJECT_ADDR]),
			(u64)(uintptr_t)set.fid[MOCK_DOMAIN]);
	KUNIT_EXPECT_GT(test, nla_get_u32(nl->nest[KOFI_OBJECT_USERS]), 1U);
	KUNIT_ASSERT_EQ(test, nl_read(nl, is_ep), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u32(nl->nest[KOFI_OBJECT_USERS]), 0U);
	KUNIT_ASSERT_NOT_NULL(test, nl->nest[KOFI_OBJECT_BOUND]);
	KUNIT_ASSERT_EQ(test, nla_parse_nested_deprecated(bound, KOFI_BOUND_MAX,
							  nl->nest[KOFI_OBJECT_BOUND], NULL, NULL),
			0);
	KUNIT_EXPECT_EQ(test, nla_get_u64(bound[KOFI_BOUND_FLAGS]), FI_TRANSMIT);
	cq = nla_get_u64(bound[KOFI_BOUND_ID]);
	nl_read(nl, NULL);

	nl_ask(nl, KOFI_CMD_OBJECTS);
	nl_send(nl);
	KUNIT_ASSERT_EQ(test, nl_read(nl, is_eq), 0);
	KUNIT_ASSERT_NOT_NULL(test, nl->nest[KOFI_OBJECT_VALUE]);
	KUNIT_ASSERT_EQ(test, nla_parse_nested_deprecated(value, KOFI_VALUE_MAX,
							  nl->nest[KOFI_OBJECT_VALUE], NULL, NULL),
			0);
	KUNIT_EXPECT_NOT_NULL(test, value[KOFI_VALUE_NAME]);
	KUNIT_EXPECT_NOT_NULL(test, value[KOFI_VALUE_NUMBER]);
	KUNIT_ASSERT_EQ(test, nl_read(nl, is_pep), 0);
	KUNIT_ASSERT_NOT_NULL(test, nl->nest[KOFI_OBJECT_SRC_ADDR]);
	sin = nla_data(nl->nest[KOFI_OBJECT_SRC_ADDR]);
	KUNIT_EXPECT_EQ(test, ntohs(sin->sin_port), 80);
	KUNIT_EXPECT_NULL(test, nl->nest[KOFI_OBJECT_DEST_ADDR]);
	KUNIT_ASSERT_EQ(test, nl_read(nl, is_cq), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u64(nl->nest[KOFI_OBJECT_ID]), cq);
	KUNIT_EXPECT_EQ(test, nla_get_u32(nl->nest[KOFI_OBJECT_USERS]), 1U);
}

#define QUEUES	200

/* More than a part of the answer has room for; each is there once, in the order of opening */
static void objects_that_are_many_come_in_parts(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_EQ);
	struct nl *nl = nl_open(test, &init_net);
	struct fid *eq;
	u64 last;
	int i;

	for (i = 0; i < QUEUES; i++)
		KUNIT_ASSERT_EQ(test, core_open(test, set, MOCK_EQ, &eq), 0);
	nl_ask(nl, KOFI_CMD_OBJECTS);
	nl_send(nl);
	KUNIT_ASSERT_EQ(test, nl_read(nl, is_object), 0);
	for (i = 0; i < QUEUES; i++) {
		last = nla_get_u64(nl->nest[KOFI_OBJECT_ID]);
		KUNIT_ASSERT_EQ(test, nl_read(nl, is_object), 0);
		KUNIT_EXPECT_GT(test, nla_get_u64(nl->nest[KOFI_OBJECT_ID]), last);
	}
	KUNIT_EXPECT_EQ(test, nl_read(nl, is_object), -ENOENT);
}

#define PART	16384	/* the most that is read at a time */
#define BEHIND	80

/* An event queue, with its values to the end of the last one */
static bool is_whole_eq(struct nl *nl)
{
	struct nlattr *value[KOFI_VALUE_MAX + 1];

	return is_eq(nl) && nl->nest[KOFI_OBJECT_VALUE] &&
	       !nla_parse_nested_deprecated(value, KOFI_VALUE_MAX, nl->nest[KOFI_OBJECT_VALUE],
					    NULL, NULL) &&
	       value[KOFI_VALUE_NAME] && value[KOFI_VALUE_NUMBER];
}

/* At whatever place the part ends, as the name of the fabric decides */
static void object_that_does_not_fit_comes_whole_in_the_next_part(struct kunit *test)
{
	struct nl *nl = nl_open_sparing(test, &init_net);
	char name[4 * BEHIND] = "n";
	struct fi_fabric_attr attr = { .name = name, .prov_name = "mock" };
	struct fid_eq *eqs[BEHIND];
	struct fid_fabric *fabric;
	int i, count;

	core_mock(test, "mock", 1);
	nl->room = PART;
	while (strlen(name) + 4 < sizeof(name)) {
		strcat(name, "name");
		KUNIT_ASSERT_EQ(test, fi_fabric(&attr, &fabric, NULL), 0);
		core_adopt(test, &fabric->fid);
		for (i = 0; i < BEHIND; i++) {
			KUNIT_ASSERT_EQ(test, fi_eq_open(fabric, NULL, &eqs[i], NULL), 0);
			core_adopt(test, &eqs[i]->fid);
		}
		nl_ask(nl, KOFI_CMD_OBJECTS);
		nl_send(nl);
		for (count = 0; !nl_read(nl, is_whole_eq);)
			count++;
		KUNIT_EXPECT_EQ(test, count, BEHIND);
		for (i = 0; i < BEHIND; i++)
			KUNIT_EXPECT_EQ(test, core_close(test, &eqs[i]->fid), 0);
		KUNIT_EXPECT_EQ(test, core_close(test, &fabric->fid), 0);
	}
}

#define PROVIDERS	150

static bool is_whole_provider(struct nl *nl)
{
	return nl_nest(nl, KOFI_A_PROVIDER, KOFI_PROVIDER_MAX) &&
	       strstarts(nla_data(nl->nest[KOFI_PROVIDER_NAME]), "many-") &&
	       nl->nest[KOFI_PROVIDER_NR] && nl->nest[KOFI_PROVIDER_API] &&
	       nl->nest[KOFI_PROVIDER_REFS] && nl->nest[KOFI_PROVIDER_MODULE];
}

static void no_more_providers(void *many)
{
	int i;

	for (i = 0; i < PROVIDERS; i++)
		kofi_provider_deregister((struct kofi_provider *)many + i);
}

/* Names are of different lengths, so one may fit where the one before it does not */
static void providers_that_are_many_come_in_parts(struct kunit *test)
{
	struct kofi_provider *many = vt_buf(test, PROVIDERS * sizeof(*many));
	struct mock *model = core_mock_new(test, "mock", 1);
	struct nl *nl = nl_open_sparing(test, &init_net);
	char *names = vt_buf(test, PROVIDERS * FI_NAME_MAX), *name = names;
	int i, count;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, no_more_providers, many), 0);
	for (i = 0; i < PROVIDERS; i++, name += FI_NAME_MAX) {
		snprintf(name, FI_NAME_MAX, "many-%0*d", i % 2 ? 12 : 52, i);
		many[i] = model->provider;
		many[i].name = name;
		KUNIT_EXPECT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION, &many[i]), 0);
	}
	nl_ask(nl, KOFI_CMD_PROVIDERS);
	nl_send(nl);
	nl->room = PAGE_SIZE;
	for (count = 0, name = names; !nl_read(nl, is_whole_provider); name += FI_NAME_MAX) {
		KUNIT_EXPECT_EQ(test, nla_strcmp(nl->nest[KOFI_PROVIDER_NAME], name), 0);
		if (++count == PROVIDERS)
			break;
	}
	KUNIT_EXPECT_EQ(test, count, PROVIDERS);
	kunit_release_action(test, no_more_providers, many);
}

static void objects_of_another_namespace_are_not_listed(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct vt_netns *netns = vt_netns_new(test);
	struct core_set set = {};
	struct nl *nl;

	core_open_all(test, &set, mock);
	nl = nl_open(test, netns->net);
	nl_ask(nl, KOFI_CMD_OBJECTS);
	nl_send(nl);
	KUNIT_EXPECT_EQ(test, nl_read(nl, is_object), -ENOENT);

	/* Nor are results */
	mock->infos->fabric_attr->net = &init_net;
	nl_ask_info(nl, "mock", 0);
	nl_send(nl);
	KUNIT_ASSERT_EQ(test, nl_read(nl, is_error), 0);
	KUNIT_EXPECT_EQ(test, nla_get_s32(nl->attrs[KOFI_A_ERROR]), -ENODATA);
}

static void objects_of_a_namespace_that_has_gone_are_listed(struct kunit *test)
{
	struct vt_netns *netns = vt_netns_new(test);
	struct mock *mock = core_mock(test, "mock", 1);
	struct nl *nl = nl_open(test, &init_net);
	struct core_set set;
	struct fid *fabric;

	core_open_parents(test, &set, mock, MOCK_FABRIC);
	set.info->fabric_attr->net = netns->net;
	KUNIT_ASSERT_EQ(test, core_open(test, &set, MOCK_FABRIC, &fabric), 0);
	nl_ask(nl, KOFI_CMD_OBJECTS);
	nl_send(nl);
	KUNIT_EXPECT_EQ(test, nl_read(nl, is_object), -ENOENT);

	vt_netns_let_go(netns);
	KUNIT_ASSERT_TRUE(test, vt_netns_is_gone(netns));
	nl_ask(nl, KOFI_CMD_OBJECTS);
	nl_send(nl);
	KUNIT_EXPECT_EQ(test, nl_read(nl, is_object), 0);
}

static int control_fails(struct fid *fid, int command, void *arg)
{
	struct kofi_stat *stat = arg;

	stat->values[0].name = "value";
	stat->count = 1;
	return -EIO;
}

static int name_fails(fid_t fid, void *addr, size_t *addrlen)
{
	((struct sockaddr *)addr)->sa_family = AF_INET;
	return -EIO;
}

static int peer_fails(struct fid_ep *ep, void *addr, size_t *addrlen)
{
	return name_fails(&ep->fid, addr, addrlen);
}

static int name_is_ipv6(fid_t fid, void *addr, size_t *addrlen)
{
	((struct sockaddr *)addr)->sa_family = AF_INET6;
	return 0;
}

static int peer_is_there(struct fid_ep *ep, void *addr, size_t *addrlen)
{
	((struct sockaddr *)addr)->sa_family = AF_INET;
	return 0;
}

/* What a provider has written is part of the answer only if its call succeeds */
static void state_that_cannot_be_reported_is_left_out(struct kunit *test)
{
	struct core_set *set = core_all(test);
	struct nl *nl = nl_open(test, &init_net);
	struct fid_ep *ep = core_ep(set);
	const struct fi_ops_cm *cm = ep->cm;
	const struct fi_ops *ops = ep->fid.ops;
	/* They stay while the endpoint does, which is longer than the case if it fails */
	static struct fi_ops_cm own_cm;
	static struct fi_ops own;

	own_cm = *cm;
	own = *ops;
	own.control = control_fails;
	own_cm.getname = name_fails;
	own_cm.getpeer = peer_fails;
	ep->fid.ops = &own;
	ep->cm = &own_cm;
	nl_ask(nl, KOFI_CMD_OBJECTS);
	nl_send(nl);
	KUNIT_EXPECT_EQ(test, nl_read(nl, is_ep), 0);
	KUNIT_EXPECT_NULL(test, nl->nest[KOFI_OBJECT_VALUE]);
	KUNIT_EXPECT_NULL(test, nl->nest[KOFI_OBJECT_SRC_ADDR]);
	KUNIT_EXPECT_NULL(test, nl->nest[KOFI_OBJECT_DEST_ADDR]);
	nl_read(nl, NULL);
	own_cm.getname = name_is_ipv6;
	own_cm.getpeer = peer_is_there;
	nl_ask(nl, KOFI_CMD_OBJECTS);
	nl_send(nl);
	KUNIT_EXPECT_EQ(test, nl_read(nl, is_ep), 0);
	KUNIT_ASSERT_NOT_NULL(test, nl->nest[KOFI_OBJECT_SRC_ADDR]);
	KUNIT_EXPECT_EQ(test, nla_len(nl->nest[KOFI_OBJECT_SRC_ADDR]),
			sizeof(struct sockaddr_in6));
	KUNIT_ASSERT_NOT_NULL(test, nl->nest[KOFI_OBJECT_DEST_ADDR]);
	KUNIT_EXPECT_EQ(test, nla_len(nl->nest[KOFI_OBJECT_DEST_ADDR]),
			sizeof(struct sockaddr_in));
	nl_read(nl, NULL);
	ep->cm = cm;
	ep->fid.ops = ops;
}

static int close_object(void *fid)
{
	return fi_close(fid);
}

static int ask_objects(void *nl)
{
	nl_send(nl);
	return 0;
}

static void close_waits_for_an_object_to_be_looked_at(struct kunit *test)
{
	struct core_set *set = core_parents(test, MOCK_EP);
	struct nl *nl = nl_open(test, &init_net);
	struct vt_async *asker, *closer;
	struct fid *ep;

	KUNIT_ASSERT_EQ(test, core_open_raw(set, MOCK_EP, &ep), 0);
	/* The endpoint is the last of the objects; its state is asked for before its name */
	mock_gate_arm(set->mock, MOCK_CALL_GETNAME);
	nl_ask(nl, KOFI_CMD_OBJECTS);
	asker = vt_async_start(test, ask_objects, nl);
	KUNIT_EXPECT_TRUE(test, mock_gate_wait(set->mock));

	closer = vt_async_start(test, close_object, ep);
	KUNIT_EXPECT_TRUE(test, vt_async_waits(closer));
	KUNIT_EXPECT_EQ(test, atomic_read(&set->mock->calls[MOCK_CALL_CLOSE]), 0);

	mock_gate_open(set->mock);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, asker), 0);
	KUNIT_EXPECT_EQ(test, vt_async_join(test, closer), 0);
	KUNIT_EXPECT_EQ(test, nl_read(nl, is_ep), 0);
}

/* The caller without capabilities, until the next call */
static const struct cred *drop_caps(struct kunit *test)
{
	struct cred *cred = prepare_creds();

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_clear(cred->cap_effective);
	return override_creds(cred);
}

static void take_caps_back(const struct cred *old)
{
	const struct cred *dropped = current_cred();

	revert_creds(old);
	put_cred(dropped);
}

static void addresses_are_for_net_admin_only(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct core_set set = {};
	const struct cred *old;
	struct nl *nl;
	int ret;

	core_open_all(test, &set, mock);
	nl = nl_open(test, &init_net);
	nl_ask(nl, KOFI_CMD_OBJECTS);
	old = drop_caps(test);
	nl_send(nl);
	ret = nl_read(nl, is_domain);
	take_caps_back(old);

	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_EXPECT_NULL(test, nl->nest[KOFI_OBJECT_ADDR]);
	KUNIT_EXPECT_NOT_NULL(test, nl->nest[KOFI_OBJECT_HASH]);
}

#ifdef CONFIG_USER_NS
/**
 * struct grade - A program that asks
 * @name: which
 * @owner: it is of the user namespace to which the second network belongs
 * @caps: it has all capabilities there
 * @second: it asks about the second network
 * @addr: the kernel's addresses of objects are for it
 * @key: keys of regions are for it
 */
struct grade {
	const char	*name;
	bool		owner;
	bool		caps;
	bool		second;
	bool		addr;
	bool		key;
};

static const struct grade grades[] = {
	{ "root, about its network", false, true, false, true, true },
	{ "root, about another network", false, true, true, true, true },
	{ "owner of a network, about it", true, true, true, false, true },
	{ "owner of a network, about another one", true, true, false, false, false },
	{ "nobody", false, false, false, false, false },
	{ "nobody, about another network", false, false, true, false, false },
	{ "nobody of the owner's, about its network", true, false, true, false, false },
};

/* The caller as a program of the grade; returns as drop_caps() */
static const struct cred *act_as(struct kunit *test, const struct grade *grade,
				 struct user_namespace *owner)
{
	struct cred *cred = prepare_creds();

	KUNIT_ASSERT_NOT_NULL(test, cred);
	if (grade->owner) {
		put_user_ns(cred->user_ns);
		cred->user_ns = get_user_ns(owner);
	}
	if (!grade->caps) {
		cap_clear(cred->cap_effective);
		/* A user namespace gives its maker all capabilities, so this is another user */
		cred->euid = make_kuid(&init_user_ns, 65534);
	}
	return override_creds(cred);
}

/* A fabric, a domain and a region in @net */
static void open_region(struct kunit *test, struct mock *mock, struct net *net)
{
	static const enum mock_class classes[] = { MOCK_FABRIC, MOCK_DOMAIN, MOCK_MR };
	struct core_set set;
	int i;

	core_open_parents(test, &set, mock, MOCK_FABRIC);
	set.info->fabric_attr->net = net;
	for (i = 0; i < ARRAY_SIZE(classes); i++)
		KUNIT_ASSERT_EQ(test, core_open(test, &set, classes[i], &set.fid[classes[i]]), 0);
	container_of(set.fid[MOCK_MR], struct fid_mr, fid)->key = 77;
}

IS_CLASS(region, FI_CLASS_MR)

static void what_a_program_may_see_depends_on_its_grade(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct vt_netns *second = vt_netns_new_of_user(test);
	const struct grade *grade;
	const struct cred *old;
	struct nl *nl;
	int i, ret;

	KUNIT_ASSERT_PTR_NE(test, second->net->user_ns, &init_user_ns);
	open_region(test, mock, &init_net);
	open_region(test, mock, second->net);
	for (i = 0; i < ARRAY_SIZE(grades); i++) {
		grade = &grades[i];
		old = act_as(test, grade, second->net->user_ns);
		nl = nl_open(test, grade->second ? second->net : &init_net);
		nl_ask(nl, KOFI_CMD_OBJECTS);
		nl_send(nl);
		ret = nl_read(nl, is_region);
		take_caps_back(old);
		KUNIT_ASSERT_EQ_MSG(test, ret, 0, "%s", grade->name);
		KUNIT_EXPECT_EQ_MSG(test, !!nl->nest[KOFI_OBJECT_ADDR], grade->addr, "%s",
				    grade->name);
		KUNIT_EXPECT_EQ_MSG(test, !!nl->nest[KOFI_OBJECT_KEY], grade->key, "%s",
				    grade->name);
		if (nl->nest[KOFI_OBJECT_KEY])
			KUNIT_EXPECT_EQ(test, nla_get_u64(nl->nest[KOFI_OBJECT_KEY]), 77);
	}
}
#endif /* CONFIG_USER_NS */

static void ask_as_nobody(struct nl *nl)
{
	const struct cred *old;

	nl_ask(nl, KOFI_CMD_GETINFO);
	old = drop_caps(nl->test);
	nl_send(nl);
	take_caps_back(old);
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
	KUNIT_EXPECT_EQ(test, nl_read(nl[i], is_error), 0);
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
	KUNIT_CASE(providers_are_listed),
	KUNIT_CASE(objects_are_listed_with_what_they_belong_to),
	KUNIT_CASE(objects_that_are_many_come_in_parts),
	KUNIT_CASE(object_that_does_not_fit_comes_whole_in_the_next_part),
	KUNIT_CASE(providers_that_are_many_come_in_parts),
	KUNIT_CASE(objects_of_another_namespace_are_not_listed),
	KUNIT_CASE(objects_of_a_namespace_that_has_gone_are_listed),
	KUNIT_CASE(state_that_cannot_be_reported_is_left_out),
	KUNIT_CASE(close_waits_for_an_object_to_be_looked_at),
	KUNIT_CASE(addresses_are_for_net_admin_only),
#ifdef CONFIG_USER_NS
	KUNIT_CASE(what_a_program_may_see_depends_on_its_grade),
#endif
	KUNIT_CASE(asks_that_are_not_read_have_a_limit),
	{}
};

struct kunit_suite kofi_netlink_suite = {
	.name = "kofi_netlink",
	.init = core_init,
	.exit = core_exit,
	.test_cases = netlink_cases,
};
