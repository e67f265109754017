// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address vectors.
 *
 * An address is an entry that two structures point to: an xarray by index, and a hash
 * table by value.  Both are read under RCU, and changed under the vector's mutex.  The
 * value of an entry never changes; an entry is freed after a grace period.
 *
 * The value is what distinguishes endpoints: family, address, port, and the scope of a link-local
 * address.  Flow labels and padding are not kept.
 *
 * Before another address gets an index, the provider has to forget what it keeps by that index.
 * fi_av_remove() calls the provider for this, without the mutex.  So it first takes the address
 * out of the hash table and leaves the index reserved (XA_ZERO_ENTRY).  To look-ups a reserved
 * index is free, but xa_alloc() does not give it out.  Then fi_av_remove() calls the provider,
 * and frees the index.
 *
 * Completions name a peer by the entry's user_id.  It is the entry's fi_addr_t until the client
 * sets another one; in a vector opened with FI_AV_USER_ID it is FI_ADDR_NOTAVAIL until then.
 */
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <kofi/addr.h>
#include <kofi/av.h>
#include <kofi/provider.h>
#include <kofi/refuse.h>
#include <kofi/stat.h>
#include "../kofi.h"

#define KOFI_AV_FLAGS		(FI_SYMMETRIC | FI_AV_USER_ID)
#define KOFI_AV_INSERT_FLAGS	(FI_MORE | FI_SYNC_ERR | FI_AV_USER_ID)

/**
 * struct kofi_av_key - The parts of an address that distinguish endpoints
 * @addr: the address; an IPv4 address is in the last word
 * @scope: of a link-local address; else 0
 * @port: the port
 * @family: AF_INET or AF_INET6
 */
struct kofi_av_key {
	struct in6_addr	addr;
	u32		scope;
	__be16		port;
	u16		family;
};

/* Keys are compared and hashed as bytes */
static_assert(sizeof(struct kofi_av_key) == offsetofend(struct kofi_av_key, family));

/**
 * struct kofi_av_entry - An address in a vector
 * @node: place in the hash table
 * @key: the address
 * @user_id: how completions name the peer
 * @index: index in the xarray
 * @uses: insertions less removals
 * @rcu: readers may still see the entry when it has been removed
 */
struct kofi_av_entry {
	struct rhash_head	node;
	struct kofi_av_key	key;
	fi_addr_t		user_id;
	u32			index;
	u32			uses;
	struct rcu_head		rcu;
};

/* A vector of ten thousand peers is common, so an entry stays small */
static_assert(sizeof(struct kofi_av_entry) <= 64);

static const struct rhashtable_params kofi_av_hash = {
	.key_len		= sizeof(struct kofi_av_key),
	.key_offset		= offsetof(struct kofi_av_entry, key),
	.head_offset		= offsetof(struct kofi_av_entry, node),
	.automatic_shrinking	= true,
};

static void kofi_av_to_key(const struct sockaddr_storage *addr,
			   struct kofi_av_key *key)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)addr;

	*key = (struct kofi_av_key) { .family = addr->ss_family };
	if (addr->ss_family != AF_INET6) {
		key->addr.s6_addr32[3] = sin->sin_addr.s_addr;
		key->port = sin->sin_port;
		return;
	}
	key->addr = sin6->sin6_addr;
	key->port = sin6->sin6_port;
	if (ipv6_addr_type(&key->addr) & IPV6_ADDR_LINKLOCAL)
		key->scope = sin6->sin6_scope_id;
}

static void kofi_av_from_key(const struct kofi_av_key *key,
			     struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *sin = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof(*addr));
	addr->ss_family = key->family;
	if (key->family != AF_INET6) {
		sin->sin_addr.s_addr = key->addr.s6_addr32[3];
		sin->sin_port = key->port;
		return;
	}
	sin6->sin6_addr = key->addr;
	sin6->sin6_port = key->port;
	sin6->sin6_scope_id = key->scope;
}

/* The caller is in an RCU read-side section, or holds the vector's mutex */
static struct kofi_av_entry *kofi_av_entry(struct kofi_av *av,
					   fi_addr_t fi_addr)
{
	u32 index = kofi_av_index(av, fi_addr);

	return index == U32_MAX ? NULL : xa_load(&av->table, index);
}

bool kofi_av_addr(struct kofi_av *av, fi_addr_t fi_addr,
		  struct sockaddr_storage *addr)
{
	const struct kofi_av_entry *entry;

