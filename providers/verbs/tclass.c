// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Traffic classes: how a network may treat the packets of a connection.
 *
 * rdma_cm takes them as a type of service, the DSCP in the upper six bits: RoCE
 * carries it in each IP header and, by the host's table of priorities, in the VLAN
 * tag; InfiniBand asks the subnet manager for a service level with it; of the
 * iWARP drivers some use it (irdma, cxgb4) and siw does not.
 *
 * The side that connects chooses.  On RoCE its choice arrives with the request and
 * holds for both directions, so an accepting endpoint can only agree.
 */
#include <linux/module.h>
#include <rdma/ib_sa.h>
#include "verbs.h"

#define VERBS_DSCP_MASK		0x3f
#define VERBS_TOS_SHIFT		2

/* libfabric gives labels no code points; these are customary */
static const u8 verbs_tclass_dscp[] = {
	[FI_TC_BEST_EFFORT - FI_TC_LABEL]	= 0,	/* DF, RFC 2474 */
	[FI_TC_LOW_LATENCY - FI_TC_LABEL]	= 46,	/* EF, RFC 3246 */
	[FI_TC_DEDICATED_ACCESS - FI_TC_LABEL]	= 34,	/* AF41, RFC 2597 */
	[FI_TC_BULK_DATA - FI_TC_LABEL]		= 10,	/* AF11, RFC 2597 */
	[FI_TC_SCAVENGER - FI_TC_LABEL]		= 1,	/* LE, RFC 8622 */
	[FI_TC_NETWORK_CTRL - FI_TC_LABEL]	= 48,	/* CS6, RFC 2474 */
};

/* FI_TC_UNSPEC is: whatever the host's default is */
bool verbs_tclass_known(u32 tclass)
{
	if (tclass & FI_TC_DSCP)
		return !(tclass & ~(FI_TC_DSCP | VERBS_DSCP_MASK));
	return tclass == FI_TC_UNSPEC ||
	       (tclass >= FI_TC_LABEL &&
		tclass - FI_TC_LABEL < ARRAY_SIZE(verbs_tclass_dscp));
}

/* Of a class that is known and not FI_TC_UNSPEC */
u8 verbs_tclass_tos(u32 tclass)
{
	u8 dscp = tclass & FI_TC_DSCP ? fi_tc_dscp_get(tclass) :
					verbs_tclass_dscp[tclass - FI_TC_LABEL];

	return dscp << VERBS_TOS_SHIFT;
}

/* What the peer has chosen for a connection it asks for; FI_TC_UNSPEC: unknown */
u32 verbs_tclass_of_id(const struct rdma_cm_id *id)
{
	const struct sa_path_rec *path = id->route.path_rec;

	if (!path || !rdma_protocol_roce(id->device, id->port_num))
		return FI_TC_UNSPEC;
	return fi_tc_dscp_set(path->traffic_class >> VERBS_TOS_SHIFT);
}
