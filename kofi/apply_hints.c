// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Apply hints: turns an info that fits into the result for these hints.
 *
 * A client gets no more than it asked for.  Primary capabilities cost resources
 * or open memory to peers, so a result has only those that the hints ask for.  Secondary
 * capabilities stay, because they are free, except those that every completion pays for.
 * Queues, lists and contexts get the sizes asked for, models the values asked for.
 * Default flags of operations are what was asked for and nothing else, also
 * without hints: they act on each operation of the endpoint, so none of them
 * may be there just because the provider knows it.
 *
 * A client that did not ask to be the target of RMA and cannot follow the
 * registration modes of a target does not become one.
 *
 * Fields that describe the provider (limits of the domain, sizes of keys, message
 * order, resource management) keep its values, which are at least what was asked for.
 *
 * The table of rules (rules.h) says which of these holds for a field.  This file has what
 * depends on more than one field: capabilities and registration modes.
 *
 * A result still matches the hints it was made for, and itself.
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

/* A side has only capabilities of the whole info, and RMA or messages only with a direction */
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

/* The rules apply hints to numbers of 4 or 8 bytes only */
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

/* A read or a write without a limit of its own has iov_limit */
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
	info->domain_attr->domain = hints->domain_attr ?
				    hints->domain_attr->domain : NULL;
	if (hints->domain_attr)
		info->domain_attr->caps = apply_caps(info->domain_attr->caps,
						     hints->domain_attr->caps);

	/* A client that asked for FI_SOCKADDR keeps the provider's format */
	if (hints->addr_format &&
	    (info->addr_format == FI_SOCKADDR ||
	     (info->addr_format == FI_SOCKADDR_IP &&
	      hints->addr_format != FI_SOCKADDR)))
		info->addr_format = hints->addr_format;
}
