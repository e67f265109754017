// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How each field of the hints is compared with that of an info.
 *
 * The kinds of comparison:
 *
 *	is_subset	bits asked for must all be offered (caps, order, flags)
 *	is_followed	bits that the provider asks of the client (modes) must
 *			all be among those that the client says it can follow
 *	at_most		a size or a number up to the provider's limit
 *	is_equal	one of several: protocol, format, type
 *	*_fits		a field with a meaning of its own
 *
 * A wish of zero is no wish and fits anything, except for modes: zero says that
 * the client can follow none.  The mode of a part (tx_attr and so on) that is zero is that
 * of the hints.  A missing attribute structure is no wish for all
 * of its fields, modes included.
 *
 * kofi_rules[] has a line for each field, in the order in which fields are
 * compared.
 *
 * One difference from libfabric: a client that asks to be the target of RMA
 * must offer the mr_mode bits that its provider needs for that, or nothing
 * fits.  libfabric drops the capability without a word.
 *
 * Works on its arguments only.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <net/net_namespace.h>
#include "info.h"
#include "rules.h"
#include "tostr.h"

static bool is_subset(struct kofi_pair *pair)
{
	pair->is_set = true;
	pair->wish &= ~pair->offer;
	return !pair->wish;
}

static bool is_followed(struct kofi_pair *pair)
{
	static const char *const verbs[] = { "followed", "needed" };

	pair->verbs = verbs;
	pair->offer &= ~pair->wish;
	return !pair->offer;
}

static bool at_most(struct kofi_pair *pair)
{
	return pair->wish <= pair->offer;
}

static bool is_equal(struct kofi_pair *pair)
{
	return !pair->wish || pair->wish == pair->offer;
}

static bool is_string(struct kofi_pair *pair)
{
	const char *wish = *(const char *const *)pair->wish_at;
	const char *offer = *(const char *const *)pair->offer_at;

	return !wish || (offer && !strcmp(wish, offer));
}

/* A value of rank 0 is unspecified or does not exist */
static bool is_ranked(const struct kofi_pair *pair, const u8 *rank,
		      size_t ranks)
{
	if (!pair->wish)
		return true;
	return pair->wish < ranks && pair->offer < ranks &&
	       rank[pair->offer] && rank[pair->wish] >= rank[pair->offer];
}

/* Models in order, from the one that is easiest for the client */
static bool threading_fits(struct kofi_pair *pair)
{
	static const u8 rank[] = {
		[FI_THREAD_SAFE]	= 1,
		[FI_THREAD_FID]		= 2,
		[FI_THREAD_ENDPOINT]	= 3,
		[FI_THREAD_COMPLETION]	= 4,
		[FI_THREAD_DOMAIN]	= 5,
	};

	return is_ranked(pair, rank, ARRAY_SIZE(rank));
}

static bool progress_fits(struct kofi_pair *pair)
{
	static const u8 rank[] = {
		[FI_PROGRESS_AUTO]		= 1,
		[FI_PROGRESS_MANUAL]		= 2,
		[FI_PROGRESS_CONTROL_UNIFIED]	= 3,
	};

	return is_ranked(pair, rank, ARRAY_SIZE(rank));
}

static bool resource_mgmt_fits(struct kofi_pair *pair)
{
	static const u8 rank[] = {
		[FI_RM_ENABLED]		= 1,
		[FI_RM_DISABLED]	= 2,
	};

	return is_ranked(pair, rank, ARRAY_SIZE(rank));
}

u32 kofi_mr_mode_needed(u64 caps, u32 mr_mode)
{
	if (!(caps & FI_HMEM))
		mr_mode &= ~FI_MR_HMEM;
	if (!(caps & FI_COLLECTIVE))
		mr_mode &= ~FI_MR_COLLECTIVE;
	if (kofi_caps_expand(caps) & KOFI_TARGET_DIRECTIONS)
		return mr_mode;

	/* A client that needs no registration need not say how it registers */
	if (!(mr_mode & (FI_MR_LOCAL | FI_MR_HMEM | FI_MR_COLLECTIVE)))
		return 0;
	return mr_mode & ~KOFI_TARGET_MR_MODES;
}

