/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Peers of endpoints without connections: what providers have in common that make connections for
 * them.
 */
#ifndef _KOFI_PEER_H
#define _KOFI_PEER_H

#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/sizes.h>
#include <linux/socket.h>
#include <linux/types.h>

/**
 * struct kofi_peer_key - What a peer is known by
 * @addr: its IPv6 address, or an IPv4 address in the last word
 * @scope: scope of a link-local address
 * @index: receive context that is sent to
 * @port: where it listens, in network byte order
 * @family: AF_INET or AF_INET6
 *
 * kofi_peer_key_set() makes it and zeroes what is unused, as tables compare all bytes.
 */
struct kofi_peer_key {
	struct in6_addr		addr;
	u32			scope;
	u32			index;
	__be16			port;
	u16			family;
};

/**
 * kofi_peer_key_set() - Make the key of a peer
 * @key: all of it is written
 * @addr: its address, of the family AF_INET or AF_INET6
 * @index: receive context that is sent to
 *
 * Context: any.
 */
void kofi_peer_key_set(struct kofi_peer_key *key, const struct sockaddr_storage *addr, u32 index);

/**
 * struct kofi_redial - Attempts to connect to a peer
 * @tries: how many have failed in a row
 * @next: jiffies: no attempt before, if one has failed
 * @give_up: jiffies: no further attempt afterwards
 *
 * The provider serializes the calls.
 */
struct kofi_redial {
	unsigned int		tries;
	unsigned long		next;
	unsigned long		give_up;
};

/**
 * kofi_redial_begin() - An attempt is made
 * @redial: of the peer
 * @limit: jiffies from the first attempt on in which others may follow
 *
 * Context: any.
 */
static inline void kofi_redial_begin(struct kofi_redial *redial, unsigned long limit)
{
	if (!redial->tries)
		redial->give_up = jiffies + limit;
}

/**
 * kofi_redial_failed() - An attempt has failed
 * @redial: of the peer
 * @err: why, positive; EALREADY: the peer has a connection, or makes one
 * @tick: jiffies that pass before the second attempt, at most; later pauses are longer
 *
 * The pauses are random, so that many peers of one endpoint that is short of something do not come
 * back at once.
 *
 * Context: any.
 * Return: whether to try again: the error may pass, and the time is not over.
 */
bool kofi_redial_failed(struct kofi_redial *redial, int err, unsigned long tick);

/**
 * kofi_redial_is_early() - Is it too early for the next attempt?
 * @redial: of the peer
 *
 * Context: any.
 * Return: whether it is.
 */
static inline bool kofi_redial_is_early(const struct kofi_redial *redial)
{
	return redial->tries && time_before(jiffies, redial->next);
}

/**
 * kofi_redial_end() - The peer has a connection, or has been given up
 * @redial: of the peer
 *
 * Context: any.
 */
static inline void kofi_redial_end(struct kofi_redial *redial)
{
	redial->tries = 0;
}

/**
 * kofi_peer_is_slow() - Does a message come so slowly that its peer is to be given up?
 * @since: jiffies: when it began to come
 * @bytes: bytes that have come
 * @grace: jiffies from then on that do not count
 * @rate: KiB that have to come in each second after these; 0: there is no limit
 *
 * A peer announces the length of a message, and may send so little of it at a time that the message
 * never ends, although something comes again and again.
 *
 * Context: any.
 * Return: whether it does.
 */
static inline bool kofi_peer_is_slow(unsigned long since, u64 bytes, unsigned long grace, u32 rate)
{
	unsigned long time = jiffies - since;

	return time > grace && bytes < div_u64((u64)rate * SZ_1K *
					       jiffies_to_msecs(time - grace), MSEC_PER_SEC);
}

#endif /* _KOFI_PEER_H */
