/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kfi_* names on kOFI: objects, attributes, discovery, fabrics.
 *
 * Clients that were written for another fabric interface of the kernel, above all Lustre's
 * kfilnd, compile against these headers and run on kofi.ko and kofi_kfi.ko.
 * Documentation/compat/kfi.rst says what differs.
 *
 * A name that means the same in both interfaces stands for kOFI's: a macro for a type or a
 * constant, an inline function for a call.  A call that means more is a function of kofi_kfi.ko
 * with the prefix kofi_kfi_, so no symbol of that module collides with the other interface.
 *
 * There is no KFI_SGL: a client that finds it maps scatterlists for a device by itself.
 */
#ifndef _KOFI_KFABRIC_H
#define _KOFI_KFABRIC_H

#include <linux/bvec.h>
#include <linux/types.h>
#include <linux/uio.h>
#include <rdma/fabric.h>
#include <kfi_errno.h>

#define KFI_VERSION(major, minor)	FI_VERSION(major, minor)

/* Objects */
#define kfid			fid
#define kfid_fabric		fid_fabric
#define kfid_domain		fid_domain
#define kfid_av			fid_av
#define kfid_cq			fid_cq
#define kfid_ep			fid_ep
#define kfi_addr_t		fi_addr_t

/* Attributes.  The local address in a result is a struct kcxi_addr (kfi_cxi_ext.h) */
#define kfi_info		fi_info
#define kfi_fabric_attr		fi_fabric_attr
#define kfi_domain_attr		fi_domain_attr
#define kfi_ep_attr		fi_ep_attr
#define kfi_tx_attr		fi_tx_attr
#define kfi_rx_attr		fi_rx_attr

/* Capabilities */
#define KFI_MSG			FI_MSG
#define KFI_RMA			FI_RMA
#define KFI_TAGGED		FI_TAGGED
#define KFI_TAGGED_RMA		FI_TAGGED_RMA
#define KFI_READ		FI_READ
#define KFI_WRITE		FI_WRITE
#define KFI_RECV		FI_RECV
#define KFI_SEND		FI_SEND
#define KFI_REMOTE_READ		FI_REMOTE_READ
#define KFI_REMOTE_WRITE	FI_REMOTE_WRITE
#define KFI_MULTI_RECV		FI_MULTI_RECV
#define KFI_NAMED_RX_CTX	FI_NAMED_RX_CTX
#define KFI_DIRECTED_RECV	FI_DIRECTED_RECV
/* kfi_getinfo() does not ask for it: the parameter provider decides */
#define KFI_REMOTE_COMM		FI_REMOTE_COMM

/* Flags of operations and completions */
#define KFI_REMOTE_CQ_DATA	FI_REMOTE_CQ_DATA
#define KFI_COMPLETION		FI_COMPLETION
#define KFI_TRANSMIT_COMPLETE	FI_TRANSMIT_COMPLETE

/* Flag of kfi_getinfo(): node and service are local */
#define KFI_SOURCE		FI_SOURCE

#define KFI_ADDR_UNSPEC		FI_ADDR_UNSPEC
#define KFI_ORDER_NONE		FI_ORDER_NONE
#define KFI_RM_DISABLED		FI_RM_DISABLED

/* What a list of buffers consists of */
#define KFI_BVEC		FI_BUF_BVEC

/* Traffic classes */
#define KFI_TC_BEST_EFFORT	FI_TC_BEST_EFFORT
#define KFI_TC_LOW_LATENCY	FI_TC_LOW_LATENCY
#define KFI_TC_DEDICATED_ACCESS	FI_TC_DEDICATED_ACCESS
#define KFI_TC_BULK_DATA	FI_TC_BULK_DATA
#define KFI_TC_SCAVENGER	FI_TC_SCAVENGER
#define KFI_TC_NETWORK_CTRL	FI_TC_NETWORK_CTRL

int kofi_kfi_getinfo(const char *node, const char *service, u64 flags,
		     const struct kfi_info *hints, struct kfi_info **info);
int kofi_kfi_close(struct kfid *fid);

/**
 * kfi_allocinfo() - An empty kfi_info with all attributes present, for hints
 *
 * Context: may sleep.
 * Return: the kfi_info, or NULL when memory is short.
 */
static inline struct kfi_info *kfi_allocinfo(void)
{
	return fi_allocinfo();
}

/**
 * kfi_dupinfo() - Copy one kfi_info, deeply
 * @info: what to copy
 *
 * Context: may sleep.
 * Return: the copy, or NULL when memory is short.
 */
static inline struct kfi_info *kfi_dupinfo(const struct kfi_info *info)
{
	return fi_dupinfo(info);
}

/**
 * kfi_freeinfo() - Free a kfi_info and all that it points to
 * @info: from kfi_getinfo(), kfi_dupinfo() or kfi_allocinfo(), or NULL
 *
 * Context: any.
 */
static inline void kfi_freeinfo(struct kfi_info *info)
{
	fi_freeinfo(info);
}

/**
 * kfi_getinfo() - Find the endpoint of an interface and a net
 * @version: any; a client of 0 is accepted
 * @node: name of a network interface, or an alternative name of it
 * @service: net number in text, 0 to 65535; NULL: 0.  The endpoint's port is this much above
 *	the parameter port_base of kofi_kfi.ko
 * @flags: KFI_SOURCE
 * @hints: what the client needs; the capability KFI_TAGGED_RMA is needed in any case
 * @info: one result; its src_addr is a struct kcxi_addr
 *
 * Context: may sleep.
 * Return: 0; -ENODEV: no such interface; -EADDRNOTAVAIL: it has no IPv4 address; -EINVAL: a bad
 * argument; -ENODATA: nothing fits, or the fabric or domain of @hints is for another interface;
 * -ENOMEM.
 */
static inline int kfi_getinfo(u32 version, const char *node, const char *service, u64 flags,
			      const struct kfi_info *hints, struct kfi_info **info)
{
	return kofi_kfi_getinfo(node, service, flags, hints, info);
}

/**
 * kfi_fabric() - Open a fabric
 * @attr: from a result of kfi_getinfo()
 * @fabric: the fabric; kfi_close() it
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: as fi_fabric().
 */
static inline int kfi_fabric(struct kfi_fabric_attr *attr, struct kfid_fabric **fabric,
			     void *context)
{
	return fi_fabric(attr, fabric, context);
}

/**
 * kfi_open_ops() - Find a provider specific table of calls
 * @fid: the object
 * @name: name of the table
 * @flags: provider specific
 * @ops: the table
 * @context: provider specific
 *
 * Context: may sleep.
 * Return: as fi_open_ops(); no provider of kOFI has the tables of kfi_cxi_ext.h.
 */
static inline int kfi_open_ops(struct kfid *fid, const char *name, u64 flags, void **ops,
			       void *context)
{
	return fi_open_ops(fid, name, flags, ops, context);
}

/**
 * kfi_close() - Close any object
 * @fid: the object
 *
 * When it returns, no handler of the object runs, and none will.
 *
 * Context: may sleep.
 * Return: as fi_close(): -EBUSY if the object has open children or is bound to another.  A client
 * that closes transmit context, receive context, their queues, scalable endpoint, address vector,
 * domain and fabric in this order gets 0 from each.
 */
static inline int kfi_close(struct kfid *fid)
{
	return kofi_kfi_close(fid);
}

#endif /* _KOFI_KFABRIC_H */
