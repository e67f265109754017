/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Domains, memory regions and address vectors.  Names and values: libfabric
 * 2.1, fi_domain.h.
 *
 * Local buffers need no registration: the provider maps them.  A region is
 * registered to let a peer reach it.
 *
 * When the device has gone, each call on a domain, or on what was opened in it, answers
 * -ENODEV, but fi_close(), which waits for the removal if that is still going on.  What
 * is not the device's, counters and event queues, goes on.
 */
#ifndef _RDMA_FI_DOMAIN_H
#define _RDMA_FI_DOMAIN_H

#include <rdma/fabric.h>
#include <rdma/fi_eq.h>

struct bio_vec;
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
	int	(*remove)(struct fid_av *av, fi_addr_t *fi_addr, size_t count,
			  u64 flags);
	int	(*lookup)(struct fid_av *av, fi_addr_t fi_addr, void *addr,
			  size_t *addrlen);
	const char *(*straddr)(struct fid_av *av, const void *addr, char *buf,
			       size_t *len);
};

struct fid_av {
	struct fid			fid;
	const struct fi_ops_av		*ops;
};

struct fi_mr_attr;

/* kernel: what a region for single operations does, see fi_mr_regattr() */
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
 */
struct fid_mr {
	struct fid			fid;
	const struct fi_ops_mr_ep	*ops;
	void				*mem_desc;
	u64				key;
};

/* Flags of fi_mr_regattr() */
#define FI_MR_DMABUF		BIT_ULL(40)
#define FI_MR_SINGLE_USE	BIT_ULL(41)

enum fi_hmem_iface {
	FI_HMEM_SYSTEM,
	FI_HMEM_CUDA,
	FI_HMEM_ROCR,
	FI_HMEM_ZE,
	FI_HMEM_NEURON,
	FI_HMEM_SYNAPSEAI,
};

/**
 * struct fi_mr_attr - A memory region to be registered
 * @type: kernel: what the list consists of
 * @mr_iov: the list, if @type is FI_BUF_KVEC
 * @mr_bvec: the list, if @type is FI_BUF_BVEC
 * @mr_sgl: the list, if @type is FI_BUF_SGL
 * @iov_count: elements of the list
 * @access: what for: peers may read it (FI_REMOTE_READ) or write it and, if the
 *	endpoint knows them, do atomics on it (FI_REMOTE_WRITE); operations of this
 *	domain use it as the buffer of a send (FI_SEND), receive (FI_RECV), read
 *	(FI_READ) or write (FI_WRITE)
 * @offset: reserved, 0
 * @requested_key: key the client wants; ignored with FI_MR_PROV_KEY
 * @context: the client's pointer
 * @auth_key_size: bytes of @auth_key
 * @auth_key: authorization key
 * @iface: FI_HMEM_SYSTEM
 * @page_limit: kernel: with FI_MR_ENDPOINT: pages of PAGE_SIZE that
 *	fi_mr_refresh() may ask for later; 0: as many as this list has
 */
