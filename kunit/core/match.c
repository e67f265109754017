// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_match: does kofi_info_match() compare each attribute the way that
 * its meaning asks for?
 *
 * Attributes with the same meaning share a table, and each case says one thing
 * about all of a table: a limit that is met fits, one that is exceeded does
 * not, and so on.  Attributes with rules of their own have tables of pairs.
 */
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "info.h"

/* Which structure an attribute stands in */
enum where {
	INFO,
	TX,
	RX,
	EP,
	DOMAIN,
	FABRIC,
	DEVICE,
	LINK,
};

struct attr {
	const char	*name;
	enum where	where;
	size_t		offset;
	size_t		size;
};

#define ATTR(where, struct_type, field, type) \
	{ #where " " #field, where, offsetof(struct_type, field), sizeof(type) }
#define INFO(field, type)	ATTR(INFO, struct fi_info, field, type)
#define TX(field, type)		ATTR(TX, struct fi_tx_attr, field, type)
#define RX(field, type)		ATTR(RX, struct fi_rx_attr, field, type)
#define EP(field, type)		ATTR(EP, struct fi_ep_attr, field, type)
#define DOMAIN(field, type)	ATTR(DOMAIN, struct fi_domain_attr, field, type)
#define FABRIC(field, type)	ATTR(FABRIC, struct fi_fabric_attr, field, type)
#define DEVICE(field)		ATTR(DEVICE, struct fi_device_attr, field, char *)
#define LINK(field, type)	ATTR(LINK, struct fi_link_attr, field, type)

struct match {
	struct fi_info	*offer;
	struct fi_info	*hints;
};

static int match_init(struct kunit *test)
{
	struct match *match = vt_buf(test, sizeof(*match));

	match->offer = info_adopt(test, fi_allocinfo());
	match->hints = info_adopt(test, fi_allocinfo());
	info_add_nic(test, match->offer);
	info_add_nic(test, match->hints);
	test->priv = match;
	return 0;
}

static void *attr_at(struct fi_info *info, const struct attr *attr)
{
	void *base[] = {
		[INFO]		= info,
		[TX]		= info->tx_attr,
		[RX]		= info->rx_attr,
		[EP]		= info->ep_attr,
		[DOMAIN]	= info->domain_attr,
		[FABRIC]	= info->fabric_attr,
		[DEVICE]	= info->nic->device_attr,
		[LINK]		= info->nic->link_attr,
	};

	return base[attr->where] + attr->offset;
}

static void attr_set(struct fi_info *info, const struct attr *attr, u64 value)
{
	void *place = attr_at(info, attr);

	if (attr->size == sizeof(u64))
		*(u64 *)place = value;
	else
		*(u32 *)place = value;
}

/* Does the attribute of the case fit, if these values are all there is? */
static bool attr_fits(struct kunit *test, u64 offer, u64 wish)
{
	const struct attr *attr = test->param_value;
	struct match *match = test->priv;

	attr_set(match->offer, attr, offer);
	attr_set(match->hints, attr, wish);
	return kofi_info_match(match->offer, match->hints);
}

static const struct attr limits[] = {
	TX(inject_size, size_t), TX(size, size_t), TX(iov_limit, size_t),
	TX(rma_iov_limit, size_t), RX(total_buffered_recv, size_t),
	RX(size, size_t), RX(iov_limit, size_t), EP(protocol_version, u32),
	EP(max_msg_size, size_t), EP(max_order_raw_size, size_t),
	EP(max_order_war_size, size_t), EP(max_order_waw_size, size_t),
	EP(tx_ctx_cnt, size_t), EP(rx_ctx_cnt, size_t),
	DOMAIN(mr_key_size, size_t), DOMAIN(cq_data_size, size_t),
	DOMAIN(cq_cnt, size_t), DOMAIN(ep_cnt, size_t),
	DOMAIN(tx_ctx_cnt, size_t), DOMAIN(rx_ctx_cnt, size_t),
	DOMAIN(max_ep_tx_ctx, size_t), DOMAIN(max_ep_rx_ctx, size_t),
	DOMAIN(max_ep_stx_ctx, size_t), DOMAIN(max_ep_srx_ctx, size_t),
	DOMAIN(cntr_cnt, size_t), DOMAIN(mr_iov_limit, size_t),
	DOMAIN(max_err_data, size_t), DOMAIN(mr_cnt, size_t),
	DOMAIN(max_ep_auth_key, size_t), DOMAIN(max_group_id, u32),
	FABRIC(prov_version, u32), LINK(mtu, size_t), LINK(speed, size_t),
};

KUNIT_ARRAY_PARAM_DESC(limit, limits, name);

static void a_limit_that_is_met_fits(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, attr_fits(test, 8, 8));
}

