// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Does an info satisfy the hints?
 *
 * There are as many kinds of comparison as there are meanings of a wish:
 *
 *	is_subset	bits asked for must all be offered (caps, order, flags)
 *	is_followed	bits that the provider asks of the client (modes) must
 *			all be in what the client says it can do
 *	at_most		a size or a number up to the provider's limit
 *	is_equal	one of several: protocol, format, type
 *	is_ranked	models in order, from the one that is easiest for the
 *			client; it may always offer more than it has to
 *
 * A wish of zero is no wish and fits anything, except for modes: zero says that
 * the client can follow none.  A missing attribute structure is no wish for all
 * of its fields, modes included.
 *
 * The function of each structure is one chain of comparisons in the order of
 * the fields.  The first that fails names itself with pr_debug(), so "why does
 * fi_getinfo() find nothing" is answered by dynamic debug of this file.
 *
 * One difference from libfabric: a client that asks to be the target of RMA
 * must offer the mr_mode bits that its provider needs for that, or nothing
 * fits.  libfabric drops the capability without a word.
 *
 * Works on its arguments only.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <kofi/provider.h>
#include "info.h"

static bool misfit(const char *what, u64 wish, u64 offer)
{
	pr_debug("%s: %#llx wanted, %#llx offered\n", what, wish, offer);
	return false;
}

static bool is_subset(const char *what, u64 wish, u64 offer)
{
	return !(wish & ~offer) || misfit(what, wish, offer);
}

static bool is_followed(const char *what, u64 wish, u64 offer)
{
	return !(offer & ~wish) || misfit(what, wish, offer);
}

static bool at_most(const char *what, u64 wish, u64 offer)
{
	return wish <= offer || misfit(what, wish, offer);
}

static bool is_equal(const char *what, u64 wish, u64 offer)
{
	return !wish || wish == offer || misfit(what, wish, offer);
}

static bool is_string(const char *what, const char *wish, const char *offer)
{
	if (!wish || (offer && !strcmp(wish, offer)))
		return true;
	pr_debug("%s: %s wanted, %s offered\n", what, wish, offer ?: "none");
	return false;
}

/* Rank 0 is for values that say nothing or do not exist */
static bool is_ranked(const char *what, const u8 *rank, size_t ranks, u32 wish,
		      u32 offer)
{
	if (!wish)
		return true;
	return (wish < ranks && offer < ranks && rank[offer] &&
		rank[wish] >= rank[offer]) || misfit(what, wish, offer);
}

static bool threading_fits(u32 wish, u32 offer)
{
	static const u8 rank[] = {
		[FI_THREAD_SAFE]	= 1,
		[FI_THREAD_FID]		= 2,
		[FI_THREAD_ENDPOINT]	= 3,
		[FI_THREAD_COMPLETION]	= 4,
		[FI_THREAD_DOMAIN]	= 5,
	};

	return is_ranked("domain threading", rank, ARRAY_SIZE(rank), wish,
			 offer);
}

static bool progress_fits(const char *what, u32 wish, u32 offer)
{
	static const u8 rank[] = {
		[FI_PROGRESS_AUTO]		= 1,
		[FI_PROGRESS_MANUAL]		= 2,
		[FI_PROGRESS_CONTROL_UNIFIED]	= 3,
	};

	return is_ranked(what, rank, ARRAY_SIZE(rank), wish, offer);
}

static bool resource_mgmt_fits(u32 wish, u32 offer)
{
	static const u8 rank[] = {
		[FI_RM_ENABLED]		= 1,
		[FI_RM_DISABLED]	= 2,
	};

	return is_ranked("domain resource_mgmt", rank, ARRAY_SIZE(rank), wish,
			 offer);
}

u32 kofi_mr_mode_needed(u64 caps, u32 mr_mode)
{
	if (!(caps & FI_HMEM))
		mr_mode &= ~FI_MR_HMEM;
	if (!(caps & FI_COLLECTIVE))
		mr_mode &= ~FI_MR_COLLECTIVE;
	if (kofi_caps_expand(caps) & KOFI_TARGET_DIRECTIONS)
		return mr_mode;

	/* Who needs no registration at all need not know how to do it */
	if (!(mr_mode & (FI_MR_LOCAL | FI_MR_HMEM | FI_MR_COLLECTIVE)))
		return 0;
	return mr_mode & ~KOFI_TARGET_MR_MODES;
}

