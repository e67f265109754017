// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions of an endpoint, of providers without hardware.
 *
 *	    fi_mr_refresh()     fi_mr_enable()
 *	EMPTY <-----------> READY ------------> ENABLED
 *	  ^    FI_DISCARD                          | fi_mr_disable()
 *	  |        the last access is over         v
 *	  +------------------------------------- ENDING
 *
 * Nothing is allocated after the registration: the region keeps its index in the map,
 * and a list with room for as many elements as it may have pages.
 *
 * fi_mr_enable() waits for nothing and queues nothing, so fi_mr_disable() can follow
 * at once, whether the peer knows the key or not.  With FI_DISCARD the key ends
 * at once, unless a peer has used it.
 *
 * A message of the peer may end the key, too (kofi_mr_invalidate()).  The region stays ENABLED
 * until the client calls fi_mr_disable(): with FI_REMOTE_INV it is EMPTY at once, and without a
 * flag as soon as the call has its completion.
 *
 * The client promises to make one call on a region at a time.  The end of a key may come in
 * any context at the same time, but only while the state is ENDING, or by an invalidation while it
 * is ENABLED.
 */
#include <linux/module.h>
#include <kofi/pages.h>
#include <kofi/provider.h>
#include <kofi/refuse.h>
#include "mr.h"

static int kofi_mr_ep_refresh(struct fid_mr *fid_mr,
			      const struct fi_mr_attr *attr, u64 flags)
{
	struct kofi_mr *mr = to_kofi_mr(&fid_mr->fid);
	enum kofi_mr_state state = READ_ONCE(mr->state);
	int ret;

	ret = kofi_check_flags("mr_refresh", flags, 0) ? :
	      kofi_check_ptr("mr_refresh", attr);
	if (ret)
		return ret;
	if (!kofi_mr_attr_is_valid(attr) || (mr->lent && attr->type != FI_BUF_SGL))
		return kofi_refuse("mr_refresh", -EINVAL, "attr->type %d, attr->iov_count %zu: no list%s",
				   attr->type, attr->iov_count,
				   mr->lent ? " of scatterlists, as FI_MR_LEND needs" : "");
	if (state != KOFI_MR_EMPTY && state != KOFI_MR_READY)
		return kofi_mr_refuse("mr_refresh", mr, "empty or ready: disable it, and wait for the completion");

	mr->state = KOFI_MR_EMPTY;
	ret = kofi_mr_fill(mr, mr->limit, attr);
	/* The list may have been too long for the room */
	if (ret == -EINVAL &&
	    kofi_list_pages(attr->type, attr->mr_iov, attr->iov_count) >
	    (ssize_t)mr->limit)
		ret = kofi_refuse("mr_refresh", -EMSGSIZE, "the list has more than %zu pages, for which the region was registered",
				  mr->limit);
	else if (ret == -EINVAL)
		kofi_list_refuse("mr_refresh", attr->type, attr->mr_iov, attr->iov_count,
				 mr->map->peer);
	if (!ret)
		mr->state = KOFI_MR_READY;
	return ret;
}

static int kofi_mr_ep_enable(struct fid_mr *fid_mr)
{
	struct kofi_mr *mr = to_kofi_mr(&fid_mr->fid);
	int ret;

	if (!mr->ep)
		return kofi_refuse("mr_enable", -FI_EOPBADSTATE, "the region is bound to no endpoint");
	if (READ_ONCE(mr->state) != KOFI_MR_READY)
		return kofi_mr_refuse("mr_enable", mr, "ready: give it memory by fi_mr_refresh()");
	ret = mr->map->ops->enable(mr);
	if (ret)
		return kofi_refuse("mr_enable", ret, "the endpoint of the region is not connected");
	kofi_mr_choose_key(mr, mr->ended);
	kofi_mr_begin(mr);
	return 0;
}

static int kofi_mr_ep_discard(struct kofi_mr *mr)
{
	if (mr->state == KOFI_MR_READY) {
		mr->state = KOFI_MR_EMPTY;
		return 0;
	}
	/* The key has a reference of its own; a second one belongs to an access of a peer */
	if (READ_ONCE(mr->used) || atomic_cmpxchg(&mr->refs, 1, 0) != 1)
		return kofi_refuse("mr_disable", -EALREADY, "FI_DISCARD: a peer has used the key; disable without the flag");
	mr->ended = mr->mr.key;
	mr->state = KOFI_MR_EMPTY;
	WRITE_ONCE(mr->mr.key, FI_KEY_NOTAVAIL);
	refcount_dec(&mr->holds);
	return 0;
}

static int kofi_mr_ep_disable(struct fid_mr *fid_mr, u64 flags, void *context)
{
	struct kofi_mr *mr = to_kofi_mr(&fid_mr->fid);
	enum kofi_mr_state state = READ_ONCE(mr->state);
	int ret;

	if (flags && flags != FI_REMOTE_INV && flags != FI_DISCARD)
		return kofi_refuse("mr_disable", -FI_EBADFLAGS, "flags: %#llx; it is FI_REMOTE_INV, FI_DISCARD or nothing",
				   flags);
	if (state != KOFI_MR_ENABLED && !(state == KOFI_MR_READY && flags == FI_DISCARD))
		return kofi_mr_refuse("mr_disable", mr, "enabled");
	if (flags == FI_DISCARD)
		return kofi_mr_ep_discard(mr);
	if (flags == FI_REMOTE_INV) {
		/* Pairs with kofi_mr_invalidate() */
		if (!smp_load_acquire(&mr->invalidated))
			return kofi_mr_refuse("mr_disable", mr, "invalidated by its peer");
		mr->state = KOFI_MR_EMPTY;
		return 0;
	}
	ret = mr->map->ops->disable(mr, context, &mr->token);
	if (ret == -EAGAIN)
		return ret;
	if (ret)
		return kofi_refuse("mr_disable", ret, "the endpoint of the region is not connected; closing the region ends its key, too");
	kofi_mr_end(mr, true);
	return 0;
}

static const struct fi_ops_mr_ep kofi_mr_ep_ops = {
	.size		= sizeof(struct fi_ops_mr_ep),
	.refresh	= kofi_mr_ep_refresh,
	.enable		= kofi_mr_ep_enable,
	.disable	= kofi_mr_ep_disable,
};

/* Makes a new region one of an endpoint; its first memory may be shorter than a later one */
int kofi_mr_ep_init(struct kofi_mr *mr, const struct fi_mr_attr *attr)
{
	bool empty = kofi_mr_attr_is_empty(attr);
	ssize_t pages = 0;
	int ret;

	if (!empty)
		pages = kofi_list_pages(attr->type, attr->mr_iov, attr->iov_count);
	if (pages < 0)
		return pages;
	mr->limit = max_t(size_t, pages, attr->page_limit);
	if (!mr->limit)
		return kofi_refuse("mr_regattr", -EINVAL, "FI_MR_ENDPOINT: the list is empty, and attr->page_limit is 0");
	ret = kofi_mr_alloc_list(mr, mr->limit);
	if (!ret && !empty)
		ret = kofi_mr_fill(mr, mr->limit, attr);
	if (!ret)
		ret = kofi_mr_insert_chosen(mr);
	if (ret)
		return ret;

	mr->mr.ops = &kofi_mr_ep_ops;
	mr->ended = kofi_mr_random_key(mr);
	mr->state = empty ? KOFI_MR_EMPTY : KOFI_MR_READY;
	return 0;
}
