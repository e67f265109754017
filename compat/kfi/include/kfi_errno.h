/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Error codes of the kfi_* calls beside those of the kernel; see kfabric.h.
 */
#ifndef _KOFI_KFI_ERRNO_H
#define _KOFI_KFI_ERRNO_H

#include <rdma/fi_errno.h>

#define KFI_EAVAIL		FI_EAVAIL

#endif /* _KOFI_KFI_ERRNO_H */
