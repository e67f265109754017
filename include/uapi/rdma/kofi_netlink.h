/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Generic netlink family "kofi": what programs may ask the kernel's kOFI.
 *
 * Each command is a dump (NLM_F_DUMP).  Answers are about the network namespace of the
 * socket.  Numbers of fabrics, constants and flags are those of libfabric 2.6.  New
 * attributes come at the end of an enum; a program skips those it does not know.
 */
#ifndef _UAPI_RDMA_KOFI_NETLINK_H
#define _UAPI_RDMA_KOFI_NETLINK_H

#define KOFI_GENL_NAME		"kofi"
#define KOFI_GENL_VERSION	1

/**
 * enum kofi_cmd - Commands
 * @KOFI_CMD_UNSPEC: none
 * @KOFI_CMD_GETINFO: fi_getinfo(): the request may have KOFI_A_VERSION, KOFI_A_NODE,
 *	KOFI_A_SERVICE, KOFI_A_FLAGS and KOFI_A_HINTS.  Answer: a message with
 *	KOFI_A_VERSION, one with KOFI_A_INFO for each result, best first, one with
 *	KOFI_A_REASON for each reason why something is left out, nearest first, and one
 *	with KOFI_A_ERROR.  No module is loaded.
 * @KOFI_CMD_PROVIDERS: a message with KOFI_A_PROVIDER for each registered provider
 * @KOFI_CMD_OBJECTS: a message with KOFI_A_OBJECT for each object that is open in the
 *	namespace, oldest first
 */
enum kofi_cmd {
	KOFI_CMD_UNSPEC,
	KOFI_CMD_GETINFO,
	KOFI_CMD_PROVIDERS,
	KOFI_CMD_OBJECTS,
	/* private: */
	__KOFI_CMD_MAX,
	KOFI_CMD_MAX = __KOFI_CMD_MAX - 1
};

/**
 * enum kofi_attr - Attributes of all messages
 * @KOFI_A_UNSPEC: none
 * @KOFI_A_PAD: for alignment
 * @KOFI_A_VERSION: u32, FI_VERSION(): of the API that the asker is written for, and in
 *	the answer of the kernel's
 * @KOFI_A_NODE: string, a numeric address
 * @KOFI_A_SERVICE: u16, a port
 * @KOFI_A_FLAGS: u64, FI_SOURCE and the like
 * @KOFI_A_HINTS: nested &enum kofi_info_attr; missing: everything there is
 * @KOFI_A_INFO: nested &enum kofi_info_attr
 * @KOFI_A_REASON: nested &enum kofi_reason_attr
 * @KOFI_A_ERROR: s32, what fi_getinfo() returned: 0 or a negative error code
 * @KOFI_A_PROVIDER: nested &enum kofi_provider_attr
 * @KOFI_A_OBJECT: nested &enum kofi_object_attr
 */
enum kofi_attr {
	KOFI_A_UNSPEC,
	KOFI_A_PAD,
	KOFI_A_VERSION,
	KOFI_A_NODE,
	KOFI_A_SERVICE,
	KOFI_A_FLAGS,
	KOFI_A_HINTS,
	KOFI_A_INFO,
	KOFI_A_REASON,
	KOFI_A_ERROR,
	KOFI_A_PROVIDER,
	KOFI_A_OBJECT,
	/* private: */
	__KOFI_A_MAX,
	KOFI_A_MAX = __KOFI_A_MAX - 1
};

/**
 * enum kofi_info_attr - struct fi_info, of hints and of results
 * @KOFI_INFO_UNSPEC: none
 * @KOFI_INFO_PAD: for alignment
 * @KOFI_INFO_CAPS: u64
 * @KOFI_INFO_MODE: u64
 * @KOFI_INFO_ADDR_FORMAT: u32
 * @KOFI_INFO_EP_TYPE: u32
 * @KOFI_INFO_PROTOCOL: u32
 * @KOFI_INFO_MAX_MSG_SIZE: u64
 * @KOFI_INFO_TX_SIZE: u64, tx_attr->size
 * @KOFI_INFO_TX_MSG_ORDER: u64
 * @KOFI_INFO_INJECT_SIZE: u64
 * @KOFI_INFO_TX_IOV_LIMIT: u64
 * @KOFI_INFO_TCLASS: u32, tx_attr->tclass
 * @KOFI_INFO_RX_SIZE: u64, rx_attr->size
 * @KOFI_INFO_RX_MSG_ORDER: u64
 * @KOFI_INFO_DOMAIN_MODE: u64
 * @KOFI_INFO_MR_MODE: u32
 * @KOFI_INFO_THREADING: u32
 * @KOFI_INFO_PROGRESS: u32, domain_attr->data_progress
 * @KOFI_INFO_AV_TYPE: u32
 * @KOFI_INFO_PROV_VERSION: u32
 * @KOFI_INFO_PROV_NAME: string
 * @KOFI_INFO_FABRIC: string, fabric_attr->name
 * @KOFI_INFO_DOMAIN: string, domain_attr->name
 * @KOFI_INFO_SRC_ADDR: bytes in the format of KOFI_INFO_ADDR_FORMAT; results only
 * @KOFI_INFO_DEST_ADDR: as KOFI_INFO_SRC_ADDR
 * @KOFI_INFO_TEXT: string, fi_tostr(FI_TYPE_INFO): all fields, in lines "name: value"
 *	that are indented by four blanks for each level; results only
 */
