/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The root of the client's view: capability bits, attributes, discovery,
 * fabrics, and what every object has in common.
 *
 * Names and values are those of libfabric 2.6 (fabric.h) so that knowledge and
 * code carry over from user space.  Where the kernel needs something else, the
 * line is marked "kernel:" and Documentation/differences.rst gives the reason.  That
 * document also lists what libfabric has and kOFI lacks; a gap in the values of an enum is
 * such a place.
 *
 * Life of the objects
 *
 *	fabric -> domain -> { endpoint, cq, cntr, mr, av, srx, stx }
 *	fabric -> { eq, passive endpoint }
 *	domain -> scalable endpoint -> { tx context, rx context }
 *	endpoint -> multicast group
 *
 * A parent outlives its children, and a bound object outlives the object that it is bound
 * to: fi_close() returns -EBUSY otherwise.  An open fabric pins its provider's module.  No
 * call may use an object while or after another thread closes it.
 */
#ifndef _RDMA_FABRIC_H
#define _RDMA_FABRIC_H

#include <linux/limits.h>
#include <linux/module.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <linux/uio.h>
#include <rdma/fi_errno.h>

struct net;
struct kofi_obj;

/* The version of this API; a client passes that of the headers it was compiled with */
#define FI_MAJOR_VERSION	2
#define FI_MINOR_VERSION	6
#define FI_REVISION_VERSION	0

#define FI_VERSION(major, minor)	(((major) << 16) | (minor))
#define FI_MAJOR(version)		((version) >> 16)
#define FI_MINOR(version)		((version) & 0xFFFF)
#define FI_VERSION_GE(v1, v2)		((v1) >= (v2))
#define FI_VERSION_LT(v1, v2)		((v1) < (v2))

enum {
	FI_NAME_MAX		= 64,
	FI_ATOMIC_OP_LAST	= 19,
	FI_DATATYPE_LAST	= 14,
};

struct fid;
struct fid_fabric;
struct fid_domain;
struct fid_av;
struct fid_eq;
struct fid_cq;
struct fid_cntr;
struct fid_ep;
struct fid_pep;
struct fid_stx;
struct fid_mr;
struct fid_mc;
struct fid_nic;

typedef struct fid *fid_t;
typedef u64 fi_addr_t;

/*
 * Capability and operation flags share one 64-bit space: bits that many calls
 * use grow up from 1, bits that belong to one call grow down from 59, and 60
 * to 63 belong to the provider.
 */
#define FI_MSG			BIT_ULL(1)
#define FI_RMA			BIT_ULL(2)
#define FI_TAGGED		BIT_ULL(3)
#define FI_ATOMIC		BIT_ULL(4)
#define FI_ATOMICS		FI_ATOMIC
#define FI_MULTICAST		BIT_ULL(5)
#define FI_COLLECTIVE		BIT_ULL(6)

#define FI_READ			BIT_ULL(8)
#define FI_WRITE		BIT_ULL(9)
#define FI_RECV			BIT_ULL(10)
#define FI_SEND			BIT_ULL(11)
#define FI_TRANSMIT		FI_SEND
#define FI_REMOTE_READ		BIT_ULL(12)
#define FI_REMOTE_WRITE		BIT_ULL(13)
#define FI_REMOTE_INV		BIT_ULL(15)	/* kernel: see fi_sendmsg() */

/*
 * FI_REMOTE_INV as a capability: on the transmit side, a message can invalidate a key of
 * its receiver; on the receive side, a completion reports it.
 *
 * FI_TAGGED_RMA: peers read and write the memory of tagged receives, and reads and writes can
 * name such a receive.  The name is that of other fabric interfaces in kernels; libfabric has
 * none, and leaves the bit free.  A result has it only if hints ask for it, as it opens memory
 * to peers.
 */

#define FI_MULTI_RECV		BIT_ULL(16)
#define FI_REMOTE_CQ_DATA	BIT_ULL(17)
#define FI_MORE			BIT_ULL(18)
#define FI_PEEK			BIT_ULL(19)
#define FI_TRIGGER		BIT_ULL(20)
#define FI_FENCE		BIT_ULL(21)

#define FI_COMPLETION		BIT_ULL(24)
#define FI_EVENT		FI_COMPLETION
#define FI_INJECT		BIT_ULL(25)
#define FI_INJECT_COMPLETE	BIT_ULL(26)
#define FI_TRANSMIT_COMPLETE	BIT_ULL(27)
#define FI_DELIVERY_COMPLETE	BIT_ULL(28)
#define FI_AFFINITY		BIT_ULL(29)
#define FI_COMMIT_COMPLETE	BIT_ULL(30)
#define FI_MATCH_COMPLETE	BIT_ULL(31)
#define FI_SAVE			BIT_ULL(32)	/* kernel: see fi_writemsg() */