	rcu_read_lock();
	entry = kofi_av_entry(av, fi_addr);
	if (entry)
		kofi_av_from_key(&entry->key, addr);
	rcu_read_unlock();
	return entry;
}
EXPORT_SYMBOL_GPL(kofi_av_addr);

fi_addr_t kofi_av_find(struct kofi_av *av, const struct sockaddr_storage *addr)
{
	fi_addr_t fi_addr = FI_ADDR_NOTAVAIL;
	const struct kofi_av_entry *entry;
	struct kofi_av_key key;

	kofi_av_to_key(addr, &key);
	rcu_read_lock();
	entry = rhashtable_lookup(&av->hash, &key, kofi_av_hash);
	if (entry)
		fi_addr = entry->index;
	rcu_read_unlock();
	return fi_addr;
}
EXPORT_SYMBOL_GPL(kofi_av_find);

fi_addr_t kofi_av_source(struct kofi_av *av,
			 const struct sockaddr_storage *addr)
{
	fi_addr_t id = FI_ADDR_NOTAVAIL;
	const struct kofi_av_entry *entry;
	struct kofi_av_key key;

	kofi_av_to_key(addr, &key);
	rcu_read_lock();
	entry = rhashtable_lookup(&av->hash, &key, kofi_av_hash);
	if (entry)
		id = READ_ONCE(entry->user_id);
	rcu_read_unlock();
	return id;
}
EXPORT_SYMBOL_GPL(kofi_av_source);

/* Can @addr be the address of a peer in this vector?  The client may pass any bytes */
static int kofi_av_check_addr(const struct kofi_av *av,
			      const struct sockaddr_storage *addr)
{
	if (addr->ss_family != AF_INET && addr->ss_family != AF_INET6)
		return kofi_refuse("av_insert", -EAFNOSUPPORT, "an address of the family %d: neither IPv4 nor IPv6",
				   addr->ss_family);
	if (kofi_addr_family_is_off(addr->ss_family))
		return kofi_refuse("av_insert", -EAFNOSUPPORT,
				   "%pIS: the machine was booted without IPv6", addr);
	if (av->addr_format != FI_SOCKADDR &&
	    kofi_addr_len(addr) != kofi_addr_format_len(av->addr_format))
		return kofi_refuse("av_insert", -EAFNOSUPPORT, "%pIS: the vector has addresses of the other IP version",
				   addr);
	if (kofi_addr_any(addr) || !kofi_addr_port(addr))
		return kofi_refuse("av_insert", -EADDRNOTAVAIL, "%pISpc: no peer has the address 0 or the port 0",
				   addr);
	return 0;
}

static struct kofi_av_entry *kofi_av_new(struct kofi_av *av,
					 const struct kofi_av_key *key)
{
	struct kofi_av_entry *entry;
	int ret;

	lockdep_assert_held(&av->lock);
	entry = kmalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return ERR_PTR(-ENOMEM);
	entry->key = *key;
	entry->uses = 0;
	ret = xa_alloc(&av->table, &entry->index, entry,
		       XA_LIMIT(0, av->max - 1), GFP_KERNEL);
	if (ret) {
		if (ret == -EBUSY)
			ret = kofi_refuse("av_insert", -ENOSPC, "the vector has %u addresses, and holds no more",
					  av->max);
		goto free_entry;
	}
	entry->user_id = av->user_ids ? FI_ADDR_NOTAVAIL : entry->index;
	ret = rhashtable_insert_fast(&av->hash, &entry->node, kofi_av_hash);
	if (ret)
		goto erase;
	return entry;

erase:
	xa_erase(&av->table, entry->index);
free_entry:
	kfree(entry);
	return ERR_PTR(ret);
}

/* Look-ups find something else now */
static void kofi_av_changed(struct kofi_av *av)
{
	lockdep_assert_held(&av->lock);
	/* Pairs with kofi_av_changes() */
	smp_store_release(&av->changes, av->changes + 1);
}

/* Inserts an address once more, or for the first time; @id is for FI_AV_USER_ID only */
static int kofi_av_add(struct kofi_av *av, const struct sockaddr_storage *addr,
		       u64 flags, fi_addr_t id, fi_addr_t *fi_addr)
{
	struct kofi_av_entry *entry;
	struct kofi_av_key key;
	int ret;

	ret = kofi_av_check_addr(av, addr);
	if (ret)
		return ret;
	kofi_av_to_key(addr, &key);

	guard(mutex)(&av->lock);
	entry = rhashtable_lookup_fast(&av->hash, &key, kofi_av_hash);
	if (!entry)
		entry = kofi_av_new(av, &key);
	if (IS_ERR(entry))
		return PTR_ERR(entry);
	entry->uses++;
	if (flags & FI_AV_USER_ID)
		WRITE_ONCE(entry->user_id, id);
	kofi_av_changed(av);
	*fi_addr = entry->index;
	return 0;
}