enum kofi_info_attr {
	KOFI_INFO_UNSPEC,
	KOFI_INFO_PAD,
	KOFI_INFO_CAPS,
	KOFI_INFO_MODE,
	KOFI_INFO_ADDR_FORMAT,
	KOFI_INFO_EP_TYPE,
	KOFI_INFO_PROTOCOL,
	KOFI_INFO_MAX_MSG_SIZE,
	KOFI_INFO_TX_SIZE,
	KOFI_INFO_TX_MSG_ORDER,
	KOFI_INFO_INJECT_SIZE,
	KOFI_INFO_TX_IOV_LIMIT,
	KOFI_INFO_TCLASS,
	KOFI_INFO_RX_SIZE,
	KOFI_INFO_RX_MSG_ORDER,
	KOFI_INFO_DOMAIN_MODE,
	KOFI_INFO_MR_MODE,
	KOFI_INFO_THREADING,
	KOFI_INFO_PROGRESS,
	KOFI_INFO_AV_TYPE,
	KOFI_INFO_PROV_VERSION,
	KOFI_INFO_PROV_NAME,
	KOFI_INFO_FABRIC,
	KOFI_INFO_DOMAIN,
	KOFI_INFO_SRC_ADDR,
	KOFI_INFO_DEST_ADDR,
	KOFI_INFO_TEXT,
	/* private: */
	__KOFI_INFO_MAX,
	KOFI_INFO_MAX = __KOFI_INFO_MAX - 1
};

/**
 * enum kofi_reason_attr - Why something is not among the results
 * @KOFI_REASON_UNSPEC: none
 * @KOFI_REASON_KIND: u32: 0 refused arguments, 1 no such provider, 2 a field of the hints,
 *	3 what the provider says, 4 the provider fails, 5 a bug of the provider, 6 excluded by
 *	a hint
 * @KOFI_REASON_ERR: s32, negative error code, or 0
 * @KOFI_REASON_MISFITS: u32, how many fields of that result do not fit
 * @KOFI_REASON_PROV_NAME: string
 * @KOFI_REASON_DOMAIN: string
 * @KOFI_REASON_FIELD: string, "domain_attr->mr_mode" for instance
 * @KOFI_REASON_WANTED: string
 * @KOFI_REASON_OFFERED: string
 * @KOFI_REASON_TEXT: string, a sentence
 */
enum kofi_reason_attr {
	KOFI_REASON_UNSPEC,
	KOFI_REASON_KIND,
	KOFI_REASON_ERR,
	KOFI_REASON_MISFITS,
	KOFI_REASON_PROV_NAME,
	KOFI_REASON_DOMAIN,
	KOFI_REASON_FIELD,
	KOFI_REASON_WANTED,
	KOFI_REASON_OFFERED,
	KOFI_REASON_TEXT,
	/* private: */
	__KOFI_REASON_MAX,
	KOFI_REASON_MAX = __KOFI_REASON_MAX - 1
};

/**
 * enum kofi_provider_attr - A registered provider
 * @KOFI_PROVIDER_UNSPEC: none
 * @KOFI_PROVIDER_NAME: string
 * @KOFI_PROVIDER_NR: u32, FI_VERSION(): its own version
 * @KOFI_PROVIDER_API: u32, FI_VERSION(): of the provider interface it was compiled with
 * @KOFI_PROVIDER_REFS: u32: the registry, open fabrics, calls inside
 * @KOFI_PROVIDER_MODULE: string; missing: it is built into the kernel
 */