#define FI_RESCAN		BIT_ULL(35)
#define FI_ATOMIC_PMEM		BIT_ULL(37)	/* kernel: see fi_atomicmsg() */
#define FI_TAGGED_RMA		BIT_ULL(38)	/* kernel: see fi_readmsg() */
#define FI_AV_USER_ID		BIT_ULL(41)
#define FI_FIREWALL_ADDR	BIT_ULL(42)
#define FI_PEER			BIT_ULL(43)
#define FI_TAGGED_DIRECTED_RECV	BIT_ULL(45)
#define FI_TAGGED_MULTI_RECV	BIT_ULL(46)
#define FI_HMEM			BIT_ULL(47)
#define FI_P2P			FI_HMEM		/* kernel: another name */
#define FI_EXACT_DIRECTED_RECV	BIT_ULL(48)
#define FI_RMA_PMEM		BIT_ULL(49)
#define FI_SOURCE_ERR		BIT_ULL(50)
#define FI_LOCAL_COMM		BIT_ULL(51)
#define FI_REMOTE_COMM		BIT_ULL(52)
#define FI_SHARED_AV		BIT_ULL(53)
#define FI_PROV_ATTR_ONLY	BIT_ULL(54)
#define FI_NUMERICHOST		BIT_ULL(55)
#define FI_RMA_EVENT		BIT_ULL(56)
#define FI_SOURCE		BIT_ULL(57)
#define FI_NAMED_RX_CTX		BIT_ULL(58)
#define FI_DIRECTED_RECV	BIT_ULL(59)

/* Tagged receives, see fi_trecvmsg(); FI_AUTH_KEY: see fi_av_insert_auth_key() */
#define FI_CLAIM		BIT_ULL(59)
#define FI_DISCARD		BIT_ULL(58)
#define FI_AUTH_KEY		BIT_ULL(57)

/* Binding a completion queue to an endpoint */
#define FI_SELECTIVE_COMPLETION	BIT_ULL(59)

/**
 * struct fi_ioc - Local elements of an atomic operation
 * @addr: the first element
 * @count: number of elements
 */
struct fi_ioc {
	void			*addr;
	size_t			count;
};

/* Format of the addresses in struct fi_info */
enum {
	FI_FORMAT_UNSPEC,
	FI_SOCKADDR,		/* struct sockaddr_storage, any family below */
	FI_SOCKADDR_IN,		/* struct sockaddr_in */
	FI_SOCKADDR_IN6,	/* struct sockaddr_in6 */
	FI_SOCKADDR_IB,		/* struct sockaddr_ib */
	FI_ADDR_STR	= 9,	/* text */
	FI_ADDR_IB_UD	= 11,
	FI_ADDR_CXI	= 15,
	FI_SOCKADDR_IP	= 17,	/* struct sockaddr_in or sockaddr_in6 */
};

#define FI_ADDR_UNSPEC		((u64)-1)
#define FI_ADDR_NOTAVAIL	((u64)-1)
#define FI_KEY_NOTAVAIL		((u64)-1)
#define FI_SHARED_CONTEXT	SIZE_MAX
#define FI_AV_AUTH_KEY		SIZE_MAX

enum fi_av_type {
	FI_AV_UNSPEC,
	FI_AV_MAP,
	FI_AV_TABLE,
};

/* Memory registration modes, fi_domain_attr.mr_mode */
#define FI_MR_LOCAL		BIT(2)
#define FI_MR_RAW		BIT(3)
#define FI_MR_VIRT_ADDR		BIT(4)
#define FI_MR_ALLOCATED		BIT(5)
#define FI_MR_PROV_KEY		BIT(6)
#define FI_MR_MMU_NOTIFY	BIT(7)
#define FI_MR_RMA_EVENT		BIT(8)
#define FI_MR_ENDPOINT		BIT(9)
#define FI_MR_HMEM		BIT(10)
#define FI_MR_P2P		FI_MR_HMEM	/* kernel: another name */
#define FI_MR_COLLECTIVE	BIT(11)

enum fi_progress {
	FI_PROGRESS_UNSPEC,
	FI_PROGRESS_AUTO,
	FI_PROGRESS_MANUAL,
	FI_PROGRESS_CONTROL_UNIFIED,
};

enum fi_threading {
	FI_THREAD_UNSPEC,
	FI_THREAD_SAFE,
	FI_THREAD_FID,
	FI_THREAD_DOMAIN,
	FI_THREAD_COMPLETION,
	FI_THREAD_ENDPOINT,
};

enum fi_resource_mgmt {
	FI_RM_UNSPEC,
	FI_RM_DISABLED,
	FI_RM_ENABLED,
};

