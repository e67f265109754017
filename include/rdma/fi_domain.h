/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Domains, memory regions and address vectors.  Names and values: libfabric
 * 2.6, fi_domain.h.
 *
 * Local buffers need no registration: the provider maps them.  A region is
 * registered to let a peer reach it.
 *
 * When the device has gone, each call on a domain, or on an object opened in it, returns
 * -ENODEV.  Only fi_close() still works, also while the removal is going on.
 * Counters and event queues do not belong to the device and go on working.
 */
#ifndef _RDMA_FI_DOMAIN_H
#define _RDMA_FI_DOMAIN_H

#include <rdma/fabric.h>
#include <rdma/fi_eq.h>

struct bio_vec;
struct device;
struct dma_buf;
struct scatterlist;

/**
 * enum fi_buf_type - kernel: what a list of local buffers consists of
 * @FI_BUF_KVEC: &struct kvec: kernel addresses, vmalloc included
 * @FI_BUF_BVEC: &struct bio_vec: pages
 * @FI_BUF_SGL: &struct scatterlist: not yet mapped; the count is in entries
 */
enum fi_buf_type {
	FI_BUF_KVEC,
	FI_BUF_BVEC,
	FI_BUF_SGL,
};

/* Flags of address vectors; more are FI_AV_USER_ID, FI_MORE, FI_FIREWALL_ADDR */
#define FI_SYMMETRIC		BIT_ULL(59)
#define FI_SYNC_ERR		BIT_ULL(58)

/**
 * struct fi_av_attr - An address vector
 * @type: FI_AV_TABLE: the n-th address that is inserted has the fi_addr_t n, from 0 on;
 *	FI_AV_MAP: fi_av_insert() reports the fi_addr_t of each address; FI_AV_UNSPEC: the
 *	provider chooses a type and stores it here
 * @rx_ctx_bits: upper bits of each fi_addr_t that are kept 0, for the index in fi_rx_addr():
 *	enough bits to count the receive contexts of a peer
 * @count: addresses that are expected, a hint
 * @ep_per_node: endpoints of each node that are expected, a hint; 0: unknown
 * @name: NULL; libfabric shares a vector that has a name between processes
 * @map_addr: NULL; libfabric maps a shared vector there
 * @flags: FI_AV_USER_ID: fi_av_set_user_id() will be used; until then an address has the id
 *	FI_ADDR_NOTAVAIL.  FI_SYMMETRIC: every node has the same number of endpoints, with the
 *	same consecutive service numbers, a hint.  FI_EVENT: each insertion ends with
 *	FI_AV_COMPLETE on the event queue of fi_av_bind(); libfabric deprecates this flag
 */
struct fi_av_attr {
	enum fi_av_type		type;
	int			rx_ctx_bits;
	size_t			count;
	size_t			ep_per_node;
	const char		*name;
	void			*map_addr;
	u64			flags;
};

struct fi_ops_av {
	size_t	size;
	int	(*insert)(struct fid_av *av, const void *addr, size_t count,
			  fi_addr_t *fi_addr, u64 flags, void *context);
	int	(*insertsvc)(struct fid_av *av, const char *node, int service,
			     fi_addr_t *fi_addr, u64 flags, void *context);
	int	(*insertsym)(struct fid_av *av, const char *node, size_t nodecnt,
			     int service, size_t svccnt, fi_addr_t *fi_addr,
			     u64 flags, void *context);
	int	(*remove)(struct fid_av *av, fi_addr_t *fi_addr, size_t count,
			  u64 flags);
	int	(*lookup)(struct fid_av *av, fi_addr_t fi_addr, void *addr,
			  size_t *addrlen);
	const char *(*straddr)(struct fid_av *av, const void *addr, char *buf,
			       size_t *len);
	int	(*insert_auth_key)(struct fid_av *av, const void *auth_key,
				   size_t auth_key_size, fi_addr_t *fi_addr,
				   u64 flags);
	int	(*lookup_auth_key)(struct fid_av *av, fi_addr_t fi_addr,
				   void *auth_key, size_t *auth_key_size);
	int	(*set_user_id)(struct fid_av *av, fi_addr_t fi_addr,
			       fi_addr_t user_id, u64 flags);
};

struct fid_av {
	struct fid			fid;
	const struct fi_ops_av		*ops;
};

struct fi_mr_attr;

/* kernel: the calls of a region for single operations, see fi_mr_regattr() */
struct fi_ops_mr_ep {
	size_t	size;
	int	(*refresh)(struct fid_mr *mr, const struct fi_mr_attr *attr,
			   u64 flags);
	int	(*enable)(struct fid_mr *mr);
	int	(*disable)(struct fid_mr *mr, u64 flags, void *context);
};

