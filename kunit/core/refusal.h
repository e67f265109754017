/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Suites of calls that the core refuses by itself: one object of each class is open in each
 * case, and in the end their provider must not have been called.
 */
#ifndef _KUNIT_CORE_REFUSAL_H
#define _KUNIT_CORE_REFUSAL_H

#include "core.h"

/* Where calls that should fail would put their results */
union refusal_out {
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_pep		*pep;
	struct fid_eq		*eq;
	struct fid_cq		*cq;
	struct fid_ep		*ep;
	struct fid_mr		*mr;
	struct fid_cntr		*cntr;
	struct fid_av		*av;
	struct fid_stx		*stx;
	struct fid_mc		*mc;
	fi_addr_t		fi_addr;
	u8			bytes[64];
	u32			event;
	struct fi_eq_entry	eq_entry;
	struct fi_eq_err_entry	eq_err;
	struct fi_atomic_attr	atomic;
	void			*ops;
};

extern struct core_set refusal_set;

int refusal_init(struct kunit *test);
void refusal_exit(struct kunit *test);
/* The provider has been called since the last call of this, as it was meant to be */
void refusal_reaches(struct kunit *test);

#endif /* _KUNIT_CORE_REFUSAL_H */