/* Message order: X after Y, R read, W write, S send */
#define FI_ORDER_NONE		0ULL
#define FI_ORDER_RAR		BIT_ULL(0)
#define FI_ORDER_RAW		BIT_ULL(1)
#define FI_ORDER_RAS		BIT_ULL(2)
#define FI_ORDER_WAR		BIT_ULL(3)
#define FI_ORDER_WAW		BIT_ULL(4)
#define FI_ORDER_WAS		BIT_ULL(5)
#define FI_ORDER_SAR		BIT_ULL(6)
#define FI_ORDER_SAW		BIT_ULL(7)
#define FI_ORDER_SAS		BIT_ULL(8)
#define FI_ORDER_RMA_RAR	BIT_ULL(32)
#define FI_ORDER_RMA_RAW	BIT_ULL(33)
#define FI_ORDER_RMA_WAR	BIT_ULL(34)
#define FI_ORDER_RMA_WAW	BIT_ULL(35)
#define FI_ORDER_ATOMIC_RAR	BIT_ULL(36)
#define FI_ORDER_ATOMIC_RAW	BIT_ULL(37)
#define FI_ORDER_ATOMIC_WAR	BIT_ULL(38)
#define FI_ORDER_ATOMIC_WAW	BIT_ULL(39)

enum fi_ep_type {
	FI_EP_UNSPEC,
	FI_EP_MSG,
	FI_EP_DGRAM,
	FI_EP_RDM,
};

/* Wire protocols; equal protocols interoperate */
enum {
	FI_PROTO_UNSPEC,
	FI_PROTO_RDMA_CM_IB_RC,
	FI_PROTO_IWARP,
	FI_PROTO_IB_UD,
	FI_PROTO_UDP		= 5,
	FI_PROTO_SOCK_TCP	= 6,
	FI_PROTO_IWARP_RDM	= 8,
	FI_PROTO_IB_RDM		= 9,
	FI_PROTO_RXM		= 11,
	FI_PROTO_RXD		= 12,
	FI_PROTO_SHM		= 16,
	FI_PROTO_MRAIL		= 17,
	FI_PROTO_RDMA_CM_IB_XRC	= 19,
	FI_PROTO_RXM_TCP	= 22,
	FI_PROTO_CXI		= 24,
	FI_PROTO_XNET		= 25,
	FI_PROTO_CXI_RNR	= 29,
	FI_PROTO_LNX		= 31,
};

/* kernel: that of provider loop; the highest bit says that no other provider speaks it */
#define FI_PROTO_LOOP		0x80000001U

/* Traffic classes, fi_tx_attr.tclass */
enum {
	FI_TC_UNSPEC		= 0,
	FI_TC_DSCP		= 0x100,
	FI_TC_LABEL		= 0x200,
	FI_TC_BEST_EFFORT	= FI_TC_LABEL,
	FI_TC_LOW_LATENCY,
	FI_TC_DEDICATED_ACCESS,
	FI_TC_BULK_DATA,
	FI_TC_SCAVENGER,
	FI_TC_NETWORK_CTRL,
};

static inline u32 fi_tc_dscp_set(u8 dscp)
{
	return dscp | FI_TC_DSCP;
}

static inline u8 fi_tc_dscp_get(u32 tclass)
{
	return tclass & FI_TC_DSCP ? (u8)tclass : 0;
}

/*
 * Mode bits: what a provider asks of the client.
 *
 * FI_ASYNC_IOV: the list of an operation (kvecs, bio_vecs or a scatterlist) belongs to the
 * provider as long as its buffers do, and the client does not change it meanwhile.  kernel: where
 * the hints have this mode, a provider can take lists that are longer than those it copies.  Such
 * a list has no empty element.  rma_iov and descriptors are the caller's when the call returns.
 */
#define FI_CONTEXT		BIT_ULL(59)
#define FI_MSG_PREFIX		BIT_ULL(58)
#define FI_ASYNC_IOV		BIT_ULL(57)
#define FI_RX_CQ_DATA		BIT_ULL(56)
#define FI_CONTEXT2		BIT_ULL(52)

/**
 * struct fi_context - What an operation's context points to, with mode FI_CONTEXT
 * @internal: for the provider, from the call until the completion has been read
 *
 * The client embeds it in its own request and finds the request from it.  The provider
 * ignores the context of an operation that reports no completion.  FI_PEEK with FI_CLAIM
 * needs a &struct fi_context in every mode, see fi_trecvmsg().
 */
struct fi_context {
	void			*internal[4];
};

/**
 * struct fi_context2 - What an operation's context points to, with mode FI_CONTEXT2
 * @internal: as in &struct fi_context
 */
struct fi_context2 {
	void			*internal[8];
};