/**
 * struct fid_mr - An open memory region
 * @fid: what it has in common with other objects
 * @ops: calls of regions for single operations
 * @mem_desc: see fi_mr_desc()
 * @key: see fi_mr_key()
 * @addr: see fi_mr_addr()
 */
struct fid_mr {
	struct fid			fid;
	const struct fi_ops_mr_ep	*ops;
	void				*mem_desc;
	u64				key;
	u64				addr;
};

/* Flags of fi_mr_regattr() */
#define FI_MR_DMABUF		BIT_ULL(40)
#define FI_MR_SINGLE_USE	BIT_ULL(41)
#define FI_MR_LEND		BIT_ULL(42)	/* kernel: see fi_mr_regattr() */

enum fi_hmem_iface {
	FI_HMEM_SYSTEM,
};

/**
 * struct fi_mr_dmabuf - A piece of a dma-buf, for fi_mr_regattr() with FI_MR_DMABUF
 * @dmabuf: kernel: the dma-buf itself; libfabric has its file descriptor.  The caller keeps its
 *	reference until the call has returned; the region takes a reference of its own
 * @offset: where in the dma-buf the region begins
 * @len: bytes of the region
 * @base_addr: with FI_MR_VIRT_ADDR: address that peers use for the first byte of the dma-buf.
 *	Any page-aligned address will do, because nothing is accessed at it
 */
struct fi_mr_dmabuf {
	struct dma_buf		*dmabuf;
	u64			offset;
	size_t			len;
	void			*base_addr;
};

/**
 * struct fi_mr_auth_key - The peers that may use a region, in a domain with FI_AV_AUTH_KEY
 * @av: the address vector
 * @src_addr: the only peer that may use the region; with FI_AUTH_KEY, the authorization key
 *	that a peer must have
 *
 * &struct fi_mr_attr's auth_key points to this structure.
 */
struct fi_mr_auth_key {
	struct fid_av		*av;
	fi_addr_t		src_addr;
};

/**
 * struct fi_mr_attr - A memory region to be registered
 * @type: kernel: what the list consists of; 0 with FI_MR_DMABUF
 * @mr_iov: the list, if @type is FI_BUF_KVEC
 * @mr_bvec: the list, if @type is FI_BUF_BVEC
 * @mr_sgl: the list, if @type is FI_BUF_SGL
 * @dmabuf: with FI_MR_DMABUF: a piece of a dma-buf in place of a list
 * @iov_count: elements of the list; 1 with FI_MR_DMABUF
 * @access: uses of the region: peers may read it (FI_REMOTE_READ), or write it and, if the
 *	endpoint has atomics, do atomics on it (FI_REMOTE_WRITE); operations of this domain use
 *	it as the buffer of a send (FI_SEND), receive (FI_RECV), read (FI_READ) or write
 *	(FI_WRITE)
 * @offset: reserved, 0
 * @requested_key: key the client wants; ignored with FI_MR_PROV_KEY
 * @context: the client's pointer
 * @auth_key_size: bytes of @auth_key
 * @auth_key: authorization key
 * @iface: FI_HMEM_SYSTEM, also for a dma-buf, whose kind of memory is not known
 * @page_limit: kernel: with FI_MR_ENDPOINT: pages of PAGE_SIZE that
 *	fi_mr_refresh() may ask for later; 0: as many as this list has.  Without
 *	a list (NULL, iov_count 0) the region has no memory until fi_mr_refresh()
 */
struct fi_mr_attr {
	enum fi_buf_type	type;
	union {
		const struct kvec	*mr_iov;
		const struct bio_vec	*mr_bvec;
		struct scatterlist	*mr_sgl;
		const struct fi_mr_dmabuf *dmabuf;
	};
	size_t			iov_count;
	u64			access;
	u64			offset;
	u64			requested_key;
	void			*context;
	size_t			auth_key_size;
	u8			*auth_key;
	enum fi_hmem_iface	iface;
	size_t			page_limit;
};

enum fi_datatype {
	FI_INT8,
	FI_UINT8,
	FI_INT16,
	FI_UINT16,
	FI_INT32,
	FI_UINT32,
	FI_INT64,
	FI_UINT64,
	FI_FLOAT,
	FI_DOUBLE,
	FI_FLOAT_COMPLEX,
	FI_DOUBLE_COMPLEX,
	FI_LONG_DOUBLE,
	FI_LONG_DOUBLE_COMPLEX,
	FI_INT128,
	FI_UINT128,
};