static void a_limit_that_is_not_reached_fits(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, attr_fits(test, 8, 7));
	KUNIT_EXPECT_TRUE(test, attr_fits(test, 8, 0));
}

static void a_limit_that_is_exceeded_does_not_fit(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, attr_fits(test, 8, 9));
	KUNIT_EXPECT_FALSE(test, attr_fits(test, 8, U32_MAX));
}

/* Bits whose meaning does not matter, for attributes that are just compared */
static const struct attr sets[] = {
	INFO(caps, u64), TX(caps, u64), TX(op_flags, u64), TX(msg_order, u64),
	TX(comp_order, u64), RX(caps, u64), RX(op_flags, u64),
	RX(msg_order, u64), RX(comp_order, u64), DOMAIN(caps, u64),
};

KUNIT_ARRAY_PARAM_DESC(set, sets, name);

static void bits_that_are_offered_fit(struct kunit *test)
{
	u64 offer = FI_TRIGGER | FI_HMEM;

	KUNIT_EXPECT_TRUE(test, attr_fits(test, offer, offer));
	KUNIT_EXPECT_TRUE(test, attr_fits(test, offer, FI_TRIGGER));
	KUNIT_EXPECT_TRUE(test, attr_fits(test, offer, 0));
}

static void a_bit_that_is_not_offered_does_not_fit(struct kunit *test)
{
	u64 offer = FI_TRIGGER | FI_HMEM;

	KUNIT_EXPECT_FALSE(test, attr_fits(test, offer, offer | BIT_ULL(63)));
	KUNIT_EXPECT_FALSE(test, attr_fits(test, FI_TRIGGER, FI_HMEM));
	KUNIT_EXPECT_FALSE(test, attr_fits(test, 0, FI_HMEM));
}

static const struct attr modes[] = {
	INFO(mode, u64), TX(mode, u64), RX(mode, u64), DOMAIN(mode, u64),
	DOMAIN(mr_mode, int),
};

KUNIT_ARRAY_PARAM_DESC(mode, modes, name);

static void modes_that_the_client_follows_fit(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, attr_fits(test, FI_MR_LOCAL, FI_MR_LOCAL));
	KUNIT_EXPECT_TRUE(test, attr_fits(test, FI_MR_LOCAL, FI_MR_LOCAL | FI_MR_ALLOCATED));
	KUNIT_EXPECT_TRUE(test, attr_fits(test, 0, FI_MR_LOCAL));
}

static void a_mode_that_the_client_does_not_follow_does_not_fit(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, attr_fits(test, FI_MR_LOCAL | FI_MR_ALLOCATED, FI_MR_LOCAL));
	KUNIT_EXPECT_FALSE(test, attr_fits(test, FI_MR_LOCAL, 0));
}

static void modes_of_the_info_hold_for_its_parts(struct kunit *test)
{
	struct match *match = test->priv;

	match->hints->mode = FI_CONTEXT;
	match->offer->tx_attr->mode = FI_CONTEXT;
	match->offer->rx_attr->mode = FI_CONTEXT;
	match->offer->domain_attr->mode = FI_CONTEXT;
	KUNIT_EXPECT_TRUE(test, kofi_info_match(match->offer, match->hints));
}

static const struct attr choices[] = {
	TX(tclass, u32), EP(type, enum fi_ep_type), EP(protocol, u32),
	EP(auth_key_size, size_t), DOMAIN(auth_key_size, size_t),
	DOMAIN(tclass, u32), LINK(state, enum fi_link_state),
};

KUNIT_ARRAY_PARAM_DESC(choice, choices, name);

static void the_same_choice_fits(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, attr_fits(test, 2, 2));
	KUNIT_EXPECT_TRUE(test, attr_fits(test, 2, 0));
}

