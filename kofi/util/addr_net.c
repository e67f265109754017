// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The addresses of a namespace, and those that a client asks for.
 *
 * kofi_addr_list() copies the addresses of all interfaces into an array under the RTNL;
 * everything that may take long happens after that.
 */
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <kofi/addr.h>
#include <kofi/provider.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/route.h>

/* Most addresses that kofi_addr_list() returns; more than any sane host has */
#define KOFI_MAX_ADDRS		256

/**
 * struct kofi_addrs - The list while it is made
 * @addr: KOFI_MAX_ADDRS elements
 * @count: of these, in use
 * @cut: there are more addresses
 */
struct kofi_addrs {
	struct sockaddr_storage	*addr;
	int			count;
	bool			cut;
};

static struct sockaddr_storage *kofi_addrs_next(struct kofi_addrs *addrs,
						int family)
{
	struct sockaddr_storage *addr;

	addrs->cut = addrs->count == KOFI_MAX_ADDRS;
	if (addrs->cut)
		return NULL;
	addr = &addrs->addr[addrs->count++];
	addr->ss_family = family;
	return addr;
}

static void kofi_addrs_add_in(struct kofi_addrs *addrs,
			      struct net_device *netdev)
{
	struct in_device *in_dev = __in_dev_get_rtnl(netdev);
	const struct in_ifaddr *ifa;
	struct sockaddr_in *sin;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rtnl(ifa, in_dev) {
		sin = (struct sockaddr_in *)kofi_addrs_next(addrs, AF_INET);
		if (!sin)
			return;
		sin->sin_addr.s_addr = ifa->ifa_local;
	}
}

static void kofi_addrs_add_in6(struct kofi_addrs *addrs,
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
		sin6 = (struct sockaddr_in6 *)kofi_addrs_next(addrs, AF_INET6);
		if (!sin6)
			break;
		sin6->sin6_addr = ifa->addr;
		if (ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL)
			sin6->sin6_scope_id = netdev->ifindex;
	}
	read_unlock_bh(&in6_dev->lock);
}

int kofi_addr_list(struct net *net, struct sockaddr_storage **list)
{
	struct kofi_addrs addrs = {};
	struct net_device *netdev;

	addrs.addr = kvcalloc(KOFI_MAX_ADDRS, sizeof(*addrs.addr), GFP_KERNEL);
	if (!addrs.addr)
		return -ENOMEM;

	rtnl_lock();
	for_each_netdev(net, netdev)
		if ((netdev->flags & (IFF_UP | IFF_LOOPBACK)) == IFF_UP)
			kofi_addrs_add_in(&addrs, netdev);
	for_each_netdev(net, netdev)
		if ((netdev->flags & (IFF_UP | IFF_LOOPBACK)) == IFF_UP)
			kofi_addrs_add_in6(&addrs, netdev);
	rtnl_unlock();

	if (addrs.cut)
		kofi_getinfo_reason(NULL,
				    "only %u addresses are listed; ask for others by themselves",
				    KOFI_MAX_ADDRS);
	*list = addrs.addr;
	return addrs.count;
}
EXPORT_SYMBOL_GPL(kofi_addr_list);

bool kofi_addr_is_local(struct net *net, const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)addr;
	struct net_device *netdev = NULL;
	bool local;

	if (addr->ss_family == AF_INET)
		return inet_addr_type(net, sin->sin_addr.s_addr) == RTN_LOCAL;
	if (!IS_ENABLED(CONFIG_IPV6) || kofi_addr_family_is_off(AF_INET6))
		return false;
	rcu_read_lock();
	if (sin6->sin6_scope_id)
		netdev = dev_get_by_index_rcu(net, sin6->sin6_scope_id);
	local = ipv6_chk_addr(net, &sin6->sin6_addr, netdev, 0);
	rcu_read_unlock();
	return local;
}
EXPORT_SYMBOL_GPL(kofi_addr_is_local);

static struct net_device *kofi_find_in6(struct net *net, const struct sockaddr_in6 *sin6)
{
	u32 scope = sin6->sin6_scope_id;
	struct net_device *netdev;

	if (!IS_ENABLED(CONFIG_IPV6) || kofi_addr_family_is_off(AF_INET6))
		return NULL;
	netdev = ipv6_dev_find(net, &sin6->sin6_addr, NULL);
	if (netdev && (!scope || netdev->ifindex == scope))
		return netdev;
	/* Tentative, in a VRF, or on several interfaces */
	for_each_netdev_rcu(net, netdev)
		if ((!scope || netdev->ifindex == scope) &&
		    ipv6_chk_addr_and_flags(net, &sin6->sin6_addr, netdev, false, 1, 0))
			return netdev;
	return NULL;
}

