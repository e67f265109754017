/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kernel: What most clients open for a result of fi_getinfo(), in one call.
 *
 *	struct fi_ep_set set = { };
 *
 *	ret = fi_ep_set_open(&set, info, NULL, context);
 *	...					options, counters, callbacks
 *	ret = fi_enable(set.ep);
 *	...
 *	fi_ep_set_close(&set);
 *
 * libfabric has no such calls.  A client with several endpoints of a domain, or with a queue for
 * each direction, opens its objects itself, or puts those that are shared into the set.
 */
#ifndef _RDMA_FI_EP_SET_H
#define _RDMA_FI_EP_SET_H

#include <rdma/fabric.h>

struct fi_cq_attr;

/**
 * struct fi_ep_set - An endpoint and the objects that it needs
 * @fabric: its fabric
 * @domain: its domain
 * @eq: the event queue of an endpoint with connections (FI_EP_MSG), else NULL
 * @av: the address vector of an endpoint without connections (FI_AV_TABLE), else NULL
 * @cq: the completion queue of both directions
 * @ep: the endpoint
 * @opened: private: the objects that fi_ep_set_open() has opened
 *
 * All fields are 0 before fi_ep_set_open(), except for objects that the caller has opened: a
 * listener's @fabric, say, or a @domain and a @cq that several endpoints share.  The set uses
 * those and does not close them.
 */
struct fi_ep_set {
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_eq		*eq;
	struct fid_av		*av;
	struct fid_cq		*cq;
	struct fid_ep		*ep;
	unsigned int		opened;
};

/**
 * fi_ep_set_open() - Open an endpoint and the objects that it needs, and bind them
 * @set: the set; its ep is NULL
 * @info: a result of fi_getinfo(), or of an FI_CONNREQ event; it stays the caller's
 * @cq_attr: how the completion queue is opened, or NULL: for fi_cq_sread(), with entries that
 *	have the context only.  If its size is 0, the queue is as long as both directions of the
 *	endpoint are deep.
 * @context: the client's pointer, of the endpoint and of its completion queue
 *
 * The endpoint is not enabled, so its options can be set, and more can be bound to it.  After an
 * error everything that the set has opened, by this call or by one before whose fi_ep_set_close()
 * failed, is closed, and its fields are NULL.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: bad argument; or an error of fi_fabric(), fi_domain(), fi_eq_open(),
 * fi_av_open(), fi_cq_open(), fi_endpoint() or fi_ep_bind().
 */
int fi_ep_set_open(struct fi_ep_set *set, struct fi_info *info, const struct fi_cq_attr *cq_attr,
		   void *context);

/**
 * fi_ep_set_close() - Close what fi_ep_set_open() has opened, children before parents
 * @set: the set; one that was never opened has nothing to close
 *
 * The field of each object that was closed is NULL.  Regions and counters in the domain have to be
 * closed before, but a region that is bound to the endpoint: close @set->ep first, and set
 * the field to NULL.
 *
 * Context: may sleep.
 * Return: 0; or the error of fi_close() that the call stopped at: -EBUSY: the object is in use;
 * -EDEADLK: the caller is a callback of the object.  Another call goes on from there.
 */
int fi_ep_set_close(struct fi_ep_set *set);

#endif /* _RDMA_FI_EP_SET_H */