static void another_choice_does_not_fit(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, attr_fits(test, 2, 1));
	KUNIT_EXPECT_FALSE(test, attr_fits(test, 2, 3));
	KUNIT_EXPECT_FALSE(test, attr_fits(test, 0, 2));
}

static const struct attr strings[] = {
	DOMAIN(name, char *), FABRIC(name, char *), FABRIC(prov_name, char *),
	DEVICE(name), DEVICE(device_id), DEVICE(device_version),
	DEVICE(vendor_id), DEVICE(driver), DEVICE(firmware),
	LINK(address, char *), LINK(network_type, char *),
};

KUNIT_ARRAY_PARAM_DESC(string, strings, name);

static bool string_fits(struct kunit *test, const char *offer, const char *wish)
{
	struct match *match = test->priv;

	core_set_string(test, attr_at(match->offer, test->param_value), offer);
	core_set_string(test, attr_at(match->hints, test->param_value), wish);
	return kofi_info_match(match->offer, match->hints);
}

static void the_same_string_fits(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, string_fits(test, "rxe0", "rxe0"));
}

static void another_string_does_not_fit(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, string_fits(test, "rxe0", "rxe1"));
	KUNIT_EXPECT_FALSE(test, string_fits(test, "rxe0", "rxe"));
	KUNIT_EXPECT_FALSE(test, string_fits(test, "rxe0", "rxe01"));
	KUNIT_EXPECT_FALSE(test, string_fits(test, "rxe0", ""));
}

/* Attributes with rules of their own; @attr stands first for attr_fits() */
struct pair {
	struct attr	attr;
	u64		offer;
	u64		wish;
	bool		fits;
};

#define THREADING	DOMAIN(threading, int)
#define CONTROL		DOMAIN(control_progress, int)
#define DATA		DOMAIN(data_progress, int)

