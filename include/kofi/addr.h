/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Socket addresses, IPv4 and IPv6.
 *
 * A provider keeps an address as a &struct sockaddr_storage, with zeroes behind the bytes
 * that the family uses.  kofi_addr_from_info() makes an address from a client's bytes, and
 * kofi_parse_addr() of kofi/provider.h makes one from text.  All other functions here take
 * an address whose family is AF_INET or AF_INET6.
 *
 * A function with "Context: any" does not sleep and does not allocate.
 */
#ifndef _KOFI_ADDR_H
#define _KOFI_ADDR_H

#include <linux/if.h>
#include <linux/inet.h>
#include <linux/socket.h>
#include <linux/types.h>

struct fi_info;
struct net;

/**
 * kofi_addr_family_is_off() - Was the machine booted without a family?
 * @family: AF_INET or AF_INET6
 *
 * IPv6 is compiled in nearly everywhere, and is off after ipv6.disable=1.
 *
 * Context: any.
 * Return: whether no address of the family can be used.
 */
bool kofi_addr_family_is_off(int family);

/**
 * kofi_addr_format_len() - How long is an address of a format?
 * @addr_format: FI_SOCKADDR_IN and so on
 *
 * Context: any.
 * Return: bytes, for FI_SOCKADDR those of &struct sockaddr_storage; 0: the format has
 * no socket addresses of IP.
 */
size_t kofi_addr_format_len(u32 addr_format);

/**
 * kofi_addr_len() - How long is an address?
 * @addr: the address
 *
 * Context: any.
 * Return: bytes of &struct sockaddr_in or &struct sockaddr_in6.
 */
size_t kofi_addr_len(const struct sockaddr_storage *addr);

/**
 * kofi_addr_any() - Is it the wildcard address?
 * @addr: the address
 *
 * Context: any.
 * Return: whether it is, with any port.
 */
bool kofi_addr_any(const struct sockaddr_storage *addr);

/**
 * kofi_addr_port() - Get the port of an address
 * @addr: the address
 *
 * Context: any.
 * Return: the port, host byte order.
 */
int kofi_addr_port(const struct sockaddr_storage *addr);

/**
 * kofi_addr_set_port() - Set the port of an address
 * @addr: the address
 * @port: host byte order
 *
 * Context: any.
 */
void kofi_addr_set_port(struct sockaddr_storage *addr, int port);

/**
 * kofi_addr_set_scope() - Give a link-local address without a scope the scope that it lacks
 * @addr: any address; others stay as they are
 * @ifindex: the interface
 *
 * Context: any.
 */
void kofi_addr_set_scope(struct sockaddr_storage *addr, u32 ifindex);

/**
 * kofi_addr_equal() - Do two addresses name one endpoint?
 * @a: an address
 * @b: an address
 *
 * The scope counts for link-local addresses only, because any other address means the same
 * on every interface.  Flow labels and padding do not count.
 *
 * Context: any.
 * Return: whether they do.
 */
bool kofi_addr_equal(const struct sockaddr_storage *a,
		     const struct sockaddr_storage *b);

/**
 * kofi_addr_cmp() - Compare two addresses of a family: byte by byte, then their ports
 * @a: an address
 * @b: an address
 *
 * Both ends of a connection get the same order, whatever their byte order is.
 *
 * Context: any.
 * Return: less than 0, 0, or more, as memcmp().
 */
