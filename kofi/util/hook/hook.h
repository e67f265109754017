/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of hooks share.
 */
#ifndef _KOFI_UTIL_HOOK_H
#define _KOFI_UTIL_HOOK_H

#include <kofi/hook.h>

/* A call that is added to a table of the API, and not forwarded here, does not compile */
#define HOOK_ALL_CALLS(ops, count)					\
	static_assert(sizeof(struct ops) ==				\
		      sizeof(size_t) + (count) * sizeof(void *))

/* What a lower object is opened with, without names and objects of upper ones */
struct kofi_hook_info {
	struct fi_info		info;
	struct fi_fabric_attr	fabric;
	struct fi_domain_attr	domain;
	struct fi_tx_attr	tx;
	struct fi_rx_attr	rx;
};

/* @info without the hook's own capabilities */
struct fi_info *kofi_hook_lower_info(const struct kofi_hook *hook,
				     struct kofi_hook_info *lower,
				     const struct fi_info *info);

/*
 * kofi_hook_obj_new() makes the object that a call on @parent opens, or returns an error.  The
 * caller then opens the lower object, and passes the result to kofi_hook_opened() as @ret, which
 * completes the object or frees it.
 */
struct kofi_hook_obj *kofi_hook_obj_new(struct fid *parent, u32 fclass,
					void *context);
int kofi_hook_opened(struct kofi_hook_obj *obj, int ret);

/* The object above a lower one, as long as the caller holds @root->lock; NULL: there is none */
struct kofi_hook_obj *kofi_hook_upper(struct kofi_hook_fabric *root, const struct fid *lower);

int kofi_hook_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		      struct fid_eq **eq, void *context);
int kofi_hook_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		      struct fid_cq **cq, void *context);
int kofi_hook_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
			struct fid_cntr **cntr, void *context);
int kofi_hook_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		      struct fid_av **av, void *context);
extern const struct fi_ops_mr kofi_hook_mr;

/* Adds the hook's own capabilities to those of the provider below */
void kofi_hook_add_caps(u64 caps, struct fi_info *info);

/* Attributes of a context, without the hook's own capabilities; NULL stays NULL */
static inline struct fi_tx_attr *kofi_hook_lower_tx(const struct kofi_hook *hook,
						    struct fi_tx_attr *lower,
						    const struct fi_tx_attr *attr)
{
	if (!attr)
		return NULL;
	*lower = *attr;
	lower->caps &= ~hook->caps;
	return lower;
}

static inline struct fi_rx_attr *kofi_hook_lower_rx(const struct kofi_hook *hook,
						    struct fi_rx_attr *lower,
						    const struct fi_rx_attr *attr)
{
	if (!attr)
		return NULL;
	*lower = *attr;
	lower->caps &= ~hook->caps;
	return lower;
}

/* ep.c */
int kofi_hook_endpoint(struct fid_domain *domain, struct fi_info *info,
		       struct fid_ep **ep, void *context);
int kofi_hook_scalable_ep(struct fid_domain *domain, struct fi_info *info,
			  struct fid_ep **sep, void *context);
int kofi_hook_stx_ctx(struct fid_domain *domain, struct fi_tx_attr *attr,
		      struct fid_stx **stx, void *context);
int kofi_hook_srx_ctx(struct fid_domain *domain, struct fi_rx_attr *attr,
		      struct fid_ep **srx, void *context);
int kofi_hook_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
			 struct fid_pep **pep, void *context);

/* xfer.c: the table of a hook with ->begin */
extern const struct fi_ops_xfer kofi_hook_seen_xfer;

#endif /* _KOFI_UTIL_HOOK_H */