static const struct pair pairs[] = {
	/* the client may promise more than the provider needs */
	{ THREADING, FI_THREAD_SAFE, FI_THREAD_SAFE, true },
	{ THREADING, FI_THREAD_SAFE, FI_THREAD_FID, true },
	{ THREADING, FI_THREAD_SAFE, FI_THREAD_DOMAIN, true },
	{ THREADING, FI_THREAD_FID, FI_THREAD_ENDPOINT, true },
	{ THREADING, FI_THREAD_ENDPOINT, FI_THREAD_COMPLETION, true },
	{ THREADING, FI_THREAD_COMPLETION, FI_THREAD_DOMAIN, true },
	{ THREADING, FI_THREAD_DOMAIN, FI_THREAD_UNSPEC, true },
	{ THREADING, FI_THREAD_FID, FI_THREAD_SAFE, false },
	{ THREADING, FI_THREAD_ENDPOINT, FI_THREAD_FID, false },
	{ THREADING, FI_THREAD_COMPLETION, FI_THREAD_ENDPOINT, false },
	{ THREADING, FI_THREAD_DOMAIN, FI_THREAD_COMPLETION, false },
	{ THREADING, FI_THREAD_UNSPEC, FI_THREAD_DOMAIN, false },
	{ THREADING, FI_THREAD_SAFE, 99, false },
	{ THREADING, FI_THREAD_SAFE, U32_MAX, false },
	{ THREADING, 99, FI_THREAD_DOMAIN, false },
	{ CONTROL, FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL, true },
	{ CONTROL, FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO, false },
	{ DATA, FI_PROGRESS_AUTO, FI_PROGRESS_AUTO, true },
	{ DATA, FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL, true },
	{ DATA, FI_PROGRESS_MANUAL, FI_PROGRESS_CONTROL_UNIFIED, true },
	{ DATA, FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO, false },
	{ DATA, FI_PROGRESS_AUTO, 99, false },
	{ DOMAIN(resource_mgmt, int), FI_RM_ENABLED, FI_RM_ENABLED, true },
	{ DOMAIN(resource_mgmt, int), FI_RM_ENABLED, FI_RM_DISABLED, true },
	{ DOMAIN(resource_mgmt, int), FI_RM_DISABLED, FI_RM_ENABLED, false },
	{ DOMAIN(resource_mgmt, int), FI_RM_ENABLED, 99, false },
	/* a provider that leaves it open takes either */
	{ DOMAIN(av_type, int), FI_AV_TABLE, FI_AV_TABLE, true },
	{ DOMAIN(av_type, int), FI_AV_UNSPEC, FI_AV_MAP, true },
	{ DOMAIN(av_type, int), FI_AV_TABLE, FI_AV_MAP, false },
	/* bits of a tag count, not their values */
	{ EP(mem_tag_format, u64), 0x5555, 0x7fff, true },
	{ EP(mem_tag_format, u64), 0x5555, 0x8000, false },
	{ EP(mem_tag_format, u64), U64_MAX, U64_MAX, true },
	/* room that the client leaves */
	{ EP(msg_prefix_size, size_t), 16, 16, true },
	{ EP(msg_prefix_size, size_t), 16, 24, true },
	{ EP(msg_prefix_size, size_t), 16, 8, false },
	{ EP(msg_prefix_size, size_t), 16, 0, true },
	/* nobody shares unless both say so */
	{ EP(tx_ctx_cnt, size_t), 1, FI_SHARED_CONTEXT, false },
	{ EP(rx_ctx_cnt, size_t), 1, FI_SHARED_CONTEXT, false },
	{ EP(rx_ctx_cnt, size_t), FI_SHARED_CONTEXT, 1, false },
	{ EP(rx_ctx_cnt, size_t), FI_SHARED_CONTEXT, 0, false },
	/* the oldest API that the client can live with */
	{ FABRIC(api_version, u32), FI_VERSION(2, 1), FI_VERSION(2, 1), true },
	{ FABRIC(api_version, u32), FI_VERSION(2, 0), FI_VERSION(2, 1), true },
	{ FABRIC(api_version, u32), FI_VERSION(2, 1), FI_VERSION(2, 0), false },
	/* capabilities without a direction mean all directions */
	{ INFO(caps, u64), FI_MSG, FI_MSG | FI_SEND, true },
	{ INFO(caps, u64), FI_MSG | FI_SEND | FI_RECV, FI_MSG, true },
	{ INFO(caps, u64), FI_MSG | FI_SEND, FI_MSG, false },
	{ INFO(caps, u64), FI_TAGGED, FI_TAGGED | FI_SEND, true },
	{ INFO(caps, u64), FI_TAGGED | FI_SEND, FI_TAGGED, false },
	{ INFO(caps, u64), FI_ATOMIC, FI_ATOMIC | FI_READ, true },
	{ INFO(caps, u64), FI_ATOMIC | FI_READ, FI_ATOMIC, false },
	{ INFO(caps, u64), FI_MSG | FI_SEND, FI_MSG | FI_SEND, true },
	{ INFO(caps, u64), FI_RMA, FI_RMA | FI_REMOTE_READ, true },
	{ INFO(caps, u64), FI_RMA | FI_READ | FI_WRITE, FI_RMA, false },
	{ INFO(caps, u64), FI_RMA | FI_READ | FI_WRITE, FI_RMA | FI_READ,
	  true },
	/* bits of the other side are not looked at */
	{ TX(caps, u64), FI_MSG | FI_SEND, FI_MSG | FI_SEND | FI_RECV, true },
	{ TX(caps, u64), FI_MSG | FI_SEND, FI_MSG | FI_MULTI_RECV, true },
	{ TX(caps, u64), FI_MSG | FI_SEND, FI_TAGGED, false },
	{ RX(caps, u64), FI_MSG | FI_RECV, FI_MSG | FI_SEND | FI_RECV, true },
	{ RX(caps, u64), FI_MSG | FI_RECV, FI_MSG | FI_FENCE, true },
	{ RX(caps, u64), FI_MSG | FI_RECV, FI_MSG | FI_MULTI_RECV, false },
	{ INFO(addr_format, u32), FI_SOCKADDR_IN, FI_SOCKADDR, true },
	{ INFO(addr_format, u32), FI_SOCKADDR_IB, FI_SOCKADDR, true },
	{ INFO(addr_format, u32), FI_SOCKADDR, FI_SOCKADDR_IN6, true },
	{ INFO(addr_format, u32), FI_SOCKADDR_IN, FI_SOCKADDR_IN, true },
	{ INFO(addr_format, u32), FI_SOCKADDR_IN, FI_SOCKADDR_IN6, false },
	{ INFO(addr_format, u32), FI_SOCKADDR_IN, FI_FORMAT_UNSPEC, true },
	{ INFO(addr_format, u32), FI_SOCKADDR, FI_ADDR_STR, false },
	{ INFO(addr_format, u32), FI_ADDR_STR, FI_SOCKADDR, false },
	{ INFO(addr_format, u32), FI_FORMAT_UNSPEC, FI_SOCKADDR, false },
};