/**
 * struct fi_tx_attr - The transmit side of an endpoint
 * @caps: capabilities of this side, a subset of fi_info.caps
 * @mode: mode bits of this side
 * @op_flags: default flags of the calls that take none
 * @msg_order: FI_ORDER_* promised to the peer's receives
 * @comp_order: order of the completions
 * @inject_size: most bytes of fi_inject()
 * @size: depth of the transmit queue, in operations
 * @iov_limit: most elements of a local buffer list; kernel: a kvec of vmalloc
 *	memory counts once for each page it touches
 * @rma_iov_limit: most elements of a remote buffer list
 * @tclass: FI_TC_*
 * @rma_read_iov_limit: kernel: most elements of the local list of a read; an
 *	element counts as for @iov_limit.  A provider leaves 0 where @iov_limit holds; the
 *	client then gets the value of @iov_limit
 * @rma_write_iov_limit: kernel: most elements of the local list of a write, as
 *	@rma_read_iov_limit
 *
 * A read or a write of more elements than @iov_limit takes several slots of the transmit
 * queue.  FI_OPT_MAX_RMA_IOV reports the smaller of the two RMA limits of an open endpoint.
 */
struct fi_tx_attr {
	u64			caps;
	u64			mode;
	u64			op_flags;
	u64			msg_order;
	u64			comp_order;
	size_t			inject_size;
	size_t			size;
	size_t			iov_limit;
	size_t			rma_iov_limit;
	u32			tclass;
	size_t			rma_read_iov_limit;
	size_t			rma_write_iov_limit;
};

/**
 * struct fi_rx_attr - The receive side of an endpoint
 * @caps: capabilities of this side, a subset of fi_info.caps
 * @mode: mode bits of this side
 * @op_flags: default flags of the calls that take none
 * @msg_order: FI_ORDER_* in which messages are received
 * @comp_order: order of the completions
 * @total_buffered_recv: bytes buffered for messages without a receive
 * @size: depth of the receive queue, in operations
 * @iov_limit: as in &struct fi_tx_attr
 */
struct fi_rx_attr {
	u64			caps;
	u64			mode;
	u64			op_flags;
	u64			msg_order;
	u64			comp_order;
	size_t			total_buffered_recv;
	size_t			size;
	size_t			iov_limit;
};

/**
 * struct fi_ep_attr - An endpoint
 * @type: FI_EP_*
 * @protocol: FI_PROTO_*
 * @protocol_version: version of @protocol
 * @max_msg_size: most bytes of one message or RMA operation
 * @msg_prefix_size: bytes reserved in front of a buffer with FI_MSG_PREFIX
 * @max_order_raw_size: most bytes for which read-after-write order holds
 * @max_order_war_size: most bytes for which write-after-read order holds
 * @max_order_waw_size: most bytes for which write-after-write order holds
 * @mem_tag_format: bits of a tag
 * @tx_ctx_cnt: transmit contexts of the endpoint
 * @rx_ctx_cnt: receive contexts; FI_SHARED_CONTEXT asks for a shared one
 * @auth_key_size: bytes of @auth_key
 * @auth_key: authorization key
 */
struct fi_ep_attr {
	enum fi_ep_type		type;
	u32			protocol;
	u32			protocol_version;
	size_t			max_msg_size;
	size_t			msg_prefix_size;
	size_t			max_order_raw_size;
	size_t			max_order_war_size;
	size_t			max_order_waw_size;
	u64			mem_tag_format;
	size_t			tx_ctx_cnt;
	size_t			rx_ctx_cnt;
	size_t			auth_key_size;
	u8			*auth_key;
};

/**
 * struct fi_domain_attr - A domain: one port of a device, or the like
 * @domain: an open domain that the result must belong to (hints only)
 * @name: name of the domain
 * @threading: which calls the client promises not to make at the same time
 * @control_progress: whether control operations progress without the client
 * @data_progress: whether data transfers progress without the client
 * @progress: another name of @data_progress
 * @resource_mgmt: FI_RM_ENABLED: queues cannot be overrun
 * @av_type: kind of address vector
 * @mr_mode: FI_MR_* the client must be able to follow
 * @mr_key_size: bytes of a memory key; kernel: a provider that has keys of several sizes takes
 *	the smallest that is not below the hint
 * @cq_data_size: bytes of remote CQ data
 * @cq_cnt: completion queues the domain can have, a hint
 * @ep_cnt: endpoints the domain can have, a hint
 * @tx_ctx_cnt: transmit contexts the domain can have
 * @rx_ctx_cnt: receive contexts the domain can have
 * @max_ep_tx_ctx: transmit contexts of one endpoint
 * @max_ep_rx_ctx: receive contexts of one endpoint
 * @max_ep_stx_ctx: shared transmit contexts of one endpoint
 * @max_ep_srx_ctx: endpoints that may share a receive context; 0: there are no shared
 *	receive contexts
 * @cntr_cnt: counters the domain can have
 * @mr_iov_limit: elements of one registration
 * @caps: capabilities of the domain (FI_LOCAL_COMM, FI_REMOTE_COMM, ...)
 * @mode: mode bits of the domain
 * @auth_key: authorization key
 * @auth_key_size: bytes of @auth_key
 * @max_err_data: bytes of error data
 * @mr_cnt: registrations the domain can have
 * @tclass: default FI_TC_*
 * @max_ep_auth_key: authorization keys of one endpoint
 * @max_group_id: highest group of peers, see fi_group_addr()
 * @max_cntr_value: highest value of fi_cntr_read(); 0: all 64 bits
 * @max_err_cntr_value: highest value of fi_cntr_readerr(); 0: all 64 bits
 * @numa_node: kernel: NUMA node of the device, NUMA_NO_NODE if it has none.  As a hint, 0
 *	means any node, so node 0 cannot be asked for
 * @max_cq_size: kernel: operations of the largest completion queue; 0: memory is
 *	the only limit, or the limit is unknown
 * @mr_gap_align: kernel: the elements of a registered list may meet at multiples of this
 *	power of two; the first may begin and the last may end anywhere.  0: they may meet
 *	anywhere.  As a hint: where the client's elements meet
 */
