/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of discovery share: getinfo.c runs a query; hints.c, match.c and
 * apply_hints.c know the rules of the attributes.
 */
#ifndef _KOFI_INFO_H
#define _KOFI_INFO_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/socket.h>
#include <rdma/fabric.h>

/* Capabilities that matter to one side of an endpoint only */
#define KOFI_TX_ONLY_CAPS \
	(FI_READ | FI_WRITE | FI_SEND | FI_FENCE | FI_MULTICAST | \
	 FI_NAMED_RX_CTX)
#define KOFI_RX_ONLY_CAPS \
	(FI_REMOTE_READ | FI_REMOTE_WRITE | FI_RECV | FI_DIRECTED_RECV | \
	 FI_TAGGED_DIRECTED_RECV | FI_EXACT_DIRECTED_RECV | FI_MULTI_RECV | \
	 FI_TAGGED_MULTI_RECV | FI_SOURCE | FI_SOURCE_ERR | FI_RMA_EVENT)

/* Capabilities that a result may have without having been asked for them */
#define KOFI_SECONDARY_CAPS \
	(FI_MULTI_RECV | FI_TAGGED_MULTI_RECV | FI_RMA_EVENT | FI_SHARED_AV | \
	 FI_TRIGGER | FI_FENCE | FI_LOCAL_COMM | FI_REMOTE_COMM | \
	 FI_RMA_PMEM | FI_ATOMIC_PMEM | FI_REMOTE_INV)

/* Capabilities that make each completion dearer: a result has them only if hints ask for them */
#define KOFI_COSTLY_CAPS	(FI_SOURCE | FI_SOURCE_ERR)

#define KOFI_MSG_DIRECTIONS	(FI_SEND | FI_RECV)
#define KOFI_TARGET_DIRECTIONS	(FI_REMOTE_READ | FI_REMOTE_WRITE)
#define KOFI_RMA_DIRECTIONS	(FI_READ | FI_WRITE | KOFI_TARGET_DIRECTIONS)

/* Registration modes that matter to a target of RMA only */
#define KOFI_TARGET_MR_MODES \
	(FI_MR_RAW | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_RMA_EVENT)

/* Messages or RMA without a direction mean all directions */
static inline u64 kofi_caps_expand(u64 caps)
{
	if ((caps & (FI_MSG | FI_TAGGED)) && !(caps & KOFI_MSG_DIRECTIONS))
		caps |= KOFI_MSG_DIRECTIONS;
	if ((caps & (FI_RMA | FI_ATOMIC)) && !(caps & KOFI_RMA_DIRECTIONS))
		caps |= KOFI_RMA_DIRECTIONS;
	return caps;
}

/* AF_UNSPEC: @addr is not an IP address, or is shorter than its family says */
static inline sa_family_t kofi_ip_family(const void *addr, size_t len)
{
	const struct sockaddr *sa = addr;

	if (len >= sizeof(struct sockaddr_in) && sa->sa_family == AF_INET)
		return AF_INET;
	if (len >= sizeof(struct sockaddr_in6) && sa->sa_family == AF_INET6)
		return AF_INET6;
	return AF_UNSPEC;
}

/* Bits of @caps that modify another capability, and @caps does not have that one */
u64 kofi_caps_orphans(u64 caps);

/* Registration modes of @mr_mode that a client with @caps has to follow */
u32 kofi_mr_mode_needed(u64 caps, u32 mr_mode);

/*
 * Names of providers, and of providers on providers, layers.c.
 *
 * @wish is a hint for the provider's name, which may be NULL.
 *
 * kofi_prov_name_fits(): does @wish allow @name, the name of a result?
 * kofi_prov_name_denied(): does @wish exclude the provider @name?
 * kofi_prov_name_top(): copies the uppermost name in @wish to @top, and returns how many
 * names @wish has; 0: none, so every provider is asked; -EINVAL: too many names, or the
 * uppermost one is too long.
 * kofi_is_layer(): does the provider @name stand on others?
 * kofi_is_hook(): does it stand on another provider only where a client asks for that?
 */
bool kofi_prov_name_fits(const char *wish, const char *name);
bool kofi_prov_name_denied(const char *wish, const char *name);
int kofi_prov_name_top(const char *wish, char *top, size_t len);
bool kofi_is_layer(const char *name);
bool kofi_is_hook(const char *name);

/*
 * Do the hints make sense by themselves, whatever providers there are?  0, or -EINVAL.
 * A value that is merely unknown (of a newer enum) makes sense, and fits nothing.
 */
int kofi_hints_check(const struct fi_info *hints);

/*
 * Turn a copy of an info that matches the hints into the result for them: no
 * more capabilities and mode bits than asked for, queues of the size asked for.
 * @hints may be NULL.
 */
void kofi_info_apply_hints(struct fi_info *info, const struct fi_info *hints);

#endif /* _KOFI_INFO_H */
