// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Source addresses: what the peers of one host together hold of an endpoint without connections.
 *
 * A peer says in its request which port it listens at.  So one host can be as many peers as it
 * likes, and what is fair is fair by the address that connections come from.  A host may have all
 * addresses of its IPv6 network, so of an IPv6 address the first 64 bits count; of a link-local
 * one, all of them do.
 *
 * A struct ktcp_source counts connections that the endpoint has accepted, and early messages
 * (early.c), which may outlive their connections.  It is there as long as there is a struct
 * ktcp_link of that address.  Connections that the endpoint has dialled have no bound but what its
 * client sends to.
 */
#include <linux/module.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <kofi/param.h>
#include "rdm.h"

/* Of connections that a parameter can allow */
#define KTCP_MOST	BIT(24)

static struct kofi_param address_max = { .value = 1024, .min = 1, .max = KTCP_MOST };
module_param_cb(address_max, &kofi_param_ops, &address_max, 0644);
__MODULE_PARM_TYPE(address_max, "uint");
MODULE_PARM_DESC(address_max, "connections that an endpoint without connections accepts from one address, of IPv6 from one network of 64 bits; further ones are refused; 1 to 16777216");

static struct kofi_param accepted_max = { .value = 16384, .min = 1, .max = KTCP_MOST };
module_param_cb(accepted_max, &kofi_param_ops, &accepted_max, 0644);
__MODULE_PARM_TYPE(accepted_max, "uint");
MODULE_PARM_DESC(accepted_max, "connections that an endpoint without connections accepts; further ones are refused; 1 to 16777216");

static const struct rhashtable_params ktcp_source_params = {
	.head_offset		= offsetof(struct ktcp_source, node),
	.key_offset		= offsetof(struct ktcp_source, key),
	.key_len		= sizeof(struct ktcp_source_key),
	.automatic_shrinking	= true,
};

int ktcp_sources_init(struct ktcp_rdm *rdm)
{
	return rhashtable_init(&rdm->sources, &ktcp_source_params);
}

/* Called when all connections have gone */
void ktcp_sources_destroy(struct ktcp_rdm *rdm)
{
	rhashtable_destroy(&rdm->sources);
}

static struct ktcp_source *ktcp_source_find(struct ktcp_rdm *rdm,
					    const struct ktcp_source_key *key)
{
	lockdep_assert_held(&ktcp_cm_lock);
	return rhashtable_lookup_fast(&rdm->sources, key, ktcp_source_params);
}

/**
 * ktcp_source_get() - Find what counts for an address, or make it
 * @rdm: the endpoint
 * @addr: the address
 *
 * Context: may sleep, with ktcp_cm_lock held.
 * Return: the source, and ktcp_source_put() is due; NULL: there is no memory.
 */
struct ktcp_source *ktcp_source_get(struct ktcp_rdm *rdm, const struct sockaddr_storage *addr)
{
	struct ktcp_source *source;
	struct ktcp_source_key key;

	ktcp_source_key_set(&key, addr);
	source = ktcp_source_find(rdm, &key);
	if (source) {
		source->links++;
		return source;
	}
	source = kzalloc(sizeof(*source), GFP_KERNEL);
	if (!source)
		return NULL;
	source->key = key;
	source->links = 1;
	INIT_LIST_HEAD(&source->parked);
	INIT_LIST_HEAD(&source->hungry);
	if (!rhashtable_insert_fast(&rdm->sources, &source->node, ktcp_source_params))
		return source;
	kfree(source);
	return NULL;
}

/**
 * ktcp_source_put() - A connection does not need its source any more
 * @rdm: the endpoint
 * @source: the source, which may go afterwards
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_source_put(struct ktcp_rdm *rdm, struct ktcp_source *source)
{
	lockdep_assert_held(&ktcp_cm_lock);
	if (--source->links)
		return;
	/* Lookups hold the mutex, too */
	rhashtable_remove_fast(&rdm->sources, &source->node, ktcp_source_params);
	kfree_rcu(source, rcu);
}

/**
 * ktcp_source_may_connect() - Does an endpoint accept a connection from an address?
 * @rdm: the endpoint
 * @addr: the address
 *
 * Context: may sleep, with ktcp_cm_lock held.
 * Return: whether it does.
 */
bool ktcp_source_may_connect(struct ktcp_rdm *rdm, const struct sockaddr_storage *addr)
{
	const struct ktcp_source *source;
	struct ktcp_source_key key;

	ktcp_source_key_set(&key, addr);
	source = ktcp_source_find(rdm, &key);
	return rdm->accepted < READ_ONCE(accepted_max.value) &&
	       (source ? source->accepted : 0) < READ_ONCE(address_max.value);
}

/**
 * ktcp_source_connected() - A connection was accepted, or is over
 * @link: the connection
 * @accepted: it was accepted; false: it is over
 *
 * Context: may sleep, with ktcp_cm_lock held.
 */
void ktcp_source_connected(struct ktcp_link *link, bool accepted)
{
	int by = accepted - link->accepted;

	lockdep_assert_held(&ktcp_cm_lock);
	link->accepted = accepted;
	link->source->accepted += by;
	link->rdm->accepted += by;
}