static void pair_desc(const struct pair *pair, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %#llx offered %#llx wanted",
		 pair->attr.name, pair->offer, pair->wish);
}

KUNIT_ARRAY_PARAM(pair, pairs, pair_desc);

static void an_attribute_follows_its_own_rule(struct kunit *test)
{
	const struct pair *pair = test->param_value;

	KUNIT_EXPECT_EQ(test, attr_fits(test, pair->offer, pair->wish), pair->fits);
}

/* What a client with these capabilities must follow of a target's modes */
static const struct {
	u64	caps;
	int	offer;
	int	wish;
	bool	fits;
} mr_modes[] = {
	{ FI_RMA, FI_MR_PROV_KEY, FI_MR_PROV_KEY, true },
	{ FI_RMA, FI_MR_PROV_KEY | FI_MR_VIRT_ADDR, FI_MR_PROV_KEY, false },
	{ FI_RMA, FI_MR_PROV_KEY, 0, false },
	{ FI_ATOMIC, FI_MR_VIRT_ADDR, 0, false },
	{ FI_RMA | FI_REMOTE_READ, FI_MR_RAW, 0, false },
	{ FI_RMA | FI_READ | FI_WRITE, FI_MR_PROV_KEY, 0, true },
	{ FI_MSG, FI_MR_PROV_KEY | FI_MR_VIRT_ADDR, 0, true },
	{ FI_MSG, FI_MR_PROV_KEY | FI_MR_ENDPOINT, 0, true },
	{ 0, FI_MR_PROV_KEY | FI_MR_VIRT_ADDR, 0, true },
	{ FI_MSG, FI_MR_LOCAL | FI_MR_PROV_KEY, FI_MR_LOCAL, true },
	{ FI_MSG, FI_MR_LOCAL | FI_MR_PROV_KEY, FI_MR_PROV_KEY, false },
	{ FI_MSG, FI_MR_LOCAL | FI_MR_ENDPOINT, FI_MR_LOCAL, false },
	{ FI_MSG, FI_MR_HMEM, 0, true },
	{ FI_MSG | FI_HMEM, FI_MR_HMEM, 0, false },
	{ FI_MSG | FI_HMEM, FI_MR_HMEM, FI_MR_HMEM, true },
	{ FI_COLLECTIVE, FI_MR_COLLECTIVE, 0, false },
	{ FI_MSG, FI_MR_COLLECTIVE, 0, true },
};

static void registration_modes_are_due_only_where_they_matter(struct kunit *test)
{
	struct match *match = test->priv;
	size_t i;

	match->offer->caps = U64_MAX;
	for (i = 0; i < ARRAY_SIZE(mr_modes); i++) {
		match->hints->caps = mr_modes[i].caps;
		match->hints->domain_attr->mr_mode = mr_modes[i].wish;
		match->offer->domain_attr->mr_mode = mr_modes[i].offer;
		KUNIT_EXPECT_EQ_MSG(test, mr_modes[i].fits,
				    kofi_info_match(match->offer, match->hints),
				    "line %zu", i);
	}
}

static void contexts_are_shared_if_the_domain_has_shared_ones(struct kunit *test)
{
	struct match *match = test->priv;

	match->offer->domain_attr->max_ep_srx_ctx = 1;
	match->hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	KUNIT_EXPECT_TRUE(test, kofi_info_match(match->offer, match->hints));

	match->hints->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
	KUNIT_EXPECT_FALSE(test, kofi_info_match(match->offer, match->hints));
}