/* Inserts @addr and fills element @i of the client's arrays; returns whether it was inserted */
static bool kofi_av_insert_at(struct kofi_av *av,
			      const struct sockaddr_storage *addr, size_t i,
			      fi_addr_t *fi_addr, u64 flags, int *errors)
{
	fi_addr_t at = FI_ADDR_NOTAVAIL;
	int ret;

	/* With FI_AV_USER_ID there is an array, and the client has put the id into it */
	ret = kofi_av_add(av, addr, flags, fi_addr ? fi_addr[i] : at, &at);
	if (fi_addr)
		fi_addr[i] = at;
	if (flags & FI_SYNC_ERR)
		errors[i] = -ret;
	return !ret;
}

static int kofi_av_check_insert(const struct kofi_av *av,
				const fi_addr_t *fi_addr, u64 flags,
				const void *context)
{
	int ret = kofi_check_flags("av_insert", flags, KOFI_AV_INSERT_FLAGS);

	if (ret)
		return ret;
	if (flags & FI_SYNC_ERR && !context)
		return kofi_refuse("av_insert", -EINVAL, "context is NULL; FI_SYNC_ERR needs an array of int");
	if (flags & FI_AV_USER_ID && (!fi_addr || av->user_ids))
		return kofi_refuse("av_insert", -EINVAL, "FI_AV_USER_ID needs fi_addr, and a vector opened without FI_AV_USER_ID");
	return 0;
}

static int kofi_av_insert(struct fid_av *fid_av, const void *addr, size_t count,
			  fi_addr_t *fi_addr, u64 flags, void *context)
{
	struct kofi_av *av = to_kofi_av(&fid_av->fid);
	size_t len = kofi_addr_format_len(av->addr_format), i;
	struct sockaddr_storage one = {};
	int ret, inserted = 0;

	ret = kofi_av_check_insert(av, fi_addr, flags, context);
	if (ret)
		return ret;
	if ((count && !addr) || count > INT_MAX)
		return kofi_refuse("av_insert", -EINVAL, "count is %zu, addr is %sNULL", count,
				   addr ? "not " : "");
	for (i = 0; i < count; i++, addr += len) {
		memcpy(&one, addr, len);
		inserted += kofi_av_insert_at(av, &one, i, fi_addr, flags,
					      context);
	}
	return inserted;
}

static int kofi_av_family(const struct kofi_av *av)
{
	switch (av->addr_format) {
	case FI_SOCKADDR_IN:
		return AF_INET;
	case FI_SOCKADDR_IN6:
		return AF_INET6;
	default:
		return AF_UNSPEC;
	}
}

/* Steps to the next address; the first one follows the last one */
static void kofi_av_next_node(struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *sin = (struct sockaddr_in *)addr;
	int word;

	if (addr->ss_family == AF_INET) {
		be32_add_cpu(&sin->sin_addr.s_addr, 1);
		return;
	}
	for (word = 3; word >= 0; word--) {
		be32_add_cpu(&sin6->sin6_addr.s6_addr32[word], 1);
		if (sin6->sin6_addr.s6_addr32[word])
			return;
	}
}

/* An interface that is a scope by name is one of the fabric's namespace, if that is still there */
static int kofi_av_parse(const struct kofi_av *av, const char *node, int service,
			 struct sockaddr_storage *addr)
{
	struct net *net = kofi_obj_get_net(av->av.fid.obj);
	int ret = kofi_parse_addr(net, node, service, kofi_av_family(av), addr);

	if (net)
		put_net(net);
	return ret;
}

static int kofi_av_insertsym(struct fid_av *fid_av, const char *node,
			     size_t nodecnt, int service, size_t svccnt,
			     fi_addr_t *fi_addr, u64 flags, void *context)
{
	struct kofi_av *av = to_kofi_av(&fid_av->fid);
	struct sockaddr_storage addr;
	int ret, inserted = 0;
	size_t i, port;

	ret = kofi_av_check_insert(av, fi_addr, flags, context);
	if (ret)
		return ret;
	if (!node || !nodecnt || !svccnt || service < 0 ||
	    service > U16_MAX || svccnt > U16_MAX + 1 - service ||
	    nodecnt > INT_MAX / svccnt)
		return kofi_refuse("av_insertsym", -EINVAL, "service %d, svccnt %zu, nodecnt %zu: there must be one, and no port above %d",
				   service, svccnt, nodecnt, U16_MAX);
	ret = kofi_av_parse(av, node, service, &addr);
	if (ret)
		return kofi_refuse("av_insertsvc", ret, "node: %s is no address that this vector can have",
				   node);

	for (i = 0; i < nodecnt * svccnt; kofi_av_next_node(&addr)) {
		for (port = 0; port < svccnt; port++, i++) {
			kofi_addr_set_port(&addr, service + port);
			inserted += kofi_av_insert_at(av, &addr, i, fi_addr,
						      flags, context);
		}
	}
	return inserted;
}

