/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kfi_* names on kOFI: domains and address vectors; see kfabric.h.
 *
 * A peer is named by the text of a number, its IPv4 address with 32 bits in host byte order, and
 * by the text of its net number.
 */
#ifndef _KOFI_KFI_DOMAIN_H
#define _KOFI_KFI_DOMAIN_H

#include <rdma/fi_domain.h>
#include <kfabric.h>

#define kfi_av_attr		fi_av_attr

#define KFI_AV_UNSPEC		FI_AV_UNSPEC

int kofi_kfi_domain(struct kfid_fabric *fabric, const struct kfi_info *info,
		    struct kfid_domain **domain, void *context);
int kofi_kfi_av_insertsvc(struct kfid_av *av, const char *node, const char *service,
			  kfi_addr_t *addr, u64 flags);
int kofi_kfi_av_remove(struct kfid_av *av, kfi_addr_t *addrs, size_t count, u64 flags);

/**
 * kfi_domain() - Open a domain
 * @fabric: where
 * @info: a result of kfi_getinfo()
 * @domain: the domain
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: as fi_domain(); -EINVAL also for an @info with another kind of address.
 */
static inline int kfi_domain(struct kfid_fabric *fabric, const struct kfi_info *info,
			     struct kfid_domain **domain, void *context)
{
	return kofi_kfi_domain(fabric, info, domain, context);
}

/**
 * kfi_av_open() - Open an address vector
 * @domain: where
 * @attr: its type and rx_ctx_bits
 * @av: the address vector
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: as fi_av_open().
 */
static inline int kfi_av_open(struct kfid_domain *domain, struct kfi_av_attr *attr,
			      struct kfid_av **av, void *context)
{
	return fi_av_open(domain, attr, av, context);
}

/**
 * kfi_av_insertsvc() - Insert a peer
 * @av: the address vector
 * @node: text of the peer's 32-bit address, with or without 0x
 * @service: text of the peer's net number
 * @addr: what the peer is called from now on
 * @flags: 0
 * @context: ignored
 *
 * A peer that is inserted twice has one name, and has to be removed twice.
 *
 * Context: may sleep; allocates with GFP_NOFS.
 * Return: 1; -EINVAL: no numbers, or too large; or as fi_av_insertsvc().
 */
static inline int kfi_av_insertsvc(struct kfid_av *av, const char *node, const char *service,
				   kfi_addr_t *addr, u64 flags, void *context)
{
	return kofi_kfi_av_insertsvc(av, node, service, addr, flags);
}

/**
 * kfi_av_remove() - Remove peers
 * @av: the address vector
 * @addrs: their names
 * @count: how many
 * @flags: 0
 *
 * Context: may sleep; allocates with GFP_NOFS.
 * Return: as fi_av_remove().
 */
static inline int kfi_av_remove(struct kfid_av *av, kfi_addr_t *addrs, size_t count, u64 flags)
{
	return kofi_kfi_av_remove(av, addrs, count, flags);
}

/**
 * kfi_rx_addr() - Name of a peer's receive context
 * @addr: the peer
 * @rx_index: which context
 * @rx_ctx_bits: as in the attributes of the address vector
 *
 * Context: any.
 * Return: the name.
 */
static inline kfi_addr_t kfi_rx_addr(kfi_addr_t addr, int rx_index, int rx_ctx_bits)
{
	return fi_rx_addr(addr, rx_index, rx_ctx_bits);
}

#endif /* _KOFI_KFI_DOMAIN_H */
