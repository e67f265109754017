/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Between domain.c, ep.c and op.c; see kofi/soft.h. */
#ifndef _KOFI_UTIL_SOFT_H
#define _KOFI_UTIL_SOFT_H

#include <kofi/soft.h>

extern const struct kofi_mr_ops kofi_soft_mr_ops;

void kofi_soft_set_ops(struct kofi_ep *kep);
void kofi_soft_slots_refilled(struct kofi_bufpool *pool);
void kofi_soft_release(struct kofi_comp *chain);
bool kofi_soft_comp_is_of(struct kofi_comp *comp, void *ep);

#endif /* _KOFI_UTIL_SOFT_H */
