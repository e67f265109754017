/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A domain with regions, for suites that make accesses as a peer would.
 *
 * The provider's part is as small as can be: its hooks answer what the case says,
 * and note what they were called with.
 */
#ifndef _KUNIT_UTIL_MR_H
#define _KUNIT_UTIL_MR_H

#include <kofi/mr_map.h>
#include <kofi/provider.h>
#include "../util.h"

/**
 * struct ut_domain - A domain
 * @dom: what a provider's domain begins with
 * @enable_ret: what the hook of fi_mr_enable() answers
 * @disable_ret: what the hook of fi_mr_disable() answers
 * @enables: calls of the former
 * @ends: keys that have ended
 * @key: the last one
 * @context: of its fi_mr_disable()
 * @entered: a report has been entered
 * @leave: it may return, if @hold
 * @hold: reports wait for @leave
 * @meanwhile: called at the begin of a report, for a client on another processor; or NULL
 */
struct ut_domain {
	struct kofi_mr_domain	dom;
	int			enable_ret;
	int			disable_ret;
	int			enables;
	int			ends;
	u64			key;
	void			*context;
	struct completion	entered;
	struct completion	leave;
	bool			hold;
	void			(*meanwhile)(struct ut_domain *ud, struct kofi_mr *mr);
};

/* Destroyed after the case */
struct ut_domain *ut_domain(struct kunit *test, int mr_mode);

/* A region of a list; closing it is the case's business */
int ut_mr_reg(struct ut_domain *ud, const struct ut_list *list, u64 access,
	      u64 requested_key, u64 flags, struct kofi_mr **mr);
/* One of a buffer, which has to be made */
struct kofi_mr *ut_mr(struct kunit *test, struct ut_domain *ud, void *buf,
		      size_t len, u64 access, u64 requested_key);
void ut_mr_close(struct kunit *test, struct kofi_mr *mr);

/* A peer's access: 0, or the error; the reference is given back */
int ut_access(struct ut_domain *ud, const struct fid_ep *ep, u64 key, u64 addr,
	      size_t len, u64 access);

#endif /* _KUNIT_UTIL_MR_H */