/* @info_mode is what the client can follow all over the info */
static bool tx_attr_fits(const struct fi_tx_attr *offer,
			 const struct fi_tx_attr *wish, u64 info_mode)
{
	return is_subset("tx caps",
			 kofi_caps_expand(wish->caps) & ~KOFI_RX_ONLY_CAPS,
			 kofi_caps_expand(offer->caps)) &&
	       is_followed("tx mode", wish->mode ?: info_mode, offer->mode) &&
	       is_subset("tx op_flags", wish->op_flags, offer->op_flags) &&
	       is_subset("tx msg_order", wish->msg_order, offer->msg_order) &&
	       is_subset("tx comp_order", wish->comp_order,
			 offer->comp_order) &&
	       at_most("tx inject_size", wish->inject_size,
		       offer->inject_size) &&
	       at_most("tx size", wish->size, offer->size) &&
	       at_most("tx iov_limit", wish->iov_limit, offer->iov_limit) &&
	       at_most("tx rma_iov_limit", wish->rma_iov_limit,
		       offer->rma_iov_limit) &&
	       is_equal("tx tclass", wish->tclass, offer->tclass);
}

static bool rx_attr_fits(const struct fi_rx_attr *offer,
			 const struct fi_rx_attr *wish, u64 info_mode)
{
	return is_subset("rx caps",
			 kofi_caps_expand(wish->caps) & ~KOFI_TX_ONLY_CAPS,
			 kofi_caps_expand(offer->caps)) &&
	       is_followed("rx mode", wish->mode ?: info_mode, offer->mode) &&
	       is_subset("rx op_flags", wish->op_flags, offer->op_flags) &&
	       is_subset("rx msg_order", wish->msg_order, offer->msg_order) &&
	       is_subset("rx comp_order", wish->comp_order,
			 offer->comp_order) &&
	       at_most("rx total_buffered_recv", wish->total_buffered_recv,
		       offer->total_buffered_recv) &&
	       at_most("rx size", wish->size, offer->size) &&
	       at_most("rx iov_limit", wish->iov_limit, offer->iov_limit);
}

/* Contexts: a number of its own, or the wish to share */
static bool ctx_cnt_fits(const char *what, size_t wish, size_t offer,
			 size_t max_own, size_t max_shared)
{
	if (wish == FI_SHARED_CONTEXT)
		return max_shared || misfit(what, wish, offer);
	if (offer == FI_SHARED_CONTEXT)
		return (wish && wish <= max_own) || misfit(what, wish, offer);
	return at_most(what, wish, max(max_own, offer));
}

static bool ep_attr_fits(const struct fi_ep_attr *offer,
			 const struct fi_ep_attr *wish,
			 const struct fi_domain_attr *domain)
{
	return is_equal("ep type", wish->type, offer->type) &&
	       is_equal("ep protocol", wish->protocol, offer->protocol) &&
	       at_most("ep protocol_version", wish->protocol_version,
		       offer->protocol_version) &&
	       at_most("ep max_msg_size", wish->max_msg_size,
		       offer->max_msg_size) &&
	       (!wish->msg_prefix_size ||
		at_most("ep msg_prefix_size", offer->msg_prefix_size,
			wish->msg_prefix_size)) &&
	       at_most("ep max_order_raw_size", wish->max_order_raw_size,
		       offer->max_order_raw_size) &&
	       at_most("ep max_order_war_size", wish->max_order_war_size,
		       offer->max_order_war_size) &&
	       at_most("ep max_order_waw_size", wish->max_order_waw_size,
		       offer->max_order_waw_size) &&
	       at_most("ep mem_tag_format bits", fls64(wish->mem_tag_format),
		       fls64(offer->mem_tag_format)) &&
	       ctx_cnt_fits("ep tx_ctx_cnt", wish->tx_ctx_cnt,
			    offer->tx_ctx_cnt, domain->max_ep_tx_ctx,
			    domain->max_ep_stx_ctx) &&
	       ctx_cnt_fits("ep rx_ctx_cnt", wish->rx_ctx_cnt,
			    offer->rx_ctx_cnt, domain->max_ep_rx_ctx,
			    domain->max_ep_srx_ctx) &&
	       is_equal("ep auth_key_size", wish->auth_key_size,
			offer->auth_key_size);
}

static bool domain_counts_fit(const struct fi_domain_attr *offer,
			      const struct fi_domain_attr *wish)
{
	return at_most("domain cq_cnt", wish->cq_cnt, offer->cq_cnt) &&
	       at_most("domain ep_cnt", wish->ep_cnt, offer->ep_cnt) &&
	       at_most("domain tx_ctx_cnt", wish->tx_ctx_cnt,
		       offer->tx_ctx_cnt) &&
	       at_most("domain rx_ctx_cnt", wish->rx_ctx_cnt,
		       offer->rx_ctx_cnt) &&
	       at_most("domain max_ep_tx_ctx", wish->max_ep_tx_ctx,
		       offer->max_ep_tx_ctx) &&
	       at_most("domain max_ep_rx_ctx", wish->max_ep_rx_ctx,
		       offer->max_ep_rx_ctx) &&
	       at_most("domain max_ep_stx_ctx", wish->max_ep_stx_ctx,
		       offer->max_ep_stx_ctx) &&
	       at_most("domain max_ep_srx_ctx", wish->max_ep_srx_ctx,
		       offer->max_ep_srx_ctx) &&
	       at_most("domain cntr_cnt", wish->cntr_cnt, offer->cntr_cnt) &&
	       at_most("domain mr_cnt", wish->mr_cnt, offer->mr_cnt) &&
	       at_most("domain max_ep_auth_key", wish->max_ep_auth_key,
		       offer->max_ep_auth_key);
}

