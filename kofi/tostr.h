/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables that fi_tostr() works from: names.c has the names of constants,
 * tostr.c the fields of structures.  Files of the core print values with the functions below.
 */
#ifndef _KOFI_TOSTR_H
#define _KOFI_TOSTR_H

#include <linux/types.h>
#include <rdma/fabric.h>

/* Types of fields that enum fi_type does not have; their values follow its last one */
enum {
	TYPE_SIZE = FI_TYPE_WAIT_OBJ + 1,
	TYPE_U32,
	TYPE_INT,
	TYPE_HEX64,
	TYPE_STRING,
	TYPE_POINTER,
	TYPE_CTX_CNT,
	TYPE_ERRNO,
	TYPE_PROV_VERSION,
	TYPE_RESOURCE_MGMT,
	TYPE_TCLASS,
	TYPE_AV_FLAGS,
	TYPE_COMP_CTX,
	TYPE_CNTR_EVENTS,
	TYPE_BUF_TYPE,
	TYPE_LINK_STATE,
	TYPE_DEVICE_ATTR,
	TYPE_BUS_ATTR,
	TYPE_LINK_ATTR,
	TYPE_NIC,
	NR_TYPES
};

/* A constant; the table ends with one that has no name */
struct kofi_name {
	u64		value;
	const char	*name;
};

extern const struct kofi_name kofi_names_addr_format[];
extern const struct kofi_name kofi_names_atomic_op[];
extern const struct kofi_name kofi_names_atomic_type[];
extern const struct kofi_name kofi_names_av_flags[];
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

/* As fi_tostr(), but @datatype may be TYPE_*, too */
char *kofi_tostr(const void *data, u32 datatype, char *buf, size_t len);

/*
 * kofi_value() reads a number, constant or set of flags at @data, kofi_value_size() returns
 * its bytes.  Both return 0 if the type is none of these.
 */
u64 kofi_value(const void *data, u32 datatype);
size_t kofi_value_size(u32 datatype);
char *kofi_value_tostr(u64 value, u32 datatype, char *buf, size_t len);

char *kofi_addr_tostr(const void *addr, size_t addrlen, char *buf, size_t len);

#endif /* _KOFI_TOSTR_H */
