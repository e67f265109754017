/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What domain.c, ep.c, sep.c and op.c share; see kofi/soft.h. */
#ifndef _KOFI_UTIL_SOFT_H
#define _KOFI_UTIL_SOFT_H

#include <kofi/soft.h>

extern const struct kofi_mr_ops kofi_soft_mr_ops;

int kofi_soft_init(struct kofi_soft_ep *ep, const struct kofi_soft_type *type,
		   struct kofi_soft_domain *domain, u32 fclass, const struct fi_info *info,
		   const struct kofi_ep_limits *limits, const struct kofi_srx_attr *room,
		   void *context);
int kofi_soft_getopt(struct fid *fid, int level, int optname, void *optval, size_t *optlen);
int kofi_soft_setopt(struct fid *fid, int level, int optname, const void *optval,
		     size_t optlen);
void kofi_soft_ctx_leave(struct kofi_soft_ep *ctx);
void kofi_soft_set_xfers(struct kofi_ep *kep);
void kofi_soft_release(struct kofi_comp *comp);
void kofi_soft_ep_put_many(struct kofi_soft_ep *ep, unsigned int count);
bool kofi_soft_comp_is_of(struct kofi_comp *comp, void *owner);

#endif /* _KOFI_UTIL_SOFT_H */