static bool domain_attr_fits(const struct fi_domain_attr *offer,
			     const struct fi_domain_attr *wish, u64 caps,
			     u64 info_mode)
{
	return is_string("domain name", wish->name, offer->name) &&
	       threading_fits(wish->threading, offer->threading) &&
	       progress_fits("domain control_progress", wish->control_progress,
			     offer->control_progress) &&
	       progress_fits("domain data_progress", wish->data_progress,
			     offer->data_progress) &&
	       resource_mgmt_fits(wish->resource_mgmt, offer->resource_mgmt) &&
	       (!offer->av_type ||
		is_equal("domain av_type", wish->av_type, offer->av_type)) &&
	       is_followed("domain mr_mode", wish->mr_mode,
			   kofi_mr_mode_needed(caps, offer->mr_mode)) &&
	       at_most("domain mr_key_size", wish->mr_key_size,
		       offer->mr_key_size) &&
	       at_most("domain cq_data_size", wish->cq_data_size,
		       offer->cq_data_size) &&
	       domain_counts_fit(offer, wish) &&
	       at_most("domain mr_iov_limit", wish->mr_iov_limit,
		       offer->mr_iov_limit) &&
	       is_subset("domain caps", wish->caps, offer->caps) &&
	       is_followed("domain mode", wish->mode ?: info_mode,
			   offer->mode) &&
	       is_equal("domain auth_key_size", wish->auth_key_size,
			offer->auth_key_size) &&
	       at_most("domain max_err_data", wish->max_err_data,
		       offer->max_err_data) &&
	       is_equal("domain tclass", wish->tclass, offer->tclass) &&
	       at_most("domain max_group_id", wish->max_group_id,
		       offer->max_group_id);
}

/* Is @name in the list "^a;^b"? */
static bool prov_name_denied(const char *list, const char *name)
{
	size_t len = strlen(name);

	while (*list == '^') {
		list++;
		if (!strncmp(list, name, len) &&
		    (!list[len] || list[len] == ';'))
			return true;
		list = strchrnul(list, ';');
		if (*list)
			list++;
	}
	return false;
}

bool kofi_prov_name_fits(const char *wish, const char *name)
{
	if (!wish)
		return true;
	return *wish == '^' ? !prov_name_denied(wish, name) :
			      !strcmp(wish, name);
}

/* What only the core knows may be missing when a provider asks */
static bool fabric_attr_fits(const struct fi_fabric_attr *offer,
			     const struct fi_fabric_attr *wish)
{
	return is_string("fabric name", wish->name, offer->name) &&
	       (!offer->prov_name ||
		kofi_prov_name_fits(wish->prov_name, offer->prov_name)) &&
	       (!offer->prov_version ||
		at_most("fabric prov_version", wish->prov_version,
			offer->prov_version)) &&
	       (!wish->api_version ||
		at_most("fabric api_version", offer->api_version,
			wish->api_version)) &&
	       (!wish->net || !offer->net || wish->net == offer->net ||
		misfit("fabric net", 0, 0));
}

static bool device_attr_fits(const struct fi_device_attr *offer,
			     const struct fi_device_attr *wish)
{
	return is_string("device name", wish->name, offer->name) &&
	       is_string("device id", wish->device_id, offer->device_id) &&
	       is_string("device version", wish->device_version,
			 offer->device_version) &&
	       is_string("device vendor", wish->vendor_id, offer->vendor_id) &&
	       is_string("device driver", wish->driver, offer->driver) &&
	       is_string("device firmware", wish->firmware, offer->firmware);
}

static bool bus_attr_fits(const struct fi_bus_attr *offer,
			  const struct fi_bus_attr *wish)
{
	const struct fi_pci_attr *theirs = &offer->attr.pci;
	const struct fi_pci_attr *ours = &wish->attr.pci;

	if (!is_equal("bus type", wish->bus_type, offer->bus_type))
		return false;

	return wish->bus_type != FI_BUS_PCI ||
	       (ours->domain_id == theirs->domain_id &&
		ours->bus_id == theirs->bus_id &&
		ours->device_id == theirs->device_id &&
		ours->function_id == theirs->function_id) ||
	       misfit("bus address", 0, 0);
}