static bool caps_fit(struct kofi_pair *pair)
{
	pair->wish = kofi_caps_expand(pair->wish);
	pair->offer = kofi_caps_expand(pair->offer);
	return is_subset(pair);
}

static bool tx_caps_fit(struct kofi_pair *pair)
{
	pair->wish = kofi_caps_expand(pair->wish) & ~KOFI_RX_ONLY_CAPS;
	pair->offer = kofi_caps_expand(pair->offer);
	return is_subset(pair);
}

static bool rx_caps_fit(struct kofi_pair *pair)
{
	pair->wish = kofi_caps_expand(pair->wish) & ~KOFI_TX_ONLY_CAPS;
	pair->offer = kofi_caps_expand(pair->offer);
	return is_subset(pair);
}

/* A part without a mode of its own has the mode of the hints */
static bool part_mode_fits(struct kofi_pair *pair)
{
	pair->wish = pair->wish ?: pair->hints->mode;
	return is_followed(pair);
}

static bool mr_mode_fits(struct kofi_pair *pair)
{
	pair->offer = kofi_mr_mode_needed(pair->hints->caps, pair->offer);
	return is_followed(pair);
}

/* The provider asks something of the client; the wish is the most that the client accepts */
static bool reverse_fits(struct kofi_pair *pair)
{
	return !pair->wish || pair->offer <= pair->wish;
}

/* A limit of 0 is unspecified, and fits any wish */
static bool known_limit_fits(struct kofi_pair *pair)
{
	return !pair->offer || at_most(pair);
}

/* A read or a write without a limit of its own has iov_limit */
static bool rma_iov_limit_fits(struct kofi_pair *pair)
{
	if (!pair->offer)
		pair->offer = pair->hints->tx_attr->iov_limit ?:
			      pair->info->tx_attr->iov_limit;
	return at_most(pair);
}

/* A node of 0 or less may be an unset field, so it is no wish */
static bool numa_node_fits(struct kofi_pair *pair)
{
	return (int)pair->wish <= 0 || is_equal(pair);
}

/* The number of bits counts, not the value */
static bool tag_format_fits(struct kofi_pair *pair)
{
	return fls64(pair->wish) <= fls64(pair->offer);
}

/* Contexts: a number of its own, or the wish to share */
static bool ctx_cnt_fits(const struct kofi_pair *pair, size_t max_own,
			 size_t max_shared)
{
	if (pair->wish == FI_SHARED_CONTEXT)
		return max_shared;
	if (pair->offer == FI_SHARED_CONTEXT)
		return pair->wish && pair->wish <= max_own;
	return pair->wish <= max_t(u64, max_own, pair->offer);
}

static const struct fi_domain_attr *domain_of(const struct kofi_pair *pair)
{
	static const struct fi_domain_attr none;

	return pair->info->domain_attr ?: &none;
}

static bool tx_ctx_cnt_fits(struct kofi_pair *pair)
{
	const struct fi_domain_attr *domain = domain_of(pair);

	return ctx_cnt_fits(pair, domain->max_ep_tx_ctx,
			    domain->max_ep_stx_ctx);
}

static bool rx_ctx_cnt_fits(struct kofi_pair *pair)
{
	const struct fi_domain_attr *domain = domain_of(pair);

	return ctx_cnt_fits(pair, domain->max_ep_rx_ctx,
			    domain->max_ep_srx_ctx);
}

/* A provider whose type is 0 takes either type */
static bool av_type_fits(struct kofi_pair *pair)
{
	return !pair->offer || is_equal(pair);
}

/* The core sets the name, so it may be missing when a provider calls kofi_info_match() */
static bool prov_name_fits(struct kofi_pair *pair)
{
	const char *offer = *(const char *const *)pair->offer_at;

	return !offer ||
	       kofi_prov_name_fits(*(const char *const *)pair->wish_at, offer);
}