struct fi_domain_attr {
	struct fid_domain	*domain;
	char			*name;
	enum fi_threading	threading;
	enum fi_progress	control_progress;
	union {
		enum fi_progress data_progress;
		enum fi_progress progress;
	};
	enum fi_resource_mgmt	resource_mgmt;
	enum fi_av_type		av_type;
	int			mr_mode;
	size_t			mr_key_size;
	size_t			cq_data_size;
	size_t			cq_cnt;
	size_t			ep_cnt;
	size_t			tx_ctx_cnt;
	size_t			rx_ctx_cnt;
	size_t			max_ep_tx_ctx;
	size_t			max_ep_rx_ctx;
	size_t			max_ep_stx_ctx;
	size_t			max_ep_srx_ctx;
	size_t			cntr_cnt;
	size_t			mr_iov_limit;
	u64			caps;
	u64			mode;
	u8			*auth_key;
	size_t			auth_key_size;
	size_t			max_err_data;
	size_t			mr_cnt;
	u32			tclass;
	size_t			max_ep_auth_key;
	u32			max_group_id;
	u64			max_cntr_value;
	u64			max_err_cntr_value;
	int			numa_node;
	size_t			max_cq_size;
	size_t			mr_gap_align;
};

/**
 * struct fi_fabric_attr - A fabric
 * @fabric: an open fabric that the result must belong to (hints only)
 * @name: name of the fabric
 * @prov_name: name of the provider
 * @prov_version: version of the provider
 * @api_version: API version the client asked for
 * @net: kernel: network namespace of the addresses; NULL means the caller's.  The
 *	caller keeps it alive during fi_getinfo() and fi_fabric().  An open fabric does not
 *	keep it alive: when the namespace goes, the client sees the devices of the fabric
 *	removed.
 */
struct fi_fabric_attr {
	struct fid_fabric	*fabric;
	char			*name;
	char			*prov_name;
	u32			prov_version;
	u32			api_version;
	struct net		*net;
};

/**
 * struct fi_info - One way to reach a fabric; also the structure of the hints
 * @next: next result, in falling order of preference
 * @caps: FI_MSG, FI_RMA, ...
 * @mode: FI_CONTEXT, ...: what the client must do
 * @addr_format: FI_SOCKADDR_IN, ...
 * @src_addrlen: bytes of @src_addr
 * @dest_addrlen: bytes of @dest_addr
 * @src_addr: local address
 * @dest_addr: peer address
 * @handle: connection request that an endpoint will accept, or NULL.  The value is opaque
 *	and points nowhere.  It comes with FI_CONNREQ; fi_endpoint() or fi_reject() uses it
 *	up.  Both calls refuse a value that is used up, or made up, with -EINVAL; such a
 *	value never means another request.
 * @tx_attr: transmit side
 * @rx_attr: receive side
 * @ep_attr: endpoint
 * @domain_attr: domain
 * @fabric_attr: fabric
 * @nic: the device of this result, if there is one
 */
struct fi_info {
	struct fi_info		*next;
	u64			caps;
	u64			mode;
	u32			addr_format;
	size_t			src_addrlen;
	size_t			dest_addrlen;
	void			*src_addr;
	void			*dest_addr;
	fid_t			handle;
	struct fi_tx_attr	*tx_attr;
	struct fi_rx_attr	*rx_attr;
	struct fi_ep_attr	*ep_attr;
	struct fi_domain_attr	*domain_attr;
	struct fi_fabric_attr	*fabric_attr;
	struct fid_nic		*nic;
};

