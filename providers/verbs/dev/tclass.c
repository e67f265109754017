// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Traffic classes and rdma_cm.
 *
 * rdma_cm takes a class as a type of service (kofi/tclass.h).  RoCE carries it in each IP header
 * and, by the host's table of priorities, in the VLAN tag.  InfiniBand asks the subnet manager for
 * a service level with it.  Some iWARP drivers use it (irdma, cxgb4), but siw does not.
 *
 * The side that connects chooses.  On RoCE its choice arrives with the request and holds for both
 * directions, so an accepting endpoint can only agree.
 */
#include <rdma/ib_sa.h>
#include "../verbs.h"

/* The class that the peer has chosen for its connection request; FI_TC_UNSPEC: unknown */
u32 verbs_tclass_of_id(const struct rdma_cm_id *id)
{
	const struct sa_path_rec *path = id->route.path_rec;

	if (!path || !rdma_protocol_roce(id->device, id->port_num))
		return FI_TC_UNSPEC;
	return kofi_tclass_of_tos(path->traffic_class);
}
