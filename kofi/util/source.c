// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Source addresses and their quotas, include/kofi/source.h.
 *
 * The table has a fixed number of buckets: it is looked up when a connection begins, and changed
 * with its first and last user, which may be in any context.
 */
#include <linux/in.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/ipv6.h>
#include <kofi/source.h>

/* The table */

void kofi_source_key_set(struct kofi_source_key *key, const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)addr;

	*key = (struct kofi_source_key) { .family = addr->ss_family };
	if (addr->ss_family != AF_INET6) {
		key->addr.s6_addr32[3] = sin->sin_addr.s_addr;
		return;
	}
	key->addr = sin6->sin6_addr;
	if (ipv6_addr_type(&key->addr) & IPV6_ADDR_LINKLOCAL) {
		key->scope = sin6->sin6_scope_id;
		return;
	}
	key->addr.s6_addr32[2] = 0;
	key->addr.s6_addr32[3] = 0;
}
EXPORT_SYMBOL_GPL(kofi_source_key_set);

void kofi_sources_init(struct kofi_sources *sources)
{
	spin_lock_init(&sources->lock);
	get_random_bytes(&sources->secret, sizeof(sources->secret));
	hash_init(sources->table);
}
EXPORT_SYMBOL_GPL(kofi_sources_init);

static struct hlist_head *kofi_source_bucket(struct kofi_sources *sources,
					     const struct kofi_source_key *key)
{
	u32 hash = hsiphash(key, sizeof(*key), &sources->secret);

	return &sources->table[hash_min(hash, KOFI_SOURCE_BITS)];
}

static struct kofi_source *kofi_source_find(struct kofi_sources *sources,
					    const struct kofi_source_key *key)
{
	struct kofi_source *source;

	lockdep_assert_held(&sources->lock);
	hlist_for_each_entry(source, kofi_source_bucket(sources, key), node)
		if (!memcmp(&source->key, key, sizeof(*key)))
			return source;
	return NULL;
}

static void kofi_quota_source_init(struct kofi_quota_source *source)
{
	INIT_LIST_HEAD(&source->waiting);
	INIT_LIST_HEAD(&source->hungry);
}

struct kofi_source *kofi_source_get(struct kofi_sources *sources,
				    const struct sockaddr_storage *addr)
{
	struct kofi_source *made = kzalloc(sizeof(*made), GFP_KERNEL), *source;
	unsigned long flags;

	if (!made)
		return NULL;
	kofi_source_key_set(&made->key, addr);
	kofi_quota_source_init(&made->kept);
	kofi_quota_source_init(&made->rts);
	spin_lock_irqsave(&sources->lock, flags);
	source = kofi_source_find(sources, &made->key);
	if (!source) {
		source = made;
		hlist_add_head(&source->node, kofi_source_bucket(sources, &source->key));
	}
	source->users++;
	spin_unlock_irqrestore(&sources->lock, flags);
	if (source != made)
		kfree(made);
	return source;
}
EXPORT_SYMBOL_GPL(kofi_source_get);

void kofi_source_hold(struct kofi_sources *sources, struct kofi_source *source)
{
	unsigned long flags;

	spin_lock_irqsave(&sources->lock, flags);
	source->users++;
	spin_unlock_irqrestore(&sources->lock, flags);
}
EXPORT_SYMBOL_GPL(kofi_source_hold);

void kofi_source_put(struct kofi_sources *sources, struct kofi_source *source)
{
	unsigned long flags;
	bool last;

	spin_lock_irqsave(&sources->lock, flags);
	last = !--source->users;
	if (last)
		hlist_del(&source->node);
	spin_unlock_irqrestore(&sources->lock, flags);
	if (!last)
		return;
	/* Its connections and messages have given back what they counted */
	WARN_ON_ONCE(source->accepted || source->waiting || source->kept.used.msgs ||
		     source->rts.used.msgs);
	kfree(source);
}
EXPORT_SYMBOL_GPL(kofi_source_put);

unsigned int kofi_source_accepted(struct kofi_sources *sources,
				  const struct sockaddr_storage *addr)
{
	const struct kofi_source *source;
	struct kofi_source_key key;
	unsigned int count = 0;
	unsigned long flags;

	kofi_source_key_set(&key, addr);
	spin_lock_irqsave(&sources->lock, flags);
	source = kofi_source_find(sources, &key);
	if (source)
		count = source->accepted;
	spin_unlock_irqrestore(&sources->lock, flags);
	return count;
}
EXPORT_SYMBOL_GPL(kofi_source_accepted);

/* Quotas */

void kofi_quota_init(struct kofi_quota *quota, const struct kofi_quota_limits *limits)
{
	*quota = (struct kofi_quota) { .limits = limits };
	INIT_LIST_HEAD(&quota->hungry);
}
EXPORT_SYMBOL_GPL(kofi_quota_init);