enum kofi_provider_attr {
	KOFI_PROVIDER_UNSPEC,
	KOFI_PROVIDER_NAME,
	KOFI_PROVIDER_NR,
	KOFI_PROVIDER_API,
	KOFI_PROVIDER_REFS,
	KOFI_PROVIDER_MODULE,
	/* private: */
	__KOFI_PROVIDER_MAX,
	KOFI_PROVIDER_MAX = __KOFI_PROVIDER_MAX - 1
};

/**
 * enum kofi_object_attr - An open object
 * @KOFI_OBJECT_UNSPEC: none
 * @KOFI_OBJECT_PAD: for alignment
 * @KOFI_OBJECT_ID: u64; a later object has a higher one
 * @KOFI_OBJECT_CLASS: u32, FI_CLASS_*
 * @KOFI_OBJECT_CLASS_NAME: string
 * @KOFI_OBJECT_PROV_NAME: string
 * @KOFI_OBJECT_NAME: string, of a fabric or a domain
 * @KOFI_OBJECT_PARENT: u64, the id of the object it was opened on
 * @KOFI_OBJECT_USERS: u32: children, and objects that it is bound to
 * @KOFI_OBJECT_OWNER: string, the module that has opened its fabric
 * @KOFI_OBJECT_UNLOADED: flag: that module has been unloaded
 * @KOFI_OBJECT_BOUND: nested &enum kofi_bound_attr, for each object bound to it
 * @KOFI_OBJECT_HASH: string, the hashed address, as in debugfs and in trace events
 * @KOFI_OBJECT_ADDR: u64, the address; with CAP_NET_ADMIN in the initial user namespace
 * @KOFI_OBJECT_STATE: string, "connected" for instance
 * @KOFI_OBJECT_SRC_ADDR: struct sockaddr_in or sockaddr_in6 of an endpoint
 * @KOFI_OBJECT_DEST_ADDR: the same of its peer
 * @KOFI_OBJECT_KEY: u64, of a memory region that has one; with CAP_NET_ADMIN
 * @KOFI_OBJECT_VALUE: nested &enum kofi_value_attr, for each number that the object counts
 */
enum kofi_object_attr {
	KOFI_OBJECT_UNSPEC,
	KOFI_OBJECT_PAD,
	KOFI_OBJECT_ID,
	KOFI_OBJECT_CLASS,
	KOFI_OBJECT_CLASS_NAME,
	KOFI_OBJECT_PROV_NAME,
	KOFI_OBJECT_NAME,
	KOFI_OBJECT_PARENT,
	KOFI_OBJECT_USERS,
	KOFI_OBJECT_OWNER,
	KOFI_OBJECT_UNLOADED,
	KOFI_OBJECT_BOUND,
	KOFI_OBJECT_HASH,
	KOFI_OBJECT_ADDR,
	KOFI_OBJECT_STATE,
	KOFI_OBJECT_SRC_ADDR,
	KOFI_OBJECT_DEST_ADDR,
	KOFI_OBJECT_KEY,
	KOFI_OBJECT_VALUE,
	/* private: */
	__KOFI_OBJECT_MAX,
	KOFI_OBJECT_MAX = __KOFI_OBJECT_MAX - 1
};

/**
 * enum kofi_bound_attr - What an object is bound to
 * @KOFI_BOUND_UNSPEC: none
 * @KOFI_BOUND_PAD: for alignment
 * @KOFI_BOUND_ID: u64, the id of the queue, counter and so on
 * @KOFI_BOUND_FLAGS: u64, flags of the bind call
 */
enum kofi_bound_attr {
	KOFI_BOUND_UNSPEC,
	KOFI_BOUND_PAD,
	KOFI_BOUND_ID,
	KOFI_BOUND_FLAGS,
	/* private: */
	__KOFI_BOUND_MAX,
	KOFI_BOUND_MAX = __KOFI_BOUND_MAX - 1
};

/**
 * enum kofi_value_attr - A number that an object counts
 * @KOFI_VALUE_UNSPEC: none
 * @KOFI_VALUE_PAD: for alignment
 * @KOFI_VALUE_NAME: string, "completed" for instance
 * @KOFI_VALUE_NUMBER: u64
 */
enum kofi_value_attr {
	KOFI_VALUE_UNSPEC,
	KOFI_VALUE_PAD,
	KOFI_VALUE_NAME,
	KOFI_VALUE_NUMBER,
	/* private: */
	__KOFI_VALUE_MAX,
	KOFI_VALUE_MAX = __KOFI_VALUE_MAX - 1
};

#endif /* _UAPI_RDMA_KOFI_NETLINK_H */
