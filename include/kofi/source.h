/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Source addresses: what the peers of one host together hold of an endpoint without connections.
 *
 * A peer says in its request which port it listens at.  So one host can be as many peers as it
 * likes, and what is fair is fair by the address that connections come from.  A host may have all
 * addresses of its IPv6 network, so of an IPv6 address the first 64 bits count; of a link-local
 * one, all of them do.
 *
 * A struct kofi_source is there as long as it has a user: a connection from the address, or
 * something that outlives it.
 *
 * A struct kofi_quota is room that connections take, as that for messages without a receive.  No
 * connection gets more of it than a bound, and no address more than is left for all others.  So one
 * address that floods leaves half of the room, two leave a third, and so on.
 *
 *	kofi_quota_take()	takes room, if there is some
 *	kofi_quota_wait()	there is none, and the connection waits
 *	kofi_quota_give()	gives room back; then the provider resumes the connection that
 *	kofi_quota_next()	finds: addresses take turns, and so do the connections of each
 *
 * A connection waits until it takes room, or kofi_quota_stop() is called.  In both cases the
 * provider calls kofi_quota_next() again, as another connection may find room.  If it lacks memory
 * for what has taken room, it does so only for a connection that wants fewer bytes.
 */
#ifndef _KOFI_SOURCE_H
#define _KOFI_SOURCE_H

#include <linux/build_bug.h>
#include <linux/hashtable.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/siphash.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/stddef.h>
#include <linux/types.h>

#define KOFI_SOURCE_BITS	6	/* of the hash of an address */
#define KOFI_QUOTA_LOOKS	16	/* addresses and connections that one call looks at */

/**
 * struct kofi_source_key - Where connections come from
 * @addr: an IPv6 network of 64 bits, a link-local address, or an IPv4 address in the last word
 * @scope: scope of a link-local address
 * @family: AF_INET or AF_INET6
 */
struct kofi_source_key {
	struct in6_addr		addr;
	u32			scope;
	u32			family;
};

/* Keys are compared and hashed as bytes */
static_assert(sizeof(struct kofi_source_key) == offsetofend(struct kofi_source_key, family));

/**
 * struct kofi_quota_limits - What a quota has
 * @msgs: messages
 * @bytes: and their bytes
 * @conn_msgs: messages of a connection
 * @conn_bytes: and their bytes
 * @max: bytes of a message
 */
struct kofi_quota_limits {
	u32			msgs;
	size_t			bytes;
	u32			conn_msgs;
	size_t			conn_bytes;
	size_t			max;
};

/**
 * struct kofi_quota_part - What has been taken
 * @msgs: messages
 * @bytes: and their bytes
 */
struct kofi_quota_part {
	u32			msgs;
	size_t			bytes;
};

/**
 * struct kofi_quota - Room that is divided by address
 * @limits: what there is
 * @used: by all
 * @hungry: &struct kofi_quota_source with connections that wait
 *
 * The provider serializes all calls for a quota.
 */
struct kofi_quota {
	const struct kofi_quota_limits	*limits;
	struct kofi_quota_part		used;
	struct list_head		hungry;
};

/**
 * struct kofi_quota_source - The part of an address
 * @used: by its connections
 * @waiting: &struct kofi_quota_conn that wait
 * @hungry: in kofi_quota.hungry, if @waiting is not empty
 */
struct kofi_quota_source {
	struct kofi_quota_part		used;
	struct list_head		waiting;
	struct list_head		hungry;
};

/**
 * struct kofi_quota_conn - The part of a connection
 * @source: that of its address
 * @used: by the connection
 * @waiting: in kofi_quota_source.waiting
 * @wants: bytes that it waits for
 */
struct kofi_quota_conn {
	struct kofi_quota_source	*source;
	struct kofi_quota_part		used;
	struct list_head		waiting;
	size_t				wants;
};

/**
 * struct kofi_source - An address
 * @node: in the table
 * @key: the address
 * @users: how many kofi_source_put() are due; guarded by kofi_sources.lock
 * @accepted: connections that were accepted and are not over; the provider's, as all that follow
 * @waiting: messages that have a place among those that wait for their receive
 * @kept: its part of the room for messages that are kept
 * @rts: and for RTS messages
 */
struct kofi_source {
	struct hlist_node		node;
	struct kofi_source_key		key;
	unsigned int			users;
	unsigned int			accepted;
	u32				waiting;
	struct kofi_quota_source	kept;
	struct kofi_quota_source	rts;
};

/**
 * struct kofi_sources - The addresses that the peers of an endpoint have
 * @lock: guards the table; taken with interrupts off
 * @secret: key of the hash, so that a peer cannot choose addresses that collide
 * @table: &struct kofi_source
 */
