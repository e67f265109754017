/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What map.c and ep.c share.
 */
#ifndef _KOFI_UTIL_MR_H
#define _KOFI_UTIL_MR_H

#include <kofi/mr_map.h>

/* A random key of a region that has its index, for kofi_mr_choose_key() to count on from */
u64 kofi_mr_random_key(const struct kofi_mr *mr);

/*
 * kofi_mr_alloc_list() allocates the list of a region, and kofi_mr_fill() sets its memory.
 * kofi_mr_fill() takes at most @max elements, and for a region of an endpoint at most
 * @limit pages (-EMSGSIZE).
 */
int kofi_mr_alloc_list(struct kofi_mr *mr, size_t max);
int kofi_mr_fill(struct kofi_mr *mr, size_t max, const struct fi_mr_attr *attr);

/* Gives @mr a place among the regions whose key the map chooses; no access finds it yet */
int kofi_mr_insert_chosen(struct kofi_mr *mr);

/* Sets the next key after @key that no client has requested for another region */
void kofi_mr_choose_key(struct kofi_mr *mr, u64 key);

/*
 * Accesses get references from kofi_mr_begin() until kofi_mr_end().  When the last access
 * is over, maybe before kofi_mr_end() returns, ops->disabled() reports the end if @report.
 */
void kofi_mr_begin(struct kofi_mr *mr);
void kofi_mr_end(struct kofi_mr *mr, bool report);

/* Refuses a call because of the state of @mr: -FI_EOPBADSTATE */
int kofi_mr_refuse(const char *call, const struct kofi_mr *mr, const char *wanted);

/* ep.c: makes a new region one of an endpoint */
int kofi_mr_ep_init(struct kofi_mr *mr, const struct fi_mr_attr *attr);

#endif /* _KOFI_UTIL_MR_H */
