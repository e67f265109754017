// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Hints that contradict themselves.
 *
 * Most hints are just compared with what there is, and if nothing fits, the client gets
 * -ENODATA.  This file finds the few hints that no provider could ever make sense
 * of: a capability without the one it modifies, an address shorter than its
 * family, a key without a length.  Such hints are a bug of the client, and it gets -EINVAL:
 * "nothing fits" would send its author looking at the hardware.
 *
 * Works on its arguments only.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kernel.h>
#include <linux/socket.h>
#include <rdma/ib.h>
#include "info.h"
#include "tostr.h"
#include "why.h"

/* Room for a value in the text of a reason */
#define KOFI_HINTS_TEXT		128

/* Each capability in @caps needs at least one of those in @needs */
static const struct {
	u64	caps;
	u64	needs;
} caps_rules[] = {
	{ KOFI_MSG_DIRECTIONS,			FI_MSG | FI_TAGGED },
	{ KOFI_RMA_DIRECTIONS,			FI_RMA | FI_ATOMIC },
	{ FI_MULTI_RECV | FI_DIRECTED_RECV,	FI_MSG | FI_TAGGED },
	{ FI_MULTICAST,				FI_MSG },
	{ FI_TAGGED_MULTI_RECV,			FI_TAGGED },
	{ FI_TAGGED_DIRECTED_RECV,		FI_TAGGED },
	{ FI_RMA_EVENT,				KOFI_TARGET_DIRECTIONS },
	{ FI_RMA_PMEM,				FI_RMA },
	{ FI_ATOMIC_PMEM,			FI_ATOMIC },
	{ FI_SOURCE_ERR,			FI_SOURCE },
	{ FI_REMOTE_INV,			FI_MSG },
	{ FI_TAGGED_RMA,			FI_TAGGED },
	{ FI_TAGGED_RMA,			FI_RMA },
};

u64 kofi_caps_orphans(u64 caps)
{
	u64 orphans = 0;
	size_t i;

	caps = kofi_caps_expand(caps);
	for (i = 0; i < ARRAY_SIZE(caps_rules); i++)
		if (!(caps & caps_rules[i].needs))
			orphans |= caps & caps_rules[i].caps;
	return orphans;
}

static bool caps_make_sense(u64 caps)
{
	char lost[KOFI_HINTS_TEXT], needs[KOFI_HINTS_TEXT];
	u64 orphans = kofi_caps_orphans(caps);
	size_t i = 0;

	if (!orphans)
		return true;

	/* Reports the first rule that is broken */
	while (!(caps_rules[i].caps & orphans) ||
	       kofi_caps_expand(caps) & caps_rules[i].needs)
		i++;
	kofi_why_say(FI_REASON_CALL, -EINVAL, NULL, "caps",
		     "caps: %s without any of %s",
		     kofi_value_tostr(orphans & caps_rules[i].caps,
				      FI_TYPE_CAPS, lost, sizeof(lost)),
		     kofi_value_tostr(caps_rules[i].needs, FI_TYPE_CAPS, needs,
				      sizeof(needs)));
	return false;
}

/* A side of an endpoint has only capabilities that the endpoint has */
static bool side_makes_sense(const char *field, u64 caps, u64 side_caps,
			     u64 ignored)
{
	u64 extra = kofi_caps_expand(side_caps) & ~ignored &
		    ~KOFI_SECONDARY_CAPS & ~KOFI_COSTLY_CAPS &
		    ~kofi_caps_expand(caps);
	char text[KOFI_HINTS_TEXT];

	if (!caps || !extra)
		return true;

	kofi_why_say(FI_REASON_CALL, -EINVAL, NULL, field,
		     "%s: %s are not in caps", field,
		     kofi_value_tostr(extra, FI_TYPE_CAPS, text, sizeof(text)));
	return false;
}

/* Fewest bytes of an address of @family; 0: @format excludes the family */
static size_t addr_min_len(u32 format, sa_family_t family)
{
	bool any = format == FI_SOCKADDR || format == FI_FORMAT_UNSPEC;
	bool any_ip = any || format == FI_SOCKADDR_IP;

	switch (family) {
	case AF_INET:
		return any_ip || format == FI_SOCKADDR_IN ?
		       sizeof(struct sockaddr_in) : 0;
	case AF_INET6:
		return any_ip || format == FI_SOCKADDR_IN6 ?
		       sizeof(struct sockaddr_in6) : 0;
	case AF_IB:
		return any || format == FI_SOCKADDR_IB ?
		       sizeof(struct sockaddr_ib) : 0;
	default:
		return 0;
	}
}

static bool addr_makes_sense(const char *which, u32 format, const void *addr,
			     size_t len)
{
	const struct sockaddr *sa = addr;
	char text[KOFI_HINTS_TEXT];
	size_t min_len;

	if (!addr)
		return true;
	if (format > FI_SOCKADDR_IB && format != FI_SOCKADDR_IP)
		return len > 0;

	min_len = len < sizeof(sa->sa_family) ? 0 :
		  addr_min_len(format, sa->sa_family);
	if (min_len && len >= min_len)
		return true;

	kofi_why_say(FI_REASON_CALL, -EINVAL, NULL, which,
		     "%s: %zu bytes are no address in the addr_format %s", which,
		     len, kofi_value_tostr(format, FI_TYPE_ADDR_FORMAT, text,
					   sizeof(text)));
	return false;
}

static bool key_makes_sense(const char *field, const u8 *key, size_t size)
{
	if (!key || (size && size <= PAGE_SIZE))
		return true;

	kofi_why_say(FI_REASON_CALL, -EINVAL, NULL, field,
		     "%s: the authorization key has %zu bytes", field, size);
	return false;
}

int kofi_hints_check(const struct fi_info *hints)
{
	const struct fi_domain_attr *domain = hints->domain_attr;
	const struct fi_ep_attr *ep = hints->ep_attr;
	u64 tx_caps = hints->tx_attr ? hints->tx_attr->caps : 0;
	u64 rx_caps = hints->rx_attr ? hints->rx_attr->caps : 0;

	if (!caps_make_sense(hints->caps) ||
	    !side_makes_sense("tx_attr->caps", hints->caps, tx_caps,
			      KOFI_RX_ONLY_CAPS) ||
	    !side_makes_sense("rx_attr->caps", hints->caps, rx_caps,
			      KOFI_TX_ONLY_CAPS))
		return -EINVAL;

	if (!addr_makes_sense("src_addr", hints->addr_format, hints->src_addr,
			      hints->src_addrlen) ||
	    !addr_makes_sense("dest_addr", hints->addr_format, hints->dest_addr,
			      hints->dest_addrlen))
		return -EINVAL;

	if ((ep && !key_makes_sense("ep_attr->auth_key_size", ep->auth_key,
				    ep->auth_key_size)) ||
	    (domain && !key_makes_sense("domain_attr->auth_key_size",
					domain->auth_key,
					domain->auth_key_size)))
		return -EINVAL;
	return 0;
}