enum fi_op {
	FI_MIN,
	FI_MAX,
	FI_SUM,
	FI_PROD,
	FI_LOR,
	FI_LAND,
	FI_BOR,
	FI_BAND,
	FI_LXOR,
	FI_BXOR,
	FI_ATOMIC_READ,
	FI_ATOMIC_WRITE,
	FI_CSWAP,
	FI_CSWAP_NE,
	FI_CSWAP_LE,
	FI_CSWAP_LT,
	FI_CSWAP_GE,
	FI_CSWAP_GT,
	FI_MSWAP,
	FI_DIFF,
};

struct fi_atomic_attr;

struct fi_ops_domain {
	size_t	size;
	int	(*av_open)(struct fid_domain *domain, struct fi_av_attr *attr,
			   struct fid_av **av, void *context);
	int	(*cq_open)(struct fid_domain *domain, struct fi_cq_attr *attr,
			   struct fid_cq **cq, void *context);
	int	(*endpoint)(struct fid_domain *domain, struct fi_info *info,
			    struct fid_ep **ep, void *context);
	int	(*scalable_ep)(struct fid_domain *domain, struct fi_info *info,
			       struct fid_ep **sep, void *context);
	int	(*cntr_open)(struct fid_domain *domain,
			     struct fi_cntr_attr *attr, struct fid_cntr **cntr,
			     void *context);
	int	(*stx_ctx)(struct fid_domain *domain, struct fi_tx_attr *attr,
			   struct fid_stx **stx, void *context);
	int	(*srx_ctx)(struct fid_domain *domain, struct fi_rx_attr *attr,
			   struct fid_ep **rx_ep, void *context);
	int	(*query_atomic)(struct fid_domain *domain,
				enum fi_datatype datatype, enum fi_op op,
				struct fi_atomic_attr *attr, u64 flags);
	struct device *(*dma_device)(struct fid_domain *domain);
};

struct fi_ops_mr {
	size_t	size;
	int	(*reg)(struct fid *fid, const void *buf, size_t len, u64 access,
		       u64 offset, u64 requested_key, u64 flags,
		       struct fid_mr **mr, void *context);
	int	(*regv)(struct fid *fid, const struct kvec *iov, size_t count,
			u64 access, u64 offset, u64 requested_key, u64 flags,
			struct fid_mr **mr, void *context);
	int	(*regattr)(struct fid *fid, const struct fi_mr_attr *attr,
			   u64 flags, struct fid_mr **mr);
};

struct fid_domain {
	struct fid			fid;
	const struct fi_ops_domain	*ops;
	const struct fi_ops_mr		*mr;
};

/**
 * fi_domain() - Open a domain
 * @fabric: an open fabric
 * @info: a result of fi_getinfo() of the same provider
 * @domain: the domain
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: bad argument; -ENODEV: the device has gone; -EBUSY:
 * @fabric is being closed; -ENOMEM; or an error of the provider.
 */
int fi_domain(struct fid_fabric *fabric, struct fi_info *info,
	      struct fid_domain **domain, void *context);

/**
 * fi_domain_bind() - Bind an event queue to a domain
 * @domain: the domain
 * @fid: the event queue
 * @flags: 0
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: the provider has no events for a domain; -EINVAL; -FI_EDOMAIN: @domain
 * and @fid belong to different fabrics.
 */
int fi_domain_bind(struct fid_domain *domain, struct fid *fid, u64 flags);

/**
 * fi_domain_device() - kernel: The device that buffers of operations are mapped for
 * @domain: the domain
 *
 * For a client that maps memory by itself, or allocates it where the device reaches it best.
 * The pointer is good until @domain is closed, even if the device is removed before.
 *
 * Context: any.
 * Return: the device; NULL: the provider maps nothing, as a CPU accesses the memory; or @domain
 * is not a domain.
 */
struct device *fi_domain_device(struct fid_domain *domain);

/**
 * fi_mr_reg() - Register one buffer
 * @domain: where
 * @buf: a kernel address, from kmalloc(), of pages or from vmalloc(); not on the stack
 * @len: bytes
 * @access: as fi_mr_attr.access
 * @offset: 0
 * @requested_key: as fi_mr_attr.requested_key
 * @flags: 0
 * @mr: the region, the caller's to close; its key is fi_mr_key()
 * @context: the client's pointer
 *
 * The region is exactly the @len bytes, with the rights of @access.  With
 * FI_MR_VIRT_ADDR a peer finds them at the address @buf, otherwise at 0.
 *
 * The memory stays the client's, but the device may access it until fi_close(@mr) has returned
 * 0.  The client must neither free nor reuse the memory before.  Afterwards the key is dead and
 * no access is under way; a peer that still uses the key gets an error.
 *
 * A device can describe only so much memory in one region.  After -EMSGSIZE the client
 * registers the memory in pieces, or uses memory that is more contiguous.
 *
 * Context: may sleep, for as long as the provider takes to connect a queue pair for it.  Not
 * from a handler of a completion queue.
 * Return: 0; -ENOSYS: the provider registers nothing; -EINVAL: an argument makes no sense, or a
 * device cannot reach the memory at @buf; -FI_EBADFLAGS: @flags; -EMSGSIZE: too long for the
 * device; -FI_ENOMR: there are too many regions; -EBUSY: @domain is being closed; -ENODEV: the
 * device has gone; -ENOMEM; -EIO, -EFAULT: the device refused; -EADDRNOTAVAIL: the device has
 * no address to connect the queue pair to; or another error of the provider from that
 * connection.
 */
