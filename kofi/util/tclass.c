// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Traffic classes as code points of IP.
 *
 * The functions here depend only on their arguments and on a constant table.
 */
#include <linux/module.h>
#include <kofi/tclass.h>
#include <rdma/fabric.h>

#define KOFI_DSCP_MASK		0x3f
#define KOFI_TOS_SHIFT		2

static const u8 kofi_tclass_dscp[] = {
	[FI_TC_BEST_EFFORT - FI_TC_LABEL]	= 0,	/* DF, RFC 2474 */
	[FI_TC_LOW_LATENCY - FI_TC_LABEL]	= 46,	/* EF, RFC 3246 */
	[FI_TC_DEDICATED_ACCESS - FI_TC_LABEL]	= 34,	/* AF41, RFC 2597 */
	[FI_TC_BULK_DATA - FI_TC_LABEL]		= 10,	/* AF11, RFC 2597 */
	[FI_TC_SCAVENGER - FI_TC_LABEL]		= 1,	/* LE, RFC 8622 */
	[FI_TC_NETWORK_CTRL - FI_TC_LABEL]	= 48,	/* CS6, RFC 2474 */
};

bool kofi_tclass_known(u32 tclass)
{
	if (tclass & FI_TC_DSCP)
		return !(tclass & ~(FI_TC_DSCP | KOFI_DSCP_MASK));
	return tclass == FI_TC_UNSPEC ||
	       (tclass >= FI_TC_LABEL &&
		tclass - FI_TC_LABEL < ARRAY_SIZE(kofi_tclass_dscp));
}
EXPORT_SYMBOL_GPL(kofi_tclass_known);

u8 kofi_tclass_tos(u32 tclass)
{
	u8 dscp = tclass & FI_TC_DSCP ? fi_tc_dscp_get(tclass) :
					kofi_tclass_dscp[tclass - FI_TC_LABEL];

	return dscp << KOFI_TOS_SHIFT;
}
EXPORT_SYMBOL_GPL(kofi_tclass_tos);

u32 kofi_tclass_of_tos(u8 tos)
{
	return fi_tc_dscp_set(tos >> KOFI_TOS_SHIFT);
}
EXPORT_SYMBOL_GPL(kofi_tclass_of_tos);