static const struct {
	const char	*wish;
	bool		fits;
} prov_names[] = {
	{ "verbs", true }, { "^tcp", true }, { "^tcp;^rxm", true },
	{ "^verbs2", true }, { "^verb", true }, { "tcp", false },
	{ "^verbs", false }, { "^tcp;^verbs", false }, { "^verbs;^tcp", false },
	{ "verbs;tcp", false }, { "^", true }, { "^;^verbs", false },
};

static void a_provider_is_named_or_denied(struct kunit *test)
{
	struct match *match = test->priv;
	size_t i;

	core_set_string(test, &match->offer->fabric_attr->prov_name, "verbs");
	for (i = 0; i < ARRAY_SIZE(prov_names); i++) {
		core_set_string(test, &match->hints->fabric_attr->prov_name, prov_names[i].wish);
		KUNIT_EXPECT_EQ_MSG(test, prov_names[i].fits,
				    kofi_info_match(match->offer, match->hints),
				    "%s", prov_names[i].wish);
	}
}

static const struct {
	const char	*offer;
	int		offer_port;
	const char	*wish;
	int		wish_port;
	bool		fits;
} addrs[] = {
	{ "10.0.0.1", 5, "10.0.0.1", 5, true },
	{ "10.0.0.1", 5, "10.0.0.1", 0, true },
	{ "10.0.0.1", 5, "0.0.0.0", 5, true },
	{ "10.0.0.1", 5, "10.0.0.2", 5, false },
	{ "10.0.0.1", 5, "10.0.0.1", 6, false },
	{ "10.0.0.1", 5, "0.0.0.0", 6, false },
	{ "0.0.0.0", 5, "10.0.0.1", 5, false },
	{ "10.0.0.1", 5, "::ffff:10.0.0.1", 5, false },
	{ "fd77::1", 5, "fd77::1", 5, true },
	{ "fd77::1", 5, "::", 0, true },
	{ "fd77::1", 5, "fd77::2", 5, false },
	{ "fd77::1", 5, "fd77::1", 6, false },
	{ "fd77::1", 5, "0.0.0.0", 5, false },
	{ "fe80::1%7", 5, "fe80::1%7", 5, true },
	{ "fe80::1%7", 5, "fe80::1", 5, true },
	{ "fe80::1%7", 5, "fe80::1%8", 5, false },
};

static void addresses_fit_but_for_their_wildcards(struct kunit *test)
{
	struct match *match = test->priv;
	struct fi_info *offer = match->offer, *hints = match->hints;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(addrs); i++) {
		info_set_addr(test, &offer->src_addr, &offer->src_addrlen,
			      addrs[i].offer, addrs[i].offer_port);
		info_set_addr(test, &hints->src_addr, &hints->src_addrlen,
			      addrs[i].wish, addrs[i].wish_port);
		KUNIT_EXPECT_EQ_MSG(test, addrs[i].fits,
				    kofi_info_match(offer, hints),
				    "%s offered, %s wanted", addrs[i].offer,
				    addrs[i].wish);
	}
}

static void a_wish_for_an_address_needs_one(struct kunit *test)
{
	struct match *match = test->priv;
	struct fi_info *hints = match->hints;

	info_set_addr(test, &hints->dest_addr, &hints->dest_addrlen, "::1", 5);
	KUNIT_EXPECT_FALSE(test, kofi_info_match(match->offer, hints));
}

static void the_family_of_an_address_settles_its_format(struct kunit *test)
{
	struct match *match = test->priv;
	struct fi_info *offer = match->offer;

	offer->addr_format = FI_SOCKADDR;
	info_set_addr(test, &offer->src_addr, &offer->src_addrlen, "10.0.0.1", 0);
	match->hints->addr_format = FI_SOCKADDR_IN;
	KUNIT_EXPECT_TRUE(test, kofi_info_match(offer, match->hints));
	match->hints->addr_format = FI_SOCKADDR_IN6;
	KUNIT_EXPECT_FALSE(test, kofi_info_match(offer, match->hints));
	/* That of the peer if there is no other */
	swap(offer->src_addr, offer->dest_addr);
	swap(offer->src_addrlen, offer->dest_addrlen);
	KUNIT_EXPECT_FALSE(test, kofi_info_match(offer, match->hints));
	match->hints->addr_format = FI_SOCKADDR_IN;
	KUNIT_EXPECT_TRUE(test, kofi_info_match(offer, match->hints));
}

