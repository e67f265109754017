// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fi_tostr(): values and structures as text.
 *
 * One table has a line for each type: how to print a value of it, how many
 * bytes it has, and the names of its constants or the list of its fields.  A
 * field names its type again, so structures in structures need no code, and a
 * new attribute is a line in a list.
 *
 * Text: constants by name; flags separated by ", ", then bits without a name as one
 * hexadecimal number; structures as indented "field: value" lines
 * (YAML, as libfabric prints them).
 *
 * All output goes through text_add(), which stops at the end of the buffer: a
 * text that does not fit is cut, and always terminated.
 *
 * No locks and no allocations: the caller keeps its data unchanged during the call, and the
 * tables are constant.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <kofi/provider.h>
#include "info.h"
#include "tostr.h"

/* Ends a list of flags that has more of them */
#define FLAGS_CUT	", ..."

/* @whole: a list of flags is cut between two names */
struct text {
	char	*buf;
	size_t	len;
	size_t	pos;
	bool	whole;
};

/* A field; the list ends with one that has no name */
struct field {
	const char	*name;
	size_t		offset;
	int		type;
	bool		is_pointer;
};

struct type {
	void			(*print)(struct text *text,
					 const struct type *type,
					 const void *data, int depth);
	size_t			size;
	const struct kofi_name	*names;
	const char		*tag;
	const struct field	*fields;
};

static const struct type types[];

static __printf(2, 3) void text_add(struct text *text, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	text->pos += vscnprintf(text->buf + text->pos, text->len - text->pos,
				fmt, args);
	va_end(args);
}

static void text_indent(struct text *text, int depth)
{
	text_add(text, "%*s", 4 * depth, "");
}

static u64 value_of(const struct type *type, const void *data)
{
	return type->size == sizeof(u64) ? *(const u64 *)data :
					   *(const u32 *)data;
}

static const char *find_name(const struct kofi_name *names, u64 value)
{
	for (; names && names->name; names++)
		if (names->value == value)
			return names->name;
	return NULL;
}

static void print_enum(struct text *text, const struct type *type,
		       const void *data, int depth)
{
	u64 value = value_of(type, data);
	const char *name = find_name(type->names, value);

	if (name)
		text_add(text, "%s", name);
	else
		text_add(text, "unknown (%#llx)", value);
}

/* Is there room for an element of a list, and then for FLAGS_CUT? */
static bool flag_fits(const struct text *text, const char *comma, const char *flag)
{
	return !text->whole || text->pos + strlen(comma) + strlen(flag) +
			       sizeof(FLAGS_CUT) <= text->len;
}

static void print_flag_list(struct text *text, const struct type *type,
			    const void *data)
{
	static const char longest[] = "0x0123456789abcdef";
	const struct kofi_name *name;
	u64 value = value_of(type, data);
	const char *comma = "";

	for (name = type->names; name->name; name++) {
		if (!(value & name->value))
			continue;
		if (!flag_fits(text, comma, name->name))
			goto cut;
		text_add(text, "%s%s", comma, name->name);
		value &= ~name->value;
		comma = ", ";
	}
	if (!value)
		return;
	if (!flag_fits(text, comma, longest))
		goto cut;
	text_add(text, "%s%#llx", comma, value);
	return;

cut:
	text_add(text, FLAGS_CUT);
}

/* In a structure a list has brackets around it */
static void print_flags(struct text *text, const struct type *type,
			const void *data, int depth)
{
	if (depth)
		text_add(text, "[ ");
	print_flag_list(text, type, data);
	if (depth)
		text_add(text, " ]");
}

static void print_number(struct text *text, const struct type *type,
			 const void *data, int depth)
{
	text_add(text, "%llu", value_of(type, data));
}

static void print_int(struct text *text, const struct type *type,
		      const void *data, int depth)
{
	text_add(text, "%d", *(const int *)data);
}

static void print_hex(struct text *text, const struct type *type,
		      const void *data, int depth)
{
	text_add(text, "%#llx", value_of(type, data));
}