struct fi_device_attr {
	char			*name;
	char			*device_id;
	char			*device_version;
	char			*vendor_id;
	char			*driver;
	char			*firmware;
};

enum fi_bus_type {
	FI_BUS_UNSPEC,
	FI_BUS_UNKNOWN = FI_BUS_UNSPEC,
	FI_BUS_PCI,
};

struct fi_pci_attr {
	u16			domain_id;
	u8			bus_id;
	u8			device_id;
	u8			function_id;
};

struct fi_bus_attr {
	enum fi_bus_type	bus_type;
	union {
		struct fi_pci_attr	pci;
	} attr;
};

enum fi_link_state {
	FI_LINK_UNKNOWN,
	FI_LINK_DOWN,
	FI_LINK_UP,
};

/* mtu in bytes, speed in bits per second */
struct fi_link_attr {
	char			*address;
	size_t			mtu;
	size_t			speed;
	enum fi_link_state	state;
	char			*network_type;
};

/* Classes of objects, fid.fclass */
enum {
	FI_CLASS_UNSPEC,
	FI_CLASS_FABRIC,
	FI_CLASS_DOMAIN,
	FI_CLASS_EP,
	FI_CLASS_SEP,
	FI_CLASS_RX_CTX,
	FI_CLASS_SRX_CTX,
	FI_CLASS_TX_CTX,
	FI_CLASS_STX_CTX,
	FI_CLASS_PEP,
	FI_CLASS_INTERFACE,
	FI_CLASS_AV,
	FI_CLASS_MR,
	FI_CLASS_EQ,
	FI_CLASS_CQ,
	FI_CLASS_CNTR,
	FI_CLASS_CONNREQ	= 18,
	FI_CLASS_MC,
	FI_CLASS_NIC,
};

/**
 * struct fi_ops - Calls that every object has
 * @size: size of this table as the provider was built
 * @close: release the object; the core has checked that nothing uses it
 * @bind: bind another object to this one
 * @control: FI_ENABLE and the other commands
 * @ops_open: find a provider specific table of calls by name
 * @tostr: describe the object in text
 * @ops_set: replace a provider specific table of calls by name
 */
struct fi_ops {
	size_t	size;
	int	(*close)(struct fid *fid);
	int	(*bind)(struct fid *fid, struct fid *bfid, u64 flags);
	int	(*control)(struct fid *fid, int command, void *arg);
	int	(*ops_open)(struct fid *fid, const char *name, u64 flags,
			    void **ops, void *context);
	int	(*tostr)(const struct fid *fid, char *buf, size_t len);
	int	(*ops_set)(struct fid *fid, const char *name, u64 flags,
			   void *ops, void *context);
};

/**
 * struct fid - What every object starts with
 * @fclass: FI_CLASS_*
 * @context: the client's pointer
 * @ops: calls of every object
 * @obj: kernel: the core's bookkeeping, written and read by kofi.ko only
 */
struct fid {
	size_t			fclass;
	void			*context;
	const struct fi_ops	*ops;
	struct kofi_obj		*obj;
};

struct fid_nic {
	struct fid		fid;
	struct fi_device_attr	*device_attr;
	struct fi_bus_attr	*bus_attr;
	struct fi_link_attr	*link_attr;
	void			*prov_attr;
};

struct fi_eq_attr;

struct fi_ops_fabric {
	size_t	size;
	int	(*domain)(struct fid_fabric *fabric, struct fi_info *info,
			  struct fid_domain **domain, void *context);
	int	(*passive_ep)(struct fid_fabric *fabric, struct fi_info *info,
			      struct fid_pep **pep, void *context);
	int	(*eq_open)(struct fid_fabric *fabric, struct fi_eq_attr *attr,
			   struct fid_eq **eq, void *context);
};

struct fid_fabric {
	struct fid			fid;
	const struct fi_ops_fabric	*ops;
	u32				api_version;
};

/**
 * fi_version() - API version of kofi.ko
 *
 * Context: any.
 * Return: FI_VERSION(major, minor).
 */
u32 fi_version(void);

/**
 * fi_getinfo() - Find the ways to reach a fabric that fit the hints
 * @version: FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION): that of the headers which the
 *	client was compiled with.  kernel: an older one, or 0, is accepted and changes nothing
 * @node: numeric address (IPv4 or IPv6, "%scope" allowed) or NULL.  It names
 *	the peer, or the local side with FI_SOURCE.  kernel: names are not
 *	resolved.
 * @service: kernel: port in host byte order, 0 for none
 * @flags: FI_SOURCE, FI_NUMERICHOST, FI_PROV_ATTR_ONLY, FI_RESCAN (which changes
 *	nothing: providers always answer from what is there)
 * @hints: what the client needs, or NULL for everything there is
 * @info: filled with a list of results, best first; free with fi_freeinfo()
 *
 * If @hints name a provider that is not loaded, fi_getinfo() calls
 * request_module("kofi-<name>").  The results satisfy every non-zero field of
 * @hints; sizes and limits are what the endpoint will really have.
 *
 * Context: may sleep; for as long as providers take to resolve an address.
 * Return: 0; -ENODATA: nothing fits; -EINVAL: @node, @service or @hints make no
 * sense; -FI_EBADFLAGS: unknown flag; -ENOSYS: @version is newer than kofi.ko;
 * -ENOMEM.
 */
