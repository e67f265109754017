// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Discovery: a result asked for again, by its names, by its addresses, and what
 * it cannot be asked for.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inet.h>
#include "conformance.h"

#define TEXT_SIZE	SZ_8K

/* All of an info in words; two that differ have different ones */
static char *words(struct kunit *test, const struct fi_info *info)
{
	char *text = vt_buf(test, TEXT_SIZE);

	fi_tostr(info, FI_TYPE_INFO, text, TEXT_SIZE);
	KUNIT_ASSERT_LT(test, strlen(text), TEXT_SIZE - 1);
	return text;
}

static void an_answer_that_is_asked_for_comes_again(struct kunit *test)
{
	struct fi_info *hints = conf_ask(test), *info;

	KUNIT_ASSERT_EQ(test, conf_getinfo(test, hints, &info), 0);
	KUNIT_EXPECT_NULL(test, info->next);
	KUNIT_EXPECT_STREQ(test, words(test, info), words(test, hints));
}

static void an_answer_is_whole(struct kunit *test)
{
	const struct fi_info *info = vt_of(test)->info;

	if (!vt_is_rdm(info))
		KUNIT_EXPECT_EQ(test, info->ep_attr->type, FI_EP_MSG);
	KUNIT_EXPECT_TRUE(test, info->caps & (FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC));
	KUNIT_EXPECT_EQ(test, info->mode & ~CONF_MODE, 0);
	KUNIT_EXPECT_EQ(test, info->domain_attr->mr_mode & ~CONF_MR_MODE, 0);
	KUNIT_EXPECT_NE(test, info->addr_format, FI_FORMAT_UNSPEC);
	KUNIT_EXPECT_NOT_NULL(test, info->src_addr);
	KUNIT_EXPECT_NE(test, info->ep_attr->protocol, FI_PROTO_UNSPEC);
	KUNIT_EXPECT_NE(test, info->domain_attr->threading, FI_THREAD_UNSPEC);
	KUNIT_EXPECT_NE(test, info->domain_attr->data_progress, FI_PROGRESS_UNSPEC);
	KUNIT_EXPECT_NE(test, info->domain_attr->control_progress, FI_PROGRESS_UNSPEC);
	KUNIT_EXPECT_NE(test, info->domain_attr->resource_mgmt, FI_RM_UNSPEC);
	KUNIT_EXPECT_GT(test, info->tx_attr->size, 0);
	KUNIT_EXPECT_GT(test, info->rx_attr->size, 0);
	KUNIT_EXPECT_GT(test, info->tx_attr->iov_limit, 0);
	KUNIT_EXPECT_GT(test, info->rx_attr->iov_limit, 0);
	KUNIT_EXPECT_GT(test, info->ep_attr->max_msg_size, 0);
}

/*
 * What a new provider brings needs a case of its own here, or nobody knows whether
 * it is true.
 */
static void what_is_claimed_is_checked_somewhere(struct kunit *test)
{
	static const u64 checked = FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC |
				   FI_SEND | FI_RECV | FI_READ | FI_WRITE |
				   FI_REMOTE_READ | FI_REMOTE_WRITE |
				   FI_REMOTE_INV | FI_MULTI_RECV |
				   FI_TAGGED_MULTI_RECV | FI_TAGGED_RMA |
				   FI_RMA_EVENT | FI_FENCE | FI_SOURCE |
				   FI_DIRECTED_RECV | FI_AV_USER_ID |
				   FI_NAMED_RX_CTX |
				   FI_LOCAL_COMM | FI_REMOTE_COMM | FI_HMEM |
				   FI_RMA_PMEM | FI_ATOMIC_PMEM;
	u64 unchecked = vt_of(test)->info->caps & ~checked;
	char text[128];

	fi_tostr(&unchecked, FI_TYPE_CAPS, text, sizeof(text));
	KUNIT_EXPECT_EQ_MSG(test, unchecked, 0, "write cases for %s", text);
}

