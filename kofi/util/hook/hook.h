/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of hooks share, hook.c.
 */
#ifndef _KOFI_UTIL_HOOK_H
#define _KOFI_UTIL_HOOK_H

#include <kofi/hook.h>

/* A call that joins a table of the API, and is not forwarded, does not compile */
#define HOOK_ALL_CALLS(ops, count)					\
	static_assert(sizeof(struct ops) ==				\
		      sizeof(size_t) + (count) * sizeof(void *))

/*
 * The object that a call on @parent opens, not open yet; NULL: no memory.  Then its
 * lower object is opened, @ret is the result, and the object complete or freed.
 */
struct kofi_hook_obj *kofi_hook_obj_new(struct fid *parent, u32 fclass,
					void *context);
int kofi_hook_opened(struct kofi_hook_obj *obj, int ret);

/* The object above a lower one; NULL: @lower is none.  Any context */
struct fid *kofi_hook_upper(struct kofi_hook_fabric *root, struct fid *lower);

int kofi_hook_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		      struct fid_eq **eq, void *context);
int kofi_hook_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		      struct fid_cq **cq, void *context);
int kofi_hook_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
			struct fid_cntr **cntr, void *context);
int kofi_hook_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		      struct fid_av **av, void *context);
extern const struct fi_ops_mr kofi_hook_mr;

#endif /* _KOFI_UTIL_HOOK_H */
