// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From an info that fits to the result for these hints.
 *
 * A client gets no more than it asked for.  Primary capabilities cost resources
 * or open memory to peers: those asked for stay.  Secondary ones stay too, as
 * they are for free, except those that every completion pays for.  Queues,
 * lists and contexts get the sizes asked for, models the values asked for.
 * Default flags of operations are what was asked for and nothing else, also
 * without hints: they act on each operation of the endpoint, so none of them
 * may be there just because the provider knows it.
 *
 * A client that did not ask to be the target of RMA and cannot follow the
 * registration modes of a target does not become one.
 *
 * What says how the provider is (limits of the domain, sizes of keys, message
 * order, resource management) is left as it is, at least what was asked for.
 *
 * So a result still matches the hints it was made for, and itself.
 *
 * Works on its arguments only; the info belongs to the caller alone.
 */
#include <kofi/provider.h>
#include "info.h"

static u64 narrow_caps(u64 offer, u64 wish)
{
	u64 caps;

	if (!wish)
		return offer;

	caps = kofi_caps_expand(offer) &
	       (kofi_caps_expand(wish) | KOFI_SECONDARY_CAPS);
	return caps & ~kofi_caps_orphans(caps);
}

static u64 without_target(u64 caps)
{
	caps = kofi_caps_expand(caps) & ~KOFI_TARGET_DIRECTIONS;
	if (!(caps & KOFI_RMA_DIRECTIONS))
		caps &= ~(FI_RMA | FI_ATOMIC);
	return caps & ~kofi_caps_orphans(caps);
}

static void narrow_info_caps(struct fi_info *info, const struct fi_info *hints)
{
	struct fi_domain_attr *domain = info->domain_attr;

	info->caps = narrow_caps(info->caps, hints->caps);
	if (!hints->domain_attr)
		return;

	if (domain->mr_mode & KOFI_TARGET_MR_MODES & ~hints->domain_attr->mr_mode)
		info->caps = without_target(info->caps);
	domain->mr_mode = kofi_mr_mode_needed(info->caps, domain->mr_mode);
}

/* One side has no more than the whole, and nothing without a direction */
static u64 narrow_side(u64 offer, u64 wish, u64 whole, u64 other_side)
{
	u64 caps = narrow_caps(offer, wish ?: whole) & kofi_caps_expand(whole) &
		   ~other_side;

	if (!(caps & KOFI_MSG_DIRECTIONS))
		caps &= ~(FI_MSG | FI_TAGGED);
	if (!(caps & KOFI_RMA_DIRECTIONS))
		caps &= ~(FI_RMA | FI_ATOMIC);
	return caps & ~kofi_caps_orphans(caps);
}

static void narrow_tx_attr(struct fi_tx_attr *attr,
			   const struct fi_tx_attr *wish, u64 caps)
{
	attr->caps = narrow_side(attr->caps, wish->caps, caps,
				 KOFI_RX_ONLY_CAPS);
	attr->op_flags = wish->op_flags;
	attr->inject_size = wish->inject_size ?: attr->inject_size;
	attr->size = wish->size ?: attr->size;
	attr->iov_limit = wish->iov_limit ?: attr->iov_limit;
	attr->rma_iov_limit = wish->rma_iov_limit ?: attr->rma_iov_limit;
}

static void narrow_rx_attr(struct fi_rx_attr *attr,
			   const struct fi_rx_attr *wish, u64 caps)
{
	attr->caps = narrow_side(attr->caps, wish->caps, caps,
				 KOFI_TX_ONLY_CAPS);
	attr->op_flags = wish->op_flags;
	attr->size = wish->size ?: attr->size;
	attr->iov_limit = wish->iov_limit ?: attr->iov_limit;
}

static void narrow_ep_attr(struct fi_ep_attr *attr,
			   const struct fi_ep_attr *wish)
{
	attr->tx_ctx_cnt = wish->tx_ctx_cnt ?: attr->tx_ctx_cnt;
	attr->rx_ctx_cnt = wish->rx_ctx_cnt ?: attr->rx_ctx_cnt;
}

static void narrow_domain_attr(struct fi_domain_attr *attr,
			       const struct fi_domain_attr *wish)
{
	attr->domain = wish->domain;
	attr->threading = wish->threading ?: attr->threading;
	attr->control_progress = wish->control_progress ?:
				 attr->control_progress;
	attr->data_progress = wish->data_progress ?: attr->data_progress;
	attr->av_type = wish->av_type ?: attr->av_type;
	attr->caps = narrow_caps(attr->caps, wish->caps);
}

void kofi_info_narrow(struct fi_info *info, const struct fi_info *hints)
{
	static const struct fi_fabric_attr no_fabric;
	static const struct fi_domain_attr no_domain;
	static const struct fi_ep_attr no_ep;
	static const struct fi_tx_attr no_tx;
	static const struct fi_rx_attr no_rx;
	static const struct fi_info no_hints;
	const struct fi_fabric_attr *fabric;

	if (!hints)
		hints = &no_hints;
	fabric = hints->fabric_attr ?: &no_fabric;

	narrow_info_caps(info, hints);
	narrow_tx_attr(info->tx_attr, hints->tx_attr ?: &no_tx, info->caps);
	narrow_rx_attr(info->rx_attr, hints->rx_attr ?: &no_rx, info->caps);
	narrow_ep_attr(info->ep_attr, hints->ep_attr ?: &no_ep);
	narrow_domain_attr(info->domain_attr, hints->domain_attr ?: &no_domain);
	info->fabric_attr->fabric = fabric->fabric;
	info->handle = hints->handle;

	/* The client that asked for any socket address takes what it gets */
	if (info->addr_format == FI_SOCKADDR && hints->addr_format)
		info->addr_format = hints->addr_format;
}