int kofi_addr_cmp(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/**
 * kofi_addr_from_info() - Take an address from a client
 * @to: the address
 * @addr: the client's bytes, or NULL
 * @len: how many
 *
 * Only the family and the length are checked.
 *
 * Context: any.
 * Return: 0; -EINVAL: no address, of another family, or shorter than its family says;
 * -EAFNOSUPPORT: kofi_addr_family_is_off(), and @to has the address.
 */
int kofi_addr_from_info(struct sockaddr_storage *to, const void *addr,
			size_t len);

/**
 * kofi_addr_get() - kofi_addr_from_info() for a control call
 * @call: the call, see kofi/refuse.h
 * @arg: name of the argument or field
 * @to: where the address goes
 * @addr: the address; NULL is refused
 * @len: its bytes
 *
 * Context: any.
 * Return: 0; -EINVAL: it is no address; -EAFNOSUPPORT: IPv6, which the machine lacks.
 */
int kofi_addr_get(const char *call, const char *arg, struct sockaddr_storage *to,
		  const void *addr, size_t len);

/**
 * kofi_addr_copy_out() - Give an address to a client, as fi_getname() does
 * @addr: the address
 * @to: where to, or NULL
 * @len: in: bytes at @to; out: bytes of the address
 *
 * Copies as many bytes as fit.
 *
 * Context: any.
 * Return: 0; -FI_ETOOSMALL.
 */
int kofi_addr_copy_out(const struct sockaddr_storage *addr, void *to,
		       size_t *len);

/**
 * kofi_addr_straddr() - Print an address, as fi_av_straddr() does
 * @addr: the address
 * @buf: where the text goes; cut if there is not room for all of it
 * @len: in: bytes of @buf; out: bytes that the text needs, with the 0 behind it
 *
 * The text is libfabric's: fi_sockaddr_in://10.0.0.1:7471,
 * fi_sockaddr_in6://[fd00::1]:7471; but a link-local address has its scope, as a number:
 * fi_sockaddr_in6://[fe80::1%2]:7471.
 *
 * Context: any.
 * Return: @buf.
 */
const char *kofi_addr_straddr(const struct sockaddr_storage *addr, char *buf,
			      size_t *len);

/**
 * kofi_addr_list() - Get the addresses of a namespace
 * @net: the namespace
 * @list: the addresses, with port 0, IPv4 before IPv6; kvfree() them
 *
 * The list has the addresses of interfaces that are up, without loopback interfaces.  It has 256
 * at most; if there are more, fi_getinfo_why() says so.
 *
 * Context: may sleep.
 * Return: how many; -ENOMEM.
 */
int kofi_addr_list(struct net *net, struct sockaddr_storage **list);

/**
 * kofi_addr_is_local() - Does the namespace have an address?
 * @net: the namespace
 * @addr: the address
 *
 * Context: any.
 * Return: whether an interface has it, loopback interfaces included.
 */
bool kofi_addr_is_local(struct net *net, const struct sockaddr_storage *addr);

/**
 * kofi_addr_ifindex() - Which interface has an address?
 * @net: the namespace
 * @addr: the address
 *
 * Other than kofi_addr_is_local(), this finds an IPv6 address while duplicate address detection
 * runs, and addresses of a VRF.
 *
 * Context: any.
 * Return: the index of an interface, loopback interfaces included; 0: there is none.
 */
int kofi_addr_ifindex(struct net *net, const struct sockaddr_storage *addr);

/**
 * struct kofi_addr_place - Where an address is
 * @network: its network, in text: 10.0.0.0/24
 * @interface: name of its interface
 */
struct kofi_addr_place {
	char	network[INET6_ADDRSTRLEN + 4];
	char	interface[IFNAMSIZ];
};

/**
 * kofi_addr_place() - Where is an address?
 * @net: the namespace
 * @addr: a local address, no wildcard
 * @place: filled in; of an address that no interface has: the address itself, and the loopback
 *	interface
 *
 * Context: any.
 */
void kofi_addr_place(struct net *net, const struct sockaddr_storage *addr,
		     struct kofi_addr_place *place);

/**
 * kofi_hints_net() - In which namespace does a client ask?
 * @hints: as fi_getinfo()
 *
 * Context: may sleep.
 * Return: the namespace.
 */
struct net *kofi_hints_net(const struct fi_info *hints);

/**
 * kofi_hints_addrs() - Which addresses does a client ask for?
 * @net: namespace of the addresses
 * @node: as fi_getinfo()
 * @service: as fi_getinfo()
 * @flags: as fi_getinfo()
 * @hints: as fi_getinfo()
 * @src: its own address; family 0: any
 * @dest: the peer's; family 0: none is given
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: the arguments make no address; -EAFNOSUPPORT: as
 * kofi_addr_from_info().
 */
int kofi_hints_addrs(struct net *net, const char *node, int service, u64 flags,
		     const struct fi_info *hints, struct sockaddr_storage *src,
		     struct sockaddr_storage *dest);

#endif /* _KOFI_ADDR_H */