struct kofi_sources {
	spinlock_t		lock; /* of the table */
	hsiphash_key_t		secret;
	DECLARE_HASHTABLE(table, KOFI_SOURCE_BITS);
};

/**
 * kofi_source_key_set() - Where does a connection come from?
 * @key: all of it is written, as tables compare all bytes
 * @addr: address of the peer, with any port
 *
 * Context: any.
 */
void kofi_source_key_set(struct kofi_source_key *key, const struct sockaddr_storage *addr);

/**
 * kofi_sources_init() - Set a table of addresses up
 * @sources: the table
 *
 * Context: any.
 */
void kofi_sources_init(struct kofi_sources *sources);

/**
 * kofi_source_get() - Find an address, or make it
 * @sources: the table
 * @addr: the address, with any port
 *
 * Context: may sleep.
 * Return: the address, and kofi_source_put() is due; NULL: there is no memory.
 */
struct kofi_source *kofi_source_get(struct kofi_sources *sources,
				    const struct sockaddr_storage *addr);

/**
 * kofi_source_hold() - Count one more user
 * @sources: the table
 * @source: an address with a user
 *
 * Context: any.
 */
void kofi_source_hold(struct kofi_sources *sources, struct kofi_source *source);

/**
 * kofi_source_put() - Count one user less
 * @sources: the table
 * @source: the address, which is freed with its last user
 *
 * Context: any.
 */
void kofi_source_put(struct kofi_sources *sources, struct kofi_source *source);

/**
 * kofi_source_accepted() - Get how many connections from an address were accepted
 * @sources: the table
 * @addr: the address, with any port
 *
 * Context: any; the caller serializes changes of kofi_source.accepted.
 * Return: how many are not over.
 */
unsigned int kofi_source_accepted(struct kofi_sources *sources,
				  const struct sockaddr_storage *addr);

/**
 * kofi_quota_init() - Set a quota up
 * @quota: the quota
 * @limits: what there is; stays as long as the quota
 *
 * Context: any.
 */
void kofi_quota_init(struct kofi_quota *quota, const struct kofi_quota_limits *limits);

/**
 * kofi_quota_conn_init() - Set the part of a connection up
 * @conn: the part
 * @source: that of its address, which stays as long as the connection
 *
 * Context: any.
 */
void kofi_quota_conn_init(struct kofi_quota_conn *conn, struct kofi_quota_source *source);

/**
 * kofi_quota_take() - Take room for a message
 * @quota: the quota
 * @source: the address
 * @conn: the connection, which waits no more if there is room; NULL: it is over, and its bounds do
 *	not count
 * @len: bytes of the message
 *
 * Context: any.
 * Return: true: there is room, and kofi_quota_give() is due; false: there is none.
 */
bool kofi_quota_take(struct kofi_quota *quota, struct kofi_quota_source *source,
		     struct kofi_quota_conn *conn, size_t len);

/**
 * kofi_quota_give() - Give the room of a message back
 * @quota: the quota
 * @source: the address that has taken it
 * @conn: the connection that has; NULL: it is over, or was when it took the room
 * @len: bytes of the message
 *
 * Context: any.
 */
void kofi_quota_give(struct kofi_quota *quota, struct kofi_quota_source *source,
		     struct kofi_quota_conn *conn, size_t len);

/**
 * kofi_quota_wait() - Wait for room
 * @quota: the quota
 * @conn: the connection; one that waits already keeps its turn
 * @len: bytes that it waits for; more than a message may have: it does not wait
 *
 * Context: any.
 */
void kofi_quota_wait(struct kofi_quota *quota, struct kofi_quota_conn *conn, size_t len);

/**
 * kofi_quota_stop() - Wait no more
 * @conn: the connection
 *
 * Context: any.
 * Return: whether it has waited.
 */
bool kofi_quota_stop(struct kofi_quota_conn *conn);

/**
 * kofi_quota_next() - Find a connection that waits and finds room
 * @quota: the quota
 *
 * The connection goes on waiting, behind all others.  kofi_quota_next() looks at KOFI_QUOTA_LOOKS
 * addresses and connections, as the caller may have interrupts off, and begins with another address
 * each time.  So the provider calls it from time to time, too, as long as connections wait.
 *
 * Context: any.
 * Return: the connection; NULL: none of them finds room.
 */
struct kofi_quota_conn *kofi_quota_next(struct kofi_quota *quota);

/**
 * kofi_quota_is_wanted() - Does a connection wait that has more right to room than an address?
 * @quota: the quota
 * @source: the address
 *
 * For messages that nobody has taken, and whose connection is over.
 *
 * Context: any.
 * Return: true: a connection of this address waits, or of one that has less.
 */
bool kofi_quota_is_wanted(struct kofi_quota *quota, const struct kofi_quota_source *source);

#endif /* _KOFI_SOURCE_H */
