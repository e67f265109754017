/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kfi_* names on kOFI: what clients know of one provider of the other interface.
 *
 * No provider of kOFI has a table of calls by the name KFI_CXI_FAB_OPS_1, so kfi_open_ops()
 * fails, and the client goes on without it.  There is no KFI_CXI_DOM_OPS_1: a client that does
 * not find it when it is compiled does not ask for a device.
 */
#ifndef _KOFI_KFI_CXI_EXT_H
#define _KOFI_KFI_CXI_EXT_H

#include <linux/types.h>
#include <kfabric.h>

#define KFI_CXI_FAB_OPS_1	"cxi_fab_ops_v1"

struct kfi_cxi_fabric_ops {
	int (*enable_dynamic_rsrc_alloc)(struct kfid *fid, bool enable);
};

/**
 * struct kcxi_addr - A local address, in kfi_info.src_addr
 * @nic: IPv4 address in host byte order
 * @pid: net number
 * @flags: 0
 */
struct kcxi_addr {
	u32	nic;
	u16	pid;
	u16	flags;
};

#endif /* _KOFI_KFI_CXI_EXT_H */
