// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Apply hints: from an info that fits to the result for these hints.
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
 * Which of these holds for a field stands in the table of rules, rules.h.  Here is
 * what depends on more than one field: capabilities and registration modes.
 *
 * So a result still matches the hints it was made for, and itself.
 *
 * Works on its arguments only; the info belongs to the caller alone.
 */
#include <kofi/provider.h>
#include "info.h"
#include "rules.h"
#include "tostr.h"

static u64 apply_caps(u64 offer, u64 wish)
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

static void apply_caps_hints(struct fi_info *info, const struct fi_info *hints)
{
	struct fi_domain_attr *domain = info->domain_attr;

	info->caps = apply_caps(info->caps, hints->caps);
	if (!hints->domain_attr)
		return;

	if (domain->mr_mode & KOFI_TARGET_MR_MODES & ~hints->domain_attr->mr_mode)
		info->caps = without_target(info->caps);
	domain->mr_mode = kofi_mr_mode_needed(info->caps, domain->mr_mode);
}

/* One side has no more than the whole, and nothing without a direction */
static u64 apply_side(u64 offer, u64 wish, u64 whole, u64 other_side)
{
	u64 caps = apply_caps(offer, wish ?: whole) & kofi_caps_expand(whole) &
		   ~other_side;

	if (!(caps & KOFI_MSG_DIRECTIONS))
		caps &= ~(FI_MSG | FI_TAGGED);
	if (!(caps & KOFI_RMA_DIRECTIONS))
		caps &= ~(FI_RMA | FI_ATOMIC);
	return caps & ~kofi_caps_orphans(caps);
}

/* Hints are applied to numbers only, of 4 or 8 bytes */
static void apply_field(const struct kofi_rule *rule, void *offer, u64 wish)
{
	if (rule->apply == KEEP || (rule->apply == TAKE && !wish))
		return;
	if (kofi_value_size(rule->type) == sizeof(u64))
		*(u64 *)(offer + rule->offset) = wish;
	else
		*(u32 *)(offer + rule->offset) = wish;
}

static void apply_fields(struct fi_info *info, const struct fi_info *hints)
{
	const struct kofi_rule *rule;
	const void *wish;

	for (rule = kofi_rules; rule->field; rule++) {
		wish = kofi_part_of(hints, rule->part);
		apply_field(rule, (void *)kofi_part_of(info, rule->part),
			    wish ? kofi_value(wish + rule->offset, rule->type) :
			    0);
	}
}

/* What has no limit of its own has that of other lists */
static void apply_rma_lists(struct fi_tx_attr *attr)
{
	attr->rma_read_iov_limit = attr->rma_read_iov_limit ?: attr->iov_limit;
	attr->rma_write_iov_limit = attr->rma_write_iov_limit ?:
				    attr->iov_limit;
}

void kofi_info_apply_hints(struct fi_info *info, const struct fi_info *hints)
{
	static const struct fi_info no_hints;
	u64 tx_caps, rx_caps;

	if (!hints)
		hints = &no_hints;

	apply_caps_hints(info, hints);
	tx_caps = hints->tx_attr ? hints->tx_attr->caps : 0;
	info->tx_attr->caps = apply_side(info->tx_attr->caps, tx_caps,
					 info->caps, KOFI_RX_ONLY_CAPS);
	rx_caps = hints->rx_attr ? hints->rx_attr->caps : 0;
	info->rx_attr->caps = apply_side(info->rx_attr->caps, rx_caps,
					 info->caps, KOFI_TX_ONLY_CAPS);
	apply_fields(info, hints);
	apply_rma_lists(info->tx_attr);

	info->handle = hints->handle;
	info->fabric_attr->fabric = hints->fabric_attr ?
				    hints->fabric_attr->fabric : NULL;
	info->domain_attr->domain = NULL;
	if (hints->domain_attr) {
		info->domain_attr->domain = hints->domain_attr->domain;
		info->domain_attr->caps = apply_caps(info->domain_attr->caps,
						     hints->domain_attr->caps);
	}

	/* The client that asked for any socket address takes what it gets */
	if (hints->addr_format &&
	    (info->addr_format == FI_SOCKADDR ||
	     (info->addr_format == FI_SOCKADDR_IP &&
	      hints->addr_format != FI_SOCKADDR)))
		info->addr_format = hints->addr_format;
}
