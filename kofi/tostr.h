/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables that fi_tostr() works from: names.c has the names of constants,
 * tostr.c the fields of structures.
 */
#ifndef _KOFI_TOSTR_H
#define _KOFI_TOSTR_H

#include <linux/types.h>

/* A constant; the table ends with one that has no name */
struct kofi_name {
	u64		value;
	const char	*name;
};

extern const struct kofi_name kofi_names_addr_format[];
extern const struct kofi_name kofi_names_atomic_op[];
extern const struct kofi_name kofi_names_atomic_type[];
extern const struct kofi_name kofi_names_av_type[];
extern const struct kofi_name kofi_names_buf_type[];
extern const struct kofi_name kofi_names_caps[];
extern const struct kofi_name kofi_names_class[];
extern const struct kofi_name kofi_names_cntr_events[];
extern const struct kofi_name kofi_names_comp_ctx[];
extern const struct kofi_name kofi_names_cq_flags[];
extern const struct kofi_name kofi_names_cq_format[];
extern const struct kofi_name kofi_names_ep_type[];
extern const struct kofi_name kofi_names_eq_event[];
extern const struct kofi_name kofi_names_hmem_iface[];
extern const struct kofi_name kofi_names_link_state[];
extern const struct kofi_name kofi_names_mode[];
extern const struct kofi_name kofi_names_mr_mode[];
extern const struct kofi_name kofi_names_msg_order[];
extern const struct kofi_name kofi_names_op_flags[];
extern const struct kofi_name kofi_names_progress[];
extern const struct kofi_name kofi_names_protocol[];
extern const struct kofi_name kofi_names_resource_mgmt[];
extern const struct kofi_name kofi_names_tclass[];
extern const struct kofi_name kofi_names_threading[];
extern const struct kofi_name kofi_names_wait_cond[];
extern const struct kofi_name kofi_names_wait_obj[];

#endif /* _KOFI_TOSTR_H */