static bool link_attr_fits(const struct fi_link_attr *offer,
			   const struct fi_link_attr *wish)
{
	return is_string("link address", wish->address, offer->address) &&
	       at_most("link mtu", wish->mtu, offer->mtu) &&
	       at_most("link speed", wish->speed, offer->speed) &&
	       is_equal("link state", wish->state, offer->state) &&
	       is_string("link network_type", wish->network_type,
			 offer->network_type);
}

static bool nic_fits(const struct fid_nic *offer, const struct fid_nic *wish)
{
	return (!wish->device_attr ||
		(offer->device_attr &&
		 device_attr_fits(offer->device_attr, wish->device_attr))) &&
	       (!wish->bus_attr ||
		(offer->bus_attr &&
		 bus_attr_fits(offer->bus_attr, wish->bus_attr))) &&
	       (!wish->link_attr ||
		(offer->link_attr &&
		 link_attr_fits(offer->link_attr, wish->link_attr)));
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

/* The wildcard address and port 0 are no wish for that part */
static bool addr_fits(const char *what, const void *wish, size_t wish_len,
		      const void *offer, size_t offer_len)
{
	sa_family_t family;
	bool fits;

	if (!wish)
		return true;
	if (!offer)
		return misfit(what, wish_len, 0);

	family = kofi_ip_family(wish, wish_len);
	if (family != kofi_ip_family(offer, offer_len))
		fits = false;
	else if (family == AF_INET)
		fits = ipv4_fits(wish, offer);
	else if (family == AF_INET6)
		fits = ipv6_fits(wish, offer);
	else
		fits = wish_len == offer_len && !memcmp(wish, offer, wish_len);

	return fits || misfit(what, wish_len, offer_len);
}

static bool addrs_fit(const struct fi_info *info, const struct fi_info *hints)
{
	return addr_fits("src_addr", hints->src_addr, hints->src_addrlen,
			 info->src_addr, info->src_addrlen) &&
	       addr_fits("dest_addr", hints->dest_addr, hints->dest_addrlen,
			 info->dest_addr, info->dest_addrlen);
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

static bool addr_format_fits(u32 wish, const struct fi_info *info)
{
	const char *what = "addr_format";
	u32 offer = info->addr_format;

	if (wish == FI_SOCKADDR)
		return (offer >= FI_SOCKADDR && offer <= FI_SOCKADDR_IB) ||
		       misfit(what, wish, offer);

	/* Any family, but the addresses that are there have theirs already */
	if (offer == FI_SOCKADDR && info->src_addr)
		offer = addr_format_of(info->src_addr, info->src_addrlen);
	if (offer == FI_SOCKADDR && info->dest_addr)
		offer = addr_format_of(info->dest_addr, info->dest_addrlen);
	if (offer == FI_SOCKADDR && wish <= FI_SOCKADDR_IB)
		return true;
	return is_equal(what, wish, offer);
}

static bool attrs_fit(const struct fi_info *info, const struct fi_info *hints)
{
	static const struct fi_domain_attr no_domain;

	return (!hints->tx_attr ||
		(info->tx_attr &&
		 tx_attr_fits(info->tx_attr, hints->tx_attr, hints->mode))) &&
	       (!hints->rx_attr ||
		(info->rx_attr &&
		 rx_attr_fits(info->rx_attr, hints->rx_attr, hints->mode))) &&
	       (!hints->ep_attr ||
		(info->ep_attr &&
		 ep_attr_fits(info->ep_attr, hints->ep_attr,
			      info->domain_attr ?: &no_domain))) &&
	       (!hints->domain_attr ||
		(info->domain_attr &&
		 domain_attr_fits(info->domain_attr, hints->domain_attr,
				  hints->caps, hints->mode))) &&
	       (!hints->fabric_attr ||
		(info->fabric_attr &&
		 fabric_attr_fits(info->fabric_attr, hints->fabric_attr))) &&
	       (!hints->nic || (info->nic && nic_fits(info->nic, hints->nic)));
}

bool kofi_info_match(const struct fi_info *info, const struct fi_info *hints)
{
	if (!hints)
		return true;

	return is_subset("caps", kofi_caps_expand(hints->caps),
			 kofi_caps_expand(info->caps)) &&
	       is_followed("mode", hints->mode, info->mode) &&
	       addr_format_fits(hints->addr_format, info) &&
	       addrs_fit(info, hints) && attrs_fit(info, hints);
}
EXPORT_SYMBOL_GPL(kofi_info_match);