static void print_string(struct text *text, const struct type *type,
			 const void *data, int depth)
{
	text_add(text, "%s", (const char *)data ?: "(null)");
}

static void print_pointer(struct text *text, const struct type *type,
			  const void *data, int depth)
{
	text_add(text, "%p", data);
}

static void print_ctx_cnt(struct text *text, const struct type *type,
			  const void *data, int depth)
{
	if (*(const size_t *)data == FI_SHARED_CONTEXT)
		text_add(text, "FI_SHARED_CONTEXT");
	else
		print_number(text, type, data, depth);
}

/* A label is printed by name, a code point as a number */
static void print_tclass(struct text *text, const struct type *type,
			 const void *data, int depth)
{
	u32 tclass = *(const u32 *)data;

	if (tclass & FI_TC_DSCP)
		text_add(text, "DSCP %u", fi_tc_dscp_get(tclass));
	else
		print_enum(text, type, data, depth);
}

static void print_errno(struct text *text, const struct type *type,
			const void *data, int depth)
{
	int err = *(const int *)data;

	text_add(text, "%d (%s)", err, fi_strerror(err));
}

static void print_prov_version(struct text *text, const struct type *type,
			       const void *data, int depth)
{
	u32 version = *(const u32 *)data;

	text_add(text, "%u.%u", FI_MAJOR(version), FI_MINOR(version));
}

/* As in libfabric: the version of the API, whatever @data is */
static void print_version(struct text *text, const struct type *type,
			  const void *data, int depth)
{
	text_add(text, "%d.%d.%d", FI_MAJOR_VERSION, FI_MINOR_VERSION,
		 FI_REVISION_VERSION);
}

/* Prints the text of the provider's ->tostr, if it has one */
static void print_fid(struct text *text, const struct type *type,
		      const void *data, int depth)
{
	const struct fid *fid = data;
	char *start = text->buf + text->pos;
	const char *name;

	if (fid->ops && fid->ops->tostr &&
	    fid->ops->tostr(fid, start, text->len - text->pos) >= 0) {
		text->buf[text->len - 1] = '\0';
		text->pos += strlen(start);
		return;
	}

	*start = '\0';
	name = find_name(type->names, fid->fclass);
	text_add(text, "%s %p", name ?: "unknown object", fid);
}

static void print_bus_attr(struct text *text, const struct type *type,
			   const void *data, int depth)
{
	const struct fi_bus_attr *bus = data;
	const struct fi_pci_attr *pci = &bus->attr.pci;

	if (!bus)
		text_add(text, "(null)");
	else if (bus->bus_type == FI_BUS_PCI)
		text_add(text, "%04x:%02x:%02x.%x", pci->domain_id, pci->bus_id,
			 pci->device_id, pci->function_id);
	else
		text_add(text, "unknown");
}

static void print_field(struct text *text, const struct field *field,
			const void *base, int depth)
{
	const struct type *type = &types[field->type];
	const void *data = base + field->offset;

	if (field->is_pointer)
		data = *(const void *const *)data;

	if (type->fields) {
		type->print(text, type, data, depth);
		return;
	}
	text_indent(text, depth);
	text_add(text, "%s: ", field->name);
	type->print(text, type, data, depth);
	text_add(text, "\n");
}

static void print_fields(struct text *text, const struct field *field,
			 const void *base, int depth)
{
	for (; field->name; field++)
		print_field(text, field, base, depth);
}

static void print_struct(struct text *text, const struct type *type,
			 const void *data, int depth)
{
	text_indent(text, depth);
	text_add(text, "%s:%s\n", type->tag, data ? "" : " (null)");
	if (data)
		print_fields(text, type->fields, data, depth + 1);
}

static void print_addr(struct text *text, const void *addr, size_t len)
{
	sa_family_t family = addr ? kofi_ip_family(addr, len) : AF_UNSPEC;
	const struct sockaddr_in6 *sin6 = addr;

	if (!addr || !len)
		text_add(text, "(null)");
	else if (family == AF_INET6 && sin6->sin6_scope_id)
		text_add(text, "%pISpsc", addr);
	else if (family)
		text_add(text, "%pISpc", addr);
	else
		text_add(text, "%*ph", (int)min_t(size_t, len, 64), addr);
}

