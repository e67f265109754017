/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory regions of providers without hardware: from a key to memory.
 *
 * A provider has a &struct kofi_mr_map for each domain, and its regions begin with a
 * &struct kofi_mr.  The calls on regions and those that register them are ready-made.
 * The provider adds the functions of &struct kofi_mr_ops, and the accesses: it
 * takes a reference by kofi_mr_get() with the key and address that the peer has sent,
 * copies by kofi_mr_iter(), and gives the reference back by kofi_mr_put().  kofi/rma.h does
 * that for the ranges of an operation.
 *
 * fi_close() of a region, and the completion of fi_mr_disable(), wait for references.  So no
 * holder of one waits for a peer.  Between two pieces of an operation, kofi_mr_pin() keeps
 * the region, but not its memory, and kofi_mr_get_again() takes the next reference.
 *
 * A peer names a byte by its offset in the region, or with FI_MR_VIRT_ADDR by the
 * kernel address of the region's first byte plus that offset (for a dma-buf, its base_addr
 * counts).  With FI_MR_PROV_KEY the map chooses the key, otherwise the key is the client's
 * requested_key.
 *
 * A region of an endpoint (FI_MR_ENDPOINT) has a key that the map chooses, a new one
 * each time it is enabled, and is reached by offset, whatever the mode of the domain;
 * an access has to come through the endpoint.
 *
 * Data transfers allocate nothing here and take no lock: a key is looked up under
 * RCU, and an access counts in one counter of the region.
 */
#ifndef _KOFI_MR_MAP_H
#define _KOFI_MR_MAP_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/uio.h>
#include <linux/xarray.h>
#include <rdma/fi_domain.h>

struct kofi_cntr;
struct kofi_dmabuf;
struct kofi_iov;
struct kofi_mr;
struct kofi_mr_map;
struct kofi_pmem;

/**
 * struct kofi_mr_ops - What a provider adds to its regions
 * @size: bytes of the provider's region, which begins with &struct kofi_mr; the rest
 *	is zeroed when the region is made
 * @may_register: may a region be registered now?  0, or the error of fi_mr_reg(), such as
 *	-ENODEV when the network namespace of the domain has gone.  Any context
 * @enable: may this region of an endpoint get a key now?  0, or the error of
 *	fi_mr_enable(), such as -ENOTCONN.  Any context
 * @disable: fi_mr_disable() is about to end the key; keep @context and a place in the
 *	transmit queue for the completion, and set *@token to it.  0, or the error of the call,
 *	-EAGAIN for instance.  Any context
 * @disabled: the key that a successful @disable was called for has ended, and no
 *	access is under way: complete fi_mr_disable() with @key as data.  Called once
 *	for each @disable, maybe before fi_mr_disable() returns, in the context of the
 *	last access or look-up; it must not sleep.  No lock is held.  The client may
 *	use the region again already, even disable it again, so what belongs to this end
 *	is in @token and not in the region.  fi_close() of the region waits until it returns
 */
struct kofi_mr_ops {
	size_t	size;
	int	(*may_register)(const struct kofi_mr_map *map);
	int	(*enable)(struct kofi_mr *mr);
	int	(*disable)(struct kofi_mr *mr, void *context, void **token);
	void	(*disabled)(struct kofi_mr *mr, u64 key, void *token);
};

/**
 * struct kofi_mr_map - The regions of a domain that peers reach
 * @ops: the provider's hooks
 * @mr_mode: FI_MR_VIRT_ADDR and FI_MR_PROV_KEY, or one of them, or none
 * @peer: pages of PCI devices are memory, too (kofi/pages.h)
 * @index_mask: bits of a chosen key that are the index in @chosen; the bits above count
 * @key_mask: bits that a key may have
 * @next: index in @chosen where the search for a free index begins
 * @max: highest index in @chosen
 * @chosen: regions whose key the map chooses, by its lower bits
 * @requested: regions whose key is the client's
 */
struct kofi_mr_map {
	const struct kofi_mr_ops	*ops;
	int				mr_mode;
	bool				peer;
	u64				index_mask;
	u64				key_mask;
	u32				next;
	u32				max;
	struct xarray			chosen;
	struct rhashtable		requested;
};

