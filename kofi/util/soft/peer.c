// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peers of endpoints without connections, include/kofi/peer.h.
 */
#include <linux/in.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/string.h>
#include <net/ipv6.h>
#include <kofi/peer.h>

void kofi_peer_key_set(struct kofi_peer_key *key, const struct sockaddr_storage *addr, u32 index)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)addr;

	memset(key, 0, sizeof(*key));
	key->index = index;
	key->family = addr->ss_family;
	if (addr->ss_family == AF_INET6) {
		key->addr = sin6->sin6_addr;
		key->port = sin6->sin6_port;
		if (ipv6_addr_type(&key->addr) & IPV6_ADDR_LINKLOCAL)
			key->scope = sin6->sin6_scope_id;
	} else {
		key->addr.s6_addr32[3] = sin->sin_addr.s_addr;
		key->port = sin->sin_port;
	}
}
EXPORT_SYMBOL_GPL(kofi_peer_key_set);

/* May another attempt succeed? */
static bool kofi_redial_may_recover(int err)
{
	switch (err) {
	case EALREADY:
	case ECONNRESET:
	case ECONNABORTED:
	case EADDRNOTAVAIL:
	case ENOMEM:
	case EAGAIN:
		return true;
	default:
		return false;
	}
}

bool kofi_redial_failed(struct kofi_redial *redial, int err, unsigned long tick)
{
	unsigned long pause = tick << min(redial->tries, 4U);

	if (!kofi_redial_may_recover(err) ||
	    (redial->tries && time_after(jiffies, redial->give_up)))
		return false;
	redial->tries++;
	redial->next = jiffies + 1 + get_random_u32() % pause;
	return true;
}
EXPORT_SYMBOL_GPL(kofi_redial_failed);
