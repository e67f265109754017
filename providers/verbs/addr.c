// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Socket addresses, and the list of this namespace's own.
 *
 * Interfaces are walked under the RTNL into an array; everything that may take
 * long happens afterwards.
 */
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include "verbs.h"

/* Addresses looked at in one namespace; more than any sane RDMA host has */
#define VERBS_MAX_ADDRS		256

struct verbs_addrs {
	struct sockaddr_storage	*addr;
	int			count;
};

size_t verbs_addr_len(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
					     sizeof(struct sockaddr_in);
}

bool verbs_addr_any(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET6)
		return ipv6_addr_any(&((struct sockaddr_in6 *)addr)->sin6_addr);
	return !((struct sockaddr_in *)addr)->sin_addr.s_addr;
}

void verbs_addr_set_port(struct sockaddr_storage *addr, int port)
{
	if (addr->ss_family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)addr)->sin_port = htons(port);
}

/* The client's bytes are believed only as far as their family and length go */
int verbs_addr_from_info(struct sockaddr_storage *to, const void *addr,
			 size_t len)
{
	if (!addr || len < sizeof(sa_family_t) || len > sizeof(*to))
		return -EINVAL;

	memset(to, 0, sizeof(*to));
	memcpy(to, addr, len);
	if (to->ss_family != AF_INET && to->ss_family != AF_INET6)
		return -EINVAL;
	return len < verbs_addr_len(to) ? -EINVAL : 0;
}

int verbs_addr_copy_out(const struct sockaddr_storage *addr, void *to,
			size_t *len)
{
	size_t need = verbs_addr_len(addr);
	bool fits = *len >= need;

	if (to && *len)
		memcpy(to, addr, min(*len, need));
	*len = need;
	return fits && to ? 0 : -FI_ETOOSMALL;
}

static struct sockaddr_storage *verbs_addrs_next(struct verbs_addrs *addrs,
						 int family)
{
	struct sockaddr_storage *addr;

	if (addrs->count == VERBS_MAX_ADDRS)
		return NULL;
	addr = &addrs->addr[addrs->count++];
	addr->ss_family = family;
	return addr;
}

static void verbs_addrs_add_in(struct verbs_addrs *addrs,
			       struct net_device *netdev)
{
	struct in_device *in_dev = __in_dev_get_rtnl(netdev);
	const struct in_ifaddr *ifa;
	struct sockaddr_in *sin;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rtnl(ifa, in_dev) {
		sin = (struct sockaddr_in *)verbs_addrs_next(addrs, AF_INET);
		if (!sin)
			return;
		sin->sin_addr.s_addr = ifa->ifa_local;
	}
}

static void verbs_addrs_add_in6(struct verbs_addrs *addrs,
				struct net_device *netdev)
{
	struct inet6_dev *in6_dev = NULL;
	struct inet6_ifaddr *ifa;
	struct sockaddr_in6 *sin6;

	if (IS_ENABLED(CONFIG_IPV6))
		in6_dev = __in6_dev_get(netdev);
	if (!in6_dev)
		return;

	read_lock_bh(&in6_dev->lock);
	list_for_each_entry(ifa, &in6_dev->addr_list, if_list) {
		if (ifa->flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED))
			continue;
		sin6 = (struct sockaddr_in6 *)verbs_addrs_next(addrs, AF_INET6);
		if (!sin6)
			break;
		sin6->sin6_addr = ifa->addr;
		if (ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL)
			sin6->sin6_scope_id = netdev->ifindex;
	}
	read_unlock_bh(&in6_dev->lock);
}

/* Returns how many; the caller frees *@list.  IPv4 comes before IPv6. */
int verbs_addr_list(struct net *net, struct sockaddr_storage **list)
{
	struct verbs_addrs addrs = {};
	struct net_device *netdev;

	addrs.addr = kvcalloc(VERBS_MAX_ADDRS, sizeof(*addrs.addr), GFP_KERNEL);
	if (!addrs.addr)
		return -ENOMEM;

	rtnl_lock();
	for_each_netdev(net, netdev)
		if ((netdev->flags & (IFF_UP | IFF_LOOPBACK)) == IFF_UP)
			verbs_addrs_add_in(&addrs, netdev);
	for_each_netdev(net, netdev)
		if ((netdev->flags & (IFF_UP | IFF_LOOPBACK)) == IFF_UP)
			verbs_addrs_add_in6(&addrs, netdev);
	rtnl_unlock();

	*list = addrs.addr;
	return addrs.count;
}