static void print_addr_field(struct text *text, const char *name,
			     const void *addr, size_t len, int depth)
{
	text_indent(text, depth);
	text_add(text, "%s: ", name);
	print_addr(text, addr, len);
	text_add(text, "\n");
}

#define FIELD(type, member, how) { #member, offsetof(type, member), how }
#define POINTER(type, member, how) { #member, offsetof(type, member), how, true }

static const struct field tx_attr_fields[] = {
	FIELD(struct fi_tx_attr, caps, FI_TYPE_CAPS),
	FIELD(struct fi_tx_attr, mode, FI_TYPE_MODE),
	FIELD(struct fi_tx_attr, op_flags, FI_TYPE_OP_FLAGS),
	FIELD(struct fi_tx_attr, msg_order, FI_TYPE_MSG_ORDER),
	FIELD(struct fi_tx_attr, comp_order, FI_TYPE_MSG_ORDER),
	FIELD(struct fi_tx_attr, inject_size, TYPE_SIZE),
	FIELD(struct fi_tx_attr, size, TYPE_SIZE),
	FIELD(struct fi_tx_attr, iov_limit, TYPE_SIZE),
	FIELD(struct fi_tx_attr, rma_iov_limit, TYPE_SIZE),
	FIELD(struct fi_tx_attr, tclass, TYPE_TCLASS),
	FIELD(struct fi_tx_attr, rma_read_iov_limit, TYPE_SIZE),
	FIELD(struct fi_tx_attr, rma_write_iov_limit, TYPE_SIZE),
	{}
};

static const struct field rx_attr_fields[] = {
	FIELD(struct fi_rx_attr, caps, FI_TYPE_CAPS),
	FIELD(struct fi_rx_attr, mode, FI_TYPE_MODE),
	FIELD(struct fi_rx_attr, op_flags, FI_TYPE_OP_FLAGS),
	FIELD(struct fi_rx_attr, msg_order, FI_TYPE_MSG_ORDER),
	FIELD(struct fi_rx_attr, comp_order, FI_TYPE_MSG_ORDER),
	FIELD(struct fi_rx_attr, total_buffered_recv, TYPE_SIZE),
	FIELD(struct fi_rx_attr, size, TYPE_SIZE),
	FIELD(struct fi_rx_attr, iov_limit, TYPE_SIZE),
	{}
};

static const struct field ep_attr_fields[] = {
	FIELD(struct fi_ep_attr, type, FI_TYPE_EP_TYPE),
	FIELD(struct fi_ep_attr, protocol, FI_TYPE_PROTOCOL),
	FIELD(struct fi_ep_attr, protocol_version, TYPE_U32),
	FIELD(struct fi_ep_attr, max_msg_size, TYPE_SIZE),
	FIELD(struct fi_ep_attr, msg_prefix_size, TYPE_SIZE),
	FIELD(struct fi_ep_attr, max_order_raw_size, TYPE_SIZE),
	FIELD(struct fi_ep_attr, max_order_war_size, TYPE_SIZE),
	FIELD(struct fi_ep_attr, max_order_waw_size, TYPE_SIZE),
	FIELD(struct fi_ep_attr, mem_tag_format, TYPE_HEX64),
	FIELD(struct fi_ep_attr, tx_ctx_cnt, TYPE_CTX_CNT),
	FIELD(struct fi_ep_attr, rx_ctx_cnt, TYPE_CTX_CNT),
	FIELD(struct fi_ep_attr, auth_key_size, TYPE_SIZE),
	{}
};