int fi_mr_reg(struct fid_domain *domain, const void *buf, size_t len,
	      u64 access, u64 offset, u64 requested_key, u64 flags,
	      struct fid_mr **mr, void *context);

/**
 * fi_mr_regv() - Register a list of buffers as one region
 * @domain: where
 * @iov: the buffers; the list itself is the caller's again when this returns
 * @count: elements of @iov
 * @access: as fi_mr_reg()
 * @offset: as fi_mr_reg()
 * @requested_key: as fi_mr_reg()
 * @flags: as fi_mr_reg()
 * @mr: as fi_mr_reg()
 * @context: as fi_mr_reg()
 *
 * To a peer the elements are one contiguous range, from the address of the first byte on.  Many
 * devices require elements to begin and end at page boundaries; only the first may begin and
 * the last may end elsewhere.  An element that directly continues the one before it will do,
 * too.
 *
 * Context: may sleep, as fi_mr_reg().
 * Return: as fi_mr_reg(); -EINVAL, too, if the list has gaps that the device cannot
 * describe.
 */
int fi_mr_regv(struct fid_domain *domain, const struct kvec *iov, size_t count,
	       u64 access, u64 offset, u64 requested_key, u64 flags,
	       struct fid_mr **mr, void *context);

/**
 * fi_mr_regattr() - Register what the attributes describe
 * @domain: where
 * @attr: the region; it and its list are the caller's again when this returns
 * @flags: FI_MR_DMABUF, FI_MR_SINGLE_USE, FI_RMA_EVENT, FI_RMA_PMEM, FI_AUTH_KEY, and
 *	kernel: FI_MR_ENDPOINT and FI_MR_LEND, as far as the provider knows them
 * @mr: as fi_mr_reg()
 *
 * As fi_mr_regv(), for every kind of list.
 *
 * With FI_MR_DMABUF the region is a piece of a dma-buf, &struct fi_mr_dmabuf.  Only a
 * domain that was opened with FI_HMEM (FI_P2P) knows the flag.  After the exporter has taken
 * the memory back, peers are refused; the client closes the region and registers another one.
 *
 * FI_MR_SINGLE_USE: the first operation that uses the key invalidates it.  FI_RMA_EVENT: the
 * client will bind a counter that counts the peers' operations.  FI_RMA_PMEM: the memory is
 * persistent, in pages of a DAX device, and operations with FI_COMMIT_COMPLETE make it durable;
 * FI_RMA_PMEM excludes FI_MR_ENDPOINT.  FI_AUTH_KEY: see &struct fi_mr_auth_key.
 *
 * With FI_MR_ENDPOINT the region is one for single operations.  It has no key until it has been
 * bound to an endpoint and enabled.  It can be disabled and get other memory again and again,
 * without allocation and from any context.  These calls go straight to the provider, as data
 * transfer calls do:
 *
 *	fi_mr_regattr(), fi_mr_bind()			once
 *	fi_mr_enable(), a send with the key		per operation
 *	fi_mr_disable(), fi_mr_refresh()		before the next one
 *
 * If the send fails, fi_mr_disable() with FI_DISCARD undoes fi_mr_enable().  A client that has
 * no memory for the region yet registers an empty list of any type, with a page_limit, and
 * begins with fi_mr_refresh().
 *
 * Such a region keeps a list of its own, for as many pages as page_limit says.  With
 * FI_MR_LEND, too, it keeps none: the client lends it each scatterlist (FI_BUF_SGL), including
 * the one in @attr, if any.  The client leaves a lent list and the DMA addresses in it
 * untouched until fi_mr_refresh() gives the region another list, until fi_mr_disable() of the
 * region has completed, or until fi_close().  A provider that does not map memory copies the
 * list; the rule holds there, too.
 *
 * Context: may sleep, as fi_mr_reg().
 * Return: as fi_mr_regv(); -FI_EBADFLAGS, too: the provider, or this domain, does not
 * know one of @flags; -EINVAL, too: memory with FI_RMA_PMEM that is not persistent, or, with
 * FI_MR_LEND, a list other than a scatterlist; for a
 * dma-buf -EOPNOTSUPP: the provider does not reach its memory, or @attr->access asks for a
 * local buffer, too; or an error of the exporter.
 */