static int kofi_av_insertsvc(struct fid_av *fid_av, const char *node,
			     int service, fi_addr_t *fi_addr, u64 flags,
			     void *context)
{
	return kofi_av_insertsym(fid_av, node, 1, service, 1, fi_addr, flags,
				 context);
}

static int kofi_av_refuse(const char *call, fi_addr_t fi_addr)
{
	return kofi_refuse(call, -EINVAL, "fi_addr %#llx is not in the vector", fi_addr);
}

/*
 * Undoes one insertion.  Returns true if it was the last one: then look-ups do not find the
 * address any more, but its index stays reserved.  -EINVAL: there is no such address.
 */
static int kofi_av_drop(struct kofi_av *av, fi_addr_t fi_addr)
{
	struct kofi_av_entry *entry;

	guard(mutex)(&av->lock);
	entry = kofi_av_entry(av, fi_addr);
	if (!entry)
		return kofi_av_refuse("av_remove", fi_addr);
	if (--entry->uses)
		return false;
	rhashtable_remove_fast(&av->hash, &entry->node, kofi_av_hash);
	/* The place is there, so this needs no memory */
	xa_store(&av->table, entry->index, XA_ZERO_ENTRY, GFP_KERNEL);
	kofi_av_changed(av);
	kfree_rcu(entry, rcu);
	return true;
}

static int kofi_av_remove(struct fid_av *fid_av, fi_addr_t *fi_addr,
			  size_t count, u64 flags)
{
	struct kofi_av *av = to_kofi_av(&fid_av->fid);
	int ret = 0, last;
	u32 index;

	ret = kofi_check_flags("av_remove", flags, 0) ? :
	      kofi_check_list("av_remove", fi_addr, count);
	if (ret)
		return ret;
	for (; count; count--, fi_addr++) {
		last = kofi_av_drop(av, *fi_addr);
		if (last < 0)
			ret = last;
		if (last <= 0)
			continue;
		index = kofi_av_index(av, *fi_addr);
		if (av->removed)
			av->removed(av, index);
		xa_erase(&av->table, index);
	}
	return ret;
}

static int kofi_av_lookup(struct fid_av *fid_av, fi_addr_t fi_addr, void *addr,
			  size_t *addrlen)
{
	struct kofi_av *av = to_kofi_av(&fid_av->fid);
	struct sockaddr_storage found;

	if (!kofi_av_addr(av, fi_addr, &found))
		return kofi_av_refuse("av_lookup", fi_addr);
	/* A truncated address is no error here, unlike in fi_getname() */
	kofi_addr_copy_out(&found, addr, addrlen);
	return 0;
}

static const char *kofi_av_straddr(struct fid_av *fid_av, const void *addr,
				   char *buf, size_t *len)
{
	struct kofi_av *av = to_kofi_av(&fid_av->fid);
	struct sockaddr_storage one;
	int ret = kofi_addr_from_info(&one, addr, kofi_addr_format_len(av->addr_format));

	/* Any address can be printed */
	if (!ret || ret == -EAFNOSUPPORT)
		return kofi_addr_straddr(&one, buf, len);
	*len = snprintf(buf, *len, "%s", fi_strerror(EAFNOSUPPORT)) + 1;
	return buf;
}

static int kofi_av_set_user_id(struct fid_av *fid_av, fi_addr_t fi_addr,
			       fi_addr_t user_id, u64 flags)
{
	struct kofi_av *av = to_kofi_av(&fid_av->fid);
	struct kofi_av_entry *entry;
	int ret = kofi_check_flags("av_set_user_id", flags, 0);

	if (ret)
		return ret;
	if (!av->user_ids)
		return kofi_refuse("av_set_user_id", -EINVAL, "the vector was opened without FI_AV_USER_ID");

	guard(mutex)(&av->lock);
	entry = kofi_av_entry(av, fi_addr);
	if (!entry)
		return kofi_av_refuse("av_set_user_id", fi_addr);
	WRITE_ONCE(entry->user_id, user_id);
	return 0;
}