static const struct field domain_attr_fields[] = {
	POINTER(struct fi_domain_attr, domain, TYPE_POINTER),
	POINTER(struct fi_domain_attr, name, TYPE_STRING),
	FIELD(struct fi_domain_attr, threading, FI_TYPE_THREADING),
	FIELD(struct fi_domain_attr, control_progress, FI_TYPE_PROGRESS),
	FIELD(struct fi_domain_attr, data_progress, FI_TYPE_PROGRESS),
	FIELD(struct fi_domain_attr, resource_mgmt, TYPE_RESOURCE_MGMT),
	FIELD(struct fi_domain_attr, av_type, FI_TYPE_AV_TYPE),
	FIELD(struct fi_domain_attr, mr_mode, FI_TYPE_MR_MODE),
	FIELD(struct fi_domain_attr, mr_key_size, TYPE_SIZE),
	FIELD(struct fi_domain_attr, cq_data_size, TYPE_SIZE),
	FIELD(struct fi_domain_attr, cq_cnt, TYPE_SIZE),
	FIELD(struct fi_domain_attr, ep_cnt, TYPE_SIZE),
	FIELD(struct fi_domain_attr, tx_ctx_cnt, TYPE_SIZE),
	FIELD(struct fi_domain_attr, rx_ctx_cnt, TYPE_SIZE),
	FIELD(struct fi_domain_attr, max_ep_tx_ctx, TYPE_SIZE),
	FIELD(struct fi_domain_attr, max_ep_rx_ctx, TYPE_SIZE),
	FIELD(struct fi_domain_attr, max_ep_stx_ctx, TYPE_SIZE),
	FIELD(struct fi_domain_attr, max_ep_srx_ctx, TYPE_SIZE),
	FIELD(struct fi_domain_attr, cntr_cnt, TYPE_SIZE),
	FIELD(struct fi_domain_attr, mr_iov_limit, TYPE_SIZE),
	FIELD(struct fi_domain_attr, caps, FI_TYPE_CAPS),
	FIELD(struct fi_domain_attr, mode, FI_TYPE_MODE),
	FIELD(struct fi_domain_attr, auth_key_size, TYPE_SIZE),
	FIELD(struct fi_domain_attr, max_err_data, TYPE_SIZE),
	FIELD(struct fi_domain_attr, mr_cnt, TYPE_SIZE),
	FIELD(struct fi_domain_attr, tclass, TYPE_TCLASS),
	FIELD(struct fi_domain_attr, max_ep_auth_key, TYPE_SIZE),
	FIELD(struct fi_domain_attr, max_group_id, TYPE_U32),
	FIELD(struct fi_domain_attr, max_cntr_value, TYPE_HEX64),
	FIELD(struct fi_domain_attr, max_err_cntr_value, TYPE_HEX64),
	FIELD(struct fi_domain_attr, numa_node, TYPE_INT),
	FIELD(struct fi_domain_attr, max_cq_size, TYPE_SIZE),
	FIELD(struct fi_domain_attr, mr_gap_align, TYPE_SIZE),
	{}
};

static const struct field fabric_attr_fields[] = {
	POINTER(struct fi_fabric_attr, fabric, TYPE_POINTER),
	POINTER(struct fi_fabric_attr, name, TYPE_STRING),
	POINTER(struct fi_fabric_attr, prov_name, TYPE_STRING),
	FIELD(struct fi_fabric_attr, prov_version, TYPE_PROV_VERSION),
	FIELD(struct fi_fabric_attr, api_version, TYPE_PROV_VERSION),
	{}
};

static const struct field device_attr_fields[] = {
	POINTER(struct fi_device_attr, name, TYPE_STRING),
	POINTER(struct fi_device_attr, device_id, TYPE_STRING),
	POINTER(struct fi_device_attr, device_version, TYPE_STRING),
	POINTER(struct fi_device_attr, vendor_id, TYPE_STRING),
	POINTER(struct fi_device_attr, driver, TYPE_STRING),
	POINTER(struct fi_device_attr, firmware, TYPE_STRING),
	{}
};

static const struct field link_attr_fields[] = {
	POINTER(struct fi_link_attr, address, TYPE_STRING),
	FIELD(struct fi_link_attr, mtu, TYPE_SIZE),
	FIELD(struct fi_link_attr, speed, TYPE_SIZE),
	FIELD(struct fi_link_attr, state, TYPE_LINK_STATE),
	POINTER(struct fi_link_attr, network_type, TYPE_STRING),
	{}
};