int fi_getinfo(u32 version, const char *node, int service, u64 flags,
	       const struct fi_info *hints, struct fi_info **info);

/**
 * fi_freeinfo() - Free a list of fi_info and all that it points to
 * @info: list from fi_getinfo(), fi_dupinfo() or an FI_CONNREQ event, or NULL
 *
 * The holder of a fi_info may change what it says.  Names, addresses and keys may be freed by
 * kfree() and replaced.  Attributes (tx_attr and the like) and the nic with all that it points to
 * may be replaced, but not freed: fi_freeinfo() does that.  Whatever is put in place comes from
 * kmalloc(), and is freed with the fi_info.
 *
 * Context: any.
 */
void fi_freeinfo(struct fi_info *info);

/**
 * fi_dupinfo() - Copy one fi_info, deeply; its @next is not followed
 * @info: what to copy; NULL for an empty one with all attributes present
 *
 * Context: may sleep.
 * Return: the copy, or NULL when memory is short.
 */
struct fi_info *fi_dupinfo(const struct fi_info *info);

/**
 * fi_allocinfo() - An empty fi_info with all attributes present, for hints
 *
 * Context: may sleep.
 * Return: the fi_info, or NULL when memory is short.
 */
static inline struct fi_info *fi_allocinfo(void)
{
	return fi_dupinfo(NULL);
}

int __fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		void *context, struct module *client);

/**
 * fi_fabric() - Open a fabric
 * @attr: from a result of fi_getinfo()
 * @fabric: the fabric; fi_close() it
 * @context: the client's pointer, kept in fid.context
 *
 * The provider's module is pinned until the fabric is closed.  The caller's module is not
 * pinned: if it is unloaded with the fabric open, the log names the objects that it should
 * have closed.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: no provider name; -ENODEV: no such provider (any more);
 * -ENOMEM; or an error of the provider.  As in all open calls, -EINVAL also means that the
 * provider's object is incomplete; the log then names what the object lacks.
 */
static inline int fi_fabric(struct fi_fabric_attr *attr,
			    struct fid_fabric **fabric, void *context)
{
	return __fi_fabric(attr, fabric, context, THIS_MODULE);
}

/**
 * fi_close() - Close any object
 * @fid: the object
 *
 * When fi_close() returns, no callback of the object runs: no callback of an endpoint's
 * operations, no handler of a queue.  No later read of a queue returns a completion of a
 * closed endpoint.  When fi_close() of a region returns 0, neither the device nor a peer
 * reaches its memory.  It waits for no peer: an access of a peer that is under way ends, and with
 * it perhaps the peer's connection.
 *
 * A callback that may sleep can close what its operation used: a region, an endpoint of another
 * queue, and a shared receive context.  What it cannot close would wait for the callback
 * itself; see -EDEADLK.
 *
 * Context: may sleep.
 * Return: 0; -EBUSY: the object has open children or is bound to another;
 * -EDEADLK: the caller is inside a callback of the queue, or of a queue that the
 * endpoint is bound to; of a region, see fi_mr_disable();
 * -EINVAL: no object; or an error of the provider.  After an error nothing has
 * changed.
 */
int fi_close(struct fid *fid);

/* Commands of fi_control() */
enum {
	FI_GETFIDFLAG,
	FI_SETFIDFLAG,
	FI_GETOPSFLAG,		/* u64 *: FI_TRANSMIT or FI_RECV in, flags out */
	FI_SETOPSFLAG,		/* u64 *: FI_TRANSMIT or FI_RECV and flags */
	FI_ALIAS,		/* struct fi_alias *: fi_ep_alias() */
	FI_GETWAIT,
	FI_ENABLE,		/* NULL */
	FI_BACKLOG,		/* int *: before fi_listen() */
	FI_GET_RAW_MR,		/* struct fi_mr_raw_attr *: fi_mr_raw_attr() */
	FI_MAP_RAW_MR,		/* struct fi_mr_map_raw *: fi_mr_map_raw() */
	FI_UNMAP_KEY,		/* u64 *: fi_mr_unmap_key() */
	FI_DUP		= 15,
	FI_GETWAITOBJ	= 16,	/* enum fi_wait_obj * */
	FI_GET_VAL	= 17,	/* struct fi_fid_var *: fi_get_val() */
	FI_SET_VAL	= 18,	/* struct fi_fid_var *: fi_set_val() */
};