static void a_device_is_found_by_its_place_on_the_bus(struct kunit *test)
{
	struct match *match = test->priv;
	struct fi_bus_attr *offer = match->offer->nic->bus_attr;
	struct fi_bus_attr *wish = match->hints->nic->bus_attr;

	offer->bus_type = FI_BUS_PCI;
	offer->attr.pci.device_id = 3;
	*wish = *offer;
	KUNIT_EXPECT_TRUE(test, kofi_info_match(match->offer, match->hints));
	wish->attr.pci.function_id = 1;
	KUNIT_EXPECT_FALSE(test, kofi_info_match(match->offer, match->hints));
}

static void no_hints_fit_anything(struct kunit *test)
{
	struct match *match = test->priv;

	match->offer->mode = FI_CONTEXT;
	KUNIT_EXPECT_TRUE(test, kofi_info_match(match->offer, NULL));
}

static void hints_without_attributes_wish_nothing(struct kunit *test)
{
	struct fi_info hints = { .mode = FI_CONTEXT };

	KUNIT_EXPECT_TRUE(test, kofi_info_match(info_full(test), &hints));
	KUNIT_EXPECT_TRUE(test, kofi_info_match(&hints, &hints));
}

static void a_wish_for_a_missing_structure_does_not_fit(struct kunit *test)
{
	struct fi_info offer = {};
	struct fi_tx_attr tx = { .size = 1 };
	struct fid_nic nic = {};

	KUNIT_EXPECT_FALSE(test, kofi_info_match(&offer, &(struct fi_info) {
						 .tx_attr = &tx }));
	KUNIT_EXPECT_FALSE(test, kofi_info_match(&offer, &(struct fi_info) {
						 .nic = &nic }));
}

static void a_full_info_fits_itself(struct kunit *test)
{
	struct fi_info *info = info_full(test);

	KUNIT_EXPECT_TRUE(test, kofi_info_match(info, info));
}

static struct kunit_case match_cases[] = {
	KUNIT_CASE_PARAM(a_limit_that_is_met_fits, limit_gen_params),
	KUNIT_CASE_PARAM(a_limit_that_is_not_reached_fits, limit_gen_params),
	KUNIT_CASE_PARAM(a_limit_that_is_exceeded_does_not_fit, limit_gen_params),
	KUNIT_CASE_PARAM(bits_that_are_offered_fit, set_gen_params),
	KUNIT_CASE_PARAM(a_bit_that_is_not_offered_does_not_fit, set_gen_params),
	KUNIT_CASE_PARAM(modes_that_the_client_follows_fit, mode_gen_params),
	KUNIT_CASE_PARAM(a_mode_that_the_client_does_not_follow_does_not_fit, mode_gen_params),
	KUNIT_CASE(modes_of_the_info_hold_for_its_parts),
	KUNIT_CASE_PARAM(the_same_choice_fits, choice_gen_params),
	KUNIT_CASE_PARAM(another_choice_does_not_fit, choice_gen_params),
	KUNIT_CASE_PARAM(the_same_string_fits, string_gen_params),
	KUNIT_CASE_PARAM(another_string_does_not_fit, string_gen_params),
	KUNIT_CASE_PARAM(an_attribute_follows_its_own_rule, pair_gen_params),
	KUNIT_CASE(registration_modes_are_due_only_where_they_matter),
	KUNIT_CASE(contexts_are_shared_if_the_domain_has_shared_ones),
	KUNIT_CASE(a_provider_is_named_or_denied),
	KUNIT_CASE(addresses_fit_but_for_their_wildcards),
	KUNIT_CASE(a_wish_for_an_address_needs_one),
	KUNIT_CASE(the_family_of_an_address_settles_its_format),
	KUNIT_CASE(a_device_is_found_by_its_place_on_the_bus),
	KUNIT_CASE(no_hints_fit_anything),
	KUNIT_CASE(hints_without_attributes_wish_nothing),
	KUNIT_CASE(a_wish_for_a_missing_structure_does_not_fit),
	KUNIT_CASE(a_full_info_fits_itself),
	{}
};

struct kunit_suite kofi_match_suite = {
	.name		= "kofi_match",
	.init		= match_init,
	.test_cases	= match_cases,
};