void kofi_quota_conn_init(struct kofi_quota_conn *conn, struct kofi_quota_source *source)
{
	*conn = (struct kofi_quota_conn) { .source = source };
	INIT_LIST_HEAD(&conn->waiting);
}
EXPORT_SYMBOL_GPL(kofi_quota_conn_init);

/* May an address have one more message? */
static bool kofi_quota_source_may(const struct kofi_quota *quota,
				  const struct kofi_quota_source *source, size_t len)
{
	const struct kofi_quota_limits *limits = quota->limits;

	return source->used.msgs < limits->msgs - quota->used.msgs &&
	       source->used.bytes + len <= limits->bytes - quota->used.bytes;
}

/* May a connection, whose address may? */
static bool kofi_quota_conn_may(const struct kofi_quota *quota, const struct kofi_quota_conn *conn,
				size_t len)
{
	const struct kofi_quota_limits *limits = quota->limits;

	return conn->used.msgs < limits->conn_msgs &&
	       conn->used.bytes + len <= limits->conn_bytes;
}

static void kofi_quota_add(struct kofi_quota_part *part, int msgs, ssize_t bytes)
{
	part->msgs += msgs;
	part->bytes += bytes;
}

bool kofi_quota_take(struct kofi_quota *quota, struct kofi_quota_source *source,
		     struct kofi_quota_conn *conn, size_t len)
{
	if (len > quota->limits->max || !kofi_quota_source_may(quota, source, len) ||
	    (conn && !kofi_quota_conn_may(quota, conn, len)))
		return false;
	kofi_quota_add(&quota->used, 1, len);
	kofi_quota_add(&source->used, 1, len);
	if (!conn)
		return true;
	kofi_quota_add(&conn->used, 1, len);
	kofi_quota_stop(conn);
	return true;
}
EXPORT_SYMBOL_GPL(kofi_quota_take);

void kofi_quota_give(struct kofi_quota *quota, struct kofi_quota_source *source,
		     struct kofi_quota_conn *conn, size_t len)
{
	kofi_quota_add(&quota->used, -1, -len);
	kofi_quota_add(&source->used, -1, -len);
	if (conn)
		kofi_quota_add(&conn->used, -1, -len);
}
EXPORT_SYMBOL_GPL(kofi_quota_give);

void kofi_quota_wait(struct kofi_quota *quota, struct kofi_quota_conn *conn, size_t len)
{
	struct kofi_quota_source *source = conn->source;

	if (len > quota->limits->max)
		return;
	conn->wants = len;
	if (list_empty(&conn->waiting))
		list_add_tail(&conn->waiting, &source->waiting);
	if (list_empty(&source->hungry))
		list_add_tail(&source->hungry, &quota->hungry);
}
EXPORT_SYMBOL_GPL(kofi_quota_wait);

bool kofi_quota_stop(struct kofi_quota_conn *conn)
{
	struct kofi_quota_source *source = conn->source;

	if (list_empty(&conn->waiting))
		return false;
	list_del_init(&conn->waiting);
	if (list_empty(&source->waiting))
		list_del_init(&source->hungry);
	return true;
}
EXPORT_SYMBOL_GPL(kofi_quota_stop);

/* A connection of an address that finds room, or NULL; counts *@looks down */
static struct kofi_quota_conn *kofi_quota_next_conn(const struct kofi_quota *quota,
						    struct kofi_quota_source *source, int *looks)
{
	struct kofi_quota_conn *conn;

	--*looks;
	if (!kofi_quota_source_may(quota, source, 0))
		return NULL;
	list_for_each_entry(conn, &source->waiting, waiting) {
		if (kofi_quota_source_may(quota, source, conn->wants) &&
		    kofi_quota_conn_may(quota, conn, conn->wants)) {
			list_move_tail(&conn->waiting, &source->waiting);
			return conn;
		}
		if (--*looks <= 0)
			break;
	}
	list_rotate_left(&source->waiting);
	return NULL;
}

struct kofi_quota_conn *kofi_quota_next(struct kofi_quota *quota)
{
	struct kofi_quota_source *source;
	struct kofi_quota_conn *conn;
	int looks = KOFI_QUOTA_LOOKS;

	list_for_each_entry(source, &quota->hungry, hungry) {
		conn = kofi_quota_next_conn(quota, source, &looks);
		if (conn) {
			list_move_tail(&source->hungry, &quota->hungry);
			return conn;
		}
		if (looks <= 0)
			break;
	}
	list_rotate_left(&quota->hungry);
	return NULL;
}
EXPORT_SYMBOL_GPL(kofi_quota_next);

bool kofi_quota_is_wanted(struct kofi_quota *quota, const struct kofi_quota_source *source)
{
	const struct kofi_quota_source *hungry;

	if (!list_empty(&source->waiting))
		return true;
	hungry = list_first_entry_or_null(&quota->hungry, struct kofi_quota_source, hungry);
	return hungry && (source->used.msgs > hungry->used.msgs ||
			  source->used.bytes > hungry->used.bytes);
}
EXPORT_SYMBOL_GPL(kofi_quota_is_wanted);