static bool prov_version_fits(struct kofi_pair *pair)
{
	return !pair->offer || at_most(pair);
}

/* The wish is the newest API that the client can use */
static bool api_version_fits(struct kofi_pair *pair)
{
	return !pair->wish || pair->offer <= pair->wish;
}

static bool net_fits(struct kofi_pair *pair)
{
	const struct net *wish = *(const struct net *const *)pair->wish_at;
	const struct net *offer = *(const struct net *const *)pair->offer_at;

	return !wish || !offer || wish == offer;
}

/* As in /proc/PID/ns/net */
static void net_tostr(const struct fi_info *info, char *buf, size_t len)
{
	snprintf(buf, len, "net:[%u]", info->fabric_attr->net->ns.inum);
}

static bool pci_fits(struct kofi_pair *pair)
{
	const struct fi_bus_attr *wish = pair->wish_at;
	const struct fi_bus_attr *offer = pair->offer_at;
	const struct fi_pci_attr *theirs = &offer->attr.pci;
	const struct fi_pci_attr *ours = &wish->attr.pci;

	if (wish->bus_type != FI_BUS_PCI)
		return wish->bus_type == FI_BUS_UNSPEC ||
		       wish->bus_type == offer->bus_type;
	return offer->bus_type == FI_BUS_PCI &&
	       ours->domain_id == theirs->domain_id &&
	       ours->bus_id == theirs->bus_id &&
	       ours->device_id == theirs->device_id &&
	       ours->function_id == theirs->function_id;
}

static bool ipv4_fits(const struct sockaddr_in *wish,
		      const struct sockaddr_in *offer)
{
	return (wish->sin_addr.s_addr == htonl(INADDR_ANY) ||
		wish->sin_addr.s_addr == offer->sin_addr.s_addr) &&
	       (!wish->sin_port || wish->sin_port == offer->sin_port);
}

static bool ipv6_fits(const struct sockaddr_in6 *wish,
		      const struct sockaddr_in6 *offer)
{
	return (!memchr_inv(&wish->sin6_addr, 0, sizeof(wish->sin6_addr)) ||
		!memcmp(&wish->sin6_addr, &offer->sin6_addr,
			sizeof(wish->sin6_addr))) &&
	       (!wish->sin6_port || wish->sin6_port == offer->sin6_port) &&
	       (!wish->sin6_scope_id ||
		wish->sin6_scope_id == offer->sin6_scope_id);
}

/* The wildcard address matches any address, and port 0 any port */
static bool addr_fits(const void *wish, size_t wish_len, const void *offer,
		      size_t offer_len)
{
	sa_family_t family;

	if (!wish)
		return true;
	if (!offer)
		return false;

	family = kofi_ip_family(wish, wish_len);
	if (family != kofi_ip_family(offer, offer_len))
		return false;
	if (family == AF_INET)
		return ipv4_fits(wish, offer);
	if (family == AF_INET6)
		return ipv6_fits(wish, offer);
	return wish_len == offer_len && !memcmp(wish, offer, wish_len);
}

static bool src_addr_fits(struct kofi_pair *pair)
{
	return addr_fits(pair->hints->src_addr, pair->hints->src_addrlen,
			 pair->info->src_addr, pair->info->src_addrlen);
}

static void src_addr_tostr(const struct fi_info *info, char *buf, size_t len)
{
	kofi_addr_tostr(info->src_addr, info->src_addrlen, buf, len);
}

static bool dest_addr_fits(struct kofi_pair *pair)
{
	return addr_fits(pair->hints->dest_addr, pair->hints->dest_addrlen,
			 pair->info->dest_addr, pair->info->dest_addrlen);
}

static void dest_addr_tostr(const struct fi_info *info, char *buf, size_t len)
{
	kofi_addr_tostr(info->dest_addr, info->dest_addrlen, buf, len);
}