/**
 * enum kofi_mr_state - State of a region
 * @KOFI_MR_EMPTY: of an endpoint: it has no memory
 * @KOFI_MR_READY: of an endpoint: it has memory and no key
 * @KOFI_MR_ENABLED: it has memory and a key, unless no peer may reach it
 * @KOFI_MR_ENDING: of an endpoint: its key has ended, and accesses are under way
 */
enum kofi_mr_state {
	KOFI_MR_EMPTY,
	KOFI_MR_READY,
	KOFI_MR_ENABLED,
	KOFI_MR_ENDING,
};

/**
 * struct kofi_mr_borrower - Something that holds pages of a region beyond an access
 * @entry: in kofi_mr.borrowers
 * @recall: the key ends: see to it, without waiting for a peer, that the pages come back, and
 *	call kofi_mr_return() then, but not from here.  Any context, with kofi_mr.lock held.
 */
struct kofi_mr_borrower {
	struct list_head	entry;
	void			(*recall)(struct kofi_mr_borrower *borrower);
};

/**
 * struct kofi_mr - A region; the provider's own begins with it
 * @mr: what the client sees; its key is FI_KEY_NOTAVAIL while there is none
 * @map: where the key is looked up
 * @refs: the key, and each access under way
 * @access: rights, as the client gave them
 * @ep: the only endpoint that accesses may come through, or NULL: any
 * @iov: the memory
 * @dmabuf: the memory is a piece of this dma-buf, which its exporter may take back; or NULL
 * @ends: offset behind each element of @iov; not there if it has room for only one
 * @pmem: of persistent memory (FI_RMA_PMEM): its additional fields; or NULL
 * @cntr: counter that is bound, or NULL
 * @counted: FI_REMOTE_READ and FI_REMOTE_WRITE: what @cntr counts
 * @state: see &enum kofi_mr_state
 * @lent: of an endpoint: FI_MR_LEND, so its lists are scatterlists
 * @used: of an endpoint: a peer has used the key
 * @invalidated: of an endpoint: the peer has ended the key, and fi_mr_disable() is to come
 * @report: @map->ops->disabled is to be called when @refs becomes 0
 * @token: of &kofi_mr_ops.disable, if @report
 * @ended: the key that is ending
 * @index: in @chosen of the map; 0: it is not there
 * @limit: of an endpoint: pages, and elements that @iov has room for
 * @pins: 1 for the open region, and 1 for each kofi_mr_pin(); the structure is freed when it
 *	becomes 0
 * @lock: guards @borrowers, and the end of a key; taken with interrupts off
 * @borrowers: &struct kofi_mr_borrower, each with a reference
 * @holds: 1 for the open region, and 1 from each time it is enabled until its accesses are
 *	over
 * @idle: completed when @holds becomes 0
 * @node: in @requested of the map
 * @rcu: look-ups may still see the region after its close
 */
struct kofi_mr {
	struct fid_mr		mr;
	struct kofi_mr_map	*map;
	atomic_t		refs;
	u64			access;
	const struct fid_ep	*ep;
	struct kofi_iov		*iov;
	struct kofi_dmabuf	*dmabuf;
	size_t			*ends;
	struct kofi_pmem	*pmem;
	struct kofi_cntr	*cntr;
	u64			counted;
	enum kofi_mr_state	state;
	bool			lent;
	bool			used;
	bool			invalidated;
	bool			report;
	void			*token;
	u64			ended;
	u32			index;
	size_t			limit;
	refcount_t		pins;
	spinlock_t		lock;		/* see above */
	struct list_head	borrowers;
	refcount_t		holds;
	struct completion	idle;
	struct rhash_head	node;
	struct rcu_head		rcu;
};

/**
 * struct kofi_mr_domain - A domain with ready-made calls; the provider's begins with it
 * @domain: what the client sees; its mr is &kofi_mr_domain_ops
 * @map: the regions
 */
struct kofi_mr_domain {
	struct fid_domain	domain;
	struct kofi_mr_map	map;
};

/* fi_mr_reg() and so on, for a &struct kofi_mr_domain */
extern const struct fi_ops_mr kofi_mr_domain_ops;

/**
 * kofi_mr_map_init() - Set a map up
 * @map: the map
 * @mr_mode: FI_MR_* of the domain; FI_MR_VIRT_ADDR and FI_MR_PROV_KEY count
 * @peer: regions may be of pages of PCI devices (FI_HMEM)
 * @ops: the provider's hooks, all of them
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int kofi_mr_map_init(struct kofi_mr_map *map, int mr_mode, bool peer,
		     const struct kofi_mr_ops *ops);

/* Regions of a map with short keys */
#define KOFI_MR_SHORT_REGIONS	(U16_MAX - 1)