/**
 * struct fi_alias - Argument of FI_ALIAS
 * @fid: where the alias goes
 * @flags: default flags of the alias's operations
 */
struct fi_alias {
	struct fid		**fid;
	u64			flags;
};

/**
 * fi_control() - Issue a command to an object
 * @fid: the object
 * @command: FI_ENABLE, FI_BACKLOG, FI_GETOPSFLAG, FI_SETOPSFLAG, ...
 * @arg: what the command needs
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: the object does not know the command; -EINVAL: no object
 * or a bad @arg; or an error of the command.
 */
int fi_control(struct fid *fid, int command, void *arg);

/**
 * struct fi_fid_var - Argument of FI_GET_VAL and FI_SET_VAL
 * @name: which variable; those of a provider have the uppermost bit set
 * @val: the value of the variable, or where the value goes
 */
struct fi_fid_var {
	int			name;
	void			*val;
};

/**
 * fi_get_val() - Read a variable of an object
 * @fid: the object
 * @name: which variable
 * @val: where the value goes
 *
 * Context: may sleep.
 * Return: as fi_control().
 */
static inline int fi_get_val(struct fid *fid, int name, void *val)
{
	struct fi_fid_var var = { .name = name, .val = val };

	return fi_control(fid, FI_GET_VAL, &var);
}

/**
 * fi_set_val() - Set a variable of an object
 * @fid: the object
 * @name: which variable
 * @val: the value
 *
 * Context: may sleep.
 * Return: as fi_control().
 */
static inline int fi_set_val(struct fid *fid, int name, void *val)
{
	struct fi_fid_var var = { .name = name, .val = val };

	return fi_control(fid, FI_SET_VAL, &var);
}

/**
 * fi_open_ops() - Find a provider specific table of calls
 * @fid: the object
 * @name: name of the table
 * @flags: provider specific
 * @ops: the table
 * @context: provider specific
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: no such table; -EINVAL.
 */
int fi_open_ops(struct fid *fid, const char *name, u64 flags, void **ops,
		void *context);

/**
 * fi_set_ops() - Replace a provider specific table of calls
 * @fid: the object
 * @name: name of the table
 * @flags: provider specific
 * @ops: the new table
 * @context: provider specific
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: no such table; -EINVAL.
 */
int fi_set_ops(struct fid *fid, const char *name, u64 flags, void *ops,
	       void *context);

/* What fi_tostr() can put into words */
enum fi_type {
	FI_TYPE_INFO,
	FI_TYPE_EP_TYPE,
	FI_TYPE_CAPS,
	FI_TYPE_OP_FLAGS,
	FI_TYPE_ADDR_FORMAT,
	FI_TYPE_TX_ATTR,
	FI_TYPE_RX_ATTR,
	FI_TYPE_EP_ATTR,
	FI_TYPE_DOMAIN_ATTR,
	FI_TYPE_FABRIC_ATTR,
	FI_TYPE_THREADING,
	FI_TYPE_PROGRESS,
	FI_TYPE_PROTOCOL,
	FI_TYPE_MSG_ORDER,
	FI_TYPE_MODE,
	FI_TYPE_AV_TYPE,
	FI_TYPE_ATOMIC_TYPE,
	FI_TYPE_ATOMIC_OP,
	FI_TYPE_VERSION,
	FI_TYPE_EQ_EVENT,
	FI_TYPE_CQ_EVENT_FLAGS,
	FI_TYPE_MR_MODE,
	FI_TYPE_FID		= 23,
	FI_TYPE_HMEM_IFACE	= 25,
	FI_TYPE_CQ_FORMAT	= 26,
	FI_TYPE_AV_ATTR		= 29,
	FI_TYPE_CQ_ATTR,
	FI_TYPE_MR_ATTR,
	FI_TYPE_CNTR_ATTR,
	FI_TYPE_CQ_ERR_ENTRY,
	FI_TYPE_CQ_WAIT_COND,
	FI_TYPE_WAIT_OBJ,
};

/**
 * fi_tostr() - Put a value or a structure into words
 * @data: points to the value
 * @datatype: what @data points to
 * @buf: where the text goes; always terminated if @len is not 0
 * @len: bytes of @buf
 *
 * kernel: the caller brings the buffer, as with libfabric's fi_tostr_r(); there is no
 * per-thread buffer.
 *
 * Context: any.
 * Return: @buf.
 */
char *fi_tostr(const void *data, enum fi_type datatype, char *buf, size_t len);

#define fi_tostr_r(buf, len, data, datatype) \
	fi_tostr(data, datatype, buf, len)

#endif /* _RDMA_FABRIC_H */
