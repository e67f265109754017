// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_netlink_objects: the providers and objects that the generic netlink family "kofi"
 * lists, and what of them which program may see.
 */
#include <linux/user_namespace.h>
#include <kofi/stat.h>
#include <rdma/fi_endpoint.h>
#include "../lib/netns.h"
#include "info.h"
#include "netlink.h"

static bool is_provider_mock(struct nl *nl)
{
	return nl_nest(nl, KOFI_A_PROVIDER, KOFI_PROVIDER_MAX) &&
	       !nla_strcmp(nl->nest[KOFI_PROVIDER_NAME], "mock");
}

#define IS_CLASS(name, class)							\
	static bool is_##name(struct nl *nl)					\
	{									\
		return nl_is_object(nl) && nla_get_u32(nl->nest[KOFI_OBJECT_CLASS]) == (class); \
	}

IS_CLASS(domain, FI_CLASS_DOMAIN)
IS_CLASS(ep, FI_CLASS_EP)
IS_CLASS(pep, FI_CLASS_PEP)
IS_CLASS(cq, FI_CLASS_CQ)
IS_CLASS(eq, FI_CLASS_EQ)

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

	KUNIT_ASSERT_EQ(test, nl_read(nl, nl_is_object), 0);
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
	KUNIT_ASSERT_EQ(test, nl_read(nl, nl_is_object), 0);
	for (i = 0; i < QUEUES; i++) {
		last = nla_get_u64(nl->nest[KOFI_OBJECT_ID]);
		KUNIT_ASSERT_EQ(test, nl_read(nl, nl_is_object), 0);
		KUNIT_EXPECT_GT(test, nla_get_u64(nl->nest[KOFI_OBJECT_ID]), last);
	}
	KUNIT_EXPECT_EQ(test, nl_read(nl, nl_is_object), -ENOENT);
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
	KUNIT_EXPECT_EQ(test, nl_read(nl, nl_is_object), -ENOENT);

	/* Nor are results */
	mock->infos->fabric_attr->net = &init_net;
	nl_ask_info(nl, "mock", 0);
	nl_send(nl);
	KUNIT_ASSERT_EQ(test, nl_read(nl, nl_is_error), 0);
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
	KUNIT_EXPECT_EQ(test, nl_read(nl, nl_is_object), -ENOENT);

	vt_netns_let_go(netns);
	KUNIT_ASSERT_TRUE(test, vt_netns_is_gone(netns));
	nl_ask(nl, KOFI_CMD_OBJECTS);
	nl_send(nl);
	KUNIT_EXPECT_EQ(test, nl_read(nl, nl_is_object), 0);
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
	old = nl_drop_caps(test);
	nl_send(nl);
	ret = nl_read(nl, is_domain);
	nl_take_caps_back(old);

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

/* The caller as a program of the grade; returns as nl_drop_caps() */
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
		nl_take_caps_back(old);
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

static struct kunit_case netlink_objects_cases[] = {
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
	{}
};

struct kunit_suite kofi_netlink_objects_suite = {
	.name = "kofi_netlink_objects",
	.init = core_init,
	.exit = core_exit,
	.test_cases = netlink_objects_cases,
};