/**
 * kofi_mr_map_set_short() - Keys have 32 bits
 * @map: a map without regions
 *
 * A client cannot request a longer key, and there are at most KOFI_MR_SHORT_REGIONS regions whose
 * key the map chooses.
 *
 * Context: any.
 */
void kofi_mr_map_set_short(struct kofi_mr_map *map);

/**
 * kofi_mr_map_destroy() - Free a map
 * @map: a map whose regions are closed, and that nothing is looked up in any more
 *
 * Context: may sleep.
 */
void kofi_mr_map_destroy(struct kofi_mr_map *map);

/**
 * kofi_mr_regattr() - Make a region
 * @map: the map of its domain
 * @attr: the region, checked by kofi_mr_attr_is_valid()
 * @flags: FI_RMA_EVENT, FI_MR_ENDPOINT and, with that, FI_MR_LEND; or FI_RMA_PMEM, or
 *	FI_MR_DMABUF
 * @mr: the region; its calls are ready-made
 *
 * The list may have any length.  A region that no peer may reach has no key.  For a
 * provider whose domain does not begin with a &struct kofi_mr_domain.  A region of a
 * dma-buf is for peers only, and none of an endpoint.
 *
 * Context: may sleep.
 * Return: 0; -FI_EBADFLAGS; -EINVAL: no bytes, what kofi_iov_set() refuses, or with
 * FI_RMA_PMEM memory that is not persistent;
 * -EMSGSIZE: more than a quarter of SIZE_MAX; -FI_ENOKEY: another region has the
 * requested key; -FI_EKEYREJECTED: no region can have this key; -FI_ENOMR: there
 * are too many regions; -EOPNOTSUPP: a dma-buf that is to be a local buffer, too; what
 * kofi_dmabuf_open() answers; -ENOMEM; an error of &kofi_mr_ops.may_register.
 */
int kofi_mr_regattr(struct kofi_mr_map *map, const struct fi_mr_attr *attr,
		    u64 flags, struct fid_mr **mr);

/**
 * kofi_mr_reg_list() - Ready-made ->regv of a domain: registers by its ->regattr
 * @fid: as fi_mr_regv()
 * @iov: as fi_mr_regv()
 * @count: as fi_mr_regv()
 * @access: as fi_mr_regv()
 * @offset: as fi_mr_regv()
 * @requested_key: as fi_mr_regv()
 * @flags: as fi_mr_regv()
 * @mr: as fi_mr_regv()
 * @context: as fi_mr_regv()
 *
 * Context: may sleep.
 * Return: as ->regattr.
 */
int kofi_mr_reg_list(struct fid *fid, const struct kvec *iov, size_t count, u64 access, u64 offset,
		     u64 requested_key, u64 flags, struct fid_mr **mr, void *context);

/**
 * kofi_mr_reg_buf() - Ready-made ->reg of a domain: registers by its ->regattr
 * @fid: as fi_mr_reg()
 * @buf: as fi_mr_reg()
 * @len: as fi_mr_reg()
 * @access: as fi_mr_reg()
 * @offset: as fi_mr_reg()
 * @requested_key: as fi_mr_reg()
 * @flags: as fi_mr_reg()
 * @mr: as fi_mr_reg()
 * @context: as fi_mr_reg()
 *
 * Context: may sleep.
 * Return: as ->regattr.
 */
int kofi_mr_reg_buf(struct fid *fid, const void *buf, size_t len, u64 access, u64 offset,
		    u64 requested_key, u64 flags, struct fid_mr **mr, void *context);

static inline struct kofi_mr *to_kofi_mr(struct fid *fid)
{
	return container_of(fid, struct kofi_mr, mr.fid);
}

/**
 * kofi_mr_get() - Begin an access
 * @map: where to look
 * @ep: the endpoint that the access comes through
 * @key: the key, from the peer
 * @addr: the address, from the peer
 * @len: bytes, from the peer
 * @access: FI_REMOTE_READ, FI_REMOTE_WRITE or both
 * @offset: of the first byte in the region
 *
 * An access of no bytes needs a valid key and an address within the region, or
 * right behind it, as in libfabric.
 *
 * Context: any.
 * Return: the region, with a reference for the caller to kofi_mr_put(); or
 * ERR_PTR(-EACCES): no region has that key; or the region is not for @ep, does not have the
 * right or all the bytes, or its memory was taken back.  The peer does not learn which.
 */