static const struct fi_ops_av kofi_av_ops = {
	.size		= sizeof(struct fi_ops_av),
	.insert		= kofi_av_insert,
	.insertsvc	= kofi_av_insertsvc,
	.insertsym	= kofi_av_insertsym,
	.remove		= kofi_av_remove,
	.lookup		= kofi_av_lookup,
	.straddr	= kofi_av_straddr,
	.insert_auth_key = fi_no_av_insert_auth_key,
	.lookup_auth_key = fi_no_av_lookup_auth_key,
	.set_user_id	= kofi_av_set_user_id,
};

static int kofi_av_check_attr(const struct fi_av_attr *attr, u32 addr_format)
{
	int ret = kofi_check_ptr("av_open", attr);

	if (ret)
		return ret;
	if (attr->name || !kofi_addr_format_len(addr_format))
		return kofi_refuse("av_open", -ENOSYS, "attr->name is given, or the addresses of the domain have no fixed length");
	if (attr->type > FI_AV_TABLE || attr->count > KOFI_AV_MAX_ADDRS ||
	    attr->rx_ctx_bits < 0 || attr->rx_ctx_bits > KOFI_AV_MAX_RX_BITS)
		return kofi_refuse("av_open", -EINVAL, "attr: type %d, count %zu, rx_ctx_bits %d; the most are FI_AV_TABLE, %d and %d",
				   attr->type, attr->count, attr->rx_ctx_bits,
				   (int)KOFI_AV_MAX_ADDRS, KOFI_AV_MAX_RX_BITS);
	return kofi_check_flags("av_open", attr->flags, KOFI_AV_FLAGS);
}

int kofi_av_init(struct kofi_av *av, struct fi_av_attr *attr, u32 addr_format,
		 kofi_av_fn removed, void *context)
{
	int ret;

	ret = kofi_av_check_attr(attr, addr_format);
	if (ret)
		return ret;
	memset(av, 0, sizeof(*av));
	ret = rhashtable_init(&av->hash, &kofi_av_hash);
	if (ret)
		return ret;
	xa_init_flags(&av->table, XA_FLAGS_ALLOC);
	mutex_init(&av->lock);
	av->av.fid.fclass = FI_CLASS_AV;
	av->av.fid.context = context;
	av->av.ops = &kofi_av_ops;
	av->removed = removed;
	av->addr_format = addr_format;
	av->rx_ctx_bits = attr->rx_ctx_bits;
	av->user_ids = attr->flags & FI_AV_USER_ID;
	av->max = KOFI_AV_MAX_ADDRS;
	if (attr->type == FI_AV_UNSPEC)
		attr->type = FI_AV_TABLE;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_av_init);

static void kofi_av_free_entry(void *entry, void *unused)
{
	kfree(entry);
}

void kofi_av_destroy(struct kofi_av *av)
{
	rhashtable_free_and_destroy(&av->hash, kofi_av_free_entry, NULL);
	xa_destroy(&av->table);
	mutex_destroy(&av->lock);
}
EXPORT_SYMBOL_GPL(kofi_av_destroy);

static int kofi_av_close(struct fid *fid)
{
	struct kofi_av *av = to_kofi_av(fid);

	kofi_av_destroy(av);
	kfree(av);
	return 0;
}

static int kofi_av_control(struct fid *fid, int command, void *arg)
{
	struct kofi_av *av = to_kofi_av(fid);

	if (command != KOFI_GETSTAT)
		return kofi_refuse("control", -ENOSYS, "an address vector has no command %d",
				   command);
	kofi_stat_add(arg, "size", av->max);
	kofi_stat_add(arg, "addresses", atomic_read(&av->hash.nelems));
	return 0;
}

static const struct fi_ops kofi_av_fid_ops = {
	.size		= sizeof(struct fi_ops),
	.close		= kofi_av_close,
	.bind		= fi_no_bind,
	.control	= kofi_av_control,
	.ops_open	= fi_no_ops_open,
	.tostr		= fi_no_tostr,
	.ops_set	= fi_no_ops_set,
};

int kofi_av_open(struct fi_av_attr *attr, u32 addr_format, kofi_av_fn removed,
		 struct fid_av **av, void *context)
{
	struct kofi_av *new = kmalloc(sizeof(*new), GFP_KERNEL);
	int ret;

	if (!new)
		return -ENOMEM;
	ret = kofi_av_init(new, attr, addr_format, removed, context);
	if (ret) {
		kfree(new);
		return ret;
	}
	new->av.fid.ops = &kofi_av_fid_ops;
	*av = &new->av;
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_av_open);
