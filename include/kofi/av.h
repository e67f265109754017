/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An address vector that any provider with socket addresses may use as its own.
 *
 * Clients insert and remove addresses; all of their calls are ready-made.  Data
 * transfers look up three things, in any context and without a lock: the address of an
 * fi_addr_t, the fi_addr_t of an address, and the source that a completion reports.
 *
 * An fi_addr_t is an index, the lowest that is free, for FI_AV_TABLE and for FI_AV_MAP;
 * its rx_ctx_bits uppermost bits name a receive context of the peer.  So a provider may
 * keep what it knows of a peer in an array or an xarray of its own, by
 * kofi_av_index().  An index is not used again before kofi_av_fn has reported that
 * its address was removed.
 *
 * An address counts by value: it has one fi_addr_t however often it is inserted, and
 * leaves the vector when it has been removed as often.  That is libfabric's rule.
 *
 * An address needs about 90 bytes.
 */
#ifndef _KOFI_AV_H
#define _KOFI_AV_H

#include <linux/bits.h>
#include <linux/mutex.h>
#include <linux/rhashtable-types.h>
#include <linux/socket.h>
#include <linux/xarray.h>
#include <rdma/fi_domain.h>

struct kofi_av;

/* Most addresses of a vector, and most bits of a receive context */
#define KOFI_AV_MAX_ADDRS	BIT(20)
#define KOFI_AV_MAX_RX_BITS	16

/*
 * An address has been removed, and the provider is to forget what it keeps by its
 * index.  Called in process context, with no lock held; look-ups do not find the
 * address any more.
 */
typedef void (*kofi_av_fn)(struct kofi_av *av, u32 index);

/**
 * struct kofi_av - The address vector; the provider may embed it in its own
 * @av: what the client sees
 * @removed: see kofi_av_fn; NULL: the provider keeps nothing by index
 * @addr_format: FI_SOCKADDR_IN, FI_SOCKADDR_IN6 or FI_SOCKADDR
 * @rx_ctx_bits: bits of an fi_addr_t above the index
 * @user_ids: opened with FI_AV_USER_ID: completions have ids of fi_av_set_user_id()
 * @max: most addresses
 * @changes: how often an address was inserted; written with @lock held
 * @lock: one call changes the vector at a time
 * @table: addresses by index
 * @hash: addresses by value
 */
struct kofi_av {
	struct fid_av		av;
	kofi_av_fn		removed;
	u32			addr_format;
	int			rx_ctx_bits;
	bool			user_ids;
	u32			max;
	unsigned long		changes;
	struct mutex		lock; /* one change at a time */
	struct xarray		table;
	struct rhashtable	hash;
};

/**
 * kofi_av_init() - Check the attributes and set a vector up
 * @av: the vector; all calls on it are ready-made but its ->close, for which a provider
 *	that embeds it sets av.fid.ops
 * @attr: the client's wishes; its type becomes FI_AV_TABLE if it was FI_AV_UNSPEC
 * @addr_format: format of the domain's addresses
 * @removed: see kofi_av_fn, or NULL
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: @attr makes no sense, or asks for more than there is; -ENOSYS: a
 * shared vector, or @addr_format is none of sockets; -FI_EBADFLAGS; -ENOMEM.
 */
int kofi_av_init(struct kofi_av *av, struct fi_av_attr *attr, u32 addr_format,
		 kofi_av_fn removed, void *context);

/**
 * kofi_av_destroy() - Free the memory of a vector
 * @av: a vector that no endpoint uses any more
 *
 * Context: may sleep.
 */
void kofi_av_destroy(struct kofi_av *av);

/**
 * kofi_av_open() - For ->av_open of struct fi_ops_domain
 * @attr: as kofi_av_init()
 * @addr_format: as kofi_av_init()
 * @removed: as kofi_av_init()
 * @av: the vector, allocated; its ->close frees it
 * @context: the client's pointer
 *
 * Context: may sleep.
 * Return: as kofi_av_init().
 */
int kofi_av_open(struct fi_av_attr *attr, u32 addr_format, kofi_av_fn removed,
		 struct fid_av **av, void *context);

static inline struct kofi_av *to_kofi_av(struct fid *fid)
{
	return container_of(fid, struct kofi_av, av.fid);
}

/**
 * kofi_av_count() - How many different addresses are there?
 * @av: the vector
 *
 * Context: any.
 * Return: how many; the number may change at any time, as other calls insert and remove.
 */
static inline unsigned int kofi_av_count(struct kofi_av *av)
{
	return atomic_read(&av->hash.nelems);
}

/**
 * kofi_av_index() - Get the index of an fi_addr_t
 * @av: the vector
 * @fi_addr: what a client has given, maybe made by fi_rx_addr()
 *
 * Context: any.
 * Return: the index, which may be in use or not; U32_MAX: none.
 */
static inline u32 kofi_av_index(const struct kofi_av *av, fi_addr_t fi_addr)
{
	u64 index = fi_addr << av->rx_ctx_bits >> av->rx_ctx_bits;

	return index < KOFI_AV_MAX_ADDRS ? index : U32_MAX;
}

/**
 * kofi_av_rx_index() - Get the receive context of the peer from an fi_addr_t
 * @av: the vector
 * @fi_addr: what a client has given, maybe made by fi_rx_addr()
 *
 * Context: any.
 * Return: the number of the receive context, 0 without rx_ctx_bits.
 */
static inline u32 kofi_av_rx_index(const struct kofi_av *av, fi_addr_t fi_addr)
{
	return av->rx_ctx_bits ? fi_addr >> (64 - av->rx_ctx_bits) : 0;
}

/**
 * kofi_av_addr() - Get the address of a peer
 * @av: the vector
 * @fi_addr: what a client has given, maybe made by fi_rx_addr()
 * @addr: the address, a copy
 *
 * Context: any.
 * Return: whether there is one.
 */
bool kofi_av_addr(struct kofi_av *av, fi_addr_t fi_addr,
		  struct sockaddr_storage *addr);

/**
 * kofi_av_changes() - Has an address come or gone since?
 * @av: the vector
 *
 * Context: any.
 * Return: a number that changes behind an insertion and a removal.  A look-up that follows finds
 * what was there when the number became this value.
 */
static inline unsigned long kofi_av_changes(const struct kofi_av *av)
{
	/* Pairs with kofi_av_changed() */
	return smp_load_acquire(&av->changes);
}

/**
 * kofi_av_find() - Which peer has an address?
 * @av: the vector
 * @addr: the address
 *
 * For directed receives, and for data that the provider keeps by index.
 *
 * Context: any.
 * Return: its fi_addr_t; FI_ADDR_NOTAVAIL: none.
 */
fi_addr_t kofi_av_find(struct kofi_av *av, const struct sockaddr_storage *addr);

/**
 * kofi_av_source() - Get the source that a completion reports for a sender (FI_SOURCE)
 * @av: the vector
 * @addr: the sender's address
 *
 * Context: any.
 * Return: the id that the client has set for the address, or its fi_addr_t;
 * FI_ADDR_NOTAVAIL: the address is not in the vector, or has no id yet.
 */
fi_addr_t kofi_av_source(struct kofi_av *av,
			 const struct sockaddr_storage *addr);

#endif /* _KOFI_AV_H */