struct kofi_mr *kofi_mr_get(struct kofi_mr_map *map, const struct fid_ep *ep,
			    u64 key, u64 addr, size_t len, u64 access,
			    size_t *offset);

/**
 * kofi_mr_put() - End an access
 * @mr: a region from kofi_mr_get()
 *
 * Context: any.  May call @disabled of &struct kofi_mr_ops.
 */
void kofi_mr_put(struct kofi_mr *mr);

/**
 * kofi_mr_invalidate() - End the key of a region of an endpoint (FI_REMOTE_INV)
 * @map: where to look
 * @ep: the endpoint that the message has come to
 * @key: the key, from the peer
 *
 * The region is the client's as soon as fi_mr_disable() with FI_REMOTE_INV has returned.
 *
 * Context: any; no access through @ep is under way.
 * Return: 0; -EACCES: no region of @ep has this key; -EBUSY: somebody has borrowed its pages
 * (kofi_mr_borrow()).
 */
int kofi_mr_invalidate(struct kofi_mr_map *map, const struct fid_ep *ep, u64 key);

/**
 * kofi_mr_pin() - Keep a region beyond an access
 * @mr: a region with a reference
 *
 * Its memory is not kept, and the region can be closed.
 *
 * Context: any.
 */
static inline void kofi_mr_pin(struct kofi_mr *mr)
{
	refcount_inc(&mr->pins);
}

/**
 * kofi_mr_unpin() - Undo kofi_mr_pin()
 * @mr: the region, which may be closed
 *
 * Context: any.
 */
void kofi_mr_unpin(struct kofi_mr *mr);

/**
 * kofi_mr_get_again() - Begin another access to the same memory
 * @mr: a region that is pinned
 * @key: the key that kofi_mr_get() has found it by
 *
 * Context: any.
 * Return: true: kofi_mr_put() is due, and range and rights are as kofi_mr_get() has checked
 * them; false: the key has ended.
 */
bool kofi_mr_get_again(struct kofi_mr *mr, u64 key);

/**
 * kofi_mr_borrow() - Hold pages of a region, and be told when its key ends
 * @mr: a region that is pinned
 * @key: the key that kofi_mr_get() has found it by
 * @borrower: its @recall is set
 *
 * Context: any.
 * Return: true: kofi_mr_return() is due, which fi_close() of the region waits for; false: the key
 * has ended.
 */
bool kofi_mr_borrow(struct kofi_mr *mr, u64 key, struct kofi_mr_borrower *borrower);

/**
 * kofi_mr_return() - Undo kofi_mr_borrow()
 * @mr: the region
 * @borrower: its @recall is not called any more when this returns
 *
 * Context: any.  May call @disabled of &struct kofi_mr_ops.
 */
void kofi_mr_return(struct kofi_mr *mr, struct kofi_mr_borrower *borrower);

/**
 * kofi_mr_iter() - Address a part of a region
 * @mr: a region with a reference
 * @direction: ITER_SOURCE: the memory is read; ITER_DEST: it is written
 * @offset: from kofi_mr_get(), plus the bytes that are done
 * @len: bytes, of those that kofi_mr_get() was called with
 * @iter: set up
 *
 * Memory of a dma-buf is accessed between kofi_rma_enter() and kofi_rma_leave() only.
 *
 * Context: any.  The time grows with the logarithm of the length of the list.
 */
void kofi_mr_iter(const struct kofi_mr *mr, unsigned int direction,
		  size_t offset, size_t len, struct iov_iter *iter);

/**
 * kofi_mr_count() - Count an access in the counter of a region (FI_RMA_EVENT)
 * @mr: a region with a reference
 * @access: FI_REMOTE_READ, FI_REMOTE_WRITE or both, as for kofi_mr_get()
 * @err: 0: the access has succeeded
 * @len: its bytes
 *
 * Context: any.
 */
void kofi_mr_count(struct kofi_mr *mr, u64 access, int err, size_t len);

#endif /* _KOFI_MR_MAP_H */