static const struct field nic_fields[] = {
	POINTER(struct fid_nic, device_attr, TYPE_DEVICE_ATTR),
	POINTER(struct fid_nic, bus_attr, TYPE_BUS_ATTR),
	POINTER(struct fid_nic, link_attr, TYPE_LINK_ATTR),
	{}
};

static const struct field info_fields[] = {
	FIELD(struct fi_info, caps, FI_TYPE_CAPS),
	FIELD(struct fi_info, mode, FI_TYPE_MODE),
	FIELD(struct fi_info, addr_format, FI_TYPE_ADDR_FORMAT),
	FIELD(struct fi_info, src_addrlen, TYPE_SIZE),
	FIELD(struct fi_info, dest_addrlen, TYPE_SIZE),
	{}
};

static const struct field info_attrs[] = {
	POINTER(struct fi_info, handle, TYPE_POINTER),
	POINTER(struct fi_info, tx_attr, FI_TYPE_TX_ATTR),
	POINTER(struct fi_info, rx_attr, FI_TYPE_RX_ATTR),
	POINTER(struct fi_info, ep_attr, FI_TYPE_EP_ATTR),
	POINTER(struct fi_info, domain_attr, FI_TYPE_DOMAIN_ATTR),
	POINTER(struct fi_info, fabric_attr, FI_TYPE_FABRIC_ATTR),
	POINTER(struct fi_info, nic, TYPE_NIC),
	{}
};

static const struct field av_attr_fields[] = {
	FIELD(struct fi_av_attr, type, FI_TYPE_AV_TYPE),
	FIELD(struct fi_av_attr, rx_ctx_bits, TYPE_INT),
	FIELD(struct fi_av_attr, count, TYPE_SIZE),
	FIELD(struct fi_av_attr, ep_per_node, TYPE_SIZE),
	POINTER(struct fi_av_attr, name, TYPE_STRING),
	FIELD(struct fi_av_attr, flags, TYPE_AV_FLAGS),
	{}
};

static const struct field cq_attr_fields[] = {
	FIELD(struct fi_cq_attr, size, TYPE_SIZE),
	FIELD(struct fi_cq_attr, flags, FI_TYPE_OP_FLAGS),
	FIELD(struct fi_cq_attr, format, FI_TYPE_CQ_FORMAT),
	FIELD(struct fi_cq_attr, wait_obj, FI_TYPE_WAIT_OBJ),
	FIELD(struct fi_cq_attr, signaling_vector, TYPE_INT),
	FIELD(struct fi_cq_attr, wait_cond, FI_TYPE_CQ_WAIT_COND),
	FIELD(struct fi_cq_attr, comp_ctx, TYPE_COMP_CTX),
	{}
};

static const struct field mr_attr_fields[] = {
	FIELD(struct fi_mr_attr, type, TYPE_BUF_TYPE),
	FIELD(struct fi_mr_attr, iov_count, TYPE_SIZE),
	FIELD(struct fi_mr_attr, access, FI_TYPE_CAPS),
	FIELD(struct fi_mr_attr, offset, TYPE_HEX64),
	FIELD(struct fi_mr_attr, requested_key, TYPE_HEX64),
	POINTER(struct fi_mr_attr, context, TYPE_POINTER),
	FIELD(struct fi_mr_attr, auth_key_size, TYPE_SIZE),
	FIELD(struct fi_mr_attr, iface, FI_TYPE_HMEM_IFACE),
	{}
};

static const struct field cntr_attr_fields[] = {
	FIELD(struct fi_cntr_attr, events, TYPE_CNTR_EVENTS),
	FIELD(struct fi_cntr_attr, wait_obj, FI_TYPE_WAIT_OBJ),
	FIELD(struct fi_cntr_attr, flags, TYPE_HEX64),
	{}
};

