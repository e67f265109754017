// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections that peers of one address may have with an endpoint without connections.
 *
 * A struct kofi_source (kofi/source.h) counts those that the endpoint has accepted, and messages
 * that are kept (unexpected.c), which may outlive their connections.  Each struct ktcp_link is a
 * user of it.  Connections that the endpoint has dialled have no bound but what its client sends
 * to.
 */
#include <linux/module.h>
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
	lockdep_assert_held(&ktcp_cm_lock);
	return rdm->accepted < READ_ONCE(accepted_max.value) &&
	       kofi_source_accepted(&rdm->sources, addr) < READ_ONCE(address_max.value);
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