struct fi_mr_attr {
	enum fi_buf_type	type;
	union {
		const struct kvec	*mr_iov;
		const struct bio_vec	*mr_bvec;
		struct scatterlist	*mr_sgl;
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
	int	(*cntr_open)(struct fid_domain *domain,
			     struct fi_cntr_attr *attr, struct fid_cntr **cntr,
			     void *context);
	int	(*srx_ctx)(struct fid_domain *domain, struct fi_rx_attr *attr,
			   struct fid_ep **rx_ep, void *context);
	int	(*query_atomic)(struct fid_domain *domain,
				enum fi_datatype datatype, enum fi_op op,
				struct fi_atomic_attr *attr, u64 flags);
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
 * Return: 0; -ENOSYS: the provider has no events for it; -EINVAL; -FI_EDOMAIN:
 * they belong to different fabrics.
 */
int fi_domain_bind(struct fid_domain *domain, struct fid *fid, u64 flags);

/**
 * fi_mr_reg() - Register one buffer
 * @domain: where
 * @buf: a kernel address: from kmalloc, of pages or from vmalloc, no stack
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
 * The memory stays the client's, but is the device's, too, until fi_close(@mr) has
 * returned 0; it must neither be freed nor reused before.  Then the key is dead
 * and no access is under way; a peer that still uses the key gets an error.
 *
 * A device can describe only so much memory at a time.  -EMSGSIZE asks the client
 * to register it in pieces, or memory that is more contiguous.
 *
 * Context: may sleep, for as long as it takes to connect.  Not from a handler of
 * a completion queue.
 * Return: 0; -ENOSYS: the provider registers nothing; -EINVAL: an argument that
 * makes no sense, or what is at @buf is no memory that a device can reach;
 * -FI_EBADFLAGS: @flags; -EMSGSIZE: too long for the device; -FI_ENOMR: there are
 * too many regions; -EBUSY: @domain is being closed;
 * -ENODEV: the device has gone; -ENOMEM; -EIO, -EFAULT: the device refused;
 * -EADDRNOTAVAIL: the device has no address, which it needs for registering;
 * another error of the provider, if what it needs for that fails.
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
 * To a peer the elements are one range, one behind the other, from the address of
 * the first byte on.  Many devices ask for elements that end and begin at the
 * boundaries of pages, but for the first one's begin and the last one's end;
 * elements that continue the one before are as good.
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
 * @flags: 0, or kernel: FI_MR_ENDPOINT
 * @mr: as fi_mr_reg()
 *
 * As fi_mr_regv(), for every kind of list.
 *
 * With FI_MR_ENDPOINT the region is one for single operations: it has no key
 * until it has been bound to an endpoint and enabled, and it can be disabled and
 * get other memory again and again, without allocation and from any context, by calls
 * that go straight to the provider as those that transfer data do:
 *
 *	fi_mr_regattr(), fi_mr_bind()			once
 *	fi_mr_enable(), a send that tells the peer	per operation
 *	fi_mr_disable(), fi_mr_refresh()		before the next one
 *
 * Context: may sleep, as fi_mr_reg().
 * Return: as fi_mr_regv().
 */
int fi_mr_regattr(struct fid_domain *domain, const struct fi_mr_attr *attr,
		  u64 flags, struct fid_mr **mr);

/**
 * fi_mr_bind() - Bind a region to an endpoint or a counter
 * @mr: the region
 * @bfid: endpoint (a region with FI_MR_ENDPOINT) or counter
 * @flags: 0
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: the provider binds no regions to such an object; -EINVAL: bad
 * argument, or bound before; -FI_EBADFLAGS; -FI_EDOMAIN: they belong to different
 * domains; -EBUSY: one of them is being closed; -ENOMEM.
 */
int fi_mr_bind(struct fid_mr *mr, struct fid *bfid, u64 flags);

/**
 * fi_mr_enable() - Give a region that is bound to an endpoint its key
 * @mr: the region
 *
 * The registration is queued at the endpoint and goes to the device together
 * with the endpoint's next operation, in front of it: the one that tells the
 * peer.  fi_mr_key() is new each time and good as soon as the call returns.
 * Takes a place in the transmit queue.  There is no completion; if the
 * registration fails, so does the operation behind it.
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
 * fi_mr_disable() - kernel: End the key and take the memory back
 * @mr: a region that is enabled
 * @flags: 0, or FI_REMOTE_INV: a completion with FI_REMOTE_INV has brought the
 *	region's key in its data, so the peer has ended it
 * @context: comes back with the completion
 *
 * With flags 0 this is an operation of the endpoint; the memory is the client's
 * when it has completed (FI_RMA, with the key as data).  With FI_REMOTE_INV there
 * is nothing left to do for the device: the memory is the client's at once, and
 * there is no completion.
 *
 * Context: any.
 * Return: 0; -EAGAIN: the transmit queue is full; -FI_EOPBADSTATE: it is not
 * enabled; -FI_EBADFLAGS; -ENOTCONN; -ESHUTDOWN: the connection is over, close the
 * region; -ENODEV: the device has gone; -ENOSYS: the region is of another kind.
 *
 * fi_close() of a region answers -EBUSY, and nothing has changed, while its endpoint is
 * connected and an operation is in flight that begins or ends its key: the one behind
 * fi_mr_enable(), or fi_mr_disable() itself.  Wait for its completion, or call
 * fi_shutdown() first.
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
 * Return: 0; -FI_EOPBADSTATE: it is enabled; -EINVAL and -EMSGSIZE: as fi_mr_reg();
 * -EAGAIN: the IOMMU is full; -FI_EBADFLAGS; -ENODEV: the device has gone; -ENOSYS: the
 * region is of another kind.  After -EINVAL, -EMSGSIZE and -EAGAIN take it that the region
 * has no memory.
 */
static inline int fi_mr_refresh(struct fid_mr *mr, const struct fi_mr_attr *attr,
				u64 flags)
{
	return mr->ops->refresh(mr, attr, flags);
}

/**
 * fi_mr_desc() - What operations of the same domain are told to use a region
 * @mr: an open region
 *
 * Passed as the descriptor of a buffer within the region, it saves the mapping of
 * that buffer.
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
 * fi_av_open() - Open an address vector
 * @domain: where
 * @attr: what kind
 * @av: the address vector
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: 0; -ENOSYS: the provider has no connectionless endpoints; -EINVAL;
 * -EBUSY; -ENOMEM.
 */
int fi_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
	       struct fid_av **av, void *context);

static inline int fi_av_insert(struct fid_av *av, const void *addr,
			       size_t count, fi_addr_t *fi_addr, u64 flags,
			       void *context)
{
	return av->ops->insert(av, addr, count, fi_addr, flags, context);
}

static inline int fi_av_insertsvc(struct fid_av *av, const char *node,
				  int service, fi_addr_t *fi_addr, u64 flags,
				  void *context)
{
	return av->ops->insertsvc(av, node, service, fi_addr, flags, context);
}

static inline int fi_av_remove(struct fid_av *av, fi_addr_t *fi_addr,
			       size_t count, u64 flags)
{
	return av->ops->remove(av, fi_addr, count, flags);
}

static inline int fi_av_lookup(struct fid_av *av, fi_addr_t fi_addr, void *addr,
			       size_t *addrlen)
{
	return av->ops->lookup(av, fi_addr, addr, addrlen);
}

static inline const char *fi_av_straddr(struct fid_av *av, const void *addr,
					char *buf, size_t *len)
{
	return av->ops->straddr(av, addr, buf, len);
}

#endif /* _RDMA_FI_DOMAIN_H */