/* Format of an address that may be of any socket family */
static u32 addr_format_of(const void *addr, size_t len)
{
	switch (kofi_ip_family(addr, len)) {
	case AF_INET:
		return FI_SOCKADDR_IN;
	case AF_INET6:
		return FI_SOCKADDR_IN6;
	default:
		return FI_SOCKADDR;
	}
}

static bool is_ip_format(u32 format)
{
	return format == FI_SOCKADDR_IN || format == FI_SOCKADDR_IN6 ||
	       format == FI_SOCKADDR_IP;
}

static bool is_socket_format(u32 format)
{
	return format == FI_SOCKADDR || format == FI_SOCKADDR_IB ||
	       is_ip_format(format);
}

static bool addr_format_fits(struct kofi_pair *pair)
{
	const struct fi_info *info = pair->info;
	bool several = pair->offer == FI_SOCKADDR ||
		       pair->offer == FI_SOCKADDR_IP;

	if (!pair->wish)
		return true;
	/* If the format allows several families, an address of the info decides which */
	if (several && info->src_addr)
		pair->offer = addr_format_of(info->src_addr, info->src_addrlen);
	else if (several && info->dest_addr)
		pair->offer = addr_format_of(info->dest_addr,
					     info->dest_addrlen);

	if (pair->wish == FI_SOCKADDR || pair->offer == FI_SOCKADDR)
		return is_socket_format(pair->wish) &&
		       is_socket_format(pair->offer);
	if (pair->wish == FI_SOCKADDR_IP || pair->offer == FI_SOCKADDR_IP)
		return is_ip_format(pair->wish) && is_ip_format(pair->offer);
	return is_equal(pair);
}

#define RULE(_prefix, _part, _struct, _member, _fits, _type, _apply)	\
	{								\
		.field = _prefix #_member,				\
		.part = _part,						\
		.offset = offsetof(_struct, _member),			\
		.fits = _fits,						\
		.type = _type,						\
		.apply = _apply,					\
	}
/* The part itself, in front of its fields */
#define WHOLE(_field, _part)	{ .field = _field, .part = _part }

#define INFO(...)	RULE("", PART_INFO, struct fi_info, __VA_ARGS__)
#define TX(...)		RULE("tx_attr->", PART_TX, struct fi_tx_attr, __VA_ARGS__)
#define RX(...)		RULE("rx_attr->", PART_RX, struct fi_rx_attr, __VA_ARGS__)
#define EP(...)		RULE("ep_attr->", PART_EP, struct fi_ep_attr, __VA_ARGS__)
#define DOMAIN(...)	RULE("domain_attr->", PART_DOMAIN, struct fi_domain_attr, \
			     __VA_ARGS__)
#define FABRIC(...)	RULE("fabric_attr->", PART_FABRIC, struct fi_fabric_attr, \
			     __VA_ARGS__)
#define DEVICE(member)	RULE("nic->device_attr->", PART_DEVICE,		\
			     struct fi_device_attr, member, is_string,	\
			     TYPE_STRING, KEEP)
#define LINK(...)	RULE("nic->link_attr->", PART_LINK, struct fi_link_attr, \
			     __VA_ARGS__)

