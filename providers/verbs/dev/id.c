// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * rdma_cm_ids, and the network namespace in which they are.
 *
 * A fabric points to the network namespace in which addresses are looked up, without a reference.
 * Each rdma_cm_id has a reference until it is destroyed, so endpoints, passive endpoints and
 * registration connections keep the namespace.  When none is left, the namespace may go, and the
 * core calls verbs_net_exit().  Domains, queues and regions may be left then.  They need no
 * namespace; calls that need one answer -ENODEV.
 */
#include <kofi/addr.h>
#include <net/net_namespace.h>
#include "../verbs.h"

void verbs_net_exit(struct fid_fabric *fid_fabric)
{
	struct verbs_fabric *fabric = to_verbs_fabric(fid_fabric);

	spin_lock(&fabric->lock);
	fabric->net = NULL;
	spin_unlock(&fabric->lock);
}

/* Returns the namespace, for put_net(); NULL: it has gone, or is about to */
struct net *verbs_get_net(struct verbs_fabric *fabric)
{
	struct net *net;

	/* The namespace's memory stays until verbs_net_exit() has had the lock */
	spin_lock(&fabric->lock);
	net = fabric->net ? maybe_get_net(fabric->net) : NULL;
	spin_unlock(&fabric->lock);
	return net;
}

/* The id takes a reference to the namespace; -ENODEV: the namespace has gone */
struct rdma_cm_id *verbs_create_id(struct verbs_fabric *fabric,
				   rdma_cm_event_handler handler,
				   void *context)
{
	struct net *net = verbs_get_net(fabric);
	struct rdma_cm_id *id;

	if (!net)
		return ERR_PTR(-ENODEV);
	id = rdma_create_id(net, handler, context, RDMA_PS_TCP, IB_QPT_RC);
	put_net(net);
	return id;
}

/*
 * The addresses of an id as the client gets them.  rdma_cm leaves the scope out of the addresses
 * of a request, but knows the interface.
 */
struct sockaddr_storage verbs_id_src(const struct rdma_cm_id *id)
{
	struct sockaddr_storage addr = id->route.addr.src_addr;

	kofi_addr_set_scope(&addr, id->route.addr.dev_addr.bound_dev_if);
	return addr;
}

struct sockaddr_storage verbs_id_dest(const struct rdma_cm_id *id)
{
	struct sockaddr_storage addr = id->route.addr.dst_addr;

	kofi_addr_set_scope(&addr, id->route.addr.dev_addr.bound_dev_if);
	return addr;
}