static void each_side_has_the_capabilities_of_the_whole(struct kunit *test)
{
	const struct fi_info *info = vt_of(test)->info;
	u64 sides = info->tx_attr->caps | info->rx_attr->caps;

	KUNIT_EXPECT_EQ(test, sides & ~info->caps, 0);
	KUNIT_EXPECT_EQ(test, info->domain_attr->caps & ~info->caps, 0);
	KUNIT_EXPECT_EQ(test, info->caps & ~(sides | info->domain_attr->caps), 0);
	KUNIT_EXPECT_EQ(test, info->tx_attr->mode & ~info->mode, 0);
	KUNIT_EXPECT_EQ(test, info->rx_attr->mode & ~info->mode, 0);
}

/* With nothing but the names: more than one if there are several addresses */
static void its_names_find_it(struct kunit *test)
{
	const struct fi_info *mine = vt_of(test)->info;
	struct fi_info *hints = conf_hints_new(mine->ep_attr->type), *info;
	int found = 0;

	KUNIT_ASSERT_NOT_NULL(test, hints);
	vt_free_later(test, hints);
	hints->fabric_attr->prov_name = kstrdup(mine->fabric_attr->prov_name, GFP_KERNEL);
	hints->fabric_attr->name = kstrdup(mine->fabric_attr->name, GFP_KERNEL);
	hints->domain_attr->name = kstrdup(mine->domain_attr->name, GFP_KERNEL);

	KUNIT_ASSERT_EQ(test, conf_getinfo(test, hints, &info), 0);
	for (; info; info = info->next)
		found += !strcmp(words(test, info), words(test, mine));
	KUNIT_EXPECT_EQ(test, found, 1);
}

static void other_names_find_nothing(struct kunit *test)
{
	struct fi_info *hints, *info;
	char **name;
	int i;

	for (i = 0; i < 3; i++) {
		hints = conf_ask(test);
		name = i == 0 ? &hints->domain_attr->name :
		       i == 1 ? &hints->fabric_attr->name :
				&hints->fabric_attr->prov_name;
		kfree(*name);
		*name = kstrdup("no_such_name", GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, *name);

		KUNIT_EXPECT_EQ_MSG(test, conf_getinfo(test, hints, &info), -ENODATA, "name %d", i);
	}
}

/* Its address as text, without a scope; false: it is none of IP */
static bool as_text(const struct fi_info *info, char *text, size_t len)
{
	const struct sockaddr *sa = info->src_addr;
	const struct sockaddr_in6 *sin6 = info->src_addr;

	if (sa->sa_family != AF_INET && sa->sa_family != AF_INET6)
		return false;
	if (sa->sa_family == AF_INET6 && sin6->sin6_scope_id)
		snprintf(text, len, "%pI6c%%%u", &sin6->sin6_addr, sin6->sin6_scope_id);
	else
		snprintf(text, len, "%pISc", sa);
	return true;
}

static __be16 port_of(const void *addr)
{
	const struct sockaddr_in *sin = addr;
	const struct sockaddr_in6 *sin6 = addr;

	return sin->sin_family == AF_INET ? sin->sin_port : sin6->sin6_port;
}

static struct fi_info *by_address(struct kunit *test, const char *node, u64 flags)
{
	const struct fi_info *mine = vt_of(test)->info;
	struct fi_info *hints = conf_hints_new(mine->ep_attr->type), *info;

	KUNIT_ASSERT_NOT_NULL(test, hints);
	vt_free_later(test, hints);
	hints->domain_attr->name = kstrdup(mine->domain_attr->name, GFP_KERNEL);
	hints->fabric_attr->prov_name = kstrdup(mine->fabric_attr->prov_name, GFP_KERNEL);
	KUNIT_ASSERT_EQ_MSG(test, fi_getinfo(VT_API, node, 4711, flags, hints,
					     &info), 0, "%s", node);
	vt_free_later(test, info);
	return info;
}

static void its_address_finds_it_as_source_and_as_peer(struct kunit *test)
{
	const struct fi_info *mine = vt_of(test)->info;
	char text[INET6_ADDRSTRLEN + 12];
	struct fi_info *info;

	/* An address that is not of IP has no text that fi_getinfo() reads */
	if (!as_text(mine, text, sizeof(text)))
		return;

	info = by_address(test, text, FI_SOURCE);
	KUNIT_EXPECT_EQ(test, info->addr_format, mine->addr_format);
	KUNIT_EXPECT_EQ(test, ntohs(port_of(info->src_addr)), 4711);
	KUNIT_EXPECT_NULL(test, info->dest_addr);

	info = by_address(test, text, 0);
	KUNIT_ASSERT_NOT_NULL(test, info->dest_addr);
	KUNIT_EXPECT_EQ(test, ntohs(port_of(info->dest_addr)), 4711);
	/* So each endpoint that the result opens gets a port of its own */
	KUNIT_ASSERT_NOT_NULL(test, info->src_addr);
	KUNIT_EXPECT_EQ(test, ntohs(port_of(info->src_addr)), 0);
}