static const struct field cq_err_entry_fields[] = {
	POINTER(struct fi_cq_err_entry, op_context, TYPE_POINTER),
	FIELD(struct fi_cq_err_entry, flags, FI_TYPE_CQ_EVENT_FLAGS),
	FIELD(struct fi_cq_err_entry, len, TYPE_SIZE),
	POINTER(struct fi_cq_err_entry, buf, TYPE_POINTER),
	FIELD(struct fi_cq_err_entry, data, TYPE_HEX64),
	FIELD(struct fi_cq_err_entry, tag, TYPE_HEX64),
	FIELD(struct fi_cq_err_entry, olen, TYPE_SIZE),
	FIELD(struct fi_cq_err_entry, err, TYPE_ERRNO),
	FIELD(struct fi_cq_err_entry, prov_errno, TYPE_INT),
	FIELD(struct fi_cq_err_entry, err_data_size, TYPE_SIZE),
	FIELD(struct fi_cq_err_entry, src_addr, TYPE_HEX64),
	{}
};

/* Addresses need their lengths, so they are no plain fields */
static void print_info(struct text *text, const struct type *type,
		       const void *data, int depth)
{
	const struct fi_info *info = data;

	print_struct(text, type, info, depth);
	if (!info)
		return;
	print_addr_field(text, "src_addr", info->src_addr, info->src_addrlen,
			 depth + 1);
	print_addr_field(text, "dest_addr", info->dest_addr, info->dest_addrlen,
			 depth + 1);
	print_fields(text, info_attrs, info, depth + 1);
}