int fi_mr_regattr(struct fid_domain *domain, const struct fi_mr_attr *attr,
		  u64 flags, struct fid_mr **mr);

/**
 * fi_mr_bind() - Bind a region to an endpoint or a counter
 * @mr: the region
 * @bfid: endpoint (a region with FI_MR_ENDPOINT) or counter
 * @flags: of an endpoint 0; of a counter the accesses of peers that it counts:
 *	FI_REMOTE_WRITE, kernel: FI_REMOTE_READ, or both, and 0 is both
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: the provider binds no regions to such an object; -EINVAL: bad
 * argument, or bound before; -FI_EBADFLAGS; -FI_EDOMAIN: @mr and @bfid belong to different
 * domains; -EBUSY: one of them is being closed; -ENOMEM.
 */
int fi_mr_bind(struct fid_mr *mr, struct fid *bfid, u64 flags);

/**
 * fi_mr_enable() - Give a region that is bound to an endpoint its key
 * @mr: the region
 *
 * The registration is queued at the endpoint.  It goes to the device together with the
 * endpoint's next operation, the send that has the key, and in front of it.  fi_mr_key() is new
 * each time and good as soon as the call returns.  The registration takes a slot of the
 * transmit queue and has no completion.  If it fails, the operation behind it fails, too.
 *
 * Context: any.
 * Return: 0; -EAGAIN: the transmit queue is full; -FI_EOPBADSTATE: not bound, or
 * enabled already; -ENOTCONN; -ESHUTDOWN; -ENODEV: the device has gone; -ENOSYS: the
 * region is of another kind.
 */
static inline int fi_mr_enable(struct fid_mr *mr)
{
	return mr->ops->enable(mr);
}

/**
 * fi_mr_disable() - kernel: Invalidate the key and take the memory back
 * @mr: a region that is enabled
 * @flags: 0; or FI_REMOTE_INV: a completion with FI_REMOTE_INV has brought the region's key in
 *	its data, so the peer has invalidated it; or FI_DISCARD: take back a registration that
 *	no operation has followed, or the memory of a region that is not enabled
 * @context: with @flags 0: comes back with the completion
 *
 * With flags 0 this is an operation of the endpoint; the memory is the client's when the
 * operation has completed (FI_RMA, with the key as data).  With FI_REMOTE_INV there is nothing
 * left to do for the device: the memory is the client's at once, and there is no completion.
 *
 * FI_DISCARD is for a client whose operation behind fi_mr_enable() has failed.  As long
 * as the registration has not gone to the device, it is taken out of the transmit queue,
 * and its place there is free: the memory is the client's at once, and there is no
 * completion.  This needs no place, so it works when the transmit queue is full.
 * -EALREADY means that the doorbell of another operation of the endpoint has already posted the
 * registration; nothing has changed then, and a call with flags 0 invalidates the key.
 * FI_DISCARD also takes the memory of fi_mr_refresh() back from a region that is not enabled.
 *
 * Context: any.
 * Return: 0; -EAGAIN: the transmit queue is full; -EALREADY: with FI_DISCARD: the registration
 * has gone to the device; -FI_EOPBADSTATE: the region is not enabled; with FI_DISCARD: the
 * region has no memory either; with FI_REMOTE_INV, too: the registration has not gone to the
 * device, so no peer knows the key; -FI_EBADFLAGS; -ENOTCONN; -ESHUTDOWN: the connection is
 * over, close the region; -ENODEV: the device has gone; -ENOSYS: the region is of another kind.
 *
 * fi_close() of a region returns -EBUSY, and changes nothing, while its endpoint is connected
 * and an operation is in flight that creates or invalidates its key: the operation behind
 * fi_mr_enable(), or fi_mr_disable() itself.  Wait for the completion of that operation, or
 * call fi_shutdown() first.  After fi_shutdown() a close in a callback of the endpoint's
 * queue works if the callback is that of an operation that has failed; in one of an operation
 * that has succeeded it may return -EDEADLK, and change nothing.
 */
static inline int fi_mr_disable(struct fid_mr *mr, u64 flags, void *context)
{
	return mr->ops->disable(mr, flags, context);
}

