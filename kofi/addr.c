// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Numeric addresses to socket addresses.
 *
 * The whole string has to be an address: "10.0.0.1:7471", "10.0.0.1 " or a host
 * name are refused instead of being read up to the first odd character.  A
 * "%scope" behind an IPv6 address is the name of an interface or a number.
 *
 * Works on its arguments only; the interface named as scope is looked up once
 * and may be gone when the address is used.
 */
#include <linux/if.h>
#include <linux/inet.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/ipv6.h>
#include <kofi/provider.h>

static int parse_ipv4(const char *node, struct sockaddr_in *sin)
{
	const char *end;

	if (strlen(node) >= INET_ADDRSTRLEN ||
	    !in4_pton(node, -1, (u8 *)&sin->sin_addr, -1, &end) || *end)
		return -EINVAL;

	sin->sin_family = AF_INET;
	return 0;
}

static int parse_scope(struct net *net, const char *scope, u32 *scope_id)
{
	struct net_device *dev;

	if (!*scope || strlen(scope) >= IFNAMSIZ)
		return -EINVAL;

	dev = net ? dev_get_by_name(net, scope) : NULL;
	if (!dev)
		return kstrtou32(scope, 10, scope_id) ? -EINVAL : 0;

	*scope_id = dev->ifindex;
	dev_put(dev);
	return 0;
}

static int parse_ipv6(struct net *net, const char *node,
		      struct sockaddr_in6 *sin6)
{
	u32 scope_id = 0;
	const char *end;
	int err;

	if (!in6_pton(node, -1, (u8 *)&sin6->sin6_addr, '%', &end))
		return -EINVAL;

	if (*end == '%') {
		err = parse_scope(net, end + 1, &scope_id);
		if (err)
			return err;
	} else if (*end) {
		return -EINVAL;
	}

	/* Global addresses have one meaning on all interfaces */
	if (ipv6_addr_type(&sin6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		sin6->sin6_scope_id = scope_id;
	sin6->sin6_family = AF_INET6;
	return 0;
}

static int parse_node(struct net *net, const char *node, int family,
		      struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *sin = (struct sockaddr_in *)addr;

	switch (family) {
	case AF_INET:
		return parse_ipv4(node, sin);
	case AF_INET6:
		return parse_ipv6(net, node, sin6);
	case AF_UNSPEC:
		if (!parse_ipv4(node, sin))
			return 0;
		return parse_ipv6(net, node, sin6);
	default:
		return -EINVAL;
	}
}

int kofi_parse_addr(struct net *net, const char *node, int service, int family,
		    struct sockaddr_storage *addr)
{
	int err = 0;

	if (service < 0 || service > U16_MAX)
		return -EINVAL;

	memset(addr, 0, sizeof(*addr));
	if (node)
		err = parse_node(net, node, family, addr);
	else if (family == AF_INET || family == AF_INET6)
		addr->ss_family = family;
	else
		err = -EINVAL;
	if (err)
		return err;

	if (addr->ss_family == AF_INET)
		((struct sockaddr_in *)addr)->sin_port = htons(service);
	else
		((struct sockaddr_in6 *)addr)->sin6_port = htons(service);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_parse_addr);
