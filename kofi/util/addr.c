// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Socket addresses, and numeric addresses as text.
 *
 * kofi_parse_addr() accepts a text as a whole or refuses it: it refuses "10.0.0.1:7471",
 * "10.0.0.1 " or a host name, instead of reading up to the first odd character.  A
 * "%scope" behind an IPv6 address is the name of an interface or a number.
 *
 * Both refuse an IPv6 address on a machine that was booted with ipv6.disable=1.  The kernel's
 * IPv6 has no tables then, and ipv6_chk_addr(), which rdma_bind_addr() calls, too, follows a NULL
 * pointer.  So no such address may reach a provider.
 *
 * Otherwise the functions here depend on their arguments only.  The interface that a scope names
 * is looked up once, and may be gone when the address is used.
 */
#include <linux/if.h>
#include <linux/inet.h>
#include <linux/ipv6.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/ipv6.h>
#include <kofi/addr.h>
#include <kofi/provider.h>
#include <kofi/refuse.h>

static const struct sockaddr_in *in4(const struct sockaddr_storage *addr)
{
	return (const struct sockaddr_in *)addr;
}

static const struct sockaddr_in6 *in6(const struct sockaddr_storage *addr)
{
	return (const struct sockaddr_in6 *)addr;
}

bool kofi_addr_family_is_off(int family)
{
	return family == AF_INET6 && !ipv6_mod_enabled();
}
EXPORT_SYMBOL_GPL(kofi_addr_family_is_off);

size_t kofi_addr_format_len(u32 addr_format)
{
	switch (addr_format) {
	case FI_SOCKADDR:
		return sizeof(struct sockaddr_storage);
	case FI_SOCKADDR_IN:
		return sizeof(struct sockaddr_in);
	case FI_SOCKADDR_IN6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}
EXPORT_SYMBOL_GPL(kofi_addr_format_len);

size_t kofi_addr_len(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
					     sizeof(struct sockaddr_in);
}
EXPORT_SYMBOL_GPL(kofi_addr_len);

bool kofi_addr_any(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET6)
		return ipv6_addr_any(&in6(addr)->sin6_addr);
	return !in4(addr)->sin_addr.s_addr;
}
EXPORT_SYMBOL_GPL(kofi_addr_any);

int kofi_addr_port(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET6)
		return ntohs(in6(addr)->sin6_port);
	return ntohs(in4(addr)->sin_port);
}
EXPORT_SYMBOL_GPL(kofi_addr_port);

void kofi_addr_set_port(struct sockaddr_storage *addr, int port)
{
	if (addr->ss_family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)addr)->sin_port = htons(port);
}
EXPORT_SYMBOL_GPL(kofi_addr_set_port);

void kofi_addr_set_scope(struct sockaddr_storage *addr, u32 ifindex)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)addr;

	if (addr->ss_family == AF_INET6 && !sin6->sin6_scope_id &&
	    ipv6_addr_type(&sin6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		sin6->sin6_scope_id = ifindex;
}
EXPORT_SYMBOL_GPL(kofi_addr_set_scope);

bool kofi_addr_equal(const struct sockaddr_storage *a,
		     const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family ||
	    kofi_addr_port(a) != kofi_addr_port(b))
		return false;
	if (a->ss_family == AF_INET)
		return in4(a)->sin_addr.s_addr == in4(b)->sin_addr.s_addr;
	if (!ipv6_addr_equal(&in6(a)->sin6_addr, &in6(b)->sin6_addr))
		return false;
	return in6(a)->sin6_scope_id == in6(b)->sin6_scope_id ||
	       !(ipv6_addr_type(&in6(a)->sin6_addr) & IPV6_ADDR_LINKLOCAL);
}
EXPORT_SYMBOL_GPL(kofi_addr_equal);

int kofi_addr_cmp(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	int ret;

	if (a->ss_family == AF_INET6)
		ret = memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr));
	else
		ret = memcmp(&a4->sin_addr, &b4->sin_addr, sizeof(a4->sin_addr));
	return ret ? : kofi_addr_port(a) - kofi_addr_port(b);
}
EXPORT_SYMBOL_GPL(kofi_addr_cmp);

int kofi_addr_from_info(struct sockaddr_storage *to, const void *addr,
			size_t len)
{
	if (!addr || len < sizeof(sa_family_t) || len > sizeof(*to))
		return -EINVAL;

	memset(to, 0, sizeof(*to));
	memcpy(to, addr, len);
	if (to->ss_family != AF_INET && to->ss_family != AF_INET6)
		return -EINVAL;
	if (len < kofi_addr_len(to))
		return -EINVAL;
	return kofi_addr_family_is_off(to->ss_family) ? -EAFNOSUPPORT : 0;
}
EXPORT_SYMBOL_GPL(kofi_addr_from_info);

int kofi_addr_get(const char *call, const char *arg, struct sockaddr_storage *to,
		  const void *addr, size_t len)
{
	int ret = kofi_addr_from_info(to, addr, len);

	if (ret == -EAFNOSUPPORT)
		return kofi_refuse(call, ret, "%s: the machine was booted without IPv6", arg);
	if (ret)
		return kofi_refuse(call, ret, "%s: %zu bytes, which are no IPv4 or IPv6 address",
				   arg, len);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_addr_get);

int kofi_addr_copy_out(const struct sockaddr_storage *addr, void *to,
		       size_t *len)
{
	size_t need = kofi_addr_len(addr);
	bool fits = *len >= need;

	if (to && *len)
		memcpy(to, addr, min(*len, need));
	*len = need;
	return fits && to ? 0 : -FI_ETOOSMALL;
}
EXPORT_SYMBOL_GPL(kofi_addr_copy_out);

const char *kofi_addr_straddr(const struct sockaddr_storage *addr, char *buf,
			      size_t *len)
{
	u32 scope = addr->ss_family == AF_INET6 ? in6(addr)->sin6_scope_id : 0;
	int need;

	/* Without the scope the text of a link-local address names no peer */
	if (scope && ipv6_addr_type(&in6(addr)->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		need = snprintf(buf, *len, "fi_sockaddr_in6://[%pI6c%%%u]:%d",
				&in6(addr)->sin6_addr, scope, kofi_addr_port(addr));
	else if (addr->ss_family == AF_INET6)
		need = snprintf(buf, *len, "fi_sockaddr_in6://[%pI6c]:%d",
				&in6(addr)->sin6_addr, kofi_addr_port(addr));
	else
		need = snprintf(buf, *len, "fi_sockaddr_in://%pI4:%d",
				&in4(addr)->sin_addr, kofi_addr_port(addr));
	*len = need + 1;
	return buf;
}
EXPORT_SYMBOL_GPL(kofi_addr_straddr);

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

	if (!in6_pton(node, -1, (u8 *)&sin6->sin6_addr, '%', &end) || (*end && *end != '%'))
		return -EINVAL;

	if (*end) {
		err = parse_scope(net, end + 1, &scope_id);
		if (err)
			return err;
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
	if (kofi_addr_family_is_off(addr->ss_family))
		return -EAFNOSUPPORT;

	kofi_addr_set_port(addr, service);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_parse_addr);