/**
 * fi_mr_refresh() - Give a region other memory
 * @mr: a region with FI_MR_ENDPOINT, not enabled, its fi_mr_disable() completed
 * @attr: the memory and the access; at most page_limit pages
 * @flags: 0
 *
 * Context: any.
 * Return: 0; -FI_EOPBADSTATE: the region is enabled; -EINVAL and -EMSGSIZE: as fi_mr_reg(), and
 * -EINVAL, too: with FI_MR_LEND a list other than a scatterlist; -EAGAIN: the IOMMU is full;
 * -FI_EBADFLAGS; -ENODEV: the device has gone; -ENOSYS: the region is of another kind.  After
 * -EINVAL, -EMSGSIZE and -EAGAIN the caller must assume that the region has no memory.
 */
static inline int fi_mr_refresh(struct fid_mr *mr, const struct fi_mr_attr *attr,
				u64 flags)
{
	return mr->ops->refresh(mr, attr, flags);
}

/**
 * fi_mr_desc() - The descriptor by which operations of the same domain use a region
 * @mr: an open region
 *
 * If the caller passes it as the descriptor of a buffer within the region, the provider need
 * not map that buffer.
 *
 * Context: any.
 * Return: the descriptor, good until the region is closed.
 */
static inline void *fi_mr_desc(struct fid_mr *mr)
{
	return mr->mem_desc;
}

/**
 * fi_mr_key() - What peers need to reach a region
 * @mr: an open region
 *
 * Context: any.
 * Return: the key.
 */
static inline u64 fi_mr_key(struct fid_mr *mr)
{
	return mr->key;
}

/**
 * fi_mr_addr() - kernel: Where peers find the first byte of a region
 * @mr: an open region that has a key
 *
 * The client sends it to the peer together with the key.  With FI_MR_VIRT_ADDR it is a kernel
 * address; otherwise, and for a region of an endpoint in any case, it is an offset.
 *
 * Context: any.
 * Return: the address, for fi_read() and the like.
 */
static inline u64 fi_mr_addr(const struct fid_mr *mr)
{
	return mr->addr;
}

/**
 * struct fi_mr_raw_attr - Argument of FI_GET_RAW_MR
 * @flags: 0
 * @base_addr: where the address for peers goes
 * @raw_key: where the key goes
 * @key_size: in: bytes of @raw_key; out: bytes of the key
 */
struct fi_mr_raw_attr {
	u64			flags;
	u64			*base_addr;
	u8			*raw_key;
	size_t			*key_size;
};

/**
 * struct fi_mr_map_raw - Argument of FI_MAP_RAW_MR
 * @flags: 0
 * @base_addr: the peer's address
 * @raw_key: the peer's key
 * @key_size: bytes of @raw_key
 * @key: where the key to use goes
 */
struct fi_mr_map_raw {
	u64			flags;
	u64			base_addr;
	u8			*raw_key;
	size_t			key_size;
	u64			*key;
};

/**
 * fi_mr_raw_attr() - What peers need to reach a region whose key may have any length
 * @mr: an open region
 * @base_addr: where the address for peers goes
 * @raw_key: where the key goes, as bytes to be sent to the peer
 * @key_size: in: bytes of @raw_key; out: bytes of the key
 * @flags: 0
 *
 * With FI_MR_RAW in mr_mode keys are longer than 64 bits, and fi_mr_key() has none.
 *
 * Context: may sleep.
 * Return: 0; -FI_ETOOSMALL: @key_size says how much is needed; -ENOSYS: the provider
 * has no such keys; -EINVAL.
 */
static inline int fi_mr_raw_attr(struct fid_mr *mr, u64 *base_addr,
				 u8 *raw_key, size_t *key_size, u64 flags)
{
	struct fi_mr_raw_attr attr = {
		.flags		= flags,
		.base_addr	= base_addr,
		.raw_key	= raw_key,
		.key_size	= key_size,
	};

	return fi_control(&mr->fid, FI_GET_RAW_MR, &attr);
}

/**
 * fi_mr_map_raw() - Make a 64-bit key from a peer's raw key of any length
 * @domain: the domain that uses @key
 * @base_addr: the peer's address
 * @raw_key: the peer's key
 * @key_size: bytes of @raw_key
 * @key: where the key for RMA calls goes; fi_mr_unmap_key() it
 * @flags: 0
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: the provider has no such keys; -EINVAL; -ENOMEM.
 */
static inline int fi_mr_map_raw(struct fid_domain *domain, u64 base_addr,
				u8 *raw_key, size_t key_size, u64 *key,
				u64 flags)
{
	struct fi_mr_map_raw map = {
		.flags		= flags,
		.base_addr	= base_addr,
		.raw_key	= raw_key,
		.key_size	= key_size,
		.key		= key,
	};

	return fi_control(&domain->fid, FI_MAP_RAW_MR, &map);
}

