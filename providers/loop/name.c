// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The table of names: which endpoint or listener has which address.
 *
 * An address is an IP address of the namespace and a port, as for TCP, but the ports are
 * kofi_loop's own.  A listener and an endpoint without connections may have the same port, as
 * keys of different types differ.  A name is in the table from the time it is claimed until it
 * is dropped.
 *
 * Each operation of an endpoint without connections looks its target up, under RCU.  The caller
 * gets a reference, and the close of an endpoint waits until all references are given back.  A
 * listener is looked up under loop_cm_lock, and its name is dropped under this lock, too.
 */
#include <kofi/refuse.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/rhashtable.h>
#include "loop.h"

#define LOOP_FIRST_PORT		49152	/* IANA's range of dynamic ports */
#define LOOP_PORTS		(U16_MAX - LOOP_FIRST_PORT + 1)

static struct rhashtable loop_names;
static atomic_t loop_next_port;

static const struct rhashtable_params loop_names_params = {
	.head_offset		= offsetof(struct loop_name, node),
	.key_offset		= offsetof(struct loop_name, key),
	.key_len		= sizeof(struct loop_key),
	.automatic_shrinking	= true,
};

static void loop_key_set(struct loop_key *key, struct net *net,
			 enum fi_ep_type type,
			 const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)addr;

	memset(key, 0, sizeof(*key));
	key->net = net;
	key->type = type;
	key->family = addr->ss_family;
	if (addr->ss_family == AF_INET6) {
		key->port = sin6->sin6_port;
		key->scope = sin6->sin6_scope_id;
		key->addr = sin6->sin6_addr;
	} else {
		key->port = sin->sin_port;
		key->addr.s6_addr32[3] = sin->sin_addr.s_addr;
	}
}

static int loop_name_insert(struct loop_name *name)
{
	int ret = rhashtable_lookup_insert_fast(&loop_names, &name->node,
						loop_names_params);

	return ret == -EEXIST ? -EADDRINUSE : ret;
}

/**
 * loop_name_claim() - Take an address
 * @name: the name that gets the address
 * @net: namespace of the address
 * @type: as loop_key.type
 * @addr: the address; with port 0 any free port is taken
 *
 * Context: may sleep.
 * Return: 0; -EADDRINUSE; -ENOMEM.
 */
int loop_name_claim(struct loop_name *name, struct net *net,
		    enum fi_ep_type type, const struct sockaddr_storage *addr)
{
	int ret, i;

	name->addr = *addr;
	loop_key_set(&name->key, net, type, addr);
	if (name->key.port) {
		ret = loop_name_insert(name);
	} else {
		for (i = 0; !i || (i < LOOP_PORTS && ret == -EADDRINUSE); i++) {
			kofi_addr_set_port(&name->addr, LOOP_FIRST_PORT +
					   (u32)atomic_inc_return(&loop_next_port) %
					   LOOP_PORTS);
			loop_key_set(&name->key, net, type, &name->addr);
			ret = loop_name_insert(name);
		}
	}
	name->taken = !ret;
	if (ret == -EADDRINUSE)
		return kofi_refuse("endpoint, passive_ep or setname", ret, "%pISpc: another endpoint of this machine has the address",
				   addr);
	return ret;
}

/**
 * loop_name_drop() - Give an address back
 * @name: a name, claimed or not
 *
 * The memory of @name must stay until RCU readers have gone.
 *
 * Context: may sleep.
 */
void loop_name_drop(struct loop_name *name)
{
	if (!name->taken)
		return;
	rhashtable_remove_fast(&loop_names, &name->node, loop_names_params);
	name->taken = false;
}

/* The name that has this address, or the wildcard address of the family and this port */
static struct loop_name *loop_name_find(struct net *net, enum fi_ep_type type,
					const struct sockaddr_storage *addr)
{
	struct loop_name *name;
	struct loop_key key;

	loop_key_set(&key, net, type, addr);
	name = rhashtable_lookup(&loop_names, &key, loop_names_params);
	if (name)
		return name;
	key.scope = 0;
	key.addr = in6addr_any;
	return rhashtable_lookup(&loop_names, &key, loop_names_params);
}

/**
 * loop_find_ep() - Find the endpoint without connections that has an address
 * @net: namespace of the address
 * @addr: the address
 *
 * Context: any.
 * Return: the endpoint, and loop_ep_put() is due; or NULL.
 */
struct loop_ep *loop_find_ep(struct net *net, const struct sockaddr_storage *addr)
{
	struct loop_name *name;
	struct loop_ep *ep = NULL;

	rcu_read_lock();
	name = loop_name_find(net, FI_EP_RDM, addr);
	if (name)
		ep = container_of(name, struct loop_ep, name);
	if (ep && !kofi_soft_ep_try_get(&ep->soft))
		ep = NULL;
	rcu_read_unlock();
	return ep;
}

/**
 * loop_find_pep() - Find the listener that has an address
 * @net: namespace of the address
 * @addr: the address
 *
 * Context: may sleep, with loop_cm_lock held.
 * Return: the listener, or NULL.
 */
struct loop_pep *loop_find_pep(struct net *net,
			       const struct sockaddr_storage *addr)
{
	struct loop_name *name;

	lockdep_assert_held(&loop_cm_lock);
	rcu_read_lock();
	name = loop_name_find(net, FI_EP_MSG, addr);
	rcu_read_unlock();
	return name ? container_of(name, struct loop_pep, name) : NULL;
}

int loop_names_init(void)
{
	return rhashtable_init(&loop_names, &loop_names_params);
}

void loop_names_exit(void)
{
	rhashtable_destroy(&loop_names);
}