const struct kofi_rule kofi_rules[] = {
	INFO(caps, caps_fit, FI_TYPE_CAPS, KEEP),
	INFO(mode, is_followed, FI_TYPE_MODE, KEEP),
	INFO(addr_format, addr_format_fits, FI_TYPE_ADDR_FORMAT, KEEP),
	{ "src_addr", src_addr_fits, src_addr_tostr },
	{ "dest_addr", dest_addr_fits, dest_addr_tostr },

	WHOLE("tx_attr", PART_TX),
	TX(caps, tx_caps_fit, FI_TYPE_CAPS, KEEP),
	TX(mode, part_mode_fits, FI_TYPE_MODE, KEEP),
	TX(op_flags, is_subset, FI_TYPE_OP_FLAGS, ONLY),
	TX(msg_order, is_subset, FI_TYPE_MSG_ORDER, KEEP),
	TX(comp_order, is_subset, FI_TYPE_MSG_ORDER, KEEP),
	TX(inject_size, at_most, TYPE_SIZE, TAKE),
	TX(size, at_most, TYPE_SIZE, TAKE),
	TX(iov_limit, at_most, TYPE_SIZE, TAKE),
	TX(rma_iov_limit, at_most, TYPE_SIZE, TAKE),
	TX(tclass, is_equal, TYPE_TCLASS, KEEP),
	TX(rma_read_iov_limit, rma_iov_limit_fits, TYPE_SIZE, KEEP),
	TX(rma_write_iov_limit, rma_iov_limit_fits, TYPE_SIZE, KEEP),

	WHOLE("rx_attr", PART_RX),
	RX(caps, rx_caps_fit, FI_TYPE_CAPS, KEEP),
	RX(mode, part_mode_fits, FI_TYPE_MODE, KEEP),
	RX(op_flags, is_subset, FI_TYPE_OP_FLAGS, ONLY),
	RX(msg_order, is_subset, FI_TYPE_MSG_ORDER, KEEP),
	RX(comp_order, is_subset, FI_TYPE_MSG_ORDER, KEEP),
	RX(total_buffered_recv, at_most, TYPE_SIZE, KEEP),
	RX(size, at_most, TYPE_SIZE, TAKE),
	RX(iov_limit, at_most, TYPE_SIZE, TAKE),

	WHOLE("ep_attr", PART_EP),
	EP(type, is_equal, FI_TYPE_EP_TYPE, KEEP),
	EP(protocol, is_equal, FI_TYPE_PROTOCOL, KEEP),
	EP(protocol_version, at_most, TYPE_U32, KEEP),
	EP(max_msg_size, at_most, TYPE_SIZE, KEEP),
	EP(msg_prefix_size, reverse_fits, TYPE_SIZE, KEEP),
	EP(max_order_raw_size, at_most, TYPE_SIZE, KEEP),
	EP(max_order_war_size, at_most, TYPE_SIZE, KEEP),
	EP(max_order_waw_size, at_most, TYPE_SIZE, KEEP),
	EP(mem_tag_format, tag_format_fits, TYPE_HEX64, KEEP),
	EP(tx_ctx_cnt, tx_ctx_cnt_fits, TYPE_CTX_CNT, TAKE),
	EP(rx_ctx_cnt, rx_ctx_cnt_fits, TYPE_CTX_CNT, TAKE),
	EP(auth_key_size, is_equal, TYPE_SIZE, KEEP),

	WHOLE("domain_attr", PART_DOMAIN),
	DOMAIN(name, is_string, TYPE_STRING, KEEP),
	DOMAIN(threading, threading_fits, FI_TYPE_THREADING, TAKE),
	DOMAIN(control_progress, progress_fits, FI_TYPE_PROGRESS, TAKE),
	DOMAIN(data_progress, progress_fits, FI_TYPE_PROGRESS, TAKE),
	DOMAIN(resource_mgmt, resource_mgmt_fits, TYPE_RESOURCE_MGMT, KEEP),
	DOMAIN(av_type, av_type_fits, FI_TYPE_AV_TYPE, TAKE),
	DOMAIN(mr_mode, mr_mode_fits, FI_TYPE_MR_MODE, KEEP),
	DOMAIN(mr_key_size, at_most, TYPE_SIZE, KEEP),
	DOMAIN(cq_data_size, at_most, TYPE_SIZE, KEEP),
	DOMAIN(cq_cnt, at_most, TYPE_SIZE, KEEP),
	DOMAIN(ep_cnt, at_most, TYPE_SIZE, KEEP),
	DOMAIN(tx_ctx_cnt, at_most, TYPE_SIZE, KEEP),
	DOMAIN(rx_ctx_cnt, at_most, TYPE_SIZE, KEEP),
	DOMAIN(max_ep_tx_ctx, at_most, TYPE_SIZE, KEEP),
	DOMAIN(max_ep_rx_ctx, at_most, TYPE_SIZE, KEEP),
	DOMAIN(max_ep_stx_ctx, at_most, TYPE_SIZE, KEEP),
	DOMAIN(max_ep_srx_ctx, at_most, TYPE_SIZE, KEEP),
	DOMAIN(cntr_cnt, at_most, TYPE_SIZE, KEEP),
	DOMAIN(mr_cnt, at_most, TYPE_SIZE, KEEP),
	DOMAIN(max_ep_auth_key, at_most, TYPE_SIZE, KEEP),
	DOMAIN(mr_iov_limit, at_most, TYPE_SIZE, KEEP),
	DOMAIN(caps, is_subset, FI_TYPE_CAPS, KEEP),
	DOMAIN(mode, part_mode_fits, FI_TYPE_MODE, KEEP),
	DOMAIN(auth_key_size, is_equal, TYPE_SIZE, KEEP),
	DOMAIN(max_err_data, at_most, TYPE_SIZE, KEEP),
	DOMAIN(tclass, is_equal, TYPE_TCLASS, KEEP),
	DOMAIN(max_group_id, at_most, TYPE_U32, KEEP),
	DOMAIN(max_cntr_value, known_limit_fits, TYPE_HEX64, KEEP),
	DOMAIN(max_err_cntr_value, known_limit_fits, TYPE_HEX64, KEEP),
	DOMAIN(numa_node, numa_node_fits, TYPE_INT, KEEP),
	DOMAIN(max_cq_size, known_limit_fits, TYPE_SIZE, KEEP),
	DOMAIN(mr_gap_align, reverse_fits, TYPE_SIZE, KEEP),

	WHOLE("fabric_attr", PART_FABRIC),
	FABRIC(name, is_string, TYPE_STRING, KEEP),
	FABRIC(prov_name, prov_name_fits, TYPE_STRING, KEEP),
	FABRIC(prov_version, prov_version_fits, TYPE_PROV_VERSION, KEEP),
	FABRIC(api_version, api_version_fits, TYPE_PROV_VERSION, KEEP),
	{ "fabric_attr->net", net_fits, net_tostr,
	  offsetof(struct fi_fabric_attr, net), PART_FABRIC },

	WHOLE("nic", PART_NIC),
	WHOLE("nic->device_attr", PART_DEVICE),
	DEVICE(name), DEVICE(device_id), DEVICE(device_version),
	DEVICE(vendor_id), DEVICE(driver), DEVICE(firmware),

	WHOLE("nic->bus_attr", PART_BUS),
	{ "nic->bus_attr", pci_fits, NULL, 0, PART_BUS, TYPE_BUS_ATTR },

	WHOLE("nic->link_attr", PART_LINK),
	LINK(address, is_string, TYPE_STRING, KEEP),
	LINK(mtu, at_most, TYPE_SIZE, KEEP),
	LINK(speed, at_most, TYPE_SIZE, KEEP),
	LINK(state, is_equal, TYPE_LINK_STATE, KEEP),
	LINK(network_type, is_string, TYPE_STRING, KEEP),
	{}
};

const void *kofi_part_of(const struct fi_info *info, enum kofi_part part)
{
	switch (part) {
	case PART_INFO:
		return info;
	case PART_TX:
		return info->tx_attr;
	case PART_RX:
		return info->rx_attr;
	case PART_EP:
		return info->ep_attr;
	case PART_DOMAIN:
		return info->domain_attr;
	case PART_FABRIC:
		return info->fabric_attr;
	case PART_NIC:
		return info->nic;
	case PART_DEVICE:
		return info->nic ? info->nic->device_attr : NULL;
	case PART_BUS:
		return info->nic ? info->nic->bus_attr : NULL;
	case PART_LINK:
		return info->nic ? info->nic->link_attr : NULL;
	}
	return NULL;
}