/**
 * fi_mr_unmap_key() - Give back what fi_mr_map_raw() has made
 * @domain: the domain
 * @key: the key
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: the provider has no such keys; -EINVAL: no such key.
 */
static inline int fi_mr_unmap_key(struct fid_domain *domain, u64 key)
{
	return fi_control(&domain->fid, FI_UNMAP_KEY, &key);
}

/**
 * fi_av_open() - Open an address vector
 * @domain: where
 * @attr: what kind
 * @av: the address vector
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: the provider has no connectionless endpoints; -EINVAL: bad
 * argument; -FI_EBADFLAGS: a flag of @attr; -EBUSY: @domain is being closed; -ENOMEM;
 * or an error of the provider.
 */
int fi_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
	       struct fid_av **av, void *context);

/**
 * fi_av_bind() - Bind an event queue to an address vector
 * @av: an address vector with FI_EVENT
 * @fid: the event queue
 * @flags: 0
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: the provider completes every insertion before the call returns; -EINVAL:
 * wrong kind of object, or bound before; -FI_EBADFLAGS; -FI_EDOMAIN: @av and @fid belong to
 * different fabrics; -EBUSY: one of them is being closed; -ENOMEM.
 */
int fi_av_bind(struct fid_av *av, struct fid *fid, u64 flags);

/**
 * fi_av_insert() - Insert addresses
 * @av: the address vector
 * @addr: array of @count addresses in the format of the domain's fi_info
 * @count: how many
 * @fi_addr: array of @count; out: names of the peers in data transfer calls, FI_ADDR_NOTAVAIL
 *	where an address could not be inserted.  NULL will do for FI_AV_TABLE.  In, with
 *	FI_AV_USER_ID: the id of each address; with FI_AUTH_KEY: its authorization key
 * @flags: FI_MORE: another call follows at once; FI_SYNC_ERR: @context is an array of
 *	@count int, which get 0 or a positive error code each; FI_AV_USER_ID: completions
 *	name the address by the caller's id (not in a vector that was opened with
 *	FI_AV_USER_ID); FI_AUTH_KEY; FI_FIREWALL_ADDR: the peers connect to this node, which
 *	cannot connect to them
 * @context: with FI_SYNC_ERR: the array of error codes; with FI_EVENT: comes back with the
 *	event
 *
 * An address that is already in the vector counts as inserted, and keeps its fi_addr_t.  The
 * addresses are the caller's again when this returns.
 *
 * Context: may sleep.
 * Return: how many addresses were inserted; -EINVAL: bad argument; -FI_EBADFLAGS;
 * -FI_ENOEQ: a vector with FI_EVENT has no event queue; -ENOSYS: no such call;
 * -ENOMEM; or an error of the provider.
 */
int fi_av_insert(struct fid_av *av, const void *addr, size_t count,
		 fi_addr_t *fi_addr, u64 flags, void *context);

/**
 * fi_av_insertsvc() - Insert the address that a node and a service make
 * @av: the address vector
 * @node: as fi_getinfo(): a numeric address
 * @service: as fi_getinfo(): a port in host byte order
 * @fi_addr: as fi_av_insert(), of one address
 * @flags: as fi_av_insert()
 * @context: as fi_av_insert()
 *
 * Context: may sleep.
 * Return: as fi_av_insert(): 1, or 0 or an error.
 */
int fi_av_insertsvc(struct fid_av *av, const char *node, int service,
		    fi_addr_t *fi_addr, u64 flags, void *context);

/**
 * fi_av_insertsym() - Insert rows of addresses
 * @av: the address vector
 * @node: the first node: a numeric address
 * @nodecnt: number of nodes; their addresses follow each other
 * @service: the first service: a port in host byte order
 * @svccnt: number of services of each node; their numbers follow each other
 * @fi_addr: as fi_av_insert(), of @nodecnt * @svccnt addresses, all services of a node
 *	before the next node
 * @flags: as fi_av_insert()
 * @context: as fi_av_insert()
 *
 * Context: may sleep.
 * Return: as fi_av_insert().
 */
int fi_av_insertsym(struct fid_av *av, const char *node, size_t nodecnt,
		    int service, size_t svccnt, fi_addr_t *fi_addr, u64 flags,
		    void *context);

/**
 * fi_av_remove() - Remove addresses
 * @av: the address vector
 * @fi_addr: what they were inserted as
 * @count: how many
 * @flags: 0, or FI_AUTH_KEY: they are authorization keys
 *
 * The client may not post to these peers any more.  Operations in flight may succeed or fail.
 * A peer may go on sending; its messages have no source then, also those that wait for a receive
 * already.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: one of them is not in the vector; -FI_EBADFLAGS; -EBUSY: an
 * endpoint uses the authorization key; -ENOSYS: no such call; or an error of the
 * provider.
 */