int kofi_addr_ifindex(struct net *net, const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)addr;
	struct net_device *netdev;
	int index;

	rcu_read_lock();
	if (addr->ss_family == AF_INET)
		netdev = __ip_dev_find(net, sin->sin_addr.s_addr, false);
	else
		netdev = kofi_find_in6(net, sin6);
	index = netdev ? netdev->ifindex : 0;
	rcu_read_unlock();
	return index;
}
EXPORT_SYMBOL_GPL(kofi_addr_ifindex);

static int kofi_prefix_in(const struct net_device *netdev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rcu(netdev);
	const struct in_ifaddr *ifa;
	int prefix = 32;

	if (!in_dev)
		return prefix;
	/* All addresses of the network of a loopback interface are local */
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (ifa->ifa_local == addr)
			return ifa->ifa_prefixlen;
		if (inet_ifa_match(addr, ifa))
			prefix = ifa->ifa_prefixlen;
	}
	return prefix;
}

static int kofi_prefix_in6(const struct net_device *netdev, const struct in6_addr *addr)
{
	struct inet6_dev *in6_dev = NULL;
	const struct inet6_ifaddr *ifa;
	int prefix = 128;

	if (IS_ENABLED(CONFIG_IPV6))
		in6_dev = __in6_dev_get(netdev);
	if (!in6_dev)
		return prefix;
	read_lock_bh(&in6_dev->lock);
	list_for_each_entry(ifa, &in6_dev->addr_list, if_list)
		if (ipv6_addr_equal(&ifa->addr, addr))
			prefix = ifa->prefix_len;
	read_unlock_bh(&in6_dev->lock);
	return prefix;
}

void kofi_addr_place(struct net *net, const struct sockaddr_storage *addr,
		     struct kofi_addr_place *place)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)addr;
	const struct net_device *netdev;
	struct in6_addr network6;
	__be32 network;
	int prefix;

	rcu_read_lock();
	if (addr->ss_family == AF_INET)
		netdev = __ip_dev_find(net, sin->sin_addr.s_addr, false);
	else
		netdev = kofi_find_in6(net, sin6);
	/* A local address that no interface has is looped back */
	netdev = netdev ? : net->loopback_dev;
	strscpy(place->interface, netdev->name, sizeof(place->interface));
	if (addr->ss_family == AF_INET) {
		prefix = kofi_prefix_in(netdev, sin->sin_addr.s_addr);
		network = sin->sin_addr.s_addr & inet_make_mask(prefix);
		snprintf(place->network, sizeof(place->network), "%pI4/%d", &network, prefix);
	} else {
		prefix = kofi_prefix_in6(netdev, &sin6->sin6_addr);
		ipv6_addr_prefix(&network6, &sin6->sin6_addr, prefix);
		snprintf(place->network, sizeof(place->network), "%pI6c/%d", &network6, prefix);
	}
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(kofi_addr_place);

struct net *kofi_hints_net(const struct fi_info *hints)
{
	if (hints && hints->fabric_attr && hints->fabric_attr->net)
		return hints->fabric_attr->net;
	return current->nsproxy ? current->nsproxy->net_ns : &init_net;
}
EXPORT_SYMBOL_GPL(kofi_hints_net);

static int kofi_hints_family(const struct fi_info *hints)
{
	if (hints && hints->addr_format == FI_SOCKADDR_IN)
		return AF_INET;
	if (hints && hints->addr_format == FI_SOCKADDR_IN6)
		return AF_INET6;
	return AF_UNSPEC;
}

int kofi_hints_addrs(struct net *net, const char *node, int service, u64 flags,
		     const struct fi_info *hints, struct sockaddr_storage *src,
		     struct sockaddr_storage *dest)
{
	int ret = 0;

	src->ss_family = AF_UNSPEC;
	dest->ss_family = AF_UNSPEC;
	if (node)
		ret = kofi_parse_addr(net, node, service,
				      kofi_hints_family(hints),
				      flags & FI_SOURCE ? src : dest);
	if (!ret && !src->ss_family && hints && hints->src_addr)
		ret = kofi_addr_from_info(src, hints->src_addr,
					  hints->src_addrlen);
	if (!ret && !dest->ss_family && hints && hints->dest_addr &&
	    !(flags & FI_SOURCE))
		ret = kofi_addr_from_info(dest, hints->dest_addr,
					  hints->dest_addrlen);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_hints_addrs);