#define ENUM(table) { print_enum, sizeof(u32), kofi_names_##table }
#define FLAGS(bits, table) { print_flags, sizeof(bits), kofi_names_##table }
#define VALUE(how, type) { print_##how, sizeof(type) }
#define STRUCT(struct_tag) \
	{ print_struct, .tag = "fi_" #struct_tag, .fields = struct_tag##_fields }

static const struct type types[NR_TYPES] = {
	[FI_TYPE_INFO]		 = { print_info, .tag = "fi_info",
				     .fields = info_fields },
	[FI_TYPE_EP_TYPE]	 = ENUM(ep_type),
	[FI_TYPE_CAPS]		 = FLAGS(u64, caps),
	[FI_TYPE_OP_FLAGS]	 = FLAGS(u64, op_flags),
	[FI_TYPE_ADDR_FORMAT]	 = ENUM(addr_format),
	[FI_TYPE_TX_ATTR]	 = STRUCT(tx_attr),
	[FI_TYPE_RX_ATTR]	 = STRUCT(rx_attr),
	[FI_TYPE_EP_ATTR]	 = STRUCT(ep_attr),
	[FI_TYPE_DOMAIN_ATTR]	 = STRUCT(domain_attr),
	[FI_TYPE_FABRIC_ATTR]	 = STRUCT(fabric_attr),
	[FI_TYPE_THREADING]	 = ENUM(threading),
	[FI_TYPE_PROGRESS]	 = ENUM(progress),
	[FI_TYPE_PROTOCOL]	 = ENUM(protocol),
	[FI_TYPE_MSG_ORDER]	 = FLAGS(u64, msg_order),
	[FI_TYPE_MODE]		 = FLAGS(u64, mode),
	[FI_TYPE_AV_TYPE]	 = ENUM(av_type),
	[FI_TYPE_ATOMIC_TYPE]	 = ENUM(atomic_type),
	[FI_TYPE_ATOMIC_OP]	 = ENUM(atomic_op),
	[FI_TYPE_VERSION]	 = { print_version },
	[FI_TYPE_EQ_EVENT]	 = ENUM(eq_event),
	[FI_TYPE_CQ_EVENT_FLAGS] = FLAGS(u64, cq_flags),
	[FI_TYPE_MR_MODE]	 = FLAGS(int, mr_mode),
	[FI_TYPE_FID]		 = { print_fid, .names = kofi_names_class },
	[FI_TYPE_HMEM_IFACE]	 = ENUM(hmem_iface),
	[FI_TYPE_CQ_FORMAT]	 = ENUM(cq_format),
	[FI_TYPE_AV_ATTR]	 = STRUCT(av_attr),
	[FI_TYPE_CQ_ATTR]	 = STRUCT(cq_attr),
	[FI_TYPE_MR_ATTR]	 = STRUCT(mr_attr),
	[FI_TYPE_CNTR_ATTR]	 = STRUCT(cntr_attr),
	[FI_TYPE_CQ_ERR_ENTRY]	 = STRUCT(cq_err_entry),
	[FI_TYPE_CQ_WAIT_COND]	 = ENUM(wait_cond),
	[FI_TYPE_WAIT_OBJ]	 = ENUM(wait_obj),
	[TYPE_SIZE]		 = VALUE(number, size_t),
	[TYPE_U32]		 = VALUE(number, u32),
	[TYPE_INT]		 = VALUE(int, int),
	[TYPE_HEX64]		 = VALUE(hex, u64),
	[TYPE_STRING]		 = { print_string },
	[TYPE_POINTER]		 = { print_pointer },
	[TYPE_CTX_CNT]		 = VALUE(ctx_cnt, size_t),
	[TYPE_ERRNO]		 = VALUE(errno, int),
	[TYPE_PROV_VERSION]	 = VALUE(prov_version, u32),
	[TYPE_RESOURCE_MGMT]	 = ENUM(resource_mgmt),
	[TYPE_TCLASS]		 = { print_tclass, sizeof(u32),
				     kofi_names_tclass },
	[TYPE_AV_FLAGS]		 = FLAGS(u64, av_flags),
	[TYPE_COMP_CTX]		 = ENUM(comp_ctx),
	[TYPE_CNTR_EVENTS]	 = ENUM(cntr_events),
	[TYPE_BUF_TYPE]		 = ENUM(buf_type),
	[TYPE_LINK_STATE]	 = ENUM(link_state),
	[TYPE_DEVICE_ATTR]	 = STRUCT(device_attr),
	[TYPE_BUS_ATTR]		 = { print_bus_attr },
	[TYPE_LINK_ATTR]	 = STRUCT(link_attr),
	[TYPE_NIC]		 = { print_struct, .tag = "fid_nic",
				     .fields = nic_fields },
};

static char *tostr(const void *data, u32 datatype, u32 known, bool whole, char *buf,
		   size_t len)
{
	struct text text = {
		.buf	= buf,
		.len	= min_t(size_t, len, INT_MAX),
		.whole	= whole,
	};
	const struct type *type;

	if (!buf || !len)
		return buf;
	*buf = '\0';

	type = datatype < known ? &types[datatype] : NULL;
	if (!type || !type->print)
		text_add(&text, "unknown type %u", datatype);
	else if (!data && !type->fields)
		text_add(&text, "(null)");
	else
		type->print(&text, type, data, 0);
	return buf;
}

char *fi_tostr(const void *data, enum fi_type datatype, char *buf, size_t len)
{
	return tostr(data, datatype, FI_TYPE_WAIT_OBJ + 1, false, buf, len);
}
EXPORT_SYMBOL_GPL(fi_tostr);

u64 kofi_value(const void *data, u32 datatype)
{
	return types[datatype].size ? value_of(&types[datatype], data) : 0;
}

size_t kofi_value_size(u32 datatype)
{
	return types[datatype].size;
}

char *kofi_tostr(const void *data, u32 datatype, char *buf, size_t len)
{
	return tostr(data, datatype, NR_TYPES, true, buf, len);
}

char *kofi_value_tostr(u64 value, u32 datatype, char *buf, size_t len)
{
	u32 narrow = value;

	if (kofi_value_size(datatype) == sizeof(u64))
		return kofi_tostr(&value, datatype, buf, len);
	return kofi_tostr(&narrow, datatype, buf, len);
}

char *kofi_addr_tostr(const void *addr, size_t addrlen, char *buf, size_t len)
{
	struct text text = { .buf = buf, .len = len };

	*buf = '\0';
	print_addr(&text, addr, addrlen);
	return buf;
}