int fi_av_remove(struct fid_av *av, fi_addr_t *fi_addr, size_t count, u64 flags);

/**
 * fi_av_lookup() - Address of a peer
 * @av: the address vector
 * @fi_addr: what it was inserted as
 * @addr: where the address goes; cut if it is longer than @addrlen
 * @addrlen: in: bytes of @addr; out: bytes of the address
 *
 * Context: any.
 * Return: 0; -EINVAL: bad argument, or @fi_addr is not in the vector; -ENOSYS: no such call.
 */
int fi_av_lookup(struct fid_av *av, fi_addr_t fi_addr, void *addr,
		 size_t *addrlen);

/**
 * fi_av_straddr() - Text of an address
 * @av: the address vector
 * @addr: an address in the vector's format; it need not be in the vector
 * @buf: gets the text, always terminated if there is room for anything
 * @len: in: bytes of @buf; out: bytes that the text needs
 *
 * Context: any.
 * Return: the text, never NULL; text of an error if an argument is bad or the provider
 * has no such call.
 */
const char *fi_av_straddr(struct fid_av *av, const void *addr, char *buf,
			  size_t *len);

/**
 * fi_av_insert_auth_key() - Insert an authorization key
 * @av: an address vector of a domain that was opened with auth_key_size FI_AV_AUTH_KEY
 * @auth_key: the key, in the provider's format
 * @auth_key_size: bytes of @auth_key
 * @fi_addr: name of the key in calls with FI_AUTH_KEY; it stands for all peers that have the
 *	key
 * @flags: 0
 *
 * Endpoints and regions use the keys that are in the vector when they are enabled.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: bad argument; -FI_EBADFLAGS; -ENOSYS: the provider has no
 * such keys; -ENOMEM; or an error of the provider.
 */
int fi_av_insert_auth_key(struct fid_av *av, const void *auth_key,
			  size_t auth_key_size, fi_addr_t *fi_addr, u64 flags);

/**
 * fi_av_lookup_auth_key() - Authorization key of a peer, or one that was inserted
 * @av: the address vector
 * @fi_addr: what the peer, or the key, was inserted as
 * @auth_key: where the key goes; cut if it is longer than @auth_key_size
 * @auth_key_size: in: bytes of @auth_key; out: bytes of the key
 *
 * Context: any.
 * Return: 0; -EINVAL: bad argument, or @fi_addr is not in the vector; -ENOSYS: the provider has
 * no such keys.
 */
int fi_av_lookup_auth_key(struct fid_av *av, fi_addr_t fi_addr, void *auth_key,
			  size_t *auth_key_size);

/**
 * fi_av_set_user_id() - Set the id by which completions name a peer
 * @av: an address vector that was opened with FI_AV_USER_ID
 * @fi_addr: what the peer was inserted as
 * @user_id: the client's id of it
 * @flags: 0, or FI_AUTH_KEY: @fi_addr is an authorization key
 *
 * From now on fi_cq_readfrom() and fi_cq_err_entry.src_addr report @user_id for messages of the
 * peer.  Calls that post still take @fi_addr.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: @fi_addr is not in the vector, or the vector has no such ids;
 * -FI_EBADFLAGS; -ENOSYS: the provider has no such ids.
 */
int fi_av_set_user_id(struct fid_av *av, fi_addr_t fi_addr, fi_addr_t user_id,
		      u64 flags);

/**
 * fi_rx_addr() - Address of one of a peer's receive contexts
 * @fi_addr: what the peer was inserted as; FI_ADDR_NOTAVAIL for the peer of a connected
 *	endpoint
 * @rx_index: which receive context
 * @rx_ctx_bits: as fi_av_attr.rx_ctx_bits of the address vector
 *
 * For data transfer calls of an endpoint with FI_NAMED_RX_CTX.
 *
 * Context: any.
 * Return: the address.
 */
static inline fi_addr_t fi_rx_addr(fi_addr_t fi_addr, int rx_index,
				   int rx_ctx_bits)
{
	if (!rx_ctx_bits)
		return fi_addr;
	return (u64)rx_index << (64 - rx_ctx_bits) | fi_addr;
}

/**
 * fi_group_addr() - Address of a peer, as a member of a group
 * @fi_addr: what the peer was inserted as
 * @group_id: at most fi_domain_attr.max_group_id
 *
 * Context: any.
 * Return: the address.
 */
static inline fi_addr_t fi_group_addr(fi_addr_t fi_addr, u32 group_id)
{
	return (u64)group_id << 32 | fi_addr;
}

#endif /* _RDMA_FI_DOMAIN_H */