static void what_a_client_cannot_follow_is_not_asked_of_it(struct kunit *test)
{
	struct fi_info *hints = conf_ask(test), *info;

	hints->mode = 0;
	hints->tx_attr->mode = 0;
	hints->rx_attr->mode = 0;
	if (!conf_getinfo(test, hints, &info)) {
		KUNIT_EXPECT_EQ(test, info->mode, 0);
		KUNIT_EXPECT_EQ(test, info->rx_attr->mode, 0);
		KUNIT_EXPECT_EQ(test, info->tx_attr->mode, 0);
	} else {
		KUNIT_EXPECT_NE(test, hints->domain_attr->mode | vt_of(test)->info->mode, 0);
	}

	hints = conf_ask(test);
	hints->domain_attr->mr_mode = 0;
	if (!conf_getinfo(test, hints, &info))
		KUNIT_EXPECT_EQ(test, info->domain_attr->mr_mode, 0);
	else
		KUNIT_EXPECT_NE(test, vt_of(test)->info->domain_attr->mr_mode, 0);
}

static void an_answer_without_hints_asks_for_no_other_mode(struct kunit *test)
{
	const struct fi_info *mine = vt_of(test)->info;
	struct fi_info *list, *info;

	KUNIT_ASSERT_EQ(test, conf_getinfo(test, NULL, &list), 0);
	for (info = list; info; info = info->next)
		if (!strcmp(info->fabric_attr->prov_name, mine->fabric_attr->prov_name))
			KUNIT_EXPECT_EQ(test, info->domain_attr->mr_mode &
					~mine->domain_attr->mr_mode, 0);
}

/* Without a target's modes a client can still be the active side */
static void a_client_that_registers_nothing_is_served(struct kunit *test)
{
	struct fi_info *hints = conf_ask(test), *info;

	hints->caps &= FI_MSG | FI_SEND | FI_RECV;
	if (!hints->caps)
		return;
	hints->tx_attr->caps = 0;
	hints->rx_attr->caps = 0;
	hints->domain_attr->mr_mode = 0;
	KUNIT_ASSERT_EQ(test, conf_getinfo(test, hints, &info), 0);
	KUNIT_EXPECT_EQ(test, info->domain_attr->mr_mode, 0);
	KUNIT_EXPECT_EQ(test, info->caps & (FI_RMA | FI_ATOMIC | FI_REMOTE_READ | FI_REMOTE_WRITE),
			0);
}

static struct kunit_case info_cases[] = {
	KUNIT_CASE_PARAM(an_answer_that_is_asked_for_comes_again, conf_gen_params),
	KUNIT_CASE_PARAM(an_answer_is_whole, conf_gen_params),
	KUNIT_CASE_PARAM(what_is_claimed_is_checked_somewhere, conf_gen_params),
	KUNIT_CASE_PARAM(each_side_has_the_capabilities_of_the_whole, conf_gen_params),
	KUNIT_CASE_PARAM(its_names_find_it, conf_gen_params),
	KUNIT_CASE_PARAM(other_names_find_nothing, conf_gen_params),
	KUNIT_CASE_PARAM(its_address_finds_it_as_source_and_as_peer, conf_gen_params),
	KUNIT_CASE_PARAM(what_a_client_cannot_follow_is_not_asked_of_it, conf_gen_params),
	KUNIT_CASE_PARAM(an_answer_without_hints_asks_for_no_other_mode, conf_gen_params),
	KUNIT_CASE_PARAM(a_client_that_registers_nothing_is_served, conf_gen_params),
	{}
};

struct kunit_suite conf_info_suite = {
	.name		= "kofi_conformance_info",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= info_cases,
};
